//! Names and texts as SQL writes them: names quoted where they have to be, or all of them where the session wants it
//! (`quote_all_identifiers`); and names taken apart again (`parse_ident`).

use crate::account;
use crate::builtin::keywords;
use crate::error::{Notice, Result, Severity, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::integer::is_space;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, array, oids};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The longest name, in bytes: NAMEDATALEN - 1.
pub const NAME_BYTES_MAX: usize = 63;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[(1268, Plain(parse_identifier))];

/// Words that are not plain names: everything that is not class `U` in PostgreSQL's keyword list.
static RESERVED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    keywords().filter(|(_, class, _)| *class != 'U').map(|(word, _, _)| word).collect()
});

thread_local! {
    /// Whether this thread is making a text in which every name is quoted.
    static ALL: Cell<bool> = const { Cell::new(false) };
}

/// Makes a text for somebody, all of its names quoted where `all` says so. What the catalog keeps is made outside.
pub fn quoting<T>(all: bool, make: impl FnOnce() -> T) -> T {
    /// Sets back what was before, also where a panic goes by.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALL.set(self.0);
        }
    }
    let _before = Before(ALL.replace(all));
    make()
}

/// A name as it has to be written in SQL.
#[must_use]
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && account::stepping(name.bytes())
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !ALL.get()
        && !RESERVED.contains(name);
    if plain { name.to_owned() } else { quoted("", name, '"', &['"']) }
}

/// A text between two such characters, with those of `doubled` twice.
fn quoted(prefix: &str, text: &str, quote: char, doubled: &[char]) -> String {
    let mut out = String::with_capacity(prefix.len() + text.len() + 2);
    out.push_str(prefix);
    out.push(quote);
    for stretch in account::stretches(text) {
        for part in account::stepping(stretch.split_inclusive(doubled)) {
            out.push_str(part);
            if let Some(last) = part.chars().next_back()
                && doubled.contains(&last)
            {
                out.push(last);
            }
        }
    }
    out.push(quote);
    out
}

/// A text as a literal.
#[must_use]
pub fn literal(text: &str) -> String {
    if account::stretches(text).any(|stretch| stretch.contains('\\')) {
        quoted("E", text, '\'', &['\'', '\\'])
    } else {
        quoted("", text, '\'', &['\''])
    }
}

/// A text as a constant of a definition: its backslashes stand for themselves.
#[must_use]
pub fn constant(text: &str) -> String {
    quoted("", text, '\'', &['\''])
}

#[cold]
fn no_identifier(text: &str) -> SqlError {
    invalid_parameter(format!("string is not a valid identifier: \"{text}\""))
}

fn begins_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

fn without_space(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// The name at the start of a text, and what is behind it; none if there is no name.
fn first_name<'t>(text: &'t str, whole: &str) -> Result<Option<(String, &'t str)>> {
    let Some(mut rest) = text.strip_prefix('"') else {
        if !text.starts_with(begins_name) {
            return Ok(None);
        }
        let inside = |c: char| {
            account::step();
            begins_name(c) || c.is_ascii_digit() || c == '$'
        };
        let end = text.find(|c| !inside(c)).unwrap_or(text.len());
        return Ok(Some((text[..end].to_ascii_lowercase(), &text[end..])));
    };
    let mut name = String::new();
    loop {
        let Some((part, behind)) = rest.split_once('"') else {
            return Err(no_identifier(whole).detail("String has unclosed double quotes."));
        };
        name.push_str(part);
        let Some(more) = behind.strip_prefix('"') else {
            rest = behind;
            break;
        };
        name.push('"');
        rest = more;
    }
    if name.is_empty() {
        return Err(no_identifier(whole).detail("Quoted identifier must not be empty."));
    }
    Ok(Some((name, rest)))
}

/// The names between dots. What is behind the last one counts only where the second argument says so.
fn parse_identifier<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, strict) = (a[0].text(), a[1].bool());
    let mut names = array::Builder::new(oids::TEXT);
    let mut rest = without_space(text);
    loop {
        let Some((name, behind)) = first_name(rest, text)? else {
            return Err(match () {
                () if rest.starts_with('.') => {
                    no_identifier(text).detail("No valid identifier before \".\".")
                }
                () if !names.is_empty() => {
                    no_identifier(text).detail("No valid identifier after \".\".")
                }
                () => no_identifier(text),
            });
        };
        names.push(&Datum::Text(&name));
        rest = without_space(behind);
        match rest.strip_prefix('.') {
            Some(behind) => rest = without_space(behind),
            None if strict && !rest.is_empty() => return Err(no_identifier(text)),
            None => return Ok(names.finish(context.arena)),
        }
    }
}

/// A name as long as names may be, and what is said where it was longer (`truncate_identifier`).
#[must_use]
pub fn shortened(name: String) -> (String, Option<Notice>) {
    if name.len() <= NAME_BYTES_MAX {
        return (name, None);
    }
    let mut end = NAME_BYTES_MAX;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let cut = name[..end].to_owned();
    let message = format!("identifier \"{name}\" will be truncated to \"{cut}\"");
    let notice = SqlError::new(SqlState::NAME_TOO_LONG, message).severity(Severity::Notice);
    (cut, Some(notice))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for (name, quoted) in [
            ("abc_1", "abc_1"),
            ("Abc", "\"Abc\""),
            ("select", "\"select\""),
            ("name", "name"),
            ("between", "\"between\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("1a", "\"1a\""),
            ("a$", "\"a$\""),
            ("größe", "\"größe\""),
            ("", "\"\""),
        ] {
            assert_eq!(identifier(name), quoted);
        }
        assert_eq!(quoting(true, || identifier("abc_1")), "\"abc_1\"");
        assert_eq!(identifier("abc_1"), "abc_1");
        assert_eq!(literal("a'b\\"), "E'a''b\\\\'");
    }
}
