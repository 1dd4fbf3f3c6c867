//! Archiving: every segment is handed to the operator's archive, in order, before it is recycled.
//!
//! After PostgreSQL 15's continuous archiving (manual, section 26.3.1): a segment goes there when it is full and durable,
//! or when a restart has ended it; what fails is tried again until it succeeds, and meanwhile the log grows past its
//! limit, until the disk is full. Instead of a status file for each segment there is one number, written and synced
//! after each segment: those before it are in the archive. A crash between the two, or a number that cannot be read,
//! hands a segment over twice, as PostgreSQL's documentation warns of.
//!
//! In the archive a segment's name begins with the timeline (`restore.rs`), so that a server that was restored replaces
//! nothing there. The history of the timeline goes there before its segments, and is removed then.
//!
//! ```text
//! log/archived:  0 "ATOLLAR1"   8 u64 the first segment that is not archived   16 u32 crc32c of bytes 0..16
//! ```

use super::log::Shared;
use super::segment;
use crate::device::{Device, SECTOR_BYTES};
use crate::environment::{Environment, WaitCell, WaitEvent};
use crate::id::Micros;
use crate::sector::{Fields, Sector};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Lsn, Result};

/// The file of the number.
const NAME: &str = "log/archived";
const MAGIC: &[u8; 8] = b"ATOLLAR1";
/// How long the archiver rests after a failure, and after every so many in a row.
const RETRY: Micros = Micros(1_000_000);
const RETRIES: u64 = 3;
const LATER: Micros = Micros(60_000_000);

/// Where full segments go.
pub trait Archive: Send + Sync + std::fmt::Debug {
    /// Copies a segment, which lies on the device under `path`, to the archive, where it is `name`. Called by one thread,
    /// which may take its time.
    fn archive(&self, path: &str, name: &str) -> Archived;
    /// The log is being closed: ends what is under way, as a failure.
    fn stop(&self);
}

/// How an attempt to archive a segment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    /// The archive has it.
    Done,
    /// The archive may not have it.
    Failed,
    /// Nobody has said yet where it should go.
    Unconfigured,
}

/// What the archiver has done since the log was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveCounters {
    /// Segments archived.
    pub archived: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Full segments that are not in the archive yet.
    pub waiting: u64,
    /// The segment that was archived last, and when, by the wall clock.
    pub last_archived: Option<(String, i64)>,
    /// The segment whose archiving failed last, and when.
    pub last_failed: Option<(String, i64)>,
}

/// The log's side of it.
pub(super) struct Archiving {
    to: Arc<dyn Archive>,
    device: Arc<dyn Device>,
    timeline: u32,
    /// Segments before this number are in the archive.
    next: AtomicU64,
    cell: Arc<WaitCell>,
    done: Mutex<Done, { rank::CHECKPOINTS }>,
}

/// What has been done since the log was opened.
#[derive(Debug, Default)]
struct Done {
    archived: u64,
    failed: u64,
    last_archived: Option<(u64, i64)>,
    last_failed: Option<(u64, i64)>,
}

impl std::fmt::Debug for Archiving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archiving").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Archiving {
    /// Finds out what has been archived: as far as is known, and else nothing of what is there.
    pub(super) fn open(
        device: &Arc<dyn Device>,
        to: Arc<dyn Archive>,
        timeline: u32,
    ) -> Result<Archiving> {
        let next = AtomicU64::new(read(&**device)?.unwrap_or(0));
        Ok(Archiving {
            to,
            device: Arc::clone(device),
            timeline,
            next,
            cell: Arc::default(),
            done: Mutex::default(),
        })
    }

    /// Segments from this one on are still wanted.
    pub(super) fn next(&self) -> u64 {
        // Acquire: pairs with Release in `note`; what is let go of has been archived.
        self.next.load(Ordering::Acquire)
    }

    /// There may be something to do.
    pub(super) fn wake(&self, env: &Environment) {
        env.wake(&self.cell);
    }

    pub(super) fn stop(&self, env: &Environment) {
        self.to.stop();
        self.wake(env);
    }

    pub(super) fn counters(&self, log: &Shared) -> ArchiveCounters {
        let full = log.flush.durable() / log.segments.bytes();
        let first = self.next().max(log.segments.range().0);
        let done = lock(&self.done);
        let named = |(number, at): (u64, i64)| (self.name(number), at);
        ArchiveCounters {
            archived: done.archived,
            failed: done.failed,
            waiting: full.saturating_sub(first),
            last_archived: done.last_archived.map(named),
            last_failed: done.last_failed.map(named),
        }
    }

    /// A segment as the archive calls it.
    fn name(&self, number: u64) -> String {
        segment::archived_name(self.timeline, number)
    }

    /// The oldest full segment that is not in the archive.
    fn due(&self, log: &Shared) -> Option<u64> {
        let full = log.flush.durable() / log.segments.bytes();
        log.segments.oldest_from(self.next()).filter(|number| *number < full)
    }

    /// Has the archive take the timeline's history, if it lies here, and a segment.
    fn hand_over(&self, number: u64) -> Archived {
        let history = history_path(self.timeline);
        let listed = self.device.list(&history);
        if listed.is_ok_and(|names| names.contains(&history)) {
            let name = history.rsplit('/').next().unwrap_or_default();
            let taken = self.to.archive(&history, name);
            let removed = || self.device.remove(&history).and_then(|()| self.device.sync_names());
            if taken != Archived::Done || removed().is_err() {
                return if taken == Archived::Done { Archived::Failed } else { taken };
            }
        }
        self.to.archive(&segment::name(number), &self.name(number))
    }

    /// Writes down that everything up to `number` is in the archive.
    fn note(&self, number: u64, now: i64) -> Result<()> {
        write(&*self.device, number + 1)?;
        let mut done = lock(&self.done);
        done.archived += 1;
        done.last_archived = Some((number, now));
        drop(done);
        self.next.store(number + 1, Ordering::Release);
        Ok(())
    }
}

/// Where a timeline's history lies until the archive has it.
pub(crate) fn history_path(timeline: u32) -> String {
    format!("log/{timeline:08X}.history")
}

/// Writes the number of the first segment that is not archived, durably.
pub(crate) fn write(device: &dyn Device, number: u64) -> Result<()> {
    let file = device.open(NAME, true)?;
    if file.len()? < SECTOR_BYTES as u64 {
        file.set_len(SECTOR_BYTES as u64)?;
    }
    file.write_at(0, &Sector::new(MAGIC).word(number).seal())?;
    file.sync()?;
    device.sync_names()
}

/// The number that was written down, if there is one.
fn read(device: &dyn Device) -> Result<Option<u64>> {
    if !device.list(NAME)?.iter().any(|name| name == NAME) {
        return Ok(None);
    }
    let file = device.open(NAME, false)?;
    if file.len()? < SECTOR_BYTES as u64 {
        return Ok(None);
    }
    let mut sector = [0; SECTOR_BYTES];
    file.read_at(0, &mut sector)?;
    Ok(Fields::open(&sector, MAGIC, size_of::<u64>()).map(|mut fields| fields.word()))
}

/// The body of the archiver's thread.
pub(super) fn run(log: &Shared) {
    let Some(archiving) = &log.archiving else { return };
    let mut failures = 0;
    while !log.stopping() && log.flush.alive().is_ok() {
        let rest = match archiving.due(log) {
            None => None,
            Some(number) => {
                match archiving.hand_over(number) {
                    Archived::Done => {
                        match log.halt_if_unsynced(archiving.note(number, log.env.clock.wall())) {
                            Ok(()) => {
                                failures = 0;
                                // Errors are those of a full disk: the next checkpoint tries again.
                                let _ = log.let_go(Lsn(log.redo()));
                                continue;
                            }
                            Err(_) => Some(RETRY),
                        }
                    }
                    Archived::Failed => {
                        let mut done = lock(&archiving.done);
                        done.failed += 1;
                        done.last_failed = Some((number, log.env.clock.wall()));
                        drop(done);
                        failures += 1;
                        Some(if failures % RETRIES == 0 { LATER } else { RETRY })
                    }
                    Archived::Unconfigured => Some(LATER),
                }
            }
        };
        if log.stopping() {
            return;
        }
        let deadline = rest.map(|rest| log.env.clock.now().plus(rest));
        log.env.wait(WaitEvent::Background, &archiving.cell, deadline, None);
    }
}

#[cfg(test)]
mod tests {
    use super::{Archive, Archived};
    use crate::component::{DataComponent, Options};
    use crate::device::faulty::FaultyDevice;
    use crate::device::{Device, SECTOR_BYTES};
    use crate::environment::{Environment, SystemClock, Threads};
    use crate::sync::{Arc, Mutex, lock};
    use crate::wal::{RecordKind, SpaceClass};
    use std::time::{Duration, Instant};

    const SEGMENT: u64 = 64 << 10;

    /// Keeps what it is given, once it is open.
    #[derive(Debug)]
    struct Shelf {
        device: Arc<FaultyDevice>,
        open: Mutex<bool>,
        kept: Mutex<Vec<(String, Vec<u8>)>>,
    }

    impl Archive for Shelf {
        fn archive(&self, path: &str, name: &str) -> Archived {
            if !*lock(&self.open) {
                return Archived::Failed;
            }
            let file = self.device.open(path, false).expect("a segment is not recycled before");
            let mut bytes = vec![0; file.len().unwrap() as usize];
            file.read_at(0, &mut bytes).unwrap();
            lock(&self.kept).push((name.to_owned(), bytes));
            Archived::Done
        }

        fn stop(&self) {}
    }

    fn options(shelf: &Arc<Shelf>) -> Options {
        Options {
            pool_frames: 64,
            page_bytes: 4096,
            log_ring_bytes: 64 << 10,
            log_segment_bytes: SEGMENT,
            log_bytes_max: 4 * SEGMENT,
            archive: Some(Arc::<Shelf>::clone(shelf)),
            ..Options::default()
        }
    }

    fn environment(device: &Arc<FaultyDevice>) -> Environment {
        Environment {
            device: Arc::<FaultyDevice>::clone(device),
            clock: Arc::new(SystemClock::new()),
            scheduler: Arc::new(Threads::new(2)),
            seed: 1,
        }
    }

    /// Fills `segments` segments, with a checkpoint for each.
    fn fill(data: &DataComponent, segments: u64) {
        let end = data.log().tail().0 + segments * SEGMENT;
        let payload = [7; 1000];
        while data.log().tail().0 < end {
            for _ in 0..64 {
                let mut space = data.log().reserve(SpaceClass::Commit, 1, 1000).unwrap();
                data.log().claim(&mut space, 1000).publish(RecordKind::FIRST_LOGICAL, &payload);
            }
            data.log().wait_durable_end(data.log().tail()).unwrap();
            data.checkpoint_all(&mut |tail| tail).unwrap();
        }
    }

    fn wait(what: &str, mut done: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn segments_stay_until_the_archive_has_them_and_go_there_once() {
        let device = Arc::new(FaultyDevice::new(1));
        let shelf = Arc::new(Shelf {
            device: Arc::clone(&device),
            open: Mutex::new(false),
            kept: Mutex::default(),
        });
        let env = environment(&device);
        DataComponent::create(&env, &options(&shelf)).unwrap();
        let data = DataComponent::open(env, options(&shelf)).unwrap().finish(&|_| true).unwrap();
        let first = data.log().start().0 / SEGMENT;
        // More than the log's limit, which is no limit to what only the archive wants.
        fill(&data, 7);
        wait("the archive is tried", || data.log().archive_counters().unwrap().failed > 0);
        let counted = data.log().archive_counters().unwrap();
        assert_eq!(counted.archived, 0, "{counted:?}");
        assert!(counted.waiting >= 7, "{counted:?}");
        assert!(data.log().oldest().0 / SEGMENT <= first, "nothing has gone");
        let before = device.list("log/").unwrap().len();
        *lock(&shelf.open) = true;
        data.log().wake_archiver();
        wait("the archive is open", || data.log().archive_counters().unwrap().waiting == 0);
        // What had only waited for the archive has gone, without another checkpoint.
        wait("segments go", || device.list("log/").unwrap().len() < before);
        data.close(&mut |tail| tail, true).unwrap();
        drop(data);
        let count = lock(&shelf.kept).len();
        // A restart ends the segment that was being written, and begins with the next one.
        let after = Arc::new(device.crash(1));
        let again = Arc::new(Shelf {
            device: Arc::clone(&after),
            open: Mutex::new(true),
            kept: Mutex::default(),
        });
        let env = environment(&after);
        let data = DataComponent::open(env, options(&again)).unwrap().finish(&|_| true).unwrap();
        wait("the ended segment", || lock(&again.kept).len() == 1);
        data.close(&mut |tail| tail, true).unwrap();
        let (kept, more) = (lock(&shelf.kept), lock(&again.kept));
        let names = kept.iter().chain(more.iter()).map(|(name, bytes)| {
            let number = u64::from_str_radix(&name[8..], 16).unwrap();
            assert_eq!(&name[..8], "00000001");
            assert_eq!(bytes[8..16], (number * SEGMENT).to_le_bytes(), "its own header");
            assert!(bytes.len() > SECTOR_BYTES);
            number
        });
        let names: Vec<u64> = names.collect();
        let expected: Vec<u64> = (names[0]..names[0] + count as u64 + 1).collect();
        assert_eq!(names, expected, "each once, in order");
    }
}
