//! What may have been meant by the name of a column that is not there.
//!
//! PostgreSQL: `searchRangeTableForCol`, `updateFuzzyAttrMatchState`. Of the columns of all FROM items, outer queries' too,
//! those whose names take the fewest changes (Levenshtein), at most three and not more than half of the name's length; the
//! changes of the item's name count where one was written. Two that are as near are both told, three are none.

use crate::bind::scope::{Scope, ScopeItem, Source};

/// More changes than this make another name of it.
const CHANGES_MAX: usize = 3;

/// The nearest columns so far.
struct Nearest<'s> {
    changes: usize,
    first: Option<(&'s str, &'s str)>,
    second: Option<(&'s str, &'s str)>,
}

impl<'s> Nearest<'s> {
    fn consider(&mut self, item: &'s str, column: &'s str, penalty: usize, name: &str) {
        if penalty > self.changes {
            return;
        }
        let changes = distance(column, name);
        if changes > name.len() / 2 {
            return;
        }
        let changes = changes + penalty;
        if changes < self.changes {
            (self.changes, self.first, self.second) = (changes, Some((item, column)), None);
        } else if changes == self.changes {
            match (self.first, self.second) {
                (_, Some(_)) => {
                    (self.changes, self.first, self.second) =
                        (changes.saturating_sub(1), None, None);
                }
                (Some(_), None) => self.second = Some((item, column)),
                (None, None) if changes <= CHANGES_MAX => self.first = Some((item, column)),
                (None, None) => {}
            }
        }
    }
}

/// The hint for a column that is not there; `item` is the name in front of it, if one was written.
pub(super) fn column(scope: &Scope<'_>, item: Option<&str>, name: &str) -> Option<String> {
    let mut nearest = Nearest { changes: CHANGES_MAX + 1, first: None, second: None };
    let mut next = Some(scope);
    while let Some(scope) = next {
        let known = |found: &&ScopeItem| found.source != Source::Join;
        for found in scope.items.iter().filter(known) {
            let Some(alias) = found.name.as_deref() else { continue };
            let penalty = item.map_or(0, |item| distance(item, alias));
            for column in found.columns.iter().filter(|column| !column.system) {
                nearest.consider(alias, &column.name, penalty, name);
            }
        }
        next = scope.parent;
    }
    let (item, column) = nearest.first?;
    let first = format!("Perhaps you meant to reference the column \"{item}.{column}\"");
    Some(match nearest.second {
        Some((item, column)) => format!("{first} or the column \"{item}.{column}\"."),
        None => format!("{first}."),
    })
}

/// How many characters have to be put in, left out or replaced to make one name of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (done, character) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], done + 1);
        for (at, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *wanted);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn changes_are_counted_by_characters() {
        for (one, other, changes) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("größe", "grösse", 2), ("a", "a", 0)]
        {
            assert_eq!((distance(one, other), distance(other, one)), (changes, changes));
        }
    }
}
