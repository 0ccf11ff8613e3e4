//! The parts of a URL that is text, as text.

use crate::host::default_port;
use crate::offsets::Offsets;
use crate::parts::{Parts, split};

/// Splits text into its parts, which are text, too. See [`split`] for the rules.
///
/// Takes time linear in the input and allocates nothing.
///
/// ```
/// let url = simdpct_uri::split_str("https://b\u{fc}cher.example/a?q=1#top");
/// assert_eq!((url.scheme(), url.host()), (Some("https"), Some("b\u{fc}cher.example")));
/// assert_eq!((url.path(), url.query(), url.fragment()), ("/a", Some("q=1"), Some("top")));
/// assert_eq!(url.bytes().segments().next_back().unwrap(), "a");
/// ```
#[must_use]
pub fn split_str(input: &str) -> StrParts<'_> {
    StrParts { input, parts: split(input) }
}

/// The parts of a URL as text. [`split_str`] and [`UriBuf::parts`](crate::UriBuf::parts) return it.
///
/// Nothing is decoded. [`bytes`](StrParts::bytes) has the same parts as bytes, and the iterators over segments and parameters, which
/// decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StrParts<'a> {
    input: &'a str,
    parts: Parts<'a>,
}

impl<'a> StrParts<'a> {
    /// Returns the whole input.
    #[must_use]
    pub fn as_str(&self) -> &'a str {
        self.input
    }

    /// Returns the same parts as bytes.
    #[must_use]
    pub fn bytes(&self) -> Parts<'a> {
        self.parts
    }

    fn at(&self) -> Offsets {
        self.parts.offsets()
    }

    /// Returns the scheme. See [`Parts::scheme`].
    #[must_use]
    pub fn scheme(&self) -> Option<&'a str> {
        self.parts.is_uri().then(|| &self.input[..self.at().scheme_end])
    }

    /// Returns userinfo, host and port. See [`Parts::authority`].
    #[must_use]
    pub fn authority(&self) -> Option<&'a str> {
        let at = self.at();
        at.has_authority().then(|| &self.input[at.after_scheme() + 2..at.path_start])
    }

    /// Returns the userinfo. See [`Parts::userinfo`].
    #[must_use]
    pub fn userinfo(&self) -> Option<&'a str> {
        self.parts.userinfo().map(|_| &self.input[self.at().after_scheme() + 2..self.at().host_start - 1])
    }

    /// Returns the host. See [`Parts::host`].
    #[must_use]
    pub fn host(&self) -> Option<&'a str> {
        self.at().has_authority().then(|| &self.input[self.at().host_start..self.at().host_end])
    }

    /// Returns the port. See [`Parts::port`].
    #[must_use]
    pub fn port(&self) -> Option<&'a str> {
        self.parts.port().map(|_| &self.input[self.at().host_end + 1..self.at().path_start])
    }

    /// Returns the path. See [`Parts::path`].
    #[must_use]
    pub fn path(&self) -> &'a str {
        &self.input[self.at().path_start..self.at().path_end]
    }

    /// Returns the query. See [`Parts::query`].
    #[must_use]
    pub fn query(&self) -> Option<&'a str> {
        self.parts.query().map(|_| &self.input[self.at().path_end + 1..self.at().query_end])
    }

    /// Returns the fragment. See [`Parts::fragment`].
    #[must_use]
    pub fn fragment(&self) -> Option<&'a str> {
        self.parts.fragment().map(|_| &self.input[self.at().query_end + 1..])
    }

    /// Returns the port, or the [`default_port`] of the scheme if the port is absent or empty. `None` if the port is not a number of
    /// at most 65535, or if the scheme has no known default.
    ///
    /// ```
    /// use simdpct_uri::split_str;
    ///
    /// assert_eq!(split_str("HTTPS://a/").port_or_default(), Some(443));
    /// assert_eq!(split_str("https://a:8443/").port_or_default(), Some(8443));
    /// assert_eq!(split_str("mailto:a@b").port_or_default(), None);
    /// ```
    #[must_use]
    pub fn port_or_default(&self) -> Option<u16> {
        match self.port() {
            None | Some("") if self.at().has_authority() => default_port(self.scheme()?),
            _ => self.parts.port_number(),
        }
    }
}
