//! Conditions go down to where their values first exist.
//!
//! A conjunct may pass a node if the node does not change which rows there are in a way that the condition would see:
//! filters, inner joins, the preserved side of outer joins, projections, sorts and locks let it through, what it reads of a
//! projection put in the place of the column; GROUP BY, DISTINCT and windows let through what reads their keys alone, UNION
//! and INTERSECT what each side can be asked; limits and EXCEPT nothing. Into what a view of security_barrier shows go only conditions that cannot tell what they were asked of ([`Scalar::may_leak`];
//! `qual_is_pushdown_safe`).

use super::build::{FirstRows, Planner};
use super::physical::{Again, Join, Limit, Plan, Reach, SetColumn, SetOperation, Sort};
use super::scalar::{Scalar, Var};
use super::{access_path, equivalence, estimate, join_order, lateral, order, sublinks, window};
use crate::bind::Quantifier;
use crate::bind::logical::{JoinKind, SetKind};
use crate::settings::Rule;
use crate::types::Datum;
use crate::types::array::Array;
use std::collections::HashSet;

/// The plan with `conjuncts` applied as low as they can be, joins ordered and access paths chosen.
pub fn optimise(planner: &mut Planner<'_>, plan: Plan, conjuncts: Vec<Scalar>) -> Plan {
    crate::account::insist();
    gated(planner, plan, conjuncts, optimise_rows)
}

/// A plan by `below` with the conjuncts that its rows have a part in, behind a gate for the others.
pub fn gated(
    planner: &mut Planner<'_>,
    plan: Plan,
    conjuncts: Vec<Scalar>,
    below: impl FnOnce(&mut Planner<'_>, Plan, Vec<Scalar>) -> Plan,
) -> Plan {
    if conjuncts.is_empty() || !planner.allows(Rule::OneTimeFilters) {
        return below(planner, plan, conjuncts);
    }
    let (rows, once) = split(planner, conjuncts, &planner.slots(&plan));
    let plan = below(planner, plan, rows);
    gate(planner, plan, once)
}

/// A gate, if there is anything to ask at it.
pub fn gate(planner: &mut Planner<'_>, plan: Plan, once: Vec<Scalar>) -> Plan {
    if once.is_empty() {
        return plan;
    }
    let gated = planner.apply(Rule::OneTimeFilters, (plan, once), |_, (plan, once)| match plan {
        Plan::OneTimeFilter(input, mut own) => {
            own.extend(once);
            Plan::OneTimeFilter(input, own)
        }
        other => Plan::OneTimeFilter(Box::new(other), once),
    });
    gated.unwrap_or_else(|(plan, once)| filter(plan, once))
}

/// The plan by all rules, with the conjuncts as low as they can be or, where none goes down, above it.
fn optimise_rows(planner: &mut Planner<'_>, plan: Plan, conjuncts: Vec<Scalar>) -> Plan {
    if conjuncts.is_empty() && !matches!(plan, Plan::Filter(..)) {
        return pushed_down(planner, plan, conjuncts);
    }
    let part = (plan, conjuncts);
    let pushed = planner.apply(Rule::PushDownConditions, part, |planner, (plan, conjuncts)| {
        pushed_down(planner, plan, conjuncts)
    });
    pushed.unwrap_or_else(|(plan, conjuncts)| {
        let plan = match plan {
            Plan::Filter(input, own) => filter(optimise(planner, *input, Vec::new()), own),
            other => pushed_down(planner, other, Vec::new()),
        };
        filter(plan, conjuncts)
    })
}

fn pushed_down(planner: &mut Planner<'_>, plan: Plan, mut conjuncts: Vec<Scalar>) -> Plan {
    // What gives its input's rows one by one hands on that only the first are wanted.
    let wanted = planner.wanted.take();
    match plan {
        Plan::Filter(input, own) => {
            conjuncts.extend(own);
            planner.wanted = wanted;
            optimise(planner, *input, conjuncts)
        }
        Plan::Scan(scan) => access_path::choose(planner, *scan, conjuncts, &|_| false),
        Plan::System(mut scan) => {
            scan.filter.extend(conjuncts);
            access_path::choose_system(&mut scan, &|_| false);
            Plan::System(scan)
        }
        Plan::Join(join) => {
            planner.wanted = wanted;
            match join.kind {
                JoinKind::Inner => join_order::inner(planner, *join, conjuncts),
                _ => outer(planner, *join, conjuncts),
            }
        }
        Plan::Barrier(input, alias) => {
            let (above, below) =
                conjuncts.into_iter().partition(|one: &Scalar| one.may_leak() || one.volatile());
            planner.wanted = wanted;
            let input = optimise(planner, *input, below);
            filter(Plan::Barrier(Box::new(input), alias), above)
        }
        Plan::Project(input, slot, columns) => {
            let (above, below) =
                through(planner, conjuncts, slot, &|column| columns.get(column as usize));
            planner.wanted = wanted;
            let input = optimise(planner, *input, below);
            filter(Plan::Project(Box::new(input), slot, columns), above)
        }
        Plan::Sort(mut sort) => {
            let is_cut = sort.top.is_some() || wanted.is_some();
            let leads = first_sorted(&sort).filter(|_| is_cut).map(|(slot, _)| slot);
            planner.wanted =
                wanted.filter(|_| leads.is_some()).map(|wanted| FirstRows { leads, ..wanted });
            sort.input = optimise(planner, sort.input, conjuncts);
            let first = order::First::of(&sort)
                .or_else(|| wanted.map(|wanted| order::First::rows(wanted.rows)));
            sorted(planner, sort, first)
        }
        Plan::LockRows(mut lock) => {
            if !conjuncts.is_empty() {
                lock.again.push(Again::Meet(conjuncts.clone()));
            }
            // Whether rows can be locked at all rests on which joins are outer ones still.
            let needed = [Rule::PushDownConditions, Rule::ReduceOuterJoins];
            let input = std::mem::replace(&mut lock.input, Plan::Nothing);
            planner.wanted = wanted;
            lock.input = planner.with_rules(&needed, |planner| optimise(planner, input, conjuncts));
            Plan::LockRows(lock)
        }
        Plan::ProjectSet(input, slot, columns) => {
            let one = |column: u32| match columns.get(column as usize)? {
                SetColumn::One(value) => Some(value),
                SetColumn::Set(..) => None,
            };
            let (above, below) = through(planner, conjuncts, slot, &one);
            let input = optimise(planner, *input, below);
            filter(Plan::ProjectSet(Box::new(input), slot, columns), above)
        }
        Plan::Aggregate(mut aggregate) => {
            // A group is there where one of its rows is; without keys, or by an empty set, there is one in any case.
            let (above, below) = if aggregate.is_plain() {
                let keys = &aggregate.keys;
                let key = |column: u32| keys.get(column as usize).map(|(key, _)| key);
                through(planner, conjuncts, aggregate.slot, &key)
            } else {
                (conjuncts, Vec::new())
            };
            // An order of groups is one of their rows.
            planner.wanted = wanted.filter(|wanted| wanted.leads.is_some() && aggregate.is_plain());
            aggregate.input = optimise(planner, aggregate.input, below);
            filter(Plan::Aggregate(aggregate), above)
        }
        Plan::Window(mut window) => {
            // All rows of a partition meet what is asked of what they are parted by, or none does.
            let keys = window.partition_by.iter().map(|(key, _)| key);
            let mut slots = planner.slots(&window.input);
            slots.insert(window.slot);
            let (below, above) = of_keys(conjuncts, keys, &slots);
            let mut own = Vec::new();
            let above: Vec<Scalar> = above
                .into_iter()
                .filter(|one| match window::run_condition(planner, &window, one) {
                    Some((run, whole)) => {
                        own.push(run);
                        !whole
                    }
                    None => true,
                })
                .collect();
            window.run.extend(own);
            let wanted = wanted.filter(|_| above.is_empty() && window.run.is_empty());
            planner.wanted = wanted.filter(|_| window.reach() < Reach::Partition);
            window.input = optimise(planner, window.input, below);
            let first =
                wanted.and_then(|wanted| order::first_of_window(planner, &window, wanted.rows));
            if window.keys().next().is_some() {
                let keys = window.keys().cloned().collect();
                let input = std::mem::replace(&mut window.input, Plan::Nothing);
                let sort = Sort { input, keys, presorted: 0, saved: Vec::new(), top: None };
                window.input = sorted(planner, Box::new(sort), first);
            }
            filter(Plan::Window(window), above)
        }
        Plan::Distinct(mut distinct) => {
            // Of rows with the same keys all meet what is asked of these, or none does.
            let keys = distinct.keys.iter().map(|(key, _)| key);
            let (below, above) = of_keys(conjuncts, keys, &planner.slots(&distinct.input));
            // Of rows that come in an order the first that differ are among the first.
            planner.wanted =
                wanted.filter(|_| distinct.ordered && above.is_empty()).map(|wanted| {
                    let rows = wanted.rows * order::rows_of_each(&planner.figures, &distinct);
                    FirstRows { rows, ..wanted }
                });
            distinct.input = optimise(planner, distinct.input, below);
            filter(Plan::Distinct(distinct), above)
        }
        Plan::SetOperation(mut set) => {
            // What the right side of an EXCEPT has not takes nothing away.
            let (above, sides) = match set.kind {
                SetKind::Except => (conjuncts, Default::default()),
                SetKind::Union | SetKind::Intersect => of_sides(&set, conjuncts),
            };
            let [left, right] = sides;
            set.left.0 = optimise(planner, set.left.0, left);
            set.right.0 = optimise(planner, set.right.0, right);
            filter(Plan::SetOperation(set), above)
        }
        Plan::Limit(mut limit) => {
            let input = std::mem::replace(&mut limit.input, Plan::Nothing);
            let wanted = first_rows(&limit);
            limit.input = for_first_rows(planner, input, wanted);
            if let Some(wanted) = wanted {
                let input = std::mem::replace(&mut limit.input, Plan::Nothing);
                let input = planner.apply(Rule::PlanForFirstRows, input, |planner, mut plan| {
                    let first = order::First::rows(wanted.rows);
                    order::groups_come_in(planner, &mut plan, &[], (true, Some(first)), true);
                    plan
                });
                limit.input = input.unwrap_or_else(|input| input);
            }
            filter(Plan::Limit(limit), conjuncts)
        }
        // Queries of their own have been through here already.
        other => filter(other, conjuncts),
    }
}

/// A sort by the rules about orders, of which the `first` rows may be all that are asked for.
fn sorted(planner: &mut Planner<'_>, sort: Box<Sort>, first: Option<order::First>) -> Plan {
    let plan = Plan::Sort(sort);
    let plan = planner.apply(Rule::SortBelowDistinct, plan, |planner, plan| match plan {
        Plan::Sort(sort) => order::distinct_behind(&planner.figures, sort),
        other => other,
    });
    let plan = plan.unwrap_or_else(|plan| plan);
    let plan = planner.apply(Rule::AvoidSorts, plan, |planner, plan| match plan {
        Plan::Sort(sort) => order::avoid(planner, *sort, first),
        distinct => distinct,
    });
    let plan = plan.unwrap_or_else(|plan| plan);
    let plan = planner.apply(Rule::IncrementalSorts, plan, |planner, plan| match plan {
        Plan::Sort(sort) => order::presort(planner, *sort, first),
        other => other,
    });
    plan.unwrap_or_else(|plan| plan)
}

/// Up to so many queries of a statement with a LIMIT are planned both ways.
const LIMITED_MAX: u32 = 8;

/// How many rows a LIMIT wants of its input, if that is known.
fn first_rows(limit: &Limit) -> Option<FirstRows> {
    let rows = estimate::first_rows(limit.limit.as_ref(), limit.offset.as_ref())?;
    limit.ties.is_none().then_some(FirstRows { rows, leads: None })
}

/// Whether rows that joins give, or windows, or that differ, go out one by one, or in an order in which they may come.
fn rows_come_below(plan: &Plan) -> bool {
    match plan {
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..) => rows_come_below(input),
        Plan::LockRows(lock) => rows_come_below(&lock.input),
        Plan::Sort(sort) => first_sorted(sort).is_some_and(|(_, input)| rows_come_below(input)),
        Plan::Join(_) => true,
        Plan::Distinct(distinct) if distinct.ordered => match &distinct.input {
            Plan::Sort(sort) => first_sorted(sort).is_some(),
            input => rows_come_below(input),
        },
        Plan::Window(window) => {
            window.reach() < Reach::Partition || !window.partition_by.is_empty()
        }
        _ => false,
    }
}

/// The slot whose rows have to lead for rows to come in a sort's order, and what gives these; none where they cannot.
fn first_sorted(sort: &Sort) -> Option<(u32, &Plan)> {
    fn leads(plan: &Plan, var: Var) -> Option<(u32, &Plan)> {
        match plan {
            Plan::Filter(input, _)
            | Plan::OneTimeFilter(input, _)
            | Plan::Barrier(input, _)
            | Plan::Project(input, ..) => leads(input, var),
            // In the order of a key of groups their rows can come, in that of what is computed of them not.
            Plan::Aggregate(aggregate) if aggregate.slot == var.slot => {
                match aggregate.keys.get(var.column as usize) {
                    Some((Scalar::Var(key), _)) if aggregate.is_plain() => {
                        Some((key.slot, &aggregate.input))
                    }
                    _ => None,
                }
            }
            _ => Some((var.slot, plan)),
        }
    }
    let Some(&(Scalar::Var(first), _)) = sort.keys.first() else { return None };
    let alone = sort.keys.iter().all(|(key, _)| matches!(key, Scalar::Var(_)));
    leads(&sort.input, first).filter(|_| alone)
}

/// The input of a LIMIT, planned for all of its rows or for the first: whichever costs less for these.
fn for_first_rows(planner: &mut Planner<'_>, input: Plan, wanted: Option<FirstRows>) -> Plan {
    let Some(wanted) = wanted.filter(|_| {
        planner.allows(Rule::PlanForFirstRows)
            && planner.limited < LIMITED_MAX
            && rows_come_below(&input)
    }) else {
        return optimise(planner, input, Vec::new());
    };
    planner.limited += 1;
    let all = optimise(planner, input.clone(), Vec::new());
    let before = planner.before(Rule::PlanForFirstRows, &all);
    planner.wanted = Some(wanted);
    let first = optimise(planner, input, Vec::new());
    planner.wanted = None;
    let cost = |plan: &Plan| wanted.cost(estimate::of(&planner.figures, plan));
    let best = if cost(&first) < cost(&all) { first } else { all };
    planner.after(before, &best);
    best
}

/// A filter, if there is anything to filter by.
#[must_use]
pub fn filter(plan: Plan, conjuncts: Vec<Scalar>) -> Plan {
    match plan {
        _ if conjuncts.is_empty() => plan,
        Plan::Filter(input, mut own) => {
            own.extend(conjuncts);
            Plan::Filter(input, own)
        }
        other => Plan::Filter(Box::new(other), conjuncts),
    }
}

/// Conjuncts that read one of `slots` (or whose subqueries do, or that are volatile), and all others.
pub fn split(
    planner: &Planner<'_>,
    conjuncts: Vec<Scalar>,
    slots: &HashSet<u32>,
) -> (Vec<Scalar>, Vec<Scalar>) {
    conjuncts.into_iter().partition(|one| reads(planner, one, slots) || one.volatile())
}

/// Conjuncts that stay above what fills `slot`, and those that pass, over what its columns are computed from: what is neither
/// volatile nor a set, and has no subqueries (`subquery_push_qual`).
pub(super) fn through<'v>(
    planner: &Planner<'_>,
    conjuncts: Vec<Scalar>,
    slot: u32,
    value: &dyn Fn(u32) -> Option<&'v Scalar>,
) -> (Vec<Scalar>, Vec<Scalar>) {
    let slots = HashSet::from([slot]);
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for mut one in conjuncts {
        if one.volatile() {
            above.push(one);
        } else if !reads(planner, &one, &slots) {
            below.push(one);
        } else if !one.subqueries().is_empty()
            || one.reads(&mut |var| var.slot == slot && !value(var.column).is_some_and(is_steady))
        {
            above.push(one);
        } else {
            one.replace_homes(&|var| {
                if var.slot == slot { value(var.column).cloned() } else { None }
            });
            below.push(one);
        }
    }
    (above, below)
}

/// Conjuncts that stay above a set operation, and the others over the columns of either side.
pub(super) fn of_sides(
    set: &SetOperation,
    conjuncts: Vec<Scalar>,
) -> (Vec<Scalar>, [Vec<Scalar>; 2]) {
    let (below, above): (Vec<_>, _) = conjuncts.into_iter().partition(is_steady);
    let of_side = |homes: &[Var]| {
        let mut all = below.clone();
        for one in &mut all {
            one.replace_homes(&|var| match homes.get(var.column as usize) {
                Some(home) if var.slot == set.slot => Some(Scalar::Var(*home)),
                _ => None,
            });
        }
        all
    };
    (above, [of_side(&set.left.1), of_side(&set.right.1)])
}

/// Whether a value can be computed once more or at another place, and is the same.
pub(super) fn is_steady(value: &Scalar) -> bool {
    !value.volatile() && value.subqueries().is_empty()
}

/// Conjuncts that read no other of `slots` than homes which are keys, and all others.
fn of_keys<'k>(
    conjuncts: Vec<Scalar>,
    keys: impl Iterator<Item = &'k Scalar>,
    slots: &HashSet<u32>,
) -> (Vec<Scalar>, Vec<Scalar>) {
    let homes: HashSet<Var> = keys
        .filter_map(|key| match key {
            Scalar::Var(var) => Some(*var),
            _ => None,
        })
        .collect();
    conjuncts.into_iter().partition(|one| {
        is_steady(one) && !one.reads(&mut |var| slots.contains(&var.slot) && !homes.contains(&var))
    })
}

/// Whether a scalar, or a subquery in it, reads one of the slots.
#[must_use]
pub fn reads(planner: &Planner<'_>, scalar: &Scalar, slots: &HashSet<u32>) -> bool {
    scalar.reads(&mut |var| slots.contains(&var.slot))
        || scalar.subqueries().iter().any(|number| {
            let mut vars = std::collections::BTreeSet::new();
            join_order::subplan_reads(planner, *number, &mut vars);
            vars.iter().any(|var| slots.contains(&var.slot))
        })
}

/// Whether a condition cannot be true where all of `slots` are NULL: a strict comparison of one of their columns.
fn rejects_nulls(scalar: &Scalar, slots: &HashSet<u32>) -> bool {
    match scalar {
        Scalar::Call { .. } => is_null_of(scalar, slots),
        Scalar::And(all) => all.iter().any(|one| rejects_nulls(one, slots)),
        Scalar::Or(all) => all.iter().all(|one| rejects_nulls(one, slots)),
        Scalar::IsNull(operand, true) => is_null_of(operand, slots),
        // ALL of no elements is true, whatever stands to its left.
        Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
            let asks = *quantifier == Quantifier::Any || has_elements(array);
            callee.strict && asks && is_null_of(left, slots)
        }
        _ => false,
    }
}

/// Whether a value is NULL where all of `slots` are NULL: one of their columns, or a strict call of one.
fn is_null_of(scalar: &Scalar, slots: &HashSet<u32>) -> bool {
    match scalar {
        Scalar::Var(var) => slots.contains(&var.slot),
        Scalar::Call { callee, arguments, .. } => {
            callee.strict && arguments.iter().any(|argument| is_null_of(argument, slots))
        }
        _ => false,
    }
}

/// Whether an array is known to have elements.
fn has_elements(array: &Scalar) -> bool {
    match array {
        Scalar::Array(elements, ..) => !elements.is_empty(),
        Scalar::Constant(value, _) => {
            matches!(value.get(0), Datum::Array(bytes) if !Array::of(bytes).is_empty())
        }
        _ => false,
    }
}

/// Outer, semi and anti joins keep their place; a left join whose right side must not be NULL is an inner one.
fn outer(planner: &mut Planner<'_>, mut join: Join, conjuncts: Vec<Scalar>) -> Plan {
    let wanted = planner.wanted.take();
    if join.kind == JoinKind::Right && !join.dependent {
        // A right join is a left join seen from the other side; homes do not care.
        std::mem::swap(&mut join.left, &mut join.right);
        join.kind = JoinKind::Left;
        planner.wanted = wanted;
        return outer(planner, join, conjuncts);
    }
    if let Some(freed) = lateral::left(planner, &join) {
        match planner.apply(Rule::PullUpLaterals, join, |_, join| freed.of(join)) {
            Ok(plan) => {
                planner.wanted = wanted;
                return optimise(planner, plan, conjuncts);
            }
            Err(same) => join = same,
        }
    }
    let (left_slots, right_slots) = (planner.slots(&join.left), planner.slots(&join.right));
    if join.kind == JoinKind::Left && conjuncts.iter().any(|one| rejects_nulls(one, &right_slots)) {
        let reduced = planner.apply(Rule::ReduceOuterJoins, join, |_, mut join| {
            join.kind = JoinKind::Inner;
            join
        });
        match reduced {
            Ok(join) => {
                planner.wanted = wanted;
                return join_order::inner(planner, join, conjuncts);
            }
            Err(same) => join = same,
        }
    }
    match join.kind {
        JoinKind::Left | JoinKind::Semi | JoinKind::Anti => {
            let (above, mut left) = split(planner, conjuncts, &right_slots);
            let mut on = std::mem::take(&mut join.on);
            if join.kind == JoinKind::Semi && planner.allows(Rule::PushDownConditions) {
                // What is asked of the left row alone is asked of it once, whatever partners it has.
                let (both, own) = on.into_iter().partition(|one| {
                    reads(planner, one, &right_slots)
                        || one.volatile()
                        || !reads(planner, one, &left_slots)
                });
                on = both;
                left.extend::<Vec<_>>(own);
            }
            // A scan finds its rows by the left row's values; what stands before them does not.
            let implied = match join.right {
                Plan::Scan(_) | Plan::System(_) => Vec::new(),
                _ if !planner.allows(Rule::ImplyEqualities) => Vec::new(),
                _ => equivalence::of_partners(
                    &on,
                    &left,
                    &|var| left_slots.contains(&var.slot),
                    &|var| right_slots.contains(&var.slot),
                ),
            };
            let (on, mut right): (Vec<_>, Vec<_>) = on.into_iter().partition(|one| {
                !planner.allows(Rule::PushDownConditions)
                    || reads(planner, one, &left_slots)
                    || one.volatile()
                    || !one.subqueries().is_empty()
            });
            join.on = on;
            right.extend(implied);
            if join.kind == JoinKind::Semi {
                let join = sublinks::semi(planner, join, left, right);
                return filter(join, above);
            }
            // Each left row gives one at least.
            planner.wanted = wanted.filter(|_| join.kind == JoinKind::Left);
            join.left = optimise(planner, join.left, left);
            planner.wanted = wanted;
            let join = join_order::two_sided(planner, join, right);
            filter(join, above)
        }
        JoinKind::Right | JoinKind::Full | JoinKind::Inner => {
            join.left = optimise(planner, join.left, Vec::new());
            let join = join_order::two_sided(planner, join, Vec::new());
            filter(join, conjuncts)
        }
    }
}
