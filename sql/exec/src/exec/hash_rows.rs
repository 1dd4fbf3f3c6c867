//! Rows found by the values of a key: what hash joins, grouping, DISTINCT and set operations keep.
//!
//! Rows stand in a [`RowSet`]; the table maps a hash to the first and the last row with it, and each row names the next one:
//! rows with one key are found in the order in which they came, so that a join keeps the order of what it reads. Who asks only
//! whether there is a row has them the other way round, as PostgreSQL does (`ExecHashTableInsert`): a later row of a group is
//! what is looked for most.
//! Equality is that of the types' default order, so 1.0 meets 1.00. Hashes are folded multiplications from a random seed:
//! fast, and nobody outside can aim at a bucket.

use crate::account;
use crate::tuple::RowSet;
use crate::types::{Datum, compare, hash_into};
use rustc_hash::{FxBuildHasher, FxHasher};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hasher, RandomState};

/// No row.
const NONE: u32 = u32::MAX;

/// Rows by key: the first columns of each row are the key.
#[derive(Debug, Default)]
pub struct HashRows {
    /// All rows.
    pub rows: RowSet,
    types: Vec<u32>,
    /// The first and the last row with a hash.
    chains: HashMap<u64, (u32, u32), FxBuildHasher>,
    next: Vec<u32>,
    seed: usize,
}

impl HashRows {
    /// No rows of `width` columns, whose first ones are a key of these types.
    #[must_use]
    pub fn new(types: Vec<u32>, width: usize) -> HashRows {
        let seed = RandomState::new().hash_one(width) as usize;
        HashRows { rows: RowSet::new(width), types, seed, ..HashRows::default() }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.chains.clear();
        self.next.clear();
    }

    /// Forgets all rows and gives back what they have taken.
    pub fn forget(&mut self) {
        *self = HashRows {
            rows: RowSet::new(self.rows.width()),
            types: std::mem::take(&mut self.types),
            seed: self.seed,
            ..HashRows::default()
        };
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.chains.len() * 16 + self.next.len() * 4
    }

    /// What its memory occupies, about.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.rows.capacity_bytes() + self.chains.capacity() * 16 + self.next.capacity() * 4
    }

    fn hash(&self, key: &[Datum<'_>]) -> u64 {
        let mut hasher = FxHasher::with_seed(self.seed);
        for (ty, datum) in self.types.iter().zip(key) {
            hash_into(*ty, datum, &mut hasher);
        }
        hasher.finish()
    }

    fn matches(&self, row: u32, key: &[Datum<'_>]) -> bool {
        let mut key = key.iter().take(self.types.len()).enumerate();
        key.all(|(at, datum)| self.equal_at(row as usize, at, datum))
    }

    fn equal_at(&self, row: usize, column: usize, datum: &Datum<'_>) -> bool {
        let stored = self.rows.get(row, column);
        match (stored.is_null(), datum.is_null()) {
            (true, true) => true,
            (false, false) => compare(self.types[column], &stored, datum).is_eq(),
            _ => false,
        }
    }

    /// Whether a row has these columns of a key.
    #[must_use]
    pub fn agrees(&self, row: usize, key: &[Datum<'_>], columns: &[u32]) -> bool {
        columns.iter().all(|&at| self.equal_at(row, at as usize, &key[at as usize]))
    }

    /// The first row with this key.
    #[must_use]
    pub fn find(&self, key: &[Datum<'_>]) -> Option<usize> {
        let (first, _) = *self.chains.get(&self.hash(key))?;
        self.from(first, key)
    }

    /// The next row with the same key.
    #[must_use]
    pub fn find_next(&self, row: usize, key: &[Datum<'_>]) -> Option<usize> {
        self.from(self.next[row], key)
    }

    fn from(&self, mut at: u32, key: &[Datum<'_>]) -> Option<usize> {
        while at != NONE {
            if self.matches(at, key) {
                return Some(at as usize);
            }
            at = self.next[at as usize];
        }
        None
    }

    /// Adds a row that is all key, if it is not there yet; whether it was added, and where it is.
    pub fn insert_new(&mut self, row: &[Datum<'_>]) -> (bool, usize) {
        let hash = self.hash(row);
        if let Some((first, _)) = self.chains.get(&hash)
            && let Some(at) = self.from(*first, row)
        {
            return (false, at);
        }
        (true, self.insert_hashed(hash, row, false))
    }

    /// Adds a row, its key first, and says where it is.
    pub fn insert(&mut self, row: &[Datum<'_>]) -> usize {
        self.insert_hashed(self.hash(&row[..self.types.len()]), row, false)
    }

    /// Adds a row, its key first, that is found before those with the same key that are there.
    pub fn insert_first(&mut self, row: &[Datum<'_>]) -> usize {
        self.insert_hashed(self.hash(&row[..self.types.len()]), row, true)
    }

    fn insert_hashed(&mut self, hash: u64, row: &[Datum<'_>], first: bool) -> usize {
        let at = self.rows.len();
        let number = account::narrow(at);
        self.rows.push(row.iter().copied());
        self.next.push(NONE);
        match self.chains.entry(hash) {
            Entry::Occupied(mut chain) if first => {
                let next = std::mem::replace(&mut chain.get_mut().0, number);
                self.next[at] = next;
            }
            Entry::Occupied(mut chain) => {
                let last = std::mem::replace(&mut chain.get_mut().1, number);
                self.next[last as usize] = number;
            }
            Entry::Vacant(chain) => _ = chain.insert((number, number)),
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_chain_in_their_order_and_others_do_not_meet() {
        let mut table = HashRows::new(vec![23], 2);
        for (key, value) in [(1, "a"), (2, "b"), (1, "c")] {
            table.insert(&[Datum::Int4(key), Datum::Text(value)]);
        }
        let key = [Datum::Int4(1)];
        let first = table.find(&key).expect("the key is there");
        assert!(matches!(table.rows.get(first, 1), Datum::Text("a")));
        let second = table.find_next(first, &key).expect("twice");
        assert!(matches!(table.rows.get(second, 1), Datum::Text("c")));
        assert_eq!(table.find_next(second, &key), None);
        table.insert_first(&[Datum::Int4(1), Datum::Text("d")]);
        let before = table.find(&key).expect("thrice");
        assert!(matches!(table.rows.get(before, 1), Datum::Text("d")));
        assert_eq!(table.find_next(before, &key), Some(first));
        assert_eq!(table.find(&[Datum::Int4(3)]), None);
        assert_eq!(table.find(&[Datum::Null]), None);
    }
}
