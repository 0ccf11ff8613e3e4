//! The counts of `--stats`.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use simdpct::escapes;

use super::decode::Decoder;
use crate::common::format::OutputFormat;

/// The counts of a piece of input. Counts of several pieces can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub records: u64,
    pub dropped: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub values: u64,
    pub changed: u64,
    pub escapes: u64,
    /// The number of `%` that start no escape.
    pub malformed: u64,
    /// The number of values that are invalid in UTF-8 or in the charset.
    pub invalid_utf8: u64,
    /// The number of `%25` before two hexadecimal digits, which suggest double encoding.
    pub double: u64,
    /// The number of values that the conversion rejects.
    pub rejected: u64,
    /// The number of records and quoted values that cannot be parsed, and of records that are too long.
    pub unreadable: u64,
    /// The largest number of layers of escapes that were decoded in a value.
    pub layers: u64,
    /// Whether any record could contain values. This field and those after it are not printed.
    pub searched: bool,
    /// The number of values that the policy `empty` replaced.
    pub emptied: u64,
    /// The number of unreadable records that the summary on stderr leaves out.
    pub mentioned: u64,
    /// The number of records that already had the key given by `--into`.
    pub clashes: u64,
    /// The number of unreadable values in records whose other values were converted.
    pub partial: u64,
    /// The number of values without a certain place in such records.
    pub uncertain: u64,
    /// The indices of the selections that at least one record had, as a bit set.
    found: u64,
}

impl Stats {
    /// Marks selection number `index` as found in a record.
    #[inline]
    pub fn find(&mut self, index: usize) {
        self.found |= 1 << index.min(63);
    }

    /// Reports whether selection number `index` was found in a record.
    pub fn found(&self, index: usize) -> bool {
        // All selections from number 63 on share a bit.
        self.found & 1 << index.min(63) != 0
    }

    /// Counts the escapes of an unconverted value, as `decoder` reads them.
    pub fn count_escapes(&mut self, value: &[u8], decoder: Option<&Decoder>) {
        // The end of the last `%uXXXX` that was counted.
        let mut read = 0;
        for found in escapes(value) {
            match found {
                Ok(escape) => {
                    self.escapes += 1;
                    let digits = value.get(escape.offset + 3..escape.offset + 5);
                    let is_double = escape.byte == b'%'
                        && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                    self.double += u64::from(is_double);
                }
                Err(escape) if escape.offset < read => {}
                Err(escape) => match decoder.and_then(|decoder| decoder.percent_u(&value[escape.offset..])) {
                    Some(len) => {
                        self.escapes += 1;
                        read = escape.offset + len;
                    }
                    None => self.malformed += 1,
                },
            }
        }
    }

    /// Adds the counts of another piece of input.
    pub fn add(&mut self, other: &Stats) {
        let layers = self.layers.max(other.layers);
        for ((_, sum), (_, count)) in self.counts_mut().into_iter().zip(other.counts()) {
            *sum += count;
        }
        self.layers = layers;
        self.searched |= other.searched;
        self.emptied += other.emptied;
        self.mentioned += other.mentioned;
        self.clashes += other.clashes;
        self.partial += other.partial;
        self.uncertain += other.uncertain;
        self.found |= other.found;
    }

    /// Returns the counts that are printed, with their names.
    fn counts(mut self) -> [(&'static str, u64); 13] {
        self.counts_mut().map(|(name, count)| (name, *count))
    }

    fn counts_mut(&mut self) -> [(&'static str, &mut u64); 13] {
        [
            ("records", &mut self.records),
            ("dropped", &mut self.dropped),
            ("bytes_in", &mut self.bytes_in),
            ("bytes_out", &mut self.bytes_out),
            ("values", &mut self.values),
            ("changed", &mut self.changed),
            ("escapes", &mut self.escapes),
            ("malformed", &mut self.malformed),
            ("invalid_utf8", &mut self.invalid_utf8),
            ("double_encoded", &mut self.double),
            ("rejected", &mut self.rejected),
            ("unreadable", &mut self.unreadable),
            ("layers", &mut self.layers),
        ]
    }

    /// Prints the counts to stderr: as one JSON object, or as one line per count.
    pub fn print(&self, format: OutputFormat) {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        if format == OutputFormat::Json {
            let members: Vec<_> =
                self.counts().iter().map(|(name, count)| format!("\"{name}\":{count}")).collect();
            let _ = writeln!(text, "{{{}}}", members.join(","));
        } else {
            for (name, count) in self.counts() {
                let _ = writeln!(text, "{:<16}{count:>20}", name.replace('_', " "));
            }
        }
        // If stderr is closed, nobody reads the counts, so the error is ignored.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
