//! House rules: the few that are not taste, checked like any test.

use std::collections::{HashMap, HashSet};
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
    let layers: [(&str, &[&str]); 9] = [
        (
            "storage",
            &[
                "txn",
                "sql-types",
                "sql-parse",
                "sql-catalog",
                "sql-plan",
                "sql-exec",
                "sql",
                "server",
            ],
        ),
        (
            "txn",
            &["sql-types", "sql-parse", "sql-catalog", "sql-plan", "sql-exec", "sql", "server"],
        ),
        (
            "sql/types",
            &["storage", "sql-parse", "sql-catalog", "sql-plan", "sql-exec", "sql", "server"],
        ),
        ("sql/parse", &["storage", "sql-catalog", "sql-plan", "sql-exec", "sql", "server"]),
        ("sql/catalog", &["storage", "sql-parse", "sql-plan", "sql-exec", "sql", "server"]),
        ("sql/plan", &["storage", "sql-exec", "sql", "server"]),
        ("sql/exec", &["storage", "sql", "server"]),
        ("sql", &["storage", "server"]),
        ("server", &["storage", "txn"]),
    ];
    let mut found = Vec::new();
    for (layer, forbidden) in layers {
        let forbidden = forbidden.iter().chain(&["tests", "bench"]);
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

/// The modules of a crate that the text of one names, but for those of its tests: by whole paths, as the house writes them.
fn named_modules(text: &str) -> HashSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut named = HashSet::new();
    for line in code.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for path in line.split("crate::").skip(1) {
            let (list, of_many) = match path.strip_prefix('{') {
                Some(list) => (list.split('}').next().unwrap_or_default(), true),
                None => (path, false),
            };
            for one in list.split(',').take(if of_many { usize::MAX } else { 1 }) {
                let end = |c: char| !c.is_ascii_lowercase() && c != '_';
                named.extend(one.trim().split(end).next().map(str::to_owned));
            }
        }
    }
    named
}

/// Crates whose modules know each other in one direction only.
#[test]
fn modules_know_each_other_in_one_direction() {
    let two = "use crate::{b, c::D};\nfn e() { crate::f::g() } // crate::h\n";
    assert_eq!(named_modules(two), ["b", "c", "f"].map(str::to_owned).into());
    for layer in ["server", "sql", "sql/exec", "sql/plan", "sql/parse"] {
        let base = root().join(layer).join("src");
        let mut modules: HashMap<String, HashSet<String>> = HashMap::new();
        for path in sources(&format!("{layer}/src")) {
            let file = path.strip_prefix(&base).expect("below the sources").display().to_string();
            let name = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
            if !file.ends_with("tests.rs") && !["lib", "main", "scripted"].contains(&name) {
                modules.entry(name.to_owned()).or_default().extend(named_modules(&read(&path)));
            }
        }
        // Who names nobody that is left is no part of a circle.
        loop {
            let left: HashSet<String> = modules.keys().cloned().collect();
            modules.retain(|name, named| {
                named.iter().any(|other| other != name && left.contains(other))
            });
            if modules.len() == left.len() {
                break;
            }
        }
        let mut circle: Vec<&String> = modules.keys().collect();
        circle.sort();
        assert!(circle.is_empty(), "{layer}: these and what they name know each other: {circle:?}");
    }
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

#[test]
fn what_the_glossary_names_is_where_it_says() {
    let page = read(&root().join("docs/glossary.md"));
    let mut found = Vec::new();
    for row in page.lines().skip(4) {
        let quoted: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let (files, names): (Vec<&str>, Vec<&str>) =
            quoted.into_iter().partition(|one| one.ends_with(".rs"));
        let code: String = files.iter().map(|file| read(&root().join(file))).collect();
        let words: HashSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for name in &names {
            let last = name.rsplit("::").next().expect("a name has a part");
            if !words.contains(last) {
                found.push(format!("{name} is not in {}", files.join(", ")));
            }
        }
        if files.is_empty() || names.is_empty() {
            found.push(format!("no type or no file: {row}"));
        }
    }
    assert!(page.lines().count() > 60 && found.is_empty(), "{}", found.join("\n"));
}

/// Where a function that calls itself needs no guard: the stack is sized for the trees that these walk (`parse::depth`).
const ON_SIZED_STACKS: [&str; 6] = [
    "parse/",
    "plan/",
    "exec/compile/",
    "exec/explain/",
    "exec/exec/eval.rs",
    "exec/exec/preset.rs",
];

/// Functions that call themselves so few times that every stack holds them, and why.
const BOUNDED_WALKS: &[(&str, &str)] = &[
    ("catalog/acl.rs", "update"), // One grantor's dependents are gone then.
    ("types/builtin/orderings.rs", "ordering"), // From a type to what stands for it.
    ("queries/addresses.rs", "qualified_type"), // From an array to its element.
    ("queries/names.rs", "known_type_name"), // The same.
    ("queries/names.rs", "type_named"), // The same.
    ("queries/server.rs", "events_taken"), // Counts itself.
    ("system/columns.rs", "form_of"), // From an array to its element.
    ("types/type_name.rs", "format_type"), // The same.
    ("ddl/dependency.rs", "remove_relation"), // From a table to its sequences.
    ("ddl/rename.rs", "rename_relation"), // Once more, where others have changed it.
    ("exec/exec/key_match.rs", "converted_to"), // Once more, with a whole number.
    ("types/array/text.rs", "nested"), // Dimensions, of which there are six.
    ("types/binary_form.rs", "read_binary"), // From a domain to its base.
    ("types/json/output.rs", "write_dimension"), // Dimensions.
    ("types/json/populate.rs", "value"), // From a domain to its base.
    ("types/record_order.rs", "may_differ"), // From an array to its element.
    ("types/text/constraint.rs", "*"), // Regular expressions nest 250 times at most.
    ("types/text/longest.rs", "*"), // The same.
    ("types/text_form.rs", "read_text"), // From a domain to its base.
    ("session/copy.rs", "copy"),  // Once more, when its relation is locked.
];

/// The functions of a file that call themselves by name and neither count nor grow the stack.
fn unguarded_walks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    for (number, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let indent = line.len() - head.len();
        let Some((before, rest)) = head.split_once("fn ") else { continue };
        let plain = |c: char| c.is_ascii_lowercase() || " ()".contains(c);
        if !before.chars().all(plain) || head.ends_with(';') {
            continue;
        }
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let end = format!("{}}}", " ".repeat(indent));
        let whole: Vec<&str> =
            lines[number..].iter().take_while(|line| **line != end).copied().collect();
        let whole = whole.join("\n");
        let Some((signature, body)) = whole.split_once("{\n") else { continue };
        // A closure that is given under the name is something else.
        if name.is_empty() || signature.contains(&format!("{name}:")) {
            continue;
        }
        let is_method = signature.contains("self");
        let calls = format!("{name}(");
        let calls_itself = body.match_indices(&calls).any(|(at, _)| {
            let before = &body[..at];
            // A function without arguments is named in a text.
            let has_arguments = !body[at + calls.len()..].starts_with(')');
            if is_method {
                before.ends_with("self.") || before.ends_with("Self::")
            } else {
                has_arguments
                    && before.ends_with(|c: char| !(c.is_alphanumeric() || "_.:\"".contains(c)))
                    && !before.ends_with("fn ")
            }
        });
        let guards = ["deeper(", "descend(", "descend_by("];
        if calls_itself && !guards.iter().any(|guard| body.contains(guard)) {
            found.push(name);
        }
    }
    found
}

#[test]
fn a_walk_that_recurses_is_guarded() {
    let naked = "fn walk(a: &A) {\n    a.parts.iter().for_each(|part| walk(part));\n}\n";
    assert_eq!(unguarded_walks(naked), ["walk"]);
    let method = "    fn walk(&self) {\n        self.walk();\n    }\n";
    assert_eq!(unguarded_walks(method), ["walk"]);
    assert!(unguarded_walks(&naked.replace("walk(part)", "deeper(|| walk(part))")).is_empty());
    let base = root().join("sql");
    let mut found = Vec::new();
    for path in sources("sql") {
        // `sql/src/ddl/drop.rs` is `ddl/drop.rs`, `sql/types/src/record.rs` is `types/record.rs`.
        let file = path.strip_prefix(&base).expect("below sql").display().to_string();
        let file =
            file.strip_prefix("src/").map_or_else(|| file.replacen("/src/", "/", 1), str::to_owned);
        if ON_SIZED_STACKS.iter().any(|sized| file.starts_with(sized))
            || file.contains("tests")
            || file.ends_with("golden.rs")
        {
            continue;
        }
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in unguarded_walks(code) {
            let known = |(of, walk): &(&str, &str)| *of == file && (*walk == name || *walk == "*");
            if !BOUNDED_WALKS.iter().any(known) {
                found.push(format!("{file}: {name} calls itself without types::depth"));
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

/// A test program that `tests/run` does not name is run by nobody.
#[test]
fn every_test_program_is_run() {
    let run = read(&root().join("tests/run"));
    let named = |name: &str| {
        run.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .any(|word| word == name)
    };
    let mut programs: Vec<String> = read(&root().join("tests/Cargo.toml"))
        .split("[[test]]")
        .skip(1)
        .filter_map(|section| section.lines().find_map(|line| line.strip_prefix("name = ")))
        .map(|name| name.trim_matches('"').to_owned())
        .collect();
    for package in ["storage", "txn", "sql", "server", "bench"] {
        let directory = root().join(package).join("tests");
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        programs.extend(entries.flatten().filter_map(|entry| {
            let path = entry.path();
            let is_program = path.extension().is_some_and(|ending| ending == "rs")
                || path.join("main.rs").exists();
            let name = path.file_stem()?.to_str()?.to_owned();
            is_program.then_some(name)
        }));
    }
    assert!(programs.len() > 40, "{programs:?}");
    let forgotten: Vec<&String> = programs.iter().filter(|name| !named(name)).collect();
    assert!(forgotten.is_empty(), "tests/run does not name {forgotten:?}");
}
