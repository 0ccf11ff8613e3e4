//! Where the parts of one URL are.

/// Where the parts of one URL begin and end, in bytes from its start.
///
/// Without a scheme, `scheme_end` is 0. Without an authority, `host_start`, `host_end` and `path_start` are equal to the
/// place after the scheme's colon. Without a query, `path_end == query_end`; without a fragment, `query_end` is the length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    /// The end of the scheme: the place of its colon.
    pub scheme_end: usize,
    /// The start of the host: after `//`, and after the last `@` of the authority if it has one.
    pub host_start: usize,
    /// The end of the host: the place of the colon of the port, or the start of the path.
    pub host_end: usize,
    /// The start of the path, which is the end of the authority.
    pub path_start: usize,
    /// The end of the path: the place of `?` or `#`, or the end of the URL.
    pub path_end: usize,
    /// The end of the query: the place of `#`, or the end of the URL.
    pub query_end: usize,
}

impl Offsets {
    /// The place after the scheme and its colon, where `//` is if there is an authority.
    #[inline]
    pub(crate) const fn after_scheme(&self) -> usize {
        if self.scheme_end > 0 { self.scheme_end + 1 } else { 0 }
    }

    #[inline]
    pub(crate) const fn has_authority(&self) -> bool {
        self.path_start > self.after_scheme()
    }
}
