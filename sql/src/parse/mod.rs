//! Text to statements: PostgreSQL 15's lexical rules and grammar, into a syntax tree of our own.

pub mod ast;

pub use ast::Statement;
