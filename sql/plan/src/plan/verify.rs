//! The verifier of plans, for builds with assertions: each home that is read is filled by what stands below, or is said to be
//! read from outside; what fills it and what reads it agree on how the value is held; no subquery, common table expression
//! or column is named that is not there.
//!
//! What can be seen of a part from around it is its [`Interface`]. A rule may make anything of a part as long as the new one
//! stands for the old one there.

use super::cte::CtePlan;
use super::physical::{Access, Join, JoinMethod, Plan, Scan, ScanColumn, SetColumn};
use super::scalar::{Scalar, Target, Var};
use super::subplan::{Subplan, SubplanKind};
use super::vars;
use crate::bind::logical::JoinKind;
use crate::catalog::builtin::{self, TypeKind};
use crate::catalog::system_column::system_column;
use crate::plan::physical::WindowFunction;
use crate::tuple::Form;
use crate::types::depth::deeper;
use crate::types::{Oid, oids};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The types of a slot's columns, as far as the plan says them.
type Columns = Vec<Option<Oid>>;

/// What can be seen of a part of a plan from around it.
#[derive(Debug, Default)]
pub(super) struct Interface {
    /// Homes that it reads and that stand outside it.
    reads: BTreeSet<Var>,
    /// The slots that it fills for whoever stands above it.
    gives: BTreeMap<u32, Columns>,
}

impl Interface {
    /// Whether another part can stand in this one's place, with the homes `around` at hand.
    ///
    /// # Errors
    /// Why not.
    pub fn stands_for<'v>(
        &self,
        other: &Interface,
        around: impl Iterator<Item = &'v Var>,
    ) -> Result<(), String> {
        let mut foreign = &other.reads - &self.reads;
        around.for_each(|var| _ = foreign.remove(var));
        if !foreign.is_empty() {
            return Err(format!("it reads {foreign:?}, which nobody fills"));
        }
        for (slot, columns) in &self.gives {
            let Some(now) = other.gives.get(slot) else {
                return Err(format!("it does not fill slot {slot} any more"));
            };
            for (at, (one, other)) in columns.iter().zip(now).enumerate() {
                if let (Some(one), Some(other)) = (one, other)
                    && !is_held_alike(*one, *other)
                {
                    return Err(format!("column {at} of slot {slot} was {one} and is {other}"));
                }
            }
        }
        Ok(())
    }

    /// The same, of which these homes are all that stands above it asks for.
    pub fn giving(mut self, homes: &[Var]) -> Interface {
        for (slot, columns) in &mut self.gives {
            for (column, at) in columns.iter_mut().zip(0..) {
                if !homes.contains(&Var { slot: *slot, column: at }) {
                    *column = None;
                }
            }
        }
        self.gives.retain(|slot, _| homes.iter().any(|home| home.slot == *slot));
        self
    }

    /// Whether it is a whole statement's, with these homes as its result.
    ///
    /// # Errors
    /// Why not.
    pub fn is_whole(&self, output: &[Var]) -> Result<(), String> {
        if !self.reads.is_empty() {
            return Err(format!("it reads {:?}, which nobody fills", self.reads));
        }
        match output.iter().find(|var| !self.gives.contains_key(&var.slot)) {
            Some(var) => Err(format!("it gives {var:?}, which nobody fills")),
            None => Ok(()),
        }
    }

    fn join(&mut self, other: Interface) {
        self.reads.extend(other.reads);
        self.gives.extend(other.gives);
    }
}

/// Whether values of two types are held in the same way; of types that users have made nothing is known.
fn is_held_alike(one: Oid, other: Oid) -> bool {
    let is_plain =
        |ty: Oid| builtin::type_by_oid(ty.0).is_some_and(|found| found.kind != TypeKind::Pseudo);
    one == other || !is_plain(one) || !is_plain(other) || Form::of(one) == Form::of(other)
}

/// Finds out what can be seen of parts of a plan, and that all of them is sound within.
pub(super) struct Verifier<'p> {
    widths: &'p [usize],
    subplans: &'p [Subplan],
    ctes: &'p [Option<CtePlan>],
    /// What subqueries read outside them, by number.
    of_subplans: HashMap<u32, BTreeSet<Var>>,
    /// The same of common table expressions; nothing while one is looked at.
    of_ctes: HashMap<u32, BTreeSet<Var>>,
}

impl<'p> Verifier<'p> {
    /// Over the tables of a planner.
    pub fn new(
        widths: &'p [usize],
        subplans: &'p [Subplan],
        ctes: &'p [Option<CtePlan>],
    ) -> Verifier<'p> {
        let (of_subplans, of_ctes) = (HashMap::new(), HashMap::new());
        Verifier { widths, subplans, ctes, of_subplans, of_ctes }
    }

    /// A plan.
    pub fn plan(&mut self, plan: &Plan) -> Interface {
        deeper(|| match plan {
            Plan::Join(join) => self.join(join),
            Plan::Scan(scan) => self.scan(scan),
            // Its own expressions read rows that its machinery makes.
            Plan::Modify(modify) => {
                let mut seen = Interface::default();
                for input in vars::inputs(plan) {
                    seen.reads.extend(self.plan(input).reads);
                }
                seen.gives.extend(modify.returning.iter().map(|(slot, columns)| {
                    (*slot, columns.iter().map(|_| None).collect::<Columns>())
                }));
                seen
            }
            Plan::OneTimeFilter(input, conditions) => {
                let mut seen = self.plan(input);
                // They are asked before there is a row.
                let none = BTreeMap::new();
                for condition in conditions {
                    demand_boolean(condition, &none);
                    self.scalar(condition, &none, &mut seen.reads);
                }
                seen
            }
            _ => self.node(plan),
        })
    }

    fn node(&mut self, plan: &Plan) -> Interface {
        let mut seen = Interface::default();
        for input in vars::inputs(plan) {
            seen.join(self.plan(input));
        }
        let (own, hides) = match plan {
            Plan::System(scan) => {
                (Some((scan.slot, outputs(&scan.relation, &scan.outputs))), false)
            }
            Plan::Function(scan) => {
                let mut columns: Columns = scan.types.iter().map(|ty| Some(ty.oid)).collect();
                columns.extend(scan.ordinality.then_some(Some(Oid(oids::INT8))));
                (Some((scan.slot, columns)), false)
            }
            Plan::Cte(scan) => {
                let outside = self.cte(scan.number);
                seen.reads.extend(outside);
                let columns = scan.columns.iter().map(|(_, ty)| Some(ty.oid)).collect();
                (Some((scan.slot, columns)), false)
            }
            Plan::Values(slot, rows) => {
                let first = rows.first().into_iter().flatten();
                (Some((*slot, first.map(|one| result(one, &seen.gives)).collect())), false)
            }
            Plan::Constants(slot, _) => (Some((*slot, Columns::new())), false),
            Plan::Project(_, slot, columns) => {
                let types = columns.iter().map(|one| result(one, &seen.gives)).collect();
                (Some((*slot, types)), false)
            }
            Plan::ProjectSet(_, slot, columns) => {
                let types = columns.iter().map(|column| match column {
                    SetColumn::One(scalar) => result(scalar, &seen.gives),
                    SetColumn::Set(..) => None,
                });
                (Some((*slot, types.collect())), false)
            }
            Plan::Aggregate(aggregate) => {
                let keys = aggregate.keys.iter().map(|(_, ty)| Some(*ty));
                let calls = aggregate.calls.iter().map(|call| Some(call.types.result.oid));
                (Some((aggregate.slot, keys.chain(calls).collect())), true)
            }
            Plan::Window(window) => {
                let calls = window.calls.iter().map(|call| match &call.function {
                    WindowFunction::Aggregate(step) => Some(step.types.result.oid),
                    _ => None,
                });
                (Some((window.slot, calls.collect())), false)
            }
            Plan::SetOperation(set) => {
                (Some((set.slot, set.types.iter().map(|ty| Some(*ty)).collect())), true)
            }
            _ => (None, false),
        };
        // A scan's conditions, and a window's, read what it fills; nobody else's expressions read what they make.
        let asks_own = matches!(plan, Plan::System(_) | Plan::Window(_));
        if let (Some((slot, columns)), true) = (&own, asks_own) {
            seen.gives.insert(*slot, columns.clone());
        }
        if let Plan::Filter(_, conditions) = plan {
            conditions.iter().for_each(|condition| demand_boolean(condition, &seen.gives));
        }
        let Interface { reads, gives } = &mut seen;
        vars::scalars(plan, &mut |scalar| self.scalar(scalar, gives, reads));
        if hides {
            gives.clear();
        }
        gives.extend(own);
        seen
    }

    /// A scan.
    pub fn scan(&mut self, scan: &Scan) -> Interface {
        let columns = outputs(&scan.relation, &scan.outputs);
        let gives = BTreeMap::from([(scan.slot, columns)]);
        let mut reads = BTreeSet::new();
        let keys: Vec<&Scalar> = match &scan.access {
            Access::Key(key) => {
                let columns = key.layout.columns.len();
                assert!(key.prefix_columns() <= columns, "a key has no column behind its last");
                key.scalars().collect()
            }
            Access::IndexUnion(ways) => ways.iter().flat_map(|way| way.scalars()).collect(),
            Access::Full(_) | Access::Current(_) => Vec::new(),
        };
        for condition in &scan.filter {
            demand_boolean(condition, &gives);
        }
        for scalar in scan.filter.iter().chain(keys) {
            self.scalar(scalar, &gives, &mut reads);
        }
        Interface { reads, gives }
    }

    /// A join.
    pub fn join(&mut self, join: &Join) -> Interface {
        let (mut seen, mut right) = (self.plan(&join.left), self.plan(&join.right));
        if join.dependent {
            right.reads.retain(|var| !seen.gives.contains_key(&var.slot));
        }
        if let JoinMethod::Hash { left: outer, right: inner, types, .. } = &join.method {
            assert!(
                outer.len() == inner.len() && inner.len() == types.len(),
                "a hash join compares its keys one by one"
            );
            for key in outer {
                self.scalar(key, &seen.gives, &mut seen.reads);
            }
            for key in inner {
                self.scalar(key, &right.gives, &mut right.reads);
            }
        }
        let hidden: Vec<u32> = match join.kind {
            JoinKind::Anti => right.gives.keys().copied().collect(),
            _ => Vec::new(),
        };
        seen.join(right);
        let mut seen = self.under(seen, &join.on);
        seen.gives.retain(|slot, _| !hidden.contains(slot));
        seen
    }

    /// What is seen of a part under conditions on its rows.
    pub fn under(&mut self, mut seen: Interface, conditions: &[Scalar]) -> Interface {
        for condition in conditions {
            demand_boolean(condition, &seen.gives);
            self.scalar(condition, &seen.gives, &mut seen.reads);
        }
        seen
    }

    /// Adds what a scalar reads that is not given.
    fn scalar(
        &mut self,
        scalar: &Scalar,
        given: &BTreeMap<u32, Columns>,
        reads: &mut BTreeSet<Var>,
    ) {
        scalar.reads(&mut |var| {
            let width = self.widths.get(var.slot as usize).copied().unwrap_or_default();
            assert!((var.column as usize) < width, "{var:?} is no column of its slot");
            if !given.contains_key(&var.slot) {
                reads.insert(var);
            }
            false
        });
        for number in scalar.subqueries() {
            let outside = self.subplan(number);
            // What the scalar fills itself, its subqueries may read.
            let mut own = Vec::new();
            scalar.walk(&mut |part| {
                own.extend(part.own_home());
                true
            });
            let is_foreign = |var: &Var| !given.contains_key(&var.slot) && !own.contains(var);
            reads.extend(outside.into_iter().filter(is_foreign));
        }
    }

    /// What a subquery reads outside it.
    fn subplan(&mut self, number: u32) -> BTreeSet<Var> {
        if let Some(known) = self.of_subplans.get(&number) {
            return known.clone();
        }
        let subplan = self.subplans.get(number as usize).expect("a subquery is there");
        let Interface { mut reads, gives } = self.plan(&subplan.plan);
        match &subplan.kind {
            SubplanKind::Exists => {}
            SubplanKind::Scalar(var) | SubplanKind::Array(var, ..) => {
                self.scalar(&Scalar::Var(*var), &gives, &mut reads);
            }
            SubplanKind::Quantified(test, _) => {
                demand_boolean(test, &gives);
                self.scalar(test, &gives, &mut reads);
            }
            SubplanKind::Hashed(hashed) => {
                assert_eq!(
                    hashed.left.len(),
                    hashed.right.len(),
                    "members are compared one by one"
                );
                self.scalar(&hashed.test, &gives, &mut reads);
                for (member, _) in &hashed.right {
                    self.scalar(member, &gives, &mut reads);
                }
            }
        }
        self.of_subplans.insert(number, reads.clone());
        reads
    }

    /// What a common table expression reads outside it.
    fn cte(&mut self, number: u32) -> BTreeSet<Var> {
        if let Some(known) = self.of_ctes.get(&number) {
            return known.clone();
        }
        // A recursive one reads itself, and one that is being planned is read by its own second term.
        self.of_ctes.insert(number, BTreeSet::new());
        let mut all = BTreeSet::new();
        let cte = self.ctes.get(number as usize).expect("a common table expression is there");
        for (plan, layout) in cte.iter().flat_map(|cte| cte.body.parts()) {
            let Interface { reads, gives } = self.plan(plan);
            all.extend(reads);
            all.extend(layout.iter().filter(|var| !gives.contains_key(&var.slot)));
        }
        self.of_ctes.insert(number, all.clone());
        all
    }
}

/// A condition is true, false or NULL.
fn demand_boolean(condition: &Scalar, given: &BTreeMap<u32, Columns>) {
    if let Some(ty) = result(condition, given) {
        assert!(is_held_alike(ty, Oid(oids::BOOL)), "a condition is of type {ty}");
    }
}

/// The types of what a scan puts out.
fn outputs(relation: &crate::catalog::Relation, outputs: &[ScanColumn]) -> Columns {
    let ty = |output: &ScanColumn| match output {
        ScanColumn::Column(column) => relation.columns[*column].ty.oid,
        ScanColumn::System(attnum) => system_column(*attnum).ty,
        ScanColumn::Key => Oid(oids::BYTEA),
    };
    outputs.iter().map(|output| Some(ty(output))).collect()
}

/// The type of a scalar's value over what is given; none where the plan does not say.
fn result(scalar: &Scalar, given: &BTreeMap<u32, Columns>) -> Option<Oid> {
    Some(match scalar {
        Scalar::Constant(_, ty) | Scalar::ViaText(_, _, ty) => ty.oid,
        Scalar::Var(var) => (*given.get(&var.slot)?.get(var.column as usize)?)?,
        Scalar::Call { callee, .. } => match &callee.target {
            Target::Typed(_, types) | Target::Routine(_, types) => types.result.oid,
            Target::Plain(_) | Target::Catalog => Oid(builtin::function(callee.oid)?.result),
        },
        Scalar::And(_)
        | Scalar::Or(_)
        | Scalar::Not(_)
        | Scalar::IsNull(..)
        | Scalar::IsBool(..)
        | Scalar::IsDistinct(..)
        | Scalar::ScalarArray { .. } => Oid(oids::BOOL),
        Scalar::Array(_, ty, _) => *ty,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::Literal;
    use crate::plan::translate::constant;
    use crate::types::{Datum, SqlType};

    fn home(slot: u32) -> Var {
        Var { slot, column: 0 }
    }

    /// One row with this value.
    fn row(value: &Datum<'_>, ty: u32) -> Plan {
        Plan::Values(0, vec![vec![constant(&Literal::of(value), SqlType::plain(ty))]])
    }

    fn filter(plan: Plan, condition: Scalar) -> Plan {
        Plan::Filter(Box::new(plan), vec![condition])
    }

    fn seen(plan: &Plan) -> Interface {
        Verifier::new(&[1, 1], &[], &[]).plan(plan)
    }

    #[test]
    fn a_plan_that_reads_or_gives_what_nobody_fills_is_refused() {
        let truth = || row(&Datum::Bool(true), oids::BOOL);
        let own = seen(&filter(truth(), Scalar::Var(home(0))));
        assert_eq!(own.is_whole(&[home(0)]), Ok(()));
        assert!(own.is_whole(&[home(1)]).is_err());
        assert!(seen(&filter(truth(), Scalar::Var(home(1)))).is_whole(&[]).is_err());
        let gate = Plan::OneTimeFilter(Box::new(truth()), vec![Scalar::Var(home(0))]);
        assert!(seen(&gate).is_whole(&[]).is_err());
    }

    #[test]
    fn a_part_stands_for_one_that_reads_no_less_and_fills_no_more() {
        let stands = |one: &Plan, other: &Plan, around: &[Var]| {
            seen(one).stands_for(&seen(other), around.iter()).is_ok()
        };
        let number = row(&Datum::Int4(1), oids::INT4);
        assert!(stands(&number, &number, &[]));
        assert!(!stands(&number, &row(&Datum::Text("a"), oids::TEXT), &[]));
        assert!(!stands(&number, &Plan::Unit, &[]));
        assert!(stands(&Plan::Unit, &number, &[]));
        let outside = Scalar::IsNull(Box::new(Scalar::Var(home(1))), false);
        let reading = filter(number.clone(), outside);
        assert!(!stands(&number, &reading, &[]));
        assert!(stands(&number, &reading, &[home(1)]));
        assert!(stands(&reading, &number, &[]));
    }

    #[test]
    #[should_panic(expected = "a condition is of type")]
    fn a_condition_that_is_no_boolean_is_refused() {
        seen(&filter(row(&Datum::Int4(1), oids::INT4), Scalar::Var(home(0))));
    }

    #[test]
    #[should_panic(expected = "a subquery is there")]
    fn a_subquery_that_is_not_there_is_refused() {
        seen(&filter(Plan::Unit, Scalar::Subquery(3)));
    }
}
