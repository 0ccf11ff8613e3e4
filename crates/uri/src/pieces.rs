//! Pieces of a part, which may be decoded, and the iterators that give them.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;
use core::iter::FusedIterator;

use simdpct::{BufferTooSmall, Decode};

/// A part of a URI with no delimiters in it: what remains is data, which may be decoded, once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Piece<'a>(&'a [u8]);

impl<'a> Piece<'a> {
    /// Bytes that you know to have no delimiters in them.
    #[must_use]
    pub const fn new(raw: &'a [u8]) -> Piece<'a> {
        Piece(raw)
    }

    /// As it is written.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Decoded (RFC 3986, section 2.1): borrowed if it has no escapes. A malformed escape stays.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode(self) -> Cow<'a, [u8]> {
        Decode::new().decode(self.0)
    }

    /// Decoded to text.
    ///
    /// # Errors
    ///
    /// [`InvalidUtf8`](simdpct::InvalidUtf8) if what is decoded is not UTF-8; its offset is within this piece.
    #[cfg(feature = "alloc")]
    pub fn decode_utf8(self) -> Result<Cow<'a, str>, simdpct::InvalidUtf8> {
        Decode::new().decode_utf8(self.0)
    }

    /// Decoded by the rule of forms, where `+` is a space.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn decode_form(self) -> Cow<'a, [u8]> {
        Decode::new().form().decode(self.0)
    }

    /// Decoded into a slice. Returns the length.
    ///
    /// # Errors
    ///
    /// [`BufferTooSmall`] if it does not fit; the raw length is always enough.
    pub fn decode_to_slice(self, out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        Decode::new().decode_to_slice(self.0, out)
    }
}

impl AsRef<[u8]> for Piece<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// Compares what is written, not what it decodes to.
impl PartialEq<str> for Piece<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// Compares what is written, not what it decodes to.
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

/// What a delimiter separates.
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

/// The segments of a path. See [`Parts::segments`](crate::Parts::segments).
#[derive(Clone, Debug)]
pub struct Segments<'a>(Separated<'a>);

impl<'a> Segments<'a> {
    /// Of `path`.
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

impl FusedIterator for Segments<'_> {}

/// A parameter of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair<'a> {
    /// What comes before the first `=`, or all of it.
    pub name: Piece<'a>,
    /// What comes after the first `=`, if there is one.
    pub value: Option<Piece<'a>>,
}

/// The parameters of a query. See [`Parts::query_pairs`](crate::Parts::query_pairs).
#[derive(Clone, Debug)]
pub struct Pairs<'a>(Separated<'a>);

impl<'a> Pairs<'a> {
    /// Of `query`, without its `?`. Empty parameters, as in `a&&b`, are left out, as the URL Standard does.
    #[must_use]
    pub fn new(query: &'a [u8]) -> Pairs<'a> {
        Pairs(Separated { left: Some(query), delimiter: b'&' })
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Pair<'a>> {
        let pair = self.0.by_ref().find(|pair| !pair.is_empty())?;
        Some(match memchr::memchr(b'=', pair) {
            Some(at) => Pair { name: Piece(&pair[..at]), value: Some(Piece(&pair[at + 1..])) },
            None => Pair { name: Piece(pair), value: None },
        })
    }
}

impl FusedIterator for Pairs<'_> {}
