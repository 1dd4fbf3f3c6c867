//! What an UPDATE of some columns needs of a row: the rest of the record is carried over as it lies.
//!
//! Of the row that was, those columns are read that decide on something: those assigned, and with one of them all of its
//! key, index or foreign key; and those that RETURNING shows. Where no key, index or foreign key has a column that is assigned,
//! nobody compares the new row with the old one, and those that RETURNING shows beside them are all. A row is changed as a whole where more is asked of it:
//! generated columns, CHECK constraints, computed indexes, RETURNING with subqueries, a key that may change; long values, columns added since it was written, or a NULL where there must be none, whose
//! error shows the row.

use crate::plan::physical::Table;
use crate::plan::scalar::Scalar;
use std::collections::BTreeSet;

/// How many texts are read together rather than one by one.
const TEXTS_MIN: usize = 3;

/// The columns of an update, by index in the relation.
#[derive(Debug)]
pub struct PartialUpdate {
    /// Those assigned, each once, in the order of the relation.
    pub assigned: Vec<usize>,
    /// Those that are read.
    pub read: Vec<usize>,
    /// Whether these are several of the texts that a record begins with.
    pub texts: bool,
    /// The indexes whose entries may change, by place in `table.indexes`.
    pub indexes: Vec<usize>,
    /// Whether a column of a unique key may change, which others may refer to.
    pub unique: bool,
    /// Where the value of each column assigned stands among the assignments, in the order of the columns, where the record can be made
    /// of these values as they are computed, and RETURNING can look at it: [`PartialUpdate::alone`], each column assigned once, and
    /// those that are shown lie in place.
    pub in_record: Option<Box<[usize]>>,
    /// Whether nobody asks what the row was: no key, index or foreign key has a column that is assigned.
    pub alone: bool,
}

impl PartialUpdate {
    /// Of these assignments, by place among the live columns, where these of the live columns are looked at afterwards; none
    /// if they need all of a row.
    #[must_use]
    pub fn of(
        table: &Table,
        assignments: &[(usize, Scalar)],
        shown: &[usize],
    ) -> Option<PartialUpdate> {
        // They may be computed twice, where the row turns out to be changed as a whole.
        if table.computed.is_some() || assignments.iter().any(|(_, value)| value.volatile()) {
            return None;
        }
        let assigned: BTreeSet<usize> = assignments.iter().map(|(at, _)| table.live[*at]).collect();
        // Who moves takes all entries along.
        let mut own = table.key.iter().flat_map(|layout| &layout.columns);
        if own.any(|column| assigned.contains(&column.column)) {
            return None;
        }
        let mut read = assigned.clone();
        read.extend(shown.iter().map(|at| table.live[*at]));
        let (mut indexes, mut refers) = (Vec::new(), false);
        for (at, (_, layout)) in table.indexes.iter().enumerate() {
            let columns = layout.columns.iter().map(|one| one.column);
            if touches(&assigned, columns.clone()) {
                read.extend(columns);
                indexes.push(at);
            }
        }
        for reference in &table.references {
            let columns = super::foreign_key::key_of(reference).columns.iter().copied();
            if touches(&assigned, columns.clone()) {
                read.extend(columns);
                refers = true;
            }
        }
        for reference in &table.referenced_by {
            let columns = super::foreign_key::key_of(reference).referenced.iter().copied();
            if touches(&assigned, columns.clone()) {
                read.extend(columns);
                refers = true;
            }
        }
        let unique = table
            .relation
            .indexes
            .iter()
            .filter(|index| index.unique)
            .any(|index| touches(&assigned, index.columns.iter().map(|one| one.column)));
        let alone = indexes.is_empty() && !refers && !unique;
        if alone {
            read.retain(|column| !assigned.contains(column));
        }
        let mut order: Vec<usize> = (0..assignments.len()).collect();
        order.sort_by_key(|at| table.live[assignments[*at].0]);
        let shows = |at: &usize| table.layout.form(table.live[*at]).lies_in_place();
        let in_record = (alone && order.len() == assigned.len() && shown.iter().all(shows))
            .then(|| order.into());
        let texts = read.iter().filter(|column| table.layout.begins_with(**column)).count();
        Some(PartialUpdate {
            texts: texts >= TEXTS_MIN,
            assigned: assigned.into_iter().collect(),
            read: read.into_iter().collect(),
            indexes,
            unique,
            in_record,
            alone,
        })
    }
}

fn touches(assigned: &BTreeSet<usize>, mut columns: impl Iterator<Item = usize>) -> bool {
    columns.any(|column| assigned.contains(&column))
}
