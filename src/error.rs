//! The errors of the functions and methods: malformed escapes, invalid UTF-8, and too little capacity for output.

use core::fmt;

use crate::hex;

/// A `%` that is not followed by two hexadecimal digits (RFC 3986, section 2.1).
///
/// ```
/// let error = simdpct::Decode::new().strict().decode("50% off").unwrap_err();
/// assert_eq!(error.offset, 2);
/// assert_eq!(
///     error.to_string(),
///     "malformed escape at offset 2: ' ' is not a hexadecimal digit (a '%' itself is written '%25')",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedEscape {
    /// The offset of the `%` in the input, in bytes.
    pub offset: usize,
    /// The reason why the escape is malformed.
    pub cause: MalformedCause,
}

/// The reason why a `%` does not start a valid escape.
///
/// ```
/// use simdpct::MalformedCause;
///
/// let cause = |input| simdpct::validate(input).unwrap_err().cause;
/// assert_eq!(cause("100%"), MalformedCause::Truncated);
/// assert_eq!(cause("100%").to_string(), "the input ends inside it");
/// assert_eq!(cause("%2g"), MalformedCause::NotHex { offset: 2, byte: b'g' });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MalformedCause {
    /// The input ends before the second digit.
    Truncated,
    /// The `%` is followed by a byte that is not a hexadecimal digit, at once or after one digit.
    NotHex {
        /// The offset in the input of the byte that is not a digit: one or two after the `%`.
        offset: usize,
        /// The byte that is not a hexadecimal digit.
        byte: u8,
    },
}

impl MalformedEscape {
    /// Makes the error for the `%` at `offset` of `input`, which does not start an escape.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(input: &[u8], offset: usize) -> MalformedEscape {
        MalformedEscape::with_flaw(offset, hex::flaw(input, offset))
    }

    /// Makes the error for the `%` at `offset` from the result of [`hex::flaw`].
    #[inline(always)]
    pub(crate) fn with_flaw(offset: usize, flaw: usize) -> MalformedEscape {
        let cause = match flaw {
            0 => MalformedCause::Truncated,
            _ => MalformedCause::NotHex { offset: offset.saturating_add(flaw >> 8), byte: flaw as u8 },
        };
        MalformedEscape { offset, cause }
    }

    /// Returns the flaw from which [`MalformedEscape::with_flaw`] makes this error.
    pub(crate) fn flaw(&self) -> u16 {
        match self.cause {
            MalformedCause::Truncated => 0,
            MalformedCause::NotHex { offset, byte } => ((offset - self.offset) << 8) as u16 | u16::from(byte),
        }
    }

    /// Returns `Ok` if a decoding of `input` reached its end, that is, if `stopped` is its length. Otherwise returns the error
    /// for the `%` at offset `stopped`.
    #[inline(always)]
    pub(crate) fn unless_whole(input: &[u8], stopped: usize) -> Result<(), MalformedEscape> {
        if stopped == input.len() { Ok(()) } else { Err(MalformedEscape::at(input, stopped)) }
    }

    /// Adds `by` to the offsets of the error, for an input that begins `by` bytes before the part in which the error was found.
    pub(crate) fn shifted(mut self, by: usize) -> MalformedEscape {
        self.offset = self.offset.saturating_add(by);
        if let MalformedCause::NotHex { offset, .. } = &mut self.cause {
            *offset = offset.saturating_add(by);
        }
        self
    }

    /// Corrects the cause of an error that was found in the first `len` bytes of an input, after which the input must have
    /// a `%`. So an escape that seemed truncated has that `%` in place of a digit.
    pub(crate) fn before_percent(mut self, len: usize) -> MalformedEscape {
        if self.cause == MalformedCause::Truncated {
            self.cause = MalformedCause::NotHex { offset: len, byte: b'%' };
        }
        self
    }
}

impl fmt::Display for MalformedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MalformedCause::Truncated => f.write_str("the input ends inside it"),
            MalformedCause::NotHex { byte, .. } => {
                write!(f, "'{}' is not a hexadecimal digit", byte.escape_ascii())
            }
        }
    }
}

/// The error of a function whose output slice is too small. The slice is unchanged.
///
/// ```
/// let mut out = vec![0; 2];
/// if let Err(error) = simdpct::encode_to_slice("a b", &mut out) {
///     out.resize(error.needed, 0);
/// }
/// assert_eq!(simdpct::encode_to_slice("a b", &mut out), Ok(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BufferTooSmall {
    /// The size that the output needs, in bytes.
    pub needed: usize,
}

/// The error of decoding into a slice.
///
/// ```
/// use simdpct::{Decode, DecodeError};
///
/// let mut out = [0; 2];
/// match Decode::new().strict().decode_to_slice("%41bc", &mut out) {
///     Ok(len) => println!("{len} bytes"),
///     Err(DecodeError::BufferTooSmall(error)) => assert_eq!(error.needed, 3),
///     Err(error) => panic!("{error}"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input has a malformed escape.
    Malformed(MalformedEscape),
    /// The slice is too small.
    BufferTooSmall(BufferTooSmall),
}

/// The error of strict decoding to text.
///
/// ```
/// use simdpct::{Decode, DecodeUtf8Error};
///
/// let decode = |input| Decode::new().strict().decode_utf8(input).unwrap_err();
/// assert!(matches!(decode("%4"), DecodeUtf8Error::Malformed(_)));
/// assert!(matches!(decode("%FF"), DecodeUtf8Error::InvalidUtf8(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeUtf8Error {
    /// The input has a malformed escape.
    Malformed(MalformedEscape),
    /// The decoded bytes are not UTF-8.
    InvalidUtf8(InvalidUtf8),
}

/// The error of decoding to text if the decoded bytes are not UTF-8. Other methods decode to bytes, or have a policy
/// for invalid UTF-8: `decode_utf8_lossy` and `decode_utf8_with`.
///
/// ```
/// let error = simdpct::decode_utf8("a%20%E9").unwrap_err();
/// assert_eq!((error.offset, error.decoded_offset), (4, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidUtf8 {
    /// The offset in the input, in bytes, of the byte or escape where the first invalid sequence starts.
    pub offset: usize,
    /// The offset in the decoded bytes at which the first invalid sequence starts.
    pub decoded_offset: usize,
}

/// Implements the traits of errors whose message names some of their fields.
macro_rules! with_message {
    ($($error:ident { $($field:ident),* }: $message:literal;)*) => {$(
        impl fmt::Display for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $error { $($field,)* .. } = self;
                write!(f, $message)
            }
        }

        impl core::error::Error for $error {}
    )*};
}

with_message! {
    MalformedEscape { offset, cause }:
        "malformed escape at offset {offset}: {cause} (a '%' itself is written '%25')";
    BufferTooSmall { needed }: "the buffer is too small: the output needs {needed} bytes";
    InvalidUtf8 { offset }: "the decoded bytes are not UTF-8 from offset {offset} of the input on";
}

/// Implements the traits of errors that hold one of several other errors. They show its message, so `source` does not return it as
/// well.
macro_rules! one_of_several {
    ($($outer:ident: $($variant:ident($inner:ident)),*;)*) => {$(
        impl fmt::Display for $outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($outer::$variant(error) => error.fmt(f),)*
                }
            }
        }

        impl core::error::Error for $outer {}

        $(
            impl From<$inner> for $outer {
                fn from(error: $inner) -> $outer {
                    $outer::$variant(error)
                }
            }
        )*
    )*};
}
pub(crate) use {one_of_several, with_message};

one_of_several! {
    DecodeError: Malformed(MalformedEscape), BufferTooSmall(BufferTooSmall);
    DecodeUtf8Error: Malformed(MalformedEscape), InvalidUtf8(InvalidUtf8);
}
