//! Chance as TPC-C wants it: uniform and non-uniform numbers (clause 2.1.6), last names (clause 4.3.2.3), strings.

/// The syllables of last names.
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The constants C of NURand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Of last names.
    pub last_name: u32,
    /// Of customers.
    pub customer: u32,
    /// Of items.
    pub item: u32,
}

/// The constants of the population.
pub const LOAD: Constants = Constants { last_name: 91, customer: 259, item: 7911 };
/// The constants of a run. Clause 2.1.6.1 bounds how far the one of last names lies from the population's.
pub const RUN: Constants = Constants { last_name: 170, customer: 987, item: 2345 };

/// A sequence of numbers that its seed decides (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of `from..=to`, all alike.
    pub fn uniform(&mut self, from: u32, to: u32) -> u32 {
        let span = u64::from(to - from) + 1;
        // The high half of a product: free of the low bits' habits, and of a division.
        from + ((u128::from(self.next()) * u128::from(span)) >> 64) as u32
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.uniform(1, 100) <= percent
    }

    /// NURand(A, x, y) with the constant `c`.
    pub fn non_uniform(&mut self, a: u32, c: u32, from: u32, to: u32) -> u32 {
        ((self.uniform(0, a) | self.uniform(from, to)) + c) % (to - from + 1) + from
    }

    /// The number of a last name, at most `max`.
    pub fn last_name_number(&mut self, constants: &Constants, max: u32) -> u32 {
        self.non_uniform(255, constants.last_name, 0, max)
    }

    /// A customer's number.
    pub fn customer(&mut self, constants: &Constants, customers: u32) -> u32 {
        self.non_uniform(1023, constants.customer, 1, customers)
    }

    /// An item's number.
    pub fn item(&mut self, constants: &Constants, items: u32) -> u32 {
        self.non_uniform(8191, constants.item, 1, items)
    }

    /// Appends letters and digits, at least `from` and at most `to`.
    pub fn letters(&mut self, from: u32, to: u32, out: &mut Vec<u8>) {
        for _ in 0..self.uniform(from, to) {
            out.push(LETTERS[self.uniform(0, LETTERS.len() as u32 - 1) as usize]);
        }
    }

    /// Appends `count` digits.
    pub fn digits(&mut self, count: u32, out: &mut Vec<u8>) {
        for _ in 0..count {
            out.push(b'0' + self.uniform(0, 9) as u8);
        }
    }

    /// Appends a text of 26 to 50 characters that, in one of ten cases, holds the word ORIGINAL.
    pub fn data(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        self.letters(26, 50, out);
        if self.chance(10) {
            let room = (out.len() - start - 8) as u32;
            let at = start + self.uniform(0, room) as usize;
            out[at..at + 8].copy_from_slice(b"ORIGINAL");
        }
    }

    /// Shuffles (Fisher and Yates).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.uniform(0, last as u32) as usize);
        }
    }
}

/// The last name with this number, which has at most three digits.
#[must_use]
pub fn last_name(number: u32) -> String {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize]).concat()
}

#[cfg(test)]
mod tests {
    use super::{LOAD, RUN, Random, last_name};

    #[test]
    fn last_names_are_those_of_the_standard() {
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn the_constants_are_as_far_apart_as_the_standard_wants() {
        let delta = RUN.last_name.abs_diff(LOAD.last_name);
        assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
        for constants in [LOAD, RUN] {
            assert!(constants.last_name <= 255 && constants.customer <= 1023);
            assert!(constants.item <= 8191);
        }
    }

    #[test]
    fn uniform_numbers_reach_both_ends_and_no_further() {
        let mut random = Random::new(1);
        let mut seen = [0; 6];
        for _ in 0..6000 {
            seen[random.uniform(5, 10) as usize - 5] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
    }

    #[test]
    fn non_uniform_numbers_stay_in_bounds_and_prefer_some() {
        let mut random = Random::new(2);
        let mut seen = vec![0u32; 3001];
        for _ in 0..300_000 {
            seen[random.customer(&RUN, 3000) as usize] += 1;
        }
        assert_eq!(seen[0], 0);
        // Numbers with few bits set are rare, but few are so rare as not to come in a hundred times as many draws.
        assert!(seen[1..].iter().filter(|&&count| count == 0).count() < 100);
        // The bits of A are set with a chance of three in four, so the busiest are far above the mean of 100.
        let mut busiest = seen;
        busiest.sort_unstable();
        assert!(busiest[3000] > 800, "{}", busiest[3000]);
        for _ in 0..10_000 {
            assert!(random.last_name_number(&RUN, 999) <= 999);
            assert!((1..=100_000).contains(&random.item(&RUN, 100_000)));
        }
    }

    #[test]
    fn strings_have_their_lengths() {
        let mut random = Random::new(3);
        let mut originals = 0;
        for _ in 0..1000 {
            let mut text = Vec::new();
            random.data(&mut text);
            assert!((26..=50).contains(&text.len()));
            originals += u32::from(text.windows(8).any(|part| part == b"ORIGINAL"));
            text.clear();
            random.letters(3, 4, &mut text);
            random.digits(5, &mut text);
            assert!((8..=9).contains(&text.len()));
        }
        assert!((60..150).contains(&originals), "{originals}");
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut all: Vec<u32> = (0..100).collect();
        Random::new(4).shuffle(&mut all);
        assert!(all.windows(2).any(|pair| pair[0] > pair[1]));
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}
