//! Settings (GUCs): their values for one session, under PostgreSQL's names and rules.
//!
//! - [`definition`]: which there are; [`value`] and [`check`]: what may be said, and how it is shown
//! - [`server`]: the server's values; [`session`]: those of one session; [`undo`]: what transactions leave of them;
//!   [`setter`]: who may set what, and when
//! - [`rule`]: the rules of the planner, each with its setting

pub mod auto_file;
pub mod check;
pub mod definition;
mod libraries;
mod plpgsql;
pub mod rule;
pub mod server;
pub mod session;
pub mod setter;
pub mod socket;
mod undo;
pub mod value;

use sql_types::ValueSettings;
use sql_types::dialect::Dialect;
use sql_types::error::{Notice, Severity};

pub use libraries::{AUTO_EXPLAIN, STATEMENT_STATISTICS, TRIGRAMS, libraries, library, library_of};
pub use rule::{Rule, RuleSet};
pub use server::{ServerSettings, Source};
pub use session::{SettingRow, Settings};
pub use setter::{Moment, Setter, UserSetting};
pub use undo::SettingsSavepoint;

/// The settings that functions and plans look at on every call, kept as plain values; all others are kept by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// What reading and writing values looks at.
    pub values: ValueSettings,
    /// What statements' texts mean.
    pub dialect: Dialect,
    /// `search_path`, as set.
    pub search_path: String,
    /// `atoll.statement_memory`, in bytes.
    pub statement_memory_bytes: u64,
    /// `temp_file_limit`, in bytes; none where there is no limit.
    pub temp_file_limit_bytes: Option<u64>,
    /// `track_activities`.
    pub track_activities: bool,
    /// `plan_cache_mode` is `force_generic_plan`: no plan is made for the parameters of one run.
    pub generic_plans: bool,
    /// `track_io_timing`.
    pub track_io_timing: bool,
    /// `synchronous_commit` is not `off`.
    pub synchronous_commit: bool,
    /// `restrict_nonsystem_relation_kind` names views.
    pub restrict_views: bool,
    /// `session_replication_role` is `replica`.
    pub replica: bool,
    /// `client_min_messages`, from 0 for all that there is.
    pub told: u8,
    /// `enable_*`.
    pub methods: Methods,
}

impl SessionSettings {
    /// Takes out the notices that `client_min_messages` hides. INFO is always shown.
    pub fn keep_shown(&self, notices: &mut Vec<Notice>) -> Vec<Notice> {
        let is_hidden = |notice: &mut Notice| {
            self.told
                > match notice.fields().severity {
                    Severity::Debug => 0,
                    Severity::Log => 1,
                    Severity::Notice => 2,
                    Severity::Warning => 3,
                    Severity::Info | Severity::Error | Severity::Fatal | Severity::Panic => 4,
                }
        };
        notices.extract_if(.., is_hidden).collect()
    }
}

/// Which methods the planner is to use where it has another one (manual, section 20.7.1). One that is off is not impossible:
/// a plan that has no other way takes it all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "they are settings of their own")]
pub struct Methods {
    /// `enable_seqscan`: all of a table is read.
    pub whole_tables: bool,
    /// `enable_indexscan` or `enable_bitmapscan`: rows are found by a key.
    pub keys: bool,
    /// `enable_nestloop`.
    pub nested_loops: bool,
    /// `enable_hashjoin`.
    pub hash_joins: bool,
    /// `enable_sort`: rows are sorted that an index has in order.
    pub sorts: bool,
    /// The rules that may be applied.
    pub rules: RuleSet,
}

impl Default for Methods {
    fn default() -> Self {
        Methods {
            whole_tables: true,
            keys: true,
            nested_loops: true,
            hash_joins: true,
            sorts: true,
            rules: RuleSet::ALL,
        }
    }
}

impl Default for SessionSettings {
    fn default() -> Self {
        SessionSettings {
            values: ValueSettings::default(),
            dialect: Dialect::default(),
            search_path: "\"$user\", public".to_owned(),
            statement_memory_bytes: 4 << 30,
            temp_file_limit_bytes: None,
            track_activities: true,
            generic_plans: false,
            track_io_timing: false,
            synchronous_commit: true,
            methods: Methods::default(),
            restrict_views: false,
            replica: false,
            told: 2,
        }
    }
}
