//! Text to statements: PostgreSQL 15's lexical rules and grammar, into a syntax tree of our own.

pub mod ast;

use crate::error::{Result, SqlError};
pub use ast::Statement;

/// The query that a view's text is.
///
/// # Errors
/// 42601.
pub fn parse_query(_text: &str) -> Result<ast::Query> {
    Err(SqlError::unsupported("reading a stored query is"))
}

/// The expression that a stored text is: a DEFAULT, a CHECK.
///
/// # Errors
/// 42601.
pub fn parse_expression(_text: &str) -> Result<ast::Expr> {
    Err(SqlError::unsupported("reading a stored expression is"))
}
