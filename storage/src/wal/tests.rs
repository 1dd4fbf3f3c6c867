//! The log as a whole: what is acknowledged is durable, what is torn is never accepted, what was lost stays lost.

use super::log::{LogOptions, LogStart};
use super::{Log, LogInsert, RecordKind, SpaceClass};
use crate::chance::Chance;
use crate::control::{Checkpoint, Control, Identity};
use crate::device::Device;
use crate::device::faulty::{FaultSchedule, FaultyDevice};
use crate::environment::{SystemClock, Threads};
use crate::planted::{Fault, Planted};
use crate::simulation::Simulation;
use crate::sync::Arc;
use crate::{Cancel, Environment, Error, Lsn, Result};

fn options() -> LogOptions {
    LogOptions {
        archive: None,
        insert: LogInsert::AtomicAdd,
        ring_bytes: 4096,
        segment_bytes: 16 << 10,
        bytes_max: 256 << 10,
        planted: Planted::default(),
    }
}

fn environment(device: &Arc<FaultyDevice>) -> Environment {
    Environment {
        device: Arc::clone(device) as Arc<dyn Device>,
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(8)),
        seed: 1,
    }
}

fn create(device: &Arc<FaultyDevice>, options: &LogOptions) {
    let shared: Arc<dyn Device> = Arc::clone(device) as Arc<dyn Device>;
    let LogStart { redo, floor, epoch, timeline } = Log::create(&shared, options).unwrap();
    let identity =
        Identity { page_bytes: 4096, log_segment_bytes: options.segment_bytes, system: 1 };
    Control::create(
        &**device,
        identity,
        Checkpoint { redo, floor, epoch, timeline, closed: false },
    )
    .unwrap();
}

fn open(device: &Arc<FaultyDevice>, options: &LogOptions) -> Result<(Control, Log)> {
    open_in(environment(device), device, options)
}

fn open_in(
    env: Environment,
    device: &Arc<FaultyDevice>,
    options: &LogOptions,
) -> Result<(Control, Log)> {
    let control = Control::open(&**device)?;
    let Checkpoint { redo, floor, timeline, .. } = control.latest();
    let epoch = control.begin_epoch()?;
    let log = Log::open(env, options, LogStart { redo, floor, epoch, timeline }, &mut |_| Ok(()))?;
    log.end_recovery();
    Ok((control, log))
}

fn append(log: &Log, payload: &[u8]) -> Result<Lsn> {
    append_as(log, RecordKind(64), payload)
}

fn append_as(log: &Log, kind: RecordKind, payload: &[u8]) -> Result<Lsn> {
    let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64)?;
    Ok(log.claim(&mut space, payload.len()).publish(kind, payload))
}

/// Records by their places.
type Written = Vec<(Lsn, Vec<u8>)>;

fn contents(log: &Log, from: Lsn) -> Result<Written> {
    let mut scan = log.scan(from)?;
    let mut records = Vec::new();
    while let Some(record) = scan.advance()? {
        assert_eq!(record.kind, RecordKind(64));
        records.push((record.lsn, record.payload.to_vec()));
    }
    Ok(records)
}

const ALL: [LogInsert; 4] =
    [LogInsert::Mutex, LogInsert::Decoupled, LogInsert::Consolidated, LogInsert::AtomicAdd];

/// Eight threads insert records of many sizes through a ring that is far too small; all of them read back, before and
/// after a restart, and each thread's in its own order.
#[test]
fn what_eight_threads_insert_reads_back_with_every_algorithm() {
    for insert in ALL {
        let device = Arc::new(FaultyDevice::new(1));
        let options = LogOptions { insert, ..options() };
        create(&device, &options);
        let (_, log) = open(&device, &options).unwrap();
        let written: Vec<Written> = std::thread::scope(|scope| {
            let run = |worker: u64| {
                let log = &log;
                scope.spawn(move || {
                    let mut chance = Chance::new(worker);
                    let mut records = Vec::new();
                    for _ in 0..40 {
                        let payload = vec![worker as u8; chance.below(300) as usize];
                        let lsn = append(log, &payload).unwrap();
                        records.push((lsn, payload));
                        if chance.percent(10) {
                            log.wait_durable(lsn).unwrap();
                            assert!(log.durable() > lsn);
                        }
                    }
                    records
                })
            };
            let workers: Vec<_> = (0..8).map(run).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(written.iter().all(|records| records.windows(2).all(|pair| pair[0].0 < pair[1].0)));
        let mut expected: Vec<_> = written.into_iter().flatten().collect();
        expected.sort_unstable();
        assert_eq!(contents(&log, log.start()).unwrap(), expected);
        let start = log.start();
        log.wait_durable(expected.last().unwrap().0).unwrap();
        drop(log);
        let (_, log) = open(&device, &options).unwrap();
        assert_eq!(contents(&log, start).unwrap(), expected, "{insert:?}");
    }
}

#[test]
fn an_idle_flusher_sleeps_and_an_unasked_record_is_durable_soon() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    let lsn = append(&log, b"nobody waits").unwrap();
    let began = std::time::Instant::now();
    while log.durable() <= lsn {
        assert!(began.elapsed().as_millis() < 2000, "wal_writer_delay is 200 ms");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let operations = device.operations();
    std::thread::sleep(std::time::Duration::from_millis(450));
    assert_eq!((device.operations(), log.flush_counters().syncs), (operations, 1));
}

#[test]
fn who_helps_makes_its_record_durable_and_wakes_who_waits_for_earlier_ones() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let log = &log;
            scope.spawn(move || {
                for n in 0..500 {
                    let lsn = append(log, &[n as u8; 30]).unwrap();
                    if worker > 0 {
                        log.help(lsn);
                    }
                    log.wait_durable(lsn).unwrap();
                    assert!(log.durable() > lsn);
                }
            });
        }
    });
    let counters = log.flush_counters();
    assert!(counters.helped > 0 && counters.helped <= counters.syncs, "{counters:?}");
    assert_eq!(contents(&log, log.start()).unwrap().len(), 1500);
}

#[test]
fn who_helps_does_not_write_past_a_hole() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    let mut space = log.reserve(SpaceClass::Commit, 2, 200).unwrap();
    let first = log.claim(&mut space, 100);
    let second = log.claim(&mut space, 50);
    let lsn = second.publish(RecordKind(64), &[5; 50]);
    log.help(lsn);
    assert!(log.durable() < first.lsn().max(lsn));
    first.void();
    log.wait_durable(lsn).unwrap();
}

#[test]
fn a_dropped_claim_is_void_and_does_not_hold_up_what_follows() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    let mut space = log.reserve(SpaceClass::Commit, 2, 200).unwrap();
    let first = log.claim(&mut space, 100);
    let second = log.claim(&mut space, 50);
    let end = second.end();
    let lsn = second.publish(RecordKind(64), &[5; 50]);
    assert!(lsn >= first.end() && log.durable() < end);
    first.void();
    log.wait_durable(lsn).unwrap();
    assert_eq!(contents(&log, log.start()).unwrap(), [(lsn, vec![5; 50])]);
}

#[test]
fn after_a_failed_sync_nobody_is_answered_and_nothing_hangs() {
    for (write, helps) in [(false, false), (true, false), (false, true), (true, true)] {
        let device = Arc::new(FaultyDevice::new(1));
        create(&device, &options());
        let (_, log) = open(&device, &options()).unwrap();
        let lsn = append(&log, &[1; 100]).unwrap();
        // What is prepared ahead is there: from here on nobody but the flusher touches the device.
        while log.shared.space.pooled() < log.shared.ahead() {
            std::thread::yield_now();
        }
        let at = Some(device.operations());
        let schedule = match write {
            true => FaultSchedule { write_error_at: at, ..Default::default() },
            false => FaultSchedule { sync_error_at: at, ..Default::default() },
        };
        device.set_schedule(schedule);
        if helps {
            log.help(lsn);
        }
        assert!(matches!(log.wait_durable(lsn), Err(Error::Halted(_))));
        assert!(matches!(log.wait_durable(lsn), Err(Error::Halted(_))));
        assert!(matches!(append(&log, &[1; 100]), Err(Error::Halted(_))));
        assert!(matches!(log.scan(log.start()).map(drop), Err(Error::Halted(_))) || !write);
    }
}

#[test]
fn a_full_log_is_found_before_the_claim_and_a_checkpoint_makes_room() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (control, log) = open(&device, &options()).unwrap();
    let log = &log;
    // Somebody takes checkpoints when asked, twice; after that the redo point stays where it is.
    let stop = std::sync::atomic::AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut moved = 0;
            while !stop.load(std::sync::atomic::Ordering::Acquire) {
                let signal = log.checkpoint_signal();
                let env = log.environment();
                let deadline = env.clock.now().plus(crate::Micros(50_000));
                env.wait(crate::WaitEvent::Background, signal.cell(), Some(deadline), None);
                if !signal.take() {
                    continue;
                }
                let tail = log.tail();
                log.wait_durable_end(tail).unwrap();
                let redo = if moved < 2 { tail } else { control.latest().redo };
                moved += 1;
                control.write_point(redo, redo, false).unwrap();
                log.recycle(redo).unwrap();
            }
        });
        let mut written = 0;
        let refused = loop {
            match append(log, &[7; 1000]) {
                Ok(_) => written += 1000,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::Full(_)), "{refused}");
        let system = log.reserve(SpaceClass::System, 1, 1000).map(drop);
        stop.store(true, std::sync::atomic::Ordering::Release);
        system.unwrap();
        written
    });
    assert!(written > 300 << 10, "two checkpoints gave room: {written}");
    let held = device.bytes();
    // Sixteen segments and two for restarts, each behind its header block, and the control file.
    assert!(held <= (16 + 2) * (20 << 10) + (12 << 10), "{held}");
}

#[test]
fn a_wait_for_space_can_be_cancelled() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    let (log, cancel) = (&log, Cancel::new());
    let cancelled = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            loop {
                let space = log.reserve_unless(SpaceClass::Commit, 1, 1000, Some(&cancel))?;
                log.claim(&mut { space }, 1000).void();
            }
        });
        // Nobody takes checkpoints: once one is asked for the worker waits, or is about to.
        while !log.checkpoint_signal().take() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        log.environment().raise(&cancel, 1);
        worker.join().unwrap()
    });
    assert!(matches!(cancelled, Err::<(), _>(Error::Cancelled)), "{cancelled:?}");
}

#[test]
fn a_full_disk_is_found_before_the_claim() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (control, log) = open(&device, &options()).unwrap();
    let capacity = Some(device.bytes() + 30_000);
    device.set_schedule(FaultSchedule { capacity_bytes: capacity, ..Default::default() });
    let log = &log;
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Acquire) {
                std::thread::sleep(std::time::Duration::from_millis(5));
                if log.checkpoint_signal().take() {
                    log.recycle(control.latest().redo).unwrap();
                }
            }
        });
        let mut last = Lsn::ZERO;
        let refused = loop {
            match append(log, &[7; 500]) {
                Ok(lsn) => last = lsn,
                Err(error) => break error,
            }
        };
        stop.store(true, std::sync::atomic::Ordering::Release);
        assert!(matches!(refused, Error::Full(_)), "{refused}");
        log.wait_durable(last).unwrap();
    });
}

/// Writes, waits, checkpoints and crashes, several times over the same disk, inside restarts too. Returns what a user
/// would complain of, if anything. One thread runs at a time and the seed says which, so a seed is a proof.
fn crash_repeatedly(seed: u64, planted: Planted) -> std::result::Result<(), String> {
    Simulation::run(seed, 4, |simulation| crash_in(simulation, seed, planted)).0
}

fn crash_in(
    simulation: &Simulation,
    seed: u64,
    planted: Planted,
) -> std::result::Result<(), String> {
    let mut chance = Chance::new(seed);
    let mut device = simulation.device(FaultyDevice::new(seed));
    let insert = ALL[chance.below(4) as usize];
    let options = LogOptions { insert, planted, ..options() };
    create(&device, &options);
    // What is in the log for certain, and what may be there behind it if it survived.
    let (mut sure, mut maybe) = (Written::new(), Written::new());
    let mut number = 0u64;
    for round in 0..5 {
        let at = 1 + chance.below(if round == 0 { 40 } else { 60 });
        if round < 4 {
            device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
        }
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, seed);
        let opened = match open_in(env, &device, &options) {
            Ok(opened) => Some(opened),
            Err(Error::CorruptLog(what)) => return Err(what),
            Err(_) => None,
        };
        if let Some((control, log)) = &opened {
            let redo = control.latest().redo;
            let found = match contents(log, redo) {
                Ok(found) => found,
                // It prepares segments meanwhile.
                Err(_) if device.is_off() => {
                    drop(opened);
                    device = simulation.device(device.crash(chance.bits()));
                    continue;
                }
                Err(error) => return Err(format!("unreadable: {error}")),
            };
            sure.retain(|(lsn, _)| *lsn >= redo);
            maybe.retain(|(lsn, _)| *lsn >= redo);
            let expected: Vec<_> = sure.iter().chain(&maybe).cloned().collect();
            if !found.starts_with(&sure) {
                return Err(format!("round {round}: acknowledged records are gone or damaged"));
            }
            if !expected.starts_with(&found) {
                return Err(format!("round {round}: records that were never written, or given up"));
            }
            (sure, maybe) = (found, Vec::new());
            for _ in 0..chance.below(40) {
                number += 1;
                let mut payload = vec![number as u8; chance.below(1500) as usize];
                chance.percent(50).then(|| payload.extend(number.to_le_bytes()));
                let Ok(lsn) = append(log, &payload) else { break };
                maybe.push((lsn, payload));
                if chance.percent(30) {
                    if chance.percent(50) {
                        log.help(lsn);
                    }
                    if log.wait_durable(lsn).is_err() {
                        break;
                    }
                    sure.append(&mut maybe);
                }
                if chance.percent(5) {
                    let redo = sure.last().map_or(redo, |(lsn, _)| *lsn);
                    let moved = control.write_point(redo, log.durable(), false);
                    if moved.and_then(|()| log.recycle(redo)).is_err() {
                        break;
                    }
                }
            }
            device.power_off();
        }
        drop(opened);
        device = simulation.device(device.crash(chance.bits()));
    }
    Ok(())
}

#[test]
fn acknowledged_is_durable_and_what_was_lost_stays_lost() {
    for seed in 0..300 {
        if let Err(what) = crash_repeatedly(seed, Planted::default()) {
            panic!("seed {seed}: {what}");
        }
    }
}

/// Each planted fault turns the test above red.
#[test]
fn planted_faults_of_the_log_are_noticed() {
    for fault in [Fault::NoLogSync, Fault::AnswerBeforeSync, Fault::TornTailAccepted] {
        let noticed = (0..300).any(|seed| crash_repeatedly(seed, Planted::new(fault)).is_err());
        assert!(noticed, "{fault:?} went unnoticed");
    }
}

#[test]
fn damage_before_the_durable_end_is_corruption_and_not_a_lost_tail() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (control, log) = open(&device, &options()).unwrap();
    let lsns: Vec<_> = (0..10).map(|value| append(&log, &[value; 100]).unwrap()).collect();
    log.wait_durable(lsns[9]).unwrap();
    control.write_point(lsns[2], log.durable(), false).unwrap();
    let (number, within) = (lsns[5].0 / (16 << 10), lsns[5].0 % (16 << 10));
    drop(log);
    device
        .flip(&super::segment::name(number), super::segment::HEADER_BYTES + within + 40, 4)
        .unwrap();
    let refused = open(&device, &options()).unwrap_err().to_string();
    assert!(refused.contains("a record before that is damaged"), "{refused}");
}

/// Across segments, and where several stand behind one another; what they say is not looked at.
#[test]
fn records_of_a_kind_are_passed_over_by_their_headers() {
    let (device, options) =
        (Arc::new(FaultyDevice::new(1)), LogOptions { ring_bytes: 16 << 10, ..options() });
    create(&device, &options);
    let (_, log) = open(&device, &options).unwrap();
    let (large, mut damaged) = (RecordKind(65), Lsn(0));
    let mut kept = Vec::new();
    for value in 0..40 {
        if value % 5 < 3 {
            damaged = append_as(&log, large, &[value; 7000]).unwrap();
        } else {
            let payload = vec![value; usize::from(value) * 20];
            kept.push((append(&log, &payload).unwrap(), payload));
        }
        log.wait_durable(log.tail()).unwrap();
    }
    let segment = super::segment::name(damaged.0 / options.segment_bytes);
    let within = super::segment::HEADER_BYTES + damaged.0 % options.segment_bytes;
    device.flip(&segment, within + 600, 4).unwrap();
    let mut scan = log.scan(kept[0].0).unwrap().passing_over(large);
    for (lsn, payload) in &kept {
        let found = scan.advance().unwrap().expect("a record");
        assert_eq!((found.lsn, found.kind, found.payload), (*lsn, RecordKind(64), &payload[..]));
    }
    assert!(scan.advance().unwrap().is_none());
    let mut all = log.scan(kept[0].0).unwrap();
    assert!(
        std::iter::repeat_with(|| all.advance().map(|_| ())).take(40).any(|read| read.is_err())
    );
}

/// The bytes of a small log, as the first version of the format has them. If this changes, the format has.
#[test]
fn the_first_segment_is_as_it_always_was() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    append(&log, b"first").unwrap();
    let mut space = log.reserve(SpaceClass::System, 1, 20).unwrap();
    log.claim(&mut space, 20).void();
    let last = append(&log, &[0xAB; 24]).unwrap();
    log.wait_durable(last).unwrap();
    let file = device.open(&super::segment::name(1), false).unwrap();
    let mut found = String::new();
    for (offset, bytes) in [(0, 48), (super::segment::HEADER_BYTES, 128)] {
        let mut block = vec![0; bytes];
        file.read_at(offset, &mut block).unwrap();
        for (index, row) in block.chunks(16).enumerate() {
            let row: Vec<_> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            found += &format!("{:05x}  {}\n", offset as usize + index * 16, row.join(" "));
        }
    }
    assert_eq!(found, include_str!("../../scripts/wal/first_segment.txt"), "found:\n{found}");
}

#[test]
fn an_lsn_past_the_tail_means_everything_so_far() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (_, log) = open(&device, &options()).unwrap();
    append(&log, &[1; 10]).unwrap();
    log.wait_durable(Lsn::MAX).unwrap();
    assert_eq!(log.durable(), log.tail());
}

/// Fuzzing by seeded mutation: whatever stands behind the last whole record, the end of the log is found there, and
/// nothing panics.
#[test]
fn a_mutated_tail_ends_the_log_at_a_record_that_was_written() {
    let device = Arc::new(FaultyDevice::new(1));
    create(&device, &options());
    let (control, log) = open(&device, &options()).unwrap();
    let start = log.start();
    let written: Vec<_> = (0..30u8)
        .map(|value| {
            let payload = vec![value; usize::from(value) * 11];
            (append(&log, &payload).unwrap(), payload)
        })
        .collect();
    let tail = log.tail();
    log.wait_durable(written[29].0).unwrap();
    let start_of_segment = start.0 - start.0 % (16 << 10);
    let name = super::segment::name(start_of_segment / (16 << 10));
    drop((control, log));
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let mut chance = Chance::new(seed);
        let device = Arc::new(device.crash(0));
        let file = device.open(&name, false).unwrap();
        let begin = chance.below(tail.0 - start_of_segment);
        let mut garbage = vec![0; 1 + chance.below(200) as usize];
        for byte in &mut garbage {
            *byte = if chance.percent(30) { 0 } else { chance.bits() as u8 };
        }
        if chance.percent(30) {
            // A piece of the log itself, at the wrong place.
            file.read_at(super::segment::HEADER_BYTES + chance.below(1000) / 8 * 8, &mut garbage)
                .unwrap();
        }
        let room = (16 << 10) - begin as usize;
        garbage.truncate(room);
        file.write_at(super::segment::HEADER_BYTES + begin, &garbage).unwrap();
        file.sync().unwrap();
        let (_, log) = open(&device, &options()).unwrap();
        let found = contents(&log, start).unwrap();
        assert!(written.starts_with(&found), "seed {seed}");
        let damaged = start_of_segment + begin;
        let whole = written
            .iter()
            .filter(|(lsn, payload)| lsn.0 + super::frame::span(payload.len()) <= damaged);
        assert!(found.len() >= whole.count(), "seed {seed}");
        lengths.insert(found.len());
    }
    assert!(lengths.len() > 15, "{lengths:?}");
}
