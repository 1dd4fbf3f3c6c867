//! What a text is known to begin with that a pattern finds: LIKE, a regular expression, `starts_with` (`pattern_fixed_prefix`,
//! `match_pattern_prefix`; `like_support.c`).
//!
//! Texts are kept in the order of their bytes, which is that of their characters, so that all that begin so stand between the
//! beginning and the next text that does not.

use super::functions::Comparison;
use super::scalar::Scalar;
use super::translate::constant;
use crate::bind::Literal;
use crate::types::{Datum, SqlType, oids};

/// LIKE of texts and of names.
const LIKE: [u32; 2] = [850, 858];
/// `~` of texts and of names.
const MATCHES: [u32; 2] = [1254, 79];
/// `^@`.
const STARTS_WITH: u32 = 3696;

/// What is plain of a pattern, from its beginning on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text.
    pub text: String,
    /// It is all that the pattern finds.
    pub whole: bool,
}

impl Pattern {
    /// What lies between these bounds is all that the pattern may find.
    pub fn bounds(&self) -> Vec<(Comparison, Scalar)> {
        let text =
            |text: &str| constant(&Literal::of(&Datum::Text(text)), SqlType::plain(oids::TEXT));
        if self.whole {
            return vec![(Comparison::Equal, text(&self.text))];
        }
        let end = next(&self.text).map(|end| (Comparison::Less, text(&end)));
        [(Comparison::GreaterEqual, text(&self.text))].into_iter().chain(end).collect()
    }
}

/// The value of a condition that finds texts by a parameter.
#[must_use]
pub fn by_parameter(condition: &Scalar) -> Option<&Scalar> {
    let Scalar::Call { callee, arguments, .. } = condition else { return None };
    let finds = [LIKE, MATCHES, [STARTS_WITH; 2]].iter().any(|known| known.contains(&callee.oid));
    match &**arguments {
        [value, Scalar::Parameter(_)] if finds => Some(value),
        _ => None,
    }
}

/// The value and the pattern of a condition that finds texts by one which begins with something plain: a constant, or the
/// value of a parameter that the plan is for.
#[must_use]
pub fn of<'s>(
    condition: &'s Scalar,
    parameter: &dyn Fn(u32) -> Option<Literal>,
) -> Option<(&'s Scalar, Pattern)> {
    let Scalar::Call { callee, arguments, .. } = condition else { return None };
    let [value, pattern] = &**arguments else { return None };
    let given;
    let pattern = match pattern {
        Scalar::Constant(pattern, _) => pattern.get(0),
        Scalar::Parameter(number) => {
            given = parameter(*number)?;
            given.datum()
        }
        _ => return None,
    };
    let Datum::Text(pattern) = pattern else { return None };
    let found = match callee.oid {
        one if LIKE.contains(&one) => of_like(pattern),
        one if MATCHES.contains(&one) => of_regular(pattern),
        STARTS_WITH => Pattern { text: pattern.to_owned(), whole: false },
        _ => return None,
    };
    (found.whole || !found.text.is_empty()).then_some((value, found))
}

fn of_like(pattern: &str) -> Pattern {
    let end = pattern.find(['%', '_', '\\']).unwrap_or(pattern.len());
    Pattern { text: pattern[..end].to_owned(), whole: end == pattern.len() }
}

/// Of `^text` and `^(text`; with `$` behind that it is all.
fn of_regular(pattern: &str) -> Pattern {
    let nothing = Pattern { text: String::new(), whole: false };
    let Some(text) = pattern.strip_prefix('^') else { return nothing };
    let (text, ends) = match text.strip_prefix('(') {
        // A group says what is there if nothing is said of how often it is there.
        Some(text) => match text.split_once(')') {
            Some((_, "" | "$")) => (text, ")$"),
            _ => return nothing,
        },
        None => (text, "$"),
    };
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !plain(c)).unwrap_or(text.len());
    let (mut plain, rest) = text.split_at(end);
    if rest.contains('|') {
        return nothing;
    }
    // What comes next may say how often the last character is there.
    if rest.starts_with(['*', '+', '?', '{']) {
        let last = plain.char_indices().next_back().map_or(0, |(at, _)| at);
        plain = &plain[..last];
    }
    Pattern { text: plain.to_owned(), whole: rest == ends }
}

/// The first text behind all that begin so (`make_greater_string`).
fn next(beginning: &str) -> Option<String> {
    let mut kept = beginning.to_owned();
    while let Some(last) = kept.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            last => char::from_u32(last as u32 + 1),
        };
        if let Some(next) = next {
            kept.push(next);
            return Some(kept);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{next, of_like, of_regular};

    #[test]
    fn what_is_plain_of_a_pattern_is_known() {
        let like = |pattern| {
            let found = of_like(pattern);
            (found.text, found.whole)
        };
        assert_eq!(like("ab%"), ("ab".to_owned(), false));
        assert_eq!(like("a_b"), ("a".to_owned(), false));
        assert_eq!(like("ab"), ("ab".to_owned(), true));
        assert_eq!(like("a\\%"), ("a".to_owned(), false));
        assert_eq!(like("%a"), (String::new(), false));
        let regular = |pattern| {
            let found = of_regular(pattern);
            (found.text, found.whole)
        };
        assert_eq!(regular("^ab"), ("ab".to_owned(), false));
        assert_eq!(regular("^(ab)$"), ("ab".to_owned(), true));
        assert_eq!(regular("^ab$"), ("ab".to_owned(), true));
        assert_eq!(regular("^(ab.*)$"), ("ab".to_owned(), false));
        assert_eq!(regular("^(ab*)$"), ("a".to_owned(), false));
        assert_eq!(regular("^ab|c"), (String::new(), false));
        assert_eq!(regular("^(ab|c)$"), (String::new(), false));
        assert_eq!(regular("^(ab)?c"), (String::new(), false));
        assert_eq!(regular("^(ab(c)?)$"), (String::new(), false));
        assert_eq!(regular("^(ab"), (String::new(), false));
        assert_eq!(regular("ab"), (String::new(), false));
        assert_eq!(regular("^a(b)"), ("a".to_owned(), false));
    }

    #[test]
    fn the_next_text_begins_otherwise() {
        assert_eq!(next("ab").as_deref(), Some("ac"));
        assert_eq!(next("a\u{D7FF}").as_deref(), Some("a\u{E000}"));
        assert_eq!(next("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(next("\u{10FFFF}"), None);
    }
}
