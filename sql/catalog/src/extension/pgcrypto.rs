//! `pgcrypto` (PostgreSQL 15 manual, appendix F.28). What its functions do is said in `sql_types::crypto`.

use super::Available;
use sql_types::builtin;

pub(super) const DESCRIPTION: Available = Available {
    name: "pgcrypto",
    version: "1.3",
    comment: "cryptographic functions",
    trusted: true,
    relocatable: true,
    schema: None,
    requires: &[],
    members: builtin::extensions::PGCRYPTO,
    language: None,
    views: &[],
};
