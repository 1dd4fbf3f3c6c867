//! Numbers of transactions, and snapshots of them: xid8, pg_snapshot (txid_snapshot is its older name), and what is computed
//! with them (PostgreSQL 15 manual, section 9.27.9; `xid8funcs.c`).
//!
//! A snapshot is held in its binary form: how many numbers it lists (4 bytes), its bounds, then the numbers (8 each),
//! big-endian.

use super::failure::{insufficient, invalid_binary, invalid_syntax, left_over};
use super::function::Callable::{self, Plain, Set};
use super::integer::{self, read_c};
use super::{CallContext, Datum, Signature};
use crate::error::{Result, SqlError};
use bumpalo::Bump;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1181, Plain(age)),
    (3939, Plain(multixact_age)),
    (2942, Plain(|_, a| Ok(a[0]))),
    (5058, Plain(|_, a| Ok(a[0]))),
    (2945, Plain(|_, a| Ok(Datum::Int8(bounds(&a[0]).0 as i64)))),
    (5062, Plain(|_, a| Ok(Datum::Int8(bounds(&a[0]).0 as i64)))),
    (2946, Plain(|_, a| Ok(Datum::Int8(bounds(&a[0]).1 as i64)))),
    (5063, Plain(|_, a| Ok(Datum::Int8(bounds(&a[0]).1 as i64)))),
    (2947, Set(each_running)),
    (5064, Set(each_running)),
    (2948, Plain(|_, a| Ok(Datum::Bool(is_over(a[0].int8() as u64, &a[1]))))),
    (5065, Plain(|_, a| Ok(Datum::Bool(is_over(a[0].int8() as u64, &a[1]))))),
];

/// The most numbers that a snapshot lists (`PG_SNAPSHOT_MAX_NXIP`).
const RUNNING_MAX: i32 = 0x3fff_ffff / 8 - 3;

/// The lowest number that is a transaction's; those below are as old as can be.
const FIRST_NORMAL: u32 = 3;

/// How many numbers have been given since this one, as a number of 32 bits has it; since this start of the server where it
/// is none of them, but of a commit's place in the log.
fn age<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (number, catalog) = (a[0].oid(), context.catalog);
    let first = catalog.first_xact_id() as u32;
    Ok(Datum::Int4(match number {
        ..FIRST_NORMAL => i32::MAX,
        _ if (number ^ first) >> 31 == 1 => {
            (catalog.next_xact_id() as u32).wrapping_sub(first).cast_signed()
        }
        _ => (context.catalog.next_xact_id() as u32).wrapping_sub(number).cast_signed(),
    }))
}

/// No row is locked by several transactions under one number: the first of those is the next.
fn multixact_age<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let number = a[0].oid();
    Ok(Datum::Int4(if number == 0 { i32::MAX } else { 1_u32.wrapping_sub(number).cast_signed() }))
}

/// Holds a snapshot.
pub fn store<'a>(arena: &'a Bump, xmin: u64, xmax: u64, running: &[u64]) -> Datum<'a> {
    let mut bytes = (running.len() as u32).to_be_bytes().to_vec();
    for number in [xmin, xmax].iter().chain(running) {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    Datum::Bytea(arena.alloc_slice_copy(&bytes))
}

/// The bounds, then what is listed.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let numbers = bytes.get(4..).unwrap_or_default().chunks_exact(8);
    numbers.map(|number| u64::from_be_bytes(number.try_into().expect("eight bytes")))
}

fn bounds(snapshot: &Datum<'_>) -> (u64, u64) {
    let mut numbers = numbers(snapshot.bytea());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn is_over(number: u64, snapshot: &Datum<'_>) -> bool {
    let (xmin, xmax) = bounds(snapshot);
    number < xmin || number < xmax && numbers(snapshot.bytea()).skip(2).all(|one| one != number)
}

fn each_running<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for number in numbers(a[0].bytea()).skip(2) {
        if !emit(&[Datum::Int8(number as i64)])? {
            break;
        }
    }
    Ok(())
}

/// Whether these can be a snapshot's numbers.
fn is_sound(xmin: u64, xmax: u64, running: &[u64]) -> bool {
    let within = running.iter().all(|number| (xmin..xmax).contains(number));
    // The number of a transaction within its epoch is never 0.
    let valid = |number: u64| number as u32 != 0;
    valid(xmin) && valid(xmax) && xmin <= xmax && within && running.is_sorted()
}

/// Reads `xmin:xmax:number,number`; a number that is listed twice is so once.
///
/// # Errors
/// 22P02.
pub(super) fn read<'a>(arena: &'a Bump, text: &str) -> Result<Datum<'a>> {
    let invalid = || invalid_syntax("pg_snapshot", text);
    let (xmin, rest) = read_c(text, false);
    let (xmax, rest) = read_c(rest.strip_prefix(':').ok_or_else(invalid)?, false);
    let mut rest = rest.strip_prefix(':').ok_or_else(invalid)?;
    let mut running = Vec::new();
    while !rest.is_empty() {
        let (number, behind) = read_c(rest, false);
        running.push(number);
        rest = match behind.strip_prefix(',') {
            Some(behind) => behind,
            None if behind.is_empty() => behind,
            None => return Err(invalid()),
        };
    }
    if !is_sound(xmin, xmax, &running) {
        return Err(invalid());
    }
    running.dedup();
    Ok(store(arena, xmin, xmax, &running))
}

/// Reads the binary form.
///
/// # Errors
/// 08P01, 22P03.
pub(super) fn receive<'a>(arena: &'a Bump, bytes: &[u8]) -> Result<Datum<'a>> {
    let invalid = || invalid_binary("invalid external pg_snapshot data");
    let (count, mut rest) = bytes.split_first_chunk().ok_or_else(insufficient)?;
    let count = i32::from_be_bytes(*count);
    if !(0..=RUNNING_MAX).contains(&count) {
        return Err(invalid());
    }
    let mut number = || {
        let (number, behind) = rest.split_first_chunk().ok_or_else(insufficient)?;
        rest = behind;
        Ok::<_, SqlError>(u64::from_be_bytes(*number))
    };
    let (xmin, xmax) = (number()?, number()?);
    let mut running = Vec::new();
    for _ in 0..count {
        running.push(number()?);
    }
    if !is_sound(xmin, xmax, &running) {
        return Err(invalid());
    }
    if !rest.is_empty() {
        return Err(left_over());
    }
    running.dedup();
    Ok(store(arena, xmin, xmax, &running))
}

/// Appends a snapshot's text.
pub(super) fn write(bytes: &[u8], out: &mut Vec<u8>) {
    for (at, number) in numbers(bytes).enumerate() {
        match at {
            0 => {}
            1 | 2 => out.push(b':'),
            _ => out.push(b','),
        }
        integer::write_u64(number, out);
    }
    if bytes.len() == 4 + 2 * 8 {
        out.push(b':');
    }
}
