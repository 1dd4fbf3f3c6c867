//! `atoll check` as a command: exit status 0 and one line where nothing is wrong, 3 and a line for each problem where
//! something is, 1 where it cannot look; and the directory stays as it was, byte for byte, even where a restart would have
//! to replay the log. Which damage it finds, kind by kind, is shown in `sql/tests/simulation/damage.rs`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tests::atoll::{Atoll, program};

/// The exit status, and what it printed.
fn check(data: &Path) -> (i32, String) {
    let output =
        Command::new(program()).arg("check").arg("--data").arg(data).output().expect("it starts");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code().expect("it ends by itself"), text)
}

/// Every file of a directory, but the one that says who holds it.
fn contents(directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        if path.is_dir() {
            contents(&path, found);
        } else if path.file_name().is_some_and(|name| name != "atoll.lock") {
            let bytes = std::fs::read(&path).expect("it is readable");
            found.insert(path.display().to_string(), bytes);
        }
    }
}

fn all(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    contents(directory, &mut found);
    found
}

fn filled() -> Atoll {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE stock (id int PRIMARY KEY, name text)");
    client.run("CREATE INDEX stock_name ON stock (name)");
    client.run("INSERT INTO stock SELECT g, 'name ' || g FROM generate_series(1, 5000) g");
    atoll
}

#[test]
fn it_changes_nothing_after_a_clean_end_or_a_death() {
    let mut atoll = filled();
    atoll.stop();
    let before = all(&atoll.data());
    let (status, told) = check(&atoll.data());
    assert_eq!((status, told.contains("nothing is wrong")), (0, true), "{told}");
    assert!(all(&atoll.data()) == before, "the check has written");
    atoll.restart();
    atoll.connect().run("UPDATE stock SET name = name || '!' WHERE id < 3000");
    let (status, told) = check(&atoll.data());
    assert_eq!((status, told.contains("in use")), (1, true), "while it is served: {told}");
    atoll.kill();
    let before = all(&atoll.data());
    let (status, told) = check(&atoll.data());
    assert_eq!((status, told.contains("nothing is wrong")), (0, true), "{told}");
    assert!(all(&atoll.data()) == before, "the check has written");
}

#[test]
fn damage_is_told_by_name() {
    const PAGE: usize = 8192;
    let mut atoll = filled();
    atoll.stop();
    // With it, a restart would put the last pages written back, and so would the check.
    std::fs::remove_file(atoll.data().join("doublewrite")).expect("it is there");
    let file = atoll.data().join("data");
    let bytes = std::fs::read(&file).expect("it is readable");
    let holds = |word: &str| {
        let is_there = |page: &[u8]| page.windows(word.len()).any(|at| at == word.as_bytes());
        bytes.chunks(PAGE).position(is_there).expect("a row is on a page")
    };
    let pages = [holds("name 2345"), holds("name 4567")];
    assert_ne!(pages[0], pages[1], "rows that are far from each other");
    let mut flipped = bytes.clone();
    flipped[pages[0] * PAGE + 5000] ^= 1;
    std::fs::write(&file, &flipped).expect("it is writable");
    let (status, told) = check(&atoll.data());
    assert_eq!(status, 3, "{told}");
    assert!(told.contains("table postgres.public.stock") && told.contains("checksum"), "{told}");
    let mut swapped = bytes.clone();
    for (to, from) in [(pages[0], pages[1]), (pages[1], pages[0])] {
        swapped[to * PAGE..][..PAGE].copy_from_slice(&bytes[from * PAGE..][..PAGE]);
    }
    std::fs::write(&file, &swapped).expect("it is writable");
    let (status, told) = check(&atoll.data());
    assert_eq!(status, 3, "{told}");
    assert!(told.contains("it is another page"), "{told}");
    std::fs::write(&file, &bytes).expect("it is writable");
    assert_eq!(check(&atoll.data()).0, 0, "as it was");
}

#[test]
fn what_is_no_database_is_refused_and_stays_what_it_is() {
    let directory = tests::process::TemporaryDirectory::new("check");
    let missing = directory.path().join("missing");
    let (status, told) = check(&missing);
    assert_eq!((status, missing.exists()), (1, false), "{told}");
    let (status, told) = check(directory.path());
    assert_eq!(status, 1, "{told}");
    assert!(told.contains("is not a valid data directory"), "{told}");
    let left = std::fs::read_dir(directory.path()).expect("it is readable").count();
    assert_eq!(left, 0, "nothing was put into it");
}
