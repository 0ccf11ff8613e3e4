//! Makes random values with delimiters and escapes, as hostile clients send them.
#![allow(dead_code, reason = "each test uses a part of this module")]

pub mod cases;
pub mod lines;
#[cfg(feature = "html")]
pub mod links;

pub use lines::FRAGMENTS;

/// A generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Returns a value made of a few fragments, without the bytes of `without`.
    pub fn value(&mut self, without: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        for _ in 0..self.below(5) {
            value.extend_from_slice(self.pick(FRAGMENTS));
        }
        value.retain(|byte| !without.contains(byte));
        value
    }
}
