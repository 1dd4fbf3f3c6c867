//! Whether conditions imply a partial index's predicate, and whether two scalars are the same.
//!
//! What PostgreSQL's `predtest.c` proves, and nothing else, since ON CONFLICT names an index by what can be proved: a
//! condition that is there word for word, comparisons by the default B-tree order of one value with two constants or
//! with the same other value, IS NOT NULL behind anything strict; AND, OR and lists of these on both sides. Where it
//! cannot be shown, the index is not used.

use super::functions::{Comparison, comparison, key_compatible};
use super::scalar::{Callee, Scalar};
use super::translate::constant;
use crate::bind::{Literal, Quantifier};
use crate::catalog::builtin;
use crate::types::array::Array;
use crate::types::{Datum, SqlType};
use bumpalo::Bump;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Whether two scalars are the same expression over the same homes.
#[must_use]
pub fn same(a: &Scalar, b: &Scalar) -> bool {
    alike(a, b) && {
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        a.children(&mut |part| parts.push(part));
        b.children(&mut |part| others.push(part));
        parts.len() == others.len() && parts.iter().zip(others).all(|(a, b)| same(a, b))
    }
}

/// Whether two scalars do the same with what is in them.
fn alike(a: &Scalar, b: &Scalar) -> bool {
    let calls = |one: &Callee, other: &Callee| one.oid == other.oid && !one.volatile;
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
        (Scalar::Call { callee, .. }, Scalar::Call { callee: other, .. }) => calls(callee, other),
        (Scalar::And(_), Scalar::And(_))
        | (Scalar::Or(_), Scalar::Or(_))
        | (Scalar::Not(_), Scalar::Not(_))
        | (Scalar::Coalesce(_), Scalar::Coalesce(_)) => true,
        (Scalar::IsNull(_, not), Scalar::IsNull(_, other_not)) => not == other_not,
        (Scalar::IsBool(_, value, not), Scalar::IsBool(_, other, other_not)) => {
            value == other && not == other_not
        }
        (Scalar::IsDistinct(_, _, equals, not), Scalar::IsDistinct(_, _, other, other_not)) => {
            calls(equals, other) && not == other_not
        }
        (Scalar::NullIf(_, _, equals), Scalar::NullIf(_, _, other)) => calls(equals, other),
        // What a simple CASE compares has another home in each.
        (
            Scalar::Case { operand: None, branches, otherwise },
            Scalar::Case { operand: None, branches: others, otherwise: other },
        ) => branches.len() == others.len() && otherwise.is_some() == other.is_some(),
        (Scalar::Extreme(_, _, greatest), Scalar::Extreme(_, _, other)) => greatest == other,
        (Scalar::Xml(_, call), Scalar::Xml(_, other)) => call == other,
        (Scalar::ViaText(_, from, to), Scalar::ViaText(_, other_from, other_to)) => {
            from == other_from && to == other_to
        }
        (Scalar::Array(_, ty, nested), Scalar::Array(_, other, other_nested)) => {
            ty == other && nested == other_nested
        }
        (
            Scalar::ScalarArray { callee, quantifier, .. },
            Scalar::ScalarArray { callee: other, quantifier: other_quantifier, .. },
        ) => calls(callee, other) && quantifier == other_quantifier,
        (Scalar::Field(_, field), Scalar::Field(_, other)) => field == other,
        _ => false,
    }
}

/// Whether all rows that meet the conditions meet the predicate.
#[must_use]
pub fn implies(conditions: &[Scalar], predicate: &Scalar) -> bool {
    Shape::All(conditions.iter().map(Cow::Borrowed).collect()).implies(predicate)
}

/// A list with more elements than this is not taken apart (`MAX_SAOP_ARRAY_SIZE`).
const ELEMENTS_MAX: usize = 100;

/// A condition as a proof sees it.
enum Shape<'s> {
    /// Each of them is true.
    All(Vec<Cow<'s, Scalar>>),
    /// One of them is.
    Any(Vec<Cow<'s, Scalar>>),
    /// It has no parts.
    One(&'s Scalar),
}

impl<'s> Shape<'s> {
    /// AND, OR and lists taken apart; what all arms of an OR have in common stands before it.
    fn of(scalar: &'s Scalar) -> Shape<'s> {
        match scalar {
            Scalar::And(parts) => Shape::All(parts.iter().map(Cow::Borrowed).collect()),
            Scalar::Or(arms) => Shape::of_arms(arms),
            Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
                let Some(elements) = elements(array) else { return Shape::One(scalar) };
                let each = elements.into_iter().map(|element| {
                    let arguments = Box::new([(**left).clone(), element]);
                    Cow::Owned(Scalar::Call { callee: callee.clone(), arguments, position: 0 })
                });
                match quantifier {
                    Quantifier::Any => Shape::Any(each.collect()),
                    Quantifier::All => Shape::All(each.collect()),
                }
            }
            other => Shape::One(other),
        }
    }

    fn of_arms(arms: &'s [Scalar]) -> Shape<'s> {
        let (first, others) = arms.split_first().expect("an OR has arms");
        let stands_in = |part: &Scalar, arm: &Scalar| parts(arm).iter().any(|one| same(one, part));
        let in_all = |part: &&Scalar| others.iter().all(|arm| stands_in(part, arm));
        let common: Vec<&Scalar> = parts(first).iter().filter(in_all).collect();
        if common.is_empty() {
            return Shape::Any(arms.iter().map(Cow::Borrowed).collect());
        }
        let rest = |arm: &Scalar| {
            let is_common = |part: &Scalar| common.iter().any(|one| same(one, part));
            let rest = parts(arm).iter().filter(|part| !is_common(part));
            let mut rest: Vec<Scalar> = rest.cloned().collect();
            match rest.len() {
                0 => None,
                1 => rest.pop(),
                _ => Some(Scalar::And(rest.into())),
            }
        };
        let rests: Option<Box<[Scalar]>> = arms.iter().map(rest).collect();
        let mut all: Vec<Cow<'_, Scalar>> =
            common.iter().map(|part| Cow::Borrowed(*part)).collect();
        // An arm with nothing else makes the others say nothing.
        all.extend(rests.map(|rests| Cow::Owned(Scalar::Or(rests))));
        Shape::All(all)
    }

    fn implies(&self, predicate: &Scalar) -> bool {
        let one_is_enough =
            |known: &[Cow<'_, Scalar>]| known.iter().any(|part| Shape::of(part).implies(predicate));
        match (self, &Shape::of(predicate)) {
            (_, Shape::All(wanted)) => wanted.iter().all(|part| self.implies(part)),
            (Shape::All(known), Shape::Any(arms)) => {
                arms.iter().any(|arm| self.implies(arm)) || one_is_enough(known)
            }
            (Shape::All(known), Shape::One(_)) => one_is_enough(known),
            (Shape::Any(known), Shape::Any(arms)) => known.iter().all(|part| {
                let part = Shape::of(part);
                arms.iter().any(|arm| part.implies(arm))
            }),
            (Shape::Any(known), Shape::One(_)) => {
                known.iter().all(|part| Shape::of(part).implies(predicate))
            }
            (Shape::One(_), Shape::Any(arms)) => arms.iter().any(|arm| self.implies(arm)),
            (Shape::One(known), Shape::One(wanted)) => one_implies(known, wanted),
        }
    }
}

/// What an arm of an OR demands.
fn parts(arm: &Scalar) -> &[Scalar] {
    match arm {
        Scalar::And(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

/// The elements of a list, if they are few and can be told apart.
fn elements(array: &Scalar) -> Option<Vec<Scalar>> {
    match array {
        Scalar::Array(elements, _, false) if elements.len() <= ELEMENTS_MAX => {
            Some(elements.to_vec())
        }
        Scalar::Constant(row, _) => {
            let Datum::Array(bytes) = row.get(0) else { return None };
            let array = Array::of(bytes);
            if array.len() > ELEMENTS_MAX {
                return None;
            }
            let arena = Bump::new();
            let ty = SqlType::plain(array.element);
            let datums = array.datums(&arena);
            datums.map(|datum| Some(constant(&Literal::of(&datum.ok()?), ty))).collect()
        }
        _ => None,
    }
}

/// Whether a condition without parts implies another.
fn one_implies(condition: &Scalar, predicate: &Scalar) -> bool {
    if same(condition, predicate) || is_commuted(condition, predicate) {
        return true;
    }
    if let Scalar::IsNull(value, true) = predicate {
        return is_strict_in(condition, value, true);
    }
    let (Some(known), Some(wanted)) = (Compared::of(condition), Compared::of(predicate)) else {
        return false;
    };
    let wanted = [wanted.swapped(), wanted];
    [known.swapped(), known].iter().any(|known| wanted.iter().any(|wanted| known.implies(wanted)))
}

/// By the function of an operator, that of the one that says the same with its operands exchanged.
static COMMUTATORS: LazyLock<HashMap<u32, u32>> = LazyLock::new(|| {
    let functions: HashMap<u32, u32> =
        builtin::operators().iter().map(|operator| (operator.oid, operator.function)).collect();
    let commuted = builtin::operators()
        .iter()
        .filter_map(|operator| Some((operator.function, *functions.get(&operator.commutator)?)));
    commuted.collect()
});

/// Whether two conditions are the same but for the order of their operands.
fn is_commuted(condition: &Scalar, predicate: &Scalar) -> bool {
    fn operands(scalar: &Scalar) -> Option<(u32, &Scalar, &Scalar)> {
        let Scalar::Call { callee, arguments, .. } = scalar else { return None };
        let [left, right] = &**arguments else { return None };
        (!callee.volatile).then_some((callee.oid, left, right))
    }
    let (Some((known, left, right)), Some((wanted, other_left, other_right))) =
        (operands(condition), operands(predicate))
    else {
        return false;
    };
    COMMUTATORS.get(&known) == Some(&wanted) && same(left, other_right) && same(right, other_left)
}

/// Whether a condition is not true where `value` is NULL: it is NULL there or, where that is enough, false.
fn is_strict_in(condition: &Scalar, value: &Scalar, or_false: bool) -> bool {
    let within = |part: &Scalar| is_strict_in(part, value, false);
    same(condition, value)
        || match condition {
            Scalar::Call { callee, arguments, .. } => callee.strict && arguments.iter().any(within),
            Scalar::ViaText(operand, ..) | Scalar::ArrayCast { operand, .. } => within(operand),
            Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
                let nothing_is_false = or_false && *quantifier == Quantifier::Any;
                callee.strict && within(left) && (nothing_is_false || has_elements(array))
                    || within(array)
            }
            _ => false,
        }
}

/// Whether an array is known to have elements.
fn has_elements(array: &Scalar) -> bool {
    match array {
        Scalar::Array(elements, _, nested) => !nested && !elements.is_empty(),
        Scalar::Constant(row, _) => match row.get(0) {
            Datum::Array(bytes) => !Array::of(bytes).is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// How two values may stand to each other where a comparison is true of them: less, equal, greater.
type Orders = [bool; 3];

/// A comparison of the default B-tree order of its operands' types.
#[derive(Clone, Copy)]
struct Compared<'s> {
    left: &'s Scalar,
    orders: Orders,
    right: &'s Scalar,
}

/// The functions of those `<>` that are the opposite of a comparison's `=`.
static UNEQUAL: LazyLock<HashSet<u32>> = LazyLock::new(|| {
    let is_opposite = |unequal: &&&builtin::Operator| {
        builtin::operators().iter().any(|equal| {
            equal.oid == unequal.negator
                && matches!(comparison(equal.function), Some((Comparison::Equal, ..)))
        })
    };
    let unequal = builtin::operators_named("<>", false).iter();
    unequal.filter(is_opposite).map(|unequal| unequal.function).collect()
});

impl<'s> Compared<'s> {
    fn of(scalar: &'s Scalar) -> Option<Compared<'s>> {
        let Scalar::Call { callee, arguments, .. } = scalar else { return None };
        let [left, right] = &**arguments else { return None };
        let orders = match comparison(callee.oid) {
            Some((Comparison::Less, ..)) => [true, false, false],
            Some((Comparison::LessEqual, ..)) => [true, true, false],
            Some((Comparison::Equal, ..)) => [false, true, false],
            Some((Comparison::GreaterEqual, ..)) => [false, true, true],
            Some((Comparison::Greater, ..)) => [false, false, true],
            None if UNEQUAL.contains(&callee.oid) => [true, false, true],
            None => return None,
        };
        Some(Compared { left, orders, right })
    }

    /// The same with its operands exchanged.
    fn swapped(self) -> Compared<'s> {
        let [less, equal, greater] = self.orders;
        Compared { left: self.right, orders: [greater, equal, less], right: self.left }
    }

    /// Whether it implies another comparison of its left operand.
    fn implies(&self, wanted: &Compared<'_>) -> bool {
        if !same(self.left, wanted.left) {
            return false;
        }
        let [less, _, greater] = self.orders;
        let within = self.orders.iter().zip(wanted.orders).all(|(known, wanted)| !known || wanted);
        if same(self.right, wanted.right) {
            return within;
        }
        let (Scalar::Constant(known, ty), Scalar::Constant(limit, other)) =
            (self.right, wanted.right)
        else {
            return false;
        };
        let (known, limit) = (known.get(0), limit.get(0));
        // Compared with NULL it is never true.
        if known.is_null() || limit.is_null() {
            return known.is_null();
        }
        if !(ty.oid == other.oid || key_compatible(ty.oid, other.oid)) {
            return false;
        }
        match crate::types::compare(ty.oid.0, &limit, &known) {
            Ordering::Equal => within,
            // What is not greater than the one constant is less than the other.
            Ordering::Greater => !greater && wanted.orders[0],
            Ordering::Less => !less && wanted.orders[2],
        }
    }
}
