//! Scans of an index alone: where its entries hold every column that is asked for, rows are not read at all.
//!
//! An entry is a record of its own, judged by the same snapshot as the row it leads to, so it says as much of visibility as
//! the row would (PostgreSQL needs a visibility map for that). It holds the index's columns and, as the row's key, those of
//! the primary key; of a type whose equal values may look different (numeric, float, bpchar) it holds no value, and what
//! stands behind such a column in the key is not found either.

use super::physical::{Access, Scan, ScanColumn};
use crate::catalog::RelationKind;
use crate::tuple::{KeyColumn, KeyLayout};

/// Where an entry holds what a scan puts out.
#[derive(Clone, Debug)]
pub struct Covering {
    /// The first columns of the index that are read.
    pub entry: Vec<KeyColumn>,
    /// The first columns of the row's key that are read.
    pub row: Vec<KeyColumn>,
    /// For each of the scan's outputs; none is not asked for.
    pub outputs: Vec<Option<Part>>,
}

/// A part of an entry.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A column of the index.
    Entry(usize),
    /// A column of the row's key.
    Row(usize),
    /// The row's key itself.
    Key,
}

/// How the entries that a scan reads hold all that is asked for, if they do.
#[must_use]
pub fn covering(scan: &Scan) -> Option<Covering> {
    let Access::Key(access) = &scan.access else { return None };
    if !scan.index_only {
        return None;
    }
    access.index?;
    let readable = |layout: &KeyLayout| {
        layout.columns.iter().take_while(|column| column.keeps_values()).copied().collect()
    };
    let entry: Vec<KeyColumn> = readable(&access.layout);
    let row: Vec<KeyColumn> = match &scan.relation.kind {
        RelationKind::Table { key, .. } => readable(&scan.relation.key_layout(key)),
        _ => return None,
    };
    let part = |output: &ScanColumn| match output {
        ScanColumn::Column(column) => {
            let place =
                |columns: &[KeyColumn]| columns.iter().position(|one| one.column == *column);
            place(&entry).map(Part::Entry).or_else(|| place(&row).map(Part::Row))
        }
        ScanColumn::Key => Some(Part::Key),
        ScanColumn::System(_) => None,
    };
    let mut outputs = Vec::with_capacity(scan.outputs.len());
    for (output, wanted) in scan.outputs.iter().zip(&scan.wanted) {
        outputs.push(if *wanted { Some(part(output)?) } else { None });
    }
    let last = |of: fn(Part) -> Option<usize>| {
        outputs.iter().flatten().filter_map(|part| of(*part)).max().map_or(0, |at| at + 1)
    };
    let entries = last(|part| if let Part::Entry(at) = part { Some(at) } else { None });
    let rows = last(|part| if let Part::Row(at) = part { Some(at) } else { None });
    Some(Covering { entry: entry[..entries].to_vec(), row: row[..rows].to_vec(), outputs })
}
