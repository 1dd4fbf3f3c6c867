//! `pg_settings`, `pg_stat_activity`, `pg_prepared_statements`: what sessions are and do.

use super::rows::{Activity, Encryption, Rows};
use crate::catalog::PreparedNote;
use crate::catalog::object::well_known;
use crate::error::Result;
use crate::settings::definition::Kind;
use crate::settings::value::{general, parse, raw};
use crate::types::{Datum, Oid, array};

/// The role `pg_read_all_stats`.
const READ_ALL_STATS: Oid = Oid(3375);

pub(super) fn settings(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let settings = rows.system.settings;
    let shared = rows.system.snapshot.shared();
    let guarded = shared.has_privileges_of(rows.system.user, well_known::READ_ALL_SETTINGS);
    for found in settings.rows() {
        let definition = found.definition;
        if definition.guarded && !guarded {
            continue;
        }
        let (low, high) = match &definition.kind {
            Kind::Integer(low, high) => (Some(low.to_string()), Some(high.to_string())),
            Kind::Real(low, high) => (Some(general(*low)), Some(general(*high))),
            Kind::Bool | Kind::Enum(_) | Kind::Text => (None, None),
        };
        let values = match &definition.kind {
            Kind::Enum(values) => {
                let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
                rows.texts(&values)
            }
            Kind::Bool | Kind::Integer(..) | Kind::Real(..) | Kind::Text => Datum::Null,
        };
        let boot = parse(definition, definition.boot).map(|value| raw(definition, &value));
        let row = [
            Datum::Text(definition.name),
            rows.text(&found.setting),
            rows.optional(definition.unit),
            Datum::Text(definition.category),
            Datum::Text(definition.short_description),
            rows.optional(definition.extra_description),
            Datum::Text(definition.context.word()),
            Datum::Text(definition.kind.word()),
            Datum::Text(found.source.word()),
            rows.optional(low.as_deref()),
            rows.optional(high.as_deref()),
            values,
            rows.optional(boot.as_deref().ok()),
            rows.text(&found.reset),
            Datum::Null,
            Datum::Null,
            Datum::Bool(false),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// Whether who asks may know what a session does: others' statements are for who may act as them, or may read all
/// statistics.
fn is_open(rows: &Rows<'_, '_, '_, '_>, session: &Activity) -> bool {
    let shared = rows.system.snapshot.shared();
    let asking = rows.system.user;
    [session.user, READ_ALL_STATS].iter().any(|role| shared.has_privileges_of(asking, *role))
}

/// `pg_stat_gssapi`: nobody comes by that way.
pub(super) fn gssapi(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for found in (rows.system.activity)() {
        if !is_open(rows, &found) {
            continue;
        }
        let no = Datum::Bool(false);
        rows.row(&[Datum::Int4(found.pid as i32), no, Datum::Null, no])?;
    }
    Ok(())
}

/// `pg_stat_ssl`. No client shows a certificate.
pub(super) fn ssl(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for found in (rows.system.activity)() {
        if !is_open(rows, &found) {
            continue;
        }
        let [version, cipher, bits] = match found.encryption {
            Some(Encryption { version, cipher, bits }) => {
                [Datum::Text(version), Datum::Text(cipher), Datum::Int4(bits)]
            }
            None => [Datum::Null; 3],
        };
        let protected = Datum::Bool(found.encryption.is_some());
        let pid = Datum::Int4(found.pid as i32);
        let [client, serial, issuer] = [Datum::Null; 3];
        rows.row(&[pid, protected, version, cipher, bits, client, serial, issuer])?;
    }
    Ok(())
}

pub(super) fn activity(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    let shared = snapshot.shared();
    for found in (rows.system.activity)() {
        let database = shared.database_by_oid(found.database).map(|database| &*database.name);
        let user = shared.role_by_oid(found.user).map(|role| &*role.name);
        let own = is_open(rows, &found);
        let time = |at: Option<i64>| match at {
            Some(at) if own => Datum::TimestampTz(at),
            _ => Datum::Null,
        };
        let query = if own { found.query.as_str() } else { "<insufficient privilege>" };
        let row = [
            Datum::Oid(found.database.0),
            rows.optional(database),
            Datum::Int4(found.pid as i32),
            Datum::Null,
            Datum::Oid(found.user.0),
            rows.optional(user),
            rows.text(&found.application_name),
            rows.address(found.client_address.filter(|_| own)),
            Datum::Null,
            if own { Datum::Int4(found.client_port) } else { Datum::Null },
            time(Some(found.backend_start)),
            time(found.transaction_start),
            time(found.query_start),
            time(found.state_change),
            rows.optional(found.wait.filter(|_| own).map(|wait| wait.0)),
            rows.optional(found.wait.filter(|_| own).map(|wait| wait.1)),
            rows.optional(own.then_some(found.state)),
            Datum::Null,
            Datum::Null,
            Datum::Null,
            rows.text(query),
            if own { Datum::Text("client backend") } else { Datum::Null },
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_prepared_xacts`. A name that is gone is shown as nothing.
pub(super) fn prepared_transactions(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for found in (rows.system.prepared_transactions)() {
        let note = PreparedNote::decode(&found.note)?;
        let owner = snapshot.shared().role_by_oid(note.user).map_or("", |role| &role.name);
        let database = snapshot.shared().databases().find(|known| known.oid == note.database);
        let row = [
            Datum::Oid(found.txn.0 as u32),
            rows.text(&String::from_utf8_lossy(&found.name)),
            Datum::TimestampTz(found.wall),
            rows.text(owner),
            rows.text(database.map_or("", |known| &known.name)),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn prepared_statements(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for found in (rows.system.prepared)() {
        let types: Vec<Datum<'_>> =
            found.parameter_types.iter().map(|ty| Datum::Oid(ty.0)).collect();
        let row = [
            rows.text(&found.name),
            rows.text(&found.statement),
            Datum::TimestampTz(found.prepare_time),
            array::from_datums(rows.call.arena, 2206, &types),
            Datum::Bool(found.from_sql),
            Datum::Int8(0),
            Datum::Int8(0),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn cursors(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for found in (rows.system.cursors)() {
        let row = [
            rows.text(&found.name),
            rows.text(&found.statement),
            Datum::Bool(found.holdable),
            Datum::Bool(found.binary),
            Datum::Bool(found.scrollable),
            Datum::TimestampTz(found.created),
        ];
        rows.row(&row)?;
    }
    Ok(())
}
