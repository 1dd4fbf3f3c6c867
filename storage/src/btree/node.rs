//! A page as a node of a B+tree: where keys belong, how records change in place, and how nodes are cut and joined.
//!
//! A leaf holds records, an inner node children: the child at a slot holds the keys from that slot's key on, and the
//! first slot's key is the node's low fence, which is not kept twice. Fences never move but by a structure modification, and
//! there are no links between siblings: a scan goes on from a fence by key (Graefe, *Write-Optimized B-Trees*, VLDB 2004).
//!
//! **The longest key** is a third of a page ([`key_bytes_max`]): two fences and one entry of that length are what a node must
//! hold whatever comes. A leaf whose every other record has been cut off takes any record, an inner node any second child, so
//! cutting always ends.
//!
//! **The fence room.** Each leaf keeps room for a high fence of [`fence_room`] bytes. When a split is redone, the leaf on
//! disk may hold other records than the one that was split (older values, tombstones since gone), and "keep below K"
//! has to succeed there too; a longer K is logged with the page's image instead.

use crate::page::slotted::{ENTRY_BYTES, SLOT_BYTES, VALUE_LEN_BYTES, common_prefix};
use crate::page::{HEADER_BYTES, Kind, Page, PageBuf, PageMut, racy};
use crate::{Error, FrameId, Lsn, PageId, Result};
use std::ops::Range;

/// What an inner node says of a child: its page, and the frame where it was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The page.
    pub page: PageId,
    /// The hint: to be checked against the frame's page id.
    pub frame: FrameId,
}

impl Child {
    /// A child that has not been seen in memory.
    #[must_use]
    pub fn unseen(page: PageId) -> Child {
        Child { page, frame: FrameId(u32::MAX) }
    }

    fn from_word(word: u64) -> Child {
        Child { page: PageId(word as u32), frame: FrameId((word >> 32) as u32) }
    }

    /// As an inner node's entry holds it.
    #[must_use]
    pub fn word(self) -> u64 {
        u64::from(self.page.0) | u64::from(self.frame.0) << 32
    }
}

/// The bytes that each leaf keeps for a high fence.
#[must_use]
pub fn fence_room(page_bytes: usize) -> usize {
    page_bytes / 128
}

/// The longest value that a record may have whatever its key is, in bytes.
const VALUE_BYTES_LEAST: usize = 46;
/// What a page has beside two fences and the key and value of one record of the longest.
const BESIDE_KEYS_BYTES: usize =
    HEADER_BYTES + SLOT_BYTES + ENTRY_BYTES + VALUE_LEN_BYTES + VALUE_BYTES_LEAST;
// An inner node of two children has two fences and one key beside theirs.
const _: () = assert!(2 * (SLOT_BYTES + ENTRY_BYTES) + HEADER_BYTES <= BESIDE_KEYS_BYTES);

/// The longest key, in bytes: three of them, two as fences, fit on a page. Beyond it the caller is refused.
#[must_use]
pub fn key_bytes_max(page_bytes: usize) -> usize {
    (page_bytes - BESIDE_KEYS_BYTES) / 3
}

/// The largest record, key and value, in bytes: so that any one and its fences fit on a page.
#[must_use]
pub fn record_bytes_max(page_bytes: usize) -> usize {
    key_bytes_max(page_bytes) + VALUE_BYTES_LEAST
}

/// The largest record that is not large, in bytes: four share a page.
#[must_use]
pub fn record_bytes_fair(page_bytes: usize) -> usize {
    page_bytes / 4
}

/// How long a value is to be kept beside a key, in bytes: so that four records share a page, or, if the key alone takes most
/// of that, an eighth of a page, as far as there is room.
#[must_use]
pub fn value_bytes_fair(key_len: usize, page_bytes: usize) -> usize {
    let fair = record_bytes_fair(page_bytes).saturating_sub(key_len).max(page_bytes / 8);
    fair.min(record_bytes_max(page_bytes).saturating_sub(key_len))
}

/// Refuses a record that no page takes.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn check_record_size(key_len: usize, value_len: usize, page_bytes: usize) -> Result<()> {
    // Together no longer than a key may be, as almost all are: that is within both limits.
    if 3 * (key_len + value_len) + BESIDE_KEYS_BYTES <= page_bytes {
        return Ok(());
    }
    for (size, limit) in
        [(key_len, key_bytes_max(page_bytes)), (key_len + value_len, record_bytes_max(page_bytes))]
    {
        if size > limit {
            return Err(Error::TooLarge { size, limit });
        }
    }
    Ok(())
}

/// The part of `key` that is not in the page's prefix. On a torn page it may be too short, never out of bounds.
#[inline(always)]
#[must_use]
pub fn suffix<'k>(page: Page<'_>, key: &'k [u8]) -> &'k [u8] {
    key.get(page.prefix_len()..).unwrap_or_default()
}

/// The slot of the child whose range holds `key`.
#[inline]
#[must_use]
pub fn child_slot(page: Page<'_>, key: &[u8]) -> usize {
    match page.search(suffix(page, key)) {
        (slot, true) => slot,
        (slot, false) => slot.saturating_sub(1),
    }
}

/// The slot of the child whose range holds the keys just below `key`, which may be the node's high fence.
#[must_use]
pub fn child_slot_below(page: Page<'_>, key: &[u8]) -> usize {
    if !page.is_above(key) {
        return page.slots().saturating_sub(1);
    }
    page.search(suffix(page, key)).0.saturating_sub(1)
}

/// The child at `slot`.
#[inline(always)]
#[must_use]
pub fn child(page: Page<'_>, slot: usize) -> Child {
    Child::from_word(page.entry_word(slot))
}

/// Bytes free for entries and their slots: in a leaf, what is left beside the fence room.
#[must_use]
pub fn room(page: Page<'_>) -> usize {
    let kept = match page.kind() {
        Some(Kind::Leaf) => fence_room(page.bytes()).saturating_sub(page.high_len()),
        _ => 0,
    };
    page.free().saturating_sub(kept)
}

/// The bytes that a record needs on `page`, its slot included.
#[must_use]
pub fn record_bytes(page: Page<'_>, key: &[u8], value_len: usize) -> usize {
    SLOT_BYTES + ENTRY_BYTES + suffix(page, key).len() + VALUE_LEN_BYTES + value_len
}

/// The bytes that a child with any separator of up to `key_len` bytes needs on `page`.
#[must_use]
pub fn child_bytes(key_len: usize) -> usize {
    SLOT_BYTES + ENTRY_BYTES + key_len
}

/// Where a key of a leaf is, or belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first slot not below the key.
    pub slot: usize,
    /// Whether the key is there.
    pub found: bool,
}

/// Finds `key` in a leaf.
#[must_use]
pub fn place(page: Page<'_>, key: &[u8]) -> Place {
    let (slot, found) = page.search(suffix(page, key));
    Place { slot, found }
}

/// Finds `key` in a leaf, looking near these slots first.
#[inline]
#[must_use]
pub fn place_near(page: Page<'_>, key: &[u8], near: [usize; 2]) -> Place {
    let suffix = suffix(page, key);
    let [first, second] = near;
    let near = page.search_near(suffix, first).or_else(|| page.search_near(suffix, second));
    let (slot, found) = near.unwrap_or_else(|| page.search(suffix));
    Place { slot, found }
}

/// Finds `key`, which is not below the key at slot `from`, in a leaf.
#[inline]
#[must_use]
pub fn place_from(page: Page<'_>, key: &[u8], from: usize) -> Place {
    let (slot, found) = page.search_from(suffix(page, key), from);
    Place { slot, found }
}

/// Where the next record belongs if it follows the one that was inserted last.
#[inline]
#[must_use]
pub fn behind_last_insert(page: Page<'_>) -> usize {
    page.insert_run().0 + 1
}

/// Whether a leaf has no record but that of `key`: it has room for any.
#[must_use]
pub fn is_alone(page: Page<'_>, key: &[u8]) -> bool {
    page.slots() == 0 || (page.slots() == 1 && place(page, key).found)
}

/// Whether the leaf takes `value` under `key`, found or not at `place`, without a split.
#[must_use]
pub fn has_room(page: Page<'_>, place: Place, key: &[u8], value: Option<&[u8]>) -> bool {
    let value_len = value.map_or(0, <[u8]>::len);
    if place.found && value_len <= page.value(place.slot).len {
        return true;
    }
    let freed = if place.found { page.entry_bytes(place.slot) } else { 0 };
    record_bytes(page, key, value_len) <= room(page) + freed
}

/// Puts a record at its place in a leaf that has room for it.
pub fn put(page: &mut PageMut<'_>, place: Place, key: &[u8], lsn: Lsn, value: Option<&[u8]>) {
    let value_len = value.map_or(0, <[u8]>::len);
    if place.found && value_len <= page.page().value(place.slot).len {
        page.shrink_value(place.slot, value);
        page.set_entry_word(place.slot, lsn.0);
    } else {
        let needed = record_bytes(page.page(), key, value_len);
        let run = page.page().insert_run();
        if place.found {
            page.remove(place.slot);
        }
        if page.page().contiguous() < needed {
            compact(page);
        }
        let suffix = suffix(page.page(), key);
        page.insert_record(place.slot, suffix, lsn.0, value);
        if !place.found {
            page.note_insert(place.slot, run);
        }
    }
    page.count_change();
}

/// Adds a child to an inner node that has room for it, or writes over the one that begins at the same key.
pub fn put_child(page: &mut PageMut<'_>, key: &[u8], child: Child) {
    let (slot, found) = page.page().search(suffix(page.page(), key));
    if found {
        page.set_entry_word(slot, child.word());
        return;
    }
    if page.page().contiguous() < child_bytes(suffix(page.page(), key).len()) {
        compact(page);
    }
    page.insert_child(slot, suffix(page.page(), key), child.word());
}

/// Removes the child that begins at `key`; whether it was there.
pub fn remove_child(page: &mut PageMut<'_>, key: &[u8]) -> bool {
    let (slot, found) = page.page().search(suffix(page.page(), key));
    if found {
        page.remove(slot);
    }
    found
}

/// Lets the child that begins at `old` begin at `new`, for which there is room; whether it was there.
pub fn move_child(page: &mut PageMut<'_>, old: &[u8], new: &[u8]) -> bool {
    let (slot, found) = page.page().search(suffix(page.page(), old));
    if found {
        let moved = child(page.page(), slot);
        page.remove(slot);
        put_child(page, new, moved);
    }
    found
}

/// The fences of a node: no high one if it reaches to the end of its tree.
pub(super) fn fences(page: Page<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    page.append_low(&mut low);
    page.append_high(&mut high);
    (low, (!page.high_is_infinite()).then_some(high))
}

/// A node like `page`, with the same counters, that holds the entries `from` between other fences.
fn cut(page: Page<'_>, from: Range<usize>, low: &[u8], high: Option<&[u8]>) -> PageBuf {
    let mut buf = PageBuf::new(page.bytes());
    cut_to(&mut buf.page_mut(), page, from, (low, high));
    buf
}

/// Makes such a node in place of `to`.
fn cut_to(
    to: &mut PageMut<'_>,
    page: Page<'_>,
    from: Range<usize>,
    (low, high): (&[u8], Option<&[u8]>),
) {
    let kind = page.kind().expect("only nodes are cut");
    to.format(kind, page.level(), page.id(), page.tree());
    for at in [24, 32, 40] {
        racy::set_word(to.page().words(), at, racy::word(page.words(), at));
    }
    to.set_fences(low, high);
    to.append_entries(page, from, &mut Vec::new());
}

/// Gathers the free bytes of a node in one place.
pub fn compact(page: &mut PageMut<'_>) {
    let (low, high) = fences(page.page());
    let before = PageBuf::copy_of(page.page());
    cut_to(page, before.page(), 0..before.page().slots(), (&low, high.as_deref()));
}

/// The first slot whose key is not below `key`, for any key not below the low fence: also one at or past the high fence.
#[must_use]
pub fn first_not_below(page: Page<'_>, key: &[u8]) -> usize {
    if page.kind() == Some(Kind::Leaf) {
        return if page.is_above(key) { place(page, key).slot } else { page.slots() };
    }
    let mut own = Vec::new();
    let (mut low, mut high) = (0, page.slots());
    while low < high {
        let middle = (low + high) / 2;
        own.clear();
        page.append_key(middle, &mut own);
        if own.as_slice() < key { low = middle + 1 } else { high = middle }
    }
    low
}

/// "Keep below K": drops what is not below `key`, which becomes the high fence.
#[must_use]
pub fn kept_below(page: Page<'_>, key: &[u8]) -> PageBuf {
    let (low, _) = fences(page);
    cut(page, 0..first_not_below(page, key), &low, Some(key))
}

/// As [`kept_below`], in its place. A leaf that grows at its end keeps what it has where it lies, as long as its keys allow it: where half of it
/// goes its free bytes are gathered at once, because others come.
pub fn keep_below(page: &mut PageMut<'_>, key: &[u8]) {
    let (slots, kept) = (page.page().slots(), first_not_below(page.page(), key));
    let keeps_most = page.page().kind() == Some(Kind::Leaf) && (slots - kept) * 8 < kept;
    if keeps_most && page.keep_in_place(kept, key) {
        return;
    }
    let (low, _) = fences(page.page());
    let before = PageBuf::copy_of(page.page());
    cut_to(page, before.page(), 0..kept, (&low, Some(key)));
}

/// What [`kept_below`] drops, as page `id` of the same tree.
#[must_use]
pub fn kept_above(page: Page<'_>, key: &[u8], id: PageId) -> PageBuf {
    let mut buf = PageBuf::new(page.bytes());
    keep_above(&mut buf.page_mut(), page, key, id);
    buf
}

/// As [`kept_above`], in place of `to`.
pub fn keep_above(to: &mut PageMut<'_>, page: Page<'_>, key: &[u8], id: PageId) {
    let (_, high) = fences(page);
    let from = first_not_below(page, key)..page.slots();
    cut_to(to, page, from, (key, high.as_deref()));
    renumber(to, id);
}

/// A copy of `page` that is page `id`: what a root hands down when it grows, and takes back when it shrinks.
#[must_use]
pub fn moved(page: Page<'_>, id: PageId) -> PageBuf {
    let (low, high) = fences(page);
    let mut buf = cut(page, 0..page.slots(), &low, high.as_deref());
    renumber(&mut buf.page_mut(), id);
    buf
}

fn renumber(page: &mut PageMut<'_>, id: PageId) {
    let page = page.page();
    let rest = racy::word(page.words(), 8) & !0xFFFF_FFFF;
    racy::set_word(page.words(), 8, rest | u64::from(id.0));
}

/// An inner node over two children, in place of the root `page` that they were cut from.
#[must_use]
pub fn grown_root(page: Page<'_>, left: PageId, separator: &[u8], right: PageId) -> PageBuf {
    let mut buf = PageBuf::new(page.bytes());
    let mut to = buf.page_mut();
    to.format(Kind::Inner, page.level() + 1, page.id(), page.tree());
    to.set_fences(&[], None);
    to.insert_child(0, &[], Child::unseen(left).word());
    to.insert_child(1, separator, Child::unseen(right).word());
    buf
}

/// So many inserts, each right behind the one before, make it likely that more of them come.
const RUN_MIN: usize = 8;

/// The key to cut a node at, so that the key that has no room finds some: a leaf that grows at its end keeps all it
/// has (ascending keys leave full pages), one that grows in one place is cut there, so that it soon grows at its end, any
/// other is halved by bytes. Where half of a leaf is not `enough` either it is cut beside the key, which therefore is alone
/// after two cuts. A cut whose separator would not fit beside all that stays on one side is left for the next in this order. The
/// separator of two leaves is the shortest that tells them apart; of two inner nodes it is the child's own.
#[must_use]
pub fn cut_key(page: Page<'_>, wanted: &[u8], enough: &dyn Fn(Page<'_>) -> bool) -> Vec<u8> {
    if page.kind() != Some(Kind::Leaf) {
        assert!(page.slots() > 1, "a node of one child has room for another");
        let mut key = Vec::new();
        page.append_key(most_even(page), &mut key);
        return key;
    }
    let slots = page.slots();
    let place = first_not_below(page, wanted);
    let (last, run) = page.insert_run();
    let fits = |(slot, key): &(usize, Vec<u8>)| halves_fit(page, *slot, key);
    let grows = place == slots || (place == last + 1 && run >= RUN_MIN);
    if let Some((_, key)) = grows.then(|| cut_beside(page, wanted)).filter(fits) {
        return key;
    }
    let before = |slot: usize| Some((slot, separator_before(page, slot))).filter(fits);
    let halved = (slots > 1).then(|| before(most_even(page))).flatten();
    let halved = halved.or_else(|| by_balance(page).into_iter().find_map(before));
    let halved = halved.map(|(_, key)| key);
    let is_enough = |key: &[u8]| {
        let half =
            if wanted < key { kept_below(page, key) } else { kept_above(page, key, page.id()) };
        enough(half.page())
    };
    match halved {
        Some(key) if is_enough(&key) => key,
        halved => match Some(cut_beside(page, wanted)).filter(fits) {
            Some((_, key)) => key,
            None => halved.expect("a leaf of several records can be cut between two of them"),
        },
    }
}

/// The slots that a node of several entries can be cut before, each behind the bytes of the larger half that this leaves.
fn cuts(page: Page<'_>) -> impl Iterator<Item = (usize, usize)> {
    let total: usize = (0..page.slots()).map(|slot| page.entry_bytes(slot)).sum();
    let mut below = 0;
    (1..page.slots()).map(move |slot| {
        below += page.entry_bytes(slot - 1);
        (below.max(total - below), slot)
    })
}

/// The slot that a node of several entries is cut before to leave the most even halves.
fn most_even(page: Page<'_>) -> usize {
    cuts(page).min().expect("it has several entries").1
}

/// All of them, those that leave the most even halves first.
fn by_balance(page: Page<'_>) -> Vec<usize> {
    let mut cuts: Vec<(usize, usize)> = cuts(page).collect();
    cuts.sort_unstable();
    cuts.into_iter().map(|(_, slot)| slot).collect()
}

/// The cut of a leaf right above `wanted`; where nothing is above it, right below. The slot of the first record above the
/// cut, and the separator.
fn cut_beside(page: Page<'_>, wanted: &[u8]) -> (usize, Vec<u8>) {
    let Place { slot, found } = place(page, wanted);
    let above = slot + usize::from(found);
    if above == page.slots() {
        return (slot, separator(page, slot - 1, wanted));
    }
    let mut next = Vec::new();
    page.append_key(above, &mut next);
    next.truncate(common_prefix(wanted, &next) + 1);
    (above, next)
}

/// The shortest key that tells the record at `slot` of a leaf from the one before it.
fn separator_before(page: Page<'_>, slot: usize) -> Vec<u8> {
    let mut key = Vec::new();
    page.append_key(slot, &mut key);
    separator(page, slot - 1, &key)
}

/// Whether a leaf can be cut at `key`: it lies between the fences, and both halves have room for it as a fence.
#[must_use]
pub fn can_be_cut(page: Page<'_>, key: &[u8]) -> bool {
    let between = page.covers(key) && !page.begins_at(key);
    between && (takes_fence(page, key) || halves_fit(page, first_not_below(page, key), key))
}

/// Whether all entries of a node have room beside `key` in place of either fence. Then either half has, wherever the node is cut:
/// what is between nearer fences has no shorter prefix.
fn takes_fence(page: Page<'_>, key: &[u8]) -> bool {
    key.len() <= page.free() + page.low_len().min(page.high_len())
}

/// Whether both halves of a node that is cut before the slot `place` have room for `key` as a fence.
fn halves_fit(page: Page<'_>, place: usize, key: &[u8]) -> bool {
    if takes_fence(page, key) {
        return true;
    }
    let (low, high) = fences(page);
    let fits = |entries, low: &[u8], high: Option<&[u8]>| {
        let fences = low.len() + high.map_or(0, <[u8]>::len);
        HEADER_BYTES + fences + entries_bytes(page, entries, low, high) <= page.bytes()
    };
    fits(0..place, &low, Some(key)) && fits(place..page.slots(), key, high.as_deref())
}

/// The bytes that some of a node's entries take, with their slots, between the given fences.
fn entries_bytes(page: Page<'_>, entries: Range<usize>, low: &[u8], high: Option<&[u8]>) -> usize {
    let (own, prefix) = (page.prefix_len(), high.map_or(0, |high| common_prefix(low, high)));
    entries.map(|slot| page.entry_bytes(slot) + own - prefix).sum()
}

fn separator(page: Page<'_>, left: usize, right_key: &[u8]) -> Vec<u8> {
    let mut left_key = Vec::new();
    page.append_key(left, &mut left_key);
    right_key[..(common_prefix(&left_key, right_key) + 1).min(right_key.len())].to_vec()
}

/// Two neighbours as one node in the place of the left, if it takes both and stays at most `full` bytes full.
#[must_use]
pub fn joined(left: Page<'_>, right: Page<'_>, full: usize) -> Option<PageBuf> {
    let (low, _) = fences(left);
    let (separator, high) = fences(right);
    let mut entries: usize = [left, right]
        .iter()
        .map(|page| entries_bytes(*page, 0..page.slots(), &low, high.as_deref()))
        .sum();
    if left.kind() == Some(Kind::Inner) {
        // The right one's first child gets a key.
        entries += separator.len();
    }
    let high_len = high.as_ref().map_or(0, Vec::len);
    let kept = fence_room(left.bytes()).max(high_len);
    if HEADER_BYTES + low.len() + kept + entries > full {
        return None;
    }
    let mut buf = cut(left, 0..0, &low, high.as_deref());
    let mut scratch = Vec::new();
    buf.page_mut().append_entries(left, 0..left.slots(), &mut scratch);
    buf.page_mut().append_entries(right, 0..right.slots(), &mut scratch);
    Some(buf)
}

/// What [`pulled`] makes of two neighbouring leaves.
pub struct Pulled {
    /// The left one, fuller.
    pub left: PageBuf,
    /// The right one, without what has gone to the left.
    pub right: PageBuf,
    /// What separates them now.
    pub separator: Vec<u8>,
}

/// Two neighbouring leaves after the left has taken as many of the right one's first records as let it stay at most
/// `full` bytes full; none if it takes no record. The right one keeps one at least.
#[must_use]
pub fn pulled(left: Page<'_>, right: Page<'_>, full: usize) -> Option<Pulled> {
    let (low, _) = fences(left);
    let (_, high) = fences(right);
    let size = |fences: [&[u8]; 2], entries: usize| {
        let high_len = fences[1].len().max(fence_room(left.bytes()));
        HEADER_BYTES + fences[0].len() + high_len + entries
    };
    let takes = |count| {
        let separator = separator_before(right, count);
        let high = Some(separator.as_slice());
        let entries = entries_bytes(left, 0..left.slots(), &low, high)
            + entries_bytes(right, 0..count, &low, high);
        size([&low, &separator], entries) <= full
    };
    let (mut count, mut too_many) = (0, right.slots());
    while too_many - count > 1 {
        let middle = count.midpoint(too_many);
        if takes(middle) { count = middle } else { too_many = middle }
    }
    if count == 0 {
        return None;
    }
    let separator = separator_before(right, count);
    let kept = entries_bytes(right, count..right.slots(), &separator, high.as_deref());
    if size([&separator, high.as_deref().unwrap_or_default()], kept) > right.bytes() {
        return None;
    }
    let mut buf = cut(left, 0..0, &low, Some(&separator));
    let mut scratch = Vec::new();
    buf.page_mut().append_entries(left, 0..left.slots(), &mut scratch);
    buf.page_mut().append_entries(right, 0..count, &mut scratch);
    Some(Pulled { left: buf, right: kept_above(right, &separator, right.id()), separator })
}

/// How full a node is, in bytes without its header.
#[must_use]
pub fn used(page: Page<'_>) -> usize {
    (page.bytes() - HEADER_BYTES).saturating_sub(page.free())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Model = BTreeMap<Vec<u8>, (Lsn, Option<Vec<u8>>)>;

    fn leaf(bytes: usize, low: &[u8], high: Option<&[u8]>) -> PageBuf {
        let mut buf = PageBuf::new(bytes);
        buf.page_mut().format(Kind::Leaf, 0, PageId(9), TreeId(1));
        buf.page_mut().set_fences(low, high);
        buf
    }

    fn contents(page: Page<'_>) -> Model {
        (0..page.slots())
            .map(|slot| {
                let mut key = Vec::new();
                page.append_key(slot, &mut key);
                let value = page.value(slot);
                let mut bytes = Vec::new();
                racy::append(page.words(), value.at, value.len, &mut bytes);
                (key, (Lsn(page.entry_word(slot)), (!value.tombstone).then_some(bytes)))
            })
            .collect()
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(0u8..3, 0..6),
            prop::collection::vec(any::<u8>(), 0..40),
            (0u32..50).prop_map(|n| [&b"row/"[..], &n.to_be_bytes()].concat()),
        ]
        .prop_map(|tail| [&b"k"[..], &tail].concat())
    }

    proptest! {
        #[test]
        fn a_leaf_is_a_map(ops in prop::collection::vec(
            (key(), prop::option::of(prop::collection::vec(any::<u8>(), 0..200)), any::<bool>()), 1..200)) {
            let mut buf = leaf(4096, b"k", Some(b"l"));
            let mut model = Model::new();
            for (n, (key, value, remove)) in ops.iter().enumerate() {
                let lsn = Lsn(n as u64 + 1);
                let at = place(buf.page(), key);
                prop_assert_eq!(at.found, model.contains_key(key));
                for near in 0..buf.page().slots() + 3 {
                    prop_assert_eq!(place_near(buf.page(), key, [near, near / 2]), at);
                    if let Some((slot, found)) = buf.page().search_near(suffix(buf.page(), key), near) {
                        prop_assert_eq!(Place { slot, found }, at);
                    }
                    if near <= at.slot {
                        prop_assert_eq!(place_from(buf.page(), key, near), at);
                    }
                }
                if *remove && at.found {
                    buf.page_mut().remove(at.slot);
                    model.remove(key);
                } else if has_room(buf.page(), at, key, value.as_deref()) {
                    put(&mut buf.page_mut(), at, key, lsn, value.as_deref());
                    model.insert(key.clone(), (lsn, value.clone()));
                }
                buf.seal();
                buf.check(PageId(9)).unwrap();
                prop_assert!(room(buf.page()) <= 4096);
            }
            prop_assert_eq!(contents(buf.page()), model);
        }

        #[test]
        fn cutting_and_joining_lose_nothing(
            keys in prop::collection::btree_map(key(), prop::collection::vec(any::<u8>(), 0..60), 2..40),
            wanted in key(),
        ) {
            let mut buf = leaf(4096, b"k", Some(b"l"));
            for (n, (key, value)) in keys.iter().enumerate() {
                let at = place(buf.page(), key);
                if has_room(buf.page(), at, key, Some(value)) {
                    put(&mut buf.page_mut(), at, key, Lsn(n as u64 + 1), Some(value));
                }
            }
            let all = contents(buf.page());
            let at = cut_key(buf.page(), &wanted, &|_| true);
            let mut left = kept_below(buf.page(), &at);
            let mut right = kept_above(buf.page(), &at, PageId(10));
            left.seal();
            right.seal();
            left.check(PageId(9)).unwrap();
            right.check(PageId(10)).unwrap();
            let mut kept = PageBuf::copy_of(buf.page());
            let below = first_not_below(buf.page(), &at);
            if below > 0 && kept.page_mut().keep_in_place(below, &at) {
                kept.seal();
                kept.check(PageId(9)).unwrap();
                kept.page().check_layout().unwrap();
                prop_assert_eq!(contents(kept.page()), contents(left.page()));
                prop_assert_eq!(kept.page().free(), left.page().free());
                kept = PageBuf::copy_of(buf.page());
            }
            keep_below(&mut kept.page_mut(), &at);
            kept.seal();
            kept.check(PageId(9)).unwrap();
            prop_assert_eq!(contents(kept.page()), contents(left.page()));
            compact(&mut kept.page_mut());
            prop_assert_eq!(contents(kept.page()), contents(left.page()));
            prop_assert!(contents(left.page()).keys().all(|key| *key < at));
            prop_assert!(contents(right.page()).keys().all(|key| *key >= at));
            let mut both = contents(left.page());
            both.extend(contents(right.page()));
            prop_assert_eq!(&both, &all);
            let again = joined(left.page(), right.page(), 4096).expect("they came from one page");
            prop_assert_eq!(contents(again.page()), all);
            prop_assert!(again.page().covers(b"k") && !again.page().covers(b"l"));
        }
    }

    /// Lines of orders, as many as a leaf takes, and the next order's: cut before that one, whatever has been replaced before.
    #[test]
    fn a_leaf_that_grows_at_its_end_is_cut_in_its_place() {
        let line =
            |order: u32, line: u8| [&[0, 0, 0, 7, 3][..], &order.to_be_bytes(), &[line]].concat();
        for (first, low) in [(1000, line(1000, 1)), (70_000, line(70_000, 0)), (255, line(255, 3))]
        {
            for step in [1, 7, 300] {
                let mut buf = leaf(4096, &low, Some(&[0, 0, 0, 7, 4]));
                let mut order = first;
                let cut = 'full: loop {
                    for number in 3..8 {
                        let (key, value) =
                            (line(order, number), vec![number; 30 + number as usize]);
                        let at = place(buf.page(), &key);
                        if !has_room(buf.page(), at, &key, Some(&value)) {
                            break 'full cut_beside(buf.page(), &key).1;
                        }
                        put(&mut buf.page_mut(), at, &key, Lsn(u64::from(order)), Some(&value));
                        // An update that has to go elsewhere, for every other order.
                        if number == 3 && order % 2 == 0 {
                            let at = place(buf.page(), &key);
                            if has_room(buf.page(), at, &key, Some(&[1; 40])) {
                                put(&mut buf.page_mut(), at, &key, Lsn(1), Some(&[1; 40]));
                            }
                        }
                    }
                    order += step;
                };
                let left = kept_below(buf.page(), &cut);
                let mut kept = PageBuf::copy_of(buf.page());
                let below = first_not_below(buf.page(), &cut);
                let is_in_place = kept.page_mut().keep_in_place(below, &cut);
                let more = left.page().prefix_len() - buf.page().prefix_len();
                assert_eq!(is_in_place, cut.len() - 5 <= more * below.min(8));
                kept = PageBuf::copy_of(buf.page());
                keep_below(&mut kept.page_mut(), &cut);
                kept.seal();
                kept.check(PageId(9)).unwrap();
                kept.page().check_layout().unwrap();
                assert_eq!(fences(kept.page()), fences(left.page()));
                assert_eq!(kept.page().prefix_len(), left.page().prefix_len());
                assert_eq!(kept.page().free(), left.page().free());
                assert_eq!(contents(kept.page()), contents(left.page()));
                for (slot, key) in contents(left.page()).keys().enumerate() {
                    assert_eq!(place(kept.page(), key), Place { slot, found: true });
                }
            }
        }
    }

    #[test]
    fn the_longest_keys_leave_room_for_a_record_and_two_children() {
        for bytes in [4096, 8192, 16384, 32768] {
            let long = |first: u8| vec![first; key_bytes_max(bytes)];
            let value = vec![0; record_bytes_max(bytes) - key_bytes_max(bytes)];
            for high in [Some(long(9)), None] {
                let mut buf = leaf(bytes, &long(1), high.as_deref());
                let at = place(buf.page(), &long(2));
                assert!(has_room(buf.page(), at, &long(2), Some(&value)));
                put(&mut buf.page_mut(), at, &long(2), Lsn(1), Some(&value));
                // Either neighbour of the record is cut off from it.
                for wanted in [long(1), long(3)] {
                    let cut = cut_key(buf.page(), &wanted, &|page| is_alone(page, &wanted));
                    assert!(halves_fit(buf.page(), usize::from(wanted > long(2)), &cut));
                }
            }
            let mut inner = PageBuf::new(bytes);
            inner.page_mut().format(Kind::Inner, 1, PageId(9), TreeId(1));
            inner.page_mut().set_fences(&long(1), Some(&long(9)));
            for n in 1..3 {
                let key = if n == 1 { Vec::new() } else { long(n) };
                assert!(room(inner.page()) >= child_bytes(key.len()));
                inner.page_mut().insert_child(
                    usize::from(n) - 1,
                    &key,
                    Child::unseen(PageId(u32::from(n))).word(),
                );
            }
            for (key, page) in [(1, 1), (2, 2), (3, 2)] {
                let slot = child_slot(inner.page(), &long(key));
                assert_eq!(child(inner.page(), slot).page, PageId(page));
            }
            let mut first = Vec::new();
            inner.page().append_key(0, &mut first);
            assert_eq!(first, long(1));
            let left = kept_below(inner.page(), &long(2));
            let right = kept_above(inner.page(), &long(2), PageId(10));
            for half in [&left, &right] {
                assert!(room(half.page()) >= child_bytes(key_bytes_max(bytes)));
            }
            let again = joined(left.page(), right.page(), bytes).expect("it was one node");
            assert_eq!(child(again.page(), child_slot(again.page(), &long(2))).page, PageId(2));
        }
    }
}
