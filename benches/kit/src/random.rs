//! Generates pseudo-random numbers.

/// A generator of pseudo-random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator whose sequence depends on `seed` alone.
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

    /// Returns a number below `bound`, which must be below 2^32.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product is close enough to uniform for bounds this small.
        let high = (self.next() >> 32) * bound as u64;
        (high >> 32) as usize
    }

    /// Returns true with a probability of `times` in a million.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(1_000_000) < times
    }

    /// Returns one of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
