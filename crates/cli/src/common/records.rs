//! Defines how the input is separated into records.

use simdpct::ByteSet;

/// The byte order mark, which some software writes at the start of UTF-8 text.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the text of `record`, from which the byte `end` after it was removed already. If `end` is a line feed, this also removes a
/// carriage return at the end of the record, and a byte order mark at the start of the first record.
pub fn text_of(record: &[u8], end: u8, is_first: bool) -> &[u8] {
    if end != b'\n' {
        return record;
    }
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    let text = record.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first);
    text.unwrap_or(record)
}

/// The way in which the input is separated into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Each record is a line, which ends in `\n` or `\r\n`.
    Lines,
    /// Each record ends in NUL.
    Null,
    /// The whole input is one value, without records.
    Raw,
}

impl Records {
    /// Returns the bytes that separate records. Decoding must keep them escaped.
    pub fn structure(self) -> ByteSet {
        ByteSet::EMPTY.add(match self {
            Records::Lines => b"\r\n",
            Records::Null => b"\0",
            Records::Raw => b"",
        })
    }

    /// Returns the byte that is counted for line numbers. It also ends each record, except in [`Records::Raw`].
    pub fn end(self) -> u8 {
        match self {
            Records::Lines | Records::Raw => b'\n',
            Records::Null => b'\0',
        }
    }

    /// Returns the end of the record at `start` of `text`, including its line end or NUL.
    pub fn end_of(self, text: &[u8], start: usize) -> usize {
        memchr::memchr(self.end(), &text[start..]).map_or(text.len(), |found| start + found + 1)
    }

    /// Returns the length of `record` without its line end or NUL.
    pub fn without_end(self, record: &[u8]) -> usize {
        match record {
            [start @ .., b'\r', b'\n'] if self == Records::Lines => start.len(),
            [start @ .., end] if *end == self.end() && self != Records::Raw => start.len(),
            _ => record.len(),
        }
    }
}
