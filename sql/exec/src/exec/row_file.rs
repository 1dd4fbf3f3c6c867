//! Rows in a temporary file, one behind the other: written through a buffer, read back a stretch at a time.

use super::temp_file::{TempFile, TempSpace};
use crate::error::Result;
use crate::tuple::RowBuf;
use crate::tuple::image::{self, Image, LENGTH_BYTES};
use crate::types::Datum;
use std::ops::Range;

/// What is written at a time, in bytes: rows gather to this much first.
pub const PORTION_BYTES: usize = 32 << 10;

/// Rows that are written to a file, behind what is there.
#[derive(Debug)]
pub struct RowWriter {
    begin: u64,
    portion: Vec<u8>,
}

impl RowWriter {
    /// At the end of a file, which nobody else writes to before [`RowWriter::finish`].
    #[must_use]
    pub fn new(file: &TempFile) -> RowWriter {
        RowWriter { begin: file.bytes(), portion: Vec::new() }
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As [`TempFile::append`].
    pub fn push<'a>(
        &mut self,
        row: impl IntoIterator<Item = Datum<'a>>,
        file: &mut TempFile,
        space: TempSpace<'_>,
    ) -> Result<()> {
        image::write(row, &mut self.portion);
        if self.portion.len() >= PORTION_BYTES {
            file.append(&self.portion, space)?;
            self.portion.clear();
        }
        Ok(())
    }

    /// Ends the stretch: where in the file its rows stand.
    ///
    /// # Errors
    /// As [`TempFile::append`].
    pub fn finish(self, file: &mut TempFile, space: TempSpace<'_>) -> Result<Range<u64>> {
        if !self.portion.is_empty() {
            file.append(&self.portion, space)?;
        }
        Ok(self.begin..file.bytes())
    }
}

/// Reads a stretch of rows.
#[derive(Debug)]
pub struct RowReader {
    /// What is not yet in the buffer.
    left: Range<u64>,
    buffer: Vec<u8>,
    /// Where the next row begins in the buffer.
    at: usize,
    buffer_bytes: usize,
}

impl RowReader {
    /// Of a stretch, with a buffer of so many bytes, which grows for a row that is longer.
    #[must_use]
    pub fn new(stretch: Range<u64>, buffer_bytes: usize) -> RowReader {
        RowReader { left: stretch, buffer: Vec::new(), at: 0, buffer_bytes }
    }

    /// The next row; false at the end, where the buffer goes.
    ///
    /// # Errors
    /// I/O; XX001.
    pub fn next(&mut self, file: &TempFile, row: &mut RowBuf) -> Result<bool> {
        if self.at == self.buffer.len() && self.left.is_empty() {
            self.buffer = Vec::new();
            self.at = 0;
            return Ok(false);
        }
        self.demand(LENGTH_BYTES, file)?;
        let first = self.buffer[self.at..].first_chunk().ok_or_else(image::broken)?;
        let length = LENGTH_BYTES + image::length(*first);
        self.demand(length, file)?;
        let mut columns = Image(&self.buffer[self.at + LENGTH_BYTES..self.at + length]);
        self.at += length;
        row.clear();
        while !columns.is_at_end() {
            row.push_with(|heap| columns.column(heap))?;
        }
        Ok(true)
    }

    /// Brings bytes into the buffer until so many are there behind `at`.
    fn demand(&mut self, bytes: usize, file: &TempFile) -> Result<()> {
        let have = self.buffer.len() - self.at;
        if have >= bytes {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let room = (self.buffer_bytes.max(bytes) - have) as u64;
        let more = room.min(self.left.end - self.left.start);
        if have as u64 + more < bytes as u64 {
            return Err(image::broken());
        }
        self.buffer.resize(have + more as usize, 0);
        file.read(self.left.start, &mut self.buffer[have..])?;
        self.left.start += more;
        Ok(())
    }
}
