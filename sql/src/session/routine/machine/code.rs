//! What a body is compiled into: operations over slots, from the first to the last, with jumps.
//!
//! A slot is a column of the frame's row. First come the body's variables, then what its loops count with, then constants, then
//! what expressions compute on the way; so an operation names its operands by number and looks nothing up. Every way through
//! an expression writes a slot before it reads it.
//!
//! What a program promises, [`Program::verify`] checks in builds with assertions: every jump leads to an operation, nothing
//! behind the last one is reached, operands are slots that there are, and no operation writes a constant or a text that it only names.

use crate::compile::code::Code;
use crate::plan::scalar::Callee;
use crate::plpgsql::tree::{Condition, Sql, Statement};
use crate::session::routine::Compiled;
use crate::session::routine::frame::Shape;
use crate::session::routine::text::Text;
use crate::tuple::RowBuf;
use crate::types::SqlType;
use crate::types::primitive::{Comparison, Primitive};
use std::ops::Range;
use std::sync::Arc;

/// The number of a slot.
pub type Slot = u16;

/// An operation; `to` is the slot that it writes, `end` the operation that it may jump to.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// `+` of int4.
    Add4(Slot, Slot, Slot),
    /// `-` of int4.
    Subtract4(Slot, Slot, Slot),
    /// `*` of int4.
    Multiply4(Slot, Slot, Slot),
    /// `%` of int4.
    Modulo4(Slot, Slot, Slot),
    /// `+` with a result of int8.
    Add8(Slot, Slot, Slot),
    /// `-`.
    Subtract8(Slot, Slot, Slot),
    /// `*`.
    Multiply8(Slot, Slot, Slot),
    /// Any strict operation of integers.
    Integers { what: Primitive, left: Slot, right: Slot, to: Slot },
    /// A strict operation of other values.
    Apply { what: Primitive, left: Slot, right: Slot, to: Slot },
    /// `to := from`.
    Move { from: Slot, to: Slot },
    /// A variable that holds rows holds none.
    NoRow { to: Slot },
    /// Of AND: false is the result, NULL may be.
    And { one: Slot, to: Slot, end: u32 },
    /// Of OR.
    Or { one: Slot, to: Slot, end: u32 },
    /// NOT.
    Not { one: Slot, to: Slot },
    /// IS NULL.
    IsNull { one: Slot, negated: bool, to: Slot },
    /// IS TRUE and its kin.
    IsBool { one: Slot, test: Option<bool>, negated: bool, to: Slot },
    /// On, if it is true.
    Unless { one: Slot, end: u32 },
    /// On, if the comparison of integers holds.
    UnlessCompared { how: Comparison, left: Slot, right: Slot, end: u32 },
    /// On, if it is NULL.
    UnlessNull { one: Slot, end: u32 },
    /// On, unless it is NULL: then that is the result.
    Null { one: Slot, to: Slot, end: u32 },
    /// On at another place.
    Jump { end: u32 },
    /// An element of an array.
    Element { array: Slot, subscript: Slot, to: Slot },
    /// The row that a variable may hold field by field is about to be read as a whole.
    Whole { one: Slot },
    /// A field of a row.
    Field { record: Slot, number: u16, to: Slot },
    /// Texts, one behind the other.
    Concatenate { left: Slot, right: Slot, to: Slot },
    /// A function: which, and its operands among the program's.
    Function { function: u32, to: Slot },
    /// An expression that is evaluated as a tree: which.
    Tree { tree: u32, to: Slot },
    /// A routine whose body this machine runs.
    Call { site: u32, to: Slot },
    /// `array[subscript] := value`, where the array lies or behind its last element; else on at another place.
    SetElement { array: Slot, subscript: Slot, value: Slot, end: u32 },
    /// A field of a record variable becomes a value of its type, by number among the program's fields; else on at another place.
    SetField { record: Slot, field: u32, value: Slot, end: u32 },
    /// 22004 where a variable that is NOT NULL would be NULL.
    NotNull { one: Slot, variable: Slot },
    /// 22004 where a bound of a loop is NULL, by its number among [`BOUNDS`].
    Bound { one: Slot, which: u8 },
    /// 22023 where a step is not positive.
    Positive { one: Slot },
    /// The first round of a loop over integers, if there is one.
    ForFirst { loops: Slot, variable: Slot, reverse: bool, end: u32 },
    /// The next round, if there is one.
    ForNext { loops: Slot, variable: Slot, reverse: bool, begin: u32 },
    /// On at the beginning of a loop.
    Back { begin: u32 },
    /// On, if the record variables that a text reads have the shapes that it was made for, by number among the program's.
    Fits { shapes: u32, end: u32 },
    /// A variable has the type of the operand of a CASE.
    Shaped { variable: Slot, shape: u32 },
    /// A statement begins: where something has changed, the program is made anew.
    Check { statement: u32 },

    /// A statement that the machine has others run; whether it leaves the transaction alone.
    Statement { statement: u32, pure: bool },
    /// A loop over what others give is opened.
    OpenRows { statement: u32 },
    /// The next row of the innermost loop goes into its variables; on at another place, if there is none.
    NextRow { end: u32 },
    /// The innermost loop ends; whether it says FOUND.
    CloseRows { tells: bool },
    /// On, if a condition is true that is evaluated otherwise.
    Holds { sql: u32, end: u32 },
    /// A bound of a loop that is evaluated otherwise.
    Bounded { sql: u32, which: u8, to: Slot },
    /// An assignment that is evaluated otherwise.
    Assign { sql: u32, variable: Slot },
    /// A variable begins, by what is evaluated otherwise.
    Begin { variable: Slot },
    /// RETURN with a value of a type.
    Return { one: Slot, ty: u32 },
    /// RETURN without a value.
    ReturnNothing,
    /// A block with EXCEPTION begins.
    Try { handlers: u32 },
    /// It ends.
    Tried,
    /// A handler ends.
    Handled,
    /// 20000.
    CaseNotFound,
    /// The end of the body.
    End,
}

/// What bounds of loops are called.
pub const BOUNDS: [&str; 3] = ["lower bound", "upper bound", "BY value"];

/// A call of a function.
#[derive(Debug)]
pub struct FunctionCall {
    pub callee: Callee,
    /// Its operands.
    pub arguments: Box<[Slot]>,
}

/// A call of a routine.
#[derive(Debug)]
pub struct Site {
    pub compiled: Arc<Compiled>,
    /// The expression in which it is.
    pub text: Arc<Text>,
    pub sql: Sql,
    pub arguments: Box<[Slot]>,
    /// NULL if any argument is.
    pub strict: bool,
    /// The type of its result.
    pub result: SqlType,
}

/// The handlers of a block.
#[derive(Debug)]
pub struct Caught {
    /// The variables `sqlstate` and `sqlerrm`.
    pub state: u32,
    pub message: u32,
    /// The place of the block.
    pub place: (u32, &'static str),
    /// Conditions, each with where its handler begins.
    pub handlers: Vec<(Vec<Condition>, u32)>,
}

/// A program.
#[derive(Debug, Default)]
pub struct Program {
    pub ops: Box<[Op]>,
    /// For each operation its place among [`Program::places`].
    pub at: Box<[u32]>,
    /// Lines and what is done there.
    pub places: Vec<(u32, &'static str)>,
    /// Where each statement begins, by number, and behind these other points from which bodies go on.
    pub starts: Vec<u32>,
    /// The row that a frame begins with.
    pub layout: RowBuf,
    /// The columns of it that are constants.
    pub constants: Range<usize>,
    pub functions: Vec<FunctionCall>,
    /// Programs of scalars.
    pub trees: Vec<Arc<Code>>,
    pub sites: Vec<Site>,
    pub sqls: Vec<Sql>,
    pub statements: Vec<Arc<Statement>>,
    pub caught: Vec<Caught>,
    pub types: Vec<SqlType>,
    pub shapes: Vec<Arc<Shape>>,
    /// Fields that are assigned, and the types of what is assigned to them.
    pub fields: Vec<(Arc<str>, SqlType)>,
    /// What texts whose fit is asked were made for: variables, and the shapes of their rows.
    pub fitted: Vec<Box<[(u32, Option<Arc<Shape>>)]>>,
    /// The texts that operations were made of.
    pub texts: Vec<Arc<Text>>,
    /// How many texts of the body had been made ready.
    pub ready: u32,
    /// Whether it calls volatile functions.
    pub volatile: bool,
    /// The slots of variables that its operations write, but for rows that are held field by field.
    pub written: Box<[Slot]>,
}

impl Op {
    /// The slots that it reads and writes, and where it may lead besides the next one.
    fn parts(&self) -> (Vec<Slot>, Option<Slot>, Option<u32>) {
        match *self {
            Op::Add4(left, right, to)
            | Op::Subtract4(left, right, to)
            | Op::Multiply4(left, right, to)
            | Op::Modulo4(left, right, to)
            | Op::Add8(left, right, to)
            | Op::Subtract8(left, right, to)
            | Op::Multiply8(left, right, to)
            | Op::Integers { left, right, to, .. }
            | Op::Apply { left, right, to, .. }
            | Op::Concatenate { left, right, to } => (vec![left, right], Some(to), None),
            Op::Element { array, subscript, to } => (vec![array, subscript], Some(to), None),
            Op::Move { from: one, to }
            | Op::Not { one, to }
            | Op::IsNull { one, to, .. }
            | Op::IsBool { one, to, .. }
            | Op::Field { record: one, to, .. } => (vec![one], Some(to), None),
            Op::NoRow { to } => (vec![], Some(to), None),
            Op::And { one, to, end } | Op::Or { one, to, end } => {
                (vec![one, to], Some(to), Some(end))
            }
            Op::Null { one, to, end } => (vec![one], Some(to), Some(end)),
            Op::Unless { one, end } | Op::UnlessNull { one, end } => (vec![one], None, Some(end)),
            Op::UnlessCompared { left, right, end, .. } => (vec![left, right], None, Some(end)),
            Op::Jump { end } => (vec![], None, Some(end)),
            Op::Back { begin } => (vec![], None, Some(begin)),
            Op::Function { to, .. }
            | Op::Tree { to, .. }
            | Op::Call { to, .. }
            | Op::Bounded { to, .. } => (vec![], Some(to), None),
            Op::SetElement { array, subscript, value, end } => {
                (vec![subscript, value], Some(array), Some(end))
            }
            Op::SetField { record, value, end, .. } => (vec![value], Some(record), Some(end)),
            Op::NotNull { one, variable } => (vec![one, variable], None, None),
            Op::Whole { one }
            | Op::Bound { one, .. }
            | Op::Positive { one }
            | Op::Return { one, .. } => (vec![one], None, None),
            Op::ForFirst { loops, variable, end, .. } => {
                (vec![loops, loops + 2], Some(variable), Some(end))
            }
            Op::ForNext { loops, variable, begin, .. } => {
                (vec![loops, loops + 2], Some(variable), Some(begin))
            }
            Op::Fits { end, .. } | Op::Holds { end, .. } | Op::NextRow { end } => {
                (vec![], None, Some(end))
            }
            Op::Assign { variable, .. } | Op::Begin { variable } | Op::Shaped { variable, .. } => {
                (vec![], Some(variable), None)
            }
            Op::Check { .. }
            | Op::Statement { .. }
            | Op::OpenRows { .. }
            | Op::CloseRows { .. }
            | Op::ReturnNothing
            | Op::Try { .. }
            | Op::Tried
            | Op::Handled
            | Op::CaseNotFound
            | Op::End => (vec![], None, None),
        }
    }

    /// Whether nothing behind it is reached from it.
    fn ends(&self) -> bool {
        matches!(self, Op::Jump { .. } | Op::Back { .. } | Op::CaseNotFound | Op::End)
    }

    /// Has its jump lead to this operation.
    pub fn land(&mut self, here: u32) {
        match self {
            Op::And { end, .. }
            | Op::Or { end, .. }
            | Op::Unless { end, .. }
            | Op::UnlessCompared { end, .. }
            | Op::UnlessNull { end, .. }
            | Op::Null { end, .. }
            | Op::Jump { end }
            | Op::SetElement { end, .. }
            | Op::SetField { end, .. }
            | Op::ForFirst { end, .. }
            | Op::Fits { end, .. }
            | Op::NextRow { end }
            | Op::Holds { end, .. } => *end = here,
            _ => {}
        }
    }

    /// Has it write another slot, if it computes one value and does nothing else.
    pub fn retarget(&mut self, from: Slot, slot: Slot) -> bool {
        match self {
            Op::Add4(_, _, to)
            | Op::Subtract4(_, _, to)
            | Op::Multiply4(_, _, to)
            | Op::Modulo4(_, _, to)
            | Op::Add8(_, _, to)
            | Op::Subtract8(_, _, to)
            | Op::Multiply8(_, _, to)
            | Op::Integers { to, .. }
            | Op::Apply { to, .. }
            | Op::Not { to, .. }
            | Op::IsNull { to, .. }
            | Op::IsBool { to, .. }
            | Op::Element { to, .. }
            | Op::Field { to, .. }
            | Op::Concatenate { to, .. }
            | Op::Function { to, .. }
            | Op::Tree { to, .. }
            | Op::Call { to, .. }
                if *to == from =>
            {
                *to = slot;
                true
            }
            _ => false,
        }
    }
}

impl Program {
    /// The slot whose value the body returns, and its type, where this operation does that and nothing comes behind.
    pub fn returned_at(&self, at: usize) -> Option<(Slot, SqlType)> {
        let Op::Return { one, ty } = self.ops[at] else { return None };
        let behind = match self.ops[at + 1] {
            Op::Jump { end } => end as usize,
            _ => at + 1,
        };
        matches!(self.ops[behind], Op::End).then_some((one, self.types[ty as usize]))
    }

    /// The slots below `end` that its operations write.
    pub fn written_below(&self, end: usize) -> Box<[Slot]> {
        let mut written: Vec<Slot> = Vec::new();
        for op in &self.ops {
            let (_, to, _) = op.parts();
            if let Some(to) = to.filter(|to| usize::from(*to) < end)
                && !written.contains(&to)
            {
                written.push(to);
            }
        }
        written.into()
    }

    /// Where an operation stands.
    pub fn place(&self, at: usize) -> (u32, &'static str) {
        self.places[self.at[at] as usize]
    }

    /// Whether it keeps what programs promise.
    pub fn verify(&self) -> bool {
        let (count, width) = (self.ops.len(), self.layout.len());
        let slot = |slot: Slot| usize::from(slot) < width;
        let op = |at: u32| (at as usize) < count;
        let fits = self.ops.iter().enumerate().all(|(at, one)| {
            let (reads, writes, end) = one.parts();
            let writes =
                writes.is_none_or(|to| slot(to) && !self.constants.contains(&usize::from(to)));
            let operands: &[Slot] = match one {
                Op::Function { function, .. } => match self.functions.get(*function as usize) {
                    Some(call) => &call.arguments,
                    None => return false,
                },
                Op::Call { site, .. } => match self.sites.get(*site as usize) {
                    Some(site) => &site.arguments,
                    None => return false,
                },
                _ => &[],
            };
            let known = match *one {
                Op::Statement { statement, .. } | Op::OpenRows { statement } => {
                    (statement as usize) < self.statements.len()
                }
                Op::Holds { sql, .. } | Op::Bounded { sql, .. } | Op::Assign { sql, .. } => {
                    (sql as usize) < self.sqls.len()
                }
                Op::Tree { tree, .. } => (tree as usize) < self.trees.len(),
                Op::Return { ty, .. } => (ty as usize) < self.types.len(),
                Op::Try { handlers } => (handlers as usize) < self.caught.len(),
                Op::Fits { shapes, .. } => (shapes as usize) < self.fitted.len(),
                Op::Shaped { shape, .. } => (shape as usize) < self.shapes.len(),
                Op::SetField { field, .. } => (field as usize) < self.fields.len(),
                Op::Bound { which, .. } => usize::from(which) < BOUNDS.len(),
                _ => true,
            };
            writes
                && known
                && reads.iter().chain(operands).all(|read| slot(*read))
                && end.is_none_or(op)
                && (one.ends() || at + 1 < count)
        });
        let mut jumps = self.starts.iter().copied();
        fits && self.at.len() == count
            && jumps.all(op)
            && self.caught.iter().flat_map(|caught| &caught.handlers).all(|handler| op(handler.1))
    }
}
