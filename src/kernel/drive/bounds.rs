//! Where values end: one value that is the whole input, or many that lie one behind the other.

use crate::kernel::ends::Ends;

/// The ends of values.
pub(super) trait Bounds {
    /// Whether [`Bounds::cut`] may be anything but 0, and [`Bounds::settle`] does anything.
    const CUTS: bool;

    /// Prepares for blocks of `lanes`, of which the first is `missing` lanes short: these count as its first. `cuts` says
    /// whether there will be a call of [`Bounds::cut`].
    fn begin(&mut self, lanes: usize, missing: usize, cuts: bool);

    /// The lanes of the next block, of `lanes` of which `missing` are, where no escape may start because a value ends before
    /// its second digit.
    fn cut(&self, lanes: usize, missing: usize) -> u64;

    /// Takes note of the next block, of `lanes` of which `missing` are: `written` bytes stand before it in the output, and
    /// the lanes of `mask` become more bytes than one, or none.
    fn settle(&mut self, written: usize, mask: u64, lanes: usize, missing: usize);

    /// After the last block, of `lanes`, behind which the output has `written` bytes: turns each end in the input into one
    /// in the output, where each lane of a mask gives `by` bytes more than one.
    fn finish(self, written: usize, lanes: usize, by: isize);
}

/// One value.
pub(super) struct Whole;

impl Bounds for Whole {
    const CUTS: bool = false;

    #[inline(always)]
    fn begin(&mut self, _: usize, _: usize, _: bool) {}

    #[inline(always)]
    fn cut(&self, _: usize, _: usize) -> u64 {
        0
    }

    #[inline(always)]
    fn settle(&mut self, _: usize, _: u64, _: usize, _: usize) {}

    #[inline(always)]
    fn finish(self, _: usize, _: usize, _: isize) {}
}

impl Bounds for &mut Ends {
    const CUTS: bool = true;

    #[inline(always)]
    fn begin(&mut self, lanes: usize, missing: usize, cuts: bool) {
        Ends::begin(self, missing);
        if cuts {
            Ends::mark(self, lanes);
        }
    }

    #[inline(always)]
    fn cut(&self, lanes: usize, missing: usize) -> u64 {
        Ends::cut(self, lanes, missing)
    }

    #[inline(always)]
    fn settle(&mut self, written: usize, mask: u64, lanes: usize, missing: usize) {
        Ends::settle(self, written, mask, lanes, missing);
    }

    #[inline(always)]
    fn finish(self, written: usize, lanes: usize, by: isize) {
        Ends::finish(self, written, lanes, by);
    }
}
