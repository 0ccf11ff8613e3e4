//! The ends of values in an input: of one value that is the whole input, or of a batch of adjacent values.

use super::Isa;
use crate::kernel::ends::{Follow, GROUP, Records};
use crate::kernel::job::Marks;

/// The ends of the values in an input. See [`Follow`] for the methods. For a single value they do nothing, so the compiler
/// removes the calls.
pub(super) trait Bounds {
    /// Whether there may be ends inside the input.
    const MANY: bool;

    /// Whether [`Bounds::cut`] has all lanes but those of marked escapes.
    const MARKED: bool = false;

    /// Returns the lanes of the next block at which no escape is decoded: the last two before an end, or those without a mark.
    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, _lanes: usize, _padding: usize) -> u64 {
        0
    }

    /// Returns the lanes that are the last two before an end, of those that [`Bounds::cut`] returned.
    #[cfg_attr(optimized, inline(always))]
    fn last_two(&self, _cut: u64) -> u64 {
        0
    }

    /// Reports whether decoding ends at the first escape that stays because of the set.
    #[cfg_attr(optimized, inline(always))]
    fn ends_at_kept(&self) -> bool {
        false
    }

    /// Records the next block.
    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, _written: usize, _mask: u64, _padding: usize) {}

    /// Records the next `M` blocks, which stay unchanged. The first is `padding` lanes short.
    #[cfg_attr(optimized, inline(always))]
    fn settle_clean<const M: usize>(&mut self, _written: usize, _lanes: usize, _padding: usize) {}

    /// Computes the ends in the output, after the last block.
    #[cfg_attr(optimized, inline(always))]
    fn finish<I: Isa, const BY: isize>(&mut self, _isa: I, _written: usize) {}
}

/// The bounds of a single value, which ends where the input ends.
pub(super) struct Single;

impl Bounds for Single {
    const MANY: bool = false;
}

/// The bounds of a single value in which only the escapes at marked places are decoded.
pub(super) struct Marked<'m> {
    marks: Marks<'m>,
    /// The number of the bit of the next block.
    at: usize,
    lanes: usize,
}

impl<'m> Marked<'m> {
    /// Begins at the start of an input, for blocks of `lanes` bytes.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn new(marks: Marks<'m>, lanes: usize) -> Self {
        Marked { marks, at: marks.first, lanes }
    }

    #[cfg_attr(optimized, inline(always))]
    fn word(&self, index: usize) -> u64 {
        if let Some(&word) = self.marks.words.get(index) { word } else { 0 }
    }
}

impl Bounds for Marked<'_> {
    const MANY: bool = true;
    const MARKED: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, _lanes: usize, _padding: usize) -> u64 {
        let (index, shift) = (self.at / 64, self.at % 64);
        let mut marks = self.word(index) >> shift;
        if shift > 0 {
            marks |= self.word(index + 1) << (64 - shift);
        }
        !marks
    }

    #[cfg_attr(optimized, inline(always))]
    fn ends_at_kept(&self) -> bool {
        self.marks.strict
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, _written: usize, _mask: u64, padding: usize) {
        self.at += self.lanes - padding;
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle_clean<const M: usize>(&mut self, _written: usize, lanes: usize, padding: usize) {
        self.at += M * lanes - padding;
    }
}

impl Bounds for Follow<'_> {
    const MANY: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, lanes: usize, padding: usize) -> u64 {
        Follow::cut(self, lanes, padding)
    }

    #[cfg_attr(optimized, inline(always))]
    fn last_two(&self, cut: u64) -> u64 {
        cut
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, written: usize, mask: u64, padding: usize) {
        Follow::settle(self, written, mask, padding);
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle_clean<const M: usize>(&mut self, written: usize, lanes: usize, padding: usize) {
        Follow::settle_clean::<M>(self, written, lanes, padding);
    }

    #[cfg_attr(optimized, inline(always))]
    fn finish<I: Isa, const BY: isize>(&mut self, isa: I, written: usize) {
        let Records { masks, befores, afters, shift, given, count, places, crossed } =
            self.records(written, I::LANES);
        let mut crossing = 0;
        for group in given.as_chunks::<GROUP>().0 {
            let added = added::<I>(group[0], group[GROUP - 1], befores, afters, shift);
            for half in group.as_chunks::<8>().0 {
                let mut half = *half;
                for place in &mut half {
                    *place = place.wrapping_add(added.unwrap_or(shift.wrapping_neg()));
                }
                if added.is_none() && !isa.place::<BY>(&mut half, masks, afters, &mut crossing) {
                    for place in &mut half {
                        *place = place_one::<I, BY>(*place, masks, afters, shift, &mut crossing);
                    }
                }
                places.push_all(half);
            }
        }
        places.truncate(count);
        *crossed = BY < 0 && crossing & 1 != 0;
    }
}

/// Returns the number to add to ends in the input from `first` to `last` to get those in the output, if nothing changed in their
/// blocks. See [`Records`] for the other arguments.
#[cfg_attr(optimized, inline(always))]
fn added<I: Isa>(first: u32, last: u32, befores: &[u32], afters: &[u32], shift: u32) -> Option<u32> {
    let (first, last) = (first.wrapping_sub(shift), last.wrapping_sub(shift));
    let [first_block, last_block] = [first, last].map(|place| place as usize / I::LANES);
    // The bytes in the output before the first block and after the last one, less those in the input. Blocks before the records are
    // unchanged; those after a malformed escape have no record, either.
    let before = match befores.get(first_block) {
        Some(before) => before.wrapping_sub((first_block * I::LANES) as u32),
        None => shift,
    };
    let after = match afters.get(last_block) {
        Some(after) => after.wrapping_sub(((last_block + 1) * I::LANES) as u32),
        None if last.cast_signed() < 0 => shift,
        None => return None,
    };
    (before == after).then_some(before.wrapping_sub(shift))
}

/// Returns the end in the output of a value that ends at `place` in the blocks that have records, as [`Isa::place`] does for eight
/// values. See [`Records`] for the other arguments.
#[cfg_attr(optimized, inline(always))]
fn place_one<I: Isa, const BY: isize>(
    place: u32,
    masks: &[u64],
    afters: &[u32],
    shift: u32,
    crossing: &mut u64,
) -> u32 {
    let (block, lane) = (place as usize / I::LANES, place as usize % I::LANES);
    match (masks.get(block), afters.get(block)) {
        (Some(mask), Some(after)) => {
            // Counting the lanes from the place on needs no mask of those before it.
            let rest = mask >> lane;
            *crossing |= if BY < 0 { rest } else { 0 };
            let later = (I::LANES - lane) as u32;
            after.wrapping_sub(later).wrapping_sub((BY as u32).wrapping_mul(rest.count_ones()))
        }
        // The value ends before the records, or, if it does not matter where, after a malformed escape.
        _ => place.wrapping_add(shift),
    }
}
