//! The row engine: runs compiled programs, a row at a time, and stops where its sink says so.

pub mod sink;
