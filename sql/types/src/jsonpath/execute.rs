//! A path over a value.
//!
//! PostgreSQL: `jsonpath_exec.c`. Each accessor hands every item that it finds to the accessor behind it, so that nothing is
//! collected on the way, and who only asks whether there is an item stops at the first. An error that the caller does not
//! want to hear of, or that makes a predicate unknown, is an outcome; what no `silent` hides (an unknown variable, a zone
//! that is not to be used, too deep a nesting) is an error.
//!
//! In lax mode an accessor that needs another structure gets it: an array is unwrapped for a member accessor, anything else
//! counts as an array of one, and a member that is not there is nothing. In strict mode these are errors, and a predicate
//! looks at all items, since any of them may be an error.

use super::item::Item;
use super::layout::Layout;
use super::tree::{Expression, Head, Level, Method, Path, Step};
use crate::CallContext;
use crate::depth::{NESTING_MAX, deeper, too_deep};
use crate::error::{Result, SqlError};
use crate::json::View;
use crate::json::stored::{Array, Shape};
use crate::numeric::{self, functions::from_integer};
use crate::settings::check_held;
use crate::sqlstate::SqlState;
use std::mem::replace;

/// What became of a part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is an item, or more.
    Found,
    /// There is none.
    Nothing,
    /// An error that is not thrown.
    Error,
}

/// Where items go, if anyone wants them.
pub(super) type Found<'f, 'a> = Option<&'f mut Vec<Item<'a>>>;

/// How a path is run.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    /// Errors that can be hidden are.
    pub silent: bool,
    /// The session's time zone may be used.
    pub zoned: bool,
}

/// Runs a path over a value.
///
/// # Errors
/// 22023, 42704, 0A000 (a zone that is not to be used), 53200, 54001, 57014; unless silent 22012, 22003, 22007, 22008,
/// 22009, 22031, 22033, 22036, 22038 to 2203C, 0A000 (a field of a template that is only for output).
pub(super) fn execute<'a>(
    context: &CallContext<'a>,
    path: &Path<'a>,
    target: View<'a>,
    variables: Option<View<'a>>,
    mode: Mode,
    found: Found<'_, 'a>,
) -> Result<Outcome> {
    if let Some(variables) = variables
        && !matches!(variables.shape(), Shape::Object(_))
    {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            "\"vars\" argument is not an object",
        )
        .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
    }
    let root = Item::Json(target);
    let mut run = Run {
        context,
        variables,
        lax: path.lax,
        lenient: path.lax,
        root,
        current: root,
        base: Base { outermost: None, id: 0 },
        generated: 1 + i64::from(variables.is_some()),
        layouts: [None, None, None],
        length: None,
        throws: !mode.silent,
        zoned: mode.zoned,
        depth: 0,
        bytes_before: context.arena.allocated_bytes(),
    };
    if path.lax || found.is_some() {
        return run.evaluate(path.root, found);
    }
    // In strict mode an error may come behind the first item.
    let mut all = Vec::new();
    let outcome = run.evaluate(path.root, Some(&mut all))?;
    Ok(match outcome {
        Outcome::Error => Outcome::Error,
        _ if all.is_empty() => Outcome::Nothing,
        _ => Outcome::Found,
    })
}

/// The value that an object is part of, for its id.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub outermost: Option<View<'a>>,
    pub id: i64,
}

/// A path on its way.
pub(super) struct Run<'c, 'a> {
    pub context: &'c CallContext<'a>,
    variables: Option<View<'a>>,
    /// Structures that do not fit are made to.
    pub lax: bool,
    /// Structures that do not fit are no errors.
    lenient: bool,
    root: Item<'a>,
    current: Item<'a>,
    pub base: Base<'a>,
    /// The id of the next object that `.keyvalue()` makes.
    pub generated: i64,
    /// Of the target, of the variables, and of the object that `.keyvalue()` made last, by where they stand in memory.
    pub layouts: [Option<(usize, Layout)>; 3],
    /// Of the innermost array that is subscripted, for `last`.
    length: Option<usize>,
    pub throws: bool,
    pub zoned: bool,
    depth: u32,
    /// What the arena held when the run began.
    bytes_before: usize,
}

/// How much deeper than a path or a value may be nested the two together may be.
const DEPTH_TOGETHER_MAX: u32 = 2 * NESTING_MAX;

impl<'a> Run<'_, 'a> {
    /// Goes one level further in, unless that is too deep, or the run is to end or has made too much.
    pub(super) fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.depth >= DEPTH_TOGETHER_MAX {
            return Err(too_deep());
        }
        self.context.catalog.check_cancel()?;
        let made = self.context.arena.allocated_bytes() - self.bytes_before;
        check_held(made)?;
        self.depth += 1;
        let result = deeper(|| inner(self));
        self.depth -= 1;
        result
    }

    /// An error that can be hidden.
    pub(super) fn error(&self, state: SqlState, message: impl Into<String>) -> Result<Outcome> {
        if self.throws { Err(SqlError::new(state, message)) } else { Ok(Outcome::Error) }
    }

    /// The same, unless structures may be as they like.
    pub(super) fn misfit(&self, state: SqlState, message: impl Into<String>) -> Result<Outcome> {
        if self.lenient { Ok(Outcome::Nothing) } else { self.error(state, message) }
    }

    /// Keeps an item, if there is memory for it.
    pub(super) fn hold(&self, item: Item<'a>, found: &mut Vec<Item<'a>>) -> Result<()> {
        check_held((found.len() + 1) * size_of::<Item<'_>>())?;
        found.push(item);
        Ok(())
    }

    /// An integer as an item.
    pub(super) fn integer(&self, value: i64) -> Item<'a> {
        let stored = from_integer(self.context.arena, i128::from(value)).numeric();
        Item::Json(View::number(stored))
    }

    /// Evaluates an expression.
    pub(super) fn evaluate(
        &mut self,
        expression: &Expression<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        self.nested(|run| run.head(expression, found))
    }

    /// The same, with arrays among the items unwrapped in lax mode.
    pub(super) fn evaluate_unwrapped(
        &mut self,
        expression: &Expression<'a>,
        found: &mut Vec<Item<'a>>,
    ) -> Result<Outcome> {
        if !self.lax {
            return self.evaluate(expression, Some(found));
        }
        let mut items = Vec::new();
        if self.evaluate(expression, Some(&mut items))? == Outcome::Error {
            return Ok(Outcome::Error);
        }
        for item in items {
            match item.shape() {
                Some(Shape::Array(array)) => {
                    for element in array.iter() {
                        self.hold(Item::Json(element), found)?;
                    }
                }
                _ => self.hold(item, found)?,
            }
        }
        Ok(Outcome::Found)
    }

    /// Evaluates with errors hidden.
    pub(super) fn quietly<R>(&mut self, inner: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let throws = replace(&mut self.throws, false);
        let result = inner(self);
        self.throws = throws;
        result
    }

    fn head(&mut self, expression: &Expression<'a>, found: Found<'_, 'a>) -> Result<Outcome> {
        let steps = expression.steps;
        let asked = found.is_some() || !steps.is_empty();
        let value = match expression.head {
            Head::Root => {
                let outermost = self.root.container();
                let base = replace(&mut self.base, Base { outermost, id: 0 });
                let outcome = self.next(steps, self.root, found);
                self.base = base;
                return outcome;
            }
            Head::Current => return self.next(steps, self.current, found),
            Head::Variable(name) => {
                let base = self.base;
                let value = self.variable(name)?;
                let outcome = self.next(steps, Item::Json(value), found);
                self.base = base;
                return outcome;
            }
            Head::Arithmetic(operator, left, right) => {
                return self.arithmetic(operator, left, right, steps, found);
            }
            Head::Sign(sign, argument) => return self.sign(sign, argument, steps, found),
            _ if !asked => {
                // That there is an item is known; only predicates can go wrong.
                self.truth(expression)?;
                return Ok(Outcome::Found);
            }
            Head::Null => View::NULL,
            Head::Bool(value) => View::bool(value),
            Head::Number(stored) => View::number(stored),
            Head::String(text) => View::string(text),
            Head::Last => {
                let Some(length) = self.length else {
                    return Err(SqlError::new(
                        SqlState::INTERNAL_ERROR,
                        "evaluating jsonpath LAST outside of array subscript",
                    ));
                };
                let last = self.integer(length as i64 - 1);
                return self.next(steps, last, found);
            }
            Head::Compare(..)
            | Head::And(..)
            | Head::Or(..)
            | Head::Not(_)
            | Head::IsUnknown(_)
            | Head::Exists(_)
            | Head::StartsWith(..)
            | Head::LikeRegex(..) => self.truth(expression)?.map_or(View::NULL, View::bool),
        };
        self.next(steps, Item::Json(value), found)
    }

    fn variable(&mut self, name: &str) -> Result<View<'a>> {
        let object = self.variables.and_then(|variables| match variables.shape() {
            Shape::Object(object) => Some(object),
            _ => None,
        });
        let value = object.and_then(|object| object.get(name)).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("could not find jsonpath variable \"{name}\""),
            )
        })?;
        self.base = Base { outermost: self.variables, id: 1 };
        Ok(value)
    }

    /// Hands an item to the accessors that are left.
    pub(super) fn next(
        &mut self,
        steps: &'a [Step<'a>],
        item: Item<'a>,
        found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        if !steps.is_empty() {
            let unwrap = self.lax;
            return self.nested(|run| run.step(steps, item, found, unwrap));
        }
        if let Some(found) = found {
            self.hold(item, found)?;
        }
        Ok(Outcome::Found)
    }

    /// Applies the first of some accessors to an item; to the elements of an array that is to be unwrapped.
    fn step(
        &mut self,
        steps: &'a [Step<'a>],
        item: Item<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        let (step, rest) = steps.split_first().expect("whoever calls has an accessor left");
        let array = item.array();
        let unwraps = match step {
            Step::Key(_) | Step::AnyKey | Step::Datetime(_) | Step::Filter(_) => true,
            Step::Method(method) => !matches!(method, Method::Type | Method::Size),
            Step::AnyElement | Step::Elements(_) | Step::Any { .. } => false,
        };
        if unwraps
            && unwrap
            && let Some(array) = array
        {
            return self.children(steps, array, found, false);
        }
        match step {
            Step::Key(key) => match item.shape() {
                Some(Shape::Object(object)) => match object.get(key) {
                    Some(value) => self.next(rest, Item::Json(value), found),
                    None => self.misfit(
                        SqlState::SQL_JSON_MEMBER_NOT_FOUND,
                        format!("JSON object does not contain key \"{key}\""),
                    ),
                },
                _ => self.misfit(
                    SqlState::SQL_JSON_MEMBER_NOT_FOUND,
                    "jsonpath member accessor can only be applied to an object",
                ),
            },
            Step::AnyKey => match (item.container(), array) {
                (Some(object), None) => self.children(rest, object, found, self.lax),
                _ => self.misfit(
                    SqlState::SQL_JSON_OBJECT_NOT_FOUND,
                    "jsonpath wildcard member accessor can only be applied to an object",
                ),
            },
            Step::AnyElement => match array {
                Some(array) => self.children(rest, array, found, self.lax),
                None if self.lax => self.next(rest, item, found),
                None => self.misfit(
                    SqlState::SQL_JSON_ARRAY_NOT_FOUND,
                    "jsonpath wildcard array accessor can only be applied to an array",
                ),
            },
            Step::Elements(subscripts) => {
                let array = match item.shape() {
                    Some(Shape::Array(array)) => Some(array),
                    _ if self.lax => None,
                    _ => {
                        return self.misfit(
                            SqlState::SQL_JSON_ARRAY_NOT_FOUND,
                            "jsonpath array accessor can only be applied to an array",
                        );
                    }
                };
                let length = array.map_or(1, |array| array.len());
                let outer = self.length.replace(length);
                let outcome = self.elements(subscripts, array, length, rest, item, found);
                self.length = outer;
                outcome
            }
            Step::Any { first, last } => self.any(*first, *last, rest, item, found),
            Step::Filter(predicate) => {
                let outer = replace(&mut self.current, item);
                let truth = self.truth(predicate);
                self.current = outer;
                match truth? {
                    Some(true) => self.next(rest, item, found),
                    _ => Ok(Outcome::Nothing),
                }
            }
            Step::Datetime(template) => self.datetime(*template, rest, item, found),
            Step::Method(method) => self.method(*method, rest, item, found),
        }
    }

    /// Hands each part of a container on.
    fn children(
        &mut self,
        steps: &'a [Step<'a>],
        container: View<'a>,
        found: Found<'_, 'a>,
        unwrap: bool,
    ) -> Result<Outcome> {
        let levels = Levels { first: Level(1), last: Level(1), lenient: false, unwrap };
        self.descend(steps, container, found, 1, &levels)
    }

    /// `.**`: an item and what is below it, between two levels.
    fn any(
        &mut self,
        first: Level,
        last: Level,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::Nothing;
        if first == Level(0) {
            let lenient = replace(&mut self.lenient, true);
            let own = self.next(rest, item, found.as_deref_mut());
            self.lenient = lenient;
            outcome = own?;
            if outcome == Outcome::Found && found.is_none() {
                return Ok(outcome);
            }
        }
        // What became of the item itself is forgotten where there is something below, an error too.
        match item.container() {
            Some(container) => {
                let levels = Levels { first, last, lenient: true, unwrap: self.lax };
                self.descend(rest, container, found, 1, &levels)
            }
            None => Ok(outcome),
        }
    }

    /// The parts of a container, which are at `level`, and of those within.
    fn descend(
        &mut self,
        steps: &'a [Step<'a>],
        container: View<'a>,
        mut found: Found<'_, 'a>,
        level: u32,
        levels: &Levels,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::Nothing;
        if level > levels.last.0 {
            return Ok(outcome);
        }
        let leaves = levels.first == Level::LAST && levels.last == Level::LAST;
        let mut part = |run: &mut Self, view: View<'a>| -> Result<bool> {
            let item = Item::Json(view);
            if level >= levels.first.0 || leaves && view.is_scalar() {
                if steps.is_empty() {
                    // Not told on, as in PostgreSQL: whoever collects looks at what was collected.
                    match found.as_deref_mut() {
                        Some(found) => run.hold(item, found)?,
                        None => {
                            outcome = Outcome::Found;
                            return Ok(false);
                        }
                    }
                } else {
                    let lenient = run.lenient;
                    run.lenient |= levels.lenient;
                    let found = found.as_deref_mut();
                    let next = run.nested(|run| run.step(steps, item, found, levels.unwrap));
                    run.lenient = lenient;
                    outcome = next?;
                }
                if outcome == Outcome::Error || outcome == Outcome::Found && found.is_none() {
                    return Ok(false);
                }
            }
            if level < levels.last.0 && !view.is_scalar() {
                let found = found.as_deref_mut();
                outcome = run.nested(|run| run.descend(steps, view, found, level + 1, levels))?;
            }
            Ok(outcome != Outcome::Error && (outcome != Outcome::Found || found.is_some()))
        };
        match container.shape() {
            Shape::Array(array) => {
                for element in array.iter() {
                    if !part(self, element)? {
                        break;
                    }
                }
            }
            Shape::Object(object) => {
                for (_, value) in object.iter() {
                    if !part(self, value)? {
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(outcome)
    }

    /// `[from to to, ...]` of an array with its length, or of an item as an array of one.
    fn elements(
        &mut self,
        subscripts: &'a [(Expression<'a>, Option<Expression<'a>>)],
        array: Option<Array<'a>>,
        length: usize,
        rest: &'a [Step<'a>],
        item: Item<'a>,
        mut found: Found<'_, 'a>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::Nothing;
        for (from, to) in subscripts {
            let Some(from) = self.subscript(from)? else { return Ok(Outcome::Error) };
            let to = match to {
                Some(to) => match self.subscript(to)? {
                    Some(to) => to,
                    None => return Ok(Outcome::Error),
                },
                None => from,
            };
            let outside = from < 0 || from > to || i64::from(to) >= length as i64;
            if outside && !self.lenient {
                return self.error(
                    SqlState::INVALID_SQL_JSON_SUBSCRIPT,
                    "jsonpath array subscript is out of bounds",
                );
            }
            outcome = Outcome::Nothing;
            let end = (i64::from(to) + 1).clamp(0, length as i64) as usize;
            for index in from.max(0) as usize..end {
                let element = match array {
                    Some(array) => array.get(index).map(Item::Json),
                    None => Some(item),
                };
                let Some(element) = element else { continue };
                outcome = self.next(rest, element, found.as_deref_mut())?;
                if outcome == Outcome::Error || outcome == Outcome::Found && found.is_none() {
                    return Ok(outcome);
                }
            }
        }
        Ok(outcome)
    }

    /// A subscript's value; none for an error.
    fn subscript(&mut self, expression: &Expression<'a>) -> Result<Option<i32>> {
        let mut items = Vec::new();
        if self.evaluate(expression, Some(&mut items))? == Outcome::Error {
            return Ok(None);
        }
        let number = match &items[..] {
            [item] => item.number(),
            _ => None,
        };
        let Some(number) = number else {
            self.error(
                SqlState::INVALID_SQL_JSON_SUBSCRIPT,
                "jsonpath array subscript is not a single numeric value",
            )?;
            return Ok(None);
        };
        let whole = numeric::View::of(number)
            .finite()
            .and_then(|number| number.to_decimal().truncated(0).to_i128())
            .and_then(|number| i32::try_from(number).ok());
        if whole.is_none() {
            self.error(
                SqlState::INVALID_SQL_JSON_SUBSCRIPT,
                "jsonpath array subscript is out of integer range",
            )?;
        }
        Ok(whole)
    }
}

/// Between which levels `.**` looks, and how it hands on.
struct Levels {
    first: Level,
    last: Level,
    lenient: bool,
    unwrap: bool,
}
