//! Triggers: their functions with `NEW`, `OLD` and the `TG_` variables (`plpgsql_exec_trigger` of `pl_exec.c`), and their
//! conditions.

use super::Returned;
use super::call::{Compiled, WEIGHT};
use super::context::Place;
use super::frame::{Frame, Shape};
use super::machine::Kit;
use super::machine::code::Program;
use super::text::simple;
use crate::bind;
use crate::catalog::relation::Relation;
use crate::catalog::routine::Routine;
use crate::catalog::trigger;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::exec::key_match::same_image;
use crate::exec::trigger::Firing;
use crate::plpgsql::parse::{Given, Gives};
use crate::plpgsql::tree::VariableType;
use crate::prepared::{Basis, Prepared};
use crate::session::Session;
use crate::source::{KeptSource, Source};
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::array::{self, Dimension};
use crate::types::type_name::format_type;
use crate::types::{CallContext, Datum, Oid, SqlType, oids, record, stored};
use std::sync::Arc;
use txn::ReadView;

/// The first variables of a body: NEW, OLD, and what is told of the trigger.
const VARIABLES: [(&str, Option<u32>); 12] = [
    ("new", None),
    ("old", None),
    ("tg_name", Some(oids::NAME)),
    ("tg_when", Some(oids::TEXT)),
    ("tg_level", Some(oids::TEXT)),
    ("tg_op", Some(oids::TEXT)),
    ("tg_relid", Some(oids::OID)),
    ("tg_relname", Some(oids::NAME)),
    ("tg_table_name", Some(oids::NAME)),
    ("tg_table_schema", Some(oids::NAME)),
    ("tg_nargs", Some(oids::INT4)),
    ("tg_argv", Some(TEXT_ARRAY)),
];
const NEW: u32 = 0;
const OLD: u32 = 1;
/// `text[]`.
const TEXT_ARRAY: u32 = 1009;

/// The condition of a trigger, made ready.
#[derive(Debug)]
pub struct Condition {
    /// The table that it was made for.
    relation: Arc<Relation>,
    /// As a statement over parameters, and as code, where it only computes.
    prepared: Arc<Prepared>,
    code: Option<Code>,
    /// [`Session::changes`] when it was last found good.
    seen: u64,
    /// Its parameters: columns by index of the row as it was, or as it is.
    reads: Vec<(usize, usize)>,
    /// Their values.
    row: RowBuf,
}

impl Condition {
    /// Takes what it reads of the rows of a change.
    fn take_row(&mut self, firing: &Firing<'_>) {
        self.row.clear();
        let hides = hides_generated(firing);
        for &(side, column) in &self.reads {
            let is_new = side == 1;
            let row = if is_new { firing.new } else { firing.old };
            let hidden = is_new && hides && firing.relation.columns[column].generated;
            match row.filter(|_| !hidden) {
                Some(row) => self.row.push_column(row, column),
                None => self.row.push(Datum::Null),
            }
        }
    }
}

/// A trigger's function, ready to run for an event.
#[derive(Debug)]
pub struct Ready {
    made: Arc<Made>,
    /// [`Session::changes`] when it was last found good, and what it was made from.
    seen: u64,
    basis: Basis,
    /// What its last run has left, where it is not running.
    rest: Option<Box<Rest>>,
}

/// What a run of a trigger's function leaves for the next one.
struct Rest {
    kit: Box<Kit>,
    /// The program that ran, and what a frame begins with that it is to run over.
    program: Arc<Program>,
    start: RowBuf,
    /// [`Session::changes`] when the program ran to its end and asked for nothing of the session: it is the body's still at that
    /// number, and the frame is what it begins with but for the rows and the variables that the program writes.
    alone: Option<u64>,
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rest").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A run of a trigger's function that has begun.
pub struct Begun {
    made: Arc<Made>,
    rest: Box<Rest>,
    /// The operation that comes next.
    next: usize,
}

/// How far a trigger's function has come that only computes at first.
pub enum Fired {
    /// To its end: whether it has returned a row.
    Finished(bool),
    /// To what the session is to do, if it has begun at all.
    Unfinished(Option<Begun>),
}

/// What each run of it begins with.
#[derive(Debug)]
pub struct Made {
    relation: Arc<Relation>,
    routine: Arc<Routine>,
    compiled: Arc<Compiled>,
    /// What a CONTEXT calls it.
    name: Arc<str>,
    /// The variables but for the rows.
    values: RowBuf,
    shape: Arc<Shape>,
    /// Whether the table's rows are of these fields and no others.
    all_live: bool,
}

/// What a frame may hold at rest, in bytes.
const REST_BYTES_MAX: usize = 16384;

/// The variables that the body of a trigger's function begins with.
pub(super) fn given() -> Vec<Given> {
    let all = VARIABLES.iter().map(|(name, ty)| Given {
        name: Some((*name).into()),
        ty: ty.map_or(VariableType::Record, |ty| VariableType::Scalar(SqlType::plain(ty))),
    });
    all.collect()
}

/// An event's name.
pub(super) fn event_of(event: i16) -> &'static str {
    match event {
        trigger::INSERT => "INSERT",
        trigger::DELETE => "DELETE",
        trigger::UPDATE => "UPDATE",
        _ => "TRUNCATE",
    }
}

/// The live columns of a relation, as the fields of its rows.
fn shape(relation: &Relation) -> Arc<Shape> {
    let live = relation.columns.iter().filter(|column| !column.dropped);
    let fields = live.map(|column| (Arc::clone(&column.name), column.ty)).collect();
    Arc::new(Shape::new(SqlType::plain(relation.row_type.0.0), fields))
}

/// A row of all columns as a value of the relation's type.
fn record_of<'a>(arena: &'a bumpalo::Bump, relation: &Relation, row: &'a RowBuf) -> Datum<'a> {
    let live = relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
    let fields: Vec<(SqlType, Datum<'_>)> =
        live.map(|(at, column)| (column.ty, row.get(at))).collect();
    record::build(arena, &fields)
}

impl Made {
    /// An error of its function as a whole.
    fn within(&self, error: SqlError, place: &str) -> SqlError {
        error.within(format!("PL/pgSQL function {}{place}", self.name))
    }

    /// Reads what its function has returned, a variable or else a value: whether that is a row, which `next` becomes.
    fn read_returned(
        &self,
        frame: &mut Frame,
        slot: Option<u32>,
        value: &RowBuf,
        firing: &Firing<'_>,
        next: &mut RowBuf,
    ) -> Result<bool> {
        if let Some(slot) = slot {
            match frame.unfolded_mut(slot) {
                // It is not read any more.
                Some((shape, fields)) if self.all_live && Arc::ptr_eq(shape, &self.shape) => {
                    std::mem::swap(fields, next);
                    return Ok(firing.trigger.is_row());
                }
                Some(_) => frame.fold(slot)?,
                None => {}
            }
        }
        match slot.map(|slot| frame.get(slot)).or(value.iter().next()) {
            Some(Datum::Record(bytes)) if firing.trigger.is_row() => {
                let read = read_row(firing.relation, bytes, next).map(|()| true);
                read.map_err(|error| self.within(error, " during function exit"))
            }
            _ => Ok(false),
        }
    }

    /// What a frame begins with that a program is to run over.
    fn start(&self, program: &Program) -> RowBuf {
        let mut start = program.layout.clone();
        for number in 0..self.values.len() {
            if !self.values.get(number).is_null() {
                start.set_column(number, &self.values, number);
            }
        }
        start
    }
}

impl Session {
    /// The body of a trigger's function, as it is for one table.
    fn compiled_trigger(
        &mut self,
        routine: &Arc<Routine>,
        firing: &Firing<'_>,
    ) -> Result<Arc<Compiled>> {
        let (relation, transition) = (firing.relation, &firing.trigger.transition);
        let mut key = (routine.oid, vec![routine.result, relation.oid]);
        let rows: Vec<(Arc<str>, u32)> = [&transition.0, &transition.1]
            .into_iter()
            .zip(VARIABLES.len() as u32..)
            .filter_map(|(name, number)| Some((Arc::clone(name.as_ref()?), number)))
            .collect();
        if !rows.is_empty() {
            key.1.push(firing.trigger.oid);
        }
        if let Some(known) = self.known_body(&key, routine).filter(|known| known.body.rows == rows)
        {
            return Ok(known);
        }
        let (name, mut given) = (&routine.name, given());
        if !rows.is_empty() {
            let ty = VariableType::Scalar(SqlType::plain(relation.row_type.1.0));
            given.extend([(); 2].map(|()| Given { name: None, ty: ty.clone() }));
        }
        let mut body = self
            .parsed_body(&routine.body, (name, Some(name)), &given, false, Gives::Value)
            .map_err(|error| super::call::in_body(error, routine))?;
        // Nobody else has it yet.
        if let Some(fresh) = Arc::get_mut(&mut body) {
            fresh.rows = rows;
        }
        Ok(self.keep_body(key, routine, body, Vec::new()))
    }

    /// Fires a trigger as far as its function only computes; what its expressions look at is `context`. `next` becomes the row
    /// that it returns.
    pub(super) fn fire_here(
        &mut self,
        firing: &Firing<'_>,
        context: &CallContext<'_>,
        next: &mut RowBuf,
    ) -> Result<Fired> {
        if self.counts_functions() {
            return Ok(Fired::Unfinished(None));
        }
        let (key, changes) = ((firing.trigger.oid, firing.event), self.changes);
        if !self.is_settled(changes) {
            return Ok(Fired::Unfinished(None));
        }
        let Some(known) = self.triggers.get_mut(&key).filter(|known| {
            known.seen == changes && Arc::ptr_eq(&known.made.relation, firing.relation)
        }) else {
            return Ok(Fired::Unfinished(None));
        };
        let made = Arc::clone(&known.made);
        let as_before = known
            .rest
            .take_if(|rest| rest.alone == Some(changes) && made.compiled.body.rows.is_empty());
        let mut begun = match as_before {
            Some(mut rest) => {
                let frame = &mut rest.kit.frame;
                frame.begin_again(&rest.start, &rest.program.written);
                set_rows(frame, firing, (&made.shape, made.all_live));
                Begun { made, rest, next: 0 }
            }
            None => {
                let Some(program) = self.settled_program(made.compiled.id) else {
                    return Ok(Fired::Unfinished(None));
                };
                let program = Arc::clone(program);
                self.begun(made, program, firing)?
            }
        };
        // Until it has come to its end.
        begun.rest.alone = None;
        crate::types::depth::descend_by(WEIGHT, || {
            let Begun { made, rest, next: at } = &mut begun;
            let place = Place::Routine(Arc::clone(&made.name), 0, "during function entry");
            self.within.push(place);
            let ran = rest.kit.run_alone(&rest.program, &made.name, context, &self.wait.cancel);
            self.within.pop();
            *at = ran?;
            Ok(())
        })?;
        let frame = &mut begun.rest.kit.frame;
        let is_row = |slot: &u32| {
            frame.is_unfolded(*slot) || matches!(frame.get(*slot), Datum::Record(_) | Datum::Null)
        };
        let returned = begun.rest.program.returned_at(begun.next);
        let returned = returned.map(|(slot, _)| u32::from(slot));
        let Some(slot) = returned.filter(is_row) else {
            return Ok(Fired::Unfinished(Some(begun)));
        };
        let value = RowBuf::new();
        let changed = begun.made.read_returned(frame, Some(slot), &value, firing, next);
        begun.rest.alone = Some(changes);
        self.rests(key, begun.rest);
        changed.map(Fired::Finished)
    }

    /// Fires a trigger, whose function may have begun: `next` becomes the row that it returns, all columns by index; false where
    /// that is none. A function that is not volatile sees what the statement around does, `view`.
    pub(in crate::session) fn fire_trigger(
        &mut self,
        firing: &Firing<'_>,
        view: ReadView,
        begun: Option<Begun>,
        next: &mut RowBuf,
    ) -> Result<bool> {
        if let Some(native) = trigger::native(firing.trigger.function) {
            let row = self.fire_native(native, firing)?;
            return Ok(row.map(|row| *next = row).is_some());
        }
        let key = (firing.trigger.oid, firing.event);
        let known = match &begun {
            Some(begun) => Some(Arc::clone(&begun.made)),
            None => self.ready_trigger(key, firing.relation),
        };
        let routine = match &known {
            Some(known) => Arc::clone(&known.routine),
            None => {
                let snapshot = self.catalog.last_snapshot();
                let function = firing.trigger.function;
                snapshot.routine(function).cloned().ok_or_else(|| {
                    let message = format!("cache lookup failed for function {}", function.0);
                    SqlError::new(SqlState::INTERNAL_ERROR, message)
                })?
            }
        };
        let outside = self.firing.len();
        self.firing.resize(outside + 1 + firing.actions as usize, firing.relation.oid);
        let view = Some(view).filter(|_| routine.volatility != b'v');
        let around = std::mem::replace(&mut self.called_view, view);
        let mut begun = begun;
        let fired = self.under_rights(&routine, &mut |session| {
            let begun = match begun.take() {
                Some(begun) => begun,
                None => {
                    let made = match &known {
                        Some(known) => Arc::clone(known),
                        None => session.made_trigger(&routine, firing)?,
                    };
                    let program = session.program_of(made.compiled.id, &made.compiled.body)?;
                    session.begun(made, program, firing)?
                }
            };
            session.run_trigger(begun, firing, next)
        });
        self.called_view = around;
        self.firing.truncate(outside);
        fired
    }

    /// A trigger's function as it was made ready for a table, if that is good still.
    fn ready_trigger(&mut self, key: (Oid, i16), relation: &Arc<Relation>) -> Option<Arc<Made>> {
        let known = self.triggers.get(&key)?;
        if !Arc::ptr_eq(&known.made.relation, relation) {
            return None;
        }
        if !self.is_settled(known.seen) {
            let basis = self.basis().clone();
            let seen = self.changes;
            let known = self.triggers.get_mut(&key).filter(|known| known.basis.is_same(&basis))?;
            known.seen = seen;
        }
        self.triggers.get(&key).map(|known| Arc::clone(&known.made))
    }

    /// Makes the function of a trigger ready to run.
    fn made_trigger(&mut self, routine: &Arc<Routine>, firing: &Firing<'_>) -> Result<Arc<Made>> {
        let compiled = self.compiled_trigger(routine, firing)?;
        let mut frame = Frame::new(compiled.body.variables.len());
        set_variables(&mut frame, firing);
        let made = Arc::new(Made {
            relation: Arc::clone(firing.relation),
            routine: Arc::clone(routine),
            compiled,
            name: self.routine_text(routine).into(),
            values: frame.take_row(),
            shape: shape(firing.relation),
            all_live: !firing.relation.columns.iter().any(|column| column.dropped),
        });
        // A name said under other rights or settings than those of the statement may be another one.
        if !routine.security_definer && routine.settings.is_empty() {
            let basis = self.basis().clone();
            let ready = Ready { made: Arc::clone(&made), seen: self.changes, basis, rest: None };
            self.triggers.insert((firing.trigger.oid, firing.event), ready);
        }
        Ok(made)
    }

    /// Fires the triggers of tables that are about to be emptied, or have been.
    pub(in crate::session) fn fire_truncate(
        &mut self,
        tables: &[Arc<Relation>],
        timing: i16,
    ) -> Result<()> {
        let (event, replica) = (trigger::TRUNCATE, self.settings.plain().replica);
        for relation in tables {
            for one in &relation.triggers {
                if !one.is_for(timing, false, event) || !one.is_enabled(replica) {
                    continue;
                }
                let firing = Firing {
                    relation,
                    trigger: one,
                    event,
                    old: None,
                    new: None,
                    actions: 0,
                    transition: None,
                };
                if one.when.is_none() || self.trigger_meets(&firing)? {
                    let transaction = self.block.ensure(self.engine.manager(), &self.wait);
                    let view = transaction.begin_statement()?;
                    self.fire_trigger(&firing, view, None, &mut RowBuf::new())?;
                }
            }
        }
        Ok(())
    }

    /// Begins a run of a trigger's function by its program.
    fn begun(
        &mut self,
        made: Arc<Made>,
        program: Arc<Program>,
        firing: &Firing<'_>,
    ) -> Result<Begun> {
        let key = (firing.trigger.oid, firing.event);
        let rest = self.triggers.get_mut(&key).and_then(|ready| ready.rest.take());
        let mut rest = match rest {
            Some(rest) if Arc::ptr_eq(&rest.program, &program) => rest,
            other => {
                let kit = other.map(|rest| rest.kit).unwrap_or_default();
                let start = made.start(&program);
                Box::new(Rest { kit, program, start, alone: None })
            }
        };
        rest.alone = None;
        let (frame, body) = (&mut rest.kit.frame, &made.compiled.body);
        frame.begin(body.variables.len(), &rest.start);
        set_rows(frame, firing, (&made.shape, made.all_live));
        if let Some(changed) = firing.transition.filter(|_| !body.rows.is_empty()) {
            for (set, number) in
                [&changed.old, &changed.new].into_iter().zip(VARIABLES.len() as u32..)
            {
                set_transition(frame, firing.relation, set, number);
            }
        }
        Ok(Begun { made, rest, next: 0 })
    }

    /// Runs a trigger's function to its end.
    fn run_trigger(
        &mut self,
        begun: Begun,
        firing: &Firing<'_>,
        next: &mut RowBuf,
    ) -> Result<bool> {
        let Begun { made, mut rest, next: start } = begun;
        let (compiled, name) = (&made.compiled, Arc::clone(&made.name));
        let returned = Returned { of_rows: true, by_slot: true, ..Returned::default() };
        let run = (compiled.id, Some(Arc::clone(&rest.program)), start);
        let (body, kit) = (Arc::clone(&compiled.body), std::mem::take(&mut rest.kit));
        let (returned, kit) = self.run_by(run, name, body, kit, returned, false)?;
        rest.kit = kit;
        if !returned.met {
            let message = "control reached end of trigger procedure without RETURN";
            let state = SqlState::FUNCTION_EXECUTED_NO_RETURN_STATEMENT;
            return Err(made.within(SqlError::new(state, message), ""));
        }
        let (frame, slot) = (&mut rest.kit.frame, returned.slot.map(u32::from));
        let changed = made.read_returned(frame, slot, &returned.value, firing, next);
        self.keep_value(returned.value);
        self.rests((firing.trigger.oid, firing.event), rest);
        changed
    }

    /// Keeps what a run of a trigger's function leaves.
    fn rests(&mut self, key: (Oid, i16), rest: Box<Rest>) {
        if rest.kit.capacity_bytes() <= REST_BYTES_MAX
            && let Some(ready) = self.triggers.get_mut(&key)
        {
            ready.rest = Some(rest);
        }
    }

    /// Whether WHEN of a trigger holds.
    pub(in crate::session) fn trigger_meets(&mut self, firing: &Firing<'_>) -> Result<bool> {
        let key = firing.trigger.oid;
        // It is not among the others while it is evaluated: what it calls may fire the trigger.
        let known = self.conditions.remove(&key);
        let known = known.filter(|known| Arc::ptr_eq(&known.relation, firing.relation));
        let mut condition = match known {
            Some(known) => known,
            None => Box::new(self.made_condition(firing)?),
        };
        let met = self.meets(&mut condition, firing);
        if condition.row.capacity_bytes() > REST_BYTES_MAX {
            condition.row = RowBuf::new();
        }
        self.conditions.insert(key, condition);
        met
    }

    /// Makes the condition of a trigger ready.
    fn made_condition(&mut self, firing: &Firing<'_>) -> Result<Condition> {
        let Some(when) = &firing.trigger.when else {
            return Err(SqlError::unsupported("a trigger without a condition is"));
        };
        let kept = KeptSource::Condition(Arc::clone(firing.relation), when.clone());
        let prepared = self.prepare(Arc::new(Source::of_kept(kept)), &[])?;
        let reads =
            bind::kept::columns_of_condition(self.catalog.last_snapshot(), firing.relation, when)?;
        Ok(Condition {
            relation: Arc::clone(firing.relation),
            code: code_of(&prepared),
            prepared,
            seen: self.changes,
            reads,
            row: RowBuf::new(),
        })
    }

    fn meets(&mut self, condition: &mut Condition, firing: &Firing<'_>) -> Result<bool> {
        if !self.is_settled(condition.seen) {
            if let Some(prepared) = self.fresh(&condition.prepared, false)? {
                condition.code = code_of(&prepared);
                condition.prepared = prepared;
            }
            condition.seen = self.changes;
        }
        condition.take_row(firing);
        let outside = self.firing.len();
        self.firing.resize(outside + firing.actions as usize, firing.relation.oid);
        let Condition { prepared, code, row, .. } = condition;
        let mut value = RowBuf::new();
        let met = match code {
            Some(code) => self.evaluate_scalar((&**prepared, &*code), row, &mut value),
            None => Ok(false),
        };
        let met = match met {
            Ok(true) => Ok(matches!(value.get(0), Datum::Bool(true))),
            Ok(false) => self
                .value_alone(prepared, row)
                .map(|row| row.is_some_and(|row| matches!(row.get(0), Datum::Bool(true)))),
            Err(error) => Err(error),
        };
        self.firing.truncate(outside);
        met
    }

    /// Whether WHEN of a trigger holds, where its condition only computes; what it looks at is `context`.
    pub(super) fn meets_here(
        &mut self,
        firing: &Firing<'_>,
        context: &CallContext<'_>,
    ) -> Result<Option<bool>> {
        let key = firing.trigger.oid;
        let good = |known: &Condition| {
            let planned = known.prepared.planned.as_ref();
            Arc::ptr_eq(&known.relation, firing.relation)
                && planned.is_some_and(|planned| planned.required.is_empty())
                && self.is_settled(known.seen)
        };
        if !self.conditions.get(&key).is_some_and(|known| good(known)) {
            return Ok(None);
        }
        let Some(condition) = self.conditions.get_mut(&key) else { return Ok(None) };
        condition.take_row(firing);
        let Condition { code, row, .. } = &mut **condition;
        let Some(code) = code else { return Ok(None) };
        let mut value = RowBuf::new();
        let evaluated = code.compute_over(context, row, &mut value)?;
        if row.capacity_bytes() > REST_BYTES_MAX {
            *row = RowBuf::new();
        }
        Ok(evaluated.then(|| matches!(value.get(0), Datum::Bool(true))))
    }
}

/// `suppress_redundant_updates_trigger`: no row is written that is what was there, byte for byte (`trigfuncs.c`).
pub(super) fn suppress_redundant(firing: &Firing<'_>) -> Result<Option<RowBuf>> {
    let refused = match (firing.event, firing.trigger.kind & trigger::TIMING) {
        (trigger::UPDATE, trigger::BEFORE) => "for each row",
        (trigger::UPDATE, _) => "before update",
        _ => "on update",
    };
    let (Some(old), Some(new)) = (firing.old, firing.new.filter(|_| refused == "for each row"))
    else {
        let message = format!("suppress_redundant_updates_trigger: must be called {refused}");
        return Err(SqlError::new(SqlState::TRIGGER_PROTOCOL_VIOLATED, message));
    };
    let same = firing.relation.columns.iter().enumerate().all(|(at, column)| {
        let (was, is) = (old.get(at), new.get(at));
        column.dropped
            || was.is_null() && is.is_null()
            || !was.is_null() && !is.is_null() && same_image(column.ty.oid, &was, &is)
    });
    Ok((!same).then(|| new.clone()))
}

/// Whether what is generated of NEW is not worked out yet: it reads as NULL, not as what it was.
fn hides_generated(firing: &Firing<'_>) -> bool {
    firing.trigger.kind & trigger::BEFORE != 0 && firing.event == trigger::UPDATE
}

/// The rows of a change, as values of the variables NEW and OLD. One that is not there reads as NULL, in triggers of
/// statements both, so that a function of several triggers may name its fields.
fn set_rows(frame: &mut Frame, firing: &Firing<'_>, (shape, all_live): (&Arc<Shape>, bool)) {
    for (variable, row) in [(NEW, firing.new), (OLD, firing.old)] {
        let Some(row) = row else {
            frame.begin_rows(variable, shape);
            continue;
        };
        let hides = variable == NEW && hides_generated(firing);
        let columns = &firing.relation.columns;
        frame.unfold(variable, shape, |fields| {
            if all_live && !(hides && columns.iter().any(|column| column.generated)) {
                fields.copy_from(row);
                return;
            }
            let live = columns.iter().enumerate().filter(|(_, column)| !column.dropped);
            live.for_each(|(at, column)| match column.generated && hides {
                true => fields.push(Datum::Null),
                false => fields.push_column(row, at),
            });
        });
    }
}

/// The rows that a statement has changed, as an array.
fn set_transition(frame: &mut Frame, relation: &Relation, set: &RowSet, variable: u32) {
    let arena = bumpalo::Bump::new();
    let mut all = array::Builder::new(relation.row_type.0.0);
    for at in 0..set.len() {
        let mut row = RowBuf::new();
        set.row(at).for_each(|value| row.push(value));
        all.push(&record_of(&arena, relation, &row));
    }
    let dimension = Dimension { length: set.len() as i32, lower: 1 };
    let dimensions = if set.is_empty() { &[][..] } else { &[dimension] };
    frame.set(variable, Datum::Array(all.store(&arena, dimensions)));
}

/// The variables of a trigger but for the rows.
fn set_variables(frame: &mut Frame, firing: &Firing<'_>) {
    let Firing { relation, trigger, event, .. } = *firing;
    let when = match trigger.kind & trigger::TIMING {
        trigger::BEFORE => "BEFORE",
        trigger::INSTEAD => "INSTEAD OF",
        _ => "AFTER",
    };
    let arena = bumpalo::Bump::new();
    let mut arguments = array::Builder::new(oids::TEXT);
    trigger.arguments.iter().for_each(|argument| arguments.push(&Datum::Text(argument)));
    let count = trigger.arguments.len();
    let dimension = Dimension { length: count as i32, lower: 0 };
    let values = [
        Datum::Text(&trigger.name),
        Datum::Text(when),
        Datum::Text(if trigger.is_row() { "ROW" } else { "STATEMENT" }),
        Datum::Text(event_of(event)),
        Datum::Oid(relation.oid.0),
        Datum::Text(&relation.name),
        Datum::Text(&relation.name),
        Datum::Text(&relation.schema.1),
        Datum::Int4(count as i32),
        match count {
            0 => Datum::Null,
            _ => Datum::Array(arguments.store(&arena, &[dimension])),
        },
    ];
    for (number, value) in (2..).zip(values) {
        frame.set(number, value);
    }
}

/// Reads the row that a trigger's function has returned, all columns by index.
fn read_row(relation: &Relation, bytes: &[u8], row: &mut RowBuf) -> Result<()> {
    let live = || relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
    let mismatch = |detail: String| {
        SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            "returned row structure does not match the structure of the triggering table",
        )
        .detail(detail)
    };
    let miscounted = || {
        let (returned, expected) = (record::fields(bytes).count(), live().count());
        Err(mismatch(format!(
            "Number of returned columns ({returned}) does not match expected column count ({expected})."
        )))
    };
    row.set_nulls(relation.columns.len());
    let mut fields = record::fields(bytes);
    for (field, (number, column)) in live().enumerate() {
        let Some((ty, value)) = fields.next() else { return miscounted() };
        if column.ty.oid.0 != ty {
            return Err(mismatch(format!(
                "Returned type {} does not match expected type {} in column {}.",
                format_type(ty, None),
                format_type(column.ty.oid.0, None),
                field + 1
            )));
        }
        let Some(value) = value else { continue };
        match stored::read_in_place(ty, value)? {
            Some(value) => row.set(number, value),
            None => row.set(number, Datum::Interval(&stored::read_interval(value)?)),
        }
    }
    if fields.next().is_some() { miscounted() } else { Ok(()) }
}

/// The code of a condition that only computes.
fn code_of(prepared: &Prepared) -> Option<Code> {
    simple(prepared).map(|scalar| Code::of([&scalar]))
}
