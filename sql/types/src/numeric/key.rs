//! An order-preserving encoding of numerics: bytes that compare as the numbers do.
//!
//! One byte of class (-Infinity, negative, zero, positive, Infinity, NaN); for the two in the middle the weight, biased,
//! and each base-10⁴ digit plus one, big-endian, ended by two zero bytes. A negative number's bytes behind the class are
//! inverted. Equal numbers with different display scales have the same key: the scale is not in it, so a value cannot
//! be had back from its key alone.

use super::stored::View;

/// Appends the key of a stored numeric.
pub fn encode(stored: &[u8], out: &mut Vec<u8>) {
    match View::of(stored) {
        View::NegativeInfinity => out.push(1),
        View::Infinity => out.push(5),
        View::Nan => out.push(6),
        View::Finite(number) if number.is_empty() => out.push(3),
        View::Finite(number) => {
            out.push(if number.negative { 2 } else { 4 });
            let invert = if number.negative { 0xffff } else { 0 };
            let mut put = |word: u16| out.extend_from_slice(&(word ^ invert).to_be_bytes());
            put((number.weight as u16) ^ 0x8000);
            number.digits().for_each(|digit| put(digit + 1));
            put(0);
        }
    }
}

/// How many bytes the key at the front of `bytes` has; none if there is no key.
#[must_use]
pub fn length(bytes: &[u8]) -> Option<usize> {
    let end: &[u8] = match bytes.first()? {
        1 | 3 | 5 | 6 => return Some(1),
        2 => &[0xff, 0xff],
        4 => &[0, 0],
        _ => return None,
    };
    let digits = bytes.get(3..)?.chunks_exact(2);
    digits.enumerate().find(|(_, pair)| *pair == end).map(|(count, _)| 5 + 2 * count)
}

#[cfg(test)]
mod tests {
    use super::super::text::read;
    use super::*;
    use bumpalo::Bump;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[0-9]{1,12}(\\.[0-9]{1,9})?",
            "-?0\\.0{0,6}[0-9]{1,3}",
            Just("NaN".to_owned()),
            Just("Infinity".to_owned()),
            Just("-Infinity".to_owned()),
        ]
    }

    proptest! {
        #[test]
        fn keys_compare_as_numbers(a in number(), b in number()) {
            let arena = Bump::new();
            let a = read(&a, -1).expect("a number").store(&arena);
            let b = read(&b, -1).expect("a number").store(&arena);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            encode(a, &mut x);
            encode(b, &mut y);
            prop_assert_eq!(x.cmp(&y), View::of(a).compare(&View::of(b)));
            prop_assert_eq!(length(&x), Some(x.len()));
            let both = [x.as_slice(), y.as_slice()].concat();
            prop_assert_eq!(length(&both), Some(x.len()));
        }
    }
}
