//! Where values end, when a kernel takes many of them as one stream of blocks.

use crate::kernel::slots::Few;

/// The most values that are handed to a kernel together.
pub(crate) const MAX_VALUES: usize = 256;

/// The most bytes that these have together.
pub(crate) const MAX_BYTES: usize = 8 * 1024;

/// The fewest lanes of a block of an input that is longer than one block.
const LANES: usize = 64;

/// The blocks of that many bytes, one more because the first may be short, one that begins where the bytes end, and the
/// one after it, at which [`Ends::cut`] looks.
const BLOCKS: usize = MAX_BYTES / LANES + 3;

/// What the ends in a block need to know of it: the bytes of the output minus those of the input before it, and the lanes
/// that become more bytes than one, or none.
type Settled = (usize, u64);

/// Where many values end, which are at most [`MAX_BYTES`] bytes together; and room for their blocks of 64 lanes, or for
/// one block.
///
/// How many values end in a block cannot be predicted, so the loop over blocks has no loop over ends in it: ends are
/// marked before it and settled after it. Only as much is written as the values need, so a few values cost little.
pub(crate) struct Ends {
    /// Ascending, and within the input.
    places: Few<usize, MAX_VALUES>,
    /// How many lanes the first block has too few. They are counted as its first, so that places and blocks are `missing`
    /// apart.
    missing: usize,
    /// Bit `i` of word `b`: a value ends before lane `i` of block `b`.
    marks: Few<u64, BLOCKS>,
    /// One entry for each block so far.
    settled: Few<Settled, BLOCKS>,
}

impl Ends {
    /// No values.
    #[inline(always)]
    pub(crate) fn new() -> Ends {
        Ends { places: Few::new(), missing: 0, marks: Few::new(), settled: Few::new() }
    }

    /// Takes the ends of values, the first [`MAX_VALUES`], in place of those it has.
    #[inline(always)]
    pub(crate) fn set(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        self.places.set(ends);
    }

    /// The ends.
    #[inline(always)]
    pub(crate) fn places(&mut self) -> &mut [usize] {
        self.places.as_mut_slice()
    }

    /// Prepares for blocks, of which the first is `missing` lanes short.
    #[inline(always)]
    pub(crate) fn begin(&mut self, missing: usize) {
        self.missing = missing;
        self.settled.truncate(0);
    }

    /// Marks the ends in blocks of `lanes`, for [`Ends::cut`].
    #[inline(always)]
    pub(crate) fn mark(&mut self, lanes: usize) {
        let places = self.places.as_slice();
        // The last block looks at the one after it, and no block further.
        let last = places.last().map_or(0, |end| (end + self.missing) / lanes);
        self.marks.fill(0, last + 2);
        let marks = self.marks.as_mut_slice();
        for &end in places {
            let end = end + self.missing;
            debug_assert!(end / lanes < marks.len());
            if let Some(mark) = marks.get_mut(end / lanes) {
                *mark |= 1 << (end % lanes);
            }
        }
    }

    /// The lanes of the next block, of `lanes` of which `missing` are, that are the last two before an end.
    #[inline(always)]
    pub(crate) fn cut(&self, lanes: usize, missing: usize) -> u64 {
        let (marks, block) = (self.marks.as_slice(), self.settled.len());
        debug_assert!(block + 1 < marks.len());
        let mark = |block: usize| marks.get(block).copied().unwrap_or(0);
        let (here, next) = (mark(block), mark(block + 1));
        (here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)) >> missing
    }

    /// Remembers the next block, of `lanes` of which `missing` are missing: the output has `written` bytes before it, and
    /// the lanes of `mask` become more bytes than one, or none.
    #[inline(always)]
    pub(crate) fn settle(&mut self, written: usize, mask: u64, lanes: usize, missing: usize) {
        let gained = written.wrapping_sub(self.settled.len() * lanes + missing);
        debug_assert!(self.settled.len() < BLOCKS);
        self.settled.push((gained, mask << missing));
    }

    /// After the last block, of `lanes`, when the output has `written` bytes: turns each end in the input into one in the
    /// output, where each lane of a mask gives `by` bytes more than one.
    #[inline(always)]
    pub(crate) fn finish(&mut self, written: usize, lanes: usize, by: isize) {
        self.settle(written, 0, lanes, 0);
        let settled = self.settled.as_slice();
        for end in self.places.as_mut_slice() {
            let place = *end + self.missing;
            debug_assert!(place / lanes < settled.len());
            let (gained, mask) = settled.get(place / lanes).copied().unwrap_or_default();
            let others = (mask & ((1 << (place % lanes)) - 1)).count_ones() as isize;
            *end = place.wrapping_add(gained).wrapping_add_signed(by * others);
        }
    }
}
