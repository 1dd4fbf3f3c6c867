//! `pg_class`, `pg_index`, `pg_constraint`, `pg_sequence`, `pg_description`: users' relations and
//! what belongs to them, behind the built-in rows.

use super::rows::Rows;
use crate::bind::{kept, value_relation};
use crate::catalog::builtin;
use crate::catalog::definition::Expression;
use crate::catalog::object::well_known;
use crate::catalog::relation::{
    Action, Constraint, ConstraintKind, Deferral, ForeignKey, Index, MatchType, Relation,
    RelationKind,
};
use crate::catalog::user_type::{DomainCheck, UserType};
use crate::error::Result;
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// The B-tree access method.
const BTREE: u32 = 403;
/// The heap access method, as which tables are shown.
const HEAP: u32 = 2;

/// Users' relations, by OID.
pub(super) type Users<'s> = Box<dyn Iterator<Item = &'s Arc<Relation>> + 's>;

/// The relation of a user that has this OID, or all from where the part of the rows begins.
pub(super) fn users<'s>(rows: &Rows<'s, '_, '_, '_>, key: Option<Oid>) -> Users<'s> {
    let (snapshot, first) = (rows.system.snapshot, rows.first());
    let Some(oid) = key else { return Box::new(snapshot.relations_from(first)) };
    let asked = oid >= first.max(Oid(well_known::FIRST_NORMAL));
    let found = asked.then(|| snapshot.relation(oid));
    // Composite types are shown as the types that they are.
    let found = found.flatten().filter(|one| !matches!(one.kind, RelationKind::Composite));
    Box::new(found.into_iter())
}

pub(super) fn letter<'a>(letter: char) -> Datum<'a> {
    Datum::Char(letter as u8)
}

pub(super) fn position(column: usize) -> i16 {
    i16::try_from(column + 1).expect("a table has at most 1600 columns")
}

pub(super) fn classes(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let (oid, name, row_type) = (rows.oid_key(0), rows.text_key(1), rows.oid_key(3));
    // An index's OID leads to its table.
    let owner = oid.map(|oid| rows.system.snapshot.index(oid).map_or(oid, |found| found.0.oid));
    let found = match (owner, row_type, name) {
        (None, Some(ty), _) if ty != Oid(0) => {
            let snapshot = rows.system.snapshot;
            let found = snapshot.row_type(ty).filter(|one| one.oid.0 >= well_known::FIRST_NORMAL);
            Box::new(found.into_iter()) as Users<'_>
        }
        (None, _, Some(name)) => {
            let named = rows.system.snapshot.called(name);
            let found: Vec<_> = named.into_iter().flat_map(|oid| users(rows, Some(oid))).collect();
            Box::new(found.into_iter())
        }
        _ => users(rows, owner),
    };
    for relation in found {
        if rows.pauses(relation.oid) {
            return Ok(());
        }
        let has_type = row_type.is_none_or(|ty| shown_row_type(relation) == ty);
        if has_type && name.is_none_or(|name| *relation.name == *name) {
            class_of_relation(rows, relation)?;
        }
        for index in &relation.indexes {
            let has_type = row_type.is_none_or(|ty| ty == Oid(0));
            if has_type && name.is_none_or(|name| *index.name == *name) {
                class_of_index(rows, relation, index)?;
            }
        }
    }
    for ty in composites(rows, oid) {
        let has_type = row_type.is_none_or(|own| own == ty.oid);
        if has_type && name.is_none_or(|name| *ty.name == *name) {
            class_of_type(rows, ty)?;
        }
    }
    Ok(())
}

/// The type of a relation's rows as `pg_class` shows it: a sequence has none.
fn shown_row_type(relation: &Relation) -> Oid {
    if matches!(relation.kind, RelationKind::Sequence(_)) { Oid(0) } else { relation.row_type.0 }
}

/// The composite types that users made: those with this OID, or all.
pub(super) fn composites<'s>(
    rows: &Rows<'s, '_, '_, '_>,
    key: Option<Oid>,
) -> Vec<&'s Arc<UserType>> {
    let snapshot = rows.system.snapshot;
    let all: Vec<&Arc<UserType>> = match key {
        Some(oid) => snapshot.user_type(oid).into_iter().collect(),
        None => snapshot.types().collect(),
    };
    all.into_iter().filter(|ty| ty.attributes().is_some()).collect()
}

/// A composite type as `pg_class` shows it, under the type's own OID.
fn class_of_type(rows: &mut Rows<'_, '_, '_, '_>, ty: &UserType) -> Result<()> {
    let row = [
        Datum::Oid(ty.oid.0),
        rows.text(&ty.name),
        Datum::Oid(ty.schema.0),
        Datum::Oid(ty.oid.0),
        Datum::Oid(0),
        Datum::Oid(ty.owner.0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Int4(0),
        Datum::Float4(-1.0),
        Datum::Int4(0),
        Datum::Oid(0),
        Datum::Bool(false),
        Datum::Bool(false),
        letter('p'),
        letter('c'),
        Datum::Int2(ty.attributes().map_or(0, |attributes| attributes.len() as i16)),
        Datum::Int2(0),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(true),
        letter('n'),
        Datum::Bool(false),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Null,
        Datum::Null,
        Datum::Null,
    ];
    rows.row(&row)
}

fn class_of_relation(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    let statistics = rows.system.snapshot.statistics(relation.oid);
    let table = matches!(relation.kind, RelationKind::Table { .. });
    let view = matches!(relation.kind, RelationKind::View { .. });
    let checks = relation
        .constraints
        .iter()
        .filter(|constraint| matches!(constraint.kind, ConstraintKind::Check { .. }))
        .count();
    let foreign_keys = relation.constraints.len() > checks || !relation.referenced_by.is_empty();
    let row = [
        Datum::Oid(relation.oid.0),
        rows.text(&relation.name),
        Datum::Oid(relation.schema.0.0),
        Datum::Oid(shown_row_type(relation).0),
        Datum::Oid(0),
        Datum::Oid(relation.owner.0),
        Datum::Oid(if table { HEAP } else { 0 }),
        Datum::Oid(if view { 0 } else { relation.oid.0 }),
        Datum::Oid(0),
        Datum::Int4(statistics.map_or(0, |found| found.pages as i32)),
        Datum::Float4(if view { -1.0 } else { relation.row_estimate as f32 }),
        Datum::Int4(0),
        Datum::Oid(0),
        Datum::Bool(!relation.indexes.is_empty()),
        Datum::Bool(false),
        letter(relation.persistence),
        letter(relation.kind_letter()),
        Datum::Int2(relation.columns.len() as i16),
        Datum::Int2(checks as i16),
        Datum::Bool(relation.query().is_some()),
        Datum::Bool(foreign_keys || !relation.triggers.is_empty()),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(relation.stored_query.as_ref().is_none_or(|query| query.populated)),
        letter(if table { relation.replica_identity.letter() } else { 'n' }),
        Datum::Bool(false),
        Datum::Oid(0),
        Datum::Oid(if table { 3 } else { 0 }),
        Datum::Oid(u32::from(table)),
        rows.acl(relation.acl.as_ref()),
        rows.options(&relation.options),
        Datum::Null,
    ];
    rows.row(&row)
}

fn class_of_index(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
    index: &Index,
) -> Result<()> {
    let row = [
        Datum::Oid(index.oid.0),
        rows.text(&index.name),
        Datum::Oid(relation.schema.0.0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Oid(relation.owner.0),
        Datum::Oid(BTREE),
        Datum::Oid(index.oid.0),
        Datum::Oid(0),
        Datum::Int4(1),
        Datum::Float4(relation.row_estimate.max(0.0) as f32),
        Datum::Int4(0),
        Datum::Oid(0),
        Datum::Bool(false),
        Datum::Bool(false),
        letter(relation.persistence),
        letter('i'),
        Datum::Int2((index.columns.len() + index.include.len()) as i16),
        Datum::Int2(0),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(true),
        letter('n'),
        Datum::Bool(false),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Null,
        rows.options(&index.options),
        Datum::Null,
    ];
    rows.row(&row)
}

pub(super) fn indexes(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let index_key = rows.oid_key(0);
    let table = rows.oid_key(1).or_else(|| {
        Some(rows.system.snapshot.index(index_key?).map_or(Oid(0), |found| found.0.oid))
    });
    for relation in users(rows, table) {
        if rows.pauses(relation.oid) {
            break;
        }
        for index in &relation.indexes {
            let keys = index.columns.iter().map(|key| match key.expression() {
                Some(_) => 0,
                None => position(key.column),
            });
            let columns: Vec<i16> =
                keys.chain(index.include.iter().map(|column| position(*column))).collect();
            let of = |pick: &dyn Fn(&crate::catalog::IndexColumn) -> u32| -> Vec<u32> {
                index.columns.iter().map(pick).collect()
            };
            let collations = of(&|key| relation.key_collation(index, key).0);
            let classes = of(&|key| {
                let ty = relation.key_type(index, key).oid;
                let default = || builtin::ordering(ty.0).map_or(0, |found| found.opclass);
                if key.class == Oid(0) { default() } else { key.class.0 }
            });
            let options: Vec<i16> = index
                .columns
                .iter()
                .map(|key| i16::from(key.descending) | i16::from(key.nulls_first) << 1)
                .collect();
            let count = index.columns.len();
            let text = |made| {
                kept::text(rows.system.snapshot, (None, false), rows.call, Some(relation), made)
            };
            let values = index.expressions.iter().map(|expression| text(&expression.value));
            let values = values.collect::<Result<Vec<_>>>()?;
            let expressions = (!values.is_empty()).then(|| values.join(", "));
            let filter = index.filter.as_ref().map(text).transpose()?;
            let expressions = rows.optional(expressions.as_deref());
            let filter = rows.optional(filter.as_deref());
            let row = [
                Datum::Oid(index.oid.0),
                Datum::Oid(relation.oid.0),
                Datum::Int2((count + index.include.len()) as i16),
                Datum::Int2(count as i16),
                Datum::Bool(index.unique),
                Datum::Bool(index.nulls_not_distinct),
                Datum::Bool(index.primary),
                Datum::Bool(false),
                Datum::Bool(!index.deferral.is_deferrable()),
                Datum::Bool(index.clustered),
                Datum::Bool(index.is_valid()),
                Datum::Bool(false),
                Datum::Bool(index.is_written()),
                Datum::Bool(true),
                Datum::Bool(index.replica_identity),
                rows.number_vector(&columns),
                rows.oid_vector(&collations),
                rows.oid_vector(&classes),
                rows.number_vector(&options),
                expressions,
                filter,
            ];
            rows.row(&row)?;
        }
    }
    Ok(())
}

fn action(action: Action) -> char {
    match action {
        Action::NoAction => 'a',
        Action::Restrict => 'r',
        Action::Cascade => 'c',
        Action::SetNull => 'n',
        Action::SetDefault => 'd',
    }
}

/// What differs between the kinds of constraints in `pg_constraint`.
struct ConstraintRow<'r> {
    oid: Oid,
    name: &'r str,
    kind: char,
    validated: bool,
    no_inherit: bool,
    deferral: Deferral,
    index: Oid,
    columns: Vec<i16>,
    foreign: Option<&'r ForeignKey>,
    condition: Option<&'r Expression>,
}

pub(super) fn constraints(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    let by_oid = |oid| snapshot.constraint_table(oid).map_or(Oid(0), |table| table.oid);
    let table = rows.oid_key(7).or_else(|| rows.oid_key(0).map(by_oid));
    let referenced = rows.oid_key(11).filter(|table| *table != Oid(0));
    let found = match referenced.filter(|_| table.is_none()) {
        Some(referenced) => {
            let children = snapshot.relation(referenced).map(|found| found.referenced_by.iter());
            let mut children: Vec<Oid> = children.into_iter().flatten().map(|one| one.0).collect();
            children.dedup();
            let found: Vec<_> = children.iter().flat_map(|oid| users(rows, Some(*oid))).collect();
            Box::new(found.into_iter())
        }
        None => users(rows, table),
    };
    for relation in found {
        if rows.pauses(relation.oid) {
            return Ok(());
        }
        for index in &relation.indexes {
            let Some((oid, name)) = &index.constraint else { continue };
            let columns = index.columns.iter().map(|key| position(key.column)).collect();
            let kind = if index.primary { 'p' } else { 'u' };
            let row = ConstraintRow {
                oid: *oid,
                name,
                kind,
                validated: true,
                no_inherit: true,
                deferral: index.deferral,
                index: index.oid,
                columns,
                foreign: None,
                condition: None,
            };
            constraint(rows, relation, &row)?;
        }
        for found in &relation.constraints {
            let row = of_constraint(found);
            constraint(rows, relation, &row)?;
        }
        for trigger in &relation.triggers {
            let Some((oid, deferral, _)) = trigger.constraint else { continue };
            let row = ConstraintRow {
                oid,
                name: &trigger.name,
                kind: 't',
                validated: true,
                no_inherit: true,
                deferral,
                index: Oid(0),
                columns: Vec::new(),
                foreign: None,
                condition: None,
            };
            constraint(rows, relation, &row)?;
        }
    }
    let of_tables = referenced.or(rows.oid_key(7)).is_some_and(|table| table != Oid(0));
    let of_one = rows.oid_key(0).map(|oid| snapshot.domain_check(oid).map(|found| found.0));
    let types: Vec<&Arc<UserType>> = match of_one {
        _ if of_tables => Vec::new(),
        Some(found) => found.into_iter().collect(),
        None => snapshot.types().collect(),
    };
    for ty in types {
        for check in ty.domain().map_or(&[][..], |domain| &domain.checks) {
            domain_check(rows, ty, check)?;
        }
    }
    Ok(())
}

/// A CHECK of a domain.
fn domain_check(rows: &mut Rows<'_, '_, '_, '_>, ty: &UserType, check: &DomainCheck) -> Result<()> {
    let none = letter(' ');
    let value = ty.domain().map(|domain| value_relation(domain.base));
    let (snapshot, how) = (rows.system.snapshot, (None, false));
    let shown = kept::text(snapshot, how, rows.call, value.as_ref(), &check.condition)?;
    let row = [
        Datum::Oid(check.oid.0),
        rows.text(&check.name),
        Datum::Oid(ty.schema.0),
        letter('c'),
        Datum::Bool(false),
        Datum::Bool(false),
        Datum::Bool(check.validated),
        Datum::Oid(0),
        Datum::Oid(ty.oid.0),
        Datum::Oid(0),
        Datum::Oid(0),
        Datum::Oid(0),
        none,
        none,
        none,
        Datum::Bool(true),
        Datum::Int4(0),
        Datum::Bool(false),
        Datum::Null,
        Datum::Null,
        Datum::Null,
        Datum::Null,
        Datum::Null,
        Datum::Null,
        Datum::Null,
        rows.text(&shown),
    ];
    rows.row(&row)
}

fn of_constraint(found: &Constraint) -> ConstraintRow<'_> {
    let (oid, name, validated) = (found.oid, &*found.name, found.validated);
    match &found.kind {
        ConstraintKind::Check { condition, no_inherit } => ConstraintRow {
            oid,
            name,
            kind: 'c',
            validated,
            no_inherit: *no_inherit,
            deferral: found.deferral,
            index: Oid(0),
            columns: condition.edges().own(),
            foreign: None,
            condition: Some(condition),
        },
        ConstraintKind::ForeignKey(key) => ConstraintRow {
            oid,
            name,
            kind: 'f',
            validated,
            no_inherit: true,
            deferral: found.deferral,
            index: key.index,
            columns: key.columns.iter().map(|&column| position(column)).collect(),
            foreign: Some(key),
            condition: None,
        },
    }
}

fn constraint(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
    row: &ConstraintRow<'_>,
) -> Result<()> {
    let shown = |condition: &Expression| {
        kept::text(rows.system.snapshot, (None, false), rows.call, Some(relation), condition)
    };
    let shown = row.condition.map(shown).transpose()?;
    let foreign = row.foreign;
    let code = |pick: &dyn Fn(&ForeignKey) -> char| letter(foreign.map_or(' ', pick));
    let equals = foreign.map(|key| {
        let oid = |&column: &usize| {
            let ty = relation.columns[column].ty.oid.0;
            builtin::ordering(ty).map_or(0, |found| found.operators[2])
        };
        key.columns.iter().map(oid).collect::<Vec<u32>>()
    });
    let equals = equals.map_or(Datum::Null, |oids| rows.oids(&oids));
    let deleted = foreign
        .filter(|key| !key.delete_columns.is_empty())
        .map(|key| key.delete_columns.iter().map(|&column| position(column)).collect::<Vec<i16>>());
    let referenced = foreign
        .map(|key| key.referenced.iter().map(|&column| position(column)).collect::<Vec<i16>>());
    let row = [
        Datum::Oid(row.oid.0),
        rows.text(row.name),
        Datum::Oid(relation.schema.0.0),
        letter(row.kind),
        Datum::Bool(row.deferral.is_deferrable()),
        Datum::Bool(row.deferral.is_deferred()),
        Datum::Bool(row.validated),
        Datum::Oid(relation.oid.0),
        Datum::Oid(0),
        Datum::Oid(row.index.0),
        Datum::Oid(0),
        Datum::Oid(foreign.map_or(0, |key| key.references.0)),
        code(&|key| action(key.on_update)),
        code(&|key| action(key.on_delete)),
        code(&|key| if key.match_type == MatchType::Full { 'f' } else { 's' }),
        Datum::Bool(true),
        Datum::Int4(0),
        Datum::Bool(row.no_inherit),
        if row.columns.is_empty() { Datum::Null } else { rows.numbers(&row.columns) },
        referenced.map_or(Datum::Null, |columns| rows.numbers(&columns)),
        equals,
        equals,
        equals,
        deleted.map_or(Datum::Null, |columns| rows.numbers(&columns)),
        Datum::Null,
        rows.optional(shown.as_deref()),
    ];
    rows.row(&row)
}

pub(super) fn sequences(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for relation in users(rows, rows.oid_key(0)) {
        if rows.pauses(relation.oid) {
            break;
        }
        let RelationKind::Sequence(sequence) = &relation.kind else { continue };
        let row = [
            Datum::Oid(relation.oid.0),
            Datum::Oid(sequence.ty.0),
            Datum::Int8(sequence.start),
            Datum::Int8(sequence.increment),
            Datum::Int8(sequence.max),
            Datum::Int8(sequence.min),
            Datum::Int8(sequence.cache),
            Datum::Bool(sequence.cycle),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// The rules that views are (PostgreSQL's `_RETURN`); each has its view's OID.
pub(super) fn rules(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for view in users(rows, rows.oid_key(2)) {
        if rows.pauses(view.oid) {
            break;
        }
        if view.query().is_none() {
            continue;
        }
        let row = [
            Datum::Oid(view.oid.0),
            Datum::Text("_RETURN"),
            Datum::Oid(view.oid.0),
            letter('1'),
            letter('O'),
            Datum::Bool(true),
            // Node trees: `pg_get_viewdef` says what they say.
            Datum::Text("<>"),
            Datum::Text("<>"),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn descriptions(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    let all = rows.oid_key(0).is_none().then(|| snapshot.comments());
    let all = all.into_iter().flatten().map(|((oid, sub), comment)| (*oid, *sub, comment));
    let keyed = rows.oid_key(0).into_iter();
    let keyed = keyed.flat_map(|oid| snapshot.comments_on(oid).map(move |one| (oid, one.0, one.1)));
    // One that says nothing only hides what the system says.
    for (oid, sub, comment) in all.chain(keyed).filter(|one| !one.2.text.is_empty()) {
        let row = [
            Datum::Oid(oid.0),
            Datum::Oid(comment.class.0),
            Datum::Int4(sub as i32),
            rows.text(&comment.text),
        ];
        rows.row(&row)?;
    }
    Ok(())
}
