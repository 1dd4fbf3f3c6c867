//! The write set: what a transaction has written and not yet shown, ordered by tree and key.
//!
//! Every write is kept with the command that made it, and points to the write of the same key before it. So a
//! statement finds what earlier commands wrote and never its own, a cursor finds what stood there when it was opened,
//! and a savepoint is undone by taking writes off the end.
//!
//! Cost: bytes go into one arena and writes into one array, both used again by the next transaction, so that a small
//! transaction allocates nothing. The order is a two-level array of indexes: chunks of at most [`CHUNK`], split in
//! half. A write of n-th place costs a binary search and moving half a chunk; ascending keys move nothing, and a key right behind
//! the one that was written last is not searched for. Beside each index stands how its key begins, which most comparisons need
//! no more than. Up to [`FRESH`] keys wait to be put there, in the order in which they were written: a transaction that writes no
//! more, and scans nothing meanwhile, sorts its keys once, when it commits. Who needs the order asks for it first
//! ([`WriteSet::arrange`]).
//!
//! Most keys that are looked up have not been written: a *filter* answers for them ([`filter`]).
//!
//! Past what it may hold in memory the set *spills*: all that is in memory is written to scratch space as a sorted run
//! ([`spilled`]), and memory is empty again. Then every question has two answers, memory's, which is the newer one, and
//! the runs', which may have to be read.

pub mod delta;
mod filter;
pub mod spilled;

use crate::run::{BlockCache, Runs};
use crate::sync::Arc;
use crate::{CommandId, TreeId};
use delta::Form;
use filter::Filter;
use spilled::{Merge, SpilledWrites};
use std::cmp::Ordering;
use std::ops::Bound;
use storage::{Direction, ReadToken, Scratch};

/// Indexes in a chunk of the order at most.
const CHUNK: usize = 512;
/// Keys that wait for their places in the order at most.
const FRESH: usize = 32;
/// No older write of this key; no value.
const NONE: u32 = u32::MAX;
/// Trees whose highest key is known, if their numbers do not meet.
const TREES: usize = 8;
/// Writes of which is remembered where their records were met, whatever is known of them. Behind them only of those that need no
/// room where they were met: the others of a large transaction are looked for when it commits.
const MET: usize = 256;
/// What an emptied set keeps for the next transaction, in bytes of arena and in writes.
const KEPT_BYTES: usize = 256 << 10;
const KEPT_WRITES: usize = 4096;

/// A key in the order: how it begins, and its newest write.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    tree: TreeId,
    /// The first eight bytes of the key, zeros behind it, as a number whose order is theirs.
    head: u64,
    index: u32,
}

impl Ordered {
    /// Tree and head, as one number.
    #[inline]
    fn begin(&self) -> u128 {
        begin(self.tree, self.head)
    }
}

/// The highest key of a tree that has been written, if it is known: no key in memory is above it, in the order or not.
#[derive(Clone, Copy, Debug)]
struct Highest {
    ordered: Ordered,
    /// The chunk that it ends, if it is in the order and nothing has been put before that since.
    chunk: usize,
}

impl Highest {
    const UNKNOWN: Highest =
        Highest { ordered: Ordered { tree: TreeId(u64::MAX), head: 0, index: NONE }, chunk: 0 };
}

/// The order of keys as far as their trees and heads tell it, as that of numbers.
#[inline]
fn begin(tree: TreeId, head: u64) -> u128 {
    u128::from(tree.0) << 64 | u128::from(head)
}

/// The head of a key.
#[inline]
fn head(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let number = key.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            number.checked_shl(64 - 8 * key.len() as u32).unwrap_or(0)
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tree: TreeId,
    key_at: usize,
    value_at: usize,
    key_bytes: u32,
    /// [`NONE`] for a delete.
    value_bytes: u32,
    /// The write of the same key before this one.
    previous: u32,
    command: CommandId,
    /// Its place in [`WriteSet::met`]; [`NONE`] if nothing is remembered.
    met: u32,
    update: bool,
    anew: bool,
}

impl Entry {
    /// Where the arena ended before this write: who has no older write of its key has brought the key.
    fn arena(&self) -> usize {
        if self.previous == NONE { self.key_at } else { self.value_at }
    }
}

/// One write, as the commit and readers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The tree.
    pub tree: TreeId,
    /// The key.
    pub key: &'a [u8],
    /// The new value; none deletes.
    pub value: Option<&'a [u8]>,
    /// Who wrote it.
    pub command: CommandId,
    /// Whether it changes a record that the transaction has locked.
    pub update: bool,
    /// Whether the record is another one than stood there before the transaction, which has deleted that.
    pub anew: bool,
    /// Where its record was met.
    pub met: &'a Met,
}

/// What is written, as [`WriteSet::record`] is told.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// The new value; none deletes.
    pub value: Option<&'a [u8]>,
    /// Whether it is over a record that the transaction has locked.
    pub update: bool,
    /// Whether it is known to be another than stood there before the transaction.
    pub anew: bool,
}

/// Where a write's record was met, as far as that is known: it is looked for there first, and none of these places is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// Its leaf.
    pub leaf: ReadToken,
    /// How many row locks the transaction had: the last of them is likely to be the record's.
    pub rows: usize,
    /// How a write is logged that needs no room: a delta of its record or its delete, where the record was read at `leaf` behind
    /// its lock.
    pub in_place: Option<Form>,
}

impl Met {
    /// It has not been met.
    pub const NOWHERE: Met = Met { leaf: ReadToken::NOWHERE, rows: 0, in_place: None };
}

/// Where a written key stands.
#[derive(Clone, Copy, Debug)]
enum Standing {
    Fresh(usize),
    Ordered(Place),
}

/// What a write set had at a time: see [`WriteSet::has_changed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    spills: u64,
    entries: usize,
}

/// A place in the order of a write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    chunk: usize,
    at: usize,
}

/// The newest writes of a set, in order.
#[derive(Debug)]
pub struct Writes<'a> {
    set: &'a WriteSet,
    chunks: std::slice::Iter<'a, Vec<Ordered>>,
    chunk: std::slice::Iter<'a, Ordered>,
}

impl<'a> Iterator for Writes<'a> {
    type Item = Write<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Write<'a>> {
        loop {
            if let Some(ordered) = self.chunk.next() {
                return Some(self.set.write(ordered.index));
            }
            self.chunk = self.chunks.next()?.iter();
        }
    }
}

/// What a transaction has written.
#[derive(Debug)]
pub struct WriteSet {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Where the records of the first [`MET`] were met, and of others as far as that is remembered.
    met: Vec<Met>,
    order: Vec<Vec<Ordered>>,
    /// Keys that are not in the order yet, as they were written.
    fresh: Vec<Ordered>,
    /// Memory to sort them in.
    sorted: Vec<Ordered>,
    /// The place of the key that was put into the order last.
    last: Place,
    /// The highest keys, by the lowest bits of their trees' numbers.
    highest: [Highest; TREES],
    keys: usize,
    filter: Filter,
    spilled: SpilledWrites,
}

impl Default for WriteSet {
    fn default() -> WriteSet {
        WriteSet {
            bytes: Vec::new(),
            entries: Vec::new(),
            met: Vec::new(),
            order: Vec::new(),
            fresh: Vec::new(),
            sorted: Vec::new(),
            last: Place::default(),
            highest: [Highest::UNKNOWN; TREES],
            keys: 0,
            filter: Filter::default(),
            spilled: SpilledWrites::default(),
        }
    }
}

impl WriteSet {
    /// Whether nothing has been written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.spilled.is_empty()
    }

    /// How many keys have been written; of a spilled set, at most.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys + self.spilled.keys()
    }

    /// Whether some of it is in scratch space.
    #[must_use]
    pub fn is_spilled(&self) -> bool {
        !self.spilled.is_empty()
    }

    /// Changes whenever what is in scratch space does.
    #[must_use]
    pub fn spills(&self) -> u64 {
        self.spilled.changes()
    }

    /// What is there now.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment { spills: self.spills(), entries: self.entries.len() }
    }

    /// Whether writes by commands before `before` have come since, or any have gone. Commands ascend, so the first write that
    /// has come tells of all.
    #[must_use]
    pub fn has_changed(&self, since: Moment, before: CommandId) -> bool {
        since.spills != self.spills()
            || since.entries > self.entries.len()
            || self.entries.get(since.entries).is_some_and(|entry| entry.command < before)
    }

    /// Whether what is written over what is in scratch space is another row than stood there before the transaction: one that
    /// is put there, and no update, finds nothing there but what the transaction has deleted.
    ///
    /// # Errors
    /// I/O.
    pub(crate) fn spilled_is_another(
        &self,
        (tree, key): (TreeId, &[u8]),
        update: bool,
        cache: &mut BlockCache,
    ) -> storage::Result<bool> {
        if !update {
            return Ok(self.spilled.may_have(tree, key));
        }
        let (mut another, all) = (false, CommandId(u32::MAX));
        self.spilled.find((tree, key), all, cache, |write| another = write.anew)?;
        Ok(another)
    }

    /// Moves what is in memory to scratch space.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O. Then nothing has changed.
    pub fn spill(&mut self, runs: &Runs, scratch: &Arc<Scratch>) -> storage::Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.arrange();
        let mut run = runs.begin(scratch, self.entries.len())?;
        let mut history = Vec::new();
        for newest in self.order.iter().flatten() {
            // Oldest first; of one command only the last write.
            history.clear();
            let mut index = newest.index;
            while index != NONE {
                let entry = &self.entries[index as usize];
                if history
                    .last()
                    .is_none_or(|last: &u32| self.entries[*last as usize].command != entry.command)
                {
                    history.push(index);
                }
                index = entry.previous;
            }
            for index in history.iter().rev() {
                run.push(spilled::entry_of(&self.write(*index)))?;
            }
        }
        self.spilled.add(run.finish()?);
        self.clear_memory();
        Ok(())
    }

    /// Shows the newest write of `key` by a command before `before`; false if there is none.
    ///
    /// # Errors
    /// I/O.
    #[inline]
    pub fn look_up(
        &self,
        (tree, key): (TreeId, &[u8]),
        before: CommandId,
        cache: &mut BlockCache,
        found: impl FnOnce(Write<'_>),
    ) -> storage::Result<bool> {
        match self.get(tree, key, before) {
            Some(write) => {
                found(write);
                Ok(true)
            }
            None if self.spilled.is_empty() => Ok(false),
            None => self.spilled.find((tree, key), before, cache, found),
        }
    }

    /// A walk over what is in scratch space: the newest write of every key by a command before `before`, from `near` in
    /// `tree` on and through the trees behind it.
    ///
    /// # Errors
    /// I/O.
    pub fn merge(
        &self,
        from: (TreeId, Bound<&[u8]>),
        before: CommandId,
        direction: Direction,
    ) -> storage::Result<Merge> {
        self.spilled.merge(from, before, direction)
    }

    /// A walk over the newest write of every key, of a set that is in scratch space as a whole.
    pub(crate) fn merge_all(&self) -> storage::Result<Merge> {
        debug_assert!(self.entries.is_empty(), "what is in memory is spilled first");
        let all = CommandId(u32::MAX);
        self.spilled.merge((TreeId(0), Bound::Unbounded), all, Direction::Forward)
    }

    /// Whether a key may be among what is in scratch space. Reads nothing.
    pub(crate) fn may_have_spilled(&self, tree: TreeId, key: &[u8]) -> bool {
        self.spilled.may_have(tree, key)
    }

    /// Whether anything within the bounds may be among what is in scratch space. Reads nothing.
    pub(crate) fn may_meet_spilled(
        &self,
        tree: TreeId,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
    ) -> bool {
        self.spilled.may_meet(tree, bounds)
    }

    /// What it occupies in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let met = self.met.len().saturating_sub(MET) * size_of::<Met>();
        self.bytes.len() + self.entries.len() * (size_of::<Entry>() + size_of::<Ordered>()) + met
    }

    /// Records a write by `command`, which is not before any write so far.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: Option<&[u8]>, command: CommandId) {
        let written = Written { value, update: false, anew: false };
        self.record((tree, Met::NOWHERE), key, written, command);
    }

    /// The same of a write whose record was met there.
    #[inline(always)]
    pub fn record(
        &mut self,
        (tree, met): (TreeId, Met),
        key: &[u8],
        Written { value, update, anew }: Written<'_>,
        command: CommandId,
    ) {
        debug_assert!(self.entries.last().is_none_or(|last| last.command <= command));
        let index = u32::try_from(self.entries.len()).expect("fewer writes than 2^32 - 1");
        let mut above = self.is_above(tree, key);
        let may_be_there = self.filter.add(tree, key) && !above;
        let known = if may_be_there { self.standing(tree, key) } else { None };
        let arena = self.bytes.len();
        let (previous, key_at, another) = match known {
            Some(standing) => {
                let previous = std::mem::replace(self.newest_mut(standing), index);
                let before = &self.entries[previous as usize];
                (previous, before.key_at, before.anew || before.value_bytes == NONE)
            }
            None => {
                if self.fresh.len() == FRESH {
                    self.arrange();
                    above = self.is_above(tree, key);
                }
                let ordered = Ordered { tree, head: head(key), index };
                if !(above && self.append(ordered)) {
                    self.fresh.push(ordered);
                }
                self.keys += 1;
                self.bytes.extend_from_slice(key);
                (NONE, arena, false)
            }
        };
        let value_at = self.bytes.len();
        self.bytes.extend_from_slice(value.unwrap_or_default());
        let remembered = self.met.len() < MET || met.in_place.is_some();
        let place = if remembered { self.met.len() as u32 } else { NONE };
        if remembered {
            self.met.push(met);
        }
        self.entries.push(Entry {
            tree,
            key_at,
            value_at,
            key_bytes: key.len() as u32,
            value_bytes: value.map_or(NONE, |value| value.len() as u32),
            previous,
            command,
            met: place,
            update,
            anew: anew || another,
        });
    }

    /// The newest write of `key` in memory by a command before `before`.
    #[must_use]
    #[inline]
    pub fn get(&self, tree: TreeId, key: &[u8], before: CommandId) -> Option<Write<'_>> {
        if self.entries.is_empty() || self.is_above(tree, key) || !self.filter.may_have(tree, key) {
            return None;
        }
        self.find(tree, key, before)
    }

    /// Whether a key is above all of its tree that are in memory, as far as that is known.
    #[inline(always)]
    fn is_above(&self, tree: TreeId, key: &[u8]) -> bool {
        let highest = &self.highest[tree.0 as usize % TREES].ordered;
        if highest.tree != tree {
            return false;
        }
        let head = head(key);
        head > highest.head || head == highest.head && key > self.key_of(highest)
    }

    /// A key that is above all of its tree is the highest one now, and goes behind the one that was, if that ends its chunk: false
    /// where it is not known to.
    #[inline]
    fn append(&mut self, ordered: Ordered) -> bool {
        let highest = &mut self.highest[ordered.tree.0 as usize % TREES];
        let before = std::mem::replace(&mut highest.ordered, ordered);
        match self.order.get_mut(highest.chunk) {
            Some(chunk) if chunk.last().is_some_and(|last| last.index == before.index) => {
                if chunk.len() < CHUNK {
                    chunk.push(ordered);
                } else {
                    let mut next = Vec::with_capacity(CHUNK);
                    next.push(ordered);
                    let at = highest.chunk + 1;
                    self.insert_chunk(at, next);
                    self.highest[ordered.tree.0 as usize % TREES].chunk = at;
                }
                true
            }
            _ => false,
        }
    }

    /// The key at `place`, which nothing of its tree that waits for a place is above, is its tree's highest if none behind it is
    /// of the same tree. Then it shall end its chunk, so that others can follow.
    fn note_highest(&mut self, place: Place) {
        let ordered = self.order[place.chunk][place.at];
        let next = self.key_at(self.after(place));
        if next.is_none_or(|(tree, _)| tree != ordered.tree) {
            let behind = self.order[place.chunk].split_off(place.at + 1);
            if !behind.is_empty() {
                self.insert_chunk(place.chunk + 1, behind);
            }
            let highest = &mut self.highest[ordered.tree.0 as usize % TREES];
            *highest = Highest { ordered, chunk: place.chunk };
        }
    }

    #[inline(never)]
    fn find(&self, tree: TreeId, key: &[u8], before: CommandId) -> Option<Write<'_>> {
        let index = match self.standing(tree, key)? {
            Standing::Fresh(at) => self.fresh[at].index,
            Standing::Ordered(place) => self.order[place.chunk][place.at].index,
        };
        self.before_command(index, before)
    }

    /// Puts all keys into the order, for who walks along it or looks for places there.
    #[inline]
    pub fn arrange(&mut self) {
        if !self.fresh.is_empty() {
            self.arrange_fresh();
        }
    }

    fn arrange_fresh(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        let mut sorted = std::mem::take(&mut self.sorted);
        let mut next = fresh.iter().map(|ordered| ordered.tree).min();
        // One tree after another: they are few, and mostly take turns.
        while let Some(tree) = next.take() {
            let (begin, mut left) = (sorted.len(), 0);
            for at in 0..fresh.len() {
                let moved = fresh[at];
                if moved.tree == tree {
                    // Those of one tree mostly come in order: each is put where it belongs among those before, from the last on.
                    let is_behind = |other: &&Ordered| match other.head == moved.head {
                        true => self.key_of(other) > self.key_of(&moved),
                        false => other.head > moved.head,
                    };
                    let others = sorted[begin..].iter().rev().take_while(is_behind).count();
                    sorted.insert(sorted.len() - others, moved);
                } else {
                    next = Some(next.map_or(moved.tree, |next| next.min(moved.tree)));
                    fresh[left] = moved;
                    left += 1;
                }
            }
            fresh.truncate(left);
        }
        match &mut self.order[..] {
            [first] if first.is_empty() => {
                self.last = Place { chunk: 0, at: sorted.len() - 1 };
                std::mem::swap(first, &mut sorted);
            }
            _ => {
                for (at, ordered) in sorted.iter().enumerate() {
                    let place = self.place_of_new(ordered.tree, self.key_of(ordered));
                    self.last = self.insert(place, *ordered);
                    if sorted.get(at + 1).is_none_or(|next| next.tree != ordered.tree) {
                        self.note_highest(self.last);
                    }
                }
                sorted.clear();
            }
        }
        (self.fresh, self.sorted) = (fresh, sorted);
    }

    /// Undoes every write by `from` and later commands.
    pub fn undo(&mut self, from: CommandId) {
        while let Some(last) = self.entries.last().copied()
            && last.command >= from
        {
            let standing = self.standing(last.tree, self.key(&last));
            let standing = standing.expect("a written key stands somewhere");
            match standing {
                _ if last.previous != NONE => *self.newest_mut(standing) = last.previous,
                Standing::Fresh(at) => drop(self.fresh.remove(at)),
                Standing::Ordered(place) => self.remove(place),
            }
            self.keys -= usize::from(last.previous == NONE);
            self.entries.pop();
            self.bytes.truncate(last.arena());
            if last.met != NONE {
                self.met.pop();
            }
        }
        self.highest = [Highest::UNKNOWN; TREES];
        if self.is_spilled() {
            self.spilled.undo(from);
        }
    }

    /// Forgets everything, and keeps some memory for the next transaction.
    pub fn clear(&mut self) {
        self.clear_memory();
        self.spilled.clear();
    }

    fn clear_memory(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.entries.clear();
        self.entries.shrink_to(KEPT_WRITES);
        self.met.clear();
        self.met.shrink_to(MET);
        self.fresh.clear();
        self.order.truncate(1);
        if let Some(first) = self.order.first_mut() {
            first.clear();
        }
        self.last = Place::default();
        self.highest = [Highest::UNKNOWN; TREES];
        self.keys = 0;
        self.filter = Filter::default();
    }

    /// The newest write of every key in memory, in order. It is arranged.
    #[inline]
    pub fn iter(&self) -> Writes<'_> {
        debug_assert!(self.fresh.is_empty(), "the order is asked for first");
        Writes { set: self, chunks: self.order.iter(), chunk: [].iter() }
    }

    /// The place of the first key within the bounds when walking forward. It is arranged.
    #[must_use]
    pub fn first(&self, tree: TreeId, low: Bound<&[u8]>) -> Place {
        debug_assert!(self.fresh.is_empty(), "the order is asked for first");
        match low {
            Bound::Unbounded => self.lower(tree, b"", Ordering::Greater),
            Bound::Included(key) => self.lower(tree, key, Ordering::Greater),
            Bound::Excluded(key) => self.lower(tree, key, Ordering::Less),
        }
    }

    /// The place behind the last key within the bounds: [`WriteSet::before`] leads to it. It is arranged.
    #[must_use]
    pub fn end(&self, tree: TreeId, high: Bound<&[u8]>) -> Place {
        debug_assert!(self.fresh.is_empty(), "the order is asked for first");
        match high {
            Bound::Unbounded => self.lower(TreeId(tree.0 + 1), b"", Ordering::Greater),
            Bound::Included(key) => self.lower(tree, key, Ordering::Less),
            Bound::Excluded(key) => self.lower(tree, key, Ordering::Greater),
        }
    }

    /// The next place, if `place` is one.
    #[must_use]
    pub fn after(&self, place: Place) -> Place {
        self.settle(Place { chunk: place.chunk, at: place.at + 1 })
    }

    /// The place before `place`, if there is one.
    #[must_use]
    pub fn before(&self, place: Place) -> Option<Place> {
        if place.at > 0 {
            return Some(Place { chunk: place.chunk, at: place.at - 1 });
        }
        let chunk = place.chunk.checked_sub(1)?;
        Some(Place { chunk, at: self.order[chunk].len() - 1 })
    }

    /// The key at `place`; none behind the last one.
    #[must_use]
    pub fn key_at(&self, place: Place) -> Option<(TreeId, &[u8])> {
        let ordered = self.order.get(place.chunk)?.get(place.at)?;
        Some((ordered.tree, self.key(&self.entries[ordered.index as usize])))
    }

    /// The newest write at `place` by a command before `before`.
    #[must_use]
    pub fn at(&self, place: Place, before: CommandId) -> Option<Write<'_>> {
        let newest = self.order.get(place.chunk)?.get(place.at)?.index;
        self.before_command(newest, before)
    }

    /// The first write by a command before `before`, from this one of its key back.
    fn before_command(&self, newest: u32, before: CommandId) -> Option<Write<'_>> {
        let mut index = newest;
        while index != NONE {
            let entry = &self.entries[index as usize];
            if entry.command < before {
                return Some(self.write(index));
            }
            index = entry.previous;
        }
        None
    }

    #[inline(always)]
    fn write(&self, index: u32) -> Write<'_> {
        let entry = &self.entries[index as usize];
        let value = (entry.value_bytes != NONE)
            .then(|| &self.bytes[entry.value_at..entry.value_at + entry.value_bytes as usize]);
        let Entry { tree, command, update, anew, .. } = *entry;
        let met = self.met.get(entry.met as usize).unwrap_or(&Met::NOWHERE);
        Write { tree, key: self.key(entry), value, command, update, anew, met }
    }

    #[inline]
    fn key(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.key_at..entry.key_at + entry.key_bytes as usize]
    }

    #[inline]
    fn key_of(&self, ordered: &Ordered) -> &[u8] {
        self.key(&self.entries[ordered.index as usize])
    }

    /// Where a key stands, if it has been written.
    fn standing(&self, tree: TreeId, key: &[u8]) -> Option<Standing> {
        let begin = begin(tree, head(key));
        let is_it = |ordered: &Ordered| ordered.begin() == begin && self.key_of(ordered) == key;
        if let Some(at) = self.fresh.iter().rposition(is_it) {
            return Some(Standing::Fresh(at));
        }
        if self.behind_last(tree, key).is_some() {
            return None;
        }
        let place = self.lower(tree, key, Ordering::Greater);
        let found = self.compare(place, tree, key) == Some(Ordering::Equal);
        found.then_some(Standing::Ordered(place))
    }

    fn newest_mut(&mut self, standing: Standing) -> &mut u32 {
        match standing {
            Standing::Fresh(at) => &mut self.fresh[at].index,
            Standing::Ordered(place) => &mut self.order[place.chunk][place.at].index,
        }
    }

    /// Where a key that has not been written belongs.
    fn place_of_new(&self, tree: TreeId, key: &[u8]) -> Place {
        self.behind_last(tree, key).unwrap_or_else(|| self.lower(tree, key, Ordering::Greater))
    }

    /// The place of a key that belongs right behind the one that was written last, as those of who writes one key behind
    /// another do, and has not been written.
    #[inline]
    fn behind_last(&self, tree: TreeId, key: &[u8]) -> Option<Place> {
        if self.compare(self.last, tree, key) != Some(Ordering::Less) {
            return None;
        }
        let next = Place { chunk: self.last.chunk, at: self.last.at + 1 };
        let behind = self.compare(self.settle(next), tree, key);
        matches!(behind, None | Some(Ordering::Greater)).then_some(next)
    }

    /// How the key at `place` lies to another; none behind the last one.
    fn compare(&self, place: Place, tree: TreeId, key: &[u8]) -> Option<Ordering> {
        let ordered = self.order.get(place.chunk)?.get(place.at)?;
        Some(self.compare_ordered(ordered, begin(tree, head(key)), key))
    }

    /// The same of what stands in the order, with the head of the other key.
    #[inline]
    fn compare_ordered(&self, ordered: &Ordered, begin: u128, key: &[u8]) -> Ordering {
        let begins = ordered.begin().cmp(&begin);
        begins.then_with(|| self.key_of(ordered).cmp(key))
    }

    /// The first place that is not before the key; one that has it counts as `equal`.
    fn lower(&self, tree: TreeId, key: &[u8], equal: Ordering) -> Place {
        let begin = begin(tree, head(key));
        let less = |ordered: &Ordered| match ordered.begin() {
            other if other == begin => {
                self.compare_ordered(ordered, begin, key).then(equal) == Ordering::Less
            }
            other => other < begin,
        };
        // The chunk before the first one that begins beyond is where the place lies.
        let chunk = match self.order.len() {
            0 | 1 => 0,
            _ => self
                .order
                .partition_point(|chunk| chunk.first().is_some_and(less))
                .saturating_sub(1),
        };
        let at = self.order.get(chunk).map_or(0, |chunk| chunk.partition_point(less));
        self.settle(Place { chunk, at })
    }

    /// A place at a chunk's end is the beginning of the next chunk, where there is one.
    fn settle(&self, place: Place) -> Place {
        match self.order.get(place.chunk) {
            Some(chunk) if place.at == chunk.len() && place.chunk + 1 < self.order.len() => {
                Place { chunk: place.chunk + 1, at: 0 }
            }
            _ => place,
        }
    }

    /// Puts a key into the order, and returns where it is then.
    fn insert(&mut self, place: Place, ordered: Ordered) -> Place {
        if self.order.is_empty() {
            self.order.push(Vec::new());
        }
        let mut place = place;
        // The last of a tree stands behind the others, not before those of the next tree.
        let next = self.order[place.chunk].get(place.at);
        if place.at == 0
            && next.is_some_and(|next| next.tree != ordered.tree)
            && let Some(chunk) = place.chunk.checked_sub(1)
        {
            place = Place { chunk, at: self.order[chunk].len() };
        }
        if self.order[place.chunk].len() == CHUNK {
            if place.at == CHUNK {
                // Ascending keys fill every chunk.
                place = Place { chunk: place.chunk + 1, at: 0 };
                self.insert_chunk(place.chunk, Vec::with_capacity(CHUNK));
            } else {
                let upper = self.order[place.chunk].split_off(CHUNK / 2);
                self.insert_chunk(place.chunk + 1, upper);
                if place.at > CHUNK / 2 {
                    place = Place { chunk: place.chunk + 1, at: place.at - CHUNK / 2 };
                }
            }
        }
        self.order[place.chunk].insert(place.at, ordered);
        place
    }

    /// Puts a chunk into the order.
    fn insert_chunk(&mut self, at: usize, chunk: Vec<Ordered>) {
        self.order.insert(at, chunk);
        for highest in self.highest.iter_mut().filter(|highest| highest.chunk >= at) {
            highest.chunk += 1;
        }
    }

    fn remove(&mut self, place: Place) {
        self.order[place.chunk].remove(place.at);
        if self.order[place.chunk].is_empty() && self.order.len() > 1 {
            self.order.remove(place.chunk);
        }
    }
}

#[cfg(test)]
mod tests;
