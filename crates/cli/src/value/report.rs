//! Collects the counts, rejections and other messages about a chunk of input.

use std::fmt::Write;
use std::ops::Range;

use super::stats::Stats;
use crate::ground::reason::{Reason, Refusal};
use crate::scan::finding::List;

/// The messages about a chunk of input. Lines and offsets count from the start of the chunk; an offset is negative in
/// a value that began in an earlier chunk.
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
    /// The rows of a table that are not converted because a quote before them is not closed: the first such rows of the chunk, and
    /// those at the end of the input.
    pub open_quotes: Vec<OpenQuote>,
    /// The findings of `pct check`.
    pub findings: List,
    /// The error that stops the run.
    pub stop: Option<Stop>,
    /// Whether the last record was written without an end, which is possible only at the end of a file.
    pub is_open: bool,
    /// The number of values with an escape in more layers than can be decoded.
    pub too_deep: u64,
}

/// A rejection that stops the run.
pub struct Stop {
    pub line: u64,
    pub offset: i64,
    pub reason: Reason,
}

/// A quote that is not closed, because of which rows are not converted.
pub struct OpenQuote {
    /// The number of lines before the quote, if lines are counted, and its offset.
    pub first: (u64, u64),
    /// The same of the end of the last line that is not converted.
    pub last: (u64, u64),
    /// Whether the input ends there, as far as is known.
    pub is_last: bool,
}

/// A rejected value or record: its position, and the range of its text in the report.
pub struct Refused {
    pub line: u64,
    pub offset: i64,
    text: Range<usize>,
}

/// The maximum number of bytes of a record that a rejection shows.
pub const SHOWN: usize = 64 * 1024;

impl Report {
    /// Creates an empty report.
    pub fn new(places: bool, rejects: bool) -> Report {
        Report { places, rejects, ..Report::default() }
    }

    /// Resets the report for the next chunk.
    pub fn clear(&mut self) {
        self.stats = Stats::default();
        (self.lines, self.counted, self.stop, self.too_deep, self.is_open) = (0, 0, None, 0, false);
        self.refused.clear();
        self.texts.clear();
        self.open_quotes.clear();
        self.findings.clear();
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

    /// Stops the run at `offset` of `chunk`.
    pub fn stop(&mut self, chunk: &[u8], end: u8, Refusal { offset, reason }: Refusal) {
        let line = self.line(chunk, end, offset);
        self.stop = Some(Stop { line, offset: offset as i64, reason });
    }

    /// Adds the lines of `chunk` up to `end`, in which no row is converted because of the quote at `quote`, if there is more than one
    /// line or it is the last one. `is_last` says that the input may end there.
    pub fn leave_open(&mut self, chunk: &[u8], line_end: u8, quote: usize, end: usize, is_last: bool) {
        let has_lines = memchr::memchr(line_end, &chunk[quote..end - 1]).is_some();
        if is_last || has_lines && self.open_quotes.is_empty() {
            let mut place = |at: usize| (self.line(chunk, line_end, at), at as u64);
            let (first, last) = (place(quote), place(end - 1));
            self.open_quotes.push(OpenQuote { first, last, is_last });
        }
    }

    /// Adds a rejection.
    pub fn refuse(&mut self, line: u64, offset: i64, reason: &Reason, record: &[u8]) {
        let from = self.texts.len();
        // Writing to a `String` cannot fail.
        let _ = write!(self.texts, "{reason}: ");
        escape(&record[..record.len().min(SHOWN)], &mut self.texts);
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

/// Appends `record` as one line of text. Backslashes, control bytes and invalid UTF-8 are escaped as in C.
fn escape(record: &[u8], out: &mut String) {
    for chunk in record.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0'..='\x1F' | '\\' | '\x7F' => {
                    out.extend(std::ascii::escape_default(character as u8).map(char::from))
                }
                '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' => out.extend(character.escape_default()),
                _ => out.push(character),
            }
        }
        for byte in chunk.invalid() {
            out.extend(std::ascii::escape_default(*byte).map(char::from));
        }
    }
}
