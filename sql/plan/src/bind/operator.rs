//! Operators, and what is defined by them: comparison of rows, IS DISTINCT FROM, BETWEEN, IN lists, ANY and ALL of an array.

use crate::bind::coerce::{Context, is_polymorphic};
use crate::bind::expression::Place;
use crate::bind::type_name::{array_of, fields_of, oid};
use crate::bind::typed::{CallForm, Expr, Literal, Quantifier};
use crate::bind::{Binder, levels};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::iter;

/// An operator by its name alone.
pub(super) fn op(name: &str) -> ast::Operator {
    ast::Operator { schema: None, name: name.into() }
}

impl Binder<'_> {
    /// `op operand`.
    pub(super) fn prefix(&self, operator: &ast::Operator, operand: Expr, at: u32) -> Result<Expr> {
        let chosen = self.operator(operator, &[operand.ty().oid], at)?;
        let operand = self.argument(operand, Oid(chosen.right), at)?;
        Ok(Expr::Call {
            function: chosen.function,
            arguments: vec![operand],
            ty: SqlType::plain(chosen.result),
            form: CallForm::Operator(chosen.oid),
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
            function: chosen.function,
            arguments: vec![left, right],
            ty: SqlType { oid: result, typmod: -1 },
            form: CallForm::Operator(chosen.oid),
            position: at,
        })
    }

    /// `left op right`, where the sides may be rows.
    pub(super) fn binary(
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
            return self.compare_written_rows(operator, a, b, at);
        }
        if let (ExprKind::Row { fields, .. }, ExprKind::Subquery(query)) = (&left.kind, &right.kind)
        {
            return self.compare_with_row_of(fields, operator, query, place, at);
        }
        let places = (self.position(left.start()), self.position(right.start()));
        let left = self.expression(left, place)?;
        let right = self.expression(right, place)?;
        self.infix_of(operator, (left, places.0), (right, places.1), at)
    }

    /// `(a, b) op (c, d)` as both sides are written. Where it is only printed an order stays one of rows, whose fields have the
    /// types that their operators take.
    fn compare_written_rows(
        &self,
        operator: &ast::Operator,
        left: Vec<Expr>,
        right: Vec<Expr>,
        at: u32,
    ) -> Result<Expr> {
        let order = matches!(&*operator.name, "<" | "<=" | ">" | ">=");
        if !self.prints() || !order || left.len() < 2 || left.len() != right.len() {
            return self.compare_rows(operator, left, right, at);
        }
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for (a, b) in left.into_iter().zip(right) {
            let Expr::Call { arguments, .. } = self.infix(operator, a.clone(), b.clone(), at)?
            else {
                fields.push(a);
                others.push(b);
                continue;
            };
            let mut arguments = arguments.into_iter();
            fields.push(arguments.next().unwrap_or(a));
            others.push(arguments.next().unwrap_or(b));
        }
        let row = |fields| Expr::Row(fields, SqlType::plain(oid::RECORD), None);
        self.infix(operator, row(fields), row(others), at)
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
            "<" | "<=" | ">" | ">=" => self.rows_in_order(operator, &pairs, at).map_err(|error| {
                // What is wrong is told of the operator as it is written, and of the first columns that it is wrong of.
                let each =
                    pairs.iter().map(|(a, b)| self.infix(operator, a.clone(), b.clone(), at));
                each.filter_map(Result::err).next().unwrap_or(error)
            }),
            other => {
                for (a, b) in &pairs {
                    let compared = self.infix(operator, a.clone(), b.clone(), at)?.ty().oid;
                    if compared.0 != oid::BOOL {
                        return Err(SqlError::new(
                            SqlState::DATATYPE_MISMATCH,
                            format!(
                                "row comparison operator must yield type boolean, not type {}",
                                self.type_text(compared)
                            ),
                        )
                        .at(at));
                    }
                }
                Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!(
                        "could not determine interpretation of row comparison operator {other}"
                    ),
                )
                .hint("Row comparison operators must be associated with btree operator families.")
                .at(at))
            }
        }
    }

    /// `(a, b) < (c, d)` is `a < c OR (a = c AND b < d)`.
    fn rows_in_order(
        &self,
        operator: &ast::Operator,
        pairs: &[(Expr, Expr)],
        at: u32,
    ) -> Result<Expr> {
        let strict = op(operator.name.trim_end_matches('='));
        let mut result: Option<Expr> = None;
        for (position, (a, b)) in pairs.iter().enumerate().rev() {
            let last = position + 1 == pairs.len();
            let here = if last { operator } else { &strict };
            let here = self.infix(here, a.clone(), b.clone(), at)?;
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

    /// The fields of a row constructor.
    pub(super) fn row_fields(&self, fields: &[ast::Expr], place: &Place<'_>) -> Result<Vec<Expr>> {
        Ok(self.values_of(fields, place)?.into_iter().map(|(field, _)| field).collect())
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

    /// `IS [NOT] DISTINCT FROM`: of two rows written out field by field, of others as values.
    pub(super) fn distinct(
        &self,
        (left, right): (&ast::Expr, &ast::Expr),
        negated: bool,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let written = is_written_row(left) && is_written_row(right);
        let (left, right) = (self.expression(left, place)?, self.expression(right, place)?);
        if let (true, Expr::Row(a, ..), Expr::Row(b, ..)) = (written, &left, &right) {
            if a.len() != b.len() {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "unequal number of entries in row expressions",
                )
                .at(at));
            }
            let part = |(a, b): (&Expr, &Expr)| {
                let (equals, left, right) = self.comparison("=", a.clone(), b.clone(), at)?;
                let (left, right) = (Box::new(left), Box::new(right));
                Ok(Expr::IsDistinct { left, right, equals, negated: false })
            };
            let mut parts: Vec<Expr> = a.iter().zip(b).map(part).collect::<Result<_>>()?;
            let any = match parts.len() {
                1 => parts.remove(0),
                _ => Expr::Or(parts),
            };
            return Ok(if negated { Expr::Not(Box::new(any)) } else { any });
        }
        self.distinct_values(left, right, negated, at)
    }

    fn distinct_values(&self, left: Expr, right: Expr, negated: bool, at: u32) -> Result<Expr> {
        // Of a row IS NULL asks for the fields.
        let is_row = |expr: &Expr| {
            let ty = expr.ty().oid;
            let known = ty.0 == oid::RECORD || fields_of(self.catalog, ty).is_some();
            // That of a relation that is being made has no fields yet.
            known || matches!(expr, Expr::Row(..))
        };
        // One that is written without a type.
        let is_null = |expr: &Expr| matches!(expr, Expr::Constant(Literal::Null, ty) if ty.oid.0 == oid::UNKNOWN);
        if is_null(&right) && !is_row(&left) {
            return Ok(Expr::IsNull {
                operand: Box::new(self.without_type(left)?),
                negated: !negated,
            });
        }
        if is_null(&left) && !is_row(&right) {
            return Ok(Expr::IsNull {
                operand: Box::new(self.without_type(right)?),
                negated: !negated,
            });
        }
        // A row of a relation that is being made is compared as any record is.
        let unmade = |expr: &Expr| {
            let ty = expr.ty().oid;
            matches!(expr, Expr::Row(..))
                && ty.0 != oid::RECORD
                && fields_of(self.catalog, ty).is_none()
        };
        let row = match (unmade(&left) && is_null(&right), unmade(&right) && is_null(&left)) {
            (true, _) => Some(left.clone()),
            (_, true) => Some(right.clone()),
            _ => None,
        };
        if let Some(row) = row {
            let null = Expr::Constant(Literal::Null, SqlType::plain(oid::RECORD));
            let (equals, _, null) = self.comparison("=", null.clone(), null, at)?;
            let (left, right) = (Box::new(row), Box::new(null));
            return Ok(Expr::IsDistinct { left, right, equals, negated });
        }
        let (equals, left, right) = self.comparison("=", left, right, at)?;
        Ok(Expr::IsDistinct { left: Box::new(left), right: Box::new(right), equals, negated })
    }

    /// `[NOT] BETWEEN [SYMMETRIC]`: two comparisons.
    pub(super) fn between(
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

    /// `[NOT] IN (list)`: constants become one array, what reads columns a comparison each.
    pub(super) fn in_list(
        &self,
        operand: &ast::Expr,
        list: &[ast::Expr],
        negated: bool,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let name = op(if negated { "<>" } else { "=" });
        // Rows that are written out are compared field by field, under casts too.
        if let ExprKind::Row { fields, .. } = &operand.kind {
            let left = self.row_fields(fields, place)?;
            let mut parts = Vec::new();
            for item in list {
                parts.push(match self.written_row(item, place)? {
                    Some(right) => self.compare_written_rows(&name, left.clone(), right, at)?,
                    None => {
                        let row = self.expression(operand, place)?;
                        self.infix(&name, row, self.expression(item, place)?, at)?
                    }
                });
            }
            return Ok(self.joined(parts, negated));
        }
        let left = self.expression(operand, place)?;
        let left_fields = match &left {
            Expr::Row(fields, ..) if is_written_row(operand) => Some(fields.clone()),
            _ => None,
        };
        let items: Vec<(Expr, &ast::Expr)> = list
            .iter()
            .map(|item| Ok((self.expression(item, place)?, item)))
            .collect::<Result<_>>()?;
        let mut parts = Vec::new();
        let mut singles = items;
        if singles.iter().filter(|(item, _)| is_constant(item)).count() > 1 {
            let (constant, varying): (Vec<_>, Vec<_>) =
                singles.into_iter().partition(|(item, _)| is_constant(item));
            singles = varying;
            // Where two types would do, that of the left side.
            let of_items =
                constant.iter().map(|(item, ast)| (item.ty().oid, self.position(ast.start())));
            let types: Vec<(Oid, u32)> = iter::once((left.ty().oid, at)).chain(of_items).collect();
            // A type that one of them has no way to is no common one: then each is compared by itself.
            let fits = |ty: &Oid| {
                ty.0 != oid::RECORD
                    && types.iter().all(|(one, _)| self.can_coerce(*one, *ty, Context::Implicit))
            };
            let common = self.common_type(&types, None)?.filter(fits);
            match common.and_then(|ty| Some((ty, array_of(self.catalog, ty)?))) {
                Some((element, array)) => {
                    let elements = constant
                        .into_iter()
                        .map(|(item, ast)| {
                            let at = self.position(ast.start());
                            self.to_common_one(item, SqlType { oid: element, typmod: -1 }, "IN", at)
                        })
                        .collect::<Result<_>>()?;
                    let array = Expr::Array { elements, ty: SqlType { oid: array, typmod: -1 } };
                    let pair = (left.clone(), array);
                    parts.push(self.scalar_array(pair, (at, at), &name, negated, at)?);
                }
                None => singles.splice(0..0, constant).for_each(drop),
            }
        }
        for (item, ast) in singles {
            let right = match &left_fields {
                Some(_) => self.written_row(ast, place)?,
                None => None,
            };
            parts.push(match (&left_fields, right) {
                (Some(left), Some(right)) => {
                    self.compare_written_rows(&name, left.clone(), right, at)?
                }
                _ => {
                    let item = (item, self.position(ast.start()));
                    self.infix_of(&name, (left.clone(), at), item, at)?
                }
            });
        }
        Ok(self.joined(parts, negated))
    }

    /// Parts of an IN list as one condition. PostgreSQL joins them two by two, which is seen where they are printed.
    fn joined(&self, mut parts: Vec<Expr>, negated: bool) -> Expr {
        let join = if negated { Expr::And } else { Expr::Or };
        if !self.prints() && parts.len() > 1 {
            return join(parts);
        }
        let first = parts.remove(0);
        parts.into_iter().fold(first, |all, part| join(vec![all, part]))
    }

    /// The fields of a row that is written out, maybe under casts; none of what is no such row.
    fn written_row(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Option<Vec<Expr>>> {
        match &expr.kind {
            ExprKind::Row { fields, .. } => self.row_fields(fields, place).map(Some),
            ExprKind::Cast { .. } if is_written_row(expr) => {
                Ok(match self.expression(expr, place)? {
                    Expr::Row(fields, ..) => Some(fields),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    /// `left op ANY (array)` or `ALL`.
    pub(super) fn scalar_array(
        &self,
        (left, array): (Expr, Expr),
        (left_at, array_at): (u32, u32),
        operator: &ast::Operator,
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
        let fits = declared[1] == element || is_polymorphic(chosen.right);
        let array_type = if fits && array.ty().oid.0 != oid::UNKNOWN {
            self.catalog.base_type(array.ty()).oid
        } else {
            self.array_type(declared[1], at)?
        };
        let left = self.argument(left, declared[0], left_at)?;
        let array = self.argument(array, array_type, array_at)?;
        Ok(Expr::ScalarArray {
            left: Box::new(left),
            operator: chosen.oid,
            function: chosen.function,
            array: Box::new(array),
            quantifier: if all { Quantifier::All } else { Quantifier::Any },
        })
    }
}

/// Whether a row is written out, maybe under casts.
fn is_written_row(mut expr: &ast::Expr) -> bool {
    while let ExprKind::Cast { operand, .. } = &expr.kind {
        expr = operand;
    }
    matches!(expr.kind, ExprKind::Row { .. })
}

/// Whether an expression reads no column of the query that it stands in: an IN list of such becomes an array.
fn is_constant(expr: &Expr) -> bool {
    let reads = |part: &Expr| {
        let mut found = false;
        if matches!(part, Expr::Column { .. } | Expr::Subquery { .. }) {
            levels::columns_of_expr(&mut part.clone(), 0, &mut |column, depth| {
                found |= matches!(column, Expr::Column { level, .. } if *level == depth);
            });
        }
        found
    };
    !levels::any(expr, &reads)
}
