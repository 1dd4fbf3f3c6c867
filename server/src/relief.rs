//! Relief: somebody always watches the sockets, however long a statement runs.
//!
//! A statement runs inline on its worker. tokio's workers share one poller, and the worker that took an event from it
//! runs the event's task *before* anyone polls again, unless there was a second task to wake another worker for. So one
//! long statement could keep every other session's message unread while other workers sleep. Waits inside the engine
//! hand their worker over (`scheduler.rs`); a statement that computes does not know how long it will take.
//!
//! Hence a thread that looks every [`TICK`], as Go's `sysmon` does: if a worker is still within the same call as at the
//! last look, it gives the runtime an empty task, which wakes a sleeping worker; that one then takes the poller. There
//! are spare workers beyond the cores for this (measured: they cost nothing while they sleep), and the system shares
//! the cores among them.
//!
//! Cost: one locked store and one plain store for each batch of messages. While no statement runs the thread sleeps and
//! polls nothing; a wait inside the engine counts as not running.

use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;
use tokio::runtime::Handle;

/// How often running statements are looked at.
const TICK: Duration = Duration::from_millis(2);
/// After so many looks that saw nothing run the thread sleeps until somebody begins.
const QUIET_TICKS: u32 = 50;
/// Marks; threads beyond share, and may then be taken for one another.
const MARKS: usize = 64;

/// Odd while the thread is within a call of the engine.
static RUNNING: [CachePadded<AtomicU64>; MARKS] =
    [const { CachePadded::new(AtomicU64::new(0)) }; MARKS];

/// Whether the watching thread sleeps.
static ASLEEP: AtomicBool = AtomicBool::new(false);
/// The watching thread, to be woken.
static WATCHER: std::sync::OnceLock<Thread> = std::sync::OnceLock::new();

thread_local! {
    static MARK: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % MARKS
    };
}

fn mark() -> &'static AtomicU64 {
    &RUNNING[MARK.with(|mark| *mark)]
}

/// The thread is within a call of the engine, until this is dropped.
#[derive(Debug)]
pub struct Running(());

/// A call begins.
#[must_use]
pub fn running() -> Running {
    // SeqCst: pairs with the watcher's, which says that it sleeps and then looks once more: one of the two sees the other.
    mark().fetch_or(1, Ordering::SeqCst);
    if ASLEEP.load(Ordering::SeqCst)
        && let Some(watcher) = WATCHER.get()
    {
        watcher.unpark();
    }
    Running(())
}

impl Drop for Running {
    fn drop(&mut self) {
        let mark = mark();
        // Even, and another number than before: the next call is not this one.
        mark.store((mark.load(Ordering::Relaxed) | 1).wrapping_add(1), Ordering::Release);
    }
}

/// The thread waits inside the engine and has handed its worker over: calls `wait` as if no call were under way.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let within = mark().load(Ordering::Relaxed) & 1 == 1;
    if within {
        drop(Running(()));
    }
    let result = wait();
    if within {
        std::mem::forget(running());
    }
    result
}

/// Begins to watch the workers of `runtime`. The thread lives as long as the process.
///
/// # Errors
/// The system has no thread left.
pub fn watch(runtime: Handle) -> std::io::Result<()> {
    let builder = std::thread::Builder::new().name("relief".to_owned());
    let thread = builder.spawn(move || watcher(&runtime))?;
    // Only the first watcher is woken; a second runtime, as tests have it, shares its wakefulness.
    let _ = WATCHER.set(thread.thread().clone());
    Ok(())
}

fn watcher(runtime: &Handle) {
    let look = || RUNNING.each_ref().map(|mark| mark.load(Ordering::SeqCst));
    let busy = |marks: &[u64; MARKS]| marks.iter().any(|mark| mark & 1 == 1);
    let mut last = look();
    let mut quiet = 0;
    loop {
        std::thread::sleep(TICK);
        let now = look();
        if now.iter().zip(&last).any(|(now, last)| now & 1 == 1 && now == last) {
            runtime.spawn(async {});
        }
        quiet = if now == last && !busy(&now) { quiet + 1 } else { 0 };
        last = now;
        if quiet > QUIET_TICKS {
            ASLEEP.store(true, Ordering::SeqCst);
            while !busy(&look()) && look() == last {
                std::thread::park();
            }
            ASLEEP.store(false, Ordering::SeqCst);
            quiet = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Instant;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Answers each byte; an `L` takes the worker for 400 ms first.
    async fn serve(mut stream: tokio::net::TcpStream) {
        let mut byte = [0];
        while let Ok(1) = stream.read(&mut byte).await {
            {
                let _running = running();
                let begun = Instant::now();
                while byte[0] == b'L' && begun.elapsed() < Duration::from_millis(400) {
                    std::hint::spin_loop();
                }
            }
            if stream.write_all(&byte).await.is_err() {
                return;
            }
        }
    }

    #[test]
    fn others_are_answered_while_one_statement_takes_long() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(3)
            .enable_all()
            .build()
            .unwrap();
        watch(runtime.handle().clone()).unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        let ask = |stream: &mut TcpStream, byte: u8| {
            stream.write_all(&[byte]).unwrap();
            stream.read_exact(&mut [0]).unwrap();
        };
        let mut short = TcpStream::connect(address).unwrap();
        let mut long = TcpStream::connect(address).unwrap();
        ask(&mut short, b'S');
        ask(&mut long, b'S');
        // Long enough for the watcher to have fallen asleep: it has to be woken too.
        std::thread::sleep(Duration::from_millis(300));
        for _ in 0..3 {
            let begun = Instant::now();
            long.write_all(b"L").unwrap();
            std::thread::sleep(Duration::from_millis(20));
            ask(&mut short, b'S');
            let took = begun.elapsed();
            assert!(took < Duration::from_millis(300), "answered only after {took:?}");
            long.read_exact(&mut [0]).unwrap();
        }
    }
}
