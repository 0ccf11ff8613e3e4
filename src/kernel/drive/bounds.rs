//! The ends of values in an input: of one value that is the whole input, or of a batch of adjacent values. "lab: NAME" names the page
//! docs/lab/DATE-NAME.md.

use super::{Isa, Tier};
use crate::kernel::cursor::{Cursor, OutputSpan};
pub(super) use crate::kernel::ends::Bounds;
use crate::kernel::ends::{self, Ends, Follow, Placing};
use crate::kernel::job::Marks;

/// The bounds of a single value, which ends where the input ends.
pub(super) struct Single;

impl Bounds for Single {
    const MANY: bool = false;
}

/// The bounds of a single value in which only marked escapes are decoded.
pub(super) struct MarkedEscapes<'m> {
    marks: Marks<'m>,
    /// The index of the mark after those of the input's bytes.
    end: usize,
}

impl<'m> MarkedEscapes<'m> {
    /// Makes the bounds of an input of `len` bytes.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn new(marks: Marks<'m>, len: usize) -> Self {
        MarkedEscapes { marks, end: marks.first.wrapping_add(len) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn word(&self, index: usize) -> u64 {
        if let Some(&word) = self.marks.words.get(index) { word } else { 0 }
    }
}

impl Bounds for MarkedEscapes<'_> {
    const MANY: bool = true;
    const MARKED: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn cut(&self, left: usize, _padding: usize) -> u64 {
        let at = self.end.wrapping_sub(left);
        let (index, shift) = (at / 64, at % 64);
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
}

/// Returns the bounds of the values of a batch, whose output begins at the start of `out`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn follow<'e, I: Isa>(ends: &'e mut Ends, out: OutputSpan<'_>) -> Follow<'e> {
    const { assert!(I::LANES == ends::LANES, "one word is the record of a block") };
    ends.follow(Cursor::new(out).address())
}

/// Computes the ends of the values in the output of `written` bytes. Each lane in the masks of the recorded blocks became `1 + by` bytes.
///
/// Reports whether a decoded escape crosses the end of a value. The output is then wrong. This happens only if the ends
/// are not marked.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn place_ends<T: Tier>(tier: T, by: i32, written: usize, ends: &mut Ends) -> bool {
    let isa = tier.wide();
    let Placing { records, given, places } = ends.placing(written);
    let by = by.cast_unsigned();
    let mut crossing = 0;
    for (places, given) in places.iter_mut().zip(given) {
        if let Some(gain) = records.gain(given[0], given[given.len() - 1]) {
            for (place, end) in places.iter_mut().zip(given) {
                *place = end.wrapping_add(gain);
            }
        } else if !isa.place_ends(given, records, by, places, &mut crossing) {
            // A separate loop counts the bits, because it handles several masks at a time (lab: columns).
            let mut rests = [0; ends::PLACED_TOGETHER];
            for ((place, end), last) in places.iter_mut().zip(given).zip(&mut rests) {
                let Some((start, rest)) = records.place(*end) else { break };
                (*place, *last) = (start, rest);
                crossing |= rest;
            }
            for (place, rest) in places.iter_mut().zip(rests) {
                *place = place.wrapping_sub(by.wrapping_mul(rest.count_ones()));
            }
        }
    }
    by.cast_signed() < 0 && crossing & 1 != 0
}
