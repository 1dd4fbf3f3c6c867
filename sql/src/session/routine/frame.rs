//! The variables of a running body: one row, a column each, which expressions read as their parameters.
//!
//! A row that comes field by field, of a loop, a query or a change that a trigger fires for, stays so beside that: most bodies
//! look at its fields alone. It becomes one value ([`Frame::fold`]) where somebody reads it as one.

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

/// A row that a variable holds field by field.
#[derive(Debug)]
struct Unfolded {
    variable: u32,
    shape: Arc<Shape>,
    fields: RowBuf,
    /// Whether it is what the variable holds, and whether the variable's own column is that, too.
    held: bool,
    folded: bool,
    /// How many bytes its fields may have before those that have been replaced are given back.
    limit: usize,
}

impl Unfolded {
    /// Gives a field the value of a column.
    fn set(&mut self, field: usize, source: &RowBuf, from: usize) {
        self.folded = false;
        self.fields.set_column(field, source, from);
        if self.fields.bytes() > self.limit {
            self.fields = compacted(&self.fields);
            self.limit = 2 * self.fields.bytes() + LEAST;
        }
    }
}

/// A row without what is left of values that have been replaced.
fn compacted(row: &RowBuf) -> RowBuf {
    let mut compact = RowBuf::new();
    (0..row.len()).for_each(|column| compact.push_column(row, column));
    compact
}

/// The variables' values.
#[derive(Debug, Default)]
pub struct Frame {
    row: RowBuf,
    /// The rows that variables hold field by field, and have held: their memory is used again.
    unfolded: Vec<Unfolded>,
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
        let (unfolded, scratch) = (Vec::new(), Vec::new());
        Frame { row, unfolded, shapes: vec![None; count], left: 0, limit: LEAST, scratch }
    }

    /// What its values occupy.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        let unfolded: usize = self.unfolded.iter().map(|one| one.fields.capacity_bytes()).sum();
        self.row.capacity_bytes() + self.scratch.capacity() + unfolded
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
        self.forget(variable);
        self.left += self.row.replace(variable as usize, value);
        if self.left > self.limit {
            self.compact();
        }
    }

    /// Gives a variable a row of this shape, whose fields `fill` appends to a row that is empty.
    #[inline]
    pub fn unfold(&mut self, variable: u32, shape: &Arc<Shape>, fill: impl FnOnce(&mut RowBuf)) {
        self.begin_rows(variable, shape);
        self.unfold_typed(variable, shape, fill);
    }

    /// The same of a variable whose type says what its rows are.
    #[inline]
    pub fn unfold_typed(
        &mut self,
        variable: u32,
        shape: &Arc<Shape>,
        fill: impl FnOnce(&mut RowBuf),
    ) {
        self.hold(variable, shape, |fields| {
            fields.clear();
            fill(fields);
        });
    }

    /// Gives a variable the fields of a row of this shape for those that it had. Of a variable whose rows may be of any shape
    /// [`Frame::begin_rows`] has said it.
    pub fn take_fields(&mut self, variable: u32, shape: &Arc<Shape>, row: &mut RowBuf) {
        self.hold(variable, shape, |fields| std::mem::swap(fields, row));
    }

    /// Has a variable hold a row of this shape field by field, which `put` makes of the fields that it had.
    #[inline]
    fn hold(&mut self, variable: u32, shape: &Arc<Shape>, put: impl FnOnce(&mut RowBuf)) {
        let known = self.unfolded.iter().position(|one| one.variable == variable);
        let at = known.unwrap_or_else(|| {
            let (shape, fields) = (Arc::clone(shape), RowBuf::new());
            let (held, folded, limit) = (false, false, LEAST);
            self.unfolded.push(Unfolded { variable, shape, fields, held, folded, limit });
            self.unfolded.len() - 1
        });
        let one = &mut self.unfolded[at];
        if !Arc::ptr_eq(&one.shape, shape) {
            one.shape = Arc::clone(shape);
        }
        put(&mut one.fields);
        one.limit = 2 * one.fields.bytes() + LEAST;
        (one.held, one.folded) = (true, false);
    }

    /// The row that a variable holds field by field, if it does.
    #[inline]
    fn unfolded(&self, variable: u32) -> Option<usize> {
        self.unfolded.iter().position(|one| one.held && one.variable == variable)
    }

    /// The fields of a row that a variable holds field by field, and their shape.
    pub fn unfolded_mut(&mut self, variable: u32) -> Option<(&Arc<Shape>, &mut RowBuf)> {
        let at = self.unfolded(variable)?;
        let one = &mut self.unfolded[at];
        one.folded = false;
        Some((&one.shape, &mut one.fields))
    }

    /// Whether a variable holds a row field by field.
    #[must_use]
    pub fn is_unfolded(&self, variable: u32) -> bool {
        self.unfolded(variable).is_some()
    }

    /// A field of a variable that holds a row field by field, where it is a number, a truth value or NULL.
    #[inline]
    pub fn plain_field(&mut self, variable: u32, field: usize) -> Option<Value> {
        let one = self.unfolded.iter_mut().find(|one| one.held && one.variable == variable)?;
        let (values, _) = one.fields.parts_mut();
        values.get(field).copied().filter(|value| {
            matches!(value, Value::Null | Value::Bool(_) | Value::Int4(_) | Value::Int8(_))
        })
    }

    /// A field of a variable that holds a row field by field goes to a slot; whether it is one.
    #[inline]
    pub fn copy_field(&mut self, variable: u32, field: usize, to: usize) -> bool {
        let Some(at) = self.unfolded(variable) else { return false };
        let fields = &self.unfolded[at].fields;
        if field >= fields.len() {
            return false;
        }
        let taken = self.row.set_column(to, fields, field);
        self.taken(taken);
        true
    }

    /// The row that a variable holds field by field becomes its value as a whole.
    ///
    /// # Errors
    /// 54000: it is too long.
    pub fn fold(&mut self, variable: u32) -> Result<()> {
        match self.unfolded(variable) {
            Some(at) => self.fold_at(at),
            None => Ok(()),
        }
    }

    /// The same of all variables.
    ///
    /// # Errors
    /// 54000: a row is too long.
    pub fn fold_all(&mut self) -> Result<()> {
        (0..self.unfolded.len()).try_for_each(|at| self.fold_at(at))
    }

    fn fold_at(&mut self, at: usize) -> Result<()> {
        let one = &mut self.unfolded[at];
        if !one.held || std::mem::replace(&mut one.folded, true) {
            return Ok(());
        }
        let (variable, shape) = (one.variable, Arc::clone(&one.shape));
        let fields = std::mem::take(&mut one.fields);
        let set = self.set_record(variable, &shape, fields.iter());
        // The fields are as good as the whole still.
        let one = &mut self.unfolded[at];
        (one.fields, one.held, one.folded) = (fields, true, set.is_ok());
        set
    }

    /// A variable is about to hold something else than a row field by field.
    #[inline]
    fn forget(&mut self, variable: u32) {
        if let Some(at) = self.unfolded(variable) {
            self.unfolded[at].held = false;
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
        if let Some(at) = self.unfolded(variable) {
            self.unfolded[at].set(field, &self.row, from);
            return Ok(true);
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
        self.forget(variable);
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
        self.unfolded.iter_mut().for_each(|one| one.held = false);
        self.shapes.clear();
        self.shapes.resize(variables, None);
        (self.left, self.limit) = (0, LEAST);
    }

    /// Begins anew where the last run has written these slots and no others, but for rows that variables hold field by field:
    /// of these it holds none.
    pub fn begin_again(&mut self, start: &RowBuf, written: &[u16]) {
        for one in &mut self.unfolded {
            if std::mem::take(&mut one.held) {
                self.row.set_plain(one.variable as usize, Datum::Null);
            }
        }
        for slot in written {
            let slot = usize::from(*slot);
            let taken = self.row.set_column(slot, start, slot);
            self.taken(taken);
        }
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
        self.forget(variable as u32);
        let taken = self.row.set_column(variable, source, from);
        self.taken(taken);
    }

    /// A variable is what another one is.
    #[inline]
    pub fn copy_column(&mut self, from: usize, to: usize) {
        self.forget(to as u32);
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

    /// The same, where it becomes the element at this subscript.
    pub fn append_element_at(
        &mut self,
        (variable, subscript): (u32, i32),
        value: u32,
        slot: &mut Vec<u8>,
    ) -> bool {
        let Datum::Array(stored) = self.get(variable) else { return false };
        array::is_behind(stored, subscript) && self.append_element(variable, value, slot)
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
        let row = compacted(&self.row);
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
