//! Which objects a kept text names, so that who renames or drops one looks at the texts that may say its name, and at no
//! others.
//!
//! Definitions (queries of views, defaults, CHECKs, what indexes compute) are kept as printed text, in which every
//! relation and every type that users made is qualified: as `schema.name`, or as that in a constant of `regclass`. A text's
//! mentions are all pairs of names that stand so in it. Columns behind an alias (`t.id`) are pairs too: a mention says that
//! a text *may* name an object, and whoever asks binds the text to know. PostgreSQL has dependencies in `pg_depend`
//! (manual, section 5.14), by OID; here a text that names an object is rewritten with each new name, so the names lead to
//! the same objects.
//!
//! A pair is kept as a hash of 64 bits: two that meet cost a text that is bound for nothing.

use crate::search_path::split_name;
use crate::temporary::SCHEMA_PREFIX;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The schema of what is built in, which nobody renames or drops.
const BUILT_IN: &str = "pg_catalog";

/// How texts call the schema of a session's temporary objects.
const TEMPORARY: &str = "pg_temp";

/// What stands for a schema's name and a name in it.
#[must_use]
pub fn mention(schema: &str, name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    // A session has one schema of temporary objects, which has two names.
    let schema = if schema.starts_with(SCHEMA_PREFIX) { TEMPORARY } else { schema };
    hasher.write(schema.as_bytes());
    // No name has this byte.
    hasher.write_u8(0);
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// What a text that the catalog keeps mentions, each at least once.
#[must_use]
pub fn mentions(text: &str) -> Vec<u64> {
    let mut found = Vec::new();
    named(text, &mut |schema, name| found.push(mention(schema, name)));
    found
}

/// The names that a text that the catalog keeps may have for objects in schemas: pairs of a schema's and the object's.
#[must_use]
pub fn names_in(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    named(text, &mut |schema, name| found.push((schema.to_owned(), name.to_owned())));
    found.sort_unstable();
    found.dedup();
    found
}

/// Calls `note` with each pair of names.
fn named(text: &str, note: &mut dyn FnMut(&str, &str)) {
    // What stands before a dot that comes next.
    let mut before: Option<String> = None;
    let mut rest = text;
    let mut escapes = false;
    while let Some(c) = rest.chars().next() {
        match c {
            '\'' => {
                let (literal, behind) = quoted(rest, escapes);
                // A literal of `regclass` is a name and nothing else.
                if literal.contains('.')
                    && let Some([schema, name]) = split_name(&literal).as_deref()
                {
                    note(schema, name);
                }
                (rest, before, escapes) = (behind, None, false);
            }
            '"' => {
                let (name, behind) = quoted(rest, false);
                rest = behind;
                before = paired(before, name, rest, note);
            }
            c if c.is_alphabetic() || c == '_' || !c.is_ascii() => {
                let inside =
                    |c: char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
                let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                escapes = name.eq_ignore_ascii_case("e") && behind.starts_with('\'');
                rest = behind;
                before = paired(before, name.to_owned(), rest, note);
            }
            '0'..='9' => {
                // The dot of a number stands between no names.
                let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
                let end = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
                (rest, before) = (&rest[end..], None);
            }
            c => {
                rest = &rest[c.len_utf8()..];
                if c != '.' {
                    before = None;
                }
            }
        }
    }
}

/// Notes a name behind another one; says what stands before the dot that comes next, if one does.
fn paired(
    before: Option<String>,
    name: String,
    behind: &str,
    note: &mut dyn FnMut(&str, &str),
) -> Option<String> {
    if let Some(schema) = before
        && schema != BUILT_IN
    {
        note(&schema, &name);
    }
    behind.starts_with('.').then_some(name)
}

/// What stands between the quote that a text begins with and the next one, doubled ones being one; and what comes behind.
fn quoted(text: &str, escapes: bool) -> (String, &str) {
    let mut content = String::new();
    let mut chars = text.char_indices();
    let quote = chars.next().map(|(_, quote)| quote);
    while let Some((at, c)) = chars.next() {
        if escapes && c == '\\' {
            content.extend(chars.next().map(|(_, c)| c));
        } else if Some(c) != quote {
            content.push(c);
        } else if text[at + c.len_utf8()..].chars().next() == quote {
            content.push(c);
            chars.next();
        } else {
            return (content, &text[at + c.len_utf8()..]);
        }
    }
    (content, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quote::{nextval, qualified, regclass};

    fn names(text: &str) -> Vec<String> {
        names_in(text).into_iter().map(|(schema, name)| format!("{schema}|{name}")).collect()
    }

    #[test]
    fn a_text_mentions_what_it_qualifies() {
        assert_eq!(
            names("SELECT t.a, 1.5 FROM public.t WHERE t.b = 'x.y z'"),
            ["public|t", "t|a", "t|b"]
        );
        assert_eq!(
            names("('a'::s.kind)::text <> '\"' AND b IN (SELECT \"T\".c FROM s.\"T\")"),
            ["T|c", "s|T", "s|kind"]
        );
        assert_eq!(names("a OPERATOR(pg_catalog.+) b"), Vec::<String>::new());
    }

    #[test]
    fn temporary_objects_have_two_schemas() {
        assert_eq!(mention("pg_temp_7", "t"), mention("pg_temp", "t"));
        assert_ne!(mention("pg_temp", "t"), mention("public", "t"));
    }

    #[test]
    fn odd_names_are_found_as_they_are_printed() {
        let odd = ["t", "T", "it's", "a\"b", "a.b", "a\\b", "übung", "select", "x'.'y"];
        for (schema, name) in odd.iter().flat_map(|schema| odd.map(|name| (*schema, name))) {
            let printed = [
                format!("SELECT 1 FROM {} x", qualified(schema, name)),
                format!("CAST(NULL::{} AS text)", qualified(schema, name)),
                format!("1 + nextval({})", regclass(schema, name)),
                nextval(&qualified(schema, name)),
                format!("'\"' || '{}' || \"'\".x::{}", "''", qualified(schema, name)),
            ];
            for text in printed {
                assert!(
                    mentions(&text).contains(&mention(schema, name)),
                    "{schema} {name}: {text}"
                );
            }
        }
    }
}
