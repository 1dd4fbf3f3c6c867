//! What stands around a call: its owner's rights, settings of its own, and its count.

use super::call::WEIGHT;
use crate::catalog::relation_counts::functions::CountedCall;
use crate::catalog::routine::{Routine, SQL};
use crate::error::Result;
use crate::queries::identity::Identity;
use crate::session::Session;
use crate::session::tracking::CountedFunctions;
use crate::settings::Moment;
use crate::settings::setter::{Anyone, Confinement};
use std::sync::Arc;

impl Session {
    /// Whether calls are counted (`track_functions`).
    pub(super) fn counts_functions(&self) -> bool {
        self.tracking.functions != CountedFunctions::Nobodys
    }

    /// Runs a routine a level deeper, under its owner's rights and with its settings where it says so, and counts it where
    /// that is asked for (`pgstat_init_function_usage`).
    pub(super) fn under_rights<T>(
        &mut self,
        routine: &Arc<Routine>,
        run: &mut dyn FnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let call = self.begin_counted(routine);
        let done = self.as_its_owner(routine, run)?;
        self.end_counted(call);
        Ok(done)
    }

    /// A call begins; nothing where it is not counted.
    pub(super) fn begin_counted(&mut self, routine: &Routine) -> Option<CountedCall> {
        let is_counted = match self.tracking.functions {
            CountedFunctions::Nobodys => false,
            CountedFunctions::Procedural => routine.language != SQL,
            CountedFunctions::All => true,
        };
        let clock = &self.engine.manager().environment().clock;
        is_counted.then(|| self.counts.begin_call(routine.oid, clock.now().0))
    }

    /// It has come to its end.
    pub(super) fn end_counted(&mut self, call: Option<CountedCall>) {
        if let Some(call) = call {
            self.counts.end_call(call, self.engine.manager().environment().clock.now().0);
        }
    }

    /// Runs `run` with the rights and the settings that the routine is to have.
    fn as_its_owner<T>(
        &mut self,
        routine: &Arc<Routine>,
        run: &mut dyn FnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        if !routine.security_definer && routine.settings.is_empty() {
            return crate::types::depth::descend_by(WEIGHT, || run(self));
        }
        let shared = self.catalog.last_snapshot().shared();
        let owner = shared.role_by_oid(routine.owner).filter(|_| routine.security_definer);
        let within = owner.map(|owner| {
            let user_name = Arc::clone(&owner.name);
            // A restricted operation stays one.
            let confinement = self.identity.confinement.or(Some(Confinement::Definer));
            Identity { user: owner.oid, user_name, confinement, ..self.identity.clone() }
        });
        let settings = self.settings.clone();
        let done = self.as_somebody(within, |session| {
            for (name, value) in &routine.settings {
                let said = (&**name, Some(&**value));
                let notices = session.notices.get_mut();
                session.settings.assign(said, Moment::SetLocal, &Anyone, notices)?;
            }
            session.settings_changed();
            session.basis = None;
            crate::types::depth::descend_by(WEIGHT, || run(session))
        });
        match &done {
            // What a routine without SET clauses sets stays set, be it local.
            Ok(_) if routine.settings.is_empty() => {}
            Ok(_) => {
                let own = routine.settings.iter().map(|(name, _)| &**name);
                self.settings.leave_routine(settings, own);
            }
            Err(_) => self.settings = settings,
        }
        self.settings_seen = None;
        self.settings_changed();
        self.basis = None;
        done
    }
}
