//! What all sessions have counted, those that are gone too: the sums, and since when they are shown.

use super::endings::{Endings, Transactions};
use super::functions::FunctionCount;
use super::{Count, Counts, Event, RELATIONS_KEPT};
use crate::Catalog;
use rustc_hash::FxHashMap;
use sql_types::Oid;
use std::collections::HashMap;
use std::sync::Arc;
use txn::SchemeKind;
use txn::sync::{Mutex, lock, rank};

/// What all sessions count.
pub struct ClusterCounts {
    catalog: Arc<Catalog>,
    all: Mutex<All, { rank::ACTIVITY }>,
}

#[derive(Debug, Default)]
struct All {
    /// The next session's number.
    next: u64,
    sessions: HashMap<u64, Counting>,
    relations: HashMap<(Oid, Oid), Kept>,
    databases: HashMap<Oid, KeptDatabase>,
    /// Functions of users, by database.
    functions: HashMap<(Oid, Oid), FunctionCount>,
    /// How many of them there may be before it is looked which are gone.
    function_limit: usize,
    /// By database and scheme: of sessions that are gone, and what had been counted when each count began anew.
    endings: HashMap<(Oid, SchemeKind), (Endings, Endings)>,
    /// How many relations there may be before it is looked which are gone.
    limit: usize,
}

/// A session that is there.
#[derive(Debug)]
struct Counting {
    database: Oid,
    scheme: SchemeKind,
    transactions: Arc<Transactions>,
    counts: FxHashMap<Oid, Arc<Count>>,
}

/// How often something was done to a table, and when it was last, in microseconds since 2000-01-01 UTC: because somebody said
/// so, and by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// By statements.
    pub asked: (u64, Option<i64>),
    /// By autovacuum.
    pub automatic: (u64, Option<i64>),
}

impl Rounds {
    pub(super) fn count(&mut self, automatic: bool, now: i64) {
        let rounds = if automatic { &mut self.automatic } else { &mut self.asked };
        *rounds = (rounds.0 + 1, Some(now));
    }
}

/// What is kept of a relation beside the sessions that are there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// What sessions have counted that are gone.
    pub(super) gone: Counts,
    /// What had been counted when each count began anew.
    pub(super) base: Counts,
    /// How many rows had been inserted when VACUUM came last.
    pub(super) vacuumed_at: u64,
    /// How often VACUUM has come, and when it came last.
    pub(super) vacuums: Rounds,
    pub(super) analyzes: Rounds,
    /// How many rows there were before anything was counted; none where that is not known.
    pub(super) live: Option<i64>,
}

/// By how many rows a relation has grown.
pub(super) fn growth(counts: &Counts) -> i64 {
    counts[Event::Appeared] as i64 - counts[Event::Vanished] as i64
}

/// The same of a database.
#[derive(Clone, Copy, Debug, Default)]
struct KeptDatabase {
    gone: Counts,
    base: Counts,
    /// When it was last reset.
    reset: Option<i64>,
}

/// What has been counted in all.
struct Sums {
    /// Of a database's relations.
    relations: HashMap<Oid, Counts>,
    databases: HashMap<Oid, Counts>,
    endings: HashMap<(Oid, SchemeKind), Endings>,
}

/// What is shown of a relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationCounts {
    /// Events.
    pub counts: Counts,
    /// Rows inserted since the last VACUUM.
    pub inserted_since_vacuum: u64,
    /// How often VACUUM has come, and when it came last, in microseconds since 2000-01-01 UTC.
    pub vacuums: Rounds,
    /// The same of ANALYZE.
    pub analyzes: Rounds,
    /// How many rows it has; none where nobody has counted them since the start.
    pub live: Option<u64>,
}

/// What is shown of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseCounts {
    /// Events of all its relations.
    pub counts: Counts,
    /// Transactions that have committed.
    pub committed: u64,
    /// Transactions that have been rolled back.
    pub rolled_back: u64,
    /// When all this was last reset, in microseconds since 2000-01-01 UTC.
    pub reset: Option<i64>,
}

/// What was seen at one time.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The relations of the session's database of which anything is counted.
    pub relations: HashMap<Oid, RelationCounts>,
    /// Its functions that have been called.
    pub functions: HashMap<Oid, FunctionCount>,
    /// Databases.
    pub databases: HashMap<Oid, DatabaseCounts>,
    /// How transactions have ended, by database and scheme.
    pub endings: HashMap<(Oid, SchemeKind), Endings>,
}

impl ClusterCounts {
    /// Of the databases of this catalog.
    #[must_use]
    pub fn new(catalog: &Arc<Catalog>) -> ClusterCounts {
        ClusterCounts { catalog: Arc::clone(catalog), all: Mutex::default() }
    }

    pub(super) fn enter(
        &self,
        (database, scheme): (Oid, SchemeKind),
        transactions: &Arc<Transactions>,
    ) -> u64 {
        let all = &mut *lock(&self.all);
        all.next += 1;
        let transactions = Arc::clone(transactions);
        let counts = FxHashMap::default();
        all.sessions.insert(all.next, Counting { database, scheme, transactions, counts });
        all.next
    }

    pub(super) fn add(&self, session: u64, count: &Arc<Count>) {
        if let Some(counting) = lock(&self.all).sessions.get_mut(&session) {
            counting.counts.insert(count.relation, Arc::clone(count));
        }
    }

    pub(super) fn remove<'c>(&self, session: u64, gone: impl Iterator<Item = &'c Count>) {
        let all = &mut *lock(&self.all);
        let Some(counting) = all.sessions.get_mut(&session) else { return };
        let (database, mut relations) = (counting.database, Vec::new());
        for count in gone {
            counting.counts.remove(&count.relation);
            relations.push((count.relation, count.ended.all()));
        }
        self.keep(all, database, relations);
    }

    pub(super) fn leave(&self, session: u64) {
        let all = &mut *lock(&self.all);
        let Some(counting) = all.sessions.remove(&session) else { return };
        let gone = all.endings.entry((counting.database, counting.scheme)).or_default();
        gone.0.add(&counting.transactions);
        let counts = counting.counts.values();
        let relations = counts.map(|count| (count.relation, count.ended.all())).collect();
        self.keep(all, counting.database, relations);
    }

    /// Keeps what a session has counted that counts it no more.
    fn keep(&self, all: &mut All, database: Oid, relations: Vec<(Oid, Counts)>) {
        let of_database = &mut all.databases.entry(database).or_default().gone;
        for (relation, counts) in relations {
            of_database.add(&counts);
            all.relations.entry((database, relation)).or_default().gone.add(&counts);
        }
        if all.relations.len() > all.limit.max(RELATIONS_KEPT) {
            let mut catalogs = HashMap::new();
            all.relations.retain(|(database, relation), _| {
                let found = catalogs.entry(*database);
                let snapshot = found.or_insert_with(|| self.catalog.snapshot(*database));
                snapshot.as_ref().is_some_and(|snapshot| {
                    snapshot.relation(*relation).is_some() || snapshot.index(*relation).is_some()
                })
            });
            all.limit = all.relations.len() * 2;
        }
    }

    /// Adds what a transaction has counted of functions.
    pub(super) fn add_functions(&self, database: Oid, counts: FxHashMap<Oid, FunctionCount>) {
        let all = &mut *lock(&self.all);
        for (function, count) in counts {
            all.functions.entry((database, function)).or_default().add(&count);
        }
        if all.functions.len() > all.function_limit.max(RELATIONS_KEPT) {
            let mut catalogs = HashMap::new();
            all.functions.retain(|(database, function), _| {
                let found = catalogs.entry(*database);
                let snapshot = found.or_insert_with(|| self.catalog.snapshot(*database));
                snapshot.as_ref().is_some_and(|snapshot| snapshot.routine(*function).is_some())
            });
            all.function_limit = all.functions.len() * 2;
        }
    }

    /// Begins to count one function of a database anew, or all of them.
    pub(super) fn reset_functions(&self, database: Oid, function: Option<Oid>) {
        let all = &mut *lock(&self.all);
        for ((of, oid), count) in &mut all.functions {
            if *of == database && function.is_none_or(|function| function == *oid) {
                *count = FunctionCount::default();
            }
        }
    }

    pub(super) fn with_kept(
        &self,
        database: Oid,
        relation: Oid,
        body: impl FnOnce(&mut Kept, &Counts),
    ) {
        let all = &mut *lock(&self.all);
        let kept = all.relations.entry((database, relation)).or_default();
        let mut sum = kept.gone;
        let sessions = all.sessions.values().filter(|session| session.database == database);
        for count in sessions.filter_map(|session| session.counts.get(&relation)) {
            sum.add(&count.ended.all());
        }
        body(kept, &sum);
    }

    /// The relation has no rows but those that the transaction that ends adds.
    pub(super) fn emptied(&self, database: Oid, relation: Oid) {
        self.with_kept(database, relation, |kept, sum| {
            kept.base[Event::Died] = sum[Event::Died];
            kept.vacuumed_at = sum[Event::Inserted];
            kept.live = Some(-growth(sum));
        });
    }

    /// All relations of a database, with what has been counted of them in all, and all databases.
    fn sums(all: &All, database: Oid) -> Sums {
        let own = all.relations.iter().filter(|((of, _), _)| *of == database);
        let mut relations: HashMap<Oid, Counts> =
            own.map(|((_, relation), kept)| (*relation, kept.gone)).collect();
        let mut databases: HashMap<Oid, Counts> =
            all.databases.iter().map(|(oid, kept)| (*oid, kept.gone)).collect();
        let mut endings: HashMap<(Oid, SchemeKind), Endings> =
            all.endings.iter().map(|(of, (gone, _))| (*of, *gone)).collect();
        for session in all.sessions.values() {
            let of_database = databases.entry(session.database).or_default();
            endings
                .entry((session.database, session.scheme))
                .or_default()
                .add(&session.transactions);
            for count in session.counts.values() {
                let ended = count.ended.all();
                of_database.add(&ended);
                if session.database == database {
                    relations.entry(count.relation).or_default().add(&ended);
                }
            }
        }
        Sums { relations, databases, endings }
    }

    /// All that is shown of a database's relations, and of databases.
    pub fn look(&self, database: Oid) -> Seen {
        let all = &*lock(&self.all);
        let sums = ClusterCounts::sums(all, database);
        let relations = sums.relations.into_iter().map(|(relation, sum)| {
            let kept = all.relations.get(&(database, relation)).copied().unwrap_or_default();
            let inserted_since_vacuum = sum[Event::Inserted].saturating_sub(kept.vacuumed_at);
            let Kept { vacuums, analyzes, .. } = kept;
            let live = kept.live.map(|live| (live + growth(&sum)).max(0) as u64);
            let counts = sum.since(&kept.base);
            let shown = RelationCounts { counts, inserted_since_vacuum, vacuums, analyzes, live };
            (relation, shown)
        });
        let endings = sums.endings.into_iter().map(|(of, sum)| {
            let base = all.endings.get(&of).map_or_else(Endings::default, |kept| kept.1);
            (of, sum.since(&base))
        });
        let endings: HashMap<(Oid, SchemeKind), Endings> = endings.collect();
        let databases = sums.databases.into_iter().map(|(oid, sum)| {
            let kept = all.databases.get(&oid).copied().unwrap_or_default();
            let own = || endings.iter().filter(|((of, _), _)| *of == oid).map(|(_, shown)| shown);
            let shown = DatabaseCounts {
                counts: sum.since(&kept.base),
                committed: own().map(|shown| shown.committed).sum(),
                rolled_back: own().map(Endings::rolled_back).sum(),
                reset: kept.reset,
            };
            (oid, shown)
        });
        let databases = databases.collect();
        let own = all.functions.iter().filter(|((of, _), _)| *of == database);
        let functions = own.map(|((_, function), count)| (*function, *count)).collect();
        Seen { relations: relations.collect(), functions, databases, endings }
    }

    pub(super) fn reset(&self, database: Oid, relation: Option<Oid>, now: i64) {
        let all = &mut *lock(&self.all);
        let Sums { relations, databases, endings } = ClusterCounts::sums(all, database);
        let reset = relations.into_iter().filter(|(oid, _)| relation.is_none_or(|one| one == *oid));
        for (oid, sum) in reset {
            let kept = all.relations.entry((database, oid)).or_default();
            let (vacuumed_at, live) = (sum[Event::Inserted], Some(-growth(&sum)));
            *kept = Kept { gone: kept.gone, base: sum, vacuumed_at, live, ..Kept::default() };
        }
        let kept = all.databases.entry(database).or_default();
        kept.reset = Some(now);
        if relation.is_none() {
            kept.base = databases.get(&database).copied().unwrap_or_default();
            for (of, sum) in endings.into_iter().filter(|((of, _), _)| *of == database) {
                all.endings.entry(of).or_default().1 = sum.without_running();
            }
        }
    }
}
