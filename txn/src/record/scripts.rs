//! Scripts of records: what stands on a page, the versions behind it, and the node that keeps both together.
//!
//! `commit` puts a value (or `-`, a tombstone) onto a record's page at an LSN, after the image that it replaces has gone into the chain.
//! `read` asks as a snapshot does, `prune` takes out what nobody from a horizon on can ask for, `thin` what lies between snapshots;
//! `pin` and `unpin` keep a node. What is said is what was read or taken out, and every node that there is.

use super::node::NodeRef;
use super::table::RecordTable;
use crate::{Lsn, TreeId, golden};
use std::collections::BTreeMap;
use std::fmt::Write;

const TREE: TreeId = TreeId(1);

#[derive(Default)]
struct Records {
    table: Option<RecordTable>,
    /// What stands on the page.
    page: BTreeMap<String, (Lsn, Option<String>)>,
    pins: Vec<(String, NodeRef)>,
}

fn lsn(word: &str) -> Lsn {
    Lsn(word.parse().unwrap_or_else(|_| panic!("{word} is no LSN")))
}

fn shown(value: Option<&[u8]>) -> String {
    value.map_or("gone".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
}

impl Records {
    fn does(&mut self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let table = self.table.get_or_insert_with(|| RecordTable::new(4, 1));
        let mut text = match words[..] {
            ["commit", key, at, value] => {
                let node = table.pin(TREE, key.as_bytes());
                let before = self.page.remove(key);
                table.unpin_after(node, |node, state, _| {
                    if let Some((written, value)) = &before {
                        node.chain.push(state, *written, value.as_deref().map(str::as_bytes));
                    }
                    state.current = lsn(at);
                });
                let value = Some(value).filter(|value| *value != "-").map(str::to_owned);
                self.page.insert(key.to_owned(), (lsn(at), value));
                String::new()
            }
            ["read", key, snapshot] => {
                let snapshot = lsn(snapshot);
                match self.page.get(key) {
                    Some((written, value)) if *written <= snapshot => {
                        format!("{}, from the page\n", shown(value.as_deref().map(str::as_bytes)))
                    }
                    _ => {
                        let mut found = "nothing was there".to_owned();
                        table.version(
                            (TREE, key.as_bytes()),
                            |lsn| lsn <= snapshot,
                            |version| {
                                found =
                                    format!("{}, of {}", shown(version.value()), version.lsn().0);
                            },
                        );
                        found + "\n"
                    }
                }
            }
            ["prune", key, horizon] => match table.pin_existing(TREE, key.as_bytes()) {
                Some(node) => {
                    let horizon = lsn(horizon);
                    let gone = table.unpin_after(node, |node, state, guard| {
                        node.chain.prune(state, horizon, guard)
                    });
                    format!("{} taken out\n", gone.0)
                }
                None => "there is no node\n".to_owned(),
            },
            ["thin", key, snapshots, visible] => {
                let snapshots: Vec<Lsn> = snapshots.split(',').map(lsn).collect();
                let node = table.pin_existing(TREE, key.as_bytes()).expect("there is a node");
                let visible = lsn(visible);
                let gone = table.unpin_after(node, |node, state, guard| {
                    node.chain.prune_between(state, &snapshots, visible, guard)
                });
                format!("{} taken out\n", gone.0)
            }
            ["pin", key] => {
                self.pins.push((key.to_owned(), table.pin(TREE, key.as_bytes())));
                String::new()
            }
            ["unpin", key] => {
                let at =
                    self.pins.iter().position(|(pinned, _)| pinned == key).expect("it is pinned");
                table.unpin(self.pins.remove(at).1);
                String::new()
            }
            _ => panic!("no command is {command}"),
        };
        let mut nodes = Vec::new();
        let guard = crossbeam_epoch::pin();
        table.for_each(&mut |node| {
            let key = String::from_utf8_lossy(node.key()).into_owned();
            let versions: Vec<String> =
                node.chain.walk(&guard).map(|one| one.lsn().0.to_string()).collect();
            nodes.push((key, node.state().pins_for_tests(), versions));
        });
        nodes.sort();
        if nodes.is_empty() {
            text.push_str("  no node\n");
        }
        for (key, pins, versions) in nodes {
            let page =
                self.page.get(&key).map_or("nothing".to_owned(), |(lsn, _)| lsn.0.to_string());
            writeln!(
                text,
                "  {key}: {page} on its page, versions [{}], pins {pins}",
                versions.join(" ")
            )
            .unwrap();
        }
        text
    }
}

#[test]
fn records_do_what_scripts_say() {
    golden::run("record", || {
        let mut records = Records::default();
        move |command: &str| records.does(command)
    });
}
