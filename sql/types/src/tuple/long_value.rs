//! Long values: what is too large for a record is cut into records of the table's companion tree.
//!
//! The row keeps a pointer of 16 bytes; the pieces are read only when the column is asked for. A piece's key is the
//! value's id and the piece's number, both big-endian, so that a value is one short range scan. Pieces belong to the row
//! version that wrote them: an update of the column writes a new value under a new id and deletes the old pieces in the
//! same transaction. Where so many columns are left that they are too long for a record, all of it is a long value:
//! the row is as wide as PostgreSQL's, one page. Whoever reads a row reads it by [`Stored`], so that none forgets what is
//! elsewhere. PostgreSQL's TOAST (manual, section 73.2) without compression.

use super::form::Form;
use super::row::{OpenRecord, Opened, RowLayout};
use super::value::{Heap, Texts, Value};
use super::{corrupt, row};
use crate::Datum;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, RecordView, Transaction, Tree, TreeId};

/// What a record of a piece may take beside the piece itself, in bytes.
const PIECE_OVERHEAD: usize = 64;

/// A pointer to a long value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongValue {
    /// Its number in the companion tree.
    pub id: u64,
    /// Its length, in bytes.
    pub bytes: u64,
    /// What it is read back as.
    pub form: Form,
}

/// Puts a value's bytes, to be read back in this form, into the companion tree, and says where they are.
pub type Store<'s> = dyn FnMut(Form, &[u8]) -> Result<LongValue> + 's;

/// The most that a row may take where everything has left it that can, in bytes: PostgreSQL's `MaxHeapTupleSize`.
const ROW_BYTES_MAX: usize = 8160;

/// Writes a row as a record of at most `max` bytes. What does not fit goes to `store`, the largest value first; where
/// the columns are too many for that, the whole row, with what is longer than a row may be beside it.
///
/// # Errors
/// 54000 where PostgreSQL would have no place for it; those of `store`.
pub fn write_row(
    layout: &RowLayout,
    row: &[Datum<'_>],
    max: usize,
    store: &mut Store<'_>,
    record: &mut Vec<u8>,
) -> Result<()> {
    if layout.write_within(row.iter().copied(), max, record) {
        return Ok(());
    }
    let size = |(at, datum): (usize, &Datum<'_>)| match layout.form(at).width() {
        Some(_) => 0,
        None => row::stored_bytes(datum),
    };
    let fixed = layout.least_bytes();
    let bytes = layout.heap_tuple_bytes(row);
    if bytes > ROW_BYTES_MAX {
        let message = format!("row is too big: size {bytes}, maximum size {ROW_BYTES_MAX}");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let mut sizes: Vec<usize> = row.iter().enumerate().map(size).collect();
    let least: usize = sizes.iter().map(|size| *size.min(&LongValue::WIDTH)).sum();
    let stays = fixed + least <= max;
    let room = if stays { max } else { ROW_BYTES_MAX };
    let mut long: Vec<(usize, LongValue)> = Vec::new();
    while fixed + sizes.iter().sum::<usize>() > room {
        let largest = (0..sizes.len()).max_by_key(|at| sizes[*at]).unwrap_or(0);
        if sizes.get(largest).is_none_or(|size| *size <= LongValue::WIDTH) {
            break;
        }
        let mut bytes = Vec::with_capacity(sizes[largest]);
        row::encode(row[largest], &mut bytes);
        long.push((largest, store(layout.form(largest), &bytes)?));
        sizes[largest] = LongValue::WIDTH;
    }
    layout.write(row, &long, record);
    if !stays {
        let pointer = store(Form::Bytea, record)?;
        row::write_elsewhere(&pointer, record);
    }
    Ok(())
}

/// A record as a view has shown it, and the tree that has what it does not hold itself.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'r> {
    /// The record.
    pub record: &'r [u8],
    /// The view.
    pub view: RecordView,
    /// The companion tree.
    pub long_values: TreeId,
}

/// A record's row, wherever it is, to be read column by column.
#[derive(Debug)]
pub struct StoredColumns<'r> {
    record: OpenRecord<'r>,
    view: RecordView,
    long_values: TreeId,
    /// The row's own bytes, where they are elsewhere.
    pub image: Option<LongValue>,
}

impl<'r> Stored<'r> {
    /// The row, whose bytes go to `image` where they are elsewhere.
    ///
    /// # Errors
    /// XX001; storage's.
    #[inline]
    pub fn open(
        self,
        transaction: &mut Transaction,
        layout: &'r RowLayout,
        image: &'r mut Vec<u8>,
    ) -> Result<StoredColumns<'r>> {
        match layout.open(self.record)? {
            Opened::Here(record) => Ok(self.here(record)),
            Opened::Elsewhere(pointer, number) => {
                self.fetch(transaction, layout, (pointer, number), image)
            }
        }
    }

    /// What `body` makes of the row's record. A column of it that is elsewhere is read by [`Stored::read_long`].
    ///
    /// # Errors
    /// XX001; storage's; those of `body`.
    #[inline]
    pub fn with<T>(
        self,
        transaction: &mut Transaction,
        layout: &RowLayout,
        body: impl FnOnce(&OpenRecord<'_>, &mut Transaction) -> Result<T>,
    ) -> Result<T> {
        match layout.open(self.record)? {
            Opened::Here(record) => body(&record, transaction),
            Opened::Elsewhere(pointer, number) => {
                let mut image = Vec::new();
                let row = self.fetch(transaction, layout, (pointer, number), &mut image)?;
                body(&row.record, transaction)
            }
        }
    }

    /// A column of the row whose bytes are elsewhere.
    ///
    /// # Errors
    /// XX001; storage's.
    #[cold]
    pub fn read_long(
        &self,
        transaction: &mut Transaction,
        record: &OpenRecord<'_>,
        column: usize,
        heap: &mut Heap,
    ) -> Result<Value> {
        self.here(*record).read_long(transaction, record.long(column)?, heap)
    }

    #[inline]
    fn here<'o>(&self, record: OpenRecord<'o>) -> StoredColumns<'o> {
        StoredColumns { record, view: self.view, long_values: self.long_values, image: None }
    }

    #[cold]
    fn fetch<'i>(
        &self,
        transaction: &mut Transaction,
        layout: &'i RowLayout,
        (pointer, number): (LongValue, Option<u32>),
        image: &'i mut Vec<u8>,
    ) -> Result<StoredColumns<'i>> {
        *image = pointer.bytes(transaction, self.view, self.long_values)?;
        let Opened::Here(mut record) = layout.open(image)? else {
            return Err(corrupt("a row that is elsewhere is nowhere"));
        };
        record.number = number;
        Ok(StoredColumns { image: Some(pointer), ..self.here(record) })
    }
}

impl StoredColumns<'_> {
    /// The number of the transaction that wrote the row, if it says so.
    #[inline]
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.record.number
    }

    /// Reads a column; `met` is told of a long value.
    ///
    /// # Errors
    /// XX001; storage's.
    #[inline]
    pub fn read(
        &self,
        transaction: &mut Transaction,
        column: usize,
        heap: &mut Heap,
        met: impl FnOnce(LongValue),
    ) -> Result<Value> {
        let mut value = Value::Null;
        if !self.record.read_into(column, Texts::default(), &mut value, heap)? {
            let long = self.record.long(column)?;
            met(long);
            value = self.read_long(transaction, long, heap)?;
        }
        Ok(value)
    }

    #[cold]
    fn read_long(
        &self,
        transaction: &mut Transaction,
        long: LongValue,
        heap: &mut Heap,
    ) -> Result<Value> {
        let bytes = long.bytes(transaction, self.view, self.long_values)?;
        row::decode(long.form, &bytes, heap)
    }
}

impl LongValue {
    /// The stored width of a pointer.
    pub const WIDTH: usize = 16;

    /// Appends the stored form.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// XX001.
    pub fn read(form: Form, bytes: &[u8]) -> Result<LongValue> {
        let (id, length) = bytes
            .split_first_chunk()
            .and_then(|(id, rest)| Some((id, rest.first_chunk()?)))
            .ok_or_else(|| corrupt("a pointer to a long value is too short"))?;
        Ok(LongValue { id: u64::from_le_bytes(*id), bytes: u64::from_le_bytes(*length), form })
    }

    fn piece(&self, number: u32) -> [u8; 12] {
        let mut key = [0; 12];
        key[..8].copy_from_slice(&self.id.to_be_bytes());
        key[8..].copy_from_slice(&number.to_be_bytes());
        key
    }

    /// The records of the companion tree that hold the value's bytes, where none is larger than `record_bytes`.
    pub fn pieces<'b>(
        &self,
        bytes: &'b [u8],
        record_bytes: usize,
    ) -> impl Iterator<Item = ([u8; 12], &'b [u8])> + use<'b> {
        let value = *self;
        let pieces = bytes.chunks(record_bytes.saturating_sub(PIECE_OVERHEAD));
        pieces.enumerate().map(move |(number, piece)| (value.piece(number as u32), piece))
    }

    /// Reads the value's bytes by the view that showed the record with the pointer.
    fn bytes(
        &self,
        transaction: &mut Transaction,
        record: RecordView,
        tree: TreeId,
    ) -> Result<Vec<u8>> {
        let tree = transaction.manager().data().tree(tree).map_err(txn::Error::from)?;
        let mut bytes = Vec::with_capacity(usize::try_from(self.bytes.min(1 << 30)).unwrap_or(0));
        let mut scan = self.scan(transaction, record, &tree)?;
        while let Some(piece) = scan.advance(transaction)? {
            bytes.extend_from_slice(piece.value);
        }
        if bytes.len() as u64 != self.bytes {
            return Err(corrupt("a long value has lost a piece"));
        }
        Ok(bytes)
    }

    /// Deletes the value's pieces, as the view finds them that showed the record with the pointer.
    ///
    /// # Errors
    /// Storage's; 53200.
    pub fn delete(
        &self,
        transaction: &mut Transaction,
        record: RecordView,
        tree: &Arc<Tree>,
    ) -> Result<()> {
        let mut scan = self.scan(transaction, record, tree)?;
        let mut keys = Vec::new();
        while let Some(piece) = scan.advance(transaction)? {
            keys.push(piece.key.to_vec());
        }
        for key in keys {
            transaction.delete(tree, &key)?;
        }
        Ok(())
    }

    fn scan(
        &self,
        transaction: &mut Transaction,
        record: RecordView,
        tree: &Arc<Tree>,
    ) -> Result<txn::Scan> {
        let (low, high) = (self.piece(0), self.piece(u32::MAX));
        let range = KeyRange { low: Bound::Included(&low), high: Bound::Included(&high) };
        Ok(transaction.scan(record.view(), tree, range, Direction::Forward)?)
    }
}
