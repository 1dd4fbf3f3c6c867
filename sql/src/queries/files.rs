//! Files of the server's machine: `pg_read_file`, `pg_ls_dir`, `pg_stat_file` and their kin (manual, section 9.27.10).
//!
//! Who may call them is a matter of their privileges (nobody but superusers, at first). Whoever may, and has no privileges
//! of `pg_read_server_files`, reads below the data directory only.

use super::Call;
use crate::catalog::object::well_known;
use crate::copy::server_files::{FileFacts, ServerFiles, failure};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::{Datum, SqlType, check_text, oids, record};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where the segments of the write-ahead log are.
pub(super) const LOG_FOLDER: &str = "log";

/// Whether a file of the log's folder is a segment.
fn is_segment(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Where what does not fit into memory is.
const SCRATCH_FOLDER: &str = "scratch";

/// Seconds from 1970 to 2000.
const EPOCH_SECONDS: i64 = 946_684_800;

/// A path without `.` and with each `..` taken for what it means: it may not exist.
fn plain(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            Component::ParentDir if plain.is_absolute() => {}
            other => plain.push(other),
        }
    }
    // What is left of `.` is the place itself.
    if plain.as_os_str().is_empty() && !path.is_empty() { PathBuf::from(".") } else { plain }
}

pub(super) fn time(seconds: i64) -> Datum<'static> {
    Datum::TimestampTz((seconds - EPOCH_SECONDS).saturating_mul(1_000_000))
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// The functions of this file that make no set; none for those that are not answered.
    pub(super) fn file_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        Some(match function {
            "pg_read_file" => self.read_file().and_then(|bytes| match bytes {
                Some(bytes) => {
                    let bytes = self.context.arena.alloc_slice_copy(&bytes);
                    Ok(Datum::Text(check_text(bytes)?))
                }
                None => Ok(Datum::Null),
            }),
            "pg_read_binary_file" => self.read_file().map(|bytes| match bytes {
                Some(bytes) => Datum::Bytea(self.context.arena.alloc_slice_copy(&bytes)),
                None => Datum::Null,
            }),
            "pg_stat_file" => self.file_facts(),
            _ => return None,
        })
    }

    fn files(&self) -> Result<Arc<dyn ServerFiles>> {
        self.session.engine.files().ok_or_else(|| SqlError::unsupported("files of the server are"))
    }

    /// The path that the first argument names, if it may be read.
    fn path(&self) -> Result<String> {
        let path = plain(self.str(0));
        let shown = path.to_string_lossy().into_owned();
        let shared = self.session.snapshot.shared();
        if shared.has_privileges_of(self.session.user(), well_known::READ_SERVER_FILES) {
            return Ok(shown);
        }
        let refused = |what: &str| Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, what));
        if path.is_absolute() {
            let data = self.session.settings.read(|settings| settings.text("data_directory"));
            if data.is_empty() || !path.starts_with(&*data) {
                return refused("absolute path not allowed");
            }
        } else if path.components().next() == Some(Component::ParentDir) {
            return refused("path must be in or below the current directory");
        }
        Ok(shown)
    }

    /// The last argument, where it says that a file may be missing.
    fn missing_is_null(&self) -> bool {
        matches!(self.arguments.last(), Some(Datum::Bool(true)))
    }

    /// The bytes that are asked for; none for a file that is missing and may be.
    fn read_file(&self) -> Result<Option<Vec<u8>>> {
        let part = match self.arguments {
            [_, Datum::Int8(offset), Datum::Int8(length), ..] => Some((*offset, *length)),
            _ => None,
        };
        let length = match part.map(|(_, length)| u64::try_from(length)) {
            None => u64::MAX,
            Some(Ok(length)) => length,
            Some(Err(_)) => return Err(invalid_parameter("requested length cannot be negative")),
        };
        let path = self.path()?;
        let files = self.files()?;
        let unread = |error: &io::Error| failure(&format!("could not read file \"{path}\""), error);
        let mut file = match files.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound && self.missing_is_null() => {
                return Ok(None);
            }
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("could not read file \"{path}\": Is a directory"),
                ));
            }
            Err(error) => {
                return Err(failure(
                    &format!("could not open file \"{path}\" for reading"),
                    &error,
                ));
            }
        };
        let offset = part.map_or(0, |(offset, _)| offset);
        let skipped = if offset < 0 {
            let size = files.facts(&path).map_err(|error| unread(&error))?.size;
            u64::try_from(size.saturating_add(offset)).map_err(|_| {
                SqlError::new(
                    SqlState::INTERNAL_ERROR,
                    format!("could not seek in file \"{path}\": Invalid argument"),
                )
            })?
        } else {
            offset.unsigned_abs()
        };
        let skip = io::copy(&mut (&mut file).take(skipped), &mut io::sink());
        skip.map_err(|error| unread(&error))?;
        // One more than a value may have.
        let limit = length.min(VALUE_BYTES_MAX + 1);
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
        if bytes.len() as u64 > VALUE_BYTES_MAX {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "file length too large"));
        }
        Ok(Some(bytes))
    }

    fn file_facts(&self) -> Result<Datum<'a>> {
        let path = self.path()?;
        let facts = match self.files()?.facts(&path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == ErrorKind::NotFound && self.missing_is_null() => {
                return Ok(Datum::Null);
            }
            Err(error) => {
                return Err(failure(&format!("could not stat file \"{path}\""), &error));
            }
        };
        let FileFacts { size, accessed, modified, changed, directory } = facts;
        let at = |seconds: i64| (SqlType::plain(oids::TIMESTAMPTZ), time(seconds));
        let fields = [
            (SqlType::plain(oids::INT8), Datum::Int8(size)),
            at(accessed),
            at(modified),
            at(changed),
            (SqlType::plain(oids::TIMESTAMPTZ), Datum::Null),
            (SqlType::plain(oids::BOOL), Datum::Bool(directory)),
        ];
        let names = ["size", "access", "modification", "change", "creation", "isdir"];
        Ok(record::build_named(self.context.arena, &fields, names.map(Into::into).iter()))
    }

    /// The names in a directory; none of one that is missing and may be.
    fn names_in(&self, path: &str, missing: bool) -> Result<Vec<String>> {
        match self.files()?.list(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && missing => Ok(Vec::new()),
            Err(error) => Err(failure(&format!("could not open directory \"{path}\""), &error)),
            Ok(names) => Ok(names),
        }
    }

    /// `pg_ls_dir`.
    pub(super) fn list_directory(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let (missing, dots) = (self.flag(1), self.flag(2));
        let path = self.path()?;
        let path = path.as_str();
        if !self.files()?.facts(path).is_ok_and(|facts| facts.directory) {
            self.names_in(path, missing)?;
            return Ok(());
        }
        let own = if dots { &[".", ".."][..] } else { &[] };
        let names = self.names_in(path, missing)?;
        for name in own.iter().copied().chain(names.iter().map(String::as_str)) {
            if !emit(&[self.text(name)])? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_ls_waldir` and its kin: name, size, time of the last change of the files in a directory of the server's own, which
    /// may be missing.
    pub(super) fn list_files(
        &self,
        directory: &str,
        missing: bool,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let files = self.files()?;
        let timeline = self.session.catalog.manager().data().log().timeline();
        for name in self.names_in(directory, missing)? {
            // One that has gone since is no file any more.
            let Ok(facts) = files.facts(&format!("{directory}/{name}")) else { continue };
            if facts.directory || name.starts_with('.') {
                continue;
            }
            let segment = directory == LOG_FOLDER && is_segment(&name);
            // As the archive and `pg_walfile_name` call it.
            let shown = match segment {
                true => format!("{timeline:08X}{name}"),
                false => name,
            };
            if !emit(&[self.text(&shown), Datum::Int8(facts.size), time(facts.modified)])? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_ls_logdir`.
    pub(super) fn list_log_directory(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let directory = self.session.settings.read(|settings| settings.text("log_directory"));
        self.list_files(&directory, false, emit)
    }

    /// `pg_ls_tmpdir`: of a tablespace, or of the default one. Files of all are in one place.
    pub(super) fn list_scratch(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        match self.arguments.first() {
            Some(Datum::Oid(oid)) if super::sizes::tablespace(*oid).is_none() => {
                let message = format!("tablespace with OID {oid} does not exist");
                Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
            }
            // Nothing is written to the one of objects that all databases share.
            Some(Datum::Oid(GLOBAL)) => Ok(()),
            _ => self.list_files(SCRATCH_FOLDER, true, emit),
        }
    }
}

/// The tablespace `pg_global`.
const GLOBAL: u32 = 1664;

/// How long a value may be.
const VALUE_BYTES_MAX: u64 = (1 << 30) - 1;
