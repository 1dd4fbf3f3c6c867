//! Rows of system relations: what a scan of one is given, how rows are put together, and which function makes which.
//!
//! The built-in part of a relation is PostgreSQL's own data, parsed field by field as it is asked for; users' objects
//! follow, made from the snapshot: users' relations one by one, in the order of their OIDs, so that a scan can be given in
//! parts; what stands before and behind them goes with the first and the last part. A key is a hint: rows that do not have it may come too, so every condition is checked
//! again by who scans. Any key on an OID or a text finds built-in rows by a hash index, made when it is first asked for.

use super::counted::Counters;
use super::{
    attachments, columns, definitions, dependencies, locks, objects, routines, session, time_zones,
    triggers, types,
};
use crate::catalog::acl::{self, Acl};
use crate::catalog::built_in_rows::{self, is_of_extensions};
use crate::catalog::builtin;
use crate::catalog::extension;
use crate::catalog::privilege::kept;
use crate::catalog::relation::Relation;
use crate::catalog::snapshot::CatalogSnapshot;
use crate::catalog::system::relation;
use crate::error::Result;
use crate::exec::system_scan::ScanProgress;
use crate::settings::Settings;
use crate::types::{CallContext, Datum, Oid, SqlType, array};
use txn::introspect::LockInfo;

/// What a session is doing: a row of `pg_stat_activity`.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// `pid`.
    pub pid: u32,
    /// `backend_type`.
    pub kind: &'static str,
    /// The database's OID; 0 for none.
    pub database: Oid,
    /// The session user's OID; 0 for none.
    pub user: Oid,
    /// `application_name`.
    pub application_name: String,
    /// The client's address; none for a Unix socket.
    pub client_address: Option<std::net::IpAddr>,
    /// The client's port, -1 for a Unix socket.
    pub client_port: i32,
    /// The address at which the client reached the server; none for a Unix socket. No column shows it.
    pub server: Option<std::net::SocketAddr>,
    /// How its connection is protected, if it is.
    pub encryption: Option<Encryption>,
    /// `backend_start`, microseconds since 2000-01-01 UTC.
    pub backend_start: i64,
    /// `xact_start`.
    pub transaction_start: Option<i64>,
    /// `query_start`.
    pub query_start: Option<i64>,
    /// `state_change`.
    pub state_change: Option<i64>,
    /// `wait_event_type` and `wait_event`.
    pub wait: Option<(&'static str, &'static str)>,
    /// `state`: `active`, `idle`, `idle in transaction`.
    pub state: &'static str,
    /// The latest statement.
    pub query: String,
    /// The number of statements of its shape, if statements have numbers; 0 for none.
    pub statement: i64,
    /// The number of its transaction (`pg_current_xact_id`), if it has one.
    pub xact_id: Option<u64>,
    /// How far it has come with a command that tells.
    pub progress: Option<Progress>,
    /// Relations of the catalog that its transaction has read.
    pub catalogs: Vec<Oid>,
}

/// What sessions have come to: columns of `pg_stat_database`. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTimes {
    /// How many sessions.
    pub sessions: i64,
    /// How long they have lasted.
    pub session_us: i64,
    /// How long they have worked.
    pub active_us: i64,
    /// How long they have waited for their clients within transactions.
    pub idle_us: i64,
    /// Temporary files that they have had.
    pub temp_files: u64,
    /// How many bytes those had.
    pub temp_bytes: u64,
    /// Pages that their statements have found in memory.
    pub pages_hit: u64,
    /// Pages that these have read from disk.
    pub pages_read: u64,
    /// How long these took, where `track_io_timing` was on.
    pub read_us: u64,
    /// How long those took that they have written.
    pub written_us: u64,
}

impl SessionTimes {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: SessionTimes) -> SessionTimes {
        SessionTimes {
            sessions: self.sessions + other.sessions,
            session_us: self.session_us + other.session_us,
            active_us: self.active_us + other.active_us,
            idle_us: self.idle_us + other.idle_us,
            temp_files: self.temp_files.wrapping_add(other.temp_files),
            temp_bytes: self.temp_bytes.wrapping_add(other.temp_bytes),
            pages_hit: self.pages_hit.wrapping_add(other.pages_hit),
            pages_read: self.pages_read.wrapping_add(other.pages_read),
            read_us: self.read_us.wrapping_add(other.read_us),
            written_us: self.written_us.wrapping_add(other.written_us),
        }
    }

    /// What has come since `base`.
    #[must_use]
    pub fn since(self, base: SessionTimes) -> SessionTimes {
        SessionTimes {
            sessions: (self.sessions - base.sessions).max(0),
            session_us: (self.session_us - base.session_us).max(0),
            active_us: (self.active_us - base.active_us).max(0),
            idle_us: (self.idle_us - base.idle_us).max(0),
            temp_files: self.temp_files.saturating_sub(base.temp_files),
            temp_bytes: self.temp_bytes.saturating_sub(base.temp_bytes),
            pages_hit: self.pages_hit.saturating_sub(base.pages_hit),
            pages_read: self.pages_read.saturating_sub(base.pages_read),
            read_us: self.read_us.saturating_sub(base.read_us),
            written_us: self.written_us.saturating_sub(base.written_us),
        }
    }
}

impl Activity {
    /// Whether it is a client's session, and not one of the server's own threads.
    #[must_use]
    pub fn is_client(&self) -> bool {
        self.kind == CLIENT
    }
}

/// `backend_type` of clients' sessions.
pub const CLIENT: &str = "client backend";

/// How far a command has come: a row of `pg_stat_get_progress_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The command.
    pub command: &'static str,
    /// The relation that it works on.
    pub relation: Oid,
    /// Its figures, each of which the command gives a meaning.
    pub figures: [i64; 20],
}

/// How a connection is protected, in OpenSSL's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// The protocol's version.
    pub version: &'static str,
    /// The cipher suite.
    pub cipher: &'static str,
    /// The length of its key.
    pub bits: i32,
    /// What the client's certificate says, if it has shown one.
    pub certificate: Option<PeerCertificate>,
}

/// What a client's certificate says, as `pg_stat_ssl` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCertificate {
    /// `client_dn`: whose it is.
    pub subject: String,
    /// `client_serial`.
    pub serial: String,
    /// `issuer_dn`.
    pub issuer: String,
}

/// A prepared statement: a row of `pg_prepared_statements`.
#[derive(Clone, Debug, Default)]
pub struct PreparedStatement {
    /// Its name.
    pub name: String,
    /// Its text.
    pub statement: String,
    /// When it was prepared.
    pub prepare_time: i64,
    /// Its parameters' types.
    pub parameter_types: Vec<Oid>,
    /// Whether PREPARE made it, and not the protocol.
    pub from_sql: bool,
}

/// A cursor: a row of `pg_cursors`.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Its name.
    pub name: String,
    /// The text of its message.
    pub statement: String,
    /// BINARY.
    pub binary: bool,
    /// WITH HOLD.
    pub holdable: bool,
    /// Whether it goes back.
    pub scrollable: bool,
    /// When it was declared.
    pub created: i64,
}

/// What system relations are made of.
pub struct SystemContext<'s> {
    /// The catalog as the statement sees it.
    pub snapshot: &'s CatalogSnapshot,
    /// The session's settings.
    pub settings: &'s Settings,
    /// The current user.
    pub user: Oid,
    /// All sessions, the asking one too.
    pub activity: &'s dyn Fn() -> Vec<Activity>,
    /// The session's prepared statements.
    pub prepared: &'s dyn Fn() -> Vec<PreparedStatement>,
    /// The session's cursors.
    pub cursors: &'s dyn Fn() -> Vec<Cursor>,
    /// What the instance has counted.
    pub counters: &'s dyn Fn() -> Counters,
    /// All prepared transactions.
    pub prepared_transactions: &'s dyn Fn() -> Vec<txn::PreparedInfo>,
    /// All locks.
    pub locks: &'s dyn Fn() -> Vec<LockInfo>,
    /// What serializable transactions have read, as locks.
    pub sireads: &'s dyn Fn() -> Vec<txn::SireadInfo>,
    /// The transactions that run, by session and number.
    pub running: &'s dyn Fn() -> Vec<(u32, txn::TxnId)>,
}

/// Takes a row; false ends the scan.
pub type Emit<'e, 'a> = dyn FnMut(&[Datum<'a>]) -> Result<bool> + 'e;

/// A scan under way: everything that makes rows.
pub(super) struct Rows<'s, 'c, 'a, 'e> {
    pub(super) system: &'s SystemContext<'s>,
    pub(super) call: &'c CallContext<'a>,
    /// `column = value` conditions that all rows have to meet anyway.
    keys: &'s [(usize, Datum<'s>)],
    emit: &'e mut Emit<'e, 'a>,
    /// The taker has had enough.
    done: bool,
    /// Where this part begins.
    from: ScanProgress,
    /// How many rows are in it.
    given: usize,
    /// The relation that the next part begins with, where this one has not come to the end.
    next: Option<Oid>,
}

impl<'s, 'a> Rows<'s, '_, 'a, '_> {
    /// Hands a row out.
    pub(super) fn row(&mut self, row: &[Datum<'a>]) -> Result<()> {
        if !self.done {
            self.given += 1;
            self.done = !(self.emit)(row)?;
        }
        Ok(())
    }

    /// Whether this part is the first: what stands before users' relations is in it.
    pub(super) fn begins(&self) -> bool {
        self.from == ScanProgress::Begins
    }

    /// The relation that this part begins with, if it is not the first.
    pub(super) fn first(&self) -> Oid {
        match self.from {
            ScanProgress::Begins => Oid(0),
            ScanProgress::At(relation) => relation,
            ScanProgress::Ended => Oid(u32::MAX),
        }
    }

    /// Whether this part ends before the rows of this relation, and so before all that comes behind.
    pub(super) fn pauses(&mut self, relation: Oid) -> bool {
        if self.given < PART_ROWS && !self.done {
            return false;
        }
        self.next = Some(relation);
        true
    }

    /// Whether the taker has had enough.
    pub(super) fn done(&self) -> bool {
        self.done
    }

    /// The OID that rows must have in this column, if one is asked for.
    pub(super) fn oid_key(&self, column: usize) -> Option<Oid> {
        self.keys.iter().find(|key| key.0 == column).and_then(|key| match key.1 {
            Datum::Oid(oid) => Some(Oid(oid)),
            _ => None,
        })
    }

    /// The text that rows must have in this column, if one is asked for.
    pub(super) fn text_key(&self, column: usize) -> Option<&'s str> {
        self.keys.iter().find(|key| key.0 == column).and_then(|key| match key.1 {
            Datum::Text(text) => Some(text),
            _ => None,
        })
    }

    /// A text in the arena.
    pub(super) fn text(&self, text: &str) -> Datum<'a> {
        Datum::Text(self.call.arena.alloc_str(text))
    }

    /// A text or NULL.
    pub(super) fn optional(&self, text: Option<&str>) -> Datum<'a> {
        text.map_or(Datum::Null, |text| self.text(text))
    }

    /// text[].
    pub(super) fn texts(&self, texts: &[String]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
        array::from_datums(self.call.arena, 25, &datums)
    }

    /// int2[].
    pub(super) fn numbers(&self, numbers: &[i16]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = numbers.iter().map(|number| Datum::Int2(*number)).collect();
        array::from_datums(self.call.arena, 21, &datums)
    }

    /// oid[].
    pub(super) fn oids(&self, oids: &[u32]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = oids.iter().map(|oid| Datum::Oid(*oid)).collect();
        array::from_datums(self.call.arena, 26, &datums)
    }

    /// int2vector.
    pub(super) fn number_vector(&self, numbers: &[i16]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = numbers.iter().map(|number| Datum::Int2(*number)).collect();
        array::vector(self.call.arena, 21, &datums)
    }

    /// oidvector.
    pub(super) fn oid_vector(&self, oids: &[u32]) -> Datum<'a> {
        let datums: Vec<Datum<'_>> = oids.iter().map(|oid| Datum::Oid(*oid)).collect();
        array::vector(self.call.arena, 26, &datums)
    }

    /// aclitem[], NULL for the owner's default.
    pub(super) fn acl(&self, list: Option<&Acl>) -> Datum<'a> {
        let Some(list) = list else { return Datum::Null };
        let shared = self.system.snapshot.shared();
        let name = |oid: Oid| match shared.role_by_oid(oid) {
            Some(role) => role.name.to_string(),
            None => oid.to_string(),
        };
        let texts: Vec<String> = list.iter().map(|item| acl::item_text(item, &name)).collect();
        let datums: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
        array::from_datums(self.call.arena, 1033, &datums)
    }

    /// Options as `name=value` texts, NULL for none.
    pub(super) fn options(&self, options: &[(String, String)]) -> Datum<'a> {
        if options.is_empty() {
            return Datum::Null;
        }
        let texts: Vec<String> =
            options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.texts(&texts)
    }

    /// The built-in rows of a relation.
    pub(super) fn builtin(&mut self, relation: &Relation) -> Result<()> {
        if !self.begins() {
            return Ok(());
        }
        let Some(file) = built_in_rows::of(&relation.name) else { return Ok(()) };
        // By the key that the fewest rows have.
        let found = self.keys.iter().filter_map(|(column, key)| file.find(*column, key));
        let found = found.min_by_key(|rows| rows.len());
        let mut all = 0..file.rows.len();
        let mut some = found.unwrap_or_default().iter();
        let mut next = || match found {
            Some(_) => some.next().map(|at| *at as usize),
            None => all.next(),
        };
        let mut row = Vec::with_capacity(relation.columns.len());
        while let Some(at) = next() {
            row.clear();
            for (column, field) in relation.columns.iter().zip(file.rows[at].fields()) {
                row.push(self.field(column.ty, field)?);
            }
            if self.is_replaced(relation, &row) || !self.has_member(relation, &mut row) {
                continue;
            }
            self.own_acl(relation, &mut row);
            self.row(&row)?;
            if self.done {
                break;
            }
        }
        Ok(())
    }

    /// Whether COMMENT has put another description in the place of this one.
    fn is_replaced(&self, relation: &Relation, row: &[Datum<'a>]) -> bool {
        match row {
            [Datum::Oid(oid), Datum::Oid(class), ..] if &*relation.name == "pg_description" => {
                let comment = self.system.snapshot.comment(Oid(*oid), 0);
                comment.is_some_and(|comment| comment.class.0 == *class)
            }
            _ => false,
        }
    }

    /// Whether the database has an object: one of an extension it may not have. Where that is, and whose, is put
    /// into the row.
    fn has_member(&self, relation: &Relation, row: &mut [Datum<'a>]) -> bool {
        let &mut [Datum::Oid(oid), ref mut rest @ ..] = row else { return true };
        let known = match &*relation.name {
            "pg_language" => extension::of_language(oid),
            name if is_of_extensions(name) => extension::of_member(oid),
            _ => return true,
        };
        let Some(known) = known else { return true };
        let Some(found) = self.system.snapshot.extension(known.name) else { return false };
        // A language is in no schema, parts of operator families are also nobody's.
        for (column, value) in relation.columns.iter().skip(1).zip(rest) {
            if column.name.ends_with("namespace") {
                *value = Datum::Oid(found.schema.0);
            } else if column.name.ends_with("owner") {
                *value = Datum::Oid(found.owner.0);
            }
        }
        true
    }

    /// Puts the list that GRANT has left of a function, type or language into its row.
    fn own_acl(&self, relation: &Relation, row: &mut [Datum<'a>]) {
        let (name, sub) = match &*relation.name {
            "pg_proc" => ("proacl", kept::FUNCTION),
            "pg_type" => ("typacl", kept::TYPE),
            "pg_language" => ("lanacl", kept::LANGUAGE),
            "pg_class" => ("relacl", kept::RELATION),
            "pg_attribute" => match relation.column("attnum").and_then(|at| row.get(at)) {
                Some(Datum::Int2(number @ 1..)) => ("attacl", u32::from(number.unsigned_abs())),
                _ => return,
            },
            _ => return,
        };
        let Some(Datum::Oid(oid)) = row.first() else { return };
        let snapshot = self.system.snapshot;
        let own = snapshot.acl(Oid(*oid), sub).map(|acl| Acl::clone(acl)).or_else(|| {
            // Those of extensions have lists of their owners.
            let function = builtin::function(*oid).filter(|found| found.extension.is_some())?;
            if sub == kept::FUNCTION { snapshot.function_acl(function) } else { None }
        });
        if let (Some(acl), Some(at)) = (own, relation.column(name)) {
            row[at] = self.acl(Some(&acl));
        }
    }

    /// A field of a generated file as a value.
    fn field(&self, ty: SqlType, field: Option<&'static str>) -> Result<Datum<'a>> {
        let Some(field) = field else { return Ok(Datum::Null) };
        let expected = "the generated files have numbers where their tables have them";
        Ok(match ty.oid.0 {
            16 => Datum::Bool(field == "t"),
            18 => Datum::Char(field.bytes().next().unwrap_or(0)),
            21 => Datum::Int2(field.parse().expect(expected)),
            23 => Datum::Int4(field.parse().expect(expected)),
            26 | 24 | 28 => Datum::Oid(field.parse().expect(expected)),
            19 | 25 | 194 if !field.contains('\\') => Datum::Text(field),
            19 | 25 | 194 => self.text(&builtin::unescape(field)),
            _ => crate::types::read_text(self.call, ty, &builtin::unescape(field))?,
        })
    }
}

/// A part of the rows has at least so many, where there are more.
const PART_ROWS: usize = if cfg!(test) { 16 } else { 1_000 };

/// Hands out the rows of a system relation that is served from the snapshot, all columns in `attnum` order. `keys` are
/// equality conditions by column index that every row has to meet: they may save work, and are checked by the caller.
/// What is given is a part of the rows, from `progress` on; that then says where the next one begins.
///
/// # Errors
/// Those of `emit`; 0A000 for values that cannot be held yet.
pub fn scan<'a>(
    oid: Oid,
    system: &SystemContext<'_>,
    call: &CallContext<'a>,
    (keys, progress): (&[(usize, Datum<'_>)], &mut ScanProgress),
    emit: &mut Emit<'_, 'a>,
) -> Result<()> {
    let from = std::mem::replace(progress, ScanProgress::Ended);
    let Some(relation) = relation(oid) else { return Ok(()) };
    // What the roles' passwords and the statistics' values are is for superusers only; `privilege` has said so already.
    let mut forward = |row: &[Datum<'a>]| emit(row);
    let mut rows =
        Rows { system, call, keys, emit: &mut forward, done: false, from, given: 0, next: None };
    made(&mut rows, relation)?;
    if let Some(next) = rows.next.filter(|_| !rows.done) {
        *progress = ScanProgress::At(next);
    }
    Ok(())
}

/// Makes rows, from where the part begins.
fn made(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    match &*relation.name {
        "pg_class" => objects::classes(rows, relation),
        "pg_attribute" => columns::attributes(rows, relation),
        "pg_attrdef" => columns::defaults(rows),
        "pg_index" => objects::indexes(rows, relation),
        "pg_constraint" => objects::constraints(rows, relation),
        "pg_type" => types::types(rows, relation),
        "pg_enum" => types::labels(rows),
        "pg_sequence" => objects::sequences(rows),
        "pg_depend" => dependencies::dependencies(rows),
        "pg_shdepend" => dependencies::shared(rows),
        "pg_trigger" => triggers::triggers(rows),
        "pg_rewrite" => objects::rules(rows),
        "pg_description" => objects::descriptions(rows, relation),
        "pg_stats" => columns::statistics(rows),
        "pg_namespace" => definitions::schemas(rows),
        "pg_database" => definitions::databases(rows),
        "pg_authid" => definitions::roles(rows),
        "pg_auth_members" => definitions::memberships(rows),
        "pg_db_role_setting" => definitions::kept_settings(rows),
        "pg_shdescription" => definitions::shared_descriptions(rows),
        "pg_parameter_acl" => definitions::parameters(rows),
        "pg_default_acl" => definitions::default_acls(rows),
        "pg_proc" => routines::routines(rows, relation),
        "pg_aggregate" => routines::aggregates(rows, relation),
        "pg_operator" => attachments::operators(rows, relation),
        "pg_cast" => attachments::casts(rows, relation),
        "pg_opclass" => attachments::operator_classes(rows, relation),
        "pg_opfamily" => attachments::operator_families(rows, relation),
        "pg_amop" => attachments::family_members(rows, relation, false),
        "pg_amproc" => attachments::family_members(rows, relation, true),
        "pg_conversion" => attachments::conversions(rows, relation),
        "pg_event_trigger" => attachments::event_triggers(rows),
        "pg_extension" => definitions::extensions(rows),
        "pg_init_privs" => definitions::initial_privileges(rows, relation),
        "pg_settings" => session::settings(rows),
        "pg_locks" => locks::locks(rows),
        "pg_timezone_names" => time_zones::names(rows),
        "pg_timezone_abbrevs" => time_zones::abbreviations(rows),
        "pg_prepared_xacts" => session::prepared_transactions(rows),
        "pg_prepared_statements" => session::prepared_statements(rows),
        "pg_cursors" => session::cursors(rows),
        _ => rows.builtin(relation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::object::well_known;
    use crate::catalog::testing::{begin, catalog, table};
    use crate::catalog::{CatalogTransaction, RelationKind, system};
    use crate::settings::ServerSettings;
    use crate::types::no_session::with_context;
    use std::sync::Arc;

    fn with_system(test: impl FnOnce(&SystemContext<'_>)) {
        let catalog = catalog();
        let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let mut transaction = begin(&catalog);
        own.put_relation(&mut transaction, table(20_000)).unwrap();
        let settings = Settings::new(Arc::new(ServerSettings::default()));
        test(&SystemContext {
            snapshot: &Arc::clone(own.snapshot()),
            settings: &settings,
            user: well_known::SUPERUSER,
            activity: &|| vec![Activity { pid: 7, state: "active", ..Activity::default() }],
            prepared: &Vec::new,
            cursors: &Vec::new,
            counters: &Counters::default,
            prepared_transactions: &|| catalog.manager().prepared(),
            locks: &|| catalog.manager().locks(),
            sireads: &|| catalog.manager().siread_locks(),
            running: &Vec::new,
        });
    }

    /// All rows, part by part.
    fn scan<'a>(
        oid: Oid,
        system: &SystemContext<'_>,
        call: &CallContext<'a>,
        keys: &[(usize, Datum<'_>)],
        emit: &mut Emit<'_, 'a>,
    ) -> Result<()> {
        let mut progress = ScanProgress::Begins;
        while progress != ScanProgress::Ended {
            super::scan(oid, system, call, (keys, &mut progress), emit)?;
        }
        Ok(())
    }

    #[test]
    fn every_row_has_every_column_in_its_columns_form() {
        with_system(|system| {
            with_context(|call| {
                for relation in system::relations() {
                    if !matches!(relation.kind, RelationKind::System) {
                        continue;
                    }
                    let mut count = 0;
                    scan(relation.oid, system, call, &[], &mut |row| {
                        count += 1;
                        assert_eq!(row.len(), relation.columns.len(), "{}", relation.name);
                        for (column, datum) in relation.columns.iter().zip(row) {
                            let shown = crate::types::text_of(call, column.ty, datum);
                            let place = format!("{}.{}", relation.name, column.name);
                            assert!(datum.is_null() || shown.is_ok(), "{place}: {shown:?}");
                            assert!(!(column.not_null && datum.is_null()), "{place} is NULL");
                        }
                        Ok(true)
                    })
                    .unwrap();
                    let many = ["pg_class", "pg_attribute", "pg_type", "pg_proc", "pg_settings"];
                    assert!(count > 300 || !many.contains(&&*relation.name), "{}", relation.name);
                }
            });
        });
    }

    #[test]
    fn keys_find_what_scans_find() {
        with_system(|system| {
            with_context(|call| {
                let rows = |name: &str, keys: &[(usize, Datum<'_>)], wanted: (usize, u32)| {
                    let oid = system::named(well_known::PG_CATALOG, name).unwrap();
                    let mut found = Vec::new();
                    // The keys are texts and numbers, which live as long as the scan.
                    let keys: Vec<(usize, Datum<'_>)> = keys
                        .iter()
                        .map(|(at, key)| match key {
                            Datum::Text(text) => (*at, Datum::Text(call.arena.alloc_str(text))),
                            Datum::Oid(oid) => (*at, Datum::Oid(*oid)),
                            _ => unreachable!("keys are OIDs and names"),
                        })
                        .collect();
                    scan(oid, system, call, &keys, &mut |row| {
                        if matches!(row[wanted.0], Datum::Oid(oid) if oid == wanted.1) {
                            found.push(format!("{row:?}"));
                        }
                        Ok(true)
                    })
                    .unwrap();
                    found
                };
                for (name, column, oid) in [
                    ("pg_class", 0, 20_000),
                    ("pg_class", 0, 20_002),
                    ("pg_class", 0, 1259),
                    ("pg_attribute", 0, 20_000),
                    ("pg_attribute", 0, 20_002),
                    ("pg_attribute", 0, 1259),
                    ("pg_index", 0, 20_001),
                    ("pg_index", 1, 20_000),
                    ("pg_constraint", 0, 20_004),
                    ("pg_constraint", 7, 20_000),
                    ("pg_constraint", 11, 20_000),
                    ("pg_type", 0, 20_005),
                    ("pg_type", 0, 23),
                    ("pg_type", 11, 20_000),
                    ("pg_type", 11, 1259),
                    ("pg_type", 13, 20_005),
                    ("pg_type", 13, 23),
                    ("pg_type", 14, 1007),
                    ("pg_class", 3, 20_005),
                    ("pg_class", 3, 83),
                    ("pg_proc", 0, 1242),
                    ("pg_cast", 1, 23),
                    ("pg_index", 1, 1259),
                    ("pg_description", 0, 1242),
                    ("pg_attrdef", 1, 20_000),
                    ("pg_depend", 1, 20_000),
                    ("pg_depend", 1, 20_002),
                    ("pg_depend", 1, 20_004),
                    ("pg_depend", 1, 20_005),
                    ("pg_depend", 4, 20_000),
                    ("pg_depend", 4, 20_001),
                    ("pg_depend", 4, 20_005),
                    ("pg_depend", 4, 2200),
                    ("pg_attrdef", 0, columns::default_oid(Oid(20_000), 1).0),
                    ("pg_depend", 1, columns::default_oid(Oid(20_000), 1).0),
                ] {
                    let all = rows(name, &[], (column, oid));
                    let keyed = rows(name, &[(column, Datum::Oid(oid))], (column, oid));
                    assert!(!all.is_empty(), "{name} {oid}");
                    assert_eq!(all, keyed, "{name} {oid}");
                }
                assert_eq!(rows("pg_class", &[(1, Datum::Text("ti"))], (0, 20_002)).len(), 1);
                assert_eq!(rows("pg_class", &[(1, Datum::Text("pg_type"))], (0, 1247)).len(), 1);
                assert_eq!(rows("pg_type", &[(1, Datum::Text("t"))], (0, 20_005)).len(), 1);
                assert_eq!(rows("pg_type", &[(1, Datum::Text("_int4"))], (0, 1007)).len(), 1);
            });
        });
    }
}
