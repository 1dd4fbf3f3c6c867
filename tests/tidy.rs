//! House rules: the few that are not taste, checked like any test.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package has a parent")
}

/// Every file below `directory` with one of the endings, without build products.
fn files(directory: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the tree is readable") {
        let path = entry.expect("the tree is readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !matches!(name, "target" | ".git" | "atoll-data") {
                files(&path, endings, found);
            }
        } else if path
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| endings.contains(&ending))
        {
            found.push(path);
        }
    }
}

fn sources(directory: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root().join(directory), &["rs"], &mut found);
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).expect("below the root").display().to_string()
}

#[test]
fn imports_only_go_down() {
    // What each layer may not name; `tests` and `bench` may name all, and nobody names them.
    let layers: [(&str, &[&str]); 4] = [
        ("storage", &["txn", "sql", "server", "tests", "bench"]),
        ("txn", &["sql", "server", "tests", "bench"]),
        ("sql", &["storage", "server", "tests", "bench"]),
        ("server", &["storage", "txn", "tests", "bench"]),
    ];
    let mut found = Vec::new();
    for (layer, forbidden) in layers {
        let manifest = read(&root().join(layer).join("Cargo.toml"));
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for name in forbidden {
            if dependencies.lines().any(|line| line.split(['.', ' ', '=']).next() == Some(name)) {
                found.push(format!("{layer} depends on {name}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let mut found = Vec::new();
    for directory in ["storage", "txn", "sql", "server", "tests", "bench"] {
        for path in sources(directory) {
            if !read(&path).starts_with("//!") {
                found.push(relative(&path));
            }
        }
    }
    assert!(found.is_empty(), "without a header: {}", found.join(", "));
}

#[test]
fn no_file_has_the_name_of_nothing() {
    let nothing =
        ["utils", "util", "common", "misc", "helpers", "helper", "prelude", "manager_impl"];
    let mut found = Vec::new();
    for directory in ["storage", "txn", "sql", "server", "tests", "bench"] {
        for path in sources(directory) {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if nothing.contains(&stem) {
                found.push(relative(&path));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join(", "));
}

#[test]
fn nothing_is_left_to_be_done_in_the_code() {
    // Written in two halves, so that this file does not find itself.
    let marks =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:"), concat!("#[ig", "nore")];
    let mut found = Vec::new();
    for directory in ["storage", "txn", "sql", "server", "tests", "bench"] {
        for path in sources(directory) {
            let text = read(&path);
            for (number, line) in text.lines().enumerate() {
                if marks.iter().any(|mark| line.contains(mark)) {
                    found.push(format!("{}:{}", relative(&path), number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "docs/plan.md is the place: {}", found.join(", "));
}

#[test]
fn files_named_in_prose_exist() {
    let mut pages = Vec::new();
    files(root(), &["md"], &mut pages);
    let mut found = Vec::new();
    for page in pages {
        let text = read(&page);
        for quoted in text.split('`').skip(1).step_by(2) {
            let looks_like_path = quoted.contains('/')
                && quoted.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && ["rs", "md", "toml", "sh", "sql"]
                    .iter()
                    .any(|ending| quoted.ends_with(&format!(".{ending}")));
            if looks_like_path && !quoted.starts_with('/') {
                let places =
                    [root().join(quoted), page.parent().expect("a file has a folder").join(quoted)];
                if !places.iter().any(|place| place.exists()) {
                    found.push(format!("{} names {quoted}", relative(&page)));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every fault that can be planted is in the list, and every test the list names is there.
#[test]
fn the_list_of_planted_faults_is_whole() {
    let list = read(&root().join("docs/planted-faults.md"));
    let mut found = Vec::new();
    for layer in ["storage", "txn"] {
        let text = read(&root().join(layer).join("src/planted.rs"));
        let body = text.split("pub enum Fault {").nth(1).and_then(|rest| rest.split('}').next());
        for line in body.expect("the faults are an enum").lines() {
            let name = line.trim().trim_end_matches(',');
            if name.chars().all(char::is_alphanumeric)
                && !name.is_empty()
                && !list.contains(&format!("`{layer}::Fault::{name}`"))
            {
                found.push(format!("{layer}::Fault::{name} is not in the list"));
            }
        }
    }
    let mut code = String::new();
    for directory in ["storage", "txn", "sql", "tests"] {
        sources(directory).iter().for_each(|path| code.push_str(&read(path)));
    }
    for quoted in list.split('`').skip(1).step_by(2) {
        let is_test = quoted.matches('_').count() >= 2
            && quoted.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_test && !code.contains(&format!("fn {quoted}(")) {
            found.push(format!("no test is called {quoted}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
