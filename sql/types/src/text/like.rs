//! LIKE and ILIKE, LIKE of bytea, and what makes a SIMILAR TO pattern a regular expression.
//!
//! PostgreSQL: `like_match.c`, `similar_escape_internal`. `%` stands for any text, `_` for one character, the escape character
//! (`\` unless said otherwise) for the next one itself. The matcher backtracks only to the last `%`, which is enough.

use super::{case, finished, growing};
use crate::account;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (850, Plain(|_, a| like(a, false))),
    (1569, Plain(|_, a| like(a, false))),
    (858, Plain(|_, a| like(a, false))),
    (1571, Plain(|_, a| like(a, false))),
    (1631, Plain(|_, a| like(a, false))),
    (851, Plain(|_, a| like(a, true))),
    (1570, Plain(|_, a| like(a, true))),
    (859, Plain(|_, a| like(a, true))),
    (1572, Plain(|_, a| like(a, true))),
    (1632, Plain(|_, a| like(a, true))),
    (1633, Plain(|_, a| ilike(a, false))),
    (1635, Plain(|_, a| ilike(a, false))),
    (1660, Plain(|_, a| ilike(a, false))),
    (1634, Plain(|_, a| ilike(a, true))),
    (1636, Plain(|_, a| ilike(a, true))),
    (1661, Plain(|_, a| ilike(a, true))),
    (2005, Plain(|_, a| Ok(Datum::Bool(matches_bytes(a[0].bytea(), a[1].bytea())?)))),
    (2006, Plain(|_, a| Ok(Datum::Bool(!matches_bytes(a[0].bytea(), a[1].bytea())?)))),
    (2007, Plain(|_, a| Ok(Datum::Bool(matches_bytes(a[0].bytea(), a[1].bytea())?)))),
    (2008, Plain(|_, a| Ok(Datum::Bool(!matches_bytes(a[0].bytea(), a[1].bytea())?)))),
    (2009, Plain(byte_like_escape)),
    (1637, Plain(like_escape)),
    (1623, Plain(similar_escape)),
    (1986, Plain(similar_escape)),
    (1987, Plain(similar_escape)),
];

fn like<'a>(a: &[Datum<'a>], negated: bool) -> Result<Datum<'a>> {
    Ok(Datum::Bool(matches(a[0].text(), a[1].text())? != negated))
}

fn ilike<'a>(a: &[Datum<'a>], negated: bool) -> Result<Datum<'a>> {
    let [text, pattern] = [0, 1].map(|at| a[at].text().chars().map(case::lower));
    Ok(Datum::Bool(units_match(text, pattern)? != negated))
}

#[cold]
fn trailing_escape() -> SqlError {
    SqlError::new(
        SqlState::INVALID_ESCAPE_SEQUENCE,
        "LIKE pattern must not end with escape character",
    )
}

/// Whether a text matches a LIKE pattern.
///
/// # Errors
/// 22025.
pub fn matches(text: &str, pattern: &str) -> Result<bool> {
    units_match(text.chars(), pattern.chars())
}

/// The same of byte strings: `_` stands for one byte.
fn matches_bytes(bytes: &[u8], pattern: &[u8]) -> Result<bool> {
    units_match(bytes.iter().copied(), pattern.iter().copied())
}

fn units_match<U, I>(text: I, pattern: I) -> Result<bool>
where
    U: From<u8> + PartialEq,
    I: Iterator<Item = U> + Clone,
{
    let is_over = |units: &I| units.clone().next().is_none();
    let (many, one, escape) = (U::from(b'%'), U::from(b'_'), U::from(b'\\'));
    let (mut t, mut p) = (text, pattern);
    // Behind the last `%`: the pattern there, and the text that it has not been tried on.
    let mut retry: Option<(I, I)> = None;
    loop {
        account::step();
        let step = match p.next() {
            Some(unit) if unit == many => {
                if is_over(&t) {
                    return Ok(p.all(|unit| unit == many));
                }
                // With what follows of its kind it takes at least as many units as there are `_`.
                loop {
                    account::step();
                    let mut ahead = p.clone();
                    match ahead.next() {
                        None => return Ok(true),
                        Some(unit) if unit == many => {}
                        Some(unit) if unit == one => {
                            if t.next().is_none() {
                                return Ok(false);
                            }
                        }
                        Some(unit) if unit == escape && is_over(&ahead) => {
                            return Err(trailing_escape());
                        }
                        Some(_) => break,
                    }
                    p = ahead;
                }
                retry = Some((p.clone(), t.clone()));
                true
            }
            Some(unit) if unit == one => t.next().is_some(),
            Some(unit) if unit == escape => match p.next() {
                // PostgreSQL notices only where there is text left to compare with.
                None if is_over(&t) => false,
                None => return Err(trailing_escape()),
                Some(literal) => t.next() == Some(literal),
            },
            Some(literal) => t.next() == Some(literal),
            None if is_over(&t) => return Ok(true),
            None => false,
        };
        if step {
            continue;
        }
        let Some((pattern, remaining)) = &mut retry else { return Ok(false) };
        if remaining.next().is_none() {
            return Ok(false);
        }
        (p, t) = (pattern.clone(), remaining.clone());
    }
}

#[cold]
fn invalid_escape() -> SqlError {
    SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
        .hint("Escape string must be empty or one character.")
}

/// Rewrites a pattern with another escape character (or none) to one with `\`.
fn like_escape<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut out = growing(context);
    if with_backslash(a[0].text().chars(), a[1].text().chars(), |unit| out.push(unit))? {
        return finished(out);
    }
    Ok(a[0])
}

/// The same of byte strings.
fn byte_like_escape<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (pattern, escapes) = (a[0].bytea().iter().copied(), a[1].bytea().iter().copied());
    let mut out = bumpalo::collections::Vec::new_in(context.arena);
    if with_backslash(pattern, escapes, |unit| out.push(unit))? {
        return Ok(Datum::Bytea(out.into_bump_slice()));
    }
    Ok(a[0])
}

/// Hands on the rewritten pattern; false if it may stay as it is.
fn with_backslash<U: From<u8> + PartialEq + Copy>(
    pattern: impl Iterator<Item = U>,
    mut escapes: impl Iterator<Item = U>,
    mut push: impl FnMut(U),
) -> Result<bool> {
    let backslash = U::from(b'\\');
    let escape = escapes.next();
    if escapes.next().is_some() {
        return Err(invalid_escape());
    }
    if escape == Some(backslash) {
        return Ok(false);
    }
    let mut behind_escape = false;
    for unit in account::stepping(pattern) {
        if Some(unit) == escape && !behind_escape {
            push(backslash);
            behind_escape = true;
        } else if unit == backslash {
            push(backslash);
            if !behind_escape {
                push(backslash);
            }
            behind_escape = false;
        } else {
            push(unit);
            behind_escape = false;
        }
    }
    Ok(true)
}

/// Where a place in a pattern stands in brackets.
#[derive(Default)]
struct Bracket {
    /// How many are open: a class by its name, or a collating element, has brackets of its own.
    depth: u32,
    /// 1 behind the first bracket, 2 behind the caret there: at both a closing bracket is a member.
    place: u32,
}

impl Bracket {
    fn follow(&mut self, character: char) {
        match character {
            ']' if self.place > 2 => self.depth -= 1,
            '[' => (self.depth, self.place) = (self.depth + 1, 3),
            '^' => self.place += 1,
            _ => self.place = 3,
        }
    }
}

/// A SIMILAR TO pattern as a regular expression: anchored, `%` and `_` spelled out, what means more in those escaped.
fn similar_escape<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let escape = match a.get(1) {
        // similar_escape takes NULL for the default.
        None | Some(Datum::Null) => Some('\\'),
        Some(text) => {
            let mut escapes = text.text().chars();
            let escape = escapes.next();
            if escapes.next().is_some() {
                return Err(invalid_escape());
            }
            escape
        }
    };
    let mut out = growing(context);
    out.push_str("^(?:");
    let (mut behind_escape, mut bracket, mut separators) = (false, Bracket::default(), 0);
    for character in a[0].text().chars() {
        if behind_escape {
            behind_escape = false;
            if character == '"' && bracket.depth == 0 {
                // What stands before the first separator is as short as can be, what stands behind the second is not told.
                out.push_str(match separators {
                    0 => "){1,1}?(",
                    1 => "){1,1}(?:",
                    _ => {
                        return Err(SqlError::new(
                            SqlState::INVALID_USE_OF_ESCAPE_CHARACTER,
                            "SQL regular expression may not contain more than two escape-double-quote separators",
                        ));
                    }
                });
                separators += 1;
                continue;
            }
            out.push('\\');
            out.push(character);
            bracket.place = 3;
        } else if Some(character) == escape {
            behind_escape = true;
        } else if bracket.depth > 0 {
            if character == '\\' {
                out.push('\\');
            }
            out.push(character);
            bracket.follow(character);
        } else {
            match character {
                '[' => {
                    out.push('[');
                    bracket = Bracket { depth: 1, place: 1 };
                }
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    out.push('\\');
                    out.push(character);
                }
                other => out.push(other),
            }
        }
    }
    out.push_str(")$");
    finished(out)
}

#[cfg(test)]
mod tests {
    use super::matches;
    use proptest::prelude::*;

    /// The definition, by recursion.
    fn model(text: &[char], pattern: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|skip| model(&text[skip..], rest)),
            ['_', rest @ ..] => !text.is_empty() && model(&text[1..], rest),
            [literal, rest @ ..] => text.first() == Some(literal) && model(&text[1..], rest),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(text in "[abé]{0,8}", pattern in "[abé%_]{0,6}") {
            let (t, p): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
            prop_assert_eq!(matches(&text, &pattern), Ok(model(&t, &p)));
        }
    }
}
