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
}
