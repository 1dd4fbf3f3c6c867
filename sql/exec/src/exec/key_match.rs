//! Whether a value of a referencing column is one of a referenced column that has another type.
//!
//! PostgreSQL compares the two by the operator of the referenced index's family that takes both types, else by the family's
//! own, once the referencing value is implicitly cast (`ATAddForeignKeyConstraint`). Here the referencing value is always
//! brought into the referenced type, because there it is looked up by its bytes as a key; a value that the type cannot hold
//! meets none. Types whose comparison depends on the session's time zone are not compared yet.

use crate::catalog::builtin::{self, CastContext};
use crate::tuple::{Form, KeyColumn};
use crate::types::numeric::View;
use crate::types::numeric::functions::{from_integer, to_float};
use crate::types::order::without_blanks;
use crate::types::{Datum, Oid, oids};
use bumpalo::Bump;

const DAY_US: i64 = 86_400_000_000;

/// Whether columns of two types may refer to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparable {
    /// They may.
    Yes,
    /// PostgreSQL can compare them, but this cannot.
    NotYet,
    /// Nobody can.
    No,
}

fn is_integer(ty: u32) -> bool {
    matches!(ty, oids::INT2 | oids::INT4 | oids::INT8)
}

fn is_float(ty: u32) -> bool {
    matches!(ty, oids::FLOAT4 | oids::FLOAT8)
}

fn is_text(ty: u32) -> bool {
    matches!(ty, oids::TEXT | oids::VARCHAR | oids::NAME)
}

/// Whether a column of the type `child` may refer to one of the type `parent`; neither is a domain.
#[must_use]
pub fn comparable(child: u32, parent: u32) -> Comparable {
    let known = child == parent
        || is_integer(child) && (is_integer(parent) || is_float(parent) || parent == oids::NUMERIC)
        || child == oids::NUMERIC && is_float(parent)
        || is_float(child) && is_float(parent)
        || is_text(child) && is_text(parent)
        || child == oids::BPCHAR && matches!(parent, oids::TEXT | oids::VARCHAR)
        || parent == oids::BPCHAR && matches!(child, oids::TEXT | oids::VARCHAR)
        || matches!(child, oids::INET | oids::CIDR) && matches!(parent, oids::INET | oids::CIDR)
        || matches!(child, oids::BIT | oids::VARBIT) && matches!(parent, oids::BIT | oids::VARBIT)
        || matches!(child, oids::DATE | oids::TIMESTAMP)
            && matches!(parent, oids::DATE | oids::TIMESTAMP);
    if known {
        return Comparable::Yes;
    }
    let moment = |ty| matches!(ty, oids::DATE | oids::TIMESTAMP | oids::TIMESTAMPTZ);
    let input = builtin::ordering(parent).map_or(parent, |ordering| ordering.input);
    let implicit =
        builtin::cast(child, input).is_some_and(|cast| cast.context == CastContext::Implicit);
    if implicit || moment(child) && moment(parent) { Comparable::NotYet } else { Comparable::No }
}

/// A value of the type `from` in the type of the column it is looked up in; none where that cannot hold it.
#[must_use]
pub fn converted<'d>(
    value: Datum<'d>,
    from: Oid,
    column: &KeyColumn,
    arena: &'d Bump,
) -> Option<Datum<'d>> {
    converted_to(value, builtin::stand_in(from.0), column.ty, arena)
}

fn converted_to<'d>(value: Datum<'d>, from: u32, to: Oid, arena: &'d Bump) -> Option<Datum<'d>> {
    let form = Form::of(to);
    let integer = match value {
        Datum::Int2(v) => Some(i64::from(v)),
        Datum::Int4(v) => Some(i64::from(v)),
        Datum::Int8(v) => Some(v),
        _ => None,
    };
    if let Some(integer) = integer {
        return match form {
            Form::Int2 => i16::try_from(integer).ok().map(Datum::Int2),
            Form::Int4 => i32::try_from(integer).ok().map(Datum::Int4),
            Form::Int8 => Some(Datum::Int8(integer)),
            Form::Numeric => Some(from_integer(arena, i128::from(integer))),
            Form::Float4 => Some(Datum::Float4(integer as f32)),
            Form::Float8 => Some(Datum::Float8(integer as f64)),
            _ => None,
        };
    }
    match (value, form) {
        (Datum::Numeric(stored), Form::Int2 | Form::Int4 | Form::Int8) => {
            let decimal = View::of(stored).finite()?.to_decimal();
            if !decimal.is_integer() {
                return None;
            }
            let whole = i64::try_from(decimal.to_i128()?).ok()?;
            converted_to(Datum::Int8(whole), oids::INT8, to, arena)
        }
        (Datum::Numeric(_), Form::Float8) => to_float(&value).ok().map(Datum::Float8),
        (Datum::Numeric(_), Form::Float4) => {
            to_float(&value).ok().map(|wide| Datum::Float4(wide as f32))
        }
        (Datum::Float4(narrow), Form::Float8) => Some(Datum::Float8(f64::from(narrow))),
        (Datum::Float8(wide), Form::Float4) => {
            let narrow = wide as f32;
            let same = wide.is_nan() || f64::from(narrow) == wide;
            same.then_some(Datum::Float4(narrow))
        }
        (Datum::Text(text), Form::Text) if from == oids::BPCHAR => {
            let kept = builtin::stand_in(to.0) == oids::BPCHAR;
            Some(Datum::Text(if kept { text } else { without_blanks(text) }))
        }
        (Datum::Date(day), Form::Timestamp) => match day {
            i32::MIN => Some(Datum::Timestamp(i64::MIN)),
            i32::MAX => Some(Datum::Timestamp(i64::MAX)),
            day => i64::from(day).checked_mul(DAY_US).map(Datum::Timestamp),
        },
        (Datum::Timestamp(moment), Form::Date) => match moment {
            i64::MIN => Some(Datum::Date(i32::MIN)),
            i64::MAX => Some(Datum::Date(i32::MAX)),
            moment if moment % DAY_US != 0 => None,
            moment => i32::try_from(moment / DAY_US).ok().map(Datum::Date),
        },
        _ => Some(value),
    }
}

/// Whether a referencing value and a referenced one are the same key.
#[must_use]
pub fn meets((child, from): (Datum<'_>, Oid), (parent, to): (Datum<'_>, Oid)) -> bool {
    let arena = Bump::new();
    converted_to(child, builtin::stand_in(from.0), to, &arena)
        .is_some_and(|child| crate::types::compare(to.0, &child, &parent).is_eq())
}

/// Whether at most one value of the type `child` meets a given one of the type `parent`, and [`converted`] gives it: then
/// the rows that refer to a row are found by a key of theirs.
#[must_use]
pub fn is_one_to_one(child: Oid, parent: Oid) -> bool {
    let (child, parent) = (builtin::stand_in(child.0), builtin::stand_in(parent.0));
    child == parent
        || is_integer(child) && (is_integer(parent) || parent == oids::NUMERIC)
        || is_text(child) && is_text(parent)
        || (child, parent) == (oids::FLOAT4, oids::FLOAT8)
        || (child, parent) == (oids::DATE, oids::TIMESTAMP)
}

/// Whether two values of one type are held alike, not only equal: 0 and -0 are not, nor 1.0 and 1.00.
#[must_use]
pub fn same_image(ty: Oid, a: &Datum<'_>, b: &Datum<'_>) -> bool {
    match (a, b) {
        (Datum::Float4(a), Datum::Float4(b)) => a.to_bits() == b.to_bits(),
        (Datum::Float8(a), Datum::Float8(b)) => a.to_bits() == b.to_bits(),
        (Datum::Numeric(a), Datum::Numeric(b))
        | (Datum::Array(a), Datum::Array(b))
        | (Datum::Record(a), Datum::Record(b))
        | (Datum::Jsonb(a), Datum::Jsonb(b)) => a == b,
        (Datum::Text(a), Datum::Text(b)) => a == b,
        (Datum::Interval(a), Datum::Interval(b)) => a == b,
        (a, b) => crate::types::compare(ty.0, a, b).is_eq(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_refer_as_postgres_lets_them() {
        assert_eq!(comparable(oids::INT4, oids::NUMERIC), Comparable::Yes);
        assert_eq!(comparable(oids::NUMERIC, oids::INT4), Comparable::No);
        assert_eq!(comparable(oids::FLOAT8, oids::NUMERIC), Comparable::No);
        assert_eq!(comparable(oids::DATE, oids::TIMESTAMPTZ), Comparable::NotYet);
        assert_eq!(comparable(oids::NAME, oids::BPCHAR), Comparable::No);
        assert_eq!(comparable(oids::TIME, oids::INTERVAL), Comparable::NotYet);
    }

    #[test]
    fn a_value_meets_what_is_equal_in_the_referenced_type() {
        let arena = Bump::new();
        let one = from_integer(&arena, 1);
        assert!(meets((Datum::Int4(1), Oid(oids::INT4)), (one, Oid(oids::NUMERIC))));
        assert!(meets((Datum::Int8(1), Oid(oids::INT8)), (Datum::Int4(1), Oid(oids::INT4))));
        assert!(meets((Datum::Int2(1), Oid(oids::INT2)), (Datum::Int8(1), Oid(oids::INT8))));
        let (wide, narrow) = (Oid(oids::FLOAT8), Oid(oids::FLOAT4));
        assert!(meets((Datum::Float8(0.5), wide), (Datum::Float4(0.5), narrow)));
        assert!(!meets((Datum::Float8(0.1), wide), (Datum::Float4(0.1), narrow)));
        let (day, moment) = (Oid(oids::DATE), Oid(oids::TIMESTAMP));
        assert!(meets((Datum::Timestamp(-DAY_US), moment), (Datum::Date(-1), day)));
        assert!(!meets((Datum::Timestamp(1), moment), (Datum::Date(0), day)));
        let (blank, text) = (Oid(oids::BPCHAR), Oid(oids::TEXT));
        assert!(meets((Datum::Text("a  "), blank), (Datum::Text("a"), text)));
        assert!(!meets((Datum::Text("a  "), blank), (Datum::Text("a  "), text)));
        assert!(meets((Datum::Text("a"), text), (Datum::Text("a  "), blank)));
    }
}
