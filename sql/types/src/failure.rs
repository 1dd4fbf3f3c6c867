//! The errors that many types report in the same words.

use crate::error::SqlError;
use crate::sqlstate::SqlState;

/// 22P02: a text that is not of this type.
#[cold]
pub(crate) fn invalid_syntax(type_name: &str, text: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type {type_name}: \"{text}\""),
    )
}

/// 22003: a text whose value does not fit this type.
#[cold]
pub(crate) fn value_out_of_range(type_name: &str, text: &str) -> SqlError {
    SqlError::new(
        SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
        format!("value \"{text}\" is out of range for type {type_name}"),
    )
}

/// 22003: a result that does not fit: `integer out of range`.
#[cold]
pub(crate) fn out_of_range(type_name: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
}

/// 22012.
#[cold]
pub(crate) fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}

/// 22P03: bytes that are not of this type. `what` is PostgreSQL's message.
#[cold]
pub(crate) fn invalid_binary(what: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, what)
}

/// 22P03: there are bytes behind a value. Whoever knows where the value stands says so, by [`name_left_over`].
#[cold]
pub(crate) fn left_over() -> SqlError {
    invalid_binary("")
}

/// Gives an error of [`left_over`] bytes its message; any other stays.
#[cold]
pub fn name_left_over(error: SqlError, message: impl FnOnce() -> String) -> SqlError {
    let is_left_over = error.state() == SqlState::INVALID_BINARY_REPRESENTATION
        && error.fields().message.is_empty();
    if is_left_over { invalid_binary(message()) } else { error }
}

/// 08P01: a value ends where a number, or bytes of a certain count, should be.
#[cold]
pub(crate) fn insufficient() -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message")
}

/// 08P01: a value ends where a byte should be.
#[cold]
pub(crate) fn no_data() -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, "no data left in message")
}

/// 22023.
#[cold]
pub fn invalid_parameter(what: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, what)
}
