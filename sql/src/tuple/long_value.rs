//! Long values: what is too large for a record is cut into records of the table's companion tree.
//!
//! The row keeps a pointer of 16 bytes; the pieces are read only when the column is asked for. A piece's key is the
//! value's id and the piece's number, both big-endian, so that a value is one short range scan. Pieces belong to the row
//! version that wrote them: an update of the column writes a new value under a new id and deletes the old pieces in the
//! same transaction. PostgreSQL's TOAST (manual, section 73.2) without compression.

use super::form::Form;
use super::value::{Heap, Value};
use super::{corrupt, row};
use crate::error::Result;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, ReadView, Transaction, Tree};

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

    /// Writes a value's bytes in pieces of at most `piece_bytes`.
    ///
    /// # Errors
    /// Storage's; 53200.
    pub fn store(
        &self,
        transaction: &mut Transaction,
        tree: &Tree,
        bytes: &[u8],
        piece_bytes: usize,
    ) -> Result<()> {
        for (number, piece) in bytes.chunks(piece_bytes).enumerate() {
            transaction.put(tree, &self.piece(number as u32), piece)?;
        }
        Ok(())
    }

    /// Reads the value as `view` shows it.
    ///
    /// # Errors
    /// XX001; storage's.
    pub fn fetch(
        &self,
        transaction: &mut Transaction,
        view: &ReadView,
        tree: &Arc<Tree>,
        heap: &mut Heap,
    ) -> Result<Value> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.bytes.min(1 << 30)).unwrap_or(0));
        let mut scan = self.scan(transaction, view, tree)?;
        while let Some(piece) = scan.advance(transaction)? {
            bytes.extend_from_slice(piece.value);
        }
        if bytes.len() as u64 != self.bytes {
            return Err(corrupt("a long value has lost a piece"));
        }
        row::decode(self.form, &bytes, heap)
    }

    /// Deletes the value's pieces.
    ///
    /// # Errors
    /// Storage's; 53200.
    pub fn delete(
        &self,
        transaction: &mut Transaction,
        view: &ReadView,
        tree: &Arc<Tree>,
    ) -> Result<()> {
        let mut scan = self.scan(transaction, view, tree)?;
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
        view: &ReadView,
        tree: &Arc<Tree>,
    ) -> Result<txn::Scan> {
        let (low, high) = (self.piece(0), self.piece(u32::MAX));
        let range = KeyRange { low: Bound::Included(&low), high: Bound::Included(&high) };
        Ok(transaction.scan(view, tree, range, Direction::Forward)?)
    }
}
