//! A session's temporary objects: in no other session's catalog, in no record, gone with the session.
//!
//! They are a difference that the session's snapshot keeps above what is committed. A transaction changes them like
//! everything else (it sees its own changes, a savepoint takes them back, its commit keeps them), but nothing is written:
//! a crash forgets them, and recovery frees their trees, because no catalog record names them. Their schema is called
//! `pg_temp_` and the session's number; `pg_temp` means it.

use crate::attachment::Attachment;
use crate::builtin::element_of_made;
use crate::definition::{Edge, Edges};
use crate::object::{Class, Object, ObjectKey, Schema};
use crate::routine::Routine;
use crate::snapshot::{CatalogSnapshot, Change};
use crate::store;
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
pub use sql_types::words::OnCommit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use txn::{RecordBuffer, RowLock, Transaction, Tree, TreeId, WaitPolicy};

/// How the schema of every session begins.
pub const SCHEMA_PREFIX: &str = "pg_temp_";

/// The temporary objects of a session.
#[derive(Debug, Default)]
pub struct Temporary {
    /// What the session's commits have left.
    objects: BTreeMap<ObjectKey, Object>,
    /// What has ever been one, by its key: an OID is never given twice.
    keys: BTreeSet<ObjectKey>,
    /// Tables that have something done to them at commit.
    on_commit: BTreeMap<Oid, OnCommit>,
}

impl Schema {
    /// Whether it holds a session's temporary objects.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with(SCHEMA_PREFIX)
    }
}

impl Temporary {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// What they are above what is committed.
    pub fn difference(&self) -> impl Iterator<Item = Change> {
        self.objects.iter().map(|(key, object)| (*key, Some(object.clone())))
    }

    /// Whether a change is one of a temporary object, which `snapshot` knows unless it is new; `is_there` says whether it changes
    /// one that is there.
    ///
    /// # Errors
    /// 0A000 where that would no longer be, or become, temporary.
    pub fn takes(
        &mut self,
        snapshot: &CatalogSnapshot,
        key: ObjectKey,
        object: Option<&Object>,
        is_there: bool,
    ) -> Result<bool> {
        let takes = match object {
            Some(Object::Relation(relation)) => relation.persistence == 't',
            Some(Object::Schema(schema)) => schema.is_temporary(),
            Some(Object::Type(ty)) => is_temporary_schema(snapshot, ty.schema),
            Some(Object::Routine(routine)) => is_temporary_routine(snapshot, routine),
            Some(Object::Operator(operator)) => is_temporary_schema(snapshot, operator.schema),
            Some(Object::OperatorClass(class)) => is_temporary_schema(snapshot, class.schema),
            Some(Object::OperatorFamily(family)) => is_temporary_schema(snapshot, family.schema),
            Some(Object::Conversion(made)) => is_temporary_schema(snapshot, made.schema),
            _ => self.keys.contains(&key) || belongs(snapshot, key),
        };
        if is_there && object.is_some() && takes != self.keys.contains(&key) {
            return Err(across());
        }
        if takes {
            self.keys.insert(key);
        }
        Ok(takes)
    }

    /// Whether a key is one of theirs.
    #[must_use]
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.keys.contains(key)
    }

    /// Those that are neither relations nor types nor parts of such, with their comments and lists.
    pub fn routines_and_operators(&self) -> impl Iterator<Item = ObjectKey> {
        let made = [
            Class::Routine,
            Class::Operator,
            Class::OperatorClass,
            Class::OperatorFamily,
            Class::Conversion,
        ];
        let own: BTreeSet<Oid> =
            self.keys.iter().filter(|key| made.contains(&key.class)).map(|key| key.oid).collect();
        let keys: Vec<ObjectKey> = self.keys.iter().copied().collect();
        keys.into_iter().filter(move |key| own.contains(&key.oid))
    }

    /// Keeps what a transaction has changed in them, now that it has committed.
    pub fn keep(&mut self, changes: Vec<Change>) {
        for (key, object) in changes.into_iter().filter(|(key, _)| self.keys.contains(key)) {
            match object {
                Some(object) => drop(self.objects.insert(key, object)),
                None => drop(self.objects.remove(&key)),
            }
        }
    }

    /// Says what becomes of a table at commit.
    pub fn note_on_commit(&mut self, table: Oid, action: OnCommit) {
        if action != OnCommit::Preserve {
            self.on_commit.insert(table, action);
        }
    }

    /// The tables that have something done to them at commit, those among them that are there no more forgotten.
    pub fn on_commit(&mut self, snapshot: &CatalogSnapshot) -> Vec<(Oid, OnCommit)> {
        self.on_commit.retain(|table, _| snapshot.relation(*table).is_some());
        self.on_commit.iter().map(|(table, action)| (*table, *action)).collect()
    }

    /// Whether anything is done at commit.
    #[must_use]
    pub fn acts_on_commit(&self) -> bool {
        !self.on_commit.is_empty()
    }

    /// The trees that only temporary objects name.
    pub fn trees(&self) -> Vec<TreeId> {
        let trees = self.objects.values().flat_map(|object| match object {
            Object::Relation(relation) => relation.trees().collect(),
            Object::Index(index) if !index.holds_rows() => vec![index.tree],
            _ => Vec::new(),
        });
        trees.collect()
    }
}

/// 0A000: what is temporary stays so, and nothing else becomes it.
#[must_use]
pub fn across() -> SqlError {
    let message = "cannot move objects into or out of temporary schemas";
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn is_temporary_schema(snapshot: &CatalogSnapshot, schema: Oid) -> bool {
    snapshot.schema_by_oid(schema).is_some_and(|schema| schema.is_temporary())
}

/// Whether a routine goes with the session: it is in its schema, or it takes or returns what goes.
fn is_temporary_routine(snapshot: &CatalogSnapshot, routine: &Routine) -> bool {
    let types = routine.parameters.iter().map(|parameter| parameter.ty).chain([routine.result]);
    is_temporary_schema(snapshot, routine.schema) || names_temporary(snapshot, types)
}

/// Whether one of these types, or what it is an array of, is temporary or the row of a temporary relation.
fn names_temporary(snapshot: &CatalogSnapshot, types: impl IntoIterator<Item = Oid>) -> bool {
    let Some(schema) = snapshot.temporary_schema() else { return false };
    let own = snapshot.types_in(schema.oid).into_iter().map(|ty| ty.oid);
    let rows = snapshot.temporary_relations().map(|relation| relation.row_type.0);
    let own: BTreeSet<Oid> = own.chain(rows).collect();
    types.into_iter().any(|ty| own.contains(&element_of_made(ty.0).map_or(ty, Oid)))
}

/// Whether a key is one of something that hangs on a temporary relation, type or routine.
fn belongs(snapshot: &CatalogSnapshot, key: ObjectKey) -> bool {
    let hangs = [
        Class::Relation,
        Class::Index,
        Class::Schema,
        Class::Statistics,
        Class::Comment,
        Class::Type,
        Class::Acl,
    ];
    if !hangs.contains(&key.class) {
        return false;
    }
    let of_check = || match key.class {
        Class::Comment => snapshot.domain_check(key.oid).map(|found| found.0),
        _ => None,
    };
    let owner = snapshot.user_type(key.oid).or_else(of_check);
    if owner.is_some_and(|ty| is_temporary_schema(snapshot, ty.schema)) {
        return true;
    }
    if snapshot.routine(key.oid).is_some_and(|routine| is_temporary_routine(snapshot, routine)) {
        return true;
    }
    let relation = snapshot
        .relation(key.oid)
        .or_else(|| snapshot.index(key.oid).map(|found| found.0))
        .or_else(|| snapshot.constraint_table(key.oid));
    relation.is_some_and(|relation| relation.persistence == 't')
        || is_temporary_schema(snapshot, key.oid)
}

/// The edges of an object that lead to functions and operators, and others.
fn called(object: &Object) -> Vec<Edge> {
    let edges = |edges: &Edges| edges.to_vec();
    let attachment = match object {
        Object::Relation(relation) => {
            let triggers = relation.triggers.iter();
            let triggers = triggers.map(|trigger| Edge::Function(trigger.function));
            return relation.definitions().flat_map(edges).chain(triggers).collect();
        }
        Object::Index(index) => return index.definitions().flat_map(edges).collect(),
        Object::Type(ty) => return ty.definitions().flat_map(edges).collect(),
        Object::Routine(routine) => {
            let parts = routine.aggregate.iter().flat_map(|aggregate| aggregate.functions());
            let parts = parts.map(Edge::Function);
            return routine.definitions().flat_map(edges).chain(parts).collect();
        }
        Object::Operator(one) => Attachment::Operator(Arc::clone(one)),
        Object::Cast(one) => Attachment::Cast(Arc::clone(one)),
        Object::EventTrigger(one) => Attachment::EventTrigger(Arc::clone(one)),
        Object::OperatorClass(one) => Attachment::Class(Arc::clone(one)),
        Object::Conversion(one) => Attachment::Conversion(Arc::clone(one)),
        _ => return Vec::new(),
    };
    attachment.needs()
}

/// 0A000 for a permanent object that calls a temporary function, is made of a temporary type, or whose text casts to one: it would go with the session.
///
/// # Errors
/// 0A000.
pub fn demand_permanent(snapshot: &CatalogSnapshot, object: &Object) -> Result<()> {
    if snapshot.temporary_schema().is_none() {
        return Ok(());
    }
    let is_temporary = |edge: &Edge| match edge {
        Edge::Function(oid) => {
            snapshot.routine(*oid).is_some_and(|found| is_temporary_routine(snapshot, found))
        }
        Edge::Operator(oid) => {
            let found = snapshot.user_operator(*oid);
            found.is_some_and(|found| is_temporary_schema(snapshot, found.schema))
        }
        _ => false,
    };
    if called(object).iter().any(is_temporary) {
        return Err(SqlError::unsupported("a permanent object of a temporary function is"));
    }
    let mut types: Vec<Oid> = Vec::new();
    let casts = |edges: &Edges| {
        let types = edges.iter().filter_map(|edge| match edge {
            Edge::Type(ty) => Some(*ty),
            _ => None,
        });
        types.collect::<Vec<_>>()
    };
    match object {
        Object::Relation(relation) => {
            let columns = relation.columns.iter().filter(|column| !column.dropped);
            types.extend(columns.map(|column| column.ty.oid));
            types.extend(relation.definitions().flat_map(casts));
        }
        Object::Index(index) => {
            types.extend(index.expressions.iter().map(|expression| expression.ty.oid));
            types.extend(index.definitions().flat_map(casts));
        }
        Object::Type(ty) => {
            types.extend(ty.attributes().into_iter().flatten().map(|attribute| attribute.ty.oid));
            types.extend(ty.domain().map(|domain| domain.base.oid));
            types.extend(ty.definitions().flat_map(casts));
        }
        _ => return Ok(()),
    }
    if names_temporary(snapshot, types) {
        return Err(SqlError::unsupported("a permanent object of a temporary type is"));
    }
    Ok(())
}

/// Gives a transaction that changes temporary objects a record of its own to commit, so that it has a place among the
/// commits: new trees are as old as it, and old ones are freed behind it.
///
/// # Errors
/// Those of a lock and of a write.
pub fn mark(transaction: &mut Transaction, tree: &Tree) -> Result<()> {
    let pid = transaction.wait().pid;
    lock_number(transaction, tree, pid)?;
    Ok(transaction.delete(tree, &store::session_key(pid))?)
}

/// Locks what `number` stands for, which one transaction at a time can have.
///
/// # Errors
/// Those of a lock.
pub fn lock_number(transaction: &mut Transaction, tree: &Tree, number: u32) -> Result<()> {
    let key = store::session_key(number);
    let mut buffer = RecordBuffer::default();
    transaction.lock_key(tree, &key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
    Ok(())
}
