//! Whether conditions imply a partial index's predicate, and whether two scalars are the same.
//!
//! As PostgreSQL's `predtest.c` in what OLTP statements ask for: a condition that is there word for word, comparisons of
//! one value with constants, IS NOT NULL behind anything strict, AND and OR. Where it cannot be shown, the index is not
//! used.

use super::functions::{Comparison, comparison};
use super::scalar::Scalar;
use std::cmp::Ordering;

/// Whether two scalars are the same expression over the same homes.
#[must_use]
pub fn same(a: &Scalar, b: &Scalar) -> bool {
    let all =
        |a: &[Scalar], b: &[Scalar]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    match (a, b) {
        (Scalar::Constant(one, ty), Scalar::Constant(other, other_ty)) => {
            let (one, other) = (one.get(0), other.get(0));
            ty.oid == other_ty.oid
                && match (one.is_null(), other.is_null()) {
                    (false, false) => crate::types::compare(ty.oid.0, &one, &other).is_eq(),
                    (one, other) => one == other,
                }
        }
        (Scalar::Var(a), Scalar::Var(b)) => a == b,
        (Scalar::Parameter(a), Scalar::Parameter(b)) => a == b,
        (
            Scalar::Call { callee, arguments, .. },
            Scalar::Call { callee: other, arguments: others, .. },
        ) => callee.oid == other.oid && !callee.volatile && all(arguments, others),
        (Scalar::And(a), Scalar::And(b))
        | (Scalar::Or(a), Scalar::Or(b))
        | (Scalar::Coalesce(a), Scalar::Coalesce(b)) => all(a, b),
        (Scalar::Not(a), Scalar::Not(b)) => same(a, b),
        (Scalar::IsNull(a, not), Scalar::IsNull(b, other_not)) => not == other_not && same(a, b),
        (Scalar::IsBool(a, value, not), Scalar::IsBool(b, other, other_not)) => {
            value == other && not == other_not && same(a, b)
        }
        (Scalar::ViaText(a, from, to), Scalar::ViaText(b, other_from, other_to)) => {
            from == other_from && to == other_to && same(a, b)
        }
        _ => false,
    }
}

/// Whether all rows that meet the conditions meet the predicate.
#[must_use]
pub fn implies(conditions: &[Scalar], predicate: &Scalar) -> bool {
    match predicate {
        Scalar::And(parts) => parts.iter().all(|part| implies(conditions, part)),
        _ => {
            conditions.iter().any(|condition| one_implies(condition, predicate))
                || matches!(predicate, Scalar::Or(arms)
                    if arms.iter().any(|arm| implies(conditions, arm)))
        }
    }
}

fn one_implies(condition: &Scalar, predicate: &Scalar) -> bool {
    if same(condition, predicate) {
        return true;
    }
    match (condition, predicate) {
        (Scalar::And(parts), _) => parts.iter().any(|part| one_implies(part, predicate)),
        (Scalar::Or(arms), _) => {
            arms.iter().all(|arm| implies(std::slice::from_ref(arm), predicate))
        }
        (_, Scalar::IsNull(value, true)) => is_strict_in(condition, value),
        _ => match (against_constant(condition), against_constant(predicate)) {
            (Some(known), Some(wanted)) => known.implies(&wanted),
            _ => false,
        },
    }
}

/// Whether a condition is not true where `value` is NULL.
fn is_strict_in(condition: &Scalar, value: &Scalar) -> bool {
    let Scalar::Call { callee, arguments, .. } = condition else { return false };
    callee.strict
        && arguments.iter().any(|argument| same(argument, value) || is_strict_in(argument, value))
}

/// `value comparison constant`.
struct Compared<'s> {
    value: &'s Scalar,
    kind: Comparison,
    constant: &'s Scalar,
}

fn against_constant(scalar: &Scalar) -> Option<Compared<'_>> {
    let Scalar::Call { callee, arguments, .. } = scalar else { return None };
    let [left, right] = &**arguments else { return None };
    let (kind, ..) = comparison(callee.oid)?;
    match (left, right) {
        (value, constant @ Scalar::Constant(..)) => Some(Compared { value, kind, constant }),
        (constant @ Scalar::Constant(..), value) => {
            Some(Compared { value, kind: kind.swapped(), constant })
        }
        _ => None,
    }
}

impl Compared<'_> {
    fn implies(&self, wanted: &Compared<'_>) -> bool {
        use Comparison::{Equal, Greater, GreaterEqual, Less, LessEqual};
        let (Scalar::Constant(known, ty), Scalar::Constant(limit, other)) =
            (self.constant, wanted.constant)
        else {
            return false;
        };
        let (known, limit) = (known.get(0), limit.get(0));
        if ty.oid != other.oid || known.is_null() || limit.is_null() {
            return false;
        }
        if !same(self.value, wanted.value) {
            return false;
        }
        let order = crate::types::compare(ty.oid.0, &known, &limit);
        match (self.kind, wanted.kind) {
            (Equal, Equal) => order == Ordering::Equal,
            (Greater, Greater) => order != Ordering::Less,
            (Equal | GreaterEqual, Greater) => order == Ordering::Greater,
            (Equal | Greater | GreaterEqual, GreaterEqual) => order != Ordering::Less,
            (Less, Less) => order != Ordering::Greater,
            (Equal | LessEqual, Less) => order == Ordering::Less,
            (Equal | Less | LessEqual, LessEqual) => order != Ordering::Greater,
            _ => false,
        }
    }
}
