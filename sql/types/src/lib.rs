//! Values with PostgreSQL's semantics: how one is held, read, written, compared and computed with, and how rows and keys are
//! laid out as bytes. It has never heard of a statement, nor of anything that a user has made.
//!
//! - [`error`] and [`sqlstate`]: what a user is told; [`account`]: what a statement may take
//! - [`builtin`]: what PostgreSQL has built in, as data; [`words`]: those of SQL that syntax, catalog and plans share
//! - [`function`]: how a function of `pg_proc` is called; what else it may ask (`CatalogQueries`); one module for each family
//! - [`tuple`]: rows and keys as bytes; [`encoding`]: texts in other encodings
//!
//! A [`Datum`] borrows: from the row it was read from, from the statement's text or parameters, or from the arena of
//! the row being worked on. It is copied freely and owns nothing, so that a point query allocates nothing.

pub mod account;
pub mod aggregate;
mod arithmetic;
pub mod array;
pub mod assign;
mod binary_form;
mod bits;
pub mod builtin;
pub mod bytea;
mod catalog_foreign_keys;
mod citext;
mod comparator;
mod comparison;
pub mod contrib;
mod crypto;
pub mod datetime;
pub mod depth;
pub mod dialect;
pub mod domain;
pub mod encoding;
mod enums;
pub mod error;
pub mod failure;
pub mod float;
pub mod form;
pub mod function;
#[cfg(test)]
mod golden;
mod hash;
mod in_range;
pub mod integer;
pub mod json;
pub mod jsonpath;
pub mod literal;
mod lsn;
pub mod network;
pub mod no_session;
pub mod numeric;
pub mod oids;
pub mod order;
mod plain;
pub mod primitive;
pub mod record;
mod record_order;
mod registry;
#[cfg(test)]
mod round_trip;
mod sample;
pub mod secret;
mod series;
mod session_facts;
pub mod session_functions;
pub mod session_sets;
pub mod settings;
mod sizes;
pub mod sqlstate;
pub mod stack;
pub mod stored;
pub mod text;
mod text_form;
mod trigonometry;
pub mod tuple;
pub mod type_name;
mod uuid_ossp;
#[cfg(test)]
mod walks;
pub mod words;
pub mod xact;
pub mod xml;

pub use aggregate::accumulator;
pub use binary_form::{check_text, read_binary, write_binary};
pub use comparator::Comparator;
pub use form::{Form, form};
pub use function::{
    Accumulator, CallContext, Callable, CatalogQueries, Function, SessionFacts, SetFunction,
    Signature, TypedFunction,
};
pub use literal::copy_to_arena;
pub use order::{beginning, compare, hash_into};
pub use plain::{PlainRoom, has_plain_null, read_plain};
pub use record_order::{Shapes, compare_strictly, may_differ};
pub use registry::function;
pub use settings::{ValueSettings, check_held};
pub use text_form::{read_bool, read_text, text_of, truncate_bytes, write_text};
pub use type_name::format_type;

use crate::error::SqlError;
use bumpalo::Bump;

/// A PostgreSQL object identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub u32);

impl std::fmt::Display for Oid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A type with its modifier: `varchar(10)` is 1043 with typmod 14; -1 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// Its `pg_type` row.
    pub oid: Oid,
    /// Its modifier, -1 for none.
    pub typmod: i32,
}

impl SqlType {
    /// A type without a modifier.
    #[must_use]
    pub const fn plain(oid: u32) -> SqlType {
        SqlType { oid: Oid(oid), typmod: -1 }
    }
}

/// A value, or NULL. Which `pg_type` it is, is known from the plan, not from the value: varchar, text, bpchar, name
/// and unknown are all [`Datum::Text`].
#[derive(Clone, Copy, Debug)]
pub enum Datum<'a> {
    /// NULL of any type.
    Null,
    /// bool.
    Bool(bool),
    /// int2.
    Int2(i16),
    /// int4.
    Int4(i32),
    /// int8.
    Int8(i64),
    /// oid and the reg* types.
    Oid(u32),
    /// float4.
    Float4(f32),
    /// float8.
    Float8(f64),
    /// "char": one byte.
    Char(u8),
    /// numeric, in its stored form (see `numeric`).
    Numeric(&'a [u8]),
    /// text, varchar, bpchar (with its blanks), name, unknown, json, xml.
    Text(&'a str),
    /// bytea.
    Bytea(&'a [u8]),
    /// date: days since 2000-01-01; `i32::MIN` and `i32::MAX` are the infinities.
    Date(i32),
    /// time: microseconds since midnight.
    Time(i64),
    /// timetz.
    TimeTz(TimeTz),
    /// timestamp: microseconds since 2000-01-01 00:00:00; `i64::MIN` and `i64::MAX` are the infinities.
    Timestamp(i64),
    /// timestamptz: the same, in UTC.
    TimestampTz(i64),
    /// interval: months, days, microseconds.
    Interval(&'a Interval),
    /// An array, in its stored form (see `array`).
    Array(&'a [u8]),
    /// A row, in its stored form (see `record`).
    Record(&'a [u8]),
    /// uuid.
    Uuid(&'a [u8; 16]),
    /// jsonb, in its stored form.
    Jsonb(&'a [u8]),
}

/// A time of day in a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeTz {
    /// Microseconds since midnight there.
    pub micros: i64,
    /// How far the zone is west of UTC, in seconds.
    pub west: i32,
}

impl TimeTz {
    /// Where it stands in the order of the type: by the time in UTC, then by the zone.
    #[must_use]
    pub fn place(self) -> (i64, i32) {
        (self.micros + i64::from(self.west) * 1_000_000, self.west)
    }
}

/// An interval keeps its three units apart, as PostgreSQL does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

macro_rules! accessors {
    ($($name:ident $variant:ident $result:ty),* $(,)?) => {
        impl<'a> Datum<'a> {
            $(
                #[doc = concat!("The value of a [`Datum::", stringify!($variant), "`].")]
                ///
                /// # Panics
                /// If it is anything else: the plan gave a function an argument of another type.
                #[must_use]
                #[inline]
                pub fn $name(&self) -> $result {
                    match self {
                        Datum::$variant(value) => *value,
                        other => mismatch(stringify!($variant), other),
                    }
                }
            )*
        }
    };
}

accessors! {
    bool Bool bool, int2 Int2 i16, int4 Int4 i32, int8 Int8 i64, oid Oid u32, float4 Float4 f32, float8 Float8 f64,
    char Char u8, numeric Numeric &'a [u8], text Text &'a str, bytea Bytea &'a [u8], date Date i32, time Time i64, timetz TimeTz TimeTz,
    timestamp Timestamp i64, timestamptz TimestampTz i64, interval Interval &'a Interval, record Record &'a [u8],
    uuid Uuid &'a [u8; 16],
}

#[cold]
fn mismatch(expected: &str, found: &Datum<'_>) -> ! {
    panic!("a {expected} was expected in place of {found:?}")
}

impl<'a> Datum<'a> {
    /// Whether it is NULL.
    #[must_use]
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// The same value, where it borrows nothing.
    #[must_use]
    #[inline]
    pub fn by_value(self) -> Option<Datum<'static>> {
        Some(match self {
            Datum::Null => Datum::Null,
            Datum::Bool(v) => Datum::Bool(v),
            Datum::Int2(v) => Datum::Int2(v),
            Datum::Int4(v) => Datum::Int4(v),
            Datum::Int8(v) => Datum::Int8(v),
            Datum::Oid(v) => Datum::Oid(v),
            Datum::Float4(v) => Datum::Float4(v),
            Datum::Float8(v) => Datum::Float8(v),
            Datum::Char(v) => Datum::Char(v),
            Datum::Date(v) => Datum::Date(v),
            Datum::Time(v) => Datum::Time(v),
            Datum::TimeTz(v) => Datum::TimeTz(v),
            Datum::Timestamp(v) => Datum::Timestamp(v),
            Datum::TimestampTz(v) => Datum::TimestampTz(v),
            Datum::Numeric(_)
            | Datum::Text(_)
            | Datum::Bytea(_)
            | Datum::Interval(_)
            | Datum::Array(_)
            | Datum::Record(_)
            | Datum::Uuid(_)
            | Datum::Jsonb(_) => return None,
        })
    }

    /// The same value, its bytes in `arena`.
    #[must_use]
    pub fn copied_into(self, arena: &Bump) -> Datum<'_> {
        match self {
            Datum::Numeric(v) => Datum::Numeric(account::copied(arena, v)),
            Datum::Text(v) => Datum::Text(account::copied_text(arena, v)),
            Datum::Bytea(v) => Datum::Bytea(account::copied(arena, v)),
            Datum::Interval(v) => Datum::Interval(arena.alloc(*v)),
            Datum::Array(v) => Datum::Array(account::copied(arena, v)),
            Datum::Record(v) => Datum::Record(account::copied(arena, v)),
            Datum::Uuid(v) => Datum::Uuid(arena.alloc(*v)),
            Datum::Jsonb(v) => Datum::Jsonb(account::copied(arena, v)),
            plain => plain.by_value().unwrap_or(Datum::Null),
        }
    }

    /// A stored array, ready to be walked.
    ///
    /// # Panics
    /// If it is no array.
    #[must_use]
    pub fn array(&self) -> array::Array<'a> {
        match self {
            Datum::Array(bytes) => array::Array::of(bytes),
            other => mismatch("Array", other),
        }
    }
}

/// 0A000: values of this type cannot be held, read or written yet.
#[cold]
pub fn unsupported_type(oid: u32) -> SqlError {
    match crate::builtin::type_by_oid(oid) {
        Some(ty) => SqlError::unsupported(format!("type {} is", ty.name)),
        None => SqlError::unsupported(format!("the type with OID {oid} is")),
    }
}

/// Bytes that are known to be UTF-8 because this crate has written them, as a text in the arena.
pub(crate) fn arena_text<'a>(context: &CallContext<'a>, bytes: &[u8]) -> &'a str {
    let text = std::str::from_utf8(bytes).expect("texts are put together from whole characters");
    account::copied_text(context.arena, text)
}
