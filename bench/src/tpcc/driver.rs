//! Sessions side by side, for a time: what they did, how long each transaction took, what went wrong.

use super::client::Failure;
use super::random::Random;
use super::transactions::{Ended, Form, Input, Isolation, Kind, Place, Terminal, deck};
use super::{Connector, Scale};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How often a transaction is run again before it counts as failed.
const RETRIES_MAX: u32 = 100;
/// How long it waits before that at most, for each time that it has been run, in microseconds.
const PAUSE_MICROS: u32 = 100;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How large the tables are.
    pub scale: Scale,
    /// Sessions.
    pub clients: u32,
    /// Before the time, unmeasured.
    pub warm_up: Duration,
    /// The time.
    pub time: Duration,
    /// The transactions' isolation level.
    pub isolation: Isolation,
    /// How they are asked for.
    pub form: Form,
    /// Only this kind of transaction, to look at it alone.
    pub only: Option<Kind>,
    /// The most transactions that a session runs; none: as many as it can in the time.
    pub transactions_max: Option<u64>,
    /// What the inputs are drawn from, so that another run has the same ones; none: others each time.
    pub seed: Option<u64>,
}

/// What came of one kind of transaction.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How long each took that came to its end, in microseconds, retries included; sorted in a [`Report`].
    pub micros: Vec<u32>,
    /// Those of them that rolled back as they should.
    pub rolled_back: u64,
    /// Runs that failed with a serialization failure or a deadlock and were repeated.
    pub retries: u64,
    /// Transactions that failed.
    pub errors: u64,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By kind, in the order of [`Kind::ALL`].
    pub tallies: [Tally; 5],
    /// The time that was measured.
    pub elapsed: Duration,
    /// The first failure of each session that had one.
    pub failures: Vec<String>,
}

impl Report {
    /// Transactions that came to their end.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.micros.len() as u64).sum()
    }

    /// All of them a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.transactions() as f64 / self.elapsed.as_secs_f64()
    }

    /// New-Orders a minute.
    #[must_use]
    pub fn tpm_c(&self) -> f64 {
        let orders = &self.tallies[Kind::NewOrder as usize];
        orders.micros.len() as f64 * 60.0 / self.elapsed.as_secs_f64()
    }

    /// Transactions that failed.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.errors).sum()
    }

    /// The table that people read.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = format!(
            "{:.0} tpmC, {:.1} transactions/s in {:.1} s\n\n{:13} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
            self.tpm_c(),
            self.per_second(),
            self.elapsed.as_secs_f64(),
            "",
            "count",
            "p50 ms",
            "p95 ms",
            "p99 ms",
            "max ms",
            "rolled",
            "retries",
            "errors"
        );
        for (kind, tally) in Kind::ALL.into_iter().zip(&self.tallies) {
            let at = |share| f64::from(percentile(&tally.micros, share)) / 1000.0;
            writeln!(
                out,
                "{:13} {:>9} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8} {:>8} {:>8}",
                kind.name(),
                tally.micros.len(),
                at(0.50),
                at(0.95),
                at(0.99),
                at(1.0),
                tally.rolled_back,
                tally.retries,
                tally.errors
            )
            .expect("a string grows");
        }
        for failure in &self.failures {
            writeln!(out, "{failure}").expect("a string grows");
        }
        out
    }
}

/// The least value that `share` of all do not exceed; 0 of none.
#[must_use]
pub fn percentile(sorted: &[u32], share: f64) -> u32 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

/// One session's way to run a transaction.
pub trait Performer {
    /// Runs a transaction once. One that fails has been rolled back.
    ///
    /// # Errors
    /// The database's.
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure>;
}

impl<P: Performer> Performer for &mut P {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        P::perform(self, input)
    }
}

/// What the sessions are to do now.
#[derive(Clone, Copy, Debug)]
struct Clock {
    measured_from: Instant,
    until: Instant,
}

/// Runs sessions side by side. `begun` is called when the measured time begins.
///
/// # Errors
/// A session cannot be opened, or its connection is lost.
pub fn run(
    connector: &dyn Connector,
    load: &Load,
    begun: &mut dyn FnMut(),
) -> Result<Report, Failure> {
    let open = |place| {
        let client = connector.connect()?;
        let mut terminal = Terminal::new(client, place, load.isolation, load.form);
        terminal.begin()?;
        Ok(terminal)
    };
    drive(&open, load, begun)
}

/// As [`run`], of any sessions: `open` gives each its place.
///
/// # Errors
/// As [`run`].
pub fn drive<P: Performer + Send>(
    open: &dyn Fn(Place) -> Result<P, Failure>,
    load: &Load,
    begun: &mut dyn FnMut(),
) -> Result<Report, Failure> {
    let performers = (0..load.clients)
        .map(|number| {
            let place = Place {
                warehouse: number % load.scale.warehouses + 1,
                district: number / load.scale.warehouses % Scale::DISTRICTS + 1,
            };
            Ok((number, place, open(place)?))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let start = Instant::now();
    let clock =
        Clock { measured_from: start + load.warm_up, until: start + load.warm_up + load.time };
    let done: Vec<Result<Report, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = performers
            .into_iter()
            .map(|(number, place, performer)| {
                scope.spawn(move || work(performer, place, number, load, clock))
            })
            .collect();
        std::thread::sleep(load.warm_up);
        begun();
        threads.into_iter().map(|thread| thread.join().expect("a session's thread ends")).collect()
    });
    let mut report = Report { elapsed: clock.measured_from.elapsed(), ..Report::default() };
    for session in done {
        let session = session?;
        for (sum, tally) in report.tallies.iter_mut().zip(session.tallies) {
            sum.micros.extend(tally.micros);
            sum.rolled_back += tally.rolled_back;
            sum.retries += tally.retries;
            sum.errors += tally.errors;
        }
        report.failures.extend(session.failures);
    }
    report.tallies.iter_mut().for_each(|tally| tally.micros.sort_unstable());
    Ok(report)
}

fn work(
    mut performer: impl Performer,
    place: Place,
    number: u32,
    load: &Load,
    clock: Clock,
) -> Result<Report, Failure> {
    // Two runs of the same sessions do not pay the same customers, but where they are to.
    let clock_seed = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    };
    let seed = load.seed.unwrap_or_else(clock_seed);
    let mut random = Random::new(seed ^ u64::from(number) << 48);
    // By itself: what is drawn does not depend on what others do.
    let mut pauses = Random::new(!seed ^ u64::from(number));
    let mut report = Report::default();
    let mut cards = Vec::new();
    for _ in 0..load.transactions_max.unwrap_or(u64::MAX) {
        let kind = match load.only {
            Some(kind) => kind,
            None => {
                if cards.is_empty() {
                    cards = deck(&mut random);
                }
                cards.pop().expect("a deck has cards")
            }
        };
        let input = Input::draw(kind, &mut random, &load.scale, place);
        let started = Instant::now();
        if started >= clock.until {
            break;
        }
        let mut retries = 0;
        let ended = loop {
            match performer.perform(&input) {
                Err(failure) if failure.is_transient() && retries < RETRIES_MAX => {
                    retries += 1;
                    // Who may not wait for another leaves it the time to come to its end: the more, the longer that takes.
                    let micros = pauses.uniform(0, retries * PAUSE_MICROS);
                    std::thread::sleep(Duration::from_micros(u64::from(micros)));
                }
                other => break other,
            }
        };
        let now = Instant::now();
        let tally = &mut report.tallies[kind as usize];
        match ended {
            Err(failure) if failure.sqlstate.starts_with("08") => return Err(failure),
            Err(failure) => {
                tally.errors += 1;
                if report.failures.is_empty() {
                    report.failures.push(format!("{}: {failure}", kind.name()));
                }
            }
            // What began before the time is the warm-up's.
            Ok(_) if started < clock.measured_from => {}
            Ok(ended) => {
                tally.rolled_back += u64::from(ended == Ended::RolledBack);
                tally.retries += u64::from(retries);
                let micros = (now - started).as_micros();
                tally.micros.push(u32::try_from(micros).unwrap_or(u32::MAX));
            }
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::{Report, percentile};
    use std::time::Duration;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let sorted: Vec<u32> = (1..=200).collect();
        assert_eq!(percentile(&sorted, 0.5), 100);
        assert_eq!(percentile(&sorted, 0.95), 190);
        assert_eq!(percentile(&sorted, 1.0), 200);
        assert_eq!(percentile(&[], 0.5), 0);
        assert_eq!(percentile(&[7], 0.01), 7);
    }

    #[test]
    fn a_report_counts_orders_a_minute() {
        let mut report = Report { elapsed: Duration::from_secs(30), ..Report::default() };
        report.tallies[0].micros = vec![1000; 50];
        report.tallies[1].micros = vec![2000; 40];
        assert_eq!((report.tpm_c(), report.per_second()), (100.0, 3.0));
        assert!(report.table().contains("New-Order            50     1.00"), "{}", report.table());
    }
}
