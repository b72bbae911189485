//! Counter-based random numbers: any row can be generated alone, by any thread, with the same bits.
//!
//! The finaliser and the increment are SplitMix64's: G. Steele, D. Lea, C. Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014, with the constants of S. Vigna's public-domain
//! `splitmix64.c`.

pub(crate) const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finaliser: a bijection of 64 bits without visible structure.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a stream of numbers is for, so that no two uses of one row share their numbers.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(super) enum Purpose {
    Lengths = 1,
    Columns,
    Values,
    Edges,
}

/// A stream of numbers that depends on seed, purpose and index alone.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let stream = mix(seed.wrapping_add(GOLDEN_GAMMA.wrapping_mul(purpose as u64)));
        Random(mix(stream ^ index.wrapping_mul(GOLDEN_GAMMA)))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix(self.0)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A matrix value: uniform in [1/16, 1] with either sign, so that none is lost in a 16-bit type.
    pub(super) fn value(&mut self) -> f64 {
        let bits = self.bits();
        let magnitude = (bits >> 11) as f64 * (0.9375 / (1u64 << 53) as f64) + 0.0625;
        if bits & 1 == 0 { magnitude } else { -magnitude }
    }
}

/// A seed of its own for every class, so that classes with equal figures are different matrices.
pub(super) fn class_seed(name: &str, seed: u64) -> u64 {
    name.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte)))
}

/// A pseudo-random bijection of `0..size`: which rank in the order of lengths each row has.
///
/// A Feistel network of four rounds over the next even number of bits, repeated until it lands inside
/// (J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", 2002).
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    size: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    pub(super) fn new(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, Purpose::Lengths, 0);
        let size = size as u64;
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        Permutation { size, half_bits, keys: std::array::from_fn(|_| random.bits()) }
    }

    /// Where `index`, which must be below the size, goes.
    pub(super) fn apply(&self, index: usize) -> usize {
        debug_assert!((index as u64) < self.size);
        let mask = (1u64 << self.half_bits) - 1;
        let mut at = index as u64;
        loop {
            let (mut left, mut right) = (at >> self.half_bits, at & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            at = left << self.half_bits | right;
            if at < self.size {
                return at as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_hits_every_index_once() {
        for size in [1, 2, 3, 17, 256, 1000] {
            let permutation = Permutation::new(size, 7);
            let mut hit: Vec<usize> = (0..size).map(|i| permutation.apply(i)).collect();
            hit.sort_unstable();
            assert!(hit.into_iter().eq(0..size), "size {size}");
        }
    }

    #[test]
    fn values_are_neither_tiny_nor_above_one_and_take_both_signs() {
        let mut random = Random::new(1, Purpose::Values, 3);
        let values: Vec<f64> = (0..10_000).map(|_| random.value()).collect();
        assert!(values.iter().all(|v| (0.0625..=1.0).contains(&v.abs())));
        let mean = values.iter().sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.03, "{mean}");
    }

    #[test]
    fn streams_of_neighbouring_rows_and_purposes_differ() {
        let first = |purpose, row| Random::new(1, purpose, row).bits();
        assert_ne!(first(Purpose::Values, 0), first(Purpose::Values, 1));
        assert_ne!(first(Purpose::Values, 0), first(Purpose::Columns, 0));
        assert_ne!(class_seed("dc1", 1), class_seed("dc2", 1));
    }
}
