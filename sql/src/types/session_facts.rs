//! Functions that tell about the session, a value's type, or show sizes.

use super::function::Callable::{self, Plain, Typed};
use super::{CallContext, Datum, Signature};
use crate::error::Result;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (710, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().user))))),
    (745, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().user))))),
    (746, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().session_user))))),
    (861, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().database))))),
    (2026, Plain(|c, _| Ok(Datum::Int4(c.catalog.session().pid as i32)))),
    (1619, Typed(type_of)),
    (1039, Plain(|_, _| Ok(Datum::Text("UTF8")))),
    (810, Plain(|_, _| Ok(Datum::Text("UTF8")))),
    (2288, Plain(size_pretty)),
];

fn type_of<'a>(
    _: &CallContext<'a>,
    signature: &Signature<'_>,
    _: &[Datum<'a>],
) -> Result<Datum<'a>> {
    Ok(Datum::Oid(signature.arguments[0].oid.0))
}

/// pg_size_pretty: the unit in which at most 10240 is left, halves away from zero.
fn size_pretty<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut size = i128::from(a[0].int8());
    let mut unit = 0;
    // Twice the size in the unit from kB on, so that half of it is not lost.
    while unit < UNITS.len() - 1 && size.abs() >= if unit == 0 { 10 * 1024 } else { 20 * 1024 - 1 }
    {
        size /= if unit == 0 { 512 } else { 1024 };
        unit += 1;
    }
    if unit > 0 {
        size = (size + size.signum()) / 2;
    }
    Ok(Datum::Text(context.arena.alloc_str(&format!("{size} {}", UNITS[unit]))))
}
