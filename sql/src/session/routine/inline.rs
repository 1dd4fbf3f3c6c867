//! DO: a body that is run once.

use super::context::Place;
use super::frame::Frame;
use super::machine::Kit;
use super::machine::code::Program;
use super::{Execution, Returned};
use crate::catalog::routine::PLPGSQL;
use crate::ddl::language;
use crate::error::{Result, SqlError};
use crate::parse::ast::DoStatement;
use crate::plpgsql::parse::Gives;
use crate::plpgsql::tree::{Body, Sql};
use crate::session::Session;
use crate::session::machines::REST_BYTES_MAX;
use crate::session::utility::{Outcome, done};
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Oid;
use std::sync::Arc;

/// What a body of DO is called.
const NAME: &str = "inline_code_block";

impl Session {
    /// DO.
    pub(in crate::session) fn inline(
        &mut self,
        statement: &DoStatement,
        text: &str,
    ) -> Result<Outcome> {
        let language = statement.language.as_deref().unwrap_or("plpgsql");
        if language != "plpgsql" {
            return Err(self.no_inline_handler(language));
        }
        let user = self.identity.user;
        if !self.catalog.snapshot().may_use_language(user, Oid(PLPGSQL)) {
            return Err(language::denied("plpgsql"));
        }
        let lent = std::mem::take(&mut self.do_ends_transactions);
        let alone = lent || self.is_alone_at_top();
        let nothing = Gives::Nothing { procedure: false };
        let body = self.parsed_body(&statement.body, (NAME, None), &[], true, nothing).map_err(
            |error| match error.fields().position {
                Some(position) => {
                    let before = crate::parse::Positions::new(text).of(statement.at) - 1;
                    error.nowhere().at(before + position)
                }
                None => error,
            },
        )?;
        // A DO has a snapshot before its body begins, as any other statement.
        self.block.ensure(self.engine.manager(), &self.wait).begin_statement()?;
        let returned = Returned::default();
        self.run_routine(Arc::from(NAME), body, RowBuf::new(), returned, alone)?;
        done("DO")
    }

    fn no_inline_handler(&self, language: &str) -> SqlError {
        if ["sql", "internal", "c"].contains(&language) {
            return SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("language \"{language}\" does not support inline code execution"),
            );
        }
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("language \"{language}\" does not exist"))
    }

    /// Runs a body with its arguments, as far as the frame has any, and gives what it returned.
    pub(in crate::session) fn run_routine(
        &mut self,
        name: Arc<str>,
        body: Arc<Body>,
        arguments: RowBuf,
        returned: Returned,
        ends_transactions: bool,
    ) -> Result<(Returned, Frame)> {
        self.bodies += 1;
        let id = self.bodies;
        let result = self.run_kept(id, name, body, arguments, returned, ends_transactions);
        self.texts.remove(&id);
        result
    }

    /// The same of a body whose plans are kept under a number.
    pub(in crate::session) fn run_kept(
        &mut self,
        id: u64,
        name: Arc<str>,
        body: Arc<Body>,
        arguments: RowBuf,
        returned: Returned,
        ends_transactions: bool,
    ) -> Result<(Returned, Frame)> {
        let mut frame = Frame::new(body.variables.len());
        for (number, value) in arguments.iter().enumerate() {
            frame.set(number as u32, value);
        }
        self.run_in(id, name, body, frame, returned, ends_transactions)
    }

    /// The same with its first variables set.
    pub(in crate::session) fn run_in(
        &mut self,
        id: u64,
        name: Arc<str>,
        body: Arc<Body>,
        mut frame: Frame,
        returned: Returned,
        ends_transactions: bool,
    ) -> Result<(Returned, Frame)> {
        frame.set(body.found, crate::types::Datum::Bool(false));
        let kit = Box::new(Kit { frame, ..Kit::default() });
        let ran = self.run_by((id, None, 0), name, body, kit, returned, ends_transactions);
        let (returned, mut kit) = ran?;
        kit.frame.fold_all()?;
        Ok((returned, kit.frame))
    }

    /// The same by what was kept of an earlier run: the program that the frame is laid out for, if it is for one, and the
    /// operation that comes next.
    pub(super) fn run_by(
        &mut self,
        (id, program, start): (u64, Option<Arc<Program>>, usize),
        name: Arc<str>,
        body: Arc<Body>,
        kit: Box<Kit>,
        returned: Returned,
        ends_transactions: bool,
    ) -> Result<(Returned, Box<Kit>)> {
        self.within.push(Place::Routine(name, 0, "during function entry"));
        let scratch = std::mem::take(&mut self.spare_value);
        let mut execution = Execution {
            session: self,
            id,
            body,
            kit,
            ends_transactions,
            subtransactions: 0,
            due: 0,
            handled: Vec::new(),
            row_count: 0,
            scratch,
            returned,
            program,
            start,
            loops: Vec::new(),
        };
        let result = execution
            .shapes_of_arguments()
            .and_then(|()| crate::types::depth::deeper(|| execution.run_body()));
        let Execution { kit, returned, scratch, .. } = execution;
        self.keep_value(scratch);
        let place = self.within.pop();
        match result {
            Ok(()) => Ok((returned, kit)),
            Err(error) => Err(match place {
                Some(place) => error.within(place.text()),
                None => error,
            }),
        }
    }

    /// Keeps the memory of a value, for the next body.
    pub(super) fn keep_value(&mut self, value: RowBuf) {
        if (1..=REST_BYTES_MAX).contains(&value.capacity_bytes()) {
            self.spare_value = value;
        }
    }

    /// Ends the transaction within a body, and begins the next one.
    pub(super) fn end_within(&mut self, commits: bool, chains: bool) -> Result<()> {
        let modes = self.block.transaction().map(|transaction| *transaction.begin());
        self.hold_pinned()?;
        if commits {
            self.before_commit()?;
            self.with_block(|block, parts| block.commit(parts))?;
            self.hold_kept();
        } else {
            self.with_block(|block, parts| block.rollback(parts));
            self.hold_kept();
        }
        self.after_transaction();
        self.changes += 1;
        let (engine, wait) = (Arc::clone(&self.engine), Arc::clone(&self.wait));
        match modes.filter(|_| chains) {
            Some(modes) => self.with_block(|block, parts| {
                block.begin_chained(modes, engine.manager(), &wait, parts);
            }),
            None => _ = self.block.ensure(engine.manager(), &wait),
        }
        let now = engine.manager().environment().clock.wall();
        self.block.started = now;
        self.activity.transaction_begins(now);
        Ok(())
    }
}

impl Execution<'_> {
    /// CALL or DO within a body.
    pub(super) fn call_within(&mut self, sql: &Sql, calls: bool) -> Result<()> {
        if calls {
            return self.call_procedure_within(sql);
        }
        self.session.do_ends_transactions = self.ends_transactions && self.subtransactions == 0;
        let done = self.execute(sql, None);
        self.session.do_ends_transactions = false;
        done
    }
}
