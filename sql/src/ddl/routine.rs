//! CREATE, ALTER and DROP of functions and procedures (`commands/functioncmds.c`).
//!
//! A routine's name and the types of what callers give are locked together while it is made, so that there is one of each.

use super::Ddl;
use super::attachment;
use super::dependency::{Dependents, SEVERAL};
use super::kept_settings;
use super::rename::give_acl;
use super::resolve::{must_own, undefined_schema};
use super::routine_options::{INTERNAL, Options};
use super::type_dependents::{Dependent, What};
use crate::bind::routine_body::Parameters;
use crate::bind::type_name::oid;
use crate::catalog::acl::Acl;
use crate::catalog::builtin;
use crate::catalog::definition::{Definition, Edge, Edges};
use crate::catalog::object::{Class, Object, ObjectKey, Schema, SettingList};
use crate::catalog::privilege::{Grantable, kept};
use crate::catalog::routine::{self, Parameter, Routine, SQL};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterRoutine, CreateRoutine, ObjectName, ParameterMode, Returns, RoutineArguments,
    RoutineChange, StandardBody, TypeName,
};
use crate::sqlstate::SqlState;
use crate::types::type_name::format_type;
use crate::types::{Oid, SqlType, oids};
use std::collections::BTreeSet;
use std::sync::Arc;

/// `trigger`.
pub const TRIGGER: u32 = 2279;
/// `event_trigger`.
pub const EVENT_TRIGGER: u32 = 3838;

pub(super) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
}

/// The parameters and the result.
pub(super) struct Signature {
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: Oid,
    pub(super) returns_set: bool,
}

fn type_of(ddl: &mut Ddl<'_>, ty: &TypeName) -> Result<SqlType> {
    let snapshot = ddl.snapshot();
    let found = ddl.semantics.type_of(&snapshot, ty)?;
    ddl.use_type(found)?;
    if ty.of_column {
        let shown = ddl.plain_type_shown(found);
        let message = format!("type reference {}%TYPE converted to {shown}", ty.name);
        ddl.notices.push(SqlError::notice(message));
    }
    Ok(SqlType { typmod: -1, ..found })
}

/// 42P13 where no argument says what a polymorphic result is (`check_valid_polymorphic_signature`).
fn demand_determined(result: u32, parameters: &[Parameter]) -> Result<()> {
    const SIMPLE: [u32; 4] = [oid::ANYELEMENT, oid::ANYARRAY, oid::ANYNONARRAY, oid::ANYENUM];
    const RANGES: [u32; 2] = [oid::ANYRANGE, oid::ANYMULTIRANGE];
    const COMPATIBLE: [u32; 3] =
        [oid::ANYCOMPATIBLE, oid::ANYCOMPATIBLEARRAY, oid::ANYCOMPATIBLENONARRAY];
    const COMPATIBLE_RANGES: [u32; 2] = [oid::ANYCOMPATIBLERANGE, oid::ANYCOMPATIBLEMULTIRANGE];
    let (families, named): (&[&[u32]], &str) = match result {
        ty if RANGES.contains(&ty) => (&[&RANGES], "anyrange or anymultirange"),
        ty if COMPATIBLE_RANGES.contains(&ty) => {
            (&[&COMPATIBLE_RANGES], "anycompatiblerange or anycompatiblemultirange")
        }
        ty if SIMPLE.contains(&ty) => (
            &[&SIMPLE, &RANGES],
            "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
        ),
        ty if COMPATIBLE.contains(&ty) => (
            &[&COMPATIBLE, &COMPATIBLE_RANGES],
            "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange",
        ),
        _ => return Ok(()),
    };
    let mut inputs = parameters.iter().filter(|one| one.is_input());
    if inputs.any(|one| families.iter().any(|family| family.contains(&one.ty.0))) {
        return Ok(());
    }
    let shown = format_type(result, None);
    Err(invalid("cannot determine result data type")
        .detail(format!("A result of type {shown} requires at least one input of type {named}.")))
}

pub(super) fn signature(ddl: &mut Ddl<'_>, create: &CreateRoutine) -> Result<Signature> {
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut had_default = false;
    for one in &create.parameters {
        let ty = type_of(ddl, &one.ty).map_err(|error| {
            if error.state() != SqlState::UNDEFINED_OBJECT {
                return error;
            }
            let message = format!("type {} does not exist", one.ty.name.parts.join("."));
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        })?;
        if one.ty.setof {
            return Err(invalid("functions cannot accept set arguments"));
        }
        let mode = match one.mode {
            ParameterMode::In => b'i',
            ParameterMode::Out => b'o',
            ParameterMode::InOut => b'b',
            ParameterMode::Variadic => b'v',
        };
        let is_input = mode != b'o';
        if let Some(before) = parameters.last()
            && before.mode == b'v'
            && is_input
        {
            return Err(invalid("VARIADIC parameter must be the last input parameter"));
        }
        if create.procedure && parameters.last().is_some_and(|before| before.mode == b'v') {
            return Err(invalid("VARIADIC parameter must be the last parameter"));
        }
        if create.procedure && mode == b'o' && had_default {
            return Err(invalid(
                "procedure OUT parameters cannot appear after one with a default value",
            ));
        }
        if mode == b'v'
            && builtin::element_type(ty.oid.0).is_none()
            && ![oids::ANY, oids::ANYARRAY, 5078].contains(&ty.oid.0)
        {
            return Err(invalid("VARIADIC parameter must be an array"));
        }
        let default = match &one.default {
            None => {
                if had_default && is_input {
                    return Err(invalid(
                        "input parameters after one with a default value must also have defaults",
                    ));
                }
                None
            }
            Some(_) if !is_input => {
                return Err(invalid("only input parameters can have default values"));
            }
            Some(value) => {
                had_default = true;
                let snapshot = ddl.snapshot();
                let kept = ddl.semantics.parameter_default(&snapshot, ty, value)?;
                ddl.hold_named(kept.edges())?;
                Some(kept)
            }
        };
        let name: Arc<str> = one.name.clone().unwrap_or_default();
        // What only goes in may be called as what only comes out.
        let (goes_in, comes_out) = (|mode| matches!(mode, b'i' | b'v'), |mode| mode == b'o');
        let taken = parameters.iter().any(|known| {
            let apart =
                goes_in(known.mode) && comes_out(mode) || comes_out(known.mode) && goes_in(mode);
            !name.is_empty() && known.name == name && !apart
        });
        if taken {
            return Err(invalid(format!("parameter name \"{name}\" used more than once")));
        }
        parameters.push(Parameter { name, mode, ty: ty.oid, default });
    }
    let outputs: Vec<Oid> =
        parameters.iter().filter(|one| one.is_output()).map(|one| one.ty).collect();
    let of_outputs = match outputs.as_slice() {
        [] => None,
        [one] => Some(*one),
        _ => Some(Oid(oids::RECORD)),
    };
    let (result, returns_set) = match &create.returns {
        None if create.procedure => {
            let result = if outputs.is_empty() { Oid(oids::VOID) } else { Oid(oids::RECORD) };
            (result, false)
        }
        None => {
            let result =
                of_outputs.ok_or_else(|| invalid("function result type must be specified"))?;
            (result, false)
        }
        Some(Returns::Type(ty)) => {
            let found = type_of(ddl, ty).map_err(SqlError::nowhere)?.oid;
            if let Some(wanted) = of_outputs
                && wanted != found
            {
                let shown = format_type(wanted.0, None);
                return Err(invalid(format!(
                    "function result type must be {shown} because of OUT parameters"
                )));
            }
            (found, ty.setof)
        }
        Some(Returns::Table(columns)) => {
            if !outputs.is_empty() {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "OUT and INOUT arguments aren't allowed in TABLE functions",
                ));
            }
            let mut types = Vec::new();
            for (name, ty) in columns {
                let ty = type_of(ddl, ty)?.oid;
                if parameters.iter().any(|known| known.mode == b't' && known.name == *name) {
                    return Err(invalid(format!("parameter name \"{name}\" used more than once")));
                }
                types.push(ty);
                let (name, default) = (Arc::clone(name), None);
                parameters.push(Parameter { name, mode: b't', ty, default });
            }
            match types.as_slice() {
                [one] => (*one, true),
                _ => (Oid(oids::RECORD), true),
            }
        }
    };
    let outputs = parameters.iter().filter(|one| one.is_output()).map(|one| one.ty.0);
    for ty in outputs.chain([result.0]) {
        demand_determined(ty, &parameters)?;
    }
    Ok(Signature { parameters, result, returns_set })
}

/// 42501 for LEAKPROOF by who is no superuser.
fn demand_trusted(ddl: &mut Ddl<'_>, leakproof: Option<bool>) -> Result<()> {
    if leakproof == Some(true) && !ddl.superuser() {
        let message = "only superuser can define a leakproof function";
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    Ok(())
}

/// Makes a routine, or makes one anew; what it was before, and what it is.
///
/// # Errors
/// 42723, 42P13, 42704, 3F000, 42501 and so on.
pub fn create_routine(ddl: &mut Ddl<'_>, create: &CreateRoutine) -> Result<Arc<Routine>> {
    let schema = ddl.creation_schema(&create.name, 'p')?;
    let name = create.name.name();
    let options = Options::of(ddl, &create.options, create.procedure)?;
    let language = match options.language {
        None if options.standard.is_some() => SQL,
        language => language.ok_or_else(|| invalid("no language specified"))?,
    };
    super::language::demand_usable(ddl, language)?;
    let Signature { parameters, result, returns_set } = signature(ddl, create)?;
    if options.body.is_some() && options.standard.is_some() {
        return Err(invalid("duplicate function body specified"));
    }
    if options.standard.is_some() && language != SQL {
        return Err(invalid("inline SQL function body only valid for language SQL"));
    }
    if options.body.is_none() && options.standard.is_none() {
        return Err(invalid("no function body specified"));
    }
    let body = options.body.unwrap_or_default();
    let pseudo = |ty: u32| language != routine::INTERNAL && [INTERNAL, oids::CSTRING].contains(&ty);
    if pseudo(result.0) || parameters.iter().any(|one| pseudo(one.ty.0)) {
        let shown = if language == SQL { "SQL" } else { "PL/pgSQL" };
        return Err(invalid(format!("{shown} functions cannot return or accept this type")));
    }
    if language == routine::INTERNAL {
        demand_code(&body, &parameters, result.0)?;
    }
    if [TRIGGER, EVENT_TRIGGER].contains(&result.0) && language == SQL {
        let shown = format_type(result.0, None);
        return Err(invalid(format!("SQL functions cannot return type {shown}")));
    }
    if options.rows.is_some() && !returns_set {
        let message = "ROWS is not applicable when function does not return a set";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    demand_trusted(ddl, options.leakproof)?;
    if options.support.is_some() && !ddl.superuser() {
        let message = "must be superuser to specify a support function";
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    let mut settings = SettingList::new();
    for change in &options.settings {
        kept_settings::apply(ddl, &mut settings, change)?;
    }
    let mut next = Routine {
        oid: Oid(0),
        schema: schema.oid,
        name: Arc::clone(name),
        owner: ddl.user,
        language,
        procedure: create.procedure,
        volatility: options.volatility.unwrap_or(b'v'),
        strict: options.strict.unwrap_or(false),
        security_definer: options.security_definer.unwrap_or(false),
        leakproof: options.leakproof.unwrap_or(false),
        parallel: options.parallel.unwrap_or(b'u'),
        cost: options.cost.unwrap_or(if language == routine::INTERNAL { 1.0 } else { 100.0 }),
        rows: options.rows.unwrap_or(if returns_set { 1000.0 } else { 0.0 }),
        returns_set,
        result,
        parameters,
        settings,
        body,
        support: options.support.unwrap_or(Oid(0)),
        standard: None,
        aggregate: None,
    };
    if let Some(body) = &options.standard {
        next.standard = Some(standard_body(ddl, body, &next)?);
    }
    keep(ddl, next, &schema, create.replace)
}

/// 42883 where the server has no code of this name (`fmgr_internal_validator`); 0A000 where the code is of other types than
/// the function, whose values it would take for its own.
fn demand_code(code: &str, parameters: &[Parameter], result: u32) -> Result<()> {
    if builtin::functions_of_code(code).next().is_none() {
        return Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("there is no built-in function named \"{code}\""),
        ));
    }
    let types: Vec<u32> =
        parameters.iter().filter(|one| one.is_input()).map(|one| one.ty.0).collect();
    match routine::code_of(code, &types, result) {
        None => Err(SqlError::unsupported(format!(
            "a function in the language internal over other types than those of {code} is"
        ))),
        Some(_) => Ok(()),
    }
}

/// The body of a routine in the standard's form, bound while what it depends on is held.
fn standard_body(ddl: &mut Ddl<'_>, body: &StandardBody, routine: &Routine) -> Result<Definition> {
    let polymorphic =
        |parameter: &Parameter| parameter.is_input() && crate::bind::is_polymorphic(parameter.ty.0);
    if routine.parameters.iter().any(polymorphic) {
        return Err(invalid(
            "SQL function with unquoted function body cannot have polymorphic arguments",
        ));
    }
    let parameters = Parameters::of(routine);
    loop {
        let snapshot = ddl.snapshot();
        let kept = ddl.semantics.routine_body(&snapshot, body, &parameters)?;
        ddl.hold_named(kept.edges())?;
        if ddl.snapshot().version() == snapshot.version() {
            return Ok(kept);
        }
    }
}

/// Keeps a routine under its name and the types of what callers give, as a new one or in the place of another.
///
/// # Errors
/// 42723, 42809, 42P13, 42501.
pub(super) fn keep(
    ddl: &mut Ddl<'_>,
    mut next: Routine,
    schema: &Schema,
    replace: bool,
) -> Result<Arc<Routine>> {
    let (name, inputs) = (Arc::clone(&next.name), next.input_types());
    ddl.catalog.lock_name(
        ddl.transaction,
        Class::Routine,
        schema.oid,
        &key_text(&name, &inputs),
    )?;
    let known = find(ddl, schema.oid, &name, &inputs);
    match &known {
        None => {
            ddl.hold_schema(schema)?;
            ddl.owner_to_stay()?;
            next.oid = ddl.catalog.next_oid()?;
            if let Some(acl) = ddl.default_acl(Grantable::Function, schema.oid)? {
                super::privilege::keep(ddl, (next.oid, kept::FUNCTION), None, Some(acl))?;
            }
        }
        Some(known) => {
            if !replace {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_FUNCTION,
                    format!("function \"{name}\" already exists with same argument types"),
                ));
            }
            if !owns(ddl, known) {
                return Err(must_own(noun_of(known), &name));
            }
            demand_replaceable(known, &next)?;
            (next.oid, next.owner) = (known.oid, known.owner);
        }
    }
    put(ddl, known, next)
}

/// What a replaced routine may not change.
fn demand_replaceable(known: &Routine, next: &Routine) -> Result<()> {
    let drop_first = || {
        let types: Vec<String> =
            known.input_types().iter().map(|ty| format_type(*ty, None)).collect();
        let word = noun_of(known).to_ascii_uppercase();
        format!("Use DROP {word} {}({}) first.", known.name, types.join(","))
    };
    let kind = |routine: &Routine| routine.aggregate.as_ref().map(|aggregate| aggregate.kind);
    if noun_of(known) != noun_of(next) || kind(known) != kind(next) {
        let is = match noun_of(known) {
            "aggregate" if noun_of(next) == "aggregate" => match kind(known) {
                Some(b'o') => "an ordered-set aggregate",
                Some(b'h') => "a hypothetical-set aggregate",
                _ => "an ordinary aggregate function",
            },
            "aggregate" => "an aggregate function",
            "procedure" => "a procedure",
            _ => "a function",
        };
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "cannot change routine kind")
            .detail(format!("\"{}\" is {is}.", known.name)));
    }
    if known.result != next.result || known.returns_set != next.returns_set {
        return Err(invalid("cannot change return type of existing function").hint(drop_first()));
    }
    let outputs = |routine: &Routine| -> Vec<(Arc<str>, Oid)> {
        let all = routine.parameters.iter().filter(|one| one.is_output());
        all.map(|one| (Arc::clone(&one.name), one.ty)).collect()
    };
    if known.result == Oid(oids::RECORD) && outputs(known) != outputs(next) {
        return Err(invalid("cannot change return type of existing function")
            .detail("Row type defined by OUT parameters is different.")
            .hint(drop_first()));
    }
    for (old, new) in known.inputs().zip(next.inputs()) {
        if !old.name.is_empty() && old.name != new.name {
            return Err(invalid(format!("cannot change name of input parameter \"{}\"", old.name))
                .hint(drop_first()));
        }
    }
    let defaults = |routine: &Routine| {
        routine.inputs().filter(|parameter| parameter.default.is_some()).count()
    };
    if defaults(next) < defaults(known) {
        return Err(
            invalid("cannot remove parameter defaults from existing function").hint(drop_first())
        );
    }
    Ok(())
}

fn key_text(name: &str, inputs: &[u32]) -> String {
    let types: Vec<String> = inputs.iter().map(u32::to_string).collect();
    format!("{name}({})", types.join(","))
}

pub(super) fn noun_of(routine: &Routine) -> &'static str {
    match (&routine.aggregate, routine.procedure) {
        (Some(_), _) => "aggregate",
        (None, true) => "procedure",
        (None, false) => "function",
    }
}

/// 42501 for those who do not own a routine.
pub(super) fn demand_owner(ddl: &mut Ddl<'_>, routine: &Routine) -> Result<()> {
    if owns(ddl, routine) {
        return Ok(());
    }
    Err(must_own(noun_of(routine), &routine.name))
}

fn owns(ddl: &mut Ddl<'_>, routine: &Routine) -> bool {
    let user = ddl.user;
    ddl.snapshot().shared().has_privileges_of(user, routine.owner)
}

pub(super) fn put(
    ddl: &mut Ddl<'_>,
    known: Option<Arc<Routine>>,
    next: Routine,
) -> Result<Arc<Routine>> {
    let key = ddl.catalog.key(Class::Routine, next.oid);
    let next = Arc::new(next);
    let before = known.map(Object::Routine);
    ddl.catalog.change(
        ddl.transaction,
        key,
        before.as_ref(),
        Some(Object::Routine(Arc::clone(&next))),
    )?;
    Ok(next)
}

/// The routine of a schema with this name and these types.
fn find(ddl: &mut Ddl<'_>, schema: Oid, name: &str, inputs: &[u32]) -> Option<Arc<Routine>> {
    let snapshot = ddl.snapshot();
    let mut named = snapshot.routines_named(name).into_iter();
    named.find(|known| known.schema == schema && known.input_types() == inputs)
}

/// The routine that a name and, where they were given, types mean; none if no user has made such a one.
///
/// # Errors
/// 42704, 3F000; 42725 for one of several.
pub(super) fn named(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    arguments: Option<&RoutineArguments>,
) -> Result<Option<Arc<Routine>>> {
    let snapshot = ddl.snapshot();
    let schemas: Vec<Oid> = match name.schema() {
        Some(schema) => {
            vec![snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?.oid]
        }
        None => ddl.path().schemas,
    };
    let mut wanted = None;
    if let Some(types) = arguments {
        let mut all = Vec::with_capacity(types.len());
        for ty in types.iter() {
            match ddl.semantics.type_of(&snapshot, ty) {
                Ok(found) => all.push(found.oid.0),
                Err(_) => return Ok(None),
            }
        }
        wanted = Some(all);
    }
    let mut found: Vec<Arc<Routine>> = snapshot
        .routines_named(name.name())
        .into_iter()
        .filter(|known| schemas.contains(&known.schema))
        .filter(|known| name.schema().is_some() || !snapshot.is_temporary_schema(known.schema))
        .collect();
    found.sort_by_key(|known| schemas.iter().position(|schema| *schema == known.schema));
    let several = || {
        let message = format!("function name \"{name}\" is not unique");
        SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message)
    };
    let Some(wanted) = wanted else {
        let mut built_in = builtin::functions_named(name.name()).iter();
        let built_in = name.schema().is_none() && built_in.any(|one| one.extension.is_none());
        return match &found[..] {
            [] => Ok(None),
            [_] if !built_in => Ok(found.pop()),
            _ => {
                Err(several()
                    .hint("Specify the argument list to select the function unambiguously."))
            }
        };
    };
    // Of a procedure they may be the types of all its parameters, too, where none is said to go in or out.
    let may_be_all = arguments.is_some_and(|arguments| !arguments.has_modes);
    let all =
        |known: &Routine| known.parameters.iter().map(|one| one.ty.0).eq(wanted.iter().copied());
    let by_inputs = found.iter().find(|known| known.input_types() == wanted);
    let mut by_all = found.iter().filter(|known| may_be_all && known.procedure && all(known));
    let first = by_all.next();
    let second = by_all.next().map(|known| known.schema);
    match (by_inputs, first) {
        (_, Some(one)) if second == Some(one.schema) => Err(several()),
        (Some(one), Some(other)) if one.oid != other.oid => Err(several()),
        (one, other) => Ok(one.or(other).cloned()),
    }
}

/// What is wrong with the name of a routine, as a statement says it that means such a one: `PROCEDURE`.
pub(super) fn told_as(error: SqlError, word: &str) -> SqlError {
    let noun = match (word, error.state()) {
        ("PROCEDURE", _) => "procedure",
        ("AGGREGATE", _) => "aggregate",
        ("ROUTINE", SqlState::AMBIGUOUS_FUNCTION) => "routine",
        _ => return error,
    };
    let of = |text: &str| text.replacen("function", noun, 1);
    let mut message = of(&error.fields().message);
    if noun == "aggregate" {
        message = message.replacen("() does not exist", "(*) does not exist", 1);
    }
    let told = SqlError::new(error.state(), message);
    match &error.fields().hint {
        Some(hint) => told.hint(of(hint)),
        None => told,
    }
}

/// 42809 where GRANT's word means another kind of routine; an aggregate is a function there.
pub(super) fn demand_called(ddl: &mut Ddl<'_>, routine: &Arc<Routine>, word: &str) -> Result<()> {
    match noun_of(routine) {
        "aggregate" if word == "FUNCTION" => Ok(()),
        _ => demand_kind(ddl, routine, word),
    }
}

/// 42809 where a statement's word means another kind of routine.
fn demand_kind(ddl: &mut Ddl<'_>, routine: &Arc<Routine>, word: &str) -> Result<()> {
    let shown = ddl.display_function(&routine.procedure());
    match (word, noun_of(routine)) {
        ("FUNCTION", "procedure") => {
            let message = format!("{shown} is not a function");
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        ("FUNCTION", "aggregate") => {
            let message = format!("\"{}\" is an aggregate function", routine.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                .hint("Use DROP AGGREGATE to drop aggregate functions."));
        }
        ("AGGREGATE", "procedure" | "function") => {
            let message = format!("function {shown} is not an aggregate");
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        ("PROCEDURE", "function" | "aggregate") => {
            let message = format!("{shown} is not a procedure");
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        _ => {}
    }
    Ok(())
}

/// Whether the user may drop a routine by this word.
///
/// # Errors
/// 42809 for the other kind; 42501.
pub(super) fn may_drop(ddl: &mut Ddl<'_>, routine: &Arc<Routine>, word: &str) -> Result<()> {
    demand_kind(ddl, routine, word)?;
    let snapshot = ddl.snapshot();
    let schema = snapshot.schema_by_oid(routine.schema).cloned();
    let owns_schema = schema.as_ref().is_some_and(|schema: &Arc<Schema>| {
        snapshot.shared().has_privileges_of(ddl.user, schema.owner)
    });
    if !owns(ddl, routine) && !owns_schema {
        return Err(must_own(noun_of(routine), &routine.name));
    }
    Ok(())
}

/// Drops routines, with what depends on them where CASCADE says so.
///
/// # Errors
/// 2BP01; those of what goes with them.
pub(super) fn drop_made(
    ddl: &mut Ddl<'_>,
    mut going: Vec<Arc<Routine>>,
    cascade: bool,
) -> Result<()> {
    let mut named = BTreeSet::new();
    going.retain(|routine| named.insert(routine.oid));
    lock_all(ddl, &going)?;
    let dependents = loop {
        let (mut dependents, mut starts) = (Dependents::default(), Vec::new());
        for routine in &going {
            starts.push(dependents.lines.len());
            let shown = shown(ddl, routine);
            collect_callers(ddl, routine, &shown, &mut dependents);
        }
        dependents.tell_last_first(&starts);
        if ddl.hold(&dependents, &[])? {
            break dependents;
        }
    };
    let what = match &going[..] {
        [one] => shown(ddl, one),
        _ => SEVERAL.to_owned(),
    };
    ddl.drop_dependents(&dependents, cascade, &what)?;
    going.iter().try_for_each(|routine| remove(ddl, routine))
}

/// Locks routines that are to go: nobody makes anything of them any more, and what depends on them is known only then.
fn lock_all(ddl: &mut Ddl<'_>, going: &[Arc<Routine>]) -> Result<()> {
    going.iter().try_for_each(|routine| {
        let key = ddl.catalog.key(Class::Routine, routine.oid);
        ddl.catalog.lock(ddl.transaction, key)
    })
}

/// Drops the routines of these owners; what calls them is dropped with them by CASCADE, unless it is the owners' own, which
/// goes anyway.
///
/// # Errors
/// 2BP01; those of what goes with them.
pub(super) fn drop_owned(ddl: &mut Ddl<'_>, owners: &[Oid], cascade: bool) -> Result<()> {
    let (dependents, going) = loop {
        let snapshot = ddl.snapshot();
        let mut going: Vec<Arc<Routine>> =
            snapshot.routines().filter(|one| owners.contains(&one.owner)).cloned().collect();
        going.sort_by_key(|routine| routine.oid.0);
        lock_all(ddl, &going)?;
        let mut all = Dependents::default();
        for routine in &going {
            let shown = shown(ddl, routine);
            collect_callers(ddl, routine, &shown, &mut all);
        }
        let others =
            |one: &Dependent| !one.owner(&snapshot).is_some_and(|owner| owners.contains(&owner));
        let parts: Vec<Dependent> = all.parts.into_iter().filter(others).collect();
        let dependents = Dependents {
            lines: parts.iter().map(|one| (one.shown.clone(), one.on.clone())).collect(),
            views: parts.iter().filter_map(Dependent::view).collect(),
            parts,
            ..Dependents::default()
        };
        if ddl.hold(&dependents, &[])? {
            break (dependents, going);
        }
    };
    ddl.drop_dependents(&dependents, cascade, SEVERAL)?;
    going.iter().try_for_each(|routine| remove(ddl, routine))
}

/// Gives a routine to another owner, with what it has granted.
///
/// # Errors
/// Those of the catalog.
pub(super) fn put_owner(ddl: &mut Ddl<'_>, routine: &Arc<Routine>, owner: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    let key = ObjectKey { sub: kept::FUNCTION, ..ddl.catalog.key(Class::Acl, routine.oid) };
    let mut acl = snapshot.acl(routine.oid, kept::FUNCTION).map(|acl| Acl::clone(acl));
    if acl.is_some() {
        give_acl(&mut acl, routine.owner, owner);
        let acl = acl.map(|acl| Object::Acl(Arc::new(acl)));
        ddl.catalog.change(ddl.transaction, key, snapshot.object(key).as_ref(), acl)?;
    }
    let next = Routine { owner, ..Routine::clone(routine) };
    put(ddl, Some(Arc::clone(routine)), next)?;
    Ok(())
}

/// A routine as messages about what depends on it show it.
pub(super) fn shown(ddl: &mut Ddl<'_>, routine: &Routine) -> String {
    format!("function {}", ddl.display_function(&routine.procedure()))
}

/// Collects the definitions that call a routine, and the aggregates that are made of it with the definitions that call these.
pub(super) fn collect_callers(
    ddl: &mut Ddl<'_>,
    routine: &Routine,
    shown: &str,
    into: &mut Dependents,
) {
    let snapshot = ddl.snapshot();
    for one in snapshot.attached_to(Edge::Function(routine.oid)) {
        attachment::collect(ddl, &one, shown, into);
    }
    collect_definitions(ddl, routine.oid, shown, into);
    let calls = |one: &&Arc<Routine>| {
        let own = one.aggregate.as_ref();
        own.is_some_and(|own| own.functions().any(|called| called == routine.oid))
    };
    for aggregate in snapshot.routines().filter(calls) {
        let own = self::shown(ddl, aggregate);
        into.lines.push((own.clone(), shown.to_owned()));
        collect_definitions(ddl, aggregate.oid, &own, into);
        let what = What::Routine(aggregate.oid);
        into.parts.push(Dependent { shown: own, on: shown.to_owned(), what });
    }
}

/// Collects the definitions that call a routine.
fn collect_definitions(ddl: &mut Ddl<'_>, routine: Oid, shown: &str, into: &mut Dependents) {
    let edge = Edge::Function(routine);
    let users = ddl.snapshot().depending(edge).collect();
    let names = |made: &Edges| made.contains(&edge);
    ddl.collect_naming(&users, &names, &|_, _| false, (&[], &[]), shown, into);
}

/// Takes a routine out of the catalog.
///
/// # Errors
/// Those of the catalog.
pub(super) fn remove(ddl: &mut Ddl<'_>, routine: &Arc<Routine>) -> Result<()> {
    let key = ddl.catalog.key(Class::Routine, routine.oid);
    let before = Some(Object::Routine(Arc::clone(routine)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), None)?;
    let snapshot = ddl.snapshot();
    attachment::leave_families(ddl, routine.oid)?;
    for (sub, class) in [(0, Class::Comment), (kept::FUNCTION, Class::Acl)] {
        let key = crate::catalog::object::ObjectKey { sub, ..ddl.catalog.key(class, routine.oid) };
        if let Some(known) = snapshot.object(key) {
            ddl.catalog.change(ddl.transaction, key, Some(&known), None)?;
        }
    }
    Ok(())
}

/// ALTER FUNCTION, PROCEDURE, ROUTINE.
///
/// # Errors
/// 42883, 42501, 42723, 3F000 and so on.
pub fn alter_routine(ddl: &mut Ddl<'_>, alter: &AlterRoutine) -> Result<&'static str> {
    let tag = match alter.word {
        "PROCEDURE" => "ALTER PROCEDURE",
        "ROUTINE" => "ALTER ROUTINE",
        "AGGREGATE" => "ALTER AGGREGATE",
        _ => "ALTER FUNCTION",
    };
    let mut locked = None;
    // The one of this name once it is locked.
    let routine = loop {
        let arguments = alter.arguments.as_ref();
        let found = named(ddl, &alter.name, arguments);
        let Some(routine) = found.map_err(|error| told_as(error, alter.word))? else {
            let found = super::privilege::function(ddl, &alter.name, arguments.map(|all| &all[..]))
                .map_err(|error| told_as(error, alter.word))?;
            return Err(must_own("function", found.name));
        };
        demand_kind(ddl, &routine, alter.word)?;
        if !owns(ddl, &routine) {
            return Err(must_own(noun_of(&routine), &routine.name));
        }
        if locked.replace(routine.oid) == Some(routine.oid) {
            break routine;
        }
        let key = ddl.catalog.key(Class::Routine, routine.oid);
        ddl.catalog.lock_beside(ddl.transaction, key)?;
    };
    let mut next = Routine::clone(&routine);
    match &alter.change {
        RoutineChange::Owner(role) => {
            let owner = ddl.role_to_stay(role)?;
            if owner.oid == routine.owner {
                return Ok(tag);
            }
            ddl.may_give(&owner, routine.schema)?;
            put_owner(ddl, &routine, owner.oid)?;
            return Ok(tag);
        }
        RoutineChange::Rename(name) => next.name = Arc::clone(name),
        RoutineChange::Schema(name) => {
            let snapshot = ddl.snapshot();
            next.schema = snapshot.schema(name).ok_or_else(|| undefined_schema(name))?.oid;
        }
        RoutineChange::Options(options) => {
            let options = Options::of(ddl, options, routine.procedure)?;
            demand_trusted(ddl, options.leakproof)?;
            next.volatility = options.volatility.unwrap_or(next.volatility);
            next.strict = options.strict.unwrap_or(next.strict);
            next.security_definer = options.security_definer.unwrap_or(next.security_definer);
            next.leakproof = options.leakproof.unwrap_or(next.leakproof);
            next.parallel = options.parallel.unwrap_or(next.parallel);
            next.cost = options.cost.unwrap_or(next.cost);
            next.rows = options.rows.unwrap_or(next.rows);
            next.support = options.support.unwrap_or(next.support);
            for change in &options.settings {
                kept_settings::apply(ddl, &mut next.settings, change)?;
            }
        }
    }
    // Its own name is taken, too.
    let named = matches!(alter.change, RoutineChange::Rename(_));
    if named || (next.schema, &next.name) != (routine.schema, &routine.name) {
        let inputs = next.input_types();
        let text = key_text(&next.name, &inputs);
        ddl.catalog.lock_name(ddl.transaction, Class::Routine, next.schema, &text)?;
        if find(ddl, next.schema, &next.name, &inputs).is_some() {
            let types: Vec<String> = inputs.iter().map(|ty| format_type(*ty, None)).collect();
            let snapshot = ddl.snapshot();
            let schema = snapshot.schema_by_oid(next.schema).map(|schema| schema.name.to_string());
            return Err(SqlError::new(
                SqlState::DUPLICATE_FUNCTION,
                format!(
                    "function {}({}) already exists in schema \"{}\"",
                    next.name,
                    types.join(", "),
                    schema.unwrap_or_default()
                ),
            ));
        }
    }
    let renamed = (next.schema, &next.name) != (routine.schema, &routine.name);
    let (before, edge) = (ddl.snapshot(), Edge::Function(routine.oid));
    put(ddl, Some(routine), next)?;
    if renamed {
        let users = before.depending(edge).collect();
        ddl.put_reprinted(&before, &users, &|made| made.contains(&edge))?;
    }
    Ok(tag)
}
