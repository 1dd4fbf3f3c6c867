//! What a path gives: parts of jsonb values, and moments that `.datetime()` has read.

use super::tree::Comparison;
use crate::datetime::standard::Instant;
use crate::error::{Result, SqlError};
use crate::format_type;
use crate::function::Callable;
use crate::json::View;
use crate::json::stored::Shape;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, numeric, oids};
use bumpalo::Bump;
use std::cmp::Ordering;

/// An item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    Json(View<'a>),
    Datetime(Instant),
}

impl<'a> Item<'a> {
    /// What it is, if it is part of a jsonb.
    pub fn shape(&self) -> Option<Shape<'a>> {
        match self {
            Item::Json(view) => Some(view.shape()),
            Item::Datetime(_) => None,
        }
    }

    /// A stored numeric.
    pub fn number(&self) -> Option<&'a [u8]> {
        match self.shape() {
            Some(Shape::Number(stored)) => Some(stored),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn string(&self) -> Option<&'a str> {
        match self.shape() {
            Some(Shape::String(text)) => Some(text),
            _ => None,
        }
    }

    /// An array or an object.
    pub fn container(&self) -> Option<View<'a>> {
        match self {
            Item::Json(view) if !view.is_scalar() => Some(*view),
            _ => None,
        }
    }

    /// The item, if it is an array.
    pub fn array(&self) -> Option<View<'a>> {
        self.container().filter(|view| matches!(view.shape(), Shape::Array(_)))
    }

    /// What `.type()` says.
    pub fn type_name(&self, arena: &'a Bump) -> &'a str {
        match self {
            Item::Datetime(instant) => arena.alloc_str(&format_type(instant.type_oid(), None)),
            Item::Json(view) => match view.shape() {
                Shape::Null => "null",
                Shape::String(_) => "string",
                Shape::Number(_) => "number",
                Shape::Bool(_) => "boolean",
                Shape::Array(_) => "array",
                Shape::Object(_) => "object",
            },
        }
    }

    /// The item as part of a jsonb: a moment is a string then.
    pub fn json(&self, context: &CallContext<'a>) -> View<'a> {
        match self {
            Item::Json(view) => *view,
            Item::Datetime(instant) => {
                let mut out = Vec::new();
                instant.write(&mut out);
                View::string(crate::arena_text(context, &out))
            }
        }
    }
}

/// Whether two items compare so; none if they have no order. An item that is null is unequal to all others.
///
/// # Errors
/// 0A000: a zone that is not to be used.
pub(super) fn compare(
    context: &CallContext<'_>,
    zoned: bool,
    comparison: Comparison,
    a: &Item<'_>,
    b: &Item<'_>,
) -> Result<Option<bool>> {
    let order = match (a, b) {
        (Item::Datetime(a), Item::Datetime(b)) => compare_instants(context, zoned, a, b)?,
        _ => match (a.shape(), b.shape()) {
            (Some(Shape::Null), Some(Shape::Null)) => Some(Ordering::Equal),
            (Some(Shape::Null), _) | (_, Some(Shape::Null)) => {
                return Ok(Some(comparison == Comparison::NotEqual));
            }
            (Some(Shape::Bool(a)), Some(Shape::Bool(b))) => Some(a.cmp(&b)),
            (Some(Shape::String(a)), Some(Shape::String(b))) => Some(a.cmp(b)),
            (Some(Shape::Number(a)), Some(Shape::Number(b))) => {
                Some(numeric::View::of(a).compare(&numeric::View::of(b)))
            }
            _ => None,
        },
    };
    Ok(order.map(|order| holds(comparison, order)))
}

fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// The comparison functions of `pg_proc` for moments of two types.
const COMPARISONS: &[(u32, u32, u32)] = &[
    (oids::DATE, oids::DATE, 1092),
    (oids::TIME, oids::TIME, 1107),
    (oids::TIMETZ, oids::TIMETZ, 1358),
    (oids::TIMESTAMP, oids::TIMESTAMP, 2045),
    (oids::TIMESTAMPTZ, oids::TIMESTAMPTZ, 1314),
    (oids::DATE, oids::TIMESTAMP, 2344),
    (oids::DATE, oids::TIMESTAMPTZ, 2357),
    (oids::TIMESTAMP, oids::TIMESTAMPTZ, 2526),
    (oids::TIME, oids::TIMETZ, 1358),
];

/// The order of two moments; none for a date and a time of day.
fn compare_instants(
    context: &CallContext<'_>,
    zoned: bool,
    a: &Instant,
    b: &Instant,
) -> Result<Option<Ordering>> {
    let (x, y) = (a.type_oid(), b.type_oid());
    let of = |x: u32, y: u32| COMPARISONS.iter().find(|(a, b, _)| (*a, *b) == (x, y));
    let (first, second, function) = match (of(x, y), of(y, x)) {
        (Some((_, _, function)), _) => (a, b, *function),
        (None, Some((_, _, function))) => (b, a, *function),
        (None, None) => return Ok(None),
    };
    let has_zone = |ty: u32| matches!(ty, oids::TIMETZ | oids::TIMESTAMPTZ);
    if has_zone(x) != has_zone(y) && !zoned {
        let name = |ty: u32| crate::builtin::type_by_oid(ty).map_or("", |ty| ty.name);
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!(
                "cannot convert value from {} to {} without time zone usage",
                name(first.type_oid()),
                name(second.type_oid())
            ),
        )
        .hint("Use *_tz() function for time zone support."));
    }
    let mut left = first.datum;
    if first.type_oid() == oids::TIME && second.type_oid() == oids::TIMETZ {
        // time to timetz.
        left = call(context, 2047, &[left])?;
    }
    let order = call(context, function, &[left, second.datum])?.int4().cmp(&0);
    Ok(Some(if std::ptr::eq(first, a) { order } else { order.reverse() }))
}

/// Calls a function of `pg_proc`.
///
/// # Errors
/// Those of the function.
pub(super) fn call<'a>(
    context: &CallContext<'a>,
    function: u32,
    arguments: &[Datum<'a>],
) -> Result<Datum<'a>> {
    match crate::function(function) {
        Some(Callable::Plain(code)) => code(context, arguments),
        _ => Err(SqlError::unsupported(format!("function {function} in a jsonpath is"))),
    }
}
