//! Which homes a plan fills, and which it reads: what decides where a condition can go and what a sort has to keep.

use super::physical::{
    Access, Again, ConflictUpdate, InsteadChange, JoinMethod, ModifyKind, Plan, SetCall, SetColumn,
    UnionSide, WindowBound,
};
use super::scalar::{Scalar, Var};
use super::translate::constant;
use crate::bind::Literal;
use crate::types::depth::deeper;
use crate::types::{SqlType, oids};
use std::collections::{BTreeSet, HashSet};

/// The plans whose rows a node works on, shared or to be changed.
macro_rules! inputs_of {
    ($plan:expr $(, $change:ident)?) => {
        match $plan {
            Plan::Unit
            | Plan::Nothing
            | Plan::Scan(_)
            | Plan::System(_)
            | Plan::Function(_)
            | Plan::Values(..)
            | Plan::Constants(..)
            | Plan::Cte(..) => Vec::new(),
            Plan::Filter(input, _)
            | Plan::OneTimeFilter(input, _)
            | Plan::Barrier(input, _)
            | Plan::Project(input, ..)
            | Plan::ProjectSet(input, ..)
            | Plan::Materialize(input, _)
            | Plan::WithCtes(input, _) => vec![input],
            Plan::Join(join) => vec![&$($change)? join.left, &$($change)? join.right],
            Plan::Aggregate(aggregate) => vec![&$($change)? aggregate.input],
            Plan::Distinct(distinct) => vec![&$($change)? distinct.input],
            Plan::Window(window) => vec![&$($change)? window.input],
            Plan::Sort(sort) => vec![&$($change)? sort.input],
            Plan::Limit(limit) => vec![&$($change)? limit.input],
            Plan::SetOperation(set) => vec![&$($change)? set.left.0, &$($change)? set.right.0],
            Plan::LockRows(lock) => vec![&$($change)? lock.input],
            Plan::Modify(modify) => match &$($change)? modify.kind {
                ModifyKind::Insert { source, .. }
                | ModifyKind::Update { source, .. }
                | ModifyKind::Delete { source, .. }
                | ModifyKind::Merge { source, .. }
                | ModifyKind::Instead { source, .. } => vec![source],
            },
        }
    };
}

/// The plans whose rows a node works on.
#[must_use]
pub fn inputs(plan: &Plan) -> Vec<&Plan> {
    inputs_of!(plan)
}

/// The same, to be changed.
pub fn inputs_mut(plan: &mut Plan) -> Vec<&mut Plan> {
    inputs_of!(plan, mut)
}

/// Calls `visit` for each node of a plan, inputs first.
pub fn walk(plan: &Plan, visit: &mut dyn FnMut(&Plan)) {
    for input in inputs(plan) {
        deeper(|| walk(input, visit));
    }
    visit(plan);
}

/// The slots that a plan fills, with their widths.
#[must_use]
pub fn filled(plan: &Plan, widths: &[usize]) -> Vec<(u32, usize)> {
    let mut slots = Vec::new();
    walk(plan, &mut |node| {
        let slot = match node {
            Plan::Scan(scan) => scan.slot,
            Plan::System(scan) => scan.slot,
            Plan::Function(scan) => scan.slot,
            Plan::Cte(scan) => scan.slot,
            Plan::Values(slot, _) | Plan::Constants(slot, _) => *slot,
            Plan::Project(_, slot, _) | Plan::ProjectSet(_, slot, _) => *slot,
            Plan::Aggregate(aggregate) => aggregate.slot,
            Plan::Window(window) => window.slot,
            Plan::SetOperation(set) => set.slot,
            Plan::Modify(modify) => match &modify.returning {
                Some((slot, _)) => *slot,
                None => return,
            },
            _ => return,
        };
        slots.push((slot, widths[slot as usize]));
    });
    slots
}

/// Homes that an expression fills itself live within it.
pub fn locals(scalar: &Scalar, filled: &mut HashSet<u32>) {
    scalar.walk(&mut |part| {
        filled.extend(part.own_home().map(|home| home.slot));
        true
    });
}

/// Calls `visit` for every scalar that stands in a node itself, not in its inputs.
pub fn scalars(node: &Plan, visit: &mut dyn FnMut(&Scalar)) {
    let set_call = |call: &SetCall, visit: &mut dyn FnMut(&Scalar)| match call {
        SetCall::Series(arguments, _)
        | SetCall::Set(_, _, _, _, arguments)
        | SetCall::XmlTable(_, arguments)
        | SetCall::Querying(_, _, arguments)
        | SetCall::Routine(_, _, arguments) => {
            arguments.iter().for_each(visit);
        }
        SetCall::Scalar(scalar, _) => visit(scalar),
    };
    match node {
        Plan::Unit
        | Plan::Nothing
        | Plan::Constants(..)
        | Plan::Cte(..)
        | Plan::Materialize(..)
        | Plan::Barrier(..)
        | Plan::WithCtes(..) => {}
        Plan::Scan(scan) => {
            scan.filter.iter().for_each(&mut *visit);
            match &scan.access {
                Access::Key(key) => key.scalars().for_each(visit),
                Access::IndexUnion(ways) => {
                    ways.iter().flat_map(UnionSide::scalars).for_each(visit);
                }
                Access::Full(_) | Access::Current(_) => {}
            }
        }
        Plan::System(scan) => {
            scan.filter.iter().for_each(&mut *visit);
            scan.keys.iter().for_each(|(_, key)| visit(key));
        }
        Plan::Function(scan) => set_call(&scan.call, visit),
        Plan::Values(_, rows) => rows.iter().flatten().for_each(visit),
        Plan::Filter(_, conjuncts) | Plan::OneTimeFilter(_, conjuncts) => {
            conjuncts.iter().for_each(visit)
        }
        Plan::Project(_, _, columns) => columns.iter().for_each(visit),
        Plan::ProjectSet(_, _, columns) => {
            for column in columns {
                match column {
                    SetColumn::One(scalar) => visit(scalar),
                    SetColumn::Set(call, _) => set_call(call, visit),
                }
            }
        }
        Plan::Join(join) => {
            join.on.iter().for_each(&mut *visit);
            if let JoinMethod::Hash { left, right, .. } = &join.method {
                left.iter().chain(right).for_each(visit);
            }
        }
        Plan::Aggregate(aggregate) => {
            aggregate.keys.iter().for_each(|(key, _)| visit(key));
            for call in &aggregate.calls {
                call.arguments.iter().for_each(&mut *visit);
                call.order_by.iter().for_each(|(key, _)| visit(key));
                call.filter.iter().for_each(&mut *visit);
            }
        }
        Plan::Window(window) => {
            let keys = window.partition_by.iter().chain(&window.order_by);
            keys.for_each(|(key, _)| visit(key));
            for call in &window.calls {
                call.arguments.iter().chain(&call.filter).for_each(&mut *visit);
            }
            window.run.iter().for_each(&mut *visit);
            for bound in [&window.frame.start, &window.frame.end] {
                if let WindowBound::Preceding(offset) | WindowBound::Following(offset) = bound {
                    visit(offset);
                }
            }
        }
        Plan::Distinct(distinct) => distinct.keys.iter().for_each(|(key, _)| visit(key)),
        Plan::Sort(sort) => {
            sort.keys.iter().for_each(|(key, _)| visit(key));
            if let Some((limit, offset)) = &sort.top {
                limit.iter().chain(offset).for_each(visit);
            }
        }
        Plan::Limit(limit) => {
            limit.limit.iter().chain(&limit.offset).for_each(&mut *visit);
            limit.ties.iter().flatten().for_each(|(key, _)| visit(key));
        }
        Plan::SetOperation(set) => {
            let columns = set.left.1.iter().chain(&set.right.1);
            columns.for_each(|var| visit(&Scalar::Var(*var)));
        }
        Plan::LockRows(lock) => {
            lock.again.iter().flat_map(Again::scalars).for_each(&mut *visit);
            lock.targets.iter().for_each(|target| visit(&Scalar::Var(target.scan.key)));
        }
        Plan::Modify(modify) => {
            modify.checks.iter().for_each(|(_, check)| visit(check));
            let of_views = modify.view_checks.iter().flat_map(|(_, conditions)| conditions);
            of_views.for_each(&mut *visit);
            modify.returning.iter().flat_map(|(_, columns)| columns).for_each(&mut *visit);
            match &modify.kind {
                ModifyKind::Insert { columns, on_conflict, .. } => {
                    columns.iter().for_each(&mut *visit);
                    let update = on_conflict.iter().filter_map(|conflict| conflict.update.as_ref());
                    update.flat_map(ConflictUpdate::scalars).for_each(&mut *visit);
                }
                ModifyKind::Update { target, recheck, assignments, .. } => {
                    visit(&Scalar::Var(target.key));
                    recheck.iter().for_each(&mut *visit);
                    assignments.iter().for_each(|(_, value)| visit(value));
                }
                ModifyKind::Delete { target, recheck, .. } => {
                    visit(&Scalar::Var(target.key));
                    recheck.iter().for_each(&mut *visit);
                }
                ModifyKind::Merge { target, recheck, actions, .. } => {
                    visit(&Scalar::Var(target.key));
                    recheck.iter().for_each(&mut *visit);
                    for action in actions {
                        action.conditions.iter().for_each(&mut *visit);
                        action.change.values().for_each(&mut *visit);
                    }
                }
                ModifyKind::Instead { row, change, .. } => {
                    row.iter().for_each(&mut *visit);
                    if let InsteadChange::Update(assignments) = change {
                        assignments.iter().for_each(|(_, value)| visit(value));
                    }
                }
            }
        }
    }
}

/// What nobody reads of the columns that are computed into a slot is not computed, unless computing it does something.
pub fn leave_unread(slot: u32, columns: &mut [Scalar], read: &BTreeSet<Var>) {
    for (column, at) in columns.iter_mut().zip(0..) {
        if !read.contains(&Var { slot, column: at }) && !column.volatile() {
            *column = constant(&Literal::Null, SqlType::plain(oids::TEXT));
        }
    }
}

/// Every home that is read in a plan.
pub fn read(plan: &Plan, into: &mut BTreeSet<Var>) {
    walk(plan, &mut |node| {
        scalars(node, &mut |scalar| {
            scalar.reads(&mut |var| {
                into.insert(var);
                false
            });
        });
    });
}
