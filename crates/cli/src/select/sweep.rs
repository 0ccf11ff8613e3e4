//! Finds the escapes in one field of many records at once, from the places of delimiters as bit masks.
//!
//! No record is read by itself. A record that cannot be handled in this way is left to the caller: in a table, a row with line
//! feeds in its cells or with a misplaced quote.

use std::ops::Range;

use super::requests::Requests;
pub use super::requests::words;
use super::shape::Shapes;

/// The number of bytes in a mask.
const BLOCK: usize = 64;

/// The maximum number of bytes that one call of [`Sweep::next`] handles. They stay in the first-level cache with their masks and
/// their result.
pub const WINDOW: usize = 8 * 1024;

/// Finds the escapes in one value of the records of a text.
#[derive(Clone)]
pub enum Sweep {
    Delimited(Delimited),
    Requests(Requests),
    Shapes(Shapes),
}

impl Sweep {
    /// Finds the escapes in the first records of `bytes`, at most `most` bytes of them. Returns the length of these records,
    /// which is 0 if the first one is too long or cannot be handled. See [`Sweep::chosen`] for the result.
    pub fn next(&mut self, bytes: &[u8], most: usize) -> usize {
        let window = &bytes[..bytes.len().min(most.min(WINDOW))];
        match self {
            Sweep::Delimited(delimited) => delimited.next(window, window.len() == bytes.len()),
            Sweep::Requests(requests) => requests.next(window),
            Sweep::Shapes(shapes) => shapes.next(window),
        }
    }

    /// Returns the places of the escapes that [`Sweep::next`] has found: for each byte a bit, set for each `%` in the selected
    /// value.
    pub fn chosen(&self) -> &[u64] {
        match self {
            Sweep::Delimited(delimited) => &delimited.chosen,
            Sweep::Requests(requests) => &requests.chosen,
            Sweep::Shapes(shapes) => &shapes.chosen,
        }
    }
}

/// Chooses the sizes of batches of records. After a record that needs its own treatment, batches are smaller, so that one such record
/// does not slow down many others.
#[derive(Clone)]
pub struct Pace {
    /// The maximum size of the next batch, in bytes.
    size: usize,
    /// The number of consecutive batches that ended early near their start, counted up to 4.
    ended: u32,
    /// The number of next records that are treated by themselves without an attempt to treat a batch.
    skip: u32,
}

/// The minimum size of a batch, in bytes.
const LEAST: usize = 512;

/// The number of records that [`Pace::pause`] leaves.
const PAUSE: u32 = 256;

impl Pace {
    /// Begins with batches of the maximum size.
    pub fn new() -> Pace {
        Pace { size: WINDOW, ended: 0, skip: 0 }
    }

    /// Reports whether a batch may be treated now.
    pub fn may_try(&mut self) -> bool {
        let may_try = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        may_try
    }

    /// Returns the maximum size of the next batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Chooses the next size after a batch that was treated as a whole.
    pub fn grow(&mut self) {
        self.size = WINDOW.min(2 * self.size);
    }

    /// Leaves many of the next records to be treated by themselves, because most records of a batch had to be.
    pub fn pause(&mut self) {
        self.skip = PAUSE;
    }

    /// Chooses the next size after a batch that ended early. `done` bytes were treated since the last such batch.
    pub fn shrink(&mut self, done: usize) {
        self.ended = if done < LEAST { (self.ended + 1).min(4) } else { 0 };
        self.skip = (1 << self.ended) - 1;
        self.size = (2 * done).clamp(LEAST, WINDOW);
    }
}

/// Finds the escapes in one field of lines or rows.
#[derive(Clone)]
pub struct Delimited {
    delimiter: u8,
    /// The byte that ends a record.
    end: u8,
    /// The number of fields before the wanted one.
    before: usize,
    /// Whether fields can be quoted as in CSV.
    has_quotes: bool,
    /// For each block, the places of `%`, ends of records, delimiters and quotes.
    marks: Vec<[u64; 4]>,
    /// For each block, the places of `%` in the wanted field.
    chosen: Vec<u64>,
}

impl Delimited {
    /// Selects field number `before`, from 0. Fields are separated by `delimiter`, and records end in `end`.
    pub fn new(delimiter: u8, end: u8, before: usize, has_quotes: bool) -> Delimited {
        Delimited { delimiter, end, before, has_quotes, marks: Vec::new(), chosen: Vec::new() }
    }

    /// Finds the escapes in the first records of `window`. `is_last` tells that nothing follows the window. Returns the length of
    /// these records.
    fn next(&mut self, window: &[u8], is_last: bool) -> usize {
        let quote = if self.has_quotes { b'"' } else { self.end };
        simdpct::mark_bytes(window, [b'%', self.end, self.delimiter, quote], &mut self.marks);
        let (regular, is_open) =
            if self.has_quotes { self.unquote(window) } else { (self.marks.len(), false) };
        let last = self.marks[..regular].iter().enumerate().rev().find(|(_, marks)| marks[1] != 0);
        let end = last.map_or(0, |(index, marks)| (index + 1) * BLOCK - marks[1].leading_zeros() as usize);
        let is_all = regular == self.marks.len() && !is_open && is_last;
        self.choose();
        if is_all { window.len() } else { end }
    }

    /// Passes the place of the wanted field in each record that has it to `each`. The records are the first `len` bytes, which
    /// [`Sweep::next`] has found.
    pub fn each_field(&self, len: usize, mut each: impl FnMut(Range<usize>)) {
        let (mut number, mut start) = (0, 0);
        for (index, &[_, ends, delimiters, _]) in self.marks[..len.div_ceil(BLOCK)].iter().enumerate() {
            let mut found = ends | delimiters;
            while found != 0 {
                let bit = found.trailing_zeros() as usize;
                let at = index * BLOCK + bit;
                if at >= len {
                    break;
                }
                if number == self.before {
                    each(start..at);
                }
                number = if ends >> bit & 1 == 0 { number + 1 } else { 0 };
                start = at + 1;
                found &= found - 1;
            }
        }
        // The last record of a file can lack its end.
        if number == self.before && (number > 0 || start < len) {
            each(start..len);
        }
    }

    /// Returns the places of the escapes; see [`Sweep::chosen`].
    pub fn chosen(&self) -> &[u64] {
        &self.chosen
    }

    /// Returns the byte that separates fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Removes the marks of delimiters inside quotes. Returns the number of blocks before the first one in which a quote is not
    /// at an end of a cell, a cell contains a line feed, or a carriage return is not part of a line end; and whether a quote is
    /// open after these blocks.
    fn unquote(&mut self, window: &[u8]) -> (usize, bool) {
        let is_lone = |at: usize| window.get(at + 1) != Some(&b'\n');
        let lone_return = memchr::memchr_iter(b'\r', window).find(|&at| is_lone(at));
        let stop = lone_return.map_or(self.marks.len(), |at| at / BLOCK);
        // Bit masks: whether the bytes before the first quote are quoted, whether that quote may open a cell, and whether the
        // previous block ends with a closing quote.
        let (mut is_quoted, mut may_open, mut has_closed) = (0, 1, 0);
        for (index, [_, feeds, delimiters, quotes]) in self.marks[..stop].iter_mut().enumerate() {
            // One bit for each byte from an opening quote up to the byte before the closing one.
            let quoted = parity(*quotes) ^ is_quoted;
            // An escaped quote counts as a closing and an opening quote.
            let ends = *quotes | *feeds | *delimiters;
            let misplaced = *quotes & quoted & !(ends << 1 | may_open);
            let closed = *quotes & !quoted;
            let mut open = (closed << 1 | has_closed) & !ends;
            // Before a line feed, a carriage return is part of the line end.
            while open != 0 && window.get(index * BLOCK + open.trailing_zeros() as usize) == Some(&b'\r') {
                open &= open - 1;
            }
            if misplaced | open | *feeds & quoted != 0 {
                return (index, true);
            }
            *delimiters &= !quoted;
            (is_quoted, may_open, has_closed) = (0_u64.wrapping_sub(quoted >> 63), ends >> 63, closed >> 63);
        }
        (stop, is_quoted != 0)
    }

    /// Finds the escapes in the wanted field.
    fn choose(&mut self) {
        let Delimited { marks, chosen, before, .. } = self;
        chosen.clear();
        chosen.resize(marks.len(), 0);
        // The number of delimiters since the last end of a record, at the start of block `counted`.
        let (mut number, mut counted) = (0, 0);
        for index in 0..marks.len() {
            let [percents, ends, delimiters, _] = marks[index];
            if percents == 0 {
                continue;
            }
            // Blocks without a `%` are counted here, because most of them are before the last end of a record.
            let mut from = index;
            while from > counted && marks[from - 1][1] == 0 {
                from -= 1;
            }
            if from > counted {
                from -= 1;
                let [_, ends, delimiters, _] = marks[from];
                number = (delimiters & !upto_last(ends)).count_ones() as usize;
                from += 1;
            }
            number += marks[from..index].iter().map(|marks| marks[2].count_ones() as usize).sum::<usize>();
            chosen[index] = percents & field(*before, ends, delimiters, &mut number);
            counted = index + 1;
        }
    }
}

/// Returns the mask of the bytes in field number `before` of the records of a block. `number` is the number of delimiters
/// between the start of the first record and the block, and becomes that for the next block.
#[inline(always)]
fn field(before: usize, ends: u64, delimiters: u64, number: &mut usize) -> u64 {
    let (mut field, mut rest, mut ends) = (0, u64::MAX, ends);
    loop {
        let end = ends & ends.wrapping_neg();
        let record = rest & end.wrapping_sub(1);
        let found = delimiters & record;
        if *number <= before {
            // The bytes after the delimiter before the field, and the delimiters among them.
            let (mut opened, mut later) = (u64::MAX, found);
            for _ in *number..before {
                opened = !upto_first(later);
                if later == 0 {
                    opened = 0;
                    break;
                }
                later &= later - 1;
            }
            field |= record & opened & (later & later.wrapping_neg()).wrapping_sub(1);
        }
        if end == 0 {
            *number += found.count_ones() as usize;
            return field;
        }
        *number = 0;
        rest = !upto_first(end);
        ends &= ends - 1;
    }
}

/// Returns the mask of the bits up to and including the lowest set bit; all bits if none is set.
#[inline(always)]
fn upto_first(mask: u64) -> u64 {
    mask ^ mask.wrapping_sub(1)
}

/// Returns the mask of the bits up to and including the highest set bit.
#[inline(always)]
fn upto_last(mask: u64) -> u64 {
    u64::MAX.checked_shr(mask.leading_zeros()).unwrap_or(0)
}

/// Returns a mask in which each bit is the parity of the bits up to and including it.
#[inline(always)]
pub(super) fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
