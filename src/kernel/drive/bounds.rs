//! The ends of values in an input: of one value that is the whole input, or of a batch of adjacent values.

use crate::kernel::ends::Follow;

/// The ends of the values in an input. See [`Follow`] for the methods. For a single value they do nothing, so the compiler
/// removes the calls.
pub(super) trait Bounds {
    /// Whether there may be ends inside the input.
    const MANY: bool;

    /// Returns the lanes of the next block that are the last two before an end.
    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, _lanes: usize, _padding: usize) -> u64 {
        0
    }

    /// Records the next block.
    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, _written: usize, _mask: u64, _padding: usize) {}

    /// Computes the ends in the output, after the last block.
    #[cfg_attr(optimized, inline(always))]
    fn finish<const BY: isize>(&mut self, _written: usize, _lanes: usize) {}
}

/// The bounds of a single value, which ends where the input ends.
pub(super) struct Single;

impl Bounds for Single {
    const MANY: bool = false;
}

impl Bounds for Follow<'_> {
    const MANY: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, lanes: usize, padding: usize) -> u64 {
        Follow::cut(self, lanes, padding)
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, written: usize, mask: u64, padding: usize) {
        Follow::settle(self, written, mask, padding);
    }

    #[cfg_attr(optimized, inline(always))]
    fn finish<const BY: isize>(&mut self, written: usize, lanes: usize) {
        Follow::finish::<BY>(self, written, lanes);
    }
}
