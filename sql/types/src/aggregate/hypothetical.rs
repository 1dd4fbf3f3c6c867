//! Hypothetical-set aggregates (manual, table 9.63): where a row would stand among the others. Its values are the first
//! arguments, those of the row at hand the last; the rows come sorted.

use crate::array::{Array, Builder};
use crate::error::Result;
use crate::function::Accumulator;
use crate::{CallContext, Comparator, Datum};
use std::cmp::Ordering;

/// What is asked of the row's place.
#[derive(Clone, Copy, Debug)]
enum Place {
    Rank,
    DenseRank,
    PercentRank,
    CumulativeDistribution,
}

/// The place of a row among others.
pub(super) struct Hypothetical {
    place: Place,
    order: Vec<Comparator>,
    rows: u64,
    /// Rows that come before it.
    before: u64,
    /// Rows that come before it or beside it.
    up_to: u64,
    /// Different rows that come before it.
    different: u64,
    /// The last of these.
    last: Vec<Builder>,
}

/// A fresh state of the aggregate with this OID, if it is one of these.
#[must_use]
pub fn hypothetical(oid: u32, order: Vec<Comparator>) -> Option<Box<dyn Accumulator>> {
    let place = match oid {
        3986 => Place::Rank,
        3988 => Place::PercentRank,
        3990 => Place::CumulativeDistribution,
        3992 => Place::DenseRank,
        _ => return None,
    };
    let (rows, before, up_to, different) = (0, 0, 0, 0);
    let last = Vec::new();
    Some(Box::new(Hypothetical { place, order, rows, before, up_to, different, last }))
}

impl Hypothetical {
    /// Counts a row that comes before the hypothetical one, unless the row before it was the same.
    fn count_different(&mut self, context: &CallContext<'_>, row: &[Datum<'_>]) -> Result<()> {
        let mut same = !self.last.is_empty();
        for ((kept, value), order) in self.last.iter().zip(row).zip(&self.order) {
            let Datum::Array(bytes) = kept.finish(context.arena) else { continue };
            let kept = Array::of(bytes).datum(context.arena, 0)?;
            same &= order.compare(&kept, value).is_eq();
        }
        if same {
            return Ok(());
        }
        self.different += 1;
        self.last = row
            .iter()
            .zip(&self.order)
            .map(|(value, order)| {
                let mut kept = Builder::new(order.ty);
                kept.push(value);
                kept
            })
            .collect();
        Ok(())
    }
}

impl Accumulator for Hypothetical {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let (hypothetical, row) = arguments.split_at(self.order.len());
        let pairs = row.iter().zip(hypothetical).zip(&self.order);
        let mut order = Ordering::Equal;
        for ((value, hypothetical), comparator) in pairs {
            order = comparator.compare_strictly(context, value, hypothetical)?;
            if order.is_ne() {
                break;
            }
        }
        self.rows += 1;
        self.before += u64::from(order.is_lt());
        self.up_to += u64::from(order.is_le());
        if order.is_lt() && matches!(self.place, Place::DenseRank) {
            self.count_different(context, row)?;
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(match self.place {
            Place::Rank => Datum::Int8(self.before as i64 + 1),
            Place::DenseRank => Datum::Int8(self.different as i64 + 1),
            Place::PercentRank if self.rows == 0 => Datum::Float8(0.0),
            Place::PercentRank => Datum::Float8(self.before as f64 / self.rows as f64),
            Place::CumulativeDistribution => {
                Datum::Float8((self.up_to + 1) as f64 / (self.rows + 1) as f64)
            }
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Hypothetical>() + self.last.iter().map(Builder::bytes).sum::<usize>()
    }
}
