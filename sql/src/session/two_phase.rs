//! PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED.
//!
//! A prepared transaction belongs to no session: its writes and locks are the transaction component's, which keeps them
//! through restarts under the name given. Beside the name stands who prepared it, in which database, and what it has done
//! to the catalog ([`PreparedNote`]).

use super::{Session, TransactionStatus};
use crate::catalog::PreparedNote;
use crate::error::{Result, SqlError};
use crate::parse::ast::TransactionStatement;
use crate::sqlstate::SqlState;
use std::sync::Arc;
use txn::Refused;

/// A name is shorter than this, in bytes.
const NAME_BYTES: usize = 200;

impl Session {
    /// One of the three statements; its tag. None if it is none of them.
    pub(super) fn two_phase(
        &mut self,
        control: &TransactionStatement,
    ) -> Option<Result<&'static str>> {
        Some(match control {
            TransactionStatement::Prepare(name) => self.prepare_transaction(name),
            TransactionStatement::CommitPrepared(name) => {
                self.resolve("COMMIT PREPARED", name, true)
            }
            TransactionStatement::RollbackPrepared(name) => {
                self.resolve("ROLLBACK PREPARED", name, false)
            }
            _ => return None,
        })
    }

    fn prepare_transaction(&mut self, name: &str) -> Result<&'static str> {
        let status = self.block.status();
        if status != TransactionStatus::InTransaction || !self.block.is_explicit() {
            if status != TransactionStatus::Failed {
                self.notices.get_mut().push(SqlError::warning(
                    SqlState::NO_ACTIVE_SQL_TRANSACTION,
                    "there is no transaction in progress",
                ));
            }
            // There is no block to prepare: it ends as by a COMMIT that finds none. A failed one rolls back.
            if status == TransactionStatus::Idle {
                self.end_implicit()?;
            }
            self.with_block(|block, parts| block.rollback(parts));
            self.after_transaction();
            return Ok("ROLLBACK");
        }
        let checked = self.may_prepare_cursors().and_then(|()| self.before_commit());
        let checked = checked.and_then(|()| self.may_prepare(name));
        let limit =
            usize::try_from(self.settings.integer("max_prepared_transactions")).unwrap_or(0);
        let done = match checked {
            Ok(()) => self.hand_over(name, limit),
            Err(error) => {
                self.with_block(|block, parts| block.rollback(parts));
                Err(error)
            }
        };
        self.after_transaction();
        done.map(|()| "PREPARE TRANSACTION")
    }

    /// Makes the open transaction nobody's, under a name.
    fn hand_over(&mut self, name: &str, limit: usize) -> Result<()> {
        let Some(transaction) = self.block.take_transaction() else { return Ok(()) };
        let (user, database) = (self.identity.user, self.catalog.database());
        let note = PreparedNote { user, database, effects: self.catalog.effects() }.encode();
        let refused = match transaction.prepare((name.as_bytes(), &note), limit) {
            Ok(Ok(ended)) => {
                self.with_block(|block, parts| block.prepared(name, ended, parts));
                return Ok(());
            }
            Ok(Err(Refused::InUse)) => SqlError::new(
                SqlState::DUPLICATE_OBJECT,
                format!("transaction identifier \"{name}\" is already in use"),
            ),
            Ok(Err(_)) => SqlError::new(
                SqlState::OUT_OF_MEMORY,
                "maximum number of prepared transactions reached",
            )
            .hint(format!("Increase max_prepared_transactions (currently {limit}).")),
            Err(error) => error.into(),
        };
        self.with_block(|block, parts| block.not_prepared(refused.abort(), parts));
        Err(refused)
    }

    /// Whether the open transaction can be prepared.
    fn may_prepare(&mut self, name: &str) -> Result<()> {
        let scheme = self.block.defaults.scheme;
        if !scheme.prepares() {
            return Err(SqlError::unsupported(format!(
                "PREPARE TRANSACTION in a database of concurrency control {} is",
                scheme.name()
            )));
        }
        if self.block.has_used_temporary(&self.catalog) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that has operated on temporary objects",
            ));
        }
        if !self.exported.get_mut().is_empty() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that has exported snapshots",
            ));
        }
        if name.len() >= NAME_BYTES {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("transaction identifier \"{name}\" is too long"),
            ));
        }
        if self.settings.integer("max_prepared_transactions") == 0 {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "prepared transactions are disabled",
            )
            .hint("Set max_prepared_transactions to a nonzero value."));
        }
        if !self.said.get_mut().is_empty() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY",
            ));
        }
        if let Some(transaction) = self.block.transaction()
            && !self.advisory.get_mut().hand_over(transaction)
        {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot PREPARE while holding both session-level and transaction-level locks on the same object",
            ));
        }
        Ok(())
    }

    fn resolve(&mut self, statement: &str, name: &str, commits: bool) -> Result<&'static str> {
        self.company().refuse(statement)?;
        let manager = Arc::clone(self.engine.manager());
        let unknown = || {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("prepared transaction with identifier \"{name}\" does not exist"),
            )
        };
        let found = manager.prepared().into_iter().find(|one| one.name == name.as_bytes());
        let found = found.ok_or_else(unknown)?;
        let PreparedNote { user, database, effects } = PreparedNote::decode(&found.note)?;
        if user != self.identity.user && !self.is_superuser() {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                "permission denied to finish prepared transaction",
            )
            .hint("Must be superuser or the user that prepared the transaction."));
        }
        if database != self.catalog.database() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "prepared transaction belongs to another database",
            )
            .hint("Connect to the database where the transaction was prepared to finish it."));
        }
        let catalog = Arc::clone(self.catalog.catalog());
        let mut install = |lsn| effects.install(&catalog, lsn);
        match manager.resolve(&found, commits, &self.wait, &mut install)? {
            Ok(ended) => {
                let at = ended.committed.unwrap_or(ended.wait_for);
                match ended.committed {
                    Some(lsn) => effects.committed(&catalog, lsn),
                    None => effects.rolled_back(&catalog),
                }
                manager.xact_ids().end_prepared(name.as_bytes(), commits, at);
                self.block.depends_on(ended);
                Ok(if commits { "COMMIT PREPARED" } else { "ROLLBACK PREPARED" })
            }
            Err(Refused::Busy) => Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("prepared transaction with identifier \"{name}\" is busy"),
            )),
            Err(_) => Err(unknown()),
        }
    }
}
