//! The ends of values, for kernels that process many values as one stream of blocks.

use crate::kernel::slots::ArrayVec;

/// The largest number of values in one call of a kernel.
pub(crate) const MAX_VALUES: usize = 384;

/// The largest number of bytes that the values of one call have together.
pub(crate) const MAX_BYTES: usize = 12 * 1024;

/// The number of lanes of a block.
pub(crate) const LANES: usize = 64;

/// The number of blocks to track: those of [`MAX_BYTES`] bytes, and two after them.
const BLOCKS: usize = MAX_BYTES / LANES + 2;

/// The number of ends that are placed together.
pub(crate) const GROUP: usize = 16;

const _: () = assert!(MAX_VALUES.is_multiple_of(GROUP));

/// The ends of the values of one call, both in the input and in the output, with a record for each block. There are at most
/// [`MAX_VALUES`] values, which have at most [`MAX_BYTES`] bytes together.
///
/// The number of values that end in a block cannot be predicted, so the loop over blocks does not loop over ends. It only keeps
/// a record of each block ([`Follow`]), and the ends in the output are computed afterwards ([`Placing`]). The loops of a tier share the
/// code that does so. Memory is written only as far as the values need it, so few values cost little.
pub(crate) struct Ends {
    /// The number of values.
    count: usize,
    /// The number of lanes that the first block is short, so that all other blocks are whole. They count as lanes before the input.
    padding: usize,
    /// The number of blocks.
    blocks: usize,
    /// The lanes before which the values end, counted from the start of the first block, ascending. The last one is repeated until
    /// their number is a multiple of [`GROUP`].
    given: ArrayVec<u32, { MAX_VALUES + GROUP }>,
    /// The offsets in the output where the values end, and any numbers after them.
    places: ArrayVec<u32, { MAX_VALUES + GROUP }>,
    /// For each block, and for one after them, the lanes that become three bytes (encoding) or none (decoding).
    masks: ArrayVec<u64, BLOCKS>,
    /// For each of these but the first, and for one after them, the number of bytes in the output before it.
    starts: ArrayVec<u32, BLOCKS>,
    /// Bit `i` of word `b` is set if a value ends just before lane `i` of block `b`. Empty unless the ends are marked.
    marks: ArrayVec<u64, BLOCKS>,
}

impl Ends {
    /// Makes an `Ends` without values.
    #[inline(always)]
    pub(crate) fn new() -> Ends {
        Ends {
            count: 0,
            padding: 0,
            blocks: 0,
            given: ArrayVec::new(),
            places: ArrayVec::new(),
            masks: ArrayVec::new(),
            starts: ArrayVec::new(),
            marks: ArrayVec::new(),
        }
    }

    /// Replaces the ends in the input by the first [`MAX_VALUES`] of `ends`, unmarked. The last value ends at `len`.
    #[inline(always)]
    pub(crate) fn set(&mut self, len: usize, ends: impl ExactSizeIterator<Item = usize>) {
        let padding = len.wrapping_neg() % LANES;
        (self.padding, self.blocks) = (padding, (len + padding) / LANES);
        self.given.set(ends.take(MAX_VALUES).map(|end| (end + padding) as u32));
        self.count = self.given.len();
        // One store, whatever the number of values: a loop would cost a mispredicted branch.
        self.given.extend_from_array([(len + padding) as u32; GROUP]);
        self.given.truncate(self.count.next_multiple_of(GROUP));
        self.marks.truncate(0);
        if self.starts.len() < self.blocks + 2 || self.places.len() < self.given.len() {
            self.grow();
        }
    }

    /// Makes room for the records of the blocks, and for the ends in the output. Numbers that are there already stay, because all are
    /// replaced before they are read, unless a kernel stops at a malformed escape.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.masks.fill(0, self.blocks + 2);
        self.starts.fill(0, self.blocks + 2);
        self.places.fill(0, self.given.len());
    }

    /// Marks the ends for kernels that use [`Follow::cut`].
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

    /// Returns the number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Iterates over the ends in the input, each with a slot for the one in the output.
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

    /// Returns the records of the blocks, for a kernel to fill.
    #[inline(always)]
    pub(crate) fn follow(&mut self) -> Follow<'_> {
        Follow {
            end: self.blocks * LANES,
            masks: &mut self.masks,
            starts: &mut self.starts,
            marks: self.marks.as_slice(),
        }
    }

    /// Returns the records of the blocks after a kernel has filled them and written `written` bytes.
    #[inline(always)]
    pub(crate) fn placing(&mut self, written: usize) -> Placing<'_> {
        // The last value may end where a block would begin. The record of that block has a start after it, too.
        self.masks.put(self.blocks, [0]);
        self.starts.put(self.blocks, [written, written + LANES].map(|start| start as u32));
        let masks = &self.masks.as_slice()[..=self.blocks];
        Placing {
            records: Records { masks, afters: &self.starts.as_slice()[1..][..masks.len()] },
            given: self.given.as_slice().as_chunks().0,
            places: self.places.as_mut_slice().as_chunks_mut().0,
        }
    }
}

/// The records of [`Ends`] while a kernel goes from block to block.
pub(crate) struct Follow<'e> {
    /// The end of the input, counted from where the first block would start if it were not short.
    end: usize,
    masks: &'e mut ArrayVec<u64, BLOCKS>,
    starts: &'e mut ArrayVec<u32, BLOCKS>,
    marks: &'e [u64],
}

impl Follow<'_> {
    /// Returns the lanes of a block that are the last or the last but one of a value; no escape can start there. The block is
    /// `padding` lanes short, and the input has `left` bytes from its start on.
    #[inline(always)]
    pub(crate) fn cut(&self, left: usize, padding: usize) -> u64 {
        let block = (self.end - left) / LANES;
        debug_assert!(block + 1 < self.marks.len());
        let mark = |block: usize| self.marks.get(block).copied().unwrap_or(0);
        let (here, next) = (mark(block), mark(block + 1));
        (here >> 1 | here >> 2 | next << (LANES - 1) | next << (LANES - 2)) >> padding
    }

    /// Records `M` blocks that do not change. The input has `left` bytes from the start of the first on, and the output has `written`
    /// bytes before it.
    #[inline(always)]
    pub(crate) fn pass<const M: usize>(&mut self, left: usize, written: usize) {
        // The start of the first block, which may be short, is never read.
        let block = (self.end - left) / LANES;
        self.masks.put(block, [0; M]);
        self.starts.put::<M>(block, core::array::from_fn(|i| (written + i * LANES) as u32));
    }

    /// Records a block that changes, and is `padding` lanes short. `mask` has the lanes that become three bytes (encoding) or none
    /// (decoding). See [`Follow::pass`] for the other arguments.
    // There is no such method for several blocks: the compiler would compute their masks in a vector.
    #[inline(always)]
    pub(crate) fn settle(&mut self, left: usize, written: usize, mask: u64, padding: usize) {
        let block = (self.end - left) / LANES;
        self.masks.put(block, [mask << padding]);
        self.starts.put(block, [written as u32]);
    }

    /// Records four whole blocks from which the lanes in `drops` were dropped. See [`Follow::pass`] for the other arguments.
    #[inline(always)]
    pub(crate) fn settle_four(&mut self, left: usize, written: usize, drops: [u64; 4]) {
        let block = (self.end - left) / LANES;
        let (mut starts, mut start) = ([0; 4], written as u32);
        for i in 0..4 {
            starts[i] = start;
            start += (!drops[i]).count_ones();
        }
        self.masks.put(block, drops);
        self.starts.put(block, starts);
    }
}

/// The records of [`Ends`] from which the ends in the output are computed.
pub(crate) struct Placing<'e> {
    pub(crate) records: Records<'e>,
    /// The lanes before which the values end. If there are fewer values, the last one is repeated.
    pub(crate) given: &'e [[u32; GROUP]],
    /// The ends in the output.
    pub(crate) places: &'e mut [[u32; GROUP]],
}

/// The records of all blocks, and of one after them that is empty. Both slices have the same length.
#[derive(Clone, Copy)]
pub(crate) struct Records<'e> {
    /// The lanes of each block that become other than one byte.
    pub(crate) masks: &'e [u64],
    /// The number of bytes in the output after each block.
    pub(crate) afters: &'e [u32],
}

impl Records<'_> {
    /// Returns the number to add to places from `first` to `last` to get the ends in the output, if nothing changed between them.
    #[inline(always)]
    pub(crate) fn gain(self, first: u32, last: u32) -> Option<u32> {
        let after = |block: usize| Some(self.afters.get(block)?.wrapping_sub(((block + 1) * LANES) as u32));
        let block = first as usize / LANES;
        let (mask, gain) = (self.masks.get(block)?, after(block)?);
        (mask >> (first as usize % LANES) == 0 && after(last as usize / LANES)? == gain).then_some(gain)
    }

    /// Returns the end in the output of a value that ends at `place`, as if no lane changed in the rest of its block, and the mask of that
    /// rest. If the first lane of the rest was dropped as a digit, an escape crosses the end.
    #[inline(always)]
    pub(crate) fn place(self, place: u32) -> Option<(u32, u64)> {
        let (block, lane) = (place as usize / LANES, place as usize % LANES);
        let (mask, after) = (self.masks.get(block)?, self.afters.get(block)?);
        Some((after.wrapping_sub((LANES - lane) as u32), mask >> lane))
    }
}
