//! The transactions straight on `txn`: prepared trees, no SQL, no protocol, no plans. What is left of a transaction's price is
//! the engine's own, component by component, which is what `bench -- looking-glass` takes apart.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008: Shore's storage manager
//! under New-Order and Payment written against its interface. What stands in a row is TPC-C's, all of it; tables are locked as
//! SQL locks them, rows before they are changed, keys before they are inserted. A transaction is one statement.
//!
//! - [`transactions`]: the five, on any [`store`]; [`session`]: on the transaction component; [`kernel`]: on what only does the work
//! - [`row`]: the rows as bytes; [`conditions`]: the consistency conditions

pub mod conditions;
pub mod kernel;
pub mod row;
mod session;
pub mod store;
mod transactions;

use super::Scale;
use super::client::Failure;
use super::population::Population;
use super::schema::TABLES;
use row::{Key, Relation, last_number, name_key, number};
pub use session::Session;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use store::Tables;
use txn::{
    Begin, Direction, Environment, Error, KeyRange, Manager, SessionWait, Transaction, Tree,
};

/// Rows of a transaction that loads.
const LOADED_AT_ONCE: usize = 4096;
/// Threads that work at a time, beside those of the background.
const SLOTS: usize = 68;

/// What a database is opened with: the cache that the servers are given, and much log between two checkpoints.
#[must_use]
pub fn options() -> txn::Options {
    let mut options = txn::Options::default();
    options.storage.pool_frames = 64 << 10;
    options.storage.log_bytes_max = 16 << 30;
    options
}

/// What only a build with the feature `stripped` can leave out, because it stands where every page is read ([`storage::stripped`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// Latches of pages.
    Latches,
    /// That a hint is looked at before it is believed, and what the pool notes of a page's use.
    Pool,
}

impl Inner {
    /// The part of this name, where it can be left out.
    #[must_use]
    pub fn named(name: &str) -> Option<Inner> {
        let part = match name {
            "latches" => Inner::Latches,
            "pool" => Inner::Pool,
            _ => return None,
        };
        cfg!(feature = "stripped").then_some(part)
    }
}

/// An open database of the nine tables.
pub struct Database {
    manager: Arc<Manager>,
    trees: Vec<Arc<Tree>>,
    /// Whether a transaction has ended only once it is durable.
    synchronous: bool,
    next_history: AtomicU64,
    next_session: AtomicU32,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let sqlstate = match error {
            Error::Conflict(_) => "40001",
            Error::Deadlock(_) => "40P01",
            _ => "XX000",
        };
        Failure { sqlstate: sqlstate.to_owned(), message: error.to_string() }
    }
}

impl From<txn::StorageError> for Failure {
    fn from(error: txn::StorageError) -> Failure {
        Failure::from(Error::from(error))
    }
}

impl Database {
    /// Opens a directory; an empty one becomes a database with the tables of `scale`.
    ///
    /// # Errors
    /// The database's own.
    pub fn open(
        directory: &Path,
        scale: Scale,
        options: txn::Options,
        synchronous: bool,
    ) -> Result<Arc<Database>, Failure> {
        std::fs::create_dir_all(directory)?;
        let is_empty = std::fs::read_dir(directory)?.next().is_none();
        let env = Environment {
            device: Arc::new(txn::FileDevice::open(directory)?),
            clock: Arc::new(txn::SystemClock::new()),
            scheduler: Arc::new(txn::Threads::new(SLOTS)),
            seed: 1,
        };
        if is_empty {
            Manager::create(&env, &options)?;
        }
        // The trees there are are the tables: nothing drops one.
        let all = |manager: &Arc<Manager>| {
            let trees = manager.data().forest().trees();
            Ok(trees.iter().map(|tree| tree.id()).collect())
        };
        let manager = Manager::open::<Error>(env, options, all)?;
        let mut trees = Vec::new();
        if is_empty {
            for _ in Relation::ALL {
                trees.push(manager.data().create_tree()?);
            }
        } else {
            let mut known = manager.data().forest().trees();
            known.sort_by_key(|tree| tree.id());
            trees.extend(known);
        }
        let database = Database {
            manager,
            trees,
            synchronous,
            next_history: AtomicU64::new(0),
            next_session: AtomicU32::new(1),
        };
        if is_empty {
            database.load(scale)?;
        }
        database.next_history.store(database.count_history()?, Ordering::Relaxed);
        Ok(Arc::new(database))
    }

    /// A session at its place.
    #[must_use]
    pub fn session(self: &Arc<Database>, place: super::transactions::Place) -> Session {
        let number = self.next_session.fetch_add(1, Ordering::Relaxed);
        Session::new(Arc::clone(self), place, number)
    }

    /// Writes a checkpoint and closes the directory. Every session has ended.
    ///
    /// # Errors
    /// The database's own.
    pub fn close(&self) -> Result<(), Failure> {
        #[cfg(feature = "stripped")]
        self.manager.data().stripped().put_back();
        Ok(self.manager.close()?)
    }

    /// Leaves a part out until the database is closed. All of it is in memory and has been read, and from now on the calling thread
    /// alone writes.
    fn leave_out(&self, part: Inner) {
        #[cfg(feature = "stripped")]
        match part {
            Inner::Latches => self.manager.data().stripped().leave_latches_out(),
            Inner::Pool => self.manager.data().stripped().leave_pool_out(),
        }
        #[cfg(not(feature = "stripped"))]
        unreachable!("{part:?} cannot be left out of this build");
    }

    fn tree(&self, relation: Relation) -> &Arc<Tree> {
        &self.trees[relation as usize]
    }

    /// The key of a row of `history` that nobody else has.
    fn history_key(&self) -> [u8; 8] {
        self.next_history.fetch_add(1, Ordering::Relaxed).to_be_bytes()
    }

    fn load(&self, scale: Scale) -> Result<(), Failure> {
        for (relation, (table, _)) in Relation::ALL.into_iter().zip(TABLES) {
            let mut population = Population::of(table, scale);
            let mut lines = Vec::new();
            while population.next(&mut lines) {
                let text = std::str::from_utf8(&lines).expect("the population writes letters");
                let all: Vec<&str> = text.lines().collect();
                for portion in all.chunks(LOADED_AT_ONCE) {
                    self.transact(|transaction| self.load_lines(transaction, relation, portion))?;
                }
                lines.clear();
            }
        }
        self.manager.checkpoint()?;
        Ok(())
    }

    fn load_lines(
        &self,
        transaction: &mut Transaction,
        relation: Relation,
        lines: &[&str],
    ) -> Result<(), Failure> {
        let (mut row, mut name) = (Vec::new(), Vec::new());
        for line in lines {
            let key = relation.parse(line, &mut row);
            let bytes = key.bytes();
            let part = |at| row::key_number(bytes, at);
            match relation {
                Relation::History => {
                    transaction.put(self.tree(relation), &self.history_key(), &row)?;
                    continue;
                }
                Relation::Customer => {
                    name_key(&mut name, [part(0), part(1)], relation.text(&row, 2));
                    name.extend_from_slice(relation.text(&row, 0));
                    name.push(0);
                    name.extend_from_slice(&part(2).to_be_bytes());
                    transaction.put(self.tree(Relation::CustomerName), &name, &[])?;
                }
                Relation::Orders => {
                    let entry = Key::of([part(0), part(1), number(&row, 0) as u32, part(2)]);
                    transaction.put(self.tree(Relation::OrdersCustomer), entry.bytes(), &[])?;
                }
                _ => {}
            }
            transaction.put(self.tree(relation), bytes, &row)?;
        }
        Ok(())
    }

    /// Runs a transaction that nobody disturbs, and waits until it is durable.
    fn transact<T>(
        &self,
        body: impl FnOnce(&mut Transaction) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let wait = Arc::new(SessionWait::new(0));
        let mut transaction = self.manager.begin(Begin::default(), &wait);
        transaction.begin_statement()?;
        let done = body(&mut transaction)?;
        let ended = transaction.commit(&mut |_| ())?;
        self.manager.data().log().wait_durable(ended.wait_for)?;
        Ok(done)
    }

    /// How many rows `history` has: the numbers of its keys begin at zero, and none is left out for long.
    fn count_history(&self) -> Result<u64, Failure> {
        let mut next = 0;
        self.each(Relation::History, &mut |key, _| {
            next = u64::from(last_number(key)).max(next) + 1;
        })?;
        Ok(next)
    }
}

impl Tables for Database {
    fn each(&self, relation: Relation, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let wait = Arc::new(SessionWait::new(0));
        let mut transaction = self.manager.begin(Begin::default(), &wait);
        let view = transaction.begin_statement()?;
        let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
        let mut scan = transaction.scan(&view, self.tree(relation), range, Direction::Forward)?;
        while let Some(found) = scan.advance(&mut transaction)? {
            row(found.key, found.value);
        }
        let _ = transaction.commit(&mut |_| ())?;
        Ok(())
    }
}
