//! CREATE INDEX, and the keys of tables: PRIMARY KEY and UNIQUE.

use super::build::{NO_TREE, Rewrite};
use super::constraint::constraint_is_new;
use super::index_key::{demand_room, included, no_system_key};
use super::name;
use super::resolve::{
    duplicate_relation, must_own, refused_system_column, system_column_named, undefined_column,
    undefined_table,
};
use super::{Ddl, options};
use crate::bind::dml::{composite_type, index as no_table};
use crate::catalog::Named;
use crate::catalog::relation::{
    Deferral, Index, IndexColumn, IndexState, Relation, RelationKind, numbered,
};
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateIndex, Ident, KeyOptions};
use crate::sqlstate::SqlState;
use std::sync::Arc;
use txn::TableLock;

/// CREATE INDEX.
///
/// # Errors
/// 42P07, 42703, 42704, 23505 and so on.
pub fn create_index(ddl: &mut Ddl<'_>, create: &CreateIndex) -> Result<&'static str> {
    if create.concurrently {
        ddl.refuse_block("CREATE INDEX CONCURRENTLY")?;
    }
    let relation = lock_indexed(ddl, create, TableLock::Share)?;
    let Some(mut index) = new_index(ddl, create, &relation)? else { return Ok("CREATE INDEX") };
    index.tree = ddl.build_index(&relation, &index)?;
    ddl.catalog.add_index(ddl.transaction, relation.oid, index)?;
    Ok("CREATE INDEX")
}

/// The table of a CREATE INDEX, locked; it may have an index, and the current user may make one.
pub(super) fn lock_indexed(
    ddl: &mut Ddl<'_>,
    create: &CreateIndex,
    mode: TableLock,
) -> Result<Arc<Relation>> {
    supported(create)?;
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        if matches!(named, Named::Index { .. }) {
            if !ddl.snapshot().owns(ddl.user, relation.owner) {
                return Err(must_own("index", create.table.name()));
            }
            return Err(no_table(create.table.name()));
        }
        if matches!(relation.kind, RelationKind::Composite) {
            ddl.check_owner(relation)?;
            return Err(composite_type(&relation.name));
        }
        if !matches!(relation.kind, RelationKind::Table { .. } | RelationKind::System) {
            ddl.check_owner(relation)?;
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot create index on relation \"{}\"", create.table.name()),
            )
            .detail(match relation.kind {
                RelationKind::Sequence(_) => "This operation is not supported for sequences.",
                _ => "This operation is not supported for views.",
            }));
        }
        ddl.check_owner(relation)
    };
    let Some((_, relation)) = ddl.lock_checked(&create.table, mode, &check)? else {
        return Err(undefined_table(&create.table));
    };
    ddl.refuse_active("CREATE INDEX", &relation)?;
    Ok(relation)
}

/// The index that a CREATE INDEX describes, named, without a tree; none if IF NOT EXISTS has found one of that name.
pub(super) fn new_index(
    ddl: &mut Ddl<'_>,
    create: &CreateIndex,
    relation: &Relation,
) -> Result<Option<Index>> {
    demand_room(create.keys.len() + create.include.len())?;
    ddl.may_still_create_in(relation)?;
    let (columns, expressions) = ddl.key_columns(relation, &create.keys)?;
    let include = included(relation, &create.include)?;
    let snapshot = ddl.snapshot();
    let filter = match &create.filter {
        Some((filter, _)) => {
            let filter = ddl.semantics.index_predicate(&snapshot, relation, filter)?;
            ddl.hold_named(filter.edges())?;
            // It may say no more than no predicate does.
            let shown = ddl.semantics.text(&snapshot, relation, &filter)?;
            (&*shown != "true").then_some(filter)
        }
        None => None,
    };
    let mut index = Index {
        oid: ddl.catalog.next_oid()?,
        name: "".into(),
        columns,
        tree: NO_TREE,
        unique: create.unique,
        primary: false,
        constraint: None,
        options: options::of_index(&create.options)?,
        expressions,
        include,
        filter,
        nulls_not_distinct: create.nulls_not_distinct,
        state: IndexState::Valid,
        deferral: Deferral::Never,
        clustered: false,
        replica_identity: false,
    };
    ddl.check_keys(relation, &index)?;
    index.name = match &create.name {
        Some(name) => Arc::clone(name),
        None => {
            let names = index.column_names(relation);
            let part = name::columns_part(names.iter().map(|name| &**name));
            let schema = relation.schema.0;
            name::relation_name(&snapshot, schema, &[], &relation.name, Some(&part), "idx")
        }
    };
    if ddl.lock_relation_name(relation.schema.0, &index.name)? {
        if create.if_not_exists {
            let message = format!("relation \"{}\" already exists, skipping", index.name);
            ddl.notice(SqlState::DUPLICATE_TABLE, message);
            return Ok(None);
        }
        return Err(duplicate_relation(&index.name));
    }
    Ok(Some(index))
}

/// 0A000 for what Atoll's indexes do not do, 42704 for what does not exist.
fn supported(create: &CreateIndex) -> Result<()> {
    match create.method.as_deref() {
        None | Some("btree") => {}
        Some(method @ ("hash" | "gist" | "gin" | "spgist" | "brin")) => {
            return Err(SqlError::unsupported(format!("access method \"{method}\" is")));
        }
        Some(method) => {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("access method \"{method}\" does not exist"),
            ));
        }
    }
    tablespace(create.tablespace.as_ref())
}

/// There is one tablespace for users.
///
/// # Errors
/// 42704.
pub(super) fn tablespace(name: Option<&Ident>) -> Result<()> {
    match name.map(|name| &**name) {
        None | Some("pg_default") => Ok(()),
        Some(name) => Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("tablespace \"{name}\" does not exist"),
        )),
    }
}

/// The columns that INCLUDE of a constraint names.
fn included_in_key(relation: &Relation, names: &[Ident]) -> Result<Vec<usize>> {
    let column = |name: &Ident| {
        relation.column(name).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{name}\" named in key does not exist"),
            )
        })
    };
    names.iter().map(column).collect()
}

/// A PRIMARY KEY or UNIQUE constraint that is about to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// CONSTRAINT name.
    pub name: Option<Ident>,
    /// Its columns' names.
    pub columns: Vec<Ident>,
    /// What else was said.
    pub options: KeyOptions,
    /// Byte offset in the query text.
    pub at: u32,
}

impl NewKey {
    /// Whether another key asks for the same.
    fn covers(&self, other: &NewKey) -> bool {
        let (own, others) = (&self.options, &other.options);
        self.columns == other.columns
            && own.include == others.include
            && own.nulls_not_distinct == others.nulls_not_distinct
            && own.deferral == others.deferral
    }
}

/// The keys of a table or column that is being made: the primary key first, whatever the order in the text, and none that
/// another asks for already, which takes its name if it has none (`transformIndexConstraints`).
pub(super) fn distinct_keys(keys: Vec<NewKey>) -> Vec<NewKey> {
    let (mut kept, other): (Vec<NewKey>, Vec<NewKey>) =
        keys.into_iter().partition(|key| key.options.primary);
    for key in other {
        match kept.iter_mut().find(|known| known.covers(&key)) {
            Some(known) => known.name = known.name.take().or(key.name),
            None => kept.push(key),
        }
    }
    kept
}

impl Ddl<'_> {
    /// Makes the index of a key: named, checked, its tree not yet made. `taken` are names that this statement has given.
    pub(super) fn new_key(
        &mut self,
        relation: &Relation,
        key: &NewKey,
        taken: &[Arc<str>],
    ) -> Result<Index> {
        let given = &key.options;
        tablespace(given.tablespace.as_ref())?;
        let system = |name| {
            let found =
                system_column_named(relation, name).filter(|_| relation.column(name).is_none());
            found.map(|column| (name, column))
        };
        if let Some((name, column)) = key.columns.iter().find_map(|name| system(name)) {
            return Err(match given.primary {
                true => refused_system_column("alter", name),
                false => no_system_key(column),
            });
        }
        if given.primary && relation.indexes.iter().any(|index| index.primary) {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("multiple primary keys for table \"{}\" are not allowed", relation.name),
            ));
        }
        demand_room(key.columns.len() + given.include.len())?;
        let mut columns: Vec<IndexColumn> = Vec::new();
        for name in &key.columns {
            let Some(column) = relation.column(name) else {
                // Those of a primary key are to be NOT NULL first.
                if given.primary && self.relation(relation.oid).is_some() {
                    return Err(undefined_column(relation, name));
                }
                let message = format!("column \"{name}\" named in key does not exist");
                return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
            };
            if columns.iter().any(|known| known.column == column) {
                let what = if given.primary { "primary key" } else { "unique" };
                return Err(SqlError::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{name}\" appears twice in {what} constraint"),
                ));
            }
            columns.push(IndexColumn::plain(column));
        }
        let name = self.key_name(relation, key, taken)?;
        let index = Index {
            oid: self.catalog.next_oid()?,
            name: Arc::clone(&name),
            columns,
            tree: NO_TREE,
            unique: true,
            primary: given.primary,
            constraint: Some((self.catalog.next_oid()?, name)),
            options: options::of_index(&given.options)?,
            expressions: Vec::new(),
            include: included_in_key(relation, &given.include)?,
            filter: None,
            nulls_not_distinct: given.nulls_not_distinct,
            state: IndexState::Valid,
            deferral: given.deferral,
            clustered: false,
            replica_identity: false,
        };
        self.check_keys(relation, &index)?;
        Ok(index)
    }

    fn key_name(
        &mut self,
        relation: &Relation,
        key: &NewKey,
        taken: &[Arc<str>],
    ) -> Result<Arc<str>> {
        let schema = relation.schema.0;
        if let Some(name) = &key.name {
            if taken.contains(name) || self.lock_relation_name(schema, name)? {
                return Err(duplicate_relation(name));
            }
            constraint_is_new(relation, name)?;
            return Ok(Arc::clone(name));
        }
        let named = key.columns.iter().chain(&key.options.include);
        let named = numbered(named.map(|name| &**name));
        let part = name::columns_part(named.iter().map(|name| &**name));
        let (second, label) =
            if key.options.primary { (None, "pkey") } else { (Some(part.as_str()), "key") };
        // It is the name of a constraint, too.
        let constraints = relation.constraints.iter().map(|constraint| &constraint.name);
        let taken: Vec<Arc<str>> = taken.iter().chain(constraints).cloned().collect();
        loop {
            let snapshot = self.snapshot();
            let name =
                name::relation_name(&snapshot, schema, &taken, &relation.name, second, label);
            if !self.lock_relation_name(schema, &name)? {
                return Ok(name);
            }
        }
    }

    /// ALTER TABLE ADD PRIMARY KEY, ADD UNIQUE: over rows that are there. A primary key clusters the table anew.
    pub(super) fn add_key(&mut self, relation: &Relation, key: &NewKey) -> Result<Relation> {
        self.may_still_create_in(relation)?;
        // Those made by the same statement are not in the catalog yet.
        let taken: Vec<Arc<str>> =
            relation.indexes.iter().map(|index| Arc::clone(&index.name)).collect();
        let mut index = self.new_key(relation, key, &taken)?;
        self.tell_key(true, relation, &index);
        let mut next = relation.clone();
        let mut not_null: Vec<usize> = Vec::new();
        if index.primary {
            not_null.extend(index.columns.iter().map(|key| key.column));
        }
        for &column in &not_null {
            next.columns[column].not_null = true;
        }
        if !index.holds_rows() {
            index.tree = self.build_index(relation, &index)?;
            self.demand_values(relation, &not_null)?;
            let place = if index.primary { 0 } else { next.indexes.len() };
            next.indexes.insert(place, index);
            return Ok(next);
        }
        self.tell_build(relation, &index);
        if not_null.iter().any(|&column| !relation.columns[column].not_null) {
            self.tell_verification(relation);
        }
        next.indexes.insert(0, index);
        let mut rewrite = Rewrite { columns: Vec::new(), not_null: Vec::new(), checks: Vec::new() };
        self.rewrite(relation, &mut next, &mut rewrite)?;
        Ok(next)
    }
}
