//! Conditions in the order in which they are asked: what costs less comes first, and what costs the same stays as it is
//! written (`order_qual_clauses` and `cost_qual_eval` in PostgreSQL's `createplan.c` and `costsize.c`).
//!
//! Users see more of it than time: a row that a cheap condition has dropped is never shown to one that fails on it, as
//! `10 / a > 1 AND a <> 0` does where the first one is asked first.

use super::estimate::{self, Estimate, ROW_COST};
use super::figures::Figures;
use super::join_order;
use super::physical::Plan;
use super::scalar::{Callee, Scalar};
use super::subplan::{Subplan, SubplanKind};
use crate::catalog::builtin;
use crate::settings::Rule;
use crate::types::Datum;
use crate::types::array::Array;

/// `cpu_operator_cost`, in rows touched.
const OPERATOR_COST: f64 = 0.0025 / ROW_COST;
/// How many elements an array has of which nothing is known.
const ELEMENTS: f64 = 10.0;
/// From so many constants on PostgreSQL looks an operand up in a hash table of them.
const HASHED_ELEMENTS_MIN: f64 = 9.0;

/// What asking for things costs, in operators.
#[derive(Debug)]
pub struct Costs {
    /// Of each subquery, for one row.
    subplans: Vec<f64>,
    /// Conditions are put in order by it.
    orders: bool,
}

impl Costs {
    /// Of a program's subqueries, those that are run anew for each row marked.
    #[must_use]
    pub fn of(figures: &Figures<'_>, subplans: &[Subplan], correlated: &[bool]) -> Costs {
        let orders = figures.methods().rules.has(Rule::OrderConditions);
        let mut costs = Costs { subplans: Vec::with_capacity(subplans.len()), orders };
        for (subplan, correlated) in subplans.iter().zip(correlated) {
            let cost = match &subplan.kind {
                SubplanKind::Hashed(hashed) => costs.scalar(&hashed.test),
                // What is known before the first row costs none of them anything.
                _ if !correlated => 0.0,
                kind => {
                    let Estimate { rows, startup, cost, .. } = estimate::of(figures, &subplan.plan);
                    let run = (cost - startup).max(0.0);
                    let wanted = match kind {
                        SubplanKind::Exists => run / rows.max(1.0),
                        SubplanKind::Quantified(..) => run / 2.0,
                        _ => run,
                    };
                    let again =
                        if matches!(subplan.plan, Plan::Materialize(..)) { 0.0 } else { startup };
                    let tests = match kind {
                        SubplanKind::Quantified(test, _) => costs.scalar(test) * rows / 2.0,
                        _ => 0.0,
                    };
                    (again + wanted) / OPERATOR_COST + tests
                }
            };
            costs.subplans.push(cost);
        }
        costs
    }

    /// Puts conditions in order. Of those that cost the same equalities come last: PostgreSQL makes them anew from its
    /// equivalence classes, behind what else was written.
    pub fn order(&self, conditions: &mut [Scalar]) {
        if self.orders && conditions.len() > 1 {
            conditions.sort_by_cached_key(|condition| {
                (Ordered(self.scalar(condition)), join_order::is_equality(condition))
            });
        }
    }

    /// Puts the conditions of an outer join in order: what may not hold is no equivalence.
    pub fn order_outer(&self, conditions: &mut [Scalar]) {
        if self.orders && conditions.len() > 1 {
            conditions.sort_by_cached_key(|condition| Ordered(self.scalar(condition)));
        }
    }

    /// What evaluating a scalar costs, all of it: which branch of a CASE is taken nobody knows.
    fn scalar(&self, scalar: &Scalar) -> f64 {
        let mut cost = 0.0;
        scalar.walk(&mut |part| {
            cost += self.own(part);
            true
        });
        cost
    }

    /// What a scalar costs beside those within it.
    fn own(&self, scalar: &Scalar) -> f64 {
        match scalar {
            Scalar::Call { callee, .. }
            | Scalar::IsDistinct(_, _, callee, _)
            | Scalar::NullIf(_, _, callee) => procedure(callee),
            Scalar::ScalarArray { callee, array, .. } => match constant_elements(array) {
                Some(count) if count >= HASHED_ELEMENTS_MIN => 2.0 * procedure(callee),
                count => procedure(callee) * count.unwrap_or_else(|| elements(array)) / 2.0,
            },
            Scalar::ArrayCast { operand, element, .. } => {
                self.scalar(element) * (elements(operand) - 1.0).max(0.0)
            }
            // The output function of one type, and the input function of another.
            Scalar::ViaText(..) => 2.0,
            Scalar::Extreme(..) | Scalar::CurrentValue(_) | Scalar::Xml(..) => 1.0,
            Scalar::Subquery(number) => {
                self.subplans.get(*number as usize).copied().unwrap_or_default()
            }
            Scalar::Constant(..)
            | Scalar::Var(_)
            | Scalar::Parameter(_)
            | Scalar::And(_)
            | Scalar::Or(_)
            | Scalar::Not(_)
            | Scalar::IsNull(..)
            | Scalar::IsBool(..)
            | Scalar::Case { .. }
            | Scalar::Coalesce(_)
            | Scalar::Array(..)
            | Scalar::Subscript { .. }
            | Scalar::Row(..)
            | Scalar::Assign(..)
            | Scalar::Field(..) => 0.0,
        }
    }
}

/// `procost`.
fn procedure(callee: &Callee) -> f64 {
    builtin::function(callee.oid).map_or(1.0, |function| f64::from(function.cost))
}

/// How many elements a constant array has.
fn constant_elements(array: &Scalar) -> Option<f64> {
    match array {
        Scalar::Constant(row, _) => match row.get(0) {
            Datum::Array(bytes) => Some(Array::of(bytes).len() as f64),
            _ => None,
        },
        _ => None,
    }
}

/// How many elements an array is expected to have (`estimate_array_length`).
fn elements(array: &Scalar) -> f64 {
    match array {
        Scalar::Array(all, _, false) => all.len() as f64,
        other => constant_elements(other).unwrap_or(ELEMENTS),
    }
}

/// A cost as a key to sort by: none is a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
