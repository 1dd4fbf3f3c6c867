//! The rows of the set-returning functions that ask the session or the catalog ([`session_sets`]): access control lists in
//! rows, and what PostgreSQL's own views ask.

use super::files::LOG_FOLDER;
use super::{Call, SessionCatalog};
use crate::catalog::acl::{PRIVILEGES, parse_item};
use crate::catalog::object::well_known;
use crate::catalog::quote::identifier;
use crate::catalog::system;
use crate::error::Result;
use crate::parse::keyword::{Category, Keyword};
use crate::types::session_sets::{
    ACL_EXPLODE, AVAILABLE_EXTENSION_VERSIONS, AVAILABLE_EXTENSIONS, BACKEND_MEMORY_CONTEXTS,
    CONFIG, CURSOR, EVENT_COMMANDS, EVENT_DROPS, EXTENSION_UPDATE_PATHS, GET_KEYWORDS,
    HBA_FILE_RULES, IDENT_FILE_MAPPINGS, LISTENING_CHANNELS, LOCK_STATUS, LS_ARCHIVE_STATUS_DIR,
    LS_DIR, LS_DIR_OR_NOTHING, LS_LOG_DIR, LS_LOGICAL_MAP_DIR, LS_LOGICAL_SNAP_DIR, LS_SLOT_DIR,
    LS_TMP_DIR, LS_TMP_DIR_OF, LS_WAL_DIR, PREPARED_STATEMENT, PREPARED_XACT, SHMEM_ALLOCATIONS,
    SHOW_ALL_FILE_SETTINGS, SHOW_ALL_SETTINGS, STAT_GET_ACTIVITY, STAT_GET_BACKEND_IDSET,
    STAT_GET_BREAKDOWN, STAT_GET_CONCURRENCY, STAT_GET_PROGRESS_INFO, STAT_GET_RECOVERY_PREFETCH,
    STAT_GET_SLRU, STAT_STATEMENTS, TABLESPACE_DATABASES, TIMEZONE_ABBREVIATIONS, TIMEZONE_NAMES,
};
use crate::types::{CallContext, Datum, oids};

impl SessionCatalog<'_> {
    /// The rows of one of these functions.
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
            STAT_STATEMENTS => return call.statements(emit),
            GET_KEYWORDS => return keywords(emit),
            EVENT_COMMANDS => return call.event_commands(emit),
            EVENT_DROPS => return call.event_drops(emit),
            ACL_EXPLODE => return explode(call.context, call.arguments, emit),
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
            STAT_GET_BREAKDOWN => return call.breakdowns(emit),
            STAT_GET_CONCURRENCY => return call.endings(emit),
            PREPARED_XACT => return call.prepared_transactions(emit),
            LS_DIR | LS_DIR_OR_NOTHING => return call.list_directory(emit),
            _ => return Ok(()),
        };
        // PostgreSQL's view of that name is all that its function gives.
        match system::named(well_known::PG_CATALOG, served) {
            Some(oid) => self.all_rows(call.context, oid, &[], emit),
            None => Ok(()),
        }
    }
}

/// A row for each word that the grammar knows.
fn keywords<'a>(emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>) -> Result<()> {
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

/// A row for each privilege of a list: grantor, grantee, privilege, whether it may be passed on.
fn explode<'a>(
    context: &CallContext<'a>,
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
