//! Names and types resolved: a statement's syntax becomes a typed tree, by PostgreSQL's own rules for names, unknown
//! literals, overloads and implicit casts (manual, chapter 10), driven by the catalog's data.
//!
//! - [`typed`]: what expressions become; [`logical`] what queries become
//! - [`scope`]: what names stand for; [`type_name`]: types by name and back
//! - [`coerce`] and [`overload`]: casts, operators, functions
//! - `expression`: every kind of expression; those with rules of their own in `names`, `operator`, `subquery`, `array`,
//!   `call`, `grouping` (aggregates and windows)
//! - [`tree`]: what queries were written as, for print; `query`: queries, with a body that `select`, `values` or `set_operation` binds; their clauses in `from`, `join`, `with`,
//!   `target`, `grouping`, `order_by`, `limit`, `locking`
//! - `dml`, `insert`, `merge`, `copy`: the other statements
//! - `required`: what whoever runs a statement must be allowed; [`levels`]: walks over what was bound

mod aggregate;
mod array;
mod assign;
mod call;
pub mod clause;
mod coerce;
mod collation;
mod computed;
mod copy;
pub mod deparse;
pub mod dml;
pub mod edges;
mod expression;
mod from;
#[cfg(test)]
mod golden;
mod grouping;
mod grouping_sets;
mod inline;
mod inline_made;
mod insert;
mod join;
pub mod kept;
mod left_out;
pub mod levels;
mod limit;
mod literal_rows;
mod locking;
pub mod logical;
mod made_aggregate;
mod mention;
mod merge;
mod names;
mod operator;
mod order_by;
mod overload;
mod query;
mod query_collation;
mod referential;
mod required;
pub mod routine_body;
mod same_query;
mod sample;
pub mod scope;
mod search_cycle;
mod select;
mod set_calls;
mod set_operation;
mod shape;
mod similar;
mod subquery;
mod target;
mod through;
pub mod tree;
pub mod trigger;
pub mod type_name;
pub mod typed;
mod updatable;
mod values;
mod variables;
mod with;
mod with_parts;
mod xml;

pub use coerce::is_polymorphic;
pub use collation::collation_over;
pub use copy::bind_copy;
pub use inline_made::{inline_routines, may_be_inlined};
pub use locking::lock_words;
pub use query_collation::collations;
pub use required::{Holder, Required, may_use_schemas};
pub use subquery::compared_row;
pub use typed::{AggregateCall, CallForm, Expr, Literal, MadeAggregate, Quantifier, SubqueryKind};
pub use updatable::{simple_columns, unfit_for_check};
pub use variables::{
    Variable, VariableConflict, Variables, bind_within, may_assign, names_table, no_field,
};

use crate::bind::logical::{ComputedIndex, Modify, Query, TARGET};
use crate::catalog::definition::ViewQuery;
use crate::catalog::object::Version;
use crate::catalog::relation::ReplicaIdentity;
use crate::catalog::routine::Routine;
use crate::catalog::system_column::{SYSTEM_COLUMNS, TABLE_OID, system_column};
use crate::catalog::{CatalogSnapshot, Column, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::{Positions, ast};
use crate::sqlstate::SqlState;
use crate::tuple::RowWriter;
use crate::types::depth::deeper;
use crate::types::{Datum, Oid, SqlType};
use expression::Place;
use scope::{Scope, ScopeColumn, ScopeItem, Source, column_at};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use txn::TableLock;
use type_name::{format_type_be, oid};

/// Reads the text of a literal as a value of a type: the input functions.
pub trait Constants {
    /// The value.
    ///
    /// # Errors
    /// 22P02 and its kin.
    fn read(&self, ty: SqlType, text: &str) -> Result<Literal>;

    /// Reads a value to the end of a row. Where it cannot, it leaves NULL there.
    ///
    /// # Errors
    /// As [`Constants::read`].
    fn push(&self, ty: SqlType, text: &str, into: &mut RowWriter<'_>) -> Result<()> {
        let read = self.read(ty, text);
        into.push(read.as_ref().map_or(Datum::Null, Literal::datum));
        read.map(|_| ())
    }
}

/// What names are resolved against.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The catalog as the statement's transaction sees it.
    pub catalog: &'a CatalogSnapshot,
    /// The schemas that unqualified names are looked up in.
    pub path: &'a [Oid],
    /// Reads literals.
    pub constants: &'a dyn Constants,
}

/// A bound statement.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What it does.
    pub statement: BoundStatement,
    /// The types of `$1`, `$2` and so on.
    pub parameters: Vec<SqlType>,
    /// What whoever runs it must be allowed.
    pub required: Vec<Required>,
    /// The relations it reads and changes, those behind views too, with the lock each is to be held under.
    pub relations: Vec<(Oid, TableLock)>,
    /// The primary keys by which columns that GROUP BY leaves out follow from those that it names, as constraints
    /// (`constraintDeps`).
    pub keys: Vec<Oid>,
    /// The fields of rows that are taken, by the types of these.
    pub fields: Vec<(SqlType, u32)>,
    /// The first number that no item in any FROM has.
    pub items: u32,
}

/// What a bound statement does.
#[derive(Clone, Debug)]
pub enum BoundStatement {
    /// It returns rows.
    Query(Query),
    /// It changes a table.
    Modify(Modify),
}

/// One statement's binding.
struct Binder<'a> {
    catalog: &'a CatalogSnapshot,
    path: &'a [Oid],
    constants: &'a dyn Constants,
    positions: Positions<'a>,
    /// The system columns that the statement's text speaks of, once that was asked.
    system_columns: OnceCell<Vec<i16>>,
    parameters: RefCell<Vec<SqlType>>,
    /// Parameters beyond those declared may come up (not so in EXECUTE'd SQL text).
    required: RefCell<Vec<Required>>,
    relations: RefCell<Vec<(Oid, TableLock)>>,
    /// The primary keys that columns have been found to follow from.
    keys: RefCell<Vec<Oid>>,
    /// The fields of rows that have been taken: of a row that is spelled out the tree shows no more of it.
    fields: RefCell<Vec<(SqlType, u32)>>,
    depth: Cell<u32>,
    /// The next number for a scan or a query in any FROM of the statement: each has its own.
    scans: Cell<u32>,
    /// Of each SELECT around whose FROM is being bound and has outer joins: [`mention::rows_mentioned`].
    rows_mentioned: RefCell<Vec<mention::RowNames>>,
    /// The WITH queries that have been bound, and the one that is being bound.
    parts: RefCell<Vec<with_parts::WithPart>>,
    part: Cell<usize>,
    /// What is being bound is volatile or locks rows: a WITH query with such in it is run by itself.
    apart: Cell<bool>,
    /// How often FROM has named a WITH query.
    with_reads: Cell<u32>,
    /// What is around the place that is being bound, in a recursive term.
    around: Cell<with::Around>,
    /// The fields of records that functions return, by the modifier of their type.
    records: RefCell<Vec<Vec<(Arc<str>, SqlType)>>>,
    /// Within how many SQL functions this is that are bound in place of their calls.
    inlining: Cell<u32>,
    /// Where the literals stand that have no type when they are bound. A literal is known by its text's allocation.
    literals: RefCell<Vec<(ast::Ident, u32)>>,
    /// Where columns of their own query's row are named: how many scopes enclose that, their number in the row, the place.
    columns: RefCell<Vec<(usize, u32, u32)>>,
    /// Parameters that had no type where they were tested for NULL, and where.
    undecided: RefCell<Vec<(u32, u32)>>,
    /// Whether any COLLATE was bound, or a column with another collation than its type's.
    collates: Cell<bool>,
    /// Queries are going to be printed: what they were written as is kept with them ([`tree`]).
    keeps_trees: bool,
    /// The text was printed from what it once was bound to: a cast of ARRAY[...] is of the array.
    printed: bool,
    /// The text is one that a user wrote, and what it is bound to is only printed.
    written: bool,
    /// The tree is stored: calls have no arguments that were not written, and SQL functions are not opened.
    is_stored: bool,
    /// Views are relations with columns: what they read is not asked.
    opaque_views: bool,
    /// The same of the relation that is named next: what a simple view reads.
    opaque_base: Cell<bool>,
    /// The views that this is the query of, the outermost first.
    views: Vec<Oid>,
    /// What the statement would change, where no statement changes it.
    unchangeable: Cell<Option<Oid>>,
    /// The variables of a procedural language that it sees.
    variables: Option<&'a dyn Variables>,
}

/// Parameters are numbered in 16 bits.
const PARAMETERS_MAX: u32 = 65_535;

/// Binds SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE. `parameter_types` are those a client declared, 0 or missing where it did not.
///
/// # Errors
/// Everything that PostgreSQL's analysis can refuse a statement for.
pub fn bind<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    statement: &ast::Statement,
    parameter_types: &[Oid],
) -> Result<Bound> {
    bound(Binder::new(environment, text, parameter_types), statement)
}

/// The same for who is going to run it: 42501 where they may not use a schema that is named before anything is wrong with the
/// statement.
///
/// # Errors
/// As [`bind`], and 42501.
pub fn bind_for<'t>(
    environment: Environment<'t>,
    asker: Oid,
    text: impl Into<Positions<'t>>,
    statement: &ast::Statement,
    parameter_types: &[Oid],
) -> Result<Bound> {
    bound_for(Binder::new(environment, text, parameter_types), asker, statement)
}

/// The same for who is going to keep it as a view's: views that it reads are not opened.
///
/// # Errors
/// As [`bind_for`].
pub fn bind_named_for<'t>(
    environment: Environment<'t>,
    asker: Oid,
    text: impl Into<Positions<'t>>,
    statement: &ast::Statement,
) -> Result<Bound> {
    let own = Binder::new(environment, text, &[]);
    bound_for(Binder { opaque_views: true, ..own }, asker, statement)
}

fn bound_for(binder: Binder<'_>, asker: Oid, statement: &ast::Statement) -> Result<Bound> {
    let catalog = binder.catalog;
    match binder.statement(statement) {
        Ok(statement) => binder.finish(statement),
        Err(error) => {
            let needed = binder.needed_so_far();
            may_use_schemas(&needed, catalog, asker)?;
            match binder.unchangeable.get().and_then(|target| catalog.relation(target)) {
                Some(target) => Err(behind_rights(target, &needed, catalog, asker, error)),
                None => Err(error),
            }
        }
    }
}

/// What is said of a relation that no statement changes: that it is none, to who could change it if it were one.
fn behind_rights(
    target: &Relation,
    needed: &[Required],
    catalog: &CatalogSnapshot,
    asker: Oid,
    error: SqlError,
) -> SqlError {
    let lacks = needed.iter().any(|wanted| match wanted {
        Required::Relation { relation, privileges, columns, .. } if *relation == target.oid => {
            !catalog.may_on_columns(asker, target, *privileges, columns)
        }
        _ => false,
    });
    let noun = match target.kind {
        RelationKind::Sequence(_) => "sequence",
        _ if target.stored_query.is_some() => "materialized view",
        _ => "table",
    };
    if lacks {
        let message = format!("permission denied for {noun} {}", target.name);
        return SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message);
    }
    if matches!(target.kind, RelationKind::System) {
        return SqlError::unsupported("changing system catalogs is");
    }
    error
}

/// Binds a query for what it names itself: views that it reads are not opened, so that they may read each other.
///
/// # Errors
/// As [`bind`].
pub fn bind_named(environment: Environment<'_>, text: &str, query: ast::Query) -> Result<Bound> {
    let binder = Binder { opaque_views: true, ..Binder::new(environment, text, &[]) };
    bound(binder, &ast::Statement::Query(Box::new(query)))
}

/// The same of a view's query.
///
/// # Errors
/// As [`bind`]; XX001.
pub fn bind_view_named(environment: Environment<'_>, query: &ViewQuery) -> Result<Bound> {
    let opening = kept::open_view(environment.catalog, query)?;
    let own = Binder::new(environment, opening.text(), &[]);
    let binder = Binder { opaque_views: true, ..own };
    let query = opening.bound(&binder)?;
    binder.finish(BoundStatement::Query(query))
}

/// A view's query as it is run.
///
/// # Errors
/// As [`bind`]; XX001.
pub fn bind_view_query(environment: Environment<'_>, query: &ViewQuery) -> Result<Bound> {
    let opening = kept::open_view(environment.catalog, query)?;
    let binder = Binder::new(environment, opening.text(), &[]);
    let query = opening.bound(&binder)?;
    binder.finish(BoundStatement::Query(query))
}

/// The relations that a statement names, with the lock that each is to be held under: as many as are found before anything is
/// wrong with it. Who locks them and binds it again knows what is. Views are not opened.
#[must_use]
pub fn named_relations<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    statement: &ast::Statement,
    parameter_types: &[Oid],
) -> Vec<(Oid, TableLock)> {
    let own = Binder::new(environment, text, parameter_types);
    let binder = Binder { opaque_views: true, ..own };
    let _ = binder.statement(statement);
    binder.relations.into_inner()
}

/// 42P17 for a view that is reached by way of itself.
fn not_within(view: &Relation, views: &[Oid]) -> Result<()> {
    if !views.contains(&view.oid) {
        return Ok(());
    }
    let message = format!("infinite recursion detected in rules for relation \"{}\"", view.name);
    Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message))
}

fn bound(binder: Binder<'_>, statement: &ast::Statement) -> Result<Bound> {
    let statement = binder.statement(statement)?;
    binder.finish(statement)
}

/// The indexes of a relation that have expressions or predicates, for whoever fills it.
///
/// # Errors
/// Those of binding their texts.
pub fn computed_indexes(
    environment: Environment<'_>,
    relation: &Relation,
) -> Result<Vec<ComputedIndex>> {
    Binder::new(environment, "", &[]).computed_indexes(relation)
}

/// What an expression that stands by itself has to be.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// Of any type.
    Anything,
    /// The same, only to be printed: as it was written.
    Written,
    /// A truth, the argument of this clause.
    Condition(&'a str),
    /// What a column of this type and name takes.
    Assignable(SqlType, &'a str),
    /// The same of a default or a generated column, which are refused in other words.
    Default(SqlType, &'a str),
    /// What the parameter of this number, from 1 on, takes.
    Parameter(SqlType, usize),
}

/// Binds a CALL: the procedure, its arguments, one for each parameter, and the types of the statement's parameters.
///
/// # Errors
/// 42883, 42725, 42809 and so on.
pub fn bind_call<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    call: &ast::Call,
    parameter_types: &[Oid],
    variables: Option<&'t dyn Variables>,
) -> Result<(Arc<Routine>, Vec<Expr>, Vec<SqlType>, Vec<Required>)> {
    let own = Binder::new(environment, text, parameter_types);
    if let Some(variables) = variables {
        *own.parameters.borrow_mut() = variables.types().to_vec();
    }
    let binder = Binder { variables, ..own };
    let (routine, arguments) = binder.procedure_call(call)?;
    let required = binder.needs();
    let parameters = binder.parameters.into_inner();
    Ok((routine, arguments, parameters, required))
}

/// Binds an expression over one table's row: a CHECK constraint, a generated column, the predicate of an index. With no
/// relation: a DEFAULT, or an argument of EXECUTE.
///
/// # Errors
/// As [`bind`].
pub fn bind_expression<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: Option<&Relation>,
    wanted: Wanted<'_>,
    clause: &'static str,
) -> Result<Expr> {
    let written = matches!(wanted, Wanted::Written);
    let binder = Binder { written, ..Binder::new(environment, text, &[]) };
    binder.alone(expr, relation, wanted, clause)
}

/// The same, to be stored.
///
/// # Errors
/// As [`bind`].
pub fn bind_stored<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: Option<&Relation>,
    wanted: Wanted<'_>,
    clause: &'static str,
) -> Result<Expr> {
    let binder = Binder { is_stored: true, ..Binder::new(environment, text, &[]) };
    binder.alone(expr, relation, wanted, clause)
}

/// An argument of EXECUTE, and what whoever runs it must be allowed.
///
/// # Errors
/// As [`bind`].
pub fn bind_argument<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    wanted: Wanted<'_>,
) -> Result<(Expr, Vec<Required>)> {
    let binder =
        Binder { variables: Some(&variables::NoParameters), ..Binder::new(environment, text, &[]) };
    let bound = binder.alone(expr, None, wanted, "EXECUTE parameters")?;
    Ok((bound, binder.needs()))
}

impl Binder<'_> {
    /// An expression by itself, over one table's row or none.
    fn alone(
        &self,
        expr: &ast::Expr,
        relation: Option<&Relation>,
        wanted: Wanted<'_>,
        clause: &'static str,
    ) -> Result<Expr> {
        let binder = self;
        let mut scope = Scope::new(None, 0);
        scope.items.extend(relation.map(row_item));
        let bound = binder.expression(expr, &Place::plain(&scope, None, clause))?;
        let at = binder.position(expr.start());
        match wanted {
            Wanted::Default(ty, column)
                if !binder.can_coerce(bound.ty().oid, ty.oid, coerce::Context::Assignment) =>
            {
                Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "column \"{column}\" is of type {} but default expression is of type {}",
                        binder.type_text(ty.oid),
                        binder.type_text(bound.ty().oid)
                    ),
                )
                .hint("You will need to rewrite or cast the expression."))
            }
            Wanted::Parameter(ty, number)
                if !binder.can_coerce(bound.ty().oid, ty.oid, coerce::Context::Assignment) =>
            {
                Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "parameter ${number} of type {} cannot be coerced to the expected type {}",
                        binder.type_text(bound.ty().oid),
                        binder.type_text(ty.oid)
                    ),
                )
                .hint("You will need to rewrite or cast the expression.")
                .at(at))
            }
            Wanted::Assignable(ty, column) | Wanted::Default(ty, column) => {
                binder.assign(bound, ty, column, at)
            }
            Wanted::Parameter(ty, _) => binder.cast(bound, ty, coerce::Context::Assignment, at),
            Wanted::Condition(clause) => binder.boolean(bound, clause, at),
            Wanted::Anything | Wanted::Written => Ok(bound),
        }
    }
}

/// What a domain's condition is over: one column, VALUE, of the type that the domain is over.
#[must_use]
pub fn value_relation(base: SqlType) -> Relation {
    let value = Column::plain("value".into(), base, Oid(0));
    Relation {
        oid: Oid(0),
        schema: (Oid(0), "".into()),
        name: "".into(),
        owner: Oid(0),
        kind: RelationKind::System,
        columns: vec![value],
        indexes: Vec::new(),
        constraints: Vec::new(),
        referenced_by: Vec::new(),
        version: Version::NONE,
        lock: Relation::lock_of(Oid(0), Oid(0)),
        row_estimate: 0.0,
        options: Vec::new(),
        persistence: 'p',
        row_type: (Oid(0), Oid(0)),
        acl: None,
        stored_query: None,
        triggers: Vec::new(),
        key_triggers: Vec::new(),
        replica_identity: ReplicaIdentity::default(),
    }
}

/// Binds a stored expression over a relation's columns to the tree that it was printed from.
///
/// # Errors
/// As [`bind`].
pub fn bind_printed<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: Option<&Relation>,
) -> Result<Expr> {
    let binder = Binder { printed: true, ..Binder::new(environment, text, &[]) };
    let mut scope = Scope::new(None, 0);
    scope.items.extend(relation.map(row_item));
    binder.expression(expr, &Place::plain(&scope, None, "stored expressions"))
}

/// The name that an expression gives a column: that of a function, or `expr`.
#[must_use]
pub fn expression_name(expr: &ast::Expr) -> Arc<str> {
    let name = target::name_of(expr);
    if &*name == "?column?" { "expr".into() } else { name }
}

/// A relation by the name that a statement gives it.
///
/// # Errors
/// 42P01, 42809.
pub fn relation_named<'t>(
    catalog: &'t CatalogSnapshot,
    path: &'t [Oid],
    text: impl Into<Positions<'t>>,
    name: &ast::ObjectName,
) -> Result<Arc<Relation>> {
    /// Reads no literal: a name has none.
    struct Nothing;
    impl Constants for Nothing {
        fn read(&self, _: SqlType, _: &str) -> Result<Literal> {
            Ok(Literal::Null)
        }
    }
    Binder::new(Environment { catalog, path, constants: &Nothing }, text, &[]).find_relation(name)
}

/// Binds an expression to a type as an explicit cast does: USING of ALTER COLUMN TYPE; without one the column itself, as an
/// assignment does. None: there is no such cast.
///
/// # Errors
/// As [`bind`].
pub fn bind_conversion<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: Option<&ast::Expr>,
    relation: &Relation,
    column: usize,
    to: SqlType,
) -> Result<Option<Expr>> {
    let binder = Binder::new(environment, text, &[]);
    let mut scope = Scope::new(None, 0);
    scope.items.push(row_item(relation));
    let value = match expr {
        Some(expr) => {
            binder.expression(expr, &Place::plain(&scope, None, "transform expressions"))?
        }
        None => {
            let name = &relation.columns[column].name;
            let found = scope.items[0].columns.iter().find(|known| known.name == *name);
            found.map(|known| known.expr.clone()).expect("the column is live")
        }
    };
    if !binder.can_coerce(value.ty().oid, to.oid, coerce::Context::Assignment) {
        return Ok(None);
    }
    binder.cast(value, to, coerce::Context::Assignment, 0).map(Some)
}

/// The FROM item of a table's live columns from `base` on, and of the system columns behind them.
fn table_item(
    relation: &Relation,
    alias: Option<&ast::Ident>,
    base: usize,
    system: &[i16],
) -> ScopeItem {
    let live = relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
    let mut columns: Vec<ScopeColumn> = live
        .enumerate()
        .map(|(place, (number, column))| ScopeColumn {
            name: column.name.clone(),
            expr: column_at(base + place, column.ty),
            origin: Some((relation.oid, number as i16 + 1)),
            system: false,
        })
        .collect();
    for &attribute in system {
        let column = system_column(attribute);
        columns.push(ScopeColumn {
            name: column.name.into(),
            expr: column_at(base + columns.len(), SqlType::plain(column.ty.0)),
            origin: Some((relation.oid, attribute)),
            system: true,
        });
    }
    ScopeItem {
        name: Some(alias.unwrap_or(&relation.name).clone()),
        schema: alias.is_none().then(|| relation.schema.1.clone()),
        columns,
        columns_visible: true,
        name_visible: true,
        row_type: relation.row_type.0,
        value: false,
        scan: None,
        source: Source::Relation,
        nullable: Some(false),
    }
}

/// The row that an expression of a table's own is over: its live columns, and behind them the system columns, of which most
/// places know `tableoid` at most.
fn row_item(relation: &Relation) -> ScopeItem {
    let numbers = SYSTEM_COLUMNS.map(|column| column.number);
    // VALUE stands alone.
    let system = if relation.oid == Oid(0) { &[][..] } else { &numbers };
    table_item(relation, None, 0, system)
}

/// The place of the first column of a relation's whole row, where an expression is that.
#[must_use]
pub fn row_at(relation: &Relation, expr: &Expr) -> Option<usize> {
    let Expr::Row(fields, ty, _) = expr else { return None };
    let width = relation.columns.iter().filter(|column| !column.dropped).count();
    let Some(Expr::Column { level: 0, column: first, .. }) = fields.first() else { return None };
    let follows = |(field, at): (&Expr, u32)| matches!(field, Expr::Column { level: 0, column, .. } if *column == at);
    let whole = fields.len() == width && ty.oid == relation.row_type.0;
    (whole && fields.iter().zip(*first..).all(follows)).then_some(*first as usize)
}

/// The number of the system column that is the column at `place` of [`row_item`].
#[must_use]
pub fn system_column_at(relation: &Relation, place: u32) -> Option<i16> {
    let live = relation.columns.iter().filter(|column| !column.dropped).count();
    let behind = (place as usize).checked_sub(live)?;
    SYSTEM_COLUMNS.get(behind).map(|column| column.number)
}

/// Puts the table's own OID for `tableoid` in an expression over its row.
pub fn know_table(expr: &mut Expr, relation: &Relation) {
    levels::columns_of_expr(expr, 0, &mut |column, _| {
        if let Expr::Column { column: place, ty, .. } = column
            && system_column_at(relation, *place).is_some()
        {
            *column = Expr::Constant(Literal::Oid(relation.oid.0), *ty);
        }
    });
}

impl<'a> Binder<'a> {
    fn new(
        environment: Environment<'a>,
        text: impl Into<Positions<'a>>,
        parameter_types: &[Oid],
    ) -> Binder<'a> {
        let declared = |ty: &Oid| SqlType::plain(if ty.0 == 0 { oid::UNKNOWN } else { ty.0 });
        Binder {
            catalog: environment.catalog,
            path: environment.path,
            constants: environment.constants,
            positions: text.into(),
            system_columns: OnceCell::new(),
            parameters: RefCell::new(parameter_types.iter().map(declared).collect()),
            required: RefCell::default(),
            relations: RefCell::default(),
            keys: RefCell::default(),
            fields: RefCell::default(),
            depth: Cell::new(0),
            scans: Cell::new(TARGET + 1),
            rows_mentioned: RefCell::default(),
            parts: RefCell::default(),
            part: Cell::default(),
            apart: Cell::default(),
            with_reads: Cell::new(0),
            around: Cell::default(),
            records: RefCell::default(),
            inlining: Cell::new(0),
            literals: RefCell::default(),
            columns: RefCell::default(),
            undecided: RefCell::default(),
            collates: Cell::default(),
            keeps_trees: false,
            printed: false,
            written: false,
            is_stored: false,
            opaque_views: false,
            opaque_base: Cell::new(false),
            unchangeable: Cell::new(None),
            views: Vec::new(),
            variables: None,
        }
    }

    /// What binds the query of a view that this one names.
    ///
    /// # Errors
    /// 42P17 for a view that reads itself.
    fn within_view<'v>(&'v self, view: &Relation, text: &'v str) -> Result<Binder<'v>> {
        not_within(view, &self.views)?;
        let views = self.views.iter().copied().chain([view.oid]).collect();
        Ok(Binder { views, ..Binder::new(self.environment(), text, &[]) })
    }

    /// Whether what is bound is only printed: calls stay what they were written as.
    pub(super) fn prints(&self) -> bool {
        self.printed || self.written
    }

    fn statement(&self, statement: &ast::Statement) -> Result<BoundStatement> {
        Ok(match statement {
            ast::Statement::Query(query) => BoundStatement::Query(self.top_query(query)?),
            ast::Statement::Insert(insert) => BoundStatement::Modify(self.insert(insert, None)?),
            ast::Statement::Update(update) => BoundStatement::Modify(self.update(update, None)?),
            ast::Statement::Delete(delete) => BoundStatement::Modify(self.delete(delete, None)?),
            ast::Statement::Merge(merge) => BoundStatement::Modify(self.merge_statement(merge)?),
            _ => return Err(SqlError::unsupported("this statement inside another is")),
        })
    }

    fn finish(self, statement: BoundStatement) -> Result<Bound> {
        let parameters = self.parameters.borrow();
        let decided_later =
            |(number, _): &&(u32, u32)| parameters[*number as usize].oid.0 != oid::UNKNOWN;
        if let Some((number, at)) = self.undecided.borrow().iter().find(decided_later) {
            return Err(SqlError::new(
                SqlState::AMBIGUOUS_PARAMETER,
                format!("could not determine data type of parameter ${}", number + 1),
            )
            .at(*at));
        }
        if let Some(at) = parameters.iter().position(|ty| ty.oid.0 == oid::UNKNOWN) {
            return Err(SqlError::new(
                SqlState::INDETERMINATE_DATATYPE,
                format!("could not determine data type of parameter ${}", at + 1),
            ));
        }
        drop(parameters);
        Ok(Bound {
            statement,
            required: self.needs(),
            parameters: self.parameters.into_inner(),
            relations: self.relations.into_inner(),
            keys: self.keys.into_inner(),
            fields: self.fields.into_inner(),
            items: self.scans.get(),
        })
    }

    /// A place in the query text as clients are told it: characters, from 1.
    fn position(&self, at: u32) -> u32 {
        // What stands in the body of an SQL function is nowhere in the statement's text.
        if self.inlining.get() > 0 { 0 } else { self.positions.of(at) }
    }

    fn type_text(&self, ty: Oid) -> String {
        format_type_be(self.catalog, self.path, ty)
    }

    /// One level deeper, on a larger stack where this one ends.
    fn deeper<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        crate::parse::depth::check(self.depth.get())?;
        crate::account::poll()?;
        self.depth.set(self.depth.get() + 1);
        let result = deeper(body);
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// The system columns that the statement's text speaks of at all: scans carry those, so that a column's place is known
    /// before the expressions that name it are bound. One says whether there is a row, where an outer join may have none.
    fn system_columns(&self) -> Vec<i16> {
        let found = self.system_columns.get_or_init(|| {
            let text = self.positions.statement().to_ascii_lowercase();
            let outer = ["left", "right", "full"].iter().any(|word| text.contains(word));
            SYSTEM_COLUMNS
                .iter()
                .filter(|one| text.contains(one.name) || outer && one.number == TABLE_OID)
                .map(|one| one.number)
                .collect()
        });
        found.clone()
    }

    /// `$n`, from 1.
    fn parameter(&self, number: u32, position: u32) -> Result<Expr> {
        if number == 0 || number > PARAMETERS_MAX {
            return Err(SqlError::new(
                SqlState::UNDEFINED_PARAMETER,
                format!("there is no parameter ${number}"),
            )
            .at(position));
        }
        if let Some(variables) = self.variables {
            let found = variables.parameter(number).ok_or_else(|| {
                let message = format!("there is no parameter ${number}");
                SqlError::new(SqlState::UNDEFINED_PARAMETER, message).at(position)
            })?;
            return self.variable(found, position);
        }
        let mut parameters = self.parameters.borrow_mut();
        if parameters.len() < number as usize {
            parameters.resize(number as usize, SqlType::plain(oid::UNKNOWN));
        }
        Ok(Expr::Parameter(number - 1, parameters[number as usize - 1]))
    }

    /// Gives a parameter without a type the one that its place wants.
    fn parameter_as(&self, number: u32, target: SqlType, position: u32) -> Result<Expr> {
        let mut parameters = self.parameters.borrow_mut();
        let known = &mut parameters[number as usize];
        let wanted = SqlType { oid: target.oid, typmod: -1 };
        if known.oid.0 == oid::UNKNOWN {
            *known = wanted;
        } else if known.oid != wanted.oid {
            return Err(SqlError::new(
                SqlState::AMBIGUOUS_PARAMETER,
                format!("inconsistent types deduced for parameter ${}", number + 1),
            )
            .detail(format!("{} versus {}", self.type_text(known.oid), self.type_text(wanted.oid)))
            .at(position));
        }
        Ok(Expr::Parameter(number, wanted))
    }

    /// The statement holds a relation, or an index, under at least this lock.
    fn hold(&self, relation: Oid, lock: TableLock) {
        let mut relations = self.relations.borrow_mut();
        match relations.iter_mut().find(|(known, _)| *known == relation) {
            Some((_, known)) => *known = (*known).max(lock),
            None => relations.push((relation, lock)),
        }
    }

    /// A value for a column of type `ty`, as INSERT and UPDATE cast it.
    ///
    /// # Errors
    /// 42804 `column "a" is of type x but expression is of type y`.
    fn assign(&self, value: Expr, ty: SqlType, column: &str, position: u32) -> Result<Expr> {
        let source = value.ty();
        if !self.can_coerce(source.oid, ty.oid, coerce::Context::Assignment) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "column \"{column}\" is of type {} but expression is of type {}",
                    self.type_text(ty.oid),
                    self.type_text(source.oid)
                ),
            )
            .hint("You will need to rewrite or cast the expression.")
            .at(position));
        }
        self.cast(value, ty, coerce::Context::Assignment, position)
    }
}
