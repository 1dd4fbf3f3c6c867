//! Scripts of trees: records of chosen lengths under chosen keys, and the nodes that they make, on the smallest pages.
//!
//! `put KEY LENGTH` and `fill FIRST LAST LENGTH` write records, `delete KEY` leaves a tombstone, `bury KEY` takes one out, `compact PERCENT` packs
//! the leaves, `scan LOW HIGH` reads; what is said behind each but the last is every node, from the root down, with its fences. After
//! each the tree is checked.

use super::tests::{check, fresh, put, tiny};
use super::{Tree, node};
use crate::page::{Page, PageBuf};
use crate::{DataComponent, Direction, Lsn, Options, Packing, PageId, RecordBuffer, golden};
use std::fmt::Write;
use std::ops::Bound;
use std::sync::Arc;

struct Script {
    component: Arc<DataComponent>,
    tree: Arc<Tree>,
}

/// The key of a number.
fn key(word: &str) -> String {
    word.parse::<u32>().map_or_else(|_| word.to_owned(), |number| format!("k{number:04}"))
}

fn number(word: &str) -> usize {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("scripts have keys of letters")
}

/// The fences of a node; what has no bound is `-`.
fn fences(page: Page<'_>) -> String {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    page.append_low(&mut low);
    page.append_high(&mut high);
    let low = if low.is_empty() { "-".to_owned() } else { text(low) };
    let high = if page.high_is_infinite() { "-".to_owned() } else { text(high) };
    format!("[{low}, {high})")
}

impl Script {
    fn new() -> Script {
        let component = fresh(&Options { pool_frames: 256, ..tiny() });
        let tree = component.create_tree().unwrap();
        Script { component, tree }
    }

    fn does(&self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let Script { component, tree } = self;
        match words[..] {
            ["put", word, length] => {
                put(component, tree, key(word).as_bytes(), Some(&vec![b'v'; number(length)]));
            }
            ["fill", first, last, length] => {
                for at in number(first)..=number(last) {
                    let value = vec![b'v'; number(length)];
                    put(component, tree, key(&at.to_string()).as_bytes(), Some(&value));
                }
            }
            ["delete", first, last] => {
                for at in number(first)..=number(last) {
                    put(component, tree, key(&at.to_string()).as_bytes(), None);
                }
            }
            ["bury", first, last] => {
                let mut buffer = RecordBuffer::default();
                for at in number(first)..=number(last) {
                    let key = key(&at.to_string());
                    assert!(tree.get(key.as_bytes(), &mut buffer).unwrap(), "nothing is at {key}");
                    assert_eq!(buffer.value(), None, "{key} is no tombstone");
                    tree.remove_tombstone(key.as_bytes(), buffer.lsn()).unwrap();
                }
            }
            ["compact", percent] => {
                let packing = Packing { fill_percent: number(percent) as u8, group: 4 };
                tree.compact(packing, &mut || true).unwrap();
            }
            ["scan", low, high] => return self.scan((low, high), Direction::Forward),
            ["scan-back", low, high] => return self.scan((low, high), Direction::Backward),
            _ => panic!("no command is {command}"),
        }
        check(component);
        let mut text = String::new();
        self.node(tree.root, 0, &mut text);
        text
    }

    fn scan(&self, (low, high): (&str, &str), direction: Direction) -> String {
        let (low, high) = (key(low), key(high));
        let mut cursor = self.tree.cursor();
        let bounds = (Bound::Included(low.as_bytes()), Bound::Excluded(high.as_bytes()));
        cursor.seek(bounds.0, bounds.1, direction).unwrap();
        let (mut said, mut newest) = (String::new(), Lsn(0));
        while let Some(record) = cursor.advance().unwrap() {
            let value =
                record.value.map_or("tombstone".to_owned(), |value| value.len().to_string());
            writeln!(said, "  {} {value}", text(record.key.to_vec())).unwrap();
            newest = newest.max(record.lsn);
        }
        assert!(newest <= self.component.log().tail());
        if said.is_empty() { "  nothing\n".to_owned() } else { said }
    }

    /// A node, and those below it.
    fn node(&self, id: PageId, depth: usize, into: &mut String) {
        let pin = self.component.forest().volume().pool.fetch(id).unwrap();
        let copy = PageBuf::copy_of(pin.exclusive().page());
        drop(pin);
        let (page, indent) = (copy.page(), "  ".repeat(depth + 1));
        let what = if page.level() == 0 { "leaf, records" } else { "inner node, children" };
        writeln!(into, "{indent}{} {what}: {}", fences(page), page.slots()).unwrap();
        if page.level() > 0 {
            (0..page.slots())
                .for_each(|slot| self.node(node::child(page, slot).page, depth + 1, into));
        }
    }
}

#[test]
fn trees_do_what_scripts_say() {
    golden::run("btree", || {
        let script = Script::new();
        move |command: &str| script.does(command)
    });
}
