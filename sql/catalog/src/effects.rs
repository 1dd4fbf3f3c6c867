//! What the end of a transaction does to the catalog beside the transaction's own writes.
//!
//! A commit makes the objects it has written the current state, and frees the trees it has dropped; a rollback frees the
//! trees that were made. Usually the session knows, and nobody else need: after a crash the catalog is read again, and
//! trees that no record names are freed. A prepared transaction outlives its session and the process, so what its end
//! will do is said in the note that stands in its record ([`PreparedNote`]), and the trees it has made live through a
//! restart.

use super::codec;
use super::current::Catalog;
use super::snapshot::Change;
use sql_types::Oid;
use sql_types::error::Result;
use txn::{Lsn, Manager, TreeId};

/// What the end of a transaction does to the catalog.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// What objects become.
    pub changes: Vec<Change>,
    /// Tables that had no rows and were not locked against readers, and get new trees.
    pub loaded: Vec<Oid>,
    /// Trees that were made: freed by a rollback.
    pub created: Vec<TreeId>,
    /// Trees that a commit frees, once no older snapshot reads them.
    pub dropped: Vec<TreeId>,
}

impl Effects {
    /// Makes the changes the current state: the commit's LSN is known, and its locks are still there.
    pub fn install(&self, catalog: &Catalog, lsn: Lsn) {
        if !self.changes.is_empty() {
            catalog.install(&self.changes, &self.loaded, lsn);
        }
    }

    /// The commit at `lsn` is done.
    pub fn committed(&self, catalog: &Catalog, lsn: Lsn) {
        catalog.drop_trees(lsn, &self.dropped);
    }

    /// The transaction has rolled back: no write is left for its trees.
    pub fn rolled_back(&self, catalog: &Catalog) {
        catalog.free(&self.created);
    }
}

/// What is kept with a prepared transaction.
#[derive(Clone, Debug)]
pub struct PreparedNote {
    /// Who prepared it.
    pub user: Oid,
    /// Where: the only database whose sessions may resolve it.
    pub database: Oid,
    /// What its end does.
    pub effects: Effects,
}

impl PreparedNote {
    /// As bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode_note(self)
    }

    /// Of bytes.
    ///
    /// # Errors
    /// XX001: they are none.
    pub fn decode(bytes: &[u8]) -> Result<PreparedNote> {
        codec::decode_note(bytes)
    }

    /// Those of all prepared transactions.
    ///
    /// # Errors
    /// XX001 for one that is none.
    pub fn all(manager: &Manager) -> Result<Vec<PreparedNote>> {
        manager.prepared().iter().map(|info| PreparedNote::decode(&info.note)).collect()
    }
}
