//! What a routine says while its statement runs: told at once, as PostgreSQL tells it.
//!
//! A statement's notices wait in the session and leave with its answer, but for those of routines: a body may run for an hour,
//! or wait for somebody else, and what it says meanwhile is there to be read meanwhile. Who serves the client gives the session
//! an [`Outlet`]; without one, and where the outlet is not ready, notices stay where they are and are told later, in their order.
//!
//! Nothing is said too early: a notice behind a COMMIT of the same routine waits for that commit to be durable and visible.

use crate::error::Notice;
use crate::session::Session;
use crate::session::logging::LogLevel;
use std::fmt::Debug;

/// The way to the client past the answer that is being made.
pub trait Outlet: Send + Sync + Debug {
    /// Whether something can be told now: a statement runs, and what was answered before it is told first.
    fn is_open(&self) -> bool;
    /// Tells it.
    fn tell(&self, notices: &[Notice]);
}

impl Session {
    /// Whoever serves the client: what routines say goes there.
    pub fn set_outlet(&mut self, outlet: Box<dyn Outlet>) {
        self.outlet = Some(outlet);
    }

    /// Has what has come up so far told now, where somebody listens. Called by routines: behind what they raise, and behind
    /// their statements.
    #[inline]
    pub(super) fn speak(&mut self) {
        if !self.notices.get_mut().is_empty() {
            self.speak_out();
        }
    }

    #[cold]
    fn speak_out(&mut self) {
        let Some(outlet) = self.outlet.take_if(|outlet| outlet.is_open()) else { return };
        // Where the instance has halted or the statement is cancelled, that is found behind this.
        if self.engine.wait_answer(self.answer_after(), &self.wait).is_ok() {
            let mut told = self.take_notices();
            outlet.tell(&told);
            self.hidden_notices.append(&mut told);
            // A loop may say things for ever, none of which are for the log.
            let least = self.log_settings.least;
            self.hidden_notices.retain(|notice| LogLevel::from(notice.fields().severity) >= least);
        }
        self.outlet = Some(outlet);
    }
}
