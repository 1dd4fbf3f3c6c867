//! Entries of secondary indexes: what is written for a row, and how it leads back to the row.
//!
//! ```text
//! unique:      columns                 -> 1, the row's key
//! deferrable:  columns, the row's key  -> 3, the length of `columns`: u16 little-endian
//! otherwise:   columns, the row's key  -> 2, the length of `columns`: u16 little-endian
//! ```
//!
//! Equal keys of a unique index meet in one record, and so in one lock. Where a column is NULL, keys are distinct unless the
//! index says NULLS NOT DISTINCT: such an entry of a unique index has the last form, and the first byte of the value
//! says which form it is. A unique index whose constraint is deferrable may have several rows of one key until that is
//! checked (`exec::deferred`): what is locked then is `columns`, which no entry has as its key.

use super::corrupt;
use super::key::KeyLayout;
use crate::Datum;
use crate::error::Result;

/// First byte of a value that is the row's key.
const ROW_KEY: u8 = 1;
/// First byte of a value that says where the row's key begins in the entry's key.
const SUFFIX: u8 = 2;
/// The same, of an entry whose columns no other entry may have once the constraint is checked.
const CHECKED: u8 = 3;

/// When equal keys of an index meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniqueness {
    /// Never.
    None,
    /// With each row.
    Immediate {
        /// Not where a column is NULL.
        nulls_distinct: bool,
    },
    /// When the constraint is checked: until then several rows may have the same key.
    Deferrable {
        /// Not where a column is NULL.
        nulls_distinct: bool,
    },
}

/// Where the entries of rows with equal keys meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// Nowhere.
    Never,
    /// In one record.
    InRecord,
    /// In the check of a deferrable constraint: the key's columns are so many bytes of the entry's key.
    WhenChecked(usize),
}

/// Makes the entry of a row: its columns by index from `column`, its key in the table's tree. Says whether equal keys
/// would meet, and where.
///
/// # Errors
/// 0A000 for a type that cannot be a key.
pub fn write<'a>(
    layout: &KeyLayout,
    unique: Uniqueness,
    column: impl Fn(usize) -> Datum<'a>,
    row_key: &[u8],
    key: &mut Vec<u8>,
    value: &mut Vec<u8>,
) -> Result<Meets> {
    key.clear();
    value.clear();
    let mut null = false;
    for part in &layout.columns {
        let datum = column(part.column);
        null |= datum.is_null();
        part.encode(datum, key)?;
    }
    let meets = match unique {
        Uniqueness::None => Meets::Never,
        Uniqueness::Immediate { nulls_distinct } | Uniqueness::Deferrable { nulls_distinct }
            if nulls_distinct && null =>
        {
            Meets::Never
        }
        Uniqueness::Immediate { .. } => Meets::InRecord,
        Uniqueness::Deferrable { .. } => Meets::WhenChecked(key.len()),
    };
    if meets == Meets::InRecord {
        value.push(ROW_KEY);
        value.extend_from_slice(row_key);
        return Ok(meets);
    }
    value.push(if meets == Meets::Never { SUFFIX } else { CHECKED });
    // No page takes a key that is longer: whoever writes it looks at its length.
    let columns = u16::try_from(key.len()).unwrap_or(u16::MAX);
    value.extend_from_slice(&columns.to_le_bytes());
    key.extend_from_slice(row_key);
    Ok(meets)
}

/// The columns' part of an entry's key that no other entry may begin with, once its constraint is checked.
#[must_use]
pub fn checked_columns<'a>(key: &'a [u8], value: &[u8]) -> Option<&'a [u8]> {
    match *value {
        [CHECKED, low, high] => key.get(..usize::from(u16::from_le_bytes([low, high]))),
        _ => None,
    }
}

/// The key of the row that an entry stands for.
///
/// # Errors
/// XX001.
pub fn row_key<'a>(key: &'a [u8], value: &'a [u8]) -> Result<&'a [u8]> {
    match value.split_first() {
        Some((&ROW_KEY, row_key)) => Ok(row_key),
        Some((&(SUFFIX | CHECKED), &[low, high])) => {
            let columns = usize::from(u16::from_le_bytes([low, high]));
            key.get(columns..).ok_or_else(|| corrupt("an index entry ends in its columns"))
        }
        _ => Err(corrupt("an index entry leads nowhere")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Oid;
    use crate::tuple::{Form, KeyColumn};

    #[test]
    fn every_entry_leads_back_to_its_row() {
        let column = KeyColumn {
            column: 0,
            ty: Oid(23),
            form: Form::of(Oid(23)),
            descending: false,
            nulls_first: false,
            nullable: true,
        };
        let layout = KeyLayout { columns: vec![column] };
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for (unique, datum, meets) in [
            (Uniqueness::Immediate { nulls_distinct: true }, Datum::Int4(7), Meets::InRecord),
            (Uniqueness::Immediate { nulls_distinct: true }, Datum::Null, Meets::Never),
            (Uniqueness::Immediate { nulls_distinct: false }, Datum::Null, Meets::InRecord),
            (
                Uniqueness::Deferrable { nulls_distinct: true },
                Datum::Int4(7),
                Meets::WhenChecked(5),
            ),
            (Uniqueness::Deferrable { nulls_distinct: true }, Datum::Null, Meets::Never),
            (Uniqueness::Deferrable { nulls_distinct: false }, Datum::Null, Meets::WhenChecked(1)),
            (Uniqueness::None, Datum::Int4(7), Meets::Never),
            (Uniqueness::None, Datum::Null, Meets::Never),
        ] {
            let met = write(&layout, unique, |_| datum, b"row", &mut key, &mut value).unwrap();
            assert_eq!(met, meets);
            assert_eq!(row_key(&key, &value).unwrap(), b"row");
            let checked = match meets {
                Meets::WhenChecked(columns) => Some(&key[..columns]),
                _ => None,
            };
            assert_eq!(checked_columns(&key, &value), checked);
        }
    }
}
