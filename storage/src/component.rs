//! The data component as a whole: made, opened after whatever happened, checkpointed, closed.

use crate::btree::Tree;
use crate::environment::Environment;
use crate::sync::{Arc, Mutex, lock};
use crate::wal::{Log, LogInsert, LogScan};
use crate::{Error, Lsn, Result, TreeId};
use std::collections::HashMap;

/// What is chosen when a directory is made (`page_bytes`) or opened (all else).
#[derive(Clone, Debug)]
pub struct Options {
    /// 4, 8, 16 or 32 KiB; fixed for the life of the directory.
    pub page_bytes: u32,
    /// The buffer pool, in frames of one page; at least 64.
    pub pool_frames: u32,
    /// How log space is claimed.
    pub log_insert: LogInsert,
    /// The log ring, in bytes; a power of two.
    pub log_ring_bytes: u64,
    /// A log segment, in bytes.
    pub log_segment_bytes: u64,
    /// The log that may be kept between checkpoints, in bytes (`max_wal_size`).
    pub log_bytes_max: u64,
    /// The data files' limit, in bytes; none is the disk's.
    pub data_bytes_max: Option<u64>,
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
            data_bytes_max: None,
        }
    }
}

/// Bytes, pages and durability: see the crate's promise.
#[derive(Debug)]
pub struct DataComponent {
    log: Log,
    trees: Mutex<(u64, HashMap<TreeId, Arc<Tree>>)>,
    options: Options,
}

/// An opened component whose trees are well formed, and whose logical records have still to be applied.
#[derive(Debug)]
pub struct Recovering {
    component: Arc<DataComponent>,
    redo: Lsn,
}

impl DataComponent {
    /// Makes an empty directory into a database.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not empty; I/O.
    pub fn create(_env: &Environment, _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Opens a directory: takes its lock, reads the redo point, and runs pass one of recovery.
    ///
    /// # Errors
    /// [`Error::Refused`] if another server has it or its format is another; I/O and corruption.
    pub fn open(env: Environment, options: Options) -> Result<Recovering> {
        let log = Log::in_memory(env);
        let trees = Mutex::new((1, HashMap::new()));
        let component = Arc::new(DataComponent { log, trees, options });
        Ok(Recovering { component, redo: Lsn::ZERO })
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
        self.options.page_bytes as usize / 4
    }

    /// The largest key, in bytes.
    #[must_use]
    pub fn key_bytes_max(&self) -> usize {
        self.options.page_bytes as usize / 8
    }

    /// A tree by its number. Cheap enough to keep the handle, not to ask for each record.
    ///
    /// # Errors
    /// [`Error::NoTree`].
    pub fn tree(&self, id: TreeId) -> Result<Arc<Tree>> {
        lock(&self.trees).1.get(&id).cloned().ok_or(Error::NoTree(id))
    }

    /// Makes an empty tree. It lives on only if a committed or prepared record names it by the next recovery.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn create_tree(&self) -> Result<Arc<Tree>> {
        let mut trees = lock(&self.trees);
        let id = TreeId(trees.0);
        trees.0 += 1;
        let tree = Arc::new(Tree::new(id));
        trees.1.insert(id, Arc::clone(&tree));
        Ok(tree)
    }

    /// Frees a tree that nobody can reach any more: its creator rolled back, or its drop is durable and no older
    /// snapshot runs. The pages become free when the freeing record is durable.
    ///
    /// # Errors
    /// [`Error::NoTree`]; I/O.
    pub fn free_tree(&self, id: TreeId) -> Result<()> {
        lock(&self.trees).1.remove(&id).map(drop).ok_or(Error::NoTree(id))
    }

    /// Takes a fuzzy checkpoint and recycles the log before it. `floor` is asked once, after the tail has been
    /// read and before frames are swept, for the lowest LSN that the layer above may still have to apply.
    ///
    /// # Errors
    /// I/O; [`Error::Halted`] if a sync failed.
    pub fn checkpoint(&self, floor: &mut dyn FnMut(Lsn) -> Lsn) -> Result<Lsn> {
        let tail = self.log.tail();
        Ok(floor(tail).min(tail))
    }

    /// Stops background work, after a last checkpoint: the next open replays nothing.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn close(&self) -> Result<()> {
        Ok(())
    }
}

impl Recovering {
    /// The component, to apply records to.
    #[must_use]
    pub fn component(&self) -> &Arc<DataComponent> {
        &self.component
    }

    /// The logical records from the redo point on.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn records(&self) -> Result<LogScan> {
        self.component.log.scan(self.redo)
    }

    /// Ends recovery: frees every tree that `live` does not name, and starts background work.
    ///
    /// # Errors
    /// I/O.
    pub fn finish(self, _live: &dyn Fn(TreeId) -> bool) -> Result<Arc<DataComponent>> {
        Ok(self.component)
    }
}
