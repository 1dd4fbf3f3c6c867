//! What nobody asks for is not made: left joins, and windows (`join_is_removable` of `analyzejoins.c`,
//! `remove_unused_subquery_outputs` of `allpaths.c`).
//!
//! Each left row of a left join goes out once if the right side has at most one row for it: where no column of that is read,
//! the join does nothing. At most one row there is by a unique key with all its values, among the keys of groups, and among
//! rows that differ. Views over many tables, of which a query asks for a few columns or for the number of rows, are full of
//! such joins.

use super::build::Planner;
use super::join_order::{member_equality, reads_of, subplan_reads};
use super::physical::{Join, Plan, Window};
use super::pushdown::through;
use super::rules::Part;
use super::scalar::{Scalar, Var};
use super::verify::{Interface, Verifier};
use super::{access_path, vars};
use crate::account;
use crate::bind::logical::JoinKind;
use crate::settings::Rule;
use crate::types::Oid;
use crate::types::depth::deeper;
use std::collections::{BTreeSet, HashSet};

/// A plan of whose rows only these homes are asked for.
struct Asked<'a>(Plan, &'a [Var]);

impl Part for Asked<'_> {
    fn interface(&self, verifier: &mut Verifier<'_>) -> Interface {
        verifier.plan(&self.0).giving(self.1)
    }
}

/// A plan as it is written, without the left joins and windows that say nothing of the homes in `output`.
pub(super) fn left_out(planner: &mut Planner<'_>, plan: Plan, output: &[Var]) -> Plan {
    let mut found = false;
    vars::walk(&plan, &mut |node| {
        found |= match node {
            Plan::Join(join) => matches!(join.kind, JoinKind::Left | JoinKind::Right),
            Plan::Window(_) => true,
            _ => false,
        };
    });
    if !found {
        return plan;
    }
    let part = Asked(plan, output);
    let left_out = planner.apply(Rule::RemoveUnread, part, |planner, Asked(plan, output)| {
        let mut asked = Removal { planner, asked: output.iter().copied().collect() };
        Asked(asked.plan(plan), output)
    });
    match left_out {
        Ok(Asked(plan, _)) | Err(Asked(plan, _)) => plan,
    }
}

/// The way from a plan's root to its scans.
struct Removal<'p, 'a> {
    planner: &'p Planner<'a>,
    /// What is read above the part at hand, and beside it.
    asked: BTreeSet<Var>,
}

impl Removal<'_, '_> {
    fn plan(&mut self, mut plan: Plan) -> Plan {
        match &mut plan {
            Plan::Join(_) => {}
            // What an INSERT writes and a query with WITH of its own have been through here already.
            Plan::Modify(_) | Plan::WithCtes(..) | Plan::Cte(_) => {
                self.asked.extend(reads_of(self.planner, &plan));
                return plan;
            }
            Plan::Project(_, slot, columns) => vars::leave_unread(*slot, columns, &self.asked),
            _ => {}
        }
        plan = match plan {
            Plan::Join(join) => return deeper(|| self.join(*join)),
            Plan::Window(window) if !self.asks_for(&window) => {
                return deeper(|| self.plan(window.input));
            }
            other => other,
        };
        vars::scalars(&plan, &mut |scalar| self.ask(scalar));
        for input in vars::inputs_mut(&mut plan) {
            let below = std::mem::replace(input, Plan::Nothing);
            *input = deeper(|| self.plan(below));
        }
        plan
    }

    fn join(&mut self, mut join: Join) -> Plan {
        if join.kind == JoinKind::Right && !join.dependent {
            std::mem::swap(&mut join.left, &mut join.right);
            join.kind = JoinKind::Left;
        }
        let above = self.asked.clone();
        join.on.iter().for_each(|one| self.ask(one));
        // What the right side reads of left rows is asked of the left side then.
        join.right = self.plan(join.right);
        let right = self.planner.slots(&join.right);
        let unread =
            join.kind == JoinKind::Left && above.iter().all(|var| !right.contains(&var.slot));
        if unread && is_single(self.planner, &join.right, &right, join.on.clone()) {
            self.asked = above;
            return self.plan(join.left);
        }
        join.left = self.plan(join.left);
        Plan::Join(Box::new(join))
    }

    /// Whether a window's functions are read, or do something.
    fn asks_for(&self, window: &Window) -> bool {
        let mut parts =
            window.calls.iter().flat_map(|call| call.arguments.iter().chain(&call.filter));
        parts.any(Scalar::volatile) || self.asked.iter().any(|var| var.slot == window.slot)
    }

    fn ask(&mut self, scalar: &Scalar) {
        scalar.reads(&mut |var| {
            self.asked.insert(var);
            false
        });
        for number in scalar.subqueries() {
            subplan_reads(self.planner, number, &mut self.asked);
        }
    }
}

/// Whether at most one row of a plan, which fills the slots `own`, meets the conditions, whatever the rows around it are.
fn is_single(
    planner: &Planner<'_>,
    plan: &Plan,
    own: &HashSet<u32>,
    mut conditions: Vec<Scalar>,
) -> bool {
    let equal = |home: Var, ty: Oid| {
        conditions.iter().any(|one| match member_equality(one, own) {
            Some((_, inner, compared)) => {
                matches!(&*inner, Scalar::Var(inner) if *inner == home) && compared == ty
            }
            None => false,
        })
    };
    match plan {
        Plan::Scan(scan) => {
            access_path::finds_one(planner, scan, &conditions, &|var| own.contains(&var.slot))
        }
        Plan::Filter(input, filter) => {
            conditions.extend(filter.iter().cloned());
            deeper(|| is_single(planner, input, own, conditions))
        }
        // An order changes nothing, and a limit leaves no more rows.
        Plan::Sort(sort) => deeper(|| is_single(planner, &sort.input, own, conditions)),
        Plan::Limit(limit) => deeper(|| is_single(planner, &limit.input, own, conditions)),
        Plan::Project(input, slot, columns) => {
            let (_, below) =
                through(planner, conditions, *slot, &|column| columns.get(column as usize));
            deeper(|| is_single(planner, input, own, below))
        }
        Plan::Aggregate(aggregate) => {
            let keys = aggregate.keys.iter().enumerate();
            let mut homes = keys.map(|(at, (_, ty))| {
                (Var { slot: aggregate.slot, column: account::narrow(at) }, *ty)
            });
            aggregate.sets.len() <= 1
                && (aggregate.is_plain() || aggregate.keys.is_empty())
                && homes.all(|(home, ty)| equal(home, ty))
        }
        Plan::Distinct(distinct) => distinct.keys.iter().all(|(key, ty)| match key {
            Scalar::Var(home) => equal(*home, *ty),
            _ => false,
        }),
        Plan::SetOperation(set) if !set.all => set
            .types
            .iter()
            .enumerate()
            .all(|(at, ty)| equal(Var { slot: set.slot, column: account::narrow(at) }, *ty)),
        _ => false,
    }
}
