//! Aggregates that users made (manual, section 38.12): the calls of their functions, over a row that holds the state and then
//! the arguments.

use crate::bind::Binder;
use crate::bind::coerce::Context;
use crate::bind::type_name::oid;
use crate::bind::typed::{CallForm, Expr, Literal, MadeAggregate};
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

impl Binder<'_> {
    /// How a call of an aggregate over arguments of these types, which are cast already, is computed.
    ///
    /// # Errors
    /// 42883, 42804; 0A000 for functions that cannot be called.
    pub(super) fn made_aggregate(
        &self,
        routine: &Routine,
        arguments: &[Expr],
        ty: SqlType,
        at: u32,
    ) -> Result<MadeAggregate> {
        let Some(aggregate) = &routine.aggregate else {
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, "it is no aggregate"));
        };
        let actual: Vec<Oid> = arguments.iter().map(|argument| argument.ty().oid).collect();
        let (_, state) =
            self.resolve_polymorphic(&routine.input_types(), &actual, aggregate.state.0, at)?;
        let state = SqlType { oid: state, typmod: -1 };
        let columns: Vec<Expr> = std::iter::once(state)
            .chain(arguments.iter().map(Expr::ty))
            .enumerate()
            .map(|(column, ty)| Expr::Column { level: 0, column: column as u32, ty })
            .collect();
        let initial = match &aggregate.initial {
            None => Expr::Constant(Literal::Null, state),
            Some(text) => Expr::Constant(self.constants.read(state, text)?, state),
        };
        let (transition, strict) = self.call_of(aggregate.transition, columns.clone(), at)?;
        let transition = self.cast(transition, state, Context::Implicit, at)?;
        let finish = match aggregate.finish {
            Oid(0) => columns[0].clone(),
            finish => {
                let mut given = vec![columns[0].clone()];
                if aggregate.finish_extra {
                    let types = arguments.iter().map(Expr::ty);
                    given.extend(types.map(|ty| Expr::Constant(Literal::Null, ty)));
                }
                self.call_of(finish, given, at)?.0
            }
        };
        let finish = self.cast(finish, ty, Context::Implicit, at)?;
        let takes_first = strict && aggregate.initial.is_none();
        Ok(MadeAggregate { initial, takes_first, strict, transition, finish })
    }

    /// A call of a function by its OID, and whether it is strict.
    fn call_of(&self, function: Oid, given: Vec<Expr>, at: u32) -> Result<(Expr, bool)> {
        let missing = || {
            let message = format!("function with OID {} does not exist", function.0);
            SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
        };
        let procedure = self.catalog.procedure(function).ok_or_else(missing)?;
        // A plan is held against what the function is now.
        drop(self.catalog.routines_named(procedure.name));
        let actual: Vec<Oid> = given.iter().map(|one| one.ty().oid).collect();
        let declared = &procedure.arguments;
        if procedure.variadic == oid::ANY || declared.len() != actual.len() {
            return Err(SqlError::unsupported("an aggregate of a variadic function is"));
        }
        let (declared, result) =
            self.resolve_polymorphic(declared, &actual, procedure.result, at)?;
        let mut arguments = Vec::with_capacity(given.len());
        for (one, wanted) in given.into_iter().zip(declared) {
            let any = wanted.0 == oid::ANY;
            arguments.push(if any { one } else { self.argument(one, wanted, at)? });
        }
        let form = match self.catalog.routine(function) {
            Some(routine) => CallForm::Routine(Arc::clone(routine)),
            None => CallForm::Function,
        };
        let ty = SqlType { oid: result, typmod: -1 };
        Ok((Expr::Call { function, arguments, ty, form, position: 0 }, procedure.strict))
    }
}
