//! COMMENT ON.

use super::Ddl;
use super::resolve::{
    kind_noun, must_own, system_column_named, undefined_column, undefined_role, undefined_schema,
    undefined_table, wrong_kind,
};
use crate::bind::dml::{composite_type, index};
use crate::catalog::Named;
use crate::catalog::object::{Class, Comment as Stored, Object, ObjectKey, well_known};
use crate::catalog::relation::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Comment, CommentTarget, ObjectKind, ObjectName, OperatorPart};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::TableLock;

/// The class of functions.
const FUNCTION: u32 = 1255;

/// COMMENT ON.
///
/// # Errors
/// 42P01, 42704, 42703, 42501; 0A000 for kinds of objects of which there are none.
pub fn comment(ddl: &mut Ddl<'_>, comment: &Comment) -> Result<&'static str> {
    if comment.kind == ObjectKind::Database
        && ddl.snapshot().shared().database(comment.name.name()).is_none()
    {
        // A dump's comment may be restored into a database of another name.
        let message = format!("database \"{}\" does not exist", comment.name.name());
        ddl.notices.push(SqlError::warning(SqlState::INVALID_CATALOG_NAME, message));
        return Ok("COMMENT");
    }
    let (class, key) = target(ddl, comment)?;
    let object = comment.text.as_ref().filter(|text| !text.is_empty()).cloned();
    // What the system says of its own is hidden by nothing said of it.
    let own = class == Oid(FUNCTION) && key.oid.0 < well_known::FIRST_NORMAL;
    let object = object
        .or_else(|| own.then(|| "".into()))
        .map(|text| Object::Comment(Arc::new(Stored { class, text })));
    // The last word counts, whatever has been said before it.
    ddl.catalog.lock(ddl.transaction, key)?;
    let before = ddl.snapshot().object(key);
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), object)?;
    Ok("COMMENT")
}

fn split(name: &ObjectName) -> Option<(ObjectName, &Arc<str>)> {
    let (last, front) = name.parts.split_last()?;
    (!front.is_empty()).then(|| (ObjectName { parts: front.to_vec(), at: name.at }, last))
}

/// The system table that the object stands in, and the comment's key.
fn target(ddl: &mut Ddl<'_>, comment: &Comment) -> Result<(Oid, ObjectKey)> {
    let name = &comment.name;
    let missing = |what: &str| {
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{what} \"{name}\" does not exist"))
    };
    let shared = |oid| ObjectKey { class: Class::Comment, database: Oid(0), oid, sub: 0 };
    if let Some(target) = &comment.target {
        let (class, oid) = match target {
            CommentTarget::Operator(signature) => {
                (2617, super::operator::commented(ddl, signature)?)
            }
            CommentTarget::Cast(source, target) => {
                (2605, super::cast::commented(ddl, source, target)?)
            }
            CommentTarget::EventTrigger(name) => {
                (3466, super::event_trigger::owned(ddl, name)?.oid)
            }
            CommentTarget::Part(part, name, method) => {
                let class = if *part == OperatorPart::Class { 2616 } else { 2753 };
                (class, super::operator_class::commented(ddl, *part, name, method)?)
            }
            CommentTarget::Conversion(name) => (2607, super::conversion::commented(ddl, name)?),
        };
        return Ok((Oid(class), ddl.catalog.key(Class::Comment, oid)));
    }
    match comment.kind {
        ObjectKind::Table
        | ObjectKind::View
        | ObjectKind::MaterializedView
        | ObjectKind::Sequence => {
            let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
                let fits = kind_noun(relation) == comment.kind.words().to_ascii_lowercase();
                if !fits || matches!(named, Named::Index { .. }) {
                    return Err(wrong_kind(name.name(), comment.kind));
                }
                ddl.check_owner(relation)
            };
            let found = ddl.lock_checked(name, TableLock::ShareUpdateExclusive, &check)?;
            let (_, relation) = found.ok_or_else(|| undefined_table(name))?;
            Ok((well_known::PG_CLASS, ddl.catalog.key(Class::Comment, relation.oid)))
        }
        ObjectKind::Column => {
            let (table, name) = split(name).ok_or_else(|| missing("column"))?;
            let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
                let wrong = match (named, &relation.kind) {
                    (Named::Index { .. }, _) => "indexes",
                    (_, RelationKind::Sequence(_)) => "sequences",
                    _ => return check_owner_of_part(ddl, relation),
                };
                let table = table.name();
                Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("cannot set comment on relation \"{table}\""),
                )
                .detail(format!("This operation is not supported for {wrong}.")))
            };
            let found = ddl.lock_checked(&table, TableLock::ShareUpdateExclusive, &check)?;
            let (_, relation) = found.ok_or_else(|| undefined_table(&table))?;
            let number = match relation.column(name) {
                Some(at) => at as i16 + 1,
                None => {
                    let system = system_column_named(&relation, name);
                    system.ok_or_else(|| undefined_column(&relation, name))?.number
                }
            };
            // Numbers of the system's columns are below 0.
            let sub = i32::from(number) as u32;
            let key = ObjectKey { sub, ..ddl.catalog.key(Class::Comment, relation.oid) };
            Ok((well_known::PG_CLASS, key))
        }
        ObjectKind::Index => {
            let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| match named {
                Named::Relation(_) => Err(wrong_kind(&relation.name, comment.kind)),
                Named::Index { .. } => ddl.check_owner(relation),
            };
            let Some((_, index)) = ddl.lock_index(name, &check)? else {
                return Err(undefined_table(name));
            };
            Ok((well_known::PG_CLASS, ddl.catalog.key(Class::Comment, index)))
        }
        ObjectKind::Constraint => {
            let (table, name) = split(name).ok_or_else(|| missing("constraint"))?;
            let found = ddl.lock_named(&table, TableLock::ShareUpdateExclusive)?;
            let relation = match found {
                Some((Named::Relation(_), relation)) => relation,
                Some(_) => return Err(index(table.name())),
                None => return Err(undefined_table(&table)),
            };
            if matches!(relation.kind, RelationKind::Composite) {
                return Err(composite_type(&relation.name));
            }
            check_owner_of_part(ddl, &relation)?;
            let plain = relation.constraints.iter().find(|found| found.name == *name);
            let keys = relation.indexes.iter().filter_map(|index| index.constraint.as_ref());
            let oid = plain
                .map(|found| found.oid)
                .or_else(|| keys.into_iter().find(|key| key.1 == *name).map(|key| key.0));
            let oid = oid.ok_or_else(|| {
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("constraint \"{name}\" for table \"{}\" does not exist", relation.name),
                )
            })?;
            Ok((Oid(2606), ddl.catalog.key(Class::Comment, oid)))
        }
        ObjectKind::Trigger => {
            let (table, name) = split(name).ok_or_else(|| missing("trigger"))?;
            let found = ddl.lock_named(&table, TableLock::ShareUpdateExclusive)?;
            let relation = match found {
                Some((Named::Relation(_), relation)) => relation,
                Some(_) => return Err(index(table.name())),
                None => return Err(undefined_table(&table)),
            };
            check_owner_of_part(ddl, &relation)?;
            let found = ddl.trigger_named(&relation, name)?;
            Ok((Oid(2620), ddl.catalog.key(Class::Comment, found)))
        }
        ObjectKind::DomainConstraint => {
            let (domain, name) = split(name).ok_or_else(|| missing("constraint"))?;
            let check = super::domain::owned_check(ddl, &domain, name)?;
            Ok((Oid(2606), ddl.catalog.key(Class::Comment, check)))
        }
        ObjectKind::Schema => {
            let snapshot = ddl.snapshot();
            let found = snapshot.schema(name.name());
            found.ok_or_else(|| undefined_schema(name.name()))?;
            let schema = super::schema::owned_schema_beside(ddl, name.name())?;
            Ok((Oid(2615), ddl.catalog.key(Class::Comment, schema.oid)))
        }
        ObjectKind::Type | ObjectKind::Domain => {
            let found = super::user_type::owned_or_row(ddl, name, comment.kind)?;
            Ok((Oid(1247), ddl.catalog.key(Class::Comment, found)))
        }
        ObjectKind::Database => {
            let database = super::database::owned_database(ddl, name.name())?;
            Ok((Oid(1262), shared(database.oid)))
        }
        ObjectKind::Role => {
            let role = ddl.role(name.name()).map_err(|_| undefined_role(name.name()))?;
            super::role::check_may_comment(ddl, &role)?;
            Ok((Oid(1260), shared(role.oid)))
        }
        ObjectKind::Extension => {
            let found = super::extension::owned_extension(ddl, name.name())?;
            Ok((crate::catalog::extension::PG_EXTENSION, ddl.catalog.key(Class::Comment, found)))
        }
        ObjectKind::Function => {
            let told = |error| super::routine::told_as(error, comment.word);
            let found = super::routine::named(ddl, name, comment.arguments.as_ref());
            let Some(found) = found.map_err(told)? else {
                let found = super::privilege::function(ddl, name, comment.arguments.as_deref());
                let found = found.map_err(told)?;
                if !ddl.superuser() {
                    return Err(super::resolve::must_own("function", found.name));
                }
                return Ok((Oid(FUNCTION), ddl.catalog.key(Class::Comment, Oid(found.oid))));
            };
            super::routine::demand_called(ddl, &found, comment.word)?;
            super::routine::demand_owner(ddl, &found)?;
            Ok((Oid(FUNCTION), ddl.catalog.key(Class::Comment, found.oid)))
        }
        kind => Err(SqlError::unsupported(format!("COMMENT ON {} is", kind.words()))),
    }
}

/// 42501 as PostgreSQL words it for parts of relations.
fn check_owner_of_part(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<()> {
    ddl.check_owner(relation).map_err(|error| {
        if relation.oid.0 < well_known::FIRST_NORMAL {
            return error;
        }
        must_own("relation", &relation.name)
    })
}
