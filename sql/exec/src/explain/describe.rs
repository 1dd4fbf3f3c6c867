//! A program's plan as PostgreSQL would describe it.
//!
//! PostgreSQL's nodes filter and project by themselves, so a filter, a projection and a query's common table expressions are
//! shown as part of the node below them. Where one of our nodes does the work of several of PostgreSQL's (a hash join and
//! its hash table, a set operation and the append below it), all of them are shown.

use super::expression::{Printer, Scope};
use super::options::Options;
use super::tree::{Child, Item, Value};
use crate::bind::logical::{CursorName, JoinKind, SetKind};
use crate::catalog::Relation;
use crate::catalog::quote::identifier;
use crate::catalog::relation::EXPRESSIONS;
use crate::exec::probe::{Changed, Counters, Part, Probes};
use crate::plan::covering::covering;
use crate::plan::cte::CtePlanBody;
use crate::plan::estimate::Estimate;
use crate::plan::fold::never;
use crate::plan::functions::Comparison;
use crate::plan::physical::{
    Access, Aggregate, InsteadChange, Join, JoinMethod, KeyAccess, KeyPart, Modify, ModifyKind,
    Plan, Scan, SetCall, SetOperation,
};
use crate::plan::scalar::Target;
use crate::plan::{Scalar, Var, vars};
use crate::types::SqlType;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use txn::Direction;

/// Describes the plans of a program.
pub(super) struct Describer<'d, 'p, 'c, 'a> {
    pub printer: &'d Printer<'p, 'c, 'a>,
    pub options: &'d Options,
    pub probes: Option<&'d Probes>,
    /// An INSERT stores the rows of the query, and neither that nor its table is shown.
    pub stored: bool,
    /// The estimates of nodes, by their place in memory.
    pub estimates: HashMap<usize, Estimate>,
    /// Uncorrelated subqueries of the query at hand: they are shown at its top.
    pub initial: RefCell<Vec<u32>>,
    /// The common table expression whose recursive term is at hand.
    pub recursing: RefCell<Vec<u32>>,
}

/// A node with the wrappers that are shown as part of it.
struct Unwrapped<'p> {
    /// The outermost wrapper.
    outer: &'p Plan,
    /// The node.
    base: &'p Plan,
    /// Conjuncts of filters, those next to the node first.
    conjuncts: Vec<&'p Scalar>,
    /// The filters.
    filters: Vec<&'p Plan>,
    /// Slots that projections fill.
    inline: HashSet<u32>,
    ctes: Vec<u32>,
    /// Everything evaluated in it.
    scalars: Vec<&'p Plan>,
}

fn unwrap(outer: &Plan) -> Unwrapped<'_> {
    let mut found = Unwrapped {
        outer,
        base: outer,
        conjuncts: Vec::new(),
        filters: Vec::new(),
        inline: HashSet::new(),
        ctes: Vec::new(),
        scalars: Vec::new(),
    };
    loop {
        found.scalars.push(found.base);
        match found.base {
            Plan::Filter(input, conjuncts) => {
                found.filters.push(found.base);
                found.conjuncts.splice(0..0, conjuncts);
                found.base = input;
            }
            Plan::Project(input, slot, _) => {
                found.inline.insert(*slot);
                found.base = input;
            }
            // A query in FROM that nothing is asked of is not shown as one.
            Plan::Barrier(input, alias) if alias.is_none() || found.conjuncts.is_empty() => {
                found.base = input;
            }
            Plan::WithCtes(input, numbers) => {
                found.ctes.extend(numbers);
                found.base = input;
            }
            _ => return found,
        }
    }
}

fn address(plan: &Plan) -> usize {
    std::ptr::from_ref(plan) as usize
}

impl<'p> Describer<'_, 'p, '_, '_> {
    /// A query's plan with its subqueries' plans. `needed` are the homes of what it returns.
    pub fn query(&self, plan: &'p Plan, needed: &[Var]) -> Item {
        let outer = self.initial.take();
        let mut item = self.node(plan, needed);
        let mut numbers = self.initial.replace(outer);
        numbers.sort_unstable();
        numbers.dedup();
        let program = self.printer.program;
        let mut first: Vec<Child> = Vec::new();
        for number in numbers {
            let subplan = &program.subplans[number as usize];
            let mut name = format!("InitPlan {}", self.printer.plan_number(number));
            if self.printer.returns(number) {
                name += &format!(" (returns ${})", self.printer.parameter_number(number));
            }
            let item = self.query(&subplan.plan, &[]);
            first.push(Child { relationship: "InitPlan", name: Some(name), item });
        }
        item.children.splice(0..0, first);
        item
    }

    /// The query of which an INSERT stores the rows.
    pub fn stored_query(&self, plan: &'p Plan) -> Item {
        let Plan::Modify(modify) = plan else { return self.query(plan, &[]) };
        let ModifyKind::Insert { source, columns, .. } = &modify.kind else {
            return self.query(plan, &[]);
        };
        let mut needed = BTreeSet::new();
        for column in columns {
            column.reads(&mut |var| {
                needed.insert(var);
                false
            });
        }
        let needed: Vec<Var> = needed.into_iter().collect();
        let mut item = self.query(source, &needed);
        if self.options.verbose {
            let inline = unwrap(source).inline;
            let scope = Scope { prefix: self.several(), inline, ..Scope::default() };
            let columns = columns.iter().map(|one| self.printer.text(one, &scope)).collect();
            item.properties.retain(|(name, _)| *name != "Output");
            item.properties.insert(0, ("Output", Value::List(columns)));
        }
        item
    }

    /// A node, its inputs below it.
    fn node(&self, plan: &'p Plan, needed: &[Var]) -> Item {
        let parts = unwrap(plan);
        let mut scope =
            Scope { prefix: self.prefix(), inline: parts.inline.clone(), ..Scope::default() };
        let below = self.needed_below(&parts, needed);
        let mut item = self.base(&parts, &mut scope, &below);
        let shown = parts.conjuncts.as_slice();
        if !shown.is_empty() {
            let label = if matches!(parts.base, Plan::Unit | Plan::Nothing) {
                "One-Time Filter"
            } else {
                "Filter"
            };
            // What a scan filters by itself stands in one condition with what is asked behind it.
            let mut all: Vec<&Scalar> = own_filter(parts.base).iter().collect();
            all.extend(shown);
            let scope = self.filter_scope(parts.base, &scope);
            let text = self.printer.condition(&all, &scope);
            let place = item.properties.iter().position(|(known, _)| *known == label);
            match place {
                Some(at) => item.properties[at].1 = text.into(),
                None => item.properties.push((label, text.into())),
            }
        }
        self.removed(&parts, &mut item);
        item.estimate = self.estimate(parts.outer);
        item.actual = self.counters(parts.outer, Part::Whole);
        if self.options.verbose && !needed.is_empty() && !matches!(parts.base, Plan::Modify(_)) {
            let filled = self.filled(parts.outer);
            let here = needed.iter().filter(|var| filled.contains(&var.slot));
            let scope = Scope { prefix: self.several(), ..scope.clone() };
            let columns: Vec<String> =
                here.map(|var| self.printer.text(&Scalar::Var(*var), &scope)).collect();
            if !columns.is_empty() {
                item.properties.insert(0, ("Output", Value::List(columns)));
            }
        }
        self.subqueries(&parts, &mut item);
        item
    }

    fn several(&self) -> bool {
        self.printer.program.range_table > if self.stored { 3 } else { 1 }
    }

    fn prefix(&self) -> bool {
        self.several() || self.options.verbose
    }

    fn filled(&self, plan: &Plan) -> HashSet<u32> {
        vars::filled(plan, &self.printer.program.widths).iter().map(|(slot, _)| *slot).collect()
    }

    /// The homes that the nodes below have to fill: those asked for, and those the node reads.
    fn needed_below(&self, parts: &Unwrapped<'_>, needed: &[Var]) -> Vec<Var> {
        if !self.options.verbose {
            return Vec::new();
        }
        let mut all: BTreeSet<Var> = needed.iter().copied().collect();
        for node in &parts.scalars {
            vars::scalars(node, &mut |scalar| {
                scalar.reads(&mut |var| {
                    all.insert(var);
                    false
                });
            });
        }
        all.into_iter().collect()
    }

    /// A scan's conditions show its own columns plainly, other nodes' show whose they are.
    fn filter_scope(&self, base: &Plan, scope: &Scope) -> Scope {
        let own = match base {
            Plan::Scan(scan) => Some(scan.slot),
            Plan::System(scan) => Some(scan.slot),
            Plan::Function(scan) => Some(scan.slot),
            Plan::Values(slot, _) | Plan::Constants(slot, _) => Some(*slot),
            Plan::Cte(scan) => Some(scan.slot),
            _ => None,
        };
        match own {
            Some(_) => Scope { own, prefix: self.options.verbose, ..scope.clone() },
            None => scope.clone(),
        }
    }

    fn estimate(&self, plan: &Plan) -> Estimate {
        self.estimates.get(&address(plan)).copied().unwrap_or_default()
    }

    fn counters(&self, plan: &Plan, part: Part) -> Option<Counters> {
        self.probes?.of(plan, part)
    }

    /// `Rows Removed by ...`: what went into filters and has not come out.
    fn removed(&self, parts: &Unwrapped<'_>, item: &mut Item) {
        let Some(all) = self.counters(parts.base, Part::Whole) else { return };
        let per_loop =
            |rows: u64| Value::Number(format!("{:.0}", rows as f64 / all.loops.max(1) as f64));
        let mut filtered = 0;
        if let Some(before) = self.counters(parts.base, Part::Unfiltered) {
            let removed = before.rows - all.rows;
            if matches!(parts.base, Plan::Join(_)) {
                if removed > 0 || self.options.format != super::Format::Text {
                    insert_behind(
                        item,
                        "Join Filter",
                        "Rows Removed by Join Filter",
                        per_loop(removed),
                    );
                }
            } else {
                filtered += removed;
            }
        }
        for filter in &parts.filters {
            if let (Plan::Filter(input, _), Some(after)) =
                (filter, self.counters(filter, Part::Whole))
                && let Some(before) = self.counters(input, Part::Whole)
            {
                filtered += before.rows - after.rows;
            }
        }
        if filtered > 0 || self.options.format != super::Format::Text {
            insert_behind(item, "Filter", "Rows Removed by Filter", per_loop(filtered));
        }
    }

    /// The plans of the node's subqueries: correlated ones below it, the others at the top of the query.
    fn subqueries(&self, parts: &Unwrapped<'p>, item: &mut Item) {
        let program = self.printer.program;
        let mut numbers = BTreeSet::new();
        for node in &parts.scalars {
            vars::scalars(node, &mut |scalar| numbers.extend(scalar.subqueries()));
        }
        let mut tests: Vec<u32> = numbers.iter().copied().collect();
        while let Some(number) = tests.pop() {
            if let crate::plan::subplan::SubplanKind::Quantified(test, _) =
                &program.subplans[number as usize].kind
            {
                let inner = test.subqueries();
                tests.extend(inner.iter().filter(|number| !numbers.contains(number)));
                numbers.extend(inner);
            }
        }
        for number in numbers {
            if !program.correlated[number as usize] {
                self.initial.borrow_mut().push(number);
                continue;
            }
            let name = format!("SubPlan {}", self.printer.plan_number(number));
            let plan = self.query(&program.subplans[number as usize].plan, &[]);
            item.children.push(Child { relationship: "SubPlan", name: Some(name), item: plan });
        }
        let first: Vec<Child> = parts.ctes.iter().map(|number| self.cte(*number)).collect();
        item.children.splice(0..0, first);
    }

    fn cte(&self, number: u32) -> Child {
        let cte = &self.printer.program.ctes[number as usize];
        let item = match &cte.body {
            CtePlanBody::Query(plan, layout) => self.query(plan, layout),
            CtePlanBody::Recursive { base, step, .. } => {
                let first = self.query(&base.0, &base.1);
                self.recursing.borrow_mut().push(number);
                let second = self.query(&step.0, &step.1);
                self.recursing.borrow_mut().pop();
                let mut item = combined("Recursive Union", &[&first, &second]);
                item.children.push(below("Outer", first));
                item.children.push(below("Inner", second));
                item
            }
        };
        Child { relationship: "InitPlan", name: Some(format!("CTE {}", cte.name)), item }
    }

    fn input(&self, relationship: &'static str, plan: &'p Plan, needed: &[Var]) -> Child {
        below(relationship, self.node(plan, needed))
    }

    fn base(&self, parts: &Unwrapped<'p>, scope: &mut Scope, needed: &[Var]) -> Item {
        let outer = |plan: &'p Plan| self.input("Outer", plan, needed);
        match parts.base {
            Plan::Unit => plain("Result"),
            Plan::OneTimeFilter(input, conjuncts) => {
                let text = if never(conjuncts) {
                    "false".to_owned()
                } else {
                    let all: Vec<&Scalar> = conjuncts.iter().collect();
                    self.printer.condition(&all, scope)
                };
                let mut item = plain("Result");
                item.properties.push(("One-Time Filter", text.into()));
                if !never(conjuncts) && !matches!(**input, Plan::Unit) {
                    item.children.push(outer(input));
                }
                item
            }
            Plan::Barrier(input, alias) => {
                let mut item = plain("Subquery Scan");
                let alias = alias.as_deref().unwrap_or_default();
                item.title = format!("Subquery Scan on {}", identifier(alias));
                item.target.push(("Alias", alias.into()));
                item.children.push(self.input("Subquery", input, needed));
                item
            }
            Plan::Nothing => {
                let mut item = plain("Result");
                item.properties.push(("One-Time Filter", "false".into()));
                item
            }
            Plan::Scan(scan) => self.scan(scan, scope),
            Plan::System(scan) => {
                let mut item = self.relation("Seq Scan", &scan.relation, scan.slot);
                self.own(&mut item, &scan.filter, scan.slot, scope);
                item
            }
            Plan::Function(scan) => {
                let call = self.printer.set_call(&scan.call, scope);
                let name = call.split('(').next().unwrap_or_default().to_owned();
                let alias = self.printer.names.alias(scan.slot).to_owned();
                if matches!(scan.call, SetCall::XmlTable(..)) {
                    let mut item = plain("Table Function Scan");
                    let name = "\"xmltable\"";
                    item.title =
                        named(&format!("Table Function Scan on {name}"), "xmltable", &alias);
                    item.target.push(("Table Function Name", "xmltable".into()));
                    if self.options.verbose {
                        item.properties.push(("Table Function Call", call.into()));
                    }
                    item.target.push(("Alias", alias.into()));
                    return item;
                }
                let mut item = plain("Function Scan");
                let made = match &scan.call {
                    SetCall::Routine(routine, ..) => Some(routine),
                    SetCall::Scalar(Scalar::Call { callee, .. }, _) => match &callee.target {
                        Target::Routine(routine, _) => Some(routine),
                        _ => None,
                    },
                    _ => None,
                };
                let name = made.map_or(name, |made| identifier(&made.name));
                let own = made.and_then(|made| self.printer.catalog.schema_by_oid(made.schema));
                let own = own.map_or("pg_catalog", |schema| &*schema.name);
                let schema = match self.options.verbose {
                    true => format!("{}.", identifier(own)),
                    false => String::new(),
                };
                item.title = named(&format!("Function Scan on {schema}{name}"), &name, &alias);
                item.target.push(("Function Name", name.into()));
                if self.options.verbose {
                    item.target.push(("Schema", own.to_owned().into()));
                    item.properties.push(("Function Call", call.into()));
                }
                item.target.push(("Alias", alias.into()));
                item
            }
            Plan::Values(slot, rows) if rows.len() == 1 => {
                scope.inline.insert(*slot);
                plain("Result")
            }
            Plan::Values(slot, _) | Plan::Constants(slot, _) => {
                let alias = self.printer.names.alias(*slot).to_owned();
                let mut item = plain("Values Scan");
                item.title = format!("Values Scan on {}", identifier(&alias));
                item.target.push(("Alias", alias.into()));
                item
            }
            Plan::Cte(scan) => {
                let working = self.recursing.borrow().contains(&scan.number);
                let kind = if working { "WorkTable Scan" } else { "CTE Scan" };
                let name = self.printer.program.ctes[scan.number as usize].name.to_string();
                let alias = self.printer.names.alias(scan.slot).to_owned();
                let mut item = plain(kind);
                let title = format!("{kind} on {}", identifier(&name));
                item.title = named(&title, &name, &alias);
                item.target.push(("CTE Name", name.into()));
                item.target.push(("Alias", alias.into()));
                item
            }
            Plan::Join(join) => self.join(join, scope, needed),
            Plan::Aggregate(aggregate) => {
                // The node shows what it computes as what it is.
                scope.inline.insert(aggregate.slot);
                let mut item = self.aggregate(aggregate, scope);
                item.children.push(outer(&aggregate.input));
                item
            }
            Plan::Distinct(distinct) => {
                let input = &distinct.input;
                let sorted = distinct.ordered || matches!(unwrap(input).base, Plan::Sort(_));
                let keys: Vec<String> =
                    distinct.keys.iter().map(|(key, _)| self.printer.text(key, scope)).collect();
                let mut item = if sorted { plain("Unique") } else { hash_aggregate(keys) };
                item.children.push(outer(input));
                item
            }
            Plan::Window(window) => {
                scope.inline.insert(window.slot);
                let mut item = plain("WindowAgg");
                if !window.run.is_empty() {
                    let run: Vec<&Scalar> = window.run.iter().collect();
                    item.properties
                        .push(("Run Condition", self.printer.condition(&run, scope).into()));
                }
                item.children.push(outer(&window.input));
                item
            }
            Plan::Sort(sort) => {
                let mut item = plain(if sort.presorted == 0 { "Sort" } else { "Incremental Sort" });
                let keys: Vec<String> = sort
                    .keys
                    .iter()
                    .map(|(key, order)| self.printer.sort_key(key, order, scope))
                    .collect();
                let presorted = sort.keys[..sort.presorted].iter();
                let presorted: Vec<String> =
                    presorted.map(|(key, _)| self.printer.text(key, scope)).collect();
                item.properties.push(("Sort Key", Value::List(keys)));
                if !presorted.is_empty() {
                    item.properties.push(("Presorted Key", Value::List(presorted)));
                }
                item.children.push(outer(&sort.input));
                item
            }
            Plan::Limit(limit) => {
                let mut item = plain("Limit");
                item.children.push(outer(&limit.input));
                item
            }
            Plan::SetOperation(set) => self.set_operation(set, scope),
            Plan::LockRows(lock) => {
                let mut item = plain("LockRows");
                item.children.push(outer(&lock.input));
                item
            }
            Plan::Materialize(input, _) => {
                let mut item = plain("Materialize");
                item.children.push(outer(input));
                item
            }
            Plan::ProjectSet(input, slot, _) => {
                scope.inline.insert(*slot);
                let mut item = plain("ProjectSet");
                item.children.push(outer(input));
                item
            }
            Plan::Modify(modify) => self.modify(parts.base, modify, needed),
            Plan::Filter(..) | Plan::Project(..) | Plan::WithCtes(..) => {
                unreachable!("these are shown as part of the node below them")
            }
        }
    }

    /// A scan of a relation: its title, and what other formats say of it.
    fn relation(&self, kind: &'static str, relation: &Relation, slot: u32) -> Item {
        let mut item = plain(kind);
        let alias = self.printer.names.alias(slot).to_owned();
        let schema = match self.options.verbose {
            true => format!("{}.", identifier(relation.shown_schema())),
            false => String::new(),
        };
        let title = format!("{kind} on {schema}{}", identifier(&relation.name));
        item.title = named(&title, &relation.name, &alias);
        item.target.push(("Relation Name", relation.name.to_string().into()));
        if self.options.verbose {
            item.target.push(("Schema", relation.shown_schema().to_owned().into()));
        }
        item.target.push(("Alias", alias.into()));
        item
    }

    /// A scan's own conditions.
    fn own(&self, item: &mut Item, filter: &[Scalar], slot: u32, scope: &Scope) {
        if filter.is_empty() {
            return;
        }
        let scope = Scope { own: Some(slot), prefix: self.options.verbose, ..scope.clone() };
        let conjuncts: Vec<&Scalar> = filter.iter().collect();
        item.properties.push(("Filter", self.printer.condition(&conjuncts, &scope).into()));
    }

    fn scan(&self, scan: &Scan, scope: &Scope) -> Item {
        let mut item = match &scan.access {
            Access::Full(_) => self.relation("Seq Scan", &scan.relation, scan.slot),
            Access::Current(cursor) => {
                let mut item = self.relation("Tid Scan", &scan.relation, scan.slot);
                let condition = match cursor {
                    CursorName::Named(name) => format!("CURRENT OF {}", identifier(name)),
                    CursorName::Parameter(number) => format!("CURRENT OF ${}", number + 1),
                };
                item.properties.push(("TID Cond", condition.into()));
                item
            }
            Access::Key(key) => {
                let kind = match covering(scan) {
                    Some(_) => "Index Only Scan",
                    None => "Index Scan",
                };
                let mut item = self.relation(kind, &scan.relation, scan.slot);
                let name = index_name(scan, key).to_owned();
                let backward = key.direction == Direction::Backward;
                let begin = format!(
                    "{kind}{} using {} on",
                    if backward { " Backward" } else { "" },
                    identifier(&name)
                );
                item.title = item.title.replacen(&format!("{kind} on"), &begin, 1);
                let direction = if backward { "Backward" } else { "Forward" };
                item.target.insert(0, ("Index Name", name.into()));
                item.target.insert(0, ("Scan Direction", direction.into()));
                let scope =
                    Scope { own: Some(scan.slot), prefix: self.options.verbose, ..scope.clone() };
                let text = joined(&self.key_conditions(scan, key, &scope), " AND ");
                item.properties.extend(text.map(|text| ("Index Cond", text.into())));
                item
            }
            Access::IndexUnion(ways) => {
                let mut item = self.relation("Index Scan", &scan.relation, scan.slot);
                let mut names: Vec<&str> =
                    ways.iter().map(|way| index_name(scan, &way.key)).collect();
                names.sort_unstable();
                names.dedup();
                let identifiers: Vec<_> = names.iter().map(|name| identifier(name)).collect();
                let begin = format!("Index Scan using {} on", identifiers.join(", "));
                item.title = item.title.replacen("Index Scan on", &begin, 1);
                item.target.insert(0, ("Index Name", names.join(", ").into()));
                let scope =
                    Scope { own: Some(scan.slot), prefix: self.options.verbose, ..scope.clone() };
                let sides: Vec<String> = ways
                    .iter()
                    .filter_map(|way| joined(&self.key_conditions(scan, &way.key, &scope), " AND "))
                    .collect();
                item.properties
                    .extend(joined(&sides, " OR ").map(|text| ("Index Cond", text.into())));
                item
            }
        };
        let mut filter = scan.filter.clone();
        if let Access::IndexUnion(ways) = &scan.access
            && ways.iter().any(|way| !way.rest.is_empty())
        {
            filter.push(Scalar::Or(ways.iter().map(|way| way.side.clone()).collect()));
        }
        self.own(&mut item, &filter, scan.slot, scope);
        item
    }

    /// What a key access demands of its columns.
    fn key_conditions(&self, scan: &Scan, key: &KeyAccess, scope: &Scope) -> Vec<String> {
        let mut conditions = Vec::new();
        let named = |place: usize| -> Option<(String, SqlType)> {
            let part = key.layout.columns.get(place)?;
            if let Some(at) = part.column.checked_sub(EXPRESSIONS) {
                let expression = &scan.relation.indexes[key.index?].expressions[at];
                let known = scan.computed.iter().find(|known| Some(known.index) == key.index)?;
                let text = self.printer.text(known.expressions.get(at)?, scope);
                return Some((text, expression.ty));
            }
            let column = &scan.relation.columns[part.column];
            let name = match scope.prefix {
                true => format!(
                    "{}.{}",
                    identifier(self.printer.names.alias(scan.slot)),
                    identifier(&column.name)
                ),
                false => identifier(&column.name),
            };
            Some((name, column.ty))
        };
        let compared = |place: usize, kind: Comparison, value: &Scalar| -> Option<String> {
            let descending = key.layout.columns.get(place)?.descending;
            let kind = if descending { kind.swapped() } else { kind };
            let (name, ty) = named(place)?;
            Some(self.printer.compared(&name, ty, kind, value, scope))
        };
        for (place, value) in key.equal.iter().enumerate() {
            conditions.extend(match key.nulls.contains(&place) {
                true => named(place).map(|(name, _)| format!("({name} IS NULL)")),
                false => compared(place, Comparison::Equal, value),
            });
        }
        for (place, part) in key.several.iter().flat_map(|several| several.parts.iter().enumerate())
        {
            if let KeyPart::One(value) = part {
                conditions.extend(compared(key.equal.len() + place, Comparison::Equal, value));
            }
        }
        let next = key.prefix_columns();
        if let Some((value, inclusive)) = &key.low {
            let kind = if *inclusive { Comparison::GreaterEqual } else { Comparison::Greater };
            conditions.extend(compared(next, kind, value));
        }
        if let Some((value, inclusive)) = &key.high {
            let kind = if *inclusive { Comparison::LessEqual } else { Comparison::Less };
            conditions.extend(compared(next, kind, value));
        }
        let several = key.several.iter().flat_map(|several| &several.conditions);
        let union = key.union.iter().map(|union| &union.condition);
        conditions
            .extend(several.chain(union).map(|condition| self.printer.text(condition, scope)));
        conditions
    }

    fn join(&self, join: &'p Join, scope: &Scope, needed: &[Var]) -> Item {
        let words = match join.kind {
            JoinKind::Inner => "",
            JoinKind::Left => " Left",
            JoinKind::Right => " Right",
            JoinKind::Full => " Full",
            JoinKind::Semi => " Semi",
            JoinKind::Anti => " Anti",
        };
        let left = self.input("Outer", &join.left, needed);
        let mut right = self.input("Inner", &join.right, needed);
        let mut item = match &join.method {
            JoinMethod::NestedLoop => {
                let mut item = plain("Nested Loop");
                if !words.is_empty() {
                    item.title = format!("Nested Loop{words} Join");
                }
                item
            }
            JoinMethod::Hash { left, right: right_keys, .. } => {
                let mut item = plain("Hash Join");
                item.title = format!("Hash{words} Join");
                let pairs: Vec<String> = left
                    .iter()
                    .zip(right_keys)
                    .map(|(left, right)| self.printer.equal(left, right, scope))
                    .collect();
                let text = match &pairs[..] {
                    [one] => one.clone(),
                    many => format!("({})", many.join(" AND ")),
                };
                item.properties.push(("Hash Cond", text.into()));
                let mut hash = combined("Hash", &[&right.item]);
                hash.actual = right.item.actual;
                hash.estimate.startup = hash.estimate.cost;
                right.relationship = "Outer";
                hash.children.push(right);
                right = below("Inner", hash);
                item
            }
        };
        let kind = if words.is_empty() { "Inner" } else { &words[1..] };
        item.target.push(("Join Type", kind.into()));
        if self.options.verbose && inner_unique(&join.right) {
            item.properties.push(("Inner Unique", Value::Bool(true)));
        } else if self.options.format != super::Format::Text {
            item.properties.insert(0, ("Inner Unique", Value::Bool(inner_unique(&join.right))));
        }
        if !join.on.is_empty() {
            let on: Vec<&Scalar> = join.on.iter().collect();
            item.properties.push(("Join Filter", self.printer.condition(&on, scope).into()));
        }
        item.children.push(left);
        item.children.push(right);
        item
    }

    fn aggregate(&self, aggregate: &Aggregate, scope: &Scope) -> Item {
        let keys: Vec<String> =
            aggregate.keys.iter().map(|(key, _)| self.printer.text(key, scope)).collect();
        if let [only] = &aggregate.sets[..] {
            if only.is_empty() {
                let mut item = plain("Aggregate");
                item.kind.push(("Strategy", "Plain".into()));
                item.kind.push(("Partial Mode", "Simple".into()));
                return item;
            }
            return match aggregate.ordered.is_empty() {
                true => hash_aggregate(keys),
                false => group_aggregate(keys, aggregate.calls.is_empty()),
            };
        }
        let mixed = aggregate.sets.iter().any(Vec::is_empty);
        let mut item = plain("Aggregate");
        item.title = if mixed { "MixedAggregate" } else { "HashAggregate" }.to_owned();
        let strategy = if mixed { "Mixed" } else { "Hashed" };
        item.kind.push(("Strategy", strategy.into()));
        item.kind.push(("Partial Mode", "Simple".into()));
        for set in aggregate.sets.iter().filter(|set| !set.is_empty()) {
            let keys = set.iter().map(|at| keys[*at as usize].clone()).collect();
            item.properties.push(("Hash Key", Value::List(keys)));
        }
        if mixed {
            item.properties.push(("Group Key", "()".into()));
        }
        item
    }

    fn set_operation(&self, set: &'p SetOperation, scope: &Scope) -> Item {
        let (left, right) = (&set.left, &set.right);
        if set.kind == SetKind::Union {
            let mut members = Vec::new();
            self.members(set, &mut members);
            let items: Vec<Item> =
                members.iter().map(|(plan, layout)| self.query_part(plan, layout)).collect();
            let mut append = combined("Append", &items.iter().collect::<Vec<_>>());
            append.children.extend(items.into_iter().map(|item| below("Member", item)));
            if set.all {
                return append;
            }
            let keys = (0..set.types.len() as u32)
                .map(|column| Scalar::Var(Var { slot: set.slot, column }))
                .map(|var| self.printer.text(&var, scope))
                .collect();
            let mut item = hash_aggregate(keys);
            item.children.push(below("Outer", append));
            return item;
        }
        let word = if set.kind == SetKind::Intersect { "Intersect" } else { "Except" };
        let command = format!("{word}{}", if set.all { " All" } else { "" });
        let sides: Vec<Item> = [left, right]
            .iter()
            .enumerate()
            .map(|(at, (plan, layout))| {
                let inner = self.query_part(plan, layout);
                let mut item = combined("Subquery Scan", &[&inner]);
                let alias = format!("*SELECT* {}", at + 1);
                item.title = format!("Subquery Scan on {}", identifier(&alias));
                item.target.push(("Alias", alias.into()));
                item.actual = inner.actual;
                item.children.push(below("Subquery", inner));
                item
            })
            .collect();
        let mut append = combined("Append", &sides.iter().collect::<Vec<_>>());
        append.children.extend(sides.into_iter().map(|item| below("Member", item)));
        let mut item = plain("SetOp");
        item.title = format!("HashSetOp {command}");
        item.kind.push(("Strategy", "Hashed".into()));
        item.target.push(("Command", command.into()));
        item.children.push(below("Outer", append));
        item
    }

    fn query_part(&self, plan: &'p Plan, layout: &[Var]) -> Item {
        self.node(plan, layout)
    }

    /// The inputs of a UNION, those of UNIONs directly below it of the same kind among them.
    fn members(&self, set: &'p SetOperation, into: &mut Vec<(&'p Plan, &'p [Var])>) {
        for (plan, layout) in [&set.left, &set.right] {
            match plan {
                Plan::SetOperation(inner)
                    if inner.kind == SetKind::Union && inner.all == set.all =>
                {
                    self.members(inner, into);
                }
                plan => into.push((plan, layout)),
            }
        }
    }

    fn modify(&self, plan: &Plan, modify: &'p Modify, needed: &[Var]) -> Item {
        let relation = &modify.table.relation;
        let (operation, source, slot) = match &modify.kind {
            ModifyKind::Insert { source, .. } => ("Insert", source, modify.new_slot),
            ModifyKind::Update { source, target, .. } => ("Update", source, target.slot),
            ModifyKind::Delete { source, target, .. } => ("Delete", source, target.slot),
            ModifyKind::Merge { source, target, .. } => ("Merge", source, target.slot),
            ModifyKind::Instead { source, change, .. } => {
                let operation = match change {
                    InsteadChange::Insert => "Insert",
                    InsteadChange::Update(_) => "Update",
                    InsteadChange::Delete => "Delete",
                };
                (operation, source, modify.new_slot)
            }
        };
        let mut item = self.relation("ModifyTable", relation, slot);
        item.title = item.title.replacen("ModifyTable", operation, 1);
        item.kind.push(("Operation", operation.into()));
        if self.options.verbose
            && let Some((_, columns)) = &modify.returning
        {
            let scope = Scope { prefix: self.several(), ..Scope::default() };
            let columns = columns.iter().map(|one| self.printer.text(one, &scope)).collect();
            item.properties.push(("Output", Value::List(columns)));
        }
        if let ModifyKind::Insert { on_conflict: Some(conflict), .. } = &modify.kind {
            let what = if conflict.update.is_some() { "UPDATE" } else { "NOTHING" };
            item.properties.push(("Conflict Resolution", what.into()));
            if !conflict.arbiters.is_empty() {
                let name = |at: &usize| relation.indexes[*at].name.to_string();
                let names = conflict.arbiters.iter().map(name).collect();
                item.properties.push(("Conflict Arbiter Indexes", Value::List(names)));
            }
            let filter = conflict.update.as_ref().and_then(|update| update.filter.as_ref());
            if let Some(filter) = filter {
                let excluded = Some(modify.new_slot);
                let scope = Scope { prefix: true, excluded, ..Scope::default() };
                item.properties.push(("Conflict Filter", self.printer.text(filter, &scope).into()));
            }
        }
        self.changed(plan, modify, source, &mut item);
        item.children.push(self.input("Outer", source, needed));
        item
    }

    /// What became of the rows of its source, where PostgreSQL says so: of MERGE and ON CONFLICT.
    fn changed(&self, plan: &Plan, modify: &Modify, source: &Plan, item: &mut Item) {
        let Some(Counters { changed, .. }) = self.counters(plan, Part::Whole) else { return };
        let number = |count: u64| Value::Number(count.to_string());
        let mut add = |name, count| item.properties.push((name, number(count)));
        match &modify.kind {
            ModifyKind::Insert { on_conflict: Some(_), .. } => {
                add("Tuples Inserted", changed.inserted);
                add("Conflicting Tuples", changed.conflicting);
            }
            ModifyKind::Merge { .. } => {
                let rows = self.counters(source, Part::Whole).map_or(0, |source| source.rows);
                let Changed { inserted, updated, deleted, .. } = changed;
                let skipped = rows.saturating_sub(inserted + updated + deleted);
                let all = [
                    ("Tuples Inserted", " inserted=", inserted),
                    ("Tuples Updated", " updated=", updated),
                    ("Tuples Deleted", " deleted=", deleted),
                    ("Tuples Skipped", " skipped=", skipped),
                ];
                if self.options.format != super::Format::Text {
                    all.into_iter().for_each(|(name, _, count)| add(name, count));
                } else if rows > 0 {
                    let some = all.into_iter().filter(|(_, _, count)| *count > 0);
                    let text: String =
                        some.map(|(_, name, count)| format!("{name}{count}")).collect();
                    item.properties.push(("Tuples", text.trim_start().into()));
                }
            }
            _ => {}
        }
    }
}

/// The conditions that a node checks by itself and shows as its filter.
fn own_filter(plan: &Plan) -> &[Scalar] {
    match plan {
        Plan::Scan(scan) => &scan.filter,
        Plan::System(scan) => &scan.filter,
        _ => &[],
    }
}

/// A node of which nothing is known but its kind.
fn plain(kind: &'static str) -> Item {
    Item {
        node_type: kind,
        title: kind.to_owned(),
        kind: Vec::new(),
        target: Vec::new(),
        estimate: Estimate::default(),
        actual: None,
        properties: Vec::new(),
        children: Vec::new(),
    }
}

fn hash_aggregate(keys: Vec<String>) -> Item {
    let mut item = plain("Aggregate");
    item.title = "HashAggregate".to_owned();
    item.kind.push(("Strategy", "Hashed".into()));
    item.kind.push(("Partial Mode", "Simple".into()));
    item.properties.push(("Group Key", Value::List(keys)));
    item
}

/// Groups whose rows come one behind the other; without aggregates PostgreSQL has a node of its own for them.
fn group_aggregate(keys: Vec<String>, alone: bool) -> Item {
    let mut item = plain(if alone { "Group" } else { "Aggregate" });
    if !alone {
        item.title = "GroupAggregate".to_owned();
        item.kind.push(("Strategy", "Sorted".into()));
        item.kind.push(("Partial Mode", "Simple".into()));
    }
    item.properties.push(("Group Key", Value::List(keys)));
    item
}

/// A node that PostgreSQL has and our plan has not, over these: it gives what they give.
fn combined(kind: &'static str, inputs: &[&Item]) -> Item {
    let mut item = plain(kind);
    for input in inputs {
        item.estimate.rows += input.estimate.rows;
        item.estimate.cost += input.estimate.cost;
        item.estimate.width = item.estimate.width.max(input.estimate.width);
        if let Some(counters) = input.actual {
            // It begins as often as its first input.
            let begun = Counters { loops: counters.loops, ..Counters::default() };
            let sum = item.actual.get_or_insert(begun);
            sum.rows += counters.rows;
            sum.total_us += counters.total_us;
        }
    }
    if let (Some(first), Some(sum)) = (inputs.first(), &mut item.actual) {
        sum.startup_us = first.actual.map_or(0, |counters| counters.startup_us);
    }
    item
}

fn below(relationship: &'static str, item: Item) -> Child {
    Child { relationship, name: None, item }
}

/// The index that a key access reads: the key's own where it reads the rows' tree.
fn index_name<'s>(scan: &'s Scan, key: &KeyAccess) -> &'s str {
    let index = match key.index {
        Some(at) => scan.relation.indexes.get(at),
        None => scan.relation.indexes.iter().find(|index| index.holds_rows()),
    };
    index.map_or("", |index| &*index.name)
}

/// Conditions side by side, in parentheses where there are several.
fn joined(conditions: &[String], word: &str) -> Option<String> {
    match conditions {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("({})", many.join(word))),
    }
}

/// A title with the name in the query behind it, where that is another.
fn named(title: &str, name: &str, alias: &str) -> String {
    if alias.is_empty() || alias == name {
        title.to_owned()
    } else {
        format!("{title} {}", identifier(alias))
    }
}

/// Whether a side of a join gives at most one row for each row of the other.
fn inner_unique(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(scan) => scan.access.is_single(),
        _ => false,
    }
}

fn insert_behind(item: &mut Item, label: &str, new: &'static str, value: Value) {
    if let Some(at) = item.properties.iter().position(|(known, _)| *known == label) {
        item.properties.insert(at + 1, (new, value));
    }
}

/// The estimates of a program's nodes, by their place in memory.
pub(super) fn estimates(program: &crate::compile::Program) -> HashMap<usize, Estimate> {
    let mut places = Vec::new();
    program.nodes(&mut |node| places.push(address(node)));
    places.into_iter().zip(program.estimates.iter().copied()).collect()
}
