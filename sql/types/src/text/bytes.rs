//! The binary form of a value as bytea (`int4send` and its family), bits of bytea, and LIKE over it.

use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::out_of_range;
use crate::function::Callable::{self, Plain, Typed};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Signature, write_binary};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2401, Typed(send)),
    (2403, Typed(send)),
    (2405, Typed(send)),
    (2407, Typed(send)),
    (2409, Typed(send)),
    (2411, Typed(send)),
    (2413, Typed(send)),
    (2415, Typed(send)),
    (2419, Typed(send)),
    (2421, Typed(send)),
    (2423, Typed(send)),
    (2425, Typed(send)),
    (2427, Typed(send)),
    (2431, Typed(send)),
    (2433, Typed(send)),
    (2435, Typed(send)),
    (2437, Typed(send)),
    (2461, Typed(send)),
    (2469, Typed(send)),
    (2471, Typed(send)),
    (2475, Typed(send)),
    (2477, Typed(send)),
    (2479, Typed(send)),
    (2962, Typed(send)),
    (324, Typed(send)),
    (2417, Typed(send)),
    (2439, Typed(send)),
    (2441, Typed(send)),
    (2443, Typed(send)),
    (2445, Typed(send)),
    (2447, Typed(send)),
    (2449, Typed(send)),
    (2451, Typed(send)),
    (2453, Typed(send)),
    (2455, Typed(send)),
    (2457, Typed(send)),
    (2459, Typed(send)),
    (2473, Typed(send)),
    (2497, Typed(send)),
    (2499, Typed(send)),
    (2503, Typed(send)),
    (3121, Typed(send)),
    (3239, Typed(send)),
    (3533, Typed(send)),
    (3739, Typed(send)),
    (3774, Typed(send)),
    (3803, Typed(send)),
    (4004, Typed(send)),
    (4088, Typed(send)),
    (4095, Typed(send)),
    (4197, Typed(send)),
    (5083, Typed(send)),
    (723, Plain(get_bit)),
    (724, Plain(set_bit)),
    (
        6163,
        Plain(|_, a| {
            let bytes = account::byte_stretches(a[0].bytea()).flatten();
            Ok(Datum::Int8(bytes.map(|byte| i64::from(byte.count_ones())).sum()))
        }),
    ),
    (749, Plain(overlay)),
    (752, Plain(overlay)),
];

fn send<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let mut out = Vec::new();
    write_binary(context, signature.arguments[0], &a[0], &mut out)?;
    Ok(Datum::Bytea(account::copied(context.arena, &out)))
}

fn bit_index(bytes: &[u8], index: i64) -> Result<(usize, u8)> {
    let count = bytes.len() as i64 * 8;
    if !(0..count).contains(&index) {
        return Err(SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            format!("index {index} out of valid range, 0..{}", count - 1),
        ));
    }
    Ok(((index / 8) as usize, (index % 8) as u8))
}

fn get_bit<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (byte, bit) = bit_index(a[0].bytea(), a[1].int8())?;
    Ok(Datum::Int4(i32::from(a[0].bytea()[byte] >> bit & 1)))
}

fn set_bit<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (byte, bit) = bit_index(a[0].bytea(), a[1].int8())?;
    let bytes = account::joined(context.arena, &[a[0].bytea()]);
    match a[2].int4() {
        0 => bytes[byte] &= !(1 << bit),
        1 => bytes[byte] |= 1 << bit,
        _ => {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
        }
    }
    Ok(Datum::Bytea(bytes))
}

fn overlay<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (bytes, new, start) = (a[0].bytea(), a[1].bytea(), i64::from(a[2].int4()));
    if start <= 0 {
        return Err(SqlError::new(
            SqlState::SUBSTRING_ERROR,
            "negative substring length not allowed",
        ));
    }
    let count = a.get(3).map_or(new.len() as i64, |count| i64::from(count.int4()));
    if i32::try_from(start + count).is_err() {
        return Err(out_of_range("integer"));
    }
    let cut = |at: i64| (at.max(0) as usize).min(bytes.len());
    let parts = [&bytes[..cut(start - 1)], new, &bytes[cut(start - 1 + count)..]];
    Ok(Datum::Bytea(account::joined(context.arena, &parts)))
}
