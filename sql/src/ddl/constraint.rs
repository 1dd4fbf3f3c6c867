//! CHECK constraints, and rows that are there held against them.

use super::build::{Columns, EachRow, each_row, each_row_beside_writers};
use super::{Ddl, name};
use crate::catalog::relation::{Constraint, ConstraintKind, Deferral, Relation};
use crate::catalog::system_column::{TABLE_OID, system_column};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Expr, Ident};
use crate::sqlstate::SqlState;
use crate::types::Datum;
use std::sync::Arc;

/// A CHECK that a table is to have.
pub(super) struct NewCheck<'a> {
    pub(super) name: Option<Ident>,
    pub(super) expr: &'a Expr,
    /// Whether rows that are there are held against it (NOT VALID).
    pub(super) validated: bool,
    pub(super) no_inherit: bool,
}

impl Ddl<'_> {
    /// Makes a CHECK constraint of a relation that already has its columns.
    pub(super) fn new_check(
        &mut self,
        relation: &Relation,
        check: &NewCheck<'_>,
    ) -> Result<Constraint> {
        let snapshot = self.snapshot();
        let condition = self.semantics.check(&snapshot, relation, check.expr)?;
        let named = condition.edges();
        self.hold_named(named)?;
        let name = match &check.name {
            Some(name) => {
                constraint_is_new(relation, name)?;
                Arc::clone(name)
            }
            None => {
                let only = match named.own().as_slice() {
                    [number] if *number > 0 => Some(&*relation.columns[*number as usize - 1].name),
                    [number] if *number == TABLE_OID => Some(system_column(TABLE_OID).name),
                    _ => None,
                };
                name::constraint_name(relation, only, "check")
            }
        };
        let oid = self.catalog.next_oid()?;
        Ok(Constraint {
            oid,
            name,
            kind: ConstraintKind::Check { condition, no_inherit: check.no_inherit },
            validated: check.validated,
            deferral: Deferral::Never,
        })
    }

    /// 23514 if a row that is there does not meet a CHECK. Who validates one that new rows meet already keeps nobody from
    /// writing.
    pub(super) fn check_rows(
        &mut self,
        relation: &Relation,
        constraint: &Constraint,
    ) -> Result<()> {
        let ConstraintKind::Check { condition, .. } = &constraint.kind else { return Ok(()) };
        self.tell_verification(relation);
        let is_kept = !constraint.validated;
        let snapshot = self.snapshot();
        let mut evaluate = self.semantics.compute(&snapshot, relation, None, condition)?;
        let own = condition.edges().own();
        let known: Option<Vec<usize>> =
            own.iter().map(|number| usize::try_from(*number).ok()?.checked_sub(1)).collect();
        let columns = known.as_deref().map_or(Columns::All, Columns::Only);
        let each: &mut EachRow<'_> = &mut |_, _, _, row| {
            let values: Vec<Datum<'_>> = row.iter().collect();
            let result = evaluate(&values)?;
            if matches!(result.get(0), Datum::Bool(false)) {
                return Err(violated(relation, &constraint.name));
            }
            Ok(())
        };
        if is_kept {
            each_row_beside_writers(self.transaction, relation, columns, each)
        } else {
            each_row(self.transaction, relation, columns, each)
        }
    }
}

/// 23514 over rows that are there.
pub(super) fn violated(relation: &Relation, constraint: &str) -> SqlError {
    SqlError::new(
        SqlState::CHECK_VIOLATION,
        format!(
            "check constraint \"{constraint}\" of relation \"{}\" is violated by some row",
            relation.name
        ),
    )
    .table(&*relation.schema.1, &*relation.name)
    .constraint(constraint)
}

/// 42710 if a table has a constraint of that name.
pub(super) fn constraint_is_new(relation: &Relation, name: &str) -> Result<()> {
    if name::has_constraint(relation, name) {
        return Err(SqlError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("constraint \"{name}\" for relation \"{}\" already exists", relation.name),
        ));
    }
    Ok(())
}
