//! Changing views: INSERT, UPDATE and DELETE of a simple view are those of its table (`rewriteTargetView`).
//!
//! Rows are the table's, names are the view's, and a column that is no column of the table takes no value. A view that reads
//! another one is changed through both; one below that has INSTEAD OF triggers stands for the table. Each view's owner must be allowed on what the view reads what the user must be allowed
//! on the view, unless it is one of security_invoker.
//!
//! WITH CHECK OPTION: a new row must be one that the view shows, and with CASCADED one that every view below it shows, too.
//! The conditions of the views below are asked first.

use crate::bind::from::From;
use crate::bind::kept::open_view;
use crate::bind::levels::columns_of_expr;
use crate::bind::logical::{Node, TARGET, ViewCheck};
use crate::bind::scope::ScopeItem;
use crate::bind::typed::Expr;
use crate::bind::updatable::{SimpleView, over_base};
use crate::bind::{Binder, Holder, Required, not_within};
use crate::catalog::acl::Privileges;
use crate::catalog::definition::ViewQuery;
use crate::catalog::trigger;
use crate::catalog::{CheckOption, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Alias, TargetColumn};
use crate::parse::depth;
use crate::sqlstate::SqlState;
use crate::types::Oid;
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
    /// The event of triggers.
    pub(super) fn event(self) -> i16 {
        match self {
            Change::Insert => trigger::INSERT,
            Change::Update => trigger::UPDATE,
            Change::Delete => trigger::DELETE,
        }
    }

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

    /// 55000 for a view through which nothing is changed.
    pub(super) fn refused(self, view: &Relation, why: &str) -> SqlError {
        let verb = self.verb();
        SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("cannot {verb} view \"{}\"", view.name),
        )
        .detail(format!("{why} are not automatically updatable."))
        .hint(self.hint())
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
    /// Which column of what it reads, by index, each of them is, or why it takes no value.
    base_columns: Vec<std::result::Result<usize, &'static str>>,
    /// The view that it reads, if it reads one.
    below: Option<Box<Through>>,
    /// The table's rows that it shows, and how many columns they have.
    rows: (Node, usize),
    /// What holds for them, if it says anything, as far as new rows are held against it; the views below come first.
    checks: Vec<ViewCheck>,
    /// The conditions of all these views, the one below first, and whether any of them is on system columns.
    conditions: (Vec<ViewCheck>, bool),
    /// What its owner, and those of the views below, must be allowed to read.
    reads: Vec<Required>,
    table: Arc<Relation>,
}

impl Binder<'_> {
    /// The table behind a view that is to be changed, and the way there.
    ///
    /// # Errors
    /// 55000 for a view that is not simple.
    pub(super) fn through(
        &self,
        view: &Arc<Relation>,
        query: &ViewQuery,
        change: Change,
    ) -> Result<Through> {
        self.through_from(&mut Vec::new(), view, query, (change, false))
    }

    /// The same where it is read by the views `above`; `cascaded`: one of these checks new rows against this one's condition.
    fn through_from(
        &self,
        above: &mut Vec<Oid>,
        view: &Arc<Relation>,
        query: &ViewQuery,
        (change, cascaded): (Change, bool),
    ) -> Result<Through> {
        let refused = |why: &str| change.refused(view, why);
        not_within(view, above)?;
        let opening = open_view(self.catalog, query)?;
        let inner = self.within_view(view, opening.text())?;
        // Of a view that it reads the columns are asked here, and the query below.
        let clauses = opening.clauses();
        inner.opaque_base.set(!clauses.with && clauses.reads_one);
        inner.depth.set(self.depth.get());
        let query = opening.bound(&inner)?;
        let simple = SimpleView::of(&clauses, &query).map_err(refused)?;
        if let Some(why) = simple.without_columns().filter(|_| change != Change::Delete) {
            return Err(refused(why));
        }
        let beyond = |expr: &Expr| simple.names_system_columns(expr);
        if change == Change::Insert && simple.columns.iter().any(beyond) {
            let what = "inserting into a view that shows system columns";
            return Err(SqlError::unsupported(format!("{what} is")));
        }
        let own = view.check_option();
        let cascaded = cascaded || own == Some(CheckOption::Cascaded);
        let checked = change != Change::Delete && (cascaded || own.is_some());
        let on_system_columns = simple.conditions.iter().any(beyond);
        if checked && on_system_columns {
            let what = "WITH CHECK OPTION of a condition on system columns";
            return Err(SqlError::unsupported(format!("{what} is")));
        }
        let SimpleView { base, rows, width, columns, base_columns, conditions } = simple;
        let privilege = change.privilege();
        self.hold(base.oid, TableLock::RowExclusive);
        self.require_as(Holder::of(view), base.oid, None, privilege);
        let by_triggers = base.is_changed_by_triggers(change.event());
        let below = match &base.kind {
            RelationKind::View { query } if !by_triggers => {
                above.push(view.oid);
                let below = depth::within(opening.height(), || {
                    self.deeper(|| self.through_from(above, &base, query, (change, cascaded)))
                })?;
                Some(Box::new(below))
            }
            _ => None,
        };
        let over_table = |expr: Expr| match &below {
            Some(below) => over_base(expr, &below.columns),
            None => expr,
        };
        let conditions: Vec<Expr> = conditions.into_iter().map(over_table).collect();
        let mut checks = below.as_ref().map_or_else(Vec::new, |below| below.checks.clone());
        let mut shown =
            below.as_ref().map_or((Vec::new(), false), |below| below.conditions.clone());
        shown.1 |= on_system_columns;
        if !conditions.is_empty() {
            let check = ViewCheck { view: Arc::clone(&view.name), conditions: conditions.clone() };
            checks.extend(checked.then(|| check.clone()));
            shown.0.push(check);
        }
        let (base_rows, row_width, table) = match &below {
            Some(below) => (below.rows.0.clone(), below.rows.1, Arc::clone(&below.table)),
            None if by_triggers => (inner.target_rows(&base, None)?.node, width, base),
            None => {
                let mut rows = rows;
                let system = match &mut rows {
                    Node::Scan { system, item, .. } => {
                        *item = TARGET;
                        system.len()
                    }
                    _ => 0,
                };
                (rows, width + system, self.changed_table(base, change)?)
            }
        };
        let mut rows = base_rows;
        if !conditions.is_empty() {
            rows = Node::Filter { input: Box::new(rows), conjuncts: conditions };
        }
        if view.is_security_barrier() {
            rows = Node::Barrier { input: Box::new(rows), alias: None };
        }
        let reads = self.read_by_view(inner, view);
        Ok(Through {
            view: Arc::clone(view),
            change,
            columns: columns.into_iter().map(over_table).collect(),
            base_columns,
            rows: (rows, row_width),
            checks,
            conditions: shown,
            reads,
            table,
            below,
        })
    }
}

impl Through {
    /// The table that is changed.
    pub(super) fn table(&self) -> &Arc<Relation> {
        &self.table
    }

    /// The view that was named.
    pub(super) fn view(&self) -> &Relation {
        &self.view
    }

    /// What new rows are held against.
    pub(super) fn checks(&self) -> &[ViewCheck] {
        &self.checks
    }

    /// What these views show, for DO UPDATE.
    ///
    /// # Errors
    /// 0A000 where that is said of system columns.
    pub(super) fn shows(&self) -> Result<Vec<ViewCheck>> {
        if self.conditions.1 {
            let what = "ON CONFLICT DO UPDATE of a view with a condition on system columns";
            return Err(SqlError::unsupported(format!("{what} is")));
        }
        Ok(self.conditions.0.clone())
    }

    /// The names of the view's columns over a row of the table that begins at `offset`.
    pub(super) fn item(
        &self,
        binder: &Binder<'_>,
        alias: Option<&Alias>,
        offset: usize,
    ) -> Result<ScopeItem> {
        let mut columns = self.columns.clone();
        for expr in &mut columns {
            columns_of_expr(expr, 0, &mut |place, depth| {
                if let Expr::Column { level, column, .. } = place
                    && *level == depth
                {
                    *column += offset as u32;
                }
            });
        }
        binder.view_item(&self.view, alias, &columns)
    }

    /// The rows that the view shows.
    pub(super) fn rows(&self, binder: &Binder<'_>, alias: Option<&Alias>) -> Result<From> {
        let (node, width) = self.rows.clone();
        let mut item = self.item(binder, alias, 0)?;
        item.scan = Some(TARGET);
        Ok(From { node, items: vec![item], width, trees: Vec::new() })
    }

    /// The statement reads columns of the view: whoever must be allowed to read what is behind them.
    pub(super) fn require_reads(&self, binder: &Binder<'_>) {
        self.reads.iter().for_each(|wanted| binder.require_also(wanted.clone()));
        if let Some(below) = &self.below {
            below.require_reads(binder);
        }
    }

    /// The same where the statement, all of which is bound, has been found to read any.
    pub(super) fn require_reads_if_any(&self, binder: &Binder<'_>) {
        if binder.reads_any(self.view.oid) {
            self.require_reads(binder);
        }
    }

    /// The table's column behind one of the view's that a statement names.
    pub(super) fn named(&self, binder: &Binder<'_>, column: &TargetColumn) -> Result<usize> {
        self.table_column(binder.target_column(&self.view, column)?)
    }

    /// The table's column behind one of the view's, by index.
    fn table_column(&self, column: usize) -> Result<usize> {
        match (self.base_columns[column], &self.below) {
            (Err(why), _) => Err(self.refusal(column, why)),
            (Ok(column), Some(below)) => below.table_column(column),
            (Ok(column), None) => Ok(column),
        }
    }

    /// The table's columns behind the view's first ones, as far as there are such, and what is said of the next.
    pub(super) fn leading(&self) -> (Vec<usize>, Option<SqlError>) {
        let mut columns = Vec::new();
        for column in 0..self.base_columns.len() {
            match self.table_column(column) {
                Ok(column) => columns.push(column),
                Err(refused) => return (columns, Some(refused)),
            }
        }
        (columns, None)
    }

    /// The view and, by index, its column that has a default for the table's column.
    pub(super) fn own_default(&self, column: usize) -> Option<(&Relation, usize)> {
        let is_it = |at: &usize| self.table_column(*at).is_ok_and(|behind| behind == column);
        let mut own = (0..self.base_columns.len()).filter(is_it);
        let own = own.find(|at| self.view.columns[*at].default.is_some())?;
        Some((&self.view, own))
    }

    /// The same of the outermost of the views that has one.
    pub(super) fn default_of(&self, column: usize) -> Option<(&Relation, usize)> {
        let below = || self.below.as_ref()?.default_of(column);
        self.own_default(column).or_else(below)
    }

    /// 0A000 for a default of what takes no value.
    pub(super) fn refuse_defaults(&self) -> Result<()> {
        for (at, column) in self.view.columns.iter().enumerate() {
            if column.default.is_some() {
                self.table_column(at)?;
            }
        }
        self.below.as_ref().map_or(Ok(()), |below| below.refuse_defaults())
    }

    /// The table's column that one of the view's, by index, is, or else the expression that it is.
    pub(super) fn behind(&self, column: usize) -> std::result::Result<usize, &Expr> {
        self.table_column(column).map_err(|_| &self.columns[column])
    }

    /// The table's column takes a value: the user must be allowed that of the view's column, and the views' owners of those
    /// that are behind it.
    pub(super) fn require(&self, binder: &Binder<'_>, column: usize, privilege: Privileges) {
        self.require_as(binder, Holder::Asker, column, privilege);
        let at = Some(column as i16 + 1);
        let last = std::iter::successors(Some(self), |view| view.below.as_deref()).last();
        let holder = Holder::of(&last.unwrap_or(self).view);
        binder.require_as(holder, self.table.oid, at, privilege);
    }

    /// That of the columns of this view and of those below it.
    fn require_as(
        &self,
        binder: &Binder<'_>,
        holder: Holder,
        column: usize,
        privilege: Privileges,
    ) {
        let behind = |at: &usize| self.table_column(*at).is_ok_and(|behind| behind == column);
        let shown = (0..self.base_columns.len()).find(behind);
        binder.require_as(holder, self.view.oid, shown.map(|at| at as i16 + 1), privilege);
        if let Some(below) = &self.below {
            below.require_as(binder, Holder::of(&self.view), column, privilege);
        }
    }

    fn refusal(&self, column: usize, why: &str) -> SqlError {
        let (verb, view) = (self.change.verb(), &self.view);
        SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!(
                "cannot {verb} column \"{}\" of view \"{}\"",
                view.columns[column].name, view.name
            ),
        )
        .detail(why)
    }
}
