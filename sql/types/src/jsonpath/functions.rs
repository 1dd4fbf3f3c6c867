//! Functions over paths: `jsonb_path_query` and its like, `@?`, `@@`.

use super::execute::{Mode, Outcome, execute};
use super::item::Item;
use super::kept;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain, Set};
use crate::json::View;
use crate::json::stored::{Node, Shape};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};
use bumpalo::collections::Vec as ArenaVec;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (4005, Plain(|c, a| exists(c, a, false))),
    (1177, Plain(|c, a| exists(c, a, true))),
    (4010, Plain(|c, a| exists(c, a, false))),
    (4009, Plain(|c, a| matches(c, a, false))),
    (2030, Plain(|c, a| matches(c, a, true))),
    (4011, Plain(|c, a| matches(c, a, false))),
    (4006, Set(|c, _, a, emit| query(c, a, false, emit))),
    (1179, Set(|c, _, a, emit| query(c, a, true, emit))),
    (4007, Plain(|c, a| array(c, a, false))),
    (1180, Plain(|c, a| array(c, a, true))),
    (4008, Plain(|c, a| first(c, a, false))),
    (2023, Plain(|c, a| first(c, a, true))),
];

fn view<'a>(datum: &Datum<'a>) -> View<'a> {
    match datum {
        Datum::Jsonb(bytes) => View::of(bytes),
        _ => View::NULL,
    }
}

/// Runs (target, path, variables, silent), or (target, path), which an operator has and which is silent.
fn run<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    zoned: bool,
    found: Option<&mut Vec<Item<'a>>>,
) -> Result<Outcome> {
    let path = kept(context.arena, a[1].bytea())?;
    let mode = Mode { silent: is_silent(a), zoned };
    execute(context, &path, view(&a[0]), a.get(2).map(view), mode, found)
}

fn is_silent(a: &[Datum<'_>]) -> bool {
    a.get(3).is_none_or(Datum::bool)
}

fn items<'a>(context: &CallContext<'a>, a: &[Datum<'a>], zoned: bool) -> Result<Vec<Item<'a>>> {
    let mut found = Vec::new();
    run(context, a, zoned, Some(&mut found))?;
    Ok(found)
}

fn exists<'a>(context: &CallContext<'a>, a: &[Datum<'a>], zoned: bool) -> Result<Datum<'a>> {
    Ok(match run(context, a, zoned, None)? {
        Outcome::Found => Datum::Bool(true),
        Outcome::Nothing => Datum::Bool(false),
        Outcome::Error => Datum::Null,
    })
}

fn matches<'a>(context: &CallContext<'a>, a: &[Datum<'a>], zoned: bool) -> Result<Datum<'a>> {
    if let [item] = &items(context, a, zoned)?[..] {
        match item.shape() {
            Some(Shape::Bool(value)) => return Ok(Datum::Bool(value)),
            Some(Shape::Null) => return Ok(Datum::Null),
            _ => {}
        }
    }
    if is_silent(a) {
        return Ok(Datum::Null);
    }
    Err(SqlError::new(
        SqlState::SINGLETON_SQL_JSON_ITEM_REQUIRED,
        "single boolean result is expected",
    ))
}

fn query<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    zoned: bool,
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for item in items(context, a, zoned)? {
        if !emit(&[item.json(context).store(context.arena)])? {
            break;
        }
    }
    Ok(())
}

fn array<'a>(context: &CallContext<'a>, a: &[Datum<'a>], zoned: bool) -> Result<Datum<'a>> {
    let found = items(context, a, zoned)?;
    let nodes = found.iter().map(|item| Node::Stored(item.json(context)));
    let nodes = ArenaVec::from_iter_in(nodes, context.arena);
    Node::Array(nodes.into_bump_slice()).store(context.arena)
}

fn first<'a>(context: &CallContext<'a>, a: &[Datum<'a>], zoned: bool) -> Result<Datum<'a>> {
    let found = items(context, a, zoned)?;
    Ok(found.first().map_or(Datum::Null, |item| item.json(context).store(context.arena)))
}
