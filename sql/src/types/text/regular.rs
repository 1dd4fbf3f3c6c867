//! Regular expressions: `~`, `regexp_replace`, `substring(... from pattern)` and their family.
//!
//! PostgreSQL's advanced regular expressions (manual, 9.7.3) are translated to the `regex` crate's syntax, which is the same in
//! nearly all that is used: the escapes `\m`, `\M`, `\y`, `\Y`, `\Z` and the embedded options `(?i)` are rewritten, and
//! `***` prefixes understood. What that crate cannot do (back-references, look-around) is 0A000. It matches leftmost-first where
//! PostgreSQL matches leftmost-longest: how far a match goes, and its groups, are [`longest`](super::longest)'s business. Each
//! thread keeps the last expressions it compiled.

use super::longest::{Groups, Pattern};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::function::Callable::{self, Plain, Set};
use crate::types::{CallContext, Datum, array, oids};
use regex::RegexBuilder;
use regex_syntax::ParserBuilder;
use std::cell::RefCell;
use std::rc::Rc;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1254, Plain(|_, a| matching(a, "", false))),
    (79, Plain(|_, a| matching(a, "", false))),
    (1658, Plain(|_, a| matching(a, "", false))),
    (1256, Plain(|_, a| matching(a, "", true))),
    (1252, Plain(|_, a| matching(a, "", true))),
    (1659, Plain(|_, a| matching(a, "", true))),
    (1238, Plain(|_, a| matching(a, "i", false))),
    (1240, Plain(|_, a| matching(a, "i", false))),
    (1656, Plain(|_, a| matching(a, "i", false))),
    (1239, Plain(|_, a| matching(a, "i", true))),
    (1241, Plain(|_, a| matching(a, "i", true))),
    (1657, Plain(|_, a| matching(a, "i", true))),
    (6263, Plain(|_, a| matching(a, "", false))),
    (6264, Plain(|_, a| matching(a, a[2].text(), false))),
    (2073, Plain(substring)),
    (2284, Plain(replace)),
    (2285, Plain(replace)),
    (3396, Plain(first_match)),
    (3397, Plain(first_match)),
    (2763, Set(|c, _, a, emit| all_matches(c, a, emit))),
    (2764, Set(|c, _, a, emit| all_matches(c, a, emit))),
    (2767, Plain(split_to_array)),
    (2768, Plain(split_to_array)),
    (2765, Set(|_, _, a, emit| split_to_rows(a, emit))),
    (2766, Set(|_, _, a, emit| split_to_rows(a, emit))),
    (6254, Plain(count)),
];

thread_local! {
    static COMPILED: RefCell<Vec<(String, String, Rc<Pattern>)>> = const { RefCell::new(Vec::new()) };
}

/// How many compiled expressions a thread keeps, PostgreSQL's MAX_CACHED_RES.
const COMPILED_MAX: usize = 32;

/// What an expression may grow to when compiled, bytes.
const COMPILED_BYTES_MAX: usize = 16 << 20;

/// The compiled form of a pattern under PostgreSQL's option letters (without `g`).
fn compile(pattern: &str, options: &str) -> Result<Rc<Pattern>> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(at) = compiled.iter().position(|(p, o, _)| p == pattern && o == options) {
            let found = compiled.remove(at);
            let pattern = Rc::clone(&found.2);
            compiled.insert(0, found);
            return Ok(pattern);
        }
        let built = Rc::new(build(pattern, options)?);
        compiled.truncate(COMPILED_MAX - 1);
        compiled.insert(0, (pattern.to_owned(), options.to_owned(), Rc::clone(&built)));
        Ok(built)
    })
}

/// How a pattern is to be taken.
#[derive(Clone, Copy)]
struct Options {
    insensitive: bool,
    /// Each character stands for itself.
    literal: bool,
    /// Blanks and comments may stand between its parts.
    extended: bool,
    /// A dot and a complemented bracket match a newline too.
    dot_newline: bool,
    /// `^` and `$` match at the ends of each line, not only of the text.
    multi_line: bool,
}

impl Options {
    /// Without any letters.
    const PLAIN: Options = Options {
        insensitive: false,
        literal: false,
        extended: false,
        dot_newline: true,
        multi_line: false,
    };

    /// Follows a letter; false if there is no such.
    fn follow(&mut self, letter: char) -> bool {
        match letter {
            'i' => self.insensitive = true,
            'c' => self.insensitive = false,
            'n' | 'm' => (self.dot_newline, self.multi_line) = (false, true),
            'p' => (self.dot_newline, self.multi_line) = (false, false),
            'w' => (self.dot_newline, self.multi_line) = (true, true),
            's' => (self.dot_newline, self.multi_line) = (true, false),
            'q' => self.literal = true,
            'b' | 'e' => self.literal = false,
            'x' => self.extended = true,
            't' => self.extended = false,
            _ => return false,
        }
        true
    }

    /// Follows what stands before a pattern, `***=` or `***:` and `(?letters)`; gives the pattern. A literal has all that in
    /// itself.
    fn follow_prefixes<'p>(&mut self, pattern: &'p str) -> Result<&'p str> {
        if self.literal {
            return Ok(pattern);
        }
        let mut rest = pattern.strip_prefix("***:").unwrap_or(pattern);
        if let Some(behind) = pattern.strip_prefix("***=") {
            (self.literal, rest) = (true, behind);
        } else if let Some(embedded) = rest.strip_prefix("(?")
            && embedded.starts_with(|first: char| first.is_ascii_alphabetic())
        {
            let behind = embedded.trim_start_matches(|letter: char| self.follow(letter));
            rest = behind.strip_prefix(')').ok_or_else(|| refused("invalid embedded option"))?;
        }
        if self.literal {
            *self = Options { literal: true, insensitive: self.insensitive, ..Options::PLAIN };
        }
        Ok(rest)
    }
}

/// 2201B, for this reason.
#[cold]
fn refused(reason: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_REGULAR_EXPRESSION,
        format!("invalid regular expression: {reason}"),
    )
}

fn build(pattern: &str, letters: &str) -> Result<Pattern> {
    let mut options = Options::PLAIN;
    if let Some(letter) = letters.chars().find(|letter| !options.follow(*letter)) {
        return Err(invalid_parameter(format!("invalid regular expression option: \"{letter}\"")));
    }
    if options.literal && (options.extended || options.multi_line || !options.dot_newline) {
        return Err(refused("invalid argument to regex function"));
    }
    let rest = options.follow_prefixes(pattern)?;
    let Options { insensitive, literal, extended, dot_newline, multi_line } = options;
    let translated = if literal { regex::escape(rest) } else { translate(rest, dot_newline)? };
    let regex = RegexBuilder::new(&translated)
        .case_insensitive(insensitive)
        .dot_matches_new_line(dot_newline)
        .multi_line(multi_line)
        .ignore_whitespace(extended)
        .size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| invalid(&error))?;
    let too_large = || invalid(&regex::Error::CompiledTooBig(COMPILED_BYTES_MAX));
    let hir = ParserBuilder::new()
        .case_insensitive(insensitive)
        .dot_matches_new_line(dot_newline)
        .multi_line(multi_line)
        .ignore_whitespace(extended)
        .build()
        .parse(&translated)
        .map_err(|_| too_large())?;
    Pattern::new(regex, hir, COMPILED_BYTES_MAX).ok_or_else(too_large)
}

#[cold]
fn invalid(error: &regex::Error) -> SqlError {
    let reason = match error {
        regex::Error::CompiledTooBig(_) => "regular expression is too complex".to_owned(),
        regex::Error::Syntax(text) => {
            let text = text.to_ascii_lowercase();
            let reason = if text.contains("unclosed group") || text.contains("unopened group") {
                "parentheses () not balanced"
            } else if text.contains("unclosed character class") {
                "brackets [] not balanced"
            } else if text.contains("repetition operator missing") {
                "quantifier operand invalid"
            } else if text.contains("repetition quantifier") || text.contains("invalid repetition")
            {
                "invalid repetition count(s)"
            } else if text.contains("range") {
                "invalid character range"
            } else if text.contains("escape") || text.contains("incomplete") {
                "invalid escape \\ sequence"
            } else {
                "invalid regular expression"
            };
            reason.to_owned()
        }
        other => other.to_string(),
    };
    refused(&reason)
}

/// PostgreSQL's escapes and brackets in the crate's words.
fn translate(pattern: &str, dot_newline: bool) -> Result<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    let mut bracket = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                None => return Err(refused("invalid escape \\ sequence")),
                Some('m') if !bracket => out.push_str(r"\b{start}"),
                Some('M') if !bracket => out.push_str(r"\b{end}"),
                Some('y') if !bracket => out.push_str(r"\b"),
                Some('Y') if !bracket => out.push_str(r"\B"),
                Some('Z') if !bracket => out.push_str(r"\z"),
                Some('A') if !bracket => out.push_str(r"\A"),
                Some(digit @ '1'..='9') if !bracket => {
                    return Err(SqlError::unsupported(format!(
                        "the back-reference \\{digit} in a regular expression is"
                    )));
                }
                Some(class @ ('d' | 's' | 'D' | 'S')) => {
                    let members = if matches!(class, 'd' | 'D') { DIGIT } else { SPACE };
                    let negated = if class.is_ascii_uppercase() { "^" } else { "" };
                    out.extend(["[", negated, members, "]"]);
                }
                Some(class @ ('w' | 'W' | 'n' | 't' | 'r' | 'f' | 'v' | 'a' | 'x' | 'u')) => {
                    out.push('\\');
                    out.push(class);
                }
                Some('e') => out.push_str(r"\x1b"),
                Some('B') => out.push_str(r"\\"),
                Some(other) if other.is_ascii_alphanumeric() => {
                    return Err(refused("invalid escape \\ sequence"));
                }
                Some(other) => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
            },
            '[' if bracket && characters.peek() == Some(&':') => {
                // Its end is not the end of the bracket.
                let mut class = String::new();
                for inner in characters.by_ref() {
                    class.push(inner);
                    if class.len() > 1 && class.ends_with(":]") {
                        break;
                    }
                }
                match of_locale(class.trim_matches([':', ']'])) {
                    Some(members) => out.push_str(members),
                    None => out.extend(["[", &class]),
                }
            }
            '[' if bracket => out.push_str(r"\["),
            '[' => {
                bracket = true;
                out.push('[');
                if characters.peek() == Some(&'^') {
                    out.extend(characters.next());
                    if !dot_newline {
                        // A bracket of its own: a hyphen behind it begins no range.
                        out.push_str(r"[\n]");
                    }
                }
                if characters.peek() == Some(&']') {
                    characters.next();
                    out.push_str(r"\]");
                }
            }
            ']' if bracket => {
                out.push(']');
                bracket = false;
            }
            '&' | '~' if bracket => {
                // `&&` and `~~` are operations between classes there.
                out.push('\\');
                out.push(character);
            }
            blank if bracket && (blank.is_whitespace() || blank == '#') => {
                // The expanded form leaves blanks out, but not in a bracket.
                out.push_str(&format!(r"\x{{{:x}}}", u32::from(blank)));
            }
            '(' if !bracket && characters.peek() == Some(&'?') => {
                let behind: String = characters.clone().skip(1).take(2).collect();
                if behind.starts_with('=') || behind.starts_with('!') || behind.starts_with('<') {
                    return Err(SqlError::unsupported("look-around in a regular expression is"));
                }
                out.push('(');
            }
            // It bounds a repetition only where a number is behind it.
            '{' if !bracket && !characters.peek().is_some_and(char::is_ascii_digit) => {
                out.push_str(r"\{");
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// What `[:digit:]` and `\d` stand for.
const DIGIT: &str = "0-9";

/// What `[:space:]` and `\s` stand for: no space that keeps words together.
const SPACE: &str =
    r"\t-\r \u{1680}\u{2000}-\u{2006}\u{2008}-\u{200a}\u{2028}\u{2029}\u{205f}\u{3000}";

/// The members of a class that knows more than ASCII, as the C library's `C.UTF-8` has it.
fn of_locale(class: &str) -> Option<&'static str> {
    Some(match class {
        // Digits of other scripts are letters there.
        "alpha" => r"\p{Alphabetic}[\p{Nd}--[0-9]]",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "digit" => DIGIT,
        "space" => SPACE,
        _ => return None,
    })
}

/// The options argument, with `g` taken out.
fn options(text: &str) -> (String, bool) {
    (text.chars().filter(|c| *c != 'g').collect(), text.contains('g'))
}

/// Whether a pattern matches in a text, under PostgreSQL's option letters.
///
/// # Errors
/// 2201B, 22023, 0A000.
pub(crate) fn is_match(text: &str, pattern: &str, options: &str) -> Result<bool> {
    Ok(compile(pattern, options)?.is_match(text))
}

/// Checks a pattern.
///
/// # Errors
/// As [`is_match`].
pub(crate) fn check(pattern: &str, options: &str) -> Result<()> {
    compile(pattern, options).map(|_| ())
}

fn matching<'a>(a: &[Datum<'a>], options: &str, negated: bool) -> Result<Datum<'a>> {
    Ok(Datum::Bool(is_match(a[0].text(), a[1].text(), options)? != negated))
}

fn substring<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let pattern = compile(a[1].text(), "")?;
    // With a group in the pattern, what the first one matched.
    let group = usize::from(pattern.groups() > 0);
    let found = pattern.captures_at(text, 0).and_then(|groups| groups[group].clone());
    Ok(found.map_or(Datum::Null, |found| Datum::Text(&text[found])))
}

fn replace<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, replacement) = (a[0].text(), a[2].text());
    let given = a.get(3).map_or("", |options| options.text());
    if given.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(invalid_parameter(format!("invalid regular expression option: \"{}\"", &given[..1]))
            .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly."));
    }
    let (letters, global) = options(given);
    let pattern = compile(a[1].text(), &letters)?;
    let mut out = super::growing(context);
    let mut last = 0;
    for groups in pattern.matches(text).take(if global { usize::MAX } else { 1 }) {
        let whole = groups[0].clone().expect("group 0 is the whole match");
        out.push_str(&text[last..whole.start]);
        expand(text, &groups, replacement, &mut out);
        last = whole.end;
    }
    out.push_str(&text[last..]);
    super::finished(out)
}

/// `\1` to `\9` and `\&` in a replacement.
fn expand(text: &str, groups: &Groups, replacement: &str, out: &mut super::ArenaString<'_>) {
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

/// The groups of a match as an array, or the whole match if there are none.
fn groups<'a>(context: &CallContext<'a>, text: &str, groups: &Groups) -> Datum<'a> {
    let first = usize::from(groups.len() > 1);
    let mut builder = array::Builder::new(oids::TEXT);
    for group in &groups[first..] {
        builder.push(&group.clone().map_or(Datum::Null, |found| Datum::Text(&text[found])));
    }
    builder.finish(context.arena)
}

fn first_match<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()));
    if global {
        return Err(invalid_parameter("regexp_match() does not support the \"global\" option")
            .hint("Use the regexp_matches function instead."));
    }
    let text = a[0].text();
    let found = compile(a[1].text(), &letters)?.captures_at(text, 0);
    Ok(found.map_or(Datum::Null, |found| groups(context, text, &found)))
}

fn all_matches<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()));
    let (text, pattern) = (a[0].text(), compile(a[1].text(), &letters)?);
    for found in pattern.matches(text).take(if global { usize::MAX } else { 1 }) {
        if !emit(&[groups(context, text, &found)])? {
            break;
        }
    }
    Ok(())
}

/// The parts between matches; one without characters splits nothing off at either end, nor right behind another.
fn parts<'t>(pattern: &Pattern, text: &'t str) -> Vec<&'t str> {
    let (mut out, mut last) = (Vec::new(), 0);
    for groups in pattern.matches(text) {
        let whole = groups[0].clone().expect("group 0 is the whole match");
        if whole.start == text.len() || whole.end <= last {
            continue;
        }
        out.push(&text[last..whole.start]);
        last = whole.end;
    }
    out.push(&text[last..]);
    out
}

fn split_pattern(a: &[Datum<'_>], function: &str) -> Result<Rc<Pattern>> {
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()));
    if global {
        return Err(invalid_parameter(format!(
            "{function} does not support the \"global\" option"
        )));
    }
    compile(a[1].text(), &letters)
}

fn split_to_array<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let pattern = split_pattern(a, "regexp_split_to_array()")?;
    let mut builder = array::Builder::new(oids::TEXT);
    parts(&pattern, a[0].text()).into_iter().for_each(|part| builder.push(&Datum::Text(part)));
    Ok(builder.finish(context.arena))
}

fn split_to_rows<'a>(
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let pattern = split_pattern(a, "regexp_split_to_table()")?;
    for part in parts(&pattern, a[0].text()) {
        if !emit(&[Datum::Text(part)])? {
            break;
        }
    }
    Ok(())
}

fn count<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Int4(compile(a[1].text(), "")?.matches(a[0].text()).count() as i32))
}
