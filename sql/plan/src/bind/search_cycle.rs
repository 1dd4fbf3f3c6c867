//! SEARCH and CYCLE of a recursive WITH query (`rewriteSearchAndCycle`): columns that say where a row comes from.
//!
//! Both terms get the columns: the first one their first values; the second reads the row before from the query itself, and
//! continues. A row in which a cycle was found is not gone on from.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::logical::{Node, Output, Query};
use crate::bind::operator::op;
use crate::bind::query::Outside;
use crate::bind::scope::column_at;
use crate::bind::tree::{CycleTree, SearchTree, as_tree};
use crate::bind::type_name::oid;
use crate::bind::typed::{CallForm, Expr, Literal, Quantifier};
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body, ExprKind, FromItem, Ident, Target};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};

/// `array_append`.
const ARRAY_APPEND: Oid = Oid(378);
/// `=` of records.
const RECORD_EQUALS_OPERATOR: Oid = Oid(2988);
/// `record_eq`.
const RECORD_EQUALS: Oid = Oid(2981);
/// `int8inc`.
const INCREMENT: Oid = Oid(1219);

const RECORD: SqlType = SqlType::plain(oid::RECORD);
const RECORDS: SqlType = SqlType::plain(oid::RECORD_ARRAY);

/// The SEARCH and CYCLE clauses of a query, and the columns that they add.
pub(super) struct Traced {
    /// The query's name, and where it stands.
    name: Ident,
    at: u32,
    /// The query's own columns.
    names: Vec<Ident>,
    /// The clauses, and where they stand.
    search: Option<(SearchTree, u32)>,
    cycle: Option<(CycleTree, u32)>,
    /// The values of the cycle mark: of a row that closes a cycle, and of others.
    mark: Option<(Expr, Expr)>,
    /// The columns that are added.
    pub columns: Vec<(Ident, SqlType)>,
}

impl Binder<'_> {
    /// What SEARCH and CYCLE of a query ask for, if it has them.
    ///
    /// # Errors
    /// Those of the cycle mark's values.
    pub(super) fn traced(
        &self,
        cte: &ast::Cte,
        names: Vec<Ident>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Option<Traced>> {
        let mut values = None;
        if let Some((value, otherwise)) = cte.cycle.as_ref().and_then(|cycle| cycle.values.as_ref())
        {
            let scope = outside.inner();
            let place = Place::plain(&scope, Some(ctes), "CYCLE");
            let one = |expr: &ast::Expr| -> Result<(Expr, u32)> {
                Ok((self.expression(expr, &place)?, self.position(expr.start())))
            };
            values = Some([one(value)?, one(otherwise)?]);
        }
        let search = cte.search.as_ref().map(|search| (search_tree(search), search.at));
        let cycle = cte.cycle.as_ref().map(|cycle| (cycle_tree(cycle, None), cycle.at));
        self.traced_by((&cte.name, cte.at), names, (search, cycle), values)
    }

    /// The same of clauses whose values are bound.
    ///
    /// # Errors
    /// 42804 for values without a common type.
    pub(super) fn traced_by(
        &self,
        (name, at): (&Ident, u32),
        names: Vec<Ident>,
        (search, cycle): (Option<(SearchTree, u32)>, Option<(CycleTree, u32)>),
        values: Option<[(Expr, u32); 2]>,
    ) -> Result<Option<Traced>> {
        if search.is_none() && cycle.is_none() {
            return Ok(None);
        }
        let mut columns = Vec::new();
        if let Some((search, _)) = &search {
            let ty = if search.depth { RECORDS } else { RECORD };
            columns.push((search.sequence.clone(), ty));
        }
        let mut mark = None;
        if let Some((cycle, _)) = &cycle {
            let (value, otherwise) = match values {
                None => (truth(true), truth(false)),
                Some(values) => {
                    let (pair, _) = self.to_common(values.into(), "CYCLE")?;
                    let [value, otherwise] =
                        <[Expr; 2]>::try_from(pair).expect("two values were given");
                    (value, otherwise)
                }
            };
            columns.push((cycle.mark.clone(), value.ty()));
            columns.push((cycle.path.clone(), RECORDS));
            mark = Some((value, otherwise));
        }
        Ok(Some(Traced { name: name.clone(), at, names, search, cycle, mark, columns }))
    }

    /// What the clauses were written as.
    ///
    /// # Errors
    /// Those of the cycle mark's values.
    pub(super) fn trace_trees(
        &self,
        cte: &ast::Cte,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<(Option<SearchTree>, Option<CycleTree>)> {
        let search = cte.search.as_ref().map(search_tree);
        let Some(cycle) = &cte.cycle else { return Ok((search, None)) };
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "CYCLE");
        let shown = |expr: &ast::Expr| -> Result<Expr> {
            Ok(as_tree(&self.decided(self.expression(expr, &place)?)?))
        };
        let values = match &cycle.values {
            Some((value, otherwise)) => Some((shown(value)?, shown(otherwise)?)),
            None => None,
        };
        Ok((search, Some(cycle_tree(cycle, values))))
    }

    /// Adds the columns to both terms; the second has had those of the row before behind its own.
    ///
    /// # Errors
    /// 42883 for a mark whose values cannot be told apart.
    pub(super) fn trace(&self, traced: &Traced, base: &mut Query, step: &mut Query) -> Result<()> {
        let width = base.output.len();
        let own: Vec<Expr> = (0..width).map(|at| column_at(at, base.output[at].ty)).collect();
        let before: Vec<Expr> = (traced.columns.iter().enumerate())
            .map(|(at, (_, ty))| column_at(width + at, *ty))
            .collect();
        let chosen = |columns: &[Ident]| -> Vec<Expr> {
            let places = columns
                .iter()
                .filter_map(|name| traced.names.iter().position(|known| known == name));
            places.map(|at| own[at].clone()).collect()
        };
        let (mut first, mut next) = (own.clone(), own.clone());
        let mut before = before.into_iter();
        if let Some((search, _)) = &traced.search {
            let last = before.next().expect("there is a column for it");
            let mut fields = chosen(&search.columns);
            if search.depth {
                first.push(list(row(fields.clone())));
                next.push(appended(last, row(fields)));
            } else {
                let zero = Expr::Constant(Literal::Int8(0), SqlType::plain(oid::INT8));
                let depth = Expr::Field {
                    operand: Box::new(last),
                    field: 0,
                    ty: SqlType::plain(oid::INT8),
                };
                let deeper = Expr::Call {
                    function: INCREMENT,
                    arguments: vec![depth],
                    ty: SqlType::plain(oid::INT8),
                    form: CallForm::Function,
                    position: 0,
                };
                fields.insert(0, zero);
                first.push(row(fields.clone()));
                fields[0] = deeper;
                next.push(row(fields));
            }
        }
        if let (Some((cycle, at)), Some((value, otherwise))) = (&traced.cycle, &traced.mark) {
            let mark = before.next().expect("there is a column for it");
            let path = before.next().expect("there is a column for it");
            let here = row(chosen(&cycle.columns));
            first.push(otherwise.clone());
            first.push(list(here.clone()));
            let met = Expr::ScalarArray {
                left: Box::new(here.clone()),
                operator: RECORD_EQUALS_OPERATOR,
                function: RECORD_EQUALS,
                array: Box::new(path.clone()),
                quantifier: Quantifier::Any,
            };
            next.push(Expr::Case {
                operand: None,
                given: Vec::new(),
                branches: vec![(met, value.clone())],
                otherwise: Some(Box::new(otherwise.clone())),
                ty: value.ty(),
            });
            next.push(appended(path, here));
            let goes_on = self.infix(&op("<>"), mark, value.clone(), self.position(*at))?;
            let input = Box::new(std::mem::replace(&mut step.root, Node::Unit));
            step.root = Node::Filter { input, conjuncts: vec![goes_on] };
        }
        let output = base.output.iter().cloned();
        let output: Vec<Output> = output
            .chain(traced.columns.iter().map(|(name, ty)| Output {
                name: name.clone(),
                ty: *ty,
                origin: None,
            }))
            .collect();
        for (query, columns) in [(base, first), (step, next)] {
            let input = Box::new(std::mem::replace(&mut query.root, Node::Unit));
            query.root = Node::Project { input, columns };
            query.output.clone_from(&output);
        }
        Ok(())
    }

    /// Whether the clauses name what they may.
    ///
    /// # Errors
    /// 42701, 42601 for names that are not the query's, or are given twice.
    pub(super) fn check_traced(&self, traced: &Traced) -> Result<()> {
        let named = |names: &[Ident], what: &str, at: u32| {
            for (number, name) in names.iter().enumerate() {
                let (state, why) = if names[..number].contains(name) {
                    (SqlState::DUPLICATE_COLUMN, "specified more than once")
                } else if !traced.names.contains(name) {
                    (SqlState::SYNTAX_ERROR, "not in WITH query column list")
                } else {
                    continue;
                };
                let message = format!("{what} column \"{name}\" {why}");
                return Err(SqlError::new(state, message).at(self.position(at)));
            }
            Ok(())
        };
        let unused = |name: &Ident, what: &str, at: u32| match traced.names.contains(name) {
            false => Ok(()),
            true => {
                let message =
                    format!("{what} column name \"{name}\" already used in WITH query column list");
                Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at)))
            }
        };
        let differ = |a: (&Ident, &str), b: (&Ident, &str), at: u32| match a.0 == b.0 {
            false => Ok(()),
            true => {
                let message = format!("{} column name and {} column name are the same", a.1, b.1);
                Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at)))
            }
        };
        if let Some((search, at)) = &traced.search {
            named(&search.columns, "search", *at)?;
            unused(&search.sequence, "search sequence", *at)?;
        }
        if let Some((cycle, at)) = &traced.cycle {
            named(&cycle.columns, "cycle", *at)?;
            unused(&cycle.mark, "cycle mark", *at)?;
            unused(&cycle.path, "cycle path", *at)?;
            let (mark, path) = ((&cycle.mark, "cycle mark"), (&cycle.path, "cycle path"));
            differ(mark, path, *at)?;
            if let Some((search, at)) = &traced.search {
                let sequence = (&search.sequence, "search sequence");
                differ(sequence, mark, *at)?;
                differ(sequence, path, *at)?;
            }
        }
        Ok(())
    }
}

impl Traced {
    /// The second term with the columns of the row before behind its own.
    ///
    /// # Errors
    /// 0A000 where the first term is no SELECT or the query is not named in the second one's own FROM, 42601 where the second
    /// term is no SELECT.
    pub(super) fn continued(&self, base: &ast::Query, step: &ast::Query) -> Result<ast::Query> {
        let no_select = |state, side: &str| {
            let message = format!(
                "with a SEARCH or CYCLE clause, the {side} side of the UNION must be a SELECT"
            );
            Err(SqlError::new(state, message))
        };
        if matches!(base.body, Body::SetOperation { .. }) {
            return no_select(SqlState::FEATURE_NOT_SUPPORTED, "left");
        }
        let mut step = step.clone();
        let Body::Select(select) = &mut step.body else {
            return no_select(SqlState::SYNTAX_ERROR, "right");
        };
        // Under a WITH of its own the name may be another query.
        let other = |with: &ast::With| with.ctes.iter().any(|inner| inner.name == self.name);
        let hidden = step.with.as_ref().is_some_and(other);
        let found = select.from.iter().find_map(|from| self.reference(from));
        let Some(name) = found.filter(|_| !hidden) else {
            let message = format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{}\" must be at the top level of its right-hand SELECT",
                self.name
            );
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        for (column, _) in &self.columns {
            let kind = ExprKind::Column(vec![name.clone(), column.clone()]);
            let expr = ast::Expr { at: self.at, kind };
            select.targets.push(Target { expr, alias: None });
        }
        Ok(step)
    }

    /// The name by which an item of FROM has the query.
    fn reference(&self, from: &FromItem) -> Option<Ident> {
        match from {
            FromItem::Table { name, alias, .. } => {
                let found = name.schema().is_none() && *name.name() == self.name;
                let shown = alias.as_ref().map_or(&self.name, |alias| &alias.name);
                found.then(|| shown.clone())
            }
            FromItem::Join { left, right, .. } => {
                self.reference(left).or_else(|| self.reference(right))
            }
            _ => None,
        }
    }
}

fn search_tree(search: &ast::Search) -> SearchTree {
    SearchTree {
        depth: search.depth,
        columns: search.columns.clone(),
        sequence: search.sequence.clone(),
    }
}

fn cycle_tree(cycle: &ast::Cycle, values: Option<(Expr, Expr)>) -> CycleTree {
    let (columns, mark, path) = (cycle.columns.clone(), cycle.mark.clone(), cycle.path.clone());
    CycleTree { columns, mark, path, values }
}

fn truth(value: bool) -> Expr {
    Expr::Constant(Literal::Bool(value), SqlType::plain(oid::BOOL))
}

fn row(fields: Vec<Expr>) -> Expr {
    Expr::Row(fields, RECORD, None)
}

/// An array of one row.
fn list(row: Expr) -> Expr {
    Expr::Array { elements: vec![row], ty: RECORDS }
}

fn appended(rows: Expr, row: Expr) -> Expr {
    let arguments = vec![rows, row];
    Expr::Call {
        function: ARRAY_APPEND,
        arguments,
        ty: RECORDS,
        form: CallForm::Function,
        position: 0,
    }
}
