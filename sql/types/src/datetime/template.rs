//! The templates of `to_char`, `to_date` and `to_timestamp`, taken apart.
//!
//! PostgreSQL: `formatting.c` (`parse_format`); manual, tables 9.29 and 9.30. A template is cut into keywords, quoted text and other
//! characters. One prefix (`FM` or `TM`) may stand before a keyword and one ending (`TH`, `th`, `SP`) behind it; a prefix
//! before anything else is lost.

use crate::account;

/// What a keyword stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Meridiem {
        dots: bool,
    },
    Era {
        dots: bool,
    },
    Century,
    DayName {
        short: bool,
    },
    DayOfYear,
    IsoDayOfYear,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    /// Digits of a second's fraction; `FF` rather than `MS` or `US`.
    Fraction(u32),
    Millisecond,
    Microsecond,
    Fixed,
    Hour24,
    Hour12,
    IsoWeek,
    IsoYear(u32),
    Julian,
    Minute,
    Month,
    MonthName {
        short: bool,
    },
    Offset,
    Quarter,
    Roman,
    SecondOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    Zone,
    WeekOfYear,
    WeekOfMonth,
    YearWithComma,
    Year(u32),
}

/// All keywords in upper case, a longer one before its beginnings.
const KEYWORDS: &[(&str, Keyword)] = &[
    ("A.D.", Keyword::Era { dots: true }),
    ("B.C.", Keyword::Era { dots: true }),
    ("A.M.", Keyword::Meridiem { dots: true }),
    ("P.M.", Keyword::Meridiem { dots: true }),
    ("AD", Keyword::Era { dots: false }),
    ("BC", Keyword::Era { dots: false }),
    ("AM", Keyword::Meridiem { dots: false }),
    ("PM", Keyword::Meridiem { dots: false }),
    ("CC", Keyword::Century),
    ("DAY", Keyword::DayName { short: false }),
    ("DDD", Keyword::DayOfYear),
    ("DD", Keyword::Day),
    ("DY", Keyword::DayName { short: true }),
    ("D", Keyword::DayOfWeek),
    ("FF1", Keyword::Fraction(1)),
    ("FF2", Keyword::Fraction(2)),
    ("FF3", Keyword::Fraction(3)),
    ("FF4", Keyword::Fraction(4)),
    ("FF5", Keyword::Fraction(5)),
    ("FF6", Keyword::Fraction(6)),
    ("FX", Keyword::Fixed),
    ("HH24", Keyword::Hour24),
    ("HH12", Keyword::Hour12),
    ("HH", Keyword::Hour12),
    ("IDDD", Keyword::IsoDayOfYear),
    ("ID", Keyword::IsoDayOfWeek),
    ("IW", Keyword::IsoWeek),
    ("IYYY", Keyword::IsoYear(4)),
    ("IYY", Keyword::IsoYear(3)),
    ("IY", Keyword::IsoYear(2)),
    ("I", Keyword::IsoYear(1)),
    ("J", Keyword::Julian),
    ("MI", Keyword::Minute),
    ("MM", Keyword::Month),
    ("MONTH", Keyword::MonthName { short: false }),
    ("MON", Keyword::MonthName { short: true }),
    ("MS", Keyword::Millisecond),
    ("OF", Keyword::Offset),
    ("Q", Keyword::Quarter),
    ("RM", Keyword::Roman),
    ("SSSSS", Keyword::SecondOfDay),
    ("SSSS", Keyword::SecondOfDay),
    ("SS", Keyword::Second),
    ("TZH", Keyword::ZoneHour),
    ("TZM", Keyword::ZoneMinute),
    ("TZ", Keyword::Zone),
    ("US", Keyword::Microsecond),
    ("WW", Keyword::WeekOfYear),
    ("W", Keyword::WeekOfMonth),
    ("Y,YYY", Keyword::YearWithComma),
    ("YYYY", Keyword::Year(4)),
    ("YYY", Keyword::Year(3)),
    ("YY", Keyword::Year(2)),
    ("Y", Keyword::Year(1)),
];

/// Which calendar a keyword belongs to; those of the two do not mix in an input template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convention {
    Either,
    Gregorian,
    IsoWeek,
}

impl Keyword {
    /// Whether its text is digits.
    pub fn is_digits(self) -> bool {
        !matches!(
            self,
            Keyword::Meridiem { .. }
                | Keyword::Era { .. }
                | Keyword::DayName { .. }
                | Keyword::MonthName { .. }
                | Keyword::Fixed
                | Keyword::Offset
                | Keyword::Roman
                | Keyword::Zone
                | Keyword::ZoneHour
        )
    }

    pub fn convention(self) -> Convention {
        match self {
            Keyword::DayOfYear
            | Keyword::Day
            | Keyword::DayOfWeek
            | Keyword::Month
            | Keyword::MonthName { .. }
            | Keyword::Roman
            | Keyword::WeekOfYear
            | Keyword::WeekOfMonth
            | Keyword::YearWithComma
            | Keyword::Year(_) => Convention::Gregorian,
            Keyword::IsoDayOfYear
            | Keyword::IsoDayOfWeek
            | Keyword::IsoWeek
            | Keyword::IsoYear(_) => Convention::IsoWeek,
            _ => Convention::Either,
        }
    }
}

/// How a name is written: as the keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Upper,
    Capitalised,
    Lower,
}

/// One piece of a template.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'t> {
    Field(Field<'t>),
    /// White space, not quoted.
    Space(char),
    /// Another character that is neither letter nor digit, not quoted.
    Separator(char),
    /// Any other character.
    Text(char),
}

/// A keyword with what modifies it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'t> {
    pub keyword: Keyword,
    /// As it is written.
    pub name: &'t str,
    pub case: Case,
    /// `FM`.
    pub fill_mode: bool,
    /// `TM`.
    pub translated: bool,
    /// `TH` or `th`.
    pub ordinal: Option<Case>,
}

/// The keyword that a template begins with.
fn keyword(template: &str) -> Option<(Keyword, Case, usize)> {
    let first = *template.as_bytes().first()?;
    KEYWORDS.iter().find_map(|&(text, keyword)| {
        if !first.eq_ignore_ascii_case(&text.as_bytes()[0]) {
            return None;
        }
        let head = template.get(..text.len())?;
        if !head.eq_ignore_ascii_case(text) {
            return None;
        }
        let is_lower = |of: &str| !of.bytes().any(|byte| byte.is_ascii_uppercase());
        let named = matches!(keyword, Keyword::DayName { .. } | Keyword::MonthName { .. });
        let case = if head == text {
            Case::Upper
        } else if is_lower(head) {
            Case::Lower
        } else if named && first == text.as_bytes()[0] && is_lower(&head[1..]) {
            Case::Capitalised
        } else {
            return None;
        };
        Some((keyword, case, text.len()))
    })
}

/// White space as C knows it.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// A printable ASCII character that is neither letter nor digit.
pub(super) fn is_separator(character: char) -> bool {
    character.is_ascii_punctuation()
}

/// Takes a template apart.
pub(super) fn parse(template: &str) -> Vec<Item<'_>> {
    parse_standard(template).0
}

/// Takes a template apart, and finds the first character outside quotes that the SQL standard has no place for.
pub(super) fn parse_standard(template: &str) -> (Vec<Item<'_>>, Option<char>) {
    let mut items = Vec::new();
    let mut foreign = None;
    let mut rest = template;
    while !rest.is_empty() {
        account::insist();
        let (mut fill_mode, mut translated) = (false, false);
        match rest.get(..2) {
            Some("FM" | "fm") => fill_mode = true,
            Some("TM" | "tm") => translated = true,
            _ => {}
        }
        if fill_mode || translated {
            rest = &rest[2..];
        }
        let Some(first) = rest.chars().next() else { break };
        if let Some((keyword, case, length)) = keyword(rest) {
            let name = &rest[..length];
            rest = &rest[length..];
            let mut ordinal = None;
            if let Some(ending @ ("TH" | "th" | "SP")) = rest.get(..2) {
                rest = &rest[2..];
                ordinal = match ending {
                    "TH" => Some(Case::Upper),
                    "th" => Some(Case::Lower),
                    _ => None,
                };
            }
            items.push(Item::Field(Field { keyword, name, case, fill_mode, translated, ordinal }));
        } else if first == '"' {
            rest = quoted(&rest[1..], &mut items);
        } else {
            if !"-./,':; ".contains(first) {
                foreign.get_or_insert(first);
            }
            rest = if rest.starts_with("\\\"") { &rest[1..] } else { rest };
            let character = rest.chars().next().expect("something is left");
            rest = &rest[character.len_utf8()..];
            items.push(if is_separator(character) {
                Item::Separator(character)
            } else if is_space(character) {
                Item::Space(character)
            } else {
                Item::Text(character)
            });
        }
    }
    (items, foreign)
}

/// Takes text up to the closing quote; gives what is behind it.
fn quoted<'t>(text: &'t str, items: &mut Vec<Item<'t>>) -> &'t str {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        let character = match character {
            '"' => return &text[at + 1..],
            '\\' => characters.next().map_or('\\', |(_, escaped)| escaped),
            other => other,
        };
        items.push(Item::Text(character));
    }
    ""
}
