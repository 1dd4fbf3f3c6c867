//! Calls of functions by statements that begin where the statement runs: a body that only computes needs nothing of the
//! session, so the statement does not lend it anything. Where a body asks for more, the session goes on with it.

use super::call::{Compiled, WEIGHT};
use super::context::Place;
use super::machine::code::Program;
use super::machine::{Kit, takes};
use super::{Returned, call};
use crate::catalog::routine::Routine;
use crate::error::Result;
use crate::exec::routine::RoutineCall;
use crate::plan::scalar::CallTypes;
use crate::session::Session;
use crate::tuple::RowBuf;
use crate::types::{CallContext, SqlType};
use std::sync::Arc;

/// What is known of a routine as a statement calls it.
#[derive(Debug)]
pub struct KnownCall {
    routine: Arc<Routine>,
    types: Arc<CallTypes>,
    /// [`Session::changes`] when it was called last.
    seen: u64,
    /// Its body and what a CONTEXT calls it, where calls of it may begin in place.
    own: Option<(Arc<Compiled>, Arc<str>)>,
}

/// A call that has begun.
pub struct BegunCall {
    compiled: Arc<Compiled>,
    name: Arc<str>,
    program: Arc<Program>,
    kit: Box<Kit>,
    /// The operation that comes next.
    next: usize,
    result: SqlType,
}

/// How far a call has come.
pub enum Called {
    /// To its end, with this value.
    Finished(RowBuf),
    /// To what the session is to do, if it has begun at all.
    Unfinished(Option<BegunCall>),
}

impl Session {
    /// Calls a routine as far as it only computes; what its expressions look at is `context`.
    pub(super) fn call_here(
        &mut self,
        call: &RoutineCall,
        context: &CallContext<'_>,
    ) -> Result<Called> {
        if self.counts_functions() {
            return Ok(Called::Unfinished(None));
        }
        let own = self.known_calls.get(&call.routine.oid).and_then(|known| {
            let same = Arc::ptr_eq(&known.routine, &call.routine)
                && Arc::ptr_eq(&known.types, &call.types)
                && self.is_settled(known.seen);
            known.own.as_ref().filter(|_| same)
        });
        let Some((compiled, name)) = own else { return Ok(Called::Unfinished(None)) };
        let Some(program) = self.settled_program(compiled.id) else {
            return Ok(Called::Unfinished(None));
        };
        let (compiled, name) = (Arc::clone(compiled), Arc::clone(name));
        let program = Arc::clone(program);
        let mut kit = self.kits.pop().unwrap_or_default();
        kit.frame.begin(compiled.body.variables.len(), &program.layout);
        for number in 0..call.arguments.len() {
            kit.frame.set_column(number, &call.arguments, number);
        }
        let next = crate::types::depth::descend_by(WEIGHT, || {
            self.within.push(Place::Routine(Arc::clone(&name), 0, "during function entry"));
            let ran = kit.run_alone(&program, &name, context, &self.wait.cancel);
            self.within.pop();
            ran
        })?;
        let result = call.types.result;
        // A value of the type of the result, which is none of rows, is the result as it is.
        let fits = |(_, ty): &(u16, SqlType)| takes(result, *ty);
        let Some((slot, _)) = program.returned_at(next).filter(fits) else {
            let begun = BegunCall { compiled, name, program, kit, next, result };
            return Ok(Called::Unfinished(Some(begun)));
        };
        let mut value = RowBuf::new();
        value.push_column(kit.frame.row(), usize::from(slot));
        self.keep_kit(kit);
        Ok(Called::Finished(value))
    }

    /// Runs a call to its end that has begun.
    pub(super) fn finish_call(&mut self, begun: BegunCall) -> Result<RowBuf> {
        let BegunCall { compiled, name, program, kit, next, result } = begun;
        crate::types::depth::descend_by(WEIGHT, || {
            let returned = Returned { ty: Some(result), by_slot: true, ..Returned::default() };
            let run = (compiled.id, Some(program), next);
            let body = Arc::clone(&compiled.body);
            let ran = self.run_by(run, Arc::clone(&name), body, kit, returned, false);
            let (returned, mut kit) = ran?;
            kit.frame.fold_all()?;
            let value = call::value_of(returned, &kit.frame, &name)?;
            self.keep_kit(kit);
            Ok(value)
        })
    }

    /// Notes what a routine is that has just been called, for the next call by the same statement.
    pub(super) fn note_call(&mut self, call: &RoutineCall) -> Result<()> {
        let (routine, types) = (&call.routine, &call.types);
        let known = self.known_calls.get(&routine.oid);
        if known.is_some_and(|known| {
            Arc::ptr_eq(&known.routine, routine)
                && Arc::ptr_eq(&known.types, types)
                && known.seen == self.changes
        }) {
            return Ok(());
        }
        let own = match self.is_light(routine, types) {
            true => Some((self.compiled(routine, types)?, self.routine_name(routine))),
            false => None,
        };
        let (routine, types, seen) = (Arc::clone(routine), Arc::clone(types), self.changes);
        self.known_calls.insert(routine.oid, KnownCall { routine, types, seen, own });
        Ok(())
    }
}
