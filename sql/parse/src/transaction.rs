//! Statements about transactions: where they begin and end, and how they run.

use super::ast::{Statement, TransactionModes, TransactionStatement};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;
use txn::Isolation;

impl Parser<'_> {
    /// BEGIN, START TRANSACTION.
    pub(super) fn begin(&mut self) -> Result<Statement> {
        let start = self.is(Keyword::Start);
        self.advance();
        if start {
            self.expect(Keyword::Transaction)?;
            return Ok(Statement::Transaction(TransactionStatement::Start(self.modes(true)?)));
        }
        self.work_or_transaction();
        Ok(Statement::Transaction(TransactionStatement::Begin(self.modes(true)?)))
    }

    fn work_or_transaction(&mut self) {
        if !self.accept(Keyword::Work) {
            self.accept(Keyword::Transaction);
        }
    }

    /// Transaction modes, with commas or blanks between them.
    pub(super) fn modes(&mut self, may_be_empty: bool) -> Result<TransactionModes> {
        let mut modes = TransactionModes::default();
        let mut empty = true;
        loop {
            if self.accept(Keyword::Isolation) {
                self.expect(Keyword::Level)?;
                modes.uncommitted = false;
                modes.isolation = Some(if self.accept(Keyword::Serializable) {
                    Isolation::Serializable
                } else if self.accept(Keyword::Repeatable) {
                    self.expect(Keyword::Read)?;
                    Isolation::RepeatableRead
                } else {
                    self.expect(Keyword::Read)?;
                    modes.uncommitted = self.accept(Keyword::Uncommitted);
                    if !modes.uncommitted {
                        self.expect(Keyword::Committed)?;
                    }
                    Isolation::ReadCommitted
                });
            } else if self.accept(Keyword::Read) {
                let only = self.accept(Keyword::Only);
                if !only {
                    self.expect(Keyword::Write)?;
                }
                modes.read_only = Some(only);
            } else if self.accept(Keyword::Deferrable) {
                modes.deferrable = Some(true);
            } else if self.accept_all(&[Keyword::Not, Keyword::Deferrable]) {
                modes.deferrable = Some(false);
            } else if empty && may_be_empty {
                return Ok(modes);
            } else {
                return Err(self.error());
            }
            empty = false;
            let more = self.accept_symbol(b',');
            let begins = matches!(
                self.kind(),
                Kind::Keyword(
                    Keyword::Isolation | Keyword::Read | Keyword::Deferrable | Keyword::Not
                )
            );
            if !more && !begins {
                return Ok(modes);
            }
        }
    }

    /// COMMIT, END, ROLLBACK, ABORT.
    pub(super) fn end_transaction(&mut self) -> Result<Statement> {
        let rollback = matches!(self.kind(), Kind::Keyword(Keyword::Rollback | Keyword::Abort));
        let plain = matches!(self.kind(), Kind::Keyword(Keyword::Rollback | Keyword::Commit));
        self.advance();
        if plain && self.accept(Keyword::Prepared) {
            let name = self.string()?;
            return Ok(Statement::Transaction(if rollback {
                TransactionStatement::RollbackPrepared(name)
            } else {
                TransactionStatement::CommitPrepared(name)
            }));
        }
        self.work_or_transaction();
        if rollback && plain && self.accept(Keyword::To) {
            if self.is_name(self.kind_at(1)) {
                self.accept(Keyword::Savepoint);
            }
            return Ok(Statement::Transaction(TransactionStatement::RollbackTo(self.name()?)));
        }
        let mut chain = false;
        if self.accept(Keyword::And) {
            chain = !self.accept(Keyword::No);
            self.expect(Keyword::Chain)?;
        }
        Ok(Statement::Transaction(if rollback {
            TransactionStatement::Rollback { chain }
        } else {
            TransactionStatement::Commit { chain }
        }))
    }

    /// SAVEPOINT and RELEASE.
    pub(super) fn savepoint(&mut self) -> Result<Statement> {
        let release = self.is(Keyword::Release);
        self.advance();
        if release {
            if self.is_name(self.kind_at(1)) {
                self.accept(Keyword::Savepoint);
            }
            return Ok(Statement::Transaction(TransactionStatement::Release(self.name()?)));
        }
        Ok(Statement::Transaction(TransactionStatement::Savepoint(self.name()?)))
    }
}
