//! `search_path`: which schemas an unqualified name is looked up in (PostgreSQL 15 manual, section 5.9.3).
//!
//! The setting is a list of schema names; `"$user"` is the schema called like the current user, and names of schemas that
//! do not exist, or that the user may not use, are passed over. `pg_catalog` comes first unless the list says where, and
//! before it the session's temporary objects, unless the list says where `pg_temp` is.

use crate::acl::Privileges;
use crate::object::{Schema, well_known};
use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::sync::Arc;

/// A search path that has been resolved for one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// The schemas that are searched, in order, implicit ones included.
    pub schemas: Vec<Oid>,
    /// Where CREATE puts what has no schema; none if no schema of the list exists.
    pub creation: Option<Oid>,
    /// The list begins with `pg_temp`, and there is no such schema yet: CREATE makes it.
    pub creation_temporary: bool,
    /// How many were put in front without being in the list: temporary objects, `pg_catalog`.
    pub implicit: usize,
}

impl CatalogSnapshot {
    /// 0A000 for a name of three parts whose first is another database's.
    ///
    /// # Errors
    /// 0A000.
    pub fn demand_own_database(&self, parts: &[Arc<str>]) -> Result<()> {
        let [database, _, _] = parts else { return Ok(()) };
        if **database == *self.database_name() {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("cross-database references are not implemented: \"{}\"", parts.join(".")),
        ))
    }

    /// The same of a function's or a type's name, and 42601 for more parts (`DeconstructQualifiedName`).
    ///
    /// # Errors
    /// 0A000, 42601.
    pub fn demand_qualified(&self, parts: &[Arc<str>]) -> Result<()> {
        match parts {
            [] | [_] | [_, _] => Ok(()),
            [database, _, _] if **database == *self.database_name() => Ok(()),
            [_, _, _] => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("cross-database references are not implemented: {}", parts.join(".")),
            )),
            _ => Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("improper qualified name (too many dotted names): {}", parts.join(".")),
            )),
        }
    }

    /// 42501 for who names a schema and may not use it. Everybody may use the system's.
    ///
    /// # Errors
    /// 42501.
    pub fn demand_usage(&self, user: Oid, schema: &Schema) -> Result<()> {
        if schema.oid == well_known::PG_CATALOG
            || self.may_on_schema(user, schema, Privileges::USAGE)
        {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied for schema {}", schema.name),
        ))
    }
}

/// Takes a dotted name apart: `"S".t`. None if it is none.
#[must_use]
pub fn split_name(text: &str) -> Option<Vec<String>> {
    split_identifiers_at(text, '.').filter(|names| !names.is_empty())
}

/// The schema that the text of a `regclass` or its like names, if it names one.
#[must_use]
pub fn schema_in_name(text: &str) -> Option<String> {
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    let mut names = split_name(name.trim_end_matches("[]"))?;
    (names.len() > 1).then(|| names.swap_remove(names.len() - 2))
}

/// Takes a list of identifiers apart: `"$user", public`. Unquoted ones are folded to lower case.
///
/// None if the text is not a list of identifiers.
#[must_use]
pub fn split_identifiers(text: &str) -> Option<Vec<String>> {
    split_identifiers_at(text, ',')
}

/// The same of identifiers between other characters: a name's parts between dots.
#[must_use]
pub fn split_identifiers_at(text: &str, separator: char) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if rest.is_empty() {
        return Some(names);
    }
    loop {
        let (name, behind) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut characters = quoted.char_indices();
            let end = loop {
                match characters.next()? {
                    (at, '"') if quoted[at + 1..].starts_with('"') => {
                        characters.next();
                        name.push('"');
                    }
                    (at, '"') => break at + 1,
                    (_, character) => name.push(character),
                }
            };
            (name, &quoted[end..])
        } else {
            let end = rest
                .find(|c: char| c == separator || c.is_ascii_whitespace())
                .unwrap_or(rest.len());
            (rest[..end].to_lowercase(), &rest[end..])
        };
        if name.is_empty() && !rest.starts_with('"') {
            return None;
        }
        names.push(name);
        rest = behind.trim_start_matches(|c: char| c.is_ascii_whitespace());
        if rest.is_empty() {
            return Some(names);
        }
        rest = rest.strip_prefix(separator)?.trim_start_matches(|c: char| c.is_ascii_whitespace());
        if rest.is_empty() {
            return None;
        }
    }
}

impl SearchPath {
    /// Resolves `setting` for `user` in what `snapshot` shows.
    #[must_use]
    pub fn resolve(snapshot: &CatalogSnapshot, setting: &str, user: Oid) -> SearchPath {
        let mut schemas = Vec::new();
        let (mut creation, mut creation_temporary) = (None, false);
        let temporary = snapshot.temporary_schema().map(|schema| schema.oid);
        for name in split_identifiers(setting).unwrap_or_default() {
            let schema = if name == "$user" {
                let user = snapshot.shared().role_by_oid(user);
                user.and_then(|role| snapshot.schema(&role.name))
            } else {
                snapshot.schema(&name)
            };
            let Some(schema) = schema else {
                creation_temporary |= name == "pg_temp" && creation.is_none();
                continue;
            };
            let usable = snapshot.may_on_schema(user, schema, Privileges::USAGE)
                && !schemas.contains(&schema.oid);
            if usable {
                schemas.push(schema.oid);
                if !creation_temporary {
                    creation.get_or_insert(schema.oid);
                }
            }
        }
        let mut implicit = 0;
        for schema in [Some(well_known::PG_CATALOG), temporary].into_iter().flatten() {
            if !schemas.contains(&schema) {
                schemas.insert(0, schema);
                implicit += 1;
            }
        }
        SearchPath { schemas, creation, creation_temporary, implicit }
    }

    /// `current_schemas(implicit)`.
    #[must_use]
    pub fn listed(&self, implicit: bool) -> &[Oid] {
        &self.schemas[if implicit { 0 } else { self.implicit }..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart_as_postgresql_does() {
        let names = |text| split_identifiers(text);
        assert_eq!(names("\"$user\", public"), Some(vec!["$user".into(), "public".into()]));
        assert_eq!(names(" A ,\"B\"\"c\" "), Some(vec!["a".into(), "B\"c".into()]));
        assert_eq!(names(""), Some(vec![]));
        assert_eq!(names("\"\""), Some(vec![String::new()]));
        assert_eq!(names("a,"), None);
        assert_eq!(names("a b"), None);
        assert_eq!(names("\"a"), None);
    }
}
