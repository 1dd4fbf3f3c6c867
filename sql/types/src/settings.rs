//! What reading and writing values looks at of a session's settings. The session keeps it as plain values, because every call
//! of a function may look.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The settings that values' forms and functions depend on, and how much a function may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSettings {
    /// `extra_float_digits`: 1 and above is the shortest exact form.
    pub extra_float_digits: i32,
    /// `DateStyle`'s order of fields.
    pub date_order: DateOrder,
    /// `DateStyle`'s output form.
    pub date_style: DateStyle,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// `TimeZone`, as PostgreSQL shows it.
    pub time_zone: String,
    /// `bytea_output` is `hex` (else `escape`).
    pub bytea_hex: bool,
    /// `xmloption`.
    pub xml_option: XmlOption,
    /// `xmlbinary`.
    pub xml_binary: XmlBinary,
    /// `array_nulls`.
    pub array_nulls: bool,
    /// `quote_all_identifiers`.
    pub quote_all_identifiers: bool,
    /// `work_mem`, in bytes.
    pub work_mem_bytes: u64,
}

impl Default for ValueSettings {
    fn default() -> Self {
        ValueSettings {
            extra_float_digits: 1,
            date_order: DateOrder::Mdy,
            date_style: DateStyle::Iso,
            interval_style: IntervalStyle::Postgres,
            time_zone: "UTC".to_owned(),
            bytea_hex: true,
            xml_option: XmlOption::Content,
            xml_binary: XmlBinary::Base64,
            array_nulls: true,
            quote_all_identifiers: false,
            work_mem_bytes: 4 << 20,
        }
    }
}

/// The order of day, month and year in ambiguous input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// Month, day, year.
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// The form of dates in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateStyle {
    /// 1997-12-17 07:37:16-08
    Iso,
    /// 12/17/1997 07:37:16.00 PST
    Sql,
    /// Wed Dec 17 07:37:16 1997 PST
    Postgres,
    /// 17.12.1997 07:37:16.00 PST
    German,
}

/// What a text is as `xml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlOption {
    /// A document, with one root.
    Document,
    /// A document, or what may stand in an element.
    Content,
}

/// How `xml` has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlBinary {
    /// In Base64.
    Base64,
    /// In hexadecimal digits.
    Hex,
}

/// The form of intervals in output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalStyle {
    /// 1 year 2 mons -3 days +04:05:06
    Postgres,
    /// @ 1 year 2 mons -3 days 4 hours 5 mins 6 secs
    PostgresVerbose,
    /// +1-2 -3 +4:05:06
    SqlStandard,
    /// P1Y2M-3DT4H5M6S
    Iso8601,
}

/// What may be held at most, whatever `work_mem` is: places in it have 32 bits, and a row of 1 GB may be on its way.
const HELD_BYTES_MAX: u64 = 3 << 30;

impl ValueSettings {
    /// How many bytes an operator of a statement holds before it goes to temporary files: `work_mem`, but for what places
    /// of 32 bits can tell apart.
    #[must_use]
    pub fn spill_bytes(&self) -> usize {
        usize::try_from(self.work_mem_bytes.min(HELD_BYTES_MAX)).unwrap_or(usize::MAX)
    }

    /// Refuses to hold more than an operator of a statement, or a function, may.
    ///
    /// # Errors
    /// 53200 where `bytes` are more than that.
    pub fn check_memory(&self, bytes: usize) -> Result<()> {
        check_held(bytes as u64, self.work_mem_bytes)
    }
}

/// Refuses to hold more bytes than `work_mem` allows, or than can be.
///
/// # Errors
/// 53200 where they are more than that.
fn check_held(bytes: u64, work_mem: u64) -> Result<()> {
    /// How many times `work_mem` may be held, by what cannot go to temporary files, before it is given up.
    const WORK_MEM_TIMES: u64 = 64;
    let allowed = work_mem.saturating_mul(WORK_MEM_TIMES);
    if bytes <= allowed.min(HELD_BYTES_MAX) {
        return Ok(());
    }
    let refused = |limit: String| {
        SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory")
            .detail(format!("An operator of this query would hold more than {limit}."))
    };
    if allowed > HELD_BYTES_MAX {
        return Err(refused(format!("{} GB", HELD_BYTES_MAX >> 30)));
    }
    Err(refused(format!("{WORK_MEM_TIMES} times work_mem")).hint("Raise work_mem."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_has_a_limit_whatever_work_mem_is() {
        let detail = |bytes, work_mem| {
            let refused = check_held(bytes, work_mem).unwrap_err();
            assert_eq!(refused.state(), SqlState::OUT_OF_MEMORY);
            (refused.fields().detail.clone().unwrap(), refused.fields().hint.is_some())
        };
        let times = "An operator of this query would hold more than 64 times work_mem.".to_owned();
        assert!(check_held(64 << 20, 1 << 20).is_ok());
        assert_eq!(detail((64 << 20) + 1, 1 << 20), (times, true));
        assert!(check_held(3 << 30, u64::MAX).is_ok());
        let most = "An operator of this query would hold more than 3 GB.".to_owned();
        assert_eq!(detail((3 << 30) + 1, u64::MAX), (most, false));
    }
}
