//! `ltxtquery`: words that a path has anywhere, put together by `!`, `&` and `|`.

use super::{Pattern, behind_version, is_label, send_text, syntax_error};
use crate::contrib::boolean_query::{self, Part, Token, evaluate, parse};
use crate::contrib::{ContribType, internal, stored};
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::integer::is_space;
use crate::{CallContext, Datum};

/// How it is read and written.
pub(crate) const TYPE: ContribType = ContribType {
    read,
    write: |_, bytes, out| out.extend_from_slice(bytes),
    receive: |context, bytes| read(context, behind_version(bytes, "ltxtquery")?),
    send: send_text,
    ordered: None,
};

fn read<'a>(context: &CallContext<'a>, query: &str) -> Result<Datum<'a>> {
    let text = boolean_query::text(&parsed(query)?, Pattern::text);
    Ok(stored(context, text.as_bytes()))
}

fn too_deep() -> SqlError {
    internal("stack too short")
}

fn parsed(query: &str) -> Result<Vec<Part<Pattern>>> {
    /// How many operators may wait for operands.
    const WAITING_MAX: usize = 32;
    let mut rest = query;
    let (mut open, mut operand_next) = (0, true);
    let mut next = || {
        let is_blank =
            |c: char| if operand_next { c.is_ascii() && is_space(c as u8) } else { c == ' ' };
        rest = rest.trim_start_matches(is_blank);
        let mut characters = rest.chars();
        let first = characters.next();
        if operand_next {
            return match first {
                Some('!') => {
                    rest = characters.as_str();
                    Ok(Token::Operator(b'!'))
                }
                Some('(') => {
                    (rest, open) = (characters.as_str(), open + 1);
                    Ok(Token::Open)
                }
                Some(first) if is_label(first) => {
                    let word = rest.trim_start_matches(is_label);
                    let modified = word.trim_start_matches(['%', '@', '*']);
                    let (word, modifiers) =
                        (&rest[..rest.len() - word.len()], &word[..word.len() - modified.len()]);
                    if !modifiers.is_empty() && modified.starts_with(is_label) {
                        return Err(syntax_error("modifiers syntax error".into()));
                    }
                    (rest, operand_next) = (modified, false);
                    if word.len() > 0xff {
                        return Err(match word.len() {
                            ..=0xffff => invalid_parameter("operand is too long"),
                            _ => invalid_parameter("word is too long"),
                        });
                    }
                    Ok(Token::Operand(Pattern::new(word, modifiers)))
                }
                _ => Err(syntax_error("operand syntax error".into())),
            };
        }
        match first {
            Some(operator @ ('&' | '|')) => {
                (rest, operand_next) = (characters.as_str(), true);
                Ok(Token::Operator(operator as u8))
            }
            Some(')') if open > 0 => {
                (rest, open) = (characters.as_str(), open - 1);
                Ok(Token::Close)
            }
            None if open == 0 => Ok(Token::End),
            _ => Err(boolean_query::syntax_error()),
        }
    };
    parse(&mut next, (WAITING_MAX, too_deep))
}

/// Whether a query is true of a path.
pub(super) fn matches(labels: &[&str], query: &str) -> Result<bool> {
    let query = parsed(query)?;
    Ok(evaluate(&query, |word| labels.iter().any(|label| word.matches(label))))
}
