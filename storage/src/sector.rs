//! Sealed sectors: what a file of the engine says of itself in one sector, which a device writes as a whole or not at all.
//!
//! A sector begins with its *magic*, eight bytes that say what it is; fields follow without gaps, little endian, and behind them a
//! crc32c of everything before. What does not check is no such sector: one that was torn, or never written.
//!
//! ```text
//! 0  magic   8  fields: u64 or u32 each   n  u32 crc32c of bytes 0..n   zeros to the end
//! ```

use crate::device::SECTOR_BYTES;

/// Bytes of a magic.
const MAGIC_BYTES: usize = 8;
/// Bytes of the checksum.
const CRC_BYTES: usize = 4;

/// A sector that is being filled.
pub(crate) struct Sector {
    bytes: [u8; SECTOR_BYTES],
    at: usize,
}

impl Sector {
    /// With a magic and no fields.
    pub(crate) fn new(magic: &[u8; MAGIC_BYTES]) -> Sector {
        let mut bytes = [0; SECTOR_BYTES];
        bytes[..MAGIC_BYTES].copy_from_slice(magic);
        Sector { bytes, at: MAGIC_BYTES }
    }

    fn put(mut self, field: &[u8]) -> Sector {
        self.bytes[self.at..self.at + field.len()].copy_from_slice(field);
        self.at += field.len();
        self
    }

    /// With a field of eight bytes more.
    pub(crate) fn word(self, value: u64) -> Sector {
        self.put(&value.to_le_bytes())
    }

    /// With a field of four bytes more.
    pub(crate) fn half(self, value: u32) -> Sector {
        self.put(&value.to_le_bytes())
    }

    /// Its bytes, under their checksum.
    pub(crate) fn seal(self) -> [u8; SECTOR_BYTES] {
        let crc = crc32c::crc32c(&self.bytes[..self.at]);
        self.half(crc).bytes
    }
}

/// The fields of a sector, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    /// Of a sector with this magic whose fields have so many bytes; none if `bytes` does not begin with such a sector, whole.
    pub(crate) fn open(
        bytes: &'b [u8],
        magic: &[u8; MAGIC_BYTES],
        field_bytes: usize,
    ) -> Option<Fields<'b>> {
        let (checked, behind) = bytes.split_at_checked(MAGIC_BYTES + field_bytes)?;
        let whole = checked.starts_with(magic)
            && behind.get(..CRC_BYTES)? == crc32c::crc32c(checked).to_le_bytes();
        whole.then_some(Fields(&checked[MAGIC_BYTES..]))
    }

    /// The same, whether it checks or not: for who has to say what it is that does not. None if it is too short.
    pub(crate) fn unchecked(bytes: &'b [u8]) -> Option<Fields<'b>> {
        bytes.get(MAGIC_BYTES..).map(Fields)
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) =
            self.0.split_first_chunk().expect("a sector has the fields it was opened for");
        self.0 = rest;
        *field
    }

    /// The next field, of eight bytes.
    pub(crate) fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// The next field, of four bytes.
    pub(crate) fn half(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Sector};
    use proptest::prelude::*;

    const MAGIC: &[u8; 8] = b"ATOLLXX1";

    proptest! {
        /// What is sealed is read again, and by nobody else; of a sector that has been changed anywhere nothing is.
        #[test]
        fn a_sealed_sector_is_read_whole_or_not_at_all(a: u64, b: u32, c: u64, at in 0..32usize, bit in 0..8u32) {
            let sealed = Sector::new(MAGIC).word(a).half(b).word(c).seal();
            let mut fields = Fields::open(&sealed, MAGIC, 20).expect("it is whole");
            prop_assert_eq!((fields.word(), fields.half(), fields.word()), (a, b, c));
            prop_assert!(Fields::open(&sealed, b"ATOLLXX2", 20).is_none());
            prop_assert!(Fields::open(&sealed[..31], MAGIC, 20).is_none());
            let mut torn = sealed;
            torn[at] ^= 1 << bit;
            prop_assert!(Fields::open(&torn, MAGIC, 20).is_none());
        }
    }
}
