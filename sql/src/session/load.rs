//! Rows into a table that nobody else can see yet: past locks, write set and log, into trees built from the bottom.
//!
//! A COPY, or an INSERT with a query, into a table that this transaction has made or truncated, and that is empty, runs as
//! always, but what it writes goes to [`txn::TreeLoad`]s, one for each tree, within `maintenance_work_mem` together. At the
//! statement's end they become the table's trees. Whether a key came twice shows only then; the row that would have failed
//! first, had each been looked at when it came, is the one that is told.
//!
//! A COPY that is a transaction by itself does the same with any empty table without foreign keys that it can lock in SHARE ROW
//! EXCLUSIVE mode without waiting: others wait to write there until it ends, and in a block they would until that does. Readers are not kept out: who has an older snapshot goes on with the old trees, and who has a newer one plans
//! with the new ones (`Session::start_plan` looks at the catalog behind its snapshot).

use crate::catalog::object::Class;
use crate::catalog::relation::{ConstraintKind, Index, Relation, RelationKind};
use crate::catalog::trigger;
use crate::ddl::build::{KeyFunction, duplicate_row, fill_percent, is_empty};
use crate::error::{Result, SqlError};
use crate::exec::index_keys::key_value;
use crate::exec::write::{duplicate_key, index_key_text};
use crate::plan::physical::{ModifyKind, Plan};
use crate::prepared::Planned;
use crate::session::Session;
use crate::settings::session::Settings;
use crate::tuple::RowBuf;
use crate::types::{Oid, text_of};
use std::sync::Arc;
use txn::{Duplicate, Loaded, TableLock, TreeId, WaitPolicy};

/// `maintenance_work_mem`.
pub(super) fn maintenance_bytes(settings: &Settings) -> usize {
    usize::try_from(settings.integer("maintenance_work_mem")).unwrap_or(0).saturating_mul(1024)
}

/// The table that a plan does nothing to but insert the rows of a query.
pub(super) fn inserts_query(planned: &Planned) -> Option<&Arc<Relation>> {
    let Plan::Modify(modify) = &planned.program.plan else { return None };
    let ModifyKind::Insert { source, on_conflict: None, .. } = &modify.kind else { return None };
    let few = matches!(source, Plan::Unit | Plan::Nothing | Plan::Values(..) | Plan::Constants(..));
    // A WITH of the statement may change the same table, and means to meet what is there.
    let alone = planned.program.ctes.is_empty() && modify.returning.is_none();
    (alone && !few).then_some(&modify.table.relation)
}

impl Session {
    /// Begins to load a table if it may be loaded; says whether it has. The statement locks it and has its view.
    pub(super) fn begin_load(&mut self, relation: &Relation, for_copy: bool) -> Result<bool> {
        let RelationKind::Table { tree: rows, long_values, .. } = relation.kind else {
            return Ok(false);
        };
        // What a trigger looks at is there when it fires.
        if relation.triggers.iter().any(|one| one.kind & trigger::INSERT != 0) {
            return Ok(false);
        }
        let own = relation.trees().all(|tree| self.catalog.made(tree));
        let refers = |own: bool| {
            relation.constraints.iter().any(|constraint| match &constraint.kind {
                ConstraintKind::ForeignKey(key) => !own || key.references == relation.oid,
                ConstraintKind::Check { .. } => false,
            })
        };
        // Checks of foreign keys by others read the latest rows, and must not meet a tree that has been replaced.
        // Keys that several rows may have until they are checked do not meet in the trees that are built. What is loaded
        // leaves an index that is not valid as it is.
        if relation.indexes.iter().any(|index| index.deferral.is_deferrable() || !index.is_valid())
        {
            return Ok(false);
        }
        let alone = for_copy && !self.block.is_explicit();
        if refers(own) || !own && (!alone || !relation.referenced_by.is_empty()) {
            return Ok(false);
        }
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        if !is_empty(transaction, rows)? || !own && !self.lock_out_writers(relation, rows)? {
            return Ok(false);
        }
        let engine = Arc::clone(&self.engine);
        let transaction = self.block.ensure(engine.manager(), &self.wait);
        let share = maintenance_bytes(&self.settings) / relation.trees().count();
        for tree in relation.trees() {
            let index =
                relation.indexes.iter().find(|index| index.tree == tree && !index.holds_rows());
            let options = index.map_or(&relation.options, |index| &index.options);
            // Pieces of long values are never updated in place.
            let fill = if tree == long_values { Some(100) } else { fill_percent(options) };
            let load = transaction.new_load(share, fill);
            transaction.divert(tree, load);
        }
        Ok(true)
    }

    /// Keeps others from writing to an empty table, if that needs no waiting; whether it is still empty then.
    fn lock_out_writers(&mut self, relation: &Relation, rows: TreeId) -> Result<bool> {
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        let (mode, policy) = (TableLock::ShareRowExclusive, WaitPolicy::Skip);
        if !transaction.lock_table(relation.lock, mode, policy)? || !is_empty(transaction, rows)? {
            return Ok(false);
        }
        self.catalog.note_loaded(relation.oid);
        Ok(true)
    }

    /// Ends a load: what was written becomes the table's trees. `place` says in an error which row it was, by how many
    /// rows came before it.
    pub(super) fn end_load(
        &mut self,
        table: Oid,
        place: &dyn Fn(SqlError, u64) -> SqlError,
    ) -> Result<()> {
        // What is built is not built again: others' changes, of privileges mostly, are waited for here.
        let key = self.catalog.key(Class::Relation, table);
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        self.catalog.lock_beside(transaction, key)?;
        let Some(relation) = self.catalog.snapshot().relation(table).cloned() else {
            return Ok(());
        };
        let RelationKind::Table { tree: rows, long_values, .. } = relation.kind else {
            return Ok(());
        };
        let mut next = Relation::clone(&relation);
        let mut twice: Option<(Option<usize>, Duplicate)> = None;
        if let Some(built) = self.build(long_values, &mut |_| ())?
            && let RelationKind::Table { long_values, .. } = &mut next.kind
        {
            *long_values = built;
        }
        if let Some(built) = self.build(rows, &mut |duplicate| twice = Some((None, duplicate)))? {
            if let RelationKind::Table { tree, .. } = &mut next.kind {
                *tree = built;
            }
            for index in next.indexes.iter_mut().filter(|index| index.holds_rows()) {
                index.tree = built;
            }
        }
        for at in 0..relation.indexes.len() {
            if relation.indexes[at].holds_rows() {
                continue;
            }
            let mut earliest = |duplicate: Duplicate| {
                if twice.as_ref().is_none_or(|known| duplicate.ordinal < known.1.ordinal) {
                    twice = Some((Some(at), duplicate));
                }
            };
            if let Some(built) = self.build(relation.indexes[at].tree, &mut earliest)? {
                next.indexes[at].tree = built;
            }
        }
        if let Some((at, duplicate)) = &twice {
            let within = at.map(|at| &next.indexes[at]);
            let index = within.or_else(|| next.indexes.iter().find(|index| index.holds_rows()));
            let index = index.expect("hidden row ids are never the same");
            return Err(self.duplicate(&next, index, within, duplicate, place)?);
        }
        let kept: Vec<TreeId> = next.trees().collect();
        for tree in relation.trees().filter(|tree| !kept.contains(tree)) {
            self.catalog.drop_tree(tree);
        }
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        self.catalog.put_relation(transaction, next)?;
        self.basis = None;
        Ok(())
    }

    /// Builds the tree that is to stand for `tree`; none if nothing has come for it. Where a key came twice, the tree has its
    /// first record, and goes when the statement fails.
    fn build(&mut self, tree: TreeId, twice: &mut dyn FnMut(Duplicate)) -> Result<Option<TreeId>> {
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        let load = transaction.take_load(tree).filter(|load| !load.is_empty());
        let Some(load) = load else { return Ok(None) };
        match transaction.build(load)? {
            Loaded::Built(tree) => Ok(Some(self.catalog.adopt_tree(&tree))),
            Loaded::Duplicate(duplicate, firsts) => {
                twice(duplicate);
                Ok(Some(self.catalog.adopt_tree(&firsts)))
            }
        }
    }

    /// 23505. `within` is the index whose entry came twice; none where it was a row.
    fn duplicate(
        &mut self,
        relation: &Relation,
        index: &Index,
        within: Option<&Index>,
        duplicate: &Duplicate,
        place: &dyn Fn(SqlError, u64) -> SqlError,
    ) -> Result<SqlError> {
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        let row: RowBuf = duplicate_row(transaction, relation, within, duplicate)?;
        let computed = self.with_ddl("", |ddl| {
            let snapshot = ddl.snapshot();
            KeyFunction::new(ddl.semantics, &snapshot, relation, index)?.values(&row)
        })?;
        let key = self.with_context(|context| {
            index_key_text(context, relation, index, |key| {
                let value = key_value(&row, computed.as_ref(), key.column);
                text_of(context, relation.key_type(index, key), &value).map(str::to_owned)
            })
        })?;
        Ok(place(duplicate_key(relation, index, key), duplicate.ordinal))
    }
}
