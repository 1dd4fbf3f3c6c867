//! The variables of a running body: one row, a column each, which expressions read as their parameters.

use crate::tuple::RowBuf;
use crate::types::{Datum, SqlType, array};
use std::sync::Arc;

/// The fields of a row that a variable holds, and the row's type.
#[derive(Debug, PartialEq)]
pub struct Shape {
    /// The composite type; `record` where it has none.
    pub ty: SqlType,
    /// Names and types.
    pub fields: Vec<(Arc<str>, SqlType)>,
}

/// The variables' values.
#[derive(Debug, Default)]
pub struct Frame {
    row: RowBuf,
    /// What rows variables hold at present, where their type does not say it.
    shapes: Vec<Option<Arc<Shape>>>,
    /// How many bytes have been written since what is not needed any more was given back.
    written: usize,
    limit: usize,
}

/// Bytes that are never given back.
const LEAST: usize = 4096;

/// The bytes of a value beside its place in a row.
fn bytes(datum: &Datum<'_>) -> usize {
    match datum {
        Datum::Text(text) => text.len(),
        Datum::Numeric(bytes)
        | Datum::Bytea(bytes)
        | Datum::Array(bytes)
        | Datum::Record(bytes)
        | Datum::Jsonb(bytes) => bytes.len(),
        _ => 0,
    }
}

impl Frame {
    /// So many variables, all NULL.
    #[must_use]
    pub fn new(count: usize) -> Frame {
        let mut row = RowBuf::new();
        row.set_nulls(count);
        Frame { row, shapes: vec![None; count], written: 0, limit: LEAST }
    }

    /// The values, by number.
    #[must_use]
    pub fn row(&self) -> &RowBuf {
        &self.row
    }

    /// A value.
    #[must_use]
    pub fn get(&self, variable: u32) -> Datum<'_> {
        self.row.get(variable as usize)
    }

    /// Gives a variable a value.
    pub fn set(&mut self, variable: u32, value: Datum<'_>) {
        self.written += bytes(&value);
        self.row.set(variable as usize, value);
        if self.written > self.limit {
            self.compact();
        }
    }

    /// Gives a variable a value that borrows nothing.
    #[inline]
    pub fn set_plain(&mut self, variable: u32, value: Datum<'static>) {
        self.row.set_plain(variable as usize, value);
    }

    /// Replaces an element of a variable that is an array, where it lies; whether that could be done.
    pub fn replace_element(&mut self, variable: u32, subscript: i32, value: &Datum<'_>) -> bool {
        let stored = self.row.array_mut(variable as usize);
        stored.is_some_and(|stored| array::replace_in_place(stored, subscript, value))
    }

    /// The values, for a statement that takes them as its parameters and gives them back by [`Frame::put_row`].
    pub fn take_row(&mut self) -> RowBuf {
        std::mem::take(&mut self.row)
    }

    /// The values are back.
    pub fn put_row(&mut self, row: RowBuf) {
        self.row = row;
    }

    /// Gives back what values took that have been replaced.
    fn compact(&mut self) {
        let mut row = RowBuf::new();
        for column in 0..self.row.len() {
            row.push_column(&self.row, column);
        }
        let live: usize = row.iter().map(|value| bytes(&value)).sum();
        (self.row, self.written, self.limit) = (row, live, LEAST.max(2 * live + LEAST));
    }

    /// The fields of the row that a variable holds; none: it never had one.
    #[must_use]
    pub fn shape(&self, variable: u32) -> Option<&Arc<Shape>> {
        self.shapes[variable as usize].as_ref()
    }

    /// All of these.
    #[must_use]
    pub fn shapes(&self) -> &[Option<Arc<Shape>>] {
        &self.shapes
    }

    /// A variable is going to hold rows of these fields.
    pub fn set_shape(&mut self, variable: u32, shape: Option<Arc<Shape>>) {
        self.shapes[variable as usize] = shape;
    }
}
