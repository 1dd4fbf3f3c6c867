//! `pg_proc` and `pg_aggregate`: the functions that are built in, and those that users made.

use super::rows::Rows;
use crate::bind;
use crate::catalog::definition::Expression;
use crate::catalog::object::well_known;
use crate::catalog::privilege::kept;
use crate::catalog::relation::Relation;
use crate::catalog::routine::Routine;
use crate::error::Result;
use crate::types::{Datum, Oid, array};

/// `"char"`.
const CHAR: u32 = 18;

pub(super) fn routines(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for routine in snapshot.routines() {
        row(rows, routine)?;
    }
    Ok(())
}

fn row(rows: &mut Rows<'_, '_, '_, '_>, routine: &Routine) -> Result<()> {
    let snapshot = rows.system.snapshot;
    let inputs = routine.input_types();
    let plain = routine.parameters.iter().all(|parameter| parameter.mode == b'i');
    let named = routine.parameters.iter().any(|parameter| !parameter.name.is_empty());
    let shown =
        |default: &Expression| bind::kept::text(snapshot, (None, false), rows.call, None, default);
    let defaults: Vec<String> = routine.defaults().map(shown).collect::<Result<_>>()?;
    let all: Vec<u32> = routine.parameters.iter().map(|parameter| parameter.ty.0).collect();
    let modes: Vec<Datum<'_>> =
        routine.parameters.iter().map(|parameter| Datum::Char(parameter.mode)).collect();
    let names: Vec<String> =
        routine.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let settings: Vec<String> =
        routine.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let acl = snapshot.acl(Oid(routine.oid.0), kept::FUNCTION).cloned();
    let row = [
        Datum::Oid(routine.oid.0),
        rows.text(&routine.name),
        Datum::Oid(routine.schema.0),
        Datum::Oid(routine.owner.0),
        Datum::Oid(routine.language),
        Datum::Float4(routine.cost as f32),
        Datum::Float4(routine.rows as f32),
        Datum::Oid(routine.variadic()),
        Datum::Oid(routine.support.0),
        Datum::Char(match (&routine.aggregate, routine.procedure) {
            (Some(_), _) => b'a',
            (None, true) => b'p',
            (None, false) => b'f',
        }),
        Datum::Bool(routine.security_definer),
        Datum::Bool(routine.leakproof),
        Datum::Bool(routine.strict),
        Datum::Bool(routine.returns_set),
        Datum::Char(routine.volatility),
        Datum::Char(routine.parallel),
        Datum::Int2(inputs.len() as i16),
        Datum::Int2(defaults.len() as i16),
        Datum::Oid(routine.result.0),
        rows.oid_vector(&inputs),
        if plain { Datum::Null } else { rows.oids(&all) },
        if plain { Datum::Null } else { array::from_datums(rows.call.arena, CHAR, &modes) },
        if named { rows.texts(&names) } else { Datum::Null },
        if defaults.is_empty() { Datum::Null } else { rows.text(&defaults.join(", ")) },
        Datum::Null,
        rows.text(&routine.body),
        Datum::Null,
        rows.optional(routine.standard.as_deref()),
        if settings.is_empty() { Datum::Null } else { rows.texts(&settings) },
        rows.acl(acl.as_deref()),
    ];
    debug_assert!(routine.oid.0 >= well_known::FIRST_NORMAL);
    rows.row(&row)
}

/// `pg_aggregate`.
pub(super) fn aggregates(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for routine in snapshot.routines() {
        let Some(own) = &routine.aggregate else { continue };
        let moving = &own.moving;
        let row = [
            Datum::Oid(routine.oid.0),
            Datum::Char(own.kind),
            Datum::Int2(own.direct as i16),
            Datum::Oid(own.transition.0),
            Datum::Oid(own.finish.0),
            Datum::Oid(own.combine.0),
            Datum::Oid(own.serialize.0),
            Datum::Oid(own.deserialize.0),
            Datum::Oid(moving.transition.0),
            Datum::Oid(moving.inverse.0),
            Datum::Oid(moving.finish.0),
            Datum::Bool(own.finish_extra),
            Datum::Bool(moving.finish_extra),
            Datum::Char(own.finish_modify),
            Datum::Char(moving.finish_modify),
            Datum::Oid(own.sort_operator.0),
            Datum::Oid(own.state.0),
            Datum::Int4(own.state_space.cast_signed()),
            Datum::Oid(moving.state.0),
            Datum::Int4(moving.state_space.cast_signed()),
            rows.optional(own.initial.as_deref()),
            rows.optional(moving.initial.as_deref()),
        ];
        rows.row(&row)?;
    }
    Ok(())
}
