//! `fuzzystrmatch` (PostgreSQL 15 manual, appendix F.17): how far texts are from one another, and codes of how words sound.
//!
//! The codes look at ASCII letters alone. Double Metaphone (Lawrence Philips, *The Double Metaphone Search Algorithm*, C/C++
//! Users Journal 18(6), 2000) is that of the crate `rphonetic`.

mod metaphone;

use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, arena_text};
use rphonetic::DoubleMetaphone;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_570, Plain(|_, a| levenshtein(a, [1, 1, 1], None))),
    (14_571, Plain(|_, a| levenshtein(a, costs(a), None))),
    (14_572, Plain(|_, a| levenshtein(a, [1, 1, 1], Some(a[2].int4())))),
    (14_573, Plain(|_, a| levenshtein(a, costs(a), Some(a[5].int4())))),
    (14_574, Plain(metaphone)),
    (14_575, Plain(soundex)),
    (14_576, Plain(soundex)),
    (14_577, Plain(difference)),
    (14_578, Plain(|c, a| Ok(double_metaphone(c, a, false)))),
    (14_579, Plain(|c, a| Ok(double_metaphone(c, a, true)))),
];

/// The costs of an insertion, a deletion and a substitution.
fn costs(a: &[Datum<'_>]) -> [i32; 3] {
    [a[2].int4(), a[3].int4(), a[4].int4()]
}

/// The least cost that makes the first text the second one; where that is more than `limit`, one more than that.
fn levenshtein(
    a: &[Datum<'_>],
    [insertion, deletion, substitution]: [i32; 3],
    limit: Option<i32>,
) -> Result<Datum<'static>> {
    /// The most characters that a text may have.
    const CHARACTERS_MAX: usize = 255;
    let characters = |text: &Datum<'_>| text.text().chars().collect::<Vec<char>>();
    let (source, target) = (characters(&a[0]), characters(&a[1]));
    if source.len() > CHARACTERS_MAX || target.len() > CHARACTERS_MAX {
        return Err(invalid_parameter(format!(
            "levenshtein argument exceeds maximum length of {CHARACTERS_MAX} characters"
        )));
    }
    let times = |count: usize, cost: i32| (count as i32).wrapping_mul(cost);
    if source.is_empty() || target.is_empty() {
        let cost = match source.is_empty() {
            true => times(target.len(), insertion),
            false => times(source.len(), deletion),
        };
        return Ok(Datum::Int4(cost));
    }
    let mut row: Vec<i32> = (0..=source.len()).map(|count| times(count, deletion)).collect();
    for (count, wanted) in (1..).zip(account::stepping(target.iter())) {
        let mut diagonal = row[0];
        row[0] = times(count, insertion);
        for (at, own) in (1..).zip(&source) {
            let same = if own == wanted { 0 } else { substitution };
            let replaced = diagonal.wrapping_add(same);
            let inserted = row[at].wrapping_add(insertion);
            let deleted = row[at - 1].wrapping_add(deletion);
            diagonal = row[at];
            row[at] = replaced.min(inserted).min(deleted);
        }
    }
    let cost = row[source.len()];
    Ok(Datum::Int4(match limit {
        Some(limit) if limit >= 0 && cost > limit => limit.wrapping_add(1),
        _ => cost,
    }))
}

/// A letter and three digits; nothing of a text without a letter.
fn soundex_of(text: &str) -> String {
    let code = |byte: u8| match byte.to_ascii_uppercase() {
        letter @ b'A'..=b'Z' => b"01230120022455012623010202"[usize::from(letter - b'A')],
        other => other,
    };
    let Some(start) = text.bytes().position(|byte| byte.is_ascii_alphabetic()) else {
        return String::new();
    };
    let letters = &text.as_bytes()[start..];
    let mut out = String::from(char::from(letters[0].to_ascii_uppercase()));
    for pair in account::stepping(letters.windows(2)) {
        let (before, own) = (code(pair[0]), code(pair[1]));
        if pair[1].is_ascii_alphabetic() && own != before && own != b'0' {
            out.push(char::from(own));
            if out.len() == 4 {
                break;
            }
        }
    }
    format!("{out:0<4}")
}

fn soundex<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Text(arena_text(context, soundex_of(a[0].text()).as_bytes())))
}

/// How many places of two codes agree.
fn difference<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let padded = |text: &Datum<'_>| format!("{:\0<4}", soundex_of(text.text()));
    let (first, second) = (padded(&a[0]), padded(&a[1]));
    let agreeing = first.bytes().zip(second.bytes()).filter(|(a, b)| a == b).count();
    Ok(Datum::Int4(agreeing as i32))
}

fn metaphone<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    /// The longest word and the longest code, in bytes.
    const BYTES_MAX: usize = 255;
    let word = a[0].text();
    if word.is_empty() {
        return Ok(Datum::Text(""));
    }
    if word.len() > BYTES_MAX {
        return Err(invalid_parameter(format!(
            "argument exceeds the maximum length of {BYTES_MAX} bytes"
        )));
    }
    let wanted = a[1].int4();
    if wanted > BYTES_MAX as i32 {
        return Err(invalid_parameter(format!(
            "output exceeds the maximum length of {BYTES_MAX} bytes"
        )));
    }
    let Some(wanted) = usize::try_from(wanted).ok().filter(|wanted| *wanted > 0) else {
        return Err(SqlError::new(
            SqlState::ZERO_LENGTH_CHARACTER_STRING,
            "output cannot be empty string",
        ));
    };
    Ok(Datum::Text(arena_text(context, metaphone::code(word, wanted).as_bytes())))
}

/// One of the two codes of a word, of up to four characters.
fn double_metaphone<'a>(context: &CallContext<'a>, a: &[Datum<'a>], alternate: bool) -> Datum<'a> {
    // What is no ASCII letter has no code, but its place, also in front of the word.
    let plain = |byte: u8| match byte {
        b'\t'..=b'\r' | b' ' => ' ',
        b'!'..=b'~' => char::from(byte),
        _ => '.',
    };
    let mut word: String = a[0].text().bytes().map(plain).collect();
    if word.starts_with(' ') {
        word.replace_range(..1, ".");
    }
    let codes = DoubleMetaphone::new(Some(4)).double_metaphone(&word);
    let code = if alternate { codes.alternate() } else { codes.primary() };
    Datum::Text(arena_text(context, code.trim_end().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the crate is not the original: `CH` before S or T at the beginning, which that has as K, and `WICZ` there.
    #[test]
    fn double_metaphone_is_that_of_the_crate() {
        let codes = |word| DoubleMetaphone::new(Some(4)).double_metaphone(word);
        assert_eq!(codes("chthonic").primary(), "X0NK");
        assert_eq!(codes("Wicz").primary(), "AKS");
    }
}
