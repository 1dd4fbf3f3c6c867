//! Set-returning functions whose rows the session or the catalog has, and those about objects of which there are none.

use super::Datum;
use super::function::{CallContext, Callable, Signature};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// By `pg_proc` OID.
pub const FUNCTIONS: &[(u32, Callable)] = &[
    // pg_partition_ancestors: a table that is neither partitioned nor a partition has none.
    (3425, Callable::Set(nothing)),
    (GET_KEYWORDS, Callable::Set(asked::<GET_KEYWORDS>)),
    // pg_options_to_table
    (2289, Callable::Set(options)),
    (ACL_EXPLODE, Callable::Set(asked::<ACL_EXPLODE>)),
    // pg_partition_tree: the same.
    (3423, Callable::Set(nothing)),
    (LISTENING_CHANNELS, Callable::Set(asked::<LISTENING_CHANNELS>)),
    (EVENT_DROPS, Callable::Set(asked::<EVENT_DROPS>)),
    (EVENT_COMMANDS, Callable::Set(asked::<EVENT_COMMANDS>)),
    (LOCK_STATUS, Callable::Set(asked::<LOCK_STATUS>)),
    (SHOW_ALL_SETTINGS, Callable::Set(asked::<SHOW_ALL_SETTINGS>)),
    (PREPARED_STATEMENT, Callable::Set(asked::<PREPARED_STATEMENT>)),
    (CURSOR, Callable::Set(asked::<CURSOR>)),
    (TABLESPACE_DATABASES, Callable::Set(asked::<TABLESPACE_DATABASES>)),
    (TIMEZONE_ABBREVIATIONS, Callable::Set(asked::<TIMEZONE_ABBREVIATIONS>)),
    (TIMEZONE_NAMES, Callable::Set(asked::<TIMEZONE_NAMES>)),
    (LS_DIR, Callable::Set(asked::<LS_DIR>)),
    (LS_DIR_OR_NOTHING, Callable::Set(asked::<LS_DIR_OR_NOTHING>)),
    (LS_WAL_DIR, Callable::Set(asked::<LS_WAL_DIR>)),
    (LS_LOG_DIR, Callable::Set(asked::<LS_LOG_DIR>)),
    (LS_TMP_DIR, Callable::Set(asked::<LS_TMP_DIR>)),
    (LS_TMP_DIR_OF, Callable::Set(asked::<LS_TMP_DIR_OF>)),
    (LS_ARCHIVE_STATUS_DIR, Callable::Set(asked::<LS_ARCHIVE_STATUS_DIR>)),
    (LS_LOGICAL_SNAP_DIR, Callable::Set(asked::<LS_LOGICAL_SNAP_DIR>)),
    (LS_LOGICAL_MAP_DIR, Callable::Set(asked::<LS_LOGICAL_MAP_DIR>)),
    (LS_SLOT_DIR, Callable::Set(asked::<LS_SLOT_DIR>)),
    (BACKEND_MEMORY_CONTEXTS, Callable::Set(asked::<BACKEND_MEMORY_CONTEXTS>)),
    (SHMEM_ALLOCATIONS, Callable::Set(asked::<SHMEM_ALLOCATIONS>)),
    (AVAILABLE_EXTENSIONS, Callable::Set(asked::<AVAILABLE_EXTENSIONS>)),
    (AVAILABLE_EXTENSION_VERSIONS, Callable::Set(asked::<AVAILABLE_EXTENSION_VERSIONS>)),
    (EXTENSION_UPDATE_PATHS, Callable::Set(asked::<EXTENSION_UPDATE_PATHS>)),
    (STAT_STATEMENTS, Callable::Set(asked::<STAT_STATEMENTS>)),
    (CONFIG, Callable::Set(asked::<CONFIG>)),
    (HBA_FILE_RULES, Callable::Set(asked::<HBA_FILE_RULES>)),
    (IDENT_FILE_MAPPINGS, Callable::Set(asked::<IDENT_FILE_MAPPINGS>)),
    (SHOW_ALL_FILE_SETTINGS, Callable::Set(asked::<SHOW_ALL_FILE_SETTINGS>)),
    (PREPARED_XACT, Callable::Set(asked::<PREPARED_XACT>)),
    (STAT_GET_ACTIVITY, Callable::Set(asked::<STAT_GET_ACTIVITY>)),
    (STAT_GET_BACKEND_IDSET, Callable::Set(asked::<STAT_GET_BACKEND_IDSET>)),
    (STAT_GET_PROGRESS_INFO, Callable::Set(asked::<STAT_GET_PROGRESS_INFO>)),
    (STAT_GET_RECOVERY_PREFETCH, Callable::Set(asked::<STAT_GET_RECOVERY_PREFETCH>)),
    (STAT_GET_SLRU, Callable::Set(asked::<STAT_GET_SLRU>)),
    (STAT_GET_BREAKDOWN, Callable::Set(asked::<STAT_GET_BREAKDOWN>)),
    (STAT_GET_CONCURRENCY, Callable::Set(asked::<STAT_GET_CONCURRENCY>)),
    // pg_stat_get_subscription: there is none.
    (6118, Callable::Set(nothing)),
    // pg_stat_get_wal_senders: there is none.
    (3099, Callable::Set(nothing)),
    // pg_get_replication_slots: there is none.
    (3781, Callable::Set(nothing)),
    (6119, Callable::Set(tables_of_publication)),
    // pg_show_replication_origin_status: there is none.
    (6014, Callable::Set(nothing)),
];

/// `pg_stat_get_atoll_breakdown`.
pub const STAT_GET_BREAKDOWN: u32 = 13_613;
/// `pg_get_keywords`.
pub const GET_KEYWORDS: u32 = 1686;
/// `aclexplode`.
pub const ACL_EXPLODE: u32 = 1689;
/// `pg_listening_channels`.
pub const LISTENING_CHANNELS: u32 = 3035;
/// `pg_lock_status`.
pub const LOCK_STATUS: u32 = 1371;
/// `pg_show_all_settings`.
pub const SHOW_ALL_SETTINGS: u32 = 2084;
/// `pg_prepared_statement`.
pub const PREPARED_STATEMENT: u32 = 2510;
/// `pg_cursor`.
pub const CURSOR: u32 = 2511;
/// `pg_tablespace_databases`.
pub const TABLESPACE_DATABASES: u32 = 2556;
/// `pg_timezone_abbrevs`.
pub const TIMEZONE_ABBREVIATIONS: u32 = 2599;
/// `pg_timezone_names`.
pub const TIMEZONE_NAMES: u32 = 2856;
/// `pg_ls_dir`.
pub const LS_DIR: u32 = 2625;
/// `pg_ls_dir`.
pub const LS_DIR_OR_NOTHING: u32 = 3297;
/// `pg_ls_waldir`.
pub const LS_WAL_DIR: u32 = 3354;
/// `pg_ls_logdir`.
pub const LS_LOG_DIR: u32 = 3353;
/// `pg_ls_tmpdir`.
pub const LS_TMP_DIR: u32 = 5029;
/// `pg_ls_tmpdir`.
pub const LS_TMP_DIR_OF: u32 = 5030;
/// `pg_ls_archive_statusdir`.
pub const LS_ARCHIVE_STATUS_DIR: u32 = 5031;
/// `pg_ls_logicalsnapdir`.
pub const LS_LOGICAL_SNAP_DIR: u32 = 6270;
/// `pg_ls_logicalmapdir`.
pub const LS_LOGICAL_MAP_DIR: u32 = 6271;
/// `pg_ls_replslotdir`.
pub const LS_SLOT_DIR: u32 = 6272;
/// `pg_get_backend_memory_contexts`.
pub const BACKEND_MEMORY_CONTEXTS: u32 = 2282;
/// `pg_get_shmem_allocations`.
pub const SHMEM_ALLOCATIONS: u32 = 5052;
/// `pg_available_extensions`.
pub const AVAILABLE_EXTENSIONS: u32 = 3082;
/// `pg_available_extension_versions`.
pub const AVAILABLE_EXTENSION_VERSIONS: u32 = 3083;
/// `pg_extension_update_paths`.
pub const EXTENSION_UPDATE_PATHS: u32 = 3084;
/// `pg_config`.
pub const CONFIG: u32 = 3400;
/// `pg_hba_file_rules`.
pub const HBA_FILE_RULES: u32 = 3401;
/// `pg_ident_file_mappings`.
pub const IDENT_FILE_MAPPINGS: u32 = 6250;
/// `pg_show_all_file_settings`.
pub const SHOW_ALL_FILE_SETTINGS: u32 = 3329;
/// `pg_event_trigger_dropped_objects`.
pub const EVENT_DROPS: u32 = 3566;
/// `pg_event_trigger_ddl_commands`.
pub const EVENT_COMMANDS: u32 = 4568;
/// `pg_prepared_xact`.
pub const PREPARED_XACT: u32 = 1065;
/// `pg_stat_get_activity`.
pub const STAT_GET_ACTIVITY: u32 = 2022;
/// `pg_stat_get_backend_idset`.
pub const STAT_GET_BACKEND_IDSET: u32 = 1936;
/// `pg_stat_get_progress_info`.
pub const STAT_GET_PROGRESS_INFO: u32 = 3318;
/// `pg_stat_get_recovery_prefetch`.
pub const STAT_GET_RECOVERY_PREFETCH: u32 = 6248;
/// `pg_stat_get_slru`.
pub const STAT_GET_SLRU: u32 = 2306;
/// `pg_stat_get_atoll_concurrency`, which is no function of PostgreSQL's.
pub const STAT_GET_CONCURRENCY: u32 = 13_603;
/// `pg_stat_statements`.
pub const STAT_STATEMENTS: u32 = 14_002;

/// A function whose rows the session has.
fn asked<'a, const FUNCTION: u32>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    context.catalog.set(context, FUNCTION, arguments, emit)
}

/// `pg_get_publication_tables`: there is no publication.
fn tables_of_publication<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    _: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let message = format!("publication \"{}\" does not exist", arguments[0].text());
    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
}

fn nothing<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    _: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    Ok(())
}

/// A row for each of a list of `name=value`; one without `=` has no value.
fn options<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for item in arguments[0].array().datums(context.arena) {
        let Datum::Text(text) = item? else { continue };
        let row = match text.split_once('=') {
            Some((name, value)) => [Datum::Text(name), Datum::Text(value)],
            None => [Datum::Text(text), Datum::Null],
        };
        if !emit(&row)? {
            break;
        }
    }
    Ok(())
}
