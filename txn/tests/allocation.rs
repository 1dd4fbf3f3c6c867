//! A point SELECT allocates nothing below SQL: beginning, a statement, reading, and ending are counted.

mod counting;

use counting::ALLOCATIONS;
use std::sync::Arc;
use txn::RecordBuffer;
use txn::{
    Begin, Environment, Error, FaultyDevice, Manager, Options, RowLock, SessionWait, SystemClock,
    Threads, WaitPolicy,
};

#[test]
fn a_point_select_allocates_nothing() {
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(2)),
        seed: 1,
    };
    let options = Options::default();
    Manager::create(&env, &options).unwrap();
    let manager = Manager::open::<Error>(env, options, |_| Ok(Vec::new())).unwrap();
    let tree = manager.data().create_tree().unwrap();
    let wait = Arc::new(SessionWait::new(1));
    let mut buffer = RecordBuffer::default();
    let mut update = || {
        let mut txn = manager.begin(Begin::default(), &wait);
        txn.begin_statement().unwrap();
        let (mode, block) = (RowLock::Update, WaitPolicy::Block);
        txn.lock_key(&tree, b"key", mode, block, &mut buffer).unwrap();
        txn.put(&tree, b"key", b"a value of some length").unwrap();
        let _ = txn.commit(&mut |_| ()).unwrap();
    };
    (0..100).for_each(|_| update());
    let before = ALLOCATIONS.get();
    (0..1000).for_each(|_| update());
    let per_update = (ALLOCATIONS.get() - before) as f64 / 1000.0;
    assert!(per_update <= 12.0, "an update of one row makes {per_update} allocations");
    let mut select = || {
        let mut txn = manager.begin(Begin::default(), &wait);
        let view = txn.begin_statement().unwrap();
        assert!(txn.get(&view, &tree, b"key", &mut buffer).unwrap());
        assert!(!txn.get(&view, &tree, b"none", &mut buffer).unwrap());
        txn.end_statement();
        let _ = txn.commit(&mut |_| ()).unwrap();
    };
    (0..10).for_each(|_| select());
    let before = ALLOCATIONS.get();
    (0..1000).for_each(|_| select());
    assert_eq!(ALLOCATIONS.get() - before, 0);
    manager.close().unwrap();
}
