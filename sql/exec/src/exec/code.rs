//! Expressions as flat programs: steps over a few registers, from the first to the last, which need nothing but parameters.
//!
//! A scalar whose parts are [`Primitive`]s, three-valued logic, CASE, COALESCE, elements and fields becomes such a program; what
//! calls anything else stays a tree ([`super::eval`]). It asks no arena, setting or catalog, so that whoever has the parameters
//! at hand can run it: PL/pgSQL's simple expressions (`exec_eval_simple_expr` of PostgreSQL's `pl_exec.c`).
//!
//! What a program promises, [`Code::verify`] checks in builds with assertions: jumps lead forward, so that it ends, and a
//! register is written before it is read on the way that leads there.

use crate::error::Result;
use crate::plan::scalar::Scalar;
use crate::tuple::RowBuf;
use crate::types::array::Array;
use crate::types::assign::AssignStep;
use crate::types::primitive::Primitive;
use crate::types::{Datum, record, stored};
use std::sync::Arc;

/// How many values a program has at hand at most; what needs more stays a tree.
const REGISTERS: usize = 6;

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Parameter(u32),
    Register(u8),
    Constant(u32),
    /// A constant that is an integer, for those who look for nothing else.
    Integer(i64),
}

/// A step; `to` is the register that it writes, `end` the step that it jumps to.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A strict operation.
    Apply {
        what: Primitive,
        left: Operand,
        right: Operand,
        to: u8,
    },
    /// The same of integers.
    Integers {
        what: Primitive,
        left: Operand,
        right: Operand,
        to: u8,
    },
    /// A value.
    Set {
        from: Operand,
        to: u8,
    },
    /// Of AND: false is the result, NULL may be.
    And {
        one: Operand,
        to: u8,
        end: u32,
    },
    /// Of OR.
    Or {
        one: Operand,
        to: u8,
        end: u32,
    },
    Not {
        one: Operand,
        to: u8,
    },
    IsNull {
        one: Operand,
        negated: bool,
        to: u8,
    },
    IsBool {
        one: Operand,
        test: Option<bool>,
        negated: bool,
        to: u8,
    },
    /// On, unless it is true.
    Unless {
        one: Operand,
        end: u32,
    },
    /// On, unless it is NULL.
    UnlessNull {
        one: Operand,
        end: u32,
    },
    /// On, unless it is NULL: then that is the result.
    Null {
        one: Operand,
        to: u8,
        end: u32,
    },
    Jump {
        end: u32,
    },
    /// An element of an array of one dimension.
    Element {
        array: Operand,
        subscript: Operand,
        to: u8,
    },
    /// A field of a row.
    Field {
        record: Operand,
        number: u32,
        to: u8,
    },
}

/// A program.
#[derive(Debug)]
pub struct Code {
    steps: Box<[Step]>,
    constants: Box<[Arc<RowBuf>]>,
    result: Operand,
}

/// Makes a program.
#[derive(Default)]
struct Compiler {
    steps: Vec<Step>,
    constants: Vec<Arc<RowBuf>>,
}

impl Compiler {
    /// Where the next step will be.
    fn here(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Has the jumps at these steps lead here.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.here();
        for at in jumps {
            match &mut self.steps[*at] {
                Step::And { end, .. }
                | Step::Or { end, .. }
                | Step::Unless { end, .. }
                | Step::UnlessNull { end, .. }
                | Step::Null { end, .. }
                | Step::Jump { end } => *end = here,
                _ => {}
            }
        }
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Computes a scalar, into this register where it is not somewhere already; those behind it are free.
    fn value(&mut self, scalar: &Scalar, to: u8) -> Option<Operand> {
        if usize::from(to) >= REGISTERS {
            return None;
        }
        crate::types::depth::deeper(|| self.computed(scalar, to))
    }

    fn computed(&mut self, scalar: &Scalar, to: u8) -> Option<Operand> {
        let register = Operand::Register(to);
        match scalar {
            Scalar::Constant(row, _) => {
                self.constants.push(Arc::clone(row));
                return Some(Operand::Constant(self.constants.len() as u32 - 1));
            }
            Scalar::Parameter(number) => return Some(Operand::Parameter(*number)),
            Scalar::Call { callee, arguments, .. } => {
                let what = callee.primitive?;
                let left = self.value(arguments.first()?, to)?;
                let right = match &arguments[1..] {
                    [] if what.is_unary() => left,
                    [right] if !what.is_unary() => {
                        self.value(right, to + u8::from(matches!(left, Operand::Register(_))))?
                    }
                    _ => return None,
                };
                self.push(match what.takes_integers() {
                    true => {
                        let (left, right) = (self.integer(left), self.integer(right));
                        Step::Integers { what, left, right, to }
                    }
                    false => Step::Apply { what, left, right, to },
                });
            }
            Scalar::And(all) | Scalar::Or(all) => {
                let both = matches!(scalar, Scalar::And(_));
                let mut row = RowBuf::new();
                row.push(Datum::Bool(both));
                self.constants.push(Arc::new(row));
                let from = Operand::Constant(self.constants.len() as u32 - 1);
                self.push(Step::Set { from, to });
                let mut jumps = Vec::new();
                for one in all {
                    let one = self.value(one, to + 1)?;
                    jumps.push(self.push(match both {
                        true => Step::And { one, to, end: 0 },
                        false => Step::Or { one, to, end: 0 },
                    }));
                }
                self.land(&jumps);
            }
            Scalar::Not(one) => {
                let one = self.value(one, to)?;
                self.push(Step::Not { one, to });
            }
            Scalar::IsNull(one, negated) => {
                let one = self.value(one, to)?;
                self.push(Step::IsNull { one, negated: *negated, to });
            }
            Scalar::IsBool(one, test, negated) => {
                let one = self.value(one, to)?;
                self.push(Step::IsBool { one, test: *test, negated: *negated, to });
            }
            Scalar::Case { operand: None, branches, otherwise } => {
                let mut ends = Vec::new();
                for (when, then) in branches {
                    let one = self.value(when, to)?;
                    let next = self.push(Step::Unless { one, end: 0 });
                    let from = self.value(then, to)?;
                    self.push(Step::Set { from, to });
                    ends.push(self.push(Step::Jump { end: 0 }));
                    self.land(&[next]);
                }
                let from = match otherwise {
                    Some(otherwise) => self.value(otherwise, to)?,
                    None => self.null(),
                };
                self.push(Step::Set { from, to });
                self.land(&ends);
            }
            Scalar::Coalesce(all) => {
                let mut ends = Vec::new();
                for one in all {
                    let from = self.value(one, to)?;
                    self.push(Step::Set { from, to });
                    ends.push(self.push(Step::UnlessNull { one: register, end: 0 }));
                }
                self.land(&ends);
            }
            Scalar::Subscript { operand, indices, slice: false, .. } => {
                let [(None, Some(subscript))] = &indices[..] else { return None };
                let array = self.value(operand, to)?;
                // What would be looked for in nothing is not computed.
                let nothing = self.push(Step::Null { one: array, to, end: 0 });
                let behind = to + u8::from(matches!(array, Operand::Register(_)));
                let subscript = self.value(subscript, behind)?;
                self.push(Step::Element { array, subscript, to });
                self.land(&[nothing]);
            }
            Scalar::Field(one, number) => {
                let record = self.value(one, to)?;
                self.push(Step::Field { record, number: *number, to });
            }
            _ => return None,
        }
        Some(register)
    }

    /// An operand of an operation of integers.
    fn integer(&self, operand: Operand) -> Operand {
        let Operand::Constant(number) = operand else { return operand };
        let value = self.constants[number as usize].integer(0);
        value.map_or(operand, Operand::Integer)
    }

    fn null(&mut self) -> Operand {
        let mut row = RowBuf::new();
        row.push(Datum::Null);
        self.constants.push(Arc::new(row));
        Operand::Constant(self.constants.len() as u32 - 1)
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
        let (subscript, value) = (Code::of(subscript)?, Code::of(value)?);
        Some(ElementCode { array: *array, subscript, value })
    }
}

impl Code {
    /// The program of a scalar, if it needs nothing but parameters.
    #[must_use]
    pub fn of(scalar: &Scalar) -> Option<Code> {
        let mut compiler = Compiler::default();
        let result = compiler.value(scalar, 0)?;
        let Compiler { steps, constants } = compiler;
        let code = Code { steps: steps.into(), constants: constants.into(), result };
        debug_assert!(code.verify(), "{code:?}");
        Some(code)
    }

    /// Whether it keeps what programs promise.
    fn verify(&self) -> bool {
        // What is written on every way to a step; none: no way has led there yet.
        let mut written = vec![None; self.steps.len() + 1];
        written[0] = Some(0u32);
        let reads = |operand: &Operand, known: u32| match operand {
            Operand::Register(number) => known >> number & 1 == 1,
            Operand::Parameter(_) | Operand::Integer(_) => true,
            Operand::Constant(number) => (*number as usize) < self.constants.len(),
        };
        for (at, step) in self.steps.iter().enumerate() {
            let Some(known) = written[at] else { return false };
            let (operands, to, end): (&[&Operand], Option<u8>, Option<u32>) = match step {
                Step::Apply { left, right, to, .. } | Step::Integers { left, right, to, .. } => {
                    (&[left, right], Some(*to), None)
                }
                Step::Set { from: one, to }
                | Step::Not { one, to }
                | Step::IsNull { one, to, .. }
                | Step::IsBool { one, to, .. }
                | Step::Field { record: one, to, .. } => (&[one], Some(*to), None),
                Step::And { one, to, end } | Step::Or { one, to, end } => {
                    (&[one, &Operand::Register(*to)], Some(*to), Some(*end))
                }
                Step::Unless { one, end }
                | Step::UnlessNull { one, end }
                | Step::Null { one, end, .. } => (&[one], None, Some(*end)),
                Step::Jump { end } => (&[], None, Some(*end)),
                Step::Element { array, subscript, to } => (&[array, subscript], Some(*to), None),
            };
            let fits = to.is_none_or(|to| usize::from(to) < REGISTERS)
                && end.is_none_or(|end| end as usize > at && end as usize <= self.steps.len())
                && operands.iter().all(|operand| reads(operand, known));
            if !fits {
                return false;
            }
            let behind = known | to.map_or(0, |to| 1 << to);
            let next = (!matches!(step, Step::Jump { .. })).then_some(at + 1);
            let mut reach = |at: usize, known: u32| {
                written[at] = Some(written[at].unwrap_or(u32::MAX) & known);
            };
            if let Some(next) = next {
                reach(next, behind);
            }
            if let Some(end) = end {
                let by_jump = if let Step::Null { to, .. } = step { 1 << to } else { 0 };
                reach(end as usize, behind | by_jump);
            }
        }
        written[self.steps.len()].is_some_and(|known| reads(&self.result, known))
    }

    /// Runs it; nothing where a value that it meets has no place in a register: then the tree has to be asked.
    ///
    /// # Errors
    /// Those of its operations.
    pub fn run<'x>(&'x self, parameters: &'x RowBuf) -> Result<Option<Datum<'x>>> {
        let mut registers = [Datum::Null; REGISTERS];
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            at += 1;
            macro_rules! value {
                ($operand:expr) => {
                    match $operand {
                        Operand::Parameter(number) => parameters.get(number as usize),
                        Operand::Register(number) => registers[usize::from(number)],
                        Operand::Constant(number) => self.constants[number as usize].get(0),
                        Operand::Integer(value) => Datum::Int8(value),
                    }
                };
            }
            macro_rules! integer {
                ($operand:expr) => {
                    match $operand {
                        Operand::Parameter(number) => parameters.integer(number as usize),
                        Operand::Integer(value) => Some(value),
                        Operand::Register(number) => match registers[usize::from(number)] {
                            Datum::Int4(value) => Some(i64::from(value)),
                            Datum::Int8(value) => Some(value),
                            Datum::Int2(value) => Some(i64::from(value)),
                            _ => None,
                        },
                        Operand::Constant(_) => None,
                    }
                };
            }
            match *step {
                Step::Apply { what, left, right, to } => {
                    let (left, right) = (value!(left), value!(right));
                    registers[usize::from(to)] = match (left, right) {
                        (Datum::Null, _) | (_, Datum::Null) => Datum::Null,
                        _ => what.apply(left, right)?,
                    };
                }
                Step::Integers { what, left, right, to } => {
                    registers[usize::from(to)] = match (integer!(left), integer!(right)) {
                        (Some(left), Some(right)) => what.apply_to_integers(left, right)?,
                        _ => Datum::Null,
                    };
                }
                Step::Set { from, to } => registers[usize::from(to)] = value!(from),
                Step::And { one, to, end } => match value!(one) {
                    Datum::Bool(true) => {}
                    Datum::Bool(false) => {
                        registers[usize::from(to)] = Datum::Bool(false);
                        at = end as usize;
                    }
                    _ => registers[usize::from(to)] = Datum::Null,
                },
                Step::Or { one, to, end } => match value!(one) {
                    Datum::Bool(false) => {}
                    Datum::Bool(true) => {
                        registers[usize::from(to)] = Datum::Bool(true);
                        at = end as usize;
                    }
                    _ => registers[usize::from(to)] = Datum::Null,
                },
                Step::Not { one, to } => {
                    registers[usize::from(to)] = match value!(one) {
                        Datum::Bool(value) => Datum::Bool(!value),
                        _ => Datum::Null,
                    };
                }
                Step::IsNull { one, negated, to } => {
                    registers[usize::from(to)] = Datum::Bool(match value!(one) {
                        // As in a tree: a row is null where all its fields are, and not null where none is.
                        Datum::Record(bytes) => {
                            record::fields(bytes).all(|(_, field)| field.is_none() != negated)
                        }
                        value => value.is_null() != negated,
                    });
                }
                Step::IsBool { one, test, negated, to } => {
                    let value = match value!(one) {
                        Datum::Bool(value) => Some(value),
                        _ => None,
                    };
                    registers[usize::from(to)] = Datum::Bool((value == test) != negated);
                }
                Step::Unless { one, end } => {
                    if !matches!(value!(one), Datum::Bool(true)) {
                        at = end as usize;
                    }
                }
                Step::UnlessNull { one, end } => {
                    if !value!(one).is_null() {
                        at = end as usize;
                    }
                }
                Step::Null { one, to, end } => {
                    if value!(one).is_null() {
                        registers[usize::from(to)] = Datum::Null;
                        at = end as usize;
                    }
                }
                Step::Jump { end } => at = end as usize,
                Step::Element { array, subscript, to } => {
                    registers[usize::from(to)] = match (value!(array), value!(subscript)) {
                        (Datum::Null, _) | (Datum::Array(_), Datum::Null) => Datum::Null,
                        (Datum::Array(bytes), Datum::Int4(subscript)) => {
                            match Array::of(bytes).element(subscript)? {
                                Some(element) => element,
                                None => return Ok(None),
                            }
                        }
                        _ => return Ok(None),
                    };
                }
                Step::Field { record, number, to } => {
                    registers[usize::from(to)] = match value!(record) {
                        Datum::Record(bytes) => match record::fields(bytes).nth(number as usize) {
                            Some((ty, Some(field))) => match stored::read_in_place(ty, field)? {
                                Some(value) => value,
                                None => return Ok(None),
                            },
                            Some((_, None)) | None => Datum::Null,
                        },
                        _ => Datum::Null,
                    };
                }
            }
        }
        Ok(Some(match self.result {
            Operand::Parameter(number) => parameters.get(number as usize),
            Operand::Register(number) => registers[usize::from(number)],
            Operand::Constant(number) => self.constants[number as usize].get(0),
            Operand::Integer(value) => Datum::Int8(value),
        }))
    }
}
