//! Owners: one place per running transaction where others find its snapshot, its locks' session and what it waits for.
//!
//! A place is made once and used again by transaction after transaction, so that a lock can name its holder by a small
//! number, and so that the horizon is the minimum over an array. Places are made in chunks and never freed.
//!
//! **Announcing a snapshot** is a hazard pointer's protocol: write down the watermark just read, then read it again; if
//! it has moved, write that down. A collector computes its horizon from the watermark, read first, and the
//! announcements, read second. One that misses an announcement read an older watermark than the reader's second look,
//! hence keeps all the reader needs.

use crate::lock::TableLock;
use crate::lock::partition::PartitionId;
use crate::record::NodeRef;
use crate::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
use crate::sync::{Arc, Mutex, OnceLock, lock, rank};
use crate::{Lsn, TableId, TreeId, TxnId};
use crossbeam_utils::CachePadded;
use storage::WaitCell;

/// Places made at a time.
const CHUNK: usize = 64;
/// Chunks at most: more transactions at once than any limit of connections allows.
const CHUNKS: usize = 4096;

/// A snapshot cell without a snapshot.
const NONE: u64 = u64::MAX;

/// The number of an owner's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// What an owner waits for.
#[derive(Debug)]
pub enum Waiting {
    /// A row lock. The waiter's own queue entry keeps the node alive while this stands here.
    Row(NodeRef),
    /// A table lock.
    Table(TableId, TableLock),
    /// A lock on a key, or (none) on several, of a tree.
    Range(TreeId, Option<Arc<[u8]>>),
    /// A partition.
    Partition(PartitionId),
    /// An advisory lock; as with a row.
    Name(NodeRef, TableLock),
    /// The end of an owner's transaction.
    End(OwnerId, TxnId),
}

/// One place.
#[derive(Debug)]
pub struct Owner {
    /// The oldest snapshot its transaction needs, or none.
    snapshot: CachePadded<AtomicU64>,
    /// Whether its transaction reads by newer snapshots beside the oldest: a cursor's beside the statement's.
    several: AtomicBool,
    /// Set when versions its snapshot needs are given up.
    too_old: AtomicBool,
    /// The running transaction, 0 between two.
    txn: AtomicU64,
    /// The session's number as clients know it.
    pid: AtomicU32,
    /// The session, as nobody but its transaction and its advisory locks has it; 0 for none.
    session: AtomicU64,
    /// When the transaction began, in microseconds of the monotonic clock.
    since: AtomicU64,
    /// Whether its transaction is older than another, the lower of two, where that counts.
    age: AtomicU64,
    /// Where its thread rests while it waits for a lock.
    pub(crate) cell: Arc<WaitCell>,
    /// Since when it waits, in microseconds since 2000-01-01 UTC; 0 while it does not. It stands here for a moment less than the
    /// wait in its queue.
    waiting_since: AtomicI64,
    /// How many waits it has begun, those of transactions before this one too.
    waits: AtomicU64,
    /// What it waits for now.
    pub(crate) waiting: Mutex<Option<Waiting>, { rank::WAITING }>,
    /// Its intention locks, by table, as a set of mode bits; see the table locks for the protocol.
    pub(crate) intents: Mutex<Vec<(TableId, u8)>, { rank::INTENTS }>,
}

/// All places.
#[derive(Debug)]
pub struct Owners {
    chunks: Box<[OnceLock<Box<[Owner]>>]>,
    count: CachePadded<AtomicUsize>,
    /// How many snapshots have gone from one owner to another.
    adopted: CachePadded<AtomicU64>,
}

/// Which places belong to one session: looked up once for many.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// The session of each place, by number; 0 for none.
    of: Vec<u64>,
    /// The places of sessions, in the order of these.
    places: Vec<(u64, OwnerId)>,
}

impl Sessions {
    /// Whether two owners are of one session.
    pub(crate) fn same(&self, one: OwnerId, other: OwnerId) -> bool {
        let session = |owner: OwnerId| self.of.get(owner.0 as usize).copied().unwrap_or(0);
        one == other || (session(one) != 0 && session(one) == session(other))
    }

    /// Every place of the session that `owner` serves, itself at least.
    pub(crate) fn peers(&self, owner: OwnerId) -> impl Iterator<Item = OwnerId> {
        let session = self.of.get(owner.0 as usize).copied().unwrap_or(0);
        let first = self.places.partition_point(|place| place.0 < session);
        let all = self.places[first..].iter().take_while(move |place| place.0 == session);
        let alone = (session == 0).then_some(owner);
        all.map(|place| place.1).chain(alone)
    }
}

impl Owner {
    fn new() -> Owner {
        Owner {
            snapshot: CachePadded::new(AtomicU64::new(NONE)),
            several: AtomicBool::new(false),
            too_old: AtomicBool::new(false),
            txn: AtomicU64::new(0),
            pid: AtomicU32::new(0),
            session: AtomicU64::new(0),
            since: AtomicU64::new(0),
            age: AtomicU64::new(0),
            cell: Arc::new(WaitCell::new()),
            waiting_since: AtomicI64::new(0),
            waits: AtomicU64::new(0),
            waiting: Mutex::new(None),
            intents: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn start(&self, txn: TxnId, (pid, session): (u32, u64), now: u64) {
        self.serve(pid, session);
        self.since.store(now, Ordering::Relaxed);
        self.txn.store(txn.0, Ordering::Release);
    }

    /// Says whose locks these are.
    pub(crate) fn serve(&self, pid: u32, session: u64) {
        self.pid.store(pid, Ordering::Relaxed);
        self.session.store(session, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.withdraw();
        // SeqCst: see `lock::ending`; who waits for this end is found, or finds it.
        self.txn.swap(0, Ordering::SeqCst);
    }

    /// The running transaction, if one is.
    #[must_use]
    pub fn txn(&self) -> Option<TxnId> {
        Some(TxnId(self.txn.load(Ordering::SeqCst))).filter(|txn| txn.0 != 0)
    }

    /// The session's number as clients know it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    /// Whether its transaction is prepared: it runs, and is no session's.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.txn().is_some() && self.session.load(Ordering::Relaxed) == 0
    }

    /// When its transaction began, in microseconds of the monotonic clock.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }

    pub(crate) fn set_age(&self, age: u64) {
        self.age.store(age, Ordering::Relaxed);
    }

    /// Whether its transaction is older than another, the lower of two.
    #[must_use]
    pub fn age(&self) -> u64 {
        self.age.load(Ordering::Relaxed)
    }

    /// Says what it waits for, and since when.
    pub(crate) fn begin_wait(&self, waiting: Waiting, since: i64) {
        self.waiting_since.store(since, Ordering::Relaxed);
        let mut place = lock(&self.waiting);
        self.waits.fetch_add(1, Ordering::Relaxed);
        *place = Some(waiting);
    }

    /// Which of its waits this is, or was the last.
    pub(crate) fn wait_number(&self) -> u64 {
        let _place = lock(&self.waiting);
        self.waits.load(Ordering::Relaxed)
    }

    /// It waits for nothing any more.
    pub(crate) fn end_wait(&self) {
        *lock(&self.waiting) = None;
        self.waiting_since.store(0, Ordering::Relaxed);
    }

    /// Since when it waits, in microseconds since 2000-01-01 UTC.
    #[must_use]
    pub fn waiting_since(&self) -> Option<i64> {
        Some(self.waiting_since.load(Ordering::Relaxed)).filter(|since| *since != 0)
    }

    /// The oldest snapshot it needs.
    #[must_use]
    pub fn snapshot(&self) -> Option<Lsn> {
        Some(Lsn(self.snapshot.load(Ordering::SeqCst))).filter(|lsn| lsn.0 != NONE)
    }

    /// Announces and takes the newest snapshot; `keep` is an older one that is needed as well.
    pub(crate) fn announce(&self, keep: Option<Lsn>, visible: impl Fn() -> Lsn) -> Lsn {
        let mut lsn = visible();
        match keep {
            Some(_) => self.need_several(),
            None => {
                self.several.store(false, Ordering::Relaxed);
                self.too_old.store(false, Ordering::Relaxed);
            }
        }
        loop {
            let oldest = keep.map_or(lsn, |keep| keep.min(lsn));
            if self.snapshot.load(Ordering::Relaxed) != oldest.0 {
                self.snapshot.store(oldest.0, Ordering::SeqCst);
            }
            // Pairs with the fence in `horizon`: the collector sees this cell, or we see its watermark.
            fence(Ordering::SeqCst);
            let again = visible();
            if again == lsn {
                return lsn;
            }
            lsn = again;
        }
    }

    /// From here on the transaction may read by any snapshot that begins after this and is not older than the one announced.
    /// As with an announcement, a collector that misses this read an older watermark than the one the new snapshot takes.
    pub(crate) fn need_several(&self) {
        if !self.several.swap(true, Ordering::SeqCst) {
            fence(Ordering::SeqCst);
        }
    }

    /// Keeps only what `oldest` needs, which is not older than what was announced, and what `several` snapshots from there
    /// on need.
    pub(crate) fn keep(&self, oldest: Option<Lsn>, several: bool) {
        if several {
            self.need_several();
        } else {
            self.several.store(false, Ordering::Release);
        }
        self.snapshot.store(oldest.map_or(NONE, |lsn| lsn.0), Ordering::Release);
    }

    /// Needs no snapshot any more.
    pub(crate) fn withdraw(&self) {
        self.snapshot.store(NONE, Ordering::Release);
        self.too_old.store(false, Ordering::Relaxed);
    }

    /// Whether versions that the snapshot needs have been given up. Asked *after* a version was not found.
    pub(crate) fn is_too_old(&self) -> bool {
        self.too_old.load(Ordering::Acquire)
    }

    /// Gives up the versions this owner's snapshot needs: from here on its reads fail.
    pub(crate) fn give_up(&self) {
        self.too_old.store(true, Ordering::SeqCst);
    }
}

impl Owners {
    pub(crate) fn new() -> Owners {
        Owners {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            count: CachePadded::new(AtomicUsize::new(0)),
            adopted: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Makes a new place.
    pub(crate) fn register(&self) -> OwnerId {
        let at = self.count.fetch_add(1, Ordering::SeqCst);
        let chunk = self.chunks.get(at / CHUNK).expect("connections are limited far below this");
        chunk.get_or_init(|| (0..CHUNK).map(|_| Owner::new()).collect());
        OwnerId(u32::try_from(at).expect("fewer places than 2^32"))
    }

    /// The place of a number handed out before.
    pub(crate) fn get(&self, id: OwnerId) -> &Owner {
        let at = id.0 as usize;
        let chunk = self.chunks[at / CHUNK].get().expect("a number is handed out after its place");
        &chunk[at % CHUNK]
    }

    /// All places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (OwnerId, &Owner)> {
        let count = self.count.load(Ordering::SeqCst);
        let chunks = self.chunks[..count.div_ceil(CHUNK)].iter().enumerate();
        // A chunk that is still being made has no owner with anything to say yet.
        let made = chunks.filter_map(|(number, chunk)| Some((number, chunk.get()?)));
        made.flat_map(move |(number, chunk)| {
            let first = number * CHUNK;
            // Only those that were handed out: each is a cache line of its own.
            let used = &chunk[..CHUNK.min(count - first)];
            used.iter().enumerate().map(move |(at, owner)| (OwnerId((first + at) as u32), owner))
        })
    }

    /// Which places belong to one session, as it is now.
    pub(crate) fn sessions(&self) -> Sessions {
        let mut sessions = Sessions { of: Vec::new(), places: Vec::new() };
        for (id, owner) in self.iter() {
            let session = owner.session.load(Ordering::Relaxed);
            sessions.of.resize(id.0 as usize + 1, 0);
            sessions.of[id.0 as usize] = session;
            if session != 0 {
                sessions.places.push((session, id));
            }
        }
        sessions.places.sort_unstable();
        sessions
    }

    /// How many places there are: what a computation of the horizon costs.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Has an owner announce a snapshot that another one announces at least until this returns: it may be old, and there
    /// is no watermark to read again. A look at all owners that has passed this one before, and comes to the other one when
    /// that has withdrawn, finds that somebody has adopted a snapshot meanwhile, and looks again.
    pub(crate) fn adopt(&self, id: OwnerId, snapshot: Lsn) {
        let owner = self.get(id);
        owner.several.store(false, Ordering::Relaxed);
        owner.too_old.store(false, Ordering::Relaxed);
        owner.snapshot.store(snapshot.0, Ordering::SeqCst);
        self.adopted.fetch_add(1, Ordering::SeqCst);
    }

    /// Looks at all owners until no snapshot has gone from one to another meanwhile.
    fn look<T>(&self, look: &mut dyn FnMut() -> T) -> T {
        loop {
            let adopted = self.adopted.load(Ordering::SeqCst);
            let found = look();
            fence(Ordering::SeqCst);
            if self.adopted.load(Ordering::SeqCst) == adopted {
                return found;
            }
        }
    }

    /// The horizon: at or below it everybody sees the same. `visible` is the watermark, read by the caller before.
    pub(crate) fn horizon(&self, visible: Lsn) -> Lsn {
        fence(Ordering::SeqCst); // Pairs with the fence in `announce`.
        self.look(&mut || {
            let needed = self.iter().filter(|(_, owner)| !owner.is_too_old());
            needed.filter_map(|(_, owner)| owner.snapshot()).fold(visible, Lsn::min)
        })
    }

    /// Every announced snapshot that has not been given up, ascending, and the oldest that may not be among them: one that
    /// is still to begin, or one of an owner that needs several. `visible` is the watermark, read by the caller before.
    pub(crate) fn snapshots(&self, visible: Lsn, into: &mut Vec<Lsn>) -> Lsn {
        fence(Ordering::SeqCst); // Pairs with the fences in `announce` and `need_several`.
        let unlisted = self.look(&mut || {
            into.clear();
            let mut unlisted = visible;
            for (_, owner) in self.iter().filter(|(_, owner)| !owner.is_too_old()) {
                let Some(snapshot) = owner.snapshot() else { continue };
                into.push(snapshot);
                if owner.several.load(Ordering::SeqCst) {
                    unlisted = unlisted.min(snapshot);
                }
            }
            unlisted
        });
        into.sort_unstable();
        into.dedup();
        unlisted
    }

    /// The owner with the oldest snapshot.
    pub(crate) fn oldest(&self) -> Option<(OwnerId, Lsn)> {
        let needed = self.iter().filter(|(_, owner)| !owner.is_too_old());
        needed.filter_map(|(id, owner)| Some((id, owner.snapshot()?))).min_by_key(|found| found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_oldest_snapshot_or_the_watermark() {
        let owners = Owners::new();
        let (a, b) = (owners.register(), owners.register());
        assert_eq!(owners.horizon(Lsn(9)), Lsn(9));
        assert_eq!(owners.get(a).announce(None, || Lsn(5)), Lsn(5));
        assert_eq!(owners.get(b).announce(Some(Lsn(3)), || Lsn(7)), Lsn(7));
        assert_eq!(owners.horizon(Lsn(9)), Lsn(3));
        assert_eq!(owners.oldest(), Some((b, Lsn(3))));
        owners.get(b).withdraw();
        assert_eq!(owners.horizon(Lsn(9)), Lsn(5));
        owners.get(a).give_up();
        assert_eq!(owners.horizon(Lsn(9)), Lsn(9));
    }

    #[test]
    fn an_owner_of_several_snapshots_has_unlisted_ones_from_its_oldest_on() {
        let owners = Owners::new();
        let (a, b) = (owners.register(), owners.register());
        let mut listed = Vec::new();
        owners.get(a).announce(None, || Lsn(5));
        owners.get(b).announce(None, || Lsn(7));
        assert_eq!(
            (owners.snapshots(Lsn(9), &mut listed), &listed[..]),
            (Lsn(9), &[Lsn(5), Lsn(7)][..])
        );
        owners.get(a).announce(Some(Lsn(5)), || Lsn(8));
        assert_eq!(
            (owners.snapshots(Lsn(9), &mut listed), &listed[..]),
            (Lsn(5), &[Lsn(5), Lsn(7)][..])
        );
        owners.get(a).keep(Some(Lsn(8)), false);
        assert_eq!(
            (owners.snapshots(Lsn(9), &mut listed), &listed[..]),
            (Lsn(9), &[Lsn(7), Lsn(8)][..])
        );
        owners.get(b).need_several();
        assert_eq!(owners.snapshots(Lsn(9), &mut listed), Lsn(7));
    }

    #[test]
    fn who_looks_at_all_sees_a_snapshot_that_goes_from_one_to_another() {
        let owners = Owners::new();
        let (a, b) = (owners.register(), owners.register());
        owners.get(b).announce(None, || Lsn(3));
        // The first look has passed `a` when it adopts what `b` has, and comes to `b` when that has withdrawn.
        let mut first = true;
        let oldest = owners.look(&mut || {
            let before = owners.get(a).snapshot();
            if std::mem::take(&mut first) {
                owners.adopt(a, Lsn(3));
                owners.get(b).withdraw();
            }
            before.or(owners.get(b).snapshot())
        });
        assert_eq!(oldest, Some(Lsn(3)));
        assert_eq!(owners.horizon(Lsn(9)), Lsn(3));
    }

    #[test]
    fn places_beyond_a_chunk_keep_their_numbers() {
        let owners = Owners::new();
        let ids: Vec<_> = (0..200).map(|_| owners.register()).collect();
        for (at, id) in ids.iter().enumerate() {
            owners.get(*id).start(TxnId(at as u64 + 1), (at as u32, 0), 0);
        }
        let running = owners.iter().filter(|(_, owner)| owner.txn().is_some());
        let seen: Vec<_> = running.map(|(id, owner)| (id, owner.pid())).collect();
        assert_eq!(seen, ids.iter().map(|id| (*id, id.0)).collect::<Vec<_>>());
    }
}
