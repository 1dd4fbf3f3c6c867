//! GROUP BY and aggregates: a slot for the keys and the aggregates' values, and the code of each aggregate.

use super::build::{Layout, Planner};
use super::functions::call_types;
use super::physical::{Aggregate, AggregateStep, MadeStep, Plan};
use super::scalar::CallTypes;
use crate::bind::logical::Node;
use crate::bind::{AggregateCall, Expr, MadeAggregate};
use crate::catalog::builtin;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::sync::Arc;

impl Planner<'_> {
    /// Groups by these keys, in these sets of them, with a column behind that says which set where there are several.
    pub(super) fn aggregate(
        &mut self,
        input: &Node,
        keys: &[Expr],
        sets: &[Vec<u32>],
        calls: &[AggregateCall],
    ) -> Result<(Plan, Layout)> {
        // HAVING alone makes one row of whatever there is, which nobody has to read.
        let unread = keys.is_empty() && calls.is_empty() && sets.len() <= 1;
        let (input, layout) = self.node(if unread { &Node::Unit } else { input })?;
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
        let aggregate =
            Aggregate { input, slot, keys, sets: sets.to_vec(), calls, ordered: Vec::new() };
        Ok((Plan::Aggregate(Box::new(aggregate)), Self::layout(slot, width)))
    }

    /// An aggregate with the code that computes it.
    pub(super) fn aggregate_step(&mut self, call: &AggregateCall) -> Result<AggregateStep> {
        if let Some(made) = &call.made {
            return self.made_step(call, made);
        }
        let procedure = builtin::function(call.computed_as.0).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("function {} does not exist", call.function),
            )
        })?;
        let arguments = call.arguments.iter().map(Expr::ty).collect();
        let types = call_types(procedure, arguments, call.ty);
        let transition = builtin::aggregate(call.computed_as.0)
            .and_then(|aggregate| builtin::function(aggregate.transition));
        let step = AggregateStep {
            function: call.function.0,
            computed_as: call.computed_as.0,
            types: Arc::new(types),
            strict: transition.is_none_or(|procedure| procedure.strict),
            arguments: self.all(&call.arguments)?.into_vec(),
            distinct: call.distinct,
            order_by: self.sort_keys(&call.order_by)?,
            filter: call.filter.as_ref().map(|filter| self.scalar(filter)).transpose()?,
            made: None,
        };
        if step.accumulator().is_none() {
            return Err(SqlError::unsupported(format!("the aggregate {} is", procedure.name)));
        }
        Ok(step)
    }

    /// The same of one that a user made.
    fn made_step(&mut self, call: &AggregateCall, made: &MadeAggregate) -> Result<AggregateStep> {
        let width = call.arguments.len() + 1;
        let step = self.functions_of(made, width)?;
        // What is given once is that of a row; where FILTER leaves none, nobody has it.
        let once = &call.arguments[..made.direct];
        let varies =
            |argument: &Expr| !matches!(argument, Expr::Constant(..) | Expr::Parameter(..));
        if call.filter.is_some() && once.iter().any(varies) {
            return Err(SqlError::unsupported(
                "FILTER of an ordered-set aggregate that a user has made is",
            ));
        }
        let types = CallTypes {
            arguments: call.arguments.iter().map(Expr::ty).collect(),
            result: call.ty,
            columns: Vec::new(),
            variadic_spread: false,
        };
        Ok(AggregateStep {
            function: call.function.0,
            computed_as: call.function.0,
            types: Arc::new(types),
            strict: false,
            arguments: self.all(&call.arguments)?.into_vec(),
            distinct: call.distinct,
            order_by: self.sort_keys(&call.order_by)?,
            filter: call.filter.as_ref().map(|filter| self.scalar(filter)).transpose()?,
            made: Some(Arc::new(step)),
        })
    }

    /// The functions of an aggregate that a user made, over a slot of so many columns.
    fn functions_of(&mut self, made: &MadeAggregate, width: usize) -> Result<MadeStep> {
        let slot = self.slot(width);
        let moving = match made.moving.as_deref() {
            None => None,
            Some((moving, inverse)) => {
                let step = self.functions_of(moving, width)?;
                let layout = Self::layout(step.slot, width);
                let inverse = self.over(&layout, |planner| planner.scalar(inverse))?;
                Some(Arc::new(MadeStep { inverse: Some(inverse), ..step }))
            }
        };
        self.over(&Self::layout(slot, width), |planner| {
            Ok(MadeStep {
                slot,
                initial: planner.scalar(&made.initial)?,
                takes_first: made.takes_first,
                strict: made.strict,
                direct: made.direct,
                transition: planner.scalar(&made.transition)?,
                finish: planner.scalar(&made.finish)?,
                inverse: None,
                moving,
            })
        })
    }
}
