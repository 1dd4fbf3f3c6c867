//! The data component as a whole: made, opened after whatever happened, checkpointed, closed.

use crate::backup::Backups;
use crate::btree::smo::TreeReader;
use crate::btree::{BulkBuilder, Forest, Tree, TreeLoad, node};
use crate::buffer::DataFile;
use crate::checkpoint::{self, CheckpointReason, CheckpointReport, CheckpointWatch, Sweep};
use crate::control::{self, Checkpoint, Control, Identity};
use crate::device::Device;
use crate::device::file::FileDevice;
use crate::environment::Environment;
use crate::id::Micros;
use crate::planted::Planted;
use crate::recovery::{self, Survey};
use crate::reserve::{self, Growth, Reservation};
use crate::scratch::Scratch;
use crate::space::{Grant, Stage};
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Mutex, lock, rank};
use crate::wal::log::{LogOptions, LogStart};
use crate::wal::{Archive, Log, LogInsert, LogRecord, LogScan};
use crate::{Error, Lsn, Result, TreeId};

/// What is chosen when a directory is made (`page_bytes`) or opened (all else).
#[derive(Clone, Debug)]
pub struct Options {
    /// 4, 8, 16 or 32 KiB; fixed for the life of the directory.
    pub page_bytes: u32,
    /// The buffer pool, in frames of one page; at least 64. An existing directory with pages of another size gets as
    /// much memory, in as many frames as that makes.
    pub pool_frames: u32,
    /// How log space is claimed.
    pub log_insert: LogInsert,
    /// The log ring, in bytes; a power of two.
    pub log_ring_bytes: u64,
    /// A log segment, in bytes.
    pub log_segment_bytes: u64,
    /// The log that may be kept between checkpoints, in bytes (`max_wal_size`).
    pub log_bytes_max: u64,
    /// Where full segments of the log go before they are recycled (`archive_mode`); none keeps no archive.
    pub archive: Option<Arc<dyn Archive>>,
    /// Who is told of checkpoints (`log_checkpoints`).
    pub checkpoint_watch: Option<Arc<dyn CheckpointWatch>>,
    /// The data files' limit, in bytes; none is the disk's.
    pub data_bytes_max: Option<u64>,
    /// The most cuts of leaves for which one commit sets room aside in one tree; with more writes than a third of that it
    /// counts on leaves that it has shaped.
    pub cuts_max: u64,
    /// How much of the disk is never lent to commits that count on one another's leaves, in bytes; none is 4 GiB and the log's
    /// limit, or all of it where the data files have one.
    pub credit_floor_bytes: Option<u64>,
    /// A fault planted on purpose, in builds for tests.
    pub planted: Planted,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            page_bytes: 8192,
            pool_frames: 16384,
            log_insert: LogInsert::default(),
            log_ring_bytes: 16 << 20,
            log_segment_bytes: 16 << 20,
            log_bytes_max: 1 << 30,
            archive: None,
            checkpoint_watch: None,
            data_bytes_max: None,
            cuts_max: reserve::CUTS_MAX,
            credit_floor_bytes: None,
            planted: Planted::default(),
        }
    }
}

/// What is left for other than commits, by default, in bytes.
const CREDIT_FLOOR_BYTES: u64 = 4 << 30;

impl Options {
    /// How much of the disk is never lent, in bytes.
    pub(crate) fn credit_floor(&self) -> u64 {
        match (self.credit_floor_bytes, self.data_bytes_max) {
            (Some(floor), _) => floor,
            (None, None) => CREDIT_FLOOR_BYTES + self.log_bytes_max,
            (None, Some(_)) => u64::MAX,
        }
    }

    /// Refuses what no directory can be made or opened with.
    fn check(&self) -> Result<()> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if ![4096, 8192, 16384, 32768].contains(&self.page_bytes) {
            return refuse("the page size is 4, 8, 16 or 32 KiB");
        }
        if self.pool_frames < 64 {
            return refuse("the buffer pool has at least 64 frames");
        }
        // Half of the ring is the largest record; the largest structure record is a few pages.
        let ring = u64::from(self.page_bytes) * 16;
        if !self.log_ring_bytes.is_power_of_two() || self.log_ring_bytes < ring {
            return refuse("the log ring is a power of two and holds at least 16 pages");
        }
        let segment = self.log_segment_bytes;
        if !segment.is_multiple_of(4096) || segment < 16 << 10 {
            return refuse("a log segment is a multiple of 4 KiB and has at least 16 KiB");
        }
        if self.log_bytes_max < 4 * segment {
            return refuse("the log's limit is at least four segments");
        }
        Ok(())
    }

    fn log(&self) -> LogOptions {
        LogOptions {
            insert: self.log_insert,
            ring_bytes: self.log_ring_bytes,
            segment_bytes: self.log_segment_bytes,
            bytes_max: self.log_bytes_max,
            archive: self.archive.clone(),
            planted: self.planted,
        }
    }
}

/// Bytes, pages and durability: see the crate's promise.
#[derive(Debug)]
pub struct DataComponent {
    log: Arc<Log>,
    control: Control,
    forest: Arc<Forest>,
    scratch: Arc<Scratch>,
    /// Held for a checkpoint: one at a time.
    checkpointing: Mutex<(), { rank::CHECKPOINT }>,
    checkpoints: Mutex<CheckpointCounters, { rank::CHECKPOINTS }>,
    options: Options,
}

/// What has been done to checkpoint since the component was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointCounters {
    /// Checkpoints taken.
    pub taken: u64,
    /// Checkpoints that failed.
    pub failed: u64,
    /// When the last one that was taken ended, on the environment's monotonic clock.
    pub last_at: Option<Micros>,
    /// How long it took, in microseconds.
    pub last_us: u64,
}

/// An opened component whose trees are well formed, and whose logical records have still to be applied.
#[derive(Debug)]
pub struct Recovering {
    component: Arc<DataComponent>,
    redo: Lsn,
    closed: bool,
}

impl DataComponent {
    /// Whether the device holds a database, of whatever format.
    ///
    /// # Errors
    /// I/O.
    pub fn exists(device: &dyn Device) -> Result<bool> {
        Ok(device.list(control::NAME)?.iter().any(|name| name == control::NAME))
    }

    /// Whether the directory at `root` holds a database, of whatever format; nothing in it is touched.
    #[must_use]
    pub fn is_at(root: &std::path::Path) -> bool {
        FileDevice::has_file(root, control::NAME)
    }

    /// Makes an empty directory into a database. What an interrupted attempt left behind is no obstacle.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not empty; I/O.
    pub fn create(env: &Environment, options: &Options) -> Result<()> {
        options.check()?;
        let strangers = env.device.list("")?;
        let ours = |name: &str| {
            ["control.new", "data", "doublewrite"].contains(&name) || name.starts_with("log/")
        };
        if let Some(name) = strangers.iter().find(|name| !ours(name)) {
            return Err(Error::Refused(format!("the directory is not empty: it has \"{name}\"")));
        }
        let start = Log::create(&env.device, &options.log())?;
        Forest::create(env, options.page_bytes)?;
        let identity = Identity {
            page_bytes: options.page_bytes,
            log_segment_bytes: options.log_segment_bytes,
            // As PostgreSQL makes it: the time of birth, and something that tells twins apart.
            system: (env.clock.wall() as u64) << 12 ^ env.seed,
        };
        let LogStart { redo, floor, epoch, timeline } = start;
        let first = Checkpoint { redo, floor, epoch, timeline, closed: true };
        Control::create(&*env.device, identity, first)
    }

    /// Opens a directory: takes its lock, reads the redo point, and runs pass one of recovery. Page and segment size
    /// are the directory's, whatever `options` say.
    ///
    /// # Errors
    /// [`Error::Refused`] if another server has it or its format is another; I/O and corruption.
    pub fn open(env: Environment, mut options: Options) -> Result<Recovering> {
        if !DataComponent::exists(&*env.device)? {
            return Err(Error::Refused("the directory is not an Atoll database".into()));
        }
        let control = Control::open(&*env.device)?;
        let scratch = Arc::new(Scratch::open(&env.device)?);
        // What was asked for is memory; how many frames that is depends on the directory's pages.
        let pool_bytes = u64::from(options.pool_frames) * u64::from(options.page_bytes);
        options.page_bytes = control.identity().page_bytes;
        options.pool_frames =
            u32::try_from(pool_bytes / u64::from(options.page_bytes)).unwrap_or(u32::MAX);
        options.log_segment_bytes = control.identity().log_segment_bytes;
        options.check()?;
        let Checkpoint { redo, floor, timeline, closed, .. } = control.latest();
        let epoch = control.begin_epoch()?;
        let start = LogStart { redo, floor, epoch, timeline };
        let mut survey = Survey::new(TreeReader::default());
        let see = &mut |record: &LogRecord<'_>| survey.see(record);
        let log = Arc::new(Log::open(env.clone(), &options.log(), start, see)?);
        let (reader, findings) = survey.end();
        let mend = |file: &DataFile| recovery::mend(&log, &findings, file);
        let forest = Arc::new(Forest::open(&env, Arc::clone(&log), &options, &mend)?);
        let redo_of_trees = forest.structure_redo(reader);
        recovery::pass_one(&log, &findings, &redo_of_trees)?;
        forest.end_redo(&redo_of_trees.into_gone());
        let (checkpointing, checkpoints) = (Mutex::default(), Mutex::default());
        let component =
            DataComponent { log, control, forest, scratch, checkpointing, checkpoints, options };
        let closed = closed && component.log.was_closed_at(redo);
        Ok(Recovering { component: Arc::new(component), redo, closed })
    }

    /// What the directory is: its page size and system identifier.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.control.identity()
    }

    /// The last checkpoint.
    #[must_use]
    pub fn last_checkpoint(&self) -> Checkpoint {
        self.control.latest()
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What it was opened with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The largest record (key and value) a tree takes, in bytes.
    #[must_use]
    pub fn record_bytes_max(&self) -> usize {
        node::record_bytes_max(self.options.page_bytes as usize)
    }

    /// The largest record that shares its page with three like it, in bytes.
    #[must_use]
    pub fn record_bytes_fair(&self) -> usize {
        node::record_bytes_fair(self.options.page_bytes as usize)
    }

    /// How long a value is to be kept beside a key of so many bytes.
    #[must_use]
    pub fn value_bytes_fair(&self, key_len: usize) -> usize {
        node::value_bytes_fair(key_len, self.options.page_bytes as usize)
    }

    /// The largest key, in bytes.
    #[must_use]
    pub fn key_bytes_max(&self) -> usize {
        node::key_bytes_max(self.options.page_bytes as usize)
    }

    /// Refuses a record that no tree takes.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check_record_size(&self, key_len: usize, value_len: usize) -> Result<()> {
        node::check_record_size(key_len, value_len, self.options.page_bytes as usize)
    }

    /// A tree by its number. Cheap enough to keep the handle, not to ask for each record.
    ///
    /// # Errors
    /// [`Error::NoTree`].
    pub fn tree(&self, id: TreeId) -> Result<Arc<Tree>> {
        self.forest.tree(id)
    }

    /// A number that is another one whenever a tree may have become twice as large since it was asked for.
    #[must_use]
    pub fn growth(&self) -> u64 {
        // Relaxed: a sign to look, which says nothing of other memory.
        self.forest.volume().growth.load(Ordering::Relaxed)
    }

    /// The bytes of the data file that belong to these trees: their extents, whether their pages are used or not.
    #[must_use]
    pub fn bytes_of(&self, trees: &[TreeId]) -> u64 {
        self.forest.owned_pages(trees) * u64::from(self.options.page_bytes)
    }

    /// Bytes of a page, as the directory was made.
    #[must_use]
    pub fn page_bytes(&self) -> u32 {
        self.options.page_bytes
    }

    /// The bytes of the data file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        u64::from(self.forest.space().pages()) * u64::from(self.options.page_bytes)
    }

    /// Makes an empty tree. It lives on only if a committed or prepared record names it by the next recovery.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn create_tree(&self) -> Result<Arc<Tree>> {
        self.forest.create_tree(Grant::Common)
    }

    /// As [`DataComponent::create_tree`], for a tree in the place of one that will be freed: it may have the last room there is.
    ///
    /// # Errors
    /// As [`DataComponent::create_tree`].
    pub fn create_replacement(&self) -> Result<Arc<Tree>> {
        self.forest.create_tree(Grant::Last)
    }

    /// Sets aside what a commit with this growth and a record of `payload` bytes can need until it is applied. Who gives room back may have
    /// the `last` there is.
    ///
    /// # Errors
    /// [`Error::Full`]; [`Error::Halted`]; I/O.
    pub fn reserve(
        &self,
        growth: &mut Growth,
        payload: usize,
        last: bool,
    ) -> Result<Reservation<'_>> {
        let grant = if last { Grant::Last } else { Grant::Common };
        Reservation::take(&self.forest, growth, payload, grant)
    }

    /// How many writes to one tree a commit sets room aside for whatever leaves they meet; with more it counts on leaves that
    /// it has shaped, and may have to wait for others that do.
    #[must_use]
    pub fn covered_writes(&self) -> usize {
        reserve::covered_writes(self.options.cuts_max)
    }

    /// How often a commit had to split a leaf after its claim and nothing was left of what it had set aside for that: never,
    /// or what is set aside is too little.
    #[must_use]
    pub fn unpaid_splits(&self) -> u64 {
        self.forest.volume().unpaid.load(Ordering::Relaxed)
    }

    /// Begins to build a tree from sorted records; it is durable, and found, once it is finished. Like any other it
    /// lives on only if it is named by the next recovery.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn bulk_builder(&self) -> Result<BulkBuilder> {
        self.forest.bulk_builder()
    }

    /// Begins to build a tree from records in any order: see [`TreeLoad`]. `fill_percent` is how full its leaves are made.
    #[must_use]
    pub fn tree_load(&self, memory_bytes_max: usize, fill_percent: Option<u8>) -> TreeLoad {
        TreeLoad::new(&self.forest, &self.scratch, memory_bytes_max, fill_percent)
    }

    /// The backups that run.
    pub(crate) fn backups(&self) -> &Backups {
        self.forest.volume().pool.file().backups()
    }

    /// The trees, for checks and counters.
    #[must_use]
    pub fn forest(&self) -> &Arc<Forest> {
        &self.forest
    }

    /// What is left out where pages are read.
    #[cfg(any(test, feature = "stripped"))]
    #[must_use]
    pub fn stripped(&self) -> &crate::Stripped {
        &self.forest.volume().pool.stripped
    }

    /// Space for what does not fit into memory and is worth nothing after a restart.
    #[must_use]
    pub fn scratch(&self) -> &Arc<Scratch> {
        &self.scratch
    }

    /// Frees a tree that nobody can reach any more: its creator rolled back, or its drop is durable and no older
    /// snapshot runs. The pages become free when the freeing record is durable.
    ///
    /// # Errors
    /// [`Error::NoTree`]; I/O.
    pub fn free_tree(&self, id: TreeId) -> Result<()> {
        self.forest.free_tree(id)
    }

    /// Takes a fuzzy checkpoint and recycles the log before it. `floor` is asked once, after the tail has been
    /// read and before frames are swept, for the lowest LSN that the layer above may still have to apply.
    ///
    /// # Errors
    /// I/O; [`Error::Halted`] if a sync failed.
    pub fn checkpoint(&self, floor: &mut dyn FnMut(Lsn) -> Lsn) -> Result<Lsn> {
        let (age, why) = match self.log.space_is_short() {
            true => (0, CheckpointReason::Log),
            false => (self.options.log_bytes_max / 8, CheckpointReason::Time),
        };
        self.take_checkpoint(floor, age, why, false)
    }

    /// A checkpoint that writes every dirty page, however young: a restart would replay next to nothing.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn checkpoint_all(&self, floor: &mut dyn FnMut(Lsn) -> Lsn) -> Result<Lsn> {
        self.take_checkpoint(floor, 0, CheckpointReason::Asked, false)
    }

    /// What has been done to checkpoint.
    #[must_use]
    pub fn checkpoint_counters(&self) -> CheckpointCounters {
        *lock(&self.checkpoints)
    }

    fn take_checkpoint(
        &self,
        floor: &mut dyn FnMut(Lsn) -> Lsn,
        age: u64,
        why: CheckpointReason,
        closes: bool,
    ) -> Result<Lsn> {
        let _one = lock(&self.checkpointing);
        let clock = &self.log.environment().clock;
        let began = clock.now();
        let pool = &self.forest.volume().pool;
        let (pages, redo, oldest) =
            (pool.counters.writes.get(), self.last_checkpoint().redo, self.log.oldest());
        let watch = self.options.checkpoint_watch.as_deref();
        watch.inspect(|watch| watch.begins(why));
        let planted = self.options.planted;
        let taken = checkpoint::take(&self.log, &self.control, self, floor, age, closes, planted);
        if let (Some(watch), Ok(taken)) = (watch, &taken) {
            watch.ended(&CheckpointReport {
                pages: pool.counters.writes.get() - pages,
                pool_frames: self.options.pool_frames,
                recycled: (self.log.oldest().0 - oldest.0) / self.options.log_segment_bytes,
                write_us: taken.write_us,
                sync_us: taken.sync_us,
                total_us: clock.now().0 - began.0,
                distance: taken.redo.0 - redo.0,
            });
        }
        let taken = taken.map(|taken| taken.redo);
        // A control file that cannot be synced is as bad as a log that cannot.
        if let Err(Error::Halted(why)) = &taken {
            self.log.halt(why);
        }
        let now = clock.now();
        let mut counters = lock(&self.checkpoints);
        match taken {
            Ok(_) => {
                counters.taken += 1;
                counters.last_at = Some(now);
                counters.last_us = now.0 - began.0;
            }
            Err(_) => counters.failed += 1,
        }
        taken
    }

    /// Stops background work, after a last checkpoint: the next open replays what `floor` says that it still needs of the
    /// log, given its tail. `settled` says that nothing is half done: each tree is somebody's.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn close(&self, floor: &mut dyn FnMut(Lsn) -> Lsn, settled: bool) -> Result<()> {
        let taken = self.take_checkpoint(floor, 0, CheckpointReason::Shutdown, settled);
        let closed = self.log.close();
        taken.and(closed)
    }
}

impl Sweep for DataComponent {
    fn sweep(&self, older_than: Lsn) -> Result<Lsn> {
        self.forest.clean_older_than(older_than)?;
        Ok(self.forest.min_recovery_lsn().unwrap_or(Lsn::MAX))
    }

    fn sync_data(&self) -> Result<()> {
        self.forest.sync()
    }
}

impl Recovering {
    /// The component, to apply records to.
    #[must_use]
    pub fn component(&self) -> &Arc<DataComponent> {
        &self.component
    }

    /// Where recovery begins: what precedes it is on its pages, and those are on disk.
    #[must_use]
    pub fn redo(&self) -> Lsn {
        self.redo
    }

    /// Whether the directory had been closed, and not left by a crash: then nothing is half done.
    #[must_use]
    pub fn was_closed(&self) -> bool {
        self.closed
    }

    /// The logical records from the redo point on.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn records(&self) -> Result<LogScan> {
        self.component.log.scan(self.redo)
    }

    /// From now on what replay needs is taken from what the disk has beside what the server had set aside at the crash;
    /// [`Error::Full`] says that there is no more of that.
    pub fn spare_room(&self) {
        self.component.log.keep_restart(true);
        self.component.forest.space().enter(Stage::Replay);
    }

    /// From now on there is all the room that was set aside, too.
    pub fn use_all_room(&self) {
        self.component.log.keep_restart(false);
        self.component.forest.space().enter(Stage::Rest);
    }

    /// Ends recovery: frees every tree that `live` does not name, and starts background work.
    ///
    /// # Errors
    /// I/O.
    pub fn finish(self, live: &dyn Fn(TreeId) -> bool) -> Result<Arc<DataComponent>> {
        for tree in self.component.forest.trees() {
            if !live(tree.id()) {
                self.component.forest.free_tree(tree.id())?;
            }
        }
        self.component.forest.space().enter(Stage::Running);
        self.component.log.end_recovery();
        Ok(self.component)
    }
}
