//! Statements about cursors: DECLARE, FETCH, MOVE, CLOSE.

use super::ast::{Declare, Fetch, FetchDirection, Statement};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl Parser<'_> {
    /// DECLARE.
    pub(super) fn declare(&mut self) -> Result<Statement> {
        self.expect(Keyword::Declare)?;
        let name = self.name()?;
        let mut binary = false;
        let mut scroll = None;
        let mut insensitive = None;
        while !self.accept(Keyword::Cursor) {
            if self.accept(Keyword::Binary) {
                binary = true;
            } else if self.accept(Keyword::Scroll) {
                once(&mut scroll, true, "SCROLL", "NO SCROLL")?;
            } else if self.accept_all(&[Keyword::No, Keyword::Scroll]) {
                once(&mut scroll, false, "SCROLL", "NO SCROLL")?;
            } else if self.accept(Keyword::Insensitive) {
                once(&mut insensitive, true, "ASENSITIVE", "INSENSITIVE")?;
            } else if self.accept(Keyword::Asensitive) {
                once(&mut insensitive, false, "ASENSITIVE", "INSENSITIVE")?;
            } else {
                return Err(self.error());
            }
        }
        let mut hold = false;
        if self.accept(Keyword::With) {
            self.expect(Keyword::Hold)?;
            hold = true;
        } else if self.accept(Keyword::Without) {
            self.expect(Keyword::Hold)?;
        }
        self.expect(Keyword::For)?;
        let query = self.query()?;
        Ok(Statement::Declare(Box::new(Declare { name, binary, scroll, insensitive, hold, query })))
    }

    /// FETCH and MOVE.
    pub(super) fn fetch(&mut self) -> Result<Statement> {
        let moves = self.is(Keyword::Move);
        self.advance();
        let from = |kind| matches!(kind, Kind::Keyword(Keyword::From | Keyword::In));
        let ends = |kind| matches!(kind, Kind::End | Kind::Symbol(b';'));
        let mut direction = FetchDirection::Forward(1);
        // A cursor may be called FIRST: the word is a direction only if something follows it.
        if !ends(self.kind_at(1)) {
            let count = |parser: &mut Self| {
                if parser.accept(Keyword::All) {
                    return Ok(Some(i64::MAX));
                }
                match parser.kind() {
                    Kind::Integer | Kind::Symbol(b'+' | b'-') => parser.signed().map(Some),
                    _ => Ok(None),
                }
            };
            direction = match self.kind() {
                Kind::Keyword(Keyword::Next) => self.word(FetchDirection::Forward(1)),
                Kind::Keyword(Keyword::Prior) => self.word(FetchDirection::Backward(1)),
                Kind::Keyword(Keyword::First) => self.word(FetchDirection::Absolute(1)),
                Kind::Keyword(Keyword::Last) => self.word(FetchDirection::Absolute(-1)),
                Kind::Keyword(Keyword::Absolute) => {
                    self.advance();
                    FetchDirection::Absolute(self.signed()?)
                }
                Kind::Keyword(Keyword::Relative) => {
                    self.advance();
                    FetchDirection::Relative(self.signed()?)
                }
                Kind::Keyword(Keyword::Forward) => {
                    self.advance();
                    FetchDirection::Forward(count(self)?.unwrap_or(1))
                }
                Kind::Keyword(Keyword::Backward) => {
                    self.advance();
                    FetchDirection::Backward(count(self)?.unwrap_or(1))
                }
                _ => FetchDirection::Forward(count(self)?.unwrap_or(1)),
            };
        }
        if from(self.kind()) {
            self.advance();
        }
        let name = self.name()?;
        Ok(Statement::Fetch(Fetch { name, direction, moves }))
    }

    fn word(&mut self, direction: FetchDirection) -> FetchDirection {
        self.advance();
        direction
    }

    /// CLOSE.
    pub(super) fn close(&mut self) -> Result<Statement> {
        self.expect(Keyword::Close)?;
        let name = if self.accept(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::Close(name))
    }
}

/// Takes an option of DECLARE that must not be said both ways.
fn once(option: &mut Option<bool>, value: bool, on: &str, off: &str) -> Result<()> {
    if option.replace(value).is_some_and(|before| before != value) {
        return Err(SqlError::new(
            SqlState::INVALID_CURSOR_DEFINITION,
            format!("cannot specify both {on} and {off}"),
        ));
    }
    Ok(())
}
