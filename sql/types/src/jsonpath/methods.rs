//! What a path computes of items: `+ - * / %`, and the methods from `.type()` to `.datetime()`.

use super::execute::{Base, Found, Outcome, Run};
use super::item::{self, Item};
use super::layout::Layout;
use super::tree::{Arithmetic, Expression, Method, Sign, Step};
use crate::datetime::standard;
use crate::error::{Result, SqlError};
use crate::json::View;
use crate::json::stored::{Node, Shape};
use crate::sqlstate::SqlState;
use crate::{Datum, float, numeric};
use bumpalo::collections::Vec as ArenaVec;
use std::mem::replace;

impl<'a> Run<'_, 'a> {
    /// The only number among an operand's items; an error otherwise.
    fn operand(
        &mut self,
        items: &[Item<'a>],
        side: &str,
        operator: Arithmetic,
    ) -> Result<Option<Datum<'a>>> {
        if let [item] = items
            && let Some(number) = item.number()
        {
            return Ok(Some(Datum::Numeric(number)));
        }
        self.error(
            SqlState::SINGLETON_SQL_JSON_ITEM_REQUIRED,
            format!(
                "{side} operand of jsonpath operator {} is not a single numeric value",
                operator.symbol()
            ),
        )?;
        Ok(None)
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: Arithmetic,
        left: &Expression<'a>,
        right: &Expression<'a>,
        steps: &'a [Step<'a>],
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (operand, items) in [(left, &mut x), (right, &mut y)] {
            if self.evaluate_unwrapped(operand, items)? == Outcome::Error {
                return Ok(Outcome::Error);
            }
        }
        let Some(x) = self.operand(&x, "left", operator)? else { return Ok(Outcome::Error) };
        let Some(y) = self.operand(&y, "right", operator)? else { return Ok(Outcome::Error) };
        let function = match operator {
            Arithmetic::Add => 1724,
            Arithmetic::Subtract => 1725,
            Arithmetic::Multiply => 1726,
            Arithmetic::Divide => 1727,
            Arithmetic::Remainder => 1729,
        };
        match item::call(self.context, function, &[x, y]) {
            Ok(result) => self.next(steps, Item::Json(View::number(result.numeric())), found),
            Err(error) if self.throws => Err(error),
            Err(_) => Ok(Outcome::Error),
        }
    }

    pub(super) fn sign(
        &mut self,
        sign: Sign,
        argument: &Expression<'a>,
        steps: &'a [Step<'a>],
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let mut items = Vec::new();
        if self.evaluate_unwrapped(argument, &mut items)? == Outcome::Error {
            return Ok(Outcome::Error);
        }
        let asked = found.is_some() || !steps.is_empty();
        let mut outcome = Outcome::Nothing;
        for item in items {
            let Some(number) = item.number() else {
                if !asked {
                    continue;
                }
                return self.error(
                    SqlState::SQL_JSON_NUMBER_NOT_FOUND,
                    format!(
                        "operand of unary jsonpath operator {} is not a numeric value",
                        sign.symbol()
                    ),
                );
            };
            let mut number = Datum::Numeric(number);
            if sign == Sign::Minus {
                number = numeric::functions::negate(self.context, &[number])?;
            }
            let signed = Item::Json(View::number(number.numeric()));
            match self.next(steps, signed, found.as_deref_mut())? {
                Outcome::Error => return Ok(Outcome::Error),
                Outcome::Found => outcome = Outcome::Found,
                Outcome::Nothing => {}
            }
            if outcome == Outcome::Found && found.is_none() {
                break;
            }
        }
        Ok(outcome)
    }

    pub(super) fn method(
        &mut self,
        method: Method,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let name = method.name();
        let function = match method {
            Method::Type => {
                let name = View::string(item.type_name(self.context.arena));
                return self.next(rest, Item::Json(name), found);
            }
            Method::Size => {
                let length = match item.shape() {
                    Some(Shape::Array(array)) => array.len(),
                    _ if self.lax => 1,
                    _ => {
                        return self.misfit(
                            SqlState::SQL_JSON_ARRAY_NOT_FOUND,
                            format!(
                                "jsonpath item method .{name}() can only be applied to an array"
                            ),
                        );
                    }
                };
                return self.next(rest, self.integer(length as i64), found);
            }
            Method::Double => return self.double(rest, item, found),
            Method::KeyValue => return self.key_value(rest, item, found),
            Method::Abs => 1705,
            Method::Floor => 1712,
            Method::Ceiling => 1711,
        };
        let Some(number) = item.number() else {
            return self.error(
                SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                format!("jsonpath item method .{name}() can only be applied to a numeric value"),
            );
        };
        let result = item::call(self.context, function, &[Datum::Numeric(number)])?;
        self.next(rest, Item::Json(View::number(result.numeric())), found)
    }

    fn double(
        &mut self,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let read = |text: &str| float::read_f64(text).ok().filter(|value| value.is_finite());
        let number = match item.shape() {
            Some(Shape::Number(stored)) => {
                let mut text = Vec::new();
                numeric::text::write(stored, &mut text);
                if std::str::from_utf8(&text).ok().and_then(read).is_none() {
                    return self.error(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        "numeric argument of jsonpath item method .double() is out of range for type double precision",
                    );
                }
                stored
            }
            Some(Shape::String(text)) => {
                let Some(value) = read(text) else {
                    return self.error(
                        SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                        "string argument of jsonpath item method .double() is not a valid representation of a double precision number",
                    );
                };
                // float8 to numeric.
                item::call(self.context, 1743, &[Datum::Float8(value)])?.numeric()
            }
            _ => {
                return self.error(
                    SqlState::NON_NUMERIC_SQL_JSON_ITEM,
                    "jsonpath item method .double() can only be applied to a string or numeric value",
                );
            }
        };
        self.next(rest, Item::Json(View::number(number)), found)
    }

    /// Each member of an object as an object of its own, with the id of the one that it is from.
    fn key_value(
        &mut self,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let (Some(container), Some(Shape::Object(object))) = (item.container(), item.shape())
        else {
            return self.error(
                SqlState::SQL_JSON_OBJECT_NOT_FOUND,
                "jsonpath item method .keyvalue() can only be applied to an object",
            );
        };
        let arena = self.context.arena;
        let id = self.id(&container);
        let Item::Json(id) = self.integer(id) else {
            return Ok(Outcome::Nothing);
        };
        let mut outcome = Outcome::Nothing;
        for (key, value) in object.iter() {
            if found.is_none() && rest.is_empty() {
                return Ok(Outcome::Found);
            }
            let members = [("key", View::string(key)), ("value", value), ("id", id)];
            let members = members.map(|(key, view)| (key, Node::Stored(view)));
            let made = Node::object(ArenaVec::from_iter_in(members, arena)).store(arena)?;
            let Datum::Jsonb(bytes) = made else { continue };
            let made = View::of(bytes);
            let base = replace(&mut self.base, Base { outermost: Some(made), id: self.generated });
            self.generated += 1;
            let next = self.next(rest, Item::Json(made), found.as_deref_mut());
            self.base = base;
            outcome = next?;
            if outcome == Outcome::Error || outcome == Outcome::Found && found.is_none() {
                break;
            }
        }
        Ok(outcome)
    }

    /// What tells an object from all others: the value that it is part of, and where it is there.
    fn id(&mut self, container: &View<'a>) -> i64 {
        let Some(outermost) = self.base.outermost else { return 0 };
        let address = outermost.address();
        let known = &mut self.layouts[self.base.id.clamp(0, 2) as usize];
        if known.as_ref().is_none_or(|(of, _)| *of != address) {
            *known = Some((address, Layout::of(&outermost)));
        }
        let place = known.as_ref().and_then(|(_, layout)| layout.place(container));
        self.base.id * 10_000_000_000 + place.unwrap_or(0)
    }

    pub(super) fn datetime(
        &mut self,
        template: Option<&'a str>,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let Some(text) = item.string() else {
            return self.error(
                SqlState::INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                "jsonpath item method .datetime() can only be applied to a string",
            );
        };
        let instant = match template {
            Some(template) => match standard::Template::parse(template)?.read(text) {
                Ok(instant) => instant,
                Err(error) if self.throws => return Err(error),
                Err(_) => return Ok(Outcome::Error),
            },
            None => match standard::read_iso(text) {
                Some(instant) => instant,
                None if self.throws => {
                    return Err(SqlError::new(
                        SqlState::INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                        format!("datetime format is not recognized: \"{text}\""),
                    )
                    .hint("Use a datetime template argument to specify the input data format."));
                }
                None => return Ok(Outcome::Error),
            },
        };
        self.next(rest, Item::Datetime(instant), found)
    }
}
