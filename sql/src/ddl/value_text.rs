//! Values as text where no session is asked: in statistics, and in what DDL says of rows that stand in its way.

use crate::types::no_session::with_context;
use crate::types::{Datum, SqlType, text_of};
use std::sync::Arc;

/// A value's text, under default settings; empty for NULL.
#[must_use]
pub fn shown(ty: SqlType, datum: Datum<'_>) -> Arc<str> {
    // A value that has been read from a row can be written; if not, an empty text harms nobody.
    with_context(|context| text_of(context, ty, &datum).map(Arc::from).unwrap_or_default())
}

/// The values of a key in a message: `1, x`, NULL as `null`.
#[must_use]
pub fn key_values<'v>(values: impl Iterator<Item = (SqlType, Datum<'v>)>) -> String {
    let texts = values.map(|(ty, datum)| match datum {
        Datum::Null => Arc::from("null"),
        datum => shown(ty, datum),
    });
    texts.collect::<Vec<_>>().join(", ")
}
