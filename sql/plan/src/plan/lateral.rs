//! LATERAL: a query in FROM that looks at the rows beside it, as a join like any other.
//!
//! What such a query asks of its rows with the values of a row beside it is a condition of the join: σ(A ⟕ B) with B's own
//! condition on A is A ⟕ B on that condition (`pull_up_subqueries` of `prepjointree.c`; Galindo-Legaria and Joshi,
//! *Orthogonal Optimization of Subqueries and Aggregation*, SIGMOD 2001). Where that is all that it looks at, the join is
//! done by whichever method is cheapest, and not once more for each row beside it. What groups, orders or cuts its rows, or
//! is missing in an outer join, asks in its place.

use super::build::Planner;
use super::join_order::reads_of;
use super::physical::{Join, Plan};
use super::pushdown::{filter, is_steady, reads};
use super::scalar::{Scalar, Var};
use super::translate::constant;
use super::vars;
use crate::bind::Literal;
use crate::bind::logical::JoinKind;
use crate::settings::Rule;
use crate::types::{SqlType, oids};
use std::collections::HashSet;

/// What a left join is made of whose right side looks at no left row any more.
pub(super) struct Freed {
    right: Plan,
    on: Vec<Scalar>,
    /// What its columns computed of left rows, and is computed above the join now; the first is computed last.
    above: Vec<(u32, Vec<Scalar>)>,
}

impl Freed {
    /// The join, and what is computed above it.
    pub fn of(self, mut join: Join) -> Plan {
        (join.right, join.on, join.dependent) = (self.right, self.on, false);
        let join = Plan::Join(Box::new(join));
        let above = self.above.into_iter().rev();
        above.fold(join, |plan, (slot, values)| Plan::Project(Box::new(plan), slot, values))
    }
}

/// A left join whose right side looks at no left row any more, where its conditions and its columns are all that do. What the
/// columns compute is computed above the join then, for the rows that have a right one, which another column tells.
pub(super) fn left(planner: &mut Planner<'_>, join: &Join) -> Option<Freed> {
    if !join.dependent || join.kind != JoinKind::Left {
        return None;
    }
    let left = planner.slots(&join.left);
    if let Some((right, moved)) = freed(planner, &join.right, &left) {
        let on = join.on.iter().cloned().chain(moved).collect();
        return Some(Freed { right, on, above: Vec::new() });
    }
    let (mut below, mut columns) = (&join.right, Vec::new());
    while let Plan::Project(input, slot, values) = below {
        if !values.iter().all(is_steady) {
            return None;
        }
        columns.push((*slot, values.clone()));
        below = input;
    }
    let mut on = replaced(planner, &join.on, &columns)?;
    let (right, moved) = freed(planner, below, &left)?;
    on.extend(moved);
    let there = planner.slot(1);
    let truth = constant(&Literal::Bool(true), SqlType::plain(oids::BOOL));
    let where_there = |value| Scalar::Case {
        operand: None,
        branches: Box::new([(Scalar::Var(Var { slot: there, column: 0 }), value)]),
        otherwise: None,
    };
    let above = columns.into_iter();
    let above = above.map(|(slot, values)| (slot, values.into_iter().map(where_there).collect()));
    let right = Plan::Project(Box::new(right), there, vec![truth]);
    Some(Freed { right, on, above: above.collect() })
}

/// Conditions over what columns are computed of, in the place of the columns; the first of these are computed last. None where
/// a subquery reads one.
pub(super) fn replaced(
    planner: &Planner<'_>,
    conditions: &[Scalar],
    columns: &[(u32, Vec<Scalar>)],
) -> Option<Vec<Scalar>> {
    let slots: HashSet<u32> = columns.iter().map(|(slot, _)| *slot).collect();
    let mut conditions = conditions.to_vec();
    for one in conditions.iter_mut().filter(|one| reads(planner, one, &slots)) {
        if !is_steady(one) {
            return None;
        }
        for (slot, values) in columns {
            one.replace_homes(&|var| {
                let value = values.get(var.column as usize).filter(|_| var.slot == *slot);
                value.cloned()
            });
        }
    }
    Some(conditions)
}

/// A plan without the conditions by which it looks at the slots `beside`, and these; none where something else of it does, or
/// where inner joins of it would have nothing left that ties their sides.
pub(super) fn freed(
    planner: &Planner<'_>,
    plan: &Plan,
    beside: &HashSet<u32>,
) -> Option<(Plan, Vec<Scalar>)> {
    if !planner.allows(Rule::PullUpLaterals) {
        return None;
    }
    let mut moved = Vec::new();
    let plan = lifted(planner, plan.clone(), beside, &mut moved);
    let depends = reads_of(planner, &plan).iter().any(|var| beside.contains(&var.slot));
    let freed = !depends && !moved.is_empty() && !unties(planner, &plan, &moved);
    freed.then_some((plan, moved))
}

/// Whether an inner join of a plan was tied by these conditions alone, which are not in it any more: all its pairs would be
/// made.
fn unties(planner: &Planner<'_>, plan: &Plan, moved: &[Scalar]) -> bool {
    let (mut joins, mut conditions) = (Vec::new(), Vec::<Scalar>::new());
    vars::walk(plan, &mut |node| match node {
        Plan::Filter(_, own) => conditions.extend(own.iter().cloned()),
        Plan::Join(join) => {
            conditions.extend(join.on.iter().cloned());
            if join.kind == JoinKind::Inner {
                joins.push((planner.slots(&join.left), planner.slots(&join.right)));
            }
        }
        _ => {}
    });
    joins.iter().any(|(left, right)| {
        let ties = |one: &Scalar| reads(planner, one, left) && reads(planner, one, right);
        moved.iter().any(ties) && !conditions.iter().any(ties)
    })
}

fn lifted(
    planner: &Planner<'_>,
    plan: Plan,
    beside: &HashSet<u32>,
    moved: &mut Vec<Scalar>,
) -> Plan {
    let mut part = |conditions: Vec<Scalar>| -> Vec<Scalar> {
        let (out, stay) = conditions.into_iter().partition(|one: &Scalar| {
            one.subqueries().is_empty() && !one.volatile() && reads(planner, one, beside)
        });
        moved.extend::<Vec<Scalar>>(out);
        stay
    };
    match plan {
        Plan::Filter(input, conditions) => {
            let stay = part(conditions);
            filter(lifted(planner, *input, beside, moved), stay)
        }
        Plan::Project(input, slot, columns) if columns.iter().all(is_steady) => {
            Plan::Project(Box::new(lifted(planner, *input, beside, moved)), slot, columns)
        }
        Plan::Join(mut join) if join.kind == JoinKind::Inner => {
            join.on = part(std::mem::take(&mut join.on));
            join.left = lifted(planner, join.left, beside, moved);
            join.right = lifted(planner, join.right, beside, moved);
            Plan::Join(join)
        }
        Plan::Join(mut join) if join.kind == JoinKind::Left => {
            join.left = lifted(planner, join.left, beside, moved);
            Plan::Join(join)
        }
        other => other,
    }
}
