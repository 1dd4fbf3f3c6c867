//! Functions about the instance as a whole (manual, sections 9.27.3, 9.27.11, 9.28): its control file, its write-ahead log,
//! the server's log and configuration files, the extensions that are there.

use super::Call;
use super::statistics::Emit;
use crate::catalog::extension::{AVAILABLE, Available, unavailable};
use crate::error::{Result, Severity, SqlError};
use crate::host::{AccessRule, FileSetting, ServerHost, UserMapping};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::{Datum, array, oids};
use std::sync::Arc;
use txn::Lsn;

/// PostgreSQL 15's numbers of the control file's and of the catalogs' form, by which tools tell its versions.
const CONTROL_VERSION: i32 = 1300;
const CATALOG_VERSION: i32 = 202_209_061;

/// The file that holds what does not change of an instance, and its last checkpoint.
const CONTROL_FILE: &str = "control";

const CONTROL_SYSTEM: u32 = 3441;
const CONTROL_CHECKPOINT: u32 = 3442;
const CONTROL_RECOVERY: u32 = 3443;
const CONTROL_INIT: u32 = 3444;

fn lsn<'a>(at: Lsn) -> Datum<'a> {
    Datum::Int8(at.0.cast_signed())
}

impl<'a> Call<'_, '_, '_, 'a> {
    fn host(&self) -> Result<Arc<dyn ServerHost>> {
        self.session.engine.host().ok_or_else(|| SqlError::unsupported("the server's log is"))
    }

    /// Functions of this file that give one value; none for those that are not answered.
    pub(super) fn instance_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let data = self.session.catalog.manager().data();
        Some(match function {
            "pg_control_system" => self.control_system(),
            "pg_control_checkpoint" => self.control_checkpoint(),
            "pg_control_init" => {
                let identity = data.identity();
                let number = |value: u64| Datum::Int4(i32::try_from(value).unwrap_or(i32::MAX));
                Ok(self.out_row(
                    CONTROL_INIT,
                    &[
                        Datum::Int4(8),
                        number(u64::from(identity.page_bytes)),
                        // The data file is one.
                        Datum::Int4(0),
                        number(u64::from(identity.page_bytes)),
                        number(identity.log_segment_bytes),
                        Datum::Int4(64),
                        Datum::Int4(32),
                        number(u64::from(identity.page_bytes) / 4),
                        Datum::Int4(2048),
                        Datum::Bool(true),
                        // Every page has a checksum.
                        Datum::Int4(1),
                    ],
                ))
            }
            "pg_control_recovery" => {
                let (none, zero) = (lsn(Lsn(0)), Datum::Int4(0));
                Ok(self.out_row(CONTROL_RECOVERY, &[none, zero, none, none, Datum::Bool(false)]))
            }
            "pg_import_system_collations" => self.import_collations(),
            // There are no origins, as nothing is replicated.
            "pg_replication_origin_oid" => Ok(Datum::Null),
            "pg_replication_origin_session_is_setup" => Ok(Datum::Bool(false)),
            "pg_backup_start" => self.start_backup().map(lsn),
            "pg_backup_stop" => self.stop_backup(),
            "pg_create_restore_point" => self.restore_point().map(lsn),
            "pg_switch_wal" => data.log().switch().map(lsn).map_err(SqlError::from),
            "pg_rotate_logfile" => self.host().map(|host| {
                let rotates = host.rotate_log();
                if !rotates {
                    self.warn("rotation not possible because log collection not active");
                }
                Datum::Bool(rotates)
            }),
            "pg_current_logfile" => self.log_file(),
            "pg_log_backend_memory_contexts" => self.log_memory(),
            "pg_safe_snapshot_blocking_pids" => {
                let Some(Datum::Int4(pid)) = self.arguments.first() else {
                    return Some(Ok(Datum::Null));
                };
                let manager = self.session.catalog.manager();
                let pids = manager.safe_snapshot_blocking_pids(pid.cast_unsigned());
                let pids: Vec<Datum<'_>> =
                    pids.into_iter().map(|pid| Datum::Int4(pid.cast_signed())).collect();
                Ok(array::from_datums(self.context.arena, oids::INT4, &pids))
            }
            "pg_settings_get_flags" => Ok(self.setting_flags()),
            "pg_indexam_progress_phasename" => Ok(self.index_phase()),
            _ => return None,
        })
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        let warning = SqlError::warning(SqlState::WARNING, message);
        self.context.notices.borrow_mut().push(warning);
    }

    /// `pg_import_system_collations`: a new database has all that there are.
    fn import_collations(&self) -> Result<Datum<'a>> {
        let snapshot = self.session.snapshot;
        if !snapshot.shared().is_superuser(self.session.user()) {
            let message = "must be superuser to import system collations";
            return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        }
        let schema = self.oid(0);
        if snapshot.schema_by_oid(schema).is_none() {
            let message = format!("schema with OID {schema} does not exist");
            return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message));
        }
        Ok(Datum::Int4(0))
    }

    fn control_changed(&self) -> Datum<'a> {
        let facts = self.session.engine.files().and_then(|files| files.facts(CONTROL_FILE).ok());
        facts.map_or(Datum::Null, |facts| super::files::time(facts.modified))
    }

    fn control_system(&self) -> Result<Datum<'a>> {
        let identity = self.session.catalog.manager().data().identity();
        Ok(self.out_row(
            CONTROL_SYSTEM,
            &[
                Datum::Int4(CONTROL_VERSION),
                Datum::Int4(CATALOG_VERSION),
                Datum::Int8(identity.system.cast_signed()),
                self.control_changed(),
            ],
        ))
    }

    fn control_checkpoint(&self) -> Result<Datum<'a>> {
        let manager = self.session.catalog.manager();
        let last = manager.data().last_checkpoint();
        let (file, _) = manager.data().log().place_of(Lsn(last.redo.0 + 1));
        let timeline = Datum::Int4(manager.data().log().timeline().cast_signed());
        let next = manager.xact_ids().next();
        let oldest = manager.xact_ids().first() as u32;
        let (one, none) = (Datum::Oid(1), Datum::Oid(0));
        Ok(self.out_row(
            CONTROL_CHECKPOINT,
            &[
                lsn(last.redo),
                lsn(last.redo),
                self.text(&file),
                timeline,
                timeline,
                Datum::Bool(false),
                self.text(&format!("{}:{}", next >> 32, next as u32)),
                Datum::Oid(self.session.catalog.coming_oid().map_or(0, |oid| oid.0)),
                one,
                none,
                Datum::Oid(oldest),
                one,
                none,
                one,
                one,
                none,
                none,
                self.control_changed(),
            ],
        ))
    }

    fn log_file(&self) -> Result<Datum<'a>> {
        let format = match self.str(0) {
            "" => None,
            known @ ("stderr" | "csvlog" | "jsonlog") => Some(known),
            other => {
                return Err(invalid_parameter(format!("log format \"{other}\" is not supported"))
                    .hint(
                        "The supported log formats are \"stderr\", \"csvlog\", and \"jsonlog\".",
                    ));
            }
        };
        let file = self.session.engine.host().and_then(|host| host.log_file(format));
        Ok(self.optional(file.as_deref()))
    }

    /// What the build of an index is at, by the number that its progress has (`btbuildphasename`).
    fn index_phase(&self) -> Datum<'a> {
        /// `pg_am` of btree.
        const BTREE: u32 = 403;
        const PHASES: [&str; 5] = [
            "initializing",
            "scanning table",
            "sorting live tuples",
            "sorting dead tuples",
            "loading tuples in tree",
        ];
        let phase = match self.arguments {
            [Datum::Oid(BTREE), Datum::Int8(phase)] => usize::try_from(phase - 1).ok(),
            _ => None,
        };
        phase.and_then(|at| PHASES.get(at)).map_or(Datum::Null, |name| Datum::Text(name))
    }

    fn setting_flags(&self) -> Datum<'a> {
        const SHOWN: [&str; 4] = ["EXPLAIN", "NO_RESET_ALL", "NO_SHOW_ALL", "NOT_IN_SAMPLE"];
        let flags = crate::settings::definition::flags(self.str(0));
        let Some(flags) = flags else { return Datum::Null };
        let mut shown: Vec<Datum<'_>> = Vec::new();
        for flag in SHOWN.iter().chain(&["RUNTIME_COMPUTED"]) {
            if flags.split(',').any(|one| one == *flag) {
                shown.push(Datum::Text(flag));
            }
        }
        array::from_datums(self.context.arena, oids::TEXT, &shown)
    }

    /// `pg_create_restore_point`.
    fn restore_point(&self) -> Result<Lsn> {
        /// The longest name (`MAXFNAMELEN`, but for its terminator).
        const NAME_BYTES_MAX: usize = 63;
        let level = self.session.settings.read(|now| now.text("wal_level"));
        if &*level == "minimal" {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "WAL level not sufficient for creating a restore point",
            )
            .hint("wal_level must be set to \"replica\" or \"logical\" at server start."));
        }
        let name = self.str(0);
        if name.len() > NAME_BYTES_MAX {
            let message =
                format!("value too long for restore point (maximum {NAME_BYTES_MAX} characters)");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        let end = self.session.catalog.manager().create_restore_point(name)?;
        let shown = format!("{:X}/{:X}", end.0 >> 32, end.0 & 0xFFFF_FFFF);
        let event = SqlError::notice(format!("restore point \"{name}\" created at {shown}"));
        if let Some(host) = self.session.engine.host() {
            host.log(&event.severity(Severity::Log));
        }
        Ok(end)
    }

    /// `pg_available_extensions`: name, default version, comment.
    pub(super) fn extensions(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for Available { name, version, comment, .. } in AVAILABLE {
            if !emit(&[Datum::Text(name), Datum::Text(version), Datum::Text(comment)])? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_available_extension_versions`.
    pub(super) fn extension_versions(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for known in AVAILABLE {
            let Available { name, version, comment, trusted, relocatable, schema, .. } = known;
            let requires: Vec<Datum<'_>> =
                known.requires.iter().copied().map(Datum::Text).collect();
            let row = [
                Datum::Text(name),
                Datum::Text(version),
                Datum::Bool(true),
                Datum::Bool(*trusted),
                Datum::Bool(*relocatable),
                schema.map_or(Datum::Null, Datum::Text),
                match requires[..] {
                    [] => Datum::Null,
                    _ => array::from_datums(self.context.arena, oids::NAME, &requires),
                },
                Datum::Text(comment),
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_extension_update_paths`: of one version there is no way to another.
    pub(super) fn extension_paths(&self) -> Result<()> {
        let name = self.str(0);
        match AVAILABLE.iter().any(|known| known.name == name) {
            true => Ok(()),
            false => Err(unavailable(name)),
        }
    }

    /// `pg_config`: what of it means anything of a server in one file.
    pub(super) fn build_facts(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let version = self.session.engine.version();
        let version = version.split(" on ").next().unwrap_or_default();
        emit(&[Datum::Text("VERSION"), self.text(version)]).map(|_| ())
    }

    /// `pg_show_all_file_settings`.
    pub(super) fn file_settings(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let found = self.session.engine.host().map(|host| host.file_settings());
        for (at, one) in found.unwrap_or_default().iter().enumerate() {
            let FileSetting { file, line, name, value, applied, error } = one;
            let row = [
                self.text(file),
                Datum::Int4(*line),
                Datum::Int4(i32::try_from(at + 1).unwrap_or(i32::MAX)),
                self.optional(name.as_deref()),
                self.optional(value.as_deref()),
                Datum::Bool(*applied),
                self.optional(error.as_deref()),
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    fn text_array(&self, texts: &[String]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
        array::from_datums(self.context.arena, oids::TEXT, &datums)
    }

    /// `pg_hba_file_rules`.
    pub(super) fn access_rules(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for rule in self.host()?.access_rules()? {
            let AccessRule { line, error, kind, databases, users, address, mask, .. } = &rule;
            let options =
                if rule.options.is_empty() { Datum::Null } else { self.text_array(&rule.options) };
            let row = match error {
                Some(_) => [Datum::Null; 7],
                None => [
                    self.optional(kind.as_deref()),
                    self.text_array(databases),
                    self.text_array(users),
                    self.optional(address.as_deref()),
                    self.optional(mask.as_deref()),
                    self.optional(rule.method.as_deref()),
                    options,
                ],
            };
            let [kind, databases, users, address, mask, method, options] = row;
            let (line, error) = (Datum::Int4(*line), self.optional(error.as_deref()));
            let row = [line, kind, databases, users, address, mask, method, options, error];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_ident_file_mappings`.
    pub(super) fn user_maps(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for UserMapping { line, error, map, system_user, role } in self.host()?.user_maps()? {
            let row = [
                Datum::Int4(line),
                self.optional(map.as_deref()),
                self.optional(system_user.as_deref()),
                self.optional(role.as_deref()),
                self.optional(error.as_deref()),
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }
}
