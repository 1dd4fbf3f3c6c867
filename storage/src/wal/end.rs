//! The end of the log, found after whatever happened.

use super::log::LogStart;
use super::scan::{LogRecord, LogScan, Until};
use super::segment::{self, Epoch, Files};
use crate::device::Device;
use crate::planted::Planted;
use crate::{Error, Lsn, Result};

/// What is left of the log after whatever happened.
pub(crate) struct Found {
    /// The epochs from the redo point on.
    pub(crate) epochs: Vec<Epoch>,
    /// The segments that have a header of their own, older and newer ones too.
    pub(crate) files: Files,
    /// The end of the last whole record.
    pub(crate) end: Lsn,
    /// Records between the redo point and the end.
    pub(crate) records: u64,
}

/// Reads the log from the redo point to its end, and checks that the end is not before what was known to be durable. `each`
/// sees every record on the way.
pub(crate) fn find_end(
    device: &dyn Device,
    bytes: u64,
    start: LogStart,
    planted: Planted,
    each: &mut dyn FnMut(&LogRecord<'_>) -> Result<()>,
) -> Result<Found> {
    let survey = segment::survey(device, bytes)?;
    let redo_segment = start.redo.0 / bytes;
    let mut epochs: Vec<Epoch> = Vec::new();
    match survey.get(&redo_segment) {
        Some((epoch, _)) => epochs.push(*epoch),
        // After a clean end exactly at the end of a segment the next one need not have been prepared.
        None if start.redo == start.floor && start.redo.0.is_multiple_of(bytes) => {
            let number = start.epoch.saturating_sub(1);
            epochs.push(Epoch { number, start: start.redo, previous_end: start.redo });
        }
        None => {
            let name = segment::name(redo_segment);
            return Err(Error::CorruptLog(format!("log segment \"{name}\" is missing")));
        }
    }
    for (number, (epoch, _)) in survey.range(redo_segment + 1..) {
        let newest = epochs.last().expect("the epoch of the redo point").number;
        if epoch.start.0 == number * bytes && epoch.number > newest {
            epochs.push(*epoch);
        }
    }
    let files: Files = survey.into_iter().map(|(number, (_, file))| (number, file)).collect();
    let mut scan =
        LogScan::new(files.clone(), bytes, epochs.clone(), start.redo, Until::FirstGap, planted);
    let mut records = 0;
    while let Some(record) = scan.advance()? {
        records += 1;
        each(&record)?;
    }
    let end = scan.position();
    if end < start.floor {
        return Err(Error::CorruptLog(format!(
            "the log ends at {end}, but it was durable up to {}: a record before that is damaged",
            start.floor
        )));
    }
    Ok(Found { epochs, files, end, records })
}
