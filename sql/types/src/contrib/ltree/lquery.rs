//! `lquery`: a pattern of whole paths. Each of its items stands for one label, or for as many as it says.

use super::{
    LEVELS_MAX, Pattern, behind_version, check_label, check_levels, is_label, send_text,
    syntax_error, unexpected, unexpected_end,
};
use crate::contrib::{ContribType, stored};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account};
use std::fmt::Write;

/// How it is read and written.
pub(crate) const TYPE: ContribType = ContribType {
    read,
    write: |_, bytes, out| out.extend_from_slice(bytes),
    receive: |context, bytes| read(context, behind_version(bytes, "lquery")?),
    send: send_text,
    ordered: None,
};

/// An item of a query.
struct Item {
    /// `!`: labels that none of the words match.
    negated: bool,
    /// The words between `|`; none for `*`.
    words: Vec<Pattern>,
    /// How many labels it stands for, at least and at most.
    count: (usize, usize),
    /// Whether that was said.
    counted: bool,
}

impl Item {
    fn matches(&self, label: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| word.matches(label)) != self.negated
    }

    fn write(&self, out: &mut String) {
        if self.negated {
            out.push('!');
        }
        let words: Vec<String> = self.words.iter().map(Pattern::text).collect();
        out.push_str(if words.is_empty() { "*" } else { "" });
        out.push_str(&words.join("|"));
        if !self.counted && !self.words.is_empty() {
            return;
        }
        let written = match self.count {
            (low, high) if low == high => write!(out, "{{{low}}}"),
            (0, LEVELS_MAX) if self.words.is_empty() => Ok(()),
            (0, LEVELS_MAX) => write!(out, "{{,}}"),
            (0, high) => write!(out, "{{,{high}}}"),
            (low, LEVELS_MAX) => write!(out, "{{{low},}}"),
            (low, high) => write!(out, "{{{low},{high}}}"),
        };
        written.expect("a string takes all");
    }
}

/// Reads a query from left to right.
struct Parser {
    text: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    /// What is here is not expected; at the end it is that that is missing.
    fn unexpected(&self) -> SqlError {
        match self.peek() {
            Some(_) => unexpected("lquery", self.at + 1),
            None => unexpected_end("lquery"),
        }
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn items(&mut self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            account::step();
            items.push(self.item()?);
            match self.peek() {
                None => return Ok(items),
                Some('.') => self.at += 1,
                Some(_) => return Err(self.unexpected()),
            }
        }
    }

    fn item(&mut self) -> Result<Item> {
        let mut item = Item { negated: false, words: Vec::new(), count: (1, 1), counted: false };
        if self.takes('*') {
            item.count = (0, LEVELS_MAX);
        } else {
            item.negated = self.takes('!');
            item.words.push(self.word(item.negated)?);
            while self.takes('|') {
                item.words.push(self.word(false)?);
            }
        }
        if self.takes('{') {
            item.counted = true;
            item.count = self.count()?;
        }
        Ok(item)
    }

    /// A word with its modifiers; where it `may_be_empty`, what ends it says what is wrong.
    fn word(&mut self, may_be_empty: bool) -> Result<Pattern> {
        let start = self.at;
        while self.peek().is_some_and(is_label) {
            self.at += 1;
        }
        let end = self.at;
        if start == end && !may_be_empty {
            return Err(self.unexpected());
        }
        while self.peek().is_some_and(|character| matches!(character, '@' | '*' | '%')) {
            self.at += 1;
        }
        if !matches!(self.peek(), None | Some('|' | '{' | '.')) {
            return Err(self.unexpected());
        }
        check_label("lquery", end - start, end + 1)?;
        let text = |part: &[char]| part.iter().collect::<String>();
        Ok(Pattern::new(&text(&self.text[start..end]), &text(&self.text[end..self.at])))
    }

    /// What stands between braces, of which the first has been taken.
    fn count(&mut self) -> Result<(usize, usize)> {
        let low = match self.peek() {
            Some(',') => None,
            _ => Some(self.number("Low", 0)?),
        };
        if low.is_some() && self.takes('}') {
            return Ok((low.unwrap_or(0), low.unwrap_or(0)));
        }
        if !self.takes(',') {
            return Err(self.unexpected());
        }
        let low = low.unwrap_or(0);
        if self.takes('}') {
            return Ok((low, LEVELS_MAX));
        }
        let high = self.number("High", low)?;
        if self.takes('}') { Ok((low, high)) } else { Err(self.unexpected()) }
    }

    fn number(&mut self, which: &str, low: usize) -> Result<usize> {
        let start = self.at;
        let digits: String =
            self.text[start..].iter().take_while(|digit| digit.is_ascii_digit()).collect();
        if digits.is_empty() {
            return Err(self.unexpected());
        }
        self.at += digits.len();
        // As C reads it: what is too large for 64 bits is the largest, of which 32 bits are kept.
        let number = digits.parse::<i64>().unwrap_or(i64::MAX) as i32;
        let place = start + 1;
        match usize::try_from(number) {
            Ok(number) if number < low => Err(syntax_error("lquery syntax error".into()).detail(format!(
                "Low limit ({low}) is greater than high limit ({number}), at character {place}."
            ))),
            Ok(number) if number <= LEVELS_MAX => Ok(number),
            _ => Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "lquery syntax error").detail(format!(
                "{which} limit ({number}) exceeds the maximum allowed ({LEVELS_MAX}), at character {place}."
            ))),
        }
    }
}

fn parsed(text: &str) -> Result<Vec<Item>> {
    Parser { text: text.chars().collect(), at: 0 }.items()
}

fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    check_levels(text.split('.').count(), "lquery items")?;
    let mut out = String::new();
    for (at, item) in parsed(text)?.iter().enumerate() {
        if at > 0 {
            out.push('.');
        }
        item.write(&mut out);
    }
    Ok(stored(context, out.as_bytes()))
}

/// Whether a path is one of those that a query stands for: which beginnings of the path its first items can take is known for one
/// item after the other.
pub(super) fn matches(labels: &[&str], query: &str) -> Result<bool> {
    let mut taken = vec![false; labels.len() + 1];
    taken[0] = true;
    for item in parsed(query)? {
        let (low, high) = item.count;
        // How many labels that the item matches stand before each place.
        let mut run = 0;
        let runs: Vec<usize> = std::iter::once(0)
            .chain(labels.iter().map(|label| {
                run = if item.matches(label) { run + 1 } else { 0 };
                run
            }))
            .collect();
        let next = account::stepping(0..=labels.len()).map(|end| {
            let longest = runs[end].min(high);
            low <= longest && taken[end - longest..=end - low].contains(&true)
        });
        taken = next.collect();
    }
    Ok(taken[labels.len()])
}
