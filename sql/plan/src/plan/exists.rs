//! EXISTS asks for a row and not for what is in it (`simplify_EXISTS_query`).

use crate::bind::logical::{Node, Query};
use crate::bind::{Expr, Literal};
use crate::settings::{Rule, RuleSet};
use std::borrow::Cow;

/// A query that has a row if this one has: without its columns, DISTINCT, ORDER BY and a LIMIT that lets a row through.
#[must_use]
pub fn simplified(rules: RuleSet, query: &Query) -> Cow<'_, Query> {
    match source(&query.root) {
        Some(root) if rules.has(Rule::SimplifyExists) => Cow::Owned(Query {
            root: root.clone(),
            output: Vec::new(),
            ctes: query.ctes.clone(),
            tree: None,
        }),
        _ => Cow::Borrowed(query),
    }
}

/// What the rows are made of, where each of them is one row of the query.
fn source(node: &Node) -> Option<&Node> {
    match node {
        Node::Unit | Node::Scan { .. } | Node::Join { .. } | Node::Filter { .. } => Some(node),
        Node::Derived { .. }
        | Node::FunctionScan { .. }
        | Node::Values { .. }
        | Node::Constants { .. }
        | Node::CteScan { .. }
        | Node::Nothing(_) => Some(node),
        Node::Project { input, .. } | Node::Sort { input, .. } | Node::Distinct { input, .. } => {
            source(input)
        }
        Node::Limit { input, limit, offset: None, with_ties: None } => match limit {
            None | Some(Expr::Constant(Literal::Null | Literal::Int8(1..), _)) => source(input),
            Some(_) => None,
        },
        _ => None,
    }
}
