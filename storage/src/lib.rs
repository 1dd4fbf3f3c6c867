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

pub mod btree;
pub mod chance;
pub mod component;
pub mod device;
pub mod environment;
pub mod error;
pub mod id;
pub mod page;
pub mod sync;
pub mod wal;

pub use btree::{Applied, Change, Cursor, Direction, ReadToken, Record, RecordBuffer, Tree};
pub use component::{DataComponent, Options, Recovering};
pub use device::{Device, File};
pub use environment::{Cancel, Clock, Environment, Scheduler, WaitCell, WaitEvent, Woken};
pub use error::{Error, Result};
pub use id::{FrameId, Lsn, Micros, PageId, TreeId};
pub use wal::{
    Claim, Log, LogInsert, LogRecord, LogScan, RecordKind, SpaceClass, SpaceReservation,
};
