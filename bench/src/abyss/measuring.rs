//! Measures on the engine what the simulation's costs are: one thread, a database as in `bench -- ycsb`, transactions of two lengths.
//!
//! Of each kind of transaction (all reads, all writes; few accesses and many) the middle half by time is taken, the two halves of a
//! transaction (until its commit, its commit) by themselves, and their classes as the engine's own clock has them. What many cost
//! more than few is what an access costs, what is left of few is the beginning or the end; and once more with rollbacks in place of
//! commits. The clock's own price is taken out by the same transactions without it. Who is descheduled meanwhile is in neither half of the middle.

use super::costs::{Bare, Costs, Part};
use super::machine::Cycles;
use crate::cpu;
use crate::tpcc::random::Random;
use crate::ycsb::embedded::{Database, Mode, Session};
use crate::ycsb::workload::{Access, FIELDS, ROWS};
use anyhow::Result;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use storage::breakdown::{self, Breakdown, Class};
use txn::decisions::{Ages, OnConflict, OwnerId, RangeMode, Span, TreeLocks};
use txn::{Isolation, SchemeKind, Transaction, WaitCell};

/// Accesses of a short transaction, and of a long one.
const LENGTHS: [usize; 2] = [4, 16];
/// Transactions of a kind that are not measured, and that are.
const RUNS: [usize; 2] = [500, 6000];
/// How often two threads hand something to each other.
const ROUNDS: u64 = 2000;
/// How long a thread rests that is measured.
const RESTING: Duration = Duration::from_micros(20);
/// How long it is watched what is done behind writes.
const BEHIND: Duration = Duration::from_secs(2);

/// The two halves of a transaction.
type Halves = [Breakdown; 2];

/// Everything that a costs file has.
///
/// # Errors
/// The database's own.
pub fn measure(directory: &Path, tell: &mut dyn FnMut(&str)) -> Result<Costs> {
    let mut costs = Costs::default();
    costs.bare = bare()?;
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
    let mut of = |writes, end| middles(session, writes, end);
    let [few, many] = of(false, End::Commit)?;
    let (read, end_read) = (each(&few[0], &many[0]), each(&few[1], &many[1]));
    costs.set(scheme, Part::Read, read);
    costs.set(scheme, Part::EndRead, end_read);
    costs.set(scheme, Part::Begin, rest(&few[0], &read));
    costs.set(scheme, Part::EndReader, rest(&few[1], &end_read));
    let [few, many] = of(true, End::Commit)?;
    let (write, end_write) = (each(&few[0], &many[0]), each(&few[1], &many[1]));
    costs.set(scheme, Part::Write, write);
    costs.set(scheme, Part::EndWrite, end_write);
    costs.set(scheme, Part::EndWriter, rest(&few[1], &end_write));
    let [few, many] = of(false, End::Rollback)?;
    let undo_read = each(&few[1], &many[1]);
    costs.set(scheme, Part::UndoRead, undo_read);
    costs.set(scheme, Part::Undo, rest(&few[1], &undo_read));
    let [few, many] = of(true, End::Rollback)?;
    costs.set(scheme, Part::UndoWrite, each(&few[1], &many[1]));
    costs.set(scheme, Part::Behind, behind(session, costs.bare.gigahertz)?);
    Ok(())
}

/// What other threads of the process do for each write, over [`BEHIND`].
fn behind(session: &mut Session, gigahertz: f64) -> Result<Breakdown> {
    let (mut random, mut writes) = (Random::new(1), 0);
    let (before, begun) = (cpu::of_other_threads()?, Instant::now());
    while begun.elapsed() < BEHIND {
        let drawn = draw(&mut random, LENGTHS[1], true);
        let transaction = session.execute(&drawn)?;
        session.commit(transaction)?;
        writes += drawn.len() as u64;
    }
    let nanos = cpu::of_other_threads()?.saturating_sub(before).as_nanos();
    let mut all = Breakdown::default();
    all.add(Class::Logging, (nanos as f64 * gigahertz) as u64 / writes);
    Ok(all)
}

/// A transaction's accesses, all reads or all writes.
fn draw(random: &mut Random, accesses: usize, writes: bool) -> Vec<Access> {
    (0..accesses)
        .map(|_| Access {
            key: random.uniform(0, ROWS - 1),
            writes: writes.then(|| random.uniform(0, FIELDS as u32 - 1)),
        })
        .collect()
}

fn scaled(of: &Breakdown, scale: impl Fn(u64) -> u64) -> Breakdown {
    let mut out = Breakdown::default();
    Class::ALL.into_iter().for_each(|class| out.add(class, scale(of.of(class))));
    out
}

/// How transactions of a kind end.
#[derive(Clone, Copy)]
enum End {
    Commit,
    Rollback,
}

impl End {
    fn of(self, session: &mut Session, transaction: Transaction) -> txn::Result<()> {
        match self {
            End::Commit => session.commit(transaction),
            End::Rollback => {
                let _ended = transaction.rollback();
                Ok(())
            }
        }
    }
}

/// What transactions of a kind take, the short ones and the long ones: the mean of the middle half of them. They take turns, with the clock and
/// without it, so that what slows the machine down for a while slows all of them down.
fn middles(session: &mut Session, writes: bool, end: End) -> Result<[Halves; 2]> {
    let mut random = Random::new(LENGTHS[1] as u64);
    let (mut bare, mut classed): ([Vec<[u64; 2]>; 2], [Vec<Halves>; 2]) = Default::default();
    let [unmeasured, measured] = RUNS;
    for run in 0..unmeasured + measured {
        for (length, (bare, classed)) in LENGTHS.into_iter().zip(bare.iter_mut().zip(&mut classed))
        {
            let drawn = draw(&mut random, length, writes);
            let start = breakdown::now();
            let transaction = session.execute(&drawn)?;
            let between = breakdown::now();
            end.of(session, transaction)?;
            let alone = [between - start, breakdown::now() - between];
            let drawn = draw(&mut random, length, writes);
            let clock = breakdown::start(Class::UsefulWork);
            let transaction = session.execute(&drawn)?;
            let between = Breakdown::so_far();
            end.of(session, transaction)?;
            let ended = Breakdown::so_far().since(between);
            drop(clock);
            if run >= unmeasured {
                bare.push(alone);
                classed.push([between, ended]);
            }
        }
    }
    let [few, many] = classed;
    Ok([middle(&bare[0], few), middle(&bare[1], many)])
}

/// The means of the middle halves, their classes as with the clock and their sums as without it.
fn middle(bare: &[[u64; 2]], mut classed: Vec<Halves>) -> Halves {
    let (count, quarter) = (classed.len(), classed.len() / 4);
    [0, 1].map(|half| {
        let mut totals: Vec<u64> = bare.iter().map(|halves| halves[half]).collect();
        totals.sort_unstable();
        let without = mean(&totals[quarter..count - quarter]);
        classed.sort_unstable_by_key(|halves| halves[half].total());
        let mut sum = Breakdown::default();
        let inner = &classed[quarter..count - quarter];
        inner.iter().for_each(|halves| sum.add_all(&halves[half]));
        let with = sum.total() as f64 / inner.len() as f64;
        let share = without / with / inner.len() as f64;
        scaled(&sum, |cycles| (cycles as f64 * share) as u64)
    })
}

fn mean(of: &[u64]) -> f64 {
    of.iter().sum::<u64>() as f64 / of.len().max(1) as f64
}

/// What does not depend on the scheme.
fn bare() -> Result<Bare> {
    let (start, began) = (breakdown::now(), Instant::now());
    std::thread::sleep(Duration::from_millis(200));
    let cycles = (breakdown::now() - start) as f64;
    let gigahertz = cycles / began.elapsed().as_nanos() as f64;
    let [wake, waking, resting] = wake(gigahertz)?;
    let apart = apart();
    let transfer = transfer();
    Ok(Bare { gigahertz, transfer, decision: decision(), apart, wake, waking, resting })
}

/// The middle of some figures.
fn median(mut of: Vec<Cycles>) -> Cycles {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// Two threads hand a number to and fro; half of a round.
fn transfer() -> Cycles {
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

/// What a decision takes more that another core has made the one before: two threads take turns with the same locks, and one alone has
/// as many turns.
fn apart() -> Cycles {
    let turns = |players: u64| {
        let (locks, ball) = (Mutex::new(TreeLocks::default()), AtomicU64::new(0));
        let play = |mine: u64| {
            let (mut random, mut woken) = (Random::new(mine), Vec::new());
            let (owner, rule) = (OwnerId(mine as u32), OnConflict::Detect.rule());
            let (mut held, mut taken, mut asks): (Vec<Span>, _, _) = (Vec::new(), Vec::new(), true);
            for round in 0..ROUNDS {
                let key: u32 = random.uniform(0, ROWS - 1);
                let span = Span::Key(key.to_be_bytes().as_slice().into());
                while ball.load(Ordering::Acquire) != players * round + mine {
                    std::hint::spin_loop();
                }
                let start = breakdown::now();
                let mut locks = locks.lock().unwrap_or_else(PoisonError::into_inner);
                if asks {
                    let wanted = (&span, RangeMode::Shared);
                    black_box(locks.ask(&Alike, owner, wanted, rule, &mut woken));
                    held.push(span);
                } else if let Some(span) = held.pop() {
                    locks.leave(owner, &span, None);
                }
                drop(locks);
                taken.push(breakdown::now() - start);
                ball.store(players * round + mine + 1, Ordering::Release);
                // As many as a transaction has.
                asks = if asks { held.len() < LENGTHS[1] } else { held.is_empty() };
            }
            median(taken)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..players).map(|mine| scope.spawn(move || play(mine))).collect();
            let own = play(0);
            others.into_iter().for_each(|other| drop(other.join()));
            own
        })
    };
    turns(2).saturating_sub(turns(1))
}

/// One thread rests by the engine's own means, and another wakes it, as often as [`ROUNDS`] says: until it goes on, what the other is
/// busy with that, and what resting and going on takes of a core.
fn wake(gigahertz: f64) -> Result<[Cycles; 3]> {
    let (cell, woken) = (WaitCell::new(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| -> Result<_> {
            let mut taken = Vec::new();
            let before = cpu::of_this_thread()?;
            for _ in 0..ROUNDS {
                cell.block_thread(None);
                let at = woken.swap(0, Ordering::AcqRel);
                taken.push(breakdown::now().saturating_sub(at));
            }
            let nanos = cpu::of_this_thread()?.saturating_sub(before).as_nanos();
            Ok((median(taken), (nanos as f64 * gigahertz) as Cycles / ROUNDS))
        });
        let mut busy = Vec::new();
        for _ in 0..ROUNDS {
            while woken.load(Ordering::Acquire) != 0 {
                std::hint::spin_loop();
            }
            // As long as a transaction may be waited for.
            let begun = Instant::now();
            while begun.elapsed() < RESTING {
                std::hint::spin_loop();
            }
            let start = breakdown::now();
            woken.store(start, Ordering::Release);
            cell.release_thread();
            busy.push(breakdown::now() - start);
        }
        let (wake, resting) = sleeper.join().expect("it does not panic")?;
        Ok([wake, median(busy), resting])
    })
}
