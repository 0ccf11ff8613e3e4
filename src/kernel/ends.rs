//! Where values end, when a kernel takes many of them as one stream of blocks.

use core::mem::MaybeUninit;

use crate::kernel::slots::{Few, Slots};

/// The most values that are handed to a kernel together.
pub(crate) const MAX_VALUES: usize = 256;

/// The most bytes that these have together.
pub(crate) const MAX_BYTES: usize = 8 * 1024;

/// The fewest lanes of a block of an input that is longer than one block.
const LANES: usize = 64;

/// The blocks of that many bytes, one more because the first may be short, one that begins where the bytes end, and the
/// one after it, at which [`Follow::cut`] looks.
const BLOCKS: usize = MAX_BYTES / LANES + 3;

/// What the ends in a block need to know of it: where its first lane is in the output, and the lanes that become more bytes
/// than one, or none.
#[derive(Clone, Copy, Default)]
struct Settled {
    start: usize,
    mask: u64,
}

/// Where many values end, which are at most [`MAX_BYTES`] bytes together; and room for their blocks of 64 lanes, or for
/// one block.
///
/// How many values end in a block cannot be predicted, so the loop over blocks has no loop over ends in it: ends are
/// settled after it, and marked before it only if blocks have to know them. Only as much is written as the values need, so a
/// few values cost little.
pub(crate) struct Ends {
    /// Ascending, and within the input.
    given: Few<u32, MAX_VALUES>,
    /// The same in the output.
    places: Few<u32, MAX_VALUES>,
    /// Whether an escape was decoded that reaches over an end.
    crossed: bool,
    /// Bit `i` of word `b`: a value ends before lane `i` of block `b`.
    marks: Few<u64, BLOCKS>,
    settled: [MaybeUninit<Settled>; BLOCKS],
}

impl Ends {
    /// No values.
    #[inline(always)]
    pub(crate) fn new() -> Ends {
        Ends {
            given: Few::new(),
            places: Few::new(),
            crossed: false,
            marks: Few::new(),
            settled: [const { MaybeUninit::uninit() }; BLOCKS],
        }
    }

    /// Takes the ends of values, the first [`MAX_VALUES`], in place of those it has.
    #[inline(always)]
    pub(crate) fn set(&mut self, ends: impl ExactSizeIterator<Item = usize>) {
        self.given.set(ends.map(|end| end as u32));
    }

    /// The ends in the input, and where those in the output go.
    #[inline(always)]
    pub(crate) fn each(&mut self) -> (&[u32], &mut Few<u32, MAX_VALUES>) {
        self.places.truncate(0);
        (self.given.as_slice(), &mut self.places)
    }

    /// The ends in the output.
    #[inline(always)]
    pub(crate) fn places(&self) -> &[u32] {
        self.places.as_slice()
    }

    /// Prepares for blocks of `lanes`, of which the first is `missing` lanes short; with marks for [`Follow::cut`], or without,
    /// if nothing is to be cut.
    #[inline(always)]
    pub(crate) fn follow(&mut self, missing: usize, lanes: usize, marked: bool) -> Follow<'_> {
        if marked {
            self.mark(missing, lanes);
        } else {
            self.marks.truncate(0);
        }
        Follow {
            given: self.given.as_slice(),
            places: &mut self.places,
            crossed: &mut self.crossed,
            marks: self.marks.as_slice(),
            missing,
            settled: Slots::new(&mut self.settled),
        }
    }

    /// Whether an escape was decoded that reaches over an end, in blocks of which the ends were not marked. All that was written
    /// is then of no use.
    #[inline(always)]
    pub(crate) fn crossed(&self) -> bool {
        self.crossed
    }

    #[inline(always)]
    fn mark(&mut self, missing: usize, lanes: usize) {
        let ends = self.given.as_slice();
        // The last block looks at the one after it, and no block further.
        let last = ends.last().map_or(0, |&end| (end as usize + missing) / lanes);
        self.marks.fill(0, last + 2);
        let marks = self.marks.as_mut_slice();
        for &end in ends {
            let end = end as usize + missing;
            debug_assert!(end / lanes < marks.len());
            if let Some(mark) = marks.get_mut(end / lanes) {
                *mark |= 1 << (end % lanes);
            }
        }
    }
}

/// [`Ends`], while a kernel goes from block to block. What changes with each of them is here and not there, so that it is in
/// registers: a count in memory would make each block wait for the one before.
pub(crate) struct Follow<'e> {
    given: &'e [u32],
    places: &'e mut Few<u32, MAX_VALUES>,
    crossed: &'e mut bool,
    /// Empty if nothing is cut.
    marks: &'e [u64],
    /// How many lanes the first block has too few. They are counted as its first, so that ends and blocks are `missing` apart.
    missing: usize,
    /// One entry for each block so far.
    settled: Slots<'e, Settled>,
}

impl Follow<'_> {
    /// The lanes of the next block, of `lanes` of which `missing` are, that are the last two before an end.
    #[inline(always)]
    pub(crate) fn cut(&self, lanes: usize, missing: usize) -> u64 {
        let (marks, block) = (self.marks, self.settled.len());
        debug_assert!(block + 1 < marks.len());
        let mark = |block: usize| marks.get(block).copied().unwrap_or(0);
        let (here, next) = (mark(block), mark(block + 1));
        (here >> 1 | here >> 2 | next << (lanes - 1) | next << (lanes - 2)) >> missing
    }

    /// Remembers the next block, of which `missing` lanes are missing: the output has `written` bytes before it, and the lanes
    /// of `mask` become more bytes than one, or none.
    #[inline(always)]
    pub(crate) fn settle(&mut self, written: usize, mask: u64, missing: usize) {
        debug_assert!(self.settled.spare() > 0);
        self.settled.push(Settled { start: written.wrapping_sub(missing), mask: mask << missing });
    }

    /// After the last block, of `lanes`, when the output has `written` bytes: turns each end in the input into one in the
    /// output, where each lane of a mask gives `BY` bytes more than one.
    #[inline(always)]
    pub(crate) fn finish<const BY: isize>(&mut self, written: usize, lanes: usize) {
        self.settle(written, 0, 0);
        let (settled, missing) = (self.settled.as_slice(), self.missing);
        let mut crossed = 0;
        self.places.set(self.given.iter().map(|&end| {
            let place = end as usize + missing;
            let lane = place % lanes;
            // Blocks after the one in which a value is refused are not there.
            let Settled { start, mask } = settled.get(place / lanes).copied().unwrap_or_default();
            // The first lane after an end cannot be a digit of an escape before it.
            crossed |= if BY < 0 { mask >> lane } else { 0 };
            let others = (mask & ((1 << lane) - 1)).count_ones() as isize;
            start.wrapping_add(lane).wrapping_add_signed(BY * others) as u32
        }));
        *self.crossed = crossed & 1 != 0;
    }
}
