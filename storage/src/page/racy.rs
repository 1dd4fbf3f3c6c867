//! Racy access to the bytes of a page: words, read and written with relaxed atomic operations.
//!
//! An optimistic reader copies from a page while a writer may be changing it, and validates the latch's version
//! afterwards (Boehm, *Can Seqlocks Get Along With Programming Language Memory Models?*, MSPC 2012). For that to be
//! defined at all both sides have to be atomic, so every access to page memory goes through here, word by word, and
//! **no `&[u8]` of a shared page is ever made by a reader**. A torn read may yield any bytes, therefore:
//!
//! 1. Reads never panic: what lies outside of the page reads as zero.
//! 2. Nothing read is believed before the version has been validated.
//! 3. Writers hold the exclusive latch or own the page alone; their stores are relaxed as well, and it is the latch
//!    that orders them.
//!
//! Cost: a relaxed load of an aligned word is a plain load. Bytes at an unaligned place take two loads and two shifts, or
//! what comes to the same: where one instruction reads eight bytes wherever they begin, that is taken. The language
//! has no atomic of a word that is not aligned, so it is said in assembly.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const _: () =
    assert!(cfg!(target_endian = "little"), "pages hold little-endian words as they lie in memory");

/// The words of one page.
pub type Words = [AtomicU64];

/// The aligned word that holds byte `at`; zero outside of the page.
#[inline(always)]
pub fn word(words: &Words, at: usize) -> u64 {
    words.get(at >> 3).map_or(0, |word| word.load(Relaxed))
}

/// Eight bytes from `at` on, in little-endian order; what lies outside of the page is zero.
#[inline(always)]
pub fn load(words: &Words, at: usize) -> u64 {
    match (at >> 3) + 1 < words.len() {
        true => load_inside(words, at),
        // Of the last word what lies behind it is zero.
        false => word(words, at) >> ((at & 7) * 8),
    }
}

/// Eight bytes from `at` on, which two words of the page hold.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn load_inside(words: &Words, at: usize) -> u64 {
    let (base, bytes): (*const AtomicU64, u64);
    base = words.as_ptr();
    // SAFETY: both words lie within the slice, as the caller has looked. It reads what two relaxed loads of them would: eight
    // bytes, any of which may be those of another state, as those of two loads may.
    unsafe {
        std::arch::asm!(
            "mov {bytes}, qword ptr [{base} + {at}]",
            base = in(reg) base,
            at = in(reg) at,
            bytes = lateout(reg) bytes,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    bytes
}

/// Eight bytes from `at` on, which two words of the page hold.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn load_inside(words: &Words, at: usize) -> u64 {
    let (shift, first) = ((at & 7) * 8, at >> 3);
    let [low, high] = [&words[first], &words[first + 1]];
    // Of an aligned word all bits of the next one are shifted out.
    low.load(Relaxed) >> shift | high.load(Relaxed) << 1 << (63 - shift)
}

/// Two bytes from `at` on.
#[inline(always)]
pub fn load_u16(words: &Words, at: usize) -> u16 {
    load(words, at) as u16
}

/// Up to eight bytes of a key as a number whose order is the order of the bytes; short ones are padded with zeros.
#[inline(always)]
pub fn key_chunk(bytes: &[u8]) -> u64 {
    if let Some(chunk) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*chunk);
    }
    let end = 64 - 8 * bytes.len() as u32;
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two overlap, and agree where they do.
        let last = u64::from(u32::from_be_bytes(*last)) << end;
        return u64::from(u32::from_be_bytes(*first)) << 32 | last;
    }
    bytes.iter().fold(0, |chunk, byte| chunk << 8 | u64::from(*byte)).checked_shl(end).unwrap_or(0)
}

/// The first eight of the `len` bytes of a key at `at`, as [`key_chunk`] makes them.
#[inline(always)]
pub fn load_chunk(words: &Words, at: usize, len: usize) -> u64 {
    let chunk = load(words, at).swap_bytes();
    if len >= 8 { chunk } else { chunk & !(u64::MAX >> (len * 8)) }
}

/// Whether `bytes` lie at `at`.
#[inline(always)]
pub fn is_at(words: &Words, at: usize, bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<8>() else {
        return key_chunk(bytes) == load_chunk(words, at, bytes.len());
    };
    let is = |chunk: &[u8; 8], at| u64::from_le_bytes(*chunk) == load(words, at);
    let mut chunks = bytes.as_chunks::<8>().0.iter().enumerate();
    chunks.all(|(number, chunk)| is(chunk, at + number * 8)) && is(last, at + bytes.len() - 8)
}

/// Compares `bytes` with the `len` bytes that lie at `at`.
#[inline]
pub fn compare(words: &Words, at: usize, len: usize, bytes: &[u8]) -> Order {
    let common = &bytes[..len.min(bytes.len())];
    let Some(last) = common.last_chunk::<8>() else {
        let theirs = load_chunk(words, at, common.len());
        return key_chunk(common).cmp(&theirs).then(bytes.len().cmp(&len));
    };
    let against = |chunk: &[u8; 8], at| (u64::from_be_bytes(*chunk), load(words, at).swap_bytes());
    for (number, chunk) in common.as_chunks::<8>().0.iter().enumerate() {
        let (ours, theirs) = against(chunk, at + number * 8);
        if ours != theirs {
            return ours.cmp(&theirs);
        }
    }
    // What is left ends with the last eight bytes, those of which that have been compared are the same.
    let (ours, theirs) = against(last, at + common.len() - 8);
    ours.cmp(&theirs).then(bytes.len().cmp(&len))
}

/// Appends the `len` bytes at `at` to `into`. A length that no page has is a torn read and is cut.
#[inline]
pub fn append(words: &Words, at: usize, len: usize, into: &mut Vec<u8>) {
    let len = len.min(words.len() * 8);
    let begin = into.len();
    into.resize(begin + len, 0);
    let target = &mut into[begin..];
    let shift = (at & 7) * 8;
    let source = words.get(at >> 3..).unwrap_or_default();
    let (chunks, rest) = target.as_chunks_mut::<8>();
    if shift == 0 {
        for (chunk, word) in chunks.iter_mut().zip(source) {
            *chunk = word.load(Relaxed).to_le_bytes();
        }
    } else {
        let mut low = source.first().map_or(0, |word| word.load(Relaxed));
        for (chunk, word) in chunks.iter_mut().zip(source.get(1..).unwrap_or_default()) {
            let high = word.load(Relaxed);
            *chunk = (low >> shift | high << (64 - shift)).to_le_bytes();
            low = high;
        }
    }
    if !rest.is_empty() {
        let left = rest.len();
        rest.copy_from_slice(&load(words, at + len - left).to_le_bytes()[..left]);
    }
}

/// Copies of parts of pages. Each lies within its words as it does on its page, so that whole words are copied, and
/// nothing has to be shifted.
#[derive(Debug, Default)]
pub struct Copies {
    /// The first `used` bytes are copies; the rest is kept from earlier ones.
    bytes: Vec<u8>,
    used: usize,
}

impl Copies {
    /// Forgets all copies, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Copies the `len` bytes at `at` behind `front`, and gives where in [`Copies::bytes`] the two begin. None if the
    /// page has no such bytes, which is a torn read.
    #[inline]
    pub fn take(&mut self, words: &Words, at: usize, len: usize, front: &[u8]) -> Option<usize> {
        let source = words.get(at / 8..(at.checked_add(len)?).div_ceil(8))?;
        let begin = self.used + front.len().next_multiple_of(8);
        let end = begin + source.len() * 8;
        if end > self.bytes.len() {
            self.grow(end);
        }
        self.used = end;
        copy_out(source, &mut self.bytes[begin..end]);
        let start = begin + at % 8 - front.len();
        if !front.is_empty() {
            self.bytes[start..start + front.len()].copy_from_slice(front);
        }
        Some(start)
    }

    /// Takes other bytes for the only copy, which begins at 0.
    pub fn set(&mut self, bytes: &[u8]) {
        self.used = bytes.len();
        if self.used > self.bytes.len() {
            self.grow(self.used);
        }
        self.bytes[..bytes.len()].copy_from_slice(bytes);
    }

    /// How many bytes it has memory for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// All copies.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    #[cold]
    fn grow(&mut self, to: usize) {
        self.bytes.resize(to.next_power_of_two().max(64), 0);
    }
}

/// How many words are copied at once.
const BLOCK: usize = 8;

/// Copies words to as many bytes, a block at a time.
#[inline]
fn copy_out(source: &Words, target: &mut [u8]) {
    let (blocks, rest) = source.as_chunks::<BLOCK>();
    let (front, behind) = target.as_chunks_mut::<8>().0.split_at_mut(blocks.len() * BLOCK);
    for (block, to) in blocks.iter().zip(front.as_chunks_mut::<BLOCK>().0) {
        copy_block(block, to);
    }
    for (from, to) in rest.iter().zip(behind) {
        *to = from.load(Relaxed).to_le_bytes();
    }
}

/// Copies a block to bytes that are nobody else's.
#[inline(always)]
fn copy_block(from: &[AtomicU64; BLOCK], to: &mut [[u8; 8]; BLOCK]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: these are as many bytes, borrowed exclusively.
    unsafe {
        move_block(from, to.as_mut_ptr().cast())
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for (from, to) in from.iter().zip(to) {
        *to = from.load(Relaxed).to_le_bytes();
    }
}

/// Copies a block to words of a page, which may be some of its own: all of it is read before any of it is written.
#[inline(always)]
fn store_block(from: &[AtomicU64; BLOCK], to: &[AtomicU64; BLOCK]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: these are as many bytes, and may be written by who shares them.
    unsafe {
        move_block(from, to.as_ptr().cast_mut().cast())
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for (word, to) in from.each_ref().map(|word| word.load(Relaxed)).into_iter().zip(to) {
        to.store(word, Relaxed);
    }
}

/// Moves a block: two words at a time, by instructions that read and write sixteen bytes.
///
/// # Safety
/// As many bytes from `to` on may be written, as by relaxed stores.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn move_block(from: &[AtomicU64; BLOCK], to: *mut u8) {
    // SAFETY: it reads what relaxed loads of these words would, and writes what the caller may.
    unsafe {
        std::arch::asm!(
            "movdqu {a}, xmmword ptr [{from}]",
            "movdqu {b}, xmmword ptr [{from} + 16]",
            "movdqu {c}, xmmword ptr [{from} + 32]",
            "movdqu {d}, xmmword ptr [{from} + 48]",
            "movdqu xmmword ptr [{to}], {a}",
            "movdqu xmmword ptr [{to} + 16], {b}",
            "movdqu xmmword ptr [{to} + 32], {c}",
            "movdqu xmmword ptr [{to} + 48], {d}",
            from = in(reg) from,
            to = in(reg) to,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// Writes the aligned word at `at`. The caller has the page to itself.
#[inline(always)]
pub fn set_word(words: &Words, at: usize, value: u64) {
    words[at >> 3].store(value, Relaxed);
}

/// Moves the `count` aligned words from `at` on up by one. The caller has the page to itself.
#[inline]
pub fn move_up(words: &Words, at: usize, count: usize) {
    let moved = &words[at >> 3..][..count + 1];
    let mut left = count;
    while left >= BLOCK {
        left -= BLOCK;
        store_block(of_block(moved, left), of_block(moved, left + 1));
    }
    for pair in moved[..=left].windows(2).rev() {
        pair[1].store(pair[0].load(Relaxed), Relaxed);
    }
}

/// Moves the `count` aligned words behind the one at `at` down by one, over it. The caller has the page to itself.
#[inline]
pub fn move_down(words: &Words, at: usize, count: usize) {
    let moved = &words[at >> 3..][..count + 1];
    let mut done = 0;
    while count - done >= BLOCK {
        store_block(of_block(moved, done + 1), of_block(moved, done));
        done += BLOCK;
    }
    for pair in moved[done..].windows(2) {
        pair[0].store(pair[1].load(Relaxed), Relaxed);
    }
}

/// The block of words that begins there.
#[inline(always)]
fn of_block(words: &Words, at: usize) -> &[AtomicU64; BLOCK] {
    words[at..].first_chunk().expect("the block lies within the words")
}

/// Writes eight bytes from `at` on, in little-endian order. The caller has the page to itself.
#[inline]
pub fn store_u64(words: &Words, at: usize, value: u64) {
    assert!(at + 8 <= words.len() * 8, "the bytes lie within the page");
    store_inside(words, at, value);
}

/// Writes eight bytes from `at` on, which words of the page hold.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn store_inside(words: &Words, at: usize, value: u64) {
    let base: *const AtomicU64 = words.as_ptr();
    // SAFETY: the bytes lie within the slice, as the caller has looked. It writes what relaxed stores of the words that hold them
    // would, of which a reader may see one and not yet the other, and leaves the other bytes of these words as they are.
    unsafe {
        std::arch::asm!(
            "mov qword ptr [{base} + {at}], {value}",
            base = in(reg) base,
            at = in(reg) at,
            value = in(reg) value,
            options(nostack, preserves_flags)
        );
    }
}

/// Writes eight bytes from `at` on, which words of the page hold.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn store_inside(words: &Words, at: usize, value: u64) {
    let shift = (at & 7) * 8;
    if shift == 0 {
        return set_word(words, at, value);
    }
    let [low, high] = [&words[at >> 3], &words[(at >> 3) + 1]];
    low.store(low.load(Relaxed) & !(u64::MAX << shift) | value << shift, Relaxed);
    high.store(high.load(Relaxed) & u64::MAX << shift | value >> (64 - shift), Relaxed);
}

/// Writes `bytes` at `at`. The caller has the page to itself.
#[inline]
pub fn store(words: &Words, at: usize, bytes: &[u8]) {
    let Some(last) = bytes.last_chunk::<8>() else {
        return store_few(words, at, bytes.len(), little(bytes));
    };
    assert!(at + bytes.len() <= words.len() * 8, "the bytes lie within the page");
    for (number, chunk) in bytes.as_chunks::<8>().0.iter().enumerate() {
        store_inside(words, at + number * 8, u64::from_le_bytes(*chunk));
    }
    // What is left ends with the last eight bytes, those of which that have been written are written again.
    store_inside(words, at + bytes.len() - 8, u64::from_le_bytes(*last));
}

/// Writes two bytes at `at`. The caller has the page to itself.
#[inline]
pub fn store_u16(words: &Words, at: usize, value: u16) {
    store_few(words, at, 2, u64::from(value));
}

/// Writes the lowest `count` bytes of a number, fewer than eight: eight of the page, of which the others are as they were.
#[inline]
fn store_few(words: &Words, at: usize, count: usize, value: u64) {
    let place = at.min(words.len() * 8 - 8);
    let shift = (at - place) * 8;
    assert!(shift + 8 * count <= 64, "the bytes lie within the page");
    if count > 0 {
        let mask = ((1 << (8 * count)) - 1) << shift;
        store_inside(words, place, load(words, place) & !mask | value << shift & mask);
    }
}

/// Fewer than eight bytes as a number, the first the lowest.
#[inline(always)]
fn little(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two overlap, and agree where they do.
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4));
        return u64::from(u32::from_le_bytes(*first)) | last;
    }
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Copies the `len` bytes at `from` in `source` to `to` in `target`, a different page.
pub fn copy(source: &Words, from: usize, target: &Words, to: usize, len: usize) {
    // Up to a word's end in the target, then whole words of it, then what is left.
    let mut done = (to.wrapping_neg() & 7).min(len);
    store_few(target, to, done, load(source, from));
    let whole = (len - done) / 8;
    let (words, shift) = (&target[(to + done) >> 3..][..whole], ((from + done) & 7) * 8);
    let read = source.get((from + done) >> 3..).unwrap_or_default();
    if shift == 0 {
        for (word, from) in words.iter().zip(read) {
            word.store(from.load(Relaxed), Relaxed);
        }
    } else {
        let mut low = read.first().map_or(0, |word| word.load(Relaxed));
        for (word, from) in words.iter().zip(read.get(1..).unwrap_or_default()) {
            let high = from.load(Relaxed);
            word.store(low >> shift | high << (64 - shift), Relaxed);
            low = high;
        }
    }
    done += whole * 8;
    store_few(target, to + done, len - done, load(source, from + done));
}

/// Copies a whole page.
pub fn copy_page(source: &Words, target: &Words) {
    assert_eq!(source.len(), target.len(), "pages of one data file have one size");
    let ((blocks, rest), (to, behind)) = (source.as_chunks::<BLOCK>(), target.as_chunks::<BLOCK>());
    for (block, to) in blocks.iter().zip(to) {
        store_block(block, to);
    }
    for (from, to) in rest.iter().zip(behind) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(bytes: usize) -> Vec<AtomicU64> {
        (0..bytes / 8).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn what_lies_outside_reads_as_zero() {
        let words = page(64);
        store(&words, 60, &[1, 2, 3, 4]);
        assert_eq!(load(&words, 60), 0x0403_0201);
        assert_eq!(load(&words, 1 << 20), 0);
        let mut into = Vec::new();
        append(&words, 63, usize::MAX >> 1, &mut into);
        assert_eq!(into.len(), 64);
        let mut copies = Copies::default();
        assert_eq!(copies.take(&words, 60, 5, b""), None);
        assert_eq!(copies.take(&words, usize::MAX, 5, b""), None);
        assert_eq!(copies.take(&words, 60, 4, b""), Some(4));
    }

    #[test]
    fn words_move_like_an_array() {
        for count in 0..40 {
            for first in 0..3 {
                let words = page(512);
                for (number, word) in words.iter().enumerate() {
                    word.store(number as u64, Relaxed);
                }
                let mut model: Vec<u64> = (0..64).collect();
                let numbers = || words.iter().map(|word| word.load(Relaxed)).collect::<Vec<_>>();
                move_up(&words, first * 8, count);
                model.copy_within(first..first + count, first + 1);
                assert_eq!(numbers(), model);
                move_down(&words, (first + 2) * 8, count);
                model.copy_within(first + 3..first + 3 + count, first + 2);
                assert_eq!(numbers(), model);
            }
        }
        let (words, other) = (page(136), page(136));
        words.iter().enumerate().for_each(|(number, word)| word.store(number as u64, Relaxed));
        copy_page(&words, &other);
        assert_eq!(word(&other, 128), 16);
        assert!((0..17).all(|at| word(&other, at * 8) == at as u64));
    }

    proptest! {
        #[test]
        fn stores_and_loads_like_an_array(
            writes in prop::collection::vec((0usize..128, prop::collection::vec(any::<u8>(), 0..64)), 1..20),
            probes in prop::collection::vec((0usize..128, prop::collection::vec(any::<u8>(), 0..20)), 1..20),
        ) {
            let words = page(256);
            let mut model = [0u8; 256];
            for (at, bytes) in &writes {
                store(&words, *at, bytes);
                model[*at..*at + bytes.len()].copy_from_slice(bytes);
            }
            for (at, probe) in &probes {
                let mut copied = Vec::new();
                append(&words, *at, probe.len(), &mut copied);
                prop_assert_eq!(&copied, &model[*at..*at + probe.len()]);
                let mut copies = Copies::default();
                let first = copies.take(&words, *at, probe.len(), b"").expect("it is on the page");
                let second = copies.take(&words, *at, probe.len(), b"in front").expect("it is, too");
                for len in 1..12 {
                    let front = &b"before it all"[..len];
                    let third = copies.take(&words, *at, probe.len(), front).expect("so it is");
                    prop_assert_eq!(&copies.bytes()[third..][..len], front);
                    prop_assert_eq!(&copies.bytes()[third + len..][..probe.len()], copied.as_slice());
                }
                prop_assert_eq!(&copies.bytes()[first..][..probe.len()], copied.as_slice());
                prop_assert_eq!(&copies.bytes()[second..][..8], b"in front");
                prop_assert_eq!(&copies.bytes()[second + 8..][..probe.len()], copied.as_slice());
                if let Some(two) = probe.first_chunk::<2>() {
                    let (one, other) = (page(256), page(256));
                    store(&one, *at, two);
                    store_u16(&other, *at, u16::from_le_bytes(*two));
                    let all = |page: &[AtomicU64]| (0..32).map(|at| word(page, at * 8)).collect::<Vec<_>>();
                    prop_assert_eq!(all(&one), all(&other));
                }
                if let Some(eight) = probe.first_chunk::<8>() {
                    let (one, other) = (page(256), page(256));
                    store(&one, *at, eight);
                    store_u64(&other, *at, u64::from_le_bytes(*eight));
                    let all = |page: &[AtomicU64]| (0..32).map(|at| word(page, at * 8)).collect::<Vec<_>>();
                    prop_assert_eq!(all(&one), all(&other));
                }
                let stored = &model[*at..*at + probe.len().min(9)];
                prop_assert_eq!(compare(&words, *at, stored.len(), probe), probe.as_slice().cmp(stored));
                prop_assert_eq!(load_chunk(&words, *at, stored.len()), key_chunk(stored));
                let mut padded = stored.to_vec();
                padded.resize(stored.len().max(8), 0);
                let chunk = key_chunk(stored).to_be_bytes();
                prop_assert_eq!(&chunk[..], &padded[..8]);
                let other = page(256);
                for to in 3..12 {
                    store(&other, 0, &[7; 64]);
                    copy(&words, *at, &other, to, probe.len());
                    let mut copied = Vec::new();
                    append(&other, 0, 64, &mut copied);
                    let mut wanted = [7; 64];
                    wanted[to..to + probe.len()].copy_from_slice(&model[*at..*at + probe.len()]);
                    prop_assert_eq!(&copied, &wanted);
                }
            }
        }
    }
}
