//! Arrays compared, element by element, where their elements can be (`array_eq`, `array_cmp`).

use super::Array;
use crate::builtin;
use crate::depth::deeper;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, oids, record_order};
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (744, Plain(|c, a| answer(c, a, Wanted::Equality, Ordering::is_eq))),
    (390, Plain(|c, a| answer(c, a, Wanted::Equality, Ordering::is_ne))),
    (391, Plain(|c, a| answer(c, a, Wanted::Order, Ordering::is_lt))),
    (393, Plain(|c, a| answer(c, a, Wanted::Order, Ordering::is_le))),
    (392, Plain(|c, a| answer(c, a, Wanted::Order, Ordering::is_gt))),
    (396, Plain(|c, a| answer(c, a, Wanted::Order, Ordering::is_ge))),
    (382, Plain(|c, a| Ok(Datum::Int4(compare(c, a, Wanted::Order)? as i32)))),
];

/// Types whose values are equal or not, and in no order: `xid`, `cid`, `aclitem`.
const EQUAL_ONLY: [u32; 3] = [28, 29, 1033];

/// What is asked of elements, or of the fields of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `=`
    Equality,
    /// `<`
    Order,
}

fn answer<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    wanted: Wanted,
    holds: fn(Ordering) -> bool,
) -> Result<Datum<'a>> {
    Ok(Datum::Bool(holds(compare(context, a, wanted)?)))
}

fn compare(context: &CallContext<'_>, a: &[Datum<'_>], wanted: Wanted) -> Result<Ordering> {
    demand(context, &a[0].array(), wanted)?;
    record_order::compare_strictly(context, oids::ANYARRAY, &a[0], &a[1], wanted)
}

/// Fails where elements have no equality or no order, whether there are any or not.
///
/// # Errors
/// 42883.
pub(super) fn demand(context: &CallContext<'_>, array: &Array<'_>, wanted: Wanted) -> Result<()> {
    demand_of(context, array.element, wanted)
}

/// Fails where values of a type have no equality or no order.
///
/// # Errors
/// 42883.
pub(crate) fn demand_of(context: &CallContext<'_>, ty: u32, wanted: Wanted) -> Result<()> {
    if has(context, ty, wanted) {
        return Ok(());
    }
    let missed = match wanted {
        Wanted::Equality => "an equality operator",
        Wanted::Order => "a comparison function",
    };
    let name = context.catalog.type_name(ty);
    let message = format!("could not identify {missed} for type {name}");
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
}

/// Whether values of a type have what is wanted; rows have it if their fields do.
fn has(context: &CallContext<'_>, ty: u32, wanted: Wanted) -> bool {
    if wanted == Wanted::Equality && EQUAL_ONLY.contains(&ty) {
        return true;
    }
    let fields = || context.catalog.row_fields(ty).unwrap_or_default();
    builtin::ordering(ty).is_some()
        && (builtin::type_by_oid(ty).is_some()
            || fields().iter().all(|(_, field)| deeper(|| has(context, field.oid.0, wanted))))
}
