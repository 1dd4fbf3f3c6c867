//! The collations of the columns that a bound query returns: what the catalog holds of those of a view or of a table that
//! is made of a query.
//!
//! Each node's columns follow from those of its inputs, so that one walk from the bottom up has them all.

use crate::bind::collation::{Derived, Rows, derive, mismatch};
use crate::bind::logical::{Cte, CteBody, JoinKind, Node, Query};
use crate::bind::typed::{AggregateCall, Expr};
use crate::catalog::CatalogSnapshot;
use crate::error::Result;
use crate::types::Oid;

/// Rows that are on the stack of outer ones: the collations of their columns.
struct Outer<'o> {
    columns: &'o [u32],
    next: Option<&'o Outer<'o>>,
}

/// The WITH queries that may be read: the collations of their columns.
struct Known<'o> {
    queries: &'o [Vec<u32>],
    next: Option<&'o Known<'o>>,
}

/// What encloses a node.
#[derive(Clone, Copy)]
struct Around<'o> {
    catalog: &'o CatalogSnapshot,
    outer: Option<&'o Outer<'o>>,
    known: Option<&'o Known<'o>>,
}

/// A node's output, as expressions above it see it.
struct Row<'o> {
    columns: &'o [u32],
    around: Around<'o>,
}

impl Rows for Row<'_> {
    fn catalog(&self) -> &CatalogSnapshot {
        self.around.catalog
    }

    fn column(&self, level: u16, column: u32) -> Option<u32> {
        let mut columns = self.columns;
        let mut outer = self.around.outer;
        for _ in 0..level {
            let found = outer?;
            (columns, outer) = (found.columns, found.next);
        }
        columns.get(column as usize).copied()
    }

    fn subquery(&self, query: &Query) -> Option<u32> {
        let outer = Outer { columns: self.columns, next: self.around.outer };
        let around = Around { outer: Some(&outer), ..self.around };
        of_query(query, around).ok()?.first().copied()
    }
}

/// The collation of each column, by OID: 0 for those of types without one, and where none can be derived.
///
/// # Errors
/// 42P21.
pub fn collations(catalog: &CatalogSnapshot, query: &Query) -> Result<Vec<Oid>> {
    let around = Around { catalog, outer: None, known: None };
    Ok(of_query(query, around)?.into_iter().map(Oid).collect())
}

/// That of one column of a side of a set operation, whose own expression counts.
///
/// # Errors
/// 42P21.
pub(super) fn of_side(catalog: &CatalogSnapshot, node: &Node, column: usize) -> Result<Derived> {
    let around = Around { catalog, outer: None, known: None };
    match node {
        Node::Project { input, columns } => {
            let input = of_node(input, around)?;
            derive(&columns[column], &Row { columns: &input, around })
        }
        node => Ok(Derived::implicit(of_node(node, around)?.get(column).copied().unwrap_or(0))),
    }
}

/// What the columns of a set operation have in common.
///
/// # Errors
/// 42P21, where one collation is `needed` at `at`.
pub(super) fn in_common(left: Derived, right: Derived, needed: bool, at: u32) -> Result<Derived> {
    match left.merged(right)? {
        Derived::Conflict(first, second) if needed => {
            Err(mismatch("implicit", first, second).at(at))
        }
        found => Ok(found),
    }
}

fn of_query(query: &Query, around: Around<'_>) -> Result<Vec<u32>> {
    let mut queries = Vec::with_capacity(query.ctes.len());
    for cte in &query.ctes {
        let known = Known { queries: &queries, next: around.known };
        let found = of_cte(cte, Around { known: Some(&known), ..around })?;
        queries.push(found);
    }
    let known = Known { queries: &queries, next: around.known };
    let mut columns = of_node(&query.root, Around { known: Some(&known), ..around })?;
    columns.truncate(query.output.len());
    Ok(columns)
}

fn of_cte(cte: &Cte, around: Around<'_>) -> Result<Vec<u32>> {
    match &cte.body {
        CteBody::Query(query) | CteBody::Recursive { base: query, .. } => of_query(query, around),
        CteBody::Modify(modify) => {
            let returned = modify.returning.iter().flatten();
            Ok(returned.map(|(_, column)| around.catalog.collation_of(column.ty.oid).0).collect())
        }
    }
}

fn of_node(node: &Node, around: Around<'_>) -> Result<Vec<u32>> {
    let over = |input: &[u32], exprs: &[Expr]| -> Result<Vec<u32>> {
        let row = Row { columns: input, around };
        exprs.iter().map(|expr| Ok(derive(expr, &row)?.oid())).collect()
    };
    let calls_over = |input: &[u32], calls: &[AggregateCall]| -> Result<Vec<u32>> {
        calls.iter().map(|call| of_call(call, &Row { columns: input, around })).collect()
    };
    match node {
        Node::Scan { relation, columns, system, .. } => {
            let own = columns.iter().map(|column| relation.columns[*column].collation.0);
            Ok(own.chain(system.iter().map(|_| 0)).collect())
        }
        Node::Values { rows, types } => {
            let row = Row { columns: &[], around };
            let columns = types.iter().enumerate().map(|(column, _)| {
                let mut values = rows.iter().map(|row| &row[column]);
                let merged = values.try_fold(Derived::Nothing, |before, value| {
                    before.merged(derive(value, &row)?)
                });
                Ok(merged?.oid())
            });
            columns.collect()
        }
        Node::FunctionScan { arguments, columns, composite: false, .. } => {
            let row = Row { columns: &[], around };
            let merged = arguments.iter().try_fold(Derived::Nothing, |before, argument| {
                before.merged(derive(argument, &row)?)
            })?;
            let mut found = plain(node, around.catalog);
            if let ([_], [first, ..]) = (columns.as_slice(), found.as_mut_slice())
                && *first != 0
                && merged != Derived::Nothing
            {
                *first = merged.oid();
            }
            Ok(found)
        }
        Node::Derived { query, .. } => of_query(query, around),
        Node::CteScan { level, cte, .. } => {
            let mut known = around.known;
            for _ in 0..*level {
                known = known.and_then(|known| known.next);
            }
            let found = known.and_then(|known| known.queries.get(*cte as usize));
            Ok(found.cloned().unwrap_or_else(|| plain(node, around.catalog)))
        }
        Node::Join { kind, left, right, lateral, .. } => {
            let mut columns = of_node(left, around)?;
            if !matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                let outer = Outer { columns: &columns, next: around.outer };
                let within = Around { outer: Some(&outer), ..around };
                let right = of_node(right, if *lateral { within } else { around })?;
                columns.extend(right);
            }
            Ok(columns)
        }
        Node::Project { input, columns } | Node::ProjectSet { input, columns } => {
            over(&of_node(input, around)?, columns)
        }
        Node::Aggregate { input, keys, calls, sets } => {
            let input = of_node(input, around)?;
            let mut columns = over(&input, keys)?;
            columns.extend(calls_over(&input, calls)?);
            columns.extend((sets.len() > 1).then_some(0));
            Ok(columns)
        }
        Node::Window { input, calls, .. } => {
            let mut columns = of_node(input, around)?;
            let called = calls_over(&columns, calls)?;
            columns.extend(called);
            Ok(columns)
        }
        Node::Filter { input, .. }
        | Node::Barrier { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. }
        | Node::LockRows { input, .. } => of_node(input, around),
        Node::SetOperation { left, right, .. } => {
            let (left, right) = (of_node(left, around)?, of_node(right, around)?);
            let pairs = left.into_iter().zip(right);
            pairs
                .map(|(a, b)| Ok(Derived::implicit(a).merged(Derived::implicit(b))?.oid()))
                .collect()
        }
        Node::Unit
        | Node::Nothing(_)
        | Node::Constants { .. }
        | Node::FunctionScan { composite: true, .. } => Ok(plain(node, around.catalog)),
    }
}

/// Those of the types alone.
fn plain(node: &Node, catalog: &CatalogSnapshot) -> Vec<u32> {
    node.types().into_iter().map(|ty| catalog.collation_of(ty).0).collect()
}

/// That of what an aggregate or window function returns.
fn of_call(call: &AggregateCall, row: &Row<'_>) -> Result<u32> {
    let own = row.around.catalog.collation_of(call.ty.oid).0;
    let merged = call
        .arguments
        .iter()
        .try_fold(Derived::Nothing, |before, argument| before.merged(derive(argument, row)?))?;
    Ok(if own == 0 || merged == Derived::Nothing { own } else { merged.oid() })
}
