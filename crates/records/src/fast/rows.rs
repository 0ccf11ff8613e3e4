//! Finds the ends of the rows of a table in a buffer that grows, in blocks of 64 bytes. [`Ends`] reads the blocks in which a quote is not where
//! RFC 4180 has it.

use simdpct::Tier;

use super::masks::{self, BLOCK, Block, RowState};
use crate::ends::{Ends, Quotes, State};

/// The places of the ends of rows in a chunk, and of the bytes that are necessary to find the cells. The list is empty while the
/// chunk has no quote, because every line feed ends a row then.
#[derive(Clone, Debug, Default)]
pub struct RowMarks {
    /// The first `len` entries are the list.
    blocks: Vec<Block>,
    len: usize,
    has_quoted_feeds: bool,
    has_returns: bool,
}

impl RowMarks {
    /// Reports whether the list is empty because every line feed ends a row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the places in each block of the chunk.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks[..self.len]
    }

    /// Returns the entries for the next `count` blocks. They join the list when `len` counts them.
    fn room(&mut self, count: usize) -> &mut [Block] {
        let end = self.len + count;
        if self.blocks.len() < end {
            self.blocks.resize(end, [0; 4]);
        }
        &mut self.blocks[self.len..end]
    }

    /// Reports whether the chunk may have a carriage return, or NUL.
    pub fn has_returns(&self) -> bool {
        self.has_returns
    }

    /// Reports whether a row may consist of several lines.
    pub fn may_have_long_rows(&self) -> bool {
        self.has_quoted_feeds
    }

    /// Removes all marks, so that every line feed ends a row.
    pub fn clear(&mut self) {
        *self = RowMarks { blocks: std::mem::take(&mut self.blocks), ..RowMarks::default() };
    }

    /// Returns the end of the row that contains byte `at`, if the row is complete.
    pub fn end(&self, at: usize) -> Option<usize> {
        let blocks = self.blocks();
        let (mut index, mut word) = (at / BLOCK, blocks.get(at / BLOCK)?[1] & u64::MAX << (at % BLOCK));
        while word == 0 {
            index += 1;
            word = blocks.get(index)?[1];
        }
        Some(index * BLOCK + word.trailing_zeros() as usize + 1)
    }

    /// Returns the start of the row that contains byte `at`.
    pub fn start(&self, at: usize) -> usize {
        let (blocks, whole, rest) = (self.blocks(), at / BLOCK, at % BLOCK);
        let word = blocks.get(whole).map_or(0, |block| block[1] & !(u64::MAX << rest));
        let before = blocks[..blocks.len().min(whole)].iter().map(|block| block[1]).enumerate().rev();
        let mut words = std::iter::once((whole, word)).chain(before);
        let last = words.find(|(_, word)| *word != 0);
        last.map_or(0, |(index, word)| index * BLOCK + BLOCK - word.leading_zeros() as usize)
    }
}

/// The number of blocks that are marked with one call after a block with a misplaced quote.
const FEW: usize = 4;

/// Marks the ends of rows in a buffer that grows.
#[derive(Clone, Copy, Debug)]
pub struct RowScan {
    tier: Tier,
    /// The state after the last complete block.
    ends: Ends,
    /// The state after all bytes.
    last: Ends,
    /// The number of bytes in complete blocks.
    done: usize,
    /// The number of bytes that are known to contain no quote.
    searched: usize,
    /// The offset after the last complete row; `None` before the first one.
    end: Option<usize>,
}

impl RowScan {
    /// Starts in the state `ends`, at the beginning of a row.
    pub fn new(ends: Ends) -> RowScan {
        RowScan { tier: Tier::active(), ends, last: ends, done: 0, searched: 0, end: None }
    }

    /// Uses the instructions of `tier`.
    #[doc(hidden)]
    #[must_use]
    pub fn tier(self, tier: Tier) -> RowScan {
        RowScan { tier, ..self }
    }

    /// Marks the ends in `bytes`, which begins with the bytes of the previous call, and returns the last end.
    pub fn update(&mut self, bytes: &[u8], marks: &mut RowMarks) -> Option<usize> {
        if marks.is_empty() {
            let more = &bytes[self.searched..];
            if memchr::memchr(b'"', more).is_none() {
                let found = memchr::memrchr(b'\n', more).map(|found| self.searched + found + 1);
                (self.end, self.searched) = (found.or(self.end), bytes.len());
                // Without a quote, only the last byte matters.
                let _ = self.last.next(&more[more.len().saturating_sub(1)..]);
                return self.end;
            }
        }
        marks.len = marks.len.min(self.done / BLOCK);
        let (blocks, rest) = bytes[self.done..].as_chunks::<BLOCK>();
        self.mark(blocks, marks);
        self.done += blocks.len() * BLOCK;
        self.last = self.ends;
        if !rest.is_empty() {
            self.last.mark(rest, marks);
        }
        self.end = Some(marks.start(bytes.len())).filter(|&end| end > 0);
        self.end
    }

    /// Returns the state after all bytes.
    pub fn last(&self) -> Ends {
        self.last
    }

    /// Processes `blocks`, and marks the line feeds that end a row.
    fn mark(&mut self, blocks: &[[u8; BLOCK]], marks: &mut RowMarks) {
        // After a misplaced quote, few blocks are marked with one call, because others may follow, and many are marked in vain then.
        let (mut rest, mut most) = (blocks, usize::MAX);
        while !rest.is_empty() {
            let next = &rest[..rest.len().min(most)];
            let mut done = 0;
            if let Some(mut state) = self.ends.rows() {
                let delimiter = self.ends.dialect.delimiter;
                let room = marks.room(next.len());
                done = masks::mark_rows(self.tier, next.as_flattened(), delimiter, &mut state, room);
                marks.len += done;
                marks.has_quoted_feeds |= state.has_quoted_feeds;
                marks.has_returns |= state.has_returns;
                self.ends.state = Ends::state(state);
                rest = &rest[done..];
                most = most.saturating_mul(2);
            }
            if let (Some((block, others)), true) = (rest.split_first(), done < next.len()) {
                self.ends.mark(block, marks);
                (rest, most) = (others, FEW);
            }
        }
    }
}

impl Ends {
    /// Returns the state for [`masks::mark_rows`], if it has this state and knows the dialect.
    fn rows(&self) -> Option<RowState> {
        let is_known =
            self.dialect.quotes == Quotes::Strict && !matches!(self.state, State::Escape | State::Lost);
        is_known.then_some(RowState {
            is_quoted: self.state == State::Quoted,
            may_open: matches!(self.state, State::Start | State::Quote),
            has_closed: self.state == State::Quote,
            has_return: self.state == State::Return,
            has_returns: false,
            has_quoted_feeds: false,
        })
    }

    /// Returns the state that [`masks::mark_rows`] has replaced.
    fn state(rows: RowState) -> State {
        match rows {
            RowState { is_quoted: true, .. } => State::Quoted,
            RowState { has_closed: true, .. } => State::Quote,
            RowState { has_return: true, .. } => State::Return,
            RowState { may_open: true, .. } => State::Start,
            _ => State::Bare,
        }
    }

    /// Processes at most one block with [`Ends::next`], which also reads misplaced quotes, and marks it.
    #[cold]
    fn mark(&mut self, block: &[u8], marks: &mut RowMarks) {
        let (mut at, mut ends) = (0, 0_u64);
        while let Some(len) = self.next(&block[at..]) {
            at += len;
            ends |= 1 << (at - 1);
        }
        let feeds = memchr::memchr_iter(b'\n', block).count();
        marks.has_quoted_feeds |= feeds > ends.count_ones() as usize;
        marks.has_returns |= memchr::memchr2(b'\r', 0, block).is_some();
        // The other places are not known, so the whole block is irregular.
        marks.room(1)[0] = [0, ends, 0, u64::MAX];
        marks.len += 1;
    }
}
