//! The parts of one URL.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::flaws::Flaws;
use crate::kernel::isa::Level;
use crate::offsets::Offsets;
use crate::pieces::{Pairs, Piece, Segments};

/// Splits a URI or a relative reference into its parts (RFC 3986, appendix B).
///
/// Every input has an answer, and the parts are slices of it: joined again with their delimiters, they give the input back,
/// byte for byte. What RFC 3986 does not allow stays where it is; [`Parts::flaws`] names it. Nothing is decoded: that
/// comes after splitting, and once for each [`Piece`].
///
/// Takes time linear in the input and allocates nothing. The kernels are those of [`simdpct::Tier::active`].
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
    let input = input.as_ref();
    Parts { input, at: Level::active().split(input) }
}

/// The same with the kernels of another tier, for tests and comparisons.
#[must_use]
pub fn split_on<'a>(tier: simdpct::Tier, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    let input = input.as_ref();
    Parts { input, at: Level::of(tier).split(input) }
}

/// The same, a byte at a time in the words of RFC 3986: what every kernel is held to.
#[must_use]
pub fn split_by_reference<'a>(input: &'a (impl AsRef<[u8]> + ?Sized)) -> Parts<'a> {
    let input = input.as_ref();
    Parts { input, at: crate::reference::split(input) }
}

/// A URI or relative reference and where its parts are. See [`split`].
///
/// The path and the query are raw bytes, because decoding them whole would mix up data and delimiters;
/// [`segments`](Parts::segments) and [`query_pairs`](Parts::query_pairs) give [`Piece`]s that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts<'a> {
    input: &'a [u8],
    // INVARIANT: the offsets of a split of `input`, so in order and within it.
    at: Offsets,
}

/// What a host is (RFC 3986, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostKind {
    /// A registered name: a host name, or anything else that is not an address. It may be empty, and may hold escapes.
    RegName,
    /// Four decimal numbers of at most 255 without leading zeros.
    Ipv4(Ipv4Addr),
    /// An address in brackets.
    Ipv6(Ipv6Addr),
    /// An address of a future version in brackets, such as `[v1.x]`.
    IpFuture,
    /// Something that starts with a bracket and is none of these.
    Invalid,
}

impl<'a> Parts<'a> {
    #[cfg(feature = "alloc")]
    pub(crate) fn from_offsets(input: &'a [u8], at: Offsets) -> Parts<'a> {
        Parts { input, at }
    }

    /// All of it.
    #[must_use]
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// Where the parts are.
    #[must_use]
    pub fn offsets(&self) -> Offsets {
        self.at
    }

    /// The scheme, without its colon (section 3.1). A name before a colon that is no scheme belongs to the path.
    #[must_use]
    pub fn scheme(&self) -> Option<&'a [u8]> {
        (self.at.scheme_end > 0).then(|| &self.input[..self.at.scheme_end])
    }

    /// Userinfo, host and port, with their delimiters and without `//` (section 3.2).
    #[must_use]
    pub fn authority(&self) -> Option<&'a [u8]> {
        let start = self.at.after_scheme() + 2;
        self.at.has_authority().then(|| &self.input[start..self.at.path_start])
    }

    fn raw_userinfo(&self) -> Option<&'a [u8]> {
        let start = self.at.after_scheme() + 2;
        (self.at.has_authority() && self.at.host_start > start)
            .then(|| &self.input[start..self.at.host_start - 1])
    }

    /// What comes before the last `@` of the authority (section 3.2.1).
    #[must_use]
    pub fn userinfo(&self) -> Option<Piece<'a>> {
        self.raw_userinfo().map(Piece::new)
    }

    /// The userinfo up to its first colon.
    #[must_use]
    pub fn user(&self) -> Option<Piece<'a>> {
        let userinfo = self.raw_userinfo()?;
        Some(Piece::new(&userinfo[..memchr::memchr(b':', userinfo).unwrap_or(userinfo.len())]))
    }

    /// The userinfo after its first colon.
    #[must_use]
    pub fn password(&self) -> Option<Piece<'a>> {
        let userinfo = self.raw_userinfo()?;
        memchr::memchr(b':', userinfo).map(|at| Piece::new(&userinfo[at + 1..]))
    }

    fn raw_host(&self) -> Option<&'a [u8]> {
        self.at.has_authority().then(|| &self.input[self.at.host_start..self.at.host_end])
    }

    /// The host, with the brackets of an address (section 3.2.2). It may be empty.
    #[must_use]
    pub fn host(&self) -> Option<Piece<'a>> {
        self.raw_host().map(Piece::new)
    }

    /// What the host is.
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
        self.raw_host().map(host_kind)
    }

    /// The address that the host is, if it is one.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self.host_kind()? {
            HostKind::Ipv4(address) => Some(address.into()),
            HostKind::Ipv6(address) => Some(address.into()),
            _ => None,
        }
    }

    /// The port, as it is written (section 3.2.3). It may be empty.
    #[must_use]
    pub fn port(&self) -> Option<&'a [u8]> {
        (self.at.host_end < self.at.path_start).then(|| &self.input[self.at.host_end + 1..self.at.path_start])
    }

    /// The port as a number, if it is one: at least one digit, at most 65535.
    #[must_use]
    pub fn port_number(&self) -> Option<u16> {
        port_number(self.port()?)
    }

    /// The path (section 3.3). There always is one; it may be empty.
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        &self.input[self.at.path_start..self.at.path_end]
    }

    /// The segments of the path: what its slashes separate.
    ///
    /// A slash at the start separates nothing, so `/a/b` and `a/b` have the same segments; an empty path has none, and `/`
    /// has an empty one.
    #[must_use]
    pub fn segments(&self) -> Segments<'a> {
        Segments::new(self.path())
    }

    /// The query, without its `?` (section 3.4).
    #[must_use]
    pub fn query(&self) -> Option<&'a [u8]> {
        (self.at.path_end < self.at.query_end).then(|| &self.input[self.at.path_end + 1..self.at.query_end])
    }

    /// The parameters of the query, which `&` separates; none without a query.
    ///
    /// ```
    /// let url = simdpct_uri::split("/search?q=a%26b&page=2&exact");
    /// let q = url.query_pairs().find(|pair| pair.name == "q").unwrap();
    /// assert_eq!(&*q.value.unwrap().decode(), b"a&b");
    /// assert!(url.query_pairs().last().unwrap().value.is_none());
    /// ```
    #[must_use]
    pub fn query_pairs(&self) -> Pairs<'a> {
        Pairs::new(self.query().unwrap_or_default())
    }

    /// The fragment, without its `#` (section 3.5).
    #[must_use]
    pub fn fragment(&self) -> Option<Piece<'a>> {
        (self.at.query_end < self.input.len()).then(|| Piece::new(&self.input[self.at.query_end + 1..]))
    }

    /// Whether there is a scheme, so that it is a URI and not a relative reference (section 4.1).
    #[must_use]
    pub fn is_uri(&self) -> bool {
        self.at.scheme_end > 0
    }

    /// What RFC 3986 does not allow in it, with its place. Lazy, in time linear in the input.
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
        Flaws::new(self)
    }
}

pub(crate) fn host_kind(host: &[u8]) -> HostKind {
    let Some(literal) = host.strip_prefix(b"[") else {
        let text = core::str::from_utf8(host).ok();
        return text.and_then(|text| text.parse().ok()).map_or(HostKind::RegName, HostKind::Ipv4);
    };
    let Some(literal) = literal.strip_suffix(b"]") else { return HostKind::Invalid };
    if let Some(address) = core::str::from_utf8(literal).ok().and_then(|text| text.parse().ok()) {
        return HostKind::Ipv6(address);
    }
    if is_ip_future(literal) { HostKind::IpFuture } else { HostKind::Invalid }
}

/// `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
fn is_ip_future(literal: &[u8]) -> bool {
    use crate::class::{is_sub_delim, is_unreserved};

    let [b'v' | b'V', rest @ ..] = literal else { return false };
    let Some(dot) = memchr::memchr(b'.', rest) else { return false };
    let (version, address) = (&rest[..dot], &rest[dot + 1..]);
    let allowed = |byte: &u8| is_unreserved(*byte) || is_sub_delim(*byte) || *byte == b':';
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address.iter().all(allowed)
}

pub(crate) fn port_number(port: &[u8]) -> Option<u16> {
    if port.is_empty() || !port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    port.iter().try_fold(0_u16, |number, digit| number.checked_mul(10)?.checked_add(u16::from(digit - b'0')))
}
