//! ALTER COLUMN of identity and generated columns: ADD, SET and DROP IDENTITY, DROP EXPRESSION.

use super::Ddl;
use super::create_table::NewSequence;
use super::resolve::{changeable_column, system_column_named, undefined_column};
use crate::catalog::relation::{Identity, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Ident, SequenceOption};
use crate::sqlstate::SqlState;
use std::sync::Arc;

impl Ddl<'_> {
    /// ADD GENERATED ... AS IDENTITY.
    pub(super) fn add_identity(
        &mut self,
        relation: &Relation,
        name: &Ident,
        always: bool,
        options: &[SequenceOption],
    ) -> Result<()> {
        let wrong_type = || {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint",
            )
        };
        let at =
            relation.column(name).ok_or_else(|| match system_column_named(relation, name) {
                Some(_) => wrong_type(),
                None => undefined_column(relation, name),
            })?;
        let found = &relation.columns[at];
        let ty = found.ty.oid;
        if !matches!(ty.0, 20 | 21 | 23) {
            return Err(wrong_type());
        }
        let refused = if !found.not_null {
            Some("must be declared NOT NULL before identity can be added")
        } else if found.identity.is_some() {
            Some("is already an identity column")
        } else if found.default.is_some() {
            Some("already has a default value")
        } else {
            None
        };
        if let Some(refused) = refused {
            return Err(prerequisite(relation, name, refused));
        }
        let mut next = Relation::clone(relation);
        self.make_owned_sequence(&mut next, &NewSequence { column: at, ty, options }, true)?;
        next.columns[at].identity = Some(identity(always));
        self.catalog.put_relation(self.transaction, next)
    }

    /// SET GENERATED, SET of the sequence's options, RESTART.
    pub(super) fn set_identity(
        &mut self,
        relation: &Relation,
        name: &Ident,
        always: Option<bool>,
        options: &[SequenceOption],
    ) -> Result<()> {
        let at = changeable_column(relation, name)?;
        if relation.columns[at].identity.is_none() {
            return Err(prerequisite(relation, name, "is not an identity column"));
        }
        if let Some(always) = always {
            let mut next = Relation::clone(relation);
            next.columns[at].identity = Some(identity(always));
            self.catalog.put_relation(self.transaction, next)?;
        }
        if options.is_empty() {
            return Ok(());
        }
        let snapshot = self.snapshot();
        let owned = snapshot.owned_sequences(relation.oid).find(|found| found.1 == at);
        let Some(sequence) = owned.map(|found| Arc::clone(found.0)) else { return Ok(()) };
        self.change_sequence(&sequence, options)
    }

    /// DROP IDENTITY: the sequence goes.
    pub(super) fn drop_identity(
        &mut self,
        relation: &Relation,
        name: &Ident,
        if_exists: bool,
    ) -> Result<()> {
        let at = changeable_column(relation, name)?;
        if relation.columns[at].identity.is_none() {
            return self.is_not(relation, name, "an identity column", if_exists);
        }
        let mut next = Relation::clone(relation);
        next.columns[at].identity = None;
        next.columns[at].default = None;
        self.catalog.put_relation(self.transaction, next)?;
        self.drop_owned_sequence(relation, at)
    }

    /// DROP EXPRESSION: the values stay.
    pub(super) fn drop_expression(
        &mut self,
        relation: &Relation,
        name: &Ident,
        if_exists: bool,
    ) -> Result<()> {
        let at = changeable_column(relation, name)?;
        if !relation.columns[at].generated {
            return self.is_not(relation, name, "a stored generated column", if_exists);
        }
        let mut next = Relation::clone(relation);
        next.columns[at].generated = false;
        next.columns[at].default = None;
        self.catalog.put_relation(self.transaction, next)
    }

    /// 55000, or with IF EXISTS a notice, for a column that is not what is to be dropped.
    fn is_not(
        &mut self,
        relation: &Relation,
        name: &Ident,
        what: &str,
        if_exists: bool,
    ) -> Result<()> {
        let error = prerequisite(relation, name, &format!("is not {what}"));
        if !if_exists {
            return Err(error);
        }
        let message = format!("{}, skipping", error.fields().message);
        self.notice(SqlState::SUCCESSFUL_COMPLETION, message);
        Ok(())
    }
}

fn identity(always: bool) -> Identity {
    if always { Identity::Always } else { Identity::ByDefault }
}

/// 55000.
fn prerequisite(relation: &Relation, column: &str, what: &str) -> SqlError {
    SqlError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("column \"{column}\" of relation \"{}\" {what}", relation.name),
    )
}
