//! `pg_stat_statements` (PostgreSQL 15 manual, appendix F.32): what statements have cost, by shape.
//!
//! Its functions are numbered as `builtin/generate.py` says.

use super::{Available, MemberView};
use sql_types::builtin;

/// `pg_stat_statements_reset(userid, dbid, queryid)`.
pub const RESET: u32 = 14_000;
/// `pg_stat_statements_info()`.
pub const INFO: u32 = 14_001;
/// `pg_stat_statements(showtext)`.
pub const STATEMENTS: u32 = 14_002;

pub(super) const DESCRIPTION: Available = Available {
    name: "pg_stat_statements",
    version: "1.10",
    comment: "track planning and execution statistics of all SQL statements executed",
    trusted: false,
    relocatable: true,
    schema: None,
    requires: &[],
    members: builtin::extensions::PG_STAT_STATEMENTS,
    language: None,
    views: &[
        MemberView {
            name: "pg_stat_statements_info",
            of: ("pg_stat_statements_info", ""),
            public: true,
        },
        MemberView { name: "pg_stat_statements", of: ("pg_stat_statements", "true"), public: true },
    ],
};
