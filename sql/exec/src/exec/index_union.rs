//! Scans through several keys, one for each side of an OR.
//!
//! One way after the other is gone to its end. All of them read by the same view, so what meets an earlier way's side has
//! been given by that way, and nobody has to remember which rows were seen.

use super::context::Context;
use super::operator::{Builder, Operator};
use super::scan::Scan;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical::{self, Access, UnionSide};
use std::sync::Arc;

/// A running scan of several ways.
pub struct IndexUnion {
    ways: Box<[Running]>,
    at: usize,
    filter: Arc<Code>,
    filter_subqueries: Box<[u32]>,
}

/// One of them.
struct Running {
    scan: Scan,
    given: Box<[Arc<Code>]>,
    rest: Arc<Code>,
}

impl Running {
    /// Whether the scan's row is this way's to give. The sides are asked in their order, as the OR would.
    fn gives(&self, cx: &mut Context<'_>) -> Result<bool> {
        for side in &*self.given {
            if cx.holds(side, &[])? {
                return Ok(false);
            }
        }
        cx.holds(&self.rest, &[])
    }
}

impl IndexUnion {
    /// Of this plan, by these ways.
    #[must_use]
    pub fn new(plan: &physical::Scan, ways: &[UnionSide], builder: &Builder<'_>) -> IndexUnion {
        let running = |way: &UnionSide| {
            let access = Access::Key(Box::new(way.key.clone()));
            let plan = physical::Scan { access, filter: Vec::new(), ..plan.clone() };
            Running {
                scan: Scan::new(&plan, builder),
                given: way.given.iter().map(|side| builder.conditions([side])).collect(),
                rest: builder.conditions(&way.rest),
            }
        };
        IndexUnion {
            ways: ways.iter().map(running).collect(),
            at: 0,
            filter: builder.conditions(&plan.filter),
            filter_subqueries: builder.correlated(&plan.filter),
        }
    }
}

impl Operator for IndexUnion {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.at = 0;
        self.ways.first_mut().map_or(Ok(()), |way| way.scan.open(cx))
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while let Some(way) = self.ways.get_mut(self.at) {
            while way.scan.next(cx)? {
                if way.gives(cx)? && cx.holds(&self.filter, &self.filter_subqueries)? {
                    return Ok(true);
                }
                cx.check_cancel()?;
            }
            self.at += 1;
            if let Some(way) = self.ways.get_mut(self.at) {
                way.scan.open(cx)?;
            }
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.ways.iter().map(|way| way.scan.rest_bytes()).sum()
    }
}
