//! The row engine: runs compiled programs, a row at a time, and stops where its sink says so.
//!
//! An operator is asked for its next row and answers whether there is one; the values are then in their homes in the
//! [`frame::Frame`]. Nothing is borrowed from one call to the next, so a run can be left after any row and taken up again.
//! What expressions compute lives in an arena that any operator may empty when it is called: the borrow checker sees to it
//! that nobody still looks.

pub mod code;
mod combinations;
pub mod context;
pub mod deferred;
mod element_sets;
pub mod eval;
pub mod foreign_key;
pub mod frame;
pub mod function_scan;
pub mod grouping;
pub mod hash_rows;
pub mod index_keys;
mod index_union;
pub mod instead;
mod join;
mod kept_values;
pub mod key_match;
pub mod lock_rows;
pub mod machine;
pub mod made_aggregate;
mod members;
pub mod modify;
pub mod operator;
mod partial_update;
mod partitions;
pub mod preset;
pub mod probe;
pub mod record_filter;
pub mod record_row;
pub mod referential_action;
pub mod routine;
pub mod row_change;
pub mod row_file;
pub mod row_sorter;
pub mod rows;
pub mod running;
pub mod scan;
pub mod set_operation;
pub mod sink;
pub mod sort;
pub mod spool;
pub mod subquery;
pub mod system_scan;
pub mod temp_file;
#[cfg(test)]
mod tests;
pub mod trigger;
pub mod unique;
pub mod window;
pub mod write;

pub use context::{Context, Cursors, Host};
pub use machine::{Machine, Run, Stop};
