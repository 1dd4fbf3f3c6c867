//! Evaluating scalars: three-valued logic, strict calls, and nothing allocated but in the arena.
//!
//! A subquery cannot run while its expression is being evaluated, because that borrows the frame. So where a result is
//! missing the evaluation gives up with the subquery's number; the caller runs it and begins again. Subqueries are thus run
//! exactly when they are needed, as in PostgreSQL: `CASE` and `AND` still guard them.

use super::element_sets::ELEMENTS_MIN;
use super::frame::Frame;
use super::routine::RoutineCall;
use super::subquery::SubplanState;
use super::volatile_memo::VolatileMemo;
use crate::account;
use crate::bind::Quantifier;
use crate::bind::typed::CurrentValue;
use crate::catalog::builtin;
use crate::catalog::routine::Routine;
use crate::error::SqlError;
use crate::plan::functions::is_not_equal;
use crate::plan::scalar::{CallTypes, Callee, Scalar, Target, Var};
use crate::tuple::RowBuf;
use crate::types::array::{self, Array};
use crate::types::assign::AssignStep;
use crate::types::datetime::calendar;
use crate::types::primitive::Primitive;
use crate::types::{CallContext, Datum, SqlType, record};
use std::cmp::Ordering;
use std::sync::Arc;

/// Why an evaluation gave up.
#[derive(Debug)]
pub enum Failure {
    /// An error.
    Error(SqlError),
    /// The result of this subquery is missing.
    Subquery(u32),
    /// A call has changed the settings that the calls behind it look at.
    Settings,
    /// The value of this call is missing.
    Routine(Box<RoutineCall>),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Failure {
        Failure::Error(error)
    }
}

/// The result of an evaluation.
pub type Evaluated<'a> = Result<Datum<'a>, Failure>;

/// A value that lives within its expression: the element of an array that is cast, the operand of a simple CASE.
pub struct Local<'a> {
    home: Var,
    value: Datum<'a>,
    /// That of the expression around.
    outer: Option<&'a Local<'a>>,
}

/// Where expressions are evaluated.
pub struct Eval<'a> {
    /// What functions look at.
    pub call: CallContext<'a>,
    /// The current rows.
    pub frame: &'a Frame,
    /// Parameters.
    pub parameters: &'a RowBuf,
    /// Subqueries' results.
    pub subplans: &'a [SubplanState],
    /// The value at hand that the expression itself has a home for.
    pub local: Option<Local<'a>>,
    /// What volatile calls have given, where the evaluation may begin again.
    pub drawn: Option<&'a VolatileMemo>,
}

impl Eval<'_> {
    /// The row and the column that a scalar only names.
    #[inline]
    pub fn place(&self, scalar: &Scalar) -> Option<(&RowBuf, usize)> {
        match scalar {
            Scalar::Var(var) if self.local.is_none() => {
                Some((self.frame.row(var.slot), var.column as usize))
            }
            Scalar::Parameter(number) => Some((self.parameters, *number as usize)),
            _ => None,
        }
    }

    /// The value of a home within the expression at hand.
    #[inline]
    pub fn local(&self, var: Var) -> Option<Datum<'_>> {
        let mut local = self.local.as_ref();
        while let Some(found) = local {
            if found.home == var {
                return Some(found.value);
            }
            local = found.outer;
        }
        None
    }

    /// The same place, where this home has this value.
    pub fn with<'x>(&'x self, home: Var, value: Datum<'x>) -> Eval<'x> {
        Eval {
            call: CallContext { ..self.call },
            frame: self.frame,
            parameters: self.parameters,
            subplans: self.subplans,
            local: Some(Local { home, value, outer: self.local.as_ref() }),
            drawn: self.drawn,
        }
    }

    /// The value of a scalar.
    ///
    /// # Errors
    /// [`Failure`].
    #[inline]
    pub fn scalar<'x>(&'x self, scalar: &'x Scalar) -> Evaluated<'x> {
        // Most of what is in a tree is one of these, and needs no room for what the others do.
        match scalar {
            Scalar::Var(var) if self.local.is_none() => Ok(self.frame.get(*var)),
            Scalar::Var(var) => Ok(self.variable(*var)),
            Scalar::Constant(row, _) => Ok(row.get(0)),
            Scalar::Parameter(number) => Ok(self.parameters.get(*number as usize)),
            // What fails while a row is made has no place in the text, as in PostgreSQL.
            Scalar::Call { callee, arguments, .. } => match callee.primitive {
                Some(what) if what.takes_integers() => Ok(self.primitive(what, arguments)?),
                _ => self.call(callee, arguments),
            },
            Scalar::Subscript { operand, indices, slice, .. } => {
                self.subscript(operand, indices, *slice)
            }
            Scalar::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref())
            }
            other => self.composed(other),
        }
    }

    /// What a home within the expression or a column of a current row holds.
    #[inline(never)]
    fn variable(&self, var: Var) -> Datum<'_> {
        self.local(var).unwrap_or_else(|| self.frame.get(var))
    }

    /// The value of any other scalar.
    fn composed<'x>(&'x self, scalar: &'x Scalar) -> Evaluated<'x> {
        Ok(match scalar {
            Scalar::Var(_)
            | Scalar::Constant(..)
            | Scalar::Parameter(_)
            | Scalar::Call { .. }
            | Scalar::Subscript { .. }
            | Scalar::Case { .. } => return self.scalar(scalar),
            Scalar::And(all) => self.and(all)?,
            Scalar::Or(all) => self.or(all)?,
            Scalar::Not(one) => match self.scalar(one)? {
                Datum::Bool(value) => Datum::Bool(!value),
                _ => Datum::Null,
            },
            Scalar::IsNull(one, negated) => Datum::Bool(match self.scalar(one)? {
                // A row is null where all its fields are, and not null where none is.
                Datum::Record(bytes) => {
                    record::fields(bytes).all(|(_, field)| field.is_none() != *negated)
                }
                value => value.is_null() != *negated,
            }),
            Scalar::IsBool(one, test, negated) => {
                let value = match self.scalar(one)? {
                    Datum::Bool(value) => Some(value),
                    _ => None,
                };
                Datum::Bool((value == *test) != *negated)
            }
            Scalar::IsDistinct(left, right, equals, negated) => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                let distinct = match (left.is_null(), right.is_null()) {
                    (true, true) => false,
                    (false, false) => !self.test(equals, left, right)?,
                    _ => true,
                };
                Datum::Bool(distinct != *negated)
            }
            Scalar::Coalesce(all) => {
                for one in all {
                    let value = self.scalar(one)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Datum::Null
            }
            Scalar::NullIf(left, right, equals) => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                if !left.is_null() && !right.is_null() && self.test(equals, left, right)? {
                    return Ok(Datum::Null);
                }
                left
            }
            Scalar::Extreme(all, comparator, greatest) => {
                let wanted = if *greatest { Ordering::Less } else { Ordering::Greater };
                let mut best = Datum::Null;
                for one in all {
                    let value = self.scalar(one)?;
                    let better = !value.is_null()
                        && (best.is_null()
                            || comparator.compare_strictly(&self.call, &best, &value)? == wanted);
                    if better {
                        best = value;
                    }
                }
                best
            }
            Scalar::Xml(arguments, call) => {
                let mut values = bumpalo::collections::Vec::new_in(self.call.arena);
                for argument in arguments {
                    values.push(self.scalar(argument)?);
                }
                call.evaluate(&self.call, &values)?
            }
            Scalar::ViaText(one, from, to) => self.via_text(self.scalar(one)?, *from, *to)?,
            Scalar::ArrayCast { operand, to, element, home, .. } => {
                self.array_cast(operand, to.0, element, *home)?
            }
            Scalar::Array(elements, ty, nested) => self.array(elements, ty.0, *nested)?,
            Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
                self.scalar_array(left, callee, array, *quantifier)?
            }
            Scalar::Row(fields, names) => {
                let mut values = bumpalo::collections::Vec::new_in(self.call.arena);
                for (field, ty) in fields {
                    values.push((*ty, self.scalar(field)?));
                }
                record::build_named(self.call.arena, &values, names.as_deref().unwrap_or(&[]))
            }
            Scalar::Assign(parts, step) => self.assign(parts, step)?,
            Scalar::Field(one, field) => match self.scalar(one)? {
                Datum::Record(bytes) => record::field(self.call.arena, bytes, *field as usize)?,
                _ => Datum::Null,
            },
            Scalar::Subquery(number) => {
                let state = &self.subplans[*number as usize];
                if !state.done {
                    return Err(Failure::Subquery(*number));
                }
                state.result.get(0)
            }
            Scalar::CurrentValue(value) => self.current_value(*value)?,
        })
    }

    /// The value of an operation of integers: no value between its parts is more than a number.
    #[inline(never)]
    fn primitive(&self, what: Primitive, arguments: &[Scalar]) -> Result<Datum<'static>, Failure> {
        let left = self.integer(&arguments[0])?;
        let right = match arguments {
            [_, right] => self.integer(right)?,
            _ => left,
        };
        Ok(match (left, right) {
            (Some(left), Some(right)) => what.apply_to_integers(left, right)?,
            _ => Datum::Null,
        })
    }

    /// The value of a scalar that is an integer; none: NULL.
    #[inline]
    fn integer(&self, scalar: &Scalar) -> Result<Option<i64>, Failure> {
        match scalar {
            Scalar::Var(var) if self.local.is_none() => {
                Ok(self.frame.row(var.slot).integer(var.column as usize))
            }
            Scalar::Constant(row, _) => Ok(row.integer(0)),
            Scalar::Parameter(number) => Ok(self.parameters.integer(*number as usize)),
            other => Ok(match self.scalar(other)? {
                Datum::Int4(value) => Some(i64::from(value)),
                Datum::Int8(value) => Some(value),
                Datum::Int2(value) => Some(i64::from(value)),
                _ => None,
            }),
        }
    }

    #[inline(never)]
    fn case<'x>(
        &'x self,
        operand: Option<&'x (Scalar, Var)>,
        branches: &'x [(Scalar, Scalar)],
        otherwise: Option<&'x Scalar>,
    ) -> Evaluated<'x> {
        let inner = match operand {
            Some((operand, home)) => Some(self.with(*home, self.scalar(operand)?)),
            None => None,
        };
        let around = inner.as_ref().unwrap_or(self);
        for (when, then) in branches {
            if matches!(around.scalar(when)?, Datum::Bool(true)) {
                return self.scalar(then);
            }
        }
        otherwise.map_or(Ok(Datum::Null), |otherwise| self.scalar(otherwise))
    }

    fn and<'x>(&'x self, all: &'x [Scalar]) -> Evaluated<'x> {
        let mut result = Datum::Bool(true);
        for one in all {
            match self.scalar(one)? {
                Datum::Bool(false) => return Ok(Datum::Bool(false)),
                Datum::Bool(true) => {}
                _ => result = Datum::Null,
            }
        }
        Ok(result)
    }

    fn or<'x>(&'x self, all: &'x [Scalar]) -> Evaluated<'x> {
        let mut result = Datum::Bool(false);
        for one in all {
            match self.scalar(one)? {
                Datum::Bool(true) => return Ok(Datum::Bool(true)),
                Datum::Bool(false) => {}
                _ => result = Datum::Null,
            }
        }
        Ok(result)
    }

    #[inline(never)]
    fn call<'x>(&'x self, callee: &'x Callee, arguments: &'x [Scalar]) -> Evaluated<'x> {
        match arguments {
            [] => self.apply(callee, &[]),
            [one] => {
                let one = self.scalar(one)?;
                if one.is_null() && callee.strict {
                    return Ok(Datum::Null);
                }
                self.apply(callee, &[one])
            }
            [left, right] => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                if callee.strict && (left.is_null() || right.is_null()) {
                    return Ok(Datum::Null);
                }
                self.apply(callee, &[left, right])
            }
            many => {
                let mut values =
                    bumpalo::collections::Vec::with_capacity_in(many.len(), self.call.arena);
                for one in many {
                    values.push(self.scalar(one)?);
                }
                if callee.strict && values.iter().any(Datum::is_null) {
                    return Ok(Datum::Null);
                }
                self.apply(callee, &values)
            }
        }
    }

    /// Calls a function whose strictness has been seen to.
    ///
    /// # Errors
    /// The function's; 0A000 if it has no implementation.
    #[inline]
    pub fn apply<'x>(&'x self, callee: &'x Callee, arguments: &[Datum<'x>]) -> Evaluated<'x> {
        if let (Some(what), [first, ..]) = (callee.primitive, arguments) {
            return Ok(what.apply(*first, arguments[arguments.len() - 1])?);
        }
        if let Target::Routine(routine, types) = &callee.target {
            return self.routine(callee, (routine, types), arguments);
        }
        match self.drawn {
            Some(drawn) if callee.volatile => self.draw(drawn, callee, arguments),
            _ => self.run(callee, arguments),
        }
    }

    /// What a routine has given in this evaluation; it is called outside of it.
    #[cold]
    fn routine<'x>(
        &'x self,
        callee: &'x Callee,
        (routine, types): (&Arc<Routine>, &Arc<CallTypes>),
        arguments: &[Datum<'x>],
    ) -> Evaluated<'x> {
        if let Some(known) = self.drawn.and_then(|drawn| drawn.get(callee)) {
            return Ok(known);
        }
        let mut values = RowBuf::new();
        arguments.iter().for_each(|argument| values.push(*argument));
        Err(Failure::Routine(Box::new(RoutineCall {
            routine: Arc::clone(routine),
            types: Arc::clone(types),
            arguments: values,
            place: self.drawn.map(|drawn| drawn.place(callee)),
        })))
    }

    /// What a volatile call has given in this evaluation, or gives now.
    fn draw<'x>(
        &'x self,
        drawn: &'x VolatileMemo,
        callee: &'x Callee,
        arguments: &[Datum<'x>],
    ) -> Evaluated<'x> {
        if let Some(value) = drawn.get(callee) {
            return Ok(value);
        }
        let value = self.run(callee, arguments)?;
        drawn.keep(callee, value);
        match self.call.catalog.changed_settings() {
            Some(changed) if !std::ptr::eq(changed, self.call.settings) => Err(Failure::Settings),
            _ => Ok(value),
        }
    }

    fn run<'x>(&'x self, callee: &'x Callee, arguments: &[Datum<'x>]) -> Evaluated<'x> {
        let result = match &callee.target {
            Target::Plain(code) => code(&self.call, arguments),
            Target::Typed(code, types) => code(&self.call, &types.signature(), arguments),
            Target::Routine(routine, _) => {
                let name = &routine.name;
                Err(SqlError::unsupported(format!("a call of the function {name} here is")))
            }
            Target::Catalog => match self.call.catalog.call(&self.call, callee.oid, arguments) {
                Some(result) => result,
                None => {
                    let name =
                        builtin::function(callee.oid).map_or("?", |procedure| procedure.name);
                    Err(SqlError::unsupported(format!("the function {name} is")))
                }
            },
        };
        let value = result.map_err(Failure::Error)?;
        account::check()?;
        Ok(value)
    }

    /// Whether a boolean function of two values that are not NULL is true.
    fn test<'x>(
        &'x self,
        callee: &'x Callee,
        left: Datum<'x>,
        right: Datum<'x>,
    ) -> Result<bool, Failure> {
        Ok(matches!(self.apply(callee, &[left, right])?, Datum::Bool(true)))
    }

    fn via_text<'x>(&'x self, value: Datum<'x>, from: SqlType, to: SqlType) -> Evaluated<'x> {
        if value.is_null() {
            return Ok(Datum::Null);
        }
        let text = crate::types::text_of(&self.call, from, &value)?;
        Ok(crate::types::read_text(&self.call, to, text)?)
    }

    /// The turn of a loop has ended: what fails in it ends the evaluation, or has it begin again.
    fn leave(&self, around: Option<u64>) {
        if let (Some(drawn), Some(around)) = (self.drawn, around) {
            drawn.leave(around);
        }
    }

    fn array_cast<'x>(
        &'x self,
        operand: &'x Scalar,
        to: u32,
        element: &'x Scalar,
        home: Var,
    ) -> Evaluated<'x> {
        let Datum::Array(bytes) = self.scalar(operand)? else { return Ok(Datum::Null) };
        let source = Array::of(bytes);
        let mut builder = array::Builder::new(to);
        for (turn, datum) in source.datums(self.call.arena).enumerate() {
            let around = self.drawn.map(|drawn| drawn.enter(turn));
            builder.push(&self.with(home, datum?).scalar(element)?);
            self.leave(around);
        }
        let dimensions: Vec<_> = source.dimensions().collect();
        Ok(Datum::Array(builder.store(self.call.arena, &dimensions)))
    }

    fn array<'x>(&'x self, elements: &'x [Scalar], ty: u32, nested: bool) -> Evaluated<'x> {
        let element = builtin::element_type(ty).unwrap_or(crate::types::oids::TEXT);
        let mut values = bumpalo::collections::Vec::new_in(self.call.arena);
        for one in elements {
            values.push(self.scalar(one)?);
        }
        // Elements that are arrays of the same type make one dimension more.
        if nested {
            return Ok(array::from_arrays(self.call.arena, element, &values)?);
        }
        Ok(array::from_datums(self.call.arena, element, &values))
    }

    /// A byte of a name, counted from 0: names are arrays of 64 `"char"`s, the last ones of them 0.
    fn byte_of<'x>(
        &'x self,
        name: &str,
        indices: &'x [(Option<Scalar>, Option<Scalar>)],
    ) -> Evaluated<'x> {
        const NAME_LENGTH: usize = 64;
        let [(None, Some(index))] = indices else { return Ok(Datum::Null) };
        let Datum::Int4(index) = self.scalar(index)? else { return Ok(Datum::Null) };
        Ok(match usize::try_from(index) {
            Ok(at) if at < NAME_LENGTH => {
                Datum::Char(name.as_bytes().get(at).copied().unwrap_or(0))
            }
            _ => Datum::Null,
        })
    }

    #[inline(never)]
    fn subscript<'x>(
        &'x self,
        operand: &'x Scalar,
        indices: &'x [(Option<Scalar>, Option<Scalar>)],
        slice: bool,
    ) -> Evaluated<'x> {
        let operand = match operand {
            Scalar::Parameter(number) => self.parameters.get(*number as usize),
            other => self.scalar(other)?,
        };
        let bytes = match operand {
            Datum::Array(bytes) => bytes,
            Datum::Text(name) => return self.byte_of(name, indices),
            _ => return Ok(Datum::Null),
        };
        let ([(None, Some(subscript))], false) = (indices, slice) else {
            return self.subscripts(Array::of(bytes), indices, slice);
        };
        let subscript =
            self.integer(subscript)?.and_then(|subscript| i32::try_from(subscript).ok());
        let Some(subscript) = subscript else { return Ok(Datum::Null) };
        match array::number_at(bytes, subscript) {
            Some(number) => Ok(number),
            None => Ok(Array::of(bytes).subscript(self.call.arena, &[subscript])?),
        }
    }

    /// The element or the part of an array at several subscripts.
    fn subscripts<'x>(
        &'x self,
        array: Array<'x>,
        indices: &'x [(Option<Scalar>, Option<Scalar>)],
        slice: bool,
    ) -> Evaluated<'x> {
        let mut bounds = Vec::with_capacity(indices.len());
        for (low, high) in indices {
            let bound = |scalar: &'x Option<Scalar>| -> Result<Option<Option<i32>>, Failure> {
                Ok(match scalar {
                    None => Some(None),
                    Some(scalar) => match self.scalar(scalar)? {
                        Datum::Int4(value) => Some(Some(value)),
                        _ => None,
                    },
                })
            };
            let (Some(low), Some(high)) = (bound(low)?, bound(high)?) else {
                return Ok(Datum::Null);
            };
            bounds.push((low, high));
        }
        if slice {
            return Ok(Datum::Array(array.slice(self.call.arena, &bounds)));
        }
        let subscripts: Vec<i32> = bounds.iter().filter_map(|(_, high)| *high).collect();
        Ok(array.subscript(self.call.arena, &subscripts)?)
    }

    fn assign<'x>(&'x self, parts: &'x [Scalar], step: &AssignStep) -> Evaluated<'x> {
        // The new value comes last (`ExecInitSubscriptingRef`).
        let mut values = bumpalo::collections::Vec::with_capacity_in(parts.len(), self.call.arena);
        let [target, value, subscripts @ ..] = parts else { return Ok(Datum::Null) };
        values.push(self.scalar(target)?);
        values.push(Datum::Null);
        for subscript in subscripts {
            values.push(self.scalar(subscript)?);
        }
        values[1] = self.scalar(value)?;
        Ok(crate::types::assign::part(&self.call, step, &values)?)
    }

    fn scalar_array<'x>(
        &'x self,
        left: &'x Scalar,
        callee: &'x Callee,
        array: &'x Scalar,
        quantifier: Quantifier,
    ) -> Evaluated<'x> {
        let left = self.scalar(left)?;
        let source = array;
        let Datum::Array(bytes) = self.scalar(array)? else { return Ok(Datum::Null) };
        let array = Array::of(bytes);
        let decisive = quantifier == Quantifier::Any;
        if array.is_empty() {
            return Ok(Datum::Bool(!decisive));
        }
        if left.is_null() && callee.strict {
            return Ok(Datum::Null);
        }
        if array.len() >= ELEMENTS_MIN
            && callee.strict
            && matches!(source, Scalar::Constant(..) | Scalar::Parameter(_))
            && is_membership(callee, quantifier)
        {
            let elements = &self.frame.elements;
            let found = elements.contains(source, callee.oid, array, left, self.call.arena)?;
            if let Some(found) = found {
                return Ok(found.map_or(Datum::Null, |found| Datum::Bool(found == decisive)));
            }
        }
        let mut unknown = false;
        for (turn, element) in array.datums(self.call.arena).enumerate() {
            let element = element?;
            if element.is_null() && callee.strict {
                unknown = true;
                continue;
            }
            let around = self.drawn.map(|drawn| drawn.enter(turn));
            let tested = self.apply(callee, &[left, element])?;
            self.leave(around);
            match tested {
                Datum::Bool(value) if value == decisive => return Ok(Datum::Bool(decisive)),
                Datum::Bool(_) => {}
                _ => unknown = true,
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Bool(!decisive) })
    }

    fn current_value(&self, value: CurrentValue) -> Evaluated<'_> {
        use crate::types::oids;
        let text = |text: &str| Datum::Text(self.call.arena.alloc_str(text));
        let (ty, precision) = match value {
            CurrentValue::User | CurrentValue::Role | CurrentValue::PlainUser => {
                return Ok(text(self.call.catalog.session().user));
            }
            CurrentValue::SessionUser => return Ok(text(self.call.catalog.session().session_user)),
            CurrentValue::Catalog => return Ok(text(self.call.catalog.session().database)),
            CurrentValue::Schema => {
                /// `current_schema()`.
                const CURRENT_SCHEMA: u32 = 1402;
                let answer = self.call.catalog.call(&self.call, CURRENT_SCHEMA, &[]);
                return Ok(answer.transpose()?.unwrap_or(Datum::Null));
            }
            CurrentValue::Timestamp(precision) => (oids::TIMESTAMPTZ, precision),
            CurrentValue::LocalTimestamp(precision) => (oids::TIMESTAMP, precision),
            CurrentValue::LocalTime(precision) => (oids::TIME, precision),
            CurrentValue::Time(precision) => (oids::TIMETZ, precision),
            CurrentValue::Date => (oids::DATE, None),
        };
        if ty == oids::TIMETZ {
            let now = round(self.call.transaction_time, precision);
            return Ok(Datum::TimeTz(crate::types::datetime::timetz::local_time(&self.call, now)));
        }
        let now = round(self.call.transaction_time, precision);
        if ty == oids::TIMESTAMPTZ {
            return Ok(Datum::TimestampTz(now));
        }
        let now = crate::types::datetime::functions::local(&self.call, now);
        let (date, time) = calendar::split(now);
        Ok(match ty {
            oids::TIME => Datum::Time(time),
            oids::DATE => Datum::Date(date as i32),
            _ => Datum::Timestamp(now),
        })
    }
}

/// Whether `= ANY` or `<> ALL` is asked, which only has to know whether a value is among the elements.
fn is_membership(callee: &Callee, quantifier: Quantifier) -> bool {
    match quantifier {
        Quantifier::Any => !is_not_equal(callee.oid),
        Quantifier::All => is_not_equal(callee.oid),
    }
}

/// A time of day or point in time, to `precision` digits of a second.
fn round(micros: i64, precision: Option<u8>) -> i64 {
    match precision {
        Some(digits @ 0..=5) => {
            let unit = 10_i64.pow(6 - u32::from(digits));
            (micros + unit / 2).div_euclid(unit) * unit
        }
        _ => micros,
    }
}
