//! Rows that move to another key while somebody waits for them ([`crate::moves`]).

use super::{Locked, ReadView, Transaction};
use crate::moves::{Moment, Move, NOTED_MAX};
use crate::{CommandId, Lsn, Result};
use storage::Tree;

impl Transaction {
    /// The row at `from` goes on at `to`: the caller has locked both keys, deletes the one and writes the other.
    pub fn move_row(&mut self, tree: &Tree, from: &[u8], to: &[u8]) {
        let command = self.command;
        let moves = &mut self.state_mut().moves;
        if moves.len() < NOTED_MAX {
            moves.push(Move { command, tree: tree.id(), from: from.into(), to: to.into() });
        }
    }

    /// Locks a row by `lock`, first at the key where the view shows it. Where it has moved since, it is locked there, and `key`
    /// says where that is: then it has changed.
    ///
    /// # Errors
    /// Those of `lock`.
    pub fn lock_followed(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &mut Vec<u8>,
        lock: &mut dyn FnMut(&mut Transaction, &[u8]) -> Result<Locked>,
    ) -> Result<Locked> {
        let mut locked = lock(self, key)?;
        let mut since: Moment = (view.snapshot, CommandId(u32::MAX));
        while matches!(locked, Locked::Changed | Locked::Gone)
            && let Some((moment, to)) = self.next_move(view, tree, key, since)
        {
            since = moment;
            key.clear();
            key.extend_from_slice(&to);
            self.followed_to = moment.0;
            let there = lock(self, key);
            self.followed_to = Lsn::ZERO;
            locked = match there? {
                Locked::Same => Locked::Changed,
                other => other,
            };
        }
        Ok(locked)
    }

    /// Whether the row that the view shows at a key has moved to another since.
    pub(super) fn has_moved(&self, view: &ReadView, tree: &Tree, key: &[u8]) -> bool {
        let since = (view.snapshot, CommandId(u32::MAX));
        self.next_move(view, tree, key, since).is_some()
    }

    /// Where the row that stood at a key at some moment has gone next. If it is where the view shows it, no later than
    /// another has taken its place: what moves then is not the row.
    fn next_move(
        &self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        since: Moment,
    ) -> Option<(Moment, Box<[u8]>)> {
        let next = self.manager.moves.next(tree.id(), key, since)?;
        let first = since.0 == view.snapshot;
        let born = first.then(|| self.manager.locks.records.born(tree.id(), key)).flatten();
        let its_own = born.is_none_or(|born| self.shows(view, born) || (next.0).0 <= born);
        its_own.then_some(next)
    }
}
