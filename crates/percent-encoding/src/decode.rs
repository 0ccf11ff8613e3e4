//! Decoding.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String, vec::Vec};
#[cfg(feature = "alloc")]
use core::str::Utf8Error;

/// Decodes `input`: each `%` that two hexadecimal digits follow is replaced, together with them, by the byte that
/// they stand for. Any other `%` stays.
///
/// Nothing happens until the result is used: it is an iterator over bytes, converts to `Cow<[u8]>`, which borrows
/// `input` if there is no escape in it, and to text.
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

/// Decodes the UTF-8 bytes of `input`: [`percent_decode`].
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

/// Bytes that are decoded when they are asked for: what [`percent_decode`] and [`percent_decode_str`] return.
///
/// What is taken from the iterator is no longer converted. `collect` decodes as a whole, and hands the collection
/// the bytes of a vector.
#[derive(Clone, Debug)]
pub struct PercentDecode<'a> {
    /// What is left.
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

    /// A third of the bytes that are left at least, if all are escapes, and all of them at most.
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
        // A `Vec` takes over the allocation of the iterator that it is collected from.
        Cow::from(self).into_owned().into_iter().collect()
    }
}

/// The longest input that is decoded without the call of a kernel.
#[cfg(feature = "alloc")]
const SHORT: usize = 24;

/// The decoded bytes, borrowed if there is no escape.
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

/// The decoded bytes and their number, or `None` if at most [`SHORT`] bytes are decoded already.
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
    /// The decoded bytes as text, borrowed if there is no escape.
    ///
    /// # Errors
    ///
    /// [`Utf8Error`] if they are not UTF-8; its positions are those of the decoded bytes.
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

    /// The decoded bytes as text, with U+FFFD for what is not UTF-8 as
    /// [`String::from_utf8_lossy`] has it; borrowed if there is no escape and all is UTF-8.
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

/// `bytes`, decoded, as text.
#[cfg(feature = "alloc")]
#[inline(never)]
fn long_utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Utf8Error> {
    if bytes.len() > VALIDATED_FASTER
        && let Ok(text) = simdpct::decode_utf8(bytes)
    {
        return Ok(text);
    }
    // If it is not UTF-8, the error has to name the position in the decoded bytes, as the standard library does.
    match simdpct::decode(bytes) {
        Cow::Borrowed(bytes) => core::str::from_utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error()),
    }
}

/// From this length on simdpct's validation of UTF-8 is worth more than its call.
#[cfg(feature = "alloc")]
const VALIDATED_FASTER: usize = 256;
