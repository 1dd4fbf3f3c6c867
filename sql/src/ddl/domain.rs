//! CREATE DOMAIN, ALTER DOMAIN: manual, 8.18 and the commands' pages.
//!
//! Who adds a condition locks the tables that have columns of the domain against writers, holds their rows against it,
//! and keeps the lock to the end: whoever writes behind it binds the statement with the condition. PostgreSQL:
//! `typecmds.c`.

use super::build::{Columns, each_row};
use super::user_type::{check_name, owned, put, put_new, row_type_refusal};
use super::{Ddl, name};
use crate::bind::value_relation;
use crate::catalog::CatalogSnapshot;
use crate::catalog::builtin::{self, TypeKind};
use crate::catalog::definition::Expression;
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::user_type::{Domain, DomainCheck, UserType, UserTypeKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterDomain, ColumnConstraintKind, CreateDomain, DomainChange, Expr, Ident, ObjectKind,
    ObjectName,
};
use crate::sqlstate::SqlState;
use crate::types::depth::deeper;
use crate::types::{Datum, Oid, SqlType};
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

fn syntax(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// CREATE DOMAIN.
///
/// # Errors
/// 42710, 42804, 42601, 42501 and so on.
pub fn create_domain(ddl: &mut Ddl<'_>, create: &CreateDomain) -> Result<&'static str> {
    let schema = ddl.creation_schema(&create.name, 'p')?;
    let own_name = create.name.name();
    check_name(ddl, &schema, own_name)?;
    let snapshot = ddl.snapshot();
    let base = ddl.semantics.type_of(&snapshot, &create.ty)?;
    if builtin::type_by_oid(base.oid.0).is_some_and(|found| found.kind == TypeKind::Pseudo) {
        return Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("\"{}\" is not a valid base type for a domain", create.ty.name),
        ));
    }
    ddl.use_type(base)?;
    let collation = ddl.collation(base, create.collation.as_ref())?;
    ddl.hold_schema(&schema)?;
    ddl.owner_to_stay()?;
    let counted = ddl.catalog.next_oid()?;
    let held = snapshot.base_type(base).oid;
    let Some(oid) = builtin::domain_oid(counted.0, held.0) else {
        return Err(crate::types::unsupported_type(held.0));
    };
    let mut domain = Domain {
        base,
        collation,
        dimensions: create.ty.dimensions,
        not_null: false,
        // A domain over a domain begins with its default.
        default: snapshot.domain(base.oid).and_then(|over| over.default.clone()),
        checks: Vec::new(),
    };
    let (mut nullability, mut has_default) = (None, false);
    for constraint in &create.constraints {
        match &constraint.kind {
            ColumnConstraintKind::Default(expr, _) => {
                if std::mem::replace(&mut has_default, true) {
                    return Err(syntax("multiple default expressions"));
                }
                domain.default = default_of(ddl, own_name, base, expr)?;
            }
            ColumnConstraintKind::NotNull | ColumnConstraintKind::Null => {
                let not_null = constraint.kind == ColumnConstraintKind::NotNull;
                if nullability.is_some_and(|known| known != not_null) {
                    return Err(syntax("conflicting NULL/NOT NULL constraints"));
                }
                nullability = Some(not_null);
                domain.not_null = not_null;
            }
            // Made below, when the rest is known.
            ColumnConstraintKind::Check { no_inherit: false, .. } => {}
            other => return Err(impossible(other)),
        }
    }
    for constraint in &create.constraints {
        let ColumnConstraintKind::Check { expr, .. } = &constraint.kind else { continue };
        let given = constraint.name.as_ref();
        let check = new_check(ddl, (own_name, schema.oid), &domain, given, expr)?;
        domain.checks.push(check);
    }
    let (name, owner) = (Arc::clone(own_name), ddl.user);
    let kind = UserTypeKind::Domain(domain);
    put_new(ddl, UserType { oid: Oid(oid), schema: schema.oid, name, owner, kind })?;
    Ok("CREATE DOMAIN")
}

/// What a domain cannot have.
fn impossible(kind: &ColumnConstraintKind) -> SqlError {
    match kind {
        ColumnConstraintKind::Check { .. } => SqlError::new(
            SqlState::INVALID_OBJECT_DEFINITION,
            "check constraints for domains cannot be marked NO INHERIT",
        ),
        ColumnConstraintKind::Key(options) if options.primary => {
            syntax("primary key constraints not possible for domains")
        }
        ColumnConstraintKind::Key(_) => syntax("unique constraints not possible for domains"),
        ColumnConstraintKind::References(_) => {
            syntax("foreign key constraints not possible for domains")
        }
        _ => SqlError::unsupported("this constraint of a domain is"),
    }
}

/// The default; none for NULL.
fn default_of(
    ddl: &mut Ddl<'_>,
    name: &str,
    base: SqlType,
    expr: &Expr,
) -> Result<Option<Expression>> {
    let snapshot = ddl.snapshot();
    let default = ddl.semantics.default(&snapshot, name, base, expr)?;
    ddl.hold_named(default.value.edges())?;
    Ok(default.kept())
}

fn new_check(
    ddl: &mut Ddl<'_>,
    (domain_name, schema): (&Ident, Oid),
    domain: &Domain,
    given: Option<&Ident>,
    expr: &Expr,
) -> Result<DomainCheck> {
    let snapshot = ddl.snapshot();
    let name = match given {
        Some(name) => {
            if domain.checks.iter().any(|known| known.name == *name) {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_OBJECT,
                    format!("constraint \"{name}\" for domain \"{domain_name}\" already exists"),
                ));
            }
            Arc::clone(name)
        }
        None => name::domain_check_name(&snapshot, schema, domain, domain_name),
    };
    let condition = ddl.semantics.domain_check(&snapshot, domain.base, expr)?;
    ddl.hold_named(condition.edges())?;
    let oid = ddl.catalog.next_oid()?;
    Ok(DomainCheck { oid, name, condition, validated: true })
}

/// A domain of that name, locked, which the current user owns. Where it is none the message has its name `quoted`.
pub(super) fn owned_domain(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    quoted: bool,
) -> Result<(Arc<UserType>, Domain)> {
    if let Some((_, refused)) = row_type_refusal(ddl, name, ObjectKind::Domain)? {
        return Err(refused);
    }
    let found = owned(ddl, name)?;
    match found.domain() {
        Some(domain) => {
            let domain = domain.clone();
            Ok((found, domain))
        }
        None if quoted => Err(no_domain(&found.name)),
        None => Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("{} is not a domain", found.name),
        )),
    }
}

/// 42809.
pub(super) fn no_domain(name: &str) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a domain"))
}

fn put_domain(ddl: &mut Ddl<'_>, found: &UserType, domain: Domain) -> Result<()> {
    put(ddl, Some(found), UserType { kind: UserTypeKind::Domain(domain), ..found.clone() })
}

fn no_check(name: &str, found: &UserType) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("constraint \"{name}\" of domain \"{}\" does not exist", found.name),
    )
}

/// ALTER DOMAIN, but for what is the same for all types.
///
/// # Errors
/// 42704, 42809, 42710, 23502, 23514, 42501 and so on.
pub fn alter_domain(ddl: &mut Ddl<'_>, alter: &AlterDomain) -> Result<&'static str> {
    const TAG: &str = "ALTER DOMAIN";
    let (found, mut domain) = owned_domain(ddl, &alter.name, false)?;
    match &alter.change {
        DomainChange::SetDefault(expr) => {
            domain.default = match expr {
                Some(expr) => default_of(ddl, &found.name, domain.base, expr)?,
                None => None,
            };
        }
        DomainChange::SetNotNull(not_null) => {
            if domain.not_null == *not_null {
                return Ok(TAG);
            }
            if *not_null {
                hold_rows_against(ddl, &found, &domain, None)?;
            }
            domain.not_null = *not_null;
        }
        DomainChange::AddConstraint { name, kind, valid } => {
            let ColumnConstraintKind::Check { expr, no_inherit: false, .. } = kind else {
                return Err(impossible(kind));
            };
            let owner = (&found.name, found.schema);
            let mut check = new_check(ddl, owner, &domain, name.as_ref(), expr)?;
            check.validated = *valid;
            if *valid {
                hold_rows_against(ddl, &found, &domain, Some(&check))?;
            }
            domain.checks.push(check);
        }
        DomainChange::DropConstraint { name, if_exists } => {
            let Some(at) = domain.checks.iter().position(|check| check.name == *name) else {
                let missing = no_check(name, &found);
                if *if_exists {
                    let message = format!("{}, skipping", missing.fields().message);
                    ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                    return Ok(TAG);
                }
                return Err(missing);
            };
            ddl.remove_comments(&[domain.checks.remove(at).oid])?;
        }
        DomainChange::ValidateConstraint(name) => {
            let at = domain.checks.iter().position(|check| check.name == *name);
            let at = at.ok_or_else(|| no_check(name, &found))?;
            if !domain.checks[at].validated {
                hold_rows_against(ddl, &found, &domain, Some(&domain.checks[at]))?;
                domain.checks[at].validated = true;
            }
        }
    }
    put_domain(ddl, &found, domain)?;
    Ok(TAG)
}

/// The `pg_constraint` row of a check of a domain that the current user owns.
pub(super) fn owned_check(ddl: &mut Ddl<'_>, name: &ObjectName, check: &Ident) -> Result<Oid> {
    let (found, domain) = owned_domain(ddl, name, true)?;
    let check_of = domain.checks.iter().find(|known| known.name == *check);
    check_of.map(|check| check.oid).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{check}\" for domain {} does not exist", found.name),
        )
    })
}

/// ALTER DOMAIN ... RENAME CONSTRAINT.
pub(super) fn rename_check(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    from: &Ident,
    to: &Ident,
) -> Result<()> {
    let (found, mut domain) = owned_domain(ddl, name, false)?;
    let Some(at) = domain.checks.iter().position(|check| check.name == *from) else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{from}\" for domain {} does not exist", found.name),
        ));
    };
    if domain.checks.iter().any(|check| check.name == *to) {
        return Err(SqlError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("constraint \"{to}\" for domain {} already exists", found.name),
        ));
    }
    domain.checks[at].name = Arc::clone(to);
    put_domain(ddl, &found, domain)
}

/// Whether values of `ty` have values of `domain` in them: it is of it, over it, or has parts of it.
pub(super) fn holds(snapshot: &CatalogSnapshot, ty: Oid, domain: Oid) -> bool {
    if ty == domain {
        return true;
    }
    if let Some(element) = builtin::element_of_made(ty.0) {
        return holds(snapshot, Oid(element), domain);
    }
    if let Some(over) = snapshot.domain(ty) {
        return deeper(|| holds(snapshot, over.base.oid, domain));
    }
    let fields = crate::bind::type_name::fields_of(snapshot, ty).unwrap_or_default();
    fields.iter().any(|(_, field)| deeper(|| holds(snapshot, field.oid, domain)))
}

/// Whether `ty` is the domain, or a domain over it.
fn is_over(snapshot: &CatalogSnapshot, ty: Oid, domain: Oid) -> bool {
    let over = |over: &Domain| deeper(|| is_over(snapshot, over.base.oid, domain));
    ty == domain || snapshot.domain(ty).is_some_and(over)
}

/// Rows that are there must meet a condition, or (none) not have NULL, wherever a column is of the domain.
fn hold_rows_against(
    ddl: &mut Ddl<'_>,
    found: &UserType,
    domain: &Domain,
    check: Option<&DomainCheck>,
) -> Result<()> {
    let snapshot = ddl.snapshot();
    let holders = snapshot.holders(found.oid);
    let tables: Vec<Arc<Relation>> = holders
        .iter()
        .filter_map(|oid| snapshot.relation(*oid))
        .filter(|relation| matches!(relation.kind, RelationKind::Table { .. }))
        .cloned()
        .collect();
    for table in tables {
        if !table
            .columns
            .iter()
            .any(|column| !column.dropped && holds(&snapshot, column.ty.oid, found.oid))
        {
            continue;
        }
        ddl.transaction.lock_table(table.lock, TableLock::Share, WaitPolicy::Block)?;
        let Some(table) = ddl.relation(table.oid) else { continue };
        let snapshot = ddl.snapshot();
        let mut columns = Vec::new();
        for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.dropped) {
            if is_over(&snapshot, column.ty.oid, found.oid) {
                columns.push(at);
            } else if holds(&snapshot, column.ty.oid, found.oid) {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!(
                        "cannot alter type \"{}\" because column \"{}.{}\" uses it",
                        found.name, table.name, column.name
                    ),
                ));
            }
        }
        let value = value_relation(domain.base);
        let semantics = ddl.semantics;
        let mut condition = match check {
            Some(check) => Some(semantics.compute(&snapshot, &value, None, &check.condition)?),
            None => None,
        };
        each_row(ddl.transaction, &table, Columns::Only(&columns), &mut |_, _, _, row| {
            for &at in &columns {
                let fits = match &mut condition {
                    None => !row.get(at).is_null(),
                    Some(condition) => {
                        !matches!(condition(&[row.get(at)])?.get(0), Datum::Bool(false))
                    }
                };
                if fits {
                    continue;
                }
                let (state, what) = match check {
                    None => (SqlState::NOT_NULL_VIOLATION, "contains null values"),
                    Some(_) => (
                        SqlState::CHECK_VIOLATION,
                        "contains values that violate the new constraint",
                    ),
                };
                let column = &table.columns[at].name;
                let message = format!("column \"{column}\" of table \"{}\" {what}", table.name);
                return Err(SqlError::new(state, message)
                    .table(&*table.schema.1, &*table.name)
                    .column(&**column));
            }
            Ok(())
        })?;
    }
    Ok(())
}
