//! What the process around the engine knows and does for those who ask in SQL: its log, and the files that say who may
//! connect and what is set. An engine without a server has none.

use crate::error::{Result, SqlError};
use std::fmt::Debug;

/// The process.
pub trait ServerHost: Debug + Send + Sync {
    /// `pg_rotate_logfile`: has the log go on in new files; false where it goes into none.
    fn rotate_log(&self) -> bool;
    /// `pg_current_logfile`: where the log goes in this format, or in the first that it has.
    fn log_file(&self, format: Option<&str>) -> Option<String>;
    /// Writes an event to the log, as the server's own.
    fn log(&self, event: &SqlError);
    /// The settings that the configuration's files have now, in the order in which they count.
    fn file_settings(&self) -> Vec<FileSetting>;
    /// The lines of `pg_hba.conf` as the file is now.
    ///
    /// # Errors
    /// It cannot be read.
    fn access_rules(&self) -> Result<Vec<AccessRule>>;
    /// The lines of `pg_ident.conf` as the file is now.
    ///
    /// # Errors
    /// It cannot be read.
    fn user_maps(&self) -> Result<Vec<UserMapping>>;
}

/// A row of `pg_file_settings`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSetting {
    /// The file.
    pub file: String,
    /// The line in it.
    pub line: i32,
    /// The setting, if a name can be read.
    pub name: Option<String>,
    /// Its value.
    pub value: Option<String>,
    /// Whether it counts, or would count once what is wrong elsewhere is mended.
    pub applied: bool,
    /// What is wrong with it.
    pub error: Option<String>,
}

/// A row of `pg_hba_file_rules`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRule {
    /// Its line.
    pub line: i32,
    /// What is wrong with it; then there is nothing else.
    pub error: Option<String>,
    /// `type`.
    pub kind: Option<String>,
    /// `database`.
    pub databases: Vec<String>,
    /// `user_name`.
    pub users: Vec<String>,
    /// `address`.
    pub address: Option<String>,
    /// `netmask`.
    pub mask: Option<String>,
    /// `auth_method`.
    pub method: Option<String>,
    /// `options`.
    pub options: Vec<String>,
}

/// A row of `pg_ident_file_mappings`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserMapping {
    /// Its line.
    pub line: i32,
    /// What is wrong with it; then there is nothing else.
    pub error: Option<String>,
    /// `map_name`.
    pub map: Option<String>,
    /// `sys_name`.
    pub system_user: Option<String>,
    /// `pg_username`.
    pub role: Option<String>,
}
