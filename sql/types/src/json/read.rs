//! The tokens of a JSON text, and what is said of one that is wrong.
//!
//! PostgreSQL: `src/common/jsonapi.c`. Which token an error names, and which part of the text its CONTEXT shows, are
//! PostgreSQL's, so the state that they are told from is kept as its lexer keeps it.

use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// What the next token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    String,
    Number,
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    True,
    False,
    Null,
    End,
}

/// What would have been right where something else stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Value,
    String,
    ArrayNext,
    ObjectFirst,
    ObjectNext,
    Colon,
    End,
}

/// The token at hand of a JSON text.
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// The kind of the token at hand.
    pub token: Token,
    start: usize,
    terminator: usize,
    /// Where the token before ended.
    pub previous_end: usize,
    line_start: usize,
    line: u32,
    /// Whether escapes are looked into: a surrogate without its other half is wrong, and so is the character 0.
    unescapes: bool,
    /// The string at hand without its escapes, where it has any.
    unescaped: Option<String>,
}

/// Whether a byte belongs to a word, for errors.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}

impl<'t> Lexer<'t> {
    /// At the first token.
    pub fn new(text: &'t str, unescapes: bool) -> Result<Lexer<'t>> {
        let mut lexer = Lexer {
            text,
            token: Token::End,
            start: 0,
            terminator: 0,
            previous_end: 0,
            line_start: 0,
            line: 1,
            unescapes,
            unescaped: None,
        };
        // Until there is a token, the last one is none: an error shows what follows it.
        lexer.token = Token::Null;
        lexer.advance()?;
        Ok(lexer)
    }

    /// Where the token at hand begins.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The token's text.
    pub fn lexeme(&self) -> &'t str {
        &self.text[self.start..self.terminator]
    }

    /// The string at hand, without its quotes; without escapes, where they are looked into.
    pub fn string(&mut self) -> std::borrow::Cow<'t, str> {
        match self.unescaped.take() {
            Some(text) => text.into(),
            None => self.text[self.start + 1..self.terminator - 1].into(),
        }
    }

    /// To the next token.
    pub fn advance(&mut self) -> Result<()> {
        account::step();
        let bytes = self.text.as_bytes();
        let mut at = self.terminator;
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
            at += 1;
            if bytes[at - 1] == b'\n' {
                self.line += 1;
                self.line_start = at;
            }
        }
        self.previous_end = self.terminator;
        self.start = at;
        let Some(&byte) = bytes.get(at) else {
            self.terminator = at;
            self.token = Token::End;
            return Ok(());
        };
        self.token = match byte {
            b'{' => self.punctuation(Token::ObjectStart),
            b'}' => self.punctuation(Token::ObjectEnd),
            b'[' => self.punctuation(Token::ArrayStart),
            b']' => self.punctuation(Token::ArrayEnd),
            b',' => self.punctuation(Token::Comma),
            b':' => self.punctuation(Token::Colon),
            b'"' => {
                self.read_string()?;
                Token::String
            }
            b'-' | b'0'..=b'9' => {
                self.read_number()?;
                Token::Number
            }
            _ => {
                let length = bytes[at..].iter().take_while(|byte| in_word(**byte)).count();
                self.terminator = at + length.max(1);
                match self.lexeme() {
                    "true" => Token::True,
                    "false" => Token::False,
                    "null" => Token::Null,
                    _ => return Err(self.invalid_token()),
                }
            }
        };
        Ok(())
    }

    fn punctuation(&mut self, token: Token) -> Token {
        self.terminator = self.start + 1;
        token
    }

    fn read_number(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = self.start + usize::from(bytes[self.start] == b'-');
        let mut wrong = false;
        match bytes.get(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at += digits(at),
            _ => wrong = true,
        }
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            let fraction = digits(at);
            wrong |= fraction == 0;
            at += fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let exponent = digits(at);
            wrong |= exponent == 0;
            at += exponent;
        }
        let rest = bytes[at..].iter().take_while(|byte| in_word(**byte)).count();
        self.terminator = at + rest;
        if wrong || rest > 0 { Err(self.invalid_token()) } else { Ok(()) }
    }

    fn read_string(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        self.unescaped = None;
        let mut at = self.start + 1;
        // Up to the first escape nothing is copied.
        for stretch in account::byte_stretches(&bytes[at..]) {
            let plain = stretch.iter().position(|b| *b < 32 || matches!(b, b'"' | b'\\'));
            at += plain.unwrap_or(stretch.len());
            if plain.is_some() {
                break;
            }
        }
        if bytes.get(at) == Some(&b'"') {
            self.terminator = at + 1;
            return Ok(());
        }
        let mut out = self.text[self.start + 1..at].to_owned();
        let mut high: Option<u32> = None;
        loop {
            match bytes.get(at) {
                None => {
                    self.terminator = at;
                    return Err(self.invalid_token());
                }
                Some(b'"') => break,
                Some(byte @ 0..32) => {
                    self.terminator = at;
                    return Err(
                        self.wrong(format!("Character with value 0x{byte:02x} must be escaped."))
                    );
                }
                Some(b'\\') => at = self.read_escape(at, &mut high, &mut out)?,
                Some(_) => {
                    account::step();
                    if high.is_some() {
                        return Err(self.lone_surrogate(self.character_end(at)));
                    }
                    let character = self.text[at..].chars().next().unwrap_or_default();
                    out.push(character);
                    at += character.len_utf8();
                }
            }
        }
        if high.is_some() {
            return Err(self.lone_surrogate(at + 1));
        }
        self.terminator = at + 1;
        if self.unescapes {
            self.unescaped = Some(out);
        }
        Ok(())
    }

    fn character_end(&self, at: usize) -> usize {
        at + self.text[at..].chars().next().map_or(0, char::len_utf8)
    }

    /// Behind the escape whose backslash is at `at`.
    fn read_escape(
        &mut self,
        at: usize,
        high: &mut Option<u32>,
        out: &mut String,
    ) -> Result<usize> {
        let bytes = self.text.as_bytes();
        let mut at = at + 1;
        let Some(&letter) = bytes.get(at) else {
            self.terminator = at;
            return Err(self.invalid_token());
        };
        if letter != b'u' {
            if self.unescapes && high.is_some() {
                return Err(self.lone_surrogate(self.character_end(at)));
            }
            out.push(match letter {
                b'"' | b'\\' | b'/' => letter as char,
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                _ => {
                    self.start = at;
                    self.terminator = self.character_end(at);
                    let token = self.lexeme();
                    return Err(self.wrong(format!("Escape sequence \"\\{token}\" is invalid.")));
                }
            });
            return Ok(at + 1);
        }
        let mut unit = 0;
        for _ in 0..4 {
            at += 1;
            match bytes.get(at).map(|byte| (*byte as char).to_digit(16)) {
                None => {
                    self.terminator = at;
                    return Err(self.invalid_token());
                }
                Some(Some(digit)) => unit = unit * 16 + digit,
                Some(None) => {
                    self.terminator = self.character_end(at);
                    return Err(self.wrong("\"\\u\" must be followed by four hexadecimal digits."));
                }
            }
        }
        if !self.unescapes {
            return Ok(at + 1);
        }
        let code = match (unit, *high) {
            (0xD800..=0xDBFF, None) => {
                *high = Some(unit);
                return Ok(at + 1);
            }
            (0xD800..=0xDBFF, Some(_)) => {
                self.terminator = at + 1;
                return Err(self.wrong("Unicode high surrogate must not follow a high surrogate."));
            }
            (0xDC00..=0xDFFF, Some(first)) => {
                *high = None;
                0x10000 + ((first - 0xD800) << 10) + (unit - 0xDC00)
            }
            (0xDC00..=0xDFFF, None) | (_, Some(_)) => return Err(self.lone_surrogate(at + 1)),
            (unit, None) => unit,
        };
        match char::from_u32(code) {
            Some('\0') | None => {
                self.terminator = at + 1;
                Err(self.error(
                    SqlState::UNTRANSLATABLE_CHARACTER,
                    "unsupported Unicode escape sequence",
                    "\\u0000 cannot be converted to text.".to_owned(),
                ))
            }
            Some(character) => {
                out.push(character);
                Ok(at + 1)
            }
        }
    }

    #[cold]
    fn lone_surrogate(&mut self, terminator: usize) -> SqlError {
        self.terminator = terminator;
        self.wrong("Unicode low surrogate must follow a high surrogate.")
    }

    #[cold]
    fn invalid_token(&self) -> SqlError {
        self.wrong(format!("Token \"{}\" is invalid.", self.lexeme()))
    }

    /// The token at hand is not what would be right here.
    #[cold]
    pub fn unexpected(&self, wanted: Wanted) -> SqlError {
        if self.token == Token::End {
            return self.wrong("The input string ended unexpectedly.");
        }
        let wanted = match wanted {
            Wanted::Value => "JSON value",
            Wanted::String => "string",
            Wanted::ArrayNext => "\",\" or \"]\"",
            Wanted::ObjectFirst => "string or \"}\"",
            Wanted::ObjectNext => "\",\" or \"}\"",
            Wanted::Colon => "\":\"",
            Wanted::End => "end of input",
        };
        self.wrong(format!("Expected {wanted}, but found \"{}\".", self.lexeme()))
    }

    fn wrong(&self, detail: impl Into<String>) -> SqlError {
        self.error(
            SqlState::INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type json",
            detail.into(),
        )
    }

    fn error(&self, state: SqlState, message: &str, detail: String) -> SqlError {
        let end = self.terminator;
        let mut begin = self.line_start;
        while end - begin >= 50 {
            begin = self.character_end(begin);
        }
        if begin - self.line_start <= 3 {
            begin = self.line_start;
        }
        let before = if begin > self.line_start { "..." } else { "" };
        let next = self.text.as_bytes().get(end);
        let goes_on = self.token != Token::End && !matches!(next, None | Some(b'\n' | b'\r'));
        let behind = if goes_on { "..." } else { "" };
        SqlError::new(state, message).detail(detail).context(format!(
            "JSON data, line {}: {before}{}{behind}",
            self.line,
            &self.text[begin..end]
        ))
    }
}
