//! Probes: what EXPLAIN ANALYZE knows of each node of a run.
//!
//! A machine that is watched has a probe around every operator; any other has none, so a probe costs nothing where
//! nobody asks. A scan's or join's own conditions, which other runs check inside the operator, stand behind it in a filter of
//! their own here, so that what they reject can be counted.

use super::context::Context;
use super::operator::Operator;
use crate::error::Result;
use crate::plan::Plan;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use txn::Usage;
use txn::sync::{Mutex, lock, rank};

/// What a node has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often it was begun.
    pub loops: u64,
    /// Rows it has given, in all.
    pub rows: u64,
    /// Microseconds to the first row, in all.
    pub startup_us: u64,
    /// Microseconds to the last row, in all, its inputs' time in it.
    pub total_us: u64,
    /// Pages and log, its inputs' too.
    pub usage: Usage,
    /// Rows that a modification has inserted, updated and deleted, and rows of its source that met others in the table.
    pub changed: Changed,
}

/// What a modification has done with the rows of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Rows inserted.
    pub inserted: u64,
    /// Rows updated.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
    /// Rows that would have been inserted, had ON CONFLICT not had its way.
    pub conflicting: u64,
}

/// The counters of a node, which its probe and the run know.
type Shared = Arc<Mutex<Counters, { rank::COUNTERS }>>;

/// Which part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// What its own conditions are asked of.
    Unfiltered,
}

/// The counters of a run's nodes. A node is known by its place in memory: a program does not move while it runs.
#[derive(Debug)]
pub struct Probes {
    timed: bool,
    metered: bool,
    nodes: RefCell<HashMap<(usize, Part), Shared>>,
}

fn key(plan: &Plan, part: Part) -> (usize, Part) {
    (std::ptr::from_ref(plan) as usize, part)
}

impl Probes {
    /// None yet. `timed`: they look at the clock; `metered`: at what is used of pages and log.
    #[must_use]
    pub fn new(timed: bool, metered: bool) -> Probes {
        Probes { timed, metered, nodes: RefCell::default() }
    }

    /// The operator with a probe around it.
    pub(super) fn watch(
        &self,
        plan: &Plan,
        part: Part,
        inner: Box<dyn Operator>,
    ) -> Box<dyn Operator> {
        let counters = Shared::default();
        self.nodes.borrow_mut().insert(key(plan, part), Arc::clone(&counters));
        let Probes { timed, metered, .. } = *self;
        Box::new(Probe { inner, counters, timed, metered, opened_us: None })
    }

    /// What a node has done; none if it has no probe.
    #[must_use]
    pub fn of(&self, plan: &Plan, part: Part) -> Option<Counters> {
        let nodes = self.nodes.borrow();
        let counters = nodes.get(&key(plan, part))?;
        Some(*lock(counters))
    }
}

/// An operator that is watched.
struct Probe {
    inner: Box<dyn Operator>,
    counters: Shared,
    timed: bool,
    metered: bool,
    /// What opening has taken, until the first row is asked for: only then does the pass count.
    opened_us: Option<u64>,
}

impl Probe {
    /// Runs a step of the inner operator; how long it took.
    fn timed<T>(
        &mut self,
        cx: &mut Context<'_>,
        step: impl FnOnce(&mut dyn Operator, &mut Context<'_>) -> Result<T>,
    ) -> Result<(T, u64)> {
        let used = self.metered.then(Usage::so_far);
        let before = self.timed.then(|| cx.host.clock.now());
        let value = step(&mut *self.inner, cx)?;
        let took = before.map_or(0, |before| cx.host.clock.now().0.saturating_sub(before.0));
        if let Some(used) = used {
            let mut counters = lock(&self.counters);
            counters.usage = counters.usage.plus(Usage::so_far().since(used));
        }
        Ok((value, took))
    }
}

impl Operator for Probe {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let ((), took) = self.timed(cx, |inner, cx| inner.open(cx))?;
        self.opened_us = Some(took);
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let (more, took) = self.timed(cx, |inner, cx| inner.next(cx))?;
        let mut counters = lock(&self.counters);
        counters.changed = self.inner.changed();
        counters.total_us += took;
        if let Some(opened) = self.opened_us.take() {
            counters.loops += 1;
            counters.startup_us += opened + took;
            counters.total_us += opened;
        }
        counters.rows += u64::from(more);
        Ok(more)
    }
}
