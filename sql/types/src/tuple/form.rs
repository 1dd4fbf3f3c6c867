//! Forms: which variant of [`crate::Datum`] holds the values of a type, and how wide it is when stored.

use crate::Oid;
use crate::builtin;
use crate::contrib::contrib_type;

/// The variant of a datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// bool.
    Bool,
    /// int2.
    Int2,
    /// int4.
    Int4,
    /// int8.
    Int8,
    /// oid and the reg* types, xid, cid.
    Oid,
    /// float4.
    Float4,
    /// float8.
    Float8,
    /// "char".
    Char,
    /// numeric.
    Numeric,
    /// Text-like.
    Text,
    /// bytea.
    Bytea,
    /// date.
    Date,
    /// time.
    Time,
    /// timetz.
    TimeTz,
    /// timestamp.
    Timestamp,
    /// timestamptz.
    TimestampTz,
    /// interval.
    Interval,
    /// Arrays, int2vector, oidvector.
    Array,
    /// Rows.
    Record,
    /// uuid.
    Uuid,
    /// jsonb.
    Jsonb,
}

impl Form {
    /// The form of a type's values. A type that is none of the built-in scalars is text-like, an array or a row by
    /// what `pg_type` says of it.
    #[must_use]
    pub fn of(ty: Oid) -> Form {
        match ty.0 {
            16 => Form::Bool,
            // inet, cidr, bit and varbit are held as bytes that compare as they do, a jsonpath as its text.
            17 | 650 | 869 | 1560 | 1562 | 2970 | 4072 | 5038 => Form::Bytea,
            18 => Form::Char,
            20 | 27 | 3220 | 5069 => Form::Int8,
            21 => Form::Int2,
            23 => Form::Int4,
            24 | 26 | 28 | 29 | 2202..=2206 | 3734 | 3769 | 4089 | 4096 | 4191 => Form::Oid,
            700 => Form::Float4,
            701 => Form::Float8,
            1082 => Form::Date,
            1083 => Form::Time,
            1114 => Form::Timestamp,
            1266 => Form::TimeTz,
            1184 => Form::TimestampTz,
            1186 => Form::Interval,
            1700 => Form::Numeric,
            2249 => Form::Record,
            2950 => Form::Uuid,
            3802 => Form::Jsonb,
            22 | 30 | 2277 => Form::Array,
            other => match builtin::type_by_oid(other) {
                Some(_) if contrib_type(other).is_some() => Form::Bytea,
                Some(ty) if ty.is_array() => Form::Array,
                Some(ty) if ty.kind == builtin::TypeKind::Composite => Form::Record,
                Some(ty) if ty.base != 0 => Form::of(Oid(ty.base)),
                None if builtin::element_of_made(other).is_some() => Form::Array,
                None if builtin::is_domain(other) => Form::of(Oid(builtin::stand_in(other))),
                None if builtin::is_enum(other) => Form::Int8,
                None if builtin::is_made(other) => Form::Record,
                _ => Form::Text,
            },
        }
    }

    /// The stored width in bytes, none for a form of varying width.
    #[must_use]
    pub fn width(self) -> Option<usize> {
        match self {
            Form::Bool | Form::Char => Some(1),
            Form::Int2 => Some(2),
            Form::Int4 | Form::Oid | Form::Float4 | Form::Date => Some(4),
            Form::Int8 | Form::Float8 | Form::Time | Form::Timestamp | Form::TimestampTz => Some(8),
            Form::TimeTz => Some(12),
            Form::Interval | Form::Uuid => Some(16),
            Form::Numeric | Form::Text | Form::Bytea | Form::Array | Form::Record | Form::Jsonb => {
                None
            }
        }
    }

    /// Whether a value can be looked at where its bytes lie in a record.
    #[must_use]
    pub fn lies_in_place(self) -> bool {
        self != Form::Interval
    }

    /// The boundary that PostgreSQL begins a value of this form at, in bytes (`typalign`).
    #[must_use]
    pub fn alignment(self) -> usize {
        match self {
            Form::Bool | Form::Char | Form::Uuid => 1,
            Form::Int2 => 2,
            Form::Int4 | Form::Oid | Form::Float4 | Form::Date => 4,
            Form::Numeric | Form::Text | Form::Bytea | Form::Array | Form::Jsonb => 4,
            Form::Int8
            | Form::Float8
            | Form::Time
            | Form::Timestamp
            | Form::TimestampTz
            | Form::TimeTz
            | Form::Interval
            | Form::Record => 8,
        }
    }
}
