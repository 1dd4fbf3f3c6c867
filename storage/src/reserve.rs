//! What a commit sets aside before its record is claimed, because afterwards it cannot fail: the room that applying it can
//! take at worst.
//!
//! Mohan and Levine, *ARIES/IM*, SIGMOD 1992, split inside of the transaction and undo; here nothing is undone, so the room
//! for splits is promised first. [`Growth`] adds up what the writes of one commit can cost, tree by tree, while their leaves
//! are brought into shape; [`Reservation`] is the promise: log for the record, log for the splits' records, extents for
//! their pages. It is held until all is applied. The sums are upper bounds and cheap: `docs/design/0010-full-disk.md` says
//! why they are enough. A write that makes nothing grow costs nothing here.

use crate::btree::smo::IMAGE_OVERHEAD;
use crate::btree::{Forest, Tree, node};
use crate::space::{EXTENT_PAGES, Grant, Promise, TreeSpace};
use crate::sync::Arc;
use crate::volume::Volume;
use crate::wal::frame;
use crate::wal::{Claim, SpaceClass, SpaceReservation};
use crate::{Error, Lsn, PageId, Result, TreeId};

/// How many cuts one write can cost: a leaf of long separators is halved, and then cut on both sides of the key.
const CUTS: u64 = 3;
/// The most cuts of leaves for which one commit sets room aside in one tree. More writes than a third of that have their leaves
/// shaped to take all of them, and meet a full one only where others have been faster.
const CUTS_MAX: u64 = 256;
/// So many leaves that are cut fill an inner node again at worst.
const CHILDREN: u64 = 8;

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
    need: Need,
    /// How many pages each tree may need.
    trees: Vec<(TreeId, u64)>,
    /// The leaf of the last write that makes it grow, and what it and those before it need there, in bytes.
    pub(crate) leaf: Option<(PageId, Lsn)>,
    pub(crate) bytes: usize,
    pub(crate) last_key: Vec<u8>,
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
        let (last_key, mut trees) =
            (std::mem::take(&mut self.last_key), std::mem::take(&mut self.trees));
        trees.clear();
        *self = Growth { last_key, trees, ..Growth::default() };
    }

    /// Counts one more write to `tree` that needs room.
    #[inline]
    pub(crate) fn count(&mut self, tree: &Tree) {
        if self.tree != Some(tree.id()) {
            self.end_tree();
            (self.tree, self.height) = (Some(tree.id()), tree.height());
            self.leaf = None;
        }
        self.writes += 1;
    }

    /// Whether what is set aside is enough for all writes so far, whatever their leaves are like.
    pub(crate) fn is_covered(&self) -> bool {
        CUTS * self.writes <= CUTS_MAX
    }

    fn end_tree(&mut self) {
        let writes = std::mem::take(&mut self.writes);
        if writes > 0 {
            let leaves = (CUTS * writes).min(CUTS_MAX);
            let splits = leaves + u64::from(self.height) + leaves / CHILDREN;
            // The root, which never moves, hands down two pages.
            let pages = splits + 1;
            self.need.splits += splits;
            self.need.extents += pages.div_ceil(u64::from(EXTENT_PAGES));
            self.trees.extend(self.tree.map(|tree| (tree, pages)));
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
}

impl<'d> Reservation<'d> {
    /// Sets aside what `growth` needs, and log for a record of `payload` bytes. Waits for a checkpoint where that helps.
    pub(crate) fn take(
        forest: &'d Forest,
        growth: &Growth,
        payload: usize,
        grant: Grant,
    ) -> Result<Reservation<'d>> {
        let volume = forest.volume();
        let Need { splits, extents } = growth.need;
        let (mut promise, mut pages) = (Promise::default(), Vec::new());
        if extents > 0 {
            match volume.space.promise(volume.slot(), extents as usize, &volume.pool, grant) {
                Ok(promised) => promise = promised,
                Err(Error::Full(_)) => {
                    (promise, pages) = Reservation::take_unused(forest, growth, grant)?;
                }
                Err(error) => return Err(error),
            }
        }
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
        Ok(Reservation { volume, record, splits, extents: promise, pages })
    }

    /// Where there are too few extents: pages that the trees have and do not use, and extents for the others.
    #[cold]
    fn take_unused(
        forest: &Forest,
        growth: &Growth,
        grant: Grant,
    ) -> Result<(Promise, Vec<(Arc<TreeSpace>, PageId)>)> {
        let volume = forest.volume();
        let (mut pages, mut extents) = (Vec::new(), 0);
        let mut missing = || {
            for (tree, wanted) in &growth.trees {
                let tree = forest.tree(*tree)?;
                let unused = || tree.space.take_unused(volume.slot(), &volume.pool);
                let before = pages.len();
                let found = std::iter::from_fn(unused).take(*wanted as usize);
                pages.extend(found.map(|page| (Arc::clone(&tree.space), page)));
                let missing = *wanted - (pages.len() - before) as u64;
                extents += missing.div_ceil(u64::from(EXTENT_PAGES)) as usize;
            }
            Ok(())
        };
        let promised = missing()
            .and_then(|()| volume.space.promise(volume.slot(), extents, &volume.pool, grant));
        match promised {
            Ok(promise) => Ok((promise, pages)),
            Err(error) => {
                give_back(volume, &mut Promise::default(), &mut pages);
                Err(error)
            }
        }
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

    /// Log for one split's record, of `bytes` at most.
    pub(crate) fn split_space(&mut self, bytes: u64) -> Option<SpaceReservation<'d>> {
        self.splits.split_off(bytes)
    }

    /// A page for `tree`.
    pub(crate) fn take_page(&mut self, tree: &Arc<TreeSpace>) -> Option<PageId> {
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
        tree: &Arc<TreeSpace>,
        pages: impl Iterator<Item = PageId>,
        space: SpaceReservation<'_>,
    ) {
        self.pages.extend(pages.map(|page| (Arc::clone(tree), page)));
        self.splits.absorb(space);
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
