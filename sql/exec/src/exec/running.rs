//! What changes while a statement runs and is looked at by reference: what functions look at stays borrowed while a value is
//! made, so a newer value is put beside the older ones, each different one once, until the run ends.

use std::cell::{Cell, OnceCell};

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
    #[inline]
    pub fn new(before: &'s T) -> Running<'s, T> {
        Running { before, newest: Cell::new(0), others: Others(OnceCell::new()) }
    }

    /// As it is now.
    #[must_use]
    #[inline]
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
