//! The control file: what has to be known before anything else can be read.
//!
//! The first block says what the directory is and never changes. Two further blocks are *slots* that are written in
//! turn, each smaller than a sector and under a checksum: after a crash in the middle of a write the other one holds.
//! The slot with the higher sequence number counts.
//!
//! ```text
//! 0     "ATOLLCTL"  8 u32 format version  12 u32 page size  16 u64 log segment size  24 u64 system identifier
//!       32 u32 crc32c of bytes 0..32
//! 4096  slot 0, 8192 slot 1:
//!       0 "ATOLLCKP"  8 u64 sequence  16 u64 redo point  24 u64 log durable up to  32 u32 timeline
//!       36 u32 1 if the directory was closed with it  40 u32 epoch  44 u32 crc32c of bytes 0..44
//! ```

use crate::device::{Device, File, SECTOR_BYTES};
use crate::sector::{Fields, Sector};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Lsn, Result};

/// The control file's name.
pub(crate) const NAME: &str = "control";
/// The version of everything on disk. A directory of another one is refused.
pub const FORMAT_VERSION: u32 = 13;

const MAGIC: &[u8; 8] = b"ATOLLCTL";
const SLOT_MAGIC: &[u8; 8] = b"ATOLLCKP";
/// Bytes of the fields of the first block, and of a slot.
const FIELD_BYTES: usize = 24;
const SLOT_FIELD_BYTES: usize = 36;
const SLOT_OFFSETS: [u64; 2] = [4096, 8192];
const FILE_BYTES: u64 = 12288;

/// What a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The size of a page, in bytes.
    pub page_bytes: u32,
    /// The size of a log segment, in bytes.
    pub log_segment_bytes: u64,
    /// A number of its own: PostgreSQL's system identifier.
    pub system: u64,
}

/// What changes: the last checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Recovery begins here.
    pub redo: Lsn,
    /// The log was durable up to here when this was written.
    pub floor: Lsn,
    /// The epoch the instance runs in.
    pub epoch: u32,
    /// How often its past has been gone back to, and one: of the segments of its log in an archive.
    pub timeline: u32,
    /// Whether it was the last thing done by an instance that left nothing half done.
    pub closed: bool,
}

/// The open control file.
pub(crate) struct Control {
    file: Arc<dyn File>,
    identity: Identity,
    state: Mutex<State, { rank::CONTROL }>,
}

#[derive(Debug)]
struct State {
    sequence: u64,
    latest: Checkpoint,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("identity", &self.identity)
            .field("state", &lock(&self.state))
            .finish()
    }
}

pub(crate) fn slot(sequence: u64, checkpoint: &Checkpoint) -> [u8; SECTOR_BYTES] {
    let Checkpoint { redo, floor, epoch, timeline, closed } = *checkpoint;
    Sector::new(SLOT_MAGIC)
        .word(sequence)
        .word(redo.0)
        .word(floor.0)
        .half(timeline)
        .half(u32::from(closed))
        .half(epoch)
        .seal()
}

pub(crate) fn parse_slot(block: &[u8]) -> Option<(u64, Checkpoint)> {
    let mut fields = Fields::open(block, SLOT_MAGIC, SLOT_FIELD_BYTES)?;
    let sequence = fields.word();
    let (redo, floor) = (Lsn(fields.word()), Lsn(fields.word()));
    let (timeline, closed, epoch) = (fields.half(), fields.half() == 1, fields.half());
    Some((sequence, Checkpoint { redo, floor, epoch, timeline, closed }))
}

impl Control {
    /// Makes the control file of a new directory; the file appears under its name only when it is whole.
    pub(crate) fn create(device: &dyn Device, identity: Identity, first: Checkpoint) -> Result<()> {
        let making = "control.new";
        let file = device.open(making, true)?;
        file.set_len(FILE_BYTES)?;
        let block = Sector::new(MAGIC)
            .half(FORMAT_VERSION)
            .half(identity.page_bytes)
            .word(identity.log_segment_bytes)
            .word(identity.system);
        file.write_at(0, &block.seal())?;
        file.write_at(SLOT_OFFSETS[1], &slot(1, &first))?;
        file.sync()?;
        device.rename(making, NAME)?;
        device.sync_names()
    }

    /// Reads what a directory is and where its last checkpoint was.
    pub(crate) fn open(device: &dyn Device) -> Result<Control> {
        let file = device.open(NAME, false)?;
        let mut bytes = vec![0; FILE_BYTES as usize];
        if file.len()? < FILE_BYTES {
            return Err(Error::CorruptLog("the control file is cut off".into()));
        }
        file.read_at(0, &mut bytes)?;
        // Of another version only the number is known to be where it is.
        let version = Fields::unchecked(&bytes).filter(|_| bytes.starts_with(MAGIC));
        let Some(version) = version.map(|mut fields| fields.half()) else {
            return Err(Error::Refused("the directory is not an Atoll database".into()));
        };
        if version != FORMAT_VERSION {
            return Err(Error::Refused(format!(
                "the directory has format version {version}, and this server reads {FORMAT_VERSION}"
            )));
        }
        let Some(mut fields) = Fields::open(&bytes, MAGIC, FIELD_BYTES) else {
            return Err(Error::CorruptLog("the control file's first block is damaged".into()));
        };
        let (_version, page_bytes) = (fields.half(), fields.half());
        let (log_segment_bytes, system) = (fields.word(), fields.word());
        let identity = Identity { page_bytes, log_segment_bytes, system };
        let slots = SLOT_OFFSETS.map(|at| parse_slot(&bytes[at as usize..]));
        let newest = slots.into_iter().flatten().max_by_key(|(sequence, _)| *sequence);
        let Some((sequence, latest)) = newest else {
            return Err(Error::CorruptLog("neither slot of the control file is whole".into()));
        };
        let state = Mutex::new(State { sequence, latest });
        Ok(Control { file, identity, state })
    }

    /// For the offline check: both slots are whole, or one was never written. Opening needs only one of them.
    pub(crate) fn verify(&self) -> Result<()> {
        for (number, offset) in SLOT_OFFSETS.into_iter().enumerate() {
            let mut block = [0; SECTOR_BYTES];
            self.file.read_at(offset, &mut block)?;
            let never_written = block.iter().all(|byte| *byte == 0);
            if !never_written && parse_slot(&block).is_none() {
                return Err(Error::CorruptLog(format!(
                    "slot {number} of the control file is damaged"
                )));
            }
        }
        Ok(())
    }

    /// What the directory is.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// The last checkpoint.
    pub(crate) fn latest(&self) -> Checkpoint {
        lock(&self.state).latest
    }

    fn write(&self, state: &mut State, checkpoint: Checkpoint) -> Result<()> {
        let sequence = state.sequence + 1;
        let offset = SLOT_OFFSETS[(sequence % 2) as usize];
        self.file.write_at(offset, &slot(sequence, &checkpoint))?;
        self.file.sync()?;
        // Only now: after a failed write the next one goes to the same slot, and the other one holds.
        state.sequence = sequence;
        state.latest = checkpoint;
        Ok(())
    }

    /// Begins an epoch, durably, and returns its number.
    pub(crate) fn begin_epoch(&self) -> Result<u32> {
        let mut state = lock(&self.state);
        let epoch = state.latest.epoch + 1;
        let checkpoint = Checkpoint { epoch, ..state.latest };
        self.write(&mut state, checkpoint)?;
        Ok(epoch)
    }

    /// Writes what a restored directory begins with, durably.
    pub(crate) fn write_restored(&self, restored: Checkpoint) -> Result<()> {
        self.write(&mut lock(&self.state), restored)
    }

    /// Moves the redo point, durably; `closed` is [`Checkpoint::closed`].
    pub(crate) fn write_point(&self, redo: Lsn, floor: Lsn, closed: bool) -> Result<()> {
        let mut state = lock(&self.state);
        let checkpoint = Checkpoint { redo, floor, closed, ..state.latest };
        self.write(&mut state, checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checkpoint, Control, Identity, NAME};
    use crate::device::faulty::{FaultSchedule, FaultyDevice};
    use crate::{Error, Lsn};

    const IDENTITY: Identity =
        Identity { page_bytes: 8192, log_segment_bytes: 1 << 24, system: 42 };
    const FIRST: Checkpoint = Checkpoint {
        redo: Lsn(1 << 24),
        floor: Lsn(1 << 24),
        epoch: 1,
        timeline: 1,
        closed: false,
    };

    #[test]
    fn a_point_is_old_or_new_whenever_the_power_goes() {
        for seed in 0..400 {
            let device = FaultyDevice::new(seed);
            Control::create(&device, IDENTITY, FIRST).unwrap();
            let control = Control::open(&device).unwrap();
            let at = device.operations() + 1 + seed % 9;
            device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
            let mut sure = FIRST.redo;
            let mut tried = FIRST.redo;
            for step in 1..5 {
                tried = FIRST.redo.advance(step * 100);
                if control.write_point(tried, tried, step == 4).is_err() {
                    break;
                }
                sure = tried;
            }
            let after = Control::open(&device.crash(seed)).unwrap().latest();
            assert!(after.redo == sure || after.redo == tried, "{after:?} {sure} {tried}");
            assert_eq!((after.epoch, after.floor), (1, after.redo));
            assert_eq!(after.closed, after.redo == FIRST.redo.advance(400));
        }
    }

    #[test]
    fn another_format_is_refused_by_name_and_damage_is_found() {
        let device = FaultyDevice::new(1);
        Control::create(&device, IDENTITY, FIRST).unwrap();
        device.flip(NAME, 12, 1).unwrap();
        assert!(matches!(Control::open(&device), Err(Error::CorruptLog(_))));
        let other = FaultyDevice::new(2);
        Control::create(&other, IDENTITY, FIRST).unwrap();
        let control = Control::open(&other).unwrap();
        control.verify().unwrap();
        control.write_point(Lsn(2 << 24), Lsn(2 << 24), false).unwrap();
        other.flip(NAME, 8192 + 17, 1).unwrap();
        assert_eq!(
            Control::open(&other).unwrap().latest().redo,
            Lsn(2 << 24),
            "the newer one holds"
        );
        assert!(matches!(control.verify(), Err(Error::CorruptLog(_))));
        device.flip(NAME, 8, 8).unwrap();
        let refused = Control::open(&device).unwrap_err().to_string();
        let own = super::FORMAT_VERSION;
        let other = own ^ 8;
        let expected =
            format!("the directory has format version {other}, and this server reads {own}");
        assert_eq!(refused, expected);
    }
}
