//! The indexes of the catalog's relations: `pg_index` in PostgreSQL's own data. Nothing is found by them here; they are
//! listed with their tables.

use super::relation;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

struct Indexes {
    by_table: HashMap<u32, Vec<u32>>,
    all: BTreeSet<u32>,
    names: HashMap<u32, String>,
    /// All relations of the catalog that have files in PostgreSQL: tables, TOAST tables, indexes.
    stored: BTreeSet<u32>,
}

static INDEXES: LazyLock<Indexes> = LazyLock::new(|| {
    let mut indexes = Indexes {
        by_table: HashMap::new(),
        all: BTreeSet::new(),
        names: HashMap::new(),
        stored: BTreeSet::new(),
    };
    let table = relation("pg_index").expect("every system table has its generated file");
    for row in table.rows() {
        let number = |at: usize| row.get(at).and_then(|field| field.parse().ok());
        if let (Some(index), Some(table)) = (number(0), number(1)) {
            indexes.by_table.entry(table).or_default().push(index);
            indexes.all.insert(index);
        }
    }
    let classes = relation("pg_class").expect("every system table has its generated file");
    for row in classes.rows() {
        let oid: Option<u32> = row.get(0).and_then(|field| field.parse().ok());
        let kind = row.get(16);
        if let Some(oid) =
            oid.filter(|_| kind.is_some_and(|kind| matches!(&*kind, "r" | "i" | "t")))
        {
            indexes.stored.insert(oid);
        }
        if let (Some(oid), Some(name)) = (oid, row.get(1))
            && indexes.all.contains(&oid)
        {
            indexes.names.insert(oid, name.into_owned());
        }
    }
    indexes
});

/// The name of an index of the catalog.
#[must_use]
pub fn index_name(oid: u32) -> Option<&'static str> {
    INDEXES.names.get(&oid).map(String::as_str)
}

/// The index of the catalog with this name. Its schema is `pg_catalog`, but for TOAST tables' indexes.
#[must_use]
pub fn index_named(name: &str) -> Option<u32> {
    let mut found = INDEXES.names.iter().filter(|(_, known)| *known == name);
    found.next().map(|(oid, _)| *oid).filter(|_| !name.starts_with("pg_toast"))
}

/// The indexes of a relation of the catalog.
#[must_use]
pub fn indexes_of(table: u32) -> &'static [u32] {
    INDEXES.by_table.get(&table).map_or(&[], Vec::as_slice)
}

/// Whether it is a relation of the catalog that has a file of its own in PostgreSQL.
#[must_use]
pub fn is_stored(oid: u32) -> bool {
    INDEXES.stored.contains(&oid)
}
