//! Pieces of a URI that can be decoded, and the iterators over them.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;
use core::iter::FusedIterator;

use simdpct::{BufferTooSmall, Decode};

/// A part of a URI as it is written, without delimiters in it. All of it is data, so it can be decoded, once.
///
/// `==` and the order compare the raw bytes: `%41` is not equal to `A`.
///
/// ```
/// let url = simdpct_uri::split("/50%25%2Fhalf");
/// let segment = url.segments().next().unwrap();
/// assert_eq!(segment, "50%25%2Fhalf");
/// assert_eq!(segment.decode_utf8().unwrap(), "50%/half");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Piece<'a>(&'a [u8]);

impl<'a> Piece<'a> {
    /// Makes a piece of bytes that you know to hold no delimiters.
    #[must_use]
    pub const fn new(raw: &'a [u8]) -> Piece<'a> {
        Piece(raw)
    }

    /// Returns the bytes as they are written.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Decodes the piece (RFC 3986, section 2.1). Malformed escapes stay. The result is borrowed if there are no escapes.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode(self) -> Cow<'a, [u8]> {
        Decode::new().decode(self.0)
    }

    /// Decodes the piece to text. Malformed escapes stay.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`](simdpct::InvalidUtf8) if the decoded bytes are not UTF-8; its offset counts from the start of this piece.
    #[cfg(feature = "alloc")]
    pub fn decode_utf8(self) -> Result<Cow<'a, str>, simdpct::InvalidUtf8> {
        Decode::new().decode_utf8(self.0)
    }

    /// Decodes the piece by the rule of forms, where `+` is a space (WHATWG URL Standard, section 5.1).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode_form(self) -> Cow<'a, [u8]> {
        Decode::new().form().decode(self.0)
    }

    /// Decodes the piece into a slice, and returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] if the decoded bytes do not fit. A slice as long as the raw bytes is always large enough.
    pub fn decode_to_slice(self, out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        Decode::new().decode_to_slice(self.0, out)
    }
}

impl AsRef<[u8]> for Piece<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// Compares the raw bytes, not the decoded ones.
impl PartialEq<str> for Piece<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// Compares the raw bytes, not the decoded ones.
impl PartialEq<&str> for Piece<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Debug for Piece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece(\"{}\")", self.0.escape_ascii())
    }
}

/// An iterator over the slices between the delimiters of a text.
#[derive(Clone, Debug)]
struct Separated<'a> {
    left: Option<&'a [u8]>,
    delimiter: u8,
}

impl<'a> Iterator for Separated<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let left = self.left?;
        let Some(end) = memchr::memchr(self.delimiter, left) else { return self.left.take() };
        self.left = Some(&left[end + 1..]);
        Some(&left[..end])
    }
}

impl DoubleEndedIterator for Separated<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let left = self.left?;
        let Some(at) = memchr::memrchr(self.delimiter, left) else { return self.left.take() };
        self.left = Some(&left[..at]);
        Some(&left[at + 1..])
    }
}

/// An iterator over the segments of a path (RFC 3986, section 3.3). [`Parts::segments`](crate::Parts::segments) returns it.
///
/// It also runs from the back, in time linear in the segments that it yields:
///
/// ```
/// let mut segments = simdpct_uri::split("/docs/2024/report.pdf").segments();
/// assert_eq!(segments.next_back().unwrap(), "report.pdf");
/// assert_eq!(segments.next_back().unwrap(), "2024");
/// assert!(segments.eq([simdpct_uri::Piece::new(b"docs")]));
/// ```
#[derive(Clone, Debug)]
pub struct Segments<'a>(Separated<'a>);

impl<'a> Segments<'a> {
    /// Returns the segments of `path`. A slash at its start is not a separator.
    #[must_use]
    pub fn new(path: &'a [u8]) -> Segments<'a> {
        let left = if path.is_empty() { None } else { Some(path.strip_prefix(b"/").unwrap_or(path)) };
        Segments(Separated { left, delimiter: b'/' })
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        self.0.next().map(Piece)
    }
}

impl DoubleEndedIterator for Segments<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Piece)
    }
}

impl FusedIterator for Segments<'_> {}

/// A parameter of a query, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryPair<'a> {
    /// The name of the parameter: the bytes before the first `=`, or all bytes if there is no `=`.
    pub name: Piece<'a>,
    /// The value of the parameter: the bytes after the first `=`; `None` if there is no `=`.
    pub value: Option<Piece<'a>>,
}

impl<'a> QueryPair<'a> {
    fn of(pair: &'a [u8]) -> QueryPair<'a> {
        match memchr::memchr(b'=', pair) {
            Some(at) => QueryPair { name: Piece(&pair[..at]), value: Some(Piece(&pair[at + 1..])) },
            None => QueryPair { name: Piece(pair), value: None },
        }
    }
}

/// An iterator over the parameters of a query, as they are written. [`Parts::query_pairs`](crate::Parts::query_pairs) returns it.
///
/// `form::pairs` also decodes the parameters.
#[derive(Clone, Debug)]
pub struct QueryPairs<'a>(Separated<'a>);

impl<'a> QueryPairs<'a> {
    /// Returns the parameters of `query`, which must not include its `?`. Empty parameters, as in `a&&b`, are left out, as in the
    /// URL Standard.
    #[must_use]
    pub fn new(query: &'a [u8]) -> QueryPairs<'a> {
        QueryPairs(Separated { left: Some(query), delimiter: b'&' })
    }
}

impl<'a> Iterator for QueryPairs<'a> {
    type Item = QueryPair<'a>;

    fn next(&mut self) -> Option<QueryPair<'a>> {
        self.0.by_ref().find(|pair| !pair.is_empty()).map(QueryPair::of)
    }
}

impl DoubleEndedIterator for QueryPairs<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.by_ref().rfind(|pair| !pair.is_empty()).map(QueryPair::of)
    }
}

impl FusedIterator for QueryPairs<'_> {}
