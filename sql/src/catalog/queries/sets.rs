//! Set-returning functions of the catalog: access control lists in rows, what PostgreSQL's own views ask, and those about
//! objects of which there are none.

use super::files::LOG_FOLDER;
use super::{Call, SessionCatalog};
use crate::catalog::acl::{PRIVILEGES, parse_item};
use crate::catalog::extension::pg_stat_statements::STATEMENTS;
use crate::catalog::object::well_known;
use crate::catalog::quote::identifier;
use crate::catalog::system;
use crate::error::Result;
use crate::parse::keyword::{Category, Keyword};
use crate::types::function::{Callable, Signature};
use crate::types::{CallContext, Datum, oids};

/// By `pg_proc` OID.
pub const FUNCTIONS: &[(u32, Callable)] = &[
    // pg_partition_ancestors: a table that is neither partitioned nor a partition has none.
    (3425, Callable::Set(nothing)),
    // pg_get_keywords
    (1686, Callable::Set(keywords)),
    // pg_options_to_table
    (2289, Callable::Set(options)),
    // aclexplode
    (1689, Callable::Set(explode)),
    // pg_partition_tree: the same.
    (3423, Callable::Set(nothing)),
    (LISTENING_CHANNELS, Callable::Set(asked::<LISTENING_CHANNELS>)),
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
    (STATEMENTS, Callable::Set(asked::<STATEMENTS>)),
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
    // pg_stat_get_subscription: there is none.
    (6118, Callable::Set(nothing)),
    // pg_stat_get_wal_senders: there is none.
    (3099, Callable::Set(nothing)),
    // pg_get_replication_slots: there is none.
    (3781, Callable::Set(nothing)),
    // pg_show_replication_origin_status: there is none.
    (6014, Callable::Set(nothing)),
];

const LISTENING_CHANNELS: u32 = 3035;
const LOCK_STATUS: u32 = 1371;
const SHOW_ALL_SETTINGS: u32 = 2084;
const PREPARED_STATEMENT: u32 = 2510;
const CURSOR: u32 = 2511;
const TABLESPACE_DATABASES: u32 = 2556;
const TIMEZONE_ABBREVIATIONS: u32 = 2599;
const TIMEZONE_NAMES: u32 = 2856;
const LS_DIR: u32 = 2625;
const LS_DIR_OR_NOTHING: u32 = 3297;
const LS_WAL_DIR: u32 = 3354;
const LS_LOG_DIR: u32 = 3353;
const LS_TMP_DIR: u32 = 5029;
const LS_TMP_DIR_OF: u32 = 5030;
const LS_ARCHIVE_STATUS_DIR: u32 = 5031;
const LS_LOGICAL_SNAP_DIR: u32 = 6270;
const LS_LOGICAL_MAP_DIR: u32 = 6271;
const LS_SLOT_DIR: u32 = 6272;
const BACKEND_MEMORY_CONTEXTS: u32 = 2282;
const SHMEM_ALLOCATIONS: u32 = 5052;
const AVAILABLE_EXTENSIONS: u32 = 3082;
const AVAILABLE_EXTENSION_VERSIONS: u32 = 3083;
const EXTENSION_UPDATE_PATHS: u32 = 3084;
const CONFIG: u32 = 3400;
const HBA_FILE_RULES: u32 = 3401;
const IDENT_FILE_MAPPINGS: u32 = 6250;
const SHOW_ALL_FILE_SETTINGS: u32 = 3329;
const PREPARED_XACT: u32 = 1065;
const STAT_GET_ACTIVITY: u32 = 2022;
const STAT_GET_BACKEND_IDSET: u32 = 1936;
const STAT_GET_PROGRESS_INFO: u32 = 3318;
const STAT_GET_RECOVERY_PREFETCH: u32 = 6248;
const STAT_GET_SLRU: u32 = 2306;

/// A function whose rows the session has.
fn asked<'a, const FUNCTION: u32>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    context.catalog.set(context, FUNCTION, arguments, emit)
}

impl SessionCatalog<'_> {
    /// The rows of one of the functions above.
    pub(super) fn rows_of<'a>(
        &self,
        call: &Call<'_, '_, '_, 'a>,
        function: u32,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let served = match function {
            LOCK_STATUS => "pg_locks",
            SHOW_ALL_SETTINGS => "pg_settings",
            PREPARED_STATEMENT => "pg_prepared_statements",
            CURSOR => "pg_cursors",
            TIMEZONE_ABBREVIATIONS => "pg_timezone_abbrevs",
            TIMEZONE_NAMES => "pg_timezone_names",
            LISTENING_CHANNELS => {
                for channel in self.engine.listening() {
                    if !emit(&[call.text(&channel)])? {
                        break;
                    }
                }
                return Ok(());
            }
            TABLESPACE_DATABASES => return call.tablespace_databases(emit),
            LS_WAL_DIR => return call.list_files(LOG_FOLDER, false, emit),
            LS_LOG_DIR => return call.list_log_directory(emit),
            LS_TMP_DIR | LS_TMP_DIR_OF => return call.list_scratch(emit),
            // One number tells what has been archived; nothing is decoded.
            LS_ARCHIVE_STATUS_DIR | LS_LOGICAL_SNAP_DIR | LS_LOGICAL_MAP_DIR => return Ok(()),
            LS_SLOT_DIR => return Err(call.no_slot()),
            AVAILABLE_EXTENSIONS => return call.extensions(emit),
            AVAILABLE_EXTENSION_VERSIONS => return call.extension_versions(emit),
            EXTENSION_UPDATE_PATHS => return call.extension_paths(),
            STATEMENTS => return call.statements(emit),
            BACKEND_MEMORY_CONTEXTS => return call.memory_contexts(emit),
            SHMEM_ALLOCATIONS => return call.shared_memory(emit),
            CONFIG => return call.build_facts(emit),
            HBA_FILE_RULES => return call.access_rules(emit),
            IDENT_FILE_MAPPINGS => return call.user_maps(emit),
            SHOW_ALL_FILE_SETTINGS => return call.file_settings(emit),
            STAT_GET_ACTIVITY => return call.sessions(emit),
            STAT_GET_BACKEND_IDSET => return call.session_numbers(emit),
            STAT_GET_PROGRESS_INFO => return call.progress(emit),
            STAT_GET_RECOVERY_PREFETCH => return call.prefetch(emit),
            STAT_GET_SLRU => return call.simple_caches(emit),
            PREPARED_XACT => return call.prepared_transactions(emit),
            LS_DIR | LS_DIR_OR_NOTHING => return call.list_directory(emit),
            _ => return Ok(()),
        };
        // PostgreSQL's view of that name is all that its function gives.
        match system::named(well_known::PG_CATALOG, served) {
            Some(oid) => self.rows(call.context, oid, &[], emit),
            None => Ok(()),
        }
    }
}

/// A row for each word that the grammar knows.
fn keywords<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for keyword in Keyword::all() {
        let (letter, category) = match keyword.category() {
            Category::Unreserved => (b'U', "unreserved"),
            Category::ColumnName => (b'C', "unreserved (cannot be function or type name)"),
            Category::TypeOrFunctionName => (b'T', "reserved (can be function or type name)"),
            Category::Reserved => (b'R', "reserved"),
        };
        let bare = keyword.is_bare_label();
        let row = [
            Datum::Text(keyword.word()),
            Datum::Char(letter),
            Datum::Bool(bare),
            Datum::Text(category),
            Datum::Text(if bare { "can be bare label" } else { "requires AS" }),
        ];
        if !emit(&row)? {
            break;
        }
    }
    Ok(())
}

fn nothing<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    _: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    Ok(())
}

/// A row for each privilege of a list: grantor, grantee, privilege, whether it may be passed on.
fn explode<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let role = |name: &str| match name {
        "" => Ok(0),
        // What stands for a role that is gone is its OID; a role may have a number for its name.
        _ => context
            .catalog
            .reg_in(oids::REGROLE, &identifier(name))
            .or_else(|gone| name.parse().map_err(|_| gone)),
    };
    for item in arguments[0].array().datums(context.arena) {
        let Datum::Text(text) = item? else { continue };
        let Some((grantee, privileges, options, grantor)) = parse_item(text) else { continue };
        let (grantee, grantor) = (role(&grantee)?, role(&grantor)?);
        for (privilege, _, word) in PRIVILEGES {
            if privileges.contains(privilege) {
                let row = [
                    Datum::Oid(grantor),
                    Datum::Oid(grantee),
                    Datum::Text(word),
                    Datum::Bool(options.contains(privilege)),
                ];
                if !emit(&row)? {
                    return Ok(());
                }
            }
        }
    }
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
