//! The simulation bites: with any of these faults planted, some of the first seeds complain.

use crate::complaint;
use crate::world::Faults;
use txn::simulation::{StorageFault, StoragePlanted};
use txn::{Fault, Planted};

/// How many seeds a fault may stay unnoticed for.
const SEEDS: u64 = 400;

/// The first seed that complains, and what of.
fn noticed(faults: Faults) -> (u64, String) {
    let found = (0..SEEDS).find_map(|seed| Some((seed, complaint(seed, faults)?)));
    found.unwrap_or_else(|| panic!("{faults:?} went unnoticed"))
}

fn storage(fault: StorageFault) -> (u64, String) {
    noticed(Faults { storage: StoragePlanted::new(fault), ..Faults::default() })
}

fn txn(fault: Fault) -> (u64, String) {
    noticed(Faults { txn: Planted::new(fault), ..Faults::default() })
}

#[test]
fn a_log_that_is_not_synced() {
    eprintln!("{:?}", storage(StorageFault::NoLogSync));
}

#[test]
fn an_answer_before_the_sync() {
    eprintln!("{:?}", storage(StorageFault::AnswerBeforeSync));
}

#[test]
fn a_torn_tail_that_is_accepted() {
    eprintln!("{:?}", storage(StorageFault::TornTailAccepted));
}

#[test]
fn a_double_write_that_is_skipped() {
    eprintln!("{:?}", storage(StorageFault::DoubleWriteSkipped));
}

#[test]
fn a_redo_point_one_record_late() {
    eprintln!("{:?}", storage(StorageFault::RedoPointLate));
}

#[test]
fn a_lock_released_before_the_apply() {
    eprintln!("{:?}", txn(Fault::ReleaseBeforeApply));
}

#[test]
fn an_apply_before_the_log() {
    eprintln!("{:?}", txn(Fault::ApplyBeforeLog));
}

#[test]
fn slots_read_before_the_tail() {
    eprintln!("{:?}", txn(Fault::SlotsBeforeTail));
}

#[test]
fn a_write_that_is_logged_and_not_applied() {
    eprintln!("{:?}", txn(Fault::WriteLost));
}

#[test]
fn an_index_entry_that_is_not_written() {
    eprintln!("{:?}", txn(Fault::IndexEntryNotWritten));
}

#[test]
fn a_trigger_that_is_not_fired() {
    eprintln!("{:?}", txn(Fault::TriggerNotFired));
}

/// Noticed where indexes are made anew most of the time, and read by.
#[test]
fn a_plan_that_is_not_looked_at_again() {
    let txn = Planted::new(Fault::PlanNotLookedAtAgain);
    eprintln!("{:?}", noticed(Faults { txn, remakes: true, ..Faults::default() }));
}

#[test]
fn a_delta_that_is_cut_short() {
    eprintln!("{:?}", txn(Fault::DeltaCutShort));
}

/// The same without the fault.
#[test]
fn readers_of_indexes_that_are_made_anew_see_every_row() {
    for seed in 0..12 {
        assert_eq!(complaint(seed, Faults { remakes: true, ..Faults::default() }), None);
    }
}
