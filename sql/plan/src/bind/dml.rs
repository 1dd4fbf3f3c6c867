//! UPDATE and DELETE: the rows they work on, the values they assign; what all modifications have in common, RETURNING.

use crate::bind::expression::Place;
use crate::bind::from::{From, own_ctes};
use crate::bind::insert::target_of;
use crate::bind::join::cross;
use crate::bind::logical::{CursorName, Modify, ModifyKind, Node, Output, Query, TARGET};
use crate::bind::query::Outside;
use crate::bind::scope::{Scope, column_at};
use crate::bind::target::TARGETS_MAX;
use crate::bind::through::{Change, Through};
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal, SubqueryKind, conjuncts};
use crate::bind::updatable::NOT_OF_ONE;
use crate::bind::with::CteScope;
use crate::bind::{Binder, Environment};
use crate::catalog::acl::Privileges;
use crate::catalog::system::is_served_view;
use crate::catalog::system_column::is_system_column;
use crate::catalog::{ConstraintKind, Identity, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Assignment, ExprKind, Ident, Target, TargetColumn};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;
use txn::TableLock;

/// `nextval`'s row of `pg_proc`.
pub const NEXTVAL: u32 = 1574;
/// `setval`'s.
pub const SETVAL: u32 = 1576;
/// The same with three arguments.
pub const SETVAL_CALLED: u32 = 1765;

/// 42501 for the system's tables, which nobody writes to.
#[must_use]
pub fn system_catalog(relation: &Relation) -> SqlError {
    SqlError::new(
        SqlState::INSUFFICIENT_PRIVILEGE,
        format!("permission denied: \"{}\" is a system catalog", relation.name),
    )
}

/// 42809 for an index where something with rows is wanted.
#[must_use]
pub fn index(name: &str) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is an index"))
}

/// 42809 for a composite type where something with rows is wanted.
#[must_use]
pub fn composite_type(name: &str) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is a composite type"))
}

impl Binder<'_> {
    /// What a statement changes: a table, a view that has triggers for it, or what is behind another view.
    pub(super) fn changed(
        &self,
        name: &ast::ObjectName,
        change: Change,
    ) -> Result<(Arc<Relation>, Option<Through>)> {
        if self.rows_named(name).is_some() {
            let message = format!(
                "relation \"{}\" cannot be the target of a modifying statement",
                name.name()
            );
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let relation = self.relation(name)?;
        self.require(relation.oid, change.privilege());
        if let RelationKind::View { query } = &relation.kind {
            self.hold(relation.oid, TableLock::RowExclusive);
            if relation.is_changed_by_triggers(change.event()) {
                return Ok((relation, None));
            }
            let through = self.through(&relation, query, change)?;
            return Ok((Arc::clone(through.table()), Some(through)));
        }
        Ok((self.changed_table(relation, change)?, None))
    }

    /// The table that a statement changes in this way. Views that are served have no query, and select from functions.
    pub(super) fn changed_table(
        &self,
        relation: Arc<Relation>,
        change: Change,
    ) -> Result<Arc<Relation>> {
        if is_served_view(&relation) {
            // The only one of the system's views with a rule: its UPDATE is SET.
            if &*relation.name == "pg_settings" && change == Change::Update {
                return Err(SqlError::unsupported("UPDATE of pg_settings is"));
            }
            return Err(change.refused(&relation, NOT_OF_ONE));
        }
        self.target_table(relation)
    }

    /// The table that a statement changes.
    pub(super) fn target_table(&self, relation: Arc<Relation>) -> Result<Arc<Relation>> {
        let changes = matches!(relation.kind, RelationKind::Table { .. });
        if !changes || relation.stored_query.is_some() {
            self.unchangeable.set(Some(relation.oid));
        }
        match &relation.kind {
            RelationKind::Table { .. } if relation.stored_query.is_some() => Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change materialized view \"{}\"", relation.name),
            )),
            RelationKind::Table { .. } => {
                self.hold(relation.oid, TableLock::RowExclusive);
                Ok(relation)
            }
            RelationKind::System => Err(system_catalog(&relation)),
            RelationKind::View { .. } => Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change view \"{}\"", relation.name),
            )),
            RelationKind::Sequence(_) => Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("cannot change sequence \"{}\"", relation.name),
            )),
            RelationKind::Composite => unreachable!("nothing that has rows is a composite type"),
        }
    }

    /// The column that is assigned to, by index.
    pub(super) fn target_column(
        &self,
        relation: &Relation,
        column: &TargetColumn,
    ) -> Result<usize> {
        let at = self.position(column.at);
        relation.column(&column.name).ok_or_else(|| {
            if is_system_column(&column.name) {
                SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("cannot assign to system column \"{}\"", column.name),
                )
            } else {
                unknown_column(relation, column)
            }
            .at(at)
        })
    }

    /// The table's column that is assigned to, by index.
    pub(super) fn assigned_column(
        &self,
        (relation, view): (&Relation, Option<&Through>),
        column: &TargetColumn,
    ) -> Result<usize> {
        match view {
            Some(view) => view.named(self, column),
            None => self.target_column(relation, column),
        }
    }

    pub(super) fn environment(&self) -> Environment<'_> {
        Environment { catalog: self.catalog, path: self.path, constants: self.constants }
    }

    /// A column's DEFAULT, NULL if it has none.
    pub(super) fn default_value(&self, relation: &Relation, column: usize) -> Result<Expr> {
        let column = &relation.columns[column];
        let own = || self.catalog.domain(column.ty.oid)?.default.as_ref();
        match column.default.as_ref().or_else(own) {
            Some(default) if !column.generated => {
                let mut value = self.kept_as(None, default, (column.ty, &column.name))?;
                super::levels::any(&value, &|part| {
                    if let Expr::Call { function, arguments, .. } = part {
                        self.hold_sequence(*function, arguments);
                    }
                    false
                });
                if column.identity.is_some() {
                    without_check(&mut value);
                }
                Ok(value)
            }
            // A generated column is filled in behind the others.
            Some(_) => Ok(Expr::Constant(Literal::Null, column.ty)),
            None => Ok(self.null_of(column.ty)),
        }
    }

    /// NULL of a type, held against it if it is a domain.
    pub(super) fn null_of(&self, ty: SqlType) -> Expr {
        if self.catalog.domain(ty.oid).is_none() {
            return Expr::Constant(Literal::Null, ty);
        }
        let null = Expr::Constant(Literal::Null, self.catalog.base_type(ty));
        Expr::Domain(Box::new(null), ty)
    }

    /// The table's CHECK constraints over its live columns.
    pub(super) fn checks(&self, relation: &Relation) -> Result<Vec<(usize, Expr)>> {
        let mut bound = Vec::new();
        for (number, constraint) in relation.constraints.iter().enumerate() {
            if let ConstraintKind::Check { condition, .. } = &constraint.kind {
                bound.push((number, self.kept(Some(relation), condition)?));
            }
        }
        // Of several that a row violates, the first by its name is told.
        bound.sort_by(|(a, _), (b, _)| {
            relation.constraints[*a].name.cmp(&relation.constraints[*b].name)
        });
        Ok(bound)
    }

    pub(super) fn returning(
        &self,
        targets: &[Target],
        names: &Scope<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Option<Vec<(Expr, Output)>>> {
        if targets.is_empty() {
            return Ok(None);
        }
        let bound = self.targets(targets, &Place::plain(names, Some(ctes), "RETURNING"), true)?;
        if bound.len() > TARGETS_MAX {
            return Err(SqlError::new(
                SqlState::TOO_MANY_COLUMNS,
                format!("number of columns ({}) exceeds limit ({TARGETS_MAX})", bound.len()),
            ));
        }
        Ok(Some(bound.into_iter().map(|target| (target.expr.clone(), target.output())).collect()))
    }

    // --- UPDATE, DELETE --------------------------------------------------------------------------------------------

    /// The rows of what is changed: a table, or a view that has triggers for it.
    pub(super) fn target_rows(
        &self,
        relation: &Arc<Relation>,
        alias: Option<&ast::Alias>,
    ) -> Result<From> {
        match &relation.kind {
            RelationKind::View { query } => self.bind_view(relation, query, alias),
            _ => self.scan(relation, alias, TARGET, &self.system_columns()),
        }
    }

    /// The rows that UPDATE and DELETE work on: the target's, then those of FROM or USING; of the target's only the one that a
    /// cursor stands on, where WHERE says so.
    fn changed_rows(
        &self,
        (relation, view): (&Arc<Relation>, Option<&Through>),
        alias: Option<&Ident>,
        others: &[ast::FromItem],
        filter: Option<&ast::Expr>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        let alias = alias.map(|name| ast::Alias { name: name.clone(), columns: Vec::new() });
        let mut target = match view {
            None => self.target_rows(relation, alias.as_ref())?,
            Some(view) => view.rows(self, alias.as_ref())?,
        };
        let of_view = view.is_some() || matches!(relation.kind, RelationKind::View { .. });
        if of_view && matches!(filter, Some(ast::Expr { kind: ExprKind::CurrentOf(_), .. })) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "WHERE CURRENT OF on a view is not implemented",
            ));
        }
        if let (Node::Scan { current_of, .. }, Some(ExprKind::CurrentOf(cursor))) =
            (&mut target.node, filter.map(|filter| &filter.kind))
        {
            *current_of = Some(self.cursor_name(cursor)?);
        }
        if others.is_empty() {
            return Ok(target);
        }
        let hidden = Scope::hiding(target.items.clone());
        let beside = Scope::beside(&hidden);
        let outside = Outside { scope: Some(&beside), ..Outside::NOTHING };
        let rest = self.bind_list(others, outside, ctes)?;
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
        let node = cross(target.node, rest.node, false);
        Ok(From { node, items, width, trees: Vec::new() })
    }

    /// The cursor of WHERE CURRENT OF: a variable of `refcursor` names it, where there is one of this name.
    fn cursor_name(&self, name: &Ident) -> Result<CursorName> {
        let variable = match self.variables {
            Some(variables) => variables.find(std::slice::from_ref(name))?,
            None => None,
        };
        Ok(match variable {
            Some(variable) if variable.ty.oid.0 == oids::REFCURSOR && variable.field.is_none() => {
                CursorName::Parameter(variable.number)
            }
            _ => CursorName::Named(name.clone()),
        })
    }

    /// Those rows for which WHERE's condition holds.
    fn filtered(
        &self,
        node: Node,
        filter: Option<&ast::Expr>,
        names: &Scope<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Node> {
        match filter {
            None | Some(ast::Expr { kind: ExprKind::CurrentOf(_), .. }) => Ok(node),
            Some(filter) => {
                let place = Place::plain(names, Some(ctes), "WHERE");
                let condition = self.condition(filter, &place, "WHERE")?;
                Ok(Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) })
            }
        }
    }

    pub(super) fn update(
        &self,
        update: &ast::Update,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(update.with.as_ref(), Outside::NOTHING, &scope)?;
        let (relation, view) = self.changed(&update.table, Change::Update)?;
        let (filter, view) = (update.filter.as_ref(), view.as_ref());
        let alias = update.alias.as_ref();
        let view_checks = view.map_or_else(Vec::new, |view| view.checks().to_vec());
        let from = self.changed_rows((&relation, view), alias, &update.from, filter, &scope)?;
        let mut names = Scope::new(None, 0);
        names.items = from.items;
        let place = Place::plain(&names, Some(&scope), "UPDATE");
        // In PostgreSQL's order: WHERE and RETURNING decide the types of parameters before SET does.
        let node = self.filtered(from.node, filter, &names, &scope)?;
        let returning = self.returning(&update.returning, &names, &scope)?;
        let assignments = self.assignments(&update.assignments, (&relation, view), &place)?;
        if let Some(view) = view {
            view.require_reads_if_any(self);
        }
        let checks = self.checks(&relation)?;
        let alias = alias.cloned().unwrap_or_else(|| relation.name.clone());
        let actions = self.actions_of_update(&relation, &assignments)?;
        let kind = ModifyKind::Update { source: Box::new(node), assignments };
        let (generated, computed) =
            (self.generated_columns(&relation)?, self.computed_indexes(&relation)?);
        let ctes = with;
        let named = self.written_columns(relation.oid);
        Ok(Modify {
            named,
            relation,
            alias,
            kind,
            returning,
            ctes,
            checks,
            view_checks,
            generated,
            computed,
            actions,
        })
    }

    pub(super) fn delete(
        &self,
        delete: &ast::Delete,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Modify> {
        let scope = own_ctes(ctes);
        let with = self.with(delete.with.as_ref(), Outside::NOTHING, &scope)?;
        let (relation, view) = self.changed(&delete.table, Change::Delete)?;
        let (filter, alias) = (delete.filter.as_ref(), delete.alias.as_ref());
        let target = (&relation, view.as_ref());
        let from = self.changed_rows(target, alias, &delete.using, filter, &scope)?;
        let mut names = Scope::new(None, 0);
        names.items = from.items;
        let node = self.filtered(from.node, filter, &names, &scope)?;
        let returning = self.returning(&delete.returning, &names, &scope)?;
        if let Some(view) = &view {
            view.require_reads_if_any(self);
        }
        let alias = alias.cloned().unwrap_or_else(|| relation.name.clone());
        let kind = ModifyKind::Delete { source: Box::new(node) };
        let actions = self.actions_of_delete(&relation)?;
        let computed = self.computed_indexes(&relation)?;
        Ok(Modify {
            relation,
            alias,
            kind,
            returning,
            ctes: with,
            named: Vec::new(),
            checks: Vec::new(),
            view_checks: Vec::new(),
            generated: Vec::new(),
            computed,
            actions,
        })
    }

    /// The values of one assignment, as they are before any of the statement is cast to its column's type: what a
    /// parameter is here its first column decides (`transformUpdateTargetList`).
    fn set_values(&self, assignment: &Assignment, place: &Place<'_>) -> Result<Vec<SetValue>> {
        let one = |expr: &ast::Expr| -> Result<SetValue> {
            Ok(match &expr.kind {
                ExprKind::Default => SetValue::Default,
                _ => SetValue::Bound(self.expression(expr, place)?, self.position(expr.start())),
            })
        };
        let (columns, expr) = match assignment {
            Assignment::One(_, expr) => return Ok(vec![one(expr)?]),
            Assignment::Many(columns, expr) => (columns, expr),
        };
        let at = self.position(expr.start());
        let mismatch = || {
            let message = "number of columns does not match number of values";
            SqlError::new(SqlState::SYNTAX_ERROR, message).at(at)
        };
        match &expr.kind {
            ExprKind::Row { fields, .. } => {
                if !fields.iter().any(stands_for_several) && fields.len() != columns.len() {
                    return Err(mismatch());
                }
                let mut values = Vec::new();
                for field in fields {
                    if stands_for_several(field) {
                        let several = self.values_of([field], place)?;
                        values.extend(
                            several.into_iter().map(|(value, at)| SetValue::Bound(value, at)),
                        );
                    } else {
                        values.push(one(field)?);
                    }
                }
                if values.len() != columns.len() {
                    return Err(mismatch());
                }
                Ok(values)
            }
            ExprKind::Subquery(written) => {
                let query = self.query(written, Outside::of(place), place.ctes, true)?;
                if query.output.len() != columns.len() {
                    return Err(mismatch());
                }
                let types: Vec<SqlType> = query.output.iter().map(|column| column.ty).collect();
                let record = record_of(query);
                // The columns of VALUES are computed in no one place.
                let nowhere = matches!(written.body, ast::Body::Values(_));
                Ok(types
                    .into_iter()
                    .enumerate()
                    .map(|(number, ty)| {
                        let operand = Box::new(record.clone());
                        let value = Expr::Field { operand, field: number as u32, ty };
                        let computed = target_of(written, number);
                        let at = computed.map_or(at, |computed| self.position(computed));
                        if nowhere {
                            SetValue::Nowhere(value, at)
                        } else {
                            SetValue::Bound(value, at)
                        }
                    })
                    .collect())
            }
            _ => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
            )
            .at(at)),
        }
    }

    /// SET: column indices and their values, cast.
    pub(super) fn assignments(
        &self,
        list: &[Assignment],
        (relation, view): (&Relation, Option<&Through>),
        place: &Place<'_>,
    ) -> Result<Vec<(usize, Expr)>> {
        // Which column, its value, and whether only parts of it have been assigned so far; by which name it was.
        let mut assigned: Vec<(usize, Expr, bool)> = Vec::new();
        let mut names: Vec<(usize, Ident)> = Vec::new();
        let mut set = |column: &TargetColumn,
                       value: &dyn Fn(usize) -> Result<(Expr, u32)>|
         -> Result<()> {
            let number = self.assigned_column((relation, view), column)?;
            match view {
                Some(view) => view.require(self, number, Privileges::UPDATE),
                None => {
                    let attribute = Some(number as i16 + 1);
                    self.require_column(relation.oid, attribute, Privileges::UPDATE);
                }
            }
            let known = assigned.iter_mut().find(|(known, ..)| *known == number);
            let parts = !column.path.is_empty();
            if known.as_ref().is_some_and(|(.., known_parts)| !parts || !known_parts) {
                // Two columns of a view may be one of its table.
                let again = names.iter().any(|known| *known == (number, column.name.clone()));
                let name = if again { &column.name } else { &relation.columns[number].name };
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("multiple assignments to same column \"{name}\""),
                ));
            }
            names.push((number, column.name.clone()));
            let (value, at) = value(number)?;
            if parts {
                // Only DEFAULT has no place.
                if at == 0 {
                    self.refuse_default_part(column)?;
                }
                let whole = match &known {
                    Some((_, earlier, _)) => earlier.clone(),
                    None if view.is_some() => super::assign::own_value(relation, number),
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
        let default = |number: usize| -> Result<(Expr, u32)> {
            // A view's column has the default of the view, not of its table.
            let Some(view) = view else { return Ok((self.default_value(relation, number)?, 0)) };
            let given = view.own_default(number);
            let null = || Ok(self.null_of(relation.columns[number].ty));
            let value = given.map_or_else(null, |(view, at)| self.default_value(view, at));
            Ok((value?, 0))
        };
        let bound: Vec<Vec<SetValue>> =
            list.iter().map(|one| self.set_values(one, place)).collect::<Result<_>>()?;
        for (assignment, values) in list.iter().zip(bound) {
            let columns = match assignment {
                Assignment::One(column, _) => std::slice::from_ref(column),
                Assignment::Many(columns, _) => columns,
            };
            for (column, value) in columns.iter().zip(values) {
                let done = set(column, &|number| match &value {
                    SetValue::Default => default(number),
                    SetValue::Bound(value, at) | SetValue::Nowhere(value, at) => {
                        Ok((value.clone(), *at))
                    }
                });
                match value {
                    SetValue::Nowhere(..) => done.map_err(SqlError::nowhere)?,
                    _ => done?,
                }
            }
        }
        Ok(assigned.into_iter().map(|(number, value, _)| (number, value)).collect())
    }
}

/// What SET gives a column.
enum SetValue {
    Default,
    /// A value, and where it stands.
    Bound(Expr, u32),
    /// One of which errors do not say where it stands.
    Nowhere(Expr, u32),
}

/// Why a column takes no value of its own.
pub(super) fn generated_always(column: &str) -> String {
    format!("Column \"{column}\" is an identity column defined as GENERATED ALWAYS.")
}

/// Whether an expression in a list is that of several columns or fields.
pub(super) fn stands_for_several(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ExprKind::Star(_) | ExprKind::AllFields(_))
}

/// The row of a query as one value.
fn record_of(query: Query) -> Expr {
    let ty = SqlType::plain(oid::RECORD);
    let columns = query.output.iter().enumerate();
    let columns = columns.map(|(number, column)| column_at(number, column.ty)).collect();
    let output = vec![Output { name: "row".into(), ty, origin: None }];
    let columns = vec![Expr::Row(columns, ty, None)];
    let root = Node::Project { input: Box::new(query.root), columns };
    let query = Arc::new(Query { root, output, ..query });
    Expr::Subquery { kind: SubqueryKind::Record, query, ty }
}

/// The value of an identity column needs no privilege on its sequence, unlike a `nextval` that anybody has written: it is
/// told so by a second argument, which no caller can give.
fn without_check(value: &mut Expr) {
    let Expr::Call { function, arguments, .. } = value else { return };
    if *function == Oid(NEXTVAL) {
        arguments.push(Expr::Constant(Literal::Bool(true), SqlType::plain(oids::BOOL)));
    } else if let Some(first) = arguments.first_mut() {
        without_check(first);
    }
}

/// What is told of a column that a relation does not have.
pub(super) fn unknown_column(relation: &Relation, column: &TargetColumn) -> SqlError {
    let (column, relation) = (&column.name, &relation.name);
    SqlError::new(
        SqlState::UNDEFINED_COLUMN,
        format!("column \"{column}\" of relation \"{relation}\" does not exist"),
    )
}
