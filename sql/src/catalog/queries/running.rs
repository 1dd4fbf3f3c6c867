//! Settings while a statement runs: `set_config` changes them at once, for all that the statement does afterwards.
//!
//! What functions look at stays borrowed while a value is made, so a newer value is put beside the older ones, each different
//! one once, until the run ends; then the session takes the newest. A change of the user waits for the statement's end.

use crate::catalog::{CatalogSnapshot, SearchPath};
use crate::error::Result;
use crate::settings::{SessionSettings, Settings};
use crate::types::Oid;
use std::cell::{Cell, OnceCell, RefCell};

/// A value that is replaced while others look at it.
#[derive(Debug)]
pub struct Running<'s, T> {
    before: &'s T,
    /// Which one counts: 0 is the one before, the others are counted from 1.
    newest: Cell<usize>,
    others: Others<T>,
}

/// Values behind each other.
#[derive(Debug)]
struct Others<T>(OnceCell<Box<(T, Others<T>)>>);

impl<T> Drop for Others<T> {
    /// One after the other, not within each other.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut node) = next {
            next = node.1.0.take();
        }
    }
}

impl<'s, T: PartialEq> Running<'s, T> {
    /// As it was when the statement began.
    #[must_use]
    pub fn new(before: &'s T) -> Running<'s, T> {
        Running { before, newest: Cell::new(0), others: Others(OnceCell::new()) }
    }

    /// As it is now.
    #[inline]
    #[must_use]
    pub fn get(&self) -> &T {
        match self.newest.get() {
            0 => self.before,
            number => self.other(number),
        }
    }

    #[cold]
    fn other(&self, number: usize) -> &T {
        let mut node = self.others.0.get();
        for _ in 1..number {
            node = node.and_then(|node| node.1.0.get());
        }
        node.map_or(self.before, |node| &node.0)
    }

    /// From now on it is this.
    pub fn put(&self, value: T) {
        let (mut cell, mut number) = (&self.others.0, 1);
        if value == *self.before {
            self.newest.set(0);
            return;
        }
        while let Some(node) = cell.get() {
            if node.0 == value {
                self.newest.set(number);
                return;
            }
            (cell, number) = (&node.1.0, number + 1);
        }
        cell.get_or_init(|| Box::new((value, Others(OnceCell::new()))));
        self.newest.set(number);
    }
}

/// A `set_config` of `role` or `session_authorization`, which the session does when the statement is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUser {
    /// The setting.
    pub name: String,
    /// Its value; none is its default.
    pub value: Option<String>,
    /// For the transaction only.
    pub local: bool,
}

/// A session's settings while a statement runs.
#[derive(Debug)]
pub struct RunningSettings<'s> {
    before: &'s Settings,
    after: RefCell<Option<Settings>>,
    /// What functions look at.
    pub plain: Running<'s, SessionSettings>,
    /// The resolved search path.
    pub path: Running<'s, SearchPath>,
    users: RefCell<Vec<SetUser>>,
}

impl<'s> RunningSettings<'s> {
    /// As they are when the statement begins.
    #[must_use]
    pub fn new(before: &'s Settings, path: &'s SearchPath) -> RunningSettings<'s> {
        RunningSettings {
            before,
            after: RefCell::default(),
            plain: Running::new(before.plain()),
            path: Running::new(path),
            users: RefCell::default(),
        }
    }

    /// Looks at them as they are now.
    pub fn read<T>(&self, look: impl FnOnce(&Settings) -> T) -> T {
        look(self.after.borrow().as_ref().unwrap_or(self.before))
    }

    /// What they are now, for somebody who looks for longer.
    #[must_use]
    pub fn changed(&self) -> Option<Settings> {
        self.after.borrow().clone()
    }

    /// Those before the statement.
    #[must_use]
    pub fn before(&self) -> &'s Settings {
        self.before
    }

    /// Changes them.
    ///
    /// # Errors
    /// Those of `change`, which has changed nothing then.
    pub fn change(
        &self,
        (snapshot, user): (&CatalogSnapshot, Oid),
        change: impl FnOnce(&mut Settings) -> Result<()>,
    ) -> Result<()> {
        let mut after = self.after.borrow_mut();
        let settings = after.get_or_insert_with(|| self.before.clone());
        change(settings)?;
        let plain = settings.plain();
        if plain.search_path != self.plain.get().search_path {
            self.path.put(SearchPath::resolve(snapshot, &plain.search_path, user));
        }
        self.plain.put(plain.clone());
        Ok(())
    }

    /// Has the user changed when the statement is done.
    pub fn set_user(&self, set: SetUser) {
        self.users.borrow_mut().push(set);
    }

    /// What the run has made of them, if anything, and the users it has asked for.
    #[must_use]
    pub fn end(self) -> (Option<Settings>, Vec<SetUser>) {
        (self.after.into_inner(), self.users.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_value_counts_and_those_before_it_stay() {
        let running = Running::new(&0);
        let first = running.get();
        running.put(1);
        let second = running.get();
        running.put(2);
        running.put(1);
        assert_eq!((*first, *second, *running.get()), (0, 1, 1));
        running.put(0);
        assert_eq!(*running.get(), 0);
        for value in 0..10_000 {
            running.put(value % 10);
        }
        assert_eq!(*running.get(), 9);
    }
}
