//! Rows that have got another key, for those who look for them under the old one.
//!
//! A row is found by its key, and an update of its primary key writes it anew under another. A statement at READ COMMITTED that
//! has waited for the row goes on with the version that came behind it, wherever that is (PostgreSQL 15 manual, section 13.2.1;
//! there a chain of tuples leads to it). So a commit notes from which key to which it has moved rows, before its locks go, and
//! the notes stay until every snapshot shows the commit. What has waited is as old as the server's life, so nothing of this
//! is logged.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, lock, rank};
use crate::{CommandId, Lsn, TreeId};
use std::collections::HashMap;

/// How many rows of a transaction are noted. Beyond, a row that has moved counts as deleted for those who wait for it.
pub(crate) const NOTED_MAX: usize = 65_536;

/// A commit's LSN and the command in it: rows that one command moves do not move behind one another.
pub(crate) type Moment = (Lsn, CommandId);

/// A row that a transaction has given another key.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) command: CommandId,
    pub(crate) tree: TreeId,
    pub(crate) from: Box<[u8]>,
    pub(crate) to: Box<[u8]>,
}

/// Where from one key rows have gone, ascending.
type Gone = Vec<(Moment, Box<[u8]>)>;

/// The notes.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// How many keys have some; written under the latch.
    keys: AtomicUsize,
    by_key: Mutex<HashMap<(TreeId, Box<[u8]>), Gone>, { rank::GARBAGE }>,
}

impl Moves {
    /// A commit notes what it has moved. It has been claimed, and holds the locks on both keys.
    pub(crate) fn note(&self, lsn: Lsn, moves: &mut Vec<Move>) {
        if moves.is_empty() {
            return;
        }
        let mut by_key = lock(&self.by_key);
        for Move { command, tree, from, to } in moves.drain(..) {
            by_key.entry((tree, from)).or_default().push(((lsn, command), to));
        }
        self.keys.store(by_key.len(), Ordering::Release);
    }

    /// Where the row that stood at a key at some moment has gone next, and when.
    pub(crate) fn next(
        &self,
        tree: TreeId,
        key: &[u8],
        since: Moment,
    ) -> Option<(Moment, Box<[u8]>)> {
        // Order: who asks has been given a lock that the mover held, and notes come before locks go.
        if self.keys.load(Ordering::Acquire) == 0 {
            return None;
        }
        let by_key = lock(&self.by_key);
        let gone = by_key.get(&(tree, Box::from(key)))?;
        gone.iter().find(|(moment, _)| *moment > since).cloned()
    }

    /// Forgets what every snapshot shows.
    pub(crate) fn forget(&self, horizon: Lsn) {
        if self.keys.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut by_key = lock(&self.by_key);
        by_key.retain(|_, gone| {
            gone.retain(|((lsn, _), _)| *lsn > horizon);
            !gone.is_empty()
        });
        self.keys.store(by_key.len(), Ordering::Release);
    }
}
