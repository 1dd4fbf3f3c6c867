//! Referential actions: what ON DELETE and ON UPDATE of foreign keys do to other tables because of a statement.
//!
//! They are bound with the statement that may set them off, as far as one action sets off another: each action of each
//! foreign key once, so that keys in a circle end. The tables they change are locked with the statement's own, but nobody
//! needs a privilege on them: PostgreSQL, too, runs these actions as the owner of the table.
//!
//! What is only looked into, a child's parent and the children of a parent that goes, is locked ROW SHARE, as PostgreSQL's
//! triggers lock it, and so are the indexes by which it is looked into: the answer is that of the latest state, so nobody may
//! have given the table or the index another tree since the plan was made.

use crate::bind::Binder;
use crate::bind::logical::ReferentialAction;
use crate::bind::scope::column_at;
use crate::bind::typed::{Expr, Literal};
use crate::catalog::{Action, ConstraintKind, ForeignKey, Index, Relation};
use crate::error::Result;
use crate::types::depth::descend;
use std::sync::Arc;
use txn::TableLock;

/// What happens to a referenced row.
#[derive(Clone, Copy)]
enum Event<'e> {
    Deleted,
    /// These columns are assigned to.
    Updated(&'e [usize]),
}

impl Binder<'_> {
    /// What deleting rows of a table may set off.
    pub(super) fn actions_of_delete(
        &self,
        relation: &Arc<Relation>,
    ) -> Result<Vec<ReferentialAction>> {
        let mut found = Vec::new();
        self.set_off(relation, Event::Deleted, &mut found)?;
        Ok(found)
    }

    /// What assigning to columns of a table may set off.
    pub(super) fn actions_of_update(
        &self,
        relation: &Arc<Relation>,
        assignments: &[(usize, Expr)],
    ) -> Result<Vec<ReferentialAction>> {
        let columns: Vec<usize> = assignments.iter().map(|(column, _)| *column).collect();
        let mut found = Vec::new();
        self.hold_parents(relation, Some(&columns));
        self.set_off(relation, Event::Updated(&columns), &mut found)?;
        Ok(found)
    }

    /// Holds what a row of the table that is new, or whose columns `assigned` change, may refer to.
    pub(super) fn hold_parents(&self, child: &Relation, assigned: Option<&[usize]>) {
        let changes = |column: &usize| {
            // A generated column may change with any other.
            assigned.is_none_or(|own| own.contains(column)) || child.columns[*column].generated
        };
        for constraint in &child.constraints {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            if key.columns.iter().any(changes) {
                self.hold(key.references, TableLock::RowShare);
                self.hold(key.index, TableLock::RowShare);
            }
        }
    }

    /// Holds a child that may forbid its parent to go, with every index by which its rows may be found.
    fn hold_child(&self, child: &Relation, key: &ForeignKey) {
        self.hold(child.oid, TableLock::RowShare);
        let may_serve = |index: &&Index| {
            index.columns.first().is_some_and(|first| key.columns.contains(&first.column))
        };
        for index in child.indexes.iter().filter(may_serve) {
            self.hold(index.oid, TableLock::RowShare);
        }
    }

    fn set_off(
        &self,
        parent: &Arc<Relation>,
        event: Event<'_>,
        found: &mut Vec<ReferentialAction>,
    ) -> Result<()> {
        for (child, constraint) in &parent.referenced_by {
            let Some(child) = self.catalog.relation(*child) else { continue };
            let ConstraintKind::ForeignKey(key) = &child.constraints[*constraint].kind else {
                continue;
            };
            let (on_update, action) = match event {
                Event::Deleted => (false, key.on_delete),
                Event::Updated(columns) => {
                    // What is generated may follow any of them: the row will tell.
                    let changes = |column: &usize| {
                        columns.contains(column) || parent.columns[*column].generated
                    };
                    if !key.referenced.iter().any(changes) {
                        continue;
                    }
                    (true, key.on_update)
                }
            };
            let known = found.iter().any(|known| {
                known.child.oid == child.oid
                    && known.constraint == *constraint
                    && known.on_update == on_update
            });
            if known {
                continue;
            }
            // SET NULL and SET DEFAULT of ON DELETE may be of some of the columns.
            let set = |column: &usize| {
                on_update || key.delete_columns.is_empty() || key.delete_columns.contains(column)
            };
            let assigned =
                |value: &dyn Fn(usize, usize) -> Result<Expr>| -> Result<Vec<(usize, Expr)>> {
                    let columns = key.columns.iter().enumerate().filter(|(_, column)| set(column));
                    columns.map(|(at, column)| Ok((*column, value(at, *column)?))).collect()
                };
            let change: Option<Vec<(usize, Expr)>> = match action {
                Action::NoAction | Action::Restrict => {
                    self.hold_child(child, key);
                    continue;
                }
                Action::Cascade if !on_update => None,
                Action::Cascade => Some(assigned(&|at, column| {
                    let value = column_at(at, parent.columns[key.referenced[at]].ty);
                    let column = &child.columns[column];
                    self.assign(value, column.ty, &column.name, 0)
                })?),
                Action::SetNull => Some(assigned(&|_, column| {
                    Ok(Expr::Constant(Literal::Null, child.columns[column].ty))
                })?),
                Action::SetDefault => {
                    Some(assigned(&|_, column| self.default_value(child, column))?)
                }
            };
            self.hold(child.oid, TableLock::RowExclusive);
            let mut changed = Vec::new();
            let next = match &change {
                Some(change) => {
                    changed.extend(change.iter().map(|(column, _)| *column));
                    self.hold_parents(child, Some(&changed));
                    Event::Updated(&changed)
                }
                None => Event::Deleted,
            };
            let checks = match &change {
                Some(_) => self.checks(child)?,
                None => Vec::new(),
            };
            let (child, constraint) = (Arc::clone(child), *constraint);
            let relation = Arc::clone(&child);
            let computed = self.computed_indexes(&child)?;
            let generated = self.generated_columns(&child)?;
            found.push(ReferentialAction {
                child,
                constraint,
                on_update,
                change,
                checks,
                computed,
                generated,
            });
            descend(|| self.set_off(&relation, next, found))?;
        }
        Ok(())
    }
}
