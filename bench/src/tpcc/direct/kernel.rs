//! The kernel that only does the work: the transactions on rows in memory behind pointers, which an ordered map finds by
//! whole numbers. One session at a time; no pages, no latches, no pool, no log, no locks, no versions.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008: what was left of Shore when
//! everything had been taken away (its figures 5 to 8, the last bar). What a transaction takes on the transaction component and
//! not here is the joint price of all that it promises. Differences: the paper's kernel kept Shore's trees, this one has the standard
//! library's; and since nothing undoes a write here, a New-Order that asks for an item that is not there is told before it begins
//! (it reads its items twice; Stonebraker et al., *The End of an Architectural Era*, VLDB 2007, call transactions of this form two-phase).
//!
//! With the keys of the engine's trees, bytes that compare as their numbers do, in place of numbers the difference is what
//! such keys cost an ordered map: `K` is one or the other. The index on last names has numbers in both.

use super::row::{Key, Relation, number};
use super::store::{Store, Tables};
use super::transactions::Work;
use crate::tpcc::Scale;
use crate::tpcc::client::Failure;
use crate::tpcc::driver::{self, Load, Performer, Report};
use crate::tpcc::population::Population;
use crate::tpcc::schema::TABLES;
use crate::tpcc::transactions::{Ended, Input, Place};
use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Mutex;
use txn::{Clock, Direction, SystemClock, TableLock};

/// A key of up to four numbers.
pub trait MapKey: Copy + Ord {
    /// Of these numbers.
    fn of<const N: usize>(numbers: [u32; N]) -> Self;
    /// Gives its numbers as bytes that compare as it does; zeros may follow them.
    fn with_bytes(&self, each: &mut dyn FnMut(&[u8]));
    /// Its number at this place.
    fn number(&self, at: usize) -> u32;
}

impl MapKey for u128 {
    fn of<const N: usize>(numbers: [u32; N]) -> u128 {
        let mut key = 0;
        for (at, number) in numbers.into_iter().enumerate() {
            key |= u128::from(number) << (96 - 32 * at);
        }
        key
    }

    fn with_bytes(&self, each: &mut dyn FnMut(&[u8])) {
        each(&self.to_be_bytes());
    }

    fn number(&self, at: usize) -> u32 {
        (self >> (96 - 32 * at)) as u32
    }
}

impl MapKey for Key {
    fn of<const N: usize>(numbers: [u32; N]) -> Key {
        Key::of(numbers)
    }

    fn with_bytes(&self, each: &mut dyn FnMut(&[u8])) {
        each(self.bytes());
    }

    fn number(&self, at: usize) -> u32 {
        super::row::key_number(self.bytes(), at)
    }
}

/// The rows of the tables, and the two indexes.
pub struct Kernel<K> {
    /// By [`Relation`]; what has no row of its own is empty.
    rows: [BTreeMap<K, Vec<u8>>; Relation::ALL.len()],
    /// Numbers of customers by warehouse and district and by last name; by first name among themselves.
    names: BTreeMap<(u64, u128), Vec<u32>>,
    next_history: u32,
}

/// A district as one number.
fn district(numbers: [u32; 2]) -> u64 {
    u64::from(numbers[0]) << 32 | u64::from(numbers[1])
}

/// A last name as one number: the standard's have fifteen letters at most, and the column sixteen.
fn name_number(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name);
    u128::from_be_bytes(bytes)
}

impl<K: MapKey> Kernel<K> {
    /// The rows of the population.
    #[must_use]
    pub fn load(scale: Scale) -> Kernel<K> {
        let mut kernel = Kernel {
            rows: std::array::from_fn(|_| BTreeMap::new()),
            names: BTreeMap::new(),
            next_history: 0,
        };
        for (relation, (table, _)) in Relation::ALL.into_iter().zip(TABLES) {
            let mut population = Population::of(table, scale);
            let (mut lines, mut row) = (Vec::new(), Vec::new());
            while population.next(&mut lines) {}
            for line in std::str::from_utf8(&lines).expect("the population writes letters").lines()
            {
                let key = relation.parse(line, &mut row);
                kernel.put(relation, &key, &row);
            }
        }
        for (key, customers) in std::mem::take(&mut kernel.names) {
            let first = |c: &u32| {
                let place = K::of([(key.0 >> 32) as u32, key.0 as u32, *c]);
                let row = &kernel.rows[Relation::Customer as usize][&place];
                Relation::Customer.text(row, 0).to_vec()
            };
            let mut customers = customers;
            customers.sort_by_cached_key(first);
            kernel.names.insert(key, customers);
        }
        kernel
    }

    /// Puts a row of the population, with its entries in the indexes.
    fn put(&mut self, relation: Relation, key: &Key, row: &[u8]) {
        let part = |at| super::row::key_number(key.bytes(), at);
        let place = match relation {
            Relation::History => K::of([self.history_key()]),
            Relation::Item | Relation::Warehouse => K::of([part(0)]),
            Relation::Stock | Relation::District => K::of([part(0), part(1)]),
            Relation::OrderLine => K::of([part(0), part(1), part(2), part(3)]),
            _ => K::of([part(0), part(1), part(2)]),
        };
        match relation {
            Relation::Customer => {
                let name = name_number(Relation::Customer.text(row, 2));
                self.names.entry((district([part(0), part(1)]), name)).or_default().push(part(2));
            }
            Relation::Orders => {
                let entry = K::of([part(0), part(1), number(row, 0) as u32, part(2)]);
                self.map(Relation::OrdersCustomer).insert(entry, Vec::new());
            }
            _ => {}
        }
        self.map(relation).insert(place, row.to_vec());
    }

    fn map(&mut self, relation: Relation) -> &mut BTreeMap<K, Vec<u8>> {
        &mut self.rows[relation as usize]
    }

    fn history_key(&mut self) -> u32 {
        self.next_history += 1;
        self.next_history
    }

    /// Whether it is a New-Order that asks for an item that is not there.
    fn refuses(&self, input: &Input) -> bool {
        let Input::NewOrder(order) = input else { return false };
        let items = &self.rows[Relation::Item as usize];
        order.lines.iter().any(|line| !items.contains_key(&K::of([line.item])))
    }
}

impl<K: MapKey> Tables for Kernel<K> {
    fn each(&self, relation: Relation, row: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        for (key, value) in &self.rows[relation as usize] {
            key.with_bytes(&mut |key| row(key, value));
        }
        Ok(())
    }
}

impl<K: MapKey> Store for Kernel<K> {
    type Key = K;

    fn key<const N: usize>(numbers: [u32; N]) -> K {
        K::of(numbers)
    }

    fn lock_tables(&mut self, _: &[(Relation, TableLock)]) -> Result<(), Failure> {
        Ok(())
    }

    fn read<T>(
        &mut self,
        relation: Relation,
        key: K,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Failure> {
        Ok(self.map(relation).get(&key).map(|row| look(row)))
    }

    fn change<T>(
        &mut self,
        relation: Relation,
        key: K,
        change: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> Result<Option<T>, Failure> {
        Ok(self.map(relation).get_mut(&key).map(change))
    }

    fn insert(&mut self, relation: Relation, key: K, row: &[u8]) -> Result<(), Failure> {
        if self.map(relation).insert(key, row.to_vec()).is_some() {
            let message = format!("{relation:?} had that row already");
            return Err(Failure { sqlstate: "23505".to_owned(), message });
        }
        Ok(())
    }

    fn index(&mut self, relation: Relation, key: K) -> Result<(), Failure> {
        self.map(relation).insert(key, Vec::new());
        Ok(())
    }

    fn append_history(&mut self, row: &[u8]) -> Result<(), Failure> {
        let key = K::of([self.history_key()]);
        self.map(Relation::History).insert(key, row.to_vec());
        Ok(())
    }

    fn customers_named(
        &mut self,
        place: [u32; 2],
        name: &str,
        each: impl FnMut(u32),
    ) -> Result<(), Failure> {
        let customers = self.names.get(&(district(place), name_number(name.as_bytes())));
        customers.into_iter().flatten().copied().for_each(each);
        Ok(())
    }

    fn scan<const N: usize>(
        &mut self,
        relation: Relation,
        prefix: [u32; N],
        direction: Direction,
        mut each: impl FnMut(u32, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let mut end = prefix;
        end[N - 1] += 1;
        let range = (Bound::Included(K::of(prefix)), Bound::Excluded(K::of(end)));
        let mut rows = self.map(relation).range(range);
        loop {
            let next = match direction {
                Direction::Forward => rows.next(),
                Direction::Backward => rows.next_back(),
            };
            let Some((key, row)) = next else { break };
            if each(key.number(N), row).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn take_first(&mut self, relation: Relation, prefix: [u32; 2]) -> Result<Option<u32>, Failure> {
        let mut first = None;
        self.scan(relation, prefix, Direction::Forward, |last, _| {
            first = Some(last);
            ControlFlow::Break(())
        })?;
        let Some(last) = first else { return Ok(None) };
        self.map(relation).remove(&K::of([prefix[0], prefix[1], last]));
        Ok(Some(last))
    }
}

/// The one session of a kernel.
struct Session<'k, K> {
    kernel: &'k mut Kernel<K>,
    place: Place,
    clock: SystemClock,
    made: Vec<u8>,
}

impl<K: MapKey> Performer for Session<'_, K> {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        if self.kernel.refuses(input) {
            return Ok(Ended::RolledBack);
        }
        let (place, now) = (self.place, self.clock.wall());
        Work { store: &mut *self.kernel, place, now, made: &mut self.made }.run(input)
    }
}

/// Runs the transactions of one session.
///
/// # Errors
/// A row was not there.
///
/// # Panics
/// The load is of several sessions.
pub fn run<K: MapKey + Send>(kernel: &mut Kernel<K>, load: &Load) -> Result<Report, Failure> {
    let only = Mutex::new(Some(kernel));
    let open = |place| {
        let taken = only.lock().expect("nobody panics with it").take();
        let kernel = taken.expect("one session");
        Ok(Session { kernel, place, clock: SystemClock::new(), made: Vec::new() })
    };
    driver::drive(&open, load, &mut || ())
}
