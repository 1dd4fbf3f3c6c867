//! The functions of hstore: what is in one, sets of what is in one, and one made of others.

use super::{Hstore, Pair, build, json, null_key, record};
use crate::array::{Array, Builder, Dimension, from_datums};
use crate::contrib::{text_in, text_out};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain, Set, Typed};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, hash, oids, stored};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_350, Plain(|c, a| text_in(c, oids::HSTORE, &a[0]))),
    (14_351, Plain(|c, a| text_out(c, oids::HSTORE, &a[0]))),
    // That the value is of the form since 9.0.
    (14_354, Plain(|_, _| Ok(Datum::Int4(2)))),
    (14_355, Plain(|_, a| Ok(text(Hstore::of(&a[0]).get(a[1].text()).flatten())))),
    (14_356, Plain(slice_array)),
    (14_357, Plain(slice)),
    (14_358, Plain(|_, a| Ok(Datum::Bool(exists(a))))),
    (14_359, Plain(|_, a| Ok(Datum::Bool(exists(a))))),
    (14_360, Plain(|c, a| Ok(Datum::Bool(keys(c, &a[1])?.iter().any(|key| has(a, key)))))),
    (14_361, Plain(|c, a| Ok(Datum::Bool(keys(c, &a[1])?.iter().all(|key| has(a, key)))))),
    (14_362, Plain(|_, a| Ok(Datum::Bool(defined(a))))),
    (14_363, Plain(|_, a| Ok(Datum::Bool(defined(a))))),
    (14_364, Plain(|c, a| without(c, a, |key, _| key == a[1].text()))),
    (14_365, Plain(delete_array)),
    (14_366, Plain(|c, a| without(c, a, |key, value| Hstore::of(&a[1]).get(key) == Some(value)))),
    (14_367, Plain(concat)),
    (14_368, Plain(|_, a| Ok(Datum::Bool(contains(&a[0], &a[1]))))),
    (14_369, Plain(|_, a| Ok(Datum::Bool(contains(&a[1], &a[0]))))),
    (14_370, Plain(from_text)),
    (14_371, Plain(from_text)),
    (14_372, Plain(from_arrays)),
    (14_373, Plain(from_array)),
    (14_374, Plain(|c, a| Ok(json::text(c, &a[0], false)))),
    (14_375, Plain(|c, a| Ok(json::text(c, &a[0], true)))),
    (14_376, Plain(|c, a| json::tree(c, &a[0], false))),
    (14_377, Plain(|c, a| json::tree(c, &a[0], true))),
    (14_378, Typed(record::of_record)),
    (14_379, Plain(|c, a| Ok(flat(c, &a[0])))),
    (14_380, Plain(matrix)),
    (14_381, Plain(|c, a| Ok(texts(c, Hstore::of(&a[0]).pairs().map(|(key, _)| Some(key)))))),
    (14_382, Plain(|c, a| Ok(texts(c, Hstore::of(&a[0]).pairs().map(|(_, value)| value))))),
    (14_383, Set(|_, _, a, emit| each(a, &mut |key, _| emit(&[Datum::Text(key)])))),
    (14_384, Set(|_, _, a, emit| each(a, &mut |_, value| emit(&[text(value)])))),
    (14_385, Set(|_, _, a, emit| each(a, &mut |k, v| emit(&[Datum::Text(k), text(v)])))),
    (14_386, Typed(record::populated)),
    (14_387, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() == a[1].bytea())))),
    (14_388, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() != a[1].bytea())))),
    (14_389, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() > a[1].bytea())))),
    (14_390, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() >= a[1].bytea())))),
    (14_391, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() < a[1].bytea())))),
    (14_392, Plain(|_, a| Ok(Datum::Bool(a[0].bytea() <= a[1].bytea())))),
    (14_393, Plain(|_, a| Ok(Datum::Int4(a[0].bytea().cmp(a[1].bytea()) as i32)))),
    (14_394, Plain(|_, a| Ok(Datum::Int4(hash::bytes(&laid_out(&a[0]), 0) as i32)))),
    (
        14_407,
        Plain(|_, a| Ok(Datum::Int8(hash::bytes(&laid_out(&a[0]), a[1].int8() as u64) as i64))),
    ),
];

fn text(value: Option<&str>) -> Datum<'_> {
    value.map_or(Datum::Null, Datum::Text)
}

fn texts<'a, 't>(
    context: &CallContext<'a>,
    texts: impl Iterator<Item = Option<&'t str>>,
) -> Datum<'a> {
    let texts: Vec<Datum<'_>> = texts.map(text).collect();
    from_datums(context.arena, oids::TEXT, &texts)
}

/// The elements of an array of texts.
fn elements<'a>(context: &CallContext<'a>, array: &Array<'a>) -> Result<Vec<Option<&'a str>>> {
    let slots = account::stepping(array.slots());
    let read = |slot: &'a [u8]| stored::read(context.arena, oids::TEXT, slot);
    slots.map(|slot| Ok(slot.map(read).transpose()?.map(|datum| datum.text()))).collect()
}

/// The keys that an array names: NULLs name none.
fn keys<'a>(context: &CallContext<'a>, array: &Datum<'a>) -> Result<Vec<&'a str>> {
    Ok(elements(context, &array.array())?.into_iter().flatten().collect())
}

fn has(a: &[Datum<'_>], key: &str) -> bool {
    Hstore::of(&a[0]).get(key).is_some()
}

fn exists(a: &[Datum<'_>]) -> bool {
    has(a, a[1].text())
}

fn defined(a: &[Datum<'_>]) -> bool {
    Hstore::of(&a[0]).get(a[1].text()).flatten().is_some()
}

fn contains(whole: &Datum<'_>, part: &Datum<'_>) -> bool {
    let whole = Hstore::of(whole);
    Hstore::of(part).pairs().all(|(key, value)| whole.get(key) == Some(value))
}

fn without<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    gone: impl Fn(&str, Option<&str>) -> bool,
) -> Result<Datum<'a>> {
    let kept = Hstore::of(&a[0]).pairs().filter(|(key, value)| !gone(key, *value));
    build(context, kept.collect())
}

fn delete_array<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let keys = keys(context, &a[1])?;
    let keys: std::collections::HashSet<&str> = keys.into_iter().collect();
    without(context, a, |key, _| keys.contains(key))
}

/// Values of the second one are taken before those of the first.
fn concat<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    build(context, Hstore::of(&a[1]).pairs().chain(Hstore::of(&a[0]).pairs()).collect())
}

/// The values of keys, in an array of the same dimensions as that of the keys.
fn slice_array<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (hstore, array) = (Hstore::of(&a[0]), a[1].array());
    let mut builder = Builder::new(oids::TEXT);
    for key in elements(context, &array)? {
        builder.push(&text(key.and_then(|key| hstore.get(key).flatten())));
    }
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

fn slice<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let hstore = Hstore::of(&a[0]);
    let keys = keys(context, &a[1])?;
    let found = keys.into_iter().filter_map(|key| Some((key, hstore.get(key)?)));
    build(context, found.collect())
}

fn from_text<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let value = if a[1].is_null() { None } else { Some(a[1].text()) };
    build(context, vec![(a[0].text(), value)])
}

fn wrong_array(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn from_arrays<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let too_many = |array: &Array<'_>| array.dimension_count() > 1;
    let keys = a[0].array();
    if too_many(&keys) {
        return Err(wrong_array("wrong number of array subscripts"));
    }
    let values = if a[1].is_null() {
        vec![None; keys.len()]
    } else {
        let values = a[1].array();
        if too_many(&values) {
            return Err(wrong_array("wrong number of array subscripts"));
        }
        if !keys.dimensions().eq(values.dimensions()) {
            return Err(wrong_array("arrays must have same bounds"));
        }
        elements(context, &values)?
    };
    let keys = elements(context, &keys)?.into_iter().map(|key| key.ok_or_else(null_key));
    let pairs: Result<Vec<Pair<'_>>> =
        keys.zip(values).map(|(key, value)| Ok((key?, value))).collect();
    build(context, pairs?)
}

/// Of one dimension with keys and values by turns, or of rows of two.
fn from_array<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let array = a[0].array();
    let length = |at: usize| array.dimension(at).map_or(0, |dimension| dimension.length);
    match array.dimension_count() {
        0 => return build(context, Vec::new()),
        1 if length(0) % 2 != 0 => {
            return Err(wrong_array("array must have even number of elements"));
        }
        2 if length(1) != 2 => return Err(wrong_array("array must have two columns")),
        1 | 2 => {}
        _ => return Err(wrong_array("wrong number of array subscripts")),
    }
    let all = elements(context, &array)?;
    let pairs = all.chunks_exact(2).map(|pair| Ok((pair[0].ok_or_else(null_key)?, pair[1])));
    build(context, pairs.collect::<Result<Vec<Pair<'_>>>>()?)
}

fn flattened<'a>(hstore: &Datum<'a>) -> impl Iterator<Item = Option<&'a str>> {
    Hstore::of(hstore).pairs().flat_map(|(key, value)| [Some(key), value])
}

fn flat<'a>(context: &CallContext<'a>, hstore: &Datum<'a>) -> Datum<'a> {
    texts(context, flattened(hstore))
}

fn matrix<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut builder = Builder::new(oids::TEXT);
    flattened(&a[0]).for_each(|value| builder.push(&text(value)));
    let rows = Dimension { length: (builder.len() / 2) as i32, lower: 1 };
    let columns = Dimension { length: 2, lower: 1 };
    Ok(Datum::Array(builder.store(context.arena, &[rows, columns])))
}

fn each<'a>(
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&'a str, Option<&'a str>) -> Result<bool>,
) -> Result<()> {
    for (key, value) in Hstore::of(&a[0]).pairs() {
        if !emit(key, value)? {
            break;
        }
    }
    Ok(())
}

/// The bytes that PostgreSQL holds a value as on a little-endian machine, which it hashes.
fn laid_out(hstore: &Datum<'_>) -> Vec<u8> {
    /// That the form is the one since 9.0; that an entry is the first; that it is NULL.
    const NEW: u32 = 1 << 31;
    const FIRST: u32 = 1 << 31;
    const NULL: u32 = 1 << 30;
    let hstore = Hstore::of(hstore);
    let mut out = (hstore.len() as u32 | NEW).to_le_bytes().to_vec();
    for at in 0..hstore.len() * 2 {
        let end = hstore.end(at);
        let first = if at == 0 { FIRST } else { 0 };
        let null = if end & super::NULL == 0 { 0 } else { NULL };
        out.extend_from_slice(&(end >> 1 | first | null).to_le_bytes());
    }
    out.extend_from_slice(hstore.texts.as_bytes());
    out
}
