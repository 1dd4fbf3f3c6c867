//! What expressions in a schema change mean: bound by `bind`, printed as PostgreSQL would, evaluated by plans of their own.

use crate::bind::{self, Bound, BoundStatement, Constants, Expr, Literal, deparse, levels};
use crate::catalog::queries::SessionCatalog;
use crate::catalog::{CatalogSnapshot, Relation, SearchPath};
use crate::ddl::{BoundText, DefaultValue, RowFunction, Semantics, ViewQuery};
use crate::engine::Engine;
use crate::error::{Notice, Result};
use crate::exec::{Host, Machine};
use crate::parse::ast;
use crate::plan::logical::{Node, Output, Query};
use crate::session::Identity;
use crate::session::run::Asked;
use crate::session::statement::{Basis, Known, Reader, planned};
use crate::settings::session::Settings;
use crate::tuple::RowBuf;
use crate::tuple::row_id::SessionRowIds;
use crate::types::{CallContext, Datum, Oid, SessionFacts, SqlType, oids};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use txn::{Begin, SessionWait};

/// What gives expressions their meaning: the statement's text and the session's state.
pub(super) struct Meaning<'s> {
    pub text: &'s str,
    pub path: Vec<Oid>,
    pub settings: &'s Settings,
    pub identity: &'s Identity,
    pub engine: &'s Arc<Engine>,
    pub wait: &'s Arc<SessionWait>,
    pub arena: &'s Bump,
    pub random: &'s Cell<[u64; 2]>,
    pub started: i64,
}

impl Meaning<'_> {
    fn search_path(&self) -> SearchPath {
        SearchPath { schemas: self.path.clone(), ..SearchPath::default() }
    }

    fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            database: &self.identity.database_name,
            user: &self.identity.user_name,
            session_user: &self.identity.session_user_name,
            pid: self.wait.pid,
        }
    }

    fn with_context<T>(
        &self,
        snapshot: &CatalogSnapshot,
        body: impl FnOnce(&CallContext<'_>) -> Result<T>,
    ) -> Result<T> {
        let environment = self.engine.manager().environment();
        let (path, notices) = (self.search_path(), RefCell::<Vec<Notice>>::default());
        let (statements, sequences, set_configs) =
            (HashMap::new(), RefCell::default(), RefCell::default());
        let asked = Asked { engine: self.engine, statements: &statements };
        let queries = SessionCatalog {
            snapshot,
            path: &path,
            settings: self.settings,
            facts: self.facts(),
            user: self.identity.user,
            engine: &asked,
            catalog: self.engine.catalog(),
            sequences: &sequences,
            set_configs: &set_configs,
        };
        body(&CallContext {
            arena: self.arena,
            settings: self.settings.plain(),
            transaction_time: self.started,
            statement_time: self.started,
            clock: &*environment.clock,
            catalog: &queries,
            notices: &notices,
            random: self.random,
        })
    }

    fn bound(
        &self,
        snapshot: &CatalogSnapshot,
        text: &str,
        expr: &ast::Expr,
        relation: Option<&Relation>,
        wanted: Option<(SqlType, &str)>,
        clause: &'static str,
    ) -> Result<Expr> {
        self.with_context(snapshot, |context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: snapshot, path: &self.path, constants: &reader };
            bind::bind_expression(environment, text, expr, relation, wanted, clause)
        })
    }

    fn print(
        &self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        expr: &Expr,
    ) -> Result<Arc<str>> {
        let names = relation.map(live_names).unwrap_or_default();
        self.with_context(snapshot, |context| {
            let column =
                |place: u32| names.get(place as usize).map(ToString::to_string).unwrap_or_default();
            let printer = deparse::Printer { catalog: snapshot, context, column: &column };
            Ok(deparse::expression(&printer, expr)?.into())
        })
    }

    /// A function that evaluates an expression over a relation's live columns.
    fn row_function<'f>(
        &'f self,
        snapshot: &CatalogSnapshot,
        relation: Option<&Relation>,
        mut expr: Expr,
    ) -> Result<RowFunction<'f>> {
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
            statement: BoundStatement::Query(Query { root, output, ctes: Vec::new() }),
            parameters: live.iter().map(|&number| columns[number].ty).collect(),
            required: Vec::new(),
            relations: Vec::new(),
        };
        let basis =
            Basis { version: (0, 0), path: self.path.as_slice().into(), reading: "".into() };
        let manager = self.engine.manager();
        let planned = planned(&Known { snapshot, constants: None, manager }, basis, bound)?;
        let mut machine = Machine::new(&planned.program);
        let mut transaction =
            self.engine.manager().begin(Begin { read_only: true, ..Begin::default() }, self.wait);
        let view = transaction.begin_statement()?;
        let snapshot = snapshot.clone();
        let (mut row_ids, mut parameters) = (SessionRowIds::default(), RowBuf::new());
        Ok(Box::new(move |row: &[Datum<'_>]| {
            parameters.clear();
            for &number in &live {
                parameters.push(row[number]);
            }
            let environment = self.engine.manager().environment();
            let (path, notices, statements) =
                (self.search_path(), RefCell::default(), HashMap::new());
            let (sequences, set_configs) = (RefCell::default(), RefCell::default());
            let asked = Asked { engine: self.engine, statements: &statements };
            let queries = SessionCatalog {
                snapshot: &snapshot,
                path: &path,
                settings: self.settings,
                facts: self.facts(),
                user: self.identity.user,
                engine: &asked,
                catalog: self.engine.catalog(),
                sequences: &sequences,
                set_configs: &set_configs,
            };
            let host = Host {
                settings: self.settings.plain(),
                catalog: &queries,
                system: &queries,
                clock: &*environment.clock,
                transaction_time: self.started,
                statement_time: self.started,
                notices: &notices,
                random: self.random,
                row_ids: self.engine.row_ids(),
                wait: self.wait,
            };
            machine.restart();
            let mut result = RowBuf::new();
            if machine.next(&mut transaction, view, &parameters, &host, &mut row_ids)? {
                let frame = machine.frame();
                for var in &machine.program().output {
                    result.push(frame.get(*var));
                }
            }
            Ok(result)
        }))
    }
}

/// The names of a relation's live columns.
fn live_names(relation: &Relation) -> Vec<Arc<str>> {
    relation
        .columns
        .iter()
        .filter(|column| !column.dropped)
        .map(|column| Arc::clone(&column.name))
        .collect()
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

/// Whether a value is the same for every row: no function in it is volatile.
fn is_constant(expr: &Expr) -> bool {
    let mut constant = !matches!(expr, Expr::Subquery { .. });
    if let Expr::Call { function, .. } = expr {
        constant &= crate::catalog::builtin::function(function.0)
            .is_some_and(|found| found.volatility != crate::catalog::builtin::Volatility::Volatile);
    }
    levels::children(&mut expr.clone(), &mut |child| constant &= is_constant(child));
    constant
}

impl Semantics for Meaning<'_> {
    fn type_of(&self, snapshot: &CatalogSnapshot, name: &ast::TypeName) -> Result<SqlType> {
        let at = crate::parse::Positions::new(self.text).of(name.name.at);
        bind::type_name::resolve(snapshot, &self.path, name).map_err(|error| error.at(at))
    }

    fn default(
        &self,
        snapshot: &CatalogSnapshot,
        column: &str,
        ty: SqlType,
        expr: &ast::Expr,
    ) -> Result<DefaultValue> {
        let bound =
            self.bound(snapshot, self.text, expr, None, Some((ty, column)), "DEFAULT expressions")?;
        // The cast to the column's type is the column's, not the text's, unless nothing else gives the literal a type.
        let own = self.bound(snapshot, self.text, expr, None, None, "DEFAULT expressions")?;
        let untyped = own.ty().oid.0 == oids::UNKNOWN;
        let text = self.print(snapshot, None, if untyped { &bound } else { &own })?;
        let constant = if is_constant(&bound) {
            let value = self.row_function(snapshot, None, bound)?(&[])?;
            Some(match value.get(0) {
                Datum::Null => None,
                datum => {
                    let mut bytes = Vec::new();
                    crate::tuple::row::encode(datum, &mut bytes);
                    Some(bytes.into())
                }
            })
        } else {
            None
        };
        Ok(DefaultValue { text, constant })
    }

    fn over_columns(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        ty: SqlType,
        expr: &ast::Expr,
    ) -> Result<BoundText> {
        let wanted = (ty.oid.0 != bind::type_name::oid::BOOL).then_some((ty, "generated"));
        let bound =
            self.bound(snapshot, self.text, expr, Some(relation), wanted, "check constraints")?;
        let text = self.print(snapshot, Some(relation), &bound)?;
        Ok(BoundText { text, columns: named_columns(relation, &bound) })
    }

    fn evaluate<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        ty: SqlType,
        text: &str,
    ) -> Result<RowFunction<'a>> {
        let parsed = crate::parse::parse_expression(text)?;
        let bound = self.bound(
            snapshot,
            text,
            &parsed,
            Some(relation),
            Some((ty, "value")),
            "check constraints",
        )?;
        self.row_function(snapshot, Some(relation), bound)
    }

    fn conversion<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        column: usize,
        to: SqlType,
        using: Option<&ast::Expr>,
    ) -> Result<Option<RowFunction<'a>>> {
        let bound = self.with_context(snapshot, |context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: snapshot, path: &self.path, constants: &reader };
            bind::bind_conversion(environment, self.text, using, relation, column, to)
        })?;
        bound.map(|expr| self.row_function(snapshot, Some(relation), expr)).transpose()
    }

    fn columns_of(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        text: &str,
    ) -> Result<Vec<usize>> {
        let parsed = crate::parse::parse_expression(text)?;
        let bound =
            self.bound(snapshot, text, &parsed, Some(relation), None, "check constraints")?;
        Ok(named_columns(relation, &bound))
    }

    fn reprint(
        &self,
        snapshot: &CatalogSnapshot,
        before: &Relation,
        after: &mut Relation,
    ) -> Result<()> {
        let again = |text: &str, after: &Relation| -> Result<Arc<str>> {
            let parsed = crate::parse::parse_expression(text)?;
            let bound =
                self.bound(snapshot, text, &parsed, Some(before), None, "check constraints")?;
            self.print(snapshot, Some(after), &bound)
        };
        let names = after.clone();
        for constraint in &mut after.constraints {
            if let crate::catalog::ConstraintKind::Check(text) = &mut constraint.kind {
                *text = again(text, &names)?;
            }
        }
        for column in after.columns.iter_mut().filter(|column| column.generated && !column.dropped)
        {
            if let Some(text) = &mut column.default {
                *text = again(text, &names)?;
            }
        }
        Ok(())
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

    fn view(&self, snapshot: &CatalogSnapshot, query: &ast::Query) -> Result<ViewQuery> {
        let bound = self.with_context(snapshot, |context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: snapshot, path: &self.path, constants: &reader };
            let statement = ast::Statement::Query(Box::new(query.clone()));
            bind::bind(environment, self.text, &statement, &[])
        })?;
        let BoundStatement::Query(bound) = bound.statement else {
            return Err(crate::error::SqlError::unsupported("a view of this statement is"));
        };
        let columns =
            bound.output.iter().map(|column| (Arc::clone(&column.name), column.ty)).collect();
        let text = self.text[query.at as usize..].trim_end().trim_end_matches(';').trim_end();
        Ok(ViewQuery { text: text.into(), columns })
    }
}
