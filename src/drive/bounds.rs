//! Where values end: one value that is the whole input, or many that lie one behind the other.

use super::first;

/// The ends of values.
pub(super) trait Bounds {
    /// Whether [`Bounds::cut`] may be anything but 0, and [`Bounds::settle`] does anything.
    const CUTS: bool;

    /// The lanes of the next block where no escape may start, because a value ends before its second digit. `lanes` is the
    /// length of a block.
    fn cut(&self, lanes: usize) -> u64;

    /// Takes note of the next block: `written` octets stand before it in the output, and the lanes of `mask` become more
    /// octets than one, or none.
    fn settle(&mut self, written: usize, mask: u64);

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
    fn settle(&mut self, _: usize, _: u64) {}

    #[inline(always)]
    fn finish(self, _: usize, _: usize, _: isize) {}
}

/// The most octets of many values together.
pub(crate) const MAX_VALUES: usize = 8 * 1024;

/// The blocks of so many octets, one that begins where they end, and one more.
const BLOCKS: usize = MAX_VALUES / 64 + 2;

/// Many values, of at most [`MAX_VALUES`] octets together in blocks of 64 lanes, or of one block.
///
/// How many values end in a block cannot be predicted, so no loop over blocks has a loop over these ends in it: they are
/// marked before, and settled behind.
// INVARIANT: the ends are ascending and lie within the input.
pub(super) struct Ends<'a> {
    ends: &'a mut [usize],
    /// Bit `i` of word `b`: a value ends before lane `i` of block `b`.
    marks: [u64; BLOCKS],
    /// What [`Bounds::settle`] heard of each block.
    written: [usize; BLOCKS],
    masks: [u64; BLOCKS],
    block: usize,
}

impl<'a> Ends<'a> {
    #[inline(always)]
    pub(super) fn new(ends: &'a mut [usize], lanes: usize) -> Ends<'a> {
        let mut marks = [0; BLOCKS];
        for &end in ends.iter() {
            marks[end / lanes] |= 1 << (end % lanes);
        }
        Ends { ends, marks, written: [0; BLOCKS], masks: [0; BLOCKS], block: 0 }
    }
}

impl Bounds for Ends<'_> {
    const CUTS: bool = true;

    #[inline(always)]
    fn cut(&self, lanes: usize) -> u64 {
        // The two lanes before each end.
        let (here, next) = (self.marks[self.block], self.marks[self.block + 1]);
        here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)
    }

    #[inline(always)]
    fn settle(&mut self, written: usize, mask: u64) {
        self.written[self.block] = written;
        self.masks[self.block] = mask;
        self.block += 1;
    }

    #[inline(always)]
    fn finish(mut self, written: usize, lanes: usize, by: isize) {
        self.settle(written, 0);
        for end in self.ends {
            let (block, lane) = (*end / lanes, *end % lanes);
            let others = (self.masks[block] & first(lane)).count_ones() as isize;
            *end = (self.written[block] + lane).wrapping_add_signed(by * others);
        }
    }
}
