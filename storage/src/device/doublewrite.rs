//! The double-write area: the guard against torn pages.
//!
//! A page is larger than what a disk writes whole. Before a batch of pages is written in place, it is written here and
//! synced; if the power goes in the middle of a write in place, the page is still whole here (InnoDB's double-write
//! buffer; PostgreSQL logs full page images instead, which costs log). Slots are a ring and are used again only after
//! the data file has been synced, because until then the disk may still tear a write that we have long forgotten.
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
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{PageId, Result};
use std::collections::BTreeMap;

/// The area's file.
const NAME: &str = "doublewrite";
const MAGIC: &[u8; 8] = b"ATOLLDW1";
const CHECKED_BYTES: usize = 24;

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
    /// The first slot of the batch whose pages are not yet all in place.
    in_flight: Option<u64>,
    buffer: Vec<u8>,
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
        self.slots
    }

    /// Writes a batch of pages in place, whole or not at all as far as a crash is concerned. They are durable after
    /// the next [`DoubleWrite::sync_data`]. The caller has checked the write-ahead rule, and no page is in two batches
    /// at a time.
    ///
    /// # Errors
    /// I/O; [`crate::Error::Halted`] if a sync failed.
    pub fn write(&self, batch: &[(PageId, &[u8])]) -> Result<()> {
        assert!(batch.len() <= self.slots, "a batch fits the area");
        let _one = lock(&self.writing);
        if !self.planted.is(Fault::DoubleWriteSkipped) {
            self.guard(batch)?;
        }
        for (id, page) in batch {
            self.data.write_at(u64::from(id.0) * self.page_bytes as u64, page)?;
        }
        // After an error the batch stays in flight: its slots are not used again before the restart needs them.
        lock(&self.state).in_flight = None;
        Ok(())
    }

    /// Writes copies and syncs them.
    fn guard(&self, batch: &[(PageId, &[u8])]) -> Result<()> {
        let mut state = lock(&self.state);
        while state.next + batch.len() as u64 - state.free_until > self.slots as u64 {
            drop(state);
            self.sync_data()?;
            state = lock(&self.state);
        }
        let first = state.next;
        let slot_bytes = SECTOR_BYTES + self.page_bytes;
        let mut buffer = std::mem::take(&mut state.buffer);
        buffer.clear();
        for (index, (id, page)) in batch.iter().enumerate() {
            assert_eq!(page.len(), self.page_bytes, "pages are of one size");
            buffer.extend_from_slice(&header(first + index as u64, *id, page));
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
        state.next = first + batch.len() as u64;
        state.in_flight = Some(state.in_flight.unwrap_or(first));
        drop(state);
        self.area.sync()
    }

    /// Makes every page written in place so far durable, and so the slots of those before it free.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if the sync failed.
    pub fn sync_data(&self) -> Result<()> {
        let finished = {
            let state = lock(&self.state);
            state.in_flight.unwrap_or(state.next)
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
    let mut header = [0; SECTOR_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&sequence.to_le_bytes());
    header[16..20].copy_from_slice(&id.0.to_le_bytes());
    header[20..24].copy_from_slice(&crc32c::crc32c(page).to_le_bytes());
    let crc = crc32c::crc32c(&header[..CHECKED_BYTES]);
    header[24..28].copy_from_slice(&crc.to_le_bytes());
    header
}

/// Sequence, page and checksum of the page, if the slot's header is whole.
fn parse(slot: &[u8]) -> Option<(u64, PageId, u32)> {
    let half = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
    let whole = &slot[..8] == MAGIC && half(24) == crc32c::crc32c(&slot[..CHECKED_BYTES]);
    let sequence = u64::from(half(8)) | u64::from(half(12)) << 32;
    whole.then(|| (sequence, PageId(half(16)), half(20)))
}

#[cfg(test)]
mod tests {
    use super::DoubleWrite;
    use crate::device::faulty::{FaultSchedule, FaultyDevice};
    use crate::device::{Device, File};
    use crate::planted::{Fault, Planted};
    use crate::sync::Arc;
    use crate::{PageId, Result};

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
        let guard = DoubleWrite::open(device, Arc::clone(&data), PAGE, 8, planted)?;
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

    #[test]
    fn planted_without_the_area_pages_are_torn() {
        assert!(torn_after_crashes(Planted::new(Fault::DoubleWriteSkipped), 100) > 0);
    }
}
