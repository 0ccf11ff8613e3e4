//! Where many values end that a kernel takes as one stream of blocks.

/// The most values that are handed to a kernel together.
pub(crate) const MAX_VALUES: usize = 256;

/// The most bytes that these have together.
pub(crate) const MAX_BYTES: usize = 8 * 1024;

/// At least the blocks of so many bytes, one more that the first may be short of, one that begins where they end, and one
/// behind it. A power of two, so that no index needs a check.
const BLOCKS: usize = 2 * MAX_BYTES / 64;

/// What the ends in a block need to know of it: the bytes of the output minus those of the input before it, and the lanes
/// that become more bytes than one, or none.
type Settled = (usize, u64);

/// Where many values end, which are at most [`MAX_BYTES`] bytes together; and room for their blocks of 64 lanes, or for
/// one block.
///
/// How many values end in a block cannot be predicted, so the loop over blocks has no loop over ends in it: they are
/// marked before, and settled behind.
pub(crate) struct Ends {
    // INVARIANT: the first `count` are ascending and lie within the input.
    places: [usize; MAX_VALUES],
    count: usize,
    /// How many lanes the first block has too few. These count as its first, so that places and blocks are `missing` apart.
    missing: usize,
    /// Bit `i` of word `b`: a value ends before lane `i` of block `b`.
    marks: [u64; BLOCKS],
    settled: [Settled; BLOCKS],
    block: usize,
}

impl Ends {
    /// No values.
    #[cfg(feature = "alloc")]
    pub(crate) fn new() -> Ends {
        Ends {
            places: [0; MAX_VALUES],
            count: 0,
            missing: 0,
            marks: [0; BLOCKS],
            settled: [(0, 0); BLOCKS],
            block: 0,
        }
    }

    /// Takes the ends of values, the first [`MAX_VALUES`], in place of those it has.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn set(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        self.count = ends.len().min(MAX_VALUES);
        for (place, end) in self.places[..self.count].iter_mut().zip(ends) {
            *place = end;
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

    /// Prepares for blocks, of which the first is `missing` lanes short.
    #[inline(always)]
    pub(crate) fn begin(&mut self, missing: usize) {
        (self.block, self.missing) = (0, missing);
    }

    /// Marks the ends in blocks of `lanes`, for [`Ends::cut`].
    #[inline(always)]
    pub(crate) fn mark(&mut self, lanes: usize) {
        // The last block looks at the one behind it, and no block further.
        let last = self.places[..self.count].last().map_or(0, |end| (end + self.missing) / lanes);
        self.marks[..(last + 2).min(BLOCKS)].fill(0);
        for &end in &self.places[..self.count] {
            let end = end + self.missing;
            self.marks[end / lanes % BLOCKS] |= 1 << (end % lanes);
        }
    }

    /// The lanes of the next block, of `lanes` of which `missing` are, that are the last two before an end.
    #[inline(always)]
    pub(crate) fn cut(&self, lanes: usize, missing: usize) -> u64 {
        let (here, next) = (self.marks[self.block % BLOCKS], self.marks[(self.block + 1) % BLOCKS]);
        (here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)) >> missing
    }

    /// Takes note of the next block, of `lanes` of which `missing` are: `written` bytes stand before it in the output, and
    /// the lanes of `mask` become more bytes than one, or none.
    #[inline(always)]
    pub(crate) fn settle(&mut self, written: usize, mask: u64, lanes: usize, missing: usize) {
        let gained = written.wrapping_sub(self.block * lanes + missing);
        self.settled[self.block % BLOCKS] = (gained, mask << missing);
        self.block += 1;
    }

    /// After the last block, of `lanes`, behind which the output has `written` bytes: turns each end in the input into one
    /// in the output, where each lane of a mask gives `by` bytes more than one.
    #[inline(always)]
    pub(crate) fn finish(&mut self, written: usize, lanes: usize, by: isize) {
        self.settle(written, 0, lanes, 0);
        for end in &mut self.places[..self.count] {
            let place = *end + self.missing;
            let (gained, mask) = self.settled[place / lanes % BLOCKS];
            let others = (mask & ((1 << (place % lanes)) - 1)).count_ones() as isize;
            *end = place.wrapping_add(gained).wrapping_add_signed(by * others);
        }
    }
}
