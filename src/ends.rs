//! Where many values end that a kernel takes as one stream of blocks.

/// The most values that are handed to a kernel together.
pub(crate) const MAX_VALUES: usize = 256;

/// The most octets that these have together.
pub(crate) const MAX_OCTETS: usize = 8 * 1024;

/// The blocks of so many octets, one that begins where they end, and one more.
const BLOCKS: usize = MAX_OCTETS / 64 + 2;

/// Where many values end, which are at most [`MAX_OCTETS`] octets together; and room for their blocks of 64 lanes, or for
/// one block.
///
/// How many values end in a block cannot be predicted, so the loop over blocks has no loop over ends in it: they are
/// marked before, and settled behind.
pub(crate) struct Ends {
    // INVARIANT: the first `count` are ascending and lie within the input; between `mark` and `finish`, behind as many octets
    // as are missing from the first block.
    places: [usize; MAX_VALUES],
    count: usize,
    /// Bit `i` of word `b`: a value ends before lane `i` of block `b`.
    marks: [u64; BLOCKS],
    /// What [`Ends::settle`] heard of each block.
    written: [usize; BLOCKS],
    masks: [u64; BLOCKS],
    block: usize,
}

impl Ends {
    /// No values.
    #[cfg(feature = "alloc")]
    pub(crate) fn new() -> Ends {
        Ends {
            places: [0; MAX_VALUES],
            count: 0,
            marks: [0; BLOCKS],
            written: [0; BLOCKS],
            masks: [0; BLOCKS],
            block: 0,
        }
    }

    /// Takes the ends of values, the first [`MAX_VALUES`], in place of those it has.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn set(&mut self, ends: impl Iterator<Item = usize>) {
        self.count = 0;
        for (place, end) in self.places.iter_mut().zip(ends) {
            *place = end;
            self.count += 1;
        }
    }

    /// Keeps the first `count`.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// The ends.
    #[inline(always)]
    pub(crate) fn places(&mut self) -> &mut [usize] {
        &mut self.places[..self.count]
    }

    /// Prepares for blocks of `lanes`, of which the first has as many as are `missing` fewer. Its lanes count as the last of
    /// a block.
    #[inline(always)]
    pub(crate) fn mark(&mut self, lanes: usize, missing: usize) -> &mut Ends {
        self.block = 0;
        self.marks.fill(0);
        for end in &mut self.places[..self.count] {
            *end += missing;
            self.marks[*end / lanes] |= 1 << (*end % lanes);
        }
        self
    }

    /// The lanes of the next block, of `lanes`, that are the last two before an end.
    #[inline(always)]
    pub(crate) fn cut(&self, lanes: usize) -> u64 {
        let (here, next) = (self.marks[self.block], self.marks[self.block + 1]);
        here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)
    }

    /// Takes note of the next block, which has `missing` lanes fewer than a whole one: `written` octets stand before it in
    /// the output, and the lanes of `mask` become more octets than one, or none.
    #[inline(always)]
    pub(crate) fn settle(&mut self, written: usize, mask: u64, missing: usize) {
        self.written[self.block] = written.wrapping_sub(missing);
        self.masks[self.block] = mask << missing;
        self.block += 1;
    }

    /// After the last block, of `lanes`, behind which the output has `written` octets: turns each end in the input into one
    /// in the output, where each lane of a mask gives `by` octets more than one.
    #[inline(always)]
    pub(crate) fn finish(&mut self, written: usize, lanes: usize, by: isize) {
        self.settle(written, 0, 0);
        for end in &mut self.places[..self.count] {
            let (block, lane) = (*end / lanes, *end % lanes);
            let others = (self.masks[block] & ((1 << lane) - 1)).count_ones() as isize;
            *end = self.written[block].wrapping_add(lane).wrapping_add_signed(by * others);
        }
    }
}
