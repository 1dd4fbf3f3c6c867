//! DROP TABLE, INDEX, VIEW, SEQUENCE, SCHEMA.

use super::Ddl;
use super::dependency::{Dependents, SEVERAL};
use super::resolve::{kind_noun, must_own, wrong_kind};
use super::type_dependents::{Dependent, depending_on_rows, drop_all};
use crate::catalog::Named;
use crate::catalog::relation::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Drop, ObjectKind, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::TableLock;

/// DROP.
///
/// # Errors
/// 42P01, 42704, 42809, 2BP01, 42501.
pub fn drop(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<&'static str> {
    match drop.kind {
        ObjectKind::Table => relations(ddl, drop).map(|()| "DROP TABLE"),
        ObjectKind::View => relations(ddl, drop).map(|()| "DROP VIEW"),
        ObjectKind::MaterializedView => relations(ddl, drop).map(|()| "DROP MATERIALIZED VIEW"),
        ObjectKind::Sequence => relations(ddl, drop).map(|()| "DROP SEQUENCE"),
        ObjectKind::Index => indexes(ddl, drop).map(|()| "DROP INDEX"),
        ObjectKind::Type => super::user_type::drop_types(ddl, drop).map(|()| "DROP TYPE"),
        ObjectKind::Domain => super::user_type::drop_types(ddl, drop).map(|()| "DROP DOMAIN"),
        ObjectKind::Schema => super::schema::drop_schema(ddl, drop).map(|()| "DROP SCHEMA"),
        ObjectKind::Extension => super::extension::drop_extension(ddl, drop),
        ObjectKind::Language => super::language::drop_language(ddl, drop),
        kind => Err(SqlError::unsupported(format!("DROP {} is", kind.words()))),
    }
}

/// What is told of a name that is not there: an error, or with IF EXISTS a notice.
pub(super) fn missing(ddl: &mut Ddl<'_>, drop: &Drop, name: &ObjectName) -> Result<()> {
    let noun = drop.kind.words().to_ascii_lowercase();
    let state = match drop.kind {
        ObjectKind::Index => SqlState::UNDEFINED_OBJECT,
        _ => SqlState::UNDEFINED_TABLE,
    };
    if !drop.if_exists {
        let message = format!("{noun} \"{}\" does not exist", name.name());
        return Err(SqlError::new(state, message));
    }
    let snapshot = ddl.snapshot();
    let message = match name.schema() {
        Some(schema) if snapshot.schema(schema).is_none() => {
            format!("schema \"{schema}\" does not exist, skipping")
        }
        _ => format!("{noun} \"{}\" does not exist, skipping", name.name()),
    };
    ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
    Ok(())
}

/// Finds and locks what a DROP names; none if it is not there and that is allowed.
fn find(
    ddl: &mut Ddl<'_>,
    drop: &Drop,
    name: &ObjectName,
    mode: TableLock,
    check: &dyn Fn(&mut Ddl<'_>, &Named, &Relation) -> Result<()>,
) -> Result<Option<(Named, Arc<Relation>)>> {
    let found = match ddl.lock_checked(name, mode, check) {
        Ok(found) => found,
        Err(error) if drop.if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => None,
        Err(error) => return Err(error),
    };
    if found.is_none() {
        missing(ddl, drop, name)?;
    }
    Ok(found)
}

/// 42809 with the statement that would do.
fn other_kind(name: &str, drop: &Drop, actual: &str) -> SqlError {
    let article = if actual.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    wrong_kind(name, drop.kind)
        .hint(format!("Use DROP {actual} to remove {article} {}.", actual.to_ascii_lowercase()))
}

/// What DROP calls a relation of that kind.
fn words_to_drop(relation: &Relation) -> String {
    match relation.kind {
        RelationKind::Composite => "TYPE".to_owned(),
        _ => kind_noun(relation).to_ascii_uppercase(),
    }
}

/// Whether the current user may drop a relation: its owner, or its schema's.
fn may_drop(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<()> {
    if is_made(relation) && ddl.owns_schema(relation.schema.0) {
        return Ok(());
    }
    ddl.check_owner(relation)
}

/// Whether a relation is none of the system's.
fn is_made(relation: &Relation) -> bool {
    relation.oid.0 >= crate::catalog::object::well_known::FIRST_NORMAL
}

fn relations(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<()> {
    let mut going: Vec<Arc<Relation>> = Vec::new();
    for name in &drop.names {
        let exclusive = TableLock::AccessExclusive;
        let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
            if matches!(named, Named::Index { .. }) {
                return Err(other_kind(name.name(), drop, "INDEX"));
            }
            let kind = kind_noun(relation);
            if kind != drop.kind.words().to_ascii_lowercase() {
                return Err(other_kind(&relation.name, drop, &words_to_drop(relation)));
            }
            may_drop(ddl, relation)
        };
        let Some((_, relation)) = find(ddl, drop, name, exclusive, &check)? else { continue };
        if going.iter().all(|known| known.oid != relation.oid) {
            going.push(relation);
        }
    }
    drop_relations(ddl, &going, drop.cascade)
}

/// Drops relations that are locked and may be dropped, with what depends on them.
pub(super) fn drop_relations(
    ddl: &mut Ddl<'_>,
    going: &[Arc<Relation>],
    cascade: bool,
) -> Result<()> {
    let oids: Vec<Oid> = going.iter().map(|relation| relation.oid).collect();
    for relation in going {
        if let Some(extension) = ddl.snapshot().extension_of_relation(relation.oid) {
            let what = format!("{} {}", kind_noun(relation), ddl.display(relation));
            return Err(super::extension::required(&what, &extension.name));
        }
    }
    let (dependents, typed) = loop {
        let (mut dependents, mut typed) = (Dependents::default(), Vec::new());
        let mut starts = Vec::with_capacity(going.len());
        for one in going {
            starts.push(dependents.lines.len());
            let one = std::slice::from_ref(one);
            collect_dependents(ddl, one, &oids, &mut dependents, &mut typed)?;
        }
        dependents.tell_last_first(&starts);
        if ddl.hold(&dependents, &typed)? {
            break (dependents, typed);
        }
    };
    let what = match going {
        [one] => format!("{} {}", kind_noun(one), ddl.display(one)),
        _ => SEVERAL.to_owned(),
    };
    ddl.drop_dependents(&dependents, cascade, &what)?;
    drop_all(ddl, typed)?;
    for relation in going {
        if let Some(relation) = ddl.relation(relation.oid) {
            let statement = format!("DROP {}", kind_noun(&relation).to_ascii_uppercase());
            ddl.refuse_active("DROP TABLE", &relation)?;
            ddl.refuse_pending(&statement, &relation)?;
            ddl.remove_relation(&relation)?;
        }
    }
    Ok(())
}

/// Collects what depends on relations that are locked and go, with all those in `oids`.
pub(super) fn collect_dependents(
    ddl: &mut Ddl<'_>,
    going: &[Arc<Relation>],
    oids: &[Oid],
    dependents: &mut Dependents,
    typed: &mut Vec<Dependent>,
) -> Result<()> {
    for relation in going {
        ddl.refuse_identity(relation, oids)?;
        let what = format!("{} {}", kind_noun(relation), ddl.display(relation));
        let mut gone = [oids, &dependents.views].concat();
        gone.extend(typed.iter().filter_map(Dependent::view));
        let mut depending = Vec::new();
        depending_on_rows(ddl, relation, (&[], &gone), &mut depending);
        gone.extend(depending.iter().filter_map(Dependent::view));
        for one in depending {
            dependents.lines.push((one.shown.clone(), one.on.clone()));
            typed.push(one);
        }
        let goes = |table: Oid, _: usize| oids.contains(&table);
        ddl.collect_named(relation, &goes, (&[], &gone, oids), &what, dependents);
        ddl.collect_owned_named(relation, None, &goes, (&[], &gone), dependents);
    }
    Ok(())
}

fn indexes(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<()> {
    if drop.concurrently {
        ddl.refuse_block("DROP INDEX CONCURRENTLY")?;
    }
    for name in &drop.names {
        let found = droppable_index(ddl, drop, name, TableLock::AccessExclusive)?;
        if let Some((relation, index)) = found {
            remove_index(ddl, &relation, index)?;
        }
    }
    Ok(())
}

/// The table of an index, locked, and the index, which may be dropped; with CASCADE what depends on it has gone. None if it
/// is not there and that is allowed.
pub(super) fn droppable_index(
    ddl: &mut Ddl<'_>,
    drop: &Drop,
    name: &ObjectName,
    mode: TableLock,
) -> Result<Option<(Arc<Relation>, Oid)>> {
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        if matches!(named, Named::Relation(_)) {
            return Err(other_kind(&relation.name, drop, &words_to_drop(relation)));
        }
        let owns = ddl.snapshot().owns(ddl.user, relation.owner);
        if !(owns || is_made(relation) && ddl.owns_schema(relation.schema.0)) {
            return Err(must_own("index", name.name()));
        }
        Ok(())
    };
    let found = find(ddl, drop, name, mode, &check)?;
    let Some((Named::Index { index: oid, .. }, relation)) = found else { return Ok(None) };
    let index = relation.indexes.iter().find(|index| index.oid == oid);
    let index = index.expect("a name of an index leads to a table that has it");
    let shown_index = ddl.display_index(&relation, index);
    if let Some((_, constraint)) = &index.constraint {
        let shown = ddl.display(&relation);
        return Err(SqlError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!(
                "cannot drop index {shown_index} because constraint {constraint} on table {shown} requires it"
            ),
        )
        .hint(format!("You can drop constraint {constraint} on table {shown} instead.")));
    }
    ddl.refuse_pending("DROP INDEX", &relation)?;
    let what = format!("index {shown_index}");
    let dependents = loop {
        let mut found = Dependents::default();
        ddl.collect_references(&relation, &[], &|_, key| key.index == oid, &what, &mut found);
        if ddl.hold(&found, &[])? {
            break found;
        }
    };
    ddl.drop_dependents(&dependents, drop.cascade, &what)?;
    Ok(Some((ddl.relation(relation.oid).unwrap_or(relation), oid)))
}

/// Takes an index from its table, and its tree with the commit.
pub(super) fn remove_index(ddl: &mut Ddl<'_>, relation: &Relation, index: Oid) -> Result<()> {
    let mut next = Relation::clone(relation);
    for gone in next.indexes.extract_if(.., |found| found.oid == index) {
        ddl.catalog.drop_tree(gone.tree);
    }
    ddl.put_without(relation, next)
}
