//! Queries: SELECT, VALUES, set operations, ORDER BY, LIMIT.

use crate::bind::Binder;
use crate::bind::coerce::Context;
use crate::bind::expression::Place;
use crate::bind::grouping::{Collected, Groups, WindowCall};
use crate::bind::levels::{any, columns_of_expr, same};
use crate::bind::locking::lock_words;
use crate::bind::scope::{Scope, Standing, column_at};
use crate::bind::set_calls;
use crate::bind::target::{BoundTarget, name_of};
use crate::bind::type_name::oid;
use crate::bind::typed::{AggregateCall, Expr, Literal};
use crate::bind::with::{Around, CteScope};
use crate::catalog::builtin::{Volatility, function};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body, Distinct, ExprKind, Ident, Select};
use crate::plan::logical::{JoinKind, Node, Output, Query, SetKind, SortKey};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::cell::RefCell;

/// What encloses a query.
#[derive(Clone, Copy)]
pub(super) struct Outside<'s> {
    pub scope: Option<&'s Scope<'s>>,
    /// Levels to that scope's row.
    pub cost: u16,
    /// Where in that scope's query it stands.
    pub stands: Standing<'s>,
    /// Names of lateral scopes directly above may be used.
    pub sees_lateral: bool,
}

impl<'s> Outside<'s> {
    /// Nothing.
    pub(super) const NOTHING: Outside<'static> = Outside {
        scope: None,
        cost: 0,
        stands: Standing { clause: "", collected: None },
        sees_lateral: true,
    };

    /// What encloses a subquery in an expression at this place, whose row is one level out.
    pub(super) fn of(place: &Place<'s>) -> Outside<'s> {
        Outside {
            scope: Some(place.scope),
            cost: 1,
            stands: Standing { clause: place.clause, collected: place.collected },
            sees_lateral: true,
        }
    }

    pub(super) fn inner(self) -> Scope<'s> {
        Scope {
            sees_lateral: self.sees_lateral,
            stands: self.stands,
            ..Scope::new(self.scope, self.cost)
        }
    }
}

/// A query's rows, and what its ORDER BY and LIMIT are still to be put above.
struct Block {
    node: Node,
    output: Vec<Output>,
}

impl Binder<'_> {
    pub(super) fn top_query(&self, query: &ast::Query) -> Result<Query> {
        let mut query = self.query(query, Outside::NOTHING, None, true)?;
        // The numbers of records' shapes are this binding's alone.
        for column in &mut query.output {
            if matches!(column.ty.oid.0, oid::RECORD | oid::RECORD_ARRAY) {
                column.ty.typmod = -1;
            }
        }
        Ok(query)
    }

    /// A query within what encloses it. `decide`: untyped output becomes text.
    pub(super) fn query(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: Option<&CteScope<'_>>,
        decide: bool,
    ) -> Result<Query> {
        self.deeper(|| {
            let scope = CteScope { parent: ctes, entries: RefCell::default() };
            let ctes = self.with(query.with.as_ref(), outside, &scope)?;
            let block = self.block(query, outside, &scope, decide)?;
            Ok(Query { root: block.node, output: block.output, ctes })
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

    /// The rows of a query without its WITH.
    fn block(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        let mut block = match &query.body {
            Body::Select(select) => return self.select(query, select, outside, ctes, decide),
            Body::Values(rows) => self.values(rows, outside, ctes, decide)?,
            Body::SetOperation { kind, all, left, right, at } => {
                self.set_operation((*kind, *all), left, right, *at, outside, ctes)?
            }
        };
        if let Some(locking) = query.locking.first() {
            let what = if matches!(query.body, Body::Values(_)) {
                "VALUES"
            } else {
                "UNION/INTERSECT/EXCEPT"
            };
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("{} is not allowed with {what}", lock_words(locking.strength)),
            ));
        }
        if !query.order_by.is_empty() {
            let keys = query
                .order_by
                .iter()
                .map(|key| self.output_key(key, &block.output))
                .collect::<Result<_>>()?;
            block.node = Node::Sort { input: Box::new(block.node), keys };
        }
        block.node = self.limit(block.node, query, (outside, &outside.inner()), ctes)?;
        Ok(block)
    }

    /// A sort key that can only name an output column, by number or name.
    pub(super) fn output_key(&self, key: &ast::OrderBy, output: &[Output]) -> Result<SortKey> {
        let at = self.position(key.expr.start());
        let place = match &key.expr.kind {
            ExprKind::Integer(number) => self.numbered(*number, output.len(), "ORDER BY", at)?,
            ExprKind::Column(parts) if parts.len() == 1 => {
                output.iter().position(|column| column.name == parts[0]).ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("column \"{}\" does not exist", parts[0]),
                    )
                    .at(at)
                })?
            }
            _ => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                )
                .detail("Only result column names can be used, not expressions or functions.")
                .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
                .at(at));
            }
        };
        self.sort_key(column_at(place, output[place].ty), key)
    }

    pub(super) fn numbered(
        &self,
        number: i32,
        count: usize,
        clause: &str,
        at: u32,
    ) -> Result<usize> {
        match usize::try_from(number) {
            Ok(place) if (1..=count).contains(&place) => Ok(place - 1),
            _ => Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!("{clause} position {number} is not in select list"),
            )
            .at(at)),
        }
    }

    // --- VALUES, UNION -----------------------------------------------------------------------------------------------

    /// 42601 for a row of VALUES that is not as long as the first.
    pub(super) fn check_width(&self, row: &[ast::Expr], values: usize, width: usize) -> Result<()> {
        if values == width {
            return Ok(());
        }
        let at = row.first().map_or(0, |first| self.position(first.start()));
        let message = "VALUES lists must all be the same length";
        Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(at))
    }

    fn values(
        &self,
        rows: &[Vec<ast::Expr>],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "VALUES");
        let mut columns: Vec<Vec<(Expr, u32)>> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let values = self.values_of(row, &place)?;
            if number == 0 {
                columns = values.iter().map(|_| Vec::with_capacity(rows.len())).collect();
            }
            self.check_width(row, values.len(), columns.len())?;
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let width = columns.len();
        let mut types = Vec::new();
        let mut by_row: Vec<Vec<Expr>> = rows.iter().map(|_| Vec::with_capacity(width)).collect();
        for column in columns {
            let untyped = column.iter().all(|(value, _)| value.ty().oid.0 == oid::UNKNOWN);
            let (values, ty) = if untyped && !decide {
                (column.into_iter().map(|(value, _)| value).collect(), SqlType::plain(oid::UNKNOWN))
            } else {
                self.to_common(column, "VALUES")?
            };
            types.push(ty);
            for (row, value) in by_row.iter_mut().zip::<Vec<Expr>>(values) {
                row.push(value);
            }
        }
        let output = types
            .iter()
            .enumerate()
            .map(|(number, ty)| Output {
                name: format!("column{}", number + 1).into(),
                ty: *ty,
                origin: None,
            })
            .collect();
        Ok(Block { node: Node::Values { rows: by_row, types }, output })
    }

    fn set_operation(
        &self,
        (kind, all): (SetKind, bool),
        left: &ast::Query,
        right: &ast::Query,
        at: u32,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Block> {
        let word = match kind {
            SetKind::Union => "UNION",
            SetKind::Intersect => "INTERSECT",
            SetKind::Except => "EXCEPT",
        };
        let (on_left, on_right) = match kind {
            SetKind::Union => (Around::Nothing, Around::Nothing),
            SetKind::Intersect if all => (Around::Intersect, Around::Intersect),
            SetKind::Intersect => (Around::Nothing, Around::Nothing),
            SetKind::Except if all => (Around::Except, Around::Except),
            SetKind::Except => (Around::Nothing, Around::Except),
        };
        let sides = [
            self.also_within(on_left, || self.side(left, outside, ctes))?,
            self.also_within(on_right, || self.side(right, outside, ctes))?,
        ];
        let [a, b] = &sides;
        let right_at = self.position(first_expression(right).unwrap_or(at));
        if a.output.len() != b.output.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("each {word} query must have the same number of columns"),
            )
            .at(right_at));
        }
        let mut columns = [Vec::new(), Vec::new()];
        let mut output = Vec::new();
        for (number, (x, y)) in a.output.iter().zip(&b.output).enumerate() {
            let places = [column_at(number, x.ty), column_at(number, y.ty)];
            let types = [(x.ty.oid, right_at), (y.ty.oid, right_at)];
            let common = self.common_type(&types, Some(word))?.unwrap_or(x.ty.oid);
            let typmod = self.common_modifier([x.ty, y.ty].into_iter(), common);
            let ty = SqlType { oid: common, typmod };
            for ((side, place), query) in columns.iter_mut().zip(places).zip(&sides) {
                side.push(self.side_column(place, ty, query, number, word, right_at)?);
            }
            if !all || kind != SetKind::Union {
                self.demand_equality(common, right_at)?;
            }
            output.push(Output { name: x.name.clone(), ty, origin: None });
        }
        let [left_columns, right_columns] = columns;
        let [a, b] = sides;
        let node = Node::SetOperation {
            kind,
            all,
            left: Box::new(converted(a, left_columns)),
            right: Box::new(converted(b, right_columns)),
        };
        Ok(Block { node, output })
    }

    /// One side's column, cast to the common type; what has no type in the select list is read as that type.
    fn side_column(
        &self,
        place: Expr,
        ty: SqlType,
        side: &Block,
        number: usize,
        word: &str,
        at: u32,
    ) -> Result<Expr> {
        if place.ty().oid.0 == oid::UNKNOWN
            && let Some(item) = untyped_item(&side.node, number)
        {
            return self.argument(item.clone(), ty.oid, at);
        }
        self.to_common_one(place, ty, word, at)
    }

    fn side(&self, query: &ast::Query, outside: Outside<'_>, ctes: &CteScope<'_>) -> Result<Block> {
        if query.with.is_none() {
            return self.block(query, outside, ctes, false);
        }
        let query = self.query(query, outside, Some(ctes), false)?;
        let output = query.output.clone();
        Ok(Block {
            node: Node::Derived { query: query.into(), alias: "*SELECT*".into(), item: None },
            output,
        })
    }

    // --- SELECT ----------------------------------------------------------------------------------------------------

    fn select(
        &self,
        query: &ast::Query,
        select: &Select,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        if let Some(into) = &select.into {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "SELECT ... INTO is not allowed here",
            )
            .at(self.position(into.name.at)));
        }
        let mut scope = outside.inner();
        let from = self.bind_list(&select.from, outside, ctes, &self.scans)?;
        scope.items = from.items;
        let (mut node, mut width) = (from.node, from.width);
        if let Some(filter) = &select.filter {
            let condition =
                self.condition(filter, &Place::plain(&scope, Some(ctes), "WHERE"), "WHERE")?;
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) };
        }
        let collected = RefCell::new(Collected::default());
        let place = Place {
            scope: &scope,
            ctes: Some(ctes),
            clause: "SELECT",
            collected: Some(&collected),
            windows: true,
            sets: true,
        };
        self.window_clause(select, &place)?;
        let mut targets = self.targets(&select.targets, &place, decide)?;
        let visible = targets.len();
        let keys = self.group_keys(select, &targets, &place)?;
        let having = select
            .having
            .as_ref()
            .map(|having| {
                let place = Place { windows: false, sets: false, clause: "HAVING", ..place };
                self.condition(having, &place, "HAVING")
            })
            .transpose()?;
        let order_by = self.order_by(query, select, &mut targets, visible, &place)?;
        let distinct_on = self.distinct_on(&select.distinct, &mut targets, visible, &place)?;

        let Collected { mut aggregates, mut windows, groupings, asked, direct, .. } =
            collected.into_inner();
        let grouping = groupings.iter().flatten().map(|(_, at)| *at);
        let first = if aggregates.is_empty() { None } else { asked.iter().copied().min() };
        self.demand_no_recursion(&select.from, ctes, first.or(grouping.min()))?;
        let grouped = !select.group_by.is_empty()
            || !aggregates.is_empty()
            || !groupings.is_empty()
            || having.is_some();
        let (mut having, mut groupings) = (having, groupings);
        if grouped {
            let (mut keys, sets) = keys;
            let mut others: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            others.extend(having.as_mut());
            others.extend(groupings.iter_mut().flatten().map(|(argument, _)| argument));
            others.extend(aggregates.iter_mut().flat_map(call_expressions));
            others.extend(windows.iter_mut().flat_map(window_expressions));
            (node, _) = set_calls::below(node, width, keys.iter_mut().collect(), others);
            let mut groups = Groups { written: keys.len(), keys, scope: &scope };
            for target in &mut targets {
                self.group(&mut target.expr, &mut groups, target.at)?;
            }
            if let (Some(having), Some(written)) = (&mut having, &select.having) {
                self.group(having, &mut groups, self.position(written.start()))?;
            }
            for call in &mut windows {
                for expr in window_expressions(call) {
                    self.group(expr, &mut groups, 0)?;
                }
            }
            for (number, call) in aggregates.iter().enumerate() {
                self.direct_are_grouped(call, &direct[number], &mut groups)?;
            }
            let count = groups.keys.len();
            // Columns that follow from the keys belong to every grouping set that has those.
            let implied = groups.written as u32..count as u32;
            let sets: Vec<Vec<u32>> = sets
                .into_iter()
                .map(|set| set.into_iter().chain(implied.clone()).collect())
                .collect();
            width = count + aggregates.len();
            let mask = (sets.len() > 1).then(|| column_at(width, SqlType::plain(oid::INT4)));
            width += usize::from(mask.is_some());
            let groupings = self.groupings(groupings, &groups, mask)?;
            let place = |expr: &mut Expr| {
                self.place_aggregates(count, expr);
                self.place_groupings(&groupings, expr);
            };
            for target in &mut targets {
                place(&mut target.expr);
            }
            having.iter_mut().for_each(place);
            for call in &mut windows {
                window_expressions(call).into_iter().for_each(place);
            }
            let calls = std::mem::take(&mut aggregates);
            node = Node::Aggregate { input: Box::new(node), keys: groups.keys, sets, calls };
        }
        if let Some(having) = having {
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(having) };
        }
        if !windows.is_empty() {
            let mut exprs: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            let mut keys = Vec::new();
            for WindowCall { call, window } in &mut windows {
                exprs.extend(call_expressions(call));
                keys.extend(window.partition_by.iter_mut());
                keys.extend(window.order_by.iter_mut().map(|key| &mut key.expr));
            }
            (node, width) = set_calls::below(node, width, keys, exprs);
            let mut exprs: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            (node, width) = self.place_windows(node, width, windows, &mut exprs);
        }
        let output = targets[..visible].iter().map(BoundTarget::output).collect();
        let plain = matches!(select.distinct, Distinct::No)
            && query.locking.is_empty()
            && !query.with_ties
            && !targets.iter().any(|target| set_calls::returns_set(&target.expr));
        let later = |(at, target): (usize, &BoundTarget)| {
            let is_key = order_by.iter().any(|(key, _)| *key == at);
            plain && !order_by.is_empty() && !is_key && is_volatile(&target.expr)
        };
        if targets.iter().enumerate().any(later) {
            node = project_above_sort(node, targets, order_by);
        } else {
            node = set_calls::project(node, width, &mut targets);
            node =
                self.distinct_and_sort(node, select, &targets, visible, order_by, distinct_on)?;
            node = self.lock(node, query, &scope)?;
        }
        node = self.limit(node, query, (outside, &scope), ctes)?;
        Ok(Block { node, output })
    }

    /// The select-list item that an output name means.
    pub(super) fn output_name(
        &self,
        name: &str,
        targets: &[BoundTarget],
        clause: &str,
        at: u32,
    ) -> Result<Option<usize>> {
        let mut found: Option<usize> = None;
        for (number, target) in
            targets.iter().enumerate().filter(|(_, target)| &*target.name == name)
        {
            match found {
                Some(before) if !same(&targets[before].expr, &target.expr) => {
                    return Err(SqlError::new(
                        SqlState::AMBIGUOUS_COLUMN,
                        format!("{clause} \"{name}\" is ambiguous"),
                    )
                    .at(at));
                }
                Some(_) => {}
                None => found = Some(number),
            }
        }
        Ok(found)
    }

    /// The select-list item of a sort key, added behind the visible ones if it is none of them.
    fn sort_target(
        &self,
        expr: &ast::Expr,
        clause: &'static str,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<usize> {
        let at = self.position(expr.start());
        match &expr.kind {
            ExprKind::Integer(number) => return self.numbered(*number, visible, clause, at),
            ExprKind::String(_) | ExprKind::Number(_) | ExprKind::Null | ExprKind::Bool(_) => {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("non-integer constant in {clause}"),
                )
                .at(at));
            }
            ExprKind::Column(parts) if parts.len() == 1 => {
                if let Some(found) = self.output_name(&parts[0], &targets[..visible], clause, at)? {
                    return Ok(found);
                }
            }
            _ => {}
        }
        let place = Place { clause, ..*place };
        let bound = self.decided(self.expression(expr, &place)?)?;
        if let Some(found) = targets.iter().position(|target| same(&target.expr, &bound)) {
            return Ok(found);
        }
        targets.push(BoundTarget { expr: bound, name: name_of(expr), origin: None, at });
        Ok(targets.len() - 1)
    }

    pub(super) fn order_by(
        &self,
        query: &ast::Query,
        select: &Select,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<Vec<(usize, SortKey)>> {
        let mut keys = Vec::new();
        for key in &query.order_by {
            let target = self.sort_target(&key.expr, "ORDER BY", targets, visible, place)?;
            if target >= visible && matches!(select.distinct, Distinct::All) {
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                )
                .at(self.position(key.expr.start())));
            }
            keys.push((target, self.sort_key(column_at(target, targets[target].expr.ty()), key)?));
        }
        Ok(keys)
    }

    pub(super) fn distinct_on(
        &self,
        distinct: &Distinct,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<Vec<(usize, u32)>> {
        let Distinct::On(exprs) = distinct else { return Ok(Vec::new()) };
        exprs
            .iter()
            .map(|expr| {
                let target = self.sort_target(expr, "DISTINCT ON", targets, visible, place)?;
                let at = self.position(expr.start());
                self.demand_ordering(targets[target].expr.ty().oid, at)?;
                Ok((target, at))
            })
            .collect()
    }

    fn distinct_and_sort(
        &self,
        mut node: Node,
        select: &Select,
        targets: &[BoundTarget],
        visible: usize,
        order_by: Vec<(usize, SortKey)>,
        on: Vec<(usize, u32)>,
    ) -> Result<Node> {
        let sort = |node: Node, keys: Vec<SortKey>| {
            if keys.is_empty() { node } else { Node::Sort { input: Box::new(node), keys } }
        };
        match &select.distinct {
            Distinct::No => {}
            Distinct::All => {
                for target in &targets[..visible] {
                    self.demand_equality(target.expr.ty().oid, target.at)?;
                }
                node = Node::Distinct { input: Box::new(node), on: None, columns: visible as u32 };
            }
            Distinct::On(_) => {
                let chosen: Vec<usize> = on.iter().map(|(target, _)| *target).collect();
                // ORDER BY has to begin with the ON expressions, in any order; those it does not name follow.
                let leading =
                    order_by.iter().take_while(|(target, _)| chosen.contains(target)).count();
                let named = &order_by[..leading];
                if order_by.len() > leading
                    && let Some((_, at)) =
                        on.iter().find(|(target, _)| !named.iter().any(|(key, _)| key == target))
                {
                    return Err(SqlError::new(
                        SqlState::INVALID_COLUMN_REFERENCE,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                    )
                    .at(*at));
                }
                let missing: Vec<usize> = chosen
                    .iter()
                    .copied()
                    .filter(|target| !order_by.iter().any(|(key, _)| key == target))
                    .collect();
                let mut keys: Vec<SortKey> = order_by.into_iter().map(|(_, key)| key).collect();
                for target in missing {
                    let expr = column_at(target, targets[target].expr.ty());
                    keys.push(SortKey { expr, descending: false, nulls_first: false });
                }
                let on = chosen
                    .iter()
                    .map(|&target| column_at(target, targets[target].expr.ty()))
                    .collect();
                let input = Box::new(sort(node, keys));
                return Ok(Node::Distinct { input, on: Some(on), columns: visible as u32 });
            }
        }
        Ok(sort(node, order_by.into_iter().map(|(_, key)| key).collect()))
    }

    /// LIMIT and OFFSET, which may name what an outer query has, but not what is in `scope` itself.
    fn limit(
        &self,
        node: Node,
        query: &ast::Query,
        (outside, scope): (Outside<'_>, &Scope<'_>),
        ctes: &CteScope<'_>,
    ) -> Result<Node> {
        if query.limit.is_none() && query.offset.is_none() {
            return Ok(node);
        }
        let value = |expr: &ast::Expr, clause: &'static str| -> Result<Expr> {
            let mut bound = self.expression(expr, &Place::plain(scope, Some(ctes), clause))?;
            if names_own_columns(&mut bound) {
                // It stands where the name is that means nothing outside.
                let outer = outside.inner();
                let unknown = self.expression(expr, &Place::plain(&outer, Some(ctes), clause));
                let place = unknown.err().and_then(|error| error.fields().position);
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!("argument of {clause} must not contain variables"),
                )
                .at(place.unwrap_or_else(|| self.position(expr.start()))));
            }
            self.limit_value(bound, clause, self.position(expr.start()))
        };
        let limit = query.limit.as_ref().map(|expr| value(expr, "LIMIT")).transpose()?;
        let offset = query.offset.as_ref().map(|expr| value(expr, "OFFSET")).transpose()?;
        let with_ties = if query.with_ties {
            let sorted = match &node {
                Node::LockRows { input, .. } => input,
                other => other,
            };
            match sorted {
                Node::Sort { keys, .. } => Some(keys.clone()),
                _ => {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "WITH TIES cannot be specified without ORDER BY clause",
                    ));
                }
            }
        } else {
            None
        };
        Ok(Node::Limit { input: Box::new(node), limit, offset, with_ties })
    }

    /// An int8 for LIMIT, OFFSET and frames.
    pub(super) fn limit_value(&self, value: Expr, clause: &str, at: u32) -> Result<Expr> {
        let ty = SqlType::plain(oid::INT8);
        let source = value.ty().oid;
        if !self.can_coerce(source, ty.oid, Context::Assignment) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "argument of {clause} must be type bigint, not type {}",
                    self.type_text(source)
                ),
            )
            .at(at));
        }
        self.cast(value, ty, Context::Assignment, at)
    }
}

/// Whether an expression speaks of columns of the query that it stands in.
fn names_own_columns(expr: &mut Expr) -> bool {
    let mut found = false;
    columns_of_expr(expr, 0, &mut |expr, depth| {
        found |= matches!(expr, Expr::Column { level, .. } if *level == depth);
    });
    found
}

/// What an aggregate's or window function's call computes with.
fn call_expressions(call: &mut AggregateCall) -> Vec<&mut Expr> {
    let mut all: Vec<&mut Expr> = call.arguments.iter_mut().collect();
    all.extend(call.filter.as_mut());
    all.extend(call.order_by.iter_mut().map(|key| &mut key.expr));
    all
}

/// Whether an expression is to be evaluated for the rows that go out, and in their order. Subqueries are not asked, as in
/// PostgreSQL.
fn is_volatile(expr: &Expr) -> bool {
    any(
        expr,
        &|part| matches!(part, Expr::Call { function: called, .. } if function(called.0).is_some_and(|found| found.volatility == Volatility::Volatile)),
    )
}

/// The select list where volatile items of it wait for ORDER BY (`make_sort_input_target`): below the sort is what it is
/// sorted by, beside what the other items read of the row.
fn project_above_sort(
    node: Node,
    targets: Vec<BoundTarget>,
    order_by: Vec<(usize, SortKey)>,
) -> Node {
    let mut below: Vec<Expr> = Vec::new();
    let mut place_of = |expr: &Expr| {
        let known = below.iter().position(|known| same(known, expr));
        known.unwrap_or_else(|| {
            below.push(expr.clone());
            below.len() - 1
        })
    };
    let mut keys = Vec::with_capacity(order_by.len());
    let mut computed = vec![None; targets.len()];
    for (target, key) in order_by {
        let expr = &targets[target].expr;
        let place = place_of(expr);
        computed[target] = Some(place);
        keys.push(SortKey { expr: column_at(place, expr.ty()), ..key });
    }
    let columns = targets.into_iter().zip(computed).map(|(target, computed)| {
        let mut expr = target.expr;
        if let Some(place) = computed {
            return column_at(place, expr.ty());
        }
        if !is_volatile(&expr) && !matches!(expr, Expr::Constant(..) | Expr::Parameter(..)) {
            return column_at(place_of(&expr), expr.ty());
        }
        columns_of_expr(&mut expr, 0, &mut |part, depth| {
            if let Expr::Column { level, column, ty } = part
                && *level == depth
            {
                *column = place_of(&column_at(*column as usize, *ty)) as u32;
            }
        });
        expr
    });
    let columns = columns.collect();
    let input = Box::new(Node::Project { input: Box::new(node), columns: below });
    Node::Project { input: Box::new(Node::Sort { input, keys }), columns }
}

fn window_expressions(call: &mut WindowCall) -> Vec<&mut Expr> {
    let window = &mut call.window;
    let mut all = call_expressions(&mut call.call);
    all.extend(window.partition_by.iter_mut());
    all.extend(window.order_by.iter_mut().map(|key| &mut key.expr));
    all
}

/// AND taken apart.
pub(super) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        Expr::Constant(Literal::Bool(true), _) => Vec::new(),
        other => vec![other],
    }
}

/// The item of a query's select list that the place of its value may give a type: a literal, a parameter. The rows are not
/// sorted by it.
pub(super) fn untyped_item(node: &Node, place: usize) -> Option<&Expr> {
    let names = |key: &SortKey| matches!(key.expr, Expr::Column { level: 0, column, .. } if column as usize == place);
    let untyped = |item: &&Expr| matches!(item, Expr::Constant(..) | Expr::Parameter(..));
    match node {
        Node::Project { columns, .. } => columns.get(place).filter(untyped),
        Node::Values { rows, .. } if rows.len() == 1 => rows[0].get(place).filter(untyped),
        Node::Sort { keys, .. } if keys.iter().any(names) => None,
        Node::Sort { input, .. } | Node::Limit { input, .. } | Node::LockRows { input, .. } => {
            untyped_item(input, place)
        }
        Node::Derived { query, .. } => untyped_item(&query.root, place),
        _ => None,
    }
}

/// A side of a set operation with its columns cast.
fn converted(side: Block, columns: Vec<Expr>) -> Node {
    let plain = |(at, expr): (usize, &Expr)| matches!(expr, Expr::Column { level: 0, column, .. } if *column as usize == at);
    let extra = match &side.node {
        Node::Project { columns, .. } => columns.len() > side.output.len(),
        _ => true,
    };
    if columns.iter().enumerate().all(plain) && !extra {
        return side.node;
    }
    Node::Project { input: Box::new(side.node), columns }
}

/// Where a query's first select-list item stands.
fn first_expression(query: &ast::Query) -> Option<u32> {
    match &query.body {
        Body::Select(select) => select.targets.first().map(|target| target.expr.start()),
        Body::Values(rows) => rows.first()?.first().map(ast::Expr::start),
        Body::SetOperation { left, .. } => first_expression(left),
    }
}

/// A join of two FROM items without a condition.
pub(super) fn cross(left: Node, right: Node, lateral: bool) -> Node {
    Node::Join {
        kind: JoinKind::Inner,
        left: Box::new(left),
        right: Box::new(right),
        on: Vec::new(),
        lateral,
    }
}
