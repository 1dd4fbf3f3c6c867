//! ALTER TABLE ... REPLICA IDENTITY: what of an old row is told to who follows changes (manual, `ALTER TABLE`).
//!
//! It is kept and shown, so that dumps and tools find it; nobody follows changes yet.

use super::Ddl;
use crate::catalog::Named;
use crate::catalog::relation::{Relation, ReplicaIdentity};
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::parse::ast::Ident;
use crate::sqlstate::SqlState;
use crate::types::Oid;

impl Ddl<'_> {
    pub(super) fn set_replica_identity(
        &mut self,
        relation: &Relation,
        identity: &ast::ReplicaIdentity,
    ) -> Result<()> {
        let (identity, index) = match identity {
            ast::ReplicaIdentity::Default => (ReplicaIdentity::Default, None),
            ast::ReplicaIdentity::Nothing => (ReplicaIdentity::Nothing, None),
            ast::ReplicaIdentity::Full => (ReplicaIdentity::Full, None),
            ast::ReplicaIdentity::Index(name) => {
                (ReplicaIdentity::Index, Some(self.identifying(relation, name)?))
            }
        };
        let mut next = Relation::clone(relation);
        next.replica_identity = identity;
        for one in &mut next.indexes {
            one.replica_identity = Some(one.oid) == index;
        }
        self.catalog.put_relation(self.transaction, next)
    }

    /// The index of that name, if it tells every row of a table from all others (`ATExecReplicaIdentity`).
    fn identifying(&mut self, relation: &Relation, name: &Ident) -> Result<Oid> {
        let missing = || {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("index \"{name}\" for table \"{}\" does not exist", relation.name),
            )
        };
        let wrong = |message: String| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        let index = match self.snapshot().named(relation.schema.0, name).ok_or_else(missing)? {
            Named::Index { index, table } if table == relation.oid => index,
            Named::Relation(_) => return wrong(format!("\"{name}\" is not an index")),
            _ => {
                let table = &relation.name;
                return wrong(format!("\"{name}\" is not an index for table \"{table}\""));
            }
        };
        let index = relation.indexes.iter().find(|one| one.oid == index).ok_or_else(missing)?;
        let refused = |kind: &str| {
            let message = format!("cannot use {kind} index \"{name}\" as replica identity");
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        };
        if !index.unique {
            return wrong(format!("cannot use non-unique index \"{name}\" as replica identity"));
        }
        if index.deferral.is_deferrable() {
            return refused("non-immediate");
        }
        if !index.expressions.is_empty() {
            return refused("expression");
        }
        if index.filter.is_some() {
            return refused("partial");
        }
        let nullable = index.columns.iter().map(|key| &relation.columns[key.column]);
        if let Some(column) = nullable.into_iter().find(|column| !column.not_null) {
            return wrong(format!(
                "index \"{name}\" cannot be used as replica identity because column \"{}\" is nullable",
                column.name
            ));
        }
        Ok(index.oid)
    }
}
