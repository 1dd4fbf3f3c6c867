//! Operators: what a plan's nodes become in one run.

use super::context::Context;
use super::foreign_key::Timing;
use super::function_scan::FunctionScan;
use super::grouping::{Distinct, Group};
use super::index_union::IndexUnion;
use super::instead::Instead;
use super::join::{HashJoin, NestedLoop};
use super::lock_rows::LockRows;
use super::modify::Modify;
use super::probe::{Changed, Part, Probes};
use super::rows::{
    Constants, CteScan, Filter, Limit, Materialize, Nothing, OneTimeFilter, Project, Unit, Values,
    WithCtes,
};
use super::scan::Scan;
use super::set_operation::SetOperation;
use super::sort::Sort;
use super::system_scan::SystemScan;
use super::unique::Unique;
use super::window::Window;
use crate::bind::logical::JoinKind;
use crate::compile::Program;
use crate::compile::code::Code;
use crate::error::Result;
use crate::exec::function_scan::ProjectSet;
use crate::plan::cte::CtePlanBody;
use crate::plan::physical::{self, Access, Join, JoinMethod, ModifyKind, Plan};
use crate::plan::scalar::Scalar;
use crate::plan::vars;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A node of a running plan.
pub trait Operator: Send {
    /// Begins, or begins anew: the first row comes next.
    ///
    /// # Errors
    /// Those of what it evaluates to begin.
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()>;
    /// Makes the next row; false at the end. Asked again behind the end, it says false again.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool>;
    /// Whether it is known behind a row that it was the last: then there is no need to ask for another.
    fn is_over(&self) -> bool {
        false
    }
    /// About how many bytes it and its inputs hold between two runs, for who keeps it until the next one; nothing where it
    /// does not say, or has a file.
    fn rest_bytes(&self) -> Option<usize> {
        None
    }
    /// What a modification has done so far; other operators do nothing.
    fn changed(&self) -> Changed {
        Changed::default()
    }
}

/// Makes operators of a program's plans.
pub struct Builder<'p> {
    program: &'p Arc<Program>,
    probes: Option<&'p Probes>,
    /// The recursive common table expression whose step is being built: each round it scans other rows.
    steps: RefCell<Vec<u32>>,
    /// How many programs of expressions have been asked for, and those that had to be made.
    asked: Cell<usize>,
    made: RefCell<Vec<Arc<Code>>>,
}

impl<'p> Builder<'p> {
    /// Of this program.
    #[must_use]
    pub fn new(program: &'p Arc<Program>) -> Builder<'p> {
        Builder {
            program,
            probes: None,
            steps: RefCell::default(),
            asked: Cell::new(0),
            made: RefCell::default(),
        }
    }

    /// Of this program, every operator watched.
    #[must_use]
    pub fn watched(program: &'p Arc<Program>, probes: &'p Probes) -> Builder<'p> {
        Builder { probes: Some(probes), ..Builder::new(program) }
    }

    /// Whether its operators are watched: then there is one for each node.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.probes.is_some()
    }

    /// Whether the program calls routines that users made.
    #[must_use]
    pub fn calls_routines(&self) -> bool {
        self.program.calls_routines
    }

    /// The program that computes these expressions.
    pub fn code<'s>(&self, scalars: impl IntoIterator<Item = &'s Scalar>) -> Arc<Code> {
        self.known(|| Code::of(scalars))
    }

    /// The program that finds out whether these conditions are all true.
    pub fn conditions<'s>(&self, scalars: impl IntoIterator<Item = &'s Scalar>) -> Arc<Code> {
        self.known(|| Code::of_conditions(scalars))
    }

    /// The next program of the statement's: all machines ask for the same ones in the same order, but for those that are
    /// watched.
    fn known(&self, make: impl FnOnce() -> Code) -> Arc<Code> {
        let number = self.asked.replace(self.asked.get() + 1);
        if self.probes.is_none()
            && let Some(codes) = self.program.codes.get()
        {
            return Arc::clone(&codes[number]);
        }
        let code = Arc::new(make());
        self.made.borrow_mut().push(Arc::clone(&code));
        code
    }

    /// All operators have been built: other machines use their programs too.
    pub fn finish(&self) {
        if self.probes.is_none() && self.program.codes.get().is_none() {
            // Another machine may have been faster, with the same.
            let _ = self.program.codes.set(self.made.take().into());
        }
    }

    /// The subqueries in these expressions that must be run anew for each row.
    pub fn correlated<'s>(&self, scalars: impl IntoIterator<Item = &'s Scalar>) -> Box<[u32]> {
        scalars
            .into_iter()
            .flat_map(Scalar::subqueries)
            .filter(|number| self.program.correlated[*number as usize])
            .collect()
    }

    /// When a child row asks for its parent: another part of the statement may be about to put it there.
    #[must_use]
    pub fn timing(&self) -> Timing {
        let modifies = |body: &CtePlanBody| {
            let CtePlanBody::Query(plan, _) = body else { return false };
            let mut found = false;
            vars::walk(plan, &mut |node| found |= matches!(node, Plan::Modify(_)));
            found
        };
        let several = self.program.ctes.iter().any(|cte| modifies(&cte.body));
        if several { Timing::AtEnd } else { Timing::AtOnce }
    }

    /// Whether what a plan gives depends on rows outside it.
    fn depends(&self, plan: &Plan) -> bool {
        self.program.plan_changes(plan, &self.steps.borrow())
    }

    /// The operator of a plan within the steps of these recursive common table expressions.
    #[must_use]
    pub fn build_within(&self, plan: &Plan, steps: Vec<u32>) -> Box<dyn Operator> {
        let around = self.steps.replace(steps);
        let operator = self.build(plan);
        self.steps.replace(around);
        operator
    }

    /// The operator of a node, with its inputs.
    #[must_use]
    pub fn build(&self, plan: &Plan) -> Box<dyn Operator> {
        match self.probes {
            None => self.operator(plan),
            Some(probes) => probes.watch(plan, Part::Whole, self.divided(plan, probes)),
        }
    }

    /// The operator of a node, its own conditions in a filter behind it where they can be: then both sides of them are
    /// watched.
    fn divided(&self, plan: &Plan, probes: &Probes) -> Box<dyn Operator> {
        let (inner, conditions): (Box<dyn Operator>, _) = match plan {
            Plan::Scan(scan) if !scan.filter.is_empty() => {
                let mut bare = scan.clone();
                let conditions = std::mem::take(&mut bare.filter);
                (self.scan(&bare), conditions)
            }
            Plan::System(scan) if !scan.filter.is_empty() => {
                let mut bare = scan.clone();
                let conditions = std::mem::take(&mut bare.filter);
                (Box::new(SystemScan::new(&bare, self)), conditions)
            }
            Plan::Join(join) if join.kind == JoinKind::Inner && !join.on.is_empty() => {
                let (left, right) = (self.build(&join.left), self.build(&join.right));
                let sides = (Plan::Unit, Plan::Unit);
                let bare =
                    Join { left: sides.0, right: sides.1, on: Vec::new(), ..(**join).clone() };
                (self.join(&bare, left, right), join.on.clone())
            }
            _ => return self.operator(plan),
        };
        let inner = probes.watch(plan, Part::Unfiltered, inner);
        Box::new(Filter::new(inner, &conditions, self))
    }

    fn scan(&self, scan: &physical::Scan) -> Box<dyn Operator> {
        match &scan.access {
            Access::IndexUnion(ways) => Box::new(IndexUnion::new(scan, ways, self)),
            Access::Full(_) | Access::Key(_) | Access::Current(_) => {
                Box::new(Scan::new(scan, self))
            }
        }
    }

    fn join(
        &self,
        join: &Join,
        left: Box<dyn Operator>,
        right: Box<dyn Operator>,
    ) -> Box<dyn Operator> {
        match &join.method {
            JoinMethod::NestedLoop => Box::new(NestedLoop::new(left, right, join, self)),
            JoinMethod::Hash { .. } => Box::new(HashJoin::new(left, right, join, self)),
        }
    }

    fn operator(&self, plan: &Plan) -> Box<dyn Operator> {
        match plan {
            Plan::Unit => Box::new(Unit::default()),
            Plan::Nothing => Box::new(Nothing),
            Plan::Scan(scan) => self.scan(scan),
            Plan::System(scan) => Box::new(SystemScan::new(scan, self)),
            Plan::Function(scan) => Box::new(FunctionScan::new(scan, self)),
            Plan::Values(slot, rows) => Box::new(Values::new(*slot, rows, self)),
            Plan::Constants(slot, rows) => Box::new(Constants::new(*slot, Arc::clone(rows))),
            Plan::Cte(scan) => Box::new(CteScan::new(scan.slot, scan.number)),
            Plan::OneTimeFilter(input, conjuncts) => {
                Box::new(OneTimeFilter::new(self.build(input), conjuncts, self))
            }
            Plan::Barrier(input, _) => self.build(input),
            Plan::Filter(input, conjuncts) => {
                Box::new(Filter::new(self.build(input), conjuncts, self))
            }
            Plan::Project(input, slot, columns) => {
                Box::new(Project::new(self.build(input), *slot, columns, self))
            }
            Plan::ProjectSet(input, slot, columns) => {
                Box::new(ProjectSet::new(self.build(input), *slot, columns, self))
            }
            Plan::Join(join) => {
                let (left, right) = (self.build(&join.left), self.build(&join.right));
                self.join(join, left, right)
            }
            Plan::Aggregate(aggregate) => {
                Box::new(Group::new(self.build(&aggregate.input), aggregate, self))
            }
            Plan::Window(window) => Box::new(Window::new(self.build(&window.input), window, self)),
            Plan::Distinct(distinct) => match Unique::keys(&distinct.input, &distinct.keys) {
                Some(keys) => Box::new(Unique::new(self.build(&distinct.input), keys)),
                None => Box::new(Distinct::new(self.build(&distinct.input), distinct, self)),
            },
            Plan::Sort(sort) => Box::new(Sort::new(self.build(&sort.input), sort, self)),
            Plan::Limit(limit) => Box::new(Limit::new(self.build(&limit.input), limit, self)),
            Plan::SetOperation(set) => {
                Box::new(SetOperation::new(self.build(&set.left.0), self.build(&set.right.0), set))
            }
            Plan::LockRows(lock) => Box::new(LockRows::new(self.build(&lock.input), lock, self)),
            Plan::Materialize(input, saved) => {
                let keep = !self.depends(input);
                Box::new(Materialize::new(self.build(input), saved.clone(), keep))
            }
            Plan::WithCtes(input, numbers) => {
                Box::new(WithCtes::new(self.build(input), numbers.clone()))
            }
            Plan::Modify(modify) => match &modify.kind {
                ModifyKind::Instead { source, row, change } => {
                    Box::new(Instead::new(modify, (source, row, change), self))
                }
                _ => Box::new(Modify::new(modify, self)),
            },
        }
    }
}
