//! What becomes of settings when a transaction, a savepoint or a routine with settings of its own ends.

use super::session::{Entry, Key, Settings};
use std::sync::Arc;

/// A place to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingsSavepoint(usize);

impl Settings {
    /// A place to roll back to.
    #[must_use]
    pub fn savepoint(&self) -> SettingsSavepoint {
        SettingsSavepoint(self.undo.len())
    }

    /// Takes back what was set since.
    pub fn rollback_to(&mut self, savepoint: SettingsSavepoint) {
        if self.undo.len() <= savepoint.0 {
            return;
        }
        let mut changes = false;
        let entries = Arc::make_mut(&mut self.entries);
        for (key, before) in self.undo.drain(savepoint.0..).rev() {
            changes |= !key.is_mode();
            match before {
                Some(entry) => drop(entries.insert(key, entry)),
                None => drop(entries.remove(&key)),
            }
        }
        if changes {
            self.refresh_plain();
        }
    }

    /// The transaction has committed: what was set stays, what was local goes.
    pub fn commit(&mut self) {
        if self.undo.is_empty() {
            return;
        }
        let mut changes = false;
        let entries = Arc::make_mut(&mut self.entries);
        for (key, _) in self.undo.drain(..) {
            changes |= !key.is_mode();
            if let Some(entry) = entries.get_mut(&key) {
                entry.local = None;
            }
        }
        if changes {
            self.refresh_plain();
        }
    }

    /// The transaction has rolled back.
    pub fn rollback(&mut self) {
        self.rollback_to(SettingsSavepoint(0));
    }

    /// A routine with settings of its own, of these names, has come to its end; what was there when it began is given back. What
    /// it has SET stays, even of those names; SET LOCAL of them ends with it (`AtEOXact_GUC`, of a nest level that commits).
    pub fn leave_routine<'n>(&mut self, began: Settings, own: impl Iterator<Item = &'n str>) {
        let since = began.undo.len();
        let own: Vec<Key> = own.map(Settings::key).collect();
        if self.undo.len() == since + own.len() {
            *self = began;
            return;
        }
        for key in &own {
            let entries = Arc::make_mut(&mut self.entries);
            let of_key = || self.undo[since..].iter().filter(|(other, _)| other == key);
            let Some((_, before)) = of_key().next() else { continue };
            // SET leaves nothing that is local, whatever was so before.
            let is_local = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.local.is_some());
            if is_local(entries.get(key)) && of_key().skip(1).all(|one| is_local(one.1.as_ref())) {
                match before {
                    Some(entry) => drop(entries.insert(key.clone(), entry.clone())),
                    None => drop(entries.remove(key)),
                }
                let later = self.undo.split_off(since);
                self.undo.extend(later.into_iter().filter(|(other, _)| other != key));
            }
        }
        self.refresh_plain();
    }
}
