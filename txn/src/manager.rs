//! The transaction component as a whole: opened over a data component, it begins transactions.

use crate::background::{self, Signals};
use crate::commit::late::{self, LateCommits};
use crate::commit::slots::CommitSlots;
use crate::commit::watermark::WatermarkWaiters;
use crate::exported::ExportedSnapshots;
use crate::lock::LockManager;
use crate::log;
use crate::metrics::Counts;
use crate::moves::Moves;
use crate::owner::OwnerId;
use crate::planted::{Fault, Planted};
use crate::prepared::PreparedList;
use crate::record::{Collector, Spill};
use crate::recovery::{self, PassTwo};
use crate::run::Runs;
use crate::scheme::hstore::PARTITIONS;
use crate::scheme::hstore::placement::Placements;
use crate::scheme::ssi::Ssi;
use crate::scheme::timestamp::order::Order;
use crate::scheme::timestamp::stamps::ReadStamps;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, OnceLock, lock, rank, relax};
use crate::timestamps::{TimestampAllocator, Timestamps};
use crate::transaction::state::Pool;
use crate::transaction::{Begin, Transaction};
use crate::wait::SessionWait;
use crate::without::Without;
use crate::writeset::WriteSet;
use crate::xact_id::XactIds;
use crate::{Error, Result, Timestamp, TxnId};
use std::ops::Range;
use std::task::{Poll, Waker};
use storage::environment::Joinable;
use storage::{
    Backup, DataComponent, Environment, Lsn, Micros, TreeId, Turnstile, WaitCell, WaitEvent, Woken,
};

/// Limits of the transaction component, and the data component's own options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data component's.
    pub storage: storage::Options,
    /// Buckets of the record table; a power of two.
    pub record_buckets: usize,
    /// A transaction's writes in memory, in bytes, and its row locks, as much again: past it they go to scratch space.
    pub write_set_bytes_max: usize,
    /// What a serializable transaction notes of its reads, in bytes: past it tables are locked instead.
    pub read_set_bytes_max: usize,
    /// Committed serializable transactions that are kept one by one for those who overlap them; older ones are summarized.
    pub serializable_kept_max: usize,
    /// A commit with more writes than this is applied late.
    pub late_writes: usize,
    /// A commit with a larger record is logged in parts, in bytes.
    pub part_bytes_max: usize,
    /// Older versions in memory, in bytes: past this whoever commits helps to collect, then the oldest spill.
    pub version_bytes_soft: u64,
    /// Older versions in memory, in bytes: past this, where they can no longer spill, the oldest snapshot fails.
    pub version_bytes_hard: u64,
    /// Spilled versions, in bytes of scratch space; 0 spills none.
    pub version_spill_bytes_max: u64,
    /// Deleted records that a worker has notes of, one by one, at most.
    pub tombstone_notes_max: usize,
    /// The longest time between two checkpoints (`checkpoint_timeout`).
    pub checkpoint_timeout: Micros,
    /// How the schemes that need timestamps get them.
    pub timestamp_allocator: TimestampAllocator,
    /// Partitions of each database whose scheme is `hstore`.
    pub partitions: usize,
    /// The tree where the layer above keeps what is no database's own: no scheme's locks stand there.
    pub unwatched: Option<storage::TreeId>,
    /// Components that are left out, for measuring only.
    pub without: Without,
    /// A fault planted on purpose, in builds for tests.
    pub planted: Planted,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            storage: storage::Options::default(),
            record_buckets: 1 << 18,
            write_set_bytes_max: 64 << 20,
            read_set_bytes_max: 1 << 20,
            serializable_kept_max: 2048,
            late_writes: 4096,
            part_bytes_max: 4 << 20,
            version_bytes_soft: 16 << 20,
            version_bytes_hard: 256 << 20,
            version_spill_bytes_max: 4 << 30,
            tombstone_notes_max: 1 << 17,
            checkpoint_timeout: Micros(300_000_000),
            timestamp_allocator: TimestampAllocator::default(),
            partitions: PARTITIONS,
            unwatched: None,
            without: Without::default(),
            planted: Planted::default(),
        }
    }
}

/// Commits that may be between claim and apply at once.
const SLOTS: usize = 256;
/// Looks at the watermark before whoever waits for it rests.
const WATERMARK_SPINS: u32 = 100;
/// Transaction numbers that a state takes at a time.
const IDS: u64 = 1024;

/// The transaction component.
#[derive(Debug)]
pub struct Manager {
    pub(crate) data: Arc<DataComponent>,
    pub(crate) env: Environment,
    pub(crate) options: Options,
    pub(crate) slots: CommitSlots<WriteSet>,
    /// Whether any transaction has ever had reads to validate: from then on commits share their writes.
    pub(crate) validating: AtomicBool,
    /// Who rests until a slot is free.
    pub(crate) slot_waiters: Turnstile,
    pub(crate) waiters: WatermarkWaiters,
    pub(crate) late: LateCommits,
    pub(crate) locks: LockManager,
    pub(crate) collector: Collector,
    pub(crate) spill: Spill,
    /// Rows that have got another key.
    pub(crate) moves: Moves,
    /// The serializable transactions.
    pub(crate) ssi: Ssi,
    timestamps: Timestamps,
    /// The places of those under timestamp ordering, and what they have read.
    pub(crate) order: Order,
    pub(crate) read_stamps: ReadStamps,
    /// Which partitions the entries of trees are in.
    pub(crate) placements: Placements,
    /// Makes the runs of all that spills.
    pub(crate) runs: Arc<Runs>,
    pub(crate) pool: Pool,
    pub(crate) metrics: Counts,
    pub(crate) signals: Arc<Signals>,
    /// Prepared transactions, by name.
    pub(crate) prepared: Mutex<PreparedList, { rank::PREPARED }>,
    /// The log's tail when the last checkpoint began.
    checkpointed: AtomicU64,
    threads: Mutex<Vec<Box<dyn Joinable>>, { rank::THREADS }>,
    /// Owners of advisory locks whose sessions have ended.
    pub(crate) session_owners: Mutex<Vec<OwnerId>, { rank::GARBAGE }>,
    /// Trees that a commit dropped, and who may still read them: snapshots below its LSN.
    dropped: Mutex<Vec<(Lsn, TreeId)>, { rank::GARBAGE }>,
    next_ids: AtomicU64,
    /// The numbers that users see.
    xact_ids: XactIds,
    /// Snapshots that others may begin with.
    pub(crate) exported: ExportedSnapshots,
    recovered: PassTwo,
    /// Trees of a directory that had been closed which nothing named when it was opened.
    strays: OnceLock<Vec<TreeId>>,
}

impl Manager {
    /// Makes an empty directory into a database without any tree.
    ///
    /// # Errors
    /// As [`DataComponent::create`].
    pub fn create(env: &Environment, options: &Options) -> Result<()> {
        Ok(DataComponent::create(env, &options.storage)?)
    }

    /// Opens a directory, and applies what the log has beyond the trees. Then `live` says which trees committed
    /// catalog rows name, given a manager it can read them with; all others are freed.
    ///
    /// # Errors
    /// As [`DataComponent::open`]; those of `live`.
    pub fn open<E: From<Error>>(
        env: Environment,
        options: Options,
        live: impl FnOnce(&Arc<Manager>) -> std::result::Result<Vec<TreeId>, E>,
    ) -> std::result::Result<Arc<Manager>, E> {
        let failed = |error: storage::Error| E::from(error.into());
        let recovering =
            DataComponent::open(env.clone(), options.storage.clone()).map_err(failed)?;
        let data = Arc::clone(recovering.component());
        let workers = env.scheduler.slots();
        let tail = data.log().tail();
        let runs = Arc::new(Runs::new(env.seed));
        let mut manager = Manager {
            slots: CommitSlots::new(SLOTS, tail, options.planted),
            validating: AtomicBool::new(false),
            slot_waiters: Turnstile::default(),
            waiters: WatermarkWaiters::default(),
            late: LateCommits::default(),
            locks: LockManager::new(env.clone(), options.record_buckets),
            collector: Collector::new(
                workers,
                options.version_bytes_soft,
                options.tombstone_notes_max,
            ),
            spill: Spill::new(Arc::clone(&runs)),
            moves: Moves::default(),
            ssi: Ssi::new(env.seed, options.serializable_kept_max, options.planted),
            timestamps: Timestamps::new(options.timestamp_allocator, workers),
            order: Order::default(),
            read_stamps: ReadStamps::new(env.seed, options.read_set_bytes_max),
            placements: Placements::default(),
            runs,
            pool: Pool::new(workers),
            metrics: Counts::new(workers),
            signals: Arc::default(),
            prepared: Mutex::default(),
            checkpointed: AtomicU64::new(0),
            threads: Mutex::default(),
            session_owners: Mutex::default(),
            dropped: Mutex::default(),
            // Every opening begins at a later tail, so numbers are not used again: an opening would have to begin
            // 65,536 transactions for every byte of log to meet the next one's.
            next_ids: AtomicU64::new(tail.0.saturating_mul(1 << 16).max(1)),
            xact_ids: XactIds::new(data.log().epoch(), data.log().tail()),
            exported: ExportedSnapshots::default(),
            recovered: PassTwo::default(),
            strays: OnceLock::new(),
            data,
            env,
            options,
        };
        let (recovered, prepared) = recovery::pass_two(&manager, &recovering).map_err(E::from)?;
        manager.recovered = recovered;
        manager.advance();
        let manager = Arc::new(manager);
        // Their locks first: nobody else can ask for any yet.
        manager.restore_prepared(prepared).map_err(E::from)?;
        let live: std::collections::HashSet<TreeId> = live(&manager)?.into_iter().collect();
        // A crash leaves what was being built, and what was to be freed; a close does not.
        if recovering.was_closed() {
            let trees = manager.data.forest().trees();
            let strays = trees.iter().map(|tree| tree.id()).filter(|tree| !live.contains(tree));
            manager.strays.get_or_init(|| strays.collect());
        }
        recovering.finish(&|tree| live.contains(&tree)).map_err(failed)?;
        *lock(&manager.threads) = background::start(&manager);
        Ok(manager)
    }

    /// What pass two of recovery did when this manager was opened.
    #[must_use]
    pub fn recovered(&self) -> PassTwo {
        self.recovered
    }

    /// Trees that nothing named when the directory was opened, although it had been closed: the definition of a table or an
    /// index has been lost. They are freed by then.
    #[must_use]
    pub fn strays(&self) -> &[TreeId] {
        self.strays.get().map_or(&[], Vec::as_slice)
    }

    /// The data component, for trees: they are made and freed there, and named in catalog rows here.
    #[must_use]
    pub fn data(&self) -> &Arc<DataComponent> {
        &self.data
    }

    /// The numbers of transactions that users see.
    #[must_use]
    pub fn xact_ids(&self) -> &XactIds {
        &self.xact_ids
    }

    /// The environment it runs in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// The worker that is running: the index of what stands per worker.
    pub(crate) fn worker(&self) -> usize {
        self.env.scheduler.slot()
    }

    /// In builds for tests, a point at which a simulation may let others run: what lies between a claim and its apply
    /// has no wait where it could.
    #[inline]
    pub fn interrupt(&self) {
        #[cfg(any(test, feature = "planted"))]
        self.env.scheduler.yield_point();
    }

    /// Whether `fault` is planted: never, but in builds for tests.
    #[inline]
    #[must_use]
    pub fn planted(&self, fault: Fault) -> bool {
        self.options.planted.is(fault)
    }

    /// Begins a transaction of the session that waits as `wait`.
    #[must_use]
    pub fn begin(self: &Arc<Self>, begin: Begin, wait: &Arc<SessionWait>) -> Transaction {
        let worker = self.worker();
        let mut state = self.pool.take(worker, || self.locks.owners.register());
        let id = state.ids.next().unwrap_or_else(|| self.take_ids(&mut state.ids));
        let id = TxnId(id);
        let session = (wait.pid, wait.number());
        self.locks.owners.get(state.owner).start(id, session, self.env.clock.now().0);
        Transaction::new(Arc::clone(self), id, begin, Arc::clone(wait), state)
    }

    /// Takes more transaction numbers; the first of them.
    #[cold]
    fn take_ids(&self, ids: &mut Range<u64>) -> u64 {
        let first = self.next_ids.fetch_add(IDS, Ordering::Relaxed);
        *ids = first + 1..first + IDS;
        first
    }

    /// A new timestamp, above one that has been handed out before.
    pub(crate) fn timestamp_after(&self, floor: Timestamp) -> Timestamp {
        self.timestamps.after(floor, self.worker(), || self.env.clock.now())
    }

    /// The visible watermark: every commit at or below it is in the trees, or on the list of late commits.
    #[must_use]
    pub fn visible(&self) -> Lsn {
        self.slots.visible()
    }

    /// Computes the watermark anew and wakes those who waited for it.
    pub(crate) fn advance(&self) -> Lsn {
        let visible = self.slots.advance(|| {
            if self.planted(Fault::SlotsBeforeTail) {
                // The slots have been read: somebody may claim before the tail is.
                self.env.scheduler.yield_point();
            }
            self.data.log().tail()
        });
        self.waiters.moved(visible);
        visible
    }

    /// Whether everything at or below `lsn` is visible; if not, `waker` is woken when it is worth asking again. What
    /// an answer waits for where `synchronous_commit` is off.
    pub fn poll_visible(&self, lsn: Lsn, waker: &Waker) -> Poll<()> {
        if self.visible() >= lsn || self.advance() >= lsn {
            return Poll::Ready(());
        }
        self.waiters.register(lsn, waker);
        // Somebody may have moved it before we were counted.
        if self.advance() >= lsn { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether a transaction that ended at `lsn` may be answered: the log is durable past its record and the
    /// watermark has reached it. If not, `waker` is woken when it is worth asking again.
    ///
    /// # Errors
    /// [`storage::Error::Halted`]: nobody may be answered any more.
    pub fn poll_answer(&self, lsn: Lsn, waker: &Waker) -> Poll<Result<()>> {
        match self.data.log().poll_durable(lsn, waker) {
            Poll::Ready(Ok(())) => self.poll_visible(lsn, waker).map(Ok),
            other => other.map_err(Error::from),
        }
    }

    /// As [`TransactionManager::poll_answer`], by waiting in place: for who has something to tell while its statement goes on.
    ///
    /// # Errors
    /// [`storage::Error::Halted`]; the session is cancelled while it waits for what is not visible yet.
    pub fn wait_answer(&self, lsn: Lsn, session: &SessionWait) -> Result<()> {
        self.data.log().wait_durable(lsn)?;
        self.wait_visible(lsn, session)
    }

    /// Makes the end of a transaction at `lsn` durable, where that is likely to be quicker than to ask the flusher for it:
    /// [`storage::Log::help`]. For a thread that keeps nobody waiting.
    pub fn help_answer(&self, lsn: Lsn) {
        self.data.log().help(lsn);
    }

    /// Waits until a snapshot that is taken then shows the commit at `seen`, and each whose locks have been released.
    pub(crate) fn wait_to_see(&self, seen: Lsn, session: &SessionWait) -> Result<()> {
        self.wait_visible(seen.max(self.slots.shown()), session)
    }

    /// Waits until `lsn` is visible: [`TransactionManager::poll_visible`], in place.
    ///
    /// # Errors
    /// The session is cancelled.
    pub fn wait_visible(&self, lsn: Lsn, session: &SessionWait) -> Result<()> {
        // Who holds the watermark back is between claim and applied, where it waits for nobody: it is likely to be done at
        // once.
        let mut spins = 0;
        while self.visible() < lsn && spins < WATERMARK_SPINS {
            relax(&mut spins);
        }
        if self.visible() >= lsn {
            return Ok(());
        }
        let cell = Arc::new(WaitCell::new());
        let waker = self.env.waker(&cell);
        while self.poll_visible(lsn, &waker).is_pending() {
            self.data.log().alive()?;
            match session.rest(&self.env, WaitEvent::Watermark, &cell, None) {
                Woken::Cancelled => {
                    let reason = session.cancel.requested().unwrap_or_default();
                    return Err(Error::Cancelled(reason));
                }
                Woken::Notified | Woken::TimedOut => {}
            }
        }
        Ok(())
    }

    /// Snapshots that transactions have exported.
    #[must_use]
    pub fn exported_snapshots(&self) -> &ExportedSnapshots {
        &self.exported
    }

    /// The horizon: at or below it every snapshot, present and to come, sees the same.
    #[must_use]
    pub fn horizon(&self) -> Lsn {
        self.locks.owners.horizon(self.visible())
    }

    /// What recovery would need of what is under way: see [`late::redo_floor`]. The prepared transactions are asked for
    /// after the tail, and their records are claimed under the list's latch: who is missed has a place behind the tail.
    fn redo_floor(&self, tail: Lsn) -> Lsn {
        let floor = late::redo_floor(&self.slots, &self.late, tail);
        self.prepared_floor().map_or(floor, |prepared| prepared.min(floor))
    }

    /// Logs prepared transactions anew that the last checkpoint had to hold the log for.
    fn let_go_of_prepared(&self) {
        let tail = self.data.log().tail();
        let before = self.checkpointed.swap(tail.0, Ordering::Relaxed);
        self.log_prepared_anew(Lsn(before));
    }

    /// Takes a checkpoint.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn checkpoint(&self) -> Result<Lsn> {
        self.let_go_of_prepared();
        let redo = self.data.checkpoint(&mut |tail| self.redo_floor(tail))?;
        self.metrics.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(redo)
    }

    /// Takes a checkpoint that writes every dirty page: CHECKPOINT.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn checkpoint_all(&self) -> Result<Lsn> {
        self.let_go_of_prepared();
        let redo = self.data.checkpoint_all(&mut |tail| self.redo_floor(tail))?;
        self.metrics.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(redo)
    }

    /// Frees trees that the commit at `lsn` dropped, once no older snapshot runs: now, or when the collector finds it so.
    /// The record that frees a tree follows the commit's in the log, so it is never durable without it. What a crash
    /// prevents, the recovery after it does, because no catalog row names the tree.
    pub fn drop_trees(&self, lsn: Lsn, trees: &[TreeId]) {
        if trees.is_empty() {
            return;
        }
        lock(&self.dropped).extend(trees.iter().map(|tree| (lsn, *tree)));
        self.advance();
        self.free_dropped(self.horizon());
        if self.has_dropped() {
            self.signals.garbage(self);
        }
    }

    /// Frees trees that nobody can reach, and that no commit has named. What cannot be freed now, because the disk is full, is
    /// freed when the collector finds that it can be.
    pub fn free_trees(&self, trees: &[TreeId]) {
        self.drop_trees(Lsn::ZERO, trees);
    }

    /// Whether a dropped tree waits for a snapshot to end.
    pub(crate) fn has_dropped(&self) -> bool {
        !lock(&self.dropped).is_empty()
    }

    pub(crate) fn free_dropped(&self, horizon: Lsn) -> bool {
        let mut dropped = lock(&self.dropped);
        let due: Vec<_> = dropped.extract_if(.., |(lsn, _)| *lsn <= horizon).collect();
        drop(dropped);
        let mut progress = false;
        for (lsn, tree) in &due {
            self.placements.forget(*tree);
            match self.data.free_tree(*tree) {
                Ok(()) => progress = true,
                Err(storage::Error::NoTree(_)) => {
                    debug_assert!(false, "tree {tree:?} has been freed before");
                }
                // Later, then: a full disk may have room again. Where the log has halted the next recovery does it.
                Err(_) => lock(&self.dropped).push((*lsn, *tree)),
            }
        }
        progress
    }

    /// Gives a place in the log a name; where that ends, once it is durable.
    ///
    /// # Errors
    /// The log has halted.
    pub fn create_restore_point(&self, name: &str) -> Result<Lsn> {
        let name = Some(name.as_bytes().to_vec());
        let header = log::Header { wall: self.env.clock.wall(), name, ..log::Header::default() };
        let mut record = log::Writer::default();
        record.begin(&header);
        let (wal, bytes) = (self.data.log(), record.payload().len());
        let mut space = wal.reserve(storage::SpaceClass::System, 1, bytes as u64)?;
        wal.claim(&mut space, bytes).publish(log::RESTORE_POINT, record.payload());
        let end = wal.tail();
        wal.wait_durable_end(end)?;
        Ok(end)
    }

    /// Begins a backup of the directory: see [`DataComponent::begin_backup`].
    ///
    /// # Errors
    /// As [`Manager::checkpoint_all`]; cancelled.
    pub fn begin_backup(&self) -> Result<Backup> {
        self.let_go_of_prepared();
        let backup = self.data.begin_backup(&mut |tail| self.redo_floor(tail))?;
        self.metrics.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(backup)
    }

    /// A session gives up what it does, told this reason, where somebody has waited for it as long as `deadlock_timeout`.
    pub fn set_yielding(&self, session: Option<(Arc<SessionWait>, u32)>) {
        self.locks.set_yielding(session);
    }

    /// Ends background work, so that no tree changes by itself any more: the collector merges leaves.
    pub fn quiesce(&self) {
        self.signals.stop(self);
        let threads = std::mem::take(&mut *lock(&self.threads));
        threads.into_iter().for_each(Joinable::join);
    }

    /// Stops background work after a last checkpoint. No transaction is left but the prepared ones, whose records are all
    /// that the next start reads of the log.
    ///
    /// # Errors
    /// As [`DataComponent::close`].
    pub fn close(&self) -> Result<()> {
        self.quiesce();
        while self.collect() {}
        Ok(self.data.close(&mut |tail| self.redo_floor(tail), !self.has_dropped())?)
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // Not closed: a crash in a test. The threads hold no reference and end by themselves.
        self.signals.stop(self);
    }
}
