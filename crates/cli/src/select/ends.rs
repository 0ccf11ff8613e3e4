//! Finds the ends of CSV records, where a line feed inside quotes is data.
//!
//! [`Ends`] reads a few bytes at a time, and accepts quotes anywhere. [`Scan`] finds the same ends in blocks of 64
//! bytes, which is faster; it uses [`Ends`] for blocks in which a quote is where RFC 4180 does not allow it.

use simdpct::Tier;
use simdpct_records::RowState;

/// Finds the ends of records in input that arrives in pieces.
///
/// A quote opens a quoted cell only at the start of the cell. Inside a quoted cell, two quotes mean one quote.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Outside quotes; the field is the previous byte.
    Outside(u8),
    Quoted,
    /// After a quote inside quotes: it either closes them or begins an escaped quote.
    Quote,
}

/// The state between records.
const START: State = State::Outside(b'\n');

impl Ends {
    /// Starts at the beginning of a record.
    pub fn new(delimiter: u8) -> Ends {
        Ends { delimiter, state: START }
    }

    /// Returns the end of the current record, after its line feed, or `None` if it does not end in `piece`.
    pub fn next(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = piece.get(at..).filter(|rest| !rest.is_empty())?;
            self.state = match self.state {
                State::Outside(last) => match memchr::memchr2(b'\n', b'"', rest) {
                    None => {
                        self.state = State::Outside(rest[rest.len() - 1]);
                        return None;
                    }
                    Some(found) if rest[found] == b'\n' => {
                        self.state = START;
                        return Some(at + found + 1);
                    }
                    Some(found) => {
                        let last = if found == 0 { last } else { rest[found - 1] };
                        at += found + 1;
                        if last == self.delimiter || last == b'\n' {
                            State::Quoted
                        } else {
                            State::Outside(b'"')
                        }
                    }
                },
                State::Quoted => {
                    let after = memchr::memchr(b'"', rest)? + 1;
                    at += after;
                    match rest[after..] {
                        // This fast path is for the usual case: a delimiter and another quoted cell follow the closing quote.
                        [byte, b'"', ..] if byte == self.delimiter => {
                            at += 2;
                            State::Quoted
                        }
                        _ => State::Quote,
                    }
                }
                State::Quote if rest[0] == b'"' => {
                    at += 1;
                    State::Quoted
                }
                State::Quote => State::Outside(b'"'),
            };
        }
    }

    /// Returns a copy that is at the beginning of a record.
    pub fn fresh(self) -> Ends {
        Ends::new(self.delimiter)
    }
}

/// The places of bytes in one block of a chunk, as one bit per byte: each `%`, the line feeds that end a record, the delimiters of cells,
/// and irregular bytes. These are a bit at or after each line feed inside quotes and each quote that is not at an end of a cell. The
/// other places are right up to the first of them.
pub type Block = [u64; 4];

/// The places of the ends of records in a chunk, and of the bytes that are necessary to find the cells. The list is empty while the
/// chunk has no quote, because every line feed ends a record then.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The first `len` entries are the list.
    blocks: Vec<Block>,
    len: usize,
    /// Whether a line feed may be inside quotes.
    has_quoted_feeds: bool,
    /// Whether there may be a carriage return.
    has_returns: bool,
}

impl Marks {
    /// Reports whether the list is empty because every line feed ends a record.
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

    /// Reports whether the chunk may have a carriage return.
    pub fn has_returns(&self) -> bool {
        self.has_returns
    }

    /// Reports whether a record may consist of several lines.
    pub fn may_have_long_rows(&self) -> bool {
        self.has_quoted_feeds
    }

    /// Removes all marks, so that every line feed ends a record.
    pub fn clear(&mut self) {
        self.len = 0;
        self.has_quoted_feeds = false;
        self.has_returns = false;
    }

    /// Returns the end of the record that contains byte `at`, if the record is complete.
    pub fn end(&self, at: usize) -> Option<usize> {
        let blocks = self.blocks();
        let (mut index, mut word) = (at / BLOCK, blocks.get(at / BLOCK)?[1] & u64::MAX << (at % BLOCK));
        while word == 0 {
            index += 1;
            word = blocks.get(index)?[1];
        }
        Some(index * BLOCK + word.trailing_zeros() as usize + 1)
    }

    /// Returns the start of the record that contains byte `at`.
    pub fn start(&self, at: usize) -> usize {
        let (blocks, whole, rest) = (self.blocks(), at / BLOCK, at % BLOCK);
        let word = blocks.get(whole).map_or(0, |block| block[1] & !(u64::MAX << rest));
        let before = blocks[..blocks.len().min(whole)].iter().map(|block| block[1]).enumerate().rev();
        let mut words = std::iter::once((whole, word)).chain(before);
        let last = words.find(|(_, word)| *word != 0);
        last.map_or(0, |(index, word)| index * BLOCK + BLOCK - word.leading_zeros() as usize)
    }
}

/// The number of bytes in a block: one for each bit of a mask.
const BLOCK: usize = 64;

/// The number of blocks that are marked with one call after a block with a misplaced quote.
const FEW: usize = 4;

/// Marks the ends of records in a buffer that grows.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// The state after the last complete block.
    ends: Ends,
    /// The state after all bytes.
    last: Ends,
    /// The number of bytes in complete blocks.
    done: usize,
    /// The number of bytes that are known to contain no quote.
    searched: usize,
    /// The offset after the last complete record; `None` before the first one.
    end: Option<usize>,
}

impl Scan {
    /// Starts in the state `ends`, at the beginning of a record.
    pub fn new(ends: Ends) -> Scan {
        Scan { ends, last: ends, done: 0, searched: 0, end: None }
    }

    /// Marks the ends in `bytes`, which begins with the bytes of the previous call, and returns the last end.
    pub fn update(&mut self, bytes: &[u8], marks: &mut Marks) -> Option<usize> {
        if marks.is_empty() {
            let more = &bytes[self.searched..];
            if memchr::memchr(b'"', more).is_none() {
                if let Some(&last) = more.last() {
                    self.last.state = State::Outside(last);
                }
                let found = memchr::memrchr(b'\n', more).map(|found| self.searched + found + 1);
                (self.end, self.searched) = (found.or(self.end), bytes.len());
                return self.end;
            }
        }
        marks.len = marks.len.min(self.done / BLOCK);
        let (blocks, rest) = bytes[self.done..].as_chunks::<BLOCK>();
        self.ends.mark(blocks, marks);
        self.done += blocks.len() * BLOCK;
        self.last = self.ends;
        if !rest.is_empty() {
            self.last.step(rest, marks);
        }
        self.end = Some(marks.start(bytes.len())).filter(|&end| end > 0);
        self.end
    }

    /// Returns the state after all bytes.
    pub fn last(&self) -> Ends {
        self.last
    }
}

impl Ends {
    /// Processes `blocks`, and marks the line feeds that end a record.
    fn mark(&mut self, blocks: &[[u8; BLOCK]], marks: &mut Marks) {
        // After a misplaced quote, few blocks are marked with one call, because others may follow, and many are marked in vain then.
        let (mut rest, mut most) = (blocks, usize::MAX);
        let mut state = self.rows();
        while !rest.is_empty() {
            let next = &rest[..rest.len().min(most)];
            let done = simdpct_records::mark_rows(
                Tier::active(),
                next.as_flattened(),
                self.delimiter,
                &mut state,
                marks.room(next.len()),
            );
            marks.len += done;
            marks.has_quoted_feeds |= state.has_quoted_feeds;
            marks.has_returns |= state.has_returns;
            rest = &rest[done..];
            most = most.saturating_mul(2);
            if let (Some((block, others)), true) = (rest.split_first(), done < next.len()) {
                self.state = Ends::state(state);
                self.step(block, marks);
                state = self.rows();
                (rest, most) = (others, FEW);
            }
        }
        self.state = Ends::state(state);
    }

    /// Returns the state for [`simdpct_records::mark_rows`].
    fn rows(&self) -> RowState {
        let has_closed = matches!(self.state, State::Quote);
        let may_open = match self.state {
            State::Quoted => false,
            State::Quote => true,
            State::Outside(last) => last == self.delimiter || last == b'\n',
        };
        let is_quoted = matches!(self.state, State::Quoted);
        RowState {
            is_quoted,
            may_open,
            has_closed,
            has_return: false,
            has_returns: false,
            has_quoted_feeds: false,
        }
    }

    /// Returns the state that [`simdpct_records::mark_rows`] has replaced. A quote at the start of a cell has the same effect as a quote after a
    /// quote inside quotes.
    fn state(rows: RowState) -> State {
        match rows {
            RowState { is_quoted: true, .. } => State::Quoted,
            RowState { may_open: true, .. } => State::Quote,
            _ => State::Outside(b'"'),
        }
    }

    /// Processes at most one block with [`Ends::next`], which also reads misplaced quotes, and marks it.
    #[cold]
    fn step(&mut self, block: &[u8], marks: &mut Marks) {
        let (mut at, mut ends) = (0, 0_u64);
        while let Some(len) = self.next(&block[at..]) {
            at += len;
            ends |= 1 << (at - 1);
        }
        let feeds = memchr::memchr_iter(b'\n', block).count();
        marks.has_quoted_feeds |= feeds > ends.count_ones() as usize;
        marks.has_returns |= memchr::memchr(b'\r', block).is_some();
        // The other places are not known, so the whole block is irregular.
        marks.room(1)[0] = [0, ends, 0, u64::MAX];
        marks.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ends that [`Ends`] finds, and its final state.
    fn stepwise(bytes: &[u8]) -> (Vec<usize>, Ends) {
        let (mut ends, mut found, mut at) = (Ends::new(b','), Vec::new(), 0);
        while let Some(len) = ends.next(&bytes[at..]) {
            at += len;
            found.push(at);
        }
        (found, ends)
    }

    #[test]
    fn marks_are_where_the_steps_end() {
        let words: [&[u8]; 12] = [
            b"\"",
            b"\"",
            b",",
            b"\n",
            b"a",
            b"\"\"",
            b",\"",
            b"\",",
            b"\"\n",
            b"\r\n",
            b"a cell without quotes",
            b"%41",
        ];
        let (mut seed, mut irregular, mut regular) = (1_u64, 0, 0);
        for round in 0..20_000 {
            let mut random = |below: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % below
            };
            let mut bytes = Vec::new();
            // Long input has groups of blocks that are marked together.
            let most = if round % 400 < 2 {
                4000
            } else if round % 10 == 0 {
                200
            } else {
                40
            };
            for _ in 0..random(most) {
                // Odd rounds also use single quotes, so that more of them are misplaced.
                bytes.extend_from_slice(words[if round % 2 == 0 { 4 + random(8) } else { random(12) }]);
            }
            let (wanted, state) = stepwise(&bytes);
            let (mut scan, mut marks, mut len) = (Scan::new(Ends::new(b',')), Marks::default(), 0);
            while len < bytes.len() {
                len = bytes.len().min(len + 1 + random(150));
                let last = wanted.iter().copied().rfind(|&end| end <= len);
                assert_eq!(scan.update(&bytes[..len], &mut marks), last, "{}", bytes.escape_ascii());
            }
            if bytes.contains(&b'"') {
                let (mut found, mut at) = (Vec::new(), 0);
                while let Some(end) = marks.end(at) {
                    found.push(end);
                    assert!(
                        (at..end).all(|inside| marks.start(inside) == at && marks.end(inside) == Some(end))
                    );
                    at = end;
                }
                assert_eq!(found, wanted, "{}", bytes.escape_ascii());
                let after = |mut ends: Ends| ends.next(b"\"\n\",\n\n");
                assert_eq!(after(scan.last()), after(state), "{}", bytes.escape_ascii());
                let blocks = bytes.chunks_exact(BLOCK).count();
                (irregular, regular) = if round % 2 == 0 {
                    (irregular, regular + blocks)
                } else {
                    (irregular + blocks, regular)
                };
            } else {
                assert!(marks.is_empty());
            }
        }
        assert!(irregular > 1000 && regular > 1000, "{irregular} {regular}");
    }
}
