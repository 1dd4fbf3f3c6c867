//! CREATE TYPE, ALTER TYPE and DROP TYPE: enums and composite types.
//!
//! A type's object is locked while it is changed, and by whoever makes a column of it, so that no column is left
//! behind without its type.

use super::Ddl;
use super::dependency::Dependents;
use super::privilege::keep;
use super::rename::give_acl;
use super::resolve::{
    duplicate_relation, duplicate_there, duplicate_type, kind_noun, must_own, undefined_schema,
};
use super::type_dependents::{Dependent, depending, drop_all, is_of};
use crate::catalog::acl::Acl;
use crate::catalog::builtin;
use crate::catalog::definition::Edge;
use crate::catalog::object::{Class, Object, ObjectKey, Schema, well_known};
use crate::catalog::privilege::{Grantable, kept};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::temporary::across;
use crate::catalog::user_type::{Attribute, EnumLabel, STEP, UserType, UserTypeKind};
use crate::catalog::{CatalogSnapshot, Named};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterEnum, AttributeElement, ChangeOwner, CreateType, Drop, EnumChange, Ident, ObjectKind,
    ObjectName, Rename, RenamePart, SetSchema, TypeDefinition,
};
use crate::sqlstate::SqlState;
use crate::types::format_type;

use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The longest label.
const LABEL_BYTES_MAX: usize = 63;

/// CREATE TYPE.
///
/// # Errors
/// 42710, 42602, 42701, 42501 and so on.
pub fn create_type(ddl: &mut Ddl<'_>, create: &CreateType) -> Result<&'static str> {
    let composite = matches!(create.definition, TypeDefinition::Composite(_));
    let schema = match composite {
        true => ddl.creation_schema_for(&create.name, 'p')?,
        false => ddl.creation_schema(&create.name, 'p')?,
    };
    let name = create.name.name();
    check_name(ddl, &schema, name)?;
    let kind = match &create.definition {
        TypeDefinition::Enum(labels) => {
            let mut made: Vec<EnumLabel> = Vec::with_capacity(labels.len());
            for label in labels {
                check_label(label)?;
                if made.iter().any(|known| known.name == *label) {
                    return Err(SqlError::new(
                        SqlState::UNIQUE_VIOLATION,
                        "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"",
                    ));
                }
                let number = made.len() as i64 + 1;
                made.push(EnumLabel {
                    oid: ddl.catalog.next_oid()?,
                    position: number * STEP,
                    sort_order: number as f64,
                    name: Arc::clone(label),
                });
            }
            UserTypeKind::Enum(made)
        }
        TypeDefinition::Composite(attributes) => {
            super::create_table::columns_max(attributes.len())?;
            let mut made: Vec<Attribute> = Vec::with_capacity(attributes.len());
            for AttributeElement { name, ty, collation } in attributes {
                if made.iter().any(|known| known.name == *name) {
                    return Err(super::create_table::specified_twice(name));
                }
                let (setof, dimensions) = (ty.setof, ty.dimensions);
                let ty = ddl.semantics.type_of(ddl.catalog.snapshot(), ty);
                let ty = ty.map_err(SqlError::nowhere)?;
                if setof {
                    return Err(super::create_table::set_of(name));
                }
                super::create_table::column_type(name, ty)?;
                ddl.use_type(ty)?;
                let collation = ddl.collation(ty, collation.as_ref())?;
                made.push(Attribute { name: Arc::clone(name), ty, dimensions, collation });
            }
            UserTypeKind::Composite(made)
        }
    };
    if composite && ddl.snapshot().named(schema.oid, name).is_some() {
        return Err(duplicate_relation(name));
    }
    if !composite {
        ddl.hold_schema(&schema)?;
        ddl.owner_to_stay()?;
    }
    let counted = ddl.catalog.next_oid()?;
    let oid = match kind {
        UserTypeKind::Enum(_) => Oid(builtin::enum_oid(counted.0)),
        UserTypeKind::Composite(_) | UserTypeKind::Domain(_) => counted,
    };
    let owner = ddl.user;
    put_new(ddl, UserType { oid, schema: schema.oid, name: Arc::clone(name), owner, kind })?;
    Ok("CREATE TYPE")
}

fn check_label(label: &str) -> Result<()> {
    if label.len() <= LABEL_BYTES_MAX {
        return Ok(());
    }
    Err(SqlError::new(SqlState::INVALID_NAME, format!("invalid enum label \"{label}\""))
        .detail("Labels must be 63 bytes or less."))
}

/// Locks a name that a type is about to get, as one of a relation too: what has rows has a type of that name. 42710 if such
/// a type or another one has it; a type of arrays gives way.
pub(super) fn check_name(ddl: &mut Ddl<'_>, schema: &Schema, name: &str) -> Result<()> {
    ddl.catalog.lock_name(ddl.transaction, Class::Type, schema.oid, name)?;
    ddl.lock_relation_name(schema.oid, name)?;
    match ddl.snapshot().element_named(schema.oid, name) {
        Some(_) => Err(duplicate_type(name)),
        None => Ok(()),
    }
}

/// 42710 where a type that moves to a schema would be called there as another one is: itself, or the type of arrays over it.
/// Neither gives way.
pub(super) fn demand_free_there(
    ddl: &mut Ddl<'_>,
    (ty, name): (Oid, &str),
    schema: &Schema,
) -> Result<()> {
    let snapshot = ddl.snapshot();
    let taken = |name: &&str| snapshot.type_named(schema.oid, name).is_some();
    let arrays = snapshot.array_name(ty, name);
    let Some(taken) = [name, &arrays].into_iter().find(taken) else { return Ok(()) };
    let message = format!("type \"{taken}\" already exists in schema \"{}\"", schema.name);
    Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message))
}

pub(super) fn put(ddl: &mut Ddl<'_>, before: Option<&UserType>, ty: UserType) -> Result<()> {
    let key = ddl.catalog.key(Class::Type, ty.oid);
    let before = before.map(|before| Object::Type(Arc::new(before.clone())));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), Some(Object::Type(Arc::new(ty))))
}

/// Keeps a type that has just been made, with the privileges that ALTER DEFAULT PRIVILEGES wants for it.
pub(super) fn put_new(ddl: &mut Ddl<'_>, ty: UserType) -> Result<()> {
    let (oid, schema) = (ty.oid, ty.schema);
    put(ddl, None, ty)?;
    match ddl.default_acl(Grantable::Type, schema)? {
        Some(acl) => keep(ddl, (oid, kept::TYPE), None, Some(acl)),
        None => Ok(()),
    }
}

fn undefined(name: &ObjectName) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"))
}

pub(super) fn find(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Option<Arc<UserType>>> {
    let schema = ddl.searched_schema(name)?;
    let schemas = schema.map_or_else(|| ddl.path().schemas, |schema| vec![schema.oid]);
    let snapshot = ddl.snapshot();
    // The first schema that has a type of that name has it, whatever it is.
    let named = |schema: &Oid| {
        let built_in = builtin::type_by_name(schema.0, name.name()).map(|found| Oid(found.oid));
        built_in.or_else(|| snapshot.type_named(*schema, name.name()))
    };
    let found = schemas.iter().find_map(named);
    Ok(found.and_then(|oid| snapshot.user_type(oid)).cloned())
}

/// A type of that name, locked, which the current user owns.
pub(super) fn owned(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Arc<UserType>> {
    let found = locked(ddl, name, &|ddl, key| ddl.catalog.lock(ddl.transaction, key))?;
    demand_owner(ddl, &found)?;
    Ok(found)
}

/// 42501 for who does not own a type.
fn demand_owner(ddl: &mut Ddl<'_>, found: &UserType) -> Result<()> {
    if ddl.snapshot().owns(ddl.user, found.owner) {
        return Ok(());
    }
    Err(must_own("type", &ddl.type_shown(SqlType::plain(found.oid.0))))
}

/// The same for a change that matters to nobody who makes something of it: they are not waited for.
fn owned_beside(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Arc<UserType>> {
    let found = locked(ddl, name, &|ddl, key| ddl.catalog.lock_beside(ddl.transaction, key))?;
    demand_owner(ddl, &found)?;
    Ok(found)
}

/// A type of that name, locked, which the current user may drop: they own it, or the schema that it is in.
fn droppable(ddl: &mut Ddl<'_>, name: &ObjectName, kind: ObjectKind) -> Result<Arc<UserType>> {
    let found = locked(ddl, name, &|ddl, key| ddl.catalog.lock(ddl.transaction, key))?;
    if !ddl.owns_schema(found.schema) {
        demand_owner(ddl, &found)?;
    }
    if kind == ObjectKind::Domain && found.domain().is_none() {
        return Err(super::domain::no_domain(&found.name));
    }
    Ok(found)
}

fn locked(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    lock: &dyn Fn(&mut Ddl<'_>, ObjectKey) -> Result<()>,
) -> Result<Arc<UserType>> {
    let Some(found) = find(ddl, name)? else {
        return Err(match array_type(ddl, name)? {
            Some(array) => refused_array(ddl, array),
            None => undefined(name),
        });
    };
    let key = ddl.catalog.key(Class::Type, found.oid);
    lock(ddl, key)?;
    let found = find(ddl, name)?.ok_or_else(|| undefined(name))?;
    Ok(found)
}

/// The element of an array type.
fn element_of(array: Oid) -> Oid {
    builtin::element_type(array.0).map_or(array, Oid)
}

/// An array type by its own name.
fn array_type(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Option<Oid>> {
    let schema = ddl.searched_schema(name)?;
    let schemas = schema.map_or_else(|| ddl.path().schemas, |schema| vec![schema.oid]);
    let snapshot = ddl.snapshot();
    let named = |schema: &Oid| {
        let built_in = builtin::type_by_name(schema.0, name.name()).map(|found| Oid(found.oid));
        built_in.or_else(|| snapshot.type_named(*schema, name.name()))
    };
    let found = schemas.iter().find_map(named);
    Ok(found.filter(|ty| builtin::element_type(ty.0).is_some()))
}

/// 42809: nothing of an array type but its comment can be changed.
fn refused_array(ddl: &mut Ddl<'_>, array: Oid) -> SqlError {
    let shown = ddl.type_shown(SqlType::plain(array.0));
    let element = ddl.type_shown(SqlType::plain(element_of(array).0));
    let message = format!("cannot alter array type {shown}");
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
        .hint(format!("You can alter type {element}, which will alter the array type as well."))
}

/// 42501 for who does not own the element of an array type.
fn check_array_owner(ddl: &mut Ddl<'_>, array: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    if snapshot.owns(ddl.user, snapshot.type_owner(element_of(array))) {
        return Ok(());
    }
    Err(must_own("type", &ddl.type_shown(SqlType::plain(array.0))))
}

/// The OID of a type that COMMENT ON names, which the current user owns: a user's, or a table's row type.
pub(super) fn owned_or_row(ddl: &mut Ddl<'_>, name: &ObjectName, kind: ObjectKind) -> Result<Oid> {
    if find(ddl, name)?.is_none()
        && let Some(relation) = with_row_type(ddl, name)?
    {
        if kind == ObjectKind::Domain {
            return Err(super::domain::no_domain(&name.to_string()));
        }
        ddl.check_owner(&relation)?;
        return Ok(relation.row_type.0);
    }
    if kind != ObjectKind::Domain
        && find(ddl, name)?.is_none()
        && let Some(array) = array_type(ddl, name)?
    {
        check_array_owner(ddl, array)?;
        return Ok(array);
    }
    let found = owned_beside(ddl, name)?;
    if kind == ObjectKind::Domain && found.domain().is_none() {
        return Err(super::domain::no_domain(&name.to_string()));
    }
    Ok(found.oid)
}

/// The relation whose rows are of the type of this name, if it is a relation's.
fn with_row_type(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Option<Arc<Relation>>> {
    let Some(Named::Relation(oid)) = ddl.lookup(name)? else { return Ok(None) };
    let typed = |relation: &Arc<Relation>| {
        relation.row_type.0 != Oid(0) && !matches!(relation.kind, RelationKind::Sequence(_))
    };
    Ok(ddl.relation(oid).filter(typed))
}

/// Why a type that CREATE TYPE has not made is not dropped, if there is such a type: it is the system's, or a relation's.
fn refusal_to_drop(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Option<SqlError>> {
    let required =
        |message: String| Some(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
    let schema = ddl.searched_schema(name)?;
    let schemas = schema.map_or_else(|| ddl.path().schemas, |schema| vec![schema.oid]);
    let snapshot = ddl.snapshot();
    let named = |schema: &Oid| {
        builtin::type_by_name(schema.0, name.name()).or_else(|| {
            let member = snapshot.extension_type(*schema, name.name())?;
            builtin::type_by_oid(member.0)
        })
    };
    let relation = with_row_type(ddl, name)?;
    let built_in = schemas.iter().find_map(named);
    let own = built_in.map_or(well_known::SUPERUSER, |found| snapshot.type_owner(Oid(found.oid)));
    let owner = relation.as_ref().map_or(own, |relation| relation.owner);
    if (built_in.is_some() || relation.is_some()) && !ddl.snapshot().owns(ddl.user, owner) {
        let shown = built_in.map(|found| format_type(found.oid, None));
        return Err(must_own("type", shown.as_deref().unwrap_or(name.name())));
    }
    if let Some(found) = built_in {
        let extension = crate::catalog::extension::of_member(found.oid);
        if let Some(known) = extension.filter(|_| builtin::element_type(found.oid).is_none()) {
            let shown = format!("type {}", ddl.type_shown(SqlType::plain(found.oid)));
            return Ok(Some(super::extension::required(&shown, known.name)));
        }
        let shown = format_type(found.oid, None);
        return Ok(required(format!(
            "cannot drop type {shown} because it is required by the database system"
        )));
    }
    if let (None, Some(array)) = (&relation, array_type(ddl, name)?) {
        check_array_owner(ddl, array)?;
        let shown = ddl.type_shown(SqlType::plain(array.0));
        let element = ddl.type_shown(SqlType::plain(element_of(array).0));
        let refused =
            required(format!("cannot drop type {shown} because type {element} requires it"));
        return Ok(refused.map(|error| error.hint(format!("You can drop type {element} instead."))));
    }
    Ok(relation.and_then(|relation| {
        let (noun, shown) = (kind_noun(&relation), ddl.display(&relation));
        let refused =
            required(format!("cannot drop type {shown} because {noun} {shown} requires it"));
        refused.map(|error| error.hint(format!("You can drop {noun} {shown} instead.")))
    }))
}

/// As [`owned`]; 42809 where a domain is asked for and it is none.
fn of_kind(ddl: &mut Ddl<'_>, name: &ObjectName, kind: ObjectKind) -> Result<Arc<UserType>> {
    if kind == ObjectKind::Domain {
        return Ok(super::domain::owned_domain(ddl, name, true)?.0);
    }
    owned(ddl, name)
}

/// The relation whose rows are of the type of that name, if it is a relation's, and why ALTER TYPE and ALTER DOMAIN do not
/// change that.
pub(super) fn row_type_refusal(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    kind: ObjectKind,
) -> Result<Option<(Arc<Relation>, SqlError)>> {
    if find(ddl, name)?.is_some() {
        return Ok(None);
    }
    let Some(relation) = with_row_type(ddl, name)? else { return Ok(None) };
    let shown = ddl.type_shown(SqlType::plain(relation.row_type.0.0));
    let refused = |message| SqlError::new(SqlState::WRONG_OBJECT_TYPE, message);
    let error = match kind {
        ObjectKind::Domain => refused(format!("{shown} is not a domain")),
        _ => refused(format!("{shown} is a table's row type")).hint("Use ALTER TABLE instead."),
    };
    Ok(Some((relation, error)))
}

/// ALTER TYPE ... ADD VALUE, RENAME VALUE.
///
/// # Errors
/// 42704, 42710, 22023, 42809.
pub fn alter_enum(ddl: &mut Ddl<'_>, alter: &AlterEnum) -> Result<&'static str> {
    const TAG: &str = "ALTER TYPE";
    let no_enum =
        |shown: &str| SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("{shown} is not an enum"));
    if find(ddl, &alter.name)?.is_none() {
        let row = with_row_type(ddl, &alter.name)?.map(|relation| relation.row_type.0);
        if let Some(other) =
            row.map_or_else(|| array_type(ddl, &alter.name), |row| Ok(Some(row)))?
        {
            return Err(no_enum(&ddl.type_shown(SqlType::plain(other.0))));
        }
    }
    let found = match alter.change {
        // What is there keeps its place.
        EnumChange::Add { .. } => owned_beside(ddl, &alter.name)?,
        EnumChange::Rename { .. } => owned(ddl, &alter.name)?,
    };
    let UserTypeKind::Enum(labels) = &found.kind else {
        return Err(no_enum(&found.name));
    };
    let mut labels = labels.clone();
    let place =
        |labels: &[EnumLabel], name: &Ident| labels.iter().position(|label| label.name == *name);
    let missing = |name: &Ident| {
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("\"{name}\" is not an existing enum label"),
        )
    };
    let exists = |name: &Ident| format!("enum label \"{name}\" already exists");
    match &alter.change {
        EnumChange::Add { label, if_not_exists, neighbour } => {
            check_label(label)?;
            if place(&labels, label).is_some() {
                if *if_not_exists {
                    let message = format!("{}, skipping", exists(label));
                    ddl.notice(SqlState::DUPLICATE_OBJECT, message);
                    return Ok(TAG);
                }
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, exists(label)));
            }
            let at = match neighbour {
                None => labels.len(),
                Some((after, name)) => {
                    place(&labels, name).ok_or_else(|| missing(name))? + usize::from(*after)
                }
            };
            let position = between(&labels, at)?;
            let sort_order = f64::from(sort_order(&mut labels, at));
            let oid = ddl.catalog.next_oid()?;
            ddl.catalog.adds_label(oid);
            let name = Arc::clone(label);
            labels.insert(at, EnumLabel { oid, position, sort_order, name });
        }
        EnumChange::Rename { from, to } => {
            check_label(to)?;
            let at = place(&labels, from).ok_or_else(|| missing(from))?;
            if place(&labels, to).is_some() {
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, exists(to)));
            }
            labels[at].name = Arc::clone(to);
        }
    }
    let before = ddl.snapshot();
    let next = UserType { kind: UserTypeKind::Enum(labels), ..UserType::clone(&found) };
    put(ddl, Some(&found), next)?;
    if let EnumChange::Rename { .. } = &alter.change {
        let users = before.depending_on_type(found.oid);
        let own = |edge: &Edge| matches!(edge, Edge::Type(ty) if is_of(*ty, found.oid));
        ddl.put_reprinted(&before, &users, &|made| made.iter().any(own))?;
    }
    Ok(TAG)
}

/// How many labels in a row are told from one another: each takes half of what the one before it has left over.
const RUN_MAX: usize = 16;

/// The place of a new label at index `at`. Between two others it is in the middle; but labels that have come one behind the
/// other, each beside the last, are likely to go on so, and the more there are of them the less of the room between the last
/// one and its other neighbour goes to the next.
fn between(labels: &[EnumLabel], at: usize) -> Result<i64> {
    let (low, high) = match (at.checked_sub(1).map(|at| &labels[at]), labels.get(at)) {
        (None, None) => return Ok(STEP),
        (Some(last), None) => return Ok(last.position + STEP),
        (None, Some(first)) => return Ok(first.position - STEP),
        (Some(low), Some(high)) => (low.position, high.position),
    };
    let room = high - low;
    if room < 2 {
        return Err(SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            "too many enum labels between two others",
        ));
    }
    let mut newest: Vec<u32> = labels.iter().map(|label| label.oid.0).collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let run = |side: &mut dyn Iterator<Item = &EnumLabel>| {
        side.zip(&newest).take_while(|(label, oid)| label.oid.0 == **oid).count()
    };
    let rising = run(&mut labels[..at].iter().rev());
    let falling = run(&mut labels[at..].iter());
    let part = (room >> rising.max(falling).clamp(1, RUN_MAX)).max(1);
    Ok(if falling > 1 { high - part } else { low + part })
}

/// The `enumsortorder` of a new label at index `at`: where there is no number left between its neighbours all get new ones
/// (`AddEnumLabel`, `RenumberEnumType`).
fn sort_order(labels: &mut [EnumLabel], at: usize) -> f32 {
    let order = |label: &EnumLabel| label.sort_order as f32;
    match (at.checked_sub(1).map(|at| order(&labels[at])), labels.get(at).map(order)) {
        (None, None) => 1.0,
        (Some(last), None) => last + 1.0,
        (None, Some(first)) => first - 1.0,
        (Some(low), Some(high)) => {
            let middle = (low + high) / 2.0;
            if middle != low && middle != high {
                return middle;
            }
            for (label, number) in labels.iter_mut().zip(1u32..) {
                label.sort_order = f64::from(number);
            }
            at as f32 + 0.5
        }
    }
}

/// ALTER TYPE ... RENAME TO.
pub(super) fn rename_type(ddl: &mut Ddl<'_>, rename: &Rename) -> Result<()> {
    match &rename.part {
        Some(RenamePart::Constraint(from)) if rename.kind == ObjectKind::Domain => {
            return super::domain::rename_check(ddl, &rename.name, from, &rename.to);
        }
        // An attribute is a column, and columns of all relations have new names in this way, too.
        Some(RenamePart::Column(_)) => return super::rename::rename_relation(ddl, rename),
        Some(RenamePart::Constraint(_) | RenamePart::Trigger(_)) => {
            return Err(SqlError::unsupported("a constraint of a type is"));
        }
        None => {}
    }
    if let Some((relation, refused)) = row_type_refusal(ddl, &rename.name, rename.kind)? {
        if !ddl.snapshot().owns(ddl.user, relation.owner) {
            return Err(must_own("type", rename.name.name()));
        }
        return Err(refused);
    }
    let found = of_kind(ddl, &rename.name, rename.kind)?;
    let snapshot = ddl.snapshot();
    let schema = snapshot.schema_by_oid(found.schema).cloned();
    let schema = schema.ok_or_else(|| undefined_schema(""))?;
    if found.attributes().is_some() && ddl.lock_relation_name(schema.oid, &rename.to)? {
        return Err(duplicate_relation(&rename.to));
    }
    check_name(ddl, &schema, &rename.to)?;
    let next = UserType { name: Arc::clone(&rename.to), ..UserType::clone(&found) };
    put(ddl, Some(&found), next)?;
    put_named(ddl, &snapshot, found.oid)
}

/// Has bodies print a type as it is called now, which was called otherwise in `before`.
fn put_named(ddl: &mut Ddl<'_>, before: &CatalogSnapshot, ty: Oid) -> Result<()> {
    let users = before.depending_on_type(ty);
    let own = |edge: &Edge| matches!(edge, Edge::Type(named) if is_of(*named, ty));
    ddl.put_reprinted(before, &users, &|made| made.iter().any(own))
}

/// ALTER TYPE ... SET SCHEMA.
pub(super) fn move_type(ddl: &mut Ddl<'_>, set: &SetSchema) -> Result<()> {
    let target = |ddl: &mut Ddl<'_>| {
        let snapshot = ddl.snapshot();
        // The session need not have that schema yet.
        if &*set.schema == "pg_temp" && snapshot.temporary_schema().is_none() {
            return Err(across());
        }
        let schema = snapshot.schema(&set.schema).ok_or_else(|| undefined_schema(&set.schema))?;
        ddl.may_create_in(schema)?;
        Ok::<_, SqlError>(Arc::clone(schema))
    };
    if let Some((relation, refused)) = row_type_refusal(ddl, &set.name, set.kind)? {
        if set.kind != ObjectKind::Domain {
            target(ddl)?;
            ddl.check_owner(&relation)?;
        }
        return Err(refused);
    }
    let found = of_kind(ddl, &set.name, set.kind)?;
    let schema = &*target(ddl)?;
    let snapshot = ddl.snapshot();
    if schema.oid == found.schema {
        return Ok(());
    }
    let from = snapshot.schema_by_oid(found.schema);
    if schema.is_temporary() || from.is_some_and(|schema| schema.is_temporary()) {
        return Err(across());
    }
    ddl.catalog.lock_name(ddl.transaction, Class::Type, schema.oid, &found.name)?;
    let taken = ddl.lock_relation_name(schema.oid, &found.name)?;
    demand_free_there(ddl, (found.oid, &found.name), schema)?;
    if taken && found.attributes().is_some() {
        return Err(duplicate_there(&found.name, schema));
    }
    ddl.hold_schema(schema)?;
    let next = UserType { schema: schema.oid, ..UserType::clone(&found) };
    put(ddl, Some(&found), next)?;
    put_named(ddl, &snapshot, found.oid)
}

/// ALTER TYPE ... OWNER TO.
pub(super) fn give_type(ddl: &mut Ddl<'_>, change: &ChangeOwner) -> Result<()> {
    let owner = ddl.role_to_stay(&change.owner)?;
    if let Some((_, refused)) = row_type_refusal(ddl, &change.name, change.kind)? {
        return Err(refused);
    }
    let is_kind = |found: &UserType| change.kind != ObjectKind::Domain || found.domain().is_some();
    if find(ddl, &change.name)?.is_some_and(|found| is_kind(&found) && found.owner == owner.oid) {
        return Ok(());
    }
    let found = of_kind(ddl, &change.name, change.kind)?;
    ddl.may_give(&owner, found.schema)?;
    put_owner(ddl, &found, owner.oid)
}

/// Keeps a type's new owner, who has what the old one had in its list too.
pub(super) fn put_owner(ddl: &mut Ddl<'_>, ty: &UserType, owner: Oid) -> Result<()> {
    give_type_acl(ddl, ty.oid, ty.owner, owner)?;
    put(ddl, Some(ty), UserType { owner, ..ty.clone() })
}

/// In the list of a type, what the old owner had is the new owner's.
pub(super) fn give_type_acl(ddl: &mut Ddl<'_>, ty: Oid, from: Oid, to: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    let Some(before) = snapshot.acl(ty, kept::TYPE) else { return Ok(()) };
    let mut list = Some(Acl::clone(before));
    give_acl(&mut list, from, to);
    keep(ddl, (ty, kept::TYPE), Some(before), list)
}

/// DROP TYPE.
pub(super) fn drop_types(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<()> {
    let mut going: Vec<Arc<UserType>> = Vec::new();
    let mut refused = None;
    for name in &drop.names {
        let found = match find(ddl, name) {
            Err(error) if drop.if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => None,
            found => found?,
        };
        let other = match found {
            None => match refusal_to_drop(ddl, name) {
                Err(error) if drop.if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => {
                    None
                }
                refusal => refusal?,
            },
            Some(_) => None,
        };
        if let Some(other) = other {
            if drop.kind == ObjectKind::Domain {
                return Err(super::domain::no_domain(&name.to_string()));
            }
            refused.get_or_insert(other);
            continue;
        }
        if found.is_none() && drop.if_exists {
            let schema = name.schema().filter(|schema| ddl.snapshot().schema(schema).is_none());
            let message = match schema {
                Some(schema) => format!("schema \"{schema}\" does not exist, skipping"),
                None => format!("type \"{name}\" does not exist, skipping"),
            };
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        going.push(droppable(ddl, name, drop.kind)?);
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    let named: Vec<Oid> = going.iter().map(|ty| ty.oid).collect();
    let (told, dependents) = loop {
        let (mut told, mut starts, mut dependents) =
            (Dependents::default(), Vec::new(), Vec::new());
        for ty in &going {
            let from = dependents.len();
            starts.push(from);
            depending(ddl, ty, (&named, &[]), &mut dependents);
            let found = dependents[from..].iter();
            told.lines.extend(found.map(|one: &Dependent| (one.shown.clone(), one.on.clone())));
        }
        told.tell_last_first(&starts);
        if ddl.hold(&Dependents::default(), &dependents)? {
            break (told, dependents);
        }
    };
    if !dependents.is_empty() && !drop.cascade {
        let message = match going.as_slice() {
            [one] => {
                let shown = ddl.display_type(one);
                format!("cannot drop type {shown} because other objects depend on it")
            }
            _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        let lines: Vec<String> =
            told.lines.iter().map(|(thing, on)| format!("{thing} depends on {on}")).collect();
        return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(lines.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."));
    }
    ddl.tell_cascade(&told.lines.into_iter().map(|line| line.0).collect::<Vec<_>>());
    drop_all(ddl, dependents)?;
    for ty in going {
        remove(ddl, ty.oid)?;
    }
    Ok(())
}

/// Removes a type that nothing is of any more.
pub(super) fn remove(ddl: &mut Ddl<'_>, oid: Oid) -> Result<()> {
    ddl.remove_comments(&[oid])?;
    let snapshot = ddl.snapshot();
    let list = ObjectKey { sub: kept::TYPE, ..ddl.catalog.key(Class::Acl, oid) };
    ddl.catalog.remove(ddl.transaction, &snapshot, list)?;
    let key = ddl.catalog.key(Class::Type, oid);
    ddl.catalog.remove(ddl.transaction, &snapshot, key)
}

impl Ddl<'_> {
    /// A type's name as messages say it: qualified unless the search path finds it.
    pub(super) fn display_type(&mut self, ty: &UserType) -> String {
        let path = self.path();
        let visible = path.schemas.iter().find_map(|schema| {
            self.catalog.snapshot().type_in(*schema, &ty.name).map(|found| found.oid)
        });
        match self.catalog.snapshot().schema_by_oid(ty.schema) {
            Some(schema) if visible != Some(ty.oid) => {
                crate::catalog::quote::qualified(&schema.name, &ty.name)
            }
            _ => crate::catalog::quote::identifier(&ty.name),
        }
    }
}
