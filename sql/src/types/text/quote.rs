//! Names and texts as SQL writes them: names quoted where they have to be, or all of them where the session wants it
//! (`quote_all_identifiers`).

use crate::catalog::builtin::keywords;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that are not plain names: everything that is not class `U` in PostgreSQL's keyword list.
static RESERVED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    keywords().filter(|(_, class, _)| *class != 'U').map(|(word, _, _)| word).collect()
});

thread_local! {
    /// Whether this thread is making a text in which every name is quoted.
    static ALL: Cell<bool> = const { Cell::new(false) };
}

/// Makes a text for somebody, all of its names quoted where `all` says so. What the catalog keeps is made outside.
pub fn quoting<T>(all: bool, make: impl FnOnce() -> T) -> T {
    /// Sets back what was before, also where a panic goes by.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALL.set(self.0);
        }
    }
    let _before = Before(ALL.replace(all));
    make()
}

/// A name as it has to be written in SQL.
#[must_use]
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !ALL.get()
        && !RESERVED.contains(name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
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
        assert_eq!(quoting(true, || identifier("abc_1")), "\"abc_1\"");
        assert_eq!(identifier("abc_1"), "abc_1");
        assert_eq!(literal("a'b\\"), "E'a''b\\\\'");
    }
}
