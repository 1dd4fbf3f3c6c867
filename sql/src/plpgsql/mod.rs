//! PL/pgSQL: bodies of functions, procedures and DO blocks, parsed into trees whose variables are numbers (PostgreSQL 15 manual,
//! chapter 43; `pl_gram.y`).
//!
//! What stands in it of SQL stays text with its place; who runs the body makes each text ready once and keeps its plan.
//!
//! - [`tree`]: what a body says; [`reader`]: its tokens; `parse`: blocks and declarations; `statements`: statements
//! - [`condition`]: names of error conditions

pub mod condition;
mod cursors;
pub mod parse;
pub mod reader;
mod statements;
pub mod tree;

pub use parse::{Declared, parse};
