//! Kept queries as plans take them: what the second half of their binding makes of their trees.
//!
//! A tree has all that binding a text finds out (`bind/select.rs` up to where the clauses are bound, `from`, `with` and so on),
//! and what is made of that is made here by the same functions. Beside that each expression is completed as that of any
//! definition is, subqueries are opened, and what whoever runs the statement must be allowed is noted of each part as it is met:
//! `ExecCheckRTPerms` has it from the range table, which says what the query reads.

use super::code::{corrupt, numbered};
use super::moves::Moves;
use crate::bind::from::{From, columns_item, own_ctes};
use crate::bind::grouping::{AGGREGATES, GroupKeys};
use crate::bind::join::{cross, marked, shifted};
use crate::bind::levels::{children, columns_of_expr};
use crate::bind::limit::tied;
use crate::bind::locking::Locking;
use crate::bind::logical::{Cte, CteBody, Node, Output, Query};
use crate::bind::query::{Block, Outside};
use crate::bind::sample::{method_named, sampled};
use crate::bind::scope::{PRESENCE, Scope, ScopeColumn, ScopeItem, Source, Standing, column_at};
use crate::bind::select::Clauses;
use crate::bind::set_operation::as_side;
use crate::bind::subquery::{compared_row, comparing};
use crate::bind::target::BoundTarget;
use crate::bind::tree::{
    BodyTree, ConditionTree, CteTree, DistinctTree, FromList, FromTree, JoinTree, QueryTree,
    SampleTree, SelectTree,
};
use crate::bind::typed::{AggregateCall, CallForm, Expr, SubqueryKind, conjuncts};
use crate::bind::with::{CteEntry, CteScope, cast_step};
use crate::bind::{Binder, Required};
use crate::catalog::acl::Privileges;
use crate::catalog::builtin::Volatility;
use crate::catalog::{Relation, RelationKind};
use crate::error::Result;
use crate::parse::ast::{Alias, Ident};
use crate::types::{Oid, SqlType};
use std::rc::Rc;
use std::slice::Iter;
use std::sync::Arc;
use txn::TableLock;

/// The items of a FROM that have not been opened, and how many columns those had that have been.
struct Items<'t> {
    left: Iter<'t, ScopeItem>,
    passed: usize,
}

impl<'t> Items<'t> {
    fn next(&mut self) -> Result<&'t ScopeItem> {
        self.left.next().ok_or_else(|| corrupt("an item of FROM has no names"))
    }
}

/// What encloses a subquery in an expression over the row of this scope.
fn around<'s>(scope: &'s Scope<'s>) -> Outside<'s> {
    Outside { scope: Some(scope), cost: 1, stands: Standing::default(), sees_lateral: true }
}

/// An opened item of FROM, and where its columns were in the tree.
struct Item {
    from: From,
    moves: Moves,
}

impl Item {
    /// Puts the row of another item behind this one.
    fn beside(mut self, right: Item, node: impl FnOnce(Node, Node) -> Node) -> Item {
        let (left, right_from) = (self.from, right.from);
        let mut items = left.items;
        items.extend(shifted(right_from.items, left.width));
        self.moves.append(right.moves);
        let (node, width) = (node(left.node, right_from.node), left.width + right_from.width);
        Item { from: From { node, items, width, trees: Vec::new() }, moves: self.moves }
    }
}

impl Binder<'_> {
    /// A kept query within what encloses it.
    pub(in crate::bind) fn kept_query(
        &self,
        tree: &QueryTree,
        outside: Outside<'_>,
        ctes: Option<&CteScope<'_>>,
    ) -> Result<Query> {
        self.deeper(|| {
            let scope = own_ctes(ctes);
            let with = tree.with.as_ref().map_or(&[][..], |with| &with.ctes);
            let ctes = self.kept_entries(with, outside, &scope)?;
            let Block { node: root, output, .. } = self.kept_block(tree, outside, &scope)?;
            Ok(Query { root, output, ctes, tree: None })
        })
    }

    /// The rows of a kept query without its WITH.
    fn kept_block(
        &self,
        tree: &QueryTree,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Block> {
        let mut block = match &tree.body {
            BodyTree::Select(select) => {
                self.kept_select(SelectTree::clone(select), tree.with_ties, outside, ctes)?
            }
            BodyTree::Values { rows, types } => {
                let (scope, mut rows) = (outside.inner(), rows.clone());
                self.open_all(rows.iter_mut().flatten(), &scope, ctes)?;
                self.kept_values(rows, types.clone())?
            }
            BodyTree::SetOperation { kind, all, left, right, types } => {
                let side = |side: &QueryTree| match &side.with {
                    None => self.kept_block(side, outside, ctes),
                    Some(_) => Ok(as_side(self.kept_query(side, outside, Some(ctes))?)),
                };
                self.kept_set_operation((*kind, *all), [side(left)?, side(right)?], types)?
            }
        };
        if !tree.order_by.is_empty() {
            let keys = tree.order_by.clone();
            block.node = Node::Sort { input: Box::new(block.node), keys };
        }
        if tree.limit.is_some() || tree.offset.is_some() {
            let scope = outside.inner();
            let value = |written: &Option<Expr>, clause| -> Result<Option<Expr>> {
                let Some(mut value) = written.clone() else { return Ok(None) };
                self.open(&mut value, &scope, ctes)?;
                self.limit_value(value, clause, 0).map(Some)
            };
            let (limit, offset) = (value(&tree.limit, "LIMIT")?, value(&tree.offset, "OFFSET")?);
            let with_ties = if tree.with_ties { tied(&block.node) } else { None };
            block.node = Node::Limit { input: Box::new(block.node), limit, offset, with_ties };
        }
        Ok(block)
    }

    fn kept_select(
        &self,
        mut select: SelectTree,
        with_ties: bool,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Block> {
        let Item { from, moves } = self.kept_list(&select.from, outside, ctes)?;
        let From { mut node, items, width, .. } = from;
        let scope = Scope { items, ..outside.inner() };
        let mut opened = Ok(());
        select.expressions(&mut |expr| {
            if opened.is_ok() {
                opened = moves.expr(expr).and_then(|()| self.open(expr, &scope, ctes));
            }
        });
        opened?;
        let collected = &mut select.collected;
        let windows = collected.windows.iter_mut().map(|window| &mut window.call);
        for call in collected.aggregates.iter_mut().chain(windows) {
            self.kept_call(call)?;
        }
        if let Some(condition) = select.filter {
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) };
        }
        let distinct_on = match &select.distinct {
            DistinctTree::On(targets) => targets.iter().map(|target| (*target, 0)).collect(),
            _ => Vec::new(),
        };
        let clauses = Clauses {
            from: (node, width),
            targets: select.targets,
            visible: select.visible,
            having: select.having.map(|having| (having, 0)),
            keys: GroupKeys::kept(select.groups)?,
            collected: select.collected,
            order_by: select.order_by,
            distinct: select.distinct,
            distinct_on,
            locking: Locking::Kept(&select.locks),
            with_ties,
        };
        let (node, output) = self.above_from(clauses, &scope)?;
        Ok(Block { node, output, tree: None })
    }

    /// An aggregate's or window function's call.
    fn kept_call(&self, call: &mut AggregateCall) -> Result<()> {
        self.note_function(call.function);
        let Some(routine) = self.catalog.routine(call.function) else { return Ok(()) };
        if routine.aggregate.as_ref().is_some_and(|own| own.built_in().is_none()) {
            let made = self.made_aggregate(routine, &call.arguments, call.ty, 0)?;
            call.made = Some(Arc::new(made));
        }
        Ok(())
    }

    // --- WITH --------------------------------------------------------------------------------------------------------

    fn kept_entries(
        &self,
        ctes: &[CteTree],
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<Vec<Cte>> {
        let mut bound = Vec::new();
        let before = scope.entries.borrow().len();
        for cte in ctes {
            let open = || self.kept_cte(cte, outside, scope);
            let (part, (inner, body, output)) = self.with_part((false, cte.materialized), open)?;
            if cte.recurs {
                self.recurs(part);
            }
            let columns = self.cte_columns(&output, &cte.columns, &cte.name)?;
            let name = cte.name.clone();
            let entry = CteEntry { name, part, columns, rows: true, added: 0, recursing: None };
            scope.enter((before, &mut bound), inner, (entry, body, self.merges(part)));
        }
        Ok(bound)
    }

    /// A query of WITH: those that stand before it, its own, and what it returns.
    fn kept_cte(
        &self,
        cte: &CteTree,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
    ) -> Result<(Vec<Cte>, CteBody, Vec<Output>)> {
        let tree = cte.query.as_deref().ok_or_else(|| corrupt("a statement in WITH"))?;
        if !cte.recurs {
            let query = self.kept_query(tree, outside, Some(scope))?;
            let output = query.output.clone();
            return Ok((Vec::new(), CteBody::Query(query), output));
        }
        let BodyTree::SetOperation { all, left, right, .. } = &tree.body else {
            return Err(corrupt("a recursive query is no UNION"));
        };
        let with = tree.with.as_ref().map_or(&[][..], |with| &with.ctes);
        let inner = self.kept_entries(with, outside, scope)?;
        let mut base = self.kept_query(left, outside, Some(scope))?;
        let mut columns = self.cte_columns(&base.output, &cte.columns, &cte.name)?;
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let mut values = None;
        if let Some((value, otherwise)) = cte.cycle.as_ref().and_then(|cycle| cycle.values.as_ref())
        {
            let mut pair = [(value.clone(), 0), (otherwise.clone(), 0)];
            let exprs = pair.iter_mut().map(|(value, _)| value);
            self.open_all(exprs, &outside.inner(), scope)?;
            values = Some(pair);
        }
        let clauses = (
            cte.search.clone().map(|search| (search, 0)),
            cte.cycle.clone().map(|cycle| (cycle, 0)),
        );
        let traced = self.traced_by((&cte.name, 0), names, clauses, values)?;
        let added = traced.as_ref().map_or(0, |traced| traced.columns.len());
        columns.extend(traced.iter().flat_map(|traced| traced.columns.iter().cloned()));
        let (name, part, recursing) = (cte.name.clone(), self.part.get(), Some(Rc::default()));
        let entry = CteEntry { name, part, columns, rows: true, added, recursing };
        scope.entries.borrow_mut().push(entry);
        let mut step = match added {
            0 => self.kept_query(right, outside, Some(scope))?,
            _ => {
                let continued = continued(right, cte, base.output.len(), added)?;
                self.kept_query(&continued, outside, Some(scope))?
            }
        };
        if step.output.len() != base.output.len() + added {
            return Err(corrupt("the terms of a recursive query differ"));
        }
        let columns = base.output.iter().enumerate();
        let columns = columns.map(|(at, want)| self.step_column(&step, at, want.ty, (0, 0)));
        let columns = columns.collect::<Result<_>>()?;
        cast_step(&mut step, &base, columns);
        if let Some(traced) = &traced {
            self.trace(traced, &mut base, &mut step)?;
        }
        let output = base.output.clone();
        Ok((inner, CteBody::Recursive { base, step, all: *all }, output))
    }

    // --- FROM --------------------------------------------------------------------------------------------------------

    fn kept_list(
        &self,
        from: &FromList,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Item> {
        let around = outside.inner();
        let inside = Outside {
            scope: Some(&around),
            cost: 0,
            stands: Standing::default(),
            sees_lateral: true,
        };
        let mut items = Items { left: from.items.iter(), passed: 0 };
        let mut all: Option<Item> = None;
        for (tree, lateral) in &from.list {
            all = Some(match all {
                None => self.kept_item(tree, &mut items, inside, ctes)?,
                Some(mut left) => {
                    let beside = (tree, *lateral);
                    let right = self.kept_beside(&mut left, beside, &mut items, inside, ctes)?;
                    left.beside(right, |left, right| cross(left, right, *lateral))
                }
            });
        }
        let nothing = || From { node: Node::Unit, items: Vec::new(), width: 0, trees: Vec::new() };
        Ok(all.unwrap_or_else(|| Item { from: nothing(), moves: Moves::none(0) }))
    }

    /// What stands to the right of `left`, and may look at its row.
    fn kept_beside(
        &self,
        left: &mut Item,
        (tree, lateral): (&FromTree, bool),
        items: &mut Items<'_>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Item> {
        if !lateral {
            return self.kept_item(tree, items, outside, ctes);
        }
        let mut tree = tree.clone();
        left.moves.beside(&mut tree)?;
        let own = std::mem::take(&mut left.from.items);
        let frame = Scope { items: own, lateral: true, ..outside.inner() };
        let right = self.kept_item(&tree, items, around(&frame), ctes)?;
        left.from.items = frame.items;
        Ok(right)
    }

    fn kept_item(
        &self,
        tree: &FromTree,
        items: &mut Items<'_>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Item> {
        if let FromTree::Join(join) = tree {
            return self.deeper(|| self.kept_join(join, items, outside, ctes));
        }
        let mut kept = items.next()?.clone();
        items.passed += kept.columns.len();
        if kept.columns.pop_if(|column| *column.name == *PRESENCE).is_none() {
            return self.kept_own_item(tree, &kept, outside, ctes);
        }
        let Item { from, mut moves } = self.kept_own_item(tree, &kept, outside, ctes)?;
        moves.append(Moves::none(1));
        Ok(Item { from: marked(from), moves })
    }

    /// The same of an item that is no join, `kept` without what tells whether there is a row of it.
    fn kept_own_item(
        &self,
        tree: &FromTree,
        kept: &ScopeItem,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Item> {
        let named = || kept.name.clone();
        let same = Moves::none(kept.columns.len());
        match tree {
            FromTree::Table { relation, columns, aliased, sample } => {
                let before: Vec<i16> = columns.iter().map(|column| column.number).collect();
                let system: Vec<i16> =
                    before.iter().copied().filter(|number| *number < 0).collect();
                let name = if *aliased { named() } else { None };
                let alias = name.map(|name| Alias { name, columns: Vec::new() });
                let mut table = self.kept_table(*relation, alias.as_ref(), &system)?;
                if let Some(sample) = sample {
                    self.kept_sample(&mut table, sample, outside, ctes)?;
                }
                let fresh = table.items.pop().ok_or_else(|| corrupt("a table has no names"))?;
                let now = fresh.columns.iter().filter_map(|column| column.origin);
                let now: Vec<i16> = now.map(|(_, number)| number).collect();
                let types: Vec<SqlType> =
                    fresh.columns.iter().map(|column| column.expr.ty()).collect();
                let moves = Moves::of(&before, &now, &types, kept.row_type);
                made(kept, table.node, moves, Some(&fresh))
            }
            FromTree::With { name, .. } => {
                let missing = || corrupt("a query of WITH is missing");
                let (level, cte, entry) = ctes.find(name).ok_or_else(missing)?;
                if entry.recursing.is_none() {
                    self.names_part(entry.part);
                }
                self.with_reads.set(self.with_reads.get() + 1);
                let alias = named().unwrap_or_else(|| name.clone());
                let columns = entry.columns;
                made(kept, Node::CteScan { level, cte, columns, alias }, same, None)
            }
            FromTree::Query { tree, lateral, .. } => {
                let within = Outside { sees_lateral: *lateral, ..outside };
                let query = Arc::new(self.kept_query(tree, within, Some(ctes))?);
                let alias = named().unwrap_or_else(|| "unnamed_subquery".into());
                let number = self.next_item();
                let node = Node::Derived { query, alias, item: Some(number), view: None };
                let mut item = made(kept, node, same, None)?;
                item.from.items[0].source = Source::Query(number);
                Ok(item)
            }
            FromTree::Function { calls, fields, ordinality, .. } => {
                let (node, columns, moves) =
                    self.kept_calls((calls, fields), *ordinality, kept, outside, ctes)?;
                let fresh = columns_item(kept.name.clone(), columns);
                made(kept, node, moves, Some(&ScopeItem { source: Source::Function, ..fresh }))
            }
            FromTree::Join(_) => unreachable!("joins have been told apart"),
        }
    }

    /// The rows of functions in FROM, their columns, and where these were.
    fn kept_calls(
        &self,
        (calls, fields): (&[(Expr, Vec<(Ident, SqlType)>)], &[Vec<i16>]),
        ordinality: bool,
        kept: &ScopeItem,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<(Node, Vec<ScopeColumn>, Moves)> {
        let (scope, one) = (outside.inner(), calls.len() == 1);
        // Several are wrapped in a query, a step further from the WITH queries around it.
        let own = own_ctes(Some(ctes));
        let within = if one { ctes } else { &own };
        let mut moves = Moves::none(0);
        let mut opened = Vec::new();
        for ((call, defined), before) in calls.iter().zip(fields) {
            let mut call = call.clone();
            self.open(&mut call, &scope, within)?;
            let now = numbered(self.catalog, call.ty());
            let shown = kept.name.clone().filter(|_| one).or_else(|| self.name_called(&call));
            let name = shown.unwrap_or_else(|| "function".into());
            let called = self.called(call, defined, ordinality || !one, &name);
            let count = called.columns.len() - usize::from(ordinality || !one);
            let types: Vec<SqlType> = called.columns.iter().map(|(_, ty)| *ty).collect();
            if !one {
                // Of several it is not told which columns are read.
                let row = SqlType::plain(called.row_type.0);
                self.fields.borrow_mut().extend((0..now.len()).map(|at| (row, at as u32)));
            }
            moves.append(match before.is_empty() {
                true => Moves::none(count),
                false => Moves::of(before, &now, &types, called.row_type),
            });
            opened.push((called.node, called.columns));
        }
        moves.append(Moves::none(usize::from(ordinality)));
        let (node, columns) = match <[_; 1]>::try_from(opened) {
            Ok([called]) => called,
            Err(several) => self.side_by_side(several, ordinality, kept.name.as_ref(), 0)?,
        };
        let column = |(at, (name, ty)): (usize, (Ident, SqlType))| ScopeColumn {
            name,
            expr: column_at(at, ty),
            origin: None,
            system: false,
        };
        Ok((node, columns.into_iter().enumerate().map(column).collect(), moves))
    }

    /// The name of the function that a value in FROM is the call of.
    fn name_called(&self, call: &Expr) -> Option<Arc<str>> {
        let Expr::Call { function, .. } = call else { return None };
        self.catalog.procedure(*function).map(|found| found.name.into())
    }

    fn kept_table(&self, oid: Oid, alias: Option<&Alias>, system: &[i16]) -> Result<From> {
        let opaque = self.opaque_views || self.opaque_base.take();
        let relation = self.catalog.relation(oid).cloned();
        let relation: Arc<Relation> =
            relation.ok_or_else(|| corrupt("it reads a relation that is not there"))?;
        self.require(oid, Privileges::SELECT);
        self.hold(oid, TableLock::AccessShare);
        match &relation.kind {
            RelationKind::View { .. } if opaque => self.opaque_view(&relation, alias),
            RelationKind::View { query } => self.bind_view(&relation, query, alias),
            RelationKind::Table { .. } | RelationKind::System | RelationKind::Sequence(_) => {
                self.scan(&relation, alias, self.next_item(), system)
            }
            RelationKind::Composite => Err(corrupt("it reads a composite type")),
        }
    }

    fn kept_sample(
        &self,
        from: &mut From,
        sample: &SampleTree,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<()> {
        let SampleTree { method, mut percentage, mut seed } = sample.clone();
        let function = method_named(&method).ok_or_else(|| corrupt("a sample has no method"))?;
        let values = seed.iter_mut().chain([&mut percentage]);
        self.open_all(values, &outside.inner(), ctes)?;
        sampled(from, function, percentage, seed);
        Ok(())
    }

    fn kept_join(
        &self,
        join: &JoinTree,
        items: &mut Items<'_>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Item> {
        let base = items.passed;
        let mut left = self.kept_item(&join.left, items, outside, ctes)?;
        let beside = (&join.right, join.lateral);
        let right = self.kept_beside(&mut left, beside, items, outside, ctes)?;
        let (kind, lateral) = (join.kind, join.lateral);
        let node = |left, right| Node::Join {
            kind,
            left: Box::new(left),
            right: Box::new(right),
            on: Vec::new(),
            lateral,
        };
        let Item { mut from, moves } = left.beside(right, node);
        let mut scope = Scope { items: from.items, ..outside.inner() };
        let open = |test: &mut Expr| -> Result<()> {
            moves.expr(test)?;
            self.open(test, &scope, ctes)
        };
        let tests = match join.condition.clone() {
            ConditionTree::Nothing => Vec::new(),
            ConditionTree::On(mut condition) => {
                open(&mut condition)?;
                conjuncts(condition)
            }
            ConditionTree::Using(_, _, mut on) => {
                on.iter_mut().try_for_each(open)?;
                on
            }
        };
        if let Node::Join { on, .. } = &mut from.node {
            *on = tests;
        }
        let named = matches!(join.condition, ConditionTree::Using(_, Some(_), _));
        for _ in 0..usize::from(named) + usize::from(join.has_item) {
            let mut own = moved_back(items.next()?.clone(), base);
            moves.item(&mut own);
            scope.items.push(own);
        }
        from.items = scope.items;
        Ok(Item { from, moves })
    }

    // --- Expressions -------------------------------------------------------------------------------------------------

    fn open_all<'e>(
        &self,
        exprs: impl IntoIterator<Item = &'e mut Expr>,
        scope: &Scope<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<()> {
        exprs.into_iter().try_for_each(|expr| self.open(expr, scope, ctes))
    }

    /// An expression that stands by itself, and is over no row of a query.
    pub(super) fn open_alone(&self, expr: &mut Expr) -> Result<()> {
        self.open(expr, &Scope::new(None, 0), &own_ctes(None))
    }

    /// An expression over the row of this scope.
    fn open(&self, expr: &mut Expr, scope: &Scope<'_>, ctes: &CteScope<'_>) -> Result<()> {
        match expr {
            Expr::Column { level, column, .. } => {
                self.read_place(scope, *level, *column);
                return Ok(());
            }
            Expr::Subquery { kind, query, .. } => {
                let tree = query.tree.as_ref().ok_or_else(|| corrupt("a query has no tree"))?;
                // The row of the query, which its tests are over.
                let beyond = Scope::new(Some(scope), 1);
                if let SubqueryKind::Quantified { test, .. } = kind {
                    self.open(test, &beyond, ctes)?;
                }
                let opened = match compared_row(query).cloned() {
                    None => self.kept_query(tree, around(scope), Some(ctes))?,
                    Some(mut test) => {
                        let own = own_ctes(Some(ctes));
                        let inner = self.kept_query(tree, around(scope), Some(&own))?;
                        self.open(&mut test, &beyond, ctes)?;
                        comparing(inner, test)
                    }
                };
                *query = Arc::new(opened);
                return Ok(());
            }
            _ => {}
        }
        let mut opened = Ok(());
        children(expr, &mut |child| {
            if opened.is_ok() {
                opened = self.open(child, scope, ctes);
            }
        });
        opened?;
        self.note(expr);
        self.complete_one(expr)
    }

    /// The query reads the column at this place of the row so many levels out.
    fn read_place(&self, scope: &Scope<'_>, level: u16, column: u32) {
        if column >= AGGREGATES {
            return;
        }
        let Some(row) = scope.rows_out(level) else { return };
        let mut place = column as usize;
        for item in row.items.iter().filter(|item| item.source != Source::Join) {
            let Some(column) = item.columns.get(place) else {
                place -= item.columns.len();
                continue;
            };
            self.read_column(column.origin);
            let row = SqlType::plain(item.row_type.0);
            if item.source == Source::Function && place < numbered(self.catalog, row).len() {
                self.fields.borrow_mut().push((row, place as u32));
            }
            return;
        }
    }

    /// Notes what a part of an expression demands, and what it may do to the plan.
    fn note(&self, expr: &Expr) {
        match expr {
            Expr::Call { function, form: CallForm::Operator(_) | CallForm::Cast, .. }
            | Expr::ScalarArray { function, .. }
            | Expr::IsDistinct { equals: function, .. }
            | Expr::NullIf { equals: function, .. } => {
                if let Some(routine) = self.catalog.routine(*function) {
                    // What takes its place is asked for anew.
                    drop(self.catalog.routines_named(&routine.name));
                    self.require_also(Required::Called(*function));
                    self.apart.set(self.apart.get() || routine.volatility == b'v');
                }
            }
            Expr::Call { function, arguments, .. } => {
                self.note_function(*function);
                self.hold_sequence(*function, arguments);
            }
            Expr::Collate { .. } => self.collates.set(true),
            Expr::Domain(_, ty) => self.meet_domain(ty.oid),
            Expr::Field { operand, field, ty } => self.meet_field(operand, *field, *ty),
            _ => {}
        }
    }

    fn note_function(&self, function: Oid) {
        let Some(found) = self.catalog.procedure(function) else { return };
        if found.volatility == Volatility::Volatile {
            self.apart.set(true);
        }
        let guarded = || self.catalog.function_acl(&found).is_some();
        if found.extension.is_some() || found.is_made() || guarded() {
            self.require_also(Required::Function(function));
        }
    }
}

/// An item with the names that it had; columns that have come since are as those of `fresh`, which is the item as it is now.
fn made(kept: &ScopeItem, node: Node, moves: Moves, fresh: Option<&ScopeItem>) -> Result<Item> {
    let fresh_item = fresh.unwrap_or(kept);
    if fresh_item.columns.len() != moves.width() {
        return Err(corrupt("an item of FROM has other columns"));
    }
    let origins = moves.origins();
    let columns = origins.iter().zip(&fresh_item.columns).enumerate();
    let columns: Vec<ScopeColumn> = columns
        .map(|(at, (was, now))| {
            let own = was.and_then(|was| kept.columns.get(was)).unwrap_or(now);
            ScopeColumn { expr: column_at(at, now.expr.ty()), ..own.clone() }
        })
        .collect();
    let (source, scan) = fresh.map_or((kept.source, None), |fresh| (fresh.source, fresh.scan));
    let item = ScopeItem { columns, source, scan, ..kept.clone() };
    let from = From { node, items: vec![item], width: moves.width(), trees: Vec::new() };
    Ok(Item { from, moves })
}

/// The items of a join's own names over the join's row, which begins at column `base` of that of FROM.
fn moved_back(mut item: ScopeItem, base: usize) -> ScopeItem {
    for column in &mut item.columns {
        let mut place = |part: &mut Expr, depth: u16| {
            if let Expr::Column { level, column, .. } = part
                && *level == depth
            {
                *column = column.saturating_sub(base as u32);
            }
        };
        columns_of_expr(&mut column.expr, 0, &mut place);
    }
    item
}

/// The second term of a recursive query with what SEARCH and CYCLE read of the row before behind its own columns.
fn continued(step: &QueryTree, cte: &CteTree, width: usize, added: usize) -> Result<QueryTree> {
    /// The first column of the query's row, and how many it has.
    fn find(tree: &FromTree, name: &str, items: &mut Items<'_>) -> Result<Option<(usize, usize)>> {
        if let FromTree::Join(join) = tree {
            let left = find(&join.left, name, items)?;
            let right = find(&join.right, name, items)?;
            for _ in join.left.items() + join.right.items()..tree.items() {
                items.next()?;
            }
            return Ok(left.or(right));
        }
        let (first, count) = (items.passed, items.next()?.columns.len());
        items.passed += count;
        let is_it = matches!(tree, FromTree::With { name: known, .. } if **known == *name);
        Ok(is_it.then_some((first, count)))
    }
    let mut step = step.clone();
    let BodyTree::Select(select) = &mut step.body else {
        return Err(corrupt("a recursive term is no SELECT"));
    };
    let mut items = Items { left: select.from.items.iter(), passed: 0 };
    let mut found = None;
    for (tree, _) in &select.from.list {
        let here = find(tree, &cte.name, &mut items)?;
        found = found.or(here);
    }
    let (first, count) = found.ok_or_else(|| corrupt("a recursive term does not recur"))?;
    let all = select.from.items.iter().filter(|item| item.source != Source::Join);
    let columns: Vec<&ScopeColumn> = all.flat_map(|item| &item.columns).collect();
    let target = |at: usize| {
        let column = columns[at];
        let (name, origin) = (column.name.clone(), column.origin);
        let ty: SqlType = column.expr.ty();
        BoundTarget { expr: column_at(at, ty), name, origin, at: 0 }
    };
    let behind = (first + count).saturating_sub(added)..first + count;
    let targets = behind.map(target).collect();
    select.with_items(width, targets);
    Ok(step)
}
