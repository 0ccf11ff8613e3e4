//! Finds the escapes in one field of many records at once, from the places of delimiters as bit masks.
//!
//! No record is read by itself. A record that cannot be handled in this way is left to the caller: in a table, a row with line
//! feeds in its cells or with a misplaced quote.

use std::ops::Range;

use super::ends::{Block, Marks};
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
    /// Finds the escapes in the first records of `bytes` from `start` on, at most `most` bytes of them. Returns the length of these
    /// records, which is 0 if the first one is too long or cannot be handled. See [`Sweep::chosen`] for the result. `marks` are
    /// those of `bytes`, if there are any.
    pub fn next(&mut self, bytes: &[u8], start: usize, most: usize, marks: Option<&Marks>) -> usize {
        let window = &bytes[start..bytes.len().min(start + most.min(WINDOW))];
        match self {
            Sweep::Delimited(delimited) => delimited.next(window, marks.map(|marks| (marks, start))),
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
    /// Whether the records are rows of a table.
    has_quotes: bool,
    /// The places of bytes in a window whose chunk has no marks.
    found: Vec<Block>,
    /// For each block, the places of `%` in the wanted field.
    chosen: Vec<u64>,
    /// For each block, the places where the wanted field of a record begins, and those of the byte after it.
    bounds: Vec<[u64; 2]>,
    /// Whether `bounds` are necessary. Otherwise blocks without a `%` are skipped.
    has_bounds: bool,
    /// The number of bytes between the start of the first block of `bounds` and the window.
    shift: usize,
    /// For each field up to the wanted one, whether it is open at the start of the next block.
    open: Vec<Open>,
}

impl Delimited {
    /// Selects field number `before`, from 0. Fields are separated by `delimiter`, and records end in `end`.
    pub fn new(delimiter: u8, end: u8, before: usize, has_quotes: bool) -> Delimited {
        Delimited {
            delimiter,
            end,
            has_quotes,
            found: Vec::new(),
            chosen: Vec::new(),
            bounds: Vec::new(),
            has_bounds: false,
            shift: 0,
            open: vec![Open::default(); before + 1],
        }
    }

    /// Makes [`Delimited::each_field`] possible.
    pub fn with_bounds(&mut self) {
        self.has_bounds = true;
    }

    /// Finds the escapes in the first records of `window`. Returns the length of these records. `given` are the marks of the chunk
    /// and the offset of the window in it. The records of a chunk without marks have no quotes.
    fn next(&mut self, window: &[u8], given: Option<(&Marks, usize)>) -> usize {
        let mut window = window;
        if self.has_quotes {
            // A carriage return that is not part of a line end needs a treatment of its own.
            let is_lone = |at: &usize| window.get(at + 1) != Some(&b'\n');
            let lone = memchr::memchr_iter(b'\r', window).find(is_lone);
            window = &window[..lone.unwrap_or(window.len())];
        }
        if let Some((marks, start)) = given {
            let stop = (start + window.len()).div_ceil(BLOCK);
            return self.choose(&marks.blocks()[start / BLOCK..stop], true, start % BLOCK, window.len());
        }
        let mut found = std::mem::take(&mut self.found);
        simdpct::mark_bytes(window, [b'%', self.end, self.delimiter, b'%'], &mut found);
        let len = self.choose(&found, false, 0, window.len());
        self.found = found;
        len
    }

    /// Finds the wanted fields in `blocks` and the escapes in them. The records are the `len` bytes from byte `shift` of the first
    /// block on. `has_irregular` says that the last places of blocks are irregular bytes. Returns the length of the first records, up
    /// to one that is incomplete or irregular.
    fn choose(&mut self, blocks: &[Block], has_irregular: bool, shift: usize, len: usize) -> usize {
        let Delimited { chosen, bounds, open, has_bounds, .. } = self;
        self.shift = shift;
        chosen.clear();
        chosen.resize(blocks.len(), 0);
        bounds.clear();
        open.fill(Open::default());
        // The masks of the bytes of the records in the first block and in the last one.
        let (first, last) = (u64::MAX << shift, u64::MAX >> ((BLOCK - (shift + len) % BLOCK) % BLOCK));
        let live = |index: usize| {
            let mask = if index == 0 { first } else { u64::MAX };
            if index + 1 == blocks.len() { mask & last } else { mask }
        };
        // The records before the first irregular byte are usable.
        let irregular = |index: usize| blocks[index][3] & live(index);
        let stop = if has_irregular { (0..blocks.len()).find(|&index| irregular(index) != 0) } else { None };
        let ends = |index: usize| {
            let mut usable = live(index);
            if Some(index) == stop {
                usable &= (irregular(index) & irregular(index).wrapping_neg()).wrapping_sub(1);
            }
            blocks[index][1] & usable
        };
        let count = stop.map_or(blocks.len(), |stop| stop + 1);
        // The blocks before this one are done.
        let mut done = 0;
        for index in 0..count {
            if blocks[index][0] == 0 && !*has_bounds {
                continue;
            }
            // The fields of skipped blocks matter only from the last end of a record on.
            let mut from = index;
            while from > done {
                from -= 1;
                if blocks[from][1] != 0 {
                    break;
                }
            }
            if from > done {
                open.fill(Open::default());
            }
            for index in from..=index {
                let start = if index == 0 { 1 << shift } else { 0 };
                let (places, inside) = field(open, start, ends(index), blocks[index][2]);
                chosen[index] = blocks[index][0] & inside;
                if *has_bounds {
                    bounds.push(places);
                }
            }
            done = index + 1;
        }
        if shift > 0 {
            // The first bit becomes that of the first byte of the window.
            for index in 0..chosen.len() {
                let next = chosen.get(index + 1).map_or(0, |next| next << (BLOCK - shift));
                chosen[index] = chosen[index] >> shift | next;
            }
        }
        let last = (0..count).rev().find(|&index| ends(index) != 0);
        let end = last.map_or(0, |index| (index + 1) * BLOCK - ends(index).leading_zeros() as usize);
        end.saturating_sub(shift)
    }

    /// Passes the place of the wanted field in each record that has it to `each`. The records are the first `len` bytes, which
    /// [`Sweep::next`] has found.
    pub fn each_field(&self, len: usize, mut each: impl FnMut(Range<usize>)) {
        let mut stops = self.bounds.iter().enumerate();
        let (mut base, mut found) = (0, 0);
        for (index, &[mut begins, _]) in self.bounds.iter().enumerate() {
            while begins != 0 {
                let start = index * BLOCK + begins.trailing_zeros() as usize - self.shift;
                begins &= begins - 1;
                while found == 0 {
                    // The last field may be part of a record that is incomplete.
                    let Some((index, &[_, more])) = stops.next() else { return };
                    (base, found) = (index * BLOCK, more);
                }
                let stop = base + found.trailing_zeros() as usize - self.shift;
                found &= found - 1;
                if stop >= len {
                    return;
                }
                each(start..stop);
            }
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
}

/// The state of a field at the start of a block.
#[derive(Clone, Copy, Default)]
struct Open {
    /// 1 if the field begins here, otherwise 0.
    begins: u64,
    /// 1 if the field has begun before and goes on here, otherwise 0.
    goes_on: u64,
}

/// Returns the places in a block where the last field of `open` begins in each record, those of the byte after it, and a mask of its
/// bytes. `open` has the fields that are open at the start of the block, and then those at its end. Field 0 also begins at `first`. Takes
/// no branch that depends on the block, because the ends are hard to predict.
#[inline(always)]
fn field(open: &mut [Open], first: u64, ends: u64, delimiters: u64) -> ([u64; 2], u64) {
    let stops = ends | delimiters;
    let (mut begins, mut carry, mut bounds, mut inside) = (ends << 1 | first, ends >> 63, [0; 2], 0);
    // If a record has many fields, most of them are not in the block.
    let is_wide = open.len() > 8;
    for open in open {
        begins |= open.begins;
        let starts = begins | open.goes_on;
        if is_wide && starts | carry == 0 {
            (bounds, inside) = ([0; 2], 0);
            continue;
        }
        // Each start adds one to the bytes after it that end no field, so the sum has a bit at the next byte that does.
        let (sum, goes_on) = (!stops).overflowing_add(starts);
        let found = sum & stops;
        *open = Open { begins: carry, goes_on: u64::from(goes_on) };
        (bounds, inside) = ([begins, found], found.wrapping_sub(starts));
        (begins, carry) = ((found & delimiters) << 1, (found & delimiters) >> 63);
    }
    (bounds, inside)
}
