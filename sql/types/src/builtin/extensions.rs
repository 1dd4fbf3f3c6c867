//! Which functions are members of an extension: they have the same OIDs in every database, and are in one only as long as the
//! extension is.

use std::ops::Range;

/// Those of `pg_stat_statements`, numbered as `generate.py` says.
pub const PG_STAT_STATEMENTS: Range<u32> = 14_000..14_003;
/// Those of `plpgsql`.
pub const PLPGSQL: Range<u32> = 13_560..13_563;

/// The extension that a function is a member of.
#[must_use]
pub fn extension_of(function: u32) -> Option<&'static str> {
    [("pg_stat_statements", PG_STAT_STATEMENTS), ("plpgsql", PLPGSQL)]
        .into_iter()
        .find_map(|(name, members)| members.contains(&function).then_some(name))
}
