//! Segments: the files of the log, prepared before they are needed and recycled after checkpoints.
//!
//! Segment `n` holds the bytes of LSNs `n * size .. (n + 1) * size`, behind a header block. The log flows into a
//! segment only after its header is durable under its name; so a segment that is missing, or whose header is another
//! segment's, ends the log, and a record cannot stand behind a gap.
//!
//! **Epochs.** Every start of the instance begins a new epoch in a new segment, whose header says where the log of the
//! epoch before was found to end. What lay behind that end (a *lost tail*: sectors of it may have reached the disk, and
//! may be readable one day and not the next) is never read again: the scan leaves the old epoch at the recorded end,
//! and records carry their epoch under their checksum.
//!
//! ```text
//! 0  "ATOLLOG1"   8  u64 first LSN   16  u64 segment size   24  u64 first LSN of the epoch
//! 32  u64 end of the epoch before   40  u32 epoch   44  u32 crc32c of bytes 0..44;  records from 4096 on
//! ```

use crate::device::{Device, File, SECTOR_BYTES};
use crate::sector::{Fields, Sector};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Lsn, Result};
use std::collections::BTreeMap;

/// Where a segment's records begin in its file: past one block of any disk or file system.
pub(crate) const HEADER_BYTES: u64 = 4096;
const MAGIC: &[u8; 8] = b"ATOLLOG1";
/// Bytes of a header's fields.
const FIELD_BYTES: usize = 36;

/// Segment files by number.
pub(crate) type Files = BTreeMap<u64, Arc<dyn File>>;

/// A start of the instance, as the log remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// Its number; higher than every one before.
    pub(crate) number: u32,
    /// Its first LSN: the beginning of a segment.
    pub(crate) start: Lsn,
    /// Where the log of the epoch before ended.
    pub(crate) previous_end: Lsn,
}

/// The log's files.
pub(crate) struct Segments {
    device: Arc<dyn Device>,
    bytes: u64,
    epoch: Epoch,
    state: Mutex<State, { rank::SEGMENTS }>,
}

#[derive(Default)]
struct State {
    /// Every segment with a durable header from the oldest kept to the last prepared, by number.
    files: Files,
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<_> = lock(&self.state).files.keys().copied().collect();
        f.debug_struct("Segments").field("bytes", &self.bytes).field("numbers", &numbers).finish()
    }
}

/// The file name of segment `number`, below the log's folder.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number:016X}")
}

/// Segment `number` as an archive has it: there the segments of several timelines may lie side by side.
pub(crate) fn archived_name(timeline: u32, number: u64) -> String {
    format!("{timeline:08X}{}", file_name(number))
}

/// The path of segment `number`.
pub(crate) fn name(number: u64) -> String {
    format!("log/{}", file_name(number))
}

/// The number of the segment that lies at a path, if it is one's.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("log/").filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

fn header(number: u64, bytes: u64, epoch: &Epoch) -> [u8; SECTOR_BYTES] {
    Sector::new(MAGIC)
        .word(number * bytes)
        .word(bytes)
        .word(epoch.start.0)
        .word(epoch.previous_end.0)
        .half(epoch.number)
        .seal()
}

/// The epoch that a segment's header names, if the header is whole and this segment's.
fn parse(header: &[u8; SECTOR_BYTES], number: u64, bytes: u64) -> Option<Epoch> {
    let mut fields = Fields::open(header, MAGIC, FIELD_BYTES)?;
    let ours = fields.word() == number * bytes && fields.word() == bytes;
    let (start, previous_end) = (Lsn(fields.word()), Lsn(fields.word()));
    ours.then(|| Epoch { number: fields.half(), start, previous_end })
}

/// Whether a file is segment `number`, whole.
pub(crate) fn is(file: &Arc<dyn File>, number: u64, bytes: u64) -> Result<bool> {
    if file.len()? != HEADER_BYTES + bytes {
        return Ok(false);
    }
    let mut sector = [0; SECTOR_BYTES];
    file.read_at(0, &mut sector)?;
    Ok(parse(&sector, number, bytes).is_some())
}

/// Every readable segment of a directory, and the epoch it was written in.
pub(crate) type Survey = BTreeMap<u64, (Epoch, Arc<dyn File>)>;

/// What the directory holds of a log.
pub(crate) fn survey(device: &dyn Device, bytes: u64) -> Result<Survey> {
    let mut found = BTreeMap::new();
    for file_name in device.list("log/")? {
        let Some(number) = number(&file_name) else { continue };
        let file = device.open(&file_name, false)?;
        if file.len()? < HEADER_BYTES + bytes {
            continue;
        }
        let mut sector = [0; SECTOR_BYTES];
        file.read_at(0, &mut sector)?;
        if let Some(epoch) = parse(&sector, number, bytes) {
            found.insert(number, (epoch, file));
        }
    }
    Ok(found)
}

/// Writes the log between two LSNs again as it reads, durably.
///
/// What a killed process left in the system's cache is taken for the log from its restart on, so it has to be durable
/// before any page or record that depends on it is written. To sync it is not enough: after a sync that failed the system
/// takes what it could not write for clean, and goes on showing it.
///
/// # Errors
/// I/O; [`crate::Error::Halted`] if a sync failed.
pub(crate) fn write_again(files: &Files, bytes: u64, from: Lsn, until: Lsn) -> Result<()> {
    let mut piece = vec![0; (64 << 10).min(bytes as usize)];
    for (number, file) in files.range(from.0 / bytes..) {
        let first = from.0.max(number * bytes) % SECTOR_BYTES as u64;
        let mut at = from.0.max(number * bytes) - first;
        let end = until.0.min((number + 1) * bytes);
        while at < end {
            let step = piece.len().min(((number + 1) * bytes - at) as usize);
            let offset = HEADER_BYTES + at % bytes;
            file.read_at(offset, &mut piece[..step])?;
            file.write_at(offset, &piece[..step])?;
            at += step as u64;
        }
        file.sync()?;
    }
    Ok(())
}

impl Segments {
    /// The log's files from here on: `kept` are those of earlier epochs that recovery may still need.
    pub(crate) fn new(device: Arc<dyn Device>, bytes: u64, epoch: Epoch, kept: Files) -> Segments {
        Segments { device, bytes, epoch, state: Mutex::new(State { files: kept }) }
    }

    /// The bytes of LSNs in a segment.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The running epoch.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number of the oldest segment kept and of the next to be prepared.
    pub(crate) fn range(&self) -> (u64, u64) {
        let state = lock(&self.state);
        let first = self.epoch.start.0 / self.bytes;
        let next = state.files.last_key_value().map_or(first, |(last, _)| (last + 1).max(first));
        (state.files.first_key_value().map_or(next, |(oldest, _)| *oldest), next)
    }

    /// The oldest segment that is kept, from `number` on.
    pub(crate) fn oldest_from(&self, number: u64) -> Option<u64> {
        lock(&self.state).files.range(number..).next().map(|(number, _)| *number)
    }

    /// The file that holds `lsn`, which has been prepared.
    pub(crate) fn file(&self, lsn: u64) -> Option<Arc<dyn File>> {
        lock(&self.state).files.get(&(lsn / self.bytes)).cloned()
    }

    /// Where in its file `lsn` is.
    pub(crate) fn offset(&self, lsn: u64) -> u64 {
        HEADER_BYTES + lsn % self.bytes
    }

    /// All files, to be read.
    pub(crate) fn files(&self) -> Files {
        lock(&self.state).files.clone()
    }

    /// Prepares the next segment: durable under its name, with room for all its bytes. One caller at a time.
    pub(crate) fn prepare(&self) -> Result<()> {
        let (_, next) = self.range();
        let file = self.device.open(&name(next), true)?;
        let length = HEADER_BYTES + self.bytes;
        // A file that is there already is what an earlier epoch prepared, as far as it came: its sync may have failed.
        file.set_len(length)?;
        // Written once, its blocks are the file's for good: a flush then changes no metadata, and its sync is one write
        // instead of two.
        let zeros = vec![0; (64 << 10).min(self.bytes as usize)];
        for offset in (HEADER_BYTES..length).step_by(zeros.len()) {
            let step = zeros.len().min((length - offset) as usize);
            file.write_at(offset, &zeros[..step])?;
        }
        self.take_in(next, file)
    }

    /// Gives a file the header of segment `number`, durably, and lets the log flow into it.
    fn take_in(&self, number: u64, file: Arc<dyn File>) -> Result<()> {
        file.write_at(0, &header(number, self.bytes, &self.epoch))?;
        file.sync()?;
        self.device.sync_names()?;
        lock(&self.state).files.insert(number, file);
        Ok(())
    }

    /// Lets go of every segment before the one that holds `redo`: the next ones to come are made of as many as leave
    /// `ahead` prepared from the segment of `tail` on, the others are removed. Returns how many were prepared. One
    /// caller at a time, and not beside [`Segments::prepare`].
    pub(crate) fn recycle(&self, redo: Lsn, tail: Lsn, ahead: u64) -> Result<u64> {
        let mut prepared = 0;
        loop {
            let (oldest, next) = self.range();
            if oldest >= redo.0 / self.bytes {
                break;
            }
            // Not findable first, changed afterwards.
            let Some(file) = lock(&self.state).files.remove(&oldest) else { break };
            // Only files of this size can be used again; an epoch always begins with a file of its own.
            if next < tail.0 / self.bytes + ahead && file.len()? == HEADER_BYTES + self.bytes {
                self.device.rename(&name(oldest), &name(next))?;
                self.take_in(next, file)?;
                prepared += 1;
            } else {
                self.device.remove(&name(oldest))?;
                // One by one: what a file system frees at once keeps waiting whoever syncs meanwhile.
                self.device.sync_names()?;
            }
        }
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::{Epoch, Segments, name, survey};
    use crate::Lsn;
    use crate::device::Device;
    use crate::device::faulty::FaultyDevice;
    use crate::sync::Arc;
    use std::collections::BTreeMap;

    const BYTES: u64 = 8192;
    const EPOCH: Epoch = Epoch { number: 1, start: Lsn(BYTES), previous_end: Lsn(BYTES) };

    fn segments(device: &Arc<FaultyDevice>) -> Segments {
        let device: Arc<dyn Device> = Arc::clone(device) as Arc<dyn Device>;
        Segments::new(device, BYTES, EPOCH, BTreeMap::new())
    }

    #[test]
    fn what_is_recycled_is_found_under_its_new_name_only() {
        let device = Arc::new(FaultyDevice::new(1));
        let segments = segments(&device);
        for _ in 0..4 {
            segments.prepare().unwrap();
        }
        assert_eq!(segments.range(), (1, 5));
        let prepared = segments.recycle(Lsn(3 * BYTES + 10), Lsn(4 * BYTES), 2).unwrap();
        assert_eq!((prepared, segments.range()), (1, (3, 6)));
        let found: Vec<_> = survey(&*device, BYTES).unwrap().into_keys().collect();
        assert_eq!(found, [3, 4, 5]);
        assert_eq!(device.list("log/").unwrap(), [name(3), name(4), name(5)]);
    }

    #[test]
    fn what_a_failed_sync_has_left_of_a_segment_is_prepared_anew() {
        for seed in 0..50 {
            let device = Arc::new(FaultyDevice::new(seed));
            let schedule = crate::device::faulty::FaultSchedule {
                sync_error_at: Some(1),
                ..Default::default()
            };
            device.set_schedule(schedule);
            assert!(segments(&device).prepare().is_err());
            let device = Arc::new(device.survive_process());
            segments(&device).prepare().unwrap();
            let found: Vec<_> = survey(&device.crash(seed), BYTES).unwrap().into_keys().collect();
            assert_eq!(found, [1], "seed {seed}");
        }
    }

    #[test]
    fn after_a_crash_a_segment_is_whole_or_not_there() {
        for seed in 0..300 {
            let device = Arc::new(FaultyDevice::new(seed));
            let segments = segments(&device);
            for _ in 0..3 {
                segments.prepare().unwrap();
            }
            let schedule = crate::device::faulty::FaultSchedule {
                power_loss_at: Some(device.operations() + 1 + seed % 8),
                ..Default::default()
            };
            device.set_schedule(schedule);
            let recycled = segments.recycle(Lsn(3 * BYTES), Lsn(3 * BYTES), 4);
            let after = device.crash(seed);
            let found = survey(&after, BYTES).unwrap();
            assert!(found.contains_key(&3), "what is still needed is untouched");
            assert!(found.values().all(|(epoch, _)| *epoch == EPOCH));
            if recycled.is_ok() {
                assert_eq!(found.into_keys().collect::<Vec<_>>(), [3, 4, 5]);
            }
        }
    }
}
