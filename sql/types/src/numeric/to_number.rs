//! `to_number`: a text read as a template says.
//!
//! PostgreSQL: `formatting.c` (`NUM_processor`, `NUM_numpart_from_char`). The template leads: each of its digits takes at most one digit, or
//! the decimal point, from the text; a sign is taken where it can stand; each other character of the template passes
//! over one of the text's, whatever it is. What has been gathered is then read as any numeric is.

use super::Decimal;
use super::stored::Number;
use super::template::{Item, Template};
use super::text;
use crate::account;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[(1777, Plain(to_number))];

fn to_number<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (input, pattern) = (a[0].text(), a[1].text());
    if pattern.is_empty() {
        return Ok(Datum::Null);
    }
    let template = Template::parse(pattern)?;
    for (given, name) in [(template.exponent, "EEEE"), (template.roman, "RN")] {
        if given {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("\"{name}\" not supported for input"),
            ));
        }
    }
    let (number, decimals) = Reader::new(&template, input).read();
    let (scale, shift) = (decimals as i32, template.shift as i32);
    let precision = template.before as i32 + shift + scale;
    let number = text::read(&number, ((precision << 16) | scale) + 4)?;
    let number = match number {
        Number::Finite(value) if template.shifts => {
            let power = Decimal::from_i128(10).power(&Decimal::from_i128(-i128::from(shift)))?;
            Number::Finite(value.multiply(&power).checked()?)
        }
        other => other,
    };
    Ok(Datum::Numeric(number.store(context.arena)))
}

struct Reader<'t> {
    template: &'t Template,
    input: &'t [u8],
    at: usize,
    sign: u8,
    digits: Vec<u8>,
    before: usize,
    behind: usize,
    point: bool,
}

impl<'t> Reader<'t> {
    fn new(template: &'t Template, input: &'t str) -> Reader<'t> {
        Reader {
            template,
            input: input.as_bytes(),
            at: 0,
            sign: b' ',
            digits: Vec::new(),
            before: 0,
            behind: 0,
            point: false,
        }
    }

    /// The number's text, and how many decimals were read.
    fn read(mut self) -> (String, usize) {
        let fill_mode = self.template.fill_mode;
        for &item in account::stepping(self.template.items.iter()) {
            if self.at >= self.input.len() {
                break;
            }
            match item {
                Item::Digit { .. } => {
                    self.number(true);
                    self.at += 1;
                }
                Item::Point => {
                    self.number(false);
                    self.at += 1;
                }
                // Nothing has been written, so no comma is due under FM.
                Item::Comma { .. } if fill_mode => {}
                Item::Comma { .. } => self.at += usize::from(self.current() == b','),
                Item::Currency => self.pass(1),
                Item::Ordinal { .. } => {
                    let none = self.sign == b'#' || self.template.decimal;
                    if !none {
                        self.pass(2);
                    }
                }
                Item::Minus => self.sign_of(b"-"),
                Item::Plus => self.sign_of(b"+"),
                Item::Sign => self.sign_of(b"-+"),
                Item::Roman { .. } | Item::Whole => {}
                Item::Text(_) => self.at = self.next_character(),
            }
        }
        if self.digits.last() == Some(&b'.') {
            self.digits.pop();
        }
        let mut number = String::from(char::from(self.sign));
        number.extend(self.digits.iter().map(|&byte| char::from(byte)));
        (number, self.behind)
    }

    fn current(&self) -> u8 {
        self.input.get(self.at).copied().unwrap_or(0)
    }

    fn next_character(&self) -> usize {
        let mut next = self.at + 1;
        while self.input.get(next).is_some_and(|byte| byte & 0xc0 == 0x80) {
            next += 1;
        }
        next.min(self.input.len())
    }

    /// Passes over characters that are no part of a number.
    fn pass(&mut self, count: usize) {
        for _ in 0..count {
            if self.at >= self.input.len() || b"0123456789.,+-".contains(&self.current()) {
                break;
            }
            self.at = self.next_character();
        }
    }

    fn sign_of(&mut self, signs: &[u8]) {
        if signs.contains(&self.current()) {
            self.sign = self.current();
            self.at += 1;
        } else {
            self.pass(1);
        }
    }

    /// Takes a digit or the point, and signs around them; stays on what was taken last.
    fn number(&mut self, digit: bool) {
        if self.current() == b' ' {
            self.at += 1;
        }
        if self.at >= self.input.len() {
            return;
        }
        if self.sign == b' ' && digit && self.before + self.behind == 0 {
            let bracket = self.template.brackets && self.current() == b'<';
            if self.current() == b'-' || bracket {
                self.sign = b'-';
                self.at += 1;
            } else if self.current() == b'+' {
                self.sign = b'+';
                self.at += 1;
            }
        }
        if self.at >= self.input.len() {
            return;
        }
        let mut taken = false;
        let current = self.current();
        if current.is_ascii_digit() {
            if self.point && self.behind == self.template.behind {
                return;
            }
            self.digits.push(current);
            if self.point {
                self.behind += 1;
            } else {
                self.before += 1;
            }
            taken = true;
        } else if self.template.decimal && !self.point && current == b'.' {
            self.digits.push(b'.');
            self.point = true;
            taken = true;
        }
        if self.sign == b' ' && self.before + self.behind > 0 {
            let next = self.input.get(self.at + 1).copied();
            if self.template.signed && taken && next.is_some_and(|next| !next.is_ascii_digit()) {
                if let Some(sign @ (b'-' | b'+')) = next {
                    self.sign = sign;
                    self.at += 1;
                }
            } else if !taken
                && !self.template.signed
                && (self.template.plus || self.template.minus)
                && matches!(current, b'-' | b'+')
            {
                self.sign = current;
            }
        }
    }
}
