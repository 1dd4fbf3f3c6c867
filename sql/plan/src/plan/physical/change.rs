//! The part of the physical algebra that changes rows: INSERT, UPDATE, DELETE and MERGE, what foreign keys do behind them, and
//! what writing a table's rows needs to know of it.

use super::{Plan, TargetRow};
use crate::catalog::Relation;
use crate::error::SqlError;
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::{KeyLayout, RowLayout};
use std::sync::Arc;
use txn::TreeId;

/// INSERT, UPDATE, DELETE.
#[derive(Clone, Debug)]
pub struct Modify {
    /// The table.
    pub table: Arc<Table>,
    /// What.
    pub kind: ModifyKind,
    /// Where a new row stands, all live columns in `attnum` order, for CHECK and RETURNING.
    pub new_slot: u32,
    /// Generated columns, by place among the live ones, over the new row.
    pub generated: Vec<(usize, Scalar)>,
    /// CHECK constraints: name and condition over the new row.
    pub checks: Vec<(Arc<str>, Scalar)>,
    /// WITH CHECK OPTION: names of views and what must be true of the new row.
    pub view_checks: Vec<(Arc<str>, Vec<Scalar>)>,
    /// RETURNING: the slot its columns go to, and what they are; none where nothing is asked for.
    pub returning: Option<(u32, Vec<Scalar>)>,
}

/// What a modification does.
#[derive(Clone, Debug)]
pub enum ModifyKind {
    /// INSERT of rows whose live columns are these scalars.
    Insert {
        /// Rows.
        source: Plan,
        /// Live columns.
        columns: Vec<Scalar>,
        /// ON CONFLICT.
        on_conflict: Option<OnConflict>,
        /// Where RETURNING finds the new row's system columns, and which, by negative attnum.
        system: Option<(u32, Box<[i16]>)>,
    },
    /// UPDATE.
    Update {
        /// Rows.
        source: Plan,
        /// The row to be changed.
        target: Arc<TargetRow>,
        /// Its other conditions, for the row that has changed meanwhile.
        recheck: Vec<Scalar>,
        /// Live column (by place among the live ones) and its new value.
        assignments: Vec<(usize, Scalar)>,
        /// One target row may come more than once.
        joined: bool,
        /// As for INSERT.
        system: Option<(u32, Box<[i16]>)>,
    },
    /// DELETE.
    Delete {
        /// Rows.
        source: Plan,
        /// The row to be deleted.
        target: Arc<TargetRow>,
        /// As for UPDATE.
        recheck: Vec<Scalar>,
        /// As for UPDATE.
        joined: bool,
    },
    /// MERGE.
    Merge {
        /// Rows of the source, with those of the target that they match; without one the target's key is NULL.
        source: Plan,
        /// The row to be changed.
        target: Arc<TargetRow>,
        /// ON, for the row that has changed meanwhile.
        recheck: Vec<Scalar>,
        /// The WHEN clauses.
        actions: Vec<MergeAction>,
    },
    /// What INSTEAD OF triggers of a view do.
    Instead {
        /// Rows.
        source: Plan,
        /// The view's row, all live columns: the one to be inserted, or else the one to be changed.
        row: Vec<Scalar>,
        /// What is to become of it.
        change: InsteadChange,
    },
}

/// What a statement asks of the INSTEAD OF triggers of a view.
#[derive(Clone, Debug)]
pub enum InsteadChange {
    /// INSERT.
    Insert,
    /// Live column (by place among the live ones) and its new value.
    Update(Vec<(usize, Scalar)>),
    /// DELETE.
    Delete,
}

/// WHEN of MERGE.
#[derive(Clone, Debug)]
pub struct MergeAction {
    /// MATCHED (else NOT MATCHED).
    pub matched: bool,
    /// AND.
    pub conditions: Vec<Scalar>,
    /// THEN.
    pub change: MergeChange,
}

/// What a WHEN does.
#[derive(Clone, Debug)]
pub enum MergeChange {
    /// DO NOTHING.
    Nothing,
    /// Live column (by place among the live ones) and its new value.
    Update(Vec<(usize, Scalar)>),
    /// DELETE.
    Delete,
    /// Live columns.
    Insert(Vec<Scalar>),
}

impl MergeChange {
    /// The new values.
    pub fn values(&self) -> impl Iterator<Item = &Scalar> {
        let (assigned, inserted) = match self {
            MergeChange::Nothing | MergeChange::Delete => (&[][..], &[][..]),
            MergeChange::Update(assignments) => (&assignments[..], &[][..]),
            MergeChange::Insert(row) => (&[][..], &row[..]),
        };
        assigned.iter().map(|(_, value)| value).chain(inserted)
    }
}

impl Modify {
    /// Whether it may change a row: a MERGE may have been told to do nothing.
    #[must_use]
    pub fn writes(&self) -> bool {
        match &self.kind {
            ModifyKind::Merge { actions, .. } => {
                actions.iter().any(|action| !matches!(action.change, MergeChange::Nothing))
            }
            _ => true,
        }
    }
}

/// What a foreign key does to the referencing rows once a referenced row has gone, or has changed its key.
#[derive(Clone, Debug)]
pub struct ReferentialAction {
    /// The referencing table.
    pub table: Arc<Table>,
    /// The foreign key's place in its `constraints`.
    pub constraint: usize,
    /// ON UPDATE, else ON DELETE.
    pub on_update: bool,
    /// Where the new values of the referenced columns stand, in the key's order.
    pub key_slot: u32,
    /// Live columns (by place among them) and their new values; none: the rows are deleted.
    pub change: Option<Vec<(usize, Scalar)>>,
    /// As in [`Modify`].
    pub new_slot: u32,
    /// As in [`Modify`].
    pub generated: Vec<(usize, Scalar)>,
    /// As in [`Modify`].
    pub checks: Vec<(Arc<str>, Scalar)>,
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// The indexes that arbitrate, by place in the table's, in the order of their OIDs; none: any.
    pub arbiters: Vec<usize>,
    /// Which they are is decided by the values of parameters, which were not known: such a plan does not run.
    pub undecided: bool,
    /// DO UPDATE; none is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// DO UPDATE.
#[derive(Clone, Debug)]
pub struct ConflictUpdate {
    /// The existing row's home.
    pub existing: Arc<TargetRow>,
    /// The views that must show the existing row, and what they demand of it.
    pub visible: Vec<(Arc<str>, Vec<Scalar>)>,
    /// Place among the live columns, and new value.
    pub assignments: Vec<(usize, Scalar)>,
    /// WHERE.
    pub filter: Option<Scalar>,
}

impl ConflictUpdate {
    /// All that is computed for a row.
    pub fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        let values = self.assignments.iter().map(|(_, value)| value);
        self.visible.iter().flat_map(|(_, all)| all).chain(values).chain(&self.filter)
    }
}

impl OnConflict {
    /// 42P10: no index arbitrates.
    #[must_use]
    pub fn no_arbiter() -> SqlError {
        SqlError::new(
            SqlState::INVALID_COLUMN_REFERENCE,
            "there is no unique or exclusion constraint matching the ON CONFLICT specification",
        )
    }

    /// Whether what the index at a place finds is settled by the clause.
    #[must_use]
    #[inline]
    pub fn has_arbiter(&self, index: usize) -> bool {
        self.arbiters.is_empty() || self.arbiters.contains(&index)
    }
}

/// A tree that is nowhere.
pub const NO_TREE: TreeId = TreeId(u64::MAX);

/// All that writing a table's rows needs to know of it.
#[derive(Debug)]
pub struct Table {
    /// The table.
    pub relation: Arc<Relation>,
    /// How its rows are laid out.
    pub layout: Arc<RowLayout>,
    /// The tree of its rows; of a view that triggers change, which has none, [`NO_TREE`].
    pub tree: TreeId,
    /// The tree of its long values.
    pub long_values: TreeId,
    /// Its live columns, by index.
    pub live: Vec<usize>,
    /// The key of its rows; none: hidden row ids.
    pub key: Option<KeyLayout>,
    /// The place of the primary key in `relation.indexes`, if its tree holds the rows.
    pub primary: Option<usize>,
    /// Its other indexes: place in `relation.indexes`, and their keys.
    pub indexes: Vec<(usize, KeyLayout)>,
    /// What those among them that have expressions or predicates compute of a row.
    pub computed: Option<ComputedKeys>,
    /// Foreign keys of this table.
    pub references: Vec<Reference>,
    /// Foreign keys of others that refer to it.
    pub referenced_by: Vec<Reference>,
    /// What errors tell of a row of it that is refused.
    pub failing_row: FailingRow,
}

/// What errors tell of a row that is refused.
#[derive(Clone, Debug)]
pub enum FailingRow {
    /// All of it: the table's owner is the one who changes it, as the actions of foreign keys do.
    Whole,
    /// What the current user may read, and what the statement itself writes.
    To {
        /// The columns that the statement names as written, by index.
        named: Vec<usize>,
    },
}

/// The indexes of a table that have expressions or predicates.
#[derive(Clone, Debug)]
pub struct ComputedKeys {
    /// Where a row's live columns are put to work them out.
    pub slot: u32,
    /// One each.
    pub keys: Vec<ComputedKey>,
}

/// What an index computes of a row.
#[derive(Clone, Debug)]
pub struct ComputedKey {
    /// Its place in the relation's `indexes`.
    pub index: usize,
    /// It has an entry for rows of which all of these are true.
    pub filter: Vec<Scalar>,
    /// Its expressions.
    pub expressions: Vec<Scalar>,
}

/// A foreign key seen from one of its ends.
#[derive(Debug)]
pub struct Reference {
    /// The constraint's place in the child's `constraints`.
    pub constraint: usize,
    /// The referencing table.
    pub child: Arc<Relation>,
    /// The referenced table.
    pub parent: Arc<Relation>,
}
