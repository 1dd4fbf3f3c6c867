//! What a query names, before anything of it is bound: relations without a schema, which is what WITH RECURSIVE is ordered by
//! and what makes one of its queries recursive (`makeDependencyGraphWalker`, `checkWellFormedRecursionWalker`); and what may
//! be the whole row of a FROM item.

use crate::parse::ast::expr::{Bound, Frame, Index, Over, Window};
use crate::parse::ast::{
    Assignment, Body, ConflictTarget, Cte, CteBody, Distinct, Expr, ExprKind, FromItem, GroupItem,
    Ident, JoinCondition, OrderBy, Query, Target, With,
};
use crate::types::depth::deeper;

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// Byte offset in the query text.
    pub at: u32,
    /// In a subquery of an expression.
    pub in_expression: bool,
}

/// The first place where a query names `name`.
pub(super) fn mention(query: &Query, name: &str) -> Option<Mention> {
    let mut found = None;
    let mut see = |named: &str, at: Mention| {
        if named == name {
            found.get_or_insert(at);
        }
    };
    Walk { hidden: Vec::new(), in_expression: false, see: &mut see, rows: RowNames::new() }
        .query(query);
    found
}

/// What may be a FROM item's row as one value in a query's expressions: a name by itself, before a star that is an argument, or
/// before another one, which is none of the item's columns then but a function of its row.
pub(super) fn rows_mentioned(query: &Query) -> RowNames {
    let see = &mut |_: &str, _: Mention| {};
    let mut walk = Walk { hidden: Vec::new(), in_expression: false, see, rows: RowNames::new() };
    walk.query(query);
    walk.rows
}

/// What [`rows_mentioned`] finds: names, each with the one behind it.
pub(super) type RowNames = Vec<(Ident, Option<Ident>)>;

/// Is told of every relation that a query of WITH names.
pub(super) fn mentions(cte: &Cte, see: &mut dyn FnMut(&str, Mention)) {
    Walk { hidden: Vec::new(), in_expression: false, see, rows: RowNames::new() }.cte(cte);
}

struct Walk<'w> {
    /// The names of queries of WITH inside what is walked: they mean those.
    hidden: Vec<Ident>,
    in_expression: bool,
    see: &'w mut dyn FnMut(&str, Mention),
    /// What [`rows_mentioned`] finds.
    rows: RowNames,
}

impl Walk<'_> {
    fn query(&mut self, query: &Query) {
        self.around(query.with.as_ref(), |walk| {
            match &query.body {
                Body::Select(select) => {
                    select.from.iter().for_each(|item| walk.from(item));
                    walk.targets(&select.targets);
                    walk.all(&select.filter);
                    select.group_by.iter().for_each(|item| walk.group(item));
                    walk.all(&select.having);
                    select.windows.iter().for_each(|(_, window)| walk.window(window));
                    if let Distinct::On(exprs) = &select.distinct {
                        walk.all(exprs);
                    }
                }
                Body::Values(rows) => rows.iter().for_each(|row| walk.all(row)),
                Body::SetOperation { left, right, .. } => {
                    walk.query(left);
                    walk.query(right);
                }
            }
            walk.sorted(&query.order_by);
            walk.all(&query.limit);
            walk.all(&query.offset);
        });
    }

    /// What stands beside a WITH, whose names are not those outside.
    fn around(&mut self, with: Option<&With>, inside: impl FnOnce(&mut Self)) {
        let outside = self.hidden.len();
        if let Some(with) = with {
            if with.recursive {
                self.hidden.extend(with.ctes.iter().map(|cte| cte.name.clone()));
            }
            for cte in &with.ctes {
                self.cte(cte);
                self.hidden.push(cte.name.clone());
            }
        }
        inside(self);
        self.hidden.truncate(outside);
    }

    fn cte(&mut self, cte: &Cte) {
        match &cte.body {
            CteBody::Query(query) => self.query(query),
            CteBody::Insert(insert) => self.around(insert.with.as_ref(), |walk| {
                insert.source.iter().for_each(|source| walk.query(source));
                if let Some(conflict) = &insert.on_conflict {
                    if let ConflictTarget::Inferred(keys, filter, _) = &conflict.target {
                        walk.all(keys.iter().map(|key| &key.expr).chain(filter));
                    }
                    if let Some(update) = &conflict.update {
                        walk.assignments(&update.assignments);
                        walk.all(&update.filter);
                    }
                }
                walk.targets(&insert.returning);
            }),
            CteBody::Update(update) => self.around(update.with.as_ref(), |walk| {
                walk.assignments(&update.assignments);
                update.from.iter().for_each(|item| walk.from(item));
                walk.all(&update.filter);
                walk.targets(&update.returning);
            }),
            CteBody::Delete(delete) => self.around(delete.with.as_ref(), |walk| {
                delete.using.iter().for_each(|item| walk.from(item));
                walk.all(&delete.filter);
                walk.targets(&delete.returning);
            }),
            CteBody::Merge => {}
        }
    }

    fn from(&mut self, item: &FromItem) {
        match item {
            FromItem::Table { name, .. } => {
                if name.schema().is_none() && !self.hidden.contains(name.name()) {
                    let at = Mention { at: name.at, in_expression: self.in_expression };
                    (self.see)(name.name(), at);
                }
            }
            FromItem::Sample { table, arguments, repeatable, .. } => {
                self.from(table);
                arguments.iter().chain(repeatable).for_each(|expr| self.expr(expr));
            }
            FromItem::Function { calls, .. } => calls.iter().for_each(|(call, _)| self.expr(call)),
            FromItem::Subquery { query, .. } => self.query(query),
            FromItem::Join { left, right, condition, .. } => {
                self.from(left);
                self.from(right);
                if let JoinCondition::On(condition) = condition {
                    self.expr(condition);
                }
            }
        }
    }

    fn targets(&mut self, targets: &[Target]) {
        let values = targets.iter().map(|target| &target.expr);
        self.all(values.filter(|value| !matches!(value.kind, ExprKind::Star(_))));
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        for Assignment::One(_, value) | Assignment::Many(_, value) in assignments {
            self.expr(value);
        }
    }

    fn group(&mut self, item: &GroupItem) {
        match item {
            GroupItem::Expr(expr) => self.expr(expr),
            GroupItem::Empty => {}
            GroupItem::Rollup(exprs) | GroupItem::Cube(exprs) => self.all(exprs),
            GroupItem::Sets(items) => items.iter().for_each(|item| self.group(item)),
        }
    }

    fn sorted(&mut self, keys: &[OrderBy]) {
        self.all(keys.iter().map(|key| &key.expr));
    }

    fn window(&mut self, window: &Window) {
        self.all(&window.partition_by);
        self.sorted(&window.order_by);
        if let Some(Frame { start, end, .. }) = &window.frame {
            for bound in [start, end] {
                if let Bound::Preceding(offset) | Bound::Following(offset) = bound {
                    self.expr(offset);
                }
            }
        }
    }

    fn subquery(&mut self, query: &Query) {
        let outside = std::mem::replace(&mut self.in_expression, true);
        self.query(query);
        self.in_expression = outside;
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        deeper(|| self.parts(expr));
    }

    fn parts(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Column(parts) | ExprKind::Star(parts) => match parts.as_slice() {
                [name] => self.rows.push((name.clone(), None)),
                [name, field] => self.rows.push((name.clone(), Some(field.clone()))),
                _ => {}
            },
            ExprKind::Integer(_)
            | ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::Bits(..)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Parameter(_)
            | ExprKind::Default
            | ExprKind::CurrentValue(_)
            | ExprKind::CurrentOf(_) => {}
            ExprKind::Unary(_, operand)
            | ExprKind::Not(operand)
            | ExprKind::IsNull { operand, .. }
            | ExprKind::IsBool { operand, .. }
            | ExprKind::Field { operand, .. }
            | ExprKind::AllFields(operand)
            | ExprKind::Collate { operand, .. }
            | ExprKind::Cast { operand, .. } => self.expr(operand),
            ExprKind::Binary(left, _, right)
            | ExprKind::NullIf(left, right)
            | ExprKind::IsDistinct { left, right, .. }
            | ExprKind::QuantifiedArray { left, array: right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::And(list)
            | ExprKind::Or(list)
            | ExprKind::Array(list)
            | ExprKind::Coalesce(list)
            | ExprKind::Grouping(list)
            | ExprKind::Row { fields: list, .. }
            | ExprKind::Extreme { arguments: list, .. } => self.all(list),
            ExprKind::XmlTable(table) => self.all(table.parts()),
            ExprKind::Xml(call) => {
                self.all(call.named.iter().map(|(_, value, _)| value).chain(&call.arguments));
            }
            ExprKind::InList { operand, list, .. } => {
                self.expr(operand);
                self.all(list);
            }
            ExprKind::Between { operand, low, high, .. } => {
                self.all([&**operand, &**low, &**high]);
            }
            ExprKind::InQuery { operand: left, query, .. }
            | ExprKind::QuantifiedQuery { left, query, .. } => {
                self.expr(left);
                self.subquery(query);
            }
            ExprKind::Subquery(query) | ExprKind::Exists(query) | ExprKind::ArrayQuery(query) => {
                self.subquery(query);
            }
            ExprKind::Subscript { operand, indices } => {
                self.expr(operand);
                for index in indices {
                    match index {
                        Index::At(index) => self.expr(index),
                        Index::Slice(low, high) => self.all(low.iter().chain(high)),
                    }
                }
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.all(operand.iter().map(|operand| &**operand));
                branches.iter().for_each(|when| self.all([&when.condition, &when.result]));
                self.all(otherwise.iter().map(|otherwise| &**otherwise));
            }
            ExprKind::Call(call) => {
                self.all(call.arguments.iter().map(|argument| &argument.value));
                self.sorted(&call.order_by);
                self.all(&call.filter);
                if let Some(Over::Window(window)) = &call.over {
                    self.window(window);
                }
            }
        }
    }
}
