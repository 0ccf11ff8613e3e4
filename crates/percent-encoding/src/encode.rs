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
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let set = self.ascii_set;
        let piece;
        (piece, self.bytes) =
            if set.stays(first) { ascii::split_kept(self.bytes, set) } else { (ascii::escape(first), rest) };
        Some(piece)
    }

    /// One piece at least if any byte is left, and at most one for each byte.
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(!self.bytes.is_empty()), Some(self.bytes.len()))
    }

    #[inline]
    fn collect<B: FromIterator<&'a str>>(self) -> B {
        if self.bytes.is_empty() { core::iter::empty().collect() } else { B::from_iter(self) }
    }
}

impl fmt::Display for PercentEncode<'_> {
    /// Writes the encoded text; width and precision do not apply.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.ascii_set;
        // What is one piece for sure goes without the stack that the rest needs.
        match *self.bytes {
            [] => Ok(()),
            [byte] if !set.stays(byte) => f.write_str(ascii::escape(byte)),
            [first, ref rest @ ..] if rest.len() < 2 && set.stays(first) => {
                match ascii::split_kept(self.bytes, set) {
                    (kept, []) => f.write_str(kept),
                    _ => write_short(self.bytes, set, f),
                }
            }
            _ => write(self.bytes, set, f),
        }
    }
}

/// Writes bytes encoded.
#[inline(never)]
fn write(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if bytes.len() > LONG {
        return write_long(bytes, set, f);
    }
    match ascii::split_kept(bytes, set) {
        (kept, []) => f.write_str(kept),
        ("", &[first, second]) if !set.stays(second) => {
            f.write_str(ascii::escape(first))?;
            f.write_str(ascii::escape(second))
        }
        _ => write_short(bytes, set, f),
    }
}

/// A longer input pays for the call of a kernel, even if all of it stays.
const LONG: usize = 24;

/// Writes at most [`LONG`] bytes encoded, of which not all stay. A function of its own, because it needs more of the stack
/// than text that stays.
#[inline(never)]
fn write_short(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match Short::encode(bytes, set) {
        Some(text) => f.write_str(text.as_str()),
        None => write_long(bytes, set, f),
    }
}

/// Writes bytes encoded that are worth the call of a kernel.
#[inline(never)]
fn write_long(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ascii::all_kept(bytes, set) {
        Some(kept) => f.write_str(kept),
        None => fmt::Display::fmt(&set.encode().display(bytes), f),
    }
}

/// The encoded text, borrowed if nothing is escaped.
#[cfg(feature = "alloc")]
impl<'a> From<PercentEncode<'a>> for Cow<'a, str> {
    #[inline]
    fn from(encode: PercentEncode<'a>) -> Self {
        let PercentEncode { bytes, ascii_set: set } = encode;
        if bytes.len() > Short::MAX {
            return set.encode().encode(bytes);
        }
        match ascii::split_kept(bytes, set) {
            (kept, []) => Cow::Borrowed(kept),
            ("", &[byte]) => Cow::Borrowed(ascii::escape(byte)),
            _ => match Short::encode(bytes, set) {
                Some(text) => Cow::Owned(text.as_str().into()),
                None => set.encode().encode(bytes),
            },
        }
    }
}
