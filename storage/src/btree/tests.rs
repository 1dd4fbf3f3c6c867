//! Trees against a map: one thread and many, with the smallest pages and the smallest pool, through restarts.

use crate::device::faulty::FaultyDevice;
use crate::environment::{SystemClock, Threads};
use crate::{
    Applied, Change, DataComponent, Direction, Environment, Error, Lsn, Options, Packing,
    RecordBuffer, RecordKind, Room, SpaceClass, Tree,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

type Stored = (Lsn, Option<Vec<u8>>);
pub(super) type Model = BTreeMap<Vec<u8>, Stored>;

fn environment(device: &Arc<FaultyDevice>) -> Environment {
    Environment {
        device: Arc::clone(device) as Arc<dyn crate::Device>,
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(8)),
        seed: 1,
    }
}

pub(super) fn tiny() -> Options {
    Options {
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 1 << 20,
        log_segment_bytes: 1 << 20,
        log_bytes_max: 64 << 20,
        ..Options::default()
    }
}

pub(super) fn fresh(options: &Options) -> Arc<DataComponent> {
    let env = environment(&Arc::new(FaultyDevice::new(1)));
    DataComponent::create(&env, options).unwrap();
    DataComponent::open(env, options.clone()).unwrap().finish(&|_| true).unwrap()
}

/// Logs a record that says nothing, for its LSN.
pub(super) fn stamp(component: &DataComponent) -> Lsn {
    let log = component.log();
    let mut space = log.reserve(SpaceClass::Commit, 1, 8).unwrap();
    log.claim(&mut space, 8).publish(RecordKind::FIRST_LOGICAL, &[0; 8])
}

pub(super) fn put(component: &DataComponent, tree: &Tree, key: &[u8], value: Option<&[u8]>) -> Lsn {
    let lsn = stamp(component);
    let change = value.map_or(Change::Delete, Change::Put);
    assert_eq!(tree.apply(lsn, key, change, true, &mut |_| ()).unwrap(), Applied::Done);
    lsn
}

fn contents(
    tree: &Arc<Tree>,
    low: Bound<&[u8]>,
    high: Bound<&[u8]>,
    direction: Direction,
) -> Vec<(Vec<u8>, Stored)> {
    let mut cursor = tree.cursor();
    cursor.seek(low, high, direction).unwrap();
    let mut all = Vec::new();
    while let Some(record) = cursor.advance().unwrap() {
        all.push((record.key.to_vec(), (record.lsn, record.value.map(<[u8]>::to_vec))));
    }
    all
}

pub(super) fn check(component: &DataComponent) {
    let problems = component.forest().check().unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
}

pub(super) fn same(tree: &Arc<Tree>, model: &Model) {
    let all = contents(tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    assert!(all.iter().map(|(k, v)| (k, v)).eq(model.iter()), "forward");
    let back = contents(tree, Bound::Unbounded, Bound::Unbounded, Direction::Backward);
    assert!(back.iter().map(|(k, v)| (k, v)).eq(model.iter().rev()), "backward");
}

/// Whether nothing has changed under `token`. Asked again for a while: a page counts as changed, too, where it has left the
/// memory, and while the cleaner has its latch.
fn unchanged(component: &DataComponent, tree: &Tree, token: super::ReadToken) -> bool {
    (0..1000).any(|_| {
        let _in_memory = component.forest().volume().pool.fetch(crate::PageId(token.page)).unwrap();
        let unchanged = tree.unchanged(token);
        if !unchanged {
            std::thread::yield_now();
        }
        unchanged
    })
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Bury(Vec<u8>),
    Get(Vec<u8>),
    Scan(Bound<Vec<u8>>, Bound<Vec<u8>>, bool),
    Compact(Packing),
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => (0u16..300).prop_map(|n| [&b"row/"[..], &n.to_be_bytes()].concat()),
        2 => prop::collection::vec(0u8..3, 0..5),
        1 => (0u8..40).prop_map(|n| vec![n; 512]),
        2 => (0u8..4, 0u8..40).prop_map(|(n, last)| [vec![n; LONGEST - 1], vec![last]].concat()),
    ]
}

/// As long as keys may be on the smallest pages.
const LONGEST: usize = 1_322;

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![
        Just(Bound::Unbounded),
        key().prop_map(Bound::Included),
        key().prop_map(Bound::Excluded),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (key(), prop::collection::vec(any::<u8>(), 0..500)).prop_map(|(key, mut value)| {
            value.truncate(LONGEST + 46 - key.len());
            Op::Put(key, value)
        }),
        2 => key().prop_map(Op::Delete),
        3 => key().prop_map(Op::Bury),
        1 => key().prop_map(Op::Get),
        1 => (bound(), bound(), any::<bool>()).prop_map(|(l, h, f)| Op::Scan(l, h, f)),
        1 => (10u8..=100, 2usize..8)
            .prop_map(|(fill_percent, group)| Op::Compact(Packing { fill_percent, group })),
    ]
}

fn inside(low: &Bound<Vec<u8>>, high: &Bound<Vec<u8>>, key: &[u8]) -> bool {
    let above = match low {
        Bound::Unbounded => true,
        Bound::Included(low) => key >= low.as_slice(),
        Bound::Excluded(low) => key > low.as_slice(),
    };
    let below = match high {
        Bound::Unbounded => true,
        Bound::Included(high) => key <= high.as_slice(),
        Bound::Excluded(high) => key < high.as_slice(),
    };
    above && below
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_tree_is_a_map(
        ops in prop::collection::vec(op(), 1..1200),
        page_bytes in prop_oneof![4 => Just(4096), 1 => Just(8192), 1 => Just(16384), 1 => Just(32768)],
    ) {
        let component = fresh(&Options { page_bytes, ..tiny() });
        let tree = component.create_tree().unwrap();
        let mut model = Model::new();
        let mut buffer = RecordBuffer::default();
        for op in ops {
            match op {
                Op::Put(key, value) => {
                    let lsn = put(&component, &tree, &key, Some(&value));
                    model.insert(key, (lsn, Some(value)));
                }
                Op::Delete(key) => {
                    let lsn = put(&component, &tree, &key, None);
                    model.insert(key, (lsn, None));
                }
                Op::Bury(key) => {
                    if let Some((lsn, _)) = model.get(&key).cloned() {
                        if model[&key].1.is_some() {
                            let lsn = put(&component, &tree, &key, None);
                            tree.remove_tombstone(&key, lsn).unwrap();
                        } else {
                            tree.remove_tombstone(&key, Lsn(lsn.0 - 1)).unwrap();
                            prop_assert!(tree.get(&key, &mut buffer).unwrap());
                            tree.remove_tombstone(&key, lsn).unwrap();
                        }
                        model.remove(&key);
                    }
                }
                Op::Get(key) => {
                    let found = tree.get(&key, &mut buffer).unwrap();
                    let expected = model.get(&key);
                    prop_assert_eq!(found, expected.is_some());
                    if let Some((lsn, value)) = expected {
                        prop_assert_eq!(buffer.lsn(), *lsn);
                        prop_assert_eq!(buffer.value(), value.as_deref());
                    }
                    prop_assert!(unchanged(&component, &tree, buffer.token()));
                }
                Op::Compact(packing) => {
                    tree.compact(packing, &mut || true).unwrap();
                    same(&tree, &model);
                    check(&component);
                }
                Op::Scan(low, high, forward) => {
                    let direction = if forward { Direction::Forward } else { Direction::Backward };
                    let all = contents(
                        &tree, low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice), direction);
                    let mut expected: Vec<_> = model.iter()
                        .filter(|(key, _)| inside(&low, &high, key))
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .collect();
                    if !forward { expected.reverse(); }
                    prop_assert_eq!(all, expected);
                }
            }
        }
        same(&tree, &model);
        check(&component);
        // What is emptied gives its pages back, to the last.
        for (key, (lsn, value)) in std::mem::take(&mut model) {
            let lsn = if value.is_some() { put(&component, &tree, &key, None) } else { lsn };
            tree.remove_tombstone(&key, lsn).unwrap();
        }
        same(&tree, &model);
        check(&component);
        component.close(&mut |tail| tail, true).unwrap();
    }
}

#[test]
fn ascending_keys_leave_full_pages() {
    let component = fresh(&Options { pool_frames: 2048, ..tiny() });
    let tree = component.create_tree().unwrap();
    let value = [7; 100];
    for n in 0..10_000u64 {
        put(&component, &tree, &n.to_be_bytes(), Some(&value));
    }
    check(&component);
    let pages = component.forest().volume().space.allocated().len();
    let least = 10_000 * (100 + 8 + 20) / 4096;
    assert!(pages < least * 5 / 4, "{pages} pages where {least} would do");
}

#[test]
fn a_dirty_tree_ten_times_the_pool_is_read_back_after_a_restart() {
    let options = tiny();
    let device = Arc::new(FaultyDevice::new(3));
    let env = environment(&device);
    DataComponent::create(&env, &options).unwrap();
    let component = DataComponent::open(env, options.clone()).unwrap().finish(&|_| true).unwrap();
    let tree = component.create_tree().unwrap();
    let mut model = Model::new();
    let mut state = 9u64;
    for n in 0..20_000u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let key = (state >> 40).to_be_bytes();
        let value = vec![n as u8; 120];
        let lsn = put(&component, &tree, &key, Some(&value));
        model.insert(key.to_vec(), (lsn, Some(value)));
    }
    same(&tree, &model);
    let counters = &component.forest().volume().pool.counters;
    for (name, count) in [
        ("hint hits", counters.hint_hits.get()),
        ("hint misses", counters.hint_misses.get()),
        ("misses", counters.misses.get()),
        ("evictions", counters.evictions.get()),
        ("displacements", counters.displacements.get()),
        ("writes", counters.writes.get()),
    ] {
        assert!(count > 0, "{name}");
    }
    check(&component);
    let id = tree.id();
    component.close(&mut |tail| tail, true).unwrap();
    drop((tree, component));
    let env = environment(&Arc::new(device.crash(1)));
    let component = DataComponent::open(env, options).unwrap().finish(&|_| true).unwrap();
    let tree = component.tree(id).unwrap();
    same(&tree, &model);
    check(&component);
    assert!(component.create_tree().unwrap().id() > id);
    assert!(component.tree(crate::TreeId(id.0 + 7)).is_err());
}

#[test]
fn writers_readers_and_undertakers_share_a_tiny_pool() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let threads = 6u64;
    let models: Vec<Model> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|me| {
                let (component, tree) = (&component, &tree);
                scope.spawn(move || {
                    let mut model = Model::new();
                    let mut buffer = RecordBuffer::default();
                    let mut state = me + 1;
                    for n in 0..2_500u64 {
                        state = state
                            .wrapping_mul(6364136223846793005)
                            .wrapping_add(1442695040888963407);
                        // Neighbouring keys belong to different threads: they meet on every leaf.
                        let key = ((state >> 33) % 1_500 * threads + me).to_be_bytes();
                        match state >> 60 {
                            0..9 => {
                                let value = vec![n as u8; (state >> 50) as usize % 200];
                                let lsn = put(component, tree, &key, Some(&value));
                                model.insert(key.to_vec(), (lsn, Some(value)));
                            }
                            9..13 => {
                                if model.remove(key.as_slice()).is_some() {
                                    let lsn = put(component, tree, &key, None);
                                    tree.remove_tombstone(&key, lsn).unwrap();
                                }
                            }
                            13 if n % 4 == 3 => {
                                let packing = Packing { fill_percent: 100, group: 5 };
                                tree.compact(packing, &mut || true).unwrap();
                            }
                            13 => {
                                let mut cursor = tree.cursor();
                                let direction = if n % 2 == 0 {
                                    Direction::Forward
                                } else {
                                    Direction::Backward
                                };
                                cursor.seek(Bound::Unbounded, Bound::Unbounded, direction).unwrap();
                                let mut last: Option<Vec<u8>> = None;
                                let mut own = 0;
                                while let Some(record) = cursor.advance().unwrap() {
                                    let grows =
                                        last.as_deref().is_none_or(|last| last < record.key);
                                    let shrinks =
                                        last.as_deref().is_none_or(|last| last > record.key);
                                    assert!(if n % 2 == 0 { grows } else { shrinks });
                                    last = Some(record.key.to_vec());
                                    own += usize::from(model.contains_key(record.key));
                                }
                                assert_eq!(
                                    own,
                                    model.len(),
                                    "a scan sees what its thread has written"
                                );
                            }
                            _ => {
                                let found = tree.get(&key, &mut buffer).unwrap();
                                assert_eq!(found, model.contains_key(key.as_slice()));
                                if let Some((lsn, value)) = model.get(key.as_slice()) {
                                    assert_eq!(
                                        (buffer.lsn(), buffer.value()),
                                        (*lsn, value.as_deref())
                                    );
                                }
                            }
                        }
                    }
                    model
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let model: Model = models.into_iter().flatten().collect();
    same(&tree, &model);
    check(&component);
}

#[test]
fn what_is_not_in_memory_or_has_no_room_would_wait() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let mut would_wait = 0;
    for n in 0..200u64 {
        let key = (n * 7919 % 200).to_be_bytes();
        let lsn = stamp(&component);
        let apply = |wait| {
            tree.apply(lsn, &key, Change::Put(&[1; 100]), wait, &mut |_| panic!("it was not there"))
        };
        match apply(false).unwrap() {
            Applied::Done => {}
            Applied::WouldWait => {
                would_wait += 1;
                assert_eq!(apply(true).unwrap(), Applied::Done);
            }
            Applied::Older => panic!("it was not there"),
        }
        assert_eq!(apply(false).unwrap(), Applied::Older);
    }
    assert!(would_wait > 0);
    // After `prepare` it does not.
    for n in 200..400u64 {
        let key = n.to_be_bytes();
        tree.prepare(&key, key.len() + 100).unwrap();
        let lsn = stamp(&component);
        let done = tree.apply(lsn, &key, Change::Put(&[1; 100]), false, &mut |_| ()).unwrap();
        assert_eq!(done, Applied::Done);
    }
    assert!(tree.prepare(&[0; LONGEST], LONGEST + 46).is_ok());
    assert!(tree.prepare(&[0; LONGEST + 1], LONGEST + 1).is_err());
    assert!(tree.prepare(&[0; 8], LONGEST + 47).is_err());
    check(&component);
}

#[test]
fn a_patch_needs_its_base() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let base = put(&component, &tree, b"k", Some(b"hello world"));
    let patch = |base, from| Change::Patch { base, from, bytes: b"WORLD" };
    let lsn = stamp(&component);
    let mut seen = None;
    let applied = tree.apply(lsn, b"k", patch(base, 6), false, &mut |old| {
        seen = old.value.map(<[u8]>::to_vec);
    });
    assert_eq!(applied.unwrap(), Applied::Done);
    assert_eq!(seen.as_deref(), Some(&b"hello world"[..]));
    let mut buffer = RecordBuffer::default();
    assert!(tree.get(b"k", &mut buffer).unwrap());
    assert_eq!((buffer.lsn(), buffer.value()), (lsn, Some(&b"hello WORLD"[..])));
    let later = stamp(&component);
    assert!(tree.apply(later, b"k", patch(base, 6), false, &mut |_| ()).is_err());
    assert!(tree.apply(later, b"k", patch(lsn, 7), false, &mut |_| ()).is_err());
    assert_eq!(
        tree.apply(later, b"x", patch(base, 0), false, &mut |_| ()).unwrap(),
        Applied::Older
    );
}

#[test]
fn a_token_notices_changes_of_its_leaf_only() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    for n in 0..200u64 {
        put(&component, &tree, &n.to_be_bytes(), Some(&[1; 100]));
    }
    let mut buffer = RecordBuffer::default();
    tree.get(&3u64.to_be_bytes(), &mut buffer).unwrap();
    let token = buffer.token();
    put(&component, &tree, &150u64.to_be_bytes(), Some(&[2; 100]));
    assert!(unchanged(&component, &tree, token));
    put(&component, &tree, &4u64.to_be_bytes(), Some(&[2; 100]));
    assert!(!tree.unchanged(token));
}

#[test]
fn nothing_stands_in_a_gap_until_its_leaf_changes() {
    let component = fresh(&tiny());
    let (tree, other) = (component.create_tree().unwrap(), component.create_tree().unwrap());
    let key = |n: u64| n.to_be_bytes();
    for n in 0..40 {
        put(&component, &tree, &key(100 * n), Some(&[1; 100]));
        put(&component, &other, &key(100 * n), Some(&[1; 100]));
    }
    let (mut buffer, mut gap) = (RecordBuffer::default(), super::Gap::default());
    let mut look = |gap: &mut super::Gap, n| {
        assert!(!tree.get_beside(&key(n), &mut buffer, gap).unwrap());
    };
    for place in [0, 7, 20, 38, 39] {
        let (before, behind) = (100 * place, 100 * (place + 1));
        look(&mut gap, before + 10);
        assert!(!tree.is_in_gap(&key(before + 11), &gap), "one look is not enough for a gap");
        look(&mut gap, before + 20);
        assert!(tree.is_in_gap(&key(before + 21), &gap));
        for n in [before, before + 10, before + 20, behind] {
            assert_eq!(tree.is_in_gap(&key(n), &gap), n == behind && place == 39, "{n}");
        }
        assert!(!other.is_in_gap(&key(before + 21), &gap), "it is no gap of another tree");
        // Another key comes to the same leaf, then the leaf is cut.
        put(&component, &tree, &key(before + 50), Some(&[2; 100]));
        assert!(!tree.is_in_gap(&key(before + 21), &gap));
        look(&mut gap, before + 30);
        look(&mut gap, before + 31);
        assert!(tree.is_in_gap(&key(before + 32), &gap));
        tree.split_leaf_at(&key(before + 31), &key(before + 31)).unwrap();
        assert!(!tree.is_in_gap(&key(before + 32), &gap));
    }
}

#[test]
fn a_leaf_is_looked_for_where_it_was_and_found_where_it_is() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let key = |n: u64| n.to_be_bytes();
    for n in 0..200 {
        put(&component, &tree, &key(n), Some(&[1; 100]));
    }
    component.checkpoint_all(&mut |tail| tail).unwrap();
    let token = |n| {
        let mut buffer = RecordBuffer::default();
        assert!(tree.get(&key(n), &mut buffer).unwrap());
        buffer.token()
    };
    let put_again = |n, token: super::ReadToken| {
        let lsn = stamp(&component);
        let (at, room) = ((lsn, lsn), crate::Room::AtHand);
        let change = Change::Put(&[2; 100]);
        let applied = tree.apply_since(at, (&key(n), Some(&token)), change, room, &mut |_| ());
        assert_eq!(applied.unwrap(), Applied::Done);
        let mut buffer = RecordBuffer::default();
        assert!(tree.get(&key(n), &mut buffer).unwrap());
        assert_eq!((buffer.lsn(), buffer.value()), (lsn, Some(&[2; 100][..])));
    };
    put_again(0, token(0));
    for (n, near) in [(1, 0), (2, 1), (0, 199), (199, 0)] {
        // Not where it was, and maybe beside another.
        let (lsn, mut beside) = (stamp(&component), token(near));
        let (at, room) = ((lsn, lsn), crate::Room::AtHand);
        let (key, change) = (key(n), Change::Put(&[1; 100]));
        let to = (&key[..], Some(&super::ReadToken::NOWHERE), &mut beside);
        assert_eq!(tree.apply_beside(at, to, change, room, &mut |_| ()).unwrap(), Applied::Done);
        let there = token(n);
        assert_eq!((beside.page, beside.structure), (there.page, there.structure));
        let mut buffer = RecordBuffer::default();
        assert!(tree.get(&key, &mut buffer).unwrap());
        assert_eq!((buffer.lsn(), buffer.value()), (lsn, Some(&[1; 100][..])));
    }
    put_again(0, token(0));
    let mut buffer = RecordBuffer::default();
    for n in (0..200).chain([0, 199]) {
        assert!(tree.get_beside(&key(n), &mut buffer, &mut super::Gap::default()).unwrap());
        assert_eq!(buffer.value(), Some(&[if n == 0 { 2 } else { 1 }; 100][..]));
    }
    let last = token(199);
    // The leaves before the last one become empty, and it goes into the one that is left.
    let (low, _) = tree.leaf_range(&key(199)).unwrap();
    for n in (0..).take_while(|n| key(*n)[..] < low[..]) {
        let lsn = put(&component, &tree, &key(n), None);
        tree.remove_tombstone(&key(n), lsn).unwrap();
    }
    let pool = &component.forest().volume().pool;
    let page = crate::PageId(last.page);
    assert!(pool.resident(page).is_none(), "the page has been freed");
    // A reader with an old pointer brings it back as it was.
    let _pin = pool.fetch(page).unwrap();
    let frame = pool.resident(page).unwrap().frame().0;
    let last = super::ReadToken { frame, ..last };
    assert!(!tree.unchanged(last));
    put_again(199, last);
    check(&component);
}

#[test]
fn a_bulk_built_tree_is_the_same_tree() {
    for (count, options) in [(0u64, tiny()), (1, tiny()), (40, tiny()), (20_000, tiny())] {
        let device = Arc::new(FaultyDevice::new(5));
        let env = environment(&device);
        DataComponent::create(&env, &options).unwrap();
        let open = |env| DataComponent::open(env, options.clone()).unwrap();
        let component = open(env).finish(&|_| true).unwrap();
        let mut model = Model::new();
        let mut builder = component.bulk_builder().unwrap();
        for n in 0..count {
            // Runs with a long common prefix, interrupted: pages lose their prefix at the last moment.
            let mut key = vec![b'p'; (n / 64 % 3 * 120) as usize];
            key.splice(0..0, (n / 64).to_be_bytes());
            key.extend_from_slice(&n.to_be_bytes());
            let value = vec![n as u8; (n * 37 % 90) as usize];
            builder.push(&key, &value).unwrap();
            model.insert(key, (Lsn::ZERO, Some(value)));
        }
        let tree = builder.finish().unwrap();
        same(&tree, &model);
        check(&component);
        let key = [&7u64.to_be_bytes()[..], b"new"].concat();
        let lsn = put(&component, &tree, &key, Some(b"value"));
        model.insert(key, (lsn, Some(b"value".to_vec())));
        component.log().wait_durable(lsn).unwrap();
        component.close(&mut |tail| tail, true).unwrap();
        let id = tree.id();
        drop((tree, component));
        let component = open(environment(&Arc::new(device.crash(1)))).finish(&|_| true).unwrap();
        same(&component.tree(id).unwrap(), &model);
        check(&component);
    }
}

#[test]
fn the_space_of_freed_trees_and_of_emptied_ones_is_used_again() {
    let component = fresh(&tiny());
    let fill = |from: u64| {
        let tree = component.create_tree().unwrap();
        for n in from..from + 3_000 {
            put(&component, &tree, &n.to_be_bytes(), Some(&[3; 100]));
        }
        tree
    };
    let durable = || component.log().wait_durable(stamp(&component)).unwrap();
    let first = fill(0);
    component.free_tree(first.id()).unwrap();
    durable();
    let pages = component.forest().volume().space.pages();
    for round in 0..4 {
        let tree = fill(round);
        for n in round..round + 3_000 {
            let lsn = put(&component, &tree, &n.to_be_bytes(), None);
            tree.remove_tombstone(&n.to_be_bytes(), lsn).unwrap();
        }
        check(&component);
        durable();
        for n in round..round + 3_000 {
            put(&component, &tree, &n.to_be_bytes(), Some(&[3; 100]));
        }
        check(&component);
        component.free_tree(tree.id()).unwrap();
        durable();
    }
    assert!(component.forest().volume().space.pages() <= pages + 128);
    drop(component.bulk_builder().unwrap());
    assert!(component.forest().volume().space.allocated().is_empty());
}

/// Fills a tree, closes, lets `damage` loose on a page of it, opens again and checks.
fn problems_after(
    pick: &dyn Fn(crate::page::Page<'_>) -> bool,
    damage: &dyn Fn(&crate::buffer::DataFile, crate::page::PageBuf, &[crate::PageId]),
) -> Vec<String> {
    let options = tiny();
    let device = Arc::new(FaultyDevice::new(4));
    let env = environment(&device);
    DataComponent::create(&env, &options).unwrap();
    let component = DataComponent::open(env, options.clone()).unwrap().finish(&|_| true).unwrap();
    let tree = component.create_tree().unwrap();
    for n in 0..2_000u64 {
        put(&component, &tree, &n.to_be_bytes(), Some(&[3; 60]));
    }
    let pages: Vec<_> = component.forest().volume().space.allocated().into_keys().collect();
    component.close(&mut |tail| tail, true).unwrap();
    drop((tree, component));
    let device = Arc::new(device.crash(2));
    // Without it, or the double-write area would heal some of the damage.
    crate::Device::remove(&*device, "doublewrite").unwrap();
    let planted = crate::Planted::default();
    let file = crate::buffer::DataFile::open(&*device, 4096, false, planted).unwrap();
    let mut buf = crate::page::PageBuf::new(4096);
    let victim = pages.iter().find(|page| {
        file.read(**page, &mut buf).unwrap();
        pick(buf.page())
    });
    assert!(victim.is_some());
    damage(&file, buf, &pages);
    drop(file);
    let opened = DataComponent::open(environment(&device), options).unwrap();
    let component = opened.finish(&|_| true).unwrap();
    component.forest().check().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn the_offline_check_finds_each_kind_of_damage() {
    let leaf = |page: crate::page::Page<'_>| page.level() == 0 && page.slots() > 4;
    let write = |file: &crate::buffer::DataFile, buf: crate::page::PageBuf| {
        file.write_new(&mut [buf]).unwrap();
    };
    assert_eq!(problems_after(&leaf, &|_, _, _| ()), Vec::<String>::new());
    let flipped = problems_after(&leaf, &|file, mut buf, _| {
        let id = buf.page().id();
        buf.bytes_mut()[3000] ^= 4;
        file.write_unsealed(id, &mut buf).unwrap();
    });
    assert!(flipped[0].contains("its checksum does not match"), "{flipped:?}");
    let exchanged = problems_after(&leaf, &|file, mut buf, _| {
        let slots = buf.bytes_mut();
        let (first, second) = slots[64..80].split_at_mut(8);
        first.swap_with_slice(second);
        write(file, buf);
    });
    assert!(exchanged[0].contains("its keys are not in order"), "{exchanged:?}");
    let swapped = problems_after(&leaf, &|file, mut buf, pages| {
        let id = buf.page().id();
        let mut other = crate::page::PageBuf::new(4096);
        let another = pages.iter().find(|page| **page != id);
        let another = *another.expect("a tree of many pages");
        file.read_unchecked(another, &mut other).unwrap();
        file.write_unsealed(another, &mut buf).unwrap();
        file.write_unsealed(id, &mut other).unwrap();
    });
    assert!(swapped.iter().any(|what| what.contains("it is another page")), "{swapped:?}");
    let orphan = problems_after(&|page| page.level() == 1, &|file, mut buf, _| {
        // The parent forgets its last child but one.
        let last = buf.page().slots() - 2;
        buf.page_mut().remove(last);
        write(file, buf);
    });
    assert!(orphan.iter().any(|what| what.contains("no page leads to it")), "{orphan:?}");
    assert!(orphan.iter().any(|what| what.contains("fences")), "{orphan:?}");
}

#[test]
fn the_number_of_records_is_estimated_from_one_descent() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    assert_eq!(tree.record_estimate().unwrap(), 0.0);
    for number in 0..20_000_u32 {
        put(&component, &tree, &number.to_be_bytes(), Some(b"value"));
        if number == 9 {
            assert_eq!(tree.record_estimate().unwrap(), 10.0);
        }
    }
    let records = tree.record_estimate().unwrap();
    assert!((10_000.0..40_000.0).contains(&records), "{records}");
}

#[test]
fn keys_that_come_in_order_leave_full_pages_also_in_the_midst_of_others() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let pages = || component.forest().volume().space.allocated().len();
    let mut counts = Vec::new();
    for from in [100_000u64, 10_000, 50_000] {
        let before = pages();
        for n in from..from + 3_000 {
            put(&component, &tree, &n.to_be_bytes(), Some(&[3; 60]));
        }
        counts.push(pages() - before);
    }
    assert!(counts[1].max(counts[2]) <= counts[0] + 3, "{counts:?}");
    check(&component);
}

/// The separator is as long as the keys, and there is no fence to share a prefix with.
#[test]
fn long_keys_that_come_in_order_split_their_leaves_too() {
    let component = fresh(&tiny());
    let longest = component.key_bytes_max();
    assert_eq!(longest, LONGEST);
    for shared in [40, 63, 64, 65, 100, 150, 200, 257, 311, 504, longest - 4] {
        for value in [0, 5, 60, 333] {
            let tree = component.create_tree().unwrap();
            let mut keys = Vec::new();
            for n in 0..200_u32 {
                // Half of them at the end, and then half of them in one place in the midst.
                let n = if n < 100 { n * 1_000 } else { 50_000 + n };
                keys.push([vec![b'x'; shared], n.to_be_bytes().to_vec()].concat());
                let value = value.min(component.record_bytes_max() - shared - 4);
                put(&component, &tree, keys.last().unwrap(), Some(&vec![1; value]));
            }
            keys.sort();
            let found = contents(&tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
            assert!(found.iter().map(|(key, _)| key).eq(&keys), "{shared}, {value}");
        }
    }
}

#[test]
fn what_no_page_takes_is_refused_before_it_is_claimed() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    let mut into = RecordBuffer::default();
    let (key, record) = (component.key_bytes_max(), component.record_bytes_max());
    let mut growth = crate::Growth::default();
    assert!(!tree.get_to_change(&vec![7; key], record - key, &mut into, &mut growth).unwrap());
    for (key, value) in [(key + 1, 0), (key, record - key + 1)] {
        let refused = tree.get_to_change(&vec![7; key], value, &mut into, &mut growth);
        assert!(matches!(refused, Err(Error::TooLarge { .. })), "{key} and {value}");
        assert!(component.check_record_size(key, value).is_err());
    }
}

/// Behind the second record that goes to a leaf the next ones are counted without a look at it, as far as it reaches and has room.
#[test]
fn a_batch_that_goes_over_many_leaves_has_the_leaf_of_each_record() {
    let component = fresh(&Options { pool_frames: 2048, ..tiny() });
    let tree = component.create_tree().unwrap();
    let mut chance = crate::chance::Chance::new(7);
    let mut model = Model::new();
    let (mut into, mut growth) = (RecordBuffer::default(), crate::Growth::default());
    let (mut applied, mut without_room) = (0, 0);
    for _ in 0..200 {
        let mut keys = std::collections::BTreeSet::new();
        while keys.len() < 60 {
            // Runs of keys beside each other, of which some go on in the next leaf.
            let first = chance.below(20_000) as u32;
            keys.extend((0..=chance.below(12) as u32).map(|n| first + n));
        }
        let keys: Vec<_> =
            keys.iter().map(|n| [b"k".as_slice(), &n.to_be_bytes()].concat()).collect();
        let value = vec![1; chance.below(150) as usize];
        growth.begin();
        let mut leaves = Vec::new();
        for key in &keys {
            tree.make_room(key, value.len(), &mut into, &mut growth).unwrap();
            leaves.push(into.token());
        }
        growth.end();
        let lsn = stamp(&component);
        for (key, leaf) in keys.into_iter().zip(leaves) {
            let (at, change) = ((key.as_slice(), Some(&leaf)), Change::Put(&value));
            let apply = |room| tree.apply_since((lsn, lsn), at, change, room, &mut |_| ());
            if apply(Room::AtHand).unwrap() == Applied::WouldWait {
                without_room += 1;
                assert_eq!(apply(Room::Free).unwrap(), Applied::Done);
            }
            applied += 1;
            model.insert(key, (lsn, Some(value.clone())));
        }
    }
    assert!(without_room * 50 < applied, "{without_room} of {applied}");
    same(&tree, &model);
    check(&component);
}

/// A split that finds the log ring full waits before it latches anything: readers of its leaf go on.
#[test]
fn nobody_spins_on_a_page_whose_split_waits_for_the_ring() {
    let options = Options { log_ring_bytes: 64 << 10, ..tiny() };
    let component = fresh(&options);
    let tree = component.create_tree().unwrap();
    for n in 0..4u64 {
        put(&component, &tree, &n.to_be_bytes(), Some(&[3; 900]));
    }
    let log = component.log();
    log.wait_durable_end(log.tail()).unwrap();
    // Nothing is written past a claim that is not published.
    let mut space = log.reserve(SpaceClass::System, 64, 64 << 10).unwrap();
    let begin = log.tail();
    let held = log.claim(&mut space, 8);
    while log.tail().0 - begin.0 < (64 << 10) - 4000 {
        log.claim(&mut space, 1000).publish(RecordKind::FIRST_LOGICAL, &[0; 1000]);
    }
    std::thread::scope(|scope| {
        let split = scope.spawn(|| tree.prepare(&9u64.to_be_bytes(), 908));
        let reader = scope.spawn(|| {
            for _ in 0..200 {
                assert!(tree.get(&3u64.to_be_bytes(), &mut RecordBuffer::default()).unwrap());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !reader.is_finished() && std::time::Instant::now() < patience {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let went_on = reader.is_finished();
        let waited = !split.is_finished();
        held.publish(RecordKind::FIRST_LOGICAL, &[0; 8]);
        split.join().unwrap().unwrap();
        assert!(went_on, "the reader spins");
        assert!(waited, "the ring was not full");
    });
    check(&component);
}

/// Keys of all lengths in any order, most of them in a few clusters that differ in their last bytes only, so that fences and
/// separators are as long as they can be: in leaves of one record, inner nodes of two children, and built from the bottom.
#[test]
fn a_tree_of_the_longest_keys_is_split_built_packed_and_emptied() {
    let component = fresh(&Options { pool_frames: 256, ..tiny() });
    let tree = component.create_tree().unwrap();
    let mut chance = crate::chance::Chance::new(5);
    let mut model = Model::new();
    for _ in 0..2_500 {
        let tail = (chance.below(700) as u16).to_be_bytes();
        let common = match chance.below(4) {
            0 => chance.below(40) as usize,
            1 => chance.below(LONGEST as u64 - 1) as usize,
            _ => LONGEST - 2,
        };
        let key = [vec![b'a' + chance.below(4) as u8; common], tail.to_vec()].concat();
        let room = (component.record_bytes_max() - key.len()) as u64;
        let value = vec![1; chance.below(room + 1) as usize];
        let lsn = put(&component, &tree, &key, Some(&value));
        model.insert(key, (lsn, Some(value)));
    }
    same(&tree, &model);
    check(&component);
    let mut load = component.tree_load(0, None);
    for (key, (_, value)) in &model {
        load.push(key, value.as_deref().unwrap()).unwrap();
    }
    let crate::Loaded::Built(built) = load.finish().unwrap().finish().unwrap() else {
        panic!("no key came twice")
    };
    let unstamped =
        model.iter().map(|(key, (_, value))| (key.clone(), (Lsn::ZERO, value.clone()))).collect();
    same(&built, &unstamped);
    tree.compact(Packing { fill_percent: 100, group: 5 }, &mut || true).unwrap();
    same(&tree, &model);
    check(&component);
    for key in model.keys() {
        let lsn = put(&component, &tree, key, None);
        tree.remove_tombstone(key, lsn).unwrap();
    }
    same(&tree, &Model::new());
    check(&component);
}

/// Reads, changes and splits are what they are with both; readers on other threads may still look.
#[test]
fn trees_are_the_same_without_latches_and_without_the_pools_checks() {
    let component = fresh(&Options { pool_frames: 512, ..tiny() });
    let tree = component.create_tree().unwrap();
    let mut model = Model::new();
    let write = |from: u32, to: u32, model: &mut Model| {
        for n in from..to {
            let key = (n.wrapping_mul(0x9E37_79B9) % 4096).to_be_bytes();
            let value = vec![n as u8; 20 + n as usize % 50];
            let lsn = put(&component, &tree, &key, Some(&value));
            model.insert(key.to_vec(), (lsn, Some(value)));
        }
    };
    write(0, 1000, &mut model);
    // Every hint on the way to a leaf is right afterwards.
    same(&tree, &model);
    component.stripped().leave_latches_out();
    write(1000, 2000, &mut model);
    same(&tree, &model);
    component.stripped().leave_pool_out();
    write(2000, 4000, &mut model);
    same(&tree, &model);
    std::thread::scope(|scope| {
        scope.spawn(|| same(&tree, &model));
    });
    let mut found = RecordBuffer::default();
    let (key, (lsn, value)) = model.first_key_value().unwrap();
    assert!(tree.get(key, &mut found).unwrap());
    assert_eq!((found.lsn(), found.value()), (*lsn, value.as_deref()));
    component.stripped().put_back();
    write(4000, 4100, &mut model);
    same(&tree, &model);
    check(&component);
}

#[test]
#[should_panic(expected = "one thread changes pages")]
fn without_latches_no_other_thread_changes_a_page() {
    let component = fresh(&tiny());
    let tree = component.create_tree().unwrap();
    component.stripped().leave_latches_out();
    let other = || put(&component, &tree, b"key", Some(b"value"));
    let ended = std::thread::scope(|scope| scope.spawn(other).join());
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}
