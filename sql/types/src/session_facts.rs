//! Functions that tell about the session or a value's type.

use super::function::Callable::{self, Plain, Typed};
use super::{CallContext, Datum, Signature};
use crate::error::Result;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (710, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().user))))),
    (745, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().user))))),
    (746, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().session_user))))),
    (861, Plain(|c, _| Ok(Datum::Text(c.arena.alloc_str(c.catalog.session().database))))),
    (1619, Typed(type_of)),
];

fn type_of<'a>(
    _: &CallContext<'a>,
    signature: &Signature<'_>,
    _: &[Datum<'a>],
) -> Result<Datum<'a>> {
    Ok(Datum::Oid(signature.arguments[0].oid.0))
}
