//! WITH: the queries it names, and how FROM finds them; WITH RECURSIVE.

use crate::bind::Binder;
use crate::bind::collation::collation_name;
use crate::bind::insert::target_of;
use crate::bind::logical::{Cte, CteBody, Node, Output, Query, SetKind};
use crate::bind::mention::{mention, mentions};
use crate::bind::query::Outside;
use crate::bind::query_collation::{in_common, of_side};
use crate::bind::scope::column_at;
use crate::bind::target::untyped_item;
use crate::bind::tree::{BodyTree, CteTree, QueryTree, WithTree};
use crate::bind::type_name::{format_type, oid};
use crate::bind::typed::Expr;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body, ExprKind, Ident};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The WITH queries of one query, and those around it.
#[derive(Debug)]
pub(super) struct CteScope<'s> {
    pub parent: Option<&'s CteScope<'s>>,
    pub entries: RefCell<Vec<CteEntry>>,
    /// What its own queries were written as, where that is going to be printed.
    pub trees: RefCell<Vec<CteTree>>,
}

/// A WITH query that FROM may name.
#[derive(Clone, Debug)]
pub(super) struct CteEntry {
    pub name: Ident,
    /// Its number among the parts of the statement.
    pub part: usize,
    pub columns: Vec<(Ident, SqlType)>,
    /// A data-modifying one without RETURNING gives no rows.
    pub rows: bool,
    /// How many of the columns SEARCH and CYCLE add to it while its recursive term is being bound.
    pub added: usize,
    /// Of one whose recursive term is being bound: how often that has named it.
    pub recursing: Option<Rc<Cell<u32>>>,
}

/// What is around a place in a recursive term: whether the query may be named there (`checkWellFormedRecursion`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Around {
    /// It may.
    #[default]
    Nothing,
    /// A subquery in an expression.
    Subquery,
    /// The side of an outer join that may be missing.
    OuterJoin,
    /// INTERSECT ALL.
    Intersect,
    /// EXCEPT's second query, or one of EXCEPT ALL.
    Except,
}

impl CteScope<'_> {
    /// A query has been bound, and the `inner` ones that stand before it: those of the same WITH, `bound`, stand behind the
    /// first `before` that are here.
    pub fn enter(
        &self,
        (before, bound): (usize, &mut Vec<Cte>),
        inner: Vec<Cte>,
        (entry, body, merges): (CteEntry, CteBody, Arc<AtomicBool>),
    ) {
        let inner_count = inner.len();
        bound.extend(inner);
        let mut entries = self.entries.borrow_mut();
        // A recursive one has entered itself.
        entries.truncate(before + bound.len());
        // What stands within this one nobody else names.
        entries[before + bound.len() - inner_count..]
            .iter_mut()
            .for_each(|inner| inner.name = "".into());
        bound.push(Cte { name: entry.name.clone(), body, merges });
        entries.push(entry);
    }

    /// A WITH query by name: levels out, its number there, and what it is.
    pub fn find(&self, name: &str) -> Option<(u16, u32, CteEntry)> {
        let (mut scope, mut level) = (self, 0);
        loop {
            let entries = scope.entries.borrow();
            if let Some(number) = entries.iter().rposition(|entry| &*entry.name == name) {
                return Some((level, number as u32, entries[number].clone()));
            }
            drop(entries);
            scope = scope.parent?;
            level += 1;
        }
    }
}

impl Binder<'_> {
    /// WITH: binds each query, and lets those behind it name it.
    pub(super) fn with(
        &self,
        with: Option<&ast::With>,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<Vec<Cte>> {
        let Some(with) = with else { return Ok(Vec::new()) };
        for (at, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..at].iter().any(|before| before.name == cte.name) {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_ALIAS,
                    format!("WITH query name \"{}\" specified more than once", cte.name),
                )
                .at(self.position(cte.at)));
            }
        }
        let is_below = scope.parent.is_some() || outside.scope.is_some();
        self.with_entries(with, is_below, outside, scope)
    }

    /// The queries of a WITH, behind those that are in the scope already.
    fn with_entries(
        &self,
        with: &ast::With,
        is_below: bool,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<Vec<Cte>> {
        let mut bound: Vec<Cte> = Vec::new();
        let before = scope.entries.borrow().len();
        for (at, cte) in self.in_order_of_need(with)?.into_iter().enumerate() {
            if is_below && !matches!(cte.body, ast::CteBody::Query(_)) {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "WITH clause containing a data-modifying statement must be at the top level",
                )
                .at(self.position(cte.at)));
            }
            let known = scope.trees.borrow().len();
            let changes = !matches!(cte.body, ast::CteBody::Query(_));
            let (part, bound_part) = self.with_part((changes, cte.materialized), || {
                let inner = self.within_recursion(cte, with.recursive, outside, scope)?;
                let (body, output) =
                    self.cte(cte, with.recursive, outside, scope).map_err(|error| {
                        let later = if with.recursive { &[] } else { &with.ctes[at..] };
                        forward_reference(error, later)
                    })?;
                Ok((inner, body, output))
            })?;
            let (inner, mut body, output) = bound_part;
            if matches!(body, CteBody::Recursive { .. }) {
                self.recurs(part);
            }
            if self.keeps_trees {
                let within = scope.trees.borrow_mut().split_off(known);
                let tree = self.cte_tree(cte, &mut body, within, outside, scope)?;
                scope.trees.borrow_mut().push(tree);
            }
            let columns = self
                .cte_columns(&output, &cte.columns, &cte.name)
                .map_err(|error| error.at(self.position(cte.at)))?;
            let rows = !matches!(&body, CteBody::Modify(modify) if modify.returning.is_none());
            let (name, added, recursing) = (cte.name.clone(), 0, None);
            let entry = CteEntry { name, part, columns, rows, added, recursing };
            scope.enter((before, &mut bound), inner, (entry, body, self.merges(part)));
        }
        Ok(bound)
    }

    /// The columns of a query of WITH, under the names that it was given.
    pub(super) fn cte_columns(
        &self,
        output: &[Output],
        given: &[Ident],
        name: &Ident,
    ) -> Result<Vec<(Ident, SqlType)>> {
        let mut columns: Vec<(Ident, SqlType)> =
            output.iter().map(|column| (column.name.clone(), column.ty)).collect();
        self.rename(&mut columns, given, name, "WITH query")?;
        Ok(columns)
    }

    /// What a query of WITH was written as; `within` are those of its own WITH, if they stand before it.
    fn cte_tree(
        &self,
        cte: &ast::Cte,
        body: &mut CteBody,
        within: Vec<CteTree>,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<CteTree> {
        let recurs = matches!(body, CteBody::Recursive { .. });
        let query = match body {
            CteBody::Query(query) => query.tree.take(),
            CteBody::Recursive { base, step, all } => {
                let sides = base.tree.take().zip(step.tree.take());
                let types = base.output.iter().map(|column| column.ty).collect();
                sides.map(|(left, right)| {
                    let (kind, all) = (SetKind::Union, *all);
                    let body = BodyTree::SetOperation { kind, all, left, right, types };
                    let with = (!within.is_empty())
                        .then_some(WithTree { recursive: own_is_recursive(cte), ctes: within });
                    Arc::new(QueryTree { with, ..QueryTree::of(body) })
                })
            }
            CteBody::Modify(_) => None,
        };
        let (name, columns) = (cte.name.clone(), cte.columns.clone());
        let (search, cycle) = self.trace_trees(cte, outside, scope)?;
        let materialized = cte.materialized;
        Ok(CteTree { name, columns, materialized, query, recurs, search, cycle })
    }

    /// The queries of WITH as they are bound: of WITH RECURSIVE each behind those that it names (`TopologicalSort`).
    pub(super) fn in_order_of_need<'w>(&self, with: &'w ast::With) -> Result<Vec<&'w ast::Cte>> {
        let mut ctes: Vec<&ast::Cte> = with.ctes.iter().collect();
        if !with.recursive || ctes.len() < 2 {
            return Ok(ctes);
        }
        let mut needs: Vec<HashSet<String>> = Vec::new();
        for cte in &ctes {
            let mut named = HashSet::new();
            mentions(cte, &mut |name, _| {
                if *name != *cte.name && ctes.iter().any(|other| *other.name == *name) {
                    named.insert(name.to_owned());
                }
            });
            needs.push(named);
        }
        for at in 0..ctes.len() {
            let Some(next) = (at..ctes.len()).find(|next| needs[*next].is_empty()) else {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "mutual recursion between WITH items is not implemented",
                )
                .at(self.position(ctes[at].at)));
            };
            ctes.swap(at, next);
            needs.swap(at, next);
            for later in &mut needs[at + 1..] {
                later.remove(&*ctes[at].name);
            }
        }
        Ok(ctes)
    }

    /// The WITH of a recursive query itself: both of its terms name those queries, so that they stand before it.
    fn within_recursion(
        &self,
        cte: &ast::Cte,
        recursive: bool,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<Vec<Cte>> {
        let ast::CteBody::Query(query) = &cte.body else { return Ok(Vec::new()) };
        let union = matches!(query.body, Body::SetOperation { kind: SetKind::Union, .. });
        let Some(with) = query.with.as_ref().filter(|_| recursive && union) else {
            return Ok(Vec::new());
        };
        for inner in &with.ctes {
            let mut found = None;
            mentions(inner, &mut |name, at| {
                if *name == *cte.name && found.is_none() {
                    found = Some(at);
                }
            });
            if let Some(at) = found {
                return Err(self.misplaced(&cte.name, "within a subquery", at.at));
            }
        }
        match mention(query, &cte.name) {
            Some(_) => self.with_entries(with, true, outside, scope),
            None => Ok(Vec::new()),
        }
    }

    fn cte(
        &self,
        cte: &ast::Cte,
        recursive: bool,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<(CteBody, Vec<Output>)> {
        let modify = |modify: crate::bind::logical::Modify| {
            let output =
                modify.returning.iter().flatten().map(|(_, output)| output.clone()).collect();
            (CteBody::Modify(Box::new(modify)), output)
        };
        if !matches!(cte.body, ast::CteBody::Query(_)) {
            let mut itself = false;
            mentions(cte, &mut |name, _| itself |= recursive && *name == *cte.name);
            if itself {
                let message = format!(
                    "recursive query \"{}\" must not contain data-modifying statements",
                    cte.name
                );
                let error = SqlError::new(SqlState::INVALID_RECURSION, message);
                return Err(error.at(self.position(cte.at)));
            }
            self.demand_recursive(cte)?;
        }
        match &cte.body {
            ast::CteBody::Insert(insert) => Ok(modify(self.insert(insert, Some(scope))?)),
            ast::CteBody::Update(update) => Ok(modify(self.update(update, Some(scope))?)),
            ast::CteBody::Delete(delete) => Ok(modify(self.delete(delete, Some(scope))?)),
            ast::CteBody::Merge => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "MERGE not supported in WITH query",
            )
            .at(self.position(cte.at))),
            ast::CteBody::Query(query) => {
                if recursive
                    && let Body::SetOperation { kind: SetKind::Union, all, left, right, .. } =
                        &query.body
                {
                    if let Some(found) = mention(left, &cte.name) {
                        let place = match found.in_expression {
                            true => "within a subquery",
                            false => "within its non-recursive term",
                        };
                        return Err(self.misplaced(&cte.name, place, found.at));
                    }
                    if mention(right, &cte.name).is_some() {
                        let bound = self.recursive(cte, left, right, *all, outside, scope)?;
                        self.undecorated(query)?;
                        return Ok(bound);
                    }
                    if mention(query, &cte.name).is_some() {
                        self.undecorated(query)?;
                    }
                }
                if recursive && mention(query, &cte.name).is_some() {
                    return Err(SqlError::new(
                        SqlState::INVALID_RECURSION,
                        format!(
                            "recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] recursive-term",
                            cte.name
                        ),
                    )
                    .at(self.position(cte.at)));
                }
                self.demand_recursive(cte)?;
                let query = self.query(query, outside, Some(scope), true)?;
                let output = query.output.clone();
                Ok((CteBody::Query(query), output))
            }
        }
    }

    /// SEARCH and CYCLE are of recursive queries.
    fn demand_recursive(&self, cte: &ast::Cte) -> Result<()> {
        if cte.search.is_none() && cte.cycle.is_none() {
            return Ok(());
        }
        Err(SqlError::new(SqlState::SYNTAX_ERROR, "WITH query is not recursive")
            .at(self.position(cte.at)))
    }

    /// WITH RECURSIVE: the second term may name the query, whose columns the first term gives.
    fn recursive(
        &self,
        cte: &ast::Cte,
        base: &ast::Query,
        step: &ast::Query,
        all: bool,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<(CteBody, Vec<Output>)> {
        let (written, written_step) = (base, step);
        let mut base = self.query(base, outside, Some(scope), true)?;
        let mut columns = self
            .cte_columns(&base.output, &cte.columns, &cte.name)
            .map_err(|error| error.at(self.position(cte.at)))?;
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let traced = self.traced(cte, names, outside, scope)?;
        let continued;
        let (mut step, mut added) = (step, 0);
        if let Some(traced) = &traced {
            columns.extend(traced.columns.iter().cloned());
            added = traced.columns.len();
            continued = traced.continued(written, step)?;
            step = &continued;
        }
        let name = cte.name.clone();
        let recursing = Some(Rc::default());
        let part = self.part.get();
        let entry = CteEntry { name, part, columns, rows: true, added, recursing };
        scope.entries.borrow_mut().push(entry);
        let step_at = self.position(step.at);
        if let Some(Err(wrong)) = traced.as_ref().map(|traced| self.check_traced(traced)) {
            // What is wrong with the term itself comes first.
            self.within(Around::Nothing, || self.query(written_step, outside, Some(scope), false))?;
            return Err(wrong);
        }
        let mut step =
            self.within(Around::Nothing, || self.query(step, outside, Some(scope), false))?;
        if step.output.len() != base.output.len() + added {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "each UNION query must have the same number of columns",
            )
            .at(step_at));
        }
        let mut columns = Vec::new();
        let place_of = |number| {
            let at = target_of(written_step, number).or_else(|| target_of(written_step, 0));
            at.map_or(step_at, |at| self.position(at))
        };
        for (number, (have, want)) in step.output.iter().zip(&base.output).enumerate() {
            let first = column_written(written, number);
            let untyped =
                first.is_some_and(|expr| matches!(expr.kind, ExprKind::String(_) | ExprKind::Null));
            let overall = self.overall_type(want.ty, untyped, have.ty, place_of(number))?;
            if overall != want.ty {
                let at = first.map_or(step_at, |expr| self.position(expr.start()));
                let shown = |ty: SqlType| format_type(self.catalog, Some(self.path), ty);
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                        cte.name,
                        number + 1,
                        shown(want.ty),
                        shown(overall)
                    ),
                )
                .hint("Cast the output of the non-recursive term to the correct type.")
                .at(at));
            }
            columns.push(self.step_column(&step, number, want.ty, (step_at, place_of(number)))?);
            if self.collates.get() && self.catalog.collation_of(want.ty.oid).0 != 0 {
                let side = |query: &Query| of_side(self.catalog, &query.root, number);
                let first_side = side(&base)?;
                let overall = in_common(first_side, side(&step)?, !all, place_of(number))?;
                if overall.oid() != first_side.oid() {
                    let at = first.map_or(step_at, |expr| self.position(expr.start()));
                    return Err(SqlError::new(
                        SqlState::COLLATION_MISMATCH,
                        format!(
                            "recursive query \"{}\" column {} has collation \"{}\" in non-recursive term but collation \"{}\" overall",
                            cte.name,
                            number + 1,
                            collation_name(first_side.oid()),
                            collation_name(overall.oid())
                        ),
                    )
                    .hint("Use the COLLATE clause to set the collation of the non-recursive term.")
                    .at(at));
                }
            }
        }
        if let Some(tree) = &mut step.tree {
            let tree = Arc::make_mut(tree);
            if let BodyTree::Select(select) = &mut tree.body {
                select.without_items(base.output.len(), added);
            }
            self.settle_items(tree, base.output.iter().map(|column| column.ty))?;
        }
        cast_step(&mut step, &base, columns);
        if let Some(traced) = &traced {
            self.trace(traced, &mut base, &mut step)?;
        }
        let output = base.output.clone();
        Ok((CteBody::Recursive { base, step, all }, output))
    }

    /// A column of the second term as the type that the first one gives it; `at` is where the term stands, and the column.
    pub(super) fn step_column(
        &self,
        step: &Query,
        number: usize,
        ty: SqlType,
        at: (u32, u32),
    ) -> Result<Expr> {
        let have = step.output[number].ty;
        let value = match untyped_item(&step.root, number) {
            Some(item) if have.oid.0 == oid::UNKNOWN => item.clone(),
            _ => column_at(number, have),
        };
        match have.oid.0 {
            oid::UNKNOWN => self.argument(value, ty.oid, at.0),
            _ => self.to_common_one(value, SqlType::plain(ty.oid.0), "UNION", at.1),
        }
    }
}

/// Gives the second term its columns as those of the first one, where they are of other types; those behind stay.
pub(super) fn cast_step(step: &mut Query, base: &Query, mut columns: Vec<Expr>) {
    if step.output.iter().zip(&base.output).any(|(have, want)| have.ty.oid != want.ty.oid) {
        let behind = step.output.iter().enumerate().skip(base.output.len());
        columns.extend(behind.map(|(number, output)| column_at(number, output.ty)));
        let input = Box::new(std::mem::replace(&mut step.root, Node::Unit));
        step.root = Node::Project { input, columns };
        step.output.clone_from(&base.output);
    }
}

/// Whether the WITH of a query of WITH is recursive.
fn own_is_recursive(cte: &ast::Cte) -> bool {
    match &cte.body {
        ast::CteBody::Query(query) => query.with.as_ref().is_some_and(|with| with.recursive),
        _ => false,
    }
}

/// What a column of a query is written as, if it is by itself.
fn column_written(query: &ast::Query, number: usize) -> Option<&ast::Expr> {
    match &query.body {
        Body::Select(select) => Some(&select.targets.get(number)?.expr),
        Body::Values(rows) => rows.first()?.get(number),
        Body::SetOperation { left, .. } => column_written(left, number),
    }
}

impl Binder<'_> {
    /// The type of a recursive query's column whose first term has `base`, for want of another where it is untyped, and
    /// whose second one, at a place, `step`.
    fn overall_type(
        &self,
        base: SqlType,
        untyped: bool,
        step: SqlType,
        at: u32,
    ) -> Result<SqlType> {
        if step.oid.0 == oid::UNKNOWN {
            return Ok(base);
        }
        // A row's modifier only says here which fields it has.
        if base.oid == step.oid && base.oid.0 == oid::RECORD {
            return Ok(base);
        }
        if base.oid == step.oid {
            let typmod = if base.typmod == step.typmod { base.typmod } else { -1 };
            return Ok(SqlType { oid: base.oid, typmod });
        }
        let base = if untyped { Oid(oid::UNKNOWN) } else { base.oid };
        let common = self.common_type(&[(base, at), (step.oid, at)], Some("UNION"))?;
        Ok(SqlType::plain(common.unwrap_or(step.oid).0))
    }

    /// Binds what stands within `around`; a recursive term begins with nothing around it.
    pub(super) fn within<T>(&self, around: Around, bind: impl FnOnce() -> T) -> T {
        let outside = self.around.replace(around);
        let bound = bind();
        self.around.set(outside);
        bound
    }

    /// As [`Binder::within`], of a place that is within something already: that is what is told of.
    pub(super) fn also_within<T>(&self, around: Around, bind: impl FnOnce() -> T) -> T {
        match self.around.get() {
            Around::Nothing => self.within(around, bind),
            already => self.within(already, bind),
        }
    }

    /// A WITH query has been named in FROM: one that is being bound, its recursive term may name once, and not anywhere.
    pub(super) fn referred_to(&self, entry: &CteEntry, at: u32) -> Result<()> {
        let Some(references) = &entry.recursing else { return Ok(()) };
        let place = match self.around.get() {
            Around::Nothing if references.replace(references.get() + 1) == 0 => return Ok(()),
            Around::Nothing => "more than once",
            Around::Subquery => "within a subquery",
            Around::OuterJoin => "within an outer join",
            Around::Intersect => "within INTERSECT",
            Around::Except => "within EXCEPT",
        };
        Err(self.misplaced(&entry.name, place, at))
    }

    fn misplaced(&self, name: &Ident, place: &str, at: u32) -> SqlError {
        SqlError::new(
            SqlState::INVALID_RECURSION,
            format!("recursive reference to query \"{name}\" must not appear {place}"),
        )
        .at(self.position(at))
    }

    /// A recursive query has no clauses behind its UNION.
    fn undecorated(&self, query: &ast::Query) -> Result<()> {
        let ordered = query.order_by.first().map(|key| ("ORDER BY", Some(key.expr.start())));
        let offset = query.offset.as_ref().map(|offset| ("OFFSET", Some(offset.start())));
        let limit = query.limit.as_ref().map(|limit| ("LIMIT", Some(limit.start())));
        let locking = query.locking.first().map(|_| ("FOR UPDATE/SHARE", None));
        let Some((clause, at)) = ordered.or(offset).or(limit).or(locking) else { return Ok(()) };
        let message = format!("{clause} in a recursive query is not implemented");
        let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
        Err(match at {
            Some(at) => error.at(self.position(at)),
            None => error,
        })
    }

    /// A recursive term's block that names the query in its own FROM has no aggregates; `asked` is where the first one is.
    pub(super) fn demand_no_recursion(
        &self,
        from: &[ast::FromItem],
        ctes: &CteScope<'_>,
        asked: Option<u32>,
    ) -> Result<()> {
        fn names_one(from: &ast::FromItem, ctes: &CteScope<'_>) -> bool {
            match from {
                ast::FromItem::Table { name, .. } => {
                    let found = name.schema().is_none().then(|| ctes.find(name.name())).flatten();
                    found.is_some_and(|(.., entry)| entry.recursing.is_some())
                }
                ast::FromItem::Join { left, right, .. } => {
                    names_one(left, ctes) || names_one(right, ctes)
                }
                ast::FromItem::Sample { .. }
                | ast::FromItem::Function { .. }
                | ast::FromItem::Subquery { .. } => false,
            }
        }
        let Some(at) = asked.filter(|_| from.iter().any(|from| names_one(from, ctes))) else {
            return Ok(());
        };
        Err(SqlError::new(
            SqlState::INVALID_RECURSION,
            "aggregate functions are not allowed in a recursive query's recursive term",
        )
        .at(at))
    }
}

/// A relation that is not there, though a later query of the same WITH has its name.
fn forward_reference(error: SqlError, later: &[ast::Cte]) -> SqlError {
    let named = later.iter().find(|cte| {
        error.state() == SqlState::UNDEFINED_TABLE
            && error.fields().message == format!("relation \"{}\" does not exist", cte.name)
    });
    match named {
        None => error,
        Some(cte) => error
            .detail(format!(
                "There is a WITH item named \"{}\", but it cannot be referenced from this part of the query.",
                cte.name
            ))
            .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references."),
    }
}
