//! Subqueries of expressions: each a plan of its own, with what is asked of its rows.
//!
//! Those of a condition that are joins are none of these any more (`sublinks`). What a subquery computes first, the
//! statement computes only if it may be asked for; but what fails while planning it fails the statement.

use super::build::{Layout, Planner};
use super::physical::Plan;
use super::scalar::{Scalar, Var};
use super::translate::element_of;
use super::{estimate, exists, join_order, pushdown, sublinks, vars};
use crate::account;
use crate::bind::logical::{JoinKind, Query};
use crate::bind::{Quantifier, SubqueryKind};
use crate::error::Result;
use crate::settings::Rule;
use crate::types::{Oid, SqlType};
use std::collections::HashSet;

/// A subquery of an expression.
#[derive(Clone, Debug)]
pub struct Subplan {
    /// How its rows are made.
    pub plan: Plan,
    /// What is asked of them.
    pub kind: SubplanKind,
    /// What a run computes first, if the subquery may be asked for.
    pub presets: Vec<Scalar>,
}

/// What is asked of a subquery.
#[derive(Clone, Debug)]
pub enum SubplanKind {
    /// Its one value.
    Scalar(Var),
    /// Whether it has a row.
    Exists,
    /// Its values, as an array of this element type; the flag says that they are such arrays already, and become one of a
    /// dimension more.
    Array(Var, Oid, bool),
    /// The test, for ANY or ALL rows.
    Quantified(Scalar, Quantifier),
    /// Whether one of its rows equals a row of the query around it, its rows in a hash table.
    Hashed(Hashed),
}

/// `IN (SELECT ...)` or EXISTS of a subquery that is run once.
#[derive(Clone, Debug)]
pub struct Hashed {
    /// What is looked for.
    pub left: Vec<Scalar>,
    /// Where the subquery's rows have it, as this.
    pub right: Vec<(Scalar, Oid)>,
    /// The comparison as it is written, for EXPLAIN.
    pub test: Scalar,
    /// Whether it was an EXISTS: what a NULL leaves open is no member then.
    pub exists: bool,
}

/// The rows of an EXISTS are put in a hash table where that costs at most as much as asking for a row so many times; how
/// often it will be asked for, a plan does not know.
const ASKED_FOR: f64 = 20.0;
/// An EXISTS that finds a row at less cost than this is asked each time.
const ASKED_COST_MIN: f64 = 64.0;
/// The rows of an EXISTS are put in a hash table where they are expected to take no more than this.
const EXISTING_BYTES_MAX: f64 = 64.0 * 1024.0 * 1024.0;
/// What a row in a hash table takes beside its columns, about.
const MEMBER_BYTES: f64 = 64.0;

impl Planner<'_> {
    /// A subquery as a value: the plan of its rows, and what is asked of them.
    pub(super) fn subquery(
        &mut self,
        kind: &SubqueryKind,
        query: &Query,
        ty: SqlType,
    ) -> Result<Scalar> {
        let depth = self.levels.len();
        let subplans = self.subplans.len();
        let outer = (std::mem::take(&mut self.presets), std::mem::take(&mut self.unconditional));
        let planned = match kind {
            SubqueryKind::Exists => self.query(&exists::simplified(self.rules, query)),
            _ => self.query(query),
        };
        let members = match (&planned, kind) {
            (Ok((plan, _)), SubqueryKind::Exists) if self.subplans.len() == subplans => {
                let own = std::mem::take(&mut self.presets);
                let members = self.existing(plan, query);
                if !matches!(members, Ok(Some(_))) {
                    self.presets = own;
                }
                members
            }
            _ => Ok(None),
        };
        let asks =
            matches!(kind, SubqueryKind::Scalar | SubqueryKind::Record | SubqueryKind::Array);
        if let (Ok((_, layout)), true) = (&planned, asks) {
            self.asked(layout);
        }
        let (outer_presets, unconditional) = outer;
        let presets = std::mem::replace(&mut self.presets, outer_presets);
        self.unconditional = unconditional;
        // What fails while planning fails the statement.
        self.presets.failure = self.presets.failure.take().or(presets.failure);
        let (mut plan, layout) = planned?;
        if let Some((plan, hashed)) = members? {
            let kind = SubplanKind::Hashed(hashed);
            self.subplans.push(Subplan { plan, kind, presets: presets.scalars });
            return Ok(Scalar::Subquery(self.subplans.len() as u32 - 1));
        }
        let kind = match kind {
            SubqueryKind::Scalar | SubqueryKind::Record => SubplanKind::Scalar(layout[0]),
            SubqueryKind::Exists => SubplanKind::Exists,
            SubqueryKind::Array => {
                let nested = query.output[0].ty.oid == ty.oid;
                SubplanKind::Array(layout[0], element_of(ty.oid)?, nested)
            }
            SubqueryKind::Quantified { test, quantifier } => {
                self.levels.push(layout);
                let test = self.translated(test);
                self.levels.pop();
                let (kind, alone) = self.quantified(&plan, test?, *quantifier, Rule::HashSubplans);
                if alone && matches!(kind, SubplanKind::Quantified(..)) {
                    plan = self.kept(plan);
                }
                kind
            }
        };
        assert_eq!(self.levels.len(), depth, "levels are pushed and popped in pairs");
        self.subplans.push(Subplan { plan, kind, presets: presets.scalars });
        let number = account::narrow(self.subplans.len() - 1);
        Ok(Scalar::Subquery(number))
    }

    /// The rows of an EXISTS that is planned as `asked`, to be looked for in a hash table, if that is better
    /// (`convert_EXISTS_to_ANY`): where it meets the query around it in nothing but equalities.
    fn existing(&mut self, asked: &Plan, query: &Query) -> Result<Option<(Plan, Hashed)>> {
        if !self.allows(Rule::ExistsAsAny) {
            return Ok(None);
        }
        let once = estimate::of(&self.figures, asked);
        let first = once.startup + (once.cost - once.startup) / once.rows.max(1.0);
        if first < ASKED_COST_MIN {
            return Ok(None);
        }
        let Some(link) = sublinks::exists(self.rules, query, JoinKind::Semi) else {
            return Ok(None);
        };
        self.levels.push(Layout::new());
        // An EXISTS has lost its query, and with it the level of its own WITH.
        self.cte_levels.push(Vec::new());
        let built = self.sublink_side(&link.right, link.width, &link.on);
        self.cte_levels.pop();
        self.levels.pop();
        let (plan, mut on) = built?;
        let plan = pushdown::optimise(self, plan, Vec::new());
        let all = estimate::of(&self.figures, &plan);
        if all.cost > first * ASKED_FOR
            || all.rows * (all.width + MEMBER_BYTES) > EXISTING_BYTES_MAX
            || on.is_empty()
        {
            return Ok(None);
        }
        let test = if on.len() == 1 { on.swap_remove(0) } else { Scalar::And(on.into()) };
        Ok(match self.quantified(&plan, test, Quantifier::Any, Rule::ExistsAsAny).0 {
            SubplanKind::Hashed(hashed) => Some((plan, Hashed { exists: true, ..hashed })),
            _ => None,
        })
    }

    /// Rows that are asked for again and again, and are the same each time (`build_subplan`).
    fn kept(&mut self, plan: Plan) -> Plan {
        let free =
            matches!(plan, Plan::Unit | Plan::Nothing | Plan::Values(..) | Plan::Constants(..));
        if free || matches!(plan, Plan::Cte(_) | Plan::Materialize(..)) {
            return plan;
        }
        join_order::materialized(self, plan)
    }

    /// A test of ANY or ALL rows: where it is an equality with rows that do not depend on anything, by a hash table. The
    /// flag says that they do not. `rule` is what has them put there.
    fn quantified(
        &self,
        plan: &Plan,
        test: Scalar,
        quantifier: Quantifier,
        rule: Rule,
    ) -> (SubplanKind, bool) {
        let inside: HashSet<u32> =
            vars::filled(plan, &self.widths).iter().map(|(slot, _)| *slot).collect();
        // What is read of a common table expression may change with the row that the query around it is at.
        let mut alone = true;
        vars::walk(plan, &mut |node| {
            alone &= !matches!(node, Plan::Cte(_) | Plan::WithCtes(..)) || self.levels.len() == 1;
        });
        alone &= !join_order::looks_out(self, plan);
        let parts = match &test {
            Scalar::And(parts) => &**parts,
            one => std::slice::from_ref(one),
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for part in parts {
            if let Some((outer, inner, ty)) = join_order::member_equality(part, &inside) {
                left.push(outer.into_owned());
                right.push((inner.into_owned(), ty));
            }
        }
        let hashes = quantifier == Quantifier::Any && alone && left.len() == parts.len();
        if hashes && self.allows(rule) {
            return (SubplanKind::Hashed(Hashed { left, right, test, exists: false }), true);
        }
        (SubplanKind::Quantified(test, quantifier), alone)
    }
}
