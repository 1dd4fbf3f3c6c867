//! Whether two queries are the same, wherever they stand in the text: what tells that a subquery in the select list is the one
//! of GROUP BY (PostgreSQL's `equal`).
//!
//! Both have been bound in places with the same rows around them, so columns and WITH queries outside are the same where
//! their numbers are. Queries that change rows are never the same.

use super::levels::same;
use super::typed::{AggregateCall, Expr, SubqueryKind};
use crate::bind::logical::{Cte, CteBody, Frame, FrameBound, Node, Query, SortKey};

/// Whether two subqueries of expressions are asked the same.
pub(super) fn same_kind(a: &SubqueryKind, b: &SubqueryKind) -> bool {
    match (a, b) {
        (
            SubqueryKind::Quantified { test: ta, quantifier: qa },
            SubqueryKind::Quantified { test: tb, quantifier: qb },
        ) => qa == qb && same(ta, tb),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Whether two queries are the same, but for the names of what they return.
pub(super) fn same_query(a: &Query, b: &Query) -> bool {
    a.output.len() == b.output.len()
        && pairwise(&a.ctes, &b.ctes, same_cte)
        && same_node(&a.root, &b.root)
}

fn pairwise<T>(a: &[T], b: &[T], alike: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
}

fn all(a: &[Expr], b: &[Expr]) -> bool {
    pairwise(a, b, same)
}

fn both<T>(a: Option<&T>, b: Option<&T>, alike: impl Fn(&T, &T) -> bool) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => alike(a, b),
        _ => false,
    }
}

fn same_cte(a: &Cte, b: &Cte) -> bool {
    match (&a.body, &b.body) {
        (CteBody::Query(a), CteBody::Query(b)) => same_query(a, b),
        (
            CteBody::Recursive { base: base_a, step: step_a, all: all_a },
            CteBody::Recursive { base: base_b, step: step_b, all: all_b },
        ) => all_a == all_b && same_query(base_a, base_b) && same_query(step_a, step_b),
        _ => false,
    }
}

fn same_keys(a: &[SortKey], b: &[SortKey]) -> bool {
    pairwise(a, b, |a, b| {
        a.descending == b.descending && a.nulls_first == b.nulls_first && same(&a.expr, &b.expr)
    })
}

fn same_calls(a: &[AggregateCall], b: &[AggregateCall]) -> bool {
    pairwise(a, b, |a, b| {
        a.function == b.function
            && a.distinct == b.distinct
            && a.ty == b.ty
            && all(&a.arguments, &b.arguments)
            && same_keys(&a.order_by, &b.order_by)
            && both(a.filter.as_ref(), b.filter.as_ref(), same)
    })
}

fn same_frame(a: &Frame, b: &Frame) -> bool {
    let bound = |a: &FrameBound, b: &FrameBound| match (a, b) {
        (FrameBound::Preceding(a), FrameBound::Preceding(b))
        | (FrameBound::Following(a), FrameBound::Following(b)) => same(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    a.unit == b.unit
        && a.exclude == b.exclude
        && a.in_range == b.in_range
        && bound(&a.start, &b.start)
        && bound(&a.end, &b.end)
}

fn same_node(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Unit, Node::Unit) => true,
        (Node::Nothing(a), Node::Nothing(b)) => a == b,
        (
            Node::Scan { relation: ra, columns: ca, system: sa, filter: fa, alias: aa, .. },
            Node::Scan { relation: rb, columns: cb, system: sb, filter: fb, alias: ab, .. },
        ) => ra.oid == rb.oid && ca == cb && sa == sb && aa == ab && all(fa, fb),
        (
            Node::FunctionScan { function: fa, arguments: aa, columns: ca, ordinality: oa, .. },
            Node::FunctionScan { function: fb, arguments: ab, columns: cb, ordinality: ob, .. },
        ) => fa == fb && ca == cb && oa == ob && all(aa, ab),
        (Node::Values { rows: ra, types: ta }, Node::Values { rows: rb, types: tb }) => {
            ta == tb && pairwise(ra, rb, |a, b| all(a, b))
        }
        (
            Node::Derived { query: qa, alias: aa, .. },
            Node::Derived { query: qb, alias: ab, .. },
        ) => aa == ab && same_query(qa, qb),
        (
            Node::CteScan { level: la, cte: ca, alias: aa, .. },
            Node::CteScan { level: lb, cte: cb, alias: ab, .. },
        ) => la == lb && ca == cb && aa == ab,
        (
            Node::Join { kind: ka, left: la, right: ra, on: oa, lateral: ta },
            Node::Join { kind: kb, left: lb, right: rb, on: ob, lateral: tb },
        ) => ka == kb && ta == tb && all(oa, ob) && same_node(la, lb) && same_node(ra, rb),
        (Node::Barrier { input: a, .. }, Node::Barrier { input: b, .. }) => same_node(a, b),
        (Node::Filter { input: a, conjuncts: ea }, Node::Filter { input: b, conjuncts: eb })
        | (Node::Project { input: a, columns: ea }, Node::Project { input: b, columns: eb })
        | (
            Node::ProjectSet { input: a, columns: ea },
            Node::ProjectSet { input: b, columns: eb },
        ) => all(ea, eb) && same_node(a, b),
        (
            Node::Aggregate { input: ia, keys: ka, sets: sa, calls: ca },
            Node::Aggregate { input: ib, keys: kb, sets: sb, calls: cb },
        ) => sa == sb && all(ka, kb) && same_calls(ca, cb) && same_node(ia, ib),
        (
            Node::Window { input: ia, calls: ca, partition_by: pa, order_by: oa, frame: fa },
            Node::Window { input: ib, calls: cb, partition_by: pb, order_by: ob, frame: fb },
        ) => {
            all(pa, pb)
                && same_calls(ca, cb)
                && same_keys(oa, ob)
                && same_frame(fa, fb)
                && same_node(ia, ib)
        }
        (
            Node::Distinct { input: ia, on: oa, columns: ca },
            Node::Distinct { input: ib, on: ob, columns: cb },
        ) => ca == cb && both(oa.as_ref(), ob.as_ref(), |a, b| all(a, b)) && same_node(ia, ib),
        (Node::Sort { input: ia, keys: ka }, Node::Sort { input: ib, keys: kb }) => {
            same_keys(ka, kb) && same_node(ia, ib)
        }
        (
            Node::Limit { input: ia, limit: la, offset: oa, with_ties: ta },
            Node::Limit { input: ib, limit: lb, offset: ob, with_ties: tb },
        ) => {
            both(la.as_ref(), lb.as_ref(), same)
                && both(oa.as_ref(), ob.as_ref(), same)
                && both(ta.as_ref(), tb.as_ref(), |a, b| same_keys(a, b))
                && same_node(ia, ib)
        }
        (
            Node::SetOperation { kind: ka, all: aa, left: la, right: ra },
            Node::SetOperation { kind: kb, all: ab, left: lb, right: rb },
        ) => ka == kb && aa == ab && same_node(la, lb) && same_node(ra, rb),
        _ => false,
    }
}
