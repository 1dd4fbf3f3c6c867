//! What a run computes before it begins: what follows from its parameters, as PostgreSQL's planner computes it.
//!
//! The rules are those of `plan::fold`. What is computed here is thrown away: the rows' own expressions compute it again
//! where they need it. All that counts is that a statement fails whose constants cannot be computed, rows or no rows.

use super::code::Progress;
use super::eval::Eval;
use super::frame::Frame;
use crate::compile::Program;
use crate::error::Result;
use crate::plan::fold::text_forms_are_stable;
use crate::plan::{Scalar, Var};
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum};

/// Computes the presets of a program that runs with these parameters.
///
/// # Errors
/// What PostgreSQL's planner would fail with.
pub fn check(program: &Program, context: &CallContext<'_>, parameters: &RowBuf) -> Result<()> {
    let Some(presets) = &program.presets else { return Ok(()) };
    if let Some(error) = &presets.failure {
        return Err(error.clone());
    }
    let frame = Frame::default();
    let eval = Eval::over(context, &frame, parameters);
    let mut folding = Folding { call: context, eval: &eval, program, homes: Vec::new() };
    for scalar in &presets.scalars {
        match folding.scalar(scalar) {
            Err(error) if !error.is_missing() => return Err(error),
            // No subquery's result is asked for.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Computes what can be told before any row is there.
struct Folding<'f> {
    call: &'f CallContext<'f>,
    eval: &'f Eval<'f>,
    program: &'f Program,
    /// The values that scalars around the one at hand have homes for.
    homes: Vec<(Var, Datum<'f>)>,
}

/// A value, or none where it cannot be told.
type Folded<'x> = Result<Option<Datum<'x>>>;

impl<'f> Folding<'f> {
    /// The value of a scalar that needs no row.
    fn whole(&self, scalar: &Scalar) -> Folded<'f> {
        let (code, arena) = (self.program.preset_codes.of(scalar), self.call.arena);
        let look = code.advance(self.eval, None, |values| Ok(values.get(0).copied_into(arena)))?;
        Ok(match look {
            Progress::Done(value) => Some(value),
            Progress::Stopped(..) => None,
        })
    }

    fn scalar(&mut self, scalar: &'f Scalar) -> Folded<'f> {
        Ok(match scalar {
            Scalar::Constant(row, _) => Some(row.get(0)),
            Scalar::Parameter(number) => Some(self.eval.parameters.get(*number as usize)),
            Scalar::Var(var) => {
                let home = self.homes.iter().rev().find(|(home, _)| home == var);
                home.map(|(_, value)| *value)
            }
            Scalar::CurrentValue(_) => None,
            Scalar::Subquery(number) => {
                let program = self.program;
                for preset in &program.subplans[*number as usize].presets {
                    self.scalar(preset)?;
                }
                None
            }
            Scalar::Call { callee, arguments, .. } => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.extend(self.scalar(argument)?);
                }
                if callee.strict && values.iter().any(Datum::is_null) {
                    return Ok(Some(Datum::Null));
                }
                let all = values.len() == arguments.len();
                if all && callee.immutable {
                    Some(Eval::apply(self.call, callee, &values)?)
                } else {
                    None
                }
            }
            Scalar::And(all) => return self.junction(all, false),
            Scalar::Or(all) => return self.junction(all, true),
            Scalar::Case { operand, branches, otherwise } => {
                let operand = operand.as_deref();
                let tested = match operand {
                    Some((operand, home)) => self.scalar(operand)?.map(|value| (*home, value)),
                    None => None,
                };
                let mut known = true;
                for (when, then) in branches {
                    match self.condition(when, tested)? {
                        Some(true) => {
                            let value = self.scalar(then)?;
                            return Ok(value.filter(|_| known));
                        }
                        Some(false) => {}
                        None => {
                            known = false;
                            self.scalar(then)?;
                        }
                    }
                }
                let value = match otherwise {
                    Some(otherwise) => self.scalar(otherwise)?,
                    None => Some(Datum::Null),
                };
                value.filter(|_| known)
            }
            Scalar::Coalesce(all) => {
                let mut known = true;
                for one in all {
                    match self.scalar(one)? {
                        Some(value) if value.is_null() => {}
                        Some(value) => return Ok(Some(value).filter(|_| known)),
                        None => known = false,
                    }
                }
                Some(Datum::Null).filter(|_| known)
            }
            Scalar::ViaText(_, from, to) => {
                let stable = text_forms_are_stable(from.oid, to.oid);
                return self.of_parts(scalar, stable);
            }
            Scalar::IsDistinct(_, _, callee, _)
            | Scalar::NullIf(_, _, callee)
            | Scalar::ScalarArray { callee, .. } => {
                return self.of_parts(scalar, callee.immutable);
            }
            Scalar::ArrayCast { operand, element, .. } => match self.scalar(operand)? {
                Some(_) if element.is_immutable() && needs_no_row(operand) => self.whole(scalar)?,
                _ => None,
            },
            Scalar::Xml(..) => return self.of_parts(scalar, false),
            Scalar::Not(_)
            | Scalar::IsNull(..)
            | Scalar::IsBool(..)
            | Scalar::Extreme(..)
            | Scalar::Array(..)
            | Scalar::Subscript { .. }
            | Scalar::Row(..)
            | Scalar::Assign(..)
            | Scalar::Field(..) => return self.of_parts(scalar, true),
        })
    }

    /// Whether a condition of a CASE is met, with the operand's home and value where it is a simple one and can be told.
    fn condition(
        &mut self,
        when: &'f Scalar,
        tested: Option<(Var, Datum<'f>)>,
    ) -> Result<Option<bool>> {
        let around = self.homes.len();
        self.homes.extend(tested);
        let value = self.scalar(when);
        self.homes.truncate(around);
        Ok(value?.map(|value| matches!(value, Datum::Bool(true))))
    }

    /// A value that follows from the values of its parts, if its own work is `immutable`. A part may be known though not
    /// all of it is: `false AND a`. Then there is nothing to compute it with, and the rows' own expression finds its error.
    fn of_parts(&mut self, scalar: &'f Scalar, immutable: bool) -> Folded<'f> {
        let mut parts = Vec::new();
        scalar.children(&mut |part| parts.push(part));
        let mut all = true;
        for &part in &parts {
            all &= self.scalar(part)?.is_some();
        }
        if all && immutable && parts.iter().all(|part| needs_no_row(part)) {
            return self.whole(scalar);
        }
        Ok(None)
    }

    fn junction(&mut self, all: &'f [Scalar], decisive: bool) -> Folded<'f> {
        let (mut known, mut unknown) = (true, false);
        for one in all {
            match self.scalar(one)? {
                Some(Datum::Bool(value)) if value == decisive => {
                    return Ok(Some(Datum::Bool(decisive)));
                }
                Some(Datum::Bool(_)) => {}
                Some(_) => unknown = true,
                None => known = false,
            }
        }
        let value = if unknown { Datum::Null } else { Datum::Bool(!decisive) };
        Ok(Some(value).filter(|_| known))
    }
}

/// Whether an expression can be computed before any row is there, whichever of its parts that takes.
fn needs_no_row(scalar: &Scalar) -> bool {
    scalar.is_immutable() && !scalar.reads(&mut |_| true)
}
