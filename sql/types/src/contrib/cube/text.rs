//! The text of a cube: `(1, 2),(3, 4)`, with brackets around it or not; a point alone, without parentheses or with them.

use super::{Cube, DIMENSIONS_MAX, too_many_detail};
use crate::error::{Result, SqlError};
use crate::float;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account};

pub(super) fn write(context: &CallContext<'_>, bytes: &[u8], out: &mut Vec<u8>) {
    let cube = Cube::view(bytes);
    let corner = |corner: &[f64], out: &mut Vec<u8>| {
        out.push(b'(');
        for (at, coordinate) in corner.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b", ");
            }
            float::write_f64(*coordinate, context.settings.extra_float_digits, out);
        }
        out.push(b')');
    };
    corner(&cube.first, out);
    if !cube.is_point() {
        out.push(b',');
        corner(&cube.second, out);
    }
}

fn invalid(detail: String) -> SqlError {
    let message = "invalid input syntax for cube";
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message).detail(detail)
}

/// What a text is cut into: numbers, and characters that are none.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Tokens<'t> {
        let mut tokens = Tokens { rest: text };
        tokens.skip_blanks();
        tokens
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
    }

    /// How long the number is that is next; 0 for anything else.
    fn number(&self) -> usize {
        let text = self.rest.as_bytes();
        let starts = |at: usize, word: &str| {
            text.get(at..at + word.len())
                .is_some_and(|own| own.eq_ignore_ascii_case(word.as_bytes()))
        };
        let digits = |at: usize| {
            text[at.min(text.len())..].iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
        for word in ["infinity", "inf"] {
            if starts(sign, word) {
                return sign + word.len();
            }
        }
        if starts(0, "nan") {
            return 3;
        }
        let mut end = sign + digits(sign);
        if text.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            if end == sign && fraction == 0 {
                return 0;
            }
            end += 1 + fraction;
        } else if end == sign {
            return 0;
        }
        if matches!(text.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        end
    }

    /// The length of what is next.
    fn length(&self) -> usize {
        match self.number() {
            0 => self.rest.chars().next().map_or(0, char::len_utf8),
            number => number,
        }
    }

    fn take(&mut self) -> &'t str {
        account::step();
        let (token, rest) = self.rest.split_at(self.length());
        self.rest = rest;
        self.skip_blanks();
        token
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.rest.starts_with(wanted);
        if found {
            self.take();
        }
        found
    }

    fn unexpected(&self) -> SqlError {
        if self.rest.is_empty() {
            return invalid("syntax error at end of input".to_owned());
        }
        // A character of several bytes is shown by its first one in PostgreSQL, which is none: here it is whole.
        invalid(format!("syntax error at or near \"{}\"", &self.rest[..self.length()]))
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.takes(wanted) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn list(&mut self) -> Result<Vec<&'t str>> {
        let mut list = Vec::new();
        loop {
            if self.number() == 0 {
                return Err(self.unexpected());
            }
            list.push(self.take());
            if !self.takes(',') {
                return Ok(list);
            }
        }
    }

    /// What stands in parentheses, of which the first has been seen.
    fn corner(&mut self) -> Result<Vec<&'t str>> {
        self.expect('(')?;
        if self.takes(')') {
            return Ok(Vec::new());
        }
        let list = self.list()?;
        self.expect(')')?;
        Ok(list)
    }
}

pub(super) fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    let mut tokens = Tokens::new(text);
    let bracketed = tokens.takes('[');
    let (first, second) = if bracketed || tokens.rest.starts_with('(') {
        let first = tokens.corner()?;
        let second = if bracketed || tokens.rest.starts_with(',') {
            tokens.expect(',')?;
            Some(tokens.corner()?)
        } else {
            None
        };
        if bracketed {
            tokens.expect(']')?;
        }
        (first, second)
    } else {
        (tokens.list()?, None)
    };
    if !tokens.rest.is_empty() {
        return Err(tokens.unexpected());
    }
    if let Some(second) = second.as_ref().filter(|second| second.len() != first.len()) {
        return Err(invalid(format!(
            "Different point dimensions in ({}) and ({}).",
            first.join(","),
            second.join(",")
        )));
    }
    if first.len() > DIMENSIONS_MAX {
        return Err(invalid(too_many_detail()));
    }
    let numbers = |list: &[&str]| -> Result<Vec<f64>> {
        list.iter().map(|number| float::read_f64(number)).collect()
    };
    let first = numbers(&first)?;
    let cube = match second {
        Some(second) => Cube { second: numbers(&second)?, first },
        None => Cube::point(first),
    };
    Ok(cube.store(context))
}
