//! The built-in rows of system relations, as the generated files have them, with hash indexes on their OIDs and texts; and
//! what plans over system relations go by: about how many rows there are, and which keys spare making the others.

use crate::builtin::{self, Row};
use crate::object::well_known;
use crate::relation::{Column, Relation};
use crate::system::{named, relation};
use sql_types::{Datum, Oid};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// A generated file.
pub struct BuiltInRows {
    /// Its rows, in the file's order.
    pub rows: Vec<Row>,
    /// For each column of OIDs or texts: where its values stand, made when a key on it is first asked for.
    places: Vec<Option<OnceLock<Places>>>,
}

/// The rows that have each value of a column, in the file's order.
type Places = HashMap<Cow<'static, str>, Vec<u32>>;

impl BuiltInRows {
    /// The rows that have `key` in a column; nothing where that cannot be told.
    #[must_use]
    pub fn find(&self, column: usize, key: &Datum<'_>) -> Option<&[u32]> {
        let places = self.places.get(column)?.as_ref()?;
        let number;
        let key = match key {
            Datum::Text(text) => *text,
            Datum::Oid(oid) => {
                number = oid.to_string();
                &number
            }
            _ => return None,
        };
        let places = places.get_or_init(|| {
            let mut places = Places::new();
            for (at, row) in self.rows.iter().enumerate() {
                if let Some(field) = row.get(column) {
                    places.entry(field).or_default().push(at as u32);
                }
            }
            places
        });
        Some(places.get(key).map_or(&[], |found| &found[..]))
    }
}

static FILES: LazyLock<HashMap<&'static str, BuiltInRows>> = LazyLock::new(|| {
    let made = |file: &builtin::Relation| {
        let columns = &named(well_known::PG_CATALOG, file.name).and_then(relation)?.columns;
        let keyed = |ty: Oid| matches!(ty.0, 19 | 24 | 25 | 26);
        // The schemas and owners of extensions' members are not in the file.
        let moves = |column: &Column| {
            is_of_extensions(file.name)
                && (column.name.ends_with("namespace") || column.name.ends_with("owner"))
        };
        let places = columns
            .iter()
            .map(|column| (keyed(column.ty.oid) && !moves(column)).then(OnceLock::new))
            .collect();
        Some((file.name, BuiltInRows { rows: file.all_rows().collect(), places }))
    };
    builtin::relations().iter().filter_map(made).collect()
});

/// The built-in rows of the system relation with this name; none if it has no file.
#[must_use]
pub fn of(name: &str) -> Option<&'static BuiltInRows> {
    FILES.get(name)
}

/// Whether extensions bring rows of a system relation.
#[must_use]
pub fn is_of_extensions(name: &str) -> bool {
    let table = name.strip_prefix("pg_");
    table.is_some_and(|table| builtin::relation(&format!("extension_{table}")).is_some())
}

/// What users' objects add to a relation at least, as far as plans are concerned.
const USERS_ROWS: f64 = 200.0;

/// About how many rows a system relation has where users have made so many relations.
#[must_use]
pub fn expected_rows(relation: &Relation, users: f64) -> f64 {
    // Of a table with a key, a sequence and a few columns.
    let of_each = match &*relation.name {
        "pg_attribute" => 10.0,
        "pg_depend" => 8.0,
        "pg_class" | "pg_type" => 2.0,
        "pg_attrdef" | "pg_constraint" | "pg_index" | "pg_sequence" | "pg_trigger" => 1.0,
        _ => 0.0,
    };
    let own = of(&relation.name).map_or(0.0, |file| file.rows.len() as f64);
    own + (of_each * users).max(USERS_ROWS)
}

/// About how many different values a column of a system relation has where users have made so many relations, if that is
/// known: a row has its own OID, and what belongs to relations is spread over them.
#[must_use]
pub fn expected_values(relation: &Relation, column: usize, users: f64) -> Option<f64> {
    let rows = expected_rows(relation, users);
    match &*relation.columns.get(column)?.name {
        "oid" | "indexrelid" | "seqrelid" => Some(rows),
        "attrelid" | "adrelid" | "indrelid" | "conrelid" | "tgrelid" | "objid" => {
            Some(users.max(USERS_ROWS).min(rows))
        }
        "relname" | "typname" | "conname" => Some(rows),
        _ => None,
    }
}

/// Whether a key on a column spares making the rows that do not have it.
#[must_use]
pub fn is_keyed(relation: &Relation, column: usize) -> bool {
    // Columns that users' rows are found by; where there are none, each that built-in rows are.
    let users = match &*relation.name {
        "pg_class" => &[0, 1, 3][..],
        "pg_type" => &[0, 1, 11, 13, 14],
        "pg_attribute" | "pg_sequence" | "pg_description" => &[0],
        "pg_attrdef" | "pg_enum" => &[1],
        "pg_index" => &[0, 1],
        "pg_constraint" => &[0, 7, 11],
        "pg_trigger" => &[0, 1],
        "pg_rewrite" => &[2],
        "pg_depend" => &[1, 4],
        "pg_namespace" => &[],
        name => {
            let places = of(name).and_then(|file| file.places.get(column));
            return places.is_some_and(Option::is_some);
        }
    };
    users.contains(&column)
}
