//! COPY's formats (manual, COPY, "File Formats"): bytes to fields, and values to bytes.
//!
//! Streaming: [`lines::LineReader`] and [`binary::TupleReader`] are fed portions of any size and hold at most one line or
//! tuple; nothing here knows a table.

pub mod binary;
pub mod csv;
pub mod lines;
pub mod options;
pub mod server_files;
pub mod text;

pub use binary::{Tuple, TupleReader};
pub use lines::LineReader;
pub use options::{Columns, Header, Kind, Options};

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The fields of one line, decoded; used again for each line, it stops allocating.
#[derive(Debug, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    /// It stands for NULL unless FORCE_NOT_NULL says otherwise.
    null: bool,
}

impl Fields {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// A field; none is NULL.
    ///
    /// # Errors
    /// 22021 if an escape has made bytes that are not UTF-8.
    pub fn get(&self, at: usize) -> Result<Option<&str>> {
        let field = self.fields[at];
        if field.null {
            return Ok(None);
        }
        utf8(&self.bytes[field.start..field.end]).map(Some)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    fn end_field(&mut self, start: usize, null: bool) {
        self.fields.push(Field { start, end: self.bytes.len(), null });
    }

    /// Refuses more fields than there are columns. That there are fewer is found when the missing one is reached, behind
    /// what the others are wrong in.
    ///
    /// # Errors
    /// 22P04.
    pub fn expect(&self, columns: usize) -> Result<()> {
        if self.len() > columns {
            return Err(bad("extra data after last expected column"));
        }
        Ok(())
    }

    /// Demands that there is a field for a column.
    ///
    /// # Errors
    /// 22P04, with the column's name.
    pub fn demand(&self, at: usize, column: &str) -> Result<()> {
        if at >= self.len() {
            return Err(bad(format!("missing data for column \"{column}\"")));
        }
        Ok(())
    }

    /// Demands that a header line names the columns (HEADER MATCH).
    ///
    /// # Errors
    /// 22P04.
    pub fn expect_header<'a>(
        &self,
        null: &str,
        columns: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<()> {
        if self.len() != columns.len() {
            return Err(bad(format!(
                "wrong number of fields in header line: got {}, expected {}",
                self.len(),
                columns.len()
            )));
        }
        for (at, column) in columns.enumerate() {
            match self.get(at)? {
                Some(name) if name == column => {}
                Some(name) => {
                    return Err(bad(format!(
                        "column name mismatch in header line field {}: got \"{name}\", expected \"{column}\"",
                        at + 1
                    )));
                }
                None => {
                    return Err(bad(format!(
                        "column name mismatch in header line field {}: got null value (\"{null}\"), expected \"{column}\"",
                        at + 1
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Splits a line of either format into its fields.
///
/// # Errors
/// 22P04 for a csv line whose last quote is open.
pub fn split(line: &str, options: &Options, into: &mut Fields) -> Result<()> {
    into.clear();
    match options.kind {
        Kind::Text | Kind::Binary => {
            text::split(line.as_bytes(), options, into);
            Ok(())
        }
        Kind::Csv => csv::split(line.as_bytes(), options, into),
    }
}

/// The longest value, in characters, that a CONTEXT repeats.
const CONTEXT_CHARACTERS_MAX: usize = 100;

/// The CONTEXT of an error in a line as a whole.
#[must_use]
pub fn line_context(table: &str, number: u64, line: Option<&str>) -> String {
    match line {
        None => format!("COPY {table}, line {number}"),
        Some(line) => format!("COPY {table}, line {number}: \"{}\"", shortened(line)),
    }
}

/// The CONTEXT of an error in a field that is not shown.
#[must_use]
pub fn column_context(table: &str, number: u64, column: &str) -> String {
    format!("COPY {table}, line {number}, column {column}")
}

/// The CONTEXT of an error in one field.
#[must_use]
pub fn field_context(table: &str, number: u64, column: &str, value: Option<&str>) -> String {
    match value {
        None => format!("COPY {table}, line {number}, column {column}: null input"),
        Some(value) => {
            format!("COPY {table}, line {number}, column {column}: \"{}\"", shortened(value))
        }
    }
}

fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(CONTEXT_CHARACTERS_MAX) {
        None => text.into(),
        Some((end, _)) => format!("{}...", &text[..end]).into(),
    }
}

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message)
}

/// Bytes as text, or PostgreSQL's complaint about the first character that is none.
fn utf8(bytes: &[u8]) -> Result<&str> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let rest = &bytes[error.valid_up_to()..];
        let length = match rest[0] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        let shown: Vec<String> =
            rest.iter().take(length).map(|byte| format!("0x{byte:02x}")).collect();
        SqlError::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
        )
    })
}

#[cfg(test)]
mod tests;
