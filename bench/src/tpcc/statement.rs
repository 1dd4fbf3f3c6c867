//! Statements, their parameters and their rows: text in both directions, in the form in which the protocol carries it.

use std::fmt::{Display, Write};

/// A statement that is prepared once a session.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// Its name on the server.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Parameters as Bind carries them: a length of 4 bytes and the text, each.
#[derive(Debug, Default)]
pub struct Parameters {
    bytes: Vec<u8>,
    count: u16,
    spare: String,
}

impl Parameters {
    /// Forgets all.
    pub fn clear(&mut self) -> &mut Parameters {
        self.bytes.clear();
        self.count = 0;
        self
    }

    /// Adds one.
    pub fn add(&mut self, value: impl Display) -> &mut Parameters {
        self.spare.clear();
        write!(self.spare, "{value}").expect("a string grows");
        self.bytes.extend_from_slice(&(self.spare.len() as u32).to_be_bytes());
        self.bytes.extend_from_slice(self.spare.as_bytes());
        self.count += 1;
        self
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.count
    }

    /// All, as in a Bind message.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The rows of an answer, as text.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each value ends in `bytes`; none is NULL.
    values: Vec<Option<(usize, usize)>>,
    width: usize,
    /// Rows that the statement returned or changed.
    pub affected: u64,
}

impl Rows {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
        self.width = 0;
        self.affected = 0;
    }

    /// The next row will have so many values.
    pub fn begin_row(&mut self, width: usize) {
        self.width = width;
    }

    /// Adds a value.
    pub fn push(&mut self, value: Option<&[u8]>) {
        self.values.push(value.map(|value| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(value);
            (start, self.bytes.len())
        }));
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A value; none is NULL.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<&str> {
        let (start, end) = self.values[row * self.width + column]?;
        Some(std::str::from_utf8(&self.bytes[start..end]).expect("the client's encoding is UTF-8"))
    }

    /// A text.
    #[must_use]
    pub fn text(&self, row: usize, column: usize) -> &str {
        self.get(row, column).expect("a column without NULLs")
    }

    /// An integer.
    #[must_use]
    pub fn int(&self, row: usize, column: usize) -> i64 {
        self.text(row, column).parse().expect("an integer")
    }

    /// An amount of money with two decimals, in hundredths.
    #[must_use]
    pub fn cents(&self, row: usize, column: usize) -> i64 {
        let text = self.text(row, column);
        let (whole, part) = text.split_once('.').expect("two decimals");
        let amount = whole.parse::<i64>().expect("digits").abs() * 100
            + part.parse::<i64>().expect("two decimals");
        if text.starts_with('-') { -amount } else { amount }
    }
}

/// Hundredths, printed with two decimals.
#[derive(Clone, Copy, Debug)]
pub struct Cents(pub i64);

impl Display for Cents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let amount = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", amount / 100, amount % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cents, Parameters, Rows};

    #[test]
    fn money_goes_both_ways() {
        for cents in [0, 5, -5, 12_345, -12_345, 100] {
            let mut rows = Rows::default();
            rows.begin_row(1);
            rows.push(Some(Cents(cents).to_string().as_bytes()));
            assert_eq!(rows.cents(0, 0), cents);
        }
        assert_eq!(Cents(-7).to_string(), "-0.07");
    }

    #[test]
    fn rows_are_found_by_row_and_column() {
        let mut rows = Rows::default();
        for number in 0..3 {
            rows.begin_row(2);
            rows.push(Some(number.to_string().as_bytes()));
            rows.push(None);
        }
        assert_eq!((rows.len(), rows.int(2, 0), rows.get(1, 1)), (3, 2, None));
        rows.clear();
        assert!(rows.is_empty());
    }

    #[test]
    fn parameters_stand_as_in_a_bind_message() {
        let mut parameters = Parameters::default();
        parameters.add(7).add("ab");
        assert_eq!((parameters.count(), parameters.bytes()), (2, &b"\0\0\0\x017\0\0\0\x02ab"[..]));
    }
}
