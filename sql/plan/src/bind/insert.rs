//! INSERT: whole rows out of the values given, into columns and parts of columns, and ON CONFLICT.
//!
//! MERGE makes its new rows here too.

use crate::bind::Binder;
use crate::bind::dml::{generated_always, stands_for_several, unknown_column};
use crate::bind::expression::Place;
use crate::bind::from::own_ctes;
use crate::bind::logical::{Arbiters, ConflictUpdate, Modify, ModifyKind, Node, OnConflict};
use crate::bind::query::Outside;
use crate::bind::scope::{Scope, ScopeItem, column_at};
use crate::bind::set_calls;
use crate::bind::table_item;
use crate::bind::target::untyped_item;
use crate::bind::through::{Change, Through};
use crate::bind::typed::{Expr, Literal};
use crate::bind::with::CteScope;
use crate::catalog::acl::Privileges;
use crate::catalog::system_column::is_system_column;
use crate::catalog::{Identity, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body, ConflictTarget, ExprKind, TargetColumn};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::sync::Arc;

/// What the values of an INSERT go to.
pub(super) struct InsertTarget<'i> {
    pub relation: &'i Relation,
    /// The live columns, by index.
    pub live: Vec<usize>,
    /// The column of each value, by index; one of whose parts several are given comes several times.
    pub columns: Vec<usize>,
    /// The columns as they were named; empty if all are meant.
    pub named: &'i [TargetColumn],
    /// OVERRIDING SYSTEM VALUE (true), USER VALUE (false).
    pub overriding: Option<bool>,
    /// The view that was named.
    pub view: Option<&'i Through>,
    /// What is said if a value is given for the column of the view behind `columns`, where it has one.
    pub refused: Option<SqlError>,
}

impl Binder<'_> {
    pub(super) fn insert(
        &self,
        insert: &ast::Insert,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(insert.with.as_ref(), Outside::NOTHING, &scope)?;
        let (relation, view) = self.changed(&insert.table, Change::Insert)?;
        let view = view.as_ref();
        let target = self.insert_target((&relation, view), &insert.columns, insert.overriding)?;
        let source = self.insert_source(insert.source.as_deref(), &target, &scope)?;
        let alias = insert.alias.clone().unwrap_or_else(|| relation.name.clone());
        let mut system = Vec::new();
        let item = match view {
            None => {
                if !matches!(relation.kind, RelationKind::View { .. }) {
                    system = self.system_columns();
                }
                table_item(&relation, insert.alias.as_ref(), 0, &system)
            }
            Some(view) => {
                let named = insert.alias.clone();
                let alias = named.map(|name| ast::Alias { name, columns: Vec::new() });
                view.item(self, alias.as_ref(), 0)?
            }
        };
        let reads_conflict = |conflict: &ast::OnConflict| {
            conflict.update.is_some() || conflict.target != ConflictTarget::Any
        };
        if let Some(view) = view
            && (!insert.returning.is_empty()
                || insert.on_conflict.as_ref().is_some_and(reads_conflict))
        {
            view.require_reads(self);
        }
        let on_conflict = insert
            .on_conflict
            .as_ref()
            .map(|conflict| {
                let alias = insert.alias.as_ref();
                self.on_conflict(conflict, (&relation, view), (&item, alias), &scope)
            })
            .transpose()?;
        // RETURNING knows of `excluded`, but cannot name it.
        let updates = on_conflict.as_ref().is_some_and(|conflict| conflict.update.is_some());
        let excluded = updates.then(|| table_item(&relation, Some(&"excluded".into()), 0, &[]));
        let hidden = Scope::hiding(excluded.into_iter().collect());
        let names = Scope { items: vec![item], ..Scope::beside(&hidden) };
        let returning = self.returning(&insert.returning, &names, &scope)?;
        let checks = self.checks(&relation)?;
        let view_checks = view.map_or_else(Vec::new, |view| view.checks().to_vec());
        let update = on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref());
        let actions = match update {
            Some(update) => self.actions_of_update(&relation, &update.assignments)?,
            None => Vec::new(),
        };
        self.hold_parents(&relation, None);
        let kind = ModifyKind::Insert { source: Box::new(source), on_conflict, system };
        let (generated, computed) =
            (self.generated_columns(&relation)?, self.computed_indexes(&relation)?);
        let named = self.written_columns(relation.oid);
        Ok(Modify {
            named,
            relation,
            alias,
            kind,
            returning,
            ctes: with,
            checks,
            view_checks,
            generated,
            computed,
            actions,
        })
    }

    /// The columns that values are given for.
    pub(super) fn insert_target<'i>(
        &self,
        (relation, view): (&'i Relation, Option<&'i Through>),
        named: &'i [TargetColumn],
        overriding: Option<bool>,
    ) -> Result<InsertTarget<'i>> {
        let live = live_columns(relation);
        let (mut columns, mut refused): (Vec<usize>, _) = (Vec::new(), None);
        for (at, column) in named.iter().enumerate() {
            // To an INSERT a system column is no column.
            let number = self.assigned_column((relation, view), column).map_err(|error| {
                if is_system_column(&column.name) && relation.column(&column.name).is_none() {
                    return unknown_column(relation, column).at(self.position(column.at));
                }
                error
            })?;
            // Parts of one column may be given one by one.
            let twice = columns.iter().zip(&named[..at]).any(|(known, earlier)| {
                *known == number && (earlier.path.is_empty() || column.path.is_empty())
            });
            let again = |earlier: &TargetColumn| earlier.name == column.name;
            if twice && view.is_some() && !named[..at].iter().any(again) {
                return Err(assigned_twice(relation, number));
            }
            if twice {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{}\" specified more than once", column.name),
                )
                .at(self.position(column.at)));
            }
            columns.push(number);
        }
        if named.is_empty() {
            (columns, refused) = match view {
                Some(view) => view.leading(),
                None => (live.clone(), None),
            };
        }
        if let Some(view) = view {
            view.refuse_defaults()?;
        }
        Ok(InsertTarget { relation, live, columns, named, overriding, view, refused })
    }

    /// Whole rows of the table, defaults filled in; none is DEFAULT VALUES.
    fn insert_source(
        &self,
        query: Option<&ast::Query>,
        target: &InsertTarget<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Node> {
        let relation = target.relation;
        let Some(query) = query else {
            let types = target.live.iter().map(|&number| relation.columns[number].ty).collect();
            return Ok(Node::Values { rows: vec![self.default_row(target)?], types });
        };
        if let Body::Values(rows) = &query.body
            && !rows.iter().flatten().any(stands_for_several)
            && query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.offset.is_none()
        {
            return self.insert_values(rows, target, ctes);
        }
        let bound = self.query(query, Outside::NOTHING, Some(ctes), false)?;
        let at = first_target(query).map_or(0, |at| self.position(at));
        let extra_at = target_of(query, target.columns.len()).map_or(at, |at| self.position(at));
        self.require_insert(target, bound.output.len());
        self.check_count(bound.output.len(), target, extra_at, at)?;
        refuse_twice(target, bound.output.len())?;
        let given: Vec<SqlType> = bound.output.iter().map(|column| column.ty).collect();
        let values = given.iter().enumerate().map(|(place, ty)| {
            // What has no type in the select list is read as the column's type.
            match untyped_item(&bound.root, place) {
                Some(item) if ty.oid.0 == super::oid::UNKNOWN => item.clone(),
                _ => column_at(place, *ty),
            }
        });
        let mut values: Vec<Expr> = values.collect();
        for (number, value) in target.columns.iter().zip(&mut values) {
            if !self.takes_value(target, *number)? {
                *value = self.insert_default(target, *number)?;
            }
        }
        let place_of = |value| target_of(query, value).map_or(at, |at| self.position(at));
        let row = self.row_of((target, &target.live), values, ctes, place_of)?;
        let input = Box::new(Node::Derived {
            query: Arc::new(bound),
            alias: "*SELECT*".into(),
            item: None,
            view: None,
        });
        Ok(Node::Project { input, columns: row })
    }

    /// Whoever gives values for columns must be allowed to: for as many of the first as are given.
    pub(super) fn require_insert(&self, target: &InsertTarget<'_>, given: usize) {
        for &column in target.columns.iter().take(given) {
            if let Some(view) = target.view {
                view.require(self, column, Privileges::INSERT);
                continue;
            }
            let attribute = Some(column as i16 + 1);
            self.require_column(target.relation.oid, attribute, Privileges::INSERT);
        }
    }

    /// DEFAULT VALUES.
    pub(super) fn default_row(&self, target: &InsertTarget<'_>) -> Result<Vec<Expr>> {
        target.live.iter().map(|&number| self.insert_default(target, number)).collect()
    }

    /// The default of a column that no value is given for: its view's, if that has one, else its own.
    fn insert_default(&self, target: &InsertTarget<'_>, number: usize) -> Result<Expr> {
        match target.view.and_then(|view| view.default_of(number)) {
            Some((view, column)) if self.takes_value(target, number)? => {
                self.default_value(view, column)
            }
            _ => self.default_value(target.relation, number),
        }
    }

    fn check_count(
        &self,
        given: usize,
        target: &InsertTarget<'_>,
        extra_at: u32,
        missing_at: u32,
    ) -> Result<()> {
        let InsertTarget { columns, named, refused, .. } = target;
        if given > columns.len() {
            if let Some(refused) = refused {
                return Err(refused.clone());
            }
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "INSERT has more expressions than target columns",
            )
            .at(extra_at));
        }
        if given < columns.len() && !named.is_empty() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "INSERT has more target columns than expressions",
            )
            .at(named.get(given).map_or(missing_at, |column| self.position(column.at))));
        }
        Ok(())
    }

    /// Whether a column takes the value that an INSERT gives; an identity column may take its own instead.
    pub(super) fn takes_value(&self, target: &InsertTarget<'_>, number: usize) -> Result<bool> {
        let column = &target.relation.columns[number];
        if column.generated {
            return Err(SqlError::new(
                SqlState::GENERATED_ALWAYS,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(format!("Column \"{}\" is a generated column.", column.name)));
        }
        match (column.identity, target.overriding) {
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

    fn insert_values(
        &self,
        rows: &[Vec<ast::Expr>],
        target: &InsertTarget<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Node> {
        let hidden = Scope::hiding(vec![table_item(target.relation, None, 0, &[])]);
        let scope = Scope::beside(&hidden);
        // One row is bound as a select list is, and may have sets in it.
        let sets = rows.len() == 1;
        let place = Place { sets, ..Place::plain(&scope, Some(ctes), "VALUES") };
        let width = rows.first().map_or(0, Vec::len);
        let InsertTarget { relation, live, columns, .. } = target;
        self.require_insert(target, width);
        refuse_twice(target, width)?;
        let type_of = |number: &usize| relation.columns[*number].ty;
        // One row has its defaults in it.
        let mut made = live.clone();
        let columns = &columns[..width.min(columns.len())];
        made.retain(|number| rows.len() == 1 || columns.contains(number));
        let values = match self.literal_rows(rows, target, &made) {
            Some(values) => values,
            None => {
                let mut bound = Vec::with_capacity(rows.len());
                for row in rows {
                    self.check_width(row, row.len(), width)?;
                    bound.push(self.insert_row(row, (target, &made), &place, ctes)?);
                }
                if let [row] = bound.as_mut_slice()
                    && row.iter().any(set_calls::returns_set)
                {
                    let exprs = row.iter_mut().collect();
                    let (node, _) = set_calls::below(Node::Unit, 0, exprs, Vec::new());
                    let columns = std::mem::take(row);
                    return Ok(Node::Project { input: Box::new(node), columns });
                }
                Node::Values { rows: bound, types: made.iter().map(type_of).collect() }
            }
        };
        if made.len() == live.len() {
            return Ok(values);
        }
        // However many rows there are, the default of a column that no value is given for is there once.
        let mut place = 0..;
        let columns = live.iter().map(|number| {
            if made.contains(number) {
                Ok(column_at(place.next().unwrap_or_default(), type_of(number)))
            } else {
                self.insert_default(target, *number)
            }
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(Node::Project { input: Box::new(values), columns })
    }

    /// Those columns of a row that are asked for, by index, out of one list of VALUES.
    pub(super) fn insert_row(
        &self,
        row: &[ast::Expr],
        (target, made): (&InsertTarget<'_>, &[usize]),
        place: &Place<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Vec<Expr>> {
        let InsertTarget { columns, named, .. } = target;
        // Each value with its place; none is DEFAULT.
        let mut given: Vec<(Option<Expr>, u32)> = Vec::with_capacity(row.len());
        for expr in row {
            if matches!(expr.kind, ExprKind::Default) {
                given.push((None, self.position(expr.start())));
            } else {
                let values = self.values_of([expr], place)?;
                given.extend(values.into_iter().map(|(value, at)| (Some(value), at)));
            }
        }
        let places: Vec<u32> = given.iter().map(|(_, at)| *at).collect();
        let extra_at = places.get(columns.len()).copied().unwrap_or(0);
        self.check_count(given.len(), target, extra_at, 0)?;
        let mut values = Vec::with_capacity(given.len());
        for (at, (number, (value, _))) in columns.iter().zip(given).enumerate() {
            if let Some(column) = named.get(at).filter(|_| value.is_none()) {
                self.refuse_default_part(column)?;
            }
            values.push(match value {
                Some(value) if self.takes_value(target, *number)? => value,
                _ => self.insert_default(target, *number)?,
            });
        }
        self.row_of((target, made), values, ctes, |value| places[value])
    }

    /// Those columns that are asked for: the values given, cast, and defaults for the rest.
    fn row_of(
        &self,
        (target, made): (&InsertTarget<'_>, &[usize]),
        values: Vec<Expr>,
        ctes: &CteScope<'_>,
        at: impl Fn(usize) -> u32,
    ) -> Result<Vec<Expr>> {
        let InsertTarget { relation, columns, named, .. } = target;
        let mut wholes: Vec<Option<Expr>> = vec![None; relation.columns.len()];
        // In the order in which they are given: what a parameter is its first column decides.
        for (value, expr) in values.into_iter().enumerate() {
            let number = columns[value];
            let column = &relation.columns[number];
            if !made.contains(&number) {
                continue;
            }
            let part = named.get(value).filter(|column| !column.path.is_empty());
            wholes[number] = Some(match part {
                None => self.assign(expr, column.ty, &column.name, at(value))?,
                // What no part is given of is NULL, whatever the column's default is.
                Some(part) => {
                    let null = Expr::Constant(Literal::Null, column.ty);
                    let before = wholes[number].take().unwrap_or(null);
                    let hidden = Scope::hiding(vec![table_item(relation, None, 0, &[])]);
                    let scope = Scope::beside(&hidden);
                    let place = Place::plain(&scope, Some(ctes), "INSERT");
                    self.assigned_part(before, &part.path, expr, part, &place, at(value))?
                }
            });
        }
        let whole = |number: &usize| {
            wholes[*number].take().map_or_else(|| self.insert_default(target, *number), Ok)
        };
        made.iter().map(whole).collect()
    }

    fn on_conflict(
        &self,
        conflict: &ast::OnConflict,
        (relation, view): (&Arc<Relation>, Option<&Through>),
        (item, alias): (&ScopeItem, Option<&ast::Ident>),
        ctes: &CteScope<'_>,
    ) -> Result<OnConflict> {
        let at = self.position(conflict.at);
        let arbiters = match &conflict.target {
            ConflictTarget::Any => {
                if conflict.update.is_some() {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                    )
                    .hint("For example, ON CONFLICT (column_name).")
                    .at(at));
                }
                Arbiters::Any
            }
            ConflictTarget::Constraint(name) => {
                // The constraints of a table are none of a view.
                let named = view.map_or(&**relation, Through::view);
                let found = named.indexes.iter().find(|index| {
                    index.unique
                        && index.constraint.as_ref().is_some_and(|(_, known)| known == name)
                });
                let index = found.ok_or_else(|| {
                    if named.constraints.iter().any(|known| known.name == *name) {
                        return SqlError::new(
                            SqlState::WRONG_OBJECT_TYPE,
                            "constraint in ON CONFLICT clause has no associated index",
                        );
                    }
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!(
                            "constraint \"{name}\" for table \"{}\" does not exist",
                            named.name
                        ),
                    )
                })?;
                for key in index.columns.iter().filter(|key| key.expression().is_none()) {
                    self.read_column(Some((named.oid, key.column as i16 + 1)));
                }
                Arbiters::Named(index.oid)
            }
            ConflictTarget::Inferred(keys, filter, at) => {
                let named = view.map_or(&**relation, Through::view);
                for key in keys {
                    if let ExprKind::Column(parts) = &key.expr.kind
                        && let Some(number) = parts.last().and_then(|name| named.column(name))
                    {
                        self.read_column(Some((named.oid, number as i16 + 1)));
                    }
                }
                let place = self.position(*at);
                self.arbiters((keys, place), filter.as_ref(), (relation, view), alias)?
            }
        };
        let update = conflict
            .update
            .as_ref()
            .map(|update| {
                let mut scope = Scope::new(None, 0);
                let excluded: ast::Ident = "excluded".into();
                let excluded = match view {
                    None => {
                        self.require(relation.oid, Privileges::UPDATE);
                        table_item(relation, Some(&excluded), item.columns.len(), &[])
                    }
                    Some(view) => {
                        let alias = ast::Alias { name: excluded, columns: Vec::new() };
                        view.item(self, Some(&alias), live_columns(relation).len())?
                    }
                };
                scope.items = vec![item.clone(), excluded];
                let place = Place::plain(&scope, Some(ctes), "UPDATE");
                let assignments =
                    self.assignments(&update.assignments, (relation, view), &place)?;
                let place = Place::plain(&scope, Some(ctes), "WHERE");
                let filter = update
                    .filter
                    .as_ref()
                    .map(|filter| self.condition(filter, &place, "WHERE"))
                    .transpose()?;
                let visible = view.map_or(Ok(Vec::new()), Through::shows)?;
                Ok::<_, SqlError>(ConflictUpdate { visible, assignments, filter })
            })
            .transpose()?;
        Ok(OnConflict { arbiters, update })
    }
}

/// 42601 for two columns of a view that are one of its table.
fn assigned_twice(relation: &Relation, column: usize) -> SqlError {
    let name = &relation.columns[column].name;
    let message = format!("multiple assignments to same column \"{name}\"");
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// The same where values are given for the view's first columns, as many as these.
fn refuse_twice(target: &InsertTarget<'_>, given: usize) -> Result<()> {
    let columns = &target.columns[..given.min(target.columns.len())];
    let mut places = 0..columns.len();
    match places.find(|&at| target.named.is_empty() && columns[..at].contains(&columns[at])) {
        Some(at) => Err(assigned_twice(target.relation, columns[at])),
        None => Ok(()),
    }
}

/// The live columns of a table, by index.
fn live_columns(relation: &Relation) -> Vec<usize> {
    (0..relation.columns.len()).filter(|&number| !relation.columns[number].dropped).collect()
}

fn first_target(query: &ast::Query) -> Option<u32> {
    target_of(query, 0)
}

/// Where a query's column is computed; none behind a `*`.
pub(super) fn target_of(query: &ast::Query, number: usize) -> Option<u32> {
    match &query.body {
        Body::Select(select) => {
            let several = select.targets.iter().take(number).any(|it| stands_for_several(&it.expr));
            let target = select.targets.get(number).filter(|_| !several)?;
            Some(target.expr.start())
        }
        Body::Values(rows) => rows.first()?.get(number).map(ast::Expr::start),
        Body::SetOperation { left, .. } => target_of(left, number),
    }
}
