//! The graph of rw-antidependencies between serializable transactions, and the test for dangerous structures.
//!
//! Papers: Cahill, Röhm and Fekete, *Serializable Isolation for Snapshot Databases*, SIGMOD 2008; Ports and Grittner,
//! *Serializable Snapshot Isolation in PostgreSQL*, VLDB 2012, sections 3.3 (commit ordering), 4 (read-only transactions), 5.4
//! (who is cancelled) and 6.2 (summarization). The rules, and the words in which a refusal is told, are PostgreSQL 15's.
//!
//! An edge goes from a reader to a writer of what it has read and does not see. Under snapshot isolation every cycle has two such
//! edges in a row, `in -> pivot -> out`, and `out` is the first of the cycle to commit. So whoever adds an edge looks whether it
//! completes such a structure whose `out` has committed or is past its own check, and a committing transaction whether it is such
//! an `out` itself. The pivot is cancelled where it still can be; else whoever acts.
//!
//! Invariants. (1) An order number is given to each check before a commit and to each end of one, under one latch. (2) A
//! transaction that has passed its check is never doomed. (3) A committed transaction stays for as long as a running one
//! began before its end, at least as a summary.

use crate::{Lsn, TxnId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A place in the order of checks and commits.
pub(crate) type Seq = u64;

/// Not yet.
const NEVER: Seq = u64::MAX;

/// Bits of what a transaction is told about itself.
pub(crate) const DOOMED: u32 = 1;
pub(crate) const SAFE: u32 = 2;
pub(crate) const UNSAFE: u32 = 4;

/// A serializable transaction, as long as anybody may have to know of it. Numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct XactId(u64);

impl XactId {
    /// All those together of which only a summary is left.
    pub(crate) const OLD: XactId = XactId(0);
}

/// Why a transaction is refused; the text is PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It was doomed, and reads.
    #[error("Canceled on identification as a pivot, during conflict out checking.")]
    DoomedRead,
    /// It was doomed, and writes.
    #[error("Canceled on identification as a pivot, during conflict in checking.")]
    DoomedWrite,
    /// It was doomed, and commits.
    #[error("Canceled on identification as a pivot, during commit attempt.")]
    DoomedCommit,
    /// Its own write makes it a pivot.
    #[error("Canceled on identification as a pivot, during write.")]
    Write,
    /// It reads past a pivot that can no longer be cancelled.
    #[error("Canceled on conflict out to pivot {0}, during read.")]
    Read(u32),
    /// It reads past a pivot of which a summary is left.
    #[error("Canceled on conflict out to old pivot {0}.")]
    OldPivot(u32),
    /// It reads past a pivot whose own conflict is with a summary.
    #[error("Canceled on conflict out to old pivot.")]
    SummarizedPivot,
    /// It is a pivot, and its out conflict is with one of which a summary is left.
    #[error(
        "Canceled on identification as a pivot, with conflict out to old committed transaction {0}."
    )]
    OldCommitted(u32),
    /// It would be the first to commit beside a pivot that is prepared.
    #[error("Canceled on commit attempt with conflict in from prepared pivot.")]
    PreparedPivot,
    /// Validation (`occ`): what it has read has been changed.
    #[error("Canceled on commit attempt with conflict out to a committed transaction.")]
    Validation,
    /// Timestamp ordering: a younger transaction has written what it reads.
    #[error("Canceled on a read that comes too late: a younger transaction has written.")]
    ReadTooLate,
    /// Timestamp ordering: a younger transaction has read or written what it writes.
    #[error("Canceled on a write that comes too late: a younger transaction has read or written.")]
    WriteTooLate,
    /// `hstore`: it needs a partition that comes before one that it is in, and somebody else is there.
    #[error(
        "Canceled on leaving its partitions: another one is busy. Run again, it begins there, too."
    )]
    LeftPartitions,
    /// `2pl_no_wait`: somebody has a lock that excludes the one it needs.
    #[error("Canceled on a lock that is busy.")]
    LockBusy,
    /// `2pl_wait_die`: an older transaction has a lock that excludes the one it needs.
    #[error("Canceled on a lock of an older transaction: the younger one dies.")]
    Died,
}

/// Who is refused, and why.
type Checked = Result<(), Reason>;

/// One transaction.
#[derive(Debug)]
pub(crate) struct Xact {
    pub(crate) txn: TxnId,
    /// The session as clients know it; 0 of one that is prepared.
    pub(crate) pid: u32,
    /// What its own thread looks at without the latch.
    pub(crate) status: Arc<AtomicU32>,
    /// Commits it can have seen end before or at this.
    began: Seq,
    snapshot: Lsn,
    /// Its commit's LSN once that is claimed.
    lsn: Lsn,
    prepared: Seq,
    committed: Seq,
    /// Declared READ ONLY, or committed without a write.
    read_only: bool,
    declared_read_only: bool,
    wrote: bool,
    /// At its commit it had an out conflict to one that had committed; the first such place.
    earliest_out: Seq,
    summary_in: bool,
    summary_out: bool,
    ins: Vec<XactId>,
    outs: Vec<XactId>,
    /// Of a read-only one: writers that may yet make its snapshot unsafe. Of a writer: who waits to know.
    possibly_unsafe: Vec<XactId>,
}

impl Xact {
    fn is_doomed(&self) -> bool {
        self.status.load(Ordering::Relaxed) & DOOMED != 0
    }

    fn doom(&self) {
        self.status.fetch_or(DOOMED, Ordering::Relaxed);
    }

    fn is_prepared(&self) -> bool {
        self.prepared != NEVER
    }

    pub(crate) fn is_committed(&self) -> bool {
        self.committed != NEVER
    }

    fn has_conflict_out(&self) -> bool {
        self.earliest_out != NEVER
    }
}

/// A writer, as it is noted beside what it has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// One that is in the graph.
    Live(XactId),
    /// A summary of one.
    Old { txn: TxnId, lsn: Lsn, committed: Seq, earliest_out: Seq },
}

/// Whom a read-only transaction that begins finds.
pub(crate) enum Begun {
    /// Its snapshot is safe: it need not take part.
    Safe,
    /// It takes part.
    Tracked(XactId),
}

/// What of a finished transaction is no longer needed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// All of it.
    All(XactId),
    /// What it has read.
    Reads(XactId),
    /// It becomes part of the summary.
    Summarize(XactId, Writer, Seq),
}

/// The graph.
#[derive(Debug)]
pub(crate) struct Graph {
    last: Seq,
    next: u64,
    xacts: FxHashMap<XactId, Xact>,
    running: BTreeSet<(Seq, XactId)>,
    /// Committed ones in their order; the first `cleared` have no reads left.
    finished: VecDeque<XactId>,
    cleared: usize,
    /// Running ones that are not declared READ ONLY.
    writable: usize,
    /// The newest commit.
    pub(crate) newest: Lsn,
}

impl Graph {
    pub(crate) fn new() -> Graph {
        Graph {
            last: 1,
            next: 1,
            xacts: FxHashMap::default(),
            running: BTreeSet::new(),
            finished: VecDeque::new(),
            cleared: 0,
            writable: 0,
            newest: Lsn::ZERO,
        }
    }

    pub(crate) fn get(&self, id: XactId) -> Option<&Xact> {
        self.xacts.get(&id)
    }

    fn xact(&self, id: XactId) -> &Xact {
        self.xacts.get(&id).expect("an edge ends where a transaction is released")
    }

    fn xact_mut(&mut self, id: XactId) -> &mut Xact {
        self.xacts.get_mut(&id).expect("an edge ends where a transaction is released")
    }

    /// A transaction begins whose snapshot is taken under the same latch. `as_of` is somebody's whose snapshot it shares.
    pub(crate) fn begin(
        &mut self,
        (txn, pid): (TxnId, u32),
        (snapshot, as_of): (Lsn, Option<XactId>),
        read_only: bool,
        status: &Arc<AtomicU32>,
    ) -> Begun {
        let writers: Vec<XactId> = if read_only { self.threats() } else { Vec::new() };
        if read_only && writers.is_empty() {
            return Begun::Safe;
        }
        let id = XactId(self.next);
        self.next += 1;
        let began = as_of.and_then(|id| self.get(id)).map_or(self.last, |other| other.began);
        for writer in &writers {
            self.xact_mut(*writer).possibly_unsafe.push(id);
        }
        if !read_only {
            self.writable += 1;
        }
        self.running.insert((began, id));
        self.xacts.insert(
            id,
            Xact {
                txn,
                pid,
                status: Arc::clone(status),
                began,
                snapshot,
                lsn: Lsn::MAX,
                prepared: NEVER,
                committed: NEVER,
                read_only,
                declared_read_only: read_only,
                wrote: false,
                earliest_out: NEVER,
                summary_in: false,
                summary_out: false,
                ins: Vec::new(),
                outs: Vec::new(),
                possibly_unsafe: writers,
            },
        );
        Begun::Tracked(id)
    }

    /// A prepared transaction of before a restart: whom it met is not known, so the worst is assumed.
    pub(crate) fn restore(&mut self, txn: TxnId, snapshot: Lsn, status: &Arc<AtomicU32>) -> XactId {
        let Begun::Tracked(id) = self.begin((txn, 0), (snapshot, None), false, status) else {
            unreachable!("only who reads only begins without a place")
        };
        self.last += 1;
        let place = self.last;
        let xact = self.xact_mut(id);
        (xact.prepared, xact.wrote) = (place, true);
        (xact.summary_in, xact.summary_out) = (true, true);
        id
    }

    /// Those that may make a snapshot unsafe that is taken now.
    fn threats(&self) -> Vec<XactId> {
        let running = self.running.iter().map(|(_, id)| *id);
        let threatens = |id: &XactId| {
            let xact = self.xact(*id);
            !xact.is_doomed() && !xact.read_only
        };
        running.filter(threatens).collect()
    }

    /// The running transaction that reads by this snapshot.
    pub(crate) fn with_snapshot(&self, snapshot: Lsn) -> Option<XactId> {
        let mut running = self.running.iter().map(|(_, id)| *id);
        running.find(|id| self.xact(*id).snapshot == snapshot)
    }

    /// Whom a read-only transaction waits for to know whether its snapshot is safe.
    pub(crate) fn threatens(&self, id: XactId) -> Vec<u32> {
        let xact = self.get(id).into_iter();
        let threats = xact.flat_map(|xact| &xact.possibly_unsafe);
        threats.filter_map(|id| self.get(*id)).map(|xact| xact.pid).collect()
    }

    /// It is no session's any more.
    pub(crate) fn leave_session(&mut self, id: XactId) {
        self.xact_mut(id).pid = 0;
    }

    /// Its commit has its place in the log.
    pub(crate) fn claimed(&mut self, id: XactId, lsn: Lsn) {
        self.xact_mut(id).lsn = lsn;
        self.newest = self.newest.max(lsn);
    }

    /// It has written something.
    pub(crate) fn wrote(&mut self, id: XactId) {
        self.xact_mut(id).wrote = true;
    }

    /// Of several who have written a key, the one whose version came next after what `me` sees, if any has committed: the
    /// others have overwritten that, and come behind it in any order.
    pub(crate) fn next_version(&self, me: XactId, writers: &[Writer]) -> Option<Writer> {
        let snapshot = self.xact(me).snapshot;
        let lsn = |writer: &Writer| match *writer {
            Writer::Live(id) => self.get(id).map_or(Lsn::MAX, |xact| xact.lsn),
            Writer::Old { lsn, .. } => lsn,
        };
        let unseen = writers.iter().filter(|writer| lsn(writer) > snapshot);
        let first = unseen.min_by_key(|writer| lsn(writer)).copied();
        first.filter(|writer| lsn(writer) != Lsn::MAX)
    }

    fn has_edge(&self, reader: XactId, writer: XactId) -> bool {
        self.xact(reader).outs.contains(&writer)
    }

    /// `me` has read past what `writer` has written.
    pub(crate) fn reads_past(&mut self, me: XactId, writer: Writer) -> Checked {
        let reader = self.xact(me);
        if reader.is_doomed() {
            return Err(Reason::DoomedRead);
        }
        let id = match writer {
            Writer::Live(id) => id,
            Writer::Old { txn, lsn, earliest_out, .. } => {
                if lsn <= reader.snapshot {
                    return Ok(());
                }
                if earliest_out != NEVER && (!reader.read_only || earliest_out <= reader.began) {
                    return Err(Reason::OldPivot(txn.0 as u32));
                }
                if reader.summary_in || !reader.ins.is_empty() {
                    return Err(Reason::OldCommitted(txn.0 as u32));
                }
                self.xact_mut(me).summary_out = true;
                return Ok(());
            }
        };
        let Some(other) = self.xacts.get(&id) else { return Ok(()) };
        if id == me || other.is_doomed() || other.lsn <= reader.snapshot || self.has_edge(me, id) {
            return Ok(());
        }
        if other.summary_out {
            if other.is_prepared() {
                return Err(Reason::SummarizedPivot);
            }
            other.doom();
            return Ok(());
        }
        // Whoever only reads then comes first.
        let first = !other.has_conflict_out() || reader.began < other.earliest_out;
        if reader.read_only && other.is_committed() && first {
            return Ok(());
        }
        self.add_edge(me, id, me)
    }

    /// `me` writes what `reader` has read; `seq` is that of a summary's last end. What it overwrites is of the commit at
    /// `version`: who has read an older one has been overwritten by somebody else.
    pub(crate) fn overwrites(
        &mut self,
        me: XactId,
        (reader, seq): (XactId, Seq),
        version: Lsn,
    ) -> Checked {
        let writer = self.xact(me);
        if reader == XactId::OLD {
            if seq <= writer.began {
                return Ok(());
            }
            // Of a summary the last end is known, and not whether it wrote.
            if self.completes_pivot_in_writer((seq, None), me) {
                self.cancel(me, me)?;
            }
            self.xact_mut(me).summary_in = true;
            return Ok(());
        }
        let Some(other) = self.xacts.get(&reader) else { return Ok(()) };
        let concurrent = !other.is_committed() || other.committed > writer.began;
        let read_older = version > other.snapshot;
        if reader == me
            || read_older
            || other.is_doomed()
            || !concurrent
            || self.has_edge(reader, me)
        {
            return Ok(());
        }
        self.add_edge(reader, me, me)
    }

    fn add_edge(&mut self, reader: XactId, writer: XactId, me: XactId) -> Checked {
        let from = self.xact(reader);
        let only_reads_since = from.read_only.then_some(from.began);
        let dangerous = self.completes_pivot_in_writer((from.committed, only_reads_since), writer)
            || self.completes_pivot_in_reader(reader, writer);
        if dangerous {
            self.cancel(writer, me)?;
        }
        self.xact_mut(reader).outs.push(writer);
        self.xact_mut(writer).ins.push(reader);
        Ok(())
    }

    /// `reader -> writer -> out`, where `out` comes first; of the reader when it ended, and behind what it began if it only reads.
    fn completes_pivot_in_writer(&self, reader: (Seq, Option<Seq>), writer: XactId) -> bool {
        let ((ended, only_reads_since), writer) = (reader, self.xact(writer));
        if writer.summary_out || writer.is_committed() && writer.has_conflict_out() {
            return true;
        }
        writer.outs.iter().map(|id| self.xact(*id)).any(|out| {
            out.is_prepared()
                && out.prepared <= ended
                && out.prepared <= writer.committed
                && only_reads_since.is_none_or(|began| out.prepared <= began)
        })
    }

    /// `in -> reader -> writer`, where the writer comes first.
    fn completes_pivot_in_reader(&self, reader: XactId, writer: XactId) -> bool {
        let (reader, writer) = (self.xact(reader), self.xact(writer));
        if !writer.is_prepared() || reader.read_only {
            return false;
        }
        reader.summary_in
            || reader.ins.iter().map(|id| self.xact(*id)).any(|first| {
                !first.is_doomed()
                    && first.committed >= writer.prepared
                    && (!first.read_only || first.began >= writer.prepared)
            })
    }

    fn cancel(&mut self, writer: XactId, me: XactId) -> Checked {
        let xact = self.xact(writer);
        if writer == me {
            return Err(Reason::Write);
        }
        if xact.is_prepared() {
            return Err(Reason::Read(xact.txn.0 as u32));
        }
        xact.doom();
        Ok(())
    }

    /// The check before a commit: afterwards nobody dooms `me` any more.
    pub(crate) fn check(&mut self, me: XactId) -> Checked {
        let xact = self.xact(me);
        if xact.is_doomed() {
            return Err(Reason::DoomedCommit);
        }
        for pivot in xact.ins.iter().map(|id| self.xact(*id)) {
            if pivot.is_committed() || pivot.is_doomed() {
                continue;
            }
            let first = pivot.ins.iter().any(|id| {
                let first = self.xact(*id);
                *id == me || !first.is_committed() && !first.read_only && !first.is_doomed()
            });
            if first {
                if pivot.is_prepared() {
                    return Err(Reason::PreparedPivot);
                }
                // The pivot goes and not who commits, or whoever is run again might fail for ever.
                pivot.doom();
            }
        }
        self.last += 1;
        self.xact_mut(me).prepared = self.last;
        Ok(())
    }

    /// It has ended. True: somebody who waits for a safe snapshot may know more.
    pub(crate) fn end(&mut self, me: XactId, committed: bool) -> bool {
        let Some(xact) = self.xacts.get_mut(&me) else { return false };
        self.running.remove(&(xact.began, me));
        if committed {
            self.last += 1;
            xact.committed = self.last;
            xact.read_only |= !xact.wrote;
        } else {
            xact.doom();
            xact.prepared = NEVER;
        }
        let (declared, read_only, summary_out, last) =
            (xact.declared_read_only, xact.read_only, xact.summary_out, self.last);
        let (ins, outs) = (std::mem::take(&mut xact.ins), std::mem::take(&mut xact.outs));
        let mut earliest = xact.earliest_out;
        if committed && !read_only && summary_out {
            earliest = 0;
        }
        let mut kept = Vec::new();
        for id in outs {
            let out = self.xact(id);
            if committed && !read_only && out.is_committed() {
                earliest = earliest.min(out.prepared);
            }
            if !committed || out.is_committed() || out.began >= last {
                self.xact_mut(id).ins.retain(|reader| *reader != me);
            } else {
                kept.push(id);
            }
        }
        let xact = self.xact_mut(me);
        (xact.outs, xact.earliest_out) = (kept, earliest);
        let mut kept = Vec::new();
        for id in ins {
            let reader = self.xact(id);
            if !committed || reader.is_committed() || reader.read_only {
                self.xact_mut(id).outs.retain(|writer| *writer != me);
            } else {
                kept.push(id);
            }
        }
        let xact = self.xact_mut(me);
        xact.ins = kept;
        let others = std::mem::take(&mut xact.possibly_unsafe);
        let threatens = committed && !read_only && earliest != NEVER;
        for other in &others {
            let Some(other_xact) = self.xacts.get_mut(other) else { continue };
            other_xact.possibly_unsafe.retain(|id| *id != me);
            if declared {
                continue;
            }
            if threatens && earliest <= other_xact.began {
                other_xact.status.fetch_or(UNSAFE, Ordering::Relaxed);
                let rest = std::mem::take(&mut other_xact.possibly_unsafe);
                for id in rest {
                    self.xact_mut(id).possibly_unsafe.retain(|reader| reader != other);
                }
            } else if other_xact.possibly_unsafe.is_empty()
                && other_xact.status.load(Ordering::Relaxed) & UNSAFE == 0
            {
                other_xact.status.fetch_or(SAFE, Ordering::Relaxed);
            }
        }
        if !declared {
            self.writable -= 1;
        }
        if committed {
            self.finished.push_back(me);
        } else {
            self.xacts.remove(&me);
        }
        !declared && !others.is_empty()
    }

    /// Read-only transactions that have been found safe, and need nothing any more.
    pub(crate) fn found_safe(&self, of: &[XactId]) -> Vec<XactId> {
        let safe = |id: &&XactId| {
            self.get(**id).is_some_and(|xact| xact.status.load(Ordering::Relaxed) & SAFE != 0)
        };
        of.iter().filter(safe).copied().collect()
    }

    /// Who waits to know whether its snapshot is safe, and for `id`.
    pub(crate) fn watchers(&self, id: XactId) -> Vec<XactId> {
        self.get(id).map(|xact| xact.possibly_unsafe.clone()).unwrap_or_default()
    }

    /// Finds something to release, and forgets it here; at most `kept_max` finished ones stay.
    pub(crate) fn release(&mut self, kept_max: usize) -> Option<Release> {
        let oldest = self.running.first().map_or(NEVER, |(began, _)| *began);
        let first = *self.finished.front()?;
        if self.xact(first).committed <= oldest {
            self.finished.pop_front();
            self.cleared = self.cleared.saturating_sub(1);
            self.forget(first);
            return Some(Release::All(first));
        }
        if self.writable == 0 && self.cleared < self.finished.len() {
            // Whoever runs only reads, and a writer that is still to begin sees all of these.
            let id = self.finished[self.cleared];
            if self.xact(id).read_only {
                self.finished.remove(self.cleared);
                self.forget(id);
                return Some(Release::All(id));
            }
            self.cleared += 1;
            for reader in std::mem::take(&mut self.xact_mut(id).ins) {
                self.xact_mut(reader).outs.retain(|writer| *writer != id);
            }
            return Some(Release::Reads(id));
        }
        (self.finished.len() > kept_max).then(|| self.summarize(first))
    }

    /// The oldest committed one becomes a summary.
    fn summarize(&mut self, id: XactId) -> Release {
        self.finished.pop_front();
        self.cleared = self.cleared.saturating_sub(1);
        let xact = self.xact(id);
        let (txn, lsn, committed, earliest_out) =
            (xact.txn, xact.lsn, xact.committed, xact.earliest_out);
        for writer in xact.outs.clone() {
            self.xact_mut(writer).summary_in = true;
        }
        for reader in self.xact(id).ins.clone() {
            self.xact_mut(reader).summary_out = true;
        }
        self.forget(id);
        Release::Summarize(id, Writer::Old { txn, lsn, committed, earliest_out }, committed)
    }

    fn forget(&mut self, id: XactId) {
        let Some(xact) = self.xacts.remove(&id) else { return };
        for writer in xact.outs {
            self.xact_mut(writer).ins.retain(|reader| *reader != id);
        }
        for reader in xact.ins {
            self.xact_mut(reader).outs.retain(|writer| *writer != id);
        }
        for other in xact.possibly_unsafe {
            if let Some(other) = self.xacts.get_mut(&other) {
                other.possibly_unsafe.retain(|other| *other != id);
            }
        }
    }

    /// A transaction takes part no longer: its snapshot was found safe, or it tries another.
    pub(crate) fn withdraw(&mut self, id: XactId) {
        if let Some(xact) = self.xacts.get(&id) {
            self.running.remove(&(xact.began, id));
            self.forget(id);
        }
    }

    /// The place that every running transaction began behind, or at.
    pub(crate) fn oldest(&self) -> Seq {
        self.running.first().map_or(NEVER, |(began, _)| *began)
    }

    /// How many are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.xacts.len()
    }
}
