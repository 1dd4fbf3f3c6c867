//! Expressions become scalars: columns become homes, functions their code, subqueries plans of their own.

use super::build::{Layout, Planner, Subplan, SubplanKind};
use super::functions::{callee, comparator, predicate};
use super::scalar::{Callee, Scalar, Target, Var};
use crate::bind::{Expr, Literal, SubqueryKind};
use crate::catalog::builtin;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::tuple::{Form, RowBuf};
use crate::types::{Datum, Oid, SqlType};
use std::sync::Arc;

impl Planner<'_> {
    /// An expression over the innermost level's row.
    ///
    /// # Errors
    /// 0A000 for what cannot be computed yet; 42883; those of planning a subquery.
    pub fn scalar(&mut self, expr: &Expr) -> Result<Scalar> {
        Ok(match expr {
            Expr::Constant(literal, ty) => constant(literal, *ty),
            Expr::Column { level, column, .. } => Scalar::Var(self.home(*level, *column)),
            Expr::Parameter(number, _) => Scalar::Parameter(*number),
            Expr::Call { function, arguments, position, ty } => {
                let callee = callee(*function, arguments.iter().map(Expr::ty).collect(), *ty)?;
                let arguments = self.all(arguments)?;
                match self.folded(*function, &arguments) {
                    Some(value) => constant(&value, *ty),
                    None => Scalar::Call { callee, arguments, position: *position },
                }
            }
            Expr::And(all) => Scalar::And(self.all(all)?),
            Expr::Or(all) => Scalar::Or(self.all(all)?),
            Expr::Not(one) => Scalar::Not(self.boxed(one)?),
            Expr::IsNull { operand, negated } => Scalar::IsNull(self.boxed(operand)?, *negated),
            Expr::IsBool { operand, test, negated } => {
                Scalar::IsBool(self.boxed(operand)?, *test, *negated)
            }
            Expr::IsDistinct { left, right, equals, negated } => Scalar::IsDistinct(
                self.boxed(left)?,
                self.boxed(right)?,
                predicate(*equals, left.ty(), right.ty())?,
                *negated,
            ),
            Expr::Case { branches, otherwise, .. } => Scalar::Case(
                branches
                    .iter()
                    .map(|(when, then)| Ok((self.scalar(when)?, self.scalar(then)?)))
                    .collect::<Result<_>>()?,
                otherwise.as_ref().map(|one| self.boxed(one)).transpose()?,
            ),
            Expr::Coalesce(all, _) => Scalar::Coalesce(self.all(all)?),
            Expr::NullIf { left, right, equals, .. } => {
                let equals = predicate(*equals, left.ty(), right.ty())?;
                Scalar::NullIf(self.boxed(left)?, self.boxed(right)?, equals)
            }
            Expr::Extreme { arguments, greatest, ty } => {
                let comparator = comparator(ty.oid, false, false)?;
                Scalar::Extreme(self.all(arguments)?, comparator, *greatest)
            }
            Expr::Relabel(one, ty) => relabelled(self.scalar(one)?, one.ty(), *ty),
            Expr::ViaText(one, ty) => Scalar::ViaText(self.boxed(one)?, one.ty(), *ty),
            Expr::ArrayCast { operand, element, ty } => {
                let home = Var { slot: self.slot(1), column: 0 };
                let operand_type = operand.ty().oid;
                let operand = self.boxed(operand)?;
                self.levels.push(vec![home]);
                let element = self.boxed(element);
                self.levels.pop();
                Scalar::ArrayCast {
                    operand,
                    from: element_of(operand_type)?,
                    to: element_of(ty.oid)?,
                    element: element?,
                    home,
                }
            }
            Expr::Array { elements, ty } => Scalar::Array(self.all(elements)?, ty.oid),
            Expr::Subscript { operand, indices, slice, .. } => {
                let mut bounds = Vec::new();
                for (low, high) in indices {
                    bounds.push((
                        low.as_ref().map(|one| self.scalar(one)).transpose()?,
                        high.as_ref().map(|one| self.scalar(one)).transpose()?,
                    ));
                }
                Scalar::Subscript {
                    ty: operand.ty().oid,
                    operand: self.boxed(operand)?,
                    indices: bounds.into(),
                    slice: *slice,
                }
            }
            Expr::ScalarArray { left, function, array, quantifier } => {
                let element = element_of(array.ty().oid)?;
                Scalar::ScalarArray {
                    callee: predicate(*function, left.ty(), SqlType::plain(element.0))?,
                    left: self.boxed(left)?,
                    element,
                    array: self.boxed(array)?,
                    quantifier: *quantifier,
                }
            }
            Expr::Row(fields, _) => Scalar::Row(
                fields
                    .iter()
                    .map(|one| Ok((self.scalar(one)?, one.ty())))
                    .collect::<Result<_>>()?,
            ),
            Expr::Field { operand, field, .. } => Scalar::Field(self.boxed(operand)?, *field),
            Expr::Subquery { kind, query, ty } => self.subquery(kind, query, *ty)?,
            Expr::CurrentValue(value, _) => Scalar::CurrentValue(*value),
        })
    }

    /// The value of a call with constant arguments, if the function gives the same whenever it is asked. One that fails is
    /// left to fail when it runs.
    fn folded(&self, function: Oid, arguments: &[Scalar]) -> Option<Literal> {
        let values: Option<Vec<Literal>> = arguments
            .iter()
            .map(|one| match one {
                Scalar::Constant(row, _) if !row.get(0).is_null() => Some(Literal::of(&row.get(0))),
                _ => None,
            })
            .collect();
        let values = values.filter(|values| !values.is_empty())?;
        self.figures.facts().call(function, &values)
    }

    /// Expressions, in order.
    ///
    /// # Errors
    /// As [`Planner::scalar`].
    pub fn all(&mut self, exprs: &[Expr]) -> Result<Box<[Scalar]>> {
        exprs.iter().map(|one| self.scalar(one)).collect()
    }

    fn boxed(&mut self, expr: &Expr) -> Result<Box<Scalar>> {
        Ok(Box::new(self.scalar(expr)?))
    }

    /// Conjuncts of a condition, ANDs taken apart.
    ///
    /// # Errors
    /// As [`Planner::scalar`].
    pub fn conjuncts(&mut self, exprs: &[Expr]) -> Result<Vec<Scalar>> {
        let mut all = Vec::new();
        for expr in exprs {
            match expr {
                Expr::And(parts) => all.extend(self.conjuncts(parts)?),
                _ => all.push(self.scalar(expr)?),
            }
        }
        all.retain(|one| !one.is_true());
        Ok(all)
    }

    fn home(&self, level: u16, column: u32) -> Var {
        let at = self.levels.len() - 1 - usize::from(level);
        self.levels[at][column as usize]
    }

    fn subquery(
        &mut self,
        kind: &SubqueryKind,
        query: &crate::plan::logical::Query,
        ty: SqlType,
    ) -> Result<Scalar> {
        let depth = self.levels.len();
        let (plan, layout) = self.query(query)?;
        let kind = match kind {
            SubqueryKind::Scalar => SubplanKind::Scalar(layout[0]),
            SubqueryKind::Exists => SubplanKind::Exists,
            SubqueryKind::Array => SubplanKind::Array(layout[0], element_of(ty.oid)?),
            SubqueryKind::Quantified { test, quantifier } => {
                self.levels.push(layout);
                let test = self.scalar(test);
                self.levels.pop();
                SubplanKind::Quantified(test?, *quantifier)
            }
        };
        assert_eq!(self.levels.len(), depth, "levels are pushed and popped in pairs");
        self.subplans.push(Subplan { plan, kind });
        let number = u32::try_from(self.subplans.len() - 1).expect("far fewer than 2^32");
        Ok(Scalar::Subquery(number))
    }

    /// Evaluates `expr` over `layout` as the only level added.
    ///
    /// # Errors
    /// As [`Planner::scalar`].
    pub fn scalar_over(&mut self, layout: &Layout, expr: &Expr) -> Result<Scalar> {
        self.levels.push(layout.clone());
        let scalar = self.scalar(expr);
        self.levels.pop();
        scalar
    }
}

/// The element type of an array type.
fn element_of(array: Oid) -> Result<Oid> {
    let element = builtin::type_by_oid(array.0).map(|ty| ty.element).filter(|oid| *oid != 0);
    match element {
        Some(element) => Ok(Oid(element)),
        None if array.0 == 2277 => Ok(Oid(25)),
        None => {
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, format!("type {array} is not an array")))
        }
    }
}

/// The same value under another type. PostgreSQL holds int4 and the OID types in the same four bytes; a datum says which it
/// is, so that one cast without a function is a change of form here.
fn relabelled(scalar: Scalar, from: SqlType, to: SqlType) -> Scalar {
    let code: crate::types::Function = match (Form::of(from.oid), Form::of(to.oid)) {
        (Form::Int4, Form::Oid) => |_, arguments| Ok(Datum::Oid(arguments[0].int4() as u32)),
        (Form::Oid, Form::Int4) => |_, arguments| Ok(Datum::Int4(arguments[0].oid() as i32)),
        _ => match scalar {
            Scalar::Constant(row, _) => return Scalar::Constant(row, to),
            other => return other,
        },
    };
    let callee = Callee { oid: 0, target: Target::Plain(code), strict: true, volatile: false };
    Scalar::Call { callee, arguments: Box::new([scalar]), position: 0 }
}

/// A literal as a scalar.
#[must_use]
pub fn constant(literal: &Literal, ty: SqlType) -> Scalar {
    let mut row = RowBuf::new();
    row.push(literal.datum());
    Scalar::Constant(Arc::new(row), ty)
}
