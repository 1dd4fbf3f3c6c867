//! `pg_collation`: the collations that there are, all of which compare by bytes.

use super::copy_text::walk;
use std::sync::LazyLock;

/// OIDs and names.
static COLLATIONS: LazyLock<Box<[(u32, &'static str)]>> =
    LazyLock::new(|| walk("pg_collation").map(|mut row| (row.number(), row.text())).collect());

/// The name of the collation with this OID.
#[must_use]
pub fn collation(oid: u32) -> Option<&'static str> {
    COLLATIONS.iter().find(|known| known.0 == oid).map(|known| known.1)
}

/// The OID of the collation of this name.
#[must_use]
pub fn collation_named(name: &str) -> Option<u32> {
    COLLATIONS.iter().find(|known| known.1 == name).map(|known| known.0)
}
