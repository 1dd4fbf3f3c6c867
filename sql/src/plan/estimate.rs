//! How many rows, at what cost: coarse figures that order plans, not predictions.
//!
//! A table that was never analysed counts as [`UNKNOWN_ROWS`]. Selectivities are PostgreSQL's defaults
//! (`selfuncs.h`): an equality one in two hundred, a range one in three.

use super::functions::{Comparison, comparison};
use super::physical::Plan;
use super::scalar::Scalar;
use crate::catalog::Relation;
use crate::plan::logical::{JoinKind, SetKind};

/// Rows of a table that nobody has counted.
pub const UNKNOWN_ROWS: f64 = 1000.0;
/// The part of the rows that an equality keeps.
pub const EQUAL: f64 = 0.005;
/// The part that a range condition keeps.
pub const RANGE: f64 = 0.333;
/// What a descent from the root of a tree costs, in rows touched in a scan.
pub const DESCENT: f64 = 4.0;
/// Rows of a set-returning function.
const FUNCTION_ROWS: f64 = 1000.0;

/// A table's rows.
#[must_use]
pub fn table_rows(relation: &Relation) -> f64 {
    if relation.row_estimate < 0.0 { UNKNOWN_ROWS } else { relation.row_estimate.max(1.0) }
}

/// The part of the rows that a condition keeps.
#[must_use]
pub fn selectivity(condition: &Scalar) -> f64 {
    match condition {
        Scalar::Call { callee, .. } => match comparison(callee.oid) {
            Some((Comparison::Equal, ..)) => EQUAL,
            Some(_) => RANGE,
            None => 0.3,
        },
        Scalar::And(all) => all.iter().map(selectivity).product(),
        Scalar::Or(all) => all.iter().map(selectivity).sum::<f64>().min(1.0),
        Scalar::Not(one) => 1.0 - selectivity(one),
        Scalar::IsNull(_, negated) => {
            if *negated {
                0.99
            } else {
                EQUAL
            }
        }
        Scalar::ScalarArray { .. } => EQUAL * 10.0,
        _ => 0.5,
    }
}

/// Rows and cost of a plan.
#[must_use]
pub fn of(plan: &Plan) -> (f64, f64) {
    match plan {
        Plan::Unit => (1.0, 0.0),
        Plan::Nothing => (0.0, 0.0),
        Plan::Scan(scan) => (scan.rows, scan.cost),
        Plan::System(scan) => {
            let rows = if scan.keys.is_empty() { 500.0 } else { 2.0 };
            let kept: f64 = scan.filter.iter().map(selectivity).product();
            ((rows * kept).max(1.0), rows)
        }
        Plan::Function(_) => (FUNCTION_ROWS, FUNCTION_ROWS),
        Plan::Values(_, rows) => (rows.len() as f64, rows.len() as f64),
        Plan::Cte(..) => (100.0, 100.0),
        Plan::Filter(input, conjuncts) => {
            let (rows, cost) = of(input);
            ((rows * conjuncts.iter().map(selectivity).product::<f64>()).max(1.0), cost + rows)
        }
        Plan::Project(input, ..) | Plan::WithCtes(input, _) | Plan::Materialize(input, _) => {
            of(input)
        }
        Plan::ProjectSet(input, ..) => {
            let (rows, cost) = of(input);
            (rows * 10.0, cost + rows * 10.0)
        }
        Plan::Join(join) => match join.kind {
            JoinKind::Semi | JoinKind::Anti => ((of(&join.left).0 / 2.0).max(1.0), join.cost),
            _ => (join.rows, join.cost),
        },
        Plan::Aggregate(aggregate) => {
            let (rows, cost) = of(&aggregate.input);
            let groups = if aggregate.keys.is_empty() { 1.0 } else { (rows / 10.0).max(1.0) };
            (groups, cost + rows)
        }
        Plan::Distinct(input, _) => {
            let (rows, cost) = of(input);
            ((rows / 2.0).max(1.0), cost + rows)
        }
        Plan::Window(window) => {
            let (rows, cost) = of(&window.input);
            (rows, cost + rows * rows.max(2.0).log2())
        }
        Plan::Sort(sort) => {
            let (rows, cost) = of(&sort.input);
            (rows, cost + rows * rows.max(2.0).log2())
        }
        Plan::Limit(limit) => {
            let (rows, cost) = of(&limit.input);
            let wanted = match &limit.limit {
                Some(Scalar::Constant(row)) => match row.get(0) {
                    crate::types::Datum::Int8(count) => count as f64,
                    _ => rows,
                },
                _ => rows,
            };
            (rows.min(wanted.max(1.0)), cost)
        }
        Plan::SetOperation(set) => {
            let (left, right) = (of(&set.left.0), of(&set.right.0));
            let rows = match set.kind {
                SetKind::Union => left.0 + right.0,
                SetKind::Intersect | SetKind::Except => left.0,
            };
            (rows, left.1 + right.1 + left.0 + right.0)
        }
        Plan::LockRows(lock) => of(&lock.input),
        Plan::Modify(_) => (1.0, 1.0),
    }
}
