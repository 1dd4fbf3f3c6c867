//! The csv format: quotes around what would be read as something else, and an escape before a quote within.

use super::{Fields, Options, bad};
use crate::error::Result;

/// Splits a line, which may hold line ends within quotes. An unquoted field that is the null string is NULL.
///
/// # Errors
/// 22P04 if the last quote is open.
pub(super) fn split(line: &[u8], options: &Options, into: &mut Fields) -> Result<()> {
    let (quote, escape) = (options.quote, options.escape);
    let mut at = 0;
    loop {
        let (start, mut quoted, mut inside) = (into.bytes.len(), false, false);
        while let Some(&byte) = line.get(at) {
            if !inside && byte == options.delimiter {
                break;
            }
            at += 1;
            if !inside {
                if byte == quote {
                    (quoted, inside) = (true, true);
                } else {
                    into.bytes.push(byte);
                }
            } else if byte == escape
                && line.get(at).is_some_and(|&next| next == escape || next == quote)
            {
                into.bytes.push(line[at]);
                at += 1;
            } else if byte == quote {
                inside = false;
            } else {
                into.bytes.push(byte);
            }
        }
        if inside {
            return Err(bad("unterminated CSV quoted field"));
        }
        let number = into.fields.len();
        let is_null_string = &into.bytes[start..] == options.null.as_bytes();
        let null = is_null_string
            && if quoted {
                options.force_null.contains(number)
            } else {
                !options.force_not_null.contains(number)
            };
        into.end_field(start, null);
        if at >= line.len() {
            return Ok(());
        }
        at += 1;
        if at == line.len() {
            // A delimiter at the end: an empty field follows.
            let start = into.bytes.len();
            let null =
                options.null.is_empty() && !options.force_not_null.contains(into.fields.len());
            into.end_field(start, null);
            return Ok(());
        }
    }
}

/// Writes one value of column `number`; `alone` if the row has no other.
pub fn write(value: &str, number: usize, alone: bool, options: &Options, out: &mut Vec<u8>) {
    let bytes = value.as_bytes();
    let special = |byte: &u8| {
        *byte == options.delimiter || *byte == options.quote || *byte == b'\n' || *byte == b'\r'
    };
    let quoted = options.force_quote.contains(number)
        || value == options.null
        || (alone && value == "\\.")
        || bytes.iter().any(special);
    if !quoted {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(options.quote);
    for &byte in bytes {
        if byte == options.quote || byte == options.escape {
            out.push(options.escape);
        }
        out.push(byte);
    }
    out.push(options.quote);
}

/// Writes a column's name in the header line: FORCE_QUOTE is not for names.
pub fn write_header(name: &str, options: &Options, out: &mut Vec<u8>) {
    let plain = Options { force_quote: super::Columns::None, ..options.clone() };
    write(name, 0, false, &plain, out);
}
