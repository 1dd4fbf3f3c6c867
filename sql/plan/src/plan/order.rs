//! What an order spares: sorts, where a key's is the one asked for; all rows but the first, where only the least or the
//! greatest value is; hashing, where rows that shall differ are sorted by what they shall differ in.

use super::access_path::{self, ByKey};
use super::build::Planner;
use super::estimate;
use super::figures::Figures;
use super::functions::comparator;
use super::physical::{
    Access, Aggregate, AggregateStep, Distinct, Join, JoinMethod, Limit, Plan, Reach, Scan,
    ScanColumn, Sort, Window,
};
use super::scalar::{Scalar, Var};
use super::translate::constant;
use crate::bind::Literal;
use crate::bind::logical::JoinKind;
use crate::catalog::{Relation, RelationKind, builtin};
use crate::settings::Rule;
use crate::tuple::{Form, KeyColumn, KeyLayout};
use crate::types::depth::deeper;
use crate::types::{Comparator, Datum, Oid, Shapes, SqlType, oids};
use std::collections::BTreeSet;
use txn::Direction;

/// The plan with all rows but the first left out where only the least or the greatest value is asked for.
#[must_use]
pub fn first_rows(planner: &mut Planner<'_>, plan: Plan) -> Plan {
    match plan {
        Plan::Sort(mut sort) => {
            sort.input = first_rows(planner, sort.input);
            Plan::Sort(sort)
        }
        Plan::Limit(mut limit) => {
            limit.input = first_rows(planner, limit.input);
            Plan::Limit(limit)
        }
        Plan::Project(input, into, columns) => {
            Plan::Project(Box::new(first_rows(planner, *input)), into, columns)
        }
        Plan::OneTimeFilter(input, conjuncts) => {
            Plan::OneTimeFilter(Box::new(first_rows(planner, *input)), conjuncts)
        }
        Plan::Barrier(input, alias) => Plan::Barrier(Box::new(first_rows(planner, *input)), alias),
        Plan::LockRows(mut lock) => {
            lock.input = first_rows(planner, lock.input);
            Plan::LockRows(lock)
        }
        plan @ Plan::Aggregate(_) => {
            let found = planner.apply(Rule::ExtremesByKey, plan, extremes);
            found.unwrap_or_else(|plan| plan)
        }
        other => other,
    }
}

/// An aggregate of least and greatest values by the keys that give their order.
fn extremes(planner: &mut Planner<'_>, plan: Plan) -> Plan {
    let Plan::Aggregate(aggregate) = plan else { return plan };
    match each_first(planner, &aggregate) {
        Some(plan) => plan,
        None => Plan::Aggregate(Box::new(first_only(planner, *aggregate))),
    }
}

/// The first columns in whose order the rows of windows come.
fn order_of_windows(plan: &Plan) -> Vec<(Var, Comparator)> {
    match plan {
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..) => deeper(|| order_of_windows(input)),
        Plan::Window(window) if window.keys().next().is_none() => {
            deeper(|| order_of_windows(&window.input))
        }
        Plan::Window(window) => {
            let vars = window.keys().map_while(|(key, order)| match key {
                Scalar::Var(var) => Some((*var, *order)),
                _ => None,
            });
            vars.collect()
        }
        _ => Vec::new(),
    }
}

/// How many rows come for each that differs, about.
#[must_use]
pub fn rows_of_each(figures: &Figures<'_>, distinct: &Distinct) -> f64 {
    let keys: Vec<&Scalar> = distinct.keys.iter().map(|(key, _)| key).collect();
    let of_table = |key: &&Scalar| match key {
        Scalar::Var(var) => figures.rows(var.slot),
        _ => 1.0,
    };
    let rows = keys.iter().map(of_table).fold(1.0, f64::max);
    rows / estimate::groups(figures, &keys, rows)
}

/// Which rows of a window's input are asked for first, where so many of its own are.
#[must_use]
pub fn first_of_window(planner: &Planner<'_>, window: &Window, rows: f64) -> Option<First> {
    if window.reach() < Reach::Partition {
        return Some(First::rows(rows));
    }
    let parts = window.partition_by.iter().map(|(key, order)| match key {
        Scalar::Var(var) => Some((*var, *order)),
        _ => None,
    });
    let parts: Vec<(Var, Comparator)> = parts.collect::<Option<_>>()?;
    // Of a part that is wanted all has to be there.
    let part = part_rows(planner, &window.input, &parts);
    (!parts.is_empty()).then(|| First::rows(rows).and(part))
}

/// A sort, or its input where that comes in its order, of which the `first` rows may be all that are asked for; without sorts an
/// index gives an order whatever it costs.
#[must_use]
pub fn avoid(planner: &Planner<'_>, mut sort: Sort, first: Option<First>) -> Plan {
    let sorts = planner.figures.methods().sorts;
    let keys: Option<Vec<(Var, Comparator)>> = sort
        .keys
        .iter()
        .map(|(key, order)| match key {
            Scalar::Var(var) => Some((*var, *order)),
            _ => None,
        })
        .collect();
    let alone = matches!(within(&sort.input), Plan::Scan(_));
    let first = first.filter(|_| sorts);
    let few = sort.top.is_some() || first.is_some() || !sorts;
    let Some(keys) = keys else { return Plan::Sort(Box::new(sort)) };
    if order_of_windows(&sort.input).starts_with(&keys) {
        return sort.input;
    }
    if let Some(scan) = leading_scan(&mut sort.input)
        && make_ordered(scan, &keys, few, (planner, first.filter(|_| alone)))
    {
        keep_order(&mut sort.input);
        return sort.input;
    }
    // Of groups that come by parts the last part that is wanted has to be read whole.
    let part = part_rows(planner, &sort.input, &keys);
    if groups_come_in(planner, &mut sort.input, &keys, (few, first), true)
        || groups_come_in(
            planner,
            &mut sort.input,
            &keys,
            (few, first.map(|first| first.and(part))),
            false,
        )
    {
        return sort.input;
    }
    Plan::Sort(Box::new(sort))
}

/// A sort whose input comes in the order of its first keys, if a key gives that: it sorts part by part, rows that are equal in
/// these (PostgreSQL's incremental sort). An index is read for it only below a LIMIT.
#[must_use]
pub fn presort(planner: &Planner<'_>, mut sort: Sort, first: Option<First>) -> Plan {
    let vars = sort.keys.iter().map_while(|(key, order)| match key {
        Scalar::Var(var) => Some((*var, *order)),
        _ => None,
    });
    let keys: Vec<(Var, Comparator)> = vars.collect();
    let alone = matches!(within(&sort.input), Plan::Scan(_));
    let limited = sort.top.is_some() || first.is_some();
    let known = order_of_windows(&sort.input);
    for count in (1..sort.keys.len()).rev().filter(|count| *count <= keys.len()) {
        let keys = &keys[..count];
        let part = part_rows(planner, &sort.input, keys);
        let first = first.map(|first| first.and(part));
        let few = limited && first.is_some();
        let found = match leading_scan(&mut sort.input) {
            Some(scan) if alone || limited => {
                let known = first.filter(|_| alone);
                make_ordered(scan, keys, few && alone, (planner, known))
            }
            _ => false,
        };
        if found {
            keep_order(&mut sort.input);
        }
        if found
            || known.starts_with(keys)
            || groups_come_in(planner, &mut sort.input, keys, (few, first), true)
            || groups_come_in(planner, &mut sort.input, keys, (few, first), false)
        {
            sort.presorted = count;
            break;
        }
    }
    Plan::Sort(Box::new(sort))
}

/// How many rows of a plan are equal in these keys, about.
fn part_rows(planner: &Planner<'_>, plan: &Plan, keys: &[(Var, Comparator)]) -> f64 {
    let rows = estimate::of(&planner.figures, plan).rows;
    let keys: Vec<Scalar> = keys.iter().map(|(var, _)| Scalar::Var(*var)).collect();
    rows / estimate::groups(&planner.figures, &keys.iter().collect::<Vec<_>>(), rows)
}

/// Has groups come in the order of these keys of theirs, each once its last row is in (`GroupAggregate`), where a key of the
/// table gives it. `few`: not all of them are wanted; as many as `first`, if that is known. Unless they come `singly` those
/// that are equal in these keys come together.
pub fn groups_come_in(
    planner: &Planner<'_>,
    plan: &mut Plan,
    sorted: &[(Var, Comparator)],
    (few, first): (bool, Option<First>),
    singly: bool,
) -> bool {
    let groups = estimate::of(&planner.figures, plan).rows.max(1.0);
    let Some(aggregate) = plain_groups(plan) else { return false };
    // Whether rows can be compared is found out over all of them.
    let types: Vec<u32> = aggregate.keys.iter().map(|(_, ty)| ty.0).collect();
    if Shapes::of(&types).is_some() {
        return false;
    }
    let Some(wanted) = rows_of_groups(aggregate, sorted, singly) else { return false };
    let alone = matches!(within(&aggregate.input), Plan::Scan(_));
    let Some(scan) = leading_scan(&mut aggregate.input) else { return false };
    // Of all rows joined none goes out sooner; without an order any groups will do, so it has to be known that it pays.
    if !alone && (!few || sorted.is_empty()) {
        return false;
    }
    let first = first.map(|first| First {
        read: (first.read * scan.rows / groups).clamp(first.read, scan.rows.max(first.read)),
        ..first
    });
    if !make_ordered(scan, &wanted, few, (planner, first)) {
        return false;
    }
    aggregate.ordered = match singly {
        true => (0..aggregate.keys.len() as u32).collect(),
        false => sorted.iter().map(|(var, _)| var.column).collect(),
    };
    keep_order(&mut aggregate.input);
    true
}

/// The groups that a plan hands on, if these do not come in an order already.
fn plain_groups(plan: &mut Plan) -> Option<&mut Aggregate> {
    match plan {
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..) => plain_groups(input),
        Plan::Aggregate(aggregate) if aggregate.is_plain() && aggregate.ordered.is_empty() => {
            Some(aggregate)
        }
        _ => None,
    }
}

/// In which order rows have to come so that their groups come by these keys, and, if `singly`, the rows of each one behind the
/// other.
fn rows_of_groups(
    aggregate: &Aggregate,
    sorted: &[(Var, Comparator)],
    singly: bool,
) -> Option<Vec<(Var, Comparator)>> {
    let key = |at: usize| match aggregate.keys.get(at)? {
        (Scalar::Var(var), ty) => Some((*var, *ty)),
        _ => None,
    };
    let mut wanted = Vec::new();
    for (var, order) in sorted {
        let (own, _) = key(var.column as usize).filter(|_| var.slot == aggregate.slot)?;
        wanted.push((own, *order));
    }
    let descending = sorted.first().is_some_and(|(_, order)| order.descending);
    for at in 0..aggregate.keys.len() {
        if singly && sorted.iter().all(|(var, _)| var.column as usize != at) {
            let (own, ty) = key(at)?;
            wanted.push((own, comparator(ty, descending, descending).ok()?));
        }
    }
    Some(wanted)
}

/// What gives the rows that nodes hand on which neither drop nor double any.
fn within(plan: &Plan) -> &Plan {
    match plan {
        Plan::OneTimeFilter(input, _) | Plan::Barrier(input, _) | Plan::Project(input, ..) => {
            within(input)
        }
        Plan::LockRows(lock) => within(&lock.input),
        plan => plan,
    }
}

/// Reading by a key in order stops early where the rows that are wanted lie among the others by chance: only where that is by so
/// much cheaper is it worth to find out.
const BY_CHANCE: f64 = 4.0;
/// So few rows a sort below a LIMIT keeps and no more.
const FEW: f64 = 10_000.0;

/// The first rows of an order.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// How many have to be read, in a key's order.
    pub read: f64,
    /// How many a sort of all keeps.
    pub kept: f64,
}

impl First {
    /// So many.
    #[must_use]
    pub fn rows(rows: f64) -> First {
        First { read: rows, kept: rows }
    }

    /// Those that a sort's LIMIT wants, if it is known.
    #[must_use]
    pub fn of(sort: &Sort) -> Option<First> {
        let (limit, offset) = sort.top.as_ref()?;
        estimate::first_rows(limit.as_ref(), offset.as_ref()).map(First::rows)
    }

    /// As many more have to be read.
    fn and(self, more: f64) -> First {
        First { read: self.read + more, ..self }
    }
}

/// How many comparisons a sort of all rows takes for each, in terms of what a row costs to read.
const COMPARISON: f64 = 0.25;

/// What it costs to find the first rows in the order of a key by that key; none if reading as the scan does, and sorting, is cheaper.
fn worth(first: First, scan: &Scan, way: &ByKey) -> Option<f64> {
    let read = (first.read * way.rows / scan.rows.max(1.0)).min(way.rows);
    let ordered = if way.access.index.is_some() { read * estimate::DESCENT } else { read };
    // Of a sort that keeps few most rows are seen to come behind them by their first key.
    let compared = (first.kept.max(2.0).log2() * COMPARISON).min(if first.kept <= FEW {
        0.5
    } else {
        f64::MAX
    });
    let sorted = scan.cost + scan.rows * compared;
    // What the key alone finds lies nowhere by chance.
    let by_chance = match scan.access {
        Access::Full(_) => 1.0,
        _ if way.rows <= scan.rows => 1.0,
        _ => BY_CHANCE,
    };
    (ordered * by_chance < sorted).then_some(ordered)
}

/// Whether a sort's first keys are just the columns in which the rows of a DISTINCT above it differ.
#[must_use]
pub fn sorts_by(sort: &Sort, keys: &[(Scalar, Oid)]) -> bool {
    let var = |key| if let &Scalar::Var(var) = key { Some(var) } else { None };
    let vars =
        |keys: &mut dyn Iterator<Item = Option<Var>>| keys.collect::<Option<BTreeSet<Var>>>();
    let Some(first) = sort.keys.get(..keys.len()) else { return false };
    let sorted = vars(&mut first.iter().map(|(key, _)| var(key)));
    sorted.is_some() && sorted == vars(&mut keys.iter().map(|(key, _)| var(key)))
}

/// A sort; where it sorts just the columns of a DISTINCT below, and that drops few rows, with this above it.
#[must_use]
pub fn distinct_behind(figures: &Figures<'_>, mut sort: Box<Sort>) -> Plan {
    let drops_few = |distinct: &Plan, input: &Plan| {
        estimate::of(figures, distinct).rows * 2.0 > estimate::of(figures, input).rows
    };
    let Plan::Distinct(distinct) = &sort.input else { return Plan::Sort(sort) };
    let all = sort.keys.len() == distinct.keys.len() && sort.top.is_none();
    if !all || !sorts_by(&sort, &distinct.keys) || !drops_few(&sort.input, &distinct.input) {
        return Plan::Sort(sort);
    }
    let Plan::Distinct(mut distinct) = std::mem::replace(&mut sort.input, Plan::Nothing) else {
        unreachable!("it has just been one")
    };
    sort.input = std::mem::replace(&mut distinct.input, Plan::Nothing);
    *distinct = Distinct { input: Plan::Sort(sort), ordered: true, ..*distinct };
    Plan::Distinct(distinct)
}

/// `min` or `max` alone, of a column whose order a key gives: the first row that has a value says it.
fn first_only(planner: &Planner<'_>, mut aggregate: Aggregate) -> Aggregate {
    let whole = aggregate.keys.is_empty() && aggregate.sets.len() == 1;
    if let [call] = &aggregate.calls[..]
        && whole
        && let Some((var, order)) = extreme(call)
        && let alone = matches!(&aggregate.input, Plan::Scan(_))
        && let Some(scan) = leading_scan(&mut aggregate.input)
        && begins_with(planner, scan, (var, order), alone)
    {
        aggregate.input = first_of(aggregate.input);
    }
    aggregate
}

/// The first row of a plan.
fn first_of(input: Plan) -> Plan {
    let ty = SqlType::plain(oids::INT8);
    let limit = Some(constant(&Literal::of(&Datum::Int8(1)), ty));
    let (offset, ties) = (None, None);
    Plan::Limit(Box::new(Limit { input, limit, offset, ties }))
}

/// Several of `min` and `max` side by side, where a key gives the order of each one's column and what is read of the table
/// is nothing but a stretch of a key: each reads the first row that it wants by itself, instead of all together all rows.
fn each_first(planner: &mut Planner<'_>, aggregate: &Aggregate) -> Option<Plan> {
    let whole = aggregate.keys.is_empty() && aggregate.sets.len() == 1;
    let Plan::Scan(scan) = &aggregate.input else { return None };
    let asks = match &scan.access {
        Access::Key(key) => key.scalars().any(|value| !value.subqueries().is_empty()),
        Access::IndexUnion(_) => true,
        Access::Full(_) | Access::Current(_) => false,
    };
    if !whole || aggregate.calls.len() < 2 || asks || !scan.filter.is_empty() {
        return None;
    }
    let mut scans = Vec::new();
    for call in &aggregate.calls {
        let mut one = scan.clone();
        if !begins_with(planner, &mut one, extreme(call)?, true) {
            return None;
        }
        scans.push(one);
    }
    let (mut beside, mut columns) = (None, Vec::new());
    for (scan, call) in scans.into_iter().zip(&aggregate.calls) {
        let slot = planner.slot(1);
        columns.push(Scalar::Var(Var { slot, column: 0 }));
        let one = Plan::Aggregate(Box::new(Aggregate {
            input: first_of(Plan::Scan(scan)),
            slot,
            keys: Vec::new(),
            sets: aggregate.sets.clone(),
            calls: vec![call.clone()],
            ordered: Vec::new(),
        }));
        beside = Some(match beside {
            None => one,
            Some(left) => Plan::Join(Box::new(Join {
                kind: JoinKind::Inner,
                left,
                right: one,
                on: Vec::new(),
                method: JoinMethod::NestedLoop,
                dependent: false,
                left_slots: Vec::new(),
                right_slots: Vec::new(),
                rows: 1.0,
                cost: 1.0,
            })),
        });
    }
    Some(Plan::Project(Box::new(beside?), aggregate.slot, columns))
}

/// The column that an aggregate wants the first of, and in which order.
fn extreme(call: &AggregateStep) -> Option<(Var, Comparator)> {
    let sort_operator = builtin::aggregate(call.function)?.sort_operator;
    let descending = builtin::operator(sort_operator)?.name == ">";
    let ([Scalar::Var(var)], [ty]) = (&call.arguments[..], &call.types.arguments[..]) else {
        return None;
    };
    if call.filter.is_some() || call.keeps() {
        return None;
    }
    Some((*var, comparator(ty.oid, descending, descending).ok()?))
}

/// Turns a scan so that it begins with the value that comes first in this order, and leaves NULLs out. Only of a scan that is `alone` it is
/// known how many rows it has to give.
fn begins_with(
    planner: &Planner<'_>,
    scan: &mut Scan,
    (var, order): (Var, Comparator),
    alone: bool,
) -> bool {
    if scan.access.is_single() || var.slot != scan.slot {
        return false;
    }
    let nullable = match scan.outputs[var.column as usize] {
        ScanColumn::Column(column) => !scan.relation.columns[column].not_null,
        _ => false,
    };
    let before = (scan.filter.len(), scan.recheck.len());
    if nullable {
        let there = Scalar::IsNull(Box::new(Scalar::Var(var)), true);
        scan.recheck.push(there.clone());
        scan.filter.push(there);
    }
    // With other conditions an index in order may have to be read to its end, a descent for each row.
    let few = alone && before.0 == 0;
    let first = (alone && !few).then(|| First::rows(1.0));
    let other = Comparator { nulls_first: !order.nulls_first, ..order };
    let mut orders = [order, other].into_iter();
    let found = orders.any(|order| make_ordered(scan, &[(var, order)], few, (planner, first)));
    if !found {
        scan.filter.truncate(before.0);
        scan.recheck.truncate(before.1);
    }
    found
}

/// The scan whose order the plan's rows come in.
fn leading_scan(plan: &mut Plan) -> Option<&mut Scan> {
    match plan {
        Plan::Scan(scan) => Some(scan),
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..) => leading_scan(input),
        Plan::LockRows(lock) => leading_scan(&mut lock.input),
        Plan::Join(join)
            if matches!(
                join.kind,
                JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti
            ) && matches!(join.method, JoinMethod::NestedLoop | JoinMethod::Hash { .. }) =>
        {
            leading_scan(&mut join.left)
        }
        _ => None,
    }
}

/// Has the joins on the way to the scan that gives the order keep it, whatever memory they take.
fn keep_order(plan: &mut Plan) {
    match plan {
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..) => keep_order(input),
        Plan::LockRows(lock) => keep_order(&mut lock.input),
        Plan::Join(join) => {
            if let JoinMethod::Hash { ordered, .. } = &mut join.method {
                *ordered = true;
            }
            keep_order(&mut join.left);
        }
        _ => {}
    }
}

/// Turns a scan so that its rows come by `keys`, if one of its keys can do that at no more cost. The key takes over what the scan's
/// conditions say of its columns; where it is known how many rows are wanted first, that counts.
fn make_ordered(
    scan: &mut Scan,
    keys: &[(Var, Comparator)],
    few: bool,
    (planner, first): (&Planner<'_>, Option<First>),
) -> bool {
    let wanted: Option<Vec<(usize, bool, bool)>> = keys
        .iter()
        .map(|(var, order)| {
            if var.slot != scan.slot {
                return None;
            }
            match scan.outputs[var.column as usize] {
                ScanColumn::Column(column) => Some((column, order.descending, order.nulls_first)),
                _ => None,
            }
        })
        .collect();
    let Some(mut wanted) = wanted else { return false };
    // What stands behind a row's whole key has one value.
    if let RelationKind::Table { key, .. } = &scan.relation.kind
        && !key.is_empty()
    {
        let fixed = match &scan.access {
            Access::Key(key) => &key.layout.columns[..key.equal.len()],
            _ => &[],
        };
        let known = |end: &usize| {
            key.iter().all(|one| {
                wanted[..*end].iter().any(|(column, ..)| column == one)
                    || fixed.iter().any(|fixed| fixed.column == *one)
            })
        };
        if let Some(end) = (1..wanted.len()).find(known) {
            wanted.truncate(end);
        }
    }
    match &mut scan.access {
        Access::Key(key) => {
            if key.is_single() && key.index.is_none() {
                return true;
            }
            let columns = entry_columns(&key.layout, key.index.is_some(), &scan.relation);
            match direction(&columns, key.equal.len(), &wanted, &scan.relation) {
                Some(direction) => {
                    key.direction = direction;
                    true
                }
                None => by_other_key(planner, scan, &wanted, (few, first)),
            }
        }
        Access::Current(_) => true,
        Access::IndexUnion(_) => false,
        Access::Full(_) => by_other_key(planner, scan, &wanted, (few, first)),
    }
}

/// Has a scan read by a key in the order wanted, if it has one and reading as it does, and sorting, is not cheaper. Where it is not known
/// how many rows are wanted `first`, what reads all takes a secondary key only for the first `few`.
fn by_other_key(
    planner: &Planner<'_>,
    scan: &mut Scan,
    wanted: &[(usize, bool, bool)],
    (few, first): (bool, Option<First>),
) -> bool {
    let reads_all = matches!(scan.access, Access::Full(_));
    let all = if reads_all { scan.filter.clone() } else { scan.recheck.clone() };
    let mut best: Option<(f64, ByKey)> = None;
    for mut way in access_path::in_order(planner, scan, &all) {
        let key = &mut way.access;
        let columns = entry_columns(&key.layout, key.index.is_some(), &scan.relation);
        let Some(direction) = direction(&columns, key.equal.len(), wanted, &scan.relation) else {
            continue;
        };
        key.direction = direction;
        // An index in order costs a descent for each row.
        if reads_all && key.index.is_some() && !few && first.is_none() {
            continue;
        }
        let cost = match first {
            Some(first) => worth(first, scan, &way),
            None if reads_all => Some(way.cost),
            None => {
                let sorted = scan.cost + scan.rows * scan.rows.max(2.0).log2() * COMPARISON;
                Some(way.cost).filter(|cost| *cost < sorted)
            }
        };
        if let Some(cost) = cost
            && best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            best = Some((cost, way));
        }
    }
    let Some((_, way)) = best else { return false };
    let mut at = 0..;
    scan.filter = all;
    scan.filter.retain(|_| at.next().is_some_and(|at| !way.used.contains(&at)));
    scan.access = Access::Key(Box::new(way.access));
    true
}

/// The columns in whose order a tree has its entries: behind those of an index stands the row's key, except where equal keys meet in
/// one entry and there is nothing to order.
fn entry_columns(layout: &KeyLayout, index: bool, relation: &Relation) -> Vec<KeyColumn> {
    let mut columns = layout.columns.clone();
    if let RelationKind::Table { key, .. } = &relation.kind
        && index
    {
        let row_key = relation.key_layout(key).columns;
        let new = |one: &KeyColumn| layout.columns.iter().all(|known| known.column != one.column);
        columns.extend(row_key.into_iter().filter(new));
    }
    columns
}

/// Which way a key gives the order wanted, behind `fixed` columns that have one value.
fn direction(
    columns: &[KeyColumn],
    fixed: usize,
    wanted: &[(usize, bool, bool)],
    relation: &Relation,
) -> Option<Direction> {
    let (fixed, rest) = columns.split_at(fixed);
    let fixed_columns: Vec<usize> = fixed.iter().map(|column| column.column).collect();
    let mut rest = rest.iter();
    let mut way: Option<bool> = None;
    for (column, descending, nulls_first) in wanted {
        if fixed_columns.contains(column) {
            continue;
        }
        let key = rest.next()?;
        // Equal floats and padded texts are one key; anything else would need the row.
        if key.column != *column || matches!(key.form, Form::Record | Form::Array) {
            return None;
        }
        let reversed = key.descending != *descending;
        let nullable = !relation.columns[*column].not_null && key.nullable;
        if nullable && (key.nulls_first != *nulls_first) != reversed {
            return None;
        }
        if *way.get_or_insert(reversed) != reversed {
            return None;
        }
    }
    Some(match way {
        Some(true) => Direction::Backward,
        _ => Direction::Forward,
    })
}
