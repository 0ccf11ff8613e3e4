//! Where the drivers' blocks go: to the caller's room, or only to a count.

use super::{Isa, first};
use crate::hex::HexCase;
use crate::kernel::cursor::Cursor;
use crate::kernel::job::Measure;

/// A receiver of blocks. One loop serves writing and measuring, so the two cannot disagree.
pub(super) trait Sink<I: Isa> {
    /// Whether what it takes is written.
    const WRITES: bool;
    /// Takes the first `lanes` lanes.
    fn store(&mut self, isa: I, block: I::Block, lanes: usize);
    /// Takes whole blocks.
    fn store_whole<const M: usize>(&mut self, isa: I, blocks: [I::Block; M]);
    /// Takes a short input as it is.
    fn copy(&mut self, input: &[u8]);
    /// Takes the first `lanes` lanes without those in `drop`.
    fn compress(&mut self, isa: I, block: I::Block, drop: u64, lanes: usize);
    /// Takes the first `lanes` lanes, those in `escape` as escapes.
    fn expand(&mut self, isa: I, block: I::Block, input: &[u8], escape: u64, lanes: usize, case: HexCase);
    /// The same, where these are all lanes that are not members of `class`.
    #[allow(clippy::too_many_arguments, reason = "those of `expand`, and the set")]
    fn expand_others(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        class: &I::Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
    );
    /// Takes a whole block of 64 lanes, all as escapes.
    fn expand_all(&mut self, isa: I, block: I::Block, input: &[u8], case: HexCase);
    /// The number of bytes taken.
    fn written(&self) -> usize;
    /// The number of bytes that there is room for.
    fn room(&self) -> usize;
    /// Hears whether something that was taken differs from the input.
    fn changed(&mut self, changed: bool);
}

impl<I: Isa> Sink<I> for Cursor<'_> {
    const WRITES: bool = true;
    #[inline(always)]
    fn store(&mut self, isa: I, block: I::Block, lanes: usize) {
        isa.store(block, lanes, self);
    }
    #[inline(always)]
    fn store_whole<const M: usize>(&mut self, isa: I, blocks: [I::Block; M]) {
        isa.store_whole(blocks, self);
    }
    #[inline(always)]
    fn copy(&mut self, input: &[u8]) {
        self.push_run(input);
    }
    #[inline(always)]
    fn compress(&mut self, isa: I, block: I::Block, drop: u64, lanes: usize) {
        isa.compress(block, drop, lanes, self);
    }
    #[inline(always)]
    fn expand(&mut self, isa: I, block: I::Block, input: &[u8], escape: u64, lanes: usize, case: HexCase) {
        isa.expand(block, input, escape, lanes, case, self);
    }
    #[inline(always)]
    fn expand_others(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        class: &I::Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
    ) {
        isa.expand_others(block, input, class, escape, lanes, case, self);
    }
    #[inline(always)]
    fn expand_all(&mut self, isa: I, block: I::Block, input: &[u8], case: HexCase) {
        isa.expand_all(block, input, case, self);
    }
    #[inline(always)]
    fn written(&self) -> usize {
        Cursor::written(self)
    }
    #[inline(always)]
    fn room(&self) -> usize {
        Cursor::room(self)
    }
    #[inline(always)]
    fn changed(&mut self, _: bool) {}
}

impl<I: Isa> Sink<I> for Measure {
    const WRITES: bool = false;
    #[inline(always)]
    fn store(&mut self, _: I, _: I::Block, lanes: usize) {
        self.len = self.len.saturating_add(lanes);
    }
    #[inline(always)]
    fn store_whole<const M: usize>(&mut self, _: I, _: [I::Block; M]) {
        self.len = self.len.saturating_add(M * I::LANES);
    }
    #[inline(always)]
    fn copy(&mut self, input: &[u8]) {
        self.len = self.len.saturating_add(input.len());
    }
    #[inline(always)]
    fn compress(&mut self, _: I, _: I::Block, drop: u64, lanes: usize) {
        self.len = self.len.saturating_add((first(lanes) & !drop).count_ones() as usize);
    }
    #[inline(always)]
    fn expand(&mut self, _: I, _: I::Block, _: &[u8], escape: u64, lanes: usize, _: HexCase) {
        self.len = self.len.saturating_add(lanes + 2 * escape.count_ones() as usize);
    }
    #[inline(always)]
    fn expand_others(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        _: &I::Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
    ) {
        self.expand(isa, block, input, escape, lanes, case);
    }
    #[inline(always)]
    fn expand_all(&mut self, _: I, _: I::Block, _: &[u8], _: HexCase) {
        self.len = self.len.saturating_add(3 * I::LANES);
    }
    #[inline(always)]
    fn written(&self) -> usize {
        self.len
    }
    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    fn changed(&mut self, changed: bool) {
        self.changed |= changed;
    }
}
