//! Finds the escapes in the selected values of many records at once, so that they can be decoded with one call. A sweep handles
//! only records that the reader of the syntax would read in the same way, and JSON lines in braces without `%` and `\`, which it does not
//! read. It ends before any other record.

mod delimited;
pub(crate) mod masks;
mod requests;
mod rows;
mod shapes;

use simdpct::{ByteSet, Tier};

pub(crate) use self::delimited::Delimited;
pub use self::masks::{mark_bytes, mark_rows};
pub(crate) use self::requests::Requests;
pub use self::rows::{RowMarks, RowScan};
pub(crate) use self::shapes::Shapes;
use crate::place::Place;

/// The maximum number of bytes of a window, which one call of [`Sweep::next`] handles. They should stay in the
/// first-level cache with their masks and their result.
const WINDOW: usize = 8 * 1024;

/// Finds the `%` of the selected values in many records at once. Records end in line feeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    finder: Finder,
    tier: Tier,
    /// For each block of 64 bytes, the mask of the `%` in the selected values.
    chosen: Vec<u64>,
    /// The number of bytes between the start of the first block and the first record.
    shift: usize,
    /// The bytes whose escapes stay in a value, because the value cannot contain these bytes.
    pub kept: ByteSet,
    /// The bytes that a record can only have escaped or quoted. If an escape such as `%22` of one of them is decoded,
    /// the record must be read by itself, unless [`Sweep::spell`] returns the new spelling.
    pub special: ByteSet,
}

/// The way to find the values.
#[derive(Clone, Debug)]
pub(crate) enum Finder {
    Delimited(Box<Delimited>),
    Requests(Box<Requests>),
    Shapes(Box<Shapes>),
}

impl Sweep {
    /// Makes a sweep that uses the active tier.
    pub(crate) fn new(finder: Finder, kept: ByteSet, special: ByteSet) -> Sweep {
        Sweep { finder, tier: Tier::active(), chosen: Vec::new(), shift: 0, kept, special }
    }

    /// Uses the instructions of `tier`.
    #[doc(hidden)]
    #[must_use]
    pub fn tier(self, tier: Tier) -> Sweep {
        Sweep { tier, ..self }
    }

    /// Returns the spelling of `byte`, which is one of [`Sweep::special`], if it is the same in every value.
    pub fn spell(&self, byte: u8) -> Option<Vec<u8>> {
        let Finder::Requests(requests) = &self.finder else { return None };
        requests.log.escaping().spell(byte)
    }

    /// Reports whether records are JSON. Then a new record must be valid UTF-8 if the old one is. Records without a `%`
    /// are passed unread, even if the reader would reject them.
    pub fn is_text(&self) -> bool {
        matches!(self.finder, Finder::Shapes(_))
    }

    /// Finds the escapes in the first records of `bytes` from `start` on, at most `most` bytes of them. Returns the length of these
    /// records, which is 0 if the first one is too long or must be read by itself. See [`Sweep::chosen`] for the
    /// result. `marks` are the marks of the rows in `bytes`, if there are any.
    pub fn next(&mut self, bytes: &[u8], start: usize, most: usize, marks: Option<&RowMarks>) -> usize {
        let window = &bytes[start..bytes.len().min(start.saturating_add(most.min(WINDOW)))];
        let (tier, chosen) = (self.tier, &mut self.chosen);
        match &mut self.finder {
            Finder::Delimited(delimited) => {
                self.shift = marks.map_or(0, |_| start % masks::BLOCK);
                delimited.next(tier, window, marks.map(|marks| (marks, start)), chosen)
            }
            Finder::Requests(requests) => requests.next(tier, window, chosen),
            Finder::Shapes(shapes) => shapes.next(tier, window, chosen),
        }
    }

    /// Returns the places of the escapes that [`Sweep::next`] has found: one bit for each byte, which is set for a `%` in a selected value.
    /// Also returns the number of the bit for the first byte. The bits after the records that [`Sweep::next`] has handled are unspecified.
    pub fn chosen(&self) -> (&[u64], usize) {
        (&self.chosen, self.shift)
    }

    /// Returns the start and the end of the wanted field in each record that has it, if new values go beside the old
    /// ones. Both count from the first bit of [`Sweep::chosen`].
    pub fn fields(&self) -> Option<&[[usize; 2]]> {
        match &self.finder {
            Finder::Delimited(delimited) if delimited.lists_fields => Some(&delimited.fields),
            _ => None,
        }
    }

    /// Learns from `record` to handle JSON records that differ from it only in strings and numbers. [`Sweep::next`] has
    /// ended at this record, and the reader has found its values at `places`.
    pub fn learn(&mut self, record: &[u8], places: &[Place]) {
        if let Finder::Shapes(shapes) = &mut self.finder {
            shapes.learn(record, places);
        }
    }
}
