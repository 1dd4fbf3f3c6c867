//! `unaccent` (PostgreSQL 15 manual, appendix F.48): texts without accents, by the rules of `unaccent.rules`, which are
//! PostgreSQL's. As a dictionary of text search it is listed only.

use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, arena_text};
use std::collections::HashMap;
use std::sync::LazyLock;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_590, Plain(|c, a| by_dictionary(c, a[0].oid(), a[1].text()))),
    (14_591, Plain(|c, a| Ok(unaccented(c, a[0].text())))),
];

/// The dictionary that comes with the extension.
const DICTIONARY: u32 = 14_595;

/// What is written instead of what, and how many characters that has at most.
static RULES: LazyLock<(HashMap<&'static str, &'static str>, usize)> = LazyLock::new(|| {
    let lines = include_str!("unaccent.rules").lines();
    let rules: HashMap<&str, &str> = lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next().unwrap_or("")))
        })
        .collect();
    let longest = rules.keys().map(|accented| accented.chars().count()).max().unwrap_or(0);
    (rules, longest)
});

fn by_dictionary<'a>(
    context: &CallContext<'a>,
    dictionary: u32,
    text: &'a str,
) -> Result<Datum<'a>> {
    if dictionary == DICTIONARY {
        return Ok(unaccented(context, text));
    }
    Err(SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        "text search dictionaries other than unaccent are not supported",
    ))
}

/// From left to right the longest beginning that there is a rule for is replaced; any other character stays.
fn unaccented<'a>(context: &CallContext<'a>, text: &str) -> Datum<'a> {
    let (rules, longest) = &*RULES;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        account::step();
        let beginnings =
            rest.char_indices().take(*longest).map(|(at, c)| &rest[..at + c.len_utf8()]);
        let rule =
            beginnings.filter_map(|beginning| Some((beginning, *rules.get(beginning)?))).last();
        match rule {
            Some((accented, plain)) => {
                out.push_str(plain);
                rest = &rest[accented.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    Datum::Text(arena_text(context, out.as_bytes()))
}
