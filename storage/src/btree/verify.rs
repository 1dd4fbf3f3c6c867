//! Every structural invariant of a tree, checked one by one: for tests, and for `atoll check`.
//!
//! A node belongs to its tree and level and lies where its parent says; its fences are the separators beside it; its keys
//! grow and lie between them, and none of its entries overlap; each page is reached once, is allocated to the tree, and
//! every allocated page is reached. Nothing may change meanwhile.

use super::{Forest, Tree, node};
use crate::page::{Kind, Page, PageBuf};
use crate::{Error, PageId, Result, TreeId};
use std::collections::HashSet;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The tree it was met in, if in one.
    pub tree: Option<TreeId>,
    /// The page.
    pub page: PageId,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "page {}", self.page.0)?;
        if let Some(tree) = self.tree {
            write!(f, " of tree {}", tree.0)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a parent promises of a child.
struct Expected {
    page: PageId,
    level: Option<u8>,
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

struct Walk<'t> {
    tree: &'t Tree,
    seen: HashSet<PageId>,
    problems: Vec<Problem>,
}

/// Checks every tree, and every page that belongs to one.
///
/// # Errors
/// I/O.
pub fn check(forest: &Forest) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for tree in forest.trees() {
        let walk = walk(&tree)?;
        problems.extend(walk.problems);
        seen.extend(walk.seen);
    }
    let mut allocated: Vec<_> = forest.volume().space.allocated().into_iter().collect();
    allocated.sort_unstable();
    for (page, tree) in allocated {
        if !seen.contains(&page) {
            let what = "it is allocated, and no page leads to it".to_owned();
            problems.push(Problem { tree: Some(tree), page, what });
        }
    }
    Ok(problems)
}

impl Tree {
    /// Checks this tree alone.
    ///
    /// # Errors
    /// I/O.
    pub fn verify(&self) -> Result<Vec<Problem>> {
        Ok(walk(self)?.problems)
    }
}

fn walk(tree: &Tree) -> Result<Walk<'_>> {
    let mut walk = Walk { tree, seen: HashSet::new(), problems: Vec::new() };
    let allocated = tree.volume.space.allocated();
    let mut open = vec![Expected { page: tree.root, level: None, low: Vec::new(), high: None }];
    while let Some(expected) = open.pop() {
        let page = expected.page;
        if !walk.seen.insert(page) {
            walk.report(page, "two ways lead to it".to_owned());
            continue;
        }
        if allocated.get(&page) != Some(&tree.id()) {
            walk.report(page, "it is not allocated to the tree that uses it".to_owned());
        }
        let copy = match tree.volume.pool.fetch(page) {
            Ok(pin) => PageBuf::copy_of(pin.exclusive().page()),
            Err(Error::Corrupt(_, what)) => {
                walk.report(page, what.to_owned());
                continue;
            }
            Err(error) => return Err(error),
        };
        walk.node(copy.page(), &expected, &mut open);
    }
    Ok(walk)
}

impl Walk<'_> {
    fn report(&mut self, page: PageId, what: String) {
        self.problems.push(Problem { tree: Some(self.tree.id()), page, what });
    }

    fn node(&mut self, page: Page<'_>, expected: &Expected, open: &mut Vec<Expected>) {
        let id = expected.page;
        if page.id() != id {
            self.report(id, format!("it says that it is page {}", page.id().0));
            return;
        }
        if page.tree() != self.tree.id() {
            self.report(id, format!("it belongs to tree {}", page.tree().0));
        }
        if expected.level.is_some_and(|level| level != page.level()) {
            self.report(id, format!("its level is {}", page.level()));
            return;
        }
        let kind = if page.level() == 0 { Kind::Leaf } else { Kind::Inner };
        if page.kind() != Some(kind) {
            self.report(id, format!("it is {:?} at level {}", page.kind(), page.level()));
            return;
        }
        let (mut low, mut high) = (Vec::new(), Vec::new());
        page.append_low(&mut low);
        page.append_high(&mut high);
        let high = (!page.high_is_infinite()).then_some(high);
        if (&low, &high) != (&expected.low, &expected.high) {
            self.report(id, "its fences are not the separators beside it".to_owned());
        }
        let keys = self.keys(page, &low, high.as_deref());
        if let Err(what) = page.check_layout() {
            self.report(id, what.to_owned());
        }
        if page.level() > 0 {
            self.children(page, &keys, high, open);
        } else if page.slots() > 1 && node::room(page) > page.bytes() {
            self.report(id, "its free space does not add up".to_owned());
        }
    }

    fn keys(&mut self, page: Page<'_>, low: &[u8], high: Option<&[u8]>) -> Vec<Vec<u8>> {
        let key = |slot| {
            let mut key = Vec::new();
            page.append_key(slot, &mut key);
            key
        };
        let keys: Vec<Vec<u8>> = (0..page.slots()).map(key).collect();
        if !keys.is_sorted_by(|a, b| a < b) {
            self.report(page.id(), "its keys are not in order".to_owned());
        }
        let outside =
            |key: &Vec<u8>| key.as_slice() < low || high.is_some_and(|high| key.as_slice() >= high);
        if keys.iter().any(outside) {
            self.report(page.id(), "a key lies outside of its fences".to_owned());
        }
        let is_found = |slot: usize, key: &[u8]| match page.kind() {
            Some(Kind::Inner) => node::child_slot(page, key) == slot,
            _ => node::place(page, key).found && node::place(page, key).slot == slot,
        };
        if !keys.iter().enumerate().all(|(slot, key)| is_found(slot, key)) {
            self.report(page.id(), "a key is not found where it lies".to_owned());
        }
        keys
    }

    fn children(
        &mut self,
        page: Page<'_>,
        keys: &[Vec<u8>],
        high: Option<Vec<u8>>,
        open: &mut Vec<Expected>,
    ) {
        if keys.is_empty() {
            self.report(page.id(), "it is an inner node without a child".to_owned());
            return;
        }
        for slot in 0..keys.len() {
            open.push(Expected {
                page: node::child(page, slot).page,
                level: Some(page.level() - 1),
                low: keys[slot].clone(),
                high: keys.get(slot + 1).cloned().or_else(|| high.clone()),
            });
        }
    }
}
