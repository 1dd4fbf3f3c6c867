//! Queries and data modification as written: SELECT, VALUES, set operations, WITH, INSERT, UPDATE, DELETE.

use super::expr::{Expr, ExprKind, Index, OrderBy, Window};
use super::{Ident, ObjectName, TypeName};
use sql_types::words::SetKind;
use std::sync::Arc;
use txn::{RowLock, WaitPolicy};

/// A query with the clauses that hold for the whole of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// What gives its rows.
    pub body: Body,
    /// ORDER BY.
    pub order_by: Vec<OrderBy>,
    /// LIMIT or FETCH; `LIMIT ALL` is none.
    pub limit: Option<Expr>,
    /// FETCH ... WITH TIES.
    pub with_ties: bool,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FOR UPDATE and its family.
    pub locking: Vec<Locking>,
    /// Byte offset in the query text.
    pub at: u32,
}

impl Query {
    /// A body without clauses.
    #[must_use]
    pub fn plain(body: Body, at: u32) -> Query {
        Query {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            with_ties: false,
            offset: None,
            locking: Vec::new(),
            at,
        }
    }
}

/// What gives a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES: rows.
    Values(Vec<Vec<Expr>>),
    /// A set operation.
    SetOperation {
        /// Which.
        kind: SetKind,
        /// ALL.
        all: bool,
        /// Left.
        left: Box<Query>,
        /// Right.
        right: Box<Query>,
        /// Byte offset of the word.
        at: u32,
    },
}

/// WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct With {
    /// RECURSIVE.
    pub recursive: bool,
    /// Its queries.
    pub ctes: Vec<Cte>,
    /// Where it begins.
    pub at: u32,
}

/// One query of WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Its name.
    pub name: Ident,
    /// Names of its columns.
    pub columns: Vec<Ident>,
    /// MATERIALIZED (true), NOT MATERIALIZED (false).
    pub materialized: Option<bool>,
    /// Its statement.
    pub body: CteBody,
    /// SEARCH.
    pub search: Option<Search>,
    /// CYCLE.
    pub cycle: Option<Cycle>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// SEARCH of a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// DEPTH FIRST, else BREADTH FIRST.
    pub depth: bool,
    /// BY.
    pub columns: Vec<Ident>,
    /// SET.
    pub sequence: Ident,
    /// Byte offset in the query text.
    pub at: u32,
}

/// CYCLE of a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// The columns that a cycle is found by.
    pub columns: Vec<Ident>,
    /// SET.
    pub mark: Ident,
    /// TO and DEFAULT.
    pub values: Option<(Expr, Expr)>,
    /// USING.
    pub path: Ident,
    /// Byte offset in the query text.
    pub at: u32,
}

/// The statement of a query of WITH.
#[derive(Clone, Debug, PartialEq)]
pub enum CteBody {
    /// A query.
    Query(Arc<Query>),
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// MERGE, which is refused.
    Merge,
}

/// SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// DISTINCT.
    pub distinct: Distinct,
    /// The select list.
    pub targets: Vec<Target>,
    /// INTO: the table to make.
    pub into: Option<Box<SelectInto>>,
    /// FROM.
    pub from: Vec<FromItem>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<GroupItem>,
    /// GROUP BY DISTINCT.
    pub group_distinct: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<(Ident, Window)>,
}

impl Select {
    /// A SELECT without anything.
    #[must_use]
    pub fn empty() -> Select {
        Select {
            distinct: Distinct::No,
            targets: Vec::new(),
            into: None,
            from: Vec::new(),
            filter: None,
            group_by: Vec::new(),
            group_distinct: false,
            having: None,
            windows: Vec::new(),
        }
    }

    /// `SELECT columns FROM name`.
    #[must_use]
    pub fn columns_of(name: ObjectName, columns: &[Ident], at: u32) -> Select {
        let target = |column: &Ident| {
            let kind = ExprKind::Column(vec![column.clone()]);
            Target { expr: Expr { at, kind }, alias: None }
        };
        Select {
            targets: columns.iter().map(target).collect(),
            from: vec![FromItem::Table { name, only: false, alias: None }],
            ..Select::empty()
        }
    }
}

/// SELECT INTO.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectInto {
    /// The table.
    pub name: ObjectName,
    /// `p`, `u` or `t`.
    pub persistence: char,
}

/// DISTINCT.
#[derive(Clone, Debug, PartialEq)]
pub enum Distinct {
    /// ALL.
    No,
    /// DISTINCT.
    All,
    /// DISTINCT ON.
    On(Vec<Expr>),
}

/// An item of a select list or of RETURNING.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What; `*` and `t.*` are [`super::expr::ExprKind::Star`].
    pub expr: Expr,
    /// AS.
    pub alias: Option<Ident>,
}

/// An item of GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupItem {
    /// An expression.
    Expr(Expr),
    /// `()`.
    Empty,
    /// ROLLUP.
    Rollup(Vec<Expr>),
    /// CUBE.
    Cube(Vec<Expr>),
    /// GROUPING SETS.
    Sets(Vec<GroupItem>),
}

/// An alias in FROM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alias {
    /// The name.
    pub name: Ident,
    /// Names of columns.
    pub columns: Vec<Ident>,
}

/// An item of FROM.
#[derive(Clone, Debug, PartialEq)]
pub enum FromItem {
    /// A table, view or query of WITH.
    Table {
        /// Its name.
        name: ObjectName,
        /// ONLY.
        only: bool,
        /// AS.
        alias: Option<Alias>,
    },
    /// TABLESAMPLE of a table.
    Sample {
        /// Which.
        table: Box<FromItem>,
        /// How.
        method: ObjectName,
        /// How much.
        arguments: Vec<Expr>,
        /// REPEATABLE.
        repeatable: Option<Expr>,
    },
    /// A function; several are ROWS FROM.
    Function {
        /// LATERAL.
        lateral: bool,
        /// The calls (function calls and the keyword values) with their own column definitions.
        calls: Vec<(Expr, Vec<ColumnDefinition>)>,
        /// ROWS FROM.
        rows_from: bool,
        /// WITH ORDINALITY.
        ordinality: bool,
        /// AS.
        alias: Option<Alias>,
        /// `AS (a int, b text)`.
        definitions: Vec<ColumnDefinition>,
        /// Byte offset in the query text.
        at: u32,
    },
    /// A subquery.
    Subquery {
        /// LATERAL.
        lateral: bool,
        /// The query.
        query: Arc<Query>,
        /// AS.
        alias: Option<Alias>,
        /// Byte offset in the query text.
        at: u32,
    },
    /// A join.
    Join {
        /// How.
        kind: sql_types::words::JoinKind,
        /// Left.
        left: Box<FromItem>,
        /// Right.
        right: Box<FromItem>,
        /// ON, USING, NATURAL or nothing.
        condition: JoinCondition,
        /// An alias of the parenthesised join.
        alias: Option<Alias>,
        /// Byte offset in the query text.
        at: u32,
    },
}

/// What joins.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinCondition {
    /// CROSS.
    None,
    /// ON.
    On(Expr),
    /// USING, with an alias of the merged columns.
    Using(Vec<Ident>, Option<Ident>),
    /// NATURAL.
    Natural,
}

/// A column of a function's row in FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeName,
    /// Byte offset in the query text.
    pub at: u32,
}

/// FOR UPDATE and its family.
#[derive(Clone, Debug, PartialEq)]
pub struct Locking {
    /// How strong.
    pub strength: RowLock,
    /// OF: items of FROM; none is all.
    pub of: Vec<ObjectName>,
    /// NOWAIT, SKIP LOCKED.
    pub wait: WaitPolicy,
    /// Byte offset in the query text.
    pub at: u32,
}

/// INSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: ObjectName,
    /// AS.
    pub alias: Option<Ident>,
    /// The columns, with subscripts or fields of them.
    pub columns: Vec<TargetColumn>,
    /// OVERRIDING SYSTEM VALUE (true), USER VALUE (false).
    pub overriding: Option<bool>,
    /// What is inserted; none is DEFAULT VALUES.
    pub source: Option<Box<Query>>,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// RETURNING.
    pub returning: Vec<Target>,
}

/// One step from a column to the part of it that is assigned to.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetStep {
    /// `.f`
    Field(Ident),
    /// `[1]`, `[1][2]`, `[1:2]`
    Subscript(Vec<Index>),
}

/// A column that is assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetColumn {
    /// Its name.
    pub name: Ident,
    /// `a[1]`, `a.f`: the way to the part that is assigned; empty for the whole column.
    pub path: Vec<TargetStep>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub struct OnConflict {
    /// What arbitrates.
    pub target: ConflictTarget,
    /// DO UPDATE; none is DO NOTHING.
    pub update: Option<ConflictUpdate>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// What arbitrates.
#[derive(Clone, Debug, PartialEq)]
pub enum ConflictTarget {
    /// Any unique index.
    Any,
    /// Keys of an index and a predicate.
    Inferred(Vec<ConflictKey>, Option<Expr>, u32),
    /// ON CONSTRAINT.
    Constraint(Ident),
}

/// A key by which ON CONFLICT finds an index.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictKey {
    /// A column (unqualified) or an expression.
    pub expr: Expr,
    /// COLLATE.
    pub collation: Option<ObjectName>,
    /// The operator class.
    pub class: Option<ObjectName>,
}

/// DO UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictUpdate {
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub filter: Option<Expr>,
}

/// An item of SET.
#[derive(Clone, Debug, PartialEq)]
pub enum Assignment {
    /// `a = x`.
    One(TargetColumn, Expr),
    /// `(a, b) = (x, y)` or a subquery.
    Many(Vec<TargetColumn>, Expr),
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: ObjectName,
    /// AS.
    pub alias: Option<Ident>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// FROM.
    pub from: Vec<FromItem>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<Target>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: ObjectName,
    /// AS.
    pub alias: Option<Ident>,
    /// USING.
    pub using: Vec<FromItem>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<Target>,
}

/// MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: ObjectName,
    /// AS.
    pub alias: Option<Ident>,
    /// USING.
    pub source: FromItem,
    /// ON.
    pub on: Expr,
    /// The WHEN clauses.
    pub clauses: Vec<MergeWhen>,
}

/// WHEN of MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeWhen {
    /// MATCHED (else NOT MATCHED).
    pub matched: bool,
    /// AND.
    pub condition: Option<Expr>,
    /// THEN.
    pub action: MergeAction,
}

/// What a WHEN does.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// DO NOTHING.
    Nothing,
    /// UPDATE SET.
    Update(Vec<Assignment>),
    /// DELETE.
    Delete,
    /// INSERT.
    Insert {
        /// The columns, with subscripts or fields of them.
        columns: Vec<TargetColumn>,
        /// OVERRIDING SYSTEM VALUE (true), USER VALUE (false).
        overriding: Option<bool>,
        /// VALUES; none is DEFAULT VALUES.
        values: Option<Vec<Expr>>,
    },
}
