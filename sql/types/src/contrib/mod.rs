//! The types that extensions bring (PostgreSQL 15 manual, appendix F) and that are held in a form of their own: each is bytes
//! that only its module reads.
//!
//! A value is a [`Datum::Bytea`] whose bytes sort as the type's default B-tree class orders its values, so that rows, keys,
//! sorts and hashes need not know the type; where a value has more to keep than what its class looks at,
//! [`ContribType::ordered`] says which bytes count. The functions of the extensions are numbered as `builtin/generate.py`
//! says.

mod boolean_query;
pub(crate) mod cube;
pub mod earthdistance;
pub(crate) mod fuzzystrmatch;
pub(crate) mod hstore;
pub(crate) mod intarray;
pub(crate) mod ltree;
pub(crate) mod pg_trgm;
pub mod tablefunc;
pub(crate) mod triggers;
pub(crate) mod unaccent;

use crate::builtin::stand_in;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Oid, SqlType, account, arena_text, oids};
use std::borrow::Cow;

/// How values of a type are read, written and compared.
pub(crate) struct ContribType {
    /// Its input function.
    pub(crate) read: for<'a> fn(&CallContext<'a>, &str) -> Result<Datum<'a>>,
    /// Its output function.
    pub(crate) write: fn(&CallContext<'_>, &[u8], &mut Vec<u8>),
    /// Its receive function.
    pub(crate) receive: for<'a> fn(&CallContext<'a>, &[u8]) -> Result<Datum<'a>>,
    /// Its send function.
    pub(crate) send: fn(&[u8], &mut Vec<u8>),
    /// The bytes that count where values are compared, where these are not all.
    pub(crate) ordered: Option<fn(&[u8]) -> Vec<u8>>,
}

/// The type with this OID, if it is one of these.
pub(crate) fn contrib_type(oid: u32) -> Option<&'static ContribType> {
    match oid {
        oids::HSTORE => Some(&hstore::TYPE),
        oids::CUBE => Some(&cube::TYPE),
        oids::QUERY_INT => Some(&intarray::QUERY),
        oids::LTREE => Some(&ltree::TYPE),
        oids::LQUERY => Some(&ltree::LQUERY),
        oids::LTXTQUERY => Some(&ltree::LTXTQUERY),
        oids::GHSTORE | oids::GTRGM | oids::INTBIG_GKEY | oids::LTREE_GIST => Some(&INDEX_KEY),
        _ => None,
    }
}

/// The bytes of a value of the type `ty`, or of a domain over it, that count where it is compared.
pub(crate) fn ordered<'b>(ty: u32, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    match contrib_type(stand_in(ty)).and_then(|found| found.ordered) {
        Some(counted) => Cow::Owned(counted(bytes)),
        None => Cow::Borrowed(bytes),
    }
}

/// What only indexes by GiST keep: nobody can write a value.
const INDEX_KEY: ContribType = ContribType {
    read: |_, _| Err(no_value()),
    write: |_, _, _| {},
    receive: |_, _| Err(no_value()),
    send: |_, _| {},
    ordered: None,
};

fn no_value() -> SqlError {
    SqlError::unsupported("a value of a type that only indexes keep is")
}

/// What `in` and `out` functions do when they are called by name: see [`text_in`].
pub(crate) fn text_out<'a>(
    context: &CallContext<'a>,
    ty: u32,
    value: &Datum<'a>,
) -> Result<Datum<'a>> {
    let mut out = Vec::new();
    crate::write_text(context, SqlType { oid: Oid(ty), typmod: -1 }, value, &mut out)?;
    Ok(Datum::Text(arena_text(context, &out)))
}

/// The value of a type that a text says.
pub(crate) fn text_in<'a>(
    context: &CallContext<'a>,
    ty: u32,
    text: &Datum<'a>,
) -> Result<Datum<'a>> {
    crate::read_text(context, SqlType { oid: Oid(ty), typmod: -1 }, text.text())
}

/// Bytes as a value in the arena.
pub(crate) fn stored<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Datum<'a> {
    Datum::Bytea(account::copied(context.arena, bytes))
}

/// XX000: what these modules say where they give no SQLSTATE.
pub(crate) fn internal(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, message)
}
