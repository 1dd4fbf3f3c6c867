//! `citext` (PostgreSQL 15 manual, appendix F.9): texts that are compared without regard to case. What its functions do is
//! said in `sql_types::citext`.

use super::Available;
use sql_types::builtin;

pub(super) const DESCRIPTION: Available = Available {
    name: "citext",
    version: "1.6",
    comment: "data type for case-insensitive character strings",
    trusted: true,
    relocatable: true,
    schema: None,
    requires: &[],
    members: builtin::extensions::CITEXT,
    language: None,
    views: &[],
};
