//! What is equal to what is equal: where `a.x = b.y` and `a.x = 5` hold for all rows of a group of inner joins, `b.y = 5` does.
//!
//! PostgreSQL's equivalence classes (`equivclass.c`, `generate_base_implied_equalities_const`) as far as they have a value that
//! is known before the group's rows are: each member is compared with that value and the equalities between members go, since
//! they follow. So what stands behind the member (an outer join, a view that groups) is asked for its rows alone, and not for
//! all. Members are columns, compared by one operator of one pair of types; equality of the default B-tree orders is
//! transitive.

use super::functions::{Comparison, comparison};
use super::implied::same;
use super::scalar::{Scalar, Var};

/// `one = other` by an equality of two operands of one type.
fn equality(condition: &Scalar) -> Option<(u32, &Scalar, &Scalar)> {
    let Scalar::Call { callee, arguments, .. } = condition else { return None };
    let (Comparison::Equal, left, right) = comparison(callee.oid)? else { return None };
    let [one, other] = &**arguments else { return None };
    (left == right).then_some((callee.oid, one, other))
}

/// `column = value` with a value that is known before the rows are that fill what `is_own` says.
fn known<'s>(
    condition: &'s Scalar,
    is_own: &dyn Fn(Var) -> bool,
) -> Option<(u32, Var, &'s Scalar)> {
    let (operator, one, other) = equality(condition)?;
    [(one, other), (other, one)].into_iter().find_map(|(column, value)| match column {
        Scalar::Var(var)
            if is_own(*var)
                && !value.volatile()
                && value.subqueries().is_empty()
                && !value.reads(&mut |var| is_own(var)) =>
        {
            Some((operator, *var, value))
        }
        _ => None,
    })
}

/// `column = column`, both of rows that `is_own` speaks of.
fn tie(condition: &Scalar, is_own: &dyn Fn(Var) -> bool) -> Option<(u32, Var, Var)> {
    match equality(condition)? {
        (operator, Scalar::Var(one), Scalar::Var(other))
            if one != other && is_own(*one) && is_own(*other) =>
        {
            Some((operator, *one, *other))
        }
        _ => None,
    }
}

/// The conditions of a group of inner joins with the values of their equivalence classes in the place of the equalities
/// between members.
#[must_use]
pub fn with_values(mut conditions: Vec<Scalar>, is_own: &dyn Fn(Var) -> bool) -> Vec<Scalar> {
    while let Some((at, operator, member, value)) = next_class(&conditions, is_own) {
        let tie_at = conditions.remove(at);
        let stands = conditions.iter().any(|one| match known(one, is_own) {
            Some((by, var, own)) => by == operator && var == member && same(own, &value),
            None => false,
        });
        if let (false, Scalar::Call { callee, position, .. }) = (stands, tie_at) {
            let arguments = Box::new([Scalar::Var(member), value]);
            conditions.insert(at, Scalar::Call { callee, arguments, position });
        }
    }
    conditions
}

/// What the right rows of an outer join meet that have a partner at all, where `given` holds for each left row: a column that
/// the join compares with a left column that has a value is compared with that (`reconsider_outer_join_clauses`).
#[must_use]
pub fn of_partners(
    on: &[Scalar],
    given: &[Scalar],
    is_left: &dyn Fn(Var) -> bool,
    is_right: &dyn Fn(Var) -> bool,
) -> Vec<Scalar> {
    let is_own = |var| is_left(var) || is_right(var);
    let values: Vec<_> = given.iter().filter_map(|one| known(one, &is_own)).collect();
    let implied = |condition: &Scalar| {
        let (operator, one, other) = tie(condition, &is_own)?;
        let (with, member) = match (is_left(one), is_left(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return None,
        };
        let (.., value) = values.iter().find(|(by, var, _)| *by == operator && *var == with)?;
        let Scalar::Call { callee, position, .. } = condition else { return None };
        let (callee, position) = (callee.clone(), *position);
        let arguments = Box::new([Scalar::Var(member), (*value).clone()]);
        Some(Scalar::Call { callee, arguments, position })
    };
    on.iter().filter_map(implied).collect()
}

/// An equality between two columns of which one has a value: where it stands, its operator, the other column, and the value.
fn next_class(
    conditions: &[Scalar],
    is_own: &dyn Fn(Var) -> bool,
) -> Option<(usize, u32, Var, Scalar)> {
    let values: Vec<_> = conditions.iter().filter_map(|one| known(one, is_own)).collect();
    if values.is_empty() {
        return None;
    }
    conditions.iter().enumerate().find_map(|(at, condition)| {
        let (operator, one, other) = tie(condition, is_own)?;
        [(one, other), (other, one)].into_iter().find_map(|(with, member)| {
            let (.., value) = values.iter().find(|(by, var, _)| *by == operator && *var == with)?;
            Some((at, operator, member, (*value).clone()))
        })
    })
}
