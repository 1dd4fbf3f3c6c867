//! INSERT, UPDATE, DELETE, MERGE: rows are locked, checked again where they were waited for, and written.
//!
//! A statement never meets its own writes: its source reads as of before it. With a join, the same target row may come
//! again; only the first time counts. Without RETURNING all rows are done in one call.

use super::context::Context;
use super::foreign_key::{self, Timing};
use super::operator::{Builder, Operator};
use super::probe::Changed;
use super::row_change::{Assignments, RowChange};
use super::rows::Unit;
use super::scan::{reread, still_meets};
use super::trigger::{self as firing, Rows, Untouched};
use super::write::{Inserted, Writer};
use crate::catalog::relation_counts::{Count, Event};
use crate::catalog::system_column::XMIN;
use crate::catalog::trigger;
use crate::catalog::{Index, Relation};
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{
    self, ConflictUpdate, MergeAction, MergeChange, ModifyKind, OnConflict, TargetRow,
};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::row_id::row_number;
use crate::types::{Datum, Oid};
use std::collections::HashSet;
use std::sync::Arc;
use txn::{Locked, RowLock, WaitPolicy};

/// Who else does what `ModifyKind::Instead` says.
const OF_VIEWS: &str = "what triggers of views do is an operator of its own";

/// The programs of what a modification does.
#[derive(Default)]
struct Codes {
    /// What is checked again of a row that has changed.
    recheck: Arc<Code>,
    /// INSERT: the columns.
    columns: Arc<Code>,
    /// UPDATE, and that of ON CONFLICT: the values.
    values: Arc<Code>,
    /// ON CONFLICT: whether the row is to be updated, and whether views show it.
    filter: Arc<Code>,
    visible: Box<[Arc<Code>]>,
    /// MERGE: of each action its conditions and its values.
    actions: Box<[(Arc<Code>, Arc<Code>)]>,
}

impl Codes {
    fn of(kind: &ModifyKind, builder: &Builder<'_>) -> Codes {
        let values = |assignments: &[(usize, Scalar)]| {
            builder.code(assignments.iter().map(|(_, value)| value))
        };
        match kind {
            ModifyKind::Insert { columns, on_conflict, .. } => {
                let mut codes = Codes { columns: builder.code(columns), ..Codes::default() };
                let update = on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref());
                if let Some(update) = update {
                    codes.filter = builder.conditions(&update.filter);
                    codes.values = values(&update.assignments);
                    let visible = update.visible.iter();
                    codes.visible = visible.map(|(_, shown)| builder.conditions(shown)).collect();
                }
                codes
            }
            ModifyKind::Update { assignments, recheck, .. } => Codes {
                recheck: builder.conditions(recheck),
                values: values(assignments),
                ..Codes::default()
            },
            ModifyKind::Delete { recheck, .. } => {
                Codes { recheck: builder.conditions(recheck), ..Codes::default() }
            }
            ModifyKind::Merge { recheck, actions, .. } => Codes {
                recheck: builder.conditions(recheck),
                actions: actions
                    .iter()
                    .map(|action| {
                        let values = builder.code(action.change.values());
                        (builder.conditions(&action.conditions), values)
                    })
                    .collect(),
                ..Codes::default()
            },
            ModifyKind::Instead { .. } => unreachable!("{OF_VIEWS}"),
        }
    }
}

/// A running modification.
pub struct Modify {
    source: Box<dyn Operator>,
    kind: Arc<ModifyKind>,
    change: RowChange,
    returning: Option<(u32, Arc<Code>)>,
    codes: Arc<Codes>,
    /// Where RETURNING finds system columns of a row inserted, updated or put in conflict, and which.
    system: Option<(u32, Box<[i16]>)>,
    /// Correlated subqueries: of conditions checked again, of RETURNING.
    recheck_subqueries: Box<[u32]>,
    returning_subqueries: Box<[u32]>,
    writer: Option<Box<Writer>>,
    /// Rows that the statement has changed, where one may come again.
    changed: HashSet<Vec<u8>>,
    /// Whether the triggers of the statement itself have been put off to its end.
    ended: bool,
    /// For EXPLAIN.
    counted: Changed,
    /// What is counted of the indexes that ON CONFLICT asks, by place in the table's.
    arbiters: Vec<(usize, Arc<Count>)>,
    /// Of an INSERT, whether nobody but the table looks at its rows: their records are made of the values as they are computed.
    plain: bool,
}

impl Modify {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::Modify, builder: &Builder<'_>) -> Modify {
        let mut kind = plan.kind.clone();
        let only = match &mut kind {
            ModifyKind::Insert { source, columns, .. } if !builder.is_watched() => {
                take_only_row(source, columns)
            }
            _ => false,
        };
        let system = match &plan.kind {
            ModifyKind::Insert { system, .. } | ModifyKind::Update { system, .. } => system.clone(),
            _ => None,
        };
        let columns = match &kind {
            ModifyKind::Insert { columns, .. } => &columns[..],
            _ => &[],
        };
        let (source, row, recheck) = match &plan.kind {
            ModifyKind::Insert { source, on_conflict, .. } => {
                let update = on_conflict.iter().filter_map(|conflict| conflict.update.as_ref());
                let scalars = update.flat_map(ConflictUpdate::scalars);
                (source, builder.correlated(columns.iter().chain(scalars)), Box::default())
            }
            ModifyKind::Update { source, assignments, recheck, .. } => (
                source,
                builder.correlated(assignments.iter().map(|(_, value)| value)),
                builder.correlated(recheck),
            ),
            ModifyKind::Delete { source, recheck, .. } => {
                (source, Box::default(), builder.correlated(recheck))
            }
            ModifyKind::Merge { source, recheck, actions, .. } => {
                let values = actions.iter().flat_map(|action| action.change.values());
                let conditions = actions.iter().flat_map(|action| &action.conditions);
                (
                    source,
                    builder.correlated(values),
                    builder.correlated(recheck.iter().chain(conditions)),
                )
            }
            ModifyKind::Instead { .. } => unreachable!("{OF_VIEWS}"),
        };
        // Between a row and its parent triggers of rows before it may fire, or a function run that the statement calls.
        let fires =
            builder.calls_routines() || plan.table.relation.triggers.iter().any(|one| one.is_row());
        let timing = if fires { Timing::AtEnd } else { builder.timing() };
        let plain = match &plan.kind {
            ModifyKind::Insert { on_conflict, system, .. } => {
                on_conflict.is_none() && system.is_none() && is_plain(plan)
            }
            _ => false,
        };
        let returning =
            plan.returning.as_ref().map(|(slot, columns)| (*slot, builder.code(columns)));
        let mut change = RowChange::new(plan.into(), row, builder, timing);
        change.looks_in_records = matches!(kind, ModifyKind::Update { .. })
            && returning.as_ref().is_none_or(|(_, columns)| !columns.may_stop());
        Modify {
            plain,
            // The row that is to be inserted is all that there is.
            source: if only { Box::new(Unit::default()) } else { builder.build(source) },
            change,
            recheck_subqueries: recheck,
            returning_subqueries: builder
                .correlated(plan.returning.iter().flat_map(|(_, columns)| columns)),
            returning,
            system,
            codes: Arc::new(Codes::of(&kind, builder)),
            kind: Arc::new(kind),
            writer: None,
            changed: HashSet::new(),
            ended: false,
            counted: Changed::default(),
            arbiters: Vec::new(),
        }
    }

    /// One source row; whether it has changed a row of the table.
    fn row(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        (kind, codes): (&ModifyKind, &Codes),
    ) -> Result<bool> {
        match kind {
            ModifyKind::Insert { on_conflict, .. } => {
                self.insert(cx, writer, &codes.columns, on_conflict.as_ref())
            }
            ModifyKind::Update { target, assignments, joined, .. } => {
                if !self.lock(cx, writer, target, RowLock::NoKeyUpdate, *joined)? {
                    return Ok(false);
                }
                let assignments = Assignments { of: assignments, code: &codes.values };
                if !self.change.update(cx, writer, assignments)? {
                    return Ok(false);
                }
                self.show_system(cx, writer, false);
                Ok(true)
            }
            ModifyKind::Delete { target, joined, .. } => {
                if !self.lock(cx, writer, target, RowLock::Update, *joined)? {
                    return Ok(false);
                }
                self.change.delete(cx, writer)
            }
            ModifyKind::Merge { target, actions, .. } => {
                self.merge(cx, writer, target, (actions, codes))
            }
            ModifyKind::Instead { .. } => unreachable!("{OF_VIEWS}"),
        }
    }

    /// One row of a MERGE's source. Conditions of WHEN are asked of the target's row as the statement sees it; only where
    /// something is to be done is it locked, and where it has changed meanwhile, ON and all of them are asked again of the
    /// newest one. A row that is gone, or has ceased to match, leaves its source row to WHEN NOT MATCHED.
    fn merge(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        target: &TargetRow,
        (actions, codes): (&[MergeAction], &Codes),
    ) -> Result<bool> {
        if let Datum::Bytea(key) = cx.frame.get(target.key) {
            self.change.key.clear();
            self.change.key.extend_from_slice(key);
            let found = self.merge_matched(cx, writer, target, (actions, codes))?;
            if let Some(changed) = found {
                return Ok(changed);
            }
        }
        match self.fitting(cx, (actions, codes), false)? {
            Some((MergeChange::Insert(_), columns)) => self.insert(cx, writer, columns, None),
            _ => Ok(false),
        }
    }

    /// The target's row, its key in `self.change.key`; none if it does not match any more.
    fn merge_matched(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        target: &TargetRow,
        (actions, codes): (&[MergeAction], &Codes),
    ) -> Result<Option<bool>> {
        let mut newest = false;
        loop {
            let Some((change, code)) = self.fitting(cx, (actions, codes), true)? else {
                return Ok(Some(false));
            };
            let mode = match change {
                MergeChange::Nothing | MergeChange::Insert(_) => return Ok(Some(false)),
                MergeChange::Update(_) => RowLock::NoKeyUpdate,
                MergeChange::Delete => RowLock::Update,
            };
            if self.changed.contains(&self.change.key) {
                return Err(SqlError::new(
                    SqlState::CARDINALITY_VIOLATION,
                    "MERGE command cannot affect row a second time",
                )
                .hint("Ensure that not more than one source row matches any one target row."));
            }
            let view = cx.view;
            let locked = if newest {
                let (rows, change) = (&writer.rows, &mut self.change);
                let (key, record) = (&change.key, &mut change.record);
                cx.transaction.lock_row(&view, rows, key, mode, WaitPolicy::Block, record)?
            } else {
                self.change.lock(cx, &view, writer, mode)?
            };
            match locked {
                Locked::Gone | Locked::Skipped => {
                    let (rows, what) = ((&*writer.rows, &self.change.key[..]), Untouched::Either);
                    firing::demand_untouched(cx, &view, rows, what)?;
                    return Ok(None);
                }
                // Locked the first time, it cannot change before it is locked more strongly.
                Locked::Changed if !newest => {
                    newest = true;
                    reread(cx, target, &self.change.key, &self.change.record)?;
                    if !still_meets(cx, &codes.recheck, &self.recheck_subqueries)? {
                        return Ok(None);
                    }
                }
                Locked::Same | Locked::Changed => {
                    let (done, counted) = match change {
                        MergeChange::Update(of) => {
                            let assignments = Assignments { of, code };
                            let done = self.change.update(cx, writer, assignments)?;
                            (done, &mut self.counted.updated)
                        }
                        _ => (self.change.delete(cx, writer)?, &mut self.counted.deleted),
                    };
                    if !done {
                        return Ok(Some(false));
                    }
                    *counted += 1;
                    self.changed.insert(self.change.key.clone());
                    return Ok(Some(true));
                }
            }
        }
    }

    /// What the first WHEN of this kind says whose condition holds, and the program of its values.
    fn fitting<'m>(
        &self,
        cx: &mut Context<'_>,
        (actions, codes): (&'m [MergeAction], &'m Codes),
        matched: bool,
    ) -> Result<Option<(&'m MergeChange, &'m Code)>> {
        let all = actions.iter().zip(&codes.actions);
        for (action, (conditions, values)) in all.filter(|(action, _)| action.matched == matched) {
            if cx.holds(conditions, &self.recheck_subqueries)? {
                return Ok(Some((&action.change, values)));
            }
        }
        Ok(None)
    }

    /// Locks the target of the source row and reads it, its key in `self.change.key`; false if it is not to be changed.
    fn lock(
        &mut self,
        cx: &mut Context<'_>,
        writer: &Writer,
        target: &TargetRow,
        mode: RowLock,
        joined: bool,
    ) -> Result<bool> {
        let Datum::Bytea(key) = cx.frame.get(target.key) else { return Ok(false) };
        self.change.key.clear();
        self.change.key.extend_from_slice(key);
        if joined && self.changed.contains(&self.change.key) {
            return Ok(false);
        }
        let view = cx.view;
        let locked = self.change.lock(cx, &view, writer, mode)?;
        let go_on = match locked {
            Locked::Same => true,
            Locked::Changed => {
                reread(cx, target, &self.change.key, &self.change.record)?;
                still_meets(cx, &self.codes.recheck, &self.recheck_subqueries)?
            }
            Locked::Gone | Locked::Skipped => {
                let deletes = mode == RowLock::Update;
                let what = if deletes { Untouched::Deleted } else { Untouched::Updated };
                firing::demand_untouched(cx, &view, (&writer.rows, &self.change.key), what)?;
                false
            }
        };
        if joined && go_on {
            self.changed.insert(self.change.key.clone());
        }
        Ok(go_on)
    }

    /// What the statement does to rows of the table, as triggers know it, in the order in which BEFORE triggers fire.
    fn events(&self) -> Vec<(i16, Vec<usize>)> {
        let assigned = |assignments: &[(usize, Scalar)]| {
            let assigned = assignments.iter().map(|(at, _)| self.change.table.live[*at]);
            assigned.chain(self.change.generated_columns()).collect::<Vec<_>>()
        };
        match &*self.kind {
            ModifyKind::Insert { on_conflict, .. } => {
                let update = on_conflict.as_ref().and_then(|clause| clause.update.as_ref());
                let update = update.map(|update| (trigger::UPDATE, assigned(&update.assignments)));
                std::iter::once((trigger::INSERT, Vec::new())).chain(update).collect()
            }
            ModifyKind::Update { assignments, .. } => {
                vec![(trigger::UPDATE, assigned(assignments))]
            }
            ModifyKind::Delete { .. } => vec![(trigger::DELETE, Vec::new())],
            ModifyKind::Merge { actions, .. } => {
                let (mut inserts, mut deletes, mut updates) = (false, false, None);
                for action in actions {
                    match &action.change {
                        MergeChange::Insert(_) => inserts = true,
                        MergeChange::Delete => deletes = true,
                        MergeChange::Update(values) => {
                            updates.get_or_insert_with(Vec::new).extend(assigned(values));
                        }
                        MergeChange::Nothing => {}
                    }
                }
                let inserts = inserts.then(|| (trigger::INSERT, Vec::new()));
                let updates = updates.map(|columns| (trigger::UPDATE, columns));
                let deletes = deletes.then(|| (trigger::DELETE, Vec::new()));
                inserts.into_iter().chain(updates).chain(deletes).collect()
            }
            ModifyKind::Instead { .. } => unreachable!("{OF_VIEWS}"),
        }
    }

    /// Behind the last row the triggers of the statement itself are put off to its end, once.
    fn end(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if std::mem::replace(&mut self.ended, true)
            || self.change.table.relation.triggers.is_empty()
        {
            return Ok(());
        }
        for (event, updated) in self.events().into_iter().rev() {
            firing::after_statement(cx, &self.change.table, event, &updated)?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        columns: &Code,
        on_conflict: Option<&OnConflict>,
    ) -> Result<bool> {
        if !self.plain {
            cx.fill(self.change.new_slot, columns, &self.change.row_subqueries)?;
        } else if self.insert_plainly(cx, writer, columns)? {
            return Ok(true);
        }
        if !self.change.fire_before(cx, writer, trigger::INSERT, &[])? {
            return Ok(false);
        }
        self.change.generate(cx)?;
        self.change.check(cx, writer)?;
        let relation = &self.change.table.relation;
        let deferrable = on_conflict.and_then(|clause| deferrable_arbiter(relation, clause));
        let named = on_conflict.map_or(&[][..], |clause| &clause.arbiters);
        if let (Some(place), false) = (deferrable, named.is_empty()) {
            return Err(refused_arbiter(relation, place));
        }
        // The row that is locked, and that had changed: it is looked at again whether it is still in the way.
        let mut changed = None;
        loop {
            writer.widen(cx.frame.row(self.change.new_slot), &mut self.change.new);
            let mark = cx.transaction.lock_mark();
            let inserted = writer.insert(cx, &self.change.new, named)?;
            self.count_arbiters(cx, &inserted);
            let conflict = match inserted {
                Inserted::Done => {
                    if let Some(place) = deferrable {
                        return Err(refused_arbiter(&self.change.table.relation, place));
                    }
                    self.counted.inserted += 1;
                    self.change.check_views(cx, writer)?;
                    if on_conflict.is_some_and(|conflict| conflict.update.is_some()) {
                        self.remember(writer)?;
                    }
                    foreign_key::check_child(
                        cx,
                        writer,
                        &self.change.new,
                        None,
                        self.change.timing,
                    )?;
                    let rows = Rows { old: None, new: Some(&self.change.new) };
                    firing::after_row(cx, &self.change.table, trigger::INSERT, &[], rows)?;
                    self.show_system(cx, writer, false);
                    return Ok(true);
                }
                Inserted::Conflict(conflict) => conflict,
            };
            // Keys are asked in the order in which they were made: one before it settles the matter.
            let relation = &self.change.table.relation;
            let made = |place: usize| relation.indexes[place].oid;
            if let Some(place) = deferrable.filter(|place| made(*place) < made(conflict.index)) {
                return Err(refused_arbiter(relation, place));
            }
            let arbitrates = on_conflict.filter(|clause| clause.has_arbiter(conflict.index));
            let Some(clause) = arbitrates else {
                writer.count_refused_insert();
                return Err(writer.duplicate(cx, conflict.index, &self.change.new)?);
            };
            // Nothing is inserted: who meets these keys need not wait for this transaction.
            cx.transaction.give_back(mark);
            let Some(update) = &clause.update else {
                let view = cx.view;
                let found = &mut self.change.record;
                cx.transaction.demand_visible(&view, &writer.rows, &conflict.row_key, found)?;
                self.counted.conflicting += 1;
                return Ok(false);
            };
            if self.changed.contains(&conflict.row_key) {
                return Err(second_update());
            }
            let view = cx.view;
            let locked = cx.transaction.lock_row(
                &view,
                &writer.rows,
                &conflict.row_key,
                RowLock::NoKeyUpdate,
                WaitPolicy::Block,
                &mut self.change.record,
            )?;
            match locked {
                // Another part of the statement has written it, or a trigger or function of it; or it has been deleted since,
                // and there is room now.
                Locked::Gone | Locked::Skipped => {
                    let (key, found) = (&conflict.row_key, &mut self.change.record);
                    if cx.transaction.has_hidden_write(&view, &writer.rows, key, found)? {
                        return Err(second_update());
                    }
                    cx.check_cancel()?;
                    continue;
                }
                Locked::Changed if changed.as_ref() != Some(&conflict.row_key) => {
                    changed = Some(conflict.row_key);
                    continue;
                }
                Locked::Same | Locked::Changed => {}
            }
            self.change.key = conflict.row_key;
            reread(cx, &update.existing, &self.change.key, &self.change.record)?;
            self.counted.conflicting += 1;
            cx.invalidate(&self.change.row_subqueries);
            for ((view, _), conditions) in update.visible.iter().zip(&self.codes.visible) {
                if !cx.holds(conditions, &self.change.row_subqueries)? {
                    return Err(SqlError::new(
                        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                        format!("conflicting row is not visible through view \"{view}\""),
                    ));
                }
            }
            if !cx.holds(&self.codes.filter, &self.change.row_subqueries)? {
                return Ok(false);
            }
            let codes = Arc::clone(&self.codes);
            let assignments = Assignments { of: &update.assignments, code: &codes.values };
            if !self.change.update(cx, writer, assignments)? {
                return Ok(false);
            }
            self.changed.insert(self.change.key.clone());
            self.show_system(cx, writer, true);
            return Ok(true);
        }
    }

    /// Inserts the row of a program's values, its record and its key made of them where they stand: no row is put together but for
    /// indexes and foreign keys. False where something is to be said of the row, or its record is too long: the row stands in its
    /// slot then, as if it had been filled.
    fn insert_plainly(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        columns: &Code,
    ) -> Result<bool> {
        cx.invalidate(&self.change.row_subqueries);
        let (table, new) = (&self.change.table, &mut self.change.new);
        let looked_at = !table.indexes.is_empty() || !table.references.is_empty();
        new.clear();
        let made = cx.eval(columns, |values| {
            let made = writer.take_values(values)?;
            if looked_at || !made {
                values.push_all_to(new);
            }
            Ok(made)
        })?;
        if made {
            match writer.insert_made(cx, new)? {
                Some(Inserted::Done) => {
                    self.counted.inserted += 1;
                    let timing = self.change.timing;
                    foreign_key::check_child(cx, writer, &self.change.new, None, timing)?;
                    return Ok(true);
                }
                Some(Inserted::Conflict(conflict)) => {
                    writer.read_made(new)?;
                    writer.count_refused_insert();
                    return Err(writer.duplicate(cx, conflict.index, &self.change.new)?);
                }
                None => writer.read_made(new)?,
            }
        }
        std::mem::swap(cx.frame.row_mut(self.change.new_slot), &mut self.change.new);
        Ok(false)
    }

    /// Counts what ON CONFLICT asks, as PostgreSQL asks its indexes one after the other before it inserts.
    fn count_arbiters(&self, cx: &Context<'_>, inserted: &Inserted) {
        for (place, count) in &self.arbiters {
            cx.host.counts.meet(count);
            count.add(Event::Scanned);
            if matches!(inserted, Inserted::Conflict(conflict) if conflict.index == *place) {
                count.add(Event::Returned);
                count.add(Event::Fetched);
                return;
            }
        }
    }

    /// Finds what is counted of the indexes that ON CONFLICT asks.
    fn find_arbiters(&mut self, cx: &Context<'_>) {
        let ModifyKind::Insert { on_conflict: Some(clause), .. } = &*self.kind else { return };
        let indexes = self.change.table.relation.indexes.iter().enumerate();
        let mut asked: Vec<(usize, Oid)> = indexes
            .filter(|(at, index)| index.is_always_unique() && clause.has_arbiter(*at))
            .map(|(at, index)| (at, index.oid))
            .collect();
        asked.sort_unstable_by_key(|(_, oid)| *oid);
        let counts = asked.into_iter().map(|(at, oid)| (at, cx.host.counts.of(oid)));
        self.arbiters = counts.collect();
    }

    /// Sets the system columns of the row written last. `xmax` tells one that ON CONFLICT has updated, as in PostgreSQL, where
    /// it is what had locked the row.
    fn show_system(&self, cx: &mut Context<'_>, writer: &Writer, conflicting: bool) {
        let Some((slot, columns)) = &self.system else { return };
        let number = cx.host.catalog.transaction_number(true);
        let transaction = Datum::Oid(number.unwrap_or((cx.transaction.id().0 as u32).max(1)));
        let row = cx.frame.row_mut(*slot);
        row.clear();
        for attribute in columns {
            row.push(match attribute {
                -1 => Datum::Int8(row_number(writer.last_key())),
                -2 => transaction,
                -4 if conflicting => transaction,
                -6 => Datum::Oid(self.change.table.relation.oid.0),
                _ => Datum::Oid(0),
            });
        }
    }

    /// Keeps the key of the row just inserted.
    fn remember(&mut self, writer: &Writer) -> Result<()> {
        if let Some(layout) = &self.change.table.key {
            let mut key = Vec::new();
            super::write::encode_key(layout, &self.change.new, &mut key)?;
            self.changed.insert(key);
        } else {
            self.changed.insert(writer.last_key().to_vec());
        }
        Ok(())
    }

    fn step(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        (kind, codes): (&ModifyKind, &Codes),
    ) -> Result<bool> {
        while self.source.next(cx)? {
            cx.check_cancel()?;
            if !self.row(cx, writer, (kind, codes))? {
                continue;
            }
            *cx.processed += 1;
            if let Some((slot, columns)) = &self.returning {
                cx.arena.reset();
                if self.change.in_record {
                    let record = writer.row_in_record(self.change.new_slot)?;
                    cx.fill_from(*slot, columns, record)?;
                } else {
                    cx.fill(*slot, columns, &self.returning_subqueries)?;
                }
                return Ok(true);
            }
            if self.source.is_over() {
                break;
            }
        }
        Ok(false)
    }
}

/// 21000 for a row that ON CONFLICT is to update in the statement that has written it.
fn second_update() -> SqlError {
    SqlError::new(
        SqlState::CARDINALITY_VIOLATION,
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
    )
    .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

/// Whether nobody but the table looks at the rows that a plan inserts.
fn is_plain(plan: &physical::Modify) -> bool {
    let physical::Modify { table, generated, checks, view_checks, returning, .. } = plan;
    let relation = &table.relation;
    generated.is_empty()
        && checks.is_empty()
        && view_checks.is_empty()
        && returning.is_none()
        && table.computed.is_none()
        && relation.triggers.is_empty()
        // The columns of the row are those of the record.
        && table.live.len() == relation.columns.len()
}

/// Has the columns of an INSERT computed where they are stored, if they are those of the only row of its VALUES; whether they
/// are.
fn take_only_row(source: &physical::Plan, columns: &mut Vec<Scalar>) -> bool {
    let physical::Plan::Values(slot, rows) = source else { return false };
    let [row] = &rows[..] else { return false };
    let same = columns.iter().enumerate().all(|(at, column)| {
        matches!(column, Scalar::Var(var) if var.slot == *slot && var.column as usize == at)
    });
    if !same || columns.len() > row.len() {
        return false;
    }
    *columns = row[..columns.len()].to_vec();
    true
}

/// The first key that would settle ON CONFLICT and is not checked with each row, by place in the relation.
fn deferrable_arbiter(relation: &Relation, clause: &OnConflict) -> Option<usize> {
    let arbitrates =
        |(at, index): &(usize, &Index)| index.deferral.is_deferrable() && clause.has_arbiter(*at);
    let found = relation.indexes.iter().enumerate().filter(arbitrates);
    found.min_by_key(|(_, index)| index.oid).map(|(at, _)| at)
}

/// 55000 for such a key.
fn refused_arbiter(relation: &Relation, place: usize) -> SqlError {
    SqlError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters",
    )
    .table(&*relation.schema.1, &*relation.name)
    .constraint(&*relation.indexes[place].name)
}

impl Operator for Modify {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.changed.clear();
        if let ModifyKind::Insert { on_conflict: Some(conflict), .. } = &*self.kind
            && conflict.undecided
        {
            return Err(OnConflict::no_arbiter());
        }
        if self.writer.is_none() {
            self.writer = Some(Box::new(Writer::new(cx, &self.change.table)?));
            self.find_arbiters(cx);
        }
        if let Some(writer) = &self.writer {
            writer.begin(cx);
        }
        self.ended = false;
        if !self.change.table.relation.triggers.is_empty() {
            for (event, updated) in self.events() {
                firing::before_statement(cx, &self.change.table, event, &updated)?;
            }
        }
        // Rows whose number is told have it from the first one on.
        if self.system.as_ref().is_some_and(|(_, columns)| columns.contains(&XMIN)) {
            cx.host.catalog.transaction_number(true);
        }
        self.source.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let mut writer = self.writer.take().expect("it has been opened");
        let (kind, codes) = (Arc::clone(&self.kind), Arc::clone(&self.codes));
        let result = self.step(cx, &mut writer, (&kind, &codes));
        self.writer = Some(writer);
        if matches!(result, Ok(false)) || result.is_ok() && self.source.is_over() {
            self.end(cx)?;
        }
        result
    }

    fn is_over(&self) -> bool {
        self.ended
    }

    fn changed(&self) -> Changed {
        self.counted
    }

    fn rest_bytes(&self) -> Option<usize> {
        let mut bytes = self.source.rest_bytes()?;
        if !self.changed.is_empty() {
            bytes += self.changed.iter().map(Vec::capacity).sum::<usize>();
        }
        Some(bytes + self.changed.capacity() * size_of::<Vec<u8>>())
    }
}
