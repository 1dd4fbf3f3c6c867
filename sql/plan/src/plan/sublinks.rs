//! Subqueries of a condition that are joins: EXISTS and `IN (SELECT ...)` as semi joins, NOT EXISTS as anti joins
//! (`pull_up_sublinks`).
//!
//! A conjunct of WHERE, or of an inner join's ON, only filters, so it may be asked by a join, which reads the subquery
//! once, or by a key of it. EXISTS is pulled up where nothing but its WHERE looks at the query around it; IN where nothing
//! in it does. Everything else stays a subquery of the condition. `NOT IN` is none of them, because of its NULLs: see
//! [`super::subplan::SubplanKind::Hashed`].
//!
//! A semi join reads all of its left side. Where the subquery gives few rows and the left side has a key for them, it is
//! better to go through the subquery's different rows and look each up: [`semi`] plans both ways and takes the cheaper.

use super::build::{Layout, Planner};
use super::estimate;
use super::exists::simplified;
use super::join_order;
use super::physical::{Distinct, Join, JoinMethod, Plan};
use super::pushdown::optimise;
use super::scalar::Scalar;
use super::vars;
use crate::bind::logical::{JoinKind, Node, Query};
use crate::bind::{Expr, Quantifier, SubqueryKind, levels};
use crate::error::Result;
use crate::settings::{Rule, RuleSet};
use crate::types::Oid;
use std::sync::Arc;

/// With more semi joins than this below each other only one way is tried for the outer ones: the work would double with
/// each.
const BOTH_WAYS_MAX: usize = 2;
/// With more semi joins than this in its subquery only one way is tried for a join: the subquery is planned once for each of
/// its ways, and so would be what is within that.
const NESTED_MAX: usize = 3;
/// With more semi joins in a statement than this only one way is tried for the others: those in the subquery of another are
/// planned once for each of its ways.
const TURNED_MAX: u32 = 64;

/// A subquery that can be a join.
pub(super) struct Sublink {
    kind: JoinKind,
    /// Its rows.
    pub(super) right: Node,
    /// How many of their columns it returns; all of them are seen by `on`.
    pub(super) width: Option<usize>,
    /// The conditions: over its row, with the query around it one level out.
    pub(super) on: Vec<Expr>,
}

impl Planner<'_> {
    /// A block's rows with these conditions, those of them that are joins made so.
    ///
    /// # Errors
    /// As [`Planner::node`].
    pub(super) fn filtered(
        &mut self,
        input: Plan,
        layout: Layout,
        conjuncts: &[Expr],
    ) -> Result<(Plan, Layout)> {
        let mut flat = Vec::new();
        flatten(conjuncts, &mut flat);
        let mut plain = Vec::new();
        let mut joins = Vec::new();
        for one in flat {
            match sublink(self.rules, one) {
                Some(found) if !matches!(input, Plan::Unit) => joins.push(found),
                _ => plain.push(one.clone()),
            }
        }
        let conjuncts = self.over(&layout, |planner| planner.conjuncts(&plain))?;
        let mut plan = match conjuncts.is_empty() {
            true => input,
            false => Plan::Filter(Box::new(input), conjuncts),
        };
        for Sublink { kind, right, width, on } in joins {
            let before = self.before(Rule::PullUpSublinks, &plan);
            let (right, on) = self.over(&layout, |planner| {
                planner.levels.push(Layout::new());
                // An EXISTS has lost its query, and with it the level of its own WITH.
                if width.is_none() {
                    planner.cte_levels.push(Vec::new());
                }
                let built = planner.sublink_side(&right, width, &on);
                if width.is_none() {
                    planner.cte_levels.pop();
                }
                planner.levels.pop();
                built
            })?;
            let join = Join {
                kind,
                left_slots: Vec::new(),
                right_slots: Vec::new(),
                left: plan,
                right,
                on,
                method: JoinMethod::NestedLoop,
                dependent: false,
                rows: 0.0,
                cost: 0.0,
            };
            plan = Plan::Join(Box::new(join));
            self.after(before, &plan);
        }
        Ok((plan, layout))
    }

    /// The conditions of an inner join, which filter as those of WHERE do: those that are joins of their own, and the
    /// others.
    pub(super) fn parted(&self, on: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
        let mut flat = Vec::new();
        flatten(on, &mut flat);
        flat.into_iter().cloned().partition(|one| sublink(self.rules, one).is_some())
    }

    /// The rows of a subquery, and its conditions over them.
    pub(super) fn sublink_side(
        &mut self,
        right: &Node,
        width: Option<usize>,
        on: &[Expr],
    ) -> Result<(Plan, Vec<Scalar>)> {
        let (plan, mut layout) = self.node(right)?;
        layout.truncate(width.unwrap_or(layout.len()));
        Ok((plan, self.over(&layout, |planner| planner.conjuncts(on))?))
    }
}

fn flatten<'e>(conjuncts: &'e [Expr], into: &mut Vec<&'e Expr>) {
    for one in conjuncts {
        match one {
            Expr::And(parts) => flatten(parts, into),
            one => into.push(one),
        }
    }
}

/// What a conjunct joins, if it is a subquery that can be a join.
fn sublink(rules: RuleSet, conjunct: &Expr) -> Option<Sublink> {
    if !rules.has(Rule::PullUpSublinks) {
        return None;
    }
    match conjunct {
        Expr::Not(inner) => match &**inner {
            Expr::Subquery { kind: SubqueryKind::Exists, query, .. } => {
                exists(rules, query, JoinKind::Anti)
            }
            _ => None,
        },
        Expr::Subquery { kind: SubqueryKind::Exists, query, .. } => {
            exists(rules, query, JoinKind::Semi)
        }
        Expr::Subquery {
            kind: SubqueryKind::Quantified { test, quantifier: Quantifier::Any },
            query,
            ..
        } => member(test, query),
        _ => None,
    }
}

/// An EXISTS as a join, if nothing but its WHERE looks at the query around it.
pub(super) fn exists(rules: RuleSet, query: &Query, kind: JoinKind) -> Option<Sublink> {
    let query = simplified(rules, query);
    if !query.ctes.is_empty() || !query.output.is_empty() {
        return None;
    }
    let Node::Filter { input, conjuncts } = &query.root else { return None };
    if matches!(**input, Node::Unit | Node::Aggregate { .. }) || looks_out(input) {
        return None;
    }
    let mut flat = Vec::new();
    flatten(conjuncts, &mut flat);
    if flat.iter().any(|one| levels::is_volatile(one)) {
        return None;
    }
    let (on, own): (Vec<&Expr>, Vec<&Expr>) = flat.into_iter().partition(|one| names_outer(one, 0));
    if on.is_empty() {
        return None;
    }
    let own: Vec<Expr> = own.into_iter().cloned().collect();
    let right = match own.is_empty() {
        true => (**input).clone(),
        false => Node::Filter { input: input.clone(), conjuncts: own },
    };
    Some(Sublink { kind, right, width: None, on: on.into_iter().cloned().collect() })
}

fn member(test: &Expr, query: &Arc<Query>) -> Option<Sublink> {
    let right = Node::Derived {
        query: Arc::clone(query),
        alias: "ANY_subquery".into(),
        item: None,
        view: None,
    };
    if looks_out(&right) || levels::is_volatile(test) || !names_outer(test, 0) {
        return None;
    }
    let width = Some(query.output.len());
    Some(Sublink { kind: JoinKind::Semi, right, width, on: vec![test.clone()] })
}

/// Whether anything below a node names a column outside it, or a common table expression that the subquery's own level
/// would put out of reach.
fn looks_out(node: &Node) -> bool {
    let mut found = false;
    levels::columns_of_node(&mut node.clone(), 0, &mut |column, depth| {
        if let Expr::Column { level, .. } = column {
            found |= *level > depth;
        }
    });
    found
}

/// Whether an expression names a column of a query around its own.
fn names_outer(expr: &Expr, own: u16) -> bool {
    let mut found = false;
    levels::columns_of_expr(&mut expr.clone(), 0, &mut |column, depth| {
        if let Expr::Column { level, .. } = column {
            found |= *level > depth + own;
        }
    });
    found
}

/// A semi join: its left rows that meet a right one, or its right side's different rows with the left ones of each.
pub fn semi(planner: &mut Planner<'_>, join: Join, left: Vec<Scalar>, right: Vec<Scalar>) -> Plan {
    let keys = right_keys(planner, &join);
    let few = || semis(&join.left) < BOTH_WAYS_MAX && semis(&join.right) < NESTED_MAX;
    let other = match keys {
        Some(keys)
            if planner.allows(Rule::UniqueSemijoins)
                && planner.turned < TURNED_MAX
                && !join.dependent
                && few() =>
        {
            planner.turned += 1;
            Some((keys, join.clone()))
        }
        _ => None,
    };
    let Some((keys, turned)) = other else { return plain(planner, join, left, right) };
    let before = planner.before(Rule::UniqueSemijoins, &(&join, [&left[..], &right[..]]));
    let straight = plain(planner, join, left.clone(), right.clone());
    let unique = optimise(planner, turned.right, right);
    // What has been optimised is not looked into again.
    let distinct = Distinct { input: unique, keys, ordered: false, saved: Vec::new() };
    let unique = Plan::WithCtes(Box::new(Plan::Distinct(Box::new(distinct))), Vec::new());
    let inner = Join {
        kind: JoinKind::Inner,
        left_slots: Vec::new(),
        right_slots: Vec::new(),
        left: unique,
        right: turned.left,
        on: turned.on,
        method: JoinMethod::NestedLoop,
        dependent: false,
        rows: 0.0,
        cost: 0.0,
    };
    let turned = join_order::inner(planner, inner, left);
    planner.after(before, &turned);
    let cost = |planner: &Planner<'_>, plan: &Plan| estimate::of(&planner.figures, plan).cost;
    if cost(planner, &turned) < cost(planner, &straight) { turned } else { straight }
}

fn plain(planner: &mut Planner<'_>, mut join: Join, left: Vec<Scalar>, right: Vec<Scalar>) -> Plan {
    join.left = optimise(planner, join.left, left);
    join_order::two_sided(planner, join, right)
}

/// How many semi joins there are in a plan.
fn semis(plan: &Plan) -> usize {
    let mut found = 0;
    vars::walk(plan, &mut |node| {
        found += usize::from(matches!(node, Plan::Join(join) if join.kind == JoinKind::Semi));
    });
    found
}

/// The right side's expressions and their types, if the join asks for nothing but that they equal what the left side has.
fn right_keys(planner: &Planner<'_>, join: &Join) -> Option<Vec<(Scalar, Oid)>> {
    let (left, right) = (planner.slots(&join.left), planner.slots(&join.right));
    let mut keys = Vec::new();
    for one in &join.on {
        let (_, key, ty) = join_order::equality(one, &left, &right)?;
        keys.push((key.into_owned(), ty));
    }
    (!keys.is_empty()).then_some(keys)
}
