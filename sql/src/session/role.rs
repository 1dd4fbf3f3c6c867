//! SET ROLE, SET SESSION AUTHORIZATION, and what runs as somebody else.

use crate::catalog::acl::Privileges;
use crate::error::Result;
use crate::session::Session;
use crate::types::Oid;

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

    /// Runs `body` with the privileges of `user`, as a security-restricted operation: nothing in it becomes another user,
    /// and what it sets counts within it only. Where it fails, [`Session::failed`] goes back to who the session was.
    pub(super) fn restricted<T>(
        &mut self,
        user: Oid,
        body: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let savepoint = self.settings.savepoint();
        let shared = self.catalog.last_snapshot().shared();
        if let Some(role) = shared.role_by_oid(user) {
            let within = self.identity.restricted_to(role);
            self.outside = Some(std::mem::replace(&mut self.identity, within));
            self.basis = None;
        }
        let done = body(self)?;
        if let Some(identity) = self.outside.take() {
            self.identity = identity;
            self.basis = None;
        }
        self.settings.rollback_to(savepoint);
        self.settings_changed();
        Ok(done)
    }
}
