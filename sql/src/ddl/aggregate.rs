//! CREATE AGGREGATE (`commands/aggregatecmds.c`, `catalog/pg_aggregate.c`).
//!
//! An aggregate is a routine whose body is its functions. These are found by the types that they are called with, and have to
//! take and give the state as it is.

use super::Ddl;
use super::extension::display_function;
use super::resolve::undefined_schema;
use super::routine::{self, Signature, invalid};
use crate::bind::is_polymorphic;
use crate::catalog::builtin::{self, CastContext, CastMethod, ProcedureOf};
use crate::catalog::routine::{Aggregate, INTERNAL, INTERNAL_STATE, Moving, Routine};
use crate::error::{Result, Severity, SqlError};
use crate::parse::ast::{
    AggregateOption, CreateAggregate, CreateRoutine, Ident, ObjectName, ParameterMode, TypeName,
};
use crate::sqlstate::SqlState;
use crate::types::type_name::format_type;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// `bytea`: what a state becomes on its way to another process.
const BYTEA: u32 = 17;

/// What the options say.
struct Options<'o>(&'o [(Ident, AggregateOption)]);

impl Options<'_> {
    fn find(&self, names: &[&str]) -> Option<&AggregateOption> {
        // The last one counts.
        self.0.iter().rev().find(|(name, _)| names.contains(&&**name)).map(|(_, option)| option)
    }

    fn name(&self, names: &[&str]) -> Option<ObjectName> {
        match self.find(names)? {
            AggregateOption::Name(name) => Some(name.clone()),
            AggregateOption::Text(name) => {
                Some(ObjectName { parts: vec![Arc::clone(name)], at: 0 })
            }
            _ => None,
        }
    }

    fn ty(&self, names: &[&str]) -> Option<&TypeName> {
        match self.find(names)? {
            AggregateOption::Type(ty) => Some(ty),
            _ => None,
        }
    }

    fn text(&self, names: &[&str]) -> Option<Arc<str>> {
        match self.find(names)? {
            AggregateOption::Text(text) => Some(Arc::clone(text)),
            _ => None,
        }
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.find(&[name]), Some(AggregateOption::Flag(true)))
    }

    /// `finalfunc_modify` and its kin.
    fn modify(&self, name: &str, usual: u8) -> Result<u8> {
        match self.text(&[name]).as_deref() {
            None => Ok(usual),
            Some("read_only") => Ok(b'r'),
            Some("shareable") => Ok(b's'),
            Some("read_write") => Ok(b'w'),
            Some(_) => {
                let message =
                    format!("parameter \"{name}\" must be READ_ONLY, SHAREABLE, or READ_WRITE");
                Err(SqlError::new(SqlState::SYNTAX_ERROR, message))
            }
        }
    }

    fn space(&self, names: &[&str]) -> u32 {
        self.text(names).and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// All names of options.
const KNOWN: [&str; 25] = [
    "sfunc",
    "sfunc1",
    "finalfunc",
    "combinefunc",
    "serialfunc",
    "deserialfunc",
    "msfunc",
    "minvfunc",
    "mfinalfunc",
    "finalfunc_extra",
    "mfinalfunc_extra",
    "finalfunc_modify",
    "mfinalfunc_modify",
    "sortop",
    "basetype",
    "hypothetical",
    "stype",
    "stype1",
    "sspace",
    "mstype",
    "msspace",
    "initcond",
    "initcond1",
    "minitcond",
    "parallel",
];

/// CREATE AGGREGATE.
///
/// # Errors
/// 42P13 and 42804 for functions that do not fit, 42883, 42723, 42704, 3F000, 42501.
pub fn create_aggregate(ddl: &mut Ddl<'_>, create: &CreateAggregate) -> Result<&'static str> {
    let schema = ddl.creation_schema(&create.name, 'p')?;
    let options = Options(&create.options);
    for (name, _) in &create.options {
        if !KNOWN.contains(&&**name) {
            let message = format!("aggregate attribute \"{name}\" not recognized");
            let warning = SqlError::new(SqlState::SYNTAX_ERROR, message);
            ddl.notices.push(warning.severity(Severity::Warning));
        }
    }
    let kind = match (create.direct, options.flag("hypothetical")) {
        (None, true) => return Err(invalid("only ordered-set aggregates can be hypothetical")),
        (None, false) => b'n',
        (Some(_), true) => b'h',
        (Some(_), false) => b'o',
    };
    // Those of the server sort what they hold in place.
    let usual_modify = if kind == b'n' { b'r' } else { b'w' };
    let state_name = options.ty(&["stype", "stype1"]);
    let state_name = state_name.ok_or_else(|| invalid("aggregate stype must be specified"))?;
    let transition_name = options.name(&["sfunc", "sfunc1"]);
    let transition_name =
        transition_name.ok_or_else(|| invalid("aggregate sfunc must be specified"))?;
    if create.old && options.ty(&["basetype"]).is_none() {
        return Err(invalid("aggregate input type must be specified"));
    }
    if !create.old && options.ty(&["basetype"]).is_some() {
        return Err(invalid("basetype is redundant with aggregate input type specification"));
    }
    let moving = moving_options(&options)?;
    for parameter in &create.parameters {
        if matches!(parameter.mode, ParameterMode::Out | ParameterMode::InOut) {
            return Err(invalid("aggregates cannot have output arguments"));
        }
        if parameter.default.is_some() {
            return Err(invalid("aggregates cannot have parameter defaults"));
        }
    }
    let Signature { parameters, .. } = routine::signature(
        ddl,
        &CreateRoutine {
            replace: create.replace,
            procedure: true,
            name: create.name.clone(),
            parameters: create.parameters.clone(),
            returns: None,
            options: Vec::new(),
        },
    )?;
    let inputs: Vec<u32> = parameters.iter().map(|parameter| parameter.ty.0).collect();
    let variadic = parameters.last().filter(|last| last.mode == b'v').map(|last| last.ty.0);
    let direct = create.direct.unwrap_or(0);
    demand_variadic(kind, variadic, direct, &inputs)?;
    // What stands on both sides comes with each row, too.
    let of_rows = &inputs[if direct == inputs.len() { direct.saturating_sub(1) } else { direct }..];
    let of_rows = if kind == b'n' { &inputs[..] } else { of_rows };
    let given_once = if kind == b'n' { &[][..] } else { &inputs[..direct] };
    let any = variadic == Some(oids::ANY);
    let state = state_type(ddl, state_name, &inputs)?;
    let with = |state: Oid| -> Vec<u32> {
        std::iter::once(state.0).chain(of_rows.iter().copied()).collect()
    };
    let transition = function(ddl, &transition_name, &with(state), any)?;
    demand_result(ddl, "transition function", &transition, state)?;
    let initial = options.text(&["initcond", "initcond1"]);
    if transition.strict
        && initial.is_none()
        && !inputs.first().is_some_and(|first| coercible(base(ddl, *first), state.0))
    {
        return Err(invalid(
            "must not omit initial value when transition function is strict and transition type is not compatible with input type",
        ));
    }
    let finish_name = options.name(&["finalfunc"]);
    let finish_extra = options.flag("finalfunc_extra");
    let more = (given_once, finish_extra.then_some(&inputs[..]), any);
    let (finish, result) = finish(ddl, finish_name.as_ref(), state, more)?;
    if kind == b'h' && (!any || state.0 != INTERNAL_STATE) {
        return Err(SqlError::unsupported(
            "a hypothetical-set aggregate that is not made of the server's own functions is",
        ));
    }
    if is_polymorphic(result.0) && !inputs.iter().any(|ty| is_polymorphic(*ty)) {
        return Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            "cannot determine result data type",
        )
        .detail(undetermined(result.0)));
    }
    let combine = match options.name(&["combinefunc"]) {
        None => Oid(0),
        Some(name) => {
            let found = function(ddl, &name, &[state.0, state.0], false)?;
            demand_result(ddl, "combine function", &found, state)?;
            if state.0 == INTERNAL_STATE && found.strict {
                return Err(invalid(
                    "combine function with transition type internal must not be declared STRICT",
                ));
            }
            found.oid
        }
    };
    let (serialize, deserialize) = serialization(ddl, &options, state)?;
    demand_known_result(result, &inputs)?;
    let moving = match moving {
        None => Moving { finish_modify: usual_modify, ..Moving::default() },
        Some((forward, inverse, ty)) => {
            let own = state_type(ddl, ty, &inputs)?;
            let forward = function(ddl, &forward, &with(own), any)?;
            demand_result(ddl, "moving transition function", &forward, own)?;
            let inverse = function(ddl, &inverse, &with(own), any)?;
            demand_result(ddl, "inverse transition function", &inverse, own)?;
            if forward.strict != inverse.strict {
                return Err(invalid(
                    "strictness of aggregate's forward and inverse transition functions must match",
                ));
            }
            let extra = options.flag("mfinalfunc_extra");
            let name = options.name(&["mfinalfunc"]);
            let more = (given_once, extra.then_some(&inputs[..]), any);
            let (finish, given) = self::finish(ddl, name.as_ref(), own, more)?;
            if given != result {
                let (own, plain) = (format_type(given.0, None), format_type(result.0, None));
                return Err(invalid(format!(
                    "moving-aggregate implementation returns type {own}, but plain implementation returns type {plain}"
                )));
            }
            Moving {
                transition: forward.oid,
                inverse: inverse.oid,
                finish,
                finish_extra: extra,
                finish_modify: options.modify("mfinalfunc_modify", usual_modify)?,
                state: own,
                state_space: options.space(&["msspace"]),
                initial: options.text(&["minitcond"]),
            }
        }
    };
    let sort_operator = match options.find(&["sortop"]) {
        Some(AggregateOption::Operator(operator)) => {
            let [input] = inputs[..] else {
                return Err(invalid(
                    "sort operator can only be specified for single-argument aggregates",
                ));
            };
            let mut named = builtin::operators_named(&operator.name, false).iter();
            let found = named.find(|one| (one.left, one.right) == (input, input));
            let shown = format_type(input, None);
            Oid(found.map(|found| found.oid).ok_or_else(|| {
                let message = format!("operator does not exist: {shown} {} {shown}", operator.name);
                SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
            })?)
        }
        _ => Oid(0),
    };
    let parallel = match options.text(&["parallel"]).as_deref() {
        None | Some("unsafe") => b'u',
        Some("safe") => b's',
        Some("restricted") => b'r',
        Some(_) => {
            let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        }
    };
    let aggregate = Aggregate {
        kind,
        direct: direct as u32,
        transition: transition.oid,
        finish,
        finish_extra,
        finish_modify: options.modify("finalfunc_modify", usual_modify)?,
        combine,
        serialize,
        deserialize,
        sort_operator,
        state,
        state_space: options.space(&["sspace"]),
        initial,
        moving,
    };
    if state.0 == INTERNAL_STATE && aggregate.built_in().is_none() {
        return Err(SqlError::unsupported(format!(
            "an aggregate whose state is internal, made of {} in another way than one of the server's own,",
            transition.shown
        )));
    }
    let next = Routine {
        oid: Oid(0),
        schema: schema.oid,
        name: Arc::clone(create.name.name()),
        owner: ddl.user,
        language: INTERNAL,
        procedure: false,
        volatility: b'i',
        strict: false,
        security_definer: false,
        leakproof: false,
        parallel,
        cost: 1.0,
        rows: 0.0,
        returns_set: false,
        result,
        parameters,
        settings: Vec::new(),
        body: "aggregate_dummy".into(),
        support: Oid(0),
        standard: None,
        aggregate: Some(aggregate),
    };
    routine::keep(ddl, next, &schema, create.replace)?;
    Ok("CREATE AGGREGATE")
}

/// What a VARIADIC argument of a kind of aggregate may be (`AggregateCreate`).
fn demand_variadic(kind: u8, variadic: Option<u32>, direct: usize, inputs: &[u32]) -> Result<()> {
    if kind == b'o' && variadic.is_some_and(|ty| ty != oids::ANY) {
        let message = "a variadic ordered-set aggregate must use VARIADIC type ANY";
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let rows = inputs.len() - direct;
    let matched = variadic == Some(oids::ANY)
        || rows > 0 && rows <= direct && inputs[direct - rows..direct] == inputs[direct..];
    if kind == b'h' && !matched {
        let message = "a hypothetical-set aggregate must have direct arguments matching its aggregated arguments";
        return Err(invalid(message));
    }
    Ok(())
}

/// 42P13 for an aggregate that would give out a state that only functions of the server know.
fn demand_known_result(result: Oid, inputs: &[u32]) -> Result<()> {
    if result.0 == INTERNAL_STATE && !inputs.contains(&INTERNAL_STATE) {
        return Err(invalid("unsafe use of pseudo-type \"internal\"")
            .detail("A result of type internal requires at least one input of type internal."));
    }
    Ok(())
}

/// SERIALFUNC and DESERIALFUNC: both, or neither.
fn serialization(ddl: &mut Ddl<'_>, options: &Options<'_>, state: Oid) -> Result<(Oid, Oid)> {
    let (there, back) = match (options.name(&["serialfunc"]), options.name(&["deserialfunc"])) {
        (None, None) => return Ok((Oid(0), Oid(0))),
        (there, back) if state.0 == INTERNAL_STATE => match there.zip(back) {
            Some(both) => both,
            None => {
                return Err(invalid(
                    "must specify both or neither of serialization and deserialization functions",
                ));
            }
        },
        _ => {
            return Err(invalid(
                "serialization functions may be specified only when the aggregate transition data type is internal",
            ));
        }
    };
    let there = function(ddl, &there, &[INTERNAL_STATE], false)?;
    demand_result(ddl, "serialization function", &there, Oid(BYTEA))?;
    let back = function(ddl, &back, &[BYTEA, INTERNAL_STATE], false)?;
    demand_result(ddl, "deserialization function", &back, state)?;
    Ok((there.oid, back.oid))
}

/// What an aggregate says of moving frames: all of it, or nothing.
fn moving_options<'o>(
    options: &'o Options<'_>,
) -> Result<Option<(ObjectName, ObjectName, &'o TypeName)>> {
    let Some(ty) = options.ty(&["mstype"]) else {
        for name in ["msfunc", "minvfunc", "mfinalfunc", "msspace", "minitcond"] {
            if options.find(&[name]).is_some() {
                let message = format!("aggregate {name} must not be specified without mstype");
                return Err(invalid(message));
            }
        }
        return Ok(None);
    };
    let wanted = |name| {
        let message = format!("aggregate {name} must be specified when mstype is specified");
        options.name(&[name]).ok_or_else(|| invalid(message))
    };
    Ok(Some((wanted("msfunc")?, wanted("minvfunc")?, ty)))
}

/// The type of a state.
fn state_type(ddl: &mut Ddl<'_>, name: &TypeName, inputs: &[u32]) -> Result<Oid> {
    let snapshot = ddl.snapshot();
    let found = ddl.semantics.type_of(&snapshot, name)?;
    ddl.use_type(found)?;
    let ty = found.oid.0;
    let pseudo = builtin::type_by_oid(ty).is_some_and(|ty| ty.kind == builtin::TypeKind::Pseudo)
        && !(ty == INTERNAL_STATE && ddl.superuser());
    if pseudo && !is_polymorphic(ty) {
        let shown = format_type(ty, None);
        return Err(invalid(format!("aggregate transition data type cannot be {shown}")));
    }
    if is_polymorphic(ty) && !inputs.iter().any(|input| is_polymorphic(*input)) {
        return Err(invalid("cannot determine transition data type").detail(undetermined(ty)));
    }
    Ok(Oid(ty))
}

/// Why a polymorphic type cannot be told.
fn undetermined(ty: u32) -> String {
    let shown = format_type(ty, None);
    let family = match ty {
        5077..=5080 | 4538 => {
            "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange"
        }
        _ => "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
    };
    format!("A result of type {shown} requires at least one input of type {family}.")
}

/// FINALFUNC, and what the aggregate gives: what that does, or the state.
///
/// It is given what is given once for a group, and with FINALFUNC_EXTRA the types of all arguments.
fn finish(
    ddl: &mut Ddl<'_>,
    name: Option<&ObjectName>,
    state: Oid,
    (direct, extra, any): (&[u32], Option<&[u32]>, bool),
) -> Result<(Oid, Oid)> {
    let Some(name) = name else { return Ok((Oid(0), state)) };
    let more = extra.unwrap_or(direct);
    let given: Vec<u32> = std::iter::once(state.0).chain(more.iter().copied()).collect();
    let found = function(ddl, name, &given, any && extra.is_some())?;
    if extra.is_some() && found.strict {
        let message = "final function with extra arguments must not be declared STRICT";
        return Err(invalid(message));
    }
    Ok((found.oid, found.result))
}

/// A function that an aggregate calls.
struct Found {
    oid: Oid,
    strict: bool,
    result: Oid,
    shown: String,
}

/// The type under a domain, whose values are its own.
fn base(ddl: &mut Ddl<'_>, ty: u32) -> u32 {
    ddl.snapshot().base_type(SqlType::plain(ty)).oid.0
}

/// Whether a value of one type is one of another as it is.
fn coercible(from: u32, to: u32) -> bool {
    let cast = builtin::cast(from, to);
    let as_it_is = |cast: &builtin::Cast| {
        cast.method == CastMethod::Binary && cast.context == CastContext::Implicit
    };
    from == to || to == oids::ANY || is_polymorphic(to) || cast.is_some_and(as_it_is)
}

/// Whether a value of one type becomes one of another without being asked for.
fn castable(from: u32, to: u32) -> bool {
    let implicit = |cast: &builtin::Cast| cast.context == CastContext::Implicit;
    coercible(from, to) || builtin::cast(from, to).is_some_and(implicit)
}

/// The function of a name that takes these types (`lookup_agg_function`), as VARIADIC "any" where the aggregate does.
fn function(ddl: &mut Ddl<'_>, name: &ObjectName, given: &[u32], any: bool) -> Result<Found> {
    let snapshot = ddl.snapshot();
    let path = ddl.path().schemas;
    let schemas = match name.schema() {
        Some(schema) => {
            vec![snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?.oid]
        }
        None => path.clone(),
    };
    let made = snapshot.routines_named(name.name());
    let made: Vec<ProcedureOf<'_>> = made.iter().map(|routine| routine.procedure()).collect();
    let built_in = builtin::functions_named(name.name()).iter().copied();
    let there = |found: &&ProcedureOf<'_>| {
        let by_name = |own: Oid| name.schema().is_some() || !snapshot.is_temporary_schema(own);
        found.kind == builtin::Kind::Function
            && snapshot
                .function_schema(found)
                .is_some_and(|own| schemas.contains(&own) && by_name(own))
    };
    let all: Vec<&ProcedureOf<'_>> = built_in.chain(&made).filter(there).collect();
    let fits = |found: &&&ProcedureOf<'_>, fit: &dyn Fn(u32, u32) -> bool| {
        found.arguments.len() == given.len()
            && given.iter().zip(&found.arguments).all(|(from, to)| fit(*from, *to))
            && agree(&found.arguments, given, &[oids::ANYARRAY, 2283, 2776, 3500])
    };
    let base = |ty: u32| snapshot.base_type(SqlType::plain(ty)).oid.0;
    let as_it_is = |from: u32, to: u32| from == to || coercible(base(from), to);
    let as_they_are = |found: &&&ProcedureOf<'_>| {
        fits(found, &as_it_is) && agree(&found.arguments, given, &[5077, 5078, 5079])
    };
    let exact = all.iter().find(|found| fits(found, &|from, to| from == to));
    let found = exact.or_else(|| all.iter().find(as_they_are));
    let Some(found) = found else {
        let cast = |from: u32, to: u32| castable(base(from), to);
        if let Some(cast) = all.iter().find(|found| fits(found, &cast)) {
            let shown = |ty: &u32| ddl.type_shown(SqlType::plain(*ty));
            let types: Vec<String> = cast.arguments.iter().map(shown).collect();
            let shown = format!("{name}({})", types.join(", "));
            let message = format!("function {shown} requires run-time type coercion");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let shown = |ty: &u32| ddl.type_shown(SqlType::plain(*ty));
        let types: Vec<String> = given.iter().map(shown).collect();
        let message = format!("function {name}({}) does not exist", types.join(", "));
        return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message));
    };
    if found.returns_set {
        let shown = display_function(&snapshot, &path, found);
        let message = format!("function {shown} returns a set");
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
    }
    if any && found.variadic != oids::ANY {
        let shown = display_function(&snapshot, &path, found);
        let message =
            format!("function {shown} must accept VARIADIC ANY to be used in this aggregate");
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
    }
    Ok(Found {
        oid: Oid(found.oid),
        strict: found.strict,
        result: Oid(resolved(found, given)),
        shown: display_function(&snapshot, &path, found),
    })
}

/// Whether what is given for polymorphic parameters of a family is of one type, or the elements of arrays are.
fn agree(declared: &[u32], given: &[u32], family: &[u32]) -> bool {
    let mut types = declared.iter().zip(given).filter_map(|(declared, given)| {
        let of_array = matches!(*declared, oids::ANYARRAY | 5078);
        family.contains(declared).then(|| match (of_array, *given) {
            (true, oids::ANYARRAY) => 2283,
            (true, 5078) => 5077,
            (true, array) => builtin::element_type(array).unwrap_or(array),
            (false, ty) => ty,
        })
    });
    let first = types.next();
    types.all(|ty| Some(ty) == first)
}

/// The type that a function gives for these types.
fn resolved(found: &ProcedureOf<'_>, given: &[u32]) -> u32 {
    if !is_polymorphic(found.result) {
        return found.result;
    }
    // Where the given types are polymorphic themselves, so is the result.
    let of_array = |ty: u32| matches!(ty, 2277 | 5078);
    let element = found.arguments.iter().zip(given).find_map(|(declared, given)| {
        if of_array(*declared) {
            return match given {
                2277 => Some(2283),
                5078 => Some(5077),
                array => builtin::element_type(*array),
            };
        }
        is_polymorphic(*declared).then_some(*given)
    });
    let Some(element) = element else { return found.result };
    match (of_array(found.result), element) {
        (true, 5077 | 5079) => 5078,
        (true, element) if is_polymorphic(element) => 2277,
        (true, element) => builtin::array_type(element),
        (false, element) => element,
    }
}

/// 42804 for a function that does not give the state.
fn demand_result(ddl: &mut Ddl<'_>, what: &str, found: &Found, state: Oid) -> Result<()> {
    if found.result == state
        || found.result.0 != state.0
            && coercible(base(ddl, found.result.0), state.0)
            && !is_polymorphic(state.0)
    {
        return Ok(());
    }
    let name = found.shown.split('(').next().unwrap_or_default();
    let shown = ddl.type_shown(SqlType::plain(state.0));
    let message = format!("return type of {what} {name} is not {shown}");
    Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
}
