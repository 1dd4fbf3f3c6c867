//! Rows in a temporary file, apart by a hash of their keys: what hash joins, grouping, DISTINCT and set operations do with
//! what memory does not take (the hybrid hash join of DeWitt et al., 1984; PostgreSQL's batches, `nodeHash.c` and `nodeAgg.c`).
//!
//! Rows with equal keys are in one partition, in the order in which they came. A partition that is still too large is taken
//! apart again, one level deeper, by other bits; past the last level it stays whole: its rows are then of few keys, and no
//! hash takes them apart.

use super::context::Context;
use super::row_file::{PORTION_BYTES, RowReader};
use super::temp_file::{TempFile, TempSpace};
use crate::error::Result;
use crate::tuple::RowBuf;
use crate::tuple::image;
use crate::types::{Datum, hash_into};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

/// How many bits of a hash a level takes.
const LEVEL_BITS: u32 = 5;

/// Partitions of a level.
const PARTITIONS: usize = 1 << LEVEL_BITS;

/// How often rows are taken apart at most: a thousand million times less each, if their keys differ.
pub const LEVELS: u32 = 6;

/// Which partition of a level a key belongs to.
fn place(level: u32, types: &[u32], key: &[Datum<'_>]) -> usize {
    let mut hasher = FxHasher::with_seed(level as usize + 1);
    for (ty, datum) in types.iter().zip(key) {
        hash_into(*ty, datum, &mut hasher);
    }
    // A multiplication more, so that the bits that are taken depend on all of the key's.
    let mixed = hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - LEVEL_BITS)) as usize
}

/// Rows that are being taken apart.
#[derive(Debug)]
pub struct Partitions {
    level: u32,
    types: Vec<u32>,
    file: TempFile,
    open: Vec<Open>,
}

/// A partition that gets rows.
#[derive(Debug, Default)]
struct Open {
    /// What is not in the file yet.
    portion: Vec<u8>,
    /// Where in the file the others are.
    stretches: Vec<Range<u64>>,
}

impl Open {
    fn write(&mut self, file: &mut TempFile, space: TempSpace<'_>) -> Result<()> {
        if !self.portion.is_empty() {
            let begin = file.append(&self.portion, space)?;
            self.stretches.push(begin..file.bytes());
            self.portion.clear();
        }
        Ok(())
    }
}

/// Rows of one partition.
#[derive(Debug)]
pub struct Partition {
    file: Arc<TempFile>,
    stretches: Vec<Range<u64>>,
    level: u32,
}

/// Reads the rows of a partition.
#[derive(Debug)]
pub struct PartitionReader {
    partition: Partition,
    at: usize,
    reader: RowReader,
}

impl Partitions {
    /// None yet, of rows whose first columns are a key of these types.
    ///
    /// # Errors
    /// 53100; I/O.
    pub fn new(cx: &Context<'_>, level: u32, types: &[u32]) -> Result<Partitions> {
        let file = cx.temp_space().file()?;
        let open = (0..PARTITIONS).map(|_| Open::default()).collect();
        Ok(Partitions { level, types: types.to_vec(), file, open })
    }

    /// Puts a row into the partition of its key.
    ///
    /// # Errors
    /// 53400 past `temp_file_limit`; 53100; I/O.
    pub fn push<'a>(
        &mut self,
        cx: &Context<'_>,
        key: &[Datum<'_>],
        row: impl IntoIterator<Item = Datum<'a>>,
    ) -> Result<()> {
        let open = &mut self.open[place(self.level, &self.types, key)];
        image::write(row, &mut open.portion);
        match open.portion.len() >= PORTION_BYTES {
            true => open.write(&mut self.file, cx.temp_space()),
            false => Ok(()),
        }
    }

    /// Ends the input. All partitions are there, those without rows too.
    ///
    /// # Errors
    /// As [`Partitions::push`].
    pub fn finish(mut self, cx: &Context<'_>) -> Result<Vec<Partition>> {
        for open in &mut self.open {
            open.write(&mut self.file, cx.temp_space())?;
        }
        let (file, level) = (Arc::new(self.file), self.level);
        let partition = |open: Open| {
            let (file, stretches) = (Arc::clone(&file), open.stretches);
            Partition { file, stretches, level }
        };
        Ok(self.open.into_iter().map(partition).collect())
    }
}

impl Partition {
    /// At which level its rows were taken apart.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Its rows, from the first on.
    #[must_use]
    pub fn read(self) -> PartitionReader {
        PartitionReader { partition: self, at: 0, reader: RowReader::new(0..0, PORTION_BYTES) }
    }
}

impl PartitionReader {
    /// The next row; false at the end.
    ///
    /// # Errors
    /// I/O; XX001.
    pub fn next(&mut self, row: &mut RowBuf) -> Result<bool> {
        while !self.reader.next(&self.partition.file, row)? {
            let Some(stretch) = self.partition.stretches.get(self.at) else { return Ok(false) };
            self.reader = RowReader::new(stretch.clone(), PORTION_BYTES);
            self.at += 1;
        }
        Ok(true)
    }
}
