//! Scalars: expressions over homes of values, with the code of their functions at hand.
//!
//! A scalar is what an [`crate::bind::Expr`] becomes once it is known where every value it reads will be. It can be
//! moved to any place of the plan where those values exist, and evaluated there without further preparation.

use super::fold::text_forms_are_stable;
use crate::bind::Quantifier;
use crate::bind::typed::CurrentValue;
use crate::catalog::builtin;
use crate::catalog::routine::Routine;
use crate::tuple::RowBuf;
use crate::types::assign::AssignStep;
use crate::types::primitive::Primitive;
use crate::types::xml::construct::XmlCall;
use crate::types::{Comparator, Function, Oid, Signature, SqlType, TypedFunction};
use std::sync::Arc;

/// The home of a value: a column of one of the program's row slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var {
    /// The slot.
    pub slot: u32,
    /// The column in it.
    pub column: u32,
}

/// How a function of `pg_proc` is called.
#[derive(Clone)]
pub enum Target {
    /// By its implementation.
    Plain(Function),
    /// By its implementation, which has to be told the types.
    Typed(TypedFunction, Arc<CallTypes>),
    /// By asking the catalog: `pg_get_expr`, `current_database`, `nextval`.
    Catalog,
    /// By the session, which runs its body.
    Routine(Arc<Routine>, Arc<CallTypes>),
}

/// The types that a call was resolved to.
#[derive(Clone, Debug)]
pub struct CallTypes {
    /// The arguments'.
    pub arguments: Vec<SqlType>,
    /// The result's.
    pub result: SqlType,
    /// The columns that a call in FROM was given.
    pub columns: Vec<(Arc<str>, SqlType)>,
    /// VARIADIC "any", its last arguments given one by one.
    pub variadic_spread: bool,
}

impl CallTypes {
    /// As functions take it.
    #[must_use]
    pub fn signature(&self) -> Signature<'_> {
        Signature {
            arguments: &self.arguments,
            result: self.result,
            columns: &self.columns,
            variadic_spread: self.variadic_spread,
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Target::Plain(_) => "Plain",
            Target::Typed(..) => "Typed",
            Target::Catalog => "Catalog",
            Target::Routine(..) => "Routine",
        })
    }
}

/// A function, ready to be called.
#[derive(Clone, Debug)]
pub struct Callee {
    /// Its OID.
    pub oid: u32,
    /// How.
    pub target: Target,
    /// NULL if any argument is.
    pub strict: bool,
    /// Its value may change from call to call.
    pub volatile: bool,
    /// Its value follows from its arguments alone.
    pub immutable: bool,
    /// What it is, where it needs nothing but its operands.
    pub primitive: Option<Primitive>,
}

/// An expression over homes.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A constant: the only column of a row, and its type.
    Constant(Arc<RowBuf>, SqlType),
    /// A value where it lives.
    Var(Var),
    /// `$n`, from 0.
    Parameter(u32),
    /// A call.
    Call {
        /// Of what.
        callee: Callee,
        /// With what.
        arguments: Box<[Scalar]>,
        /// Where an error points.
        position: u32,
    },
    /// AND.
    And(Box<[Scalar]>),
    /// OR.
    Or(Box<[Scalar]>),
    /// NOT.
    Not(Box<Scalar>),
    /// IS NULL, or with `true` IS NOT NULL.
    IsNull(Box<Scalar>, bool),
    /// IS TRUE and its kin: the value asked for, negated.
    IsBool(Box<Scalar>, Option<bool>, bool),
    /// IS DISTINCT FROM: left, right, the `=`, negated.
    IsDistinct(Box<Scalar>, Box<Scalar>, Callee, bool),
    /// CASE.
    Case {
        /// The operand of a simple one, and where the conditions read its value.
        operand: Option<Box<(Scalar, Var)>>,
        /// WHEN condition THEN result.
        branches: Box<[(Scalar, Scalar)]>,
        /// ELSE.
        otherwise: Option<Box<Scalar>>,
    },
    /// COALESCE.
    Coalesce(Box<[Scalar]>),
    /// NULLIF.
    NullIf(Box<Scalar>, Box<Scalar>, Callee),
    /// GREATEST (`true`) or LEAST.
    Extreme(Box<[Scalar]>, Comparator, bool),
    /// XMLELEMENT and its kin.
    Xml(Box<[Scalar]>, Arc<XmlCall>),
    /// A cast through the text form: from, to.
    ViaText(Box<Scalar>, SqlType, SqlType),
    /// A cast of each element of an array: the cast of the element that lives at the home.
    ArrayCast {
        /// The array.
        operand: Box<Scalar>,
        /// Its element type.
        from: Oid,
        /// The element type of the result.
        to: Oid,
        /// The cast.
        element: Box<Scalar>,
        /// Where `element` reads the element.
        home: Var,
    },
    /// `ARRAY[...]`, of this array type; whether its elements are arrays too.
    Array(Box<[Scalar]>, Oid, bool),
    /// Subscripts.
    Subscript {
        /// The array.
        operand: Box<Scalar>,
        /// Its type.
        ty: Oid,
        /// Lower and upper bounds.
        indices: Box<[(Option<Scalar>, Option<Scalar>)]>,
        /// Whether any is a slice.
        slice: bool,
    },
    /// `op ANY`, `op ALL`.
    ScalarArray {
        /// Left.
        left: Box<Scalar>,
        /// The operator.
        callee: Callee,
        /// The array.
        array: Box<Scalar>,
        /// Its element type.
        element: Oid,
        /// ANY or ALL.
        quantifier: Quantifier,
    },
    /// `ROW(...)` with its fields' types, and their names where its type does not say them.
    Row(Box<[(Scalar, SqlType)]>, Option<Arc<[Arc<str>]>>),
    /// A value with a part of it changed: the value, the part's new value, the subscripts.
    Assign(Box<[Scalar]>, AssignStep),
    /// A field of a row.
    Field(Box<Scalar>, u32),
    /// The result of the program's subquery of this number.
    Subquery(u32),
    /// CURRENT_DATE and its kin.
    CurrentValue(CurrentValue),
}

impl Scalar {
    /// Calls `visit` for this scalar and everything in it; where it says false, not for what is inside.
    pub fn walk(&self, visit: &mut dyn FnMut(&Scalar) -> bool) {
        if visit(self) {
            self.children(&mut |child| child.walk(visit));
        }
    }

    /// Calls `visit` for each scalar directly in this one.
    pub fn children<'s>(&'s self, visit: &mut dyn FnMut(&'s Scalar)) {
        match self {
            Scalar::Constant(..)
            | Scalar::Var(_)
            | Scalar::Parameter(_)
            | Scalar::Subquery(_)
            | Scalar::CurrentValue(_) => {}
            Scalar::Call { arguments: many, .. }
            | Scalar::And(many)
            | Scalar::Or(many)
            | Scalar::Coalesce(many)
            | Scalar::Extreme(many, ..)
            | Scalar::Xml(many, _)
            | Scalar::Assign(many, _)
            | Scalar::Array(many, ..) => many.iter().for_each(visit),
            Scalar::Not(one)
            | Scalar::IsNull(one, _)
            | Scalar::IsBool(one, ..)
            | Scalar::ViaText(one, ..)
            | Scalar::Field(one, _) => visit(one),
            Scalar::IsDistinct(left, right, ..) | Scalar::NullIf(left, right, _) => {
                visit(left);
                visit(right);
            }
            Scalar::Case { operand, branches, otherwise } => {
                if let Some(operand) = operand {
                    visit(&operand.0);
                }
                for (when, then) in branches {
                    visit(when);
                    visit(then);
                }
                if let Some(otherwise) = otherwise {
                    visit(otherwise);
                }
            }
            Scalar::ArrayCast { operand, element, .. } => {
                visit(operand);
                visit(element);
            }
            Scalar::Subscript { operand, indices, .. } => {
                visit(operand);
                for bound in indices.iter().flat_map(|(low, high)| [low, high]).flatten() {
                    visit(bound);
                }
            }
            Scalar::ScalarArray { left, array, .. } => {
                visit(left);
                visit(array);
            }
            Scalar::Row(fields, _) => fields.iter().for_each(|(one, _)| visit(one)),
        }
    }

    /// As [`Scalar::children`], to change them.
    pub fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Scalar)) {
        match self {
            Scalar::Constant(..)
            | Scalar::Var(_)
            | Scalar::Parameter(_)
            | Scalar::Subquery(_)
            | Scalar::CurrentValue(_) => {}
            Scalar::Call { arguments: many, .. }
            | Scalar::And(many)
            | Scalar::Or(many)
            | Scalar::Coalesce(many)
            | Scalar::Extreme(many, ..)
            | Scalar::Xml(many, _)
            | Scalar::Assign(many, _)
            | Scalar::Array(many, ..) => many.iter_mut().for_each(visit),
            Scalar::Not(one)
            | Scalar::IsNull(one, _)
            | Scalar::IsBool(one, ..)
            | Scalar::ViaText(one, ..)
            | Scalar::Field(one, _) => visit(one),
            Scalar::IsDistinct(left, right, ..) | Scalar::NullIf(left, right, _) => {
                visit(left);
                visit(right);
            }
            Scalar::Case { operand, branches, otherwise } => {
                if let Some(operand) = operand {
                    visit(&mut operand.0);
                }
                for (when, then) in branches {
                    visit(when);
                    visit(then);
                }
                if let Some(otherwise) = otherwise {
                    visit(otherwise);
                }
            }
            Scalar::ArrayCast { operand, element, .. } => {
                visit(operand);
                visit(element);
            }
            Scalar::Subscript { operand, indices, .. } => {
                visit(operand);
                for bound in indices.iter_mut().flat_map(|(low, high)| [low, high]).flatten() {
                    visit(bound);
                }
            }
            Scalar::ScalarArray { left, array, .. } => {
                visit(left);
                visit(array);
            }
            Scalar::Row(fields, _) => fields.iter_mut().for_each(|(one, _)| visit(one)),
        }
    }

    /// Puts what `value` gives of a home in the place of each reading of it; where that is nothing, it stays.
    pub fn replace_homes(&mut self, value: &dyn Fn(Var) -> Option<Scalar>) {
        match self {
            Scalar::Var(var) => {
                if let Some(value) = value(*var) {
                    *self = value;
                }
            }
            other => other.children_mut(&mut |child| child.replace_homes(value)),
        }
    }

    /// Puts what `value` gives of a parameter in the place of it; where that is nothing, it stays.
    pub fn replace_parameters(&mut self, value: &dyn Fn(u32) -> Option<Scalar>) {
        match self {
            Scalar::Parameter(number) => {
                if let Some(value) = value(*number) {
                    *self = value;
                }
            }
            other => other.children_mut(&mut |child| child.replace_parameters(value)),
        }
    }

    /// The home that this scalar fills itself, for parts of it to read.
    #[must_use]
    pub fn own_home(&self) -> Option<Var> {
        match self {
            Scalar::ArrayCast { home, .. } => Some(*home),
            Scalar::Case { operand: Some(operand), .. } => Some(operand.1),
            _ => None,
        }
    }

    /// Whether it reads a home that `test` accepts, but for those that it fills itself. What its subqueries read, the
    /// caller knows.
    pub fn reads(&self, test: &mut dyn FnMut(Var) -> bool) -> bool {
        let mut found = false;
        let mut own = Vec::new();
        self.walk(&mut |part| {
            own.extend(part.own_home());
            if let Scalar::Var(var) = part {
                found |= !own.contains(var) && test(*var);
            }
            !found
        });
        found
    }

    /// Whether there is a call whose value may change from one call to the next.
    #[must_use]
    pub fn volatile(&self) -> bool {
        let mut found = false;
        self.walk(&mut |part| {
            if let Scalar::Call { callee, .. } = part {
                found |= callee.volatile;
            }
            !found
        });
        found
    }

    /// The numbers of the subqueries in it.
    #[must_use]
    pub fn subqueries(&self) -> Vec<u32> {
        let mut all = Vec::new();
        self.walk(&mut |part| {
            if let Scalar::Subquery(number) = part {
                all.push(*number);
            }
            true
        });
        all
    }

    /// Whether it is a constant.
    #[must_use]
    #[inline]
    pub fn is_constant(&self) -> bool {
        matches!(self, Scalar::Constant(..))
    }

    /// Whether computing it may tell somebody what it reads, by an error or otherwise: a call of what is not leakproof
    /// that reads anything, and what is not known to tell nothing (`contain_leaked_vars`).
    #[must_use]
    pub fn may_leak(&self) -> bool {
        let keeps_quiet = |function: u32| {
            // A relabelling is no function of `pg_proc`.
            function == 0 || builtin::function(function).is_some_and(|found| found.leakproof)
        };
        let mut leaks = false;
        self.walk(&mut |part| {
            let quiet = match part {
                Scalar::Call { callee, .. }
                | Scalar::IsDistinct(_, _, callee, _)
                | Scalar::NullIf(_, _, callee)
                | Scalar::ScalarArray { callee, .. } => keeps_quiet(callee.oid),
                Scalar::Extreme(_, order, _) => {
                    builtin::ordering(order.ty).is_some_and(|known| keeps_quiet(known.compare))
                }
                Scalar::ViaText(..) | Scalar::Xml(..) => false,
                Scalar::Coalesce(_) | Scalar::Assign(..) | Scalar::Subquery(_) => {
                    leaks = true;
                    false
                }
                Scalar::Constant(..)
                | Scalar::Var(_)
                | Scalar::Parameter(_)
                | Scalar::And(_)
                | Scalar::Or(_)
                | Scalar::Not(_)
                | Scalar::IsNull(..)
                | Scalar::IsBool(..)
                | Scalar::Case { .. }
                | Scalar::ArrayCast { .. }
                | Scalar::Array(..)
                | Scalar::Subscript { .. }
                | Scalar::Row(..)
                | Scalar::Field(..)
                | Scalar::CurrentValue(_) => true,
            };
            leaks |= !quiet && part.reads(&mut |_| true);
            !leaks
        });
        leaks
    }

    /// Whether its value follows from what it reads.
    #[must_use]
    pub fn is_immutable(&self) -> bool {
        let mut immutable = true;
        self.walk(&mut |part| {
            immutable &= match part {
                Scalar::Call { callee, .. } => callee.immutable,
                Scalar::ViaText(_, from, to) => text_forms_are_stable(from.oid, to.oid),
                Scalar::Subquery(_) | Scalar::CurrentValue(_) => false,
                _ => true,
            };
            immutable
        });
        immutable
    }
}
