//! Triggers: their functions with `NEW`, `OLD` and the `TG_` variables (`plpgsql_exec_trigger` of `pl_exec.c`), and their
//! conditions.

use super::Returned;
use super::call::{Compiled, WEIGHT};
use super::context::Place;
use super::frame::{Frame, Shape};
use super::machine::Kit;
use super::machine::code::Program;
use crate::bind::VariableConflict;
use crate::catalog::relation::Relation;
use crate::catalog::routine::Routine;
use crate::catalog::trigger::{self, Trigger};
use crate::error::{Result, SqlError};
use crate::exec::key_match::same_image;
use crate::exec::trigger::Firing;
use crate::plpgsql::parse::{Given, Gives};
use crate::plpgsql::tree::{Block, Body, Name, Sql, Variable, VariableType};
use crate::prepared::Basis;
use crate::session::Session;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::array::{self, Dimension};
use crate::types::type_name::format_type;
use crate::types::{CallContext, Datum, Oid, SqlType, oids, record, stored};
use std::sync::Arc;

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
    trigger: Trigger,
    /// The number under which its plan is kept.
    id: u64,
    body: Arc<Body>,
    sql: Sql,
    /// The table as it was looked at last, and the fields of its rows.
    relation: Arc<Relation>,
    shape: Arc<Shape>,
    /// The rows, and what they begin with.
    frame: Frame,
    start: RowBuf,
}

impl Condition {
    /// Puts the rows of a change where the condition reads them.
    fn set_rows(&mut self, firing: &Firing<'_>) -> Result<()> {
        if !Arc::ptr_eq(&self.relation, firing.relation) {
            self.relation = Arc::clone(firing.relation);
            self.shape = shape(firing.relation);
        }
        self.frame.begin(self.body.variables.len(), &self.start);
        let all_live = !firing.relation.columns.iter().any(|column| column.dropped);
        set_rows(&mut self.frame, firing, (&self.shape, all_live));
        self.frame.fold_all()
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
    /// that is none.
    pub(in crate::session) fn fire_trigger(
        &mut self,
        firing: &Firing<'_>,
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
                    self.fire_trigger(&firing, None, &mut RowBuf::new())?;
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
        let mut condition = match self.conditions.remove(&key) {
            Some(known) if known.trigger == *firing.trigger => known,
            old => {
                if let Some(old) = old {
                    self.texts.remove(&old.id);
                }
                self.bodies += 1;
                Box::new(condition_of(firing, self.bodies))
            }
        };
        let met = self.meets(&mut condition, firing);
        if condition.frame.capacity_bytes() > REST_BYTES_MAX {
            condition.frame = Frame::new(condition.body.variables.len());
        }
        if let Some(other) = self.conditions.insert(key, condition) {
            self.texts.remove(&other.id);
        }
        met
    }

    fn meets(&mut self, condition: &mut Condition, firing: &Firing<'_>) -> Result<bool> {
        condition.set_rows(firing)?;
        let Condition { id, body, sql, frame, .. } = condition;
        let text = self.text_of((*id, body), frame, sql, None)?;
        let outside = self.firing.len();
        self.firing.resize(outside + firing.actions as usize, firing.relation.oid);
        let mut value = RowBuf::new();
        let met = match self.evaluate_simple(&text, frame.row(), &mut value) {
            Ok(true) => Ok(matches!(value.get(0), Datum::Bool(true))),
            Ok(false) => self
                .value_alone(&text.prepared, &mut frame.row().clone())
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
        let same = |known: &&mut Box<Condition>| Arc::ptr_eq(&known.relation, firing.relation);
        let Some(condition) = self.conditions.get_mut(&firing.trigger.oid).filter(same) else {
            return Ok(None);
        };
        condition.set_rows(firing)?;
        let Some(condition) = self.conditions.get(&firing.trigger.oid) else { return Ok(None) };
        let (text, mut value) = ((condition.id, &condition.sql), RowBuf::new());
        let evaluated = self.evaluate_here(text, context, &condition.frame, &mut value);
        if condition.frame.capacity_bytes() > REST_BYTES_MAX
            && let Some(condition) = self.conditions.get_mut(&firing.trigger.oid)
        {
            condition.frame = Frame::new(condition.body.variables.len());
        }
        Ok(evaluated?.then(|| matches!(value.get(0), Datum::Bool(true))))
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

/// The rows of a change, as values of the variables NEW and OLD. One that is not there reads as NULL, in triggers of
/// statements both, so that a function of several triggers may name its fields.
fn set_rows(frame: &mut Frame, firing: &Firing<'_>, (shape, all_live): (&Arc<Shape>, bool)) {
    for (variable, row) in [(NEW, firing.new), (OLD, firing.old)] {
        let Some(row) = row else {
            frame.begin_rows(variable, shape);
            continue;
        };
        // What is generated is not worked out yet: it reads as NULL, not as what it was.
        let hides = variable == NEW
            && firing.trigger.kind & trigger::BEFORE != 0
            && firing.event == trigger::UPDATE;
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

/// A condition, with a body of nothing but the rows that it is over.
fn condition_of(firing: &Firing<'_>, id: u64) -> Condition {
    let Firing { relation, trigger, .. } = *firing;
    let text = trigger.when.as_ref().map_or_else(|| "true".into(), |when| Arc::clone(when.text()));
    let (mut names, mut variables) = (Vec::new(), Vec::new());
    for (number, name) in ["new", "old"].into_iter().enumerate() {
        let name: Arc<str> = name.into();
        let previous = number.checked_sub(1).map(|previous| previous as u32);
        let variable = Some(number as u32);
        names.push(Name { previous, name: Arc::clone(&name), variable, is_block: false });
        let (constant, not_null, default, cursor) = (false, false, None, None);
        let ty = VariableType::Record;
        variables.push(Variable { name, ty, line: 0, constant, not_null, default, cursor });
    }
    let sql = Sql {
        number: 0,
        text,
        is_expression: true,
        is_cursor: false,
        names: Some(1),
        at: 0,
        assignment: None,
        wanted: Some(SqlType::plain(oids::BOOL)),
    };
    let block =
        Block { line: 0, label: None, variables: Vec::new(), body: Vec::new(), handlers: None };
    let body = Arc::new(Body {
        block,
        arguments: 0,
        positions: Vec::new(),
        rows: Vec::new(),
        found: 0,
        variables,
        names,
        texts: 1,
        statements: 0,
        ends_transactions: false,
        conflict: VariableConflict::UseVariable,
        shows_strict: false,
    });
    let mut start = RowBuf::new();
    start.set_nulls(body.variables.len());
    Condition {
        trigger: trigger.clone(),
        id,
        frame: Frame::new(body.variables.len()),
        body,
        sql,
        relation: Arc::clone(relation),
        shape: shape(relation),
        start,
    }
}
