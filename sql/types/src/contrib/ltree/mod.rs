//! `ltree` (PostgreSQL 15 manual, appendix F.23): labels of a place in a tree, and queries over them.
//!
//! All three types are held as their texts. No character of a label sorts before the point between labels, so that the bytes of
//! an ltree sort as `ltree_compare` orders: label by label, a beginning first.

mod functions;
mod lquery;
mod ltxtquery;

pub(crate) use functions::FUNCTIONS;
pub(super) use lquery::TYPE as LQUERY;
pub(super) use ltxtquery::TYPE as LTXTQUERY;

use super::{ContribType, internal, stored};
use crate::error::{Result, SqlError};
use crate::failure::insufficient;
use crate::sqlstate::SqlState;
use crate::text::case::folded;
use crate::{CallContext, Datum, check_text};

/// The most labels of an ltree.
const LEVELS_MAX: usize = 65_535;
/// The most characters of a label.
const LABEL_MAX: usize = 255;

/// How an ltree is read and written.
pub(super) const TYPE: ContribType = ContribType {
    read,
    write: |_, bytes, out| out.extend_from_slice(bytes),
    receive: |context, bytes| read(context, behind_version(bytes, "ltree")?),
    send: send_text,
    ordered: None,
};

/// The version of all binary forms, and the text.
fn send_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(bytes);
}

/// The text behind the version.
fn behind_version<'b>(bytes: &'b [u8], what: &str) -> Result<&'b str> {
    match bytes.split_first().ok_or_else(insufficient)? {
        (1, text) => check_text(text),
        (version, _) => Err(internal(format!("unsupported {what} version number {version}"))),
    }
}

fn is_label(character: char) -> bool {
    character == '_' || character.is_ascii_digit() || character.is_alphabetic()
}

fn syntax_error(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// 42601: what is at a place, counted in characters from 1, is not expected there.
fn unexpected(what: &str, place: usize) -> SqlError {
    syntax_error(format!("{what} syntax error at character {place}"))
}

fn unexpected_end(what: &str) -> SqlError {
    syntax_error(format!("{what} syntax error")).detail("Unexpected end of input.")
}

/// 42601 or 42622 for a label of so many characters that ends before a place.
fn check_label(what: &str, characters: usize, place: usize) -> Result<()> {
    match characters {
        0 => Err(unexpected(what, place).detail("Empty labels are not allowed.")),
        1..=LABEL_MAX => Ok(()),
        _ => {
            let detail = format!(
                "Label length is {characters}, must be at most {LABEL_MAX}, at character {place}."
            );
            Err(SqlError::new(SqlState::NAME_TOO_LONG, "label string is too long").detail(detail))
        }
    }
}

fn check_levels(count: usize, what: &str) -> Result<()> {
    if count <= LEVELS_MAX {
        return Ok(());
    }
    let message = format!("number of {what} ({count}) exceeds the maximum allowed ({LEVELS_MAX})");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    if text.is_empty() {
        return Ok(stored(context, &[]));
    }
    check_levels(text.split('.').count(), "ltree labels")?;
    let mut length = 0;
    for (place, character) in (1..).zip(text.chars()) {
        match character {
            '.' if length == 0 => return Err(unexpected("ltree", place)),
            '.' => {
                check_label("ltree", length, place)?;
                length = 0;
            }
            other if is_label(other) => length += 1,
            _ => return Err(unexpected("ltree", place)),
        }
    }
    if length == 0 {
        return Err(unexpected_end("ltree"));
    }
    check_label("ltree", length, text.chars().count() + 1)?;
    Ok(stored(context, text.as_bytes()))
}

/// The text of a value.
fn text<'a>(datum: &Datum<'a>) -> &'a str {
    std::str::from_utf8(datum.bytea()).unwrap_or("")
}

/// The labels of a value.
fn labels<'a>(datum: &Datum<'a>) -> Vec<&'a str> {
    labels_of(text(datum))
}

fn labels_of(text: &str) -> Vec<&str> {
    if text.is_empty() { Vec::new() } else { text.split('.').collect() }
}

/// A word that labels are held against, with its modifiers.
#[derive(Clone, Debug)]
struct Pattern {
    word: String,
    /// `%`: the parts of the word between underscores are parts of the label.
    parts: bool,
    /// `@`: in any case.
    any_case: bool,
    /// `*`: the label may go on.
    beginning: bool,
}

impl Pattern {
    fn new(word: &str, modifiers: &str) -> Pattern {
        Pattern {
            word: word.to_owned(),
            parts: modifiers.contains('%'),
            any_case: modifiers.contains('@'),
            beginning: modifiers.contains('*'),
        }
    }

    fn text(&self) -> String {
        let modifiers = [(self.parts, '%'), (self.any_case, '@'), (self.beginning, '*')];
        let modifiers = modifiers.into_iter().filter_map(|(set, sign)| set.then_some(sign));
        self.word.chars().chain(modifiers).collect()
    }

    fn matches(&self, label: &str) -> bool {
        if !self.parts {
            return self.is_word(&self.word, label);
        }
        let parts = |text: &'_ str| {
            text.split('_').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let (wanted, given) = (parts(&self.word), parts(label));
        wanted.iter().all(|wanted| given.iter().any(|given| self.is_word(wanted, given)))
    }

    fn is_word(&self, word: &str, given: &str) -> bool {
        let same =
            |word: &str, given: &str| word == given || self.beginning && given.starts_with(word);
        if self.any_case { same(&folded(word), &folded(given)) } else { same(word, given) }
    }
}
