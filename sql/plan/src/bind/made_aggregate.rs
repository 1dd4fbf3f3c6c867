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

/// What an aggregate is computed with, over a frame that grows or one that moves.
struct Functions<'f> {
    transition: Oid,
    finish: Oid,
    extra: bool,
    state: Oid,
    initial: Option<&'f str>,
    direct: usize,
}

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
        let plain = Functions {
            transition: aggregate.transition,
            finish: aggregate.finish,
            extra: aggregate.finish_extra,
            state: aggregate.state,
            initial: aggregate.initial.as_deref(),
            direct: aggregate.direct as usize,
        };
        let (mut made, _) = self.made_of(routine, &plain, arguments, ty, at)?;
        let moving = &aggregate.moving;
        if moving.transition != Oid(0) && aggregate.kind == b'n' {
            let functions = Functions {
                transition: moving.transition,
                finish: moving.finish,
                extra: moving.finish_extra,
                state: moving.state,
                initial: moving.initial.as_deref(),
                direct: 0,
            };
            let (forward, columns) = self.made_of(routine, &functions, arguments, ty, at)?;
            let state = columns[0].ty();
            let (inverse, _) = self.call_of(moving.inverse, columns, at)?;
            let inverse = self.cast(inverse, state, Context::Implicit, at)?;
            made.moving = Some(Box::new((forward, inverse)));
        }
        Ok(made)
    }

    /// The calls of these functions; the state and the arguments of a row as they read them, too.
    fn made_of(
        &self,
        routine: &Routine,
        functions: &Functions<'_>,
        arguments: &[Expr],
        ty: SqlType,
        at: u32,
    ) -> Result<(MadeAggregate, Vec<Expr>)> {
        let actual: Vec<Oid> = arguments.iter().map(|argument| argument.ty().oid).collect();
        let (_, state) =
            self.resolve_polymorphic(&routine.input_types(), &actual, functions.state.0, at)?;
        let state = SqlType { oid: state, typmod: -1 };
        let columns: Vec<Expr> = std::iter::once(state)
            .chain(arguments.iter().map(Expr::ty))
            .enumerate()
            .map(|(column, ty)| Expr::Column { level: 0, column: column as u32, ty })
            .collect();
        let initial = match functions.initial {
            None => Expr::Constant(Literal::Null, state),
            Some(text) => Expr::Constant(self.constants.read(state, text)?, state),
        };
        let direct = functions.direct.min(arguments.len());
        let mut given = columns.clone();
        given.drain(1..=direct);
        let (transition, strict) = self.call_of(functions.transition, given.clone(), at)?;
        let transition = self.cast(transition, state, Context::Implicit, at)?;
        let finish = match functions.finish {
            Oid(0) => columns[0].clone(),
            finish => {
                let mut given = columns[..=direct].to_vec();
                if functions.extra {
                    let types = arguments[direct..].iter().map(Expr::ty);
                    given.extend(types.map(|ty| Expr::Constant(Literal::Null, ty)));
                }
                self.call_of(finish, given, at)?.0
            }
        };
        let finish = self.cast(finish, ty, Context::Implicit, at)?;
        let takes_first = strict && functions.initial.is_none();
        let moving = None;
        let made =
            MadeAggregate { initial, takes_first, strict, direct, transition, finish, moving };
        Ok((made, given))
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
