//! The hash of a record's name. Folded multiplication (as in wyhash), eight bytes at a step, from a seed: fast on keys of
//! 8 to 40 bytes. Not stored anywhere.
//!
//! Where transactions share what is hashed into (the record table, spilled runs) the seed is random, so that nobody outside
//! can aim at a bucket. The filter of a write set, which one transaction has for itself, has none,
//! and takes two words of a key for all of it.

use storage::TreeId;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of (tree, key).
pub fn hash(seed: u64, tree: TreeId, key: &[u8]) -> u64 {
    let mut state = fold(tree.0 ^ seed, MULTIPLIER) ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    for word in words {
        state = fold(state ^ u64::from_le_bytes(*word), MULTIPLIER ^ seed);
    }
    fold(state ^ little(rest), MULTIPLIER ^ seed.rotate_left(32))
}

/// A hash of the first and the last eight bytes of a key, and of its tree: for who may take two keys for one.
#[inline]
pub fn brief(tree: TreeId, key: &[u8]) -> u64 {
    let (first, last) = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (little(key), key.len() as u64),
    };
    fold(first ^ tree.0.wrapping_mul(MULTIPLIER), last ^ MULTIPLIER)
}

/// Whether two keys are the same; those of up to sixteen bytes by words that overlap in the middle.
#[inline(always)]
pub fn same(one: &[u8], other: &[u8]) -> bool {
    let len = one.len();
    if len != other.len() {
        return false;
    }
    match (one.first_chunk::<8>(), other.first_chunk::<8>(), one.last_chunk(), other.last_chunk()) {
        (Some(first), Some(same), Some(last), Some(also)) if len <= 16 => {
            let of = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
            (of(first) ^ of(same)) | (of(last) ^ of(also)) == 0
        }
        _ => one == other,
    }
}

/// Fewer than eight bytes as a number, the first the lowest.
#[inline]
pub(super) fn little(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two overlap, and agree where they do.
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4));
        return u64::from(u32::from_le_bytes(*first)) | last;
    }
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::{hash, little, same};
    use storage::TreeId;

    #[test]
    fn what_is_left_of_a_key_is_read_as_if_zeros_followed() {
        for len in 0..8 {
            let (bytes, mut padded) = ([1, 2, 3, 4, 5, 6, 7], [0; 8]);
            padded[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(little(&bytes[..len]), u64::from_le_bytes(padded));
        }
    }

    #[test]
    fn keys_are_the_same_where_their_bytes_are() {
        let key: Vec<u8> = (0..40).collect();
        for len in 0..=key.len() {
            let own = &key[..len];
            assert!(same(own, own));
            assert!(!same(own, &key[..len.saturating_sub(1)]) || len == 0);
            for at in 0..len {
                let mut other = own.to_vec();
                other[at] ^= 1;
                assert!(!same(own, &other), "{at} of {len}");
            }
        }
    }

    #[test]
    fn keys_spread_over_buckets() {
        let mut buckets = vec![0u32; 1024];
        for key in 0..10_240u32 {
            buckets[hash(7, TreeId(3), &key.to_be_bytes()) as usize % 1024] += 1;
        }
        assert!(buckets.iter().all(|count| *count < 40), "{:?}", buckets.iter().max());
        assert_ne!(hash(7, TreeId(3), b"a"), hash(7, TreeId(3), b"a\0"));
        assert_ne!(hash(7, TreeId(3), b"a"), hash(7, TreeId(4), b"a"));
    }
}
