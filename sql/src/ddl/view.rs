//! CREATE VIEW. A view is the tree of its query: what that reads may be called otherwise, and get and lose columns.

use super::create_table::column_type;
use super::query_columns::{demand_collations, query_columns};
use super::resolve::{duplicate_relation, wrong_kind};
use super::row_shape::Reshape;
use super::{Ddl, options};
use crate::catalog::builtin::{self, TypeKind};
use crate::catalog::definition::ViewQuery;
use crate::catalog::object::Version;
use crate::catalog::privilege::Grantable;
use crate::catalog::relation::{Column, Relation, RelationKind, ReplicaIdentity};
use crate::catalog::{CatalogSnapshot, CheckOption};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Body, CreateView, CteBody, ObjectKind, Query, StorageOption, Value};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// Whether a query's WITH changes rows.
pub(crate) fn modifies(query: &Query) -> bool {
    let mut ctes = query.with.iter().flat_map(|with| &with.ctes);
    ctes.any(|cte| !matches!(cte.body, CteBody::Query(_)))
}

/// The storage parameter that WITH CHECK OPTION is kept as.
const CHECK_OPTION: &str = "check_option";

/// The options of a view, WITH CHECK OPTION behind the others.
fn with_check_option(create: &CreateView) -> Vec<StorageOption> {
    let mut options = create.options.clone();
    if let Some(check) = create.check_option {
        let word = match check {
            CheckOption::Local => "local",
            CheckOption::Cascaded => "cascaded",
        };
        let value = Some(Value::Word(word.into()));
        options.push(StorageOption { name: CHECK_OPTION.into(), value });
    }
    options
}

/// 0A000 if a view of this query cannot have WITH CHECK OPTION.
fn demand_updatable(ddl: &mut Ddl<'_>, query: &ViewQuery) -> Result<()> {
    let snapshot = ddl.snapshot();
    match ddl.semantics.unfit_for_check(&snapshot, query)? {
        None => Ok(()),
        Some(why) => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "WITH CHECK OPTION is supported only on automatically updatable views",
        )
        .hint(format!("{why} are not automatically updatable."))),
    }
}

/// ALTER VIEW ... SET (...): the view with these options.
///
/// # Errors
/// 0A000, 22023.
pub(super) fn with_options(
    ddl: &mut Ddl<'_>,
    view: &Relation,
    given: &[StorageOption],
) -> Result<Relation> {
    let mut next = view.clone();
    for (name, value) in options::of_view(given)? {
        next.options.retain(|option| option.0 != name);
        next.options.push((name, value));
    }
    if next.check_option().is_some()
        && let Some(query) = view.query()
    {
        demand_updatable(ddl, query)?;
    }
    Ok(next)
}

/// CREATE VIEW.
///
/// # Errors
/// 0A000, 22023, 42P07, 42P16, 42809 and those of the query.
pub fn create_view(ddl: &mut Ddl<'_>, create: &CreateView) -> Result<&'static str> {
    const TAG: &str = "CREATE VIEW";
    let name = create.name.name();
    if matches!(&create.query.body, Body::Select(select) if select.into.is_some()) {
        let message = "views must not contain SELECT INTO";
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let refusal = "views must not contain data-modifying statements in WITH";
    let bound = ddl.held_query(&create.query, refusal)?;
    let given = with_check_option(create);
    if given.iter().any(|option| &*option.name == CHECK_OPTION) {
        demand_updatable(ddl, &bound.query)?;
    }
    let mut temporary = create.temporary;
    if !temporary && reads_temporary(&ddl.snapshot(), &bound.relations) {
        temporary = true;
        let message = format!("view \"{name}\" will be a temporary view");
        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
    }
    let schema = ddl.creation_schema_for(&create.name, if temporary { 't' } else { 'p' })?;
    let taken = ddl.lock_relation_name(schema.oid, name)?;
    if create.columns.len() > bound.columns.len() {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "CREATE VIEW specifies more column names than columns",
        ));
    }
    let options = options::of_view(&given)?;
    let columns = query_columns(&bound.columns, &bound.collations, &create.columns)?;
    demand_collations(&ddl.snapshot(), &columns, |column| {
        format!("could not determine which collation to use for view column \"{}\"", column.name)
    })?;
    for column in &columns {
        if builtin::type_by_oid(column.ty.oid.0).is_some_and(|ty| ty.kind == TypeKind::Pseudo) {
            column_type(&column.name, column.ty)?;
        }
        ddl.demand_type_usage(column.ty)?;
    }
    let kind = RelationKind::View { query: bound.query };
    if taken {
        if !create.replace {
            return Err(duplicate_relation(name));
        }
        return replace(ddl, create, columns, kind, options).map(|()| TAG);
    }
    ddl.demand_free_type(schema.oid, name)?;
    let oid = ddl.catalog.next_oid()?;
    let relation = Relation {
        oid,
        schema: (schema.oid, Arc::clone(&schema.name)),
        name: Arc::clone(name),
        owner: ddl.user,
        kind,
        columns,
        indexes: Vec::new(),
        constraints: Vec::new(),
        referenced_by: Vec::new(),
        version: Version::NONE,
        lock: Relation::lock_of(ddl.catalog.database(), oid),
        row_estimate: -1.0,
        options,
        persistence: if schema.is_temporary() { 't' } else { 'p' },
        row_type: ddl.catalog.next_row_type()?,
        acl: ddl.default_acl(Grantable::Table, schema.oid)?,
        stored_query: None,
        triggers: Vec::new(),
        key_triggers: Vec::new(),
        replica_identity: ReplicaIdentity::default(),
    };
    ddl.catalog.put_relation(ddl.transaction, relation)?;
    Ok(TAG)
}

/// Whether a temporary relation is among these.
pub(super) fn reads_temporary(snapshot: &CatalogSnapshot, relations: &[Oid]) -> bool {
    relations
        .iter()
        .any(|oid| snapshot.relation(*oid).is_some_and(|relation| relation.persistence == 't'))
}

/// CREATE OR REPLACE VIEW over one that is there: its columns stay, new ones may follow.
fn replace(
    ddl: &mut Ddl<'_>,
    create: &CreateView,
    mut columns: Vec<Column>,
    kind: RelationKind,
    options: Vec<(String, String)>,
) -> Result<()> {
    let found = ddl.lock_named(&create.name, TableLock::AccessExclusive)?;
    let name = create.name.name();
    let Some((crate::catalog::Named::Relation(_), old)) = found else {
        return Err(wrong_kind(name, ObjectKind::View));
    };
    if !matches!(old.kind, RelationKind::View { .. }) {
        return Err(wrong_kind(name, ObjectKind::View));
    }
    ddl.check_owner(&old)?;
    ddl.transaction.lock_table(old.lock, TableLock::AccessExclusive, WaitPolicy::Block)?;
    if columns.len() < old.columns.len() {
        return Err(SqlError::new(
            SqlState::INVALID_TABLE_DEFINITION,
            "cannot drop columns from view",
        ));
    }
    for (before, after) in old.columns.iter().zip(&mut columns) {
        if before.name != after.name {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!(
                    "cannot change name of view column \"{}\" to \"{}\"",
                    before.name, after.name
                ),
            )
            .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead."));
        }
        if before.ty != after.ty {
            let (from, to) = (ddl.type_shown(before.ty), ddl.type_shown(after.ty));
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!(
                    "cannot change data type of view column \"{}\" from {from} to {to}",
                    before.name
                ),
            ));
        }
        if before.collation != after.collation {
            let name = |oid: Oid| builtin::collation(oid.0).unwrap_or_default();
            let (from, to) = (name(before.collation), name(after.collation));
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!(
                    "cannot change collation of view column \"{}\" from \"{from}\" to \"{to}\"",
                    before.name
                ),
            ));
        }
        after.default.clone_from(&before.default);
    }
    let grown: Vec<Reshape> =
        columns[old.columns.len()..].iter().map(|added| Reshape::Add(added.ty)).collect();
    for added in &columns[old.columns.len()..] {
        ddl.check_membership(old.row_type.0, added.ty)?;
    }
    let mut next = Relation::clone(&old);
    next.columns = columns;
    next.kind = kind;
    next.options = options;
    if next.columns.len() == old.columns.len() {
        return ddl.catalog.put_relation(ddl.transaction, next);
    }
    let mut before = ddl.snapshot();
    ddl.catalog.put_relation(ddl.transaction, next)?;
    for change in &grown {
        ddl.reshape(&before, old.row_type.0, change)?;
        before = ddl.snapshot();
    }
    Ok(())
}
