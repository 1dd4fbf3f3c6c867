//! Numbers of transactions that users see (PostgreSQL's full transaction identifiers), and which of them a snapshot has.
//!
//! A [`crate::TxnId`] is handed out in blocks to each worker, so that it says nothing about order, and a row remembers its
//! commit's LSN instead of it. Whoever asks for a transaction's number in SQL wants more: that a later one is higher,
//! and that a snapshot tells which are over (PostgreSQL 15 manual, section 9.27.9: readers of a queue remember the
//! lowest number that still runs). So such a number is given when it is first asked for, one after another, and every one is
//! on the list of those that run until its transaction has ended.
//!
//! What a snapshot has follows from its LSN: a number is over if its transaction ended at or below it. Numbers stay on the
//! list a little longer than their transactions run, never shorter: a reader may be told that one still runs whose rows
//! it sees already, and never the reverse.
//!
//! The numbers of each start of the instance begin above those of all before it ([`RUN_BITS`]); what became of those is
//! not known any more. The lower 32 bits of a number are the `xmin` of rows, which users remember for longer than a run: they
//! begin behind those of the run before, with the log's place, which commits move faster than numbers. Of this run the last [`KEPT`] ends are known. A snapshot older than an end that has been forgotten
//! has nothing of this run.

use crate::Lsn;
use crate::sync::{Mutex, lock, rank};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A run of the instance has so many bits of numbers to give; its epoch stands above them.
const RUN_BITS: u32 = 40;
/// Set in the lower half of the numbers: what is made of an LSN has it not.
const OF_TRANSACTION: u64 = 1 << 31;
/// PostgreSQL's first three numbers are no transactions'.
const FIRST_NORMAL: u64 = 3;
/// Ends that are remembered.
const KEPT: usize = 1 << 16;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XactStatus {
    /// It runs, or ended behind the snapshot.
    InProgress,
    /// It committed.
    Committed,
    /// It rolled back.
    Aborted,
    /// Nobody knows any more.
    Forgotten,
    /// Its number has not been given yet.
    Future,
}

/// Which numbers are over: those below `xmin`, and those below `xmax` that are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XactSnapshot {
    /// The lowest that runs; `xmax` if none below it does.
    pub xmin: u64,
    /// One above the highest that is over.
    pub xmax: u64,
    /// Those between that run, in order; the asking transaction's own aside.
    pub running: Vec<u64>,
}

/// The numbers of a run.
#[derive(Debug)]
pub struct XactIds {
    first: u64,
    state: Mutex<State, { rank::GARBAGE }>,
}

#[derive(Debug)]
struct State {
    next: u64,
    running: BTreeSet<u64>,
    /// Running ones that have been prepared, by name.
    prepared: HashMap<Vec<u8>, u64>,
    ended: BTreeMap<u64, End>,
    /// The newest end that has been forgotten.
    forgotten: Lsn,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: Lsn,
    committed: bool,
}

impl State {
    fn end(&mut self, number: u64, committed: bool, at: Lsn) {
        self.running.remove(&number);
        self.ended.insert(number, End { at, committed });
        if self.ended.len() > KEPT
            && let Some((_, end)) = self.ended.pop_first()
        {
            self.forgotten = self.forgotten.max(end.at);
        }
    }
}

impl XactIds {
    /// Those of the run whose log is of this epoch, and begins here.
    #[must_use]
    pub fn new(epoch: u32, begin: Lsn) -> XactIds {
        let place = begin.0 >> 3 & (OF_TRANSACTION - 1);
        let first = (u64::from(epoch) << RUN_BITS | OF_TRANSACTION | place) + FIRST_NORMAL;
        let state = State {
            next: first,
            running: BTreeSet::new(),
            prepared: HashMap::new(),
            ended: BTreeMap::new(),
            forgotten: Lsn::ZERO,
        };
        XactIds { first, state: Mutex::new(state) }
    }

    /// Gives a transaction the next number.
    #[must_use]
    pub fn give(&self) -> u64 {
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        state.running.insert(number);
        number
    }

    /// The first of this run of the instance.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number that will be given next.
    #[must_use]
    pub fn next(&self) -> u64 {
        lock(&self.state).next
    }

    /// Its transaction has ended: `at` is its commit's LSN, or that of everything visible then if it left nothing.
    pub fn end(&self, number: u64, committed: bool, at: Lsn) {
        lock(&self.state).end(number, committed, at);
    }

    /// Its transaction has been prepared under this name, and runs on.
    pub fn prepare(&self, number: u64, name: &[u8]) {
        lock(&self.state).prepared.insert(name.to_vec(), number);
    }

    /// The number of the transaction that is prepared under this name, if it was given one since the start.
    #[must_use]
    pub fn of_prepared(&self, name: &[u8]) -> Option<u64> {
        lock(&self.state).prepared.get(name).copied()
    }

    /// The transaction that was prepared under this name has ended.
    pub fn end_prepared(&self, name: &[u8], committed: bool, at: Lsn) {
        let mut state = lock(&self.state);
        if let Some(number) = state.prepared.remove(name) {
            state.end(number, committed, at);
        }
    }

    /// What a snapshot at `view` has, asked by the transaction with the number `own`.
    #[must_use]
    pub fn snapshot(&self, view: Lsn, own: Option<u64>) -> XactSnapshot {
        let state = lock(&self.state);
        if view < state.forgotten {
            return XactSnapshot { xmin: self.first, xmax: self.first, running: Vec::new() };
        }
        let later = state.ended.iter().filter(|(_, end)| end.at > view).map(|(number, _)| *number);
        let mut running: BTreeSet<u64> = later.collect();
        running.extend(&state.running);
        let mut xmax = state.next;
        while xmax > self.first && running.contains(&(xmax - 1)) {
            xmax -= 1;
        }
        let xmin = running.first().map_or(xmax, |lowest| xmax.min(*lowest));
        let others = running.range(..xmax).filter(|number| Some(**number) != own);
        XactSnapshot { xmin, xmax, running: others.copied().collect() }
    }

    /// What became of a transaction, as a snapshot at `view` knows it.
    #[must_use]
    pub fn status(&self, number: u64, view: Lsn) -> XactStatus {
        let state = lock(&self.state);
        match number {
            0 => XactStatus::Forgotten,
            // PostgreSQL's own beginnings.
            1..FIRST_NORMAL => XactStatus::Committed,
            _ if number >= state.next => XactStatus::Future,
            _ if state.running.contains(&number) => XactStatus::InProgress,
            _ => match state.ended.get(&number) {
                Some(end) if end.at > view => XactStatus::InProgress,
                Some(end) if end.committed => XactStatus::Committed,
                Some(_) => XactStatus::Aborted,
                None => XactStatus::Forgotten,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_those_of_a_later_run_are_higher() {
        let ids = XactIds::new(1, Lsn(80));
        let first = (1 << 40) + (1 << 31) + 10 + 3;
        assert_eq!(ids.give(), first);
        assert_eq!(ids.give(), first + 1);
        assert_eq!(ids.next(), first + 2);
        assert!(XactIds::new(2, Lsn::ZERO).give() > ids.next());
    }

    #[test]
    fn a_snapshot_has_what_ended_at_or_below_it() {
        let ids = XactIds::new(0, Lsn::ZERO);
        let (a, b, c) = (ids.give(), ids.give(), ids.give());
        let told = |view, own| {
            let XactSnapshot { xmin, xmax, running } = ids.snapshot(Lsn(view), own);
            (xmin, xmax, running)
        };
        assert_eq!(told(10, None), (a, a, vec![]), "nothing is over");
        ids.end(b, true, Lsn(20));
        assert_eq!(told(10, None), (a, a, vec![]), "what ended later runs");
        assert_eq!(told(20, None), (a, c, vec![a]));
        assert_eq!(told(20, Some(a)), (a, c, vec![]), "the own one bounds, and is not listed");
        ids.end(a, false, Lsn(20));
        assert_eq!(told(20, None), (c, c, vec![]));
        assert_eq!(ids.status(a, Lsn(20)), XactStatus::Aborted);
        assert_eq!(ids.status(b, Lsn(20)), XactStatus::Committed);
        assert_eq!(ids.status(b, Lsn(19)), XactStatus::InProgress);
        assert_eq!(ids.status(c, Lsn(20)), XactStatus::InProgress);
        assert_eq!(ids.status(c + 1, Lsn(20)), XactStatus::Future);
        assert_eq!(ids.status(0, Lsn(20)), XactStatus::Forgotten);
        assert_eq!(ids.status(2, Lsn(20)), XactStatus::Committed);
    }

    #[test]
    fn what_is_prepared_runs_until_it_is_resolved() {
        let ids = XactIds::new(0, Lsn::ZERO);
        let (a, b) = (ids.give(), ids.give());
        ids.prepare(a, b"x");
        ids.end(b, true, Lsn(5));
        assert_eq!(ids.snapshot(Lsn(9), None).running, [a]);
        ids.end_prepared(b"y", true, Lsn(6));
        ids.end_prepared(b"x", true, Lsn(7));
        assert_eq!(ids.snapshot(Lsn(9), None).xmin, b + 1);
        assert_eq!(ids.status(a, Lsn(9)), XactStatus::Committed);
    }

    #[test]
    fn a_snapshot_older_than_what_is_forgotten_has_nothing() {
        let ids = XactIds::new(0, Lsn::ZERO);
        let first = ids.next();
        for at in 1..=KEPT as u64 + 1 {
            let number = ids.give();
            ids.end(number, true, Lsn(at));
        }
        assert_eq!(ids.status(first, Lsn::MAX), XactStatus::Forgotten);
        assert_eq!(ids.status(first + 1, Lsn::MAX), XactStatus::Committed);
        assert_eq!(ids.snapshot(Lsn(0), None).xmax, first);
        assert_eq!(ids.snapshot(Lsn::MAX, None).xmin, ids.next());
    }
}
