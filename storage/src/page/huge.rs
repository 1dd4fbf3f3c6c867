//! Huge pages, for memory that is large, used all over and as old as the instance: the pool, its table, the log ring.
//!
//! There they save address translations and cost nothing, because all of it is used. The heap at large has none
//! (`server` sees to that): every thread allocates from places of its own, and with huge pages each thread that begins
//! would add megabytes of which it uses a tenth.

/// Where it pays, in bytes: the size of one huge page.
const HUGE_BYTES: usize = 2 << 20;
/// What the advice is rounded to, in bytes: a page of any system.
const SMALL_BYTES: usize = 64 << 10;

/// Asks the system for huge pages under `memory`, if it is large. A system that has none goes on with small ones.
pub fn advise<T>(memory: &[T]) {
    let bytes = size_of_val(memory);
    if bytes < HUGE_BYTES {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let start = memory.as_ptr().cast_mut().cast::<u8>();
        let skipped = start.align_offset(SMALL_BYTES);
        let whole = (bytes - skipped) / SMALL_BYTES * SMALL_BYTES;
        let from = start.wrapping_add(skipped).cast();
        // SAFETY: the range lies within the slice, and the advice changes nothing of what it holds.
        let _ = unsafe { rustix::mm::madvise(from, whole, rustix::mm::Advice::LinuxHugepage) };
    }
}
