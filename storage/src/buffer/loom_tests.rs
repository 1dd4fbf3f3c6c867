//! Every interleaving, by loom: an optimistic reader against a writer, look-ups against displacement and removal, and a
//! page that arrives against who changes it and who cleans it.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p storage --release --lib buffer::loom_tests`. Under loom a bucket has
//! one slot and so has the stash, so that three pages fill the smallest table. With `--cfg weakened` as well, what
//! publishes is relaxed, and the models that lean on it must fail.

use super::frame::Frame;
use super::latch::Latch;
use super::page_table::PageTable;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use crate::{FrameId, Lsn, PageId};
use loom::sync::Arc;
use loom::thread;

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// A page of two words that are always equal when nobody is writing.
struct Page {
    latch: Latch,
    words: [AtomicU64; 2],
}

impl Page {
    fn new() -> Page {
        Page { latch: Latch::new(), words: [AtomicU64::new(0), AtomicU64::new(0)] }
    }

    fn read(&self) -> Option<u64> {
        let version = self.latch.version()?;
        let read = [self.words[0].load(Relaxed), self.words[1].load(Relaxed)];
        self.latch.validate(version).ok()?;
        assert_eq!(read[0], read[1], "a validated read is of one state");
        Some(read[0])
    }

    fn write(&self) -> bool {
        let Some(version) = self.latch.version() else { return false };
        let seen = self.words[0].load(Relaxed);
        if self.latch.upgrade(version).is_err() {
            return false;
        }
        assert_eq!(self.words[0].load(Relaxed), seen, "an upgrade keeps what was read");
        self.words[0].store(seen + 1, Relaxed);
        self.words[1].store(seen + 1, Relaxed);
        self.latch.release(true);
        true
    }
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn a_validated_read_is_of_one_state() {
    check(|| {
        let page = Arc::new(Page::new());
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let page = Arc::clone(&page);
                thread::spawn(move || u64::from(page.write()))
            })
            .collect();
        let first = page.read();
        let second = page.read();
        if let (Some(first), Some(second)) = (first, second) {
            assert!(first <= second);
        }
        let written: u64 = writers.into_iter().map(|writer| writer.join().expect("no panic")).sum();
        assert_eq!(page.read(), Some(written), "each write that says so has happened once");
    });
}

#[test]
fn a_writer_that_changes_nothing_disturbs_nobody() {
    check(|| {
        let page = Arc::new(Page::new());
        let version = page.latch.version().expect("nobody holds it");
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                if page.latch.try_acquire() {
                    page.latch.release(false);
                }
            })
        };
        let early = page.latch.validate(version);
        other.join().expect("no panic");
        assert!(early.is_ok() || page.latch.validate(version).is_ok());
        assert!(page.latch.upgrade(version).is_ok());
    });
}

/// Pages that the smallest table takes into its buckets, with their frames.
fn filled(count: u32) -> (PageTable, Vec<(PageId, FrameId)>) {
    let table = PageTable::new(1);
    let pages: Vec<_> = (1..=count).map(|n| (PageId(n), FrameId(n + 10))).collect();
    for (page, frame) in &pages {
        table.insert(*page, *frame, &mut |_, _| false).expect("there is room");
    }
    (table, pages)
}

#[test]
fn a_page_is_found_while_others_come_and_go() {
    check(|| {
        let (table, pages) = filled(2);
        let table = Arc::new(table);
        let writer = {
            let table = Arc::clone(&table);
            let (gone, frame) = pages[1];
            thread::spawn(move || {
                table.insert(PageId(7), FrameId(70), &mut |_, _| false).expect("there is room");
                table.remove(gone, frame);
            })
        };
        let (page, frame) = pages[0];
        assert_eq!(table.find(page), Some(frame), "a page is not lost while it is displaced");
        assert_eq!(table.find(PageId(99)), None);
        writer.join().expect("no panic");
        assert_eq!(table.find(PageId(7)), Some(FrameId(70)));
        assert_eq!(table.find(pages[1].0), None);
        assert_eq!(table.find(page), Some(frame));
    });
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn two_inserts_and_the_stash_lose_nothing() {
    check(|| {
        let (table, pages) = filled(2);
        let table = Arc::new(table);
        let other = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.insert(PageId(7), FrameId(70), &mut |_, _| false).is_ok())
        };
        let mine = table.insert(PageId(8), FrameId(80), &mut |_, _| false).is_ok();
        let theirs = other.join().expect("no panic");
        // Three buckets and a stash of one: there is room for all.
        assert!(mine && theirs);
        for (page, frame) in
            pages.into_iter().chain([(PageId(7), FrameId(70)), (PageId(8), FrameId(80))])
        {
            assert_eq!(table.find(page), Some(frame));
        }
    });
}

#[test]
fn a_page_that_arrives_may_be_changed_and_cleaned_at_once() {
    check(|| {
        let (page, at) = (PageId(3), FrameId(30));
        let (table, frame) = (Arc::new(PageTable::new(1)), Arc::new(Frame::new()));
        assert!(frame.latch.try_acquire() && frame.claim());
        frame.latch.release(true);
        let writer = {
            let (table, frame) = (Arc::clone(&table), Arc::clone(&frame));
            thread::spawn(move || {
                let Some(seen) = frame.latch.version() else { return };
                // By a hint it is found before it is in the table.
                if (frame.page() == page || table.find(page).is_some())
                    && frame.latch.upgrade(seen).is_ok()
                {
                    frame.lower_recovery(Lsn(5));
                    frame.latch.release(true);
                }
            })
        };
        let cleaner = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || {
                if frame.latch.try_acquire() {
                    if frame.recovery().is_some() {
                        assert!(frame.pin_latched(), "a dirty page is not claimed");
                        frame.set_clean();
                        frame.unpin();
                    }
                    frame.latch.release(false);
                }
            })
        };
        frame.enter(&table, (page, at), &|| (), &mut |_, _| false).expect("there is room");
        writer.join().expect("no panic");
        cleaner.join().expect("no panic");
        assert!(frame.in_use() && frame.page() == page && table.find(page) == Some(at));
    });
}
