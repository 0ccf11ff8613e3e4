//! The summary of `--stats`.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use simdpct::escapes;

use super::work::Work;

/// How to sum up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsFormat {
    /// A line for each count.
    Text,
    /// One JSON object.
    Json,
}

/// What was counted. Counts of several pieces of input add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub records: u64,
    pub dropped: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub values: u64,
    pub changed: u64,
    pub escapes: u64,
    /// `%` that start no escape.
    pub malformed: u64,
    /// Values that are not UTF-8, or not in the charset.
    pub invalid_utf8: u64,
    /// Escaped `%` in front of two hexadecimal digits.
    pub double: u64,
    /// Records that could not be read at all: not JSON, or too long.
    pub unreadable: u64,
    /// The most times that decoding changed a value.
    pub layers: u64,
    /// Whether a record was looked at in which there may be values. This and what follows is not shown.
    pub looked: bool,
    /// Records in which there is no place for a new value beside the old one.
    pub clashes: u64,
    /// The selected places at which there were values, as a set of their numbers.
    found: u64,
}

impl Stats {
    /// There was a value at selected place number `index`.
    #[inline]
    pub fn find(&mut self, index: usize) {
        self.found |= 1 << index.min(63);
    }

    /// Whether there was a value at selected place number `index`.
    pub fn found(&self, index: usize) -> bool {
        // The last number is shared by all that follow.
        self.found & 1 << index.min(63) != 0
    }

    /// Counts the escapes of a value, before the work, that begin before `upto`. Returns where to go on if there is
    /// more of it.
    pub fn look(&mut self, value: &[u8], upto: usize, work: &Work) -> usize {
        // The end of the last `%uXXXX`.
        let mut read = 0;
        let mut next = upto;
        for found in escapes(value) {
            let at = found.as_ref().map_or_else(|escape| escape.offset, |escape| escape.offset);
            if at >= upto {
                break;
            }
            match found {
                Ok(escape) => {
                    next = next.max(at + 3);
                    self.escapes += 1;
                    let digits = value.get(escape.offset + 3..escape.offset + 5);
                    let is_double = escape.byte == b'%'
                        && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                    self.double += u64::from(is_double);
                }
                Err(escape) if escape.offset < read => {}
                Err(escape) => match work.percent_u(&value[escape.offset..]) {
                    Some(len) => {
                        self.escapes += 1;
                        read = escape.offset + len;
                        next = next.max(read);
                    }
                    None => self.malformed += 1,
                },
            }
        }
        next
    }

    /// Adds the counts of other input.
    pub fn add(&mut self, other: &Stats) {
        let layers = self.layers.max(other.layers);
        for (sum, (_, count)) in self.counts_mut().into_iter().zip(other.counts()) {
            *sum += count;
        }
        self.layers = layers;
        self.looked |= other.looked;
        self.clashes += other.clashes;
        self.found |= other.found;
    }

    fn counts(&self) -> [(&'static str, u64); 12] {
        [
            ("records", self.records),
            ("dropped", self.dropped),
            ("bytes_in", self.bytes_in),
            ("bytes_out", self.bytes_out),
            ("values", self.values),
            ("changed", self.changed),
            ("escapes", self.escapes),
            ("malformed", self.malformed),
            ("invalid_utf8", self.invalid_utf8),
            ("double_encoded", self.double),
            ("unreadable", self.unreadable),
            ("layers", self.layers),
        ]
    }

    fn counts_mut(&mut self) -> [&mut u64; 12] {
        [
            &mut self.records,
            &mut self.dropped,
            &mut self.bytes_in,
            &mut self.bytes_out,
            &mut self.values,
            &mut self.changed,
            &mut self.escapes,
            &mut self.malformed,
            &mut self.invalid_utf8,
            &mut self.double,
            &mut self.unreadable,
            &mut self.layers,
        ]
    }

    /// Writes the summary to stderr.
    pub fn print(&self, format: StatsFormat) {
        let mut text = String::new();
        match format {
            StatsFormat::Text => {
                for (name, count) in self.counts() {
                    // Writing to a string does not fail.
                    let _ = writeln!(text, "{:<16}{count:>20}", name.replace('_', " "));
                }
            }
            StatsFormat::Json => {
                let members: Vec<_> =
                    self.counts().iter().map(|(name, count)| format!("\"{name}\":{count}")).collect();
                let _ = writeln!(text, "{{{}}}", members.join(","));
            }
        }
        // With stderr closed nobody wants the summary.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
