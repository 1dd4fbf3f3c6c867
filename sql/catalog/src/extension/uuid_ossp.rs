//! `uuid-ossp` (PostgreSQL 15 manual, appendix F.49). What its functions do is said in `sql_types::uuid_ossp`.

use super::Available;
use sql_types::builtin;

pub(super) const DESCRIPTION: Available = Available {
    name: "uuid-ossp",
    version: "1.1",
    comment: "generate universally unique identifiers (UUIDs)",
    trusted: true,
    relocatable: true,
    schema: None,
    requires: &[],
    members: builtin::extensions::UUID_OSSP,
    language: None,
    views: &[],
};
