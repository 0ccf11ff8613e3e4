//! What separates values in the input.

use simdpct::ByteSet;

/// What separates values.
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
    /// The bytes that are structure, and that decoding therefore must not make.
    pub fn structure(self) -> ByteSet {
        ByteSet::EMPTY.add(match self {
            Records::Lines => b"\r\n",
            Records::Null => b"\0",
            Records::Raw => b"",
        })
    }

    /// The byte that is counted for line numbers.
    pub fn end(self) -> u8 {
        match self {
            Records::Lines | Records::Raw => b'\n',
            Records::Null => b'\0',
        }
    }

    /// The length of `record` without its end.
    pub fn without_end(self, record: &[u8]) -> usize {
        match record {
            [start @ .., b'\r', b'\n'] if self == Records::Lines => start.len(),
            [start @ .., end] if *end == self.end() => start.len(),
            _ => record.len(),
        }
    }
}
