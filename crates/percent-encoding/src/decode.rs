//! Decoding.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String, vec::Vec};
#[cfg(feature = "alloc")]
use core::str::Utf8Error;

/// Decodes `input`: replaces each escape, which is a `%` and two hexadecimal digits, by its byte. Copies any other `%`.
///
/// The result is lazy. It is an iterator over bytes, and converts to text and to `Cow<[u8]>`, which borrows `input` if it has no
/// escape.
///
/// ```
/// use percent_encoding::percent_decode;
///
/// assert_eq!(percent_decode(b"100%25%20caf%c3%a9 %zz").decode_utf8().unwrap(), "100% caf\u{e9} %zz");
/// ```
#[inline]
pub fn percent_decode(input: &[u8]) -> PercentDecode<'_> {
    PercentDecode { bytes: input }
}

/// Decodes the UTF-8 bytes of `input`. See [`percent_decode`].
///
/// ```
/// use percent_encoding::percent_decode_str;
///
/// assert_eq!(percent_decode_str("%00%FF").collect::<Vec<u8>>(), [0, 0xFF]);
/// ```
#[inline]
pub fn percent_decode_str(input: &str) -> PercentDecode<'_> {
    percent_decode(input.as_bytes())
}

/// The lazy result of [`percent_decode`] and [`percent_decode_str`].
///
/// The conversions use only the input that the iterator has not yielded yet. With the feature `alloc`, `collect` first
/// decodes that input to a vector, and builds the collection from the vector.
#[derive(Clone, Debug)]
pub struct PercentDecode<'a> {
    /// The part of the input that the iterator has not yielded yet.
    bytes: &'a [u8],
}

impl Iterator for PercentDecode<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        if byte == b'%'
            && let Some(value) = simdpct::decode_escape(self.bytes)
        {
            self.bytes = &self.bytes[3..];
            return Some(value);
        }
        self.bytes = rest;
        Some(byte)
    }

    /// The lower bound is a third of the remaining length: all of it may be escapes. The upper bound is that length.
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len();
        (left.div_ceil(3), Some(left))
    }

    #[cfg(feature = "alloc")]
    #[inline]
    fn collect<B: FromIterator<u8>>(self) -> B {
        if self.bytes.is_empty() {
            return core::iter::empty().collect();
        }
        // If `B` is a `Vec`, it reuses the allocation of the decoded bytes.
        Cow::from(self).into_owned().into_iter().collect()
    }
}

/// The longest input, in bytes, that is decoded without a kernel.
#[cfg(feature = "alloc")]
const SHORT: usize = 24;

/// Returns the decoded bytes, and borrows the input if it has no escape.
#[cfg(feature = "alloc")]
impl<'a> From<PercentDecode<'a>> for Cow<'a, [u8]> {
    #[inline]
    fn from(decode: PercentDecode<'a>) -> Self {
        let bytes = decode.bytes;
        if bytes.len() > SHORT {
            return simdpct::decode(bytes);
        }
        match short(bytes) {
            None => Cow::Borrowed(bytes),
            Some((decoded, len)) => Cow::Owned(Vec::from(&decoded[..len])),
        }
    }
}

/// Decodes at most [`SHORT`] bytes. Returns the memory and the length of the output, or `None` if there is no escape.
#[cfg(feature = "alloc")]
#[inline(always)]
fn short(bytes: &[u8]) -> Option<([u8; SHORT], usize)> {
    if !bytes.contains(&b'%') {
        return None;
    }
    let mut decoded = [0; SHORT];
    let mut len = 0;
    for (byte, place) in percent_decode(bytes).zip(&mut decoded) {
        *place = byte;
        len += 1;
    }
    if len == bytes.len() { None } else { Some((decoded, len)) }
}

#[cfg(feature = "alloc")]
impl<'a> PercentDecode<'a> {
    /// Returns the decoded bytes as text, and borrows the input if it has no escape.
    ///
    /// # Errors
    ///
    /// Returns a [`Utf8Error`] with offsets in the decoded bytes if they are not valid UTF-8.
    ///
    /// ```
    /// use percent_encoding::percent_decode_str;
    ///
    /// assert_eq!(percent_decode_str("caf%C3%A9").decode_utf8().unwrap(), "caf\u{e9}");
    /// assert_eq!(percent_decode_str("%41%FF").decode_utf8().unwrap_err().valid_up_to(), 1);
    /// ```
    #[inline]
    pub fn decode_utf8(self) -> Result<Cow<'a, str>, Utf8Error> {
        let bytes = self.bytes;
        if bytes.len() > SHORT {
            return long_utf8(bytes);
        }
        match short(bytes) {
            None => core::str::from_utf8(bytes).map(Cow::Borrowed),
            Some((decoded, len)) => {
                core::str::from_utf8(&decoded[..len]).map(|text| Cow::Owned(String::from(text)))
            }
        }
    }

    /// Returns the decoded bytes as text, with U+FFFD in place of invalid UTF-8 (see [`String::from_utf8_lossy`]). Borrows the
    /// input if it has no escape and is valid UTF-8.
    ///
    /// ```
    /// use percent_encoding::percent_decode_str;
    ///
    /// assert_eq!(percent_decode_str("caf%E9").decode_utf8_lossy(), "caf\u{fffd}");
    /// ```
    #[inline]
    pub fn decode_utf8_lossy(self) -> Cow<'a, str> {
        let bytes = self.bytes;
        if bytes.len() > SHORT {
            return simdpct::decode_utf8_lossy(bytes);
        }
        match short(bytes) {
            None => String::from_utf8_lossy(bytes),
            Some((decoded, len)) => Cow::Owned(String::from_utf8_lossy(&decoded[..len]).into_owned()),
        }
    }
}

/// Decodes `bytes` to text with kernels.
#[cfg(feature = "alloc")]
#[inline(never)]
fn long_utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Utf8Error> {
    if bytes.len() > VALIDATED_FASTER
        && let Ok(text) = simdpct::decode_utf8(bytes)
    {
        return Ok(text);
    }
    // simdpct reports the offset of invalid UTF-8 in the input. This API reports it in the decoded bytes, so the decoded bytes
    // are validated.
    match simdpct::decode(bytes) {
        Cow::Borrowed(bytes) => core::str::from_utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error()),
    }
}

/// The input length, in bytes, above which simdpct validates UTF-8 faster than the standard library.
#[cfg(feature = "alloc")]
const VALIDATED_FASTER: usize = 256;
