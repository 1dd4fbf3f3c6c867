//! encode, decode, digests of bytes, gen_random_uuid.
//!
//! PostgreSQL: `encode.c` (base64 breaks lines after 76 characters), `common/md5.c` (RFC 1321).

use super::check_value;
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, arithmetic, bytea};
use bumpalo::collections::Vec as ArenaVec;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::sync::LazyLock;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1946, Plain(encode)),
    (1947, Plain(decode)),
    (2311, Plain(|c, a| Ok(md5_text(c, a[0].text().as_bytes())))),
    (2321, Plain(|c, a| Ok(md5_text(c, a[0].bytea())))),
    (3432, Plain(|c, _| Ok(Datum::Uuid(c.arena.alloc(arithmetic::random_uuid(c)))))),
    (3419, Plain(|c, a| Ok(digest::<Sha224>(c, a[0].bytea())))),
    (3420, Plain(|c, a| Ok(digest::<Sha256>(c, a[0].bytea())))),
    (3421, Plain(|c, a| Ok(digest::<Sha384>(c, a[0].bytea())))),
    (3422, Plain(|c, a| Ok(digest::<Sha512>(c, a[0].bytea())))),
];

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn unknown_encoding(name: &str) -> SqlError {
    invalid_parameter(format!("unrecognized encoding: \"{name}\""))
}

/// 54000 for an encoded text past what a value may have.
fn check_result(bytes: usize) -> Result<()> {
    check_value(bytes).map_err(|_| {
        SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            "result of encoding conversion is too large",
        )
    })
}

fn encode<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (bytes, name) = (a[0].bytea(), a[1].text());
    let mut out = ArenaVec::new_in(context.arena);
    // What is made is often as large as a value may be: room for it is taken once.
    let make_room = |out: &mut ArenaVec<'_, u8>, bytes: usize| {
        check_result(bytes)?;
        account::insist_on(bytes);
        out.reserve_exact(bytes);
        Ok::<_, SqlError>(())
    };
    match name.to_ascii_lowercase().as_str() {
        "hex" => {
            make_room(&mut out, bytes.len() * 2)?;
            out.extend(account::byte_stretches(bytes).flatten().flat_map(|byte| bytea::hex(*byte)));
        }
        "escape" => {
            let long = |byte: &u8| match byte {
                b'\\' => 2,
                0 | 0x80.. => 4,
                _ => 1,
            };
            make_room(&mut out, account::byte_stretches(bytes).flatten().map(long).sum())?;
            for &byte in account::byte_stretches(bytes).flatten() {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    0 | 0x80.. => {
                        out.push(b'\\');
                        out.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|d| b'0' + d));
                    }
                    _ => out.push(byte),
                }
            }
        }
        "base64" => {
            let symbols = bytes.len().div_ceil(3) * 4;
            make_room(&mut out, symbols + symbols / 76)?;
            for (i, chunk) in account::stepping(bytes.chunks(3)).enumerate() {
                if i > 0 && i % 19 == 0 {
                    out.push(b'\n');
                }
                let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
                let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
                for place in 0..4 {
                    let symbol = BASE64[(bits >> (18 - 6 * place) & 63) as usize];
                    out.push(if place <= chunk.len() { symbol } else { b'=' });
                }
            }
        }
        _ => return Err(unknown_encoding(name)),
    }
    let text = std::str::from_utf8(out.into_bump_slice());
    Ok(Datum::Text(text.expect("what is encoded is ASCII")))
}

fn decode<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, name) = (a[0].text(), a[1].text());
    let bytes = match name.to_ascii_lowercase().as_str() {
        "hex" => bytea::read_hex(context.arena, text)?,
        "escape" => bytea::read_escape(context.arena, text)?,
        "base64" => return decode_base64(context, text),
        _ => return Err(unknown_encoding(name)),
    };
    Ok(Datum::Bytea(bytes))
}

fn decode_base64<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    let mut out = bumpalo::collections::Vec::with_capacity_in(text.len() / 4 * 3, context.arena);
    let (mut bits, mut count, mut padding) = (0u32, 0, 0);
    for character in account::stretches(text).flat_map(str::chars) {
        if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let value = if character == '=' {
            if count < 2 || (count == 2 && padding > 1) {
                return Err(invalid_parameter("unexpected \"=\" while decoding base64 sequence"));
            }
            padding += 1;
            0
        } else {
            let found = BASE64.iter().position(|&symbol| character as u32 == u32::from(symbol));
            found.filter(|_| padding == 0).ok_or_else(|| {
                invalid_parameter(format!(
                    "invalid symbol \"{character}\" found while decoding base64 sequence"
                ))
            })? as u32
        };
        bits = bits << 6 | value;
        count += 1;
        if count == 4 {
            out.push((bits >> 16) as u8);
            if padding < 2 {
                out.push((bits >> 8) as u8);
            }
            if padding < 1 {
                out.push(bits as u8);
            }
            (bits, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(invalid_parameter("invalid base64 end sequence")
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(Datum::Bytea(out.into_bump_slice()))
}

/// A digest of the SHA-2 family.
fn digest<'a, D: Digest>(context: &CallContext<'a>, bytes: &[u8]) -> Datum<'a> {
    let mut digest = D::new();
    for stretch in bytes.chunks(account::LARGE) {
        account::insist();
        digest.update(stretch);
    }
    Datum::Bytea(context.arena.alloc_slice_copy(&digest.finalize()))
}

fn md5_text<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Datum<'a> {
    let mut out = Vec::with_capacity(32);
    bytea::write_hex(&md5(bytes), &mut out);
    Datum::Text(crate::arena_text(context, &out))
}

/// The MD5 digest (RFC 1321).
fn md5(bytes: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    // RFC 1321 defines its table as the integer part of 2³² times |sin(i + 1)|.
    static CONSTANTS: LazyLock<[u32; 64]> = LazyLock::new(|| {
        std::array::from_fn(|i| (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32)
    });
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut last = rest.to_vec();
    last.push(0x80);
    while last.len() % 64 != 56 {
        last.push(0);
    }
    last.extend_from_slice(&((bytes.len() as u64).wrapping_mul(8)).to_le_bytes());
    let constants = &*CONSTANTS;
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in account::stepping(blocks.iter().chain(last.as_chunks::<64>().0)) {
        let word = |i: usize| {
            let at = 4 * i;
            u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
        };
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64usize {
            let (mix, index) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let sum = a.wrapping_add(mix).wrapping_add(constants[i]).wrapping_add(word(index));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (word, added) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(added);
        }
    }
    let mut digest = [0; 16];
    for (place, word) in digest.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    digest
}
