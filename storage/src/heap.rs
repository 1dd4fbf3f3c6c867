//! The heap of a process: mimalloc, asked for an alignment only where a block may not have it anyway.
//!
//! `malloc` promises eight bytes of alignment to whoever asks for eight bytes. Asked for them by name, as the binding of
//! mimalloc does for every block, it goes another way where its list of free blocks is empty: it takes a block that is larger by seven
//! bytes and looks for the place in it. Of a size that a class of blocks ends with (80, 96, 112, 160, 192, 224 bytes and so
//! on) that is a block of the next class, so that the list that is looked at first stays empty for good, and each such block
//! takes some 140 instructions instead of 20: a record node has one of these sizes.

use libmimalloc_sys::{mi_malloc, mi_realloc, mi_zalloc};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};

/// What every block is aligned to, in bytes, if it is that long.
const NATURAL: usize = 8;

/// The allocator of programs that run the engine.
#[derive(Clone, Copy, Debug)]
pub struct Heap;

// SAFETY: every call is mimalloc's own for the same size and, where it is more than every block has, the same alignment; it
// neither unwinds nor gives a block to two at a time.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= NATURAL {
            // SAFETY: any size may be asked for.
            return unsafe { mi_malloc(layout.size()) }.cast();
        }
        // SAFETY: the same layout.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= NATURAL {
            // SAFETY: as in `alloc`.
            return unsafe { mi_zalloc(layout.size()) }.cast();
        }
        // SAFETY: the same layout.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the block is one of mimalloc's, as the caller promises.
        unsafe { MiMalloc.dealloc(at, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= NATURAL {
            // SAFETY: as in `dealloc`.
            return unsafe { mi_realloc(at.cast(), size) }.cast();
        }
        // SAFETY: as in `dealloc`.
        unsafe { MiMalloc.realloc(at, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::Heap;
    use std::alloc::{GlobalAlloc, Layout};

    #[test]
    fn every_block_is_aligned_and_keeps_its_bytes() {
        for size in 1..700usize {
            for align in [1, 2, 4, 8, 16, 64, 4096] {
                let layout = Layout::from_size_align(size, align).expect("a layout");
                // SAFETY: the size is not zero.
                let at = unsafe { Heap.alloc_zeroed(layout) };
                assert!(!at.is_null() && at.addr().is_multiple_of(align), "{size} at {align}");
                // SAFETY: the block is so long.
                unsafe { at.wrapping_add(size - 1).write(7) };
                // SAFETY: it is of that layout, and the new size is not zero.
                let at = unsafe { Heap.realloc(at, layout, size + 100) };
                assert!(!at.is_null() && at.addr().is_multiple_of(align), "{size} at {align}");
                // SAFETY: the block is longer than that, and has what was written.
                assert_eq!(unsafe { at.wrapping_add(size - 1).read() }, 7);
                let grown = Layout::from_size_align(size + 100, align).expect("a layout");
                // SAFETY: it is of that layout.
                unsafe { Heap.dealloc(at, grown) };
                // SAFETY: the size is not zero.
                let at = unsafe { Heap.alloc(layout) };
                assert!(!at.is_null() && at.addr().is_multiple_of(align), "{size} at {align}");
                // SAFETY: it is of that layout.
                unsafe { Heap.dealloc(at, layout) };
            }
        }
    }
}
