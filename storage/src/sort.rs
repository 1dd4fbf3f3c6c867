//! External merge sort of records by key, in bounded memory (Knuth, *The Art of Computer Programming*, vol. 3, 5.4).
//!
//! Records gather in blocks of memory; when their limit is reached they are sorted and written to a temporary file as a
//! *run*, and at the end all runs are merged. Equal keys stay in the order in which they came, and each record keeps its
//! *ordinal*, the number of records that came before it, so that a caller can tell which of two equal keys was first.

use crate::merge_heap::MergeHeap;
use crate::scratch::{Scratch, ScratchFile};
use crate::sync::Arc;
use crate::{Error, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// Records gather in blocks, so that memory grows evenly and nothing is copied: an eighth of the memory, at most this.
const BLOCK_BYTES_MAX: usize = 256 << 10;
/// The largest buffer of a run.
const RUN_BUFFER_BYTES_MAX: usize = 256 << 10;
/// In front of a record in a run: lengths of key and value, and the ordinal.
const FRAME_BYTES: usize = 16;
/// The least memory a sort works with.
pub const MEMORY_BYTES_MIN: usize = 32 << 10;

/// A record in the blocks.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The first bytes of the key: most comparisons end here.
    prefix: u64,
    ordinal: u64,
    block: u32,
    at: u32,
    key_len: u32,
    value_len: u32,
}

/// A record that a sort gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorted<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
    /// How many came before it.
    pub ordinal: u64,
}

/// Records on their way in.
pub struct Sorter {
    scratch: Arc<Scratch>,
    memory_bytes_max: usize,
    block_bytes: usize,
    blocks: Vec<Vec<u8>>,
    /// The block that is being filled.
    block: usize,
    items: Vec<Item>,
    /// Whether every key in the blocks is above the one before.
    ascending: bool,
    pushed: u64,
    spilled: Option<Spilled>,
}

/// Runs in a temporary file.
#[derive(Debug)]
struct Spilled {
    file: ScratchFile,
    runs: Vec<Range<u64>>,
}

impl std::fmt::Debug for Sorter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sorter").field("pushed", &self.pushed).finish_non_exhaustive()
    }
}

fn prefix_of(key: &[u8]) -> u64 {
    let mut prefix = [0; 8];
    let len = key.len().min(8);
    prefix[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(prefix)
}

impl Sorter {
    /// A sort that holds at most `memory_bytes_max` of records, and at least [`MEMORY_BYTES_MIN`].
    #[must_use]
    pub fn new(scratch: &Arc<Scratch>, memory_bytes_max: usize) -> Sorter {
        let memory_bytes_max = memory_bytes_max.max(MEMORY_BYTES_MIN);
        Sorter {
            scratch: Arc::clone(scratch),
            memory_bytes_max,
            block_bytes: (memory_bytes_max / 8).min(BLOCK_BYTES_MAX),
            blocks: Vec::new(),
            block: 0,
            items: Vec::new(),
            ascending: true,
            pushed: 0,
            spilled: None,
        }
    }

    /// Takes a record. The caller spills, or takes records out, once [`Sorter::is_full`].
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.ascending = self.ascending
            && self.items.last().is_none_or(|last| self.key(last).cmp(key) == Ordering::Less);
        let len = key.len() + value.len();
        if self.blocks.get(self.block).is_some_and(|block| block.len() + len > self.block_bytes) {
            self.block += 1;
        }
        if self.block == self.blocks.len() {
            self.blocks.push(Vec::with_capacity(self.block_bytes.max(len)));
        }
        let block = &mut self.blocks[self.block];
        let at = block.len();
        block.extend_from_slice(key);
        block.extend_from_slice(value);
        self.items.push(Item {
            prefix: prefix_of(key),
            ordinal: self.pushed,
            block: self.block as u32,
            at: at as u32,
            key_len: key.len() as u32,
            value_len: value.len() as u32,
        });
        self.pushed += 1;
    }

    /// How many records have come.
    #[must_use]
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// What the records in memory take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + (self.block + 1) * self.block_bytes
    }

    /// Whether no more should be taken in before some have gone.
    #[must_use]
    pub fn is_full(&self) -> bool {
        // The list of items doubles when it is full, and holds old and new for a moment.
        let growth = if self.items.len() == self.items.capacity() {
            2 * self.items.capacity() * size_of::<Item>()
        } else {
            0
        };
        !self.items.is_empty()
            && self.memory_bytes() + growth + self.block_bytes > self.memory_bytes_max
    }

    /// Whether the keys in memory came in order, each above the one before.
    #[must_use]
    pub fn is_ascending(&self) -> bool {
        self.ascending
    }

    /// Whether anything has been written to a temporary file.
    #[must_use]
    pub fn has_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    fn key(&self, item: &Item) -> &[u8] {
        &self.blocks[item.block as usize][item.at as usize..][..item.key_len as usize]
    }

    fn record(&self, item: &Item) -> Sorted<'_> {
        let bytes = &self.blocks[item.block as usize][item.at as usize..];
        let (key, rest) = bytes.split_at(item.key_len as usize);
        Sorted { key, value: &rest[..item.value_len as usize], ordinal: item.ordinal }
    }

    /// Sorts what is in memory.
    pub fn sort(&mut self) {
        if self.ascending {
            return;
        }
        let mut items = std::mem::take(&mut self.items);
        items.sort_unstable_by(|a, b| {
            let order = a.prefix.cmp(&b.prefix).then_with(|| self.key(a).cmp(self.key(b)));
            order.then_with(|| a.ordinal.cmp(&b.ordinal))
        });
        self.items = items;
    }

    /// The records in memory, in order once they are sorted.
    pub fn records(&self) -> impl Iterator<Item = Sorted<'_>> {
        self.items.iter().map(|item| self.record(item))
    }

    /// Forgets the records in memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.blocks.iter_mut().for_each(Vec::clear);
        self.block = 0;
        self.ascending = true;
    }

    /// Writes what is in memory to a temporary file as one more run.
    ///
    /// # Errors
    /// I/O; [`Error::Full`].
    pub fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut spilled = match self.spilled.take() {
            Some(spilled) => spilled,
            None => Spilled { file: self.scratch.file()?, runs: Vec::new() },
        };
        let mut run = RunWriter::new(&mut spilled.file, self.memory_bytes_max);
        for record in self.records() {
            run.push(&record)?;
        }
        let run = run.finish()?;
        spilled.runs.push(run);
        self.spilled = Some(spilled);
        self.clear();
        Ok(())
    }

    /// Ends the input: the records in order.
    ///
    /// # Errors
    /// I/O; [`Error::Full`].
    pub fn finish(mut self) -> Result<SortedRecords> {
        if self.spilled.is_none() {
            self.sort();
            return Ok(SortedRecords::Memory(self, 0));
        }
        if !self.items.is_empty() {
            self.spill()?;
        }
        let Sorter { scratch, memory_bytes_max, spilled, .. } = self;
        let mut spilled = spilled.expect("it has just been looked at");
        // One buffer is for the run that is being written.
        let at_once = memory_bytes_max / run_buffer_bytes_min(memory_bytes_max) - 1;
        while spilled.runs.len() > at_once {
            spilled = merge_pass(&scratch, spilled, memory_bytes_max, at_once)?;
        }
        Ok(SortedRecords::Merged(Merge::new(spilled, memory_bytes_max)?))
    }
}

/// The smallest buffer of a run that is being merged; one that a record does not fit into grows.
fn run_buffer_bytes_min(memory_bytes_max: usize) -> usize {
    (memory_bytes_max / 8).min(32 << 10)
}

/// Merges runs, as many at once as memory has buffers for, into longer ones.
fn merge_pass(
    scratch: &Arc<Scratch>,
    from: Spilled,
    memory_bytes_max: usize,
    at_once: usize,
) -> Result<Spilled> {
    let mut to = Spilled { file: scratch.file()?, runs: Vec::new() };
    for runs in from.runs.chunks(at_once) {
        let mut readers = Readers::new(&from.file, runs, memory_bytes_max)?;
        let mut run = RunWriter::new(&mut to.file, memory_bytes_max);
        readers.advance(&from.file)?;
        while let Some(record) = readers.current() {
            run.push(&record)?;
            readers.advance(&from.file)?;
        }
        let run = run.finish()?;
        to.runs.push(run);
    }
    Ok(to)
}

/// Writes a run.
struct RunWriter<'f> {
    file: &'f mut ScratchFile,
    begin: u64,
    buffer: Vec<u8>,
    buffer_bytes: usize,
}

impl<'f> RunWriter<'f> {
    fn new(file: &'f mut ScratchFile, memory_bytes_max: usize) -> RunWriter<'f> {
        let begin = file.bytes();
        let buffer_bytes = (memory_bytes_max / 8).min(RUN_BUFFER_BYTES_MAX);
        RunWriter { file, begin, buffer: Vec::with_capacity(buffer_bytes), buffer_bytes }
    }

    fn push(&mut self, record: &Sorted<'_>) -> Result<()> {
        let len = FRAME_BYTES + record.key.len() + record.value.len();
        if self.buffer.len() + len > self.buffer_bytes {
            self.file.write_at(self.file.bytes(), &self.buffer)?;
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(&(record.key.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(record.value.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&record.ordinal.to_le_bytes());
        self.buffer.extend_from_slice(record.key);
        self.buffer.extend_from_slice(record.value);
        Ok(())
    }

    fn finish(self) -> Result<Range<u64>> {
        self.file.write_at(self.file.bytes(), &self.buffer)?;
        Ok(self.begin..self.file.bytes())
    }
}

/// Reads a run.
#[derive(Debug)]
struct RunReader {
    /// What is not yet in the buffer.
    left: Range<u64>,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    /// Where the current record begins in the buffer.
    at: usize,
    key_len: usize,
    value_len: usize,
    ordinal: u64,
}

impl RunReader {
    fn record(&self) -> Sorted<'_> {
        let bytes = &self.buffer[self.at + FRAME_BYTES..][..self.key_len + self.value_len];
        let (key, value) = bytes.split_at(self.key_len);
        Sorted { key, value, ordinal: self.ordinal }
    }

    /// Goes to the record at `at`; false if the run has ended.
    fn load(&mut self, file: &ScratchFile) -> Result<bool> {
        if !self.has(file, FRAME_BYTES)? {
            return Ok(false);
        }
        let word = |at: usize, buffer: &[u8]| {
            u32::from_le_bytes(buffer[at..at + 4].try_into().expect("four bytes")) as usize
        };
        self.key_len = word(self.at, &self.buffer);
        self.value_len = word(self.at + 4, &self.buffer);
        let ordinal = &self.buffer[self.at + 8..self.at + FRAME_BYTES];
        self.ordinal = u64::from_le_bytes(ordinal.try_into().expect("eight bytes"));
        if !self.has(file, FRAME_BYTES + self.key_len + self.value_len)? {
            return Err(Error::CorruptLog("a temporary file ends within a record".into()));
        }
        Ok(true)
    }

    fn advance(&mut self, file: &ScratchFile) -> Result<bool> {
        self.at += FRAME_BYTES + self.key_len + self.value_len;
        self.load(file)
    }

    /// Whether the run has `bytes` more from `at` on; brings them into the buffer.
    fn has(&mut self, file: &ScratchFile, bytes: usize) -> Result<bool> {
        if self.buffer.len() - self.at >= bytes {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let room = self.buffer_bytes.max(bytes) - have;
        let more = (self.left.end - self.left.start).min(room as u64) as usize;
        self.buffer.resize(have + more, 0);
        file.read_at(self.left.start, &mut self.buffer[have..])?;
        self.left.start += more as u64;
        Ok(self.buffer.len() >= bytes)
    }
}

/// Runs that are being merged.
#[derive(Debug)]
struct Readers {
    runs: Vec<RunReader>,
    /// Those that have a record.
    heap: MergeHeap,
    begun: bool,
}

/// Whether the current record of one run comes before that of another.
fn before(runs: &[RunReader], a: usize, b: usize) -> bool {
    let (a, b) = (runs[a].record(), runs[b].record());
    a.key.cmp(b.key).then(a.ordinal.cmp(&b.ordinal)) == Ordering::Less
}

impl Readers {
    fn new(file: &ScratchFile, runs: &[Range<u64>], memory_bytes_max: usize) -> Result<Readers> {
        let share = memory_bytes_max / runs.len().max(1);
        let buffer_bytes = share.min(RUN_BUFFER_BYTES_MAX);
        let (mut readers, mut begun) = (Vec::new(), Vec::new());
        for run in runs {
            let mut reader = RunReader {
                left: run.clone(),
                buffer: Vec::new(),
                buffer_bytes,
                at: 0,
                key_len: 0,
                value_len: 0,
                ordinal: 0,
            };
            if reader.load(file)? {
                begun.push(readers.len());
            }
            readers.push(reader);
        }
        let heap = MergeHeap::new(begun, |a, b| before(&readers, a, b));
        Ok(Readers { runs: readers, heap, begun: false })
    }

    fn advance(&mut self, file: &ScratchFile) -> Result<()> {
        let Readers { runs, heap, begun } = self;
        if std::mem::replace(begun, true)
            && let Some(first) = heap.first()
        {
            let there = runs[first].advance(file)?;
            if !there {
                runs[first].buffer = Vec::new();
            }
            heap.advanced(there, |a, b| before(runs, a, b));
        }
        Ok(())
    }

    fn current(&self) -> Option<Sorted<'_>> {
        self.heap.first().map(|first| self.runs[first].record())
    }
}

/// Runs being merged, and the file they stand in.
#[derive(Debug)]
pub struct Merge {
    file: ScratchFile,
    readers: Readers,
}

impl Merge {
    fn new(spilled: Spilled, memory_bytes_max: usize) -> Result<Merge> {
        let readers = Readers::new(&spilled.file, &spilled.runs, memory_bytes_max)?;
        Ok(Merge { file: spilled.file, readers })
    }
}

/// The records of a sort, in order.
#[derive(Debug)]
pub enum SortedRecords {
    /// All were in memory; how many have been gone to.
    Memory(Sorter, usize),
    /// From a temporary file.
    Merged(Merge),
}

impl SortedRecords {
    /// Goes to the next record: at the beginning, to the first.
    ///
    /// # Errors
    /// I/O.
    pub fn advance(&mut self) -> Result<()> {
        match self {
            SortedRecords::Memory(_, next) => *next += 1,
            SortedRecords::Merged(merge) => merge.readers.advance(&merge.file)?,
        }
        Ok(())
    }

    /// The record it has gone to; none behind the last.
    #[must_use]
    pub fn current(&self) -> Option<Sorted<'_>> {
        match self {
            SortedRecords::Memory(sorter, next) => {
                sorter.items.get(next.checked_sub(1)?).map(|item| sorter.record(item))
            }
            SortedRecords::Merged(merge) => merge.readers.current(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::chance::Chance;
    use crate::device::faulty::FaultyDevice;

    /// Sorts `count` records of random keys, some of them equal, in the least memory.
    fn sorted(count: u64, spills: bool) {
        let device: Arc<dyn Device> = Arc::new(FaultyDevice::new(3));
        let scratch = Arc::new(Scratch::open(&device).unwrap());
        let mut sorter = Sorter::new(&scratch, 0);
        let mut chance = Chance::new(count);
        let mut expected = Vec::new();
        for ordinal in 0..count {
            let key = format!("key {:04}", chance.below(count / 2 + 1)).into_bytes();
            let value = vec![ordinal as u8; chance.below(200) as usize];
            sorter.push(&key, &value);
            expected.push((key, ordinal, value));
            if sorter.is_full() {
                sorter.spill().unwrap();
            }
            assert!(sorter.memory_bytes() <= MEMORY_BYTES_MIN);
        }
        assert_eq!(sorter.has_spilled(), spills);
        expected.sort();
        let mut records = sorter.finish().unwrap();
        for (key, ordinal, value) in &expected {
            records.advance().unwrap();
            let record = records.current().expect("none is lost");
            assert_eq!(
                (record.key, record.ordinal, record.value),
                (&key[..], *ordinal, &value[..])
            );
        }
        records.advance().unwrap();
        assert_eq!(records.current(), None);
        drop(records);
        assert_eq!((scratch.bytes(), device.list("").unwrap().len()), (0, 0));
    }

    #[test]
    fn records_come_back_in_order_from_memory_from_runs_and_from_runs_of_runs() {
        sorted(0, false);
        sorted(1, false);
        sorted(100, false);
        sorted(500, true);
        // More runs than there are buffers.
        sorted(40_000, true);
    }
}
