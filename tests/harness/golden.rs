//! Committed expectations: compared in a test, written anew from PostgreSQL when `UPDATE_GOLDEN` is set.

use std::path::Path;

/// Demands that `actual`, from `who`, is what the file at `path` holds. With `UPDATE_GOLDEN` in the environment the file
/// is written instead; call it so for PostgreSQL's output only.
pub fn assert_golden(path: &Path, who: &str, actual: &str, may_update: bool) {
    if may_update && std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, actual).expect("the expected file is writable");
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_else(|error| {
        panic!("{}: {error}; UPDATE_GOLDEN=1 asks PostgreSQL", path.display())
    });
    if expected != actual {
        panic!("{who} differs from {}:\n{}", path.display(), difference(&expected, actual));
    }
}

/// The lines that differ, with what stands around them: `-` expected, `+` actual.
#[must_use]
pub fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.lines().collect();
    let actual: Vec<&str> = actual.lines().collect();
    let mut out = String::new();
    let (mut left, mut right) = (0, 0);
    let mut shown = 0;
    while (left < expected.len() || right < actual.len()) && shown < 60 {
        if left < expected.len() && right < actual.len() && expected[left] == actual[right] {
            left += 1;
            right += 1;
            continue;
        }
        // The nearest pair of equal lines ends the differing stretch.
        let (mut skip_left, mut skip_right) = (expected.len() - left, actual.len() - right);
        'search: for distance in 0..200 {
            for forward in 0..=distance {
                let (a, b) = (left + forward, right + distance - forward);
                if a < expected.len() && b < actual.len() && expected[a] == actual[b] {
                    (skip_left, skip_right) = (forward, distance - forward);
                    break 'search;
                }
            }
        }
        if left > 0 {
            out.push_str(&format!("@@ line {left}\n  {}\n", expected[left - 1]));
        }
        for line in &expected[left..left + skip_left] {
            out.push_str(&format!("- {line}\n"));
            shown += 1;
        }
        for line in &actual[right..right + skip_right] {
            out.push_str(&format!("+ {line}\n"));
            shown += 1;
        }
        left += skip_left;
        right += skip_right;
    }
    out
}
