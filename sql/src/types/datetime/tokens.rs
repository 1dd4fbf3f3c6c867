//! Takes the text of a date or time apart, and knows its words.
//!
//! PostgreSQL: `ParseDateTime` and `datetktbl`. A token is a run of digits with what may stand in it (`12:30`, `2024-01-02`,
//! `1.5`), a word, or a signed number (a zone).

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Digits, perhaps with a decimal point.
    Number,
    /// Digits with colons.
    Time,
    /// Digits and perhaps words with `-`, `/` or `.` between them.
    Date,
    /// Letters.
    Word,
    /// A sign and digits with perhaps colons.
    Zone,
    /// A zone's full name: letters with `/`, `_`, `-`, `+` or digits.
    ZoneName,
}

/// A token: its kind, and its text in lower case.
pub type Token = (Kind, String);

/// Splits a text; none where no date or time looks like it.
#[must_use]
pub fn split(text: &str) -> Option<Vec<Token>> {
    /// PostgreSQL's MAXDATEFIELDS.
    const TOKENS_MAX: usize = 25;
    let bytes = text.as_bytes();
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    let run = |from: usize, accept: &dyn Fn(u8) -> bool| {
        from + bytes[from..].iter().take_while(|&&b| accept(b)).count()
    };
    while at < bytes.len() {
        if out.len() >= TOKENS_MAX {
            return None;
        }
        let start = at;
        let byte = bytes[at];
        let kind = if crate::types::integer::is_space(byte) {
            at += 1;
            continue;
        } else if byte.is_ascii_digit() {
            at = run(at, &|b| b.is_ascii_digit());
            match bytes.get(at) {
                Some(b':') => {
                    at = run(at, &|b| b.is_ascii_digit() || b == b':' || b == b'.');
                    Kind::Time
                }
                Some(&separator @ (b'-' | b'/' | b'.')) => {
                    let behind = bytes.get(at + 1).copied().unwrap_or(0);
                    let date = separator != b'.' || {
                        let digits = run(at + 1, &|b| b.is_ascii_digit());
                        bytes.get(digits) == Some(&b'.') || behind.is_ascii_alphabetic()
                    };
                    if date && behind.is_ascii_digit() {
                        // What follows the last digit is a field of its own: `2024-01-02T10:00`, `2024-01-02Z`.
                        at = run(at, &|b| b.is_ascii_digit() || b == separator);
                        Kind::Date
                    } else if date && behind.is_ascii_alphabetic() {
                        at = run(at, &|b| b.is_ascii_alphanumeric() || b == separator);
                        Kind::Date
                    } else {
                        at = run(at, &|b| b.is_ascii_digit() || b == b'.');
                        Kind::Number
                    }
                }
                _ => Kind::Number,
            }
        } else if byte.is_ascii_alphabetic() {
            at = run(at, &|b| b.is_ascii_alphabetic());
            match bytes.get(at) {
                // EST5EDT
                Some(b'0'..=b'9')
                    if at >= start + 3
                        && bytes
                            .get(run(at, &|b| b.is_ascii_digit()))
                            .is_some_and(u8::is_ascii_alphabetic) =>
                {
                    at = run(at, &|b| b.is_ascii_alphanumeric());
                    Kind::ZoneName
                }
                // Jan-08-1999, or a zone's name with a sign or a slash.
                Some(&separator @ (b'-' | b'/' | b'+' | b'_')) if start + 1 < at => {
                    let word = text[start..at].to_ascii_lowercase();
                    if separator != b'+' && separator != b'_' && month(&word).is_some() {
                        at = run(at, &|b| b.is_ascii_alphanumeric() || b == separator);
                        Kind::Date
                    } else if separator == b'-' && !text[at..].contains('/') {
                        Kind::Word
                    } else {
                        at = run(at, &|b| {
                            b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'+' | b'_')
                        });
                        Kind::ZoneName
                    }
                }
                Some(b'.') => {
                    // "Jan. 8"
                    let word = text[start..at].to_ascii_lowercase();
                    out.push((Kind::Word, word));
                    at += 1;
                    continue;
                }
                _ => Kind::Word,
            }
        } else if byte == b'+' || byte == b'-' {
            at += 1;
            at = run(at, &|b| b == b' ');
            if bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at = run(at, &|b| b.is_ascii_digit() || b == b':' || b == b'.' || b == b'-');
                Kind::Zone
            } else if bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
                at = run(at, &|b| b.is_ascii_alphabetic());
                Kind::Word
            } else {
                return None;
            }
        } else if byte.is_ascii_punctuation() {
            at += 1;
            continue;
        } else {
            return None;
        };
        let token = text[start..at].chars().filter(|c| *c != ' ').collect::<String>();
        out.push((kind, token.to_ascii_lowercase()));
    }
    Some(out)
}

/// The month that a word in lower case names.
#[must_use]
pub fn month(word: &str) -> Option<u32> {
    let names = super::output::MONTHS;
    if word == "sept" {
        return Some(9);
    }
    (1..).zip(names).find_map(|(number, name)| {
        (word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3])).then_some(number)
    })
}

/// Whether a word in lower case names a day of the week, which says nothing new.
#[must_use]
pub fn is_weekday(word: &str) -> bool {
    matches!(word, "tues" | "wednes" | "weds" | "thu" | "thur" | "thurs")
        || super::output::DAYS
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]))
}

/// Whether a word in lower case means something of a date or a time (`datetktbl`); names of zones do not count.
#[must_use]
pub fn is_known(word: &str) -> bool {
    const WORDS: [&str; 28] = [
        "ad",
        "allballs",
        "am",
        "at",
        "bc",
        "d",
        "dow",
        "doy",
        "dst",
        "epoch",
        "h",
        "infinity",
        "isodow",
        "isoyear",
        "j",
        "jd",
        "julian",
        "m",
        "mm",
        "now",
        "on",
        "pm",
        "s",
        "t",
        "today",
        "tomorrow",
        "y",
        "yesterday",
    ];
    month(word).is_some() || is_weekday(word) || WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fall_apart_where_they_should() {
        let kinds = |text: &str| {
            split(text).map(|tokens| tokens.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>())
        };
        use Kind::*;
        assert_eq!(kinds("2024-01-02T10:00:00+02:00"), Some(vec![Date, Word, Time, Zone]));
        assert_eq!(
            kinds("Jan 2, 2024 5:00 PM EST"),
            Some(vec![Word, Number, Number, Time, Word, Word])
        );
        assert_eq!(kinds("2024-01-02 10:00 Europe/Berlin"), Some(vec![Date, Time, ZoneName]));
        assert_eq!(kinds("8-Jan-1999"), Some(vec![Date]));
        assert_eq!(kinds("é"), None);
    }
}
