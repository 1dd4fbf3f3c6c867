//! Schemes under which no waits for keys, ranges, rows or partitions make a cycle: whatever is done at once, by seed, nobody is told of
//! a deadlock, and everybody ends.

use super::*;
use crate::scheme::locking::OnConflict;
use crate::scheme::timestamp::Overwritten;
use crate::{ColumnEnd, FirstColumn, Placement};
use std::sync::atomic::Ordering;
use storage::chance::Chance;

const THREADS: u32 = 6;
const TRANSACTIONS: u32 = 30;
const KEYS: u64 = 6;
const SEEDS: u64 = 4;

/// One thing that a transaction does: reads, writes, locks in every mode and in every way to wait, ranges, savepoints.
fn step(txn: &mut Transaction, world: &World, chance: &mut Chance) -> Result<()> {
    let view = txn.begin_statement()?;
    let number = 2 * chance.below(KEYS) as u16;
    let (name, mut found) = (key(number), RecordBuffer::default());
    let policy = match chance.below(6) {
        0 => WaitPolicy::Error,
        1 => WaitPolicy::Skip,
        _ => WaitPolicy::Block,
    };
    let mode = RowLock::ALL[chance.below(RowLock::ALL.len() as u64) as usize];
    match chance.below(8) {
        0 | 1 => drop(txn.get(&view, &world.tree, &name, &mut found)?),
        2 => {
            let high = key(number + 3);
            let range = KeyRange { low: Bound::Included(&name), high: Bound::Excluded(&high) };
            let way = [Direction::Forward, Direction::Backward][chance.below(2) as usize];
            let view = txn.view_to_lock(&view, policy);
            let mut scan = txn.scan_to_lock(&view, &world.tree, range, way, policy)?;
            while scan.advance(txn)?.is_some() {}
        }
        3 => {
            let savepoint = txn.savepoint();
            let done = step(txn, world, chance);
            if !matches!(done, Ok(()) | Err(Error::LockNotAvailable { timeout: false })) {
                return done;
            }
            txn.rollback_to(savepoint);
        }
        4 => {
            if txn.get_to_lock(&view, &world.tree, &name, (mode, policy), &mut found)? {
                txn.lock_row(&view, &world.tree, &name, mode, policy, &mut found)?;
            }
        }
        5 => drop(txn.lock_row(&view, &world.tree, &name, mode, policy, &mut found)?),
        _ => {
            txn.lock_key(&world.tree, &name, RowLock::Update, WaitPolicy::Block, &mut found)?;
            txn.put(&world.tree, &name, &chance.below(1000).to_be_bytes())?;
        }
    }
    Ok(())
}

#[test]
fn nobody_is_told_of_a_deadlock_where_there_can_be_none() {
    for scheme in [
        SchemeKind::Locking(OnConflict::NoWait),
        SchemeKind::Locking(OnConflict::WaitDie),
        SchemeKind::Timestamp(Overwritten::Refused),
        SchemeKind::Timestamp(Overwritten::Older),
        SchemeKind::Hstore,
    ] {
        for seed in 0..SEEDS {
            let world = filled(small());
            let column = FirstColumn { marker: 0, end: ColumnEnd::Fixed(2) };
            world.manager.place(world.tree.id(), Placement::ByKey(column));
            std::thread::scope(|scope| {
                for pid in 1..=THREADS {
                    let world = &world;
                    scope.spawn(move || {
                        let wait = Arc::new(SessionWait::new(pid));
                        wait.deadlock_timeout_ms.store(1, Ordering::Relaxed);
                        let mut chance = Chance::new(seed * u64::from(THREADS) + u64::from(pid));
                        for _ in 0..TRANSACTIONS {
                            let after = world.manager.visible();
                            let begin = Begin { after, scheme, database: 5, ..Begin::default() };
                            let mut txn = world.manager.begin(begin, &wait);
                            let steps = 1 + chance.below(6);
                            let done =
                                (0..steps).try_for_each(|_| step(&mut txn, world, &mut chance));
                            match done.and_then(|()| txn.commit(&mut |_| ())) {
                                Ok(ended) => world.answer(ended),
                                Err(
                                    Error::Conflict(_) | Error::LockNotAvailable { timeout: false },
                                ) => {}
                                Err(error) => panic!("{scheme:?}, seed {seed}: {error:?}"),
                            }
                        }
                    });
                }
            });
            assert!(world.manager.locks().is_empty() && world.manager.siread_locks().is_empty());
        }
    }
}
