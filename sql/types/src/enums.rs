//! Enums: manual, 8.7 and 9.10. A value is the place of its label in the type's order, so it compares as a number; the
//! labels are the catalog's.

use super::array::Builder;
use super::function::Callable::{self, Typed};
use super::{CallContext, Datum, Signature, SqlType};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3528, Typed(|c, s, _| end(c, s, true))),
    (3529, Typed(|c, s, _| end(c, s, false))),
    (3530, Typed(|c, s, a| range(c, s, Some(&a[0]), Some(&a[1])))),
    (3531, Typed(|c, s, _| range(c, s, None, None))),
];

/// 22P02 for a text that is none of an enum's labels.
#[cold]
pub(super) fn unknown_label(context: &CallContext<'_>, ty: SqlType, text: &str) -> SqlError {
    let name = context.catalog.type_name(ty.oid.0);
    SqlError::new(
        SqlState::INVALID_TEXT_REPRESENTATION,
        format!("invalid input value for enum {name}: \"{text}\""),
    )
}

/// A value of an enum.
///
/// # Errors
/// 55P04 for one of a label that the own transaction has added, which may yet be rolled back (`check_safe_enum_use`).
pub(super) fn usable<'a>(context: &CallContext<'_>, ty: u32, position: i64) -> Result<Datum<'a>> {
    if context.catalog.is_added_value(ty, position) {
        let label = context.catalog.enum_label(ty, position).unwrap_or_default();
        let name = context.catalog.type_name(ty);
        return Err(SqlError::new(
            SqlState::UNSAFE_NEW_ENUM_VALUE_USAGE,
            format!("unsafe use of new value \"{label}\" of enum type {name}"),
        )
        .hint("New enum values must be committed before they can be used."));
    }
    Ok(Datum::Int8(position))
}

/// The first or the last value of an enum.
fn end<'a>(context: &CallContext<'a>, signature: &Signature<'_>, first: bool) -> Result<Datum<'a>> {
    let ty = signature.arguments[0].oid.0;
    let labels = context.catalog.enum_labels(ty);
    let found = if first { labels.first() } else { labels.last() };
    let Some((position, _)) = found else {
        return Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("enum {} contains no values", context.catalog.type_name(ty)),
        ));
    };
    usable(context, ty, *position)
}

/// The values between two, which count; NULL is no bound.
fn range<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    low: Option<&Datum<'a>>,
    high: Option<&Datum<'a>>,
) -> Result<Datum<'a>> {
    let ty = signature.arguments[0].oid.0;
    let bound = |datum: Option<&Datum<'a>>, otherwise: i64| match datum {
        Some(Datum::Int8(position)) => *position,
        _ => otherwise,
    };
    let (low, high) = (bound(low, i64::MIN), bound(high, i64::MAX));
    let mut builder = Builder::new(ty);
    for (position, _) in context.catalog.enum_labels(ty) {
        if (low..=high).contains(&position) {
            builder.push(&usable(context, ty, position)?);
        }
    }
    Ok(builder.finish(context.arena))
}
