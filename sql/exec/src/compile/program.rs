//! A program: a finished plan with everything that runs need to know beforehand. It never changes, so any number of
//! sessions run it at once, each with a [`crate::exec::Machine`] of its own.
//!
//! Finishing a plan means to find out which homes are read at all: scans then leave the other columns in the record, and
//! operators that keep rows keep only what somebody will read.

use super::code::Code;
use super::code::preset::PresetCodes;
use crate::bind::logical::{self, JoinKind, Output};
use crate::bind::{BoundStatement, lock_words};
use crate::catalog::builtin;
use crate::error::Result;
use crate::parse::depth::with_stack_for;
use crate::plan::build::{Layout, Planner};
use crate::plan::condition_order::Costs;
use crate::plan::cte::{CtePlan, CtePlanBody};
use crate::plan::estimate::{self, Estimate};
use crate::plan::figures::Facts;
use crate::plan::fold::Presets;
use crate::plan::physical::{Again, JoinMethod, ModifyKind, Plan, Position, ReferentialAction};
use crate::plan::scalar::Var;
use crate::plan::subplan::{Hashed, Subplan, SubplanKind};
use crate::plan::vars;
use crate::types::{Oid, SqlType, oids};
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

/// A column of a result, as RowDescription tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDescription {
    /// Its name.
    pub name: Arc<str>,
    /// The table it comes from, 0 if none.
    pub table: u32,
    /// Its `attnum` there, 0 if none.
    pub attribute: i16,
    /// Its type.
    pub ty: SqlType,
    /// `pg_type.typlen`.
    pub type_length: i16,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// How rows are made.
    pub plan: Plan,
    /// The homes of the result's columns.
    pub output: Layout,
    /// The width of each slot.
    pub widths: Vec<usize>,
    /// Subqueries of expressions.
    pub subplans: Vec<Subplan>,
    /// Whether each of them reads what is outside it: then it is run anew for each row.
    pub correlated: Vec<bool>,
    /// Common table expressions.
    pub ctes: Vec<CtePlan>,
    /// What each run computes first, if anything.
    pub presets: Option<Box<Presets>>,
    /// What computes parts of these.
    pub preset_codes: PresetCodes,
    /// Where the keys are of rows that WHERE CURRENT OF may change: those that are locked, and that of a cursor's own scan.
    pub positions: Vec<Position>,
    /// What foreign keys may do to other rows because of it.
    pub actions: Vec<ReferentialAction>,
    /// What the planner expects of each node, in the order of [`Program::nodes`].
    pub estimates: Vec<Estimate>,
    /// The types of its parameters.
    pub parameters: Vec<Oid>,
    /// How many entries its range table has: with more than one, EXPLAIN says whose a column is.
    pub range_table: usize,
    /// What the result's columns are called; none where the statement returns no rows.
    pub columns: Option<Vec<ColumnDescription>>,
    /// The first words of the command tag.
    pub tag: &'static str,
    /// Routines that users made are called: the session has to be at hand.
    pub calls_routines: bool,
    /// Running it changes rows, or locks them, and others can see these.
    pub writes: bool,
    /// Running it changes rows: it comes to its end before anything of its answer goes out.
    pub changes: bool,
    /// The programs of its expressions, in the order in which the operators of a machine are built of them; the first machine
    /// makes them.
    pub codes: OnceLock<Box<[Arc<Code>]>>,
    /// How many nodes and scalars lie one in another: no walk over it goes deeper, be it that of a run, of building or of
    /// dropping a machine.
    pub height: u32,
}

/// Plans a bound statement and makes a program of it. What it has to know of the catalog it asks `facts`.
///
/// # Errors
/// 0A000 for what cannot be run yet; 42883, 42809.
pub fn compile(statement: &BoundStatement, facts: &dyn Facts) -> Result<Program> {
    compile_for(statement, facts, false)
}

/// As [`compile`], for DECLARE where `cursor` says so: WHERE CURRENT OF can then find the row of a plain scan.
///
/// # Errors
/// As [`compile`].
pub fn compile_for(statement: &BoundStatement, facts: &dyn Facts, cursor: bool) -> Result<Program> {
    let mut position = None;
    let mut planner = Planner::new(facts);
    let describe = |output: &Output| {
        // Clients are told of what a domain stands on.
        let mut ty = facts.base_type(output.ty);
        // The modifier of a record tells the binder its fields, and is nobody else's.
        if ty.oid.0 == oids::RECORD {
            ty.typmod = -1;
        }
        ColumnDescription {
            name: Arc::clone(&output.name),
            table: output.origin.map_or(0, |(table, _)| table.0),
            attribute: output.origin.map_or(0, |(_, attribute)| attribute),
            ty,
            type_length: builtin::type_by_oid(ty.oid.0)
                .map_or(if builtin::is_enum(ty.oid.0) { 4 } else { -1 }, |ty| ty.length),
        }
    };
    let (plan, layout, columns, tag) = match statement {
        BoundStatement::Query(query) => {
            planner.unconditional = logical::is_one_row(&query.root);
            let (mut plan, mut layout) = planner.query(query)?;
            layout.truncate(query.output.len());
            position = if cursor { planner.keep_position(&mut plan) } else { None };
            planner.asked(&layout);
            (plan, layout, Some(query.output.iter().map(describe).collect()), "SELECT")
        }
        BoundStatement::Modify(modify) => {
            let (plan, layout) = planner.modify(modify)?;
            let columns = modify
                .returning
                .as_ref()
                .map(|columns| columns.iter().map(|(_, output)| describe(output)).collect());
            let tag = match modify.kind {
                logical::ModifyKind::Insert { .. } => "INSERT 0",
                logical::ModifyKind::Update { .. } => "UPDATE",
                logical::ModifyKind::Delete { .. } => "DELETE",
                logical::ModifyKind::Merge { .. } => "MERGE",
            };
            (plan, layout, columns, tag)
        }
    };
    let mut program = Program::standing(planner, plan, layout, position);
    program.columns = columns;
    program.tag = tag;
    Ok(program)
}

impl Drop for Program {
    fn drop(&mut self) {
        let plans = (
            std::mem::replace(&mut self.plan, Plan::Nothing),
            std::mem::take(&mut self.subplans),
            std::mem::take(&mut self.ctes),
        );
        with_stack_for(self.height, || drop(plans));
    }
}

impl Program {
    /// Finishes what a planner has made.
    #[must_use]
    pub fn new(planner: Planner<'_>, plan: Plan, output: Layout) -> Program {
        Program::standing(planner, plan, output, None)
    }

    /// The same of a cursor, with the home of its rows' keys.
    fn standing(
        planner: Planner<'_>,
        plan: Plan,
        output: Layout,
        position: Option<Position>,
    ) -> Program {
        planner.verify(&plan, &output);
        let mut positions = Vec::from_iter(position);
        vars::walk(&plan, &mut |node| {
            if let Plan::LockRows(lock) = node {
                positions.extend(lock.targets.iter().map(|target| Position {
                    table: target.scan.relation.oid,
                    key: target.scan.key,
                    locked: true,
                }));
            }
        });
        let mut program = Program {
            plan,
            output,
            widths: planner.widths,
            subplans: planner.subplans,
            correlated: Vec::new(),
            ctes: planner.ctes.into_iter().flatten().collect(),
            positions,
            actions: planner.actions,
            calls_routines: planner.calls_routines,
            presets: (!planner.presets.is_empty()).then(|| Box::new(planner.presets)),
            preset_codes: PresetCodes::default(),
            estimates: Vec::new(),
            parameters: Vec::new(),
            range_table: planner.range_table,
            columns: None,
            tag: "",
            writes: false,
            changes: false,
            codes: OnceLock::new(),
            height: 0,
        };
        let mut read: BTreeSet<Var> = program.output.iter().copied().collect();
        read.extend(program.positions.iter().map(|position| position.key));
        vars::read(&program.plan, &mut read);
        for subplan in &program.subplans {
            vars::read(&subplan.plan, &mut read);
            subplan_homes(&subplan.kind, &mut read);
        }
        for cte in &program.ctes {
            for (plan, layout) in cte.body.parts() {
                vars::read(plan, &mut read);
                read.extend(layout);
            }
        }
        program.changes = program.has(|node| matches!(node, Plan::Modify(_)));
        program.writes = program.has(|node| match node {
            Plan::Modify(modify) => modify.writes() && modify.table.relation.persistence != 't',
            Plan::LockRows(lock) => {
                lock.targets.iter().any(|target| target.scan.relation.persistence != 't')
            }
            _ => false,
        });
        program.correlated =
            (0..program.subplans.len()).map(|at| program.is_correlated(at)).collect();
        let widths = program.widths.clone();
        let costs = Costs::of(&planner.figures, &program.subplans, &program.correlated);
        let finishing = Finishing { read: &read, widths: &widths, costs: &costs };
        finishing.plan(&mut program.plan);
        for subplan in &mut program.subplans {
            finishing.plan(&mut subplan.plan);
        }
        for cte in &mut program.ctes {
            match &mut cte.body {
                CtePlanBody::Query(plan, _) => finishing.plan(plan),
                CtePlanBody::Recursive { base, step, .. } => {
                    finishing.plan(&mut base.0);
                    finishing.plan(&mut step.0);
                }
            }
        }
        // A node comes behind its inputs, whose estimates it takes from the pile.
        let (mut estimates, mut pile) = (Vec::new(), Vec::new());
        program.nodes(&mut |node| {
            let inputs = pile.split_off(pile.len() - vars::inputs(node).len());
            let estimate = estimate::of_node(&planner.figures, node, &inputs);
            estimates.push(estimate);
            pile.push(estimate);
        });
        program.estimates = estimates;
        program.height = super::height::of(&program);
        program
    }

    /// Visits every node: of the plan, then of the subqueries, then of the common table expressions, inputs first.
    pub fn nodes(&self, visit: &mut dyn FnMut(&Plan)) {
        vars::walk(&self.plan, visit);
        for subplan in &self.subplans {
            vars::walk(&subplan.plan, visit);
        }
        for cte in &self.ctes {
            cte.body.parts().into_iter().for_each(|(plan, _)| vars::walk(plan, visit));
        }
    }

    /// Whether the statement or one of its CTEs has such a node.
    /// The command's name where a transaction that is READ ONLY does not run it.
    #[must_use]
    pub fn command(&self) -> String {
        let strength = Cell::new(None);
        self.has(|node| match node {
            Plan::LockRows(lock) => {
                strength.set(strength.get().or(lock.targets.first().map(|target| target.lock)));
                true
            }
            _ => false,
        });
        match strength.get() {
            Some(strength) if self.tag == "SELECT" => format!("SELECT {}", lock_words(strength)),
            _ => self.tag.trim_end_matches(" 0").to_owned(),
        }
    }

    fn has(&self, wanted: impl Fn(&Plan) -> bool) -> bool {
        let mut found = false;
        let mut look = |plan: &Plan| {
            vars::walk(plan, &mut |node| found |= wanted(node));
        };
        look(&self.plan);
        self.subplans.iter().for_each(|subplan| look(&subplan.plan));
        for cte in &self.ctes {
            cte.body.parts().into_iter().for_each(|(plan, _)| look(plan));
        }
        found
    }

    fn is_correlated(&self, at: usize) -> bool {
        let mut reach = Reach::default();
        reach.subplan(self, at);
        reach.looks_out()
    }

    /// Whether a common table expression gives other rows where something outside it has changed, or within the steps of
    /// these recursive ones.
    #[must_use]
    pub fn cte_changes(&self, number: u32, steps: &[u32]) -> bool {
        let mut reach = Reach::default();
        reach.cte(self, number);
        reach.looks_out() || steps.iter().any(|step| reach.ctes.contains(step))
    }

    /// Whether a plan, with its subqueries, gives other rows where something outside it has changed, or within the steps of
    /// these recursive common table expressions.
    #[must_use]
    pub fn plan_changes(&self, plan: &Plan, steps: &[u32]) -> bool {
        let mut reach = Reach::default();
        reach.plan(self, plan);
        reach.looks_out() || steps.iter().any(|step| reach.ctes.contains(step))
    }

    /// The subqueries whose results are of one round of this recursive common table expression.
    #[must_use]
    pub fn subplans_of_round(&self, number: u32) -> Box<[u32]> {
        let reads = |subplan: &u32| self.subplan_changes(*subplan, &[number]);
        (0..self.subplans.len() as u32).filter(reads).collect()
    }

    /// Whether a subquery gives another result in each step of these recursive common table expressions.
    #[must_use]
    pub fn subplan_changes(&self, number: u32, steps: &[u32]) -> bool {
        if steps.is_empty() {
            return false;
        }
        let mut reach = Reach::default();
        reach.subplan(self, number as usize);
        steps.iter().any(|step| reach.ctes.contains(step))
    }

    /// Of each subquery and each common table expression the recursive ones in whose steps it stands.
    #[must_use]
    pub fn steps_around(&self) -> StepsAround {
        let none = |count: usize| vec![Vec::new(); count];
        let mut around =
            StepsAround { subplans: none(self.subplans.len()), ctes: none(self.ctes.len()) };
        if self.ctes.iter().any(|cte| matches!(cte.body, CtePlanBody::Recursive { .. })) {
            around.enter(self, &self.plan, &[]);
        }
        around
    }
}

/// Of each subquery and each common table expression, by number, the recursive ones in whose steps it stands.
pub struct StepsAround {
    /// Of subqueries.
    pub subplans: Vec<Vec<u32>>,
    /// Of common table expressions.
    pub ctes: Vec<Vec<u32>>,
}

impl StepsAround {
    /// A plan that stands in these steps.
    fn enter(&mut self, program: &Program, plan: &Plan, steps: &[u32]) {
        let (mut subplans, mut ctes): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        vars::walk(plan, &mut |node| {
            if let Plan::WithCtes(_, inner) = node {
                ctes.extend(inner);
            }
            vars::scalars(node, &mut |scalar| subplans.extend(scalar.subqueries()));
        });
        for number in ctes {
            self.ctes[number as usize] = steps.to_vec();
            for (part, (plan, _)) in program.ctes[number as usize].body.parts().iter().enumerate() {
                let mut steps = steps.to_vec();
                steps.extend((part > 0).then_some(number));
                self.enter(program, plan, &steps);
            }
        }
        while let Some(number) = subplans.pop() {
            self.subplans[number as usize] = steps.to_vec();
            let subplan = &program.subplans[number as usize];
            if let SubplanKind::Quantified(test, _) = &subplan.kind {
                subplans.extend(test.subqueries());
            }
            self.enter(program, &subplan.plan, steps);
        }
    }
}

/// What plans, their subqueries and the common table expressions that they scan read and fill.
#[derive(Default)]
struct Reach {
    read: BTreeSet<Var>,
    filled: HashSet<u32>,
    ctes: HashSet<u32>,
}

impl Reach {
    fn looks_out(&self) -> bool {
        self.read.iter().any(|var| !self.filled.contains(&var.slot))
    }

    fn subplan(&mut self, program: &Program, at: usize) {
        let subplan = &program.subplans[at];
        subplan_homes(&subplan.kind, &mut self.read);
        self.plan(program, &subplan.plan);
        if let SubplanKind::Quantified(test, _) = &subplan.kind {
            for number in test.subqueries() {
                self.subplan(program, number as usize);
            }
        }
    }

    fn cte(&mut self, program: &Program, number: u32) {
        if self.ctes.insert(number) {
            for (plan, layout) in program.ctes[number as usize].body.parts() {
                self.plan(program, plan);
                self.read.extend(layout);
            }
        }
    }

    fn plan(&mut self, program: &Program, plan: &Plan) {
        vars::read(plan, &mut self.read);
        self.filled.extend(vars::filled(plan, &program.widths).iter().map(|(slot, _)| *slot));
        let (mut inner, mut ctes) = (Vec::new(), Vec::new());
        vars::walk(plan, &mut |node| {
            if let Plan::Cte(scan) = node {
                ctes.push(scan.number);
            }
            vars::scalars(node, &mut |scalar| {
                inner.extend(scalar.subqueries());
                vars::locals(scalar, &mut self.filled);
            });
        });
        for number in inner {
            self.subplan(program, number as usize);
        }
        for number in ctes {
            self.cte(program, number);
        }
    }
}

fn subplan_homes(kind: &SubplanKind, read: &mut BTreeSet<Var>) {
    match kind {
        SubplanKind::Scalar(var) | SubplanKind::Array(var, ..) => {
            read.insert(*var);
        }
        SubplanKind::Exists => {}
        SubplanKind::Hashed(Hashed { test, .. }) | SubplanKind::Quantified(test, _) => {
            test.reads(&mut |var| {
                read.insert(var);
                false
            });
        }
    }
}

/// Says which outputs of a scan somebody reads.
fn mark_read(slot: u32, wanted: &mut [bool], read: &BTreeSet<Var>) {
    for (at, wanted) in wanted.iter_mut().enumerate() {
        *wanted = read.contains(&Var { slot, column: at as u32 });
    }
}

/// The homes a plan fills that somebody reads.
fn wanted(plan: &Plan, read: &BTreeSet<Var>, widths: &[usize]) -> Vec<Var> {
    let slots: HashSet<u32> = vars::filled(plan, widths).iter().map(|(slot, _)| *slot).collect();
    read.iter().filter(|var| slots.contains(&var.slot)).copied().collect()
}

/// What is done with a plan when all of a program is known.
#[derive(Clone, Copy)]
struct Finishing<'f> {
    /// The homes that anybody reads.
    read: &'f BTreeSet<Var>,
    /// The columns of each slot.
    widths: &'f [usize],
    /// What conditions cost.
    costs: &'f Costs,
}

impl Finishing<'_> {
    fn plan(&self, plan: &mut Plan) {
        let Finishing { read, widths, costs } = *self;
        match plan {
            Plan::Scan(scan) => {
                mark_read(scan.slot, &mut scan.wanted, read);
                costs.order(&mut scan.filter);
                costs.order(&mut scan.recheck);
            }
            Plan::System(scan) => {
                mark_read(scan.slot, &mut scan.wanted, read);
                costs.order(&mut scan.filter);
            }
            Plan::Unit
            | Plan::Nothing
            | Plan::Function(_)
            | Plan::Values(..)
            | Plan::Constants(..)
            | Plan::Cte(..) => {}
            Plan::Materialize(input, saved) => {
                *saved = wanted(input, read, widths);
                self.plan(input);
            }
            Plan::Project(input, slot, columns) => {
                vars::leave_unread(*slot, columns, read);
                self.plan(input);
            }
            Plan::Filter(input, conditions) => {
                costs.order(conditions);
                self.plan(input);
            }
            Plan::OneTimeFilter(input, _)
            | Plan::Barrier(input, _)
            | Plan::ProjectSet(input, ..)
            | Plan::WithCtes(input, _) => self.plan(input),
            Plan::Join(join) => {
                match join.kind {
                    JoinKind::Inner => costs.order(&mut join.on),
                    _ => costs.order_outer(&mut join.on),
                }
                if let JoinMethod::Hash { saved, left_saved, .. } = &mut join.method {
                    *saved = wanted(&join.right, read, widths);
                    *left_saved = wanted(&join.left, read, widths);
                }
                if join.kind.keeps_right() {
                    join.left_slots = vars::filled(&join.left, widths);
                }
                if join.kind.keeps_left() {
                    join.right_slots = vars::filled(&join.right, widths);
                }
                self.plan(&mut join.left);
                self.plan(&mut join.right);
            }
            Plan::Aggregate(aggregate) => self.plan(&mut aggregate.input),
            Plan::Distinct(distinct) => {
                distinct.saved = wanted(&distinct.input, read, widths);
                self.plan(&mut distinct.input);
            }
            Plan::Window(window) => {
                window.saved = wanted(&window.input, read, widths);
                self.plan(&mut window.input);
            }
            Plan::Sort(sort) => {
                sort.saved = wanted(&sort.input, read, widths);
                self.plan(&mut sort.input);
            }
            Plan::Limit(limit) => self.plan(&mut limit.input),
            Plan::SetOperation(set) => {
                self.plan(&mut set.left.0);
                self.plan(&mut set.right.0);
            }
            Plan::LockRows(lock) => {
                for step in &mut lock.again {
                    match step {
                        Again::Meet(conditions) => costs.order(conditions),
                        Again::Compute(slot, columns) => vars::leave_unread(*slot, columns, read),
                    }
                }
                self.plan(&mut lock.input);
            }
            Plan::Modify(modify) => match &mut modify.kind {
                ModifyKind::Insert { source, .. } | ModifyKind::Instead { source, .. } => {
                    self.plan(source);
                }
                ModifyKind::Update { source, recheck, .. }
                | ModifyKind::Delete { source, recheck, .. } => {
                    costs.order(recheck);
                    self.plan(source);
                }
                ModifyKind::Merge { source, recheck, actions, .. } => {
                    costs.order(recheck);
                    for action in actions {
                        costs.order(&mut action.conditions);
                    }
                    self.plan(source);
                }
            },
        }
    }
}
