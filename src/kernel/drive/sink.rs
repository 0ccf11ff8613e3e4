//! Destinations of an encoding's blocks: the caller's memory, or only a count of bytes.

use super::{Isa, Lanes, Members};
use crate::kernel::cursor::Cursor;
use crate::kernel::job::Measure;

/// A receiver of blocks. Writing and measuring share one loop, so they cannot disagree.
pub(super) trait Sink<I: Isa> {
    /// Whether the sink writes the blocks. If not, it counts their bytes.
    const WRITES: bool;
    /// Receives the first `lanes` lanes of `block`.
    fn store(&mut self, isa: I, block: I::Block, lanes: Lanes<I>);
    /// Receives whole blocks.
    fn store_whole<const M: usize>(&mut self, isa: I, blocks: [I::Block; M]);
    /// Receives a short input unchanged.
    fn copy(&mut self, input: &[u8]);
    /// Receives the first `lanes` lanes of `block`, with those in `escape` as escapes.
    fn expand(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        escape: u64,
        lanes: Lanes<I>,
        spelling: I::Spelling,
    );
    /// Receives the first `lanes` lanes of `block`, with those that are not in `members` as escapes.
    fn expand_non_members(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        members: I::Members,
        lanes: Lanes<I>,
        spelling: I::Spelling,
    );
    /// Receives all lanes of `block` as escapes.
    fn expand_all(&mut self, isa: I, block: I::Block, input: &[u8], spelling: I::Spelling);
    /// Returns the address of the next byte, or 0 if the sink only counts.
    fn address(&self) -> usize;
    /// Returns the number of bytes received.
    fn written(&self) -> usize;
    /// Returns the number of bytes that the sink can still receive.
    fn spare(&self) -> usize;
    /// Reports whether the sink can still receive [`MAX_WINDOW`] bytes.
    fn has_window(&self) -> bool;
    /// Records that the output differs from the input if `changed`.
    fn changed(&mut self, changed: bool);
}

impl<I: Isa> Sink<I> for Cursor<'_> {
    const WRITES: bool = true;
    #[cfg_attr(optimized, inline(always))]
    fn store(&mut self, isa: I, block: I::Block, lanes: Lanes<I>) {
        isa.store(block, lanes, self);
    }
    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(&mut self, isa: I, blocks: [I::Block; M]) {
        isa.store_whole(blocks, self);
    }
    #[cfg_attr(optimized, inline(always))]
    fn copy(&mut self, input: &[u8]) {
        self.push_run(input);
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        escape: u64,
        lanes: Lanes<I>,
        spelling: I::Spelling,
    ) {
        isa.expand(block, input, escape, lanes, spelling, self);
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand_non_members(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        members: I::Members,
        lanes: Lanes<I>,
        spelling: I::Spelling,
    ) {
        isa.expand_non_members::<false>(block, input, members, lanes, spelling, self);
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand_all(&mut self, isa: I, block: I::Block, input: &[u8], spelling: I::Spelling) {
        isa.expand_all(block, input, spelling, self);
    }
    #[cfg_attr(optimized, inline(always))]
    fn address(&self) -> usize {
        Cursor::address(self)
    }
    #[cfg_attr(optimized, inline(always))]
    fn written(&self) -> usize {
        Cursor::written(self)
    }
    #[cfg_attr(optimized, inline(always))]
    fn spare(&self) -> usize {
        Cursor::spare(self)
    }
    #[cfg_attr(optimized, inline(always))]
    fn has_window(&self) -> bool {
        Cursor::has_window(self)
    }
    #[cfg_attr(optimized, inline(always))]
    fn changed(&mut self, _: bool) {}
}

impl Measure {
    #[cfg_attr(optimized, inline(always))]
    fn add(&mut self, bytes: usize) {
        self.len = self.len.saturating_add(bytes);
    }
}

impl<I: Isa> Sink<I> for Measure {
    const WRITES: bool = false;
    #[cfg_attr(optimized, inline(always))]
    fn store(&mut self, _: I, _: I::Block, lanes: Lanes<I>) {
        self.add(lanes.count());
    }
    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(&mut self, _: I, _: [I::Block; M]) {
        self.add(M * I::LANES);
    }
    #[cfg_attr(optimized, inline(always))]
    fn copy(&mut self, input: &[u8]) {
        self.add(input.len());
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand(&mut self, _: I, _: I::Block, _: &[u8], escape: u64, lanes: Lanes<I>, _: I::Spelling) {
        self.add(lanes.count() + 2 * escape.count_ones() as usize);
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand_non_members(
        &mut self,
        isa: I,
        block: I::Block,
        input: &[u8],
        members: I::Members,
        lanes: Lanes<I>,
        spelling: I::Spelling,
    ) {
        self.expand(isa, block, input, !members.mask() & lanes.mask(), lanes, spelling);
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand_all(&mut self, _: I, _: I::Block, _: &[u8], _: I::Spelling) {
        self.add(3 * I::LANES);
    }
    #[cfg_attr(optimized, inline(always))]
    fn address(&self) -> usize {
        0
    }
    #[cfg_attr(optimized, inline(always))]
    fn written(&self) -> usize {
        self.len
    }
    #[cfg_attr(optimized, inline(always))]
    fn spare(&self) -> usize {
        usize::MAX
    }
    #[cfg_attr(optimized, inline(always))]
    fn has_window(&self) -> bool {
        true
    }
    #[cfg_attr(optimized, inline(always))]
    fn changed(&mut self, changed: bool) {
        self.changed |= changed;
    }
}
