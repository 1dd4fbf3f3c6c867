//! Checks that wait: for the statement's end, for SET CONSTRAINTS, or for the transaction's end.
//!
//! What a statement's rows must be held against later is a [`Check`]. Each waits in the statement's own queue
//! ([`Pending`]), which [`finish`] works off behind its last row, or, where its constraint is deferred at that moment, in
//! the transaction's ([`Deferred`]), which the session works off before COMMIT and PREPARE TRANSACTION, and where SET
//! CONSTRAINTS makes a constraint immediate. A check looks at the latest state, so it does not matter how often a row has
//! changed meanwhile, and one whose row is gone passes.
//!
//! **Deferrable keys.** The tree of a deferrable UNIQUE or PRIMARY KEY holds an entry for each row, so that several rows
//! may have one key for a while. Who writes an entry tries to lock its columns, which are a key of the tree that no record
//! has. If that succeeds and no entry has these columns, there is nothing to check: whoever writes the same columns later
//! fails to lock them, and checks. The check waits for that lock, and for whoever is about to change another row of the
//! key, and then looks at what has been committed. So of two transactions that write one key the second one waits for
//! the first at its check, as in PostgreSQL (`unique_key_recheck`), and locks are held to the end, a prepared
//! transaction's too.

use super::context::Context;
use super::foreign_key;
use super::frame::Frame;
use super::machine::Run;
use super::trigger::{self, Rows, Transition};
use super::write::duplicate_of;
use crate::account;
use crate::catalog::{Deferral, Relation};
use crate::error::{Result, SqlError};
use crate::plan::physical::{Reference, Table};
use crate::sqlstate::SqlState;
use crate::tuple::key::prefix_end;
use crate::tuple::{RowBuf, RowSet};
use crate::types::Oid;
use crate::types::check_held;
use bumpalo::Bump;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use txn::{CommandId, Direction, KeyRange, ReadView, RecordBuffer, RowLock, Tree, WaitPolicy};

/// Something that must be true of a row once its constraint is checked. Places are those in the table that it is of.
#[derive(Clone, Debug)]
pub enum Check {
    /// A row with this key needs the parent that a foreign key of the table demands.
    Child {
        /// The place in the table's references.
        reference: usize,
        /// The row's key.
        key: Vec<u8>,
        /// All its columns.
        row: RowBuf,
    },
    /// A row that others refer to has gone, or has become another.
    Parent {
        /// The place in those that refer to the table.
        reference: usize,
        /// What it was.
        old: RowBuf,
        /// What it is.
        new: Option<RowBuf>,
    },
    /// No other entry of a deferrable key may have the columns of this one.
    Key {
        /// The index's place in the relation.
        index: usize,
        /// The entry's key.
        entry: Vec<u8>,
        /// How many bytes of it are its columns.
        columns: usize,
        /// All columns of its row.
        row: RowBuf,
    },
    /// A trigger of the table fires.
    Trigger {
        /// It.
        trigger: Oid,
        /// For what.
        event: i16,
        /// The row as it was, if it fires for one that was there.
        old: Option<RowBuf>,
        /// The row as it is.
        new: Option<RowBuf>,
        /// The change that it is of, by its place in [`Pending`].
        change: usize,
    },
}

/// The changes of one kind to a table that its triggers see as one statement, with what foreign keys' actions add to it
/// (`AfterTriggersTableData` of `trigger.c`).
#[derive(Debug)]
struct Change {
    table: Oid,
    event: i16,
    /// Its BEFORE triggers have fired.
    begun: bool,
    /// What has been changed, where a trigger of the table asks for it.
    rows: Option<Arc<Transition>>,
    /// A trigger has seen the rows: what is changed from now on is of another such change.
    seen: bool,
}

/// What a statement does at its end, in this order.
#[derive(Debug, Default)]
pub struct Pending {
    checks: VecDeque<(Arc<Table>, Check)>,
    changes: Vec<Change>,
    /// How many actions of foreign keys are running.
    pub actions: u32,
}

impl Pending {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.checks.clear();
        self.actions = 0;
        self.changes.clear();
    }

    /// The change to a table that nobody has seen yet.
    fn change(&mut self, table: Oid, event: i16) -> usize {
        let open = |one: &Change| one.table == table && one.event == event && !one.seen;
        self.changes.iter().position(open).unwrap_or_else(|| {
            self.changes.push(Change { table, event, begun: false, rows: None, seen: false });
            self.changes.len() - 1
        })
    }

    /// A statement changes rows of a table; false if such a change has begun before.
    pub fn begin_statement(&mut self, table: Oid, event: i16) -> bool {
        let at = self.change(table, event);
        !std::mem::replace(&mut self.changes[at].begun, true)
    }

    /// Takes back the triggers that wait for the end of such a statement, and says which change it is.
    pub fn forget_statement(&mut self, table: Oid, event: i16) -> usize {
        let at = self.change(table, event);
        self.checks.retain(|(_, check)| {
            !matches!(check, Check::Trigger { change, old: None, new: None, .. } if *change == at)
        });
        at
    }

    /// Keeps the rows of a change, where a trigger of the table asks for them, and says which change it is.
    pub fn note_row(&mut self, relation: &Relation, event: i16, rows: Rows<'_>) -> usize {
        let at = self.change(relation.oid, event);
        let asks = relation
            .triggers
            .iter()
            .any(|one| one.kind & event != 0 && one.transition != (None, None));
        if !asks {
            return at;
        }
        let none = || RowSet::new(relation.columns.len());
        let kept = self.changes[at]
            .rows
            .get_or_insert_with(|| Arc::new(Transition { old: none(), new: none() }));
        // Nobody has it before it is seen.
        if let Some(kept) = Arc::get_mut(kept) {
            rows.old.into_iter().for_each(|row| kept.old.push(row.iter()));
            rows.new.into_iter().for_each(|row| kept.new.push(row.iter()));
        }
        at
    }

    /// What has been changed of a table, for a trigger that sees it now.
    #[must_use]
    pub fn see(&mut self, change: usize) -> Option<Arc<Transition>> {
        let change = self.changes.get_mut(change)?;
        change.seen = true;
        Some(change.rows.clone().unwrap_or_default())
    }

    /// Puts one at the end.
    pub fn push(&mut self, table: &Arc<Table>, check: Check) {
        self.checks.push_back((Arc::clone(table), check));
    }
}

/// What SET CONSTRAINTS has said.
#[derive(Clone, Debug, Default)]
struct Modes {
    /// SET CONSTRAINTS ALL: whether they are deferred.
    all: Option<bool>,
    /// Those that have been named since.
    named: Vec<(Oid, bool)>,
}

/// A check of the transaction's queue. Its table is looked up again when it is made: the transaction may have changed it.
#[derive(Debug)]
struct PutOff {
    constraint: (Oid, Deferral),
    table: Oid,
    check: Check,
    done: bool,
}

/// A transaction's deferred constraints.
#[derive(Debug, Default)]
pub struct Deferred {
    modes: Modes,
    checks: Vec<PutOff>,
    /// The places of those that have been made, in that order.
    done: Vec<usize>,
    bytes: usize,
    /// A security-restricted operation runs: what it would leave for later fails.
    refuses: bool,
}

/// Where a savepoint stands.
#[derive(Clone, Debug)]
pub struct DeferredSavepoint {
    modes: Modes,
    checks: usize,
    done: usize,
}

impl Deferred {
    /// Whether a constraint is deferred now.
    #[must_use]
    pub fn is_deferred(&self, (oid, deferral): (Oid, Deferral)) -> bool {
        let named = || self.modes.named.iter().find(|(named, _)| *named == oid);
        deferral.is_deferrable()
            && named()
                .map(|(_, deferred)| *deferred)
                .or(self.modes.all)
                .unwrap_or(deferral.is_deferred())
    }

    /// SET CONSTRAINTS of these constraints, or of all.
    pub fn set(&mut self, constraints: Option<&[Oid]>, deferred: bool) {
        let Some(constraints) = constraints else {
            self.modes = Modes { all: Some(deferred), named: Vec::new() };
            return;
        };
        self.modes.named.retain(|(oid, _)| !constraints.contains(oid));
        self.modes.named.extend(constraints.iter().map(|oid| (*oid, deferred)));
    }

    /// The transaction has ended.
    pub fn clear(&mut self) {
        if !self.checks.is_empty() || self.modes.all.is_some() || !self.modes.named.is_empty() {
            *self = Deferred { refuses: self.refuses, ..Deferred::default() };
        }
    }

    /// Where it stands now.
    #[must_use]
    pub fn savepoint(&self) -> DeferredSavepoint {
        DeferredSavepoint {
            modes: self.modes.clone(),
            checks: self.checks.len(),
            done: self.done.len(),
        }
    }

    /// From now on nothing may be put off to the transaction's end, or again something; gives what was so before.
    pub fn refuse(&mut self, refuses: bool) -> bool {
        std::mem::replace(&mut self.refuses, refuses)
    }

    /// Goes back to where it stood. What has been checked since waits again.
    pub fn rollback_to(&mut self, savepoint: &DeferredSavepoint) {
        self.modes = savepoint.modes.clone();
        for at in self.done.split_off(savepoint.done) {
            self.checks[at].done = false;
        }
        for gone in self.checks.drain(savepoint.checks..) {
            self.bytes -= gone.check.bytes();
        }
    }

    /// Whether one of these is a trigger.
    #[must_use]
    pub fn fires(&self, due: &[(usize, Oid)]) -> bool {
        due.iter().any(|(at, _)| matches!(self.checks[*at].check, Check::Trigger { .. }))
    }

    /// Whether nothing waits.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.checks.len() == self.done.len()
    }

    /// Whether a check of this table's rows waits.
    #[must_use]
    pub fn has_of(&self, table: Oid) -> bool {
        self.checks.iter().any(|put_off| !put_off.done && put_off.table == table)
    }

    /// The checks to be made now, each with its table: all, or those whose constraint is no longer deferred.
    #[must_use]
    pub fn due(&self, all: bool) -> Vec<(usize, Oid)> {
        let waiting = self.checks.iter().enumerate().filter(|(_, put_off)| !put_off.done);
        waiting
            .filter(|(_, put_off)| all || !self.is_deferred(put_off.constraint))
            .map(|(at, put_off)| (at, put_off.table))
            .collect()
    }

    /// Lets go of what has been checked, where no savepoint may need it again.
    pub fn forget_done(&mut self) {
        self.done.clear();
        self.checks.retain(|put_off| !put_off.done);
        self.bytes = self.checks.iter().map(|put_off| put_off.check.bytes()).sum();
    }
}

impl Check {
    /// Its constraint, and when that is checked.
    fn constraint(&self, table: &Table) -> (Oid, Deferral) {
        let of = |reference: &Reference| {
            let found = &reference.child.constraints[reference.constraint];
            (found.oid, found.deferral)
        };
        match self {
            Check::Child { reference, .. } => of(&table.references[*reference]),
            Check::Parent { reference, .. } => of(&table.referenced_by[*reference]),
            Check::Key { index, .. } => {
                let index = &table.relation.indexes[*index];
                (index.constraint.as_ref().map_or(index.oid, |found| found.0), index.deferral)
            }
            Check::Trigger { trigger, .. } => {
                let found = table.relation.triggers.iter().find(|one| one.oid == *trigger);
                let constraint = found.and_then(|found| found.constraint);
                constraint.map_or((*trigger, Deferral::Never), |(oid, deferral, _)| (oid, deferral))
            }
        }
    }

    /// Finds its constraint again in the table as it is now; false if that is gone.
    fn place_in(&mut self, table: &Table, constraint: Oid) -> bool {
        let of = |reference: &Reference| reference.child.constraints[reference.constraint].oid;
        let (place, found) = match self {
            Check::Child { reference, .. } => {
                (reference, table.references.iter().position(|one| of(one) == constraint))
            }
            Check::Parent { reference, .. } => {
                (reference, table.referenced_by.iter().position(|one| of(one) == constraint))
            }
            Check::Key { index, .. } => {
                let is = |oid: &Oid| *oid == constraint;
                let named = |index: &crate::catalog::Index| {
                    index.constraint.as_ref().is_some_and(|found| is(&found.0))
                };
                (index, table.relation.indexes.iter().position(named))
            }
            Check::Trigger { trigger, .. } => {
                return table.relation.triggers.iter().any(|one| one.oid == *trigger);
            }
        };
        found.inspect(|found| *place = *found).is_some()
    }

    /// What it occupies.
    fn bytes(&self) -> usize {
        const OWN: usize = size_of::<PutOff>();
        OWN + match self {
            Check::Child { key, row, .. } => key.len() + row.capacity_bytes(),
            Check::Parent { old, new, .. } => {
                old.capacity_bytes() + new.as_ref().map_or(0, RowBuf::capacity_bytes)
            }
            Check::Key { entry, row, .. } => entry.len() + row.capacity_bytes(),
            Check::Trigger { old, new, .. } => {
                let rows = old.iter().chain(new);
                rows.map(RowBuf::capacity_bytes).sum()
            }
        }
    }
}

/// Puts a check where it has to wait.
///
/// # Errors
/// 53200 where too many wait; 42501 where a security-restricted operation would leave one to the transaction's end.
pub fn put_off(cx: &mut Context<'_>, table: &Arc<Table>, check: Check) -> Result<()> {
    let constraint = check.constraint(table);
    let mut deferred = cx.host.deferred.borrow_mut();
    if !deferred.is_deferred(constraint) {
        cx.checks.push(table, check);
        return Ok(());
    }
    if deferred.refuses {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            "cannot fire deferred trigger within security-restricted operation",
        ));
    }
    deferred.bytes += check.bytes();
    let table = table.relation.oid;
    deferred.checks.push(PutOff { constraint, table, check, done: false });
    check_held(deferred.bytes)
}

/// Makes the checks, and does the actions, that were put off to the statement's end.
///
/// # Errors
/// 23503, 23505; all that changing referencing rows can fail with.
pub fn finish(cx: &mut Context<'_>) -> Result<()> {
    if cx.checks.checks.is_empty() {
        return Ok(());
    }
    // What is done now meets what the statement has written; but under REPEATABLE READ and above, a row newer than the
    // statement's snapshot cannot be changed.
    let locking = ReadView { command: CommandId(u32::MAX), ..cx.view };
    let statement = std::mem::replace(&mut cx.view, ReadView::LATEST);
    while let Some((table, check)) = cx.checks.checks.pop_front() {
        cx.check_cancel()?;
        make(cx, &table, &check, (&locking, statement))?;
    }
    Ok(())
}

/// Makes checks of the transaction's queue: `due`, with their tables as they are now.
///
/// # Errors
/// 23503, 23505.
pub fn make_due(
    run: &mut Run<'_, '_>,
    due: &[(usize, Oid)],
    tables: &mut dyn FnMut(Oid) -> Result<Option<Arc<Table>>>,
) -> Result<()> {
    let (mut frame, mut arena) = (Frame::new(&[]), Bump::new());
    let (mut pending, mut processed) = (Pending::default(), 0);
    let (mut subplans, mut ctes, mut actions) = (Vec::new(), Vec::new(), Vec::new());
    let mut cx = Context {
        transaction: run.transaction,
        view: ReadView::LATEST,
        frame: &mut frame,
        arena: &mut arena,
        subplans: &mut subplans,
        ctes: &mut ctes,
        parameters: run.parameters,
        host: run.host,
        row_ids: run.row_ids,
        run: 0,
        processed: &mut processed,
        checks: &mut pending,
        actions: &mut actions,
    };
    for &(at, table) in due {
        cx.check_cancel()?;
        let (constraint, mut check) = {
            let deferred = cx.host.deferred.borrow();
            (deferred.checks[at].constraint.0, deferred.checks[at].check.clone())
        };
        if let Some(table) = tables(table)?
            && check.place_in(&table, constraint)
        {
            make(&mut cx, &table, &check, (&ReadView::LATEST, ReadView::LATEST))?;
        }
        let mut deferred = cx.host.deferred.borrow_mut();
        deferred.checks[at].done = true;
        deferred.done.push(at);
    }
    Ok(())
}

/// Makes a check. `locking` is the view under which rows are locked, `statement` what a trigger's function sees that is not
/// volatile: nothing of what its statement has changed.
fn make(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    check: &Check,
    (locking, statement): (&ReadView, ReadView),
) -> Result<()> {
    account::poll()?;
    match check {
        Check::Child { reference, key, row } => {
            foreign_key::check_reference(cx, table, *reference, key, row)
        }
        Check::Parent { reference, old, new } => {
            foreign_key::settle(cx, table, *reference, (old, new.as_ref()), locking)
        }
        Check::Key { index, entry, columns, row } => {
            check_key(cx, table, *index, entry.split_at(*columns), row)
        }
        Check::Trigger { trigger, event, old, new, change } => {
            let rows = Rows { old: old.as_ref(), new: new.as_ref() };
            let around = std::mem::replace(&mut cx.view, statement);
            let fired = trigger::fire_queued(cx, table, (*trigger, *event), rows, *change);
            cx.view = around;
            fired
        }
    }
}

/// Locks the columns of a deferrable key, if nobody is in the way; whether they are locked and no row has them.
///
/// # Errors
/// Those of locks and storage.
pub fn is_free(cx: &mut Context<'_>, tree: &Arc<Tree>, columns: &[u8]) -> Result<bool> {
    Ok(cx.transaction.try_lock_key(tree, columns, RowLock::Update)?
        && other_entry(cx, tree, columns, None)?.is_none())
}

/// The key of an entry with these columns that is not of the row `own`.
fn other_entry(
    cx: &mut Context<'_>,
    tree: &Arc<Tree>,
    columns: &[u8],
    own: Option<&[u8]>,
) -> Result<Option<Vec<u8>>> {
    let mut high = columns.to_vec();
    let bounded = prefix_end(&mut high);
    let range = KeyRange {
        low: Bound::Included(columns),
        high: if bounded { Bound::Excluded(&high) } else { Bound::Unbounded },
    };
    let mut scan = cx.transaction.scan(&ReadView::LATEST, tree, range, Direction::Forward)?;
    while let Some(found) = scan.advance(cx.transaction)? {
        if own.is_none_or(|own| found.key.get(columns.len()..) != Some(own)) {
            return Ok(Some(found.key.to_vec()));
        }
    }
    Ok(None)
}

/// 23505 if another row has the key of this one: both are there, and nobody is about to change that.
fn check_key(
    cx: &mut Context<'_>,
    table: &Table,
    index: usize,
    (columns, row_key): (&[u8], &[u8]),
    row: &RowBuf,
) -> Result<()> {
    let found = &table.relation.indexes[index];
    let (tree, rows) = (cx.tree(found.tree)?, cx.tree(table.tree)?);
    let mut record = RecordBuffer::default();
    let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
    cx.transaction.lock_key(&tree, columns, mode, policy, &mut record)?;
    let own = [columns, row_key].concat();
    if !cx.transaction.get_latest(&tree, &own, &mut record)? {
        return Ok(());
    }
    while let Some(other) = other_entry(cx, &tree, columns, Some(row_key))? {
        let other_row = &other[columns.len()..];
        cx.transaction.lock_key(&rows, other_row, RowLock::KeyShare, policy, &mut record)?;
        if cx.transaction.get_latest(&tree, &other, &mut record)? {
            cx.transaction.check_duplicate(tree.id(), &own)?;
            return Err(duplicate_of(cx, &table.relation, found, row, None)?);
        }
    }
    Ok(())
}
