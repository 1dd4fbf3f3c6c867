//! The shape of a query: what its rows are made by, between what it returns and what FROM gives it.
//!
//! A row of a plain query is a row of its FROM. What groups, combines or multiplies rows ends that: such rows cannot be
//! locked, and no view of them changes its table.

use crate::bind::logical::Node;

/// What the rows of a query are made by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// UNION, INTERSECT, EXCEPT. What its sides are is not looked at.
    pub set_operation: bool,
    /// DISTINCT. What is below it is not looked at.
    pub distinct: bool,
    /// Groups. What is below them is not looked at.
    pub grouped: Option<Grouped>,
    /// Window functions.
    pub windows: bool,
    /// Set-returning functions in the select list.
    pub sets: bool,
}

/// Why rows are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouped {
    /// GROUP BY.
    ByKeys,
    /// HAVING, without GROUP BY.
    Having,
    /// Aggregates, without either.
    Whole,
}

impl Shape {
    /// That of a query with this root.
    pub(super) fn of(root: &Node) -> Shape {
        let mut shape = Shape::default();
        let (mut node, mut chosen) = (root, false);
        loop {
            node = match node {
                Node::SetOperation { .. } => {
                    shape.set_operation = true;
                    return shape;
                }
                Node::Distinct { .. } => {
                    shape.distinct = true;
                    return shape;
                }
                Node::Aggregate { keys, sets, .. } => {
                    let by_keys = !keys.is_empty() || sets.len() > 1;
                    let otherwise = if chosen { Grouped::Having } else { Grouped::Whole };
                    shape.grouped = Some(if by_keys { Grouped::ByKeys } else { otherwise });
                    return shape;
                }
                Node::Filter { input, .. } => {
                    chosen = true;
                    input
                }
                Node::Window { input, .. } => {
                    shape.windows = true;
                    input
                }
                Node::ProjectSet { input, .. } => {
                    shape.sets = true;
                    input
                }
                Node::Project { input, .. }
                | Node::Sort { input, .. }
                | Node::Limit { input, .. }
                | Node::Barrier { input, .. }
                | Node::LockRows { input, .. } => input,
                _ => return shape,
            };
        }
    }
}
