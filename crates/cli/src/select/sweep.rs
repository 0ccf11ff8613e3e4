//! Finds the escapes in one value of many records at once.

use simdpct::ByteSet;
use simdpct_records::RowMarks;

use super::records::set_of;

/// The maximum number of bytes that one call of [`Sweep::next`] handles. They stay in the first-level cache with their masks and
/// their result.
pub const WINDOW: usize = 8 * 1024;

/// Finds the escapes in one value of the records of a text.
#[derive(Clone)]
pub struct Sweep(pub Box<simdpct_records::Sweep>);

impl Sweep {
    /// Finds the escapes in the first records of `bytes` from `start` on, at most `most` bytes of them. Returns the length of these
    /// records, which is 0 if the first one is too long or cannot be handled. See [`Sweep::chosen`] for the result. `marks` are
    /// those of `bytes`, if there are any.
    pub fn next(&mut self, bytes: &[u8], start: usize, most: usize, marks: Option<&RowMarks>) -> usize {
        let rows = marks.map(|marks| (marks.blocks(), marks.has_returns()));
        self.0.next(bytes, start, most, rows)
    }

    /// Returns the places of the escapes that [`Sweep::next`] has found: for each byte a bit, set for each `%` in the selected
    /// value. Also returns the number of the first byte's bit.
    pub fn chosen(&self) -> (&[u64], usize) {
        self.0.chosen()
    }

    /// Reports whether records without a `%` are passed unread, and new records must be text if the old ones are.
    pub fn is_json(&self) -> bool {
        self.0.is_text()
    }

    /// Returns the bytes whose escapes stay, because a record cannot have these bytes in the value.
    pub fn kept(&self) -> ByteSet {
        set_of(self.0.kept())
    }

    /// Returns the places of the selected fields, if new values go beside them.
    pub fn fields(&self) -> Option<&[[usize; 2]]> {
        self.0.fields()
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
