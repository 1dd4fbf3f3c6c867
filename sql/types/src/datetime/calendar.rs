//! The proleptic Gregorian calendar: days to year, month, day and back.
//!
//! PostgreSQL's `date2j` and `j2date`, over days since 2000-01-01, in 64 bits so that no input overflows. The arithmetic is
//! the usual one over eras of 400 years that begin in March (Neri and Schneider, *Euclidean affine functions*, 2022, tell
//! why it works).

use super::DAY;

/// The Julian day number of 2000-01-01.
pub const EPOCH_JULIAN: i64 = 2_451_545;
/// Days from 1970-01-01 to 2000-01-01.
pub const UNIX_DAYS: i64 = 10_957;
/// The first date, 4714-11-24 BC.
pub const DATE_MIN: i64 = -EPOCH_JULIAN;
/// The day behind the last date, 5874897-12-31.
pub const DATE_END: i64 = 2_147_483_494 - EPOCH_JULIAN;
/// The first timestamp, 4714-11-24 00:00:00 BC.
pub const TIMESTAMP_MIN: i64 = -211_813_488_000_000_000;
/// The instant behind the last timestamp, 294277-01-01 00:00:00.
pub const TIMESTAMP_END: i64 = 9_223_371_331_200_000_000;

/// A date in the calendar. The year before 1 is 0 (1 BC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// Days from 2000-01-01 to a date. The month may be 1 to 12; the day is simply added.
#[must_use]
pub fn days(year: i64, month: u32, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = i64::from((month + 9) % 12);
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    // 730425 days lie between 0000-03-01 and 2000-01-01.
    era * 146_097 + day_of_era - 730_425
}

/// The date of a day counted from 2000-01-01.
#[must_use]
pub fn date(days: i64) -> Date {
    let days = days + 730_425;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u32;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Date { year, month, day }
}

/// Splits a timestamp into days and microseconds of the day.
#[must_use]
pub fn split(timestamp: i64) -> (i64, i64) {
    (timestamp.div_euclid(DAY), timestamp.rem_euclid(DAY))
}

/// Whether a year has a 29 February.
#[must_use]
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has.
#[must_use]
pub fn month_length(year: i64, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// 0 is Sunday.
#[must_use]
pub fn weekday(days: i64) -> u32 {
    // 2000-01-01 was a Saturday.
    (days + 6).rem_euclid(7) as u32
}

/// The ISO 8601 year and week of a day.
#[must_use]
pub fn iso_week(day: i64) -> (i64, u32) {
    let monday_based = (i64::from(weekday(day)) + 6) % 7;
    let thursday = day - monday_based + 3;
    let year = date(thursday).year;
    let week = (thursday - days(year, 1, 1)) / 7 + 1;
    (year, week as u32)
}

/// The Monday of the first ISO week of a year.
#[must_use]
pub fn iso_year_start(year: i64) -> i64 {
    let fourth = days(year, 1, 4);
    fourth - (i64::from(weekday(fourth)) + 6) % 7
}

/// Whether a day can be a date.
#[must_use]
pub fn is_date(days: i64) -> bool {
    (DATE_MIN..DATE_END).contains(&days)
}

/// Whether a count of microseconds can be a timestamp.
#[must_use]
pub fn is_timestamp(micros: i64) -> bool {
    (TIMESTAMP_MIN..TIMESTAMP_END).contains(&micros)
}

/// The timestamp of a day and microseconds behind it, if there is one.
#[must_use]
pub fn timestamp(days: i64, micros: i64) -> Option<i64> {
    days.checked_mul(DAY)?.checked_add(micros).filter(|&t| is_timestamp(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_days() {
        assert_eq!(days(2000, 1, 1), 0);
        assert_eq!(days(1970, 1, 1), -UNIX_DAYS);
        assert_eq!(days(-4713, 11, 24), DATE_MIN);
        assert_eq!(days(5_874_898, 1, 1), DATE_END);
        assert_eq!(days(294_277, 1, 1) * DAY, TIMESTAMP_END);
        assert_eq!(weekday(days(2026, 11, 21)), 6);
        assert_eq!(iso_week(days(2021, 1, 3)), (2020, 53));
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(day in DATE_MIN..DATE_END) {
            let date = date(day);
            prop_assert_eq!(days(date.year, date.month, i64::from(date.day)), day);
            prop_assert!(date.day <= month_length(date.year, date.month));
        }
    }
}
