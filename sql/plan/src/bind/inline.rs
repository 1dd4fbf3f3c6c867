//! SQL functions: a call is replaced by the body, bound over the arguments (`inline_function`).
//!
//! The built-in functions of language SQL that have no implementation of their own are run this way, those of
//! `information_schema` above all. A body is `RETURN expression`, or one query in `BEGIN ATOMIC ... END`.

use crate::bind::Binder;
use crate::bind::coerce::Context;
use crate::bind::expression::Place;
use crate::bind::from::columns_item;
use crate::bind::levels;
use crate::bind::scope::{Scope, ScopeColumn};
use crate::bind::typed::Expr;
use crate::catalog::builtin::Procedure;
use crate::error::{Result, SqlError};
use crate::parse::parse_expression;
use crate::sqlstate::SqlState;
use crate::types::{self, SqlType, session_functions};

/// How deeply SQL functions may call each other.
const NESTED: u32 = 32;

/// The expression that a body stands for; none for those that are no single query.
fn expression_of(body: &str) -> Option<String> {
    if let Some(expression) = body.strip_prefix("RETURN ") {
        return Some(expression.to_owned());
    }
    let query = body.strip_prefix("BEGIN ATOMIC")?.trim_end().strip_suffix("END")?;
    let query = query.trim().strip_suffix(';')?;
    (!query.contains(';')).then(|| format!("({query})"))
}

impl Binder<'_> {
    /// The body of an SQL function over these arguments; none if the function is not one, or not to be inlined.
    pub(super) fn inlined(
        &self,
        procedure: &Procedure,
        arguments: &[Expr],
        ty: SqlType,
        at: u32,
    ) -> Result<Option<Expr>> {
        // What is printed or stored is the call.
        if self.prints() || self.is_stored {
            return Ok(None);
        }
        let implemented =
            types::function(procedure.oid).is_some() || session_functions::answers(procedure.oid);
        let body = procedure.sql().filter(|_| !implemented && !procedure.returns_set);
        let Some(text) = body.and_then(|body| expression_of(&body)) else { return Ok(None) };
        // An argument may stand in the body any number of times.
        if !arguments.iter().all(levels::is_repeatable) {
            return Ok(None);
        }
        if self.inlining.get() >= NESTED {
            return Err(SqlError::new(
                SqlState::STATEMENT_TOO_COMPLEX,
                "SQL functions call each other too deeply",
            ));
        }
        let names = procedure.argument_names.iter().map(|name| Some(*name));
        let mut columns = Vec::new();
        for ((number, argument), name) in
            arguments.iter().enumerate().zip(names.chain(std::iter::repeat(None)))
        {
            let numbered = format!("${}", number + 1);
            let named = name.filter(|name| !name.is_empty());
            for name in named.into_iter().chain([&*numbered]) {
                columns.push(ScopeColumn {
                    name: name.into(),
                    expr: argument.clone(),
                    origin: None,
                    system: false,
                });
            }
        }
        let mut scope = Scope::new(None, 0);
        scope.items.push(columns_item(Some(procedure.name.into()), columns));
        let place = Place::plain(&scope, None, "SQL functions");
        self.inlining.set(self.inlining.get() + 1);
        let bound = parse_expression(&text).and_then(|body| self.expression(&body, &place));
        self.inlining.set(self.inlining.get() - 1);
        let bound = self.cast(bound?, ty, Context::Assignment, at)?;
        if !procedure.strict {
            return Ok(Some(bound));
        }
        // A row that is given is not NULL, whatever its fields are.
        let given = arguments.iter().filter(|value| !matches!(value, Expr::Row(..)));
        let mut present: Vec<Expr> = given
            .map(|value| Expr::IsNull { operand: Box::new(value.clone()), negated: true })
            .collect();
        let condition = match present.len() {
            0 => return Ok(Some(bound)),
            1 => present.remove(0),
            _ => Expr::And(present),
        };
        Ok(Some(Expr::Case {
            operand: None,
            given: Vec::new(),
            branches: vec![(condition, bound)],
            otherwise: None,
            ty,
        }))
    }

    /// `$n` within the body of an SQL function.
    pub(super) fn inlined_argument(&self, number: u32, place: &Place<'_>) -> Option<Expr> {
        if self.inlining.get() == 0 {
            return None;
        }
        place.scope.column(&format!("${number}")).ok().map(|found| found.expr)
    }
}
