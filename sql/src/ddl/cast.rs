//! CREATE CAST and DROP CAST (`commands/functioncmds.c`).

use super::Ddl;
use super::attachment::{self, Called, function_of_name, type_named};
use super::resolve::must_own;
use crate::catalog::attachment::{Attachment, UserCast};
use crate::catalog::builtin::{self, CastContext, CastMethod, Kind, TypeKind};
use crate::catalog::object::Class;
use crate::error::{Result, SqlError};
use crate::parse::ast::{CastWay, CreateCast, DropCast, TypeName};
use crate::sqlstate::SqlState;
use crate::tuple::Form;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// Whether a value of one type is one of another as it is (`IsBinaryCoercible`).
fn is_binary_coercible(ddl: &mut Ddl<'_>, from: Oid, to: Oid) -> bool {
    let snapshot = ddl.snapshot();
    let same = from == to;
    let from = snapshot.base_type(SqlType::plain(from.0)).oid;
    let cast = snapshot.cast(from, to);
    same || from == to
        || to.0 == oids::ANY
        || cast.is_some_and(|cast| {
            cast.method == CastMethod::Binary && cast.context == CastContext::Implicit
        })
}

/// The type that a cast leads from or to.
fn side(ddl: &mut Ddl<'_>, what: &str, name: &TypeName) -> Result<Oid> {
    let ty = type_named(ddl, name)?;
    let pseudo = builtin::type_by_oid(ty.0).is_some_and(|ty| ty.kind == TypeKind::Pseudo);
    if pseudo {
        let message = format!("{what} data type {} is a pseudo-type", name.name.name());
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    Ok(ty)
}

/// 42501 for who owns neither type.
fn demand_one(ddl: &mut Ddl<'_>, source: Oid, target: Oid) -> Result<()> {
    let (snapshot, user) = (ddl.snapshot(), ddl.user);
    let owns = |ty: Oid| {
        let element = builtin::element_type(ty.0).map_or(ty, Oid);
        snapshot.shared().has_privileges_of(user, snapshot.type_owner(element))
    };
    if owns(source) || owns(target) {
        return Ok(());
    }
    let from = ddl.plain_type_shown(SqlType::plain(source.0));
    let to = ddl.plain_type_shown(SqlType::plain(target.0));
    Err(must_own("type", &format!("{from} or type {to}")))
}

/// CREATE CAST.
///
/// # Errors
/// 42704, 42809, 42501, 42883, 42P17, 42710; 0A000 for types that are held differently here.
pub fn create_cast(ddl: &mut Ddl<'_>, create: &CreateCast) -> Result<&'static str> {
    let source = side(ddl, "source", &create.source)?;
    let target = side(ddl, "target", &create.target)?;
    demand_one(ddl, source, target)?;
    ddl.demand_type_usage(SqlType::plain(source.0))?;
    ddl.demand_type_usage(SqlType::plain(target.0))?;
    let sides = [("source", source), ("target", target)];
    if let Some((what, _)) = sides.iter().find(|(_, ty)| ddl.snapshot().domain(*ty).is_some()) {
        let message = format!("cast will be ignored because the {what} data type is a domain");
        ddl.notices.push(SqlError::warning(SqlState::WRONG_OBJECT_TYPE, message));
    }
    let mut arguments = 0;
    let (function, method) = match &create.method {
        CastWay::Function(name, types) => {
            let called = function_of_name(ddl, name, types.as_deref())?;
            demand_cast_function(ddl, &called, source, target)?;
            arguments = called.arguments.len();
            (called.oid, b'f')
        }
        CastWay::InOut => (Oid(0), b'i'),
        CastWay::Binary => {
            demand_alike(ddl, source, target)?;
            (Oid(0), b'b')
        }
    };
    if source == target && arguments < 2 {
        return Err(invalid("source data type and target data type are the same"));
    }
    let text = format!("{source} {target}");
    ddl.catalog.lock_name(ddl.transaction, Class::Cast, Oid(0), &text)?;
    if ddl.snapshot().cast(source, target).is_some() {
        let from = ddl.plain_type_shown(SqlType::plain(source.0));
        let to = ddl.plain_type_shown(SqlType::plain(target.0));
        let message = format!("cast from type {from} to type {to} already exists");
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    let oid = ddl.catalog.next_oid()?;
    let context = create.context;
    let cast = UserCast { oid, source, target, function, context, method };
    let next = Attachment::Cast(Arc::new(cast));
    attachment::hold_needs(ddl, &next)?;
    attachment::put(ddl, &next)?;
    Ok("CREATE CAST")
}

/// What the function of a cast has to be like.
fn demand_cast_function(
    ddl: &mut Ddl<'_>,
    called: &Called,
    source: Oid,
    target: Oid,
) -> Result<()> {
    let given = &called.arguments;
    if !(1..=3).contains(&given.len()) {
        return Err(invalid("cast function must take one to three arguments"));
    }
    if !is_binary_coercible(ddl, source, Oid(given[0])) {
        return Err(invalid(
            "argument of cast function must match or be binary-coercible from source data type",
        ));
    }
    if given.get(1).is_some_and(|ty| *ty != oids::INT4) {
        return Err(invalid("second argument of cast function must be type integer"));
    }
    if given.get(2).is_some_and(|ty| *ty != oids::BOOL) {
        return Err(invalid("third argument of cast function must be type boolean"));
    }
    if !is_binary_coercible(ddl, called.result, target) {
        return Err(invalid(
            "return data type of cast function must match or be binary-coercible to target data type",
        ));
    }
    if called.kind != Kind::Function {
        return Err(invalid("cast function must be a normal function"));
    }
    if called.returns_set {
        return Err(invalid("cast function must not return a set"));
    }
    Ok(())
}

/// What types have to be like whose values are taken for one another.
fn demand_alike(ddl: &mut Ddl<'_>, source: Oid, target: Oid) -> Result<()> {
    if !ddl.superuser() {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            "must be superuser to create a cast WITHOUT FUNCTION",
        ));
    }
    let snapshot = ddl.snapshot();
    let either = |is: &dyn Fn(Oid) -> bool| is(source) || is(target);
    let layout = |ty: Oid| {
        let base = snapshot.base_type(SqlType::plain(ty.0)).oid;
        match builtin::type_by_oid(base.0) {
            Some(found) => (found.length, found.by_value, found.align),
            None if builtin::is_enum(base.0) => (4, true, 'i'),
            None => (-1, false, 'd'),
        }
    };
    if layout(source) != layout(target) {
        return Err(invalid("source and target data types are not physically compatible"));
    }
    let composite = |ty: Oid| {
        snapshot.row_type(ty).is_some_and(|relation| relation.row_type.0 == ty)
            || snapshot.user_type(ty).is_some_and(|found| found.attributes().is_some())
    };
    if either(&composite) {
        return Err(invalid("composite data types are not binary-compatible"));
    }
    if either(&|ty| builtin::is_enum(ty.0)) {
        return Err(invalid("enum data types are not binary-compatible"));
    }
    if either(&|ty| builtin::element_type(ty.0).is_some()) {
        return Err(invalid("array data types are not binary-compatible"));
    }
    if either(&|ty| builtin::is_domain(ty.0)) {
        return Err(invalid("domain data types must not be marked binary-compatible"));
    }
    if Form::of(source) != Form::of(target) {
        let what = "CREATE CAST WITHOUT FUNCTION between types that are held differently is";
        return Err(SqlError::unsupported(what));
    }
    Ok(())
}

/// The cast between two types that are named, if there is one.
fn find(
    ddl: &mut Ddl<'_>,
    source: &TypeName,
    target: &TypeName,
) -> Result<(Option<Arc<UserCast>>, String, bool)> {
    let (from, to) = (type_named(ddl, source)?, type_named(ddl, target)?);
    let snapshot = ddl.snapshot();
    let shown = [from, to].map(|ty| ddl.plain_type_shown(SqlType::plain(ty.0)));
    let [shown_from, shown_to] = &shown;
    let message = format!("cast from type {shown_from} to type {shown_to}");
    let found = snapshot.user_cast(from, to).cloned();
    let built_in = found.is_none() && snapshot.cast(from, to).is_some();
    if found.is_some() || built_in {
        demand_one(ddl, from, to)?;
    }
    Ok((found, message, built_in))
}

fn undefined(shown: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{shown} does not exist"))
}

/// DROP CAST.
///
/// # Errors
/// 42704, 42501, 2BP01.
pub fn drop_cast(ddl: &mut Ddl<'_>, drop: &DropCast) -> Result<&'static str> {
    if drop.if_exists {
        let snapshot = ddl.snapshot();
        for ty in [&drop.source, &drop.target] {
            let schema = ty.name.schema().filter(|schema| snapshot.schema(schema).is_none());
            let missing = match schema {
                Some(schema) => Some(format!("schema \"{schema}\"")),
                None => {
                    let known = ddl.semantics.type_of(&snapshot, ty).is_ok();
                    (!known).then(|| format!("type \"{}\"", ty.name))
                }
            };
            if let Some(missing) = missing {
                let message = format!("{missing} does not exist, skipping");
                ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok("DROP CAST");
            }
        }
    }
    let (found, shown, built_in) = find(ddl, &drop.source, &drop.target)?;
    let Some(found) = found else {
        if built_in {
            let message = format!(
                "cannot drop {} because it is required by the database system",
                shown.replacen("from type ", "from ", 1).replacen(" to type ", " to ", 1)
            );
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        if drop.if_exists {
            let message = format!(
                "cast from type {} to type {} does not exist, skipping",
                drop.source.name, drop.target.name
            );
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok("DROP CAST");
        }
        return Err(undefined(&shown));
    };
    attachment::drop_all(ddl, &[Attachment::Cast(found)], drop.cascade)?;
    Ok("DROP CAST")
}

/// The OID of the cast that COMMENT names.
///
/// # Errors
/// 42704, 42501; 0A000 for one that is built in.
pub(super) fn commented(ddl: &mut Ddl<'_>, source: &TypeName, target: &TypeName) -> Result<Oid> {
    let (found, shown, built_in) = find(ddl, source, target)?;
    match found {
        Some(found) => Ok(found.oid),
        None if built_in => Err(SqlError::unsupported("COMMENT ON CAST of a built-in cast is")),
        None => Err(undefined(&shown)),
    }
}
