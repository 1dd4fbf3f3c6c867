//! Which keys a transaction touches: Zipf's distribution after Gray et al., *Quickly Generating Billion-Record Synthetic
//! Databases*, SIGMOD 1994, as DBx1000 has it: the hottest keys lie together at the beginning of the table.

use crate::tpcc::random::Random;

/// Rows of the table.
pub const ROWS: u32 = 262_144;
/// Fields of a row, and bytes of each.
pub const FIELDS: usize = 10;
/// Bytes of a field.
pub const FIELD_BYTES: usize = 100;
/// Accesses of a transaction, those to a key that it already has left out.
const ACCESSES: usize = 16;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// How many accesses of a hundred are reads.
    pub reads: u32,
    /// How skewed the keys are: 0 is uniform, and it stays below 1.
    pub theta: f64,
    /// In how many partitions a transaction's keys are, the first of them its session's own, as in the paper's code; none is anywhere.
    pub partitions: Option<u32>,
}

/// Which keys are in which partition of the database.
#[derive(Clone, Debug)]
pub struct Partitions(Vec<Vec<u32>>);

impl Partitions {
    /// Of so many partitions; `of` says which one a key is in.
    #[must_use]
    pub fn new(count: usize, of: impl Fn(u32) -> usize) -> Partitions {
        let mut keys = vec![Vec::new(); count];
        (0..ROWS).for_each(|key| keys[of(key)].push(key));
        assert!(keys.iter().all(|keys| !keys.is_empty()), "each has some of so many rows");
        Partitions(keys)
    }

    /// So many different partitions, the first of them that of a session.
    fn choose(&self, wanted: u32, session: usize, random: &mut Random) -> Vec<usize> {
        let wanted = (wanted as usize).clamp(1, self.0.len());
        let mut chosen = vec![session % self.0.len()];
        while chosen.len() < wanted {
            let one = random.uniform(0, self.0.len() as u32 - 1) as usize;
            if !chosen.contains(&one) {
                chosen.push(one);
            }
        }
        chosen
    }

    /// The key of a partition that is drawn where `rank` would be without partitions: what is hot lies together in each.
    fn key(&self, partition: usize, rank: u32) -> u32 {
        let keys = &self.0[partition];
        let next = keys.partition_point(|key| *key < rank);
        keys[next % keys.len()]
    }
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The row.
    pub key: u32,
    /// The field that it writes; none reads the row.
    pub writes: Option<u32>,
}

/// Draws ranks from 0 on, each the rarer the larger it is.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    theta: f64,
    zeta_n: f64,
    eta: f64,
}

impl Zipf {
    /// Over the rows of the table.
    #[must_use]
    pub fn new(theta: f64) -> Zipf {
        assert!((0.0..1.0).contains(&theta), "a skew of 1 and more has another formula");
        let zeta = |n: u32| (1..=n).map(|i| f64::from(i).powf(-theta)).sum::<f64>();
        let (zeta_n, n) = (zeta(ROWS), f64::from(ROWS));
        let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - zeta(2) / zeta_n);
        Zipf { theta, zeta_n, eta }
    }

    /// A rank below the number of rows.
    pub fn draw(&self, random: &mut Random) -> u32 {
        let unit = f64::from(random.uniform(0, u32::MAX - 1)) / f64::from(u32::MAX);
        let uz = unit * self.zeta_n;
        if uz < 1.0 {
            return 0;
        }
        if uz < 1.0 + 0.5_f64.powf(self.theta) {
            return 1;
        }
        let rank =
            f64::from(ROWS) * (self.eta * unit - self.eta + 1.0).powf(1.0 / (1.0 - self.theta));
        (rank as u32).min(ROWS - 1)
    }
}

impl Workload {
    /// Transactions of a session, drawn beforehand.
    #[must_use]
    pub fn draw(&self, count: usize, session: usize, partitions: &Partitions) -> Vec<Vec<Access>> {
        let zipf = Zipf::new(self.theta);
        let mut random = Random::new(session as u64 + 1);
        (0..count)
            .map(|_| {
                let chosen =
                    self.partitions.map(|wanted| partitions.choose(wanted, session, &mut random));
                let mut accesses: Vec<Access> = Vec::with_capacity(ACCESSES);
                for at in 0..ACCESSES {
                    let rank = zipf.draw(&mut random);
                    let key = match &chosen {
                        Some(chosen) => partitions.key(chosen[at % chosen.len()], rank),
                        None => rank,
                    };
                    let reads = random.chance(self.reads);
                    let writes = (!reads).then(|| random.uniform(0, FIELDS as u32 - 1));
                    if accesses.iter().all(|known| known.key != key) {
                        accesses.push(Access { key, writes });
                    }
                }
                accesses
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Partitions, ROWS, Workload, Zipf};
    use crate::tpcc::random::Random;

    #[test]
    fn ranks_are_as_rare_as_zipf_says() {
        let mut random = Random::new(7);
        for theta in [0.0, 0.6, 0.9, 0.99] {
            let zipf = Zipf::new(theta);
            let drawn: Vec<u32> = (0..200_000).map(|_| zipf.draw(&mut random)).collect();
            let share = |of: u32| {
                drawn.iter().filter(|rank| **rank == of).count() as f64 / drawn.len() as f64
            };
            for rank in [0, 1] {
                let expected = f64::from(rank + 1).powf(-theta) / zipf.zeta_n;
                let found = share(rank);
                assert!(
                    (found - expected).abs() < 0.003 + expected * 0.05,
                    "{theta}: {found} {expected}"
                );
            }
            let below = drawn.iter().filter(|rank| **rank < ROWS / 2).count() as f64;
            let most = if theta == 0.0 { 0.51 } else { 1.0 };
            assert!(below / drawn.len() as f64 <= most);
        }
    }

    #[test]
    fn a_transaction_has_no_key_twice_and_as_many_reads_as_it_should() {
        let workload = Workload { reads: 50, theta: 0.9, partitions: None };
        let drawn = workload.draw(2_000, 2, &by_remainder());
        let all: Vec<_> = drawn.iter().flatten().collect();
        for transaction in &drawn {
            let mut keys: Vec<u32> = transaction.iter().map(|access| access.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), transaction.len());
        }
        let reads = all.iter().filter(|access| access.writes.is_none()).count() as f64;
        assert!((0.47..0.53).contains(&(reads / all.len() as f64)));
        let only = Workload { reads: 100, theta: 0.0, partitions: None };
        let only = only.draw(100, 2, &by_remainder());
        assert!(only.iter().flatten().all(|access| access.writes.is_none()));
    }

    fn by_remainder() -> Partitions {
        Partitions::new(64, |key| key as usize % 64)
    }

    #[test]
    fn a_transaction_is_in_as_many_partitions_as_it_should() {
        for (wanted, theta) in [(1, 0.9), (3, 0.0), (64, 0.0)] {
            let workload = Workload { reads: 50, theta, partitions: Some(wanted) };
            for transaction in workload.draw(500, 66, &by_remainder()) {
                let mut all: Vec<u32> = transaction.iter().map(|access| access.key % 64).collect();
                assert_eq!(all[0], 2, "the session's own is the first");
                all.sort_unstable();
                all.dedup();
                assert!(all.len() <= wanted as usize);
                assert!(theta > 0.0 || all.len() == wanted.min(16) as usize, "{all:?}");
            }
        }
    }
}
