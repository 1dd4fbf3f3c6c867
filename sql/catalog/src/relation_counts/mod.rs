//! What is counted of tables and indexes: `pg_stat_all_tables`, `pg_stat_all_indexes`, `pg_stat_database` and their kin.
//!
//! A session counts for itself. For each relation that its statements meet it has one [`Count`]; an operator looks its own
//! up once and keeps it with the machine, so that counting a row is one addition to a number that no other thread writes
//! (relaxed loads and stores, no exclusive access). When the transaction ends, the counts of the relations that it has met,
//! and of no others, are added to those of ended transactions; whether changed rows are alive or dead is known only then.
//! Whoever reads adds up all sessions, those that are gone included, and keeps the sums to the end of his transaction, as
//! PostgreSQL does (`stats_fetch_consistency`). Nothing is reset in a session: a reset, VACUUM, ANALYZE and TRUNCATE
//! remember how far the counts had come, and what is shown is what has come since.
//!
//! Difference: PostgreSQL's sessions hand their counts over once a second at most, and ten seconds after they have gone
//! idle; here all that has ended shows at once. Nothing outlives the process.

pub mod cluster;
pub mod endings;
pub mod functions;
#[cfg(test)]
mod tests;

use cluster::growth;
pub use cluster::{ClusterCounts, Seen};
use endings::Transactions;
use functions::OwnFunctions;
use rustc_hash::FxHashMap;
use sql_types::Oid;
use std::cell::{Cell, RefCell};
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use txn::{Abort, SchemeKind, SessionWait};

/// How many relations a session counts, or how many are kept of sessions that are gone, before it is looked which of them
/// are of no use any more.
const RELATIONS_KEPT: usize = 256;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A scan of a table, or of an index, was begun.
    Scanned,
    /// A row was read from the table, or an entry from the index.
    Returned,
    /// A row was read by what an index said.
    Fetched,
    /// A row was inserted.
    Inserted,
    /// A row was updated.
    Updated,
    /// One of those updates left all indexes as they were.
    UpdatedAlone,
    /// A row was deleted.
    Deleted,
    /// A version has become dead: known when the transaction ends.
    Died,
    /// A row has changed, which ANALYZE has not seen yet: known when the transaction ends.
    Changed,
    /// There is one row more: known when the transaction ends.
    Appeared,
    /// There is one row less: known when the transaction ends.
    Vanished,
}

const EVENTS: usize = 11;

/// How often each event has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; EVENTS]);

impl Index<Event> for Counts {
    type Output = u64;

    fn index(&self, event: Event) -> &u64 {
        &self.0[event as usize]
    }
}

impl IndexMut<Event> for Counts {
    fn index_mut(&mut self, event: Event) -> &mut u64 {
        &mut self.0[event as usize]
    }
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    fn since(&self, base: &Counts) -> Counts {
        let mut left = *self;
        left.0.iter_mut().zip(base.0).for_each(|(count, base)| *count = count.saturating_sub(base));
        left
    }
}

/// The same where one thread counts and others read.
#[derive(Debug, Default)]
struct Cells([AtomicU64; EVENTS]);

impl Cells {
    #[inline]
    fn add(&self, event: Event, by: u64) {
        let cell = &self.0[event as usize];
        // Relaxed: only the session writes, and nobody concludes anything from what he reads about other memory.
        cell.store(cell.load(Relaxed) + by, Relaxed);
    }

    fn get(&self, event: Event) -> u64 {
        self.0[event as usize].load(Relaxed)
    }

    fn set(&self, event: Event, value: u64) {
        self.0[event as usize].store(value, Relaxed);
    }

    fn all(&self) -> Counts {
        Counts(std::array::from_fn(|at| self.0[at].load(Relaxed)))
    }
}

/// What a session counts of one relation.
#[derive(Debug)]
pub struct Count {
    relation: Oid,
    /// Its place in the session's list.
    place: AtomicU32,
    /// Whether the open transaction has met the relation.
    met: AtomicBool,
    /// Of the open transaction.
    running: Cells,
    /// Of those that have ended.
    ended: Cells,
}

impl Count {
    /// Counts an event of the open transaction, which has met the relation.
    #[inline]
    pub fn add(&self, event: Event) {
        self.running.add(event, 1);
    }
}

/// Rows inserted, updated and deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Changes {
    inserted: u64,
    updated: u64,
    deleted: u64,
}

impl Changes {
    /// Those that `count` tells of in the open transaction.
    fn running(count: &Count) -> Changes {
        Changes {
            inserted: count.running.get(Event::Inserted),
            updated: count.running.get(Event::Updated),
            deleted: count.running.get(Event::Deleted),
        }
    }

    fn run(self, count: &Count) {
        count.running.set(Event::Inserted, self.inserted);
        count.running.set(Event::Updated, self.updated);
        count.running.set(Event::Deleted, self.deleted);
    }

    fn plus(self, other: Changes) -> Changes {
        Changes {
            inserted: self.inserted + other.inserted,
            updated: self.updated + other.updated,
            deleted: self.deleted + other.deleted,
        }
    }

    fn minus(self, other: Changes) -> Changes {
        Changes {
            inserted: self.inserted.saturating_sub(other.inserted),
            updated: self.updated.saturating_sub(other.updated),
            deleted: self.deleted.saturating_sub(other.deleted),
        }
    }
}

/// A count, and what only its session knows of the open transaction.
#[derive(Debug)]
struct Own {
    count: Arc<Count>,
    /// Changes that a rollback to a savepoint has taken back.
    undone: Changes,
    /// Where the relation has been truncated: the changes before, which count if that is taken back.
    truncated: Option<Changes>,
}

impl Own {
    /// Changes that stand, as far as the transaction has come.
    fn standing(&self) -> Changes {
        Changes::running(&self.count).minus(self.undone)
    }

    /// The truncation is taken back.
    fn restore(&mut self) {
        if let Some(before) = self.truncated.take() {
            self.undone.plus(before).run(&self.count);
        }
    }

    /// The transaction has ended.
    fn end(&mut self, committed: bool, cluster: Option<(&ClusterCounts, Oid)>) {
        let Own { count, .. } = self;
        count.met.store(false, Relaxed);
        let has_changed = Changes::running(count) != Changes::default() || self.truncated.is_some();
        if has_changed {
            self.end_changes(committed, cluster);
        }
        let Count { running, ended, .. } = &*self.count;
        // The events of reading come first.
        let events = if has_changed { running.0.len() } else { Event::Inserted as usize };
        for (now, sum) in running.0[..events].iter().zip(&ended.0) {
            let by = now.load(Relaxed);
            if by > 0 {
                now.store(0, Relaxed);
                sum.store(sum.load(Relaxed) + by, Relaxed);
            }
        }
    }

    fn end_changes(&mut self, committed: bool, cluster: Option<(&ClusterCounts, Oid)>) {
        if !committed {
            self.restore();
        }
        let Own { count, undone, .. } = self;
        let changes = Changes::running(count);
        if committed {
            let standing = changes.minus(*undone);
            let mut dead = standing.updated + standing.deleted;
            if self.truncated.take().is_none() {
                dead += undone.inserted + undone.updated;
            } else if let Some((cluster, database)) = cluster {
                cluster.emptied(database, count.relation);
            }
            count.running.add(Event::Died, dead);
            let changed = standing.inserted + standing.updated + standing.deleted;
            count.running.add(Event::Changed, changed);
            count.running.add(Event::Appeared, standing.inserted);
            count.running.add(Event::Vanished, standing.deleted);
        } else {
            count.running.add(Event::Died, changes.inserted + changes.updated);
        }
        self.undone = Changes::default();
    }
}

/// How far the counts of a transaction had come at a savepoint, in the order in which it has met relations.
#[derive(Debug, Default)]
pub struct CountsSavepoint(Vec<(Changes, bool)>);

/// What a session counts.
#[derive(Default)]
pub struct SessionCounts {
    database: Oid,
    /// All sessions' counts, and the number of this one there; none where no session counts.
    cluster: Option<(Arc<ClusterCounts>, u64)>,
    transactions: Arc<Transactions>,
    /// What ends the open transaction, where it does not commit: what a statement has failed with.
    reason: Cell<Option<Abort>>,
    state: RefCell<State>,
    functions: OwnFunctions,
    /// What was seen last of all that is counted, to the end of the transaction.
    seen: RefCell<Option<Arc<Seen>>>,
    /// The session looks after tables by itself.
    automatic: bool,
    /// It stands for that of a session, which stays.
    stands_in: bool,
}

#[derive(Debug, Default)]
struct State {
    counts: Vec<Own>,
    places: FxHashMap<Oid, u32>,
    /// The relations that the open transaction has met, by place.
    met: Vec<u32>,
    /// How many there may be before it is looked which are of no use.
    limit: usize,
}

impl Drop for SessionCounts {
    fn drop(&mut self) {
        if let Some((cluster, session)) = self.cluster.as_ref().filter(|_| !self.stands_in) {
            cluster.leave(*session);
        }
    }
}

impl SessionCounts {
    /// Of a session that waits as `wait` in a database of this scheme.
    #[must_use]
    pub fn new(
        cluster: &Arc<ClusterCounts>,
        (database, scheme): (Oid, SchemeKind),
        wait: &Arc<SessionWait>,
    ) -> SessionCounts {
        let transactions = Arc::new(Transactions::of(wait));
        let session = cluster.enter((database, scheme), &transactions);
        let cluster = Some((Arc::clone(cluster), session));
        let (state, seen) = Default::default();
        SessionCounts {
            database,
            cluster,
            transactions,
            reason: Cell::new(None),
            state,
            functions: OwnFunctions::default(),
            seen,
            automatic: false,
            stands_in: false,
        }
    }

    /// What stands for this one while it is elsewhere.
    #[must_use]
    pub fn stand_in(&self) -> SessionCounts {
        SessionCounts {
            database: self.database,
            cluster: self.cluster.clone(),
            transactions: Arc::clone(&self.transactions),
            reason: Cell::new(None),
            state: RefCell::default(),
            functions: OwnFunctions::default(),
            seen: RefCell::default(),
            automatic: self.automatic,
            stands_in: true,
        }
    }

    /// Changes places with what stands for it.
    pub fn exchange(&self, other: &SessionCounts) {
        self.state.swap(&other.state);
        self.functions.swap(&other.functions);
        self.seen.swap(&other.seen);
    }

    /// How the session's transactions begin and end.
    #[must_use]
    pub fn transactions(&self) -> &Arc<Transactions> {
        &self.transactions
    }

    /// A statement of the open transaction has failed; none where that has been taken back.
    pub fn fails(&self, reason: Option<Abort>) {
        self.reason.set(reason);
    }

    /// The count of a relation, for whoever counts much.
    pub fn of(&self, relation: Oid) -> Arc<Count> {
        let state = &mut *self.state.borrow_mut();
        if let Some(place) = state.places.get(&relation) {
            return Arc::clone(&state.counts[*place as usize].count);
        }
        if state.counts.len() >= state.limit.max(RELATIONS_KEPT) {
            self.forget_idle(state);
        }
        let place = state.counts.len() as u32;
        let count = Arc::new(Count {
            relation,
            place: AtomicU32::new(place),
            met: AtomicBool::new(false),
            running: Cells::default(),
            ended: Cells::default(),
        });
        state.places.insert(relation, place);
        let (undone, truncated) = (Changes::default(), None);
        state.counts.push(Own { count: Arc::clone(&count), undone, truncated });
        if let Some((cluster, session)) = &self.cluster {
            cluster.add(*session, &count);
        }
        count
    }

    /// The open transaction meets a relation: what is counted of it counts when the transaction ends.
    #[inline]
    pub fn meet(&self, count: &Count) {
        if !count.met.load(Relaxed) {
            count.met.store(true, Relaxed);
            self.state.borrow_mut().met.push(count.place.load(Relaxed));
        }
    }

    /// Counts an event of a relation that is looked up.
    pub fn add(&self, relation: Oid, event: Event) {
        let count = self.of(relation);
        self.meet(&count);
        count.add(event);
    }

    /// Gives up what no operator keeps; the sums are kept for all sessions.
    #[cold]
    fn forget_idle(&self, state: &mut State) {
        if state.met.is_empty()
            && let Some((cluster, session)) = &self.cluster
        {
            // The session's own, and that of the list of all.
            let idle = |own: &Own| Arc::strong_count(&own.count) <= 2;
            let gone: Vec<Own> = state.counts.extract_if(.., |own| idle(own)).collect();
            cluster.remove(*session, gone.iter().map(|own| &*own.count));
            state.places.clear();
            for (place, own) in state.counts.iter().enumerate() {
                own.count.place.store(place as u32, Relaxed);
                state.places.insert(own.count.relation, place as u32);
            }
        }
        state.limit = state.counts.len() * 2;
    }

    /// The open transaction has emptied a table, or made it: what it has changed before does not count, unless that is
    /// taken back.
    pub fn emptied(&self, relation: Oid) {
        let count = self.of(relation);
        self.meet(&count);
        let state = &mut *self.state.borrow_mut();
        let own = &mut state.counts[count.place.load(Relaxed) as usize];
        let standing = own.standing();
        own.truncated.get_or_insert(standing);
        own.undone.run(&count);
    }

    /// Where the open transaction stands.
    #[must_use]
    pub fn savepoint(&self) -> CountsSavepoint {
        let state = self.state.borrow();
        let met = state.met.iter().map(|place| &state.counts[*place as usize]);
        CountsSavepoint(met.map(|own| (own.standing(), own.truncated.is_some())).collect())
    }

    /// What has been changed since has not been.
    pub fn rollback_to(&self, savepoint: &CountsSavepoint) {
        let state = &mut *self.state.borrow_mut();
        for (at, place) in state.met.iter().enumerate() {
            let own = &mut state.counts[*place as usize];
            let (stood, was_truncated) = savepoint.0.get(at).copied().unwrap_or_default();
            if !was_truncated {
                own.restore();
            }
            own.undone = Changes::running(&own.count).minus(stood);
        }
    }

    /// The open transaction has ended.
    pub fn end(&self, committed: bool) {
        let reason = self.reason.take().unwrap_or(Abort::Asked);
        self.transactions.ends(if committed { None } else { Some(reason) });
        let State { counts, met, .. } = &mut *self.state.borrow_mut();
        let cluster = self.cluster.as_ref().map(|(cluster, _)| (&**cluster, self.database));
        while let Some(place) = met.pop() {
            counts[place as usize].end(committed, cluster);
        }
        self.functions.end(cluster);
        self.forget_seen();
    }

    /// What the open transaction has counted of a relation.
    #[must_use]
    pub fn running(&self, relation: Oid) -> Counts {
        let state = self.state.borrow();
        let place = state.places.get(&relation);
        place
            .map_or_else(Counts::default, |place| state.counts[*place as usize].count.running.all())
    }

    /// All that transactions that have ended have counted: as it was when the open transaction looked first, unless
    /// `anew`.
    #[must_use]
    pub fn seen(&self, anew: bool) -> Arc<Seen> {
        let seen = &mut *self.seen.borrow_mut();
        if anew {
            *seen = None;
        }
        let look = || {
            let cluster = self.cluster.as_ref();
            Arc::new(cluster.map_or_else(Seen::default, |found| found.0.look(self.database)))
        };
        Arc::clone(seen.get_or_insert_with(look))
    }

    /// The next look is a new one.
    pub fn forget_seen(&self) {
        if self.seen.borrow().is_some() {
            *self.seen.borrow_mut() = None;
        }
    }

    /// Begins to count a relation anew, or all of the session's database.
    pub fn reset(&self, relation: Option<Oid>, now: i64) {
        if let Some((cluster, _)) = &self.cluster {
            cluster.reset(self.database, relation, now);
            if relation.is_none() {
                cluster.reset_functions(self.database, None);
            }
        }
    }

    /// The session looks after tables by itself: so are its VACUUM and ANALYZE counted.
    pub fn set_automatic(&mut self) {
        self.automatic = true;
    }

    /// VACUUM has given a table's dead versions back.
    pub fn vacuumed(&self, relation: Oid, now: i64) {
        if let Some((cluster, _)) = &self.cluster {
            cluster.with_kept(self.database, relation, |kept, sum| {
                kept.base[Event::Died] = sum[Event::Died];
                kept.vacuumed_at = sum[Event::Inserted];
                kept.vacuums.count(self.automatic, now);
            });
        }
    }

    /// ANALYZE has looked at a table, and found this many rows, those of the open transaction among them.
    pub fn analyzed(&self, relation: Oid, rows: u64, now: i64) {
        let standing = {
            let state = self.state.borrow();
            let place = state.places.get(&relation);
            place.map(|place| state.counts[*place as usize].standing()).unwrap_or_default()
        };
        let rows = rows as i64 - (standing.inserted as i64 - standing.deleted as i64);
        if let Some((cluster, _)) = &self.cluster {
            cluster.with_kept(self.database, relation, |kept, sum| {
                kept.base[Event::Changed] = sum[Event::Changed];
                kept.live = Some(rows - growth(sum));
                kept.analyzes.count(self.automatic, now);
            });
        }
    }
}
