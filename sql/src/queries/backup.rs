//! `pg_backup_start` and `pg_backup_stop` (manual, sections 9.27.3 and 26.3.3): between the two the directory may be copied.
//!
//! A backup is its session's: it goes on beyond the transaction that has begun it, and ends with the session. Every
//! checkpoint is a fast one.

use super::Call;
use crate::error::{Result, Severity, SqlError};
use crate::sqlstate::SqlState;
use crate::types::datetime::output::write_timestamp;
use crate::types::datetime::zone::Zone;
use crate::types::{Datum, ValueSettings};
use std::sync::Arc;
use txn::{Backup, Label, Lsn, Micros, WaitEvent};

/// `pg_backup_stop`.
const BACKUP_STOP: u32 = 2739;
/// The longest label and one (`MAXPGPATH`).
const LABEL_BYTES_MAX: usize = 1024;
/// How long to wait before it is looked again what the archive has.
const LOOK_AGAIN: Micros = Micros(20_000);
/// When it is said that the archive is waited for, and first that it is waited for too long.
const SAID_AFTER: Micros = Micros(5_000_000);
const WARNED_AFTER: Micros = Micros(60_000_000);

/// A backup that a session has begun.
#[derive(Debug)]
pub struct SessionBackup {
    backup: Backup,
    label: String,
}

/// What is logged of a session that ends with a backup running.
pub(crate) fn aborted() -> SqlError {
    let message = "aborting backup due to backend exiting before pg_backup_stop was called";
    SqlError::warning(SqlState::WARNING, message).severity(Severity::Warning)
}

fn not_in_state(message: &str) -> SqlError {
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// `pg_backup_start`.
    pub(super) fn start_backup(&self) -> Result<Lsn> {
        let kept = self.session.engine.backup().ok_or_else(|| {
            SqlError::unsupported("pg_backup_start outside of a session's statement is")
        })?;
        if kept.borrow().is_some() {
            return Err(not_in_state("a backup is already in progress in this session"));
        }
        let (level, zone) = self.session.settings.read(|now| {
            (Arc::<str>::from(&*now.text("wal_level")), Zone::named(&now.text("log_timezone")))
        });
        if &*level == "minimal" {
            return Err(not_in_state("WAL level not sufficient for making an online backup")
                .hint("wal_level must be set to \"replica\" or \"logical\" at server start."));
        }
        let name = self.str(0);
        if name.len() > LABEL_BYTES_MAX {
            let message = format!("backup label too long (max {LABEL_BYTES_MAX} bytes)");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        let manager = self.session.catalog.manager();
        let backup = manager.begin_backup()?;
        let log = manager.data().log();
        let label =
            Label { start: backup.start(), begin: backup.begin(), timeline: log.timeline() };
        // Where the redo point is the beginning of a segment, that one.
        let (file, _) = log.place_of(Lsn(backup.start().0 + 1));
        let label = label.text(&file, &label_time(manager.environment().clock.wall(), zone), name);
        let start = backup.start();
        *kept.borrow_mut() = Some(Box::new(SessionBackup { backup, label }));
        Ok(start)
    }

    /// `pg_backup_stop`.
    pub(super) fn stop_backup(&self) -> Result<Datum<'a>> {
        let running = self.session.engine.backup().and_then(|kept| kept.borrow_mut().take());
        let Some(running) = running else {
            return Err(
                not_in_state("backup is not in progress").hint("Did you call pg_backup_start()?")
            );
        };
        let SessionBackup { backup, label } = *running;
        let end = backup.end()?;
        let log = self.session.catalog.manager().data().log();
        let waits = self.flag(0);
        if log.archive_counters().is_some() {
            log.switch()?;
            if waits {
                self.await_archive(end)?;
            }
        } else if waits {
            self.notice(
                "WAL archiving is not enabled; you must ensure that all required WAL segments are \
                 copied through other means to complete the backup",
            );
        }
        let row = [Datum::Int8(end.0.cast_signed()), self.text(&label), Datum::Text("")];
        Ok(self.out_row(BACKUP_STOP, &row))
    }

    fn notice(&self, message: impl Into<String>) {
        self.context.notices.borrow_mut().push(SqlError::notice(message));
    }

    /// Waits until the archive has the log up to `end`.
    fn await_archive(&self, end: Lsn) -> Result<()> {
        let (engine, data) = (self.session.engine, self.session.catalog.manager().data());
        let begun = engine.now();
        let (mut said, mut warn_at) = (false, WARNED_AFTER);
        while data.log().archived().is_some_and(|until| until < end) {
            let now = engine.now();
            if !said && now >= begun.plus(SAID_AFTER) {
                said = true;
                self.notice("base backup done, waiting for required WAL segments to be archived");
            }
            if now >= begun.plus(warn_at) {
                let message = format!(
                    "still waiting for all required WAL segments to be archived ({} seconds elapsed)",
                    warn_at.0 / 1_000_000
                );
                let warning = SqlError::warning(SqlState::WARNING, message).hint(
                    "Check that your archive_command is executing properly.  You can safely cancel \
                     this backup, but the database backup will not be usable without all the WAL \
                     segments.",
                );
                self.context.notices.borrow_mut().push(warning);
                warn_at = Micros(warn_at.0 * 2);
            }
            engine.pause(WaitEvent::Backup, now.plus(LOOK_AGAIN))?;
        }
        self.notice("all required WAL segments have been archived");
        Ok(())
    }
}

/// A moment as labels have it, in the log's time zone.
fn label_time(wall: i64, zone: Option<Zone>) -> String {
    let zone = zone.unwrap_or(Zone::Fixed(0));
    let seconds = wall - wall.rem_euclid(1_000_000);
    let (offset, abbreviation) = zone.at(seconds);
    let mut text = Vec::new();
    let local = seconds + i64::from(offset) * 1_000_000;
    write_timestamp(&ValueSettings::default(), local, &mut text);
    format!("{} {abbreviation}", String::from_utf8_lossy(&text))
}
