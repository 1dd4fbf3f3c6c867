//! Window functions: from the bound calls of one window to the node that runs them. What rows are parted and ordered by is
//! computed below it, once.

use super::build::{Layout, Planner};
use super::functions::{Comparison, callee, comparator, comparison};
use super::physical::{Plan, Window, WindowBound, WindowFrame, WindowFunction, WindowStep};
use super::pushdown::reads;
use crate::account;
use crate::bind::logical::{Frame, FrameBound, Node, SortKey};
use crate::bind::{AggregateCall, Expr};
use crate::catalog::builtin::{self, Kind};
use crate::error::{Result, SqlError};
use crate::plan::scalar::{Callee, Scalar, Var};
use crate::types::{Oid, SqlType, oids as oid};

/// PostgreSQL's window functions by OID.
fn own_function(oid: u32) -> Option<WindowFunction> {
    Some(match oid {
        3100 => WindowFunction::RowNumber,
        3101 => WindowFunction::Rank,
        3102 => WindowFunction::DenseRank,
        3103 => WindowFunction::PercentRank,
        3104 => WindowFunction::CumeDist,
        3105 => WindowFunction::Ntile,
        3106..=3108 => WindowFunction::Lag,
        3109..=3111 => WindowFunction::Lead,
        3112 => WindowFunction::FirstValue,
        3113 => WindowFunction::LastValue,
        3114 => WindowFunction::NthValue,
        _ => return None,
    })
}

/// What is asked of a window's values that grow, where nothing behind a row of which it does not hold can meet it; and whether
/// that is all that the condition asks (`find_window_run_conditions`).
pub(super) fn run_condition(
    planner: &Planner<'_>,
    window: &Window,
    condition: &Scalar,
) -> Option<(Scalar, bool)> {
    let Scalar::Call { callee: asked, arguments, position } = condition else { return None };
    let [left, right] = &**arguments else { return None };
    let (kind, left_type, right_type) = comparison(asked.oid)?;
    let of_window = |side: &Scalar| match side {
        Scalar::Var(var) => var.slot == window.slot && window.grows(var.column as usize),
        _ => false,
    };
    let (value, kind) = match (of_window(left), of_window(right)) {
        (true, false) => (right, kind),
        (false, true) => (left, kind.swapped()),
        _ => return None,
    };
    let mut slots = planner.slots(&window.input);
    slots.insert(window.slot);
    if value.volatile() || !value.subqueries().is_empty() || reads(planner, value, &slots) {
        return None;
    }
    match kind {
        Comparison::Less | Comparison::LessEqual => Some((condition.clone(), true)),
        Comparison::Greater | Comparison::GreaterEqual => None,
        Comparison::Equal => {
            let name = if of_window(left) { "<=" } else { ">=" };
            let operator = builtin::operators_named(name, false)
                .iter()
                .find(|operator| operator.left == left_type.0 && operator.right == right_type.0)?;
            let types = vec![SqlType::plain(left_type.0), SqlType::plain(right_type.0)];
            let callee = callee(Oid(operator.function), types, SqlType::plain(oid::BOOL)).ok()?;
            let arguments = arguments.clone();
            Some((Scalar::Call { callee, arguments, position: *position }, false))
        }
    }
}

fn in_range(function: Oid) -> Result<Option<Callee>> {
    let found = (function.0 != 0).then(|| {
        // It looks at values alone.
        callee(function, Vec::new(), SqlType::plain(oid::BOOL))
    });
    found.transpose()
}

impl Planner<'_> {
    pub(super) fn window(
        &mut self,
        input: &Node,
        calls: &[AggregateCall],
        partition_by: &[Expr],
        order_by: &[SortKey],
        frame: &Frame,
    ) -> Result<(Plan, Layout)> {
        let (input, mut layout) = self.node(input)?;
        let slot = self.slot(calls.len());
        let mut window = self.over(&layout, |planner| {
            let partition_by = partition_by
                .iter()
                .map(|key| Ok((planner.scalar(key)?, comparator(key.ty().oid, false, false)?)))
                .collect::<Result<Vec<_>>>()?;
            let calls =
                calls.iter().map(|call| planner.window_step(call)).collect::<Result<Vec<_>>>()?;
            let frame = WindowFrame {
                unit: frame.unit,
                start: planner.window_bound(&frame.start)?,
                end: planner.window_bound(&frame.end)?,
                in_range: [in_range(frame.in_range[0])?, in_range(frame.in_range[1])?],
                exclude: frame.exclude,
            };
            let order_by = planner.sort_keys(order_by)?;
            let (run, saved) = (Vec::new(), Vec::new());
            Ok(Window { input, slot, partition_by, order_by, frame, calls, run, saved })
        })?;
        self.compute_keys(&mut window);
        layout.extend(Self::layout(slot, calls.len()));
        Ok((Plan::Window(Box::new(window)), layout))
    }

    /// Has the keys of a window computed by its input.
    fn compute_keys(&mut self, window: &mut Window) {
        let stands = |key: &Scalar| {
            matches!(key, Scalar::Var(_) | Scalar::Constant(..) | Scalar::Parameter(_))
        };
        if window.keys().all(|(key, _)| stands(key)) {
            return;
        }
        let slot = self.slot(0);
        let mut columns = Vec::new();
        for (key, _) in window.partition_by.iter_mut().chain(&mut window.order_by) {
            if !stands(key) {
                let home = Var { slot, column: account::narrow(columns.len()) };
                columns.push(std::mem::replace(key, Scalar::Var(home)));
            }
        }
        self.widths[slot as usize] = columns.len();
        let input = std::mem::replace(&mut window.input, Plan::Nothing);
        window.input = Plan::Project(Box::new(input), slot, columns);
    }

    fn window_bound(&mut self, bound: &FrameBound) -> Result<WindowBound> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => WindowBound::UnboundedPreceding,
            FrameBound::Preceding(offset) => WindowBound::Preceding(self.scalar(offset)?),
            FrameBound::CurrentRow => WindowBound::CurrentRow,
            FrameBound::Following(offset) => WindowBound::Following(self.scalar(offset)?),
            FrameBound::UnboundedFollowing => WindowBound::UnboundedFollowing,
        })
    }

    fn window_step(&mut self, call: &AggregateCall) -> Result<WindowStep> {
        let own = builtin::function(call.function.0).filter(|found| found.kind == Kind::Window);
        let function = match own {
            Some(found) => own_function(call.function.0).ok_or_else(|| {
                SqlError::unsupported(format!("the window function {} is", found.name))
            })?,
            None => WindowFunction::Aggregate(self.aggregate_step(call)?),
        };
        Ok(WindowStep {
            function,
            arguments: self.all(&call.arguments)?.into_vec(),
            filter: call.filter.as_ref().map(|filter| self.scalar(filter)).transpose()?,
        })
    }
}
