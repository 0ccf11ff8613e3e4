//! Encoding.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;

use crate::ascii::{self, Short};
use crate::set::AsciiSet;

/// Returns the escape of any byte: `%` and two upper-case hexadecimal digits.
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

/// Encodes `input`: escapes the members of `ascii_set` and all bytes of `0x80` and more.
///
/// The result is lazy. It implements `Display`, is an iterator over pieces, and converts to `Cow<str>`, which borrows `input` if
/// nothing is escaped.
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

/// Encodes the UTF-8 bytes of `input`. See [`percent_encode`].
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

/// The lazy result of [`percent_encode`] and [`utf8_percent_encode`].
///
/// The iterator yields the longest runs of copied bytes, and each escape by itself. The time for a piece depends on its
/// length, and not on that of the input after it. `Display` and the conversions use only the input that the iterator has
/// not yielded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PercentEncode<'a> {
    /// The part of the input that the iterator has not yielded yet.
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
            if set.keeps(first) { ascii::split_kept(self.bytes, set) } else { (ascii::escape(first), rest) };
        Some(piece)
    }

    /// The lower bound is one piece if any byte is left. The upper bound is one piece for each byte.
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
    /// Writes the encoded text. Width and precision are ignored.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.ascii_set;
        // The first cases write most inputs of at most two bytes without the call of `write`.
        match *self.bytes {
            [] => Ok(()),
            [byte] if !set.keeps(byte) => f.write_str(ascii::escape(byte)),
            [first, ref rest @ ..] if rest.len() < 2 && set.keeps(first) => {
                match ascii::split_kept(self.bytes, set) {
                    (kept, []) => f.write_str(kept),
                    _ => write_short(self.bytes, set, f),
                }
            }
            _ => write(self.bytes, set, f),
        }
    }
}

/// Writes the encoded form of `bytes`.
#[inline(never)]
fn write(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if bytes.len() > LONG {
        return write_long(bytes, set, f);
    }
    match ascii::split_kept(bytes, set) {
        (kept, []) => f.write_str(kept),
        ("", &[first, second]) if !set.keeps(second) => {
            ascii::with_two_escapes(first, second, |text| f.write_str(text))
        }
        _ => write_short(bytes, set, f),
    }
}

/// The input length, in bytes, above which calling a kernel is faster, even if nothing is escaped.
const LONG: usize = 24;

/// Writes at most [`LONG`] bytes, some of them escaped. This function is not inlined, because it needs more stack
/// memory than the code that only copies text.
#[inline(never)]
fn write_short(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match Short::encode(bytes, set) {
        Some(text) => f.write_str(text.as_str()),
        None => write_long(bytes, set, f),
    }
}

/// Writes `bytes` encoded by a kernel.
#[inline(never)]
fn write_long(bytes: &[u8], set: &AsciiSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ascii::all_kept(bytes, set) {
        Some(kept) => f.write_str(kept),
        None => fmt::Display::fmt(&set.encode().display(bytes), f),
    }
}

/// Returns the encoded text, which is borrowed if nothing is escaped or the input is a single byte.
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
