//! What the fields of a date or a time say together.
//!
//! PostgreSQL: `DecodeDateTime` and `DecodeTimeOnly` with `DecodeDate`, `DecodeNumber`, `DecodeNumberField` and
//! `ValidateDate`. The two loops over the fields are one here: for a time alone fewer words count, and a date in one piece
//! only in front of a time or of a zone's name.

use super::calendar::{self, Date, month_length};
use super::clock::{self, Clock};
use super::lexer::{Field, Kind};
use super::parse::Now;
use super::word::{Part, Word, word};
use super::zone::{self, NoDisplacement, Zone};
use super::{DAY, HOUR};
use crate::TimeTz;
use crate::settings::DateOrder;

/// What a text said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    /// `infinity`, `-infinity`.
    Infinite(bool),
    /// A day (from 2000-01-01), a time of day, and seconds east where a zone was given.
    At { day: i64, micros: i64, east: Option<i32> },
}

/// Why a text was not taken.
pub(super) enum Failure {
    /// 22007.
    Syntax,
    /// 22008.
    Field,
    /// 22008 with the hint about DateStyle.
    MonthOrDay,
    /// 22009.
    Displacement,
    /// 22023, with the zone.
    UnknownZone(String),
}

impl From<clock::Failure> for Failure {
    fn from(failure: clock::Failure) -> Failure {
        match failure {
            clock::Failure::Form => Failure::Syntax,
            clock::Failure::Overflow => Failure::Field,
        }
    }
}

pub(super) type Step<T = ()> = std::result::Result<T, Failure>;

/// What has been said, a bit for each; nothing may be said twice.
type Parts = u16;
const YEAR: Parts = 1;
const MONTH: Parts = 1 << 1;
const MONTHDAY: Parts = 1 << 2;
const DATE: Parts = YEAR | MONTH | MONTHDAY;
const DAY_OF_YEAR: Parts = 1 << 3;
const TIME: Parts = HOURS | MINUTES | SECONDS | FRACTION;
const ZONE: Parts = 1 << 5;
/// The zone is one of summer time, by its name or by a word behind it.
const SUMMER: Parts = 1 << 6;
const SUMMER_WORD: Parts = 1 << 7;
const MERIDIEM: Parts = 1 << 8;
const ERA: Parts = 1 << 9;
const WEEKDAY: Parts = 1 << 10;
const SPECIAL: Parts = 1 << 11;
const HOURS: Parts = 1 << 4;
const MINUTES: Parts = 1 << 12;
const SECONDS: Parts = 1 << 13;
const FRACTION: Parts = 1 << 14;

/// What a date with perhaps a time and a zone says.
pub(super) fn moment(now: Now<'_>, fields: &[Field]) -> Step<Moment> {
    let mut decoder = Decoder::decode(now, fields, false)?;
    if let Some(special) = decoder.special {
        return Ok(special);
    }
    decoder.validate()?;
    if decoder.seen & DATE != DATE {
        return Err(Failure::Syntax);
    }
    let (day, micros) = (decoder.days(), decoder.time_of_day());
    let east = match &decoder.rules {
        None if decoder.seen & ZONE != 0 => Some(decoder.east),
        _ if decoder.seen & SUMMER_WORD != 0 => return Err(Failure::Syntax),
        Some(zone) => Some(offset_on(zone, day, micros)),
        None => None,
    };
    Ok(Moment::At { day, micros, east })
}

/// What a time of day says, with its zone where that is asked for: without one it is in the session's, on the day that is
/// named or today.
pub(super) fn time(now: Now<'_>, fields: &[Field], zoned: bool) -> Step<TimeTz> {
    let mut decoder = Decoder::decode(now, fields, true)?;
    decoder.validate()?;
    if !decoder.clock.is_time_of_day() {
        return Err(Failure::Field);
    }
    if decoder.seen & TIME != TIME {
        return Err(Failure::Syntax);
    }
    let micros = decoder.time_of_day();
    let dated = decoder.seen & DATE == DATE;
    let of_session = decoder.seen & ZONE == 0;
    // What depends on the day wants the whole of it, or nothing.
    let changing = of_session || matches!(&decoder.rules, Some(Zone::Named(..)));
    if changing && !dated && decoder.seen & DATE != 0 {
        return Err(Failure::Syntax);
    }
    if decoder.seen & SUMMER_WORD != 0 && (of_session || decoder.rules.is_some()) {
        return Err(Failure::Syntax);
    }
    let east = match &decoder.rules {
        Some(zone) if dated => offset_on(zone, decoder.days(), micros),
        Some(zone @ Zone::Named(..)) => offset_on(zone, calendar::split(now.local().0).0, micros),
        // What a zone's rules make of a time, only a date can tell.
        Some(zone) => zone.always().ok_or(Failure::Syntax)?,
        None if of_session && zoned => {
            let zone = zone::of_session(&now.settings.time_zone);
            let day = if dated { decoder.days() } else { calendar::split(now.local().0).0 };
            offset_on(&zone, day, micros)
        }
        None => decoder.east,
    };
    Ok(TimeTz { micros, west: -east })
}

/// How far a zone is east at a local time. Rules repeat with the calendar, also where no timestamp is as late.
fn offset_on(zone: &Zone, day: i64, micros: i64) -> i32 {
    const CYCLE_DAYS: i64 = 146_097;
    let day = if day > CYCLE_DAYS * 18 { day % CYCLE_DAYS + CYCLE_DAYS * 17 } else { day };
    zone.local_offset(day * DAY + micros)
}

fn displacement(text: &str) -> Step<i32> {
    zone::displacement(text).map_err(|wrong| match wrong {
        NoDisplacement::Form => Failure::Syntax,
        NoDisplacement::Range => Failure::Displacement,
    })
}

/// What `atoi` makes of digits, be they too many.
fn digits(text: &str) -> i64 {
    i64::from(clock::integer(text).map_or(i64::MAX, |(value, _)| value) as i32)
}

struct Decoder<'a> {
    now: Now<'a>,
    /// A time of day alone is wanted.
    time_only: bool,
    seen: Parts,
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    clock: Clock,
    /// Seconds east.
    east: i32,
    /// The zone of a name.
    rules: Option<Zone>,
    /// The year had one or two digits.
    short_year: bool,
    /// The month was a word by itself.
    named_month: bool,
    /// The year is counted as Julian days give it.
    julian: bool,
    before_christ: bool,
    afternoon: Option<bool>,
    /// What the word in front says of the field to come.
    label: Option<Word>,
    /// A moment that has a name, whatever else is said, unless a later word names another day or time.
    special: Option<Moment>,
}

impl<'a> Decoder<'a> {
    fn decode(now: Now<'a>, fields: &[Field], time_only: bool) -> Step<Decoder<'a>> {
        let mut decoder = Decoder {
            now,
            time_only,
            seen: 0,
            year: 0,
            month: 0,
            day: 0,
            day_of_year: 0,
            clock: Clock::default(),
            east: 0,
            rules: None,
            short_year: false,
            named_month: false,
            julian: false,
            before_christ: false,
            afternoon: None,
            label: None,
            special: None,
        };
        for at in 0..fields.len() {
            let parts = decoder.take(fields, at)?;
            if decoder.seen & parts != 0 {
                return Err(Failure::Syntax);
            }
            decoder.seen |= parts;
        }
        // A label with nothing behind it says nothing.
        Ok(decoder)
    }

    /// Takes one of the fields; the parts that it says.
    fn take(&mut self, fields: &[Field], at: usize) -> Step<Parts> {
        let (kind, text) = &fields[at];
        let next = fields.get(at + 1).map(|(kind, _)| *kind);
        let before_name = at == 0 && next.is_some() && fields[fields.len() - 1].0 == Kind::Date;
        match kind {
            // A label says nothing of it then, nor of a time with colons.
            Kind::Date if self.time_only => {
                if before_name || at == 0 && next == Some(Kind::Time) {
                    self.take_date(text)
                } else {
                    self.take_zone_or_time(text)
                }
            }
            Kind::Date => match self.label.take() {
                Some(Word::Time) => self.take_time_with_zone(text),
                Some(Word::Julian) => {
                    let (day, zone) = clock::small(text)?;
                    self.set_julian(day);
                    self.east = displacement(zone)?;
                    Ok(DATE | TIME | ZONE)
                }
                Some(_) => Err(Failure::Syntax),
                // With month and day a zone's name may be meant.
                None if self.seen & (MONTH | MONTHDAY) == MONTH | MONTHDAY => {
                    self.take_zone_or_time(text)
                }
                None => self.take_date(text),
            },
            Kind::Time => {
                if !self.time_only && self.label.take().is_some_and(|label| label != Word::Time) {
                    return Err(Failure::Syntax);
                }
                self.clock = Clock::read(text, false)?;
                let fits = self.clock.is_time_of_day() || self.time_only;
                if !fits || i32::try_from(self.clock.hours).is_err() {
                    return Err(Failure::Field);
                }
                Ok(TIME)
            }
            Kind::Signed => {
                self.east = displacement(text)?;
                Ok(ZONE)
            }
            Kind::Number => match self.label.take() {
                Some(label) => self.take_labelled(label, text),
                None if self.time_only => self.take_time(text, before_name),
                None => self.take_number(text),
            },
            Kind::Word | Kind::Special => self.take_word(text, next),
        }
    }

    // --- Words -------------------------------------------------------------------------------------------------------

    fn take_word(&mut self, text: &str, next: Option<Kind>) -> Step<Parts> {
        // An abbreviation goes before a word.
        if let Some(found) = zone::abbreviation(text) {
            if let Some(changing) = found.changing(text) {
                self.rules = Some(changing);
                return Ok(ZONE);
            }
            self.east = found.east;
            return Ok(if found.summer { ZONE | SUMMER } else { ZONE });
        }
        let Some(word) = word(text) else {
            self.rules = Some(Zone::named(text).ok_or(Failure::Syntax)?);
            return Ok(ZONE);
        };
        match word {
            Word::Filler => Ok(0),
            Word::Allballs => {
                self.clock = Clock::default();
                (self.east, self.special) = (0, None);
                Ok(TIME | ZONE)
            }
            Word::Now => {
                let (local, east) = self.now.local();
                let (day, micros) = calendar::split(local);
                self.clock = Clock::of(micros);
                if self.time_only {
                    return Ok(TIME);
                }
                self.set_date(calendar::date(day));
                (self.east, self.special) = (east, None);
                Ok(DATE | TIME | ZONE)
            }
            Word::Summer => {
                self.east += (HOUR / super::SECOND) as i32;
                Ok(SUMMER_WORD | SUMMER)
            }
            Word::Meridiem { afternoon } => {
                self.afternoon = Some(afternoon);
                Ok(MERIDIEM)
            }
            Word::Era { before_christ } => {
                self.before_christ = before_christ;
                Ok(ERA)
            }
            Word::Julian | Word::Part(_) | Word::Unit => {
                self.label = Some(word);
                Ok(0)
            }
            Word::Time => {
                let dated = self.time_only || self.seen & DATE == DATE;
                if !dated || !matches!(next, Some(Kind::Number | Kind::Time | Kind::Date)) {
                    return Err(Failure::Syntax);
                }
                self.label = Some(word);
                Ok(0)
            }
            Word::Month(_) | Word::Weekday | Word::Day(_) | Word::Epoch | Word::Infinite(_)
                if self.time_only =>
            {
                Err(Failure::Syntax)
            }
            Word::Month(month) => {
                // "1 Jan": the number that was taken for the month is the day.
                let earlier = self.seen & (MONTH | MONTHDAY) == MONTH && !self.named_month;
                let part = if earlier && (1..=31).contains(&self.month) {
                    self.day = self.month;
                    MONTHDAY
                } else {
                    MONTH
                };
                self.named_month = true;
                self.month = month;
                Ok(part)
            }
            Word::Weekday => Ok(WEEKDAY),
            Word::Day(days) => {
                let (today, _) = calendar::split(self.now.local().0);
                self.set_date(calendar::date(today + days));
                self.special = None;
                Ok(DATE)
            }
            Word::Epoch => {
                let day = -calendar::UNIX_DAYS;
                self.special = Some(Moment::At { day, micros: 0, east: Some(0) });
                Ok(SPECIAL)
            }
            Word::Infinite(positive) => {
                self.special = Some(Moment::Infinite(positive));
                Ok(SPECIAL)
            }
        }
    }

    /// A zone's name with more than letters; or digits of a time with a zone behind them.
    fn take_zone_or_time(&mut self, text: &str) -> Step<Parts> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return self.take_time_with_zone(text);
        }
        let unknown = || Failure::UnknownZone(text.to_owned());
        self.rules = Some(Zone::named(text).ok_or_else(unknown)?);
        Ok(ZONE)
    }

    /// `hhmmss-zz`.
    fn take_time_with_zone(&mut self, text: &str) -> Step<Parts> {
        if self.seen & TIME != 0 {
            return Err(Failure::Syntax);
        }
        let sign = text.find('-').ok_or(Failure::Syntax)?;
        self.east = displacement(&text[sign..])?;
        let date = if self.time_only { DATE } else { 0 };
        Ok(self.take_digits(&text[..sign], self.seen | date)? | ZONE)
    }

    // --- Numbers -----------------------------------------------------------------------------------------------------

    /// A number behind a word that says what it is.
    fn take_labelled(&mut self, label: Word, text: &str) -> Step<Parts> {
        let (value, rest) = clock::small(text)?;
        self.special = None;
        let fraction = rest.strip_prefix('.');
        if fraction.is_none() && !rest.is_empty() {
            return Err(Failure::Syntax);
        }
        match (label, fraction) {
            (Word::Julian, None) => {
                self.set_julian(value);
                Ok(DATE)
            }
            (Word::Julian, Some(digits)) if !digits.is_empty() => {
                self.set_julian(value);
                self.clock = Clock::of((clock::fraction(digits)? * DAY as f64) as i64);
                Ok(DATE | TIME)
            }
            (Word::Time, _) => self.take_digits(text, self.seen | DATE),
            (Word::Part(Part::Second), Some(digits)) => {
                (self.clock.seconds, self.clock.micros) =
                    (value, clock::fraction_of_second(digits)?);
                Ok(SECONDS | FRACTION)
            }
            (Word::Part(part), None) => Ok(self.take_named(part, value)),
            _ => Err(Failure::Syntax),
        }
    }

    /// A number behind the letter of its part.
    fn take_named(&mut self, part: Part, value: i64) -> Parts {
        let minutes = MONTH | HOURS;
        let (place, parts) = match part {
            Part::Year => (&mut self.year, YEAR),
            Part::Month if self.seen & minutes == minutes => (&mut self.clock.minutes, MINUTES),
            Part::Month => (&mut self.month, MONTH),
            Part::Day => (&mut self.day, MONTHDAY),
            Part::Hour => (&mut self.clock.hours, HOURS),
            Part::Minute => (&mut self.clock.minutes, MINUTES),
            Part::Second => (&mut self.clock.seconds, SECONDS),
        };
        *place = value;
        parts
    }

    /// A number beside a date's other parts.
    fn take_number(&mut self, text: &str) -> Step<Parts> {
        match text.find('.') {
            Some(_) if self.seen & DATE == 0 => self.take_date(text),
            Some(point) if point > 2 => self.take_digits(text, self.seen),
            // Years of so many digits stand behind the rest.
            _ if text.len() >= 6 && (self.seen & DATE == 0 || self.seen & TIME == 0) => {
                self.take_digits(text, self.seen)
            }
            _ => self.take_part(text, self.seen, self.named_month),
        }
    }

    /// A number where a time is wanted.
    fn take_time(&mut self, text: &str, before_name: bool) -> Step<Parts> {
        match text.find('.') {
            Some(_) if before_name => self.take_date(text),
            Some(point) if point > 2 => self.take_digits(text, self.seen | DATE),
            Some(_) => Err(Failure::Syntax),
            None if text.len() > 4 => self.take_digits(text, self.seen | DATE),
            None => self.take_part(text, self.seen | DATE, false),
        }
    }

    /// A date in one piece: numbers, one of them perhaps a month's name, with anything between them (`DecodeDate`). In
    /// front of it only a zone may stand.
    fn take_date(&mut self, text: &str) -> Step<Parts> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            let first = rest.bytes().next().ok_or(Failure::Syntax)?;
            let alike = |byte: &u8| match first.is_ascii_digit() {
                true => byte.is_ascii_digit(),
                false => byte.is_ascii_alphabetic(),
            };
            let end = rest.bytes().take_while(alike).count();
            pieces.push(&rest[..end]);
            // One character ends a piece, whatever it is.
            rest = rest.get(end + 1..).unwrap_or("");
        }
        let is_name = |piece: &&str| piece.starts_with(|first: char| first.is_ascii_alphabetic());
        let (names, numbers): (Vec<&str>, Vec<&str>) = pieces.into_iter().partition(is_name);
        let mut parts = 0;
        let mut add = |part: Parts, seen: Parts| {
            if (seen | parts) & part != 0 {
                return Err(Failure::Syntax);
            }
            parts |= part;
            Ok(parts)
        };
        let mut seen = self.seen;
        for piece in &names {
            let Some(Word::Month(month)) = word(piece) else { return Err(Failure::Syntax) };
            self.month = month;
            seen |= add(MONTH, seen)?;
        }
        for piece in numbers {
            let part = self.take_part(piece, seen, !names.is_empty())?;
            seen |= add(part, seen)?;
        }
        if seen & !(DAY_OF_YEAR | ZONE) == DATE { Ok(parts) } else { Err(Failure::Syntax) }
    }

    /// A number that is year, month or day: by its length, by what is known already, by DateStyle (`DecodeNumber`).
    fn take_part(&mut self, text: &str, seen: Parts, named_month: bool) -> Step<Parts> {
        const YEAR_AND_MONTH: Parts = YEAR | MONTH;
        const MONTH_AND_DAY: Parts = MONTH | MONTHDAY;
        let (value, rest) = clock::small(text)?;
        let whole = text.len() - rest.len();
        if whole == 0 {
            return Err(Failure::Syntax);
        }
        match rest.strip_prefix('.') {
            // Digits of a time.
            Some(_) if whole > 2 => return self.take_digits(text, seen | DATE),
            Some(fraction) => self.clock.micros = clock::fraction_of_second(fraction)?,
            None if rest.is_empty() => {}
            None => return Err(Failure::Syntax),
        }
        let (length, order) = (text.len(), self.now.settings.date_order);
        if length == 3 && seen & DATE == YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(DAY_OF_YEAR | MONTH | MONTHDAY);
        }
        let looks_like_year = length >= 3 || order == DateOrder::Ymd;
        let part = match seen & DATE {
            0 if looks_like_year => YEAR,
            0 if order == DateOrder::Dmy => MONTHDAY,
            0 => MONTH,
            MONTH if named_month && looks_like_year => YEAR,
            MONTH => MONTHDAY,
            MONTHDAY | YEAR => MONTH,
            YEAR_AND_MONTH if named_month && length >= 3 && self.short_year => {
                // "02-Jan-2024" in the order YMD: what was taken for the year is the day.
                (self.day, self.year, self.short_year) = (self.year, value, false);
                return Ok(MONTHDAY);
            }
            YEAR_AND_MONTH => MONTHDAY,
            MONTH_AND_DAY => YEAR,
            DATE => return self.take_digits(text, seen),
            _ => return Err(Failure::Syntax),
        };
        match part {
            YEAR => (self.year, self.short_year) = (value, length <= 2),
            MONTH => self.month = value,
            _ => self.day = value,
        }
        Ok(part)
    }

    /// A date or a time without separators: `yyyymmdd`, `yymmdd`, `hhmmss.fff`, `hhmm` (`DecodeNumberField`).
    fn take_digits(&mut self, text: &str, seen: Parts) -> Step<Parts> {
        let (whole, fraction) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        if let Some(fraction) = fraction {
            self.clock.micros = clock::fraction_of_second(fraction)?;
        } else if seen & DATE != DATE && whole.len() >= 6 {
            let (rest, day) = whole.split_at(whole.len() - 2);
            let (year, month) = rest.split_at(rest.len() - 2);
            (self.year, self.month, self.day) = (digits(year), digits(month), digits(day));
            self.short_year |= year.len() == 2;
            return Ok(DATE);
        }
        if seen & TIME != 0 || !matches!(whole.len(), 4 | 6) {
            return Err(Failure::Syntax);
        }
        self.clock.hours = digits(&whole[..2]);
        self.clock.minutes = digits(&whole[2..4]);
        self.clock.seconds = whole.get(4..6).map_or(0, digits);
        Ok(TIME)
    }

    // --- The whole ---------------------------------------------------------------------------------------------------

    fn set_date(&mut self, date: Date) {
        (self.year, self.month, self.day) = (date.year, i64::from(date.month), i64::from(date.day));
    }

    fn set_julian(&mut self, day: i64) {
        self.set_date(calendar::date(day - calendar::EPOCH_JULIAN));
        self.julian = true;
    }

    /// The day, of a date that is valid.
    fn days(&self) -> i64 {
        calendar::days(self.year, self.month as u32, self.day)
    }

    fn time_of_day(&self) -> i64 {
        self.clock.total().unwrap_or(0)
    }

    /// Settles the year and the hour, and checks the date (`ValidateDate`).
    fn validate(&mut self) -> Step {
        if self.seen & YEAR != 0 && !self.julian {
            if self.year <= 0 && (self.before_christ || !self.short_year) {
                return Err(Failure::Field);
            }
            self.year += match self.year {
                year if self.before_christ => 1 - 2 * year,
                0..70 if self.short_year => 2000,
                70..100 if self.short_year => 1900,
                _ => 0,
            };
        }
        if self.seen & DAY_OF_YEAR != 0 {
            self.set_date(calendar::date(calendar::days(self.year, 1, self.day_of_year)));
        }
        let month = self.seen & MONTH == 0 || (1..=12).contains(&self.month);
        let day = self.seen & MONTHDAY == 0 || (1..=31).contains(&self.day);
        if !month || !day {
            return Err(Failure::MonthOrDay);
        }
        if self.seen & DATE == DATE
            && self.day > i64::from(month_length(self.year, self.month as u32))
        {
            return Err(Failure::Field);
        }
        match (self.afternoon, self.clock.hours) {
            (Some(_), 13..) => return Err(Failure::Field),
            (Some(false), 12) => self.clock.hours = 0,
            (Some(true), hours) if hours != 12 => self.clock.hours = hours + 12,
            _ => {}
        }
        Ok(())
    }
}
