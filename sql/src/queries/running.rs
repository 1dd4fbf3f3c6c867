//! Settings while a statement runs: `set_config` changes them at once, for all that the statement does afterwards.
//!
//! What functions look at stays borrowed while a value is made, so a newer value is put beside the older ones, each different
//! one once, until the run ends; then the session takes the newest. So it is with who calls: what a plan does was allowed, or
//! not, when it began.

use super::identity::{Identity, SettingUser};
use crate::catalog::{CatalogSnapshot, SearchPath};
use crate::error::{Notice, Result};
use crate::settings::{Moment, SessionSettings, Settings};
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
    #[inline]
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

/// A session's settings while a statement runs.
#[derive(Debug)]
pub struct RunningSettings<'s> {
    before: &'s Settings,
    after: RefCell<Option<Settings>>,
    /// What functions look at.
    pub plain: Running<'s, SessionSettings>,
    /// The resolved search path.
    pub path: Running<'s, SearchPath>,
    /// Who the session is.
    pub identity: Running<'s, Identity>,
}

impl<'s> RunningSettings<'s> {
    /// As they are when the statement begins.
    #[must_use]
    pub fn new(
        before: &'s Settings,
        path: &'s SearchPath,
        identity: &'s Identity,
    ) -> RunningSettings<'s> {
        RunningSettings {
            before,
            after: RefCell::default(),
            plain: Running::new(before.plain()),
            path: Running::new(path),
            identity: Running::new(identity),
        }
    }

    /// Looks at them as they are now.
    pub fn read<T>(&self, look: impl FnOnce(&Settings) -> T) -> T {
        look(self.after.borrow().as_ref().unwrap_or(self.before))
    }

    /// Whether the statement has changed them.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.after.borrow().is_some()
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

    /// `set_config`: changes one of them, and says what it is then.
    ///
    /// # Errors
    /// Those of SET.
    pub fn set(
        &self,
        snapshot: &CatalogSnapshot,
        (name, value): (&str, Option<&str>),
        local: bool,
        notices: &mut Vec<Notice>,
    ) -> Result<String> {
        let mut after = self.after.borrow_mut();
        let settings = after.get_or_insert_with(|| self.before.clone());
        let identity = self.identity.get();
        let shared = snapshot.shared();
        let moment = if local { Moment::SetLocal } else { Moment::Set };
        settings.assign((name, value), moment, &SettingUser { shared, identity }, notices)?;
        let mut next = identity.clone();
        next.assume(shared, settings);
        if next != *identity {
            self.identity.put(next);
        }
        let (plain, user) = (settings.plain(), self.identity.get().user);
        if plain.search_path != self.plain.get().search_path || user != identity.user {
            self.path.put(SearchPath::resolve(snapshot, &plain.search_path, user));
        }
        self.plain.put(plain.clone());
        Ok(settings.show(name).unwrap_or_default())
    }

    /// Takes over what somebody else has made of them meanwhile.
    pub fn adopt(&self, settings: &Settings, path: &SearchPath, identity: &Identity) {
        self.plain.put(settings.plain().clone());
        self.path.put(path.clone());
        self.identity.put(identity.clone());
        *self.after.borrow_mut() = Some(settings.clone());
    }

    /// What the run has made of them, if anything.
    #[must_use]
    pub fn end(&mut self) -> Option<Settings> {
        self.after.get_mut().take()
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
