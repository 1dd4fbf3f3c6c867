//! Functions that look into JSON: `->`, `#>`, `?`, `@>`, `json_typeof`, casts of jsonb to numbers and booleans.

use super::document::{self, Item};
use super::stored::Shape;
use super::{View, compare, path};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, arena_text, numeric};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3947, Plain(|c, a| Ok(json(item(c, a)?.member(a[1].text()))))),
    (3948, Plain(|c, a| Ok(text(item(c, a)?.member(a[1].text()))))),
    (3949, Plain(|c, a| Ok(json(item(c, a)?.element(a[1].int4()))))),
    (3950, Plain(|c, a| Ok(text(item(c, a)?.element(a[1].int4()))))),
    (3951, Plain(|c, a| Ok(json(item_at(c, a)?)))),
    (3953, Plain(|c, a| Ok(text(item_at(c, a)?)))),
    (3478, Plain(|c, a| Ok(jsonb(c, member(a))))),
    (3214, Plain(|c, a| Ok(plain(c, member(a))))),
    (3215, Plain(|c, a| Ok(jsonb(c, element(a))))),
    (3216, Plain(|c, a| Ok(plain(c, element(a))))),
    (3217, Plain(|c, a| Ok(jsonb(c, value_at(c, a)?)))),
    (3940, Plain(|c, a| Ok(plain(c, value_at(c, a)?)))),
    (3956, Plain(|c, a| json_length(&item(c, a)?))),
    (3207, Plain(|_, a| jsonb_length(&view(&a[0])))),
    (3968, Plain(|c, a| Ok(Datum::Text(item_kind(&item(c, a)?))))),
    (3210, Plain(|_, a| Ok(Datum::Text(kind(&view(&a[0])))))),
    (4046, Plain(|_, a| Ok(Datum::Bool(compare::contains_outermost(&view(&a[0]), &view(&a[1])))))),
    (4050, Plain(|_, a| Ok(Datum::Bool(compare::contains_outermost(&view(&a[1]), &view(&a[0])))))),
    (4047, Plain(|_, a| Ok(Datum::Bool(exists(&view(&a[0]), a[1].text()))))),
    (4048, Plain(|c, a| exists_some(c, a, false))),
    (4049, Plain(|c, a| exists_some(c, a, true))),
    (3306, Plain(pretty)),
    (3556, Plain(|_, a| to_bool(&a[0]))),
    (3449, Plain(|_, a| Ok(Datum::Numeric(number(&a[0], "numeric")?)))),
    (3450, Plain(|c, a| convert(c, &a[0], "smallint", 1783))),
    (3451, Plain(|c, a| convert(c, &a[0], "integer", 1744))),
    (3480, Plain(|_, a| Ok(Datum::Int4(a[0].text().cmp(a[1].text()) as i32)))),
    (3452, Plain(|c, a| convert(c, &a[0], "bigint", 1779))),
    (3453, Plain(|c, a| convert(c, &a[0], "real", 1745))),
    (2580, Plain(|c, a| convert(c, &a[0], "double precision", 1746))),
];

/// A jsonb argument.
pub(super) fn view<'a>(datum: &Datum<'a>) -> View<'a> {
    match datum {
        Datum::Jsonb(bytes) => View::of(bytes),
        _ => View::NULL,
    }
}

fn item<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Item<'a>> {
    document::parse(context.arena, a[0].text())
}

fn json<'a>(item: Option<Item<'a>>) -> Datum<'a> {
    item.map_or(Datum::Null, |item| Datum::Text(item.text))
}

fn text<'a>(item: Option<Item<'a>>) -> Datum<'a> {
    item.and_then(|item| item.plain()).map_or(Datum::Null, Datum::Text)
}

fn jsonb<'a>(context: &CallContext<'a>, view: Option<View<'a>>) -> Datum<'a> {
    view.map_or(Datum::Null, |view| view.store(context.arena))
}

fn plain<'a>(context: &CallContext<'a>, view: Option<View<'a>>) -> Datum<'a> {
    view.and_then(|view| view.plain(context.arena)).map_or(Datum::Null, Datum::Text)
}

fn item_at<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Option<Item<'a>>> {
    let mut item = item(context, a)?;
    for part in path::elements(context.arena, &a[1])? {
        let Some(part) = part else { return Ok(None) };
        let found = match item.kind {
            document::Kind::Array(_) => path::integer(part).and_then(|index| item.element(index)),
            _ => item.member(part),
        };
        let Some(found) = found else { return Ok(None) };
        item = found;
    }
    Ok(Some(item))
}

fn member<'a>(a: &[Datum<'a>]) -> Option<View<'a>> {
    match view(&a[0]).shape() {
        Shape::Object(object) => object.get(a[1].text()),
        _ => None,
    }
}

/// A scalar that stands alone is element 0 of itself, as in PostgreSQL.
fn element<'a>(a: &[Datum<'a>]) -> Option<View<'a>> {
    let (whole, index) = (view(&a[0]), a[1].int4());
    match whole.shape() {
        Shape::Object(_) => None,
        Shape::Array(array) => path::place(index, array.len()).and_then(|at| array.get(at)),
        _ => path::place(index, 1).map(|_| whole),
    }
}

fn value_at<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Option<View<'a>>> {
    let elements = path::elements(context.arena, &a[1])?;
    let elements: Option<Vec<&str>> = elements.into_iter().collect();
    let Some(elements) = elements else { return Ok(None) };
    Ok(descend(view(&a[0]), &elements))
}

/// The value at a path.
pub(super) fn descend<'a>(whole: View<'a>, elements: &[&str]) -> Option<View<'a>> {
    elements.iter().try_fold(whole, |value, part| match value.shape() {
        Shape::Object(object) => object.get(part),
        Shape::Array(array) => {
            let index = path::integer(part)?;
            array.get(path::place(index, array.len())?)
        }
        _ => None,
    })
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn json_length(item: &Item<'_>) -> Result<Datum<'static>> {
    match item.kind {
        document::Kind::Array(elements) => Ok(Datum::Int4(elements.len() as i32)),
        document::Kind::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn jsonb_length(view: &View<'_>) -> Result<Datum<'static>> {
    match view.shape() {
        Shape::Array(array) => Ok(Datum::Int4(array.len() as i32)),
        Shape::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn item_kind(item: &Item<'_>) -> &'static str {
    match item.kind {
        document::Kind::Null => "null",
        document::Kind::Bool(_) => "boolean",
        document::Kind::Number => "number",
        document::Kind::String(_) => "string",
        document::Kind::Array(_) => "array",
        document::Kind::Object(_) => "object",
    }
}

fn kind(view: &View<'_>) -> &'static str {
    match view.shape() {
        Shape::Null => "null",
        Shape::Bool(_) => "boolean",
        Shape::Number(_) => "number",
        Shape::String(_) => "string",
        Shape::Array(_) => "array",
        Shape::Object(_) => "object",
    }
}

/// Whether a text is a key of the object, an element of the array, or the string itself.
fn exists(view: &View<'_>, wanted: &str) -> bool {
    let is_wanted = |view: &View<'_>| matches!(view.shape(), Shape::String(text) if text == wanted);
    match view.shape() {
        Shape::Object(object) => object.get(wanted).is_some(),
        Shape::Array(array) => array.iter().any(|element| is_wanted(&element)),
        _ => is_wanted(view),
    }
}

fn exists_some<'a>(context: &CallContext<'a>, a: &[Datum<'a>], all: bool) -> Result<Datum<'a>> {
    let whole = view(&a[0]);
    let wanted = path::elements(context.arena, &a[1])?;
    let mut found = wanted.into_iter().flatten().map(|wanted| exists(&whole, wanted));
    Ok(Datum::Bool(if all { found.all(|found| found) } else { found.any(|found| found) }))
}

fn pretty<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut out = Vec::new();
    view(&a[0]).write_pretty(0, &mut out);
    Ok(Datum::Text(arena_text(context, &out)))
}

#[cold]
fn no_cast(view: &View<'_>, target: &str) -> SqlError {
    let from = match view.shape() {
        Shape::Number(_) => "numeric",
        _ => kind(view),
    };
    invalid(format!("cannot cast jsonb {from} to type {target}"))
}

fn to_bool(datum: &Datum<'_>) -> Result<Datum<'static>> {
    let view = view(datum);
    match view.shape() {
        Shape::Bool(value) => Ok(Datum::Bool(value)),
        _ => Err(no_cast(&view, "boolean")),
    }
}

fn number<'a>(datum: &Datum<'a>, target: &str) -> Result<&'a [u8]> {
    let view = view(datum);
    match view.shape() {
        Shape::Number(stored) => Ok(stored),
        _ => Err(no_cast(&view, target)),
    }
}

/// A number by the cast of numeric to another type, which is function `cast`.
fn convert<'a>(
    context: &CallContext<'a>,
    datum: &Datum<'a>,
    target: &str,
    cast: u32,
) -> Result<Datum<'a>> {
    let stored = number(datum, target)?;
    debug_assert!(numeric::View::of(stored).finite().is_some(), "JSON has finite numbers only");
    match crate::function(cast) {
        Some(Plain(code)) => code(context, &[Datum::Numeric(stored)]),
        _ => Err(SqlError::unsupported(format!("the cast of jsonb to {target} is"))),
    }
}
