//! Where values end: one value that is the whole input, or many that lie one behind the other.

use crate::ends::Ends;

/// The ends of values.
pub(super) trait Bounds {
    /// Whether [`Bounds::cut`] may be anything but 0, and [`Bounds::settle`] does anything.
    const CUTS: bool;

    /// The lanes of the next block where no escape may start, because a value ends before its second digit. `lanes` is the
    /// length of a block; the first may have fewer, which count as its last.
    fn cut(&self, lanes: usize) -> u64;

    /// Takes note of the next block, which has `missing` lanes fewer than a whole one: `written` octets stand before it in
    /// the output, and the lanes of `mask` become more octets than one, or none.
    fn settle(&mut self, written: usize, mask: u64, missing: usize);

    /// After the last block, behind which the output has `written` octets: turns each end in the input into one in the
    /// output, where each lane of a mask gives `by` octets more than one. `lanes` is the length of a block.
    fn finish(self, written: usize, lanes: usize, by: isize);
}

/// One value.
pub(super) struct Whole;

impl Bounds for Whole {
    const CUTS: bool = false;

    #[inline(always)]
    fn cut(&self, _: usize) -> u64 {
        0
    }

    #[inline(always)]
    fn settle(&mut self, _: usize, _: u64, _: usize) {}

    #[inline(always)]
    fn finish(self, _: usize, _: usize, _: isize) {}
}

impl Bounds for &mut Ends {
    const CUTS: bool = true;

    #[inline(always)]
    fn cut(&self, lanes: usize) -> u64 {
        Ends::cut(self, lanes)
    }

    #[inline(always)]
    fn settle(&mut self, written: usize, mask: u64, missing: usize) {
        Ends::settle(self, written, mask, missing);
    }

    #[inline(always)]
    fn finish(self, written: usize, lanes: usize, by: isize) {
        Ends::finish(self, written, lanes, by);
    }
}
