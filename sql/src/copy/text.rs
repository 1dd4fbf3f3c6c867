//! The text format: a delimiter between fields, backslash before what would be read as something else.

use super::{Fields, Options};

/// Splits a line. A field that is, before escapes are taken out, the null string is NULL.
pub(super) fn split(line: &[u8], options: &Options, into: &mut Fields) {
    let (mut at, mut raw, mut start) = (0, 0, 0);
    loop {
        let stop = memchr::memchr2(options.delimiter, b'\\', &line[at..])
            .map_or(line.len(), |found| at + found);
        into.bytes.extend_from_slice(&line[at..stop]);
        at = stop;
        if line.get(at) == Some(&b'\\') {
            at = unescape(line, at + 1, &mut into.bytes);
            continue;
        }
        let null = &line[raw..at] == options.null.as_bytes();
        into.end_field(start, null);
        if at == line.len() {
            return;
        }
        at += 1;
        (raw, start) = (at, into.bytes.len());
    }
}

/// Decodes what follows a backslash at `at`; gives the place behind it. A backslash at the end of a line says nothing.
fn unescape(line: &[u8], at: usize, into: &mut Vec<u8>) -> usize {
    let Some(&first) = line.get(at) else { return at };
    let digits = |from: usize, most: usize, radix: u32| {
        line[from..].iter().take(most).take_while(|&&byte| char::from(byte).is_digit(radix)).count()
    };
    let number = |from: usize, count: usize, radix: u32| {
        line[from..from + count]
            .iter()
            .filter_map(|&byte| char::from(byte).to_digit(radix))
            .fold(0u32, |value, digit| value * radix + digit) as u8
    };
    match first {
        b'0'..=b'7' => {
            let count = digits(at, 3, 8);
            into.push(number(at, count, 8));
            return at + count;
        }
        b'x' if digits(at + 1, 2, 16) > 0 => {
            let count = digits(at + 1, 2, 16);
            into.push(number(at + 1, count, 16));
            return at + 1 + count;
        }
        b'b' => into.push(0x08),
        b'f' => into.push(0x0C),
        b'n' => into.push(b'\n'),
        b'r' => into.push(b'\r'),
        b't' => into.push(b'\t'),
        b'v' => into.push(0x0B),
        other => into.push(other),
    }
    at + 1
}

/// Escapes the value that stands in `out` from `from` on.
pub fn escape(out: &mut Vec<u8>, from: usize, options: &Options) {
    let is_special = |byte: u8| matches!(byte, 0x08..=0x0D | b'\\') || byte == options.delimiter;
    // Nearly always there is nothing to escape, and no branch for each byte finds that out.
    let mut pieces = out[from..].chunks(64);
    if !pieces.any(|piece| piece.iter().fold(false, |found, &byte| found | is_special(byte))) {
        return;
    }
    let value = out.split_off(from);
    let mut written = 0;
    for (at, &byte) in value.iter().enumerate() {
        let letter = match byte {
            0x08 => b'b',
            0x0C => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x0B => b'v',
            b'\\' => b'\\',
            _ if byte == options.delimiter => byte,
            _ => continue,
        };
        out.extend_from_slice(&value[written..at]);
        out.extend_from_slice(&[b'\\', letter]);
        written = at + 1;
    }
    out.extend_from_slice(&value[written..]);
}
