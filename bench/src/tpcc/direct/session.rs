//! A session of the transaction component: begins and ends transactions, and keeps the rows of one that runs by its operations.

use super::row::{Key, Relation, last_number, name_key};
use super::store::Store;
use super::transactions::Work;
use super::{Database, Inner};
use crate::tpcc::client::Failure;
use crate::tpcc::driver::Performer;
use crate::tpcc::transactions::{Ended, Input, Place};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use txn::{
    Begin, Direction, Isolation, KeyRange, ReadView, RecordBuffer, RowLock, Scan, SessionWait,
    TableId, TableLock, Transaction, WaitPolicy,
};

/// One that runs transactions.
pub struct Session {
    database: Arc<Database>,
    place: Place,
    begin: Begin,
    locks_tables: bool,
    /// What its thread leaves out before the first transaction.
    without: Vec<Inner>,
    wait: Arc<SessionWait>,
    found: RecordBuffer,
    row: Vec<u8>,
    made: Vec<u8>,
    name: Vec<u8>,
}

/// A transaction under way, with what its session lends it.
struct Running<'s> {
    database: &'s Database,
    locks_tables: bool,
    transaction: &'s mut Transaction,
    view: ReadView,
    /// What is read.
    found: &'s mut RecordBuffer,
    /// What is changed.
    row: &'s mut Vec<u8>,
    name: &'s mut Vec<u8>,
}

impl Session {
    pub(super) fn new(database: Arc<Database>, place: Place, number: u32) -> Session {
        Session {
            database,
            place,
            begin: Begin { isolation: Isolation::ReadCommitted, ..Begin::default() },
            locks_tables: true,
            without: Vec::new(),
            wait: Arc::new(SessionWait::new(number)),
            found: RecordBuffer::default(),
            row: Vec::new(),
            made: Vec::new(),
            name: Vec::new(),
        }
    }

    /// The same, for as long as nobody changes a definition: it locks no tables. What is saved is their price.
    #[must_use]
    pub fn without_table_locks(self) -> Session {
        Session { locks_tables: false, ..self }
    }

    /// The same, whose transactions do without these parts. It is the only session.
    #[must_use]
    pub fn without(self, parts: &[Inner]) -> Session {
        Session { without: parts.to_vec(), ..self }
    }
}

impl Performer for Session {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        self.without.drain(..).for_each(|part| self.database.leave_out(part));
        let manager = &self.database.manager;
        let mut transaction = manager.begin(self.begin, &self.wait);
        let view = transaction.begin_statement()?;
        let now = manager.environment().clock.wall();
        let mut running = Running {
            database: &self.database,
            locks_tables: self.locks_tables,
            transaction: &mut transaction,
            view,
            found: &mut self.found,
            row: &mut self.row,
            name: &mut self.name,
        };
        let mut work = Work { store: &mut running, place: self.place, now, made: &mut self.made };
        let done = work.run(input);
        let ended = match done {
            Ok(Ended::Committed) => transaction.commit(&mut |_| ())?,
            Ok(Ended::RolledBack) | Err(_) => transaction.rollback(),
        };
        self.begin.after = ended.wait_for;
        if self.database.synchronous {
            manager.data().log().wait_durable(ended.wait_for)?;
        }
        done
    }
}

impl Running<'_> {
    /// Scans the rows whose keys begin so.
    fn open(
        &mut self,
        relation: Relation,
        prefix: &[u8],
        direction: Direction,
    ) -> Result<Scan, Failure> {
        let mut end = prefix.to_vec();
        let last = end.iter().rposition(|byte| *byte < u8::MAX).expect("numbers are small");
        end.truncate(last + 1);
        end[last] += 1;
        let range = KeyRange { low: Bound::Included(prefix), high: Bound::Excluded(&end) };
        Ok(self.transaction.scan(&self.view, self.database.tree(relation), range, direction)?)
    }
}

impl Store for Running<'_> {
    type Key = Key;

    fn key<const N: usize>(numbers: [u32; N]) -> Key {
        Key::of(numbers)
    }

    fn lock_tables(&mut self, tables: &[(Relation, TableLock)]) -> Result<(), Failure> {
        if !self.locks_tables {
            return Ok(());
        }
        for (relation, mode) in tables {
            let table = TableId(*relation as u64);
            self.transaction.lock_table(table, *mode, WaitPolicy::Block)?;
        }
        Ok(())
    }

    fn read<T>(
        &mut self,
        relation: Relation,
        key: Key,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Failure> {
        let tree = self.database.tree(relation);
        let is_there = self.transaction.get(&self.view, tree, key.bytes(), self.found)?;
        Ok(if is_there { self.found.value().map(look) } else { None })
    }

    fn change<T>(
        &mut self,
        relation: Relation,
        key: Key,
        change: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> Result<Option<T>, Failure> {
        let tree = self.database.tree(relation);
        let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        self.transaction.lock_row(&self.view, tree, key.bytes(), mode, policy, self.found)?;
        let Some(found) = self.found.value() else { return Ok(None) };
        self.row.clear();
        self.row.extend_from_slice(found);
        let changed = change(self.row);
        self.transaction.update(tree, key.bytes(), self.row)?;
        Ok(Some(changed))
    }

    fn insert(&mut self, relation: Relation, key: Key, row: &[u8]) -> Result<(), Failure> {
        let tree = self.database.tree(relation);
        let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
        if self.transaction.lock_key(tree, key.bytes(), mode, policy, self.found)? {
            let message = format!("{relation:?} has that row already");
            return Err(Failure { sqlstate: "23505".to_owned(), message });
        }
        Ok(self.transaction.put(tree, key.bytes(), row)?)
    }

    fn index(&mut self, relation: Relation, key: Key) -> Result<(), Failure> {
        Ok(self.transaction.put(self.database.tree(relation), key.bytes(), &[])?)
    }

    fn append_history(&mut self, row: &[u8]) -> Result<(), Failure> {
        let history = self.database.tree(Relation::History);
        Ok(self.transaction.put(history, &self.database.history_key(), row)?)
    }

    fn customers_named(
        &mut self,
        district: [u32; 2],
        name: &str,
        mut each: impl FnMut(u32),
    ) -> Result<(), Failure> {
        let mut prefix = std::mem::take(self.name);
        name_key(&mut prefix, district, name.as_bytes());
        let scan = self.open(Relation::CustomerName, &prefix, Direction::Forward);
        *self.name = prefix;
        let mut scan = scan?;
        while let Some(found) = scan.advance(self.transaction)? {
            each(last_number(found.key));
        }
        Ok(())
    }

    fn scan<const N: usize>(
        &mut self,
        relation: Relation,
        prefix: [u32; N],
        direction: Direction,
        mut each: impl FnMut(u32, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let mut scan = self.open(relation, Key::of(prefix).bytes(), direction)?;
        while let Some(found) = scan.advance(self.transaction)? {
            if each(last_number(found.key), found.value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn take_first(&mut self, relation: Relation, prefix: [u32; 2]) -> Result<Option<u32>, Failure> {
        let mut scan = self.open(relation, Key::of(prefix).bytes(), Direction::Forward)?;
        while let Some(last) = scan.advance(self.transaction)?.map(|found| last_number(found.key)) {
            let (tree, key) = (self.database.tree(relation), Key::of([prefix[0], prefix[1], last]));
            let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
            // Whoever was faster has deleted it.
            if self.transaction.lock_key(tree, key.bytes(), mode, policy, self.found)? {
                self.transaction.delete(tree, key.bytes())?;
                return Ok(Some(last));
            }
        }
        Ok(None)
    }
}
