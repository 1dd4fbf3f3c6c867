//! What a commit sets aside before its record is claimed, because afterwards it cannot fail: the room that applying it can
//! take at worst.
//!
//! Mohan and Levine, *ARIES/IM*, SIGMOD 1992, split inside of the transaction and undo; here nothing is undone, so the room
//! for splits is promised first. [`Growth`] adds up what the writes of one commit can cost, tree by tree, while their leaves
//! are brought into shape; [`Reservation`] is the promise: log for the record, log for the splits' records, extents for
//! their pages. It is held until all is applied. The sums are upper bounds and cheap: `docs/design/0010-full-disk.md` says
//! why they are enough. A write that makes nothing grow costs nothing here.

pub(crate) mod credit;
pub(crate) mod escrow;

use crate::btree::smo::IMAGE_OVERHEAD;
use crate::btree::{Forest, Tree, node};
use crate::page::Page;
use crate::page::racy::key_chunk;
use crate::space::{EXTENT_PAGES, Grant, Promise, TreeSpace};
use crate::sync::Arc;
use crate::volume::Volume;
use crate::wal::frame;
use crate::wal::{Claim, SpaceClass, SpaceReservation};
use crate::{Error, Lsn, PageId, Result, TreeId};
use escrow::{Batch, Member, Share};

/// How many cuts one write can cost: a leaf of long separators is halved, and then cut on both sides of the key.
const CUTS: u64 = 3;
/// The most cuts of leaves for which one commit sets room aside in one tree. More writes than a third of that have their leaves
/// shaped to take all of them: see [`escrow`].
pub(crate) const CUTS_MAX: u64 = 256;
/// How many cuts one write can cost in a tree with a batch: its own, and those of one whose room it takes.
const CROWDED_CUTS: u64 = 2 * CUTS;
/// How many cuts a leaf can cost that was shaped for two: both together fill two pages, a leaf is cut when it is two thirds full, and
/// no half has less than a sixth.
const LEAF_CUTS: u64 = 11;
/// So many leaves that are cut fill an inner node again at worst.
const CHILDREN: u64 = 8;

/// So many bytes of a key are its head.
const HEAD_BYTES: usize = size_of::<u128>();

/// How a key begins, zeros behind it, as a number whose order is that of the bytes.
#[inline(always)]
fn head(key: &[u8]) -> u128 {
    let behind = key.get(HEAD_BYTES / 2..).unwrap_or_default();
    u128::from(key_chunk(key)) << u64::BITS | u128::from(key_chunk(behind))
}

/// How many writes that makes.
pub(crate) fn covered_writes(cuts_max: u64) -> usize {
    (cuts_max / CUTS) as usize
}

/// The bytes of log that the record of one split takes at most: two halves of a page, which together have its entries
/// and two fences more, a separator of the parent's, and what names pages.
#[must_use]
pub fn split_bytes(page_bytes: usize) -> u64 {
    let keys = 3 * node::key_bytes_max(page_bytes);
    (page_bytes + keys + 4 * IMAGE_OVERHEAD + 192) as u64 + frame::OVERHEAD_BYTES
}

/// What a batch of writes lets its trees grow by, summed up in the order of tree and key; and where the last of them went.
#[derive(Debug, Default)]
pub struct Growth {
    tree: Option<TreeId>,
    height: u8,
    writes: u64,
    /// Leaves that they go to.
    leaves: u64,
    cuts_max: u64,
    need: Need,
    /// What each tree may need.
    trees: Vec<TreeNeed>,
    /// Trees in which it counts on the leaves that it has shaped.
    batches: Vec<Batch>,
    member: Option<Member>,
    /// The leaf of the last write that makes it grow, and what it and those before it need there, in bytes.
    pub(crate) leaf: Option<(PageId, Lsn)>,
    pub(crate) bytes: usize,
    /// How its key begins: see [`head`].
    pub(crate) last_head: u128,
    pub(crate) known: KnownLeaf,
}

/// A leaf that several writes of a batch go to, as it was when it was looked at: the next ones need not look at it.
#[derive(Debug, Default)]
pub(crate) struct KnownLeaf {
    /// Which, in a state of its structure; none if none is known.
    pub(crate) id: Option<(PageId, Lsn)>,
    /// What it had free, in bytes.
    pub(crate) room: usize,
    /// How much of each key its fences have.
    pub(crate) prefix_len: usize,
    /// Its high fence; empty if it has none.
    pub(crate) high: Vec<u8>,
}

impl KnownLeaf {
    /// What `page` says, which is to be validated before the leaf is known.
    pub(crate) fn read(&mut self, page: Page<'_>) {
        (self.id, self.room, self.prefix_len) = (None, node::room(page), page.prefix_len());
        self.high.clear();
        page.append_high(&mut self.high);
    }
}

/// What one tree may need.
#[derive(Clone, Copy, Debug)]
struct TreeNeed {
    tree: TreeId,
    height: u8,
    splits: u64,
    pages: u64,
    writes: u64,
    leaves: u64,
}

impl TreeNeed {
    /// For so many cuts of leaves.
    fn of(tree: TreeId, height: u8, cuts: u64) -> TreeNeed {
        let splits = cuts + u64::from(height) + cuts / CHILDREN;
        // The root, which never moves, hands down two pages.
        TreeNeed { tree, height, splits, pages: splits + 1, writes: 0, leaves: 0 }
    }

    fn extents(&self) -> u64 {
        self.pages.div_ceil(u64::from(EXTENT_PAGES))
    }

    /// What is to be set aside besides in a tree with a batch: by who has none there, or one to which another came first.
    fn beside_a_batch(&self) -> TreeNeed {
        let cuts = (CROWDED_CUTS * self.writes).min(LEAF_CUTS * self.leaves.max(1));
        TreeNeed::of(self.tree, self.height, cuts)
    }
}

/// What has to be set aside for a batch beside its own record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Splits.
    pub splits: u64,
    /// Extents for their pages.
    pub extents: u64,
}

impl Growth {
    /// Begins another batch.
    pub fn begin(&mut self) {
        if self.is_fresh() {
            return;
        }
        let (mut trees, mut known) =
            (std::mem::take(&mut self.trees), std::mem::take(&mut self.known));
        trees.clear();
        known.id = None;
        *self = Growth { trees, known, ..Growth::default() };
    }

    /// Whether nothing has been counted since it began.
    fn is_fresh(&self) -> bool {
        self.tree.is_none()
            && self.trees.is_empty()
            && self.batches.is_empty()
            && self.member.is_none()
    }

    /// As [`Growth::begin`], for a batch to be made anew with no other beside it: waits until all others have been applied,
    /// and keeps those that come waiting.
    ///
    /// # Errors
    /// [`Error::Cancelled`] by whom the thread runs for.
    pub fn begin_alone(&mut self, forest: &Forest) -> Result<()> {
        self.begin();
        self.member = Some(Member::enter(forest.volume(), true)?);
        Ok(())
    }

    /// Nobody has to know any more on which leaves it counts, as if it had counted on none: a fault, if it has not been
    /// applied.
    pub fn forget_batches(&mut self) {
        self.batches.clear();
    }

    /// Whether another batch was in one of its trees: what is refused then may have room when it is alone.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.batches.iter().any(|batch| batch.crowded)
    }

    /// Counts one more write to `tree` that needs room.
    ///
    /// # Errors
    /// [`Error::Cancelled`] by whom the thread runs for.
    #[inline(always)]
    pub(crate) fn count(&mut self, tree: &Tree) -> Result<()> {
        if self.tree == Some(tree.id()) && CUTS * (self.writes + 1) <= self.cuts_max {
            self.writes += 1;
            return Ok(());
        }
        self.count_anew(tree)
    }

    /// The same of the first write to a tree, and of those that are too many to be covered.
    #[inline(never)]
    fn count_anew(&mut self, tree: &Tree) -> Result<()> {
        if self.tree != Some(tree.id()) {
            self.end_tree();
            (self.tree, self.height) = (Some(tree.id()), tree.height());
            self.cuts_max = tree.volume.cuts_max;
            (self.leaf, self.known.id) = (None, None);
        }
        let was_covered = self.is_covered();
        self.writes += 1;
        if was_covered && !self.is_covered() {
            self.begin_batch(tree)?;
        }
        Ok(())
    }

    #[cold]
    fn begin_batch(&mut self, tree: &Tree) -> Result<()> {
        if self.member.is_none() {
            self.member = Some(Member::enter(&tree.volume, false)?);
        }
        let mut batch = Batch::begin(&tree.escrow)?;
        batch.widen(LEAF_CUTS * self.leaves);
        self.batches.push(batch);
        Ok(())
    }

    /// The last write goes to `leaf`, where it and those of the batch before it need `bytes`.
    #[inline(always)]
    pub(crate) fn goes_to(&mut self, leaf: (PageId, Lsn), bytes: usize, key: &[u8]) {
        if self.leaf != Some(leaf) {
            self.goes_to_another_leaf();
        }
        (self.leaf, self.bytes, self.last_head) = (Some(leaf), bytes, head(key));
    }

    #[inline(never)]
    fn goes_to_another_leaf(&mut self) {
        self.leaves += 1;
        if let Some(batch) = self.batches.last_mut()
            && Some(batch.tree()) == self.tree
        {
            batch.widen(LEAF_CUTS);
        }
    }

    /// As much of `key` as separates it from the key of the last write, which is below it. Of keys that begin alike that is all of it.
    pub(crate) fn separator<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        let common = (head(key) ^ self.last_head).leading_zeros() / u8::BITS;
        let is_told_apart = common < HEAD_BYTES as u32;
        if is_told_apart { &key[..(common as usize + 1).min(key.len())] } else { key }
    }

    /// Counts one more record, if its leaf is known to be the one of the write before it, which it is above, and to have room for it.
    /// Nobody has to look at the leaf then: if it changes meanwhile, that is as if it changed behind the look.
    ///
    /// # Errors
    /// As [`Growth::count`].
    #[inline]
    pub(crate) fn goes_beside(
        &mut self,
        tree: &Tree,
        leaf: (PageId, Lsn),
        (key, value_len): (&[u8], usize),
    ) -> Result<bool> {
        let known = &self.known;
        if self.tree != Some(tree.id()) || self.leaf != Some(leaf) || known.id != Some(leaf) {
            return Ok(false);
        }
        debug_assert!(self.last_head <= head(key), "a batch comes in the order of keys");
        let within = known.high.is_empty() || key < known.high.as_slice();
        let suffix_len = key.len().saturating_sub(known.prefix_len);
        let bytes = self.bytes + Tree::room_for(suffix_len + value_len);
        if !within || bytes > known.room {
            return Ok(false);
        }
        self.count(tree)?;
        self.goes_to(leaf, bytes, key);
        Ok(true)
    }

    /// Whether what is set aside is enough for all writes so far, whatever their leaves are like.
    pub(crate) fn is_covered(&self) -> bool {
        CUTS * self.writes <= self.cuts_max
    }

    fn end_tree(&mut self) {
        let (writes, leaves) = (std::mem::take(&mut self.writes), std::mem::take(&mut self.leaves));
        if let (1.., Some(tree)) = (writes, self.tree) {
            let cuts = (CUTS * writes).min(self.cuts_max);
            let need = TreeNeed { writes, leaves, ..TreeNeed::of(tree, self.height, cuts) };
            self.need.splits += need.splits;
            self.need.extents += need.extents();
            self.trees.push(need);
        }
    }

    /// All of the batch's writes have been counted.
    pub fn end(&mut self) {
        self.end_tree();
        self.tree = None;
    }

    /// What the batch needs, as far as it has been counted.
    #[must_use]
    pub fn need(&self) -> Need {
        self.need
    }
}

/// Room that nobody else gets: for one commit's record, and for what its apply can take at worst. What is left of it goes
/// back when it is dropped.
#[derive(Debug)]
pub struct Reservation<'d> {
    volume: &'d Volume,
    record: SpaceReservation<'d>,
    splits: SpaceReservation<'d>,
    extents: Promise,
    /// Pages of extents that have been taken for a tree.
    pages: Vec<(Arc<TreeSpace>, PageId)>,
    /// Trees with which it has deposited what it set aside for them, and from which it draws.
    shares: Vec<Share>,
    /// What it counts on until it is dropped.
    _batches: (Vec<Batch>, Option<Member>),
}

impl<'d> Reservation<'d> {
    /// Sets aside what `growth` needs, and log for a record of `payload` bytes. Waits for a checkpoint where that helps.
    pub(crate) fn take(
        forest: &'d Forest,
        growth: &mut Growth,
        payload: usize,
        grant: Grant,
    ) -> Result<Reservation<'d>> {
        let volume = &**forest.volume();
        let Need { splits, extents } = growth.need;
        let (mut promise, mut pages) = match extents {
            0 => (Promise::default(), Vec::new()),
            _ => promise_pages(forest, &growth.trees, extents, grant)?,
        };
        let class = match grant {
            Grant::Common => SpaceClass::Commit,
            Grant::Last => SpaceClass::System,
        };
        let payload = frame::OVERHEAD_BYTES + payload as u64;
        let splits = splits * split_bytes(volume.pool.page_bytes());
        let mut splits = volume
            .log
            .reserve_with_splits(class, payload, splits, None)
            .inspect_err(|_| give_back(volume, &mut promise, &mut pages))?;
        let record = splits.split_off(payload).expect("as much was set aside");
        let (extents, shares) = (promise, Vec::new());
        let _batches = Default::default();
        let mut reservation =
            Reservation { volume, record, splits, extents, pages, shares, _batches };
        // A batch that is not seen here waits for the promise to end.
        if !growth.trees.is_empty() && volume.batches.any() {
            reservation.deposit(forest, growth, grant)?;
            reservation._batches = (std::mem::take(&mut growth.batches), growth.member.take());
        }
        Ok(reservation)
    }

    /// Deposits what was set aside for trees with batches with them, and what others may need for its sake besides.
    #[cold]
    fn deposit(&mut self, forest: &Forest, growth: &Growth, grant: Grant) -> Result<()> {
        let volume = self.volume;
        let is_batch = !growth.batches.is_empty();
        for need in &growth.trees {
            let tree = forest.tree(need.tree)?;
            // A batch keeps nothing to itself: nobody shall have to wait for its end.
            if !is_batch && !tree.escrow.has_batch() {
                continue;
            }
            let own = growth.batches.iter().find(|batch| batch.tree() == need.tree);
            let besides = own.is_none_or(|batch| batch.crowded).then(|| need.beside_a_batch());
            let share = tree.escrow.share(need.pages + besides.map_or(0, |besides| besides.pages));
            if let Some(besides) = besides
                && !share.borrow(besides.pages)
            {
                let (mut promise, mut pages) =
                    promise_pages(forest, &[besides], besides.extents(), grant)?;
                let bytes = besides.splits * split_bytes(volume.pool.page_bytes());
                let set = volume.log.reserve_with_splits(SpaceClass::Commit, 0, bytes, None);
                let log = set.inspect_err(|_| give_back(volume, &mut promise, &mut pages))?;
                volume.space.end_standing(&mut promise);
                share.deposit(promise, pages.into_iter().map(|(_, page)| page), log.detach());
            }
            let bytes = need.splits * split_bytes(volume.pool.page_bytes());
            let log = self.splits.split_off(bytes).expect("as much was set aside");
            let own = self.pages.extract_if(.., |(of, _)| of.tree() == need.tree);
            let pages: Vec<PageId> = own.map(|(_, page)| page).collect();
            let missing = need.pages.saturating_sub(pages.len() as u64);
            let extents =
                self.extents.split_off(missing.div_ceil(u64::from(EXTENT_PAGES)) as usize);
            share.deposit(extents, pages, log.detach());
            self.shares.push(share);
        }
        if self.shares.len() == growth.trees.len() {
            volume.space.end_standing(&mut self.extents);
        }
        Ok(())
    }

    fn share_of(&self, tree: &Tree) -> Option<&Share> {
        self.shares.iter().find(|share| share.is_of(&tree.escrow))
    }

    /// Claims the place of the record: see [`crate::Log::claim`].
    #[inline]
    pub fn claim(&mut self, payload: usize) -> Claim<'d> {
        self.volume.log.claim(&mut self.record, payload)
    }

    /// Sets log aside for another claim of the record, the first having become void.
    ///
    /// # Errors
    /// As [`crate::Log::reserve`].
    pub fn renew(&mut self, payload: usize) -> Result<()> {
        let more = self.volume.log.reserve(SpaceClass::Commit, 1, payload as u64)?;
        self.record.absorb(more);
        Ok(())
    }

    /// Log for the record of one split in `tree`, of `bytes` at most.
    pub(crate) fn split_space(&mut self, tree: &Tree, bytes: u64) -> Option<SpaceReservation<'d>> {
        match self.share_of(tree) {
            Some(share) => share.take_log(bytes).map(|log| self.volume.log.attach(log)),
            None => self.splits.split_off(bytes),
        }
    }

    /// A page for `tree`.
    pub(crate) fn take_page(&mut self, tree: &Tree) -> Option<PageId> {
        if let Some(share) = self.share_of(tree) {
            return share.take_page();
        }
        let tree = &tree.space;
        let own = self.pages.iter().rposition(|(of, _)| of.tree() == tree.tree());
        if let Some(at) = own {
            return Some(self.pages.swap_remove(at).1);
        }
        if let Some(page) = tree.take_unused(self.volume.slot(), &self.volume.pool) {
            return Some(page);
        }
        let mut pages = self.volume.space.redeem(&mut self.extents, tree)?;
        let page = pages.pop();
        // The others stay ours: somebody who has a promise of his own must not use ours up.
        self.pages.extend(pages.into_iter().map(|page| (Arc::clone(tree), page)));
        page
    }

    /// Takes back what a split has not used.
    pub(crate) fn take_back(
        &mut self,
        tree: &Tree,
        pages: impl Iterator<Item = PageId>,
        space: SpaceReservation<'_>,
    ) {
        match self.share_of(tree) {
            Some(share) => share.deposit(Promise::default(), pages, space.detach()),
            None => {
                self.pages.extend(pages.map(|page| (Arc::clone(&tree.space), page)));
                self.splits.absorb(space);
            }
        }
    }
}

/// Promises `extents`, which are what the trees need; where there are too few, pages that the trees have and do not use, and
/// extents for the others.
fn promise_pages(
    forest: &Forest,
    trees: &[TreeNeed],
    extents: u64,
    grant: Grant,
) -> Result<(Promise, Vec<(Arc<TreeSpace>, PageId)>)> {
    let volume = forest.volume();
    let extents = extents as usize;
    match volume.space.promise(volume.slot(), (extents, extents), &volume.pool, grant) {
        Ok(promised) => Ok((promised, Vec::new())),
        Err(Error::Full(_)) => take_unused(forest, trees, extents, grant),
        Err(error) => Err(error),
    }
}

#[cold]
fn take_unused(
    forest: &Forest,
    trees: &[TreeNeed],
    stands_for: usize,
    grant: Grant,
) -> Result<(Promise, Vec<(Arc<TreeSpace>, PageId)>)> {
    let volume = forest.volume();
    let (mut pages, mut extents) = (Vec::new(), 0);
    let mut missing = || {
        for need in trees {
            let tree = forest.tree(need.tree)?;
            let unused = || tree.space.take_unused(volume.slot(), &volume.pool);
            let before = pages.len();
            let found = std::iter::from_fn(unused).take(need.pages as usize);
            pages.extend(found.map(|page| (Arc::clone(&tree.space), page)));
            let missing = need.pages - (pages.len() - before) as u64;
            extents += missing.div_ceil(u64::from(EXTENT_PAGES)) as usize;
        }
        Ok(())
    };
    let promised = missing().and_then(|()| {
        volume.space.promise(volume.slot(), (extents, stands_for), &volume.pool, grant)
    });
    match promised {
        Ok(promise) => Ok((promise, pages)),
        Err(error) => {
            give_back(volume, &mut Promise::default(), &mut pages);
            Err(error)
        }
    }
}

fn give_back(volume: &Volume, extents: &mut Promise, pages: &mut Vec<(Arc<TreeSpace>, PageId)>) {
    volume.space.end_promise(extents);
    for (tree, page) in pages.drain(..) {
        tree.give_back(page);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        give_back(self.volume, &mut self.extents, &mut self.pages);
    }
}
