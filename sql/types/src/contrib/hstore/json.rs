//! hstores as JSON: every value a string, or by the loose functions what looks like a number or a boolean as one.

use super::Hstore;
use crate::error::Result;
use crate::json::{escape, jsonb_of_text};
use crate::{CallContext, Datum, arena_text};

/// Appends an hstore as a JSON object.
pub(crate) fn write_json(hstore: &[u8], out: &mut Vec<u8>) {
    write(&Hstore::view(hstore), false, out);
}

fn write(hstore: &Hstore<'_>, loose: bool, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (key, value)) in hstore.pairs().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        escape(key, out);
        out.extend_from_slice(b": ");
        match value {
            None => out.extend_from_slice(b"null"),
            Some("t") if loose => out.extend_from_slice(b"true"),
            Some("f") if loose => out.extend_from_slice(b"false"),
            Some(number) if loose && is_number(number) => out.extend_from_slice(number.as_bytes()),
            Some(text) => escape(text, out),
        }
    }
    out.push(b'}');
}

/// Whether a text is a number of JSON (RFC 8259, section 6).
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with('0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        if count == 0 {
            return false;
        }
        rest = &exponent[count..];
    }
    rest.is_empty()
}

/// The json.
pub(super) fn text<'a>(context: &CallContext<'a>, hstore: &Datum<'a>, loose: bool) -> Datum<'a> {
    let mut out = Vec::new();
    write(&Hstore::of(hstore), loose, &mut out);
    Datum::Text(arena_text(context, &out))
}

/// The jsonb.
pub(super) fn tree<'a>(
    context: &CallContext<'a>,
    hstore: &Datum<'a>,
    loose: bool,
) -> Result<Datum<'a>> {
    jsonb_of_text(context, text(context, hstore, loose).text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_json() {
        for number in ["0", "-1", "10.5", "1e5", "1E-07", "0.1e+2"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "-", "01", "1.", ".5", "1e", "+1", " 1", "1 ", "Infinity", "1.5.2"] {
            assert!(!is_number(other), "{other}");
        }
    }
}
