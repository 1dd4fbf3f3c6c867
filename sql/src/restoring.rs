//! What the settings say of a restore (PostgreSQL 15 manual, section 20.5.5 and 20.5.6).

use crate::error::{Result, SqlError};
use crate::settings::ServerSettings;
use crate::sqlstate::SqlState;
use crate::types::ValueSettings;
use crate::types::datetime::output::write_timestamptz;
use crate::types::datetime::parse::{Now, read_timestamptz};
use txn::restore::Met;
use txn::{Lsn, RestoreTarget, TargetTimeline};

/// What comes when the target has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetAction {
    /// The server waits to be told (which it cannot, without sessions).
    Pause,
    /// It begins to serve.
    Promote,
    /// It stops, and a later start goes on from here.
    Shutdown,
}

/// How far a log is restored, and what comes then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restoring {
    /// Where it ends.
    pub target: RestoreTarget,
    /// Whether what is at the target is still there.
    pub inclusive: bool,
    /// Which timeline is followed.
    pub timeline: TargetTimeline,
    /// What comes then.
    pub action: TargetAction,
}

const TARGETS: [&str; 5] = [
    "recovery_target",
    "recovery_target_lsn",
    "recovery_target_name",
    "recovery_target_time",
    "recovery_target_xid",
];

fn invalid(name: &str, value: &str) -> SqlError {
    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

impl Restoring {
    /// All of the log that lies in the directory itself.
    pub const OF_OWN_LOG: Restoring = Restoring {
        target: RestoreTarget::End,
        inclusive: true,
        timeline: TargetTimeline::Current,
        action: TargetAction::Promote,
    };

    /// Whether the log has to come to its target: all pages are of one moment wherever it may end.
    #[must_use]
    pub fn must_stop(&self) -> bool {
        !matches!(self.target, RestoreTarget::End | RestoreTarget::Immediate)
    }

    /// What `settings` say, at this time.
    ///
    /// # Errors
    /// 22023.
    pub fn read(settings: &ServerSettings, wall: i64) -> Result<Restoring> {
        let text = |name: &str| settings.show(name).unwrap_or_default();
        let mut given = TARGETS.iter().map(|name| (*name, text(name)));
        let first = given.find(|(_, value)| !value.is_empty());
        if given.any(|(_, value)| !value.is_empty()) {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "multiple recovery targets specified",
            )
            .detail(
                "At most one of recovery_target, recovery_target_lsn, recovery_target_name, \
                 recovery_target_time, recovery_target_xid may be set.",
            ));
        }
        let target = match &first {
            None => RestoreTarget::End,
            Some((name, value)) => target(name, value, &text("TimeZone"), wall)?,
        };
        let timeline = match &*text("recovery_target_timeline") {
            "" | "latest" => TargetTimeline::Latest,
            "current" => TargetTimeline::Current,
            number => match number.parse() {
                Ok(number) => TargetTimeline::Number(number),
                Err(_) => return Err(invalid("recovery_target_timeline", number)),
            },
        };
        let action = match &*text("recovery_target_action") {
            "promote" => TargetAction::Promote,
            "shutdown" => TargetAction::Shutdown,
            _ => TargetAction::Pause,
        };
        let inclusive = settings.is_on("recovery_target_inclusive");
        Ok(Restoring { target, inclusive, timeline, action })
    }

    /// What is restored, as the log says it.
    #[must_use]
    pub fn begins(&self) -> String {
        match &self.target {
            RestoreTarget::End => "starting archive recovery".to_owned(),
            RestoreTarget::Immediate => {
                "starting point-in-time recovery to earliest consistent point".to_owned()
            }
            RestoreTarget::Time(at) => {
                format!("starting point-in-time recovery to {}", shown_time(*at))
            }
            RestoreTarget::Transaction(number) => {
                format!("starting point-in-time recovery to XID {number}")
            }
            RestoreTarget::Name(name) => {
                format!("starting point-in-time recovery to \"{name}\"")
            }
            RestoreTarget::Lsn(at) => {
                format!("starting point-in-time recovery to WAL location (LSN) \"{at}\"")
            }
        }
    }

    /// Where it ended, as the log says it.
    #[must_use]
    pub fn stops(&self, met: &Met) -> String {
        let side = if self.is_past() { "after" } else { "before" };
        let number = met.number.unwrap_or(0);
        match &self.target {
            RestoreTarget::End => "recovery has come to the end of the log".to_owned(),
            RestoreTarget::Immediate => "recovery stopping after reaching consistency".to_owned(),
            RestoreTarget::Time(_) | RestoreTarget::Transaction(_) => format!(
                "recovery stopping {side} commit of transaction {number}, time {}",
                shown_time(met.wall)
            ),
            RestoreTarget::Name(name) => format!(
                "recovery stopping at restore point \"{name}\", time {}",
                shown_time(met.wall)
            ),
            RestoreTarget::Lsn(at) => {
                format!("recovery stopping {side} WAL location (LSN) \"{at}\"")
            }
        }
    }

    /// Why the timeline ends here, as its history says it.
    #[must_use]
    pub fn why(&self, met: &Met, reached: bool) -> String {
        let side = if self.is_past() { "after" } else { "before" };
        match &self.target {
            RestoreTarget::End => "no recovery target specified".to_owned(),
            _ if !reached => "no recovery target specified".to_owned(),
            RestoreTarget::Immediate => "reached consistency".to_owned(),
            RestoreTarget::Time(_) => format!("{side} {}", shown_time(met.wall)),
            RestoreTarget::Transaction(number) => format!("{side} transaction {number}"),
            RestoreTarget::Name(name) => format!("at restore point \"{name}\""),
            RestoreTarget::Lsn(at) => format!("{side} LSN {at}"),
        }
    }

    fn is_past(&self) -> bool {
        self.inclusive && !matches!(self.target, RestoreTarget::Time(_))
    }
}

fn target(name: &str, value: &str, zone: &str, wall: i64) -> Result<RestoreTarget> {
    let wrong = || invalid(name, value);
    Ok(match name {
        "recovery_target" if value == "immediate" => RestoreTarget::Immediate,
        "recovery_target_lsn" => {
            let (high, low) = value.split_once('/').ok_or_else(wrong)?;
            let half = |digits| u32::from_str_radix(digits, 16).map(u64::from).map_err(|_| wrong());
            RestoreTarget::Lsn(Lsn(half(high)? << 32 | half(low)?))
        }
        "recovery_target_name" if value.len() < 64 => RestoreTarget::Name(value.to_owned()),
        "recovery_target_time" => {
            if ["now", "today", "tomorrow", "yesterday"].contains(&value) {
                return Err(wrong());
            }
            let settings = ValueSettings { time_zone: zone.to_owned(), ..ValueSettings::default() };
            let now = Now { settings: &settings, transaction_time: wall, asked: None };
            RestoreTarget::Time(read_timestamptz(now, value, -1).map_err(|_| wrong())?)
        }
        "recovery_target_xid" => RestoreTarget::Transaction(value.parse().map_err(|_| wrong())?),
        _ => return Err(wrong()),
    })
}

/// A moment as PostgreSQL's log has it.
fn shown_time(wall: i64) -> String {
    let mut text = Vec::new();
    write_timestamptz(&ValueSettings::default(), wall, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
