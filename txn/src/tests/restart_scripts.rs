//! Scripts of restarts: transactions of few rows, and what a loss of power, or the end of the process alone, leaves of them.
//!
//! Transactions are words: `begin a`, `put a KEY VALUE`, `delete a KEY`, `commit a`, `prepare a NAME`, `resolve NAME commit` or `rollback`. What was
//! answered is durable, so it is there behind `lose-power` and `kill`; what is open goes, and what is prepared keeps its locks. What
//! is said is every row that a new transaction sees, who is prepared, and which rows nobody else may change.

use super::*;
use crate::golden;
use std::collections::BTreeMap;
use std::fmt::Write;
use storage::Device;

struct Script {
    device: Arc<FaultyDevice>,
    world: Option<World>,
    open: BTreeMap<String, Transaction>,
}

impl Script {
    fn new() -> Script {
        let device = Arc::new(FaultyDevice::new(5));
        let world = World::with(on(&device), small());
        // Somebody catalogs the tree.
        world.manager.checkpoint().unwrap();
        Script { device, world: Some(world), open: BTreeMap::new() }
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("it runs")
    }

    fn does(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["begin", name] => {
                let txn = self.world().begin(Isolation::ReadCommitted, 1);
                self.open.insert(name.to_owned(), txn);
            }
            ["put" | "delete", name, key, ..] => {
                let tree = Arc::clone(&self.world().tree);
                let txn = self.open.get_mut(name).expect("it has begun");
                txn.begin_statement().unwrap();
                write(txn, &tree, key.as_bytes(), words.get(3).map(|value| value.as_bytes()));
            }
            ["commit", name] => {
                let ended = self.open.remove(name).unwrap().commit(&mut |_| ()).unwrap();
                self.world().answer(ended);
            }
            ["prepare", name, gid] => {
                let txn = self.open.remove(name).unwrap();
                let ended = txn.prepare((gid.as_bytes(), b""), 2).unwrap().unwrap();
                self.world().answer(ended);
            }
            ["resolve", gid, how] => {
                let world = self.world();
                let found =
                    world.manager.prepared().into_iter().find(|info| *info.name == *gid.as_bytes());
                let wait = Arc::new(SessionWait::new(4));
                let commits = how == "commit";
                let info = found.expect("it is prepared");
                let ended = world.manager.resolve(&info, commits, &wait, &mut |_| ()).unwrap();
                world.answer(ended.expect("it is resolved"));
            }
            ["checkpoint"] => {
                self.world().manager.checkpoint_all().unwrap();
            }
            ["lose-power"] => {
                self.device.power_off();
                self.world().manager.data().log().halt("the power is gone");
                // What was synced, and nothing else.
                self.restart(self.device.crash(1));
            }
            ["kill"] => {
                let log = self.world().manager.data().log();
                self.world().manager.quiesce();
                log.wait_durable_end(log.tail()).unwrap();
                self.restart(self.device.survive_process());
            }
            _ => panic!("no command is {command}"),
        }
        self.state()
    }

    /// Opens what is left. The instance before, with its transactions and threads, ends as a process does: nobody closes it.
    fn restart(&mut self, device: FaultyDevice) {
        let world = self.world.take().expect("it runs");
        let id = world.tree.id();
        std::mem::forget(std::mem::take(&mut self.open));
        std::mem::forget(world);
        self.device = Arc::new(device);
        let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![id]);
        let manager = Manager::open(on(&self.device), small(), live).unwrap();
        let tree = manager.data().tree(id).unwrap();
        self.world = Some(World { manager, tree });
    }

    fn state(&self) -> String {
        let world = self.world();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut said = String::new();
        let mut txn = world.begin(Isolation::ReadCommitted, 9);
        let view = txn.begin_statement().unwrap();
        for (key, value) in scan(&mut txn, &view, &world.tree, Direction::Forward) {
            writeln!(said, "  {} {}", text(&key), text(&value)).unwrap();
        }
        let mut names: Vec<String> =
            world.manager.prepared().iter().map(|info| text(&info.name)).collect();
        names.sort();
        if !names.is_empty() {
            writeln!(said, "  prepared: {}", names.join(", ")).unwrap();
        }
        let mut locked = Vec::new();
        for key in [&b"x"[..], b"y", b"z"] {
            let mut buffer = RecordBuffer::default();
            let (mode, policy) = (RowLock::Update, WaitPolicy::Skip);
            let asked = txn.lock_row(&view, &world.tree, key, mode, policy, &mut buffer).unwrap();
            if asked == crate::Locked::Skipped {
                locked.push(text(key));
            }
        }
        if !locked.is_empty() {
            writeln!(said, "  locked: {}", locked.join(", ")).unwrap();
        }
        if said.is_empty() { "  no rows\n".to_owned() } else { said }
    }
}

fn on(device: &Arc<FaultyDevice>) -> Environment {
    let device = Arc::clone(device) as Arc<dyn Device>;
    Environment { device, ..environment(FaultyDevice::new(1), 4) }
}

#[test]
fn restarts_do_what_scripts_say() {
    golden::run("restart", || {
        let mut script = Script::new();
        move |command: &str| script.does(command)
    });
}
