//! Names of schemas' objects as SQL writes them, and what the catalog keeps of sequences.

pub use sql_types::text::quote::{constant, identifier, literal, quoting};

/// A schema's name and a name in it.
#[must_use]
pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", identifier(schema), identifier(name))
}

/// Where a printed text casts to a type of this qualified name: of each cast whether it is to arrays of it. The row of a
/// table, `t.*::t`, is no cast.
#[must_use]
pub fn cast_to(text: &str, name: &str) -> Vec<bool> {
    let (bytes, mut at, mut found) = (text.as_bytes(), 0, Vec::new());
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1;
                }
            }
            b':' if text[at..].strip_prefix("::").is_some_and(|rest| rest.starts_with(name)) => {
                at += 1 + name.len();
                let rest = &bytes[at + 1..];
                let goes_on = |byte: &u8| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | 0x80..)
                };
                let whole_row = text[..at - name.len() - 1].ends_with(".*");
                if !rest.first().is_some_and(goes_on) && !whole_row {
                    found.push(rest.starts_with(b"[]"));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The text of a literal, which definitions of older versions may have with an E before it; none for what is not one literal
/// and nothing else.
fn text_of_literal(quoted: &str) -> Option<String> {
    let (quoted, escaped) = match quoted.strip_prefix('E') {
        Some(rest) => (rest, true),
        None => (quoted, false),
    };
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    if inner.replace("''", "").contains('\'') {
        return None;
    }
    let text = inner.replace("''", "'");
    Some(if escaped { text.replace("\\\\", "\\") } else { text })
}

/// The constant of type `regclass` that names a relation in a text that the catalog keeps. Nothing else in such a text
/// looks so: in a literal the quotes would be doubled.
#[must_use]
pub fn regclass(schema: &str, name: &str) -> String {
    format!("{}::regclass", constant(&qualified(schema, name)))
}

/// The default of a column whose values a sequence gives; `sequence` is its name, quoted where it has to be.
#[must_use]
pub fn nextval(sequence: &str) -> String {
    format!("nextval({}::regclass)", constant(sequence))
}

/// The names in the constants of type `regclass` of a text that the catalog keeps.
#[must_use]
pub fn relations_named(text: &str) -> Vec<String> {
    let ends = text.match_indices("'::regclass").map(|(at, _)| at);
    let names = ends.filter_map(|end| {
        let (mut start, bytes) = (end, text.as_bytes());
        loop {
            start = text[..start].rfind('\'')?;
            // Two of them are one of the name's.
            match start.checked_sub(1) {
                Some(before) if bytes[before] == b'\'' => start = before,
                _ => break,
            }
        }
        let prefix = usize::from(start > 0 && bytes[start - 1] == b'E');
        text_of_literal(&text[start - prefix..=end])
    });
    names.collect()
}

/// The name of the sequence whose next value this default is; none of any other default.
#[must_use]
pub fn sequence_of(default: &str) -> Option<String> {
    text_of_literal(default.strip_prefix("nextval(")?.strip_suffix("::regclass)")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_default_is_read_as_it_is_written() {
        for name in ["public.t_id_seq", "public.\"it's\"", "\"a\\b\".\"\"\"q\"\"\""] {
            assert_eq!(sequence_of(&nextval(name)).as_deref(), Some(name));
        }
        assert_eq!(nextval("s.q"), format!("nextval({})", regclass("s", "q")));
        for other in [
            "nextval('a'::regclass) + nextval('b'::regclass)",
            "nextval(('a'::text)::regclass)",
            "currval('a'::regclass)",
            "nextval('::regclass)",
            "7",
        ] {
            assert_eq!(sequence_of(other), None, "{other}");
        }
    }

    #[test]
    fn relations_are_found_by_their_constants() {
        let text = format!("{} + currval({})", nextval("s.q"), regclass("o'x", "b"));
        assert_eq!(relations_named(&text), ["s.q", "\"o'x\".b"]);
        assert!(relations_named("x'::regclass").is_empty());
    }
}
