//! The kernels that write no text: they mark the places of bytes, and list the places of bits.

use super::{Isa, Tier, low_mask};
use crate::kernel::job::{self, RowState, Search, Stops};

/// Marks the places of four bytes.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn mark<T: Tier>(tier: T, bytes: [u8; 4], input: &[u8], marks: &mut [[u64; 4]]) {
    let isa = tier.wide();
    // Whole blocks need no mask of their lanes.
    let (blocks, rest) = input.as_chunks::<64>();
    let mut marks = marks.iter_mut();
    for (block, marks) in blocks.iter().zip(&mut marks) {
        *marks = Blockwise(isa).places(block, bytes);
    }
    if let (false, Some(marks)) = (rest.is_empty(), marks.next()) {
        *marks = Blockwise(isa).places(rest, bytes).map(|found| found & low_mask(rest.len()));
    }
}

/// Marks the rows of a table. See [`job::mark_rows`].
#[cfg_attr(optimized, inline(always))]
pub(crate) fn rows<T: Tier>(
    tier: T,
    delimiter: u8,
    input: &[u8],
    state: &mut RowState,
    marks: &mut [[u64; 4]],
) -> usize {
    job::mark_rows(delimiter, input, state, marks, Blockwise(tier.wide()))
}

/// The search for bytes in one block after another.
#[derive(Clone, Copy)]
struct Blockwise<I>(I);

impl<I: Isa> Blockwise<I> {
    /// Returns the places of each of `bytes` in at most 64 bytes. Places after their end are unspecified.
    #[cfg_attr(optimized, inline(always))]
    fn places<const N: usize>(self, block: &[u8], bytes: [u8; N]) -> [u64; N] {
        let mut found = [0; N];
        for (index, part) in block.chunks(I::LANES).enumerate() {
            let part = self.0.load(part);
            for i in 0..N {
                found[i] |= self.0.eq(part, bytes[i]) << (index * I::LANES);
            }
        }
        found
    }
}

impl<I: Isa> Search for Blockwise<I> {
    #[cfg_attr(optimized, inline(always))]
    fn find(self, block: &[u8; 64], bytes: [u8; 5]) -> [u64; 5] {
        self.places(block, bytes)
    }
}

/// Lists the places of bits, and returns their number.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn list<T: Tier>(tier: T, words: &[u64], places: &mut [u32]) -> usize {
    let isa = tier.wide();
    let mut count = 0;
    for (&word, first) in words.iter().zip((0..).step_by(64)) {
        // The words before this one have at most 64 places each, so this never ends early.
        let Some(places) = places.get_mut(count..).and_then(<[u32]>::first_chunk_mut) else { break };
        isa.list(word, first, places);
        count += word.count_ones() as usize;
    }
    count
}

/// Lists the places where fields end.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn stops<T: Tier>(tier: T, blocks: &[[u64; 4]], places: &mut [u32]) -> Stops {
    let isa = tier.wide();
    let (mut stops, mut irregular) = (Stops::default(), 0);
    for (&[_, end, delimiter, other], first) in blocks.iter().zip((0..).step_by(64)) {
        // The blocks before this one have at most 64 places each, so the loop never ends early.
        let Some(places) = places.get_mut(stops.count..).and_then(<[u32]>::first_chunk_mut) else { break };
        isa.list(end | delimiter, first, places);
        stops.count += (end | delimiter).count_ones() as usize;
        stops.ends += end.count_ones() as usize;
        irregular |= other;
    }
    stops.has_irregular = irregular != 0;
    stops
}
