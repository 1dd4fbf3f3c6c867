//! The column that a name that means nothing may have been meant to be (`searchRangeTableForCol`).
//!
//! Names are as far from each other as the letters that it takes to make one of the other (Levenshtein). With a qualifier,
//! the distance of the item's name is added. At most two columns are told of, both of the smallest distance.

use crate::bind::scope::{Scope, ScopeItem, Source};

/// Columns farther away than this are not meant.
const DISTANCE_MAX: usize = 3;

/// A column by its item's name and its own.
type Named<'s> = (&'s str, &'s str);

/// The nearest columns so far.
struct Nearest<'s> {
    distance: usize,
    first: Option<Named<'s>>,
    second: Option<Named<'s>>,
}

impl<'s> Nearest<'s> {
    /// Looks at a column whose item's name is `penalty` away from the one that was given.
    fn look(&mut self, penalty: usize, column: Named<'s>, name: &str) {
        if penalty > self.distance {
            return;
        }
        let own = distance(column.1, name);
        if own > name.len() / 2 {
            return;
        }
        let found = own + penalty;
        if found < self.distance {
            *self = Nearest { distance: found, first: Some(column), second: None };
        } else if found == self.distance {
            match (self.first, self.second) {
                // Three of them say nothing.
                (_, Some(_)) => {
                    *self =
                        Nearest { distance: found.saturating_sub(1), first: None, second: None };
                }
                (Some(_), None) => self.second = Some(column),
                (None, None) if found <= DISTANCE_MAX => self.first = Some(column),
                (None, None) => {}
            }
        }
    }
}

/// A hint at the columns that `name`, of the FROM item `qualifier` if there is one, may stand for.
pub(super) fn hint(scope: &Scope<'_>, qualifier: Option<&str>, name: &str) -> Option<String> {
    let mut nearest = Nearest { distance: DISTANCE_MAX + 1, first: None, second: None };
    let mut around = Some(scope);
    while let Some(scope) = around {
        let named = |item: &&ScopeItem| item.source != Source::Join;
        for item in scope.items.iter().filter(named) {
            let Some(item_name) = item.name.as_deref() else { continue };
            let penalty = qualifier.map_or(0, |given| distance(item_name, given));
            if penalty > DISTANCE_MAX {
                continue;
            }
            // A system column is no guess, but may be what is meant.
            if penalty == 0 && item.columns.iter().any(|column| *column.name == *name) {
                return Some(format!(
                    "There is a column named \"{name}\" in table \"{item_name}\", but it cannot be referenced from this part of the query."
                ));
            }
            let columns = item.columns.iter().filter(|column| !column.system);
            columns.for_each(|column| nearest.look(penalty, (item_name, &column.name), name));
        }
        around = scope.parent;
    }
    let shown = |(item, column): Named<'_>| format!("the column \"{item}.{column}\"");
    let first = shown(nearest.first?);
    Some(match nearest.second {
        None => format!("Perhaps you meant to reference {first}."),
        Some(second) => format!("Perhaps you meant to reference {first} or {}.", shown(second)),
    })
}

/// How many characters have to be put in, taken out or changed to make one text of the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, have) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, want) in to.iter().enumerate() {
            let changed = diagonal + usize::from(have != *want);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn a_distance_counts_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("uunique1", "unique1"), 1);
        assert_eq!(distance("salary", "celery"), 3);
        assert_eq!(distance("a", "a"), 0);
    }
}
