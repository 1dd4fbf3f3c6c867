//! What a statement means, as a number: two have the same if they differ only in constants, aliases, parentheses, how types
//! are named and whatever else binding has settled (PostgreSQL's jumbling, `compute_query_id`; manual, section F.32).
//!
//! PostgreSQL walks the analysed query before views and routines are put in their places; this walks the bound tree, in which a
//! view's query already stands, and takes the view's OID for it. Of constants the type counts alone, as there. A name counts
//! where two things may have it that are otherwise alike: that of a WITH query.
//!
//! Difference: what the bound tree does not show has no part in it: NATURAL beside USING, a DEFAULT beside its value, and of
//! several rows of VALUES the types of constants beside those of the columns that they go to. DISTINCT is no ORDER BY of the
//! same columns, whose numbers are one in PostgreSQL.

use crate::bind::logical::{
    Arbiters, Cte, CteBody, Frame, FrameBound, MergeChange, Modify, ModifyKind, Node, OnConflict,
    Query, SortKey,
};
use crate::bind::typed::{AggregateCall, CallForm, Expr, SubqueryKind};
use crate::bind::{Bound, BoundStatement};
use crate::types::depth::deeper;
use crate::types::{Oid, SqlType};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// The number of what a statement means. In one whose literals have been taken out all parameters stand for constants.
#[must_use]
pub fn of(bound: &Bound, lifted: bool) -> u64 {
    let mut walk = Walk { hasher: FxHasher::default(), lifted };
    match &bound.statement {
        BoundStatement::Query(query) => walk.query(query),
        BoundStatement::Modify(modify) => walk.modify(modify),
    }
    walk.hasher.finish()
}

/// What stands for a constant, which is no expression's discriminant.
const CONSTANT: u8 = 0;
/// What stands for a parameter.
const PARAMETER: u8 = 1;
/// What stands for a view.
const VIEW: u8 = 2;
/// What begins each row of VALUES.
const ROW: u8 = 3;

struct Walk {
    hasher: FxHasher,
    lifted: bool,
}

impl Walk {
    fn add(&mut self, what: impl Hash) {
        what.hash(&mut self.hasher);
    }

    fn query(&mut self, query: &Query) {
        self.ctes(&query.ctes);
        self.add(query.output.len());
        self.node(&query.root);
    }

    fn ctes(&mut self, ctes: &[Cte]) {
        for Cte { name, body, merges: _ } in ctes {
            self.add((&**name, discriminant(body)));
            match body {
                CteBody::Query(query) => self.query(query),
                CteBody::Recursive { base, step, all } => {
                    self.add(all);
                    self.query(base);
                    self.query(step);
                }
                CteBody::Modify(modify) => self.modify(modify),
            }
        }
    }

    fn modify(&mut self, modify: &Modify) {
        let Modify { relation, kind, returning, ctes, named, .. } = modify;
        self.ctes(ctes);
        self.add((relation.oid.0, discriminant(kind), named));
        match kind {
            ModifyKind::Insert { source, on_conflict, .. } => {
                self.node(source);
                if let Some(on_conflict) = on_conflict {
                    self.on_conflict(on_conflict);
                }
            }
            ModifyKind::Update { source, assignments } => {
                self.node(source);
                self.assignments(assignments);
            }
            ModifyKind::Delete { source } => self.node(source),
            ModifyKind::Merge { source, on, actions } => {
                self.node(source);
                self.exprs(on);
                for action in actions {
                    self.add((action.matched, discriminant(&action.change)));
                    self.exprs(&action.conditions);
                    match &action.change {
                        MergeChange::Nothing | MergeChange::Delete => {}
                        MergeChange::Update(assignments) => self.assignments(assignments),
                        MergeChange::Insert(values) => self.exprs(values),
                    }
                }
            }
        }
        self.exprs(returning.iter().flatten().map(|(expr, _)| expr));
    }

    fn assignments(&mut self, assignments: &[(usize, Expr)]) {
        for (column, value) in assignments {
            self.add(column);
            self.expr(value);
        }
    }

    fn on_conflict(&mut self, OnConflict { arbiters, update }: &OnConflict) {
        self.add((discriminant(arbiters), update.is_some()));
        match arbiters {
            Arbiters::Any => {}
            Arbiters::Named(constraint) => self.add(constraint.0),
            Arbiters::Inferred { candidates, given } => {
                self.add(candidates.iter().map(|(index, _)| index.0).collect::<Vec<_>>());
                self.exprs(given);
            }
        }
        if let Some(update) = update {
            self.assignments(&update.assignments);
            self.exprs(&update.filter);
        }
    }

    fn node(&mut self, node: &Node) {
        deeper(|| self.node_here(node));
    }

    fn node_here(&mut self, node: &Node) {
        if let Node::Constants { rows, types } = node {
            return self.rows((0..rows.len()).map(|_| types.iter().map(|ty| (*ty, None))));
        }
        if let Node::Values { rows, .. } = node
            && rows.len() > 1
        {
            let cell = |expr| (Expr::ty(expr), Some(expr).filter(|expr| !self.is_constant(expr)));
            let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
            return self.rows(rows);
        }
        self.add(discriminant(node));
        match node {
            Node::Unit | Node::Constants { .. } => {}
            Node::Nothing(types) => self.types(types),
            Node::Scan { relation, system, filter, .. } => {
                self.add((relation.oid.0, system));
                self.exprs(filter);
            }
            Node::FunctionScan { function, arguments, .. } => {
                self.add(function.0);
                self.exprs(arguments);
            }
            Node::Values { rows, .. } => {
                for row in rows {
                    self.add(ROW);
                    self.exprs(row);
                }
            }
            Node::Derived { view: Some(view), .. } => self.add((VIEW, view.0)),
            Node::Derived { query, .. } => self.query(query),
            Node::CteScan { level, cte, .. } => self.add((level, cte)),
            Node::Join { kind, left, right, on, lateral } => {
                self.add((discriminant(kind), lateral));
                self.node(left);
                self.node(right);
                self.exprs(on);
            }
            Node::Filter { input, conjuncts } => {
                self.node(input);
                self.exprs(conjuncts);
            }
            Node::Barrier { input, .. } => self.node(input),
            Node::Project { input, columns } | Node::ProjectSet { input, columns } => {
                self.node(input);
                self.exprs(columns);
            }
            Node::Aggregate { input, keys, sets, calls } => {
                self.node(input);
                self.add(sets);
                self.exprs(keys);
                self.calls(calls);
            }
            Node::Window { input, calls, partition_by, order_by, frame } => {
                self.node(input);
                self.calls(calls);
                self.exprs(partition_by);
                self.sort_keys(order_by);
                self.frame(frame);
            }
            Node::Distinct { input, on, columns } => {
                self.node(input);
                self.add((columns, on.is_some()));
                self.exprs(on.iter().flatten());
            }
            Node::Sort { input, keys } => {
                self.node(input);
                self.sort_keys(keys);
            }
            Node::Limit { input, limit, offset, with_ties } => {
                self.node(input);
                self.add((limit.is_some(), offset.is_some(), with_ties.is_some()));
                self.exprs(limit.iter().chain(offset));
            }
            Node::SetOperation { kind, all, left, right } => {
                self.add((discriminant(kind), all));
                self.node(left);
                self.node(right);
            }
            Node::LockRows { input, locks } => {
                self.node(input);
                for (item, lock, policy) in locks {
                    self.add((item, discriminant(lock), discriminant(policy)));
                }
            }
        }
    }

    /// Several rows of VALUES: which of their cells are expressions, and not constants of a type, depends on how the statement
    /// has come.
    fn rows<'e, R>(&mut self, rows: impl IntoIterator<Item = R>)
    where
        R: IntoIterator<Item = (SqlType, Option<&'e Expr>)>,
    {
        for row in rows {
            self.add(ROW);
            for (ty, expr) in row {
                match expr {
                    Some(expr) => self.expr(expr),
                    None => self.constant(ty),
                }
            }
        }
    }

    /// Whether it is a constant, cast or not.
    fn is_constant(&self, mut expr: &Expr) -> bool {
        loop {
            expr = match expr {
                Expr::Constant(..) => return true,
                Expr::Parameter(..) => return self.lifted,
                Expr::Relabel(operand, _) | Expr::ViaText(operand, _) => operand,
                Expr::Call { arguments, form: CallForm::Cast, .. } => match &arguments[..] {
                    // The length and the like that a cast takes are constants.
                    [operand, ..] => operand,
                    [] => return false,
                },
                _ => return false,
            }
        }
    }

    fn frame(&mut self, Frame { unit, start, end, exclude, .. }: &Frame) {
        self.add((discriminant(unit), discriminant(exclude)));
        for bound in [start, end] {
            self.add(discriminant(bound));
            if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                self.expr(offset);
            }
        }
    }

    fn sort_keys(&mut self, keys: &[SortKey]) {
        for SortKey { expr, descending, nulls_first } in keys {
            self.add((descending, nulls_first));
            self.expr(expr);
        }
    }

    fn calls(&mut self, calls: &[AggregateCall]) {
        for call in calls {
            self.add((call.function.0, call.distinct, call.arguments.len()));
            self.exprs(&call.arguments);
            self.sort_keys(&call.order_by);
            self.exprs(&call.filter);
        }
    }

    fn types(&mut self, types: &[SqlType]) {
        for ty in types {
            self.add(ty.oid.0);
        }
    }

    fn constant(&mut self, ty: SqlType) {
        self.add((CONSTANT, ty.oid.0));
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        deeper(|| self.expr_here(expr));
    }

    fn expr_here(&mut self, expr: &Expr) {
        match expr {
            Expr::Constant(_, ty) => return self.constant(*ty),
            Expr::Parameter(_, ty) if self.lifted => return self.constant(*ty),
            Expr::Parameter(number, ty) => return self.add((PARAMETER, number, ty.oid.0)),
            _ => self.add(discriminant(expr)),
        }
        match expr {
            Expr::Constant(..) | Expr::Parameter(..) => {}
            Expr::Column { level, column, .. } => self.add((level, column)),
            Expr::Call { function, arguments, form, .. } => {
                let operator = match form {
                    CallForm::Operator(operator) => *operator,
                    _ => Oid(0),
                };
                self.add((function.0, operator.0));
                self.exprs(arguments);
            }
            Expr::And(parts)
            | Expr::Or(parts)
            | Expr::Coalesce(parts, ..)
            | Expr::Array { elements: parts, .. }
            | Expr::Row(parts, ..) => {
                self.add(parts.len());
                self.exprs(parts);
            }
            Expr::Not(operand) => self.expr(operand),
            Expr::IsNull { operand, negated } => {
                self.add(negated);
                self.expr(operand);
            }
            Expr::IsBool { operand, test, negated } => {
                self.add((test, negated));
                self.expr(operand);
            }
            Expr::IsDistinct { left, right, equals, negated } => {
                self.add((equals.0, negated));
                self.exprs([&**left, right]);
            }
            Expr::Case { operand, branches, otherwise, ty, .. } => {
                self.add((operand.is_some(), branches.len()));
                self.exprs(operand.as_deref());
                self.exprs(branches.iter().flat_map(|(when, then)| [when, then]));
                match otherwise {
                    Some(otherwise) => self.expr(otherwise),
                    None => self.constant(*ty),
                }
            }
            Expr::CaseTest(ty, _) => self.add(ty.oid.0),
            Expr::NullIf { left, right, equals, .. } => {
                self.add(equals.0);
                self.exprs([&**left, right]);
            }
            Expr::Extreme { arguments, greatest, .. } => {
                self.add((greatest, arguments.len()));
                self.exprs(arguments);
            }
            Expr::Xml { call, arguments } => {
                self.add((discriminant(&call.op), arguments.len()));
                self.exprs(arguments);
            }
            Expr::XmlTable { arguments, .. } => self.exprs(arguments),
            Expr::Collate { operand, collation, .. } => {
                self.add(collation.0);
                self.expr(operand);
            }
            Expr::Relabel(operand, ty) | Expr::ViaText(operand, ty) | Expr::Domain(operand, ty) => {
                self.add(ty.oid.0);
                self.expr(operand);
            }
            Expr::ArrayCast { operand, element, ty } => {
                self.add(ty.oid.0);
                self.exprs([&**operand, element]);
            }
            Expr::Subscript { operand, indices, .. } => {
                self.expr(operand);
                for (lower, upper) in indices {
                    self.add((lower.is_some(), upper.is_some()));
                    self.exprs(lower.iter().chain(upper));
                }
            }
            Expr::ScalarArray { left, operator, array, quantifier, .. } => {
                self.add((operator.0, discriminant(quantifier)));
                self.exprs([&**left, array]);
            }
            Expr::Assign { parts, step, .. } => {
                self.add((discriminant(step), parts.len()));
                self.exprs(parts);
            }
            Expr::Field { operand, field, .. } => {
                self.add(field);
                self.expr(operand);
            }
            Expr::Subquery { kind, query, .. } => {
                self.add(discriminant(kind));
                if let SubqueryKind::Quantified { test, quantifier } = kind {
                    self.add(discriminant(quantifier));
                    self.expr(test);
                }
                self.query(query);
            }
            Expr::CurrentValue(value, _) => self.add(discriminant(value)),
        }
    }
}
