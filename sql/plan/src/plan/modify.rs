//! INSERT, UPDATE, DELETE, MERGE as plans, with all that writing a table needs to know of it.

use super::build::{Layout, Planner};
use super::implied::implies;
use super::physical::{
    ComputedKey, ComputedKeys, ConflictUpdate, FailingRow, InsteadChange, MergeAction, MergeChange,
    Modify, ModifyKind, NO_TREE, OnConflict, Plan, Reference, ReferentialAction, ScanColumn, Table,
    TargetRow,
};
use super::recheck::conditions;
use super::scalar::{Scalar, Var};
use super::{pushdown, unread};
use crate::bind::Expr;
use crate::bind::levels::parameters_of;
use crate::bind::logical;
use crate::catalog::{ConstraintKind, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{RowLock, WaitPolicy};

/// How rows are locked that are read to be changed: whether that touches their keys is not known yet.
const TO_CHANGE: (RowLock, WaitPolicy) = (RowLock::Update, WaitPolicy::Block);

impl Planner<'_> {
    /// A modification, and the homes of what it returns.
    ///
    /// # Errors
    /// 0A000, 42809.
    pub fn modify(&mut self, modify: &logical::Modify) -> Result<(Plan, Layout)> {
        self.levels.push(Layout::new());
        let numbers = self.ctes(&modify.ctes);
        let built = self.modify_inner(modify);
        self.levels.pop();
        self.cte_levels.pop();
        let (numbers, (plan, layout)) = (numbers?, built?);
        let plan = if numbers.is_empty() { plan } else { Plan::WithCtes(Box::new(plan), numbers) };
        Ok((plan, layout))
    }

    fn modify_inner(&mut self, modify: &logical::Modify) -> Result<(Plan, Layout)> {
        let mut table = self.table(&modify.relation, &modify.computed)?;
        table.failing_row = FailingRow::To { named: modify.named.clone() };
        let table = Arc::new(table);
        let width = table.live.len();
        let new_slot = self.slot(width);
        let new_layout = Self::layout(new_slot, width);
        let checks = self.checks(&modify.relation, &modify.checks, &new_layout)?;
        let view_checks = modify
            .view_checks
            .iter()
            .map(|check| {
                let view = Arc::clone(&check.view);
                let conditions = self.over(&new_layout, |planner| {
                    check.conditions.iter().map(|condition| planner.scalar(condition)).collect()
                })?;
                Ok((view, conditions))
            })
            .collect::<Result<_>>()?;
        let generated = self.generated(&table, &modify.generated, &new_layout)?;
        let by_triggers = matches!(modify.relation.kind, RelationKind::View { .. });
        for action in &modify.actions {
            self.action(action)?;
        }
        let (kind, returning_row) = match &modify.kind {
            _ if by_triggers => self.instead(&table, &modify.kind, new_layout)?,
            logical::ModifyKind::Insert { source, on_conflict, system } => {
                self.unconditional = logical::is_one_row(source);
                let built = self.node(source);
                self.unconditional = false;
                let (source, layout) = built?;
                self.asked(&layout[..width]);
                // A single row of VALUES is no entry beside the table; `excluded` is one.
                let single = matches!(&source, Plan::Values(_, rows) if rows.len() == 1);
                self.range_table += usize::from(!single) + usize::from(on_conflict.is_some());
                let source = unread::left_out(self, source, &layout[..width]);
                let source = pushdown::optimise(self, source, Vec::new());
                let columns = layout[..width].iter().map(|var| Scalar::Var(*var)).collect();
                let on_conflict = match on_conflict {
                    Some(conflict) => {
                        Some(self.on_conflict(&table, conflict, system, &new_layout)?)
                    }
                    None => None,
                };
                let mut row = new_layout;
                let shown = modify.returning.is_some() && !system.is_empty();
                let system = shown.then(|| {
                    let slot = self.slot(system.len());
                    row.extend(Self::layout(slot, system.len()));
                    (slot, system.clone().into_boxed_slice())
                });
                (ModifyKind::Insert { source, columns, on_conflict, system }, row)
            }
            logical::ModifyKind::Update { source, assignments } => {
                let (source, target, layout, recheck, joined) = self.source(source)?;
                let assignments = assignments
                    .iter()
                    .map(|(column, value)| {
                        let at = live_place(&table, *column)?;
                        Ok((at, self.over(&layout, |planner| planner.scalar(value))?))
                    })
                    .collect::<Result<Vec<_>>>()?;
                let (system, row) = match modify.returning {
                    Some(_) => self.updated_row(&target, new_layout, &layout[width..]),
                    None => (None, new_layout),
                };
                (ModifyKind::Update { source, target, recheck, assignments, joined, system }, row)
            }
            logical::ModifyKind::Delete { source } => {
                let (source, target, layout, recheck, joined) = self.source(source)?;
                (ModifyKind::Delete { source, target, recheck, joined }, layout)
            }
            logical::ModifyKind::Merge { source, on, actions } => {
                (self.merge(&table, source, on, actions)?, Layout::new())
            }
        };
        let mut output = Layout::new();
        let returning = match &modify.returning {
            None => None,
            Some(columns) => {
                let slot = self.slot(columns.len());
                output = Self::layout(slot, columns.len());
                let scalars = self.over(&returning_row, |planner| {
                    columns.iter().map(|(column, _)| planner.scalar(column)).collect::<Result<_>>()
                })?;
                Some((slot, scalars))
            }
        };
        let plan = Modify { table, kind, new_slot, generated, checks, view_checks, returning };
        Ok((Plan::Modify(Box::new(plan)), output))
    }

    /// A change of a view that its triggers make, and what RETURNING reads: the row that they give, and what FROM has beside
    /// it.
    fn instead(
        &mut self,
        table: &Table,
        kind: &logical::ModifyKind,
        new_row: Layout,
    ) -> Result<(ModifyKind, Layout)> {
        let width = table.live.len();
        let (source, change) = match kind {
            logical::ModifyKind::Insert { source, on_conflict, .. } => {
                if let Some(conflict) = on_conflict {
                    self.arbiters(table, &conflict.arbiters)?;
                }
                (source, None)
            }
            logical::ModifyKind::Update { source, assignments } => (source, Some(&assignments[..])),
            logical::ModifyKind::Delete { source } => (source, Some(&[][..])),
            logical::ModifyKind::Merge { .. } => {
                return Err(SqlError::unsupported("MERGE into a view is"));
            }
        };
        self.unconditional = change.is_none() && logical::is_one_row(source);
        let built = self.node(source);
        self.unconditional = false;
        let (source, layout) = built?;
        self.asked(&layout[..width]);
        let row = layout[..width].iter().map(|var| Scalar::Var(*var)).collect();
        let change = match (kind, change) {
            (logical::ModifyKind::Insert { .. }, _) => InsteadChange::Insert,
            (logical::ModifyKind::Update { .. }, Some(assignments)) => {
                let assignments = assignments.iter().map(|(column, value)| {
                    let at = live_place(table, *column)?;
                    Ok((at, self.over(&layout, |planner| planner.scalar(value))?))
                });
                InsteadChange::Update(assignments.collect::<Result<_>>()?)
            }
            _ => InsteadChange::Delete,
        };
        let mut shown = new_row;
        shown.extend_from_slice(&layout[width..]);
        let source = pushdown::optimise(self, source, Vec::new());
        Ok((ModifyKind::Instead { source, row, change }, shown))
    }

    /// What RETURNING of an UPDATE reads: the new row, then the system columns that the row has from it on, and what FROM
    /// has beside it.
    fn updated_row(
        &mut self,
        target: &TargetRow,
        mut row: Layout,
        behind: &[Var],
    ) -> (Option<(u32, Box<[i16]>)>, Layout) {
        let attribute = |var: &Var| match target.outputs.get(var.column as usize) {
            Some(ScanColumn::System(attribute)) if var.slot == target.slot => Some(*attribute),
            _ => None,
        };
        let system: Box<[i16]> = behind.iter().filter_map(attribute).collect();
        if system.is_empty() {
            row.extend_from_slice(behind);
            return (None, row);
        }
        let slot = self.slot(system.len());
        let mut fresh = Self::layout(slot, system.len()).into_iter();
        row.extend(behind.iter().map(|var| match attribute(var) {
            Some(_) => fresh.next().expect("there is one for each"),
            None => *var,
        }));
        (Some((slot, system)), row)
    }

    /// CHECK constraints of a table over the homes of its new row.
    fn checks(
        &mut self,
        relation: &Relation,
        checks: &[(usize, Expr)],
        new_row: &Layout,
    ) -> Result<Vec<(Arc<str>, Scalar)>> {
        checks
            .iter()
            .map(|(at, check)| {
                let name = Arc::clone(&relation.constraints[*at].name);
                Ok((name, self.over(new_row, |planner| planner.scalar(check))?))
            })
            .collect()
    }

    /// Generated columns of a table over the homes of its new row.
    fn generated(
        &mut self,
        table: &Table,
        generated: &[(usize, Expr)],
        new_row: &Layout,
    ) -> Result<Vec<(usize, Scalar)>> {
        generated
            .iter()
            .map(|(column, value)| {
                let at = live_place(table, *column)?;
                Ok((at, self.over(new_row, |planner| planner.scalar(value))?))
            })
            .collect()
    }

    /// An action of a foreign key, unless another part of the statement has brought it.
    fn action(&mut self, action: &logical::ReferentialAction) -> Result<()> {
        let known = self.actions.iter().any(|known| {
            known.table.relation.oid == action.child.oid
                && known.constraint == action.constraint
                && known.on_update == action.on_update
        });
        if known {
            return Ok(());
        }
        let table = Arc::new(self.table(&action.child, &action.computed)?);
        let (key_width, width) = (action.change.as_ref().map_or(0, Vec::len), table.live.len());
        let (key_slot, new_slot) = (self.slot(key_width), self.slot(width));
        let checks = self.checks(&action.child, &action.checks, &Self::layout(new_slot, width))?;
        let new_row = Self::layout(new_slot, width);
        let generated = self.generated(&table, &action.generated, &new_row)?;
        let change = action.change.as_ref().map(|assignments| {
            assignments
                .iter()
                .map(|(column, value)| {
                    let key = Self::layout(key_slot, key_width);
                    let value = self.over(&key, |planner| planner.scalar(value))?;
                    Ok((live_place(&table, *column)?, value))
                })
                .collect::<Result<Vec<_>>>()
        });
        let change = change.transpose()?;
        let (constraint, on_update) = (action.constraint, action.on_update);
        self.actions.push(ReferentialAction {
            table,
            constraint,
            on_update,
            key_slot,
            change,
            new_slot,
            generated,
            checks,
        });
        Ok(())
    }

    /// The source of an UPDATE or DELETE, whose FROM item [`logical::TARGET`] it changes.
    fn source(
        &mut self,
        node: &logical::Node,
    ) -> Result<(Plan, Arc<TargetRow>, Layout, Vec<Scalar>, bool)> {
        let (mut source, layout) = self.node(node)?;
        let target = self.target(&mut source, logical::TARGET, TO_CHANGE).ok_or_else(|| {
            SqlError::unsupported("changing rows through this kind of relation is")
        })?;
        let recheck = conditions(&source);
        let joined = joins(&source);
        let source = pushdown::optimise(self, source, Vec::new());
        Ok((source, target, layout, recheck, joined))
    }

    fn merge(
        &mut self,
        table: &Table,
        source: &logical::Node,
        on: &[Expr],
        actions: &[logical::MergeAction],
    ) -> Result<ModifyKind> {
        let (mut source, layout) = self.node(source)?;
        let target = self.target(&mut source, logical::TARGET, TO_CHANGE).ok_or_else(|| {
            SqlError::unsupported("changing rows through this kind of relation is")
        })?;
        let (recheck, actions) = self.over(&layout, |planner| {
            let recheck = planner.conjuncts(on)?;
            let actions = actions.iter().map(|action| planner.merge_action(table, action));
            Ok((recheck, actions.collect::<Result<Vec<_>>>()?))
        })?;
        let source = pushdown::optimise(self, source, Vec::new());
        Ok(ModifyKind::Merge { source, target, recheck, actions })
    }

    fn merge_action(
        &mut self,
        table: &Table,
        action: &logical::MergeAction,
    ) -> Result<MergeAction> {
        let change = match &action.change {
            logical::MergeChange::Nothing => MergeChange::Nothing,
            logical::MergeChange::Delete => MergeChange::Delete,
            logical::MergeChange::Update(assignments) => MergeChange::Update(
                assignments
                    .iter()
                    .map(|(column, value)| Ok((live_place(table, *column)?, self.scalar(value)?)))
                    .collect::<Result<_>>()?,
            ),
            logical::MergeChange::Insert(row) => MergeChange::Insert(
                row.iter().map(|value| self.scalar(value)).collect::<Result<_>>()?,
            ),
        };
        let conditions = self.conjuncts(&action.conditions)?;
        Ok(MergeAction { matched: action.matched, conditions, change })
    }

    fn on_conflict(
        &mut self,
        table: &Table,
        conflict: &logical::OnConflict,
        system: &[i16],
        new_layout: &Layout,
    ) -> Result<OnConflict> {
        let (arbiters, undecided) = self.arbiters(table, &conflict.arbiters)?;
        let Some(update) = &conflict.update else {
            return Ok(OnConflict { arbiters, undecided, update: None });
        };
        let width = table.live.len() + system.len();
        let slot = self.slot(width + 1);
        let mut outputs: Vec<ScanColumn> =
            table.live.iter().map(|column| ScanColumn::Column(*column)).collect();
        outputs.extend(system.iter().map(|attribute| ScanColumn::System(*attribute)));
        outputs.push(ScanColumn::Key);
        let existing = Arc::new(TargetRow {
            relation: Arc::clone(&table.relation),
            layout: Arc::clone(&table.layout),
            tree: table.tree,
            long_values: table.long_values,
            slot,
            outputs,
            key: Var { slot, column: width as u32 },
        });
        let mut layout = Self::layout(slot, width);
        layout.extend_from_slice(new_layout);
        self.over(&layout, |planner| {
            let visible = update
                .visible
                .iter()
                .map(|check| {
                    let conditions = check.conditions.iter().map(|one| planner.scalar(one));
                    Ok((Arc::clone(&check.view), conditions.collect::<Result<Vec<_>>>()?))
                })
                .collect::<Result<Vec<_>>>()?;
            let assignments = update
                .assignments
                .iter()
                .map(|(column, value)| Ok((live_place(table, *column)?, planner.scalar(value)?)))
                .collect::<Result<Vec<_>>>()?;
            let filter = update.filter.as_ref().map(|one| planner.scalar(one)).transpose()?;
            let update = ConflictUpdate { existing, visible, assignments, filter };
            Ok(OnConflict { arbiters, undecided, update: Some(update) })
        })
    }

    /// The places of the indexes that arbitrate; none: any. And whether the values of parameters decide, and are not known.
    fn arbiters(
        &mut self,
        table: &Table,
        arbiters: &logical::Arbiters,
    ) -> Result<(Vec<usize>, bool)> {
        let indexes = &table.relation.indexes;
        let place = |oid: &Oid| indexes.iter().position(|index| index.oid == *oid);
        let (candidates, given) = match arbiters {
            logical::Arbiters::Any => return Ok((Vec::new(), false)),
            logical::Arbiters::Named(oid) => return Ok((place(oid).into_iter().collect(), false)),
            logical::Arbiters::Inferred { candidates, given } => (candidates, given),
        };
        let (mut given, mut open) = (given.clone(), false);
        for one in &mut given {
            parameters_of(one, &mut |expr| {
                let Expr::Parameter(number, ty) = *expr else { return };
                match self.figures.facts().parameter(number) {
                    Some((value, _)) => *expr = Expr::Constant(value, ty),
                    None => open = true,
                }
            });
        }
        let width = table.live.len();
        let row = Self::layout(self.slot(width), width);
        let found = self.over(&row, |planner| {
            let given = planner.conjuncts(&given)?;
            let mut found = Vec::new();
            for (oid, open) in candidates {
                if planner.conjuncts(open)?.iter().all(|demand| implies(&given, demand)) {
                    found.extend(place(oid));
                }
            }
            Ok(found)
        })?;
        let undecided = open && found.is_empty() && !candidates.is_empty();
        // With values more of them may be meant.
        if open && found.len() < candidates.len() {
            self.figures.facts().depends_on_values();
        }
        if found.is_empty() && !undecided {
            self.presets.failure.get_or_insert_with(OnConflict::no_arbiter);
        }
        Ok((found, undecided))
    }

    /// What indexes compute, over the homes of a row.
    ///
    /// # Errors
    /// Those of scalars.
    pub(super) fn computed_keys(
        &mut self,
        computed: &[logical::ComputedIndex],
        row: &Layout,
    ) -> Result<Vec<ComputedKey>> {
        let key = |index: &logical::ComputedIndex| {
            self.over(row, |planner| {
                Ok(ComputedKey {
                    index: index.index,
                    filter: planner.conjuncts(&index.filter)?,
                    expressions: planner.all(&index.expressions)?.into_vec(),
                })
            })
        };
        computed.iter().map(key).collect()
    }

    /// What writing a table's rows needs to know.
    ///
    /// # Errors
    /// 42809 if it is no table.
    pub fn table(
        &mut self,
        relation: &Arc<Relation>,
        computed: &[logical::ComputedIndex],
    ) -> Result<Table> {
        let facts = self.figures.facts();
        let mut table = table_of(relation, &|oid| facts.relation(oid))?;
        // A trigger is called as a routine is.
        self.calls_routines |= !relation.triggers.is_empty();
        if !computed.is_empty() {
            let width = table.live.len();
            let slot = self.slot(width);
            let layout = Self::layout(slot, width);
            table.computed =
                Some(ComputedKeys { slot, keys: self.computed_keys(computed, &layout)? });
        }
        Ok(table)
    }
}

/// What writing a table's rows needs to know, but for what indexes compute of them.
///
/// # Errors
/// 42809 if it is no table.
pub fn table_of(
    relation: &Arc<Relation>,
    other: &dyn Fn(Oid) -> Option<Arc<Relation>>,
) -> Result<Table> {
    let (tree, key, long_values) = match &relation.kind {
        RelationKind::Table { tree, key, long_values } => (*tree, &key[..], *long_values),
        RelationKind::View { .. } => (NO_TREE, &[][..], NO_TREE),
        _ => {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change relation \"{}\"", relation.name),
            ));
        }
    };
    let find = |oid: Oid| if oid == relation.oid { Some(Arc::clone(relation)) } else { other(oid) };
    let (mut references, mut referenced_by) = (Vec::new(), Vec::new());
    for (at, constraint) in relation.constraints.iter().enumerate() {
        if let ConstraintKind::ForeignKey(key) = &constraint.kind
            && let Some(parent) = find(key.references)
        {
            let child = Arc::clone(relation);
            references.push(Reference { constraint: at, child, parent });
        }
    }
    for (child, at) in &relation.referenced_by {
        if let Some(child) = find(*child) {
            let parent = Arc::clone(relation);
            referenced_by.push(Reference { constraint: *at, child, parent });
        }
    }
    Ok(Table {
        relation: Arc::clone(relation),
        layout: Arc::new(relation.row_layout()),
        tree,
        long_values,
        live: (0..relation.columns.len()).filter(|at| !relation.columns[*at].dropped).collect(),
        computed: None,
        key: (!key.is_empty()).then(|| relation.key_layout(key)),
        primary: relation.indexes.iter().position(|index| index.tree == tree),
        indexes: relation
            .indexes
            .iter()
            .enumerate()
            .filter(|(_, index)| index.tree != tree && index.is_written())
            .map(|(at, index)| (at, relation.index_layout(index)))
            .collect(),
        references,
        referenced_by,
        failing_row: FailingRow::Whole,
    })
}

fn live_place(table: &Table, column: usize) -> Result<usize> {
    table.live.iter().position(|live| *live == column).ok_or_else(|| {
        SqlError::new(SqlState::INTERNAL_ERROR, "an assignment names a dropped column")
    })
}

/// Whether one row of the target may come more than once.
fn joins(plan: &Plan) -> bool {
    match plan {
        Plan::Join(_) | Plan::ProjectSet(..) => true,
        Plan::Filter(input, _) | Plan::Project(input, ..) => joins(input),
        _ => false,
    }
}
