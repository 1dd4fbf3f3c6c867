//! What a run computes before it begins: what follows from its parameters, as PostgreSQL's planner computes it.
//!
//! The rules are those of `plan::fold`. What is computed here is thrown away: the rows' own expressions compute it again
//! where they need it. All that counts is that a statement fails whose constants cannot be computed, rows or no rows.

use super::eval::{Eval, Failure};
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
    let call = CallContext { ..*context };
    let eval = Eval { call, frame: &frame, parameters, subplans: &[], local: None, drawn: None };
    let folding = Folding { eval: &eval, program };
    for scalar in &presets.scalars {
        match folding.scalar(scalar) {
            Err(Failure::Error(error)) if !error.is_missing() => return Err(error),
            // No subquery's result is asked for.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Computes what can be told before any row is there.
struct Folding<'f, 'e> {
    eval: &'f Eval<'e>,
    program: &'f Program,
}

/// A value, or none where it cannot be told.
type Folded<'x> = std::result::Result<Option<Datum<'x>>, Failure>;

impl<'f> Folding<'f, '_> {
    fn scalar(&self, scalar: &'f Scalar) -> Folded<'f> {
        Ok(match scalar {
            Scalar::Constant(..) | Scalar::Parameter(_) => Some(self.eval.scalar(scalar)?),
            Scalar::Var(var) => self.eval.local(*var),
            Scalar::CurrentValue(_) => None,
            Scalar::Subquery(number) => {
                for preset in &self.program.subplans[*number as usize].presets {
                    self.scalar(preset)?;
                }
                None
            }
            Scalar::Call { callee, arguments, .. } => {
                let mut values = bumpalo::collections::Vec::with_capacity_in(
                    arguments.len(),
                    self.eval.call.arena,
                );
                for argument in arguments {
                    values.extend(self.scalar(argument)?);
                }
                if callee.strict && values.iter().any(Datum::is_null) {
                    return Ok(Some(Datum::Null));
                }
                let all = values.len() == arguments.len();
                if all && callee.immutable {
                    Some(self.eval.apply(callee, values.into_bump_slice())?)
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
                Some(_) if element.is_immutable() && needs_no_row(operand) => {
                    Some(self.eval.scalar(scalar)?)
                }
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
    fn condition<'x>(
        &self,
        when: &'f Scalar,
        tested: Option<(Var, Datum<'x>)>,
    ) -> std::result::Result<Option<bool>, Failure>
    where
        'f: 'x,
    {
        let met = |value: Datum<'_>| matches!(value, Datum::Bool(true));
        match tested {
            Some((home, value)) => {
                let eval = self.eval.with(home, value);
                let inner = Folding { eval: &eval, program: self.program };
                Ok(inner.scalar(when)?.map(met))
            }
            None => Ok(self.scalar(when)?.map(met)),
        }
    }

    /// A value that follows from the values of its parts, if its own work is `immutable`. A part may be known though not
    /// all of it is: `false AND a`. Then there is nothing to compute it with, and the rows' own expression finds its error.
    fn of_parts(&self, scalar: &'f Scalar, immutable: bool) -> Folded<'f> {
        let mut parts = Vec::new();
        scalar.children(&mut |part| parts.push(part));
        let mut all = true;
        for &part in &parts {
            all &= self.scalar(part)?.is_some();
        }
        if all && immutable && parts.iter().all(|part| needs_no_row(part)) {
            return Ok(Some(self.eval.scalar(scalar)?));
        }
        Ok(None)
    }

    fn junction(&self, all: &'f [Scalar], decisive: bool) -> Folded<'f> {
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
