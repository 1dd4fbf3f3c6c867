//! The physical algebra: how a query's rows are made.
//!
//! Nodes do not hand rows up; each leaves its values in their homes ([`Var`]) and says that a row is there. A join
//! therefore copies nothing: when both its inputs stand on a row, all homes are filled. An operator that keeps rows for
//! later (sort, hash, materialise) saves the homes it is told to and fills them again.

mod change;

pub use change::{
    ComputedKey, ComputedKeys, ConflictUpdate, FailingRow, InsteadChange, MergeAction, MergeChange,
    Modify, ModifyKind, NO_TREE, OnConflict, Reference, ReferentialAction, Table,
};

use super::scalar::{CallTypes, Callee, Scalar, Var};
use crate::bind::logical::{FrameExclude, FrameUnit, JoinKind, SetKind};
use crate::catalog::routine::Routine;
use crate::catalog::{Relation, built_in_rows};
use crate::tuple::{KeyColumn, KeyLayout, RowLayout, RowSet};
use crate::types::aggregate::hypothetical;
use crate::types::function::Accumulator;
use crate::types::xml::table::XmlTable;
use crate::types::{Comparator, Datum, Oid, SetFunction, SqlType};
use std::sync::Arc;
use txn::{Direction, RowLock, TreeId, WaitPolicy};

/// A plan.
#[derive(Clone, Debug)]
pub enum Plan {
    /// One row without columns.
    Unit,
    /// No row.
    Nothing,
    /// A table.
    Scan(Box<Scan>),
    /// A relation that the catalog serves.
    System(Box<SystemScan>),
    /// A function in FROM.
    Function(Box<FunctionScan>),
    /// VALUES.
    Values(u32, Vec<Vec<Scalar>>),
    /// VALUES that are all constants.
    Constants(u32, Arc<RowSet>),
    /// The rows of a common table expression.
    Cte(Box<CteScan>),
    /// Rows for which every conjunct is true.
    Filter(Box<Plan>, Vec<Scalar>),
    /// The input's rows if every conjunct is true, asked once before the first row; else none, and nothing is read.
    OneTimeFilter(Box<Plan>, Vec<Scalar>),
    /// The input's rows, which no condition may see before all of the input's own have let them through, unless it is
    /// leakproof; the name, for EXPLAIN, where it stands for a query in FROM.
    Barrier(Box<Plan>, Option<Arc<str>>),
    /// Values computed into a slot.
    Project(Box<Plan>, u32, Vec<Scalar>),
    /// As Project, some of them sets.
    ProjectSet(Box<Plan>, u32, Vec<SetColumn>),
    /// A join.
    Join(Box<Join>),
    /// GROUP BY.
    Aggregate(Box<Aggregate>),
    /// Window functions.
    Window(Box<Window>),
    /// DISTINCT: the first row of each group of equal keys.
    Distinct(Box<Distinct>),
    /// ORDER BY.
    Sort(Box<Sort>),
    /// LIMIT.
    Limit(Box<Limit>),
    /// UNION, INTERSECT, EXCEPT.
    SetOperation(Box<SetOperation>),
    /// FOR UPDATE and its family.
    LockRows(Box<LockRows>),
    /// The input's rows, kept: a second pass reads them again without running it.
    Materialize(Box<Plan>, Vec<Var>),
    /// A query with common table expressions of its own: opened anew, it forgets what they held.
    WithCtes(Box<Plan>, Vec<u32>),
    /// INSERT, UPDATE, DELETE.
    Modify(Box<Modify>),
}

/// A table scan.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The table.
    pub relation: Arc<Relation>,
    /// How its rows are laid out.
    pub layout: Arc<RowLayout>,
    /// The tree of its rows.
    pub tree: TreeId,
    /// The tree of its long values.
    pub long_values: TreeId,
    /// Where its columns go: columns `0..outputs.len()` of this slot.
    pub slot: u32,
    /// What they are.
    pub outputs: Vec<ScanColumn>,
    /// How many of the outputs are read at all: those that something asks for.
    pub wanted: Vec<bool>,
    /// How its rows are to be locked next, if they are.
    pub to_lock: Option<(RowLock, WaitPolicy)>,
    /// How rows are found.
    pub access: Access,
    /// Conditions checked on each row found.
    pub filter: Vec<Scalar>,
    /// All conditions the plan has on this scan alone, those the access has taken over too: what a changed row must
    /// still meet. Who locks rows has them as well, so the scan itself reads nothing for them.
    pub recheck: Vec<Scalar>,
    /// What its indexes compute of a row, those that compute anything.
    pub computed: Vec<ComputedKey>,
    /// The name in the query.
    pub alias: Arc<str>,
    /// Which FROM item of its block.
    pub item: u32,
    /// Rows it will give, for estimates and EXPLAIN.
    pub rows: f64,
    /// What that costs, in rows touched.
    pub cost: f64,
    /// Whether an index may be read alone that holds all that is asked for.
    pub index_only: bool,
}

impl Scan {
    /// Goes back to reading all of the table, if how it is read was chosen and not said.
    pub fn forget_access(&mut self) {
        if !matches!(self.access, Access::Current(_)) {
            self.access = Access::Full(Direction::Forward);
        }
    }
}

/// What a scan puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanColumn {
    /// A column of the table, by index.
    Column(usize),
    /// A system column, by its negative `attnum`.
    System(i16),
    /// The row's key in its tree, a bytea.
    Key,
}

/// How a scan finds rows.
#[derive(Clone, Debug)]
pub enum Access {
    /// In key order, all of them.
    Full(Direction),
    /// Through a key: the rows' own tree, or an index.
    Key(Box<KeyAccess>),
    /// Through several keys, one for each side of an OR: what meets any of them is read once.
    IndexUnion(Box<[UnionSide]>),
    /// WHERE CURRENT OF: the row that this cursor stands on.
    Current(crate::bind::logical::CursorName),
}

impl Access {
    /// Whether there is at most one record.
    #[must_use]
    pub fn is_single(&self) -> bool {
        match self {
            Access::Key(key) => key.is_single(),
            Access::Current(_) => true,
            Access::Full(_) | Access::IndexUnion(_) => false,
        }
    }
}

/// Access through a key.
#[derive(Clone, Debug)]
pub struct KeyAccess {
    /// The index's place in `relation.indexes`; none for the rows' own tree.
    pub index: Option<usize>,
    /// The tree.
    pub tree: TreeId,
    /// Its key.
    pub layout: KeyLayout,
    /// Values of the first columns.
    pub equal: Vec<Scalar>,
    /// The places among them of those that have to be NULL, which otherwise equals nothing.
    pub nulls: Vec<usize>,
    /// Columns behind them that may have one of several values: `IN`.
    pub several: Option<Box<Several>>,
    /// Lower bound of the next column, and whether it belongs to the range.
    pub low: Option<(Scalar, bool)>,
    /// Upper bound.
    pub high: Option<(Scalar, bool)>,
    /// Instead of the two: ranges of the next columns, any of which will do.
    pub union: Option<Box<Union>>,
    /// All columns have values and the key is unique: at most one record (for each of several values).
    pub point: bool,
    /// Which way.
    pub direction: Direction,
}

impl KeyAccess {
    /// All of a tree, forward.
    #[must_use]
    pub fn whole(index: Option<usize>, tree: TreeId, layout: KeyLayout) -> KeyAccess {
        KeyAccess {
            index,
            tree,
            layout,
            equal: Vec::new(),
            nulls: Vec::new(),
            several: None,
            low: None,
            high: None,
            union: None,
            point: false,
            direction: Direction::Forward,
        }
    }

    /// How many columns have values.
    #[must_use]
    #[inline]
    pub fn prefix_columns(&self) -> usize {
        self.equal.len() + self.several.as_ref().map_or(0, |several| several.parts.len())
    }

    /// The column behind those that have values.
    #[must_use]
    #[inline]
    pub fn next_column(&self) -> Option<&KeyColumn> {
        self.layout.columns.get(self.prefix_columns())
    }

    /// Everything that is evaluated.
    pub fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        self.equal
            .iter()
            .chain(self.several.iter().flat_map(|several| several.scalars()))
            .chain(self.union.iter().flat_map(|union| union.scalars()))
            .chain(self.low.iter().chain(&self.high).map(|(bound, _)| bound))
    }

    /// Whether there is at most one record.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.point && self.several.is_none()
    }
}

/// How the rows are found that meet one side of an OR.
#[derive(Clone, Debug)]
pub struct UnionSide {
    /// The side.
    pub side: Scalar,
    /// Through this key.
    pub key: KeyAccess,
    /// What the side demands beyond the key: rows that meet another side only are not found here.
    pub rest: Vec<Scalar>,
    /// The sides before this one: a row that meets any of them has been given already.
    pub given: Vec<Scalar>,
}

impl UnionSide {
    /// Everything that is evaluated.
    pub fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        self.key.scalars().chain(&self.rest).chain(&self.given)
    }
}

/// Several values of a key's columns: each different one is looked up once, in the key's order.
#[derive(Clone, Debug)]
pub struct Several {
    /// Column by column.
    pub parts: Vec<KeyPart>,
    /// Values that stand together: `(a, b) IN ((1, 2), (3, 4))`.
    pub tuples: Vec<Vec<Scalar>>,
    /// The conditions that this does the work of, for EXPLAIN.
    pub conditions: Vec<Scalar>,
}

/// Ranges joined by OR: what lies in any of them is read once, in the key's order.
#[derive(Clone, Debug)]
pub struct Union {
    /// The ranges; they may overlap, and be empty.
    pub arms: Vec<Arm>,
    /// The condition that this does the work of, for EXPLAIN.
    pub condition: Scalar,
}

/// One of the ranges of a [`Union`].
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// Values of the next columns.
    pub equal: Vec<Scalar>,
    /// Lower bound of the column behind them, and whether it belongs to the range.
    pub low: Option<(Scalar, bool)>,
    /// Upper bound.
    pub high: Option<(Scalar, bool)>,
}

impl Union {
    /// Everything that is evaluated.
    pub fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        self.arms.iter().flat_map(|arm| {
            arm.equal.iter().chain(arm.low.iter().chain(&arm.high).map(|(bound, _)| bound))
        })
    }
}

/// What a column's value may be.
#[derive(Clone, Debug)]
pub enum KeyPart {
    /// This.
    One(Scalar),
    /// An element of this array.
    Any(Scalar),
    /// This place of a tuple.
    Tuple(usize),
}

impl Several {
    /// Everything that is evaluated.
    pub fn scalars(&self) -> impl Iterator<Item = &Scalar> {
        let own = self.parts.iter().filter_map(|part| match part {
            KeyPart::One(value) | KeyPart::Any(value) => Some(value),
            KeyPart::Tuple(_) => None,
        });
        own.chain(self.tuples.iter().flatten())
    }
}

/// A scan of a relation that the catalog serves.
#[derive(Clone, Debug)]
pub struct SystemScan {
    /// Which.
    pub relation: Arc<Relation>,
    /// Where its columns go.
    pub slot: u32,
    /// Which columns, by index (system columns by negative attnum).
    pub outputs: Vec<ScanColumn>,
    /// Which of the outputs are read at all.
    pub wanted: Vec<bool>,
    /// Conditions.
    pub filter: Vec<Scalar>,
    /// `column = value` with a value known before: the catalog may use it to give fewer rows.
    pub keys: Vec<(usize, Scalar)>,
    /// What the text of a column must begin with by a condition: other rows need not be made.
    pub beginnings: Vec<(usize, Arc<str>)>,
    /// The name in the query.
    pub alias: Arc<str>,
}

impl SystemScan {
    /// Whether one of its keys spares the catalog the work of making all rows.
    #[must_use]
    pub fn is_keyed(&self) -> bool {
        self.keys.iter().any(|(column, _)| built_in_rows::is_keyed(&self.relation, *column))
    }
}

/// A scan of what a common table expression holds.
#[derive(Clone, Debug)]
pub struct CteScan {
    /// Where its columns go.
    pub slot: u32,
    /// Its number in the program.
    pub number: u32,
    /// The name in the query.
    pub alias: Arc<str>,
    /// Its columns' names and types.
    pub columns: Vec<(Arc<str>, SqlType)>,
}

/// A function scan.
#[derive(Clone, Debug)]
pub struct FunctionScan {
    /// Where its columns go.
    pub slot: u32,
    /// What is called.
    pub call: SetCall,
    /// Its columns' types.
    pub types: Box<[SqlType]>,
    /// Each of its rows is one record, whose fields are the columns.
    pub records: bool,
    /// Only the query says which columns its records have.
    pub untyped: bool,
    /// WITH ORDINALITY.
    pub ordinality: bool,
    /// The name in the query.
    pub alias: Arc<str>,
    /// The columns' names there.
    pub shown: Box<[Arc<str>]>,
}

/// A call that gives rows.
#[derive(Clone)]
pub enum SetCall {
    /// `generate_series` over integers, made row by row: start, stop, step; whether int4.
    Series(Box<[Scalar]>, bool),
    /// A set-returning function: its OID, strictness, types, arguments.
    Set(u32, SetFunction, bool, Arc<CallTypes>, Box<[Scalar]>),
    /// XMLTABLE: its expressions are where [`XmlTable::places`] says.
    XmlTable(Arc<XmlTable>, Box<[Scalar]>),
    /// A routine that a user made and that returns a set: its types, arguments.
    Routine(Arc<Routine>, Arc<CallTypes>, Box<[Scalar]>),
    /// A function of an extension that runs queries: its OID, types, arguments.
    Querying(u32, Arc<CallTypes>, Box<[Scalar]>),
    /// A scalar: one row of one column or, where it says so, of its fields.
    Scalar(Scalar, bool),
}

impl std::fmt::Debug for SetCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SetCall::Series(arguments, _) => f.debug_tuple("Series").field(arguments).finish(),
            SetCall::Set(oid, _, _, _, arguments) => {
                f.debug_tuple("Set").field(oid).field(arguments).finish()
            }
            SetCall::Querying(oid, _, arguments) => {
                f.debug_tuple("Querying").field(oid).field(arguments).finish()
            }
            SetCall::XmlTable(_, arguments) => f.debug_tuple("XmlTable").field(arguments).finish(),
            SetCall::Routine(routine, _, arguments) => {
                f.debug_tuple("Routine").field(&routine.name).field(arguments).finish()
            }
            SetCall::Scalar(scalar, _) => f.debug_tuple("Scalar").field(scalar).finish(),
        }
    }
}

/// A column of a ProjectSet.
#[derive(Clone, Debug)]
pub enum SetColumn {
    /// One value for all rows.
    One(Scalar),
    /// A set; with the names and types of its fields where each of its rows is a record.
    Set(SetCall, Box<[(Arc<str>, SqlType)]>),
}

/// A join.
#[derive(Clone, Debug)]
pub struct Join {
    /// How.
    pub kind: JoinKind,
    /// Left: the outer side.
    pub left: Plan,
    /// Right: the inner side.
    pub right: Plan,
    /// What both rows must meet, beyond the keys.
    pub on: Vec<Scalar>,
    /// How.
    pub method: JoinMethod,
    /// The right side reads the left row (LATERAL, or an index key from it).
    pub dependent: bool,
    /// What is NULL where a right row goes out alone: slots of the left side, with their widths. Known once the program
    /// is finished.
    pub left_slots: Vec<(u32, usize)>,
    /// As `left_slots`, where a left row goes out alone.
    pub right_slots: Vec<(u32, usize)>,
    /// Estimated rows.
    pub rows: f64,
    /// Estimated cost.
    pub cost: f64,
}

/// DISTINCT, DISTINCT ON.
#[derive(Clone, Debug)]
pub struct Distinct {
    /// What is read.
    pub input: Plan,
    /// In what rows differ that go out, with the types that are compared.
    pub keys: Vec<(Scalar, Oid)>,
    /// Rows go out in the order in which they come in.
    pub ordered: bool,
    /// What the input's rows consist of. Known once the program is finished.
    pub saved: Vec<Var>,
}

/// How a join is made.
#[derive(Clone, Debug)]
pub enum JoinMethod {
    /// The right side anew for every left row.
    NestedLoop,
    /// The right side once, into a hash table: keys of left and right with the type they are compared as.
    Hash {
        /// Over the left row.
        left: Vec<Scalar>,
        /// Over the right row.
        right: Vec<Scalar>,
        /// What they are compared as.
        types: Vec<Oid>,
        /// What the right side's rows consist of.
        saved: Vec<Var>,
        /// What the left side's rows consist of.
        left_saved: Vec<Var>,
        /// Rows go out in the left side's order: a sort above relies on it.
        ordered: bool,
    },
}

/// GROUP BY.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Input.
    pub input: Plan,
    /// Where keys, aggregates and the grouping mask go.
    pub slot: u32,
    /// Group keys with their types.
    pub keys: Vec<(Scalar, Oid)>,
    /// Grouping sets.
    pub sets: Vec<Vec<u32>>,
    /// Aggregates.
    pub calls: Vec<AggregateStep>,
    /// Keys, by their numbers, whose equal values come one behind the other: the groups that have them go out once the values
    /// change. None where rows come anyhow.
    pub ordered: Vec<u32>,
}

impl Aggregate {
    /// Whether each group is made of all keys: one is there where one of its rows is.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let whole = |set: &Vec<u32>| set.len() == self.keys.len();
        !self.keys.is_empty() && self.sets.len() <= 1 && self.sets.iter().all(whole)
    }
}

/// One aggregate.
#[derive(Clone, Debug)]
pub struct AggregateStep {
    /// Its OID.
    pub function: u32,
    /// That of the built-in aggregate that computes it.
    pub computed_as: u32,
    /// Its types.
    pub types: Arc<CallTypes>,
    /// Rows with a NULL argument are left out.
    pub strict: bool,
    /// Arguments.
    pub arguments: Vec<Scalar>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY.
    pub order_by: Vec<(Scalar, Comparator)>,
    /// FILTER.
    pub filter: Option<Scalar>,
    /// How it is computed, where a user has made it.
    pub made: Option<Arc<MadeStep>>,
}

/// How an aggregate that a user made is computed: over a slot that holds the state, then the arguments.
#[derive(Clone, Debug)]
pub struct MadeStep {
    /// The slot.
    pub slot: u32,
    /// The state of a group at first.
    pub initial: Scalar,
    /// The first row's argument is the state where there is none.
    pub takes_first: bool,
    /// NULLs are left out, and a state that is NULL stays.
    pub strict: bool,
    /// How many arguments are given once for a group.
    pub direct: usize,
    /// The state with one row more.
    pub transition: Scalar,
    /// The value.
    pub finish: Scalar,
    /// The state with one row less, of those for moving frames.
    pub inverse: Option<Scalar>,
    /// How it is computed over a frame that moves.
    pub moving: Option<Arc<MadeStep>>,
}

impl AggregateStep {
    /// A fresh state.
    #[must_use]
    pub fn accumulator(&self) -> Option<Box<dyn Accumulator>> {
        let sorted_by = self.order_by.iter().map(|(_, order)| *order);
        hypothetical(self.computed_as, sorted_by.collect())
            .or_else(|| crate::types::accumulator(self.computed_as, &self.types.signature()))
    }

    /// Whether its arguments are kept until all are there: functions that users made are called while nothing is evaluated.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.distinct || !self.order_by.is_empty() || self.made.is_some()
    }
}

/// Window functions with one window.
#[derive(Clone, Debug)]
pub struct Window {
    /// Input, in the order of what the rows are parted and ordered by, once the rules have been applied.
    pub input: Plan,
    /// Where the functions' values go.
    pub slot: u32,
    /// PARTITION BY.
    pub partition_by: Vec<(Scalar, Comparator)>,
    /// ORDER BY.
    pub order_by: Vec<(Scalar, Comparator)>,
    /// The frame.
    pub frame: WindowFrame,
    /// The functions.
    pub calls: Vec<WindowStep>,
    /// Conditions on their values that hold of no row of a partition behind one of which they do not hold (PostgreSQL's run
    /// condition): neither goes out.
    pub run: Vec<Scalar>,
    /// What a row of the input consists of.
    pub saved: Vec<Var>,
}

/// How far a row's values look ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// To the row itself.
    Row,
    /// To the last of its peers.
    Peers,
    /// To the end of the partition.
    Partition,
}

impl Window {
    /// PARTITION BY, then ORDER BY.
    pub fn keys(&self) -> impl Iterator<Item = &(Scalar, Comparator)> {
        self.partition_by.iter().chain(&self.order_by)
    }

    /// Whether the values of a function never become less from row to row of a partition.
    #[must_use]
    pub fn grows(&self, call: usize) -> bool {
        /// `count(*)` and `count(any)`.
        const COUNTS: [u32; 2] = [2803, 2147];
        let opens = matches!(self.frame.start, WindowBound::UnboundedPreceding)
            && self.frame.exclude == FrameExclude::NoOthers;
        match self.calls.get(call).map(|call| &call.function) {
            Some(WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank) => {
                true
            }
            Some(WindowFunction::Aggregate(step)) => {
                opens && !step.distinct && COUNTS.contains(&step.function)
            }
            _ => false,
        }
    }

    /// How far its rows look.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let WindowFrame { unit, end, exclude, .. } = &self.frame;
        let of_frame = match (end, unit) {
            (WindowBound::UnboundedFollowing | WindowBound::Following(_), _) => Reach::Partition,
            _ if matches!(exclude, FrameExclude::Group | FrameExclude::Ties) => Reach::Peers,
            (_, FrameUnit::Rows) => Reach::Row,
            _ => Reach::Peers,
        };
        let of_call = |call: &WindowStep| match &call.function {
            WindowFunction::RowNumber => Reach::Row,
            // They count the rows before the first peer.
            WindowFunction::Rank | WindowFunction::DenseRank => Reach::Row,
            WindowFunction::Lag => match call.arguments.get(1) {
                None => Reach::Row,
                Some(Scalar::Constant(row, _))
                    if matches!(row.get(0), Datum::Int4(0..) | Datum::Null) =>
                {
                    Reach::Row
                }
                Some(_) => Reach::Partition,
            },
            WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue
            | WindowFunction::Aggregate(_) => of_frame,
            WindowFunction::Lead
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist
            | WindowFunction::Ntile => Reach::Partition,
        };
        self.calls.iter().map(of_call).max().unwrap_or(Reach::Row)
    }
}

/// A window's frame.
#[derive(Clone, Debug)]
pub struct WindowFrame {
    /// ROWS, RANGE or GROUPS.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: WindowBound,
    /// Where it ends.
    pub end: WindowBound,
    /// `in_range` for the offset of either bound, if the unit is RANGE.
    pub in_range: [Option<Callee>; 2],
    /// EXCLUDE.
    pub exclude: FrameExclude,
}

/// A bound of a frame; an offset is an int8, or a value to go from the row's own with RANGE.
#[derive(Clone, Debug)]
pub enum WindowBound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// n PRECEDING.
    Preceding(Scalar),
    /// CURRENT ROW.
    CurrentRow,
    /// n FOLLOWING.
    Following(Scalar),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// One window function's call.
#[derive(Clone, Debug)]
pub struct WindowStep {
    /// Which.
    pub function: WindowFunction,
    /// Arguments.
    pub arguments: Vec<Scalar>,
    /// FILTER.
    pub filter: Option<Scalar>,
}

/// A window function: PostgreSQL's own, or an aggregate over the frame (whose arguments and FILTER are the call's).
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the function of that name")]
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
    Aggregate(AggregateStep),
}

/// ORDER BY.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Input.
    pub input: Plan,
    /// Keys.
    pub keys: Vec<(Scalar, Comparator)>,
    /// So many of the first keys the rows come in the order of already.
    pub presorted: usize,
    /// What a row consists of.
    pub saved: Vec<Var>,
    /// Only so many rows are wanted (LIMIT plus OFFSET above it).
    pub top: Option<(Option<Scalar>, Option<Scalar>)>,
}

/// LIMIT.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Input.
    pub input: Plan,
    /// LIMIT.
    pub limit: Option<Scalar>,
    /// OFFSET.
    pub offset: Option<Scalar>,
    /// WITH TIES: keys that tie.
    pub ties: Option<Vec<(Scalar, Comparator)>>,
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// Which.
    pub kind: SetKind,
    /// ALL.
    pub all: bool,
    /// Left and its columns.
    pub left: (Plan, Vec<Var>),
    /// Right and its columns.
    pub right: (Plan, Vec<Var>),
    /// Where the result goes.
    pub slot: u32,
    /// Its columns' types.
    pub types: Vec<Oid>,
}

/// FOR UPDATE and its family.
#[derive(Clone, Debug)]
pub struct LockRows {
    /// Input.
    pub input: Plan,
    /// What is locked.
    pub targets: Vec<LockTarget>,
    /// What is done again, in this order, where a row has changed.
    pub again: Vec<Again>,
}

/// What is done again with a row that has changed while it was waited for.
#[derive(Clone, Debug)]
pub enum Again {
    /// It must still meet these.
    Meet(Vec<Scalar>),
    /// These columns of a slot are computed of it.
    Compute(u32, Vec<Scalar>),
}

impl Again {
    /// What is evaluated.
    #[must_use]
    pub fn scalars(&self) -> &[Scalar] {
        match self {
            Again::Meet(scalars) | Again::Compute(_, scalars) => scalars,
        }
    }
}

/// A scan whose rows are locked.
#[derive(Clone, Debug)]
pub struct LockTarget {
    /// The scan's table, layout and homes.
    pub scan: Arc<TargetRow>,
    /// How strongly.
    pub lock: RowLock,
    /// What to do where somebody has it.
    pub policy: WaitPolicy,
}

/// Where the key of a table's row is, that the result's row is made of: WHERE CURRENT OF changes it.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The table.
    pub table: Oid,
    /// The home of the key.
    pub key: Var,
    /// FOR UPDATE or its kin has named the table.
    pub locked: bool,
}

/// Where a table's row stands: enough to lock it and read it again.
#[derive(Clone, Debug)]
pub struct TargetRow {
    /// The table.
    pub relation: Arc<Relation>,
    /// How its rows are laid out.
    pub layout: Arc<RowLayout>,
    /// The tree of its rows.
    pub tree: TreeId,
    /// The tree of its long values.
    pub long_values: TreeId,
    /// Where its columns are.
    pub slot: u32,
    /// What they are.
    pub outputs: Vec<ScanColumn>,
    /// The home of its key.
    pub key: Var,
}
