//! Names that a procedural language adds to those of a statement: its variables, which stand as parameters of the statement
//! (PostgreSQL's `p_post_columnref_hook` and `p_paramref_hook`, manual section 43.11.1).

use crate::bind::coerce::Context;
use crate::bind::expression::Place;
use crate::bind::logical::{Node, Output, Query};
use crate::bind::scope::Scope;
use crate::bind::type_name::fields_of;
use crate::bind::typed::{Expr, Literal};
use crate::bind::{Binder, Bound, BoundStatement, Environment, bound_for, column_at};
use crate::catalog::builtin;
use crate::catalog::system_column::{TABLE_OID, system_column};
use crate::error::{Result, SqlError};
use crate::parse::Positions;
use crate::parse::ast::{self, Ident, TargetStep};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// What a name stands for, if it is a variable or a part of one.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its number, from 0: that of the parameter.
    pub number: u32,
    /// Its type.
    pub ty: SqlType,
    /// The fields of a record of no type of its own.
    pub fields: Option<Vec<(Arc<str>, SqlType)>>,
    /// The field of it that the name means.
    pub field: Option<Ident>,
    /// What it is called, where it may turn out to have no such field.
    pub name: Option<Arc<str>>,
}

/// 42703 for a field that a variable has not.
#[must_use]
pub fn no_field(variable: &str, field: &str) -> SqlError {
    let message = format!("record \"{variable}\" has no field \"{field}\"");
    SqlError::new(SqlState::UNDEFINED_COLUMN, message)
}

/// Whether a field of a variable is the table of a trigger's row, and none of its columns: `new.tableoid`.
#[must_use]
pub fn names_table(variable: &str, field: &str) -> bool {
    matches!(variable, "old" | "new") && field == system_column(TABLE_OID).name
}

/// Which of the two a name is that is both a variable and a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableConflict {
    /// Neither: 42702.
    #[default]
    Error,
    /// The variable.
    UseVariable,
    /// The column.
    UseColumn,
}

/// The variables that a statement sees.
pub trait Variables: std::fmt::Debug + Send + Sync {
    /// The types of all of them, by number.
    fn types(&self) -> &[SqlType];
    /// What a name stands for.
    ///
    /// # Errors
    /// 55000: a record that has no value yet has no fields.
    fn find(&self, parts: &[Ident]) -> Result<Option<Variable>>;
    /// `$n`, from 1.
    fn parameter(&self, number: u32) -> Option<Variable>;
    /// The array of rows, by number from 1 as `$n`, that a name in FROM stands for: what a statement has changed, where a trigger
    /// asks for it.
    fn rows(&self, _name: &str) -> Option<u32> {
        None
    }
    /// What becomes of a name that a column has, too.
    fn conflict(&self) -> VariableConflict;
    /// The type that the statement's only column is assigned to.
    fn wanted(&self) -> Option<SqlType>;
    /// Whether what it is assigned to makes a row of another type its own.
    fn takes_rows(&self) -> bool {
        false
    }
    /// The variable of which an UPDATE's first assignment changes a part: the value of that is the statement's only column.
    fn assigned(&self) -> Option<Variable>;
}

/// What an expression sees that has no parameters: an argument of EXECUTE.
#[derive(Debug)]
pub(super) struct NoParameters;

impl Variables for NoParameters {
    fn types(&self) -> &[SqlType] {
        &[]
    }

    fn find(&self, _: &[Ident]) -> Result<Option<Variable>> {
        Ok(None)
    }

    fn parameter(&self, _: u32) -> Option<Variable> {
        None
    }

    fn conflict(&self) -> VariableConflict {
        VariableConflict::Error
    }

    fn wanted(&self) -> Option<SqlType> {
        None
    }

    fn assigned(&self) -> Option<Variable> {
        None
    }
}

impl Binder<'_> {
    /// A name that a column, a variable or both have.
    pub(super) fn column_or_variable(
        &self,
        variables: &dyn Variables,
        parts: &[Ident],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        if variables.conflict() == VariableConflict::UseVariable
            && let Some(variable) = variables.find(parts)?
        {
            return self.variable(variable, at);
        }
        let column = self.own_column(parts, place, at);
        match (column, variables.conflict()) {
            (Ok(column), VariableConflict::UseColumn | VariableConflict::UseVariable) => Ok(column),
            (Ok(column), VariableConflict::Error) => match variables.find(parts) {
                Ok(None) => Ok(column),
                Ok(Some(_)) | Err(_) => Err(SqlError::new(
                    SqlState::AMBIGUOUS_COLUMN,
                    format!("column reference \"{}\" is ambiguous", parts.join(".")),
                )
                .detail("It could refer to either a PL/pgSQL variable or a table column.")
                .at(at)),
            },
            (Err(error), _) => match variables.find(parts)? {
                Some(variable) => self.variable(variable, at),
                None => Err(error),
            },
        }
    }

    /// The row that `name.*` means where nothing in FROM is called so, but a variable is.
    pub(super) fn row_variable(
        &self,
        parts: &[Ident],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Option<Expr>> {
        let (Some(variables), Some(name)) = (self.variables, parts.last()) else {
            return Ok(None);
        };
        let schema = parts.len().checked_sub(2).map(|place| &*parts[place]);
        if place.scope.item(schema, name).is_some() {
            return Ok(None);
        }
        let found = variables.find(parts)?;
        let found = found.map(|found| self.variable(found, at)).transpose()?;
        Ok(found.filter(|row| self.composite_result(row).is_some()))
    }

    /// A variable, or a field of one.
    pub(super) fn variable(&self, variable: Variable, at: u32) -> Result<Expr> {
        if let Some(table) = self.table_of(&variable) {
            return Ok(Expr::Constant(Literal::Oid(table.0), SqlType::plain(oids::OID)));
        }
        let ty = match variable.fields {
            Some(fields) => {
                let named = variable.field.as_ref();
                if let Some(name) =
                    named.filter(|name| !fields.iter().any(|(known, _)| known == *name))
                {
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("record has no field \"{name}\""),
                    ));
                }
                self.record_type(fields)
            }
            None => variable.ty,
        };
        let whole = Expr::Parameter(variable.number, ty);
        match variable.field {
            Some(field) => self.field_of(whole, &field, at).map_err(|error| match &variable.name {
                Some(name) if error.state() == SqlState::UNDEFINED_COLUMN => no_field(name, &field),
                _ => error,
            }),
            None => Ok(whole),
        }
    }
}

impl Binder<'_> {
    /// The table whose row a trigger's OLD or NEW is, where the name means its `tableoid`.
    fn table_of(&self, variable: &Variable) -> Option<Oid> {
        let (Some(name), Some(field)) = (&variable.name, &variable.field) else { return None };
        let is_asked = names_table(name, field);
        self.catalog.row_type(variable.ty.oid).filter(|_| is_asked).map(|relation| relation.oid)
    }
}

/// Binds a statement that sees variables, for who is going to run it.
///
/// # Errors
/// As [`super::bind_for`].
pub fn bind_within<'t>(
    environment: Environment<'t>,
    asker: Oid,
    text: impl Into<Positions<'t>>,
    statement: &ast::Statement,
    variables: &'t dyn Variables,
) -> Result<Bound> {
    let types: Vec<Oid> = variables.types().iter().map(|ty| ty.oid).collect();
    let own = Binder::new(environment, text, &types);
    *own.parameters.borrow_mut() = variables.types().to_vec();
    let binder = Binder { variables: Some(variables), ..own };
    if let (Some(target), ast::Statement::Update(update)) = (variables.assigned(), statement) {
        return assigned_part(binder, target, update);
    }
    let mut bound = bound_for(binder, asker, statement)?;
    if let Some(wanted) = variables.wanted() {
        assign_to(environment, &mut bound, wanted, variables.takes_rows())?;
    }
    Ok(bound)
}

/// Whether a value of one type may be assigned to another.
#[must_use]
pub fn may_assign(environment: Environment<'_>, from: Oid, to: Oid) -> bool {
    Binder::new(environment, "", &[]).can_coerce(from, to, Context::Assignment)
}

/// The value of a variable with a part of it changed.
fn assigned_part(binder: Binder<'_>, target: Variable, update: &ast::Update) -> Result<Bound> {
    let [ast::Assignment::One(column, value)] = &update.assignments[..] else {
        return Err(SqlError::unsupported("this assignment is"));
    };
    let scope = Scope::new(None, 0);
    let place = Place::plain(&scope, None, "UPDATE");
    let target_name = target.name.clone();
    let whole = binder.variable(target, 0)?;
    let value = binder.expression(value, &place)?;
    if let (Some(TargetStep::Field(field)), Some(name)) = (column.path.first(), &target_name)
        && let Some(fields) = binder.composite_result(&whole)
        && !fields.iter().any(|(known, _)| known == field)
    {
        return Err(no_field(name, field));
    }
    let changed = binder.assigned_part(whole, &column.path, value, column, &place, 0)?;
    let output = vec![Output { name: "value".into(), ty: changed.ty(), origin: None }];
    let root = Node::Project { input: Box::new(Node::Unit), columns: vec![changed] };
    binder.finish(BoundStatement::Query(Query::new(root, output)))
}

/// Makes of a query's only column what a variable of this type takes: by a cast of assignment, else through the text form
/// (`COERCION_PLPGSQL`).
fn assign_to(
    environment: Environment<'_>,
    bound: &mut Bound,
    wanted: SqlType,
    takes_rows: bool,
) -> Result<()> {
    let BoundStatement::Query(query) = &mut bound.statement else { return Ok(()) };
    let [output] = &mut query.output[..] else { return Ok(()) };
    if output.ty == wanted || output.ty.oid == wanted.oid && wanted.typmod < 0 {
        return Ok(());
    }
    let binder = Binder::new(environment, "", &[]);
    let from = output.ty;
    // Rows go into rows field by field (`transformPLAssignStmt`).
    let is_row = |ty: SqlType| {
        ty.oid.0 == oids::RECORD
            || !builtin::is_domain(ty.oid.0) && fields_of(binder.catalog, ty.oid).is_some()
    };
    if takes_rows && is_row(wanted) && is_row(from) {
        return Ok(());
    }
    let cast = |value: Expr| {
        // Whether a record fits is seen by its values only.
        let unknown_shape = [oids::RECORD, oids::RECORD_ARRAY].contains(&from.oid.0);
        if !unknown_shape && binder.can_coerce(from.oid, wanted.oid, Context::Assignment) {
            binder.cast(value, wanted, Context::Assignment, 0)
        } else {
            Ok(Expr::ViaText(Box::new(value), wanted))
        }
    };
    *output = Output { ty: wanted, ..output.clone() };
    match &mut query.root {
        Node::Project { columns, .. } if columns.len() == 1 => {
            let value = columns.remove(0);
            columns.push(cast(value)?);
        }
        root => {
            let input = Box::new(std::mem::replace(root, Node::Unit));
            let columns = vec![cast(column_at(0, from))?];
            *root = Node::Project { input, columns };
        }
    }
    Ok(())
}
