//! The log: one stream of records, in which a byte offset is the LSN.
//!
//! A record is *claimed* (its place, and so its LSN, is fixed), *filled*, and *published*. Between claim and publish
//! nothing may wait for I/O, latch, lock or memory, because everything behind it waits for it.

use crate::environment::Environment;
use crate::sync::{Mutex, lock};
use crate::{Lsn, Result};
use std::task::{Poll, Waker};

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

/// Room in the log that has been set aside and not yet claimed; what is left of it goes back when it is dropped.
#[derive(Debug)]
pub struct SpaceReservation {
    bytes: u64,
}

impl SpaceReservation {
    /// What is left, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A place in the log that one record will fill.
#[must_use = "everything behind a claim waits for its publication"]
#[derive(Debug)]
pub struct Claim<'l> {
    log: &'l Log,
    lsn: Lsn,
    end: Lsn,
}

/// One record, as a scan hands it out.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins.
    pub end: Lsn,
    /// What it is.
    pub kind: RecordKind,
    /// What it says.
    pub payload: &'a [u8],
}

/// The log.
#[derive(Debug)]
pub struct Log {
    state: Mutex<Memory>,
    env: Environment,
}

#[derive(Debug, Default)]
struct Memory {
    tail: u64,
    records: Vec<(Lsn, Lsn, RecordKind, Vec<u8>)>,
}

/// Bytes of a record beside its payload.
const FRAME_BYTES: u64 = 32;

impl Log {
    pub(crate) fn in_memory(env: Environment) -> Log {
        Log { state: Mutex::new(Memory { tail: 64, records: Vec::new() }), env }
    }

    /// Sets `bytes` of payload in `records` records aside. Waits for a checkpoint where that helps.
    ///
    /// # Errors
    /// [`crate::Error::Full`] when it does not.
    pub fn reserve(
        &self,
        _class: SpaceClass,
        records: u64,
        bytes: u64,
    ) -> Result<SpaceReservation> {
        Ok(SpaceReservation { bytes: bytes + records * FRAME_BYTES })
    }

    /// Claims the place of one record of `payload` bytes. Never waits but for room in the ring.
    pub fn claim(&self, space: &mut SpaceReservation, payload: usize) -> Claim<'_> {
        let bytes = payload as u64 + FRAME_BYTES;
        assert!(space.bytes >= bytes, "space is reserved before it is claimed");
        space.bytes -= bytes;
        let mut state = lock(&self.state);
        let lsn = Lsn(state.tail);
        state.tail += bytes;
        Claim { log: self, lsn, end: Lsn(state.tail) }
    }

    /// The end of the last claimed record: every later claim gets at least this LSN.
    #[must_use]
    pub fn tail(&self) -> Lsn {
        Lsn(lock(&self.state).tail)
    }

    /// Records that *end* at or before this are durable.
    #[must_use]
    pub fn durable(&self) -> Lsn {
        self.tail()
    }

    /// Asks for durability past the end of the record at `lsn`, and says whether it is reached; if not, `waker` is
    /// woken when it is. A session's connection waits so, not its worker.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if the log has failed: nobody may be answered.
    pub fn poll_durable(&self, _lsn: Lsn, _waker: &Waker) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Waits until the record at `lsn` is durable, for background work.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] as above.
    pub fn wait_durable(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }

    /// The published records from `from` on, in LSN order, from memory and disk, up to the tail at the call.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`] if `from` is not a record's place or has been recycled.
    pub fn scan(&self, from: Lsn) -> Result<LogScan> {
        let records = lock(&self.state).records.clone();
        let at = records.partition_point(|record| record.0 < from);
        Ok(LogScan { records, at })
    }

    /// The environment it waits in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }
}

impl Claim<'_> {
    /// The record's place: the timestamp of the commit it will be.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The end of the record.
    #[must_use]
    pub fn end(&self) -> Lsn {
        self.end
    }

    /// Fills the record with `payload`, exactly as long as was claimed, and lets the log run past it.
    pub fn publish(self, kind: RecordKind, payload: &[u8]) -> Lsn {
        assert_eq!(self.end.0 - self.lsn.0, payload.len() as u64 + FRAME_BYTES);
        let mut state = lock(&self.log.state);
        let at = state.records.partition_point(|record| record.0 < self.lsn);
        state.records.insert(at, (self.lsn, self.end, kind, payload.to_vec()));
        self.lsn
    }

    /// Gives the record up. Its place stays, and says nothing.
    pub fn void(self) {
        let payload = vec![0; (self.end.0 - self.lsn.0 - FRAME_BYTES) as usize];
        self.publish(RecordKind::VOID, &payload);
    }
}

/// Records in LSN order.
#[derive(Debug)]
pub struct LogScan {
    records: Vec<(Lsn, Lsn, RecordKind, Vec<u8>)>,
    at: usize,
}

impl LogScan {
    /// The next record, or none at the end of the log.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`] if a record before the durable end does not read back as it was written.
    pub fn advance(&mut self) -> Result<Option<LogRecord<'_>>> {
        let Some((lsn, end, kind, payload)) = self.records.get(self.at) else { return Ok(None) };
        self.at += 1;
        Ok(Some(LogRecord { lsn: *lsn, end: *end, kind: *kind, payload }))
    }
}
