//! Finds the records that may change, if records without an escape stay unchanged.

use crate::engine::pump::feed::Chunk;
use crate::select::Selector;

/// If this number of consecutive records have an escape, the search costs more than it saves. It then pauses for
/// [`PAUSE`] records.
const DENSE: u32 = 8;

/// The number of records for which the search pauses.
const PAUSE: u32 = 64;

/// Returns the offset of the first byte that may begin an escape in a value.
fn find_escape(selector: &Selector, bytes: &[u8]) -> Option<usize> {
    match selector {
        Selector::Keys(_) | Selector::Pairs(_) => memchr::memchr2(b'%', b'\\', bytes),
        _ => memchr::memchr(b'%', bytes),
    }
}

/// Reports whether `record` contains a byte that may begin an escape.
pub fn may_have_escape(selector: &Selector, record: &[u8]) -> bool {
    find_escape(selector, record).is_some()
}

/// Finds the records of a chunk that contain a `%`. In JSON and logfmt it also finds a `\`, which may begin another
/// spelling of `%`.
#[derive(Default)]
pub struct EscapeSearch {
    /// The offset after the `%` or `\` that was found last; 0 before the first search.
    percent: usize,
    /// The number of consecutive records in which the search has found an escape.
    dense: u32,
    /// The number of records for which the search still pauses.
    pause: u32,
}

impl EscapeSearch {
    /// Returns the start of the next record that may contain an escape; the record at `start` is the first candidate.
    /// Lines end in `end`. Returns `None` if no such record is left in `chunk`.
    #[inline]
    pub fn next(&mut self, selector: &Selector, chunk: &Chunk<'_>, start: usize, end: u8) -> Option<usize> {
        if self.pause > 0 {
            self.pause -= 1;
            return Some(start);
        }
        if self.percent > start {
            return Some(start);
        }
        let rest = &chunk.bytes[start..];
        let at = start + find_escape(selector, rest)?;
        self.percent = at + 1;
        let record = chunk.start_of(at, start, end);
        if record > start {
            self.dense = 0;
        }
        self.dense += 1;
        if self.dense == DENSE {
            (self.dense, self.pause) = (0, PAUSE);
        }
        Some(record.max(start))
    }

    /// Reports whether the record that ends at `end` can be copied, because the next escape is after it.
    #[inline]
    pub fn passes(&mut self, end: usize) -> bool {
        let passes = self.percent > end;
        if passes {
            self.dense = 0;
        }
        passes
    }
}
