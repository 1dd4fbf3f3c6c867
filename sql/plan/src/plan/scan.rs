//! Scans of tables and of relations that the catalog serves, and the keys of their rows: what locks, changes and cursors
//! find a row by again.
//!
//! A scan gives its rows' keys only where somebody asks for them; they stand behind its other columns.

use super::build::{Layout, Planner};
use super::join_order;
use super::physical::{Access, Plan, Position, Scan, ScanColumn, SystemScan, TargetRow};
use super::scalar::Var;
use crate::bind::Expr;
use crate::bind::logical::ComputedIndex;
use crate::catalog::{Relation, RelationKind};
use crate::error::Result;
use std::sync::Arc;
use txn::{Direction, RowLock, WaitPolicy};

impl Planner<'_> {
    /// A relation's rows: these columns and system columns of it, where the filter holds.
    #[expect(clippy::too_many_arguments, reason = "the parts of one node")]
    pub(super) fn scan(
        &mut self,
        relation: &Arc<Relation>,
        columns: &[usize],
        system: &[i16],
        filter: &[Expr],
        computed: &[ComputedIndex],
        alias: &Arc<str>,
        item: u32,
    ) -> Result<(Plan, Layout)> {
        let mut outputs: Vec<ScanColumn> =
            columns.iter().map(|column| ScanColumn::Column(*column)).collect();
        outputs.extend(system.iter().map(|attnum| ScanColumn::System(*attnum)));
        let width = outputs.len();
        let slot = self.slot(width);
        let layout = Self::layout(slot, width);
        let filter = self.over(&layout, |planner| planner.conjuncts(filter))?;
        let computed = self.computed_keys(computed, &layout)?;
        self.figures.enter(slot, relation, &outputs);
        let plan = match &relation.kind {
            RelationKind::Table { tree, long_values, .. } => Plan::Scan(Box::new(Scan {
                relation: Arc::clone(relation),
                layout: Arc::new(relation.row_layout()),
                tree: *tree,
                long_values: *long_values,
                slot,
                wanted: vec![true; width],
                outputs,
                to_lock: None,
                access: Access::Full(Direction::Forward),
                filter,
                recheck: Vec::new(),
                computed,
                alias: Arc::clone(alias),
                item,
                rows: 0.0,
                cost: 0.0,
                index_only: true,
            })),
            _ => Plan::System(Box::new(SystemScan {
                relation: Arc::clone(relation),
                slot,
                wanted: vec![true; width],
                outputs,
                filter,
                keys: Vec::new(),
                beginnings: Vec::new(),
                alias: Arc::clone(alias),
            })),
        };
        Ok((plan, layout))
    }

    /// Makes the scan of FROM item `item` keep its row's key to lock it so, and says where its row stands.
    pub(super) fn target(
        &mut self,
        plan: &mut Plan,
        item: u32,
        to_lock: (RowLock, WaitPolicy),
    ) -> Option<Arc<TargetRow>> {
        let scan = join_order::find_scan(plan, &mut |scan| scan.item == item)?;
        scan.to_lock = Some(to_lock);
        let key = self.key_home(scan);
        Some(Arc::new(TargetRow {
            relation: Arc::clone(&scan.relation),
            layout: Arc::clone(&scan.layout),
            tree: scan.tree,
            long_values: scan.long_values,
            slot: scan.slot,
            outputs: scan.outputs.clone(),
            key,
        }))
    }

    /// Where a scan puts the keys of its rows.
    fn key_home(&mut self, scan: &mut Scan) -> Var {
        let known = scan.outputs.iter().position(|output| *output == ScanColumn::Key);
        let at = known.unwrap_or(scan.outputs.len());
        if known.is_none() {
            scan.outputs.push(ScanColumn::Key);
            scan.wanted.push(true);
            self.widths[scan.slot as usize] = scan.outputs.len();
        }
        Var { slot: scan.slot, column: at as u32 }
    }

    /// Has the scan that a cursor's rows come from, one each, tell their keys, if there is such a scan: what WHERE CURRENT OF
    /// finds them by where they are not locked (`search_plan_tree`).
    pub fn keep_position(&mut self, plan: &mut Plan) -> Option<Position> {
        match plan {
            Plan::Scan(scan) => {
                let key = self.key_home(scan);
                Some(Position { table: scan.relation.oid, key, locked: false })
            }
            Plan::Filter(input, _)
            | Plan::OneTimeFilter(input, _)
            | Plan::Barrier(input, _)
            | Plan::Project(input, ..)
            | Plan::WithCtes(input, _) => self.keep_position(input),
            Plan::Limit(limit) => self.keep_position(&mut limit.input),
            _ => None,
        }
    }
}
