//! FOR UPDATE and its family: each row is locked as it passes; one that has changed while it was waited for is read again
//! and must still meet the query's conditions (PostgreSQL's EvalPlanQual).

use super::context::Context;
use super::operator::{Builder, Operator};
use super::scan::{reread, still_meets};
use crate::catalog::Relation;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, Again, LockTarget, TargetRow};
use crate::sqlstate::SqlState;
use crate::tuple::Heap;
use crate::tuple::row::{Field, Opened};
use crate::types::{self, Datum};
use std::sync::Arc;
use txn::{ConflictKind, Locked, RecordBuffer, RowLock, Transaction, Tree};

/// What is done again with a row that has changed.
enum Step {
    Meet(Arc<Code>),
    Compute(u32, Arc<Code>),
}

/// Locks rows.
pub struct LockRows {
    input: Box<dyn Operator>,
    targets: Vec<LockTarget>,
    /// The trees of their rows, once one has been locked.
    trees: Vec<Arc<Tree>>,
    again: Box<[Step]>,
    correlated: Box<[u32]>,
    record: RecordBuffer,
    key: Vec<u8>,
}

impl LockRows {
    /// Over an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        plan: &physical::LockRows,
        builder: &Builder<'_>,
    ) -> LockRows {
        let step = |again: &Again| match again {
            Again::Meet(conditions) => Step::Meet(builder.conditions(conditions)),
            Again::Compute(slot, columns) => Step::Compute(*slot, builder.code(columns)),
        };
        LockRows {
            input,
            targets: plan.targets.clone(),
            trees: Vec::new(),
            correlated: builder.correlated(plan.again.iter().flat_map(Again::scalars)),
            again: plan.again.iter().map(step).collect(),
            record: RecordBuffer::default(),
            key: Vec::new(),
        }
    }

    /// Locks the row of each target; false if the row does not go on.
    fn lock(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let mut changed = false;
        if self.trees.is_empty() {
            let trees = self.targets.iter().map(|target| cx.tree(target.scan.tree));
            self.trees = trees.collect::<Result<_>>()?;
        }
        for (target, tree) in self.targets.iter().zip(&self.trees) {
            // The nullable side of an outer join has no row here.
            let Datum::Bytea(key) = cx.frame.get(target.scan.key) else { continue };
            self.key.clear();
            self.key.extend_from_slice(key);
            let view = cx.transaction.view_to_lock(&cx.view, target.policy);
            let (policy, into) = (target.policy, &mut self.record);
            let mut lock = |transaction: &mut Transaction, key: &[u8]| match target.lock {
                RowLock::KeyShare => {
                    let keeps = |old: &[u8], new: &[u8]| keeps_keys(&target.scan, old, new);
                    transaction.lock_row_key(&view, tree, key, policy, into, &keeps)
                }
                mode => transaction.lock_row_only(&view, tree, key, mode, policy, into),
            };
            let locked = cx.transaction.lock_followed(&view, tree, &mut self.key, &mut lock);
            let locked = locked.map_err(|error| match error {
                // Whoever only locks is not told what became of the row.
                txn::Error::Conflict(ConflictKind::Delete) => {
                    txn::Error::Conflict(ConflictKind::Update).into()
                }
                other => refused(&target.scan.relation, other),
            })?;
            match locked {
                Locked::Same => {}
                Locked::Changed => {
                    reread(cx, &target.scan, &self.key, &self.record)?;
                    changed = true;
                }
                Locked::Gone | Locked::Skipped => return Ok(false),
            }
        }
        if changed { self.again(cx) } else { Ok(true) }
    }

    /// Does again what was done with the row before it changed; false if it does not go on.
    fn again(&self, cx: &mut Context<'_>) -> Result<bool> {
        for step in &*self.again {
            match step {
                Step::Meet(conditions) => {
                    if !still_meets(cx, conditions, &self.correlated)? {
                        return Ok(false);
                    }
                }
                Step::Compute(slot, columns) => cx.fill(*slot, columns, &self.correlated)?,
            }
        }
        Ok(true)
    }
}

/// What is said where a row's lock, or that of what leads to it, was not granted.
pub(super) fn refused(relation: &Relation, error: txn::Error) -> SqlError {
    match error {
        txn::Error::LockNotAvailable { timeout: false } => SqlError::new(
            SqlState::LOCK_NOT_AVAILABLE,
            format!("could not obtain lock on row in relation \"{}\"", relation.name),
        ),
        other => other.into(),
    }
}

/// Whether two records of a row have the same values in all columns of unique keys, which others may refer to: what
/// [`super::write::Writer::changes_key`] asks of an update. A record that cannot be read has not: reading it tells why.
fn keeps_keys(target: &TargetRow, old: &[u8], new: &[u8]) -> bool {
    let relation = &target.relation;
    let (Ok(Opened::Here(old)), Ok(Opened::Here(new))) =
        (target.layout.open(old), target.layout.open(new))
    else {
        return false;
    };
    let (mut heap, mut other) = (Heap::default(), Heap::default());
    let mut same = |column: usize| {
        heap.clear();
        other.clear();
        let (old, new) = (old.read(column, &mut heap), new.read(column, &mut other));
        let (Ok(Field::Value(old)), Ok(Field::Value(new))) = (old, new) else { return false };
        let (old, new) = (heap.view(&old), other.view(&new));
        match (old.is_null(), new.is_null()) {
            (false, false) => types::compare(relation.columns[column].ty.oid.0, &old, &new).is_eq(),
            (old, new) => old == new,
        }
    };
    let mut keys = relation.indexes.iter().filter(|index| index.unique && !index.is_computed());
    keys.all(|index| index.columns.iter().all(|column| same(column.column)))
}

impl Operator for LockRows {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.input.next(cx)? {
            if self.lock(cx)? {
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        Ok(false)
    }

    fn is_over(&self) -> bool {
        self.input.is_over()
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.input.rest_bytes()
    }
}
