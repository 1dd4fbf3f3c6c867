//! What expressions in a schema change mean: bound by `bind`, printed as PostgreSQL would, evaluated by plans of their own.

use crate::bind::clause::{CHECK, GENERATED, INDEX_EXPRESSION, INDEX_PREDICATE};
use crate::bind::edges::{edges_of_expression, edges_of_query};
use crate::bind::kept::{self, Tree};
use crate::bind::logical::{Node, Output, Query};
use crate::bind::routine_body::Parameters;
use crate::bind::{self, Bound, BoundStatement, Constants, Expr, Literal, Wanted, deparse, levels};
use crate::catalog::definition::{Definition, Edge, Edges, Expression, ViewQuery};
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::routine::Routine;
use crate::catalog::sequence::SessionSequences;
use crate::catalog::{CatalogSnapshot, Index, IndexExpression, Relation, SearchPath};
use crate::ddl::{BoundView, DefaultValue, NewValue, RowFunction, Semantics};
use crate::engine::Engine;
use crate::error::{Notice, Result, SqlError};
use crate::exec::routine::Routines;
use crate::exec::temp_file::TempUse;
use crate::exec::{Host, Machine, Run};
use crate::parse::Positions;
use crate::parse::ast;
use crate::plan::fold::text_forms_are_stable;
use crate::prepared::{Basis, Known, Reader, planned};
use crate::queries::SessionCatalog;
use crate::queries::identity::Identity;
use crate::queries::running::RunningSettings;
use crate::session::facts::{Own, SessionFacts, Shared};
use crate::session::routine::aside::{Aside, Calls};
use crate::settings::session::Settings;
use crate::settings::value::FoundRole;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::tuple::row_id::SessionRowIds;
use crate::types::{CallContext, Datum, Oid, SqlType, oids};
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use txn::{AdvisoryLocks, Begin, SessionWait, TableLock};

/// Where a default stands, in messages.
const DEFAULT: &str = "DEFAULT expressions";

/// What gives expressions their meaning: the statement's text and the session's state.
pub(super) struct Meaning<'s> {
    pub text: Positions<'s>,
    pub path: SearchPath,
    pub settings: &'s Settings,
    pub identity: &'s Identity,
    pub engine: &'s Arc<Engine>,
    pub wait: &'s Arc<SessionWait>,
    pub arena: &'s Bump,
    pub random: &'s Cell<[u64; 2]>,
    pub sequences: &'s RefCell<SessionSequences>,
    pub started: i64,
    /// What functions ask of the session; none outside any.
    pub own: Option<Own<'s>>,
    /// What is told while expressions are evaluated.
    pub notices: RefCell<Vec<Notice>>,
}

/// Calls `body` with what stored expressions mean outside any session.
pub(crate) fn with_semantics<T>(
    engine: &Arc<Engine>,
    settings: &Settings,
    body: impl FnOnce(&dyn Semantics) -> T,
) -> T {
    let nobody = Identity {
        user: Oid(0),
        authenticated: FoundRole::NONE,
        user_name: "".into(),
        session_user: Oid(0),
        session_user_name: "".into(),
        confinement: None,
        database_name: "".into(),
        pid: 0,
    };
    body(&Meaning {
        text: "".into(),
        path: SearchPath {
            schemas: vec![crate::catalog::object::well_known::PG_CATALOG],
            ..SearchPath::default()
        },
        settings,
        identity: &nobody,
        engine,
        wait: &Arc::new(SessionWait::new(0)),
        arena: &Bump::new(),
        random: &Cell::new([1, 2]),
        sequences: &RefCell::default(),
        started: 0,
        own: None,
        notices: RefCell::default(),
    })
}

impl Meaning<'_> {
    fn with_context<T>(
        &self,
        snapshot: &CatalogSnapshot,
        body: impl FnOnce(&CallContext<'_>) -> T,
    ) -> T {
        self.with_queries(snapshot, |context, _| body(context))
    }

    fn with_queries<T>(
        &self,
        snapshot: &CatalogSnapshot,
        body: impl FnOnce(&CallContext<'_>, &SessionCatalog<'_>) -> T,
    ) -> T {
        let notices = RefCell::<Vec<Notice>>::default();
        self.with_catalog(snapshot, |_, queries| {
            let context = CallContext {
                arena: self.arena,
                settings: &self.settings.plain().values,
                transaction_time: self.started,
                statement_time: self.started,
                clock: &*self.engine.manager().environment().clock,
                catalog: queries,
                notices: &notices,
                random: self.random,
                time_read: None,
                constant: false,
            };
            body(&context, queries)
        })
    }

    /// Calls `body` with what names are resolved against.
    fn with_environment<T>(
        &self,
        snapshot: &CatalogSnapshot,
        body: impl FnOnce(bind::Environment<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_context(snapshot, |context| {
            let constants = &Reader(context);
            body(bind::Environment { catalog: snapshot, path: &self.path.schemas, constants })
        })
    }

    /// Calls `body` with the catalog as functions ask it, of a session that has no statements and cursors.
    fn with_catalog<T>(
        &self,
        snapshot: &CatalogSnapshot,
        body: impl FnOnce(&SessionFacts<'_>, &SessionCatalog<'_>) -> T,
    ) -> T {
        let (statements, portals) = (FxHashMap::default(), FxHashMap::default());
        let settings = RunningSettings::new(self.settings, &self.path, self.identity);
        let domains = RefCell::default();
        let advisory = RefCell::new(AdvisoryLocks::new(self.engine.manager(), self.wait));
        let asked = SessionFacts {
            engine: self.engine,
            statements: Shared::Plain(&statements),
            portals: Shared::Plain(&portals),
            unnamed: None,
            executed: None,
            domains: &domains,
            wait: self.wait,
            own: self.own.clone(),
        };
        let queries = SessionCatalog {
            snapshot,
            settings: &settings,
            demands_usage: false,
            engine: &asked,
            catalog: self.engine.catalog(),
            sequences: self.sequences,
            advisory: &advisory,
        };
        body(&asked, &queries)
    }

    fn bound<'t>(
        &self,
        snapshot: &CatalogSnapshot,
        text: impl Into<Positions<'t>>,
        expr: &ast::Expr,
        relation: Option<&Relation>,
        wanted: Wanted<'_>,
        clause: &'static str,
    ) -> Result<Expr> {
        let text: Positions<'_> = text.into();
        self.with_environment(snapshot, |environment| {
            bind::bind_expression(environment, text, expr, relation, wanted, clause)
        })
    }

    fn print(
        &self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        expr: &Expr,
    ) -> Result<Arc<str>> {
        self.with_context(snapshot, |context| {
            Ok(deparse::over_row(snapshot, (None, false), context, relation, expr)?.into())
        })
    }

    /// What is kept of an expression that stands over the columns of a relation, or over none.
    fn tree(
        &self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        expr: &ast::Expr,
        wanted: (Wanted<'_>, &'static str),
    ) -> Result<Expression> {
        let (tree, edges) = self.bound_tree(snapshot, relation, expr, wanted)?;
        kept::store(snapshot, relation, &tree, edges)
    }

    /// The same before it is stored, with what it depends on.
    fn bound_tree(
        &self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        expr: &ast::Expr,
        (wanted, clause): (Wanted<'_>, &'static str),
    ) -> Result<(Tree, Edges)> {
        let bound = self.with_environment(snapshot, |environment| {
            bind::bind_stored(environment, &self.text, expr, relation, wanted, clause)
        })?;
        let own = self.bound(snapshot, &self.text, expr, relation, Wanted::Written, clause)?;
        let edges_of = |expr: &Expr| edges_of_expression(snapshot, relation, expr);
        let edges = edges_of_both(&bound, &own, &edges_of);
        let tree = tree_of(bound, own, &|expr| {
            self.with_context(snapshot, |context| {
                deparse::over_row(snapshot, (None, false), context, relation, expr)
            })
        })?;
        Ok((tree, edges))
    }

    /// A function that evaluates an expression over a relation's live columns, with the privileges of `user` if there is one.
    fn row_function<'f>(
        &'f self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        mut expr: Expr,
        user: Option<Oid>,
    ) -> Result<RowFunction<'f>> {
        if let Some(relation) = relation {
            bind::know_table(&mut expr, relation);
        }
        let columns = relation.map_or(&[][..], |relation| &relation.columns);
        let live: Vec<usize> =
            (0..columns.len()).filter(|&number| !columns[number].dropped).collect();
        // The row's columns come as parameters, so the plan reads no table.
        levels::columns_of_expr(&mut expr, 0, &mut |column, _| {
            if let Expr::Column { column: place, ty, .. } = column {
                *column = Expr::Parameter(*place, *ty);
            }
        });
        let output = vec![Output { name: "value".into(), ty: expr.ty(), origin: None }];
        let root = Node::Project { input: Box::new(Node::Unit), columns: vec![expr] };
        let bound = Bound {
            statement: BoundStatement::Query(Query::new(root, output)),
            parameters: live.iter().map(|&number| columns[number].ty).collect(),
            required: Vec::new(),
            relations: Vec::new(),
            keys: Vec::new(),
            fields: Vec::new(),
            items: 0,
        };
        let basis = Basis {
            database: snapshot.database_oid(),
            state: snapshot.state(),
            path: self.path.schemas.as_slice().into(),
            reading: "".into(),
            growth: 0,
        };
        let manager = self.engine.manager();
        let planned = planned(&Known::plain(snapshot, manager), basis, bound)?;
        let mut machine = Machine::new(&planned.program);
        let mut transaction =
            self.engine.manager().begin(Begin { read_only: true, ..Begin::default() }, self.wait);
        let view = transaction.begin_statement()?;
        let role = user.and_then(|user| snapshot.shared().role_by_oid(user));
        let identity = match role {
            Some(role) => self.identity.restricted_to(role),
            None => self.identity.clone(),
        };
        let calls = machine.program().calls_routines.then(|| Calls {
            engine: self.engine,
            wait: self.wait,
            identity,
            settings: self.settings,
            notices: &self.notices,
            snapshot: snapshot.clone(),
            aside: Aside::default(),
        });
        let snapshot = snapshot.clone();
        let (mut row_ids, mut parameters) = (SessionRowIds::default(), RowBuf::new());
        let temp_used = TempUse::default();
        Ok(Box::new(move |row: &[Datum<'_>]| {
            parameters.clear();
            for &number in &live {
                parameters.push(row[number]);
            }
            machine.restart();
            let deferred = RefCell::default();
            let counts = SessionCounts::default();
            self.with_catalog(&snapshot, |asked, queries| {
                let host = Host {
                    settings: &queries.settings.plain,
                    catalog: queries,
                    system: queries,
                    cursors: asked,
                    clock: &*self.engine.manager().environment().clock,
                    transaction_time: self.started,
                    statement_time: self.started,
                    notices: &self.notices,
                    random: self.random,
                    row_ids: self.engine.row_ids(),
                    deferred: &deferred,
                    counts: &counts,
                    temp_used: &temp_used,
                    wait: self.wait,
                    routines: calls.as_ref().map(|calls| calls as &dyn Routines),
                };
                let mut run = Run {
                    transaction: &mut transaction,
                    view,
                    parameters: &parameters,
                    host: &host,
                    row_ids: &mut row_ids,
                };
                let mut result = RowBuf::new();
                if machine.next(&mut run)? {
                    let frame = machine.frame();
                    for var in &machine.program().output {
                        result.push(frame.get(*var));
                    }
                }
                Ok(result)
            })
        }))
    }
}

/// What an expression depends on that was bound as it is stored, and as it is written (`own`).
fn edges_of_both(bound: &Expr, own: &Expr, edges_of: &dyn Fn(&Expr) -> Vec<Edge>) -> Edges {
    let mut edges = edges_of(bound);
    edges.extend(edges_of(own));
    // The tree has the casts' functions.
    edges.retain(|edge| !matches!(edge, Edge::Cast(_)));
    Edges::new(edges)
}

/// The tree of an expression that was bound as it is stored, and as it is written (`own`); `print` says what either is shown
/// as.
fn tree_of(bound: Expr, own: Expr, print: &dyn Fn(&Expr) -> Result<String>) -> Result<Tree> {
    let written = shown(own, &bound);
    let text = print(&written)?;
    let tree = Tree { bound, written: None };
    let same = print(tree.shown()).is_ok_and(|shown| shown == text);
    Ok(Tree { written: (!same).then_some(written), ..tree })
}

/// What is shown of an expression that was bound as it is written (`own`) and to be assigned: the cast to the column's type is the
/// column's, unless nothing else gives the literal a type.
fn shown(own: Expr, bound: &Expr) -> Expr {
    let assigned = deparse::without_assignment(bound);
    match (&own, assigned) {
        _ if own.ty().oid.0 == oids::UNKNOWN => assigned.clone(),
        // The fields of a row that is assigned have the types of those that they become.
        (Expr::Row(_, ty, None), Expr::Row(fields, ..)) if ty.oid.0 == oids::RECORD => {
            Expr::Row(fields.clone(), *ty, None)
        }
        _ => own,
    }
}

/// What all rows have by a function that is the same for each.
fn constant(mut function: RowFunction<'_>) -> Result<NewValue<'static>> {
    Ok(NewValue::Constant(match function(&[])?.get(0) {
        Datum::Null => None,
        datum => {
            let mut bytes = Vec::new();
            crate::tuple::row::encode(datum, &mut bytes);
            Some(bytes.into())
        }
    }))
}

/// The columns by index that an expression over the live ones names.
fn named_columns(relation: &Relation, expr: &Expr) -> Vec<usize> {
    let live: Vec<usize> =
        (0..relation.columns.len()).filter(|&number| !relation.columns[number].dropped).collect();
    let mut columns = Vec::new();
    levels::columns_of_expr(&mut expr.clone(), 0, &mut |column, _| {
        if let Expr::Column { column, .. } = column
            && let Some(&number) = live.get(*column as usize)
            && !columns.contains(&number)
        {
            columns.push(number);
        }
    });
    columns
}

/// `text || anynonarray` and the other way round.
const ANY_TEXT_CAT: u32 = 2004;
const TEXT_ANY_CAT: u32 = 2003;

/// 42P17 for an expression whose value may be another one tomorrow.
fn demand_immutable(snapshot: &CatalogSnapshot, expr: &Expr, place: &str) -> Result<()> {
    let mutable = |part: &Expr| !works_alike(snapshot, part);
    let element = |part: &Expr| match part {
        Expr::ArrayCast { element, .. } => levels::any(element, &mutable),
        _ => false,
    };
    if levels::any(expr, &|part| mutable(part) || element(part)) {
        return Err(SqlError::new(
            SqlState::INVALID_OBJECT_DEFINITION,
            format!("functions in {place} must be marked IMMUTABLE"),
        ));
    }
    Ok(())
}

/// Whether what an expression itself does, its parts aside, depends on nothing but their values
/// (`contain_mutable_functions`).
fn works_alike(snapshot: &CatalogSnapshot, expr: &Expr) -> bool {
    let immutable = |function: u32| {
        let found = snapshot.procedure(Oid(function));
        found
            .is_some_and(|found| found.volatility == crate::catalog::builtin::Volatility::Immutable)
    };
    // A domain has the text form of the type that it stands on.
    let through_text = |from: SqlType, to: SqlType| {
        text_forms_are_stable(snapshot.base_type(from).oid, snapshot.base_type(to).oid)
    };
    match expr {
        Expr::CurrentValue(..) => false,
        Expr::Call { form: bind::CallForm::Routine(routine), .. } => routine.volatility == b'i',
        // They are as immutable as the output of the type that is joined to a text.
        Expr::Call { function: Oid(ANY_TEXT_CAT | TEXT_ANY_CAT), arguments, .. } => {
            let text = SqlType::plain(oids::TEXT);
            arguments.iter().all(|argument| through_text(argument.ty(), text))
        }
        Expr::Call { function, .. }
        | Expr::ScalarArray { function, .. }
        | Expr::IsDistinct { equals: function, .. }
        | Expr::NullIf { equals: function, .. } => immutable(function.0),
        Expr::ViaText(operand, ty) => through_text(operand.ty(), *ty),
        _ => true,
    }
}

impl Semantics for Meaning<'_> {
    fn type_of(&self, snapshot: &CatalogSnapshot, name: &ast::TypeName) -> Result<SqlType> {
        let at = self.text.of(name.name.at);
        let schema = name.name.schema().and_then(|schema| snapshot.schema(schema));
        // What the catalog keeps was asked of whoever wrote it.
        if let Some(schema) = schema.filter(|_| self.identity.user != Oid(0)) {
            snapshot.demand_usage(self.identity.user, schema).map_err(|error| error.at(at))?;
        }
        // PostgreSQL says of a column's type not where it is named.
        let placed = |error: SqlError| if name.of_column { error } else { error.at(at) };
        bind::type_name::resolve(snapshot, &self.path.schemas, name).map_err(placed)
    }

    fn default(
        &self,
        snapshot: &CatalogSnapshot,
        column: &str,
        ty: SqlType,
        expr: &ast::Expr,
    ) -> Result<DefaultValue> {
        let wanted = (Wanted::Default(ty, column), DEFAULT);
        let (tree, edges) = self.bound_tree(snapshot, None, expr, wanted)?;
        // With a modifier, which only an interval takes before it is read, or a domain it is not the constant alone.
        let is_null = matches!(&tree.bound, Expr::Constant(Literal::Null, is)
            if is.typmod < 0 || is.oid.0 == oids::INTERVAL);
        Ok(DefaultValue { value: kept::store(snapshot, None, &tree, edges)?, is_null })
    }

    fn parameter_default(
        &self,
        snapshot: &CatalogSnapshot,
        ty: SqlType,
        expr: &ast::Expr,
    ) -> Result<Expression> {
        self.tree(snapshot, None, expr, (Wanted::Default(ty, ""), DEFAULT))
    }

    fn next_value(
        &self,
        snapshot: &CatalogSnapshot,
        sequence: Oid,
        ty: SqlType,
    ) -> Result<Expression> {
        let tree = self.with_environment(snapshot, |environment| {
            kept::next_value(environment, sequence, ty)
        })?;
        kept::store(snapshot, None, &tree, Edges::new(vec![Edge::Relation(sequence, 0)]))
    }

    fn new_value<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        ty: SqlType,
        default: Option<&Expression>,
    ) -> Result<NewValue<'a>> {
        let bound = self.with_environment(snapshot, |environment| {
            kept::default_value(environment, ty, default)
        })?;
        let is_repeatable = levels::is_repeatable(&bound);
        let function = self.row_function(snapshot, None, bound, None)?;
        if is_repeatable { constant(function) } else { Ok(NewValue::Computed(function)) }
    }

    fn check(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &ast::Expr,
    ) -> Result<Expression> {
        let wanted = (Wanted::Condition("CHECK"), CHECK);
        self.tree(snapshot, Some(relation), expr, wanted)
    }

    fn text(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expression: &Expression,
    ) -> Result<Arc<str>> {
        self.print(
            snapshot,
            Some(relation),
            kept::open(snapshot, Some(relation), expression)?.shown(),
        )
    }

    fn generated(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        (ty, column): (SqlType, &str),
        expr: &ast::Expr,
    ) -> Result<Expression> {
        let bind = |wanted| {
            let bound =
                self.bound(snapshot, &self.text, expr, Some(relation), wanted, GENERATED)?;
            if demand_immutable(snapshot, &bound, "").is_err() {
                return Err(SqlError::new(
                    SqlState::INVALID_OBJECT_DEFINITION,
                    "generation expression is not immutable",
                ));
            }
            Ok(())
        };
        // That it is mutable is told before that its type does not fit the column.
        bind(Wanted::Anything)?;
        let wanted = Wanted::Default(ty, column);
        bind(wanted)?;
        self.tree(snapshot, Some(relation), expr, (wanted, GENERATED))
    }

    fn index_expression(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &ast::Expr,
    ) -> Result<IndexExpression> {
        let (clause, over) = (INDEX_EXPRESSION, Some(relation));
        let mut wanted = Wanted::Anything;
        let mut bound = self.bound(snapshot, &self.text, expr, over, wanted, clause)?;
        // An untyped literal would have been text.
        if bound.ty().oid.0 == oids::UNKNOWN {
            wanted = Wanted::Assignable(SqlType::plain(oids::TEXT), "expr");
            bound = self.bound(snapshot, &self.text, expr, over, wanted, clause)?;
        }
        demand_immutable(snapshot, &bound, "index expression")?;
        let value = self.tree(snapshot, over, expr, (wanted, clause))?;
        let ty = bound.ty();
        let collation = bind::collation_over(snapshot, relation, &bound)?;
        let name = bind::expression_name(expr);
        Ok(IndexExpression { value, name, ty, collation, statistics: None })
    }

    fn index_keys(&self, snapshot: &CatalogSnapshot, relation: &Relation, index: &Index) -> String {
        self.with_queries(snapshot, |context, queries| queries.keys_of(context, relation, index))
    }

    fn index_predicate(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &ast::Expr,
    ) -> Result<Expression> {
        let bound = self.bound(
            snapshot,
            &self.text,
            expr,
            Some(relation),
            Wanted::Anything,
            INDEX_PREDICATE,
        )?;
        if bound.ty().oid.0 != oids::BOOL {
            let name = crate::types::format_type(bound.ty().oid.0, None);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("argument of WHERE must be type boolean, not type {name}"),
            )
            .at(self.position(expr.start())));
        }
        demand_immutable(snapshot, &bound, "index predicate")?;
        self.tree(snapshot, Some(relation), expr, (Wanted::Anything, INDEX_PREDICATE))
    }

    fn domain_check(
        &self,
        snapshot: &CatalogSnapshot,
        base: SqlType,
        expr: &ast::Expr,
    ) -> Result<Expression> {
        let wanted = (Wanted::Condition("CHECK"), CHECK);
        self.tree(snapshot, Some(&bind::value_relation(base)), expr, wanted)
    }

    fn compute<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        user: Option<Oid>,
        expression: &Expression,
    ) -> Result<RowFunction<'a>> {
        let bound = self.with_environment(snapshot, |environment| {
            kept::bound(environment, Some(relation), expression)
        })?;
        self.row_function(snapshot, Some(relation), bound, user)
    }

    fn conversion<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        column: usize,
        to: SqlType,
        using: Option<&ast::Expr>,
    ) -> Result<Option<RowFunction<'a>>> {
        let bound = self.with_environment(snapshot, |environment| {
            bind::bind_conversion(environment, &self.text, using, relation, column, to)
        })?;
        bound.map(|expr| self.row_function(snapshot, Some(relation), expr, None)).transpose()
    }

    fn columns_of(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        text: &str,
    ) -> Result<Vec<usize>> {
        let parsed = crate::parse::parse_expression(text)?;
        let bound = self.bound(snapshot, text, &parsed, Some(relation), Wanted::Anything, CHECK)?;
        Ok(named_columns(relation, &bound))
    }

    fn trigger_condition(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        kind: i16,
        expr: &ast::Expr,
    ) -> Result<Expression> {
        let (bound, own) = self.with_environment(snapshot, |environment| {
            bind::trigger::condition(environment, &self.text, expr, relation, kind)
        })?;
        let edges_of = |expr: &Expr| bind::trigger::edges(snapshot, relation, expr);
        let edges = edges_of_both(&bound, &own, &edges_of);
        let tree = tree_of(bound, own, &|expr| {
            self.with_context(snapshot, |context| {
                deparse::over_old_and_new(snapshot, (None, false), context, relation, expr)
            })
        })?;
        kept::store_condition(snapshot, relation, &tree, edges)
    }

    fn timestamp(&self, text: &str) -> Result<Option<i64>> {
        let snapshot = self.engine.any_snapshot();
        self.with_context(&snapshot, |context| {
            match Reader(context).read(SqlType::plain(bind::type_name::oid::TIMESTAMPTZ), text)? {
                Literal::TimestampTz(i64::MAX) => Ok(None),
                Literal::TimestampTz(micros) => Ok(Some(micros)),
                _ => Ok(None),
            }
        })
    }

    fn position(&self, at: u32) -> u32 {
        self.text.of(at)
    }

    fn unfit_for_check(
        &self,
        snapshot: &CatalogSnapshot,
        query: &ViewQuery,
    ) -> Result<Option<&'static str>> {
        self.with_environment(snapshot, |environment| bind::unfit_for_check(environment, query))
    }

    fn named(&self, snapshot: &CatalogSnapshot, query: &ast::Query) -> Vec<(Oid, TableLock)> {
        let named = self.with_environment(snapshot, |environment| {
            let statement = ast::Statement::Query(Box::new(query.clone()));
            Ok(bind::named_relations(environment, &self.text, &statement, &[]))
        });
        named.unwrap_or_default()
    }

    fn routine_body(
        &self,
        snapshot: &CatalogSnapshot,
        body: &ast::StandardBody,
        parameters: &Parameters,
    ) -> Result<Definition> {
        let how =
            deparse::ViewText { pretty: false, wrap: 0, qualified: true, renamed: &[], now: None };
        self.with_context(snapshot, |context| {
            let environment = bind::Environment {
                catalog: snapshot,
                path: &self.path.schemas,
                constants: &Reader(context),
            };
            let (asker, text) = (self.identity.user, &self.text);
            let mut edges = deparse::body_edges(environment, asker, text, body, parameters)?;
            let (text, named) =
                deparse::body_text(environment, context, text, body, parameters, how)?;
            edges.extend(named);
            Ok(Definition::new(text.into(), edges))
        })
    }

    fn reworded_body(
        &self,
        snapshot: &CatalogSnapshot,
        now: &CatalogSnapshot,
        routine: &Routine,
        renamed: &[Relation],
    ) -> Result<Arc<str>> {
        let how =
            deparse::ViewText { pretty: false, wrap: 0, qualified: true, renamed, now: Some(now) };
        self.with_environment(snapshot, |environment| {
            self.with_context(now, |context| {
                super::definitions::printed_body(environment, context, routine, how)
            })
        })
        .map(Arc::from)
    }

    fn view(
        &self,
        snapshot: &CatalogSnapshot,
        query: &ast::Query,
        refusal: &str,
    ) -> Result<BoundView> {
        let bound = self.with_environment(snapshot, |environment| {
            let statement = ast::Statement::Query(Box::new(query.clone()));
            bind::bind_named_for(environment, self.identity.user, &self.text, &statement)
        });
        // A view has no parameters: with one its query has a type to find, or has found one.
        let has_parameters = match &bound {
            Ok(bound) => !bound.parameters.is_empty(),
            Err(error) => error.state() == SqlState::INDETERMINATE_DATATYPE,
        };
        if has_parameters
            && let Some((number, at)) =
                crate::parse::first_parameter(&self.text.text()[query.at as usize..])
        {
            let message = format!("there is no parameter ${number}");
            let error = SqlError::new(SqlState::UNDEFINED_PARAMETER, message);
            return Err(error.at(self.position(query.at + at)));
        }
        let bound = bound?;
        bind::may_use_schemas(&bound.required, snapshot, self.identity.user)?;
        if crate::ddl::view::modifies(query) {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, refusal));
        }
        let relations: Vec<Oid> = bound.relations.iter().map(|(relation, _)| *relation).collect();
        let mut edges = edges_of_query(snapshot, &bound);
        let BoundStatement::Query(bound) = bound.statement else {
            return Err(crate::error::SqlError::unsupported("a view of this statement is"));
        };
        let columns: Vec<(Arc<str>, SqlType)> =
            bound.output.iter().map(|column| (Arc::clone(&column.name), column.ty)).collect();
        let collations = bind::collations(snapshot, &bound)?;
        // The tree has the casts' functions.
        edges.retain(|edge| !matches!(edge, Edge::Cast(_)));
        let query = self.with_environment(snapshot, |environment| {
            kept::store_view(environment, &self.text, query, edges)
        })?;
        Ok(BoundView { query, columns, collations, relations })
    }
}
