//! Background work: checkpoints and collection. Threads rest until there is something to do; an idle instance polls
//! nothing.
//!
//! The *checkpointer* rests on the log's signal, with the time of the next timed checkpoint as deadline; one that would
//! find nothing new is not taken. The *collector* rests until a commit leaves garbage that it could not collect
//! itself; if an old snapshot is what keeps it, it says so, and rests until that snapshot ends: what others leave meanwhile
//! is kept by the same snapshot, and wakes nobody.

use crate::Lsn;
use crate::manager::Manager;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Weak};
use storage::environment::Joinable;
use storage::{CheckpointSignal, Micros, WaitCell, WaitEvent};

/// Rounds that the collector pauses after one, so that many small commits share a round.
const PAUSE: Micros = Micros(10_000);

/// How background threads are told that there is something to do.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    stop: AtomicBool,
    collector: Arc<WaitCell>,
    /// Whether the collector rests, and a commit with garbage has to wake it.
    resting: AtomicBool,
    /// The snapshot (plus one) whose end the collector waits for; 0 for none.
    blocked_by: AtomicU64,
}

impl Signals {
    /// There is garbage.
    pub(crate) fn garbage(&self, manager: &Manager) {
        if self.blocked_by.load(Ordering::Relaxed) != 0 {
            return;
        }
        if self.resting.load(Ordering::Relaxed) && self.resting.swap(false, Ordering::AcqRel) {
            manager.env.wake(&self.collector);
        }
    }

    /// A snapshot at `lsn` has ended.
    pub(crate) fn snapshot_ended(&self, manager: &Manager, lsn: Lsn) {
        let blocked_by = self.blocked_by.load(Ordering::SeqCst);
        if blocked_by > lsn.0 && self.blocked_by.swap(0, Ordering::AcqRel) != 0 {
            manager.env.wake(&self.collector);
        }
    }

    /// Tells every thread to end.
    pub(crate) fn stop(&self, manager: &Manager) {
        self.stop.store(true, Ordering::Release);
        manager.env.wake(&self.collector);
        manager.env.wake(manager.data.log().checkpoint_signal().cell());
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// Starts both threads.
pub(crate) fn start(manager: &Arc<Manager>) -> Vec<Box<dyn Joinable>> {
    let spawn = |name, body: fn(&Weak<Manager>, &Signals)| {
        let (weak, signals) = (Arc::downgrade(manager), Arc::clone(&manager.signals));
        let halting = Weak::clone(&weak);
        let halt = move |why: &str| {
            if let Some(manager) = halting.upgrade() {
                manager.data.log().halt(why);
            }
        };
        manager.env.background(name, halt, move || body(&weak, &signals))
    };
    vec![spawn("checkpointer", checkpointer), spawn("version collector", collector)]
}

fn checkpointer(weak: &Weak<Manager>, signals: &Signals) {
    let mut done_at = Lsn::ZERO;
    loop {
        let Some(manager) = weak.upgrade() else { return };
        let env = manager.env.clone();
        let cell = Arc::clone(manager.data.log().checkpoint_signal().cell());
        let timeout = manager.options.checkpoint_timeout;
        drop(manager);
        env.wait(WaitEvent::Background, &cell, Some(env.clock.now().plus(timeout)), None);
        let Some(manager) = weak.upgrade() else { return };
        if signals.stopping() {
            return;
        }
        let asked = CheckpointSignal::take(manager.data.log().checkpoint_signal());
        let tail = manager.data.log().tail();
        if !asked && tail == done_at {
            continue;
        }
        // Errors: a failed sync has halted the log, where everybody sees it; anything else is tried again next time.
        if manager.checkpoint().is_ok() {
            done_at = manager.data.log().tail();
        } else if manager.data.log().alive().is_err() {
            return;
        }
    }
}

fn collector(weak: &Weak<Manager>, signals: &Signals) {
    loop {
        let Some(manager) = weak.upgrade() else { return };
        let env = manager.env.clone();
        if signals.stopping() || manager.data.log().alive().is_err() {
            return;
        }
        manager.metrics.collections.fetch_add(1, Ordering::Relaxed);
        manager.moves.forget(manager.horizon());
        let deadline = if manager.collect() {
            // More may have become collectable meanwhile. Nobody wakes us before: many small commits share a round.
            Some(env.clock.now().plus(PAUSE))
        } else {
            // Order: what comes after this finds the flag set and wakes us; what came before is found by a last look.
            signals.resting.store(true, Ordering::SeqCst);
            manager.wait_for_collection(&signals.blocked_by)
        };
        drop(manager);
        env.wait(WaitEvent::Background, &signals.collector, deadline, None);
        signals.resting.store(false, Ordering::Relaxed);
        signals.blocked_by.store(0, Ordering::Release);
    }
}

impl Manager {
    /// Says which snapshot keeps the garbage that is left. With a deadline where something else does.
    fn wait_for_collection(&self, blocked_by: &AtomicU64) -> Option<Micros> {
        let nothing = !self.collector.has_garbage() && self.spill.is_empty();
        if nothing && !self.has_dropped() {
            return None;
        }
        if let Some((_, oldest)) = self.locks.owners.oldest() {
            blocked_by.store(oldest.0.saturating_add(1), Ordering::SeqCst);
            // It may have ended before we said so.
            if self.locks.owners.oldest().is_some_and(|again| again.1 <= oldest) {
                return None;
            }
        }
        // A commit in flight, or one not yet durable, keeps it. With `synchronous_commit` off nobody else may ask.
        if self.data.log().wait_durable_end(self.data.log().tail()).is_err() {
            return None;
        }
        Some(self.env.clock.now().plus(Micros(10 * PAUSE.0)))
    }
}
