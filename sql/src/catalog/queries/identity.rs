//! Who a session is: SET ROLE and SET SESSION AUTHORIZATION, as statements and by `set_config`.
//!
//! Both are settings, so that they are shown, taken back with their transaction and local to it as settings are. The
//! identity follows from them whenever a setting has changed; in a security-restricted operation, which has an identity of
//! its own, they are not to be set.

use crate::catalog::snapshot::Shared;
use crate::error::{Result, SqlError};
use crate::settings::Settings;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SessionFacts};
use std::sync::Arc;

/// Who a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The current user: whose privileges count.
    pub user: Oid,
    /// Its name.
    pub user_name: Arc<str>,
    /// Who logged in: what RESET SESSION AUTHORIZATION goes back to.
    pub authenticated: Oid,
    /// The session user's name.
    pub session_user_name: Arc<str>,
    /// Whether the current user is one.
    pub superuser: bool,
    /// Whether a security-restricted operation runs, whose user is nobody's to change.
    pub restricted: bool,
    /// The session's database.
    pub database_name: Arc<str>,
    /// What others know the session by.
    pub pid: u32,
}

/// Whether this is the setting of a user.
#[must_use]
pub fn sets_user(name: &str) -> bool {
    name.eq_ignore_ascii_case("role") || name.eq_ignore_ascii_case("session_authorization")
}

impl Identity {
    /// What functions are told of the session.
    #[must_use]
    pub fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            database: &self.database_name,
            user: &self.user_name,
            session_user: &self.session_user_name,
            pid: self.pid,
        }
    }

    /// Sets `role` or `session_authorization` among the settings; no value is the one that the session began with.
    ///
    /// # Errors
    /// 42501, 22023.
    pub fn set_user(
        &self,
        shared: &Shared,
        settings: &mut Settings,
        (name, value): (&str, Option<&str>),
        local: bool,
    ) -> Result<()> {
        if self.restricted {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("cannot set parameter \"{name}\" within security-restricted operation"),
            ));
        }
        let authenticated = shared.role_by_oid(self.authenticated);
        let own = authenticated.map_or_else(String::new, |role| role.name.to_string());
        let invalid = |name: &str| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("role \"{name}\" does not exist"),
            )
        };
        if name.eq_ignore_ascii_case("role") {
            let value = value.unwrap_or("none");
            if value != "none" {
                let role = shared.role(value).ok_or_else(|| invalid(value))?;
                let session = shared.role(&self.session_user_name);
                if !session.is_some_and(|session| shared.is_member(session.oid, role.oid)) {
                    return Err(SqlError::new(
                        SqlState::INSUFFICIENT_PRIVILEGE,
                        format!("permission denied to set role \"{value}\""),
                    ));
                }
            }
            settings.set_internal("role", value, local);
        } else {
            let value = value.unwrap_or(&own);
            shared.role(value).ok_or_else(|| invalid(value))?;
            if value != own && !authenticated.is_some_and(|role| role.superuser) {
                return Err(SqlError::new(
                    SqlState::INSUFFICIENT_PRIVILEGE,
                    format!("permission denied to set session authorization \"{value}\""),
                ));
            }
            settings.set_internal("session_authorization", value, local);
            settings.set_internal("role", "none", local);
        }
        Ok(())
    }

    /// Takes the users anew from the settings, and whether they show a superuser; says whether that has changed.
    pub fn assume(&mut self, shared: &Shared, settings: &mut Settings) -> bool {
        let (role, session) = (settings.text("role"), settings.text("session_authorization"));
        let current: &str = if &*role == "none" { &session } else { &role };
        let same = *session == *self.session_user_name && *current == *self.user_name;
        if self.restricted || same {
            return false;
        }
        self.session_user_name = Arc::clone(&session);
        // A role that is gone meanwhile leaves what there was.
        let Some(found) = shared.role(current) else { return false };
        self.user = found.oid;
        self.user_name = Arc::clone(&found.name);
        let changed = self.superuser != found.superuser;
        self.superuser = found.superuser;
        if changed {
            settings.show_internal("is_superuser", if found.superuser { "on" } else { "off" });
        }
        changed
    }
}
