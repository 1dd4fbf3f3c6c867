//! What depends on parts of tables in ways of their own: identity columns on their sequences, and views on the
//! primary key that lets them leave columns out of their GROUP BY.

use super::Ddl;
use super::dependency::Dependents;
use super::resolve::kind_noun;
use crate::catalog::definition::Edge;
use crate::catalog::object::{Class, ObjectKey};
use crate::catalog::relation::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;

impl Ddl<'_> {
    /// 2BP01 for a sequence that an identity column counts with.
    pub(super) fn refuse_identity(&mut self, sequence: &Relation, going: &[Oid]) -> Result<()> {
        let RelationKind::Sequence(found) = &sequence.kind else { return Ok(()) };
        let Some((table, column)) = found.owner.filter(|owner| !going.contains(&owner.0)) else {
            return Ok(());
        };
        let Some(table) = self.relation(table) else { return Ok(()) };
        let column = &table.columns[column];
        if column.identity.is_none() {
            return Ok(());
        }
        let (shown, of) = (self.display(sequence), self.display(&table));
        let name = &column.name;
        Err(SqlError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop sequence {shown} because column {name} of table {of} requires it"),
        )
        .hint(format!("You can drop column {name} of table {of} instead.")))
    }

    /// Collects the views that say nothing without the primary key that is this constraint.
    pub(super) fn collect_key_views(&mut self, key: Oid, what: &str, into: &mut Dependents) {
        let snapshot = self.snapshot();
        let views = snapshot.depending(Edge::Constraint(key));
        for view in views.filter_map(|view| snapshot.relation(view)) {
            if into.views.contains(&view.oid) {
                continue;
            }
            let thing = format!("{} {}", kind_noun(view), self.display(view));
            into.lines.push((thing.clone(), what.to_owned()));
            into.views.push(view.oid);
            self.collect_views(view, None, &[], &thing, into);
        }
    }

    /// Keeps a table that has lost columns, constraints or indexes, and forgets what COMMENT ON and GRANT have said of them.
    pub(super) fn put_without(&mut self, before: &Relation, next: Relation) -> Result<()> {
        let parts = |relation: &Relation| -> Vec<Oid> {
            let constraints = relation.constraints.iter().map(|constraint| constraint.oid);
            let keys = relation.indexes.iter().flat_map(|index| {
                std::iter::once(index.oid).chain(index.constraint.as_ref().map(|key| key.0))
            });
            let triggers = relation.triggers.iter().flat_map(|trigger| {
                std::iter::once(trigger.oid).chain(trigger.constraint.map(|found| found.0))
            });
            constraints.chain(keys).chain(triggers).collect()
        };
        let left = parts(&next);
        self.lock_referenced(before, &|constraint| !left.contains(&constraint.oid))?;
        let gone: Vec<Oid> = parts(before).into_iter().filter(|oid| !left.contains(oid)).collect();
        self.remove_comments(&gone)?;
        let snapshot = self.snapshot();
        let dropped = (1..).zip(&next.columns).filter(|(_, column)| column.dropped);
        for (sub, _) in dropped {
            let key = |class| ObjectKey { sub, ..self.catalog.key(class, next.oid) };
            let (comment, privileges) = (key(Class::Comment), key(Class::Acl));
            self.catalog.remove(self.transaction, &snapshot, comment)?;
            self.catalog.remove(self.transaction, &snapshot, privileges)?;
        }
        self.catalog.put_relation(self.transaction, next)
    }
}
