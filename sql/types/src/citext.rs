//! `citext` (PostgreSQL 15 manual, appendix F.9): texts that are compared without regard to case.
//!
//! A citext is held as the text that it was written as; whatever compares, hashes or keys it goes by its lower case
//! (`order`, `tuple::key`). Its functions are those of text with patterns that do not regard case. The functions are
//! numbered as `builtin/generate.py` says.

use crate::error::Result;
use crate::function::Callable::{self, Plain, Set};
use crate::function::SetFunction;
use crate::text::case::folded;
use crate::{CallContext, Datum, Signature, account, function, oids, order};
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_100, Plain(|_, a| Ok(a[0]))),
    (14_101, Plain(|_, a| Ok(a[0]))),
    (14_104, Plain(|c, a| called(c, 401, a))),
    (14_105, Plain(|c, a| called(c, 2971, a))),
    (14_106, Plain(|c, a| called(c, 730, a))),
    (14_107, Plain(|_, a| Ok(Datum::Bool(compare(a).is_eq())))),
    (14_108, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ne())))),
    (14_109, Plain(|_, a| Ok(Datum::Bool(compare(a).is_lt())))),
    (14_110, Plain(|_, a| Ok(Datum::Bool(compare(a).is_le())))),
    (14_111, Plain(|_, a| Ok(Datum::Bool(compare(a).is_gt())))),
    (14_112, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ge())))),
    (14_113, Plain(|_, a| Ok(Datum::Int4(compare(a) as i32)))),
    (14_114, Plain(|c, a| called(c, 400, &[lower(c, &a[0])]))),
    (14_115, Plain(|_, a| Ok(if compare(a).is_lt() { a[0] } else { a[1] }))),
    (14_116, Plain(|_, a| Ok(if compare(a).is_gt() { a[0] } else { a[1] }))),
    // LIKE and regular expressions, of citext and of text.
    (14_119, Plain(|c, a| called(c, 1633, a))),
    (14_120, Plain(|c, a| called(c, 1634, a))),
    (14_121, Plain(|c, a| called(c, 1238, a))),
    (14_122, Plain(|c, a| called(c, 1239, a))),
    (14_123, Plain(|c, a| called(c, 1633, a))),
    (14_124, Plain(|c, a| called(c, 1634, a))),
    (14_125, Plain(|c, a| called(c, 1238, a))),
    (14_126, Plain(|c, a| called(c, 1239, a))),
    (14_127, Plain(|c, a| called(c, 3397, &[a[0], a[1], IGNORING]))),
    (14_128, Plain(|c, a| called(c, 3397, &[a[0], a[1], flags(c, &a[2])]))),
    (14_129, Set(|c, s, a, emit| called_set(c, s, 2764, &[a[0], a[1], IGNORING], emit))),
    (14_130, Set(|c, s, a, emit| called_set(c, s, 2764, &[a[0], a[1], flags(c, &a[2])], emit))),
    (14_131, Plain(|c, a| called(c, 2285, &[a[0], a[1], a[2], IGNORING]))),
    (14_132, Plain(|c, a| called(c, 2285, &[a[0], a[1], a[2], flags(c, &a[3])]))),
    (14_133, Plain(|c, a| called(c, 2768, &[a[0], a[1], IGNORING]))),
    (14_134, Plain(|c, a| called(c, 2768, &[a[0], a[1], flags(c, &a[2])]))),
    (14_135, Set(|c, s, a, emit| called_set(c, s, 2766, &[a[0], a[1], IGNORING], emit))),
    (14_136, Set(|c, s, a, emit| called_set(c, s, 2766, &[a[0], a[1], flags(c, &a[2])], emit))),
    (14_137, Plain(|c, a| called(c, 868, &[lower(c, &a[0]), lower(c, &a[1])]))),
    (14_138, Plain(|c, a| called(c, 2285, &[a[0], quoted(c, &a[1])?, a[2], Datum::Text("gi")]))),
    (14_139, Plain(split_part)),
    (14_140, Plain(translate)),
    (14_141, Plain(|_, a| Ok(Datum::Bool(compare(a).is_lt())))),
    (14_142, Plain(|_, a| Ok(Datum::Bool(compare(a).is_le())))),
    (14_143, Plain(|_, a| Ok(Datum::Bool(compare(a).is_gt())))),
    (14_144, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ge())))),
    (14_145, Plain(|_, a| Ok(Datum::Int4(compare(a) as i32)))),
    (14_146, Plain(|c, a| called(c, 448, &[lower(c, &a[0]), a[1]]))),
];

/// The flag of regular expressions that do not regard case.
const IGNORING: Datum<'static> = Datum::Text("i");

fn compare(a: &[Datum<'_>]) -> Ordering {
    order::compare(oids::CITEXT, &a[0], &a[1])
}

fn lower<'a>(context: &CallContext<'a>, text: &Datum<'_>) -> Datum<'a> {
    Datum::Text(account::copied_text(context.arena, &folded(text.text())))
}

/// The function of text that has this OID.
fn called<'a>(context: &CallContext<'a>, oid: u32, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    match function(oid) {
        Some(Plain(function)) => function(context, a),
        _ => unreachable!("what citext stands on is there"),
    }
}

/// The same of one that returns a set.
fn called_set<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    oid: u32,
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let set: SetFunction = match function(oid) {
        Some(Set(function)) => function,
        _ => unreachable!("what citext stands on is there"),
    };
    set(context, signature, a, emit)
}

/// The flags of a call: case counts only where one says so.
fn flags<'a>(context: &CallContext<'a>, given: &Datum<'_>) -> Datum<'a> {
    let given = given.text();
    let ignoring = if given.contains('c') { "" } else { "i" };
    Datum::Text(account::copied_text(context.arena, &format!("{given}{ignoring}")))
}

/// A text as the regular expression that matches it.
fn quoted<'a>(context: &CallContext<'a>, text: &Datum<'a>) -> Result<Datum<'a>> {
    let pattern = Datum::Text("([^a-zA-Z_0-9])");
    called(context, 2285, &[*text, pattern, Datum::Text("\\\\\\1"), Datum::Text("g")])
}

fn split_part<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let parts = called(context, 2768, &[a[0], quoted(context, &a[1])?, IGNORING])?;
    let Some(at) = a[2].int4().checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
        return Ok(Datum::Null);
    };
    match parts.array().slots().nth(at).flatten() {
        Some(part) => crate::stored::read(context.arena, oids::TEXT, part),
        None => Ok(Datum::Null),
    }
}

fn translate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let small = called(context, 878, &[a[0], lower(context, &a[1]), a[2]])?;
    let capital = called(context, 871, &[a[1]])?;
    called(context, 878, &[small, capital, a[2]])
}
