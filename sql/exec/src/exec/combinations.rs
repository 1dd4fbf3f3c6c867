//! What a scan of several keys may find in a key's first columns: all combinations of their values, in the key's order.
//!
//! `a = ANY ($1) AND b = ANY ($2)` over ten thousand values each has a hundred million combinations, most of which no key begins
//! with. They are written down one at a time, and where they are many a scan goes from a key that is there to the first
//! combination that is not before it (Leslie et al., *Efficient Search of Multidimensional B-Trees*, VLDB 1995).

use txn::Direction;

/// Of each column, or of each group of them, its different values in order. The values of a column are encoded so that none
/// is the beginning of another.
#[derive(Debug, Default)]
pub(super) struct Combinations {
    lists: Vec<Vec<Vec<u8>>>,
    backward: bool,
    /// The one whose turn it is, by its places in the lists.
    next: Option<Vec<usize>>,
}

/// So many that it pays to look which of them are there.
const MANY: usize = 1024;

impl Combinations {
    pub(super) fn of(lists: Vec<Vec<Vec<u8>>>, direction: Direction) -> Combinations {
        let backward = direction == Direction::Backward;
        let mut combinations = Combinations { lists, backward, next: None };
        if combinations.lists.iter().all(|list| !list.is_empty()) {
            combinations.next =
                Some(combinations.lists.iter().map(|list| combinations.first(list)).collect());
        }
        combinations
    }

    pub(super) fn is_any_left(&self) -> bool {
        self.next.is_some()
    }

    /// Whether there are many, of the values of several columns.
    pub(super) fn are_many(&self) -> bool {
        let several = self.lists.iter().filter(|list| list.len() > 1).count() > 1;
        several
            && self.lists.iter().fold(1, |all: usize, list| all.saturating_mul(list.len())) > MANY
    }

    /// The beginning of the key whose turn it is; the next one's comes.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let places = self.next.take()?;
        let key = self.at(&places);
        self.next = self.behind(places);
        Some(key)
    }

    /// The lowest and the highest of the combinations that are left.
    pub(super) fn rest(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let next = self.at(self.next.as_ref()?);
        let last: Vec<usize> = self.lists.iter().map(|list| self.last(list)).collect();
        let last = self.at(&last);
        Some(if self.backward { (last, next) } else { (next, last) })
    }

    /// It is the turn of the first one that `key` begins with or stands before, in the scan's direction. The key stands behind
    /// the one whose turn it was, or begins with it.
    pub(super) fn go_on_to(&mut self, key: &[u8]) {
        let mut places = Vec::with_capacity(self.lists.len());
        let mut rest = key;
        for list in &self.lists {
            let found = if self.backward {
                list.partition_point(|value| &value[..] <= rest).checked_sub(1)
            } else {
                let before = |value: &Vec<u8>| &value[..] < rest && !rest.starts_with(value);
                Some(list.partition_point(before)).filter(|place| *place < list.len())
            };
            let Some(place) = found else {
                // All values of this column are passed: the next of those before it.
                let passed = self.lists[places.len()..].iter().map(|list| self.last(list));
                places.extend(passed);
                self.next = self.behind(places);
                return;
            };
            places.push(place);
            let Some(behind) = rest.strip_prefix(&list[place][..]) else { break };
            rest = behind;
        }
        let untouched = self.lists[places.len()..].iter().map(|list| self.first(list));
        places.extend(untouched);
        self.next = Some(places);
    }

    /// None is left.
    pub(super) fn end(&mut self) {
        self.next = None;
    }

    fn first(&self, list: &[Vec<u8>]) -> usize {
        if self.backward { list.len() - 1 } else { 0 }
    }

    fn last(&self, list: &[Vec<u8>]) -> usize {
        list.len() - 1 - self.first(list)
    }

    /// The beginning of a key.
    fn at(&self, places: &[usize]) -> Vec<u8> {
        let mut key = Vec::new();
        for (list, place) in self.lists.iter().zip(places) {
            key.extend_from_slice(&list[*place]);
        }
        key
    }

    /// The combination behind another; none behind the last.
    fn behind(&self, mut places: Vec<usize>) -> Option<Vec<usize>> {
        for (list, place) in self.lists.iter().zip(&mut places).rev() {
            if *place != self.last(list) {
                *place = if self.backward { *place - 1 } else { *place + 1 };
                return Some(places);
            }
            *place = self.first(list);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lists: &[Vec<Vec<u8>>], direction: Direction) -> Vec<Vec<u8>> {
        let mut combinations = Combinations::of(lists.to_vec(), direction);
        std::iter::from_fn(|| combinations.take()).collect()
    }

    /// From whatever combination on, to whatever key behind it: the first one that is not before the key.
    #[test]
    fn a_key_leads_to_the_first_combination_that_is_not_before_it() {
        let list = |values: &[&str]| values.iter().map(|value| value.as_bytes().to_vec()).collect();
        let lists: Vec<Vec<Vec<u8>>> =
            vec![list(&["p"]), list(&["b", "cc", "f"]), list(&["ba", "bc", "d", "ee"])];
        let letters = ["", "a", "b", "ba", "bb", "bc", "c", "cc", "cd", "d", "ee", "f", "g"];
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for first in letters {
            for second in letters {
                keys.extend(["", "x"].map(|end| format!("p{first}{second}{end}").into_bytes()));
            }
        }
        let mut led = 0;
        for direction in [Direction::Forward, Direction::Backward] {
            let every = all(&lists, direction);
            for from in 0..every.len() {
                for key in &keys {
                    let passed = |one: &Vec<u8>| match direction {
                        Direction::Forward => one < key && !key.starts_with(one),
                        Direction::Backward => one > key,
                    };
                    if every[..from].iter().any(|one| !passed(one))
                        || passed(&every[from]) && every[from..].iter().all(|one| !passed(one))
                    {
                        continue;
                    }
                    let mut combinations = Combinations::of(lists.clone(), direction);
                    (0..from).for_each(|_| drop(combinations.take()));
                    combinations.go_on_to(key);
                    let expected = every.iter().find(|one| !passed(one)).cloned();
                    assert_eq!(combinations.take(), expected, "{direction:?} {from} {key:?}");
                    led += 1;
                }
            }
        }
        assert!(led > 1000, "{led}");
    }

    #[test]
    fn without_a_value_for_a_column_there_is_none() {
        assert!(all(&[vec![b"a".to_vec()], Vec::new()], Direction::Forward).is_empty());
    }
}
