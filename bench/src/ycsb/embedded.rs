//! The workload straight on `txn`: keys and values are bytes, a transaction is one statement, nobody waits until a commit is durable
//! (`synchronous_commit = off`). The database has files, a log, pages and recovery as always.

use super::DEADLOCK_TIMEOUT_MS;
use super::run::{Attempt, Worker};
use super::workload::{Access, FIELD_BYTES, FIELDS, Partitions, ROWS};
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::breakdown::Breakdown;
use txn::{
    Abort, Begin, ColumnEnd, Environment, Error, FirstColumn, Isolation, Manager, Placement,
    RecordBuffer, RowLock, SchemeKind, SessionWait, Transaction, Tree, WaitPolicy,
};

/// Rows of a transaction that loads.
const LOADED_AT_ONCE: u32 = 2048;

/// The column that keys are.
pub(super) const COLUMN: FirstColumn =
    FirstColumn { marker: 0, end: ColumnEnd::Fixed(size_of::<u32>() as u8) };

/// How transactions run.
#[derive(Clone, Debug)]
pub struct Mode {
    /// What it is called.
    pub name: String,
    /// What a transaction begins with.
    pub begin: Begin,
}

/// A database with the table.
pub struct Database {
    manager: Arc<Manager>,
    tree: Arc<Tree>,
}

impl Mode {
    /// Of each scheme there is; `mvcc` by both of its levels that keep to a snapshot.
    #[must_use]
    pub fn all() -> Vec<Mode> {
        let mut all = Vec::new();
        for scheme in SchemeKind::ALL {
            let begin = Begin { isolation: Isolation::Serializable, scheme, ..Begin::default() };
            if scheme == SchemeKind::Mvcc {
                let weaker = Begin { isolation: Isolation::RepeatableRead, ..begin };
                all.push(Mode { name: "mvcc, repeatable read".to_owned(), begin: weaker });
                all.push(Mode { name: "mvcc, serializable".to_owned(), begin });
            } else {
                all.push(Mode { name: scheme.name().to_owned(), begin });
            }
        }
        all
    }
}

impl Database {
    /// A new database in an empty directory, with all rows of the table.
    ///
    /// # Errors
    /// The database's own.
    pub fn load(directory: &Path, threads: usize) -> Result<Database> {
        let env = Environment {
            device: Arc::new(storage::device::file::FileDevice::open(directory)?),
            clock: Arc::new(storage::environment::SystemClock::new()),
            scheduler: Arc::new(storage::environment::Threads::new(threads + 4)),
            seed: 1,
        };
        let storage = storage::Options {
            pool_frames: 96 << 10,
            log_bytes_max: 8 << 30,
            ..Default::default()
        };
        let options = txn::Options { storage, ..Default::default() };
        Manager::create(&env, &options)?;
        let manager = Manager::open::<Error>(env, options, |_| Ok(Vec::new()))?;
        let tree = manager.data().create_tree()?;
        manager.place(tree.id(), Placement::ByKey(COLUMN));
        let wait = Arc::new(SessionWait::new(1));
        for first in (0..ROWS).step_by(LOADED_AT_ONCE as usize) {
            let mut transaction = manager.begin(Begin::default(), &wait);
            transaction.begin_statement()?;
            for key in first..first + LOADED_AT_ONCE {
                let value = vec![b'a' + (key % 26) as u8; FIELDS * FIELD_BYTES];
                transaction.put(&tree, &key.to_be_bytes(), &value)?;
            }
            let ended = transaction.commit(&mut |_| ())?;
            manager.data().log().wait_durable(ended.wait_for)?;
        }
        manager.checkpoint()?;
        Ok(Database { manager, tree })
    }

    /// A session whose transactions run so.
    #[must_use]
    pub fn worker(&self, mode: &Mode, number: u32) -> Session {
        let wait = SessionWait::new(number);
        wait.deadlock_timeout_ms.store(DEADLOCK_TIMEOUT_MS, Ordering::Relaxed);
        Session {
            manager: Arc::clone(&self.manager),
            tree: Arc::clone(&self.tree),
            begin: mode.begin,
            wait: Arc::new(wait),
            found: RecordBuffer::default(),
            value: Vec::new(),
            round: 0,
        }
    }

    /// Closes the directory.
    ///
    /// # Errors
    /// The database's own.
    pub fn close(self) -> Result<()> {
        Ok(self.manager.close()?)
    }
}

/// One that runs transactions.
pub struct Session {
    manager: Arc<Manager>,
    tree: Arc<Tree>,
    begin: Begin,
    wait: Arc<SessionWait>,
    found: RecordBuffer,
    value: Vec<u8>,
    round: u8,
}

impl Session {
    /// Runs a transaction up to its commit.
    ///
    /// # Errors
    /// The transaction's, which is rolled back.
    pub fn execute(&mut self, accesses: &[Access]) -> txn::Result<Transaction> {
        let mut transaction = self.manager.begin(self.begin, &self.wait);
        let done = transaction.begin_statement().and_then(|view| {
            for access in accesses {
                let key = access.key.to_be_bytes();
                let Some(field) = access.writes else {
                    transaction.get(&view, &self.tree, &key, &mut self.found)?;
                    std::hint::black_box(self.found.value());
                    continue;
                };
                let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
                transaction.lock_row(&view, &self.tree, &key, mode, policy, &mut self.found)?;
                self.value.clear();
                self.value.extend_from_slice(self.found.value().unwrap_or_default());
                self.round = self.round.wrapping_add(1);
                let at = field as usize * FIELD_BYTES;
                self.value[at..at + FIELD_BYTES].fill(self.round);
                transaction.update(&self.tree, &key, &self.value)?;
            }
            Ok(())
        });
        match done {
            Ok(()) => Ok(transaction),
            Err(error) => {
                let _ = transaction.rollback();
                Err(error)
            }
        }
    }

    /// Commits it.
    ///
    /// # Errors
    /// The commit's.
    pub fn commit(&mut self, transaction: Transaction) -> txn::Result<()> {
        self.begin.after = transaction.commit(&mut |_| ())?.wait_for;
        Ok(())
    }
}

/// Which keys are in which partition of a database as it is made, where keys are these bytes.
pub(super) fn partitions(bytes: impl Fn(u32) -> [u8; 4]) -> Partitions {
    let count = txn::Options::default().partitions;
    Partitions::new(count, |key| {
        COLUMN.partition(&bytes(key), count).expect("the column is there").into()
    })
}

impl Worker for Session {
    fn partitions(&self) -> Partitions {
        partitions(u32::to_be_bytes)
    }

    fn begin(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn attempt(&mut self, accesses: &[Access]) -> Result<Attempt> {
        let executed = self.execute(accesses);
        match executed.and_then(|transaction| self.commit(transaction)) {
            Ok(()) => Ok(Attempt::Committed),
            // Run again, it may succeed.
            Err(error @ (Error::Conflict(_) | Error::Deadlock(_))) => {
                Ok(Attempt::Aborted(Abort::of(&error).name()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn end(&mut self, own: Breakdown) -> Result<Breakdown> {
        Ok(own)
    }
}
