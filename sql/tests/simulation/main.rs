//! Power loss over the whole stack, by seed: sessions run SQL over the faulty device, one thread at a time, and the seed
//! picks who goes on at each wait and each operation of the disk, and when the power goes: at work, in a checkpoint, in
//! recovery. What is left is what was synced and an arbitrary subset of what was written later, torn at 512 bytes.
//!
//! After each restart: every answered commit is there, and everything that anybody was shown; nothing unanswered is half
//! there; no money is lost; unique and foreign keys hold; the offline check, indexes against tables included, is clean.
//!
//! Half of the runs are of the default concurrency control, the others of each in turn.
//!
//! A failure names its seed. That seed alone: `ATOLL_SEEDS=7..8 cargo test --profile ci -p sql --test simulation power`.

mod audit;
mod client;
mod damage;
mod planted;
mod trouble;
mod work;
mod world;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use world::Faults;

/// The seeds that every build runs, if `ATOLL_SEEDS=first..end` does not name others.
const SEEDS: std::ops::Range<u64> = 0..100;

/// The seeds that are being run: an abort tells nobody else.
static RUNNING: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

fn running() -> std::sync::MutexGuard<'static, BTreeSet<u64>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has every panic name the seeds that were running, past the capture of output: it may be the last word of the process.
fn name_seeds_in_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            use std::io::Write;
            let seeds = running().clone();
            if !seeds.is_empty() {
                let _ = writeln!(std::io::stderr(), "seeds {seeds:?}: {panic}");
            }
            before(panic);
        }));
    });
}

/// What a user would complain of after the run of `seed`.
fn complaint(seed: u64, faults: Faults) -> Option<String> {
    name_seeds_in_panics();
    running().insert(seed);
    let ended = catch_unwind(AssertUnwindSafe(|| world::run(seed, faults).0));
    running().remove(&seed);
    ended.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Some(text.unwrap_or_else(|| "a panic".to_owned()))
    })
}

/// Runs seeds on every core, and panics with the first that fails.
fn run_all(seeds: &[u64]) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(what) = complaint(seed, Faults::default()) {
                        next.store(seeds.len(), Ordering::Relaxed);
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        *failed = Some((seed, what));
                    }
                }
            });
        }
    });
    if let Some((seed, what)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        panic!(
            "seed {seed}: {what}\nalone: ATOLL_SEEDS={seed}..{} cargo test --profile ci -p sql --test simulation power",
            seed + 1
        );
    }
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(range) = std::env::var("ATOLL_SEEDS") else { return SEEDS };
    let bounds = range.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (first, end) = bounds.expect("ATOLL_SEEDS is first..end");
    first..end
}

/// The seeds that have failed once, each with its reason: what was wrong then must not come back. A seed means what the
/// work of its day makes of it, so where the work has changed since it may lead elsewhere; it is kept all the same.
const KEPT: &str = include_str!("kept_seeds.txt");

#[test]
fn seeds_that_failed_once_pass() {
    let seed = |line: &str| line.split(':').next().and_then(|seed| seed.trim().parse().ok());
    let lines = KEPT.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    run_all(&lines.map(|line| seed(line).expect(line)).collect::<Vec<_>>());
}

#[test]
fn after_a_power_loss_what_was_answered_is_there_and_nothing_is_half_there() {
    run_all(&seeds().collect::<Vec<_>>());
}

/// The whole promise of a seed: whoever runs it sees the same.
#[test]
fn a_seed_gives_the_same_run() {
    for seed in [1, 2, 3, 5, 8] {
        let (first, second) =
            (world::run(seed, Faults::default()), world::run(seed, Faults::default()));
        assert_eq!(first, second, "seed {seed}");
    }
}

/// Runs reach what they are there for.
#[test]
fn runs_go_everywhere() {
    run_all(&(1000..1040).collect::<Vec<_>>());
    let tally = &world::TALLY;
    for (count, what) in [
        (&tally.committed, "a transaction that committed"),
        (&tally.prepared, "one that was prepared"),
        (&tally.found_prepared, "one that was prepared and not resolved"),
        (&tally.refused, "one that was refused"),
        (&tally.deadlocks, "a deadlock"),
        (&tally.full, "a full disk"),
        (&tally.lost_in_recovery, "a loss of power in recovery"),
        (&tally.lost_at_work, "one at work"),
        (&tally.lost_in_close, "one at the end"),
        (&tally.processes_died, "a process that died"),
        (&tally.closed, "a clean end"),
        (&tally.checkpoints, "a checkpoint"),
        (&tally.checkpoints_lost, "a checkpoint cut short"),
    ] {
        assert!(count.get() > 0, "no run has seen {what}: {tally:?}");
    }
}
