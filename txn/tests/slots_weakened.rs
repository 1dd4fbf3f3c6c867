//! The model of commit slots bites: with its fences taken away, a reader may see a claim and miss its slot.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom, with fences that do nothing.
    pub use crate::loom_sync::*;

    pub mod atomic {
        pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

        /// What is left of a fence.
        pub fn fence(_: Ordering) {}
    }
}

#[path = "../src/planted.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod planted;
#[path = "../src/commit/slots.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod slots;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
pub use storage::Lsn;

#[test]
#[should_panic(expected = "missed")]
fn a_missing_fence_is_noticed() {
    loom::model(|| {
        let slots = Arc::new(slots::CommitSlots::<()>::new(1, Lsn(1), planted::Planted::default()));
        let (tail, applied) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));
        let committer = {
            let (slots, tail, applied) = (slots.clone(), tail.clone(), applied.clone());
            loom::thread::spawn(move || {
                let slot = slots.take(0).expect("it is free");
                slots.publish(slot, Lsn(tail.load(Ordering::Relaxed)));
                slots.claimed(slot, Lsn(tail.fetch_add(1, Ordering::Relaxed)));
                applied.store(1, Ordering::Relaxed);
                slots.free(slot);
            })
        };
        let reader = {
            let (slots, tail, applied) = (slots.clone(), tail.clone(), applied.clone());
            loom::thread::spawn(move || {
                let visible = slots.advance(|| Lsn(tail.load(Ordering::Relaxed)));
                assert!(visible < Lsn(1) || applied.load(Ordering::Relaxed) == 1, "missed");
            })
        };
        reader.join().expect("no panic");
        committer.join().expect("no panic");
    });
}
