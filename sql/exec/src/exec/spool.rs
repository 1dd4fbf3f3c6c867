//! A spool: rows that are kept in the order in which they came, and read again by number.
//!
//! What is over the limit goes to a temporary file, in blocks, all that is in memory at once; rows that come later gather in
//! memory again. Of the file's blocks a reader holds the one that it read last, so whoever goes through the rows, either
//! way, reads each block once; who goes through them in several places has several readers. PostgreSQL: `tuplestore.c`.

use super::temp_file::{TempFile, TempSpace};
use crate::error::Result;
use crate::tuple::RowSet;
use crate::tuple::image::{self, Image, LENGTH_BYTES};
use crate::types::Datum;
use std::ops::Range;

/// Rows of a block come to this many bytes, or to one row.
const BLOCK_BYTES: usize = 8 << 10;
/// How many blocks are held by who reads here and there.
const READERS: usize = 8;

/// Kept rows.
#[derive(Debug, Default)]
pub struct Spool {
    width: usize,
    /// The newest rows.
    memory: RowSet,
    filed: Option<Filed>,
}

/// The older rows.
#[derive(Debug)]
struct Filed {
    file: TempFile,
    rows: usize,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    /// The number of its first row.
    first: usize,
    offset: u64,
}

/// The block that somebody reads in, and the row. It belongs to one spool, and begins anew when that is cleared.
#[derive(Debug, Default)]
pub struct SpoolReader {
    /// The rows of the block.
    rows: Range<usize>,
    bytes: Vec<u8>,
    /// Where the columns of each row stand in `bytes`.
    columns: Vec<Range<u32>>,
    /// The row that it has come to.
    at: Option<usize>,
    row: RowSet,
}

/// Several readers, that which was used last in front.
#[derive(Debug, Default)]
pub struct SpoolReaders([SpoolReader; READERS]);

impl SpoolReaders {
    /// The reader that holds a row's block, or the one that was not used for longest.
    fn of(&mut self, number: usize) -> &mut SpoolReader {
        let found = self.0.iter().position(|reader| reader.rows.contains(&number));
        self.0[..=found.unwrap_or(READERS - 1)].rotate_right(1);
        &mut self.0[0]
    }
}

impl Spool {
    /// No rows of `width` columns.
    #[must_use]
    pub fn new(width: usize) -> Spool {
        Spool { width, memory: RowSet::new(width), filed: None }
    }

    /// How many columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.in_file() + self.memory.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes it holds in memory.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// What the memory for its rows occupies.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.memory.capacity_bytes()
    }

    /// Whether some rows are in a file.
    #[must_use]
    pub fn is_filed(&self) -> bool {
        self.filed.is_some()
    }

    fn in_file(&self) -> usize {
        self.filed.as_ref().map_or(0, |filed| filed.rows)
    }

    /// Forgets all rows, keeps the memory, and gives the file back.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.filed = None;
    }

    /// Appends a row. The caller sees to it that [`Spool::spill`] is called in time.
    #[inline]
    pub fn push<'a>(&mut self, row: impl IntoIterator<Item = Datum<'a>>) {
        self.memory.push(row);
    }

    /// Moves what is in memory to the file.
    ///
    /// # Errors
    /// 53400, 53100, I/O.
    pub fn spill(&mut self, space: TempSpace<'_>) -> Result<()> {
        let mut rows = std::mem::take(&mut self.memory);
        let outcome = self.take(&mut rows, space);
        self.memory = rows;
        outcome
    }

    /// Moves the rows of a set behind what is in the file. None are in memory.
    ///
    /// # Errors
    /// As [`Spool::spill`].
    pub fn take(&mut self, rows: &mut RowSet, space: TempSpace<'_>) -> Result<()> {
        debug_assert!(self.memory.is_empty(), "they would change places");
        let outcome = self.file(rows, space);
        rows.clear();
        outcome
    }

    /// Appends rows to those in the file; none are in memory.
    fn file(&mut self, rows: &RowSet, space: TempSpace<'_>) -> Result<()> {
        let filed = match &mut self.filed {
            Some(filed) => filed,
            none => none.insert(Filed { file: space.file()?, rows: 0, blocks: Vec::new() }),
        };
        let mut bytes = Vec::new();
        let mut in_block = 0;
        for row in 0..rows.len() {
            image::write(rows.row(row), &mut bytes);
            in_block += 1;
            if bytes.len() >= BLOCK_BYTES || row + 1 == rows.len() {
                let offset = filed.file.append(&bytes, space)?;
                filed.blocks.push(Block { first: filed.rows, offset });
                filed.rows += in_block;
                in_block = 0;
                bytes.clear();
            }
        }
        Ok(())
    }

    /// Has a reader come to a row, if that is not in memory.
    ///
    /// # Errors
    /// I/O; XX001.
    #[inline]
    pub fn load(&self, number: usize, reader: &mut SpoolReader) -> Result<()> {
        match &self.filed {
            Some(filed) if number < filed.rows && reader.at != Some(number) => {
                if !reader.rows.contains(&number) {
                    filed.read(number, reader)?;
                }
                self.decode(number, reader)
            }
            _ => Ok(()),
        }
    }

    fn decode(&self, number: usize, reader: &mut SpoolReader) -> Result<()> {
        let columns = &reader.columns[number - reader.rows.start];
        let mut columns = Image(&reader.bytes[columns.start as usize..columns.end as usize]);
        reader.at = None;
        reader.row = std::mem::take(&mut reader.row).cleared(self.width);
        reader.row.push_read(|heap| columns.column(heap))?;
        reader.at = Some(number);
        Ok(())
    }

    /// Where a row is, if it is in memory: a set, and its number there.
    #[must_use]
    #[inline]
    pub fn in_memory(&self, number: usize) -> Option<(&RowSet, usize)> {
        Some((&self.memory, number.checked_sub(self.in_file())?))
    }

    /// Where a row is that a reader has come to: a set, and its number there.
    #[must_use]
    #[inline]
    pub fn place<'s>(&'s self, number: usize, reader: &'s SpoolReader) -> (&'s RowSet, usize) {
        match number.checked_sub(self.in_file()) {
            Some(number) => (&self.memory, number),
            None => (&reader.row, 0),
        }
    }

    /// The same by the readers of who reads here and there.
    ///
    /// # Errors
    /// As [`Spool::load`].
    pub fn find<'s>(
        &'s self,
        number: usize,
        readers: &'s mut SpoolReaders,
    ) -> Result<(&'s RowSet, usize)> {
        if number >= self.in_file() {
            return Ok((&self.memory, number - self.in_file()));
        }
        let reader = readers.of(number);
        self.load(number, reader)?;
        Ok(self.place(number, reader))
    }

    /// A row's columns.
    ///
    /// # Errors
    /// As [`Spool::load`].
    #[inline]
    pub fn row<'s>(
        &'s self,
        number: usize,
        reader: &'s mut SpoolReader,
    ) -> Result<impl ExactSizeIterator<Item = Datum<'s>>> {
        self.load(number, reader)?;
        let (rows, at) = self.place(number, reader);
        Ok(rows.row(at))
    }
}

impl Filed {
    /// Has a reader hold a row's block.
    fn read(&self, number: usize, reader: &mut SpoolReader) -> Result<()> {
        let at = self.blocks.partition_point(|block| block.first <= number) - 1;
        let Block { first, offset } = self.blocks[at];
        let next = self.blocks.get(at + 1);
        let end = next.map_or(self.rows, |next| next.first);
        let length = next.map_or(self.file.bytes(), |next| next.offset) - offset;
        reader.rows = 0..0;
        reader.at = None;
        reader.bytes.resize(length as usize, 0);
        self.file.read(offset, &mut reader.bytes)?;
        reader.columns.clear();
        let mut place = 0;
        for _ in first..end {
            let rest = reader.bytes.get(place..).and_then(|rest| rest.first_chunk());
            let begin = place + LENGTH_BYTES;
            place = begin + image::length(*rest.ok_or_else(image::broken)?);
            if place > reader.bytes.len() {
                return Err(image::broken());
            }
            reader.columns.push(begin as u32..place as u32);
        }
        reader.rows = first..end;
        Ok(())
    }
}
