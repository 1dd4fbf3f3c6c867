//! The variables of a running body: one row, a column each, which expressions read as their parameters.

use crate::catalog::builtin;
use crate::error::Result;
use crate::tuple::{Heap, RowBuf, Value};
use crate::types::{Datum, SqlType, array, oids, record};
use std::sync::Arc;

/// The fields of a row that a variable holds, and the row's type.
#[derive(Debug, PartialEq)]
pub struct Shape {
    /// The composite type; `record` where it has none.
    pub ty: SqlType,
    /// Names and types.
    pub fields: Vec<(Arc<str>, SqlType)>,
    /// What such a row begins with.
    head: Vec<u8>,
}

impl Shape {
    /// Of rows of this type, which have these fields.
    #[must_use]
    pub fn new(ty: SqlType, fields: Vec<(Arc<str>, SqlType)>) -> Shape {
        let mut head = Vec::new();
        let names = fields.iter().map(|(name, _)| name);
        // Only a row of no type of its own says how its fields are called.
        let names = names.take(if ty.oid.0 == oids::RECORD { usize::MAX } else { 0 });
        record::put_head(fields.len(), names, &mut head);
        Shape { ty, fields, head }
    }
}

/// The variables' values.
#[derive(Debug, Default)]
pub struct Frame {
    row: RowBuf,
    /// What rows variables hold at present, where their type does not say it.
    shapes: Vec<Option<Arc<Shape>>>,
    /// How many bytes are left of values that have been replaced, and how many may be.
    left: usize,
    limit: usize,
    /// Where rows are put together.
    scratch: Vec<u8>,
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
        Frame { row, shapes: vec![None; count], left: 0, limit: LEAST, scratch: Vec::new() }
    }

    /// What its values occupy.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.row.capacity_bytes() + self.scratch.capacity()
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
        self.left += self.row.replace(variable as usize, value);
        if self.left > self.limit {
            self.compact();
        }
    }

    /// Gives a variable a row of these fields.
    ///
    /// # Errors
    /// 54000: it is too long.
    pub fn set_record<'v>(
        &mut self,
        variable: u32,
        shape: &Shape,
        values: impl Iterator<Item = Datum<'v>>,
    ) -> Result<()> {
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        row.extend_from_slice(&shape.head);
        for ((_, ty), value) in shape.fields.iter().zip(values) {
            record::put_field(*ty, &value, &mut row);
        }
        self.take_record(variable, row)
    }

    /// Gives a field of a variable that is a row another value; whether it is one that has such a field.
    ///
    /// # Errors
    /// 54000: the row becomes too long.
    pub fn set_field(
        &mut self,
        (variable, field): (u32, usize),
        value: (SqlType, &Datum<'_>),
    ) -> Result<bool> {
        self.replace_record(variable, |_, bytes, row| {
            record::put_replaced(bytes, field, value, row)
        })
    }

    /// Gives a field of a variable that is a record the value of another variable, of a type; whether it is one that has such a
    /// field, and takes values of that type as they are.
    ///
    /// # Errors
    /// 54000: the row becomes too long.
    pub fn set_field_of(
        &mut self,
        (variable, name): (u32, &str),
        (ty, from): (SqlType, usize),
    ) -> Result<bool> {
        let Some(shape) = self.shapes.get(variable as usize).and_then(Option::as_ref) else {
            return Ok(false);
        };
        let found = shape.fields.iter().position(|(known, _)| **known == *name);
        let Some(field) = found.filter(|_| !builtin::is_domain(shape.ty.oid.0)) else {
            return Ok(false);
        };
        let own = shape.fields[field].1;
        if own.oid != ty.oid || own.typmod >= 0 && own.typmod != ty.typmod {
            return Ok(false);
        }
        self.replace_record(variable, |values, bytes, row| {
            record::put_replaced(bytes, field, (own, &values.get(from)), row)
        })
    }

    /// Has `put` make another row of the one that a variable holds; whether it holds one, and that was done.
    fn replace_record(
        &mut self,
        variable: u32,
        put: impl FnOnce(&RowBuf, &[u8], &mut Vec<u8>) -> bool,
    ) -> Result<bool> {
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        let replaced = match self.row.get(variable as usize) {
            Datum::Record(bytes) => put(&self.row, bytes, &mut row),
            _ => false,
        };
        if !replaced {
            self.scratch = row;
            return Ok(false);
        }
        self.take_record(variable, row).map(|()| true)
    }

    /// Gives a variable a row that has been put together.
    fn take_record(&mut self, variable: u32, row: Vec<u8>) -> Result<()> {
        let fits = record::check(&row);
        if fits.is_ok() {
            self.set(variable, Datum::Record(&row));
        }
        if row.capacity() <= LEAST {
            self.scratch = row;
        }
        fits
    }

    /// Gives a variable a value that borrows nothing.
    #[inline]
    pub fn set_plain(&mut self, variable: u32, value: Datum<'static>) {
        self.row.set_plain(variable as usize, value);
    }

    /// The values and their heap.
    #[inline]
    pub fn parts_mut(&mut self) -> (&mut [Value], &mut Heap) {
        self.row.parts_mut()
    }

    /// Begins anew with these variables and what a program keeps beside them.
    pub fn begin(&mut self, variables: usize, layout: &RowBuf) {
        self.row.copy_from(layout);
        self.shapes.clear();
        self.shapes.resize(variables, None);
        (self.left, self.limit) = (0, LEAST);
    }

    /// Gives what a program keeps beside the variables its places: the constants of a layout.
    pub fn lay_out(&mut self, layout: &RowBuf, constants: std::ops::Range<usize>) {
        self.row.widen(layout.len());
        for column in constants {
            self.row.set_column(column, layout, column);
        }
    }

    /// Takes a column of another row.
    #[inline]
    pub fn set_column(&mut self, variable: usize, source: &RowBuf, from: usize) {
        let taken = self.row.set_column(variable, source, from);
        self.taken(taken);
    }

    /// A variable is what another one is.
    #[inline]
    pub fn copy_column(&mut self, from: usize, to: usize) {
        let taken = self.row.copy_column(from, to);
        self.taken(taken);
    }

    /// So many bytes have been taken: as many may have been left.
    #[inline]
    fn taken(&mut self, bytes: usize) {
        self.left += bytes;
        if self.left > self.limit {
            self.compact();
        }
    }

    /// Appends to a variable that is a text; whether it is one.
    pub fn append_text(&mut self, variable: usize, more: &str) -> bool {
        let Some(taken) = self.row.append_text(variable, more) else { return false };
        self.taken(taken);
        true
    }

    /// Replaces an element of a variable that is an array, where it lies; whether that could be done.
    pub fn replace_element(&mut self, variable: u32, subscript: i32, value: &Datum<'_>) -> bool {
        let stored = self.row.array_mut(variable as usize);
        stored.is_some_and(|stored| array::replace_in_place(stored, subscript, value))
    }

    /// The same of a number, for what changes many.
    #[inline]
    pub fn replace_number(&mut self, variable: u32, subscript: i32, value: &Datum<'_>) -> bool {
        let stored = self.row.array_mut(variable as usize);
        stored.is_some_and(|stored| array::set_number_at(stored, subscript, value))
    }

    /// Gives a variable that is an array of numbers another one behind its last; whether that could be done.
    pub fn append_number(&mut self, variable: u32, subscript: i32, value: &Datum<'_>) -> bool {
        let stored = self.row.array_mut(variable as usize);
        let grown = stored.and_then(|stored| array::grow_by_number(stored, subscript, value));
        let Some((slot, length)) = grown else { return false };
        let taken = self.row.append_array(variable as usize, &slot[..length]);
        self.taken(taken.unwrap_or_default());
        true
    }

    /// Gives a variable that is an array of one dimension the value of another variable behind its last element; whether that
    /// could be done.
    pub fn append_element(&mut self, variable: u32, value: u32, slot: &mut Vec<u8>) -> bool {
        let Datum::Array(stored) = self.get(variable) else { return false };
        if !array::slot_behind(stored, &self.get(value), slot) {
            return false;
        }
        if let Some(stored) = self.row.array_mut(variable as usize) {
            array::count_one_more(stored);
        }
        let taken = self.row.append_array(variable as usize, slot);
        self.taken(taken.unwrap_or_default());
        true
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
        (self.row, self.left, self.limit) = (row, 0, live + LEAST);
    }

    /// The fields of the row that a variable holds; none: it never had one.
    #[must_use]
    pub fn shape(&self, variable: u32) -> Option<&Arc<Shape>> {
        self.shapes[variable as usize].as_ref()
    }

    /// Whether a variable holds rows of these fields, or never had one.
    #[must_use]
    #[inline]
    pub fn is_shaped(&self, variable: u32, shape: Option<&Arc<Shape>>) -> bool {
        match (self.shape(variable), shape) {
            (Some(own), Some(shape)) => Arc::ptr_eq(own, shape) || own == shape,
            (None, None) => true,
            _ => false,
        }
    }

    /// All of these.
    #[must_use]
    pub fn shapes(&self) -> &[Option<Arc<Shape>>] {
        &self.shapes
    }

    /// A variable is going to hold rows of these fields, if it does not yet.
    #[inline]
    pub fn begin_rows(&mut self, variable: u32, shape: &Arc<Shape>) {
        if !self.shape(variable).is_some_and(|known| Arc::ptr_eq(known, shape)) {
            self.set_shape(variable, Some(Arc::clone(shape)));
        }
    }

    /// A variable is going to hold rows of these fields.
    pub fn set_shape(&mut self, variable: u32, shape: Option<Arc<Shape>>) {
        self.shapes[variable as usize] = shape;
    }
}
