//! Ranges of keys and who holds them: the space of keys cut into segments, each with its holders.
//!
//! A question for one key is one look-up; a range costs as many steps as there are segments in it. A scan that goes on moves its
//! last edge, which cuts one segment and joins another, so a long scan stays one segment where nobody else is.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A place between keys, or behind all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// Before a key, or (true) behind it.
    At(Vec<u8>, bool),
    /// Behind all keys.
    End,
}

impl Edge {
    /// Where a range begins.
    pub fn low(bound: Bound<&[u8]>) -> Edge {
        match bound {
            Bound::Unbounded => Edge::FIRST,
            Bound::Included(key) => Edge::At(key.to_vec(), false),
            Bound::Excluded(key) => Edge::At(key.to_vec(), true),
        }
    }

    /// Where it ends.
    pub fn high(bound: Bound<&[u8]>) -> Edge {
        match bound {
            Bound::Unbounded => Edge::End,
            Bound::Included(key) => Edge::At(key.to_vec(), true),
            Bound::Excluded(key) => Edge::At(key.to_vec(), false),
        }
    }

    /// Whether a range that goes this way to the edge has the key in it.
    pub fn is_past(&self, key: &[u8], upwards: bool) -> bool {
        match self {
            Edge::At(edge, behind) => match key.cmp(edge) {
                Ordering::Equal => *behind == upwards,
                order => (order == Ordering::Less) == upwards,
            },
            Edge::End => upwards,
        }
    }

    /// Before all keys.
    pub const FIRST: Edge = Edge::At(Vec::new(), false);

    /// As the lower bound of keys.
    pub fn from(&self) -> Bound<&[u8]> {
        match self {
            Edge::At(key, false) => Bound::Included(key),
            Edge::At(key, true) => Bound::Excluded(key),
            Edge::End => unreachable!("no range begins behind all keys"),
        }
    }

    /// As the upper bound of keys.
    pub fn to(&self) -> Bound<&[u8]> {
        match self {
            Edge::At(key, false) => Bound::Excluded(key),
            Edge::At(key, true) => Bound::Included(key),
            Edge::End => Bound::Unbounded,
        }
    }
}

/// The segments, by where they begin. Before the first nobody holds anything.
#[derive(Debug)]
pub struct Segments<H>(BTreeMap<Edge, Vec<H>>);

impl<H> Default for Segments<H> {
    fn default() -> Self {
        Segments(BTreeMap::new())
    }
}

impl<H: Clone + PartialEq> Segments<H> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Who holds a range that a key is in.
    pub fn at(&self, key: &[u8]) -> &[H] {
        if self.0.is_empty() {
            return &[];
        }
        let place = Edge::At(key.to_vec(), false);
        self.0.range(..=place).next_back().map_or(&[], |(_, holders)| holders)
    }

    /// Who holds any range.
    pub fn all(&self) -> impl Iterator<Item = &H> {
        self.0.values().flatten()
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Keeps only those holders that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&H) -> bool) {
        self.0.values_mut().for_each(|holders| holders.retain(&mut keep));
        let mut before: &[H] = &[];
        let mut joined = Vec::new();
        for (edge, holders) in &self.0 {
            if before == &holders[..] {
                joined.push(edge.clone());
            }
            before = holders;
        }
        joined.iter().for_each(|edge| drop(self.0.remove(edge)));
    }

    fn cut(&mut self, edge: &Edge) {
        if *edge == Edge::End || self.0.contains_key(edge) {
            return;
        }
        let holders = self.0.range(..edge).next_back().map(|(_, holders)| holders.clone());
        self.0.insert(edge.clone(), holders.unwrap_or_default());
    }

    /// Joins what begins at `edge` to what ends there, where both have the same holders.
    fn join(&mut self, edge: &Edge) {
        let Some(holders) = self.0.get(edge) else { return };
        let before = self.0.range(..edge).next_back().map_or(&[][..], |(_, holders)| holders);
        if before == &holders[..] {
            self.0.remove(edge);
        }
    }

    /// Adds somebody to the holders of each segment of a range, which `add` does.
    pub fn add(&mut self, low: &Edge, high: &Edge, mut add: impl FnMut(&mut Vec<H>)) {
        if low >= high {
            return;
        }
        self.cut(low);
        self.cut(high);
        self.0.range_mut(low..high).for_each(|(_, holders)| add(holders));
        self.join(low);
        self.join(high);
    }

    /// Takes somebody away from them, which `remove` does.
    pub fn remove(&mut self, low: &Edge, high: &Edge, mut remove: impl FnMut(&mut Vec<H>)) {
        if low >= high {
            return;
        }
        // Its edges may have been joined away.
        self.cut(low);
        self.cut(high);
        self.0.range_mut(low..high).for_each(|(_, holders)| remove(holders));
        let edges: Vec<Edge> = self.0.range(low..=high).map(|(edge, _)| edge.clone()).collect();
        edges.iter().for_each(|edge| self.join(edge));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::chance::Chance;

    fn edge(number: u64) -> Edge {
        if number >= 30 { Edge::End } else { Edge::At(vec![number as u8 / 2], number % 2 == 1) }
    }

    /// Against a list of ranges, each asked for each key.
    #[test]
    fn segments_answer_as_a_list_of_ranges_does() {
        for seed in 0..200 {
            let mut chance = Chance::new(seed);
            let (mut ranges, mut list) = (Segments::default(), Vec::new());
            for _ in 0..40 {
                let (low, high) = (chance.below(30), chance.below(32));
                let who = chance.below(4);
                let remove = |holders: &mut Vec<u64>| holders.retain(|holder| *holder != who);
                if chance.below(3) > 0 {
                    ranges.add(&edge(low), &edge(high), |holders| {
                        if !holders.contains(&who) {
                            holders.push(who);
                        }
                    });
                    list.push((edge(low), edge(high), who));
                } else {
                    for (low, high, _) in list.iter().filter(|range| range.2 == who) {
                        ranges.remove(low, high, remove);
                    }
                    list.retain(|range| range.2 != who);
                }
                for key in 0..16u8 {
                    let place = Edge::At(vec![key], false);
                    let inside = |range: &&(Edge, Edge, u64)| range.0 <= place && place < range.1;
                    let mut expected: Vec<u64> =
                        list.iter().filter(inside).map(|range| range.2).collect();
                    expected.sort();
                    expected.dedup();
                    let mut found: Vec<u64> = ranges.at(&[key]).to_vec();
                    found.sort();
                    assert_eq!(found, expected, "seed {seed}, key {key}");
                }
            }
            for (low, high, who) in &list {
                ranges.remove(low, high, |holders| holders.retain(|holder| holder != who));
            }
            assert!(ranges.is_empty(), "seed {seed}: {ranges:?}");
        }
    }

    #[test]
    fn a_key_is_past_as_the_edges_beside_it_say() {
        let edges = [Edge::At(b"b".to_vec(), false), Edge::At(b"b".to_vec(), true), Edge::End];
        for (edge, key) in edges.iter().flat_map(|edge| [b"a", b"b", b"c"].map(|key| (edge, key))) {
            assert_eq!(edge.is_past(key, true), Edge::At(key.to_vec(), true) <= *edge);
            assert_eq!(edge.is_past(key, false), Edge::At(key.to_vec(), false) >= *edge);
        }
    }
}
