//! The order of inner joins: left-deep, greedy, cheapest next.
//!
//! A group of inner joins is taken apart into its inputs and conditions. From each input as a beginning (from the
//! smallest only, where there are many), the input whose join costs least is added until none is left: by an index or key
//! of it that the rows so far give values for, by a hash table, or by nested loops where no equality ties it. The work is
//! cubic in the number of inputs at worst, so 64 tables plan in milliseconds; Selinger's dynamic programming would find
//! better bushy orders at a price that OLTP queries do not repay.

use super::build::Planner;
use super::equivalence;
use super::estimate::{self, DESCENT, Estimate};
use super::functions::{Comparison, comparison, equal_moment, hashed_types};
use super::physical::{Access, Join, JoinMethod, Plan, Scan};
use super::pushdown::{filter, gate, gated, is_steady, of_sides, optimise, reads, through};
use super::scalar::{Scalar, Var};
use super::subplan::SubplanKind;
use super::{access_path, lateral, vars};
use crate::bind::logical::{JoinKind, SetKind};
use crate::settings::Rule;
use crate::types::Oid;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Up to this many inputs each is tried as the beginning.
const EXHAUSTIVE_STARTS: usize = 8;

/// What entering a row into a hash table costs, where looking one up costs 1: the smaller side is entered.
const BUILD: f64 = 1.5;

/// So many times larger the right side of an outer join is to be for the left one to be entered in the hash table: rows then
/// come in no order.
const TURNED: f64 = 1.5;

/// What it costs to hold two rows against a condition.
const COMPARED: f64 = 0.2;

/// One input of a group.
struct Item {
    plan: Plan,
    slots: HashSet<u32>,
    /// Slots of other items that it reads (LATERAL).
    needs: HashSet<u32>,
}

/// An inner join and all inner joins below it, ordered.
pub fn inner(planner: &mut Planner<'_>, join: Join, mut conjuncts: Vec<Scalar>) -> Plan {
    let wanted = planner.wanted.take();
    let mut items = Vec::new();
    let before = planner.before(Rule::OrderJoins, &(&join, [&conjuncts[..]]));
    flatten(planner, Plan::Join(Box::new(join)), &mut items, &mut conjuncts);
    let above = raise(planner, &mut items, &mut conjuncts);
    let own: HashMap<u32, usize> = items
        .iter()
        .enumerate()
        .flat_map(|(at, item)| item.slots.iter().map(move |slot| (*slot, at)))
        .collect();
    for item in &mut items {
        let read = reads_of(planner, &item.plan);
        let slots = read.iter().map(|var| var.slot);
        item.needs =
            slots.filter(|slot| own.contains_key(slot) && !item.slots.contains(slot)).collect();
        if !item.needs.is_empty()
            && let Some((plan, moved)) = lateral::freed(planner, &item.plan, &item.needs)
        {
            item.plan = plan;
            item.needs.clear();
            conjuncts.extend(moved);
        }
    }
    if planner.allows(Rule::ImplyEqualities) {
        conjuncts = equivalence::with_values(conjuncts, &|var| own.contains_key(&var.slot));
    }
    // Conditions on one input alone belong to it, whatever the order.
    let (mut joining, mut once) = (Vec::new(), Vec::new());
    let mut single: Vec<Vec<Scalar>> = items.iter().map(|_| Vec::new()).collect();
    for one in conjuncts {
        let users = items_read(planner, &one, &own);
        match users[..] {
            _ if one.volatile() => joining.push((one, users)),
            [] if planner.allows(Rule::OneTimeFilters) => once.push(one),
            [at] if planner.allows(Rule::PushDownConditions) => single[at].push(one),
            _ => joining.push((one, users)),
        }
    }
    let mut base = Vec::new();
    for (item, conditions) in items.iter_mut().zip(single) {
        let plan = std::mem::replace(&mut item.plan, Plan::Nothing);
        let needs = &item.needs;
        item.plan = with_conditions(planner, plan, conditions, &|var| {
            own.contains_key(&var.slot) && !needs.contains(&var.slot)
        });
        let estimate = estimate::of(&planner.figures, &item.plan);
        base.push((estimate.rows, estimate.cost));
    }
    let order = match planner.allows(Rule::OrderJoins) {
        true => {
            let (items, own, base, joining) = (&items, &own, &base, &joining);
            let first = wanted.and_then(|wanted| own.get(&wanted.leads?)).copied();
            Search { planner, items, own, base, joining }.best_order(first)
        }
        false => (0..items.len()).collect(),
    };
    let mut met = Met::new(items.len(), joining.iter().map(|(_, users)| &**users));
    let mut joining: Vec<Option<Scalar>> = joining.into_iter().map(|(one, _)| Some(one)).collect();
    let mut items: Vec<Option<Item>> = items.into_iter().map(Some).collect();
    let mut joined: Option<(Plan, Estimate, HashSet<u32>)> = None;
    for at in order {
        let item = items[at].take().expect("an order names each input once");
        let now = met.join(at).into_iter().filter_map(|number| joining[number].take()).collect();
        let slots = item.slots.clone();
        let (plan, estimate, mut set) = match joined {
            None => {
                let plan = filter(item.plan, now);
                let estimate = estimate::of(&planner.figures, &plan);
                (plan, estimate, HashSet::new())
            }
            Some((left, estimate, set)) => {
                planner.wanted = wanted;
                let (plan, estimate) = add(planner, (left, estimate), item, now, &set, &own);
                (plan, estimate, set)
            }
        };
        set.extend(slots);
        joined = Some((plan, estimate, set));
    }
    let (plan, ..) = joined.expect("a join has inputs");
    let plan = above
        .into_iter()
        .rev()
        .fold(plan, |plan, (slot, columns)| Plan::Project(Box::new(plan), slot, columns));
    let plan = gate(planner, plan, once);
    planner.after(before, &plan);
    plan
}

/// Takes computed columns that hold subqueries, or that look at other inputs, out of a group of joins, to be computed above it,
/// for the rows that are left: where no condition and no other input reads them. What they are computed over becomes inputs of
/// the group.
fn raise(
    planner: &mut Planner<'_>,
    items: &mut Vec<Item>,
    conjuncts: &mut Vec<Scalar>,
) -> Vec<(u32, Vec<Scalar>)> {
    let mut raised = Vec::new();
    let may_rise = |planner: &Planner<'_>, items: &[Item], conjuncts: &[Scalar], at: usize| {
        let Plan::Project(_, slot, columns) = &items[at].plan else { return false };
        let slots = HashSet::from([*slot]);
        let holds = || columns.iter().any(|one| !one.subqueries().is_empty());
        let others = || items.iter().enumerate().filter(|(other, _)| *other != at);
        let looks = || {
            let beside = |slot: u32| others().any(|(_, item)| item.slots.contains(&slot));
            columns.iter().any(|one| one.reads(&mut |var| beside(var.slot)))
        };
        let asked = || conjuncts.iter().any(|one| reads(planner, one, &slots));
        let may = match planner.allows(Rule::PullUpLaterals) && looks() {
            true => {
                let columns = [(*slot, columns.clone())];
                columns[0].1.iter().all(is_steady)
                    && lateral::replaced(planner, conjuncts, &columns).is_some()
            }
            false => planner.allows(Rule::PostponeSubqueries) && holds() && !asked(),
        };
        may && !columns.iter().any(|one| changes(planner, one))
            && !others()
                .any(|(_, item)| reads_of(planner, &item.plan).iter().any(|var| var.slot == *slot))
    };
    while let Some(at) = (0..items.len()).find(|at| may_rise(planner, items, conjuncts, *at)) {
        let Plan::Project(input, slot, columns) = items.remove(at).plan else { break };
        let own = [(slot, columns)];
        if let Some(replaced) = lateral::replaced(planner, conjuncts, &own) {
            *conjuncts = replaced;
        }
        let [(slot, columns)] = own;
        let behind = items.split_off(at);
        flatten(planner, *input, items, conjuncts);
        items.extend(behind);
        raised.push((slot, columns));
    }
    raised
}

/// Whether a scalar, its subqueries included, may be another value when it is computed again over the same rows.
fn changes(planner: &Planner<'_>, one: &Scalar) -> bool {
    let mut found = Reads::default();
    one.subqueries().into_iter().for_each(|number| found.subplan(planner, number));
    one.volatile() || found.volatile
}

/// The inputs that a condition reads, its subqueries included, in order.
fn items_read(planner: &Planner<'_>, one: &Scalar, own: &HashMap<u32, usize>) -> Vec<usize> {
    let mut vars = BTreeSet::new();
    one.reads(&mut |var| {
        vars.insert(var);
        false
    });
    for number in one.subqueries() {
        subplan_reads(planner, number, &mut vars);
    }
    let items: BTreeSet<usize> =
        vars.iter().filter_map(|var| own.get(&var.slot)).copied().collect();
    items.into_iter().collect()
}

/// Which conditions can be asked as inputs are joined one by one.
struct Met {
    /// The conditions on each input.
    of: Vec<Vec<usize>>,
    /// On how many inputs each condition waits.
    waits: Vec<usize>,
    /// Conditions on no input at all, which nobody has asked yet.
    free: Vec<usize>,
}

impl Met {
    /// Of conditions that each read some of `items` inputs.
    fn new<'u>(items: usize, conditions: impl Iterator<Item = &'u [usize]>) -> Met {
        let mut met = Met { of: vec![Vec::new(); items], waits: Vec::new(), free: Vec::new() };
        for (number, users) in conditions.enumerate() {
            users.iter().for_each(|at| met.of[*at].push(number));
            met.waits.push(users.len());
            met.free.extend(users.is_empty().then_some(number));
        }
        met
    }

    /// The conditions that joining this input would make ready.
    fn by(&self, at: usize) -> impl Iterator<Item = usize> {
        self.of[at].iter().copied().filter(|number| self.waits[*number] == 1)
    }

    /// Joins an input: the conditions that are ready now.
    fn join(&mut self, at: usize) -> Vec<usize> {
        let mut ready = std::mem::take(&mut self.free);
        ready.extend(self.by(at));
        self.of[at].iter().for_each(|number| self.waits[*number] -= 1);
        ready.sort_unstable();
        ready
    }
}

fn flatten(
    planner: &mut Planner<'_>,
    plan: Plan,
    items: &mut Vec<Item>,
    conjuncts: &mut Vec<Scalar>,
) {
    match plan {
        Plan::Join(join) if join.kind == JoinKind::Inner => {
            conjuncts.extend(join.on);
            flatten(planner, join.left, items, conjuncts);
            flatten(planner, join.right, items, conjuncts);
        }
        Plan::Filter(input, own) => {
            conjuncts.extend(own);
            flatten(planner, *input, items, conjuncts);
        }
        Plan::Unit => {}
        plan => {
            let slots = planner.slots(&plan);
            items.push(Item { plan, slots, needs: HashSet::new() });
        }
    }
    if items.is_empty() {
        items.push(Item { plan: Plan::Unit, slots: HashSet::new(), needs: HashSet::new() });
    }
}

/// A plan below a join with its own conditions; `later` are homes that are not filled when it begins.
fn with_conditions(
    planner: &mut Planner<'_>,
    plan: Plan,
    conditions: Vec<Scalar>,
    later: &dyn Fn(Var) -> bool,
) -> Plan {
    gated(planner, plan, conditions, |planner, plan, conditions| match plan {
        Plan::Scan(scan) => access_path::choose(planner, *scan, conditions, later),
        Plan::System(mut scan) => {
            scan.filter.extend(conditions);
            access_path::choose_system(&mut scan, later);
            Plan::System(scan)
        }
        other => optimise(planner, other, conditions),
    })
}

/// A search for a good order of a group's items.
struct Search<'s, 'a> {
    planner: &'s Planner<'a>,
    items: &'s [Item],
    /// The item that fills each slot.
    own: &'s HashMap<u32, usize>,
    /// Rows and cost of each item alone.
    base: &'s [(f64, f64)],
    /// Conditions on several items, and the items that each reads.
    joining: &'s [(Scalar, Vec<usize>)],
}

/// What has been joined so far.
struct Joined {
    order: Vec<usize>,
    set: HashSet<u32>,
    met: Met,
    rows: f64,
    cost: f64,
}

impl Search<'_, '_> {
    /// The cheapest order, beginning with `first` if there is one that has to.
    fn best_order(&self, first: Option<usize>) -> Vec<usize> {
        let mut starts: Vec<usize> =
            (0..self.items.len()).filter(|at| self.items[*at].needs.is_empty()).collect();
        if let Some(first) = first.filter(|first| starts.contains(first)) {
            starts = vec![first];
        }
        if starts.len() > EXHAUSTIVE_STARTS {
            starts.sort_by(|a, b| self.base[*a].0.total_cmp(&self.base[*b].0));
            starts.truncate(1);
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        for start in starts {
            let (cost, order) = self.greedy(start);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, order));
            }
        }
        best.map_or_else(|| (0..self.items.len()).collect(), |(_, order)| order)
    }

    fn greedy(&self, start: usize) -> (f64, Vec<usize>) {
        let (rows, cost) = self.base[start];
        let mut met = Met::new(self.items.len(), self.joining.iter().map(|(_, users)| &**users));
        met.join(start);
        let set = self.items[start].slots.clone();
        let mut joined = Joined { order: vec![start], set, met, rows, cost };
        let mut left: Vec<usize> = (0..self.items.len()).filter(|at| *at != start).collect();
        while !left.is_empty() {
            let mut next: Option<((f64, f64), usize)> = None;
            for (place, at) in left.iter().enumerate() {
                if !self.items[*at].needs.is_subset(&joined.set) {
                    continue;
                }
                let step = self.step(*at, &joined);
                if next.is_none_or(|(least, _)| step.0 + step.1 < least.0 + least.1) {
                    next = Some((step, place));
                }
            }
            let Some(((after, added), place)) = next else {
                return (f64::INFINITY, (0..self.items.len()).collect());
            };
            let at = left.remove(place);
            joined.rows = after;
            joined.cost += added;
            joined.set.extend(&self.items[at].slots);
            joined.met.join(at);
            joined.order.push(at);
        }
        (joined.cost, joined.order)
    }

    /// Rows after joining an item to what has been joined, and what it costs.
    fn step(&self, at: usize, joined: &Joined) -> (f64, f64) {
        let (planner, item, base, rows) =
            (self.planner, &self.items[at], self.base[at], joined.rows);
        let conditions: Vec<&Scalar> =
            joined.met.by(at).map(|number| &self.joining[number].0).collect();
        if conditions.is_empty() {
            return ((rows * base.0).max(1.0), rows * base.1.max(1.0));
        }
        let equal = conditions
            .iter()
            .filter(|one| equality(one, &joined.set, &item.slots).is_some())
            .count();
        let kept = joined_part(planner, &conditions, equal, rows, base.0);
        let after = (rows * base.0 * kept).max(1.0);
        let methods = planner.figures.methods();
        let mut least = if equal > 0 {
            base.1 + BUILD * base.0 + rows + disabled(methods.hash_joins)
        } else {
            rows * base.1.max(1.0) + disabled(methods.nested_loops)
        };
        let later = |var: Var| self.own.contains_key(&var.slot) && !joined.set.contains(&var.slot);
        if let Some(indexed) =
            by_key(planner, &item.plan, conditions.into_iter().cloned().collect(), &later)
        {
            let cost = estimate::of(&planner.figures, &indexed).cost;
            least = least.min(rows * cost + disabled(methods.nested_loops));
        }
        (after, least)
    }
}

/// What is added to the cost of a method that is not to be used: it is taken where there is no other (`disable_cost`).
pub(super) fn disabled(enabled: bool) -> f64 {
    if enabled { 0.0 } else { 1.0e10 }
}

/// A scan under more conditions, whose other sides are at hand before each pass: by whichever key serves it best then.
fn by_key(
    planner: &Planner<'_>,
    plan: &Plan,
    conditions: Vec<Scalar>,
    later: &dyn Fn(Var) -> bool,
) -> Option<Plan> {
    match plan {
        Plan::Scan(scan) => {
            let mut scan = (**scan).clone();
            scan.filter = std::mem::take(&mut scan.recheck);
            scan.forget_access();
            Some(access_path::choose(planner, scan, conditions, later))
        }
        Plan::System(scan) => {
            let mut scan = scan.clone();
            scan.filter.extend(conditions);
            access_path::choose_system(&mut scan, later);
            Some(Plan::System(scan))
        }
        Plan::Barrier(input, alias) => {
            let passing = conditions.into_iter().filter(|one| !one.may_leak());
            let input = by_key(planner, input, passing.collect(), later)?;
            Some(Plan::Barrier(Box::new(input), alias.clone()))
        }
        Plan::Project(input, slot, columns) => {
            let value = |column: u32| columns.get(column as usize);
            let (above, below) = through(planner, conditions, *slot, &value);
            if !above.is_empty() {
                return None;
            }
            let input = by_key(planner, input, below, later)?;
            Some(Plan::Project(Box::new(input), *slot, columns.clone()))
        }
        Plan::SetOperation(set) if set.all && set.kind == SetKind::Union => {
            let (above, [left, right]) = of_sides(set, conditions);
            if !above.is_empty() {
                return None;
            }
            let mut set = set.clone();
            set.left.0 = by_key(planner, &set.left.0, left, later)?;
            set.right.0 = by_key(planner, &set.right.0, right, later)?;
            Some(Plan::SetOperation(set))
        }
        _ => None,
    }
}

/// Whether a scan reads rows by a key rather than all of them.
fn reads_by_key(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(scan) => matches!(scan.access, Access::Key(_) | Access::IndexUnion(_)),
        Plan::System(scan) => scan.is_keyed(),
        Plan::Barrier(input, _) | Plan::Project(input, ..) => reads_by_key(input),
        Plan::SetOperation(set) => reads_by_key(&set.left.0) && reads_by_key(&set.right.0),
        _ => false,
    }
}

/// Whether a scan that reads rows by a key stands behind a barrier, which conditions that may leak have not passed.
fn is_barred(plan: &Plan) -> bool {
    match plan {
        Plan::Barrier(..) => true,
        Plan::Project(input, ..) => is_barred(input),
        Plan::SetOperation(set) => is_barred(&set.left.0) || is_barred(&set.right.0),
        _ => false,
    }
}

/// The part of all pairs of rows that joining by these conditions keeps.
fn joined_part(
    planner: &Planner<'_>,
    conditions: &[&Scalar],
    equal: usize,
    left_rows: f64,
    right_rows: f64,
) -> f64 {
    let kept = planner.figures.all_of(conditions);
    if equal > 1 {
        // Columns of one key go together: as if the larger side's values were each other's keys, but never fewer.
        kept.max(1.0 / left_rows.max(right_rows).max(1.0))
    } else {
        kept
    }
}

/// A side of an equality as a hash table has it.
type HashedSide<'s> = Cow<'s, Scalar>;

/// The two sides of `left = right` where each reads one of the two sets only, and both can be made parts of a hash key;
/// and the type of the right one.
pub fn equality<'s>(
    scalar: &'s Scalar,
    left: &HashSet<u32>,
    right: &HashSet<u32>,
) -> Option<(HashedSide<'s>, HashedSide<'s>, Oid)> {
    let [(a, a_type), (b, b_type)] = hashed_sides(scalar)?;
    let in_left = |one: &Scalar| one.reads(&mut |var| left.contains(&var.slot));
    let in_right = |one: &Scalar| one.reads(&mut |var| right.contains(&var.slot));
    if in_left(&a) && !in_right(&a) && in_right(&b) && !in_left(&b) {
        Some((a, b, b_type))
    } else if in_left(&b) && !in_right(&b) && in_right(&a) && !in_left(&a) {
        Some((b, a, a_type))
    } else {
        None
    }
}

/// Whether a condition is an equality that values could be hashed or sorted by.
pub fn is_equality(scalar: &Scalar) -> bool {
    hashed_sides(scalar).is_some()
}

/// The two sides of `outer = inner`, where only the inner one reads `inside`, and the type they are hashed as.
pub fn member_equality<'s>(
    scalar: &'s Scalar,
    inside: &HashSet<u32>,
) -> Option<(HashedSide<'s>, HashedSide<'s>, Oid)> {
    let [(a, a_type), (b, b_type)] = hashed_sides(scalar)?;
    let inner = |one: &Scalar| one.reads(&mut |var| inside.contains(&var.slot));
    match (inner(&a), inner(&b)) {
        (false, true) => Some((a, b, b_type)),
        (true, false) => Some((b, a, a_type)),
        _ => None,
    }
}

/// The two sides of an equality, each with its type, where a hash table can find the one by the other. Of days, local times
/// and points in time the less exact one is hashed as what it is equal to of the other type.
fn hashed_sides(scalar: &Scalar) -> Option<[(HashedSide<'_>, Oid); 2]> {
    let Scalar::Call { callee, arguments, .. } = scalar else { return None };
    let (Comparison::Equal, a_type, b_type) = comparison(callee.oid)? else { return None };
    let [a, b] = &**arguments else { return None };
    if scalar.volatile() || !scalar.subqueries().is_empty() {
        return None;
    }
    let moment = |value: &Scalar, from, to| {
        let callee = equal_moment(from, to)?;
        let arguments = Box::new([value.clone()]);
        Some(Cow::Owned(Scalar::Call { callee, arguments, position: 0 }))
    };
    if hashed_types(callee.oid).is_some() {
        Some([(Cow::Borrowed(a), a_type), (Cow::Borrowed(b), b_type)])
    } else if let Some(a) = moment(a, a_type, b_type) {
        Some([(a, b_type), (Cow::Borrowed(b), b_type)])
    } else {
        moment(b, b_type, a_type).map(|b| [(Cow::Borrowed(a), a_type), (b, a_type)])
    }
}

/// A plan that is expected to give this, joined to one more item: `set` has been filled.
fn add(
    planner: &mut Planner<'_>,
    (left, estimate): (Plan, Estimate),
    item: Item,
    conditions: Vec<Scalar>,
    set: &HashSet<u32>,
    own: &HashMap<u32, usize>,
) -> (Plan, Estimate) {
    let join = Join {
        kind: JoinKind::Inner,
        left_slots: Vec::new(),
        right_slots: Vec::new(),
        left,
        right: item.plan,
        on: conditions,
        method: JoinMethod::NestedLoop,
        dependent: !item.needs.is_empty(),
        rows: 0.0,
        cost: 0.0,
    };
    let missing = |var: Var| {
        let slot = &var.slot;
        own.contains_key(slot) && !set.contains(slot) && !item.slots.contains(slot)
    };
    let join = finish(planner, join, (set, &item.slots), estimate, &missing);
    let right = estimate::of(&planner.figures, &join.right);
    let estimate = estimate::of_join(&join, estimate, right);
    (Plan::Join(Box::new(join)), estimate)
}

/// A join of two sides in this order: the right side gets its own conditions, and the method is chosen.
pub fn two_sided(planner: &mut Planner<'_>, mut join: Join, right: Vec<Scalar>) -> Plan {
    let wanted = planner.wanted.take();
    let sets = (planner.slots(&join.left), planner.slots(&join.right));
    let plan = std::mem::replace(&mut join.right, Plan::Nothing);
    let dependent = join.dependent;
    join.right =
        with_conditions(planner, plan, right, &|var| !dependent && sets.0.contains(&var.slot));
    let left = estimate::of(&planner.figures, &join.left);
    planner.wanted = wanted;
    Plan::Join(Box::new(finish(planner, join, (&sets.0, &sets.1), left, &|_| false)))
}

/// Chooses between an index or key of the right side, a hash table and a nested loop, for the rows that are wanted. Both sides have been optimised; a
/// second time would lose the conditions that a hash join has made its keys.
fn finish(
    planner: &mut Planner<'_>,
    mut join: Join,
    (left_set, right_set): (&HashSet<u32>, &HashSet<u32>),
    left: Estimate,
    later: &dyn Fn(Var) -> bool,
) -> Join {
    let wanted = planner.wanted.take();
    let (left_rows, left_cost) = (left.rows, left.cost);
    let right = estimate::of(&planner.figures, &join.right);
    let (right_rows, right_cost) = (right.rows, right.cost);
    let ties: Vec<&Scalar> =
        join.on.iter().filter(|one| equality(one, left_set, right_set).is_some()).collect();
    let equal = ties.len();
    let conditions: Vec<&Scalar> = join.on.iter().collect();
    let kept = joined_part(planner, &conditions, equal, left_rows, right_rows);
    let pairs = (left_rows * right_rows * kept).max(1.0);
    join.rows = match join.kind {
        JoinKind::Inner => pairs,
        JoinKind::Left => pairs.max(left_rows),
        JoinKind::Right => pairs.max(right_rows),
        JoinKind::Full => pairs.max(left_rows).max(right_rows),
        JoinKind::Semi => pairs.min(left_rows),
        JoinKind::Anti => (left_rows - pairs).max(1.0),
    };
    let methods = planner.figures.methods();
    // Rows whose keys are equal are held against what else is asked, by a semi or an anti join until one meets it.
    let compared = if equal == 0 || equal == join.on.len() {
        0.0
    } else {
        let kept = joined_part(planner, &ties, equal, left_rows, right_rows);
        left_rows * right_rows * kept * COMPARED
    };
    let mut hash_cost = left_cost
        + right_cost
        + BUILD * right_rows
        + left_rows
        + compared
        + disabled(methods.hash_joins);
    let looped = disabled(methods.nested_loops);
    // A hash table is there before the first row; of the left side is read what the rows that are wanted take.
    let read = wanted.map_or(1.0, |wanted| (wanted.rows / join.rows).min(1.0));
    let unread = (left_cost - left.startup) * (1.0 - read);
    let hashed_first = hash_cost - unread - left_rows * (1.0 - read);
    // Index keys from the left row: for inner, left, semi and anti joins, which ask once for each left row.
    if !matches!(join.kind, JoinKind::Full | JoinKind::Right)
        && let own = join
            .on
            .iter()
            .filter(|one| one.subqueries().is_empty() && !one.volatile())
            .filter(|one| one.reads(&mut |var| right_set.contains(&var.slot)))
            .cloned()
            .collect()
        && let Some(indexed) = by_key(planner, &join.right, own, later)
    {
        let found = estimate::of(&planner.figures, &indexed);
        let indexed_cost = match join.kind {
            // The first row decides.
            JoinKind::Semi | JoinKind::Anti => {
                let descent = found.cost.min(DESCENT);
                descent + (found.cost - descent) / found.rows.max(1.0)
            }
            _ => found.cost,
        };
        let total = left_cost + left_rows * indexed_cost + looped;
        let first = total - unread - left_rows * indexed_cost * (1.0 - read);
        let better = first < hashed_first || equal == 0 && indexed_cost < right_cost;
        if better
            && reads_by_key(&indexed)
            && access_path::depends(&indexed, &|var| left_set.contains(&var.slot))
        {
            // The scan has taken over every condition that it can check by itself, and may see.
            let barred = is_barred(&indexed);
            join.on.retain(|one| {
                barred && one.may_leak()
                    || !one.subqueries().is_empty()
                    || one.volatile()
                    || !one.reads(&mut |var| right_set.contains(&var.slot))
            });
            join.right = indexed;
            join.dependent = true;
            join.cost = total;
            return join;
        }
    }
    let loop_cost = left_cost + left_rows * right_cost.max(1.0) + looped;
    let may_loop = !matches!(join.kind, JoinKind::Full | JoinKind::Right);
    let hashed = methods.hash_joins || !may_loop || hash_cost < loop_cost;
    if equal > 0 && !join.dependent && hashed {
        // The smaller side is entered, where no order of the left one may be wanted.
        let turned = match join.kind {
            JoinKind::Left => Some(JoinKind::Right),
            JoinKind::Full => Some(JoinKind::Full),
            _ => None,
        };
        let mut sets = (left_set, right_set);
        if let Some(kind) = turned.filter(|_| wanted.is_none() && left_rows * TURNED < right_rows) {
            join.kind = kind;
            std::mem::swap(&mut join.left, &mut join.right);
            sets = (right_set, left_set);
            hash_cost += (BUILD - 1.0) * (left_rows - right_rows);
        }
        let (mut left, mut right, mut types) = (Vec::new(), Vec::new(), Vec::new());
        join.on.retain(|one| {
            let Some((outer, inner, ty)) = equality(one, sets.0, sets.1) else { return true };
            left.push(outer.into_owned());
            right.push(inner.into_owned());
            types.push(ty);
            false
        });
        join.method = JoinMethod::Hash {
            left,
            right,
            types,
            saved: Vec::new(),
            left_saved: Vec::new(),
            ordered: false,
        };
        join.cost = hash_cost;
        return join;
    }
    join.cost = loop_cost;
    // A right side that is read once, or lies in memory anyhow, is not kept.
    let once = matches!(&join.left, Plan::Scan(scan) if scan.access.is_single())
        && !access_path::depends(&join.left, &|var| !left_set.contains(&var.slot));
    let lies = matches!(join.right, Plan::Unit | Plan::Values(..) | Plan::Constants(..));
    if !join.dependent && !once && !lies {
        join.right = materialized(planner, join.right);
    }
    join
}

/// Rows that are read again and again, kept.
pub(super) fn materialized(planner: &mut Planner<'_>, plan: Plan) -> Plan {
    let kept = planner
        .apply(Rule::Materialize, plan, |_, plan| Plan::Materialize(Box::new(plan), Vec::new()));
    kept.unwrap_or_else(|plan| plan)
}

/// The scan in a block that `test` accepts, not looking into queries of their own.
pub fn find_scan<'p>(
    plan: &'p mut Plan,
    test: &mut dyn FnMut(&Scan) -> bool,
) -> Option<&'p mut Scan> {
    match plan {
        Plan::Scan(scan) => test(scan).then_some(&mut **scan),
        Plan::Filter(input, _)
        | Plan::OneTimeFilter(input, _)
        | Plan::Barrier(input, _)
        | Plan::Project(input, ..)
        | Plan::ProjectSet(input, ..)
        | Plan::Materialize(input, _) => find_scan(input, test),
        Plan::Sort(sort) => find_scan(&mut sort.input, test),
        Plan::Limit(limit) => find_scan(&mut limit.input, test),
        Plan::LockRows(lock) => find_scan(&mut lock.input, test),
        Plan::Join(join) => {
            find_scan(&mut join.left, test).or_else(|| find_scan(&mut join.right, test))
        }
        _ => None,
    }
}

/// Every home that a plan reads, its subqueries and the common table expressions that it scans included.
pub fn reads_of(planner: &Planner<'_>, plan: &Plan) -> BTreeSet<Var> {
    let mut reads = Reads::default();
    reads.plan(planner, plan);
    reads.homes
}

/// Whether a plan, with its subqueries, reads a home that it does not fill.
pub fn looks_out(planner: &Planner<'_>, plan: &Plan) -> bool {
    let mut reads = Reads::default();
    reads.plan(planner, plan);
    reads.homes.iter().any(|var| !reads.filled.contains(&var.slot))
}

/// Every home that a subquery reads, its own subqueries' included.
pub fn subplan_reads(planner: &Planner<'_>, number: u32, into: &mut BTreeSet<Var>) {
    let mut reads = Reads::default();
    reads.subplan(planner, number);
    into.extend(reads.homes);
}

/// What plans read.
#[derive(Default)]
struct Reads {
    homes: BTreeSet<Var>,
    /// Slots that the plans fill themselves.
    filled: HashSet<u32>,
    /// Common table expressions that have been looked into.
    ctes: HashSet<u32>,
    /// Whether any of them calls what may change from one call to the next.
    volatile: bool,
}

impl Reads {
    fn plan(&mut self, planner: &Planner<'_>, plan: &Plan) {
        let (mut inner, mut ctes) = (Vec::new(), Vec::new());
        vars::read(plan, &mut self.homes);
        self.filled.extend(vars::filled(plan, &planner.widths).iter().map(|(slot, _)| *slot));
        vars::walk(plan, &mut |node| {
            if let Plan::Cte(scan) = node {
                ctes.push(scan.number);
            }
            vars::scalars(node, &mut |scalar| {
                inner.extend(scalar.subqueries());
                vars::locals(scalar, &mut self.filled);
                self.volatile |= scalar.volatile();
            });
        });
        for number in inner {
            self.subplan(planner, number);
        }
        for number in ctes {
            self.cte(planner, number);
        }
    }

    fn subplan(&mut self, planner: &Planner<'_>, number: u32) {
        let subplan = &planner.subplans[number as usize];
        self.plan(planner, &subplan.plan);
        let mut inner = Vec::new();
        let test = match &subplan.kind {
            SubplanKind::Quantified(test, _) => {
                inner.extend(test.subqueries());
                Some(test)
            }
            SubplanKind::Hashed(hashed) => Some(&hashed.test),
            _ => None,
        };
        if let Some(test) = test {
            self.volatile |= test.volatile();
            test.reads(&mut |var| {
                self.homes.insert(var);
                false
            });
        }
        for number in inner {
            self.subplan(planner, number);
        }
    }

    /// What a common table expression reads of rows around it: what it fills itself is nobody else's.
    fn cte(&mut self, planner: &Planner<'_>, number: u32) {
        // One that is being planned is scanned by its own recursive term.
        let Some(Some(cte)) = planner.ctes.get(number as usize) else { return };
        if !self.ctes.insert(number) {
            return;
        }
        let outside = (std::mem::take(&mut self.homes), std::mem::take(&mut self.filled));
        for (plan, layout) in cte.body.parts() {
            self.plan(planner, plan);
            self.homes.extend(layout);
        }
        self.homes.retain(|var| !self.filled.contains(&var.slot));
        self.homes.extend(outside.0);
        self.filled = outside.1;
    }
}
