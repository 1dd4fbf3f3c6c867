//! The query that an aggregate belongs to (`check_agglevels_and_constraints`; manual, section 4.2.7).
//!
//! It is the innermost one whose columns the aggregate reads, or its own where it reads none. To that query's block the call
//! is handed, as an expression over that block's row; where it was written a column of an outer row is left.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::grouping::{self, AGGREGATES};
use crate::bind::levels::{columns_of_expr, lower};
use crate::bind::scope::Standing;
use crate::bind::typed::{AggregateCall, Expr};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The innermost rows that expressions look at.
#[derive(Default)]
struct Reads {
    /// How many rows out the innermost column is.
    column: Option<u16>,
    /// How many rows out the innermost aggregate is, and its number.
    aggregate: Option<(u16, u32)>,
}

impl Reads {
    fn of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Reads {
        let mut reads = Reads::default();
        for expr in exprs {
            columns_of_expr(&mut expr.clone(), 0, &mut |column, depth| {
                let Expr::Column { level, column: number, .. } = column else { return };
                let Some(out) = level.checked_sub(depth) else { return };
                if *number >= AGGREGATES {
                    if reads.aggregate.is_none_or(|(known, _)| out < known) {
                        reads.aggregate = Some((out, *number));
                    }
                } else {
                    reads.column = Some(reads.column.map_or(out, |known| known.min(out)));
                }
            });
        }
        reads
    }

    fn innermost(&self) -> u16 {
        let aggregate = self.aggregate.map(|(out, _)| out);
        let both = self.column.into_iter().chain(aggregate);
        both.min().unwrap_or(0)
    }
}

impl Binder<'_> {
    /// How many rows out the query is that an aggregate belongs to. Its first arguments, whose places in the text `direct`
    /// has, are not aggregated.
    ///
    /// # Errors
    /// 42803.
    pub(super) fn aggregate_level(
        &self,
        call: &AggregateCall,
        direct: &[u32],
        place: &Place<'_>,
        at: u32,
    ) -> Result<u16> {
        let (direct_arguments, aggregated) = call.arguments.split_at(direct.len());
        let keys = call.order_by.iter().map(|key| &key.expr);
        let reads = Reads::of(aggregated.iter().chain(keys).chain(&call.filter));
        let level = reads.innermost();
        let nested = |number: u32, level: u16| {
            let known = place.scope.standing(level).collected.map(|collected| {
                let asked = &collected.borrow().asked;
                asked.get((number - AGGREGATES) as usize).copied()
            });
            refused(grouping::NESTED, "aggregate").at(known.flatten().unwrap_or(at))
        };
        if let Some((out, number)) = reads.aggregate
            && out == level
        {
            return Err(nested(number, out));
        }
        for (argument, &at) in direct_arguments.iter().zip(direct) {
            let reads = Reads::of(std::iter::once(argument));
            if reads.column.is_some_and(|column| column < level) {
                return Err(SqlError::new(
                    SqlState::GROUPING_ERROR,
                    "outer-level aggregate cannot contain a lower-level variable in its direct arguments",
                )
                .at(at));
            }
            if let Some((out, number)) = reads.aggregate
                && out <= level
            {
                return Err(nested(number, out));
            }
        }
        Ok(level)
    }

    /// The same for GROUPING.
    pub(super) fn grouping_level(&self, arguments: &[(Expr, u32)]) -> u16 {
        Reads::of(arguments.iter().map(|(argument, _)| argument)).innermost()
    }

    /// Hands an aggregate to the query `level` rows out; the column that stands for its value.
    ///
    /// # Errors
    /// 42803 where that query takes no aggregates from where this is.
    pub(super) fn collect_aggregate(
        &self,
        mut call: AggregateCall,
        level: u16,
        place: &Place<'_>,
        (at, direct): (u32, &[u32]),
    ) -> Result<Expr> {
        let standing = standing(place, level);
        let Some(collected) = standing.collected else {
            return Err(refused(standing.clause, "aggregate").at(at));
        };
        call.expressions().for_each(|expr| lower_by(expr, level));
        let ty = call.ty;
        let mut column =
            grouping::aggregate_column(&mut collected.borrow_mut(), call, ty, (at, direct));
        crate::bind::levels::raise(&mut column, level);
        Ok(column)
    }

    /// Hands a GROUPING to the query `level` rows out.
    ///
    /// # Errors
    /// 42803 where that query takes none from where this is.
    pub(super) fn collect_grouping(
        &self,
        mut arguments: Vec<(Expr, u32)>,
        level: u16,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let standing = standing(place, level);
        let Some(collected) = standing.collected else {
            return Err(SqlError::new(
                SqlState::GROUPING_ERROR,
                format!("grouping operations are not allowed in {}", standing.clause),
            )
            .at(at));
        };
        arguments.iter_mut().for_each(|(argument, _)| lower_by(argument, level));
        let mut column = grouping::grouping_column(&mut collected.borrow_mut(), arguments);
        crate::bind::levels::raise(&mut column, level);
        Ok(column)
    }
}

/// Where aggregates of the query `level` rows out go.
pub(super) fn standing<'s>(place: &Place<'s>, level: u16) -> Standing<'s> {
    match level {
        0 => Standing { clause: place.clause, collected: place.collected },
        _ => place.scope.standing(level),
    }
}

fn lower_by(expr: &mut Expr, levels: u16) {
    (0..levels).for_each(|_| lower(expr));
}

/// An aggregate or window function where there must be none.
pub(super) fn refused(clause: &str, what: &str) -> SqlError {
    let message = match (clause, what) {
        (grouping::NESTED, "aggregate") => "aggregate function calls cannot be nested".to_owned(),
        (grouping::NESTED, _) => {
            format!("aggregate function calls cannot contain {what} function calls")
        }
        _ => format!("{what} functions are not allowed in {clause}"),
    };
    let state = match what {
        "window" if clause != grouping::NESTED => SqlState::WINDOWING_ERROR,
        _ => SqlState::GROUPING_ERROR,
    };
    SqlError::new(state, message)
}
