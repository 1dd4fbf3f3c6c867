//! Long values: what is too large for a record is cut into records of the table's companion tree.
//!
//! The row keeps a pointer of 16 bytes; the pieces are read only when the column is asked for. A piece's key is the
//! value's id and the piece's number, both big-endian, so that a value is one short range scan. Pieces belong to the row
//! version that wrote them: an update of the column writes a new value under a new id and deletes the old pieces in the
//! same transaction. PostgreSQL's TOAST (manual, section 73.2) without compression.

use super::form::Form;
use super::row::RowLayout;
use super::value::{Heap, Value};
use super::{corrupt, row};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Datum;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, RecordView, Transaction, Tree};

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

/// Writes a row as a record of at most `max` bytes. What does not fit goes to `store`, the largest value first.
///
/// # Errors
/// 54000 if what must stay in the record is too large; those of `store`.
pub fn write_row(
    layout: &RowLayout,
    row: &[Datum<'_>],
    max: usize,
    store: &mut Store<'_>,
    record: &mut Vec<u8>,
) -> Result<()> {
    let size = |(at, datum): (usize, &Datum<'_>)| match layout.form(at).width() {
        Some(_) => 0,
        None => row::stored_bytes(datum),
    };
    let fixed: usize = (0..row.len()).map(|at| layout.form(at).width().unwrap_or(2)).sum::<usize>()
        + 2
        + row.len().div_ceil(8);
    if fixed + row.iter().enumerate().map(size).sum::<usize>() <= max {
        layout.write(row, &[], record);
        return Ok(());
    }
    let mut sizes: Vec<usize> = row.iter().enumerate().map(size).collect();
    let mut long: Vec<(usize, LongValue)> = Vec::new();
    while fixed + sizes.iter().sum::<usize>() > max {
        let largest = (0..sizes.len()).max_by_key(|at| sizes[*at]).unwrap_or(0);
        if sizes.get(largest).is_none_or(|size| *size <= LongValue::WIDTH) {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!(
                    "row is too big: size {}, maximum size {max}",
                    fixed + sizes.iter().sum::<usize>()
                ),
            ));
        }
        let mut bytes = Vec::with_capacity(sizes[largest]);
        row::encode(row[largest], &mut bytes);
        long.push((largest, store(layout.form(largest), &bytes)?));
        sizes[largest] = LongValue::WIDTH;
    }
    layout.write(row, &long, record);
    Ok(())
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

    /// The records of the companion tree that hold the value's bytes, where none is larger than `record_bytes_max`.
    pub fn pieces<'b>(
        &self,
        bytes: &'b [u8],
        record_bytes_max: usize,
    ) -> impl Iterator<Item = ([u8; 12], &'b [u8])> + use<'b> {
        let value = *self;
        let pieces = bytes.chunks(record_bytes_max.saturating_sub(PIECE_OVERHEAD));
        pieces.enumerate().map(move |(number, piece)| (value.piece(number as u32), piece))
    }

    /// Reads the value by the view that showed the record with the pointer.
    ///
    /// # Errors
    /// XX001; storage's.
    pub fn fetch(
        &self,
        transaction: &mut Transaction,
        record: RecordView,
        tree: &Arc<Tree>,
        heap: &mut Heap,
    ) -> Result<Value> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.bytes.min(1 << 30)).unwrap_or(0));
        let mut scan = self.scan(transaction, record, tree)?;
        while let Some(piece) = scan.advance(transaction)? {
            bytes.extend_from_slice(piece.value);
        }
        if bytes.len() as u64 != self.bytes {
            return Err(corrupt("a long value has lost a piece"));
        }
        row::decode(self.form, &bytes, heap)
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
