//! Pages: a header of 64 bytes that says whose they are and how new, and a checksum over all of it.
//!
//! ```text
//!  0  crc32c u32 · kind u8 · level u8 · flags u8 · format u8      32  structure LSN u64
//!  8  page id u32 · slots u16 · heap start u16                    40  change counter u64
//! 16  tree u64                                                    48  garbage u16 · prefix u16 · low u16 · high u16
//! 24  page LSN u64                                                56  page bytes u32 · 0 u32
//! ```
//!
//! *Page LSN*: the newest record applied to the page. Log records become durable whole, so the page may be written once
//! the log is durable *past* this LSN. It is a maximum and no version: commits are applied out of order.
//! *Structure LSN*: the last structure record, which are applied in order. *Change counter*: grows with every change of
//! a record; with the structure LSN it names a state of the page.
//!
//! The same code reads a page in the pool and a private copy; only [`PageMut`] writes, and it is handed out by those
//! who have the page to themselves: the exclusive latch's guard, and the owner of a [`PageBuf`].

pub mod huge;
pub mod racy;
pub mod slotted;

use crate::{Error, Lsn, PageId, Result, TreeId};
use racy::Words;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// The format of every page, in its header.
pub const FORMAT: u8 = 1;
/// The smallest and the largest page, in bytes.
pub const PAGE_BYTES: std::ops::RangeInclusive<u32> = 4096..=32768;

const HIGH_IS_INFINITE: u8 = 1;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Records of a tree.
    Leaf = 1,
    /// Separators and children of a tree.
    Inner = 2,
    /// Owners of extents.
    Map = 3,
}

/// A view of a page, shared or private. What it says of a shared page is to be validated before it is believed.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    words: &'a Words,
}

impl<'a> Page<'a> {
    /// A view of `words`.
    #[inline(always)]
    #[must_use]
    pub fn new(words: &'a Words) -> Page<'a> {
        Page { words }
    }

    /// The words themselves.
    #[inline(always)]
    #[must_use]
    pub fn words(self) -> &'a Words {
        self.words
    }

    /// The size, in bytes.
    #[inline(always)]
    #[must_use]
    pub fn bytes(self) -> usize {
        self.words.len() * 8
    }

    /// What it is; none for a page that was never written.
    #[must_use]
    pub fn kind(self) -> Option<Kind> {
        match (racy::word(self.words, 0) >> 32) as u8 {
            1 => Some(Kind::Leaf),
            2 => Some(Kind::Inner),
            3 => Some(Kind::Map),
            _ => None,
        }
    }

    /// The height above the leaves.
    #[inline(always)]
    #[must_use]
    pub fn level(self) -> u8 {
        (racy::word(self.words, 0) >> 40) as u8
    }

    /// Where in the data file it belongs.
    #[must_use]
    pub fn id(self) -> PageId {
        PageId(racy::word(self.words, 8) as u32)
    }

    /// Whose it is.
    #[must_use]
    pub fn tree(self) -> TreeId {
        TreeId(racy::word(self.words, 16))
    }

    /// The newest record applied.
    #[must_use]
    pub fn lsn(self) -> Lsn {
        Lsn(racy::word(self.words, 24))
    }

    /// The last structure record applied.
    #[inline(always)]
    #[must_use]
    pub fn structure_lsn(self) -> Lsn {
        Lsn(racy::word(self.words, 32))
    }

    /// How often a record has changed.
    #[inline(always)]
    #[must_use]
    pub fn changes(self) -> u64 {
        racy::word(self.words, 40)
    }

    /// The slot of the last record inserted, and how many before it went right behind one another. A hint, never logged.
    #[must_use]
    pub fn insert_run(self) -> (usize, usize) {
        let word = racy::word(self.words, 56);
        ((word >> 32) as u16 as usize, (word >> 48) as usize)
    }
}

/// A page that its holder may change, because nobody else can.
#[derive(Debug)]
pub struct PageMut<'a> {
    page: Page<'a>,
}

impl<'a> PageMut<'a> {
    /// The right to change `words`. The caller holds the exclusive latch of their frame, or owns them.
    pub(crate) fn new(words: &'a Words) -> PageMut<'a> {
        PageMut { page: Page::new(words) }
    }

    /// The page to read.
    #[inline(always)]
    #[must_use]
    pub fn page(&self) -> Page<'a> {
        self.page
    }

    /// Notes that the record at `lsn` has been applied.
    pub fn raise_lsn(&mut self, lsn: Lsn) {
        if self.page.lsn() < lsn {
            racy::set_word(self.page.words, 24, lsn.0);
        }
    }

    /// Notes that the structure record at `lsn` has been applied.
    pub fn set_structure_lsn(&mut self, lsn: Lsn) {
        racy::set_word(self.page.words, 32, lsn.0);
        self.raise_lsn(lsn);
    }

    /// Notes that a record has changed.
    pub fn count_change(&mut self) {
        racy::set_word(self.page.words, 40, self.page.changes() + 1);
    }

    /// Notes that a record was inserted at `slot`, where `before` was noted last.
    pub fn note_insert(&mut self, slot: usize, before: (usize, usize)) {
        let run = if slot == before.0 + 1 { (before.1 + 1).min(usize::from(u16::MAX)) } else { 0 };
        let size = racy::word(self.page.words, 56) & 0xFFFF_FFFF;
        racy::set_word(
            self.page.words,
            56,
            size | (slot as u64 & 0xFFFF) << 32 | (run as u64) << 48,
        );
    }

    /// Forgets where records were inserted.
    pub(crate) fn forget_inserts(&mut self) {
        let size = racy::word(self.page.words, 56) & 0xFFFF_FFFF;
        racy::set_word(self.page.words, 56, size);
    }

    /// Takes over every byte of `other`.
    pub fn copy_from(&mut self, other: Page<'_>) {
        racy::copy_page(other.words, self.page.words);
    }

    /// Makes all of it zeros.
    pub fn blank(&mut self) {
        self.page.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Makes it an empty page: header only.
    pub fn format(&mut self, kind: Kind, level: u8, id: PageId, tree: TreeId) {
        let words = self.page.words;
        for at in (0..HEADER_BYTES).step_by(8) {
            racy::set_word(words, at, 0);
        }
        let what = [kind as u8, level, 0, FORMAT];
        racy::set_word(words, 0, u64::from(u32::from_le_bytes(what)) << 32);
        racy::set_word(words, 8, u64::from(id.0) | (self.page.bytes() as u64) << 48);
        racy::set_word(words, 16, tree.0);
        racy::set_word(words, 56, self.page.bytes() as u64);
    }
}

/// A private page: a scratch to build on, and what is handed to the disk.
#[derive(Debug)]
pub struct PageBuf {
    words: Box<[AtomicU64]>,
}

impl PageBuf {
    /// Zeros.
    #[must_use]
    pub fn new(page_bytes: usize) -> PageBuf {
        PageBuf { words: zeroed(page_bytes / 8) }
    }

    /// A page whose bytes stand elsewhere.
    ///
    /// # Errors
    /// [`Error::CorruptLog`] if they are not as many as a page has.
    pub fn from_bytes(bytes: &[u8], page_bytes: usize) -> Result<PageBuf> {
        if bytes.len() != page_bytes {
            return Err(Error::CorruptLog("the copy of a page has another size".to_owned()));
        }
        let mut buf = PageBuf::new(page_bytes);
        buf.bytes_mut().copy_from_slice(bytes);
        Ok(buf)
    }

    /// A copy of a page that cannot change meanwhile, or is validated afterwards.
    #[must_use]
    pub fn copy_of(page: Page<'_>) -> PageBuf {
        // Not zeros first, which each word would be written over.
        let words = page.words.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed)));
        PageBuf { words: words.collect() }
    }

    /// The page to read.
    #[must_use]
    pub fn page(&self) -> Page<'_> {
        Page::new(&self.words)
    }

    /// The page to change.
    pub fn page_mut(&mut self) -> PageMut<'_> {
        PageMut::new(&self.words)
    }

    /// Its bytes, as they lie on disk.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.words.len() * 8;
        // SAFETY: the words are borrowed exclusively, and every bit pattern is a valid byte and a valid word.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast::<u8>(), len) }
    }

    /// Puts the checksum in, and returns the bytes to write.
    pub fn seal(&mut self) -> &[u8] {
        let bytes = self.bytes_mut();
        let crc = crc32c::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Checks what was read from the place of page `id`: checksum, identity, and that nothing in it points outside.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn check(&mut self, id: PageId) -> Result<()> {
        let bytes = self.bytes_mut();
        let crc = crc32c::crc32c(&bytes[4..]);
        if bytes[..4] != crc.to_le_bytes() {
            return Err(Error::Corrupt(id, "its checksum does not match"));
        }
        check_header(self.page(), id).map_err(|what| Error::Corrupt(id, what))
    }
}

/// The page that `bytes` say that they are.
///
/// # Errors
/// [`Error::CorruptLog`] if they are too few to say so.
pub fn id_of(bytes: &[u8]) -> Result<PageId> {
    let id = bytes.get(8..12).and_then(|id| id.try_into().ok());
    let id = id.ok_or_else(|| Error::CorruptLog("the copy of a page is cut off".to_owned()))?;
    Ok(PageId(u32::from_le_bytes(id)))
}

/// Whether `bytes` are what was once written for page `id`: the question after a crash that may have torn it.
#[must_use]
pub fn is_whole(id: PageId, bytes: &[u8]) -> bool {
    crc32c::crc32c(&bytes[4..]).to_le_bytes() == bytes[..4] && bytes[8..12] == id.0.to_le_bytes()
}

/// Whether a page that passes its checksum is what `id` names, and can be walked without leaving it.
fn check_header(page: Page<'_>, id: PageId) -> std::result::Result<(), &'static str> {
    if (racy::word(page.words, 0) >> 56) as u8 != FORMAT {
        return Err("it has another format");
    }
    if page.id() != id {
        return Err("it is another page");
    }
    if racy::word(page.words, 56) as u32 as usize != page.bytes() {
        return Err("it was made for another page size");
    }
    match page.kind() {
        None => Err("it is of no known kind"),
        Some(Kind::Map) => Ok(()),
        Some(Kind::Leaf | Kind::Inner) => page.check_slots(),
    }
}

/// Memory for `words` words, all zero; the system hands it out when it is first touched.
#[must_use]
pub fn zeroed(words: usize) -> Box<[AtomicU64]> {
    let words = vec![0u64; words].into_boxed_slice();
    let raw = Box::into_raw(words) as *mut [AtomicU64];
    // SAFETY: the memory came from a box, and an atomic word has the layout of a plain one.
    unsafe { Box::from_raw(raw) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_and_a_wrong_place_are_found() {
        let mut buf = PageBuf::new(4096);
        buf.page_mut().format(Kind::Leaf, 0, PageId(7), TreeId(3));
        buf.seal();
        buf.check(PageId(7)).unwrap();
        assert!(matches!(buf.check(PageId(8)), Err(Error::Corrupt(_, "it is another page"))));
        for at in [0, 5, 8, 40, 2000, 4095] {
            buf.bytes_mut()[at] ^= 0x10;
            assert!(buf.check(PageId(7)).is_err(), "byte {at}");
            buf.bytes_mut()[at] ^= 0x10;
        }
        buf.check(PageId(7)).unwrap();
    }

    #[test]
    fn any_bytes_under_a_good_checksum_are_walked_without_panic() {
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut buf = PageBuf::new(4096);
            buf.page_mut().format(Kind::Leaf, 0, PageId(7), TreeId(3));
            for _ in 0..40 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = 4 + (state >> 33) as usize % 200;
                buf.bytes_mut()[at] = (state >> 24) as u8;
            }
            buf.seal();
            if buf.check(PageId(7)).is_ok() {
                let page = buf.page();
                for slot in 0..page.slots() {
                    let mut key = Vec::new();
                    page.append_key(slot, &mut key);
                    assert!(page.search(&key).0 <= page.slots());
                }
            }
        }
    }
}
