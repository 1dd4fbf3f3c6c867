//! Paths against PostgreSQL: how they are printed, what is said of wrong ones, how deep they go, and that no text makes
//! them panic.

use crate::no_session::with_context;
use crate::{SqlType, oids, read_binary, read_text, text_of, write_binary};
use proptest::prelude::*;

const JSONPATH: SqlType = SqlType::plain(oids::JSONPATH);

/// The path as printed, or SQLSTATE and message.
fn printed(text: &str) -> String {
    with_context(|context| match read_text(context, JSONPATH, text) {
        Ok(path) => text_of(context, JSONPATH, &path).expect("it was read").to_owned(),
        Err(error) => {
            let fields = error.fields();
            let detail = fields.detail.as_deref().map_or(String::new(), |d| format!(" DETAIL {d}"));
            format!("! {} {}{detail}", fields.state, fields.message)
        }
    })
}

/// Nothing but PostgreSQL's answers; `paths.txt` has a path and what PostgreSQL 15 said to it by turns.
#[test]
fn paths_are_printed_and_refused_as_postgresql_does() {
    let mut lines = include_str!("golden/paths.txt").lines();
    let mut differ = Vec::new();
    while let (Some(path), Some(wanted)) = (lines.next(), lines.next()) {
        let found = printed(path);
        if found != wanted {
            differ.push(format!("{path}\nPostgreSQL {wanted}\nAtoll      {found}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn nesting_is_bounded() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("- ", "$", ""),
        ("$[", "0", "]"),
        ("$ ? (@ == ", "1", ")"),
        ("exists ($ ? (", "1 == 1", "))"),
        ("!(", "1 == 1", ")"),
        ("1 + ", "1", ""),
        ("1 == 1 && ", "1 == 1", ""),
    ] {
        let path =
            |levels: usize| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
        assert!(!printed(&path(1000)).starts_with("! "), "{open}");
        assert_eq!(printed(&path(100_000)), "! 54001 stack depth limit exceeded", "{open}");
    }
    assert_eq!(printed(&format!("${}", ".a".repeat(100_000))).len(), 1 + 4 * 100_000);
}

#[test]
fn the_binary_form_is_a_version_and_the_text() {
    with_context(|context| {
        let path = read_binary(context, JSONPATH, b"\x01strict $ . a").expect("a path");
        let mut binary = Vec::new();
        write_binary(context, JSONPATH, &path, &mut binary).expect("a binary form");
        assert_eq!(binary, b"\x01strict $.\"a\"");
        let refused = |bytes| {
            let error = read_binary(context, JSONPATH, bytes).expect_err("no path");
            (error.fields().state.to_string(), error.fields().message.clone())
        };
        assert_eq!(
            refused(b"\x02$"),
            ("XX000".to_owned(), "unsupported jsonpath version number: 2".to_owned())
        );
        assert_eq!(refused(b"").0, "08P01");
        assert_eq!(refused(b"\x01$\xff").0, "22021");
    });
}

/// Pieces that paths are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$",
        "@",
        "last",
        ".",
        "a",
        "**",
        "*",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "?",
        "1",
        ".5",
        "1.",
        "1e",
        "e+5",
        "\"",
        "\\",
        "\\u",
        "\\ud83d",
        "\\x4",
        "0041",
        " ",
        "/*",
        "*/",
        "==",
        "<>",
        "&",
        "&&",
        "||",
        "!",
        "exists",
        "is",
        "unknown",
        "starts",
        "with",
        "like_regex",
        "flag",
        "\"a\"",
        "\"(\"",
        "strict",
        "lax",
        "to",
        "-",
        "+",
        "%",
        "/",
        ",",
        "type()",
        "datetime(",
        "null",
        "true",
        "é",
        "😀",
        "'",
        "#",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in prop_oneof![pieces(), "\\PC{0,24}"]) {
        let first = printed(&text);
        prop_assert!(!first.is_empty());
    }
}
