//! What the OID of a type that users made says of it.
//!
//! How a value is held has to be known wherever it is read, also in the middle of an array, where nobody asks the
//! catalog. So the OIDs of types say it: bit 30 is that of an array, whose element has the same OID without it; bit 29
//! is that of a domain, which also says what its values are held like: the built-in type that stands in for it where
//! the base type is not at hand; bit 28 is that of an enum. All others that are not built in are row types. The counter
//! stays below these bits, and the sign bit is never set: some drivers read OIDs as signed numbers.

use super::well_known::FIRST_NORMAL;
use crate::contrib::contrib_type;
use crate::oids;

/// The bit of an array.
const ARRAY: u32 = 1 << 30;
/// The bit of a domain.
const DOMAIN: u32 = 1 << 29;
/// The bit of an enum, which has none of the two above.
const ENUM: u32 = 1 << 28;
/// Where the counter ends.
pub const COUNTED_END: u32 = ENUM;
/// Below a domain's bit: 5 bits for what stands in for it, and 24 that are counted.
const COUNTED_BITS: u32 = 24;

/// What can stand in for a domain, by number: the numbers are part of the format. Values of the base type are held,
/// compared and ordered as those of its stand-in.
const STAND_INS: [u32; 32] = [
    oids::TEXT,
    oids::BOOL,
    oids::CHAR,
    oids::INT2,
    oids::INT4,
    oids::INT8,
    oids::PG_LSN,
    oids::XID8,
    oids::TID,
    oids::OID,
    oids::FLOAT4,
    oids::FLOAT8,
    oids::NUMERIC,
    oids::BYTEA,
    oids::DATE,
    oids::TIME,
    oids::TIMETZ,
    oids::TIMESTAMP,
    oids::TIMESTAMPTZ,
    oids::INTERVAL,
    oids::UUID,
    oids::JSONB,
    oids::JSON,
    oids::BPCHAR,
    oids::TEXT_ARRAY,
    oids::RECORD,
    ENUM,
    oids::INET,
    oids::CIDR,
    oids::CITEXT,
    oids::CUBE,
    oids::VARBIT,
];

/// The type of arrays of a type that users made.
#[must_use]
pub fn array_of_made(element: u32) -> u32 {
    element | ARRAY
}

/// The element of an array type that users made; none for anything else.
#[must_use]
pub fn element_of_made(array: u32) -> Option<u32> {
    (array & ARRAY != 0).then_some(array & !ARRAY)
}

/// The OID of a new enum.
#[must_use]
pub fn enum_oid(counted: u32) -> u32 {
    counted | ENUM
}

/// Whether it is an enum, and no array of one.
#[must_use]
pub fn is_enum(oid: u32) -> bool {
    oid & (ARRAY | DOMAIN | ENUM) == ENUM
}

/// The OID of a new domain over a type that is none; nothing where its values cannot be held.
#[must_use]
pub fn domain_oid(counted: u32, base: u32) -> Option<u32> {
    let wanted = match base {
        _ if super::element_type(base).is_some() => oids::TEXT_ARRAY,
        oids::VARCHAR | oids::NAME | oids::REFCURSOR => oids::TEXT,
        oids::BIT => oids::VARBIT,
        oids::XID | oids::CID | oids::REGPROC | oids::REGPROCEDURE | oids::REGOPER => oids::OID,
        oids::REGOPERATOR | oids::REGCLASS | oids::REGTYPE | oids::REGCONFIG => oids::OID,
        oids::REGDICTIONARY | oids::REGNAMESPACE | oids::REGROLE | oids::REGCOLLATION => oids::OID,
        // What an extension brings is held as bytes that sort as its values do.
        _ if contrib_type(base).is_some_and(|found| found.ordered.is_none()) => oids::BYTEA,
        _ if is_enum(base) => ENUM,
        _ if is_made(base) => oids::RECORD,
        other => other,
    };
    let place = STAND_INS.iter().position(|known| *known == wanted)? as u32;
    let counted = counted & ((1 << COUNTED_BITS) - 1);
    Some(DOMAIN | place << COUNTED_BITS | counted)
}

/// The domains of `information_schema` that demand something of their values: `cardinal_number`, `time_stamp`, `yes_or_no`; and
/// that of `earthdistance`.
const BUILT_IN_DOMAINS: [u32; 4] = [13221, 13232, 13234, oids::EARTH];

/// Whether it is one of the domains above.
#[must_use]
#[inline]
pub fn is_built_in_domain(oid: u32) -> bool {
    BUILT_IN_DOMAINS.contains(&oid)
}

/// Whether it is a domain whose values are held against it, and no array of one.
#[must_use]
#[inline]
pub fn is_domain(oid: u32) -> bool {
    oid & (ARRAY | DOMAIN) == DOMAIN || is_built_in_domain(oid)
}

/// The type that values of a domain are held, compared and ordered as; any other type is its own.
#[must_use]
pub fn stand_in(oid: u32) -> u32 {
    if !is_domain(oid) {
        return oid;
    }
    if is_built_in_domain(oid) {
        return super::type_by_oid(oid).map_or(oid, |domain| domain.base);
    }
    STAND_INS.get(((oid & !DOMAIN) >> COUNTED_BITS) as usize).copied().unwrap_or(oids::TEXT)
}

/// The part of an OID that was counted when its type was made: in its order types were made.
#[must_use]
pub fn counted(oid: u32) -> u32 {
    if is_domain(oid) { oid & ((1 << COUNTED_BITS) - 1) } else { oid & !(ARRAY | ENUM) }
}

/// Whether it is not built in.
#[must_use]
pub fn is_made(oid: u32) -> bool {
    oid >= FIRST_NORMAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oid_of_a_domain_says_how_its_values_are_held() {
        for (base, held) in [
            (oids::VARCHAR, oids::TEXT),
            (oids::INT4, oids::INT4),
            (oids::INT4_ARRAY, oids::TEXT_ARRAY),
            (enum_oid(20_000), ENUM),
            (20_000, oids::RECORD),
        ] {
            let domain = domain_oid(16_400, base).expect("its values can be held");
            assert!(is_domain(domain) && !is_domain(array_of_made(domain)) && !is_enum(domain));
            assert_eq!(stand_in(domain), held);
            assert_eq!(element_of_made(array_of_made(domain)), Some(domain));
        }
        assert_eq!(stand_in(oids::INT4), oids::INT4);
        assert_eq!(domain_oid(16_400, 600), None, "point");
    }
}
