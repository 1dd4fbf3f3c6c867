//! Bulk build: a new tree from sorted records, bottom-up, its pages written past the pool and, where there is no archive
//! and no backup runs, past the log.
//!
//! What makes this safe without logging a page: allocation records are durable before a page of theirs is written; the
//! pages carry that record's LSN as structure LSN and zero as record LSN; and they are synced before anyone can name the
//! tree. After a crash in between, no catalog row names the tree and its extents are freed by their owner.
//!
//! Keys are staged until a leaf is full, because its prefix depends on both fences. A leaf ends at the shortest key that
//! tells it from the next (*suffix truncation*, Bayer and Unterauer 1977), an inner node at its neighbour's first.

use super::forest::{empty_root, free};
use super::node::{self, Child};
use super::smo::{Actions, IMAGE_OVERHEAD};
use super::{Forest, Tree};
use crate::page::slotted::{ENTRY_BYTES, SLOT_BYTES, VALUE_LEN_BYTES, common_prefix};
use crate::page::{HEADER_BYTES, Kind, PageBuf};
use crate::space::{Grant, TreeSpace};
use crate::sync::Arc;
use crate::usage;
use crate::volume::{AbortOnUnwind, Volume};
use crate::wal::SpaceClass;
use crate::{Lsn, PageId, Result};

/// How full pages are made where nobody says anything else, in percent.
pub const FILL_PERCENT: u8 = 90;
/// The most pages that one allocation record names.
const ALLOCATE_PAGES_MAX: usize = 512;
/// Pages written at once.
const WRITE_PAGES: usize = 64;

/// One level of the tree in the making: what has not yet become a page.
#[derive(Debug, Default)]
struct Level {
    /// The low fence of the page that comes next.
    low: Vec<u8>,
    /// Keys and values, one after another, from `taken` on.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether a page of this level has been made.
    begun: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: usize,
    key_len: usize,
    value_len: usize,
    /// The child of an inner entry.
    word: u64,
}

impl Level {
    fn key(&self, entry: usize) -> &[u8] {
        let entry = self.entries[entry];
        &self.bytes[entry.at..entry.at + entry.key_len]
    }

    fn value(&self, entry: usize) -> &[u8] {
        let entry = self.entries[entry];
        let at = entry.at + entry.key_len;
        &self.bytes[at..at + entry.value_len]
    }

    fn push(&mut self, key: &[u8], value: &[u8], word: u64) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.entries.push(Entry { at, key_len: key.len(), value_len: value.len(), word });
    }

    /// Forgets the first `count` entries; the next page begins at `low`.
    fn drain(&mut self, count: usize, low: Vec<u8>) {
        let from = self.entries.get(count).map_or(self.bytes.len(), |entry| entry.at);
        self.bytes.drain(..from);
        self.entries.drain(..count);
        for entry in &mut self.entries {
            entry.at -= from;
        }
        self.low = low;
        self.begun = true;
    }

    /// The bytes that an entry takes with its key whole; a page's first child has none.
    fn whole_entry(&self, entry: usize, leaf: bool) -> usize {
        let Entry { key_len, value_len, .. } = self.entries[entry];
        let kept = match (leaf, entry) {
            (true, _) => VALUE_LEN_BYTES + key_len + value_len,
            (false, 0) => 0,
            (false, _) => key_len,
        };
        SLOT_BYTES + ENTRY_BYTES + kept
    }

    /// The bytes that the first `count` entries take with their keys whole.
    fn whole_bytes(&self, count: usize, leaf: bool) -> usize {
        (0..count).map(|entry| self.whole_entry(entry, leaf)).sum()
    }
}

/// A tree in the making. Dropped before it is finished, it is freed.
#[derive(Debug)]
pub struct BulkBuilder {
    forest: Arc<Forest>,
    root: PageId,
    space: Option<TreeSpace>,
    levels: Vec<Level>,
    /// Allocated pages, the next one last, and the record that allocated them.
    allocated: Vec<PageId>,
    allocated_lsn: Lsn,
    batch: usize,
    out: Vec<PageBuf>,
    last_key: Option<Vec<u8>>,
    staged_bytes: usize,
    /// How full leaves are made, in percent.
    fill_percent: u8,
}

impl BulkBuilder {
    pub(super) fn new(forest: Arc<Forest>, fill_percent: u8) -> Result<BulkBuilder> {
        let volume = Arc::clone(forest.volume());
        let (root, space) = volume.space.begin_tree(&volume.pool, Grant::Common)?;
        let mut builder = BulkBuilder {
            forest,
            root,
            space: Some(space),
            levels: vec![Level::default()],
            allocated: Vec::new(),
            allocated_lsn: Lsn::ZERO,
            batch: 0,
            out: Vec::new(),
            last_key: None,
            staged_bytes: 0,
            fill_percent: fill_percent.clamp(10, 100),
        };
        builder.allocate(true)?;
        Ok(builder)
    }

    fn volume(&self) -> Arc<Volume> {
        Arc::clone(self.forest.volume())
    }

    fn space(&self) -> &TreeSpace {
        self.space.as_ref().expect("the space is taken at the end only")
    }

    /// Allocates pages, durably: the first time the root alone, later ever more at once.
    fn allocate(&mut self, root: bool) -> Result<()> {
        let volume = self.volume();
        let count = if root { 1 } else { self.batch };
        let mut reserved = volume.log.reserve(SpaceClass::System, 1, 64 + 6 * count as u64)?;
        let mut pages = Vec::with_capacity(count);
        if root {
            pages.push(self.root);
        }
        while pages.len() < count {
            pages.push(volume.space.take(
                self.space(),
                volume.slot(),
                &volume.pool,
                Grant::Common,
            )?);
        }
        let tree = self.space().tree();
        let mut actions = Actions::new(tree, 6 * count);
        for page in &pages {
            actions.allocate(*page, root);
        }
        let abort = AbortOnUnwind;
        let mut mapped = pages.clone();
        mapped.push(PageId(0));
        let lsn = volume.log_structure(&mut reserved, &actions, &mapped);
        for page in &pages {
            volume.space.set_allocated(tree, *page, root, lsn)?;
        }
        drop(abort);
        volume.log.wait_durable(lsn)?;
        self.allocated_lsn = lsn;
        self.batch = (self.batch * 2).clamp(8, ALLOCATE_PAGES_MAX);
        if !root {
            pages.reverse();
            self.allocated = pages;
        }
        Ok(())
    }

    /// Adds a record, whose key is above all before.
    ///
    /// # Errors
    /// I/O; [`crate::Error::Full`]; [`crate::Error::TooLarge`].
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        assert!(
            self.last_key.as_deref().is_none_or(|last| last < key),
            "bulk build takes keys in order"
        );
        let page_bytes = self.volume().pool.page_bytes();
        node::check_record_size(key.len(), value.len(), page_bytes)?;
        let last = self.last_key.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        self.levels[0].push(key, value, 0);
        self.staged_bytes += SLOT_BYTES + ENTRY_BYTES + VALUE_LEN_BYTES + key.len() + value.len();
        // A page's worth is staged twice over before one is made, so that prefix truncation is paid back in full pages.
        if self.staged_bytes > 2 * page_bytes {
            self.close_one(0)?;
        }
        Ok(())
    }

    /// Makes a page of the entries that `level` has staged; the last of them stays, to be the next page's first.
    fn close_one(&mut self, level: usize) -> Result<()> {
        let page_bytes = self.volume().pool.page_bytes();
        let leaf = level == 0;
        let stage = &self.levels[level];
        let percent = if leaf { self.fill_percent } else { FILL_PERCENT };
        let full = page_bytes * usize::from(percent) / 100;
        let mut whole = 0;
        // One record or two children fit whatever they are; a level of single children would be no smaller than the one below.
        let least = if leaf { 1 } else { 2 };
        let mut count = 1;
        for next in 1..stage.entries.len() {
            whole += stage.whole_entry(next - 1, leaf);
            let prefix = common_prefix(&stage.low, stage.key(next));
            let fence = node::fence_room(page_bytes).max(stage.key(next).len());
            let keys = if leaf { next } else { next - 1 };
            let needed = HEADER_BYTES + stage.low.len() + fence + whole - keys * prefix;
            if next > least && needed > full {
                // A shorter prefix further on never makes room again once the keys themselves are past a page.
                if whole - next * stage.low.len().min(whole / next) > page_bytes {
                    break;
                }
                continue;
            }
            count = next;
        }
        let high = if leaf {
            separator(stage.key(count - 1), stage.key(count))
        } else {
            stage.key(count).to_vec()
        };
        let id = self.next_page()?;
        self.emit(level, count, id, Some(high))
    }

    fn next_page(&mut self) -> Result<PageId> {
        if self.allocated.is_empty() {
            // Pages on their way out carry the LSN of their own allocation.
            self.write_out()?;
            self.allocate(false)?;
        }
        Ok(self.allocated.pop().expect("it has just been filled"))
    }

    /// Makes page `id` of the first `count` entries of `level`, and enters it one level above.
    fn emit(
        &mut self,
        level: usize,
        count: usize,
        id: PageId,
        high: Option<Vec<u8>>,
    ) -> Result<()> {
        let mut buf = PageBuf::new(self.volume().pool.page_bytes());
        let kind = if level == 0 { Kind::Leaf } else { Kind::Inner };
        let stage = &self.levels[level];
        let mut page = buf.page_mut();
        page.format(kind, level as u8, id, self.space().tree());
        page.set_fences(&stage.low, high.as_deref());
        let prefix = page.page().prefix_len();
        for entry in 0..count {
            let key = stage.key(entry);
            let suffix = if level == 0 || entry > 0 { &key[prefix..] } else { &[] };
            if level == 0 {
                page.insert_record(entry, suffix, Lsn::ZERO.0, Some(stage.value(entry)));
            } else {
                page.insert_child(entry, suffix, stage.entries[entry].word);
            }
        }
        page.set_structure_lsn(self.allocated_lsn);
        self.out.push(buf);
        let low = stage.low.clone();
        if id != self.root {
            if self.levels.len() == level + 1 {
                self.levels.push(Level::default());
            }
            self.levels[level + 1].push(&low, &[], Child::unseen(id).word());
        }
        self.levels[level].drain(count, high.unwrap_or_default());
        if level == 0 {
            let left = self.levels[0].entries.len();
            self.staged_bytes = self.levels[0].whole_bytes(left, true);
        }
        if self.out.len() >= WRITE_PAGES {
            self.write_out()?;
        }
        let above = level + 1;
        let page_bytes = self.volume().pool.page_bytes();
        if id != self.root {
            let entries = self.levels[above].entries.len();
            if entries > 2 && self.levels[above].whole_bytes(entries, false) > 2 * page_bytes {
                self.close_one(above)?;
            }
        }
        Ok(())
    }

    fn write_out(&mut self) -> Result<()> {
        let volume = self.volume();
        let out = &mut self.out;
        usage::timed(
            |used| &used.written_us,
            || out.iter_mut().try_for_each(|page| write_new(&volume, page)),
        )?;
        usage::count(|used| &used.written, self.out.len() as u64);
        for page in self.out.drain(..) {
            // A reader with an old pointer may have brought what lay there before.
            volume.pool.forget_page(page.page().id());
        }
        Ok(())
    }

    /// Ends the tree, durably, and hands it out.
    ///
    /// # Errors
    /// I/O; [`crate::Error::Full`]; [`crate::Error::Halted`].
    pub fn finish(mut self) -> Result<Arc<Tree>> {
        let page_bytes = self.volume().pool.page_bytes();
        let mut level = 0;
        loop {
            loop {
                let stage = &self.levels[level];
                let count = stage.entries.len();
                let whole = HEADER_BYTES
                    + stage.low.len()
                    + node::fence_room(page_bytes)
                    + stage.whole_bytes(count, level == 0);
                if count < 2 || whole <= page_bytes {
                    break;
                }
                self.close_one(level)?;
            }
            let count = self.levels[level].entries.len();
            if !self.levels[level].begun {
                if count == 0 {
                    self.out.push(self.stamped_empty_root(page_bytes));
                } else {
                    self.emit(level, count, self.root, None)?;
                }
                break;
            }
            let id = self.next_page()?;
            self.emit(level, count, id, None)?;
            level += 1;
        }
        self.write_out()?;
        self.give_unused_back()?;
        let volume = self.volume();
        volume.pool.file().sync()?;
        let space = self.space.take().expect("the space is taken at the end only");
        let tree = Tree::new(volume, self.root, space);
        Ok(self.forest.enter(tree))
    }

    fn stamped_empty_root(&self, page_bytes: usize) -> PageBuf {
        let mut leaf = empty_root(page_bytes, self.root, self.space().tree());
        leaf.page_mut().set_structure_lsn(self.allocated_lsn);
        leaf
    }

    /// Frees the pages of the last allocation that were not needed.
    fn give_unused_back(&mut self) -> Result<()> {
        let unused = std::mem::take(&mut self.allocated);
        if unused.is_empty() {
            return Ok(());
        }
        let volume = self.volume();
        let bytes = 64 + 6 * unused.len() as u64;
        let mut reserved = volume.log.reserve(SpaceClass::System, 1, bytes)?;
        let tree = self.space().tree();
        let mut actions = Actions::new(tree, 6 * unused.len());
        for page in &unused {
            actions.free(*page);
        }
        let _abort = AbortOnUnwind;
        let lsn = volume.log_structure(&mut reserved, &actions, &unused);
        for page in unused {
            volume.space.set_free(tree, page, lsn)?;
            self.space().freed(page, lsn);
        }
        Ok(())
    }
}

impl Drop for BulkBuilder {
    fn drop(&mut self) {
        // Without room in the log the tree stays until the next recovery, which frees what no catalog row names.
        if let Some(space) = self.space.take()
            && let Ok(reserved) = self.volume().log.reserve(SpaceClass::System, 1, 64)
        {
            free(&self.volume(), &space, reserved);
        }
    }
}

/// Writes a page, and logs it where what is restored would not have it otherwise. It keeps the structure LSN of its
/// allocation, which is durable; its own record is not yet.
fn write_new(volume: &Volume, page: &mut PageBuf) -> Result<()> {
    let file = volume.pool.file();
    let mut space = None;
    loop {
        let writing = file.begin_write();
        if file.logs_new() {
            let bytes = file.page_bytes() + IMAGE_OVERHEAD + 8;
            let Some(space) = &mut space else {
                // Not within the write: a backup that begins waits for it, and a checkpoint may wait for that.
                drop(writing);
                space = Some(volume.log.reserve(SpaceClass::Commit, 1, bytes as u64)?);
                continue;
            };
            let mut actions = Actions::new(page.page().tree(), bytes);
            page.seal();
            actions.image(page.page());
            let _lsn = volume.log_structure(space, &actions, &[]);
        }
        return file.write_new(std::slice::from_mut(page));
    }
}

fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    right[..(common_prefix(left, right) + 1).min(right.len())].to_vec()
}
