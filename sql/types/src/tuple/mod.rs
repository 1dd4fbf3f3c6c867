//! Rows as bytes: how a table's record, an index entry's key and a row on its way through a plan are laid out.
//!
//! - [`value`]: owned values and rows, which operators keep between calls;
//! - [`form`]: which of the forms of a [`crate::Datum`] a type takes;
//! - [`row`]: a record's value, read column by column in place;
//! - [`key`]: keys whose byte order is the order of their columns;
//! - [`entry`]: entries of secondary indexes;
//! - [`image`]: rows in temporary files;
//! - [`long_value`]: values too large for a page, cut into records of a companion tree;
//! - [`row_id`]: keys of tables without a primary key.

pub mod entry;
pub mod form;
pub mod image;
pub mod key;
pub mod long_value;
pub mod row;
pub mod row_id;
pub mod value;

pub use form::Form;
pub use key::{KeyColumn, KeyLayout};
pub use row::RowLayout;
pub use value::{Heap, RowBuf, RowSet, RowWriter, Texts, Value};

use crate::error::SqlError;
use crate::sqlstate::SqlState;

/// XX001: a record does not have the form that the catalog says it has.
pub fn corrupt(what: &str) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a record is corrupt: {what}"))
}
