//! Serializable snapshot isolation: what SERIALIZABLE is by default.
//!
//! Papers: Cahill, Röhm and Fekete, *Serializable Isolation for Snapshot Databases*, SIGMOD 2008; Ports and Grittner,
//! *Serializable Snapshot Isolation in PostgreSQL*, VLDB 2012. PostgreSQL 15's `predicate.c` decides who is refused, when and in
//! which words; locks are finer here ([`siread`]), so that what is refused there because two rows share a page may pass here.
//!
//! Only serializable transactions take part: nobody else's reads are locked or writes marked. One latch guards the graph, ranges
//! and marks of writes together, so that of a read and a write of the same key the second finds the first; it is held for no
//! wait. Keys that are read each for itself are in shards ([`points`]), and that latch is not taken for them where nobody writes.
//!
//! Schedule, write skew: 1 reads x, 2 reads y, 1 writes y (2 -> 1), 2 writes x (1 -> 2), 1 commits: it is the out of the pivot 2,
//! which has 1 as its in as well, and dooms 2, whose COMMIT answers 40001.
//!
//! Invariants. (1) A transaction's snapshot is taken under the latch, and only while every commit whose end has its number
//! is visible: who ended before it began is seen by it. (2) What was read is locked before its reader returns from the read,
//! and what is written is marked before it is in the write set. (3) A commit's LSN is known here before a snapshot can show it.
//!
//! Cost: of other levels a branch; of a serializable one a latch and a look-up for each key; the latch over all for its beginning, its
//! end, the first key of each tree, and each leaf or write.

pub(crate) mod graph;
mod points;
mod siread;

pub use graph::Reason;
pub use siread::SireadTarget;

use crate::lock::segments::Edge;
use crate::planted::{Fault, Planted};
use crate::scheme::occ::{Bounds, RangeId};
use crate::sync::{Arc, Mutex, MutexGuard, lock, rank};
use crate::{CommandId, ConflictKind, Error, Lsn, Result, TableId, TreeId, TxnId};
use graph::{Begun, DOOMED, Graph, Release, SAFE, UNSAFE, Writer, XactId};
use points::{Holder, Noted, PointKey, Points};
use rustc_hash::FxHashMap;
use siread::Sireads;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use storage::{Direction, Environment, WaitCell};

/// Bytes of a key's copies and what stands around them, roughly.
const ENTRY_BYTES: usize = 160;
/// Locks in the record of a prepared transaction; of one with more the record has trees.
const RECORDED: usize = 256;
/// Rows of a scan that are locked one by one; afterwards what it has read is locked at once.
const ROWS: u32 = 3;

/// What stands under the latch.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) graph: Graph,
    pub(crate) locks: Sireads,
    /// Where those rest who wait for a safe snapshot.
    cells: FxHashMap<XactId, Arc<WaitCell>>,
    writers: Vec<Writer>,
    holders: Vec<Holder>,
    /// Keys whose readers are in the graph no more; who has released these lets go of the keys, behind the latch if it can.
    unread: Vec<(XactId, PointKey)>,
    planted: Planted,
}

/// The serializable transactions of an instance, and what they have read and written.
#[derive(Debug)]
pub(crate) struct Ssi {
    inner: Mutex<Inner, { rank::SERIALIZABLE }>,
    points: Arc<Points>,
    /// Committed ones that are kept one by one.
    kept_max: usize,
    planted: Planted,
}

/// How far a scan has read, which may be beyond what it has shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read<'k> {
    /// Nothing yet.
    Nothing,
    /// To this key.
    To(&'k [u8]),
    /// All there is in its range.
    All,
}

/// One scan's lock.
#[derive(Debug)]
struct ScanLock {
    tree: TreeId,
    upwards: bool,
    /// Where it began, and how far it may go.
    first: Edge,
    end: Edge,
    bounds: (Edge, Edge),
    /// Its number among the transaction's ranges of the tree.
    number: Option<usize>,
    /// How far it is locked.
    reached: Option<Edge>,
    rows: u32,
}

/// What a transaction has read of one tree.
#[derive(Debug, Default)]
struct ReadOfTree {
    /// Whether it is known to read keys there each for itself, and which they are, each once.
    reads_points: bool,
    points: Vec<PointKey>,
    /// Bytes of its locks there.
    bytes: usize,
}

/// One transaction's part.
#[derive(Debug, Default)]
pub(crate) struct Part {
    id: Option<XactId>,
    status: Arc<AtomicU32>,
    /// What it has read of each tree.
    trees: FxHashMap<TreeId, ReadOfTree>,
    whole: HashSet<TreeId>,
    complete: HashSet<(TreeId, Edge, Edge)>,
    scans: BTreeMap<RangeId, ScanLock>,
    next_scan: u64,
    tables: FxHashMap<TreeId, TableId>,
    total: usize,
    marked: usize,
    marked_whole: HashSet<TreeId>,
    /// Somebody may have been found to have read what it has written.
    wrote: bool,
    /// It has passed its check.
    pub(crate) checked: bool,
    /// Its commit stands.
    pub(crate) committed: bool,
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Error {
        Error::Conflict(ConflictKind::ReadWrite(reason))
    }
}

impl Ssi {
    /// None run; keys are hashed from `seed`, and so many committed ones are kept one by one.
    pub(crate) fn new(seed: u64, kept_max: usize, planted: Planted) -> Ssi {
        let points = Arc::new(Points::new(seed));
        let inner = Inner {
            graph: Graph::new(),
            locks: Sireads::new(Arc::clone(&points)),
            cells: FxHashMap::default(),
            writers: Vec::new(),
            holders: Vec::new(),
            unread: Vec::new(),
            planted,
        };
        Ssi { inner: Mutex::new(inner), points, kept_max, planted }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner, { rank::SERIALIZABLE }> {
        lock(&self.inner)
    }

    /// Readers let go of keys.
    fn let_go(&self, keys: impl IntoIterator<Item = (XactId, PointKey)>) {
        keys.into_iter().for_each(|(id, name)| self.points.unlock(&name, id, graph::Seq::MAX));
    }

    /// The newest commit of a serializable transaction.
    pub(crate) fn newest(&self) -> Lsn {
        self.lock().graph.newest
    }

    /// Whom the session that clients know as `pid` waits for to have a safe snapshot, as clients know them.
    pub(crate) fn safe_snapshot_blockers(&self, pid: u32) -> Vec<u32> {
        let inner = self.lock();
        let mut waiting = inner.cells.keys();
        let waits = waiting.find(|id| inner.graph.get(**id).is_some_and(|xact| xact.pid == pid));
        waits.map(|id| inner.graph.threatens(*id)).unwrap_or_default()
    }

    /// Every SIREAD lock: whose, on which tree of which table, and what of it.
    pub(crate) fn for_each(
        &self,
        each: &mut dyn FnMut((u32, TxnId), TreeId, Option<TableId>, SireadTarget),
    ) {
        let inner = self.lock();
        inner.locks.for_each(&mut |xact, tree, table, target| {
            if let Some(xact) = inner.graph.get(xact) {
                each((xact.pid, xact.txn), tree, table, target);
            }
        });
    }

    /// How many transactions are kept, and whether anything is locked or marked.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, bool) {
        let inner = self.lock();
        (inner.graph.len(), !inner.locks.is_empty())
    }
}

impl Inner {
    /// Takes out what nobody needs any more.
    fn tidy(&mut self, kept_max: usize) {
        while let Some(release) = self.graph.release(kept_max) {
            match release {
                Release::All(id) => self.locks.release(id, true, &mut self.unread),
                Release::Reads(id) => self.locks.release(id, false, &mut self.unread),
                Release::Summarize(id, writer, seq) => self.locks.summarize(id, writer, seq),
            }
        }
        self.locks.forget_old(self.graph.oldest());
    }

    fn read_past(&mut self, me: XactId) -> std::result::Result<(), Reason> {
        let mut writers = std::mem::take(&mut self.writers);
        if self.planted.is(Fault::ConflictFlagLost) {
            writers.clear();
        }
        let met = writers.iter().try_for_each(|writer| self.graph.reads_past(me, *writer));
        self.writers = writers;
        self.writers.clear();
        met
    }

    fn find_writers(&mut self, me: XactId, tree: TreeId, part: (&Edge, &Edge)) {
        let Inner { graph, locks, writers, .. } = self;
        locks.writers_between(tree, part, &|several| graph.next_version(me, several), writers);
    }

    fn overwrite(&mut self, me: XactId, version: Lsn) -> std::result::Result<(), Reason> {
        let holders = std::mem::take(&mut self.holders);
        let each = |holder: &Holder| self.graph.overwrites(me, (holder.xact, holder.seq), version);
        let met = holders.iter().try_for_each(each);
        self.holders = holders;
        self.holders.clear();
        met
    }
}

impl Part {
    /// Begins, with a snapshot that is taken under the latch. False: it need not take part.
    pub(crate) fn begin(
        &mut self,
        inner: &mut Inner,
        who: (TxnId, u32),
        (snapshot, as_of): (Lsn, Option<XactId>),
        read_only: bool,
    ) -> bool {
        match inner.graph.begin(who, (snapshot, as_of), read_only, &self.status) {
            Begun::Safe => false,
            Begun::Tracked(id) => {
                self.id = Some(id);
                true
            }
        }
    }

    /// Whether its snapshot is safe (true), unsafe, or not known yet.
    pub(crate) fn is_safe(&self) -> Option<bool> {
        let status = self.status.load(Ordering::Relaxed);
        (status & (SAFE | UNSAFE) != 0).then_some(status & SAFE != 0)
    }

    /// Rests on `cell` until somebody knows whether its snapshot is safe.
    pub(crate) fn wait_on(&self, inner: &mut Inner, cell: Option<Arc<WaitCell>>) {
        let Some(id) = self.id else { return };
        match cell {
            Some(cell) => drop(inner.cells.insert(id, cell)),
            None => drop(inner.cells.remove(&id)),
        }
    }

    /// Gives its place up, to begin anew with another snapshot.
    pub(crate) fn withdraw(&mut self, ssi: &Ssi, inner: &mut Inner) {
        if let Some(id) = self.id.take() {
            inner.cells.remove(&id);
            inner.graph.withdraw(id);
            inner.locks.release(id, true, &mut inner.unread);
            inner.tidy(ssi.kept_max);
            ssi.let_go(inner.unread.drain(..));
            self.unlock_points(ssi, id);
        }
        self.status.store(0, Ordering::Relaxed);
    }

    /// Its place, if it still has to know of anything; 40001 where it has been doomed.
    fn live(&self, doomed: Reason) -> Result<Option<XactId>> {
        let status = self.status.load(Ordering::Relaxed);
        if status & DOOMED != 0 {
            return Err(doomed.into());
        }
        Ok(self.id.filter(|_| status & SAFE == 0))
    }

    /// Says which trees a table has.
    pub(crate) fn table_has(
        &mut self,
        ssi: &Ssi,
        table: TableId,
        trees: &mut dyn Iterator<Item = TreeId>,
    ) {
        let trees: Vec<TreeId> = trees.collect();
        let mut anew = false;
        for tree in &trees {
            anew |= self.tables.insert(*tree, table).is_none();
        }
        if anew {
            ssi.lock().locks.table_has(table, &trees);
        }
    }

    fn table(&self, tree: TreeId) -> (TreeId, Option<TableId>) {
        (tree, self.tables.get(&tree).copied())
    }

    /// It looks for a key.
    pub(crate) fn reads(
        &mut self,
        ssi: &Ssi,
        tree: TreeId,
        key: &[u8],
        limit: usize,
    ) -> Result<()> {
        let Some(id) = self.live(Reason::DoomedRead)? else { return Ok(()) };
        if self.whole.contains(&tree) {
            return Ok(());
        }
        let table = self.tables.get(&tree);
        let of = self.trees.entry(tree).or_default();
        if !std::mem::replace(&mut of.reads_points, true) {
            ssi.lock().locks.reads_points(id, (tree, table.copied()));
        }
        let Noted::Now { name, marked } = ssi.points.read(tree, key, id) else { return Ok(()) };
        of.points.push(name);
        if marked {
            let mut inner = ssi.lock();
            let Inner { graph, locks, writers, .. } = &mut *inner;
            locks.writers(tree, key, &|several| graph.next_version(id, several), writers);
            inner.read_past(id)?;
        }
        if self.is_past(limit, tree, key.len()) {
            self.reads_all(ssi, &mut ssi.lock(), (id, tree))?;
        }
        Ok(())
    }

    /// Counts what is locked; whether it is past the limit, and the whole tree is to be locked.
    fn is_past(&mut self, limit: usize, tree: TreeId, bytes: usize) -> bool {
        let bytes = bytes + ENTRY_BYTES;
        self.trees.entry(tree).or_default().bytes += bytes;
        self.total += bytes;
        self.total > limit
    }

    fn reads_all(
        &mut self,
        ssi: &Ssi,
        inner: &mut Inner,
        (id, tree): (XactId, TreeId),
    ) -> Result<()> {
        let (_, table) = self.table(tree);
        inner.locks.lock_tree(id, tree, table);
        let before = self.trees.remove(&tree).unwrap_or_default();
        self.total -= before.bytes;
        for name in &before.points {
            ssi.points.unlock(name, id, graph::Seq::MAX);
        }
        self.complete.retain(|(of, ..)| *of != tree);
        self.whole.insert(tree);
        let all = (&Edge::FIRST, &Edge::End);
        inner.find_writers(id, tree, all);
        Ok(inner.read_past(id)?)
    }

    /// A scan begins; none if what it will read is locked.
    pub(crate) fn scans(
        &mut self,
        tree: TreeId,
        (low, high): Bounds<'_>,
        direction: Direction,
    ) -> Result<Option<RangeId>> {
        let Some(_) = self.live(Reason::DoomedRead)? else { return Ok(None) };
        if self.whole.contains(&tree) {
            return Ok(None);
        }
        let (low, high) = (Edge::low(low), Edge::high(high));
        let bounds = (low.clone(), high.clone());
        if low >= high || self.complete.contains(&(tree, low.clone(), high.clone())) {
            return Ok(None);
        }
        let upwards = direction == Direction::Forward;
        let (first, end) = if upwards { (low, high) } else { (high, low) };
        let scan =
            ScanLock { tree, upwards, first, end, bounds, number: None, reached: None, rows: 0 };
        self.next_scan += 1;
        let number = RangeId::numbered(self.next_scan);
        self.scans.insert(number, scan);
        Ok(Some(number))
    }

    /// A scan has handed out `key`, and has read so far; no key: it has come to its end.
    pub(crate) fn reached(
        &mut self,
        ssi: &Ssi,
        number: RangeId,
        (key, read): (Option<&[u8]>, Read<'_>),
        limit: usize,
    ) -> Result<()> {
        let Some(id) = self.live(Reason::DoomedRead)? else { return Ok(()) };
        let Some(scan) = self.scans.get_mut(&number) else { return Ok(()) };
        let (tree, upwards) = (scan.tree, scan.upwards);
        if self.whole.contains(&tree) {
            self.scans.remove(&number);
            return Ok(());
        }
        let further = |one: &Edge, other: &Edge| if upwards { one > other } else { one < other };
        let behind = |key: &[u8]| Edge::At(key.to_vec(), upwards);
        let to = match key {
            None if scan.reached.as_ref() == Some(&scan.end) => {
                return self.is_over(ssi, number, limit);
            }
            None => scan.end.clone(),
            Some(key) => {
                scan.rows += 1;
                // Of most rows, which have been read with others: no copy of the key is made.
                if scan.reached.as_ref().is_some_and(|reached| reached.is_past(key, upwards)) {
                    return Ok(());
                }
                let to = behind(key);
                let ahead = match read {
                    _ if scan.rows <= ROWS => None,
                    Read::Nothing => None,
                    Read::To(key) => Some(behind(key)),
                    Read::All => Some(scan.end.clone()),
                };
                ahead.filter(|ahead| further(ahead, &to)).unwrap_or(to)
            }
        };
        let to = if further(&to, &scan.end) { scan.end.clone() } else { to };
        let from = scan.reached.replace(to.clone()).unwrap_or_else(|| scan.first.clone());
        if ssi.planted.is(Fault::RangeLockLost) {
            return Ok(());
        }
        let mut bytes = 0;
        let part = if upwards { (from, to.clone()) } else { (to.clone(), from) };
        let found = scan.number;
        let of = self.table(tree);
        let mut guard = ssi.lock();
        let inner = &mut *guard;
        inner.find_writers(id, tree, (&part.0, &part.1));
        match found {
            Some(found) => inner.locks.extend_range(id, tree, (found, upwards), to),
            None => {
                bytes = 2 * key.map_or(0, <[u8]>::len) + ENTRY_BYTES;
                let found = inner.locks.lock_range(id, of, part);
                if let Some(scan) = self.scans.get_mut(&number) {
                    scan.number = Some(found);
                }
            }
        }
        inner.read_past(id)?;
        if bytes > 0 && self.is_past(limit, tree, bytes) {
            self.reads_all(ssi, inner, (id, tree))?;
        }
        drop(guard);
        if key.is_none() { self.is_over(ssi, number, limit) } else { Ok(()) }
    }

    /// A scan whose whole range is locked has come to its end.
    fn is_over(&mut self, ssi: &Ssi, number: RangeId, limit: usize) -> Result<()> {
        let (Some(id), Some(scan)) = (self.id, self.scans.remove(&number)) else { return Ok(()) };
        let (tree, (low, high)) = (scan.tree, scan.bounds);
        let is_new = !self.whole.contains(&tree) && self.complete.insert((tree, low, high));
        if is_new && self.is_past(limit, tree, 0) {
            self.reads_all(ssi, &mut ssi.lock(), (id, tree))?;
        }
        Ok(())
    }

    /// Lets go of the keys that it has read each for itself.
    fn unlock_points(&mut self, ssi: &Ssi, id: XactId) {
        let names = self.trees.drain().flat_map(|(_, of)| of.points);
        ssi.let_go(names.map(|name| (id, name)));
    }

    /// It writes a key, over a version of the commit at `version` (none: zero).
    pub(crate) fn writes(
        &mut self,
        ssi: &Ssi,
        (tree, key): (TreeId, &[u8]),
        version: Lsn,
        (command, limit): (CommandId, usize),
    ) -> Result<()> {
        let Some(id) = self.live(Reason::DoomedWrite)? else { return Ok(()) };
        self.wrote = true;
        if self.marked_whole.contains(&tree) {
            return Ok(());
        }
        if self.marked > limit {
            return self.replaces(ssi, tree);
        }
        let mut inner = ssi.lock();
        let inner = &mut *inner;
        inner.graph.wrote(id);
        if !inner.locks.mark(id, self.table(tree), key, (command, &mut inner.holders)) {
            return Ok(());
        }
        self.marked += key.len() + ENTRY_BYTES;
        Ok(inner.overwrite(id, version)?)
    }

    /// It has met, where it would write, what it may not have seen: whether anybody's reading of the key is in its way.
    pub(crate) fn would_write(&mut self, ssi: &Ssi, tree: TreeId, key: &[u8]) -> Result<()> {
        let Some(id) = self.live(Reason::DoomedWrite)? else { return Ok(()) };
        self.wrote = true;
        let mut inner = ssi.lock();
        let inner = &mut *inner;
        inner.locks.readers(tree, key, &mut inner.holders);
        Ok(inner.overwrite(id, Lsn::ZERO)?)
    }

    /// It replaces all of a tree.
    pub(crate) fn replaces(&mut self, ssi: &Ssi, tree: TreeId) -> Result<()> {
        let Some(id) = self.live(Reason::DoomedWrite)? else { return Ok(()) };
        self.wrote = true;
        if !self.marked_whole.insert(tree) {
            return Ok(());
        }
        let mut inner = ssi.lock();
        let inner = &mut *inner;
        inner.graph.wrote(id);
        let (_, table) = self.table(tree);
        inner.locks.mark_tree(id, tree, table);
        inner.locks.readers_of_all(tree, &mut inner.holders);
        Ok(inner.overwrite(id, Lsn::ZERO)?)
    }

    /// It rolls back to a savepoint: what it has read it has read.
    pub(crate) fn rolled_back_to(&mut self, ssi: &Ssi, from: CommandId) {
        if let Some(id) = self.id {
            ssi.lock().locks.unmark_since(id, from);
        }
    }

    /// Whether its commit needs no check: who has written nothing is nobody's out, and no pivot, and its place in the order of checks
    /// says nothing.
    pub(crate) fn commits_unasked(&self) -> bool {
        !self.wrote && self.status.load(Ordering::Relaxed) & DOOMED == 0
    }

    /// The check before a commit.
    pub(crate) fn check(&mut self, ssi: &Ssi) -> Result<()> {
        if self.checked {
            return Ok(());
        }
        if let Some(id) = self.live(Reason::DoomedCommit)?
            && !self.commits_unasked()
        {
            ssi.lock().graph.check(id)?;
        }
        self.checked = true;
        Ok(())
    }

    /// Its commit has its place in the log.
    pub(crate) fn claimed(&self, ssi: &Ssi, lsn: Lsn) {
        if let Some(id) = self.live(Reason::DoomedCommit).ok().flatten() {
            ssi.lock().graph.claimed(id, lsn);
        }
    }

    /// It is prepared, and no session's any more.
    pub(crate) fn leaves_session(&self, ssi: &Ssi) {
        if let Some(id) = self.live(Reason::DoomedCommit).ok().flatten() {
            ssi.lock().graph.leave_session(id);
        }
    }

    /// It ends.
    pub(crate) fn end(&mut self, ssi: &Ssi, env: &Environment) {
        let Some(id) = self.id.take() else { return };
        let mut woken = Vec::new();
        let committed = self.committed;
        let unread = {
            let mut inner = ssi.lock();
            let inner = &mut *inner;
            inner.cells.remove(&id);
            if committed {
                for (tree, of) in self.trees.drain().filter(|(_, of)| !of.points.is_empty()) {
                    inner.locks.keep_points(id, tree, of.points);
                }
            }
            let watchers = inner.graph.watchers(id);
            // One that was found safe has no place any more.
            let has_place = inner.graph.get(id).is_some();
            if has_place && inner.graph.end(id, committed) {
                for safe in inner.graph.found_safe(&watchers) {
                    inner.graph.withdraw(safe);
                    inner.locks.release(safe, true, &mut inner.unread);
                }
                woken.extend(watchers.iter().filter_map(|id| inner.cells.get(id).cloned()));
            }
            if !committed || !has_place {
                inner.locks.release(id, true, &mut inner.unread);
            }
            inner.tidy(ssi.kept_max);
            std::mem::take(&mut inner.unread)
        };
        ssi.let_go(unread);
        self.unlock_points(ssi, id);
        woken.iter().for_each(|cell| env.wake(cell));
    }

    /// What it has read, for its record; each with the tree's number before it. Where that is much, whole trees. None: it
    /// does not take part.
    pub(crate) fn encode(&self, ssi: &Ssi) -> Option<Vec<Vec<u8>>> {
        let id = self.live(Reason::DoomedCommit).ok().flatten()?;
        let mut reads = ssi.lock().locks.reads_of(id);
        for name in self.trees.values().flat_map(|of| &of.points) {
            let edge = |behind| Edge::At(name.key.to_vec(), behind);
            reads.push((name.tree, Some((edge(false), edge(true)))));
        }
        if reads.len() > RECORDED {
            let trees: HashSet<TreeId> = reads.iter().map(|(tree, _)| *tree).collect();
            reads = trees.into_iter().map(|tree| (tree, None)).collect();
        }
        let edge = |edge: &Edge| match edge {
            Edge::At(key, after) => {
                let length = (key.len() as u32).to_le_bytes();
                [&[u8::from(*after)][..], &length, key].concat()
            }
            Edge::End => vec![2],
        };
        let all = reads.iter().map(|(tree, place)| {
            let place = place.as_ref().map(|(low, high)| [edge(low), edge(high)].concat());
            [&tree.0.to_le_bytes()[..], &place.unwrap_or_default()].concat()
        });
        Some(all.collect())
    }

    /// The part of a transaction that was prepared before a restart.
    pub(crate) fn restore(ssi: &Ssi, txn: TxnId, snapshot: Lsn) -> Part {
        let mut part = Part { checked: true, wrote: true, ..Part::default() };
        part.id = Some(ssi.lock().graph.restore(txn, snapshot, &part.status));
        part
    }

    /// Locks again what its record says it has read; none if that makes no sense.
    pub(crate) fn read_again(&mut self, ssi: &Ssi, record: &[u8]) -> Option<()> {
        let id = self.id?;
        let (tree, mut rest) = record.split_first_chunk::<8>()?;
        let tree = TreeId(u64::from_le_bytes(*tree));
        let mut inner = ssi.lock();
        if rest.is_empty() {
            inner.locks.lock_tree(id, tree, None);
            return Some(());
        }
        let (low, high) = (decode_edge(&mut rest)?, decode_edge(&mut rest)?);
        if low >= high {
            return None;
        }
        inner.locks.lock_range(id, (tree, None), (low, high));
        Some(())
    }

    /// Marks again what its record says it has written.
    pub(crate) fn wrote_again(&mut self, ssi: &Ssi, tree: TreeId, key: &[u8]) {
        if let Some(id) = self.id {
            let mut inner = ssi.lock();
            let inner = &mut *inner;
            inner.locks.mark(id, (tree, None), key, (CommandId(1), &mut inner.holders));
            inner.holders.clear();
        }
    }
}

fn decode_edge(bytes: &mut &[u8]) -> Option<Edge> {
    let (kind, rest) = bytes.split_first()?;
    *bytes = rest;
    if *kind == 2 {
        return Some(Edge::End);
    }
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(Edge::At(key.to_vec(), *kind == 1))
}
