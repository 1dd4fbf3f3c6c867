//! Queries of operands that `!`, `&`, `|` and parentheses put together, as `intarray` and `ltree` have them: read into postfix
//! order, evaluated and written from there.
//!
//! Operators are put together as PostgreSQL's `makepol` does it: `!` and `&` take what is read next, an `|` behind one that still
//! waits is appended at once.

use crate::depth::descend;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// A part of a query in postfix order.
pub(super) enum Part<T> {
    /// An operand.
    Operand(T),
    /// `!`, `&` or `|`.
    Operator(u8),
}

/// What a text is cut into.
pub(super) enum Token<T> {
    /// An operand.
    Operand(T),
    /// `!`, `&` or `|`.
    Operator(u8),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// The end.
    End,
}

/// 42601.
pub(super) fn syntax_error() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "syntax error")
}

/// Reads a query: `next` gives a token, and `waiting` operators at most may wait for operands, else that is `too_deep`.
pub(super) fn parse<T>(
    next: &mut dyn FnMut() -> Result<Token<T>>,
    (waiting, too_deep): (usize, fn() -> SqlError),
) -> Result<Vec<Part<T>>> {
    let mut parts = Vec::new();
    level(next, (waiting, too_deep), &mut parts)?;
    Ok(parts)
}

/// What stands in parentheses, or is all.
fn level<T>(
    next: &mut dyn FnMut() -> Result<Token<T>>,
    limit: (usize, fn() -> SqlError),
    parts: &mut Vec<Part<T>>,
) -> Result<()> {
    let mut waiting: Vec<u8> = Vec::new();
    loop {
        match next()? {
            Token::Operator(b'|') if !waiting.is_empty() => parts.push(Part::Operator(b'|')),
            Token::Operator(operator) => {
                if waiting.len() == limit.0 {
                    return Err(limit.1());
                }
                waiting.push(operator);
                continue;
            }
            Token::Operand(operand) => parts.push(Part::Operand(operand)),
            Token::Open => descend(|| level(next, limit, parts))?,
            Token::Close | Token::End => {
                parts.extend(waiting.into_iter().rev().map(Part::Operator));
                return Ok(());
            }
        }
        while let Some(operator) = waiting.pop_if(|operator| matches!(operator, b'&' | b'!')) {
            parts.push(Part::Operator(operator));
        }
    }
}

/// Whether a query is true, where `holds` says which operands are.
pub(super) fn evaluate<T>(parts: &[Part<T>], mut holds: impl FnMut(&T) -> bool) -> bool {
    let mut values: Vec<bool> = Vec::new();
    for part in parts {
        let value = match part {
            Part::Operand(operand) => holds(operand),
            Part::Operator(b'!') => !values.pop().unwrap_or_default(),
            Part::Operator(operator) => {
                let (right, left) =
                    (values.pop().unwrap_or_default(), values.pop().unwrap_or_default());
                if *operator == b'&' { left && right } else { left || right }
            }
        };
        values.push(value);
    }
    values.pop().unwrap_or_default()
}

/// A query as text, where `write` gives that of an operand. Parentheses stand around what `|` puts together within another
/// operator, and around what `!` stands before if that is no operand.
pub(super) fn text<T>(parts: &[Part<T>], write: impl Fn(&T) -> String) -> String {
    let mut texts: Vec<(u8, String)> = Vec::new();
    let within = |(operator, text): (u8, String)| match operator {
        b'|' => format!("( {text} )"),
        _ => text,
    };
    for part in parts {
        let made = match part {
            Part::Operand(operand) => (0, write(operand)),
            Part::Operator(b'!') => match texts.pop().unwrap_or_default() {
                (0, operand) => (b'!', format!("!{operand}")),
                (_, inner) => (b'!', format!("!( {inner} )")),
            },
            Part::Operator(operator) => {
                let (right, left) =
                    (texts.pop().unwrap_or_default(), texts.pop().unwrap_or_default());
                let sign = char::from(*operator);
                (*operator, format!("{} {sign} {}", within(left), within(right)))
            }
        };
        texts.push(made);
    }
    texts.pop().unwrap_or_default().1
}
