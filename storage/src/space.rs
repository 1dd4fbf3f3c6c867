//! Free space: extents of eight pages, each owned by one tree, and who may have which page.
//!
//! The data file is cut into groups; the first page of each group is its *map*: for every extent of the group the owning
//! tree and one bit per page in use. Maps are kept in memory, changed by structure records alone, and written by
//! checkpoints. Redo replays allocations and frees in log order from the redo point on, whatever the map on disk already
//! holds: each is an assignment, the last one wins, and that one is replayed too.
//!
//! A freed page, or the extents of a freed tree, can be allocated once the freeing record is durable (so that a page
//! never has two owners in any state a crash may leave) and no write of it is in flight (so that no old contents come
//! after the new). Until then it waits in a queue, in LSN order. VACUUM gives extents of which nothing is used to others.
//!
//! Workers allocate from caches of their own, by slot; a cache takes what the tree has spare, then a whole extent.
//!
//! **Promises.** A commit that may have to split pages after its claim is promised extents before it, for it cannot fail any
//! more by then. They are promised out of a *reserve* by worker slot, whole extents of the file that are nobody's, so that a
//! promise is usually a sum under a latch that nobody else wants. What is promised no other takes, not even from a full file.
//! The last [`LAST_EXTENTS`] of the free extents go only to what gives space back: a TRUNCATE builds before it frees. What was
//! free at a crash, the promised extents among it, replay leaves alone where it can: [`Stage::Replay`].

use crate::buffer::BufferPool;
use crate::buffer::DataFile;
use crate::environment::{Cancel, Environment, WaitCell, WaitEvent, Woken};
use crate::id::Micros;
use crate::page::{HEADER_BYTES, Kind, PageBuf, racy};
use crate::reserve::credit::Credit;
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Lsn, PageId, Result, TreeId};
use crossbeam_utils::CachePadded;
use std::collections::{HashMap, VecDeque};

/// Pages of an extent.
pub const EXTENT_PAGES: u32 = 8;
/// Bytes of a map before its entries: the header, the next tree's number, and a reserve.
const MAP_HEADER_BYTES: usize = HEADER_BYTES + 16;
/// Bytes of an extent in a map: owner u64, pages in use u8, flags u8, reserved.
const ENTRY_BYTES: usize = 16;
/// The owner of an extent that holds a map.
const MAP_OWNER: TreeId = TreeId(u64::MAX);
/// The owner of a free extent.
const NOBODY: TreeId = TreeId(0);
/// The flag of the extent whose first page is its tree's root.
const HAS_ROOT: u8 = 1;
/// After how long whoever outlasts promises looks whether they have ended: at first, and at most.
const OUTLAST_LOOKS: (Micros, Micros) = (Micros(100), Micros(50_000));
/// The fewest extents by which the file grows.
const GROW_EXTENTS: u32 = 16;
/// The most caches of one tree.
const CACHES_MAX: usize = 16;
/// Free extents that are kept for what gives space back.
const LAST_EXTENTS: usize = 8;

/// Who asks for an extent. The last ones are kept for those that free more, or cannot fail any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Who may be refused.
    Common,
    /// Who gives space back, and what has been claimed.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    owner: TreeId,
    used: u8,
    flags: u8,
}

const FREE: Extent = Extent { owner: NOBODY, used: 0, flags: 0 };

/// One group's map.
#[derive(Debug)]
struct Map {
    extents: Vec<Extent>,
    lsn: Lsn,
    /// Where redo of this map has to begin; none if the disk has it all.
    recovery: Option<Lsn>,
    /// The same, of the copy that is being written.
    writing: Option<Lsn>,
}

#[derive(Debug)]
struct State {
    maps: Vec<Map>,
    file_extents: u32,
    next_tree: u64,
    free: Vec<u32>,
    /// How many were free when the log's structure had been redone.
    free_at_start: usize,
    freed: VecDeque<(Lsn, u32)>,
}

/// The data file's space.
#[derive(Debug)]
pub struct Space {
    file: DataFile,
    limit_bytes: Option<u64>,
    /// What commits count on beside what is promised.
    pub(crate) credit: Credit,
    caches: usize,
    state: Mutex<State, { rank::MAPS }>,
    /// By worker slot.
    reserves: Box<[CachePadded<Mutex<Reserve, { rank::RESERVE }>>]>,
    /// What is kept from whom: a [`Stage`].
    stage: AtomicU8,
    /// Held while the file grows; the state is not, because holders of latches wait for it.
    growth: Mutex<(), { rank::GROWTH }>,
}

/// How far a start has come: it says which of the free extents are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// The log is replayed as it came, and may split what the server did not: all that was free is kept for what cannot be
    /// put off, and the file grows if it can.
    Replay,
    /// What was put off is made good: it needs no more than the server had set aside, and nothing is kept from it.
    Rest,
    /// The server runs: the last extents are kept.
    Running,
}

/// What a worker promises extents out of.
#[derive(Debug, Default)]
struct Reserve {
    extents: Vec<u32>,
    /// How many of them are promised.
    promised: usize,
    /// The number of the next promise, and those that stand, with the extents that they stand for.
    next: u64,
    standing: Vec<(u64, usize)>,
}

/// Extents that somebody may take later, whatever happens: they lie in a worker's reserve. To be given back with
/// [`Space::end_promise`].
#[derive(Debug, Default)]
pub struct Promise {
    slot: usize,
    extents: usize,
    /// Its number in the reserve, while it stands: [`Space::outlast`].
    number: Option<u64>,
}

impl Promise {
    /// How many extents are left of it.
    #[must_use]
    pub fn extents(&self) -> usize {
        self.extents
    }

    /// Takes `extents` of it apart, or as many as there are; they do not stand by themselves.
    #[must_use]
    pub fn split_off(&mut self, extents: usize) -> Promise {
        let extents = extents.min(self.extents);
        self.extents -= extents;
        Promise { slot: self.slot, extents, number: None }
    }
}

/// What one tree owns and does not use.
#[derive(Debug)]
pub struct TreeSpace {
    tree: TreeId,
    /// By worker slot.
    caches: Box<[Mutex<Vec<PageId>, { rank::CACHE }>]>,
    spare: Mutex<Vec<PageId>, { rank::SPARE }>,
    freed: Mutex<VecDeque<(Lsn, PageId)>, { rank::FREED }>,
    /// Extents that were granted and that no record names yet, among others: all of them go when the tree goes.
    granted: Mutex<Vec<u32>, { rank::GRANTED }>,
}

impl Map {
    fn new(per_group: u32) -> Map {
        let mut extents = vec![FREE; per_group as usize];
        extents[0] = Extent { owner: MAP_OWNER, used: 1, flags: 0 };
        Map { extents, lsn: Lsn::ZERO, recovery: None, writing: None }
    }

    fn mark(&mut self, lsn: Lsn) {
        self.recovery = Some(self.recovery.map_or(lsn, |recovery| recovery.min(lsn)));
    }
}

/// How many extents a group has.
fn per_group(page_bytes: usize) -> u32 {
    ((page_bytes - MAP_HEADER_BYTES) / ENTRY_BYTES) as u32
}

pub(crate) fn extent_of(page: PageId) -> u32 {
    page.0 / EXTENT_PAGES
}

fn map_page(group: u32, page_bytes: usize) -> PageId {
    PageId(group * per_group(page_bytes) * EXTENT_PAGES)
}

pub(crate) fn pages_of(extent: u32) -> impl Iterator<Item = PageId> {
    (0..EXTENT_PAGES).map(move |at| PageId(extent * EXTENT_PAGES + at))
}

impl State {
    fn extent_mut(&mut self, extent: u32, per_group: u32) -> (&mut Map, usize) {
        let map = &mut self.maps[(extent / per_group) as usize];
        (map, (extent % per_group) as usize)
    }

    /// Moves what may be granted again to the free extents.
    fn settle(&mut self, pool: &BufferPool) {
        let in_transit = |extent: &u32| pages_of(*extent).any(|page| pool.in_transit(page));
        settle(&mut self.freed, &mut self.free, pool.log().durable(), in_transit);
    }

    fn extents(&self) -> impl Iterator<Item = (u32, Extent)> {
        let all = self.maps.iter().flat_map(|map| map.extents.iter().copied());
        (0..self.file_extents).zip(all)
    }
}

impl Space {
    /// Makes an empty data file: one map, nothing else.
    ///
    /// # Errors
    /// I/O.
    pub fn create(file: &DataFile) -> Result<()> {
        file.grow(u64::from(GROW_EXTENTS * EXTENT_PAGES))?;
        let map = Map::new(per_group(file.page_bytes()));
        file.write(&mut [map_to_page(&map, 0, 1, file.page_bytes())])?;
        file.sync()
    }

    /// Reads the maps. Nothing can be allocated before [`Space::end_redo`].
    ///
    /// # Errors
    /// I/O; [`Error::Corrupt`].
    pub(crate) fn open(
        file: DataFile,
        limit_bytes: Option<u64>,
        credit: Credit,
        slots: usize,
    ) -> Result<Space> {
        let mut state = State {
            maps: Vec::new(),
            file_extents: 0,
            next_tree: 1,
            free: Vec::new(),
            free_at_start: 0,
            freed: VecDeque::new(),
        };
        let extents = u32::try_from(file.pages()? / u64::from(EXTENT_PAGES)).map_err(|_| {
            Error::Corrupt(PageId(0), "the data file is longer than page ids reach")
        })?;
        let bytes = file.page_bytes();
        let mut buf = PageBuf::new(bytes);
        for group in 0..extents.div_ceil(per_group(bytes)).max(1) {
            let page = map_page(group, bytes);
            file.read_unchecked(page, &mut buf)?;
            let untouched = buf.bytes_mut().iter().all(|byte| *byte == 0);
            if untouched && group > 0 {
                // The file had grown, and no checkpoint has come by since: all of this map is in the log.
                state.maps.push(Map::new(per_group(bytes)));
                continue;
            }
            buf.check(page)?;
            let (map, next_tree) = map_from_page(&buf, page)?;
            state.maps.push(map);
            state.next_tree = state.next_tree.max(next_tree);
        }
        state.file_extents = extents;
        let caches = slots.clamp(1, CACHES_MAX);
        Ok(Space {
            file,
            limit_bytes,
            credit,
            caches,
            state: Mutex::new(state),
            reserves: (0..slots.max(1)).map(|_| CachePadded::default()).collect(),
            stage: AtomicU8::new(Stage::Rest as u8),
            growth: Mutex::new(()),
        })
    }

    fn extent_bytes(&self) -> u64 {
        u64::from(EXTENT_PAGES) * self.file.page_bytes() as u64
    }

    fn per_group(&self) -> u32 {
        per_group(self.file.page_bytes())
    }

    /// Redo, and the effect of a structure record: `page` is `tree`'s, its root if `root` says so.
    ///
    /// # Errors
    /// I/O, if the file has to grow to its length of before the crash.
    pub fn set_allocated(&self, tree: TreeId, page: PageId, root: bool, lsn: Lsn) -> Result<()> {
        let extent = extent_of(page);
        self.grow_to(extent + 1)?;
        let mut state = lock(&self.state);
        state.next_tree = state.next_tree.max(tree.0 + 1);
        // The next tree's number is kept in the first map.
        if root {
            let first = &mut state.maps[0];
            first.mark(lsn);
            first.lsn = first.lsn.max(lsn);
        }
        let (map, at) = state.extent_mut(extent, self.per_group());
        let entry = &mut map.extents[at];
        if entry.owner != tree {
            *entry = Extent { owner: tree, used: 0, flags: 0 };
        }
        entry.used |= 1 << (page.0 % EXTENT_PAGES);
        if root {
            entry.flags |= HAS_ROOT;
        }
        map.lsn = map.lsn.max(lsn);
        map.mark(lsn);
        Ok(())
    }

    /// Redo, and the effect of a structure record: `page` is free within its tree's extent.
    ///
    /// # Errors
    /// I/O, as above.
    pub fn set_free(&self, tree: TreeId, page: PageId, lsn: Lsn) -> Result<()> {
        self.grow_to(extent_of(page) + 1)?;
        let mut state = lock(&self.state);
        let (map, at) = state.extent_mut(extent_of(page), self.per_group());
        let entry = &mut map.extents[at];
        // In a replay over a newer map the extent may be another tree's already; its pages are set again later.
        if entry.owner == tree {
            entry.used &= !(1 << (page.0 % EXTENT_PAGES));
        }
        map.lsn = map.lsn.max(lsn);
        map.mark(lsn);
        Ok(())
    }

    /// Redo: a tree has been freed. Its number is not given again; its extents go when redo ends.
    pub fn note_gone(&self, tree: TreeId) {
        let mut state = lock(&self.state);
        // It may stand in no other record: a build that was given up before it had logged anything.
        state.next_tree = state.next_tree.max(tree.0 + 1);
    }

    /// The end of redo: every extent of the trees in `gone`, each with the record that freed it, is nobody's.
    pub fn free_gone(&self, gone: &HashMap<TreeId, Lsn>) {
        let mut state = lock(&self.state);
        for map in &mut state.maps {
            for at in 0..map.extents.len() {
                if let Some(lsn) = gone.get(&map.extents[at].owner) {
                    map.extents[at] = FREE;
                    map.lsn = map.lsn.max(*lsn);
                    map.mark(*lsn);
                }
            }
        }
    }

    /// The effect of a structure record: `extents`, which were all of `tree`'s, are nobody's.
    pub fn set_tree_free(&self, tree: TreeId, extents: &[u32], lsn: Lsn) {
        let mut state = lock(&self.state);
        for extent in extents {
            let (map, at) = state.extent_mut(*extent, self.per_group());
            if map.extents[at].owner == tree {
                map.extents[at] = FREE;
                map.lsn = map.lsn.max(lsn);
                map.mark(lsn);
            }
        }
    }

    /// Before a structure record is claimed: redo of these pages' maps begins at `tail` or earlier.
    pub fn mark(&self, pages: impl IntoIterator<Item = PageId>, tail: Lsn) {
        let mut state = lock(&self.state);
        for page in pages {
            state.extent_mut(extent_of(page), self.per_group()).0.mark(tail);
        }
    }

    /// After structure redo: every tree with its root and what it has spare; free extents can be granted.
    #[must_use]
    pub fn end_redo(&self) -> Vec<(PageId, TreeSpace)> {
        /// What the maps say of one tree: its root, its extents, and the pages of them that are free.
        type Owned = (Option<PageId>, Vec<u32>, Vec<PageId>);
        let mut state = lock(&self.state);
        let mut trees: HashMap<TreeId, Owned> = HashMap::new();
        let mut free = Vec::new();
        for (number, extent) in state.extents() {
            match extent.owner {
                NOBODY => free.push(number),
                MAP_OWNER => {}
                // VACUUM may have given it to others, which no record says: then it is as free as it was before the crash.
                _ if extent.used == 0 => free.push(number),
                owner => {
                    let tree = trees.entry(owner).or_default();
                    if extent.flags & HAS_ROOT != 0 {
                        tree.0 = Some(PageId(number * EXTENT_PAGES));
                    }
                    tree.1.push(number);
                    let unused = |page: &PageId| extent.used & 1 << (page.0 % EXTENT_PAGES) == 0;
                    tree.2.extend(pages_of(number).filter(unused));
                }
            }
        }
        // Granted from the end of the list: the lowest first keeps the file short.
        free.reverse();
        let per_group = self.per_group();
        for number in &free {
            let (map, at) = state.extent_mut(*number, per_group);
            map.extents[at] = FREE;
        }
        state.free_at_start = free.len();
        state.free = free;
        let rooted = trees.into_iter().filter_map(|(tree, (root, granted, spare))| {
            let (granted, spare) = (Mutex::new(granted), Mutex::new(spare));
            Some((root?, TreeSpace { granted, spare, ..self.tree_space(tree) }))
        });
        rooted.collect()
    }

    /// From now on `stage` says what is kept.
    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    fn is_in(&self, stage: Stage) -> bool {
        self.stage.load(Ordering::Acquire) == stage as u8
    }

    fn tree_space(&self, tree: TreeId) -> TreeSpace {
        TreeSpace {
            tree,
            caches: (0..self.caches).map(|_| Mutex::default()).collect(),
            spare: Mutex::default(),
            freed: Mutex::default(),
            granted: Mutex::default(),
        }
    }

    /// A number no tree has had, with an extent whose first page will be the root.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn begin_tree(&self, pool: &BufferPool, grant: Grant) -> Result<(PageId, TreeSpace)> {
        let extent = self.grant(pool, grant)?;
        let tree = {
            let mut state = lock(&self.state);
            state.next_tree += 1;
            TreeId(state.next_tree - 1)
        };
        let space = self.tree_space(tree);
        let mut pages: Vec<PageId> = pages_of(extent).collect();
        pages.reverse();
        let root = pages.pop().expect("an extent has pages");
        lock(&space.spare).extend(pages);
        lock(&space.granted).push(extent);
        Ok((root, space))
    }

    /// Takes a page for `tree`, for the worker of `slot`. It is the caller's until a record allocates it or it is given
    /// back with [`TreeSpace::give_back`].
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn take(
        &self,
        tree: &TreeSpace,
        slot: usize,
        pool: &BufferPool,
        grant: Grant,
    ) -> Result<PageId> {
        if let Some(page) = tree.take_unused(slot, pool) {
            return Ok(page);
        }
        let mut pages = tree.take_in(self.grant(pool, grant)?);
        let page = pages.pop().expect("an extent has pages");
        lock(tree.cache(slot)).extend(pages);
        Ok(page)
    }

    /// Promises extents out of the reserve of `slot`, which is filled first where it has too few. The promise stands for
    /// another number of them if some of what it is for is had as pages.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    #[inline]
    pub fn promise(
        &self,
        slot: usize,
        (extents, stands_for): (usize, usize),
        pool: &BufferPool,
        grant: Grant,
    ) -> Result<Promise> {
        let slot = slot % self.reserves.len();
        loop {
            let missing = {
                let mut reserve = lock(&self.reserves[slot]);
                let unpromised = reserve.extents.len() - reserve.promised;
                if unpromised >= extents {
                    reserve.promised += extents;
                    let number = reserve.next;
                    reserve.next += 1;
                    reserve.standing.push((number, stands_for));
                    return Ok(Promise { slot, extents, number: Some(number) });
                }
                extents - unpromised
            };
            self.fill_reserve(slot, missing, pool, grant)?;
        }
    }

    #[cold]
    fn fill_reserve(
        &self,
        slot: usize,
        missing: usize,
        pool: &BufferPool,
        grant: Grant,
    ) -> Result<()> {
        let mut granted = Vec::new();
        while granted.len() < missing {
            match self.grant_beside(pool, grant, Some(slot)) {
                Ok(extent) => granted.push(extent),
                Err(error) => {
                    lock(&self.state).free.extend(granted);
                    return Err(error);
                }
            }
        }
        lock(&self.reserves[slot]).extents.extend(granted);
        Ok(())
    }

    /// Takes one of the promised extents for `tree`: its pages, in the order in which they are to be popped. None if
    /// nothing is left of the promise.
    pub fn redeem(&self, promise: &mut Promise, tree: &TreeSpace) -> Option<Vec<PageId>> {
        promise.extents = promise.extents.checked_sub(1)?;
        let extent = {
            let mut reserve = lock(&self.reserves[promise.slot]);
            reserve.promised -= 1;
            reserve.extents.pop().expect("what is promised is there")
        };
        Some(tree.take_in(extent))
    }

    /// What is left of a promise may be promised to others.
    #[inline]
    pub fn end_promise(&self, promise: &mut Promise) {
        let extents = std::mem::take(&mut promise.extents);
        let number = promise.number.take();
        if extents > 0 || number.is_some() {
            let mut reserve = lock(&self.reserves[promise.slot]);
            reserve.promised -= extents;
            reserve.standing.retain(|(other, _)| Some(*other) != number);
        }
    }

    /// Nobody has to outlast this promise any more: what it is for can be seen otherwise.
    pub fn end_standing(&self, promise: &mut Promise) {
        if let Some(number) = promise.number.take() {
            let mut reserve = lock(&self.reserves[promise.slot]);
            reserve.standing.retain(|(other, _)| *other != number);
        }
    }

    /// For how many extents promises stand.
    pub fn standing_extents(&self) -> u64 {
        let stand =
            |reserve: &Reserve| reserve.standing.iter().map(|(_, extents)| *extents as u64).sum();
        self.reserves.iter().map(|reserve| -> u64 { stand(&lock(reserve)) }).sum()
    }

    /// Waits until every promise that stands now has ended. Whoever is promised something later, under the latch of its
    /// reserve, sees what the caller has done before.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn outlast(&self, env: &Environment, cancel: Option<&Cancel>) -> Result<()> {
        let cell = Arc::new(WaitCell::new());
        for reserve in &self.reserves {
            let next = lock(reserve).next;
            let mut look = OUTLAST_LOOKS.0;
            while lock(reserve).standing.iter().any(|(number, _)| *number < next) {
                let deadline = Some(env.clock.now().plus(look));
                look = Micros(2 * look.0).min(OUTLAST_LOOKS.1);
                if env.wait(WaitEvent::CommitRoom, &cell, deadline, cancel) == Woken::Cancelled {
                    return Err(Error::Cancelled);
                }
            }
        }
        Ok(())
    }

    /// The extents of a tree that is gone, free once the record at `lsn` is durable.
    pub fn free_extents(&self, tree: &TreeSpace, lsn: Lsn) {
        let granted = std::mem::take(&mut *lock(&tree.granted));
        lock(&self.state).freed.extend(granted.into_iter().map(|extent| (lsn, extent)));
    }

    /// Gives the extents in which `tree` uses no page to whoever needs one next. Nobody frees the tree meanwhile.
    ///
    /// No record says so: an extent is a tree's from the first record on that allocates a page of it, whosever it was. If
    /// nobody takes it before a crash, it may be the old owner's again, who uses nothing of it.
    pub fn give_back_extents(&self, tree: &TreeSpace, pool: &BufferPool) {
        tree.settle(pool);
        let mut spare = lock(&tree.spare);
        let mut granted = lock(&tree.granted);
        for cache in &tree.caches {
            spare.append(&mut lock(cache));
        }
        let mut unused: HashMap<u32, u32> = HashMap::new();
        for page in &*spare {
            *unused.entry(extent_of(*page)).or_default() += 1;
        }
        unused.retain(|_, pages| *pages == EXTENT_PAGES);
        spare.retain(|page| !unused.contains_key(&extent_of(*page)));
        granted.retain(|extent| !unused.contains_key(extent));
        let mut state = lock(&self.state);
        let tail = pool.log().tail();
        for extent in unused.into_keys() {
            let (map, at) = state.extent_mut(extent, self.per_group());
            map.extents[at] = FREE;
            map.mark(tail);
            state.free.push(extent);
        }
        // Granted from the end of the list: the lowest first keeps the file short.
        state.free.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Takes a free extent; the file grows if there is none, or if there are only the last ones left.
    fn grant(&self, pool: &BufferPool, grant: Grant) -> Result<u32> {
        self.grant_beside(pool, grant, None)
    }

    /// As [`Space::grant`], for the reserve of a slot, which is left what it has.
    fn grant_beside(&self, pool: &BufferPool, grant: Grant, slot: Option<usize>) -> Result<u32> {
        loop {
            let known = {
                let mut state = lock(&self.state);
                let replays = self.is_in(Stage::Replay);
                let kept = if replays { state.free_at_start } else { LAST_EXTENTS };
                if state.free.len() <= kept {
                    state.settle(pool);
                }
                if state.free.len() > kept {
                    return Ok(state.free.pop().expect("there are more than the last ones"));
                }
                state.file_extents
            };
            // What lies in reserves unpromised is as good as free: the file does not grow for it.
            if self.gather_reserves(slot) {
                continue;
            }
            let grow_by = |extents| match grant {
                Grant::Common if !self.credit.spares(self.extent_bytes() * u64::from(extents)) => {
                    Err(Error::Full("what is left on the disk is counted on"))
                }
                _ => self.grow_to(known + extents),
            };
            let grown = match grow_by(GROW_EXTENTS.max(known / 16)) {
                // Little is left, and one extent may still fit.
                Err(Error::Full(_)) => grow_by(2),
                grown => grown,
            };
            match grown {
                Ok(()) => {}
                Err(Error::Full(why)) => {
                    let last = self.is_in(Stage::Rest)
                        || self.is_in(Stage::Running) && grant == Grant::Last;
                    let extent = if last { lock(&self.state).free.pop() } else { None };
                    return extent.ok_or(Error::Full(why));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts what lies in the reserves, but for that of `slot`, and is not promised back to the free extents; whether there
    /// was any.
    fn gather_reserves(&self, slot: Option<usize>) -> bool {
        let mut gathered = Vec::new();
        for (at, reserve) in self.reserves.iter().enumerate() {
            if Some(at) == slot {
                continue;
            }
            let mut reserve = lock(reserve);
            let promised = reserve.promised;
            gathered.extend(reserve.extents.drain(promised..));
        }
        let any = !gathered.is_empty();
        lock(&self.state).free.extend(gathered);
        any
    }

    /// Makes the file at least `extents` long. No latch is held, but in redo by one thread.
    fn grow_to(&self, extents: u32) -> Result<()> {
        if extents <= lock(&self.state).file_extents {
            return Ok(());
        }
        let _one_at_a_time = lock(&self.growth);
        let before = lock(&self.state).file_extents;
        if extents <= before {
            return Ok(());
        }
        let pages = u64::from(extents) * u64::from(EXTENT_PAGES);
        let bytes = pages * self.file.page_bytes() as u64;
        if self.limit_bytes.is_some_and(|limit| bytes > limit) || pages > u64::from(u32::MAX) {
            return Err(Error::Full("the data file has reached its limit"));
        }
        self.file.grow(pages)?;
        let per_group = self.per_group();
        let mut state = lock(&self.state);
        while state.maps.len() < extents.div_ceil(per_group) as usize {
            state.maps.push(Map::new(per_group));
        }
        let new = (before..extents).rev().filter(|extent| extent % per_group != 0);
        state.free.extend(new);
        state.file_extents = extents;
        Ok(())
    }

    /// The lowest LSN from which redo of any map has to begin.
    #[must_use]
    pub fn min_recovery_lsn(&self) -> Option<Lsn> {
        let state = lock(&self.state);
        state.maps.iter().flat_map(|map| [map.recovery, map.writing]).flatten().min()
    }

    /// Writes the maps whose redo would begin before `lsn`.
    ///
    /// # Errors
    /// I/O; [`Error::Halted`].
    pub fn clean_older_than(&self, pool: &BufferPool, lsn: Lsn) -> Result<()> {
        let mut state = lock(&self.state);
        let next_tree = state.next_tree;
        let mut groups = Vec::new();
        let mut copies = Vec::new();
        for (group, map) in state.maps.iter_mut().enumerate() {
            if map.writing.is_none() && map.recovery.is_some_and(|recovery| recovery < lsn) {
                map.writing = map.recovery.take();
                groups.push(group);
                copies.push(map_to_page(map, group as u32, next_tree, self.file.page_bytes()));
            }
        }
        drop(state);
        let written = pool.write(&mut copies);
        let mut state = lock(&self.state);
        for group in groups {
            let map = &mut state.maps[group];
            let recovery = map.writing.take();
            if let (Err(_), Some(recovery)) = (&written, recovery) {
                map.mark(recovery);
            }
        }
        written
    }

    /// Who owns which pages: for the offline check.
    #[must_use]
    pub fn allocated(&self) -> HashMap<PageId, TreeId> {
        let state = lock(&self.state);
        let mut all = HashMap::new();
        for (number, extent) in state.extents() {
            if extent.owner != NOBODY && extent.owner != MAP_OWNER {
                let used = |page: &PageId| extent.used & 1 << (page.0 % EXTENT_PAGES) != 0;
                all.extend(pages_of(number).filter(used).map(|page| (page, extent.owner)));
            }
        }
        all
    }

    /// The file's length, in pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        lock(&self.state).file_extents * EXTENT_PAGES
    }

    /// Whether `page` holds a map.
    #[must_use]
    pub fn is_map(&self, page: PageId) -> bool {
        page.0.is_multiple_of(self.per_group() * EXTENT_PAGES)
    }
}

impl TreeSpace {
    /// Its extents, those that no record names yet too.
    #[must_use]
    pub fn extents(&self) -> Vec<u32> {
        lock(&self.granted).clone()
    }

    /// How many pages its extents have, used or not.
    #[must_use]
    pub fn owned_pages(&self) -> u64 {
        lock(&self.granted).len() as u64 * u64::from(EXTENT_PAGES)
    }

    /// Which tree it belongs to.
    #[must_use]
    pub fn tree(&self) -> TreeId {
        self.tree
    }

    fn cache(&self, slot: usize) -> &Mutex<Vec<PageId>, { rank::CACHE }> {
        &self.caches[slot % self.caches.len()]
    }

    /// Takes a page that the tree owns and does not use, for the worker of `slot`.
    pub fn take_unused(&self, slot: usize, pool: &BufferPool) -> Option<PageId> {
        if let Some(page) = lock(self.cache(slot)).pop() {
            return Some(page);
        }
        self.settle(pool);
        lock(&self.spare).pop()
    }

    /// The extent is the tree's: its pages, the first one last.
    fn take_in(&self, extent: u32) -> Vec<PageId> {
        lock(&self.granted).push(extent);
        let mut pages: Vec<PageId> = pages_of(extent).collect();
        pages.reverse();
        pages
    }

    /// A page that was taken and not used.
    pub fn give_back(&self, page: PageId) {
        lock(&self.spare).push(page);
    }

    /// A page that the record at `lsn` has freed.
    pub fn freed(&self, page: PageId, lsn: Lsn) {
        lock(&self.freed).push_back((lsn, page));
    }

    /// The last record that has freed a page which waits to be allocated again.
    #[must_use]
    pub fn last_freed(&self) -> Option<Lsn> {
        lock(&self.freed).iter().map(|(lsn, _)| *lsn).max()
    }

    /// Moves what may be allocated again to the spare pages.
    fn settle(&self, pool: &BufferPool) {
        let (mut freed, mut spare) = (lock(&self.freed), lock(&self.spare));
        let durable = pool.log().durable();
        settle(&mut freed, &mut spare, durable, |page| pool.in_transit(*page));
    }
}

/// Moves from a queue in nearly LSN order what was freed durably and is not on its way to the disk.
fn settle<T>(
    freed: &mut VecDeque<(Lsn, T)>,
    free: &mut Vec<T>,
    durable: Lsn,
    in_transit: impl Fn(&T) -> bool,
) {
    let mut kept = Vec::new();
    while let Some((lsn, space)) = freed.pop_front_if(|(lsn, _)| *lsn < durable) {
        if in_transit(&space) { kept.push((lsn, space)) } else { free.push(space) }
    }
    kept.into_iter().rev().for_each(|waiting| freed.push_front(waiting));
}

fn map_to_page(map: &Map, group: u32, next_tree: u64, page_bytes: usize) -> PageBuf {
    let mut buf = PageBuf::new(page_bytes);
    let mut page = buf.page_mut();
    page.format(Kind::Map, 0, map_page(group, page_bytes), NOBODY);
    page.raise_lsn(map.lsn);
    let words = page.page().words();
    racy::set_word(words, HEADER_BYTES, if group == 0 { next_tree } else { 0 });
    for (number, extent) in map.extents.iter().enumerate() {
        let at = MAP_HEADER_BYTES + number * ENTRY_BYTES;
        racy::set_word(words, at, extent.owner.0);
        racy::set_word(words, at + 8, u64::from(extent.used) | u64::from(extent.flags) << 8);
    }
    buf
}

fn map_from_page(buf: &PageBuf, id: PageId) -> Result<(Map, u64)> {
    let page = buf.page();
    if page.kind() != Some(Kind::Map) {
        return Err(Error::Corrupt(id, "it is no map of extents"));
    }
    let words = page.words();
    let entry = |number: u32| {
        let at = MAP_HEADER_BYTES + number as usize * ENTRY_BYTES;
        let rest = racy::word(words, at + 8);
        let owner = TreeId(racy::word(words, at));
        Extent { owner, used: rest as u8, flags: (rest >> 8) as u8 }
    };
    let extents: Vec<Extent> = (0..per_group(page.bytes())).map(entry).collect();
    if extents[0].owner != MAP_OWNER {
        return Err(Error::Corrupt(id, "it does not own itself"));
    }
    let map = Map { extents, lsn: page.lsn(), recovery: None, writing: None };
    Ok((map, racy::word(words, HEADER_BYTES)))
}
