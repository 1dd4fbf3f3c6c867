//! A table's record: a row as the bytes of one value, any column of which is found without reading the others.
//!
//! ```text
//! count: u16 | NULL bitmap: ceil(count / 8) | fixed-width columns | ends of the others: u16 each | their bytes | number: u32
//! ```
//!
//! All integers are little-endian. `count` is how many columns the table had when the row was written: columns added
//! later are not in it and read as their `missing` value, so ADD COLUMN touches no row; dropped ones keep their place. A
//! column of fixed width has its place whether or not it is NULL, so its offset depends on `count` alone, and an update
//! of one is a patch of the same bytes. Bit 15 of an end says that the bytes are a pointer to a long value
//! ([`super::long_value`]).
//!
//! Bit 15 of `count` says that the record ends with the number of the transaction that wrote it, in 32 bits: the row's `xmin`
//! (manual, section 5.5). Only a transaction that somebody has asked for its number writes it; the others' rows have an `xmin`
//! of the commit's LSN. Whoever is told the `xmin` of a row before the commit finds the row by it ever after.
//!
//! Bit 14 of `count` says that the row is elsewhere: behind the count stands a pointer to a long value, which is the record
//! that the row would be. So is a row whose columns are too many for a quarter of a page, each of its own too short to leave it.

use super::corrupt;
use super::form::Form;
use super::long_value::LongValue;
use super::value::{Heap, Texts, Value};
use crate::error::Result;
use crate::text::utf8::utf8;
use crate::{Datum, Interval, TimeTz};
use std::sync::Arc;

/// Set in an end: the bytes are a [`LongValue`].
const LONG: u16 = 1 << 15;

/// Set in the count: the record ends with a transaction's number.
const STAMPED: u16 = 1 << 15;

/// What PostgreSQL's rows begin with, without the bitmap of NULLs, in bytes.
const TUPLE_HEADER_BYTES: usize = 23;

/// What PostgreSQL puts where a value was that has left its row.
const TOAST_POINTER_BYTES: usize = 18;

/// The shortest value that PostgreSQL moves out of a row.
const MOVED_FROM: usize = 24;

/// Set in the count: what follows is a [`LongValue`], the record's own bytes.
const ELSEWHERE: u16 = 1 << 14;

/// What the number adds to a record.
pub const STAMP_BYTES: usize = 4;

/// How long texts are on average, at most, that are copied together though not all of them are read.
const TEXT_BYTES: usize = 64;

/// Writes a record whose row is the record that `pointer` leads to.
pub fn write_elsewhere(pointer: &LongValue, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&ELSEWHERE.to_le_bytes());
    pointer.write(out);
}

/// Puts the number of the transaction that writes it into a record that has none.
pub fn stamp(record: &mut Vec<u8>, number: u32) {
    record[1] |= (STAMPED >> 8) as u8;
    record.extend_from_slice(&number.to_le_bytes());
}

/// Where a column lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// At this offset in the fixed part.
    Fixed(u32),
    /// Which of the varying ones it is.
    Varying(u32),
}

#[derive(Clone, Debug)]
struct ColumnPlace {
    form: Form,
    place: Place,
    missing: Option<Arc<[u8]>>,
    /// Bytes of the fixed part, and number of varying columns, before this column.
    before: (u32, u32),
}

/// How a table's rows are laid out.
#[derive(Clone, Debug)]
pub struct RowLayout {
    columns: Vec<ColumnPlace>,
    total: (u32, u32),
    /// How many of the varying columns are texts before one is not.
    texts: u32,
    /// Where the fixed part of a record of all columns begins, the ends behind it, and the bytes behind these.
    parts: (usize, usize, usize),
}

/// What a record's header says.
#[derive(Clone, Copy, Debug)]
pub enum Opened<'r> {
    /// The row is here.
    Here(OpenRecord<'r>),
    /// The row is the record that this long value is; the number is that of the transaction that wrote it.
    Elsewhere(LongValue, Option<u32>),
}

/// A record whose header has been read: where its parts begin.
#[derive(Clone, Copy, Debug)]
pub struct OpenRecord<'r> {
    layout: &'r RowLayout,
    record: &'r [u8],
    /// How many columns it has.
    count: usize,
    /// The number of the transaction that wrote it, if it says so.
    pub number: Option<u32>,
    fixed: usize,
    ends: usize,
    data: usize,
}

/// What a column of a record is.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A value, its bytes copied to the heap.
    Value(Value),
    /// Its bytes are elsewhere.
    Long(LongValue),
}

impl RowLayout {
    /// The layout of rows with columns of these forms, with the stored form of each one's missing value.
    pub fn new(columns: impl IntoIterator<Item = (Form, Option<Arc<[u8]>>)>) -> RowLayout {
        let mut total = (0, 0);
        let columns = columns
            .into_iter()
            .map(|(form, missing)| {
                let before = total;
                let place = match form.width() {
                    Some(width) => {
                        total.0 += width as u32;
                        Place::Fixed(before.0)
                    }
                    None => {
                        total.1 += 1;
                        Place::Varying(before.1)
                    }
                };
                ColumnPlace { form, place, missing, before }
            })
            .collect::<Vec<ColumnPlace>>();
        let varying = columns.iter().filter(|column| column.form.width().is_none());
        let texts = varying.take_while(|column| column.form == Form::Text).count() as u32;
        let fixed = 2 + columns.len().div_ceil(8);
        let ends = fixed + total.0 as usize;
        RowLayout { columns, total, texts, parts: (fixed, ends, ends + 2 * total.1 as usize) }
    }

    /// Whether a column is one of the texts that [`OpenRecord::texts`] copies.
    #[must_use]
    pub fn begins_with(&self, column: usize) -> bool {
        matches!(self.columns[column].place, Place::Varying(index) if index < self.texts)
    }

    /// How many columns, dropped ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The form of a column.
    #[must_use]
    pub fn form(&self, column: usize) -> Form {
        self.columns[column].form
    }

    /// A record whose columns are to be read.
    ///
    /// # Errors
    /// XX001.
    #[inline]
    pub fn open<'r>(&'r self, record: &'r [u8]) -> Result<Opened<'r>> {
        let count =
            u16::from_le_bytes(*record.first_chunk().ok_or_else(|| corrupt("it has no header"))?);
        if count & (STAMPED | ELSEWHERE) == 0 {
            return Ok(Opened::Here(self.open_parts(record, count, None)?));
        }
        let (record, number) = match count & STAMPED {
            0 => (record, None),
            _ => {
                let (record, number) =
                    record.split_last_chunk().ok_or_else(|| corrupt("it is too short"))?;
                (record, Some(u32::from_le_bytes(*number)))
            }
        };
        if count & ELSEWHERE != 0 {
            let pointer = record.get(2..).unwrap_or_default();
            return Ok(Opened::Elsewhere(LongValue::read(Form::Bytea, pointer)?, number));
        }
        Ok(Opened::Here(self.open_parts(record, count & !STAMPED, number)?))
    }

    /// A record of so many columns, without the number of the transaction that wrote it.
    #[inline]
    fn open_parts<'r>(
        &'r self,
        record: &'r [u8],
        count: u16,
        number: Option<u32>,
    ) -> Result<OpenRecord<'r>> {
        let count = usize::from(count);
        let (fixed_bytes, varying) = match self.columns.get(count) {
            Some(next) => next.before,
            None if count == self.columns.len() => self.total,
            None => return Err(corrupt("it has more columns than its table")),
        };
        let fixed = 2 + count.div_ceil(8);
        let ends = fixed + fixed_bytes as usize;
        Ok(OpenRecord {
            layout: self,
            record,
            count,
            number,
            fixed,
            ends,
            data: ends + 2 * varying as usize,
        })
    }

    /// How long a row is where PostgreSQL stores it and everything has left it that can: its header, and its values on the
    /// boundaries of their types (manual, section 73.6.1), pointers for what is longer than [`MOVED_FROM`].
    #[must_use]
    pub fn heap_tuple_bytes(&self, row: &[Datum<'_>]) -> usize {
        let aligned = |at: usize, to: usize| at.div_ceil(to) * to;
        let nulls = if row.iter().any(Datum::is_null) { row.len().div_ceil(8) } else { 0 };
        let header = aligned(TUPLE_HEADER_BYTES + nulls, 8);
        let mut end = 0;
        for (column, datum) in self.columns.iter().zip(row).filter(|(_, datum)| !datum.is_null()) {
            let boundary = column.form.alignment();
            end = match (column.form.width(), stored_bytes(datum)) {
                (Some(width), _) => aligned(end, boundary) + width,
                (None, bytes) if bytes < MOVED_FROM => end + 1 + bytes,
                (None, _) => end + TOAST_POINTER_BYTES,
            };
        }
        aligned(header + end, 8)
    }

    /// How many bytes a record of all columns has beside its varying values.
    #[must_use]
    pub fn least_bytes(&self) -> usize {
        self.parts.2
    }

    /// Writes a row of all columns, in order, as a record of at most `max` bytes; false if it would be longer: what `out` then
    /// holds is none.
    pub fn write_within<'v>(
        &self,
        row: impl ExactSizeIterator<Item = Datum<'v>>,
        max: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        // What is longer than ends can say has to leave the row, whatever a record may have.
        let max = max.min(usize::from(LONG));
        self.begin(row.len(), out);
        if out.len() > max {
            return false;
        }
        for (at, (column, datum)) in self.columns.iter().zip(row).enumerate() {
            match column.place {
                Place::Fixed(offset) => self.set_fixed((at, offset), datum, out),
                Place::Varying(index) => {
                    if datum.is_null() {
                        out[2 + at / 8] |= 1 << (at % 8);
                    } else {
                        let bytes = varying_bytes(&datum);
                        if out.len() + bytes.len() > max {
                            return false;
                        }
                        out.extend_from_slice(bytes);
                    }
                    set_end(out, (self.parts.1, self.parts.2), index as usize);
                }
            }
        }
        true
    }

    /// The columns that are NULL in a record of all columns.
    pub fn nulls_of(&self, record: &[u8]) -> impl Iterator<Item = usize> {
        let bitmap = record.get(2..self.parts.0).unwrap_or_default();
        let bytes = bitmap.iter().enumerate().filter(|(_, byte)| **byte != 0);
        bytes.flat_map(|(at, byte)| {
            (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| 8 * at + bit)
        })
    }

    /// Writes a row of all columns. Varying values whose bit is set in `long` are given as pointers, in order.
    pub fn write(&self, row: &[Datum<'_>], long: &[(usize, LongValue)], out: &mut Vec<u8>) {
        self.begin(row.len(), out);
        let (_, ends, data) = self.parts;
        for (at, (column, datum)) in self.columns.iter().zip(row).enumerate() {
            let index = match column.place {
                Place::Fixed(offset) => {
                    self.set_fixed((at, offset), *datum, out);
                    continue;
                }
                Place::Varying(index) => index as usize,
            };
            let mut flag = 0;
            match long.iter().find(|(column, _)| *column == at) {
                Some((_, pointer)) => {
                    pointer.write(out);
                    flag = LONG;
                }
                None if datum.is_null() => out[2 + at / 8] |= 1 << (at % 8),
                None => out.extend_from_slice(varying_bytes(datum)),
            }
            let end = u16::try_from(out.len() - data).ok().filter(|end| end & LONG == 0);
            let end = end.expect("1600 columns, none longer than a pointer or all in a page");
            out[ends + 2 * index..][..2].copy_from_slice(&(end | flag).to_le_bytes());
        }
    }

    /// A record up to its varying values, all of its bytes zero behind the count of the columns.
    fn begin(&self, columns: usize, out: &mut Vec<u8>) {
        assert_eq!(columns, self.columns.len(), "a row has all columns of its table");
        let count = u16::try_from(columns).expect("a table has at most 1600 columns");
        out.clear();
        out.resize(self.parts.2, 0);
        out[..2].copy_from_slice(&count.to_le_bytes());
    }

    /// Puts a value into its place in the fixed part of a record that has been begun.
    #[inline]
    fn set_fixed(&self, (at, offset): (usize, u32), datum: Datum<'_>, out: &mut [u8]) {
        if datum.is_null() {
            out[2 + at / 8] |= 1 << (at % 8);
            return;
        }
        let place = &mut out[self.parts.0 + offset as usize..self.parts.1];
        let width = encode_at(datum, place);
        let own = self.columns[at].form.width();
        assert_eq!(Some(width), own, "a value has its column's form");
    }
}

impl<'r> OpenRecord<'r> {
    /// Reads one column.
    ///
    /// # Errors
    /// XX001.
    #[inline]
    pub fn read(&self, column: usize, heap: &mut Heap) -> Result<Field> {
        let mut value = Value::Null;
        match self.read_into(column, Texts::default(), &mut value, heap)? {
            true => Ok(Field::Value(value)),
            false => Ok(Field::Long(self.long(column)?)),
        }
    }

    /// Copies the texts with which the varying columns begin, all at once, for who reads several of them: they are looked at
    /// once and not one by one. None where they are long, where one is elsewhere and the whole is no text, and of records of
    /// fewer columns.
    pub fn texts(&self, heap: &mut Heap) -> Texts {
        match self.leading_texts() {
            Some(texts) => heap.store_texts(self.layout.texts as usize, texts),
            None => Texts::default(),
        }
    }

    /// The same texts where they lie, for [`OpenRecord::view`].
    #[must_use]
    pub fn leading_texts(&self) -> Option<&'r str> {
        let count = self.layout.texts as usize;
        if count == 0 || self.count != self.layout.columns.len() {
            return None;
        }
        let end = usize::from(self.end_of(count - 1).ok()? & !LONG);
        let bytes = self.record.get(self.data..self.data + end)?;
        if bytes.len() > TEXT_BYTES * count {
            return None;
        }
        utf8(bytes)
    }

    /// The same into `value`, where these texts of the record have been copied to the heap. False where the bytes are elsewhere
    /// ([`OpenRecord::long`]), and `value` is what it was.
    ///
    /// # Errors
    /// XX001.
    #[inline(always)]
    pub fn read_into(
        &self,
        column: usize,
        texts: Texts,
        value: &mut Value,
        heap: &mut Heap,
    ) -> Result<bool> {
        let place = &self.layout.columns[column];
        if column >= self.count {
            *value = missing(place, heap)?;
            return Ok(true);
        }
        let short = || corrupt("it is too short");
        if self.record.get(2 + column / 8).ok_or_else(short)? >> (column % 8) & 1 == 1 {
            *value = Value::Null;
            return Ok(true);
        }
        match place.place {
            Place::Fixed(offset) => {
                let bytes = self.record.get(self.fixed + offset as usize..).ok_or_else(short)?;
                match (place.form, bytes.first_chunk()) {
                    (Form::Int4, Some(bytes)) => *value = Value::Int4(i32::from_le_bytes(*bytes)),
                    _ => *value = decode_fixed(place.form, bytes)?,
                }
            }
            Place::Varying(index) => {
                let (range, long) = self.range_of(index as usize)?;
                if long {
                    return Ok(false);
                }
                if (index as usize) < texts.count
                    && let Some(part) = heap.part(texts, range.clone())
                {
                    *value = part;
                    return Ok(true);
                }
                let bytes = self.record.get(self.data + range.start..self.data + range.end);
                *value = decode(place.form, bytes.ok_or_else(short)?, heap)?;
            }
        }
        Ok(true)
    }

    /// The integer in a column, or its NULL. None of a column of another form, and of one that the table got behind this record.
    #[inline]
    #[must_use]
    pub fn integer(&self, column: usize) -> Option<Option<i64>> {
        let ColumnPlace { place: Place::Fixed(offset), form, .. } = self.layout.columns[column]
        else {
            return None;
        };
        if column >= self.count {
            return None;
        }
        if self.record.get(2 + column / 8)? >> (column % 8) & 1 == 1 {
            return Some(None);
        }
        let bytes = self.record.get(self.fixed + offset as usize..)?;
        Some(Some(match form {
            Form::Int4 => i32::from_le_bytes(*bytes.first_chunk()?).into(),
            Form::Int8 => i64::from_le_bytes(*bytes.first_chunk()?),
            Form::Int2 => i16::from_le_bytes(*bytes.first_chunk()?).into(),
            _ => return None,
        }))
    }

    /// A column where it lies; nothing where its value is not made of these bytes alone: it is elsewhere, or of a form that
    /// [`Form::lies_in_place`] excludes. `texts` are its [`OpenRecord::leading_texts`], which are looked at once and not one by one.
    ///
    /// # Errors
    /// XX001.
    #[inline]
    pub fn view(&self, column: usize, texts: Option<&'r str>) -> Result<Option<Datum<'r>>> {
        let place = &self.layout.columns[column];
        let short = || corrupt("it is too short");
        if column >= self.count {
            return Ok(None);
        }
        if self.record.get(2 + column / 8).ok_or_else(short)? >> (column % 8) & 1 == 1 {
            return Ok(Some(Datum::Null));
        }
        let bytes = match place.place {
            Place::Fixed(offset) => {
                let bytes = self.record.get(self.fixed + offset as usize..).ok_or_else(short)?;
                if place.form == Form::Uuid {
                    return Ok(bytes.first_chunk().map(Datum::Uuid));
                }
                return Ok(decode_fixed(place.form, bytes)?.plain());
            }
            Place::Varying(index) => {
                let (range, long) = self.range_of(index as usize)?;
                if long {
                    return Ok(None);
                }
                if index < self.layout.texts
                    && let Some(text) = texts.and_then(|texts| texts.get(range.clone()))
                {
                    return Ok(Some(Datum::Text(text)));
                }
                let bytes = self.record.get(self.data + range.start..self.data + range.end);
                bytes.ok_or_else(short)?
            }
        };
        Ok(Some(match place.form {
            Form::Text => Datum::Text(utf8(bytes).ok_or_else(|| corrupt("its text is not UTF-8"))?),
            Form::Numeric => Datum::Numeric(bytes),
            Form::Bytea => Datum::Bytea(bytes),
            Form::Array => Datum::Array(bytes),
            Form::Record => Datum::Record(bytes),
            Form::Jsonb => Datum::Jsonb(bytes),
            _ => return Ok(None),
        }))
    }

    /// Where the bytes of a column are that are elsewhere.
    ///
    /// # Errors
    /// XX001.
    #[cold]
    pub fn long(&self, column: usize) -> Result<LongValue> {
        let place = &self.layout.columns[column];
        let Place::Varying(index) = place.place else {
            return Err(corrupt("a value of fixed width is elsewhere"));
        };
        let (range, _) = self.range_of(index as usize)?;
        let bytes = self.record.get(self.data + range.start..self.data + range.end);
        LongValue::read(place.form, bytes.ok_or_else(|| corrupt("it is too short"))?)
    }

    /// Where a varying column lies among the varying ones, and whether that is a pointer.
    #[inline(always)]
    fn range_of(&self, index: usize) -> Result<(std::ops::Range<usize>, bool)> {
        let (start, end) = match index.checked_sub(1) {
            None => (0, self.end_of(0)?),
            Some(before) => {
                // Both stand side by side.
                let ends =
                    self.record.get(self.ends + 2 * before..).and_then(|rest| rest.first_chunk());
                let [a, b, c, d] = *ends.ok_or_else(|| corrupt("it is too short"))?;
                (u16::from_le_bytes([a, b]) & !LONG, u16::from_le_bytes([c, d]))
            }
        };
        Ok((usize::from(start)..usize::from(end & !LONG), end & LONG != 0))
    }

    #[inline]
    fn end_of(&self, index: usize) -> Result<u16> {
        let bytes = self.record.get(self.ends + 2 * index..).and_then(|rest| rest.first_chunk());
        Ok(u16::from_le_bytes(*bytes.ok_or_else(|| corrupt("it is too short"))?))
    }
}

impl OpenRecord<'_> {
    /// Whether it has all columns of its table, and neither long values nor a transaction's number.
    ///
    /// # Errors
    /// XX001.
    pub fn is_plain(&self) -> Result<bool> {
        if self.count != self.layout.columns.len() || self.number.is_some() {
            return Ok(false);
        }
        let ends = self.record.get(self.ends..self.data);
        let (ends, _) = ends.ok_or_else(|| corrupt("it is too short"))?.as_chunks();
        let ends = ends.iter().map(|end| u16::from_le_bytes(*end));
        let (all, last) = ends.fold((0, 0), |(all, _), end| (all | end, end));
        if all & LONG != 0 {
            return Ok(false);
        }
        let last = usize::from(last);
        if self.record.len() != self.data + last {
            return Err(corrupt("it is not as long as it says"));
        }
        Ok(true)
    }
}

impl RowLayout {
    /// Writes a record that [`OpenRecord::is_plain`] anew, with these values of these columns, which are in order. All
    /// others are carried over as they lie. False if the record would be longer than `max`, which is less than ends can
    /// say: what `out` then holds is none.
    #[must_use]
    pub fn patch<'v>(
        &self,
        record: &[u8],
        values: impl Iterator<Item = (usize, Datum<'v>)>,
        max: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let max = max.min(usize::from(LONG));
        let (bitmap, (fixed, ends, data)) = (2, self.parts);
        out.clear();
        out.extend_from_slice(&record[..data]);
        // The fixed part in its place, and whether anything behind it moves.
        let mut carried = 0;
        for (column, datum) in values {
            let place = self.columns[column].place;
            let bit = 1 << (column % 8);
            let byte = &mut out[bitmap + column / 8];
            *byte = if datum.is_null() { *byte | bit } else { *byte & !bit };
            match place {
                Place::Fixed(offset) => {
                    let width = self.columns[column].form.width().unwrap_or(0);
                    let place = &mut out[fixed + offset as usize..][..width];
                    if datum.is_null() {
                        place.fill(0);
                    } else {
                        let stored = encode_at(datum, place);
                        assert_eq!(stored, width, "a value has its column's form");
                    }
                }
                // Up to here the varying ones are carried over, and their ends moved.
                Place::Varying(index) => {
                    carried = carry(record, (ends, data), carried..index as usize, out);
                    // Both parts are what fits by itself; what comes is asked before it is copied.
                    let bytes = varying_bytes(&datum);
                    if out.len() + bytes.len() > max {
                        return false;
                    }
                    out.extend_from_slice(bytes);
                    set_end(out, (ends, data), index as usize);
                    carried += 1;
                }
            }
        }
        carry(record, (ends, data), carried..self.total.1 as usize, out);
        out.len() <= max
    }
}

/// Says in a record, which is no longer than [`RowLayout::patch`] allows, that a varying column ends where the record does.
fn set_end(out: &mut [u8], (ends, data): (usize, usize), index: usize) {
    let end = u16::try_from(out.len() - data).expect("its length is asked before it grows");
    out[ends + 2 * index..][..2].copy_from_slice(&end.to_le_bytes());
}

/// Appends varying columns as they lie in another record of the same layout. Gives the one behind them.
fn carry(
    record: &[u8],
    (ends, data): (usize, usize),
    columns: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) -> usize {
    let end_of = |index: usize| {
        usize::from(u16::from_le_bytes([record[ends + 2 * index], record[ends + 2 * index + 1]]))
    };
    if columns.is_empty() {
        return columns.end;
    }
    let from = if columns.start == 0 { 0 } else { end_of(columns.start - 1) };
    let begin = out.len() - data;
    out.extend_from_slice(&record[data + from..data + end_of(columns.end - 1)]);
    if begin != from {
        for index in columns.clone() {
            let end = u16::try_from(end_of(index) - from + begin);
            let end = end.expect("a record fits a quarter page");
            out[ends + 2 * index..][..2].copy_from_slice(&end.to_le_bytes());
        }
    }
    columns.end
}

/// How long the stored form of a value is that has no fixed width; 0 for the others.
pub fn stored_bytes(datum: &Datum<'_>) -> usize {
    varying_bytes(datum).len()
}

/// The stored form of a value that has no fixed width; nothing of the others.
#[inline]
fn varying_bytes<'v>(datum: &Datum<'v>) -> &'v [u8] {
    match *datum {
        Datum::Text(v) => v.as_bytes(),
        Datum::Numeric(v)
        | Datum::Bytea(v)
        | Datum::Array(v)
        | Datum::Record(v)
        | Datum::Jsonb(v) => v,
        _ => &[],
    }
}

/// Puts a value's stored form, of fixed width, where `place` begins; how wide it is, and nothing where it has no such form or
/// there is no room for it.
#[inline]
fn encode_at(datum: Datum<'_>, place: &mut [u8]) -> usize {
    #[inline]
    fn put<const N: usize>(bytes: [u8; N], place: &mut [u8]) -> usize {
        match place.first_chunk_mut() {
            Some(place) => {
                *place = bytes;
                N
            }
            None => 0,
        }
    }
    match datum {
        Datum::Int4(v) | Datum::Date(v) => put(v.to_le_bytes(), place),
        Datum::Int8(v) | Datum::Time(v) | Datum::Timestamp(v) | Datum::TimestampTz(v) => {
            put(v.to_le_bytes(), place)
        }
        Datum::Bool(v) => put([u8::from(v)], place),
        Datum::Char(v) => put([v], place),
        Datum::Int2(v) => put(v.to_le_bytes(), place),
        Datum::Oid(v) => put(v.to_le_bytes(), place),
        Datum::Float4(v) => put(v.to_le_bytes(), place),
        Datum::Float8(v) => put(v.to_le_bytes(), place),
        Datum::TimeTz(v) => match place.split_at_mut_checked(8) {
            Some((micros, west)) => {
                put(v.micros.to_le_bytes(), micros) + put(v.west.to_le_bytes(), west)
            }
            None => 0,
        },
        Datum::Interval(v) => match place.split_at_mut_checked(8) {
            Some((micros, rest)) => {
                let mut behind = [0; 8];
                behind[..4].copy_from_slice(&v.days.to_le_bytes());
                behind[4..].copy_from_slice(&v.months.to_le_bytes());
                put(v.micros.to_le_bytes(), micros) + put(behind, rest)
            }
            None => 0,
        },
        Datum::Uuid(v) => put(*v, place),
        Datum::Null
        | Datum::Text(_)
        | Datum::Numeric(_)
        | Datum::Bytea(_)
        | Datum::Array(_)
        | Datum::Record(_)
        | Datum::Jsonb(_) => 0,
    }
}

/// The value of a column that a record has not, since it was written before the column came.
#[cold]
fn missing(place: &ColumnPlace, heap: &mut Heap) -> Result<Value> {
    match &place.missing {
        None => Ok(Value::Null),
        Some(bytes) => decode(place.form, bytes, heap),
    }
}

/// Appends a value's stored form; NULL has none.
pub fn encode(datum: Datum<'_>, out: &mut Vec<u8>) {
    match datum {
        Datum::Null => {}
        Datum::Bool(v) => out.push(u8::from(v)),
        Datum::Char(v) => out.push(v),
        Datum::Int2(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int4(v) | Datum::Date(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Int8(v) | Datum::Time(v) | Datum::Timestamp(v) | Datum::TimestampTz(v) => {
            out.extend_from_slice(&v.to_le_bytes());
        }
        Datum::TimeTz(v) => {
            out.extend_from_slice(&v.micros.to_le_bytes());
            out.extend_from_slice(&v.west.to_le_bytes());
        }
        Datum::Oid(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float4(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Float8(v) => out.extend_from_slice(&v.to_le_bytes()),
        Datum::Interval(v) => {
            out.extend_from_slice(&v.micros.to_le_bytes());
            out.extend_from_slice(&v.days.to_le_bytes());
            out.extend_from_slice(&v.months.to_le_bytes());
        }
        Datum::Uuid(v) => out.extend_from_slice(v),
        Datum::Text(v) => out.extend_from_slice(v.as_bytes()),
        Datum::Numeric(v)
        | Datum::Bytea(v)
        | Datum::Array(v)
        | Datum::Record(v)
        | Datum::Jsonb(v) => out.extend_from_slice(v),
    }
}

fn decode_fixed(form: Form, bytes: &[u8]) -> Result<Value> {
    fn take<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
        bytes.first_chunk().copied().ok_or_else(|| corrupt("a value is too short"))
    }
    Ok(match form {
        Form::Bool => Value::Bool(take::<1>(bytes)?[0] != 0),
        Form::Char => Value::Char(take::<1>(bytes)?[0]),
        Form::Int2 => Value::Int2(i16::from_le_bytes(take(bytes)?)),
        Form::Int4 => Value::Int4(i32::from_le_bytes(take(bytes)?)),
        Form::Int8 => Value::Int8(i64::from_le_bytes(take(bytes)?)),
        Form::Oid => Value::Oid(u32::from_le_bytes(take(bytes)?)),
        Form::Float4 => Value::Float4(f32::from_le_bytes(take(bytes)?)),
        Form::Float8 => Value::Float8(f64::from_le_bytes(take(bytes)?)),
        Form::Date => Value::Date(i32::from_le_bytes(take(bytes)?)),
        Form::Time => Value::Time(i64::from_le_bytes(take(bytes)?)),
        Form::TimeTz => {
            let all: [u8; 12] = take(bytes)?;
            Value::TimeTz(TimeTz {
                micros: i64::from_le_bytes(take(&all)?),
                west: i32::from_le_bytes(take(&all[8..])?),
            })
        }
        Form::Timestamp => Value::Timestamp(i64::from_le_bytes(take(bytes)?)),
        Form::TimestampTz => Value::TimestampTz(i64::from_le_bytes(take(bytes)?)),
        Form::Uuid => Value::Uuid(take(bytes)?),
        Form::Interval => {
            let all: [u8; 16] = take(bytes)?;
            Value::Interval(Interval {
                micros: i64::from_le_bytes(take(&all)?),
                days: i32::from_le_bytes(take(&all[8..])?),
                months: i32::from_le_bytes(take(&all[12..])?),
            })
        }
        Form::Numeric | Form::Text | Form::Bytea | Form::Array | Form::Record | Form::Jsonb => {
            return Err(corrupt("its value is not of fixed width"));
        }
    })
}

/// Reads a value's stored form, which is all of `bytes`.
///
/// # Errors
/// XX001.
pub fn decode(form: Form, bytes: &[u8], heap: &mut Heap) -> Result<Value> {
    Ok(match form {
        Form::Text => heap.store_text(utf8(bytes).ok_or_else(|| corrupt("its text is not UTF-8"))?),
        Form::Numeric => heap.store(Datum::Numeric(bytes)),
        Form::Bytea => heap.store(Datum::Bytea(bytes)),
        Form::Array => heap.store(Datum::Array(bytes)),
        Form::Record => heap.store(Datum::Record(bytes)),
        Form::Jsonb => heap.store(Datum::Jsonb(bytes)),
        _ => decode_fixed(form, bytes)?,
    })
}

#[cfg(test)]
mod tests;
