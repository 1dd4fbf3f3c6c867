//! Golden scripts: commands, and the state that each leaves, as text that people read.
//!
//! A script is a sequence of commands of one line; behind a line of `----` stands what the command has said, up to an empty line.
//! Lines that begin with `#` say what the script is about. With `UPDATE_GOLDEN` set, what is said is written into the script, to be read
//! in the difference. The crates that have scripts share this file.

use std::fmt::Write;
use std::path::Path;

/// Where the output of a command begins.
const RULE: &str = "----";

/// Runs all scripts below `scripts/directory`, each by an interpreter of its own.
pub fn run<I: FnMut(&str) -> String>(directory: &str, begin: impl Fn() -> I) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(directory);
    let mut paths: Vec<_> = std::fs::read_dir(&directory)
        .expect("the scripts are there")
        .map(|entry| entry.expect("a directory can be read").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there is no script in {}", directory.display());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for path in paths {
        let written = std::fs::read_to_string(&path).expect("a script can be read");
        let now = said(&written, begin());
        if update {
            std::fs::write(&path, now).expect("a script can be written");
        } else if now != written {
            let lines = written.lines().zip(now.lines());
            let same = lines.take_while(|(before, now)| before == now).count();
            let behind: Vec<&str> = now.lines().skip(same).take(12).collect();
            panic!("{}, from line {}:\n{}", path.display(), same + 1, behind.join("\n"));
        }
    }
}

/// A script with what its commands say now.
fn said(script: &str, mut interpret: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
            continue;
        }
        writeln!(text, "{line}\n{RULE}\n{}", interpret(line).trim_end()).expect("a string grows");
        // What it said before.
        if lines.next_if_eq(&RULE).is_some() {
            while lines.next_if(|line| !line.is_empty()).is_some() {}
        }
    }
    text
}
