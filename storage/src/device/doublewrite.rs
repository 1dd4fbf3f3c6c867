//! The double-write area: the guard against torn pages.
//!
//! A page is larger than what a disk writes whole. Before a batch of pages is written in place, it is written here and
//! synced; if the power goes in the middle of a write in place, the page is still whole here (InnoDB's double-write
//! buffer; PostgreSQL logs full page images instead, which costs log). Slots are a ring and are used again only after
//! the data file has been synced, because until then the disk may still tear a write that we have long forgotten.
//!
//! A write in place that fails may have torn its page, and no sync helps that. Its copy is *kept*: it goes on into every
//! later batch, so that the ring moves on, until the page has been written. Where the disk refuses more pages than a
//! batch has, the instance halts, and the restart repairs them. A batch and the kept copies fill half of the area at most,
//! so that one sync of the data file always makes room.
//!
//! After a crash [`DoubleWrite::repair`] looks at every page that has a copy here: if the page in place does not check,
//! the newest whole copy takes its place. A copy is never newer than the log allows: it was about to be written.
//!
//! A page that does check is written again as it stands. It may stand in the system's cache only: after a sync that
//! failed the system takes its pages for clean, and shows what the disk does not have, to the next process too (fsync's
//! lesson of 2018). Redo cannot tell, because the LSN on such a page is current. But every page written in place since
//! the last sync that did not fail has its copy here, so these are all that can be meant.
//!
//! ```text
//! slot:  0  "ATOLLDW1"   8 u64 sequence   16 u32 page id   20 u32 crc32c of the page   24 u32 crc32c of bytes 0..24
//!        512  the page
//! ```

use super::{Device, File, SECTOR_BYTES};
use crate::planted::{Fault, Planted};
use crate::sector::{Fields, Sector};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, PageId, Result};
use std::collections::BTreeMap;

/// The area's file.
pub(crate) const NAME: &str = "doublewrite";
const MAGIC: &[u8; 8] = b"ATOLLDW1";
/// Bytes of a slot's fields.
const FIELD_BYTES: usize = 16;

/// The double-write area of one data file.
pub struct DoubleWrite {
    area: Arc<dyn File>,
    data: Arc<dyn File>,
    page_bytes: usize,
    slots: usize,
    planted: Planted,
    state: Mutex<State, { rank::DOUBLEWRITE_STATE }>,
    /// Held for a batch: one at a time.
    writing: Mutex<(), { rank::DOUBLEWRITE }>,
}

#[derive(Debug, Default)]
struct State {
    /// The next slot to write, as a number that only grows.
    next: u64,
    /// Slots before this number have had a data sync since.
    free_until: u64,
    /// The first slot of the batch whose pages are being written in place.
    in_flight: Option<u64>,
    /// Copies of pages whose last write in place has failed.
    kept: BTreeMap<PageId, Kept>,
    buffer: Vec<u8>,
}

/// A copy that is the only whole state of its page on the disk.
#[derive(Debug)]
struct Kept {
    slot: u64,
    page: Vec<u8>,
}

impl std::fmt::Debug for DoubleWrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoubleWrite").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl DoubleWrite {
    /// Opens the area of the data file `data`, making it if there is none. Recovery repairs before anything is written.
    ///
    /// # Errors
    /// I/O.
    pub fn open(
        device: &dyn Device,
        data: Arc<dyn File>,
        page_bytes: usize,
        slots: usize,
        planted: Planted,
    ) -> Result<DoubleWrite> {
        let area = device.open(NAME, true)?;
        let length = (slots * (SECTOR_BYTES + page_bytes)) as u64;
        if area.len()? != length {
            area.set_len(length)?;
            area.sync()?;
            device.sync_names()?;
        }
        Ok(DoubleWrite {
            area,
            data,
            page_bytes,
            slots,
            planted,
            state: Mutex::default(),
            writing: Mutex::default(),
        })
    }

    /// How many pages one batch may have.
    #[must_use]
    pub fn batch_max(&self) -> usize {
        self.slots / 4
    }

    /// Writes a batch of pages in place, whole or not at all as far as a crash is concerned. They are durable after
    /// the next [`DoubleWrite::sync_data`]. The caller has checked the write-ahead rule, and no page is in two batches
    /// at a time.
    ///
    /// # Errors
    /// I/O, where the pages have to be written again; [`crate::Error::Halted`] if a sync failed, or too many pages cannot
    /// be written.
    pub fn write(&self, batch: &[(PageId, &[u8])]) -> Result<()> {
        assert!(batch.len() <= self.batch_max(), "a batch and the kept copies fit the area");
        let _one = lock(&self.writing);
        if self.planted.is(Fault::DoubleWriteSkipped) {
            return batch.iter().try_for_each(|(id, page)| self.write_in_place(*id, page));
        }
        let first = self.guard(batch)?;
        let mut result = Ok(());
        let mut placed = 0;
        while result.is_ok() && placed < batch.len() {
            let (id, page) = batch[placed];
            result = self.write_in_place(id, page);
            placed += usize::from(result.is_ok());
        }
        let mut state = lock(&self.state);
        batch[..placed].iter().for_each(|(id, _)| drop(state.kept.remove(id)));
        if result.is_err() && !self.planted.is(Fault::FailedWriteForgotten) {
            let (id, page) = batch[placed];
            let kept = Kept { slot: first + placed as u64, page: page.to_vec() };
            state.kept.insert(id, kept);
        }
        state.in_flight = None;
        if state.kept.len() > self.batch_max() {
            return Err(Error::Halted("the disk refuses too many pages".to_owned()));
        }
        result
    }

    fn write_in_place(&self, id: PageId, page: &[u8]) -> Result<()> {
        self.data.write_at(u64::from(id.0) * self.page_bytes as u64, page)
    }

    /// Writes copies of a batch, and of what is kept beside it, and syncs them. Returns the batch's first slot.
    fn guard(&self, batch: &[(PageId, &[u8])]) -> Result<u64> {
        let mut state = lock(&self.state);
        let others = state.kept.keys().filter(|id| batch.iter().all(|(other, _)| other != *id));
        let others: Vec<PageId> = others.copied().collect();
        let copies = (batch.len() + others.len()) as u64;
        if state.next + copies - state.free_until > self.slots as u64 {
            drop(state);
            self.sync_data()?;
            state = lock(&self.state);
        }
        let first = state.next;
        assert!(
            first + copies - state.free_until <= self.slots as u64,
            "half of the slots is free"
        );
        let slot_bytes = SECTOR_BYTES + self.page_bytes;
        let mut buffer = std::mem::take(&mut state.buffer);
        buffer.clear();
        let kept = others.iter().map(|id| (*id, &state.kept[id].page[..]));
        for (slot, (id, page)) in (first..).zip(batch.iter().copied().chain(kept)) {
            assert_eq!(page.len(), self.page_bytes, "pages are of one size");
            buffer.extend_from_slice(&header(slot, id, page));
            buffer.extend_from_slice(page);
        }
        let until_end = (self.slots - (first % self.slots as u64) as usize) * slot_bytes;
        let (before, after) = buffer.split_at(until_end.min(buffer.len()));
        let offset = first % self.slots as u64 * slot_bytes as u64;
        self.area.write_at(offset, before)?;
        if !after.is_empty() {
            self.area.write_at(0, after)?;
        }
        state.buffer = buffer;
        // The slots are counted as used before the lock goes, and stay so whatever happens to the sync.
        state.next = first + copies;
        state.in_flight = Some(first);
        drop(state);
        self.area.sync()?;
        // From here on the new copies are those that a restart takes, and the old ones may go.
        let mut state = lock(&self.state);
        for (slot, (id, page)) in (first..).zip(batch) {
            if let Some(kept) = state.kept.get_mut(id) {
                *kept = Kept { slot, page: page.to_vec() };
            }
        }
        for (slot, id) in (first + batch.len() as u64..).zip(others) {
            if let Some(kept) = state.kept.get_mut(&id) {
                kept.slot = slot;
            }
        }
        Ok(first)
    }

    /// Makes every page written in place so far durable, and so the slots of those before it free.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if the sync failed.
    pub fn sync_data(&self) -> Result<()> {
        let finished = {
            let state = lock(&self.state);
            let kept = state.kept.values().map(|kept| kept.slot).min();
            let placed = state.in_flight.unwrap_or(state.next);
            kept.map_or(placed, |kept| kept.min(placed))
        };
        self.data.sync()?;
        let mut state = lock(&self.state);
        state.free_until = state.free_until.max(finished);
        Ok(())
    }

    /// After a crash: puts whole copies in the place of torn pages, durably, and returns how many; the other pages that
    /// have copies are written again as they are. `whole` says whether a page's bytes are what was once written for it.
    ///
    /// # Errors
    /// I/O.
    pub fn repair(&self, whole: &dyn Fn(PageId, &[u8]) -> bool) -> Result<usize> {
        let slot_bytes = SECTOR_BYTES + self.page_bytes;
        let mut newest: BTreeMap<PageId, (u64, Vec<u8>)> = BTreeMap::new();
        let (mut slot, mut last) = (vec![0; slot_bytes], 0);
        for index in 0..self.slots {
            self.area.read_at((index * slot_bytes) as u64, &mut slot)?;
            let Some((sequence, id, crc)) = parse(&slot) else { continue };
            last = last.max(sequence + 1);
            let page = &slot[SECTOR_BYTES..];
            let newer = newest.get(&id).is_none_or(|(other, _)| *other < sequence);
            if newer && crc == crc32c::crc32c(page) && whole(id, page) {
                newest.insert(id, (sequence, page.to_vec()));
            }
        }
        let (length, mut repaired) = (self.data.len()?, 0);
        let mut page = vec![0; self.page_bytes];
        for (id, (_, copy)) in &newest {
            let offset = u64::from(id.0) * self.page_bytes as u64;
            let torn = if offset + self.page_bytes as u64 > length {
                true
            } else {
                self.data.read_at(offset, &mut page)?;
                !whole(*id, &page)
            };
            self.data.write_at(offset, if torn { copy } else { &page })?;
            repaired += usize::from(torn);
        }
        // Durable before the copies go; and what a killed process left in the system's cache as well.
        self.data.sync()?;
        let mut state = lock(&self.state);
        (state.next, state.free_until) = (last, last);
        Ok(repaired)
    }
}

fn header(sequence: u64, id: PageId, page: &[u8]) -> [u8; SECTOR_BYTES] {
    Sector::new(MAGIC).word(sequence).half(id.0).half(crc32c::crc32c(page)).seal()
}

/// Sequence, page and checksum of the page, if the slot's header is whole.
fn parse(slot: &[u8]) -> Option<(u64, PageId, u32)> {
    let mut fields = Fields::open(slot, MAGIC, FIELD_BYTES)?;
    Some((fields.word(), PageId(fields.half()), fields.half()))
}

#[cfg(test)]
mod tests {
    use super::DoubleWrite;
    use crate::device::faulty::{FaultSchedule, FaultyDevice};
    use crate::device::{Device, File, SECTOR_BYTES};
    use crate::planted::{Fault, Planted};
    use crate::sync::Arc;
    use crate::{Error, PageId, Result};
    use std::sync::atomic::{AtomicU64, Ordering};

    const PAGE: usize = 4096;

    /// A page that says which one it is, how often it was written, and whether it is whole.
    fn page(id: u32, version: u32) -> Vec<u8> {
        let mut page = vec![version as u8; PAGE];
        page[..4].copy_from_slice(&id.to_le_bytes());
        page[4..8].copy_from_slice(&version.to_le_bytes());
        let crc = crc32c::crc32c(&page[..PAGE - 4]);
        page[PAGE - 4..].copy_from_slice(&crc.to_le_bytes());
        page
    }

    fn whole(id: PageId, page: &[u8]) -> bool {
        let crc = page[PAGE - 4..] == crc32c::crc32c(&page[..PAGE - 4]).to_le_bytes();
        crc && page[..4] == id.0.to_le_bytes()
    }

    fn open(device: &FaultyDevice, planted: Planted) -> Result<(Arc<dyn File>, DoubleWrite)> {
        let data = device.open("data", true)?;
        let guard = DoubleWrite::open(device, Arc::clone(&data), PAGE, 16, planted)?;
        Ok((data, guard))
    }

    /// Writes four pages again and again until the power goes, restarts, and counts pages that are torn.
    fn torn_after_crashes(planted: Planted, seeds: u64) -> usize {
        let mut torn = 0;
        for seed in 0..seeds {
            let device = FaultyDevice::new(seed);
            let (data, guard) = open(&device, planted).unwrap();
            data.set_len(6 * PAGE as u64).unwrap();
            device.sync_names().unwrap();
            let mut synced = [0; 6];
            let write = |version: u32| -> Result<()> {
                let pages: Vec<_> = (0..6).filter(|id| !(id + version).is_multiple_of(3)).collect();
                let bytes: Vec<_> = pages.iter().map(|id| page(*id, version)).collect();
                let batch: Vec<_> =
                    pages.iter().zip(&bytes).map(|(id, page)| (PageId(*id), &page[..])).collect();
                guard.write(&batch)
            };
            write(1).and_then(|()| write(2)).unwrap();
            guard.sync_data().unwrap();
            let at = device.operations() + 1 + seed % 40;
            device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
            for version in 3.. {
                if write(version).is_err() {
                    break;
                }
                if version % 4 == 0 {
                    if guard.sync_data().is_err() {
                        break;
                    }
                    synced = [version - 2; 6];
                }
            }
            // The restart crashes as well, somewhere in its repair, and is started again.
            let mut after = device.crash(seed);
            let at = 1 + seed % 5;
            after.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
            let first = open(&after, planted).and_then(|(_, guard)| guard.repair(&whole));
            if first.is_err() {
                after = after.crash(seed + 1);
            }
            after.set_schedule(FaultSchedule::default());
            let (data, guard) = open(&after, planted).unwrap();
            guard.repair(&whole).unwrap();
            let mut bytes = vec![0; PAGE];
            for id in 0..6u32 {
                data.read_at(u64::from(id) * PAGE as u64, &mut bytes).unwrap();
                let version = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
                torn += usize::from(!whole(PageId(id), &bytes));
                assert!(version >= synced[id as usize] || !whole(PageId(id), &bytes));
            }
        }
        torn
    }

    #[test]
    fn no_page_stays_torn_whenever_the_power_goes() {
        assert_eq!(torn_after_crashes(Planted::default(), 400), 0);
    }

    /// A data file that some pages of cannot be written, and are torn by the attempt.
    struct Refusing {
        file: Arc<dyn File>,
        /// One bit a page.
        refused: AtomicU64,
    }

    impl File for Refusing {
        fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
            self.file.read_at(offset, into)
        }

        fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
            let page = offset / PAGE as u64;
            if self.refused.load(Ordering::Relaxed) & 1 << page == 0 {
                return self.file.write_at(offset, bytes);
            }
            self.file.write_at(offset, &bytes[..SECTOR_BYTES])?;
            Err(Error::Io("write".to_owned(), std::io::ErrorKind::Other.into()))
        }

        fn sync(&self) -> Result<()> {
            self.file.sync()
        }

        fn len(&self) -> Result<u64> {
            self.file.len()
        }

        fn set_len(&self, bytes: u64) -> Result<()> {
            self.file.set_len(bytes)
        }
    }

    fn refusing(
        device: &FaultyDevice,
        planted: Planted,
        refused: u64,
    ) -> (Arc<Refusing>, DoubleWrite) {
        let file = device.open("data", true).unwrap();
        file.set_len(64 * PAGE as u64).unwrap();
        let data = Arc::new(Refusing { file, refused: AtomicU64::new(0) });
        let guarded = Arc::clone(&data) as Arc<dyn File>;
        let guard = DoubleWrite::open(device, guarded, PAGE, 16, planted).unwrap();
        guard.repair(&whole).unwrap();
        for id in 0..64 {
            guard.write(&[(PageId(id), &page(id, 1))]).unwrap();
        }
        guard.sync_data().unwrap();
        device.sync_names().unwrap();
        data.refused.store(refused, Ordering::Relaxed);
        (data, guard)
    }

    /// A page cannot be written while others can, for as long as it takes to use every slot several times. Returns the
    /// version that a restart finds; none if the page is torn.
    fn after_a_refused_page(planted: Planted, seed: u64) -> Option<u32> {
        let device = FaultyDevice::new(seed);
        let (data, guard) = refusing(&device, planted, 1 << 5);
        let mut newest = 1;
        for version in 2..60u32 {
            if version == 2 || version % 7 == 0 && version < 40 {
                // Between two others, of which the second is not reached.
                let batch = [1, 5, 9].map(|id| (PageId(id), page(id, version)));
                let batch: Vec<_> = batch.iter().map(|(id, page)| (*id, &page[..])).collect();
                assert!(matches!(guard.write(&batch), Err(Error::Io(..))));
                newest = version;
            } else {
                let (one, other) = (page(1, version), page(3, version));
                guard.write(&[(PageId(1), &one), (PageId(3), &other)]).unwrap();
            }
            if version % 5 == 0 {
                guard.sync_data().unwrap();
            }
        }
        if seed.is_multiple_of(2) {
            // At last it can be written, and is forgotten.
            data.refused.store(0, Ordering::Relaxed);
            newest = 99;
            guard.write(&[(PageId(5), &page(5, newest))]).unwrap();
            for version in 100..120 {
                guard.write(&[(PageId(1), &page(1, version))]).unwrap();
            }
        }
        let after = device.crash(seed);
        let (data, guard) = open(&after, Planted::default()).unwrap();
        guard.repair(&whole).unwrap();
        let mut bytes = vec![0; PAGE];
        data.read_at(5 * PAGE as u64, &mut bytes).unwrap();
        let version = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        assert!(!whole(PageId(5), &bytes) || version == newest);
        whole(PageId(5), &bytes).then_some(version)
    }

    #[test]
    fn a_page_that_cannot_be_written_in_place_keeps_its_copy() {
        for seed in 0..40 {
            assert!(after_a_refused_page(Planted::default(), seed).is_some(), "seed {seed}");
        }
        let planted = Planted::new(Fault::FailedWriteForgotten);
        assert!((0..40).any(|seed| after_a_refused_page(planted, seed).is_none()));
    }

    #[test]
    fn failed_batches_end_and_too_many_of_them_halt_the_instance() {
        let device = FaultyDevice::new(1);
        let (_, guard) = refusing(&device, Planted::default(), u64::MAX);
        for version in 2..100 {
            let failed = guard.write(&[(PageId(7), &page(7, version)), (PageId(8), &page(8, 2))]);
            assert!(matches!(failed, Err(Error::Io(..))));
        }
        let mut failures = (10..64).map(|id| guard.write(&[(PageId(id), &page(id, 2))]));
        let halted = failures.position(|failed| matches!(failed, Err(Error::Halted(_))));
        assert_eq!(halted, Some(guard.batch_max() - 1));
        let after = device.crash(3);
        let (data, guard) = open(&after, Planted::default()).unwrap();
        guard.repair(&whole).unwrap();
        let mut bytes = vec![0; PAGE];
        for id in (7..9).chain(10..10 + guard.batch_max() as u32) {
            data.read_at(u64::from(id) * PAGE as u64, &mut bytes).unwrap();
            assert!(whole(PageId(id), &bytes), "page {id}");
        }
    }

    #[test]
    fn planted_without_the_area_pages_are_torn() {
        assert!(torn_after_crashes(Planted::new(Fault::DoubleWriteSkipped), 100) > 0);
    }
}
