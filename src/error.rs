//! What can be wrong with input or with room for output.

use core::fmt;

use crate::hex;

/// A `%` that is not followed by two hexadecimal digits (RFC 3986, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadEscape {
    /// The offset of the `%` in the input, in octets.
    pub offset: usize,
    /// What was wrong.
    pub cause: BadEscapeCause,
}

/// Why a `%` starts no escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEscapeCause {
    /// The input ends before the second digit.
    Truncated,
    /// An octet that is not a hexadecimal digit stands where one should.
    NotHex {
        /// Its offset in the input: one or two after the `%`.
        offset: usize,
        /// The octet.
        octet: u8,
    },
}

impl BadEscape {
    /// The error of the `%` at `offset` of `input`, which starts no escape.
    pub(crate) fn at(input: &[u8], offset: usize) -> BadEscape {
        let digits = input.iter().enumerate().skip(offset + 1).take(2);
        let wrong = digits.into_iter().find(|(_, octet)| hex::digit(**octet).is_none());
        let cause = match wrong {
            Some((offset, &octet)) => BadEscapeCause::NotHex { offset, octet },
            None => BadEscapeCause::Truncated,
        };
        BadEscape { offset, cause }
    }
}

impl fmt::Display for BadEscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed escape at offset {}: ", self.offset)?;
        match self.cause {
            BadEscapeCause::Truncated => f.write_str("the input ends inside it"),
            BadEscapeCause::NotHex { octet, .. } => {
                write!(f, "'{}' is not a hexadecimal digit", octet.escape_ascii())
            }
        }
    }
}

/// The caller's slice is too small. Nothing of use was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooSmall {
    /// The size that the output needs, in octets.
    pub needed: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the output needs {} octets", self.needed)
    }
}

/// Why a decoder could not write into a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The decoder is strict and the input has a malformed escape.
    BadEscape(BadEscape),
    /// The slice is too small.
    TooSmall(TooSmall),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::BadEscape(error) => error.fmt(f),
            DecodeError::TooSmall(error) => error.fmt(f),
        }
    }
}

/// Why input could not be decoded to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeUtf8Error {
    /// The decoder is strict and the input has a malformed escape.
    BadEscape(BadEscape),
    /// The decoded octets are not UTF-8.
    NotUtf8(NotUtf8),
}

impl fmt::Display for DecodeUtf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeUtf8Error::BadEscape(error) => error.fmt(f),
            DecodeUtf8Error::NotUtf8(error) => error.fmt(f),
        }
    }
}

/// Decoded octets that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotUtf8 {
    /// The offset, in the input, of the octet or escape where the first invalid sequence starts.
    pub offset: usize,
    /// The offset of the same place in the decoded octets.
    pub decoded_offset: usize,
}

impl fmt::Display for NotUtf8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decoded octets are not UTF-8 from offset {}", self.offset)
    }
}

macro_rules! errors {
    ($($name:ident)*) => { $(impl core::error::Error for $name {})* };
}
errors!(BadEscape TooSmall DecodeError DecodeUtf8Error NotUtf8);

macro_rules! from {
    ($($inner:ident => $outer:ident),*) => {
        $(impl From<$inner> for $outer {
            fn from(error: $inner) -> $outer {
                $outer::$inner(error)
            }
        })*
    };
}
from!(BadEscape => DecodeError, TooSmall => DecodeError, BadEscape => DecodeUtf8Error, NotUtf8 => DecodeUtf8Error);

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
