//! Snapshots that running transactions have exported, for others to begin with (PostgreSQL 15 manual, section 9.27.5 and
//! the page of SET TRANSACTION; `snapmgr.c`).
//!
//! A snapshot is an LSN, so to export one is to write it down under a name, and to import it is to announce it
//! ([`crate::owner`]) while its exporter still does. Both happen under the list's lock, and an exporter takes its names off
//! the list before it ends: whoever finds a name takes over a snapshot that is needed, and collectors that look at all
//! owners meanwhile look again. Versions that were given up for the exporter are given up for the importer.

use crate::Lsn;
use crate::owner::OwnerId;
use crate::sync::{Mutex, lock, rank};
use crate::transaction::{Begin, Transaction};
use std::collections::HashMap;

/// Who exports: what others need to know of its transaction.
#[derive(Clone, Copy, Debug)]
pub struct Exporter {
    /// What it began with.
    pub begin: Begin,
    /// Where its snapshot is of use, as the caller numbers it: its database.
    pub scope: u32,
    owner: OwnerId,
}

/// The list of exported snapshots, by name.
#[derive(Debug, Default)]
pub struct ExportedSnapshots {
    list: Mutex<HashMap<String, (Lsn, Exporter)>, { rank::GARBAGE }>,
}

impl ExportedSnapshots {
    /// Exports a snapshot that the transaction's statement reads by. The transaction keeps it from then on
    /// ([`Transaction::retain_view`]), and takes the name off the list before it ends.
    pub fn export(&self, name: &str, snapshot: Lsn, exporter: Exporter) {
        lock(&self.list).insert(name.to_owned(), (snapshot, exporter));
    }

    /// Who has exported the snapshot of this name.
    #[must_use]
    pub fn exporter(&self, name: &str) -> Option<Exporter> {
        lock(&self.list).get(name).map(|(_, exporter)| *exporter)
    }

    /// Takes names off the list: their transaction is about to end.
    pub fn forget(&self, names: &[String]) {
        let mut list = lock(&self.list);
        for name in names {
            list.remove(name);
        }
    }
}

impl Transaction {
    /// This transaction as one that exports its snapshots.
    #[must_use]
    pub fn exporter(&self, scope: u32) -> Exporter {
        Exporter { begin: *self.begin(), scope, owner: self.state().owner }
    }

    /// Takes an exported snapshot for its own, before its first statement. False: the exporter is not there any more, or its
    /// snapshot is lost.
    #[must_use]
    pub fn import_snapshot(&mut self, name: &str) -> bool {
        let manager = std::sync::Arc::clone(self.manager());
        // Ranked before the list, under which the exporter cannot end: it still has its place among the serializable ones.
        let mut places = self.is_in_ssi().then(|| manager.ssi.lock());
        let list = lock(&manager.exported.list);
        let Some((snapshot, exporter)) = list.get(name) else { return false };
        let owners = &manager.locks.owners;
        owners.adopt(self.state().owner, *snapshot);
        // Asked behind the announcement: versions are given up only once this is set.
        if owners.get(exporter.owner).is_too_old() {
            owners.get(self.state().owner).withdraw();
            return false;
        }
        self.adopt_snapshot(*snapshot, places.as_deref_mut());
        true
    }
}
