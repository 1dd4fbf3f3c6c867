//! Conditions of a scan that are asked where a record lies, before its columns are copied to the row: most rows of a scan that filters
//! go no further.
//!
//! A row may be refused, or taken, by what its record says only where that is what the row would say: a column that lies elsewhere (a
//! long value), or that was added behind the record, makes the answer unknown, and then the row is read and asked again. So what is
//! asked here neither stops nor changes anything.

use super::code::Progress;
use super::context::Context;
use super::operator::Builder;
use super::record_row::RecordRow;
use crate::compile::code::Code;
use crate::compile::code::step::{Operand, Step};
use crate::error::Result;
use crate::plan::physical::{self, ScanColumn};
use crate::plan::scalar::{Scalar, Var};
use crate::tuple::RowLayout;
use crate::tuple::row::{OpenRecord, Opened};
use crate::types::primitive::Comparison;
use std::sync::Arc;

/// A scan's conditions, as far as records can be asked.
pub struct RecordFilter {
    /// The row's slot.
    slot: u32,
    /// Which column of a record each of the row's is.
    columns: Box<[usize]>,
    /// The integers that are compared before all else.
    tests: Box<[Test]>,
    rest: Rest,
}

/// The conditions behind those that compare integers.
enum Rest {
    Nothing,
    OfTheRecord(Arc<Code>),
    OfTheRow,
}

/// What a record says of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A condition is not true.
    Refused,
    /// All are.
    Taken,
    /// The row is to be asked.
    Unknown,
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug)]
struct Test {
    what: Comparison,
    left: Integer,
    right: Integer,
}

#[derive(Clone, Copy, Debug)]
enum Integer {
    /// Of a record's column.
    Column(usize),
    Parameter(u32),
    Constant(i64),
}

impl RecordFilter {
    /// Of a scan's conditions, whose program is `filter`; none where no record can be asked.
    #[must_use]
    pub fn of(plan: &physical::Scan, filter: &Code, builder: &Builder<'_>) -> Option<RecordFilter> {
        let column_of = |output: &ScanColumn| match output {
            ScanColumn::Column(column) => Some(*column),
            ScanColumn::Key | ScanColumn::System(_) => None,
        };
        let in_record = |var: Var| {
            let output = plan.outputs.get(var.column as usize).filter(|_| var.slot == plan.slot);
            output.and_then(column_of)
        };
        let integer = |operand| match operand {
            Operand::Var(var) => in_record(var).map(Integer::Column),
            Operand::Parameter(number) => Some(Integer::Parameter(number)),
            Operand::Integer(value) => Some(Integer::Constant(value)),
            Operand::Register(_) | Operand::Constant(_) => None,
        };
        let test = |step: &Step| match *step {
            Step::DemandIntegers { what, left, right } => {
                Some(Test { what, left: integer(left)?, right: integer(right)? })
            }
            _ => None,
        };
        // As long as there is nothing but such, a condition is one step.
        let tests: Box<[Test]> = filter.steps.iter().map_while(test).collect();
        let behind = &plan.filter[tests.len()..];
        let of_record = |condition: &Scalar| {
            let mut of_key = |var: Var| var.slot == plan.slot && in_record(var).is_none();
            !condition.volatile() && !condition.reads(&mut of_key)
        };
        let rest = match behind {
            [] => Rest::Nothing,
            _ if !filter.may_stop() && behind.iter().all(of_record) => {
                Rest::OfTheRecord(builder.conditions(behind))
            }
            _ => Rest::OfTheRow,
        };
        if plan.filter.is_empty() || (tests.is_empty() && matches!(rest, Rest::OfTheRow)) {
            return None;
        }
        // Of the row's columns that are none of the record's none is asked for.
        let columns = plan.outputs.iter().map(|output| column_of(output).unwrap_or(0)).collect();
        Some(RecordFilter { slot: plan.slot, columns, tests, rest })
    }

    /// What a record says of its row.
    ///
    /// # Errors
    /// Those of the conditions; XX001.
    #[inline]
    pub fn ask(&self, cx: &Context<'_>, layout: &RowLayout, record: &[u8]) -> Result<Verdict> {
        let Opened::Here(record) = layout.open(record)? else { return Ok(Verdict::Unknown) };
        for Test { what, left, right } in &self.tests {
            let value = |one: &Integer| match one {
                Integer::Column(column) => record.integer(*column),
                Integer::Parameter(number) => Some(cx.parameters.integer(*number as usize)),
                Integer::Constant(value) => Some(Some(*value)),
            };
            let (Some(left), Some(right)) = (value(left), value(right)) else {
                return Ok(Verdict::Unknown);
            };
            match left.zip(right) {
                Some((left, right)) if what.of_integers(left, right) => {}
                _ => return Ok(Verdict::Refused),
            }
        }
        match &self.rest {
            Rest::Nothing => Ok(Verdict::Taken),
            Rest::OfTheRow => Ok(Verdict::Unknown),
            Rest::OfTheRecord(code) => self.ask_rest(cx, code, record),
        }
    }

    fn ask_rest(&self, cx: &Context<'_>, code: &Code, record: OpenRecord<'_>) -> Result<Verdict> {
        let row = RecordRow::in_part(self.slot, record, &self.columns);
        let held = code.advance(&cx.evaluator().beside(&row), None, |values| Ok(values.hold()));
        let held = held.map(|progress| match progress {
            Progress::Done(held) => Some(held),
            Progress::Stopped(..) => None,
        });
        if !row.is_known() {
            // Nor is what it has come to without that.
            return Ok(Verdict::Unknown);
        }
        row.end()?;
        Ok(match held? {
            Some(true) => Verdict::Taken,
            Some(false) => Verdict::Refused,
            None => Verdict::Unknown,
        })
    }
}
