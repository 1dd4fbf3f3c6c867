//! What is computed while a statement is planned: immutable functions of constants, and what they decide
//! (`eval_const_expressions`).
//!
//! A value that cannot be computed fails the statement, rows or no rows, but only when it runs: PREPARE and CREATE VIEW
//! do not plan in PostgreSQL. So the first failure is kept, and the program fails with it as soon as it begins. What
//! stands behind a decision is never looked at: `CASE WHEN false THEN 1 / 0 END` is NULL.
//!
//! A plan serves all values of its parameters, but PostgreSQL plans with them at hand and computes what follows from
//! them as it does from constants. [`Presets`] are the expressions in which that can fail; each run computes them first,
//! by the same rules.

use super::build::Planner;
use super::functions::{self, Comparison, callee, comparison, is_not_equal};
use super::scalar::{Callee, Scalar, Target};
use super::translate::constant;
use crate::account;
use crate::bind::{Literal, Quantifier};
use crate::catalog::builtin::{self, CastContext, CastMethod, Volatility};
use crate::error::SqlError;
use crate::tuple::Form;
use crate::types::{Datum, Oid, SqlType};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

const BOOL: SqlType = SqlType::plain(16);

/// The function of `<>` between two of them.
const BOOLEANS_DIFFER: u32 = 84;

/// What each run computes before its first row, because it may fail.
#[derive(Clone, Debug, Default)]
pub struct Presets {
    /// What could not be computed while planning.
    pub failure: Option<SqlError>,
    /// Expressions, in the order in which PostgreSQL's planner comes to them. A subquery in them has presets of its own,
    /// computed only where it may be asked for.
    pub scalars: Vec<Scalar>,
}

impl Presets {
    /// Whether there is nothing to compute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failure.is_none() && self.scalars.is_empty()
    }

    /// Takes those of another part of the statement in.
    pub(super) fn merge(&mut self, other: Presets) {
        self.failure = self.failure.take().or(other.failure);
        self.scalars.extend(other.scalars);
    }
}

/// A boolean constant, or NULL.
pub(super) fn truth(value: Option<bool>) -> Scalar {
    constant(&value.map_or(Literal::Null, Literal::Bool), BOOL)
}

/// What a constant says as a condition: none if it is no constant, else its truth.
pub(super) fn decided(scalar: &Scalar) -> Option<Option<bool>> {
    match scalar {
        Scalar::Constant(row, _) => Some(match row.get(0) {
            Datum::Bool(value) => Some(value),
            _ => None,
        }),
        _ => None,
    }
}

/// Whether conjuncts can never all be true.
#[must_use]
pub fn never(conjuncts: &[Scalar]) -> bool {
    conjuncts.iter().any(|one| matches!(decided(one), Some(None | Some(false))))
}

/// Whether a scalar is a constant, and NULL.
pub(super) fn is_null(scalar: &Scalar) -> bool {
    matches!(scalar, Scalar::Constant(row, _) if row.get(0).is_null())
}

impl Planner<'_> {
    /// The value of a scalar that reads constants only and gives the same whenever it is asked. Behind the first failure
    /// nothing more is computed.
    pub(super) fn computed(&mut self, scalar: Scalar, ty: SqlType) -> Scalar {
        if self.presets.failure.is_some() {
            return scalar;
        }
        match self.figures.facts().evaluate(&scalar) {
            Some(Ok(row)) => Scalar::Constant(Arc::new(row), ty),
            // What Atoll has not yet fails where it is reached.
            Some(Err(error)) if error.is_missing() => scalar,
            Some(Err(error)) => {
                // Who is to stop does so at once.
                account::insist();
                self.presets.failure = Some(error);
                scalar
            }
            None => scalar,
        }
    }

    /// A call, computed if it can be.
    pub(super) fn folded_call(
        &mut self,
        callee: Callee,
        arguments: Box<[Scalar]>,
        position: u32,
        ty: SqlType,
    ) -> Scalar {
        if callee.strict && arguments.iter().any(is_null) {
            return constant(&Literal::Null, ty);
        }
        let constants = callee.immutable && arguments.iter().all(Scalar::is_constant);
        if !constants && let Some(truth) = truth_asked_for(callee.oid, &arguments) {
            let one = arguments.into_vec().into_iter().find(|one| !one.is_constant());
            let one = one.expect("not all are constants");
            return if truth { one } else { self.negated(one) };
        }
        let call = Scalar::Call { callee, arguments, position };
        if constants { self.computed(call, ty) } else { call }
    }

    /// A scalar whose own work always gives the same, computed if all it reads is constant.
    pub(super) fn folded(&mut self, scalar: Scalar, ty: SqlType) -> Scalar {
        let mut constants = true;
        scalar.children(&mut |part| constants &= part.is_constant());
        if constants { self.computed(scalar, ty) } else { scalar }
    }

    /// A cast through the text form, computed if both its halves always give the same.
    pub(super) fn folded_via_text(&mut self, one: Scalar, from: SqlType, to: SqlType) -> Scalar {
        let stable = text_forms_are_stable(from.oid, to.oid);
        let cast = Scalar::ViaText(Box::new(one), from, to);
        if stable { self.folded(cast, to) } else { cast }
    }

    /// The same value under another type. PostgreSQL holds int4 and the OID types in the same four bytes; a datum says which
    /// it is, so that one cast without a function is a change of form here.
    pub(super) fn relabelled(&mut self, one: Scalar, from: SqlType, to: SqlType) -> Scalar {
        let code: crate::types::Function = match (Form::of(from.oid), Form::of(to.oid)) {
            (Form::Int4, Form::Oid) => |_, arguments| Ok(Datum::Oid(arguments[0].int4() as u32)),
            (Form::Oid, Form::Int4) => |_, arguments| Ok(Datum::Int4(arguments[0].oid() as i32)),
            _ => {
                return match one {
                    Scalar::Constant(row, _) => Scalar::Constant(row, to),
                    other => other,
                };
            }
        };
        let callee = Callee {
            oid: 0,
            target: Target::Plain(code),
            strict: true,
            volatile: false,
            immutable: true,
            primitive: None,
        };
        let call = Scalar::Call { callee, arguments: Box::new([one]), position: 0 };
        self.folded(call, to)
    }

    /// NOT, brought to where it costs nothing (`negate_clause`).
    pub(super) fn negated(&mut self, one: Scalar) -> Scalar {
        if let Some(value) = decided(&one) {
            return truth(value.map(|value| !value));
        }
        match one {
            Scalar::Not(inner) => *inner,
            Scalar::IsNull(operand, negated) => Scalar::IsNull(operand, !negated),
            Scalar::IsBool(operand, test, negated) => Scalar::IsBool(operand, test, !negated),
            Scalar::IsDistinct(left, right, equals, negated) => {
                Scalar::IsDistinct(left, right, equals, !negated)
            }
            Scalar::And(all) => {
                Scalar::Or(all.into_vec().into_iter().map(|one| self.negated(one)).collect())
            }
            Scalar::Or(all) => {
                Scalar::And(all.into_vec().into_iter().map(|one| self.negated(one)).collect())
            }
            Scalar::Call { callee, arguments, position } => match negator(&callee) {
                Some(callee) => Scalar::Call { callee, arguments, position },
                None => Scalar::Not(Box::new(Scalar::Call { callee, arguments, position })),
            },
            Scalar::ScalarArray { left, callee, array, element, quantifier } => {
                let (callee, quantifier, kept) = match (negator(&callee), quantifier) {
                    (Some(negator), Quantifier::Any) => (negator, Quantifier::All, false),
                    (Some(negator), Quantifier::All) => (negator, Quantifier::Any, false),
                    (None, quantifier) => (callee, quantifier, true),
                };
                let test = Scalar::ScalarArray { left, callee, array, element, quantifier };
                if kept { Scalar::Not(Box::new(test)) } else { test }
            }
            other => Scalar::Not(Box::new(other)),
        }
    }

    /// Notes an expression that each run has to compute first. `unconditional`: the run does so anyway.
    pub(super) fn preset(&mut self, scalar: &Scalar) {
        if self.unconditional && !is_lazy(scalar) {
            return;
        }
        if may_fail(scalar) {
            self.presets.scalars.push(scalar.clone());
        }
    }
}

/// Whether a comparison asks that a condition be true, or with `false` that it be false (`simplify_boolean_equality`).
fn truth_asked_for(function: u32, arguments: &[Scalar]) -> Option<bool> {
    let equal = match comparison(function) {
        Some((Comparison::Equal, left, _)) if left == BOOL.oid => true,
        None if function == BOOLEANS_DIFFER => false,
        _ => return None,
    };
    let value = arguments.iter().find_map(decided)??;
    Some(value == equal)
}

/// Whether part of a scalar may never be evaluated although it is asked for.
fn is_lazy(scalar: &Scalar) -> bool {
    let mut lazy = false;
    scalar.walk(&mut |part| {
        lazy |= matches!(
            part,
            Scalar::And(_)
                | Scalar::Or(_)
                | Scalar::Case { .. }
                | Scalar::Coalesce(_)
                | Scalar::Subquery(_)
        );
        !lazy
    });
    lazy
}

/// Whether there is a part that follows from parameters alone, always gives the same, and may fail; or a subquery, which
/// may have such parts of its own.
fn may_fail(scalar: &Scalar) -> bool {
    Traced::of(scalar).fails
}

/// What is known of a scalar before any row is there, found out in one walk from the leaves up.
#[derive(Clone, Copy, Default)]
struct Traced {
    /// Something in it is told only while rows are made.
    rows: bool,
    /// There is a parameter in it.
    parameters: bool,
    /// A part of it may fail.
    fails: bool,
}

impl Traced {
    fn of(scalar: &Scalar) -> Traced {
        let mut whole = Traced::default();
        // Whether the first part, and whether each, follows from constants and parameters.
        let (mut first, mut each) = (None, true);
        scalar.children(&mut |part| {
            let traced = Traced::of(part);
            let follows = !traced.rows && (traced.parameters || part.is_constant());
            first.get_or_insert(follows);
            each &= follows;
            whole.rows |= traced.rows;
            whole.parameters |= traced.parameters;
            whole.fails |= traced.fails;
        });
        match scalar {
            Scalar::Parameter(_) => whole.parameters = true,
            Scalar::Var(_) | Scalar::CurrentValue(_) => whole.rows = true,
            Scalar::Subquery(_) => (whole.rows, whole.fails) = (true, true),
            Scalar::Call { callee, .. } => {
                whole.rows |= !callee.immutable;
                whole.fails |= callee.immutable && !is_total(callee.oid) && each;
            }
            Scalar::ViaText(_, from, to) => {
                whole.fails |= text_forms_are_stable(from.oid, to.oid) && each;
            }
            Scalar::ArrayCast { .. } => whole.fails |= first == Some(true),
            _ => {}
        }
        whole
    }
}

/// Casts of numbers to wider ones, which have a value for each of theirs.
static WIDENING: LazyLock<HashSet<u32>> = LazyLock::new(|| {
    const INTEGERS: [u32; 3] = [21, 23, 20];
    const WIDER: [u32; 5] = [21, 23, 20, 701, 1700];
    let mut all = HashSet::new();
    for source in INTEGERS {
        for target in WIDER {
            if let Some(found) = builtin::cast(source, target)
                && found.context == CastContext::Implicit
                && found.method == CastMethod::Function
            {
                all.insert(found.function);
            }
        }
    }
    all
});

/// Whether a function has a value for all arguments.
fn is_total(function: u32) -> bool {
    comparison(function).is_some() || is_not_equal(function) || WIDENING.contains(&function)
}

/// The function of the operator that is true where this one's is false.
fn negator(of: &Callee) -> Option<Callee> {
    let negator = functions::negator(of.oid)?;
    let types = match &of.target {
        Target::Typed(_, types) => types.arguments.clone(),
        _ => vec![SqlType::plain(negator.left), SqlType::plain(negator.right)],
    };
    callee(Oid(negator.function), types, BOOL).ok()
}

/// Whether the text form of one type and the reading of another never depend on settings.
#[must_use]
pub fn text_forms_are_stable(from: Oid, to: Oid) -> bool {
    let immutable = |function: u32| {
        builtin::function(function).is_some_and(|found| found.volatility == Volatility::Immutable)
    };
    builtin::type_by_oid(from.0).is_some_and(|ty| immutable(ty.output))
        && builtin::type_by_oid(to.0).is_some_and(|ty| immutable(ty.input))
}
