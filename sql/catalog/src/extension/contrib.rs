//! Those of PostgreSQL's `contrib` that are types and functions alone (PostgreSQL 15 manual, appendix F), as their control files
//! describe them. What their functions do is said in `sql_types::contrib`.

use super::Available;
use sql_types::builtin::extensions;
use std::ops::Range;

/// An extension that anybody may create who may create in the database, in any schema.
const fn trusted(
    name: &'static str,
    version: &'static str,
    comment: &'static str,
    members: Range<u32>,
) -> Available {
    Available {
        name,
        version,
        comment,
        trusted: true,
        relocatable: true,
        schema: None,
        requires: &[],
        members,
        language: None,
        views: &[],
    }
}

pub(super) const HSTORE: Available = trusted(
    "hstore",
    "1.8",
    "data type for storing sets of (key, value) pairs",
    extensions::HSTORE,
);

pub(super) const PG_TRGM: Available = trusted(
    "pg_trgm",
    "1.6",
    "text similarity measurement and index searching based on trigrams",
    extensions::PG_TRGM,
);

pub(super) const FUZZYSTRMATCH: Available = trusted(
    "fuzzystrmatch",
    "1.1",
    "determine similarities and distance between strings",
    extensions::FUZZYSTRMATCH,
);

pub(super) const INTARRAY: Available = trusted(
    "intarray",
    "1.5",
    "functions, operators, and index support for 1-D arrays of integers",
    extensions::INTARRAY,
);

pub(super) const LTREE: Available =
    trusted("ltree", "1.2", "data type for hierarchical tree-like structures", extensions::LTREE);

pub(super) const UNACCENT: Available =
    trusted("unaccent", "1.1", "text search dictionary that removes accents", extensions::UNACCENT);

pub(super) const CUBE: Available =
    trusted("cube", "1.5", "data type for multidimensional cubes", extensions::CUBE);

pub(super) const EARTHDISTANCE: Available = Available {
    trusted: false,
    requires: &["cube"],
    ..trusted(
        "earthdistance",
        "1.1",
        "calculate great-circle distances on the surface of the Earth",
        extensions::EARTHDISTANCE,
    )
};

pub(super) const TABLEFUNC: Available = trusted(
    "tablefunc",
    "1.0",
    "functions that manipulate whole tables, including crosstab",
    extensions::TABLEFUNC,
);

/// An extension that superusers may create.
const fn untrusted(name: &'static str, comment: &'static str, members: Range<u32>) -> Available {
    Available { trusted: false, ..trusted(name, "1.0", comment, members) }
}

pub(super) const MODDATETIME: Available = untrusted(
    "moddatetime",
    "functions for tracking last modification time",
    extensions::MODDATETIME,
);

pub(super) const INSERT_USERNAME: Available = untrusted(
    "insert_username",
    "functions for tracking who changed a table",
    extensions::INSERT_USERNAME,
);

pub(super) const AUTOINC: Available =
    untrusted("autoinc", "functions for autoincrementing fields", extensions::AUTOINC);

pub(super) const REFINT: Available = untrusted(
    "refint",
    "functions for implementing referential integrity (obsolete)",
    extensions::REFINT,
);

pub(super) const TCN: Available =
    trusted("tcn", "1.0", "Triggered change notifications", extensions::TCN);
