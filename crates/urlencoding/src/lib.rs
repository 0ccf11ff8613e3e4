//! The API of the crate `urlencoding`, on the kernels of simdpct.
//!
//! Two lines in `Cargo.toml` make a program use this crate instead of the published one, also where a dependency calls it. See the
//! README.
//!
//! Encoding escapes all bytes except the unreserved ones of RFC 3986, section 2.3: letters, digits, `-`, `.`, `_` and `~`. Decoding
//! keeps malformed escapes and `+`. Every function takes time linear in its input.
//!
//! ```
//! use urlencoding::{Encoded, decode, encode};
//!
//! assert_eq!(encode("50% of caf\u{e9}"), "50%25%20of%20caf%C3%A9");
//! assert_eq!(decode("50%25+caf%c3%a9 %zz").unwrap(), "50%+caf\u{e9} %zz");
//! assert_eq!(format!("q={}", Encoded("a b")), "q=a%20b");
//! ```

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::string::FromUtf8Error;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode, percent_encode};

/// The ASCII bytes that are escaped: all but the unreserved ones (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes text, and borrows it if nothing is escaped.
///
/// ```
/// assert_eq!(urlencoding::encode("a&b"), "a%26b");
/// ```
#[inline]
#[must_use]
pub fn encode(data: &str) -> Cow<'_, str> {
    encode_binary(data.as_bytes())
}

/// Encodes bytes, and borrows them if nothing is escaped.
///
/// ```
/// assert_eq!(urlencoding::encode_binary(b"a\xFF"), "a%FF");
/// ```
#[inline]
#[must_use]
pub fn encode_binary(data: &[u8]) -> Cow<'_, str> {
    match Cow::from(percent_encode(data, ESCAPED)) {
        // `percent_encode` borrows the escape of a single byte from a table. The published crate returns a `String`.
        Cow::Borrowed(escape) if escape.len() != data.len() => Cow::Owned(escape.to_owned()),
        encoded => encoded,
    }
}

/// Decodes text, and borrows it if it has no `%`.
///
/// # Errors
///
/// Returns a [`FromUtf8Error`] with the decoded bytes if they are not valid UTF-8.
///
/// ```
/// assert_eq!(urlencoding::decode("a%26b").unwrap(), "a&b");
/// assert_eq!(urlencoding::decode("a%FF").unwrap_err().into_bytes(), b"a\xFF");
/// ```
#[inline]
pub fn decode(data: &str) -> Result<Cow<'_, str>, FromUtf8Error> {
    match decode_binary(data.as_bytes()) {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(data)),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned),
    }
}

/// Decodes bytes, and borrows them if they have no `%`.
///
/// ```
/// assert_eq!(*urlencoding::decode_binary(b"a%FF%2"), b"a\xFF%2"[..]);
/// ```
#[inline]
#[must_use]
pub fn decode_binary(data: &[u8]) -> Cow<'_, [u8]> {
    match Cow::from(percent_decode(data)) {
        // The published crate returns a `Vec` for every input with a `%`, also if all its escapes are malformed.
        Cow::Borrowed(bytes) if bytes.contains(&b'%') => Cow::Owned(bytes.to_owned()),
        decoded => decoded,
    }
}

/// Text or bytes that `Display` writes encoded.
///
/// ```
/// assert_eq!(urlencoding::Encoded("hello!").to_string(), "hello%21");
/// ```
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash, Ord, PartialOrd)]
#[repr(transparent)]
pub struct Encoded<Str>(pub Str);

impl<Str: AsRef<[u8]>> Encoded<Str> {
    /// Wraps text or bytes. `Encoded(string)` is the same.
    #[inline]
    pub fn new(string: Str) -> Self {
        Self(string)
    }

    fn encoding(&self) -> PercentEncode<'_> {
        percent_encode(self.0.as_ref(), ESCAPED)
    }

    /// Encodes the data, and borrows it if nothing is escaped.
    #[inline]
    pub fn to_str(&self) -> Cow<'_, str> {
        encode_binary(self.0.as_ref())
    }

    /// Encodes the data to a `String`.
    #[allow(clippy::inherent_to_string_shadow_display, reason = "the published crate has this method")]
    #[inline]
    pub fn to_string(&self) -> String {
        self.to_str().into_owned()
    }

    /// Encodes the data and writes it to `writer`.
    ///
    /// # Errors
    ///
    /// Returns the error of the writer.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// urlencoding::Encoded::new(b"a/\xFF").write(&mut out)?;
    /// assert_eq!(out, b"a%2F%FF");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    pub fn write<W: io::Write>(&self, writer: &mut W) -> io::Result<()> {
        write!(writer, "{}", self.encoding())
    }

    /// Encodes the data and appends it to `string`.
    #[inline]
    pub fn append_to(&self, string: &mut String) {
        // Writing to a string never fails.
        _ = fmt::Write::write_fmt(string, format_args!("{}", self.encoding()));
    }
}

impl<'a> Encoded<&'a str> {
    /// Wraps text. The type of the argument is more exact than that of [`Encoded::new`], which helps inference.
    #[inline]
    pub fn str(string: &'a str) -> Self {
        Self(string)
    }
}

impl<Str: AsRef<[u8]>> fmt::Display for Encoded<Str> {
    /// Writes the encoded data. Width and precision are ignored.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.encoding(), f)
    }
}
