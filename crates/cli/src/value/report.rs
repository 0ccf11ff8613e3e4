//! What is to be said of a chunk besides its output.

use std::fmt::Write;
use std::ops::Range;

use super::stats::Stats;
use crate::ground::reason::{Reason, Refusal};
use crate::scan::finding::List;

/// What is to be said of a chunk besides its output. Lines and offsets count from the start of the chunk; an offset is
/// negative in a value that has begun before.
#[derive(Default)]
pub struct Report {
    /// Whether places matter, so that lines have to be counted.
    pub places: bool,
    /// Whether refused values are wanted one by one.
    pub rejects: bool,
    pub stats: Stats,
    /// The line ends of the chunk, if places matter.
    pub lines: u64,
    /// The bytes of the chunk whose lines are counted.
    counted: usize,
    /// What was refused.
    pub refused: Vec<Refused>,
    /// The texts of `refused`.
    texts: String,
    /// What was found in values that are only looked at.
    pub findings: List,
    /// What ends the run, if something does.
    pub stop: Option<Stop>,
    /// Whether the last record is written and has no end, which only the last one of a file may do.
    pub is_open: bool,
    /// Values in which an escape is spelt in too many layers.
    pub too_deep: u64,
}

/// A refused value that ends the run.
pub struct Stop {
    pub line: u64,
    pub offset: i64,
    pub reason: Reason,
}

/// A refused value.
pub struct Refused {
    pub line: u64,
    pub offset: i64,
    text: Range<usize>,
}

/// The bytes of a record that are shown.
pub const SHOWN: usize = 64 * 1024;

impl Report {
    /// An empty one.
    pub fn new(places: bool, rejects: bool) -> Report {
        Report { places, rejects, ..Report::default() }
    }

    /// Starts anew.
    pub fn clear(&mut self) {
        self.stats = Stats::default();
        (self.lines, self.counted, self.stop, self.too_deep, self.is_open) = (0, 0, None, 0, false);
        self.refused.clear();
        self.texts.clear();
        self.findings.clear();
    }

    /// Counts the line ends of `chunk` up to `offset`, which never decreases by much.
    pub fn line(&mut self, chunk: &[u8], end: u8, offset: usize) -> u64 {
        if let Some(bytes) = chunk.get(self.counted..offset) {
            self.lines += memchr::memchr_iter(end, bytes).count() as u64;
            self.counted = offset;
            return self.lines;
        }
        self.lines - memchr::memchr_iter(end, &chunk[offset..self.counted]).count() as u64
    }

    /// Ends the run at `offset` of `chunk`.
    pub fn stop(&mut self, chunk: &[u8], end: u8, Refusal { offset, reason }: Refusal) {
        let line = self.line(chunk, end, offset);
        self.stop = Some(Stop { line, offset: offset as i64, reason });
    }

    /// Adds a refused value.
    pub fn refuse(&mut self, line: u64, offset: i64, reason: &Reason, record: &[u8]) {
        let from = self.texts.len();
        // Writing to a string does not fail.
        let _ = write!(self.texts, "{reason}: ");
        escape(&record[..record.len().min(SHOWN)], &mut self.texts);
        if record.len() > SHOWN {
            self.texts.push_str("...");
        }
        self.refused.push(Refused { line, offset, text: from..self.texts.len() });
    }

    /// The reason and the record of a refused value.
    pub fn text(&self, refused: &Refused) -> &str {
        &self.texts[refused.text.clone()]
    }
}

/// Appends `record` as one line of text: `\` and controls are escaped as in C, as are bytes that are not UTF-8.
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
