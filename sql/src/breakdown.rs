//! Where the time of statements and sessions has gone, as far as `atoll.track_breakdown` had it measured
//! (`pg_stat_atoll_breakdown`; [`txn::breakdown`] says how).
//!
//! A session adds up what is its own, and tells it for the statement that it ran last, with parsing, commit and answer, when another
//! one comes, or at the end of a message when it has told nothing for a while. So what others see may lack what a session has spent in the last
//! few milliseconds before it came to rest, and counting costs no lock. Past [`STATEMENTS_MAX`]
//! shapes of statements the time of others is their sessions' alone, until `pg_stat_reset()` forgets all of them.

use crate::statement_statistics::Key;
use crate::statement_statistics::shape::Shape;
use crate::types::Oid;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
pub use txn::breakdown::{Breakdown, Class, Started, now};
use txn::sync::{Mutex, lock, rank};

/// How many shapes of statements are told apart.
const STATEMENTS_MAX: usize = 1000;

/// Time by classes, and how many statements it was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Statements that have begun.
    pub calls: u64,
    /// Their cycles.
    pub breakdown: Breakdown,
}

/// What several threads may look at, and one adds to.
#[derive(Debug, Default)]
pub struct SpentCell(Mutex<Spent, { rank::COUNTERS }>);

/// Statements of one shape, user and database.
#[derive(Debug)]
pub struct StatementTimes {
    text: Arc<str>,
    /// What they have spent.
    pub spent: SpentCell,
}

/// A row of the view: of a session, or of statements.
#[derive(Debug)]
pub struct Row {
    /// The session.
    pub pid: Option<u32>,
    /// Who it is, or has run them.
    pub user: Oid,
    /// Where.
    pub database: Oid,
    /// The statements: their number and text.
    pub statement: Option<(i64, Arc<str>)>,
    /// What was spent.
    pub spent: Spent,
}

/// All that is measured in the instance, but for what sessions still hold of their own.
#[derive(Debug, Default)]
pub struct Breakdowns {
    statements: Mutex<FxHashMap<Key, Arc<StatementTimes>>, { rank::ACTIVITY }>,
    /// Moves when they are forgotten: what sessions keep of them is of no use then.
    epoch: AtomicU64,
    /// What the sessions that have ended had spent.
    ended: SpentCell,
}

impl Spent {
    fn add(&mut self, more: &Spent) {
        self.calls += more.calls;
        self.breakdown.add_all(&more.breakdown);
    }
}

impl SpentCell {
    /// Adds to it.
    pub fn add(&self, more: &Spent) {
        lock(&self.0).add(more);
    }

    /// What it holds.
    pub fn get(&self) -> Spent {
        *lock(&self.0)
    }
}

impl Breakdowns {
    /// Where statements of a shape are counted; none where there are too many shapes.
    pub fn statement(&self, key: Key, shape: &Shape) -> Option<Arc<StatementTimes>> {
        let mut statements = lock(&self.statements);
        if let Some(known) = statements.get(&key) {
            return Some(Arc::clone(known));
        }
        if statements.len() >= STATEMENTS_MAX {
            return None;
        }
        let text = Arc::clone(&shape.text);
        let times = Arc::new(StatementTimes { text, spent: SpentCell::default() });
        statements.insert(key, Arc::clone(&times));
        Some(times)
    }

    /// A session has ended, which had spent this.
    pub fn session_ended(&self, spent: &Spent) {
        self.ended.add(spent);
    }

    /// What sessions that have ended had spent.
    pub fn of_ended(&self) -> Spent {
        self.ended.get()
    }

    /// The rows of statements, by their numbers.
    pub fn rows(&self) -> Vec<Row> {
        let statements = lock(&self.statements);
        let mut rows: Vec<Row> = statements
            .iter()
            .map(|(key, times)| Row {
                pid: None,
                user: key.user,
                database: key.database,
                statement: Some((key.id, Arc::clone(&times.text))),
                spent: times.spent.get(),
            })
            .collect();
        rows.sort_by_key(|row| row.statement.as_ref().map(|statement| statement.0));
        rows
    }

    /// How often the statements have been forgotten.
    pub fn epoch(&self) -> u64 {
        // Relaxed: a session that is told late counts its last statement in vain.
        self.epoch.load(Relaxed)
    }

    /// Forgets the statements.
    pub fn reset(&self) {
        lock(&self.statements).clear();
        self.epoch.fetch_add(1, Relaxed);
    }
}
