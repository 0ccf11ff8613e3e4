//! Collects the counts, rejections and other messages about a chunk of input.

use std::fmt::Write;
use std::ops::Range;

use super::stats::Stats;
use crate::check::listing::List;
use crate::common::reason::{Reason, Refusal};
use crate::common::shown::append_line;

/// The messages about a chunk of input. Lines and offsets count from the start of the chunk.
#[derive(Default)]
pub struct Report {
    /// Whether positions are reported, so that lines must be counted.
    pub places: bool,
    /// Whether each rejection is reported.
    pub rejects: bool,
    pub stats: Stats,
    /// The number of line ends in the chunk, if positions are reported.
    pub lines: u64,
    /// The number of bytes in which line ends have been counted.
    counted: usize,
    /// The rejected values and records of the chunk.
    pub refused: Vec<Refused>,
    /// The reasons and records of all rejections, one after the other.
    texts: String,
    /// The findings of `pct check`.
    pub list: List,
    /// The rejection that stops the run, and its line.
    pub stop: Option<(u64, Refusal)>,
    /// Whether the last record was written without an end, which is possible only at the end of a file.
    pub is_open: bool,
}

/// A rejected value or record: its position, and the range of its text in the report.
pub struct Refused {
    pub line: u64,
    pub offset: u64,
    text: Range<usize>,
}

/// The maximum number of bytes of a record that a rejection shows.
const SHOWN: usize = 64 * 1024;

impl Report {
    /// Creates an empty report.
    pub fn new(places: bool, rejects: bool) -> Report {
        Report { places, rejects, ..Report::default() }
    }

    /// Resets the report for the next chunk.
    pub fn clear(&mut self) {
        self.stats = Stats::default();
        (self.lines, self.counted, self.stop, self.is_open) = (0, 0, None, false);
        self.refused.clear();
        self.texts.clear();
        self.list.clear();
    }

    /// Returns the number of line ends before `offset` of `chunk`. Offsets may go back by a few bytes between calls.
    pub fn line(&mut self, chunk: &[u8], end: u8, offset: usize) -> u64 {
        if let Some(bytes) = chunk.get(self.counted..offset) {
            self.lines += memchr::memchr_iter(end, bytes).count() as u64;
            self.counted = offset;
            return self.lines;
        }
        self.lines - memchr::memchr_iter(end, &chunk[offset..self.counted]).count() as u64
    }

    /// Adds a rejection.
    pub fn refuse(&mut self, line: u64, offset: u64, reason: &Reason, record: &[u8]) {
        let from = self.texts.len();
        // Writing to a `String` cannot fail.
        let _ = write!(self.texts, "{reason}: ");
        let is_escaped =
            |character: char| character.is_control() || matches!(character, '\\' | '\u{2028}' | '\u{2029}');
        append_line(&record[..record.len().min(SHOWN)], is_escaped, &mut self.texts);
        if record.len() > SHOWN {
            self.texts.push_str("...");
        }
        self.refused.push(Refused { line, offset, text: from..self.texts.len() });
    }

    /// Returns the reason and the record of a rejection.
    pub fn text(&self, refused: &Refused) -> &str {
        &self.texts[refused.text.clone()]
    }
}
