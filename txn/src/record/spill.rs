//! Spilled versions: older images that snapshots still need, moved from their chains to scratch space.
//!
//! Past the soft mark of version memory the oldest versions are written out as a sorted run ([`crate::run`]), in which an
//! entry's order is the version's LSN and its mark the commit that replaced it.
//!
//! So a spilled version knows from which commit on it was seen and at which it was replaced, and a snapshot is shown at
//! most one version of a record, in whichever run. A run goes, with its file, once the horizon has reached the last of
//! the commits that replaced its versions.
//!
//! Order: a run is on the list *before* its versions leave their chains; a reader asks the chain first and the list
//! afterwards. The list is replaced, never changed, so that a reader holds no latch while it reads a file, and no epoch
//! guard either: what keeps a run is that the reader's own snapshot is announced.

use crate::Lsn;
use crate::run::{BlockCache, Entry, Run, Runs as Maker};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crossbeam_utils::CachePadded;
use storage::{Scratch, TreeId};

/// A version in a run that is being gathered, as places in its arena.
#[derive(Clone, Copy, Debug)]
struct Version {
    tree: TreeId,
    lsn: Lsn,
    replaced: Lsn,
    key: (u32, u32),
    /// None for a tombstone.
    value: Option<(u32, u32)>,
}

/// Versions on their way to a run.
#[derive(Debug, Default)]
pub struct Batch {
    versions: Vec<Version>,
    arena: Vec<u8>,
}

/// A run of versions.
#[derive(Debug)]
struct Spilled {
    run: Run,
    /// The last commit that replaced one: snapshots from it on see nothing here.
    last: Lsn,
}

/// A list of runs as it was at one moment, oldest first.
type Runs = Arc<Vec<Arc<Spilled>>>;

/// All runs.
#[derive(Debug)]
pub struct Spill {
    /// How many runs there are: zero, nearly always, and then nothing else is looked at.
    count: CachePadded<AtomicUsize>,
    runs: Mutex<Runs, { rank::GARBAGE }>,
    /// One spills at a time.
    spilling: Mutex<(), { rank::SPILL }>,
    maker: Arc<Maker>,
    spilled: AtomicU64,
    reads: AtomicU64,
    /// After a failure nobody tries again before this time, in microseconds of the monotonic clock.
    retry_at: AtomicU64,
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
        let value = value.map(place);
        self.versions.push(Version { tree, lsn, replaced, key, value });
    }

    /// What it occupies, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.len() + self.versions.len() * size_of::<Version>()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    fn slice(&self, (at, length): (u32, u32)) -> &[u8] {
        &self.arena[at as usize..][..length as usize]
    }

    /// Writes a run.
    fn write(mut self, maker: &Maker, scratch: &Arc<Scratch>) -> storage::Result<Spilled> {
        let mut versions = std::mem::take(&mut self.versions);
        versions.sort_unstable_by(|a, b| {
            let keys = || self.slice(a.key).cmp(self.slice(b.key));
            a.tree.cmp(&b.tree).then_with(keys).then(a.lsn.cmp(&b.lsn))
        });
        let mut run = maker.begin(scratch, versions.len())?;
        for version in &versions {
            run.push(Entry {
                tree: version.tree,
                key: self.slice(version.key),
                order: version.lsn.0,
                mark: version.replaced.0,
                value: version.value.map(|value| self.slice(value)),
            })?;
        }
        let last = versions.iter().map(|version| version.replaced).max().unwrap_or(Lsn::ZERO);
        Ok(Spilled { run: run.finish()?, last })
    }
}

impl Spill {
    /// No runs.
    #[must_use]
    pub(crate) fn new(maker: Arc<Maker>) -> Spill {
        Spill {
            count: CachePadded::default(),
            runs: Mutex::default(),
            spilling: Mutex::default(),
            maker,
            spilled: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            retry_at: AtomicU64::new(0),
        }
    }

    /// Who spills. Held while a run is written; whoever has it may take a node's mutex.
    pub(crate) fn spilling(&self) -> &Mutex<(), { rank::SPILL }> {
        &self.spilling
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
        let run = Arc::new(batch.write(&self.maker, scratch)?);
        self.spilled.fetch_add(run.run.entries(), Ordering::Relaxed);
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
        let hash = self.maker.hash(tree, key);
        for Spilled { run, last } in runs.iter().rev().map(|run| &**run) {
            if run.orders().0 <= snapshot.0
                && snapshot < *last
                && run.may_have((tree, key), hash)
                && let Some(read) = run.find((tree, key), snapshot.0, cache)?
                && snapshot.0 < read.mark
            {
                self.reads.fetch_add(1, Ordering::Relaxed);
                found(Lsn(read.order), read.value);
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
        let sums = runs.iter().map(|run| (run.run.entries(), run.run.bytes()));
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
            let spill = Spill::new(Arc::new(Maker::new(5)));
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
            data.close(&mut |tail| tail, true).unwrap();
        }
    }
}
