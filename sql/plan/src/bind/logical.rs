//! The logical algebra: what a query means, before anyone asks how. Binding makes it, planning reads it ([`crate::plan`]).
//!
//! Every node has an output row, a list of typed columns by position. An expression in a node reads the concatenation of
//! its inputs' rows, left to right (`Expr::Column { level: 0, .. }`), and rows of enclosing queries at level 1 and up.

use crate::bind::tree::QueryTree;
use crate::bind::typed::{AggregateCall, Expr};
use crate::catalog::Relation;
use crate::catalog::system_column::system_column;
use crate::tuple::RowSet;
pub use crate::types::words::{FrameExclude, FrameUnit, JoinKind, SetKind};
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use txn::{RowLock, WaitPolicy};

/// `unnest(anyarray)`: of an array of records it gives each as one value.
pub const UNNEST: u32 = 2331;

/// No function: what stands in FROM is a value, of which a row is made.
pub const VALUE: Oid = Oid(0);

/// The modifier of an argument that was given as VARIADIC array to a function that takes VARIADIC "any".
pub const VARIADIC_ARRAY: i32 = -2;

/// A whole query with the names of what it returns.
#[derive(Clone, Debug)]
pub struct Query {
    /// How its rows are made.
    pub root: Node,
    /// What it returns: the first `output.len()` columns of the root's row (others only served ORDER BY).
    pub output: Vec<Output>,
    /// Common table expressions, by the number that [`Node::CteScan`] names, each evaluated at most once.
    pub ctes: Vec<Cte>,
    /// What it was written as, where it is going to be printed.
    pub tree: Option<Arc<QueryTree>>,
}

impl Query {
    /// One without WITH queries.
    #[must_use]
    pub fn new(root: Node, output: Vec<Output>) -> Query {
        Query { root, output, ctes: Vec::new(), tree: None }
    }
}

/// A column that a query returns.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: SqlType,
    /// The table and `attnum` it stands for, if it is a plain column.
    pub origin: Option<(Oid, i16)>,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its name, for EXPLAIN.
    pub name: Arc<str>,
    /// What it is.
    pub body: CteBody,
    /// Whether it is made a part of what names it (`inline_cte`), which is known once the statement is bound.
    pub merges: Arc<AtomicBool>,
}

/// What a common table expression is.
#[derive(Clone, Debug)]
pub enum CteBody {
    /// A query.
    Query(Query),
    /// WITH RECURSIVE: the first term, then the second again and again over what was new (it reads itself by `CteScan`).
    Recursive {
        /// The non-recursive term.
        base: Query,
        /// The recursive term.
        step: Query,
        /// UNION ALL: duplicates stay.
        all: bool,
    },
    /// INSERT, UPDATE, DELETE with RETURNING: runs to its end exactly once.
    Modify(Box<Modify>),
}

/// The number of the FROM item that a modification changes: no other item of the statement has it.
pub const TARGET: u32 = 0;

/// A cursor as WHERE CURRENT OF names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorName {
    /// By its name.
    Named(Arc<str>),
    /// By the parameter that has its name: the variable of a procedural language.
    Parameter(u32),
}

/// A plan node.
#[derive(Clone, Debug)]
pub enum Node {
    /// One row without columns: `SELECT 1`.
    Unit,
    /// No row, with columns of these types.
    Nothing(Vec<SqlType>),
    /// A table or a system relation: its live columns, in `attnum` order, then the system columns asked for.
    Scan {
        /// Which.
        relation: Arc<Relation>,
        /// The columns of its output, by index in `relation.columns`.
        columns: Vec<usize>,
        /// `tableoid`, `xmin`, `ctid` and so on, by negative `attnum`, appended to the output.
        system: Vec<i16>,
        /// Conjuncts over this scan's own output, put here by the planner.
        filter: Vec<Expr>,
        /// Its indexes with expressions or predicates.
        computed: Vec<ComputedIndex>,
        /// The name by which the query knows it, for EXPLAIN and messages.
        alias: Arc<str>,
        /// Which FROM item of the statement it is, for FOR UPDATE OF; the target of a modification is [`TARGET`].
        item: u32,
        /// WHERE CURRENT OF: only the row that this cursor stands on.
        current_of: Option<CursorName>,
    },
    /// A function in FROM; a scalar function gives one row.
    FunctionScan {
        /// The call; its arguments may name columns to the left where it stands in a lateral join.
        function: Oid,
        /// Arguments.
        arguments: Vec<Expr>,
        /// Output columns.
        columns: Vec<(Arc<str>, SqlType)>,
        /// Whether these are the fields of one composite value.
        composite: bool,
        /// WITH ORDINALITY: an int8 column is appended.
        ordinality: bool,
        /// The name, for EXPLAIN.
        alias: Arc<str>,
        /// What the query calls its columns, for EXPLAIN, too.
        shown: Vec<Arc<str>>,
    },
    /// VALUES: each row's expressions have the common types.
    Values {
        /// Rows.
        rows: Vec<Vec<Expr>>,
        /// Columns.
        types: Vec<SqlType>,
    },
    /// VALUES of an INSERT that are all constants, as the columns' types.
    Constants {
        /// Rows; several.
        rows: Arc<RowSet>,
        /// Columns.
        types: Vec<SqlType>,
    },
    /// A subquery in FROM, or an expanded view: its `output` columns.
    Derived {
        /// The query. Its level 0 is its own; a lateral one sees what is to its left at level 1.
        query: Arc<Query>,
        /// The name, for EXPLAIN.
        alias: Arc<str>,
        /// Which FROM item it is, for FOR UPDATE OF.
        item: Option<u32>,
        /// The view whose query it is.
        view: Option<Oid>,
    },
    /// What a common table expression holds: `level` queries out (0: this one), by number there.
    CteScan {
        /// Steps out.
        level: u16,
        /// Its number.
        cte: u32,
        /// Its columns' names and types.
        columns: Vec<(Arc<str>, SqlType)>,
        /// The name by which the query knows it, for EXPLAIN.
        alias: Arc<str>,
    },
    /// A join: the left row, then the right one.
    Join {
        /// How.
        kind: JoinKind,
        /// Left.
        left: Box<Node>,
        /// Right.
        right: Box<Node>,
        /// Conjuncts of ON over the output row.
        on: Vec<Expr>,
        /// The right side names columns of the left: inside it they are at level 1, numbered over the left row.
        lateral: bool,
    },
    /// Rows for which every conjunct is true.
    Filter {
        /// Input.
        input: Box<Node>,
        /// Conjuncts.
        conjuncts: Vec<Expr>,
    },
    /// What a view of security_barrier shows: conditions on its rows that may leak what they are called with are asked of
    /// no row that it does not show. The name, for EXPLAIN, of a query in FROM.
    Barrier {
        /// Input.
        input: Box<Node>,
        /// The name.
        alias: Option<Arc<str>>,
    },
    /// New columns. A set-returning function here is an [`Node::ProjectSet`].
    Project {
        /// Input.
        input: Box<Node>,
        /// Its output.
        columns: Vec<Expr>,
    },
    /// New columns, some of them set-returning calls: as many rows as the longest gives, NULLs behind shorter ones.
    ProjectSet {
        /// Input.
        input: Box<Node>,
        /// Its output; set-returning calls only at the top of an expression.
        columns: Vec<Expr>,
    },
    /// GROUP BY: the output is the group keys, then the aggregates, then with more than one grouping set an int4 that
    /// is its GROUPING mask (bit i: key i is not grouped by).
    Aggregate {
        /// Input.
        input: Box<Node>,
        /// Group keys over the input.
        keys: Vec<Expr>,
        /// Which keys each grouping set has; one set of all for a plain GROUP BY, one empty for none.
        sets: Vec<Vec<u32>>,
        /// Aggregates.
        calls: Vec<AggregateCall>,
    },
    /// Window functions: the input row, then one column for each call.
    Window {
        /// Input.
        input: Box<Node>,
        /// Calls with the same window.
        calls: Vec<AggregateCall>,
        /// PARTITION BY.
        partition_by: Vec<Expr>,
        /// ORDER BY.
        order_by: Vec<SortKey>,
        /// The frame.
        frame: Frame,
    },
    /// DISTINCT, or DISTINCT ON: the first row of each group of equal keys.
    Distinct {
        /// Input, sorted by what ORDER BY says where keys are given.
        input: Box<Node>,
        /// DISTINCT ON keys; none: all of the first `columns` columns.
        on: Option<Vec<Expr>>,
        /// How many columns count.
        columns: u32,
    },
    /// ORDER BY.
    Sort {
        /// Input.
        input: Box<Node>,
        /// Keys, most significant first.
        keys: Vec<SortKey>,
    },
    /// LIMIT and OFFSET.
    Limit {
        /// Input.
        input: Box<Node>,
        /// LIMIT, an int8; NULL is none.
        limit: Option<Expr>,
        /// OFFSET, an int8.
        offset: Option<Expr>,
        /// FETCH ... WITH TIES: the sort keys that tie.
        with_ties: Option<Vec<SortKey>>,
    },
    /// UNION, INTERSECT, EXCEPT of inputs with the same columns.
    SetOperation {
        /// Which.
        kind: SetKind,
        /// ALL.
        all: bool,
        /// Left.
        left: Box<Node>,
        /// Right.
        right: Box<Node>,
    },
    /// FOR UPDATE and its family: rows of the named scans are locked, and checked again where they were waited for.
    LockRows {
        /// Input: filters and joins over scans, below any Sort and Limit of the query (as PostgreSQL runs it: above Sort,
        /// below Limit).
        input: Box<Node>,
        /// Per locked FROM item: its number, strength, policy.
        locks: Vec<(u32, RowLock, WaitPolicy)>,
    },
}

impl Node {
    /// The types of its output.
    #[must_use]
    pub fn types(&self) -> Vec<Oid> {
        let of = |exprs: &[Expr]| exprs.iter().map(|expr| expr.ty().oid).collect::<Vec<_>>();
        match self {
            Node::Unit => Vec::new(),
            Node::Nothing(types) | Node::Values { types, .. } | Node::Constants { types, .. } => {
                types.iter().map(|ty| ty.oid).collect()
            }
            Node::CteScan { columns, .. } => columns.iter().map(|(_, ty)| ty.oid).collect(),
            Node::Scan { relation, columns, system, .. } => columns
                .iter()
                .map(|column| relation.columns[*column].ty.oid)
                .chain(system.iter().map(|attnum| system_column(*attnum).ty))
                .collect(),
            Node::FunctionScan { columns, ordinality, .. } => {
                columns.iter().map(|(_, ty)| ty.oid).chain(ordinality.then_some(Oid(20))).collect()
            }
            Node::Derived { query, .. } => query.output.iter().map(|out| out.ty.oid).collect(),
            Node::Join { kind, left, right, .. } => {
                let mut types = left.types();
                if !matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                    types.extend(right.types());
                }
                types
            }
            Node::Project { columns, .. } | Node::ProjectSet { columns, .. } => of(columns),
            Node::Aggregate { keys, calls, sets, .. } => {
                let mut types = of(keys);
                types.extend(calls.iter().map(|call| call.ty.oid));
                types.extend((sets.len() > 1).then_some(Oid(23)));
                types
            }
            Node::Window { input, calls, .. } => {
                let mut types = input.types();
                types.extend(calls.iter().map(|call| call.ty.oid));
                types
            }
            Node::Filter { input, .. }
            | Node::Barrier { input, .. }
            | Node::Distinct { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. }
            | Node::LockRows { input, .. } => input.types(),
            Node::SetOperation { left, .. } => left.types(),
        }
    }
}

/// Whether a node's expressions are evaluated exactly once: `SELECT 1`, `VALUES (1)`.
#[must_use]
pub fn is_one_row(node: &Node) -> bool {
    match node {
        Node::Unit => true,
        Node::Values { rows, .. } => rows.len() == 1,
        Node::Project { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// A sort key, by the default B-tree ordering of its type.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// What is compared.
    pub expr: Expr,
    /// DESC (or USING >).
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

/// A window frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// Whether it is written with BETWEEN.
    pub between: bool,
    /// What tells whether a value lies within the offset of either bound; 0 where the unit is not RANGE or there is none.
    pub in_range: [Oid; 2],
    /// EXCLUDE.
    pub exclude: FrameExclude,
}

/// A bound of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// n PRECEDING.
    Preceding(Expr),
    /// CURRENT ROW.
    CurrentRow,
    /// n FOLLOWING.
    Following(Expr),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// An index whose entries depend on more than columns, bound over its table's live columns.
#[derive(Clone, Debug)]
pub struct ComputedIndex {
    /// Its place in the relation's `indexes`.
    pub index: usize,
    /// The conjuncts of its predicate; none: it has an entry for every row.
    pub filter: Vec<Expr>,
    /// Its expressions.
    pub expressions: Vec<Expr>,
}

/// INSERT, UPDATE, DELETE or MERGE.
#[derive(Clone, Debug)]
pub struct Modify {
    /// The table.
    pub relation: Arc<Relation>,
    /// The name by which the statement knows it.
    pub alias: Arc<str>,
    /// Which.
    pub kind: ModifyKind,
    /// RETURNING: columns over the new row (INSERT, UPDATE) or the old one (DELETE), all live columns in `attnum` order, and
    /// for UPDATE FROM and DELETE USING behind it the other FROM items' columns.
    pub returning: Option<Vec<(Expr, Output)>>,
    /// Common table expressions, as in [`Query`].
    pub ctes: Vec<Cte>,
    /// CHECK constraints of the table, bound over its live columns: index in `relation.constraints`, expression.
    pub checks: Vec<(usize, Expr)>,
    /// WITH CHECK OPTION of the views that it goes through, in the order in which they are asked.
    pub view_checks: Vec<ViewCheck>,
    /// The table's generated columns, by index, over its live columns.
    pub generated: Vec<(usize, Expr)>,
    /// The table's indexes with expressions or predicates.
    pub computed: Vec<ComputedIndex>,
    /// What foreign keys may do to other rows because of it, and because of that, however far it goes.
    pub actions: Vec<ReferentialAction>,
    /// The table's columns that the statement names as written, by index.
    pub named: Vec<usize>,
}

/// What a view shows: with WITH CHECK OPTION demanded of a new row, and by DO UPDATE of the one that is there.
#[derive(Clone, Debug)]
pub struct ViewCheck {
    /// The view's name.
    pub view: Arc<str>,
    /// What must be true, over the table's live columns.
    pub conditions: Vec<Expr>,
}

/// What a foreign key does to the referencing rows once a referenced row has gone, or has changed its key.
#[derive(Clone, Debug)]
pub struct ReferentialAction {
    /// The referencing table.
    pub child: Arc<Relation>,
    /// The foreign key's place in its `constraints`.
    pub constraint: usize,
    /// ON UPDATE, else ON DELETE.
    pub on_update: bool,
    /// The referencing columns by index and what they become, over the new values of the referenced columns in the key's
    /// order, cast; none: the rows are deleted.
    pub change: Option<Vec<(usize, Expr)>>,
    /// The child's CHECK constraints, as in [`Modify`].
    pub checks: Vec<(usize, Expr)>,
    /// The child's generated columns, as in [`Modify`].
    pub generated: Vec<(usize, Expr)>,
    /// The child's indexes with expressions or predicates.
    pub computed: Vec<ComputedIndex>,
}

/// What a modification does.
#[derive(Clone, Debug)]
pub enum ModifyKind {
    /// INSERT.
    Insert {
        /// Rows of all live columns, in `attnum` order, defaults filled in and cast to the columns' types.
        source: Box<Node>,
        /// ON CONFLICT.
        on_conflict: Option<OnConflict>,
        /// The system columns behind the live ones of the new row, for RETURNING, and of the existing one, for DO UPDATE.
        system: Vec<i16>,
    },
    /// UPDATE.
    Update {
        /// Rows of the table, all live columns first, then other FROM items'; the target is FROM item 0.
        source: Box<Node>,
        /// Column index and new value over the source row, cast to the column's type.
        assignments: Vec<(usize, Expr)>,
    },
    /// DELETE.
    Delete {
        /// As for UPDATE.
        source: Box<Node>,
    },
    /// MERGE.
    Merge {
        /// The source's rows, each with the row of the table that it matches, if any; the table is FROM item 0.
        source: Box<Node>,
        /// ON, over that row.
        on: Vec<Expr>,
        /// The WHEN clauses: the first one that fits is run.
        actions: Vec<MergeAction>,
    },
}

/// WHEN of MERGE.
#[derive(Clone, Debug)]
pub struct MergeAction {
    /// MATCHED (else NOT MATCHED).
    pub matched: bool,
    /// AND.
    pub conditions: Vec<Expr>,
    /// THEN.
    pub change: MergeChange,
}

/// What a WHEN does.
#[derive(Clone, Debug)]
pub enum MergeChange {
    /// DO NOTHING.
    Nothing,
    /// Column index and new value, cast to the column's type.
    Update(Vec<(usize, Expr)>),
    /// DELETE.
    Delete,
    /// All live columns, in `attnum` order.
    Insert(Vec<Expr>),
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// Which indexes arbitrate.
    pub arbiters: Arbiters,
    /// DO UPDATE; none is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// The unique indexes that an ON CONFLICT means.
#[derive(Clone, Debug)]
pub enum Arbiters {
    /// Whichever finds a conflict (DO NOTHING only).
    Any,
    /// That of the constraint that is named.
    Named(Oid),
    /// All whose predicates are implied by a condition.
    Inferred {
        /// Those with the keys that are named, in the order of their OIDs; what of its predicate is to be proved, over the
        /// table's live columns.
        candidates: Vec<(Oid, Vec<Expr>)>,
        /// The conjuncts of the condition, over the same.
        given: Vec<Expr>,
    },
}

/// DO UPDATE. Its expressions' input row is the existing row's live and system columns, then the proposed row's live ones
/// (`excluded`).
#[derive(Clone, Debug)]
pub struct ConflictUpdate {
    /// The views that the statement goes through, in the order in which they are asked: each must show the existing row.
    pub visible: Vec<ViewCheck>,
    /// Column index and new value.
    pub assignments: Vec<(usize, Expr)>,
    /// WHERE.
    pub filter: Option<Expr>,
}
