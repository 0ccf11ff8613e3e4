//! The separators of records in the input.

use simdpct::ByteSet;

/// The separator of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Lines, which end in `\n` or `\r\n`.
    Lines,
    /// Records that end in NUL.
    Null,
    /// The input is one value.
    Raw,
}

impl Records {
    /// Returns the bytes that separate records, which decoding must not make.
    pub fn structure(self) -> ByteSet {
        ByteSet::EMPTY.add(match self {
            Records::Lines => b"\r\n",
            Records::Null => b"\0",
            Records::Raw => b"",
        })
    }

    /// Returns the byte that is counted for line numbers.
    pub fn end(self) -> u8 {
        match self {
            Records::Lines | Records::Raw => b'\n',
            Records::Null => b'\0',
        }
    }

    /// Returns the length of `record` without its end.
    pub fn without_end(self, record: &[u8]) -> usize {
        match record {
            [start @ .., b'\r', b'\n'] if self == Records::Lines => start.len(),
            [start @ .., end] if *end == self.end() => start.len(),
            _ => record.len(),
        }
    }
}
