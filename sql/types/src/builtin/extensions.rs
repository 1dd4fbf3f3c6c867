//! Which built-in objects are members of an extension: they have the same OIDs in every database, and are in one only as long
//! as the extension is.

use super::made::is_made;
use std::ops::Range;

/// Those of `pg_stat_statements`, numbered as `generate.py` says.
pub const PG_STAT_STATEMENTS: Range<u32> = 14_000..14_003;
/// Those of `citext`.
pub const CITEXT: Range<u32> = 14_100..14_204;
/// Those of `uuid-ossp`.
pub const UUID_OSSP: Range<u32> = 14_250..14_260;
/// Those of `pgcrypto`.
pub const PGCRYPTO: Range<u32> = 14_300..14_336;
/// Those of `hstore`.
pub const HSTORE: Range<u32> = 14_350..14_474;
/// Those of `pg_trgm`.
pub const PG_TRGM: Range<u32> = 14_480..14_560;
/// Those of `fuzzystrmatch`.
pub const FUZZYSTRMATCH: Range<u32> = 14_570..14_580;
/// Those of `unaccent`.
pub const UNACCENT: Range<u32> = 14_590..14_596;
/// Those of `intarray`.
pub const INTARRAY: Range<u32> = 14_640..14_751;
/// Those of `ltree`.
pub const LTREE: Range<u32> = 14_760..14_944;
/// Those of `cube`.
pub const CUBE: Range<u32> = 14_960..15_040;
/// Those of `earthdistance`.
pub const EARTHDISTANCE: Range<u32> = 15_050..15_062;
/// That of `moddatetime`.
pub const MODDATETIME: Range<u32> = 15_070..15_071;
/// That of `insert_username`.
pub const INSERT_USERNAME: Range<u32> = 15_072..15_073;
/// That of `autoinc`.
pub const AUTOINC: Range<u32> = 15_074..15_075;
/// That of `tcn`.
pub const TCN: Range<u32> = 15_076..15_077;
/// Those of `refint`.
pub const REFINT: Range<u32> = 15_078..15_080;
/// Those of `tablefunc`.
pub const TABLEFUNC: Range<u32> = 14_600..14_617;
/// Those of `plpgsql`.
pub const PLPGSQL: Range<u32> = 13_560..13_563;

/// The extension that a function, type, operator, cast, operator class or family, or a row of one of these, is a member of.
#[must_use]
pub fn extension_of(member: u32) -> Option<&'static str> {
    if !(PLPGSQL.start..16_384).contains(&member) {
        return None;
    }
    [
        ("pg_stat_statements", PG_STAT_STATEMENTS),
        ("autoinc", AUTOINC),
        ("citext", CITEXT),
        ("cube", CUBE),
        ("earthdistance", EARTHDISTANCE),
        ("fuzzystrmatch", FUZZYSTRMATCH),
        ("hstore", HSTORE),
        ("insert_username", INSERT_USERNAME),
        ("intarray", INTARRAY),
        ("ltree", LTREE),
        ("moddatetime", MODDATETIME),
        ("pg_trgm", PG_TRGM),
        ("refint", REFINT),
        ("tablefunc", TABLEFUNC),
        ("tcn", TCN),
        ("unaccent", UNACCENT),
        ("plpgsql", PLPGSQL),
        ("pgcrypto", PGCRYPTO),
        ("uuid-ossp", UUID_OSSP),
    ]
    .into_iter()
    .find_map(|(name, members)| members.contains(&member).then_some(name))
}

/// Whether a type is in every database for good: no user made it, and no extension brings it.
#[must_use]
pub fn is_lasting(ty: u32) -> bool {
    !is_made(ty) && extension_of(ty).is_none()
}
