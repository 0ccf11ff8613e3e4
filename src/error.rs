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
    /// The decoder is strict and the input has a malformed escape.
    MalformedEscape(MalformedEscape),
    /// The slice is too small.
    BufferTooSmall(BufferTooSmall),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::MalformedEscape(error) => error.fmt(f),
            DecodeError::BufferTooSmall(error) => error.fmt(f),
        }
    }
}

/// Why input could not be decoded to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeUtf8Error {
    /// The decoder is strict and the input has a malformed escape.
    MalformedEscape(MalformedEscape),
    /// The decoded bytes are not UTF-8.
    InvalidUtf8(InvalidUtf8),
}

impl fmt::Display for DecodeUtf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeUtf8Error::MalformedEscape(error) => error.fmt(f),
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
    ($($inner:ident => $outer:ident),*) => {
        $(impl From<$inner> for $outer {
            fn from(error: $inner) -> $outer {
                $outer::$inner(error)
            }
        })*
    };
}
from!(MalformedEscape => DecodeError, BufferTooSmall => DecodeError, MalformedEscape => DecodeUtf8Error, InvalidUtf8 => DecodeUtf8Error);

impl From<core::convert::Infallible> for DecodeError {
    fn from(never: core::convert::Infallible) -> DecodeError {
        match never {}
    }
}

impl From<core::convert::Infallible> for DecodeUtf8Error {
    fn from(never: core::convert::Infallible) -> DecodeUtf8Error {
        match never {}
    }
}
