//! Which statement it is: the first words decide.

use super::ast::{Body, CreateTableAs, OnCommit, Query, ReassignOwned, Statement};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;

impl<'t> Parser<'t> {
    /// One statement, up to its semicolon.
    pub(super) fn statement(&mut self) -> Result<Statement> {
        if self.is_symbol(b'(') {
            return self.query_statement(None);
        }
        let Kind::Keyword(keyword) = self.kind() else { return Err(self.error()) };
        match keyword {
            Keyword::Select | Keyword::Values | Keyword::Table => self.query_statement(None),
            Keyword::With => {
                let with = Some(self.with()?);
                match self.kind() {
                    Kind::Keyword(Keyword::Insert) => {
                        Ok(Statement::Insert(Box::new(self.insert(with)?)))
                    }
                    Kind::Keyword(Keyword::Update) => {
                        Ok(Statement::Update(Box::new(self.update(with)?)))
                    }
                    Kind::Keyword(Keyword::Delete) => {
                        Ok(Statement::Delete(Box::new(self.delete(with)?)))
                    }
                    Kind::Keyword(Keyword::Merge) => {
                        Ok(Statement::Merge(Box::new(self.merge(with)?)))
                    }
                    _ => self.query_statement(with),
                }
            }
            Keyword::Insert => Ok(Statement::Insert(Box::new(self.insert(None)?))),
            Keyword::Update => Ok(Statement::Update(Box::new(self.update(None)?))),
            Keyword::Delete => Ok(Statement::Delete(Box::new(self.delete(None)?))),
            Keyword::Merge => Ok(Statement::Merge(Box::new(self.merge(None)?))),
            Keyword::Begin | Keyword::Start => self.begin(),
            Keyword::Commit | Keyword::End | Keyword::Rollback | Keyword::Abort => {
                self.end_transaction()
            }
            Keyword::Savepoint | Keyword::Release => self.savepoint(),
            Keyword::Set => self.set(),
            Keyword::Reset => Ok(Statement::Reset(self.shown_setting()?)),
            Keyword::Show => Ok(Statement::Show(self.shown_setting()?)),
            Keyword::Explain => self.explain(),
            Keyword::Prepare => self.prepare(),
            Keyword::Execute => self.execute(),
            Keyword::Deallocate => self.deallocate(),
            Keyword::Declare => self.declare(),
            Keyword::Fetch | Keyword::Move => self.fetch(),
            Keyword::Close => self.close(),
            Keyword::Copy => self.copy(),
            Keyword::Vacuum => self.vacuum(),
            Keyword::Analyze | Keyword::Analyse => self.analyze(),
            Keyword::Checkpoint => {
                self.advance();
                Ok(Statement::Checkpoint)
            }
            Keyword::Lock => self.lock(),
            Keyword::Truncate => self.truncate(),
            Keyword::Discard => self.discard(),
            Keyword::Refresh => self.refresh(),
            Keyword::Listen | Keyword::Unlisten | Keyword::Notify => self.notification(keyword),
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop(),
            Keyword::Comment => self.comment(),
            Keyword::Grant | Keyword::Revoke => self.grant(),
            Keyword::Call => self.call_statement(),
            Keyword::Do => self.inline_code(),
            Keyword::Load => {
                self.advance();
                Ok(Statement::Load(self.string()?))
            }
            Keyword::Reindex => self.reindex(),
            Keyword::Cluster => self.cluster(),
            Keyword::Reassign => {
                self.advance();
                self.expect_all(&[Keyword::Owned, Keyword::By])?;
                let roles = self.list(Parser::role)?;
                self.expect(Keyword::To)?;
                Ok(Statement::ReassignOwned(ReassignOwned { roles, to: self.role()? }))
            }
            Keyword::Import | Keyword::Security => Ok(self.unsupported_statement(2)),
            _ => Err(self.error()),
        }
    }

    /// A statement that Atoll has not: its first words, the rest skipped.
    pub(super) fn unsupported_statement(&mut self, words: usize) -> Statement {
        let mut name = String::new();
        for _ in 0..words {
            if !self.is_label(self.kind()) {
                break;
            }
            let token = self.advance();
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&self.text_of(token).to_ascii_uppercase());
        }
        self.skip_statement();
        Statement::Unsupported(name)
    }

    /// A query as a statement; SELECT INTO is CREATE TABLE AS.
    fn query_statement(&mut self, with: Option<super::ast::With>) -> Result<Statement> {
        let mut query = self.query_after(with)?;
        let Some(into) = take_into(&mut query) else {
            return Ok(Statement::Query(Box::new(query)));
        };
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            name: into.name,
            columns: Vec::new(),
            persistence: into.persistence,
            if_not_exists: false,
            materialized: false,
            options: Vec::new(),
            on_commit: OnCommit::Preserve,
            query: Statement::Query(Box::new(query)),
            with_data: true,
        })))
    }
}

/// The INTO of a query's first SELECT, taken out of it.
fn take_into(query: &mut Query) -> Option<super::ast::SelectInto> {
    let mut body = &mut query.body;
    loop {
        match body {
            Body::Select(select) => return select.into.take().map(|into| *into),
            Body::SetOperation { left, .. } => body = &mut left.body,
            Body::Values(_) => return None,
        }
    }
}
