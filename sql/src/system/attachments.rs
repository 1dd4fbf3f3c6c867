//! `pg_operator`, `pg_cast` and `pg_event_trigger`: what is built in, and what users made.

use super::rows::Rows;
use crate::catalog::attachment::Attachment;
use crate::catalog::relation::Relation;
use crate::error::Result;
use crate::types::Datum;

/// `pg_operator`.
pub(super) fn operators(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for one in snapshot.attachments() {
        let Attachment::Operator(own) = one else { continue };
        let row = [
            Datum::Oid(own.oid.0),
            rows.text(&own.name),
            Datum::Oid(own.schema.0),
            Datum::Oid(own.owner.0),
            Datum::Char(if own.left.0 == 0 { b'l' } else { b'b' }),
            Datum::Bool(own.can_merge),
            Datum::Bool(own.can_hash),
            Datum::Oid(own.left.0),
            Datum::Oid(own.right.0),
            Datum::Oid(own.result.0),
            Datum::Oid(own.commutator.0),
            Datum::Oid(own.negator.0),
            Datum::Oid(own.function.0),
            Datum::Oid(own.restrict.0),
            Datum::Oid(own.join.0),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_cast`.
pub(super) fn casts(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for one in snapshot.attachments() {
        let Attachment::Cast(own) = one else { continue };
        rows.row(&[
            Datum::Oid(own.oid.0),
            Datum::Oid(own.source.0),
            Datum::Oid(own.target.0),
            Datum::Oid(own.function.0),
            Datum::Char(own.context),
            Datum::Char(own.method),
        ])?;
    }
    Ok(())
}

/// `pg_event_trigger`.
pub(super) fn event_triggers(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for own in snapshot.event_triggers() {
        let row = [
            Datum::Oid(own.oid.0),
            rows.text(&own.name),
            rows.text(&own.event),
            Datum::Oid(own.owner.0),
            Datum::Oid(own.function.0),
            Datum::Char(own.enabled),
            if own.tags.is_empty() { Datum::Null } else { rows.texts(&own.tags) },
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_opclass`.
pub(super) fn operator_classes(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for own in snapshot.user_operator_classes() {
        let row = [
            Datum::Oid(own.oid.0),
            Datum::Oid(own.method),
            rows.text(&own.name),
            Datum::Oid(own.schema.0),
            Datum::Oid(own.owner.0),
            Datum::Oid(own.family.0),
            Datum::Oid(own.input.0),
            Datum::Bool(own.default),
            Datum::Oid(own.storage.0),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_opfamily`.
pub(super) fn operator_families(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for own in snapshot.operator_families() {
        let row = [
            Datum::Oid(own.oid.0),
            Datum::Oid(own.method),
            rows.text(&own.name),
            Datum::Oid(own.schema.0),
            Datum::Oid(own.owner.0),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_amop`, or `pg_amproc`.
pub(super) fn family_members(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
    functions: bool,
) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    let families =
        snapshot.operator_families().map(|one| (one.oid, one.method, one.members.as_slice()));
    let classes =
        snapshot.user_operator_classes().map(|one| (one.family, one.method, &one.members[..]));
    for (family, method, members) in families.chain(classes) {
        for own in members.iter().filter(|own| own.is_function == functions) {
            let place = [
                Datum::Oid(own.oid.0),
                Datum::Oid(family.0),
                Datum::Oid(own.left.0),
                Datum::Oid(own.right.0),
                Datum::Int2(own.number as i16),
            ];
            if functions {
                let [oid, family, left, right, number] = place;
                rows.row(&[oid, family, left, right, number, Datum::Oid(own.object.0)])?;
                continue;
            }
            let [oid, family, left, right, number] = place;
            rows.row(&[
                oid,
                family,
                left,
                right,
                number,
                Datum::Char(if own.sort_family.0 == 0 { b's' } else { b'o' }),
                Datum::Oid(own.object.0),
                Datum::Oid(method),
                Datum::Oid(own.sort_family.0),
            ])?;
        }
    }
    Ok(())
}

/// `pg_conversion`.
pub(super) fn conversions(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for own in snapshot.conversions() {
        let row = [
            Datum::Oid(own.oid.0),
            rows.text(&own.name),
            Datum::Oid(own.schema.0),
            Datum::Oid(own.owner.0),
            Datum::Int4(own.source.cast_signed()),
            Datum::Int4(own.target.cast_signed()),
            Datum::Oid(own.function.0),
            Datum::Bool(own.default),
        ];
        rows.row(&row)?;
    }
    Ok(())
}
