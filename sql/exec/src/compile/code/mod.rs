//! Expressions as flat programs: typed steps over a few registers, from the first to the last.
//!
//! Whatever a [`Scalar`] is becomes steps ([`compiler`]), for a list of values that an operator needs together, or of
//! conditions that all have to hold. A program whose values are all at hand (columns, parameters, constants) has no steps, and
//! reading them is all there is to it. How the others run is told in `sql/exec/src/exec/code/mod.rs`. PostgreSQL's own are
//! `execExpr.c`.
//!
//! What a program promises, [`verify`] checks in builds with assertions.

mod compiler;
pub mod preset;
pub(crate) mod step;
#[cfg(test)]
mod tests;
mod verify;

use crate::plan::scalar::{Callee, Scalar};
use crate::tuple::RowBuf;
use crate::types::assign::AssignStep;
use crate::types::xml::construct::XmlCall;
use crate::types::{Comparator, SqlType};
use compiler::Compiler;
use std::sync::Arc;
use step::{Operand, Operands, Step};

/// How many registers a run has at hand; a program that needs more has them in the arena.
pub(crate) const FEW: usize = 6;

/// What a step does, where that is more than it holds itself.
#[derive(Debug)]
pub(crate) enum Operation {
    Call(Callee),
    Order(Comparator),
    Xml(Arc<XmlCall>),
    /// From, to.
    ViaText(SqlType, SqlType),
    /// The types of the fields, and their names where the row's type does not say them.
    Row(Box<[SqlType]>, Option<Arc<[Arc<str>]>>),
    Assign(AssignStep),
    /// Which bounds of each dimension are given.
    Bounds(Box<[(bool, bool)]>),
}

/// A program.
#[derive(Debug, Default)]
pub struct Code {
    pub(crate) steps: Box<[Step]>,
    pub(crate) constants: Box<[Arc<RowBuf>]>,
    pub(crate) operands: Box<[Operand]>,
    pub(crate) operations: Box<[Operation]>,
    pub(crate) results: Box<[Operand]>,
    pub(crate) registers: u32,
    pub(crate) lists: u32,
    /// Whether it may stop.
    pub(crate) stops: bool,
    /// Whether parameters are all that it needs.
    pub(crate) bare: bool,
}

impl Code {
    /// The program that computes these.
    #[must_use]
    pub fn of<'s>(scalars: impl IntoIterator<Item = &'s Scalar>) -> Code {
        Code::verified(Compiler::default().values(scalars))
    }

    /// The program that finds out whether all of these are true, in their order.
    #[must_use]
    pub fn of_conditions<'s>(conditions: impl IntoIterator<Item = &'s Scalar>) -> Code {
        Code::verified(Compiler::default().demands(conditions))
    }

    fn verified(code: Code) -> Code {
        debug_assert!(verify::holds(&code), "{code:?}");
        code
    }

    /// Whether it has nothing to compute and nothing to demand.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.results.is_empty()
    }

    /// Whether a run of it may stop in the middle.
    #[must_use]
    pub fn may_stop(&self) -> bool {
        self.stops
    }

    /// Whether it needs nothing but parameters: then [`Code::run`] runs it.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Some of its operands.
    pub(crate) fn list(&self, operands: Operands) -> &[Operand] {
        &self.operands[operands.first as usize..][..operands.count as usize]
    }
}

/// `a[i] := value` of a variable, where both need nothing but parameters.
#[derive(Debug)]
pub struct ElementCode {
    /// The parameter that holds the array.
    pub array: u32,
    /// The subscript.
    pub subscript: Code,
    /// The new element.
    pub value: Code,
}

impl ElementCode {
    /// Of the scalar of such an assignment.
    #[must_use]
    pub fn of(scalar: &Scalar) -> Option<ElementCode> {
        let Scalar::Assign(parts, AssignStep::Element(_)) = scalar else { return None };
        let [Scalar::Parameter(array), value, subscript] = &parts[..] else { return None };
        let (subscript, value) = (Code::of([subscript]), Code::of([value]));
        (subscript.bare && value.bare).then_some(ElementCode { array: *array, subscript, value })
    }
}
