//! The positions of the parts of one URL.

/// The positions where the parts of one URL begin and end, in bytes from its start.
///
/// Without a scheme, `scheme_end` is 0. Without an authority, `host_start`, `host_end` and `path_start` are equal: the offset after the
/// colon of the scheme, or 0 without a scheme. Without a query, `path_end == query_end`. Without a fragment, `query_end` is the length of
/// the URL.
///
/// ```
/// let at = simdpct_uri::split("http://me@host:80/a?b#c").offsets();
/// assert_eq!((at.scheme_end, at.host_start, at.host_end), (4, 10, 14));
/// assert_eq!((at.path_start, at.path_end, at.query_end), (17, 19, 21));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// The end of the scheme: the offset of its colon.
    pub scheme_end: usize,
    /// The start of the host: after `//`, and after the last `@` of the authority if it has one.
    pub host_start: usize,
    /// The end of the host: the offset of the colon before the port, or the start of the path.
    pub host_end: usize,
    /// The start of the path, which is the end of the authority.
    pub path_start: usize,
    /// The end of the path: the offset of `?` or `#`, or the end of the URL.
    pub path_end: usize,
    /// The end of the query: the offset of `#`, or the end of the URL.
    pub query_end: usize,
}

impl Offsets {
    /// Returns the six offsets in the order of the fields.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) const fn to_array(self) -> [usize; 6] {
        [self.scheme_end, self.host_start, self.host_end, self.path_start, self.path_end, self.query_end]
    }

    /// Returns the offset after the scheme and its colon, where `//` starts if there is an authority.
    #[inline]
    pub(crate) const fn after_scheme(&self) -> usize {
        if self.scheme_end > 0 { self.scheme_end + 1 } else { 0 }
    }

    /// Reports whether the URL has an authority.
    #[inline]
    pub(crate) const fn has_authority(&self) -> bool {
        self.path_start > self.after_scheme()
    }
}
