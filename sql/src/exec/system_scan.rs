//! Scans of relations that the catalog serves: its rows come from the snapshot, all at once.

use super::context::Context;
use super::operator::{Builder, Operator};
use crate::catalog::system_column::TABLE_OID;
use crate::error::Result;
use crate::plan::physical::{self, ScanColumn};
use crate::queries::SessionCatalog;
use crate::tuple::{RowBuf, RowSet};
use crate::types::check_held;
use crate::types::{CallContext, Datum, Oid};

/// Who knows the rows of system relations.
pub trait SystemRows {
    /// Calls `emit` for each row of `relation` that may have the values of `keys` in those columns (by index); giving
    /// others too is allowed, they are filtered. `emit` says whether to go on.
    ///
    /// # Errors
    /// 0A000 for a relation that nobody serves; those of `emit`.
    fn rows(
        &self,
        context: &CallContext<'_>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        emit: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()>;
}

impl SystemRows for SessionCatalog<'_> {
    fn rows(
        &self,
        context: &CallContext<'_>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        emit: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        SessionCatalog::rows(self, context, relation, keys, emit)
    }
}

/// A running scan.
pub struct SystemScan {
    plan: physical::SystemScan,
    correlated: Box<[u32]>,
    rows: RowSet,
    at: usize,
}

impl SystemScan {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::SystemScan, builder: &Builder<'_>) -> SystemScan {
        SystemScan {
            plan: plan.clone(),
            correlated: builder.correlated(&plan.filter),
            rows: RowSet::new(plan.outputs.len()),
            at: 0,
        }
    }
}

impl Operator for SystemScan {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.at = 0;
        let (plan, rows, system) = (&self.plan, &mut self.rows, cx.host.system);
        cx.arena.reset();
        cx.eval(|eval| {
            let mut keys = Vec::with_capacity(plan.keys.len());
            for (column, key) in &plan.keys {
                let value = eval.scalar(key)?;
                if value.is_null() {
                    rows.clear();
                    return Ok(());
                }
                keys.push((*column, value));
            }
            rows.clear();
            let oid = plan.relation.oid;
            system.rows(&eval.call, oid, &keys, &mut |row| {
                rows.push(plan.outputs.iter().map(|output| match output {
                    ScanColumn::Column(column) => row[*column],
                    ScanColumn::System(TABLE_OID) => Datum::Oid(oid.0),
                    ScanColumn::System(_) | ScanColumn::Key => Datum::Oid(0),
                }));
                Ok(true)
            })?;
            Ok(())
        })?;
        check_held(self.rows.bytes())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.at < self.rows.len() {
            cx.arena.reset();
            let row: &mut RowBuf = cx.frame.row_mut(self.plan.slot);
            row.clear();
            self.rows.row(self.at).for_each(|datum| row.push(datum));
            self.at += 1;
            if cx.holds(&self.plan.filter, &self.correlated)? {
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        Ok(false)
    }
}
