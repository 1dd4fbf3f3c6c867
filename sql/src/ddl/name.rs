//! Names that are made where a statement gives none: `t_pkey`, `t_a_b_key`, `t_a_fkey`, `t_a_check`, `t_a_idx`, `t_a_seq`.
//!
//! PostgreSQL's rules: the table's name, the columns' names, a label; cut to 63 bytes by shortening the longer of the two
//! names first; a number behind it where the name is taken.

use crate::catalog::user_type::Domain;
use crate::catalog::{CatalogSnapshot, Relation};
use crate::types::Oid;
use std::sync::Arc;

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 63;

/// Cuts a text to `bytes`, not inside a character.
fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// `makeObjectName`: two names and a label, within the limit.
#[must_use]
pub fn object_name(first: &str, second: Option<&str>, label: &str) -> String {
    let overhead = label.len() + 1 + second.map_or(0, |_| 1);
    let available = NAME_BYTES_MAX.saturating_sub(overhead);
    let (mut one, mut two) = (first.len(), second.map_or(0, str::len));
    while one + two > available {
        if one > two { one -= 1 } else { two -= 1 }
    }
    let mut name = clip(first, one).to_owned();
    if let Some(second) = second {
        name.push('_');
        name.push_str(clip(second, two));
    }
    name.push('_');
    name.push_str(label);
    name
}

/// The columns' part of a name: their names, joined, as far as they fit.
#[must_use]
pub fn columns_part<'a>(columns: impl IntoIterator<Item = &'a str>) -> String {
    let mut name = String::new();
    for column in columns {
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(column);
        if name.len() >= NAME_BYTES_MAX {
            break;
        }
    }
    clip(&name, NAME_BYTES_MAX).to_owned()
}

/// A relation's or index's name that is free in the schema, and not among those taken by this statement.
#[must_use]
pub fn relation_name(
    snapshot: &CatalogSnapshot,
    schema: Oid,
    taken: &[Arc<str>],
    first: &str,
    second: Option<&str>,
    label: &str,
) -> Arc<str> {
    choose(first, second, label, |name| {
        snapshot.named(schema, name).is_none() && !taken.iter().any(|taken| **taken == *name)
    })
}

/// A constraint's name that no other constraint of the table has.
#[must_use]
pub fn constraint_name(table: &Relation, second: Option<&str>, label: &str) -> Arc<str> {
    choose(&table.name, second, label, |name| !has_constraint(table, name))
}

/// A domain constraint's name that no constraint in its schema has.
#[must_use]
pub fn domain_check_name(
    snapshot: &CatalogSnapshot,
    schema: Oid,
    domain: &Domain,
    name: &str,
) -> Arc<str> {
    let has = |domain: &Domain, name: &str| domain.checks.iter().any(|check| *check.name == *name);
    choose(name, None, "check", |name| {
        let mut tables = snapshot.constrained(name).filter(|table| table.schema.0 == schema);
        let types = snapshot.types_in(schema).into_iter();
        !has(domain, name)
            && !types.filter_map(|ty| ty.domain()).any(|known| has(known, name))
            && !tables.any(|table| has_constraint(table, name))
    })
}

/// Whether a table has a constraint of that name, a key's too.
#[must_use]
pub fn has_constraint(table: &Relation, name: &str) -> bool {
    table.constraints.iter().any(|constraint| &*constraint.name == name)
        || table
            .indexes
            .iter()
            .any(|index| index.constraint.as_ref().is_some_and(|constraint| &*constraint.1 == name))
}

fn choose(first: &str, second: Option<&str>, label: &str, free: impl Fn(&str) -> bool) -> Arc<str> {
    let plain = object_name(first, second, label);
    if free(&plain) {
        return plain.into();
    }
    (1_u32..)
        .map(|number| object_name(first, second, &format!("{label}{number}")))
        .find(|name| free(name))
        .expect("some number is free")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both were asked of PostgreSQL 15.20.
    #[test]
    fn long_names_are_shortened_where_they_are_longer() {
        assert_eq!(object_name("t", Some("a"), "fkey"), "t_a_fkey");
        let table = "t".repeat(60);
        let made = object_name(&table, Some("a_column_name"), "idx");
        assert_eq!(made, format!("{}_a_column_name_idx", "t".repeat(45)));
        assert_eq!(made.len(), NAME_BYTES_MAX);
    }
}
