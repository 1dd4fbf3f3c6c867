//! What statements have cost, by shape (`pg_stat_statements` 1.10; PostgreSQL 15 manual, appendix F.32).
//!
//! An entry stands for one user, database and [`shape`], and is found in one of several shards by its number. A session
//! keeps the entries that it has met ([`Recent`]), so that counting a statement is one lock of that entry alone, held for a
//! few additions. There are never more entries than `pg_stat_statements.max`: as there, what is used least makes room for
//! others, a twentieth at a time, and what is left counts for less than what comes. Texts share one bound, too.
//!
//! Difference: a text stands in memory, not in a file, and one of more than [`TEXT_BYTES_MAX`] is cut.

pub mod meaning;
mod saved;
pub mod shape;

use crate::types::Oid;
use rustc_hash::FxHashMap;
use shape::Shape;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
use txn::Usage;
use txn::sync::{Mutex, lock, rank};

/// The name of the library.
pub const LIBRARY: &str = "pg_stat_statements";

/// The longest text that is kept whole.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// The bytes of text that all entries may have, for each that there may be.
const TEXT_BYTES_EACH: usize = 4096;
/// How many shards there are.
const SHARDS: usize = 16;
/// How many entries a session keeps.
const RECENT_MAX: usize = 128;
/// What a statement's use becomes each time room is made.
const USE_DECREASE: f64 = 0.99;
/// What part of the entries goes then, at least so many.
const GOES: (usize, usize) = (20, 10);

/// What an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// `userid`.
    pub user: Oid,
    /// `dbid`.
    pub database: Oid,
    /// `queryid`.
    pub id: i64,
    /// `toplevel`: the client has sent it; otherwise a body runs it.
    pub top_level: bool,
}

/// Times of one kind, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their differences from it (Welford 1962).
    pub squares: f64,
}

impl Times {
    fn add(&mut self, millis: f64) {
        self.count += 1;
        self.total += millis;
        if self.count == 1 {
            *self = Times { min: millis, max: millis, mean: millis, ..*self };
            return;
        }
        let before = self.mean;
        self.mean += (millis - before) / self.count as f64;
        self.squares += (millis - before) * (millis - self.mean);
        self.min = self.min.min(millis);
        self.max = self.max.max(millis);
    }

    /// The deviation of all of them.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count > 1 { (self.squares / self.count as f64).sqrt() } else { 0.0 }
    }
}

/// What an entry counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Plans that were made.
    pub plans: Times,
    /// Statements that have come to their end.
    pub calls: Times,
    /// Rows that they gave or changed.
    pub rows: u64,
    /// Pages and log.
    pub usage: Usage,
    /// How much the entry is used.
    used: f64,
}

/// An entry.
#[derive(Debug)]
pub struct Entry {
    text: Arc<str>,
    figures: Mutex<Figures, { rank::COUNTERS }>,
}

/// What one statement has cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// How long it took, in microseconds.
    pub us: u64,
    /// Its rows.
    pub rows: u64,
    /// Its pages and log.
    pub usage: Usage,
}

type Shard = Mutex<FxHashMap<Key, Arc<Entry>>, { rank::ACTIVITY }>;

/// All entries.
#[derive(Debug)]
pub struct StatementStatistics {
    shards: [Shard; SHARDS],
    /// `pg_stat_statements.max`.
    max: usize,
    kept: AtomicUsize,
    text_bytes: AtomicUsize,
    /// How often room was made.
    deallocations: AtomicU64,
    /// When all were last discarded, in microseconds since 2000-01-01 UTC.
    reset: AtomicI64,
    /// Moves whenever entries go: what sessions keep is of no use then.
    epoch: AtomicU64,
    /// One at a time makes room.
    evicting: Mutex<(), { rank::PLANS }>,
}

/// The entries that a session has met.
#[derive(Debug, Default)]
pub struct Recent {
    epoch: u64,
    entries: FxHashMap<Key, Arc<Entry>>,
}

impl StatementStatistics {
    /// None yet, at `now`.
    #[must_use]
    pub fn new(max: i64, now: i64) -> StatementStatistics {
        StatementStatistics {
            shards: std::array::from_fn(|_| Mutex::default()),
            max: usize::try_from(max).unwrap_or(100).max(1),
            kept: AtomicUsize::new(0),
            text_bytes: AtomicUsize::new(0),
            deallocations: AtomicU64::new(0),
            reset: AtomicI64::new(now),
            epoch: AtomicU64::new(1),
            evicting: Mutex::default(),
        }
    }

    fn shard(&self, key: &Key) -> &Shard {
        &self.shards[(key.id as u64 >> 32) as usize % SHARDS]
    }

    /// Counts a statement that has come to its end.
    pub fn ran(&self, recent: &mut Recent, key: Key, shape: &Shape, cost: Cost) {
        let millis = cost.us as f64 / 1000.0;
        self.with(recent, key, shape, |figures| {
            figures.calls.add(millis);
            figures.rows += cost.rows;
            figures.usage = figures.usage.plus(cost.usage);
            figures.used += 1.0;
        });
    }

    /// Counts a plan that was made.
    pub fn planned(&self, recent: &mut Recent, key: Key, shape: &Shape, us: u64) {
        self.with(recent, key, shape, |figures| {
            figures.plans.add(us as f64 / 1000.0);
            figures.used += 1.0;
        });
    }

    fn with(&self, recent: &mut Recent, key: Key, shape: &Shape, count: impl FnOnce(&mut Figures)) {
        // Acquire: pairs with Release where entries go.
        let epoch = self.epoch.load(Acquire);
        if recent.epoch != epoch || recent.entries.len() > RECENT_MAX {
            recent.entries.clear();
            recent.epoch = epoch;
        }
        let entry = recent.entries.entry(key).or_insert_with(|| self.entry(key, shape));
        count(&mut lock(&entry.figures));
    }

    /// An entry, made if there is none.
    fn entry(&self, key: Key, shape: &Shape) -> Arc<Entry> {
        if let Some(found) = lock(self.shard(&key)).get(&key) {
            return Arc::clone(found);
        }
        let full = self.kept.load(Relaxed) >= self.max
            || self.text_bytes.load(Relaxed) >= self.max * TEXT_BYTES_EACH;
        if full {
            self.make_room();
        }
        let text = &shape.text[..shape.text.floor_char_boundary(TEXT_BYTES_MAX)];
        let text: Arc<str> = match text.len() == shape.text.len() {
            true => Arc::clone(&shape.text),
            false => text.into(),
        };
        self.put(key, text, Figures::default())
    }

    fn put(&self, key: Key, text: Arc<str>, figures: Figures) -> Arc<Entry> {
        let mut shard = lock(self.shard(&key));
        let entry = shard.entry(key).or_insert_with(|| {
            self.kept.fetch_add(1, Relaxed);
            self.text_bytes.fetch_add(text.len(), Relaxed);
            Arc::new(Entry { text, figures: Mutex::new(figures) })
        });
        Arc::clone(entry)
    }

    /// Lets those go that are used least (`entry_dealloc`).
    #[cold]
    fn make_room(&self) {
        let _turn = lock(&self.evicting);
        let limit = (self.max, self.max * TEXT_BYTES_EACH);
        // Whoever had the turn may have done it.
        if self.kept.load(Relaxed) < limit.0 && self.text_bytes.load(Relaxed) < limit.1 {
            return;
        }
        let mut used: Vec<(f64, Key)> = Vec::new();
        for shard in &self.shards {
            for (key, entry) in lock(shard).iter() {
                let mut figures = lock(&entry.figures);
                used.push((figures.used, *key));
                figures.used *= USE_DECREASE;
            }
        }
        used.sort_by(|one, other| one.0.total_cmp(&other.0));
        let going = (used.len() / GOES.0).max(GOES.1).min(used.len());
        let mut bytes = self.text_bytes.load(Relaxed);
        for (at, (_, key)) in used.iter().enumerate() {
            // Long texts may not leave enough of the bytes with so many.
            if at >= going && bytes < limit.1 / 2 {
                break;
            }
            bytes = bytes.saturating_sub(self.remove(key));
        }
        self.deallocations.fetch_add(1, Relaxed);
        self.epoch.fetch_add(1, Release);
    }

    /// Takes an entry away; the bytes of its text.
    fn remove(&self, key: &Key) -> usize {
        let Some(gone) = lock(self.shard(key)).remove(key) else { return 0 };
        self.kept.fetch_sub(1, Relaxed);
        self.text_bytes.fetch_sub(gone.text.len(), Relaxed);
        gone.text.len()
    }

    /// `pg_stat_statements_reset`: discards those of this user, database and number, 0 is any.
    pub fn reset(&self, user: Oid, database: Oid, id: i64, now: i64) {
        let _turn = lock(&self.evicting);
        let meant = |key: &Key| {
            (user.0 == 0 || key.user == user)
                && (database.0 == 0 || key.database == database)
                && (id == 0 || key.id == id)
        };
        for shard in &self.shards {
            let gone: Vec<Key> = lock(shard).keys().filter(|key| meant(key)).copied().collect();
            for key in gone {
                self.remove(&key);
            }
        }
        if self.kept.load(Relaxed) == 0 {
            self.deallocations.store(0, Relaxed);
            self.reset.store(now, Relaxed);
        }
        self.epoch.fetch_add(1, Release);
    }

    /// All entries that have counted anything, with their texts.
    #[must_use]
    pub fn all(&self) -> Vec<(Key, Arc<str>, Figures)> {
        let mut all = Vec::with_capacity(self.kept.load(Relaxed));
        for shard in &self.shards {
            for (key, entry) in lock(shard).iter() {
                let figures = *lock(&entry.figures);
                if figures.calls.count + figures.plans.count > 0 {
                    all.push((*key, Arc::clone(&entry.text), figures));
                }
            }
        }
        all
    }

    /// How often room was made, and when all were last discarded.
    #[must_use]
    pub fn info(&self) -> (u64, i64) {
        (self.deallocations.load(Relaxed), self.reset.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: i64) -> Key {
        Key { user: Oid(10), database: Oid(5), id, top_level: true }
    }

    fn shape(number: usize) -> Shape {
        Shape::utility(&format!("statement {number}"))
    }

    #[test]
    fn what_is_used_least_makes_room() {
        let statistics = StatementStatistics::new(100, 7);
        let mut recent = Recent::default();
        for round in 0..2 {
            for number in 0..50 {
                let cost = Cost { us: 1000 * (round + 1), rows: 2, ..Cost::default() };
                statistics.ran(&mut recent, key(number << 32), &shape(number as usize), cost);
            }
        }
        for number in 50..500_i64 {
            let cost = Cost::default();
            statistics.ran(&mut recent, key(number << 32), &shape(number as usize), cost);
        }
        let all = statistics.all();
        assert!(all.len() <= 100, "{}", all.len());
        assert!(statistics.info().0 > 30);
        let kept = all.iter().filter(|(key, ..)| key.id < 50 << 32).count();
        assert!(kept > 40, "{kept} of those that are used twice are left");
        let first = all.iter().find(|(one, ..)| *one == key(0)).expect("it was used twice");
        let Times { count, total, min, max, mean, .. } = first.2.calls;
        assert_eq!((count, total, min, max, mean), (2, 3.0, 1.0, 2.0, 1.5));
        assert_eq!((first.2.rows, first.2.calls.deviation()), (4, 0.5));
    }

    #[test]
    fn a_reset_discards_what_is_meant() {
        let statistics = StatementStatistics::new(100, 7);
        let mut recent = Recent::default();
        for id in [1, 2, 3] {
            statistics.ran(&mut recent, key(id), &shape(0), Cost::default());
        }
        statistics.reset(Oid(10), Oid(0), 2, 8);
        let mut left: Vec<i64> = statistics.all().iter().map(|(key, ..)| key.id).collect();
        left.sort_unstable();
        assert_eq!((left, statistics.info()), (vec![1, 3], (0, 7)));
        // A session that kept an entry which has gone counts in a new one.
        statistics.ran(&mut recent, key(2), &shape(0), Cost::default());
        assert_eq!(statistics.all().len(), 3);
        statistics.reset(Oid(0), Oid(0), 0, 9);
        assert_eq!((statistics.all().len(), statistics.info()), (0, (0, 9)));
    }

    #[test]
    fn what_is_saved_comes_back() {
        let statistics = StatementStatistics::new(100, 7);
        let mut recent = Recent::default();
        for id in [1, -2, 3] {
            let cost = Cost { us: 12, rows: 5, ..Cost::default() };
            statistics.ran(&mut recent, key(id), &shape(id as usize & 3), cost);
        }
        let bytes = statistics.encoded();
        let other = StatementStatistics::new(100, 8);
        assert!(other.decode(&bytes));
        let sorted = |statistics: &StatementStatistics| {
            let mut all = statistics.all();
            all.sort_by_key(|(key, ..)| *key);
            all
        };
        assert_eq!(sorted(&other), sorted(&statistics));
        assert_eq!(other.info(), (0, 7));
        for end in 0..bytes.len() {
            assert!(!StatementStatistics::new(100, 8).decode(&bytes[..end]), "cut at {end}");
        }
    }
}
