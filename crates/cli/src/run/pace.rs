//! Chooses the sizes of batches of records.

/// The maximum size of a batch, in bytes. With its masks and its result it stays in the first-level cache.
const WINDOW: usize = 8 * 1024;

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
