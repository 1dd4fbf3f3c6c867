//! PostgreSQL's regular expressions in the words of the `regex` crate, whose syntax is the same in nearly all that is used.
//!
//! Rewritten are the escapes, `\m`, `\M`, `\y`, `\Y`, `\Z` among them, and what is within brackets. What that crate cannot do
//! (back references, look-around, what `{2,2}` prefers) is marked, as [`constraint`](super::constraint) says. Groups are counted as
//! they are written: the crate may find that there is nothing in some.

use super::collating;
use super::constraint::Constraint;
use super::regular::{refused, too_complex};
use crate::account;
use crate::error::{Result, SqlError};

/// A pattern in the crate's words.
#[derive(Default)]
pub(super) struct Translated {
    pub text: String,
    /// How many groups in it stand for constraints.
    pub marks: usize,
    /// How many say what they prefer.
    pub preferences: usize,
    /// What each group in it is: which of the pattern's own, from 1, or 0.
    pub groups: Vec<u32>,
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
    /// How many of them are look-arounds.
    looks: usize,
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
        self.looks > 0
    }
}

/// How deep groups may nest: about where PostgreSQL's stack ends.
pub(super) const NESTING_MAX: u32 = 9_000;

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
pub(super) fn translate(pattern: &str, dot_newline: bool, extended: bool) -> Result<Translated> {
    let mut translated = Translated::default();
    let mut nesting = Nesting::default();
    let mut operand = Operand::None;
    // Where the operand begins.
    let mut atom = Place::default();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        account::poll()?;
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
                if nesting.open.len() >= NESTING_MAX as usize {
                    return Err(too_complex());
                }
                now = if rest.starts_with("(?#") { operand } else { Operand::None };
                group(rest, &mut nesting, &mut translated)?
            }
            ')' => {
                out.push(')');
                let (group, begin) = nesting.open.pop().unwrap_or((Group::Plain, here));
                match group {
                    Group::Capture(number) => nesting.ended.push(number),
                    Group::Look => {
                        nesting.looks -= 1;
                        now = Operand::Unfit;
                    }
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
        nesting.looks += 1;
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
                let element =
                    collating::element(name).ok_or_else(|| refused("invalid collating element"))?;
                out.push_str(&format!(r"\x{{{:x}}}", u32::from(element)));
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
