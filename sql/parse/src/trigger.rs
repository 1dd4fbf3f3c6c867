//! CREATE and ALTER TRIGGER (PostgreSQL 15 manual, the commands' pages).

use super::ast::{
    CreateTrigger, Ident, ObjectKind, Rename, RenamePart, Statement, Transition, TriggerEvent,
    TriggerTime,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use super::table::DeferralWords;
use sql_types::error::Result;
use sql_types::words::Deferral;

impl Parser<'_> {
    /// CREATE TRIGGER, from that word.
    pub(super) fn create_trigger(&mut self, replace: bool, constraint: bool) -> Result<Statement> {
        self.expect(Keyword::Trigger)?;
        let name = self.name()?;
        let time = if !constraint && self.accept(Keyword::Before) {
            TriggerTime::Before
        } else if !constraint && self.accept_all(&[Keyword::Instead, Keyword::Of]) {
            TriggerTime::InsteadOf
        } else {
            self.expect(Keyword::After)?;
            TriggerTime::After
        };
        let mut events: Vec<TriggerEvent> = Vec::new();
        loop {
            let first = self.token();
            let event = self.trigger_event()?;
            let again = |known: &TriggerEvent| {
                std::mem::discriminant(known) == std::mem::discriminant(&event)
            };
            if events.iter().any(again) {
                // PostgreSQL has looked one token further where more of the event could have followed.
                let token = match event {
                    TriggerEvent::Update(_) => self.token(),
                    _ => first,
                };
                let near = self.text_of(token);
                let message = format!("duplicate trigger events specified at or near \"{near}\"");
                return Err(self.complaint(message, token.start));
            }
            events.push(event);
            if !self.accept(Keyword::Or) {
                break;
            }
        }
        self.expect(Keyword::On)?;
        let table = self.object_name()?;
        let from =
            if constraint && self.accept(Keyword::From) { Some(self.object_name()?) } else { None };
        let mut deferral = Deferral::Never;
        if constraint {
            let mut said = DeferralWords::default();
            self.deferral(&mut said, false)?;
            deferral = said.meaning();
        }
        let mut transitions = Vec::new();
        if !constraint && self.accept(Keyword::Referencing) {
            while self.is(Keyword::Old) || self.is(Keyword::New) {
                let new = self.accept(Keyword::New) || !self.accept(Keyword::Old);
                let table = self.accept(Keyword::Table);
                if !table {
                    self.expect(Keyword::Row)?;
                }
                self.accept(Keyword::As);
                transitions.push(Transition { new, table, name: self.name()? });
            }
            if transitions.is_empty() {
                return Err(self.error());
            }
        }
        let mut row = false;
        if constraint {
            self.expect_all(&[Keyword::For, Keyword::Each, Keyword::Row])?;
            row = true;
        } else if self.accept(Keyword::For) {
            self.accept(Keyword::Each);
            row = self.accept(Keyword::Row);
            if !row {
                self.expect(Keyword::Statement)?;
            }
        }
        let when = if self.accept(Keyword::When) {
            self.expect_symbol(b'(')?;
            let condition = self.expr()?;
            self.expect_symbol(b')')?;
            Some(condition)
        } else {
            None
        };
        self.expect(Keyword::Execute)?;
        if !self.accept(Keyword::Procedure) {
            self.expect(Keyword::Function)?;
        }
        let function = self.function_name()?;
        self.expect_symbol(b'(')?;
        let mut arguments = Vec::new();
        if !self.accept_symbol(b')') {
            // The grammar lets a comma stand in front of the first one, as behind one that is not there.
            self.accept_symbol(b',');
            arguments = self.list(Parser::trigger_argument)?;
            self.expect_symbol(b')')?;
        }
        let constraint = constraint.then_some(deferral);
        Ok(Statement::CreateTrigger(Box::new(CreateTrigger {
            name,
            replace,
            constraint,
            time,
            events,
            table,
            from,
            transitions,
            row,
            when,
            function,
            arguments,
        })))
    }

    fn trigger_event(&mut self) -> Result<TriggerEvent> {
        if self.accept(Keyword::Insert) {
            return Ok(TriggerEvent::Insert);
        }
        if self.accept(Keyword::Delete) {
            return Ok(TriggerEvent::Delete);
        }
        if self.accept(Keyword::Truncate) {
            return Ok(TriggerEvent::Truncate);
        }
        self.expect(Keyword::Update)?;
        let columns = if self.accept(Keyword::Of) { self.list(Parser::name)? } else { Vec::new() };
        Ok(TriggerEvent::Update(columns))
    }

    /// What a trigger's function is given: a word, a number or a string, which all are texts.
    fn trigger_argument(&mut self) -> Result<Ident> {
        if self.is_string() {
            return self.string();
        }
        if matches!(self.kind(), Kind::Integer | Kind::Number) {
            let token = self.advance();
            return Ok(self.text_of(token).into());
        }
        self.label()
    }

    /// ALTER TRIGGER, behind these words.
    pub(super) fn alter_trigger(&mut self) -> Result<Statement> {
        let trigger = self.name()?;
        self.expect(Keyword::On)?;
        let name = self.object_name()?;
        if self.is(Keyword::No) || self.is(Keyword::Depends) {
            self.skip_statement();
            let what = "ALTER TRIGGER ... DEPENDS ON EXTENSION";
            return Ok(Statement::Unsupported(what.to_owned()));
        }
        self.expect_all(&[Keyword::Rename, Keyword::To])?;
        let to = self.name()?;
        Ok(Statement::Rename(Rename {
            kind: ObjectKind::Trigger,
            name,
            part: Some(RenamePart::Trigger(trigger)),
            if_exists: false,
            to,
        }))
    }

    /// What ENABLE or DISABLE at hand makes of triggers, and how many words say so; none if it is about something else.
    pub(super) fn trigger_toggle(&self) -> Option<(u8, usize)> {
        let of_triggers = |at: usize| self.is_at(at, Keyword::Trigger).then_some(at + 1);
        if self.is(Keyword::Disable) {
            return Some((b'D', of_triggers(1)?));
        }
        let enabled = match () {
            () if self.is_at(1, Keyword::Replica) => b'R',
            () if self.is_at(1, Keyword::Always) => b'A',
            () => return Some((b'O', of_triggers(1)?)),
        };
        Some((enabled, of_triggers(2)?))
    }
}
