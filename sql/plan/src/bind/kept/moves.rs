//! The rows of kept queries as they were, and as they are: a tree's columns are places in rows that are as wide as they were
//! when it was made, and relations get and lose columns.
//!
//! What loses a column that the query names goes with it, so that what is missing here is asked for by whole rows alone. These
//! are rows of today, whatever columns they were of.

use super::code::corrupt;
use crate::bind::grouping::AGGREGATES;
use crate::bind::levels::{Visitor, visit_below, walk_query};
use crate::bind::logical::Query;
use crate::bind::scope::{ScopeItem, column_at};
use crate::bind::tree::FromTree;
use crate::bind::typed::Expr;
use crate::error::Result;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// Where the columns of a row are by now.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// By where they were; none for those that have gone.
    places: Vec<Option<usize>>,
    /// The tables whose rows are in it.
    rows: Vec<WholeRow>,
    /// How many columns there are.
    width: usize,
    changed: bool,
}

/// The columns of a table in a row.
#[derive(Debug)]
struct WholeRow {
    /// The type of its rows.
    ty: Oid,
    /// The place where they began, and how many there were.
    before: (usize, usize),
    /// Those of today.
    columns: Vec<Expr>,
}

impl Moves {
    /// Of a row of so many columns that is as it was.
    pub(super) fn none(width: usize) -> Moves {
        let places = (0..width).map(Some).collect();
        Moves { places, rows: Vec::new(), width, changed: false }
    }

    /// Of an item whose columns had the numbers `before` and have the numbers `now`; `types` are those of the latter.
    pub(super) fn of(before: &[i16], now: &[i16], types: &[SqlType], row_type: Oid) -> Moves {
        if before == now {
            return Moves::none(before.len());
        }
        let place = |number: &i16| now.iter().position(|known| known == number);
        let own = |numbers: &[i16]| numbers.iter().filter(|number| **number > 0).count();
        let columns = types.iter().take(own(now)).enumerate();
        let columns = columns.map(|(at, ty)| column_at(at, *ty)).collect();
        let row = WholeRow { ty: row_type, before: (0, own(before)), columns };
        Moves {
            places: before.iter().map(place).collect(),
            rows: vec![row],
            width: now.len(),
            changed: true,
        }
    }

    /// How many columns the row has by now.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The places where the columns of today were; none for those that have come.
    pub(super) fn origins(&self) -> Vec<Option<usize>> {
        let was = |place: usize| self.places.iter().position(|now| *now == Some(place));
        (0..self.width).map(was).collect()
    }

    /// Puts the row of another item behind this one.
    pub(super) fn append(&mut self, right: Moves) {
        let (before, now) = (self.places.len(), self.width);
        self.places.extend(right.places.into_iter().map(|place| Some(place? + now)));
        self.rows.extend(right.rows.into_iter().map(|mut row| {
            row.before.0 += before;
            for column in &mut row.columns {
                if let Expr::Column { column, .. } = column {
                    *column += now as u32;
                }
            }
            row
        }));
        self.width += right.width;
        self.changed |= right.changed;
    }

    /// An expression over the row as it was, over that of today.
    pub(super) fn expr(&self, expr: &mut Expr) -> Result<()> {
        self.moved(&mut |mover| mover.expr(expr, 0))
    }

    /// The same of what stands to the right of the row, and looks at it.
    pub(super) fn beside(&self, tree: &mut FromTree) -> Result<()> {
        self.moved(&mut |mover| tree.walk(1, mover))
    }

    /// The same of the names of a join, without those of columns that have gone.
    pub(super) fn item(&self, item: &mut ScopeItem) {
        if self.changed {
            item.columns.retain_mut(|column| self.expr(&mut column.expr).is_ok());
        }
    }

    fn moved(&self, walk: &mut dyn FnMut(&mut Mover<'_>)) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let mut mover = Mover { moves: self, lost: false };
        walk(&mut mover);
        match mover.lost {
            true => Err(corrupt("it names a column that is not there")),
            false => Ok(()),
        }
    }
}

struct Mover<'m> {
    moves: &'m Moves,
    /// Something names a column that has gone.
    lost: bool,
}

impl Mover<'_> {
    /// The row of today in place of a table's whole row, `depth` rows out.
    fn whole_row(&self, fields: &[Expr], ty: SqlType, depth: u16) -> Option<Vec<Expr>> {
        let is = |(field, place): (&Expr, usize)| matches!(field, Expr::Column { level, column, .. } if *level == depth && *column as usize == place);
        let whole = |row: &&WholeRow| {
            let (first, count) = row.before;
            row.ty == ty.oid && fields.len() == count && fields.iter().zip(first..).all(is)
        };
        let mut columns = self.moves.rows.iter().find(whole)?.columns.clone();
        columns.iter_mut().for_each(|column| crate::bind::levels::raise(column, depth));
        Some(columns)
    }
}

impl Visitor for Mover<'_> {
    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        match expr {
            Expr::Column { level, column, .. } if *level == depth && *column < AGGREGATES => {
                match self.moves.places.get(*column as usize) {
                    Some(Some(place)) => *column = *place as u32,
                    _ => self.lost = true,
                }
            }
            Expr::Row(fields, ty, None) => match self.whole_row(fields, *ty, depth) {
                Some(columns) => *fields = columns,
                None => visit_below(expr, depth, self),
            },
            _ => visit_below(expr, depth, self),
        }
    }

    fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
        walk_query(Arc::make_mut(query), depth, self);
    }
}
