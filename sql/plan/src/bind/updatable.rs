//! Simple views: those that can be changed, since their rows are rows of one table or view (manual, CREATE VIEW, "Updatable
//! Views"; `view_query_is_auto_updatable`).
//!
//! A view is simple if what its query is bound to is a list of expressions over the rows of one relation for which a condition
//! holds. `through` says what changing one does; here is which views are simple, and which of their columns take a value.

use crate::bind::kept::{Opening, open_view};
use crate::bind::levels::{columns_of_expr, raise};
use crate::bind::logical::{Node, Query};
use crate::bind::scope::column_at;
use crate::bind::shape::Shape;
use crate::bind::tree::{BodyTree, DistinctTree, FromTree, QueryTree};
use crate::bind::typed::Expr;
use crate::bind::{Binder, Environment};
use crate::catalog::definition::ViewQuery;
use crate::catalog::{Relation, RelationKind};
use crate::error::Result;
use crate::parse::ast::{self, Body, Distinct, FromItem};
use crate::types::Oid;
use std::sync::Arc;

pub(super) const NOT_OF_ONE: &str = "Views that do not select from a single table or view";
const NO_COLUMN: &str = "Views that have no updatable columns";

/// A view that can be changed.
#[derive(Debug)]
pub(super) struct SimpleView {
    /// The table or view that it reads.
    pub base: Arc<Relation>,
    /// The scan of the table or, of a view, what it is bound to.
    pub rows: Node,
    /// How many columns of the rows are the base's own; system columns stand behind them.
    pub width: usize,
    /// Its columns over a row of the base.
    pub columns: Vec<Expr>,
    /// Which of the base's columns, by index, each of them is, or why it takes no value.
    pub base_columns: Vec<std::result::Result<usize, &'static str>>,
    /// What holds for the rows that it shows, over a row of the base.
    pub conditions: Vec<Expr>,
}

impl SimpleView {
    /// Of this query, bound so that a view which it reads is named and not opened; if it is not simple, why, as PostgreSQL
    /// says it.
    pub(super) fn of(
        clauses: &Clauses,
        query: &Query,
    ) -> std::result::Result<SimpleView, &'static str> {
        if let Some(why) = complication(clauses, query) {
            return Err(why);
        }
        let (node, made) = below_columns(&query.root);
        let (mut rows, mut conditions) = (node, Vec::new());
        while let Node::Filter { input, conjuncts } = rows {
            conditions.extend_from_slice(conjuncts);
            rows = input;
        }
        let (base, own, width) = match rows {
            Node::Scan { relation, columns, .. }
                if matches!(relation.kind, RelationKind::View { .. }) =>
            {
                let width = columns.len();
                (Arc::clone(relation), (0..width).collect(), width)
            }
            Node::Scan { relation, columns, .. } => {
                let is_table = matches!(relation.kind, RelationKind::Table { .. })
                    && relation.stored_query.is_none();
                if !is_table && !matches!(relation.kind, RelationKind::System) {
                    return Err(NOT_OF_ONE);
                }
                (Arc::clone(relation), columns.clone(), columns.len())
            }
            _ => return Err(NOT_OF_ONE),
        };
        let output = &query.output;
        let columns: Vec<Expr> = match made {
            Some(columns) => columns[..output.len()].to_vec(),
            None => (0..output.len()).map(|at| column_at(at, output[at].ty)).collect(),
        };
        let base_columns = columns.iter().map(|column| base_column(&base, &own, column)).collect();
        Ok(SimpleView { rows: rows.clone(), base, width, columns, base_columns, conditions })
    }

    /// Why it takes no values, if it takes none.
    pub(super) fn without_columns(&self) -> Option<&'static str> {
        self.base_columns.iter().all(std::result::Result::is_err).then_some(NO_COLUMN)
    }

    /// Whether an expression over a row of the base names one of its system columns.
    pub(super) fn names_system_columns(&self, expr: &Expr) -> bool {
        let mut found = false;
        columns_of_expr(&mut expr.clone(), 0, &mut |place, depth| {
            if let Expr::Column { level, column, .. } = place {
                found |= *level == depth && *column as usize >= self.width;
            }
        });
        found
    }
}

/// An expression over a row of `columns`, over what these are.
pub(super) fn over_base(mut expr: Expr, columns: &[Expr]) -> Expr {
    columns_of_expr(&mut expr, 0, &mut |place, depth| {
        let Expr::Column { level, column, .. } = place else { return };
        if *level == depth {
            let mut value = columns[*column as usize].clone();
            raise(&mut value, depth);
            *place = value;
        }
    });
    expr
}

/// What can be done with the rows of a view as far as its own query says: its base, and which of the base's columns, by
/// index, each of its live columns is; none if it is not simple.
///
/// # Errors
/// Those of binding it.
pub fn simple_columns(
    environment: Environment<'_>,
    query: &ViewQuery,
) -> Result<Option<(Oid, Vec<Option<usize>>)>> {
    let opening = open_view(environment.catalog, query)?;
    // Most views that are not simple are seen to be none before they are bound.
    if !opening.clauses().reads_one {
        return Ok(None);
    }
    Ok(simple(environment, &opening)?.ok().map(|view| {
        let columns = view.base_columns.into_iter().map(std::result::Result::ok);
        (view.base.oid, columns.collect())
    }))
}

/// Why a view of this query cannot have WITH CHECK OPTION; none if it can.
///
/// # Errors
/// Those of binding it.
pub fn unfit_for_check(
    environment: Environment<'_>,
    query: &ViewQuery,
) -> Result<Option<&'static str>> {
    let opening = open_view(environment.catalog, query)?;
    Ok(match simple(environment, &opening)? {
        Err(why) => Some(why),
        Ok(view) => view.without_columns(),
    })
}

/// A view of this query, if it is simple; else why it is not.
fn simple(
    environment: Environment<'_>,
    opening: &Opening<'_>,
) -> Result<std::result::Result<SimpleView, &'static str>> {
    let own = Binder::new(environment, opening.text(), &[]);
    let query = opening.bound(&Binder { opaque_views: true, ..own })?;
    Ok(SimpleView::of(&opening.clauses(), &query))
}

/// Which of the columns of `base` that stand in `own` an expression is, or why it takes no value.
fn base_column(
    base: &Relation,
    own: &[usize],
    column: &Expr,
) -> std::result::Result<usize, &'static str> {
    match column {
        Expr::Column { level: 0, column, .. } => own
            .get(*column as usize)
            .copied()
            .ok_or("View columns that refer to system columns are not updatable."),
        Expr::Row(_, ty, _) if ty.oid == base.row_type.0 => {
            Err("View columns that return whole-row references are not updatable.")
        }
        _ => Err("View columns that are not columns of their base relation are not updatable."),
    }
}

/// What a query reads its rows from, but for their order, and the columns that it makes of them, if it makes any.
fn below_columns(mut node: &Node) -> (&Node, Option<&[Expr]>) {
    let mut columns = None;
    loop {
        match node {
            Node::Sort { input, .. } | Node::LockRows { input, .. } => node = input,
            Node::Project { input, columns: made } if columns.is_none() => {
                columns = Some(&made[..]);
                node = input;
            }
            _ => return (node, columns),
        }
    }
}

/// What decides whether a view is simple, and its rows do not show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clauses {
    /// It is no SELECT, and why that is not simple.
    pub other: Option<&'static str>,
    pub distinct: bool,
    pub groups: bool,
    pub having: bool,
    pub with: bool,
    pub limit: bool,
    /// FROM has one item, and that is a name.
    pub reads_one: bool,
    pub sample: bool,
}

impl Clauses {
    const COMBINED: &str = "Views containing UNION, INTERSECT, or EXCEPT";

    /// Of a text.
    pub(super) fn written(parsed: &ast::Query) -> Clauses {
        let limit = parsed.limit.is_some() || parsed.offset.is_some();
        let shared = Clauses { with: parsed.with.is_some(), limit, ..Clauses::default() };
        match &parsed.body {
            Body::SetOperation { .. } => Clauses { other: Some(Clauses::COMBINED), ..shared },
            Body::Values(_) => Clauses { other: Some(NOT_OF_ONE), ..shared },
            Body::Select(select) => Clauses {
                distinct: select.distinct != Distinct::No,
                groups: !select.group_by.is_empty(),
                having: select.having.is_some(),
                reads_one: matches!(
                    &select.from[..],
                    [FromItem::Table { .. } | FromItem::Sample { .. }]
                ),
                sample: matches!(&select.from[..], [FromItem::Sample { .. }]),
                ..shared
            },
        }
    }

    /// Of a tree.
    pub(super) fn kept(tree: &QueryTree) -> Clauses {
        let limit = tree.limit.is_some() || tree.offset.is_some();
        let shared = Clauses { with: tree.with.is_some(), limit, ..Clauses::default() };
        match &tree.body {
            BodyTree::SetOperation { .. } => Clauses { other: Some(Clauses::COMBINED), ..shared },
            BodyTree::Values { .. } => Clauses { other: Some(NOT_OF_ONE), ..shared },
            BodyTree::Select(select) => {
                let item = match &select.from.list[..] {
                    [(item, _)] => Some(item),
                    _ => None,
                };
                Clauses {
                    distinct: !matches!(select.distinct, DistinctTree::No),
                    groups: !select.groups.items.is_empty(),
                    having: select.having.is_some(),
                    reads_one: matches!(item, Some(FromTree::Table { .. } | FromTree::With { .. })),
                    sample: matches!(item, Some(FromTree::Table { sample: Some(_), .. })),
                    ..shared
                }
            }
        }
    }
}

/// Why a view's query is not simple, as PostgreSQL says it, in its order.
fn complication(clauses: &Clauses, bound: &Query) -> Option<&'static str> {
    if clauses.other.is_some() {
        return clauses.other;
    }
    let shape = Shape::of(&bound.root);
    [
        (clauses.distinct, "Views containing DISTINCT"),
        (clauses.groups, "Views containing GROUP BY"),
        (clauses.having, "Views containing HAVING"),
        (clauses.with, "Views containing WITH"),
        (clauses.limit, "Views containing LIMIT or OFFSET"),
        (shape.grouped.is_some(), "Views that return aggregate functions"),
        (shape.windows, "Views that return window functions"),
        (shape.sets, "Views that return set-returning functions"),
        (!clauses.reads_one, NOT_OF_ONE),
        (clauses.sample, "Views containing TABLESAMPLE"),
    ]
    .into_iter()
    .find_map(|(is, why)| is.then_some(why))
}
