//! A disk in memory that keeps exactly what a real one promises, and on request less.
//!
//! What was synced survives [`FaultyDevice::crash`]; of what was written later an arbitrary subset survives, sector by
//! sector, chosen by a seed. The same holds for names: creations, renames and removals since the last
//! [`Device::sync_names`] are kept or lost one by one, which is more than a journaling file system would do to us.
//! A failed sync loses some of the writes it covered for good, although reads still show them (the lesson of 2018:
//! a second, successful fsync says nothing about them).
//!
//! A [`FaultSchedule`] says at which operation the power goes, a write or sync fails, or when the disk is full.
//! With none of these it is the RAM device.
//!
//! Difference from a real disk: a lost sector reads as what was there before, never as garbage. Checksums are tested
//! against garbage elsewhere.

use super::{Device, File, SECTOR_BYTES};
use crate::chance::Chance;
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// What goes wrong, and when. Operations (writes, syncs, changes of length or name) are counted from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultSchedule {
    /// The operation at which the power goes: it and everything after it fails.
    pub power_loss_at: Option<u64>,
    /// The first sync at or after this operation fails.
    pub sync_error_at: Option<u64>,
    /// The first write at or after this operation fails, having written nothing.
    pub write_error_at: Option<u64>,
    /// How much all files together may hold, in bytes.
    pub capacity_bytes: Option<u64>,
}

/// Lets other threads of a simulation run before an operation.
pub type YieldHook = Arc<dyn Fn() + Send + Sync>;

/// A disk in memory.
pub struct FaultyDevice {
    disk: Arc<Mutex<Disk>>,
    before: Option<YieldHook>,
}

struct Disk {
    chance: Chance,
    schedule: FaultSchedule,
    operations: u64,
    powerless: bool,
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    names_durable: BTreeMap<String, usize>,
    names_pending: Vec<NameChange>,
}

#[derive(Clone, Default)]
struct Inode {
    /// As reads see it.
    bytes: Vec<u8>,
    /// As the last sync left it.
    durable: Vec<u8>,
    /// What happened since, in order.
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Clone)]
enum NameChange {
    Created(String, usize),
    Renamed(String, String, usize),
    Removed(String),
}

struct OpenFile {
    disk: Arc<Mutex<Disk>>,
    inode: usize,
    before: Option<YieldHook>,
}

impl FaultyDevice {
    /// An empty disk without faults.
    #[must_use]
    pub fn new(seed: u64) -> FaultyDevice {
        let disk = Disk {
            chance: Chance::new(seed),
            schedule: FaultSchedule::default(),
            operations: 0,
            powerless: false,
            inodes: Vec::new(),
            names: BTreeMap::new(),
            names_durable: BTreeMap::new(),
            names_pending: Vec::new(),
        };
        FaultyDevice { disk: Arc::new(Mutex::new(disk)), before: None }
    }

    /// The same disk, calling `before` ahead of every operation: a simulation lets another thread run there.
    #[must_use]
    pub fn with_yield(self, before: YieldHook) -> FaultyDevice {
        FaultyDevice { before: Some(before), ..self }
    }

    /// Sets what will go wrong from now on.
    pub fn set_schedule(&self, schedule: FaultSchedule) {
        lock(&self.disk).schedule = schedule;
    }

    /// Operations so far: what a schedule counts.
    #[must_use]
    pub fn operations(&self) -> u64 {
        lock(&self.disk).operations
    }

    /// What all files together hold, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        lock(&self.disk).held()
    }

    /// Turns the power off: every operation from now on fails.
    pub fn power_off(&self) {
        lock(&self.disk).powerless = true;
    }

    /// The disk that a restart would find: what was synced, and of what came later what `seed` picks. This one has
    /// no power any more.
    #[must_use]
    pub fn crash(&self, seed: u64) -> FaultyDevice {
        let mut disk = lock(&self.disk);
        disk.powerless = true;
        let mut chance = Chance::new(seed);
        // Nothing and everything are likely cases, and the interesting ones lie between.
        let kept = [0, 100, 50, chance.below(101)][chance.below(4) as usize];
        let mut names = disk.names_durable.clone();
        for change in &disk.names_pending {
            if chance.percent(kept) {
                change.apply(&mut names);
            }
        }
        let inodes = disk.inodes.iter().map(|inode| inode.survive(kept, &mut chance)).collect();
        let names_durable = names.clone();
        let survived = Disk {
            chance,
            schedule: FaultSchedule::default(),
            operations: 0,
            powerless: false,
            inodes,
            names,
            names_durable,
            names_pending: Vec::new(),
        };
        FaultyDevice { disk: Arc::new(Mutex::new(survived)), before: None }
    }

    /// The disk that a restart would find after the process alone has died: everything that was written is seen, and
    /// what was not synced can still be lost. This one has no power any more.
    #[must_use]
    pub fn survive_process(&self) -> FaultyDevice {
        let mut disk = lock(&self.disk);
        disk.powerless = true;
        let survived = Disk {
            chance: disk.chance.clone(),
            schedule: FaultSchedule::default(),
            operations: 0,
            powerless: false,
            inodes: disk.inodes.clone(),
            names: disk.names.clone(),
            names_durable: disk.names_durable.clone(),
            names_pending: disk.names_pending.clone(),
        };
        FaultyDevice { disk: Arc::new(Mutex::new(survived)), before: None }
    }

    /// Whether the power is off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        lock(&self.disk).powerless
    }

    /// Another disk with the same contents, all of them durable: many runs begin with what one has made.
    #[must_use]
    pub fn copy(&self, seed: u64) -> FaultyDevice {
        let disk = lock(&self.disk);
        let inodes = disk.inodes.iter().map(|inode| Inode {
            bytes: inode.bytes.clone(),
            durable: inode.bytes.clone(),
            pending: Vec::new(),
        });
        let copy = Disk {
            chance: Chance::new(seed),
            schedule: FaultSchedule::default(),
            operations: 0,
            powerless: false,
            inodes: inodes.collect(),
            names: disk.names.clone(),
            names_durable: disk.names.clone(),
            names_pending: Vec::new(),
        };
        FaultyDevice { disk: Arc::new(Mutex::new(copy)), before: None }
    }

    /// Changes one byte of a file behind everybody's back, as a failing disk does.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn flip(&self, name: &str, offset: u64, mask: u8) -> Result<()> {
        let mut disk = lock(&self.disk);
        let inode = disk.find(name)?;
        let inode = &mut disk.inodes[inode];
        inode.bytes[offset as usize] ^= mask;
        if let Some(byte) = inode.durable.get_mut(offset as usize) {
            *byte ^= mask;
        }
        Ok(())
    }

    fn pause(&self) {
        if let Some(before) = &self.before {
            before();
        }
    }
}

impl std::fmt::Debug for FaultyDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let disk = lock(&self.disk);
        let files: Vec<_> = disk
            .names
            .iter()
            .map(|(name, inode)| (name, disk.inodes[*inode].bytes.len()))
            .collect();
        f.debug_struct("FaultyDevice")
            .field("operations", &disk.operations)
            .field("files", &files)
            .finish()
    }
}

impl Disk {
    fn held(&self) -> u64 {
        self.inodes.iter().map(|inode| inode.bytes.len() as u64).sum()
    }

    fn find(&self, name: &str) -> Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| Error::Io(format!("cannot open \"{name}\""), ErrorKind::NotFound.into()))
    }

    fn powered(&self) -> Result<()> {
        if self.powerless {
            Err(failed("the power is off", ErrorKind::NotConnected))
        } else {
            Ok(())
        }
    }

    /// Counts an operation, and lets the power go where the schedule says so.
    fn operate(&mut self) -> Result<()> {
        self.operations += 1;
        if self.schedule.power_loss_at.is_some_and(|at| self.operations >= at) {
            self.powerless = true;
        }
        self.powered()
    }

    fn write(&mut self, inode: usize, offset: u64, bytes: &[u8]) -> Result<()> {
        let had_power = !self.powerless;
        let lost = self.operate();
        let change = Change::Write(offset as usize, bytes.to_vec());
        if lost.is_err() {
            if had_power {
                // The operation that loses the power may have reached the disk in part.
                change.apply(&mut self.inodes[inode].bytes);
                self.inodes[inode].pending.push(change);
            }
            return lost;
        }
        if self.schedule.write_error_at.is_some_and(|at| self.operations >= at) {
            self.schedule.write_error_at = None;
            return Err(failed("write", ErrorKind::Other));
        }
        self.grow(inode, offset as usize + bytes.len())?;
        change.apply(&mut self.inodes[inode].bytes);
        self.inodes[inode].pending.push(change);
        Ok(())
    }

    fn set_len(&mut self, inode: usize, bytes: u64) -> Result<()> {
        self.operate()?;
        self.grow(inode, bytes as usize)?;
        self.inodes[inode].bytes.resize(bytes as usize, 0);
        self.inodes[inode].pending.push(Change::Length(bytes as usize));
        Ok(())
    }

    fn grow(&mut self, inode: usize, to: usize) -> Result<()> {
        let more = to.saturating_sub(self.inodes[inode].bytes.len()) as u64;
        match self.schedule.capacity_bytes {
            Some(capacity) if more > 0 && self.held() + more > capacity => {
                Err(Error::Full("the disk"))
            }
            _ => Ok(()),
        }
    }

    fn sync(&mut self, inode: usize) -> Result<()> {
        self.operate()?;
        let Disk { inodes, chance, schedule, operations, .. } = self;
        let inode = &mut inodes[inode];
        if schedule.sync_error_at.is_some_and(|at| *operations >= at) {
            schedule.sync_error_at = None;
            inode.durable = inode.survive(50, chance).durable;
            inode.pending.clear();
            return Err(Error::Halted("sync: injected error".into()));
        }
        for change in inode.pending.drain(..) {
            change.apply(&mut inode.durable);
        }
        Ok(())
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.names_pending.push(change);
    }
}

impl Inode {
    /// The file after a crash that keeps `kept` percent of the sectors written since the last sync.
    fn survive(&self, kept: u64, chance: &mut Chance) -> Inode {
        let mut bytes = self.durable.clone();
        for change in &self.pending {
            change.survive(&mut bytes, kept, chance);
        }
        Inode { durable: bytes.clone(), bytes, pending: Vec::new() }
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write(offset, bytes) => put(to, *offset, bytes),
            Change::Length(length) => to.resize(*length, 0),
        }
    }

    fn survive(&self, to: &mut Vec<u8>, kept: u64, chance: &mut Chance) {
        match self {
            Change::Write(offset, bytes) => {
                let (mut at, mut rest) = (*offset, bytes.as_slice());
                while !rest.is_empty() {
                    let step = (SECTOR_BYTES - at % SECTOR_BYTES).min(rest.len());
                    let (sector, later) = rest.split_at(step);
                    if chance.percent(kept) {
                        put(to, at, sector);
                    }
                    (at, rest) = (at + step, later);
                }
            }
            Change::Length(length) => {
                if chance.percent(kept) {
                    to.resize(*length, 0);
                }
            }
        }
    }
}

fn put(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    to[offset..end].copy_from_slice(bytes);
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            NameChange::Created(name, inode) => drop(names.insert(name.clone(), *inode)),
            NameChange::Renamed(from, to, inode) => {
                names.remove(from);
                names.insert(to.clone(), *inode);
            }
            NameChange::Removed(name) => drop(names.remove(name)),
        }
    }
}

fn failed(what: &str, kind: ErrorKind) -> Error {
    Error::Io(what.to_owned(), std::io::Error::new(kind, "injected error"))
}

impl Device for FaultyDevice {
    fn available_bytes(&self) -> Option<u64> {
        let disk = lock(&self.disk);
        disk.schedule.capacity_bytes.map(|capacity| capacity.saturating_sub(disk.held()))
    }

    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn File>> {
        self.pause();
        let mut disk = lock(&self.disk);
        disk.powered()?;
        let inode = match disk.find(name) {
            Err(_) if create => {
                disk.operate()?;
                let inode = disk.inodes.len();
                disk.inodes.push(Inode::default());
                disk.change_name(NameChange::Created(name.to_owned(), inode));
                inode
            }
            found => found?,
        };
        let before = self.before.clone();
        Ok(Arc::new(OpenFile { disk: Arc::clone(&self.disk), inode, before }))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let disk = lock(&self.disk);
        disk.powered()?;
        Ok(disk.names.keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.pause();
        let mut disk = lock(&self.disk);
        disk.operate()?;
        let inode = disk.find(from)?;
        disk.change_name(NameChange::Renamed(from.to_owned(), to.to_owned(), inode));
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.pause();
        let mut disk = lock(&self.disk);
        disk.operate()?;
        disk.find(name)?;
        disk.change_name(NameChange::Removed(name.to_owned()));
        Ok(())
    }

    fn sync_names(&self) -> Result<()> {
        self.pause();
        let mut disk = lock(&self.disk);
        disk.operate()?;
        disk.names_durable = disk.names.clone();
        disk.names_pending.clear();
        // What no name leads to any more takes no space, as long as nobody has it open; nobody keeps such a file.
        let Disk { inodes, names, .. } = &mut *disk;
        for (number, inode) in inodes.iter_mut().enumerate() {
            if !inode.bytes.is_empty() && !names.values().any(|named| *named == number) {
                *inode = Inode::default();
            }
        }
        Ok(())
    }
}

impl OpenFile {
    fn disk(&self) -> crate::sync::MutexGuard<'_, Disk> {
        rank::touches_disk();
        if let Some(before) = &self.before {
            before();
        }
        lock(&self.disk)
    }
}

impl File for OpenFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let disk = self.disk();
        disk.powered()?;
        let bytes = disk.inodes[self.inode].bytes.get(offset as usize..);
        let Some(bytes) = bytes.and_then(|bytes| bytes.get(..into.len())) else {
            return Err(failed("read past the end", ErrorKind::UnexpectedEof));
        };
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.disk().write(self.inode, offset, bytes)
    }

    fn sync(&self) -> Result<()> {
        self.disk().sync(self.inode)
    }

    fn len(&self) -> Result<u64> {
        let disk = self.disk();
        disk.powered()?;
        Ok(disk.inodes[self.inode].bytes.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> Result<()> {
        self.disk().set_len(self.inode, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{FaultSchedule, FaultyDevice};
    use crate::device::{Device, SECTOR_BYTES};
    use crate::{Error, Result};
    use std::collections::BTreeSet;

    fn contents(device: &FaultyDevice, name: &str) -> Result<Vec<u8>> {
        let file = device.open(name, false)?;
        let mut bytes = vec![0; file.len()? as usize];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn what_was_synced_survives_and_the_rest_may_in_sectors() {
        let mut outcomes = BTreeSet::new();
        for seed in 0..200 {
            let device = FaultyDevice::new(seed);
            let file = device.open("data", true).unwrap();
            file.write_at(0, &[1; 3 * SECTOR_BYTES]).unwrap();
            file.sync().unwrap();
            device.sync_names().unwrap();
            file.write_at(100, &[2; 2 * SECTOR_BYTES]).unwrap();
            let after = contents(&device.crash(seed), "data").unwrap();
            assert_eq!((after.len(), after[0], after[3 * SECTOR_BYTES - 1]), (1536, 1, 1));
            let torn = [after[100], after[SECTOR_BYTES], after[2 * SECTOR_BYTES]];
            assert!(after[100..SECTOR_BYTES].iter().all(|byte| *byte == torn[0]));
            assert!(after[SECTOR_BYTES..2 * SECTOR_BYTES].iter().all(|byte| *byte == torn[1]));
            outcomes.insert(torn);
            assert!(matches!(file.sync(), Err(Error::Io(..))), "the power is off");
        }
        assert_eq!(outcomes.len(), 8, "every subset of three sectors comes up: {outcomes:?}");
    }

    #[test]
    fn names_that_were_not_synced_may_be_lost() {
        let mut outcomes = BTreeSet::new();
        for seed in 0..200 {
            let device = FaultyDevice::new(seed);
            device.open("a", true).unwrap();
            device.sync_names().unwrap();
            device.rename("a", "b").unwrap();
            device.open("c", true).unwrap();
            outcomes.insert(device.crash(seed).list("").unwrap());
        }
        assert_eq!(outcomes.len(), 4, "{outcomes:?}");
    }

    #[test]
    fn after_a_failed_sync_a_second_one_does_not_bring_the_bytes_back() {
        let mut lost = 0;
        for seed in 0..50 {
            let device = FaultyDevice::new(seed);
            let file = device.open("log", true).unwrap();
            device.sync_names().unwrap();
            file.write_at(0, &[7; 4 * SECTOR_BYTES]).unwrap();
            device.set_schedule(FaultSchedule { sync_error_at: Some(1), ..Default::default() });
            assert!(matches!(file.sync(), Err(Error::Halted(_))));
            file.sync().unwrap();
            lost += u32::from(contents(&device.crash(seed), "log").unwrap() != [7; 2048]);
        }
        assert!(lost > 40, "{lost}");
    }

    #[test]
    fn a_full_disk_is_found_when_space_is_set_aside() {
        let device = FaultyDevice::new(1);
        device.set_schedule(FaultSchedule { capacity_bytes: Some(8192), ..Default::default() });
        let file = device.open("data", true).unwrap();
        file.set_len(8192).unwrap();
        file.write_at(4096, &[1; 4096]).unwrap();
        assert!(matches!(file.set_len(8193), Err(Error::Full(_))));
        assert!(matches!(file.write_at(8192, &[1]), Err(Error::Full(_))));
    }

    #[test]
    fn the_power_goes_at_the_operation_that_was_asked_for() {
        let device = FaultyDevice::new(1);
        let file = device.open("data", true).unwrap();
        file.write_at(0, &[1; 512]).unwrap();
        let at = device.operations() + 2;
        device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
        file.sync().unwrap();
        assert!(file.write_at(0, &[2; 512]).is_err());
        assert!(file.read_at(0, &mut [0; 512]).is_err());
    }
}
