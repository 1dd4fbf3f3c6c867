//! SET ROLE and SET SESSION AUTHORIZATION: who the current user is.
//!
//! Both are settings, so that they are shown, taken back with their transaction and local to it as settings are. The
//! identity follows from them whenever a setting has changed.

use crate::error::{Result, SqlError};
use crate::session::Session;
use crate::sqlstate::SqlState;
use std::sync::Arc;

impl Session {
    /// Sets `role` or `session_authorization`; no value is the one that the session began with.
    pub(super) fn set_user(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        let snapshot = Arc::clone(self.catalog.snapshot());
        let shared = snapshot.shared();
        let authenticated = shared.role_by_oid(self.identity.authenticated);
        let own = authenticated.map_or_else(String::new, |role| role.name.to_string());
        let invalid = |name: &str| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("role \"{name}\" does not exist"),
            )
        };
        if name == "role" {
            let value = value.unwrap_or("none");
            if value != "none" {
                let role = shared.role(value).ok_or_else(|| invalid(value))?;
                let session = shared.role(&self.identity.session_user_name);
                if !session.is_some_and(|session| shared.is_member(session.oid, role.oid)) {
                    return Err(SqlError::new(
                        SqlState::INSUFFICIENT_PRIVILEGE,
                        format!("permission denied to set role \"{value}\""),
                    ));
                }
            }
            self.settings.set_internal("role", value, local);
        } else {
            let value = value.unwrap_or(&own);
            shared.role(value).ok_or_else(|| invalid(value))?;
            if value != own && !authenticated.is_some_and(|role| role.superuser) {
                return Err(SqlError::new(
                    SqlState::INSUFFICIENT_PRIVILEGE,
                    format!("permission denied to set session authorization \"{value}\""),
                ));
            }
            self.settings.set_internal("session_authorization", value, local);
            self.settings.set_internal("role", "none", local);
        }
        self.settings_changed();
        Ok(())
    }

    /// Takes the identity anew from the settings.
    pub(super) fn assume(&mut self) {
        let (role, session) =
            (self.settings.text("role"), self.settings.text("session_authorization"));
        let current: &str = if &*role == "none" { &session } else { &role };
        if *session == *self.identity.session_user_name && *current == *self.identity.user_name {
            return;
        }
        let snapshot = self.catalog.last_snapshot();
        let shared = snapshot.shared();
        self.identity.session_user_name = Arc::clone(&session);
        // A role that is gone meanwhile leaves what there was.
        let Some(found) = shared.role(current) else { return };
        let (oid, name, superuser) = (found.oid, Arc::clone(&found.name), found.superuser);
        self.identity.user = oid;
        self.identity.user_name = name;
        if self.identity.superuser != superuser {
            self.identity.superuser = superuser;
            let shown = if superuser { "on" } else { "off" };
            self.settings.show_internal("is_superuser", shown);
            self.settings_seen = Some(self.settings.generation());
        }
    }
}
