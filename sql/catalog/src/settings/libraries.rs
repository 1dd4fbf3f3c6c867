//! Libraries that PostgreSQL loads and that are part of the server: which there are, and what a session has of them. A library's
//! settings are there with it, and from then on nobody else's names begin like theirs.

use super::definition::Definition;
use super::session::{Key, Settings};
use sql_types::error::{Notice, Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::sync::Arc;

/// The library `pg_stat_statements`.
pub const STATEMENT_STATISTICS: &str = "pg_stat_statements";
/// The library `auto_explain`.
pub const AUTO_EXPLAIN: &str = "auto_explain";
/// The library `pg_trgm`.
pub const TRIGRAMS: &str = "pg_trgm";
/// Libraries that PostgreSQL loads and that are part of the server. The last one brings no settings.
const LIBRARIES: [&str; 4] = [STATEMENT_STATISTICS, AUTO_EXPLAIN, TRIGRAMS, "plpgsql"];

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
    let names = crate::search_path::split_identifiers(listed).unwrap_or_default();
    names.iter().map(|name| library(name)).collect()
}

impl Settings {
    /// The session loads a library: by LOAD, or by the settings that it begins with.
    ///
    /// # Errors
    /// 58P01 for one that there is not.
    pub fn load(&mut self, name: &str) -> Result<Vec<Notice>> {
        let library = library(name)?;
        if self.loaded.contains(&library) {
            return Ok(Vec::new());
        }
        self.loaded.push(library);
        self.generation += 1;
        if !self.has_library(library) {
            return Ok(Vec::new());
        }
        // What somebody has set of its names before is none of them (`MarkGUCPrefixReserved`).
        let mut gone: Vec<Arc<str>> = Vec::new();
        Arc::make_mut(&mut self.entries).retain(|key, _| match key {
            Key::Custom(name) if library_of(name) == Some(library) => {
                gone.push(Arc::clone(name));
                false
            }
            _ => true,
        });
        gone.sort();
        let warning = |name: &Arc<str>| {
            let message = format!("invalid configuration parameter name \"{name}\", removing it");
            SqlError::warning(SqlState::INVALID_NAME, message)
                .detail(format!("\"{library}\" is now a reserved prefix."))
        };
        Ok(gone.iter().map(warning).collect())
    }

    /// Loads what `session_preload_libraries` and `local_preload_libraries` list.
    ///
    /// # Errors
    /// 58P01 for one that there is not.
    pub fn preload(&mut self) -> Result<()> {
        for setting in ["session_preload_libraries", "local_preload_libraries"] {
            let listed = self.text(setting);
            if !listed.is_empty() {
                for library in libraries(&listed)? {
                    self.load(library)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the server has begun with a library.
    #[must_use]
    pub fn is_preloaded(&self, library: &str) -> bool {
        let listed = self.text("shared_preload_libraries");
        !listed.is_empty() && libraries(&listed).is_ok_and(|all| all.contains(&library))
    }

    /// Whether a library is there, for this session. That of statistics needs room that only a server has that begins with it
    /// (`_PG_init` of `pg_stat_statements.c`).
    #[must_use]
    pub fn has_library(&self, library: &str) -> bool {
        library != STATEMENT_STATISTICS && self.loaded.contains(&library)
            || self.is_preloaded(library)
    }

    /// 42602 for a name that only a library's own settings have, once that is there.
    pub(super) fn demand_unreserved(&self, name: &str) -> Result<()> {
        match library_of(name) {
            Some(library) if self.has_library(library) => Err(SqlError::new(
                SqlState::INVALID_NAME,
                format!("invalid configuration parameter name \"{name}\""),
            )
            .detail(format!("\"{library}\" is a reserved prefix."))),
            _ => Ok(()),
        }
    }

    /// Whether a setting is there: one of a library only with that.
    pub(super) fn is_there(&self, definition: &Definition) -> bool {
        definition.library.is_none_or(|library| self.has_library(library))
    }
}
