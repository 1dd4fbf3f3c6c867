//! Sorted runs: entries that are written to one scratch file in order, and never changed again.
//!
//! An entry has a name (tree and key), an *order* among the entries of that name, a mark that means what its owner says,
//! and a value, or none. Entries stand by tree, key and order (O'Neil et al., *The Log-Structured Merge-Tree*, 1996, for the
//! shape; runs are not merged). In memory stay the first name of each block of 8 KiB, the last name of all, and a Bloom
//! filter with a byte per entry (Putze et al., *Cache-, Hash- and Space-Efficient Bloom Filters*, 2007: all bits of a name
//! within one word), together less than a twentieth of what a run of rows holds.
//!
//! Three things are kept so: older versions ([`crate::record::spill`]), the writes of a transaction that are more than it
//! may hold in memory ([`crate::writeset::spilled`]), and the row locks of one ([`crate::lock::spilled`]).

use crate::record::hash::hash;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};
use std::cmp::Ordering as Order;
use std::ops::Bound;
use storage::{Direction, Scratch, ScratchFile, TreeId};

/// A block of a run, in bytes; the last entry of a block may end beyond it.
const BLOCK_BYTES: usize = 8192;
/// What is written at a time, in bytes.
const PORTION_BYTES: usize = 256 << 10;
/// What an entry has before key and value, in bytes: tree, order, mark, key length, value length.
const HEADER_BYTES: usize = 8 + 8 + 8 + 4 + 4;
/// The value length of an entry without one.
const NO_VALUE: u32 = u32::MAX;
/// Entries that share a word of the filter.
const PER_WORD: usize = 8;

/// Makes runs: numbers that no two of them share, and the seed of their filters.
#[derive(Debug)]
pub struct Runs {
    seed: u64,
    made: AtomicU64,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The tree.
    pub tree: TreeId,
    /// The key.
    pub key: &'a [u8],
    /// Its place among the entries of this name.
    pub order: u64,
    /// The owner's.
    pub mark: u64,
    /// Its value, if it has one.
    pub value: Option<&'a [u8]>,
}

/// Where a block begins, and its first entry.
#[derive(Debug)]
struct Block {
    offset: u64,
    tree: TreeId,
    order: u64,
    /// The place of its key among the run's `keys`.
    key: (u32, u32),
}

/// One run.
#[derive(Debug)]
pub struct Run {
    number: u64,
    seed: u64,
    file: ScratchFile,
    entries: u64,
    /// The least and the greatest order of an entry.
    orders: (u64, u64),
    blocks: Vec<Block>,
    keys: Vec<u8>,
    /// The last name.
    last: (TreeId, Vec<u8>),
    filter: Vec<u64>,
}

/// A run that is being written, in order.
#[derive(Debug)]
pub struct RunWriter {
    run: Run,
    written: u64,
    portion: Vec<u8>,
    block_end: u64,
}

/// The block that a reader read last: neighbours in key order share it.
#[derive(Debug, Default)]
pub struct BlockCache {
    /// Run and block.
    at: Option<(u64, usize)>,
    bytes: Vec<u8>,
}

impl Runs {
    /// None made yet.
    #[must_use]
    pub fn new(seed: u64) -> Runs {
        Runs { seed, made: AtomicU64::new(0) }
    }

    /// Begins a run of `entries` entries at most.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O.
    pub fn begin(&self, scratch: &Arc<Scratch>, entries: usize) -> storage::Result<RunWriter> {
        let run = Run {
            number: self.made.fetch_add(1, Ordering::Relaxed),
            seed: self.seed,
            file: scratch.file()?,
            entries: 0,
            orders: (u64::MAX, 0),
            blocks: Vec::new(),
            keys: Vec::new(),
            last: (TreeId(0), Vec::new()),
            filter: vec![0; entries.div_ceil(PER_WORD).max(1)],
        };
        let portion = Vec::with_capacity(PORTION_BYTES + BLOCK_BYTES);
        Ok(RunWriter { run, written: 0, portion, block_end: 0 })
    }

    /// The hash that [`Run::may_have`] asks for.
    #[must_use]
    pub fn hash(&self, tree: TreeId, key: &[u8]) -> u64 {
        hash(self.seed, tree, key)
    }
}

impl RunWriter {
    /// Adds an entry, which is behind all others.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O.
    pub fn push(&mut self, entry: Entry<'_>) -> storage::Result<()> {
        let run = &mut self.run;
        let at = self.written + self.portion.len() as u64;
        if run.blocks.is_empty() || at >= self.block_end {
            if self.portion.len() >= PORTION_BYTES {
                run.file.write_at(self.written, &self.portion)?;
                self.written += self.portion.len() as u64;
                self.portion.clear();
            }
            let key = (run.keys.len() as u32, entry.key.len() as u32);
            run.keys.extend_from_slice(entry.key);
            run.blocks.push(Block { offset: at, tree: entry.tree, order: entry.order, key });
            self.block_end = at + BLOCK_BYTES as u64;
        }
        let (word, bits) = filter_place(hash(run.seed, entry.tree, entry.key), run.filter.len());
        run.filter[word] |= bits;
        run.entries += 1;
        run.orders = (run.orders.0.min(entry.order), run.orders.1.max(entry.order));
        run.last.0 = entry.tree;
        run.last.1.clear();
        run.last.1.extend_from_slice(entry.key);
        let portion = &mut self.portion;
        portion.extend_from_slice(&entry.tree.0.to_le_bytes());
        portion.extend_from_slice(&entry.order.to_le_bytes());
        portion.extend_from_slice(&entry.mark.to_le_bytes());
        portion.extend_from_slice(&(entry.key.len() as u32).to_le_bytes());
        let value_bytes = entry.value.map_or(NO_VALUE, |value| value.len() as u32);
        portion.extend_from_slice(&value_bytes.to_le_bytes());
        portion.extend_from_slice(entry.key);
        portion.extend_from_slice(entry.value.unwrap_or_default());
        Ok(())
    }

    /// Ends the run.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O.
    pub fn finish(mut self) -> storage::Result<Run> {
        self.run.file.write_at(self.written, &self.portion)?;
        self.run.blocks.shrink_to_fit();
        self.run.keys.shrink_to_fit();
        Ok(self.run)
    }
}

/// The word and the bits that stand for a hash in a filter of `words` words.
#[inline]
pub(crate) fn filter_place(hash: u64, words: usize) -> (usize, u64) {
    // The table of records takes the low bits of the same hash; here they are mixed once more.
    let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = ((u128::from(mixed) * words as u128) >> 64) as usize;
    let bit = |shift: u32| 1u64 << (mixed >> shift & 63);
    (word, bit(0) | bit(6) | bit(12))
}

fn damaged() -> storage::Error {
    storage::Error::CorruptLog("a block of a scratch file is not what was written".into())
}

impl<'b> Entry<'b> {
    /// The first entry of `bytes`, and what follows.
    fn first(bytes: &'b [u8]) -> Option<(Entry<'b>, &'b [u8])> {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let (numbers, lengths) = header.split_at(24);
        let number = |at: usize| {
            numbers[at..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let length = |at: usize| {
            lengths[at..].first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let (key, rest) = rest.split_at_checked(length(0) as usize)?;
        let (value, rest) = match length(4) {
            NO_VALUE => (None, rest),
            length => {
                let (value, rest) = rest.split_at_checked(length as usize)?;
                (Some(value), rest)
            }
        };
        let (tree, order, mark) = (TreeId(number(0)), number(8), number(16));
        Some((Entry { tree, key, order, mark, value }, rest))
    }
}

impl Run {
    /// How many entries it has.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The least and the greatest order of an entry.
    #[must_use]
    pub fn orders(&self) -> (u64, u64) {
        self.orders
    }

    /// The hash that [`Run::may_have`] asks for: the same for all runs of one maker.
    #[must_use]
    pub fn hash(&self, tree: TreeId, key: &[u8]) -> u64 {
        hash(self.seed, tree, key)
    }

    /// What it occupies on disk, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Whether an entry of this name may be there; `hash` is [`Runs::hash`] of it. Reads nothing.
    #[must_use]
    pub fn may_have(&self, (tree, key): (TreeId, &[u8]), hash: u64) -> bool {
        let beyond = (self.last.0, &self.last.1[..]) < (tree, key);
        let before =
            self.blocks.first().is_none_or(|first| (tree, key) < (first.tree, self.key(first)));
        let (word, bits) = filter_place(hash, self.filter.len());
        !beyond && !before && self.filter[word] & bits == bits
    }

    /// Whether any entry of `tree` may lie within the bounds. Reads nothing.
    #[must_use]
    pub fn may_meet(&self, tree: TreeId, (low, high): (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
        let below = match low {
            Bound::Included(key) => (self.last.0, &self.last.1[..]) < (tree, key),
            Bound::Excluded(key) => (self.last.0, &self.last.1[..]) <= (tree, key),
            Bound::Unbounded => self.last.0 < tree,
        };
        if below {
            return false;
        }
        // The last block that begins within the bounds or before them: what is within stands there, or in one before it
        // that ends within them.
        let first = self.blocks.partition_point(|block| self.is_before(block, tree, low));
        let end = self.end_block(tree, high);
        // Block `first - 1` begins before the bounds, and may reach into them.
        first.saturating_sub(1) < end
    }

    fn key(&self, block: &Block) -> &[u8] {
        &self.keys[block.key.0 as usize..][..block.key.1 as usize]
    }

    /// Whether a block begins before everything within the bound.
    fn is_before(&self, block: &Block, tree: TreeId, low: Bound<&[u8]>) -> bool {
        match low {
            Bound::Included(key) | Bound::Excluded(key) => {
                (block.tree, self.key(block)) < (tree, key)
            }
            Bound::Unbounded => block.tree < tree,
        }
    }

    /// The first block that begins behind the bound.
    fn end_block(&self, tree: TreeId, high: Bound<&[u8]>) -> usize {
        self.blocks.partition_point(|block| match high {
            Bound::Included(key) => (block.tree, self.key(block)) <= (tree, key),
            Bound::Excluded(key) => (block.tree, self.key(block)) < (tree, key),
            Bound::Unbounded => block.tree <= tree,
        })
    }

    /// The entry of this name with the greatest order at or below `order`.
    ///
    /// # Errors
    /// I/O.
    pub fn find<'c>(
        &self,
        (tree, key): (TreeId, &[u8]),
        order: u64,
        cache: &'c mut BlockCache,
    ) -> storage::Result<Option<Entry<'c>>> {
        // It stands in the last block that does not begin behind it.
        let behind = self.blocks.partition_point(|block| {
            let name = block.tree.cmp(&tree).then_with(|| self.key(block).cmp(key));
            name.then(block.order.cmp(&order)) != Order::Greater
        });
        let Some(at) = behind.checked_sub(1) else { return Ok(None) };
        self.fetch(at, cache)?;
        let (mut rest, mut best) = (&cache.bytes[..], None);
        while !rest.is_empty() {
            let (entry, more) = Entry::first(rest).ok_or_else(damaged)?;
            let name = entry.tree.cmp(&tree).then_with(|| entry.key.cmp(key));
            if name.then(entry.order.cmp(&order)) == Order::Greater {
                break;
            }
            best = (name == Order::Equal).then_some(entry);
            rest = more;
        }
        Ok(best)
    }

    fn fetch(&self, at: usize, cache: &mut BlockCache) -> storage::Result<()> {
        if cache.at == Some((self.number, at)) {
            return Ok(());
        }
        cache.at = None;
        let begin = self.blocks[at].offset;
        let end = self.blocks.get(at + 1).map_or(self.file.bytes(), |next| next.offset);
        cache.bytes.resize((end - begin) as usize, 0);
        self.file.read_at(begin, &mut cache.bytes)?;
        cache.at = Some((self.number, at));
        Ok(())
    }
}

/// A walk over the entries of a run, either way.
#[derive(Debug)]
pub struct Walk {
    run: Arc<Run>,
    direction: Direction,
    /// Where it begins, until it has come there.
    near: Option<(TreeId, Bound<Vec<u8>>)>,
    /// The block that `cache` has or will have; beyond the last, or before the first, the walk has ended.
    block: Option<usize>,
    cache: BlockCache,
    /// Where the entries of the block begin, and which of them is next.
    starts: Vec<u32>,
    next: usize,
}

impl Walk {
    /// A walk over what is within `near` and beyond, in `tree` and beyond: forward from a low bound, backward from a
    /// high one. Nothing is read yet.
    #[must_use]
    pub fn new(run: Arc<Run>, tree: TreeId, near: Bound<&[u8]>, direction: Direction) -> Walk {
        let block = match direction {
            // Entries of the first name within may stand in the block before.
            Direction::Forward => {
                let first = run.blocks.partition_point(|block| run.is_before(block, tree, near));
                Some(first.saturating_sub(1))
            }
            Direction::Backward => run.end_block(tree, near).checked_sub(1),
        };
        let near = Some((tree, near.map(<[u8]>::to_vec)));
        let (cache, starts) = (BlockCache::default(), Vec::new());
        Walk { run, direction, near, block, cache, starts, next: 0 }
    }

    /// The next entry.
    ///
    /// # Errors
    /// I/O.
    pub fn advance(&mut self) -> storage::Result<Option<Entry<'_>>> {
        let start = loop {
            let Some(start) = self.step()? else { return Ok(None) };
            let Some((tree, near)) = &self.near else { break start };
            let (entry, _) = Entry::first(&self.cache.bytes[start..]).ok_or_else(damaged)?;
            if !is_outside(&entry, *tree, near, self.direction) {
                self.near = None;
                break start;
            }
        };
        let (entry, _) = Entry::first(&self.cache.bytes[start..]).ok_or_else(damaged)?;
        Ok(Some(entry))
    }

    /// Where the next entry begins in the block that is read.
    fn step(&mut self) -> storage::Result<Option<usize>> {
        while self.next >= self.starts.len() {
            if !self.starts.is_empty() {
                self.starts.clear();
                self.block = match self.direction {
                    Direction::Forward => self.block.map(|block| block + 1),
                    Direction::Backward => self.block.and_then(|block| block.checked_sub(1)),
                };
            }
            let Some(block) = self.block.filter(|block| *block < self.run.blocks.len()) else {
                self.block = None;
                return Ok(None);
            };
            self.run.fetch(block, &mut self.cache)?;
            let bytes = &self.cache.bytes[..];
            let mut rest = bytes;
            while !rest.is_empty() {
                self.starts.push((bytes.len() - rest.len()) as u32);
                rest = Entry::first(rest).ok_or_else(damaged)?.1;
            }
            if self.direction == Direction::Backward {
                self.starts.reverse();
            }
            self.next = 0;
        }
        let start = self.starts[self.next] as usize;
        self.next += 1;
        Ok(Some(start))
    }
}

/// Whether a walk that begins at a bound has not come to it yet.
fn is_outside(entry: &Entry<'_>, tree: TreeId, near: &Bound<Vec<u8>>, way: Direction) -> bool {
    let order = match near {
        Bound::Included(key) => entry.tree.cmp(&tree).then_with(|| entry.key.cmp(key)),
        Bound::Excluded(key) => {
            let name = entry.tree.cmp(&tree).then_with(|| entry.key.cmp(key));
            name.then(if way == Direction::Forward { Order::Less } else { Order::Greater })
        }
        Bound::Unbounded => entry.tree.cmp(&tree),
    };
    order == if way == Direction::Forward { Order::Less } else { Order::Greater }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_lets_few_strangers_through() {
        let mut filter = vec![0u64; 1000 / PER_WORD];
        for key in 0..1000u32 {
            let (word, bits) = filter_place(hash(7, TreeId(1), &key.to_be_bytes()), filter.len());
            filter[word] |= bits;
        }
        let through = (1000..11_000u32).filter(|key| {
            let (word, bits) = filter_place(hash(7, TreeId(1), &key.to_be_bytes()), filter.len());
            filter[word] & bits == bits
        });
        let through = through.count();
        assert!(through < 800, "{through} of 10,000");
    }
}
