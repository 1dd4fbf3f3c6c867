//! SET ROLE, SET SESSION AUTHORIZATION, and what runs as somebody else.

use crate::catalog::acl::Privileges;
use crate::error::{Result, SqlError};
use crate::queries::identity::Identity;
use crate::session::Session;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

impl Session {
    /// Whether the current user is a superuser, as roles are now.
    pub(super) fn is_superuser(&mut self) -> bool {
        let user = self.identity.user;
        self.catalog.snapshot().shared().is_superuser(user)
    }

    /// Whether the current user is a member of `role`, or a superuser, as roles are now.
    pub(super) fn has_privileges_of(&mut self, role: Oid) -> bool {
        let user = self.identity.user;
        self.catalog.snapshot().shared().has_privileges_of(user, role)
    }

    /// Whether the current user may write a parameter to the server's file: it is a superuser, or has been granted that.
    pub(super) fn may_alter_system(&mut self, parameter: &str) -> bool {
        let user = self.identity.user;
        let snapshot = self.catalog.snapshot();
        snapshot.shared().may_on_parameter(user, parameter, Privileges::ALTER_SYSTEM)
    }

    /// Takes the identity anew from the settings.
    pub(super) fn assume(&mut self) {
        let shared = self.catalog.last_snapshot().shared();
        if self.identity.assume(shared, &mut self.settings) {
            self.settings_seen = Some(self.settings.generation());
        }
    }

    /// Runs `body` with the privileges of `user`, as a security-restricted operation: nothing in it becomes another user or
    /// is left for later, when the session is somebody else again, and what it sets counts within it only.
    pub(super) fn restricted<T>(
        &mut self,
        user: Oid,
        body: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let savepoint = self.settings.savepoint();
        let shared = self.catalog.last_snapshot().shared();
        let within = shared.role_by_oid(user).map(|role| self.identity.restricted_to(role));
        let done = self.as_somebody(within, body)?;
        self.settings.rollback_to(savepoint);
        self.settings_changed();
        Ok(done)
    }

    /// Runs `body` with an identity of its own, if there is one; however it ends, the session is afterwards who it was.
    pub(super) fn as_somebody<T>(
        &mut self,
        within: Option<Identity>,
        body: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let Some(within) = within else { return body(self) };
        let refused = self.deferred.get_mut().refuse(within.is_restricted());
        let outside = std::mem::replace(&mut self.identity, within);
        self.basis = None;
        let done = catch_unwind(AssertUnwindSafe(|| body(self)));
        self.identity = outside;
        self.basis = None;
        self.deferred.get_mut().refuse(refused);
        done.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// 42501 within a security-restricted operation for statements whose effects it would leave to the session.
    pub(super) fn demand_unrestricted(&self, words: &str) -> Result<()> {
        if !self.identity.is_restricted() {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("cannot {words} within security-restricted operation"),
        ))
    }
}
