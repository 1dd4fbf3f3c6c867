//! Trees of queries as bytes: what a view's text is printed from.
//!
//! They begin as those of expressions do. The row of a FROM is as wide as it was when the tree was made, whatever columns its
//! tables have by now: an item says which attributes it had, by number, so that places in the row are for good. Types of records
//! are numbers of shapes, which stand before the tree.

use super::{Choice, Part, Reader, Row, Writer, corrupt, finish, read_whole};
use crate::bind::grouping::{BoundWindow, Collected, WindowCall};
use crate::bind::locking::LockedItem;
use crate::bind::logical::{
    Frame, FrameBound, FrameExclude, FrameUnit, JoinKind, Node, Query, SetKind, SortKey,
};
use crate::bind::scope::{ScopeColumn, ScopeItem, Source};
use crate::bind::subquery::{compared_row, comparing};
use crate::bind::target::BoundTarget;
use crate::bind::tree::{
    BodyTree, ConditionTree, CteTree, CycleTree, DistinctTree, FromList, FromTree, GroupTree,
    GroupsTree, JoinTree, QueryTree, SampleTree, SearchTree, SelectTree, TableColumn, WithTree,
};
use crate::bind::typed::{AggregateCall, Expr, SubqueryKind};
use crate::catalog::CatalogSnapshot;
use crate::error::{Result, SqlError};
use crate::parse::Deep;
use crate::types::xml::table::{XmlColumn, XmlTable};
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use txn::{RowLock, WaitPolicy};

/// The fields of records, by the modifiers of their types.
pub type Shapes = Vec<Vec<(Arc<str>, SqlType)>>;

/// A tree with the shapes that types of records in it name by number.
pub type ShapedTree = (Shapes, Arc<QueryTree>);

/// The query of a view as bytes: what is run, and what is printed where that is another tree.
///
/// # Errors
/// 54001 for one that is too high, 0A000 for what no view has.
pub fn write_query(
    catalog: &CatalogSnapshot,
    run: &ShapedTree,
    shown: Option<&ShapedTree>,
) -> Result<Arc<[u8]>> {
    let mut out = Writer::new(catalog, None, Row::Query, &|number| number);
    run.write(&mut out)?;
    shown.is_some().write(&mut out)?;
    shown.map_or(Ok(()), |shown| shown.write(&mut out))?;
    finish(out)
}

/// The query of a view that bytes stand for.
///
/// # Errors
/// XX001.
pub fn read_query(catalog: &CatalogSnapshot, bytes: &[u8]) -> Result<ReadQuery> {
    let mut from = Reader::new(catalog, None, Row::Query, bytes);
    let trees = read_whole(&mut from, |from| Ok((Part::read(from)?, Part::read(from)?)))?;
    Ok(ReadQuery { trees, lasts: from.lasts })
}

/// What has been read: what is run, and what is printed where that is another tree.
pub struct ReadQuery {
    pub trees: Deep<(ShapedTree, Option<ShapedTree>)>,
    /// Whether it is this as long as the view is.
    pub lasts: bool,
}

/// The code of a column of a query's row, or of one around it.
pub(super) const COLUMN: u8 = 28;
/// The code of a subquery.
pub(super) const SUBQUERY: u8 = 29;

pub(super) fn write_subquery(
    (kind, query, ty): (&SubqueryKind, &Query, SqlType),
    out: &mut Writer<'_>,
) -> Result<()> {
    match (kind, compared_row(query)) {
        (_, Some(test)) => {
            out.bytes.push(6);
            test.write(out)?;
        }
        (kind, None) => kind.write_choice(out)?,
    }
    let tree = query.tree.as_ref();
    tree.ok_or_else(|| SqlError::unsupported("a query without a tree in a stored one is"))?
        .write(out)?;
    ty.write(out)
}

pub(super) fn read_subquery(from: &mut Reader<'_>) -> Result<Expr> {
    let code = from.byte()?;
    let test = if code == 6 { Some(Expr::read(from)?) } else { None };
    let kind = match test {
        Some(_) => SubqueryKind::Scalar,
        None => SubqueryKind::read_choice(code, from)?,
    };
    let (tree, ty) = (Some(Part::read(from)?), SqlType::read(from)?);
    let query = match test {
        Some(test) => comparing(Query::new(Node::Unit, Vec::new()), test),
        None => Query::new(Node::Unit, Vec::new()),
    };
    Ok(Expr::Subquery { kind, query: Arc::new(Query { tree, ..query }), ty })
}

structs! {
    WithTree { recursive, ctes }
    CteTree { name, columns, materialized, query, recurs, search, cycle }
    SearchTree { depth, columns, sequence }
    CycleTree { columns, mark, path, values }
    SelectTree { from, distinct, targets, visible, filter, groups, having, collected, order_by, locks }
    GroupsTree { distinct, keys, items, targets, is_plain }
    FromList { list, items }
    TableColumn { number, given }
    SampleTree { method, percentage, seed }
    SortKey { expr, descending, nulls_first }
    WindowCall { call, window }
    BoundWindow { partition_by, order_by, frame, name, base }
    Frame { unit, start, end, between, in_range, exclude }
    LockedItem { item, strength, wait }
    ScopeColumn { name, expr, origin, system }
    ScopeItem { name, schema, columns, columns_visible, name_visible, row_type, value, scan, source, nullable }
    Collected { aggregates, asked, direct, groupings, windows, named }
    XmlTable { namespaces, columns }
    XmlColumn { name, ty, ordinality, path, default, not_null }
}

choices! {
    SubqueryKind {
        1 Scalar;
        2 Record;
        3 Exists;
        4 Array;
        5 Quantified { test, quantifier };
    }
    BodyTree {
        1 Select(select);
        2 Values { rows, types };
        3 SetOperation { kind, all, left, right, types };
    }
    DistinctTree {
        1 No;
        2 All;
        3 On(targets);
    }
    GroupTree {
        1 Key(key);
        2 List(keys);
        3 Empty;
        4 Rollup(items);
        5 Cube(items);
        6 Sets(items);
    }
    FromTree {
        1 Table { relation, columns, aliased, sample };
        2 With { name, aliased, listed };
        3 Query { tree, lateral, listed };
        4 Function { calls, fields, ordinality, aliased, listed };
        5 Join(join);
    }
    ConditionTree {
        1 Nothing;
        2 On(condition);
        3 Using(columns, name, on);
    }
    FrameBound {
        1 UnboundedPreceding;
        2 Preceding(by);
        3 CurrentRow;
        4 Following(by);
        5 UnboundedFollowing;
    }
    FrameUnit {
        1 Rows;
        2 Range;
        3 Groups;
    }
    FrameExclude {
        1 NoOthers;
        2 CurrentRow;
        3 Group;
        4 Ties;
    }
    JoinKind {
        1 Inner;
        2 Left;
        3 Right;
        4 Full;
        else "such a join in a stored query is"
    }
    SetKind {
        1 Union;
        2 Intersect;
        3 Except;
    }
    Source {
        1 Relation;
        2 Query(item);
        3 With;
        4 Function;
        5 Join;
    }
    RowLock {
        1 KeyShare;
        2 Share;
        3 NoKeyUpdate;
        4 Update;
    }
    WaitPolicy {
        1 Block;
        2 Error;
        3 Skip;
    }
}

chosen!(
    BodyTree,
    DistinctTree,
    FromTree,
    ConditionTree,
    FrameBound,
    FrameUnit,
    FrameExclude,
    JoinKind,
    SetKind,
    Source,
    RowLock,
    WaitPolicy
);

/// How an aggregate that users made is computed is found anew.
impl Part for AggregateCall {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.function.write(out)?;
        self.computed_as.write(out)?;
        self.arguments.write(out)?;
        self.distinct.write(out)?;
        self.order_by.write(out)?;
        self.filter.write(out)?;
        self.ty.write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(AggregateCall {
            function: Part::read(from)?,
            computed_as: Part::read(from)?,
            arguments: Part::read(from)?,
            distinct: Part::read(from)?,
            order_by: Part::read(from)?,
            filter: Part::read(from)?,
            ty: Part::read(from)?,
            made: None,
        })
    }
}

impl Part for [Oid; 2] {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.iter().try_for_each(|oid| oid.write(out))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok([Oid::read(from)?, Oid::read(from)?])
    }
}

impl Part for usize {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        (*self as u64).write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(u32::read(from)? as usize)
    }
}

impl Part for Arc<XmlTable> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        XmlTable::write(self, out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        XmlTable::read(from).map(Arc::new)
    }
}

/// A query is a level of its own, as an expression is.
impl Part for Arc<QueryTree> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.deeper(|out| {
            self.with.write(out)?;
            self.body.write(out)?;
            self.order_by.write(out)?;
            self.limit.write(out)?;
            self.offset.write(out)?;
            self.with_ties.write(out)
        })
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.deeper(|from| {
            Ok(Arc::new(QueryTree {
                with: Part::read(from)?,
                body: Part::read(from)?,
                order_by: Part::read(from)?,
                limit: Part::read(from)?,
                offset: Part::read(from)?,
                with_ties: Part::read(from)?,
            }))
        })
    }
}

/// So is a join.
impl Part for JoinTree {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.deeper(|out| {
            self.kind.write(out)?;
            self.left.write(out)?;
            self.right.write(out)?;
            self.lateral.write(out)?;
            self.condition.write(out)?;
            self.aliased.write(out)?;
            self.has_item.write(out)
        })
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.deeper(|from| {
            Ok(JoinTree {
                kind: Part::read(from)?,
                left: Part::read(from)?,
                right: Part::read(from)?,
                lateral: Part::read(from)?,
                condition: Part::read(from)?,
                aliased: Part::read(from)?,
                has_item: Part::read(from)?,
            })
        })
    }
}

/// So is an item of GROUP BY.
impl Part for GroupTree {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.deeper(|out| self.write_choice(out))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.deeper(|from| {
            let code = from.byte()?;
            GroupTree::read_choice(code, from)
        })
    }
}

/// Where it stood in the text is nowhere now.
impl Part for BoundTarget {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.expr.write(out)?;
        self.name.write(out)?;
        self.origin.write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (expr, name) = (Part::read(from)?, Part::read(from)?);
        Ok(BoundTarget { expr, name, origin: Part::read(from)?, at: 0 })
    }
}
