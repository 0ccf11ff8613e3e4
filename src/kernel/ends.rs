//! The ends of values, for kernels that process many values as one stream of blocks.

use core::mem::MaybeUninit;

use crate::kernel::slots::{ArrayVec, Slots};

/// The largest number of values in one call of a kernel.
pub(crate) const MAX_VALUES: usize = 256;

/// The largest number of bytes that the values of one call have together.
pub(crate) const MAX_BYTES: usize = 8 * 1024;

/// The number of lanes of the smallest block that is used for inputs longer than one block.
const LANES: usize = 64;

/// The number of blocks to track: those of [`MAX_BYTES`] bytes, one more because the first may be short, one that begins at the
/// end of the bytes, and the one after it, which [`Follow::cut`] reads.
const BLOCKS: usize = MAX_BYTES / LANES + 3;

/// The record of one block, from which [`Follow::finish`] computes where values that end in this block end in the output.
#[derive(Clone, Copy, Default)]
struct Settled {
    start: usize,
    mask: u64,
}

/// The ends of the values of one call, both in the input and in the output, with a record for each block. There are at most
/// [`MAX_VALUES`] values, which have at most [`MAX_BYTES`] bytes together.
///
/// The number of values that end in a block cannot be predicted, so the loop over blocks does not loop over ends. It only keeps
/// a record of each block, and [`Follow::finish`] computes the ends in the output after the loop. The ends in the input are
/// marked before the loop only if a kernel uses [`Follow::cut`]. Memory is written only as far as the values need it, so few
/// values cost little.
pub(crate) struct Ends {
    /// The offsets in the input where values end, ascending.
    given: ArrayVec<u32, MAX_VALUES>,
    /// The offsets in the output where these values end.
    places: ArrayVec<u32, MAX_VALUES>,
    /// Whether an escape was decoded that crosses the end of a value. The output is invalid then.
    crossed: bool,
    /// Bit `i` of word `b` is set if a value ends just before lane `i` of block `b` of the input.
    marks: ArrayVec<u64, BLOCKS>,
    settled: [MaybeUninit<Settled>; BLOCKS],
}

impl Ends {
    /// Makes an `Ends` without values.
    #[inline(always)]
    pub(crate) fn new() -> Ends {
        Ends {
            given: ArrayVec::new(),
            places: ArrayVec::new(),
            crossed: false,
            marks: ArrayVec::new(),
            settled: [const { MaybeUninit::uninit() }; BLOCKS],
        }
    }

    /// Replaces the ends in the input by the first [`MAX_VALUES`] of `ends`.
    #[inline(always)]
    pub(crate) fn set(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        self.given.set(ends.map(|end| end as u32));
    }

    /// Clears the ends in the output. Returns the ends in the input, and the vector to append those in the output to.
    #[inline(always)]
    pub(crate) fn each(&mut self) -> (&[u32], &mut ArrayVec<u32, MAX_VALUES>) {
        self.places.truncate(0);
        (self.given.as_slice(), &mut self.places)
    }

    /// Returns the ends in the output.
    #[inline(always)]
    pub(crate) fn places(&self) -> &[u32] {
        self.places.as_slice()
    }

    /// Prepares for blocks of `lanes` lanes. The first block is `padding` lanes short. If `marked`, this makes the marks that
    /// [`Follow::cut`] needs.
    #[inline(always)]
    pub(crate) fn follow(&mut self, padding: usize, lanes: usize, marked: bool) -> Follow<'_> {
        if marked {
            self.mark(padding, lanes);
        } else {
            self.marks.truncate(0);
        }
        Follow {
            given: self.given.as_slice(),
            places: &mut self.places,
            crossed: &mut self.crossed,
            marks: self.marks.as_slice(),
            padding,
            settled: Slots::new(&mut self.settled),
        }
    }

    /// Reports whether the kernel decoded an escape that crosses the end of a value. The output is invalid then. This happens
    /// only if the ends were not marked.
    #[inline(always)]
    pub(crate) fn crossed(&self) -> bool {
        self.crossed
    }

    #[inline(always)]
    fn mark(&mut self, padding: usize, lanes: usize) {
        let ends = self.given.as_slice();
        // `cut` for the last block reads the marks of the block after it, so there is one more.
        let last = ends.last().map_or(0, |&end| (end as usize + padding) / lanes);
        self.marks.fill(0, last + 2);
        let marks = self.marks.as_mut_slice();
        for &end in ends {
            let end = end as usize + padding;
            debug_assert!(end / lanes < marks.len());
            if let Some(mark) = marks.get_mut(end / lanes) {
                *mark |= 1 << (end % lanes);
            }
        }
    }
}

/// The state of [`Ends`] while a kernel goes from block to block. It is a separate type so that the compiler keeps it in
/// registers: a count in memory would make each block wait for the one before it.
pub(crate) struct Follow<'e> {
    given: &'e [u32],
    places: &'e mut ArrayVec<u32, MAX_VALUES>,
    crossed: &'e mut bool,
    /// The marks of [`Ends`], or an empty slice if [`Follow::cut`] is not used.
    marks: &'e [u64],
    /// The number of lanes that the first block is short. They count as lanes before the input, so all ends are shifted by this
    /// number.
    padding: usize,
    /// The records of the blocks so far.
    settled: Slots<'e, Settled>,
}

impl Follow<'_> {
    /// Returns the lanes of the next block that are the last or the last but one of a value; no escape can start there. The
    /// block has `lanes` lanes and is `padding` lanes short.
    #[inline(always)]
    pub(crate) fn cut(&self, lanes: usize, padding: usize) -> u64 {
        let (marks, block) = (self.marks, self.settled.len());
        debug_assert!(block + 1 < marks.len());
        let mark = |block: usize| marks.get(block).copied().unwrap_or(0);
        let (here, next) = (mark(block), mark(block + 1));
        (here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)) >> padding
    }

    /// Records the next block, which is `padding` lanes short. The output has `written` bytes before it. `mask` has the lanes
    /// that become three bytes (encoding) or none (decoding).
    #[inline(always)]
    pub(crate) fn settle(&mut self, written: usize, mask: u64, padding: usize) {
        debug_assert!(self.settled.spare() > 0);
        self.settled.push(Settled { start: written.wrapping_sub(padding), mask: mask << padding });
    }

    /// Computes the ends in the output, after the last block. Blocks have `lanes` lanes, the output has `written` bytes, and
    /// each lane in a mask becomes `1 + BY` bytes.
    #[inline(always)]
    pub(crate) fn finish<const BY: isize>(&mut self, written: usize, lanes: usize) {
        self.settle(written, 0, 0);
        let (settled, padding) = (self.settled.as_slice(), self.padding);
        let mut crossed = 0;
        self.places.set(self.given.iter().map(|&end| {
            let place = end as usize + padding;
            let lane = place % lanes;
            // If a block has a malformed escape, there are no records for the blocks after it.
            let Settled { start, mask } = settled.get(place / lanes).copied().unwrap_or_default();
            // If the first lane after an end was dropped as a digit, an escape crosses that end.
            crossed |= if BY < 0 { mask >> lane } else { 0 };
            let others = (mask & ((1 << lane) - 1)).count_ones() as isize;
            start.wrapping_add(lane).wrapping_add_signed(BY * others) as u32
        }));
        *self.crossed = crossed & 1 != 0;
    }
}
