//! Arrays: their stored form, and how to build and walk it.
//!
//! A header (number of dimensions, element type, per dimension length and lower bound, all little-endian) and the
//! elements in row-major order, each with a 4-byte length in front; the length `u32::MAX` is NULL. An array says itself what
//! its elements are, as PostgreSQL's do. PostgreSQL: `utils/array.h`, `arrayfuncs.c`.

pub mod compare;
pub mod functions;
pub mod sets;
pub mod text;

use super::{Datum, oids, stored};
use crate::account;
use crate::error::{Result, SqlError};
use crate::form::form;
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;

/// PostgreSQL's limit of dimensions.
pub const DIMENSIONS_MAX: usize = 6;
/// PostgreSQL's limit of elements.
pub const ELEMENTS_MAX: usize = 134_217_727;

/// PostgreSQL's limit of bytes.
const BYTES_MAX: usize = crate::text::VALUE_BYTES_MAX;

const NULL: u32 = u32::MAX;

/// One dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// How many.
    pub length: i32,
    /// The first one's subscript.
    pub lower: i32,
}

/// A stored array, looked at in place.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// The element type.
    pub element: u32,
    header: &'a [u8],
    elements: &'a [u8],
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    word.map_or(0, u32::from_le_bytes)
}

/// Whether a stored array has one dimension, from 0 on, and no NULL.
#[must_use]
pub fn is_vector(bytes: &[u8]) -> bool {
    let array = Array::of(bytes);
    array.dimension_count() == 1
        && array.dimension(0).is_some_and(|dimension| dimension.lower == 0)
        && array.slots().all(|slot| slot.is_some())
}

/// Where the bytes of an element lie in a stored array of one dimension whose elements are all there, each of so many bytes; its
/// element type is this one.
#[inline]
fn fixed_place(stored: &[u8], element: u32, size: usize, subscript: i32) -> Option<usize> {
    /// One dimension: their number, the element type, a length, a lower bound.
    const HEADER: usize = 13;
    let header = stored.first_chunk::<HEADER>()?;
    let at = |from: usize| {
        i32::from_le_bytes([header[from], header[from + 1], header[from + 2], header[from + 3]])
    };
    let (length, lower) = (at(5), at(9));
    let offset = i64::from(subscript) - i64::from(lower);
    let fits = header[0] == 1
        && at(1) as u32 == element
        && offset >= 0
        && offset < i64::from(length)
        && stored.len() == HEADER + length as usize * (4 + size);
    fits.then(|| HEADER + offset as usize * (4 + size) + 4)
}

/// An element that is a number of a fixed size, by its subscript; nothing where it is not one, or has no such place.
#[must_use]
#[inline]
pub fn number_at(stored: &[u8], subscript: i32) -> Option<Datum<'static>> {
    let element = word(stored.get(..5)?, 1);
    let size = if element == oids::INT4 { 4 } else { 8 };
    let place = fixed_place(stored, element, size, subscript)?;
    let bytes = stored.get(place..place + size)?;
    Some(match element {
        oids::INT4 => Datum::Int4(i32::from_le_bytes(bytes.try_into().ok()?)),
        oids::INT8 => Datum::Int8(i64::from_le_bytes(bytes.try_into().ok()?)),
        oids::FLOAT8 => Datum::Float8(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}

/// Replaces such an element; whether that could be done.
#[inline]
pub fn set_number_at(stored: &mut [u8], subscript: i32, value: &Datum<'_>) -> bool {
    match value {
        Datum::Int4(value) => put_at(stored, (oids::INT4, subscript), value.to_le_bytes()),
        Datum::Int8(value) => put_at(stored, (oids::INT8, subscript), value.to_le_bytes()),
        Datum::Float8(value) => put_at(stored, (oids::FLOAT8, subscript), value.to_le_bytes()),
        _ => false,
    }
}

#[inline]
fn put_at<const N: usize>(
    stored: &mut [u8],
    (element, subscript): (u32, i32),
    bytes: [u8; N],
) -> bool {
    let Some(place) = fixed_place(stored, element, N, subscript) else { return false };
    stored[place..place + N].copy_from_slice(&bytes);
    true
}

/// Makes the length of such an array one more, for a value at the subscript behind its last one: the element's bytes, which are
/// to stand behind the others, and how many these are. Nothing where it has no such place, or would be too large.
pub fn grow_by_number(
    stored: &mut [u8],
    subscript: i32,
    value: &Datum<'_>,
) -> Option<([u8; 12], usize)> {
    let (element, size, bytes) = match value {
        Datum::Int4(value) => (oids::INT4, 4, i64::from(*value).to_le_bytes()),
        Datum::Int8(value) => (oids::INT8, 8, value.to_le_bytes()),
        Datum::Float8(value) => (oids::FLOAT8, 8, value.to_le_bytes()),
        _ => return None,
    };
    let last = subscript.checked_sub(1)?;
    let behind = fixed_place(stored, element, size, last)? + size;
    let grown = u32::from_le_bytes(*stored.get(5..)?.first_chunk()?) + 1;
    if behind != stored.len()
        || subscript == i32::MAX
        || grown as usize > ELEMENTS_MAX
        || check_bytes(behind + 4 + size).is_err()
    {
        return None;
    }
    stored[5..9].copy_from_slice(&grown.to_le_bytes());
    let mut slot = [0; 12];
    slot[..4].copy_from_slice(&(size as u32).to_le_bytes());
    slot[4..].copy_from_slice(&bytes);
    Some((slot, 4 + size))
}

/// The bytes of one more element for the end of a stored array of one dimension, if it can have one; its length is counted by
/// [`count_one_more`].
pub fn slot_behind(stored: &[u8], value: &Datum<'_>, slot: &mut Vec<u8>) -> bool {
    let array = Array::of(stored);
    let Some(Dimension { length, lower }) = array.dimension(0) else { return false };
    if array.dimension_count() != 1
        || length as usize >= ELEMENTS_MAX
        || check_bounds(Dimension { length: length + 1, lower }).is_err()
    {
        return false;
    }
    let mut one = Builder { element: array.element, count: 0, bytes: std::mem::take(slot) };
    one.bytes.clear();
    one.push(value);
    *slot = one.bytes;
    check_bytes(stored.len() + slot.len()).is_ok()
}

/// Whether a subscript is the one behind the last of a stored array of one dimension.
#[must_use]
pub fn is_behind(stored: &[u8], subscript: i32) -> bool {
    let array = Array::of(stored);
    array.dimension_count() == 1
        && array.dimension(0).is_some_and(|Dimension { length, lower }| {
            i64::from(lower) + i64::from(length) == i64::from(subscript)
        })
}

/// Makes the length of a stored array of one dimension one more, for an element that follows.
pub fn count_one_more(stored: &mut [u8]) {
    if let Some(length) = stored.get_mut(5..9).and_then(|bytes| bytes.first_chunk_mut::<4>()) {
        *length = (u32::from_le_bytes(*length) + 1).to_le_bytes();
    }
}

/// Replaces the element at a subscript of a stored array of one dimension whose elements all have the same length, by a value
/// that is not NULL; whether that could be done.
pub fn replace_in_place(stored: &mut [u8], subscript: i32, value: &Datum<'_>) -> bool {
    let array = Array::of(stored);
    let Some(dimension) = array.dimension(0).filter(|_| array.dimension_count() == 1) else {
        return false;
    };
    let offset = i64::from(subscript) - i64::from(dimension.lower);
    if offset < 0 || offset >= i64::from(dimension.length) || value.is_null() {
        return false;
    }
    let Some(stride) = array.stride() else { return false };
    let at = stored.len() - array.elements.len() + offset as usize * stride;
    let mut written = Vec::new();
    stored::write(value, &mut written);
    let place = stored.get_mut(at + 4..at + stride).filter(|place| place.len() == written.len());
    place.map(|place| place.copy_from_slice(&written)).is_some()
}

/// Elements of int4, each behind its length.
struct Integers<'a> {
    elements: &'a [[u8; 8]],
    lower: i32,
}

impl<'a> Integers<'a> {
    /// The element at a subscript; NULL outside.
    #[inline]
    fn at(&self, subscript: i32) -> Datum<'a> {
        let offset = i64::from(subscript) - i64::from(self.lower);
        let found = usize::try_from(offset).ok().and_then(|offset| self.elements.get(offset));
        found.map_or(Datum::Null, |[.., a, b, c, d]| {
            Datum::Int4(i32::from_le_bytes([*a, *b, *c, *d]))
        })
    }
}

impl<'a> Array<'a> {
    /// Looks at stored bytes. Bytes that no array is stored as read as an empty one.
    #[must_use]
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Array<'a> {
        let dimensions = usize::from(bytes.first().copied().unwrap_or(0)).min(DIMENSIONS_MAX);
        let split = 5 + 8 * dimensions;
        if bytes.len() < split {
            return Array { element: 0, header: &[], elements: &[] };
        }
        let (header, elements) = bytes.split_at(split);
        Array { element: word(header, 1), header: &header[5..], elements }
    }

    /// The number of dimensions: 0 for an empty array.
    #[must_use]
    pub fn dimension_count(&self) -> usize {
        self.header.len() / 8
    }

    /// Dimension `index`, from 0.
    #[must_use]
    pub fn dimension(&self, index: usize) -> Option<Dimension> {
        (index < self.dimension_count()).then(|| Dimension {
            length: word(self.header, 8 * index) as i32,
            lower: word(self.header, 8 * index + 4) as i32,
        })
    }

    /// All dimensions.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> + use<'a> {
        let array = *self;
        (0..self.dimension_count()).filter_map(move |index| array.dimension(index))
    }

    /// How many elements there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.header.is_empty() {
            return 0;
        }
        self.dimensions().map(|d| d.length.max(0) as usize).product()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements' bytes in order; `None` is NULL.
    #[must_use]
    pub fn slots(&self) -> Slots<'a> {
        Slots { rest: self.elements, left: self.len() }
    }

    /// The elements in order.
    pub fn datums(&self, arena: &'a Bump) -> impl Iterator<Item = Result<Datum<'a>>> + use<'a> {
        let element = self.element;
        self.slots().map(move |slot| match slot {
            Some(bytes) => stored::read(arena, element, bytes),
            None => Ok(Datum::Null),
        })
    }

    /// Element `index` in storage order, from 0.
    ///
    /// # Errors
    /// XX001.
    pub fn datum(&self, arena: &'a Bump, index: usize) -> Result<Datum<'a>> {
        match self.slot(index) {
            Some(bytes) => stored::read(arena, self.element, bytes),
            None => Ok(Datum::Null),
        }
    }

    /// The bytes of element `index` in storage order, from 0; `None` is NULL. Where all have the same length and none is NULL,
    /// the place of one is known from that.
    #[must_use]
    pub fn slot(&self, index: usize) -> Option<&'a [u8]> {
        match self.stride() {
            Some(stride) => self.elements.get(index * stride..)?.get(4..stride),
            None => self.slots().nth(index).flatten(),
        }
    }

    /// How far elements are from one another, where all have the same length and none is NULL.
    fn stride(&self) -> Option<usize> {
        let first = word(self.elements, 0);
        let stride = 4 + first as usize;
        let even = first != NULL
            && form(self.element).is_fixed()
            && self.elements.len() == self.len() * stride;
        even.then_some(stride)
    }

    /// The elements of an array of one dimension of int4, none of which is NULL.
    #[inline]
    fn integers(&self) -> Option<Integers<'a>> {
        /// A length and a value.
        const STRIDE: usize = 8;
        if self.element != oids::INT4 || self.header.len() != STRIDE {
            return None;
        }
        let (elements, rest) = self.elements.as_chunks::<STRIDE>();
        let even = rest.is_empty() && elements.len() == word(self.header, 0) as usize;
        even.then(|| Integers { elements, lower: word(self.header, 4) as i32 })
    }

    /// The element at a subscript of an array of one dimension, where its bytes are its value; NULL outside, nothing where it
    /// has another number of dimensions or its elements are no such values.
    ///
    /// # Errors
    /// XX001.
    pub fn element(&self, subscript: i32) -> Result<Option<Datum<'a>>> {
        if let Some(integers) = self.integers() {
            return Ok(Some(integers.at(subscript)));
        }
        let Some(dimension) = self.dimension(0).filter(|_| self.dimension_count() == 1) else {
            return Ok(None);
        };
        let offset = i64::from(subscript) - i64::from(dimension.lower);
        if offset < 0 || offset >= i64::from(dimension.length) {
            return Ok(Some(Datum::Null));
        }
        match self.slot(offset as usize) {
            Some(bytes) => stored::read_in_place(self.element, bytes),
            None => Ok(Some(Datum::Null)),
        }
    }

    /// The element at these subscripts, NULL outside the array or with another number of subscripts.
    ///
    /// # Errors
    /// XX001.
    pub fn subscript(&self, arena: &'a Bump, subscripts: &[i32]) -> Result<Datum<'a>> {
        if let ([subscript], Some(integers)) = (subscripts, self.integers()) {
            return Ok(integers.at(*subscript));
        }
        if subscripts.len() != self.dimension_count() || subscripts.is_empty() {
            return Ok(Datum::Null);
        }
        let mut index = 0usize;
        for (dimension, &subscript) in self.dimensions().zip(subscripts) {
            let offset = i64::from(subscript) - i64::from(dimension.lower);
            if offset < 0 || offset >= i64::from(dimension.length) {
                return Ok(Datum::Null);
            }
            index = index * dimension.length as usize + offset as usize;
        }
        self.datum(arena, index)
    }

    /// The part between bounds (inclusive), with lower bounds of 1, as `a[l:u]` gives it. A bound that is `None` is the
    /// array's own; dimensions without bounds are taken whole. Empty where nothing is left.
    #[must_use]
    pub fn slice(&self, arena: &'a Bump, bounds: &[(Option<i32>, Option<i32>)]) -> &'a [u8] {
        let dimensions: Vec<Dimension> = self.dimensions().collect();
        if dimensions.is_empty() || bounds.len() > dimensions.len() {
            return empty(arena, self.element);
        }
        let mut ranges = Vec::with_capacity(dimensions.len());
        for (i, dimension) in dimensions.iter().enumerate() {
            let last = i64::from(dimension.lower) + i64::from(dimension.length) - 1;
            let (low, high) = bounds.get(i).copied().unwrap_or((None, None));
            let low = low.map_or(i64::from(dimension.lower), i64::from);
            let high = high.map_or(last, i64::from).min(last);
            let low = low.max(i64::from(dimension.lower));
            if low > high {
                return empty(arena, self.element);
            }
            let first = low - i64::from(dimension.lower);
            ranges.push(first..first + (high - low + 1));
        }
        let mut builder = Builder::new(self.element);
        for (index, slot) in self.slots().enumerate() {
            let mut rest = index as i64;
            let inside = dimensions.iter().zip(&ranges).rev().all(|(dimension, range)| {
                let at = rest % i64::from(dimension.length);
                rest /= i64::from(dimension.length);
                range.contains(&at)
            });
            if inside {
                builder.push_slot(slot);
            }
        }
        let dimensions: Vec<Dimension> = ranges
            .iter()
            .map(|range| Dimension { length: (range.end - range.start) as i32, lower: 1 })
            .collect();
        builder.store(arena, &dimensions)
    }
}

/// The elements' bytes.
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Slots<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        self.left = self.left.checked_sub(1)?;
        account::step();
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        if length == NULL {
            self.rest = rest;
            return Some(None);
        }
        let (bytes, rest) = rest.split_at_checked(length as usize)?;
        self.rest = rest;
        Some(Some(bytes))
    }
}

/// Builds an array element by element.
#[derive(Debug)]
pub struct Builder {
    element: u32,
    count: usize,
    bytes: Vec<u8>,
}

impl Builder {
    /// An array of this element type.
    #[must_use]
    pub fn new(element: u32) -> Builder {
        Builder { element, count: 0, bytes: Vec::new() }
    }

    /// The same, with room for so many bytes.
    #[must_use]
    pub fn with_room(element: u32, bytes: usize) -> Builder {
        Builder { element, count: 0, bytes: Vec::with_capacity(bytes) }
    }

    /// Appends an element.
    pub fn push(&mut self, datum: &Datum<'_>) {
        self.count += 1;
        account::step();
        if datum.is_null() {
            return self.bytes.extend_from_slice(&NULL.to_le_bytes());
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        stored::write(datum, &mut self.bytes);
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Appends an element to an empty array, again and again.
    ///
    /// # Errors
    /// 54000 where that would be more than one value may have.
    pub fn fill(&mut self, datum: &Datum<'_>, times: usize) -> Result<()> {
        let mut one = Builder::new(self.element);
        one.push(datum);
        check_bytes(one.bytes.len().saturating_mul(times))?;
        // Memory that is new to the process takes time: a stretch at a time, so that it may be told to stop.
        let each = (account::LARGE / one.bytes.len()).clamp(1, times.max(1));
        let stretch = one.bytes.repeat(each);
        self.bytes.reserve_exact(one.bytes.len() * times);
        for _ in 0..times / each {
            account::poll()?;
            self.bytes.extend_from_slice(&stretch);
        }
        self.bytes.extend_from_slice(&stretch[..one.bytes.len() * (times % each)]);
        self.count = times;
        Ok(())
    }

    /// Appends an element that is stored already.
    pub fn push_slot(&mut self, slot: Option<&[u8]>) {
        self.count += 1;
        match slot {
            None => self.bytes.extend_from_slice(&NULL.to_le_bytes()),
            Some(bytes) => {
                self.bytes.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(bytes);
            }
        }
    }

    /// Appends all elements of an array.
    pub fn push_all(&mut self, array: &Array<'_>) {
        self.count += array.len();
        account::insist_on(array.elements.len());
        self.bytes.extend_from_slice(array.elements);
    }

    /// Fails where there is more than one value may have.
    ///
    /// # Errors
    /// 54000.
    pub fn check_size(&self) -> Result<()> {
        check_bytes(self.bytes.len())
    }

    /// How many elements there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The array with one dimension that begins at 1, or empty.
    #[must_use]
    pub fn finish<'a>(&self, arena: &'a Bump) -> Datum<'a> {
        let dimensions = [Dimension { length: self.count as i32, lower: 1 }];
        Datum::Array(self.store(arena, &dimensions))
    }

    /// The array with these dimensions, whose lengths multiply to the number of elements.
    #[must_use]
    pub fn store<'a>(&self, arena: &'a Bump, dimensions: &[Dimension]) -> &'a [u8] {
        let dimensions = if self.count == 0 { &[] } else { dimensions };
        let header = 5 + 8 * dimensions.len();
        account::insist_on_value(header + self.bytes.len());
        let mut out = ArenaVec::with_capacity_in(header + self.bytes.len(), arena);
        out.push(dimensions.len() as u8);
        out.extend_from_slice_copy(&self.element.to_le_bytes());
        for dimension in dimensions {
            out.extend_from_slice_copy(&dimension.length.to_le_bytes());
            out.extend_from_slice_copy(&dimension.lower.to_le_bytes());
        }
        account::extend(&mut out, &self.bytes);
        out.into_bump_slice()
    }
}

/// An empty array.
#[must_use]
pub fn empty(arena: &Bump, element: u32) -> &[u8] {
    Builder::new(element).store(arena, &[])
}

/// A one-dimensional array that begins at 1.
#[must_use]
pub fn from_datums<'a>(arena: &'a Bump, element: u32, datums: &[Datum<'_>]) -> Datum<'a> {
    let mut builder = Builder::new(element);
    datums.iter().for_each(|datum| builder.push(datum));
    builder.finish(arena)
}

/// `int2vector` and `oidvector`: one dimension that begins at 0, even when empty of elements.
#[must_use]
pub fn vector<'a>(arena: &'a Bump, element: u32, datums: &[Datum<'_>]) -> Datum<'a> {
    let mut builder = Builder::new(element);
    datums.iter().for_each(|datum| builder.push(datum));
    let dimensions = [Dimension { length: datums.len() as i32, lower: 0 }];
    Datum::Array(builder.store(arena, &dimensions))
}

/// `ARRAY[a, b]` of arrays: one more dimension. All must have the same dimensions, unless all are empty or NULL.
///
/// # Errors
/// 54000 for the first that is not empty, 2202E for the others.
pub fn from_arrays<'a>(arena: &'a Bump, element: u32, arrays: &[Datum<'_>]) -> Result<Datum<'a>> {
    let mismatch = || {
        SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "multidimensional arrays must have array expressions with matching dimensions",
        )
    };
    let mut builder = Builder::new(element);
    let mut inner: Option<Vec<Dimension>> = None;
    let mut outer = 0;
    for datum in arrays {
        let Datum::Array(bytes) = datum else { continue };
        let array = Array::of(bytes);
        if array.is_empty() {
            continue;
        }
        let dimensions: Vec<Dimension> = array.dimensions().collect();
        match &inner {
            None => {
                check_dimensions(dimensions.len() + 1)?;
                inner = Some(dimensions);
            }
            Some(inner) if *inner != dimensions => return Err(mismatch()),
            Some(_) => {}
        }
        outer += 1;
        array.slots().for_each(|slot| builder.push_slot(slot));
    }
    let Some(inner) = inner else { return Ok(Datum::Array(empty(arena, element))) };
    if outer as usize != arrays.len() {
        return Err(mismatch());
    }
    let mut dimensions = vec![Dimension { length: outer, lower: 1 }];
    dimensions.extend(inner);
    Ok(Datum::Array(builder.store(arena, &dimensions)))
}

/// Whether an array may have so many dimensions.
///
/// # Errors
/// 54000.
pub fn check_dimensions(count: usize) -> Result<()> {
    if count > DIMENSIONS_MAX { Err(too_many_dimensions(count)) } else { Ok(()) }
}

/// 54000 where elements have so many bytes.
///
/// # Errors
/// 54000.
pub(crate) fn check_bytes(bytes: usize) -> Result<()> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    let message = format!("array size exceeds the maximum allowed ({BYTES_MAX})");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

/// 54000 where the subscript behind the last would not fit.
///
/// # Errors
/// 54000.
pub(crate) fn check_bounds(dimension: Dimension) -> Result<Dimension> {
    match dimension.lower.checked_add(dimension.length) {
        Some(_) => Ok(dimension),
        None => Err(SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("array lower bound is too large: {}", dimension.lower),
        )),
    }
}

/// 54000.
#[cold]
pub(crate) fn too_many_dimensions(count: usize) -> SqlError {
    SqlError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!(
            "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_and_slices() {
        let arena = Bump::new();
        let numbers: Vec<Datum<'_>> = (1..=6).map(Datum::Int4).collect();
        let mut builder = Builder::new(oids::INT4);
        numbers.iter().for_each(|number| builder.push(number));
        let dimensions = [Dimension { length: 2, lower: 1 }, Dimension { length: 3, lower: 0 }];
        let array = Array::of(builder.store(&arena, &dimensions));
        let at = |i, j| array.subscript(&arena, &[i, j]).expect("sound");
        assert!(matches!(at(2, 0), Datum::Int4(4)));
        assert!(at(3, 0).is_null() && at(1, 3).is_null());
        assert!(array.subscript(&arena, &[1]).expect("sound").is_null());
        let part = Array::of(array.slice(&arena, &[(Some(2), Some(9)), (Some(1), Some(2))]));
        assert_eq!(
            part.dimensions().map(|d| (d.length, d.lower)).collect::<Vec<_>>(),
            [(1, 1), (2, 1)]
        );
        assert!(matches!(part.datum(&arena, 0), Ok(Datum::Int4(5))));
        assert!(Array::of(array.slice(&arena, &[(Some(5), None)])).is_empty());
    }
}
