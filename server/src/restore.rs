//! Restores a directory before it is opened: where a backup's label or `recovery.signal` lies in it.
//!
//! `restore_command` fetches the archive's files, as PostgreSQL's does: `%f` is the file's name, `%p` where it goes. A status
//! of 0 says that it is there; a file that the archive does not have is told by any other. A signal or a status above 125
//! ends the restore: the command itself could not be run.

use crate::archive::filled_in;
use crate::config::Config;
use crate::start_error::StartError;
use crate::user_files::REFUSED;
use sql::environment::{self, Device, Met, Plan, Restore, RestoreFrom, StorageError};
use sql::restoring::{Restoring, TargetAction};
use std::path::Path;
use std::process::{Command, Stdio};

/// What asks for a standby.
const STANDBY: &str = "standby.signal";

/// The archive, to be read.
struct RestoreCommand<'c> {
    data: &'c Path,
    command: &'c str,
}

impl RestoreFrom for RestoreCommand<'_> {
    fn fetch(&self, name: &str, to: &str) -> Result<bool, StorageError> {
        let command = filled_in(self.command, to, name);
        let failed = |how: String| {
            Err(StorageError::Refused(format!(
                "could not restore file \"{name}\" from archive: {how}"
            )))
        };
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&command).current_dir(self.data).stdin(Stdio::null());
        let status = match shell.status() {
            Ok(status) => status,
            Err(error) => return failed(error.to_string()),
        };
        match status.code() {
            Some(0) if self.data.join(to).is_file() => {
                tracing::info!("restored log file \"{name}\" from archive");
                Ok(true)
            }
            Some(0) => {
                tracing::warn!(
                    "restore_command returned a zero exit status, but \"{to}\" is not there"
                );
                Ok(false)
            }
            Some(code) if code <= 125 => Ok(false),
            Some(code) => failed(format!("child process exited with exit code {code}")),
            None => failed(format!("child process was terminated by {status}")),
        }
    }
}

/// Restores the directory, if that is due. False if the server is to stop here.
///
/// # Errors
/// What is wrong, in words for the operator.
pub fn restore(
    config: &Config,
    data: &Path,
    device: &dyn Device,
    (wall, programs): (i64, bool),
) -> Result<bool, StartError> {
    let said = |error: StorageError| StartError(error.to_string());
    if data.join(STANDBY).exists() {
        return Err(StartError(format!("\"{STANDBY}\": standby mode is not supported")));
    }
    if !environment::is_due(device).map_err(said)? {
        return Ok(true);
    }
    if environment::resume(device).map_err(said)? {
        tracing::info!("archive recovery complete");
        return Ok(true);
    }
    let asked = environment::is_asked_for(device).map_err(said)?;
    let command = config.text("restore_command");
    if asked && command.is_empty() {
        let message = "must specify restore_command when standby mode is not enabled";
        return Err(StartError(message.to_owned()));
    }
    if asked && !programs {
        let message = format!("could not start the restore command \"{command}\": {REFUSED}");
        return Err(StartError(message));
    }
    // Without the signal it is recovery from a backup, out of its own log, to the end.
    let restoring = match asked {
        true => Restoring::read(&config.settings, wall)?,
        false => Restoring::OF_OWN_LOG,
    };
    tracing::info!("{}", restoring.begins());
    let from = RestoreCommand { data, command };
    let mut met = Met::default();
    let mut plan = Plan {
        from: asked.then_some(&from as &dyn RestoreFrom),
        timeline: restoring.timeline,
        must_stop: restoring.must_stop(),
        stop: &mut |record, consistent| {
            restoring.target.stop(restoring.inclusive, record, consistent, &mut met)
        },
    };
    let found = Restore::find(device, &mut plan).map_err(said)?;
    let reached = found.reached();
    if reached {
        tracing::info!("{}", restoring.stops(&met));
        match restoring.action {
            TargetAction::Promote => {}
            TargetAction::Shutdown => {
                tracing::info!("shutdown at recovery target");
                return Ok(false);
            }
            TargetAction::Pause => {
                return Err(StartError(
                    "recovery has reached its target, and recovery_target_action \"pause\" is not \
                     supported\nDETAIL:  A server in recovery takes no connections, so that nobody could \
                     look or have it go on.\nHINT:  Set recovery_target_action to \"promote\" or \
                     \"shutdown\"."
                        .to_owned(),
                ));
            }
        }
    }
    tracing::info!("redo done at {}", found.end());
    tracing::info!("selected new timeline ID: {}", found.timeline());
    found.finish(&restoring.why(&met, reached)).map_err(said)?;
    tracing::info!("archive recovery complete");
    Ok(true)
}
