//! Values of other types as JSON.
//!
//! PostgreSQL: `datum_to_json`, `composite_to_json`, `array_to_json_internal`. Numbers and booleans stand as they are,
//! dates and timestamps in ISO 8601 whatever the session's DateStyle, json as it was written; what is nothing else is a
//! string of its text form.

use super::{View, escape};
use crate::array::{Array, Dimension};
use crate::contrib::hstore;
use crate::datetime::{output, zone};
use crate::depth::descend;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Form, SqlType, domain, form, oids, record, stored, write_text};

/// How containers are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// All on one line.
    Line,
    /// The outermost container's parts on a line each.
    Lines,
}

/// Appends a value as JSON.
///
/// # Errors
/// Those of text forms.
pub(crate) fn write(
    context: &CallContext<'_>,
    ty: SqlType,
    datum: &Datum<'_>,
    layout: Layout,
    out: &mut Vec<u8>,
) -> Result<()> {
    match datum {
        Datum::Null => out.extend_from_slice(b"null"),
        Datum::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Datum::Int2(_)
        | Datum::Int4(_)
        | Datum::Float4(_)
        | Datum::Float8(_)
        | Datum::Numeric(_) => write_number(context, ty, datum, out)?,
        Datum::Int8(_) if form(ty.oid.0) == Form::Int8 => write_number(context, ty, datum, out)?,
        Datum::Date(days) => quoted(out, |out| output::write_xsd_date(*days, out)),
        Datum::Timestamp(local) => {
            quoted(out, |out| output::write_xsd_timestamp(*local, None, out));
        }
        Datum::TimestampTz(utc) => {
            let offset = zone::of_session(&context.settings.time_zone).offset(*utc);
            quoted(out, |out| output::write_xsd_timestamp(*utc, Some(offset), out));
        }
        Datum::Text(text) if ty.oid.0 == oids::JSON => out.extend_from_slice(text.as_bytes()),
        Datum::Text(text) if ty.oid.0 != oids::XML => escape(text, out),
        Datum::Jsonb(bytes) => View::of(bytes).write(out),
        Datum::Array(bytes) => {
            descend(|| write_array(context, &Array::of(bytes), layout, out))?;
        }
        Datum::Record(bytes) => {
            descend(|| write_row(context, ty, bytes, layout, out))?;
        }
        // What has a cast to json is written by that.
        Datum::Bytea(bytes) if domain::base(context, ty).oid.0 == oids::HSTORE => {
            hstore::write_json(bytes, out);
        }
        other => {
            let mut text = Vec::new();
            write_text(context, ty, other, &mut text)?;
            escape(std::str::from_utf8(&text).unwrap_or(""), out);
        }
    }
    Ok(())
}

/// A text that has nothing to escape, as a string.
fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// A number whose text is none in JSON (NaN, Infinity) is a string.
fn write_number(
    context: &CallContext<'_>,
    ty: SqlType,
    datum: &Datum<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let at = out.len();
    write_text(context, ty, datum, out)?;
    if out[at..].iter().any(|byte| byte.is_ascii_alphabetic() && *byte != b'e') {
        out.insert(at, b'"');
        out.push(b'"');
    }
    Ok(())
}

fn write_array(
    context: &CallContext<'_>,
    array: &Array<'_>,
    layout: Layout,
    out: &mut Vec<u8>,
) -> Result<()> {
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    if dimensions.is_empty() {
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    let mut slots = array.slots();
    write_dimension(context, array.element, &dimensions, &mut slots, layout, out)
}

fn write_dimension<'s>(
    context: &CallContext<'_>,
    element: u32,
    dimensions: &[Dimension],
    slots: &mut impl Iterator<Item = Option<&'s [u8]>>,
    layout: Layout,
    out: &mut Vec<u8>,
) -> Result<()> {
    let separator: &[u8] = if layout == Layout::Lines { b",\n " } else { b"," };
    let Some((first, rest)) = dimensions.split_first() else { return Ok(()) };
    out.push(b'[');
    for i in 0..first.length {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        if !rest.is_empty() {
            write_dimension(context, element, rest, slots, Layout::Line, out)?;
            continue;
        }
        let datum = match slots.next().flatten() {
            None => Datum::Null,
            Some(bytes) => stored::read(context.arena, element, bytes)?,
        };
        write(context, SqlType::plain(element), &datum, Layout::Line, out)?;
    }
    out.push(b']');
    Ok(())
}

fn write_row(
    context: &CallContext<'_>,
    ty: SqlType,
    bytes: &[u8],
    layout: Layout,
    out: &mut Vec<u8>,
) -> Result<()> {
    let names = record::names(context, ty.oid.0, bytes);
    let separator: &[u8] = if layout == Layout::Lines { b",\n " } else { b"," };
    out.push(b'{');
    for (i, (field_type, field)) in record::fields(bytes).enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        match names.get(i) {
            Some(name) => escape(name, out),
            None => escape(&format!("f{}", i + 1), out),
        }
        out.push(b':');
        let datum = match field {
            None => Datum::Null,
            Some(field) => stored::read(context.arena, field_type, field)?,
        };
        write(context, SqlType::plain(field_type), &datum, Layout::Line, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a value as the key of an object.
///
/// # Errors
/// 22023 for what is no scalar.
pub(crate) fn write_key(
    context: &CallContext<'_>,
    ty: SqlType,
    datum: &Datum<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let json = ty.oid.0 == oids::JSON || ty.oid.0 == oids::JSONB;
    if json || matches!(datum, Datum::Array(_) | Datum::Record(_)) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            "key value must be scalar, not array, composite, or json",
        ));
    }
    match datum {
        Datum::Bool(_)
        | Datum::Int2(_)
        | Datum::Int4(_)
        | Datum::Int8(_)
        | Datum::Float4(_)
        | Datum::Float8(_)
        | Datum::Numeric(_) => {
            let mut text = Vec::new();
            match datum {
                Datum::Bool(value) => {
                    text.extend_from_slice(if *value { b"true" } else { b"false" })
                }
                _ => write_text(context, ty, datum, &mut text)?,
            }
            escape(std::str::from_utf8(&text).unwrap_or(""), out);
            Ok(())
        }
        _ => write(context, ty, datum, Layout::Line, out),
    }
}
