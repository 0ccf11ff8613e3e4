//! Finds the ends of the rows of a table in a buffer that grows, in blocks of 64 bytes. [`Ends`] reads the blocks that have a quote where
//! RFC 4180 allows none, an incomplete last block, and all blocks in a dialect with backslashes. If a row is unreadable, and one of its
//! lines after the first is a row of the table by itself, the unreadable row ends before that line
//! ([`Table::resume`](crate::Table::resume)).

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};
use simdpct::Tier;

use super::masks::{self, BLOCK, Block};
use crate::ends::{Dialect, Ends};

/// The places of the ends of rows in a chunk of the input, and of the bytes that are necessary to find the cells. The
/// list is empty while the chunk has no quote, because every line feed ends a row then.
#[derive(Clone, Debug, Default)]
pub struct RowMarks {
    /// The first `len` entries are the list.
    blocks: Vec<Block>,
    len: usize,
    /// Whether there may be a carriage return, or NUL, in the marked blocks.
    has_returns: bool,
}

impl RowMarks {
    /// Reports whether the list is empty because every line feed ends a row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the masks of each block of the chunk.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks[..self.len]
    }

    /// Reports whether the marked blocks may have a carriage return, or NUL. If no block is marked, the result is false, whatever the chunk holds.
    pub fn has_returns(&self) -> bool {
        self.has_returns
    }

    /// Removes all marks, so that every line feed ends a row.
    pub fn clear(&mut self) {
        self.len = 0;
        self.has_returns = false;
    }

    /// Returns the end of the row that contains byte `at`, if the row is complete. The list must not be empty.
    pub fn end(&self, at: usize) -> Option<usize> {
        masks::next_bit(self.blocks(), |block| block[1], at).map(|end| end + 1)
    }

    /// Returns the start of the row that contains byte `at`. The list must not be empty.
    pub fn start(&self, at: usize) -> usize {
        masks::last_bit(self.blocks(), |block| block[1], at).map_or(0, |end| end + 1)
    }

    /// Returns the first irregular byte in `range`: a line feed in quotes, or any byte of a block that [`Ends`] read.
    pub fn irregular(&self, range: Range<usize>) -> Option<usize> {
        let blocks = self.blocks().get(..range.end.div_ceil(BLOCK))?;
        masks::next_bit(blocks, |block| block[3], range.start).filter(|&at| at < range.end)
    }

    /// Removes the marks from `end` on. If `end` is inside a block, all bytes of the block become irregular, because only the ends of
    /// rows are known.
    fn truncate(&mut self, end: usize) {
        self.len = self.len.min(end.div_ceil(BLOCK));
        if !end.is_multiple_of(BLOCK) {
            self.distrust(end / BLOCK);
            self.blocks[end / BLOCK][1] &= !(u64::MAX << (end % BLOCK));
        }
    }

    /// Makes all bytes of block number `index` irregular.
    fn distrust(&mut self, index: usize) {
        self.blocks[index] = [0, self.blocks[index][1], 0, u64::MAX];
    }

    /// Marks the line feed at `at` as the end of a row.
    fn end_at(&mut self, at: usize) {
        self.blocks[at / BLOCK][1] |= 1 << (at % BLOCK);
    }
}

/// A function that is given a row with its line end. If the row is unreadable, it returns the offset at which reading
/// goes on, if any. See [`Table::resume`](crate::Table::resume).
pub trait Resume: Fn(&[u8]) -> Option<usize> + Copy {}

impl<F: Fn(&[u8]) -> Option<usize> + Copy> Resume for F {}

/// The number of bytes that are marked with one call after a block with a misplaced quote. If more such quotes follow,
/// a longer call would do useless work.
const FEW: usize = 4 * BLOCK;

/// Marks the ends of records in a buffer that grows.
#[derive(Clone, Copy, Debug)]
pub struct RowScan {
    tier: Tier,
    dialect: Dialect,
    /// The state at `done`.
    ends: Ends,
    /// The number of bytes that are marked for good: whole blocks, or those before a row at which reading goes on.
    done: usize,
    /// The number of bytes that are known to contain no quote.
    searched: usize,
    /// The offset after the last complete record; `None` before the first one.
    end: Option<usize>,
}

impl RowScan {
    /// Starts at the beginning of a record.
    pub fn new(dialect: Dialect) -> RowScan {
        RowScan { tier: Tier::active(), dialect, ends: Ends::new(dialect), done: 0, searched: 0, end: None }
    }

    /// Uses the instructions of `tier`.
    #[doc(hidden)]
    #[must_use]
    pub fn tier(self, tier: Tier) -> RowScan {
        RowScan { tier, ..self }
    }

    /// Marks the ends in `bytes`, which begins with the bytes of the previous call, and returns the last end. After an
    /// unreadable record, reading goes on where `resume` says.
    pub fn update(&mut self, bytes: &[u8], marks: &mut RowMarks, resume: impl Resume) -> Option<usize> {
        if marks.is_empty() {
            let more = &bytes[self.searched..];
            if memchr(b'"', more).is_none() {
                let found = memrchr(b'\n', more).map(|found| self.searched + found + 1);
                (self.end, self.searched) = (found.or(self.end), bytes.len());
                return self.end;
            }
        }
        marks.truncate(self.done);
        let (mut at, mut ends, mut most) = (self.done, self.ends, usize::MAX);
        while at < bytes.len() {
            if at.is_multiple_of(BLOCK) {
                (self.done, self.ends) = (at, ends);
                let next = &bytes[at..];
                let next = &next[..next.len().min(most)];
                let count = self.mark(next, &mut ends, marks);
                at += count * BLOCK;
                if count > 0 && count == next.len() / BLOCK {
                    most = most.saturating_mul(2);
                    continue;
                }
                most = FEW;
                (self.done, self.ends) = (at, ends);
                if at == bytes.len() {
                    break;
                }
                marks.blocks.truncate(marks.len);
                marks.blocks.push([0, 0, 0, u64::MAX]);
                marks.len += 1;
            }
            at = self.step(bytes, at, &mut ends, marks, resume);
        }
        if at.is_multiple_of(BLOCK) {
            (self.done, self.ends) = (at, ends);
        }
        self.end = Some(marks.start(bytes.len())).filter(|&end| end > 0);
        self.end
    }

    /// Marks the first whole blocks of `bytes`, up to one with a misplaced quote, and returns their number.
    fn mark(&self, bytes: &[u8], ends: &mut Ends, marks: &mut RowMarks) -> usize {
        let RowMarks { blocks, len, has_returns } = marks;
        let end = *len + bytes.len() / BLOCK;
        blocks.resize(blocks.len().max(end), [0; 4]);
        let count = masks::mark_rows(self.tier, bytes, ends, has_returns, &mut blocks[*len..end]);
        *len += count;
        count
    }

    /// Reads `bytes` from `at` up to the end of the record or of the block, and marks the end. Returns the place where reading goes on, in
    /// the state `ends`.
    #[cold]
    fn step(
        &mut self,
        bytes: &[u8],
        at: usize,
        ends: &mut Ends,
        marks: &mut RowMarks,
        resume: impl Resume,
    ) -> usize {
        let stop = bytes.len().min((at / BLOCK + 1) * BLOCK);
        marks.has_returns |= memchr2(b'\r', 0, &bytes[at..stop]).is_some();
        let Some(len) = ends.next(&bytes[at..stop]) else { return stop };
        let (start, end) = (marks.start(at + len - 1), at + len);
        marks.end_at(end - 1);
        let Some(len) = resume(&bytes[start..end]) else { return end };
        self.restart(start + len, marks);
        *ends = self.ends;
        self.done
    }

    /// Ends the record at `at`, and goes on there.
    fn restart(&mut self, at: usize, marks: &mut RowMarks) {
        marks.truncate(at);
        marks.distrust((at - 1) / BLOCK);
        marks.end_at(at - 1);
        (self.done, self.ends) = (at, Ends::new(self.dialect));
    }

    /// Returns the state after `bytes`, which are those of the last call of [`RowScan::update`].
    pub fn last(&self, bytes: &[u8]) -> Ends {
        let (mut ends, mut at) = (self.ends, self.done);
        while let Some(len) = ends.next(&bytes[at..]) {
            at += len;
        }
        ends
    }

    /// Marks the records in `bytes`, at whose end the input ends. Reading goes on inside an unreadable last record where `resume` says.
    pub fn finish(&mut self, bytes: &[u8], marks: &mut RowMarks, resume: impl Resume) {
        while !marks.is_empty() && self.last(bytes).is_faulty() {
            marks.distrust(marks.len - 1);
            let start = marks.start(bytes.len());
            let Some(len) = resume(&bytes[start..]) else { return };
            self.restart(start + len, marks);
            self.update(bytes, marks, resume);
        }
    }

    /// Goes on inside the row that `bytes` begins with, although the row has not ended. Returns the last end of a row,
    /// or `None` if the row can be read so far or `resume` returns `None`.
    pub fn give_up(&mut self, bytes: &[u8], marks: &mut RowMarks, resume: impl Resume) -> Option<usize> {
        let lines = &bytes[..memrchr(b'\n', bytes)? + 1];
        if !self.last(bytes).is_faulty() {
            return None;
        }
        self.restart(resume(lines)?, marks);
        self.update(bytes, marks, resume)
    }
}
