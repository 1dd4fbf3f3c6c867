//! The heap keeps to small pages, and what a large statement has taken goes back to the system.
//!
//! mimalloc asks for huge pages under all of its memory. Each thread allocates from places of its own there, so that every
//! thread that begins (a session that waits inside the engine holds one) made the process larger by some 3 MB, of which
//! it used a tenth; and the process grew whenever more sessions than before waited at once. What is large and used all
//! over asks for huge pages itself (`storage/src/page/huge.rs`).
//!
//! mimalloc gives memory back when it is next asked for some, after a while: behind a large statement a session that rests kept
//! it for good. So whoever has released something large says so, and a session that has been answered has the allocator look.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is worth giving back at once, in bytes.
const LARGE: usize = 8 << 20;

/// Whether something large has been released since the allocator was last made to look.
static RELEASED: AtomicBool = AtomicBool::new(false);

/// How the allocator gives back what is free.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Says how the allocator is made to give back what is free.
pub fn give_back_by(how: fn()) {
    GIVE_BACK.get_or_init(|| how);
}

/// Gives what is free back to the system, if that may be much.
pub fn give_back() {
    if RELEASED.load(Ordering::Relaxed)
        && RELEASED.swap(false, Ordering::Relaxed)
        && let Some(how) = GIVE_BACK.get()
    {
        how();
    }
}

#[inline]
fn released(bytes: usize) {
    if bytes >= LARGE {
        RELEASED.store(true, Ordering::Relaxed);
    }
}

/// An allocator that tells each thread's account what the thread takes and gives back.
#[derive(Debug)]
pub struct Counted<A>(pub A);

// SAFETY: every call is the inner allocator's with the same arguments and the same result; to count neither allocates nor
// unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counted<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        sql::account::took(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        sql::account::took(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        sql::account::gave(layout.size());
        released(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        sql::account::gave(layout.size());
        sql::account::took(size);
        released(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.realloc(at, layout, size) }
    }
}

/// Takes the advice back that the allocator gave for its first arena, of 1 GB of addresses. To be called before there are
/// other threads. Without effect where the system does not say what it has mapped.
pub fn keep_to_small_pages() {
    #[cfg(target_os = "linux")]
    {
        let probe = Box::new(0u8);
        let at = std::ptr::from_ref(&*probe).addr();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let Some((from, to)) =
            maps.lines().filter_map(range).find(|&(from, to)| (from..to).contains(&at))
        else {
            return;
        };
        let start = std::ptr::with_exposed_provenance_mut(from);
        // SAFETY: the range is one mapping of this process, and the advice changes nothing of what it holds.
        let advised =
            unsafe { rustix::mm::madvise(start, to - from, rustix::mm::Advice::LinuxNoHugepage) };
        if let Err(error) = advised {
            tracing::debug!(%error, "the heap keeps its huge pages");
        }
    }
}

/// The addresses of a line of `/proc/self/maps`.
fn range(line: &str) -> Option<(usize, usize)> {
    let (from, to) = line.split_ascii_whitespace().next()?.split_once('-')?;
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_mapping_is_read() {
        let line = "20000000000-20040000000 rw-p 00000000 00:00 0 ";
        assert_eq!(super::range(line), Some((0x200_0000_0000, 0x200_4000_0000)));
        assert_eq!(super::range(""), None);
        super::keep_to_small_pages();
    }
}
