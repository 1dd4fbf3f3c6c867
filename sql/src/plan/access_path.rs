//! How a table is read: by its key, through an index, or all of it.
//!
//! Every key of the table is tried: the longest run of first columns that have a value (`column = value`), then bounds on
//! the next one. A unique key with all its values is one record. What the key says need not be checked again, except that
//! the value found in an index may be older or newer than the index entry never is: entries are records of their own,
//! judged by the same snapshot as the row.

use super::build::Planner;
use super::estimate::DESCENT;
use super::functions::{Comparison, comparison, key_compatible};
use super::physical::{Access, KeyAccess, Plan, Scan, ScanColumn, SystemScan};
use super::scalar::{Scalar, Var};
use super::vars;
use crate::catalog::RelationKind;
use crate::tuple::KeyLayout;
use std::collections::BTreeSet;
use txn::Direction;

/// A table counts as this large where all of it would be read beside a key that could be used: a plan is kept while its
/// table grows, and a small one costs next to nothing either way.
const GROWTH_ROWS: f64 = 200.0;

/// A condition on one column that a key can take over.
struct KeyCondition<'c> {
    at: usize,
    column: usize,
    comparison: Comparison,
    value: &'c Scalar,
}

/// A scan with these conditions added and its best access. `later` says which homes are not filled yet when the scan
/// begins.
pub fn choose(
    planner: &Planner<'_>,
    mut scan: Scan,
    conjuncts: Vec<Scalar>,
    later: &dyn Fn(Var) -> bool,
) -> Plan {
    let mut all = std::mem::take(&mut scan.filter);
    all.extend(conjuncts);
    let conditions = conditions(planner, &scan, &all, later);
    let figures = &planner.figures;
    let total = figures.rows(scan.slot);
    let kept = figures.all(&all);
    scan.rows = (total * kept).max(1.0);
    scan.cost = total;
    let mut best: Option<(f64, f64, KeyAccess, Vec<usize>)> = None;
    for (index, tree, layout, unique) in keys(&scan) {
        let Some((access, used)) = key_access(index, tree, layout, unique, &conditions) else {
            continue;
        };
        let rows = if access.point {
            1.0
        } else {
            let used: Vec<&Scalar> = used.iter().map(|at| &all[*at]).collect();
            (total * figures.all_of(&used)).max(1.0)
        };
        // A secondary index costs a second descent for every row, less where the rows follow its order.
        let row = match access.index {
            Some(_) => {
                let first = Var { slot: scan.slot, column: first_column(&scan, &access) };
                let follows = figures.correlation(first).powi(2);
                DESCENT - (DESCENT - 2.0) * follows
            }
            None => 1.0,
        };
        let cost = DESCENT + rows * row;
        if best.as_ref().is_none_or(|(best, ..)| cost < *best) {
            best = Some((cost, rows, access, used));
        }
    }
    if let Some((cost, rows, access, used)) = best
        && (cost < scan.cost.max(GROWTH_ROWS) || access.point)
    {
        scan.cost = cost;
        scan.rows = scan.rows.min(rows);
        scan.access = Access::Key(Box::new(access));
        scan.recheck = all.clone();
        let mut at = 0;
        all.retain(|_| {
            at += 1;
            !used.contains(&(at - 1))
        });
    } else {
        scan.recheck = all.clone();
    }
    scan.filter = all;
    Plan::Scan(Box::new(scan))
}

/// The place of an access's first column in its scan's output; none is past its end.
fn first_column(scan: &Scan, access: &KeyAccess) -> u32 {
    let column = access.layout.columns.first().map(|column| ScanColumn::Column(column.column));
    let at = scan.outputs.iter().position(|output| Some(*output) == column);
    at.unwrap_or(scan.outputs.len()) as u32
}

/// The keys of a table: place among its indexes, tree, layout, whether unique.
fn keys(scan: &Scan) -> Vec<(Option<usize>, txn::TreeId, KeyLayout, bool)> {
    let mut all = Vec::new();
    if let RelationKind::Table { key, .. } = &scan.relation.kind
        && !key.is_empty()
    {
        all.push((None, scan.tree, KeyLayout::of_rows(&scan.relation, key), true));
    }
    for (at, index) in scan.relation.indexes.iter().enumerate() {
        if index.tree != scan.tree {
            let layout = KeyLayout::of_index(&scan.relation, index);
            all.push((Some(at), index.tree, layout, index.unique));
        }
    }
    all
}

fn key_access(
    index: Option<usize>,
    tree: txn::TreeId,
    layout: KeyLayout,
    unique: bool,
    conditions: &[KeyCondition<'_>],
) -> Option<(KeyAccess, Vec<usize>)> {
    let mut used = Vec::new();
    let mut equal = Vec::new();
    let (mut low, mut high) = (None, None);
    for column in &layout.columns {
        let on_column = || conditions.iter().filter(|one| one.column == column.column);
        if let Some(found) = on_column().find(|one| one.comparison == Comparison::Equal) {
            used.push(found.at);
            equal.push(found.value.clone());
            continue;
        }
        for found in on_column() {
            let comparison =
                if column.descending { found.comparison.swapped() } else { found.comparison };
            let (bound, inclusive) = match comparison {
                Comparison::Greater => (&mut low, false),
                Comparison::GreaterEqual => (&mut low, true),
                Comparison::Less => (&mut high, false),
                Comparison::LessEqual => (&mut high, true),
                Comparison::Equal => continue,
            };
            if bound.is_none() {
                *bound = Some((found.value.clone(), inclusive));
                used.push(found.at);
            }
        }
        break;
    }
    if used.is_empty() {
        return None;
    }
    let point = unique && equal.len() == layout.columns.len();
    let direction = Direction::Forward;
    Some((KeyAccess { index, tree, layout, equal, low, high, point, direction }, used))
}

/// Which conditions compare a column of the scan with something that is known when it begins.
fn conditions<'c>(
    planner: &Planner<'_>,
    scan: &Scan,
    all: &'c [Scalar],
    later: &dyn Fn(Var) -> bool,
) -> Vec<KeyCondition<'c>> {
    let known = |value: &Scalar| {
        if value.volatile() || value.reads(&mut |var| var.slot == scan.slot || later(var)) {
            return false;
        }
        value.subqueries().iter().all(|number| {
            let mut vars = BTreeSet::new();
            super::join_order::subplan_reads(planner, *number, &mut vars);
            !vars.iter().any(|var| var.slot == scan.slot || later(*var))
        })
    };
    let column = |scalar: &Scalar| match scalar {
        Scalar::Var(var) if var.slot == scan.slot => match scan.outputs[var.column as usize] {
            ScanColumn::Column(column) => Some(column),
            _ => None,
        },
        _ => None,
    };
    let mut found = Vec::new();
    for (at, condition) in all.iter().enumerate() {
        let Scalar::Call { callee, arguments, .. } = condition else { continue };
        let [left, right] = &**arguments else { continue };
        let Some((kind, left_type, right_type)) = comparison(callee.oid) else { continue };
        if let Some(column) = column(left)
            && known(right)
            && key_compatible(scan.relation.columns[column].ty.oid, right_type)
        {
            found.push(KeyCondition { at, column, comparison: kind, value: right });
        } else if let Some(column) = column(right)
            && known(left)
            && key_compatible(scan.relation.columns[column].ty.oid, left_type)
        {
            found.push(KeyCondition { at, column, comparison: kind.swapped(), value: left });
        }
    }
    found
}

/// Tells a system scan the values its columns must have.
pub fn choose_system(scan: &mut SystemScan, later: &dyn Fn(Var) -> bool) {
    scan.keys.clear();
    for condition in &scan.filter {
        let Scalar::Call { callee, arguments, .. } = condition else { continue };
        let [left, right] = &**arguments else { continue };
        let Some((Comparison::Equal, ..)) = comparison(callee.oid) else { continue };
        for (one, other) in [(left, right), (right, left)] {
            if let Scalar::Var(var) = one
                && var.slot == scan.slot
                && let ScanColumn::Column(column) = scan.outputs[var.column as usize]
                && !other.volatile()
                && other.subqueries().is_empty()
                && !other.reads(&mut |var| var.slot == scan.slot || later(var))
            {
                scan.keys.push((column, other.clone()));
                break;
            }
        }
    }
}

/// Whether a plan reads a home outside itself that `later` accepts.
#[must_use]
pub fn depends(plan: &Plan, later: &dyn Fn(Var) -> bool) -> bool {
    let mut read = BTreeSet::new();
    vars::read(plan, &mut read);
    read.iter().any(|var| later(*var))
}
