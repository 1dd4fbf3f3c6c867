//! FROM: tables, views, functions and subqueries side by side, and the names they bring; `join` has their joins.

use crate::bind::Binder;
use crate::bind::dml::{composite_type, index};
use crate::bind::expression::Place;
use crate::bind::join::{cross, marked, missing_sides, shifted};
use crate::bind::kept::{numbered, open_view};
use crate::bind::levels::drop_level;
use crate::bind::logical::VALUE;
use crate::bind::logical::{JoinKind, Node, Output, Query, SortKey};
use crate::bind::names::refused_lateral;
use crate::bind::operator::op;
use crate::bind::query::Outside;
use crate::bind::sample::Sample;
use crate::bind::scope::{Scope, ScopeColumn, ScopeItem, Source, Standing, column_at};
use crate::bind::set_calls;
use crate::bind::target::name_of;
use crate::bind::tree::{FromTree, TableColumn, as_tree};
use crate::bind::type_name::{fields_of, oid, resolve};
use crate::bind::typed::Expr;
use crate::bind::with::{Around, CteScope};
use crate::bind::{Holder, Required, table_item};
use crate::catalog::acl::Privileges;
use crate::catalog::definition::ViewQuery;
use crate::catalog::{Named, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Alias, ExprKind, FromItem, Ident};
use crate::sqlstate::SqlState;
use crate::types::xml::table::XmlColumn;
use crate::types::{Oid, SqlType};
use std::cell::RefCell;
use std::sync::Arc;
use txn::TableLock;

/// Where an aggregate stands that is in FROM and reads nothing but what stands beside it there.
const OWN_LEVEL: &str = "FROM clause of their own query level";

/// A bound FROM item: its rows, and its names over them.
pub(super) struct From {
    pub node: Node,
    pub items: Vec<ScopeItem>,
    pub width: usize,
    /// What its items were written as, where that is going to be printed, and whether each looks at those to its left.
    pub trees: Vec<(FromTree, bool)>,
}

/// The rows of a function in FROM.
pub(super) struct Called {
    pub node: Node,
    pub columns: Vec<(Ident, SqlType)>,
    /// The composite type that the function returns, 0 for none.
    pub row_type: Oid,
    /// It returns one plain value.
    pub value: bool,
}

impl Binder<'_> {
    /// FROM's list: a row of all its items, from left to right.
    pub(super) fn bind_list(
        &self,
        list: &[FromItem],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        // What stands beside the query in the FROM list around it is seen through here, as LATERAL allows; within this
        // list each item has rules of its own.
        let around = outside.inner();
        let stands = Standing { clause: OWN_LEVEL, collected: None };
        let inside = Outside { scope: Some(&around), cost: 0, stands, sees_lateral: true };
        let mut all: Option<From> = None;
        for item in list {
            let next = match all.take() {
                None => self.bind_item(item, false, inside, ctes)?,
                Some(mut left) => {
                    let refused = (false, false);
                    let (right, lateral) = self.beside(&mut left, item, refused, inside, ctes)?;
                    self.check_names(&left.items, &right.items)?;
                    let width = left.width + right.width;
                    let mut items = left.items;
                    items.extend(shifted(right.items, left.width));
                    let mut trees = left.trees;
                    trees.extend(right.trees.into_iter().map(|(tree, _)| (tree, lateral)));
                    From { node: cross(left.node, right.node, lateral), items, width, trees }
                }
            };
            all = Some(next);
        }
        let nothing = || From { node: Node::Unit, items: Vec::new(), width: 0, trees: Vec::new() };
        Ok(all.unwrap_or_else(nothing))
    }

    /// What an item of FROM was written as, where it is going to be printed.
    pub(super) fn tree_of_item(&self, make: impl FnOnce() -> FromTree) -> Vec<(FromTree, bool)> {
        if self.keeps_trees { vec![(make(), false)] } else { Vec::new() }
    }

    /// Binds what stands to the right of `left`, and says whether it looks at `left`'s row; columns of that may be refused, and
    /// the right row may be missing.
    fn beside(
        &self,
        left: &mut From,
        item: &FromItem,
        (refused, missing): (bool, bool),
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<(From, bool)> {
        if matches!(item, FromItem::Table { .. }) {
            return Ok((self.bind_item(item, missing, outside, ctes)?, false));
        }
        // The names are lent to the right side's scope.
        let items = std::mem::take(&mut left.items);
        let frame = Scope { items, lateral: true, refused, ..outside.inner() };
        let stands = Standing { clause: OWN_LEVEL, collected: None };
        let within = Outside { scope: Some(&frame), cost: 1, stands, sees_lateral: true };
        let mut right = self.bind_item(item, missing, within, ctes)?;
        let lateral = frame.used.get();
        left.items = frame.items;
        if !lateral {
            drop_level(&mut right.node, right.trees.first_mut().map(|(tree, _)| tree));
        }
        Ok((right, lateral))
    }

    /// 42712 for a name that stands on both sides.
    pub(super) fn check_names(&self, left: &[ScopeItem], right: &[ScopeItem]) -> Result<()> {
        for item in right.iter().filter(|item| item.name_visible) {
            let Some(name) = &item.name else { continue };
            let clash = left.iter().any(|other| {
                // Tables of two schemas may have one name, as long as neither has an alias.
                let apart =
                    other.schema.is_some() && item.schema.is_some() && other.schema != item.schema;
                other.name_visible && other.name.as_ref() == Some(name) && !apart
            });
            if clash {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_ALIAS,
                    format!("table name \"{name}\" specified more than once"),
                ));
            }
        }
        Ok(())
    }

    /// The parameter whose rows a name without a schema stands for.
    pub(super) fn rows_named(&self, name: &ast::ObjectName) -> Option<u32> {
        let variables = self.variables.filter(|_| name.schema().is_none())?;
        variables.rows(name.name())
    }

    /// Binds an item; a join around it may have rows without one of it.
    fn bind_item(
        &self,
        item: &FromItem,
        missing: bool,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        let from = self.bind_own_item(item, missing, outside, ctes)?;
        let is_one = !matches!(item, FromItem::Join { .. });
        Ok(if missing && is_one && self.is_marked(&from.items[0]) { marked(from) } else { from })
    }

    /// Whether an item that an outer join may have no row of gets a column that tells so: a query speaks of its whole row, in
    /// which all columns may be NULL, and nothing else tells.
    fn is_marked(&self, item: &ScopeItem) -> bool {
        let rows = self.rows_mentioned.borrow();
        let has = |field: &Ident| item.columns.iter().any(|column| column.name == *field);
        let speaks_of = |name: &Ident| {
            let is_row = |(named, field): &(Ident, Option<Ident>)| {
                named == name && field.as_ref().is_none_or(|field| !has(field))
            };
            rows.last().is_none_or(|rows| rows.iter().any(is_row))
        };
        !item.value && item.presence().is_none() && item.name.as_ref().is_some_and(speaks_of)
    }

    fn bind_own_item(
        &self,
        item: &FromItem,
        missing: bool,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        self.deeper(|| match item {
            FromItem::Table { name, alias, .. } if let Some(rows) = self.rows_named(name) => {
                let query = crate::parse::parse_query(&format!("SELECT * FROM unnest(${rows})"))?;
                let named = || Alias { name: Arc::clone(name.name()), columns: Vec::new() };
                let alias = Some(alias.clone().unwrap_or_else(named));
                let (lateral, query) = (false, Arc::new(query));
                let item = FromItem::Subquery { lateral, query, alias, at: name.at };
                self.bind_item(&item, false, outside, ctes)
            }
            FromItem::Table { name, alias, .. } => {
                self.bind_table(name, alias.as_ref(), ctes)
            }
            FromItem::Sample { table, method, arguments, repeatable } => {
                let sample = Sample { method, arguments, repeatable: repeatable.as_ref() };
                self.bind_sample(table, sample, outside, ctes)
            }
            FromItem::Function { calls, rows_from, ordinality, alias, definitions, at, .. } => {
                let at = self.position(*at);
                let several = unnested(calls);
                let calls = several.as_deref().unwrap_or(calls);
                let [(call, own)] = calls else {
                    if let Some(first) = definitions.first() {
                        let (what, hint) = match *rows_from {
                            true => (
                                "ROWS FROM() with multiple functions",
                                "Put a separate column definition list for each function inside ROWS FROM().",
                            ),
                            false => (
                                "UNNEST() with multiple arguments",
                                "Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition list to each one.",
                            ),
                        };
                        return Err(SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("{what} cannot have a column definition list"),
                        )
                        .hint(hint)
                        .at(self.position(first.at)));
                    }
                    return self.bind_functions(calls, *ordinality, alias.as_ref(), outside, ctes, at);
                };
                let definitions = if own.is_empty() { definitions } else { own };
                self.bind_function(
                    call,
                    *ordinality,
                    alias.as_ref(),
                    definitions,
                    outside,
                    ctes,
                    at,
                )
            }
            FromItem::Subquery { lateral, query, alias, .. } => {
                let within = Outside { sees_lateral: *lateral, ..outside };
                let mut query = self.query(query, within, Some(ctes), true)?;
                let tree = query.tree.take();
                let columns =
                    query.output.iter().map(|column| (column.name.clone(), column.ty)).collect();
                let origins: Vec<_> = query.output.iter().map(|column| column.origin).collect();
                let name = alias.as_ref().map(|alias| alias.name.clone());
                let shown: Arc<str> = name.clone().unwrap_or_else(|| "unnamed_subquery".into());
                let number = self.next_item();
                let node =
                    Node::Derived { query: Arc::new(query), alias: shown, item: Some(number), view: None };
                let mut from = self.named(node, columns, alias.as_ref(), name)?;
                from.items[0].source = Source::Query(number);
                for (column, origin) in from.items[0].columns.iter_mut().zip(origins) {
                    column.origin = origin;
                }
                // Its columns are no columns of a table whose keys could be grouped by.
                from.items[0].row_type = Oid(0);
                let (lateral, listed) = (*lateral, lists_columns(alias.as_ref()));
                let tree = tree.map(|tree| FromTree::Query { tree, lateral, listed });
                from.trees.extend(tree.map(|tree| (tree, false)));
                Ok(from)
            }
            FromItem::Join { kind, left, right, condition, alias, at } => {
                let (on_left, on_right) = match kind {
                    JoinKind::Left => (Around::Nothing, Around::OuterJoin),
                    JoinKind::Right => (Around::OuterJoin, Around::Nothing),
                    JoinKind::Full => (Around::OuterJoin, Around::OuterJoin),
                    _ => (Around::Nothing, Around::Nothing),
                };
                let (left_missing, right_missing) = missing_sides(*kind);
                let mut left = self.also_within(on_left, || {
                    self.bind_item(left, missing || left_missing, outside, ctes)
                })?;
                let refused = matches!(kind, JoinKind::Right | JoinKind::Full);
                let (right, lateral) = self.also_within(on_right, || {
                    let beside = (refused, missing || right_missing);
                    self.beside(&mut left, right, beside, outside, ctes)
                })?;
                // What is left is a whole row.
                if lateral && refused {
                    let item = left.items.first().and_then(|item| item.name.as_deref());
                    return Err(refused_lateral(item.unwrap_or_default()).at(self.position(*at)));
                }
                self.check_names(&left.items, &right.items)?;
                self.join(
                    *kind,
                    left,
                    right,
                    lateral,
                    condition,
                    alias.as_ref(),
                    outside,
                    ctes,
                    *at,
                )
            }
        })
    }

    /// Gives the first columns the names of an alias.
    pub(super) fn rename(
        &self,
        columns: &mut [(Ident, SqlType)],
        names: &[Ident],
        of: &str,
        what: &str,
    ) -> Result<()> {
        if names.len() > columns.len() {
            return Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!(
                    "{what} \"{of}\" has {} columns available but {} columns specified",
                    columns.len(),
                    names.len()
                ),
            ));
        }
        for ((name, _), new) in columns.iter_mut().zip(names) {
            *name = new.clone();
        }
        Ok(())
    }

    /// A FROM item of columns that have no table, under its alias.
    fn named(
        &self,
        node: Node,
        mut columns: Vec<(Ident, SqlType)>,
        alias: Option<&Alias>,
        name: Option<Ident>,
    ) -> Result<From> {
        if let Some(alias) = alias {
            self.rename(&mut columns, &alias.columns, &alias.name, "table")?;
        }
        let width = columns.len();
        let columns = columns
            .into_iter()
            .enumerate()
            .map(|(place, (name, ty))| ScopeColumn {
                name,
                expr: column_at(place, ty),
                origin: None,
                system: false,
            })
            .collect();
        Ok(From { node, items: vec![columns_item(name, columns)], width, trees: Vec::new() })
    }

    pub(super) fn bind_table(
        &self,
        name: &ast::ObjectName,
        alias: Option<&Alias>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        let at = self.position(name.at);
        let opaque = self.opaque_views || self.opaque_base.take();
        if name.schema().is_none()
            && let Some((level, number, entry)) = ctes.find(name.name())
        {
            if !entry.rows {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("WITH query \"{}\" does not have a RETURNING clause", entry.name),
                )
                .at(at));
            }
            self.referred_to(&entry, name.at)?;
            if entry.recursing.is_none() {
                self.names_part(entry.part);
            }
            self.with_reads.set(self.with_reads.get() + 1);
            let shown = alias.map_or_else(|| entry.name.clone(), |alias| alias.name.clone());
            let (columns, name) = (entry.columns.clone(), shown.clone());
            let node = Node::CteScan { level, cte: number, columns, alias: name };
            let mut from = self.named(node, entry.columns, alias, Some(shown))?;
            from.items[0].source = Source::With;
            // What SEARCH and CYCLE add is no part of `*` within the recursive term.
            let own = from.width - entry.added;
            from.items[0].columns[own..].iter_mut().for_each(|column| column.system = true);
            let (aliased, listed) = (alias.is_some(), lists_columns(alias));
            from.trees = self.tree_of_item(|| FromTree::With { name: entry.name, aliased, listed });
            return Ok(from);
        }
        let relation = self.relation(name)?;
        self.require(relation.oid, Privileges::SELECT);
        self.hold(relation.oid, TableLock::AccessShare);
        let mut from = match &relation.kind {
            RelationKind::View { .. } if opaque => self.opaque_view(&relation, alias)?,
            RelationKind::View { query } => self.bind_view(&relation, query, alias)?,
            RelationKind::Table { .. } | RelationKind::System | RelationKind::Sequence(_) => {
                self.scan(&relation, alias, self.next_item(), &self.system_columns())?
            }
            RelationKind::Composite => unreachable!("nothing that has rows is a composite type"),
        };
        // A text that was printed lists all columns, whoever named them.
        let listed = alias.filter(|_| !self.printed).map_or(0, |alias| alias.columns.len());
        from.trees = self.tree_of_item(|| FromTree::Table {
            relation: relation.oid,
            columns: table_columns(&relation, &from.items[0], listed),
            aliased: alias.is_some(),
            sample: None,
        });
        Ok(from)
    }

    /// A relation by name.
    ///
    /// # Errors
    /// 42P01, 42809.
    pub(super) fn relation(&self, name: &ast::ObjectName) -> Result<Arc<Relation>> {
        let found = self.find_relation(name).and_then(|found| match found.kind {
            RelationKind::Composite => Err(composite_type(&found.name)),
            _ => Ok(found),
        });
        found.map_err(|error| error.at(self.position(name.at)))
    }

    /// The same for a statement whose errors do not point at the name.
    pub(super) fn find_relation(&self, name: &ast::ObjectName) -> Result<Arc<Relation>> {
        let unknown = || {
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
        };
        self.catalog.demand_own_database(&name.parts)?;
        let found = match name.schema() {
            None => self.catalog.find(self.path, name.name()),
            Some(schema) => {
                let schema = self.catalog.schema(schema).ok_or_else(unknown)?;
                self.require_also(Required::Schema(schema.oid, self.position(name.at)));
                self.catalog.named(schema.oid, name.name())
            }
        };
        match found {
            Some(Named::Relation(found)) => {
                self.catalog.relation(found).cloned().ok_or_else(unknown)
            }
            Some(Named::Index { .. }) => Err(index(name.name())),
            None => Err(unknown()),
        }
    }

    /// A number for a scan or a query in FROM.
    pub(super) fn next_item(&self) -> u32 {
        self.scans.replace(self.scans.get() + 1)
    }

    /// A scan of a table: its live columns, and these of the system's, which the statement speaks of.
    pub(super) fn scan(
        &self,
        relation: &Arc<Relation>,
        alias: Option<&Alias>,
        number: u32,
        system: &[i16],
    ) -> Result<From> {
        let system = if relation.columns.is_empty() { Vec::new() } else { system.to_vec() };
        let columns: Vec<usize> = (0..relation.columns.len())
            .filter(|&number| !relation.columns[number].dropped)
            .collect();
        let width = columns.len() + system.len();
        self.meet_collations(relation);
        let mut item = table_item(relation, alias.map(|alias| &alias.name), 0, &system);
        if let Some(alias) = alias {
            let mut names: Vec<(Ident, SqlType)> = item
                .columns
                .iter()
                .filter(|column| !column.system)
                .map(|column| (column.name.clone(), column.expr.ty()))
                .collect();
            self.rename(&mut names, &alias.columns, &alias.name, "table")?;
            for (column, (name, _)) in item.columns.iter_mut().zip(names) {
                column.name = name;
            }
        }
        item.source = Source::Relation;
        item.scan = matches!(relation.kind, RelationKind::Table { .. }).then_some(number);
        let alias = item.name.clone().unwrap_or_else(|| relation.name.clone());
        let node = Node::Scan {
            relation: relation.clone(),
            columns,
            system,
            filter: Vec::new(),
            computed: self.computed_indexes(relation)?,
            alias,
            item: number,
            current_of: None,
        };
        Ok(From { node, items: vec![item], width, trees: Vec::new() })
    }

    /// A view as a relation with columns.
    pub(super) fn opaque_view(
        &self,
        relation: &Arc<Relation>,
        alias: Option<&Alias>,
    ) -> Result<From> {
        self.meet_collations(relation);
        let live = |at: &usize| !relation.columns[*at].dropped;
        let columns: Vec<usize> = (0..relation.columns.len()).filter(live).collect();
        let types = columns.iter().map(|at| relation.columns[*at].ty).enumerate();
        let exprs: Vec<Expr> = types.map(|(at, ty)| column_at(at, ty)).collect();
        let mut item = self.view_item(relation, alias, &exprs)?;
        let number = self.next_item();
        item.source = Source::Query(number);
        let node = Node::Scan {
            relation: Arc::clone(relation),
            columns,
            system: Vec::new(),
            filter: Vec::new(),
            computed: Vec::new(),
            alias: item.name.clone().unwrap_or_else(|| relation.name.clone()),
            item: number,
            current_of: None,
        };
        Ok(From { node, items: vec![item], width: exprs.len(), trees: Vec::new() })
    }

    /// A view: its query, bound with names of its own.
    pub(super) fn bind_view(
        &self,
        relation: &Arc<Relation>,
        query: &ViewQuery,
        alias: Option<&Alias>,
    ) -> Result<From> {
        let opening = open_view(self.catalog, query)?;
        self.meet_collations(relation);
        let inner = self.within_view(relation, opening.text())?;
        inner.depth.set(self.depth.get());
        inner.scans.set(self.scans.get());
        let mut query = opening.bound(&inner)?;
        self.scans.set(inner.scans.get());
        for wanted in self.read_by_view(inner, relation) {
            self.require_also(wanted);
        }
        let output = query.output.iter().enumerate();
        let columns: Vec<Expr> = output.map(|(at, column)| column_at(at, column.ty)).collect();
        let mut item = self.view_item(relation, alias, &columns)?;
        let number = self.next_item();
        item.source = Source::Query(number);
        let alias = item.name.clone().unwrap_or_else(|| relation.name.clone());
        let view = Some(relation.oid);
        if relation.is_security_barrier() {
            let input = Box::new(query.root);
            query.root = Node::Barrier { input, alias: Some(Arc::clone(&alias)) };
        }
        let node = Node::Derived { query: Arc::new(query), alias, item: Some(number), view };
        Ok(From { node, items: vec![item], width: columns.len(), trees: Vec::new() })
    }

    /// What a view reads its owner must be allowed to read, or with security_invoker whoever runs the statement. Nobody
    /// needs anything on the schemas: their names were looked up when the view was made.
    pub(super) fn read_by_view(&self, inner: Binder<'_>, view: &Relation) -> Vec<Required> {
        if inner.apart.get() {
            self.apart.set(true);
        }
        let mut required = inner.needs();
        for (relation, lock) in inner.relations.into_inner() {
            self.hold(relation, lock);
        }
        required.retain(|wanted| !matches!(wanted, Required::Schema(..)));
        for wanted in &mut required {
            if let Required::Relation { holder: holder @ Holder::Asker, .. } = wanted {
                *holder = Holder::of(view);
            }
        }
        required
    }

    /// The FROM item of a view whose columns these are.
    pub(super) fn view_item(
        &self,
        view: &Relation,
        alias: Option<&Alias>,
        exprs: &[Expr],
    ) -> Result<ScopeItem> {
        let live = view.columns.iter().filter(|column| !column.dropped);
        let named = live.zip(exprs).map(|(column, expr)| (column.name.clone(), expr.ty()));
        let mut columns: Vec<(Ident, SqlType)> = named.collect();
        if let Some(alias) = alias {
            self.rename(&mut columns, &alias.columns, &alias.name, "table")?;
        }
        let columns = columns.into_iter().zip(exprs).enumerate();
        let columns = columns.map(|(number, ((name, _), expr))| ScopeColumn {
            name,
            expr: expr.clone(),
            origin: Some((view.oid, number as i16 + 1)),
            system: false,
        });
        let name = alias.map_or_else(|| view.name.clone(), |alias| alias.name.clone());
        let mut item = columns_item(Some(name), columns.collect());
        item.schema = alias.is_none().then(|| view.schema.1.clone());
        item.row_type = view.row_type.0;
        Ok(item)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one FROM item")]
    fn bind_function(
        &self,
        call: &ast::Expr,
        ordinality: bool,
        alias: Option<&Alias>,
        definitions: &[ast::ColumnDefinition],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        at: u32,
    ) -> Result<From> {
        let clause = "functions in FROM";
        let scope = Scope { stands: Standing { clause, collected: None }, ..outside.inner() };
        let place = Place { sets: true, ..Place::plain(&scope, Some(ctes), clause) };
        let bound = self.decided(self.expression(call, &place)?)?;
        set_calls::demand_top(&bound)?;
        let called = match &call.kind {
            ExprKind::Call(call) => call.name.name().clone(),
            _ => name_of(call),
        };
        let name = alias.map_or_else(|| called.clone(), |alias| alias.name.clone());
        let result = bound.ty();
        let typed = self.typed_columns(&bound);
        if let Some(first) = definitions.first() {
            let wrong = match (&typed, result.oid.0) {
                (Some(_), oid::RECORD) => "redundant for a function with OUT parameters",
                (Some(_), _) => "redundant for a function returning a named composite type",
                (None, oid::RECORD) => "",
                (None, _) => "only allowed for functions returning \"record\"",
            };
            if !wrong.is_empty() {
                let message = format!("a column definition list is {wrong}");
                let error = SqlError::new(SqlState::SYNTAX_ERROR, message);
                return Err(error.at(self.position(first.at)));
            }
        }
        if typed.is_none() && result.oid.0 == oid::RECORD && definitions.is_empty() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "a column definition list is required for functions returning \"record\"",
            )
            .at(at));
        }
        let defined = definitions.iter().map(|definition| {
            let type_at = self.position(definition.ty.name.at);
            let schema = definition.ty.name.schema();
            if let Some(found) = schema.and_then(|name| self.catalog.schema(name)) {
                self.require_also(Required::Schema(found.oid, type_at));
            }
            let ty = resolve(self.catalog, self.path, &definition.ty)
                .map_err(|error| error.at(type_at))?;
            Ok((definition.name.clone(), ty))
        });
        let defined: Vec<(Ident, SqlType)> = defined.collect::<Result<_>>()?;
        let trees = self.tree_of_item(|| FromTree::Function {
            calls: vec![(as_tree(&bound), defined.clone())],
            fields: vec![numbered(self.catalog, bound.ty())],
            ordinality,
            aliased: alias.is_some(),
            listed: lists_columns(alias),
        });
        let is_table = matches!(bound, Expr::XmlTable { .. });
        let Called { node, columns, row_type, value } =
            self.called(bound, &defined, ordinality, &name);
        if let Some(alias) = alias.filter(|_| is_table)
            && alias.columns.len() > columns.len()
        {
            let (have, given) = (columns.len(), alias.columns.len());
            return Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!(
                    "XMLTABLE function has {have} columns available but {given} columns specified"
                ),
            ));
        }
        let mut from = From { trees, ..self.named(node, columns, alias, Some(name))? };
        if let Node::FunctionScan { shown, .. } = &mut from.node {
            *shown = from.items[0].columns.iter().map(|column| column.name.clone()).collect();
        }
        from.items[0].row_type = row_type;
        from.items[0].value = value;
        from.items[0].source = Source::Function;
        Ok(from)
    }

    /// The columns that a value in FROM says itself that it has.
    fn typed_columns(&self, called: &Expr) -> Option<Vec<(Ident, SqlType)>> {
        match called {
            Expr::XmlTable { table, .. } => {
                let column = |column: &XmlColumn| (Ident::from(&*column.name), column.ty);
                Some(table.columns.iter().map(column).collect())
            }
            _ => self.composite_result(called),
        }
    }

    /// The rows of a function in FROM that is known as `name`; what was said of its record's columns is `defined`.
    pub(super) fn called(
        &self,
        bound: Expr,
        defined: &[(Ident, SqlType)],
        ordinality: bool,
        name: &Ident,
    ) -> Called {
        let result = bound.ty();
        let composite = self.composite_result(&bound).is_some() || result.oid.0 == oid::RECORD;
        let outputs = match self.typed_columns(&bound) {
            Some(columns) => columns,
            None if result.oid.0 == oid::RECORD => defined.to_vec(),
            None => vec![(self.scalar_name(&bound).unwrap_or_else(|| name.clone()), result)],
        };
        let mut columns = outputs.clone();
        if ordinality {
            columns.push(("ordinality".into(), SqlType::plain(oid::INT8)));
        }
        let row_type = fields_of(self.catalog, result.oid).map_or(Oid(0), |_| result.oid);
        let node = match bound {
            Expr::Call { function, arguments, .. } => Node::FunctionScan {
                function,
                arguments,
                columns: outputs,
                composite,
                ordinality,
                alias: name.clone(),
                shown: columns.iter().map(|(name, _)| name.clone()).collect(),
            },
            value if !ordinality && !composite => {
                Node::Project { input: Box::new(Node::Unit), columns: vec![value] }
            }
            value => Node::FunctionScan {
                function: VALUE,
                arguments: vec![value],
                columns: outputs,
                composite,
                ordinality,
                alias: name.clone(),
                shown: columns.iter().map(|(name, _)| name.clone()).collect(),
            },
        };
        Called { node, columns, row_type, value: !composite && !ordinality }
    }

    /// ROWS FROM with several functions: their rows side by side, as many as the one with most gives. They are joined by the
    /// numbers that WITH ORDINALITY gives them.
    fn bind_functions(
        &self,
        calls: &[(ast::Expr, Vec<ast::ColumnDefinition>)],
        ordinality: bool,
        alias: Option<&Alias>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        at: u32,
    ) -> Result<From> {
        // They are wrapped in a query, a step further from the WITH queries around it.
        let ctes = own_ctes(Some(ctes));
        let (mut calls_made, mut written, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut name = alias.map(|alias| alias.name.clone());
        for (call, definitions) in calls {
            let at = self.position(call.start());
            let next = self.bind_function(call, true, None, definitions, outside, &ctes, at)?;
            for (tree, _) in next.trees {
                if let FromTree::Function { calls, fields, .. } = tree {
                    written.extend(calls);
                    numbers.extend(fields);
                }
            }
            let mut items = next.items;
            let Some(item) = items.pop() else { continue };
            name = name.or(item.name);
            let columns = item.columns.into_iter().map(|column| (column.name, column.expr.ty()));
            calls_made.push((next.node, columns.collect()));
        }
        let (node, names) = self.side_by_side(calls_made, ordinality, name.as_ref(), at)?;
        let mut from = self.named(node, names, alias, name)?;
        from.items[0].source = Source::Function;
        from.trees = self.tree_of_item(|| FromTree::Function {
            calls: written,
            fields: numbers,
            ordinality,
            aliased: alias.is_some(),
            listed: lists_columns(alias),
        });
        Ok(from)
    }

    /// The rows of several functions, each numbered by WITH ORDINALITY, side by side, and their columns.
    pub(super) fn side_by_side(
        &self,
        calls: Vec<(Node, Vec<(Ident, SqlType)>)>,
        ordinality: bool,
        name: Option<&Ident>,
        at: u32,
    ) -> Result<(Node, Vec<(Ident, SqlType)>)> {
        let int8 = SqlType::plain(oid::INT8);
        let mut joined: Option<(Node, usize, Expr)> = None;
        let mut columns: Vec<(Ident, Expr)> = Vec::new();
        for (next, mut own) in calls {
            let before = joined.as_ref().map_or(0, |(_, width, _)| *width);
            let width = own.len();
            if own.pop().is_none() {
                continue;
            }
            let number = column_at(before + width - 1, int8);
            let own = own.into_iter().enumerate();
            columns.extend(own.map(|(at, (name, ty))| (name, column_at(before + at, ty))));
            joined = Some(match joined {
                None => (next, width, number),
                Some((left, before, known)) => {
                    let on = self.infix(&op("="), known.clone(), number.clone(), at)?;
                    let node = Node::Join {
                        kind: JoinKind::Full,
                        left: Box::new(left),
                        right: Box::new(next),
                        on: vec![on],
                        lateral: false,
                    };
                    (node, before + width, Expr::Coalesce(vec![known, number], int8, false))
                }
            });
        }
        let (input, _, number) =
            joined.ok_or_else(|| SqlError::unsupported("ROWS FROM without functions is").at(at))?;
        if ordinality {
            columns.push(("ordinality".into(), number.clone()));
        }
        let key = SortKey { expr: number, descending: false, nulls_first: false };
        let input = Box::new(Node::Sort { input: Box::new(input), keys: vec![key] });
        let output = columns
            .iter()
            .map(|(name, expr)| Output { name: name.clone(), ty: expr.ty(), origin: None })
            .collect();
        let names = columns.iter().map(|(name, expr)| (name.clone(), expr.ty())).collect();
        let values = columns.into_iter().map(|(_, expr)| expr).collect();
        let query = Query::new(Node::Project { input, columns: values }, output);
        let alias: Arc<str> = name.cloned().unwrap_or_else(|| "function".into());
        let node = Node::Derived { query: Arc::new(query), alias, item: None, view: None };
        Ok((node, names))
    }

    /// The name of a function's only OUT argument.
    fn scalar_name(&self, bound: &Expr) -> Option<Ident> {
        let Expr::Call { function: called, .. } = bound else { return None };
        let found = self.catalog.procedure(*called)?;
        let mut columns = found.output_columns();
        let (name, _) = columns.next()?;
        (!name.is_empty()).then(|| name.into())
    }
}

/// The columns of a relation that is an item of FROM, of which the first ones were given names.
fn table_columns(relation: &Relation, item: &ScopeItem, listed: usize) -> Vec<TableColumn> {
    let live = relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
    let own = live.zip(&item.columns).enumerate();
    let own = own.map(|(place, ((at, column), shown))| TableColumn {
        number: at as i16 + 1,
        given: (place < listed || shown.name != column.name).then(|| Arc::clone(&shown.name)),
    });
    let system = item.columns.iter().filter(|column| column.system);
    let system = system.filter_map(|column| column.origin);
    own.chain(system.map(|(_, number)| TableColumn { number, given: None })).collect()
}

/// Whether an alias has names of columns.
fn lists_columns(alias: Option<&Alias>) -> bool {
    alias.is_some_and(|alias| !alias.columns.is_empty())
}

/// What can be named of columns that are no table's.
pub(super) fn columns_item(name: Option<Ident>, columns: Vec<ScopeColumn>) -> ScopeItem {
    ScopeItem {
        name,
        schema: None,
        columns,
        columns_visible: true,
        name_visible: true,
        row_type: Oid(0),
        value: false,
        scan: None,
        source: Source::Join,
        nullable: Some(false),
    }
}

/// `unnest` of several arrays is one `unnest` of each (`transformRangeFunction`).
pub(super) fn unnested(
    calls: &[(ast::Expr, Vec<ast::ColumnDefinition>)],
) -> Option<Vec<(ast::Expr, Vec<ast::ColumnDefinition>)>> {
    let several = |(expr, definitions): &(ast::Expr, Vec<ast::ColumnDefinition>)| {
        let ExprKind::Call(call) = &expr.kind else { return None };
        let plain = call.name.schema().is_none()
            && &**call.name.name() == "unnest"
            && call.arguments.len() > 1
            && definitions.is_empty()
            && call.order_by.is_empty()
            && call.filter.is_none()
            && call.over.is_none()
            && !(call.star || call.distinct || call.variadic || call.within_group);
        plain.then(|| {
            let each = call.arguments.iter().map(|argument| {
                let one = ast::Call { arguments: vec![argument.clone()], ..(**call).clone() };
                (ast::Expr { at: expr.at, kind: ExprKind::Call(Box::new(one)) }, Vec::new())
            });
            each.collect::<Vec<_>>()
        })
    };
    if !calls.iter().any(|call| several(call).is_some()) {
        return None;
    }
    Some(
        calls.iter().flat_map(|call| several(call).unwrap_or_else(|| vec![call.clone()])).collect(),
    )
}

/// The names of a plain statement's own WITH queries.
pub(super) fn own_ctes<'s>(parent: Option<&'s CteScope<'s>>) -> CteScope<'s> {
    CteScope { parent, entries: RefCell::default(), trees: RefCell::default() }
}
