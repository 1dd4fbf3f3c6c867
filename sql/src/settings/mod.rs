//! Settings (GUCs): their values for one session, under PostgreSQL's names and rules.
//!
//! - [`definition`]: which there are; [`value`] and [`check`]: what may be said, and how it is shown; [`encoding`]: names
//!   of encodings
//! - [`server`]: the server's values; [`session`]: those of one session, as transactions leave them; [`setter`]: who may set
//!   what, and when

pub mod auto_file;
pub mod check;
pub mod definition;
pub mod encoding;
pub mod server;
pub mod session;
pub mod setter;
pub mod socket;
pub mod value;

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The library `pg_stat_statements`.
pub const STATEMENT_STATISTICS: &str = "pg_stat_statements";
/// The library `auto_explain`.
pub const AUTO_EXPLAIN: &str = "auto_explain";
/// Libraries that PostgreSQL loads and that are part of the server. The last one brings no settings.
const LIBRARIES: [&str; 3] = [STATEMENT_STATISTICS, AUTO_EXPLAIN, "plpgsql"];

/// The library that brings a setting.
#[must_use]
pub fn library_of(setting: &str) -> Option<&'static str> {
    let (prefix, _) = setting.split_once('.')?;
    LIBRARIES.into_iter().find(|library| prefix.eq_ignore_ascii_case(library))
}

/// A library by the name of its file: with a directory or an ending it is the same.
///
/// # Errors
/// 58P01 for one that there is not.
pub fn library(name: &str) -> Result<&'static str> {
    let bare = name.strip_prefix("$libdir/").unwrap_or(name);
    let bare = bare.strip_prefix("plugins/").unwrap_or(bare);
    let bare = bare.strip_suffix(".so").unwrap_or(bare);
    LIBRARIES.into_iter().find(|library| *library == bare).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_FILE,
            format!("could not access file \"{name}\": No such file or directory"),
        )
    })
}

/// The libraries that a setting lists.
///
/// # Errors
/// 58P01 for one that there is not.
pub fn libraries(listed: &str) -> Result<Vec<&'static str>> {
    let names = crate::catalog::search_path::split_identifiers(listed).unwrap_or_default();
    names.iter().map(|name| library(name)).collect()
}

pub use server::{ServerSettings, Source};
pub use session::{SettingRow, Settings, SettingsSavepoint};
pub use setter::{Moment, Setter, UserSetting};

/// The settings that functions and plans look at on every call, kept as plain values; all others are kept by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// `extra_float_digits`: 1 and above is the shortest exact form.
    pub extra_float_digits: i32,
    /// `DateStyle`'s order of fields.
    pub date_order: DateOrder,
    /// `DateStyle`'s output form.
    pub date_style: DateStyle,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// `TimeZone`, as PostgreSQL shows it.
    pub time_zone: String,
    /// `bytea_output` is `hex` (else `escape`).
    pub bytea_hex: bool,
    /// What statements' texts mean.
    pub dialect: Dialect,
    /// `xmloption`.
    pub xml_option: XmlOption,
    /// `xmlbinary`.
    pub xml_binary: XmlBinary,
    /// `array_nulls`.
    pub array_nulls: bool,
    /// `quote_all_identifiers`.
    pub quote_all_identifiers: bool,
    /// `search_path`, as set.
    pub search_path: String,
    /// `work_mem`, in bytes.
    pub work_mem_bytes: u64,
    /// `atoll.statement_memory`, in bytes.
    pub statement_memory_bytes: u64,
    /// `temp_file_limit`, in bytes; none where there is no limit.
    pub temp_file_limit_bytes: Option<u64>,
    /// `track_activities`.
    pub track_activities: bool,
    /// `synchronous_commit` is not `off`.
    pub synchronous_commit: bool,
    /// `restrict_nonsystem_relation_kind` names views.
    pub restrict_views: bool,
    /// `enable_*`.
    pub methods: Methods,
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
    /// `enable_indexonlyscan`: an index is read alone that holds all that is asked for.
    pub indexes_alone: bool,
    /// `enable_nestloop`.
    pub nested_loops: bool,
    /// `enable_hashjoin`.
    pub hash_joins: bool,
    /// `enable_material`: the inner side of a nested loop is kept.
    pub kept_rows: bool,
    /// `enable_sort`: rows are sorted that an index has in order.
    pub sorts: bool,
}

impl Default for Methods {
    fn default() -> Self {
        Methods {
            whole_tables: true,
            keys: true,
            indexes_alone: true,
            nested_loops: true,
            hash_joins: true,
            kept_rows: true,
            sorts: true,
        }
    }
}

/// What a statement's text means where PostgreSQL lets a session choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// `standard_conforming_strings`: a backslash in `'...'` stands for itself.
    pub standard_strings: bool,
    /// `backslash_quote`: `\'` may stand in a string with escapes.
    pub backslash_quote: bool,
    /// `escape_string_warning`, which says nothing of standard strings.
    pub escape_warning: bool,
    /// `transform_null_equals`: `x = NULL` asks whether it is.
    pub null_equals: bool,
}

impl Default for Dialect {
    /// As PostgreSQL delivers it, and as texts are kept.
    fn default() -> Self {
        Dialect {
            standard_strings: true,
            backslash_quote: true,
            escape_warning: false,
            null_equals: false,
        }
    }
}

/// The order of day, month and year in ambiguous input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// Month, day, year.
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// The form of dates in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateStyle {
    /// 1997-12-17 07:37:16-08
    Iso,
    /// 12/17/1997 07:37:16.00 PST
    Sql,
    /// Wed Dec 17 07:37:16 1997 PST
    Postgres,
    /// 17.12.1997 07:37:16.00 PST
    German,
}

/// What a text is as `xml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlOption {
    /// A document, with one root.
    Document,
    /// A document, or what may stand in an element.
    Content,
}

/// How `xml` has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlBinary {
    /// In Base64.
    Base64,
    /// In hexadecimal digits.
    Hex,
}

/// The form of intervals in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalStyle {
    /// 1 year 2 mons -3 days +04:05:06
    Postgres,
    /// @ 1 year 2 mons -3 days 4 hours 5 mins 6 secs
    PostgresVerbose,
    /// +1-2 -3 +4:05:06
    SqlStandard,
    /// P1Y2M-3DT4H5M6S
    Iso8601,
}

/// What may be held at most, whatever `work_mem` is: places in it have 32 bits, and a row of 1 GB may be on its way.
const HELD_BYTES_MAX: u64 = 3 << 30;

impl SessionSettings {
    /// How many bytes an operator of a statement holds before it goes to temporary files: `work_mem`, but for what places
    /// of 32 bits can tell apart.
    #[must_use]
    pub fn spill_bytes(&self) -> usize {
        usize::try_from(self.work_mem_bytes.min(HELD_BYTES_MAX)).unwrap_or(usize::MAX)
    }

    /// Refuses to hold more than an operator of a statement, or a function, may.
    ///
    /// # Errors
    /// 53200 where `bytes` are more than that.
    pub fn check_memory(&self, bytes: usize) -> Result<()> {
        check_held(bytes as u64, self.work_mem_bytes)
    }
}

/// Refuses to hold more bytes than `work_mem` allows, or than can be.
///
/// # Errors
/// 53200 where they are more than that.
fn check_held(bytes: u64, work_mem: u64) -> Result<()> {
    /// How many times `work_mem` may be held, by what cannot go to temporary files, before it is given up.
    const WORK_MEM_TIMES: u64 = 64;
    let allowed = work_mem.saturating_mul(WORK_MEM_TIMES);
    if bytes <= allowed.min(HELD_BYTES_MAX) {
        return Ok(());
    }
    let refused = |limit: String| {
        SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory")
            .detail(format!("An operator of this query would hold more than {limit}."))
    };
    if allowed > HELD_BYTES_MAX {
        return Err(refused(format!("{} GB", HELD_BYTES_MAX >> 30)));
    }
    Err(refused(format!("{WORK_MEM_TIMES} times work_mem")).hint("Raise work_mem."))
}

impl Default for SessionSettings {
    fn default() -> Self {
        SessionSettings {
            extra_float_digits: 1,
            date_order: DateOrder::Mdy,
            date_style: DateStyle::Iso,
            interval_style: IntervalStyle::Postgres,
            time_zone: "UTC".to_owned(),
            bytea_hex: true,
            dialect: Dialect::default(),
            xml_option: XmlOption::Content,
            xml_binary: XmlBinary::Base64,
            array_nulls: true,
            quote_all_identifiers: false,
            search_path: "\"$user\", public".to_owned(),
            work_mem_bytes: 4 << 20,
            statement_memory_bytes: 4 << 30,
            temp_file_limit_bytes: None,
            track_activities: true,
            synchronous_commit: true,
            methods: Methods::default(),
            restrict_views: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_has_a_limit_whatever_work_mem_is() {
        let detail = |bytes, work_mem| {
            let refused = check_held(bytes, work_mem).unwrap_err();
            assert_eq!(refused.state(), SqlState::OUT_OF_MEMORY);
            (refused.fields().detail.clone().unwrap(), refused.fields().hint.is_some())
        };
        let times = "An operator of this query would hold more than 64 times work_mem.".to_owned();
        assert!(check_held(64 << 20, 1 << 20).is_ok());
        assert_eq!(detail((64 << 20) + 1, 1 << 20), (times, true));
        assert!(check_held(3 << 30, u64::MAX).is_ok());
        let most = "An operator of this query would hold more than 3 GB.".to_owned();
        assert_eq!(detail((3 << 30) + 1, u64::MAX), (most, false));
    }
}
