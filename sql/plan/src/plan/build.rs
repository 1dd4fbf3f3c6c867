//! From logical to physical: every value gets a home, every node its plainest form. The rules do the rest.
//!
//! Levels: an expression names columns as (steps out, position). `levels` holds, outermost first, the homes of each
//! enclosing row; a query block adds one while its expressions are translated, the right side of a lateral join one for
//! the left row.
//!
//! Here are the walk over a query's nodes and what it needs of each: those with mechanisms of their own stand in `scan`,
//! `set_calls`, `aggregate`, `window`, `cte`, `modify`, the expressions in `translate`, `subplan` and `sublinks`.

use super::cte::{CtePlan, NamedCte};
use super::estimate::Estimate;
use super::figures::{Facts, Figures};
use super::fold::Presets;
use super::functions::comparator;
use super::physical::{
    Access, Distinct, Join, JoinMethod, Limit, LockRows, LockTarget, Plan, ReferentialAction,
    SetOperation, Sort,
};
use super::recheck::again;
use super::scalar::{Scalar, Var};
use super::subplan::Subplan;
use super::{order, pushdown, unread, vars};
use crate::account;
use crate::bind::Expr;
use crate::bind::logical::{JoinKind, Node, Query, SortKey};
use crate::error::Result;
use crate::settings::{Rule, RuleSet};
use crate::types::Comparator;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The homes of a row's columns.
pub type Layout = Vec<Var>;

/// Makes plans of one statement.
pub struct Planner<'a> {
    /// What is known of the values at homes, and the catalog behind it.
    pub figures: Figures<'a>,
    /// The width of each slot.
    pub widths: Vec<usize>,
    /// Subqueries.
    pub subplans: Vec<Subplan>,
    /// The subqueries that several expressions take fields of.
    pub(super) records: Vec<(Arc<Query>, u32)>,
    /// Common table expressions; none while one is being planned.
    pub ctes: Vec<Option<CtePlan>>,
    /// What foreign keys may do because of the statement, each once.
    pub actions: Vec<ReferentialAction>,
    /// How many relations, subqueries, joins and the like its FROM clauses name: with more than one, EXPLAIN says whose
    /// a column is.
    pub range_table: usize,
    /// What each run computes first.
    pub presets: Presets,
    /// The expressions at hand are evaluated in every run.
    pub unconditional: bool,
    /// The presets of common table expressions that nobody has named yet.
    pub(super) unnamed: HashMap<u32, Presets>,
    /// The presets of computed columns that nobody has asked for yet.
    pub(super) unread: HashMap<Var, Presets>,
    pub(super) levels: Vec<Layout>,
    /// What the conditions of the simple CASEs around compare, innermost last.
    pub(super) case_tests: Vec<Scalar>,
    /// The common table expressions of each enclosing query, outermost first.
    pub(super) cte_levels: Vec<Vec<NamedCte>>,
    /// The rules that may be applied.
    pub(super) rules: RuleSet,
    /// How many semi joins have been planned both ways.
    pub(super) turned: u32,
    /// What the part that is planned next is wanted for, if not for all of its rows.
    pub(super) wanted: Option<FirstRows>,
    /// How many queries with a LIMIT have been planned both ways.
    pub(super) limited: u32,
    /// Something calls a routine that a user made.
    pub calls_routines: bool,
}

/// The first rows of a plan, as a LIMIT above it wants them.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstRows {
    /// How many.
    pub(super) rows: f64,
    /// The slot of the column that they are sorted by first: a join that begins with it may come in that order.
    pub(super) leads: Option<u32>,
}

impl FirstRows {
    /// What it costs to make them where all rows are expected to be made so.
    pub(super) fn cost(self, all: Estimate) -> f64 {
        all.startup + (all.cost - all.startup) * (self.rows / all.rows.max(1.0)).min(1.0)
    }
}

impl<'a> Planner<'a> {
    /// A planner that asks `facts`.
    #[must_use]
    pub fn new(facts: &'a dyn Facts) -> Planner<'a> {
        Planner {
            figures: Figures::new(facts),
            widths: Vec::new(),
            subplans: Vec::new(),
            records: Vec::new(),
            ctes: Vec::new(),
            actions: Vec::new(),
            range_table: 0,
            presets: Presets::default(),
            calls_routines: false,
            unconditional: false,
            unnamed: HashMap::new(),
            unread: HashMap::new(),
            levels: Vec::new(),
            case_tests: Vec::new(),
            cte_levels: Vec::new(),
            rules: facts.methods().rules,
            turned: 0,
            wanted: None,
            limited: 0,
        }
    }

    /// A new slot of `width` columns.
    pub fn slot(&mut self, width: usize) -> u32 {
        self.widths.push(width);
        account::narrow(self.widths.len() - 1)
    }

    /// The slots that a plan fills.
    pub(super) fn slots(&self, plan: &Plan) -> HashSet<u32> {
        vars::filled(plan, &self.widths).into_iter().map(|(slot, _)| slot).collect()
    }

    pub(super) fn layout(slot: u32, width: usize) -> Layout {
        (0..width as u32).map(|column| Var { slot, column }).collect()
    }

    /// A whole query, and the homes of all columns of its root.
    ///
    /// # Errors
    /// 0A000, 42883.
    pub fn query(&mut self, query: &Query) -> Result<(Plan, Layout)> {
        self.levels.push(Layout::new());
        let built = self.query_in_place(query);
        self.levels.pop();
        built
    }

    /// Notes that these columns are asked for.
    pub fn asked(&mut self, columns: &[Var]) {
        if self.unread.is_empty() {
            return;
        }
        for column in columns {
            if let Some(presets) = self.unread.remove(column) {
                self.presets.merge(presets);
            }
        }
    }

    /// A query that runs in place of the innermost level's row: a subquery in FROM, which looks out past the row that it
    /// helps to make.
    pub(super) fn query_in_place(&mut self, query: &Query) -> Result<(Plan, Layout)> {
        let (plan, layout, numbers) = self.written(query)?;
        let output = &layout[..query.output.len().min(layout.len())];
        Ok((self.settled(plan, output, numbers)?, layout))
    }

    /// A query in FROM.
    pub(super) fn derived(&mut self, query: &Query) -> Result<(Plan, Layout)> {
        let outer = self.levels.last_mut().map(std::mem::take);
        let built = self.written(query);
        if let (Some(level), Some(outer)) = (self.levels.last_mut(), outer) {
            *level = outer;
        }
        let (plan, mut layout, ctes) = built?;
        layout.truncate(query.output.len());
        // Without WITH queries of its own it is one plan with the query around it, which applies the rules.
        let plan = if ctes.is_empty() { plan } else { self.settled(plan, &layout, ctes)? };
        Ok((plan, layout))
    }

    /// A query's plan as it is written, its columns, and its common table expressions.
    fn written(&mut self, query: &Query) -> Result<(Plan, Layout, Vec<u32>)> {
        let numbers = self.ctes(&query.ctes)?;
        let built = self.node(&query.root);
        self.cte_levels.pop();
        let (plan, layout) = built?;
        Ok((plan, layout, numbers))
    }

    /// A plan by the rules, for who reads these homes. They are applied once: what has been chosen does not go through them again.
    fn settled(&mut self, plan: Plan, output: &[Var], ctes: Vec<u32>) -> Result<Plan> {
        let plan = unread::left_out(self, plan, output);
        let plan = pushdown::optimise(self, plan, Vec::new());
        let plan = order::first_rows(self, plan);
        self.demand_lockable(&plan)?;
        Ok(if ctes.is_empty() { plan } else { Plan::WithCtes(Box::new(plan), ctes) })
    }

    /// A node. The innermost level is made its input's row while its expressions are translated.
    ///
    /// # Errors
    /// 0A000, 42883.
    pub(super) fn node(&mut self, node: &Node) -> Result<(Plan, Layout)> {
        account::poll()?;
        if names_rows(node) {
            self.range_table += 1;
        }
        Ok(match node {
            Node::Unit => (Plan::Unit, Layout::new()),
            Node::Nothing(types) => {
                let slot = self.slot(types.len());
                (Plan::Nothing, Self::layout(slot, types.len()))
            }
            Node::Scan { relation, columns, system, filter, computed, alias, item, current_of } => {
                let (mut plan, layout) =
                    self.scan(relation, columns, system, filter, computed, alias, *item)?;
                if let (Plan::Scan(scan), Some(cursor)) = (&mut plan, current_of) {
                    scan.access = Access::Current(cursor.clone());
                }
                (plan, layout)
            }
            Node::FunctionScan {
                function,
                arguments,
                columns,
                composite,
                ordinality,
                alias,
                shown,
            } => self.function_scan(
                *function,
                arguments,
                columns,
                (*composite, *ordinality),
                (alias, shown),
            )?,
            Node::Values { rows, types } => {
                let slot = self.slot(types.len());
                let rows = rows
                    .iter()
                    .map(|row| Ok(self.all(row)?.into_vec()))
                    .collect::<Result<Vec<_>>>()?;
                (Plan::Values(slot, rows), Self::layout(slot, types.len()))
            }
            Node::Constants { rows, types } => {
                let slot = self.slot(types.len());
                (Plan::Constants(slot, Arc::clone(rows)), Self::layout(slot, types.len()))
            }
            Node::Derived { query, .. } => self.derived(query)?,
            Node::CteScan { level, cte, columns, alias } => {
                self.cte_scan(*level, *cte, columns, alias)?
            }
            Node::Join { kind, left, right, on, lateral } => {
                self.join(*kind, left, right, on, *lateral)?
            }
            Node::Filter { input, conjuncts } => {
                let (input, layout) = self.node(input)?;
                self.filtered(input, layout, conjuncts)?
            }
            Node::Barrier { input, alias } => {
                let (input, layout) = self.node(input)?;
                (Plan::Barrier(Box::new(input), alias.clone()), layout)
            }
            Node::Project { input, columns } => self.project(input, columns)?,
            Node::ProjectSet { input, columns } => self.project_set(input, columns)?,
            Node::Aggregate { input, keys, sets, calls } => {
                self.aggregate(input, keys, sets, calls)?
            }
            Node::Window { input, calls, partition_by, order_by, frame } => {
                self.window(input, calls, partition_by, order_by, frame)?
            }
            Node::Distinct { input, on, columns } => {
                let types = on.is_none().then(|| input.types());
                let (input, layout) = self.node(input)?;
                let keys = match on {
                    Some(exprs) => self.over(&layout, |planner| {
                        exprs
                            .iter()
                            .map(|expr| Ok((planner.scalar(expr)?, expr.ty().oid)))
                            .collect::<Result<Vec<_>>>()
                    })?,
                    None => {
                        self.asked(&layout[..*columns as usize]);
                        layout[..*columns as usize]
                            .iter()
                            .zip(types.unwrap_or_default())
                            .map(|(var, ty)| (Scalar::Var(*var), ty))
                            .collect()
                    }
                };
                let (ordered, saved) = (on.is_some(), Vec::new());
                (Plan::Distinct(Box::new(Distinct { input, keys, ordered, saved })), layout)
            }
            Node::Sort { input, keys } => {
                let (input, layout) = self.node(input)?;
                let keys = self.over(&layout, |planner| planner.sort_keys(keys))?;
                let mut saved = layout.clone();
                saved.sort_unstable();
                saved.dedup();
                let sort = Sort { input, keys, presorted: 0, saved, top: None };
                (Plan::Sort(Box::new(sort)), layout)
            }
            Node::Limit { input, limit, offset, with_ties } => {
                let (mut input, layout) = self.node(input)?;
                let (limit, offset) = self.over(&Layout::new(), |planner| {
                    Ok((
                        limit.as_ref().map(|one| planner.scalar(one)).transpose()?,
                        offset.as_ref().map(|one| planner.scalar(one)).transpose()?,
                    ))
                })?;
                let ties = match with_ties {
                    Some(keys) => Some(self.over(&layout, |planner| planner.sort_keys(keys))?),
                    None => None,
                };
                if let (Plan::Sort(sort), Some(_), None) = (&mut input, &limit, &ties)
                    && self.allows(Rule::BoundSorts)
                {
                    sort.top = Some((limit.clone(), offset.clone()));
                }
                (Plan::Limit(Box::new(Limit { input, limit, offset, ties })), layout)
            }
            Node::SetOperation { kind, all, left, right } => {
                let types = left.types();
                let (left, left_layout) = self.node(left)?;
                let (right, right_layout) = self.node(right)?;
                self.asked(&left_layout);
                self.asked(&right_layout);
                let slot = self.slot(types.len());
                let layout = Self::layout(slot, types.len());
                let set = SetOperation {
                    kind: *kind,
                    all: *all,
                    left: (left, left_layout),
                    right: (right, right_layout),
                    slot,
                    types,
                };
                (Plan::SetOperation(Box::new(set)), layout)
            }
            Node::LockRows { input, locks } => {
                let (mut input, layout) = self.node(input)?;
                let mut targets = Vec::new();
                for (item, lock, policy) in locks {
                    if let Some(scan) = self.target(&mut input, *item, (*lock, *policy)) {
                        targets.push(LockTarget { scan, lock: *lock, policy: *policy });
                    }
                }
                let again = again(&input);
                (Plan::LockRows(Box::new(LockRows { input, targets, again })), layout)
            }
        })
    }

    /// Translates within `layout` as the innermost level's row.
    pub(super) fn over<T>(
        &mut self,
        layout: &Layout,
        translate: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = match self.levels.last_mut() {
            Some(level) => std::mem::replace(level, layout.clone()),
            None => {
                self.levels.push(layout.clone());
                let result = translate(self);
                self.levels.pop();
                return result;
            }
        };
        let result = translate(self);
        *self.levels.last_mut().expect("it was there before") = outer;
        result
    }

    fn join(
        &mut self,
        kind: JoinKind,
        left: &Node,
        right: &Node,
        on: &[Expr],
        lateral: bool,
    ) -> Result<(Plan, Layout)> {
        let (left, left_layout) = self.node(left)?;
        let (right, right_layout) = if lateral {
            // The left row is one level out of whatever stands on the right.
            self.over(&left_layout.clone(), |planner| {
                planner.levels.push(Layout::new());
                let built = planner.node(right);
                planner.levels.pop();
                built
            })?
        } else {
            self.node(right)?
        };
        let mut layout = left_layout;
        layout.extend_from_slice(&right_layout);
        let (behind, on) = match (kind, on) {
            (_, []) => (Vec::new(), Vec::new()),
            (JoinKind::Inner, on) => self.parted(on),
            (_, on) => (Vec::new(), on.to_vec()),
        };
        let on = match &on[..] {
            [] => Vec::new(),
            on => self.over(&layout, |planner| planner.conjuncts(on))?,
        };
        if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
            layout.truncate(layout.len() - right_layout.len());
        }
        let join = Join {
            kind,
            left_slots: Vec::new(),
            right_slots: Vec::new(),
            left,
            right,
            on,
            method: JoinMethod::NestedLoop,
            dependent: lateral,
            rows: 0.0,
            cost: 0.0,
        };
        let plan = Plan::Join(Box::new(join));
        if behind.is_empty() { Ok((plan, layout)) } else { self.filtered(plan, layout, &behind) }
    }

    /// Plain columns stay where they are; only what has to be computed gets a slot.
    fn project(&mut self, input: &Node, columns: &[Expr]) -> Result<(Plan, Layout)> {
        let (input, layout) = self.node(input)?;
        let slot = self.slot(0);
        let mut computed = Vec::new();
        let mut output = Layout::new();
        for column in columns {
            let around = std::mem::take(&mut self.presets);
            let scalar = self.over(&layout, |planner| planner.scalar(column));
            let own = std::mem::replace(&mut self.presets, around);
            match scalar? {
                // A column of a row outside is not made here: an outer join must be able to make it NULL here.
                Scalar::Var(var) if layout.contains(&var) => {
                    self.presets.merge(own);
                    output.push(var);
                }
                other => {
                    computed.push(other);
                    let home = Var { slot, column: computed.len() as u32 - 1 };
                    // What a query in FROM computes and nobody reads is not planned in PostgreSQL.
                    if !own.is_empty() {
                        self.unread.insert(home, own);
                    }
                    output.push(home);
                }
            }
        }
        self.widths[slot as usize] = computed.len();
        if computed.is_empty() {
            return Ok((input, output));
        }
        Ok((Plan::Project(Box::new(input), slot, computed), output))
    }

    pub(super) fn sort_keys(&mut self, keys: &[SortKey]) -> Result<Vec<(Scalar, Comparator)>> {
        keys.iter()
            .map(|key| {
                let order = comparator(key.expr.ty().oid, key.descending, key.nulls_first)?;
                Ok((self.scalar(&key.expr)?, order))
            })
            .collect()
    }
}

/// Whether a node stands for an entry of PostgreSQL's range table.
fn names_rows(node: &Node) -> bool {
    matches!(
        node,
        Node::Unit
            | Node::Nothing(_)
            | Node::Scan { .. }
            | Node::FunctionScan { .. }
            | Node::Values { .. }
            | Node::Constants { .. }
            | Node::Derived { .. }
            | Node::CteScan { .. }
            | Node::Join { .. }
    )
}
