//! Restoring: a copy of a directory and an archive of its log become what a crash at some moment would have left; recovery
//! then does as always.
//!
//! After PostgreSQL 15's archive recovery (manual, section 26.3), with one difference: PostgreSQL replays a segment, looks
//! for the target, and goes on to the next. Recovery here reads the log more than once, so the log comes first: segments are
//! fetched one by one and read up to the target, and there the log is *cut*. Nothing behind the target is ever applied, and
//! recovery knows nothing of targets.
//!
//! 1. Segments are fetched from the archive, from the redo point on; what the archive does not have may lie in the directory
//!    itself. Each is read one behind the last one fetched, whose header says where the epoch before ended.
//! 2. The log ends at the target, or where there is no more of it. It has to come to the end of the backup ([`BACKUP_END`]):
//!    before that the copied pages are of different moments. Without a label the directory was not in use when it was
//!    copied, or is what a crash has left, and what has to be reached is the end of its own log.
//! 3. The decision is written down, durably (`log/restored`). Until then nothing of the directory has changed but its log,
//!    and a restart begins again; from then on a restart goes on from here.
//! 4. The log is cut, the control file gets the backup's redo point, and label and signal go.
//!
//! **Timelines.** What follows is another history than the one that the archive has, under the same LSNs. So it gets the next
//! number that no history in the archive has, which begins the names of its segments there; and a history file says of
//! which timeline it is a branch, and from where. The segment that holds the branch is archived under both. Following a
//! timeline (`recovery_target_timeline`), a segment is taken from the newest timeline that has it, of those that had begun
//! by its end and not ended by its beginning, and cut where its timeline ended.
//!
//! ```text
//! 00000002.history   one line for each timeline before: number, tab, LSN of its end, tab, why
//! log/restored       a slot of the control file (control.rs): the redo point, the log's end, its epoch, the new timeline
//! ```

use crate::backup::BACKUP_END;
use crate::control::{self, Checkpoint, Control};
use crate::device::{Device, File, SECTOR_BYTES};
use crate::planted::Planted;
use crate::sync::Arc;
use crate::wal::end::find_end;
use crate::wal::log::LogStart;
use crate::wal::scan::Until;
use crate::wal::segment::{self, Epoch, Files};
use crate::wal::{LogRecord, LogScan, archive};
use crate::{Error, Lsn, Result};

/// What a backup leaves in a copy, and where it goes once that has been restored.
pub const LABEL: &str = "backup_label";
const OLD_LABEL: &str = "backup_label.old";
/// Asks for a restore from the archive.
pub const SIGNAL: &str = "recovery.signal";
/// The decision.
const RESTORED: &str = "log/restored";
/// Where a file of the archive is put before it has its name.
const FETCHED: &str = "log/fetched";

/// Where files of the archive come from (`restore_command`).
pub trait RestoreFrom {
    /// Copies the archive's file `name` to `to` on the device; false if it has none.
    ///
    /// # Errors
    /// What ends the restore.
    fn fetch(&self, name: &str, to: &str) -> Result<bool>;
}

/// Whether the log ends at a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It goes on.
    No,
    /// The record is the first that is not there.
    Before,
    /// The record is the last that is there.
    After,
}

/// Which timeline is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetTimeline {
    /// The one that the backup was taken in.
    Current,
    /// The newest in the archive.
    Latest,
    /// This one.
    Number(u32),
}

/// What is to be restored.
pub struct Plan<'p> {
    /// The archive; none if all of the log lies in the directory.
    pub from: Option<&'p dyn RestoreFrom>,
    /// Which timeline is followed.
    pub timeline: TargetTimeline,
    /// It is an error if the log ends before the target.
    pub must_stop: bool,
    /// Whether the target is reached at a record; told whether all pages are of one moment behind it.
    pub stop: &'p mut dyn FnMut(&LogRecord<'_>, bool) -> Result<Stop>,
}

/// A backup's label: what PostgreSQL's says, in the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where redo begins.
    pub start: Lsn,
    /// The place of the backup's record.
    pub begin: Lsn,
    /// The timeline that it was taken in.
    pub timeline: u32,
}

fn refused<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Refused(message.into()))
}

/// An LSN as PostgreSQL writes it.
fn shown(lsn: Lsn) -> String {
    format!("{:X}/{:X}", lsn.0 >> 32, lsn.0 & 0xFFFF_FFFF)
}

fn parse_lsn(text: &str) -> Option<Lsn> {
    let (high, low) = text.split_once('/')?;
    let half = |digits: &str| u32::from_str_radix(digits, 16).ok().map(u64::from);
    Some(Lsn(half(high)? << 32 | half(low)?))
}

impl Label {
    /// The text of the label of a backup that was called `name` and began at a `time`; `file` is the segment of its start.
    #[must_use]
    pub fn text(&self, file: &str, time: &str, name: &str) -> String {
        let (start, begin, timeline) = (shown(self.start), shown(self.begin), self.timeline);
        format!(
            "START WAL LOCATION: {start} (file {file})\nCHECKPOINT LOCATION: {begin}\n\
             BACKUP METHOD: streamed\nBACKUP FROM: primary\nSTART TIME: {time}\nLABEL: {name}\n\
             START TIMELINE: {timeline}\n"
        )
    }

    fn parse(text: &str) -> Option<Label> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let start = value("START WAL LOCATION: ")?.split(' ').next()?;
        let timeline = value("START TIMELINE: ")?.trim_end().parse().ok()?;
        let begin = parse_lsn(value("CHECKPOINT LOCATION: ")?.trim_end())?;
        Some(Label { start: parse_lsn(start)?, begin, timeline })
    }
}

fn has(device: &dyn Device, name: &str) -> Result<bool> {
    Ok(device.list(name)?.iter().any(|other| other == name))
}

fn read(device: &dyn Device, name: &str) -> Result<String> {
    let file = device.open(name, false)?;
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
    file.read_at(0, &mut bytes)?;
    String::from_utf8(bytes).or_else(|_| refused(format!("invalid data in file \"{name}\"")))
}

/// Writes a file anew, durably but for its name.
fn write(device: &dyn Device, name: &str, bytes: &[u8]) -> Result<()> {
    let file = device.open(name, true)?;
    file.set_len(bytes.len() as u64)?;
    file.write_at(0, bytes)?;
    file.sync()
}

/// Makes nothing of what a segment holds from `at` on.
fn cut(file: &Arc<dyn File>, bytes: u64, at: Lsn) -> Result<()> {
    let zeros = vec![0; (64 << 10).min(bytes as usize)];
    let mut from = at.0 % bytes;
    while from < bytes {
        let step = zeros.len().min((bytes - from) as usize);
        file.write_at(segment::HEADER_BYTES + from, &zeros[..step])?;
        from += step as u64;
    }
    file.sync()
}

/// A timeline that is followed, and where it ended; the last has no end.
type Stage = (u32, Option<Lsn>);

fn history_name(timeline: u32) -> String {
    format!("{timeline:08X}.history")
}

fn parse_history(text: &str, timeline: u32) -> Option<Vec<Stage>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let stages = lines.filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?.parse().ok()?, Some(parse_lsn(fields.next()?)?)))
    });
    let mut stages: Vec<Stage> = stages.collect::<Option<_>>()?;
    stages.push((timeline, None));
    Some(stages)
}

/// A restore whose target has been found; nothing but the log has changed.
pub struct Restore<'d> {
    device: &'d dyn Device,
    stages: Vec<Stage>,
    restored: Checkpoint,
    reached: bool,
}

impl std::fmt::Debug for Restore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restore").field("restored", &self.restored).finish_non_exhaustive()
    }
}

/// Whether the directory is to be restored before it is opened.
///
/// # Errors
/// I/O.
pub fn is_due(device: &dyn Device) -> Result<bool> {
    Ok(has(device, LABEL)? || has(device, SIGNAL)? || has(device, RESTORED)?)
}

/// Whether the archive has been asked for.
///
/// # Errors
/// I/O.
pub fn is_asked_for(device: &dyn Device) -> Result<bool> {
    has(device, SIGNAL)
}

/// Ends a restore that was decided before a crash, if there is one.
///
/// # Errors
/// I/O.
pub fn resume(device: &dyn Device) -> Result<bool> {
    if !has(device, RESTORED)? {
        return Ok(false);
    }
    let file = device.open(RESTORED, false)?;
    let mut slot = [0; SECTOR_BYTES];
    if file.len()? >= SECTOR_BYTES as u64 {
        file.read_at(0, &mut slot)?;
    }
    let Some((_, restored)) = control::parse_slot(&slot) else {
        // It was being written: nothing has been decided.
        device.remove(RESTORED)?;
        return Ok(false);
    };
    complete(device, restored)?;
    Ok(true)
}

/// What is left to do once it is decided; all of it may be done again.
fn complete(device: &dyn Device, restored: Checkpoint) -> Result<()> {
    let control = Control::open(device)?;
    let bytes = control.identity().log_segment_bytes;
    let end = restored.floor;
    for name in device.list("log/")? {
        let Some(number) = segment::number(&name) else { continue };
        if number * bytes >= end.0 {
            device.remove(&name)?;
        } else if number == end.0 / bytes {
            cut(&device.open(&name, false)?, bytes, end)?;
        }
    }
    // What was copied stands in the system's cache, perhaps.
    device.open(crate::buffer::file::DATA_FILE, false)?.sync()?;
    for (_, file) in segment::survey(device, bytes)?.into_values() {
        file.sync()?;
    }
    archive::write(device, end.0 / bytes)?;
    // The copies in it are of another moment than the pages: it would mend them with what is older than the redo point.
    if has(device, LABEL)? && has(device, crate::device::doublewrite::NAME)? {
        device.remove(crate::device::doublewrite::NAME)?;
    }
    control.write_restored(restored)?;
    device.sync_names()?;
    if has(device, LABEL)? {
        device.rename(LABEL, OLD_LABEL)?;
    }
    for name in [SIGNAL, FETCHED] {
        if has(device, name)? {
            device.remove(name)?;
        }
    }
    device.sync_names()?;
    device.remove(RESTORED)?;
    device.sync_names()
}

impl<'d> Restore<'d> {
    /// Fetches the log up to the target.
    ///
    /// # Errors
    /// [`Error::Refused`] where PostgreSQL refuses to go on; I/O and corruption.
    pub fn find(device: &'d dyn Device, plan: &mut Plan<'_>) -> Result<Restore<'d>> {
        let control = Control::open(device)?;
        let latest = control.latest();
        let bytes = control.identity().log_segment_bytes;
        let label = match has(device, LABEL)? {
            true => match Label::parse(&read(device, LABEL)?) {
                Some(label) => Some(label),
                None => return refused(format!("invalid data in file \"{LABEL}\"")),
            },
            false => None,
        };
        let (redo, timeline) = match &label {
            Some(label) => (label.start, label.timeline),
            None => (latest.redo, latest.timeline),
        };
        // Without a backup the pages are of the end of the log that they lie beside, at the latest.
        let consistent = match label {
            Some(_) => None,
            None => {
                let Checkpoint { redo, floor, epoch, timeline, .. } = latest;
                let start = LogStart { redo, floor, epoch: epoch + 1, timeline };
                Some(find_end(device, bytes, start, Planted::default(), &mut |_| Ok(()))?.end)
            }
        };
        let begin = label.as_ref().map(|label| label.begin);
        let archive = Archived { device, from: plan.from };
        let stages = archive.follow(plan.timeline, timeline, redo)?;
        let mut search = Search {
            device,
            archive: &archive,
            bytes,
            stages: &stages,
            own: timeline,
            redo,
            begin,
            at: redo,
            consistent,
            epoch: latest.epoch,
        };
        let reached = search.run(plan)?;
        let Search { at, consistent, epoch, .. } = search;
        match consistent {
            Some(consistent) if consistent <= at => {}
            _ if reached => {
                return refused(
                    "requested recovery stop point is before consistent recovery point",
                );
            }
            Some(_) => return refused("WAL ends before consistent recovery point"),
            None => {
                return refused(
                    "WAL ends before end of online backup\nHINT:  All WAL generated while online \
                     backup was taken must be available at recovery.",
                );
            }
        }
        if plan.must_stop && !reached {
            return refused("recovery ended before configured recovery target was reached");
        }
        let newest = stages.last().map_or(timeline, |(timeline, _)| *timeline);
        let timeline = archive.newest(newest)? + 1;
        let restored = Checkpoint { redo, floor: at, epoch, timeline, closed: false };
        Ok(Restore { device, stages, restored, reached })
    }

    /// Whether the log ends at the target, and not because there is no more of it.
    #[must_use]
    pub fn reached(&self) -> bool {
        self.reached
    }

    /// Where the log ends.
    #[must_use]
    pub fn end(&self) -> Lsn {
        self.restored.floor
    }

    /// The timeline that follows.
    #[must_use]
    pub fn timeline(&self) -> u32 {
        self.restored.timeline
    }

    /// Makes the directory what a crash at the target would have left. `why` is what the history says of it.
    ///
    /// # Errors
    /// I/O.
    pub fn finish(self, why: &str) -> Result<()> {
        let Restore { device, mut stages, restored, .. } = self;
        // Timelines that had not begun by then are none of its past.
        let later = |stage: &Stage| stage.1.is_some_and(|end| end >= restored.floor);
        if let Some(at) = stages.iter().position(later) {
            stages.truncate(at + 1);
        }
        let count = stages.len();
        let lines = stages.iter().enumerate().map(|(at, (timeline, end))| {
            let end = if at + 1 == count { restored.floor } else { end.unwrap_or(restored.floor) };
            format!("{timeline}\t{}\t{why}\n", shown(end))
        });
        let history: String = lines.collect();
        write(device, &archive::history_path(restored.timeline), history.as_bytes())?;
        write(device, RESTORED, &control::slot(0, &restored))?;
        device.sync_names()?;
        complete(device, restored)
    }
}

/// The archive, beside the directory that it is fetched into.
struct Archived<'d, 'p> {
    device: &'d dyn Device,
    from: Option<&'p dyn RestoreFrom>,
}

impl Archived<'_, '_> {
    fn fetch(&self, name: &str) -> Result<bool> {
        let Some(from) = self.from else { return Ok(false) };
        if has(self.device, FETCHED)? {
            self.device.remove(FETCHED)?;
        }
        from.fetch(name, FETCHED)
    }

    /// The newest timeline that has a history, from `timeline` on.
    fn newest(&self, timeline: u32) -> Result<u32> {
        let mut newest = timeline;
        while self.fetch(&history_name(newest + 1))? {
            newest += 1;
        }
        Ok(newest)
    }

    /// The timelines on the way to the one that is asked for, from a backup of timeline `own`, which begins at `redo`.
    fn follow(&self, target: TargetTimeline, own: u32, redo: Lsn) -> Result<Vec<Stage>> {
        let target = match target {
            TargetTimeline::Current => own,
            TargetTimeline::Latest => self.newest(own)?,
            TargetTimeline::Number(number) => number,
        };
        let stages = match self.fetch(&history_name(target))? {
            true => parse_history(&read(self.device, FETCHED)?, target),
            false if target == own => Some(vec![(own, None)]),
            false => return refused(format!("recovery target timeline {target} does not exist")),
        };
        let Some(stages) = stages else {
            return refused(format!("invalid data in history file \"{}\"", history_name(target)));
        };
        let of_own = |(number, end): &Stage| *number == own && end.is_none_or(|end| end >= redo);
        if !stages.iter().any(of_own) {
            return refused(format!(
                "requested timeline {target} is not a child of this server's history"
            ));
        }
        Ok(stages)
    }
}

/// The way through the log.
struct Search<'s> {
    device: &'s dyn Device,
    archive: &'s Archived<'s, 's>,
    bytes: u64,
    stages: &'s [Stage],
    /// The timeline of the directory's own log.
    own: u32,
    redo: Lsn,
    /// The place of the backup's record.
    begin: Option<Lsn>,
    /// All before has been read.
    at: Lsn,
    /// Where all pages are of one moment, once that is known.
    consistent: Option<Lsn>,
    /// The last that has been met, or that the directory was in.
    epoch: u32,
}

impl Search<'_> {
    /// Goes on to the target, or to the end of the log; whether it was the former.
    fn run(&mut self, plan: &mut Plan<'_>) -> Result<bool> {
        let mut number = self.redo.0 / self.bytes;
        if !self.bring(number)? {
            // A log that ended with its segment had no other yet.
            if self.consistent == Some(self.redo) {
                return Ok(false);
            }
            let name = segment::name(number);
            return Err(Error::CorruptLog(format!("log segment \"{name}\" is missing")));
        }
        loop {
            let more = self.bring(number + 1)?;
            if self.read(number, more, plan)? {
                return Ok(true);
            }
            if !more {
                return Ok(false);
            }
            number += 1;
        }
    }

    /// Has a segment in its place, out of the archive or as it lies there.
    fn bring(&self, number: u64) -> Result<bool> {
        let (first, behind) = (Lsn(number * self.bytes), Lsn((number + 1) * self.bytes));
        for (at, (timeline, end)) in self.stages.iter().enumerate().rev() {
            let begin = at.checked_sub(1).and_then(|before| self.stages[before].1);
            if end.is_some_and(|end| end <= first) || begin.is_some_and(|begin| begin >= behind) {
                continue;
            }
            let name = segment::archived_name(*timeline, number);
            let ends = end.filter(|end| *end < behind);
            if self.archive.fetch(&name)? {
                let file = self.device.open(FETCHED, false)?;
                if !segment::is(&file, number, self.bytes)? {
                    return refused(format!("archive file \"{name}\" is not what it should be"));
                }
                ends.map_or_else(|| file.sync(), |ends| cut(&file, self.bytes, ends))?;
                self.device.rename(FETCHED, &segment::name(number))?;
                return Ok(true);
            }
            if *timeline == self.own && has(self.device, &segment::name(number))? {
                let file = self.device.open(&segment::name(number), false)?;
                if segment::is(&file, number, self.bytes)? {
                    ends.map_or(Ok(()), |ends| cut(&file, self.bytes, ends))?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Reads what there is up to the end of segment `number`; with `more`, the next one is there. Whether it is the target.
    fn read(&mut self, number: u64, more: bool, plan: &mut Plan<'_>) -> Result<bool> {
        let mut there = segment::survey(self.device, self.bytes)?;
        there.retain(|at, _| *at <= number + u64::from(more) && *at >= self.redo.0 / self.bytes);
        let mut epochs: Vec<Epoch> = Vec::new();
        for (at, (epoch, _)) in &there {
            let begins = epoch.start.0 == at * self.bytes;
            if epochs.last().is_none_or(|last| begins && epoch.number > last.number) {
                epochs.push(*epoch);
            }
        }
        let files: Files = there.into_iter().map(|(at, (_, file))| (at, file)).collect();
        self.epoch = epochs.iter().map(|epoch| epoch.number).max().unwrap_or(0).max(self.epoch);
        let files = files.into_iter().filter(|(at, _)| *at <= number).collect();
        let planted = Planted::default();
        let mut scan = LogScan::new(files, self.bytes, epochs, self.at, Until::FirstGap, planted);
        while let Some(record) = scan.advance()? {
            let ends = |begin: Lsn| record.payload == begin.0.to_le_bytes();
            if record.kind == BACKUP_END && self.begin.is_some_and(ends) {
                self.consistent = Some(record.end);
            }
            let consistent = self.consistent.is_some_and(|at| at <= record.end);
            let stop = (plan.stop)(&record, consistent)?;
            if stop != Stop::No {
                self.at = if stop == Stop::Before { record.lsn } else { record.end };
                return Ok(true);
            }
        }
        self.at = scan.position();
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_reads_back() {
        let label = Label { start: Lsn(0x1_0200_0028), begin: Lsn(0x1_0200_0100), timeline: 3 };
        let text = label.text("000000030000000000000102", "2026-11-26 23:00:00 UTC", "nightly");
        assert_eq!(Label::parse(&text), Some(label));
        assert!(text.contains("LABEL: nightly\n"));
        assert_eq!(Label::parse("START WAL LOCATION: 0/x\n"), None);
        assert_eq!(Label::parse(""), None);
    }

    #[test]
    fn a_history_reads_back() {
        let text = "1\t0/2000028\tno recovery target specified\n\n2\t1/0\tbefore 2026\n";
        let stages = parse_history(text, 3).unwrap();
        assert_eq!(stages, [(1, Some(Lsn(0x200_0028))), (2, Some(Lsn(1 << 32))), (3, None)]);
        assert_eq!(parse_history("1 0/0", 2), None);
    }
}
