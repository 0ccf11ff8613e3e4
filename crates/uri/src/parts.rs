//! One URL and its parts.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::net::IpAddr;

use simdpct::Tier;

use crate::flaws::Flaws;
use crate::host::{HostKind, port_number};
use crate::kernel::split::offsets_of;
use crate::offsets::Offsets;
use crate::pieces::{Piece, QueryPairs, Segments};

/// The bytes that stay unescaped in the name or value of a query parameter. `;` is escaped because some parsers separate
/// parameters there, and `+` because most parsers read it as a space.
#[cfg(feature = "alloc")]
pub(crate) const PARAMETER: simdpct::AsciiSet = simdpct::sets::RFC3986_QUERY.remove(b"&=+;");

/// Splits a URI or a relative reference into its parts (RFC 3986, appendix B).
///
/// Every input can be split, and the parts are slices of it: joined again with their delimiters, they are the input, byte for
/// byte. Bytes that RFC 3986 does not allow stay where they are; [`Parts::flaws`] lists them. Nothing is decoded: decode each
/// [`Piece`] once, after splitting.
///
/// Takes time linear in the input, allocates nothing, and runs the kernels of [`simdpct::Tier::active`].
///
/// ```
/// let url = simdpct_uri::split(b"https://bob@example.com:8042/a%2Fb/c?name=%26#nose");
/// assert_eq!(url.scheme(), Some(&b"https"[..]));
/// assert_eq!(url.userinfo().unwrap(), "bob");
/// assert_eq!(url.host().unwrap(), "example.com");
/// assert_eq!(url.port_number(), Some(8042));
/// assert!(url.segments().map(|segment| segment.decode()).eq([&b"a/b"[..], b"c"]));
/// assert_eq!(url.query(), Some(&b"name=%26"[..]));
/// assert_eq!(url.fragment().unwrap(), "nose");
/// ```
#[inline]
#[must_use]
pub fn split<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    split_on_tier(Tier::active(), input.as_ref())
}

#[inline(always)]
pub(crate) fn split_on_tier(tier: Tier, input: &[u8]) -> Parts<'_> {
    Parts { input, at: offsets_of(tier, input) }
}

/// A URI or relative reference and the positions of its parts. [`split`] returns it.
///
/// The path and the query are raw bytes, because decoding them whole would mix up data and delimiters;
/// [`segments`](Parts::segments) and [`query_pairs`](Parts::query_pairs) return [`Piece`]s, which can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts<'a> {
    input: &'a [u8],
    // INVARIANT: the offsets come from a split, so they are in order; the largest, `query_end`, is at most `input.len()`.
    at: Offsets,
}

impl<'a> Parts<'a> {
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn from_offsets(input: &'a [u8], at: Offsets) -> Parts<'a> {
        Parts { input, at }
    }

    /// Returns the whole input.
    #[must_use]
    #[inline]
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// Returns the positions of the parts, in bytes from the start of the input.
    #[must_use]
    pub fn offsets(&self) -> Offsets {
        self.at
    }

    /// Returns the scheme without its colon (RFC 3986, section 3.1). If the name before the first colon is not a scheme, it
    /// belongs to the path.
    #[must_use]
    #[inline]
    pub fn scheme(&self) -> Option<&'a [u8]> {
        self.is_uri().then(|| &self.input[..self.at.scheme_end])
    }

    /// Returns userinfo, host and port, with the delimiters between them and without `//` (RFC 3986, section 3.2).
    #[must_use]
    pub fn authority(&self) -> Option<&'a [u8]> {
        let start = self.at.after_scheme() + 2;
        self.at.has_authority().then(|| &self.input[start..self.at.path_start])
    }

    /// Returns the userinfo: the bytes before the last `@` of the authority (RFC 3986, section 3.2.1).
    #[must_use]
    #[inline]
    pub fn userinfo(&self) -> Option<Piece<'a>> {
        let start = self.at.after_scheme() + 2;
        (self.at.has_authority() && self.at.host_start > start)
            .then(|| Piece::new(&self.input[start..self.at.host_start - 1]))
    }

    /// Returns the user name: the userinfo up to its first colon.
    #[must_use]
    pub fn user(&self) -> Option<Piece<'a>> {
        let userinfo = self.userinfo()?.raw();
        Some(Piece::new(&userinfo[..memchr::memchr(b':', userinfo).unwrap_or(userinfo.len())]))
    }

    /// Returns the password: the userinfo after its first colon.
    #[must_use]
    pub fn password(&self) -> Option<Piece<'a>> {
        let userinfo = self.userinfo()?.raw();
        memchr::memchr(b':', userinfo).map(|at| Piece::new(&userinfo[at + 1..]))
    }

    /// Returns the host, with the brackets of an address (RFC 3986, section 3.2.2). It may be empty; `None` without an authority.
    #[must_use]
    #[inline]
    pub fn host(&self) -> Option<Piece<'a>> {
        self.at.has_authority().then(|| Piece::new(&self.input[self.at.host_start..self.at.host_end]))
    }

    /// Returns the kind of the host, and its address if it is one (RFC 3986, section 3.2.2).
    ///
    /// ```
    /// use simdpct_uri::{HostKind, split};
    ///
    /// assert!(matches!(split("//[::1]:80").host_kind(), Some(HostKind::Ipv6(address)) if address.is_loopback()));
    /// assert_eq!(split("//127.1").host_kind(), Some(HostKind::RegName));
    /// assert_eq!(split("//[::1").host_kind(), Some(HostKind::Invalid));
    /// ```
    #[must_use]
    pub fn host_kind(&self) -> Option<HostKind> {
        self.host().map(|host| HostKind::of(host.raw()))
    }

    /// Returns the address if the host is one.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self.host_kind()? {
            HostKind::Ipv4(address) => Some(address.into()),
            HostKind::Ipv6(address) => Some(address.into()),
            _ => None,
        }
    }

    /// Returns the port as it is written, without its colon (RFC 3986, section 3.2.3). It may be empty.
    #[must_use]
    #[inline]
    pub fn port(&self) -> Option<&'a [u8]> {
        (self.at.host_end < self.at.path_start).then(|| &self.input[self.at.host_end + 1..self.at.path_start])
    }

    /// Returns the port as a number; `None` unless it is one or more digits with a value of at most 65535.
    #[must_use]
    pub fn port_number(&self) -> Option<u16> {
        port_number(self.port()?)
    }

    /// Returns the path (RFC 3986, section 3.3). Every URL has one; it may be empty.
    #[must_use]
    #[inline]
    pub fn path(&self) -> &'a [u8] {
        &self.input[self.at.path_start..self.at.path_end]
    }

    /// Returns the segments of the path, which slashes separate (RFC 3986, section 3.3).
    ///
    /// A slash at the start of the path is not a separator, so `/a/b` and `a/b` have the same segments. An empty path has no
    /// segment, and `/` has one, which is empty.
    #[must_use]
    pub fn segments(&self) -> Segments<'a> {
        Segments::new(self.path())
    }

    /// Returns the query without its `?` (RFC 3986, section 3.4).
    #[must_use]
    #[inline]
    pub fn query(&self) -> Option<&'a [u8]> {
        (self.at.path_end < self.at.query_end).then(|| &self.input[self.at.path_end + 1..self.at.query_end])
    }

    /// Returns the parameters of the query, which `&` separates. Without a query the iterator is empty.
    ///
    /// ```
    /// let url = simdpct_uri::split("/search?q=a%26b&page=2&exact");
    /// let q = url.query_pairs().find(|pair| pair.name == "q").unwrap();
    /// assert_eq!(&*q.value.unwrap().decode(), b"a&b");
    /// assert!(url.query_pairs().last().unwrap().value.is_none());
    /// ```
    #[must_use]
    pub fn query_pairs(&self) -> QueryPairs<'a> {
        QueryPairs::new(self.query().unwrap_or_default())
    }

    /// Returns the fragment without its `#` (RFC 3986, section 3.5).
    #[must_use]
    #[inline]
    pub fn fragment(&self) -> Option<Piece<'a>> {
        (self.at.query_end < self.input.len()).then(|| Piece::new(&self.input[self.at.query_end + 1..]))
    }

    /// Returns a copy of the input with one more parameter at the end of its query. See
    /// [`UriBuf::with_query_param`](crate::UriBuf::with_query_param). Bytes that RFC 3986 does not allow stay.
    ///
    /// ```
    /// assert_eq!(simdpct_uri::split("/a b#top").with_query_param("q", "1&2"), b"/a b?q=1%262#top");
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn with_query_param(
        &self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> Vec<u8> {
        let (before, after) = self.input.split_at(self.at.query_end);
        let (name, value) = (name.as_ref(), value.as_ref());
        let mut out = Vec::with_capacity(self.input.len() + name.len() + value.len() + 2);
        out.extend_from_slice(before);
        out.extend_from_slice(match self.query() {
            None => b"?",
            Some(b"") => b"",
            Some(_) => b"&",
        });
        let encode = simdpct::Encode::keeping(PARAMETER);
        encode.encode_append(name, &mut out);
        out.push(b'=');
        encode.encode_append(value, &mut out);
        out.extend_from_slice(after);
        out
    }

    /// Returns the input without the parameters whose names `remove` selects; it is borrowed if nothing is removed. See
    /// [`UriBuf::without_query_params`](crate::UriBuf::without_query_params). Bytes that RFC 3986 does not allow stay.
    ///
    /// ```
    /// let url = simdpct_uri::split("/a b?utm_id=1&q=c d");
    /// assert_eq!(*url.without_query_params(|name| name.starts_with("utm_")), *b"/a b?q=c d");
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn without_query_params(&self, mut remove: impl FnMut(&str) -> bool) -> Cow<'a, [u8]> {
        let mut is_removed = |parameter: &&[u8]| {
            let name = QueryPairs::new(parameter).next().map(|pair| pair.name);
            name.is_some_and(|name| remove(&simdpct::form::decode_utf8_lossy(name.raw())))
        };
        let parameters = || self.query().into_iter().flat_map(|query| query.split(|byte| *byte == b'&'));
        let Some(first) = parameters().position(|parameter| is_removed(&parameter)) else {
            return Cow::Borrowed(self.input);
        };
        let mut out = Vec::with_capacity(self.input.len());
        out.extend_from_slice(&self.input[..self.at.path_end]);
        let before = parameters().take(first);
        let after = parameters().skip(first + 1).filter(|parameter| !is_removed(parameter));
        let mut delimiter = b'?';
        for parameter in before.chain(after) {
            out.push(delimiter);
            out.extend_from_slice(parameter);
            delimiter = b'&';
        }
        if out.len() == self.at.path_end + 1 {
            out.pop();
        }
        out.extend_from_slice(&self.input[self.at.query_end..]);
        Cow::Owned(out)
    }

    /// Reports whether there is a scheme, which makes the input a URI and not a relative reference (RFC 3986, section 4.1).
    #[must_use]
    pub fn is_uri(&self) -> bool {
        self.at.scheme_end > 0
    }

    /// Returns everything in the input that RFC 3986 does not allow, in order. The iterator is lazy and takes time linear in the
    /// input.
    ///
    /// ```
    /// use simdpct_uri::{FlawKind, split};
    ///
    /// let url = split("http://a@b@host:99999/x y%zz");
    /// let flaws: Vec<_> = url.flaws().map(|flaw| (flaw.offset, flaw.kind)).collect();
    /// assert_eq!(flaws, [
    ///     (8, FlawKind::SeveralAt),
    ///     (16, FlawKind::BadPort),
    ///     (23, FlawKind::Illegal(b' ')),
    ///     (25, FlawKind::MalformedEscape),
    /// ]);
    /// assert!(split("http://example.com/a%20b").flaws().next().is_none());
    /// ```
    #[must_use]
    pub fn flaws(&self) -> Flaws<'a> {
        Flaws::new(self.input, self.at)
    }
}
