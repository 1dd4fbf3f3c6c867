//! The log: one stream of records, in which a byte offset is the LSN.
//!
//! A record is *claimed* (its place, and so its LSN, is fixed), *filled*, and *published*. Between claim and publish
//! nothing may wait for I/O, latch, lock or memory, because everything behind it waits for it.
//!
//! | file | mechanism |
//! | --- | --- |
//! | [`frame`] | what a record looks like, and how the end of the log is recognised |
//! | [`ring`] | the log buffer: fill, seal, clear |
//! | [`insert`], [`consolidation`] | the algorithms that claim a place |
//! | `space` | room set aside before a claim, so that nothing behind it can run out of disk |
//! | `room` | reservations, segments prepared for them, the wait for a checkpoint that gives some back |
//! | `segment` | files: prepared ahead, recycled behind; restart epochs |
//! | [`alarm`] | how a sleeping flusher is woken by an insert |
//! | `flush` | the contiguous prefix, written and synced for all who wait (group commit) |
//! | `archive` | full segments, handed to the operator's archive before they are recycled |
//! | `scan`, `end` | reading it back; where it ends |
//! | `log` | [`Log`]: all of it together |

pub(crate) mod alarm;
#[cfg(not(loom))]
pub(crate) mod archive;
pub(crate) mod consolidation;
#[cfg(not(loom))]
pub(crate) mod end;
#[cfg(not(loom))]
mod flush;
pub(crate) mod frame;
pub(crate) mod insert;
#[cfg(not(loom))]
pub(crate) mod log;
#[cfg(loom)]
#[cfg(test)]
mod loom_tests;
pub(crate) mod ring;
#[cfg(not(loom))]
mod room;
#[cfg(not(loom))]
pub(crate) mod scan;
#[cfg(not(loom))]
pub(crate) mod segment;
#[cfg(not(loom))]
mod space;
#[cfg(not(loom))]
#[cfg(test)]
mod tests;

#[cfg(not(loom))]
pub use archive::{Archive, ArchiveCounters, Archived};
pub use insert::InsertCounters;
#[cfg(not(loom))]
pub use log::{Claim, FlushCounters, Log};
#[cfg(not(loom))]
pub(crate) use room::Detached;
#[cfg(not(loom))]
pub use room::{CheckpointSignal, LimitExemption, SpaceReservation};
#[cfg(not(loom))]
pub use scan::{LogRecord, LogScan};

/// Which algorithm claims space in the log ring (Johnson et al., *Aether*, VLDB 2010; Deuteronomy §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum LogInsert {
    /// One mutex around claim and copy.
    Mutex,
    /// The mutex covers the claim alone; copies run in parallel.
    Decoupled,
    /// Claims that meet are merged in a consolidation array.
    Consolidated,
    /// One atomic add.
    #[default]
    AtomicAdd,
}

/// What a record is. Below [`RecordKind::FIRST_LOGICAL`] the data component's own; the others belong to the layer
/// above, and their payload is opaque here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u8);

impl RecordKind {
    /// A record that was claimed and given up: it only keeps its place.
    pub const VOID: RecordKind = RecordKind(0);
    /// The first kind of the layer above.
    pub const FIRST_LOGICAL: RecordKind = RecordKind(64);
}

/// Who asks for log space. What is kept last is for those that free space or end what has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpaceClass {
    /// A transaction's record: refused first.
    Commit,
    /// Structure records, checkpoints, and the resolution of prepared transactions.
    System,
}
