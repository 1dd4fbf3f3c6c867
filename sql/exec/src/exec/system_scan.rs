//! Scans of relations that the catalog serves: their rows are made from the snapshot, some at a time.
//!
//! Who makes rows stops behind the object with which it has made enough of them, and is asked again from the next one on. So
//! a scan holds as much as one part takes, however many objects there are, and who wants few rows waits for few. All
//! parts are of the state that the catalog was in when the scan began: what the statements between two FETCHes of a cursor
//! make is not among them.

use super::context::Context;
use super::operator::{Builder, Operator};
use crate::catalog::CatalogSnapshot;
use crate::catalog::system_column::TABLE_OID;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical::{self, ScanColumn};
use crate::tuple::{RowBuf, RowSet};
use crate::types::check_held;
use crate::types::{CallContext, Datum, Oid};
use std::sync::Arc;

/// How far the rows of a system relation have been given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanProgress {
    /// None has been.
    #[default]
    Begins,
    /// Those of this relation come next: what there is before users' relations has been given, and so have these up to it.
    At(Oid),
    /// All have been.
    Ended,
}

/// Who knows the rows of system relations.
pub trait SystemRows {
    /// The state of the catalog that a scan which begins now shows.
    fn state(&self) -> CatalogSnapshot;

    /// Calls `emit` for rows of `relation`, from `progress` on and as many as are a part, that may have the values of `keys`
    /// in those columns (by index); giving others too is allowed, they are filtered. `emit` says whether to go on.
    ///
    /// # Errors
    /// 0A000 for a relation that nobody serves; those of `emit`.
    fn rows(
        &self,
        context: &CallContext<'_>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        part: (&CatalogSnapshot, &mut ScanProgress),
        emit: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()>;
}

/// A running scan.
pub struct SystemScan {
    plan: physical::SystemScan,
    /// The outputs that are read.
    read: Box<[usize]>,
    filter: Arc<Code>,
    /// What gives the values of the plan's keys.
    key_code: Arc<Code>,
    correlated: Box<[u32]>,
    /// The state of the catalog when it began.
    state: Option<CatalogSnapshot>,
    /// The values of the plan's keys.
    keys: RowBuf,
    progress: ScanProgress,
    /// A part of the rows: the columns that are read.
    rows: RowSet,
    at: usize,
}

impl SystemScan {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::SystemScan, builder: &Builder<'_>) -> SystemScan {
        let read: Box<[usize]> = (0..plan.outputs.len()).filter(|at| plan.wanted[*at]).collect();
        let width = read.len();
        SystemScan {
            plan: plan.clone(),
            read,
            filter: builder.conditions(&plan.filter),
            key_code: builder.code(plan.keys.iter().map(|(_, key)| key)),
            correlated: builder.correlated(&plan.filter),
            state: None,
            keys: RowBuf::new(),
            progress: ScanProgress::Begins,
            rows: RowSet::new(width),
            at: 0,
        }
    }

    /// Makes the next part of the rows.
    fn next_part(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let SystemScan { plan, read, state, keys, progress, rows, at, .. } = self;
        let Some(state) = state else { return Ok(()) };
        *at = 0;
        rows.clear();
        cx.arena.reset();
        let system = cx.host.system;
        let keys: Vec<_> = plan.keys.iter().map(|(column, _)| *column).zip(keys.iter()).collect();
        let oid = plan.relation.oid;
        let call = cx.evaluator().call();
        system.rows(&call, oid, &keys, (state, progress), &mut |row| {
            // Most of the rows that come without being asked for are known by an OID, a letter or how a name begins; the
            // filter has the same conditions.
            let is_other = |(column, key): &(usize, Datum<'_>)| match (row[*column], key) {
                (Datum::Oid(value), Datum::Oid(key)) => value != *key,
                (Datum::Char(value), Datum::Char(key)) => value != *key,
                _ => false,
            };
            let begins_otherwise = |(column, start): &(usize, Arc<str>)| match row[*column] {
                Datum::Text(text) => !text.starts_with(&**start),
                _ => false,
            };
            if keys.iter().any(is_other) || plan.beginnings.iter().any(begins_otherwise) {
                return Ok(true);
            }
            rows.push(read.iter().map(|home| match plan.outputs[*home] {
                ScanColumn::Column(column) => row[column],
                ScanColumn::System(TABLE_OID) => Datum::Oid(oid.0),
                ScanColumn::System(_) | ScanColumn::Key => Datum::Oid(0),
            }));
            Ok(true)
        })?;
        check_held(rows.bytes())
    }
}

impl Operator for SystemScan {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.at = 0;
        self.rows.clear();
        self.keys.clear();
        self.progress = ScanProgress::Begins;
        self.state = Some(cx.host.system.state());
        cx.arena.reset();
        cx.compute(&self.key_code, &mut self.keys)?;
        if self.keys.iter().any(|key| key.is_null()) {
            self.progress = ScanProgress::Ended;
        }
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        loop {
            while self.at < self.rows.len() {
                cx.arena.reset();
                let row: &mut RowBuf = cx.frame.row_mut(self.plan.slot);
                row.begin(self.plan.outputs.len());
                for (home, value) in self.read.iter().zip(self.rows.row(self.at)) {
                    row.set(*home, value);
                }
                self.at += 1;
                if cx.holds(&self.filter, &self.correlated)? {
                    return Ok(true);
                }
                cx.check_cancel()?;
            }
            if self.progress == ScanProgress::Ended {
                // What the catalog was need not be kept for who has seen it.
                self.state = None;
                return Ok(false);
            }
            self.next_part(cx)?;
        }
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.state.is_some() {
            return None;
        }
        Some(self.rows.capacity_bytes() + self.keys.capacity_bytes())
    }
}
