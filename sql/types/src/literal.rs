//! From a borrowed [`Datum`] to the [`Literal`] that a plan owns, and back.

use super::{CallContext, Datum};
use std::sync::Arc;

/// A constant's value, owned by the plan. The by-reference ones are in the stored form of their [`crate::Datum`].
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// bool.
    Bool(bool),
    /// int2.
    Int2(i16),
    /// int4.
    Int4(i32),
    /// int8.
    Int8(i64),
    /// oid, reg*.
    Oid(u32),
    /// float4.
    Float4(f32),
    /// float8.
    Float8(f64),
    /// "char".
    Char(u8),
    /// Text-like.
    Text(Arc<str>),
    /// numeric.
    Numeric(Arc<[u8]>),
    /// bytea.
    Bytea(Arc<[u8]>),
    /// date.
    Date(i32),
    /// time.
    Time(i64),
    /// timetz.
    TimeTz(crate::TimeTz),
    /// timestamp.
    Timestamp(i64),
    /// timestamptz.
    TimestampTz(i64),
    /// interval.
    Interval(crate::Interval),
    /// An array.
    Array(Arc<[u8]>),
    /// A row.
    Record(Arc<[u8]>),
    /// uuid.
    Uuid([u8; 16]),
    /// jsonb.
    Jsonb(Arc<[u8]>),
}

impl Literal {
    /// How many bytes it has of its own.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Literal::Text(text) => text.len(),
            Literal::Numeric(bytes)
            | Literal::Bytea(bytes)
            | Literal::Array(bytes)
            | Literal::Record(bytes)
            | Literal::Jsonb(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

impl Literal {
    /// The value, owned.
    #[must_use]
    pub fn of(datum: &Datum<'_>) -> Literal {
        match *datum {
            Datum::Null => Literal::Null,
            Datum::Bool(value) => Literal::Bool(value),
            Datum::Int2(value) => Literal::Int2(value),
            Datum::Int4(value) => Literal::Int4(value),
            Datum::Int8(value) => Literal::Int8(value),
            Datum::Oid(value) => Literal::Oid(value),
            Datum::Float4(value) => Literal::Float4(value),
            Datum::Float8(value) => Literal::Float8(value),
            Datum::Char(value) => Literal::Char(value),
            Datum::Text(text) => Literal::Text(Arc::from(text)),
            Datum::Numeric(bytes) => Literal::Numeric(Arc::from(bytes)),
            Datum::Bytea(bytes) => Literal::Bytea(Arc::from(bytes)),
            Datum::Date(value) => Literal::Date(value),
            Datum::Time(value) => Literal::Time(value),
            Datum::TimeTz(value) => Literal::TimeTz(value),
            Datum::Timestamp(value) => Literal::Timestamp(value),
            Datum::TimestampTz(value) => Literal::TimestampTz(value),
            Datum::Interval(value) => Literal::Interval(*value),
            Datum::Array(bytes) => Literal::Array(Arc::from(bytes)),
            Datum::Record(bytes) => Literal::Record(Arc::from(bytes)),
            Datum::Uuid(uuid) => Literal::Uuid(*uuid),
            Datum::Jsonb(bytes) => Literal::Jsonb(Arc::from(bytes)),
        }
    }

    /// The value, borrowed from this literal.
    #[must_use]
    pub fn datum(&self) -> Datum<'_> {
        match self {
            Literal::Null => Datum::Null,
            Literal::Bool(value) => Datum::Bool(*value),
            Literal::Int2(value) => Datum::Int2(*value),
            Literal::Int4(value) => Datum::Int4(*value),
            Literal::Int8(value) => Datum::Int8(*value),
            Literal::Oid(value) => Datum::Oid(*value),
            Literal::Float4(value) => Datum::Float4(*value),
            Literal::Float8(value) => Datum::Float8(*value),
            Literal::Char(value) => Datum::Char(*value),
            Literal::Text(text) => Datum::Text(text),
            Literal::Numeric(bytes) => Datum::Numeric(bytes),
            Literal::Bytea(bytes) => Datum::Bytea(bytes),
            Literal::Date(value) => Datum::Date(*value),
            Literal::Time(value) => Datum::Time(*value),
            Literal::TimeTz(value) => Datum::TimeTz(*value),
            Literal::Timestamp(value) => Datum::Timestamp(*value),
            Literal::TimestampTz(value) => Datum::TimestampTz(*value),
            Literal::Interval(value) => Datum::Interval(value),
            Literal::Array(bytes) => Datum::Array(bytes),
            Literal::Record(bytes) => Datum::Record(bytes),
            Literal::Uuid(uuid) => Datum::Uuid(uuid),
            Literal::Jsonb(bytes) => Datum::Jsonb(bytes),
        }
    }
}

/// Copies what a datum borrows into the context's arena, so that it outlives where it came from.
#[must_use]
pub fn copy_to_arena<'a>(context: &CallContext<'a>, datum: &Datum<'_>) -> Datum<'a> {
    let arena = context.arena;
    match *datum {
        Datum::Null => Datum::Null,
        Datum::Bool(value) => Datum::Bool(value),
        Datum::Int2(value) => Datum::Int2(value),
        Datum::Int4(value) => Datum::Int4(value),
        Datum::Int8(value) => Datum::Int8(value),
        Datum::Oid(value) => Datum::Oid(value),
        Datum::Float4(value) => Datum::Float4(value),
        Datum::Float8(value) => Datum::Float8(value),
        Datum::Char(value) => Datum::Char(value),
        Datum::Text(text) => Datum::Text(arena.alloc_str(text)),
        Datum::Numeric(bytes) => Datum::Numeric(arena.alloc_slice_copy(bytes)),
        Datum::Bytea(bytes) => Datum::Bytea(arena.alloc_slice_copy(bytes)),
        Datum::Date(value) => Datum::Date(value),
        Datum::Time(value) => Datum::Time(value),
        Datum::TimeTz(value) => Datum::TimeTz(value),
        Datum::Timestamp(value) => Datum::Timestamp(value),
        Datum::TimestampTz(value) => Datum::TimestampTz(value),
        Datum::Interval(value) => Datum::Interval(arena.alloc(*value)),
        Datum::Array(bytes) => Datum::Array(arena.alloc_slice_copy(bytes)),
        Datum::Record(bytes) => Datum::Record(arena.alloc_slice_copy(bytes)),
        Datum::Uuid(uuid) => Datum::Uuid(arena.alloc(*uuid)),
        Datum::Jsonb(bytes) => Datum::Jsonb(arena.alloc_slice_copy(bytes)),
    }
}
