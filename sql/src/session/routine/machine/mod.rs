//! The machine that runs a body: a program of operations over the frame, made once for a routine and its argument types.
//!
//! PostgreSQL walks a body's tree and keeps a plan for each expression (`pl_exec.c`); here statements that need nothing but
//! variables and the expressions in them are one program ([`code`]), made by [`compile`] and [`expression`] of what has been made
//! ready, and run by a loop that recurses for nothing ([`fast`]); so are the bodies of loops over rows. What a program has no operation for the machine hands back
//! to the execution, statement by statement. So are calls of other bodies: they take their arguments from slots and give a value
//! into one, without a statement around them.
//!
//! A block with EXCEPTION is a subtransaction only when something runs in it that could need one: while nothing but variables
//! has been touched, there is nothing to roll back, and it is remembered as one that is due.

pub(super) mod code;
mod compile;
mod expression;
mod fast;
#[cfg(test)]
mod tests;

use super::context::Place;
use super::frame::Frame;
use super::handler::catches;
use super::{Compiled, Execution, Returned};
use crate::catalog::routine::{PLPGSQL, Routine};
use crate::ddl::routine::{EVENT_TRIGGER, TRIGGER};
use crate::error::{Result, SqlError, cancel};
use crate::plan::scalar::{CallTypes, Scalar, Target};
use crate::plpgsql::tree::{Action, Body};
use crate::session::Session;
use crate::session::machines::REST_BYTES_MAX;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum, SqlType, oids};
use code::{Op, Program, Site, Slot};
pub(super) use fast::{Exit, Room, run};
use std::sync::Arc;

/// What a level of calls counts among the levels of values.
const WEIGHT: u32 = 10;

/// How many frames are kept for calls to come.
const KITS_MAX: usize = 64;

/// What a call needs, kept from one to the next.
#[derive(Default)]
pub struct Kit {
    pub(super) frame: Frame,
    pub(super) room: Room,
    /// The first row of what a statement gives.
    pub(super) row: RowBuf,
}

impl Kit {
    /// What it occupies.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.frame.capacity_bytes() + self.room.capacity_bytes() + self.row.capacity_bytes()
    }
}

/// Whether values of a type are values of another as they are.
pub(super) fn takes(to: SqlType, from: SqlType) -> bool {
    from.oid == to.oid && (to.typmod < 0 || to.typmod == from.typmod)
}

/// Whether an operation that the session does reads no rows of variables but those that its texts name, and these when they
/// are run.
fn reads_little(op: Op, program: &Program) -> bool {
    match op {
        Op::Call { .. }
        | Op::Try { .. }
        | Op::Tried
        | Op::Handled
        | Op::Holds { .. }
        | Op::Bounded { .. }
        | Op::Assign { .. } => true,
        Op::Statement { statement, .. } => matches!(
            program.statements[statement as usize].action,
            Action::Execute(..) | Action::Perform(_) | Action::AssignElement(..)
        ),
        _ => false,
    }
}

/// A block with EXCEPTION that is being run.
struct Tried {
    handlers: u32,
    /// How many errors were being handled around it.
    handled: usize,
    /// How many loops over rows were around it.
    loops: usize,
}

impl Kit {
    /// Runs the program that the frame is laid out for as far as it needs nothing of the session but what functions look at: the
    /// operation from which the session goes on.
    ///
    /// # Errors
    /// Those of the operations, within the routine of this name.
    pub(super) fn run_alone(
        &mut self,
        program: &Program,
        name: &Arc<str>,
        context: &CallContext<'_>,
        stop: &txn::Cancel,
    ) -> Result<usize> {
        let (Kit { frame, room, .. }, mut pc) = (self, 0);
        let place = (frame, room, &mut [][..]);
        match fast::run(program, place, &mut pc, Some(context), stop, false) {
            Ok(_) => Ok(pc - 1),
            Err(error) => {
                let (line, what) = program.place(pc - 1);
                Err(error.within(Place::Routine(Arc::clone(name), line, what).text()))
            }
        }
    }
}

impl Session {
    /// The program of a body, where nothing has happened since it was found good.
    pub(super) fn settled_program(&self, id: u64) -> Option<&Arc<Program>> {
        let known = self.texts.get(&id).filter(|known| known.seen == self.changes)?;
        known.program.as_ref().filter(|program| known.ready == program.ready)
    }

    /// The program of a body as it is now, for a frame that may have begun with another one.
    pub(super) fn program_of(&mut self, id: u64, body: &Arc<Body>) -> Result<Arc<Program>> {
        if let Some(program) = self.settled_program(id) {
            return Ok(Arc::clone(program));
        }
        self.basis();
        let user = self.identity.user;
        if let (Some(known), Some(basis)) = (self.texts.get_mut(&id), &self.basis)
            && let Some(program) = &known.program
            && known.ready == program.ready
        {
            let same = known.basis.as_ref().is_some_and(|made| made.is_same(basis));
            let (snapshot, manager) = (self.catalog.last_snapshot(), self.engine.manager());
            let good = |text: &Arc<super::Text>| {
                let planned = text.prepared.planned.as_ref();
                planned.is_none_or(|planned| {
                    planned.is_good(basis, snapshot, manager) && planned.required.is_empty()
                })
            };
            if same && known.user == user || program.texts.iter().all(good) {
                if !same {
                    (known.basis, known.name) = (Some(basis.clone()), None);
                }
                (known.seen, known.user) = (self.changes, user);
                return Ok(Arc::clone(program));
            }
        }
        self.compile_body(id, body)
    }

    #[cold]
    fn compile_body(&mut self, id: u64, body: &Arc<Body>) -> Result<Arc<Program>> {
        let known = self.texts.get(&id);
        let mut texts = match known {
            Some(known) => known.texts.clone(),
            None => vec![None; body.texts as usize],
        };
        let ready = known.map_or(0, |known| known.ready);
        let mut callees = compile::Callees::new();
        for place in &mut texts {
            let usable = match place {
                Some(text) => self.is_usable(text, &mut callees),
                None => false,
            };
            if !usable {
                *place = None;
            }
        }
        #[cfg(test)]
        if self.without_programs {
            texts.fill(None);
        }
        let given = compile::Given { body, texts, callees };
        let program = crate::types::depth::deeper(|| compile::compile(&given));
        let Some(mut program) = program else {
            let message = "function has too many variables and loops";
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        };
        program.ready = ready;
        let program = Arc::new(program);
        let (basis, user, seen) = (self.basis().clone(), self.identity.user, self.changes);
        let known = self.known_texts(id, body);
        known.program = Some(Arc::clone(&program));
        (known.basis, known.user, known.seen, known.name) = (Some(basis), user, seen, None);
        Ok(program)
    }

    /// Whether a text may be evaluated by a program: it is good, the user may, and the machine can run what it calls.
    fn is_usable(&mut self, text: &Arc<super::Text>, callees: &mut compile::Callees) -> bool {
        let (Some(scalar), Some(planned)) = (&text.flat, &text.prepared.planned) else {
            return false;
        };
        self.basis();
        let (snapshot, manager) = (self.catalog.last_snapshot(), self.engine.manager());
        let good = |basis| planned.is_good(basis, snapshot, manager);
        let good = self.basis.as_ref().is_some_and(good);
        if !good || !planned.required.is_empty() && self.may_run(planned).is_err() {
            return false;
        }
        let mut calls = Vec::new();
        scalar.walk(&mut |part| {
            if let Scalar::Call { callee, .. } = part
                && let Target::Routine(routine, types) = &callee.target
            {
                calls.push((Arc::clone(routine), Arc::clone(types)));
            }
            true
        });
        for (routine, types) in calls {
            let Some(compiled) = self.light_callee(&routine, &types) else { return false };
            callees.push((routine, types, compiled));
        }
        true
    }

    /// The body of a routine that the machine may call with nothing but its arguments.
    fn light_callee(&mut self, routine: &Arc<Routine>, types: &CallTypes) -> Option<Arc<Compiled>> {
        // What is not volatile sees what a statement around it sees.
        let light = routine.volatility == b'v' && self.is_light(routine, types);
        if light { self.compiled(routine, types).ok() } else { None }
    }

    /// Whether a routine needs nothing but its arguments to be called, and gives one value that is no row.
    pub(super) fn is_light(&mut self, routine: &Routine, types: &CallTypes) -> bool {
        const OTHERS: [u32; 4] = [oids::VOID, oids::RECORD, TRIGGER, EVENT_TRIGGER];
        let fixed = |ty: u32| !crate::bind::is_polymorphic(ty) && ty != oids::RECORD;
        let light = routine.language == PLPGSQL
            && !routine.procedure
            && !routine.returns_set
            && !routine.security_definer
            && routine.settings.is_empty()
            && routine.aggregate.is_none()
            && routine.outputs().is_empty()
            && !OTHERS.contains(&routine.result.0)
            && fixed(routine.result.0)
            && routine.parameters.len() == types.arguments.len()
            && routine.parameters.iter().all(|one| one.is_input() && fixed(one.ty.0));
        light && self.shape_of(SqlType { oid: routine.result, typmod: -1 }).is_none()
    }

    /// What a routine is called in messages, remembered as long as nothing changes.
    fn name_of(&mut self, compiled: &Compiled) -> Arc<str> {
        if let Some(known) = self.texts.get(&compiled.id)
            && let Some(name) = &known.name
        {
            return Arc::clone(name);
        }
        let name: Arc<str> = self.routine_text(&compiled.routine).into();
        self.known_texts(compiled.id, &compiled.body).name = Some(Arc::clone(&name));
        name
    }
}

impl Execution<'_> {
    /// Has the execution go on in the body's program as it is now.
    fn renew(&mut self) -> Result<()> {
        let program = self.session.program_of(self.id, &self.body)?;
        if self.program.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &program)) {
            self.kit.frame.lay_out(&program.layout, program.constants.clone());
            self.program = Some(program);
        }
        Ok(())
    }

    /// Runs the body to its end.
    pub fn run_body(&mut self) -> Result<()> {
        if self.program.is_none() {
            self.renew()?;
        }
        self.run_program()
    }

    fn running(&self) -> Arc<Program> {
        Arc::clone(self.program.as_ref().expect("a body runs by its program"))
    }

    /// Runs operations from the one on that it begins with, until the body is left.
    fn run_program(&mut self) -> Result<()> {
        let wait = Arc::clone(&self.session.wait);
        let mut program = self.running();
        let (mut pc, mut tried) = (self.start, Vec::new());
        let (mut stale, mut in_context) = (false, false);
        loop {
            let Kit { frame, room, .. } = &mut *self.kit;
            let place = (frame, room, &mut self.loops[..]);
            let exit = if in_context {
                self.session.with_context(|context| {
                    fast::run(&program, place, &mut pc, Some(context), &wait.cancel, stale)
                })
            } else {
                fast::run(&program, place, &mut pc, None, &wait.cancel, stale)
            };
            in_context = false;
            let done = match exit {
                Ok(Exit::Context) => {
                    in_context = true;
                    continue;
                }
                Ok(Exit::Stale) => {
                    let Op::Check { statement } = program.ops[pc - 1] else { continue };
                    stale = false;
                    self.renew().map(|()| {
                        program = self.running();
                        pc = program.starts[statement as usize] as usize;
                    })
                }
                Ok(Exit::Other) => {
                    if let Op::End = program.ops[pc - 1] {
                        return Ok(());
                    }
                    let (line, what) = program.place(pc - 1);
                    self.session.is_at(line, what);
                    self.other(&program, &mut pc, &mut tried, &mut stale)
                }
                Err(error) => {
                    let (line, what) = program.place(pc - 1);
                    self.session.is_at(line, what);
                    Err(error)
                }
            };
            match done {
                Ok(()) if matches!(program.ops[pc], Op::End) => return Ok(()),
                Ok(()) => {}
                Err(error) => {
                    pc = self.caught(error, &program, &mut tried)? as usize;
                    stale = true;
                }
            }
        }
    }

    /// Does what an operation has the session do.
    fn other(
        &mut self,
        program: &Arc<Program>,
        pc: &mut usize,
        tried: &mut Vec<Tried>,
        stale: &mut bool,
    ) -> Result<()> {
        let op = program.ops[*pc - 1];
        if let Op::Return { one, ty } = op {
            return self.returns_slot(one, program.types[ty as usize]);
        }
        if !reads_little(op, program) {
            self.kit.frame.fold_all()?;
        }
        match op {
            Op::Call { site, to } => {
                self.begin_due();
                self.call_site(&program.sites[site as usize], to)?;
                *stale |= !self.is_current(program);
                return Ok(());
            }
            Op::ReturnNothing => {
                self.returned.met = true;
                return Ok(());
            }
            Op::Try { handlers } => {
                let (handled, loops) = (self.handled.len(), self.loops.len());
                tried.push(Tried { handlers, handled, loops });
                self.subtransactions += 1;
                self.due += 1;
                return Ok(());
            }
            Op::Tried => {
                tried.pop();
                self.subtransactions -= 1;
                if self.due > 0 {
                    self.due -= 1;
                } else {
                    self.session.release_subtransaction();
                }
                return Ok(());
            }
            Op::Handled => {
                self.handled.pop();
                return Ok(());
            }
            Op::Shaped { variable, shape } => {
                let shape = &program.shapes[shape as usize];
                let variable = u32::from(variable);
                if self.kit.frame.shape(variable).is_none_or(|known| known != shape) {
                    self.kit.frame.set_shape(variable, Some(Arc::clone(shape)));
                }
                return Ok(());
            }
            Op::NotNull { variable, .. } => {
                return Err(super::value::not_null(&self.body.variables[usize::from(variable)]));
            }
            Op::CaseNotFound => {
                return Err(SqlError::new(SqlState::CASE_NOT_FOUND, "case not found")
                    .hint("CASE statement is missing ELSE part."));
            }
            Op::Statement { statement, pure: true } => {
                cancel::check(&self.session.wait.cancel)?;
                let statement = Arc::clone(&program.statements[statement as usize]);
                self.statement(&statement.action)?;
                return Ok(());
            }
            _ => {}
        }
        cancel::check(&self.session.wait.cancel)?;
        self.begin_due();
        let ready = self.session.ready_texts(self.id);
        match op {
            Op::Statement { statement, .. } => {
                let statement = Arc::clone(&program.statements[statement as usize]);
                self.statement(&statement.action)?;
            }
            Op::OpenRows { statement } => {
                self.open_loop(&program.statements[statement as usize])?
            }
            Op::NextRow { end } if !self.next_row(program, pc, tried.is_empty() && !*stale)? => {
                *pc = end as usize;
            }
            Op::CloseRows { tells } => self.close_loop(tells)?,
            Op::Holds { sql, end } => {
                let holds = self.holds(&program.sqls[sql as usize])?;
                *pc = if holds { *pc } else { end as usize };
            }
            Op::Bounded { sql, which, to } => {
                let mut value = RowBuf::new();
                self.evaluate(&program.sqls[sql as usize], &mut value)?;
                let bound = fast::bound(&value.get(0), which)?;
                self.kit.frame.set_plain(u32::from(to), Datum::Int4(bound));
            }
            Op::Assign { sql, variable } => {
                self.assign(u32::from(variable), &program.sqls[sql as usize])?;
            }
            Op::Begin { variable } => self.initialize(u32::from(variable))?,
            _ => {}
        }
        // What had been made ready before is not done this way again.
        *stale |= !self.is_current(program)
            || ready != program.ready && ready == self.session.ready_texts(self.id);
        Ok(())
    }

    /// Whether nothing has happened since a program was found good.
    pub(super) fn is_current(&mut self, program: &Arc<Program>) -> bool {
        let changes = self.session.changes;
        self.session.texts.get(&self.id).is_some_and(|known| {
            known.seen == changes
                && known.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, program))
        })
    }

    /// Begins the subtransactions that are due.
    fn begin_due(&mut self) {
        for _ in 0..std::mem::take(&mut self.due) {
            self.session.begin_subtransaction();
        }
    }

    /// Looks for who handles an error; where the handler begins.
    #[cold]
    fn caught(
        &mut self,
        error: SqlError,
        program: &Program,
        tried: &mut Vec<Tried>,
    ) -> Result<u32> {
        while let Some(Tried { handlers, handled, loops }) = tried.pop() {
            self.abandon_loops(loops);
            self.handled.truncate(handled);
            self.subtransactions -= 1;
            let caught = &program.caught[handlers as usize];
            let found = caught.handlers.iter().find(|(conditions, _)| catches(conditions, &error));
            let context = found.map(|_| self.session.context_text());
            if self.due > 0 {
                self.due -= 1;
            } else {
                self.session.rollback_subtransaction();
            }
            let (Some((_, begins)), Some(context)) = (found, context) else { continue };
            if error.state() == SqlState::QUERY_CANCELED {
                // Who catches it goes on; who asks again asks anew.
                self.session.wait.cancel.clear_if(cancel::USER);
                self.session.wait.cancel.clear_if(cancel::STATEMENT_TIMEOUT);
            }
            let error = error.in_whole(&context);
            self.session.is_at(caught.place.0, caught.place.1);
            self.kit.frame.set(caught.state, Datum::Text(error.state().code()));
            self.kit.frame.set(caught.message, Datum::Text(&error.fields().message));
            self.handled.push(error);
            return Ok(*begins);
        }
        self.abandon_loops(0);
        self.handled.clear();
        Err(error)
    }

    /// RETURN with a value at a slot.
    fn returns_slot(&mut self, slot: Slot, from: SqlType) -> Result<()> {
        self.returned.met = true;
        let returned = &mut self.returned;
        if returned.by_slot && returned.ty.is_none_or(|to| takes(to, from)) {
            let frame = &self.kit.frame;
            let is_row = || {
                matches!(frame.get(u32::from(slot)), Datum::Null | Datum::Record(_))
                    || frame.is_unfolded(u32::from(slot))
            };
            if !returned.of_rows || is_row() {
                returned.slot = Some(slot);
                return Ok(());
            }
        }
        self.kit.frame.fold(u32::from(slot))?;
        let mut value = RowBuf::new();
        value.push_column(self.kit.frame.row(), usize::from(slot));
        self.gives_back(value, from)
    }

    /// Runs the body of a routine with arguments from slots; its value goes to one.
    fn call_site(&mut self, site: &Site, to: Slot) -> Result<()> {
        let is_null = |slot: &Slot| self.kit.frame.get(u32::from(*slot)).is_null();
        if site.strict && site.arguments.iter().any(is_null) {
            self.kit.frame.set_plain(u32::from(to), Datum::Null);
            return Ok(());
        }
        let frame = &mut self.kit.frame;
        self.session.in_use((&site.text, &site.sql), |session| {
            let call = session.begin_counted(&site.compiled.routine);
            crate::types::depth::descend_by(WEIGHT, || session.call_deeper(frame, site, to))?;
            session.end_counted(call);
            Ok(())
        })
    }
}

impl Session {
    /// Keeps what a call has needed for those to come.
    pub(super) fn keep_kit(&mut self, kit: Box<Kit>) {
        if kit.capacity_bytes() <= REST_BYTES_MAX && self.kits.len() < KITS_MAX {
            self.kits.push(kit);
        }
    }

    fn call_deeper(&mut self, around: &mut Frame, site: &Site, to: Slot) -> Result<()> {
        let compiled = &site.compiled;
        let session = self;
        cancel::check(&session.wait.cancel)?;
        let program = session.program_of(compiled.id, &compiled.body)?;
        let name = session.name_of(compiled);
        let mut kit = session.kits.pop().unwrap_or_default();
        kit.frame.begin(compiled.body.variables.len(), &program.layout);
        for (number, argument) in site.arguments.iter().enumerate() {
            kit.frame.set_column(number, around.row(), usize::from(*argument));
        }
        session.within.push(Place::Routine(Arc::clone(&name), 0, "during function entry"));
        let returned = Returned { ty: Some(site.result), by_slot: true, ..Returned::default() };
        let mut execution = Execution {
            session,
            id: compiled.id,
            body: Arc::clone(&compiled.body),
            kit,
            ends_transactions: false,
            subtransactions: 0,
            due: 0,
            handled: Vec::new(),
            row_count: 0,
            scratch: RowBuf::new(),
            returned,
            program: Some(program),
            start: 0,
            loops: Vec::new(),
        };
        let outer = execution.session.called_view.take();
        let ran = execution.run_program();
        let Execution { session, kit, returned, .. } = execution;
        session.called_view = outer;
        let place = session.within.pop();
        let done = match ran {
            Err(error) => Err(match place {
                Some(place) => error.within(place.text()),
                None => error,
            }),
            Ok(()) if !returned.met => Err(SqlError::new(
                SqlState::FUNCTION_EXECUTED_NO_RETURN_STATEMENT,
                "control reached end of function without RETURN",
            )
            .within(format!("PL/pgSQL function {name}"))),
            Ok(()) => {
                match returned.slot {
                    Some(slot) => {
                        around.set_column(usize::from(to), kit.frame.row(), usize::from(slot));
                    }
                    None if returned.value.is_empty() => {
                        around.set_plain(u32::from(to), Datum::Null);
                    }
                    None => around.set_column(usize::from(to), &returned.value, 0),
                }
                Ok(())
            }
        };
        session.keep_kit(kit);
        done
    }
}
