//! Names as SQL writes them: quoted where they have to be (`quote_ident`), and literals (`quote_literal`).

use crate::catalog::builtin;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that are not plain names: everything that is not class `U` in PostgreSQL's keyword list.
static RESERVED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    builtin::keywords().filter(|(_, class, _)| *class != 'U').map(|(word, _, _)| word).collect()
});

/// A name as it has to be written in SQL.
#[must_use]
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !RESERVED.contains(name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A schema's name and a name in it.
#[must_use]
pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", identifier(schema), identifier(name))
}

/// A text as a literal.
#[must_use]
pub fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
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

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for (name, quoted) in [
            ("abc_1", "abc_1"),
            ("Abc", "\"Abc\""),
            ("select", "\"select\""),
            ("name", "name"),
            ("between", "\"between\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\"\"b\""),
            ("1a", "\"1a\""),
            ("a$", "\"a$\""),
            ("größe", "\"größe\""),
            ("", "\"\""),
        ] {
            assert_eq!(identifier(name), quoted);
        }
        assert_eq!(literal("a'b\\"), "E'a''b\\\\'");
    }

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
