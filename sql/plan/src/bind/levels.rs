//! Walks over bound trees that change columns: how many rows out they look, and which place they name there.
//!
//! Depth counts the rows that the executor has put on its stack of outer rows since the walk began: one for a subquery in an
//! expression, one for the right side of a lateral join.

use crate::bind::logical::{
    Cte, CteBody, Frame, FrameBound, MergeChange, Modify, ModifyKind, Node, Query, SortKey,
};
use crate::bind::same_query::{same_kind, same_query};
use crate::bind::tree::FromTree;
use crate::bind::typed::{AggregateCall, Expr, SubqueryKind};
use crate::catalog::builtin::{Volatility, function};
use std::sync::Arc;

/// Is told of every column with the depth it stands at, and of the expression that holds it.
pub type ColumnVisitor<'v> = dyn FnMut(&mut Expr, u16) + 'v;

/// Adds `by` to the level of every column that looks out of `expr`.
pub fn raise(expr: &mut Expr, by: u16) {
    if by > 0 {
        columns_of_expr(expr, 0, &mut |column, depth| {
            if let Expr::Column { level, .. } = column
                && *level >= depth
            {
                *level += by;
            }
        });
    }
}

/// Takes one level off every column that looks out of `expr`, which is moved out of a row that it does not look at.
pub fn lower(expr: &mut Expr) {
    columns_of_expr(expr, 0, &mut |column, depth| {
        if let Expr::Column { level, .. } = column
            && *level > depth
        {
            *level -= 1;
        }
    });
}

/// Takes the row at level 1 out of the stack below an item of FROM: nothing there looks at it.
pub(super) fn drop_level(node: &mut Node, tree: Option<&mut FromTree>) {
    let mut drop = |column: &mut Expr, depth: u16| {
        if let Expr::Column { level, .. } = column
            && *level > depth + 1
        {
            *level -= 1;
        }
    };
    columns_of_node(node, 0, &mut drop);
    if let Some(tree) = tree {
        tree.walk(0, &mut Columns(&mut drop));
    }
}

/// What meets the parts of a bound tree in a walk over it.
pub trait Visitor {
    /// An expression that a node or a statement has, at this depth.
    fn expr(&mut self, expr: &mut Expr, depth: u16);

    /// A query that stands in another one: [`walk_query`] goes on into it.
    fn query(&mut self, query: &mut Arc<Query>, depth: u16);

    /// A node, once all below it has been visited.
    fn node(&mut self, _node: &mut Node, _depth: u16) {}

    /// The call of a function in FROM, with the numbers of the fields that it returned.
    fn called(&mut self, _call: &Expr, _fields: &mut Vec<i16>) {}
}

/// Has what stands directly below an expression visited: its operands, or the test and the query of a subquery.
pub fn visit_below(expr: &mut Expr, depth: u16, visit: &mut dyn Visitor) {
    match expr {
        Expr::Subquery { kind, query, .. } => {
            if let SubqueryKind::Quantified { test, .. } = kind {
                visit.expr(test, depth + 1);
            }
            visit.query(query, depth + 1);
        }
        _ => children(expr, &mut |child| visit.expr(child, depth)),
    }
}

/// Visits columns.
struct Columns<'a, 'v>(&'a mut ColumnVisitor<'v>);

impl Visitor for Columns<'_, '_> {
    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        match expr {
            Expr::Column { .. } => (self.0)(expr, depth),
            _ => visit_below(expr, depth, self),
        }
    }

    fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
        walk_query(Arc::make_mut(query), depth, self);
    }
}

/// Visits every column below `expr`.
pub fn columns_of_expr(expr: &mut Expr, depth: u16, visit: &mut ColumnVisitor<'_>) {
    Columns(visit).expr(expr, depth);
}

/// Visits every column below a plan node.
pub fn columns_of_node(node: &mut Node, depth: u16, visit: &mut ColumnVisitor<'_>) {
    walk_node(node, depth, &mut Columns(visit));
}

/// Visits every parameter of an expression without queries.
pub fn parameters_of(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Parameter(..) => visit(expr),
        _ => children(expr, &mut |child| parameters_of(child, visit)),
    }
}

/// Whether a query reads a parameter.
#[must_use]
pub fn takes_parameters(query: &Query) -> bool {
    struct Found(bool);
    impl Visitor for Found {
        fn expr(&mut self, expr: &mut Expr, depth: u16) {
            match expr {
                Expr::Parameter(..) => self.0 = true,
                Expr::Subquery { kind, query, .. } => {
                    if let SubqueryKind::Quantified { test, .. } = kind {
                        self.expr(test, depth + 1);
                    }
                    self.query(query, depth + 1);
                }
                _ => children(expr, &mut |child| self.expr(child, depth)),
            }
        }

        fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
            walk_query(Arc::make_mut(query), depth, self);
        }
    }
    let mut found = Found(false);
    walk_query(&mut query.clone(), 0, &mut found);
    found.0
}

/// A walk to the expressions directly below one, for shared and for exclusive borrows: what is below what is said once.
macro_rules! children_of {
    ($(#[$about:meta])* $name:ident, $($borrow:tt)+) => {
        $(#[$about])*
        pub fn $name(expr: $($borrow)+ Expr, visit: &mut dyn FnMut($($borrow)+ Expr)) {
            match expr {
                Expr::Constant(..)
                | Expr::Column { .. }
                | Expr::Parameter(..)
                | Expr::CurrentValue(..)
                | Expr::CaseTest(..)
                | Expr::Subquery { .. } => {}
                Expr::Call { arguments: list, .. }
                | Expr::And(list)
                | Expr::Or(list)
                | Expr::Coalesce(list, ..)
                | Expr::Extreme { arguments: list, .. }
                | Expr::Xml { arguments: list, .. }
                | Expr::XmlTable { arguments: list, .. }
                | Expr::Array { elements: list, .. }
                | Expr::Assign { parts: list, .. }
                | Expr::Row(list, ..) => list.into_iter().for_each(visit),
                Expr::Not(operand)
                | Expr::IsNull { operand, .. }
                | Expr::IsBool { operand, .. }
                | Expr::Relabel(operand, _)
                | Expr::ViaText(operand, _)
                | Expr::Domain(operand, _)
                | Expr::ArrayCast { operand, .. }
                | Expr::Collate { operand, .. }
                | Expr::Field { operand, .. } => visit(operand),
                Expr::IsDistinct { left, right, .. } | Expr::NullIf { left, right, .. } => {
                    visit(left);
                    visit(right);
                }
                Expr::ScalarArray { left, array, .. } => {
                    visit(left);
                    visit(array);
                }
                Expr::Case { operand, branches, otherwise, .. } => {
                    if let Some(operand) = operand {
                        visit(operand);
                    }
                    for (condition, result) in branches {
                        visit(condition);
                        visit(result);
                    }
                    if let Some(otherwise) = otherwise {
                        visit(otherwise);
                    }
                }
                Expr::Subscript { operand, indices, .. } => {
                    visit(operand);
                    for (low, high) in indices {
                        low.into_iter().chain(high).for_each(&mut *visit);
                    }
                }
            }
        }
    };
}

children_of! {
    /// Calls `visit` for each expression directly below `expr`, subqueries' own expressions aside.
    children, &mut
}

children_of! {
    /// As [`children`], of an expression that stays as it is.
    parts, &
}

/// Whether `test` holds for `expr` or for anything below it, subqueries' own expressions aside.
pub fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = test(expr);
    parts(expr, &mut |part| found = found || any(part, test));
    found
}

/// Whether an expression may give another value each time. What its subqueries do is not looked at.
pub fn is_volatile(expr: &Expr) -> bool {
    any(expr, &|part| match part {
        Expr::Call { function: called, .. } => {
            function(called.0).is_none_or(|found| found.volatility == Volatility::Volatile)
        }
        _ => false,
    })
}

/// Whether an expression costs little and gives the same value each time: nothing in it is volatile or a subquery.
pub fn is_repeatable(expr: &Expr) -> bool {
    !is_volatile(expr) && !any(expr, &|part| matches!(part, Expr::Subquery { .. }))
}

fn walk_keys(keys: &mut [SortKey], depth: u16, visit: &mut dyn Visitor) {
    for key in keys {
        visit.expr(&mut key.expr, depth);
    }
}

fn walk_calls(calls: &mut [AggregateCall], depth: u16, visit: &mut dyn Visitor) {
    for call in calls {
        call.arguments.iter_mut().for_each(|argument| visit.expr(argument, depth));
        walk_keys(&mut call.order_by, depth, visit);
        if let Some(filter) = &mut call.filter {
            visit.expr(filter, depth);
        }
    }
}

fn walk_frame(frame: &mut Frame, depth: u16, visit: &mut dyn Visitor) {
    for bound in [&mut frame.start, &mut frame.end] {
        if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
            visit.expr(offset, depth);
        }
    }
}

/// Visits all parts of a query.
pub fn walk_query(query: &mut Query, depth: u16, visit: &mut dyn Visitor) {
    walk_ctes(&mut query.ctes, depth, visit);
    walk_node(&mut query.root, depth, visit);
    if let Some(tree) = &mut query.tree {
        Arc::make_mut(tree).walk(depth, visit);
    }
}

fn walk_ctes(ctes: &mut [Cte], depth: u16, visit: &mut dyn Visitor) {
    for cte in ctes {
        match &mut cte.body {
            CteBody::Query(query) => walk_query(query, depth, visit),
            CteBody::Recursive { base, step, .. } => {
                walk_query(base, depth, visit);
                walk_query(step, depth, visit);
            }
            CteBody::Modify(modify) => walk_modify(modify, depth, visit),
        }
    }
}

/// Visits all parts of a modification but what it works out of its table's rows.
pub fn walk_modify(modify: &mut Modify, depth: u16, visit: &mut dyn Visitor) {
    walk_ctes(&mut modify.ctes, depth, visit);
    match &mut modify.kind {
        ModifyKind::Insert { source, on_conflict, .. } => {
            walk_node(source, depth, visit);
            if let Some(update) = on_conflict.as_mut().and_then(|conflict| conflict.update.as_mut())
            {
                update.assignments.iter_mut().for_each(|(_, value)| visit.expr(value, depth));
                if let Some(filter) = &mut update.filter {
                    visit.expr(filter, depth);
                }
            }
        }
        ModifyKind::Update { source, assignments } => {
            walk_node(source, depth, visit);
            assignments.iter_mut().for_each(|(_, value)| visit.expr(value, depth));
        }
        ModifyKind::Delete { source } => walk_node(source, depth, visit),
        ModifyKind::Merge { source, on, actions } => {
            walk_node(source, depth, visit);
            on.iter_mut().for_each(|expr| visit.expr(expr, depth));
            for action in actions {
                let conditions = action.conditions.iter_mut();
                conditions.for_each(|expr| visit.expr(expr, depth));
                match &mut action.change {
                    MergeChange::Nothing | MergeChange::Delete => {}
                    MergeChange::Update(assignments) => {
                        let values = assignments.iter_mut();
                        values.for_each(|(_, value)| visit.expr(value, depth));
                    }
                    MergeChange::Insert(row) => {
                        row.iter_mut().for_each(|value| visit.expr(value, depth));
                    }
                }
            }
        }
    }
    for (expr, _) in modify.returning.iter_mut().flatten() {
        visit.expr(expr, depth);
    }
}

/// Visits all parts below a plan node, and the node.
pub fn walk_node(node: &mut Node, depth: u16, visit: &mut dyn Visitor) {
    crate::account::insist();
    match node {
        Node::Unit | Node::Nothing(_) | Node::CteScan { .. } => {}
        Node::Scan { filter, .. } => {
            filter.iter_mut().for_each(|expr| visit.expr(expr, depth));
        }
        Node::FunctionScan { arguments, .. } => {
            arguments.iter_mut().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Values { rows, .. } => {
            rows.iter_mut().flatten().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Constants { .. } => {}
        Node::Derived { query, .. } => visit.query(query, depth),
        Node::Join { left, right, on, lateral, .. } => {
            walk_node(left, depth, visit);
            walk_node(right, depth + u16::from(*lateral), visit);
            on.iter_mut().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Filter { input, conjuncts } => {
            walk_node(input, depth, visit);
            conjuncts.iter_mut().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Project { input, columns } | Node::ProjectSet { input, columns } => {
            walk_node(input, depth, visit);
            columns.iter_mut().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Aggregate { input, keys, calls, .. } => {
            walk_node(input, depth, visit);
            keys.iter_mut().for_each(|expr| visit.expr(expr, depth));
            walk_calls(calls, depth, visit);
        }
        Node::Window { input, calls, partition_by, order_by, frame } => {
            walk_node(input, depth, visit);
            walk_calls(calls, depth, visit);
            partition_by.iter_mut().for_each(|expr| visit.expr(expr, depth));
            walk_keys(order_by, depth, visit);
            walk_frame(frame, depth, visit);
        }
        Node::Distinct { input, on, .. } => {
            walk_node(input, depth, visit);
            on.iter_mut().flatten().for_each(|expr| visit.expr(expr, depth));
        }
        Node::Sort { input, keys } => {
            walk_node(input, depth, visit);
            walk_keys(keys, depth, visit);
        }
        Node::Limit { input, limit, offset, with_ties } => {
            walk_node(input, depth, visit);
            for expr in [limit, offset].into_iter().flatten() {
                visit.expr(expr, depth);
            }
            if let Some(keys) = with_ties {
                walk_keys(keys, depth, visit);
            }
        }
        Node::SetOperation { left, right, .. } => {
            walk_node(left, depth, visit);
            walk_node(right, depth, visit);
        }
        Node::LockRows { input, .. } | Node::Barrier { input, .. } => {
            walk_node(input, depth, visit);
        }
    }
    visit.node(node, depth);
}

/// Whether two expressions are the same, wherever they stand in the text.
#[must_use]
pub fn same(a: &Expr, b: &Expr) -> bool {
    let all =
        |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    let maybe = |a: Option<&Expr>, b: Option<&Expr>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    };
    if a.ty() != b.ty() {
        return false;
    }
    match (a, b) {
        (Expr::Constant(a, _), Expr::Constant(b, _)) => a == b,
        (
            Expr::Column { level: la, column: ca, .. },
            Expr::Column { level: lb, column: cb, .. },
        ) => la == lb && ca == cb,
        (Expr::Parameter(a, _), Expr::Parameter(b, _)) => a == b,
        (
            Expr::Call { function: fa, arguments: aa, .. },
            Expr::Call { function: fb, arguments: ab, .. },
        ) => fa == fb && all(aa, ab),
        (Expr::And(a), Expr::And(b))
        | (Expr::Or(a), Expr::Or(b))
        | (Expr::Coalesce(a, ..), Expr::Coalesce(b, ..)) => all(a, b),
        (Expr::Row(a, ..), Expr::Row(b, ..)) => all(a, b),
        (Expr::Assign { parts: a, step: sa, .. }, Expr::Assign { parts: b, step: sb, .. }) => {
            sa == sb && all(a, b)
        }
        (Expr::Array { elements: a, .. }, Expr::Array { elements: b, .. }) => all(a, b),
        (Expr::Not(a), Expr::Not(b))
        | (Expr::Relabel(a, _), Expr::Relabel(b, _))
        | (Expr::ViaText(a, _), Expr::ViaText(b, _)) => same(a, b),
        (Expr::Domain(a, ta), Expr::Domain(b, tb)) => ta == tb && same(a, b),
        (Expr::IsNull { operand: a, negated: na }, Expr::IsNull { operand: b, negated: nb }) => {
            na == nb && same(a, b)
        }
        (
            Expr::IsBool { operand: a, test: ta, negated: na },
            Expr::IsBool { operand: b, test: tb, negated: nb },
        ) => ta == tb && na == nb && same(a, b),
        (
            Expr::IsDistinct { left: la, right: ra, negated: na, .. },
            Expr::IsDistinct { left: lb, right: rb, negated: nb, .. },
        ) => na == nb && same(la, lb) && same(ra, rb),
        (Expr::NullIf { left: la, right: ra, .. }, Expr::NullIf { left: lb, right: rb, .. }) => {
            same(la, lb) && same(ra, rb)
        }
        (
            Expr::Extreme { arguments: a, greatest: ga, .. },
            Expr::Extreme { arguments: b, greatest: gb, .. },
        ) => ga == gb && all(a, b),
        (Expr::Xml { call: ca, arguments: a }, Expr::Xml { call: cb, arguments: b }) => {
            ca == cb && all(a, b)
        }
        (
            Expr::XmlTable { table: ta, arguments: a },
            Expr::XmlTable { table: tb, arguments: b },
        ) => ta == tb && all(a, b),
        (
            Expr::ScalarArray { left: la, function: fa, array: aa, quantifier: qa, .. },
            Expr::ScalarArray { left: lb, function: fb, array: ab, quantifier: qb, .. },
        ) => fa == fb && qa == qb && same(la, lb) && same(aa, ab),
        (
            Expr::Case { operand: ta, branches: ba, otherwise: oa, .. },
            Expr::Case { operand: tb, branches: bb, otherwise: ob, .. },
        ) => {
            ba.len() == bb.len()
                && maybe(ta.as_deref(), tb.as_deref())
                && ba.iter().zip(bb).all(|((ca, ra), (cb, rb))| same(ca, cb) && same(ra, rb))
                && maybe(oa.as_deref(), ob.as_deref())
        }
        (Expr::CaseTest(_, a), Expr::CaseTest(_, b)) => a == b,
        (
            Expr::Subscript { operand: a, indices: ia, slice: sa, .. },
            Expr::Subscript { operand: b, indices: ib, slice: sb, .. },
        ) => {
            sa == sb
                && same(a, b)
                && ia.len() == ib.len()
                && ia.iter().zip(ib).all(|((la, ha), (lb, hb))| {
                    maybe(la.as_ref(), lb.as_ref()) && maybe(ha.as_ref(), hb.as_ref())
                })
        }
        (
            Expr::Collate { operand: a, collation: ca, .. },
            Expr::Collate { operand: b, collation: cb, .. },
        ) => ca == cb && same(a, b),
        (Expr::Field { operand: a, field: fa, .. }, Expr::Field { operand: b, field: fb, .. }) => {
            fa == fb && same(a, b)
        }
        (Expr::ArrayCast { operand: a, .. }, Expr::ArrayCast { operand: b, .. }) => same(a, b),
        (Expr::CurrentValue(a, _), Expr::CurrentValue(b, _)) => a == b,
        (Expr::Subquery { kind: ka, query: a, .. }, Expr::Subquery { kind: kb, query: b, .. }) => {
            Arc::ptr_eq(a, b) || same_kind(ka, kb) && same_query(a, b)
        }
        _ => false,
    }
}
