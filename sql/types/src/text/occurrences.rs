//! Which of a regular expression's matches: `regexp_count`, `regexp_instr`, `regexp_substr`, `regexp_replace`.
//!
//! PostgreSQL: `regexp.c`, `replace_text_regexp`. Arguments are looked at in their order, so that of two that are wrong the
//! first is told.

use super::longest::{Groups, Pattern, whole};
use super::regular::{compile, options};
use super::{ArenaString, byte_of, length};
use crate::error::Result;
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::{CallContext, Datum};
use std::ops::Range;
use std::rc::Rc;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2284, Plain(replace)),
    (2285, Plain(replace)),
    (6251, Plain(replace_from)),
    (6252, Plain(replace_from)),
    (6253, Plain(replace_from)),
    (6254, Plain(count)),
    (6255, Plain(count)),
    (6256, Plain(count)),
    (6257, Plain(position)),
    (6258, Plain(position)),
    (6259, Plain(position)),
    (6260, Plain(position)),
    (6261, Plain(position)),
    (6262, Plain(position)),
    (6265, Plain(substring)),
    (6266, Plain(substring)),
    (6267, Plain(substring)),
    (6268, Plain(substring)),
    (6269, Plain(substring)),
];

/// The number at a place of the arguments, `least` or more.
fn number(a: &[Datum<'_>], at: usize, name: &str, default: i32, least: i32) -> Result<usize> {
    let value = a.get(at).map_or(default, |value| value.int4());
    if value < least {
        return Err(invalid_parameter(format!("invalid value for parameter \"{name}\": {value}")));
    }
    Ok(value as usize)
}

/// The compiled pattern under the flags at a place of the arguments; `g` is not for this function.
fn pattern(a: &[Datum<'_>], flags: usize, function: &str) -> Result<Rc<Pattern>> {
    let (letters, global) = options(a.get(flags).map_or("", |flags| flags.text()))?;
    if global {
        return Err(invalid_parameter(format!(
            "{function}() does not support the \"global\" option"
        )));
    }
    compile(a[1].text(), &letters)
}

/// The byte at which character `start`, from 1, begins; none behind the end.
fn beginning(text: &str, start: usize) -> Option<usize> {
    let at = byte_of(text, start - 1);
    (at < text.len() || length(text) == start - 1).then_some(at)
}

fn count<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let start = number(a, 2, "start", 1, 1)?;
    let pattern = pattern(a, 3, "regexp_count")?;
    let mut count = 0;
    if let Some(from) = beginning(a[0].text(), start) {
        for found in pattern.matches(a[0].text(), from) {
            found?;
            count += 1;
        }
    }
    Ok(Datum::Int4(count))
}

/// The `n`th match, or the group of it; a pattern without groups is its own first.
fn occurrence(
    pattern: &Pattern,
    text: &str,
    start: usize,
    n: usize,
    group: usize,
) -> Result<Option<Range<usize>>> {
    let Some(from) = beginning(text, start) else { return Ok(None) };
    let Some(groups) = pattern.matches(text, from).nth(n - 1).transpose()? else { return Ok(None) };
    let group = if pattern.groups() == 0 && group == 1 { 0 } else { group };
    Ok(groups.get(group).cloned().flatten())
}

fn position<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let start = number(a, 2, "start", 1, 1)?;
    let n = number(a, 3, "n", 1, 1)?;
    let end = number(a, 4, "endoption", 0, 0)?;
    if end > 1 {
        return Err(invalid_parameter(format!("invalid value for parameter \"endoption\": {end}")));
    }
    let group = number(a, 6, "subexpr", 0, 0)?;
    let pattern = pattern(a, 5, "regexp_instr")?;
    let text = a[0].text();
    let found = occurrence(&pattern, text, start, n, group)?;
    let place = found.map(|found| if end == 1 { found.end } else { found.start });
    Ok(Datum::Int4(place.map_or(0, |place| length(&text[..place]) as i32 + 1)))
}

fn substring<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let start = number(a, 2, "start", 1, 1)?;
    let n = number(a, 3, "n", 1, 1)?;
    let group = number(a, 5, "subexpr", 0, 0)?;
    let pattern = pattern(a, 4, "regexp_substr")?;
    let text = a[0].text();
    let found = occurrence(&pattern, text, start, n, group)?;
    Ok(found.map_or(Datum::Null, |found| Datum::Text(&text[found])))
}

fn replace<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let given = a.get(3).map_or("", |options| options.text());
    if given.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(invalid_parameter(format!("invalid regular expression option: \"{}\"", &given[..1]))
            .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly."));
    }
    let (letters, global) = options(given)?;
    let pattern = compile(a[1].text(), &letters)?;
    replaced(context, &pattern, a, 1, usize::from(!global))
}

/// With a start, perhaps which match is meant, and flags: without the number the flag `g` means all.
fn replace_from<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let start = number(a, 3, "start", 1, 1)?;
    let n = number(a, 4, "n", 1, 0)?;
    let (letters, _) = options(a.get(5).map_or("", |flags| flags.text()))?;
    let pattern = compile(a[1].text(), &letters)?;
    replaced(context, &pattern, a, start, n)
}

/// The text with its `n`th match from `start` on replaced; 0 are all.
fn replaced<'a>(
    context: &CallContext<'a>,
    pattern: &Pattern,
    a: &[Datum<'a>],
    start: usize,
    n: usize,
) -> Result<Datum<'a>> {
    let (text, replacement) = (a[0].text(), a[2].text());
    let Some(from) = beginning(text, start) else { return Ok(a[0]) };
    let mut out = super::growing(context);
    let mut last = 0;
    let (skipped, taken) = if n == 0 { (0, usize::MAX) } else { (n - 1, 1) };
    let mut matches = pattern.matches(text, from);
    for _ in 0..skipped {
        if matches.next().transpose()?.is_none() {
            return Ok(a[0]);
        }
    }
    for groups in matches.take(taken) {
        let groups = groups?;
        let whole = whole(&groups);
        out.push_str(&text[last..whole.start]);
        expand(text, &groups, replacement, &mut out);
        last = whole.end;
    }
    out.push_str(&text[last..]);
    super::finished(out)
}

/// `\1` to `\9` and `\&` in a replacement.
fn expand(text: &str, groups: &Groups, replacement: &str, out: &mut ArenaString<'_>) {
    let matched = |group: usize| match groups.get(group) {
        Some(Some(found)) => &text[found.clone()],
        _ => "",
    };
    let mut characters = replacement.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('&') => out.push_str(matched(0)),
            Some(digit @ '1'..='9') => {
                out.push_str(matched(digit as usize - '0' as usize));
            }
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
}
