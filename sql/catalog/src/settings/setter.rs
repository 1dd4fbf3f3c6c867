//! The door that every value of a setting comes through, wherever it comes from: the start-up packet, what is kept for roles
//! and databases, SET, RESET, `set_config`. Whether it may is asked of the role and the moment at which it takes effect
//! (PostgreSQL's `set_config_option` and its check hooks).

use super::definition::{Context, Definition};
use super::server::{Source, find};
use super::value::{self, FoundRole};
use sql_types::error::{Notice, Result, Severity, SqlError};
use sql_types::sqlstate::SqlState;

/// When, and by what, a setting is given a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session begins: the start-up packet, or what is kept for its role and database.
    Start(Source),
    /// SET, RESET, `set_config`.
    Set,
    /// The same until the transaction's end.
    SetLocal,
}

/// A setting that says who the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSetting {
    /// `role`
    Role,
    /// `session_authorization`
    SessionAuthorization,
}

/// The `role` that is none.
pub const NO_ROLE: &str = "none";

impl UserSetting {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            UserSetting::Role => "role",
            UserSetting::SessionAuthorization => "session_authorization",
        }
    }

    /// That setting, if it is one of the two.
    #[must_use]
    pub fn of(definition: &Definition) -> Option<UserSetting> {
        match definition.name {
            "role" => Some(UserSetting::Role),
            "session_authorization" => Some(UserSetting::SessionAuthorization),
            _ => None,
        }
    }
}

/// What runs as a user whom its statements do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// A routine of SECURITY DEFINER.
    Definer,
    /// A security-restricted operation.
    Restricted,
}

/// Who sets, as roles and privileges are now.
pub trait Setter {
    /// Whether it may set what only superusers may: because it is one, or has been granted SET on the parameter.
    fn is_trusted_with(&self, parameter: &str) -> bool;

    /// What runs within which nobody becomes somebody else.
    fn confinement(&self) -> Option<Confinement>;

    /// The role that the session becomes by that name.
    ///
    /// # Errors
    /// 22023: there is none; 42501: it may not.
    fn user(&self, setting: UserSetting, name: &str) -> Result<FoundRole>;
}

/// Whoever it is: sets what everybody may.
#[derive(Clone, Copy, Debug)]
pub struct Anyone;

impl Setter for Anyone {
    fn is_trusted_with(&self, _: &str) -> bool {
        false
    }

    fn confinement(&self) -> Option<Confinement> {
        None
    }

    fn user(&self, setting: UserSetting, _: &str) -> Result<FoundRole> {
        Err(denied(setting.name()))
    }
}

/// Whether a setting may be set now; `name` is how it was written.
pub(super) fn may_set(
    (definition, name): (&Definition, &str),
    moment: Moment,
    setter: &dyn Setter,
) -> Result<()> {
    if let Some(confinement) =
        setter.confinement().filter(|_| UserSetting::of(definition).is_some())
    {
        let within = match confinement {
            Confinement::Definer => "security-definer function",
            Confinement::Restricted => "security-restricted operation",
        };
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("cannot set parameter \"{name}\" within {within}"),
        ));
    }
    let starting = moment == Moment::Start(Source::Client);
    // Who kept a value for sessions to come was asked then.
    let kept = matches!(moment, Moment::Start(source) if source != Source::Client);
    by_context(definition, starting, || kept || setter.is_trusted_with(definition.name))
}

/// Whether a setting's context allows it to be set, while a session begins or later, by one who is trusted with it.
fn by_context(definition: &Definition, starting: bool, trusted: impl Fn() -> bool) -> Result<()> {
    let name = definition.name;
    let (state, message) = match definition.context {
        Context::Internal => {
            (SqlState::CANT_CHANGE_RUNTIME_PARAM, format!("parameter \"{name}\" cannot be changed"))
        }
        Context::Postmaster => (
            SqlState::CANT_CHANGE_RUNTIME_PARAM,
            format!("parameter \"{name}\" cannot be changed without restarting the server"),
        ),
        Context::Sighup => (
            SqlState::CANT_CHANGE_RUNTIME_PARAM,
            format!("parameter \"{name}\" cannot be changed now"),
        ),
        Context::SuperuserBackend | Context::Backend if !starting => (
            SqlState::CANT_CHANGE_RUNTIME_PARAM,
            format!("parameter \"{name}\" cannot be set after connection start"),
        ),
        Context::SuperuserBackend | Context::Superuser if !trusted() => {
            return Err(denied(name));
        }
        Context::SuperuserBackend | Context::Backend | Context::Superuser | Context::User => {
            return Ok(());
        }
    };
    Err(SqlError::new(state, message))
}

fn denied(name: &str) -> SqlError {
    SqlError::new(
        SqlState::INSUFFICIENT_PRIVILEGE,
        format!("permission denied to set parameter \"{name}\""),
    )
}

/// Whether a value, none if it is to be forgotten, may be kept for sessions to come. Who may become whom is asked of those
/// sessions: here it is only told (PostgreSQL's `validate_option_array_item`).
///
/// # Errors
/// Those of a SET by the same role.
pub fn demand_keepable(
    (name, text): (&str, Option<&str>),
    setter: &dyn Setter,
    notices: &mut Vec<Notice>,
) -> Result<()> {
    let Some(definition) = find(name)? else {
        // What it will mean is not known; only superusers are supposed to know what they do.
        return if setter.is_trusted_with(name) { Ok(()) } else { Err(denied(name)) };
    };
    by_context(definition, false, || setter.is_trusted_with(definition.name))?;
    let Some(text) = text else { return Ok(()) };
    let Some(setting) = UserSetting::of(definition) else {
        return value::parse(definition, text).map(drop);
    };
    if let Err(refused) = setter.user(setting, text) {
        let (state, message) = (refused.state(), &refused.fields().message);
        let (state, message) = if state == SqlState::INSUFFICIENT_PRIVILEGE {
            (state, message.replacen("permission denied", "permission will be denied", 1))
        } else {
            (SqlState::UNDEFINED_OBJECT, message.clone())
        };
        notices.push(SqlError::new(state, message).severity(Severity::Notice));
    }
    Ok(())
}
