//! Owned values: what operators keep of rows between calls.
//!
//! A [`Datum`] borrows, so it cannot outlive the page copy, message or arena it was made from. A [`Value`] is the same
//! thing with its bytes in a [`Heap`] beside it. Text has a heap of its own, a `String`: reading it back needs no check of
//! its encoding. A cleared row keeps its memory, so that a plan that runs again allocates nothing.

use crate::account;
use crate::{Datum, Interval, TimeTz};
use std::ops::Range;

/// Where the bytes of a value lie in its heap. Not narrower: a row of several long values is longer than 4 GiB where memory
/// allows, and a [`Value`] has the room, for the sake of its intervals.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    start: usize,
    length: usize,
}

/// Texts that were copied to a heap as one, to become values one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts {
    /// How many there are.
    pub count: usize,
    start: usize,
    length: usize,
}

/// A value whose bytes, if it has any, lie in the heap that made it.
#[derive(Clone, Copy, Debug, Default)]
pub enum Value {
    /// NULL.
    #[default]
    Null,
    /// bool.
    Bool(bool),
    /// int2.
    Int2(i16),
    /// int4.
    Int4(i32),
    /// int8.
    Int8(i64),
    /// oid.
    Oid(u32),
    /// float4.
    Float4(f32),
    /// float8.
    Float8(f64),
    /// "char".
    Char(u8),
    /// numeric.
    Numeric(Span),
    /// Text-like.
    Text(Span),
    /// bytea.
    Bytea(Span),
    /// date.
    Date(i32),
    /// time.
    Time(i64),
    /// timetz.
    TimeTz(TimeTz),
    /// timestamp.
    Timestamp(i64),
    /// timestamptz.
    TimestampTz(i64),
    /// interval.
    Interval(Interval),
    /// An array.
    Array(Span),
    /// A row.
    Record(Span),
    /// uuid.
    Uuid([u8; 16]),
    /// jsonb.
    Jsonb(Span),
}

impl Value {
    /// Itself, where it has no bytes and a datum holds it.
    #[inline]
    pub(crate) fn plain(self) -> Option<Datum<'static>> {
        Some(match self {
            Value::Null => Datum::Null,
            Value::Bool(v) => Datum::Bool(v),
            Value::Int2(v) => Datum::Int2(v),
            Value::Int4(v) => Datum::Int4(v),
            Value::Int8(v) => Datum::Int8(v),
            Value::Oid(v) => Datum::Oid(v),
            Value::Float4(v) => Datum::Float4(v),
            Value::Float8(v) => Datum::Float8(v),
            Value::Char(v) => Datum::Char(v),
            Value::Date(v) => Datum::Date(v),
            Value::Time(v) => Datum::Time(v),
            Value::TimeTz(v) => Datum::TimeTz(v),
            Value::Timestamp(v) => Datum::Timestamp(v),
            Value::TimestampTz(v) => Datum::TimestampTz(v),
            Value::Numeric(_)
            | Value::Text(_)
            | Value::Bytea(_)
            | Value::Interval(_)
            | Value::Array(_)
            | Value::Record(_)
            | Value::Uuid(_)
            | Value::Jsonb(_) => return None,
        })
    }
}

/// The bytes of values.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    bytes: Vec<u8>,
    text: String,
}

impl Heap {
    /// The same bytes once more.
    fn twin(&mut self, Span { start, length }: Span) -> Span {
        let behind = self.bytes.len();
        self.bytes.extend_from_within(start..start + length);
        Span { start: behind, length }
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.text.clear();
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.text.len()
    }

    #[inline]
    fn span(&mut self, bytes: &[u8]) -> Span {
        let start = self.bytes.len();
        match account::is_large(bytes.len()) {
            false => self.bytes.extend_from_slice(bytes),
            true => self.take_large(bytes),
        }
        Span { start, length: bytes.len() }
    }

    #[inline]
    fn text_span(&mut self, text: &str) -> Span {
        let start = self.text.len();
        match account::is_large(text.len()) {
            false => self.text.push_str(text),
            true => self.take_large_text(text),
        }
        Span { start, length: text.len() }
    }

    /// Appends many bytes, a stretch at a time.
    #[cold]
    fn take_large(&mut self, bytes: &[u8]) {
        account::insist_on(bytes.len());
        self.bytes.reserve(bytes.len());
        account::byte_stretches(bytes).for_each(|stretch| self.bytes.extend_from_slice(stretch));
    }

    /// As [`Heap::take_large`], of a text.
    #[cold]
    fn take_large_text(&mut self, text: &str) {
        account::insist_on(text.len());
        self.text.reserve(text.len());
        account::stretches(text).for_each(|stretch| self.text.push_str(stretch));
    }

    /// The bytes of a value.
    #[inline]
    fn bytes_of(&self, span: Span) -> &[u8] {
        &self.bytes[span.start..][..span.length]
    }

    /// The text of a value.
    #[inline]
    fn text_of(&self, span: Span) -> &str {
        &self.text[span.start..][..span.length]
    }

    /// Copies so many texts in, as one.
    pub fn store_texts(&mut self, count: usize, texts: &str) -> Texts {
        let Span { start, length } = self.text_span(texts);
        Texts { count, start, length }
    }

    /// One of such texts, by where it lies among them; none where no text does.
    #[inline]
    pub(crate) fn part(&self, texts: Texts, range: Range<usize>) -> Option<Value> {
        let is_edge =
            |at: usize| at <= texts.length && self.text.is_char_boundary(texts.start + at);
        let length = range.end.checked_sub(range.start)?;
        let start = texts.start + range.start;
        (is_edge(range.start) && is_edge(range.end)).then_some(Value::Text(Span { start, length }))
    }

    /// Copies a datum in. A long one is copied a stretch at a time, with [`account::insist`] at each.
    #[inline]
    pub fn store(&mut self, datum: Datum<'_>) -> Value {
        match datum {
            Datum::Null => Value::Null,
            Datum::Int4(v) => Value::Int4(v),
            Datum::Int8(v) => Value::Int8(v),
            other => self.store_other(other),
        }
    }

    /// Copies a text in.
    #[inline]
    pub fn store_text(&mut self, text: &str) -> Value {
        Value::Text(self.text_span(text))
    }

    /// What is not seen to at once.
    fn store_other(&mut self, datum: Datum<'_>) -> Value {
        match datum {
            Datum::Null => Value::Null,
            Datum::Bool(v) => Value::Bool(v),
            Datum::Int2(v) => Value::Int2(v),
            Datum::Int4(v) => Value::Int4(v),
            Datum::Int8(v) => Value::Int8(v),
            Datum::Oid(v) => Value::Oid(v),
            Datum::Float4(v) => Value::Float4(v),
            Datum::Float8(v) => Value::Float8(v),
            Datum::Char(v) => Value::Char(v),
            Datum::Date(v) => Value::Date(v),
            Datum::Time(v) => Value::Time(v),
            Datum::TimeTz(v) => Value::TimeTz(v),
            Datum::Timestamp(v) => Value::Timestamp(v),
            Datum::TimestampTz(v) => Value::TimestampTz(v),
            Datum::Interval(v) => Value::Interval(*v),
            Datum::Uuid(v) => Value::Uuid(*v),
            Datum::Text(v) => Value::Text(self.text_span(v)),
            Datum::Numeric(v) => Value::Numeric(self.span(v)),
            Datum::Bytea(v) => Value::Bytea(self.span(v)),
            Datum::Array(v) => Value::Array(self.span(v)),
            Datum::Record(v) => Value::Record(self.span(v)),
            Datum::Jsonb(v) => Value::Jsonb(self.span(v)),
        }
    }

    /// Copies a value of another heap in: what has no bytes is taken as it is.
    #[inline(always)]
    fn carry(&mut self, from: &Heap, value: Value) -> Value {
        match value {
            Value::Text(_)
            | Value::Numeric(_)
            | Value::Bytea(_)
            | Value::Array(_)
            | Value::Record(_)
            | Value::Jsonb(_) => self.carry_bytes(from, value),
            Value::Null
            | Value::Bool(_)
            | Value::Int2(_)
            | Value::Int4(_)
            | Value::Int8(_)
            | Value::Oid(_)
            | Value::Float4(_)
            | Value::Float8(_)
            | Value::Char(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::TimeTz(_)
            | Value::Timestamp(_)
            | Value::TimestampTz(_)
            | Value::Interval(_)
            | Value::Uuid(_) => value,
        }
    }

    /// A value of another heap, with its bytes.
    fn carry_bytes(&mut self, from: &Heap, value: Value) -> Value {
        match value {
            Value::Text(span) => Value::Text(self.text_span(from.text_of(span))),
            Value::Numeric(span) => Value::Numeric(self.span(from.bytes_of(span))),
            Value::Bytea(span) => Value::Bytea(self.span(from.bytes_of(span))),
            Value::Array(span) => Value::Array(self.span(from.bytes_of(span))),
            Value::Record(span) => Value::Record(self.span(from.bytes_of(span))),
            Value::Jsonb(span) => Value::Jsonb(self.span(from.bytes_of(span))),
            plain => plain,
        }
    }

    /// The datum that a value of this heap stands for.
    #[must_use]
    pub fn view<'a>(&'a self, value: &'a Value) -> Datum<'a> {
        let bytes = |span: &Span| self.bytes_of(*span);
        match value {
            Value::Null => Datum::Null,
            Value::Bool(v) => Datum::Bool(*v),
            Value::Int2(v) => Datum::Int2(*v),
            Value::Int4(v) => Datum::Int4(*v),
            Value::Int8(v) => Datum::Int8(*v),
            Value::Oid(v) => Datum::Oid(*v),
            Value::Float4(v) => Datum::Float4(*v),
            Value::Float8(v) => Datum::Float8(*v),
            Value::Char(v) => Datum::Char(*v),
            Value::Date(v) => Datum::Date(*v),
            Value::Time(v) => Datum::Time(*v),
            Value::TimeTz(v) => Datum::TimeTz(*v),
            Value::Timestamp(v) => Datum::Timestamp(*v),
            Value::TimestampTz(v) => Datum::TimestampTz(*v),
            Value::Interval(v) => Datum::Interval(v),
            Value::Uuid(v) => Datum::Uuid(v),
            Value::Text(span) => Datum::Text(self.text_of(*span)),
            Value::Numeric(span) => Datum::Numeric(bytes(span)),
            Value::Bytea(span) => Datum::Bytea(bytes(span)),
            Value::Array(span) => Datum::Array(bytes(span)),
            Value::Record(span) => Datum::Record(bytes(span)),
            Value::Jsonb(span) => Datum::Jsonb(bytes(span)),
        }
    }
}

/// One row.
#[derive(Clone, Debug, Default)]
pub struct RowBuf {
    values: Vec<Value>,
    heap: Heap,
}

impl RowBuf {
    /// An empty row.
    #[must_use]
    pub fn new() -> RowBuf {
        RowBuf::default()
    }

    /// How many columns it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What the memory for its values occupies.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.heap.bytes.capacity() + self.heap.text.capacity()
    }

    /// Makes it a row of no columns, and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.heap.clear();
    }

    /// Makes it a row of `width` NULLs.
    #[inline]
    pub fn set_nulls(&mut self, width: usize) {
        self.heap.clear();
        self.values.truncate(width);
        self.values.fill(Value::Null);
        self.values.resize(width, Value::Null);
    }

    /// Begins a row of `width` columns anew. Whoever calls this sets every column that is read of it: the others are what
    /// they were, or NULL where the width is another.
    #[inline]
    pub fn begin(&mut self, width: usize) {
        self.heap.clear();
        if self.values.len() != width {
            self.set_nulls(width);
        }
    }

    /// How many bytes its values have of their own.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.heap.bytes()
    }

    /// Appends a column.
    #[inline]
    pub fn push(&mut self, datum: Datum<'_>) {
        let value = self.heap.store(datum);
        self.values.push(value);
    }

    /// Appends a column of another row.
    #[inline]
    pub fn push_column(&mut self, source: &RowBuf, column: usize) {
        let value = self.heap.carry(&source.heap, source.values[column]);
        self.values.push(value);
    }

    /// Appends the columns of a row of a set.
    #[inline]
    pub fn push_row(&mut self, source: &RowSet, row: usize) {
        for value in &source.values[row * source.width..][..source.width] {
            let value = self.heap.carry(&source.heap, *value);
            self.values.push(value);
        }
    }

    /// Appends a column that `read` makes in this row's heap.
    ///
    /// # Errors
    /// Those of `read`: then nothing is appended.
    #[inline]
    pub fn push_with<E>(
        &mut self,
        read: impl FnOnce(&mut Heap) -> Result<Value, E>,
    ) -> Result<(), E> {
        let value = read(&mut self.heap)?;
        self.values.push(value);
        Ok(())
    }

    /// Replaces a column. The bytes of what stood there stay until the row is cleared.
    pub fn set(&mut self, column: usize, datum: Datum<'_>) {
        self.values[column] = self.heap.store(datum);
    }

    /// As [`RowBuf::set`], of a column whose bytes are no other column's: where they have room for the new ones, these take
    /// their place. Gives how many bytes stand there now that are nobody's.
    #[inline]
    pub fn replace(&mut self, column: usize, datum: Datum<'_>) -> usize {
        let old = self.values[column];
        let (span, bytes) = match (old, datum) {
            (Value::Record(span), Datum::Record(bytes))
            | (Value::Numeric(span), Datum::Numeric(bytes))
            | (Value::Array(span), Datum::Array(bytes))
            | (Value::Bytea(span), Datum::Bytea(bytes))
            | (Value::Jsonb(span), Datum::Jsonb(bytes))
                if bytes.len() <= span.length =>
            {
                (Span { length: bytes.len(), ..span }, bytes)
            }
            _ => {
                let left = match old {
                    Value::Text(span)
                    | Value::Record(span)
                    | Value::Numeric(span)
                    | Value::Array(span)
                    | Value::Bytea(span)
                    | Value::Jsonb(span) => span.length,
                    _ => 0,
                };
                self.values[column] = self.heap.store(datum);
                return left;
            }
        };
        self.heap.bytes[span.start..][..span.length].copy_from_slice(bytes);
        self.values[column] = match old {
            Value::Record(_) => Value::Record(span),
            Value::Numeric(_) => Value::Numeric(span),
            Value::Array(_) => Value::Array(span),
            Value::Bytea(_) => Value::Bytea(span),
            _ => Value::Jsonb(span),
        };
        0
    }

    /// Replaces a column by a value that borrows nothing.
    #[inline]
    pub fn set_plain(&mut self, column: usize, datum: Datum<'static>) {
        self.values[column] = match datum {
            Datum::Int4(v) => Value::Int4(v),
            Datum::Int8(v) => Value::Int8(v),
            Datum::Bool(v) => Value::Bool(v),
            other => self.heap.store(other),
        };
    }

    /// Whether a column is NULL.
    #[must_use]
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.values[column], Value::Null)
    }

    /// A column that is an integer.
    #[must_use]
    #[inline]
    pub fn integer(&self, column: usize) -> Option<i64> {
        match self.values[column] {
            Value::Int4(v) => Some(i64::from(v)),
            Value::Int8(v) => Some(v),
            Value::Int2(v) => Some(i64::from(v)),
            _ => None,
        }
    }

    /// The bytes of a column that is an array.
    #[must_use]
    #[inline]
    pub fn array(&self, column: usize) -> Option<&[u8]> {
        match self.values[column] {
            Value::Array(span) => Some(self.heap.bytes_of(span)),
            _ => None,
        }
    }

    /// The bytes of a column that is an array, to be changed where they are.
    pub fn array_mut(&mut self, column: usize) -> Option<&mut [u8]> {
        match self.values[column] {
            Value::Array(Span { start, length }) => self.heap.bytes.get_mut(start..start + length),
            _ => None,
        }
    }

    /// The values and the heap in which their bytes lie, for who changes several at a time. A value that is put there lies in
    /// this heap, or has no bytes.
    #[inline]
    pub fn parts_mut(&mut self) -> (&mut [Value], &mut Heap) {
        (&mut self.values, &mut self.heap)
    }

    /// Makes it a row of `width` columns: those that come are NULL, those that are there stay.
    pub fn widen(&mut self, width: usize) {
        self.values.resize(width, Value::Null);
    }

    /// Replaces a column by one of another row; how many bytes that took.
    #[inline]
    pub fn set_column(&mut self, column: usize, source: &RowBuf, from: usize) -> usize {
        let before = self.heap.bytes();
        self.values[column] = self.heap.carry(&source.heap, source.values[from]);
        self.heap.bytes() - before
    }

    /// Replaces a column by another one of the row; how many bytes that took. Those that [`RowBuf::replace`] and
    /// [`RowBuf::array_mut`] change where they are become each column's own; a text's stay where they are, for both.
    #[inline]
    pub fn copy_column(&mut self, from: usize, to: usize) -> usize {
        let value = self.values[from];
        self.values[to] = match value {
            Value::Record(span) => Value::Record(self.heap.twin(span)),
            Value::Numeric(span) => Value::Numeric(self.heap.twin(span)),
            Value::Array(span) => Value::Array(self.heap.twin(span)),
            Value::Bytea(span) => Value::Bytea(self.heap.twin(span)),
            Value::Jsonb(span) => Value::Jsonb(self.heap.twin(span)),
            other => {
                self.values[to] = other;
                return 0;
            }
        };
        match self.values[to] {
            Value::Record(span)
            | Value::Numeric(span)
            | Value::Array(span)
            | Value::Bytea(span)
            | Value::Jsonb(span) => span.length,
            _ => 0,
        }
    }

    /// Appends to a column that is a text, where it lies if it lies last; how many bytes that took, nothing where it is none.
    pub fn append_text(&mut self, column: usize, more: &str) -> Option<usize> {
        let Value::Text(Span { start, length }) = self.values[column] else { return None };
        let text = &mut self.heap.text;
        let before = text.len();
        let start = if start + length == before {
            start
        } else {
            let whole = text[start..start + length].to_owned();
            text.push_str(&whole);
            before
        };
        text.push_str(more);
        self.values[column] = Value::Text(Span { start, length: length + more.len() });
        Some(text.len() - before)
    }

    /// Appends to the bytes of a column that is an array, where they lie if they lie last; how many bytes that took, nothing
    /// where it is none.
    pub fn append_array(&mut self, column: usize, more: &[u8]) -> Option<usize> {
        let Value::Array(mut span) = self.values[column] else { return None };
        let before = self.heap.bytes.len();
        if span.start + span.length != before {
            span = self.heap.twin(span);
        }
        self.heap.bytes.extend_from_slice(more);
        span.length += more.len();
        self.values[column] = Value::Array(span);
        Some(self.heap.bytes.len() - before)
    }

    /// A column.
    #[must_use]
    #[inline]
    pub fn get(&self, column: usize) -> Datum<'_> {
        match &self.values[column] {
            Value::Int4(v) => Datum::Int4(*v),
            Value::Int8(v) => Datum::Int8(*v),
            other => self.heap.view(other),
        }
    }

    /// All columns in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Datum<'_>> {
        self.values.iter().map(|value| self.heap.view(value))
    }

    /// Takes all columns of another row.
    pub fn copy_from(&mut self, other: &RowBuf) {
        self.values.clone_from(&other.values);
        self.heap.bytes.clone_from(&other.heap.bytes);
        self.heap.text.clone_from(&other.heap.text);
    }
}

/// Rows of one width, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    width: usize,
    values: Vec<Value>,
    heap: Heap,
    rows: usize,
}

impl RowSet {
    /// No rows of `width` columns.
    #[must_use]
    pub fn new(width: usize) -> RowSet {
        RowSet { width, ..RowSet::default() }
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Forgets all rows, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.values.clear();
        self.heap.clear();
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.values.len() * size_of::<Value>() + self.heap.bytes()
    }

    /// What the memory for its rows occupies.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        let values = self.values.capacity() * size_of::<Value>();
        values + self.heap.bytes.capacity() + self.heap.text.capacity()
    }

    /// Appends a row.
    pub fn push<'a>(&mut self, row: impl IntoIterator<Item = Datum<'a>>) {
        let before = self.values.len();
        for datum in row {
            let value = self.heap.store(datum);
            self.values.push(value);
        }
        assert_eq!(self.values.len() - before, self.width, "rows of a set are of one width");
        self.rows += 1;
    }

    /// Appends a row of columns of other rows.
    pub fn push_columns<'r>(&mut self, columns: impl Iterator<Item = (&'r RowBuf, usize)>) {
        let before = self.values.len();
        for (row, column) in columns {
            let value = self.heap.carry(&row.heap, row.values[column]);
            self.values.push(value);
        }
        assert_eq!(self.values.len() - before, self.width, "rows of a set are of one width");
        self.rows += 1;
    }

    /// Appends a row of the columns that `fill` pushes.
    pub fn push_with(&mut self, fill: impl FnOnce(&mut RowWriter<'_>)) {
        let before = self.values.len();
        fill(&mut RowWriter { values: &mut self.values, heap: &mut self.heap });
        assert_eq!(self.values.len() - before, self.width, "rows of a set are of one width");
        self.rows += 1;
    }

    /// Appends a row whose columns `read` makes, one after the other, in the set's heap.
    ///
    /// # Errors
    /// Those of `read`: then nothing is appended.
    pub fn push_read<E>(
        &mut self,
        mut read: impl FnMut(&mut Heap) -> Result<Value, E>,
    ) -> Result<(), E> {
        let before = self.values.len();
        for _ in 0..self.width {
            match read(&mut self.heap) {
                Ok(value) => self.values.push(value),
                Err(error) => {
                    self.values.truncate(before);
                    return Err(error);
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// The same memory, for rows of `width` columns.
    #[must_use]
    pub fn cleared(mut self, width: usize) -> RowSet {
        self.clear();
        RowSet { width, ..self }
    }

    /// A column of a row.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> Datum<'_> {
        self.heap.view(&self.values[row * self.width + column])
    }

    /// A row's columns.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = Datum<'_>> {
        let values = &self.values[row * self.width..][..self.width];
        values.iter().map(|value| self.heap.view(value))
    }
}

/// A row of a [`RowSet`] that is being made.
pub struct RowWriter<'s> {
    values: &'s mut Vec<Value>,
    heap: &'s mut Heap,
}

impl RowWriter<'_> {
    /// Appends a column.
    pub fn push(&mut self, datum: Datum<'_>) {
        let value = self.heap.store(datum);
        self.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_back_what_was_put_in() {
        let interval = Interval { months: 1, days: 2, micros: 3 };
        let mut row = RowBuf::new();
        row.push(Datum::Int4(7));
        row.push(Datum::Text("Füße"));
        row.push(Datum::Null);
        row.push(Datum::Interval(&interval));
        row.push(Datum::Bytea(b"\0\xFF"));
        row.set(2, Datum::Text("later"));
        assert!(matches!(row.get(0), Datum::Int4(7)));
        assert!(matches!(row.get(1), Datum::Text("Füße")));
        assert!(matches!(row.get(2), Datum::Text("later")));
        assert!(matches!(row.get(3), Datum::Interval(i) if *i == interval));
        assert!(matches!(row.get(4), Datum::Bytea(b"\0\xFF")));
        row.set_nulls(2);
        assert_eq!(row.len(), 2);
        assert!(row.iter().all(|datum| datum.is_null()));
    }

    #[test]
    fn a_set_keeps_rows_apart() {
        let mut set = RowSet::new(2);
        set.push([Datum::Int8(1), Datum::Text("a")]);
        set.push([Datum::Int8(2), Datum::Text("bc")]);
        assert_eq!(set.len(), 2);
        assert!(matches!(set.get(1, 1), Datum::Text("bc")));
        assert!(matches!(set.row(0).next(), Some(Datum::Int8(1))));
    }
}
