//! Version chains: the older images of one record, newest first.
//!
//! A commit pushes the image it is about to replace, *then* changes the page. So who finds a page's record newer than
//! its snapshot finds here what stood there before; if nothing here is old enough, nothing stood there.
//!
//! Writers (push and prune) hold the node's mutex; readers walk under an epoch guard and take no latch. A version
//! that is taken out stays walkable until every reader that may stand on it has moved on, and so does all behind it,
//! because that is taken out no earlier.

use super::node::NodeState;
use crate::Lsn;
use crossbeam_epoch::{Atomic, Guard, Owned, Pointable};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::sync::atomic::Ordering;

/// One older image: what is known of it, and the bytes of its value behind that, in one allocation.
#[derive(Debug)]
#[repr(C)]
pub struct Version {
    head: Head,
    bytes: [u8],
}

#[derive(Debug)]
struct Head {
    lsn: Lsn,
    older: Atomic<Version>,
    /// Of its value.
    len: u32,
    /// Whether there is one: none is a tombstone's.
    there: bool,
}

/// What a version is made of, by [`Chain::push`] alone, which borrows the bytes.
#[derive(Debug)]
pub struct Image {
    lsn: Lsn,
    older: Atomic<Version>,
    value: Option<*const [u8]>,
}

/// The versions of one record.
#[derive(Debug, Default)]
pub struct Chain {
    newest: Atomic<Version>,
}

impl Version {
    /// The commit that wrote it.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.head.lsn
    }

    /// Its value; none for a tombstone.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.head.there.then_some(&self.bytes)
    }

    fn bytes(&self) -> usize {
        size_of::<Head>() + self.bytes.len()
    }

    /// The memory of a version whose value has so many bytes.
    fn layout(len: usize) -> Layout {
        let bytes = Layout::array::<u8>(len).expect("a value fits into a page");
        let (whole, at) = Layout::new::<Head>().extend(bytes).expect("a value fits into a page");
        assert!(at == size_of::<Head>(), "nothing lies between head and bytes");
        whole.pad_to_align()
    }

    /// The version at an address: the head says how long it is.
    ///
    /// # Safety
    /// [`Version::init`] has given the address, and [`Version::drop`] has not had it.
    unsafe fn at(ptr: usize) -> *mut Version {
        let head = ptr as *mut Head;
        // SAFETY: the caller says that a version begins there.
        let len = unsafe { (*head).len } as usize;
        std::ptr::slice_from_raw_parts_mut(head.cast::<u8>(), len) as *mut Version
    }
}

/// `init` makes what the others find at its address, aligned as its head is.
impl Pointable for Version {
    const ALIGN: usize = align_of::<Head>();

    type Init = Image;

    unsafe fn init(Image { lsn, older, value }: Image) -> usize {
        let len = value.map_or(0, <*const [u8]>::len);
        let layout = Version::layout(len);
        // SAFETY: a head is not nothing.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let head = Head { lsn, older, len: len as u32, there: value.is_some() };
        // SAFETY: the memory begins with room for a head, and is nobody else's.
        unsafe { memory.cast::<Head>().write(head) };
        // SAFETY: the bytes begin behind the head, within the memory.
        let bytes = unsafe { memory.add(size_of::<Head>()) };
        if let Some(value) = value {
            // SAFETY: as many are borrowed from whoever makes the version, and there is room for them.
            unsafe { bytes.copy_from_nonoverlapping(value.cast(), len) };
        }
        memory as usize
    }

    unsafe fn deref<'a>(ptr: usize) -> &'a Version {
        // SAFETY: the caller says that the version is there.
        let version = unsafe { Version::at(ptr) };
        // SAFETY: as above.
        unsafe { &*version }
    }

    unsafe fn deref_mut<'a>(ptr: usize) -> &'a mut Version {
        // SAFETY: the caller says that the version is there.
        let version = unsafe { Version::at(ptr) };
        // SAFETY: and that nobody else has it.
        unsafe { &mut *version }
    }

    unsafe fn drop(ptr: usize) {
        // SAFETY: the caller says that the version is there.
        let len = unsafe { (*(ptr as *const Head)).len } as usize;
        // SAFETY: `init` has allocated it so. Nothing of a head has to be dropped: whoever lets go of a version has what is behind it.
        unsafe { dealloc(ptr as *mut u8, Version::layout(len)) };
    }
}

impl Chain {
    /// Puts the image that is about to be replaced in front; returns what it occupies, in bytes. Like whoever takes versions
    /// out the caller shows the node's state, which it holds: one changes a chain at a time.
    pub fn push(&self, state: &mut NodeState, lsn: Lsn, value: Option<&[u8]>) -> usize {
        state.versions += 1;
        let older = self.newest.clone();
        let version =
            Owned::<Version>::init(Image { lsn, older, value: value.map(std::ptr::from_ref) });
        let bytes = version.bytes();
        // Release: pairs with Acquire in `walk`.
        self.newest.store(version, Ordering::Release);
        bytes
    }

    /// The newest version whose commit is `shown`.
    pub fn newest<'g>(
        &self,
        mut shown: impl FnMut(Lsn) -> bool,
        guard: &'g Guard,
    ) -> Option<&'g Version> {
        self.walk(guard).find(|version| shown(version.lsn()))
    }

    /// All versions, newest first.
    pub fn walk<'g>(&self, guard: &'g Guard) -> impl Iterator<Item = &'g Version> {
        let newest = self.newest.load(Ordering::Acquire, guard);
        // SAFETY: what a reader reaches under its guard is not freed before the guard goes.
        let newest = unsafe { newest.as_ref() };
        std::iter::successors(newest, |version| {
            let older = version.head.older.load(Ordering::Acquire, guard);
            // SAFETY: as above.
            unsafe { older.as_ref() }
        })
    }

    /// Takes out every version that nobody at or above `horizon` can ask for; returns how many and what they occupied, in
    /// bytes.
    pub fn prune(&self, state: &mut NodeState, horizon: Lsn, guard: &Guard) -> (usize, usize) {
        if state.current <= horizon {
            return cut(&self.newest, state, guard);
        }
        match self.walk(guard).find(|version| version.lsn() <= horizon) {
            Some(needed) => cut(&needed.head.older, state, guard),
            None => (0, 0),
        }
    }

    /// As [`Chain::prune`], by who gives a pin back right behind it. Where that is the node's last, and no version is needed, they
    /// stay where they are and go with the node.
    pub(super) fn prune_before_unpin(
        &self,
        state: &mut NodeState,
        horizon: Lsn,
        guard: &Guard,
    ) -> (usize, usize) {
        if state.pins > 1 || state.current > horizon {
            return self.prune(state, horizon, guard);
        }
        let all = self
            .walk(guard)
            .fold((0, 0), |(count, bytes), version| (count + 1, bytes + version.bytes()));
        state.versions = 0;
        all
    }

    /// Every version that has been replaced at or below `visible`, newest first, with the commit that did, where
    /// `current` is the LSN of the record on the page. The node's mutex is held.
    pub fn replaced<'g>(
        &self,
        current: Lsn,
        visible: Lsn,
        guard: &'g Guard,
    ) -> impl Iterator<Item = (&'g Version, Lsn)> {
        let mut newer = current;
        let all = self.walk(guard).map(move |version| {
            let replaced = std::mem::replace(&mut newer, version.lsn());
            (version, replaced)
        });
        all.skip_while(move |(_, replaced)| *replaced > visible)
    }

    /// Takes out the version written at `newest` and every older one; returns how many and what they occupied, in
    /// bytes.
    pub fn cut_from(&self, state: &mut NodeState, newest: Lsn, guard: &Guard) -> (usize, usize) {
        match self.walk(guard).take_while(|version| version.lsn() > newest).last() {
            Some(kept) => cut(&kept.head.older, state, guard),
            None => cut(&self.newest, state, guard),
        }
    }

    /// Takes out every version between two snapshots that follow each other, where `visible` is the oldest one that may be
    /// there, or begin, and is not among `snapshots`.
    pub fn prune_between(
        &self,
        state: &mut NodeState,
        snapshots: &[Lsn],
        visible: Lsn,
        guard: &Guard,
    ) -> (usize, usize) {
        let (mut count, mut bytes) = (0, 0);
        let mut newer = state.current;
        let mut place = &self.newest;
        loop {
            let at = place.load(Ordering::Acquire, guard);
            // SAFETY: what is reached under the guard is not freed before the guard goes.
            let Some(version) = (unsafe { at.as_ref() }) else { return (count, bytes) };
            // Needed by snapshots in lsn..newer, and by those still to begin if newer is above the watermark.
            let first = snapshots.partition_point(|snapshot| *snapshot < version.lsn());
            let needed = newer > visible || snapshots.get(first).is_some_and(|at| *at < newer);
            newer = version.lsn();
            if needed {
                place = &version.head.older;
            } else {
                let older = version.head.older.load(Ordering::Acquire, guard);
                place.store(older, Ordering::Release);
                state.versions -= 1;
                count += 1;
                bytes += version.bytes();
                // SAFETY: the state is held, so nobody else takes it out, and no new reader reaches it.
                unsafe { guard.defer_destroy(at) };
            }
        }
    }
}

/// Cuts a chain off behind `place`.
fn cut(place: &Atomic<Version>, state: &mut NodeState, guard: &Guard) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut at = place.load(Ordering::Relaxed, guard);
    if at.is_null() {
        return (0, 0);
    }
    place.store(crossbeam_epoch::Shared::null(), Ordering::Release);
    loop {
        // SAFETY: it was reached under the guard, and freed by nobody: the caller holds the node's state.
        let Some(version) = (unsafe { at.as_ref() }) else { return (count, bytes) };
        state.versions -= 1;
        count += 1;
        bytes += version.bytes();
        let older = version.head.older.load(Ordering::Relaxed, guard);
        // SAFETY: no new reader reaches it, and only we have taken it out.
        unsafe { guard.defer_destroy(at) };
        at = older;
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: nobody else has the chain any more.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        let mut at = self.newest.swap(crossbeam_epoch::Shared::null(), Ordering::Relaxed, guard);
        while !at.is_null() {
            // SAFETY: it is owned by this chain alone.
            let version = unsafe { at.into_owned() };
            at = version.head.older.load(Ordering::Relaxed, guard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is pruned, every snapshot that exists or can begin reads what it read before.
        #[test]
        fn pruning_is_invisible(
            lsns in proptest::collection::btree_set(1..200u64, 1..40),
            snapshots in proptest::collection::btree_set(1..200u64, 0..6),
            visible in 1..220u64,
            between: bool,
        ) {
            let guard = crossbeam_epoch::pin();
            let lsns: Vec<_> = lsns.into_iter().map(Lsn).collect();
            let (current, older) = lsns.split_last().unwrap();
            let snapshots: Vec<_> = snapshots.into_iter().map(Lsn).filter(|s| s.0 <= visible).collect();
            let visible = Lsn(visible);
            let chain = Chain::default();
            let mut state = NodeState { current: *current, ..NodeState::default() };
            for lsn in older {
                chain.push(&mut state, *lsn, Some(&lsn.0.to_be_bytes()));
            }
            let (count, bytes) = if between {
                chain.prune_between(&mut state, &snapshots, visible, &guard)
            } else {
                let horizon = snapshots.iter().copied().fold(visible, Lsn::min);
                chain.prune(&mut state, horizon, &guard)
            };
            prop_assert_eq!(chain.walk(&guard).count() + count, older.len());
            prop_assert_eq!(chain.walk(&guard).count(), state.versions as usize);
            prop_assert_eq!(bytes, count * (size_of::<Head>() + 8));
            let askers = snapshots.iter().copied().chain((visible.0..221).map(Lsn));
            for snapshot in askers.filter(|snapshot| snapshot < current) {
                let expected = older.iter().rev().find(|lsn| **lsn <= snapshot);
                let found = chain.newest(|lsn| lsn <= snapshot, &guard).map(Version::lsn);
                prop_assert_eq!(found, expected.copied(), "{:?}", snapshot);
            }
            if between {
                let needed = chain.walk(&guard).count();
                prop_assert!(needed <= snapshots.len() + older.iter().filter(|lsn| **lsn > visible).count() + 1);
            }
        }
    }
}
