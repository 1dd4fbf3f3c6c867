//! Functions that give the parts of JSON as rows: `json_each`, `json_array_elements`, `json_object_keys`.

use super::access::view;
use super::document::{self, Item, Kind};
use super::stored::{Object, Shape};
use super::{Item as JsonItem, View};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Set};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (
        3955,
        Set(|c, _, a, emit| elements(c, a, "json_array_elements", |i| Datum::Text(i.text), emit)),
    ),
    (
        3969,
        Set(|c, _, a, emit| elements(c, a, "json_array_elements_text", |i| text(i.plain()), emit)),
    ),
    (3958, Set(|c, _, a, emit| each(c, a, |i| Datum::Text(i.text), emit))),
    (3959, Set(|c, _, a, emit| each(c, a, |i| text(i.plain()), emit))),
    (3957, Set(json_keys)),
    (3219, Set(|c, _, a, emit| jsonb_elements(&a[0], |v| v.store(c.arena), emit))),
    (3465, Set(|c, _, a, emit| jsonb_elements(&a[0], |v| text(v.plain(c.arena)), emit))),
    (3208, Set(|c, _, a, emit| jsonb_each(&a[0], "jsonb_each", |v| v.store(c.arena), emit))),
    (
        3932,
        Set(|c, _, a, emit| jsonb_each(&a[0], "jsonb_each_text", |v| text(v.plain(c.arena)), emit)),
    ),
    (3931, Set(|_, _, a, emit| jsonb_keys(&a[0], emit))),
];

type Emit<'e, 'a> = &'e mut dyn FnMut(&[Datum<'a>]) -> Result<bool>;

fn text(plain: Option<&str>) -> Datum<'_> {
    plain.map_or(Datum::Null, Datum::Text)
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn elements<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    function: &str,
    shown: impl Fn(&JsonItem<'a>) -> Datum<'a>,
    emit: Emit<'_, 'a>,
) -> Result<()> {
    match document::parse(context.arena, a[0].text())?.kind {
        Kind::Array(elements) => {
            for element in elements {
                if !emit(&[shown(element)])? {
                    break;
                }
            }
            Ok(())
        }
        Kind::Object(_) => Err(invalid(format!("cannot call {function} on a non-array"))),
        _ => Err(invalid(format!("cannot call {function} on a scalar"))),
    }
}

fn each<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    shown: impl Fn(&Item<'a>) -> Datum<'a>,
    emit: Emit<'_, 'a>,
) -> Result<()> {
    match document::parse(context.arena, a[0].text())?.kind {
        Kind::Object(members) => {
            for (key, item) in members {
                if !emit(&[Datum::Text(key), shown(item)])? {
                    break;
                }
            }
            Ok(())
        }
        Kind::Array(_) => Err(invalid("cannot deconstruct an array as an object")),
        _ => Err(invalid("cannot deconstruct a scalar")),
    }
}

fn json_keys<'a>(
    context: &CallContext<'a>,
    _: &crate::Signature<'_>,
    a: &[Datum<'a>],
    emit: Emit<'_, 'a>,
) -> Result<()> {
    match document::parse(context.arena, a[0].text())?.kind {
        Kind::Object(members) => {
            for (key, _) in members {
                if !emit(&[Datum::Text(key)])? {
                    break;
                }
            }
            Ok(())
        }
        Kind::Array(_) => Err(invalid("cannot call json_object_keys on an array")),
        _ => Err(invalid("cannot call json_object_keys on a scalar")),
    }
}

fn jsonb_elements<'a>(
    whole: &Datum<'a>,
    shown: impl Fn(&View<'a>) -> Datum<'a>,
    emit: Emit<'_, 'a>,
) -> Result<()> {
    match view(whole).shape() {
        Shape::Array(array) => {
            for element in array.iter() {
                if !emit(&[shown(&element)])? {
                    break;
                }
            }
            Ok(())
        }
        Shape::Object(_) => Err(invalid("cannot extract elements from an object")),
        _ => Err(invalid("cannot extract elements from a scalar")),
    }
}

fn object<'a>(whole: &Datum<'a>) -> Option<Object<'a>> {
    match view(whole).shape() {
        Shape::Object(object) => Some(object),
        _ => None,
    }
}

fn jsonb_each<'a>(
    whole: &Datum<'a>,
    function: &str,
    shown: impl Fn(&View<'a>) -> Datum<'a>,
    emit: Emit<'_, 'a>,
) -> Result<()> {
    let Some(object) = object(whole) else {
        return Err(invalid(format!("cannot call {function} on a non-object")));
    };
    for (key, value) in object.iter() {
        if !emit(&[Datum::Text(key), shown(&value)])? {
            break;
        }
    }
    Ok(())
}

fn jsonb_keys<'a>(whole: &Datum<'a>, emit: Emit<'_, 'a>) -> Result<()> {
    let Some(object) = object(whole) else {
        let what = if view(whole).is_scalar() { "a scalar" } else { "an array" };
        return Err(invalid(format!("cannot call jsonb_object_keys on {what}")));
    };
    for (key, _) in object.iter() {
        if !emit(&[Datum::Text(key)])? {
            break;
        }
    }
    Ok(())
}
