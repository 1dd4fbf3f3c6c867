//! Bodies in SQL in place of the calls of users' functions: of one expression where a value is computed (`inline_function`), a
//! query in FROM (`inline_set_returning_function`).
//!
//! It is done to what is going to be planned: definitions are kept and shown with the calls. A body that cannot be bound stays
//! a call, which fails if it is made. Whoever runs the statement must be allowed what the body names and the call itself.
//!
//! The rules are PostgreSQL's. What stands in place of a call gives the same value as that, never sees another state of the
//! database, and computes no argument more than once that costs something or could differ.

use super::coerce::Context;
use super::levels::{Visitor, any, children, parts, raise, walk_modify, walk_node, walk_query};
use super::routine_body::{Parameters, parameter_types};
use super::scope::column_at;
use super::typed::{Expr, conjuncts};
use super::variables::Variables;
use super::{Binder, Bound, BoundStatement, Environment, Holder, Required};
use crate::bind::logical::{ComputedIndex, Cte, CteBody, Modify, Node, Query};
use crate::catalog::CatalogSnapshot;
use crate::catalog::builtin::{self, Volatility};
use crate::catalog::routine::{Routine, SQL};
use crate::parse::ast::{Query as WrittenQuery, Statement};
use crate::parse::{parse_body, parse_in};
use crate::settings::{Rule, RuleSet};
use crate::types::dialect::Dialect;
use crate::types::{Oid, SqlType, oids};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use txn::TableLock;

/// What an argument may cost that stands in a body more than once, in calls of a plain function.
const COST_MAX: f64 = 10.0;

/// How many elements an array is thought to have.
const ELEMENTS: f64 = 10.0;

/// Puts bodies in place of the calls in a statement that is going to be run, where `rules` let it. `dialect` is what the
/// session's settings make of texts.
pub fn inline_routines(
    environment: Environment<'_>,
    dialect: Dialect,
    rules: RuleSet,
    bound: &mut Bound,
) {
    let catalog = environment.catalog;
    let calls = rules.has(Rule::InlineFunctions)
        && bound.required.iter().any(|required| match required {
            Required::Function(oid) | Required::Called(oid) => {
                catalog.routine(*oid).is_some_and(|routine| may_stand(routine))
            }
            _ => false,
        });
    let mut inliner = Inliner {
        environment,
        dialect,
        active: Vec::new(),
        items: bound.items,
        required: Vec::new(),
        relations: Vec::new(),
        walked: HashMap::new(),
    };
    match &mut bound.statement {
        BoundStatement::Query(query) if calls => walk_query(query, 0, &mut inliner),
        BoundStatement::Query(_) => return,
        BoundStatement::Modify(modify) => {
            if calls {
                walk_modify(modify, 0, &mut inliner);
            }
            inliner.worked_out(modify);
        }
    }
    bound.items = inliner.items;
    for wanted in inliner.required {
        if !bound.required.contains(&wanted) {
            bound.required.push(wanted);
        }
    }
    for (relation, lock) in inliner.relations {
        match bound.relations.iter_mut().find(|(known, _)| *known == relation) {
            Some((_, known)) => *known = (*known).max(lock),
            None => bound.relations.push((relation, lock)),
        }
    }
}

/// Whether the body of a function may stand in place of a call, in FROM or elsewhere, whatever it says.
#[must_use]
pub fn may_be_inlined(routine: &Routine, in_from: bool) -> bool {
    may_stand(routine)
        && match routine.returns_set {
            true => in_from && gives_rows(routine),
            false => routine.result.0 != oids::RECORD,
        }
}

/// Whether the rows of a function are those of its query at any time.
fn gives_rows(routine: &Routine) -> bool {
    routine.returns_set
        && !routine.strict
        && routine.volatility != b'v'
        && routine.result.0 != oids::VOID
}

/// Whether a body may stand in place of calls, whatever it says and gives.
fn may_stand(routine: &Routine) -> bool {
    routine.language == SQL
        && !routine.procedure
        && !routine.security_definer
        && routine.settings.is_empty()
}

struct Inliner<'a> {
    environment: Environment<'a>,
    dialect: Dialect,
    /// The functions within whose bodies this is.
    active: Vec<Oid>,
    /// The next number for an item in FROM.
    items: u32,
    required: Vec<Required>,
    relations: Vec<(Oid, TableLock)>,
    /// Whether a body may say something else where a relation that it reads has other columns.
    /// Queries that stand in several places, as they were and as they have become.
    walked: HashMap<usize, (Arc<Query>, Arc<Query>)>,
}

impl Visitor for Inliner<'_> {
    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        if let Expr::Subquery { kind, query, .. } = expr {
            if let super::SubqueryKind::Quantified { test, .. } = kind {
                self.expr(test, depth + 1);
            }
            return self.query(query, depth + 1);
        }
        children(expr, &mut |child| self.expr(child, depth));
        if let Expr::Call { function, arguments, ty, .. } = expr
            && let Some(routine) = self.environment.catalog.routine(*function)
            && let Some(mut value) = self.value(&Arc::clone(routine), arguments, *ty)
        {
            self.active.push(*function);
            self.expr(&mut value, depth);
            self.active.pop();
            *expr = value;
        }
    }

    fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
        if Arc::strong_count(query) == 1 {
            return walk_query(Arc::make_mut(query), depth, self);
        }
        let place = Arc::as_ptr(query) as usize;
        if let Some((_, walked)) = self.walked.get(&place) {
            *query = Arc::clone(walked);
            return;
        }
        let before = Arc::clone(query);
        walk_query(Arc::make_mut(query), depth, self);
        self.walked.insert(place, (before, Arc::clone(query)));
    }

    fn node(&mut self, node: &mut Node, depth: u16) {
        match node {
            Node::Scan { computed, .. } => self.indexes(computed),
            Node::Filter { conjuncts, .. } | Node::Join { on: conjuncts, .. } => {
                take_apart(conjuncts);
            }
            Node::FunctionScan { function, ordinality: false, .. } => {
                let function = *function;
                let routine = self.environment.catalog.routine(function).cloned();
                let Some(rows) = routine.and_then(|routine| self.rows(&routine, node)) else {
                    return;
                };
                *node = rows;
                self.active.push(function);
                walk_node(node, depth, self);
                self.active.pop();
            }
            _ => {}
        }
    }
}

impl Inliner<'_> {
    /// What a modification works out of its table's rows.
    fn worked_out(&mut self, modify: &mut Modify) {
        modify.checks.iter_mut().for_each(|(_, check)| self.expr(check, 0));
        modify.generated.iter_mut().for_each(|(_, value)| self.expr(value, 0));
        let shown = modify.view_checks.iter_mut().flat_map(|check| &mut check.conditions);
        shown.for_each(|condition| self.expr(condition, 0));
        self.indexes(&mut modify.computed);
    }

    fn indexes(&mut self, computed: &mut [ComputedIndex]) {
        for index in computed {
            let own = index.filter.iter_mut().chain(&mut index.expressions);
            own.for_each(|expr| self.expr(expr, 0));
            take_apart(&mut index.filter);
        }
    }

    /// The value that a function's only statement computes of these arguments.
    fn value(&mut self, routine: &Arc<Routine>, arguments: &[Expr], ty: SqlType) -> Option<Expr> {
        if routine.returns_set || !may_be_inlined(routine, false) {
            return None;
        }
        if arguments.iter().any(is_within_case) {
            return None;
        }
        let catalog = self.environment.catalog;
        let value = self.body(routine, arguments, &mut |binder, query| {
            let Query { root: Node::Project { input, mut columns }, ctes, output, .. } = query
            else {
                return None;
            };
            if !matches!(*input, Node::Unit) || !ctes.is_empty() || output.len() != 1 {
                return None;
            }
            let value = columns.pop().filter(|_| columns.is_empty())?;
            let (from, to) = (value.ty().oid, SqlType { typmod: -1, ..ty });
            let of_rows = |ty: Oid| super::type_name::has_fields(catalog, ty);
            if from != to.oid && (to.oid.0 == oids::VOID || of_rows(to.oid)) {
                return None;
            }
            binder.cast(value, to, Context::Assignment, 0).ok()
        })?;
        if any(&value, &|part| matches!(part, Expr::Subquery { .. })) {
            return None;
        }
        let allowed = match routine.volatility {
            b'i' => Volatility::Immutable,
            b's' => Volatility::Stable,
            _ => Volatility::Volatile,
        };
        if volatility(catalog, &value) > allowed || routine.strict && !is_strict(catalog, &value) {
            return None;
        }
        let parameters = Parameters::of(routine);
        for (at, argument) in arguments.iter().enumerate() {
            let times = count(&value, &|number| parameters.position(number) == Some(at as u32 + 1));
            match times {
                0 if routine.strict => return None,
                0 | 1 => {}
                _ if is_cheap(catalog, argument) => {}
                _ => return None,
            }
        }
        let mut value = value;
        Given { parameters: &parameters, arguments }.expr(&mut value, 0);
        Some(value)
    }

    /// The query that gives the rows of a function in FROM.
    fn rows(&mut self, routine: &Arc<Routine>, scan: &Node) -> Option<Node> {
        let Node::FunctionScan { arguments, columns, composite, alias, .. } = scan else {
            return None;
        };
        let fits = may_stand(routine) && gives_rows(routine);
        let catalog = self.environment.catalog;
        let plain = |argument: &Expr| {
            volatility(catalog, argument) < Volatility::Volatile
                && !any(argument, &|part| matches!(part, Expr::Subquery { .. }))
        };
        if !fits || !arguments.iter().all(plain) {
            return None;
        }
        let result = routine.result;
        let mut query = self.body(routine, arguments, &mut |binder, query| {
            if query.ctes.iter().any(changes) || query.output.len() != columns.len() {
                return None;
            }
            // The rows of a composite type are not one value of it.
            if *composite && matches!(&query.output[..], [only] if only.ty.oid == result) {
                return None;
            }
            as_declared(binder, query, columns)
        })?;
        let parameters = Parameters::of(routine);
        walk_query(&mut query, 0, &mut Given { parameters: &parameters, arguments });
        let (query, alias) = (Arc::new(query), Arc::clone(alias));
        Some(Node::Derived { query, alias, item: None, view: None })
    }

    /// What `take` makes of the only query of a body, bound for arguments of these types; their places are parameters in it.
    /// The statement then depends on what the body names.
    fn body<T>(
        &mut self,
        routine: &Arc<Routine>,
        arguments: &[Expr],
        take: &mut dyn FnMut(&Binder<'_>, Query) -> Option<T>,
    ) -> Option<T> {
        if self.active.contains(&routine.oid) || routine.inputs().count() != arguments.len() {
            return None;
        }
        let environment = self.environment;
        // Operators and casts call it by its OID: the plan has to follow what has its name.
        let _ = environment.catalog.routines_named(&routine.name);
        let given: Vec<Oid> = arguments.iter().map(|argument| argument.ty().oid).collect();
        let types = parameter_types(environment, routine, &given).ok()?;
        let parameters = Parameters::with_types(routine, &types);
        let (written, height) = self.written(routine)?;
        let text = routine.standard.as_ref().map_or(&routine.body, |standard| standard.text());
        let own = Binder::new(environment, text, &[]);
        *own.parameters.borrow_mut() = parameters.types().to_vec();
        let binder = Binder {
            variables: Some(&parameters),
            inlining: Cell::new(1),
            scans: Cell::new(self.items),
            ..own
        };
        let bound = crate::parse::depth::within(height, || binder.top_query(&written)).ok()?;
        let taken = take(&binder, bound)?;
        self.items = binder.scans.get();
        self.relations.append(&mut binder.relations.borrow_mut());
        let invoker = |wanted| match wanted {
            Required::Relation { relation, holder: Holder::Asker, privileges, columns } => {
                Required::Relation { relation, holder: Holder::Invoker, privileges, columns }
            }
            other => other,
        };
        self.required.extend(binder.needs().into_iter().map(invoker));
        Some(taken)
    }

    /// The only query of a body, and how high its tree is.
    fn written(&self, routine: &Routine) -> Option<(WrittenQuery, u32)> {
        let (statement, height) = match &routine.standard {
            Some(standard) => {
                let mut statements = parse_body(standard.text()).ok()?.statements;
                let only = statements.pop().filter(|_| statements.is_empty())?;
                (only.statement, 1)
            }
            None => {
                let mut statements = parse_in(&routine.body, self.dialect).ok()?;
                let only = statements.pop().filter(|_| statements.is_empty())?;
                let height = only.statement.height();
                (Statement::clone(&only.statement), height)
            }
        };
        match statement {
            Statement::Query(query) => Some((*query, height)),
            _ => None,
        }
    }
}

/// Puts arguments in place of the parameters of a body.
struct Given<'a> {
    parameters: &'a Parameters,
    arguments: &'a [Expr],
}

impl Visitor for Given<'_> {
    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        match expr {
            Expr::Parameter(number, _) => {
                let place = self.parameters.position(*number).map(|place| place as usize - 1);
                if let Some(argument) = place.and_then(|place| self.arguments.get(place)) {
                    *expr = argument.clone();
                    raise(expr, depth);
                }
            }
            Expr::Subquery { kind, query, .. } => {
                if let super::SubqueryKind::Quantified { test, .. } = kind {
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

/// A query with its columns made those that the function is declared to give.
fn as_declared(
    binder: &Binder<'_>,
    query: Query,
    columns: &[(Arc<str>, SqlType)],
) -> Option<Query> {
    let pairs = || query.output.iter().zip(columns);
    let is = |from: SqlType, to: SqlType| {
        from.oid == to.oid && (to.typmod < 0 || from.typmod == to.typmod)
    };
    if pairs().all(|(output, (_, ty))| is(output.ty, *ty)) {
        return Some(query);
    }
    let cast = |value: Expr, ty: SqlType| match is(value.ty(), ty) {
        true => Some(value),
        false => binder.cast(value, ty, Context::Assignment, 0).ok(),
    };
    let mut output = query.output.clone();
    output.iter_mut().zip(columns).for_each(|(output, (_, ty))| output.ty = *ty);
    match query.root {
        Node::Project { input, columns: values } if values.len() == columns.len() => {
            let values = values.into_iter().zip(columns).map(|(value, (_, ty))| cast(value, *ty));
            let root = Node::Project { input, columns: values.collect::<Option<_>>()? };
            Some(Query { root, output, ..query })
        }
        root => {
            let inner = Query { root, ..query };
            let values = inner.output.iter().enumerate().zip(columns);
            let values = values.map(|((at, output), (_, ty))| cast(column_at(at, output.ty), *ty));
            let columns = values.collect::<Option<_>>()?;
            let (query, alias) = (Arc::new(inner), "*SELECT*".into());
            let input = Box::new(Node::Derived { query, alias, item: None, view: None });
            Some(Query::new(Node::Project { input, columns }, output))
        }
    }
}

/// A body may be several conditions.
fn take_apart(conditions: &mut Vec<Expr>) {
    if conditions.iter().any(|condition| matches!(condition, Expr::And(_))) {
        *conditions = std::mem::take(conditions).into_iter().flat_map(conjuncts).collect();
    }
}

fn changes(cte: &Cte) -> bool {
    matches!(cte.body, CteBody::Modify(_))
}

/// Whether an expression has the operand of a CASE that is around it (`contain_context_dependent_node`).
fn is_within_case(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::CaseTest(..));
    if let Expr::Case { operand: Some(operand), branches, otherwise, .. } = expr {
        let results = branches.iter().map(|(_, result)| result);
        return is_within_case(operand) || results.chain(otherwise.as_deref()).any(is_within_case);
    }
    parts(expr, &mut |part| found = found || is_within_case(part));
    found
}

/// How often parameters for which `is` holds stand in an expression.
fn count(expr: &Expr, is: &dyn Fn(u32) -> bool) -> u32 {
    let mut found = u32::from(matches!(expr, Expr::Parameter(number, _) if is(*number)));
    parts(expr, &mut |part| found += count(part, is));
    found
}

/// The most volatile of what an expression calls.
fn volatility(catalog: &CatalogSnapshot, expr: &Expr) -> Volatility {
    let of = |function: u32| {
        catalog.procedure(Oid(function)).map_or(Volatility::Volatile, |found| found.volatility)
    };
    let own = match expr {
        Expr::Call { function, .. } | Expr::ScalarArray { function, .. } => of(function.0),
        Expr::IsDistinct { equals, .. } | Expr::NullIf { equals, .. } => of(equals.0),
        Expr::CurrentValue(..) => Volatility::Stable,
        Expr::ViaText(value, ty) => {
            let base = |ty: SqlType| builtin::type_by_oid(catalog.base_type(ty).oid.0);
            let output = base(value.ty()).map_or(Volatility::Stable, |from| of(from.output));
            output.max(base(*ty).map_or(Volatility::Stable, |to| of(to.input)))
        }
        Expr::ArrayCast { element, .. } => volatility(catalog, element),
        _ => Volatility::Immutable,
    };
    let mut most = own;
    parts(expr, &mut |part| most = most.max(volatility(catalog, part)));
    most
}

/// Whether an expression is NULL wherever a parameter in it is (`contain_nonstrict_functions`).
fn is_strict(catalog: &CatalogSnapshot, expr: &Expr) -> bool {
    let own = match expr {
        Expr::Call { function, .. } | Expr::ScalarArray { function, .. } => {
            catalog.procedure(*function).is_some_and(|found| found.strict)
        }
        Expr::And(_)
        | Expr::Or(_)
        | Expr::Case { .. }
        | Expr::Coalesce(..)
        | Expr::NullIf { .. }
        | Expr::IsDistinct { .. }
        | Expr::Extreme { .. }
        | Expr::Xml { .. }
        | Expr::XmlTable { .. }
        | Expr::Array { .. }
        | Expr::Row(..)
        | Expr::IsNull { .. }
        | Expr::IsBool { .. }
        | Expr::Assign { .. }
        | Expr::Subquery { .. } => false,
        Expr::Constant(..)
        | Expr::Column { .. }
        | Expr::Parameter(..)
        | Expr::CurrentValue(..)
        | Expr::CaseTest(..)
        | Expr::Not(_)
        | Expr::Relabel(..)
        | Expr::ViaText(..)
        | Expr::Domain(..)
        | Expr::ArrayCast { .. }
        | Expr::Collate { .. }
        | Expr::Field { .. }
        | Expr::Subscript { .. } => true,
    };
    let mut all = own;
    parts(expr, &mut |part| all = all && is_strict(catalog, part));
    all
}

/// Whether an argument may be computed several times: it gives the same value each time, and costs little.
fn is_cheap(catalog: &CatalogSnapshot, argument: &Expr) -> bool {
    volatility(catalog, argument) < Volatility::Volatile && cost(catalog, argument) <= COST_MAX
}

/// What an expression costs, in calls of a plain function (`cost_qual_eval_walker`).
fn cost(catalog: &CatalogSnapshot, expr: &Expr) -> f64 {
    let of = |function: Oid| {
        catalog.procedure(function).map_or(f64::INFINITY, |found| f64::from(found.cost))
    };
    let own = match expr {
        Expr::Subquery { .. } => f64::INFINITY,
        Expr::Call { function, .. } => of(*function),
        Expr::IsDistinct { equals, .. } | Expr::NullIf { equals, .. } => of(*equals),
        Expr::ScalarArray { function, array, .. } => {
            let elements = match &**array {
                Expr::Array { elements, .. } => elements.len() as f64,
                _ => ELEMENTS,
            };
            of(*function) * elements * 0.5
        }
        Expr::ArrayCast { element, .. } => cost(catalog, element) * ELEMENTS,
        Expr::ViaText(..) => 2.0,
        Expr::Extreme { .. }
        | Expr::Xml { .. }
        | Expr::XmlTable { .. }
        | Expr::Domain(..)
        | Expr::CurrentValue(..) => 1.0,
        _ => 0.0,
    };
    let mut all = own;
    parts(expr, &mut |part| all += cost(catalog, part));
    all
}
