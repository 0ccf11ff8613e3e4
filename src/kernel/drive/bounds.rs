//! Where values end: one value that is the whole input, or many that lie one after the other.

use crate::kernel::ends::Follow;

/// The ends of values; see [`Follow`] for what is asked of it. The compiler drops what is done for one value.
pub(super) trait Bounds {
    /// Whether there may be ends.
    const MANY: bool;

    /// The lanes of the next block that are the last two before an end.
    #[inline(always)]
    fn cut(&self, _lanes: usize, _missing: usize) -> u64 {
        0
    }

    /// Hears of the next block.
    #[inline(always)]
    fn settle(&mut self, _written: usize, _mask: u64, _missing: usize) {}

    /// Hears that there are no more blocks.
    #[inline(always)]
    fn finish<const BY: isize>(&mut self, _written: usize, _lanes: usize) {}
}

/// One value.
pub(super) struct Whole;

impl Bounds for Whole {
    const MANY: bool = false;
}

impl Bounds for Follow<'_> {
    const MANY: bool = true;

    #[inline(always)]
    fn cut(&self, lanes: usize, missing: usize) -> u64 {
        Follow::cut(self, lanes, missing)
    }

    #[inline(always)]
    fn settle(&mut self, written: usize, mask: u64, missing: usize) {
        Follow::settle(self, written, mask, missing);
    }

    #[inline(always)]
    fn finish<const BY: isize>(&mut self, written: usize, lanes: usize) {
        Follow::finish::<BY>(self, written, lanes);
    }
}
