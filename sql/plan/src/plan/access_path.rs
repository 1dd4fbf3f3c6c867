//! How a table is read: by its key, through an index, or all of it.
//!
//! Every key of the table is tried: the longest run of first columns that have a value (`column = value`), or one of
//! several (`column = ANY (array)`, an OR whose sides all name the columns), then bounds on the next one, or an OR
//! whose every side bounds it: a union of ranges. A unique key with all its values is one record. Where the sides of an
//! OR are served by several keys, each side is read by its own. What the key says need not be checked again, except
//! that the value found in an index may be older or newer than the index entry never is: entries are records of their
//! own, judged by the same snapshot as the row.

use super::build::Planner;
use super::estimate::DESCENT;
use super::fold::truth;
use super::functions::{Comparison, callee, comparison, key_compatible};
use super::implied::{implies, same};
use super::join_order::disabled;
use super::pattern::{self, Pattern};
use super::physical::{
    self, Access, KeyAccess, KeyPart, Plan, Scan, ScanColumn, Several, SystemScan, Union, UnionSide,
};
use super::scalar::{Callee, Scalar, Target, Var};
use super::translate::constant;
use super::vars;
use crate::bind::{Literal, Quantifier};
use crate::catalog::RelationKind;
use crate::catalog::relation::{EXPRESSIONS, Index};
use crate::settings::Rule;
use crate::tuple::{Form, KeyLayout};
use crate::types::array::Array;
use crate::types::datetime::functions::nearest;
use crate::types::{Datum, Oid, SqlType, oids};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use txn::Direction;

/// A table counts as this large where all of it would be read beside a key that could be used: a plan is kept while its
/// table grows, and a small one costs next to nothing either way.
const GROWTH_ROWS: f64 = 200.0;

/// How many columns of a key may each have one of several values: their combinations are looked up one by one.
const ARRAYS_MAX: usize = 2;

/// How many sides of an OR may each have a way of its own: each asks whether those before it have given its row.
const SIDES_MAX: usize = 16;

/// Elements of an array that nobody has seen (`estimate_array_length`).
const ELEMENTS: f64 = 10.0;

/// bool's OID.
const BOOL: Oid = Oid(16);

/// What a boolean key is where it stands as a condition, and where NOT of it does.
static TRUE: LazyLock<Scalar> = LazyLock::new(|| truth(Some(true)));
static FALSE: LazyLock<Scalar> = LazyLock::new(|| truth(Some(false)));

/// A condition on one column that a key can take over.
struct KeyCondition<'c> {
    at: usize,
    column: usize,
    comparison: Comparison,
    value: Cow<'c, Scalar>,
    /// It is all that the condition at this place says.
    whole: bool,
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
    if matches!(scan.access, Access::Current(_)) {
        (scan.rows, scan.cost) = (1.0, DESCENT);
        scan.recheck = all.clone();
        scan.filter = all;
        return Plan::Scan(Box::new(scan));
    }
    let figures = &planner.figures;
    let total = figures.rows(scan.slot);
    let kept = figures.all(&all);
    scan.rows = (total * kept).max(1.0);
    let methods = figures.methods();
    scan.index_only = planner.allows(Rule::IndexOnlyScans);
    scan.cost = total + disabled(methods.whole_tables);
    scan.recheck = all.clone();
    let mut key = by_key(planner, &scan, &all, later);
    if let Some(key) = &mut key {
        key.cost += disabled(methods.keys);
    }
    let single = key.as_ref().is_some_and(|key| key.access.is_single());
    let goes_by_values = total >= SENSITIVE_ROWS
        && (all.iter().any(|one| finds_by_parameter(&scan, one))
            || key
                .as_ref()
                .is_some_and(|key| key.asked.iter().any(|at| takes_parameter(&all[*at]))));
    let limit = key.as_ref().map_or(f64::INFINITY, |key| key.cost).min(scan.cost.max(GROWTH_ROWS));
    let ways = (0..all.len()).filter_map(|at| by_sides(planner, &scan, &all, at, later));
    let few = single && methods.keys;
    if !few && total >= SENSITIVE_ROWS && may_hold_all(&scan, &all) {
        figures.facts().depends_on_values();
    }
    let either = match single || !methods.keys || !planner.allows(Rule::UnionsOfKeys) {
        true => None,
        false => ways.min_by(|a, b| a.cost.total_cmp(&b.cost)).filter(|ways| ways.cost < limit),
    };
    let used = if let Some(found) = either {
        let before = planner.before(Rule::UnionsOfKeys, &(&scan, &all[..]));
        (scan.cost, scan.rows) = (found.cost, scan.rows.min(found.rows));
        scan.access = Access::IndexUnion(found.ways);
        planner.after(before, &(&scan, &all[..]));
        vec![found.at]
    } else if let Some(key) = key
        && (key.cost < scan.cost.max(GROWTH_ROWS) || single && methods.keys)
    {
        (scan.cost, scan.rows) = (key.cost, scan.rows.min(key.rows));
        scan.access = Access::Key(Box::new(key.access));
        key.used
    } else {
        if goes_by_values {
            figures.facts().depends_on_values();
        }
        Vec::new()
    };
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        !used.contains(&(at - 1))
    });
    scan.filter = all;
    Plan::Scan(Box::new(scan))
}

/// Of tables with so many rows whole ones are not read before it is known whether the values at hand ask for few of them.
const SENSITIVE_ROWS: f64 = 1_000.0;

/// Whether a condition finds texts of a column, in whose order there is a key, by a pattern that is a parameter.
fn finds_by_parameter(scan: &Scan, condition: &Scalar) -> bool {
    let Some(Scalar::Var(var)) = pattern::by_parameter(condition) else { return false };
    let Some(ScanColumn::Column(column)) = scan.outputs.get(var.column as usize) else {
        return false;
    };
    let own = match &scan.relation.kind {
        RelationKind::Table { key, .. } => key.first() == Some(column),
        _ => false,
    };
    let leads = |index: &Index| index.columns.first().is_some_and(|first| first.column == *column);
    var.slot == scan.slot && (own || scan.relation.indexes.iter().any(leads))
}

/// Whether the value of a parameter is part of a condition.
fn takes_parameter(condition: &Scalar) -> bool {
    let mut found = false;
    condition.walk(&mut |part| {
        found |= matches!(part, Scalar::Parameter(_));
        !found
    });
    found
}

/// A way to read a table by a key, and what it costs.
pub struct ByKey {
    /// The way.
    pub access: KeyAccess,
    /// How many rows are read, about.
    pub rows: f64,
    /// What that costs.
    pub cost: f64,
    asked: Vec<usize>,
    /// The conditions that need not be checked again, by their places.
    pub used: Vec<usize>,
}

/// The cheapest way by a key under these conditions.
fn by_key(
    planner: &Planner<'_>,
    scan: &Scan,
    all: &[Scalar],
    later: &dyn Fn(Var) -> bool,
) -> Option<ByKey> {
    let ways = ways(planner, scan, (all, later), false);
    ways.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Whether at most one row meets these conditions and those of the scan: they give all values of a unique key.
pub fn finds_one(
    planner: &Planner<'_>,
    scan: &Scan,
    conditions: &[Scalar],
    later: &dyn Fn(Var) -> bool,
) -> bool {
    let all: Vec<Scalar> = scan.filter.iter().chain(conditions).cloned().collect();
    let ways = ways(planner, scan, (&all, later), false);
    ways.iter().any(|way| way.access.is_single())
}

/// All ways by a key under these conditions, for the sake of the order that one of them may give: a key of which that says nothing is
/// read whole.
pub fn in_order(planner: &Planner<'_>, scan: &Scan, all: &[Scalar]) -> Vec<ByKey> {
    ways(planner, scan, (all, &|_| false), true)
}

/// The ways by a key under these conditions, each with a range that all rows must be in, and with a union of ranges; if `whole`
/// also by those keys of which they say nothing. An index of some rows says with each that it meets its predicate.
fn ways(
    planner: &Planner<'_>,
    scan: &Scan,
    (all, later): (&[Scalar], &dyn Fn(Var) -> bool),
    whole: bool,
) -> Vec<ByKey> {
    let on_columns = conditions(planner, scan, &[], all, later);
    let mut ways = Vec::new();
    let known = &*with_values(planner, scan, all);
    for (index, tree, layout, unique) in keys(scan, known) {
        let own;
        let computed = scan.computed.iter().find(|key| Some(key.index) == index);
        let conditions = match computed.filter(|key| !key.expressions.is_empty()) {
            Some(key) => {
                own = conditions(planner, scan, &key.expressions, all, later);
                &own
            }
            None => &on_columns,
        };
        let before = ways.len();
        let found = [false, true]
            .map(|unions| key_access(index, tree, layout.clone(), unique, conditions, unions));
        let met: Vec<usize> = met(scan, index, known).collect();
        ways.extend(
            found.into_iter().flatten().map(|found| costed(planner, scan, (all, &met), found)),
        );
        if ways.len() == before && (whole || !met.is_empty()) {
            let access = KeyAccess::whole(index, tree, layout);
            let found = Found {
                access,
                asked: Vec::new(),
                told: Vec::new(),
                used: Vec::new(),
                lookups: 1.0,
            };
            ways.push(costed(planner, scan, (all, &met), found));
        }
    }
    ways
}

/// What a way costs by an index whose rows all meet the conditions at the places `met`.
fn costed(
    planner: &Planner<'_>,
    scan: &Scan,
    (all, met): (&[Scalar], &[usize]),
    found: Found,
) -> ByKey {
    let figures = &planner.figures;
    let Found { access, mut asked, told, mut used, lookups } = found;
    let others: Vec<usize> = met.iter().copied().filter(|at| !asked.contains(at)).collect();
    used.extend(&others);
    asked.extend(&others);
    let rows = if access.point {
        lookups
    } else {
        let whole = asked.iter().filter(|at| told.iter().all(|(of, _)| of != *at));
        let asked: Vec<&Scalar> =
            whole.map(|at| &all[*at]).chain(told.iter().map(|(_, part)| part)).collect();
        (figures.rows(scan.slot) * figures.all_of(&asked)).max(1.0)
    };
    // A secondary index costs a second descent for every row, less where the rows follow its order.
    let row = match access.index {
        Some(_) => {
            let first = Var { slot: scan.slot, column: first_column(scan, &access) };
            let follows = figures.correlation(first).powi(2);
            DESCENT - (DESCENT - 2.0) * follows
        }
        None => 1.0,
    };
    let cost = DESCENT * lookups + rows * row;
    ByKey { access, rows, cost, asked, used }
}

/// Ways to read a table, one for each side of an OR.
struct BySides {
    ways: Box<[UnionSide]>,
    rows: f64,
    cost: f64,
    /// The OR's place among the conditions.
    at: usize,
}

/// A way for each side of the OR that is the condition at `at`, if every side has one.
fn by_sides(
    planner: &Planner<'_>,
    scan: &Scan,
    all: &[Scalar],
    at: usize,
    later: &dyn Fn(Var) -> bool,
) -> Option<BySides> {
    let either = &all[at];
    let Scalar::Or(sides) = either else { return None };
    if sides.len() > SIDES_MAX || either.volatile() || !either.subqueries().is_empty() {
        return None;
    }
    let others = || all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one);
    let (mut rows, mut cost) = (0.0, 0.0);
    let mut ways = Vec::with_capacity(sides.len());
    for (number, side) in sides.iter().enumerate() {
        let parts = parts(side);
        let conditions: Vec<Scalar> = parts.iter().chain(others()).cloned().collect();
        let found = by_key(planner, scan, &conditions, later)?;
        if !found.asked.iter().any(|asked| *asked < parts.len()) {
            return None;
        }
        rows += found.rows;
        cost += found.cost;
        let rest = (0..parts.len()).filter(|part| !found.used.contains(part));
        ways.push(UnionSide {
            side: side.clone(),
            key: found.access,
            rest: rest.map(|part| parts[part].clone()).collect(),
            given: sides[..number].to_vec(),
        });
    }
    Some(BySides { ways: ways.into(), rows, cost, at })
}

/// What a side of an OR demands.
fn parts(side: &Scalar) -> &[Scalar] {
    match side {
        Scalar::And(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

/// The place of an access's first column in its scan's output; none is past its end.
fn first_column(scan: &Scan, access: &KeyAccess) -> u32 {
    let column = access.layout.columns.first().map(|column| ScanColumn::Column(column.column));
    let at = scan.outputs.iter().position(|output| Some(*output) == column);
    at.unwrap_or(scan.outputs.len()) as u32
}

/// The keys of a table that serve under these conditions: place among its indexes, tree, layout, whether unique.
fn keys(scan: &Scan, conditions: &[Scalar]) -> Vec<(Option<usize>, txn::TreeId, KeyLayout, bool)> {
    let mut all = Vec::new();
    if let RelationKind::Table { key, .. } = &scan.relation.kind
        && !key.is_empty()
    {
        all.push((None, scan.tree, scan.relation.key_layout(key), true));
    }
    for (at, index) in scan.relation.indexes.iter().enumerate() {
        if index.tree != scan.tree && index.is_valid() && holds_all(scan, at, conditions) {
            let layout = scan.relation.index_layout(index);
            all.push((Some(at), index.tree, layout, index.is_always_unique()));
        }
    }
    all
}

/// Whether an index has an entry for every row that meets the conditions.
fn holds_all(scan: &Scan, index: usize, conditions: &[Scalar]) -> bool {
    let computed = scan.computed.iter().find(|key| key.index == index);
    computed.is_none_or(|key| key.filter.iter().all(|part| implies(conditions, part)))
}

/// Whether a table has an index of some rows that may have all that meet the conditions, with some values of parameters.
fn may_hold_all(scan: &Scan, conditions: &[Scalar]) -> bool {
    let about = |part: &Scalar| {
        conditions.iter().any(|one| {
            takes_parameter(one) && one.reads(&mut |var| part.reads(&mut |read| read == var))
        })
    };
    scan.computed.iter().any(|key| {
        let part = |part: &Scalar| about(part) || implies(conditions, part);
        scan.relation.indexes[key.index].is_valid()
            && key.filter.iter().all(part)
            && key.filter.iter().any(about)
    })
}

/// The conditions with the values of parameters, where they are known, for what an index of some rows asks of them.
fn with_values<'c>(
    planner: &Planner<'_>,
    scan: &Scan,
    conditions: &'c [Scalar],
) -> Cow<'c, [Scalar]> {
    let facts = planner.figures.facts();
    let matters = scan.computed.iter().any(|key| !key.filter.is_empty())
        && facts.parameter(0).is_some()
        && conditions.iter().any(takes_parameter);
    if !matters {
        return Cow::Borrowed(conditions);
    }
    let value = |number| facts.parameter(number).map(|(value, ty)| constant(&value, ty));
    let mut known = conditions.to_vec();
    known.iter_mut().for_each(|one| one.replace_parameters(&value));
    Cow::Owned(known)
}

/// The conditions that every row of an index meets, by their places.
fn met<'c>(
    scan: &'c Scan,
    index: Option<usize>,
    conditions: &'c [Scalar],
) -> impl Iterator<Item = usize> + 'c {
    let computed = scan.computed.iter().find(move |key| Some(key.index) == index);
    let filter = computed.map_or(&[][..], |key| &key.filter);
    let places = if filter.is_empty() { 0 } else { conditions.len() };
    (0..places).filter(move |at| implies(filter, &conditions[*at]))
}

/// A way to read a table by a key.
struct Found {
    access: KeyAccess,
    /// The conditions that decide which records are read.
    asked: Vec<usize>,
    /// Of those that decide it in part: where they stand, and what the key knows of them.
    told: Vec<(usize, Scalar)>,
    /// Those of them that need not be checked again.
    used: Vec<usize>,
    /// How often the key is gone down.
    lookups: f64,
}

fn key_access(
    index: Option<usize>,
    tree: txn::TreeId,
    layout: KeyLayout,
    unique: bool,
    conditions: &Conditions<'_>,
    unions: bool,
) -> Option<Found> {
    let (mut asked, mut told, mut used) = (Vec::new(), Vec::new(), Vec::new());
    let mut union = None;
    let (mut equal, mut nulls) = (Vec::new(), Vec::new());
    let mut several = Several { parts: Vec::new(), tuples: Vec::new(), conditions: Vec::new() };
    let (mut low, mut high) = (None, None);
    let (mut lookups, mut arrays) = (1.0, 0);
    let mut columns = layout.columns.iter().enumerate();
    while let Some((place, column)) = columns.next() {
        let on_column = || conditions.single.iter().filter(|one| one.column == column.column);
        if let Some(found) = on_column().find(|one| one.comparison == Comparison::Equal) {
            if found.whole {
                used.push(found.at);
            }
            asked.push(found.at);
            let value = found.value.clone().into_owned();
            match several.parts.is_empty() {
                true => equal.push(value),
                false => several.parts.push(KeyPart::One(value)),
            }
            continue;
        }
        if several.parts.is_empty()
            && column.nullable
            && column.form != Form::Record
            && let Some((at, _)) = conditions.nulls.iter().find(|(_, of)| *of == column.column)
        {
            used.push(*at);
            asked.push(*at);
            nulls.push(equal.len());
            equal.push(constant(&Literal::Null, SqlType { oid: column.ty, typmod: -1 }));
            continue;
        }
        if arrays < ARRAYS_MAX
            && let Some(found) = conditions.any.iter().find(|one| one.column == column.column)
        {
            arrays += 1;
            used.push(found.at);
            asked.push(found.at);
            lookups *= array_length(found.array);
            several.parts.push(KeyPart::Any(found.array.clone()));
            several.conditions.push(found.condition.clone());
            continue;
        }
        if several.tuples.is_empty()
            && let Some((found, width)) = alternatives(conditions, &layout, place)
        {
            asked.push(found.at);
            let wanted: Vec<usize> =
                layout.columns[place..place + width].iter().map(|one| one.column).collect();
            several.tuples = found.arms.iter().map(|arm| arm.values(&wanted)).collect();
            if found.arms.iter().all(|arm| arm.whole && arm.parts() == width) {
                used.push(found.at);
            } else {
                told.push((found.at, either(found, |arm| arm.conditions_on(&wanted))));
            }
            lookups *= several.tuples.len() as f64;
            several.parts.extend((0..width).map(KeyPart::Tuple));
            several.conditions.push(found.condition.clone());
            for _ in 1..width {
                let _ = columns.next();
            }
            continue;
        }
        if unions && let Some((found, arms)) = ranges(conditions, &layout, place) {
            asked.push(found.at);
            if arms.iter().all(|(_, whole)| *whole) {
                used.push(found.at);
            } else {
                let wanted: Vec<usize> =
                    layout.columns[place..].iter().map(|one| one.column).collect();
                told.push((found.at, either(found, |arm| arm.conditions_of_range(&wanted))));
            }
            lookups *= arms.len() as f64;
            let arms = arms.into_iter().map(|(arm, _)| arm).collect();
            union = Some(Box::new(Union { arms, condition: found.condition.clone() }));
            break;
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
                *bound = Some((found.value.clone().into_owned(), inclusive));
                if found.whole {
                    used.push(found.at);
                }
                if !asked.contains(&found.at) {
                    asked.push(found.at);
                }
            }
        }
        break;
    }
    if asked.is_empty() || unions != union.is_some() {
        return None;
    }
    let point =
        unique && nulls.is_empty() && equal.len() + several.parts.len() == layout.columns.len();
    let direction = Direction::Forward;
    let several = (!several.parts.is_empty()).then(|| Box::new(several));
    let access = KeyAccess {
        index,
        tree,
        layout,
        equal,
        nulls,
        several,
        low,
        high,
        union,
        point,
        direction,
    };
    Some(Found { access, asked, told, used, lookups })
}

/// What a key knows of an OR: of each side the conditions that `told` gives.
fn either<'c>(found: &OrCondition<'c>, told: impl Fn(&Arm<'c>) -> Vec<Scalar>) -> Scalar {
    Scalar::Or(found.arms.iter().map(|arm| Scalar::And(told(arm).into())).collect())
}

/// The OR whose every side has values for the key's columns from `place` on, and for how many of them.
fn alternatives<'a, 'c>(
    conditions: &'a Conditions<'c>,
    layout: &KeyLayout,
    place: usize,
) -> Option<(&'a OrCondition<'c>, usize)> {
    conditions.either.iter().find_map(|found| {
        let width = layout.columns[place..]
            .iter()
            .take_while(|column| found.arms.iter().all(|arm| arm.value(column.column).is_some()))
            .count();
        (width > 0).then_some((found, width))
    })
}

/// The OR whose every side bounds the key's column at `place`, and its sides as ranges of the key from there on, each with
/// whether the range says all of it.
fn ranges<'a, 'c>(
    conditions: &'a Conditions<'c>,
    layout: &KeyLayout,
    place: usize,
) -> Option<(&'a OrCondition<'c>, Vec<(physical::Arm, bool)>)> {
    conditions.either.iter().find_map(|found| {
        let arms = found.arms.iter().map(|arm| arm.range(layout, place)).collect::<Option<_>>()?;
        Some((found, arms))
    })
}

/// How many elements an array has, as far as one can see.
fn array_length(array: &Scalar) -> f64 {
    match array {
        Scalar::Array(elements, ..) => elements.len() as f64,
        Scalar::Constant(row, _) => match row.get(0) {
            Datum::Array(bytes) => Array::of(bytes).len() as f64,
            _ => 0.0,
        },
        _ => ELEMENTS,
    }
}

/// What a scan's conditions say of its columns, in terms of what is known when it begins.
#[derive(Default)]
struct Conditions<'c> {
    single: Vec<KeyCondition<'c>>,
    /// `column IS NULL`: its place among the conditions, and the column.
    nulls: Vec<(usize, usize)>,
    any: Vec<AnyCondition<'c>>,
    either: Vec<OrCondition<'c>>,
}

/// `column = ANY (array)`.
struct AnyCondition<'c> {
    at: usize,
    column: usize,
    array: &'c Scalar,
    condition: &'c Scalar,
}

/// An OR, each side of which says what some columns are.
struct OrCondition<'c> {
    at: usize,
    arms: Vec<Arm<'c>>,
    condition: &'c Scalar,
}

/// One side of an OR.
#[derive(Default)]
struct Arm<'c> {
    equal: Vec<(usize, &'c Scalar)>,
    bounds: Vec<(usize, Comparison, &'c Scalar)>,
    /// The conditions themselves, each with its column.
    conditions: Vec<(usize, &'c Scalar)>,
    /// It says nothing else.
    whole: bool,
}

impl Arm<'_> {
    fn value(&self, column: usize) -> Option<&Scalar> {
        self.equal.iter().find(|(own, _)| *own == column).map(|(_, value)| *value)
    }

    fn values(&self, columns: &[usize]) -> Vec<Scalar> {
        columns.iter().filter_map(|column| self.value(*column).cloned()).collect()
    }

    /// The conditions on these columns.
    fn conditions_on(&self, columns: &[usize]) -> Vec<Scalar> {
        let on = self.conditions.iter().filter(|(column, _)| columns.contains(column));
        on.map(|(_, condition)| (*condition).clone()).collect()
    }

    /// The conditions on these columns of a key as far as a range tells them: up to the first column without a value.
    fn conditions_of_range(&self, columns: &[usize]) -> Vec<Scalar> {
        let fixed = columns.iter().take_while(|column| self.value(**column).is_some()).count();
        self.conditions_on(&columns[..columns.len().min(fixed + 1)])
    }

    /// How many conditions it joins, as far as they are of columns.
    fn parts(&self) -> usize {
        self.equal.len() + self.bounds.len()
    }

    /// It as a range of the key's columns from `place` on, and whether that says all of it.
    fn range(&self, layout: &KeyLayout, place: usize) -> Option<(physical::Arm, bool)> {
        let mut range = physical::Arm::default();
        let mut told = 0;
        for column in &layout.columns[place..] {
            if let Some(value) = self.value(column.column) {
                range.equal.push(value.clone());
                told += 1;
                continue;
            }
            for (_, comparison, value) in self.bounds.iter().filter(|one| one.0 == column.column) {
                let comparison = if column.descending { comparison.swapped() } else { *comparison };
                let (bound, inclusive) = match comparison {
                    Comparison::Greater => (&mut range.low, false),
                    Comparison::GreaterEqual => (&mut range.low, true),
                    Comparison::Less => (&mut range.high, false),
                    Comparison::LessEqual => (&mut range.high, true),
                    Comparison::Equal => continue,
                };
                if bound.is_none() {
                    *bound = Some(((*value).clone(), inclusive));
                    told += 1;
                }
            }
            break;
        }
        (told > 0).then(|| (range, self.whole && told == self.parts()))
    }
}

/// Which conditions compare a column of the scan with something that is known when it begins.
fn conditions<'c>(
    planner: &Planner<'_>,
    scan: &Scan,
    expressions: &[Scalar],
    all: &'c [Scalar],
    later: &dyn Fn(Var) -> bool,
) -> Conditions<'c> {
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
    let own = |scalar: &Scalar| match scalar {
        Scalar::Var(var) if var.slot == scan.slot => match scan.outputs[var.column as usize] {
            ScanColumn::Column(column) => Some(column),
            _ => None,
        },
        _ => expressions.iter().position(|own| same(own, scalar)).map(|at| EXPRESSIONS + at),
    };
    let column = |scalar: &Scalar, value: Oid| {
        own(scalar).filter(|at| {
            *at >= EXPRESSIONS || key_compatible(scan.relation.columns[*at].ty.oid, value)
        })
    };
    // A condition that is a key itself asks that it be true.
    let itself = |condition: &'c Scalar| {
        let (key, value): (_, &'c Scalar) = match condition {
            Scalar::Not(key) => (&**key, &FALSE),
            key => (key, &TRUE),
        };
        Some((column(key, BOOL)?, Comparison::Equal, value))
    };
    let between = |condition: &'c Scalar| {
        let Scalar::Call { callee, arguments, .. } = condition else { return None };
        let [left, right] = &**arguments else { return None };
        let (kind, left_type, right_type) = comparison(callee.oid)?;
        if let Some(column) = column(left, right_type)
            && known(right)
        {
            return Some((column, kind, right));
        }
        let column = column(right, left_type)?;
        known(left).then_some((column, kind.swapped(), left))
    };
    let compared = |condition| between(condition).or_else(|| itself(condition));
    // A day stands for its midnight where a column of timestamps is compared with it; and a point in time bounds the days, and
    // the local times, that a column of such is compared with, which is not all that the condition says.
    let converted = |condition: &Scalar| {
        let Scalar::Call { callee, arguments, .. } = condition else { return None };
        let [left, right] = &**arguments else { return None };
        let (kind, left_type, right_type) = comparison(callee.oid)?;
        let convert = |one: &Scalar, kind, (from, to): (Oid, Oid), value: &Scalar| {
            let wide = widened_value(planner, value, from, to);
            let whole = wide.is_some();
            let bounds = match wide {
                Some(wide) => vec![(kind, wide)],
                None => narrowed_bounds(kind, value, from, to)?,
            };
            known(value).then_some((column(one, to)?, bounds, whole))
        };
        convert(left, kind, (right_type, left_type), right)
            .or_else(|| convert(right, kind.swapped(), (left_type, right_type), left))
    };
    let arm = |side: &'c Scalar| {
        let mut arm = Arm { whole: true, ..Arm::default() };
        for part in parts(side) {
            match compared(part) {
                Some((column, Comparison::Equal, value)) if arm.value(column).is_none() => {
                    arm.equal.push((column, value));
                    arm.conditions.push((column, part));
                }
                Some((column, comparison, value)) if comparison != Comparison::Equal => {
                    arm.bounds.push((column, comparison, value));
                    arm.conditions.push((column, part));
                }
                _ => arm.whole = false,
            }
        }
        arm
    };
    let mut found = Conditions::default();
    for (at, condition) in all.iter().enumerate() {
        match condition {
            Scalar::ScalarArray { left, callee, array, quantifier: Quantifier::Any, .. } => {
                if let Some((Comparison::Equal, _, element)) = comparison(callee.oid)
                    && let Some(column) = column(left, element)
                    && known(array)
                {
                    found.any.push(AnyCondition { at, column, array, condition });
                }
            }
            Scalar::IsNull(value, false) => found.nulls.extend(own(value).map(|of| (at, of))),
            Scalar::Or(sides) => {
                let arms = sides.iter().map(arm).collect();
                found.either.push(OrCondition { at, arms, condition });
            }
            _ => {
                let mut single = |column, comparison, value, whole| {
                    found.single.push(KeyCondition { at, column, comparison, value, whole });
                };
                if let Some((column, comparison, value)) = compared(condition) {
                    single(column, comparison, Cow::Borrowed(value), true);
                } else if let Some((column, bounds, whole)) = converted(condition) {
                    for (comparison, value) in bounds {
                        single(column, comparison, Cow::Owned(value), whole);
                    }
                } else if let Some((text, pattern)) = pattern::of(condition, &|number| {
                    Some(planner.figures.facts().parameter(number)?.0)
                }) && let Some(column) = column(text, Oid(oids::TEXT))
                {
                    for (comparison, value) in pattern.bounds() {
                        single(column, comparison, Cow::Owned(value), false);
                    }
                }
            }
        }
    }
    found
}

/// A day or a moment without a zone as a value of a type of timestamps that it is compared with, where that cannot fail: a
/// constant, or what is computed of the current day.
fn widened_value(planner: &Planner<'_>, value: &Scalar, from: Oid, to: Oid) -> Option<Scalar> {
    let cast = match (from.0, to.0) {
        (oids::DATE, oids::TIMESTAMPTZ) => 1174,
        (oids::DATE, oids::TIMESTAMP) => 2024,
        (oids::TIMESTAMP, oids::TIMESTAMPTZ) => 2028,
        _ => return None,
    };
    if takes_parameter(value) || value.reads(&mut |_| true) || !value.subqueries().is_empty() {
        return None;
    }
    let (from, to) = (SqlType::plain(from.0), SqlType::plain(to.0));
    let callee = callee(Oid(cast), vec![from], to).ok()?;
    let call = Scalar::Call { callee, arguments: Box::new([value.clone()]), position: 0 };
    if !value.is_constant() {
        return Some(call);
    }
    // A day may be too far off to be a moment.
    let fits = planner.figures.facts().evaluate(&call).is_some_and(|value| value.is_ok());
    fits.then_some(call)
}

/// The bounds of a column of days or local times that compares so with a point in time: no row is left out, and some may be
/// there that do not compare so.
fn narrowed_bounds(
    kind: Comparison,
    value: &Scalar,
    from: Oid,
    to: Oid,
) -> Option<Vec<(Comparison, Scalar)>> {
    let (low, high) = match kind {
        Comparison::Equal => (true, true),
        Comparison::Less | Comparison::LessEqual => (false, true),
        Comparison::Greater | Comparison::GreaterEqual => (true, false),
    };
    let bound = |comparison, lowest| {
        let code = nearest(from.0, to.0, lowest)?;
        // Shown as the cast that it is but for changes of the clock.
        let cast = match (from.0, to.0) {
            (oids::TIMESTAMPTZ, oids::TIMESTAMP) => 2027,
            (oids::TIMESTAMPTZ, _) => 1178,
            _ => 2029,
        };
        let (from, to) = (SqlType::plain(from.0), SqlType::plain(to.0));
        let callee = Callee {
            target: Target::Plain(code),
            primitive: None,
            ..callee(Oid(cast), vec![from], to).ok()?
        };
        let arguments = Box::new([value.clone()]);
        Some((comparison, Scalar::Call { callee, arguments, position: 0 }))
    };
    let mut bounds = Vec::new();
    if low {
        bounds.push(bound(Comparison::GreaterEqual, true)?);
    }
    if high {
        bounds.push(bound(Comparison::LessEqual, false)?);
    }
    Some(bounds)
}

/// The column of a system scan whose names must begin so by a condition, or must be just that.
fn beginning(scan: &SystemScan, condition: &Scalar) -> Option<(usize, Pattern)> {
    let (Scalar::Var(var), pattern) = pattern::of(condition, &|_| None)? else { return None };
    match scan.outputs[var.column as usize] {
        ScanColumn::Column(column) if var.slot == scan.slot => Some((column, pattern)),
        _ => None,
    }
}

/// Tells a system scan the values its columns must have, and what they must begin with.
pub fn choose_system(scan: &mut SystemScan, later: &dyn Fn(Var) -> bool) {
    scan.keys.clear();
    scan.beginnings.clear();
    for condition in &scan.filter {
        match beginning(scan, condition) {
            Some((column, pattern)) if pattern.whole => {
                let text = Literal::of(&Datum::Text(&pattern.text));
                scan.keys.push((column, constant(&text, SqlType::plain(oids::TEXT))));
            }
            Some((column, pattern)) => scan.beginnings.push((column, pattern.text.into())),
            None => {}
        }
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
