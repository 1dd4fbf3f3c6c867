//! Clocks and numbers in texts, as dates, times and intervals have them alike.
//!
//! PostgreSQL: `DecodeTimeCommon`, `ParseFraction`, `strtoi64`.

use super::{DAY, HOUR, MINUTE, SECOND};

/// Why a text was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It does not look like one.
    Form,
    /// A part is more than it may be.
    Overflow,
}

/// The result of a step of reading.
pub(super) type Step<T = ()> = std::result::Result<T, Failure>;

/// A time by its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub hours: i64,
    pub minutes: i64,
    pub seconds: i64,
    /// A fraction of a second that was rounded up may be a whole one.
    pub micros: i64,
}

impl Clock {
    /// `h:m`, `h:m:s.f`; `m:s` where it is asked for, or where the seconds have a fraction. Minutes and seconds are within
    /// their bounds.
    pub(super) fn read(text: &str, minutes_first: bool) -> Step<Clock> {
        let (mut hours, rest) = integer(text)?;
        let (mut minutes, rest) = small(rest.strip_prefix(':').ok_or(Failure::Form)?)?;
        let (mut seconds, mut micros) = (0, 0);
        let mut shift = false;
        if rest.is_empty() {
            shift = minutes_first;
        } else if let Some(digits) = rest.strip_prefix('.') {
            micros = fraction_of_second(digits)?;
            shift = true;
        } else {
            let (value, rest) = small(rest.strip_prefix(':').ok_or(Failure::Form)?)?;
            seconds = value;
            if let Some(digits) = rest.strip_prefix('.') {
                micros = fraction_of_second(digits)?;
            } else if !rest.is_empty() {
                return Err(Failure::Form);
            }
        }
        if shift {
            if i32::try_from(hours).is_err() {
                return Err(Failure::Overflow);
            }
            (hours, minutes, seconds) = (0, hours, minutes);
        }
        if hours < 0 || !(0..60).contains(&minutes) || !(0..=60).contains(&seconds) {
            return Err(Failure::Overflow);
        }
        Ok(Clock { hours, minutes, seconds, micros })
    }

    /// The parts of so many microseconds, all signed like them.
    pub(super) fn of(micros: i64) -> Clock {
        Clock {
            hours: micros / HOUR,
            minutes: micros % HOUR / MINUTE,
            seconds: micros % MINUTE / SECOND,
            micros: micros % SECOND,
        }
    }

    /// The microseconds of the seconds and what is less.
    pub(super) fn within_minute(&self) -> i64 {
        self.seconds * SECOND + self.micros
    }

    /// All of it in microseconds, if there are so many.
    pub(super) fn total(&self) -> Option<i64> {
        let rest = self.minutes * MINUTE + self.within_minute();
        self.hours.checked_mul(HOUR)?.checked_add(rest)
    }

    /// Whether a day has this time; 24:00 and the 60th second are allowed. PostgreSQL: `time_overflows`.
    pub(super) fn is_time_of_day(&self) -> bool {
        self.minutes < 60 && self.seconds <= 60 && self.total().is_some_and(|micros| micros <= DAY)
    }
}

/// What `strtoi64` reads at the beginning of a text, 0 where there are no digits, and the text behind it.
pub(super) fn integer(text: &str) -> Step<(i64, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let count = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return Ok((0, text));
    }
    let end = text.len() - unsigned.len() + count;
    let value = text[..end].parse().map_err(|_| Failure::Overflow)?;
    Ok((value, &text[end..]))
}

/// [`integer`] within 32 bits (`strtoint`).
pub(super) fn small(text: &str) -> Step<(i64, &str)> {
    let (value, rest) = integer(text)?;
    i32::try_from(value).map(|value| (i64::from(value), rest)).map_err(|_| Failure::Overflow)
}

/// Digits behind a decimal point; none are 0.
pub(super) fn fraction(digits: &str) -> Step<f64> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Failure::Form);
    }
    format!("0.{digits}0").parse().map_err(|_| Failure::Form)
}

/// Digits behind the point of a second, in microseconds.
pub(super) fn fraction_of_second(digits: &str) -> Step<i64> {
    Ok((fraction(digits)? * SECOND as f64).round_ties_even() as i64)
}
