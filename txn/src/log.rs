//! What logical log records mean.
//!
//! | kind | meaning |
//! | --- | --- |
//! | `Commit` | a transaction's writes, all of them or the last part; its LSN is the commit's timestamp |
//! | `Part` | earlier writes of a commit too large for one record, of no effect unless a commit lists it |
//! | `Prepare` | the writes and locks of a transaction that waits for COMMIT PREPARED, by name |
//! | `Resolve` | ROLLBACK PREPARED: the name is free again (COMMIT PREPARED is a `Commit` that names it) |
//!
//! A `Commit`, `Part` and `Prepare` begin with a header: format version (1 byte), flags (1), transaction number (8),
//! wall clock in microseconds since 2000-01-01 (8); then, if the flags say so, the name it resolves or prepares
//! (varint length, bytes), the LSNs of its parts (varint count, 8 each), the locks (varint count, each varint length and
//! bytes), and the number that its users know it by (8). Writes follow to the end of the record, ordered by tree and key: each begins with a tag.
//! Integers of fixed length are little-endian; varints have seven bits a byte, the lowest first.
//!
//! | tag | then |
//! | --- | --- |
//! | 1 tree | varint tree: of the writes that follow |
//! | 2 put | varint key length, key, varint value length, value |
//! | 3 delete | varint key length, key |
//! | 4 patch | varint key length, key, base LSN (8), varint offset, varint length, bytes |

use crate::{Lsn, TreeId};
use storage::{Change, RecordKind};

/// A transaction's writes.
pub const COMMIT: RecordKind = RecordKind(RecordKind::FIRST_LOGICAL.0);
/// Earlier writes of a large commit.
pub const PART: RecordKind = RecordKind(RecordKind::FIRST_LOGICAL.0 + 1);
/// Writes and locks of a prepared transaction.
pub const PREPARE: RecordKind = RecordKind(RecordKind::FIRST_LOGICAL.0 + 2);
/// A prepared transaction rolled back.
pub const RESOLVE: RecordKind = RecordKind(RecordKind::FIRST_LOGICAL.0 + 3);

/// A name for a place in the log (`pg_create_restore_point`): recovery passes over it.
pub const RESTORE_POINT: RecordKind = RecordKind(RecordKind::FIRST_LOGICAL.0 + 4);

/// The format this server writes, and the only one it reads.
const FORMAT: u8 = 1;
const HAS_NAME: u8 = 1;
const HAS_PARTS: u8 = 2;
const HAS_LOCKS: u8 = 4;
const HAS_NUMBER: u8 = 8;
const FLAGS: u8 = HAS_NAME | HAS_PARTS | HAS_LOCKS | HAS_NUMBER;

const TREE: u8 = 1;
const PUT: u8 = 2;
const DELETE: u8 = 3;
const PATCH: u8 = 4;

/// What a record says before its writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The transaction.
    pub txn: u64,
    /// The wall clock, in microseconds since 2000-01-01.
    pub wall: i64,
    /// The prepared transaction it resolves or is; a restore point's name.
    pub name: Option<Vec<u8>>,
    /// Where its earlier writes are, in order.
    pub parts: Vec<Lsn>,
    /// Its locks, each in the lock manager's own encoding.
    pub locks: Vec<Vec<u8>>,
    /// The number that users know it by, if anybody has asked for it.
    pub number: Option<u64>,
}

/// A record that is being written, in a buffer that is used again.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    tree: Option<TreeId>,
}

impl Writer {
    /// Begins a record.
    pub fn begin(&mut self, header: &Header) {
        self.bytes.clear();
        self.bytes.shrink_to(1 << 20);
        self.tree = None;
        let mut flags = 0;
        flags |= if header.name.is_some() { HAS_NAME } else { 0 };
        flags |= if header.parts.is_empty() { 0 } else { HAS_PARTS };
        flags |= if header.locks.is_empty() { 0 } else { HAS_LOCKS };
        flags |= if header.number.is_some() { HAS_NUMBER } else { 0 };
        self.bytes.extend_from_slice(&[FORMAT, flags]);
        self.bytes.extend_from_slice(&header.txn.to_le_bytes());
        self.bytes.extend_from_slice(&header.wall.to_le_bytes());
        if let Some(name) = &header.name {
            self.slice(name);
        }
        if !header.parts.is_empty() {
            self.varint(header.parts.len() as u64);
            for part in &header.parts {
                self.bytes.extend_from_slice(&part.0.to_le_bytes());
            }
        }
        if !header.locks.is_empty() {
            self.varint(header.locks.len() as u64);
            for lock in &header.locks {
                self.slice(lock);
            }
        }
        if let Some(number) = header.number {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Adds a write. Writes come ordered by tree.
    pub fn write(&mut self, tree: TreeId, key: &[u8], change: Change<'_>) {
        if self.tree != Some(tree) {
            self.tree = Some(tree);
            self.bytes.push(TREE);
            self.varint(tree.0);
        }
        match change {
            Change::Put(value) => {
                self.bytes.push(PUT);
                self.slice(key);
                self.slice(value);
            }
            Change::Delete => {
                self.bytes.push(DELETE);
                self.slice(key);
            }
            Change::Patch { base, from, bytes } => {
                self.bytes.push(PATCH);
                self.slice(key);
                self.bytes.extend_from_slice(&base.0.to_le_bytes());
                self.varint(u64::from(from));
                self.slice(bytes);
            }
        }
    }

    /// The record so far.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn slice(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// Room that a write takes in a record at most, in bytes.
#[must_use]
pub fn write_bytes_max(key: usize, value: usize) -> usize {
    // Tag and number of the tree, tag, two lengths.
    1 + 10 + 1 + 10 + key + 10 + value
}

/// A record that is being read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    tree: Option<TreeId>,
}

/// Why a record could not be read: its checksum was right, so this is another format or a bug.
fn corrupt(what: &str) -> storage::Error {
    storage::Error::CorruptLog(format!("a logical log record: {what}"))
}

impl<'a> Reader<'a> {
    /// Reads a record's header.
    ///
    /// # Errors
    /// [`storage::Error::CorruptLog`].
    pub fn new(payload: &'a [u8]) -> storage::Result<(Header, Reader<'a>)> {
        let mut reader = Reader { rest: payload, tree: None };
        let [format, flags] = *reader.fixed::<2>()?;
        if format != FORMAT || flags & !FLAGS != 0 {
            return Err(corrupt("of an unknown format"));
        }
        let mut header = Header {
            txn: u64::from_le_bytes(*reader.fixed()?),
            wall: i64::from_le_bytes(*reader.fixed()?),
            ..Header::default()
        };
        if flags & HAS_NAME != 0 {
            header.name = Some(reader.slice()?.to_vec());
        }
        if flags & HAS_PARTS != 0 {
            for _ in 0..reader.varint()? {
                header.parts.push(Lsn(u64::from_le_bytes(*reader.fixed()?)));
            }
        }
        if flags & HAS_LOCKS != 0 {
            for _ in 0..reader.varint()? {
                header.locks.push(reader.slice()?.to_vec());
            }
        }
        if flags & HAS_NUMBER != 0 {
            header.number = Some(u64::from_le_bytes(*reader.fixed()?));
        }
        Ok((header, reader))
    }

    /// The next write.
    ///
    /// # Errors
    /// [`storage::Error::CorruptLog`].
    pub fn write(&mut self) -> storage::Result<Option<(TreeId, &'a [u8], Change<'a>)>> {
        loop {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let [tag] = *self.fixed::<1>()?;
            if tag == TREE {
                self.tree = Some(TreeId(self.varint()?));
                continue;
            }
            let tree = self.tree.ok_or_else(|| corrupt("a write of no tree"))?;
            let key = self.slice()?;
            let change = match tag {
                PUT => Change::Put(self.slice()?),
                DELETE => Change::Delete,
                PATCH => {
                    let base = Lsn(u64::from_le_bytes(*self.fixed()?));
                    let from = u32::try_from(self.varint()?).map_err(|_| corrupt("an offset"))?;
                    Change::Patch { base, from, bytes: self.slice()? }
                }
                _ => return Err(corrupt("an unknown change")),
            };
            return Ok(Some((tree, key, change)));
        }
    }

    fn fixed<const N: usize>(&mut self) -> storage::Result<&'a [u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(|| corrupt("cut short"))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn varint(&mut self) -> storage::Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.fixed::<1>()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(corrupt("a number without an end"))
    }

    fn slice(&mut self) -> storage::Result<&'a [u8]> {
        let length = usize::try_from(self.varint()?).map_err(|_| corrupt("a length"))?;
        let (bytes, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| corrupt("cut short"))?;
        self.rest = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Owned = (u64, Vec<u8>, Option<Vec<u8>>, Option<(u64, u32)>);

    fn change(write: &Owned) -> Change<'_> {
        match (&write.2, write.3) {
            (None, _) => Change::Delete,
            (Some(value), None) => Change::Put(value),
            (Some(bytes), Some((base, from))) => Change::Patch { base: Lsn(base), from, bytes },
        }
    }

    proptest! {
        #[test]
        fn records_read_back_as_written(
            txn: u64, wall: i64,
            name: Option<Vec<u8>>,
            parts in proptest::collection::vec(any::<u64>().prop_map(Lsn), 0..4),
            locks: Vec<Vec<u8>>,
            number: Option<u64>,
            writes: Vec<Owned>,
        ) {
            let header = Header { txn, wall, name, parts, locks, number };
            let mut writer = Writer::default();
            writer.begin(&header);
            let empty = writer.payload().len();
            let mut room = empty;
            for write in &writes {
                writer.write(TreeId(write.0), &write.1, change(write));
                if !matches!(change(write), Change::Patch { .. }) {
                    room += write_bytes_max(write.1.len(), write.2.as_ref().map_or(0, Vec::len));
                    prop_assert!(writer.payload().len() <= room);
                } else {
                    room = writer.payload().len();
                }
            }
            let (read, mut reader) = Reader::new(writer.payload()).unwrap();
            prop_assert_eq!(read, header);
            for write in &writes {
                let expected = (TreeId(write.0), &write.1[..], change(write));
                prop_assert_eq!(reader.write().unwrap(), Some(expected));
            }
            prop_assert_eq!(reader.write().unwrap(), None);
        }

        #[test]
        fn garbage_is_an_error_and_never_a_panic(bytes: Vec<u8>) {
            if let Ok((_, mut reader)) = Reader::new(&bytes) {
                while let Ok(Some(_)) = reader.write() {}
            }
        }
    }
}
