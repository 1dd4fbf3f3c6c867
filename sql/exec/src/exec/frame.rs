//! The frame: one row for each slot of a program, where the values of the current row live.

use super::element_sets::ElementSets;
use super::kept_values::KeptValues;
use crate::plan::scalar::Var;
use crate::tuple::RowBuf;
use crate::types::Datum;

/// The rows of a run.
#[derive(Debug, Default)]
pub struct Frame {
    rows: Vec<RowBuf>,
    /// Arrays of the run that are asked for elements.
    pub elements: ElementSets,
    /// Values of the run that no row changes.
    pub kept: KeptValues,
}

impl Frame {
    /// Rows of these widths, all NULL.
    #[must_use]
    pub fn new(widths: &[usize]) -> Frame {
        let rows = widths
            .iter()
            .map(|width| {
                let mut row = RowBuf::new();
                row.set_nulls(*width);
                row
            })
            .collect();
        Frame { rows, ..Frame::default() }
    }

    /// The value at a home.
    #[must_use]
    #[inline]
    pub fn get(&self, var: Var) -> Datum<'_> {
        self.rows[var.slot as usize].get(var.column as usize)
    }

    /// The row and the column of a home.
    #[must_use]
    #[inline]
    pub fn place(&self, var: Var) -> (&RowBuf, usize) {
        (&self.rows[var.slot as usize], var.column as usize)
    }

    /// What the values of its rows occupy.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.rows.iter().map(RowBuf::capacity_bytes).sum()
    }

    /// A slot's row.
    #[must_use]
    pub fn row(&self, slot: u32) -> &RowBuf {
        &self.rows[slot as usize]
    }

    /// A slot's row, to be filled.
    pub fn row_mut(&mut self, slot: u32) -> &mut RowBuf {
        &mut self.rows[slot as usize]
    }

    /// Takes a slot's row out, so that it can be filled while others are read; [`Frame::put`] puts it back.
    #[must_use]
    pub fn take(&mut self, slot: u32) -> RowBuf {
        std::mem::take(&mut self.rows[slot as usize])
    }

    /// Puts a slot's row in.
    pub fn put(&mut self, slot: u32, row: RowBuf) {
        self.rows[slot as usize] = row;
    }

    /// Makes the slots' rows NULL: the side of an outer join that found nothing.
    pub fn set_nulls(&mut self, slots: &[(u32, usize)]) {
        for (slot, width) in slots {
            self.rows[*slot as usize].set_nulls(*width);
        }
    }

    /// Fills the homes in `saved`, which are sorted, from a row that was saved.
    pub fn restore<'a>(&mut self, saved: &[Var], row: impl Iterator<Item = Datum<'a>>) {
        let mut slot = u32::MAX;
        for (var, datum) in saved.iter().zip(row) {
            if var.slot != slot {
                slot = var.slot;
                let width = self.rows[slot as usize].len();
                self.rows[slot as usize].set_nulls(width);
            }
            self.rows[slot as usize].set(var.column as usize, datum);
        }
    }
}
