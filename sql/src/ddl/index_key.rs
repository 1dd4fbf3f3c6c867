//! The keys of indexes: columns and expressions, their collations and operator classes (`ComputeIndexAttrs`).
//!
//! There is one order for each type. An operator class or collation that is not the default is kept so that the index is
//! shown as it was defined, and taken if it orders values as the default does.

use super::Ddl;
use super::create_table::collation_named;
use super::resolve::{system_column_named, undefined_schema};
use crate::catalog::builtin::{self, OperatorClass};
use crate::catalog::object::Class;
use crate::catalog::operator_class::{BTREE, UserOperatorClass};
use crate::catalog::quote::identifier;
use crate::catalog::relation::{
    Column, EXPRESSIONS, Index, IndexColumn, IndexExpression, Relation,
};
use crate::catalog::system_column::SystemColumn;
use crate::error::{Result, SqlError};
use crate::parse::ast::{Direction, Expr, ExprKind, IndexKey, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::format_type;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The most columns an index may have.
const INDEX_COLUMNS_MAX: usize = 32;

/// The column that a key names alone, if it is no expression.
fn plain_column(relation: &Relation, expr: &Expr) -> Result<Option<usize>> {
    let ExprKind::Column(parts) = &expr.kind else { return Ok(None) };
    let [name] = parts.as_slice() else { return Ok(None) };
    let column =
        relation.column(name).ok_or_else(|| match system_column_named(relation, name) {
            Some(column) => no_system_key(column),
            None => SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{name}\" does not exist"),
            ),
        })?;
    Ok(Some(column))
}

/// Why a column of the system's is no key of an index: 42704 for a type without an ordering, else 0A000.
pub(super) fn no_system_key(column: SystemColumn) -> SqlError {
    if builtin::ordering(column.ty.0).is_none() {
        return no_operator_class(&format_type(column.ty.0, None));
    }
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        "index creation on system columns is not supported",
    )
}

/// 42704 for a type without an ordering.
fn no_operator_class(ty: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("data type {ty} has no default operator class for access method \"btree\""),
    )
    .hint(
        "You must specify an operator class for the index or define a default operator class for the data type.",
    )
}

/// 54011 for more columns than an index may have.
pub(super) fn demand_room(columns: usize) -> Result<()> {
    if columns <= INDEX_COLUMNS_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::TOO_MANY_COLUMNS,
        format!("cannot use more than {INDEX_COLUMNS_MAX} columns in an index"),
    ))
}

/// 42P22 for an expression of which no collation follows.
fn undetermined() -> SqlError {
    SqlError::new(
        SqlState::INDETERMINATE_COLLATION,
        "could not determine which collation to use for index expression",
    )
    .hint("Use the COLLATE clause to set the collation explicitly.")
}

/// The columns that INCLUDE names.
///
/// # Errors
/// 42703; 0A000 for expressions, 42P17 for what else only keys have.
pub(super) fn included(relation: &Relation, named: &[IndexKey]) -> Result<Vec<usize>> {
    let refused = |message: &str| Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    let column = |key: &IndexKey| {
        let IndexKey { expr, span, collation, class, direction, nulls_first, .. } = key;
        // A column in parentheses is an expression.
        let column = plain_column(relation, expr)?.filter(|_| expr.at == span.0);
        let Some(column) = column else {
            let message = "expressions are not supported in included columns";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        if collation.is_some() {
            return refused("including column does not support a collation");
        }
        if class.is_some() {
            return refused("including column does not support an operator class");
        }
        if *direction != Direction::Default {
            return refused("including column does not support ASC/DESC options");
        }
        if nulls_first.is_some() {
            return refused("including column does not support NULLS FIRST/LAST options");
        }
        Ok(column)
    };
    named.iter().map(column).collect()
}

/// What a key orders by, and the collation that it names: behind the key itself, else around its whole expression.
fn without_collation(key: &IndexKey) -> (&Expr, Option<&ObjectName>) {
    let (mut expr, mut collation) = (&key.expr, key.collation.as_ref());
    while let ExprKind::Collate { operand, collation: around } = &expr.kind {
        collation = collation.or(Some(around));
        expr = operand;
    }
    (expr, collation)
}

/// The column that an expression is, if that is all it says.
fn shown_column(relation: &Relation, text: &str) -> Option<usize> {
    let named = |column: &Column| !column.dropped && identifier(&column.name) == text;
    relation.columns.iter().position(named)
}

impl Ddl<'_> {
    /// The keys of a CREATE INDEX.
    ///
    /// # Errors
    /// 42703, 42704, 42804, 54011; those of expressions.
    pub(super) fn key_columns(
        &mut self,
        relation: &Relation,
        keys: &[IndexKey],
    ) -> Result<(Vec<IndexColumn>, Vec<IndexExpression>)> {
        let snapshot = self.snapshot();
        let (mut columns, mut expressions) = (Vec::new(), Vec::new());
        for key in keys {
            let (expr, collation) = without_collation(key);
            let (column, ty, own) = match plain_column(relation, expr)? {
                Some(at) => (at, relation.columns[at].ty, relation.columns[at].collation),
                None => {
                    let mut made = self.semantics.index_expression(&snapshot, relation, expr)?;
                    self.hold_named(made.value.edges())?;
                    let shown = self.semantics.text(&snapshot, relation, &made.value)?;
                    let ty = made.ty;
                    // Of several that columns bring, the key has to say which one counts.
                    let usual = snapshot.collation_of(ty.oid);
                    if made.collation == Oid(0) && usual != Oid(0) {
                        collation.ok_or_else(undetermined)?;
                        made.collation = usual;
                    }
                    let own = made.collation;
                    // A cast to the type that a column has leaves the column.
                    let at = shown_column(relation, &shown).unwrap_or_else(|| {
                        expressions.push(made);
                        EXPRESSIONS + expressions.len() - 1
                    });
                    (at, ty, own)
                }
            };
            let collation = collation.map(collation_named).transpose()?;
            self.check_collation(ty, own, collation)?;
            let (made, class) = match &key.class {
                Some(named) => match self.made_class(named, ty)? {
                    Some(made) => (Some(made), None),
                    None => (None, Some(self.operator_class(named, ty)?)),
                },
                None => (self.snapshot().default_user_class(ty.oid).cloned(), None),
            };
            if let (Some(class), false) = (class, key.class_options.is_empty()) {
                return Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("operator class {} has no options", class.name),
                ));
            }
            let default = builtin::ordering(ty.oid.0).map(|default| default.opclass);
            let class = class.map(|class| class.oid).filter(|class| Some(*class) != default);
            let class = class.or(made.map(|made| made.oid.0));
            let descending = key.direction == Direction::Descending;
            columns.push(IndexColumn {
                column,
                descending,
                nulls_first: key.nulls_first.unwrap_or(descending),
                class: Oid(class.unwrap_or(0)),
                collation: collation.filter(|chosen| *chosen != own).unwrap_or(Oid(0)),
            });
        }
        Ok((columns, expressions))
    }

    /// The operator class of this name that a user made, if it is one: it takes the type as it is.
    fn made_class(
        &mut self,
        named: &ObjectName,
        ty: SqlType,
    ) -> Result<Option<Arc<UserOperatorClass>>> {
        let snapshot = self.snapshot();
        let schema = named.schema().and_then(|name| snapshot.schema(name)).map(|one| one.oid);
        let path = self.path().schemas;
        let built_in = snapshot.operator_class_named((schema, &path), named.name()).is_some();
        let found = snapshot.user_class_named((schema, &path), BTREE, named.name()).cloned();
        let Some(class) = found.filter(|_| !built_in) else { return Ok(None) };
        let base = snapshot.base_type(SqlType::plain(ty.oid.0)).oid;
        let alike = class.input == ty.oid
            || class.input == base
            || snapshot.cast(base, class.input).is_some_and(|cast| {
                cast.method == builtin::CastMethod::Binary
                    && cast.context == builtin::CastContext::Implicit
            });
        if !alike {
            let plain = self.plain_type_shown(ty);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("operator class \"{named}\" does not accept data type {plain}"),
            ));
        }
        if builtin::ordering(ty.oid.0).is_none() {
            let plain = self.plain_type_shown(ty);
            let message = format!("operator class \"{named}\" for data type {plain} is");
            return Err(SqlError::unsupported(message));
        }
        let key = self.catalog.key(Class::OperatorClass, class.oid);
        self.catalog.hold(self.transaction, key)?;
        Ok(Some(class))
    }

    /// The operator class of this name.
    fn operator_class(
        &mut self,
        named: &ObjectName,
        ty: SqlType,
    ) -> Result<&'static OperatorClass> {
        let snapshot = self.snapshot();
        let schema = match named.schema() {
            Some(name) => Some(snapshot.schema(name).ok_or_else(|| undefined_schema(name))?.oid),
            None => None,
        };
        let path = self.path().schemas;
        let found = snapshot.operator_class_named((schema, &path), named.name());
        let class = found.ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("operator class \"{named}\" does not exist for access method \"btree\""),
            )
        })?;
        self.check_class(class, &named.to_string(), ty)?;
        Ok(class)
    }

    /// 42804 for a class that does not take a type, 0A000 for one that orders it in another way.
    fn check_class(&mut self, class: &OperatorClass, shown: &str, ty: SqlType) -> Result<()> {
        if !class.accepts(ty.oid.0) {
            let plain = self.plain_type_shown(ty);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("operator class \"{shown}\" does not accept data type {plain}"),
            ));
        }
        if class.orders_alike(ty.oid.0) {
            return Ok(());
        }
        let plain = self.plain_type_shown(ty);
        Err(SqlError::unsupported(format!("operator class \"{shown}\" for data type {plain} is")))
    }

    /// 42804 where a type has no collations.
    pub(super) fn check_collation(
        &mut self,
        ty: SqlType,
        own: Oid,
        given: Option<Oid>,
    ) -> Result<()> {
        if given.is_none() || own != Oid(0) {
            return Ok(());
        }
        let plain = self.plain_type_shown(ty);
        Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("collations are not supported by type {plain}"),
        ))
    }

    /// Holds the keys of an index against the types that they have.
    ///
    /// # Errors
    /// 42704 for a type without an ordering, 42804 for a class or a collation that the type does not take.
    pub(super) fn check_keys(&mut self, relation: &Relation, index: &Index) -> Result<()> {
        for key in &index.columns {
            let ty = relation.key_type(index, key);
            let own = relation.key_collation(index, &IndexColumn::plain(key.column));
            let given = (key.collation != Oid(0)).then_some(key.collation);
            self.check_collation(ty, own, given)?;
            if let Some(class) = builtin::operator_class(key.class.0) {
                self.check_class(class, class.name, ty)?;
            }
            let made = self.snapshot().user_operator_class(key.class).cloned();
            if let Some(class) = made.filter(|_| index.unique) {
                self.demand_unique_class(&class)?;
            }
            if builtin::ordering(ty.oid.0).is_none() {
                return Err(no_operator_class(&self.plain_type_shown(ty)));
            }
        }
        Ok(())
    }
}
