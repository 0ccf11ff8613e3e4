//! Finds the records that may change or be unreadable, if records without an escape stay unchanged.

use std::ops::Range;

use crate::common::records::Records;
use crate::run::pump::feed::Chunk;
use crate::select::Selector;

/// If this number of consecutive records have an escape, the search costs more than it saves. It then pauses for
/// [`PAUSE`] records.
const DENSE: u32 = 8;

/// The number of records for which the search pauses.
const PAUSE: u32 = 64;

/// Reports whether `record` is copied without being read, if records may be skipped: it has no escape, and is readable as far
/// as [`Selector::looks_readable`] tells.
pub fn may_pass(selector: &Selector, record: &[u8]) -> bool {
    selector.find_escape(record).is_none() && selector.looks_readable(record)
}

/// Finds the records of a chunk that contain a `%`, and those that may be unreadable. In JSON and logfmt it also finds a `\`,
/// which may begin another spelling of `%`.
#[derive(Default)]
pub struct EscapeSearch {
    /// The offset after the `%` or `\` that was found last; 0 before the first search.
    percent: usize,
    /// The start of the record with that byte; the length of the chunk if no such byte is left.
    record: usize,
    /// The number of consecutive records in which the search has found an escape.
    dense: u32,
    /// The number of records for which the search still pauses.
    pause: u32,
}

impl EscapeSearch {
    /// Returns the start of the next record that may contain an escape or be unreadable; the record at `start` is the first
    /// candidate. Returns `None` if no such record is left in `chunk`.
    #[inline]
    pub fn next(
        &mut self,
        selector: &Selector,
        chunk: &Chunk<'_>,
        start: usize,
        records: Records,
    ) -> Option<usize> {
        if self.pause > 0 {
            self.pause -= 1;
            return Some(start);
        }
        if self.percent <= start {
            let found = selector.find_escape(&chunk.bytes[start..]).map(|found| start + found);
            (self.percent, self.record) = match found {
                Some(at) => (at + 1, chunk.start_of(at, start, records.end()).max(start)),
                None => (usize::MAX, chunk.bytes.len()),
            };
        }
        if start < self.record {
            self.dense = 0;
            if let Some(record) = unreadable(selector, chunk, start..self.record, records) {
                return Some(record);
            }
        }
        if self.record == chunk.bytes.len() {
            return None;
        }
        self.dense += 1;
        if self.dense == DENSE {
            (self.dense, self.pause) = (0, PAUSE);
        }
        Some(self.record)
    }
}

/// Returns the start of the first record in `range` of `chunk` that may be unreadable.
fn unreadable(
    selector: &Selector,
    chunk: &Chunk<'_>,
    range: Range<usize>,
    records: Records,
) -> Option<usize> {
    if selector.is_always_readable() {
        return None;
    }
    if selector.table().is_some() {
        // The other rows have no misplaced quotes.
        let irregular = chunk.marks()?.irregular(range.clone())?;
        return Some(chunk.start_of(irregular, range.start, records.end()).max(range.start));
    }
    let mut start = range.start;
    while start < range.end {
        let stop = chunk.end_of(start, records.end());
        if !selector.looks_readable(chunk.record(start, stop, records).bytes()) {
            return Some(start);
        }
        start = stop;
    }
    None
}
