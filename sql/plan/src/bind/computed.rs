//! What a table works out of its rows: generated columns, keys of indexes that are expressions, predicates of indexes.
//!
//! Each is kept as a tree over the table's columns. Here too is which unique index ON CONFLICT means, since
//! that compares expressions.

use crate::bind::expression::Place;
use crate::bind::levels::parts;
use crate::bind::logical::{Arbiters, ComputedIndex};
use crate::bind::scope::Scope;
use crate::bind::through::Through;
use crate::bind::typed::{Expr, conjuncts};
use crate::bind::{Binder, table_item};
use crate::catalog::builtin;
use crate::catalog::definition::Expression;
use crate::catalog::operator_class::BTREE;
use crate::catalog::{IndexColumn, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::sqlstate::SqlState;
use crate::types::Oid;

impl Binder<'_> {
    /// The indexes of a table that have expressions or predicates, and are written.
    pub(super) fn computed_indexes(&self, relation: &Relation) -> Result<Vec<ComputedIndex>> {
        let computed = relation.indexes.iter().enumerate();
        let computed = computed.filter(|(_, index)| index.is_computed() && index.is_written());
        computed
            .map(|(at, index)| {
                let take = |made: &Expression| self.kept(Some(relation), made);
                let values = index.expressions.iter().map(|expression| &expression.value);
                let filter = index.filter.as_ref().map(take).transpose()?;
                Ok(ComputedIndex {
                    index: at,
                    filter: filter.map(conjuncts).unwrap_or_default(),
                    expressions: values.map(take).collect::<Result<_>>()?,
                })
            })
            .collect()
    }

    /// The generated columns of a table by index, cast to their types.
    pub(super) fn generated_columns(&self, relation: &Relation) -> Result<Vec<(usize, Expr)>> {
        let columns = relation.columns.iter().enumerate();
        let generated = columns.filter(|(_, column)| column.generated && !column.dropped);
        generated
            .map(|(at, column)| {
                let made = column.default.as_ref();
                let value = made.map_or_else(
                    || Ok(self.null_of(column.ty)),
                    |made| self.kept_as(Some(relation), made, (column.ty, &column.name)),
                );
                Ok((at, value?))
            })
            .collect()
    }
}

/// A key that ON CONFLICT names.
enum InferredKey {
    Column(usize),
    Expression(Expr),
}

impl InferredKey {
    fn is(&self, other: &InferredKey) -> bool {
        match (self, other) {
            (InferredKey::Column(a), InferredKey::Column(b)) => a == b,
            (InferredKey::Expression(a), InferredKey::Expression(b)) => alike(a, b),
            _ => false,
        }
    }
}

impl Binder<'_> {
    /// The collation that a key of ON CONFLICT names.
    fn collation_of_key(&self, named: &ast::ObjectName, at: u32) -> Result<u32> {
        builtin::collation_named(named.name()).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("collation \"{named}\" for encoding \"UTF8\" does not exist"),
            )
            .at(at)
        })
    }

    /// The unique indexes that ON CONFLICT (...) WHERE may mean, since their keys are those named, and what of their
    /// predicates does not stand in the WHERE word for word. Proofs know of no collations: what is written with one must
    /// stand there.
    pub(super) fn arbiters(
        &self,
        (named_keys, place): (&[ast::ConflictKey], u32),
        filter: Option<&ast::Expr>,
        (relation, view): (&Relation, Option<&Through>),
        alias: Option<&ast::Ident>,
    ) -> Result<Arbiters> {
        let item = match view {
            Some(view) => {
                let named =
                    |name: &ast::Ident| ast::Alias { name: name.clone(), columns: Vec::new() };
                view.item(self, alias.map(named).as_ref(), 0)?
            }
            None => table_item(relation, alias, 0, &[]),
        };
        let mut scope = Scope::new(None, 0);
        scope.items.push(item);
        let bind = |expr: &ast::Expr| {
            let place = Place::plain(&scope, None, "ON CONFLICT");
            // What the inference names is read. Of a view's columns those behind them are, by who owns it.
            if view.is_none() {
                return self.expression(expr, &place);
            }
            let known: Vec<Oid> = self.parameters.borrow().iter().map(|ty| ty.oid).collect();
            let binder = Binder::new(self.environment(), &self.positions, &known);
            let bound = binder.expression(expr, &place)?;
            *self.parameters.borrow_mut() = binder.parameters.into_inner();
            Ok(bound)
        };
        let named = view.map_or(relation, Through::view);
        let mut keys = Vec::new();
        for ast::ConflictKey { expr, collation, class } in named_keys {
            let key = match &expr.kind {
                ExprKind::Column(parts) => {
                    let name = parts.last().expect("a name has a part");
                    let number = named.column(name).ok_or_else(|| {
                        SqlError::new(
                            SqlState::UNDEFINED_COLUMN,
                            format!("column \"{name}\" does not exist"),
                        )
                        .at(place)
                    })?;
                    match view {
                        None => InferredKey::Column(number),
                        Some(view) => match view.behind(number) {
                            Ok(column) => InferredKey::Column(column),
                            Err(expr) => InferredKey::Expression(expr.clone()),
                        },
                    }
                }
                _ => InferredKey::Expression(bind(expr)?),
            };
            // A column stands nowhere of its own: PostgreSQL points at the list.
            let at = match &expr.kind {
                ExprKind::Column(_) => place,
                _ => self.position(expr.start()),
            };
            let collation = collation.as_ref().map(|named| self.collation_of_key(named, at));
            let class = class.as_ref().map(|named| class_of_key(self, named)).transpose()?;
            keys.push((key, collation.transpose()?, class));
        }
        let mut given = filter.map(bind).transpose()?.map(conjuncts).unwrap_or_default();
        let computed = self.computed_indexes(relation)?;
        let mut found = Vec::new();
        for (at, index) in relation.indexes.iter().enumerate() {
            let computed = computed.iter().find(|computed| computed.index == at);
            let own = |key: &IndexColumn| match (key.expression(), computed) {
                (Some(at), Some(computed)) => {
                    InferredKey::Expression(computed.expressions[at].clone())
                }
                _ => InferredKey::Column(key.column),
            };
            let own_class = |key: &IndexColumn| {
                let default = || {
                    let default = builtin::ordering(relation.key_type(index, key).oid.0)?;
                    builtin::operator_class(default.opclass)
                        .map(|class| (class.family, class.input))
                };
                let made = self.catalog.user_operator_class(key.class);
                builtin::operator_class(key.class.0)
                    .map(|class| (class.family, class.input))
                    .or(made.map(|class| (class.family.0, class.input.0)))
                    .or_else(default)
            };
            let own: Vec<InferredKey> = index.columns.iter().map(own).collect();
            let fits = index.unique
                && index.is_valid()
                && own.iter().all(|key| keys.iter().any(|(named, ..)| key.is(named)))
                && keys.iter().all(|(named, collation, class)| {
                    let mut places = index.columns.iter().zip(&own);
                    places.any(|(place, key)| {
                        key.is(named)
                            && collation
                                .is_none_or(|oid| relation.key_collation(index, place).0 == oid)
                            && class.is_none_or(|class| {
                                own_class(place).is_some_and(|own| own == class)
                            })
                    })
                });
            if !fits {
                continue;
            }
            let demands = computed.map_or(&[][..], |computed| &computed.filter);
            let stands = |demand: &&Expr| given.iter().any(|given| alike(given, demand));
            let open: Vec<Expr> = demands.iter().filter(|one| !stands(one)).cloned().collect();
            if !open.iter().any(names_collation) {
                found.push((index.oid, open));
            }
        }
        found.sort_unstable_by_key(|(index, _)| *index);
        given.retain(|given| !names_collation(given));
        Ok(Arbiters::Inferred { candidates: found, given })
    }
}

/// The family and the type of the operator class that a key of ON CONFLICT names.
fn class_of_key(binder: &Binder<'_>, named: &ast::ObjectName) -> Result<(u32, u32)> {
    let schema = named.schema().and_then(|name| binder.catalog.schema(name));
    let place = (schema.map(|found| found.oid), binder.path);
    let built_in = binder.catalog.operator_class_named(place, named.name());
    let built_in = built_in.map(|class| (class.family, class.input));
    let made = || {
        let found = binder.catalog.user_class_named(place, BTREE, named.name())?;
        Some((found.family.0, found.input.0))
    };
    built_in.or_else(made).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("operator class \"{named}\" does not exist for access method \"btree\""),
        )
    })
}

/// Whether a collation is written in an expression.
fn names_collation(expr: &Expr) -> bool {
    let mut named = matches!(expr, Expr::Collate { .. });
    parts(expr, &mut |part| named |= names_collation(part));
    named
}

/// Whether two expressions over the same row are the same.
fn alike(a: &Expr, b: &Expr) -> bool {
    let all =
        |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b));
    match (a, b) {
        (Expr::Constant(a, ty), Expr::Constant(b, other)) => ty.oid == other.oid && a == b,
        (
            Expr::Column { level, column, .. },
            Expr::Column { level: other_level, column: other, .. },
        ) => level == other_level && column == other,
        (
            Expr::Call { function, arguments, .. },
            Expr::Call { function: other, arguments: others, .. },
        ) => function == other && all(arguments, others),
        (Expr::And(a), Expr::And(b))
        | (Expr::Or(a), Expr::Or(b))
        | (Expr::Coalesce(a, ..), Expr::Coalesce(b, ..)) => all(a, b),
        (Expr::Not(a), Expr::Not(b)) => alike(a, b),
        (
            Expr::IsNull { operand, negated },
            Expr::IsNull { operand: other, negated: other_negated },
        ) => negated == other_negated && alike(operand, other),
        (
            Expr::IsBool { operand, test, negated },
            Expr::IsBool { operand: other, test: other_test, negated: other_negated },
        ) => test == other_test && negated == other_negated && alike(operand, other),
        (
            Expr::Collate { operand, collation, .. },
            Expr::Collate { operand: other, collation: other_collation, .. },
        ) => collation == other_collation && alike(operand, other),
        (Expr::Relabel(a, ty), Expr::Relabel(b, other))
        | (Expr::ViaText(a, ty), Expr::ViaText(b, other))
        | (Expr::Domain(a, ty), Expr::Domain(b, other)) => ty == other && alike(a, b),
        _ => false,
    }
}
