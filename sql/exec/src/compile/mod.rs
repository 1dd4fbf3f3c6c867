//! From plan to program: what is cached, shared by sessions, and run.

pub mod code;
pub mod height;
pub mod program;

pub use program::{ColumnDescription, Program, compile, compile_for};
