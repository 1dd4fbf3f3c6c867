//! Functions that turn arrays and texts into rows: unnest, generate_subscripts, string_to_table.

use super::functions::split;
use crate::error::Result;
use crate::{CallContext, Datum};

/// Takes a row, says whether to go on.
type Emit<'e, 'a> = &'e mut dyn FnMut(&[Datum<'a>]) -> Result<bool>;

/// One row for each element.
pub(crate) fn unnest<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: Emit<'_, 'a>,
) -> Result<()> {
    for datum in a[0].array().datums(context.arena) {
        if !emit(&[datum?])? {
            break;
        }
    }
    Ok(())
}

/// Each element with its number, from 1 (`information_schema._pg_expandarray`).
pub(crate) fn numbered<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: Emit<'_, 'a>,
) -> Result<()> {
    for (number, datum) in (1..).zip(a[0].array().datums(context.arena)) {
        if !emit(&[datum?, Datum::Int4(number)])? {
            break;
        }
    }
    Ok(())
}

/// The subscripts of a dimension, forwards or backwards.
pub(crate) fn subscripts<'a>(a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let index = usize::try_from(a[1].int4()).ok().and_then(|index| index.checked_sub(1));
    let Some(dimension) = index.and_then(|index| a[0].array().dimension(index)) else {
        return Ok(());
    };
    let backwards = a.get(2).is_some_and(|reverse| reverse.bool());
    for offset in 0..dimension.length {
        let offset = if backwards { dimension.length - 1 - offset } else { offset };
        if !emit(&[Datum::Int4(dimension.lower + offset)])? {
            break;
        }
    }
    Ok(())
}

/// The parts of a text.
pub(crate) fn text_rows<'a>(
    _: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: Emit<'_, 'a>,
) -> Result<()> {
    if a[0].is_null() {
        return Ok(());
    }
    for part in split(a)? {
        if !emit(&[part])? {
            break;
        }
    }
    Ok(())
}
