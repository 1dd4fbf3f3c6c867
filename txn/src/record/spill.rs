//! Spilled versions: older images that snapshots still need, moved from their chains to scratch space.
//!
//! Past the soft mark of version memory the oldest versions are written out as a *run*: one scratch file, sorted by
//! (tree, key, LSN), never changed again (O'Neil et al., *The Log-Structured Merge-Tree*, 1996, for the shape; runs are
//! not merged, since they go by age). In memory stay the first entry of each block of 4 KiB and a Bloom filter with a
//! byte per version (Putze et al., *Cache-, Hash- and Space-Efficient Bloom Filters*, 2007: all bits of a key within one
//! word), together less than a twentieth of what the run holds.
//!
//! A spilled version knows from which commit on it was seen and at which it was replaced, so a snapshot is shown at most
//! one version of a record, in whichever run. A run goes, with its file, once the horizon has reached the last of the
//! commits that replaced its versions.
//!
//! Order: a run is on the list *before* its versions leave their chains; a reader asks the chain first and the list
//! afterwards. The list is replaced, never changed, so that a reader holds no latch while it reads a file, and no epoch
//! guard either: what keeps a run is that the reader's own snapshot is announced.

use super::hash::hash;
use crate::Lsn;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crossbeam_utils::CachePadded;
use std::cmp::Ordering as Order;
use storage::{Scratch, ScratchFile, TreeId};

/// A block of a run, in bytes; the last entry of a block may end beyond it.
const BLOCK_BYTES: usize = 4096;
/// What an entry has before key and value, in bytes: tree, LSN, replaced at, key length, value length.
const HEADER_BYTES: usize = 8 + 8 + 8 + 4 + 4;
/// The value length of a tombstone.
const TOMBSTONE: u32 = u32::MAX;
/// Versions that share a word of the filter.
const PER_WORD: usize = 8;

/// A version in a run that is being gathered, as places in its arena.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tree: TreeId,
    lsn: Lsn,
    replaced: Lsn,
    key: (u32, u32),
    /// Its length is [`TOMBSTONE`] for one.
    value: (u32, u32),
}

/// Versions on their way to a run.
#[derive(Debug, Default)]
pub struct Batch {
    entries: Vec<Entry>,
    arena: Vec<u8>,
}

/// Where a block begins, and its first entry.
#[derive(Debug)]
struct Block {
    offset: u64,
    tree: TreeId,
    lsn: Lsn,
    /// The place of its key among the run's `keys`.
    key: (u32, u32),
}

/// One run.
#[derive(Debug)]
struct Run {
    number: u64,
    file: ScratchFile,
    /// The least LSN of a version: snapshots below it see nothing here.
    first: Lsn,
    /// The last commit that replaced one: snapshots from it on see nothing here.
    last: Lsn,
    versions: u64,
    blocks: Vec<Block>,
    keys: Vec<u8>,
    filter: Vec<u64>,
}

/// A list of runs as it was at one moment, oldest first.
type Runs = Arc<Vec<Arc<Run>>>;

/// All runs.
#[derive(Debug)]
pub struct Spill {
    /// How many runs there are: zero, nearly always, and then nothing else is looked at.
    count: CachePadded<AtomicUsize>,
    runs: Mutex<Runs, { rank::GARBAGE }>,
    /// One spills at a time.
    turn: Mutex<(), { rank::SPILL }>,
    seed: u64,
    made: AtomicU64,
    spilled: AtomicU64,
    reads: AtomicU64,
    /// After a failure nobody tries again before this time, in microseconds of the monotonic clock.
    retry_at: AtomicU64,
}

/// The block that a reader read last: neighbours in key order share it.
#[derive(Debug, Default)]
pub struct BlockCache {
    /// Run and block.
    at: Option<(u64, usize)>,
    bytes: Vec<u8>,
}

impl Batch {
    /// Adds the version of a record that was written at `lsn` and replaced at `replaced`.
    pub fn add(
        &mut self,
        (tree, key): (TreeId, &[u8]),
        lsn: Lsn,
        replaced: Lsn,
        value: Option<&[u8]>,
    ) {
        let mut place = |bytes: &[u8]| {
            let at = self.arena.len() as u32;
            self.arena.extend_from_slice(bytes);
            (at, bytes.len() as u32)
        };
        let key = place(key);
        let value = value.map_or((0, TOMBSTONE), place);
        self.entries.push(Entry { tree, lsn, replaced, key, value });
    }

    /// What it occupies, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.len() + self.entries.len() * size_of::<Entry>()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn slice(&self, (at, length): (u32, u32)) -> &[u8] {
        &self.arena[at as usize..][..length as usize]
    }

    /// Writes a run, a portion of a quarter megabyte at a time.
    fn write(mut self, file: ScratchFile, seed: u64, number: u64) -> storage::Result<Run> {
        const PORTION: usize = 256 << 10;
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| {
            let keys = || self.slice(a.key).cmp(self.slice(b.key));
            a.tree.cmp(&b.tree).then_with(keys).then(a.lsn.cmp(&b.lsn))
        });
        let mut run = Run {
            number,
            file,
            first: entries.iter().map(|entry| entry.lsn).min().unwrap_or(Lsn::MAX),
            last: entries.iter().map(|entry| entry.replaced).max().unwrap_or(Lsn::ZERO),
            versions: entries.len() as u64,
            blocks: Vec::new(),
            keys: Vec::new(),
            filter: vec![0; entries.len().div_ceil(PER_WORD)],
        };
        let (mut written, mut portion) = (0, Vec::with_capacity(PORTION));
        let mut block_end = 0;
        for entry in &entries {
            let (key, at) = (self.slice(entry.key), written + portion.len() as u64);
            if run.blocks.is_empty() || at >= block_end {
                if portion.len() >= PORTION {
                    run.file.write_at(written, &portion)?;
                    written += portion.len() as u64;
                    portion.clear();
                }
                let place = (run.keys.len() as u32, key.len() as u32);
                run.keys.extend_from_slice(key);
                run.blocks.push(Block { offset: at, tree: entry.tree, lsn: entry.lsn, key: place });
                block_end = at + BLOCK_BYTES as u64;
            }
            let (word, bits) = filter_place(hash(seed, entry.tree, key), run.filter.len());
            run.filter[word] |= bits;
            portion.extend_from_slice(&entry.tree.0.to_le_bytes());
            portion.extend_from_slice(&entry.lsn.0.to_le_bytes());
            portion.extend_from_slice(&entry.replaced.0.to_le_bytes());
            portion.extend_from_slice(&entry.key.1.to_le_bytes());
            portion.extend_from_slice(&entry.value.1.to_le_bytes());
            portion.extend_from_slice(key);
            if entry.value.1 != TOMBSTONE {
                portion.extend_from_slice(self.slice(entry.value));
            }
        }
        run.file.write_at(written, &portion)?;
        Ok(run)
    }
}

/// The word and the bits that stand for a hash in a filter of `words` words.
fn filter_place(hash: u64, words: usize) -> (usize, u64) {
    // The table of records takes the low bits of the same hash; here they are mixed once more.
    let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = ((u128::from(mixed) * words as u128) >> 64) as usize;
    let bit = |shift: u32| 1u64 << (mixed >> shift & 63);
    (word, bit(0) | bit(6) | bit(12))
}

/// An entry that has been read.
struct Read<'b> {
    tree: TreeId,
    lsn: Lsn,
    replaced: Lsn,
    key: &'b [u8],
    value: Option<&'b [u8]>,
}

impl<'b> Read<'b> {
    /// The first entry of `bytes`, and what follows.
    fn first(bytes: &'b [u8]) -> Option<(Read<'b>, &'b [u8])> {
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
            TOMBSTONE => (None, rest),
            length => {
                let (value, rest) = rest.split_at_checked(length as usize)?;
                (Some(value), rest)
            }
        };
        let read = Read {
            tree: TreeId(number(0)),
            lsn: Lsn(number(8)),
            replaced: Lsn(number(16)),
            key,
            value,
        };
        Some((read, rest))
    }
}

impl Run {
    fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = filter_place(hash, self.filter.len());
        self.filter[word] & bits == bits
    }

    fn key(&self, block: &Block) -> &[u8] {
        &self.keys[block.key.0 as usize..][..block.key.1 as usize]
    }

    /// The version that `snapshot` shows.
    fn find<'c>(
        &self,
        (tree, key): (TreeId, &[u8]),
        snapshot: Lsn,
        cache: &'c mut BlockCache,
    ) -> storage::Result<Option<Read<'c>>> {
        // The newest at or below the snapshot stands in the last block that does not begin behind it.
        let behind = self.blocks.partition_point(|block| {
            let order = block.tree.cmp(&tree).then_with(|| self.key(block).cmp(key));
            order.then(block.lsn.cmp(&snapshot)) != Order::Greater
        });
        let Some(at) = behind.checked_sub(1) else { return Ok(None) };
        self.fetch(at, cache)?;
        let (mut rest, mut best) = (&cache.bytes[..], None);
        while !rest.is_empty() {
            let Some((read, more)) = Read::first(rest) else {
                let what = "a block of spilled versions is not what was written";
                return Err(storage::Error::CorruptLog(what.into()));
            };
            let order = read.tree.cmp(&tree).then_with(|| read.key.cmp(key));
            if order.then(read.lsn.cmp(&snapshot)) == Order::Greater {
                break;
            }
            best = (order == Order::Equal).then_some(read);
            rest = more;
        }
        Ok(best.filter(|read| snapshot < read.replaced))
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

impl Spill {
    /// No runs.
    #[must_use]
    pub fn new(seed: u64) -> Spill {
        Spill {
            count: CachePadded::default(),
            runs: Mutex::default(),
            turn: Mutex::default(),
            seed,
            made: AtomicU64::new(0),
            spilled: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            retry_at: AtomicU64::new(0),
        }
    }

    /// The turn to spill. Held while a run is written; whoever has it may take a node's mutex.
    pub(crate) fn turn(&self) -> &Mutex<(), { rank::SPILL }> {
        &self.turn
    }

    /// Whether a failed attempt is too recent at `now` for another.
    pub(crate) fn failed_lately(&self, now: u64) -> bool {
        now < self.retry_at.load(Ordering::Relaxed)
    }

    /// Nobody tries again before `until`.
    pub(crate) fn rest_until(&self, until: u64) {
        self.retry_at.store(until, Ordering::Relaxed);
    }

    /// Writes a run and puts it on the list. From then on its versions may leave their chains.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O. Then nothing has changed.
    pub fn write(&self, scratch: &Arc<Scratch>, batch: Batch) -> storage::Result<()> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let run = Arc::new(batch.write(scratch.file()?, self.seed, number)?);
        self.spilled.fetch_add(run.versions, Ordering::Relaxed);
        let mut runs = lock(&self.runs);
        Arc::make_mut(&mut runs).push(run);
        // Release: pairs with Acquire in `list`. A chain is cut under its mutex after this, and a reader that finds
        // it cut has seen this count.
        self.count.store(runs.len(), Ordering::Release);
        Ok(())
    }

    fn list(&self) -> Option<Runs> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        Some(Arc::clone(&lock(&self.runs)))
    }

    /// Reads the version of a record that `snapshot` shows, if it has been spilled. Asked after the record's chain.
    ///
    /// # Errors
    /// I/O.
    pub fn version(
        &self,
        tree: TreeId,
        key: &[u8],
        snapshot: Lsn,
        cache: &mut BlockCache,
        found: impl FnOnce(Lsn, Option<&[u8]>),
    ) -> storage::Result<bool> {
        let Some(runs) = self.list() else { return Ok(false) };
        let hash = hash(self.seed, tree, key);
        for run in runs.iter().rev() {
            if run.first <= snapshot
                && snapshot < run.last
                && run.may_have(hash)
                && let Some(read) = run.find((tree, key), snapshot, cache)?
            {
                self.reads.fetch_add(1, Ordering::Relaxed);
                found(read.lsn, read.value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets go of every run that nobody at or above `horizon` can ask for, and of its file; false if there was none.
    pub fn reclaim(&self, horizon: Lsn) -> bool {
        if self.is_empty() {
            return false;
        }
        let gone: Vec<_> = {
            let mut runs = lock(&self.runs);
            let list = Arc::make_mut(&mut runs);
            let gone = list.extract_if(.., |run| run.last <= horizon).collect();
            self.count.store(list.len(), Ordering::Release);
            gone
        };
        // Their files go here, where no latch is held.
        !gone.is_empty()
    }

    /// Whether nothing is spilled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Versions spilled so far.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// Spilled versions read so far.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// How many versions are in runs now, and what the runs occupy on disk, in bytes.
    #[must_use]
    pub fn held(&self) -> (u64, u64) {
        let runs = self.list().unwrap_or_default();
        let sums = runs.iter().map(|run| (run.versions, run.file.bytes()));
        sums.fold((0, 0), |sum, run| (sum.0 + run.0, sum.1 + run.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Versions spread over runs in any way: each snapshot is shown what its record was then.
        #[test]
        fn every_snapshot_reads_what_it_saw(
            histories in proptest::collection::btree_map(
                (0..3u64, proptest::collection::vec(0..4u8, 0..6)),
                proptest::collection::btree_map(1..60u64, any::<Option<u16>>(), 1..12),
                1..40,
            ),
            places in proptest::collection::vec(0..3usize, 1..50),
        ) {
            let env = crate::tests::environment(storage::device::faulty::FaultyDevice::new(1), 1);
            let options = crate::tests::small();
            storage::DataComponent::create(&env, &options.storage).unwrap();
            let data = storage::DataComponent::open(env, options.storage).unwrap().finish(&|_| false).unwrap();
            let spill = Spill::new(5);
            let mut batches: Vec<_> = (0..3).map(|_| Batch::default()).collect();
            let value = |seed: u16| vec![seed as u8; usize::from(seed) % 700];
            let mut places = places.into_iter().cycle();
            for ((tree, key), versions) in &histories {
                let next = versions.keys().copied().skip(1).chain([60]);
                for ((lsn, seed), replaced) in versions.iter().zip(next) {
                    let value = seed.map(value);
                    let batch = &mut batches[places.next().unwrap()];
                    batch.add((TreeId(*tree), key), Lsn(*lsn), Lsn(replaced), value.as_deref());
                }
            }
            for batch in batches.into_iter().filter(|batch| !batch.is_empty()) {
                spill.write(data.scratch(), batch).unwrap();
            }
            let empty = BTreeMap::new();
            let mut cache = BlockCache::default();
            for tree in 0..3u64 {
                for key in histories.keys().map(|name| &name.1) {
                    let versions = histories.get(&(tree, key.clone())).unwrap_or(&empty);
                    for snapshot in [0, 1, 7, 20, 33, 59, 60] {
                        let mut read = None;
                        let found = spill.version(TreeId(tree), key, Lsn(snapshot), &mut cache, |lsn, value| {
                            read = Some((lsn.0, value.map(<[u8]>::to_vec)));
                        });
                        let expected = versions.range(..=snapshot).next_back().filter(|_| snapshot < 60);
                        let expected = expected.map(|(lsn, seed)| (*lsn, seed.map(value)));
                        prop_assert_eq!(found.unwrap(), expected.is_some());
                        prop_assert_eq!(read, expected);
                    }
                }
            }
            let versions: usize = histories.values().map(BTreeMap::len).sum();
            prop_assert_eq!(spill.held(), (versions as u64, data.scratch().bytes()));
            prop_assert!(spill.reclaim(Lsn(60)) && spill.is_empty());
            prop_assert_eq!(data.scratch().bytes(), 0);
            data.close().unwrap();
        }
    }

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
