//! Functions that make JSON of other values: `to_json`, `json_build_object`, `json_object` and their kin.

use super::output::{Layout, write, write_key};
use super::{escape, jsonb_of_text};
use crate::array::Array;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain, Typed};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Signature, SqlType, arena_text, stored};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3153, Typed(|c, s, a| one(c, s, a, Kind::Json))),
    (3154, Typed(|c, s, a| one(c, s, a, Kind::Json))),
    (3155, Typed(|c, s, a| one(c, s, a, Kind::Json))),
    (3156, Typed(|c, s, a| one(c, s, a, Kind::Json))),
    (3176, Typed(|c, s, a| one(c, s, a, Kind::Json))),
    (3787, Typed(|c, s, a| one(c, s, a, Kind::Jsonb))),
    (3198, Typed(|c, s, a| array(c, s, a, Kind::Json))),
    (3199, Typed(|c, s, a| array(c, s, a, Kind::Json))),
    (3271, Typed(|c, s, a| array(c, s, a, Kind::Jsonb))),
    (3272, Typed(|c, s, a| array(c, s, a, Kind::Jsonb))),
    (3200, Typed(|c, s, a| object(c, s, a, Kind::Json))),
    (3201, Typed(|c, s, a| object(c, s, a, Kind::Json))),
    (3273, Typed(|c, s, a| object(c, s, a, Kind::Jsonb))),
    (3274, Typed(|c, s, a| object(c, s, a, Kind::Jsonb))),
    (3202, Plain(|c, a| object_of_pairs(c, a, Kind::Json))),
    (3263, Plain(|c, a| object_of_pairs(c, a, Kind::Jsonb))),
    (3203, Plain(|c, a| object_of_two(c, a, Kind::Json))),
    (3264, Plain(|c, a| object_of_two(c, a, Kind::Jsonb))),
];

/// Which of the two types the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Jsonb,
}

impl Kind {
    /// The result, of its JSON text.
    ///
    /// # Errors
    /// Those of reading a jsonb.
    pub(crate) fn finish<'a>(self, context: &CallContext<'a>, text: &[u8]) -> Result<Datum<'a>> {
        match self {
            Kind::Json => Ok(Datum::Text(arena_text(context, text))),
            Kind::Jsonb => {
                jsonb_of_text(context, std::str::from_utf8(text).expect("JSON is made of texts"))
            }
        }
    }
}

/// One value; a second argument asks for line feeds.
fn one<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
    kind: Kind,
) -> Result<Datum<'a>> {
    let lines = matches!(a.get(1), Some(Datum::Bool(true)));
    let layout = if lines { Layout::Lines } else { Layout::Line };
    let mut out = Vec::new();
    write(context, signature.arguments[0], &a[0], layout, &mut out)?;
    kind.finish(context, &out)
}

/// The arguments with their types: those given one by one, or the elements of a VARIADIC array; none for a NULL array.
fn spread<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Option<Vec<(SqlType, Datum<'a>)>>> {
    if signature.variadic_spread || a.is_empty() {
        return Ok(Some(signature.arguments.iter().copied().zip(a.iter().copied()).collect()));
    }
    let Datum::Array(bytes) = a[0] else { return Ok(None) };
    let array = Array::of(bytes);
    let ty = SqlType::plain(array.element);
    array.datums(context.arena).map(|datum| Ok((ty, datum?))).collect::<Result<_>>().map(Some)
}

fn array<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
    kind: Kind,
) -> Result<Datum<'a>> {
    let Some(values) = spread(context, signature, a)? else { return Ok(Datum::Null) };
    let mut out = vec![b'['];
    for (i, (ty, value)) in values.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        write(context, *ty, value, Layout::Line, &mut out)?;
    }
    out.push(b']');
    kind.finish(context, &out)
}

fn object<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
    kind: Kind,
) -> Result<Datum<'a>> {
    let Some(values) = spread(context, signature, a)? else { return Ok(Datum::Null) };
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    if !values.len().is_multiple_of(2) {
        let name = if kind == Kind::Json { "json_build_object" } else { "jsonb_build_object" };
        return Err(invalid("argument list must have even number of elements".to_owned()).hint(
            format!("The arguments of {name}() must consist of alternating keys and values."),
        ));
    }
    let mut out = vec![b'{'];
    for (i, pair) in values.chunks_exact(2).enumerate() {
        let ((key_type, key), (ty, value)) = (pair[0], pair[1]);
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        if key.is_null() {
            return Err(match kind {
                Kind::Json => invalid(format!("argument {} cannot be null", 2 * i + 1))
                    .hint("Object keys should be text."),
                Kind::Jsonb => invalid(format!("argument {}: key must not be null", 2 * i + 1)),
            });
        }
        write_key(context, key_type, &key, &mut out)?;
        out.extend_from_slice(b" : ");
        write(context, ty, &value, Layout::Line, &mut out)?;
    }
    out.push(b'}');
    kind.finish(context, &out)
}

#[cold]
fn subscripts(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn texts<'a>(context: &CallContext<'a>, array: &Array<'a>) -> Result<Vec<Datum<'a>>> {
    let slots = array.slots();
    slots
        .map(|slot| match slot {
            None => Ok(Datum::Null),
            Some(bytes) => stored::read(context.arena, array.element, bytes),
        })
        .collect()
}

fn object_of<'a, 'd>(
    context: &CallContext<'a>,
    pairs: impl Iterator<Item = (&'d Datum<'a>, &'d Datum<'a>)>,
    kind: Kind,
) -> Result<Datum<'a>>
where
    'a: 'd,
{
    let mut out = vec![b'{'];
    for (key, value) in pairs {
        if out.len() > 1 {
            out.extend_from_slice(b", ");
        }
        if key.is_null() {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "null value not allowed for object key",
            ));
        }
        escape(key.text(), &mut out);
        out.extend_from_slice(b" : ");
        match value {
            Datum::Null => out.extend_from_slice(b"null"),
            value => escape(value.text(), &mut out),
        }
    }
    out.push(b'}');
    kind.finish(context, &out)
}

fn object_of_pairs<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    kind: Kind,
) -> Result<Datum<'a>> {
    let array = a[0].array();
    match array.dimension_count() {
        0 => return kind.finish(context, b"{}"),
        1 if !array.len().is_multiple_of(2) => {
            return Err(subscripts("array must have even number of elements"));
        }
        1 => {}
        2 if array.dimension(1).is_none_or(|dimension| dimension.length != 2) => {
            return Err(subscripts("array must have two columns"));
        }
        2 => {}
        _ => return Err(subscripts("wrong number of array subscripts")),
    }
    let values = texts(context, &array)?;
    object_of(context, values.chunks_exact(2).map(|pair| (&pair[0], &pair[1])), kind)
}

fn object_of_two<'a>(context: &CallContext<'a>, a: &[Datum<'a>], kind: Kind) -> Result<Datum<'a>> {
    let (keys, values) = (a[0].array(), a[1].array());
    if keys.dimension_count() > 1 || keys.dimension_count() != values.dimension_count() {
        return Err(subscripts("wrong number of array subscripts"));
    }
    if keys.len() != values.len() {
        return Err(subscripts("mismatched array dimensions"));
    }
    let (keys, values) = (texts(context, &keys)?, texts(context, &values)?);
    object_of(context, keys.iter().zip(&values), kind)
}
