//! Pass one of recovery: after it every tree is well formed, and the layer above can apply its records again.
//!
//! Paper: Mohan et al., *ARIES*, TODS 1992, §6 for the redo test; Lomet et al., *Unbundling Transaction Services in the
//! Cloud*, CIDR 2009, for the order (structure first, so that logical redo finds its pages). Redo only: a page never
//! holds an uncommitted change, so there is nothing to undo.
//!
//! First the log is read for each page's *last image or free*: whatever precedes it does not matter for that page, which
//! need not even be readable (its sectors may be torn, or hold another tree's page since). Then every structure record
//! is applied, page by page, from there on, where the page's structure LSN is older. Applying all of it twice changes
//! nothing, so a crash in the middle only means to begin again.
//!
//! The first reading is the one that looks for the log's end ([`Survey`]); the second reads only where structure records
//! stand. With the layer above's redo, and the one that makes durable what a killed process has left in the system's cache,
//! that makes three readings of a log that is mostly logical. What is kept in memory is a number for each page that has an
//! image and a pair for each stretch of log, not the log.

use crate::backup::PAGE_COPY;
use crate::buffer::DataFile;
use crate::control::{Checkpoint, Control};
use crate::device::Device;
use crate::page::{self, PageBuf};
use crate::planted::Planted;
use crate::wal::end::find_end;
use crate::wal::log::LogStart;
use crate::wal::{Log, LogRecord, RecordKind};
use crate::{Error, Lsn, PageId, Result};
use std::collections::HashMap;

/// What a structure record does to one of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It has the whole page: what stood there does not matter.
    Image,
    /// The page belongs to nobody any more.
    Free,
    /// It changes what stands there.
    Delta,
}

/// A structure record, as redo sees it.
#[derive(Clone, Copy, Debug)]
pub struct StructureRecord<'a> {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins: the page LSN of what it is applied to.
    pub end: Lsn,
    /// What it is; below [`RecordKind::FIRST_LOGICAL`].
    pub kind: RecordKind,
    /// What it says.
    pub payload: &'a [u8],
}

/// What the modules that write structure records know about reading them, without any page at hand.
pub trait StructureReader {
    /// Names every page that the record touches. Records come in LSN order, the first time each.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`] if the payload makes no sense.
    fn pages(
        &self,
        record: &StructureRecord<'_>,
        each: &mut dyn FnMut(PageId, Effect),
    ) -> Result<()>;
}

/// What they know about applying them again.
pub trait StructureRedo: StructureReader {
    /// Applies the record to one of its pages, if the page's structure LSN is older.
    ///
    /// # Errors
    /// I/O, and corruption of a page that no image replaces.
    fn redo(&self, record: &StructureRecord<'_>, page: PageId) -> Result<()>;

    /// Takes note of what the record says beside pages: extents and trees, born and gone. Called once a record, in LSN
    /// order, before its pages.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`] if the payload makes no sense.
    fn note(&self, record: &StructureRecord<'_>) -> Result<()>;
}

/// What pass one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassOne {
    /// Structure records between the redo point and the end of the log.
    pub records: u64,
    /// Applications to a page that were asked for.
    pub redone: u64,
    /// Applications left out because a later image or free makes them meaningless.
    pub skipped: u64,
}

/// Stretches of log with less than this between them are read as one, in bytes: no less is read at a time.
const GAP_BYTES: u64 = 128 << 10;

/// What the first reading of the log finds.
#[derive(Debug)]
pub(crate) struct Survey<R> {
    pub(crate) reader: R,
    findings: Findings,
}

/// Of use without the reader.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Each page's last image or free.
    last: HashMap<PageId, Lsn>,
    /// Where structure records stand: from the beginning of one to the end of another.
    stretches: Vec<(Lsn, Lsn)>,
    /// The newest copy of each page that a backup has had logged.
    copies: HashMap<PageId, Lsn>,
}

impl<R: StructureReader> Survey<R> {
    pub(crate) fn new(reader: R) -> Survey<R> {
        Survey { reader, findings: Findings::default() }
    }

    /// Takes note of the next record.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`].
    pub(crate) fn see(&mut self, record: &LogRecord<'_>) -> Result<()> {
        if record.kind == PAGE_COPY {
            self.findings.copies.insert(page::id_of(record.payload)?, record.lsn);
            return Ok(());
        }
        let Some(structure) = structure_record(record) else { return Ok(()) };
        let Findings { last, stretches, .. } = &mut self.findings;
        match stretches.last_mut() {
            Some((_, end)) if record.lsn.0 - end.0 < GAP_BYTES => *end = record.end,
            _ => stretches.push((record.lsn, record.end)),
        }
        self.reader.pages(&structure, &mut |page, effect| {
            if effect != Effect::Delta {
                last.insert(page, record.lsn);
            }
        })
    }

    /// The reader, which goes on into the redo, and the rest.
    pub(crate) fn end(self) -> (R, Findings) {
        (self.reader, self.findings)
    }
}

/// Puts the newest copy of a page that the log has in the place of each that does not check: a copy of the directory, made
/// while the server ran, has met them half written. See [`crate::backup`].
///
/// # Errors
/// I/O and corruption.
pub(crate) fn mend(log: &Log, findings: &Findings, file: &DataFile) -> Result<()> {
    let mut due: Vec<(Lsn, PageId)> = Vec::new();
    for (page, lsn) in &findings.copies {
        if file.is_torn(*page)? {
            due.push((*lsn, *page));
        }
    }
    due.sort_unstable();
    let Some((first, _)) = due.first() else { return Ok(()) };
    let mut scan = log.scan(*first)?;
    for (lsn, page) in due {
        scan.seek(lsn);
        let copy = scan.advance()?.filter(|copy| copy.kind == PAGE_COPY && copy.lsn == lsn);
        let copy = copy.ok_or(Error::Corrupt(page, "its copy in the log is gone"))?;
        file.write(&mut [PageBuf::from_bytes(copy.payload, file.page_bytes())?])?;
    }
    file.sync()
}

/// Runs pass one over what the survey has found.
///
/// # Errors
/// I/O and corruption.
pub(crate) fn pass_one(
    log: &Log,
    findings: &Findings,
    structure: &dyn StructureRedo,
) -> Result<PassOne> {
    let Findings { last, stretches, .. } = findings;
    let mut done = PassOne::default();
    let mut due: Vec<PageId> = Vec::new();
    each_structure_record(log, stretches, &mut |record| {
        done.records += 1;
        structure.note(record)?;
        due.clear();
        structure.pages(record, &mut |page, _| {
            if last.get(&page).is_some_and(|last| record.lsn < *last) {
                done.skipped += 1;
            } else if !due.contains(&page) {
                due.push(page);
            }
        })?;
        done.redone += due.len() as u64;
        due.iter().try_for_each(|page| structure.redo(record, *page))
    })?;
    Ok(done)
}

fn each_structure_record(
    log: &Log,
    stretches: &[(Lsn, Lsn)],
    each: &mut dyn FnMut(&StructureRecord<'_>) -> Result<()>,
) -> Result<()> {
    let Some((first, _)) = stretches.first() else { return Ok(()) };
    let mut scan = log.scan(*first)?;
    for (from, until) in stretches {
        scan.seek(*from);
        while scan.position() < *until
            && let Some(record) = scan.advance()?
        {
            structure_record(&record).map_or(Ok(()), |record| each(&record))?;
        }
    }
    Ok(())
}

fn structure_record<'a>(record: &LogRecord<'a>) -> Option<StructureRecord<'a>> {
    let LogRecord { lsn, end, kind, payload } = *record;
    (kind < RecordKind::FIRST_LOGICAL).then_some(StructureRecord { lsn, end, kind, payload })
}

/// What an offline check found in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSummary {
    /// Where a restart would begin.
    pub redo: Lsn,
    /// The end of the last whole record.
    pub end: Lsn,
    /// Records between the two.
    pub records: u64,
}

/// Checks control file and log offline: every record from the redo point on is read, and the log must reach as far as
/// the last checkpoint knew it to be durable. Nothing is written.
///
/// # Errors
/// [`crate::Error::CorruptLog`] naming the place, [`crate::Error::Refused`] for another format; I/O.
pub fn verify_log(device: &dyn Device) -> Result<LogSummary> {
    let control = Control::open(device)?;
    control.verify()?;
    let Checkpoint { redo, floor, epoch, timeline, .. } = control.latest();
    let start = LogStart { redo, floor, epoch: epoch + 1, timeline };
    let bytes = control.identity().log_segment_bytes;
    let found = find_end(device, bytes, start, Planted::default(), &mut |_| Ok(()))?;
    Ok(LogSummary { redo, end: found.end, records: found.records })
}
