//! Functions that give rows: in FROM, and in select lists.

use super::build::{Layout, Planner};
use super::functions::{call_types, callee, routine_callee, routine_types};
use super::physical::{FunctionScan, Plan, SetCall, SetColumn};
use super::scalar::{Scalar, Target};
use crate::bind::Expr;
use crate::bind::logical::{Node, UNNEST, VALUE};
use crate::bind::type_name::oid;
use crate::catalog::builtin::{self, ProcedureOf};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::contrib::tablefunc;
use crate::types::{Callable, Oid, SqlType};
use std::borrow::Cow;
use std::sync::Arc;

const RECORD: u32 = 2249;
/// `record[]`.
const RECORDS: u32 = 2287;

impl Planner<'_> {
    /// A function in FROM, with a number for each of its rows behind them if `ordinality` says so.
    pub(super) fn function_scan(
        &mut self,
        function: Oid,
        arguments: &[Expr],
        columns: &[(Arc<str>, SqlType)],
        (composite, ordinality): (bool, bool),
        (alias, shown): (&Arc<str>, &[Arc<str>]),
    ) -> Result<(Plan, Layout)> {
        let width = columns.len() + usize::from(ordinality);
        let slot = self.slot(width);
        let call = self.set_call(function, arguments, columns, composite)?;
        // What a record has is seen when there is one; the rows of a type that has changed may have less than it.
        let untyped = match (builtin::function(function.0), arguments) {
            (None, [Expr::XmlTable { .. }]) => false,
            (None, [value]) => value.ty().oid.0 == RECORD,
            (Some(_), [array]) if function.0 == UNNEST => array.ty().oid.0 == RECORDS,
            (procedure, _) => match self.routine(function) {
                Some(routine) => routine.procedure().output_columns().next().is_none(),
                None => {
                    procedure.is_some_and(|procedure| procedure.output_columns().next().is_none())
                }
            },
        };
        let scan = FunctionScan {
            slot,
            call,
            types: columns.iter().map(|(_, ty)| *ty).collect(),
            untyped: composite && untyped,
            records: composite && function.0 == UNNEST,
            ordinality,
            alias: Arc::clone(alias),
            shown: shown.into(),
        };
        Ok((Plan::Function(Box::new(scan)), Self::layout(slot, width)))
    }

    /// A select list with functions that give rows.
    pub(super) fn project_set(&mut self, input: &Node, columns: &[Expr]) -> Result<(Plan, Layout)> {
        let (input, layout) = self.node(input)?;
        let slot = self.slot(columns.len());
        let columns = self.over(&layout, |planner| {
            columns.iter().map(|column| planner.set_column(column)).collect::<Result<_>>()
        })?;
        let layout = Self::layout(slot, self.widths[slot as usize]);
        Ok((Plan::ProjectSet(Box::new(input), slot, columns), layout))
    }

    fn set_column(&mut self, column: &Expr) -> Result<SetColumn> {
        if let Expr::Call { function, arguments, ty, .. } = column
            && let Some(procedure) = builtin::function(function.0)
            && procedure.returns_set
        {
            let fields = record_fields(procedure, arguments);
            let column = [(Arc::from(""), *ty)];
            return Ok(SetColumn::Set(
                self.set_call(*function, arguments, &column, false)?,
                fields,
            ));
        }
        if let Expr::Call { function, arguments, ty, .. } = column
            && let Some(routine) = self.routine(*function)
            && routine.returns_set
        {
            let fields = record_fields(&routine.procedure(), arguments);
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
        if let [Expr::XmlTable { table, arguments }] = arguments {
            return Ok(SetCall::XmlTable(Arc::clone(table), self.all(arguments)?));
        }
        let mut scalars = self.all(arguments)?.into_vec();
        if function == VALUE && scalars.len() == 1 {
            return Ok(SetCall::Scalar(scalars.swap_remove(0), composite));
        }
        let scalars = scalars.into_boxed_slice();
        if let Some((_, int4)) = SERIES.iter().find(|(oid, _)| *oid == function.0) {
            return Ok(SetCall::Series(scalars, *int4));
        }
        let result = match columns {
            [(_, only)] if !composite => *only,
            _ => SqlType::plain(2249),
        };
        let types: Vec<SqlType> = arguments.iter().map(Expr::ty).collect();
        if let Some(routine) = self.routine(function) {
            if routine.returns_set {
                let mut types = routine_types(types, result);
                types.columns = columns.to_vec();
                return Ok(SetCall::Routine(routine, Arc::new(types), scalars));
            }
            let mut callee = routine_callee(&routine, types, result);
            // Only the list of its columns says what a record is.
            if let Target::Routine(_, types) = &mut callee.target
                && routine.result.0 == RECORD
            {
                Arc::make_mut(types).columns = columns.to_vec();
            }
            let call = Scalar::Call { callee, arguments: scalars, position: 0 };
            return Ok(SetCall::Scalar(call, composite));
        }
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
        if tablefunc::QUERYING.contains(&function.0) {
            self.calls_routines = true;
            let mut types = call_types(procedure, types, result);
            types.columns = columns.to_vec();
            return Ok(SetCall::Querying(function.0, Arc::new(types), scalars));
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
}

/// The fields of the records that a function with several OUT arguments gives; none for another one.
fn record_fields(procedure: &ProcedureOf<'_>, arguments: &[Expr]) -> Box<[(Arc<str>, SqlType)]> {
    let outputs: Vec<_> = procedure.output_columns().collect();
    if outputs.len() < 2 {
        return Box::default();
    }
    let given: Vec<(u32, u32)> = procedure
        .arguments
        .iter()
        .zip(arguments)
        .map(|(declared, value)| (*declared, value.ty().oid.0))
        .collect();
    let field =
        |(name, ty): (Cow<'_, str>, u32)| (name.into(), SqlType::plain(resolved(ty, &given)));
    outputs.into_iter().map(field).collect()
}

/// What a polymorphic type is where arguments declared so have these types, to which they have been cast.
fn resolved(ty: u32, given: &[(u32, u32)]) -> u32 {
    let (elements, arrays): (&[u32], u32) = match ty {
        oid::ANYELEMENT | oid::ANYNONARRAY | oid::ANYENUM | oid::ANYARRAY => {
            (&[oid::ANYELEMENT, oid::ANYNONARRAY, oid::ANYENUM], oid::ANYARRAY)
        }
        oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY | oid::ANYCOMPATIBLEARRAY => {
            (&[oid::ANYCOMPATIBLE, oid::ANYCOMPATIBLENONARRAY], oid::ANYCOMPATIBLEARRAY)
        }
        _ => return ty,
    };
    let of = |declared: &[u32]| given.iter().find(|one| declared.contains(&one.0)).map(|one| one.1);
    let found = if ty == arrays {
        of(&[arrays]).or_else(|| of(elements).map(builtin::array_type))
    } else {
        of(elements).or_else(|| of(&[arrays]).and_then(builtin::element_type))
    };
    found.unwrap_or(ty)
}
