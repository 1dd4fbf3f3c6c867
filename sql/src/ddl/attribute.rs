//! ALTER TYPE of a composite type's attributes.
//!
//! A new name changes no row; what else changes rows that columns hold is in [`super::row_shape`].

use super::Ddl;
use super::create_table::column_type;
use super::dependency::Dependents;
use super::resolve::must_own;
use super::row_shape::{Reshape, used_by};
use super::type_dependents::What;
use super::user_type::{owned, put};
use crate::catalog::Named;
use crate::catalog::definition::Edge;
use crate::catalog::object::{Class, Object, ObjectKey};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::user_type::{Attribute, UserType, UserTypeKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterComposite, AttributeChange, AttributeElement, Ident, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;

/// A composite type of that name, locked, which the current user owns.
fn composite(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<(Arc<UserType>, Vec<Attribute>)> {
    let missing = || {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(SqlState::UNDEFINED_TABLE, message)
    };
    match ddl.lookup(name)? {
        None => return Err(missing()),
        Some(Named::Index { table, .. }) => {
            let owner = ddl.relation(table).map_or(Oid(0), |relation| relation.owner);
            if !ddl.snapshot().owns(ddl.user, owner) {
                return Err(must_own("index", name.name()));
            }
            return Err(no_composite(name.name()));
        }
        Some(Named::Relation(oid)) => {
            let relation = ddl.relation(oid).ok_or_else(missing)?;
            ddl.check_owner(&relation)?;
            if !matches!(relation.kind, RelationKind::Composite) {
                return Err(no_composite(name.name()));
            }
        }
    }
    let found = owned(ddl, name)?;
    let attributes = found.attributes().ok_or_else(missing)?.to_vec();
    Ok((found, attributes))
}

/// 42809.
fn no_composite(name: &str) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a composite type"))
}

fn put_attributes(ddl: &mut Ddl<'_>, found: &UserType, attributes: Vec<Attribute>) -> Result<()> {
    let next = UserType { kind: UserTypeKind::Composite(attributes), ..found.clone() };
    put(ddl, Some(found), next)
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

impl Ddl<'_> {
    /// 0A000 where a view names a field that is about to get another type, or where values that are stored depend on it; a
    /// column that holds such rows is told of elsewhere.
    pub(super) fn refuse_retyped(
        &mut self,
        (row_type, name): (Oid, &str),
        naming: &Dependents,
    ) -> Result<()> {
        for part in &naming.parts {
            match part.what {
                What::View(_) => {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        "cannot alter type of a column used by a view or rule",
                    )
                    .detail(format!(
                        "rule _RETURN on {} depends on column \"{name}\"",
                        part.shown
                    )));
                }
                What::Column(..) | What::Index(..) if used_by(self, row_type).is_none() => {
                    return Err(SqlError::unsupported(format!(
                        "changing the type of a field that {} names is",
                        part.shown
                    )));
                }
                _ => {}
            }
        }
        Ok(())
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

    /// Takes the comment on an attribute that goes; those behind it have other numbers from now on, and so have their
    /// comments.
    fn close_comments(&mut self, ty: Oid, gone: usize) -> Result<()> {
        let snapshot = self.snapshot();
        let Some(attributes) = snapshot.user_type(ty).and_then(|found| found.attributes()) else {
            return Ok(());
        };
        for at in gone..attributes.len() {
            let number = at as u32 + 1;
            let next = snapshot.comment(ty, number + 1).map(Arc::clone).map(Object::Comment);
            if next.is_some() || snapshot.comment(ty, number).is_some() {
                let key = ObjectKey { sub: number, ..self.catalog.key(Class::Comment, ty) };
                let before = snapshot.object(key);
                self.catalog.change(self.transaction, key, before.as_ref(), next)?;
            }
        }
        Ok(())
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
        let mut reshape = None;
        match change {
            AttributeChange::Add(AttributeElement { name, ty, collation }) => {
                if place(name).is_some() {
                    return Err(exists(name, &found));
                }
                super::create_table::columns_max(attributes.len() + 1)?;
                let dimensions = ty.dimensions;
                let ty = ddl.semantics.type_of(ddl.catalog.snapshot(), ty)?;
                column_type(name, ty)?;
                ddl.use_type(ty)?;
                let chosen = collation.as_ref();
                let collation = ddl.collation(ty, chosen).map_err(|error| match chosen {
                    Some(named) => error.at(ddl.semantics.position(named.at)),
                    None => error,
                })?;
                ddl.check_membership(found.oid, ty)?;
                attributes.push(Attribute { name: Arc::clone(name), ty, dimensions, collation });
                reshape = Some(Reshape::Add(ty));
            }
            AttributeChange::Drop { name, if_exists, cascade } => {
                let Some(at) = place(name) else {
                    let error = missing(name, &found);
                    if *if_exists {
                        let message = format!("{}, skipping", error.fields().message);
                        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                        continue;
                    }
                    return Err(error);
                };
                let what = format!("column {name} of composite type {}", ddl.display_type(&found));
                let dependents = loop {
                    let mut found_here = Dependents::default();
                    ddl.collect_field(found.oid, at, &what, &mut found_here);
                    if ddl.hold(&found_here, &[])? {
                        break found_here;
                    }
                };
                ddl.drop_dependents(&dependents, *cascade, &what)?;
                attributes.remove(at);
                ddl.close_comments(found.oid, at)?;
                reshape = Some(Reshape::Drop(at));
            }
            AttributeChange::Alter(AttributeElement { name, ty, collation }) => {
                let at = place(name).ok_or_else(|| missing(name, &found))?;
                let dimensions = ty.dimensions;
                let ty = ddl.semantics.type_of(ddl.catalog.snapshot(), ty);
                let ty = ty.map_err(SqlError::nowhere)?;
                column_type(name, ty)?;
                ddl.use_type(ty)?;
                let collation = ddl.collation(ty, collation.as_ref())?;
                if let Some((table, column)) = used_by(ddl, found.oid) {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!(
                            "cannot alter type \"{}\" because column \"{table}.{column}\" uses it",
                            found.name
                        ),
                    ));
                }
                let mut dependents = Dependents::default();
                ddl.collect_field(found.oid, at, "", &mut dependents);
                let mut parts = dependents.parts.iter();
                if let Some(view) = parts.find(|part| matches!(part.what, What::View(_))) {
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!(
                            "cannot alter type \"{}\" because rule _RETURN on {} uses it",
                            found.name, view.shown
                        ),
                    ));
                }
                ddl.refuse_retyped((found.oid, name), &dependents)?;
                ddl.check_membership(found.oid, ty)?;
                attributes[at] = Attribute { name: Arc::clone(name), ty, dimensions, collation };
            }
        }
        let before = ddl.snapshot();
        put_attributes(ddl, &found, attributes)?;
        if let Some(change) = reshape {
            ddl.reshape(&before, found.oid, &change)?;
        }
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
    let field = Edge::Relation(found.oid, at as i16 + 1);
    let users = before.depending(field).collect();
    ddl.put_reprinted(&before, &users, &|made| made.leads_to(field))
}

/// Drops an attribute because its type goes.
pub(super) fn drop_by_name(ddl: &mut Ddl<'_>, oid: Oid, name: &Ident) -> Result<()> {
    let key = ddl.catalog.key(Class::Type, oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let Some(found) = ddl.snapshot().user_type(oid).cloned() else { return Ok(()) };
    let mut attributes = found.attributes().unwrap_or_default().to_vec();
    let Some(at) = attributes.iter().position(|attribute| attribute.name == *name) else {
        return Ok(());
    };
    attributes.remove(at);
    ddl.close_comments(oid, at)?;
    let before = ddl.snapshot();
    put_attributes(ddl, &found, attributes)?;
    ddl.reshape(&before, oid, &Reshape::Drop(at))
}
