//! What COPY does not take: relations that hold no rows of their own, and FREEZE where others could see the rows.
//!
//! PostgreSQL finds these behind the answer that begins a COPY FROM STDIN, when the client is already sending. So a
//! refusal is kept, and is what the first portion of the data is answered with.

use super::Session;
use super::run::denied;
use crate::bind::dml::system_catalog;
use crate::catalog::acl::Privileges;
use crate::catalog::system::is_served_view;
use crate::catalog::trigger;
use crate::catalog::{Relation, RelationKind};
use crate::ddl::resolve::kind_noun;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// What a relation is whose rows COPY cannot have; none for a table.
fn without_rows(relation: &Relation) -> Option<&'static str> {
    match relation.kind {
        RelationKind::Table { .. } => {
            relation.stored_query.is_some().then_some("materialized view")
        }
        RelationKind::View { .. } => Some("view"),
        RelationKind::Sequence(_) => Some("sequence"),
        RelationKind::Composite => Some("composite type"),
        RelationKind::System => is_served_view(relation).then_some("view"),
    }
}

fn wrong_kind(way: &str, what: &str, relation: &Relation) -> SqlError {
    SqlError::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("cannot copy {way} {what} \"{}\"", relation.name),
    )
}

impl Session {
    /// 42809 for a relation that COPY TO does not read.
    pub(super) fn demand_rows(&self, relation: &Relation) -> Result<()> {
        let Some(what) = without_rows(relation) else { return Ok(()) };
        let error = wrong_kind("from", what, relation);
        Err(match what {
            "sequence" => error,
            _ => error.hint("Try the COPY (SELECT ...) TO variant."),
        })
    }

    /// Why COPY FROM does not write to a relation at all.
    pub(super) fn copy_refusal(&self, relation: &Relation) -> Option<SqlError> {
        if relation.is_changed_by_triggers(trigger::INSERT) {
            return None;
        }
        let Some(what) = without_rows(relation) else {
            return matches!(relation.kind, RelationKind::System).then(|| system_catalog(relation));
        };
        let error = wrong_kind("to", what, relation);
        Some(match what {
            "view" => {
                error.hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
            }
            _ => error,
        })
    }

    /// Why COPY FROM does not freeze the rows of a table: another transaction could have read it before.
    pub(super) fn freeze_refusal(&self, relation: &Relation) -> Option<SqlError> {
        match relation.kind {
            RelationKind::Table { tree, .. }
                if !self.catalog.made_since(self.block.catalog_savepoint(), tree) =>
            {
                Some(SqlError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction",
                ))
            }
            _ => None,
        }
    }

    /// 42501 for who may not read or write these columns, by index: nobody is told anything else before.
    pub(super) fn may_copy_columns(
        &self,
        from: bool,
        relation: &Relation,
        columns: &[usize],
    ) -> Result<()> {
        let privilege = if from { Privileges::INSERT } else { Privileges::SELECT };
        let named: Vec<_> = columns.iter().map(|at| (*at as i16 + 1, privilege)).collect();
        let snapshot = self.catalog.last_snapshot();
        if snapshot.may_on_columns(self.identity.user, relation, privilege, &named) {
            return Ok(());
        }
        Err(denied(kind_noun(relation), &relation.name))
    }
}
