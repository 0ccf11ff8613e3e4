//! What can be wrong with input or with room for output.

use core::fmt;

use crate::hex;

/// A `%` that is not followed by two hexadecimal digits (RFC 3986, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedEscape {
    /// The offset of the `%` in the input, in bytes.
    pub offset: usize,
    /// What was wrong.
    pub cause: MalformedCause,
}

/// Why a `%` starts no escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedCause {
    /// The input ends before the second digit.
    Truncated,
    /// A byte that is not a hexadecimal digit stands where one should.
    NotHex {
        /// Its offset in the input: one or two after the `%`.
        offset: usize,
        /// The byte.
        byte: u8,
    },
}

impl MalformedEscape {
    /// The error of the `%` at `offset` of `input`, which starts no escape.
    pub(crate) fn at(input: &[u8], offset: usize) -> MalformedEscape {
        let digits = input.iter().enumerate().skip(offset + 1).take(2);
        let wrong = digits.into_iter().find(|(_, byte)| hex::digit(**byte).is_none());
        let cause = match wrong {
            Some((offset, &byte)) => MalformedCause::NotHex { offset, byte },
            None => MalformedCause::Truncated,
        };
        MalformedEscape { offset, cause }
    }

    /// Nothing if a decoding of `input` stopped at its end, else the error of the `%` at which it stopped.
    #[inline(always)]
    pub(crate) fn unless_whole(input: &[u8], stopped: usize) -> Result<(), MalformedEscape> {
        if stopped == input.len() { Ok(()) } else { Err(MalformedEscape::at(input, stopped)) }
    }

    /// The same error for input that begins `by` bytes earlier.
    #[cfg(feature = "alloc")]
    pub(crate) fn shifted(mut self, by: usize) -> MalformedEscape {
        self.offset = self.offset.saturating_add(by);
        if let MalformedCause::NotHex { offset, .. } = &mut self.cause {
            *offset = offset.saturating_add(by);
        }
        self
    }

    /// The same error, found in the first `len` bytes of input that goes on with a `%`.
    #[cfg(feature = "alloc")]
    pub(crate) fn before_percent(mut self, len: usize) -> MalformedEscape {
        if self.cause == MalformedCause::Truncated {
            self.cause = MalformedCause::NotHex { offset: len, byte: b'%' };
        }
        self
    }
}

impl fmt::Display for MalformedEscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed escape at offset {}: ", self.offset)?;
        match self.cause {
            MalformedCause::Truncated => f.write_str("the input ends inside it"),
            MalformedCause::NotHex { byte, .. } => {
                write!(f, "'{}' is not a hexadecimal digit", byte.escape_ascii())
            }
        }
    }
}

/// The caller's slice is too small. Nothing of use was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferTooSmall {
    /// The size that the output needs, in bytes.
    pub needed: usize,
}

impl fmt::Display for BufferTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the output needs {} bytes", self.needed)
    }
}

/// Why a decoder could not write into a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input has a malformed escape.
    Malformed(MalformedEscape),
    /// The slice is too small.
    BufferTooSmall(BufferTooSmall),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Malformed(error) => error.fmt(f),
            DecodeError::BufferTooSmall(error) => error.fmt(f),
        }
    }
}

/// Why input could not be decoded to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeUtf8Error {
    /// The input has a malformed escape.
    Malformed(MalformedEscape),
    /// The decoded bytes are not UTF-8.
    InvalidUtf8(InvalidUtf8),
}

impl fmt::Display for DecodeUtf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeUtf8Error::Malformed(error) => error.fmt(f),
            DecodeUtf8Error::InvalidUtf8(error) => error.fmt(f),
        }
    }
}

/// Decoded bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidUtf8 {
    /// The offset, in the input, of the byte or escape where the first invalid sequence starts.
    pub offset: usize,
    /// The offset of the same place in the decoded bytes.
    pub decoded_offset: usize,
}

impl fmt::Display for InvalidUtf8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decoded bytes are not UTF-8 from offset {}", self.offset)
    }
}

macro_rules! errors {
    ($($name:ident)*) => { $(impl core::error::Error for $name {})* };
}
errors!(MalformedEscape BufferTooSmall DecodeError DecodeUtf8Error InvalidUtf8);

macro_rules! from {
    ($($inner:ident => $outer:ident::$variant:ident),*) => {
        $(impl From<$inner> for $outer {
            fn from(error: $inner) -> $outer {
                $outer::$variant(error)
            }
        })*
    };
}
from!(
    MalformedEscape => DecodeError::Malformed,
    BufferTooSmall => DecodeError::BufferTooSmall,
    MalformedEscape => DecodeUtf8Error::Malformed,
    InvalidUtf8 => DecodeUtf8Error::InvalidUtf8
);
