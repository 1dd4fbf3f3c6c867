//! The slotted layout: a sorted array of slots grows up from the header, a heap of entries down from the fences.
//!
//! ```text
//! | header 64 | slot 0 | slot 1 | ...   free   ... | heap: entries | high fence | low fence |
//! slot   offset u16 · suffix bytes u16 · head u32: the first four bytes of the suffix, so that order is number order
//! entry  word u64 · key suffix · (leaf) value bytes u16 with the tombstone in its top bit · value
//! ```
//! An inner page's first entry has an empty suffix: its key is the low fence.
//!
//! Every key of a page lies between its fences, so the prefix the fences share is kept once (*prefix truncation*;
//! Graefe, *Modern B-Tree Techniques*, 2011, §3.5) and the head makes most comparisons one load (*poor man's
//! normalized keys*, ibid.). A slot is one aligned word, so a racing reader sees each slot whole.
//!
//! The entry's word is the record's LSN in a leaf, and child and frame hint in an inner page. Entries that have been
//! replaced or removed are counted as garbage; `btree::node` compacts when free space and garbage together suffice.

use super::racy::{self, Words};
use super::{HEADER_BYTES, HIGH_IS_INFINITE, Kind, Page, PageMut};
use std::cmp::Ordering;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 8;
/// Bytes of an entry before its key.
pub const ENTRY_BYTES: usize = 8;
/// Bytes of a leaf entry between key and value.
pub const VALUE_LEN_BYTES: usize = 2;

const TOMBSTONE: u16 = 1 << 15;
/// Records that are moved at most to make room for a longer fence.
const MOVED_MAX: usize = 8;

/// Where an entry lies and how its key begins.
#[derive(Clone, Copy, Debug)]
pub struct Slot(u64);

impl Slot {
    fn new(at: usize, suffix: &[u8]) -> Slot {
        let head = racy::key_chunk(suffix) >> 32;
        Slot(at as u64 | (suffix.len() as u64) << 16 | head << 32)
    }

    #[inline(always)]
    fn at(self) -> usize {
        self.0 as u16 as usize
    }

    #[inline(always)]
    fn key_len(self) -> usize {
        (self.0 >> 16) as u16 as usize
    }

    #[inline(always)]
    fn head(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The value of a leaf entry, by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueAt {
    /// Its first byte.
    pub at: usize,
    /// Its length, in bytes; zero for a tombstone.
    pub len: usize,
    /// Whether it is a tombstone.
    pub tombstone: bool,
}

/// A leaf entry, by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryAt {
    /// Its word: the record's LSN.
    pub word: u64,
    /// The first byte of its key's suffix.
    pub at: usize,
    /// The suffix's length, in bytes.
    pub suffix_len: usize,
    /// The value's length, in bytes; zero for a tombstone.
    pub value_len: usize,
    /// Whether it is a tombstone.
    pub tombstone: bool,
}

impl<'a> Page<'a> {
    /// How many entries there are. Never more than slots fit on the page, whatever a torn read says.
    #[inline(always)]
    #[must_use]
    pub fn slots(self) -> usize {
        self.slots_said().min((self.bytes() - HEADER_BYTES) / SLOT_BYTES)
    }

    /// The same as the page says it: on a torn one more, maybe.
    #[inline(always)]
    fn slots_said(self) -> usize {
        (racy::word(self.words(), 8) >> 32) as u16 as usize
    }

    #[inline(always)]
    fn heap_start(self) -> usize {
        (racy::word(self.words(), 8) >> 48) as usize
    }

    fn garbage(self) -> usize {
        racy::word(self.words(), 48) as u16 as usize
    }

    /// How many bytes of every key are kept in the fences alone.
    #[inline(always)]
    #[must_use]
    pub fn prefix_len(self) -> usize {
        (racy::word(self.words(), 48) >> 16) as u16 as usize
    }

    /// The length of the low fence, in bytes.
    #[inline(always)]
    #[must_use]
    pub fn low_len(self) -> usize {
        (racy::word(self.words(), 48) >> 32) as u16 as usize
    }

    /// The length of the high fence, in bytes.
    #[must_use]
    pub fn high_len(self) -> usize {
        (racy::word(self.words(), 48) >> 48) as usize
    }

    /// Whether there is no high fence: the page reaches to the end of the tree.
    #[must_use]
    pub fn high_is_infinite(self) -> bool {
        (racy::word(self.words(), 0) >> 48) as u8 & HIGH_IS_INFINITE != 0
    }

    fn low_at(self) -> usize {
        self.bytes().saturating_sub(self.low_len())
    }

    fn high_at(self) -> usize {
        self.low_at().saturating_sub(self.high_len())
    }

    /// Appends the low fence: no key of the page is below it.
    pub fn append_low(self, into: &mut Vec<u8>) {
        racy::append(self.words(), self.low_at(), self.low_len(), into);
    }

    /// Appends the high fence: every key of the page is below it. Nothing is appended if it is infinite.
    pub fn append_high(self, into: &mut Vec<u8>) {
        racy::append(self.words(), self.high_at(), self.high_len(), into);
    }

    /// Appends the prefix of every key.
    pub fn append_prefix(self, into: &mut Vec<u8>) {
        racy::append(self.words(), self.low_at(), self.prefix_len().min(self.low_len()), into);
    }

    /// Whether `key` lies between the fences. It does not where it has not the prefix of both; mostly the next bytes say the rest.
    #[inline(always)]
    #[must_use]
    pub fn covers(self, key: &[u8]) -> bool {
        let (words, prefix, low_at) = (self.words(), self.prefix_len(), self.low_at());
        let (low_len, high_len) = (self.low_len(), self.high_len());
        let (Some(low), Some(high)) = (low_len.checked_sub(prefix), high_len.checked_sub(prefix))
        else {
            // A torn read.
            return false;
        };
        let Some((front, suffix)) = key.split_at_checked(prefix) else { return false };
        if !racy::is_at(words, low_at, front) {
            return false;
        }
        let (chunk, high_at) = (racy::key_chunk(suffix), low_at.saturating_sub(high_len));
        let (low_at, high_at) = (low_at + prefix, high_at + prefix);
        (chunk > racy::load_chunk(words, low_at, low)
            || racy::compare(words, low_at, low, suffix).is_ge())
            && (self.high_is_infinite()
                || chunk < racy::load_chunk(words, high_at, high)
                || racy::compare(words, high_at, high, suffix).is_lt())
    }

    /// Whether the high fence is above `key`.
    #[inline]
    #[must_use]
    pub fn is_above(self, key: &[u8]) -> bool {
        self.high_is_infinite()
            || racy::compare(self.words(), self.high_at(), self.high_len(), key).is_lt()
    }

    /// Whether no key of a page further left is at or above `key`.
    #[must_use]
    pub fn is_below_or_at(self, key: &[u8]) -> bool {
        racy::compare(self.words(), self.low_at(), self.low_len(), key).is_ge()
    }

    /// Whether `key` is the low fence.
    #[must_use]
    pub fn begins_at(self, key: &[u8]) -> bool {
        racy::compare(self.words(), self.low_at(), self.low_len(), key).is_eq()
    }

    /// Slot number `slot`.
    #[inline(always)]
    #[must_use]
    pub fn slot(self, slot: usize) -> Slot {
        Slot(racy::word(self.words(), HEADER_BYTES + slot * SLOT_BYTES))
    }

    /// Finds `suffix`, a key without the page's prefix: the first slot not below it, and whether it is there.
    #[inline]
    #[must_use]
    pub fn search(self, suffix: &[u8]) -> (usize, bool) {
        let chunk = racy::key_chunk(suffix);
        // A slot as a number is ordered by its head, which stands in its upper half.
        let least = chunk & !u64::from(u32::MAX);
        let most = least | u64::from(u32::MAX);
        let behind = self.words().get(HEADER_BYTES / SLOT_BYTES..).unwrap_or_default();
        let slots = &behind[..self.slots_said().min(behind.len())];
        // By heads first, which needs no branch; then by whole keys among those whose heads are equal.
        let low = match slots.first() {
            Some(first) if first.load(Relaxed) < least => {
                slots.partition_point(|word| word.load(Relaxed) < least)
            }
            _ => 0,
        };
        let is_equal = |word: &AtomicU64| word.load(Relaxed) <= most;
        let Some(first) = slots.get(low).filter(|first| is_equal(first)) else {
            return (low, false);
        };
        if slots.get(low + 1).is_some_and(is_equal) {
            return self.search_equal((slots, low), most, (chunk, suffix));
        }
        match self.compare(Slot(first.load(Relaxed)), chunk, suffix) {
            Ordering::Greater => (low + 1, false),
            order => (low, order.is_eq()),
        }
    }

    /// Goes on among the slots from `low` on, two of which at least begin as the key does. In nodes at the tree's edges all may,
    /// because an infinite fence leaves no prefix to truncate.
    #[inline(never)]
    fn search_equal(
        self,
        (slots, low): (&Words, usize),
        most: u64,
        (chunk, suffix): (u64, &[u8]),
    ) -> (usize, bool) {
        let rest = &slots[low..];
        let is_equal = |word: &AtomicU64| word.load(Relaxed) <= most;
        let equal = match rest.last() {
            Some(last) if is_equal(last) => rest.len(),
            _ => {
                // Few heads are equal: the end of them is looked for near their beginning, at twice the distance each time.
                let mut end = 2;
                while rest.get(end).is_some_and(is_equal) {
                    end *= 2;
                }
                let (known, last) = rest[..end.min(rest.len())].split_at(end / 2);
                known.len() + last.partition_point(is_equal)
            }
        };
        let (mut from, mut to) = (0, equal);
        while from < to {
            let middle = (from + to) / 2;
            match self.compare(Slot(rest[middle].load(Relaxed)), chunk, suffix) {
                Ordering::Less => to = middle,
                Ordering::Equal => return (low + middle, true),
                Ordering::Greater => from = middle + 1,
            }
        }
        (low + from, false)
    }

    /// How a suffix, whose first bytes are `chunk`, compares with that of a slot.
    #[inline(always)]
    fn order_at(self, slot: usize, (chunk, suffix): (u64, &[u8])) -> Ordering {
        let slot = self.slot(slot);
        let heads = ((chunk >> 32) as u32).cmp(&slot.head());
        if heads.is_ne() { heads } else { self.compare(slot, chunk, suffix) }
    }

    /// As [`Page::search`], of a key that was at slot `near` or belonged there, and is likely to be there still: right before it, at
    /// it or right behind it. None if it is elsewhere. Whatever `near` is, an answer is right.
    #[inline]
    #[must_use]
    pub fn search_near(self, suffix: &[u8], near: usize) -> Option<(usize, bool)> {
        let chunk = racy::key_chunk(suffix);
        let slots = self.slots();
        let key = (chunk, suffix);
        let here = if near < slots { self.order_at(near, key) } else { Ordering::Less };
        match here {
            Ordering::Equal => Some((near, true)),
            Ordering::Less if near > slots => None,
            Ordering::Less if near == 0 => Some((near, false)),
            Ordering::Less => match self.order_at(near - 1, key) {
                Ordering::Greater => Some((near, false)),
                Ordering::Equal => Some((near - 1, true)),
                Ordering::Less => None,
            },
            Ordering::Greater if near + 1 == slots => Some((slots, false)),
            Ordering::Greater => match self.order_at(near + 1, key) {
                Ordering::Greater => None,
                order => Some((near + 1, order.is_eq())),
            },
        }
    }

    /// As [`Page::search`], of a key that is not below that of slot `from`, and likely to lie near it: it is looked for at twice the
    /// distance each time.
    #[inline]
    #[must_use]
    pub fn search_from(self, suffix: &[u8], from: usize) -> (usize, bool) {
        let chunk = racy::key_chunk(suffix);
        let against = |slot: usize| self.order_at(slot, (chunk, suffix));
        let (mut low, mut high) = (from, self.slots().max(from));
        let mut distance = 0;
        while low + distance < high {
            match against(low + distance) {
                Ordering::Less => high = low + distance,
                Ordering::Equal => return (low + distance, true),
                Ordering::Greater => {
                    low += distance + 1;
                    distance = 2 * distance + 1;
                }
            }
        }
        while low < high {
            let middle = (low + high) / 2;
            match against(middle) {
                Ordering::Less => high = middle,
                Ordering::Equal => return (middle, true),
                Ordering::Greater => low = middle + 1,
            }
        }
        (low, false)
    }

    /// Compares `suffix`, which begins with `chunk`, with the key of a slot that has the same head.
    #[inline(always)]
    fn compare(self, slot: Slot, chunk: u64, suffix: &[u8]) -> Ordering {
        let (ours, theirs) = (suffix.len(), slot.key_len());
        let at = slot.at() + ENTRY_BYTES;
        if theirs < 8 {
            // Their heads are equal; if these were all there is, the entry need not be looked at.
            if ours <= 4 && theirs <= 4 {
                return ours.cmp(&theirs);
            }
            // Equal up to the padding: if one of them ends here it is the other's beginning.
            let their_chunk = racy::load_chunk(self.words(), at, theirs);
            return chunk.cmp(&their_chunk).then(ours.cmp(&theirs));
        }
        let their_chunk = racy::load(self.words(), at).swap_bytes();
        if chunk != their_chunk {
            return chunk.cmp(&their_chunk);
        }
        if ours <= 8 {
            return ours.cmp(&theirs);
        }
        racy::compare(self.words(), at + 8, theirs - 8, &suffix[8..])
    }

    /// The word of an entry: a record's LSN, or a child.
    #[inline(always)]
    #[must_use]
    pub fn entry_word(self, slot: usize) -> u64 {
        racy::load(self.words(), self.slot(slot).at())
    }

    /// Appends the suffix of an entry's key.
    pub fn append_suffix(self, slot: usize, into: &mut Vec<u8>) {
        let slot = self.slot(slot);
        racy::append(self.words(), slot.at() + ENTRY_BYTES, slot.key_len(), into);
    }

    /// Appends an entry's whole key.
    pub fn append_key(self, slot: usize, into: &mut Vec<u8>) {
        if slot == 0 && self.kind() == Some(Kind::Inner) {
            return self.append_low(into);
        }
        self.append_prefix(into);
        self.append_suffix(slot, into);
    }

    /// Where a leaf entry's suffix and value lie, one behind the other with the value's length between them.
    #[inline(always)]
    #[must_use]
    pub fn entry(self, slot: usize) -> EntryAt {
        let slot = self.slot(slot);
        let at = slot.at() + ENTRY_BYTES;
        let len = racy::load_u16(self.words(), at + slot.key_len());
        EntryAt {
            word: racy::load(self.words(), slot.at()),
            at,
            suffix_len: slot.key_len(),
            value_len: usize::from(len & !TOMBSTONE),
            tombstone: len & TOMBSTONE != 0,
        }
    }

    /// Where a leaf entry's value lies.
    #[inline(always)]
    #[must_use]
    pub fn value(self, slot: usize) -> ValueAt {
        let slot = self.slot(slot);
        let at = slot.at() + ENTRY_BYTES + slot.key_len();
        let len = racy::load_u16(self.words(), at);
        ValueAt {
            at: at + VALUE_LEN_BYTES,
            len: usize::from(len & !TOMBSTONE),
            tombstone: len & TOMBSTONE != 0,
        }
    }

    /// The bytes of an entry and its slot.
    #[must_use]
    pub fn entry_bytes(self, slot: usize) -> usize {
        SLOT_BYTES + self.heap_bytes(slot)
    }

    fn heap_bytes(self, slot: usize) -> usize {
        let key_len = self.slot(slot).key_len();
        match self.kind() {
            Some(Kind::Leaf) => ENTRY_BYTES + key_len + VALUE_LEN_BYTES + self.value(slot).len,
            _ => ENTRY_BYTES + key_len,
        }
    }

    /// Free bytes between slots and heap.
    #[must_use]
    pub fn contiguous(self) -> usize {
        self.heap_start().saturating_sub(HEADER_BYTES + self.slots() * SLOT_BYTES)
    }

    /// Free bytes after a compaction.
    #[must_use]
    pub fn free(self) -> usize {
        self.contiguous() + self.garbage()
    }

    /// The part of the page that says nothing: from the end of the slots to the heap.
    #[must_use]
    pub fn hole(self) -> std::ops::Range<usize> {
        let end = HEADER_BYTES + self.slots() * SLOT_BYTES;
        end..self.heap_start().clamp(end, self.bytes())
    }

    /// Whether every slot points into the heap, and the heap and the fences into the page.
    pub(super) fn check_slots(self) -> Result<(), &'static str> {
        let slots = (racy::word(self.words(), 8) >> 32) as u16 as usize;
        let heap_end = self.high_at();
        if self.low_len() + self.high_len() > self.bytes() - HEADER_BYTES
            || self.prefix_len() > self.low_len()
        {
            return Err("its fences do not fit");
        }
        if HEADER_BYTES + slots * SLOT_BYTES > self.heap_start() || self.heap_start() > heap_end {
            return Err("its slots and its heap overlap");
        }
        let mut used = 0;
        for slot in 0..slots {
            let at = self.slot(slot).at();
            let bytes = self.heap_bytes(slot);
            used += bytes;
            if at < self.heap_start() || at + bytes > heap_end {
                return Err("an entry lies outside of the heap");
            }
        }
        if used + self.garbage() != heap_end - self.heap_start() {
            return Err("its heap does not add up");
        }
        Ok(())
    }

    /// What [`Page::check_slots`] leaves out for speed: that no two entries overlap.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check_layout(self) -> Result<(), &'static str> {
        self.check_slots()?;
        let mut ranges: Vec<_> = (0..self.slots())
            .map(|slot| (self.slot(slot).at(), self.slot(slot).at() + self.heap_bytes(slot)))
            .collect();
        ranges.sort_unstable();
        if ranges.windows(2).any(|pair| pair[0].1 > pair[1].0) {
            return Err("two entries overlap");
        }
        Ok(())
    }
}

impl PageMut<'_> {
    fn words(&self) -> &Words {
        self.page().words()
    }

    fn set_counts(&mut self, slots: usize, heap_start: usize) {
        let id = racy::word(self.words(), 8) & 0xFFFF_FFFF;
        racy::set_word(self.words(), 8, id | (slots as u64) << 32 | (heap_start as u64) << 48);
    }

    fn add_garbage(&mut self, bytes: usize) {
        racy::set_word(self.words(), 48, racy::word(self.words(), 48) + bytes as u64);
    }

    /// Gives an empty page its fences and, with them, its prefix.
    pub fn set_fences(&mut self, low: &[u8], high: Option<&[u8]>) {
        let page = self.page();
        let prefix = high.map_or(0, |high| common_prefix(low, high));
        let high_bytes = high.unwrap_or_default();
        if high.is_none() {
            let flags = u64::from(HIGH_IS_INFINITE) << 48;
            racy::set_word(page.words(), 0, racy::word(page.words(), 0) | flags);
        }
        let lens =
            (prefix as u64) << 16 | (low.len() as u64) << 32 | (high_bytes.len() as u64) << 48;
        racy::set_word(page.words(), 48, lens);
        racy::store(page.words(), page.low_at(), low);
        racy::store(page.words(), page.high_at(), high_bytes);
        self.set_counts(0, page.high_at());
    }

    fn insert_slot(&mut self, slot: usize, heap_bytes: usize, suffix: &[u8]) -> usize {
        let page = self.page();
        assert!(heap_bytes + SLOT_BYTES <= page.contiguous(), "the caller has made room");
        let slots = page.slots();
        let at = page.heap_start() - heap_bytes;
        racy::move_up(page.words(), HEADER_BYTES + slot * SLOT_BYTES, slots - slot);
        let place = HEADER_BYTES + slot * SLOT_BYTES;
        racy::set_word(page.words(), place, Slot::new(at, suffix).0);
        self.set_counts(slots + 1, at);
        racy::store(self.words(), at + ENTRY_BYTES, suffix);
        at
    }

    /// Inserts a child of an inner page at `slot`. There is room.
    pub fn insert_child(&mut self, slot: usize, suffix: &[u8], word: u64) {
        let at = self.insert_slot(slot, ENTRY_BYTES + suffix.len(), suffix);
        racy::store_u64(self.words(), at, word);
    }

    /// Inserts a record of a leaf at `slot`. There is room.
    pub fn insert_record(&mut self, slot: usize, suffix: &[u8], word: u64, value: Option<&[u8]>) {
        let bytes = value.unwrap_or_default();
        let heap_bytes = ENTRY_BYTES + suffix.len() + VALUE_LEN_BYTES + bytes.len();
        let at = self.insert_slot(slot, heap_bytes, suffix);
        racy::store_u64(self.words(), at, word);
        let at = at + ENTRY_BYTES + suffix.len();
        let flag = if value.is_none() { TOMBSTONE } else { 0 };
        racy::store_u16(self.words(), at, bytes.len() as u16 | flag);
        racy::store(self.words(), at + VALUE_LEN_BYTES, bytes);
    }

    /// Removes an entry.
    pub fn remove(&mut self, slot: usize) {
        let page = self.page();
        let bytes = page.heap_bytes(slot);
        self.add_garbage(bytes);
        let slots = page.slots();
        racy::move_down(page.words(), HEADER_BYTES + slot * SLOT_BYTES, slots - slot - 1);
        self.set_counts(slots - 1, page.heap_start());
    }

    /// Writes over an entry's word.
    pub fn set_entry_word(&mut self, slot: usize, word: u64) {
        let at = self.page().slot(slot).at();
        racy::store_u64(self.words(), at, word);
    }

    /// Gives a leaf entry another value of no more bytes than it had; what is left over becomes garbage.
    pub fn shrink_value(&mut self, slot: usize, value: Option<&[u8]>) {
        let old = self.page().value(slot);
        let bytes = value.unwrap_or_default();
        assert!(bytes.len() <= old.len, "a longer value needs another place");
        let flag = if value.is_none() { TOMBSTONE } else { 0 };
        racy::store_u16(self.words(), old.at - VALUE_LEN_BYTES, bytes.len() as u16 | flag);
        racy::store(self.words(), old.at, bytes);
        self.add_garbage(old.len - bytes.len());
    }

    /// Writes over a part of a leaf entry's value.
    pub fn patch_value(&mut self, slot: usize, from: usize, bytes: &[u8]) {
        let value = self.page().value(slot);
        assert!(from + bytes.len() <= value.len, "a patch keeps the length");
        racy::store(self.words(), value.at + from, bytes);
    }

    /// Keeps the first `slots` records of a leaf, at least one, below `high`, which becomes the high fence, where all of them can
    /// stay in their places; false if not, and then nothing has changed. What the fences have in common now goes from each key: the
    /// record's LSN moves up over it. Such a page has its free bytes between its records.
    pub fn keep_in_place(&mut self, slots: usize, high: &[u8]) -> bool {
        let page = self.page();
        let mut low = Vec::new();
        page.append_low(&mut low);
        let more = common_prefix(&low, high).checked_sub(page.prefix_len());
        let grown = high.len().saturating_sub(page.high_len());
        // A longer fence takes from the uppermost records what goes from their keys.
        let enough = |more: &usize| grown <= more * slots.min(MOVED_MAX);
        let Some(more) = more.filter(enough) else { return false };
        let (start, end) = (page.heap_start(), page.high_at());
        let dropped: usize = (slots..page.slots()).map(|slot| page.heap_bytes(slot)).sum();
        let used = end - start - page.garbage() - dropped - more * slots;
        let new_end = page.low_at() - high.len();
        if more > 0 {
            (0..slots).for_each(|slot| self.shorten_key(slot, more));
        }
        if grown > 0 {
            self.end_heap_at(new_end, slots);
        }
        let flags = !(u64::from(HIGH_IS_INFINITE) << 48);
        racy::set_word(page.words(), 0, racy::word(page.words(), 0) & flags);
        let garbage = new_end - start - used;
        let lens = (page.prefix_len() + more) << 16 | low.len() << 32 | high.len() << 48;
        racy::set_word(page.words(), 48, (garbage | lens) as u64);
        racy::store(page.words(), new_end, high);
        self.set_counts(slots, start);
        self.forget_inserts();
        true
    }

    /// Moves the uppermost of the first `slots` entries, as many as have to, so that all end at `end`.
    fn end_heap_at(&mut self, end: usize, slots: usize) {
        let page = self.page();
        let (mut moves, mut end) = (Vec::<(usize, usize, usize)>::new(), end);
        loop {
            let left = (0..slots).filter(|slot| moves.iter().all(|(moved, ..)| moved != slot));
            let Some(slot) = left.max_by_key(|slot| page.slot(*slot).at()) else { break };
            let (at, bytes) = (page.slot(slot).at(), page.heap_bytes(slot));
            let by = (at + bytes).saturating_sub(end);
            if by == 0 {
                break;
            }
            moves.push((slot, bytes, by));
            end = at - by;
        }
        // The lowest first: each goes where the next one has been.
        moves.into_iter().rev().for_each(|(slot, bytes, by)| self.move_down(slot, bytes, by));
    }

    /// Moves an entry of so many bytes towards the beginning of the page, where there is room.
    fn move_down(&mut self, slot: usize, bytes: usize, by: usize) {
        let page = self.page();
        let (at, mut moved) = (page.slot(slot).at(), Vec::new());
        racy::append(page.words(), at, bytes, &mut moved);
        racy::store(page.words(), at - by, &moved);
        let place = HEADER_BYTES + slot * SLOT_BYTES;
        racy::set_word(page.words(), place, page.slot(slot).0 - by as u64);
    }

    /// Takes the first bytes of an entry's key away: its word moves up over them.
    fn shorten_key(&mut self, slot: usize, by: usize) {
        let page = self.page();
        let old = page.slot(slot);
        let (at, key_len) = (old.at() + by, old.key_len() - by);
        let word = racy::load(page.words(), old.at());
        let head = racy::load_chunk(page.words(), at + ENTRY_BYTES, key_len) >> 32;
        racy::store_u64(page.words(), at, word);
        let new = Slot(at as u64 | (key_len as u64) << 16 | head << 32);
        racy::set_word(page.words(), HEADER_BYTES + slot * SLOT_BYTES, new.0);
    }

    /// Copies entries `from` of `source` behind those that are here. The keys come in order, and there is room.
    /// `source` may have another prefix; `scratch` is used to put keys together.
    pub fn append_entries(
        &mut self,
        source: Page<'_>,
        from: std::ops::Range<usize>,
        scratch: &mut Vec<u8>,
    ) {
        let prefix = self.page().prefix_len();
        let leaf = source.kind() == Some(Kind::Leaf);
        if leaf && let Some(more) = prefix.checked_sub(source.prefix_len()) {
            return self.append_records(source, from, more);
        }
        for slot in from {
            scratch.clear();
            source.append_key(slot, scratch);
            let end = self.page().slots();
            let suffix = if leaf || end > 0 { &scratch[prefix..] } else { &[] };
            let tail = if leaf { VALUE_LEN_BYTES + source.value(slot).len } else { 0 };
            let at = self.insert_slot(end, ENTRY_BYTES + suffix.len() + tail, suffix);
            racy::store_u64(self.words(), at, source.entry_word(slot));
            if leaf {
                let value = source.value(slot).at - VALUE_LEN_BYTES;
                let to = at + ENTRY_BYTES + suffix.len();
                racy::copy(source.words(), value, self.words(), to, tail);
            }
        }
    }
}

impl PageMut<'_> {
    /// Copies records of `source`, whose prefix is `more` bytes shorter than the one here, behind those that are here: as they
    /// lie there, but for these bytes of their suffixes.
    fn append_records(&mut self, source: Page<'_>, from: std::ops::Range<usize>, more: usize) {
        let page = self.page();
        let (mut slots, mut at) = (page.slots(), page.heap_start());
        for slot in from {
            let entry = source.entry(slot);
            let suffix_len = entry.suffix_len - more;
            let rest = suffix_len + VALUE_LEN_BYTES + entry.value_len;
            let place = HEADER_BYTES + slots * SLOT_BYTES;
            let bytes = ENTRY_BYTES + rest;
            assert!(place + SLOT_BYTES + bytes <= at, "the caller has made room");
            at -= bytes;
            let head = racy::load_chunk(source.words(), entry.at + more, suffix_len) >> 32;
            let written = Slot(at as u64 | (suffix_len as u64) << 16 | head << 32);
            racy::set_word(self.words(), place, written.0);
            racy::store_u64(self.words(), at, entry.word);
            racy::copy(source.words(), entry.at + more, self.words(), at + ENTRY_BYTES, rest);
            slots += 1;
        }
        self.set_counts(slots, at);
    }
}

/// How many bytes two keys have in common at their beginning.
#[must_use]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
