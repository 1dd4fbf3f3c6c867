//! Definitions as they are shown: trees are printed, and what the catalog keeps as text is bound again first.

use crate::bind::deparse::{self, ViewText};
use crate::bind::routine_body::Parameters;
use crate::bind::{self, Environment};
use crate::catalog::Relation;
use crate::catalog::definition::ViewQuery;
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::parse::depth::fitting;
use crate::parse::{Positions, parse_body, parse_expression};
use crate::prepared::Reader;
use crate::queries::SessionCatalog;
use crate::types::{CallContext, Oid};
use std::sync::Arc;

/// A stored expression with its types as the search path finds them, with the fewest parentheses or with all.
pub(crate) fn shown_expression(
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    relation: Option<&Relation>,
    text: &str,
    pretty: bool,
) -> Result<String> {
    let reader = Reader(context);
    let path = &session.settings.path.get().schemas;
    let environment = Environment { catalog: session.snapshot, path, constants: &reader };
    let catalog = session.snapshot;
    fitting(0, || {
        let parsed = parse_expression(text)?;
        let bound = bind::bind_printed(environment, text, &parsed, relation)?;
        deparse::over_row(catalog, (Some(path), pretty), context, relation, &bound)
    })
}

/// The relations that a view's query reads itself.
pub(super) fn reads(environment: Environment<'_>, query: &ViewQuery) -> Result<Vec<Oid>> {
    let bound = bind::bind_view_named(environment, query)?;
    // What stands behind another view is that view's, whose owner it names.
    let own = bound.required.into_iter().filter_map(|required| match required {
        bind::Required::Relation { relation, holder: bind::Holder::Asker, .. } => Some(relation),
        _ => None,
    });
    Ok(own.collect())
}

/// What a simple view reads, and which of its base's columns, by index, each of its own is; none if it is not simple.
pub(crate) fn simple_view(
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    view: &Relation,
) -> Option<(Oid, Vec<Option<usize>>)> {
    let path = &session.settings.path.get().schemas;
    let environment = Environment { catalog: session.snapshot, path, constants: &Reader(context) };
    let query = view.query()?;
    fitting(0, || bind::simple_columns(environment, query)).ok().flatten()
}

/// A view's query: with the fewest parentheses or with all, its select list in lines up to this width.
pub(super) fn view_text(
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    view: &Relation,
    (pretty, wrap): (bool, usize),
) -> Result<String> {
    let path = &session.settings.path.get().schemas;
    let environment = Environment { catalog: session.snapshot, path, constants: &Reader(context) };
    let how = ViewText { pretty, wrap, qualified: false, renamed: &[], now: None };
    fitting(0, || printed_view(environment, context, view, how))
}

/// The body of a routine in the standard's form, as `pg_get_function_sqlbody` prints it; none where it has no such body.
pub(crate) fn shown_body(
    session: &SessionCatalog<'_>,
    context: &CallContext<'_>,
    routine: &Routine,
) -> Option<Result<String>> {
    routine.standard.as_ref()?;
    let path = &session.settings.path.get().schemas;
    let environment = Environment { catalog: session.snapshot, path, constants: &Reader(context) };
    let how = ViewText { pretty: false, wrap: 0, qualified: false, renamed: &[], now: None };
    Some(fitting(0, || printed_body(environment, context, routine, how)))
}

/// The same, in another way.
pub(super) fn printed_body(
    environment: Environment<'_>,
    context: &CallContext<'_>,
    routine: &Routine,
    how: ViewText<'_>,
) -> Result<String> {
    let Some(body) = &routine.standard else {
        return Err(SqlError::unsupported("the body of such a routine is"));
    };
    let (parsed, parameters) = (parse_body(body)?, Parameters::of(routine));
    let text = Positions::new(body);
    Ok(deparse::body_text(environment, context, &text, &parsed, &parameters, how)?.0)
}

/// The same of a view, in another way.
pub(super) fn printed_view(
    environment: Environment<'_>,
    context: &CallContext<'_>,
    view: &Relation,
    how: ViewText<'_>,
) -> Result<String> {
    let Some(query) = view.query() else {
        return Err(SqlError::unsupported("the query of what is not a view is"));
    };
    let live = view.columns.iter().filter(|column| !column.dropped);
    let columns: Vec<Arc<str>> = live.map(|column| Arc::clone(&column.name)).collect();
    deparse::view_text(environment, context, query, &columns, how)
}
