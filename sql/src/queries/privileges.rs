//! `has_table_privilege` and its kin, `pg_has_role`.
//!
//! All take an optional user first (a name or an OID), then the object (a name or an OID), then privileges as a text:
//! several, separated by commas, ask for any of them.

use super::Call;
use super::names::reg_in;
use crate::catalog::Relation;
use crate::catalog::acl::{self, Acl, AclItem, Privileges};
use crate::catalog::builtin;
use crate::catalog::object::well_known;
use crate::catalog::privilege::{Grantable, kept};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, array, oids};
use std::sync::Arc;

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
    fn wanted(&self, text: &str, allowed: Privileges) -> Result<Vec<(Privileges, bool)>> {
        let unrecognized = |word: &str| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("unrecognized privilege type: \"{word}\""),
            )
        };
        // A privilege that tables once had, and nobody has.
        let is_rule = |word: &&str| {
            let upper = word.trim().to_ascii_uppercase();
            allowed.contains(Privileges::TRIGGER)
                && matches!(&*upper, "RULE" | "RULE WITH GRANT OPTION")
        };
        text.split(',')
            .filter(|word| !is_rule(word))
            .map(|word| {
                let word = word.trim();
                let upper = word.to_ascii_uppercase();
                let bare = upper.strip_suffix(" WITH GRANT OPTION");
                Privileges::named(bare.unwrap_or(&upper))
                    .filter(|privilege| allowed.contains(*privilege))
                    .map(|privilege| (privilege, bare.is_some()))
                    .ok_or_else(|| unrecognized(word))
            })
            .collect()
    }

    /// Whether `user` has one of the privileges that are asked for on an object of this kind, owner and list.
    fn any(
        &self,
        user: Oid,
        wanted: &[(Privileges, bool)],
        kind: Grantable,
        owner: Oid,
        acl: Option<&Acl>,
        plain: &dyn Fn(Privileges) -> bool,
    ) -> Datum<'a> {
        let snapshot = self.session.snapshot;
        let passes_on = |one: Privileges| {
            if snapshot.owns(user, owner) {
                return true;
            }
            let default;
            let list = match acl {
                Some(acl) => acl,
                None => {
                    default = kind.default_acl(owner);
                    &default
                }
            };
            acl::options_of(list, owner, &|role| snapshot.owns(user, role)).contains(one)
        };
        let has = |(one, option): &(Privileges, bool)| {
            if *option { passes_on(*one) } else { plain(*one) }
        };
        Datum::Bool(wanted.iter().any(has))
    }

    pub(super) fn has_privilege(&self, function: &str) -> Result<Datum<'a>> {
        if function == "has_parameter_privilege"
            && let Some(Datum::Text(text)) = self.arguments.last()
        {
            // As there, the role is looked for behind this.
            self.wanted(text, Privileges::PARAMETER)?;
        }
        let object_arguments = if function == "has_column_privilege" { 2 } else { 1 };
        let (user, rest) = if self.arguments.len() > object_arguments + 1 {
            (self.role_argument(self.arguments[0])?, &self.arguments[1..])
        } else {
            (self.session.user(), self.arguments)
        };
        let object = rest[0];
        let Some(Datum::Text(text)) = rest.last() else { return Ok(Datum::Null) };
        let snapshot = self.session.snapshot;
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
                // What the text says is looked at first, unless the table has to be found by name.
                let allowed = match function {
                    "has_table_privilege" => Privileges::TABLE,
                    "has_sequence_privilege" => Privileges::SEQUENCE,
                    _ => Privileges::COLUMN,
                };
                if matches!(object, Datum::Oid(_)) || function == "has_sequence_privilege" {
                    self.wanted(text, allowed)?;
                }
                let Some(relation) = snapshot.relation(lookup(oids::REGCLASS)?) else {
                    return Ok(Datum::Null);
                };
                self.on_relation(function, user, relation, rest.get(1), text)
            }
            "has_schema_privilege" => {
                let found = lookup(oids::REGNAMESPACE)?;
                let wanted = self.wanted(text, Privileges::SCHEMA)?;
                let Some(schema) = snapshot.schema_by_oid(found) else {
                    return Ok(Datum::Null);
                };
                let plain = |one| snapshot.may_on_schema(user, schema, one);
                let (owner, acl) = (schema.owner, schema.acl.as_ref());
                Ok(self.any(user, &wanted, Grantable::Schema, owner, acl, &plain))
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
                let wanted = self.wanted(text, Privileges::DATABASE)?;
                let Some(database) = database else { return Ok(Datum::Null) };
                let plain = |one| snapshot.may_on_database(user, database, one);
                let (owner, acl) = (database.owner, database.acl.as_ref());
                Ok(self.any(user, &wanted, Grantable::Database, owner, acl, &plain))
            }
            "has_function_privilege" => {
                let found = lookup(oids::REGPROCEDURE)?;
                let wanted = self.wanted(text, Privileges::EXECUTE)?;
                let Some(found) = snapshot.procedure(found) else {
                    return Ok(Datum::Null);
                };
                let acl = snapshot.function_acl(&found);
                let plain = |_| snapshot.may_call(user, &found);
                let owner = snapshot.function_owner(&found);
                Ok(self.any(user, &wanted, Grantable::Function, owner, acl.as_ref(), &plain))
            }
            "has_type_privilege" | "has_language_privilege" => {
                let (kind, oid, sub) = if function == "has_type_privilege" {
                    (Grantable::Type, lookup(oids::REGTYPE)?, kept::TYPE)
                } else {
                    (
                        Grantable::Language,
                        self.named_row("pg_language", "language", object)?,
                        kept::LANGUAGE,
                    )
                };
                let wanted = self.wanted(text, Privileges::USAGE)?;
                let acl = snapshot.acl(oid, sub).map(|acl| &**acl);
                let owner = well_known::SUPERUSER;
                let plain = |one| snapshot.privileges(user, kind, owner, acl).contains(one);
                Ok(self.any(user, &wanted, kind, owner, acl, &plain))
            }
            "has_parameter_privilege" => {
                let wanted = self.wanted(text, Privileges::PARAMETER)?;
                let Datum::Text(name) = object else { return Ok(Datum::Null) };
                let shared = snapshot.shared();
                let plain = |one| shared.may_on_parameter(user, name, one);
                let acl = shared.parameter(&name.to_ascii_lowercase()).map(|found| &found.acl);
                let owner = well_known::SUPERUSER;
                Ok(self.any(user, &wanted, Grantable::Parameter, owner, acl, &plain))
            }
            _ => {
                let superuser =
                    snapshot.shared().role_by_oid(user).is_some_and(|role| role.superuser);
                let allowed = match function {
                    "has_tablespace_privilege" => Privileges::CREATE,
                    _ => Privileges::USAGE,
                };
                match (function, object) {
                    ("has_tablespace_privilege", _) => {
                        self.named_row("pg_tablespace", "tablespace", object)?;
                    }
                    ("has_foreign_data_wrapper_privilege", Datum::Text(name)) => {
                        return Err(missing("foreign-data wrapper", name));
                    }
                    ("has_server_privilege", Datum::Text(name)) => {
                        return Err(missing("server", name));
                    }
                    ("has_foreign_data_wrapper_privilege" | "has_server_privilege", _) => {
                        self.wanted(text, allowed)?;
                        return Ok(Datum::Null);
                    }
                    _ => {}
                }
                let wanted = self.wanted(text, allowed)?;
                Ok(Datum::Bool(superuser && !wanted.is_empty()))
            }
        }
    }

    fn on_relation(
        &self,
        function: &str,
        user: Oid,
        relation: &Arc<Relation>,
        column: Option<&Datum<'_>>,
        text: &str,
    ) -> Result<Datum<'a>> {
        let snapshot = self.session.snapshot;
        let (kind, owner, acl) = (relation.grantable(), relation.owner, relation.acl.as_ref());
        match function {
            "has_sequence_privilege" => {
                if kind != Grantable::Sequence {
                    return Err(SqlError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("\"{}\" is not a sequence", relation.name),
                    ));
                }
                let wanted = self.wanted(text, Privileges::SEQUENCE)?;
                let plain = |one| snapshot.may_on_relation(user, relation, one);
                Ok(self.any(user, &wanted, kind, owner, acl, &plain))
            }
            "has_table_privilege" => {
                let wanted = self.wanted(text, Privileges::TABLE)?;
                let plain = |one| snapshot.may_on_relation(user, relation, one);
                Ok(self.any(user, &wanted, kind, owner, acl, &plain))
            }
            "has_any_column_privilege" => {
                let wanted = self.wanted(text, Privileges::COLUMN)?;
                let plain = |one| snapshot.may_on_any_column(user, relation, one);
                Ok(self.any(user, &wanted, kind, owner, acl, &plain))
            }
            _ => {
                let number = match column {
                    Some(Datum::Int2(number)) => {
                        let live = usize::try_from(*number - 1)
                            .ok()
                            .and_then(|at| relation.columns.get(at))
                            .is_some_and(|column| !column.dropped);
                        if !live {
                            return Ok(Datum::Null);
                        }
                        *number
                    }
                    Some(Datum::Text(name)) => match relation.column(name) {
                        Some(at) => at as i16 + 1,
                        None => {
                            return Err(SqlError::new(
                                SqlState::UNDEFINED_COLUMN,
                                format!(
                                    "column \"{name}\" of relation \"{}\" does not exist",
                                    relation.name
                                ),
                            ));
                        }
                    },
                    _ => return Ok(Datum::Null),
                };
                let wanted = self.wanted(text, Privileges::COLUMN)?;
                let plain = |one| snapshot.may_on_column(user, relation, number, one);
                let own = snapshot.acl(relation.oid, number as u32).map(|acl| &**acl);
                let either = |acl| self.any(user, &wanted, kind, owner, acl, &plain);
                match (either(acl), own) {
                    (Datum::Bool(false), Some(own)) => Ok(either(Some(own))),
                    (found, _) => Ok(found),
                }
            }
        }
    }

    /// The OID of a built-in row that an argument names.
    fn named_row(&self, relation: &str, noun: &str, object: Datum<'_>) -> Result<Oid> {
        let name = match object {
            Datum::Oid(oid) => return Ok(Oid(oid)),
            Datum::Text(name) => name,
            _ => return Ok(Oid(0)),
        };
        let mut rows = builtin::relation(relation).into_iter().flat_map(|all| all.rows());
        let row = rows.find(|row| row.get(1).as_deref() == Some(name));
        row.and_then(|row| row.get(0)?.parse().ok()).map(Oid).ok_or_else(|| missing(noun, name))
    }

    /// `acldefault` and what is made of access control lists.
    pub(super) fn acl_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let name = |oid: Oid| match self.session.snapshot.shared().role_by_oid(oid) {
            Some(role) => role.name.to_string(),
            None => oid.to_string(),
        };
        let list = |texts: &[String]| {
            let datums: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
            array::from_datums(self.context.arena, oids::ACLITEM, &datums)
        };
        Some(match function {
            "acldefault" => {
                let Some(Datum::Char(letter)) = self.arguments.first() else {
                    return Some(Ok(Datum::Null));
                };
                let items = match default_items(*letter, self.oid(1)) {
                    Ok(items) => items,
                    Err(error) => return Some(Err(error)),
                };
                let texts: Vec<String> =
                    items.iter().map(|item| acl::item_text(item, &name)).collect();
                Ok(list(&texts))
            }
            "makeaclitem" => {
                let Some(privileges) = Privileges::named(self.str(2)) else {
                    return Some(Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("unrecognized privilege type: \"{}\"", self.str(2)),
                    )));
                };
                let grant_options = if self.flag(3) { privileges } else { Privileges::default() };
                let (grantee, grantor) = (self.oid(0), self.oid(1));
                let item = AclItem { grantee, grantor, privileges, grant_options };
                Ok(self.text(&acl::item_text(&item, &name)))
            }
            "aclitemeq" => Ok(Datum::Bool(self.str(0) == self.str(1))),
            "aclcontains" => {
                let wanted = acl::parse_item(self.str(1));
                let Some(Datum::Array(_)) = self.arguments.first() else {
                    return Some(Ok(Datum::Null));
                };
                let has = self.arguments[0].array().datums(self.context.arena).any(|item| {
                    let Ok(Datum::Text(item)) = item else { return false };
                    match (acl::parse_item(item), &wanted) {
                        (Some(held), Some(wanted)) => {
                            held.0 == wanted.0
                                && held.3 == wanted.3
                                && held.1.contains(wanted.1)
                                && held.2.contains(wanted.2)
                        }
                        _ => false,
                    }
                });
                Ok(Datum::Bool(has))
            }
            _ => return None,
        })
    }

    pub(super) fn has_role(&self) -> Result<Datum<'a>> {
        let (user, role) = match self.arguments {
            [role, _] => (self.session.user(), self.role_argument(*role)?),
            [user, role, _] => (self.role_argument(*user)?, self.role_argument(*role)?),
            _ => return Ok(Datum::Null),
        };
        let Some(Datum::Text(text)) = self.arguments.last() else { return Ok(Datum::Null) };
        let shared = self.session.snapshot.shared();
        let mut has = false;
        for word in text.split(',') {
            has |= match word.trim().to_ascii_uppercase().as_str() {
                "USAGE" => self.session.snapshot.owns(user, role),
                "MEMBER" => shared.is_member(user, role) || self.session.snapshot.owns(user, role),
                "USAGE WITH GRANT OPTION"
                | "USAGE WITH ADMIN OPTION"
                | "MEMBER WITH GRANT OPTION"
                | "MEMBER WITH ADMIN OPTION" => {
                    let own = shared.groups_of(user, false);
                    shared.is_superuser(user) || shared.administers(&own, role)
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

/// 42704.
fn missing(noun: &str, name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{noun} \"{name}\" does not exist"))
}

/// The list that an object of a kind has without one, by the letter that `acldefault` takes.
fn default_items(letter: u8, owner: Oid) -> Result<Acl> {
    let kind = match letter {
        b'r' => Grantable::Table,
        b's' => Grantable::Sequence,
        b'c' => Grantable::Column,
        b'd' => Grantable::Database,
        b'f' => Grantable::Function,
        b'l' => Grantable::Language,
        b'n' => Grantable::Schema,
        b'T' => Grantable::Type,
        b'p' => Grantable::Parameter,
        b'L' | b't' | b'F' | b'S' => {
            let privileges = match letter {
                b'L' => Privileges::SELECT.union(Privileges::UPDATE),
                b't' => Privileges::CREATE,
                _ => Privileges::USAGE,
            };
            let grant_options = Privileges::default();
            return Ok(vec![AclItem { grantee: owner, grantor: owner, privileges, grant_options }]);
        }
        other => {
            return Err(SqlError::new(
                SqlState::INTERNAL_ERROR,
                format!("unrecognized objtype abbreviation: {}", other as char),
            ));
        }
    };
    Ok(kind.default_acl(owner))
}
