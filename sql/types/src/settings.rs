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
    /// `pg_trgm.similarity_threshold`, `pg_trgm.word_similarity_threshold`, `pg_trgm.strict_word_similarity_threshold`: the bits
    /// of the numbers.
    pub trigram_thresholds: [u64; 3],
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
            trigram_thresholds: [0.3f64, 0.6, 0.5].map(f64::to_bits),
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
    /// `pg_trgm.similarity_threshold`.
    #[must_use]
    pub fn similarity_threshold(&self) -> f64 {
        f64::from_bits(self.trigram_thresholds[0])
    }

    /// `pg_trgm.word_similarity_threshold`.
    #[must_use]
    pub fn word_similarity_threshold(&self) -> f64 {
        f64::from_bits(self.trigram_thresholds[1])
    }

    /// `pg_trgm.strict_word_similarity_threshold`.
    #[must_use]
    pub fn strict_word_similarity_threshold(&self) -> f64 {
        f64::from_bits(self.trigram_thresholds[2])
    }

    /// How many bytes an operator of a statement holds before it goes to temporary files: `work_mem`, but for what places
    /// of 32 bits can tell apart.
    #[must_use]
    pub fn spill_bytes(&self) -> usize {
        usize::try_from(self.work_mem_bytes.min(HELD_BYTES_MAX)).unwrap_or(usize::MAX)
    }

    /// How many bytes a table of rows by their hash holds before rows go to temporary files: many times `work_mem`, as it
    /// costs more than a sort to have it apart.
    #[must_use]
    pub fn hash_bytes(&self) -> usize {
        /// PostgreSQL's `hash_mem_multiplier` is 2, but its groups and rows are held in far more bytes.
        const WORK_MEM_TIMES: u64 = 64;
        let bytes = self.work_mem_bytes.saturating_mul(WORK_MEM_TIMES).min(HELD_BYTES_MAX);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}

/// Refuses to hold more than an operator of a statement, or a function, may: what cannot go to temporary files is bounded
/// by `atoll.statement_memory` with all else, and by what places can tell apart.
///
/// # Errors
/// 53200 where `bytes` are more than that.
pub fn check_held(bytes: usize) -> Result<()> {
    if bytes as u64 <= HELD_BYTES_MAX {
        return Ok(());
    }
    let limit = HELD_BYTES_MAX >> 30;
    Err(SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory")
        .detail(format!("An operator of this query would hold more than {limit} GB.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_has_a_limit_whatever_work_mem_is() {
        assert!(check_held(3 << 30).is_ok());
        let refused = check_held((3 << 30) + 1).unwrap_err();
        assert_eq!(refused.state(), SqlState::OUT_OF_MEMORY);
        let detail = "An operator of this query would hold more than 3 GB.";
        assert_eq!(refused.fields().detail.as_deref(), Some(detail));
        let hashed = |work_mem_bytes| {
            ValueSettings { work_mem_bytes, ..ValueSettings::default() }.hash_bytes()
        };
        assert_eq!((hashed(64 << 10), hashed(u64::MAX)), (4 << 20, 3 << 30));
    }
}
