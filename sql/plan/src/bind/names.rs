//! Names in expressions: columns, whole rows and fields of composite values (`transformColumnRef`).

use crate::bind::expression::Place;
use crate::bind::scope::{Found, Missing, ScopeColumn, ScopeItem, Source};
use crate::bind::type_name::{fields_of, oid};
use crate::bind::typed::{Expr, Literal};
use crate::bind::{Binder, levels, similar};
use crate::catalog::acl::Privileges;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, Ident};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

impl Binder<'_> {
    /// A name of one to four parts.
    pub(super) fn column(&self, parts: &[Ident], place: &Place<'_>, at: u32) -> Result<Expr> {
        match self.variables {
            Some(variables) => self.column_or_variable(variables, parts, place, at),
            None => self.own_column(parts, place, at),
        }
    }

    /// The same where only columns have names.
    pub(super) fn own_column(&self, parts: &[Ident], place: &Place<'_>, at: u32) -> Result<Expr> {
        let (qualifier, name) = match parts {
            [name] => {
                return match place.scope.column(name) {
                    Ok(found) => self.found(found, name, place, at),
                    Err(Missing::Ambiguous) => Err(SqlError::new(
                        SqlState::AMBIGUOUS_COLUMN,
                        format!("column reference \"{name}\" is ambiguous"),
                    )
                    .at(at)),
                    Err(Missing::Refused(item)) => Err(refused_lateral(&item).at(at)),
                    // The name of a FROM item stands for its whole row.
                    Err(_) => match place.scope.item(None, name) {
                        Some(_) => self.whole_row(None, name, place, at),
                        None => {
                            let message = format!("column \"{name}\" does not exist");
                            Err(missing_column(message, place, (None, name), at))
                        }
                    },
                };
            }
            [item, name] => ((None, item), name),
            [schema, item, name] => ((Some(&**schema), item), name),
            [database, schema, item, name] => {
                if **database != *self.catalog.database_name() {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!(
                            "cross-database references are not implemented: {}",
                            parts.join(".")
                        ),
                    )
                    .at(at));
                }
                ((Some(&**schema), item), name)
            }
            _ => {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("improper qualified name (too many dotted names): {}", parts.join(".")),
                )
                .at(at));
            }
        };
        match place.scope.qualified(qualifier.0, qualifier.1, name) {
            Ok(found) => self.found(found, name, place, at),
            Err(Missing::Ambiguous) => Err(SqlError::new(
                SqlState::AMBIGUOUS_ALIAS,
                format!("table reference \"{}\" is ambiguous", qualifier.1),
            )
            .at(at)),
            Err(Missing::NoColumn) => {
                let (row, _) = parts.split_at(parts.len() - 1);
                let row = ast::Expr { at: 0, kind: ExprKind::Star(row.to_vec()) };
                if let Some(called) = self.function_like_field(row, name, place, at) {
                    return called;
                }
                let message = format!("column {}.{name} does not exist", qualifier.1);
                Err(missing_column(message, place, (Some(qualifier.1), name), at))
            }
            Err(Missing::Refused(item)) => Err(refused_lateral(&item).at(at)),
            Err(missing) => {
                Err(self.missing_item(qualifier.1, missing == Missing::Hidden, place, at))
            }
        }
    }

    /// A column that a name was found to stand for.
    fn found(&self, found: Found, name: &str, place: &Place<'_>, at: u32) -> Result<Expr> {
        if let Some((_, column)) = found.origin {
            self.refuse_system_column(name, column, place, at)?;
        }
        self.read_column(found.origin);
        self.name_column(&found.expr, place, at);
        Ok(found.expr)
    }

    /// Remembers where a column of the own query's row, or of one around it, is named, by itself or by a star.
    pub(super) fn name_column(&self, expr: &Expr, place: &Place<'_>, at: u32) {
        if let Expr::Column { level, column, .. } = *expr
            && let Some(scope) = place.scope.rows_out(level)
        {
            self.columns.borrow_mut().push((scope.depth(), column, at));
        }
    }

    pub(super) fn missing_item(
        &self,
        item: &str,
        hidden: bool,
        place: &Place<'_>,
        at: u32,
    ) -> SqlError {
        // Below a join with an alias it is there too.
        let below = |found: &ScopeItem| {
            !found.name_visible
                && found.source != Source::Join
                && found.name.as_deref() == Some(item)
        };
        let hidden = hidden || place.scope.items.iter().any(below);
        let message = if hidden { "invalid reference to" } else { "missing" };
        let error = SqlError::new(
            SqlState::UNDEFINED_TABLE,
            format!("{message} FROM-clause entry for table \"{item}\""),
        )
        .at(at);
        if hidden {
            return error.hint(format!(
                "There is an entry for table \"{item}\", but it cannot be referenced from this part of the query."
            ));
        }
        // A table that was given another name in FROM.
        let aliased = place.scope.items.iter().find(|found| {
            found.schema.is_none()
                && found.columns.first().and_then(|column| column.origin).is_some_and(
                    |(table, _)| {
                        self.catalog.relation(table).is_some_and(|relation| &*relation.name == item)
                    },
                )
        });
        match aliased.and_then(|found| found.name.as_ref()) {
            Some(alias) => SqlError::new(
                SqlState::UNDEFINED_TABLE,
                format!("invalid reference to FROM-clause entry for table \"{item}\""),
            )
            .hint(format!("Perhaps you meant to reference the table alias \"{alias}\"."))
            .at(at),
            None => error,
        }
    }

    /// A FROM item's row as one value.
    pub(super) fn whole_row(
        &self,
        schema: Option<&str>,
        name: &str,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let Some((item, level)) = place.scope.item(schema, name) else {
            return Err(self.missing_item(name, false, place, at));
        };
        if let Some((table, _)) = item.columns.first().and_then(|column| column.origin)
            && !item.value
        {
            self.require_column(table, Some(0), Privileges::SELECT);
        }
        Ok(self.item_row(item, level))
    }

    /// The row of a FROM item, seen from `level` steps further in: NULL where an outer join has none.
    pub(super) fn item_row(&self, item: &ScopeItem, level: u16) -> Expr {
        let seen = |column: &ScopeColumn| {
            let mut expr = column.expr.clone();
            levels::raise(&mut expr, level);
            expr
        };
        if let ([only], true) = (item.columns.as_slice(), item.value) {
            return seen(only);
        }
        let columns = || item.columns.iter().filter(|column| !column.system);
        let fields: Vec<Expr> = columns().map(seen).collect();
        let (ty, names) = if item.row_type == Oid(0) {
            let names: Vec<Arc<str>> = columns().map(|column| column.name.clone()).collect();
            let shape = names.iter().cloned().zip(fields.iter().map(Expr::ty)).collect();
            (self.record_type(shape), Some(names.into()))
        } else {
            (SqlType::plain(item.row_type.0), None)
        };
        if item.nullable != Some(true) || fields.is_empty() {
            return Expr::Row(fields, ty, names);
        }
        // Where nothing tells, it is missing where nothing is in it.
        let is_null = |expr: Expr| Expr::IsNull { operand: Box::new(expr), negated: false };
        let missing = match item.presence() {
            Some(column) => is_null(seen(column)),
            None => Expr::And(fields.iter().cloned().map(is_null).collect()),
        };
        Expr::Case {
            operand: None,
            given: Vec::new(),
            branches: vec![(missing, Expr::Constant(Literal::Null, ty))],
            otherwise: Some(Box::new(Expr::Row(fields, ty, names))),
            ty,
        }
    }

    /// `(operand).name`.
    pub(super) fn field(
        &self,
        operand: &ast::Expr,
        name: &str,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let bound = self.expression(operand, place)?;
        // The row of a FROM item is told by its name.
        let item = match (&operand.kind, &bound) {
            (ExprKind::Column(parts) | ExprKind::Star(parts), Expr::Row(..)) => parts.last(),
            _ => None,
        };
        // The row of a relation that is being made has no type yet: its field is the column.
        if let (ExprKind::Column(parts) | ExprKind::Star(parts), Expr::Row(..)) =
            (&operand.kind, &bound)
            && self.composite_result(&bound).is_none()
        {
            let column = parts.iter().cloned().chain([name.into()]).collect();
            let column = ast::Expr { kind: ExprKind::Column(column), ..operand.clone() };
            return self.expression(&column, place);
        }
        // A row that was written is printed with its field.
        if self.prints()
            && item.is_none()
            && matches!(bound, Expr::Row(..))
            && let Some(columns) = self.composite_result(&bound)
            && let Some(field) = columns.iter().position(|(known, _)| &**known == name)
        {
            let (operand, ty) = (Box::new(bound), columns[field].1);
            self.fields.borrow_mut().push((operand.ty(), field as u32));
            self.meet_field(&operand, field as u32, ty);
            return Ok(Expr::Field { operand, field: field as u32, ty });
        }
        let found = self.field_of(bound, name, at);
        let missing = [SqlState::UNDEFINED_COLUMN, SqlState::WRONG_OBJECT_TYPE];
        if let Err(error) = &found
            && missing.contains(&error.state())
            && let Some(called) = self.function_like_field(operand.clone(), name, place, at)
        {
            return called;
        }
        found.map_err(|error| match item {
            Some(item) if error.state() == SqlState::UNDEFINED_COLUMN => {
                let message = format!("column {item}.{name} does not exist");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(at)
            }
            _ => error,
        })
    }

    /// `row.f` where the row has no column f: the call of a function f with the row, if there is one (`ParseFuncOrColumn`).
    fn function_like_field(
        &self,
        row: ast::Expr,
        name: &str,
        place: &Place<'_>,
        at: u32,
    ) -> Option<Result<Expr>> {
        let argument = ast::Argument { name: None, at: row.start(), value: row };
        let call =
            ast::Call::plain(ast::ObjectName { parts: vec![name.into()], at: 0 }, vec![argument]);
        match self.call(&call, place, at) {
            Err(error) if error.state() == SqlState::UNDEFINED_FUNCTION => None,
            called => Some(called),
        }
    }

    /// A field of a composite value, by name.
    pub(super) fn field_of(&self, operand: Expr, name: &str, at: u32) -> Result<Expr> {
        let ty = operand.ty();
        if let Some(columns) = self.composite_result(&operand)
            && let Some(place) = columns.iter().position(|(known, _)| &**known == name)
        {
            self.fields.borrow_mut().push((ty, place as u32));
            let ty = columns[place].1;
            self.meet_field(&operand, place as u32, ty);
            // A field of a row that is spelled out is what stands at its place, unless it is declared with a collation.
            match operand {
                Expr::Row(mut fields, row, _)
                    if matches!(fields[place], Expr::Column { .. })
                        || self.catalog.field_collation(row.oid, place).is_none_or(
                            |declared| declared == self.catalog.collation_of(ty.oid),
                        ) =>
                {
                    return Ok(fields.swap_remove(place));
                }
                _ => {}
            }
            return Ok(Expr::Field { operand: Box::new(operand), field: place as u32, ty });
        }
        if ty.oid.0 == oid::RECORD {
            return Err(SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("could not identify column \"{name}\" in record data type"),
            )
            .at(at));
        }
        if fields_of(self.catalog, ty.oid).is_none() {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!(
                    "column notation .{name} applied to type {}, which is not a composite type",
                    self.type_text(ty.oid)
                ),
            )
            .at(at));
        }
        let message =
            format!("column \"{name}\" not found in data type {}", self.type_text(ty.oid));
        Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(at))
    }

    /// The fields of a composite value: of its type, or of the function that gave the record.
    pub(super) fn composite_result(&self, expr: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        let ty = expr.ty();
        if let Expr::Row(fields, _, None) = expr
            && ty == SqlType::plain(oid::RECORD)
        {
            let named =
                |(place, field): (usize, &Expr)| (format!("f{}", place + 1).into(), field.ty());
            return Some(fields.iter().enumerate().map(named).collect());
        }
        match usize::try_from(ty.typmod) {
            Ok(shape) if ty.oid.0 == oid::RECORD => self.records.borrow().get(shape).cloned(),
            _ => fields_of(self.catalog, ty.oid),
        }
    }

    /// The type of records with these fields. As in PostgreSQL, its modifier is the number of their shape
    /// (`assign_record_type_typmod`); outside of this binding it means nothing.
    pub(super) fn record_type(&self, fields: Vec<(Arc<str>, SqlType)>) -> SqlType {
        let mut records = self.records.borrow_mut();
        let known = records.iter().position(|shape| *shape == fields);
        let shape = known.unwrap_or_else(|| {
            records.push(fields);
            records.len() - 1
        });
        SqlType { oid: Oid(oid::RECORD), typmod: i32::try_from(shape).unwrap_or(-1) }
    }
}

/// 42703 for a column, with a hint at what it may have been meant to be.
fn missing_column(
    message: String,
    place: &Place<'_>,
    (qualifier, name): (Option<&str>, &str),
    at: u32,
) -> SqlError {
    let error = SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(at);
    match similar::hint(place.scope, qualifier, name) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// 42P10 for a name of a join's left side on its right side, where a row of that may have none on the left.
pub(super) fn refused_lateral(item: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_COLUMN_REFERENCE,
        format!("invalid reference to FROM-clause entry for table \"{item}\""),
    )
    .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
}
