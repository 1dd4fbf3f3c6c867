//! Chance from a seed: the same seed gives the same choices, so a failure can be replayed by its number.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014):
//! eight instructions, every seed good, no state but a counter. It is not for secrets.

/// A stream of pseudorandom numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: u64) -> u64 {
        assert_ne!(end, 0, "there is no number below zero");
        // The high half of a product: no division, and a bias below 2^-32 for the ranges used here.
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// True `chances` times in a hundred.
    pub fn percent(&mut self, chances: u64) -> bool {
        self.below(100) < chances
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_seed_repeats_itself_and_differs_from_its_neighbour() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..8).map(|_| chance.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn every_number_below_the_end_comes_up() {
        let mut chance = Chance::new(1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[chance.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }
}
