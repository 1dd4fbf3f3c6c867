//! Scripts of recovery: records that a layer above logs and applies, what a checkpoint and the cleaner make of them, and what a loss of
//! power leaves. Records are numbered as they are logged.
//!
//! What a restart says is from which record on it replays, how many of them it has to apply, and what the tree holds then.

use crate::device::faulty::FaultyDevice;
use crate::environment::{SystemClock, Threads};
use crate::{
    Applied, Change, DataComponent, Device, Direction, Environment, Lsn, Options, RecordKind,
    SpaceClass, Tree, TreeId, golden,
};
use std::fmt::Write;
use std::ops::Bound;
use std::sync::Arc;

const PUT: RecordKind = RecordKind(64);
const DELETE: RecordKind = RecordKind(65);

struct Script {
    device: Arc<FaultyDevice>,
    component: Arc<DataComponent>,
    tree: Arc<Tree>,
    /// Where each record is.
    records: Vec<Lsn>,
}

fn options() -> Options {
    Options {
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 64 << 10,
        log_segment_bytes: 64 << 10,
        log_bytes_max: 1 << 20,
        ..Options::default()
    }
}

fn environment(device: &Arc<FaultyDevice>) -> Environment {
    Environment {
        device: Arc::clone(device) as Arc<dyn Device>,
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(8)),
        seed: 1,
    }
}

impl Script {
    fn new() -> Script {
        let device = Arc::new(FaultyDevice::new(1));
        DataComponent::create(&environment(&device), &options()).unwrap();
        let recovering = DataComponent::open(environment(&device), options()).unwrap();
        let component = recovering.finish(&|_| true).unwrap();
        let tree = component.create_tree().unwrap();
        // The tree is on disk before the first record.
        component.checkpoint_all(&mut |tail| tail).unwrap();
        Script { device, component, tree, records: Vec::new() }
    }

    /// Logs a change, then applies it.
    fn change(&mut self, key: &str, value: Option<&str>) -> String {
        let log = self.component.log();
        let body = value.unwrap_or_default();
        let payload = [&[key.len() as u8], key.as_bytes(), body.as_bytes()].concat();
        self.tree.prepare(key.as_bytes(), body.len()).unwrap();
        let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64).unwrap();
        let claim = log.claim(&mut space, payload.len());
        let lsn = claim.publish(if value.is_some() { PUT } else { DELETE }, &payload);
        let change = value.map_or(Change::Delete, |value| Change::Put(value.as_bytes()));
        self.tree.apply(lsn, key.as_bytes(), change, true, &mut |_| ()).unwrap();
        self.records.push(lsn);
        format!("record {}", self.records.len())
    }

    fn does(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["put", key, value] => self.change(key, Some(value)),
            ["delete", key] => self.change(key, None),
            ["sync"] => {
                let log = self.component.log();
                log.wait_durable(*self.records.last().unwrap()).unwrap();
                "all of it is durable".to_owned()
            }
            ["write-pages"] => {
                let tail = self.component.log().tail();
                self.component.forest().clean_older_than(tail).unwrap();
                self.component.forest().sync().unwrap();
                "no page is dirty".to_owned()
            }
            ["checkpoint"] => {
                let redo = self.component.checkpoint_all(&mut |tail| tail).unwrap();
                self.redo_point(redo)
            }
            ["lose-power"] => {
                self.device.power_off();
                self.component.log().halt("the power is gone");
                self.restart()
            }
            ["close"] => {
                self.component.close(&mut |tail| tail, true).unwrap();
                self.restart()
            }
            _ => panic!("no command is {command}"),
        }
    }

    fn redo_point(&self, redo: Lsn) -> String {
        match self.records.iter().position(|lsn| *lsn >= redo) {
            Some(before) => format!("redo from record {} on", before + 1),
            None => "nothing is to be redone".to_owned(),
        }
    }

    /// Opens what is left, replays, and says what that came to.
    fn restart(&mut self) -> String {
        let id: TreeId = self.tree.id();
        // What was synced, and nothing else.
        self.device = Arc::new(self.device.crash(1));
        let recovering = DataComponent::open(environment(&self.device), options()).unwrap();
        let mut said = self.redo_point(recovering.redo());
        if recovering.was_closed() {
            said += ", it was closed";
        }
        said.push('\n');
        let tree = recovering.component().tree(id).unwrap();
        let mut scan = recovering.records().unwrap();
        while let Some(record) = scan.advance().unwrap() {
            let Some(at) = self.records.iter().position(|lsn| *lsn == record.lsn) else { continue };
            let (length, rest) = record.payload.split_first().unwrap();
            let (key, value) = rest.split_at(usize::from(*length));
            let change = if record.kind == PUT { Change::Put(value) } else { Change::Delete };
            let applied = tree.apply(record.lsn, key, change, true, &mut |_| ()).unwrap();
            let done = if applied == Applied::Done { "applied" } else { "there already" };
            writeln!(said, "record {}: {done}", at + 1).unwrap();
        }
        self.component = recovering.finish(&|_| true).unwrap();
        self.tree = tree;
        let mut cursor = self.tree.cursor();
        cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward).unwrap();
        while let Some(record) = cursor.advance().unwrap() {
            let key = String::from_utf8_lossy(record.key).into_owned();
            let value = record.value.map_or("gone".into(), String::from_utf8_lossy);
            writeln!(said, "  {key} {value}").unwrap();
        }
        assert_eq!(self.component.forest().check().unwrap(), []);
        said
    }
}

#[test]
fn recovery_does_what_scripts_say() {
    golden::run("recovery", || {
        let mut script = Script::new();
        move |command: &str| script.does(command)
    });
}
