//! The ends of values in an input: of one value that is the whole input, or of a batch of adjacent values.

use crate::kernel::ends::Follow;
use crate::kernel::job::Marks;

use super::low_mask;

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

    /// Computes the ends in the output, after the last block.
    #[cfg_attr(optimized, inline(always))]
    fn finish<const BY: isize>(&mut self, _written: usize, _lanes: usize) {}
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
}

/// The bounds of a field that other bytes follow. Decoding ends at an escape that stays because of the set.
pub(super) struct Field {
    /// The number of bytes of the field from the next block on.
    pub(super) left: usize,
    /// The number of bytes in a block.
    pub(super) lanes: usize,
}

impl Bounds for Field {
    const MANY: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, _lanes: usize, _padding: usize) -> u64 {
        !low_mask(self.left.saturating_sub(2))
    }

    #[cfg_attr(optimized, inline(always))]
    fn last_two(&self, cut: u64) -> u64 {
        cut
    }

    #[cfg_attr(optimized, inline(always))]
    fn ends_at_kept(&self) -> bool {
        true
    }

    #[cfg_attr(optimized, inline(always))]
    fn settle(&mut self, _written: usize, _mask: u64, padding: usize) {
        self.left -= self.lanes - padding;
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
    fn finish<const BY: isize>(&mut self, written: usize, lanes: usize) {
        Follow::finish::<BY>(self, written, lanes);
    }
}
