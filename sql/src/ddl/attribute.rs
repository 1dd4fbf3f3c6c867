//! ALTER TYPE of a composite type's attributes.
//!
//! A stored row says how many fields it has, so an attribute comes or goes only where no column holds such rows; a new
//! name changes no row.

use super::Ddl;
use super::create_table::column_type;
use super::user_type::{find, owned, put};
use crate::catalog::quote::identifier;
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::user_type::{Attribute, UserType, UserTypeKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterComposite, AttributeChange, Ident, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;

/// A composite type of that name, locked, which the current user owns.
fn composite(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<(Arc<UserType>, Vec<Attribute>)> {
    let missing = || {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(SqlState::UNDEFINED_TABLE, message)
    };
    if find(ddl, name)?.is_none_or(|found| found.attributes().is_none()) {
        return Err(missing());
    }
    let found = owned(ddl, name)?;
    let attributes = found.attributes().ok_or_else(missing)?.to_vec();
    Ok((found, attributes))
}

fn put_attributes(ddl: &mut Ddl<'_>, found: &UserType, attributes: Vec<Attribute>) -> Result<()> {
    put(ddl, UserType { kind: UserTypeKind::Composite(attributes), ..found.clone() })
}

fn exists(name: &str, found: &UserType) -> SqlError {
    SqlError::new(
        SqlState::DUPLICATE_COLUMN,
        format!("column \"{name}\" of relation \"{}\" already exists", found.name),
    )
}

fn missing(name: &str, found: &UserType) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_COLUMN,
        format!("column \"{name}\" of relation \"{}\" does not exist", found.name),
    )
}

/// A column that holds rows of the type: its table's name and its own.
fn used_by(ddl: &mut Ddl<'_>, oid: Oid) -> Option<(Arc<str>, Arc<str>)> {
    let snapshot = ddl.snapshot();
    snapshot
        .relations()
        .filter(|relation| matches!(relation.kind, RelationKind::Table { .. }))
        .find_map(|relation| {
            let live = relation.columns.iter().filter(|column| !column.dropped);
            let mut holding =
                live.filter(|column| super::domain::holds(&snapshot, column.ty.oid, oid));
            holding.next().map(|column| (Arc::clone(&relation.name), Arc::clone(&column.name)))
        })
}

impl Ddl<'_> {
    /// 0A000 where columns of other tables hold rows of this one, which would get, or lose, a column.
    pub(super) fn demand_unused_row_type(&mut self, relation: &Relation, what: &str) -> Result<()> {
        let Some((table, column)) = used_by(self, relation.row_type.0) else { return Ok(()) };
        Err(SqlError::unsupported(format!(
            "ALTER TABLE ... {what} COLUMN of \"{}\", whose rows column \"{table}.{column}\" has, is",
            relation.name
        )))
    }

    /// 0A000 where columns of other tables hold rows of this one, whose columns are about to get new values
    /// (`find_composite_type_dependencies`).
    pub(super) fn refuse_used_row_type(&mut self, relation: &Relation) -> Result<()> {
        let Some((table, column)) = used_by(self, relation.row_type.0) else { return Ok(()) };
        Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!(
                "cannot alter table \"{}\" because column \"{table}.{column}\" uses its row type",
                relation.name
            ),
        ))
    }
}

fn demand_unused(ddl: &mut Ddl<'_>, found: &UserType, what: &str) -> Result<()> {
    match used_by(ddl, found.oid) {
        None => Ok(()),
        Some((table, column)) => Err(SqlError::unsupported(format!(
            "ALTER TYPE ... {what} ATTRIBUTE of \"{}\", which column \"{table}.{column}\" has, is",
            found.name
        ))),
    }
}

/// ALTER TYPE ... ADD, DROP, ALTER ATTRIBUTE.
///
/// # Errors
/// 42P01, 42701, 42703, 42501; 0A000 where a column has the type.
pub fn alter_composite(ddl: &mut Ddl<'_>, alter: &AlterComposite) -> Result<&'static str> {
    for change in &alter.changes {
        let (found, mut attributes) = composite(ddl, &alter.name)?;
        let place = |name: &Ident| attributes.iter().position(|attribute| attribute.name == *name);
        match change {
            AttributeChange::Add(name, ty) => {
                if place(name).is_some() {
                    return Err(exists(name, &found));
                }
                demand_unused(ddl, &found, "ADD")?;
                let dimensions = ty.dimensions;
                let ty = ddl.semantics.type_of(ddl.catalog.snapshot(), ty)?;
                column_type(name, ty)?;
                ddl.lock_type(ty)?;
                ddl.check_membership(found.oid, ty)?;
                attributes.push(Attribute { name: Arc::clone(name), ty, dimensions });
            }
            AttributeChange::Drop { name, if_exists } => {
                let Some(at) = place(name) else {
                    let error = missing(name, &found);
                    if *if_exists {
                        let message = format!("{}, skipping", error.fields().message);
                        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                        continue;
                    }
                    return Err(error);
                };
                demand_unused(ddl, &found, "DROP")?;
                attributes.remove(at);
            }
            AttributeChange::Alter(name, ty) => {
                let at = place(name).ok_or_else(|| missing(name, &found))?;
                let dimensions = ty.dimensions;
                let ty = ddl.semantics.type_of(ddl.catalog.snapshot(), ty);
                let ty = ty.map_err(SqlError::nowhere)?;
                column_type(name, ty)?;
                ddl.lock_type(ty)?;
                if let Some((table, column)) = used_by(ddl, found.oid) {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!(
                            "cannot alter type \"{}\" because column \"{table}.{column}\" uses it",
                            found.name
                        ),
                    ));
                }
                ddl.check_membership(found.oid, ty)?;
                attributes[at] = Attribute { name: Arc::clone(name), ty, dimensions };
            }
        }
        put_attributes(ddl, &found, attributes)?;
    }
    Ok("ALTER TYPE")
}

/// ALTER TYPE ... RENAME ATTRIBUTE.
pub(super) fn rename_attribute(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    from: &Ident,
    to: &Ident,
) -> Result<()> {
    let (found, mut attributes) = composite(ddl, name)?;
    let Some(at) = attributes.iter().position(|attribute| attribute.name == *from) else {
        let message = format!("column \"{from}\" does not exist");
        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
    };
    if attributes.iter().any(|attribute| attribute.name == *to) {
        return Err(exists(to, &found));
    }
    attributes[at].name = Arc::clone(to);
    let before = ddl.snapshot();
    put_attributes(ddl, &found, attributes)?;
    let field = format!(".{}", identifier(from));
    ddl.put_reprinted(&before, &|text| text.contains(").") && text.contains(&field))
}

/// Drops an attribute because its type goes.
pub(super) fn drop_by_name(ddl: &mut Ddl<'_>, oid: Oid, name: &Ident) -> Result<()> {
    let key = ddl.catalog.key(crate::catalog::object::Class::Type, oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let Some(found) = ddl.snapshot().user_type(oid).cloned() else { return Ok(()) };
    demand_unused(ddl, &found, "DROP")?;
    let mut attributes = found.attributes().unwrap_or_default().to_vec();
    attributes.retain(|attribute| attribute.name != *name);
    put_attributes(ddl, &found, attributes)
}
