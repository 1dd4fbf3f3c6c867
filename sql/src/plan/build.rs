//! From logical to physical: every value gets a home, every node its plainest form. The rules do the rest.
//!
//! Levels: an expression names columns as (steps out, position). `levels` holds, outermost first, the homes of each
//! enclosing row; a query block adds one while its expressions are translated, the right side of a lateral join one for
//! the left row.

use super::figures::{Facts, Figures};
use super::fold::Presets;
use super::functions::{call_types, callee, comparator};
use super::physical::{
    Access, Again, Aggregate, AggregateStep, CteScan, FunctionScan, Join, JoinMethod, Limit,
    LockRows, LockTarget, Plan, Position, ReferentialAction, Scan, ScanColumn, SetCall, SetColumn,
    SetOperation, Sort, SystemScan, TargetRow,
};
use super::scalar::{Comparator, Scalar, Target, Var};
use super::{join_order, order, pushdown, vars};
use crate::bind::{AggregateCall, Expr, Quantifier};
use crate::catalog::{Relation, RelationKind, builtin};
use crate::error::{Result, SqlError};
use crate::plan::logical::ComputedIndex;
use crate::plan::logical::{Cte, CteBody, JoinKind, Node, Query, SortKey};
use crate::sqlstate::SqlState;
use crate::tuple::RowLayout;
use crate::types::{Callable, Oid, SqlType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use txn::Direction;

/// The homes of a row's columns.
pub type Layout = Vec<Var>;

/// A subquery of an expression.
#[derive(Clone, Debug)]
pub struct Subplan {
    /// How its rows are made.
    pub plan: Plan,
    /// What is asked of them.
    pub kind: SubplanKind,
    /// What a run computes first, if the subquery may be asked for.
    pub presets: Vec<Scalar>,
}

/// What is asked of a subquery.
#[derive(Clone, Debug)]
pub enum SubplanKind {
    /// Its one value.
    Scalar(Var),
    /// Whether it has a row.
    Exists,
    /// Its values, as an array of this element type; the flag says that they are such arrays already, and become one of a
    /// dimension more.
    Array(Var, Oid, bool),
    /// The test, for ANY or ALL rows.
    Quantified(Scalar, Quantifier),
    /// Whether one of its rows equals a row of the query around it, its rows in a hash table.
    Hashed(Hashed),
}

/// `IN (SELECT ...)` of a subquery that is run once.
#[derive(Clone, Debug)]
pub struct Hashed {
    /// What is looked for.
    pub left: Vec<Scalar>,
    /// Where the subquery's rows have it, as this.
    pub right: Vec<(Scalar, Oid)>,
    /// The comparison as it is written, for EXPLAIN.
    pub test: Scalar,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub struct CtePlan {
    /// Its name, for EXPLAIN.
    pub name: Arc<str>,
    /// How its rows are made.
    pub body: CtePlanBody,
    /// How many columns its rows have.
    pub width: usize,
}

/// How the rows of a common table expression are made.
#[derive(Clone, Debug)]
pub enum CtePlanBody {
    /// By a query with these columns, or a modification.
    Query(Plan, Layout),
    /// By a base, and a step over what was new (it scans the same number).
    Recursive {
        /// The first term.
        base: (Plan, Layout),
        /// The recursive term.
        step: (Plan, Layout),
        /// UNION ALL.
        all: bool,
        /// The columns' types.
        types: Vec<Oid>,
    },
}

impl CtePlanBody {
    /// The plans it is made of, each with its columns.
    #[must_use]
    pub fn parts(&self) -> Vec<(&Plan, &Layout)> {
        match self {
            CtePlanBody::Query(plan, layout) => vec![(plan, layout)],
            CtePlanBody::Recursive { base, step, .. } => {
                vec![(&base.0, &base.1), (&step.0, &step.1)]
            }
        }
    }
}

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
    unnamed: HashMap<u32, Presets>,
    /// The presets of computed columns that nobody has asked for yet.
    pub(super) unread: HashMap<Var, Presets>,
    pub(super) levels: Vec<Layout>,
    /// The numbers of the common table expressions of each enclosing query, outermost first.
    pub(super) cte_levels: Vec<Vec<u32>>,
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
            unconditional: false,
            unnamed: HashMap::new(),
            unread: HashMap::new(),
            levels: Vec::new(),
            cte_levels: Vec::new(),
        }
    }

    /// A new slot of `width` columns.
    pub fn slot(&mut self, width: usize) -> u32 {
        self.widths.push(width);
        u32::try_from(self.widths.len() - 1).expect("far fewer than 2^32 slots")
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

    /// What nobody has asked for in a common table expression, nobody has in a scan of it.
    fn pass_on(&mut self, cte: u32, scanned: &[Var]) {
        if self.unread.is_empty() {
            return;
        }
        if let Some(Some(CtePlan { body: CtePlanBody::Query(_, own), .. })) =
            self.ctes.get(cte as usize)
        {
            let found: Vec<(Var, Presets)> = own
                .iter()
                .zip(scanned)
                .filter_map(|(own, scanned)| Some((*scanned, self.unread.get(own)?.clone())))
                .collect();
            self.unread.extend(found);
        }
    }

    /// A query that runs in place of the innermost level's row: a subquery in FROM, which looks out past the row that it
    /// helps to make.
    fn query_in_place(&mut self, query: &Query) -> Result<(Plan, Layout)> {
        let (plan, layout, numbers) = self.written(query)?;
        Ok((self.settled(plan, numbers)?, layout))
    }

    /// A query's plan as it is written, its columns, and its common table expressions.
    fn written(&mut self, query: &Query) -> Result<(Plan, Layout, Vec<u32>)> {
        let numbers = self.ctes(&query.ctes)?;
        let built = self.node(&query.root);
        self.cte_levels.pop();
        let (plan, layout) = built?;
        Ok((plan, layout, numbers))
    }

    /// A plan by the rules. They are applied once: what has been chosen does not go through them again.
    fn settled(&mut self, plan: Plan, ctes: Vec<u32>) -> Result<Plan> {
        let plan = pushdown::optimise(self, plan, Vec::new());
        let plan = order::avoid_sorts(plan);
        self.demand_lockable(&plan)?;
        Ok(if ctes.is_empty() { plan } else { Plan::WithCtes(Box::new(plan), ctes) })
    }

    /// Plans common table expressions and enters their level; the caller leaves it.
    pub(super) fn ctes(&mut self, ctes: &[Cte]) -> Result<Vec<u32>> {
        self.cte_levels.push(Vec::new());
        let mut numbers = Vec::new();
        for cte in ctes {
            let number = u32::try_from(self.ctes.len()).expect("far fewer than 2^32");
            self.ctes.push(None);
            // A recursive term names its own number, so it is entered first.
            self.cte_levels.last_mut().expect("entered above").push(number);
            let around = std::mem::take(&mut self.presets);
            let (body, width) = match &cte.body {
                CteBody::Query(query) => {
                    let (plan, mut layout) = self.query_in_place(query)?;
                    layout.truncate(query.output.len());
                    let width = layout.len();
                    (CtePlanBody::Query(plan, layout), width)
                }
                CteBody::Recursive { base, step, all } => {
                    let types: Vec<Oid> = base.output.iter().map(|out| out.ty.oid).collect();
                    let width = types.len();
                    let (base_plan, mut base_layout) = self.query_in_place(base)?;
                    base_layout.truncate(width);
                    let (step_plan, mut step_layout) = self.query_in_place(step)?;
                    step_layout.truncate(width);
                    self.asked(&base_layout);
                    self.asked(&step_layout);
                    let body = CtePlanBody::Recursive {
                        base: (base_plan, base_layout),
                        step: (step_plan, step_layout),
                        all: *all,
                        types,
                    };
                    (body, width)
                }
                CteBody::Modify(modify) => {
                    let (plan, layout) = self.modify(modify)?;
                    let width = layout.len();
                    (CtePlanBody::Query(plan, layout), width)
                }
            };
            self.ctes[number as usize] = Some(CtePlan { name: Arc::clone(&cte.name), body, width });
            numbers.push(number);
            let own = std::mem::replace(&mut self.presets, around);
            // A query that nobody names is not planned in PostgreSQL.
            match &cte.body {
                CteBody::Modify(_) => self.presets.merge(own),
                _ => drop(self.unnamed.insert(number, own)),
            }
        }
        Ok(numbers)
    }

    /// A node. The innermost level is made its input's row while its expressions are translated.
    ///
    /// # Errors
    /// 0A000, 42883.
    pub(super) fn node(&mut self, node: &Node) -> Result<(Plan, Layout)> {
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
                    scan.access = Access::Current(Arc::clone(cursor));
                }
                (plan, layout)
            }
            Node::FunctionScan { function, arguments, columns, composite, ordinality, alias } => {
                let width = columns.len() + usize::from(*ordinality);
                let slot = self.slot(width);
                let call = self.set_call(*function, arguments, columns, *composite)?;
                let scan = FunctionScan {
                    slot,
                    call,
                    width: columns.len(),
                    records: *composite && function.0 == UNNEST,
                    ordinality: *ordinality,
                    alias: Arc::clone(alias),
                };
                (Plan::Function(Box::new(scan)), Self::layout(slot, width))
            }
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
            Node::Derived { query, .. } => {
                let outer = self.levels.last_mut().map(std::mem::take);
                let built = self.written(query);
                if let (Some(level), Some(outer)) = (self.levels.last_mut(), outer) {
                    *level = outer;
                }
                let (plan, mut layout, ctes) = built?;
                layout.truncate(query.output.len());
                // Without WITH queries of its own it is one plan with the query around it, which applies the rules.
                let plan = if ctes.is_empty() { plan } else { self.settled(plan, ctes)? };
                (plan, layout)
            }
            Node::CteScan { level, cte, columns, alias } => {
                let at = self.cte_levels.len() - 1 - usize::from(*level);
                let number = self.cte_levels[at][*cte as usize];
                if let Some(presets) = self.unnamed.remove(&number) {
                    self.presets.merge(presets);
                }
                let slot = self.slot(columns.len());
                let scan =
                    CteScan { slot, number, alias: Arc::clone(alias), columns: columns.clone() };
                let layout = Self::layout(slot, columns.len());
                self.pass_on(number, &layout);
                (Plan::Cte(Box::new(scan)), layout)
            }
            Node::Join { kind, left, right, on, lateral } => {
                self.join(*kind, left, right, on, *lateral)?
            }
            Node::Filter { input, conjuncts } => {
                let (input, layout) = self.node(input)?;
                self.filtered(input, layout, conjuncts)?
            }
            Node::Project { input, columns } => self.project(input, columns)?,
            Node::ProjectSet { input, columns } => {
                let (input, layout) = self.node(input)?;
                let slot = self.slot(columns.len());
                let columns = self.over(&layout, |planner| {
                    columns.iter().map(|column| planner.set_column(column)).collect::<Result<_>>()
                })?;
                let layout = Self::layout(slot, self.widths[slot as usize]);
                (Plan::ProjectSet(Box::new(input), slot, columns), layout)
            }
            Node::Aggregate { input, keys, sets, calls } => {
                self.aggregate(input, keys, sets, calls)?
            }
            Node::Window { input, calls, partition_by, order_by, frame } => {
                self.window(input, calls, partition_by, order_by, frame)?
            }
            Node::Distinct { input, on, columns } => {
                let types = on.is_none().then(|| self.types(input));
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
                (Plan::Distinct(Box::new(input), keys), layout)
            }
            Node::Sort { input, keys } => {
                let (input, layout) = self.node(input)?;
                let keys = self.over(&layout, |planner| planner.sort_keys(keys))?;
                let mut saved = layout.clone();
                saved.sort_unstable();
                saved.dedup();
                let sort = Sort { input, keys, saved, top: None };
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
                if let (Plan::Sort(sort), Some(_), None) = (&mut input, &limit, &ties) {
                    sort.top = Some((limit.clone(), offset.clone()));
                }
                (Plan::Limit(Box::new(Limit { input, limit, offset, ties })), layout)
            }
            Node::SetOperation { kind, all, left, right } => {
                let types = self.types(left);
                let (left, left_layout) = self.node(left)?;
                let (right, right_layout) = self.node(right)?;
                self.asked(&left_layout);
                self.asked(&right_layout);
                let slot = self.slot(types.len());
                let layout = Self::layout(slot, types.len());
                let set = SetOperation {
                    kind: *kind,
                    all: *all,
                    left: (pushdown::optimise(self, left, Vec::new()), left_layout),
                    right: (pushdown::optimise(self, right, Vec::new()), right_layout),
                    slot,
                    types,
                };
                (Plan::SetOperation(Box::new(set)), layout)
            }
            Node::LockRows { input, locks } => {
                let (mut input, layout) = self.node(input)?;
                let mut targets = Vec::new();
                for (item, lock, policy) in locks {
                    if let Some(scan) = self.target(&mut input, *item) {
                        targets.push(LockTarget { scan, lock: *lock, policy: *policy });
                    }
                }
                let mut again = Vec::new();
                collect(&input, &mut again);
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

    #[expect(clippy::too_many_arguments, reason = "the parts of one node")]
    fn scan(
        &mut self,
        relation: &Arc<Relation>,
        columns: &[usize],
        system: &[i16],
        filter: &[Expr],
        computed: &[ComputedIndex],
        alias: &Arc<str>,
        item: u32,
    ) -> Result<(Plan, Layout)> {
        let mut outputs: Vec<ScanColumn> =
            columns.iter().map(|column| ScanColumn::Column(*column)).collect();
        outputs.extend(system.iter().map(|attnum| ScanColumn::System(*attnum)));
        let width = outputs.len();
        let slot = self.slot(width);
        let layout = Self::layout(slot, width);
        let filter = self.over(&layout, |planner| planner.conjuncts(filter))?;
        let computed = self.computed_keys(computed, &layout)?;
        self.figures.enter(slot, relation, &outputs);
        let plan = match &relation.kind {
            RelationKind::Table { tree, long_values, .. } => Plan::Scan(Box::new(Scan {
                relation: Arc::clone(relation),
                layout: Arc::new(RowLayout::of(relation)),
                tree: *tree,
                long_values: *long_values,
                slot,
                wanted: vec![true; width],
                outputs,
                access: Access::Full(Direction::Forward),
                filter,
                recheck: Vec::new(),
                computed,
                alias: Arc::clone(alias),
                item,
                rows: 0.0,
                cost: 0.0,
            })),
            _ => Plan::System(Box::new(SystemScan {
                relation: Arc::clone(relation),
                slot,
                outputs,
                filter,
                keys: Vec::new(),
                alias: Arc::clone(alias),
            })),
        };
        Ok((plan, layout))
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
        let on = match on {
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
        Ok((Plan::Join(Box::new(join)), layout))
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

    fn aggregate(
        &mut self,
        input: &Node,
        keys: &[Expr],
        sets: &[Vec<u32>],
        calls: &[AggregateCall],
    ) -> Result<(Plan, Layout)> {
        let (input, layout) = self.node(input)?;
        let (keys, calls) = self.over(&layout, |planner| {
            let keys = keys
                .iter()
                .map(|key| Ok((planner.scalar(key)?, key.ty().oid)))
                .collect::<Result<Vec<_>>>()?;
            let calls = calls
                .iter()
                .map(|call| planner.aggregate_step(call))
                .collect::<Result<Vec<_>>>()?;
            Ok((keys, calls))
        })?;
        let width = keys.len() + calls.len() + usize::from(sets.len() > 1);
        let slot = self.slot(width);
        let aggregate = Aggregate { input, slot, keys, sets: sets.to_vec(), calls };
        Ok((Plan::Aggregate(Box::new(aggregate)), Self::layout(slot, width)))
    }

    pub(super) fn aggregate_step(&mut self, call: &AggregateCall) -> Result<AggregateStep> {
        let procedure = builtin::function(call.function.0).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("function {} does not exist", call.function),
            )
        })?;
        let arguments = call.arguments.iter().map(Expr::ty).collect();
        let types = call_types(procedure, arguments, call.ty);
        let transition = builtin::aggregate(call.function.0)
            .and_then(|aggregate| builtin::function(aggregate.transition));
        let step = AggregateStep {
            function: call.function.0,
            types: Arc::new(types),
            strict: transition.is_none_or(|procedure| procedure.strict),
            arguments: self.all(&call.arguments)?.into_vec(),
            distinct: call.distinct,
            order_by: self.sort_keys(&call.order_by)?,
            filter: call.filter.as_ref().map(|filter| self.scalar(filter)).transpose()?,
        };
        if step.accumulator().is_none() {
            return Err(SqlError::unsupported(format!("the aggregate {} is", procedure.name)));
        }
        Ok(step)
    }

    pub(super) fn sort_keys(&mut self, keys: &[SortKey]) -> Result<Vec<(Scalar, Comparator)>> {
        keys.iter()
            .map(|key| {
                let order = comparator(key.expr.ty().oid, key.descending, key.nulls_first)?;
                Ok((self.scalar(&key.expr)?, order))
            })
            .collect()
    }

    fn set_column(&mut self, column: &Expr) -> Result<SetColumn> {
        if let Expr::Call { function, arguments, ty, .. } = column
            && let Some(procedure) = builtin::function(function.0)
            && procedure.returns_set
        {
            let outputs: Vec<u32> = procedure.output_columns().map(|(_, ty)| ty).collect();
            let fields =
                if outputs.len() > 1 { record_fields(&outputs, arguments) } else { Box::default() };
            let column = [(Arc::from(""), *ty)];
            return Ok(SetColumn::Set(
                self.set_call(*function, arguments, &column, false)?,
                fields,
            ));
        }
        Ok(SetColumn::One(self.scalar(column)?))
    }

    fn set_call(
        &mut self,
        function: Oid,
        arguments: &[Expr],
        columns: &[(Arc<str>, SqlType)],
        composite: bool,
    ) -> Result<SetCall> {
        /// `generate_series` over int4 and int8, with and without a step.
        const SERIES: [(u32, bool); 4] = [(1066, true), (1067, true), (1068, false), (1069, false)];
        let procedure = builtin::function(function.0);
        let scalars = self.all(arguments)?;
        if let Some((_, int4)) = SERIES.iter().find(|(oid, _)| *oid == function.0) {
            return Ok(SetCall::Series(scalars, *int4));
        }
        let result = match columns {
            [(_, only)] if !composite => *only,
            _ => SqlType::plain(2249),
        };
        let types: Vec<SqlType> = arguments.iter().map(Expr::ty).collect();
        let procedure = procedure.ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("function {function} does not exist"),
            )
        })?;
        if let Some(Callable::Set(code)) = crate::types::function(function.0) {
            let mut types = call_types(procedure, types, result);
            types.columns = columns.to_vec();
            let types = Arc::new(types);
            return Ok(SetCall::Set(function.0, code, procedure.strict, types, scalars));
        }
        if procedure.returns_set {
            return Err(SqlError::unsupported(format!("the function {} is", procedure.name)));
        }
        let mut callee = callee(function, types, result)?;
        if let Target::Typed(_, types) = &mut callee.target {
            Arc::make_mut(types).columns = columns.to_vec();
        }
        Ok(SetCall::Scalar(Scalar::Call { callee, arguments: scalars, position: 0 }, composite))
    }

    /// Makes the scan of FROM item `item` keep its row's key, and says where its row stands.
    pub(super) fn target(&mut self, plan: &mut Plan, item: u32) -> Option<Arc<TargetRow>> {
        let scan = join_order::find_scan(plan, &mut |scan| scan.item == item)?;
        let key = self.key_home(scan);
        Some(Arc::new(TargetRow {
            relation: Arc::clone(&scan.relation),
            layout: Arc::clone(&scan.layout),
            tree: scan.tree,
            long_values: scan.long_values,
            slot: scan.slot,
            outputs: scan.outputs.clone(),
            key,
        }))
    }

    /// Where a scan puts the keys of its rows.
    fn key_home(&mut self, scan: &mut Scan) -> Var {
        let known = scan.outputs.iter().position(|output| *output == ScanColumn::Key);
        let at = known.unwrap_or(scan.outputs.len());
        if known.is_none() {
            scan.outputs.push(ScanColumn::Key);
            scan.wanted.push(true);
            self.widths[scan.slot as usize] = scan.outputs.len();
        }
        Var { slot: scan.slot, column: at as u32 }
    }

    /// Has the scan that a cursor's rows come from, one each, tell their keys, if there is such a scan: what WHERE CURRENT OF
    /// finds them by where they are not locked (`search_plan_tree`).
    pub fn keep_position(&mut self, plan: &mut Plan) -> Option<Position> {
        match plan {
            Plan::Scan(scan) => {
                let key = self.key_home(scan);
                Some(Position { table: scan.relation.oid, key, locked: false })
            }
            Plan::Filter(input, _)
            | Plan::Gate(input, _)
            | Plan::Project(input, ..)
            | Plan::WithCtes(input, _) => self.keep_position(input),
            Plan::Limit(limit) => self.keep_position(&mut limit.input),
            _ => None,
        }
    }

    /// The types of a node's output.
    pub(super) fn types(&self, node: &Node) -> Vec<Oid> {
        let of = |exprs: &[Expr]| exprs.iter().map(|expr| expr.ty().oid).collect::<Vec<_>>();
        match node {
            Node::Unit => Vec::new(),
            Node::Nothing(types) | Node::Values { types, .. } | Node::Constants { types, .. } => {
                types.iter().map(|ty| ty.oid).collect()
            }
            Node::CteScan { columns, .. } => columns.iter().map(|(_, ty)| ty.oid).collect(),
            Node::Scan { relation, columns, system, .. } => columns
                .iter()
                .map(|column| relation.columns[*column].ty.oid)
                .chain(system.iter().map(|attnum| system_column_type(*attnum)))
                .collect(),
            Node::FunctionScan { columns, ordinality, .. } => {
                columns.iter().map(|(_, ty)| ty.oid).chain(ordinality.then_some(Oid(20))).collect()
            }
            Node::Derived { query, .. } => query.output.iter().map(|out| out.ty.oid).collect(),
            Node::Join { kind, left, right, .. } => {
                let mut types = self.types(left);
                if !matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                    types.extend(self.types(right));
                }
                types
            }
            Node::Project { columns, .. } | Node::ProjectSet { columns, .. } => of(columns),
            Node::Aggregate { keys, calls, sets, .. } => {
                let mut types = of(keys);
                types.extend(calls.iter().map(|call| call.ty.oid));
                types.extend((sets.len() > 1).then_some(Oid(23)));
                types
            }
            Node::Window { input, calls, .. } => {
                let mut types = self.types(input);
                types.extend(calls.iter().map(|call| call.ty.oid));
                types
            }
            Node::Filter { input, .. }
            | Node::Distinct { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. }
            | Node::LockRows { input, .. } => self.types(input),
            Node::SetOperation { left, .. } => self.types(left),
        }
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

/// `unnest(anyarray)`: of an array of records it gives each as one value.
const UNNEST: u32 = 2331;

/// The type of a system column.
fn system_column_type(attnum: i16) -> Oid {
    Oid(match attnum {
        -1 => 27,
        -2 | -4 => 28,
        -3 | -5 => 29,
        _ => 26,
    })
}

/// All conditions of a block's inner joins, filters and scans: what a changed row must still meet.
pub(super) fn conditions(plan: &Plan) -> Vec<Scalar> {
    let mut all = Vec::new();
    collect(plan, &mut all);
    let conditions = all.into_iter().filter_map(|step| match step {
        Again::Meet(conditions) => Some(conditions),
        Again::Compute(..) => None,
    });
    conditions.flatten().collect()
}

/// What is done with a block's rows below its locks, from the scans upwards.
fn collect(plan: &Plan, all: &mut Vec<Again>) {
    let meet = |conjuncts: &[Scalar], all: &mut Vec<Again>| {
        if !conjuncts.is_empty() {
            all.push(Again::Meet(conjuncts.to_vec()));
        }
    };
    match plan {
        Plan::Filter(input, conjuncts) => {
            collect(input, all);
            meet(conjuncts, all);
        }
        Plan::Scan(scan) => meet(&scan.filter, all),
        Plan::Join(join) if join.kind == JoinKind::Inner => {
            collect(&join.left, all);
            collect(&join.right, all);
            meet(&join.on, all);
        }
        // The row that a semi join has met stands in its homes.
        Plan::Join(join) if join.kind == JoinKind::Semi => {
            collect(&join.left, all);
            meet(&join.on, all);
        }
        Plan::Join(join) if matches!(join.kind, JoinKind::Left | JoinKind::Anti) => {
            collect(&join.left, all);
        }
        Plan::Project(input, slot, columns) => {
            collect(input, all);
            all.push(Again::Compute(*slot, columns.clone()));
        }
        Plan::Sort(sort) => collect(&sort.input, all),
        _ => {}
    }
}

/// The types of a function's OUT arguments; a polymorphic one is that of the elements of its array argument.
fn record_fields(outputs: &[u32], arguments: &[Expr]) -> Box<[SqlType]> {
    const ANYELEMENT: u32 = 2283;
    let element = arguments.iter().find_map(|value| builtin::element_type(value.ty().oid.0));
    let resolved = |ty: u32| if ty == ANYELEMENT { element.unwrap_or(ty) } else { ty };
    outputs.iter().map(|ty| SqlType::plain(resolved(*ty))).collect()
}
