//! The hash functions that PostgreSQL's hash indexes and partitions call, and people: `hashtext` and its kin.
//!
//! Bob Jenkins, *lookup3.c* (2006), as PostgreSQL's `hashfn.c` starts it: all three words with the golden ratio, the length and a
//! number of its own; a seed, where there is one, is mixed in before the bytes. The 32-bit functions give the lower half of
//! what the 64-bit ones give for the seed 0, so that there is one of each kind here. Nothing in Atoll is kept by these
//! values.

use super::account;
use super::function::Callable::{self, Plain};
use super::numeric::View;
use super::order::without_blanks;
use super::{Datum, datetime};

macro_rules! hashes {
    ($($short:literal $long:literal $of:ident;)*) => {
        /// By OID.
        pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[$(
            ($short, Plain(|_, a| Ok(Datum::Int4($of(&a[0], 0) as i32)))),
            ($long, Plain(|_, a| Ok(Datum::Int8($of(&a[0], a[1].int8() as u64) as i64)))),
        )*];
    };
}

hashes! {
    400 448 text;
    432 780 numeric;
    449 441 int2;
    450 425 int4;
    451 443 float4;
    452 444 float8;
    453 445 oid;
    454 446 char;
    455 447 text;
    457 776 oid_vector;
    949 442 int8;
    1080 972 bpchar;
    1688 3409 micros;
    1696 3410 timetz;
    1697 3418 interval;
    2039 3411 micros;
    2963 3412 uuid;
    3252 3413 int8;
}

/// The state between two pieces.
struct Words(u32, u32, u32);

impl Words {
    fn begin(length: usize, seed: u64) -> Words {
        let start = 0x9e37_79b9u32.wrapping_add(length as u32).wrapping_add(3_923_095);
        let mut words = Words(start, start, start);
        if seed != 0 {
            words.add((seed >> 32) as u32, seed as u32, 0);
            words.mix();
        }
        words
    }

    fn add(&mut self, a: u32, b: u32, c: u32) {
        self.0 = self.0.wrapping_add(a);
        self.1 = self.1.wrapping_add(b);
        self.2 = self.2.wrapping_add(c);
    }

    /// `mix` of the paper.
    fn mix(&mut self) {
        let Words(a, b, c) = self;
        for turns in [4, 6, 8, 16, 19, 4] {
            *a = a.wrapping_sub(*c) ^ c.rotate_left(turns);
            *c = c.wrapping_add(*b);
            // The words change places from step to step.
            (*a, *b, *c) = (*b, *c, *a);
        }
    }

    /// `final` of the paper, and what it gives: its last two words.
    fn end(mut self) -> u64 {
        let Words(a, b, c) = &mut self;
        for turns in [14, 11, 25, 16, 4, 14, 24] {
            *c = (*c ^ *b).wrapping_sub(b.rotate_left(turns));
            (*a, *b, *c) = (*b, *c, *a);
        }
        // Seven steps have left the last word in the middle.
        u64::from(*a) << 32 | u64::from(*b)
    }
}

/// The hash of bytes, `hash_any_extended`.
pub(crate) fn bytes(bytes: &[u8], seed: u64) -> u64 {
    let word = |piece: &[u8]| u32::from_le_bytes([piece[0], piece[1], piece[2], piece[3]]);
    let mut words = Words::begin(bytes.len(), seed);
    let mut pieces = bytes.chunks_exact(12);
    for piece in account::stepping(&mut pieces) {
        words.add(word(piece), word(&piece[4..]), word(&piece[8..]));
        words.mix();
    }
    // The lowest byte of the last word is not used.
    let mut last = [0; 13];
    let rest = pieces.remainder();
    last[..rest.len()].copy_from_slice(rest);
    last.copy_within(8..12, 9);
    last[8] = 0;
    words.add(word(&last), word(&last[4..]), word(&last[8..]));
    words.end()
}

fn word(value: u32, seed: u64) -> u64 {
    let mut words = Words::begin(4, seed);
    words.add(value, 0, 0);
    words.end()
}

/// What is the same as a shorter integer has the same hash.
fn whole(value: i64, seed: u64) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    word(low ^ if value >= 0 { high } else { !high }, seed)
}

fn text(value: &Datum<'_>, seed: u64) -> u64 {
    bytes(value.text().as_bytes(), seed)
}

fn bpchar(value: &Datum<'_>, seed: u64) -> u64 {
    bytes(without_blanks(value.text()).as_bytes(), seed)
}

fn int2(value: &Datum<'_>, seed: u64) -> u64 {
    word(i32::from(value.int2()) as u32, seed)
}

fn int4(value: &Datum<'_>, seed: u64) -> u64 {
    word(value.int4() as u32, seed)
}

fn int8(value: &Datum<'_>, seed: u64) -> u64 {
    whole(value.int8(), seed)
}

fn oid(value: &Datum<'_>, seed: u64) -> u64 {
    word(value.oid(), seed)
}

fn char(value: &Datum<'_>, seed: u64) -> u64 {
    word(i32::from(value.char() as i8) as u32, seed)
}

fn float4(value: &Datum<'_>, seed: u64) -> u64 {
    float(f64::from(value.float4()), seed)
}

fn float8(value: &Datum<'_>, seed: u64) -> u64 {
    float(value.float8(), seed)
}

fn float(value: f64, seed: u64) -> u64 {
    match value {
        0.0 => seed,
        nan if nan.is_nan() => bytes(&f64::NAN.to_le_bytes(), seed),
        value => bytes(&value.to_le_bytes(), seed),
    }
}

fn numeric(value: &Datum<'_>, seed: u64) -> u64 {
    let View::Finite(number) = View::of(value.numeric()) else { return seed };
    let number = number.to_decimal().normal();
    if number.is_zero() {
        return seed.wrapping_sub(1);
    }
    let digits: Vec<u8> = number.digits.iter().flat_map(|digit| digit.to_le_bytes()).collect();
    bytes(&digits, seed) ^ i64::from(number.weight) as u64
}

fn oid_vector(value: &Datum<'_>, seed: u64) -> u64 {
    let all: Vec<u8> =
        value.array().slots().flat_map(|slot| slot.unwrap_or_default().to_vec()).collect();
    bytes(&all, seed)
}

/// Of a time of day or a timestamp.
fn micros(value: &Datum<'_>, seed: u64) -> u64 {
    whole(
        match value {
            Datum::Time(micros) => *micros,
            other => other.timestamp(),
        },
        seed,
    )
}

fn timetz(value: &Datum<'_>, seed: u64) -> u64 {
    let time = value.timetz();
    whole(time.micros, seed) ^ word(time.west as u32, seed)
}

fn interval(value: &Datum<'_>, seed: u64) -> u64 {
    whole(datetime::interval::span(value.interval()) as i64, seed)
}

fn uuid(value: &Datum<'_>, seed: u64) -> u64 {
    match value {
        Datum::Uuid(value) => bytes(*value, seed),
        _ => seed,
    }
}
