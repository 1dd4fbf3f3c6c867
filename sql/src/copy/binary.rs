//! The binary format: a header, tuples of fields with their lengths, a trailer (manual, COPY, "Binary Format").
//!
//! Streaming as the lines are: [`TupleReader`] is fed portions of any size and holds at most one tuple. A tuple that is cut
//! off or damaged is handed out up to the damage, so that what its first fields are wrong in is told first.

use super::bad;
use super::lines::PENDING_BYTES_MAX;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::ops::Range;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Flags that a reader must know; of the others it need not.
const CRITICAL_FLAGS: u32 = 0xFFFF_0000;
/// Rows have OIDs, as they had before PostgreSQL 12.
const FLAG_OIDS: u32 = 1 << 16;
/// The field count of the trailer.
const TRAILER: i16 = -1;

/// Appends the header: no flags, no extension.
pub fn write_header(out: &mut Vec<u8>) {
    out.extend_from_slice(SIGNATURE);
    out.extend_from_slice(&[0; 8]);
}

/// Appends the trailer.
pub fn write_trailer(out: &mut Vec<u8>) {
    out.extend_from_slice(&TRAILER.to_be_bytes());
}

/// A tuple that has come: where its fields are; none is NULL.
#[derive(Debug, Default)]
pub struct Tuple {
    fields: Vec<Option<Range<usize>>>,
    /// What is wrong behind the fields.
    damage: Option<SqlError>,
}

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Header,
    Tuples,
    /// Behind the trailer, where nothing may follow.
    Trailer,
    Ended,
}

/// Cuts a stream into tuples.
#[derive(Debug)]
pub struct TupleReader {
    pending: Vec<u8>,
    /// The first byte of what has not been handed out.
    start: usize,
    stage: Stage,
    number: u64,
    /// The field whose bytes are awaited.
    awaited: Option<usize>,
    closed: bool,
}

impl Default for TupleReader {
    fn default() -> TupleReader {
        TupleReader {
            pending: Vec::new(),
            start: 0,
            stage: Stage::Header,
            number: 0,
            awaited: None,
            closed: false,
        }
    }
}

impl TupleReader {
    /// Takes a portion of the stream.
    ///
    /// # Errors
    /// 54000 if a tuple becomes larger than any may be.
    pub fn push(&mut self, data: &[u8]) -> Result<()> {
        self.pending.drain(..self.start);
        self.start = 0;
        if self.pending.len() + data.len() > PENDING_BYTES_MAX {
            return Err(too_large(self.pending.len(), data.len()));
        }
        self.pending.extend_from_slice(data);
        Ok(())
    }

    /// The stream has ended.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The number of the tuple handed out last, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The field, by its place, that the stream has stopped before or in.
    #[must_use]
    pub fn awaited(&self) -> Option<usize> {
        self.awaited
    }

    /// Reads on to the next tuple of so many columns; false if more bytes are needed, or at the end.
    ///
    /// # Errors
    /// 22P04 for a header, a field count or a trailer that is none.
    pub fn next_tuple(&mut self, columns: usize, tuple: &mut Tuple) -> Result<bool> {
        self.awaited = None;
        if self.stage == Stage::Header && !self.header()? {
            return Ok(false);
        }
        if self.stage == Stage::Tuples {
            let Some(count) = self.integer::<2>(self.start) else {
                // Half a field count at the end is none.
                self.ends();
                return Ok(false);
            };
            let count = i16::from_be_bytes(count);
            if count != TRAILER {
                return self.tuple(count, columns, tuple);
            }
            self.number += 1;
            self.start += 2;
            self.stage = Stage::Trailer;
        }
        if self.stage == Stage::Trailer && self.start < self.pending.len() {
            return Err(bad("received copy data after EOF marker"));
        }
        self.ends();
        Ok(false)
    }

    /// The bytes of field `at`; none is NULL.
    ///
    /// # Errors
    /// 22P04 and 54000, for what has come in its place.
    pub fn field(&self, tuple: &mut Tuple, at: usize) -> Result<Option<&[u8]>> {
        match tuple.fields.get(at) {
            Some(Some(range)) => Ok(Some(&self.pending[range.clone()])),
            Some(None) => Ok(None),
            None => Err(tuple.damage.take().unwrap_or_else(cut_off)),
        }
    }

    fn ends(&mut self) {
        if self.closed {
            self.stage = Stage::Ended;
        }
    }

    /// The bytes of a number at `at`, if all have come.
    fn integer<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.pending.get(at..)?.first_chunk().copied()
    }

    /// Reads the header; false if more bytes are needed.
    fn header(&mut self) -> Result<bool> {
        let invalid = |what: &str| bad(format!("invalid COPY file header ({what})"));
        let there = &self.pending[self.start..];
        let begins = &there[..there.len().min(SIGNATURE.len())];
        if *begins != SIGNATURE[..begins.len()] || self.closed && begins.len() < SIGNATURE.len() {
            return Err(bad("COPY file signature not recognized"));
        }
        let at = self.start + SIGNATURE.len();
        let Some(flags) = self.integer(at).map(u32::from_be_bytes) else {
            return if self.closed { Err(invalid("missing flags")) } else { Ok(false) };
        };
        if flags & FLAG_OIDS != 0 {
            return Err(invalid("WITH OIDS"));
        }
        if flags & CRITICAL_FLAGS != 0 {
            return Err(bad("unrecognized critical flags in COPY file header"));
        }
        let length = match self.integer(at + 4).map(i32::from_be_bytes).map(usize::try_from) {
            None if !self.closed => return Ok(false),
            None | Some(Err(_)) => return Err(invalid("missing length")),
            Some(Ok(length)) => length,
        };
        if self.pending.len() - (at + 8) < length {
            return if self.closed { Err(invalid("wrong length")) } else { Ok(false) };
        }
        self.start = at + 8 + length;
        self.stage = Stage::Tuples;
        Ok(true)
    }

    /// Finds the fields of a tuple; false if more bytes are needed.
    fn tuple(&mut self, count: i16, columns: usize, tuple: &mut Tuple) -> Result<bool> {
        if usize::try_from(count) != Ok(columns) {
            self.number += 1;
            return Err(bad(format!("row field count is {count}, expected {columns}")));
        }
        tuple.fields.clear();
        tuple.damage = None;
        let mut at = self.start + 2;
        while tuple.fields.len() < columns && tuple.damage.is_none() {
            let Some(length) = self.integer(at).map(i32::from_be_bytes) else {
                if !self.closed {
                    self.awaited = Some(tuple.fields.len());
                    return Ok(false);
                }
                tuple.damage = Some(cut_off());
                break;
            };
            at += 4;
            match usize::try_from(length) {
                Err(_) if length == -1 => tuple.fields.push(None),
                Err(_) => tuple.damage = Some(bad("invalid field size")),
                Ok(length) if length >= PENDING_BYTES_MAX => {
                    tuple.damage = Some(too_large(0, length));
                }
                Ok(length) if self.pending.len() - at >= length => {
                    tuple.fields.push(Some(at..at + length));
                    at += length;
                }
                Ok(_) if self.closed => tuple.damage = Some(cut_off()),
                Ok(_) => {
                    self.awaited = Some(tuple.fields.len());
                    return Ok(false);
                }
            }
        }
        self.number += 1;
        self.start = at;
        Ok(true)
    }
}

fn cut_off() -> SqlError {
    bad("unexpected EOF in COPY data")
}

fn too_large(there: usize, more: usize) -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "out of memory").detail(format!(
        "Cannot enlarge string buffer containing {there} bytes by {more} more bytes."
    ))
}
