//! `pg_depend`: what of users' objects depends on what, behind the built-in rows.

use super::objects::{Users, letter, position, users};
use super::rows::Rows;
use crate::catalog::acl::Acl;
use crate::catalog::attachment::Attachment;
use crate::catalog::builtin;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::extension::{self, PG_EXTENSION};
use crate::catalog::object::well_known;
use crate::catalog::privilege::kept;
use crate::catalog::relation::{ConstraintKind, RelationKind};
use crate::catalog::routine::PLPGSQL;
use crate::catalog::user_type::UserType;
use crate::error::{Result, SqlError};
use crate::types::{Datum, Oid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The class of relations.
const CLASS: u32 = 1259;
/// The class of types.
const TYPE: u32 = 1247;
/// The class of operators.
const OPERATOR: u32 = 2617;

/// The relations and the types whose rows of `pg_depend` may be those that the keys ask for.
fn keyed<'s>(rows: &Rows<'s, '_, '_, '_>) -> (Users<'s>, Vec<&'s Arc<UserType>>) {
    let snapshot = rows.system.snapshot;
    let among: BTreeSet<Oid> = match (rows.oid_key(1), rows.oid_key(4)) {
        (Some(object), _) => {
            let tables = super::columns::tables_of_default(snapshot, object).into_iter();
            tables.chain(snapshot.whole(object)).collect()
        }
        (None, Some(referenced)) => snapshot.dependents(referenced),
        (None, None) => return (users(rows, None), snapshot.types().collect()),
    };
    let relations: Vec<_> = among.iter().flat_map(|oid| users(rows, Some(*oid))).collect();
    (
        Box::new(relations.into_iter()),
        among.iter().filter_map(|oid| snapshot.user_type(*oid)).collect(),
    )
}

/// `pg_depend`.
/// `pg_amop`.
const AMOP: u32 = 2602;
/// `pg_amproc`.
const AMPROC: u32 = 2603;
/// `pg_opclass`.
const CLASS_OF_OPERATORS: u32 = 2616;
/// `pg_opfamily`.
const FAMILY: u32 = 2753;

pub(super) fn dependencies(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    const DEFAULT: u32 = 2604;
    const CONSTRAINT: u32 = 2606;
    const TRIGGER: u32 = 2620;
    const REWRITE: u32 = 2618;
    const SCHEMA: u32 = 2615;
    const FUNCTION: u32 = 1255;
    const LANGUAGE: u32 = 2612;
    let emit_of =
        |rows: &mut Rows<'_, '_, '_, '_>, on: (u32, Oid, i32), to: (u32, Oid, i32), kind| {
            rows.row(&[
                Datum::Oid(on.0),
                Datum::Oid(on.1.0),
                Datum::Int4(on.2),
                Datum::Oid(to.0),
                Datum::Oid(to.1.0),
                Datum::Int4(to.2),
                letter(kind),
            ])
        };
    let emit = |rows: &mut Rows<'_, '_, '_, '_>, on: (u32, Oid), to: (u32, Oid, i32), kind| {
        emit_of(rows, (on.0, on.1, 0), to, kind)
    };
    let snapshot = rows.system.snapshot;
    let begins = rows.begins();
    for extension in snapshot.extensions().filter(|_| begins) {
        let on = (PG_EXTENSION.0, extension.oid);
        emit(rows, on, (SCHEMA, extension.schema, 0), 'n')?;
        let Some(known) = extension.description() else { continue };
        for required in known.requires {
            if let Some(required) = rows.system.snapshot.extension(required) {
                emit(rows, on, (PG_EXTENSION.0, required.oid, 0), 'n')?;
            }
        }
        let members = known.members().iter().map(|(class, oid)| (class.0, *oid));
        let language = known.language.map(|oid| (LANGUAGE, Oid(oid)));
        let relations = extension.relations.iter().map(|oid| (CLASS, *oid));
        for member in members.chain(language).chain(relations) {
            emit(rows, member, (on.0, on.1, 0), 'e')?;
        }
    }
    // What a definition depends on beside its own relation: a column of a relation speaks for the relation.
    let emit_edges = |rows: &mut Rows<'_, '_, '_, '_>, on: (u32, Oid), made: &[&Edges]| {
        let edges: BTreeSet<Edge> = made.iter().flat_map(|made| made.iter()).copied().collect();
        for edge in &edges {
            let to = match *edge {
                Edge::Own(_) | Edge::Cast(_) => continue,
                Edge::Relation(oid, 0) => {
                    let is_column =
                        |edge: &Edge| matches!(edge, Edge::Relation(of, 1.. | ..=-1) if *of == oid);
                    if edges.iter().any(is_column) {
                        continue;
                    }
                    (CLASS, oid, 0)
                }
                Edge::Relation(oid, column) => (CLASS, oid, i32::from(column)),
                Edge::Type(oid) => (TYPE, oid, 0),
                Edge::Constraint(oid) => (CONSTRAINT, oid, 0),
                Edge::Function(oid) => (FUNCTION, oid, 0),
                Edge::Operator(oid) => (OPERATOR, oid, 0),
            };
            emit(rows, on, to, 'n')?;
        }
        Ok::<_, SqlError>(())
    };
    if begins && rows.oid_key(0).is_none_or(|class| class.0 == FUNCTION) {
        for routine in snapshot.routines() {
            let own = (FUNCTION, routine.oid);
            emit(rows, own, (SCHEMA, routine.schema, 0), 'n')?;
            // Its own languages the system has for good.
            if routine.language == PLPGSQL {
                emit(rows, own, (LANGUAGE, Oid(PLPGSQL), 0), 'n')?;
            }
            let types = routine.parameters.iter().map(|parameter| parameter.ty);
            let types: BTreeSet<Oid> = types.chain([routine.result]).collect();
            for ty in types.into_iter().filter(|ty| !builtin::is_lasting(ty.0)) {
                emit(rows, own, (TYPE, ty, 0), 'n')?;
            }
            let made: Vec<&Edges> = routine.definitions().collect();
            emit_edges(rows, own, &made)?;
            // What an aggregate is made of; what is built in stays.
            let called = routine.aggregate.iter().flat_map(|aggregate| aggregate.functions());
            for function in called.filter(|function| function.0 >= well_known::FIRST_NORMAL) {
                emit(rows, own, (FUNCTION, function, 0), 'n')?;
            }
        }
    }
    for one in snapshot.attachments().filter(|_| begins) {
        let own = (one.table().0, one.oid());
        if rows.oid_key(0).is_some_and(|class| class != one.table()) {
            continue;
        }
        if let Some(schema) = one.schema() {
            emit(rows, own, (SCHEMA, schema, 0), 'n')?;
        }
        if let Attachment::Class(class) = &one {
            emit(rows, own, (FAMILY, class.family, 0), 'a')?;
        }
        for needed in one.needs() {
            let to = match needed {
                // Its members have those.
                Edge::Function(_) if matches!(one, Attachment::Class(_)) => continue,
                Edge::Type(oid) => (TYPE, oid, 0),
                Edge::Function(oid) => (FUNCTION, oid, 0),
                _ => continue,
            };
            emit(rows, own, to, 'n')?;
        }
    }
    if begins && rows.oid_key(0).is_none_or(|class| [AMOP, AMPROC].contains(&class.0)) {
        let families = snapshot.operator_families().map(|one| (one.oid, None, &one.members[..]));
        let classes = snapshot
            .user_operator_classes()
            .map(|one| (one.family, Some(one.oid), &one.members[..]));
        for (family, class, members) in families.chain(classes) {
            for member in members {
                let own = (if member.is_function { AMPROC } else { AMOP }, member.oid);
                let table = if member.is_function { FUNCTION } else { OPERATOR };
                let (on_object, on_owner) = if member.hard { ('n', 'i') } else { ('a', 'a') };
                if member.object.0 >= well_known::FIRST_NORMAL {
                    emit(rows, own, (table, member.object, 0), on_object)?;
                }
                let owner = class.filter(|_| member.hard).map(|class| (CLASS_OF_OPERATORS, class));
                let (table, oid) = owner.unwrap_or((FAMILY, family));
                emit(rows, own, (table, oid, 0), on_owner)?;
            }
        }
    }
    let of_views = rows.oid_key(0).is_none_or(|class| class.0 == REWRITE);
    let (relations, types) = keyed(rows);
    for ty in types.into_iter().filter(|_| begins) {
        let array = Oid(builtin::array_of_made(ty.oid.0));
        emit(rows, (TYPE, array), (TYPE, ty.oid, 0), 'i')?;
        emit(rows, (TYPE, ty.oid), (SCHEMA, ty.schema, 0), 'n')?;
        if let Some(attributes) = ty.attributes() {
            emit(rows, (CLASS, ty.oid), (TYPE, ty.oid, 0), 'i')?;
            for (at, part) in attributes.iter().enumerate() {
                if !builtin::is_lasting(part.ty.oid.0) {
                    let on = (CLASS, ty.oid, i32::from(position(at)));
                    emit_of(rows, on, (TYPE, part.ty.oid, 0), 'n')?;
                }
            }
        }
        if let Some(domain) = ty.domain() {
            if let Some(default) = &domain.default {
                emit_edges(rows, (TYPE, ty.oid), &[default.edges()])?;
            }
            if !builtin::is_lasting(domain.base.oid.0) {
                emit(rows, (TYPE, ty.oid), (TYPE, domain.base.oid, 0), 'n')?;
            }
            for check in &domain.checks {
                let own = (CONSTRAINT, check.oid);
                emit(rows, own, (TYPE, ty.oid, 0), 'a')?;
                emit_edges(rows, own, &[check.condition.edges()])?;
            }
        }
    }
    for relation in relations {
        if rows.pauses(relation.oid) {
            break;
        }
        let table = relation.oid;
        let (row_type, array) = relation.row_type;
        emit(rows, (CLASS, table), (SCHEMA, relation.schema.0, 0), 'n')?;
        // What has no array of its rows has no type of them either.
        if array != Oid(0) {
            emit(rows, (TYPE, row_type), (CLASS, table, 0), 'i')?;
            emit(rows, (TYPE, array), (TYPE, row_type, 0), 'i')?;
        }
        for (at, column) in relation.columns.iter().enumerate().filter(|one| !one.1.dropped) {
            let on = (CLASS, table, i32::from(position(at)));
            if !builtin::is_lasting(column.ty.oid.0) {
                emit_of(rows, on, (TYPE, column.ty.oid, 0), 'n')?;
            }
            let (Some(default), None) = (&column.default, column.identity) else { continue };
            let own = (DEFAULT, super::columns::default_oid(table, at));
            emit(rows, own, on, if column.generated { 'i' } else { 'a' })?;
            if column.generated {
                for read in default.edges().own_numbers() {
                    emit(rows, own, (CLASS, table, i32::from(read)), 'n')?;
                }
            }
            emit_edges(rows, own, &[default.edges()])?;
        }
        if of_views && let Some(query) = relation.query() {
            let rule = (REWRITE, table);
            emit(rows, rule, (CLASS, table, 0), 'i')?;
            emit(rows, rule, (CLASS, table, 0), 'n')?;
            emit_edges(rows, rule, &[query.edges()])?;
        }
        if let RelationKind::Sequence(sequence) = &relation.kind
            && let Some((owner, column)) = sequence.owner
        {
            let identity = rows
                .system
                .snapshot
                .relation(owner)
                .is_some_and(|owner| owner.columns[column].identity.is_some());
            let kind = if identity { 'i' } else { 'a' };
            let to = (CLASS, owner, i32::from(position(column)));
            emit(rows, (CLASS, table), to, kind)?;
        }
        for index in &relation.indexes {
            let keys = index.columns.iter().filter(|key| key.expression().is_none());
            let keys = keys.map(|key| key.column).chain(index.include.iter().copied());
            let mut columns: Vec<i32> = keys.map(|column| i32::from(position(column))).collect();
            // A column that is in it twice is one that it depends on.
            columns.sort_unstable();
            columns.dedup();
            match &index.constraint {
                Some((constraint, _)) => {
                    emit(rows, (CLASS, index.oid), (CONSTRAINT, *constraint, 0), 'i')?;
                    for column in columns {
                        emit(rows, (CONSTRAINT, *constraint), (CLASS, table, column), 'a')?;
                    }
                }
                None => {
                    let own = (CLASS, index.oid);
                    // One without a plain column goes with the table.
                    let whole = columns.is_empty().then_some(0);
                    let computed: Vec<&Edges> = index.definitions().collect();
                    emit_edges(rows, own, &computed)?;
                    let expressions = index.expressions.iter().map(|made| &made.value);
                    let read: BTreeSet<i16> =
                        expressions.flat_map(|made| made.edges().own_numbers()).collect();
                    let filter = index.filter.iter().flat_map(|made| made.edges().own_numbers());
                    let read = read.into_iter().chain(filter).map(i32::from);
                    for column in columns.into_iter().chain(whole).chain(read) {
                        emit(rows, own, (CLASS, table, column), 'a')?;
                    }
                }
            }
        }
        for trigger in &relation.triggers {
            let on = (TRIGGER, trigger.oid);
            // PostgreSQL's own functions stay anyway.
            if trigger.function.0 >= well_known::FIRST_NORMAL {
                emit(rows, on, (FUNCTION, trigger.function, 0), 'n')?;
            }
            emit(rows, on, (CLASS, table, 0), 'a')?;
            if let Some((constraint, _, from)) = trigger.constraint {
                emit(rows, (CONSTRAINT, constraint), (CLASS, table, 0), 'a')?;
                // The constraint goes with the trigger: what is made first is the trigger.
                emit(rows, (CONSTRAINT, constraint), (TRIGGER, trigger.oid, 0), 'i')?;
                if from != Oid(0) {
                    emit(rows, on, (CLASS, from, 0), 'a')?;
                }
            }
            for &column in &trigger.columns {
                emit(rows, on, (CLASS, table, i32::from(position(column))), 'n')?;
            }
            if let Some(when) = &trigger.when {
                // The whole row is no column of it.
                let own = when.edges().own().into_iter().filter(|column| *column != 0);
                let own = own.map(|column| Edge::Relation(table, column));
                emit_edges(rows, on, &[when.edges(), &Edges::new(own.collect())])?;
            }
        }
        for constraint in &relation.constraints {
            let on = (CONSTRAINT, constraint.oid);
            match &constraint.kind {
                ConstraintKind::Check { condition, .. } => {
                    let columns = condition.edges().own_numbers();
                    // One that speaks of no column goes with the table.
                    if columns.is_empty() {
                        emit(rows, on, (CLASS, table, 0), 'a')?;
                    }
                    for column in columns {
                        let to = (CLASS, table, i32::from(column));
                        emit(rows, on, to, 'a')?;
                        emit(rows, on, to, 'n')?;
                    }
                    emit_edges(rows, on, &[condition.edges()])?;
                }
                ConstraintKind::ForeignKey(key) => {
                    for &column in &key.columns {
                        emit(rows, on, (CLASS, table, i32::from(position(column))), 'a')?;
                    }
                    for &column in &key.referenced {
                        let to = (CLASS, key.references, i32::from(position(column)));
                        emit(rows, on, to, 'n')?;
                    }
                    emit(rows, on, (CLASS, key.index, 0), 'n')?;
                    for trigger in key.triggers.all() {
                        emit(rows, (TRIGGER, trigger), (CONSTRAINT, constraint.oid, 0), 'i')?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// `pg_shdepend`: whose the objects of the database, and the databases, are, and who has privileges on them. That the first
/// superuser has some is not written down: that role cannot go.
pub(super) fn shared(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    const CLASS: u32 = 1259;
    const TYPE: u32 = 1247;
    const SCHEMA: u32 = 2615;
    const CAST: u32 = 2605;
    const FUNCTION: u32 = 1255;
    const DATABASE: u32 = 1262;
    const DEFAULT_ACL: u32 = 826;
    const LANGUAGE: u32 = 2612;
    const PARAMETER_ACL: u32 = 6243;
    const ROLE: u32 = 1260;
    let snapshot = rows.system.snapshot;
    let here = snapshot.database_oid();
    let mut emit = |place: (Oid, u32, Oid, u32), role: Oid, kind: char| {
        if matches!(role, Oid(0) | well_known::SUPERUSER) || role.0 < well_known::FIRST_NORMAL {
            return Ok(());
        }
        let (database, class, object, sub) = place;
        rows.row(&[
            Datum::Oid(database.0),
            Datum::Oid(class),
            Datum::Oid(object.0),
            Datum::Int4(sub.cast_signed()),
            Datum::Oid(ROLE),
            Datum::Oid(role.0),
            letter(kind),
        ])
    };
    // Each role once, and the owner as such only.
    let parties = |acl: Option<&Acl>, owner: Oid| {
        let items = acl.into_iter().flatten();
        let named: BTreeSet<Oid> = items.flat_map(|item| [item.grantee, item.grantor]).collect();
        named.into_iter().filter(move |role| *role != owner).collect::<Vec<_>>()
    };
    let relations: Vec<_> = snapshot.relations().cloned().collect();
    for relation in &relations {
        let place = (here, CLASS, relation.oid, 0);
        emit(place, relation.owner, 'o')?;
        for role in parties(relation.acl.as_ref(), relation.owner) {
            emit(place, role, 'a')?;
        }
        for number in 1..=relation.columns.len() as u32 {
            for role in
                parties(snapshot.acl(relation.oid, number).map(|acl| &**acl), relation.owner)
            {
                emit((here, CLASS, relation.oid, number), role, 'a')?;
            }
        }
    }
    let schemas: Vec<_> = snapshot.schemas().cloned().collect();
    for schema in &schemas {
        emit((here, SCHEMA, schema.oid, 0), schema.owner, 'o')?;
        for role in parties(schema.acl.as_ref(), schema.owner) {
            emit((here, SCHEMA, schema.oid, 0), role, 'a')?;
        }
    }
    let extensions: Vec<_> = snapshot.extensions().cloned().collect();
    for extension in &extensions {
        emit((here, PG_EXTENSION.0, extension.oid, 0), extension.owner, 'o')?;
        let members = extension.description().into_iter().flat_map(|known| known.members());
        // Casts are nobody's.
        for &(class, member) in members.filter(|(class, _)| class.0 != CAST) {
            emit((here, class.0, member, 0), extension.owner, 'o')?;
        }
    }
    let types: Vec<_> = snapshot.types().cloned().collect();
    for ty in &types {
        emit((here, TYPE, ty.oid, 0), ty.owner, 'o')?;
    }
    let routines: Vec<_> = snapshot.routines().cloned().collect();
    for routine in &routines {
        emit((here, FUNCTION, routine.oid, 0), routine.owner, 'o')?;
    }
    // The lists that are kept beside what they are of, which may be built in.
    let lists: Vec<_> = snapshot.acls().map(|(place, acl)| (*place, Arc::clone(acl))).collect();
    for ((oid, sub), acl) in &lists {
        let (class, owner) = match *sub {
            kept::FUNCTION => (FUNCTION, snapshot.routine(*oid).map(|routine| routine.owner)),
            kept::TYPE => (TYPE, snapshot.user_type(*oid).map(|ty| ty.owner)),
            kept::LANGUAGE => (LANGUAGE, None),
            kept::RELATION => (CLASS, None),
            _ if oid.0 < well_known::FIRST_NORMAL => (CLASS, None),
            _ => continue,
        };
        let of_member = || {
            let known = extension::of_member(oid.0).or_else(|| extension::of_language(oid.0))?;
            Some(snapshot.extension(known.name)?.owner)
        };
        let owner = owner.or_else(of_member).unwrap_or(well_known::SUPERUSER);
        let number = if *sub < kept::FUNCTION { *sub } else { 0 };
        for role in parties(Some(acl), owner) {
            emit((here, class, *oid, number), role, 'a')?;
        }
    }
    for one in snapshot.attachments() {
        if let Some(owner) = one.owner() {
            emit((here, one.table().0, one.oid(), 0), owner, 'o')?;
        }
    }
    for default in snapshot.default_acls() {
        let place = (here, DEFAULT_ACL, default.oid, 0);
        emit(place, default.role, 'o')?;
        for role in parties(Some(&default.acl), default.role) {
            emit(place, role, 'a')?;
        }
    }
    for parameter in snapshot.shared().parameters() {
        for role in parties(Some(&parameter.acl), well_known::SUPERUSER) {
            emit((Oid(0), PARAMETER_ACL, parameter.oid, 0), role, 'a')?;
        }
    }
    for database in snapshot.shared().databases() {
        emit((Oid(0), DATABASE, database.oid, 0), database.owner, 'o')?;
        for role in parties(database.acl.as_ref(), database.owner) {
            emit((Oid(0), DATABASE, database.oid, 0), role, 'a')?;
        }
    }
    Ok(())
}
