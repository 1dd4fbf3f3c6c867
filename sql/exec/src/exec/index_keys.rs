//! Keys that are computed: the expressions of indexes, and whether a partial index has an entry for a row at all.
//!
//! They are worked out from a whole row, the old one as well as the new one, so an entry is found again when its row goes.
//! Tables without such indexes pay one test for it.

use super::context::Context;
use crate::catalog::relation::EXPRESSIONS;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical::{ComputedKeys, Table};
use crate::tuple::RowBuf;
use crate::types::Datum;

/// What computes the keys of a table's computed indexes: of each whether it has an entry for a row, and its expressions.
#[derive(Debug)]
pub struct KeyCodes(Box<[(Code, Code)]>);

impl KeyCodes {
    /// Of a table.
    #[must_use]
    pub fn of(table: &Table) -> KeyCodes {
        let keys = table.computed.iter().flat_map(|computed| &computed.keys);
        let codes = keys.map(|key| (Code::of_conditions(&key.filter), Code::of(&key.expressions)));
        KeyCodes(codes.collect())
    }
}

/// What the computed keys of one row are, for each of its table's computed indexes.
#[derive(Debug, Default)]
pub struct RowKeys {
    /// The values of an index's expressions; none: it has no entry for the row.
    keys: Vec<Option<RowBuf>>,
}

impl RowKeys {
    /// Works them out for a row of all columns.
    ///
    /// # Errors
    /// Those of the expressions.
    pub fn compute(
        &mut self,
        cx: &mut Context<'_>,
        (table, codes): (&Table, &KeyCodes),
        all: &RowBuf,
    ) -> Result<()> {
        let Some(computed) = &table.computed else { return Ok(()) };
        let row = cx.frame.row_mut(computed.slot);
        row.clear();
        for column in &table.live {
            row.push(all.get(*column));
        }
        self.keys.clear();
        for (filter, expressions) in &*codes.0 {
            let mut values = None;
            if cx.holds(filter, &[])? {
                cx.compute(expressions, values.insert(RowBuf::new()))?;
            }
            self.keys.push(values);
        }
        Ok(())
    }

    /// The values of an index's expressions, by its place in the relation: none if it has no entry for the row, and
    /// nothing where it is not computed.
    #[must_use]
    pub fn of(&self, computed: Option<&ComputedKeys>, index: usize) -> Option<Option<&RowBuf>> {
        let at = computed?.keys.iter().position(|key| key.index == index)?;
        self.keys.get(at).map(Option::as_ref)
    }
}

/// A column of a row, or an expression's value.
#[must_use]
pub fn key_value<'a>(all: &'a RowBuf, values: Option<&'a RowBuf>, column: usize) -> Datum<'a> {
    match (column.checked_sub(EXPRESSIONS), values) {
        (Some(at), Some(values)) => values.get(at),
        (Some(_), None) => Datum::Null,
        (None, _) => all.get(column),
    }
}
