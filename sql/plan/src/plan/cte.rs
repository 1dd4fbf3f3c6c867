//! Common table expressions: each planned once, by number, whoever names it; those that PostgreSQL merges into what names them
//! (`inline_cte`) are planned there, as queries in FROM, so that conditions and keys reach into them.
//!
//! A recursive one scans its own number. What one computes before its first row is computed only if somebody names it, as
//! PostgreSQL plans only those; one that changes rows is always run.

use super::build::{Layout, Planner};
use super::fold::Presets;
use super::physical::{CteScan, Plan};
use super::scalar::Var;
use crate::account;
use crate::bind::logical::{Cte, CteBody, Query};
use crate::error::Result;
use crate::settings::Rule;
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A common table expression.
#[derive(Clone, Debug)]
pub struct CtePlan {
    /// Its name, for EXPLAIN.
    pub name: Arc<str>,
    /// How its rows are made.
    pub body: CtePlanBody,
    /// How many columns its rows have.
    pub width: usize,
}

/// How the rows of a common table expression are made.
#[derive(Clone, Debug)]
pub enum CtePlanBody {
    /// By a query with these columns, or a modification.
    Query(Plan, Layout),
    /// By a base, and a step over what was new (it scans the same number).
    Recursive {
        /// The first term.
        base: (Plan, Layout),
        /// The recursive term.
        step: (Plan, Layout),
        /// UNION ALL.
        all: bool,
        /// The columns' types.
        types: Vec<Oid>,
    },
}

impl CtePlanBody {
    /// The plans it is made of, each with its columns.
    #[must_use]
    pub fn parts(&self) -> Vec<(&Plan, &Layout)> {
        match self {
            CtePlanBody::Query(plan, layout) => vec![(plan, layout)],
            CtePlanBody::Recursive { base, step, .. } => {
                vec![(&base.0, &base.1), (&step.0, &step.1)]
            }
        }
    }
}

/// What the name of a common table expression stands for.
pub enum NamedCte {
    /// The one of this number.
    Planned(u32),
    /// A query that is planned where it is named, as if it stood there, and how many levels of rows are around it.
    Merged(Arc<Query>, usize),
}

impl Planner<'_> {
    /// Plans common table expressions and enters their level; the caller leaves it.
    pub(super) fn ctes(&mut self, ctes: &[Cte]) -> Result<Vec<u32>> {
        self.cte_levels.push(Vec::new());
        let mut numbers = Vec::new();
        for cte in ctes {
            if let CteBody::Query(query) = &cte.body
                && cte.merges.load(Ordering::Relaxed)
                && self.allows(Rule::MergeCtes)
            {
                let merged = NamedCte::Merged(Arc::new(query.clone()), self.levels.len());
                self.cte_levels.last_mut().expect("entered above").push(merged);
                continue;
            }
            let number = account::narrow(self.ctes.len());
            self.ctes.push(None);
            // A recursive term names its own number, so it is entered first.
            self.cte_levels.last_mut().expect("entered above").push(NamedCte::Planned(number));
            let around = std::mem::take(&mut self.presets);
            let (body, width) = match &cte.body {
                CteBody::Query(query) => {
                    let (plan, mut layout) = self.query_in_place(query)?;
                    layout.truncate(query.output.len());
                    let width = layout.len();
                    (CtePlanBody::Query(plan, layout), width)
                }
                CteBody::Recursive { base, step, all } => {
                    let types: Vec<Oid> = base.output.iter().map(|out| out.ty.oid).collect();
                    let width = types.len();
                    let (base_plan, mut base_layout) = self.query_in_place(base)?;
                    base_layout.truncate(width);
                    let (step_plan, mut step_layout) = self.query_in_place(step)?;
                    step_layout.truncate(width);
                    self.asked(&base_layout);
                    self.asked(&step_layout);
                    let body = CtePlanBody::Recursive {
                        base: (base_plan, base_layout),
                        step: (step_plan, step_layout),
                        all: *all,
                        types,
                    };
                    (body, width)
                }
                CteBody::Modify(modify) => {
                    let (plan, layout) = self.modify(modify)?;
                    let width = layout.len();
                    (CtePlanBody::Query(plan, layout), width)
                }
            };
            self.ctes[number as usize] = Some(CtePlan { name: Arc::clone(&cte.name), body, width });
            numbers.push(number);
            let own = std::mem::replace(&mut self.presets, around);
            // A query that nobody names is not planned in PostgreSQL.
            match &cte.body {
                CteBody::Modify(_) => self.presets.merge(own),
                _ => drop(self.unnamed.insert(number, own)),
            }
        }
        Ok(numbers)
    }

    /// A scan of the common table expression `cte` of the query `level` levels out, or its query in the place of that.
    pub(super) fn cte_scan(
        &mut self,
        level: u16,
        cte: u32,
        columns: &[(Arc<str>, SqlType)],
        alias: &Arc<str>,
    ) -> Result<(Plan, Layout)> {
        let at = self.cte_levels.len() - 1 - usize::from(level);
        let number = match &self.cte_levels[at][cte as usize] {
            NamedCte::Planned(number) => *number,
            NamedCte::Merged(query, levels) => {
                let (query, levels) = (Arc::clone(query), *levels);
                return self.merged(&query, levels, at + 1);
            }
        };
        if let Some(presets) = self.unnamed.remove(&number) {
            self.presets.merge(presets);
        }
        let slot = self.slot(columns.len());
        let scan = CteScan { slot, number, alias: Arc::clone(alias), columns: columns.to_vec() };
        let layout = Self::layout(slot, columns.len());
        self.pass_on(number, &layout);
        Ok((Plan::Cte(Box::new(scan)), layout))
    }

    /// The plan of a query that stands in WITH, where it is named: it sees so many levels of rows and of WITH, as there.
    fn merged(&mut self, query: &Query, levels: usize, with: usize) -> Result<(Plan, Layout)> {
        let deeper = (self.levels.split_off(levels), self.cte_levels.split_off(with));
        let built = self.derived(query);
        self.levels.extend(deeper.0);
        self.cte_levels.extend(deeper.1);
        built
    }

    /// What nobody has asked for in a common table expression, nobody has in a scan of it.
    fn pass_on(&mut self, cte: u32, scanned: &[Var]) {
        if self.unread.is_empty() {
            return;
        }
        if let Some(Some(CtePlan { body: CtePlanBody::Query(_, own), .. })) =
            self.ctes.get(cte as usize)
        {
            let found: Vec<(Var, Presets)> = own
                .iter()
                .zip(scanned)
                .filter_map(|(own, scanned)| Some((*scanned, self.unread.get(own)?.clone())))
                .collect();
            self.unread.extend(found);
        }
    }
}
