//! ALTER COLUMN ... TYPE: all columns of a statement that get another type, in one rewrite of the table; in none where the
//! values are those of the new types as they are: then rows are only read, for what is computed of them.
//!
//! The new values are expressions over the rows as the statement finds them: of a column that the same statement drops they
//! may say something, and of another one that gets another type they see the old value.
//!
//! What is said of the columns, by indexes, CHECK constraints and foreign keys, is read again as it was printed and means
//! what it means of the new types (`ATPostAlterTypeCleanup`). Rows are held against it anew, those of tables that refer to
//! the columns too.

use super::alter_column::generated_from;
use super::build::Rewrite;
use super::create_table::column_type;
use super::dependency::Dependents;
use super::resolve::{changeable_column, undefined_column};
use super::{Ddl, RowFunction};
use crate::catalog::definition::{Edges, Expression};
use crate::catalog::quote::identifier;
use crate::catalog::relation::{ConstraintKind, ForeignKey, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Expr, ExprKind, Ident, ObjectName, SequenceOption, TypeName};
use crate::parse::parse_expression;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// A column that gets another type.
pub(super) struct Retyped<'a> {
    at: usize,
    name: Ident,
    ty: SqlType,
    collation: Oid,
    /// How many dimensions the new type was written with.
    dimensions: u32,
    /// What makes a row's new value; none where the old one stays.
    conversion: Option<RowFunction<'a>>,
    /// Every value of the old type is one of the new type, in the same form.
    keeps: bool,
}

/// What rows are held against once columns have other types: constraints by their place in their table, and the indexes that
/// compute something of the columns.
#[derive(Default)]
struct Affected {
    indexes: Vec<usize>,
    checks: Vec<usize>,
    foreign_keys: Vec<usize>,
    /// Foreign keys of other tables that refer to the columns.
    referring: Vec<(Oid, usize)>,
}

/// 0A000 for a column whose type something else relies on.
fn used_by(what: &str, detail: String) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("cannot alter type of a column used by {what}"),
    )
    .detail(detail)
}

/// Whether every value of a type is one of another, in the same form and in the same order: what PostgreSQL's support functions
/// of casts find to do nothing (`varchar_support`, `numeric_support`, `TemporalSimplify`).
fn keeps_values(old: SqlType, new: SqlType) -> bool {
    let texts = [oids::TEXT, oids::VARCHAR];
    if old.oid != new.oid {
        return texts.contains(&old.oid.0) && texts.contains(&new.oid.0) && new.typmod < 0;
    }
    if new.typmod < 0 {
        return ![oids::BPCHAR, oids::BIT].contains(&old.oid.0);
    }
    match old.oid.0 {
        _ if old.typmod < 0 => false,
        oids::VARCHAR
        | oids::VARBIT
        | oids::TIMESTAMP
        | oids::TIMESTAMPTZ
        | oids::TIME
        | oids::TIMETZ => new.typmod >= old.typmod,
        // The precision is above the scale.
        oids::NUMERIC => {
            let parts = |ty: SqlType| ((ty.typmod - 4) >> 16, (ty.typmod - 4) & 0xFFFF);
            let ((precision, scale), (next, next_scale)) = (parts(old), parts(new));
            next >= precision && next_scale == scale
        }
        _ => false,
    }
}

/// Whether USING says nothing but the column, as it is or cast to its new type.
fn is_column(
    using: &Expr,
    name: &Ident,
    ty: SqlType,
    cast_to: &dyn Fn(&TypeName) -> Option<SqlType>,
) -> bool {
    let inner = match &using.kind {
        ExprKind::Cast { operand, ty: named } if cast_to(named) == Some(ty) => &**operand,
        _ => using,
    };
    matches!(&inner.kind, ExprKind::Column(parts) if matches!(&parts[..], [part] if part == name))
}

impl<'a> Ddl<'a> {
    /// Finds out what the new type is and how values become ones of it, over the relation as the statement finds it. The
    /// sequence of an identity column gets the type, too.
    pub(super) fn prepare_type(
        &mut self,
        relation: &Relation,
        name: &Ident,
        (named, collation): (&TypeName, Option<&ObjectName>),
        using: Option<&Expr>,
    ) -> Result<Retyped<'a>> {
        let at = changeable_column(relation, name)?;
        let snapshot = self.snapshot();
        let ty = self.semantics.type_of(&snapshot, named).map_err(SqlError::nowhere)?;
        self.use_type(ty)?;
        let dimensions = named.dimensions;
        let old = &relation.columns[at];
        if old.generated && using.is_some() {
            return Err(SqlError::new(
                SqlState::INVALID_COLUMN_DEFINITION,
                "cannot specify USING when altering type of generated column",
            )
            .detail(format!("Column \"{name}\" is a generated column.")));
        }
        if old.identity.is_some() && ty.oid != old.ty.oid {
            self.retype_identity(relation, at, ty, named)?;
        }
        column_type(name, ty)?;
        if let Some(trigger) = relation.triggers.iter().find(|one| one.names_column(at)) {
            let of = self.display(relation);
            let shown = identifier(&trigger.name);
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot alter type of a column used in a trigger definition",
            )
            .detail(format!("trigger {shown} on table {of} depends on column \"{name}\"")));
        }
        let collation = self.collation(ty, collation)?;
        self.check_membership(relation.row_type.0, ty)?;
        if old.ty == ty && using.is_none() {
            let name = Arc::clone(name);
            let (conversion, keeps) = (None, true);
            return Ok(Retyped { at, name, ty, collation, dimensions, conversion, keeps });
        }
        let semantics = self.semantics;
        let conversion = semantics.conversion(&snapshot, relation, at, ty, using)?;
        let Some(conversion) = conversion else {
            let plain = self.plain_type_shown(ty);
            let (message, hint) = match using {
                Some(_) => (
                    format!(
                        "result of USING clause for column \"{name}\" cannot be cast automatically to type {plain}"
                    ),
                    "You might need to add an explicit cast.".to_owned(),
                ),
                None => {
                    let column = identifier(name);
                    let shown = self.type_shown(ty);
                    (
                        format!("column \"{name}\" cannot be cast automatically to type {plain}"),
                        format!("You might need to specify \"USING {column}::{shown}\"."),
                    )
                }
            };
            let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message);
            // A generated column has no USING.
            return Err(if old.generated { error } else { error.hint(hint) });
        };
        let (name, conversion) = (Arc::clone(name), Some(conversion));
        let cast_to = |named: &TypeName| semantics.type_of(&snapshot, named).ok();
        let itself = using.is_none_or(|using| is_column(using, &name, ty, &cast_to));
        let keeps = itself && keeps_values(old.ty, ty) && old.collation == collation;
        Ok(Retyped { at, name, ty, collation, dimensions, conversion, keeps })
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
        let keeps = changes.iter().all(|one| one.keeps);
        for Retyped { at, name, ty, collation, dimensions, conversion, .. } in changes {
            if relation.columns[at].dropped {
                return Err(undefined_column(relation, &name));
            }
            if next.columns[at].ty != relation.columns[at].ty {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("cannot alter type of column \"{name}\" twice"),
                ));
            }
            next.columns[at].default = self.retyped_default(relation, at, &name, ty)?;
            self.check_retyped(relation, at, &name)?;
            next.columns[at].properties.dimensions = dimensions;
            next.columns[at].properties.storage = None;
            next.columns[at].properties.compression = None;
            next.columns[at].collation = collation;
            let Some(conversion) = conversion else { continue };
            next.columns[at].ty = ty;
            if !keeps {
                next.columns[at].missing = None;
            }
            columns.retain(|(other, _)| *other != at);
            columns.push((at, conversion));
        }
        if columns.is_empty() {
            return self.catalog.put_relation(self.transaction, next);
        }
        self.refuse_used_row_type(relation)?;
        let changed: Vec<usize> = columns.iter().map(|column| column.0).collect();
        let affected = self.read_again(relation, &mut next, &changed)?;
        if keeps {
            for at in affected.checks {
                self.check_rows(&next, &next.constraints[at])?;
            }
            for at in affected.indexes {
                self.rebuild_index(&mut next, at)?;
            }
            return self.catalog.put_relation(self.transaction, next);
        }
        let not_null = (0..next.columns.len()).filter(|&at| next.columns[at].not_null).collect();
        let snapshot = self.snapshot();
        let mut checks = Vec::new();
        for &at in &affected.checks {
            let constraint = &next.constraints[at];
            let ConstraintKind::Check { condition, .. } = &constraint.kind else { continue };
            let function = self.semantics.compute(&snapshot, &next, None, condition)?;
            checks.push((Arc::clone(&constraint.name), function));
        }
        let mut rewrite = Rewrite { columns, not_null, checks };
        // Columns that have just been dropped are still read.
        let rows = Relation { columns: original.columns.clone(), ..relation.clone() };
        // The rewrite writes all columns: no row is older than any of them then.
        // Other values in a column: AT_REWRITE_COLUMN_REWRITE.
        self.tell_rewrite(&next, 4);
        self.rewrite(&rows, &mut next, &mut rewrite)?;
        drop(rewrite);
        self.catalog.put_relation(self.transaction, next.clone())?;
        for at in affected.foreign_keys {
            self.check_references(&next, &next.constraints[at])?;
        }
        for (table, at) in affected.referring {
            let Some(child) = self.relation(table) else { continue };
            self.check_references(&child, &child.constraints[at])?;
        }
        Ok(())
    }

    /// Reads the texts of `relation`, whose columns have got their new types in `next`, over these, and looks whether keys
    /// still can be what they are.
    fn read_again(
        &mut self,
        relation: &Relation,
        next: &mut Relation,
        changed: &[usize],
    ) -> Result<Affected> {
        let (semantics, snapshot) = (self.semantics, self.snapshot());
        let is_changed = |columns: &[usize]| columns.iter().any(|column| changed.contains(column));
        let names = |made: &Edges| made.own_columns().any(|column| changed.contains(&column));
        let parsed =
            |made: &Expression| parse_expression(&semantics.text(&snapshot, relation, made)?);
        let over = next.clone();
        let mut affected = Affected::default();
        for (at, index) in next.indexes.iter_mut().enumerate() {
            if index.definitions().any(&names) {
                affected.indexes.push(at);
            }
            for expression in &mut index.expressions {
                if names(expression.value.edges()) {
                    let parsed = parsed(&expression.value)?;
                    let made = semantics.index_expression(&snapshot, &over, &parsed);
                    let made = made.map_err(SqlError::nowhere)?;
                    expression.value = made.value;
                    let usual = snapshot.collation_of(made.ty.oid);
                    let derived = Some(made.collation).filter(|derived| *derived != Oid(0));
                    expression.ty = made.ty;
                    expression.collation = derived.unwrap_or(usual);
                }
            }
            if let Some(filter) = &mut index.filter
                && names(filter.edges())
            {
                let parsed = parsed(filter)?;
                let made = semantics.index_predicate(&snapshot, &over, &parsed);
                *filter = made.map_err(SqlError::nowhere)?;
            }
        }
        for index in &next.indexes {
            self.check_keys(next, index)?;
        }
        for (at, constraint) in next.constraints.iter_mut().enumerate() {
            match &mut constraint.kind {
                ConstraintKind::Check { condition, .. } => {
                    if !names(condition.edges()) {
                        continue;
                    }
                    let parsed = parsed(condition)?;
                    let made = semantics.check(&snapshot, &over, &parsed);
                    *condition = made.map_err(SqlError::nowhere)?;
                    if constraint.validated {
                        affected.checks.push(at);
                    }
                }
                ConstraintKind::ForeignKey(key) => {
                    let to_itself = key.references == relation.oid;
                    if !(is_changed(&key.columns) || to_itself && is_changed(&key.referenced)) {
                        continue;
                    }
                    let parent = snapshot.relation(key.references).map_or(&over, |found| found);
                    let parent = if to_itself { &over } else { parent };
                    self.demand_comparable_key(&over, parent, key, &constraint.name)?;
                    if constraint.validated {
                        affected.foreign_keys.push(at);
                    }
                }
            }
        }
        for &(table, at) in relation.referenced_by.iter().filter(|child| child.0 != relation.oid) {
            let refers = |child: &Relation| match &child.constraints[at].kind {
                ConstraintKind::ForeignKey(key) => is_changed(&key.referenced),
                ConstraintKind::Check { .. } => false,
            };
            let Some(child) = self.relation(table).filter(|child| refers(child)) else { continue };
            let mode = TableLock::AccessExclusive;
            self.transaction.lock_table(child.lock, mode, WaitPolicy::Block)?;
            let constraint = &child.constraints[at];
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            self.demand_comparable_key(&child, &over, key, &constraint.name)?;
            if constraint.validated {
                affected.referring.push((table, at));
            }
        }
        Ok(affected)
    }

    /// 42804 if columns of a foreign key cannot be compared.
    fn demand_comparable_key(
        &mut self,
        child: &Relation,
        parent: &Relation,
        key: &ForeignKey,
        name: &str,
    ) -> Result<()> {
        let mut pairs = key.columns.iter().copied().zip(key.referenced.iter().copied());
        pairs.try_for_each(|pair| self.demand_comparable(child, parent, pair, name))
    }

    /// A column's default, or what it is computed from, as one of another type: it says the same, and what it depended on only
    /// because of the old type it does not depend on any more (`ATExecAlterColumnType` strips implicit coercions).
    fn retyped_default(
        &mut self,
        relation: &Relation,
        at: usize,
        name: &str,
        ty: SqlType,
    ) -> Result<Option<Expression>> {
        let old = &relation.columns[at];
        let Some(default) = &old.default else { return Ok(None) };
        let (semantics, snapshot) = (self.semantics, self.snapshot());
        let parsed = parse_expression(&semantics.text(&snapshot, relation, default)?)?;
        let (bound, what) = match old.generated {
            true => (
                semantics.generated(&snapshot, relation, (ty, name), &parsed),
                "generation expression",
            ),
            false => {
                let bound = semantics.default(&snapshot, name, ty, &parsed);
                (bound.map(|bound| bound.value), "default")
            }
        };
        match bound {
            Ok(bound) => Ok(Some(bound)),
            Err(error) if error.state() == SqlState::DATATYPE_MISMATCH => {
                let plain = self.plain_type_shown(ty);
                let message = format!(
                    "{what} for column \"{name}\" cannot be cast automatically to type {plain}"
                );
                Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
            }
            // A value that the new type does not take is told of where the default is used.
            Err(_) => Ok(Some(default.clone())),
        }
    }

    /// Checks that nothing that relies on a column's type stands in the way of another one.
    fn check_retyped(&mut self, relation: &Relation, at: usize, name: &str) -> Result<()> {
        if let Some(column) = generated_from(relation, at).first() {
            let column = &relation.columns[*column].name;
            let detail = format!("Column \"{name}\" is used by generated column \"{column}\".");
            return Err(used_by("a generated column", detail));
        }
        let mut naming = Dependents::default();
        self.collect_field(relation.oid, at, "", &mut naming);
        self.refuse_retyped((relation.row_type.0, name), &naming)?;
        let (mut views, number) = (Dependents::default(), Some(at as i16 + 1));
        self.collect_views(relation, number, &[], &format!("column \"{name}\""), &mut views);
        if let Some(routine) = views.parts.iter().find(|one| one.routine().is_some()) {
            let detail = format!("{} depends on {}", routine.shown, routine.on);
            return Err(used_by("a function or procedure", detail));
        }
        if let Some((view, column)) = views.lines.first() {
            let detail = format!("rule _RETURN on {view} depends on {column}");
            return Err(used_by("a view or rule", detail));
        }
        Ok(())
    }
}
