//! The mark in a directory that is used without a component (`atoll.switched_off`), for measuring.
//!
//! It lies there from before the engine opens until it has been closed in order, behind its last checkpoint. Without a log a
//! crash loses what no page has been written with, and recovery cannot tell: so a directory where the mark was left is not
//! opened again, but where `atoll.unsafe_switches` is on.

use crate::start_error::StartError;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The file in the data directory: what is switched off.
pub const MARK: &str = "atoll.switched_off";

/// Refuses a directory that was left marked, unless that is `allowed`, and marks it where something is switched `off`: true if
/// the mark is this server's, who clears it when all is closed.
///
/// # Errors
/// It was left marked; the file cannot be read or written.
pub fn mark(data: &Path, off: &str, allowed: bool) -> Result<bool, StartError> {
    let failed = |error: io::Error| StartError(format!("could not mark the directory: {error}"));
    match std::fs::read_to_string(data.join(MARK)) {
        Ok(left) if !allowed => {
            return Err(StartError(format!(
                "the database was used without \"{left}\" and was not shut down in order\nDETAIL:  \
                 What had been committed may be lost, in part of a transaction, too.\nHINT:  Restore it \
                 from a backup, or set atoll.unsafe_switches to see what is left."
            )));
        }
        Ok(left) => {
            tracing::warn!(
                "the database was used without \"{left}\" and was not shut down in order"
            );
            return Ok(false);
        }
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        Err(_) if off.is_empty() => return Ok(false),
        Err(_) => {}
    }
    let mut file = File::create(data.join(MARK)).map_err(failed)?;
    file.write_all(off.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    File::open(data).and_then(|data| data.sync_all()).map_err(failed)?;
    Ok(true)
}

/// The directory is whole: its pages have all that was committed.
///
/// # Errors
/// The file cannot be removed.
pub fn clear(data: &Path) -> Result<(), StartError> {
    std::fs::remove_file(data.join(MARK))
        .and_then(|()| File::open(data)?.sync_all())
        .map_err(|error| StartError(format!("could not remove the directory's mark: {error}")))
}
