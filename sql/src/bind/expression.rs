//! Expressions: from what was written to typed trees (`transformExpr`).

use crate::bind::coerce::Context;
use crate::bind::expr::{CurrentValue, Expr, Literal, Quantifier, SubqueryKind};
use crate::bind::grouping::Collected;
use crate::bind::scope::{Missing, Scope, column_at};
use crate::bind::type_name::{array_of, fields_of, oid, resolve};
use crate::bind::with::CteScope;
use crate::bind::{Binder, levels};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, Ident, Index};
use crate::plan::logical::Query;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::cell::RefCell;
use std::sync::Arc;

/// Where an expression stands.
pub(super) struct Place<'s> {
    /// The names it may use.
    pub scope: &'s Scope<'s>,
    /// The WITH queries it may use.
    pub ctes: Option<&'s CteScope<'s>>,
    /// The clause, as messages name it.
    pub clause: &'static str,
    /// Where aggregates and window calls go; none: the clause takes none.
    pub collected: Option<&'s RefCell<Collected>>,
    /// Window functions are allowed too.
    pub windows: bool,
    /// Set-returning functions are allowed.
    pub sets: bool,
}

impl<'s> Place<'s> {
    /// A place that takes plain values only.
    pub fn plain(
        scope: &'s Scope<'s>,
        ctes: Option<&'s CteScope<'s>>,
        clause: &'static str,
    ) -> Place<'s> {
        Place { scope, ctes, clause, collected: None, windows: false, sets: false }
    }

    /// The same place for an argument of an aggregate: no aggregate within it.
    pub fn inner(&self, clause: &'static str) -> Place<'s> {
        Place {
            scope: self.scope,
            ctes: self.ctes,
            clause,
            collected: None,
            windows: false,
            sets: false,
        }
    }
}

pub(super) const BOOL: SqlType = SqlType::plain(oid::BOOL);

pub(super) fn text_literal(text: &str) -> Expr {
    Expr::Constant(Literal::Text(text.into()), SqlType::plain(oid::UNKNOWN))
}

fn op(name: &str) -> ast::Operator {
    ast::Operator { schema: None, name: name.into() }
}

impl Binder<'_> {
    /// An expression.
    pub(super) fn expression(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Expr> {
        let branches = matches!(
            expr.kind,
            ExprKind::Case { .. } | ExprKind::Coalesce(_) | ExprKind::And(_) | ExprKind::Or(_)
        );
        self.guarded.set(self.guarded.get() + u32::from(branches));
        let bound = self.deeper(|| self.expression_kind(expr, place));
        self.guarded.set(self.guarded.get() - u32::from(branches));
        self.folded(bound?)
    }

    /// An immutable function of constants is its value (`eval_const_expressions`).
    fn folded(&self, expr: Expr) -> Result<Expr> {
        let Expr::Call { function, arguments, ty, .. } = &expr else { return Ok(expr) };
        if !self.folds {
            return Ok(expr);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Expr::Constant(value, _) if *value != Literal::Null => values.push(value.clone()),
                // A cast that the arguments were given is a call of its own.
                Expr::Call { .. } => match self.folded(argument.clone())? {
                    Expr::Constant(value, _) if value != Literal::Null => values.push(value),
                    _ => return Ok(expr),
                },
                _ => return Ok(expr),
            }
        }
        match self.constants.call(*function, &values) {
            Some(Ok(value)) => Ok(Expr::Constant(value, *ty)),
            Some(Err(error)) if self.guarded.get() == 0 => Err(error),
            _ => Ok(expr),
        }
    }

    /// A condition.
    pub(super) fn condition(
        &self,
        expr: &ast::Expr,
        place: &Place<'_>,
        clause: &str,
    ) -> Result<Expr> {
        let bound = self.expression(expr, place)?;
        self.boolean(bound, clause, self.position(expr.start()))
    }

    fn expression_kind(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Expr> {
        let at = self.position(expr.at);
        match &expr.kind {
            ExprKind::Column(parts) => self.column(parts, place, at),
            ExprKind::Star(_) => Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "row expansion via \"*\" is not supported here",
            )
            .at(at)),
            ExprKind::Integer(value) => {
                Ok(Expr::Constant(Literal::Int4(*value), SqlType::plain(oid::INT4)))
            }
            ExprKind::Number(text) => self.number(text, at),
            ExprKind::String(text) => Ok(text_literal(text)),
            ExprKind::Bits(letter, digits) => self.bits(*letter, digits, at),
            ExprKind::Bool(value) => Ok(Expr::Constant(Literal::Bool(*value), BOOL)),
            ExprKind::Null => Ok(Expr::Constant(Literal::Null, SqlType::plain(oid::UNKNOWN))),
            ExprKind::Parameter(number) => self.parameter(*number, at),
            ExprKind::Default => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context")
                    .at(at))
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.expression(operand, place)?;
                self.prefix(operator, operand, at)
            }
            ExprKind::Binary(left, operator, right) => {
                self.binary(left, operator, right, place, at)
            }
            ExprKind::And(list) => Ok(Expr::And(self.conditions(list, place, "AND")?)),
            ExprKind::Or(list) => Ok(Expr::Or(self.conditions(list, place, "OR")?)),
            ExprKind::Not(operand) => {
                Ok(Expr::Not(Box::new(self.condition(operand, place, "NOT")?)))
            }
            ExprKind::IsNull { operand, negated } => {
                let operand = self.decided(self.expression(operand, place)?)?;
                Ok(Expr::IsNull { operand: Box::new(operand), negated: *negated })
            }
            ExprKind::IsBool { operand, test, negated } => {
                let clause = match (test, negated) {
                    (Some(true), false) => "IS TRUE",
                    (Some(true), true) => "IS NOT TRUE",
                    (Some(false), false) => "IS FALSE",
                    (Some(false), true) => "IS NOT FALSE",
                    (None, false) => "IS UNKNOWN",
                    (None, true) => "IS NOT UNKNOWN",
                };
                let operand = Box::new(self.condition(operand, place, clause)?);
                Ok(Expr::IsBool { operand, test: *test, negated: *negated })
            }
            ExprKind::IsDistinct { left, right, negated } => self.distinct(
                self.expression(left, place)?,
                self.expression(right, place)?,
                *negated,
                at,
            ),
            ExprKind::InList { operand, list, negated } => {
                self.in_list(operand, list, *negated, place, at)
            }
            ExprKind::InQuery { operand, query, negated } => {
                let found = self.quantified_query(operand, &op("="), false, query, place, at)?;
                Ok(if *negated { Expr::Not(Box::new(found)) } else { found })
            }
            ExprKind::Between { operand, low, high, negated, symmetric } => {
                self.between(operand, low, high, (*negated, *symmetric), place, at)
            }
            ExprKind::QuantifiedArray { left, op, all, array } => {
                let left = self.expression(left, place)?;
                let array = self.expression(array, place)?;
                self.scalar_array(left, op, array, *all, at)
            }
            ExprKind::QuantifiedQuery { left, op, all, query } => {
                self.quantified_query(left, op, *all, query, place, at)
            }
            ExprKind::Subquery(query) => self.scalar_subquery(query, place, at),
            ExprKind::Exists(query) => {
                let query = Arc::new(self.subquery(query, place)?);
                Ok(Expr::Subquery { kind: SubqueryKind::Exists, query, ty: BOOL })
            }
            ExprKind::ArrayQuery(query) => self.array_subquery(query, place, at),
            ExprKind::Array(elements) => self.array(elements, None, place, at),
            ExprKind::Row { fields, .. } => {
                let fields = self.row_fields(fields, place)?;
                let fields =
                    fields.into_iter().map(|field| self.decided(field)).collect::<Result<_>>()?;
                Ok(Expr::Row(fields, SqlType::plain(oid::RECORD)))
            }
            ExprKind::Subscript { operand, indices } => self.subscript(operand, indices, place, at),
            ExprKind::Field { operand, name } => self.field(operand, name, place, at),
            ExprKind::AllFields(_) => Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "row expansion via \"*\" is not supported here",
            )
            .at(at)),
            ExprKind::Collate { operand, collation } => {
                let operand = self.expression(operand, place)?;
                self.collate(operand, collation, at)
            }
            ExprKind::Cast { operand, ty } => self.explicit_cast(operand, ty, place, at),
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), place)
            }
            ExprKind::Coalesce(arguments) => {
                let (arguments, ty) = self.common(arguments, place, "COALESCE")?;
                Ok(Expr::Coalesce(arguments, ty))
            }
            ExprKind::Extreme { greatest, arguments } => {
                let name = if *greatest { "GREATEST" } else { "LEAST" };
                let (arguments, ty) = self.common(arguments, place, name)?;
                self.demand_ordering(ty.oid, at)?;
                Ok(Expr::Extreme { arguments, greatest: *greatest, ty })
            }
            ExprKind::NullIf(left, right) => {
                let (left, right) = (self.expression(left, place)?, self.expression(right, place)?);
                let (equals, left, right) = self.comparison("=", left, right, at)?;
                let ty = left.ty();
                Ok(Expr::NullIf { left: Box::new(left), right: Box::new(right), equals, ty })
            }
            ExprKind::CurrentValue(value) => Ok(Expr::CurrentValue(*value, current_type(*value))),
            ExprKind::Grouping(arguments) => self.grouping(arguments, place, at),
            ExprKind::Call(call) => self.call(call, place, at),
            ExprKind::CurrentOf(_) => Err(SqlError::unsupported("WHERE CURRENT OF is").at(at)),
        }
    }

    fn conditions(&self, list: &[ast::Expr], place: &Place<'_>, clause: &str) -> Result<Vec<Expr>> {
        list.iter().map(|expr| self.condition(expr, place, clause)).collect()
    }

    /// Values of a list brought to their common type.
    fn common(
        &self,
        list: &[ast::Expr],
        place: &Place<'_>,
        context: &str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        let bound = list
            .iter()
            .map(|expr| Ok((self.expression(expr, place)?, self.position(expr.start()))))
            .collect::<Result<_>>()?;
        self.to_common(bound, context)
    }

    /// An untyped literal or parameter that nothing gives a type is text.
    pub(super) fn decided(&self, expr: Expr) -> Result<Expr> {
        if expr.ty().oid.0 == oid::UNKNOWN {
            self.argument(expr, Oid(oid::TEXT), 0)
        } else {
            Ok(expr)
        }
    }

    fn number(&self, text: &str, at: u32) -> Result<Expr> {
        if let Ok(value) = text.parse::<i32>() {
            return Ok(Expr::Constant(Literal::Int4(value), SqlType::plain(oid::INT4)));
        }
        if let Ok(value) = text.parse::<i64>() {
            return Ok(Expr::Constant(Literal::Int8(value), SqlType::plain(oid::INT8)));
        }
        let ty = SqlType::plain(oid::NUMERIC);
        Ok(Expr::Constant(self.constants.read(ty, text).map_err(|error| error.at(at))?, ty))
    }

    fn bits(&self, letter: char, digits: &str, at: u32) -> Result<Expr> {
        let ty = SqlType::plain(oid::BIT);
        let text = format!("{}{digits}", letter.to_ascii_lowercase());
        Ok(Expr::Constant(self.constants.read(ty, &text).map_err(|error| error.at(at))?, ty))
    }

    // --- names -----------------------------------------------------------------------------------------------------

    fn column(&self, parts: &[Ident], place: &Place<'_>, at: u32) -> Result<Expr> {
        let (qualifier, name) = match parts {
            [name] => {
                return match place.scope.column(name) {
                    Ok(found) => Ok(found.expr),
                    Err(Missing::Ambiguous) => Err(SqlError::new(
                        SqlState::AMBIGUOUS_COLUMN,
                        format!("column reference \"{name}\" is ambiguous"),
                    )
                    .at(at)),
                    // The name of a FROM item stands for its whole row.
                    Err(_) => match place.scope.item(None, name) {
                        Some(_) => self.whole_row(None, name, place, at),
                        None => Err(SqlError::new(
                            SqlState::UNDEFINED_COLUMN,
                            format!("column \"{name}\" does not exist"),
                        )
                        .at(at)),
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
            Ok(found) => Ok(found.expr),
            Err(Missing::Ambiguous) => Err(SqlError::new(
                SqlState::AMBIGUOUS_ALIAS,
                format!("table reference \"{}\" is ambiguous", qualifier.1),
            )
            .at(at)),
            Err(Missing::NoColumn) => {
                // `t.f` may be the function f of the row.
                Err(SqlError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!("column {}.{name} does not exist", qualifier.1),
                )
                .at(at))
            }
            Err(missing) => {
                // `c.f`: a field of the composite column c.
                if qualifier.0.is_none()
                    && let Ok(found) = place.scope.column(qualifier.1)
                    && fields_of(self.catalog, found.expr.ty().oid).is_some()
                {
                    return self.field_of(found.expr, name, at);
                }
                Err(self.missing_item(qualifier.1, missing == Missing::Hidden, place, at))
            }
        }
    }

    fn missing_item(&self, item: &str, hidden: bool, place: &Place<'_>, at: u32) -> SqlError {
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
        // A function that returns one plain column stands for its value.
        if let ([only], Oid(0)) = (item.columns.as_slice(), item.row_type)
            && item.schema.is_none()
            && only.origin.is_none()
            && Some(&only.name) == item.name.as_ref()
        {
            let mut expr = only.expr.clone();
            levels::raise(&mut expr, level);
            return Ok(expr);
        }
        let fields = item.columns.iter().filter(|column| !column.system).map(|column| {
            let mut expr = column.expr.clone();
            levels::raise(&mut expr, level);
            expr
        });
        let ty = if item.row_type == Oid(0) { oid::RECORD } else { item.row_type.0 };
        Ok(Expr::Row(fields.collect(), SqlType::plain(ty)))
    }

    fn field(&self, operand: &ast::Expr, name: &str, place: &Place<'_>, at: u32) -> Result<Expr> {
        let operand = self.expression(operand, place)?;
        self.field_of(operand, name, at)
    }

    pub(super) fn field_of(&self, operand: Expr, name: &str, at: u32) -> Result<Expr> {
        let ty = operand.ty();
        if let Some(columns) = self.composite_result(&operand)
            && let Some(place) = columns.iter().position(|(known, _)| &**known == name)
        {
            let ty = columns[place].1;
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
        Err(SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{name}\" not found in data type {}", self.type_text(ty.oid)),
        )
        .at(at))
    }

    /// The fields of a composite value: of its type, or of the function that gives it.
    pub(super) fn composite_result(&self, expr: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        if let Expr::Call { function, .. } = expr
            && let Some(found) = crate::catalog::builtin::function(function.0)
        {
            let columns: Vec<(Arc<str>, SqlType)> = found
                .output_columns()
                .map(|(name, ty)| (name.into(), SqlType::plain(ty)))
                .collect();
            if columns.len() > 1 {
                return Some(columns);
            }
        }
        fields_of(self.catalog, expr.ty().oid)
    }

    // --- operators -------------------------------------------------------------------------------------------------

    fn prefix(&self, operator: &ast::Operator, operand: Expr, at: u32) -> Result<Expr> {
        // The grammar folds a minus into the number behind it.
        if &*operator.name == "-" && operator.schema.is_none() {
            match &operand {
                Expr::Constant(Literal::Int4(value), ty) if *value != i32::MIN => {
                    return Ok(Expr::Constant(Literal::Int4(-value), *ty));
                }
                Expr::Constant(Literal::Int8(value), ty) => {
                    return Ok(match i32::try_from(-value) {
                        Ok(small) => {
                            Expr::Constant(Literal::Int4(small), SqlType::plain(oid::INT4))
                        }
                        Err(_) => Expr::Constant(Literal::Int8(-value), *ty),
                    });
                }
                _ => {}
            }
        }
        let chosen = self.operator(operator, &[operand.ty().oid], at)?;
        let operand = self.argument(operand, Oid(chosen.right), at)?;
        Ok(Expr::Call {
            function: Oid(chosen.function),
            arguments: vec![operand],
            ty: SqlType::plain(chosen.result),
            position: at,
        })
    }

    /// `left op right` over bound operands.
    pub(super) fn infix(
        &self,
        operator: &ast::Operator,
        left: Expr,
        right: Expr,
        at: u32,
    ) -> Result<Expr> {
        self.infix_of(operator, (left, at), (right, at), at)
    }

    /// `left op right`, each operand with the place of errors about its own value.
    fn infix_of(
        &self,
        operator: &ast::Operator,
        (left, left_at): (Expr, u32),
        (right, right_at): (Expr, u32),
        at: u32,
    ) -> Result<Expr> {
        let chosen = self.operator(operator, &[left.ty().oid, right.ty().oid], at)?;
        let actual = [left.ty().oid, right.ty().oid];
        let (declared, result) =
            self.resolve_polymorphic(&[chosen.left, chosen.right], &actual, chosen.result, at)?;
        let left = self.argument(left, declared[0], left_at)?;
        let right = self.argument(right, declared[1], right_at)?;
        Ok(Expr::Call {
            function: Oid(chosen.function),
            arguments: vec![left, right],
            ty: SqlType { oid: result, typmod: -1 },
            position: at,
        })
    }

    fn binary(
        &self,
        left: &ast::Expr,
        operator: &ast::Operator,
        right: &ast::Expr,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        if let (ExprKind::Row { fields: a, .. }, ExprKind::Row { fields: b, .. }) =
            (&left.kind, &right.kind)
        {
            let (a, b) = (self.row_fields(a, place)?, self.row_fields(b, place)?);
            return self.compare_rows(operator, a, b, at);
        }
        if let (ExprKind::Row { .. }, ExprKind::Subquery(_)) = (&left.kind, &right.kind) {
            return Err(SqlError::unsupported("comparing a row with a subquery's row is").at(at));
        }
        let places = (self.position(left.start()), self.position(right.start()));
        let left = self.expression(left, place)?;
        let right = self.expression(right, place)?;
        self.infix_of(operator, (left, places.0), (right, places.1), at)
    }

    /// `(a, b) op (c, d)`: column by column, from the left.
    pub(super) fn compare_rows(
        &self,
        operator: &ast::Operator,
        left: Vec<Expr>,
        right: Vec<Expr>,
        at: u32,
    ) -> Result<Expr> {
        if left.len() != right.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "unequal number of entries in row expressions",
            )
            .at(at));
        }
        if left.is_empty() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot compare rows of zero length",
            )
            .at(at));
        }
        let pairs: Vec<(Expr, Expr)> = left.into_iter().zip(right).collect();
        let all = |name: &str| -> Result<Vec<Expr>> {
            pairs.iter().map(|(a, b)| self.infix(&op(name), a.clone(), b.clone(), at)).collect()
        };
        match &*operator.name {
            "=" => Ok(Expr::And(all("=")?)),
            "<>" => Ok(Expr::Or(all("<>")?)),
            "<" | "<=" | ">" | ">=" => {
                // (a, b) < (c, d) is a < c OR (a = c AND b < d).
                let strict = op(operator.name.trim_end_matches('='));
                let mut result: Option<Expr> = None;
                for (position, (a, b)) in pairs.iter().enumerate().rev() {
                    let last = position + 1 == pairs.len();
                    let here = self.infix(
                        if last { operator } else { &strict },
                        a.clone(),
                        b.clone(),
                        at,
                    )?;
                    result = Some(match result {
                        None => here,
                        Some(rest) => {
                            let equal = self.infix(&op("="), a.clone(), b.clone(), at)?;
                            Expr::Or(vec![here, Expr::And(vec![equal, rest])])
                        }
                    });
                }
                Ok(result.expect("a row has a field"))
            }
            other => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("could not determine interpretation of row comparison operator {other}"),
            )
            .hint("Row comparison operators must be associated with btree operator families.")
            .at(at)),
        }
    }

    pub(super) fn row_fields(&self, fields: &[ast::Expr], place: &Place<'_>) -> Result<Vec<Expr>> {
        let mut bound = Vec::new();
        for field in fields {
            match &field.kind {
                ExprKind::Star(item) => {
                    for column in self.star(item, place, self.position(field.at))? {
                        bound.push(column.expr);
                    }
                }
                _ => bound.push(self.expression(field, place)?),
            }
        }
        Ok(bound)
    }

    /// The comparison function `name` for two values, and the values cast for it.
    pub(super) fn comparison(
        &self,
        name: &str,
        left: Expr,
        right: Expr,
        at: u32,
    ) -> Result<(Oid, Expr, Expr)> {
        match self.infix(&op(name), left, right, at)? {
            Expr::Call { function, mut arguments, .. } => {
                let right = arguments.pop().expect("two operands");
                let left = arguments.pop().expect("two operands");
                Ok((function, left, right))
            }
            _ => Err(SqlError::new(SqlState::INTERNAL_ERROR, "an operator is not a call")),
        }
    }

    fn distinct(&self, left: Expr, right: Expr, negated: bool, at: u32) -> Result<Expr> {
        if let (Expr::Row(a, _), Expr::Row(b, _)) = (&left, &right) {
            if a.len() != b.len() {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "unequal number of entries in row expressions",
                )
                .at(at));
            }
            let parts: Vec<Expr> = a
                .iter()
                .zip(b)
                .map(|(a, b)| self.distinct(a.clone(), b.clone(), negated, at))
                .collect::<Result<_>>()?;
            return Ok(if negated { Expr::And(parts) } else { Expr::Or(parts) });
        }
        if matches!(right, Expr::Constant(Literal::Null, _)) {
            return Ok(Expr::IsNull { operand: Box::new(self.decided(left)?), negated: !negated });
        }
        if matches!(left, Expr::Constant(Literal::Null, _)) {
            return Ok(Expr::IsNull { operand: Box::new(self.decided(right)?), negated: !negated });
        }
        let (equals, left, right) = self.comparison("=", left, right, at)?;
        Ok(Expr::IsDistinct { left: Box::new(left), right: Box::new(right), equals, negated })
    }

    fn between(
        &self,
        operand: &ast::Expr,
        low: &ast::Expr,
        high: &ast::Expr,
        (negated, symmetric): (bool, bool),
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let [value, low, high] = [operand, low, high].map(|expr| self.expression(expr, place));
        let (value, low, high) = (value?, low?, high?);
        let within = |low: &Expr, high: &Expr| -> Result<Expr> {
            let above =
                self.infix(&op(if negated { "<" } else { ">=" }), value.clone(), low.clone(), at)?;
            let below =
                self.infix(&op(if negated { ">" } else { "<=" }), value.clone(), high.clone(), at)?;
            Ok(if negated { Expr::Or(vec![above, below]) } else { Expr::And(vec![above, below]) })
        };
        let first = within(&low, &high)?;
        if !symmetric {
            return Ok(first);
        }
        let second = within(&high, &low)?;
        Ok(if negated { Expr::And(vec![first, second]) } else { Expr::Or(vec![first, second]) })
    }

    fn in_list(
        &self,
        operand: &ast::Expr,
        list: &[ast::Expr],
        negated: bool,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        if let ExprKind::Row { fields, .. } = &operand.kind {
            let left = self.row_fields(fields, place)?;
            let mut parts = Vec::new();
            for item in list {
                let ExprKind::Row { fields, .. } = &item.kind else {
                    return Err(SqlError::unsupported("IN with rows of different kinds is").at(at));
                };
                let right = self.row_fields(fields, place)?;
                parts.push(self.compare_rows(
                    &op(if negated { "<>" } else { "=" }),
                    left.clone(),
                    right,
                    at,
                )?);
            }
            return Ok(joined(parts, negated));
        }
        let left = self.expression(operand, place)?;
        let items: Vec<(Expr, u32)> = list
            .iter()
            .map(|item| Ok((self.expression(item, place)?, self.position(item.start()))))
            .collect::<Result<_>>()?;
        let (constant, varying): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|(item, _)| is_constant(item));
        let mut parts = Vec::new();
        let name = op(if negated { "<>" } else { "=" });
        let mut singles = varying;
        if constant.len() > 1 {
            let mut types: Vec<(Oid, u32)> =
                constant.iter().map(|(item, at)| (item.ty().oid, *at)).collect();
            types.push((left.ty().oid, at));
            let common = self.common_type(&types, None)?.filter(|ty| ty.0 != oid::RECORD);
            match common.and_then(|ty| Some((ty, array_of(self.catalog, ty)?))) {
                Some((element, array)) => {
                    let elements = constant
                        .into_iter()
                        .map(|(item, at)| {
                            self.to_common_one(item, SqlType { oid: element, typmod: -1 }, "IN", at)
                        })
                        .collect::<Result<_>>()?;
                    let array = Expr::Array { elements, ty: SqlType { oid: array, typmod: -1 } };
                    parts.push(self.scalar_array(left.clone(), &name, array, negated, at)?);
                }
                None => singles.splice(0..0, constant).for_each(drop),
            }
        } else {
            singles.splice(0..0, constant).for_each(drop);
        }
        for (item, item_at) in singles {
            parts.push(self.infix_of(&name, (left.clone(), at), (item, item_at), at)?);
        }
        Ok(joined(parts, negated))
    }

    fn scalar_array(
        &self,
        left: Expr,
        operator: &ast::Operator,
        array: Expr,
        all: bool,
        at: u32,
    ) -> Result<Expr> {
        let element = match array.ty().oid {
            Oid(oid::UNKNOWN) => Oid(oid::UNKNOWN),
            ty => self.element_of(ty).ok_or_else(|| {
                SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    "op ANY/ALL (array) requires array on right side",
                )
                .at(at)
            })?,
        };
        let chosen = self.operator(operator, &[left.ty().oid, element], at)?;
        if chosen.result != oid::BOOL {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                "op ANY/ALL (array) requires operator to yield boolean",
            )
            .at(at));
        }
        let actual = [left.ty().oid, element];
        let (declared, _) =
            self.resolve_polymorphic(&[chosen.left, chosen.right], &actual, chosen.result, at)?;
        let array_type = if declared[1] == element && array.ty().oid.0 != oid::UNKNOWN {
            array.ty().oid
        } else {
            array_of(self.catalog, declared[1]).ok_or_else(|| {
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!(
                        "could not find array type for data type {}",
                        self.type_text(declared[1])
                    ),
                )
                .at(at)
            })?
        };
        let left = self.argument(left, declared[0], at)?;
        let array = self.argument(array, array_type, at)?;
        Ok(Expr::ScalarArray {
            left: Box::new(left),
            function: Oid(chosen.function),
            array: Box::new(array),
            quantifier: if all { Quantifier::All } else { Quantifier::Any },
        })
    }

    // --- subqueries ------------------------------------------------------------------------------------------------

    /// A subquery in an expression: this place's row is one level out.
    fn subquery(&self, query: &ast::Query, place: &Place<'_>) -> Result<Query> {
        self.query_within(query, Some(place.scope), 1, place.ctes, true)
    }

    fn one_column(&self, query: &Query, at: u32) -> Result<SqlType> {
        match query.output.as_slice() {
            [only] => Ok(only.ty),
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "subquery must return only one column")
                .at(at)),
        }
    }

    fn scalar_subquery(&self, query: &ast::Query, place: &Place<'_>, at: u32) -> Result<Expr> {
        let query = self.subquery(query, place)?;
        let ty = self.one_column(&query, at)?;
        Ok(Expr::Subquery { kind: SubqueryKind::Scalar, query: Arc::new(query), ty })
    }

    fn array_subquery(&self, query: &ast::Query, place: &Place<'_>, at: u32) -> Result<Expr> {
        let query = self.subquery(query, place)?;
        let element = self.one_column(&query, at)?;
        let array = match self.element_of(element.oid) {
            Some(_) => element.oid,
            None => array_of(self.catalog, element.oid).ok_or_else(|| {
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!(
                        "could not find array type for data type {}",
                        self.type_text(element.oid)
                    ),
                )
                .at(at)
            })?,
        };
        let ty = SqlType { oid: array, typmod: element.typmod };
        Ok(Expr::Subquery { kind: SubqueryKind::Array, query: Arc::new(query), ty })
    }

    fn quantified_query(
        &self,
        left: &ast::Expr,
        operator: &ast::Operator,
        all: bool,
        query: &ast::Query,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let left = match &left.kind {
            ExprKind::Row { fields, .. } => self.row_fields(fields, place)?,
            _ => vec![self.expression(left, place)?],
        };
        let query = self.subquery(query, place)?;
        if query.output.len() != left.len() {
            let words = if query.output.len() < left.len() { "few" } else { "many" };
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("subquery has too {words} columns"),
            )
            .at(at));
        }
        let outer = left.into_iter().map(|mut expr| {
            levels::raise(&mut expr, 1);
            expr
        });
        let inner =
            query.output.iter().enumerate().map(|(place, column)| column_at(place, column.ty));
        let (outer, inner): (Vec<Expr>, Vec<Expr>) = (outer.collect(), inner.collect());
        let test = match (outer.as_slice(), inner.as_slice()) {
            ([outer], [inner]) => self.infix(operator, outer.clone(), inner.clone(), at)?,
            _ => self.compare_rows(operator, outer, inner, at)?,
        };
        if test.ty().oid.0 != oid::BOOL {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "operator {} must return type boolean, not type {}",
                    operator.name,
                    self.type_text(test.ty().oid)
                ),
            )
            .at(at));
        }
        let quantifier = if all { Quantifier::All } else { Quantifier::Any };
        let kind = SubqueryKind::Quantified { test: Box::new(test), quantifier };
        Ok(Expr::Subquery { kind, query: Arc::new(query), ty: BOOL })
    }

    // --- composed values -------------------------------------------------------------------------------------------

    /// `ARRAY[...]`; `wanted` is the array type of a cast around it, which its elements are cast to.
    fn array(
        &self,
        elements: &[ast::Expr],
        wanted: Option<SqlType>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let mut bound = Vec::new();
        for element in elements {
            let value = match &element.kind {
                ExprKind::Array(inner) => {
                    self.array(inner, wanted, place, self.position(element.at))?
                }
                _ => self.expression(element, place)?,
            };
            bound.push((value, self.position(element.start())));
        }
        if let Some(array) = wanted {
            let element = self.element_of(array.oid).unwrap_or(array.oid);
            let elements = bound
                .into_iter()
                .map(|(value, at)| {
                    let target =
                        if self.element_of(value.ty().oid).is_some() { array.oid } else { element };
                    self.cast(
                        value,
                        SqlType { oid: target, typmod: array.typmod },
                        Context::Explicit,
                        at,
                    )
                })
                .collect::<Result<_>>()?;
            return Ok(Expr::Array { elements, ty: array });
        }
        if bound.is_empty() {
            return Err(SqlError::new(
                SqlState::INDETERMINATE_DATATYPE,
                "cannot determine type of empty array",
            )
            .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
            .at(at));
        }
        let (elements, ty) = self.to_common(bound, "ARRAY")?;
        let array = match self.element_of(ty.oid) {
            Some(_) => ty.oid,
            None => array_of(self.catalog, ty.oid).ok_or_else(|| {
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("could not find array type for data type {}", self.type_text(ty.oid)),
                )
                .at(at)
            })?,
        };
        Ok(Expr::Array { elements, ty: SqlType { oid: array, typmod: ty.typmod } })
    }

    fn subscript(
        &self,
        operand: &ast::Expr,
        indices: &[Index],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let operand = self.expression(operand, place)?;
        let ty = operand.ty();
        let element = match ty.oid.0 {
            oid::INT2VECTOR => Oid(oid::INT2),
            oid::OIDVECTOR => Oid(oid::OID),
            _ => self.element_of(ty.oid).ok_or_else(|| {
                SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "cannot subscript type {} because it does not support subscripting",
                        self.type_text(ty.oid)
                    ),
                )
                .at(at)
            })?,
        };
        let index = |expr: &ast::Expr| -> Result<Expr> {
            let bound = self.expression(expr, place)?;
            let at = self.position(expr.start());
            if !self.can_coerce(bound.ty().oid, Oid(oid::INT4), Context::Assignment) {
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    "array subscript must have type integer",
                )
                .at(at));
            }
            self.cast(bound, SqlType::plain(oid::INT4), Context::Assignment, at)
        };
        let slice = indices.iter().any(|index| matches!(index, Index::Slice(..)));
        let bound = indices
            .iter()
            .map(|subscript| match subscript {
                // Beside a slice a plain subscript n means 1:n.
                Index::At(expr) => Ok((None, Some(index(expr)?))),
                Index::Slice(low, high) => Ok((
                    low.as_ref().map(&index).transpose()?,
                    high.as_ref().map(&index).transpose()?,
                )),
            })
            .collect::<Result<_>>()?;
        let result = if slice { ty } else { SqlType { oid: element, typmod: ty.typmod } };
        Ok(Expr::Subscript { operand: Box::new(operand), indices: bound, slice, ty: result })
    }

    fn collate(&self, operand: Expr, collation: &ast::ObjectName, at: u32) -> Result<Expr> {
        let (name, known) = (&**collation.name(), ["default", "C", "POSIX", "ucs_basic"]);
        if !known.contains(&name) && !name.starts_with("C.") {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("collation \"{collation}\" for encoding \"UTF8\" does not exist"),
            )
            .at(at));
        }
        let ty = operand.ty().oid;
        let collatable = matches!(ty.0, oid::UNKNOWN | oid::NAME)
            || crate::bind::type_name::category(ty).0 == 'S';
        if !collatable {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("collations are not supported by type {}", self.type_text(ty)),
            )
            .at(at));
        }
        Ok(operand)
    }

    fn explicit_cast(
        &self,
        operand: &ast::Expr,
        ty: &ast::TypeName,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let type_at = if ty.name.at == 0 { at } else { self.position(ty.name.at) };
        let target = resolve(self.catalog, self.path, ty).map_err(|error| error.at(type_at))?;
        let bound = match &operand.kind {
            ExprKind::Array(elements) if self.element_of(target.oid).is_some() => {
                self.array(elements, Some(target), place, self.position(operand.at))?
            }
            _ => self.expression(operand, place)?,
        };
        // An error in reading a literal points at it, one about the cast at the cast.
        let literal = matches!(
            bound,
            Expr::Constant(Literal::Text(_), SqlType { oid: Oid(oid::UNKNOWN), .. })
        );
        let position = if literal { self.position(operand.start()) } else { at };
        self.cast(bound, target, Context::Explicit, position)
    }

    fn case(
        &self,
        operand: Option<&ast::Expr>,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
        place: &Place<'_>,
    ) -> Result<Expr> {
        let tested = operand.map(|expr| self.decided(self.expression(expr, place)?)).transpose()?;
        let mut conditions = Vec::new();
        let mut results = Vec::new();
        for (when, then) in branches {
            let at = self.position(when.start());
            conditions.push(match &tested {
                None => self.condition(when, place, "CASE/WHEN")?,
                Some(value) => {
                    let compared =
                        self.infix(&op("="), value.clone(), self.expression(when, place)?, at)?;
                    self.boolean(compared, "CASE/WHEN", at)?
                }
            });
            results.push((self.expression(then, place)?, self.position(then.start())));
        }
        // ELSE is looked at first when the common type is chosen.
        let default = match otherwise {
            Some(expr) => (self.expression(expr, place)?, self.position(expr.start())),
            None => (Expr::Constant(Literal::Null, SqlType::plain(oid::UNKNOWN)), 0),
        };
        results.insert(0, default);
        let (mut results, ty) = self.to_common(results, "CASE")?;
        let default = results.remove(0);
        Ok(Expr::Case {
            branches: conditions.into_iter().zip(results).collect(),
            otherwise: otherwise.map(|_| Box::new(default)),
            ty,
        })
    }
}

/// Parts of an IN list as one condition.
fn joined(mut parts: Vec<Expr>, negated: bool) -> Expr {
    match (parts.len(), negated) {
        (1, _) => parts.remove(0),
        (_, true) => Expr::And(parts),
        (_, false) => Expr::Or(parts),
    }
}

/// Whether an expression reads no column: an IN list of such becomes an array.
fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    levels::columns_of_expr(&mut expr.clone(), 0, &mut |_, _| constant = false);
    constant && !matches!(expr, Expr::Subquery { .. })
}

/// The type of a keyword value.
fn current_type(value: CurrentValue) -> SqlType {
    let with = |ty: u32, precision: Option<u8>| SqlType {
        oid: Oid(ty),
        typmod: precision.map_or(-1, i32::from),
    };
    match value {
        CurrentValue::Date => SqlType::plain(oid::DATE),
        CurrentValue::Time(precision) => with(oid::TIMETZ, precision),
        CurrentValue::Timestamp(precision) => with(oid::TIMESTAMPTZ, precision),
        CurrentValue::LocalTime(precision) => with(oid::TIME, precision),
        CurrentValue::LocalTimestamp(precision) => with(oid::TIMESTAMP, precision),
        CurrentValue::User
        | CurrentValue::SessionUser
        | CurrentValue::Catalog
        | CurrentValue::Schema => SqlType::plain(oid::NAME),
    }
}
