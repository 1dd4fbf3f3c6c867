//! The lexer: PostgreSQL's lexical rules (manual, section 4.1; `scan.l`), one pass, tokens that only point into the text.
//!
//! What a token is worth (a string without its escapes, a folded name) is worked out by [`super::value`] when the parser
//! takes it. A lexical error is a token too: as in PostgreSQL, a syntax error that stands before it comes first.

use super::keyword::Keyword;
use memchr::{memchr, memchr2};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An unquoted word that is a keyword.
    Keyword(Keyword),
    /// An unquoted word that is none.
    Word,
    /// `"..."`.
    Quoted,
    /// `U&"..."`.
    UnicodeQuoted,
    /// `'...'`, with continuations on further lines.
    String,
    /// `E'...'`.
    EscapeString,
    /// `U&'...'`.
    UnicodeString,
    /// `$tag$...$tag$`.
    DollarString,
    /// `B'...'`, `X'...'`.
    Bits,
    /// `N'...'`.
    National,
    /// Digits.
    Integer,
    /// Any other number.
    Number,
    /// `$1`.
    Parameter,
    /// One of `, ( ) [ ] . ; : + - * / % ^ < > =`.
    Symbol(u8),
    /// `::`.
    TypeCast,
    /// `..`.
    DotDot,
    /// `:=`.
    ColonEquals,
    /// `=>`.
    EqualsGreater,
    /// `<=`.
    LessEquals,
    /// `>=`.
    GreaterEquals,
    /// `<>`, `!=`.
    NotEquals,
    /// Any other operator.
    Operator,
    /// A lexical error.
    Error(LexicalError),
    /// The end of the text.
    End,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalError {
    /// A string without its end.
    UnterminatedString,
    /// A bit string without its end.
    UnterminatedBits,
    /// A hexadecimal string without its end.
    UnterminatedHex,
    /// A dollar-quoted string without its end.
    UnterminatedDollar,
    /// A quoted name without its end.
    UnterminatedName,
    /// A comment without its end.
    UnterminatedComment,
    /// `""`.
    EmptyName,
    /// `1a`.
    JunkAfterNumber,
    /// `$1a`.
    JunkAfterParameter,
    /// UESCAPE with something else than a string behind it.
    NoEscape,
    /// UESCAPE with a string that is no character, or none that may be one.
    WrongEscape,
    /// A character that begins nothing.
    Unexpected,
}

impl LexicalError {
    /// PostgreSQL's words.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            LexicalError::UnterminatedString => "unterminated quoted string",
            LexicalError::UnterminatedBits => "unterminated bit string literal",
            LexicalError::UnterminatedHex => "unterminated hexadecimal string literal",
            LexicalError::UnterminatedDollar => "unterminated dollar-quoted string",
            LexicalError::UnterminatedName => "unterminated quoted identifier",
            LexicalError::UnterminatedComment => "unterminated /* comment",
            LexicalError::EmptyName => "zero-length delimited identifier",
            LexicalError::JunkAfterNumber => "trailing junk after numeric literal",
            LexicalError::JunkAfterParameter => "trailing junk after parameter",
            LexicalError::NoEscape => "UESCAPE must be followed by a simple string literal",
            LexicalError::WrongEscape => "invalid Unicode escape character",
            LexicalError::Unexpected => "syntax error",
        }
    }
}

/// A token: its bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: u32,
    /// Behind its last byte.
    pub end: u32,
}

/// The longest keyword, and a byte more.
const WORD_MAX: usize = 32;

/// Hands out the tokens of a text, one after another.
pub struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    /// `'...'` has no escapes.
    standard_strings: bool,
}

impl<'t> Lexer<'t> {
    /// At the beginning of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text: text.as_bytes(), at: 0, standard_strings: true }
    }

    /// The tokens of a whole text, [`Kind::End`] last; an error ends them, too.
    #[must_use]
    pub fn tokens(text: &'t str) -> Vec<Token> {
        Lexer::tokens_of(text, true)
    }

    /// The same where `'...'` may have escapes.
    #[must_use]
    pub fn tokens_of(text: &'t str, standard_strings: bool) -> Vec<Token> {
        let mut lexer = Lexer { standard_strings, ..Lexer::new(text) };
        let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
        loop {
            let mut token = lexer.next_token();
            if matches!(token.kind, Kind::UnicodeString | Kind::UnicodeQuoted) {
                token = lexer.with_escape(token);
            }
            tokens.push(token);
            match token.kind {
                Kind::End => return tokens,
                Kind::Error(_) => {
                    let end = text.len() as u32;
                    tokens.push(Token { kind: Kind::End, start: end, end });
                    return tokens;
                }
                _ => {}
            }
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn token(&self, kind: Kind, start: usize) -> Token {
        Token { kind, start: start as u32, end: self.at as u32 }
    }

    /// The next token; [`Kind::End`] again and again at the end.
    pub fn next_token(&mut self) -> Token {
        if let Some(error) = self.skip_blanks() {
            return error;
        }
        let start = self.at;
        let Some(&byte) = self.text.get(start) else { return self.token(Kind::End, start) };
        match byte {
            b'\'' => self.plain_string(start, Kind::String),
            b'"' => self.name(start, Kind::Quoted),
            b'e' | b'E' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(start, Kind::EscapeString, LexicalError::UnterminatedString, true)
            }
            b'b' | b'B' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(start, Kind::Bits, LexicalError::UnterminatedBits, false)
            }
            b'x' | b'X' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(start, Kind::Bits, LexicalError::UnterminatedHex, false)
            }
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.plain_string(start, Kind::National)
            }
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'\'' => {
                self.at += 2;
                self.quoted(start, Kind::UnicodeString, LexicalError::UnterminatedString, false)
            }
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'"' => {
                self.at += 2;
                self.name(start, Kind::UnicodeQuoted)
            }
            b'0'..=b'9' => self.number(start),
            b'.' if self.peek(1).is_ascii_digit() => self.number(start),
            b'.' if self.peek(1) == b'.' => self.fixed(start, 2, Kind::DotDot),
            b':' if self.peek(1) == b':' => self.fixed(start, 2, Kind::TypeCast),
            b':' if self.peek(1) == b'=' => self.fixed(start, 2, Kind::ColonEquals),
            b',' | b'(' | b')' | b'[' | b']' | b'.' | b';' | b':' => {
                self.fixed(start, 1, Kind::Symbol(byte))
            }
            b'$' => self.dollar(start),
            _ if is_operator(byte) => self.operator(start),
            _ if is_word_start(byte) => self.word(start),
            _ => self.fixed(start, 1, Kind::Error(LexicalError::Unexpected)),
        }
    }

    /// The token of `U&` text with the UESCAPE and the string behind it, if it has them.
    fn with_escape(&mut self, token: Token) -> Token {
        let behind = self.at;
        if self.next_token().kind != Kind::Keyword(Keyword::Uescape) {
            self.at = behind;
            return token;
        }
        let escape = self.next_token();
        let wrong = |error| Token { kind: Kind::Error(error), ..escape };
        match escape.kind {
            Kind::String | Kind::EscapeString | Kind::DollarString => {
                let text = &self.text[escape.start as usize..escape.end as usize];
                match std::str::from_utf8(text).ok().and_then(escape_character) {
                    Some(_) => Token { end: escape.end, ..token },
                    None => wrong(LexicalError::WrongEscape),
                }
            }
            Kind::Error(_) => escape,
            _ => wrong(LexicalError::NoEscape),
        }
    }

    fn fixed(&mut self, start: usize, length: usize, kind: Kind) -> Token {
        self.at = start + length;
        self.token(kind, start)
    }

    /// Skips blanks and comments; gives the token of a comment that does not end.
    fn skip_blanks(&mut self) -> Option<Token> {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.at += 1,
                b'-' if self.peek(1) == b'-' => {
                    while !matches!(self.text.get(self.at), None | Some(b'\n' | b'\r')) {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at;
                    if !self.skip_comment() {
                        self.at = self.text.len();
                        return Some(
                            self.token(Kind::Error(LexicalError::UnterminatedComment), start),
                        );
                    }
                }
                _ => return None,
            }
        }
    }

    /// Skips a comment, which may hold others; false if it does not end.
    fn skip_comment(&mut self) -> bool {
        let mut depth = 0u32;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return true;
                    }
                }
                _ => self.at += 1,
            }
        }
        false
    }

    /// A string without a letter that says what it is.
    fn plain_string(&mut self, start: usize, kind: Kind) -> Token {
        let escapes = !self.standard_strings;
        let kind = if escapes && kind == Kind::String { Kind::EscapeString } else { kind };
        self.quoted(start, kind, LexicalError::UnterminatedString, escapes)
    }

    /// A string from its first quote, with the further pieces that follow on later lines.
    fn quoted(
        &mut self,
        start: usize,
        kind: Kind,
        unterminated: LexicalError,
        escapes: bool,
    ) -> Token {
        loop {
            self.at += 1;
            loop {
                let rest = &self.text[self.at..];
                let found = if escapes { memchr2(b'\'', b'\\', rest) } else { memchr(b'\'', rest) };
                let Some(found) = found else {
                    self.at = self.text.len();
                    return self.token(Kind::Error(unterminated), start);
                };
                self.at += found;
                match self.text[self.at] {
                    b'\'' if self.peek(1) == b'\'' => self.at += 2,
                    b'\'' => break,
                    _ => self.at = (self.at + 2).min(self.text.len()),
                }
            }
            self.at += 1;
            match continuation(self.text, self.at) {
                Some(next) => self.at = next,
                None => return self.token(kind, start),
            }
        }
    }

    /// A quoted name, from its quote.
    fn name(&mut self, start: usize, kind: Kind) -> Token {
        self.at += 1;
        let first = self.at;
        loop {
            match self.text.get(self.at) {
                None => return self.token(Kind::Error(LexicalError::UnterminatedName), start),
                Some(b'"') if self.peek(1) == b'"' => self.at += 2,
                Some(b'"') => break,
                Some(_) => self.at += 1,
            }
        }
        let empty = self.at == first;
        self.at += 1;
        self.token(if empty { Kind::Error(LexicalError::EmptyName) } else { kind }, start)
    }

    fn number(&mut self, start: usize) -> Token {
        let mut kind = Kind::Integer;
        self.digits();
        // `1..10` is an integer, two dots and another one.
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            kind = Kind::Number;
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                kind = Kind::Number;
                self.at += 1 + sign;
                self.digits();
            } else if sign == 1 {
                self.at += 2;
                return self.token(Kind::Error(LexicalError::JunkAfterNumber), start);
            }
        }
        self.junk(start, kind, LexicalError::JunkAfterNumber)
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// The token, unless the beginning of a word follows it at once.
    fn junk(&mut self, start: usize, kind: Kind, error: LexicalError) -> Token {
        if !is_word_start(self.peek(0)) || self.at >= self.text.len() {
            return self.token(kind, start);
        }
        while self.text.get(self.at).is_some_and(|&byte| is_word(byte)) {
            self.at += 1;
        }
        self.token(Kind::Error(error), start)
    }

    /// `$1`, a dollar-quoted string, or nothing that PostgreSQL knows.
    fn dollar(&mut self, start: usize) -> Token {
        if self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.digits();
            return self.junk(start, Kind::Parameter, LexicalError::JunkAfterParameter);
        }
        let mut end = start + 1;
        if self.text.get(end).is_some_and(|&byte| is_word_start(byte)) {
            while self.text.get(end).is_some_and(|&byte| is_word(byte) && byte != b'$') {
                end += 1;
            }
        }
        if self.text.get(end) != Some(&b'$') {
            return self.fixed(start, 1, Kind::Error(LexicalError::Unexpected));
        }
        let tag = &self.text[start..=end];
        let body = end + 1;
        let mut at = body;
        while let Some(offset) = self.text[at..].iter().position(|&byte| byte == b'$') {
            at += offset;
            if self.text[at..].starts_with(tag) {
                self.at = at + tag.len();
                return self.token(Kind::DollarString, start);
            }
            at += 1;
        }
        self.at = self.text.len();
        self.token(Kind::Error(LexicalError::UnterminatedDollar), start)
    }

    /// An operator: the longest run of its characters, short of a comment, and without a trailing + or - unless one of
    /// the characters that no SQL operator has is in it.
    fn operator(&mut self, start: usize) -> Token {
        let mut end = start;
        while self.text.get(end).is_some_and(|&byte| is_operator(byte)) {
            if end > start && matches!(&self.text[end..], [b'/', b'*', ..] | [b'-', b'-', ..]) {
                break;
            }
            end += 1;
        }
        let long = end > start + 1;
        if long && !self.text[start..end].iter().any(|byte| b"~!@#^&|`?%".contains(byte)) {
            while end > start + 1 && matches!(self.text[end - 1], b'+' | b'-') {
                end -= 1;
            }
        }
        let kind = match &self.text[start..end] {
            [byte] if b"+-*/%^<>=".contains(byte) => Kind::Symbol(*byte),
            b"=>" => Kind::EqualsGreater,
            b"<=" => Kind::LessEquals,
            b">=" => Kind::GreaterEquals,
            b"<>" | b"!=" => Kind::NotEquals,
            _ => Kind::Operator,
        };
        self.fixed(start, end - start, kind)
    }

    fn word(&mut self, start: usize) -> Token {
        while self.text.get(self.at).is_some_and(|&byte| is_word(byte)) {
            self.at += 1;
        }
        let bytes = &self.text[start..self.at];
        let kind = if bytes.len() < WORD_MAX && bytes.is_ascii() {
            let mut folded = [0; WORD_MAX];
            let folded = &mut folded[..bytes.len()];
            folded.copy_from_slice(bytes);
            folded.make_ascii_lowercase();
            match std::str::from_utf8(folded).ok().and_then(Keyword::find) {
                Some(keyword) => Kind::Keyword(keyword),
                None => Kind::Word,
            }
        } else {
            Kind::Word
        };
        self.token(kind, start)
    }
}

/// The character that the string behind UESCAPE is; none if it is no character, or none that may be one.
#[must_use]
pub fn escape_character(string: &str) -> Option<u8> {
    let inner = match string.as_bytes() {
        [b'\'', inner @ .., b'\''] => inner,
        [b'e' | b'E', b'\'', inner @ .., b'\''] => inner,
        dollar @ [b'$', ..] => {
            let tag = dollar[1..].iter().position(|&byte| byte == b'$')? + 2;
            &dollar[tag..dollar.len() - tag]
        }
        _ => return None,
    };
    match inner {
        // `E'\\'`
        [b'\\', b'\\'] if !string.starts_with('\'') => Some(b'\\'),
        [byte]
            if !byte.is_ascii_hexdigit()
                && !b"+'\" \t\n\r\x0b\x0c".contains(byte)
                && byte.is_ascii() =>
        {
            Some(*byte)
        }
        _ => None,
    }
}

/// Where a string whose quotes end at `end` goes on: at a quote on a later line, with blanks and comments to the end of a line
/// between (`quotecontinue`).
pub fn continuation(text: &[u8], end: usize) -> Option<usize> {
    let (mut at, mut newline) = (end, false);
    loop {
        match text.get(at)? {
            b'\n' | b'\r' => newline = true,
            b' ' | b'\t' | 0x0c => {}
            b'-' if text.get(at + 1) == Some(&b'-') => {
                at += memchr2(b'\n', b'\r', &text[at..])?;
                continue;
            }
            b'\'' if newline => return Some(at),
            _ => return None,
        }
        at += 1;
    }
}

/// Whether an operator may have this character.
#[must_use]
pub fn is_operator(byte: u8) -> bool {
    CLASSES[byte as usize] & OPERATOR != 0
}

/// Whether a word may begin with this byte.
#[must_use]
pub fn is_word_start(byte: u8) -> bool {
    CLASSES[byte as usize] & WORD_START != 0
}

/// Whether a word may go on with this byte.
#[must_use]
pub fn is_word(byte: u8) -> bool {
    CLASSES[byte as usize] & WORD != 0
}

const OPERATOR: u8 = 1;
const WORD_START: u8 = 2;
const WORD: u8 = 4;

/// What each byte may be part of.
const CLASSES: [u8; 256] = {
    let operators = b"~!@#^&|`?+-*/%<>=";
    let mut classes = [0; 256];
    let mut at = 0;
    while at < operators.len() {
        classes[operators[at] as usize] |= OPERATOR;
        at += 1;
    }
    let mut at = 0;
    while at < classes.len() {
        let byte = at as u8;
        if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            classes[at] |= WORD_START | WORD;
        } else if byte.is_ascii_digit() || byte == b'$' {
            classes[at] |= WORD;
        }
        at += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::{Kind, Lexer, LexicalError};

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        Lexer::tokens(text)
            .into_iter()
            .map(|token| (token.kind, &text[token.start as usize..token.end as usize]))
            .filter(|(kind, _)| *kind != Kind::End)
            .collect()
    }

    #[test]
    fn operators_stop_where_postgresql_stops_them() {
        assert_eq!(
            kinds("a<-1"),
            [(Kind::Word, "a"), (Kind::Symbol(b'<'), "<"), (Kind::Symbol(b'-'), "-")]
                .into_iter()
                .chain([(Kind::Integer, "1")])
                .collect::<Vec<_>>()
        );
        assert_eq!(kinds("@-"), [(Kind::Operator, "@-")]);
        assert_eq!(kinds("!=--x\n"), [(Kind::NotEquals, "!=")]);
        assert_eq!(kinds("+/*c/*d*/*/+"), [(Kind::Symbol(b'+'), "+"); 2]);
        assert_eq!(kinds("->>"), [(Kind::Operator, "->>")]);
    }

    #[test]
    fn strings_go_on_over_lines_and_dollars_nest_by_tag() {
        assert_eq!(kinds("'a''b'\n  'c'"), [(Kind::String, "'a''b'\n  'c'")]);
        assert_eq!(kinds("'a'--'\n--\r'c'"), [(Kind::String, "'a'--'\n--\r'c'")]);
        assert_eq!(kinds("'a' 'c'"), [(Kind::String, "'a'"), (Kind::String, "'c'")]);
        assert_eq!(kinds(r"e'\'x'"), [(Kind::EscapeString, r"e'\'x'")]);
        assert_eq!(kinds("$a$ $$ $b$ $a$"), [(Kind::DollarString, "$a$ $$ $b$ $a$")]);
    }

    #[test]
    fn errors_are_tokens() {
        let error = |text| match Lexer::tokens(text).iter().rev().nth(1).map(|token| token.kind) {
            Some(Kind::Error(error)) => error,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(error("select 'a"), LexicalError::UnterminatedString);
        assert_eq!(error("select \"a"), LexicalError::UnterminatedName);
        assert_eq!(error("select \"\""), LexicalError::EmptyName);
        assert_eq!(error("select 1a"), LexicalError::JunkAfterNumber);
        assert_eq!(error("select $1a"), LexicalError::JunkAfterParameter);
        assert_eq!(error("select /* /* */"), LexicalError::UnterminatedComment);
        assert_eq!(error("select $a$ $b$"), LexicalError::UnterminatedDollar);
        assert_eq!(error("select \u{1}"), LexicalError::Unexpected);
    }

    #[test]
    fn numbers() {
        assert_eq!(
            kinds("1 1.5 .5 1e3 1.e-3 1..2"),
            [
                (Kind::Integer, "1"),
                (Kind::Number, "1.5"),
                (Kind::Number, ".5"),
                (Kind::Number, "1e3"),
                (Kind::Number, "1.e-3"),
                (Kind::Integer, "1"),
                (Kind::DotDot, ".."),
                (Kind::Integer, "2"),
            ]
        );
    }
}
