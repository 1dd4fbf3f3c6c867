//! `has_table_privilege` and its kin, `pg_has_role`.
//!
//! All take an optional user first (a name or an OID), then the object (a name or an OID), then privileges as a text:
//! several, separated by commas, ask for any of them.

use super::Call;
use super::names::reg_in;
use crate::catalog::acl::Privileges;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, oids};

impl<'a> Call<'_, '_, '_, 'a> {
    /// A role that an argument names.
    fn role_argument(&self, datum: Datum<'_>) -> Result<Oid> {
        let shared = self.session.snapshot.shared();
        match datum {
            Datum::Oid(oid) => Ok(Oid(oid)),
            Datum::Text("public") => Ok(Oid(0)),
            Datum::Text(name) => shared.role(name).map(|role| role.oid).ok_or_else(|| {
                SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
            }),
            _ => Ok(Oid(0)),
        }
    }

    /// The privileges that a text asks for, each with whether it has to be one that may be passed on.
    fn wanted(&self, text: &str, allowed: Privileges) -> Result<Vec<Privileges>> {
        let unrecognized = |word: &str| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("unrecognized privilege type: \"{word}\""),
            )
        };
        text.split(',')
            .map(|word| {
                let word = word.trim();
                let upper = word.to_ascii_uppercase();
                let bare = upper.strip_suffix(" WITH GRANT OPTION").unwrap_or(&upper);
                Privileges::named(bare)
                    .filter(|privilege| allowed.contains(*privilege))
                    .ok_or_else(|| unrecognized(word))
            })
            .collect()
    }

    pub(super) fn has_privilege(&self, function: &str) -> Result<Datum<'a>> {
        let columns = function == "has_column_privilege";
        let object_arguments = if columns { 2 } else { 1 };
        let (user, rest) = if self.arguments.len() > object_arguments + 1 {
            (self.role_argument(self.arguments[0])?, &self.arguments[1..])
        } else {
            (self.session.user, self.arguments)
        };
        let object = rest[0];
        let Some(Datum::Text(text)) = rest.last() else { return Ok(Datum::Null) };
        let snapshot = self.session.snapshot;
        let any = |held: Privileges, wanted: Vec<Privileges>| {
            Datum::Bool(wanted.into_iter().any(|one| held.contains(one)))
        };
        let lookup = |reg: u32| -> Result<Oid> {
            match object {
                Datum::Oid(oid) => Ok(Oid(oid)),
                Datum::Text(name) => reg_in(self.session, reg, name).map(Oid),
                _ => Ok(Oid(0)),
            }
        };
        match function {
            "has_table_privilege"
            | "has_any_column_privilege"
            | "has_column_privilege"
            | "has_sequence_privilege" => {
                let Some(relation) = snapshot.relation(lookup(oids::REGCLASS)?) else {
                    return Ok(Datum::Null);
                };
                let allowed = if function == "has_sequence_privilege" {
                    Privileges::SEQUENCE
                } else {
                    Privileges::TABLE
                };
                let wanted = self.wanted(text, allowed)?;
                let may =
                    wanted.into_iter().any(|one| snapshot.may_on_relation(user, relation, one));
                Ok(Datum::Bool(may))
            }
            "has_schema_privilege" => {
                let Some(schema) = snapshot.schema_by_oid(lookup(oids::REGNAMESPACE)?) else {
                    return Ok(Datum::Null);
                };
                let wanted = self.wanted(text, Privileges::SCHEMA)?;
                let may = wanted.into_iter().any(|one| snapshot.may_on_schema(user, schema, one));
                Ok(Datum::Bool(may))
            }
            "has_database_privilege" => {
                let shared = snapshot.shared();
                let database = match object {
                    Datum::Text(name) => Some(shared.database(name).ok_or_else(|| {
                        SqlError::new(
                            SqlState::INVALID_CATALOG_NAME,
                            format!("database \"{name}\" does not exist"),
                        )
                    })?),
                    Datum::Oid(oid) => shared.database_by_oid(Oid(oid)),
                    _ => None,
                };
                let Some(database) = database else { return Ok(Datum::Null) };
                let wanted = self.wanted(text, Privileges::DATABASE)?;
                let may =
                    wanted.into_iter().any(|one| snapshot.may_on_database(user, database, one));
                Ok(Datum::Bool(may))
            }
            // Functions, types and languages are all built in, and everyone's.
            "has_function_privilege" => {
                Ok(any(Privileges::EXECUTE, self.wanted(text, Privileges::EXECUTE)?))
            }
            "has_type_privilege" | "has_language_privilege" => {
                Ok(any(Privileges::USAGE, self.wanted(text, Privileges::USAGE)?))
            }
            _ => {
                let wanted = self.wanted(text, Privileges::CREATE)?;
                let role = snapshot.shared().role_by_oid(user);
                let superuser = role.is_some_and(|role| role.superuser);
                Ok(Datum::Bool(superuser && !wanted.is_empty()))
            }
        }
    }

    pub(super) fn has_role(&self) -> Result<Datum<'a>> {
        let (user, role) = match self.arguments {
            [role, _] => (self.session.user, self.role_argument(*role)?),
            [user, role, _] => (self.role_argument(*user)?, self.role_argument(*role)?),
            _ => return Ok(Datum::Null),
        };
        let Some(Datum::Text(text)) = self.arguments.last() else { return Ok(Datum::Null) };
        let shared = self.session.snapshot.shared();
        let mut has = false;
        for word in text.split(',') {
            has |= match word.trim().to_ascii_uppercase().as_str() {
                "USAGE" => shared.has_privileges_of(user, role),
                "MEMBER" => shared.is_member(user, role),
                "USAGE WITH GRANT OPTION"
                | "USAGE WITH ADMIN OPTION"
                | "MEMBER WITH GRANT OPTION"
                | "MEMBER WITH ADMIN OPTION" => {
                    shared.role_by_oid(user).is_some_and(|role| role.superuser)
                        || shared
                            .memberships()
                            .any(|known| known.group == role && known.member == user && known.admin)
                }
                _ => {
                    return Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("unrecognized privilege type: \"{}\"", word.trim()),
                    ));
                }
            };
        }
        Ok(Datum::Bool(has))
    }
}
