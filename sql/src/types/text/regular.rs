//! Regular expressions: `~`, `regexp_replace`, `substring(... from pattern)` and their family.
//!
//! PostgreSQL's advanced regular expressions (manual, 9.7.3) are translated to the `regex` crate's syntax, which is the same in
//! nearly all that is used: the escapes `\m`, `\M`, `\y`, `\Y`, `\Z` and the embedded options `(?i)` are rewritten, and
//! `***` prefixes understood. What that crate cannot do (back references, look-around) is marked there, as
//! [`constraint`](super::constraint) says. It matches leftmost-first where
//! PostgreSQL matches leftmost-longest: how far a match goes, and its groups, are [`longest`](super::longest)'s business. Each
//! thread keeps the last expressions it compiled.

use super::constraint::{Constraint, understood};
use super::longest::{Groups, Pattern, whole};
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

/// The compiled form of a pattern under PostgreSQL's option letters (without `g`).
pub(super) fn compile(pattern: &str, options: &str) -> Result<Rc<Pattern>> {
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
fn refused(reason: &str) -> SqlError {
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
    // Where in the translation the pattern's own groups are. Those that can match nothing, as in `(a){0}`, are there too.
    let places = translated.groups.iter().zip(1..).filter(|(own, _)| **own > 0);
    let places: Vec<usize> = places.map(|(_, place)| place).collect();
    let too_large = || invalid(&regex::Error::CompiledTooBig(COMPILED_BYTES_MAX));
    let parsed = ParserBuilder::new()
        .case_insensitive(insensitive)
        .dot_matches_new_line(dot_newline)
        .multi_line(multi_line)
        .ignore_whitespace(extended)
        .build()
        .parse(&translated.text);
    if translated.marks > 0 {
        let parsed = parsed.map_err(|error| invalid(&regex::Error::Syntax(error.to_string())))?;
        return understood(parsed, &translated.groups)
            .and_then(|hir| {
                Pattern::constrained(hir, places.len(), insensitive, COMPILED_BYTES_MAX)
            })
            .ok_or_else(too_large);
    }
    let regex = RegexBuilder::new(&translated.text)
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
    Pattern::new(regex, hir, places, COMPILED_BYTES_MAX).ok_or_else(too_large)
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

/// A pattern in the crate's words.
#[derive(Default)]
struct Translated {
    text: String,
    /// How many groups in it stand for constraints.
    marks: usize,
    /// How many say what they prefer.
    preferences: usize,
    /// What each group in it is: which of the pattern's own, from 1, or 0.
    groups: Vec<u32>,
}

impl Translated {
    fn mark(&mut self, constraint: Constraint) {
        self.marks += 1;
        self.groups.push(0);
        self.text.push_str(&constraint.mark(self.marks));
    }
}

/// A place in a translation: behind so much text and so many groups.
#[derive(Clone, Copy, Default)]
struct Place {
    text: usize,
    groups: usize,
}

impl Translated {
    fn place(&self) -> Place {
        Place { text: self.text.len(), groups: self.groups.len() }
    }

    /// Puts what begins at a place into a group that says what it prefers.
    fn prefer(&mut self, from: Place, longest: bool) {
        self.preferences += 1;
        self.groups.insert(from.groups, 0);
        let mark = Constraint::Prefers { longest }.mark(self.preferences);
        self.text.insert_str(from.text, &mark);
        self.text.push(')');
    }
}

/// The groups around a place in a pattern, and those that have ended.
#[derive(Default)]
struct Nesting {
    /// With where they begin.
    open: Vec<(Group, Place)>,
    /// How many of the pattern's own have begun.
    begun: u32,
    /// Which of these have ended.
    ended: Vec<u32>,
}

/// An open group.
enum Group {
    /// One of the pattern's own.
    Capture(u32),
    /// `(?:...)`, and each group within a look-around.
    Plain,
    Look,
}

impl Nesting {
    fn within_look(&self) -> bool {
        self.open.iter().any(|(group, _)| matches!(group, Group::Look))
    }
}

/// What stands before a place in a pattern, as quantifiers see it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// Nothing: a pattern, a group or an alternative begins.
    None,
    Atom,
    /// What has no characters, or has a quantifier already.
    Unfit,
}

/// PostgreSQL's escapes and brackets in the crate's words.
fn translate(pattern: &str, dot_newline: bool, extended: bool) -> Result<Translated> {
    let mut translated = Translated::default();
    let mut nesting = Nesting::default();
    let mut operand = Operand::None;
    // Where the operand begins.
    let mut atom = Place::default();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        let here = translated.place();
        let out = &mut translated.text;
        let mut now = Operand::Atom;
        rest = match character {
            '\\' => {
                if behind.starts_with(['m', 'M', 'y', 'Y', 'Z', 'A']) {
                    now = Operand::Unfit;
                }
                escape(behind, &nesting, &mut translated)?
            }
            '[' => match WORD_EDGES.iter().find(|(edge, _)| rest.starts_with(edge)) {
                Some((edge, meaning)) => {
                    now = Operand::Unfit;
                    out.push_str(meaning);
                    &rest[edge.len()..]
                }
                None => bracket(behind, dot_newline, out)?,
            },
            '#' if extended => {
                now = operand;
                behind.find('\n').map_or("", |end| &behind[end..])
            }
            '(' => {
                now = if rest.starts_with("(?#") { operand } else { Operand::None };
                group(rest, &mut nesting, &mut translated)?
            }
            ')' => {
                out.push(')');
                let (group, begin) = nesting.open.pop().unwrap_or((Group::Plain, here));
                match group {
                    Group::Capture(number) => nesting.ended.push(number),
                    Group::Look => now = Operand::Unfit,
                    Group::Plain => {}
                }
                atom = begin;
                behind
            }
            '*' | '+' | '?' if operand == Operand::Atom => {
                now = Operand::Unfit;
                let lazy = behind.strip_prefix('?');
                out.push(character);
                out.push_str(if lazy.is_some() { "?" } else { "" });
                lazy.unwrap_or(behind)
            }
            '{' if !behind.starts_with(|next: char| next.is_ascii_digit()) => {
                // It bounds a repetition only where a number is behind it.
                out.push_str(r"\{");
                behind
            }
            '{' if operand == Operand::Atom => {
                now = Operand::Unfit;
                let (prefers, behind) = bounds(behind)?;
                let lazy = behind.strip_prefix('?');
                out.push_str(&rest[..rest.len() - lazy.unwrap_or(behind).len()]);
                if prefers {
                    translated.prefer(atom, lazy.is_none());
                }
                lazy.unwrap_or(behind)
            }
            '*' | '+' | '?' | '{' => return Err(refused("quantifier operand invalid")),
            other => {
                now = match other {
                    '|' => Operand::None,
                    '^' | '$' => Operand::Unfit,
                    blank if extended && blank.is_whitespace() => operand,
                    _ => Operand::Atom,
                };
                out.push(other);
                behind
            }
        };
        // A group began before, and comments leave the operand what it was.
        let comment = extended && (character == '#' || character.is_whitespace());
        if now == Operand::Atom && !comment && !matches!(character, '(' | ')') {
            atom = here;
        }
        operand = now;
    }
    Ok(translated)
}

/// The bounds of a repetition, from behind its brace; gives what is behind the other one, and whether it is so many times and no
/// more, but said so that it has a preference: `{2,2}`, and not `{2}`.
fn bounds(text: &str) -> Result<(bool, &str)> {
    let invalid = || refused("invalid repetition count(s)");
    let number = |text: &str| -> Result<u32> {
        text.parse().ok().filter(|count| *count <= REPETITIONS_MAX).ok_or_else(invalid)
    };
    let (inner, behind) = text.split_once('}').ok_or_else(|| refused("braces {} not balanced"))?;
    let prefers = match inner.split_once(',') {
        None => number(inner).map(|_| false)?,
        Some((min, "")) => number(min).map(|_| false)?,
        Some((min, max)) => {
            let (min, max) = (number(min)?, number(max)?);
            if min > max {
                return Err(invalid());
            }
            min == max && min > 0
        }
    };
    Ok((prefers, behind))
}

/// How often a part can be asked for at most.
const REPETITIONS_MAX: u32 = 255;

/// Brackets that match where a word begins or ends.
const WORD_EDGES: [(&str, &str); 2] = [("[[:<:]]", r"\b{start}"), ("[[:>:]]", r"\b{end}")];

/// A group's beginning, or a comment; gives what is behind it.
fn group<'p>(
    pattern: &'p str,
    nesting: &mut Nesting,
    translated: &mut Translated,
) -> Result<&'p str> {
    let here = translated.place();
    if let Some((look, length)) = Constraint::begun(pattern) {
        translated.mark(look);
        nesting.open.push((Group::Look, here));
        return Ok(&pattern[length..]);
    }
    if let Some(behind) = pattern.strip_prefix("(?#") {
        return Ok(behind.split_once(')').map_or("", |(_, rest)| rest));
    }
    if let Some(behind) = pattern.strip_prefix("(?:") {
        nesting.open.push((Group::Plain, here));
        translated.text.push_str("(?:");
        return Ok(behind);
    }
    if pattern.starts_with("(?") {
        return Err(refused("quantifier operand invalid"));
    }
    if nesting.within_look() {
        nesting.open.push((Group::Plain, here));
        translated.text.push_str("(?:");
    } else {
        nesting.begun += 1;
        translated.groups.push(nesting.begun);
        nesting.open.push((Group::Capture(nesting.begun), here));
        translated.text.push('(');
    }
    Ok(&pattern[1..])
}

#[cold]
fn invalid_escape() -> SqlError {
    refused("invalid escape \\ sequence")
}

/// What is behind a backslash outside of brackets; gives what is behind that.
fn escape<'p>(text: &'p str, nesting: &Nesting, translated: &mut Translated) -> Result<&'p str> {
    let character = text.chars().next().ok_or_else(invalid_escape)?;
    let behind = &text[character.len_utf8()..];
    let out = &mut translated.text;
    let edge = match character {
        'm' => r"\b{start}",
        'M' => r"\b{end}",
        'y' => r"\b",
        'Y' => r"\B",
        'Z' => r"\z",
        'A' => r"\A",
        '1'..='9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let number = text[..digits].parse().unwrap_or(u32::MAX);
            if digits > 1 && number > nesting.begun {
                return escaped_character(text, out);
            }
            if nesting.within_look() || !nesting.ended.contains(&number) {
                return Err(refused("invalid backreference number"));
            }
            translated.mark(Constraint::Back(number));
            return Ok(&text[digits..]);
        }
        _ => return escaped_character(text, out),
    };
    out.push_str(edge);
    Ok(behind)
}

/// A character, or a class of them, as it is written behind a backslash anywhere; gives what is behind it.
fn escaped_character<'p>(text: &'p str, out: &mut String) -> Result<&'p str> {
    let character = text.chars().next().ok_or_else(invalid_escape)?;
    let behind = &text[character.len_utf8()..];
    let digits = |text: &str, radix, max| {
        text.chars().take(max).take_while(|digit| digit.is_digit(radix)).count()
    };
    let numbered = |out: &mut String, digits: &str, radix| -> Result<()> {
        let code = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let character = code.ok_or_else(invalid_escape)?;
        out.push_str(&format!(r"\x{{{:x}}}", u32::from(character)));
        Ok(())
    };
    match character {
        'd' | 's' | 'D' | 'S' => {
            let members = if matches!(character, 'd' | 'D') { DIGIT } else { SPACE };
            let negated = if character.is_ascii_uppercase() { "^" } else { "" };
            out.extend(["[", negated, members, "]"]);
        }
        'w' | 'W' | 'n' | 't' | 'r' | 'f' | 'v' | 'a' => out.extend(['\\', character]),
        'b' => out.push_str(r"\x08"),
        'e' => out.push_str(r"\x1b"),
        'B' => out.push_str(r"\\"),
        'c' => {
            let control = behind.chars().next().ok_or_else(invalid_escape)?;
            out.push_str(&format!(r"\x{{{:x}}}", u32::from(control) & 0x1F));
            return Ok(&behind[control.len_utf8()..]);
        }
        'x' | 'u' | 'U' => {
            let wanted = match character {
                'x' => digits(behind, 16, 255).max(1),
                'u' => 4,
                _ => 8,
            };
            if digits(behind, 16, wanted) != wanted {
                return Err(invalid_escape());
            }
            numbered(out, &behind[..wanted], 16)?;
            return Ok(&behind[wanted..]);
        }
        '0'..='9' => {
            let mut count = digits(text, 8, 3);
            // More than a byte has was a digit too many.
            if u32::from_str_radix(&text[..count], 8).is_ok_and(|code| code > 0xFF) {
                count -= 1;
            }
            numbered(out, &text[..count], 8)?;
            return Ok(&text[count..]);
        }
        other if other.is_ascii_alphanumeric() => return Err(invalid_escape()),
        other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
    }
    Ok(behind)
}

/// What is within brackets, from behind the first one; gives what is behind the last one.
fn bracket<'p>(text: &'p str, dot_newline: bool, out: &mut String) -> Result<&'p str> {
    let mut rest = text;
    out.push('[');
    if let Some(behind) = rest.strip_prefix('^') {
        out.push('^');
        rest = behind;
        if !dot_newline {
            // A bracket of its own: a hyphen behind it begins no range.
            out.push_str(r"[\n]");
        }
    }
    if let Some(behind) = rest.strip_prefix(']') {
        out.push_str(r"\]");
        rest = behind;
    }
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        rest = match character {
            ']' => {
                out.push(']');
                return Ok(behind);
            }
            '\\' => escaped_character(behind, out)?,
            '[' if behind.starts_with(':') => {
                // Its end is not the end of the bracket.
                let end = behind.find(":]").map_or(behind.len(), |end| end + 2);
                let (class, behind) = behind.split_at(end);
                let class = class.trim_matches([':', ']']);
                match of_locale(class) {
                    Some(members) => out.push_str(members),
                    None if CLASSES.contains(&class) => out.extend(["[[:", class, ":]]"]),
                    None => return Err(refused("invalid character class")),
                }
                behind
            }
            '[' if behind.starts_with(['.', '=']) => {
                // A character by itself, or all that are equal to it, which is it alone.
                let (mark, inside) = behind.split_at(1);
                let (name, behind) = inside
                    .split_once(&format!("{mark}]"))
                    .ok_or_else(|| refused("brackets [] not balanced"))?;
                if name.chars().count() != 1 {
                    return Err(SqlError::unsupported(
                        "the name of a collating element in a regular expression is",
                    ));
                }
                out.push_str(&regex::escape(name));
                behind
            }
            '[' => {
                out.push_str(r"\[");
                behind
            }
            '&' | '~' => {
                // `&&` and `~~` are operations between classes there.
                out.extend(['\\', character]);
                behind
            }
            // `--` is one, too: here a range up to the hyphen.
            '-' if out.ends_with('-') => {
                out.push_str(r"\-");
                behind
            }
            blank if blank.is_whitespace() || blank == '#' => {
                // The expanded form leaves blanks out, but not in a bracket.
                out.push_str(&format!(r"\x{{{:x}}}", u32::from(blank)));
                behind
            }
            other => {
                out.push(other);
                behind
            }
        };
    }
    Ok(rest)
}

/// The classes of which nothing but ASCII is known.
const CLASSES: [&str; 6] = ["blank", "cntrl", "graph", "print", "punct", "xdigit"];

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
        "word" => r"\w",
        _ => return None,
    })
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
pub(crate) fn check(pattern: &str, options: &str) -> Result<()> {
    compile(pattern, options).map(|_| ())
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
