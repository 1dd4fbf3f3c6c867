//! Runs `golden/*.txt`: expressions with the results that PostgreSQL 15 gave (`golden/generate.py`).
//!
//! The forms of expression are few, so that no binder is needed: a literal with its type (`'1'::int4`, `null::text`), a
//! function of literals, `array(select f(...))` for a set, and `(select f(x) from unnest('...'::t[]) x)` for an aggregate
//! (further arguments behind `x` are literals). A function is found by its name and exact, or polymorphic, types.

use super::function::{Callable, Signature};
use super::no_session::with_context;
use super::{CallContext, Datum, Oid, SqlType, array, oids, read_text, write_text};
use crate::builtin::{self, Procedure, TypeKind};
use crate::error::{Result, SqlError};
use std::fmt::Write;

/// What a line says, taken apart.
enum Case<'t> {
    Value(Argument),
    Call(&'t str, Vec<Argument>),
    Set(&'t str, Vec<Argument>),
    Aggregate(&'t str, Argument, Vec<Argument>),
}

struct Argument {
    text: Option<String>,
    ty: SqlType,
}

fn sql_type(name: &str) -> SqlType {
    if let Some(element) = name.strip_suffix("[]") {
        let element = sql_type(element);
        return SqlType { oid: Oid(builtin::array_type(element.oid.0)), typmod: element.typmod };
    }
    let (name, modifiers) = match name.split_once('(') {
        Some((name, modifiers)) => (name, modifiers.trim_end_matches(')')),
        None => (name, ""),
    };
    let numbers: Vec<i32> =
        modifiers.split(',').filter_map(|modifier| modifier.trim().parse().ok()).collect();
    let name = name.trim_matches('"');
    let ty = builtin::type_by_name(builtin::PG_CATALOG, name)
        .unwrap_or_else(|| panic!("no type {name}"));
    let typmod = match (ty.oid, &numbers[..]) {
        (_, []) => -1,
        (oids::NUMERIC, [precision]) => (precision << 16) + 4,
        (oids::NUMERIC, [precision, scale]) => ((precision << 16) | (scale & 0x7ff)) + 4,
        (oids::VARCHAR | oids::BPCHAR, [length]) => length + 4,
        (oids::INTERVAL, [precision]) => 0x7fff << 16 | precision,
        (_, [precision]) => *precision,
        _ => panic!("modifiers of {name}"),
    };
    SqlType { oid: Oid(ty.oid), typmod }
}

/// Splits at commas outside quotes and parentheses.
fn split_arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0, false, 0);
    let mut out = Vec::new();
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth -= 1,
            b',' if !quoted && depth == 0 => {
                out.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        out.push(&text[start..]);
    }
    out
}

fn argument(written: &str) -> Argument {
    let written = written.trim();
    let (value, ty) = written.rsplit_once("::").unwrap_or_else(|| panic!("no type: {written}"));
    let text = match value {
        "null" => None,
        quoted => {
            let inner = quoted.strip_prefix('\'').and_then(|q| q.strip_suffix('\''));
            Some(inner.unwrap_or_else(|| panic!("no literal: {written}")).replace("''", "'"))
        }
    };
    Argument { text, ty: sql_type(ty) }
}

fn call(text: &str) -> (&str, Vec<Argument>) {
    let (name, rest) = text.split_once('(').unwrap_or_else(|| panic!("no call: {text}"));
    let inner = rest.strip_suffix(')').unwrap_or_else(|| panic!("no call: {text}"));
    let name = name.trim_start_matches("pg_catalog.").trim_matches('"');
    (name, split_arguments(inner).into_iter().map(argument).collect())
}

fn parse(text: &str) -> Case<'_> {
    if let Some(inner) = text.strip_prefix("array(select ").and_then(|t| t.strip_suffix(')')) {
        let (name, arguments) = call(inner);
        return Case::Set(name, arguments);
    }
    if let Some(inner) = text.strip_prefix("(select ").and_then(|t| t.strip_suffix(" x)")) {
        let (head, source) = inner.split_once(" from unnest(").expect("an aggregate over unnest");
        let (name, arguments) = head.split_once('(').expect("an aggregate");
        let rest = arguments.strip_prefix('x').expect("x comes first").trim_end_matches(')');
        let rest = split_arguments(rest.trim_start_matches(','));
        let source = argument(source.trim_end_matches(')'));
        return Case::Aggregate(name, source, rest.into_iter().map(argument).collect());
    }
    if text.starts_with('\'') || text.starts_with("null::") {
        return Case::Value(argument(text));
    }
    let (name, arguments) = call(text);
    Case::Call(name, arguments)
}

/// Whether an argument of type `actual` goes where `declared` is asked for, as it is.
fn accepts(declared: u32, actual: u32) -> bool {
    let pseudo = builtin::type_by_oid(declared).is_some_and(|ty| ty.kind == TypeKind::Pseudo);
    let name = builtin::type_by_oid(declared).map_or("", |ty| ty.name);
    let is_array = builtin::type_by_oid(actual).is_some_and(|ty| ty.is_array());
    declared == actual
        || (declared == oids::TEXT && actual == oids::VARCHAR)
        || (pseudo && name.ends_with("array") && is_array)
        || (pseudo && matches!(name, "any" | "anyelement" | "anynonarray" | "anycompatible"))
}

fn resolve(name: &str, arguments: &[SqlType]) -> (&'static Procedure, SqlType) {
    let candidates = builtin::functions_named(name);
    let fits = |procedure: &Procedure| {
        let declared = &procedure.arguments;
        let plain = declared.len() == arguments.len()
            && declared.iter().zip(arguments).all(|(&d, a)| accepts(d, a.oid.0));
        let variadic = procedure.variadic == oids::ANY && arguments.len() >= declared.len();
        plain || variadic
    };
    let exact = |procedure: &&&Procedure| {
        procedure.arguments.iter().copied().eq(arguments.iter().map(|a| a.oid.0))
    };
    let procedure = candidates
        .iter()
        .find(exact)
        .or_else(|| candidates.iter().find(|procedure| fits(procedure)))
        .unwrap_or_else(|| panic!("no function {name} of {arguments:?}"));
    let polymorphic = builtin::type_by_oid(procedure.result).map_or("", |ty| ty.name);
    let element = arguments.iter().find_map(|a| builtin::element_type(a.oid.0));
    let first = arguments.first().map_or(0, |a| a.oid.0);
    let result = match polymorphic {
        "anyarray" | "anycompatiblearray" => arguments
            .iter()
            .map(|a| a.oid.0)
            .find(|&a| builtin::element_type(a).is_some())
            .unwrap_or_else(|| builtin::array_type(first)),
        "anyelement" | "anycompatible" | "anynonarray" => element.unwrap_or(first),
        _ => procedure.result,
    };
    (procedure, SqlType::plain(result))
}

fn values<'a>(context: &CallContext<'a>, arguments: &[Argument]) -> Result<Vec<Datum<'a>>> {
    arguments
        .iter()
        .map(|argument| match &argument.text {
            None => Ok(Datum::Null),
            Some(text) => read_text(context, argument.ty, text),
        })
        .collect()
}

fn missing(procedure: &Procedure) -> ! {
    panic!("{} {} has no code", procedure.oid, procedure.name)
}

fn evaluate<'a>(context: &CallContext<'a>, text: &str) -> Result<(SqlType, Datum<'a>)> {
    match parse(text) {
        Case::Value(value) => {
            let datum = values(context, std::slice::from_ref(&value))?[0];
            Ok((value.ty, datum))
        }
        Case::Call(name, arguments) => {
            let types: Vec<SqlType> = arguments.iter().map(|a| a.ty).collect();
            let (procedure, result) = resolve(name, &types);
            let data = values(context, &arguments)?;
            if procedure.strict && data.iter().any(Datum::is_null) {
                return Ok((result, Datum::Null));
            }
            let variadic_spread = procedure.variadic == oids::ANY;
            let signature = Signature { arguments: &types, result, columns: &[], variadic_spread };
            let datum = match super::function(procedure.oid) {
                Some(Callable::Plain(function)) => function(context, &data)?,
                Some(Callable::Typed(function)) => function(context, &signature, &data)?,
                Some(Callable::Set(_)) => panic!("{name} returns a set"),
                None => missing(procedure),
            };
            Ok((result, datum))
        }
        Case::Set(name, arguments) => {
            let types: Vec<SqlType> = arguments.iter().map(|a| a.ty).collect();
            let (procedure, result) = resolve(name, &types);
            let data = values(context, &arguments)?;
            let signature =
                Signature { arguments: &types, result, columns: &[], variadic_spread: false };
            let Some(Callable::Set(function)) = super::function(procedure.oid) else {
                missing(procedure)
            };
            let mut builder = array::Builder::new(result.oid.0);
            function(context, &signature, &data, &mut |row| {
                builder.push(&row[0]);
                Ok(true)
            })?;
            let ty = SqlType::plain(builtin::array_type(result.oid.0));
            Ok((ty, builder.finish(context.arena)))
        }
        Case::Aggregate(name, source, rest) => {
            let element = builtin::element_type(source.ty.oid.0).expect("an array");
            let mut types = vec![SqlType::plain(element)];
            types.extend(rest.iter().map(|a| a.ty));
            let (procedure, result) = resolve(name, &types);
            let signature =
                Signature { arguments: &types, result, columns: &[], variadic_spread: false };
            let aggregate = builtin::aggregate(procedure.oid).expect("an aggregate");
            let transition = builtin::function(aggregate.transition).expect("its function");
            let Some(mut state) = super::accumulator(procedure.oid, &signature) else {
                missing(procedure)
            };
            let rest = values(context, &rest)?;
            for datum in
                values(context, std::slice::from_ref(&source))?[0].array().datums(context.arena)
            {
                let mut row = vec![datum?];
                row.extend(&rest);
                if !(transition.strict && row.iter().any(Datum::is_null)) {
                    state.add(context, &row)?;
                }
            }
            Ok((result, state.finish(context)?))
        }
    }
}

fn shown(context: &CallContext<'_>, text: &str) -> String {
    let written = |(ty, datum): (SqlType, Datum<'_>)| -> Result<String> {
        if datum.is_null() {
            return Ok("NULL".to_owned());
        }
        let mut out = Vec::new();
        write_text(context, ty, &datum, &mut out)?;
        Ok(String::from_utf8(out).expect("UTF-8"))
    };
    evaluate(context, text).and_then(written).unwrap_or_else(|error: SqlError| {
        format!("ERROR {}: {}", error.state(), error.fields().message)
    })
}

fn check(text: &str) {
    let (mut failures, mut count) = (String::new(), 0);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("--")) {
        let (expression, expected) =
            line.rsplit_once(" | ").unwrap_or((line.trim_end_matches(" |"), ""));
        let found = std::panic::catch_unwind(|| with_context(|context| shown(context, expression)))
            .unwrap_or_else(|_| "PANIC".to_owned());
        count += 1;
        if found != expected {
            writeln!(failures, "{expression}\n    expected {expected}\n    found    {found}")
                .expect("strings grow");
        }
    }
    assert!(count > 0);
    let failed = failures.matches("\n    expected").count();
    assert!(failures.is_empty(), "{failed} of {count} differ:\n{failures}");
}

macro_rules! golden {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { check(include_str!(concat!("golden/", stringify!($name), ".txt"))); })*
    };
}

golden! { aggregates, arrays, date_patterns, datetimes, expressions, input, number_patterns, numbers, numeric_random, sizes, texts, to_char }
