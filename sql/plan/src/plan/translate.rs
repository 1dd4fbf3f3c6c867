//! Expressions become scalars: columns become homes, functions their code; `subplan` has the subqueries.

use super::build::{Layout, Planner};
use super::fold::{decided, is_null, truth};
use super::functions::{callee, comparator, domain_check, predicate, routine_callee};
use super::scalar::{Callee, Scalar, Var};
use crate::bind::{Expr, Literal, SubqueryKind};
use crate::catalog::builtin;
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::tuple::{Form, RowBuf};
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

impl Planner<'_> {
    /// An expression over the innermost level's row, what is constant in it computed.
    ///
    /// # Errors
    /// 0A000 for what cannot be computed yet; 42883; those of planning a subquery.
    pub fn scalar(&mut self, expr: &Expr) -> Result<Scalar> {
        let scalar = self.translated(expr)?;
        self.preset(&scalar);
        Ok(scalar)
    }

    /// A function, or a routine that a user made, ready to be called.
    pub(super) fn callee_of(
        &mut self,
        function: Oid,
        arguments: Vec<SqlType>,
        result: SqlType,
    ) -> Result<Callee> {
        match self.routine(function) {
            Some(routine) => Ok(routine_callee(&routine, arguments, result)),
            None => callee(function, arguments, result),
        }
    }

    /// A comparison of two values, or a routine that compares them.
    fn predicate(&mut self, function: Oid, left: SqlType, right: SqlType) -> Result<Callee> {
        match self.routine(function) {
            Some(routine) => {
                Ok(routine_callee(&routine, vec![left, right], SqlType::plain(oids::BOOL)))
            }
            None => predicate(function, left, right),
        }
    }

    /// A routine that a user made; the program runs it.
    pub(super) fn routine(&mut self, function: Oid) -> Option<Arc<Routine>> {
        let found = self.figures.facts().routine(function)?;
        self.calls_routines = true;
        Some(found)
    }

    /// Part of an expression.
    pub(super) fn translated(&mut self, expr: &Expr) -> Result<Scalar> {
        let ty = expr.ty();
        Ok(match expr {
            Expr::Constant(literal, ty) => constant(literal, *ty),
            Expr::Column { level, column, .. } => Scalar::Var(self.home(*level, *column)),
            Expr::Parameter(number, _) => Scalar::Parameter(*number),
            Expr::Call { function, arguments, position, ty, .. } => {
                let types = arguments.iter().map(Expr::ty).collect();
                let callee = self.callee_of(*function, types, *ty)?;
                let arguments = self.parts(arguments)?;
                // smallint goes to the OID types by a function that is declared to give an int4.
                match builtin::function(function.0).map(|found| found.result) {
                    Some(oids::INT4) if Form::of(ty.oid) != Form::Int4 => {
                        let declared = SqlType::plain(oids::INT4);
                        let value = self.folded_call(callee, arguments, *position, declared);
                        self.relabelled(value, declared, *ty)
                    }
                    _ => self.folded_call(callee, arguments, *position, *ty),
                }
            }
            Expr::And(all) => self.junction(all, false, false)?,
            Expr::Or(all) => self.junction(all, true, false)?,
            Expr::Not(one) => self.negation(one)?,
            Expr::IsNull { operand, negated } => {
                let test = Scalar::IsNull(self.boxed(operand)?, *negated);
                // A row of both kinds of fields is neither NULL nor NOT NULL: one does not negate the other.
                let test = match Form::of(operand.ty().oid) {
                    Form::Record => Scalar::IsBool(Box::new(test), Some(true), false),
                    _ => test,
                };
                self.folded(test, ty)
            }
            Expr::IsBool { operand, test, negated } => {
                let test = Scalar::IsBool(self.boxed(operand)?, *test, *negated);
                self.folded(test, ty)
            }
            Expr::IsDistinct { left, right, equals, negated } => {
                let equals = self.predicate(*equals, left.ty(), right.ty())?;
                let immutable = equals.immutable;
                let (left, right) = (self.boxed(left)?, self.boxed(right)?);
                let test = Scalar::IsDistinct(left, right, equals, *negated);
                if immutable { self.folded(test, ty) } else { test }
            }
            Expr::Case { operand, branches, otherwise, .. } => {
                let operand = operand.as_deref();
                self.case(operand, branches, otherwise.as_deref(), ty)?
            }
            Expr::CaseTest(..) => {
                self.case_tests.last().expect("within a condition of a simple CASE").clone()
            }
            Expr::Coalesce(all, ..) => self.coalesce(all, ty)?,
            Expr::NullIf { left, right, equals, .. } => {
                let equals = self.predicate(*equals, left.ty(), right.ty())?;
                let immutable = equals.immutable;
                let test = Scalar::NullIf(self.boxed(left)?, self.boxed(right)?, equals);
                if immutable { self.folded(test, ty) } else { test }
            }
            Expr::Extreme { arguments, greatest, ty } => {
                let comparator = comparator(ty.oid, false, false)?;
                let extreme = Scalar::Extreme(self.parts(arguments)?, comparator, *greatest);
                self.folded(extreme, *ty)
            }
            Expr::Xml { call, arguments } => Scalar::Xml(self.parts(arguments)?, Arc::clone(call)),
            Expr::XmlTable { .. } => {
                return Err(SqlError::unsupported("XMLTABLE outside FROM is"));
            }
            Expr::Collate { operand, .. } => self.translated(operand)?,
            Expr::Relabel(one, ty) => {
                let inner = self.translated(one)?;
                self.relabelled(inner, one.ty(), *ty)
            }
            Expr::ViaText(one, ty) => {
                let inner = self.translated(one)?;
                self.folded_via_text(inner, one.ty(), *ty)
            }
            // Other checks may be made of it at any time, so nothing of it is computed beforehand.
            Expr::Domain(one, ty) => Scalar::Call {
                callee: domain_check(one.ty(), *ty),
                arguments: Box::new([self.translated(one)?]),
                position: 0,
            },
            Expr::ArrayCast { operand, element, ty } => {
                let home = Var { slot: self.slot(1), column: 0 };
                let operand_type = operand.ty().oid;
                let operand = self.boxed(operand)?;
                self.levels.push(vec![home]);
                let element = self.boxed(element);
                self.levels.pop();
                let element = element?;
                let (constant, stable) = (operand.is_constant(), element.is_immutable());
                let cast = Scalar::ArrayCast {
                    operand,
                    from: element_of(operand_type)?,
                    to: element_of(ty.oid)?,
                    element,
                    home,
                };
                if constant && stable { self.computed(cast, *ty) } else { cast }
            }
            Expr::Array { elements, ty } => {
                let element = builtin::element_type(ty.oid.0);
                let is_array = |one: SqlType| {
                    Some(one.oid.0) != element && builtin::element_type(one.oid.0).is_some()
                };
                let nested = elements.iter().any(|one| is_array(one.ty()));
                let array = Scalar::Array(self.parts(elements)?, ty.oid, nested);
                self.folded(array, *ty)
            }
            Expr::Subscript { operand, indices, slice, .. } => {
                let mut bounds = Vec::new();
                for (low, high) in indices {
                    bounds.push((
                        low.as_ref().map(|one| self.translated(one)).transpose()?,
                        high.as_ref().map(|one| self.translated(one)).transpose()?,
                    ));
                }
                let subscript = Scalar::Subscript {
                    ty: operand.ty().oid,
                    operand: self.boxed(operand)?,
                    indices: bounds.into(),
                    slice: *slice,
                };
                self.folded(subscript, ty)
            }
            Expr::ScalarArray { left, function, array, quantifier, .. } => {
                let element = element_of(array.ty().oid)?;
                let callee = self.predicate(*function, left.ty(), SqlType::plain(element.0))?;
                let immutable = callee.immutable;
                let test = Scalar::ScalarArray {
                    callee,
                    left: self.boxed(left)?,
                    element,
                    array: self.boxed(array)?,
                    quantifier: *quantifier,
                };
                if immutable { self.folded(test, ty) } else { test }
            }
            Expr::Row(fields, _, names) => {
                let fields: Box<[_]> = fields
                    .iter()
                    .map(|one| Ok((self.translated(one)?, one.ty())))
                    .collect::<Result<_>>()?;
                self.folded(Scalar::Row(fields, names.clone()), ty)
            }
            Expr::Assign { parts, step, .. } => {
                let parts = parts.iter().map(|one| self.translated(one));
                Scalar::Assign(parts.collect::<Result<_>>()?, step.clone())
            }
            Expr::Field { operand, field, .. } => match self.translated(operand)? {
                Scalar::Row(fields, _) if (*field as usize) < fields.len() => {
                    fields.into_vec().swap_remove(*field as usize).0
                }
                operand => self.folded(Scalar::Field(Box::new(operand), *field), ty),
            },
            Expr::Subquery { kind: kind @ SubqueryKind::Record, query, ty } => {
                match self.records.iter().find(|(known, _)| Arc::ptr_eq(known, query)) {
                    Some((_, number)) => Scalar::Subquery(*number),
                    None => {
                        let record = self.subquery(kind, query, *ty)?;
                        if let Scalar::Subquery(number) = record {
                            self.records.push((Arc::clone(query), number));
                        }
                        record
                    }
                }
            }
            Expr::Subquery { kind, query, ty } => self.subquery(kind, query, *ty)?,
            Expr::CurrentValue(value, _) => Scalar::CurrentValue(*value),
        })
    }

    /// NOT of an expression: brought down to what it negates before that is translated, so that each part is negated
    /// once, however deep it stands.
    fn negation(&mut self, expr: &Expr) -> Result<Scalar> {
        match expr {
            Expr::Not(one) => self.translated(one),
            Expr::And(all) => self.junction(all, true, true),
            Expr::Or(all) => self.junction(all, false, true),
            other => {
                let one = self.translated(other)?;
                Ok(self.negated(one))
            }
        }
    }

    /// AND, or with `decisive` OR, of expressions or of what negates them: what a constant decides is not looked at any
    /// further.
    fn junction(&mut self, all: &[Expr], decisive: bool, negate: bool) -> Result<Scalar> {
        let mut parts = Vec::new();
        let mut unknown = false;
        for one in all {
            let part = if negate { self.negation(one)? } else { self.translated(one)? };
            match decided(&part) {
                Some(Some(value)) if value == decisive => return Ok(truth(Some(decisive))),
                Some(Some(_)) => {}
                Some(None) => unknown = true,
                None => match part {
                    Scalar::And(inner) if !decisive => parts.extend(inner.into_vec()),
                    Scalar::Or(inner) if decisive => parts.extend(inner.into_vec()),
                    part => parts.push(part),
                },
            }
        }
        if parts.is_empty() {
            return Ok(truth((!unknown).then_some(!decisive)));
        }
        if unknown {
            parts.push(truth(None));
        }
        Ok(match parts.len() {
            1 => parts.swap_remove(0),
            _ if decisive => Scalar::Or(parts.into()),
            _ => Scalar::And(parts.into()),
        })
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        ty: SqlType,
    ) -> Result<Scalar> {
        let Some(operand) = operand else { return self.branches(None, branches, otherwise, ty) };
        let value = self.translated(operand)?;
        // A constant stands in the conditions itself, so that they can be decided now.
        let (test, operand) = match value.is_constant() {
            true => (value, None),
            false => {
                let home = Var { slot: self.slot(1), column: 0 };
                (Scalar::Var(home), Some(Box::new((value, home))))
            }
        };
        self.case_tests.push(test);
        let case = self.branches(operand, branches, otherwise, ty);
        self.case_tests.pop();
        case
    }

    fn branches(
        &mut self,
        operand: Option<Box<(Scalar, Var)>>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        ty: SqlType,
    ) -> Result<Scalar> {
        let mut kept = Vec::new();
        let mut certain = None;
        for (when, then) in branches {
            let when = self.translated(when)?;
            match decided(&when) {
                Some(Some(true)) => {
                    certain = Some(self.translated(then)?);
                    break;
                }
                Some(_) => {}
                None => kept.push((when, self.translated(then)?)),
            }
        }
        let otherwise = match (certain, otherwise) {
            (None, Some(otherwise)) => Some(self.translated(otherwise)?),
            (certain, _) => certain,
        };
        Ok(match (kept.is_empty(), otherwise) {
            (true, Some(otherwise)) => otherwise,
            (true, None) => constant(&Literal::Null, ty),
            (false, otherwise) => {
                Scalar::Case { operand, branches: kept.into(), otherwise: otherwise.map(Box::new) }
            }
        })
    }

    fn coalesce(&mut self, all: &[Expr], ty: SqlType) -> Result<Scalar> {
        let mut parts = Vec::new();
        for one in all {
            let part = self.translated(one)?;
            if is_null(&part) {
                continue;
            }
            let last = part.is_constant();
            parts.push(part);
            if last {
                break;
            }
        }
        Ok(match parts.len() {
            0 => constant(&Literal::Null, ty),
            1 => parts.swap_remove(0),
            _ => Scalar::Coalesce(parts.into()),
        })
    }

    fn parts(&mut self, exprs: &[Expr]) -> Result<Box<[Scalar]>> {
        exprs.iter().map(|one| self.translated(one)).collect()
    }

    /// Expressions, in order.
    ///
    /// # Errors
    /// As [`Planner::scalar`].
    pub fn all(&mut self, exprs: &[Expr]) -> Result<Box<[Scalar]>> {
        exprs.iter().map(|one| self.scalar(one)).collect()
    }

    fn boxed(&mut self, expr: &Expr) -> Result<Box<Scalar>> {
        Ok(Box::new(self.translated(expr)?))
    }

    /// Conjuncts of a condition, ANDs taken apart. One that can never be true stands alone: FALSE.
    ///
    /// # Errors
    /// As [`Planner::scalar`].
    pub fn conjuncts(&mut self, exprs: &[Expr]) -> Result<Vec<Scalar>> {
        let whole = self.junction(exprs, false, false)?;
        self.preset(&whole);
        let all = match whole {
            Scalar::And(all) => all.into_vec(),
            one => vec![one],
        };
        let mut kept = Vec::with_capacity(all.len());
        for one in all.into_iter().map(without_unknown) {
            match decided(&one) {
                Some(Some(true)) => {}
                Some(_) => return Ok(vec![truth(Some(false))]),
                None => kept.push(one),
            }
        }
        Ok(kept)
    }

    fn home(&mut self, level: u16, column: u32) -> Var {
        let at = self.levels.len() - 1 - usize::from(level);
        let home = self.levels[at][column as usize];
        self.asked(&[home]);
        home
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
pub(super) fn element_of(array: Oid) -> Result<Oid> {
    let element = builtin::type_by_oid(array.0)
        .map(|ty| ty.element)
        .or_else(|| builtin::element_of_made(array.0))
        .filter(|oid| *oid != 0);
    match element {
        Some(element) => Ok(Oid(element)),
        None if array.0 == 2277 => Ok(Oid(25)),
        None => {
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, format!("type {array} is not an array")))
        }
    }
}

/// A condition without what makes it NULL: it is not true either way.
fn without_unknown(one: Scalar) -> Scalar {
    match one {
        Scalar::Or(all) => {
            let mut all: Vec<Scalar> = all.into_vec().into_iter().map(without_unknown).collect();
            all.retain(|one| decided(one).is_none());
            match all.len() {
                0 => truth(Some(false)),
                1 => all.swap_remove(0),
                _ => Scalar::Or(all.into()),
            }
        }
        Scalar::And(all) if all.iter().any(|one| decided(one).is_some()) => truth(Some(false)),
        other => other,
    }
}

/// A literal as a scalar.
#[must_use]
pub fn constant(literal: &Literal, ty: SqlType) -> Scalar {
    let mut row = RowBuf::new();
    row.push(literal.datum());
    Scalar::Constant(Arc::new(row), ty)
}
