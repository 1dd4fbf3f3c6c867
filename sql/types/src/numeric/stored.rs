//! The stored form of a numeric: what tuples, arrays and datums hold.
//!
//! Two bytes of head, then for finite values two bytes of weight and two bytes for each base-10⁴ digit, all little-endian.
//! The head's two high bits are the kind (0 positive, 1 negative, 2 special); below are the display scale, or which special
//! value it is. There is one form for each value and scale: no zero digits at either end, and zero has weight 0. It is
//! PostgreSQL's long form in a fixed byte order.

use super::decimal::Decimal;
use bumpalo::Bump;
use std::cmp::Ordering;

const SPECIAL: u16 = 2 << 14;
const NEGATIVE: u16 = 1 << 14;
const SCALE: u16 = (1 << 14) - 1;

/// NaN, stored.
pub const NAN: &[u8] = &SPECIAL.to_le_bytes();
/// Infinity, stored.
pub const INFINITY: &[u8] = &(SPECIAL | 1).to_le_bytes();
/// -Infinity, stored.
pub const NEGATIVE_INFINITY: &[u8] = &(SPECIAL | 2).to_le_bytes();
/// 0, stored.
pub const ZERO: &[u8] = &[0, 0, 0, 0];

/// A stored numeric, looked at in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// NaN: equal to itself, greater than all others.
    Nan,
    /// Infinity.
    Infinity,
    /// -Infinity.
    NegativeInfinity,
    /// A number.
    Finite(Finite<'a>),
}

/// The finite ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finite<'a> {
    /// Below zero.
    pub negative: bool,
    /// Decimals shown.
    pub scale: u16,
    /// The power of 10⁴ of the first digit.
    pub weight: i16,
    digits: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at stored bytes. Bytes that no numeric is stored as read as NaN.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> View<'a> {
        let Some((head, rest)) = bytes.split_first_chunk::<2>() else { return View::Nan };
        let head = u16::from_le_bytes(*head);
        if head & SPECIAL != 0 {
            return match head & 3 {
                1 => View::Infinity,
                2 => View::NegativeInfinity,
                _ => View::Nan,
            };
        }
        let Some((weight, digits)) = rest.split_first_chunk::<2>() else { return View::Nan };
        View::Finite(Finite {
            negative: head & NEGATIVE != 0,
            scale: head & SCALE,
            weight: i16::from_le_bytes(*weight),
            digits,
        })
    }

    /// The finite number; none for NaN and the infinities.
    #[must_use]
    pub fn finite(self) -> Option<Finite<'a>> {
        match self {
            View::Finite(finite) => Some(finite),
            View::Nan | View::Infinity | View::NegativeInfinity => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            View::NegativeInfinity => 0,
            View::Finite(_) => 1,
            View::Infinity => 2,
            View::Nan => 3,
        }
    }

    /// PostgreSQL's order: -Infinity, numbers, Infinity, NaN. Scales do not count.
    #[must_use]
    pub fn compare(&self, other: &View<'_>) -> Ordering {
        match (self, other) {
            (View::Finite(a), View::Finite(b)) => a.compare(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Finite<'_> {
    /// How many base-10⁴ digits there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.digits.len() / 2
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.digits.len() < 2
    }

    /// The base-10⁴ digits, most significant first.
    pub fn digits(&self) -> impl DoubleEndedIterator<Item = u16> + ExactSizeIterator + '_ {
        self.digits.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
    }

    /// The same number, owned.
    #[must_use]
    pub fn to_decimal(&self) -> Decimal {
        Decimal {
            negative: self.negative,
            weight: i32::from(self.weight),
            scale: i32::from(self.scale),
            digits: self.digits().collect(),
        }
    }

    fn compare(&self, other: &Finite<'_>) -> Ordering {
        let sign = |f: &Finite<'_>| if f.is_empty() { 0 } else { 1 - 2 * i32::from(f.negative) };
        let (mine, theirs) = (sign(self), sign(other));
        if mine != theirs || mine == 0 {
            return mine.cmp(&theirs);
        }
        // A missing digit at the end is a zero, and no stored number ends in one: the longer is the greater.
        let magnitude =
            self.weight.cmp(&other.weight).then_with(|| self.digits().cmp(other.digits()));
        if mine < 0 { magnitude.reverse() } else { magnitude }
    }
}

/// A numeric that is not stored yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// NaN.
    Nan,
    /// Infinity.
    Infinity,
    /// -Infinity.
    NegativeInfinity,
    /// A number.
    Finite(Decimal),
}

impl From<View<'_>> for Number {
    fn from(view: View<'_>) -> Number {
        match view {
            View::Nan => Number::Nan,
            View::Infinity => Number::Infinity,
            View::NegativeInfinity => Number::NegativeInfinity,
            View::Finite(finite) => Number::Finite(finite.to_decimal()),
        }
    }
}

impl Number {
    /// The stored form, in the arena.
    #[must_use]
    pub fn store<'a>(&self, arena: &'a Bump) -> &'a [u8] {
        match self {
            Number::Nan => NAN,
            Number::Infinity => INFINITY,
            Number::NegativeInfinity => NEGATIVE_INFINITY,
            Number::Finite(decimal) => decimal.store(arena),
        }
    }
}

/// The head of a finite number.
pub(super) fn head(negative: bool, scale: u16) -> u16 {
    scale | if negative { NEGATIVE } else { 0 }
}

impl Decimal {
    /// The stored form, in the arena. The number must be in normal form and within numeric's limits, as every
    /// operation leaves it ([`Decimal::checked`]).
    #[must_use]
    pub fn store<'a>(&self, arena: &'a Bump) -> &'a [u8] {
        let scale = u16::try_from(self.scale).expect("scales are limited to 16383");
        let weight = i16::try_from(self.weight).expect("weights are limited to 32767");
        let out = arena.alloc_slice_fill_copy(4 + 2 * self.digits.len(), 0u8);
        out[..2].copy_from_slice(&head(self.negative, scale).to_le_bytes());
        out[2..4].copy_from_slice(&weight.to_le_bytes());
        for (place, digit) in out[4..].chunks_exact_mut(2).zip(&self.digits) {
            place.copy_from_slice(&digit.to_le_bytes());
        }
        out
    }
}
