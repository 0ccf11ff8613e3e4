//! Pieces of a URI that can be decoded, and the iterators over them.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Deref;

use simdpct::{BufferTooSmall, Decode};

use crate::text::{Text, copy};

/// The delimiters between the pieces of a part that has several, and `%`. If their escapes stay, the decoded part has the same pieces.
#[doc(hidden)] // For the command and the package for Python.
pub mod delimiters {
    pub const AUTHORITY: &[u8] = b":@%";
    pub const USERINFO: &[u8] = b":%";
    pub const PATH: &[u8] = b"/%";
    pub const QUERY: &[u8] = b"&=;+%";
}

/// A part of a URI as it is written, which is split no further. It can be decoded, once.
///
/// The userinfo is the exception: its first colon is a delimiter, at which [`Parts::user`](crate::Parts::user) and
/// [`Parts::password`](crate::Parts::password) split it.
///
/// A piece of text is a `str`, and has the methods of `str`; a piece of bytes is a `[u8]`. `==` compares the text as it is written:
/// `%41` is not equal to `A`.
///
/// ```
/// let url = simdpct_uri::split("/50%25%2Fhalf");
/// let segment = url.segments().next().unwrap();
/// assert_eq!(segment, "50%25%2Fhalf");
/// assert_eq!(segment.decode_utf8().unwrap(), "50%/half");
/// assert!(segment.ends_with("half"));
/// ```
#[derive(PartialEq, Eq, Hash)]
pub struct Piece<'a, T: Text + ?Sized = [u8]>(&'a T);

impl<'a, T: Text + ?Sized> Piece<'a, T> {
    /// Makes a piece of `raw`, which the caller knows to hold no delimiters. Nothing is checked.
    #[must_use]
    pub const fn new(raw: &'a T) -> Piece<'a, T> {
        Piece(raw)
    }

    /// Returns the text as it is written.
    #[must_use]
    pub const fn raw(self) -> &'a T {
        self.0
    }

    /// Decodes the piece (RFC 3986, section 2.1). Malformed escapes stay. The result is borrowed if there are no escapes.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode(self) -> Cow<'a, [u8]> {
        Decode::new().decode(self.0.as_ref())
    }

    /// Decodes the piece to text. Malformed escapes stay.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`](simdpct::InvalidUtf8) if the decoded bytes are not UTF-8; its offset counts from the start of this piece.
    #[cfg(feature = "alloc")]
    pub fn decode_utf8(self) -> Result<Cow<'a, str>, simdpct::InvalidUtf8> {
        Decode::new().decode_utf8(self.0.as_ref())
    }

    /// Decodes the piece by the rule of forms, where `+` is a space (WHATWG URL Standard, section 5.1).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode_form(self) -> Cow<'a, [u8]> {
        Decode::new().form().decode(self.0.as_ref())
    }

    /// Decodes the piece into a slice, and returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] if the decoded bytes do not fit. A slice as long as the raw text is always large enough.
    pub fn decode_to_slice(self, out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        Decode::new().decode_to_slice(self.0.as_ref(), out)
    }
}

impl<T: Text + ?Sized> Deref for Piece<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Text + ?Sized> AsRef<[u8]> for Piece<'_, T> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<T: Text + ?Sized> Default for Piece<'_, T> {
    fn default() -> Self {
        Piece(T::EMPTY)
    }
}

/// Compares the raw text, not the decoded one.
impl<T: Text + ?Sized> PartialEq<str> for Piece<'_, T> {
    fn eq(&self, other: &str) -> bool {
        self.0.as_ref() == other.as_bytes()
    }
}

/// Compares the raw text, not the decoded one.
impl<T: Text + ?Sized> PartialEq<&str> for Piece<'_, T> {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for Piece<'_, str> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)
    }
}

impl<T: Text + ?Sized> fmt::Debug for Piece<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece(\"{}\")", self.0.as_ref().escape_ascii())
    }
}

/// An iterator over the parts of a text that a delimiter separates. It also runs from the back, in time linear in the parts that it
/// yields.
#[derive(Debug)]
pub(crate) struct Separated<'a, T: Text + ?Sized> {
    left: Option<&'a T>,
    delimiter: u8,
}

impl<'a, T: Text + ?Sized> Iterator for Separated<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let left = self.left?;
        let Some(end) = memchr::memchr(self.delimiter, left.as_ref()) else { return self.left.take() };
        self.left = Some(left.part(end + 1..left.as_ref().len()));
        Some(left.part(0..end))
    }
}

impl<T: Text + ?Sized> DoubleEndedIterator for Separated<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let left = self.left?;
        let Some(at) = memchr::memrchr(self.delimiter, left.as_ref()) else { return self.left.take() };
        self.left = Some(left.part(0..at));
        Some(left.part(at + 1..left.as_ref().len()))
    }
}

impl<T: Text + ?Sized> FusedIterator for Separated<'_, T> {}

/// Returns the segments of `path` as they are written. A slash at its start is not a separator.
pub(crate) fn segments<T: Text + ?Sized>(path: &T) -> Separated<'_, T> {
    let left = match path.as_ref() {
        [] => None,
        [b'/', rest @ ..] => Some(path.part(1..rest.len() + 1)),
        rest => Some(path.part(0..rest.len())),
    };
    Separated { left, delimiter: b'/' }
}

/// Returns the parameters of `query`, which does not include its `?`. Some may be empty.
pub(crate) fn parameters<T: Text + ?Sized>(query: &T) -> Separated<'_, T> {
    Separated { left: Some(query), delimiter: b'&' }
}

/// A parameter of a query, as it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct QueryPair<'a, T: Text + ?Sized = [u8]> {
    /// The name of the parameter: the text before the first `=`, or all text if there is no `=`.
    pub name: Piece<'a, T>,
    /// The value of the parameter: the text after the first `=`; `None` if there is no `=`.
    pub value: Option<Piece<'a, T>>,
}

copy! { Piece QueryPair Separated }

impl<'a, T: Text + ?Sized> QueryPair<'a, T> {
    /// Splits one parameter.
    pub(crate) fn of(pair: &'a T) -> QueryPair<'a, T> {
        let bytes = pair.as_ref();
        match memchr::memchr(b'=', bytes) {
            Some(at) => QueryPair {
                name: Piece(pair.part(0..at)),
                value: Some(Piece(pair.part(at + 1..bytes.len()))),
            },
            None => QueryPair { name: Piece(pair), value: None },
        }
    }

    /// Decodes name and value to text as in forms (`+` is a space), with U+FFFD for invalid UTF-8. A missing value becomes empty.
    #[cfg(feature = "alloc")]
    pub(crate) fn decoded(self) -> (Cow<'a, str>, Cow<'a, str>) {
        let decode = |piece: Piece<'a, T>| Decode::new().form().decode_utf8_lossy(piece.raw().as_ref());
        (decode(self.name), decode(self.value.unwrap_or_default()))
    }
}

/// Returns the parameters of `query`, which does not include its `?`. Empty parameters, as in `a&&b`, are left out, as in the URL
/// Standard.
pub(crate) fn query_pairs<'a, T: Text + ?Sized>(
    query: &'a T,
) -> impl DoubleEndedIterator<Item = QueryPair<'a, T>> + FusedIterator + Clone + fmt::Debug {
    parameters(query).filter(|pair| !pair.as_ref().is_empty()).map(QueryPair::of)
}
