//! Timestamps by how they are handed out: alone, and as part of a transaction that does nothing else.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 4.3 and figure 6. No SQL and no socket.

use anyhow::Result;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use storage::environment::{SystemClock, Threads};
use txn::{Begin, Clock, Environment, Manager, SchemeKind, SessionWait};
use txn::{Timestamp, TimestampAllocator, Timestamps};

/// How much is measured.
#[derive(clap::Args)]
pub struct Effort {
    /// Threads at most.
    #[arg(long, default_value_t = 4)]
    threads: usize,
    /// Milliseconds of each run.
    #[arg(long, default_value_t = 500)]
    millis: u64,
    /// Runs of each case; the median is told.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

/// What is handed out between two looks at the time.
const AT_ONCE: u64 = 1000;

/// Has threads work for a while, each told its number; nanoseconds of one thread for one piece of work.
fn nanoseconds(threads: usize, time: Duration, work: &(dyn Fn(usize) + Sync)) -> f64 {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let done: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut done = 0;
                    while !stop.load(Ordering::Relaxed) {
                        (0..AT_ONCE).for_each(|_| work(number));
                        done += AT_ONCE;
                    }
                    done
                })
            })
            .collect();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().expect("a thread ends")).sum()
    });
    start.elapsed().as_nanos() as f64 * threads as f64 / done as f64
}

fn alone(kind: TimestampAllocator, threads: usize, time: Duration) -> f64 {
    let (timestamps, clock) = (Timestamps::new(kind, threads), SystemClock::new());
    nanoseconds(threads, time, &|worker| {
        black_box(timestamps.after(Timestamp(0), worker, || clock.now()));
    })
}

/// Transactions under `mvto` that take their place and end.
fn in_transactions(
    directory: &Path,
    kind: TimestampAllocator,
    threads: usize,
    time: Duration,
) -> Result<f64> {
    let env = Environment {
        device: Arc::new(storage::device::file::FileDevice::open(directory)?),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(threads + 4)),
        seed: 1,
    };
    let options = txn::Options { timestamp_allocator: kind, ..Default::default() };
    Manager::create(&env, &options)?;
    let manager = Manager::open::<txn::Error>(env, options, |_| Ok(Vec::new()))?;
    let scheme = SchemeKind::named("mvto").expect("it is one of them");
    let waits: Vec<_> = (0..threads).map(|n| Arc::new(SessionWait::new(n as u32))).collect();
    let taken = nanoseconds(threads, time, &|worker| {
        let begin = Begin { scheme, ..Begin::default() };
        let mut transaction = manager.begin(begin, &waits[worker]);
        black_box(transaction.begin_statement().expect("nobody is in the way"));
        let _ = transaction.commit(&mut |_| ()).expect("nothing was written");
    });
    manager.close()?;
    Ok(taken)
}

/// Measures all, and tells of each line; the page.
///
/// # Errors
/// The database's own.
pub fn run(effort: &Effort, told: &mut dyn FnMut(&str)) -> Result<String> {
    let time = Duration::from_millis(effort.millis);
    let median = |run: &mut dyn FnMut() -> Result<f64>| -> Result<f64> {
        Ok(crate::sample::median((0..effort.runs).map(|_| run()).collect::<Result<Vec<_>>>()?))
    };
    let mut page = String::from("# Timestamps\n\n");
    page.push_str(
        "Nanoseconds of one thread: for a timestamp alone, and for a transaction of `mvto` that takes its place and ends. The median \
         of the runs.\n\n| allocator | threads | a timestamp | a transaction |\n|---|--:|--:|--:|\n",
    );
    for kind in TimestampAllocator::ALL {
        for threads in (0..).map(|power| 1 << power).take_while(|n| *n <= effort.threads) {
            let one = median(&mut || Ok(alone(kind, threads, time)))?;
            let directory =
                std::env::temp_dir().join(format!("atoll-timestamps-{}", std::process::id()));
            let all = median(&mut || {
                std::fs::create_dir_all(&directory)?;
                let taken = in_transactions(&directory, kind, threads, time);
                std::fs::remove_dir_all(&directory)?;
                taken
            })?;
            let line = format!("| `{}` | {threads} | {one:.1} | {all:.0} |", kind.name());
            told(&line);
            page.push_str(&line);
            page.push('\n');
        }
    }
    Ok(page)
}
