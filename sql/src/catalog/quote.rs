//! Names of schemas' objects as SQL writes them, and what the catalog keeps of sequences.

pub use crate::types::text::quote::{constant, identifier, literal, quoting};

/// A schema's name and a name in it.
#[must_use]
pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", identifier(schema), identifier(name))
}

/// The text of a literal; none for what is not one literal and nothing else.
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
    format!("{}::regclass", literal(&qualified(schema, name)))
}

/// The default of a column whose values a sequence gives; `sequence` is its name, quoted where it has to be.
#[must_use]
pub fn nextval(sequence: &str) -> String {
    format!("nextval({}::regclass)", literal(sequence))
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
}
