//! What COPY does not take: relations that hold no rows of their own, and FREEZE where others could see the rows.
//!
//! PostgreSQL finds these behind the answer that begins a COPY FROM STDIN, when the client is already sending. So a
//! refusal is kept, and is what the first portion of the data is answered with.

use super::Session;
use super::run::denied;
use crate::catalog::acl::Privileges;
use crate::catalog::{Relation, RelationKind};
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
        RelationKind::System => Some("non-table relation"),
    }
}

fn wrong_kind(way: &str, what: &str, relation: &Relation) -> SqlError {
    SqlError::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("cannot copy {way} {what} \"{}\"", relation.name),
    )
}

impl Session {
    /// 42501 or 42809 for a relation that COPY TO does not read.
    pub(super) fn demand_rows(&self, relation: &Relation) -> Result<()> {
        if matches!(relation.kind, RelationKind::System) {
            return Ok(());
        }
        let Some(what) = without_rows(relation) else { return Ok(()) };
        self.demand_privilege(relation, Privileges::SELECT)?;
        let error = wrong_kind("from", what, relation);
        Err(match what {
            "sequence" => error,
            _ => error.hint("Try the COPY (SELECT ...) TO variant."),
        })
    }

    /// Why COPY FROM does not write to a relation at all.
    ///
    /// # Errors
    /// 42501, which is told before the data is asked for.
    pub(super) fn copy_refusal(&self, relation: &Relation) -> Result<Option<SqlError>> {
        let Some(what) = without_rows(relation) else { return Ok(None) };
        self.demand_privilege(relation, Privileges::INSERT)?;
        let error = wrong_kind("to", what, relation);
        Ok(Some(match what {
            "view" => {
                error.hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
            }
            _ => error,
        }))
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

    fn demand_privilege(&self, relation: &Relation, privilege: Privileges) -> Result<()> {
        let snapshot = self.catalog.last_snapshot();
        if snapshot.may_on_relation(self.identity.user, relation, privilege) {
            return Ok(());
        }
        let kind = match relation.kind {
            RelationKind::View { .. } => "view",
            RelationKind::Sequence(_) => "sequence",
            RelationKind::Table { .. } | RelationKind::System => "table",
        };
        Err(denied(kind, &relation.name))
    }
}
