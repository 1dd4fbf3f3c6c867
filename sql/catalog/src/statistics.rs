//! What ANALYZE found out about a table, as the planner and `pg_stats` read it.
//!
//! Values are kept in their type's text form: they outlive the statement that sampled them, `pg_stats` shows text, and a
//! plan that wants to compare them reads each once. Meaning of the figures: PostgreSQL 15 manual, section 53.14.

use std::sync::Arc;

/// A table's statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableStatistics {
    /// Rows, estimated from what was read (`pg_class.reltuples`).
    pub rows: f64,
    /// Pages of 8 KiB that the rows fill (`pg_class.relpages`).
    pub pages: u32,
    /// Per column by index; none for dropped ones and those of types that cannot be compared.
    pub columns: Vec<Option<ColumnStatistics>>,
}

/// A column's statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStatistics {
    /// The part of the rows that is NULL.
    pub null_fraction: f64,
    /// The values' mean size in bytes.
    pub width: i32,
    /// Distinct values: a number, or, negative, a part of the number of rows.
    pub distinct: f64,
    /// The most common values with the parts of all rows that they are, most common first.
    pub common: Vec<(Arc<str>, f64)>,
    /// Bounds of ranges with about as many rows each, common values left out.
    pub histogram: Vec<Arc<str>>,
    /// How far the order of the rows follows the order of the values: -1 to 1.
    pub correlation: Option<f64>,
}
