//! Structure records: what one structure modification does, as the log has it, and its redo.
//!
//! Recovery's pass one (`recovery.rs`) decides which records a page needs; here each is applied where the page's structure
//! LSN is older. An image, too: a page on disk that already has it may hold later commits that redo does not begin
//! early enough to repeat. What concerns a tree that is freed is skipped whole, wherever it stands: its pages may be
//! another's. (The record that frees a tree is its last; a log of before that was so is redone all the same.)
//!
//! ```text
//! record   tree u64 · action*
//! action   1 image       page u32 · before u16 · after u16 · bytes  (what lies before and after the page's hole)
//!          2 keep below  page u32 · len u16 · key
//!          3 put child   page u32 · child u32 · len u16 · key
//!          4 remove child page u32 · len u16 · key
//!          5 allocate    page u32 · root u8
//!          6 free        page u32
//!          7 free tree
//!          8 move child  page u32 · len u16 · old key · len u16 · new key
//! ```

use super::node::{self, Child};
use crate::page::{Page, PageBuf};
use crate::recovery::{Effect, StructureReader, StructureRecord, StructureRedo};
use crate::sync::{Mutex, lock};
use crate::volume::Volume;
use crate::wal::RecordKind;
use crate::{Error, Lsn, PageId, Result, TreeId};
use std::collections::HashMap;

/// The kind of a structure record.
pub const STRUCTURE: RecordKind = RecordKind(16);

const IMAGE: u8 = 1;
const KEEP_BELOW: u8 = 2;
const PUT_CHILD: u8 = 3;
const REMOVE_CHILD: u8 = 4;
const ALLOCATE: u8 = 5;
const FREE: u8 = 6;
const FREE_TREE: u8 = 7;
const MOVE_CHILD: u8 = 8;

/// The bytes of an image beside the page's own.
pub const IMAGE_OVERHEAD: usize = 9;

/// A structure record in the making.
#[derive(Debug)]
pub struct Actions(Vec<u8>);

impl Actions {
    /// A record about `tree`, with room for `bytes`.
    #[must_use]
    pub fn new(tree: TreeId, bytes: usize) -> Actions {
        let mut record = Vec::with_capacity(bytes + 64);
        record.extend_from_slice(&tree.0.to_le_bytes());
        Actions(record)
    }

    /// The payload so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn begin(&mut self, action: u8, page: PageId) {
        self.0.push(action);
        self.0.extend_from_slice(&page.0.to_le_bytes());
    }

    fn key(&mut self, key: &[u8]) {
        self.0.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.0.extend_from_slice(key);
    }

    /// The page is this, whatever it was.
    pub fn image(&mut self, page: Page<'_>) {
        let hole = page.hole();
        let after = page.bytes() - hole.end;
        self.begin(IMAGE, page.id());
        self.0.extend_from_slice(&(hole.start as u16).to_le_bytes());
        self.0.extend_from_slice(&(after as u16).to_le_bytes());
        crate::page::racy::append(page.words(), 0, hole.start, &mut self.0);
        crate::page::racy::append(page.words(), hole.end, after, &mut self.0);
    }

    /// The page keeps what is below `key`, its new high fence.
    pub fn keep_below(&mut self, page: PageId, key: &[u8]) {
        self.begin(KEEP_BELOW, page);
        self.key(key);
    }

    /// The inner page has `child` from `key` on.
    pub fn put_child(&mut self, page: PageId, key: &[u8], child: PageId) {
        self.begin(PUT_CHILD, page);
        self.0.extend_from_slice(&child.0.to_le_bytes());
        self.key(key);
    }

    /// The inner page has no child at `key` any more.
    pub fn remove_child(&mut self, page: PageId, key: &[u8]) {
        self.begin(REMOVE_CHILD, page);
        self.key(key);
    }

    /// The inner page's child at `old` begins at `new`.
    pub fn move_child(&mut self, page: PageId, old: &[u8], new: &[u8]) {
        self.begin(MOVE_CHILD, page);
        self.key(old);
        self.key(new);
    }

    /// The page is the tree's.
    pub fn allocate(&mut self, page: PageId, root: bool) {
        self.begin(ALLOCATE, page);
        self.0.push(u8::from(root));
    }

    /// The page is the tree's no more.
    pub fn free(&mut self, page: PageId) {
        self.begin(FREE, page);
    }

    /// The tree is no more.
    pub fn free_tree(&mut self) {
        self.0.push(FREE_TREE);
    }
}

/// One action, read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action<'a> {
    Image { page: PageId, before: &'a [u8], after: &'a [u8] },
    KeepBelow { page: PageId, key: &'a [u8] },
    PutChild { page: PageId, child: PageId, key: &'a [u8] },
    RemoveChild { page: PageId, key: &'a [u8] },
    MoveChild { page: PageId, old: &'a [u8], new: &'a [u8] },
    Allocate { page: PageId, root: bool },
    Free { page: PageId },
    FreeTree,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(bytes)
            .ok_or_else(|| Error::CorruptLog("a structure record ends early".to_owned()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn page(&mut self) -> Result<PageId> {
        Ok(PageId(self.number(4)? as u32))
    }

    fn key(&mut self) -> Result<&'a [u8]> {
        let len = self.number(2)? as usize;
        self.take(len)
    }

    fn action(&mut self) -> Result<Option<Action<'a>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        Ok(Some(match self.number(1)? as u8 {
            IMAGE => {
                let page = self.page()?;
                let before = self.number(2)? as usize;
                let after = self.number(2)? as usize;
                Action::Image { page, before: self.take(before)?, after: self.take(after)? }
            }
            KEEP_BELOW => Action::KeepBelow { page: self.page()?, key: self.key()? },
            PUT_CHILD => {
                Action::PutChild { page: self.page()?, child: self.page()?, key: self.key()? }
            }
            REMOVE_CHILD => Action::RemoveChild { page: self.page()?, key: self.key()? },
            MOVE_CHILD => {
                Action::MoveChild { page: self.page()?, old: self.key()?, new: self.key()? }
            }
            ALLOCATE => Action::Allocate { page: self.page()?, root: self.number(1)? != 0 },
            FREE => Action::Free { page: self.page()? },
            FREE_TREE => Action::FreeTree,
            other => {
                return Err(Error::CorruptLog(format!("a structure record has action {other}")));
            }
        }))
    }
}

fn read<'a>(
    record: &StructureRecord<'a>,
    mut each: impl FnMut(TreeId, Action<'a>) -> Result<()>,
) -> Result<()> {
    if record.kind != STRUCTURE {
        return Ok(());
    }
    let mut reader = Reader(record.payload);
    let tree = TreeId(reader.number(8)?);
    while let Some(action) = reader.action()? {
        each(tree, action)?;
    }
    Ok(())
}

/// What the first reading of the log asks about structure records.
#[derive(Debug, Default)]
pub struct TreeReader {
    /// Trees that are freed, each with the record that does it, known after the first reading. No number is used twice.
    gone: Mutex<HashMap<TreeId, Lsn>>,
}

/// What pass one of recovery asks about them.
#[derive(Debug)]
pub struct TreeRedo<'v> {
    volume: &'v Volume,
    reader: TreeReader,
}

impl Action<'_> {
    /// The page that it changes, and how.
    fn effect(&self) -> Option<(PageId, Effect)> {
        match *self {
            Action::Image { page, .. } => Some((page, Effect::Image)),
            Action::Free { page } => Some((page, Effect::Free)),
            Action::KeepBelow { page, .. }
            | Action::PutChild { page, .. }
            | Action::RemoveChild { page, .. }
            | Action::MoveChild { page, .. } => Some((page, Effect::Delta)),
            Action::Allocate { .. } | Action::FreeTree => None,
        }
    }
}

impl TreeReader {
    fn is_gone(&self, tree: TreeId) -> bool {
        lock(&self.gone).contains_key(&tree)
    }
}

impl StructureReader for TreeReader {
    fn pages(
        &self,
        record: &StructureRecord<'_>,
        each: &mut dyn FnMut(PageId, Effect),
    ) -> Result<()> {
        read(record, |tree, action| {
            if action == Action::FreeTree {
                lock(&self.gone).insert(tree, record.lsn);
            }
            // What follows a tree's end must not stand for the last image of a page that is another's.
            if let Some((page, effect)) = action.effect()
                && !self.is_gone(tree)
            {
                each(page, effect);
            }
            Ok(())
        })
    }
}

impl StructureReader for TreeRedo<'_> {
    fn pages(
        &self,
        record: &StructureRecord<'_>,
        each: &mut dyn FnMut(PageId, Effect),
    ) -> Result<()> {
        self.reader.pages(record, each)
    }
}

impl StructureRedo for TreeRedo<'_> {
    fn redo(&self, record: &StructureRecord<'_>, page: PageId) -> Result<()> {
        read(record, |tree, action| match action.effect() {
            Some((named, _)) if named == page => self.redo_action(record.lsn, tree, action),
            _ => Ok(()),
        })
    }

    fn note(&self, record: &StructureRecord<'_>) -> Result<()> {
        let space = &self.volume.space;
        read(record, |tree, action| match action {
            Action::FreeTree => {
                space.note_gone(tree);
                Ok(())
            }
            _ if self.reader.is_gone(tree) => Ok(()),
            Action::Allocate { page, root } => space.set_allocated(tree, page, root, record.lsn),
            Action::Free { page } => space.set_free(tree, page, record.lsn),
            _ => Ok(()),
        })
    }
}

impl<'v> TreeRedo<'v> {
    /// The trees that were freed, each with the record that did it.
    #[must_use]
    pub fn into_gone(self) -> HashMap<TreeId, Lsn> {
        std::mem::take(&mut *lock(&self.reader.gone))
    }

    /// Redo in `volume`, after the first reading.
    #[must_use]
    pub fn new(volume: &'v Volume, reader: TreeReader) -> TreeRedo<'v> {
        TreeRedo { volume, reader }
    }

    fn redo_action(&self, lsn: Lsn, tree: TreeId, action: Action<'_>) -> Result<()> {
        if self.reader.is_gone(tree) {
            return Ok(());
        }
        match action {
            Action::Allocate { .. } | Action::Free { .. } | Action::FreeTree => Ok(()),
            Action::Image { page, before, after } => self.redo_image(lsn, page, before, after),
            Action::KeepBelow { page, key } => {
                self.redo_change(lsn, tree, page, |node| Ok(node::kept_below(node, key)))
            }
            Action::PutChild { page, child, key } => self.redo_change(lsn, tree, page, |node| {
                let mut copy = PageBuf::copy_of(node);
                node::put_child(&mut copy.page_mut(), key, Child::unseen(child));
                Ok(copy)
            }),
            Action::RemoveChild { page, key } => self.redo_change(lsn, tree, page, |node| {
                let mut copy = PageBuf::copy_of(node);
                if !node::remove_child(&mut copy.page_mut(), key) {
                    return Err(Error::Corrupt(page, "a child to be removed is not there"));
                }
                Ok(copy)
            }),
            Action::MoveChild { page, old, new } => self.redo_change(lsn, tree, page, |node| {
                let mut copy = PageBuf::copy_of(node);
                if !node::move_child(&mut copy.page_mut(), old, new) {
                    return Err(Error::Corrupt(page, "a child to be moved is not there"));
                }
                Ok(copy)
            }),
        }
    }

    fn redo_image(&self, lsn: Lsn, page: PageId, before: &[u8], after: &[u8]) -> Result<()> {
        let pin = match self.volume.pool.fetch(page) {
            Ok(pin) => pin,
            Err(Error::Corrupt(..)) => self.volume.pool.create(page)?,
            Err(other) => return Err(other),
        };
        let mut guard = pin.exclusive();
        if guard.page().id() == page && guard.page().structure_lsn() >= lsn {
            return Ok(());
        }
        let mut buf = PageBuf::new(self.volume.pool.page_bytes());
        let bytes = buf.bytes_mut();
        if before.len() + after.len() > bytes.len() {
            return Err(Error::CorruptLog(format!("the image of page {page:?} is too large")));
        }
        bytes[..before.len()].copy_from_slice(before);
        let from = bytes.len() - after.len();
        bytes[from..].copy_from_slice(after);
        buf.seal();
        buf.check(page)?;
        guard.mark_dirty(lsn);
        let mut to = guard.page_mut();
        to.copy_from(buf.page());
        to.set_structure_lsn(lsn);
        Ok(())
    }

    fn redo_change(
        &self,
        lsn: Lsn,
        tree: TreeId,
        page: PageId,
        change: impl FnOnce(Page<'_>) -> Result<PageBuf>,
    ) -> Result<()> {
        let pin = self.volume.pool.fetch(page)?;
        let mut guard = pin.exclusive();
        if guard.page().structure_lsn() >= lsn {
            return Ok(());
        }
        if guard.page().tree() != tree {
            return Err(Error::Corrupt(page, "it belongs to another tree"));
        }
        let changed = change(guard.page())?;
        guard.mark_dirty(lsn);
        let mut to = guard.page_mut();
        to.copy_from(changed.page());
        to.set_structure_lsn(lsn);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_cut_one_is_refused() {
        let mut actions = Actions::new(TreeId(5), 0);
        actions.keep_below(PageId(9), b"key");
        actions.put_child(PageId(1), b"key", PageId(10));
        actions.remove_child(PageId(1), b"");
        actions.move_child(PageId(1), b"key", b"new");
        actions.allocate(PageId(10), true);
        actions.free(PageId(11));
        actions.free_tree();
        let whole = actions.bytes();
        let record =
            |payload| StructureRecord { lsn: Lsn(1), end: Lsn(2), kind: STRUCTURE, payload };
        let mut seen = Vec::new();
        read(&record(whole), |tree, action| {
            assert_eq!(tree, TreeId(5));
            seen.push(action);
            Ok(())
        })
        .unwrap();
        assert_eq!(
            seen,
            [
                Action::KeepBelow { page: PageId(9), key: b"key" },
                Action::PutChild { page: PageId(1), child: PageId(10), key: b"key" },
                Action::RemoveChild { page: PageId(1), key: b"" },
                Action::MoveChild { page: PageId(1), old: b"key", new: b"new" },
                Action::Allocate { page: PageId(10), root: true },
                Action::Free { page: PageId(11) },
                Action::FreeTree,
            ]
        );
        for cut in 0..whole.len() {
            let mut count = 0;
            let result = read(&record(&whole[..cut]), |_, _| {
                count += 1;
                Ok(())
            });
            assert!(result.is_err() || count < seen.len());
        }
    }
}
