//! What a query was written as, bound (PostgreSQL's `Query`): the clauses of each of its blocks over the row of its FROM,
//! before groups, windows and sorts are put above it. It is what a view is kept as.
//!
//! A plan needs none of it, so that the binder makes it only where a query is to be printed. Relations are OIDs in it and
//! columns are places, so that it says the same whatever those are called; names that were written are kept where they are
//! aliases. Columns look out of it as many rows as they do out of [`Query::root`], and whoever moves the one moves the other.
//!
//! Subqueries in its expressions are queries that have nothing but their trees.

use super::grouping::Collected;
use super::levels::{Visitor, children};
use super::locking::LockedItem;
use super::scope::ScopeItem;
use super::subquery::{compared_row, test_of};
use super::target::BoundTarget;
use super::typed::Expr;
use crate::bind::logical::{JoinKind, Node, Query, SetKind, SortKey};
use crate::parse::ast::Ident;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// A query.
#[derive(Clone, Debug)]
pub struct QueryTree {
    pub(super) with: Option<WithTree>,
    pub(super) body: BodyTree,
    /// ORDER BY of what is no SELECT, over its output.
    pub(super) order_by: Vec<SortKey>,
    /// LIMIT as it was written, before it became a bigint.
    pub(super) limit: Option<Expr>,
    pub(super) offset: Option<Expr>,
    pub(super) with_ties: bool,
}

/// WITH: its queries in the order in which they were bound.
#[derive(Clone, Debug)]
pub(super) struct WithTree {
    pub recursive: bool,
    pub ctes: Vec<CteTree>,
}

/// A query of WITH.
#[derive(Clone, Debug)]
pub(super) struct CteTree {
    pub name: Ident,
    /// The names that were written for its columns.
    pub columns: Vec<Ident>,
    pub materialized: Option<bool>,
    /// None of what changes rows.
    pub query: Option<Arc<QueryTree>>,
    /// Its second term names it.
    pub recurs: bool,
    pub search: Option<SearchTree>,
    pub cycle: Option<CycleTree>,
}

/// SEARCH.
#[derive(Clone, Debug)]
pub(super) struct SearchTree {
    pub depth: bool,
    pub columns: Vec<Ident>,
    pub sequence: Ident,
}

/// CYCLE.
#[derive(Clone, Debug)]
pub(super) struct CycleTree {
    pub columns: Vec<Ident>,
    pub mark: Ident,
    pub path: Ident,
    /// The mark of a row that closes a cycle, and of others, where they were written.
    pub values: Option<(Expr, Expr)>,
}

/// What a query's rows are made by.
#[derive(Clone, Debug)]
pub(super) enum BodyTree {
    Select(Box<SelectTree>),
    /// VALUES: the rows as they were written, and the types of the columns.
    Values {
        rows: Vec<Vec<Expr>>,
        types: Vec<SqlType>,
    },
    SetOperation {
        kind: SetKind,
        all: bool,
        left: Arc<QueryTree>,
        right: Arc<QueryTree>,
        /// The types of the columns.
        types: Vec<SqlType>,
    },
}

/// A SELECT.
#[derive(Clone, Debug, Default)]
pub(super) struct SelectTree {
    pub from: FromList,
    pub distinct: DistinctTree,
    /// The select list, and behind its first `visible` items what else is sorted by.
    pub targets: Vec<BoundTarget>,
    pub visible: usize,
    pub filter: Option<Expr>,
    pub groups: GroupsTree,
    pub having: Option<Expr>,
    /// The aggregates and window calls that expressions name by numbers, and the WINDOW clause.
    pub collected: Collected,
    /// ORDER BY: items of the select list.
    pub order_by: Vec<(usize, SortKey)>,
    pub locks: Vec<LockedItem>,
}

/// DISTINCT.
#[derive(Clone, Debug, Default)]
pub(super) enum DistinctTree {
    #[default]
    No,
    All,
    /// ON items of the select list.
    On(Vec<usize>),
}

/// GROUP BY.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupsTree {
    pub distinct: bool,
    /// What its items name by number.
    pub keys: Vec<Expr>,
    pub items: Vec<GroupTree>,
    /// The item of the select list that each key stands for, where there are several sets.
    pub targets: Vec<Option<usize>>,
    /// It comes to one set of all keys.
    pub is_plain: bool,
}

/// An item of GROUP BY.
#[derive(Clone, Debug)]
pub(super) enum GroupTree {
    Key(u32),
    /// Several in parentheses.
    List(Vec<u32>),
    Empty,
    Rollup(Vec<GroupTree>),
    Cube(Vec<GroupTree>),
    Sets(Vec<GroupTree>),
}

/// FROM: its items from left to right, and whether each looks at the row of those to its left.
#[derive(Clone, Debug, Default)]
pub(super) struct FromList {
    pub list: Vec<(FromTree, bool)>,
    /// What names the row has: those of each item, and behind those of its sides those of a join that has any of its own.
    pub items: Vec<ScopeItem>,
}

/// An item of FROM.
#[derive(Clone, Debug)]
pub(super) enum FromTree {
    Table {
        relation: Oid,
        /// The columns that it has in the row.
        columns: Vec<TableColumn>,
        /// It has a name of its own.
        aliased: bool,
        sample: Option<SampleTree>,
    },
    /// A query of WITH.
    With {
        name: Ident,
        aliased: bool,
        listed: bool,
    },
    /// A subquery; `listed`: the names of its columns were written.
    Query {
        tree: Arc<QueryTree>,
        lateral: bool,
        listed: bool,
    },
    /// A function, or the several of ROWS FROM, each with what was said of its record's columns.
    Function {
        calls: Vec<(Expr, Vec<(Ident, SqlType)>)>,
        /// The numbers of the fields that each returned, where it returned a row whose type has a name.
        fields: Vec<Vec<i16>>,
        ordinality: bool,
        aliased: bool,
        /// The names of its columns were written.
        listed: bool,
    },
    Join(Box<JoinTree>),
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct TableColumn {
    pub number: i16,
    /// The name that it was given.
    pub given: Option<Ident>,
}

/// TABLESAMPLE: its method, how much, and the seed.
#[derive(Clone, Debug)]
pub(super) struct SampleTree {
    pub method: Ident,
    pub percentage: Expr,
    pub seed: Option<Expr>,
}

/// A join.
#[derive(Clone, Debug)]
pub(super) struct JoinTree {
    pub kind: JoinKind,
    pub left: FromTree,
    pub right: FromTree,
    /// The right side looks at the row of the left one.
    pub lateral: bool,
    pub condition: ConditionTree,
    pub aliased: bool,
    /// It has names of its own: of an alias, or of columns that it merges.
    pub has_item: bool,
}

/// What a join is by.
#[derive(Clone, Debug)]
pub(super) enum ConditionTree {
    Nothing,
    On(Expr),
    /// USING, or what NATURAL comes to, the name behind it, and what it asks of the rows.
    Using(Vec<Ident>, Option<Ident>, Vec<Expr>),
}

impl QueryTree {
    pub(super) fn of(body: BodyTree) -> QueryTree {
        QueryTree {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            offset: None,
            with_ties: false,
        }
    }

    /// Whether it is more than what its body says.
    pub(super) fn has_clauses(&self) -> bool {
        let locks = matches!(&self.body, BodyTree::Select(select) if !select.locks.is_empty());
        let ordered = match &self.body {
            BodyTree::Select(select) => !select.order_by.is_empty(),
            _ => !self.order_by.is_empty(),
        };
        self.with.is_some() || ordered || self.limit.is_some() || self.offset.is_some() || locks
    }

    /// Visits all parts.
    pub(super) fn walk(&mut self, depth: u16, visit: &mut dyn Visitor) {
        for cte in self.with.iter_mut().flat_map(|with| &mut with.ctes) {
            walk_shared(cte.query.iter_mut(), depth, visit);
            let values = cte.cycle.iter_mut().filter_map(|cycle| cycle.values.as_mut());
            values.for_each(|(value, otherwise)| {
                visit.expr(value, depth);
                visit.expr(otherwise, depth);
            });
        }
        match &mut self.body {
            BodyTree::Select(select) => select.walk(depth, visit),
            BodyTree::Values { rows, .. } => {
                rows.iter_mut().flatten().for_each(|expr| visit.expr(expr, depth));
            }
            BodyTree::SetOperation { left, right, .. } => {
                walk_shared([left, right].into_iter(), depth, visit);
            }
        }
        let keys = self.order_by.iter_mut().map(|key| &mut key.expr);
        let counts = self.limit.iter_mut().chain(&mut self.offset);
        keys.chain(counts).for_each(|expr| visit.expr(expr, depth));
    }
}

fn walk_shared<'t>(
    trees: impl Iterator<Item = &'t mut Arc<QueryTree>>,
    depth: u16,
    visit: &mut dyn Visitor,
) {
    trees.for_each(|tree| Arc::make_mut(tree).walk(depth, visit));
}

impl SelectTree {
    fn walk(&mut self, depth: u16, visit: &mut dyn Visitor) {
        for (from, lateral) in &mut self.from.list {
            from.walk(depth + u16::from(*lateral), visit);
        }
        self.expressions(&mut |expr| visit.expr(expr, depth));
    }

    /// Its own expressions, those of FROM aside.
    pub(super) fn expressions(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.targets.iter_mut().for_each(|target| visit(&mut target.expr));
        let plain = self.filter.iter_mut().chain(&mut self.having).chain(&mut self.groups.keys);
        plain.for_each(&mut *visit);
        self.collected.expressions(visit);
    }

    /// Leaves its subqueries nothing but their trees.
    pub(super) fn keep_trees(&mut self) {
        self.expressions(&mut keep_trees);
    }

    /// Puts items behind the first `width` of the select list.
    pub(super) fn with_items(&mut self, width: usize, items: Vec<BoundTarget>) {
        let count = items.len();
        self.targets.splice(width..width, items);
        self.visible = width + count;
        self.move_items(width, &|target| target + count);
    }

    /// Takes out the `count` items behind the first `width` of the select list, which nobody has written.
    pub(super) fn without_items(&mut self, width: usize, count: usize) {
        self.targets.drain(width..width + count);
        self.visible = width;
        self.move_items(width, &|target| target - count);
    }

    /// The items from this one on have other numbers.
    fn move_items(&mut self, first: usize, number: &dyn Fn(usize) -> usize) {
        let moved = |target: &mut usize| {
            if *target >= first {
                *target = number(*target);
            }
        };
        self.order_by.iter_mut().for_each(|(target, _)| moved(target));
        self.groups.targets.iter_mut().flatten().for_each(moved);
        if let DistinctTree::On(targets) = &mut self.distinct {
            targets.iter_mut().for_each(moved);
        }
    }
}

impl FromTree {
    /// Visits all parts.
    pub(super) fn walk(&mut self, depth: u16, visit: &mut dyn Visitor) {
        match self {
            FromTree::With { .. } | FromTree::Table { sample: None, .. } => {}
            FromTree::Table { sample: Some(sample), .. } => {
                visit.expr(&mut sample.percentage, depth);
                sample.seed.iter_mut().for_each(|seed| visit.expr(seed, depth));
            }
            FromTree::Query { tree, .. } => Arc::make_mut(tree).walk(depth, visit),
            FromTree::Function { calls, fields, .. } => {
                calls.iter_mut().zip(fields).for_each(|((call, _), fields)| {
                    visit.called(call, fields);
                    visit.expr(call, depth);
                });
            }
            FromTree::Join(join) => {
                join.left.walk(depth, visit);
                join.right.walk(depth + u16::from(join.lateral), visit);
                match &mut join.condition {
                    ConditionTree::Nothing => {}
                    ConditionTree::On(condition) => visit.expr(condition, depth),
                    ConditionTree::Using(_, _, on) => {
                        on.iter_mut().for_each(|test| visit.expr(test, depth));
                    }
                }
            }
        }
    }

    /// How many items of the scope it has.
    pub(super) fn items(&self) -> usize {
        let FromTree::Join(join) = self else { return 1 };
        let named = matches!(join.condition, ConditionTree::Using(_, Some(_), _));
        join.left.items() + join.right.items() + usize::from(named) + usize::from(join.has_item)
    }
}

/// An expression whose subqueries have nothing but their trees.
pub(super) fn as_tree(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    keep_trees(&mut expr);
    expr
}

fn keep_trees(expr: &mut Expr) {
    if let Some(test) = test_of(expr) {
        keep_trees(test);
    }
    children(expr, &mut keep_trees);
    let Expr::Subquery { query, .. } = expr else { return };
    let compared = compared_row(query).is_some();
    let bare = |query: &Query| Query {
        root: Node::Unit,
        output: query.output.clone(),
        ctes: Vec::new(),
        tree: query.tree.clone(),
    };
    // What compares its only row with something is a query around it.
    match &mut Arc::make_mut(query).root {
        Node::Project { input, .. } if compared => {
            if let Node::Derived { query, .. } = &mut **input {
                *query = Arc::new(bare(query));
            }
        }
        _ => *query = Arc::new(bare(query)),
    }
}
