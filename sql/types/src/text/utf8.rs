//! Bytes as text.
//!
//! Nearly all texts of a database are short and ASCII, which eight bytes at a time tell; what is neither is the library's to
//! check, which looks at each byte of a text of less than 64.

/// The highest bit of each byte.
const HIGHEST: u64 = 0x8080_8080_8080_8080;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// From so many bytes on the library looks at many of them at a time.
const LONG: usize = 64;

/// These bytes, where they are UTF-8.
#[must_use]
#[inline]
pub fn utf8(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < LONG && over_words(bytes, |word| word) & HIGHEST == 0 {
        return Some(ascii(bytes));
    }
    simdutf8::basic::from_utf8(bytes).ok()
}

/// These bytes, where they are short, ASCII, and none of them is NUL; nothing where they have to be looked at one by one.
#[must_use]
#[inline]
pub fn plain_ascii(bytes: &[u8]) -> Option<&str> {
    // Of bytes below 128 only one that is 0, or stands behind such, has its highest bit set when 1 is taken off.
    let seen = |word: u64| word | word.wrapping_sub(ONES);
    (bytes.len() < LONG && over_words(bytes, seen) & HIGHEST == 0).then(|| ascii(bytes))
}

/// What `seen` says of the bytes, eight at a time, each of them in one word at least and no other beside them, in one word.
#[inline(always)]
fn over_words(bytes: &[u8], seen: impl Fn(u64) -> u64) -> u64 {
    let Some(last) = bytes.last_chunk::<8>() else {
        let few = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            // Behind the bytes stands what is neither NUL nor above 127.
            _ => bytes.iter().fold(ONES, |few, byte| few << 8 | u64::from(*byte)),
        };
        return seen(few);
    };
    let (words, _) = bytes.as_chunks::<8>();
    let words = words.iter().fold(0, |all, word| all | seen(u64::from_le_bytes(*word)));
    words | seen(u64::from_le_bytes(*last))
}

/// Bytes that have been seen to be ASCII.
#[inline(always)]
fn ascii(bytes: &[u8]) -> &str {
    debug_assert!(bytes.is_ascii());
    // SAFETY: both callers have looked at every byte, and none has its highest bit set: ASCII is UTF-8.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

#[cfg(test)]
mod tests {
    use super::{plain_ascii, utf8};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn says_what_the_library_says(
            mut bytes in prop::collection::vec(1..128_u8, 0..80),
            other in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            if let (Some((at, byte)), false) = (other, bytes.is_empty()) {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            prop_assert_eq!(utf8(&bytes), std::str::from_utf8(&bytes).ok());
            let plain = bytes.len() < super::LONG && bytes.iter().all(|byte| (1..128).contains(byte));
            prop_assert_eq!(plain_ascii(&bytes).is_some(), plain);
        }

        #[test]
        fn reads_what_is_no_ascii(text in "\\PC{0,40}") {
            prop_assert_eq!(utf8(text.as_bytes()), Some(&*text));
        }
    }
}
