//! What the transactions ask of what keeps their rows: the transaction component, or the kernel that only does the work.
//!
//! Each operation is what the transactions mean, not how one of the two does it, so that neither pays for the other: they are
//! compiled for each apart.

use super::row::Relation;
use crate::tpcc::client::Failure;
use std::ops::ControlFlow;
use txn::{Direction, TableLock};

/// Keeps rows.
pub trait Store {
    /// What finds a row.
    type Key: Copy;

    /// The key of these numbers.
    fn key<const N: usize>(numbers: [u32; N]) -> Self::Key;

    /// Locks tables as SQL does before it reads and writes them.
    ///
    /// # Errors
    /// The store's own.
    fn lock_tables(&mut self, tables: &[(Relation, TableLock)]) -> Result<(), Failure>;

    /// Looks at a row; none if it is not there.
    ///
    /// # Errors
    /// The store's own.
    fn read<T>(
        &mut self,
        relation: Relation,
        key: Self::Key,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Failure>;

    /// Changes a row that nobody else may change meanwhile; none if it is not there.
    ///
    /// # Errors
    /// The store's own.
    fn change<T>(
        &mut self,
        relation: Relation,
        key: Self::Key,
        change: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> Result<Option<T>, Failure>;

    /// Puts a row where there is none.
    ///
    /// # Errors
    /// The store's own; 23505 if there is one.
    fn insert(&mut self, relation: Relation, key: Self::Key, row: &[u8]) -> Result<(), Failure>;

    /// Puts an entry of an index whose row has been inserted.
    ///
    /// # Errors
    /// The store's own.
    fn index(&mut self, relation: Relation, key: Self::Key) -> Result<(), Failure>;

    /// Puts a row behind all others of `history`.
    ///
    /// # Errors
    /// The store's own.
    fn append_history(&mut self, row: &[u8]) -> Result<(), Failure>;

    /// Tells the numbers of a district's customers of a last name, by their first names.
    ///
    /// # Errors
    /// The store's own.
    fn customers_named(
        &mut self,
        district: [u32; 2],
        name: &str,
        each: impl FnMut(u32),
    ) -> Result<(), Failure>;

    /// Looks at the rows whose keys begin so, with the last number of each, until it is told to stop.
    ///
    /// # Errors
    /// The store's own.
    fn scan<const N: usize>(
        &mut self,
        relation: Relation,
        prefix: [u32; N],
        direction: Direction,
        each: impl FnMut(u32, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Failure>;

    /// Deletes the first row whose key begins so, and tells its last number; none if there is none.
    ///
    /// # Errors
    /// The store's own.
    fn take_first(&mut self, relation: Relation, prefix: [u32; 2]) -> Result<Option<u32>, Failure>;
}

/// All rows of a table, for who looks at them from outside of a transaction.
pub trait Tables {
    /// Tells each row with its key, in the order of the keys: as of the last commit, as nobody writes meanwhile.
    ///
    /// # Errors
    /// The store's own.
    fn each(&self, relation: Relation, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure>;
}
