//! Regular expressions: `~`, `regexp_replace`, `substring(... from pattern)` and their family.
//!
//! PostgreSQL's advanced regular expressions (manual, 9.7.3) are translated to the `regex` crate's syntax, as
//! [`translate`](super::translate) says; the embedded options `(?i)` and `***` prefixes are understood. It matches leftmost-first where
//! PostgreSQL matches leftmost-longest: how far a match goes, and its groups, are [`longest`](super::longest)'s business. Each
//! thread keeps the last expressions it compiled.

use super::constraint::understood;
use super::longest::{Groups, Pattern, whole};
use super::translate::{NESTING_MAX, Translated, translate};
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain, Set};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, array, oids};
use regex::RegexBuilder;
use regex_syntax::ParserBuilder;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

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
    (6264, Plain(regexp_like)),
    (2073, Plain(substring)),
    (3396, Plain(first_match)),
    (3397, Plain(first_match)),
    (2763, Set(|c, _, a, emit| all_matches(c, a, emit))),
    (2764, Set(|c, _, a, emit| all_matches(c, a, emit))),
    (2767, Plain(split_to_array)),
    (2768, Plain(split_to_array)),
    (2765, Set(|_, _, a, emit| split_to_rows(a, emit))),
    (2766, Set(|_, _, a, emit| split_to_rows(a, emit))),
];

thread_local! {
    static COMPILED: RefCell<Vec<(String, String, Rc<Pattern>)>> = const { RefCell::new(Vec::new()) };
}

/// How many compiled expressions a thread keeps, PostgreSQL's MAX_CACHED_RES.
const COMPILED_MAX: usize = 32;

/// What an expression may grow to when compiled, bytes.
const COMPILED_BYTES_MAX: usize = 16 << 20;

/// From how many bytes on, or with how many repetitions, a pattern is compiled on a thread of its own.
const WATCHED_BYTES: usize = 256;

/// The longest translation that may be compiled, bytes: a longer one would not fit.
const TRANSLATED_BYTES_MAX: usize = COMPILED_BYTES_MAX / 4;

/// How many such threads there are at most.
const THREADS_MAX: usize = 4;

/// The stack of such a thread, bytes: compilers recurse where groups nest.
const THREAD_STACK: usize = 64 << 20;

/// Compiles a pattern. One that may take long is compiled beside the session, which sees meanwhile whether it is to stop: no
/// compiler asks that. What nobody waits for any more ends by itself, since what it may grow to is bounded.
fn build_watched(pattern: &str, options: &str) -> Result<Pattern> {
    /// Threads that compile.
    static BUILDING: AtomicUsize = AtomicUsize::new(0);
    /// One of them.
    struct Place;
    impl Drop for Place {
        fn drop(&mut self) {
            // Relaxed: only the number counts.
            BUILDING.fetch_sub(1, Relaxed);
        }
    }
    const REST: Duration = Duration::from_millis(5);
    // No translation is much shorter than its pattern: nothing is begun that would not fit, and that nobody could stop.
    if pattern.len() > TRANSLATED_BYTES_MAX {
        return Err(too_complex());
    }
    if pattern.len() < WATCHED_BYTES && !pattern.contains('{') {
        return build(pattern, options);
    }
    while BUILDING.fetch_update(Relaxed, Relaxed, |n| (n < THREADS_MAX).then_some(n + 1)).is_err() {
        account::poll()?;
        thread::sleep(REST);
    }
    let place = Place;
    let (pattern, options) = (pattern.to_owned(), options.to_owned());
    let (done, built) = mpsc::sync_channel(1);
    let compile = move || {
        let _place = place;
        // Nobody waits any more if it cannot be sent.
        let _unheard = done.send(build(&pattern, &options));
    };
    let named = thread::Builder::new().name("regex".to_owned()).stack_size(THREAD_STACK);
    named.spawn(compile).map_err(|error| {
        SqlError::new(SqlState::OUT_OF_MEMORY, format!("could not start a thread: {error}"))
    })?;
    loop {
        match built.recv_timeout(REST) {
            Ok(built) => return built,
            Err(RecvTimeoutError::Timeout) => account::poll()?,
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the compiler of regular expressions has panicked";
                return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
            }
        }
    }
}

/// The compiled form of a pattern under PostgreSQL's option letters (without `g`).
pub(super) fn compile(pattern: &str, options: &str) -> Result<Rc<Pattern>> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(at) = compiled.iter().position(|(p, o, _)| p == pattern && o == options) {
            let found = compiled.remove(at);
            let pattern = Rc::clone(&found.2);
            compiled.insert(0, found);
            return Ok(pattern);
        }
        let built = Rc::new(build_watched(pattern, options)?);
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

    /// What letters say.
    fn of(letters: &str) -> Result<Options> {
        let mut options = Options::PLAIN;
        match letters.chars().find(|letter| !options.follow(*letter)) {
            None => Ok(options),
            Some(letter) => {
                Err(invalid_parameter(format!("invalid regular expression option: \"{letter}\"")))
            }
        }
    }

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
pub(super) fn refused(reason: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_REGULAR_EXPRESSION,
        format!("invalid regular expression: {reason}"),
    )
}

fn build(pattern: &str, letters: &str) -> Result<Pattern> {
    let mut options = Options::of(letters)?;
    if options.literal && (options.extended || options.multi_line || !options.dot_newline) {
        return Err(refused("invalid argument to regex function"));
    }
    let rest = options.follow_prefixes(pattern)?;
    let Options { insensitive, literal, extended, dot_newline, multi_line } = options;
    let translated = match literal {
        true => Translated { text: regex::escape(rest), ..Translated::default() },
        false => translate(rest, dot_newline, extended)?,
    };
    if translated.text.len() > TRANSLATED_BYTES_MAX {
        return Err(too_complex());
    }
    // The pattern's own. Those that can match nothing, as in `(a){0}`, count too.
    let groups = translated.groups.iter().filter(|own| **own > 0).count();
    let too_large = too_complex;
    // A look-around has groups of its own around it.
    let nesting = 2 * NESTING_MAX;
    let parsed = ParserBuilder::new()
        .nest_limit(nesting)
        .case_insensitive(insensitive)
        .dot_matches_new_line(dot_newline)
        .multi_line(multi_line)
        .ignore_whitespace(extended)
        .build()
        .parse(&translated.text);
    if translated.marks > 0 {
        let parsed = parsed.map_err(|error| invalid(&regex::Error::Syntax(error.to_string())))?;
        return understood(parsed, &translated.groups)
            .and_then(|hir| Pattern::constrained(hir, groups, insensitive, COMPILED_BYTES_MAX))
            .ok_or_else(too_large);
    }
    let regex = RegexBuilder::new(&translated.text)
        .nest_limit(nesting)
        .case_insensitive(insensitive)
        .dot_matches_new_line(dot_newline)
        .multi_line(multi_line)
        .ignore_whitespace(extended)
        .size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| invalid(&error))?;
    let mut hir = parsed.map_err(|_| too_large())?;
    if translated.preferences > 0 {
        hir = understood(hir, &translated.groups).ok_or_else(too_large)?;
    }
    Pattern::new(regex, hir, groups, COMPILED_BYTES_MAX).ok_or_else(too_large)
}

/// 2201B for what would be too large, or nests too deep.
#[cold]
pub(super) fn too_complex() -> SqlError {
    refused("regular expression is too complex")
}

#[cold]
fn invalid(error: &regex::Error) -> SqlError {
    let reason = match error {
        regex::Error::CompiledTooBig(_) => return too_complex(),
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

/// The options argument, with `g` taken out.
///
/// # Errors
/// 22023.
pub(super) fn options(text: &str) -> Result<(String, bool)> {
    let letters: String = text.chars().filter(|letter| *letter != 'g').collect();
    Options::of(&letters)?;
    Ok((letters, text.contains('g')))
}

/// Whether a pattern matches in a text, under PostgreSQL's option letters.
///
/// # Errors
/// 2201B, 22023, 0A000.
pub(crate) fn is_match(text: &str, pattern: &str, options: &str) -> Result<bool> {
    compile(pattern, options)?.is_match(text)
}

/// Checks a pattern.
///
/// # Errors
/// As [`is_match`].
pub fn check(pattern: &str, options: &str) -> Result<()> {
    compile(pattern, options).map(|_| ())
}

/// What the first group of a pattern has in its first match in a text, if it has matched; none where the pattern does not
/// match (`pg_ident.conf`).
///
/// # Errors
/// As [`is_match`].
pub fn first_group(pattern: &str, text: &str) -> Result<Option<Option<String>>> {
    let found = compile(pattern, "")?.captures_at(text, 0)?;
    let group = |groups: Groups| groups.get(1).cloned().flatten();
    Ok(found.map(|groups| group(groups).map(|place| text[place].to_owned())))
}

fn matching<'a>(a: &[Datum<'a>], options: &str, negated: bool) -> Result<Datum<'a>> {
    Ok(Datum::Bool(is_match(a[0].text(), a[1].text(), options)? != negated))
}

fn regexp_like<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (letters, global) = options(a[2].text())?;
    if global {
        return Err(invalid_parameter("regexp_like() does not support the \"global\" option"));
    }
    matching(a, &letters, false)
}

fn substring<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let pattern = compile(a[1].text(), "")?;
    // With a group in the pattern, what the first one matched.
    let group = usize::from(pattern.groups() > 0);
    let found = pattern.captures_at(text, 0)?.and_then(|groups| groups[group].clone());
    Ok(found.map_or(Datum::Null, |found| Datum::Text(&text[found])))
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
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()))?;
    if global {
        return Err(invalid_parameter("regexp_match() does not support the \"global\" option")
            .hint("Use the regexp_matches function instead."));
    }
    let text = a[0].text();
    let found = compile(a[1].text(), &letters)?.captures_at(text, 0)?;
    Ok(found.map_or(Datum::Null, |found| groups(context, text, &found)))
}

fn all_matches<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()))?;
    let (text, pattern) = (a[0].text(), compile(a[1].text(), &letters)?);
    for found in pattern.matches(text, 0).take(if global { usize::MAX } else { 1 }) {
        if !emit(&[groups(context, text, &found?)])? {
            break;
        }
    }
    Ok(())
}

/// The parts between matches; one without characters splits nothing off at either end, nor right behind another.
fn parts<'t>(pattern: &Pattern, text: &'t str) -> Result<Vec<&'t str>> {
    let (mut out, mut last) = (Vec::new(), 0);
    for groups in pattern.matches(text, 0) {
        let whole = whole(&groups?);
        if whole.start == text.len() || whole.end <= last {
            continue;
        }
        out.push(&text[last..whole.start]);
        last = whole.end;
    }
    out.push(&text[last..]);
    Ok(out)
}

fn split_pattern(a: &[Datum<'_>], function: &str) -> Result<Rc<Pattern>> {
    let (letters, global) = options(a.get(2).map_or("", |options| options.text()))?;
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
    parts(&pattern, a[0].text())?.into_iter().for_each(|part| builder.push(&Datum::Text(part)));
    Ok(builder.finish(context.arena))
}

fn split_to_rows<'a>(
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let pattern = split_pattern(a, "regexp_split_to_table()")?;
    for part in parts(&pattern, a[0].text())? {
        if !emit(&[Datum::Text(part)])? {
            break;
        }
    }
    Ok(())
}
