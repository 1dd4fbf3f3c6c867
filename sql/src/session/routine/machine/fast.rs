//! The loop that runs operations: all that need nothing of the session but what functions look at.

use super::code::{BOUNDS, Op, Program, Slot};
use crate::error::{Result, SqlError, cancel};
use crate::plan::scalar::Target;
use crate::session::routine::frame::Frame;
use crate::session::routine::loops::OpenLoop;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, Value};
use crate::types::array::{self, Array};
use crate::types::primitive::{Primitive, Width};
use crate::types::{CallContext, Datum, record};
use bumpalo::Bump;

/// Why the loop came to an end.
pub enum Exit {
    /// The operation before is one that the session does.
    Other,
    /// The operation at hand needs what functions look at.
    Context,
    /// A statement begins, and something has changed.
    Stale,
}

/// Where values are made before they are put into a frame.
#[derive(Default)]
pub struct Room {
    arena: Bump,
    made: RowBuf,
    text: String,
    /// An element for the end of an array.
    slot: Vec<u8>,
    /// Rounds of loops that have not asked yet whether they are to end.
    rounds: u32,
}

/// `array_append`, which `||` of an array and an element is too.
const ARRAY_APPEND: u32 = 378;

/// How many rounds of loops go by before somebody asks whether they are to end.
const ROUNDS_MAX: u32 = 32;

impl Room {
    /// Another round of a loop begins.
    #[inline]
    fn round(&mut self, stop: &txn::Cancel) -> Result<()> {
        self.rounds += 1;
        if self.rounds < ROUNDS_MAX {
            return Ok(());
        }
        self.rounds = 0;
        cancel::check(stop)
    }

    /// What its memory occupies.
    pub fn capacity_bytes(&self) -> usize {
        let buffers = self.text.capacity() + self.slot.capacity();
        self.arena.allocated_bytes() + self.made.capacity_bytes() + buffers
    }
}

/// The integer in a value that is one.
#[inline]
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int4(value) => Some(i64::from(*value)),
        Value::Int8(value) => Some(*value),
        Value::Int2(value) => Some(i64::from(*value)),
        _ => None,
    }
}

/// A value that has no bytes.
#[inline]
fn plain(datum: Datum<'_>) -> Value {
    match datum {
        Datum::Int4(value) => Value::Int4(value),
        Datum::Int8(value) => Value::Int8(value),
        Datum::Int2(value) => Value::Int2(value),
        Datum::Bool(value) => Value::Bool(value),
        Datum::Float8(value) => Value::Float8(value),
        _ => Value::Null,
    }
}

/// The value that a datum is, where it has no bytes.
#[inline]
fn by_value(datum: &Datum<'_>) -> Option<Value> {
    Some(match *datum {
        Datum::Null => Value::Null,
        Datum::Bool(value) => Value::Bool(value),
        Datum::Int2(value) => Value::Int2(value),
        Datum::Int4(value) => Value::Int4(value),
        Datum::Int8(value) => Value::Int8(value),
        Datum::Float8(value) => Value::Float8(value),
        Datum::Date(value) => Value::Date(value),
        Datum::Timestamp(value) => Value::Timestamp(value),
        Datum::TimestampTz(value) => Value::TimestampTz(value),
        _ => return None,
    })
}

/// An operation of integers that no operation of its own does, or whose operands are of several widths.
#[inline(never)]
fn integers(what: Primitive, left: &Value, right: &Value) -> Result<Value> {
    Ok(match (integer(left), integer(right)) {
        (Some(left), Some(right)) => plain(what.apply_to_integers(left, right)?),
        _ => Value::Null,
    })
}

#[cold]
fn null_bound(which: u8) -> SqlError {
    let message = format!("{} of FOR loop cannot be null", BOUNDS[usize::from(which)]);
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

/// The bound in a value; 22004 where it is NULL.
pub fn bound(value: &Datum<'_>, which: u8) -> Result<i32> {
    match value {
        Datum::Int4(value) => Ok(*value),
        _ => Err(null_bound(which)),
    }
}

/// What a loop over integers counts with: where it is, its end, its step.
#[inline]
fn counters(values: &[Value], loops: Slot) -> (i32, i32, i32) {
    match values.get(usize::from(loops)..) {
        Some([Value::Int4(value), Value::Int4(last), Value::Int4(step), ..]) => {
            (*value, *last, *step)
        }
        _ => (0, 0, 0),
    }
}

/// Runs operations from `pc` on, as long as it can; an error is that of the operation before `pc`.
pub fn run(
    program: &Program,
    parts: (&mut Frame, &mut Room, &mut [OpenLoop]),
    pc: &mut usize,
    context: Option<&CallContext<'_>>,
    stop: &txn::Cancel,
    stale: bool,
) -> Result<Exit> {
    let (ended, at) = run_from(program, parts, *pc, context, stop, stale);
    *pc = at;
    ended
}

/// The same; returns where it has come to. The counter is of this function alone, and so needs no memory.
fn run_from(
    program: &Program,
    (frame, room, loops): (&mut Frame, &mut Room, &mut [OpenLoop]),
    mut pc: usize,
    context: Option<&CallContext<'_>>,
    stop: &txn::Cancel,
    stale: bool,
) -> (Result<Exit>, usize) {
    macro_rules! done {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(error) => return (Err(error), pc),
            }
        };
    }
    let ops = &program.ops[..];
    let mut values = frame.parts_mut().0;
    macro_rules! value {
        ($slot:expr) => {
            values[usize::from($slot)]
        };
    }
    // Operands of the width that is expected are computed here, all others by the operation that there is for all.
    macro_rules! narrow {
        ($what:expr, $checked:ident, $left:expr, $right:expr, $to:expr) => {{
            let made = match (&value!($left), &value!($right)) {
                (Value::Int4(left), Value::Int4(right)) => left.$checked(*right),
                _ => None,
            };
            match made {
                Some(made) => value!($to) = Value::Int4(made),
                None => {
                    value!($to) =
                        done!(integers($what(Width::Four), &value!($left), &value!($right)));
                }
            }
        }};
    }
    macro_rules! wide {
        ($what:expr, $checked:ident, $left:expr, $right:expr, $to:expr) => {{
            let made = match (&value!($left), &value!($right)) {
                (Value::Int8(left), Value::Int4(right)) => left.$checked(i64::from(*right)),
                (Value::Int8(left), Value::Int8(right)) => left.$checked(*right),
                _ => None,
            };
            match made {
                Some(made) => value!($to) = Value::Int8(made),
                None => {
                    value!($to) =
                        done!(integers($what(Width::Eight), &value!($left), &value!($right)));
                }
            }
        }};
    }
    loop {
        let op = &ops[pc];
        pc += 1;
        match *op {
            Op::Add4(left, right, to) => narrow!(Primitive::Add, checked_add, left, right, to),
            Op::Subtract4(left, right, to) => {
                narrow!(Primitive::Subtract, checked_sub, left, right, to);
            }
            Op::Multiply4(left, right, to) => {
                narrow!(Primitive::Multiply, checked_mul, left, right, to);
            }
            Op::Modulo4(left, right, to) => {
                narrow!(Primitive::Modulo, checked_rem, left, right, to)
            }
            Op::Add8(left, right, to) => wide!(Primitive::Add, checked_add, left, right, to),
            Op::Subtract8(left, right, to) => {
                wide!(Primitive::Subtract, checked_sub, left, right, to);
            }
            Op::Multiply8(left, right, to) => {
                wide!(Primitive::Multiply, checked_mul, left, right, to);
            }
            Op::Integers { what, left, right, to } => {
                value!(to) = done!(integers(what, &value!(left), &value!(right)));
            }
            Op::Apply { what, left, right, to } => {
                let (left, right) = (frame.get(u32::from(left)), frame.get(u32::from(right)));
                let made = match (left, right) {
                    (Datum::Null, _) | (_, Datum::Null) => Value::Null,
                    _ => plain(done!(what.apply(left, right))),
                };
                values = frame.parts_mut().0;
                value!(to) = made;
            }
            Op::Move { from, to } => {
                // Numbers and truth values are copied here, all else where its bytes are known.
                match value!(from) {
                    plain @ (Value::Null | Value::Bool(_) | Value::Int4(_) | Value::Int8(_)) => {
                        value!(to) = plain;
                    }
                    _ => {
                        frame.copy_column(usize::from(from), usize::from(to));
                        values = frame.parts_mut().0;
                    }
                }
            }
            Op::NoRow { to } => {
                frame.set_plain(u32::from(to), Datum::Null);
                values = frame.parts_mut().0;
            }
            Op::And { one, to, end } => match value!(one) {
                Value::Bool(true) => {}
                Value::Bool(false) => {
                    value!(to) = Value::Bool(false);
                    pc = end as usize;
                }
                _ => value!(to) = Value::Null,
            },
            Op::Or { one, to, end } => match value!(one) {
                Value::Bool(false) => {}
                Value::Bool(true) => {
                    value!(to) = Value::Bool(true);
                    pc = end as usize;
                }
                _ => value!(to) = Value::Null,
            },
            Op::Not { one, to } => {
                value!(to) = match value!(one) {
                    Value::Bool(value) => Value::Bool(!value),
                    _ => Value::Null,
                };
            }
            Op::IsNull { one, negated, to } => {
                let is = match frame.get(u32::from(one)) {
                    // A row is null where all its fields are, and not null where none is.
                    Datum::Record(bytes) => {
                        record::fields(bytes).all(|(_, field)| field.is_none() != negated)
                    }
                    value => value.is_null() != negated,
                };
                values = frame.parts_mut().0;
                value!(to) = Value::Bool(is);
            }
            Op::IsBool { one, test, negated, to } => {
                let value = match value!(one) {
                    Value::Bool(value) => Some(value),
                    _ => None,
                };
                value!(to) = Value::Bool((value == test) != negated);
            }
            Op::Unless { one, end } => {
                if !matches!(value!(one), Value::Bool(true)) {
                    pc = end as usize;
                }
            }
            Op::UnlessCompared { how, left, right, end } => {
                let holds = match (&value!(left), &value!(right)) {
                    (Value::Int4(left), Value::Int4(right)) => {
                        how.of_integers(i64::from(*left), i64::from(*right))
                    }
                    (left, right) => match (integer(left), integer(right)) {
                        (Some(left), Some(right)) => how.of_integers(left, right),
                        _ => false,
                    },
                };
                if !holds {
                    pc = end as usize;
                }
            }
            Op::UnlessNull { one, end } => {
                if !matches!(value!(one), Value::Null) {
                    pc = end as usize;
                }
            }
            Op::Null { one, to, end } => {
                if matches!(value!(one), Value::Null) {
                    value!(to) = Value::Null;
                    pc = end as usize;
                }
            }
            Op::Jump { end } => pc = end as usize,
            Op::Back { begin } => {
                done!(room.round(stop));
                pc = begin as usize;
            }
            Op::Element { array, subscript, to } => {
                let wanted = match value!(subscript) {
                    Value::Int4(subscript) => Some(subscript),
                    _ => None,
                };
                let (Datum::Array(bytes), Some(wanted)) = (frame.get(u32::from(array)), wanted)
                else {
                    values = frame.parts_mut().0;
                    value!(to) = Value::Null;
                    continue;
                };
                match array::number_at(bytes, wanted) {
                    Some(number) => {
                        values = frame.parts_mut().0;
                        value!(to) = plain(number);
                    }
                    None => {
                        room.made.clear();
                        let element = Array::of(bytes).subscript(&room.arena, &[wanted]);
                        room.made.push(done!(element));
                        room.arena.reset();
                        frame.set_column(usize::from(to), &room.made, 0);
                        values = frame.parts_mut().0;
                    }
                }
            }
            Op::Whole { one } => {
                done!(frame.fold(u32::from(one)));
                values = frame.parts_mut().0;
            }
            Op::Field { record, number, to } => {
                let (variable, number) = (u32::from(record), usize::from(number));
                if let Some(plain) = frame.plain_field(variable, number) {
                    values = frame.parts_mut().0;
                    value!(to) = plain;
                    continue;
                }
                if frame.copy_field(variable, number, usize::from(to)) {
                    values = frame.parts_mut().0;
                    continue;
                }
                let record = frame.get(variable);
                let Datum::Record(bytes) = record else {
                    values = frame.parts_mut().0;
                    value!(to) = Value::Null;
                    continue;
                };
                match record::number_at(bytes, number) {
                    Some(number) => {
                        values = frame.parts_mut().0;
                        value!(to) = plain(number);
                    }
                    None => {
                        room.made.clear();
                        room.made.push(done!(record::field(&room.arena, bytes, number)));
                        room.arena.reset();
                        frame.set_column(usize::from(to), &room.made, 0);
                        values = frame.parts_mut().0;
                    }
                }
            }
            Op::Concatenate { left, right, to } => {
                match (frame.get(u32::from(left)), frame.get(u32::from(right))) {
                    (Datum::Text(one), Datum::Text(other)) => {
                        room.text.clear();
                        // What a text is appended to stays where it is.
                        if left == to {
                            room.text.push_str(other);
                            frame.append_text(usize::from(to), &room.text);
                        } else {
                            room.text.push_str(one);
                            room.text.push_str(other);
                            frame.set(u32::from(to), Datum::Text(&room.text));
                        }
                        values = frame.parts_mut().0;
                    }
                    _ => {
                        values = frame.parts_mut().0;
                        value!(to) = Value::Null;
                    }
                }
            }
            Op::Function { function, to } => {
                let Some(context) = context else {
                    pc -= 1;
                    return (Ok(Exit::Context), pc);
                };
                let call = &program.functions[function as usize];
                // As a text, what an array is appended to stays where it is.
                if call.callee.oid == ARRAY_APPEND
                    && let [array, element] = call.arguments[..]
                    && array == to
                    && frame.append_element(u32::from(to), u32::from(element), &mut room.slot)
                {
                    values = frame.parts_mut().0;
                    done!(crate::account::check());
                    continue;
                }
                let plain = {
                    let (few, many): ([Datum<'_>; 3], Vec<Datum<'_>>);
                    let at = |slot: &Slot| frame.get(u32::from(*slot));
                    let operands = match &call.arguments[..] {
                        [] => &[][..],
                        [one] => {
                            few = [at(one), Datum::Null, Datum::Null];
                            &few[..1]
                        }
                        [one, two] => {
                            few = [at(one), at(two), Datum::Null];
                            &few[..2]
                        }
                        [one, two, three] => {
                            few = [at(one), at(two), at(three)];
                            &few
                        }
                        all => {
                            many = all.iter().map(at).collect();
                            &many
                        }
                    };
                    let context = CallContext { arena: &room.arena, ..*context };
                    let made = match &call.callee.target {
                        _ if call.callee.strict && operands.iter().any(Datum::is_null) => {
                            Datum::Null
                        }
                        Target::Plain(code) => done!(code(&context, operands)),
                        Target::Typed(code, types) => {
                            done!(code(&context, &types.signature(), operands))
                        }
                        Target::Catalog | Target::Routine(..) => Datum::Null,
                    };
                    let plain = by_value(&made);
                    if plain.is_none() {
                        room.made.clear();
                        room.made.push(made);
                    }
                    done!(crate::account::check());
                    plain
                };
                room.arena.reset();
                let Some(plain) = plain else {
                    frame.set_column(usize::from(to), &room.made, 0);
                    values = frame.parts_mut().0;
                    continue;
                };
                values = frame.parts_mut().0;
                value!(to) = plain;
            }
            Op::Tree { tree, to } => {
                let Some(context) = context else {
                    pc -= 1;
                    return (Ok(Exit::Context), pc);
                };
                {
                    let (arena, made) = (&room.arena, &mut room.made);
                    let context = CallContext { arena, ..*context };
                    let code = &program.trees[tree as usize];
                    if !done!(code.compute_over(&context, frame.row(), made)) {
                        return (Err(SqlError::unsupported("this expression is")), pc);
                    }
                }
                room.arena.reset();
                frame.set_column(usize::from(to), &room.made, 0);
                values = frame.parts_mut().0;
            }
            Op::SetElement { array, subscript, value, end } => {
                let array = u32::from(array);
                let done = match (value!(subscript), value!(value)) {
                    (
                        Value::Int4(subscript),
                        value @ (Value::Int4(_) | Value::Int8(_) | Value::Float8(_)),
                    ) => {
                        let value = match value {
                            Value::Int4(value) => Datum::Int4(value),
                            Value::Int8(value) => Datum::Int8(value),
                            Value::Float8(value) => Datum::Float8(value),
                            _ => Datum::Null,
                        };
                        frame.replace_number(array, subscript, &value)
                            || frame.append_number(array, subscript, &value)
                    }
                    (Value::Int4(subscript), _) => {
                        let place = (array, subscript);
                        let grown =
                            frame.append_element_at(place, u32::from(value), &mut room.slot);
                        if grown {
                            done!(crate::account::check());
                        }
                        grown
                    }
                    _ => false,
                };
                values = frame.parts_mut().0;
                if !done {
                    pc = end as usize;
                }
            }
            Op::SetField { record, field, value, end } => {
                let (name, ty) = &program.fields[field as usize];
                let set = frame.set_field_of((u32::from(record), name), (*ty, usize::from(value)));
                if !done!(set) {
                    pc = end as usize;
                }
                values = frame.parts_mut().0;
            }
            Op::NotNull { one, .. } => {
                if matches!(value!(one), Value::Null) {
                    return (Ok(Exit::Other), pc);
                }
            }
            Op::Bound { one, which } => {
                if !matches!(value!(one), Value::Int4(_)) {
                    return (Err(null_bound(which)), pc);
                }
            }
            Op::Positive { one } => {
                if !matches!(value!(one), Value::Int4(1..)) {
                    let message = "BY value of FOR loop must be greater than zero";
                    let error = SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
                    return (Err(error), pc);
                }
            }
            Op::ForFirst { loops, variable, reverse, end } => {
                let (value, last, _) = counters(values, loops);
                if if reverse { value < last } else { value > last } {
                    pc = end as usize;
                } else {
                    value!(variable) = Value::Int4(value);
                }
            }
            Op::ForNext { loops, variable, reverse, begin } => {
                done!(room.round(stop));
                let (value, last, step) = counters(values, loops);
                let next = if reverse { value.checked_sub(step) } else { value.checked_add(step) };
                if let Some(next) = next
                    && if reverse { next >= last } else { next <= last }
                {
                    value!(loops) = Value::Int4(next);
                    value!(variable) = Value::Int4(next);
                    pc = begin as usize;
                }
            }
            Op::NextRow { .. } => {
                let Some(looped) = loops.last_mut() else { return (Ok(Exit::Other), pc) };
                let advanced = looped.advance(frame);
                values = frame.parts_mut().0;
                if !advanced {
                    return (Ok(Exit::Other), pc);
                }
            }
            Op::Fits { shapes, end } => {
                let shapes = &program.fitted[shapes as usize];
                if !shapes.iter().all(|(one, shape)| frame.is_shaped(*one, shape.as_ref())) {
                    pc = end as usize;
                }
                values = frame.parts_mut().0;
            }
            Op::Check { .. } => {
                if stale {
                    return (Ok(Exit::Stale), pc);
                }
            }
            Op::Shaped { .. }
            | Op::Call { .. }
            | Op::Statement { .. }
            | Op::OpenRows { .. }
            | Op::CloseRows { .. }
            | Op::Holds { .. }
            | Op::Bounded { .. }
            | Op::Assign { .. }
            | Op::Begin { .. }
            | Op::Return { .. }
            | Op::ReturnNothing
            | Op::Try { .. }
            | Op::Tried
            | Op::Handled
            | Op::CaseNotFound
            | Op::End => return (Ok(Exit::Other), pc),
        }
    }
}
