//! CREATE TABLE AS, SELECT INTO, CREATE and REFRESH MATERIALIZED VIEW: a query's rows become a table's.
//!
//! The query is bound before the table is in the catalog, so that it never means the table it makes; then it runs as an
//! INSERT of its rows, which are loaded past write set and log, because nobody else can see the table's trees.

use crate::bind::logical::{ComputedIndex, Modify, ModifyKind, Node, Query};
use crate::bind::{self, Bound, BoundStatement, levels};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::ViewQuery;
use crate::catalog::relation::Relation;
use crate::compile::Program;
use crate::ddl::create_as;
use crate::error::{Result, SqlError};
use crate::exec::Machine;
use crate::exec::probe::Probes;
use crate::exec::sink::RowSink;
use crate::message::{CommandTag, Progress, REFRESH, Told};
use crate::parse::Statement;
use crate::parse::ast::{self, CreateTableAs};
use crate::prepared::{Basis, Known, Prepared, Reader, planned};
use crate::session::Session;
use crate::session::portal::Portal;
use crate::session::utility::{Outcome, check_parameter_count};
use crate::source::Source;

use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Oid, SqlType};
use std::cell::RefCell;
use std::sync::Arc;

/// A query whose rows are stored: what it says, and its parameters.
struct Stored {
    source: Arc<Source>,
    /// It is that of a materialized view.
    view: Option<ViewQuery>,
    types: Vec<Oid>,
    parameters: RowBuf,
}

/// How EXPLAIN ANALYZE looks on.
pub(super) struct Watch<'p> {
    pub(super) probes: &'p Probes,
    /// What has run: an INSERT of the query's rows.
    pub(super) program: Option<Arc<Program>>,
    /// Whether there is a table now that was not there before.
    pub(super) made: bool,
}

impl Session {
    /// The query of CREATE TABLE AS, made ready: for its parameters, and for what is wrong with it.
    pub(super) fn stored_query(
        &mut self,
        parsed: &Arc<Source>,
        create: &CreateTableAs,
        parameter_types: &[Oid],
    ) -> Result<Arc<Prepared>> {
        match &create.query {
            Statement::Execute(execute) => self.named_statement(&execute.name),
            query => {
                let prepared = self.prepare(Arc::new(parsed.within(query)), parameter_types)?;
                // Of variables it is seen which ones the query names, once it is bound.
                let given = !prepared.parameters.is_empty() && parsed.variables().is_none();
                if create.materialized && given {
                    return Err(takes_parameters());
                }
                Ok(prepared)
            }
        }
    }

    /// CREATE TABLE AS.
    pub(super) fn create_table_as(
        &mut self,
        parsed: &Arc<Source>,
        create: &CreateTableAs,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<Outcome> {
        let stored = self.stored(parsed, create, portal)?;
        let (bound, _) = self.bind_held(&stored)?;
        if create.materialized
            && let BoundStatement::Query(query) = &bound.statement
            && levels::takes_parameters(query)
        {
            return Err(takes_parameters());
        }
        let made = self.with_ddl(parsed.query_text(), |ddl| {
            let (output, collations) = output(&ddl.snapshot(), &bound)?;
            create_as::table_for(ddl, create, &output, &collations)
        })?;
        let skipped =
            if create.materialized { "CREATE MATERIALIZED VIEW" } else { "CREATE TABLE AS" };
        let Some(relation) = made else {
            return Ok(Outcome::Done(CommandTag { words: skipped, rows: None }));
        };
        if let Some(watch) = watch.as_deref_mut() {
            watch.made = true;
        }
        if !create.with_data {
            self.with_ddl("", |ddl| ddl.put_made(relation))?;
            // A prepared statement is run, for no rows.
            return Ok(Outcome::Done(match create.query {
                Statement::Execute(_) => CommandTag { words: "SELECT", rows: Some(0) },
                _ => CommandTag { words: skipped, rows: None },
            }));
        }
        // EXPLAIN ANALYZE runs the query as any other.
        let tag = if create.materialized && watch.is_none() {
            self.restricted(self.identity.user, |session| {
                session.fill(stored, (relation, true), portal, sink, None)
            })?
        } else {
            self.fill(stored, (relation, true), portal, sink, watch)?
        };
        Ok(Outcome::Done(CommandTag { words: "SELECT", ..tag }))
    }

    /// REFRESH MATERIALIZED VIEW.
    pub(super) fn refresh(
        &mut self,
        parsed: &Arc<Source>,
        refresh: &ast::Refresh,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        const TAG: CommandTag = CommandTag { words: REFRESH, rows: None };
        let ast::Refresh { name, concurrently, with_data } = refresh;
        let (old, next) = self.with_ddl(parsed.query_text(), |ddl| {
            create_as::refreshed(ddl, name, *concurrently, *with_data)
        })?;
        if !with_data {
            self.with_ddl("", |ddl| ddl.put_made(next))?;
            return Ok(Outcome::Done(TAG));
        }
        if *concurrently {
            self.with_ddl("", |ddl| ddl.delete_rows(&old))?;
        }
        let source = Arc::new(Source::empty(&"".into()));
        let view = next.query().cloned();
        let stored = Stored { source, view, types: Vec::new(), parameters: RowBuf::new() };
        let filled = self.restricted(next.owner, |session| {
            session
                .fill(stored, (next, !concurrently), portal, sink, None)
                .map_err(|error| if *concurrently { error } else { of_index_build(error) })
        })?;
        Ok(Outcome::Done(CommandTag { rows: filled.rows, ..TAG }))
    }

    /// What a statement stores, with the values of its parameters.
    fn stored(
        &mut self,
        parsed: &Arc<Source>,
        create: &CreateTableAs,
        portal: &mut Portal,
    ) -> Result<Stored> {
        let prepared = self.stored_query(parsed, create, &portal.prepared.parameters)?;
        let parameters = match &create.query {
            Statement::Execute(execute) => {
                check_parameter_count(&prepared, execute)?;
                self.evaluate(parsed.query_text(), &execute.parameters, &prepared.parameters)?
            }
            _ => portal.parameters.clone(),
        };
        let source = Arc::clone(&prepared.parsed);
        if !matches!(source.statement(), Some(Statement::Query(_))) {
            let state = SqlState::WRONG_OBJECT_TYPE;
            return Err(SqlError::new(state, "prepared statement is not a SELECT"));
        }
        Ok(Stored { source, view: None, types: prepared.parameters.clone(), parameters })
    }

    /// Binds a query in the catalog as it is now.
    fn bind_stored(&mut self, stored: &Stored) -> Result<(Bound, Basis)> {
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        if let Some(view) = &stored.view {
            let bound = self.with_context(|context| {
                crate::parse::depth::fitting(0, || {
                    let (path, constants) = (&basis.path, &Reader(context));
                    let environment = bind::Environment { catalog: &snapshot, path, constants };
                    bind::bind_view_query(environment, view)
                })
            })?;
            return Ok((bound, basis));
        }
        let source = Arc::clone(&stored.source);
        let statement = source.statement().filter(|statement| statement.is_planned());
        let statement = statement.ok_or_else(|| SqlError::unsupported("this query is"))?;
        let user = self.identity.user;
        let bound = self.with_context(|context| {
            crate::parse::depth::fitting(source.height(), || {
                let reader = Reader(context);
                let environment =
                    bind::Environment { catalog: &snapshot, path: &basis.path, constants: &reader };
                let places = source.places();
                match source.variables() {
                    Some(seen) => bind::bind_within(environment, user, places, statement, seen),
                    None => bind::bind_for(environment, user, places, statement, &stored.types),
                }
            })
        })?;
        Ok((bound, basis))
    }

    /// The same with the relations that it reads locked: what was bound is what is locked, and what the view will show.
    fn bind_held(&mut self, stored: &Stored) -> Result<(Bound, Basis)> {
        loop {
            let (bound, basis) = self.bind_stored(stored)?;
            self.lock_relations(&bound.relations)?;
            if *self.basis() == basis {
                return Ok((bound, basis));
            }
        }
    }

    /// Runs a query into a relation; one that is `new`, so that only this transaction knows it, is put in the catalog first.
    fn fill(
        &mut self,
        stored: Stored,
        (relation, new): (Relation, bool),
        portal: &mut Portal,
        sink: &mut dyn RowSink,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<CommandTag> {
        let shared = Arc::new(relation.clone());
        let mut inner = loop {
            let (bound, basis) = self.bind_held(&stored)?;
            let planned = self.plan_insert(bound, basis, &shared)?;
            let watched = watch.as_deref_mut().map(|watch| {
                watch.program = Some(Arc::clone(&planned.program));
                Box::new(Machine::watched(&planned.program, watch.probes))
            });
            let mut inner = Portal::new(Arc::new(Prepared {
                text: Arc::clone(&portal.prepared.text),
                parsed: Arc::clone(&stored.source),
                parameters: stored.types.clone(),
                columns: None,
                told: Told::default(),
                planned: Some(Arc::new(planned)),
            }));
            inner.machine = watched;
            self.start_held(&mut inner)?;
            if self.catalog.is_current() {
                break inner;
            }
        };
        if new {
            self.with_ddl("", |ddl| ddl.put_made(relation))?;
        }
        inner.parameters = stored.parameters;
        let progress = self.run_inner(&mut inner, sink)?;
        let Progress::Complete(tag) = progress else {
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, "an insert has been suspended"));
        };
        Ok(tag)
    }

    /// The plan that inserts a query's rows.
    fn plan_insert(
        &mut self,
        bound: Bound,
        basis: Basis,
        relation: &Arc<Relation>,
    ) -> Result<crate::prepared::Planned> {
        let BoundStatement::Query(query) = bound.statement else {
            return Err(SqlError::unsupported("storing the rows of this statement is"));
        };
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let engine = Arc::clone(&self.engine);
        let (methods, dialect) = (self.settings.plain().methods, self.settings.plain().dialect);
        self.with_context(|context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: &snapshot, path: &basis.path, constants: &reader };
            let computed = bind::computed_indexes(environment, relation)?;
            let statement = BoundStatement::Modify(insert_of(query, relation, computed));
            let mut bound = Bound { statement, ..bound };
            bind::inline_routines(environment, dialect, methods.rules, &mut bound);
            let manager = engine.manager();
            let sizes = RefCell::default();
            let known = Known {
                constants: Some(&reader),
                methods,
                sizes,
                ..Known::plain(&snapshot, manager)
            };
            planned(&known, basis, bound)
        })
    }
}

/// 0A000: what a materialized view shows is kept, and asked again.
fn takes_parameters() -> SqlError {
    let message = "materialized views may not be defined using bound parameters";
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// 23505 as it is told where an index is built anew, which is what REFRESH does to a relation's indexes.
fn of_index_build(error: SqlError) -> SqlError {
    let fields = error.fields();
    let (Some(index), Some(detail)) = (&fields.constraint, &fields.detail) else { return error };
    if error.state() != SqlState::UNIQUE_VIOLATION {
        return error;
    }
    let detail = detail.replace(" already exists.", " is duplicated.");
    let message = format!("could not create unique index \"{index}\"");
    let (schema, table) = (fields.schema.clone(), fields.table.clone());
    let told = SqlError::new(SqlState::UNIQUE_VIOLATION, message).detail(detail);
    let told = told.constraint(index.to_string());
    match (schema, table) {
        (Some(schema), Some(table)) => told.table(schema, table),
        _ => told,
    }
}

/// The names and types of a query's columns, and their collations.
fn output(
    catalog: &CatalogSnapshot,
    bound: &Bound,
) -> Result<(Vec<(Arc<str>, SqlType)>, Vec<Oid>)> {
    let BoundStatement::Query(query) = &bound.statement else {
        return Err(SqlError::unsupported("storing the rows of this statement is"));
    };
    let columns = query.output.iter().map(|column| (Arc::clone(&column.name), column.ty));
    Ok((columns.collect(), bind::collations(catalog, query)?))
}

/// INSERT of all a query's columns.
fn insert_of(query: Query, relation: &Arc<Relation>, computed: Vec<ComputedIndex>) -> Modify {
    let columns = query.output.iter().enumerate();
    let columns = columns.map(|(at, column)| bind::scope::column_at(at, column.ty)).collect();
    let input = Box::new(Node::Derived {
        query: Arc::new(query),
        alias: "*SELECT*".into(),
        item: None,
        view: None,
    });
    Modify {
        named: Vec::new(),
        relation: Arc::clone(relation),
        alias: Arc::clone(&relation.name),
        kind: ModifyKind::Insert {
            source: Box::new(Node::Project { input, columns }),
            on_conflict: None,
            system: Vec::new(),
        },
        returning: None,
        ctes: Vec::new(),
        checks: Vec::new(),
        view_checks: Vec::new(),
        generated: Vec::new(),
        computed,
        actions: Vec::new(),
    }
}
