//! inet and cidr: addresses of hosts and networks, their text and binary forms, and what is computed with them.
//!
//! PostgreSQL: `network.c`, `inet_net_pton.c`, `inet_net_ntop.c`. A value is held as bytes that compare as its type does (by
//! family, then by the bits that both networks have, then by how many these are, then by the whole address), so that it
//! is stored, hashed and made a key as bytea is:
//!
//! ```text
//! family u8 (4 or 6) · the network: the address without its host bits · netmask length u8 · the address
//! ```

use super::failure::{invalid_binary, invalid_parameter, invalid_syntax, left_over, no_data};
use super::function::Callable::{self, Plain};
use super::{CallContext, Datum};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use std::io::Write;
use std::net::{IpAddr, Ipv6Addr};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (598, Plain(|c, a| text(c, |out| write(inet(&a[0]), false, out)))),
    (599, Plain(|c, a| text(c, |out| write_abbreviated(inet(&a[0]), out)))),
    (605, Plain(|c, a| Ok(held(c, with_length(inet(&a[0]), a[1].int4())?)))),
    (635, Plain(|c, a| Ok(held(c, with_length(inet(&a[0]), a[1].int4())?.network())))),
    (683, Plain(|c, a| Ok(held(c, inet(&a[0]).network())))),
    (696, Plain(|c, a| Ok(held(c, inet(&a[0]).host_of(|_, mask| mask))))),
    (697, Plain(|_, a| Ok(Datum::Int4(i32::from(inet(&a[0]).bits))))),
    (698, Plain(|c, a| Ok(held(c, inet(&a[0]).mapped(|byte, mask| byte | !mask))))),
    (699, Plain(|c, a| text(c, |out| write_address(inet(&a[0]), out)))),
    (711, Plain(|_, a| Ok(Datum::Int4(if inet(&a[0]).v6 { 6 } else { 4 })))),
    (730, Plain(|c, a| text(c, |out| write(inet(&a[0]), true, out)))),
    (927, Plain(|_, a| Ok(contains(&a[1], &a[0], |outer, inner| outer < inner)))),
    (928, Plain(|_, a| Ok(contains(&a[1], &a[0], |outer, inner| outer <= inner)))),
    (929, Plain(|_, a| Ok(contains(&a[0], &a[1], |outer, inner| outer < inner)))),
    (930, Plain(|_, a| Ok(contains(&a[0], &a[1], |outer, inner| outer <= inner)))),
    (1362, Plain(|c, a| Ok(held(c, inet(&a[0]).host_of(|_, mask| !mask))))),
    (1715, Plain(|c, a| Ok(held(c, inet(&a[0]).network())))),
    (2627, Plain(|c, a| Ok(held(c, inet(&a[0]).mapped(|byte, _| !byte))))),
    (2628, Plain(|c, a| Ok(held(c, both(&a[0], &a[1], "AND", |x, y| x & y)?)))),
    (2629, Plain(|c, a| Ok(held(c, both(&a[0], &a[1], "OR", |x, y| x | y)?)))),
    (2630, Plain(|c, a| Ok(held(c, plus(inet(&a[0]), i128::from(a[1].int8()))?)))),
    (2631, Plain(|c, a| Ok(held(c, plus(inet(&a[1]), i128::from(a[0].int8()))?)))),
    (2632, Plain(|c, a| Ok(held(c, plus(inet(&a[0]), -i128::from(a[1].int8()))?)))),
    (2633, Plain(minus)),
    (3551, Plain(|_, a| Ok(overlap(&a[0], &a[1])))),
    (4063, Plain(merge)),
    (4071, Plain(|_, a| Ok(Datum::Bool(inet(&a[0]).v6 == inet(&a[1]).v6)))),
];

/// The families on the wire.
const WIRE_V4: u8 = 2;
const WIRE_V6: u8 = 3;

/// An address with the length of its netmask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inet {
    v6: bool,
    bits: u8,
    /// The first four bytes count, of IPv6 all.
    address: [u8; 16],
}

impl Inet {
    /// Of its stored bytes.
    fn of(bytes: &[u8]) -> Inet {
        let v6 = bytes[0] == 6;
        let length = if v6 { 16 } else { 4 };
        let mut address = [0; 16];
        address[..length].copy_from_slice(&bytes[2 + length..2 + 2 * length]);
        Inet { v6, bits: bytes[1 + length], address }
    }

    fn length(self) -> usize {
        if self.v6 { 16 } else { 4 }
    }

    fn bits_max(self) -> u8 {
        self.length() as u8 * 8
    }

    fn bytes(&self) -> &[u8] {
        &self.address[..self.length()]
    }

    /// The netmask's byte at `at`.
    fn mask(self, at: usize) -> u8 {
        let left = usize::from(self.bits).saturating_sub(at * 8).min(8);
        !(0xFF_u8.checked_shr(left as u32).unwrap_or(0))
    }

    /// Each byte of the address with that of the netmask made another.
    fn mapped(self, change: impl Fn(u8, u8) -> u8) -> Inet {
        let mut changed = self;
        for at in 0..self.length() {
            changed.address[at] = change(self.address[at], self.mask(at));
        }
        changed
    }

    /// As [`Inet::mapped`], as an address without a network.
    fn host_of(self, change: impl Fn(u8, u8) -> u8) -> Inet {
        Inet { bits: self.bits_max(), ..self.mapped(change) }
    }

    fn network(self) -> Inet {
        self.mapped(|byte, mask| byte & mask)
    }

    fn is_network(self) -> bool {
        self.network() == self
    }

    /// The stored bytes.
    fn store(self, out: &mut Vec<u8>) {
        out.push(if self.v6 { 6 } else { 4 });
        out.extend_from_slice(self.network().bytes());
        out.push(self.bits);
        out.extend_from_slice(self.bytes());
    }

    /// How many bits from the first on two addresses of a family have in common.
    fn common(self, other: Inet) -> u8 {
        let differing = self.bytes().iter().zip(other.bytes()).position(|(a, b)| a != b);
        match differing {
            None => self.bits_max(),
            Some(at) => {
                let within = (self.address[at] ^ other.address[at]).leading_zeros();
                at as u8 * 8 + within as u8
            }
        }
    }
}

fn inet(datum: &Datum<'_>) -> Inet {
    Inet::of(datum.bytea())
}

fn held<'a>(context: &CallContext<'a>, value: Inet) -> Datum<'a> {
    held_in(context.arena, value)
}

fn held_in(arena: &Bump, value: Inet) -> Datum<'_> {
    let mut bytes = Vec::with_capacity(34);
    value.store(&mut bytes);
    Datum::Bytea(arena.alloc_slice_copy(&bytes))
}

fn text<'a>(context: &CallContext<'a>, write: impl FnOnce(&mut Vec<u8>)) -> Result<Datum<'a>> {
    let mut out = Vec::with_capacity(48);
    write(&mut out);
    let text = String::from_utf8(out).expect("addresses are written in ASCII");
    Ok(Datum::Text(context.arena.alloc_str(&text)))
}

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range")
}

fn with_length(value: Inet, bits: i32) -> Result<Inet> {
    let max = i32::from(value.bits_max());
    match if bits == -1 { max } else { bits } {
        bits if (0..=max).contains(&bits) => Ok(Inet { bits: bits as u8, ..value }),
        bits => Err(invalid_parameter(format!("invalid mask length: {bits}"))),
    }
}

/// Whether `outer` has all that `inner` has, and their lengths are as `lengths` wants.
fn contains<'a>(outer: &Datum<'_>, inner: &Datum<'_>, lengths: fn(u8, u8) -> bool) -> Datum<'a> {
    let (outer, inner) = (inet(outer), inet(inner));
    let within = outer.v6 == inner.v6
        && lengths(outer.bits, inner.bits)
        && outer.common(inner) >= outer.bits;
    Datum::Bool(within)
}

fn overlap<'a>(a: &Datum<'_>, b: &Datum<'_>) -> Datum<'a> {
    let (a, b) = (inet(a), inet(b));
    Datum::Bool(a.v6 == b.v6 && a.common(b) >= a.bits.min(b.bits))
}

fn both(a: &Datum<'_>, b: &Datum<'_>, word: &str, combine: fn(u8, u8) -> u8) -> Result<Inet> {
    let (a, b) = (inet(a), inet(b));
    if a.v6 != b.v6 {
        return Err(invalid_parameter(format!("cannot {word} inet values of different sizes")));
    }
    let mut combined = Inet { bits: a.bits.max(b.bits), ..a };
    for at in 0..a.length() {
        combined.address[at] = combine(a.address[at], b.address[at]);
    }
    Ok(combined)
}

fn number(value: Inet) -> u128 {
    value.bytes().iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

fn plus(value: Inet, more: i128) -> Result<Inet> {
    let sum = number(value).checked_add_signed(more).ok_or_else(out_of_range)?;
    if !value.v6 && sum > u128::from(u32::MAX) {
        return Err(out_of_range());
    }
    let (length, mut changed) = (value.length(), value);
    changed.address[..length].copy_from_slice(&sum.to_be_bytes()[16 - length..]);
    Ok(changed)
}

fn minus<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (a, b) = (inet(&a[0]), inet(&a[1]));
    if a.v6 != b.v6 {
        return Err(invalid_parameter("cannot subtract inet values of different sizes".to_owned()));
    }
    let (a, b) = (number(a), number(b));
    let difference = i64::try_from(a.abs_diff(b)).map_err(|_| out_of_range())?;
    Ok(Datum::Int8(if a < b { -difference } else { difference }))
}

fn merge<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (a, b) = (inet(&a[0]), inet(&a[1]));
    if a.v6 != b.v6 {
        let message = "cannot merge addresses from different families";
        return Err(invalid_parameter(message.to_owned()));
    }
    let bits = a.common(b).min(a.bits).min(b.bits);
    Ok(held(context, Inet { bits, ..a }.network()))
}

/// The inet of a host; NULL for none.
pub fn host(arena: &Bump, address: Option<IpAddr>) -> Datum<'_> {
    let Some(address) = address else { return Datum::Null };
    let mut bytes = [0; 16];
    let v6 = match address {
        IpAddr::V4(address) => {
            bytes[..4].copy_from_slice(&address.octets());
            false
        }
        IpAddr::V6(address) => {
            bytes = address.octets();
            true
        }
    };
    let host = Inet { v6, bits: if v6 { 128 } else { 32 }, address: bytes };
    held_in(arena, host)
}

/// Writes a stored value's text; a cidr always says its length.
pub(super) fn write_stored(stored: &[u8], cidr: bool, out: &mut Vec<u8>) {
    write(Inet::of(stored), cidr, out);
}

fn write(value: Inet, length: bool, out: &mut Vec<u8>) {
    write_address(value, out);
    if length || value.bits != value.bits_max() {
        put(out, format_args!("/{}", value.bits));
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes what is written");
}

/// The address alone: of IPv6 the longest run of zeros is `::`, and what holds an IPv4 address ends in one.
fn write_address(value: Inet, out: &mut Vec<u8>) {
    let quad = |bytes: &[u8], out: &mut Vec<u8>| {
        put(out, format_args!("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]));
    };
    if !value.v6 {
        return quad(&value.address, out);
    }
    let words: [u16; 8] = std::array::from_fn(|at| {
        u16::from_be_bytes([value.address[2 * at], value.address[2 * at + 1]])
    });
    let (mut base, mut longest, mut run) = (0, 0, 0);
    for (at, word) in words.iter().enumerate() {
        run = if *word == 0 { run + 1 } else { 0 };
        if run > longest {
            (base, longest) = (at + 1 - run, run);
        }
    }
    let zeros = if longest >= 2 { base..base + longest } else { 8..8 };
    let v4 = zeros.start == 0
        && (longest == 6
            || (longest == 7 && words[7] != 1)
            || (longest == 5 && words[5] == 0xFFFF));
    for (at, word) in words.iter().enumerate() {
        if zeros.contains(&at) {
            if at == zeros.start {
                out.push(b':');
            }
            continue;
        }
        if at > 0 {
            out.push(b':');
        }
        if v4 && at == 6 {
            return quad(&value.address[12..], out);
        }
        put(out, format_args!("{word:x}"));
    }
    if zeros.end == 8 && !zeros.is_empty() {
        out.push(b':');
    }
}

/// A network without the bytes that its length says are zero: `10.1/16` (`inet_cidr_ntop`).
fn write_abbreviated(value: Inet, out: &mut Vec<u8>) {
    if value.v6 {
        write_abbreviated_v6(value, out);
    } else {
        let shown = usize::from(value.bits.div_ceil(8)).max(1);
        for (at, byte) in value.address[..shown].iter().enumerate() {
            let point = if at > 0 { "." } else { "" };
            put(out, format_args!("{point}{byte}"));
        }
    }
    put(out, format_args!("/{}", value.bits));
}

/// Of two runs of zeros as long as each other the first is `::`; a run counts on where a shorter one came before.
fn write_abbreviated_v6(value: Inet, out: &mut Vec<u8>) {
    if value.bits == 0 {
        return out.extend_from_slice(b"::");
    }
    let count = usize::from(value.bits.div_ceil(16)).max(2);
    let bytes = value.address;
    let word = |at: usize| u16::from_be_bytes([bytes[2 * at], bytes[2 * at + 1]]);
    let (mut base, mut longest, mut start, mut run) = (0, 0, 0, 0);
    for at in 0..=count {
        if at < count && word(at) == 0 {
            if run == 0 {
                start = at;
            }
            run += 1;
        } else if run > longest {
            (base, longest) = (start, run);
            run = 0;
        }
    }
    let v4 = longest != count
        && base == 0
        && (longest == 6
            || (longest == 5 && word(5) == 0xFFFF)
            || (longest == 7 && bytes[14] != 0 && bytes[15] != 1));
    let begun = out.len();
    for at in 0..count {
        if longest != 0 && (base..base + longest).contains(&at) {
            let colons = usize::from(at == base) + usize::from(at == count - 1);
            out.extend_from_slice(&b"::"[..colons]);
        } else if v4 && at > 5 {
            let mark = if at == 6 { ':' } else { '.' };
            put(out, format_args!("{mark}{}", bytes[2 * at]));
            if at != 7 || value.bits > 120 {
                put(out, format_args!(".{}", bytes[2 * at + 1]));
            }
        } else {
            let colon = if out.len() == begun { "" } else { ":" };
            put(out, format_args!("{colon}{:x}", word(at)));
        }
    }
}

/// Reads a text.
///
/// # Errors
/// 22P02.
pub(super) fn read<'a>(context: &CallContext<'a>, text: &str, cidr: bool) -> Result<Datum<'a>> {
    let read = match (text.contains(':'), cidr) {
        (true, _) => read_v6(text),
        (false, true) => read_v4_network(text),
        (false, false) => read_v4(text),
    };
    let value = read.ok_or_else(|| invalid_syntax(if cidr { "cidr" } else { "inet" }, text))?;
    if cidr && !value.is_network() {
        return Err(SqlError::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("invalid cidr value: \"{text}\""),
        )
        .detail("Value has bits set to right of mask."));
    }
    Ok(held(context, value))
}

fn read_v6(text: &str) -> Option<Inet> {
    let (address, bits) = match text.split_once('/') {
        None => (text, 128),
        Some((address, bits)) => {
            let plain = bits.bytes().all(|byte| byte.is_ascii_digit());
            let plain = plain && (bits == "0" || !bits.starts_with('0'));
            (address, bits.parse().ok().filter(|bits| plain && *bits <= 128)?)
        }
    };
    let address: Ipv6Addr = address.parse().ok()?;
    Some(Inet { v6: true, bits, address: address.octets() })
}

/// The octets in front, how many there are, and what is behind them: `/` and a length, or nothing.
fn octets(text: &str, trailing_dot: bool) -> Option<([u8; 16], usize, Option<u8>)> {
    let (address, bits) = match text.split_once('/') {
        None => (text, None),
        Some((address, bits)) => {
            let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
            (address, Some(bits.parse().ok().filter(|bits| digits && *bits <= 32)?))
        }
    };
    let address = address.strip_suffix('.').filter(|_| trailing_dot).unwrap_or(address);
    let (mut octets, mut count) = ([0; 16], 0);
    for octet in address.split('.') {
        let digits = !octet.is_empty() && octet.bytes().all(|byte| byte.is_ascii_digit());
        let octet = octet.trim_start_matches('0');
        let value = if octet.is_empty() { 0 } else { octet.parse().ok()? };
        if !digits || count == 4 {
            return None;
        }
        octets[count] = value;
        count += 1;
    }
    Some((octets, count, bits))
}

fn read_v4(text: &str) -> Option<Inet> {
    let (address, count, bits) = octets(text, true)?;
    let bits = bits.or((count == 4).then_some(32))?;
    (usize::from(bits) / 8 <= count).then_some(Inet { v6: false, bits, address })
}

/// Without a length it is that of the address's class, or of the octets that are there.
fn read_v4_network(text: &str) -> Option<Inet> {
    let (address, count, bits) = octets(text, false)?;
    let bits = bits.unwrap_or_else(|| {
        let class = match address[0] {
            240.. => 32,
            224.. => 8,
            192.. => 24,
            128.. => 16,
            _ => 8,
        };
        match class.max(count as u8 * 8) {
            8 if address[0] == 224 => 4,
            bits => bits,
        }
    });
    Some(Inet { v6: false, bits, address })
}

/// Writes a stored value's binary form.
pub(super) fn send(stored: &[u8], cidr: bool, out: &mut Vec<u8>) {
    let value = Inet::of(stored);
    let family = if value.v6 { WIRE_V6 } else { WIRE_V4 };
    out.extend_from_slice(&[family, value.bits, u8::from(cidr), value.length() as u8]);
    out.extend_from_slice(value.bytes());
}

/// Reads a binary form.
///
/// # Errors
/// 22P03.
pub(super) fn receive<'a>(
    context: &CallContext<'a>,
    bytes: &[u8],
    cidr: bool,
) -> Result<Datum<'a>> {
    let name = if cidr { "cidr" } else { "inet" };
    let invalid =
        |what: &str| invalid_binary(format!("invalid {what} in external \"{name}\" value"));
    let mut rest = bytes;
    let mut byte = || rest.split_off_first().copied().ok_or_else(no_data);
    let v6 = match byte()? {
        WIRE_V4 => false,
        WIRE_V6 => true,
        _ => return Err(invalid("address family")),
    };
    let mut value = Inet { v6, bits: byte()?, address: [0; 16] };
    if value.bits > value.bits_max() {
        return Err(invalid("bits"));
    }
    // Whether it is a cidr: nobody looks.
    byte()?;
    if usize::from(byte()?) != value.length() {
        return Err(invalid("length"));
    }
    let (address, behind) = rest.split_at_checked(value.length()).ok_or_else(no_data)?;
    value.address[..address.len()].copy_from_slice(address);
    if !behind.is_empty() {
        return Err(left_over());
    }
    if cidr && !value.is_network() {
        return Err(invalid_binary("invalid external \"cidr\" value")
            .detail("Value has bits set to right of mask."));
    }
    Ok(held(context, value))
}

#[cfg(test)]
mod tests {
    use super::Inet;
    use proptest::prelude::*;

    fn any_inet() -> impl Strategy<Value = Inet> {
        (any::<bool>(), 0..=128_u8, any::<[u8; 16]>(), 0..17_usize).prop_map(|parts| {
            let (v6, bits, mut address, kept) = parts;
            let length = if v6 { 16 } else { 4 };
            // Addresses that have much in common, too.
            address[kept.min(length)..].fill(0);
            Inet { v6, bits: bits.min(length as u8 * 8), address }
        })
    }

    fn stored(value: Inet) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.store(&mut bytes);
        bytes
    }

    /// `network_cmp_internal`, step by step.
    fn compare(a: Inet, b: Inet) -> std::cmp::Ordering {
        let bits = a.bits.min(b.bits);
        let within = |value: Inet| Inet { bits, ..value }.network().address;
        a.v6.cmp(&b.v6)
            .then(within(a).cmp(&within(b)))
            .then(a.bits.cmp(&b.bits))
            .then(a.address.cmp(&b.address))
    }

    proptest! {
        #[test]
        fn stored_bytes_read_back_and_compare_as_the_type_does(a in any_inet(), b in any_inet()) {
            prop_assert_eq!(Inet::of(&stored(a)), a);
            prop_assert_eq!(stored(a).cmp(&stored(b)), compare(a, b));
        }
    }
}
