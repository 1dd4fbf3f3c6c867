//! What stands on functions and types, whatever its kind: kept, told of and dropped (`dependency.c`).
//!
//! Operators, casts and event triggers say themselves what they need; here is what DROP does about it, and the look-up of
//! the functions that they name.

use super::Ddl;
use super::dependency::{Dependents, SEVERAL};
use super::resolve::{dropped_meanwhile, undefined_schema};
use super::type_dependents::{Dependent, What};
use crate::catalog::attachment::{Attachment, OperatorOf, UserOperator};
use crate::catalog::builtin::{self, Kind};
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::object::well_known::FIRST_NORMAL;
use crate::catalog::object::{Class, Object};
use crate::catalog::operator_class::{OperatorFamily, UserOperatorClass};
use crate::catalog::quote::{identifier, qualified};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ObjectName, TypeName};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// A function that something is made of.
pub(super) struct Called {
    /// It.
    pub(super) oid: Oid,
    /// The type of its result.
    pub(super) result: Oid,
    /// The types of what it takes.
    pub(super) arguments: Vec<u32>,
    /// Whether it returns a set.
    pub(super) returns_set: bool,
    /// Whether it is a function, an aggregate or a procedure.
    pub(super) kind: Kind,
    /// Whether the user may call it.
    allowed: bool,
}

/// The function of a name that takes exactly these types (`LookupFuncName`), which the user may call.
///
/// # Errors
/// 3F000, 42883, 42501.
pub(super) fn function(ddl: &mut Ddl<'_>, name: &ObjectName, types: &[u32]) -> Result<Called> {
    let Some(found) = functions_named(ddl, name, Some(types))?.into_iter().next() else {
        let shown = types.iter().map(|ty| ddl.plain_type_shown(SqlType::plain(*ty)));
        let message =
            format!("function {name}({}) does not exist", shown.collect::<Vec<_>>().join(", "));
        return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message));
    };
    if !found.allowed {
        let message = format!("permission denied for function {name}");
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    Ok(found)
}

/// The function that a name and, where they are given, types mean (`LookupFuncWithArgs`).
///
/// # Errors
/// 3F000, 42883, 42725, 42704.
pub(super) fn function_of_name(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    types: Option<&[TypeName]>,
) -> Result<Called> {
    let types: Option<Vec<u32>> = types
        .map(|types| types.iter().map(|ty| Ok(type_named(ddl, ty)?.0)).collect::<Result<_>>())
        .transpose()?;
    let mut found = functions_named(ddl, name, types.as_deref())?;
    match (found.len(), types) {
        (0, Some(types)) => {
            let shown = types.iter().map(|ty| ddl.plain_type_shown(SqlType::plain(*ty)));
            let message =
                format!("function {name}({}) does not exist", shown.collect::<Vec<_>>().join(", "));
            Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
        }
        (0, None) => {
            let message = format!("could not find a function named \"{name}\"");
            Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
        }
        (2.., None) => {
            let message = format!("function name \"{name}\" is not unique");
            Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message)
                .hint("Specify the argument list to select the function unambiguously."))
        }
        _ => Ok(found.swap_remove(0)),
    }
}

/// The functions of a name, with these types if any are given, in the path's order.
fn functions_named(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    types: Option<&[u32]>,
) -> Result<Vec<Called>> {
    let snapshot = ddl.snapshot();
    let schemas = match name.schema() {
        Some(schema) => {
            vec![snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?.oid]
        }
        None => ddl.path().schemas,
    };
    let made = snapshot.routines_named(name.name());
    let made: Vec<_> = made.iter().map(|routine| routine.procedure()).collect();
    let built_in = builtin::functions_named(name.name()).iter().copied();
    let place = |schema: Oid| schemas.iter().position(|known| *known == schema);
    let mut found: Vec<_> = built_in
        .chain(&made)
        .filter(|found| types.is_none_or(|types| *found.arguments == *types))
        .filter_map(|found| Some((place(snapshot.function_schema(found)?)?, found)))
        .collect();
    found.sort_by_key(|(place, _)| *place);
    let called = |(_, found): (usize, &builtin::ProcedureOf<'_>)| Called {
        oid: Oid(found.oid),
        result: Oid(found.result),
        arguments: found.arguments.to_vec(),
        returns_set: found.returns_set,
        kind: found.kind,
        allowed: snapshot.may_call(ddl.user, found),
    };
    Ok(found.into_iter().map(called).collect())
}

/// A type that something is made of, by its name.
///
/// # Errors
/// 42704, 3F000.
pub(super) fn type_named(ddl: &mut Ddl<'_>, name: &TypeName) -> Result<Oid> {
    let snapshot = ddl.snapshot();
    let found = ddl.semantics.type_of(&snapshot, name).map_err(SqlError::nowhere)?;
    Ok(found.oid)
}

/// How messages name one of them.
pub(super) fn shown(ddl: &mut Ddl<'_>, one: &Attachment) -> String {
    match one {
        Attachment::Operator(operator) => {
            let snapshot = ddl.snapshot();
            let path = ddl.path().schemas;
            match snapshot.operator(operator.oid) {
                Some(found) => format!("operator {}", signature_shown(ddl, &path, &found)),
                None => format!("operator {}", operator.name),
            }
        }
        Attachment::Cast(cast) => {
            let from = ddl.plain_type_shown(SqlType::plain(cast.source.0));
            let to = ddl.plain_type_shown(SqlType::plain(cast.target.0));
            format!("cast from {from} to {to}")
        }
        Attachment::EventTrigger(trigger) => format!("event trigger {}", trigger.name),
        Attachment::Class(class) => {
            let name = placed(ddl, class.schema, &class.name);
            let method = super::operator_class::method_name(class.method);
            format!("operator class {name} for access method {method}")
        }
        Attachment::Family(family) => {
            let name = placed(ddl, family.schema, &family.name);
            let method = super::operator_class::method_name(family.method);
            format!("operator family {name} for access method {method}")
        }
        Attachment::Conversion(conversion) => {
            format!("conversion {}", placed(ddl, conversion.schema, &conversion.name))
        }
    }
}

/// A name with its schema where the path does not find it.
fn placed(ddl: &mut Ddl<'_>, schema: Oid, name: &str) -> String {
    let snapshot = ddl.snapshot();
    let hidden = !ddl.path().schemas.contains(&schema);
    match snapshot.schema_by_oid(schema).filter(|_| hidden) {
        Some(schema) => qualified(&schema.name, name),
        None => identifier(name),
    }
}

/// Holds the functions of a family's members, which those that add them have found.
///
/// # Errors
/// Those of locks; 42704 for what has gone.
pub(super) fn hold_members(ddl: &mut Ddl<'_>, one: &Attachment) -> Result<()> {
    let Attachment::Family(family) = one else { return Ok(()) };
    for member in family.members.iter().filter(|member| member.object.0 >= FIRST_NORMAL) {
        let class = if member.is_function { Class::Routine } else { Class::Operator };
        let key = ddl.catalog.key(class, member.object);
        ddl.catalog.hold(ddl.transaction, key)?;
        if ddl.snapshot().object(key).is_none() {
            let what = if member.is_function { "function" } else { "operator" };
            return Err(dropped_meanwhile(what));
        }
    }
    Ok(())
}

/// Takes a function or an operator that goes out of the families and classes that it is a member of.
///
/// # Errors
/// Those of the catalog.
pub(super) fn leave_families(ddl: &mut Ddl<'_>, object: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    for family in snapshot.operator_families() {
        if family.members.iter().any(|member| member.object == object) {
            let mut next = OperatorFamily::clone(family);
            next.members.retain(|member| member.object != object);
            put(ddl, &Attachment::Family(Arc::new(next)))?;
        }
    }
    for class in snapshot.user_operator_classes() {
        if class.members.iter().any(|member| member.object == object) {
            let mut next = UserOperatorClass::clone(class);
            next.members.retain(|member| member.object != object);
            put(ddl, &Attachment::Class(Arc::new(next)))?;
        }
    }
    Ok(())
}

/// The indexes that a class is named in, each with its table.
fn indexes_of_class(ddl: &mut Ddl<'_>, class: Oid) -> Vec<(Oid, Oid)> {
    let snapshot = ddl.snapshot();
    let all = snapshot.relations().flat_map(|relation| {
        let own = relation.indexes.iter().map(move |index| (relation.oid, index));
        own.filter(|(_, index)| index.columns.iter().any(|key| key.class == class))
            .map(|(relation, index)| (relation, index.oid))
    });
    all.collect()
}

fn signature_shown(ddl: &mut Ddl<'_>, path: &[Oid], found: &OperatorOf<'_>) -> String {
    let left = (found.left != 0).then(|| ddl.plain_type_shown(SqlType::plain(found.left)));
    let right = ddl.plain_type_shown(SqlType::plain(found.right));
    let name = ddl.snapshot().operator_name(path, found).into_owned();
    format!("{name}({},{right})", left.as_deref().unwrap_or("NONE"))
}

/// Holds the types and functions that one of them needs, which then stay.
///
/// # Errors
/// Those of locks; 42704 for what has gone.
pub(super) fn hold_needs(ddl: &mut Ddl<'_>, one: &Attachment) -> Result<()> {
    for edge in one.needs() {
        match edge {
            Edge::Type(ty) => ddl.hold_type(SqlType::plain(ty.0))?,
            Edge::Function(function) => {
                let key = ddl.catalog.key(Class::Routine, function);
                ddl.catalog.hold(ddl.transaction, key)?;
                if ddl.snapshot().routine(function).is_none() {
                    return Err(dropped_meanwhile("function"));
                }
            }
            Edge::Operator(operator) => {
                let key = ddl.catalog.key(Class::Operator, operator);
                ddl.catalog.hold(ddl.transaction, key)?;
                if ddl.snapshot().user_operator(operator).is_none() {
                    return Err(dropped_meanwhile("operator"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Keeps one of them, as a new one or in the place of what it was.
///
/// # Errors
/// Those of the catalog.
pub(super) fn put(ddl: &mut Ddl<'_>, next: &Attachment) -> Result<()> {
    let key = ddl.catalog.key(next.class(), next.oid());
    let before = ddl.snapshot().object(key);
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), Some(next.object()))
}

/// Takes one of them out of the catalog, with what COMMENT has said of it.
///
/// # Errors
/// Those of the catalog.
pub(super) fn remove(ddl: &mut Ddl<'_>, one: &Attachment) -> Result<()> {
    let key = ddl.catalog.key(one.class(), one.oid());
    let Some(before) = ddl.snapshot().object(key) else { return Ok(()) };
    if let Object::Operator(operator) = &before {
        unlink(ddl, operator)?;
        leave_families(ddl, operator.oid)?;
    }
    let before = ddl.snapshot().object(key);
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), None)?;
    ddl.remove_comments(&[one.oid()])
}

/// Others no longer name an operator that goes as their commutator or negator (`OperatorUpd`).
fn unlink(ddl: &mut Ddl<'_>, operator: &UserOperator) -> Result<()> {
    for other in [operator.commutator, operator.negator] {
        let Some(found) = ddl.snapshot().user_operator(other).cloned() else { continue };
        let mut next = UserOperator::clone(&found);
        for link in [&mut next.commutator, &mut next.negator] {
            if *link == operator.oid {
                *link = Oid(0);
            }
        }
        if other != operator.oid && next != *found {
            put(ddl, &Attachment::Operator(Arc::new(next)))?;
        }
    }
    Ok(())
}

/// Collects one of them that goes because `on` does, and what depends on it.
pub(super) fn collect(ddl: &mut Ddl<'_>, one: &Attachment, on: &str, into: &mut Dependents) {
    let known = |known: &Dependent| known.attached().is_some_and(|known| known.oid() == one.oid());
    if into.parts.iter().any(known) {
        return;
    }
    let shown = shown(ddl, one);
    into.lines.push((shown.clone(), on.to_owned()));
    let what = What::Attached(one.clone());
    into.parts.push(Dependent { shown: shown.clone(), on: on.to_owned(), what });
    // What a cast with a function is used in calls that function, and is told of as that.
    if !matches!(one, Attachment::Cast(_)) {
        collect_on(ddl, one, &shown, into);
    }
}

/// Collects what depends on one of them.
fn collect_on(ddl: &mut Ddl<'_>, one: &Attachment, shown: &str, into: &mut Dependents) {
    if let Attachment::Class(class) = one {
        for (table, index) in indexes_of_class(ddl, class.oid) {
            let name = ddl
                .snapshot()
                .index(index)
                .map(|(relation, index)| (relation.schema.0, index.name.to_string()));
            let Some((schema, name)) = name else { continue };
            let named = format!("index {}", placed(ddl, schema, &name));
            into.lines.push((named.clone(), shown.to_owned()));
            let what = What::Index(table, index);
            into.parts.push(Dependent { shown: named, on: shown.to_owned(), what });
        }
    }
    let Some(edge) = one.edge() else { return };
    let snapshot = ddl.snapshot();
    for other in snapshot.attached_to(edge) {
        collect(ddl, &other, shown, into);
    }
    let users = snapshot.depending(edge).collect();
    let names = |made: &Edges| made.leads_to(edge);
    ddl.collect_naming(&users, &names, &|_, _| false, (&[], &[]), shown, into);
}

/// Drops some of them, with what depends on them where CASCADE says so.
///
/// # Errors
/// 2BP01; those of what goes with them.
pub(super) fn drop_all(ddl: &mut Ddl<'_>, going: &[Attachment], cascade: bool) -> Result<()> {
    drop_of(ddl, going, &[], cascade)
}

/// The same, where what these roles own goes too, afterwards.
pub(super) fn drop_of(
    ddl: &mut Ddl<'_>,
    going: &[Attachment],
    owners: &[Oid],
    cascade: bool,
) -> Result<()> {
    let dependents = loop {
        let (mut dependents, mut starts) = (Dependents::default(), Vec::new());
        let snapshot = ddl.snapshot();
        for one in going {
            let key = ddl.catalog.key(one.class(), one.oid());
            ddl.catalog.lock(ddl.transaction, key)?;
            let shown = shown(ddl, one);
            starts.push(dependents.lines.len());
            collect_on(ddl, one, &shown, &mut dependents);
        }
        dependents.tell_last_first(&starts);
        let goes = |one: &Dependent| {
            one.attached().is_some_and(|one| going.iter().any(|going| going.oid() == one.oid()))
                || one.owner(&snapshot).is_some_and(|owner| owners.contains(&owner))
        };
        let told: Vec<String> =
            dependents.parts.iter().filter(|one| goes(one)).map(|one| one.shown.clone()).collect();
        dependents.lines.retain(|(shown, _)| !told.contains(shown));
        dependents.parts.retain(|one| !goes(one));
        let stay: Vec<Oid> = dependents.parts.iter().filter_map(Dependent::view).collect();
        dependents.views.retain(|view| owners.is_empty() || stay.contains(view));
        if ddl.hold(&dependents, &[])? {
            break dependents;
        }
    };
    // A family has been named without its classes.
    let what = match going {
        [one] | [one @ Attachment::Family(_), ..] if owners.is_empty() => shown(ddl, one),
        _ => SEVERAL.to_owned(),
    };
    ddl.drop_dependents(&dependents, cascade, &what)?;
    going.iter().try_for_each(|one| remove(ddl, one))
}

/// Those that roles own.
pub(super) fn owned_by(ddl: &mut Ddl<'_>, owners: &[Oid]) -> Vec<Attachment> {
    let owned = |one: &Attachment| one.owner().is_some_and(|owner| owners.contains(&owner));
    ddl.snapshot().attachments().filter(owned).collect()
}
