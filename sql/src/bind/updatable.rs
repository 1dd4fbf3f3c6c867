//! Views that can be changed: INSERT, UPDATE and DELETE of a simple view are those of its table (manual, CREATE VIEW, "Updatable
//! Views").
//!
//! A view is simple if what its query is bound to is a list of expressions over the rows of one table for which a condition
//! holds. Rows are then the table's, names are the view's, and a column that is no column of the table takes no value. The
//! view's owner must be allowed on the table what the user must be allowed on the view.

use crate::bind::Binder;
use crate::bind::from::From;
use crate::bind::levels::columns_of_expr;
use crate::bind::scope::{ScopeItem, column_at};
use crate::bind::typed::Expr;
use crate::catalog::acl::Privileges;
use crate::catalog::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Alias, Body, Distinct, FromItem, TargetColumn};
use crate::plan::logical::{Node, Query};
use crate::sqlstate::SqlState;
use std::cell::Cell;
use std::sync::Arc;
use txn::TableLock;

/// What a statement does with the rows of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Insert,
    Update,
    Delete,
}

impl Change {
    pub(super) fn privilege(self) -> Privileges {
        match self {
            Change::Insert => Privileges::INSERT,
            Change::Update => Privileges::UPDATE,
            Change::Delete => Privileges::DELETE,
        }
    }

    /// As messages say it of a relation.
    fn verb(self) -> &'static str {
        match self {
            Change::Insert => "insert into",
            Change::Update => "update",
            Change::Delete => "delete from",
        }
    }

    fn hint(self) -> String {
        let (what, command) = match self {
            Change::Insert => ("inserting into", "INSERT"),
            Change::Update => ("updating", "UPDATE"),
            Change::Delete => ("deleting from", "DELETE"),
        };
        format!(
            "To enable {what} the view, provide an INSTEAD OF {command} trigger or an unconditional ON {command} DO INSTEAD rule."
        )
    }
}

/// A simple view that a statement changes.
#[derive(Debug)]
pub(super) struct Through {
    view: Arc<Relation>,
    change: Change,
    /// Its columns over a row of the table.
    columns: Vec<Expr>,
    /// Which of the table's columns, by index, each of them is.
    table_columns: Vec<Option<usize>>,
    /// The table's rows that it shows, and how many columns they have.
    rows: (Node, usize),
    table: Arc<Relation>,
}

impl Binder<'_> {
    /// The table behind a view that is to be changed, and the way there.
    ///
    /// # Errors
    /// 55000 for a view that is not simple; 0A000 for one over another view.
    pub(super) fn through(
        &self,
        view: &Arc<Relation>,
        text: &str,
        change: Change,
    ) -> Result<Through> {
        let parsed = crate::parse::parse_query(text)?;
        let inner = Binder::new(self.environment(), text, &[]);
        inner.depth.set(self.depth.get());
        let query = inner.top_query(&parsed)?;
        if let Some(why) = complication(&parsed, &query) {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("cannot {} view \"{}\"", change.verb(), view.name),
            )
            .detail(format!("{why} are not automatically updatable."))
            .hint(change.hint()));
        }
        let simple = simple(&query);
        let Some((node, scan @ Node::Scan { relation, columns: read, system, .. }, columns)) =
            simple
        else {
            let what = format!("changing a view like \"{}\"", view.name);
            return Err(SqlError::unsupported(format!("{what} is")));
        };
        debug_assert!(matches!(scan, Node::Scan { item: 0, .. }), "it is the only one");
        let output = &query.output;
        let columns: Vec<Expr> = match columns {
            Some(columns) => columns[..output.len()].to_vec(),
            None => (0..output.len()).map(|at| column_at(at, output[at].ty)).collect(),
        };
        let table_columns: Vec<_> = columns
            .iter()
            .map(|column| match column {
                Expr::Column { level: 0, column, .. } => read.get(*column as usize).copied(),
                _ => None,
            })
            .collect();
        if change != Change::Delete && table_columns.iter().all(Option::is_none) {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("cannot {} view \"{}\"", change.verb(), view.name),
            )
            .detail("Views that have no updatable columns are not automatically updatable.")
            .hint(change.hint()));
        }
        let mut beyond = false;
        for column in &columns {
            columns_of_expr(&mut column.clone(), 0, &mut |expr, depth| {
                if let Expr::Column { level, column, .. } = expr {
                    beyond |= *level == depth && *column as usize >= read.len();
                }
            });
        }
        if beyond && change == Change::Insert {
            let what = "inserting into a view that shows system columns";
            return Err(SqlError::unsupported(format!("{what} is")));
        }
        let through = Through {
            view: Arc::clone(view),
            change,
            table_columns,
            rows: (node.clone(), read.len() + system.len()),
            table: Arc::clone(relation),
            columns,
        };
        self.hold(through.table.oid, TableLock::RowExclusive);
        self.require_as(Some(view.owner), through.table.oid, None, change.privilege());
        if change != Change::Insert {
            self.require_of_view(inner, view);
        }
        Ok(through)
    }
}

impl Through {
    /// The table that is changed.
    pub(super) fn table(&self) -> &Arc<Relation> {
        &self.table
    }

    /// The names of the view's columns over a row of the table, the first in the scope.
    pub(super) fn item(&self, binder: &Binder<'_>, alias: Option<&Alias>) -> Result<ScopeItem> {
        let mut item = binder.view_item(&self.view, alias, &self.columns)?;
        item.scan = Some(0);
        Ok(item)
    }

    /// The rows that the view shows.
    pub(super) fn rows(
        &self,
        binder: &Binder<'_>,
        alias: Option<&Alias>,
        scans: &Cell<u32>,
    ) -> Result<From> {
        scans.set(1);
        let (node, width) = self.rows.clone();
        Ok(From { node, items: vec![self.item(binder, alias)?], width })
    }

    /// The table's column behind one of the view's that a statement names.
    pub(super) fn named(&self, binder: &Binder<'_>, column: &TargetColumn) -> Result<usize> {
        let number = binder.target_column(&self.view, column)?;
        self.table_columns.get(number).copied().flatten().ok_or_else(|| self.refusal(number))
    }

    /// The table's columns behind the view's first ones, as far as there are such, and what is said of the next.
    pub(super) fn leading(&self) -> (Vec<usize>, Option<SqlError>) {
        let columns: Vec<usize> = self.table_columns.iter().map_while(|column| *column).collect();
        let next = columns.len();
        (columns, (next < self.table_columns.len()).then(|| self.refusal(next)))
    }

    /// The table's column takes a value: the user must be allowed that of the view's column, and its owner of the table's.
    pub(super) fn require(&self, binder: &Binder<'_>, column: usize) {
        let shown = self.table_columns.iter().position(|known| *known == Some(column));
        let privilege = self.change.privilege();
        let attribute = shown.map(|shown| shown as i16 + 1);
        binder.require_column(self.view.oid, attribute, privilege);
        let attribute = Some(column as i16 + 1);
        binder.require_as(Some(self.view.owner), self.table.oid, attribute, privilege);
    }

    fn refusal(&self, column: usize) -> SqlError {
        let (verb, view) = (self.change.verb(), &self.view);
        SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!(
                "cannot {verb} column \"{}\" of view \"{}\"",
                view.columns[column].name, view.name
            ),
        )
        .detail("View columns that are not columns of their base relation are not updatable.")
    }
}

/// What a query is but for the order of its rows: what it reads its rows from, the scan at the bottom of that, its columns.
fn simple(query: &Query) -> Option<(&Node, &Node, Option<&[Expr]>)> {
    let (mut node, mut columns) = (&query.root, None);
    loop {
        match node {
            Node::Sort { input, .. } => node = input,
            Node::Project { input, columns: made } if columns.is_none() => {
                columns = Some(&made[..]);
                node = input;
            }
            _ => break,
        }
    }
    let mut scan = node;
    while let Node::Filter { input, .. } = scan {
        scan = input;
    }
    let of_table = matches!(
        scan,
        Node::Scan { relation, .. }
            if matches!(relation.kind, RelationKind::Table { .. }) && relation.stored_query.is_none()
    );
    of_table.then_some((node, scan, columns))
}

/// Why a view's query is not simple, as PostgreSQL says it, in its order.
fn complication(parsed: &ast::Query, bound: &Query) -> Option<&'static str> {
    let single = "Views that do not select from a single table or view";
    let select = match &parsed.body {
        Body::Select(select) => select,
        Body::SetOperation { .. } => return Some("Views containing UNION, INTERSECT, or EXCEPT"),
        Body::Values(_) => return Some(single),
    };
    let (mut aggregates, mut windows, mut sets) = (false, false, false);
    let mut node = &bound.root;
    loop {
        node = match node {
            Node::Aggregate { input, .. } => {
                aggregates = true;
                input
            }
            Node::Window { input, .. } => {
                windows = true;
                input
            }
            Node::ProjectSet { input, .. } => {
                sets = true;
                input
            }
            Node::Sort { input, .. }
            | Node::Project { input, .. }
            | Node::Filter { input, .. }
            | Node::Distinct { input, .. }
            | Node::Limit { input, .. } => input,
            _ => break,
        };
    }
    let from_one = matches!(&select.from[..], [FromItem::Table { .. } | FromItem::Sample { .. }]);
    [
        (select.distinct != Distinct::No, "Views containing DISTINCT"),
        (!select.group_by.is_empty(), "Views containing GROUP BY"),
        (select.having.is_some(), "Views containing HAVING"),
        (parsed.with.is_some(), "Views containing WITH"),
        (parsed.limit.is_some() || parsed.offset.is_some(), "Views containing LIMIT or OFFSET"),
        (aggregates, "Views that return aggregate functions"),
        (windows, "Views that return window functions"),
        (sets, "Views that return set-returning functions"),
        (!from_one, single),
        (matches!(&select.from[..], [FromItem::Sample { .. }]), "Views containing TABLESAMPLE"),
    ]
    .into_iter()
    .find_map(|(is, why)| is.then_some(why))
}
