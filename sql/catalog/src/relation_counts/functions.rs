//! What is counted of users' functions (`track_functions`): `pg_stat_user_functions`, `pg_stat_xact_user_functions`.
//!
//! A session counts for itself and adds to the sums of all when its transaction ends. A call that fails is not counted, as in
//! PostgreSQL (`pgstat_end_function_usage`).

use super::SessionCounts;
use super::cluster::ClusterCounts;
use rustc_hash::FxHashMap;
use sql_types::Oid;
use std::cell::{Cell, RefCell};

/// What is counted of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionCount {
    /// Calls that have come to their end.
    pub calls: u64,
    /// How long they took, in microseconds.
    pub total_us: u64,
    /// The same without what functions took that they called, as far as these are counted.
    pub own_us: u64,
}

impl FunctionCount {
    pub(super) fn add(&mut self, other: &FunctionCount) {
        self.calls += other.calls;
        self.total_us += other.total_us;
        self.own_us += other.own_us;
    }
}

/// A call that is counted.
#[derive(Clone, Copy, Debug)]
pub struct CountedCall {
    function: Oid,
    begun_us: u64,
    /// How long all counted calls had taken.
    spent_us: u64,
    /// How long those of this function had: a call within it is part of it.
    total_us: u64,
}

/// What a session counts, up to the end of its transaction.
#[derive(Debug, Default)]
pub(super) struct OwnFunctions {
    counts: RefCell<FxHashMap<Oid, FunctionCount>>,
    spent_us: Cell<u64>,
}

impl OwnFunctions {
    pub fn swap(&self, other: &OwnFunctions) {
        self.counts.swap(&other.counts);
        self.spent_us.swap(&other.spent_us);
    }

    pub fn end(&self, cluster: Option<(&ClusterCounts, Oid)>) {
        let counts = &mut *self.counts.borrow_mut();
        if counts.is_empty() {
            return;
        }
        let ended = std::mem::take(counts);
        if let Some((cluster, database)) = cluster {
            cluster.add_functions(database, ended);
        }
    }
}

impl SessionCounts {
    /// A call of a function begins, at this time in microseconds.
    #[must_use]
    pub fn begin_call(&self, function: Oid, now_us: u64) -> CountedCall {
        let total_us = self.functions.counts.borrow_mut().entry(function).or_default().total_us;
        CountedCall {
            function,
            begun_us: now_us,
            spent_us: self.functions.spent_us.get(),
            total_us,
        }
    }

    /// It has ended.
    pub fn end_call(&self, call: CountedCall, now_us: u64) {
        let took = now_us.saturating_sub(call.begun_us);
        let within = self.functions.spent_us.get() - call.spent_us;
        let own = took.saturating_sub(within);
        self.functions.spent_us.set(call.spent_us + within + own);
        let counts = &mut *self.functions.counts.borrow_mut();
        let count = counts.entry(call.function).or_default();
        count.calls += 1;
        count.own_us += own;
        count.total_us = call.total_us + took;
    }

    /// What the open transaction has counted of a function.
    #[must_use]
    pub fn running_function(&self, function: Oid) -> Option<FunctionCount> {
        self.functions.counts.borrow().get(&function).copied()
    }

    /// Begins to count a function anew.
    pub fn reset_function(&self, function: Oid) {
        if let Some((cluster, _)) = &self.cluster {
            cluster.reset_functions(self.database, Some(function));
        }
    }
}
