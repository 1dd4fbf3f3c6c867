//! Bodies of the standard's form, RETURN and BEGIN ATOMIC, as `pg_get_function_sqlbody` prints them (`print_function_sqlbody`
//! of `ruleutils.c`), and as they are kept.
//!
//! What is kept calls the parameters `$1` and so on, so that it says the same whatever the routine and its parameters are
//! called; what is shown calls them by their names.

use super::Layout;
use super::view::{ViewText, Writer};
use crate::bind::edges::edges_of_query;
use crate::bind::routine_body::Parameters;
use crate::bind::{Binder, BoundStatement, Environment, Variables, bound_for};
use crate::catalog::definition::Edge;
use crate::catalog::quote::identifier;
use crate::error::Result;
use crate::parse::Positions;
use crate::parse::ast::StandardBody;
use crate::types::{CallContext, Oid};
use std::cell::{Cell, RefCell};

/// How the parameters of a routine are printed in its body.
pub struct RoutineText<'r> {
    /// Them, with the routine's name.
    pub parameters: &'r Parameters,
}

impl RoutineText<'_> {
    /// What a parameter is called, by its number among all from 0.
    pub(super) fn parameter(&self, number: u32, kept: bool, beside: bool) -> String {
        let own = self.parameters;
        let name = own.name(number).filter(|name| !kept && !name.is_empty());
        match name {
            Some(name) if beside => format!("{}.{}", identifier(own.function()), identifier(name)),
            Some(name) => identifier(name),
            None => format!("${}", own.position(number).unwrap_or(number + 1)),
        }
    }
}

/// A body as PostgreSQL prints it, and what the expressions of its statements that change rows depend on.
///
/// # Errors
/// 0A000 for what cannot be printed; those of binding.
pub fn body_text<'t>(
    environment: Environment<'t>,
    context: &CallContext<'_>,
    text: &'t Positions<'t>,
    body: &StandardBody,
    parameters: &'t Parameters,
    how: ViewText<'_>,
) -> Result<(String, Vec<Edge>)> {
    let routine = RoutineText { parameters };
    let mut out = if body.atomic { Layout::default() } else { Layout::flat() };
    if body.atomic {
        out.push_str("BEGIN ATOMIC\n");
    }
    let mut edges = Vec::new();
    for one in &body.statements {
        let types: Vec<Oid> = parameters.types().iter().map(|ty| ty.oid).collect();
        let own = Binder::new(environment, text, &types);
        *own.parameters.borrow_mut() = parameters.types().to_vec();
        let binder = Binder {
            printed: !how.qualified,
            written: how.qualified,
            opaque_views: true,
            keeps_trees: true,
            variables: Some(parameters),
            ..own
        };
        let writer = Writer {
            binder: &binder,
            context,
            how,
            taken: RefCell::default(),
            ctes: RefCell::default(),
            routine: Some(&routine),
            returns: Cell::new(one.returns),
            edges: RefCell::default(),
        };
        out.set_level(1);
        writer.statement(&one.statement, &mut out)?;
        edges.extend(writer.edges.take());
        if body.atomic {
            out.push_str(";\n");
        }
    }
    if body.atomic {
        out.push_str("END");
    }
    Ok((out.text, edges))
}

/// Binds the statements of a body for who makes the routine: what they depend on, but for what the expressions of those that
/// change rows do.
///
/// # Errors
/// Those of binding.
pub fn body_edges<'t>(
    environment: Environment<'t>,
    asker: Oid,
    text: &'t Positions<'t>,
    body: &StandardBody,
    parameters: &'t Parameters,
) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    for one in &body.statements {
        let types: Vec<Oid> = parameters.types().iter().map(|ty| ty.oid).collect();
        let own = Binder::new(environment, text, &types);
        *own.parameters.borrow_mut() = parameters.types().to_vec();
        let binder = Binder { opaque_views: true, variables: Some(parameters), ..own };
        let bound = bound_for(binder, asker, &one.statement)?;
        crate::bind::may_use_schemas(&bound.required, environment.catalog, asker)?;
        edges.extend(edges_of_query(environment.catalog, &bound));
        if let BoundStatement::Modify(modify) = &bound.statement {
            edges.push(Edge::Relation(modify.relation.oid, 0));
        }
    }
    Ok(edges)
}
