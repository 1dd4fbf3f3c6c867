//! A write set beside a map of histories.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TREES: [TreeId; 3] = [TreeId(1), TreeId(2), TreeId(9)];

#[derive(Clone, Debug)]
enum Step {
    Put(usize, u16, Option<u8>),
    /// Above all of its tree.
    Next(usize, Option<u8>),
    Command,
    Undo(u32),
    Arrange,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..3usize, 0..2000u16, any::<Option<u8>>())
            .prop_map(|(tree, key, value)| Step::Put(tree, key, value)),
        8 => (0..3usize, any::<Option<u8>>()).prop_map(|(tree, value)| Step::Next(tree, value)),
        2 => Just(Step::Command),
        1 => (0..20u32).prop_map(Step::Undo),
        1 => Just(Step::Arrange),
    ];
    proptest::collection::vec(step, 0..3000)
}

type Model = BTreeMap<(TreeId, Vec<u8>), Vec<(u32, Option<Vec<u8>>)>>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Against a map of histories: contents, order, older commands, walks both ways from any bound.
    #[test]
    fn a_write_set_is_a_map_of_histories(steps in steps(), low in 0..2000u16, high in 0..2000u16) {
        let mut set = WriteSet::default();
        let mut model = Model::new();
        let mut command = 1;
        let mut highest = [0; 3];
        for step in steps {
            let step = match step {
                Step::Next(tree, value) => Step::Put(tree, highest[tree] + 1, value),
                step => step,
            };
            match step {
                Step::Next(..) => unreachable!("a key has been found for it"),
                Step::Put(tree, key, value) => {
                    highest[tree] = highest[tree].max(key);
                    let key = key.to_be_bytes();
                    let value = value.map(|byte| vec![byte; usize::from(byte) % 7]);
                    set.put(TREES[tree], &key, value.as_deref(), CommandId(command));
                    model.entry((TREES[tree], key.to_vec())).or_default().push((command, value));
                }
                Step::Command => command += 1,
                Step::Arrange => set.arrange(),
                Step::Undo(back) => {
                    let from = command.saturating_sub(back);
                    set.undo(CommandId(from));
                    for history in model.values_mut() {
                        history.retain(|write| write.0 < from);
                    }
                    model.retain(|_, history| !history.is_empty());
                }
            }
        }
        prop_assert_eq!(set.keys(), model.len());
        let newest = |set: &WriteSet, tree, key: &[u8]| {
            set.get(tree, key, CommandId(u32::MAX)).map(|write| write.value.map(<[u8]>::to_vec))
        };
        for ((tree, key), history) in &model {
            prop_assert_eq!(newest(&set, *tree, key), history.last().map(|write| write.1.clone()));
        }
        set.arrange();
        let all: Vec<_> = set.iter().map(|w| (w.tree, w.key.to_vec(), w.value.map(<[u8]>::to_vec))).collect();
        let expected: Vec<_> = model
            .iter()
            .map(|((tree, key), history)| (*tree, key.clone(), history.last().unwrap().1.clone()))
            .collect();
        prop_assert_eq!(all, expected);
        for ((tree, key), history) in &model {
            for before in [1, command / 2, command, command + 1] {
                let newest = history.iter().rev().find(|write| write.0 < before);
                let found = set.get(*tree, key, CommandId(before)).map(|write| write.value.map(<[u8]>::to_vec));
                prop_assert_eq!(found, newest.map(|write| write.1.clone()));
            }
        }
        let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
        for tree in TREES {
            for (low, high) in [
                (Bound::Unbounded, Bound::Unbounded),
                (Bound::Included(&low[..]), Bound::Excluded(&high[..])),
                (Bound::Excluded(&low[..]), Bound::Included(&high[..])),
            ] {
                let inside = |key: &[u8]| std::ops::RangeBounds::<[u8]>::contains(&(low, high), key);
                let keys = model.keys().filter(|(id, key)| *id == tree && inside(key));
                let mut expected: Vec<_> = keys.map(|(_, key)| key.clone()).collect();
                let mut forward = Vec::new();
                let mut place = set.first(tree, low);
                while let Some((at, key)) = set.key_at(place) && at == tree && inside(key) {
                    forward.push(key.to_vec());
                    place = set.after(place);
                }
                prop_assert_eq!(&forward, &expected);
                let mut backward = Vec::new();
                let mut place = set.before(set.end(tree, high));
                while let Some(at) = place && let Some((id, key)) = set.key_at(at) && id == tree && inside(key) {
                    backward.push(key.to_vec());
                    place = set.before(at);
                }
                expected.reverse();
                prop_assert_eq!(&backward, &expected);
            }
        }
    }
}

#[test]
fn ascending_keys_of_several_trees_go_to_the_ends_of_their_parts() {
    const TREES: [TreeId; 3] = [TreeId(1), TreeId(2), TreeId(4)];
    let mut set = WriteSet::default();
    let keys = 20 * CHUNK as u32;
    for key in 0..keys {
        for tree in TREES {
            set.put(tree, &key.to_be_bytes(), Some(b"v"), CommandId(1));
        }
    }
    assert!(set.fresh.is_empty(), "none of them waits for its place");
    assert_eq!(set.order.len(), 20 * TREES.len(), "every chunk is full");
    let written: Vec<_> = set.iter().map(|write| (write.tree, write.key.to_vec())).collect();
    let all = TREES.iter().flat_map(|tree| (0..keys).map(|key| (*tree, key.to_be_bytes())));
    assert!(written.into_iter().eq(all.map(|(tree, key)| (tree, key.to_vec()))));
    let (last, next) = ((keys - 1).to_be_bytes(), keys.to_be_bytes());
    for tree in TREES {
        assert!(set.get(tree, &last, CommandId(2)).is_some());
        assert!(set.get(tree, &next, CommandId(2)).is_none());
    }
}

#[test]
fn a_key_below_the_highest_is_looked_for() {
    let mut set = WriteSet::default();
    for key in (0..4 * CHUNK as u32).map(|key| 2 * key) {
        set.put(TreeId(1), &key.to_be_bytes(), Some(b"v"), CommandId(1));
    }
    let (highest, among) = ((8 * CHUNK as u32 - 2).to_be_bytes(), 7u32.to_be_bytes());
    // Written over, the highest is no longer where it was; undone, another one is the highest.
    set.put(TreeId(1), &highest, Some(b"w"), CommandId(2));
    set.put(TreeId(1), &among, Some(b"w"), CommandId(2));
    set.put(TreeId(1), &(8 * CHUNK as u32).to_be_bytes(), Some(b"w"), CommandId(3));
    let value = |set: &WriteSet, key: &[u8]| {
        set.get(TreeId(1), key, CommandId(9)).map(|write| write.value.unwrap().to_vec())
    };
    assert_eq!(value(&set, &highest).as_deref(), Some(&b"w"[..]));
    assert_eq!(value(&set, &among).as_deref(), Some(&b"w"[..]));
    set.undo(CommandId(2));
    assert_eq!(value(&set, &highest).as_deref(), Some(&b"v"[..]));
    assert_eq!(value(&set, &among), None);
    assert_eq!(value(&set, &(8 * CHUNK as u32).to_be_bytes()), None);
    set.arrange();
    assert!(set.iter().map(|write| write.key).is_sorted());
    assert_eq!(set.iter().count(), set.keys());
}

#[test]
fn a_cleared_set_keeps_only_little_memory() {
    let mut set = WriteSet::default();
    for key in 0..100_000u32 {
        set.put(TreeId(1), &key.to_be_bytes(), Some(&[0; 100]), CommandId(1));
    }
    set.arrange();
    assert_eq!(set.iter().count(), 100_000);
    set.clear();
    assert!(set.is_empty() && set.iter().next().is_none());
    assert!(set.bytes.capacity() <= KEPT_BYTES && set.entries.capacity() <= KEPT_WRITES);
    set.put(TreeId(1), b"k", None, CommandId(1));
    assert_eq!(set.get(TreeId(1), b"k", CommandId(2)).unwrap().value, None);
}
