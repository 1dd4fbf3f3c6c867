//! The buffer pool: a fixed array of frames, never freed, in one piece of memory.
//!
//! Paper: Johnson et al., *Shore-MT*, EDBT 2009, §6.2 (cuckoo page table, pin if pinned, in-transit lists, the clock's hand
//! let go before latch or I/O). Differences: latches are versioned and readers optimistic, as in LeanStore (Leis et al.,
//! ICDE 2018), but pages keep their ids and a child pointer only carries the frame as a *hint*, so that nothing has to
//! be unswizzled; and a page is always written by the cleaner, from a copy, never by whoever wants its frame.
//!
//! Invariants. (1) A page is in at most one frame: only the owner of its in-transit entry enters it into the page table.
//! (2) A dirty page keeps its frame until written, and while it is written. (3) A page is written only when the log is
//! durable past its page LSN. (4) Whoever holds a latch waits for no frame, lock or disk; within a bucket's latch a
//! frame's is only tried.
//!
//! Order: frame latches (top-down, left to right; or tried) before in-transit lists before bucket latches.

#[cfg(not(loom))]
pub mod cleaner;
#[cfg(not(loom))]
pub mod counters;
#[cfg(not(loom))]
pub mod file;
pub mod frame;
#[cfg(not(loom))]
pub mod guard;
pub mod latch;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod page_table;
#[cfg(not(loom))]
pub mod pool;
#[cfg(not(loom))]
#[cfg(test)]
mod tests;
#[cfg(not(loom))]
pub mod transit;

#[cfg(not(loom))]
pub use file::DataFile;
#[cfg(not(loom))]
pub use pool::{BufferPool, FRAMES_MIN};
