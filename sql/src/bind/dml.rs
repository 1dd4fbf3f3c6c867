//! INSERT, UPDATE, DELETE: the rows they work on, the values they assign, ON CONFLICT, RETURNING.

use crate::bind::expression::Place;
use crate::bind::from::{From, own_ctes};
use crate::bind::query::{Outside, conjuncts, cross};
use crate::bind::scope::{Scope, ScopeItem, column_at};
use crate::bind::typed::{Expr, Literal};
use crate::bind::with::CteScope;
use crate::bind::{Binder, Environment, bind_expression, table_item};
use crate::catalog::acl::Privileges;
use crate::catalog::{ConstraintKind, Identity, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    self, Assignment, Body, ConflictTarget, ExprKind, Ident, Target, TargetColumn,
};
use crate::plan::logical::{ConflictUpdate, Modify, ModifyKind, Node, OnConflict, Output, Query};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::cell::Cell;
use std::sync::Arc;
use txn::TableLock;

/// Nothing encloses a data-modifying statement, even in WITH.

impl Binder<'_> {
    /// The table that a statement changes.
    fn target_table(&self, name: &ast::ObjectName, verb: &str) -> Result<Arc<Relation>> {
        let relation = self.relation(name)?;
        match &relation.kind {
            RelationKind::Table { .. } if relation.stored_query.is_some() => Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change materialized view \"{}\"", relation.name),
            )),
            RelationKind::Table { .. } => {
                self.hold(relation.oid, TableLock::RowExclusive);
                Ok(relation)
            }
            RelationKind::System => Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied: \"{}\" is a system catalog", relation.name),
            )),
            RelationKind::View { .. } => {
                Err(SqlError::unsupported(format!("{verb} a view (\"{}\") is", relation.name)))
            }
            RelationKind::Sequence(_) => Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change sequence \"{}\"", relation.name),
            )),
        }
    }

    /// The column that is assigned to, by index.
    fn target_column(&self, relation: &Relation, column: &TargetColumn) -> Result<usize> {
        let at = self.position(column.at);
        relation.column(&column.name).ok_or_else(|| {
            let system = super::SYSTEM_COLUMNS.iter().any(|(_, name, _)| **name == *column.name);
            if system {
                SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("cannot assign to system column \"{}\"", column.name),
                )
            } else {
                SqlError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!(
                        "column \"{}\" of relation \"{}\" does not exist",
                        column.name, relation.name
                    ),
                )
            }
            .at(at)
        })
    }

    pub(super) fn environment(&self) -> Environment<'_> {
        Environment { catalog: self.catalog, path: self.path, constants: self.constants }
    }

    /// A column's DEFAULT, NULL if it has none.
    pub(super) fn default_value(&self, relation: &Relation, column: usize) -> Result<Expr> {
        let column = &relation.columns[column];
        match &column.default {
            Some(text) if !column.generated => {
                let parsed = crate::parse::parse_expression(text)?;
                let wanted = Some((column.ty, &*column.name));
                bind_expression(
                    self.environment(),
                    text,
                    &parsed,
                    None,
                    wanted,
                    "DEFAULT expressions",
                )
            }
            // A generated column is filled in behind the others.
            Some(_) | None => Ok(Expr::Constant(Literal::Null, column.ty)),
        }
    }

    /// The table's CHECK constraints over its live columns.
    pub(super) fn checks(&self, relation: &Relation) -> Result<Vec<(usize, Expr)>> {
        let mut bound = Vec::new();
        for (number, constraint) in relation.constraints.iter().enumerate() {
            if let ConstraintKind::Check(text) = &constraint.kind {
                let parsed = crate::parse::parse_expression(text)?;
                let expr = bind_expression(
                    self.environment(),
                    text,
                    &parsed,
                    Some(relation),
                    None,
                    "check constraints",
                )?;
                bound.push((number, expr));
            }
        }
        Ok(bound)
    }

    fn returning(
        &self,
        targets: &[Target],
        items: Vec<ScopeItem>,
        ctes: &CteScope<'_>,
    ) -> Result<Option<Vec<(Expr, Output)>>> {
        if targets.is_empty() {
            return Ok(None);
        }
        let mut scope = Scope::new(None, 0);
        scope.items = items;
        let bound = self.targets(targets, &Place::plain(&scope, Some(ctes), "RETURNING"), true)?;
        Ok(Some(bound.into_iter().map(|target| (target.expr.clone(), target.output())).collect()))
    }

    // --- INSERT ----------------------------------------------------------------------------------------------------

    pub(super) fn insert(
        &self,
        insert: &ast::Insert,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(insert.with.as_ref(), Outside::NOTHING, &scope)?;
        let relation = self.target_table(&insert.table, "inserting into")?;
        self.require(relation.oid, Privileges::INSERT);
        let live = live_columns(&relation);
        let columns = self.insert_columns(&relation, &live, &insert.columns)?;
        if insert.source.is_some() {
            for &column in &columns {
                self.require_column(relation.oid, Some(column as i16 + 1), Privileges::INSERT);
            }
        }
        let source = self.insert_source(insert, &relation, &live, &columns, &scope)?;
        let alias = insert.alias.clone().unwrap_or_else(|| relation.name.clone());
        let item = table_item(&relation, insert.alias.as_ref(), 0, &[]);
        let on_conflict = insert
            .on_conflict
            .as_ref()
            .map(|conflict| self.on_conflict(conflict, &relation, &item, &scope))
            .transpose()?;
        let returning = self.returning(&insert.returning, vec![item], &scope)?;
        let checks = self.checks(&relation)?;
        let update = on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref());
        let actions = match update {
            Some(update) => self.actions_of_update(&relation, &update.assignments)?,
            None => Vec::new(),
        };
        let kind = ModifyKind::Insert { source: Box::new(source), on_conflict };
        let (generated, computed) =
            (self.generated_columns(&relation)?, self.computed_indexes(&relation)?);
        let ctes = with;
        Ok(Modify { relation, alias, kind, returning, ctes, checks, generated, computed, actions })
    }

    /// The columns that values are given for, by index.
    fn insert_columns(
        &self,
        relation: &Relation,
        live: &[usize],
        named: &[TargetColumn],
    ) -> Result<Vec<usize>> {
        if named.is_empty() {
            return Ok(live.to_vec());
        }
        let mut columns = Vec::new();
        for column in named {
            let number = self.target_column(relation, column)?;
            if !column.path.is_empty() {
                return Err(SqlError::unsupported(
                    "inserting into an element or a field of a column is",
                )
                .at(self.position(column.at)));
            }
            if columns.contains(&number) {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{}\" specified more than once", column.name),
                )
                .at(self.position(column.at)));
            }
            columns.push(number);
        }
        Ok(columns)
    }

    /// Whole rows of the table, defaults filled in.
    fn insert_source(
        &self,
        insert: &ast::Insert,
        relation: &Relation,
        live: &[usize],
        columns: &[usize],
        ctes: &CteScope<'_>,
    ) -> Result<Node> {
        let types: Vec<SqlType> = live.iter().map(|&number| relation.columns[number].ty).collect();
        let Some(query) = &insert.source else {
            let row = live
                .iter()
                .map(|&number| self.default_value(relation, number))
                .collect::<Result<_>>()?;
            return Ok(Node::Values { rows: vec![row], types });
        };
        if let Body::Values(rows) = &query.body
            && query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.offset.is_none()
        {
            return self.insert_values(rows, insert, relation, live, columns, ctes, types);
        }
        let bound = self.query(query, Outside::NOTHING, Some(ctes), false)?;
        let at = first_target(query).map_or(0, |at| self.position(at));
        self.check_count(bound.output.len(), columns, insert, at, at)?;
        let given: Vec<SqlType> = bound.output.iter().map(|column| column.ty).collect();
        let literals = match &bound.root {
            Node::Project { columns, .. } => columns.clone(),
            _ => Vec::new(),
        };
        let values = given.iter().enumerate().map(|(place, ty)| {
            // An untyped literal of the select list is read as the column's type.
            match literals.get(place) {
                Some(literal @ Expr::Constant(..)) if ty.oid.0 == super::oid::UNKNOWN => {
                    literal.clone()
                }
                _ => column_at(place, *ty),
            }
        });
        let mut values: Vec<Expr> = values.collect();
        for (number, value) in columns.iter().zip(&mut values) {
            if !self.takes_value(insert, relation, *number)? {
                *value = self.default_value(relation, *number)?;
            }
        }
        let row = self.whole_row_of(relation, live, columns, values, |_| at)?;
        let input = Box::new(Node::Derived { query: Arc::new(bound), alias: "*SELECT*".into() });
        Ok(Node::Project { input, columns: row })
    }

    fn check_count(
        &self,
        given: usize,
        columns: &[usize],
        insert: &ast::Insert,
        extra_at: u32,
        missing_at: u32,
    ) -> Result<()> {
        if given > columns.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "INSERT has more expressions than target columns",
            )
            .at(extra_at));
        }
        if given < columns.len() && !insert.columns.is_empty() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "INSERT has more target columns than expressions",
            )
            .at(insert.columns.get(given).map_or(missing_at, |column| self.position(column.at))));
        }
        Ok(())
    }

    /// Whether a column takes the value that an INSERT gives; an identity column may take its own instead.
    fn takes_value(
        &self,
        insert: &ast::Insert,
        relation: &Relation,
        number: usize,
    ) -> Result<bool> {
        let column = &relation.columns[number];
        if column.generated {
            return Err(SqlError::new(
                SqlState::GENERATED_ALWAYS,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(format!("Column \"{}\" is a generated column.", column.name)));
        }
        match (column.identity, insert.overriding) {
            (Some(Identity::Always), None) => Err(SqlError::new(
                SqlState::GENERATED_ALWAYS,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(generated_always(&column.name))
            .hint("Use OVERRIDING SYSTEM VALUE to override.")),
            (Some(_), Some(false)) => Ok(false),
            _ => Ok(true),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one INSERT")]
    fn insert_values(
        &self,
        rows: &[Vec<ast::Expr>],
        insert: &ast::Insert,
        relation: &Relation,
        live: &[usize],
        columns: &[usize],
        ctes: &CteScope<'_>,
        types: Vec<SqlType>,
    ) -> Result<Node> {
        let scope = Scope::new(None, 0);
        let place = Place::plain(&scope, Some(ctes), "VALUES");
        let width = rows.first().map_or(0, Vec::len);
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            if row.len() != width {
                let at = row.first().map_or(0, |first| self.position(first.start()));
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "VALUES lists must all be the same length",
                )
                .at(at));
            }
            let extra_at = row.get(columns.len()).map_or(0, |extra| self.position(extra.start()));
            self.check_count(row.len(), columns, insert, extra_at, 0)?;
            let mut values = Vec::with_capacity(row.len());
            for (number, expr) in columns.iter().zip(row) {
                let given = !matches!(expr.kind, ExprKind::Default);
                values.push(if given && self.takes_value(insert, relation, *number)? {
                    self.expression(expr, &place)?
                } else {
                    self.default_value(relation, *number)?
                });
            }
            let at = |value: usize| self.position(row[value].start());
            bound.push(self.whole_row_of(relation, live, columns, values, at)?);
        }
        Ok(Node::Values { rows: bound, types })
    }

    /// All live columns: the values given, cast, and defaults for the rest.
    fn whole_row_of(
        &self,
        relation: &Relation,
        live: &[usize],
        columns: &[usize],
        values: Vec<Expr>,
        at: impl Fn(usize) -> u32,
    ) -> Result<Vec<Expr>> {
        let given = values.len();
        let mut values: Vec<Option<Expr>> = values.into_iter().map(Some).collect();
        live.iter()
            .map(|number| {
                let column = &relation.columns[*number];
                match columns[..given].iter().position(|target| target == number) {
                    Some(value) => {
                        let expr = values[value].take().expect("each value has one column");
                        self.assign(expr, column.ty, &column.name, at(value))
                    }
                    None => self.default_value(relation, *number),
                }
            })
            .collect()
    }

    fn on_conflict(
        &self,
        conflict: &ast::OnConflict,
        relation: &Arc<Relation>,
        item: &ScopeItem,
        ctes: &CteScope<'_>,
    ) -> Result<OnConflict> {
        let at = self.position(conflict.at);
        let arbiter = match &conflict.target {
            ConflictTarget::Any => {
                if conflict.update.is_some() {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                    )
                    .hint("For example, ON CONFLICT (column_name).")
                    .at(at));
                }
                None
            }
            ConflictTarget::Constraint(name) => {
                let found = relation.indexes.iter().find(|index| {
                    index.unique
                        && index.constraint.as_ref().is_some_and(|(_, known)| known == name)
                });
                let index = found.ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!(
                            "constraint \"{name}\" for table \"{}\" does not exist",
                            relation.name
                        ),
                    )
                })?;
                Some(index.oid)
            }
            ConflictTarget::Inferred(exprs, filter, _) => {
                for expr in exprs {
                    if let ExprKind::Column(parts) = &expr.kind
                        && let Some(number) = parts.last().and_then(|name| relation.column(name))
                    {
                        self.read_column(Some((relation.oid, number as i16 + 1)));
                    }
                }
                Some(self.arbiter(exprs, filter.as_ref(), relation)?)
            }
        };
        let update = conflict
            .update
            .as_ref()
            .map(|update| {
                self.require(relation.oid, Privileges::UPDATE);
                let mut scope = Scope::new(None, 0);
                let mut excluded =
                    table_item(relation, Some(&"excluded".into()), item.columns.len(), &[]);
                // Its columns are found by `excluded.a` only.
                excluded.columns_visible = false;
                scope.items = vec![item.clone(), excluded];
                let place = Place::plain(&scope, Some(ctes), "ON CONFLICT DO UPDATE");
                let assignments = self.assignments(&update.assignments, relation, &place)?;
                let filter = update
                    .filter
                    .as_ref()
                    .map(|filter| self.condition(filter, &place, "WHERE"))
                    .transpose()?;
                Ok::<_, SqlError>(ConflictUpdate { assignments, filter })
            })
            .transpose()?;
        Ok(OnConflict { arbiter, update })
    }

    // --- UPDATE, DELETE --------------------------------------------------------------------------------------------

    /// The rows that UPDATE and DELETE work on: the target's, then those of FROM or USING.
    fn changed_rows(
        &self,
        relation: &Arc<Relation>,
        alias: Option<&Ident>,
        others: &[ast::FromItem],
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        let scans = Cell::new(0);
        let alias = alias.map(|name| ast::Alias { name: name.clone(), columns: Vec::new() });
        let target = self.scan(relation, alias.as_ref(), &scans)?;
        if others.is_empty() {
            return Ok(target);
        }
        let rest = self.bind_list(others, Outside::NOTHING, ctes, &scans)?;
        let clash =
            rest.items.iter().find(|item| item.name_visible && item.name == target.items[0].name);
        if let Some(name) = clash.and_then(|item| item.name.as_ref()) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_ALIAS,
                format!("table name \"{name}\" specified more than once"),
            ));
        }
        let offset = target.width as u32;
        let mut items = target.items;
        for mut item in rest.items {
            for column in &mut item.columns {
                super::levels::columns_of_expr(&mut column.expr, 0, &mut |expr, depth| {
                    if let Expr::Column { level, column, .. } = expr
                        && *level == depth
                    {
                        *column += offset;
                    }
                });
            }
            items.push(item);
        }
        let width = target.width + rest.width;
        Ok(From { node: cross(target.node, rest.node, false), items, width })
    }

    pub(super) fn update(
        &self,
        update: &ast::Update,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(update.with.as_ref(), Outside::NOTHING, &scope)?;
        let relation = self.target_table(&update.table, "updating")?;
        self.require(relation.oid, Privileges::UPDATE);
        let from = self.changed_rows(&relation, update.alias.as_ref(), &update.from, &scope)?;
        let mut names = Scope::new(None, 0);
        names.items = from.items;
        let place = Place::plain(&names, Some(&scope), "UPDATE");
        let assignments = self.assignments(&update.assignments, &relation, &place)?;
        let mut node = from.node;
        if let Some(filter) = &update.filter {
            let place = Place::plain(&names, Some(&scope), "WHERE");
            let condition = self.condition(filter, &place, "WHERE")?;
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) };
        }
        let returning = self.returning(&update.returning, names.items, &scope)?;
        let checks = self.checks(&relation)?;
        let alias = update.alias.clone().unwrap_or_else(|| relation.name.clone());
        let actions = self.actions_of_update(&relation, &assignments)?;
        let kind = ModifyKind::Update { source: Box::new(node), assignments };
        let (generated, computed) =
            (self.generated_columns(&relation)?, self.computed_indexes(&relation)?);
        let ctes = with;
        Ok(Modify { relation, alias, kind, returning, ctes, checks, generated, computed, actions })
    }

    pub(super) fn delete(
        &self,
        delete: &ast::Delete,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(delete.with.as_ref(), Outside::NOTHING, &scope)?;
        let relation = self.target_table(&delete.table, "deleting from")?;
        self.require(relation.oid, Privileges::DELETE);
        let from = self.changed_rows(&relation, delete.alias.as_ref(), &delete.using, &scope)?;
        let mut names = Scope::new(None, 0);
        names.items = from.items;
        let mut node = from.node;
        if let Some(filter) = &delete.filter {
            let place = Place::plain(&names, Some(&scope), "WHERE");
            let condition = self.condition(filter, &place, "WHERE")?;
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) };
        }
        let returning = self.returning(&delete.returning, names.items, &scope)?;
        let alias = delete.alias.clone().unwrap_or_else(|| relation.name.clone());
        let kind = ModifyKind::Delete { source: Box::new(node) };
        let actions = self.actions_of_delete(&relation)?;
        let computed = self.computed_indexes(&relation)?;
        let (ctes, checks, generated) = (with, Vec::new(), Vec::new());
        Ok(Modify { relation, alias, kind, returning, ctes, checks, generated, computed, actions })
    }

    /// SET: column indices and their values, cast.
    fn assignments(
        &self,
        list: &[Assignment],
        relation: &Relation,
        place: &Place<'_>,
    ) -> Result<Vec<(usize, Expr)>> {
        // Which column, its value, and whether only parts of it have been assigned so far.
        let mut assigned: Vec<(usize, Expr, bool)> = Vec::new();
        let mut set = |column: &TargetColumn,
                       value: &dyn Fn(usize) -> Result<(Expr, u32)>|
         -> Result<()> {
            let number = self.target_column(relation, column)?;
            self.require_column(relation.oid, Some(number as i16 + 1), Privileges::UPDATE);
            let known = assigned.iter_mut().find(|(known, ..)| *known == number);
            let parts = !column.path.is_empty();
            if known.as_ref().is_some_and(|(.., known_parts)| !parts || !known_parts) {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("multiple assignments to same column \"{}\"", column.name),
                ));
            }
            let (value, at) = value(number)?;
            if parts {
                let whole = match &known {
                    Some((_, earlier, _)) => earlier.clone(),
                    None => super::assign::target_value(relation, number, place),
                };
                let changed = self.assigned_part(whole, &column.path, value, column, place, at)?;
                match known {
                    Some((_, earlier, _)) => *earlier = changed,
                    None => assigned.push((number, changed, true)),
                }
                return Ok(());
            }
            let target = &relation.columns[number];
            if target.generated {
                if at == 0 {
                    return Ok(());
                }
                return Err(SqlError::new(
                    SqlState::GENERATED_ALWAYS,
                    format!("column \"{}\" can only be updated to DEFAULT", target.name),
                )
                .detail(format!("Column \"{}\" is a generated column.", target.name)));
            }
            if target.identity == Some(Identity::Always) && at != 0 {
                return Err(SqlError::new(
                    SqlState::GENERATED_ALWAYS,
                    format!("column \"{}\" can only be updated to DEFAULT", target.name),
                )
                .detail(generated_always(&target.name)));
            }
            let value = self.assign(value, target.ty, &target.name, at)?;
            assigned.push((number, value, false));
            Ok(())
        };
        let one = |expr: &ast::Expr, number: usize| -> Result<(Expr, u32)> {
            Ok(match &expr.kind {
                ExprKind::Default => (self.default_value(relation, number)?, 0),
                _ => (self.expression(expr, place)?, self.position(expr.start())),
            })
        };
        for assignment in list {
            match assignment {
                Assignment::One(column, expr) => set(column, &|number| one(expr, number))?,
                Assignment::Many(columns, expr) => {
                    let at = self.position(expr.start());
                    let mismatch = || {
                        SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            "number of columns does not match number of values",
                        )
                        .at(at)
                    };
                    match &expr.kind {
                        ExprKind::Row { fields, .. } => {
                            if fields.len() != columns.len() {
                                return Err(mismatch());
                            }
                            for (column, field) in columns.iter().zip(fields) {
                                set(column, &|number| one(field, number))?;
                            }
                        }
                        ExprKind::Subquery(query) => {
                            let query = self.query(query, Outside::of(place), place.ctes, true)?;
                            if query.output.len() != columns.len() {
                                return Err(mismatch());
                            }
                            for (number, column) in columns.iter().enumerate() {
                                let value = one_column(&query, number);
                                set(column, &|_| Ok((value.clone(), at)))?;
                            }
                        }
                        _ => {
                            return Err(SqlError::new(
                                SqlState::FEATURE_NOT_SUPPORTED,
                                "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
                            )
                            .at(at));
                        }
                    }
                }
            }
        }
        Ok(assigned.into_iter().map(|(number, value, _)| (number, value)).collect())
    }
}

/// Why a column takes no value of its own.
fn generated_always(column: &str) -> String {
    format!("Column \"{column}\" is an identity column defined as GENERATED ALWAYS.")
}

/// The live columns of a table, by index.
fn live_columns(relation: &Relation) -> Vec<usize> {
    (0..relation.columns.len()).filter(|&number| !relation.columns[number].dropped).collect()
}

/// One column of a query as a scalar subquery.
fn one_column(query: &Query, number: usize) -> Expr {
    let column = query.output[number].clone();
    let ty = column.ty;
    let input =
        Box::new(Node::Derived { query: Arc::new(query.clone()), alias: "*SELECT*".into() });
    let root = Node::Project { input, columns: vec![column_at(number, ty)] };
    let query = Query { root, output: vec![column], ctes: Vec::new() };
    Expr::Subquery { kind: super::SubqueryKind::Scalar, query: Arc::new(query), ty }
}

fn first_target(query: &ast::Query) -> Option<u32> {
    match &query.body {
        Body::Select(select) => select.targets.first().map(|target| target.expr.start()),
        Body::Values(rows) => rows.first()?.first().map(ast::Expr::start),
        Body::SetOperation { left, .. } => first_target(left),
    }
}
