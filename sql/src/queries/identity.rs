//! Who a session is: SET ROLE and SET SESSION AUTHORIZATION, as statements and by `set_config`.
//!
//! Both are settings, so that they are shown, taken back with their transaction and local to it as settings are. They name
//! the roles that were found when they were set, whatever others are called so later. The identity follows from them
//! whenever a setting has changed; in a routine of SECURITY DEFINER and in a security-restricted operation, which have an
//! identity of their own, they are not to be set. What a role may do is no part of the identity: that is asked of the role when it matters.

use crate::catalog::acl::Privileges;
use crate::catalog::object::Role;
use crate::catalog::shared::Shared;
use crate::error::{Result, SqlError};
use crate::settings::setter::{Confinement, NO_ROLE};
use crate::settings::value::FoundRole;
use crate::settings::{Setter, Settings, UserSetting};
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
    /// Who logged in, as it was then: what RESET SESSION AUTHORIZATION goes back to. SET SESSION AUTHORIZATION is for who has
    /// logged in as a superuser.
    pub authenticated: FoundRole,
    /// The session user: who says which roles SET ROLE may take.
    pub session_user: Oid,
    /// Its name.
    pub session_user_name: Arc<str>,
    /// What runs whose user is nobody's to change.
    pub confinement: Option<Confinement>,
    /// The session's database.
    pub database_name: Arc<str>,
    /// What others know the session by.
    pub pid: u32,
}

/// Who sets a setting: a session's user, among the roles as they are.
#[derive(Clone, Copy, Debug)]
pub struct SettingUser<'a> {
    /// The roles.
    pub shared: &'a Shared,
    /// The session.
    pub identity: &'a Identity,
}

impl Setter for SettingUser<'_> {
    fn is_trusted_with(&self, parameter: &str) -> bool {
        self.shared.may_on_parameter(self.identity.user, parameter, Privileges::SET)
    }

    fn confinement(&self) -> Option<Confinement> {
        self.identity.confinement
    }

    fn user(&self, setting: UserSetting, name: &str) -> Result<FoundRole> {
        if setting == UserSetting::Role && name == NO_ROLE {
            return Ok(FoundRole::NONE);
        }
        let role = self.shared.role(name).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("role \"{name}\" does not exist"),
            )
        })?;
        let (may, what) = match setting {
            UserSetting::Role => {
                (self.shared.is_member(self.identity.session_user, role.oid), "role")
            }
            UserSetting::SessionAuthorization => {
                let own = self.identity.authenticated;
                (role.oid == own.oid || own.superuser, "session authorization")
            }
        };
        if may {
            return Ok(FoundRole { oid: role.oid, superuser: role.superuser });
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied to set {what} \"{name}\""),
        ))
    }
}

impl Identity {
    /// The same session while something runs with a role's privileges, as a security-restricted operation: nothing in it
    /// becomes another user.
    #[must_use]
    pub fn restricted_to(&self, role: &Role) -> Identity {
        Identity {
            user: role.oid,
            user_name: Arc::clone(&role.name),
            confinement: Some(Confinement::Restricted),
            ..self.clone()
        }
    }

    /// Whether a security-restricted operation runs.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.confinement == Some(Confinement::Restricted)
    }

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

    /// Takes the users anew from the settings, and whether they show a superuser; says whether that has changed.
    pub fn assume(&mut self, shared: &Shared, settings: &mut Settings) -> bool {
        if self.confinement.is_some() {
            return false;
        }
        let session = settings.user(UserSetting::SessionAuthorization);
        let session = session.unwrap_or(self.authenticated);
        let user = settings.user(UserSetting::Role).unwrap_or(session);
        if (user.oid, session.oid) == (self.user, self.session_user) {
            return false;
        }
        (self.user, self.session_user) = (user.oid, session.oid);
        self.take_names(shared);
        let superuser = user.superuser;
        if superuser == settings.bool("is_superuser") {
            return false;
        }
        settings.show_internal("is_superuser", if superuser { "on" } else { "off" });
        true
    }

    /// Takes anew what the users are called; one that is gone meanwhile leaves its name.
    pub fn take_names(&mut self, shared: &Shared) {
        let name = |role: Oid, kept: &mut Arc<str>| {
            if let Some(role) = shared.role_by_oid(role) {
                kept.clone_from(&role.name);
            }
        };
        name(self.user, &mut self.user_name);
        name(self.session_user, &mut self.session_user_name);
    }
}
