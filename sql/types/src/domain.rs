//! Domains: manual, 8.18. A value is held as its base type's; whenever one is made of something else it is held against
//! NOT NULL and the CHECKs, NULL too. What they say, the catalog knows.
//!
//! PostgreSQL: `domains.c`.

use super::{CallContext, Datum, Signature, SqlType};
use crate::builtin::is_domain;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// `domain_in`, as whose call a check stands in a plan.
pub const DOMAIN_IN: u32 = 2597;

/// Reads a value of a domain as one of its base type, and checks it; none: `ty` is no domain.
///
/// # Errors
/// Those of reading it; 23502, 23514; XX000 for a domain that is gone: a variable may outlive its type.
#[inline]
pub(super) fn read<'a>(
    context: &CallContext<'a>,
    ty: SqlType,
    read: impl FnOnce(SqlType) -> Result<Datum<'a>>,
) -> Option<Result<Datum<'a>>> {
    if !is_domain(ty.oid.0) {
        return None;
    }
    let base = context.catalog.base_type(ty);
    if is_domain(base.oid.0) {
        let message = format!("cache lookup failed for type {}", ty.oid.0);
        return Some(Err(SqlError::new(SqlState::INTERNAL_ERROR, message)));
    }
    let value = read(base);
    Some(value.and_then(|value| {
        context.catalog.check_domain(context, ty, &value)?;
        Ok(value)
    }))
}

/// NULL of a type: not every domain has it.
///
/// # Errors
/// 23502, 23514.
#[inline]
pub fn null<'a>(context: &CallContext<'a>, ty: SqlType) -> Result<Datum<'a>> {
    if is_domain(ty.oid.0) {
        context.catalog.check_domain(context, ty, &Datum::Null)?;
    }
    Ok(Datum::Null)
}

/// What a domain stands on, for those who read or write the value; any other type is its own.
#[inline]
pub(super) fn base(context: &CallContext<'_>, ty: SqlType) -> SqlType {
    if is_domain(ty.oid.0) { context.catalog.base_type(ty) } else { ty }
}

/// A value, held against the domain that the call results in.
///
/// # Errors
/// 23502, 23514.
pub fn checked<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    arguments: &[Datum<'a>],
) -> Result<Datum<'a>> {
    context.catalog.check_domain(context, signature.result, &arguments[0])?;
    Ok(arguments[0])
}
