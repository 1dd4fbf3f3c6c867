//! What simulated transactions access: YCSB's keys as in [`crate::ycsb::workload`], and what TPC-C's New-Order and Payment read and write.
//!
//! Paper: sections 3.2 and 5. Only keys count here, and whether they are written; an insert is a write of a key that nobody else has.

use crate::tpcc::random::{RUN, Random};
use crate::ycsb::workload::Zipf;
use std::collections::BTreeSet;

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The row.
    pub key: u64,
    /// Whether it is changed.
    pub writes: bool,
    /// The partition that it is in.
    pub partition: u16,
}

/// Where YCSB's keys lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Anywhere; the table has this many partitions.
    Anywhere(u16),
    /// In one of so many partitions, or, in this share of transactions, in `each` of them.
    Partitions {
        /// How many there are.
        count: u16,
        /// Transactions in several, of a hundred.
        several: u32,
        /// In how many these are.
        each: u16,
    },
}

/// What is run.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Accesses to one table.
    Ycsb {
        /// Reads, of a hundred accesses.
        reads: u32,
        /// Their skew.
        zipf: Zipf,
        /// Accesses of a transaction.
        accesses: usize,
        /// Whether keys are accessed in their order, so that nobody waits in a cycle.
        sorted: bool,
        /// Where they lie.
        spread: Spread,
    },
    /// Half Payment, half New-Order; each core has a warehouse that is its own as far as there are enough.
    Tpcc {
        /// How many there are.
        warehouses: u32,
    },
}

/// Tables of TPC-C, as the upper bits of keys.
#[derive(Clone, Copy)]
enum Table {
    Warehouse = 1,
    District,
    Customer,
    Item,
    Stock,
    Inserted,
}

fn key(table: Table, warehouse: u32, number: u32) -> u64 {
    (table as u64) << 56 | u64::from(warehouse) << 32 | u64::from(number)
}

impl Workload {
    /// YCSB with sixteen accesses.
    #[must_use]
    pub fn ycsb(reads: u32, theta: f64, spread: Spread) -> Workload {
        Workload::Ycsb { reads, zipf: Zipf::new(theta), accesses: 16, sorted: false, spread }
    }

    /// The next transaction of a core, its `serial`th.
    pub fn draw(&self, core: usize, serial: u32, random: &mut Random) -> Vec<Access> {
        match *self {
            Workload::Ycsb { reads, ref zipf, accesses, sorted, spread } => {
                let mut drawn = ycsb((reads, zipf, accesses), spread, (core, random));
                if sorted {
                    drawn.sort_unstable_by_key(|access| access.key);
                }
                drawn
            }
            Workload::Tpcc { warehouses } => {
                let mut accesses = Accesses {
                    all: Vec::new(),
                    home: core as u32 % warehouses,
                    warehouses,
                    inserted: (core as u32, serial << 8),
                };
                if random.chance(50) {
                    accesses.payment(random);
                } else {
                    accesses.new_order(random);
                }
                accesses.all
            }
        }
    }
}

fn ycsb(
    (reads, zipf, count): (u32, &Zipf, usize),
    spread: Spread,
    (core, random): (usize, &mut Random),
) -> Vec<Access> {
    let chosen: Vec<u16> = match spread {
        Spread::Anywhere(_) => Vec::new(),
        Spread::Partitions { count, several, each } => {
            let wanted = if random.chance(several) { each.min(count) } else { 1 };
            // The first is the core's own, as in the paper's code.
            let mut chosen = BTreeSet::from([(core % usize::from(count)) as u16]);
            while chosen.len() < usize::from(wanted) {
                chosen.insert(random.uniform(0, u32::from(count) - 1) as u16);
            }
            chosen.into_iter().collect()
        }
    };
    let mut accesses: Vec<Access> = Vec::with_capacity(count);
    for at in 0..count {
        let rank = u64::from(zipf.draw(random));
        let (key, partition) = match spread {
            Spread::Anywhere(count) => (rank, (rank % u64::from(count)) as u16),
            Spread::Partitions { count, .. } => {
                let partition = chosen[at % chosen.len()];
                let count = u64::from(count);
                (rank / count * count + u64::from(partition), partition)
            }
        };
        let writes = !random.chance(reads);
        if accesses.iter().all(|known| known.key != key) {
            accesses.push(Access { key, writes, partition });
        }
    }
    accesses
}

/// A transaction of TPC-C that is being drawn.
struct Accesses {
    all: Vec<Access>,
    home: u32,
    warehouses: u32,
    /// The core, and the next number of what it inserts.
    inserted: (u32, u32),
}

impl Accesses {
    fn add(&mut self, table: Table, warehouse: u32, number: u32, writes: bool) {
        let key = key(table, warehouse, number);
        if self.all.iter().all(|known| known.key != key) {
            self.all.push(Access { key, writes, partition: (warehouse % 1024) as u16 });
        }
    }

    fn insert(&mut self) {
        let (core, number) = self.inserted;
        self.inserted.1 += 1;
        let key = key(Table::Inserted, core, number);
        self.all.push(Access { key, writes: true, partition: (self.home % 1024) as u16 });
    }

    /// Another warehouse, if there is one.
    fn remote(&self, random: &mut Random) -> u32 {
        let other = random.uniform(0, self.warehouses - 1);
        if other == self.home { (other + 1) % self.warehouses } else { other }
    }

    /// Clause 2.5: warehouse, district and customer, of whom 15 of 100 are another warehouse's.
    fn payment(&mut self, random: &mut Random) {
        let (home, district) = (self.home, random.uniform(0, 9));
        self.add(Table::Warehouse, home, 0, true);
        self.add(Table::District, home, district, true);
        let at = if random.chance(15) { self.remote(random) } else { home };
        let customer = random.uniform(0, 9) << 16 | random.customer(&RUN, 3000);
        self.add(Table::Customer, at, customer, true);
        self.insert();
    }

    /// Clause 2.4: of five to fifteen items one of a hundred comes from another warehouse.
    fn new_order(&mut self, random: &mut Random) {
        let (home, district) = (self.home, random.uniform(0, 9));
        self.add(Table::Warehouse, home, 0, false);
        self.add(Table::District, home, district, true);
        self.add(Table::Customer, home, district << 16 | random.customer(&RUN, 3000), false);
        for _ in 0..2 {
            self.insert();
        }
        for _ in 0..random.uniform(5, 15) {
            let item = random.item(&RUN, 100_000);
            let at = if random.chance(1) { self.remote(random) } else { home };
            // Items are in every partition: nobody changes them.
            let item_key = key(Table::Item, 0, item);
            self.all.push(Access { key: item_key, writes: false, partition: (home % 1024) as u16 });
            self.add(Table::Stock, at, item, true);
            self.insert();
        }
        let mut seen = BTreeSet::new();
        self.all.retain(|access| seen.insert(access.key));
    }
}

#[cfg(test)]
mod tests {
    use super::{Spread, Workload};
    use crate::tpcc::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn keys_of_a_transaction_are_in_as_many_partitions_as_it_has() {
        for each in [1, 4] {
            let spread = Spread::Partitions { count: 64, several: 100, each };
            let mut random = Random::new(3);
            for serial in 0..200 {
                let drawn = Workload::ycsb(50, 0.6, spread).draw(0, serial, &mut random);
                let partitions: BTreeSet<u16> = drawn.iter().map(|one| one.partition).collect();
                assert!(partitions.len() <= usize::from(each));
                assert!(drawn.iter().all(|one| one.key % 64 == u64::from(one.partition)));
            }
        }
    }

    #[test]
    fn tpcc_writes_its_district_and_has_no_key_twice() {
        let mut random = Random::new(5);
        let mut lengths = BTreeSet::new();
        for serial in 0..400 {
            let drawn = Workload::Tpcc { warehouses: 4 }.draw(6, serial, &mut random);
            let keys: BTreeSet<u64> = drawn.iter().map(|one| one.key).collect();
            assert_eq!(keys.len(), drawn.len());
            assert!(drawn[1].writes && drawn.iter().all(|one| one.partition < 4));
            lengths.insert(drawn.len());
        }
        assert!(lengths.contains(&4) && lengths.iter().any(|length| *length >= 5 + 3 * 14));
    }
}
