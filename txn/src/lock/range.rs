//! Locks on keys and on ranges of keys, whether there are records or not: what the schemes hold that lock what they read.
//!
//! Papers: Eswaran et al., *The Notions of Consistency and Predicate Locks in a Database System*, CACM 1976 (what was read and is
//! not there has to be locked as well); Gray et al., *Granularity of Locks*, 1976 (many small locks become one large one). Next-key
//! locks (Mohan, ARIES/KVL, 1990) stand on the keys that a page has, and here a pending insert is on no page: so shared locks
//! stand on the range that is read, exclusive ones on the key that is written, beside each other under one latch, and of a read
//! and a write of the same key the second meets the first. Which latch that is, `lock/range_shards.rs` says.
//!
//! What is decided under the latch is in `lock/spans.rs`. Whoever meets somebody asks its scheme's [`Rule`] whether it may wait. Who waits stands in its tree's list, and is granted
//! in the order of arrival when nobody excludes it any more; a request that nobody excludes is granted although others wait. A
//! grant puts a holder before those who wait already, so the rule is asked again for each of them.
//!
//! Who reads under timestamp ordering holds nothing ([`RangeMode::Passing`]), and is excluded by those only that are older.
//!
//! Invariants. (1) Of two holders of a key one is exclusive only if they are one. (2) Every waiter is excluded by a holder, and
//! its rule lets it wait for each that excludes it. (3) Past its limit what a transaction holds in a tree is one lock.

pub(crate) use super::range_shards::RangeLocks;
use super::segments::Edge;
use super::spans::Holder;
pub(crate) use super::spans::{Ages, RangeMode, RequestOutcome, Rule, Span, TreeLocks};
use super::{FirstSearch, LockManager, WaitPolicy};
use crate::owner::{OwnerId, Owners, Waiting};
use crate::sync::Arc;
use crate::wait::SessionWait;
use crate::{ConflictKind, Error, Result, SireadTarget, TreeId};
use std::collections::BTreeMap;
use storage::WaitEvent;
use storage::breakdown::{self, Class};

/// Bytes of a lock's two copies and what stands around them, roughly.
const ENTRY_BYTES: usize = 160;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeGrant {
    /// Granted at once, or held before.
    Held,
    /// Granted after a wait.
    Waited,
    /// SKIP LOCKED met a holder.
    Skipped,
}

/// How much is held of one mode, roughly, and how much it was when one lock on all was asked for in vain.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: usize,
    denied: usize,
}

/// What one transaction holds in one tree.
#[derive(Debug, Default)]
struct HeldInTree {
    /// In an order, as the trees are.
    points: BTreeMap<Arc<[u8]>, RangeMode>,
    ranges: Vec<(Edge, Edge)>,
    whole: Option<RangeMode>,
    shared: Size,
    exclusive: Size,
}

/// What one transaction holds.
#[derive(Debug, Default)]
pub(crate) struct HeldRanges {
    /// In an order, so that those who wait are woken in the same one whenever the same is done.
    trees: BTreeMap<TreeId, HeldInTree>,
}

impl Ages for Owners {
    #[inline]
    fn age(&self, owner: OwnerId) -> u64 {
        self.get(owner).age()
    }
}

impl RangeLocks {
    /// Whether `owner` waits in a tree, and has not been refused.
    fn is_waiting(&self, owner: OwnerId, tree: TreeId) -> bool {
        self.with_gathered(tree, |locks| locks.is_waiting(owner)).unwrap_or(false)
    }

    /// Whom `owner`, which waits in a tree, waits for.
    pub(crate) fn blockers(
        &self,
        owners: &Owners,
        owner: OwnerId,
        tree: TreeId,
        blocker: &mut dyn FnMut(OwnerId),
    ) {
        let found = self.with_gathered(tree, |locks| locks.blockers(owners, owner));
        found.into_iter().flatten().for_each(blocker);
    }

    /// Whether an owner holds anything, or waits for it.
    pub(crate) fn knows(&self, owner: OwnerId) -> bool {
        let held = |holders: &Vec<Holder>| holders.iter().any(|holder| holder.owner == owner);
        self.any(|locks| {
            held(&locks.whole)
                || locks.points.values().any(held)
                || locks.ranges.all().any(|reader| *reader == owner)
                || locks.waiters.iter().any(|waiter| waiter.owner == owner)
        })
    }

    /// Shows every lock: whose it is, where, how, and whether it is held by now. Who has been refused waits no more, though it has
    /// not heard of it.
    pub(crate) fn for_each(
        &self,
        see: &mut dyn FnMut(OwnerId, TreeId, SireadTarget, RangeMode, bool),
    ) {
        self.see(&mut |tree, locks| {
            for (key, holders) in &locks.points {
                for Holder { owner, mode } in holders {
                    see(*owner, tree, SireadTarget::Key(key.to_vec()), *mode, true);
                }
            }
            for owner in locks.ranges.all() {
                see(*owner, tree, SireadTarget::Range, RangeMode::Shared, true);
            }
            for Holder { owner, mode } in &locks.whole {
                see(*owner, tree, SireadTarget::Tree, *mode, true);
            }
            for waiter in locks.waiters.iter().filter(|waiter| waiter.refused.is_none()) {
                let target = match &waiter.span {
                    Span::Key(key) => SireadTarget::Key(key.to_vec()),
                    Span::Range(..) => SireadTarget::Range,
                    Span::Tree => SireadTarget::Tree,
                };
                see(waiter.owner, tree, target, waiter.mode, false);
            }
        });
    }
}

impl HeldInTree {
    fn covers(&self, span: &Span, mode: RangeMode) -> bool {
        self.whole.is_some_and(|whole| whole >= mode)
            || match span {
                Span::Key(key) => self.points.get(key).is_some_and(|held| *held >= mode),
                Span::Range(low, high) => {
                    let inside = |held: &&(Edge, Edge)| held.0 <= *low && *high <= held.1;
                    // The last ones are likely: scans go on, and are made again.
                    low >= high || self.ranges.iter().rev().take(8).any(|held| inside(&held))
                }
                Span::Tree => false,
            }
    }

    fn size(&mut self, mode: RangeMode) -> &mut Size {
        match mode {
            RangeMode::Passing | RangeMode::Shared => &mut self.shared,
            RangeMode::Exclusive => &mut self.exclusive,
        }
    }

    /// Notes what has been granted.
    fn add(&mut self, span: Span, mode: RangeMode) {
        match span {
            Span::Key(key) => {
                self.size(mode).bytes += key.len() + ENTRY_BYTES;
                let held = self.points.entry(key).or_insert(mode);
                *held = (*held).max(mode);
            }
            Span::Range(low, high) => {
                self.size(mode).bytes += 2 * ENTRY_BYTES;
                self.ranges.push((low, high));
            }
            Span::Tree => self.whole = self.whole.max(Some(mode)),
        }
    }

    /// Gives up what a lock on all in this mode stands for.
    fn give_up(&mut self, mode: RangeMode, locks: &mut TreeLocks, owner: OwnerId) {
        for (key, _) in self.points.extract_if(.., |_, held| *held <= mode) {
            locks.leave(owner, &Span::Key(key), None);
        }
        for (low, high) in self.ranges.drain(..) {
            locks.leave(owner, &Span::Range(low, high), None);
        }
        self.is_left(mode);
    }

    /// Nothing is held in this mode, or less, any more.
    fn is_left(&mut self, mode: RangeMode) {
        self.shared = Size::default();
        if mode == RangeMode::Exclusive {
            self.exclusive = Size::default();
        }
    }
}

impl HeldRanges {
    /// Whether a key is locked to write it, by itself.
    pub(crate) fn has_key(&self, tree: TreeId, key: &[u8]) -> bool {
        let mode = self.trees.get(&tree).and_then(|own| own.points.get(key));
        mode == Some(&RangeMode::Exclusive)
    }
}

/// How a transaction asks for a lock.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'s> {
    /// Who asks.
    pub(crate) owner: OwnerId,
    /// Its session.
    pub(crate) session: &'s SessionWait,
    /// Whether it may wait for others.
    pub(crate) rule: Rule,
    /// What to do where somebody is in the way.
    pub(crate) policy: WaitPolicy,
}

impl LockManager {
    /// Locks a span of a tree, which `held` notes. Past `limit` bytes of a mode what is held in the tree becomes one lock on all.
    ///
    /// # Errors
    /// [`Error::Conflict`] where the rule says so; [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`].
    pub(crate) fn lock_range(
        &self,
        asking: Asking<'_>,
        held: &mut HeldRanges,
        (tree, span, mode): (TreeId, Span, RangeMode),
        limit: usize,
    ) -> Result<RangeGrant> {
        let _class = breakdown::enter(Class::Locking);
        let own = held.trees.entry(tree).or_default();
        if own.covers(&span, mode) {
            return Ok(RangeGrant::Held);
        }
        let grant = self.request(asking, own, (tree, &span, mode))?;
        if grant != RangeGrant::Skipped && mode != RangeMode::Passing {
            own.add(span, mode);
            let Size { bytes, denied } = *own.size(mode);
            if bytes > limit.max(2 * denied) {
                self.escalate(asking, own, (tree, mode), limit)?;
            }
        }
        Ok(grant)
    }

    /// Makes one lock of all that is held in a tree: at first only if nobody is in the way, and past twice the limit however
    /// long that takes, unless nobody may be waited for.
    fn escalate(
        &self,
        asking: Asking<'_>,
        own: &mut HeldInTree,
        (tree, mode): (TreeId, RangeMode),
        limit: usize,
    ) -> Result<()> {
        let bytes = own.size(mode).bytes;
        // Who skips goes on with what it can lock at once, and tries again when that is twice as much.
        let policy = match asking.policy {
            WaitPolicy::Block | WaitPolicy::Error if bytes > 2 * limit => asking.policy,
            WaitPolicy::Block | WaitPolicy::Error | WaitPolicy::Skip => WaitPolicy::Skip,
        };
        let all = (tree, &Span::Tree, mode);
        if self.request(Asking { policy, ..asking }, own, all)? == RangeGrant::Skipped {
            own.size(mode).denied = bytes;
            return Ok(());
        }
        own.add(Span::Tree, mode);
        self.ranges.with_all(tree, |locks| own.give_up(mode, locks, asking.owner));
        Ok(())
    }

    /// Asks for a span, and waits for it where that may be.
    fn request(
        &self,
        asking: Asking<'_>,
        own: &HeldInTree,
        (tree, span, mode): (TreeId, &Span, RangeMode),
    ) -> Result<RangeGrant> {
        let Asking { owner, session, rule, policy } = asking;
        let mut woken = Vec::new();
        let mut ask = |locks: &mut TreeLocks, is_all: bool| {
            let asked = locks.ask(&self.owners, owner, (span, mode), rule, &mut woken);
            let RequestOutcome::Conflict(refused) = asked else {
                return Ok(Some(RangeGrant::Held));
            };
            match policy {
                WaitPolicy::Skip => return Ok(Some(RangeGrant::Skipped)),
                WaitPolicy::Error => return Err(Error::LockNotAvailable { timeout: false }),
                WaitPolicy::Block => {}
            }
            if let Some(reason) = refused {
                return Err(Error::Conflict(ConflictKind::ReadWrite(reason)));
            }
            if is_all {
                locks.wait(owner, span.clone(), mode, rule);
            }
            Ok(None)
        };
        let mut stands = true;
        let mut outcome = match span {
            Span::Key(key) => self.ranges.with_key(tree, key, |locks, is_all| {
                stands = is_all;
                ask(locks, is_all)
            }),
            Span::Range(..) | Span::Tree => self.ranges.with_all(tree, |locks| ask(locks, true)),
        };
        if !stands && matches!(outcome, Ok(None)) {
            outcome = self.ranges.with_all(tree, |locks| ask(locks, true));
        }
        self.wake(&woken);
        if let Some(grant) = outcome? {
            return Ok(grant);
        }
        let key = match span {
            Span::Key(key) => Some(Arc::clone(key)),
            Span::Range(..) | Span::Tree => None,
        };
        let granted = || !self.ranges.is_waiting(owner, tree);
        let cancel = |wake: &mut dyn FnMut(OwnerId)| {
            self.leave_wait(owner, own, (tree, span, mode)).into_iter().for_each(wake);
        };
        let waiting = (Waiting::Range(tree, key), FirstSearch::AtOnce);
        self.wait(owner, session, WaitEvent::Tuple, waiting, &granted, &cancel)?;
        match self.ranges.with_gathered(tree, |locks| locks.answer(owner)).flatten() {
            None => Ok(RangeGrant::Waited),
            Some(reason) => Err(Error::Conflict(ConflictKind::ReadWrite(reason))),
        }
    }

    /// Ends a wait without the lock: granted in the last moment, it is given back, down to what was held before. Who goes on
    /// because of that.
    fn leave_wait(
        &self,
        owner: OwnerId,
        own: &HeldInTree,
        (tree, span, mode): (TreeId, &Span, RangeMode),
    ) -> Vec<OwnerId> {
        let mut woken = Vec::new();
        self.ranges.with_all(tree, |locks| {
            if let Some(place) = locks.waiters.iter().position(|waiter| waiter.owner == owner) {
                locks.waiters.remove(place);
                return;
            }
            if mode == RangeMode::Passing {
                return;
            }
            let before = match span {
                Span::Key(key) => own.points.get(key).copied(),
                Span::Range(..) => None,
                Span::Tree => own.whole,
            };
            locks.leave(owner, span, before);
            for (low, high) in &own.ranges {
                locks.grant(owner, &Span::Range(low.clone(), high.clone()), RangeMode::Shared);
            }
            locks.grant_waiters(&self.owners, &mut woken);
        });
        woken
    }

    /// Gives a lock on a key back before the transaction's end.
    pub(crate) fn unlock_key(
        &self,
        owner: OwnerId,
        held: &mut HeldRanges,
        (tree, key): (TreeId, &[u8]),
    ) {
        let Some(own) = held.trees.get_mut(&tree) else { return };
        let Some((key, mode)) = own.points.remove_entry(key) else { return };
        let Size { bytes, .. } = own.size(mode);
        *bytes = bytes.saturating_sub(key.len() + ENTRY_BYTES);
        let mut woken = Vec::new();
        self.leave_key(owner, tree, key, &mut woken);
        self.wake(&woken);
    }

    fn leave_key(&self, owner: OwnerId, tree: TreeId, key: Arc<[u8]>, woken: &mut Vec<OwnerId>) {
        let span = Span::Key(Arc::clone(&key));
        self.ranges.with_key(tree, &key, |locks, is_all| {
            locks.leave(owner, &span, None);
            if is_all {
                locks.grant_waiters(&self.owners, woken);
            }
        });
    }

    /// Lets go of what a transaction has locked to read only.
    pub(crate) fn release_shared(&self, owner: OwnerId, held: &mut HeldRanges) {
        let mut woken = Vec::new();
        for (tree, own) in &mut held.trees {
            self.let_go(owner, (*tree, own), RangeMode::Shared, &mut woken);
        }
        self.wake(&woken);
    }

    /// Lets go of what is held in a tree in this mode, or less.
    fn let_go(
        &self,
        owner: OwnerId,
        (tree, own): (TreeId, &mut HeldInTree),
        mode: RangeMode,
        woken: &mut Vec<OwnerId>,
    ) {
        let gathered = self.ranges.with_gathered(tree, |locks| {
            own.give_up(mode, locks, owner);
            if own.whole.take_if(|held| *held <= mode).is_some() {
                locks.leave(owner, &Span::Tree, None);
            }
            locks.grant_waiters(&self.owners, woken);
        });
        if gathered.is_none() {
            // Who holds a range keeps the tree gathered.
            for (key, _) in own.points.extract_if(.., |_, held| *held <= mode) {
                self.leave_key(owner, tree, key, woken);
            }
            own.is_left(mode);
        }
    }

    /// Lets go of all that a transaction holds.
    pub(crate) fn release_ranges(&self, owner: OwnerId, held: &mut HeldRanges) {
        let _class = breakdown::enter(Class::Locking);
        let mut woken = Vec::new();
        for (tree, mut own) in std::mem::take(&mut held.trees) {
            self.let_go(owner, (tree, &mut own), RangeMode::Exclusive, &mut woken);
        }
        debug_assert!(!self.ranges.knows(owner), "a lock on a key or a range is left behind");
        self.wake(&woken);
    }
}
