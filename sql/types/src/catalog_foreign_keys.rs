//! `pg_get_catalog_foreign_keys`: which columns of the catalogs refer to which (`misc.c`; `system_fk_info.h`).
//!
//! The list is PostgreSQL 15's, from `catalog_foreign_keys.tsv`: the referring catalog, its columns, the one that they refer
//! to, the columns there, whether the columns are arrays of references, whether 0 stands for none.

use super::Datum;
use super::array;
use super::function::{CallContext, Callable, Signature};
use crate::error::Result;
use crate::oids;

/// By `pg_proc` OID.
pub const FUNCTIONS: &[(u32, Callable)] = &[(6159, Callable::Set(all))];

fn all<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let columns = |names: &'static str| {
        let names: Vec<Datum<'_>> = names.split(',').map(Datum::Text).collect();
        array::from_datums(context.arena, oids::TEXT, &names)
    };
    for line in include_str!("builtin/data/catalog_foreign_keys.tsv").lines().skip(1) {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let catalog = |oid: &str| Datum::Oid(oid.parse().unwrap_or(0));
        let row = [
            catalog(next()),
            columns(next()),
            catalog(next()),
            columns(next()),
            Datum::Bool(next() == "t"),
            Datum::Bool(next() == "t"),
        ];
        if !emit(&row)? {
            break;
        }
    }
    Ok(())
}
