//! The data component: bytes, pages and durability. It has never heard of a transaction.
//!
//! Paper: Levandoski et al., *High Performance Transactions in Deuteronomy*, CIDR 2015 (the DC half);
//! Johnson et al., *Shore-MT*, EDBT 2009 (how each part scales).
//!
//! What it promises to the layer above:
//!
//! 1. [`Log`]: an insert claims a place with one step and gets its [`Lsn`]; bytes become durable in LSN order, and
//!    "durable up to L" means past the *end* of the record at L.
//! 2. [`Tree`]: ordered records, each stamped with the LSN of the log record that wrote it. Applying a log record
//!    twice, or late, changes nothing: a record is replaced only by a newer one.
//! 3. [`DataComponent`]: after any crash `open` leaves every tree well formed and hands out the logical records
//!    from the redo point on, in LSN order, to be applied again.
//!
//! A page is written only once the log is durable to its page LSN, and it never holds an uncommitted change,
//! because the layer above logs first and applies afterwards.

// Under the model checker only what it checks is compiled, and much of that is then used by tests alone.
#![cfg_attr(loom, allow(dead_code, reason = "the callers are not compiled"))]

#[cfg(not(loom))]
pub mod backup;
pub mod breakdown;
#[cfg(not(loom))]
pub mod btree;
pub mod buffer;
#[cfg(not(loom))]
pub mod chance;
#[cfg(not(loom))]
pub mod checkpoint;
#[cfg(not(loom))]
pub mod component;
#[cfg(not(loom))]
pub mod control;
#[cfg(not(loom))]
#[cfg(test)]
mod crash_tests;
#[cfg(not(loom))]
pub mod device;
#[cfg(not(loom))]
pub mod environment;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
#[cfg(test)]
mod golden;
#[cfg(not(loom))]
pub mod heap;
pub mod id;
#[cfg(not(loom))]
mod merge_heap;
#[cfg(not(loom))]
pub mod page;
#[cfg(not(loom))]
pub mod planted;
#[cfg(not(loom))]
pub mod recovery;
#[cfg(not(loom))]
#[cfg(test)]
mod recovery_scripts;
#[cfg(not(loom))]
pub mod reserve;
#[cfg(not(loom))]
pub mod restore;
#[cfg(not(loom))]
pub mod scratch;
#[cfg(not(loom))]
mod sector;
#[cfg(not(loom))]
pub mod simulation;
#[cfg(not(loom))]
pub mod sort;
#[cfg(not(loom))]
pub mod space;
#[cfg(not(loom))]
pub mod stripped;
pub mod sync;
#[cfg(not(loom))]
pub mod turnstile;
#[cfg(not(loom))]
pub mod usage;
#[cfg(not(loom))]
pub mod volume;
#[cfg(not(loom))]
pub mod waiter;
pub mod wal;

#[cfg(not(loom))]
pub use backup::Backup;
pub use breakdown::{Breakdown, Class};
#[cfg(not(loom))]
pub use btree::{
    Applied, BulkBuilder, Change, Cursor, Direction, Duplicate, Forest, Gap, Loaded, Loading,
    Newer, Packing, ReadToken, Record, RecordBuffer, Room, Tree, TreeLoad,
};
#[cfg(not(loom))]
pub use checkpoint::{CheckpointReason, CheckpointReport, CheckpointWatch};
#[cfg(not(loom))]
pub use component::{CheckpointCounters, DataComponent, Options, Recovering};
#[cfg(not(loom))]
pub use device::{Device, File};
#[cfg(not(loom))]
pub use environment::{Cancel, Clock, Environment, Scheduler, WaitCell, WaitEvent, Woken};
#[cfg(not(loom))]
pub use error::{Error, Result};
#[cfg(not(loom))]
pub use heap::Heap;
pub use id::{FrameId, Lsn, Micros, PageId, TreeId};
#[cfg(not(loom))]
pub use merge_heap::MergeHeap;
#[cfg(not(loom))]
pub use planted::{Fault, Planted};
#[cfg(not(loom))]
pub use reserve::{Growth, Need, Reservation};
#[cfg(not(loom))]
pub use restore::{Plan, Restore, RestoreFrom, Stop, TargetTimeline};
#[cfg(not(loom))]
pub use scratch::{Scratch, ScratchFile};
#[cfg(not(loom))]
pub use stripped::Stripped;
#[cfg(not(loom))]
pub use turnstile::Turnstile;
#[cfg(not(loom))]
pub use usage::Usage;
#[cfg(not(loom))]
pub use waiter::{RunsFor, Waiter};
#[cfg(not(loom))]
pub use wal::{Archive, ArchiveCounters, Archived};
#[cfg(not(loom))]
pub use wal::{
    CheckpointSignal, Claim, FlushCounters, LimitExemption, Log, LogRecord, LogScan,
    SpaceReservation,
};
pub use wal::{InsertCounters, LogInsert, RecordKind, SpaceClass};
