//! Takes the text of a date, a time or an interval apart into fields.
//!
//! PostgreSQL: `ParseDateTime`.

use super::word::word;
use crate::account;
use crate::integer::is_space;

/// What a field looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Digits, perhaps with a decimal point.
    Number,
    /// Digits with colons.
    Time,
    /// Numbers or words with `-`, `/` or `.` between them; also the name of a zone with such in it.
    Date,
    /// A word.
    Word,
    /// A word with a sign.
    Special,
    /// A signed number, with what else may stand in a zone or in an interval's field.
    Signed,
}

/// A field: its kind, and its text with words in lower case.
pub type Field = (Kind, String);

/// PostgreSQL's `MAXDATEFIELDS`.
const FIELDS_MAX: usize = 25;

/// How many bytes PostgreSQL has room for in the fields of a date, a time of day, a timestamp and an interval, with one behind
/// each field: `MAXDATELEN`, and what its readers add.
pub(super) const DATE_ROOM: usize = 129;
pub(super) const TIME_ROOM: usize = 129;
pub(super) const TIMESTAMP_ROOM: usize = 153;
pub(super) const INTERVAL_ROOM: usize = 256;

/// Splits a text; none where no date, time or interval looks like it, or where its fields need more than `room` bytes.
/// Punctuation that belongs to no field only ends one.
#[must_use]
pub fn fields(text: &str, room: usize) -> Option<Vec<Field>> {
    let bytes = text.as_bytes();
    let at = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let run = |from: usize, accept: &dyn Fn(u8) -> bool| {
        let behind = account::stepping(&bytes[from.min(bytes.len())..]);
        from + behind.take_while(|&&byte| accept(byte)).count()
    };
    let digits = |from: usize| run(from, &|byte| byte.is_ascii_digit());
    let letters = |from: usize| run(from, &|byte| byte.is_ascii_alphabetic());
    let mut out: Vec<Field> = Vec::new();
    let (mut place, mut used) = (0, 0);
    while place < bytes.len() {
        account::step();
        let start = place;
        let first = bytes[place];
        if is_space(first) {
            place += 1;
            continue;
        }
        if out.len() >= FIELDS_MAX {
            return None;
        }
        let kind = match first {
            b'0'..=b'9' => {
                place = digits(place);
                match at(place) {
                    b':' => {
                        place = run(place, &|byte| byte.is_ascii_digit() || b":.".contains(&byte));
                        Kind::Time
                    }
                    separator @ (b'-' | b'/' | b'.') if at(place + 1).is_ascii_digit() => {
                        place = digits(place + 1);
                        if at(place) == separator {
                            place = run(place, &|byte| byte.is_ascii_digit() || byte == separator);
                            Kind::Date
                        } else if separator == b'.' {
                            Kind::Number
                        } else {
                            Kind::Date
                        }
                    }
                    separator @ (b'-' | b'/' | b'.') => {
                        place = run(place + 1, &|byte| {
                            byte.is_ascii_alphanumeric() || byte == separator
                        });
                        Kind::Date
                    }
                    _ => Kind::Number,
                }
            }
            b'.' => {
                place = digits(place + 1);
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                place = letters(place);
                let joined = match at(place) {
                    b'-' | b'/' | b'.' => true,
                    b'+' | b'0'..=b'9' => word(&text[start..place].to_ascii_lowercase()).is_none(),
                    _ => false,
                };
                if joined {
                    place = run(place, &|byte| {
                        byte.is_ascii_alphanumeric() || b"+-/_.:".contains(&byte)
                    });
                    Kind::Date
                } else {
                    Kind::Word
                }
            }
            b'+' | b'-' => {
                place = run(place + 1, &is_space);
                match at(place) {
                    b'0'..=b'9' => {
                        place = run(place, &|byte| byte.is_ascii_digit() || b":.-".contains(&byte));
                        Kind::Signed
                    }
                    b'a'..=b'z' | b'A'..=b'Z' => {
                        place = letters(place);
                        Kind::Special
                    }
                    _ => return None,
                }
            }
            punctuation if punctuation.is_ascii_punctuation() => {
                place += 1;
                continue;
            }
            _ => return None,
        };
        let taken = text[start..place].chars().filter(|character| !character.is_ascii_whitespace());
        let field: String =
            taken.take(room).map(|character| character.to_ascii_lowercase()).collect();
        if used + field.len() >= room {
            return None;
        }
        used += field.len() + 1;
        out.push((kind, field));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fall_apart_where_they_should() {
        let kinds = |text: &str| {
            fields(text, DATE_ROOM)
                .map(|fields| fields.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>())
        };
        use Kind::*;
        assert_eq!(
            kinds("2024-01-02T10:00:00+02:00"),
            Some(vec![Date, Word, Time, Signed]),
            "the letter begins a time"
        );
        assert_eq!(
            kinds("Jan 2, 2024 5:00 PM EST"),
            Some(vec![Word, Number, Number, Time, Word, Word])
        );
        assert_eq!(kinds("2024-01-02 10:00 Europe/Berlin"), Some(vec![Date, Time, Date]));
        assert_eq!(kinds("8-Jan-1999"), Some(vec![Date]));
        assert_eq!(kinds("1 mon - 1 day"), Some(vec![Number, Word, Signed, Word]));
        assert_eq!(kinds("jan5"), Some(vec![Word, Number]));
        assert_eq!(kinds("p1y"), Some(vec![Date]));
        assert_eq!((kinds("é"), kinds("-.5")), (None, None));
    }
}
