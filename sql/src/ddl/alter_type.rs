//! ALTER COLUMN ... TYPE: all columns of a statement that get another type, in one rewrite of the table.
//!
//! The new values are expressions over the rows as the statement finds them: of a column that the same statement drops they
//! may say something, and of another one that gets another type they see the old value.

use super::alter_column::computes_from;
use super::build::Rewrite;
use super::create_table::column_type;
use super::dependency::Dependents;
use super::resolve::{column, undefined_column};
use super::{Ddl, RowFunction};
use crate::catalog::relation::{ConstraintKind, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Expr, Ident, SequenceOption, TypeName};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::sync::Arc;

/// A column that gets another type.
pub(super) struct Retyped<'a> {
    at: usize,
    name: Ident,
    ty: SqlType,
    /// What makes a row's new value; none where the old one stays.
    conversion: Option<RowFunction<'a>>,
}

/// 0A000 for a column whose type something else relies on.
fn used_by(what: &str, detail: String) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("cannot alter type of a column used by {what}"),
    )
    .detail(detail)
}

impl<'a> Ddl<'a> {
    /// Finds out what the new type is and how values become ones of it, over the relation as the statement finds it. The
    /// sequence of an identity column gets the type, too.
    pub(super) fn prepare_type(
        &mut self,
        relation: &Relation,
        name: &Ident,
        named: &TypeName,
        using: Option<&Expr>,
    ) -> Result<Retyped<'a>> {
        let at = column(relation, name)?;
        let snapshot = self.snapshot();
        let ty = self.semantics.type_of(&snapshot, named)?;
        let old = &relation.columns[at];
        if old.identity.is_some() && ty.oid != old.ty.oid {
            self.retype_identity(relation, at, ty, named)?;
        }
        column_type(name, ty)?;
        if old.ty == ty && using.is_none() {
            return Ok(Retyped { at, name: Arc::clone(name), ty, conversion: None });
        }
        let semantics = self.semantics;
        let conversion = semantics.conversion(&snapshot, relation, at, ty, using)?;
        let Some(conversion) = conversion else {
            let plain = self.type_shown(SqlType::plain(ty.oid.0));
            let (message, hint) = match using {
                Some(_) => (
                    format!(
                        "result of USING clause for column \"{name}\" cannot be cast automatically to type {plain}"
                    ),
                    "You might need to add an explicit cast.".to_owned(),
                ),
                None => {
                    let column = crate::catalog::quote::identifier(name);
                    let shown = self.type_shown(ty);
                    (
                        format!("column \"{name}\" cannot be cast automatically to type {plain}"),
                        format!("You might need to specify \"USING {column}::{shown}\"."),
                    )
                }
            };
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).hint(hint));
        };
        Ok(Retyped { at, name: Arc::clone(name), ty, conversion: Some(conversion) })
    }

    /// The sequence of an identity column counts in the column's type.
    fn retype_identity(
        &mut self,
        relation: &Relation,
        at: usize,
        ty: SqlType,
        named: &TypeName,
    ) -> Result<()> {
        if !matches!(ty.oid.0, 20 | 21 | 23) {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint",
            ));
        }
        let snapshot = self.snapshot();
        let owned = snapshot.owned_sequences(relation.oid).find(|found| found.1 == at);
        let Some(sequence) = owned.map(|found| Arc::clone(found.0)) else { return Ok(()) };
        self.change_sequence(&sequence, &[SequenceOption::Type(named.clone())])
    }

    /// Gives columns their new types. `original` is the relation as the statement has found it, `relation` what the actions
    /// before these have left of it.
    pub(super) fn alter_types(
        &mut self,
        original: &Relation,
        relation: &Relation,
        changes: Vec<Retyped<'a>>,
    ) -> Result<()> {
        let mut next = Relation::clone(relation);
        let mut columns: Vec<(usize, RowFunction<'a>)> = Vec::new();
        for Retyped { at, name, ty, conversion } in changes {
            if relation.columns[at].dropped {
                return Err(undefined_column(relation, &name));
            }
            if next.columns[at].ty != relation.columns[at].ty {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("cannot alter type of column \"{name}\" twice"),
                ));
            }
            self.check_retyped(relation, at, &name, ty)?;
            let Some(conversion) = conversion else { continue };
            let found = crate::catalog::builtin::held_as(ty.oid.0);
            next.columns[at].ty = ty;
            next.columns[at].missing = None;
            next.columns[at].collation = crate::types::Oid(found.map_or(0, |ty| ty.collation));
            columns.retain(|(other, _)| *other != at);
            columns.push((at, conversion));
        }
        if columns.is_empty() {
            return Ok(());
        }
        let not_null = (0..next.columns.len()).filter(|&at| next.columns[at].not_null).collect();
        let mut rewrite = Rewrite { columns, not_null };
        // Columns that have just been dropped are still read.
        let rows = Relation { columns: original.columns.clone(), ..relation.clone() };
        // The rewrite writes all columns: no row is older than any of them then.
        self.rewrite(&rows, &mut next, &mut rewrite)?;
        drop(rewrite);
        self.catalog.put_relation(self.transaction, next)
    }

    /// Checks that nothing that relies on a column's type stands in the way of another one.
    fn check_retyped(
        &mut self,
        relation: &Relation,
        at: usize,
        name: &str,
        ty: SqlType,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        let semantics = self.semantics;
        let old = &relation.columns[at];
        let default = old.default.as_deref().filter(|_| !old.generated);
        if let Some(default) = default {
            let parsed = crate::parse::parse_expression(default)?;
            let bound = semantics.default(&snapshot, name, ty, &parsed);
            // A value that the new type does not take is told of where the default is used.
            if bound.is_err_and(|error| error.state() == SqlState::DATATYPE_MISMATCH) {
                let plain = self.type_shown(SqlType::plain(ty.oid.0));
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "default for column \"{name}\" cannot be cast automatically to type {plain}"
                    ),
                ));
            }
        }
        if let Some(column) = self.generated_from(relation, at)?.first() {
            let column = &relation.columns[*column].name;
            let detail = format!("Column \"{name}\" is used by generated column \"{column}\".");
            return Err(used_by("a generated column", detail));
        }
        let (mut views, number) = (Dependents::default(), Some(at as i16 + 1));
        self.collect_views(relation, number, &[], &format!("column \"{name}\""), &mut views);
        if let Some((view, column)) = views.lines.first() {
            let detail = format!("rule _RETURN on {view} depends on {column}");
            return Err(used_by("a view or rule", detail));
        }
        let named = |text: &str| semantics.columns_of(&snapshot, relation, text);
        let computed = relation.indexes.iter().any(|index| computes_from(index, at, &named));
        let constrained = relation.constraints.iter().any(|constraint| match &constraint.kind {
            ConstraintKind::Check(text) => named(text).is_ok_and(|columns| columns.contains(&at)),
            ConstraintKind::ForeignKey(key) => {
                key.columns.contains(&at)
                    || key.references == relation.oid && key.referenced.contains(&at)
            }
        });
        if old.generated || computed || constrained {
            return Err(SqlError::unsupported(
                "ALTER COLUMN TYPE of a column that constraints or expressions name is",
            ));
        }
        let is_keyed =
            |index: &crate::catalog::Index| index.columns.iter().any(|key| key.column == at);
        let referenced = relation.referenced_by.iter().any(|&(table, _)| table != relation.oid);
        if referenced && relation.indexes.iter().any(is_keyed) {
            return Err(SqlError::unsupported("ALTER COLUMN TYPE of a referenced column is"));
        }
        Ok(())
    }
}
