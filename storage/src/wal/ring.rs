//! The log buffer: a ring of bytes in which the place of an LSN is the LSN modulo the size.
//!
//! An inserter that has claimed a range owns its bytes until it *seals* the record by storing the first word. The
//! flusher reads sealed words in LSN order, writes what they cover, *clears* it, and gives the room to the next lap.
//! Because cleared bytes are zero and a record's first word is not, the word alone says whether a record is complete:
//! no thread waits for the one before it to release its part (Aether's in-order release is not needed).
//!
//! Ownership, which the callers uphold: `claimed and not sealed` belongs to the claimant, `sealed and not cleared` to
//! the flusher (shared reads), `cleared` to nobody until it is claimed again. [`super::log`] lets a claim fill only once
//! the flusher has cleared its range, and the Acquire load of that limit orders the two.

#[cfg(not(loom))]
pub(crate) use bytes::Ring;
#[cfg(loom)]
pub(crate) use model::Ring;

/// Bytes of a word: the unit of sealing.
const WORD_BYTES: u64 = 8;

#[cfg(not(loom))]
mod bytes {
    use super::WORD_BYTES;
    use crate::sync::PUBLISH;
    use crate::sync::atomic::{AtomicU64, Ordering};
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
    use std::ptr::NonNull;

    /// Bytes that are cleared at once.
    const CLEARED: usize = 1024;

    /// The memory of the log buffer.
    #[derive(Debug)]
    pub(crate) struct Ring {
        start: NonNull<u8>,
        bytes: u64,
    }

    // SAFETY: the ring is memory; who may touch which part of it when is settled by claim, seal and clear.
    unsafe impl Send for Ring {}
    // SAFETY: as above.
    unsafe impl Sync for Ring {}

    impl Ring {
        /// A ring of `bytes` zeros, a power of two.
        pub(crate) fn new(bytes: u64) -> Ring {
            assert!(bytes.is_power_of_two() && bytes >= 64, "a ring's size is a power of two");
            let layout = Ring::layout(bytes);
            // SAFETY: the layout is not of zero size.
            let start = unsafe { alloc_zeroed(layout) };
            let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
            // SAFETY: the allocation has so many bytes, all zero, and nobody else knows of it yet.
            let memory = unsafe { std::slice::from_raw_parts(start.as_ptr(), bytes as usize) };
            crate::page::huge::advise(memory);
            Ring { start, bytes }
        }

        fn layout(bytes: u64) -> Layout {
            Layout::from_size_align(bytes as usize, 4096).expect("a power of two is a size")
        }

        /// How many bytes it holds.
        pub(crate) fn bytes(&self) -> u64 {
            self.bytes
        }

        fn at(&self, lsn: u64) -> *mut u8 {
            let offset = (lsn & (self.bytes - 1)) as usize;
            // SAFETY: the offset is below the size of the allocation.
            unsafe { self.start.as_ptr().add(offset) }
        }

        fn word(&self, lsn: u64) -> &AtomicU64 {
            debug_assert_eq!(lsn % WORD_BYTES, 0, "words are aligned");
            let word = self.at(lsn).cast::<u64>();
            // SAFETY: the word is aligned, within the allocation, and while a record can be sealed here its first
            // two words are only ever touched through this atomic.
            unsafe { AtomicU64::from_ptr(word) }
        }

        /// Copies `bytes` to `lsn`, round the end of the ring if need be. The caller has claimed that range.
        pub(crate) fn fill(&self, lsn: u64, bytes: &[u8]) {
            let until_end = (self.bytes - (lsn & (self.bytes - 1))) as usize;
            if bytes.len() <= until_end {
                self.copy(lsn, bytes);
            } else {
                let (first, second) = bytes.split_at(until_end);
                self.copy(lsn, first);
                self.copy(lsn + until_end as u64, second);
            }
        }

        fn copy(&self, lsn: u64, bytes: &[u8]) {
            // SAFETY: `fill` lets no piece pass the end of the ring, and the range was claimed by this thread alone and
            // cleared by the flusher.
            unsafe { self.at(lsn).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }

        /// Stores a word of the record that is not its first; [`Ring::seal`] publishes it.
        pub(crate) fn fill_word(&self, lsn: u64, word: u64) {
            self.word(lsn).store(word.to_le(), Ordering::Relaxed);
        }

        /// Stores the first word of the record at `lsn`: from here on it is the flusher's.
        pub(crate) fn seal(&self, lsn: u64, word: u64) {
            // Release: pairs with Acquire in `sealed`; who sees the word sees the record.
            self.word(lsn).store(word.to_le(), PUBLISH);
        }

        /// The first word of the record at `lsn`, zero while it is not complete.
        pub(crate) fn sealed(&self, lsn: u64) -> u64 {
            // Acquire: pairs with Release in `seal`.
            u64::from_le(self.word(lsn).load(Ordering::Acquire))
        }

        /// The sealed bytes from `from` to `to`, in one piece or two. For the flusher alone.
        pub(crate) fn read(&self, from: u64, to: u64) -> [&[u8]; 2] {
            self.pieces(from, to).map(|(lsn, length)| {
                // SAFETY: every record in the range is sealed, so nobody writes here until the flusher clears it.
                unsafe { std::slice::from_raw_parts(self.at(lsn), length) }
            })
        }

        /// Makes the bytes from `from` to `to` zero again. For the flusher alone, before it gives the room away.
        pub(crate) fn clear(&self, from: u64, to: u64) {
            for (lsn, length) in self.pieces(from, to) {
                // In blocks that ordinary stores clear: a longer one is cleared by one instruction, of which whoever counts
                // instructions counts each byte.
                for at in (0..length).step_by(CLEARED) {
                    // SAFETY: the range is sealed and written, so it is the flusher's alone; it lies within the ring.
                    unsafe { self.at(lsn + at as u64).write_bytes(0, CLEARED.min(length - at)) };
                }
            }
        }

        fn pieces(&self, from: u64, to: u64) -> [(u64, usize); 2] {
            let length = to - from;
            assert!(length <= self.bytes, "a ring holds one lap");
            let first = length.min(self.bytes - (from & (self.bytes - 1)));
            [(from, first as usize), (from + first, (length - first) as usize)]
        }
    }

    impl Drop for Ring {
        fn drop(&mut self) {
            // SAFETY: allocated in `new` with the same layout, and nobody can refer to it any more.
            unsafe { dealloc(self.start.as_ptr(), Ring::layout(self.bytes)) };
        }
    }
}

/// The same ring for the model checker: words, each written and read by relaxed atomics, so that only `seal` and
/// `sealed` order them, exactly as in the real one.
#[cfg(loom)]
mod model {
    use super::WORD_BYTES;
    use crate::sync::PUBLISH;
    use crate::sync::atomic::{AtomicU64, Ordering};

    pub(crate) struct Ring {
        words: Vec<AtomicU64>,
    }

    impl Ring {
        pub(crate) fn new(bytes: u64) -> Ring {
            Ring { words: (0..bytes / WORD_BYTES).map(|_| AtomicU64::new(0)).collect() }
        }

        pub(crate) fn bytes(&self) -> u64 {
            self.words.len() as u64 * WORD_BYTES
        }

        fn word(&self, lsn: u64) -> &AtomicU64 {
            &self.words[(lsn / WORD_BYTES) as usize % self.words.len()]
        }

        pub(crate) fn fill(&self, lsn: u64, bytes: &[u8]) {
            for (index, chunk) in bytes.chunks_exact(WORD_BYTES as usize).enumerate() {
                let word = u64::from_le_bytes(chunk.try_into().expect("a chunk is a word"));
                self.word(lsn + index as u64 * WORD_BYTES).store(word, Ordering::Relaxed);
            }
        }

        pub(crate) fn fill_word(&self, lsn: u64, word: u64) {
            self.word(lsn).store(word, Ordering::Relaxed);
        }

        pub(crate) fn seal(&self, lsn: u64, word: u64) {
            self.word(lsn).store(word, PUBLISH);
        }

        pub(crate) fn sealed(&self, lsn: u64) -> u64 {
            self.word(lsn).load(Ordering::Acquire)
        }

        pub(crate) fn read_word(&self, lsn: u64) -> u64 {
            self.word(lsn).load(Ordering::Relaxed)
        }

        pub(crate) fn clear(&self, from: u64, to: u64) {
            for lsn in (from..to).step_by(WORD_BYTES as usize) {
                self.word(lsn).store(0, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn a_record_round_the_end_reads_as_it_was_filled_and_is_zero_once_cleared() {
        let ring = Ring::new(64);
        let bytes: Vec<u8> = (1..=40).collect();
        ring.fill(3 * 64 + 40, &bytes);
        ring.seal(3 * 64 + 32, 77);
        assert_eq!(ring.sealed(3 * 64 + 32), 77);
        let [first, second] = ring.read(3 * 64 + 40, 3 * 64 + 80);
        assert_eq!((first.len(), [first, second].concat()), (24, bytes));
        ring.clear(3 * 64 + 32, 3 * 64 + 80);
        assert!(ring.read(3 * 64, 4 * 64).concat().iter().all(|byte| *byte == 0));
    }
}
