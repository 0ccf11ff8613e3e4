//! The ends of values, for kernels (the code of an operation in one tier, that is, for one instruction set) that
//! process many values as one stream of blocks. "lab: NAME" names docs/lab/DATE-NAME.md.

use crate::kernel::fixed_vec::ArrayVec;

/// The largest number of values in one call of a kernel.
pub(crate) const MAX_VALUES: usize = 384;

/// The largest number of bytes that the values of one call have together.
pub(crate) const MAX_BYTES: usize = 12 * 1024;

/// The number of lanes of a block.
pub(crate) const LANES: usize = 64;

/// The number of blocks to track: those of [`MAX_BYTES`] bytes, and two after them.
const BLOCKS: usize = MAX_BYTES / LANES + 2;

/// The number of records of blocks that a kernel may read at once, from any block on, even if fewer blocks follow.
pub(crate) const RECORDS_TOGETHER: usize = 16;

/// The number of block records: those of the blocks, and those that a kernel may read after them.
const RECORDS: usize = BLOCKS + RECORDS_TOGETHER;

/// The number of values for which a kernel computes the ends in the output together.
pub(crate) const PLACED_TOGETHER: usize = 16;

const _: () = assert!(MAX_VALUES.is_multiple_of(PLACED_TOGETHER));

/// The ends of the values of one call, both in the input and in the output, with a record for each block. There are at most
/// [`MAX_VALUES`] values, which have at most [`MAX_BYTES`] bytes together.
///
/// The number of values that end in a block cannot be predicted, so the loop over blocks does not loop over ends
/// (lab: columns). It only keeps a record of each block ([`Follow`]), and the ends in the output are computed
/// afterwards ([`Placing`]). All loops of a tier share the code for this. Memory is written only as far as needed.
#[derive(Default)]
pub(crate) struct Ends {
    /// The number of values.
    count: usize,
    /// The number of lanes that the first block is short of a whole one. They count as lanes before the input. All other blocks are whole.
    padding: usize,
    /// The number of blocks.
    blocks: usize,
    /// The lanes before which the values end, counted from the start of the first block, ascending. The last one is repeated until
    /// their number is a multiple of [`PLACED_TOGETHER`].
    given: ArrayVec<u32, { MAX_VALUES + PLACED_TOGETHER }>,
    /// The offsets in the output where the values end, and arbitrary numbers after them.
    places: ArrayVec<u32, { MAX_VALUES + PLACED_TOGETHER }>,
    /// The number that is added to each of `leads`.
    base: u32,
    /// For each block, and for one after them, the lanes that become three bytes (encoding) or none (decoding).
    masks: ArrayVec<u64, RECORDS>,
    /// For each entry of `masks` but the first, and for one more: how many bytes longer the output before the block is
    /// than the lanes before it, plus `base`. That is the output address plus the input bytes left, modulo 2^32.
    leads: ArrayVec<u32, RECORDS>,
    /// Bit `i` of word `b` is set if a value ends just before lane `i` of block `b`. Empty unless the ends are marked.
    marks: ArrayVec<u64, BLOCKS>,
}

impl Ends {
    /// Replaces the ends in the input by the first [`MAX_VALUES`] of `ends`, unmarked. The last value ends at `len`.
    #[inline(always)]
    pub(crate) fn set(&mut self, len: usize, ends: impl ExactSizeIterator<Item = usize>) {
        let padding = len.wrapping_neg() % LANES;
        (self.padding, self.blocks) = (padding, (len + padding) / LANES);
        self.given.set(ends.take(MAX_VALUES).map(|end| (end + padding) as u32));
        self.count = self.given.len();
        // This appends sixteen copies in any case, because a loop would cost a mispredicted branch (lab: columns).
        self.given.extend_from_array([(len + padding) as u32; PLACED_TOGETHER]);
        self.given.truncate(self.count.next_multiple_of(PLACED_TOGETHER));
        self.marks.truncate(0);
        if self.leads.len() < self.blocks + 1 + RECORDS_TOGETHER || self.places.len() < self.given.len() {
            self.grow();
        }
    }

    /// Lengthens the records of the blocks and the ends in the output to what this input needs. The numbers do not
    /// matter: a kernel replaces those that count before they are read. After a malformed escape, none counts.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.masks.fill(0, self.blocks + 1 + RECORDS_TOGETHER);
        self.leads.fill(0, self.blocks + 1 + RECORDS_TOGETHER);
        self.places.fill(0, self.given.len());
    }

    /// Marks the ends for kernels that use [`Bounds::cut`].
    #[cold]
    #[inline(never)]
    pub(crate) fn mark(&mut self) {
        self.marks.fill(0, self.blocks + 1);
        let marks = self.marks.as_mut_slice();
        for &end in self.given.as_slice() {
            let (block, lane) = (end as usize / LANES, end as usize % LANES);
            debug_assert!(block < marks.len());
            if let Some(mark) = marks.get_mut(block) {
                *mark |= 1 << lane;
            }
        }
    }

    /// Reports whether the ends are marked.
    #[inline(always)]
    pub(crate) fn are_marked(&self) -> bool {
        self.marks.len() > 0
    }

    /// Iterates over the ends in the input, each with a slot for the end in the output.
    #[inline(always)]
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (usize, &mut u32)> {
        let padding = self.padding;
        let places = self.places.as_mut_slice().iter_mut();
        self.given.as_slice()[..self.count].iter().map(move |&end| end as usize - padding).zip(places)
    }

    /// Returns the ends in the output.
    #[inline(always)]
    pub(crate) fn places(&self) -> &[u32] {
        &self.places.as_slice()[..self.count]
    }

    /// Returns the records of the blocks, for a kernel to fill. The output starts at the address `start`.
    #[inline(always)]
    pub(crate) fn follow(&mut self, start: usize) -> Follow<'_> {
        let end = self.blocks * LANES;
        self.base = start.wrapping_add(end) as u32;
        Follow { end, masks: &mut self.masks, leads: &mut self.leads, marks: self.marks.as_slice(), next: 0 }
    }

    /// Returns the records of the blocks after a kernel has filled them and written `written` bytes.
    #[inline(always)]
    pub(crate) fn placing(&mut self, written: usize) -> Placing<'_> {
        // The last value may end where one more block would begin. So that block has a record: a mask and two leads.
        let lead = self.base.wrapping_add(written.wrapping_sub(self.blocks * LANES) as u32);
        self.masks.put(self.blocks, [0]);
        self.leads.put(self.blocks, [lead; 2]);
        let masks = &self.masks.as_slice()[..self.blocks + RECORDS_TOGETHER];
        Placing {
            records: Records { masks, leads: &self.leads.as_slice()[1..][..masks.len()], base: self.base },
            given: self.given.as_slice().as_chunks().0,
            places: self.places.as_mut_slice().as_chunks_mut().0,
        }
    }
}

/// The ends of the values in an input, and records of its blocks. For a single value, the default methods do nothing.
pub(crate) trait Bounds {
    /// Whether [`Bounds::cut`] may return lanes: if values end inside the input, or if only marked escapes are decoded.
    const MANY: bool;

    /// Whether only marked escapes are decoded. [`Bounds::cut`] then returns all lanes without a mark.
    const MARKED: bool = false;

    /// Returns the lanes of a block at which no escape is decoded: the last two of each value, or those without a mark.
    /// The block is `padding` lanes short. The input has `left` bytes from the start of the block on.
    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, _left: usize, _padding: usize) -> u64 {
        0
    }

    /// Reports whether decoding ends at the first marked escape that the set of the job keeps.
    #[cfg_attr(optimized, inline(always))]
    fn ends_at_kept(&self) -> bool {
        false
    }

    /// Records `M` blocks that do not change. The input has `left` bytes from the start of the first block on, and the
    /// output of that block is at the address `at`.
    #[cfg_attr(optimized, inline(always))]
    fn record_clean<const M: usize>(&mut self, _left: usize, _at: usize) {}

    /// Records a block that may change, and is `padding` lanes short. `mask` has the lanes that become none or three
    /// bytes. See [`Bounds::record_clean`] for the other arguments.
    #[cfg_attr(optimized, inline(always))]
    fn record_block(&mut self, _left: usize, _at: usize, _mask: u64, _padding: usize) {}

    /// Records four whole blocks from which the lanes in `drops` were dropped. See [`Bounds::record_clean`] for the other arguments.
    #[cfg_attr(optimized, inline(always))]
    fn record_four_blocks(&mut self, _left: usize, _at: usize, _drops: [u64; 4]) {}
}

/// The records of [`Ends`] while a kernel goes from block to block.
pub(crate) struct Follow<'e> {
    /// The end of the input, counted from where the first block would start if it were not short.
    end: usize,
    masks: &'e mut ArrayVec<u64, RECORDS>,
    leads: &'e mut ArrayVec<u32, RECORDS>,
    marks: &'e [u64],
    /// The number of blocks so far.
    next: usize,
}

impl Bounds for Follow<'_> {
    const MANY: bool = true;

    #[inline(always)]
    fn cut(&self, left: usize, padding: usize) -> u64 {
        let block = (self.end - left) / LANES;
        debug_assert!(block + 1 < self.marks.len());
        let mark = |block: usize| self.marks.get(block).copied().unwrap_or(0);
        let (here, next) = (mark(block), mark(block + 1));
        (here >> 1 | here >> 2 | next << (LANES - 1) | next << (LANES - 2)) >> padding
    }

    #[inline(always)]
    fn record_clean<const M: usize>(&mut self, left: usize, at: usize) {
        // The lead of the first block, which may be short, is never read.
        self.masks.put(self.next, [0; M]);
        self.leads.put(self.next, [at.wrapping_add(left) as u32; M]);
        self.next += M;
    }

    #[inline(always)]
    fn record_block(&mut self, left: usize, at: usize, mask: u64, padding: usize) {
        self.masks.put(self.next, [mask << padding]);
        self.leads.put(self.next, [at.wrapping_add(left) as u32]);
        self.next += 1;
    }

    #[inline(always)]
    fn record_four_blocks(&mut self, left: usize, at: usize, drops: [u64; 4]) {
        let (mut leads, mut lead) = ([0; 4], at.wrapping_add(left) as u32);
        for i in 0..4 {
            leads[i] = lead;
            lead = lead.wrapping_sub(drops[i].count_ones());
        }
        self.masks.put(self.next, drops);
        self.leads.put(self.next, leads);
        self.next += 4;
    }
}

/// The records of [`Ends`] from which the ends in the output are computed.
pub(crate) struct Placing<'e> {
    pub(crate) records: Records<'e>,
    /// The lanes before which the values end, in groups. The last one is repeated to the end of its group.
    pub(crate) given: &'e [[u32; PLACED_TOGETHER]],
    /// The ends in the output.
    pub(crate) places: &'e mut [[u32; PLACED_TOGETHER]],
}

/// The records of all blocks and of an empty block after them, then arbitrary numbers, so that [`RECORDS_TOGETHER`] can
/// be read from each block on. Both slices have the same length.
#[derive(Clone, Copy)]
pub(crate) struct Records<'e> {
    /// The lanes of each block that become none or three bytes.
    pub(crate) masks: &'e [u64],
    /// For each block: how many bytes longer the output up to its end is than the lanes up to its end, plus `base`.
    pub(crate) leads: &'e [u32],
    pub(crate) base: u32,
}

impl Records<'_> {
    /// Returns the number to add to the input ends from `first` to `last` to get the ends in the output, or `None` if any
    /// lane from `first` to the end of the block of `last` changed.
    #[inline(always)]
    pub(crate) fn gain(self, first: u32, last: u32) -> Option<u32> {
        let block = first as usize / LANES;
        let (mask, lead) = (self.masks.get(block)?, self.leads.get(block)?);
        let same = mask >> (first as usize % LANES) == 0 && self.leads.get(last as usize / LANES)? == lead;
        same.then_some(lead.wrapping_sub(self.base))
    }

    /// Returns the end in the output of a value that ends at `place`, as if all lanes of its block that changed were before
    /// `place`. Also returns the mask of those that are not, whose bit 0 is for the lane at `place`. If that lane was
    /// dropped as a digit, an escape crosses the end.
    #[inline(always)]
    pub(crate) fn place(self, place: u32) -> Option<(u32, u64)> {
        let (block, lane) = (place as usize / LANES, place as usize % LANES);
        let (mask, lead) = (self.masks.get(block)?, self.leads.get(block)?);
        Some((place.wrapping_add(lead.wrapping_sub(self.base)), mask >> lane))
    }
}
