//! The tokens of a body: SQL's own, read one after the other, with the words of PL/pgSQL among them.

use crate::error::{Result, SqlError};
use crate::parse::lexer::{Kind, Lexer, Token};
use crate::parse::{Positions, value};
use crate::sqlstate::SqlState;
use std::cell::Cell;
use std::sync::Arc;

/// Reads a body.
pub struct Reader<'t> {
    text: &'t str,
    positions: Positions<'t>,
    tokens: Vec<Token>,
    at: usize,
    /// The byte whose line was asked for last, and that line.
    counted: Cell<(u32, u32)>,
}

/// The words that end what SQL reads, and no variable is called.
const RESERVED: &[&str] = &[
    "all", "begin", "by", "case", "declare", "else", "end", "execute", "for", "foreach", "from",
    "if", "in", "into", "loop", "not", "null", "or", "strict", "then", "to", "using", "when",
    "while",
];

impl<'t> Reader<'t> {
    /// At the beginning of a body.
    #[must_use]
    pub fn new(text: &'t str, standard_strings: bool) -> Reader<'t> {
        let tokens = Lexer::tokens_of(text, standard_strings);
        Reader { text, positions: Positions::new(text), tokens, at: 0, counted: Cell::new((0, 1)) }
    }

    /// The token at hand.
    #[must_use]
    pub fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token so many further on.
    #[must_use]
    pub fn token_at(&self, count: usize) -> Token {
        self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    /// What the token so many further on is.
    #[must_use]
    pub fn kind_at(&self, count: usize) -> Kind {
        self.token_at(count).kind
    }

    /// Takes the token at hand.
    pub fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// The text of a token.
    #[must_use]
    pub fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Where the token at hand begins.
    #[must_use]
    pub fn here(&self) -> u32 {
        self.token().start
    }

    /// The end of the token before.
    #[must_use]
    pub fn before(&self) -> u32 {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at].end)
    }

    /// A part of the text.
    #[must_use]
    pub fn slice(&self, start: u32, end: u32) -> &'t str {
        &self.text[start as usize..end as usize]
    }

    /// The line in which a byte stands, from 1. Statements ask one after the other, so that lines are counted from the one
    /// that was asked for last.
    #[must_use]
    pub fn line(&self, byte: u32) -> u32 {
        let (known, line) = self.counted.get();
        let (from, to) = (known.min(byte) as usize, known.max(byte) as usize);
        let between = &self.text.as_bytes()[from..to];
        let lines = memchr::memchr_iter(b'\n', between).count() as u32;
        let line = if byte < known { line - lines } else { line + lines };
        self.counted.set((byte, line));
        line
    }

    /// Whether a token is this word, unquoted.
    #[must_use]
    pub fn is_word(&self, token: Token, word: &str) -> bool {
        matches!(token.kind, Kind::Keyword(_) | Kind::Word)
            && self.text_of(token).eq_ignore_ascii_case(word)
    }

    /// Whether the token at hand is this word.
    #[must_use]
    pub fn at_word(&self, word: &str) -> bool {
        self.is_word(self.token(), word)
    }

    /// Whether the token so many further on is this word.
    #[must_use]
    pub fn at_word_behind(&self, count: usize, word: &str) -> bool {
        self.is_word(self.token_at(count), word)
    }

    /// Takes a word if it is there.
    pub fn accept(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a word.
    ///
    /// # Errors
    /// 42601.
    pub fn expect(&mut self, word: &str) -> Result<()> {
        if self.accept(word) { Ok(()) } else { Err(self.error()) }
    }

    /// Whether the token at hand is this symbol.
    #[must_use]
    pub fn at_symbol(&self, symbol: u8) -> bool {
        self.token().kind == Kind::Symbol(symbol)
    }

    /// Takes a symbol if it is there.
    pub fn accept_symbol(&mut self, symbol: u8) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a symbol.
    ///
    /// # Errors
    /// 42601.
    pub fn expect_symbol(&mut self, symbol: u8) -> Result<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { Err(self.error()) }
    }

    /// Whether the token at hand assigns: `:=` or `=`.
    #[must_use]
    pub fn at_assignment(&self) -> bool {
        matches!(self.token().kind, Kind::ColonEquals | Kind::Symbol(b'='))
    }

    /// Whether this operator is at hand.
    #[must_use]
    pub fn at_operator(&self, operator: &str) -> bool {
        self.token().kind == Kind::Operator && self.text_of(self.token()) == operator
    }

    /// Whether a token may be a name that is not reserved.
    #[must_use]
    pub fn is_name(&self, token: Token) -> bool {
        match token.kind {
            Kind::Quoted | Kind::UnicodeQuoted => true,
            Kind::Word | Kind::Keyword(_) => {
                let word = self.text_of(token);
                !RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved))
            }
            _ => false,
        }
    }

    /// The value of a token that is a name.
    ///
    /// # Errors
    /// Those of escapes.
    pub fn name_of(&self, token: Token) -> Result<Arc<str>> {
        Ok(value::name(&self.positions, token)?.0.into())
    }

    /// The name that has begun at a place.
    ///
    /// # Errors
    /// Those of its escapes.
    pub fn name_at(&self, start: u32) -> Result<Arc<str>> {
        let token = self.tokens.iter().find(|token| token.start == start);
        token.map_or_else(|| Ok("".into()), |token| self.name_of(*token))
    }

    /// Takes a name.
    ///
    /// # Errors
    /// 42601.
    pub fn name(&mut self) -> Result<Arc<str>> {
        if !self.is_name(self.token()) {
            return Err(self.error());
        }
        let token = self.advance();
        self.name_of(token)
    }

    /// Takes a string.
    ///
    /// # Errors
    /// 42601.
    pub fn string(&mut self) -> Result<Arc<str>> {
        match self.token().kind {
            Kind::String | Kind::EscapeString | Kind::DollarString | Kind::UnicodeString => {
                let token = self.advance();
                Ok((&*value::string(&self.positions, token)?).into())
            }
            _ => Err(self.error()),
        }
    }

    /// A syntax error at the token at hand.
    #[must_use]
    pub fn error(&self) -> SqlError {
        let token = self.token();
        if let Kind::Error(lexical) = token.kind {
            return self.complaint(lexical.message(), token.start);
        }
        self.near("syntax error")
    }

    /// 42601 with these words and the token at hand (`plpgsql_yyerror`).
    fn near(&self, what: &str) -> SqlError {
        let token = self.token();
        let message = match token.kind {
            Kind::End => format!("{what} at end of input"),
            _ => format!("{what} at or near \"{}\"", self.text_of(token)),
        };
        self.complaint(message, token.start)
    }

    /// 42601 with other words.
    #[must_use]
    pub fn complaint(&self, message: impl Into<String>, at: u32) -> SqlError {
        SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.positions.of(at))
    }

    /// The same at a token, which it names.
    #[must_use]
    pub fn complaint_near(&self, message: &str, token: Token) -> SqlError {
        self.complaint(format!("{message} at or near \"{}\"", self.text_of(token)), token.start)
    }

    /// A place in the body: characters, from 1.
    #[must_use]
    pub fn position(&self, at: u32) -> u32 {
        self.positions.of(at)
    }

    /// Whether CREATE FUNCTION or CREATE PROCEDURE is at hand, with OR REPLACE or without.
    #[must_use]
    pub fn at_routine(&self) -> bool {
        let is = |at: usize, words: &[&str]| {
            let token = self.tokens.get(self.at + at);
            token.is_some_and(|token| words.iter().any(|word| self.is_word(*token, word)))
        };
        let replaces = is(1, &["or"]) && is(2, &["replace"]);
        is(0, &["create"]) && is(if replaces { 3 } else { 1 }, &["function", "procedure"])
    }

    /// Reads up to one of these words or symbols, outside of parentheses; which one is at hand then. `end` is what is missing
    /// where a semicolon comes first.
    ///
    /// # Errors
    /// 42601.
    pub fn until(&mut self, ends: &[&str], missing: &str, expression: bool) -> Result<(u32, u32)> {
        let (start, begin) = (self.here(), self.at);
        let mut depth = 0u32;
        loop {
            let token = self.token();
            match token.kind {
                Kind::Symbol(b'(' | b'[') => depth += 1,
                Kind::Symbol(b')' | b']') if depth == 0 => {
                    if ends.contains(&self.text_of(token)) {
                        break;
                    }
                    return Err(self.near("mismatched parentheses"));
                }
                Kind::Symbol(b')' | b']') => depth -= 1,
                _ if depth == 0
                    && ends.iter().any(|end| self.text_of(token).eq_ignore_ascii_case(end))
                    && !matches!(token.kind, Kind::End | Kind::Quoted | Kind::String) =>
                {
                    break;
                }
                Kind::Symbol(b';') | Kind::End => {
                    if depth > 0 {
                        return Err(self.near("mismatched parentheses"));
                    }
                    if token.kind == Kind::End && ends.contains(&";") {
                        return Err(self.error());
                    }
                    let kind = if expression { "expression" } else { "statement" };
                    let message = format!("missing \"{missing}\" at end of SQL {kind}");
                    return Err(self.complaint(message, token.start));
                }
                Kind::Error(_) => return Err(self.error()),
                _ => {}
            }
            self.advance();
        }
        if self.at == begin {
            if expression {
                return Err(self.near("missing expression"));
            }
            return Err(self.near("missing SQL statement"));
        }
        Ok((start, self.before()))
    }

    /// Whether such a token comes, outside of parentheses, before one of these words.
    #[must_use]
    pub fn comes(&self, wanted: Kind, before: &[&str]) -> bool {
        let mut depth = 0u32;
        for token in &self.tokens[self.at..] {
            match token.kind {
                Kind::Symbol(b'(' | b'[') => depth += 1,
                Kind::Symbol(b')' | b']') => depth = depth.saturating_sub(1),
                kind if depth == 0 && kind == wanted => return true,
                Kind::Symbol(b';') | Kind::End => return false,
                _ if depth == 0 && before.iter().any(|word| self.is_word(*token, word)) => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }
}
