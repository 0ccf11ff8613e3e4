//! Encoding.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;

use crate::ascii::{self, Short};
use crate::set::AsciiSet;

/// The escape of `byte`, whatever the byte: `%` and two upper-case hexadecimal digits.
///
/// ```
/// use percent_encoding::percent_encode_byte;
///
/// assert_eq!("/?".bytes().map(percent_encode_byte).collect::<String>(), "%2F%3F");
/// ```
#[inline]
#[must_use]
pub fn percent_encode_byte(byte: u8) -> &'static str {
    ascii::escape(byte)
}

/// Encodes `input`: members of `ascii_set`, and all bytes of `0x80` and more, are escaped.
///
/// Nothing happens until the result is used: it is `Display`, an iterator over pieces, and converts to
/// `Cow<str>`, which borrows `input` if nothing is escaped.
///
/// ```
/// use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
///
/// let mut url = String::from("/files/");
/// url.extend(percent_encode(b"r\xE9sum\xE9.txt", NON_ALPHANUMERIC));
/// assert_eq!(url, "/files/r%E9sum%E9%2Etxt");
/// ```
#[inline]
pub fn percent_encode<'a>(input: &'a [u8], ascii_set: &'static AsciiSet) -> PercentEncode<'a> {
    PercentEncode { bytes: input, ascii_set }
}

/// Encodes the UTF-8 bytes of `input`: [`percent_encode`].
///
/// ```
/// use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
///
/// assert_eq!(utf8_percent_encode("\u{20ac} 5", NON_ALPHANUMERIC).to_string(), "%E2%82%AC%205");
/// ```
#[inline]
pub fn utf8_percent_encode<'a>(input: &'a str, ascii_set: &'static AsciiSet) -> PercentEncode<'a> {
    percent_encode(input.as_bytes(), ascii_set)
}

/// Bytes that are encoded when they are asked for: what [`percent_encode`] and [`utf8_percent_encode`] return.
///
/// As an iterator it gives runs of bytes that stay, each as long as can be, and escapes, each by itself; nothing is
/// looked at before it is asked for. What is taken from the iterator is no longer displayed or converted.
#[derive(Clone, Debug)]
pub struct PercentEncode<'a> {
    /// What is left.
    bytes: &'a [u8],
    ascii_set: &'static AsciiSet,
}

impl<'a> Iterator for PercentEncode<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let (&first, rest) = self.bytes.split_first()?;
        let keep = self.ascii_set.keep();
        let piece;
        (piece, self.bytes) = if keep.contains(first) {
            ascii::split_kept(self.bytes, keep)
        } else {
            (ascii::escape(first), rest)
        };
        Some(piece)
    }

    /// One piece at least if any byte is left, and at most one for each byte.
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(!self.bytes.is_empty()), Some(self.bytes.len()))
    }
}

impl fmt::Display for PercentEncode<'_> {
    /// Writes the encoded text; width and precision do not apply.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keep = self.ascii_set.keep();
        let (kept, rest) = ascii::split_kept(self.bytes, keep);
        match rest {
            [] if kept.is_empty() => Ok(()),
            [] => f.write_str(kept),
            &[byte] if kept.is_empty() => f.write_str(ascii::escape(byte)),
            _ => match Short::encode(self.bytes, keep) {
                Some(text) => f.write_str(text.as_str()),
                None => write_long(kept, rest, keep, f),
            },
        }
    }
}

/// Writes `kept`, and `rest` encoded.
#[inline(never)]
fn write_long(kept: &str, rest: &[u8], keep: &simdpct::AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !kept.is_empty() {
        f.write_str(kept)?;
    }
    let mut text = [0; 1536];
    for piece in rest.chunks(text.len() / 3) {
        // There is room for the worst case, so this never fails.
        let Ok(len) = simdpct::encode_to_slice(piece, keep, &mut text) else { return Err(fmt::Error) };
        f.write_str(core::str::from_utf8(&text[..len]).unwrap())?;
    }
    Ok(())
}

/// The encoded text, borrowed if nothing is escaped.
#[cfg(feature = "alloc")]
impl<'a> From<PercentEncode<'a>> for Cow<'a, str> {
    #[inline]
    fn from(encode: PercentEncode<'a>) -> Self {
        let PercentEncode { bytes, ascii_set } = encode;
        let keep = ascii_set.keep();
        if bytes.len() > Short::MAX {
            return simdpct::encode(bytes, keep);
        }
        match (ascii::split_kept(bytes, keep), bytes) {
            ((kept, []), _) => Cow::Borrowed(kept),
            (_, &[byte]) => Cow::Borrowed(ascii::escape(byte)),
            _ => match Short::encode(bytes, keep) {
                Some(text) => Cow::Owned(text.as_str().into()),
                None => simdpct::encode(bytes, keep),
            },
        }
    }
}
