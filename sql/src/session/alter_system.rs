//! ALTER SYSTEM: what the server's file of settings says. It is no part of any transaction, and counts from the next reload or
//! start on.

use super::Session;
use super::utility::{Outcome, done};
use crate::ddl::kept_settings::text_of;
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterSystem, SettingChange};
use crate::settings::definition::Context;
use crate::settings::{auto_file, server, value};
use crate::sqlstate::SqlState;

/// Settings that no file may set (`GUC_DISALLOW_IN_FILE`, `GUC_DISALLOW_IN_AUTO_FILE`).
const IN_NO_FILE: [&str; 8] = [
    "config_file",
    "data_directory",
    "role",
    "seed",
    "session_authorization",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
];

/// What Atoll's own settings begin with.
const OWN: &str = "atoll.";

impl Session {
    pub(super) fn alter_system(&mut self, alter: &AlterSystem) -> Result<Outcome> {
        self.company().refuse("ALTER SYSTEM")?;
        let named = match &alter.change {
            SettingChange::Set(set) => Some(&set.name),
            SettingChange::Reset(name) => Some(name),
            SettingChange::ResetAll => None,
        };
        let may = match named {
            Some(name) => self.may_alter_system(name),
            None => self.is_superuser(),
        };
        if !may {
            let what = match named {
                Some(name) => format!("set parameter \"{name}\""),
                None => "perform ALTER SYSTEM RESET ALL".to_owned(),
            };
            let message = format!("permission denied to {what}");
            return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        }
        let given = match &alter.change {
            SettingChange::Set(set) => {
                let current = |name: &str| self.settings.show_or_fail(name, true);
                text_of(set, &current)?
            }
            SettingChange::Reset(_) | SettingChange::ResetAll => None,
        };
        let name = match named {
            Some(name) => Some(self.in_file(name, given.as_deref())?),
            None => None,
        };
        let Some(file) = self.engine.auto_file() else {
            return Err(SqlError::unsupported("ALTER SYSTEM without a server is"));
        };
        file.change(&|text| {
            let Some(name) = &name else { return Ok(auto_file::write(&[])) };
            let read = auto_file::read(text).map_err(|error| {
                let message =
                    format!("could not parse contents of file \"postgresql.auto.conf\": {error}");
                SqlError::new(SqlState::CONFIG_FILE_ERROR, message)
            });
            let mut entries = read?;
            entries.retain(|entry| !entry.0.eq_ignore_ascii_case(name));
            entries.extend(given.iter().map(|given| (name.clone(), given.clone())));
            Ok(auto_file::write(&entries))
        })?;
        done("ALTER SYSTEM")
    }

    /// The name of a setting as it is defined, if a file may give it this value.
    fn in_file(&self, name: &str, given: Option<&str>) -> Result<String> {
        let definition = server::find(name)?;
        if let Some(definition) = definition {
            let name = definition.name;
            if definition.context == Context::Internal || IN_NO_FILE.contains(&name) {
                return Err(SqlError::new(
                    SqlState::CANT_CHANGE_RUNTIME_PARAM,
                    format!("parameter \"{name}\" cannot be changed"),
                ));
            }
            if let Some(given) = given {
                value::parse(definition, given)?;
            }
        } else if !name.to_ascii_lowercase().starts_with(OWN) {
            // One of somebody else's has to be known already: to the session, or in the file.
            self.settings.show_or_fail(name, true)?;
        }
        if given.is_some_and(|given| given.contains('\n')) {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "parameter value for ALTER SYSTEM must not contain a newline",
            ));
        }
        Ok(definition.map_or(name, |definition| definition.name).to_owned())
    }
}
