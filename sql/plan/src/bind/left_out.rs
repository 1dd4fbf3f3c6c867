//! What grouping sets make of keys that they leave out, where that is more than NULL for a column of the grouped row.
//!
//! A key that is a constant is NULL in its own item of the select list and in keys of windows alone: PostgreSQL 15 folds
//! constants before it looks for keys, and finds only these again. Direct arguments of ordered-set aggregates are over the rows of the input,
//! which know nothing of the sets; so a call is made once for each choice of keys that a set leaves out, with NULL in
//! their place, and the set says which of them counts.

use crate::bind::Binder;
use crate::bind::grouping::{AGGREGATES, GROUPINGS, Groups};
use crate::bind::levels::{any, children, columns_of_expr, raise, same};
use crate::bind::operator::op;
use crate::bind::scope::column_at;
use crate::bind::typed::{AggregateCall, Expr, Literal};
use crate::catalog::builtin::{Volatility, function};
use crate::error::Result;
use crate::types::{Oid, SqlType, oids};

/// A call that stands for several, told apart by what a grouping set leaves out.
pub(super) struct Chosen {
    /// Its number among the aggregates.
    number: u32,
    /// The call that counts, by the number of its column while the block is bound.
    value: Expr,
}

/// Whether an expression is one value, whatever the row and the time.
pub(super) fn is_constant(expr: &Expr) -> bool {
    let mutable = |called: Oid| {
        function(called.0).is_none_or(|found| found.volatility != Volatility::Immutable)
    };
    !any(expr, &|part| match part {
        Expr::Column { .. } | Expr::Subquery { .. } | Expr::CurrentValue(..) => true,
        Expr::Call { function, .. } | Expr::ScalarArray { function, .. } => mutable(*function),
        Expr::IsDistinct { equals, .. } | Expr::NullIf { equals, .. } => mutable(*equals),
        _ => false,
    })
}

/// Puts NULL where one of `keys` stands.
fn without(expr: &mut Expr, keys: &[&Expr]) {
    if keys.iter().any(|key| same(key, expr)) {
        *expr = Expr::Constant(Literal::Null, expr.ty());
        return;
    }
    children(expr, &mut |child| without(child, keys));
}

impl Binder<'_> {
    /// As [`Binder::group`], of what stands in the select list or is the key of a window: it is the key whose item of the
    /// select list is `own`; a constant is a key there alone.
    ///
    /// # Errors
    /// 42803.
    pub(super) fn group_whole(
        &self,
        (expr, at): (&mut Expr, u32),
        own: &dyn Fn(Option<usize>) -> bool,
        groups: &mut Groups<'_>,
    ) -> Result<()> {
        let its = |key: &usize| own(groups.items[*key]) && same(&groups.keys[*key], expr);
        let own_key = (0..groups.items.len()).find(|key| groups.items[*key].is_some() && its(key));
        if let Some(key) = own_key.or_else(|| groups.constants.iter().copied().find(its)) {
            *expr = column_at(key, expr.ty());
            return Ok(());
        }
        self.group(expr, groups, at)
    }

    /// Refuses direct arguments of an ordered-set aggregate that are not grouped by, and tells which keys they name.
    ///
    /// # Errors
    /// 42803.
    pub(super) fn direct_are_grouped(
        &self,
        call: &AggregateCall,
        places: &[u32],
        groups: &mut Groups<'_>,
    ) -> Result<Vec<usize>> {
        let mut named = Vec::new();
        for (argument, &at) in call.arguments.iter().zip(places) {
            let mut argument = argument.clone();
            self.group(&mut argument, groups, at).map_err(|error| {
                error.detail(
                    "Direct arguments of an ordered-set aggregate must use only grouped columns.",
                )
            })?;
            columns_of_expr(&mut argument, 0, &mut |column, _| {
                if let Expr::Column { level: 0, column, .. } = column
                    && *column < AGGREGATES
                    && !named.contains(&(*column as usize))
                {
                    named.push(*column as usize);
                }
            });
        }
        Ok(named)
    }

    /// Makes the calls whose first arguments, so many as `direct`, name keys that some of `sets` leave out. Which they
    /// leave out is one more GROUPING.
    ///
    /// # Errors
    /// Those of GROUPING.
    pub(super) fn choose_by_set(
        &self,
        (number, named, direct): (usize, Vec<usize>, usize),
        sets: &[Vec<u32>],
        groups: &Groups<'_>,
        (calls, groupings): (&mut Vec<AggregateCall>, &mut Vec<Vec<(Expr, u32)>>),
    ) -> Result<Option<Chosen>> {
        let has = |set: &Vec<u32>, key: usize| set.contains(&(key as u32));
        let named: Vec<usize> =
            named.into_iter().filter(|key| !sets.iter().all(|set| has(set, *key))).collect();
        if named.is_empty() || self.prints() {
            return Ok(None);
        }
        let asked = named.iter().map(|key| (groups.keys[*key].clone(), 0)).collect();
        let told = column_at(GROUPINGS as usize + groupings.len(), SqlType::plain(oids::INT4));
        groupings.push(asked);
        let call = calls[number].clone();
        let column = |at: usize| column_at(AGGREGATES as usize + at, call.ty);
        let (mut seen, mut branches) = (vec![0], Vec::new());
        for set in sets {
            let last = named.len() - 1;
            let left_out = named.iter().enumerate().filter(|(_, key)| !has(set, **key));
            let (mut bits, mut missing) = (0, Vec::new());
            for (place, key) in left_out {
                bits |= 1 << (last - place);
                missing.push(&groups.keys[*key]);
            }
            if seen.contains(&bits) {
                continue;
            }
            seen.push(bits);
            let mut variant = call.clone();
            variant.arguments[..direct].iter_mut().for_each(|one| without(one, &missing));
            calls.push(variant);
            let bits = Expr::Constant(Literal::Int4(bits), SqlType::plain(oids::INT4));
            let test = self.infix(&op("="), told.clone(), bits, 0)?;
            branches.push((test, column(calls.len() - 1)));
        }
        let otherwise = Some(Box::new(column(number)));
        let value =
            Expr::Case { operand: None, given: Vec::new(), branches, otherwise, ty: call.ty };
        Ok(Some(Chosen { number: number as u32, value }))
    }

    /// Puts what was chosen where it is asked for.
    pub(super) fn place_chosen(&self, chosen: &[Chosen], expr: &mut Expr) {
        columns_of_expr(expr, 0, &mut |column, depth| {
            if let Expr::Column { level, column: number, .. } = column
                && *level == depth
                && let Some(found) = chosen.iter().find(|one| one.number + AGGREGATES == *number)
            {
                let mut value = found.value.clone();
                raise(&mut value, depth);
                *column = value;
            }
        });
    }
}
