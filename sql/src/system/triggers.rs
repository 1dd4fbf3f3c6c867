//! `pg_trigger`: the triggers of users' tables and views, those of foreign keys among them.

use super::objects::{letter, position, users};
use super::rows::Rows;
use crate::bind::kept;
use crate::catalog::Deferral;
use crate::catalog::definition::Expression;
use crate::catalog::relation::Relation;
use crate::catalog::trigger::{KeyTrigger, Trigger};
use crate::error::Result;
use crate::types::{Datum, Oid};

/// `pg_trigger`.
pub(super) fn triggers(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    let by_oid = |oid| snapshot.constraint_table(oid).map_or(Oid(0), |table| table.oid);
    let table = rows.oid_key(1).or_else(|| rows.oid_key(0).map(by_oid));
    for relation in users(rows, table) {
        if rows.pauses(relation.oid) {
            break;
        }
        for trigger in &relation.triggers {
            one(rows, relation, trigger, None)?;
        }
        for KeyTrigger { trigger, index } in snapshot.key_triggers(relation) {
            one(rows, relation, &trigger, Some(index))?;
        }
    }
    Ok(())
}

/// The arguments of a trigger, each with a zero byte behind it.
fn argument_bytes(trigger: &Trigger) -> Vec<u8> {
    let ended = trigger.arguments.iter().flat_map(|one| one.bytes().chain([0]));
    ended.collect()
}

/// One row; `index` is that of a foreign key whose trigger it is.
fn one(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
    trigger: &Trigger,
    index: Option<Oid>,
) -> Result<()> {
    let (constraint, deferral, from) =
        trigger.constraint.unwrap_or((Oid(0), Deferral::Never, Oid(0)));
    let columns: Vec<i16> = trigger.columns.iter().map(|column| position(*column)).collect();
    let shown = |when: &Expression| {
        kept::condition_text(rows.system.snapshot, (None, false), rows.call, relation, when)
    };
    let when = trigger.when.as_ref().map(shown).transpose()?;
    let row = [
        Datum::Oid(trigger.oid.0),
        Datum::Oid(relation.oid.0),
        Datum::Oid(0),
        rows.text(&trigger.name),
        Datum::Oid(trigger.function.0),
        Datum::Int2(trigger.kind),
        letter(trigger.enabled as char),
        Datum::Bool(index.is_some()),
        Datum::Oid(from.0),
        Datum::Oid(index.unwrap_or(Oid(0)).0),
        Datum::Oid(constraint.0),
        Datum::Bool(deferral.is_deferrable()),
        Datum::Bool(deferral.is_deferred()),
        Datum::Int2(trigger.arguments.len() as i16),
        rows.number_vector(&columns),
        Datum::Bytea(rows.call.arena.alloc_slice_copy(&argument_bytes(trigger))),
        rows.optional(when.as_deref()),
        rows.optional(trigger.transition.0.as_deref()),
        rows.optional(trigger.transition.1.as_deref()),
    ];
    rows.row(&row)
}
