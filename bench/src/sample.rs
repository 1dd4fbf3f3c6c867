//! What a run of a load gives, and what is taken from several: the least CPU, the median of the throughput, and both of
//! one server beside the other.
//!
//! Runs come in pairs of alternating order, so that whatever drifts on the machine meets both servers alike.

use crate::cpu::{self, Cpu};
use crate::target::Target;
use anyhow::Result;
use std::time::Instant;

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What was done a second: transactions, statements or rows.
    pub per_second: f64,
    /// The server's CPU time for one, in microseconds: user and system.
    pub cpu_us: f64,
    /// The part of it in the kernel.
    pub system_us: f64,
}

impl Sample {
    /// Of a load against this server, which says how much of it has been done.
    ///
    /// # Errors
    /// The load's own; the server is gone.
    pub fn measured(target: &Target, load: impl FnOnce() -> Result<f64>) -> Result<Sample> {
        let (before, start) = (cpu::of_tree(target.pid())?, Instant::now());
        let done = load()?;
        let (elapsed, used) = (start.elapsed(), cpu::of_tree(target.pid())?.since(before));
        Ok(Sample::new(done / elapsed.as_secs_f64(), used, done))
    }

    /// Of a server that has used this much CPU for what was done.
    #[must_use]
    pub fn new(per_second: f64, used: Cpu, done: f64) -> Sample {
        Sample {
            per_second,
            cpu_us: used.total() * 1e6 / done,
            system_us: used.system * 1e6 / done,
        }
    }

    /// Of what was done in `parts` each.
    #[must_use]
    pub fn divided(self, parts: f64) -> Sample {
        Sample {
            per_second: self.per_second * parts,
            cpu_us: self.cpu_us / parts,
            system_us: self.system_us / parts,
        }
    }
}

/// Runs a load against both servers, against the first one first in pairs of an even number.
///
/// # Errors
/// The load's own.
pub fn in_turn<T>(
    pair: u32,
    [one, other]: [&Target; 2],
    mut run: impl FnMut(&Target) -> Result<T>,
) -> Result<[T; 2]> {
    if pair.is_multiple_of(2) {
        let first = run(one)?;
        Ok([first, run(other)?])
    } else {
        let first = run(other)?;
        Ok([run(one)?, first])
    }
}

/// The runs of this many pairs, each server's in their order.
///
/// # Errors
/// The load's own.
pub fn interleaved(
    pairs: u32,
    servers: [&Target; 2],
    mut run: impl FnMut(&Target) -> Result<Sample>,
) -> Result<[Vec<Sample>; 2]> {
    let mut samples = [Vec::new(), Vec::new()];
    for pair in 0..pairs {
        for (all, sample) in samples.iter_mut().zip(in_turn(pair, servers, &mut run)?) {
            all.push(sample);
        }
    }
    Ok(samples)
}

/// The least CPU of the runs: noise can only add to it.
#[must_use]
pub fn least_cpu(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.cpu_us).fold(f64::INFINITY, f64::min)
}

/// The median of the runs' throughput.
#[must_use]
pub fn median_rate(samples: &[Sample]) -> f64 {
    median(samples.iter().map(|sample| sample.per_second).collect())
}

/// One server's CPU over another's.
#[must_use]
pub fn cpu_ratio(samples: &[Sample], over: &[Sample]) -> f64 {
    least_cpu(samples) / least_cpu(over)
}

/// The median over the pairs of one server's throughput over another's.
#[must_use]
pub fn rate_ratio(samples: &[Sample], over: &[Sample]) -> f64 {
    let pairs = samples.iter().zip(over);
    median(pairs.map(|(one, other)| one.per_second / other.per_second).collect())
}

/// The cells of a table that compare two servers: CPU with these decimals, its ratio, throughput, its ratio.
#[must_use]
pub fn cells(samples: &[Sample], over: &[Sample], decimals: usize) -> String {
    format!(
        "{:.decimals$} | {:.decimals$} | {:.2} | {:.0} | {:.0} | {:.2}",
        least_cpu(samples),
        least_cpu(over),
        cpu_ratio(samples, over),
        median_rate(samples),
        median_rate(over),
        rate_ratio(samples, over),
    )
}

/// The median of some figures; NaN of none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => figures[odd / 2],
        even => f64::midpoint(figures[even / 2 - 1], figures[even / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, cells, median};

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }

    #[test]
    fn two_servers_are_compared_by_the_least_cpu_and_by_pairs() {
        let sample = |per_second, cpu_us| Sample { per_second, cpu_us, system_us: 0.0 };
        let one = [sample(300.0, 5.0), sample(100.0, 4.0), sample(200.0, 6.0)];
        let other = [sample(100.0, 9.0), sample(100.0, 8.0), sample(100.0, 10.0)];
        assert_eq!(cells(&one, &other, 1), "4.0 | 8.0 | 0.50 | 200 | 100 | 2.00");
    }
}
