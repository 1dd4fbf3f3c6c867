//! The paper's figures: what each is made of, and what the paper found there, as claims that are held against what comes of it here.
//!
//! The claims are a summary of what its figures show, not its words, and its numbers are rounded: who is above whom, up to where
//! somebody grows, and how much it is. A claim that does not hold is said to differ; nothing is fitted to it.

use super::costs::Costs;
use super::machine::Machine;
use super::simulation::{self, Latches, Setup};
use super::workload::{Spread, Workload};
use crate::ycsb::run::Outcome;
use txn::decisions::{OnConflict, Overwritten};
use txn::{SchemeKind, TimestampAllocator};

const DETECT: SchemeKind = SchemeKind::Locking(OnConflict::Detect);
const NO_WAIT: SchemeKind = SchemeKind::Locking(OnConflict::NoWait);
const WAIT_DIE: SchemeKind = SchemeKind::Locking(OnConflict::WaitDie);
const TIMESTAMP: SchemeKind = SchemeKind::Timestamp(Overwritten::Refused);
const MVTO: SchemeKind = SchemeKind::Timestamp(Overwritten::Older);
/// The paper's, but for H-STORE, which it has where there are partitions.
const SCHEMES: [SchemeKind; 6] = [DETECT, NO_WAIT, WAIT_DIE, TIMESTAMP, MVTO, SchemeKind::Occ];
/// Partitions of the engine, where nothing is said.
const PARTITIONS: u16 = txn::scheme::hstore::PARTITIONS as u16;
/// Cores of most figures that have another axis.
const CORES: usize = 64;
/// Cores of the figure that is over the length of transactions.
const CORES_OF_LENGTHS: usize = 512;

/// What a line is made of.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Timestamps and nothing else.
    Timestamps(TimestampAllocator),
    /// Transactions.
    Transactions {
        /// Under which scheme.
        scheme: SchemeKind,
        /// What they do at a place of the axis.
        workload: fn(f64) -> Workload,
        /// Which lines are shared.
        latches: Latches,
        /// How timestamps are handed out.
        allocator: TimestampAllocator,
        /// Whether deadlocks are looked for.
        detects: bool,
        /// Whether who waits for a lock gives up after as many microseconds as the place of the axis says.
        gives_up: bool,
    },
}

/// What a figure is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Cores.
    Cores,
    /// Something else, with so many cores.
    Other(&'static str, usize),
}

/// What the paper found.
#[derive(Clone, Copy, Debug)]
pub enum Claim {
    /// A line is the highest at a place.
    Wins(&'static str, f64),
    /// One is above another at a place.
    Beats(&'static str, &'static str, f64),
    /// The most of a line lies between two places.
    Peaks(&'static str, f64, f64),
    /// A line has at the last place most of what it has anywhere.
    Grows(&'static str),
    /// A line has about so much at a place: half to twice.
    About(&'static str, f64, f64),
    /// Nobody has more at the last place than half again what there was at this one.
    NobodyGrowsPast(f64),
}

/// One of the paper's figures.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its file's name.
    pub name: &'static str,
    /// What it shows, and which it is in the paper.
    pub title: &'static str,
    /// What it is over.
    pub axis: Axis,
    /// Whether it is drawn by powers of ten.
    pub logarithmic: bool,
    /// The places of the axis.
    pub places: Vec<f64>,
    /// Its lines.
    pub lines: Vec<(String, Kind)>,
    /// What the paper says of it.
    pub claims: Vec<Claim>,
}

/// What came of a figure: for each line, the outcome at each place.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The figure.
    pub figure: Figure,
    /// Its lines' outcomes.
    pub points: Vec<Vec<Outcome>>,
}

fn name_of(allocator: TimestampAllocator) -> String {
    allocator.name().to_owned()
}

fn transactions(scheme: SchemeKind, workload: fn(f64) -> Workload) -> Kind {
    Kind::Transactions {
        scheme,
        workload,
        latches: Latches::OfKeys,
        allocator: TimestampAllocator::Atomic,
        detects: true,
        gives_up: false,
    }
}

fn of_schemes(schemes: &[SchemeKind], workload: fn(f64) -> Workload) -> Vec<(String, Kind)> {
    let line = |scheme: &SchemeKind| (scheme.name().to_owned(), transactions(*scheme, workload));
    schemes.iter().map(line).collect()
}

fn with_hstore() -> Vec<SchemeKind> {
    SCHEMES.into_iter().chain([SchemeKind::Hstore]).collect()
}

fn read_only(_: f64) -> Workload {
    Workload::ycsb(100, 0.0, Spread::Anywhere(PARTITIONS))
}

fn medium(_: f64) -> Workload {
    Workload::ycsb(50, 0.6, Spread::Anywhere(PARTITIONS))
}

fn high(_: f64) -> Workload {
    Workload::ycsb(50, 0.8, Spread::Anywhere(PARTITIONS))
}

/// Transactions of this many accesses.
fn long(count: f64) -> Workload {
    match medium(count) {
        Workload::Ycsb { reads, zipf, sorted, spread, .. } => {
            Workload::Ycsb { reads, zipf, accesses: count as usize, sorted, spread }
        }
        other => other,
    }
}

/// In their keys' order, so that nobody waits in a cycle.
fn sorted(theta: f64) -> Workload {
    match Workload::ycsb(50, theta, Spread::Anywhere(PARTITIONS)) {
        Workload::Ycsb { reads, zipf, accesses, spread, .. } => {
            Workload::Ycsb { reads, zipf, accesses, sorted: true, spread }
        }
        other => other,
    }
}

/// As many partitions as cores, each transaction in one.
fn single_partition(cores: f64) -> Workload {
    let spread = Spread::Partitions { count: cores as u16, several: 0, each: 1 };
    Workload::ycsb(50, 0.0, spread)
}

fn several_partitions(percent: f64) -> Workload {
    let spread = Spread::Partitions { count: CORES as u16, several: percent as u32, each: 2 };
    Workload::ycsb(50, 0.0, spread)
}

fn partitions_each(each: f64) -> Workload {
    let spread = Spread::Partitions { count: CORES as u16, several: 10, each: each as u16 };
    Workload::ycsb(50, 0.0, spread)
}

/// All figures, with up to so many cores.
#[must_use]
pub fn all(cores_max: usize) -> Vec<Figure> {
    let powers = (0..).map(|power| 1_usize << power).take_while(|cores| *cores <= cores_max);
    let cores: Vec<f64> = powers.map(|cores| cores as f64).collect();
    let most = cores_max as f64;
    let figure = |name, title, lines, claims| Figure {
        name,
        title,
        axis: Axis::Cores,
        logarithmic: false,
        places: cores.clone(),
        lines,
        claims,
    };
    let thrashing = |name: &str, workload| {
        let kind = Kind::Transactions {
            scheme: DETECT,
            workload,
            latches: Latches::OfKeys,
            allocator: TimestampAllocator::Atomic,
            detects: false,
            gives_up: false,
        };
        (name.to_owned(), kind)
    };
    let timeout = Kind::Transactions {
        scheme: DETECT,
        workload: high,
        latches: Latches::OfKeys,
        allocator: TimestampAllocator::Atomic,
        detects: false,
        gives_up: true,
    };
    let by_allocator = |workload| {
        TimestampAllocator::ALL.map(|allocator| {
            let kind = Kind::Transactions {
                scheme: TIMESTAMP,
                workload,
                latches: Latches::OfKeys,
                allocator,
                detects: true,
                gives_up: false,
            };
            (name_of(allocator), kind)
        })
    };
    let engines = |workload| -> Vec<(String, Kind)> {
        with_hstore()
            .into_iter()
            .filter(|scheme| *scheme != SchemeKind::Hstore)
            .map(|scheme| {
                let kind = Kind::Transactions {
                    scheme,
                    workload,
                    latches: Latches::OfTrees,
                    allocator: TimestampAllocator::Atomic,
                    detects: true,
                    gives_up: false,
                };
                (scheme.name().to_owned(), kind)
            })
            .collect()
    };
    let alone = TimestampAllocator::ALL.map(|kind| (name_of(kind), Kind::Timestamps(kind)));
    vec![
        figure(
            "thrashing",
            "Waiting for locks in the order of keys, no deadlocks (figure 4)",
            vec![
                thrashing("theta 0", |_| sorted(0.0)),
                thrashing("theta 0.6", |_| sorted(0.6)),
                thrashing("theta 0.8", |_| sorted(0.8)),
            ],
            vec![
                Claim::Grows("theta 0"),
                Claim::Beats("theta 0", "theta 0.6", most),
                Claim::Beats("theta 0.6", "theta 0.8", most),
                Claim::Peaks("theta 0.8", 8.0, 32.0),
            ],
        ),
        Figure {
            axis: Axis::Other("microseconds until a wait is given up", CORES),
            places: vec![1.0, 10.0, 100.0, 1e3, 1e4, 1e5],
            ..figure(
                "timeout",
                "Waits that end after a while, no search for deadlocks, theta 0.8, 64 cores (figure 5)",
                vec![("2pl_detect".to_owned(), timeout)],
                vec![Claim::Peaks("2pl_detect", 1.0, 1e3)],
            )
        },
        Figure {
            logarithmic: true,
            ..figure(
                "allocation",
                "Timestamps alone (figure 6)",
                alone.to_vec(),
                vec![
                    Claim::About("mutex", most, 1e6),
                    Claim::About("atomic", most, 1e7),
                    Claim::Beats("batched", "atomic", most),
                    Claim::Wins("clock", most),
                    Claim::Grows("clock"),
                ],
            )
        },
        figure(
            "allocation_medium",
            "How timestamps are handed out in a database: `timestamp`, half of the accesses reads, theta 0.6 (figure 7a)",
            by_allocator(medium).to_vec(),
            vec![Claim::Beats("clock", "atomic", most), Claim::Beats("atomic", "mutex", most)],
        ),
        figure(
            "allocation_high",
            "The same with a theta of 0.8 (figure 7b)",
            by_allocator(high).to_vec(),
            vec![Claim::Beats("atomic", "batched", most), Claim::NobodyGrowsPast(64.0)],
        ),
        figure(
            "read_only",
            "Reads only, theta 0 (figure 8)",
            of_schemes(&SCHEMES, read_only),
            vec![
                Claim::Grows("2pl_no_wait"),
                Claim::Grows("2pl_detect"),
                Claim::Beats("2pl_no_wait", "timestamp", most),
                Claim::Beats("2pl_no_wait", "mvto", most),
                Claim::Beats("mvto", "occ", most),
            ],
        ),
        figure(
            "medium",
            "Half of the accesses reads, theta 0.6 (figure 9)",
            of_schemes(&SCHEMES, medium),
            vec![
                Claim::Wins("2pl_no_wait", most / 2.0),
                Claim::Beats("2pl_no_wait", "2pl_detect", most),
                Claim::Beats("2pl_wait_die", "2pl_detect", most),
                Claim::Beats("mvto", "occ", most / 2.0),
                Claim::Beats("timestamp", "occ", most / 2.0),
            ],
        ),
        figure(
            "high",
            "Half of the accesses reads, theta 0.8 (figure 10)",
            of_schemes(&SCHEMES, high),
            vec![
                Claim::NobodyGrowsPast(64.0),
                Claim::Peaks("2pl_detect", 1.0, 64.0),
                Claim::Wins("2pl_no_wait", 64.0),
                Claim::Wins("occ", most),
            ],
        ),
        Figure {
            axis: Axis::Other("theta", CORES),
            places: vec![0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9],
            ..figure(
                "skew",
                "Half of the accesses reads, 64 cores (figure 11)",
                of_schemes(&SCHEMES, |theta| {
                    Workload::ycsb(50, theta, Spread::Anywhere(PARTITIONS))
                }),
                vec![
                    Claim::Peaks("2pl_detect", 0.0, 0.6),
                    Claim::Peaks("2pl_no_wait", 0.0, 0.6),
                    Claim::Beats("2pl_no_wait", "2pl_detect", 0.8),
                ],
            )
        },
        Figure {
            axis: Axis::Other("accesses of a transaction", CORES_OF_LENGTHS.min(cores_max)),
            places: vec![1.0, 2.0, 4.0, 8.0, 12.0, 16.0],
            ..figure(
                "lengths",
                "Half of the accesses reads, theta 0.6, 512 cores, by the length of transactions (figure 12, which counts accesses)",
                of_schemes(&SCHEMES, long),
                vec![
                    Claim::Beats("2pl_detect", "timestamp", 1.0),
                    Claim::Beats("2pl_no_wait", "timestamp", 1.0),
                    Claim::Beats("2pl_no_wait", "2pl_wait_die", 1.0),
                    Claim::Beats("timestamp", "occ", 1.0),
                    Claim::Beats("2pl_no_wait", "2pl_detect", 16.0),
                ],
            )
        },
        Figure {
            axis: Axis::Other("reads, %", CORES),
            places: vec![0.0, 20.0, 40.0, 60.0, 80.0, 90.0, 100.0],
            ..figure(
                "mixture",
                "Theta 0.8, 64 cores, by the share of reads (figure 13)",
                of_schemes(&SCHEMES, |reads| {
                    Workload::ycsb(reads as u32, 0.8, Spread::Anywhere(PARTITIONS))
                }),
                vec![
                    Claim::Peaks("2pl_no_wait", 100.0, 100.0),
                    Claim::Beats("mvto", "2pl_detect", 80.0),
                    Claim::Beats("mvto", "timestamp", 90.0),
                ],
            )
        },
        figure(
            "partitions",
            "As many partitions as cores, each transaction in one (figure 14)",
            of_schemes(&with_hstore(), single_partition),
            vec![
                Claim::Wins("hstore", 64.0),
                Claim::Wins("hstore", most / 2.0),
                Claim::Beats("2pl_no_wait", "hstore", most),
            ],
        ),
        Figure {
            axis: Axis::Other("transactions in two partitions, %", CORES),
            places: vec![0.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0],
            ..figure(
                "several_partitions",
                "64 cores and partitions, by how many transactions are in two (figure 15a)",
                of_schemes(&with_hstore(), several_partitions),
                vec![
                    Claim::Wins("hstore", 0.0),
                    Claim::Peaks("hstore", 0.0, 0.0),
                    Claim::Beats("2pl_no_wait", "hstore", 20.0),
                ],
            )
        },
        Figure {
            axis: Axis::Other("partitions of one transaction of ten", CORES),
            places: vec![1.0, 2.0, 4.0, 8.0, 16.0],
            ..figure(
                "partitions_each",
                "64 cores and partitions, a tenth of the transactions in several (figure 15b)",
                of_schemes(&[NO_WAIT, SchemeKind::Hstore], partitions_each),
                vec![Claim::Peaks("hstore", 1.0, 1.0), Claim::Beats("2pl_no_wait", "hstore", 16.0)],
            )
        },
        figure(
            "tpcc_4",
            "TPC-C, Payment and New-Order, 4 warehouses (figure 16)",
            of_schemes(&with_hstore(), |_| Workload::Tpcc { warehouses: 4 }),
            vec![
                Claim::NobodyGrowsPast(64.0),
                Claim::Beats("mvto", "2pl_detect", most),
                Claim::Peaks("hstore", 2.0, 8.0),
            ],
        ),
        figure(
            "tpcc_1024",
            "TPC-C, Payment and New-Order, 1,024 warehouses (figure 17)",
            of_schemes(&with_hstore(), |_| Workload::Tpcc { warehouses: 1024 }),
            vec![
                Claim::Grows("2pl_no_wait"),
                Claim::Grows("2pl_wait_die"),
                Claim::Beats("2pl_no_wait", "occ", most),
                Claim::Beats("2pl_no_wait", "timestamp", most),
            ],
        ),
        figure(
            "engine_read_only",
            "Reads only, theta 0, with the engine's own latches (not in the paper)",
            engines(read_only),
            Vec::new(),
        ),
        figure(
            "engine_medium",
            "Half of the accesses reads, theta 0.6, with the engine's own latches (not in the paper)",
            engines(medium),
            Vec::new(),
        ),
    ]
}

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Commits of each core, at least; and of all together.
    pub commits: [u64; 2],
    /// Of all chance.
    pub seed: u64,
}

impl Figure {
    /// What is simulated at a place of a line.
    fn point(&self, kind: &Kind, place: f64, costs: &Costs, effort: Effort) -> Outcome {
        let cores = match self.axis {
            Axis::Cores => place as usize,
            Axis::Other(_, cores) => cores,
        };
        let machine = Machine::tiled(cores);
        match *kind {
            Kind::Timestamps(allocator) => {
                let each = effort.commits[0] * 10;
                let rate = simulation::timestamps(&machine, allocator, each);
                let committed = each * cores as u64;
                let elapsed = std::time::Duration::from_secs_f64(committed as f64 / rate);
                Outcome { committed, elapsed, ..Outcome::default() }
            }
            Kind::Transactions { scheme, workload, latches, allocator, detects, gives_up } => {
                let commits = effort.commits[1].max(effort.commits[0] * cores as u64);
                let setup = Setup {
                    machine,
                    scheme,
                    workload: &workload(place),
                    costs,
                    latches,
                    allocator,
                    detects,
                    penalty: 100.0,
                    deadlock_timeout: 1000.0,
                    lock_timeout: gives_up.then_some(place),
                    commits,
                    warm_up: commits / 2,
                    seed: effort.seed,
                };
                simulation::run(&setup).outcome
            }
        }
    }

    /// Simulates all of it, as many lines at a time as there are cores; `tell` is given each line as it is done.
    #[must_use]
    pub fn draw(self, costs: &Costs, effort: Effort, tell: &mut dyn FnMut(&str)) -> Plot {
        let line = |kind: &Kind| -> Vec<Outcome> {
            let places = self.places.iter();
            places.map(|place| self.point(kind, *place, costs, effort)).collect()
        };
        let at_once = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut points = Vec::new();
        for lines in self.lines.chunks(at_once) {
            std::thread::scope(|scope| {
                let drawn: Vec<_> =
                    lines.iter().map(|(_, kind)| scope.spawn(|| line(kind))).collect();
                for ((name, _), drawn) in lines.iter().zip(drawn) {
                    let outcomes = drawn.join().expect("a line is drawn");
                    let rates: Vec<String> =
                        outcomes.iter().map(|one| format!("{:.0}", one.per_second())).collect();
                    tell(&format!("{} {name}: {}", self.name, rates.join(" ")));
                    points.push(outcomes);
                }
            });
        }
        Plot { figure: self, points }
    }
}

impl Plot {
    /// What each line has at each place.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &[Outcome])> {
        let names = self.figure.lines.iter().map(|(name, _)| &**name);
        names.zip(self.points.iter().map(Vec::as_slice))
    }

    fn rates(&self, line: &str) -> Vec<f64> {
        let own = self.lines().find(|(name, _)| *name == line);
        own.map(|(_, points)| points.iter().map(Outcome::per_second).collect()).unwrap_or_default()
    }

    fn rate(&self, line: &str, place: f64) -> f64 {
        let at = self.figure.places.iter().position(|other| *other == place);
        at.and_then(|at| self.rates(line).get(at).copied()).unwrap_or_default()
    }

    /// Where a line has the most, and how much.
    #[must_use]
    pub fn peak(&self, line: &str) -> (f64, f64) {
        let both = self.figure.places.iter().copied().zip(self.rates(line));
        both.fold((0.0, 0.0), |most, one| if one.1 > most.1 { one } else { most })
    }

    /// Who has the most at a place.
    fn winner(&self, place: f64) -> &str {
        let names = self.figure.lines.iter().map(|(name, _)| &**name);
        names.max_by(|a, b| self.rate(a, place).total_cmp(&self.rate(b, place))).unwrap_or_default()
    }

    /// A claim in words, whether it holds here, and what was found.
    #[must_use]
    pub fn judge(&self, claim: Claim) -> (String, bool, String) {
        match claim {
            Claim::Wins(line, at) => {
                let winner = self.winner(at);
                let (own, best) = (self.rate(line, at), self.rate(winner, at));
                let words = format!("`{line}` is the highest at {at}");
                // Who is level with the highest is it, too.
                let level = own > 0.97 * best;
                (words, level, format!("`{winner}` with {best:.0}, `{line}` with {own:.0}"))
            }
            Claim::Beats(line, other, at) => {
                let (own, others) = (self.rate(line, at), self.rate(other, at));
                let words = format!("`{line}` is above `{other}` at {at}");
                (words, own > others, format!("{own:.0} and {others:.0}"))
            }
            Claim::Peaks(line, from, to) => {
                let (at, most) = self.peak(line);
                let words = match from == to {
                    true => format!("`{line}` has the most at {from}"),
                    false => format!("`{line}` has the most between {from} and {to}"),
                };
                (words, (from..=to).contains(&at), format!("{most:.0} at {at}"))
            }
            Claim::Grows(line) => {
                let ((at, most), last) = (self.peak(line), self.rates(line).pop());
                let last = last.unwrap_or_default();
                let words = format!("`{line}` grows to the end");
                (words, last > 0.95 * most, format!("{last:.0}, {most:.0} at {at}"))
            }
            Claim::About(line, at, value) => {
                let own = self.rate(line, at);
                let words = format!("`{line}` has about {value:.0} at {at}");
                (words, (value / 2.0..=value * 2.0).contains(&own), format!("{own:.0}"))
            }
            Claim::NobodyGrowsPast(at) => {
                let grown = self.figure.lines.iter().map(|(name, _)| {
                    let last = self.rates(name).pop().unwrap_or_default();
                    (&**name, last / self.rate(name, at).max(1.0))
                });
                let most =
                    grown.fold(("", 0.0), |most, one| if one.1 > most.1 { one } else { most });
                let words = format!("nobody has at the end half again what it has at {at}");
                (words, most.1 < 1.5, format!("`{}` has {:.2} times as much", most.0, most.1))
            }
        }
    }
}
