//! How a record stands in the log, and how the end of the log is recognised.
//!
//! ```text
//! 0   u32  length: header and payload, without padding; never zero
//! 4   u32  crc32c of the payload (not of a void record), begun with a digest of LSN, epoch, kind and length
//! 8   u8   kind          9  three zero bytes          12  u32  restart epoch
//! 16  payload, then zeros up to a multiple of eight
//! ```
//!
//! All numbers are little-endian. The first eight bytes are one word: a record is published by storing that word, so
//! it is either complete or absent. The checksum covers where the record stands and in which epoch it was written, so
//! neither the former contents of a recycled segment nor a tail that an earlier restart gave up is ever taken for a
//! record (PostgreSQL, *Write-Ahead Logging*, guards the first by `xl_prev`, the second not at all).

use super::RecordKind;
use crate::Lsn;

/// Bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 16;
/// Records begin at multiples of this many bytes.
pub(crate) const ALIGNMENT: usize = 8;
/// What a record takes beside its payload, at most.
pub(crate) const OVERHEAD_BYTES: u64 = (HEADER_BYTES + ALIGNMENT) as u64;

/// What the log takes for a record of `payload` bytes.
pub(crate) fn span(payload: usize) -> u64 {
    (HEADER_BYTES + payload).next_multiple_of(ALIGNMENT) as u64
}

/// The two words before a record's payload.
pub(crate) fn header(lsn: Lsn, epoch: u32, kind: RecordKind, payload: &[u8]) -> [u64; 2] {
    debug_assert_ne!(kind, RecordKind::VOID, "a void record has no payload to cover");
    words(lsn, epoch, kind, HEADER_BYTES + payload.len(), payload)
}

/// The two words of a record that only keeps the place of `payload` bytes.
pub(crate) fn void_header(lsn: Lsn, epoch: u32, payload: usize) -> [u64; 2] {
    words(lsn, epoch, RecordKind::VOID, HEADER_BYTES + payload, &[])
}

fn words(lsn: Lsn, epoch: u32, kind: RecordKind, length: usize, covered: &[u8]) -> [u64; 2] {
    let crc = checksum(lsn, epoch, kind, length as u32, covered);
    [length as u64 | u64::from(crc) << 32, u64::from(kind.0) | u64::from(epoch) << 32]
}

/// A checksum that begins with the record's place: for one payload it is a bijection of that beginning, so two places
/// are told apart as well as two payloads are. One pass over the payload, no second over a buffer for the place.
fn checksum(lsn: Lsn, epoch: u32, kind: RecordKind, length: u32, payload: &[u8]) -> u32 {
    let rest = u64::from(length) | u64::from(epoch) << 32;
    let mut place = lsn.0 ^ u64::from(kind.0) << 56;
    // Two rounds of SplitMix64's finaliser: every bit of the place reaches every bit of the digest.
    for word in [rest, 0] {
        place = (place ^ (place >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ word;
        place = (place ^ (place >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    }
    crc32c::crc32c_append((place >> 32) as u32, payload)
}

/// The length word of a record that has been published, with its end; none for a word that is still zero.
pub(crate) fn sealed_span(word: u64) -> Option<u64> {
    let length = word as u32 as usize;
    (length != 0).then(|| length.next_multiple_of(ALIGNMENT) as u64)
}

/// What the first bytes of a record say about it, unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Header and payload, in bytes.
    pub(crate) length: usize,
    crc: u32,
    pub(crate) kind: RecordKind,
    epoch: u32,
}

impl Header {
    /// Reads a header, if it can be one: a length within `limit` bytes, and the epoch that is expected here.
    pub(crate) fn parse(bytes: &[u8], epoch: u32, limit: u64) -> Option<Header> {
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().expect("four bytes were asked for")))
        };
        let (length, crc, kind, written) = (word(0)? as usize, word(4)?, word(8)?, word(12)?);
        let kind_alone = u8::try_from(kind).ok()?;
        let fits = length >= HEADER_BYTES && length as u64 <= limit;
        let header = Header { length, crc, kind: RecordKind(kind_alone), epoch: written };
        (fits && written == epoch).then_some(header)
    }

    /// What the log takes for the record.
    pub(crate) fn span(&self) -> u64 {
        self.length.next_multiple_of(ALIGNMENT) as u64
    }

    /// Whether `payload` is what was written with this header at `lsn`.
    pub(crate) fn matches(&self, lsn: Lsn, payload: &[u8]) -> bool {
        let covered = if self.kind == RecordKind::VOID { &[][..] } else { payload };
        self.crc == checksum(lsn, self.epoch, self.kind, self.length as u32, covered)
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER_BYTES, Header, header, sealed_span, span};
    use crate::Lsn;
    use crate::wal::RecordKind;
    use proptest::prelude::*;

    fn bytes(lsn: Lsn, epoch: u32, kind: RecordKind, payload: &[u8]) -> Vec<u8> {
        let words = header(lsn, epoch, kind, payload);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend_from_slice(payload);
        bytes
    }

    /// What the first version of the format has for this record.
    const GOLDEN: u32 = 0xA295_63E3;

    #[test]
    fn the_frame_is_as_the_format_says() {
        let bytes = bytes(Lsn(0x1000), 3, RecordKind(65), b"abc");
        assert_eq!(bytes[..4], [19, 0, 0, 0]);
        assert_eq!(bytes[8..], [65, 0, 0, 0, 3, 0, 0, 0, b'a', b'b', b'c']);
        assert_eq!(
            bytes[4..8],
            GOLDEN.to_le_bytes(),
            "the format has changed: it needs a new version"
        );
        assert_eq!((span(0), span(1), span(8)), (16, 24, 24));
    }

    proptest! {
        #[test]
        fn a_record_is_taken_only_where_and_as_it_was_written(
            lsn in 1u64..1 << 40, epoch in 1u32..9, payload in proptest::collection::vec(any::<u8>(), 0..200),
            flip in any::<proptest::sample::Index>(), bit in 0u8..8,
        ) {
            let lsn = Lsn(lsn * 8);
            let kind = RecordKind(64);
            let mut bytes = bytes(lsn, epoch, kind, &payload);
            let accepted = |bytes: &[u8], lsn: Lsn, epoch: u32| {
                Header::parse(bytes, epoch, bytes.len() as u64)
                    .is_some_and(|h| h.length == bytes.len() && h.matches(lsn, &bytes[HEADER_BYTES..]))
            };
            prop_assert!(accepted(&bytes, lsn, epoch));
            prop_assert!(!accepted(&bytes, lsn.advance(8), epoch));
            prop_assert!(!accepted(&bytes, lsn, epoch + 1));
            let word = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            prop_assert_eq!(sealed_span(word), Some(span(payload.len())));
            let at = flip.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(!accepted(&bytes, lsn, epoch));
        }

        #[test]
        fn arbitrary_bytes_are_no_record(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(header) = Header::parse(&bytes, 7, bytes.len() as u64) {
                prop_assert!(!header.matches(Lsn(64), &bytes[HEADER_BYTES..header.length]));
            }
        }
    }
}
