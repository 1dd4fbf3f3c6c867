//! TABLESAMPLE: a condition of the scan itself, so that rows are chosen before they are joined.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::from::From;
use crate::bind::logical::Node;
use crate::bind::query::Outside;
use crate::bind::tree::{FromTree, SampleTree, as_tree};
use crate::bind::type_name::oid;
use crate::bind::typed::{CallForm, Expr};
use crate::bind::with::CteScope;
use crate::catalog::RelationKind;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, FromItem, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// What a sample is made by.
#[derive(Clone, Copy)]
pub(super) struct Sample<'q> {
    /// How.
    pub method: &'q ObjectName,
    /// How much.
    pub arguments: &'q [ast::Expr],
    /// REPEATABLE.
    pub repeatable: Option<&'q ast::Expr>,
}

/// What a sample is made by, its values bound.
struct BoundSample {
    /// The method, by its OID in `pg_proc`.
    pub function: Oid,
    /// The percentage, a real.
    pub percentage: Expr,
    /// The seed, a double precision.
    pub seed: Option<Expr>,
}

impl Binder<'_> {
    /// The rows of a table that a sample takes.
    pub(super) fn bind_sample(
        &self,
        table: &FromItem,
        sample: Sample<'_>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<From> {
        let FromItem::Table { name, alias, .. } = table else {
            return Err(SqlError::unsupported("TABLESAMPLE of what is not a table is"));
        };
        let with = name.schema().is_none() && ctes.find(name.name()).is_some();
        if with || matches!(self.relation(name)?.kind, RelationKind::View { .. }) {
            let message = "TABLESAMPLE clause can only be applied to tables and materialized views";
            return Err(
                SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(self.position(name.at))
            );
        }
        let method = sample.method;
        let BoundSample { function, percentage, seed } = self.sample(sample, outside, ctes)?;
        let mut from = self.bind_table(name, alias.as_ref(), ctes)?;
        if let Some((FromTree::Table { sample, .. }, _)) = from.trees.first_mut() {
            let (percentage, seed) = (as_tree(&percentage), seed.as_ref().map(as_tree));
            *sample = Some(SampleTree { method: Arc::clone(method.name()), percentage, seed });
        }
        sampled(&mut from, function, percentage, seed);
        Ok(from)
    }

    /// The values that a sample is made by. They may look at the queries around, and not at what is beside the table.
    ///
    /// # Errors
    /// 42704, 2202H; those of the values.
    fn sample(
        &self,
        sample: Sample<'_>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<BoundSample> {
        let Sample { method, arguments, repeatable } = sample;
        let at = self.position(method.at);
        let builtin = method.schema().is_none_or(|schema| &**schema == "pg_catalog");
        let function = method_named(method.name()).filter(|_| builtin).ok_or_else(|| {
            let message = format!("tablesample method {method} does not exist");
            SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(at)
        })?;
        let [percentage] = arguments else {
            let given = arguments.len();
            let message =
                format!("tablesample method {} requires 1 argument, not {given}", method.name());
            return Err(SqlError::new(SqlState::INVALID_TABLESAMPLE_ARGUMENT, message).at(at));
        };
        let scope = Outside { sees_lateral: false, ..outside }.inner();
        let place = Place::plain(&scope, Some(ctes), "functions in FROM");
        let value = |expr: &ast::Expr, ty: u32| -> Result<Expr> {
            self.argument(self.expression(expr, &place)?, Oid(ty), self.position(expr.start()))
        };
        let percentage = value(percentage, oid::FLOAT4)?;
        let seed = repeatable.map(|seed| value(seed, oid::FLOAT8)).transpose()?;
        Ok(BoundSample { function, percentage, seed })
    }
}

/// The method of this name, by its OID in `pg_proc`.
pub(super) fn method_named(name: &str) -> Option<Oid> {
    match name {
        "bernoulli" => Some(Oid(3313)),
        "system" => Some(Oid(3314)),
        _ => None,
    }
}

/// Has the scan of an item leave out what is not in the sample.
pub(super) fn sampled(from: &mut From, function: Oid, percentage: Expr, seed: Option<Expr>) {
    let mut values = vec![percentage];
    if let Some(seed) = seed {
        // With a seed it is the row that decides.
        let columns = from.items[0].columns.iter().filter(|column| !column.system);
        let row = columns.map(|column| column.expr.clone()).collect();
        values.extend([seed, Expr::Row(row, SqlType::plain(oid::RECORD), None)]);
    }
    if let Node::Scan { filter, .. } = &mut from.node {
        let values = Expr::Row(values, SqlType::plain(oid::RECORD), None);
        let ty = SqlType::plain(oid::BOOL);
        let (arguments, form) = (vec![values], CallForm::Function);
        filter.push(Expr::Call { function, arguments, ty, form, position: 0 });
    }
}
