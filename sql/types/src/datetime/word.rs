//! The words of dates and times.
//!
//! PostgreSQL: `datetktbl`. The names of zones and their abbreviations are not among them.

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A month, from 1.
    Month(i64),
    /// A day of the week, which says nothing new.
    Weekday,
    /// AM or PM.
    Meridiem { afternoon: bool },
    /// AD or BC.
    Era { before_christ: bool },
    /// The transaction's start.
    Now,
    /// A day, counted from today.
    Day(i64),
    /// Midnight in Greenwich.
    Allballs,
    /// 1970-01-01 in Greenwich.
    Epoch,
    /// Later or earlier than all.
    Infinite(bool),
    /// An hour more than the zone has.
    Summer,
    /// The number behind it is a Julian day.
    Julian,
    /// What is behind it is a time.
    Time,
    /// The number behind it is this part.
    Part(Part),
    /// A unit, which no number may have.
    Unit,
    /// Says nothing.
    Filler,
}

/// A part of a date or time that a letter in front of its number names: `y2001m12d27`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Year,
    /// Behind a month and an hour it is the minute.
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// The meaning of a word in lower case.
pub(super) fn word(text: &str) -> Option<Word> {
    Some(match text {
        "sept" => Word::Month(9),
        "tues" | "weds" | "thur" | "thurs" => Word::Weekday,
        "am" | "pm" => Word::Meridiem { afternoon: text == "pm" },
        "ad" | "bc" => Word::Era { before_christ: text == "bc" },
        "now" => Word::Now,
        "yesterday" => Word::Day(-1),
        "today" => Word::Day(0),
        "tomorrow" => Word::Day(1),
        "allballs" => Word::Allballs,
        "epoch" => Word::Epoch,
        "infinity" => Word::Infinite(true),
        "-infinity" => Word::Infinite(false),
        "dst" => Word::Summer,
        "j" | "jd" | "julian" => Word::Julian,
        "t" => Word::Time,
        "y" => Word::Part(Part::Year),
        "m" => Word::Part(Part::Month),
        "d" => Word::Part(Part::Day),
        "h" => Word::Part(Part::Hour),
        "mm" => Word::Part(Part::Minute),
        "s" => Word::Part(Part::Second),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Unit,
        "at" | "on" => Word::Filler,
        _ => return name(text),
    })
}

/// The month or day of the week that a word names in full, or by its first three letters.
fn name(text: &str) -> Option<Word> {
    let names =
        |full: &&str| text.eq_ignore_ascii_case(full) || text.eq_ignore_ascii_case(&full[..3]);
    let month = super::output::MONTHS.iter().zip(1..).find(|(full, _)| names(full));
    let month = month.map(|(_, number)| Word::Month(number));
    month.or_else(|| super::output::DAYS.iter().any(names).then_some(Word::Weekday))
}
