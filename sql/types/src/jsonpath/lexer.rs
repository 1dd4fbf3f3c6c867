//! The tokens of a jsonpath.
//!
//! PostgreSQL: `jsonpath_scan.l`. The longest match wins, so `1a` is a number with something wrong behind it, but `1ab` a
//! word. A comment right behind a word makes PostgreSQL forget the word, and so here. What an error is said to be near is
//! what PostgreSQL's scanner matched last: the closing quote of a string, the white space behind a word, and nothing (as at
//! the end of the text) where a word ends without any.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use bumpalo::collections::String as ArenaString;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Without quotes, its escapes resolved.
    Word(&'a str),
    /// `"..."`
    String(&'a str),
    /// `$name`, `$"name"`
    Variable(&'a str),
    /// A number without point and exponent.
    Integer(&'a str),
    /// Any other number.
    Number(&'a str),
    /// An operator or a single special character.
    Symbol(&'a str),
    /// No more tokens.
    End,
}

/// A text on its way to tokens.
pub(super) struct Lexer<'a> {
    arena: &'a Bump,
    text: &'a str,
    /// Where the rest begins.
    at: usize,
    /// What an error at the last token is near; empty is the end.
    near: &'a str,
}

const SYMBOLS: [&str; 9] = ["&&", "||", "**", "<=", "==", "<>", "!=", ">=", "/*"];

fn is_special(byte: u8) -> bool {
    b"?%$.[]{}()|&!=<>@#,*:-+/".contains(&byte)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// What a word is made of.
fn is_other(byte: u8) -> bool {
    !is_special(byte) && !is_blank(byte) && !matches!(byte, b'\\' | b'"')
}

impl<'a> Lexer<'a> {
    /// At the beginning of a text.
    pub fn new(arena: &'a Bump, text: &'a str) -> Lexer<'a> {
        Lexer { arena, text, at: 0, near: "" }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn length(&self, of: fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|byte| of(**byte)).count()
    }

    /// Takes the next bytes, to be what an error is near.
    fn take(&mut self, length: usize) -> &'a str {
        self.near = &self.text[self.at..self.at + length];
        self.at += length;
        self.near
    }

    /// The next token.
    ///
    /// # Errors
    /// 42601, 22P02, 22P05.
    pub fn next(&mut self) -> Result<Token<'a>> {
        loop {
            let blanks = self.length(is_blank);
            self.take(blanks);
            let rest = self.rest();
            let Some(&first) = rest.first() else {
                self.near = "";
                return Ok(Token::End);
            };
            if first.is_ascii_digit()
                || first == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit)
            {
                if let Some(token) = self.number()? {
                    return Ok(token);
                }
            } else if first == b'"' {
                self.take(1);
                return Ok(Token::String(self.quoted()?));
            } else if first == b'$' {
                self.take(1);
                let name = self.length(is_other);
                if name > 0 {
                    let name = self.take(name);
                    self.near = &self.text[self.at - name.len() - 1..self.at];
                    return Ok(Token::Variable(name));
                }
                if self.rest().first() == Some(&b'"') {
                    self.take(1);
                    return Ok(Token::Variable(self.quoted()?));
                }
                return Ok(Token::Symbol("$"));
            } else if is_special(first) {
                let double = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes()));
                if double == Some(&"/*") {
                    self.comment()?;
                    continue;
                }
                return Ok(Token::Symbol(self.take(if double.is_some() { 2 } else { 1 })));
            }
            if let Some(word) = self.word()? {
                return Ok(Token::Word(word));
            }
        }
    }

    /// The number that begins here, unless a longer word does.
    fn number(&mut self) -> Result<Option<Token<'a>>> {
        let rest = self.rest();
        let digits = |at: usize| rest[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let whole = match rest[0] {
            b'.' => 0,
            b'0' => 1,
            _ => digits(0),
        };
        let point = rest.get(whole) == Some(&b'.');
        let decimal = if point { whole + 1 + digits(whole + 1) } else { whole };
        let mut real = decimal;
        let mut wrong = 0;
        if let Some(b'e' | b'E') = rest.get(decimal) {
            let signed =
                decimal + 1 + usize::from(matches!(rest.get(decimal + 1), Some(b'+' | b'-')));
            match digits(signed) {
                0 if signed > decimal + 1 => wrong = signed,
                0 => {}
                exponent => real = signed + exponent,
            }
        }
        let word = self.length(is_other);
        let junk = [whole, decimal, real].into_iter().filter(|end| *end > 0);
        let junk = junk.filter(|end| rest.get(*end).is_some_and(|byte| is_other(*byte))).max();
        let junk = junk.map_or(0, |end| end + 1);
        let longest = real.max(wrong).max(junk);
        if word > longest {
            return Ok(None);
        }
        if real == longest {
            let text = self.take(real);
            let integer = real == whole;
            return Ok(Some(if integer { Token::Integer(text) } else { Token::Number(text) }));
        }
        let mut end = longest;
        while !self.text.is_char_boundary(self.at + end) {
            end += 1;
        }
        self.take(end);
        Err(self.error(if wrong == longest {
            "invalid numeric literal"
        } else {
            "trailing junk after numeric literal"
        }))
    }

    fn comment(&mut self) -> Result<()> {
        match self.text[self.at + 2..].find("*/") {
            Some(inside) => {
                self.take(2 + inside + 2);
                Ok(())
            }
            None => {
                self.at = self.text.len();
                self.near = "";
                Err(self.error("unexpected end of comment"))
            }
        }
    }

    /// A word, up to what cannot belong to it; none if a comment is what ends it.
    fn word(&mut self) -> Result<Option<&'a str>> {
        let mut out = ArenaString::new_in(self.arena);
        loop {
            let plain = self.length(is_other);
            out.push_str(self.take(plain));
            match self.rest().first() {
                Some(b'\\') => self.escape(&mut out)?,
                Some(b'/') if self.rest().get(1) == Some(&b'*') => {
                    self.comment()?;
                    return Ok(None);
                }
                Some(byte) if is_blank(*byte) => {
                    let blanks = self.length(is_blank);
                    self.take(blanks);
                    return Ok(Some(out.into_bump_str()));
                }
                _ => {
                    self.near = "";
                    return Ok(Some(out.into_bump_str()));
                }
            }
        }
    }

    /// What is between quotes, of which the first has been taken.
    fn quoted(&mut self) -> Result<&'a str> {
        let plain = |byte: u8| !matches!(byte, b'"' | b'\\');
        let length = self.length(plain);
        if self.rest().get(length) == Some(&b'"') {
            let text = self.take(length);
            self.take(1);
            return Ok(text);
        }
        let mut out = ArenaString::new_in(self.arena);
        loop {
            let length = self.length(plain);
            out.push_str(self.take(length));
            match self.rest().first() {
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => {
                    self.take(1);
                    return Ok(out.into_bump_str());
                }
                None => {
                    self.near = "";
                    return Err(self.error("unexpected end of quoted string"));
                }
            }
        }
    }

    /// What the escape that begins here stands for.
    fn escape(&mut self, out: &mut ArenaString<'a>) -> Result<()> {
        let escaped = self.text[self.at + 1..].chars().next().filter(|next| *next != '\n');
        let Some(escaped) = escaped else {
            self.take(1);
            return Err(self.error("unexpected end after backslash"));
        };
        match escaped {
            'u' => return self.unicode(out),
            'x' => {
                let digits = self.rest()[2..].iter().take(2);
                let digits = digits.take_while(|b| b.is_ascii_hexdigit()).count();
                let code = self.take(2 + digits);
                if digits < 2 {
                    return Err(self.error("invalid hex character sequence"));
                }
                return push_code(hexadecimal(&code[2..]), out);
            }
            'b' => out.push('\x08'),
            'f' => out.push('\x0c'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\x0b'),
            other => out.push(other),
        }
        self.take(1 + escaped.len_utf8());
        Ok(())
    }

    /// All escapes of the form `\u0041` and `\u{41}` that stand together: halves of a pair may.
    fn unicode(&mut self, out: &mut ArenaString<'a>) -> Result<()> {
        let rest = self.rest();
        let digits = |at: usize, most: usize| {
            rest[at..].iter().take(most).take_while(|b| b.is_ascii_hexdigit()).count()
        };
        let mut end = 0;
        let mut codes = Vec::new();
        while rest[end..].starts_with(b"\\u") {
            let begin = end + 2;
            let braced = rest.get(begin) == Some(&b'{');
            let begin = begin + usize::from(braced);
            let length = digits(begin, if braced { 6 } else { 4 });
            let behind = begin + length;
            let whole =
                if braced { length > 0 && rest.get(behind) == Some(&b'}') } else { length == 4 };
            if !whole {
                self.take(behind);
                return Err(self.error("invalid unicode sequence"));
            }
            codes.push(hexadecimal(&self.text[self.at + begin..self.at + behind]));
            end = behind + usize::from(braced);
        }
        self.take(end);
        let mut high = None;
        for code in codes {
            match (code, high) {
                (0xd800..=0xdbff, None) => high = Some(code),
                (0xd800..=0xdbff, Some(_)) => {
                    return Err(invalid(
                        "Unicode high surrogate must not follow a high surrogate.",
                    ));
                }
                (0xdc00..=0xdfff, Some(first)) => {
                    high = None;
                    push_code(0x10000 + ((first & 0x3ff) << 10) + (code & 0x3ff), out)?;
                }
                (0xdc00..=0xdfff, None) | (_, Some(_)) => return Err(lone_surrogate()),
                (code, None) => push_code(code, out)?,
            }
        }
        if high.is_some() { Err(lone_surrogate()) } else { Ok(()) }
    }

    /// 42601 at the last token.
    #[cold]
    pub fn error(&self, what: &str) -> SqlError {
        let place = match self.near {
            "" => "end".to_owned(),
            near => format!("or near \"{near}\""),
        };
        SqlError::new(SqlState::SYNTAX_ERROR, format!("{what} at {place} of jsonpath input"))
    }
}

/// At most six hexadecimal digits.
fn hexadecimal(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or(0)
}

fn push_code(code: u32, out: &mut ArenaString<'_>) -> Result<()> {
    match char::from_u32(code) {
        Some('\0') => Err(SqlError::new(
            SqlState::UNTRANSLATABLE_CHARACTER,
            "unsupported Unicode escape sequence",
        )
        .detail("\\u0000 cannot be converted to text.")),
        Some(character) => {
            out.push(character);
            Ok(())
        }
        None => Err(SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode code point")),
    }
}

#[cold]
fn lone_surrogate() -> SqlError {
    invalid("Unicode low surrogate must follow a high surrogate.")
}

#[cold]
fn invalid(detail: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type jsonpath")
        .detail(detail)
}
