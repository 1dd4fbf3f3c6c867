//! B+trees of records: `key -> (LSN, value)`, ordered by the bytes of the key.
//!
//! A record carries the LSN of the log record that wrote it. Applying is idempotent: a change is made only if what
//! stands there is older. A delete leaves a *tombstone*, a record without a value, which goes when nobody can need it.
//! There is no undo: what is applied here has committed.
//!
//! Readers are optimistic and leave no trace on shared memory; a writer latches one leaf. Splits, merges
//! and compaction are actions of their own. `docs/format.md` has the bytes, `smo` the structure records.

pub mod bulk;
mod compact;
#[cfg(test)]
mod crash_tests;
pub mod cursor;
mod descend;
pub mod forest;
mod gap;
mod life;
pub mod load;
mod merge;
mod newer;
pub mod node;
#[cfg(test)]
mod scripts;
pub mod smo;
mod split;
#[cfg(test)]
mod tests;
mod tombstone;
pub mod verify;

pub use bulk::BulkBuilder;
pub use compact::Packing;
pub use cursor::Cursor;
pub use forest::Forest;
pub use gap::Gap;
pub use load::{Duplicate, Loaded, Loading, TreeLoad};
pub use newer::Newer;

use crate::breakdown::{self, Class};
use crate::buffer::guard::{ExclusiveGuard, OptimisticGuard};
use crate::page::Page;
use crate::page::racy::Copies;
use crate::page::slotted::{ENTRY_BYTES, SLOT_BYTES, VALUE_LEN_BYTES};
use crate::reserve::escrow::Escrow;
use crate::reserve::{Growth, Reservation};
use crate::space::TreeSpace;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::volume::{AbortOnUnwind, Volume};
use crate::{Error, FrameId, Lsn, PageId, Result, TreeId};
use descend::{Stop, Target};
pub use life::Inside;
use life::Life;
use node::Place;
use std::ops::Range;

/// A change of one record, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// The whole value.
    Put(&'a [u8]),
    /// A part of the value: what stands at LSN `base` with `bytes` in place of `from..from + bytes.len()`. On an
    /// absent record it is skipped (its delete follows); on any other base it is corruption.
    Patch {
        /// The record LSN it was made against, which a lock or a validation holds.
        base: Lsn,
        /// Where in the value the new bytes begin.
        from: u32,
        /// The new bytes; the value keeps its length.
        bytes: &'a [u8],
    },
    /// A tombstone.
    Delete,
}

/// What became of [`Tree::apply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The record now has the given LSN.
    Done,
    /// What stands there is as new, or newer.
    Older,
    /// The leaf is not in memory, or has no room without a wait: nothing has changed.
    WouldWait,
}

/// Where the room comes from if a leaf has none for a change.
#[derive(Debug)]
pub enum Room<'r, 'd> {
    /// From nowhere: what would wait, for room or for a page, is [`Applied::WouldWait`].
    AtHand,
    /// From what is free: it may be refused.
    Free,
    /// From what was set aside before the change was logged.
    Reserved(&'r mut Reservation<'d>),
}

impl<'d> Room<'_, 'd> {
    /// The same room, for one change of many.
    pub fn again(&mut self) -> Room<'_, 'd> {
        match self {
            Room::AtHand => Room::AtHand,
            Room::Free => Room::Free,
            Room::Reserved(reservation) => Room::Reserved(reservation),
        }
    }
}

/// The order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Keys grow.
    Forward,
    /// Keys shrink.
    Backward,
}

/// What the layer above keeps to ask later whether a place it has read has changed. Opaque there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadToken {
    page: u32,
    frame: u32,
    structure: u64,
    changes: u64,
    /// How many pages the tree had freed.
    freed: u64,
    /// Where in the page the key was or belonged: where it is looked for first.
    slot: u32,
}

impl ReadToken {
    /// Nothing has been read.
    pub const NOWHERE: ReadToken =
        ReadToken { page: 0, frame: 0, structure: 0, changes: 0, freed: 0, slot: 0 };
}

/// A record as it stands on a page, in a copy that the reader owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The commit that wrote it; the tree's birth for a record of a bulk build.
    pub lsn: Lsn,
    /// Its value; none is a tombstone.
    pub value: Option<&'a [u8]>,
}

/// Where [`Tree::get`] puts what it found; used again and again, it allocates nothing.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    lsn: Lsn,
    tombstone: bool,
    copies: Copies,
    /// Where in the copies the value is.
    value: Range<usize>,
    token: ReadToken,
}

impl RecordBuffer {
    /// The commit that wrote the record.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The value; none for a tombstone.
    #[inline]
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        (!self.tombstone).then(|| &self.copies.bytes()[self.value.clone()])
    }

    /// What to ask [`Tree::unchanged`] with. Also set when nothing was found.
    #[must_use]
    pub fn token(&self) -> ReadToken {
        self.token
    }

    /// Lets who asks for a key beside the last one look at the leaf that was read under `token` first; at the last one, if it was
    /// that page: its token is the newer one, but for the place in it.
    #[inline]
    pub fn look_near(&mut self, token: &ReadToken) {
        if token.page == self.token.page {
            self.token.slot = token.slot;
        } else if *token != ReadToken::NOWHERE {
            self.token = *token;
        }
    }

    /// Takes another record's contents: an older version, or a transaction's own write.
    #[inline]
    pub fn set(&mut self, lsn: Lsn, value: Option<&[u8]>) {
        self.lsn = lsn;
        self.tombstone = value.is_none();
        let value = value.unwrap_or_default();
        self.copies.set(value);
        self.value = 0..value.len();
    }

    /// Takes what another buffer holds, where it was read included.
    #[inline(always)]
    pub fn copy_from(&mut self, other: &RecordBuffer) {
        self.set(other.lsn, other.value());
        self.token = other.token;
    }
}

/// One tree.
#[derive(Debug)]
pub struct Tree {
    id: TreeId,
    root: PageId,
    root_frame: AtomicU32,
    pub(crate) volume: Arc<Volume>,
    pub(crate) space: Arc<TreeSpace>,
    pub(crate) escrow: Arc<Escrow>,
    birth: AtomicU64,
    /// How many leaves have been split since the tree was opened.
    leaves_split: AtomicU64,
    /// How many pages it has freed since then. One that a reader with an old pointer brings back may look as it did, and is
    /// nobody's.
    pages_freed: AtomicU64,
    life: Life,
}

/// How often a leaf is split for one write of a batch before the write is left to the apply.
const SHAPINGS: usize = 4;
/// The height of a tree whose root nobody has looked at for long: more than a file of 2^32 pages makes.
const HEIGHT_MAX: u8 = 8;

/// A record that is to be put somewhere, or changed.
#[derive(Clone, Copy, Debug)]
struct Coming<'k> {
    key: &'k [u8],
    value_len: usize,
    /// Whether there most likely is one already, so that it is looked for.
    is_change: bool,
}

/// What is to be seen of a record's leaf before the record is changed.
#[derive(Clone, Copy, Debug)]
struct Look {
    found: bool,
    /// The leaf, in a state of its structure.
    id: (PageId, Lsn),
    /// What it has free, in bytes.
    room: usize,
    /// Whether it has no other record, and so takes this one whatever it is.
    alone: bool,
    /// What the change needs of that.
    wanted: usize,
}

impl Growth {
    /// What the batch needs already in the leaf that is looked at.
    fn beside(&self, look: &Look) -> usize {
        if self.leaf == Some(look.id) { self.bytes } else { 0 }
    }

    /// Whether what is looked at has room there as a record of its own.
    fn has_room(&self, look: &Look) -> bool {
        self.beside(look) + look.wanted <= look.room
    }
}

/// What one attempt to apply a change came to.
enum Attempt {
    Ended(Applied),
    NoRoom,
}

impl Tree {
    pub(crate) fn new(volume: Arc<Volume>, root: PageId, space: TreeSpace) -> Tree {
        let (root_frame, space) = (AtomicU32::new(u32::MAX), Arc::new(space));
        let escrow = Arc::new(Escrow::new(Arc::clone(&volume), Arc::clone(&space)));
        Tree {
            id: space.tree(),
            root,
            root_frame,
            volume,
            space,
            escrow,
            birth: AtomicU64::new(0),
            leaves_split: AtomicU64::new(0),
            pages_freed: AtomicU64::new(0),
            life: Life::default(),
        }
    }

    /// Which tree it is.
    #[must_use]
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// Whether it is freed, or about to be: nothing of it can be changed any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.life.has_ended()
    }

    /// Waits until nobody is in the tree that could change it, and lets nobody in.
    fn end(&self) {
        self.life.end(self.volume.pool.environment());
    }

    /// Keeps the tree from being freed, for a few steps that no lock of the layer above stands for; none if it is too late.
    #[must_use]
    pub fn enter(&self) -> Option<Inside<'_>> {
        self.life.enter(self.volume.pool.environment())
    }

    /// Says since when the records of a bulk build count: they have no LSN of their own, and are read as if they had
    /// this one. Nobody but who built the tree can reach it yet. Until then, and after a restart, they are as old as time.
    pub fn set_birth(&self, lsn: Lsn) {
        // Release: pairs with Acquire in `lsn_of`; whoever finds the tree afterwards finds its birth.
        self.birth.store(lsn.0, Ordering::Release);
    }

    /// That LSN; zero where there is none.
    #[must_use]
    pub fn birth(&self) -> Lsn {
        Lsn(self.birth.load(Ordering::Acquire))
    }

    /// What a record's LSN on a page stands for.
    #[inline]
    fn lsn_of(&self, word: u64) -> Lsn {
        Lsn(if word == Lsn::ZERO.0 { self.birth.load(Ordering::Acquire) } else { word })
    }

    fn page_bytes(&self) -> usize {
        self.volume.pool.page_bytes()
    }

    /// What tells later whether a leaf that is being read has changed. Taken before the leaf is validated.
    #[inline]
    fn token(&self, leaf: &OptimisticGuard<'_>, slot: usize) -> ReadToken {
        let page = leaf.page();
        ReadToken {
            page: page.id().0,
            frame: leaf.frame().0,
            structure: page.structure_lsn().0,
            changes: page.changes(),
            freed: self.pages_freed.load(Ordering::Relaxed),
            slot: slot as u32,
        }
    }

    /// Whether a page that is being read is the tree's, with the structure that it had under `token`. What it says holds if the
    /// page is validated afterwards.
    #[inline]
    fn has_kept(&self, token: &ReadToken, page: Page<'_>) -> bool {
        // Relaxed: it is counted under the latch of the page that is freed, and whoever reads a page that has come back to
        // that frame has read the latch since.
        page.structure_lsn().0 == token.structure
            && page.tree() == self.id
            && self.pages_freed.load(Ordering::Relaxed) == token.freed
    }

    /// Finds the record at `key`, a tombstone too. Waits for its page where it is not in memory.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn get(&self, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        let _class = breakdown::enter(Class::Index);
        match self.descend(Target::At(key)).and_then(|leaf| self.read_leaf(&leaf, key, into)) {
            Ok(found) => Ok(found),
            Err(stop) => self.get_again(stop, key, into),
        }
    }

    /// As [`Tree::get`], of a key that is likely to be beside the one that `into` was read at before: its leaf is looked at
    /// first. Where it belongs at that one's place, too, and is not there, `gap` says so of others.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn get_beside(&self, key: &[u8], into: &mut RecordBuffer, gap: &mut Gap) -> Result<bool> {
        let _class = breakdown::enter(Class::Index);
        let leaf = self.leaf_beside(&into.token, key);
        let read = leaf.and_then(|leaf| {
            let before = into.token;
            let place = self.place_near(&leaf, key, into);
            let again = (before.page, before.slot as usize) == (leaf.page().id().0, place.slot);
            if again && !place.found {
                gap.read(leaf.page(), place, key);
            }
            let found = self.read_place(&leaf, place, into)?;
            if again && !found {
                gap.stands_under(into.token);
            }
            Ok(found)
        });
        match read {
            Ok(found) => Ok(found),
            Err(stop) => self.get_again(stop, key, into),
        }
    }

    /// Goes on with a read that was stopped.
    #[cold]
    fn get_again(&self, stop: Stop<'_>, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        let (mut held, mut spins) = (None, 0);
        let mut stopped = stop;
        loop {
            self.recover(stopped, &mut held, &mut spins)?;
            let leaf = self.leaf(Target::At(key));
            match leaf.and_then(|leaf| self.read_leaf(&leaf, key, into)) {
                Ok(found) => return Ok(found),
                Err(stop) => stopped = stop,
            }
        }
    }

    /// Whether there is a record at `key` that is no tombstone. As [`Tree::get`].
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn has(&self, key: &[u8]) -> Result<bool> {
        let mut record = RecordBuffer::default();
        Ok(self.get(key, &mut record)? && record.value().is_some())
    }

    /// Reads the record at `key` in its leaf.
    #[inline]
    fn read_leaf<'v>(
        &self,
        leaf: &OptimisticGuard<'_>,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> std::result::Result<bool, Stop<'v>> {
        self.read_place(leaf, node::place(leaf.page(), key), into)
    }

    /// The same where the key is likely to be near the place that `into` was read at, or behind the last insert.
    #[inline]
    fn read_leaf_near<'v>(
        &self,
        leaf: &OptimisticGuard<'_>,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> std::result::Result<bool, Stop<'v>> {
        self.read_place(leaf, self.place_near(leaf, key, into), into)
    }

    /// Where a key of a leaf is, or belongs, which is likely to be near the place that `into` was read at, or behind the last insert.
    #[inline]
    fn place_near(&self, leaf: &OptimisticGuard<'_>, key: &[u8], into: &RecordBuffer) -> Place {
        let (page, near) = (leaf.page(), into.token.slot as usize);
        node::place_near(page, key, [near, node::behind_last_insert(page)])
    }

    #[inline(always)]
    fn read_place<'v>(
        &self,
        leaf: &OptimisticGuard<'_>,
        Place { slot, found }: Place,
        into: &mut RecordBuffer,
    ) -> std::result::Result<bool, Stop<'v>> {
        let page = leaf.page();
        into.token = self.token(leaf, slot);
        if found {
            into.lsn = self.lsn_of(page.entry_word(slot));
            let value = page.value(slot);
            into.tombstone = value.tombstone;
            into.copies.clear();
            let start = into.copies.take(page.words(), value.at, value.len, b"").unwrap_or(0);
            into.value = start..start + value.len;
        }
        leaf.validate()?;
        Ok(found)
    }

    /// As [`Tree::get`], of a record that [`Tree::apply`] is to put there or to change, one of a batch in the order of keys:
    /// its leaf is in memory then, with room for it and for those of the batch that went there before, so that the change
    /// will most likely not have to wait. What it can cost at worst is added to `growth`. The leaf that `into` was read from
    /// before, which a batch often comes back to, is looked at first.
    ///
    /// # Errors
    /// As [`Tree::get`] and [`Tree::prepare`].
    pub fn get_to_change(
        &self,
        key: &[u8],
        value_len: usize,
        into: &mut RecordBuffer,
        growth: &mut Growth,
    ) -> Result<bool> {
        self.check_size(key, value_len)?;
        Ok(self.make_ready(Coming { key, value_len, is_change: true }, into, growth)?.found)
    }

    /// As [`Tree::get_to_change`], of a record that most likely is not there, and whose image nobody asks for: it is not looked for
    /// as long as there is room for another. Where its leaf is, is in the token of `into` afterwards.
    ///
    /// # Errors
    /// As [`Tree::get_to_change`].
    pub fn make_room(
        &self,
        key: &[u8],
        value_len: usize,
        into: &mut RecordBuffer,
        growth: &mut Growth,
    ) -> Result<()> {
        self.check_size(key, value_len)?;
        let leaf = (PageId(into.token.page), Lsn(into.token.structure));
        if !growth.goes_beside(self, leaf, (key, value_len))? {
            self.make_ready(Coming { key, value_len, is_change: false }, into, growth)?;
        }
        Ok(())
    }

    fn make_ready(
        &self,
        coming: Coming<'_>,
        into: &mut RecordBuffer,
        growth: &mut Growth,
    ) -> Result<Look> {
        let _class = breakdown::enter(Class::Index);
        let mut look = self.look_to_change(coming, into, growth)?;
        if !coming.is_change && !growth.has_room(&look) {
            look = self.look_to_change(Coming { is_change: true, ..coming }, into, growth)?;
        }
        if look.wanted > 0 {
            growth.count(self)?;
            match self.shape(coming, look, into, growth) {
                // What the commit sets aside is enough for so few, or it is refused there.
                Err(Error::Full(_)) if growth.is_covered() => {}
                shaped => shaped?,
            }
        }
        Ok(look)
    }

    /// Whether the leaf that was read under `token` is in memory, and was not cut or freed since.
    #[must_use]
    pub fn has_leaf(&self, token: &ReadToken) -> bool {
        let kept = self.leaf_again(token).is_some_and(|leaf| leaf.validate().is_ok());
        self.count_hints(u64::from(kept));
        kept
    }

    fn look_to_change(
        &self,
        coming: Coming<'_>,
        into: &mut RecordBuffer,
        growth: &mut Growth,
    ) -> Result<Look> {
        let Coming { key, value_len, is_change } = coming;
        let mut held = None;
        let mut spins = 0;
        let mut is_first = true;
        loop {
            // Looked at once more, a leaf that is of no use would keep its frame from those that are waited for.
            let leaf = match std::mem::take(&mut is_first) {
                true => self.leaf_beside(&into.token, key),
                false => self.leaf(Target::At(key)),
            };
            let read = leaf.and_then(|leaf| {
                let page = leaf.page();
                let (id, room) = ((page.id(), page.structure_lsn()), node::room(page));
                let alone = node::is_alone(page, key);
                let whole = node::record_bytes(page, key, value_len);
                // The second write to a leaf makes more of them likely.
                let comes_back = growth.leaf == Some(id);
                if comes_back {
                    growth.known.read(page);
                }
                let found = if is_change {
                    self.read_leaf_near(&leaf, key, into)?
                } else {
                    into.token = self.token(&leaf, into.token.slot as usize);
                    leaf.validate()?;
                    false
                };
                growth.known.id = comes_back.then_some(id);
                Ok(Look { found, id, room, alone, wanted: whole })
            });
            match read {
                Ok(look) => {
                    // A record that stands there already needs room for the difference only: an update must not split
                    // its leaf. A tombstone may go before the change comes.
                    let old = if look.found { into.value().map(<[u8]>::len) } else { None };
                    let wanted = match old {
                        Some(len) if value_len <= len => 0,
                        Some(len) => value_len - len,
                        None => look.wanted,
                    };
                    return Ok(Look { wanted, ..look });
                }
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    /// Splits the leaf of `key` until it has room for the last write of a batch beside those before it.
    fn shape(
        &self,
        coming: Coming<'_>,
        mut look: Look,
        into: &mut RecordBuffer,
        growth: &mut Growth,
    ) -> Result<()> {
        let key = coming.key;
        // Others may use the room up as soon as it is made; what is set aside is there for that.
        for _ in 0..SHAPINGS {
            let beside = growth.beside(&look);
            if growth.has_room(&look) || (beside == 0 && look.alone) {
                break;
            }
            if beside > 0 && self.separate_above(key)? {
                let before =
                    std::mem::replace(&mut look, self.look_to_change(coming, into, growth)?);
                // What the batch puts before the key stays beside it.
                growth.leaf = Some(look.id);
                if look.id != before.id {
                    continue;
                }
            }
            if beside > 0 {
                self.split_leaf_at(key, growth.separator(key))?;
            } else {
                let wanted = look.wanted;
                self.split_leaf(key, None, &|page| {
                    node::room(page) >= wanted || node::is_alone(page, key)
                })?;
            }
            let before = std::mem::replace(&mut look, self.look_to_change(coming, into, growth)?);
            if look.id == before.id {
                break;
            }
        }
        let beside = growth.beside(&look);
        growth.goes_to(look.id, beside + look.wanted, key);
        Ok(())
    }

    /// Cuts the leaf of `key` before the first record above it, so that keys that come in order before that one fill a leaf
    /// of their own; whether there is such a record.
    fn separate_above(&self, key: &[u8]) -> Result<bool> {
        let mut held = None;
        let mut spins = 0;
        let above = loop {
            let read = self.leaf(Target::At(key)).and_then(|leaf| {
                let page = leaf.page();
                let Place { slot, found } = node::place(page, key);
                let mut above = Vec::new();
                if slot + usize::from(found) < page.slots() {
                    page.append_key(slot + usize::from(found), &mut above);
                }
                leaf.validate()?;
                Ok(above)
            });
            match read {
                Ok(above) => break above,
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        };
        if above.is_empty() {
            return Ok(false);
        }
        let common = crate::page::slotted::common_prefix(key, &above);
        self.split_leaf_at(key, &above[..(common + 1).min(above.len())])?;
        Ok(true)
    }

    /// How many levels of inner nodes there are, or were a moment ago.
    pub(crate) fn height(&self) -> u8 {
        self.root().map_or(HEIGHT_MAX, |(root, _)| root.page().level())
    }

    /// The room that a leaf needs to grow by so many bytes, if they are a record of its own.
    pub(crate) fn room_for(growth: usize) -> usize {
        SLOT_BYTES + ENTRY_BYTES + VALUE_LEN_BYTES + growth
    }

    /// Brings the leaf of `key` into memory with room for `growth` more bytes, so that [`Tree::apply`] will most
    /// likely not have to wait. For a new record `growth` is the length of key and value together.
    ///
    /// # Errors
    /// I/O, corruption, [`Error::Full`], and [`Error::TooLarge`] for a record that no page takes.
    pub fn prepare(&self, key: &[u8], growth: usize) -> Result<()> {
        self.check_size(key, growth.saturating_sub(key.len()))?;
        let wanted = Tree::room_for(growth);
        let enough = |page: Page<'_>| node::room(page) >= wanted || node::is_alone(page, key);
        let mut held = None;
        let mut spins = 0;
        loop {
            let looked = self.leaf(Target::At(key)).and_then(|leaf| {
                let enough = enough(leaf.page());
                leaf.validate()?;
                Ok(enough)
            });
            match looked {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    held = None;
                    self.split_leaf(key, None, &enough)?;
                }
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    fn check_size(&self, key: &[u8], value_len: usize) -> Result<()> {
        node::check_record_size(key.len(), value_len, self.page_bytes())
    }

    /// Makes one change that has been logged at `lsn`, if what stands there is older. `before` sees the record that stood there,
    /// if there was one, first, under the page's latch, and must not wait; it is not called if nothing is changed.
    ///
    /// With `wait` it waits for pages and splits; without, it answers [`Applied::WouldWait`].
    ///
    /// # Errors
    /// I/O and corruption; [`Error::TooLarge`].
    pub fn apply(
        &self,
        lsn: Lsn,
        key: &[u8],
        change: Change<'_>,
        wait: bool,
        before: &mut dyn FnMut(Record<'_>),
    ) -> Result<Applied> {
        let room = if wait { Room::Free } else { Room::AtHand };
        self.apply_since((lsn, lsn), (key, None), change, room, before)
    }

    /// As [`Tree::apply`], for a change whose redo begins at `since` and not at `lsn`: a commit in parts counts from its
    /// first part on the pages it changes too, or a checkpoint would let go of the parts. Where the same key has been read
    /// before, as by [`Tree::get_to_change`], its token saves the descent if the leaf is as it was.
    ///
    /// # Errors
    /// As [`Tree::apply`].
    pub fn apply_since(
        &self,
        (lsn, since): (Lsn, Lsn),
        (key, token): (&[u8], Option<&ReadToken>),
        change: Change<'_>,
        room: Room<'_, '_>,
        before: &mut dyn FnMut(Record<'_>),
    ) -> Result<Applied> {
        let key = (key, token, &mut ReadToken::NOWHERE.clone());
        self.apply_beside((lsn, since), key, change, room, before)
    }

    /// As [`Tree::apply_since`], for one of several changes in the order of keys: where the leaf that the key was read in is not as
    /// it was, `beside` is looked at, the leaf that was descended to for one before.
    ///
    /// # Errors
    /// As [`Tree::apply`].
    pub fn apply_beside(
        &self,
        (lsn, since): (Lsn, Lsn),
        (key, token, beside): (&[u8], Option<&ReadToken>, &mut ReadToken),
        change: Change<'_>,
        room: Room<'_, '_>,
        before: &mut dyn FnMut(Record<'_>),
    ) -> Result<Applied> {
        let _class = breakdown::enter(Class::Index);
        let value_len = match change {
            Change::Put(value) => value.len(),
            Change::Patch { .. } | Change::Delete => 0,
        };
        self.check_size(key, value_len)?;
        let covers = |leaf: &OptimisticGuard<'_>| leaf.page().covers(key);
        let again = token
            .and_then(|token| self.leaf_again(token))
            .or_else(|| self.leaf_again(beside).filter(covers));
        if let Some(Ok(leaf)) = again.map(|leaf| leaf.upgrade()) {
            self.count_hints(1);
            let applied = self.apply_to(leaf, (lsn, since), (key, token), change, before)?;
            if let Attempt::Ended(applied) = applied {
                return Ok(applied);
            }
        }
        self.apply_by_descent((lsn, since), (key, token, beside), change, room, before)
    }

    /// Applies a change whose leaf is not where it was, or has no room.
    #[inline(never)]
    fn apply_by_descent(
        &self,
        (lsn, since): (Lsn, Lsn),
        (key, token, beside): (&[u8], Option<&ReadToken>, &mut ReadToken),
        change: Change<'_>,
        mut room: Room<'_, '_>,
        before: &mut dyn FnMut(Record<'_>),
    ) -> Result<Applied> {
        let wait = !matches!(room, Room::AtHand);
        let mut held = None;
        let mut spins = 0;
        loop {
            let leaf = self.leaf(Target::At(key)).and_then(|leaf| {
                *beside = self.token(&leaf, 0);
                Ok(leaf.upgrade()?)
            });
            match leaf {
                Ok(leaf) => {
                    match self.apply_to(leaf, (lsn, since), (key, token), change, before)? {
                        Attempt::Ended(applied) => return Ok(applied),
                        Attempt::NoRoom if !wait => return Ok(Applied::WouldWait),
                        Attempt::NoRoom => {
                            held = None;
                            let value = match change {
                                Change::Put(value) => Some(value),
                                Change::Patch { .. } | Change::Delete => None,
                            };
                            let payer = match &mut room {
                                Room::Reserved(reservation) => Some(&mut **reservation),
                                Room::AtHand | Room::Free => None,
                            };
                            self.split_leaf(key, payer, &|page| {
                                node::has_room(page, node::place(page, key), key, value)
                            })?;
                        }
                    }
                }
                Err(Stop::Miss(..)) if !wait => return Ok(Applied::WouldWait),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    #[inline(always)]
    fn apply_to(
        &self,
        mut leaf: ExclusiveGuard<'_>,
        (lsn, since): (Lsn, Lsn),
        (key, read): (&[u8], Option<&ReadToken>),
        change: Change<'_>,
        before: &mut dyn FnMut(Record<'_>),
    ) -> Result<Attempt> {
        let page = leaf.page();
        debug_assert!(page.covers(key), "the descent ends at the leaf whose range holds the key");
        let behind = node::behind_last_insert(page);
        let place = match read {
            Some(read) if page.changes() == read.changes => {
                node::place_near(page, key, [read.slot as usize, behind])
            }
            // Where the leaf has changed, it most likely is this commit that puts one key behind another.
            Some(read) => node::place_near(page, key, [behind, read.slot as usize]),
            None => node::place(page, key),
        };
        let old = place.found.then(|| (Lsn(page.entry_word(place.slot)), page.value(place.slot)));
        if old.is_some_and(|(old, _)| old >= lsn) {
            return Ok(Attempt::Ended(Applied::Older));
        }
        match change {
            Change::Put(value) if !node::has_room(page, place, key, Some(value)) => {
                return Ok(Attempt::NoRoom);
            }
            Change::Delete if !node::has_room(page, place, key, None) => {
                return Ok(Attempt::NoRoom);
            }
            Change::Put(_) | Change::Delete => {}
            Change::Patch { base, from, bytes } => match old {
                None => return Ok(Attempt::Ended(Applied::Older)),
                Some((_, value)) if value.tombstone => {
                    return Ok(Attempt::Ended(Applied::Older));
                }
                Some((at, value)) => {
                    // A bulk build's record has no LSN of its own, and its birth is forgotten at a restart.
                    if at != base && at != Lsn::ZERO {
                        return Err(Error::CorruptLog(format!("a patch of {base} meets {at}")));
                    }
                    if from as usize + bytes.len() > value.len {
                        return Err(Error::CorruptLog(format!("a patch of {base} is too long")));
                    }
                }
            },
        }
        let _abort = AbortOnUnwind;
        if let Some((lsn, value)) = old {
            before(Record {
                key,
                lsn: self.lsn_of(lsn.0),
                value: (!value.tombstone).then(|| leaf.bytes(value.at, value.len)),
            });
        }
        leaf.mark_dirty(since);
        let mut page = leaf.page_mut();
        match change {
            Change::Put(value) => node::put(&mut page, place, key, lsn, Some(value)),
            Change::Delete => node::put(&mut page, place, key, lsn, None),
            Change::Patch { from, bytes, .. } => {
                page.patch_value(place.slot, from as usize, bytes);
                page.set_entry_word(place.slot, lsn.0);
                page.count_change();
            }
        }
        page.raise_lsn(lsn);
        Ok(Attempt::Ended(Applied::Done))
    }

    /// The keys that the leaf of `key` is for: from the first, up to where the next leaf begins if there is one.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn leaf_range(&self, key: &[u8]) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
        let (mut held, mut spins) = (None, 0);
        loop {
            let read = self.leaf(Target::At(key)).and_then(|leaf| {
                let range = node::fences(leaf.page());
                leaf.validate()?;
                Ok(range)
            });
            match read {
                Ok(range) => return Ok(range),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    /// Whether nothing that was read under `token` can have changed since: by structure LSN and change counter. A page
    /// that has left the memory counts as changed, and so does one while somebody has its latch, if only to write it.
    #[must_use]
    pub fn unchanged(&self, token: ReadToken) -> bool {
        let page = PageId(token.page);
        let pool = &self.volume.pool;
        pool.by_hint(page, FrameId(token.frame)).or_else(|| pool.try_resident(page)).is_some_and(
            |guard| {
                let now = guard.page();
                let same = self.has_kept(&token, now) && now.changes() == token.changes;
                same && guard.validate().is_ok()
            },
        )
    }

    /// A cursor, at no place yet.
    #[must_use]
    pub fn cursor(self: &Arc<Self>) -> Cursor {
        Cursor::new(Arc::clone(self))
    }
}
