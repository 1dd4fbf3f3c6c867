//! `plpgsql`: every database begins with it. Its language is known by name; there are no functions in it.

use super::Available;
use sql_types::Oid;
use sql_types::builtin;

/// Its OID in a database that began with it.
pub const OID: Oid = Oid(13559);

pub(super) const DESCRIPTION: Available = Available {
    name: "plpgsql",
    version: "1.0",
    comment: "PL/pgSQL procedural language",
    trusted: true,
    relocatable: false,
    schema: Some("pg_catalog"),
    requires: &[],
    members: builtin::extensions::PLPGSQL,
    language: Some(13563),
    views: &[],
};
