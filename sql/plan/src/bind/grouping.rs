//! GROUP BY, aggregates and windows of a query block: collected while its expressions are bound, then put in place.
//!
//! While a block is bound, an aggregate's value is a column with a number from [`AGGREGATES`] on, a window function's one
//! from [`WINDOWS`] on. [`Binder::group`] turns expressions over the FROM row into ones over the grouped row, and finds
//! columns that are neither grouped by nor aggregated.

use crate::bind::Binder;
use crate::bind::coerce::{Context, base_type};
use crate::bind::expression::Place;
use crate::bind::grouping_sets::{group_tree, sets_of};
use crate::bind::left_out::is_constant;
use crate::bind::levels::{children, columns_of_expr, lower, raise, same};
use crate::bind::logical::{Frame, FrameBound, FrameExclude, FrameUnit, Node, SortKey};
use crate::bind::operator::op;
use crate::bind::scope::{Scope, column_at};
use crate::bind::subquery::test_of;
use crate::bind::target::{BoundTarget, demand_room};
use crate::bind::tree::{GroupTree, GroupsTree};
use crate::bind::type_name::{fields_of, oid};
use crate::bind::typed::{AggregateCall, Expr, Literal};
use crate::catalog::builtin::{self, PG_CATALOG, functions_named};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, GroupItem, Ident, Over, Select, Window};
use crate::sqlstate::SqlState;
use crate::types::depth::deeper;
use crate::types::{Oid, SqlType};

/// The clause name of an aggregate's own arguments.
pub(super) const NESTED: &str = "aggregate arguments";
/// The first number of an aggregate's column while a block is bound.
pub(super) const AGGREGATES: u32 = 1 << 30;
/// The first number of a window function's column while a block is bound.
pub(super) const WINDOWS: u32 = AGGREGATES + (1 << 29);

/// The first number of a GROUPING's column while a block is bound.
pub(super) const GROUPINGS: u32 = WINDOWS + (1 << 28);
/// How many keys the grouping mask tells of.
const MASK_KEYS: usize = 31;

/// What has been collected from a block's expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    pub aggregates: Vec<AggregateCall>,
    /// Where in the text each aggregate was last asked for.
    pub asked: Vec<u32>,
    /// Where the direct arguments of each aggregate stand.
    pub direct: Vec<Vec<u32>>,
    /// Arguments of GROUPING, each with its place in the text.
    pub groupings: Vec<Vec<(Expr, u32)>>,
    pub windows: Vec<WindowCall>,
    /// Windows by name (WINDOW clause).
    pub named: Vec<(Ident, BoundWindow)>,
}

impl Collected {
    /// Visits all that has been collected.
    pub fn expressions(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        let windows = self.windows.iter_mut().map(|call| &mut call.window);
        windows.chain(self.named.iter_mut().map(|(_, window)| window)).for_each(|window| {
            window.partition_by.iter_mut().for_each(&mut *visit);
            window.order_by.iter_mut().for_each(|key| visit(&mut key.expr));
            let bounds = window.frame.iter_mut();
            bounds.flat_map(|frame| [&mut frame.start, &mut frame.end]).for_each(|bound| {
                if let FrameBound::Preceding(by) | FrameBound::Following(by) = bound {
                    visit(by);
                }
            });
        });
        let calls = self.windows.iter_mut().map(|call| &mut call.call);
        let calls = calls.chain(&mut self.aggregates);
        calls.flat_map(AggregateCall::expressions).for_each(&mut *visit);
        self.groupings.iter_mut().flatten().for_each(|(argument, _)| visit(argument));
    }
}

/// A window function's call.
#[derive(Clone, Debug)]
pub(super) struct WindowCall {
    pub call: AggregateCall,
    pub window: BoundWindow,
}

/// A window's definition.
#[derive(Clone, Debug, Default)]
pub struct BoundWindow {
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortKey>,
    /// The frame, if one was written.
    pub frame: Option<Frame>,
    /// Its name in the WINDOW clause, where that is all that OVER says.
    pub name: Option<Ident>,
    /// The window that it refines, and whether it has its order from there.
    pub base: Option<(Ident, bool)>,
}

/// The value of an aggregate: one that is already collected is used again.
pub(super) fn aggregate_column(
    collected: &mut Collected,
    call: AggregateCall,
    ty: SqlType,
    (at, direct): (u32, &[u32]),
) -> Expr {
    let known = collected.aggregates.iter().position(|known| same_call(known, &call));
    let number = known.unwrap_or_else(|| {
        collected.aggregates.push(call);
        collected.asked.push(at);
        collected.direct.push(direct.to_vec());
        collected.aggregates.len() - 1
    });
    collected.asked[number] = at;
    Expr::Column { level: 0, column: AGGREGATES + number as u32, ty }
}

/// The value of GROUPING over these arguments.
pub(super) fn grouping_column(collected: &mut Collected, arguments: Vec<(Expr, u32)>) -> Expr {
    // One that asks for the same is the same.
    let asks_same = |known: &Vec<(Expr, u32)>| {
        known.len() == arguments.len()
            && known.iter().zip(&arguments).all(|((a, _), (b, _))| same(a, b))
    };
    let number = collected.groupings.iter().position(asks_same).unwrap_or_else(|| {
        collected.groupings.push(arguments);
        collected.groupings.len() - 1
    });
    let column = GROUPINGS + number as u32;
    Expr::Column { level: 0, column, ty: SqlType::plain(oid::INT4) }
}

/// The value of a window function.
pub(super) fn window_column(collected: &mut Collected, call: WindowCall, ty: SqlType) -> Expr {
    collected.windows.push(call);
    Expr::Column { level: 0, column: WINDOWS + collected.windows.len() as u32 - 1, ty }
}

fn same_call(a: &AggregateCall, b: &AggregateCall) -> bool {
    let filter = match (&a.filter, &b.filter) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    };
    a.function == b.function
        && a.distinct == b.distinct
        && filter
        && a.arguments.len() == b.arguments.len()
        && a.arguments.iter().zip(&b.arguments).all(|(a, b)| same(a, b))
        && same_keys(&a.order_by, &b.order_by)
}

fn same_keys(a: &[SortKey], b: &[SortKey]) -> bool {
    let alike = |a: &SortKey, b: &SortKey| {
        a.descending == b.descending && a.nulls_first == b.nulls_first && same(&a.expr, &b.expr)
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
}

/// What GROUP BY says.
pub(super) struct GroupKeys {
    /// The keys, over the FROM row.
    pub keys: Vec<Expr>,
    /// What was written, of the keys by number.
    pub written: Vec<GroupTree>,
    /// The item of the select list that each stands for, where there are several sets.
    pub items: Vec<Option<usize>>,
    /// The keys of each grouping set, by number.
    pub sets: Vec<Vec<u32>>,
    /// Those that are constants, where there are several sets.
    pub constants: Vec<usize>,
}

impl GroupKeys {
    /// What a tree says.
    ///
    /// # Errors
    /// 54001 for more sets than any GROUP BY may have.
    pub fn kept(groups: GroupsTree) -> Result<GroupKeys> {
        let GroupsTree { distinct, keys, items: written, targets: items, .. } = groups;
        let sets = sets_of(&written, distinct)?;
        let constant = |at: &usize| sets.len() > 1 && is_constant(&keys[*at]);
        let constants = (0..keys.len()).filter(constant).collect();
        Ok(GroupKeys { keys, written, items, sets, constants })
    }
}

/// The grouping of a block: the keys its grouped row begins with.
pub(super) struct Groups<'s> {
    pub keys: Vec<Expr>,
    /// How many keys GROUP BY named; the others follow from a primary key among those.
    pub written: usize,
    /// Those of them that every grouping set has, by number.
    pub common: Vec<u32>,
    /// The item of the select list that each key stands for, where several grouping sets may leave it out: two items may be the
    /// same expression, and are two keys.
    pub items: Vec<Option<usize>>,
    /// Those that are constants, where several grouping sets may leave them out.
    pub constants: Vec<usize>,
    pub scope: &'s Scope<'s>,
}

impl Binder<'_> {
    /// GROUP BY. As in PostgreSQL, a key that names an item of the select list is that one, and another that is the same
    /// expression as an item is the first such.
    pub(super) fn group_keys(
        &self,
        select: &Select,
        targets: &mut [BoundTarget],
        visible: usize,
        place: &Place<'_>,
    ) -> Result<GroupKeys> {
        let several = select.group_by.iter().any(|item| !matches!(item, GroupItem::Expr(_)));
        let mut keys: Vec<Expr> = Vec::new();
        let mut items: Vec<Option<usize>> = Vec::new();
        let mut constants = Vec::new();
        let mut one = |expr: &ast::Expr| -> Result<u32> {
            let (key, named) = self.group_key(expr, &targets[..visible], place)?;
            if let Some(number) = named
                && targets[number].expr.ty().oid.0 == oid::UNKNOWN
            {
                targets[number].expr = key.clone();
            }
            let first = || targets.iter().position(|target| same(&target.expr, &key));
            let item = if several { named.or_else(first) } else { None };
            let mut known = keys.iter().zip(&items);
            let known = known.position(|(known, its)| *its == item && same(known, &key));
            demand_room(keys.len())?;
            Ok(known.unwrap_or_else(|| {
                if is_constant(&key) {
                    constants.push(keys.len());
                }
                keys.push(key);
                items.push(item);
                keys.len() - 1
            }) as u32)
        };
        let written = select.group_by.iter().map(|item| group_tree(item, &mut one));
        let written = written.collect::<Result<Vec<_>>>()?;
        let sets = sets_of(&written, select.group_distinct)?;
        if sets.len() < 2 {
            constants.clear();
            items.fill(None);
        }
        Ok(GroupKeys { keys, written, items, sets, constants })
    }

    /// One key, with the select-list item that it names: by number or by output name, but a column of the block's own FROM
    /// goes before such a name.
    fn group_key(
        &self,
        expr: &ast::Expr,
        targets: &[BoundTarget],
        place: &Place<'_>,
    ) -> Result<(Expr, Option<usize>)> {
        let at = self.position(expr.start());
        let mut named = None;
        let mut shown_at = at;
        let place = Place { collected: None, windows: false, clause: "GROUP BY", ..*place };
        let key = match &expr.kind {
            ExprKind::Integer(number) => {
                let target = self.numbered(*number, targets.len(), "GROUP BY", at)?;
                shown_at = targets[target].at;
                named = Some(target);
                targets[target].expr.clone()
            }
            ExprKind::String(_) | ExprKind::Number(_) | ExprKind::Null | ExprKind::Bool(_) => {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "non-integer constant in GROUP BY",
                )
                .at(at));
            }
            ExprKind::Column(parts) if parts.len() == 1 && !place.scope.has_column(&parts[0]) => {
                match self.output_name(&parts[0], targets, "GROUP BY", at)? {
                    Some(target) => {
                        named = Some(target);
                        targets[target].expr.clone()
                    }
                    None => self.expression(expr, &place)?,
                }
            }
            _ => self.expression(expr, &place)?,
        };
        let key = self.decided(key)?;
        let mut aggregate = false;
        columns_of_expr(&mut key.clone(), 0, &mut |column, depth| {
            aggregate |= matches!(column, Expr::Column { level, column, .. } if *level == depth && *column >= AGGREGATES);
        });
        if aggregate {
            return Err(SqlError::new(
                SqlState::GROUPING_ERROR,
                "aggregate functions are not allowed in GROUP BY",
            )
            .at(shown_at));
        }
        self.demand_equality(key.ty().oid, at)?;
        Ok((key, named))
    }

    /// Makes `expr`, over the FROM row, one over the grouped row: its keys, then (still numbered from [`AGGREGATES`]) the
    /// aggregates.
    ///
    /// # Errors
    /// 42803.
    pub(super) fn group(&self, expr: &mut Expr, groups: &mut Groups<'_>, at: u32) -> Result<()> {
        let is_constant = |at: usize| groups.constants.contains(&at);
        let mut keys = groups.keys.iter().enumerate();
        if let Some((key, _)) = keys.find(|(at, key)| same(key, expr) && !is_constant(*at)) {
            *expr = column_at(key, expr.ty());
            return Ok(());
        }
        match expr {
            Expr::Column { level: 0, column, .. } if *column >= AGGREGATES => Ok(()),
            Expr::Column { level: 0, column, ty } => {
                let (number, ty) = (*column, *ty);
                let key = self.follows(number, groups).ok_or_else(|| {
                    let at = self.named_at(number, groups.scope.depth(), at);
                    self.ungrouped(number, groups, false).at(at)
                })?;
                *expr = column_at(key, ty);
                Ok(())
            }
            Expr::Subquery { .. } => {
                // What its rows are compared with is this query's own.
                let mut tested = test_of(expr).map(|test| std::mem::replace(test, int4(0)));
                if let Some(test) = &mut tested {
                    self.group_test(test, groups, at)?;
                }
                let mut failed = None;
                columns_of_expr(expr, 0, &mut |column, depth| {
                    let Expr::Column { level, column: number, .. } = column else { return };
                    if *level != depth || *number >= AGGREGATES || depth == 0 {
                        return;
                    }
                    match self.key_of(*number, groups).or_else(|| self.follows(*number, groups)) {
                        Some(key) => *number = key as u32,
                        None if failed.is_none() => {
                            let at = self.named_at(*number, groups.scope.depth(), at);
                            failed = Some(self.ungrouped(*number, groups, true).at(at));
                        }
                        None => {}
                    }
                });
                if let (Some(place), Some(test)) = (test_of(expr), tested) {
                    *place = test;
                }
                failed.map_or(Ok(()), Err)
            }
            _ => {
                let mut failed = None;
                children(expr, &mut |child| {
                    if failed.is_none()
                        && let Err(error) = self.group(child, groups, at)
                    {
                        failed = Some(error);
                    }
                });
                failed.map_or(Ok(()), Err)
            }
        }
    }

    /// Makes what stands in a comparison with a subquery's row, and does not read that row, one over the grouped row.
    fn group_test(&self, test: &mut Expr, groups: &mut Groups<'_>, at: u32) -> Result<()> {
        let mut reads = false;
        columns_of_expr(test, 0, &mut |column, depth| {
            reads |= matches!(column, Expr::Column { level, .. } if *level == depth);
        });
        if !reads {
            lower(test);
            self.group(test, groups, at)?;
            raise(test, 1);
            return Ok(());
        }
        let mut failed = Ok(());
        children(test, &mut |child| {
            if failed.is_ok() {
                failed = deeper(|| self.group_test(child, groups, at));
            }
        });
        failed
    }

    /// The values of GROUPING: one bit for each argument, the last the lowest, set where its key is not grouped by.
    /// `mask` is the column that tells which keys are not; there is none where there is one grouping set.
    ///
    /// # Errors
    /// 42803 for what is no key.
    pub(super) fn groupings(
        &self,
        groupings: Vec<Vec<(Expr, u32)>>,
        groups: &Groups<'_>,
        mask: Option<Expr>,
    ) -> Result<Vec<Expr>> {
        let mut values = Vec::with_capacity(groupings.len());
        for arguments in groupings {
            let mut value = int4(0);
            let last = arguments.len() - 1;
            for (place, (argument, at)) in arguments.into_iter().enumerate() {
                let keys = &groups.keys[..groups.written];
                let key = keys.iter().position(|key| same(key, &argument)).ok_or_else(|| {
                    SqlError::new(
                        SqlState::GROUPING_ERROR,
                        "arguments to GROUPING must be grouping expressions of the associated query level",
                    )
                    .at(at)
                })?;
                let Some(mask) = &mask else { continue };
                if key >= MASK_KEYS {
                    return Err(SqlError::unsupported(format!(
                        "GROUPING of more than the first {MASK_KEYS} keys is"
                    ))
                    .at(at));
                }
                let shifted = self.infix(&op(">>"), mask.clone(), int4(key as i32), at)?;
                let bit = self.infix(&op("&"), shifted, int4(1), at)?;
                let bit = self.infix(&op("<<"), bit, int4((last - place) as i32), at)?;
                value = self.infix(&op("|"), value, bit, at)?;
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Puts the values of GROUPING where they are asked for.
    pub(super) fn place_groupings(&self, values: &[Expr], expr: &mut Expr) {
        columns_of_expr(expr, 0, &mut |column, depth| {
            if let Expr::Column { level, column: number, .. } = column
                && *level == depth
                && *number >= GROUPINGS
            {
                let mut value = values[(*number - GROUPINGS) as usize].clone();
                raise(&mut value, depth);
                *column = value;
            }
        });
    }

    fn key_of(&self, column: u32, groups: &Groups<'_>) -> Option<usize> {
        groups.keys.iter().position(
            |key| matches!(key, Expr::Column { level: 0, column: known, .. } if *known == column),
        )
    }

    /// A column of a table whose whole primary key is grouped by, in every grouping set, follows from it, and becomes a key
    /// itself.
    fn follows(&self, column: u32, groups: &mut Groups<'_>) -> Option<usize> {
        let is = |expr: &Expr, wanted: u32| matches!(expr, Expr::Column { level: 0, column, .. } if *column == wanted);
        let (item, found) = groups.scope.items.iter().find_map(|item| {
            let found = item
                .columns
                .iter()
                .find(|known| is(&known.expr, column) && known.origin.is_some())?;
            Some((item, found))
        })?;
        let (table, _) = found.origin?;
        let relation = self.catalog.relation(table)?;
        let primary =
            relation.indexes.iter().find(|index| index.primary && index.is_always_unique())?;
        for key in &primary.columns {
            let origin = Some((table, key.column as i16 + 1));
            let of_key = item.columns.iter().find(|known| known.origin == origin)?;
            let is_key = |number: &&u32| same(&groups.keys[**number as usize], &of_key.expr);
            groups.common.iter().find(is_key)?;
        }
        self.keys.borrow_mut().extend(primary.constraint.as_ref().map(|(oid, _)| *oid));
        groups.keys.push(found.expr.clone());
        Some(groups.keys.len() - 1)
    }

    /// Where the column is first named in the item that begins at `item_at`.
    fn named_at(&self, column: u32, depth: usize, item_at: u32) -> u32 {
        let named = self.columns.borrow();
        let of_column = named
            .iter()
            .filter(|(scopes, number, at)| (*scopes, *number) == (depth, column) && *at >= item_at);
        of_column.map(|(_, _, at)| *at).min().unwrap_or(item_at)
    }

    fn ungrouped(&self, column: u32, groups: &Groups<'_>, within: bool) -> SqlError {
        let is = |expr: &Expr| matches!(expr, Expr::Column { level: 0, column: found, .. } if *found == column);
        let name = groups.scope.items.iter().find_map(|item| {
            let found = item.columns.iter().find(|known| is(&known.expr))?;
            let qualifier = item.name.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
            Some(format!("{qualifier}{}", found.name))
        });
        let name = name.unwrap_or_default();
        SqlError::new(
            SqlState::GROUPING_ERROR,
            if within {
                format!("subquery uses ungrouped column \"{name}\" from outer query")
            } else {
                format!(
                    "column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function"
                )
            },
        )
    }

    /// The WINDOW clause: what OVER may name.
    pub(super) fn window_clause(&self, select: &Select, place: &Place<'_>) -> Result<()> {
        let collected = place.collected.expect("windows are collected where they are allowed");
        for (number, (name, window)) in select.windows.iter().enumerate() {
            if select.windows[..number].iter().any(|(known, _)| known == name) {
                let message = format!("window \"{name}\" is already defined");
                let error = SqlError::new(SqlState::WINDOWING_ERROR, message);
                return Err(error.at(self.position(window.at)));
            }
            let bound =
                BoundWindow { name: Some(name.clone()), ..self.window(window, true, place)? };
            collected.borrow_mut().named.push((name.clone(), bound));
        }
        Ok(())
    }

    /// OVER: the window it names or defines.
    pub(super) fn window_of(&self, over: &Over, place: &Place<'_>) -> Result<BoundWindow> {
        match over {
            Over::Named(name, at) => self.named_window(name, *at, place),
            Over::Window(window) => self.window(window, false, place),
        }
    }

    fn named_window(&self, name: &Ident, at: u32, place: &Place<'_>) -> Result<BoundWindow> {
        let collected =
            place.collected.expect("windows are collected where they are allowed").borrow();
        let found = collected.named.iter().find(|(known, _)| known == name);
        found.map(|(_, window)| window.clone()).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("window \"{name}\" does not exist"))
                .at(self.position(at))
        })
    }

    /// A window's definition, refined from the one it names: that of WINDOW or of OVER.
    fn window(
        &self,
        window: &Window,
        is_definition: bool,
        place: &Place<'_>,
    ) -> Result<BoundWindow> {
        let within = Place { windows: false, clause: "window definitions", ..*place };
        let mut bound = match &window.base {
            Some(base) => {
                let base_window = self.named_window(base, window.at, place)?;
                let cannot = |what: &str| {
                    Err(SqlError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot override {what} clause of window \"{base}\""),
                    )
                    .at(self.position(window.at)))
                };
                if !window.partition_by.is_empty() {
                    return cannot("PARTITION BY");
                }
                if !window.order_by.is_empty() && !base_window.order_by.is_empty() {
                    return cannot("ORDER BY");
                }
                if base_window.frame.is_some() {
                    let error = SqlError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot copy window \"{base}\" because it has a frame clause"),
                    )
                    .at(self.position(window.at));
                    // `OVER (w)` was meant to be `OVER w`.
                    let bare =
                        !is_definition && window.order_by.is_empty() && window.frame.is_none();
                    return Err(if bare {
                        error.hint("Omit the parentheses in this OVER clause.")
                    } else {
                        error
                    });
                }
                let ordered = !base_window.order_by.is_empty();
                BoundWindow { name: None, base: Some((base.clone(), ordered)), ..base_window }
            }
            None => BoundWindow::default(),
        };
        for expr in &window.partition_by {
            let key = self.decided(self.expression(expr, &within)?)?;
            self.demand_equality(key.ty().oid, self.position(expr.start()))?;
            if !bound.partition_by.iter().any(|known| same(known, &key)) {
                bound.partition_by.push(key);
            }
        }
        for key in &window.order_by {
            let value = self.decided(self.expression(&key.expr, &within)?)?;
            if !bound.order_by.iter().any(|known| same(&known.expr, &value)) {
                bound.order_by.push(self.sort_key(value, key)?);
            }
        }
        bound.frame = window
            .frame
            .as_ref()
            .map(|frame| self.frame(frame, &bound, &within, self.position(window.at)))
            .transpose()?;
        Ok(bound)
    }

    fn frame(
        &self,
        frame: &ast::Frame,
        window: &BoundWindow,
        place: &Place<'_>,
        window_at: u32,
    ) -> Result<Frame> {
        let offset = |expr: &ast::Expr| -> Result<(Expr, Oid)> {
            let at = self.position(expr.start());
            let (word, clause) = match frame.unit {
                FrameUnit::Rows => ("ROWS", "window ROWS"),
                FrameUnit::Groups => ("GROUPS", "window GROUPS"),
                FrameUnit::Range => ("RANGE", "window RANGE"),
            };
            let value = self.expression(expr, &place.inner(clause))?;
            let (mut value, function) = match (frame.unit, window.order_by.as_slice()) {
                (FrameUnit::Range, [key]) => self.range_offset(value, key.expr.ty().oid, at)?,
                _ => (self.limit_value(value, word, at)?, Oid(0)),
            };
            let mut varies = false;
            columns_of_expr(&mut value, 0, &mut |column, depth| {
                varies |= matches!(column, Expr::Column { level, .. } if *level == depth);
            });
            if varies {
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!("argument of {word} must not contain variables"),
                )
                .at(at));
            }
            Ok((value, function))
        };
        let bound = |bound: &ast::Bound| -> Result<(FrameBound, Oid)> {
            Ok(match bound {
                ast::Bound::UnboundedPreceding => (FrameBound::UnboundedPreceding, Oid(0)),
                ast::Bound::Preceding(value) => {
                    let (value, function) = offset(value)?;
                    (FrameBound::Preceding(value), function)
                }
                ast::Bound::CurrentRow => (FrameBound::CurrentRow, Oid(0)),
                ast::Bound::Following(value) => {
                    let (value, function) = offset(value)?;
                    (FrameBound::Following(value), function)
                }
                ast::Bound::UnboundedFollowing => (FrameBound::UnboundedFollowing, Oid(0)),
            })
        };
        let has_offset = [&frame.start, &frame.end]
            .into_iter()
            .any(|bound| matches!(bound, ast::Bound::Preceding(_) | ast::Bound::Following(_)));
        if frame.unit == FrameUnit::Range && has_offset && window.order_by.len() != 1 {
            return Err(SqlError::new(
                SqlState::WINDOWING_ERROR,
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
            )
            .at(window_at));
        }
        if frame.unit == FrameUnit::Groups && window.order_by.is_empty() {
            return Err(SqlError::new(
                SqlState::WINDOWING_ERROR,
                "GROUPS mode requires an ORDER BY clause",
            )
            .at(window_at));
        }
        let (start, start_function) = bound(&frame.start)?;
        let (end, end_function) = bound(&frame.end)?;
        let in_range = [start_function, end_function];
        let (unit, between, exclude) = (frame.unit, frame.between, frame.exclude);
        Ok(Frame { unit, start, end, between, in_range, exclude })
    }

    /// An offset of RANGE, as the type that goes with the type that is ordered by, and its `in_range`.
    fn range_offset(&self, value: Expr, ordered: Oid, at: u32) -> Result<(Expr, Oid)> {
        // What orders a domain is its base type's.
        let ordered = base_type(self.catalog, ordered);
        let ordered = if ordered.0 == oid::VARCHAR { Oid(oid::TEXT) } else { ordered };
        let given = value.ty().oid;
        let refused = |words: &str| {
            SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!(
                    "RANGE with offset PRECEDING/FOLLOWING {words} for column type {}",
                    self.type_text(ordered)
                ),
            )
            .at(at)
        };
        let with_offset = |words: &str, hint: &'static str| {
            let error = refused(words);
            let message = &error.fields().message;
            let message = format!("{message} and offset type {}", self.type_text(given));
            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(at).hint(hint)
        };
        let mut known = functions_named("in_range")
            .iter()
            .filter(|found| found.namespace == PG_CATALOG && found.arguments[0] == ordered.0)
            .peekable();
        if known.peek().is_none() {
            return Err(refused("is not supported"));
        }
        let fitting: Vec<_> = known
            .filter(|found| self.can_coerce(given, Oid(found.arguments[2]), Context::Implicit))
            .collect();
        let preferred = if given.0 == oid::UNKNOWN { ordered } else { given };
        let chosen = match fitting.as_slice() {
            [] => {
                return Err(with_offset(
                    "is not supported",
                    "Cast the offset value to an appropriate type.",
                ));
            }
            [only] => only,
            several => {
                several.iter().find(|found| found.arguments[2] == preferred.0).ok_or_else(|| {
                    with_offset(
                        "has multiple interpretations",
                        "Cast the offset value to the exact intended type.",
                    )
                })?
            }
        };
        Ok((self.argument(value, Oid(chosen.arguments[2]), at)?, Oid(chosen.oid)))
    }

    /// Puts window functions above `node`, one node for each different window, and gives expressions their columns.
    pub(super) fn place_windows(
        &self,
        mut node: Node,
        mut width: usize,
        windows: Vec<WindowCall>,
        exprs: &mut [&mut Expr],
    ) -> (Node, usize) {
        let mut columns = vec![0; windows.len()];
        let mut left: Vec<(usize, WindowCall)> = windows.into_iter().enumerate().collect();
        while !left.is_empty() {
            let first = left.remove(0);
            let window = first.1.window.clone();
            let (here, later): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, call)| same_window(&call.window, &window));
            let mut calls = Vec::new();
            for (number, call) in std::iter::once(first).chain(here) {
                columns[number] = width + calls.len();
                calls.push(call.call);
            }
            width += calls.len();
            node = Node::Window {
                input: Box::new(node),
                calls,
                partition_by: window.partition_by,
                order_by: window.order_by,
                frame: window.frame.unwrap_or(DEFAULT_FRAME),
            };
            left = later;
        }
        for expr in exprs {
            columns_of_expr(expr, 0, &mut |column, depth| {
                if let Expr::Column { level, column, .. } = column
                    && *level == depth
                    && *column >= WINDOWS
                {
                    *column = columns[(*column - WINDOWS) as usize] as u32;
                }
            });
        }
        (node, width)
    }

    /// Gives aggregates their places behind `keys` group keys.
    pub(super) fn place_aggregates(&self, keys: usize, expr: &mut Expr) {
        columns_of_expr(expr, 0, &mut |column, depth| {
            if let Expr::Column { level, column, .. } = column
                && *level == depth
                && (AGGREGATES..WINDOWS).contains(column)
            {
                *column = *column - AGGREGATES + keys as u32;
            }
        });
    }

    /// Refuses to order by a type that has no order.
    pub(super) fn demand_ordering(&self, ty: Oid, at: u32) -> Result<()> {
        if ty.0 == oid::UNKNOWN || self.has_order(ty) {
            return Ok(());
        }
        Err(no_operator("ordering", &self.type_text(ty))
            .at(at)
            .hint("Use an explicit ordering operator or modify the query."))
    }

    /// Whether values of a type have an order: arrays as their elements, rows as their fields.
    fn has_order(&self, ty: Oid) -> bool {
        self.is_made_of(ty, &|part| builtin::ordering(part.0).is_some())
    }

    /// Whether `test` holds for a type: for arrays of their elements, for rows of all fields too.
    fn is_made_of(&self, ty: Oid, test: &dyn Fn(Oid) -> bool) -> bool {
        let ty = self.catalog.base_type(SqlType::plain(ty.0)).oid;
        if let Some(element) = builtin::element_type(ty.0) {
            return self.is_made_of(Oid(element), test);
        }
        let fields = fields_of(self.catalog, ty).unwrap_or_default();
        test(ty) && fields.iter().all(|(_, field)| self.is_made_of(field.oid, test))
    }

    /// What an aggregate's DISTINCT demands of a type.
    pub(super) fn demand_sorting(&self, ty: Oid, at: u32) -> Result<()> {
        self.demand_equality(ty, at)?;
        if ty.0 == oid::UNKNOWN || self.has_order(ty) {
            return Ok(());
        }
        Err(no_operator("ordering", &self.type_text(ty))
            .at(at)
            .detail("Aggregates with DISTINCT must be able to sort their inputs."))
    }

    /// Values of this type can be told apart: by their order, or by what PostgreSQL has nothing but hashes of.
    pub(super) fn demand_equality(&self, ty: Oid, at: u32) -> Result<()> {
        let equal =
            |part: Oid| builtin::ordering(part.0).is_some() || builtin::is_only_hashed(part.0);
        if ty.0 == oid::UNKNOWN || self.is_made_of(ty, &equal) {
            return Ok(());
        }
        Err(no_operator("equality", &self.type_text(ty)).at(at))
    }

    /// A sort key over a bound value.
    pub(super) fn sort_key(&self, expr: Expr, key: &ast::OrderBy) -> Result<SortKey> {
        self.demand_ordering(expr.ty().oid, self.position(key.expr.start()))?;
        let mut descending = false;
        match &key.direction {
            ast::Direction::Default | ast::Direction::Ascending => {}
            ast::Direction::Descending => descending = true,
            ast::Direction::Using(operator, at) => match &*operator.name {
                "<" => {}
                ">" => descending = true,
                other => {
                    let (ty, at) = (expr.ty().oid, self.position(*at));
                    let found = self.operator(operator, &[ty, ty], at)?;
                    let Some(of) = PATTERN_ORDERS.iter().find(|of| of.contains(&found.oid.0))
                    else {
                        return Err(SqlError::new(
                            SqlState::WRONG_OBJECT_TYPE,
                            format!("operator {other} is not a valid ordering operator"),
                        )
                        .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
                        .at(at));
                    };
                    descending = found.oid.0 == of[1];
                }
            },
        }
        Ok(SortKey { expr, descending, nulls_first: key.nulls_first.unwrap_or(descending) })
    }
}

fn int4(value: i32) -> Expr {
    Expr::Constant(Literal::Int4(value), SqlType::plain(oid::INT4))
}

/// `~<~` and `~>~` of text and of char(n), which order by the bytes of a text, as all collations do that are there.
const PATTERN_ORDERS: [[u32; 2]; 2] = [[2314, 2318], [2326, 2330]];

/// RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW.
const DEFAULT_FRAME: Frame = Frame {
    unit: FrameUnit::Range,
    start: FrameBound::UnboundedPreceding,
    between: true,
    end: FrameBound::CurrentRow,
    in_range: [Oid(0); 2],
    exclude: FrameExclude::NoOthers,
};

fn same_window(a: &BoundWindow, b: &BoundWindow) -> bool {
    let bound = |a: &FrameBound, b: &FrameBound| match (a, b) {
        (FrameBound::Preceding(a), FrameBound::Preceding(b))
        | (FrameBound::Following(a), FrameBound::Following(b)) => same(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    let frame = match (&a.frame, &b.frame) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            a.unit == b.unit
                && a.exclude == b.exclude
                && bound(&a.start, &b.start)
                && bound(&a.end, &b.end)
        }
        _ => false,
    };
    frame
        && a.partition_by.len() == b.partition_by.len()
        && a.partition_by.iter().zip(&b.partition_by).all(|(a, b)| same(a, b))
        && same_keys(&a.order_by, &b.order_by)
}

#[cold]
fn no_operator(kind: &str, ty: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("could not identify an {kind} operator for type {ty}"),
    )
}
