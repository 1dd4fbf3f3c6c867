//! The text of intervals, in each of IntervalStyle's forms.
//!
//! PostgreSQL: `EncodeInterval`; manual, 8.5.5.

use super::SECOND;
use super::interval::Parts;
use crate::Interval;
use crate::integer::{write_i64, write_padded, write_u64};
use crate::settings::IntervalStyle;

/// Years, months, days, hours, minutes, and the microseconds of seconds and what is less.
type Amounts = [i64; 6];

/// Appends an interval.
pub fn write(style: IntervalStyle, interval: &Interval, out: &mut Vec<u8>) {
    let Parts { years, months, days, clock } = Parts::of(interval);
    let amounts = [years, months, days, clock.hours, clock.minutes, clock.within_minute()];
    match style {
        IntervalStyle::Postgres => write_postgres(amounts, out),
        IntervalStyle::PostgresVerbose => write_verbose(amounts, out),
        IntervalStyle::SqlStandard => write_sql(amounts, out),
        IntervalStyle::Iso8601 => write_iso(amounts, out),
    }
}

/// Appends seconds with their fraction, without a sign; two digits at least where they stand behind minutes.
fn write_seconds(micros: i64, digits: usize, out: &mut Vec<u8>) {
    let micros = micros.unsigned_abs();
    write_padded(micros / SECOND as u64, digits, out);
    let fraction = micros % SECOND as u64;
    if fraction != 0 {
        out.push(b'.');
        write_padded(fraction, 6, out);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// Appends `:mm:ss.f`.
fn write_clock_tail(minutes: i64, micros: i64, out: &mut Vec<u8>) {
    out.push(b':');
    write_padded(minutes.unsigned_abs(), 2, out);
    out.push(b':');
    write_seconds(micros, 2, out);
}

fn write_unit(value: i64, unit: &str, out: &mut Vec<u8>) {
    write_i64(value, out);
    out.push(b' ');
    out.extend_from_slice(unit.as_bytes());
    if value != 1 {
        out.push(b's');
    }
}

/// `1 year 2 mons -3 days +04:05:06`
fn write_postgres(amounts: Amounts, out: &mut Vec<u8>) {
    let [years, months, days, hours, minutes, micros] = amounts;
    let mut first = true;
    // After a negative part a positive one says so.
    let mut negative = false;
    for (value, unit) in [(years, "year"), (months, "mon"), (days, "day")] {
        if value == 0 {
            continue;
        }
        if !first {
            out.push(b' ');
        }
        if negative && value > 0 {
            out.push(b'+');
        }
        write_unit(value, unit, out);
        (first, negative) = (false, value < 0);
    }
    let clock = [hours, minutes, micros];
    if first || clock != [0; 3] {
        if !first {
            out.push(b' ');
        }
        if clock.iter().any(|part| *part < 0) {
            out.push(b'-');
        } else if negative {
            out.push(b'+');
        }
        write_padded(hours.unsigned_abs(), 2, out);
        write_clock_tail(minutes, micros, out);
    }
}

/// `@ 1 year 2 mons -3 days 4 hours 5 mins 6 secs ago`: the first part's sign is said by the last word.
fn write_verbose(amounts: Amounts, out: &mut Vec<u8>) {
    let [years, months, days, hours, minutes, micros] = amounts;
    out.push(b'@');
    let parts =
        [(years, "year"), (months, "mon"), (days, "day"), (hours, "hour"), (minutes, "min")];
    let mut before = None;
    for (value, unit) in parts.into_iter().filter(|(value, _)| *value != 0) {
        out.push(b' ');
        let turned = *before.get_or_insert(value < 0);
        write_unit(if turned { -value } else { value }, unit, out);
    }
    if micros != 0 {
        out.push(b' ');
        if *before.get_or_insert(micros < 0) != (micros < 0) {
            out.push(b'-');
        }
        write_seconds(micros, 1, out);
        let one = micros.unsigned_abs() == SECOND as u64;
        out.extend_from_slice(if one { b" sec" } else { b" secs" });
    }
    match before {
        None => out.extend_from_slice(b" 0"),
        Some(true) => out.extend_from_slice(b" ago"),
        Some(false) => {}
    }
}

/// `1-2`, `-3 4:05:06`; what SQL's literals cannot say is `+1-2 -3 +4:05:06`.
fn write_sql(amounts: Amounts, out: &mut Vec<u8>) {
    let [years, months, days, hours, minutes, micros] = amounts;
    let negative = amounts.iter().any(|part| *part < 0);
    let positive = amounts.iter().any(|part| *part > 0);
    let dated = years != 0 || months != 0;
    let timed = amounts[2..].iter().any(|part| *part != 0);
    if !negative && !positive {
        return out.push(b'0');
    }
    let put = |value: i64, out: &mut Vec<u8>| write_u64(value.unsigned_abs(), out);
    let mixed = negative && positive || dated && timed;
    let sign = |parts: &[i64], out: &mut Vec<u8>| {
        if mixed {
            out.push(if parts.iter().any(|part| *part < 0) { b'-' } else { b'+' });
        }
    };
    if negative && !mixed {
        out.push(b'-');
    }
    if dated || mixed {
        sign(&[years, months], out);
        put(years, out);
        out.push(b'-');
        put(months, out);
    }
    if days != 0 || mixed {
        if mixed {
            out.push(b' ');
        }
        sign(&[days], out);
        put(days, out);
        out.push(b' ');
    }
    if timed || mixed {
        sign(&[hours, minutes, micros], out);
        put(hours, out);
        write_clock_tail(minutes, micros, out);
    }
}

/// `P1Y2M-3DT4H5M6S`
fn write_iso(amounts: Amounts, out: &mut Vec<u8>) {
    let [years, months, days, hours, minutes, micros] = amounts;
    if amounts == [0; 6] {
        return out.extend_from_slice(b"PT0S");
    }
    let put = |value: i64, mark: u8, out: &mut Vec<u8>| {
        if value != 0 {
            write_i64(value, out);
            out.push(mark);
        }
    };
    out.push(b'P');
    put(years, b'Y', out);
    put(months, b'M', out);
    put(days, b'D', out);
    if amounts[3..] != [0; 3] {
        out.push(b'T');
    }
    put(hours, b'H', out);
    put(minutes, b'M', out);
    if micros != 0 {
        if micros < 0 {
            out.push(b'-');
        }
        write_seconds(micros, 1, out);
        out.push(b'S');
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HOUR, MINUTE};
    use super::*;

    /// Each of these is what PostgreSQL writes.
    #[test]
    fn every_style_has_its_form() {
        use IntervalStyle::{Iso8601, Postgres, PostgresVerbose, SqlStandard};
        let shown = |style, months, days, micros| {
            let mut out = Vec::new();
            write(style, &Interval { months, days, micros }, &mut out);
            String::from_utf8(out).expect("ASCII")
        };
        let half = SECOND / 2;
        let mixed = (14, -3, 4 * HOUR + 5 * MINUTE + 6 * SECOND + half);
        let of = |style| shown(style, mixed.0, mixed.1, mixed.2);
        assert_eq!(of(Postgres), "1 year 2 mons -3 days +04:05:06.5");
        assert_eq!(of(PostgresVerbose), "@ 1 year 2 mons -3 days 4 hours 5 mins 6.5 secs");
        assert_eq!(of(SqlStandard), "+1-2 -3 +4:05:06.5");
        assert_eq!(of(Iso8601), "P1Y2M-3DT4H5M6.5S");
        let nothing = |style| shown(style, 0, 0, 0);
        assert_eq!(nothing(Postgres), "00:00:00");
        assert_eq!(nothing(PostgresVerbose), "@ 0");
        assert_eq!(nothing(SqlStandard), "0");
        assert_eq!(nothing(Iso8601), "PT0S");
        assert_eq!(shown(SqlStandard, -14, 0, 0), "-1-2");
        assert_eq!(shown(SqlStandard, 0, -1, -HOUR), "-1 1:00:00");
        assert_eq!(shown(PostgresVerbose, 0, -1, HOUR), "@ 1 day -1 hours ago");
        assert_eq!(shown(PostgresVerbose, 0, 0, -half), "@ 0.5 secs ago");
        assert_eq!(shown(Iso8601, 0, 0, -half), "PT-0.5S");
    }
}
