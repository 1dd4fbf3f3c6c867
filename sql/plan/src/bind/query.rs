//! A query within what encloses it: its WITH, then the rows of its body, then what stands above every body.
//!
//! Each body gives a [`Block`]: `select`, `values` and `set_operation` make them. A SELECT puts its own ORDER BY and LIMIT
//! above its rows, because they may name what is not in its output; those of the others are put on here, over their output
//! alone.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::from::own_ctes;
use crate::bind::locking::lock_words;
use crate::bind::logical::{Node, Output, Query};
use crate::bind::scope::{Scope, Standing};
use crate::bind::tree::{QueryTree, WithTree};
use crate::bind::values::VALUES;
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Alias, Body, ExprKind, FromItem, Select, Target};
use crate::sqlstate::SqlState;
use std::sync::Arc;

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

/// A query's rows, and which of their columns it returns: the first ones.
pub(super) struct Block {
    pub node: Node,
    pub output: Vec<Output>,
    /// What it was written as, where that is going to be printed.
    pub tree: Option<Box<QueryTree>>,
}

impl Binder<'_> {
    pub(super) fn top_query(&self, query: &ast::Query) -> Result<Query> {
        let mut query = self.query(query, Outside::NOTHING, None, true)?;
        self.forget_shapes(&mut query);
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
            let scope = own_ctes(ctes);
            let ctes = self.with(query.with.as_ref(), outside, &scope)?;
            let Block { node: root, output, tree } = self.block(query, outside, &scope, decide)?;
            let tree = tree.map(|mut tree| {
                let recursive = query.with.as_ref().map(|with| with.recursive);
                let own = |recursive| WithTree { recursive, ctes: scope.trees.take() };
                tree.with = recursive.map(own);
                Arc::new(*tree)
            });
            Ok(Query { root, output, ctes, tree })
        })
    }

    /// The rows of a query without its WITH.
    pub(super) fn block(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        let mut block = match &query.body {
            Body::Select(select) => return self.select(query, select, outside, ctes, decide),
            Body::Values(rows)
                if query.locking.is_empty()
                    && !query.order_by.iter().all(|key| names_a_column(&key.expr, rows)) =>
            {
                let select = values_in_from(&query.body, query.at);
                return self.select(query, &select, outside, ctes, decide);
            }
            Body::Values(rows) => {
                // Only the bare rows of an INSERT take the types of its columns.
                let bare = query.order_by.is_empty() && query.limit.is_none();
                self.values(rows, outside, ctes, decide || !bare || query.offset.is_some())?
            }
            Body::SetOperation { kind, all, left, right, at } => {
                self.set_operation((*kind, *all), left, right, *at, outside, ctes)?
            }
        };
        if let Some(locking) = query.locking.first() {
            let refused = if matches!(query.body, Body::Values(_)) {
                "cannot be applied to VALUES"
            } else {
                "is not allowed with UNION/INTERSECT/EXCEPT"
            };
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("{} {refused}", lock_words(locking.strength)),
            ));
        }
        if !query.order_by.is_empty() {
            let item = matches!(query.body, Body::Values(_)).then_some(VALUES);
            let keys = query
                .order_by
                .iter()
                .map(|key| self.output_key(key, &block.output, item))
                .collect::<Result<Vec<_>>>()?;
            if let Some(tree) = &mut block.tree {
                tree.order_by.clone_from(&keys);
            }
            block.node = Node::Sort { input: Box::new(block.node), keys };
        }
        let (node, tree) = (block.node, block.tree.as_deref_mut());
        block.node = self.limit(node, query, (outside, &outside.inner()), ctes, tree)?;
        Ok(block)
    }
}

/// Whether a sort key of VALUES names one of their columns, by number or by name, also as views are printed. What else
/// there is to compute for the order is computed over them as over rows in FROM.
fn names_a_column(key: &ast::Expr, rows: &[Vec<ast::Expr>]) -> bool {
    let width = rows.first().map_or(0, Vec::len);
    let is_one = |name: &str| (1..=width).any(|number| name == format!("column{number}"));
    match &key.kind {
        ExprKind::Integer(_) => true,
        ExprKind::Column(parts) => match parts.as_slice() {
            [name] => is_one(name),
            [item, name] => &**item == VALUES && is_one(name),
            _ => false,
        },
        _ => false,
    }
}

/// `SELECT * FROM (VALUES ...) AS "*VALUES*"`.
fn values_in_from(body: &Body, at: u32) -> Select {
    let star = ast::Expr { at, kind: ExprKind::Star(Vec::new()) };
    let rows = FromItem::Subquery {
        lateral: false,
        query: Arc::new(ast::Query::plain(body.clone(), at)),
        alias: Some(Alias { name: VALUES.into(), columns: Vec::new() }),
        at,
    };
    Select {
        targets: vec![Target { expr: star, alias: None }],
        from: vec![rows],
        ..Select::empty()
    }
}
