//! Measures on the engine what the simulation's costs are: one thread, a database as in `bench -- ycsb`, transactions of two lengths.
//!
//! Of each kind of transaction (all reads, all writes; few accesses and many) the middle half by time is taken, the two halves of a
//! transaction (until its commit, its commit) by themselves, and their classes as the engine's own clock has them. What many cost
//! more than few is what an access costs, what is left of few is the beginning or the end. The clock's own price is taken
//! out by the same transactions without it. Who is descheduled meanwhile is in neither half of the middle.

use super::costs::{Bare, Costs, Part};
use super::machine::Cycles;
use crate::tpcc::random::Random;
use crate::ycsb::embedded::{Database, Mode, Session};
use crate::ycsb::workload::{Access, FIELDS, ROWS};
use anyhow::Result;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::breakdown::{self, Breakdown, Class};
use txn::decisions::{Ages, OnConflict, OwnerId, RangeMode, Span, TreeLocks};
use txn::{Isolation, SchemeKind};

/// Accesses of a short transaction, and of a long one.
const LENGTHS: [usize; 2] = [4, 16];
/// Transactions of a kind that are not measured, and that are.
const RUNS: [usize; 2] = [500, 3000];

/// The two halves of a transaction.
type Halves = [Breakdown; 2];

/// Everything that a costs file has.
///
/// # Errors
/// The database's own.
pub fn measure(directory: &Path, tell: &mut dyn FnMut(&str)) -> Result<Costs> {
    let mut costs = Costs::default();
    costs.bare = bare();
    tell(&format!("{:?}", costs.bare));
    for scheme in SchemeKind::ALL {
        // As a database's default has it: what keeps to its snapshot.
        let modes = Mode::all().into_iter();
        let mut modes = modes.filter(|mode| {
            let weaker = mode.begin.isolation == Isolation::RepeatableRead;
            mode.begin.scheme == scheme && (weaker || scheme != SchemeKind::Mvcc)
        });
        let Some(mode) = modes.next() else { continue };
        std::fs::create_dir_all(directory)?;
        let database = Database::load(directory, 1)?;
        let of_one = of_scheme(&mut database.worker(&mode, 1), scheme, &mut costs);
        let closed = database.close();
        std::fs::remove_dir_all(directory)?;
        of_one.and(closed)?;
        let parts = Part::ALL.map(|part| costs.of(scheme, part).total());
        tell(&format!("{} {parts:?}", scheme.name()));
    }
    Ok(costs)
}

fn of_scheme(session: &mut Session, scheme: SchemeKind, costs: &mut Costs) -> Result<()> {
    let [short, long] = LENGTHS;
    let between = (long - short) as u64;
    let each =
        |few: &Breakdown, many: &Breakdown| scaled(&many.since(*few), |cycles| cycles / between);
    let rest =
        |few: &Breakdown, each: &Breakdown| few.since(scaled(each, |cycles| cycles * short as u64));
    let mut of = |writes| -> Result<[Halves; 2]> {
        Ok([middle(session, short, writes)?, middle(session, long, writes)?])
    };
    let [few, many] = of(false)?;
    let (read, end_read) = (each(&few[0], &many[0]), each(&few[1], &many[1]));
    costs.set(scheme, Part::Read, read);
    costs.set(scheme, Part::EndRead, end_read);
    costs.set(scheme, Part::Begin, rest(&few[0], &read));
    costs.set(scheme, Part::EndReader, rest(&few[1], &end_read));
    let [few, many] = of(true)?;
    let (write, end_write) = (each(&few[0], &many[0]), each(&few[1], &many[1]));
    costs.set(scheme, Part::Write, write);
    costs.set(scheme, Part::EndWrite, end_write);
    costs.set(scheme, Part::EndWriter, rest(&few[1], &end_write));
    Ok(())
}

fn scaled(of: &Breakdown, scale: impl Fn(u64) -> u64) -> Breakdown {
    let mut out = Breakdown::default();
    Class::ALL.into_iter().for_each(|class| out.add(class, scale(of.of(class))));
    out
}

/// What transactions of a kind take: the mean of the middle half of them.
fn middle(session: &mut Session, accesses: usize, writes: bool) -> Result<Halves> {
    let mut random = Random::new(accesses as u64);
    let mut draw = || -> Vec<Access> {
        (0..accesses)
            .map(|_| Access {
                key: random.uniform(0, ROWS - 1),
                writes: writes.then(|| random.uniform(0, FIELDS as u32 - 1)),
            })
            .collect()
    };
    let [unmeasured, measured] = RUNS;
    for _ in 0..unmeasured {
        let transaction = session.execute(&draw())?;
        session.commit(transaction)?;
    }
    let (mut bare, mut classed): (Vec<[u64; 2]>, Vec<Halves>) = Default::default();
    for _ in 0..measured {
        let drawn = draw();
        let start = breakdown::now();
        let transaction = session.execute(&drawn)?;
        let between = breakdown::now();
        session.commit(transaction)?;
        bare.push([between - start, breakdown::now() - between]);
    }
    for _ in 0..measured {
        let drawn = draw();
        let clock = breakdown::start(Class::UsefulWork);
        let transaction = session.execute(&drawn)?;
        let between = Breakdown::so_far();
        session.commit(transaction)?;
        let end = Breakdown::so_far().since(between);
        drop(clock);
        classed.push([between, end]);
    }
    Ok([0, 1].map(|half| {
        let mut totals: Vec<u64> = bare.iter().map(|halves| halves[half]).collect();
        totals.sort_unstable();
        let without = mean(&totals[measured / 4..measured * 3 / 4]);
        classed.sort_unstable_by_key(|halves| halves[half].total());
        let (mut sum, quarter) = (Breakdown::default(), measured / 4);
        let inner = &classed[quarter..measured - quarter];
        inner.iter().for_each(|halves| sum.add_all(&halves[half]));
        let with = sum.total() as f64 / inner.len() as f64;
        let share = without / with / inner.len() as f64;
        scaled(&sum, |cycles| (cycles as f64 * share) as u64)
    }))
}

fn mean(of: &[u64]) -> f64 {
    of.iter().sum::<u64>() as f64 / of.len().max(1) as f64
}

/// What does not depend on the scheme.
fn bare() -> Bare {
    let (start, began) = (breakdown::now(), Instant::now());
    std::thread::sleep(Duration::from_millis(200));
    let cycles = (breakdown::now() - start) as f64;
    Bare {
        gigahertz: cycles / began.elapsed().as_nanos() as f64,
        transfer: transfer(),
        decision: decision(),
        wake: wake(),
    }
}

/// The middle of some figures.
fn median(mut of: Vec<Cycles>) -> Cycles {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// Two threads hand a number to and fro; half of a round.
fn transfer() -> Cycles {
    const ROUNDS: u64 = 2000;
    let ball = AtomicU64::new(0);
    let play = |mine: u64| {
        let mut taken = Vec::new();
        for round in 0..ROUNDS {
            let start = breakdown::now();
            while ball.load(Ordering::Acquire) != 2 * round + mine {
                std::hint::spin_loop();
            }
            taken.push((breakdown::now() - start) / 2);
            ball.store(2 * round + mine + 1, Ordering::Release);
        }
        taken
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| play(1));
        let own = play(0);
        drop(other.join());
        median(own)
    })
}

/// Owners of one age.
struct Alike;

impl Ages for Alike {
    fn age(&self, _: OwnerId) -> u64 {
        1
    }
}

/// Sixteen locks taken and let go of beside a thousand others; of each the half.
fn decision() -> Cycles {
    let (mut locks, mut woken) = (TreeLocks::default(), Vec::new());
    let rule = OnConflict::Detect.rule();
    let span = |key: u32| Span::Key(key.to_be_bytes().as_slice().into());
    let mut lock = |locks: &mut TreeLocks, owner: u32, span: &Span| {
        let wanted = (span, RangeMode::Shared);
        black_box(locks.ask(&Alike, OwnerId(owner), wanted, rule, &mut woken));
    };
    (0..1000).for_each(|key| lock(&mut locks, 0, &span(key * 64)));
    let mut random = Random::new(1);
    let taken = (0..5000).map(|_| {
        let spans: Vec<Span> = (0..16).map(|_| span(random.uniform(0, 64_000))).collect();
        let start = breakdown::now();
        spans.iter().for_each(|span| lock(&mut locks, 1, span));
        spans.iter().for_each(|span| locks.leave(OwnerId(1), span, None));
        (breakdown::now() - start) / 32
    });
    median(taken.collect())
}

/// Until a thread that rests goes on, once it has been woken.
fn wake() -> Cycles {
    let woken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut taken = Vec::new();
            for _ in 0..200 {
                while woken.load(Ordering::Acquire) == 0 {
                    std::thread::park();
                }
                let at = woken.swap(0, Ordering::AcqRel);
                taken.push(breakdown::now().saturating_sub(at));
            }
            taken
        });
        for _ in 0..200 {
            std::thread::sleep(Duration::from_micros(200));
            while woken.load(Ordering::Acquire) != 0 {
                std::hint::spin_loop();
            }
            woken.store(breakdown::now(), Ordering::Release);
            sleeper.thread().unpark();
        }
        sleeper.join().map(median).unwrap_or_default()
    })
}
