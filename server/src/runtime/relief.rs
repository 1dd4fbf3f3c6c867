//! Relief: each loop has somebody who watches its sockets, however long a statement runs, and no loop has too much to do
//! while another has nothing.
//!
//! A statement runs inline on its loop's thread, and does not know how long it will take. Hence a thread that looks every
//! [`TICK`], as Go's `sysmon` does: a driver that is still within the task of the last look has its loop taken away, and
//! ends the task beside it. And where tasks queued at one loop at both looks while another in use waited for something
//! to do, one connection moves there. Its looks also tell `spread.rs` how many loops shall be in use.
//!
//! Cost: one load for each batch of events. While no task runs the thread sleeps and polls nothing.

use super::Shared;
use super::event_loop::Look;
use super::spread::{Placement, Spread};
use super::threads::Job;
use crate::process::indispensable;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

/// How often the loops are looked at.
const TICK: Duration = Duration::from_millis(2);
/// After so many looks that saw nothing run the thread sleeps until a loop has something to do.
const QUIET_TICKS: u32 = 50;

/// The watching thread, as the loops see it.
#[derive(Debug)]
pub(super) struct Relief {
    asleep: AtomicBool,
    stopped: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Relief {
    /// Nobody watches yet.
    pub fn new() -> Relief {
        Relief {
            asleep: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    /// A loop has something to do. Its state has been changed, under its lock, before this is called; the watcher says
    /// that it sleeps before it looks at the loops for the last time: one of the two sees the other.
    pub fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// The thread ends.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// Begins to watch.
pub(super) fn watch(shared: &Arc<Shared>) -> io::Result<()> {
    let watched = Arc::clone(shared);
    let builder = std::thread::Builder::new().name("relief".to_owned());
    let thread = builder.spawn(move || indispensable("relief", || watcher(&watched)))?;
    // Set once, here.
    let _ = shared.relief.thread.set(thread.thread().clone());
    Ok(())
}

fn looks(shared: &Shared) -> impl Iterator<Item = Look> {
    shared.loops.iter().map(|event_loop| event_loop.look())
}

fn watcher(shared: &Arc<Shared>) {
    let relief = &shared.relief;
    let at_rest = |looks: &[Look]| looks.iter().all(|look| look.waits);
    // Two looks, in memory that is used again for each.
    let mut last: Vec<Look> = looks(shared).collect();
    let mut now = last.clone();
    let mut quiet = 0;
    let mut spread = Spread::default();
    while !relief.stopped.load(Ordering::SeqCst) {
        std::thread::sleep(TICK);
        now.clear();
        now.extend(looks(shared));
        for (index, look) in now.iter().enumerate() {
            if stuck(look, &last[index]) {
                let job = Job { index, turn: look.turn };
                if let Err(error) = shared.hand_over(job) {
                    tracing::warn!(%error, "no thread left: a long statement keeps others waiting");
                }
            }
        }
        balance(shared, &last, &now);
        let placement = shared.placement();
        let flows = shared.flows.load(Ordering::Relaxed) > 0;
        let wanted = spread.look(&now, placement, flows);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != placement) {
            tracing::debug!(from = ?placement, to = ?wanted, "sessions move");
            shared.place(wanted);
        }
        quiet = if at_rest(&now) && now == last { quiet + 1 } else { 0 };
        std::mem::swap(&mut last, &mut now);
        if quiet > QUIET_TICKS {
            spread.rest();
            if !shared.follows() {
                shared.place(Placement::Few(1));
            }
            relief.asleep.store(true, Ordering::SeqCst);
            while looks(shared).all(|look| look.waits) && looks(shared).eq(last.iter().copied()) {
                if relief.stopped.load(Ordering::SeqCst) {
                    return;
                }
                std::thread::park();
            }
            relief.asleep.store(false, Ordering::SeqCst);
            quiet = 0;
        }
    }
}

/// Whether a driver is still within the task that it ran at the last look, whatever was queued since.
fn stuck(now: &Look, last: &Look) -> bool {
    now.runs && last.runs && (now.turn, now.steps) == (last.turn, last.steps)
}

/// Moves a connection from a loop where tasks queued at both looks to one in use that waited at both. One that is where
/// its client is stays there.
fn balance(shared: &Shared, last: &[Look], now: &[Look]) {
    if shared.follows() {
        return;
    }
    let both = |what: fn(&Look) -> bool| {
        (0..shared.in_use()).find(|&index| what(&last[index]) && what(&now[index]))
    };
    if let (Some(crowded), Some(free)) = (both(|look| look.queued > 0), both(|look| look.waits)) {
        shared.loops[crowded].relocate_to(free);
    }
}
