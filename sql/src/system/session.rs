//! `pg_settings`, `pg_prepared_xacts`, `pg_prepared_statements`: what sessions are and do.

use super::rows::Rows;
use crate::catalog::PreparedNote;
use crate::catalog::object::well_known;
use crate::error::Result;
use crate::settings::definition::Kind;
use crate::settings::value::{general, parse, raw};
use crate::types::{Datum, array};

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
