//! What the OID of a type that users made says of it.
//!
//! How a value is held has to be known wherever it is read, also in the middle of an array, where nobody asks the
//! catalog. So the OIDs of types say it: the highest bit is that of an array, whose element has the same OID without it;
//! the bit below is that of an enum; all others that are not built in are row types. The counter stays below both.

use super::super::object::well_known::FIRST_NORMAL;

/// The bit of an array.
const ARRAY: u32 = 1 << 31;
/// The bit of an enum.
const ENUM: u32 = 1 << 30;

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
    oid & (ARRAY | ENUM) == ENUM
}

/// Whether it is not built in.
#[must_use]
pub fn is_made(oid: u32) -> bool {
    oid >= FIRST_NORMAL
}
