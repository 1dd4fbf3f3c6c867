//! How many rows, at what cost: figures that order plans, not predictions.
//!
//! A cost counts rows touched: reading a row of a tree in order is one, going down a tree to a key is [`DESCENT`].
//! EXPLAIN shows it in PostgreSQL's unit for a row, `cpu_tuple_cost`. Pages have no part in it: a plan cannot know which
//! of them are in memory, and a clustered tree reads few of them for many rows.

use super::figures::{Figures, type_width};
use super::physical::{Aggregate, Join, JoinMethod, Plan, Reach, SetColumn};
use super::scalar::Scalar;
use super::vars;
use crate::bind::logical::{JoinKind, SetKind};
use crate::catalog::built_in_rows;
use crate::types::{Datum, SqlType};

/// What a descent from the root of a tree costs, in rows touched in a scan.
pub const DESCENT: f64 = 4.0;
/// PostgreSQL's `cpu_tuple_cost`: what one row touched is shown as.
pub const ROW_COST: f64 = 0.01;
/// Rows of a set-returning function (`prorows`).
const FUNCTION_ROWS: f64 = 1000.0;
/// What it costs to have the catalog find the rows of one key.
const SYSTEM_KEY_COST: f64 = 4.0;
/// The width of a computed value of which nothing is known.
const VALUE_WIDTH: f64 = 8.0;

/// What a plan is expected to give, and at what cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Rows.
    pub rows: f64,
    /// What it costs before the first row is there.
    pub startup: f64,
    /// What it costs to the last row.
    pub cost: f64,
    /// The mean size of a row in bytes.
    pub width: f64,
}

/// What a plan is expected to give.
#[must_use]
pub fn of(figures: &Figures<'_>, plan: &Plan) -> Estimate {
    let inputs: Vec<Estimate> =
        vars::inputs(plan).into_iter().map(|input| of(figures, input)).collect();
    of_node(figures, plan, &inputs)
}

/// What LIMIT or OFFSET say, where that is known.
fn count(scalar: &Scalar) -> Option<f64> {
    match scalar {
        Scalar::Constant(row, _) => match row.get(0) {
            Datum::Int8(count) => Some((count as f64).max(0.0)),
            _ => None,
        },
        _ => None,
    }
}

/// How many rows LIMIT and OFFSET want of what is below them, where that is known.
#[must_use]
pub fn first_rows(limit: Option<&Scalar>, offset: Option<&Scalar>) -> Option<f64> {
    Some(count(limit?)? + offset.map_or(Some(0.0), count)?)
}

/// What a plan is expected to give whose inputs, in the order of [`vars::inputs`], are expected to give this.
#[must_use]
pub fn of_node(figures: &Figures<'_>, plan: &Plan, inputs: &[Estimate]) -> Estimate {
    let leaf = |rows: f64, cost: f64, width: f64| Estimate { rows, startup: 0.0, cost, width };
    match plan {
        Plan::Unit => leaf(1.0, 1.0, 0.0),
        Plan::Nothing => leaf(0.0, 0.0, 0.0),
        Plan::Scan(scan) => {
            let read = (0..scan.outputs.len()).filter(|at| scan.wanted[*at]);
            let homes = read.map(|at| super::Var { slot: scan.slot, column: at as u32 });
            let width = homes.filter_map(|var| figures.width(var)).fold(0.0, std::ops::Add::add);
            leaf(scan.rows, scan.cost, width)
        }
        Plan::System(scan) => {
            let all = built_in_rows::expected_rows(&scan.relation, figures.facts().relations());
            let width = VALUE_WIDTH * scan.outputs.len() as f64;
            let rows = (all * figures.all(&scan.filter)).max(1.0);
            leaf(rows, if scan.is_keyed() { SYSTEM_KEY_COST } else { all }, width)
        }
        Plan::Function(scan) => {
            leaf(FUNCTION_ROWS, FUNCTION_ROWS, VALUE_WIDTH * scan.types.len() as f64)
        }
        Plan::Values(_, rows) => {
            let count = rows.len() as f64;
            leaf(count, count, rows.first().map_or(0.0, |row| width_of(figures, row)))
        }
        Plan::Constants(_, rows) => {
            let count = rows.len() as f64;
            leaf(count, count, VALUE_WIDTH * rows.width() as f64)
        }
        Plan::Cte(scan) => {
            let widths = scan.columns.iter().map(|(_, ty)| type_width(*ty));
            let width = widths.fold(0.0, std::ops::Add::add);
            leaf(100.0, 100.0, width)
        }
        Plan::OneTimeFilter(_, conjuncts) if super::fold::never(conjuncts) => leaf(0.0, 0.0, 0.0),
        Plan::OneTimeFilter(..) => inputs[0],
        Plan::Filter(_, conjuncts) => {
            let input = inputs[0];
            let rows = (input.rows * figures.all(conjuncts)).max(1.0);
            Estimate { rows, cost: input.cost + input.rows, ..input }
        }
        Plan::Project(_, _, columns) => {
            let input = inputs[0];
            Estimate { width: input.width + width_of(figures, columns), ..input }
        }
        Plan::WithCtes(..) | Plan::Materialize(..) | Plan::Barrier(..) => inputs[0],
        Plan::ProjectSet(_, _, columns) => {
            let input = inputs[0];
            let sets = columns.iter().any(|column| matches!(column, SetColumn::Set(..)));
            let rows = if sets { input.rows * FUNCTION_ROWS } else { input.rows };
            let width = input.width + VALUE_WIDTH * columns.len() as f64;
            Estimate { rows, cost: input.cost + rows, width, ..input }
        }
        Plan::Join(join) => of_join(join, inputs[0], inputs[1]),
        Plan::Aggregate(aggregate) => of_aggregate(figures, aggregate, inputs[0]),
        Plan::Distinct(distinct) => {
            let input = inputs[0];
            let keys: Vec<&Scalar> = distinct.keys.iter().map(|(key, _)| key).collect();
            let rows = groups(figures, &keys, input.rows);
            Estimate { rows, cost: input.cost + input.rows, ..input }
        }
        Plan::Window(window) => {
            let input = inputs[0];
            let keys: Vec<&Scalar> = window.partition_by.iter().map(|(key, _)| key).collect();
            let read = match window.reach() {
                Reach::Row | Reach::Peers => 0.0,
                Reach::Partition => 1.0 / groups(figures, &keys, input.rows),
            };
            let startup = input.startup + (input.cost - input.startup) * read;
            let width = input.width + VALUE_WIDTH * window.calls.len() as f64;
            Estimate { startup, cost: input.cost + input.rows, width, ..input }
        }
        Plan::Sort(sort) => {
            let input = inputs[0];
            let presorted = sort.keys[..sort.presorted].iter().map(|(key, _)| key);
            let parts = groups(figures, &presorted.collect::<Vec<_>>(), input.rows);
            let compared = input.rows * (input.rows / parts).max(2.0).log2() / 4.0;
            let startup = input.startup + (input.cost - input.startup + compared) / parts;
            Estimate { startup, cost: input.cost + compared + input.rows, ..input }
        }
        Plan::Limit(limit) => {
            let input = inputs[0];
            let number = |scalar: &Option<Scalar>| scalar.as_ref().and_then(count);
            let skipped = number(&limit.offset).unwrap_or(0.0).min(input.rows);
            let left = (input.rows - skipped).max(1.0);
            let rows = match (&limit.limit, number(&limit.limit)) {
                (_, Some(count)) => count.clamp(1.0, left),
                // A count that is not known yet is a tenth of all (`preprocess_limit`).
                (Some(_), None) => (left / 10.0).max(1.0),
                (None, None) => left,
            };
            let part = ((rows + skipped) / input.rows.max(1.0)).min(1.0);
            let cost = input.startup + (input.cost - input.startup) * part;
            Estimate { rows, cost, ..input }
        }
        Plan::SetOperation(set) => {
            let (left, right) = (inputs[0], inputs[1]);
            let cost = left.cost + right.cost + left.rows + right.rows;
            let rows = match set.kind {
                SetKind::Union => left.rows + right.rows,
                SetKind::Intersect => left.rows.min(right.rows),
                SetKind::Except => left.rows,
            };
            let plain = set.kind == SetKind::Union && set.all;
            let startup = if plain { left.startup } else { cost };
            Estimate { rows, startup, cost, width: left.width }
        }
        Plan::LockRows(_) => {
            let input = inputs[0];
            Estimate { cost: input.cost + input.rows, ..input }
        }
        Plan::Modify(modify) => {
            let input = inputs[0];
            // What it writes it would write under any plan.
            let rows = if modify.returning.is_some() { input.rows } else { 0.0 };
            let width = modify.returning.as_ref().map_or(0.0, |row| width_of(figures, &row.1));
            Estimate { rows, width, ..input }
        }
    }
}

/// What a join of two sides that are expected to give this is expected to give.
#[must_use]
pub fn of_join(join: &Join, left: Estimate, right: Estimate) -> Estimate {
    let startup = match join.method {
        JoinMethod::Hash { .. } => left.startup + right.cost,
        JoinMethod::NestedLoop => left.startup + right.startup,
    };
    let narrow = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
    let width = if narrow { left.width } else { left.width + right.width };
    Estimate { rows: join.rows, startup, cost: join.cost.max(startup), width }
}

fn of_aggregate(figures: &Figures<'_>, aggregate: &Aggregate, input: Estimate) -> Estimate {
    let mut rows = 0.0;
    for set in &aggregate.sets {
        let keys: Vec<&Scalar> = set.iter().map(|at| &aggregate.keys[*at as usize].0).collect();
        rows += groups(figures, &keys, input.rows);
    }
    let keys = aggregate.keys.iter().map(|(_, ty)| type_width(SqlType::plain(ty.0)));
    let calls = aggregate.calls.iter().map(|call| type_width(call.types.result));
    let width = keys.chain(calls).fold(0.0, std::ops::Add::add);
    let cost = input.cost + input.rows * (1.0 + aggregate.calls.len() as f64) / 2.0;
    // Groups that come in order go out one by one.
    let startup =
        if !aggregate.ordered.is_empty() { input.startup + cost / rows.max(1.0) } else { cost };
    Estimate { rows, startup, cost: cost + rows, width }
}

/// How many different rows of these expressions there are (`estimate_num_groups`, without its care for columns that go
/// together).
pub fn groups(figures: &Figures<'_>, keys: &[&Scalar], rows: f64) -> f64 {
    let mut groups = 1.0;
    for key in keys {
        groups *= figures.distinct(key, rows);
    }
    groups.min(rows).max(1.0)
}

fn width_of(figures: &Figures<'_>, columns: &[Scalar]) -> f64 {
    let width = |scalar: &Scalar| match scalar {
        Scalar::Var(var) => figures.width(*var).unwrap_or(VALUE_WIDTH),
        Scalar::Constant(row, ty) if !row.get(0).is_null() => type_width(*ty),
        _ => VALUE_WIDTH,
    };
    // A sum of no floats would be -0.
    columns.iter().map(width).fold(0.0, std::ops::Add::add)
}
