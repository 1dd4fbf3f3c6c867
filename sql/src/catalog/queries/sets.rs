//! Set-returning functions about objects of which there are none.

use crate::error::Result;
use crate::types::function::{Callable, Signature};
use crate::types::{CallContext, Datum};

/// By `pg_proc` OID.
pub const FUNCTIONS: &[(u32, Callable)] = &[
    // pg_partition_ancestors: a table that is neither partitioned nor a partition has none.
    (3425, Callable::Set(nothing)),
];

fn nothing<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    _: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    Ok(())
}
