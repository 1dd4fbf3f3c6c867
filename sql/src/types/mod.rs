//! Types: how a value is held, read, written, compared and computed with.
//!
//! A [`Datum`] borrows: from the row it was read from, from the statement's text or parameters, or from the arena of
//! the row being worked on. It is copied freely and owns nothing, so that a point query allocates nothing.

pub mod function;

pub use function::{
    Accumulator, CallContext, Callable, Function, SetFunction, Signature, TypedFunction,
};

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

impl Datum<'_> {
    /// Whether it is NULL.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }
}
