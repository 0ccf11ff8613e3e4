//! Finds the escapes in one field of many records at once, from the places of delimiters as bit masks.
//!
//! No record is read by itself. A record that cannot be handled in this way is left to the caller: in a table, a row with line
//! feeds in its cells or with a misplaced quote.

use super::ends::{Block, Marks};
use super::requests::Requests;
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
    /// value. Also returns the number of the first byte's bit.
    pub fn chosen(&self) -> (&[u64], usize) {
        match self {
            Sweep::Delimited(delimited) => (&delimited.chosen, delimited.shift),
            Sweep::Requests(requests) => (&requests.chosen, 0),
            Sweep::Shapes(shapes) => (&shapes.chosen, 0),
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
    /// Whether the last window may have a carriage return.
    has_returns: bool,
    /// The places of bytes in a window whose chunk has no marks.
    found: Vec<Block>,
    /// For each block, the places of `%` in the wanted field.
    chosen: Vec<u64>,
    /// The places where fields end.
    stops: Vec<u32>,
    /// The places of the wanted field in each record that has it: where it begins, and where it ends.
    fields: Vec<[u32; 2]>,
    /// Whether `fields` is necessary, and not `chosen`.
    lists_fields: bool,
    /// The number of bytes between the start of the first block and the window.
    shift: usize,
    /// The number of fields before the wanted one.
    before: usize,
}

impl Delimited {
    /// Selects field number `before`, from 0. Fields are separated by `delimiter`, and records end in `end`.
    pub fn new(delimiter: u8, end: u8, before: usize, has_quotes: bool) -> Delimited {
        Delimited {
            delimiter,
            end,
            has_quotes,
            has_returns: false,
            found: Vec::new(),
            chosen: Vec::new(),
            stops: Vec::new(),
            fields: Vec::new(),
            lists_fields: false,
            shift: 0,
            before,
        }
    }

    /// Prepares this for [`Delimited::fields`], and not for [`Sweep::chosen`].
    pub fn list_fields(&mut self) {
        self.lists_fields = true;
    }

    /// Finds the escapes in the first records of `window`. Returns the length of these records. `given` are the marks of the chunk
    /// and the offset of the window in it. The records of a chunk without marks have no quotes.
    fn next(&mut self, window: &[u8], given: Option<(&Marks, usize)>) -> usize {
        let mut window = window;
        self.has_returns = !self.has_quotes;
        if self.has_quotes && given.is_none_or(|(marks, _)| marks.has_returns()) {
            // A carriage return that is not part of a line end needs a treatment of its own.
            let mut returns = memchr::memchr_iter(b'\r', window).inspect(|_| self.has_returns = true);
            let lone = returns.find(|at| window.get(at + 1) != Some(&b'\n'));
            window = &window[..lone.unwrap_or(window.len())];
        }
        if let Some((marks, start)) = given {
            let stop = (start + window.len()).div_ceil(BLOCK);
            return self.find(&marks.blocks()[start / BLOCK..stop], true, start % BLOCK, window.len());
        }
        let mut found = std::mem::take(&mut self.found);
        simdpct::internals::mark_bytes(window, [b'%', self.end, self.delimiter, b'%'], &mut found);
        let len = self.find(&found, false, 0, window.len());
        self.found = found;
        len
    }

    /// Finds the wanted fields in `blocks`, or the escapes in them. The records are the `len` bytes from byte `shift` of the first
    /// block on. `has_irregular` says that the last places of blocks are irregular bytes. Returns the length of the first records, up
    /// to one that is incomplete or irregular.
    fn find(&mut self, blocks: &[Block], has_irregular: bool, shift: usize, len: usize) -> usize {
        self.shift = shift;
        if self.lists_fields {
            self.list(blocks, has_irregular, shift, len)
        } else {
            self.choose(blocks, has_irregular, shift, len)
        }
    }

    /// Finds the escapes in the wanted fields of `blocks`. See [`Delimited::find`].
    fn choose(&mut self, blocks: &[Block], has_irregular: bool, shift: usize, len: usize) -> usize {
        // With a number of fields that the compiler knows, their states stay in registers.
        match self.before {
            0 => self.choose_with([0; 1], blocks, has_irregular, shift, len),
            1 => self.choose_with([0; 2], blocks, has_irregular, shift, len),
            2 => self.choose_with([0; 3], blocks, has_irregular, shift, len),
            3 => self.choose_with([0; 4], blocks, has_irregular, shift, len),
            4 => self.choose_with([0; 5], blocks, has_irregular, shift, len),
            5 => self.choose_with([0; 6], blocks, has_irregular, shift, len),
            6 => self.choose_with([0; 7], blocks, has_irregular, shift, len),
            before => self.choose_with(vec![0; before + 1], blocks, has_irregular, shift, len),
        }
    }

    /// Does the work of [`Delimited::choose`]. `open` has a word for each field up to the wanted one; see [`field`].
    #[inline]
    fn choose_with<F: AsMut<[u64]>>(
        &mut self,
        mut open: F,
        blocks: &[Block],
        has_irregular: bool,
        shift: usize,
        len: usize,
    ) -> usize {
        let open = open.as_mut();
        // The masks of the bytes of the records in the first block and in the last one.
        let (first, last) = (u64::MAX << shift, u64::MAX >> ((BLOCK - (shift + len) % BLOCK) % BLOCK));
        let live = |index: usize| {
            let mask = if index == 0 { first } else { u64::MAX };
            if index + 1 == blocks.len() { mask & last } else { mask }
        };
        // The records before the first irregular byte are usable. Most windows have none.
        let irregular = |index: usize| blocks[index][3] & live(index);
        let may_stop = has_irregular && blocks.iter().fold(0, |any, block| any | block[3]) != 0;
        let stop = if may_stop { (0..blocks.len()).find(|&index| irregular(index) != 0) } else { None };
        let ends = |index: usize| {
            let mut usable = live(index);
            if Some(index) == stop {
                usable &= (irregular(index) & irregular(index).wrapping_neg()).wrapping_sub(1);
            }
            blocks[index][1] & usable
        };
        let count = stop.map_or(blocks.len(), |stop| stop + 1);
        let chosen = &mut self.chosen;
        chosen.clear();
        chosen.resize(count, 0);
        // If more than one block in 16 has a `%`, a branch on that is hard to predict, so all blocks are done. With many fields, that would
        // take longer than the mispredicted branches. Every fourth block is counted.
        let escaped = blocks.iter().step_by(4).filter(|block| block[0] != 0).count();
        if count > 0 && 4 * 16 * escaped > blocks.len() && open.len() <= 4 {
            let (blocks, chosen) = (&blocks[..count], &mut chosen[..count]);
            let mut store = |index: usize, inside: u64| chosen[index] = blocks[index][0] & inside;
            store(0, field(open, 1 << shift, ends(0), blocks[0][2]));
            #[allow(
                clippy::needless_range_loop,
                reason = "the iterator that Clippy proposes takes 13 instructions more"
            )]
            for index in 1..count - 1 {
                store(index, field(open, 0, blocks[index][1], blocks[index][2]));
            }
            if count > 1 {
                store(count - 1, field(open, 0, ends(count - 1), blocks[count - 1][2]));
            }
        } else {
            // The blocks before this one are done.
            let mut done = 0;
            for index in 0..count {
                if blocks[index][0] == 0 {
                    continue;
                }
                // The fields of skipped blocks matter only from the last end of a record on.
                let from = (done..index).rev().find(|&index| blocks[index][1] != 0);
                let from = from.unwrap_or(done);
                if from > done {
                    open.fill(0);
                }
                for index in from..=index {
                    let start = if index == 0 { 1 << shift } else { 0 };
                    chosen[index] = blocks[index][0] & field(open, start, ends(index), blocks[index][2]);
                }
                done = index + 1;
            }
        }
        let last = (0..count).rev().find(|&index| ends(index) != 0);
        let end = last.map_or(0, |index| (index + 1) * BLOCK - ends(index).leading_zeros() as usize);
        end.saturating_sub(shift)
    }

    /// Lists the wanted fields in `blocks`. See [`Delimited::find`].
    fn list(&mut self, blocks: &[Block], has_irregular: bool, shift: usize, len: usize) -> usize {
        let Delimited { stops, fields, before, .. } = self;
        fields.clear();
        stops.resize(stops.len().max(BLOCK * blocks.len()), 0);
        let found = simdpct::internals::list_stops(blocks, stops);
        // The records before the first irregular byte are usable. Most windows have none.
        let mut limit = shift + len;
        if has_irregular && found.has_irregular {
            let mut words = blocks.iter().map(|block| block[3]);
            let mut rest = words.next().unwrap_or(0) & u64::MAX << shift;
            let mut index = 0;
            while rest == 0
                && let Some(word) = words.next()
            {
                (rest, index) = (word, index + 1);
            }
            if rest != 0 {
                limit = limit.min(BLOCK * index + rest.trailing_zeros() as usize);
            }
        }
        let is_end = |&&place: &&u32| blocks[place as usize / BLOCK][1] >> (place as usize % BLOCK) & 1 != 0;
        let stops = &stops[..found.count];
        let (outside, stops) =
            stops.split_at(stops.iter().take_while(|&&place| (place as usize) < shift).count());
        let after = stops.iter().rev().take_while(|&&place| place as usize >= limit).count();
        let (stops, after) = stops.split_at(stops.len() - after);
        let ends = found.ends - outside.iter().chain(after).filter(is_end).count();
        let mut done = shift as u32;
        // Usually all records have the same number of fields: as many stops are ends as there are records of this length, and the last one of
        // each is one.
        let width = stops.iter().position(|place| is_end(&place)).map_or(usize::MAX, |last| last + 1);
        if *before < width && stops.len() / width == ends {
            let mut is_regular = true;
            fields.extend(stops.chunks_exact(width).map(|record| {
                let begin = if *before == 0 { done } else { record[*before - 1] + 1 };
                is_regular &= is_end(&&record[width - 1]);
                done = record[width - 1] + 1;
                [begin, record[*before]]
            }));
            if is_regular {
                return done as usize - shift;
            }
            fields.clear();
            done = shift as u32;
        }
        let (mut begin, mut number) = (done, 0);
        for place in stops {
            if number == *before {
                fields.push([begin, *place]);
            }
            (begin, number) = (place + 1, number + 1);
            if is_end(&place) {
                (done, number) = (begin, 0);
            }
        }
        // The last record may be incomplete.
        fields.pop_if(|[_, stop]| *stop >= done);
        done as usize - shift
    }

    /// Returns the places of the wanted field in each record that has it: where it begins, and where it ends. The places count from the
    /// first bit of the words of [`Sweep::chosen`].
    pub fn fields(&mut self) -> &mut [[u32; 2]] {
        &mut self.fields
    }

    /// Reports whether records that [`Sweep::next`] has returned may end in a carriage return and a line feed.
    pub fn has_returns(&self) -> bool {
        self.has_returns
    }

    /// Returns the byte that separates fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }
}

/// Returns a mask of the bytes of the wanted field in a block. The wanted field is the last one of `open`. Field 0 begins at `first` and after
/// each end of a record. The function has no branch that depends on the block, because the ends are hard to predict.
///
/// `open` carries the state from block to block: it has 1 for each field that is open at the start of the block.
#[inline(always)]
fn field(open: &mut [u64], first: u64, ends: u64, delimiters: u64) -> u64 {
    let stops = ends | delimiters;
    let (mut begins, mut carry) = (ends << 1 | first, ends >> 63);
    let mut inside = 0;
    // If a record has many fields, most of them are not in the block.
    let is_wide = open.len() > 8;
    for open in open {
        let starts = begins | *open;
        if is_wide && starts | carry == 0 {
            inside = 0;
            continue;
        }
        // Each start adds one to the bytes after it that end no field, so the sum has a bit at the next byte that does.
        let (sum, goes_on) = (!stops).overflowing_add(starts);
        let found = sum & stops;
        *open = carry | u64::from(goes_on);
        inside = found.wrapping_sub(starts);
        (begins, carry) = ((found & delimiters) << 1, (found & delimiters) >> 63);
    }
    inside
}
