//! One URL and its parts. "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::net::IpAddr;

use simdpct::Tier;

use crate::flaws::Flaws;
use crate::host::{HostKind, default_port, port_number};
use crate::kernel::split::offsets_of;
use crate::offsets::Offsets;
#[cfg(feature = "alloc")]
use crate::pieces::parameters;
use crate::pieces::{Piece, QueryPair, query_pairs, segments};
use crate::text::{Source, Text, copy};

/// The bytes that stay unescaped in the name or value of a query parameter. `;` is escaped because some parsers separate
/// parameters there, and `+` because most parsers read it as a space.
#[cfg(feature = "alloc")]
pub(crate) const PARAMETER: simdpct::AsciiSet = simdpct::sets::RFC3986_QUERY.remove(b"&=+;");

/// Appends a parameter, whose name and value are data.
#[cfg(feature = "alloc")]
pub(crate) fn append_parameter(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let encode = simdpct::Encode::keeping(PARAMETER);
    encode.encode_append(name, out);
    out.push(b'=');
    encode.encode_append(value, out);
}

/// Splits a URI or a relative reference into its parts (RFC 3986, appendix B).
///
/// Every input can be split, text and bytes: the parts of a `str` or `String` are `str`, those of a `[u8]` or `Vec<u8>`
/// are `[u8]`. They are slices of the input: joined again with their delimiters, they are the input, byte for byte.
/// Bytes that RFC 3986 does not allow stay where they are; [`Parts::flaws`] lists them. Nothing is decoded: decode each
/// [`Piece`] once, after splitting.
///
/// Takes time linear in the input, allocates nothing, and runs the kernels of [`simdpct::Tier::active`].
///
/// ```
/// let url = simdpct_uri::split("https://bob@example.com:8042/a%2Fb/c?name=%26#nose");
/// assert_eq!(url.scheme(), Some("https"));
/// assert_eq!(url.userinfo().unwrap(), "bob");
/// assert_eq!(url.host().unwrap(), "example.com");
/// assert_eq!(url.port_number(), Some(8042));
/// assert!(url.segments().map(|segment| segment.decode()).eq([&b"a/b"[..], b"c"]));
/// assert_eq!(url.query(), Some("name=%26"));
/// assert_eq!(url.fragment().as_deref(), Some("nose"));
///
/// assert_eq!(simdpct_uri::split(b"//a/\xFF").path(), b"/\xFF");
/// ```
// `split` is inlined, so that it writes the offsets directly into memory of the caller, without a copy (lab: uri).
#[inline(always)]
pub fn split<S: Source + ?Sized>(input: &S) -> Parts<'_, S::Text> {
    split_on(Tier::active(), input)
}

/// Runs [`split`] with the kernels of `tier`.
#[inline(always)]
pub fn split_on<S: Source + ?Sized>(tier: Tier, input: &S) -> Parts<'_, S::Text> {
    Parts::from_offsets(input.text(), offsets_of(tier, input.text().as_ref()))
}

/// Splits the target of a request that begins with a slash (RFC 9112, section 3.2.1). Unlike a reference, the target
/// has a path and no host even if it begins with two slashes.
#[doc(hidden)] // For the command, which reads logs.
pub fn split_path(target: &[u8]) -> Parts<'_> {
    // A reference that begins with one slash has neither a scheme nor a host.
    let skipped = target.iter().take_while(|&&byte| byte == b'/').count().saturating_sub(1);
    let at = split(&target[skipped..]).offsets();
    let at = Offsets { path_end: skipped + at.path_end, query_end: skipped + at.query_end, ..at };
    Parts::from_offsets(target, at)
}

/// A URI or relative reference and the positions of its parts. [`split`] returns it.
///
/// The path and the query are not [`Piece`]s, because decoding them whole would mix up data and delimiters;
/// [`segments`](Parts::segments) and [`query_pairs`](Parts::query_pairs) return pieces, which can be decoded.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Parts<'a, T: Text + ?Sized = [u8]> {
    input: &'a T,
    // INVARIANT: the offsets come from a split, so they are in order; the largest, `query_end`, is at most `input.len()`.
    at: Offsets,
}

copy! { Parts }

impl<'a, T: Text + ?Sized> Parts<'a, T> {
    #[inline]
    pub(crate) fn from_offsets(input: &'a T, at: Offsets) -> Parts<'a, T> {
        Parts { input, at }
    }

    /// Returns the whole input.
    #[must_use]
    #[inline]
    pub fn input(&self) -> &'a T {
        self.input
    }

    /// Returns the input as bytes.
    #[inline]
    fn as_bytes(&self) -> &'a [u8] {
        self.input.as_ref()
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
    pub fn scheme(&self) -> Option<&'a T> {
        self.is_uri().then(|| self.input.part(0..self.at.scheme_end))
    }

    /// Returns userinfo, host and port, with the delimiters between them and without `//` (RFC 3986, section 3.2).
    #[must_use]
    pub fn authority(&self) -> Option<&'a T> {
        let start = self.at.after_scheme() + 2;
        self.at.has_authority().then(|| self.input.part(start..self.at.path_start))
    }

    /// Returns the userinfo: the text before the last `@` of the authority (RFC 3986, section 3.2.1).
    #[must_use]
    #[inline]
    pub fn userinfo(&self) -> Option<Piece<'a, T>> {
        let start = self.at.after_scheme() + 2;
        (self.at.has_authority() && self.at.host_start > start)
            .then(|| Piece::new(self.input.part(start..self.at.host_start - 1)))
    }

    /// Returns the user name: the userinfo up to its first colon.
    #[must_use]
    pub fn user(&self) -> Option<Piece<'a, T>> {
        let userinfo = self.userinfo()?.raw();
        let bytes = userinfo.as_ref();
        Some(Piece::new(userinfo.part(0..memchr::memchr(b':', bytes).unwrap_or(bytes.len()))))
    }

    /// Returns the password: the userinfo after its first colon. `None` without a colon.
    #[must_use]
    pub fn password(&self) -> Option<Piece<'a, T>> {
        let userinfo = self.userinfo()?.raw();
        let bytes = userinfo.as_ref();
        memchr::memchr(b':', bytes).map(|at| Piece::new(userinfo.part(at + 1..bytes.len())))
    }

    /// Returns the host, with the brackets of an address (RFC 3986, section 3.2.2). It may be empty; `None` without an authority.
    #[must_use]
    #[inline]
    pub fn host(&self) -> Option<Piece<'a, T>> {
        self.at.has_authority().then(|| Piece::new(self.input.part(self.at.host_start..self.at.host_end)))
    }

    /// Returns the kind of the host, and its address if it is one (RFC 3986, section 3.2.2).
    ///
    /// ```
    /// use simdpct_uri::{host::HostKind, split};
    ///
    /// assert!(matches!(split("//[::1]:80").host_kind(), Some(HostKind::Ipv6(address)) if address.is_loopback()));
    /// assert_eq!(split("//127.1").host_kind(), Some(HostKind::RegName));
    /// assert_eq!(split("//[::1").host_kind(), Some(HostKind::Invalid));
    /// ```
    #[must_use]
    pub fn host_kind(&self) -> Option<HostKind> {
        self.host().map(|host| HostKind::of(host.raw().as_ref()))
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
    pub fn port(&self) -> Option<&'a T> {
        (self.at.host_end < self.at.path_start)
            .then(|| self.input.part(self.at.host_end + 1..self.at.path_start))
    }

    /// Returns the port as a number; `None` unless it is one or more digits with a value of at most 65535.
    #[must_use]
    pub fn port_number(&self) -> Option<u16> {
        port_number(self.port()?.as_ref())
    }

    /// Returns the port, or the [`default_port`] of the scheme if the port is absent or empty. `None` without an authority, if the port is
    /// not a number of at most 65535, or if the default is needed but not known.
    ///
    /// ```
    /// use simdpct_uri::split;
    ///
    /// assert_eq!(split("HTTPS://a/").port_or_default(), Some(443));
    /// assert_eq!(split("https://a:8443/").port_or_default(), Some(8443));
    /// assert_eq!(split("mailto:a@b").port_or_default(), None);
    /// ```
    #[must_use]
    pub fn port_or_default(&self) -> Option<u16> {
        match self.port().map(AsRef::as_ref) {
            None | Some(b"") if self.at.has_authority() => {
                default_port(core::str::from_utf8(self.scheme()?.as_ref()).ok()?)
            }
            _ => self.port_number(),
        }
    }

    /// Returns the path (RFC 3986, section 3.3). Every URL has one; it may be empty.
    #[must_use]
    #[inline]
    pub fn path(&self) -> &'a T {
        self.input.part(self.at.path_start..self.at.path_end)
    }

    /// Returns the segments of the path, which slashes separate (RFC 3986, section 3.3).
    ///
    /// A slash at the start of the path is not a separator, so `/a/b` and `a/b` have the same segments. An empty path has no
    /// segment, and `/` has one, which is empty.
    ///
    /// The iterator also runs from the back, in time linear in the segments that it yields:
    ///
    /// ```
    /// let url = simdpct_uri::split("/files/2026/report.txt");
    /// assert_eq!(url.segments().next_back().unwrap(), "report.txt");
    /// ```
    pub fn segments(
        &self,
    ) -> impl DoubleEndedIterator<Item = Piece<'a, T>> + FusedIterator + Clone + fmt::Debug + use<'a, T> {
        segments(self.path()).map(Piece::new)
    }

    /// Returns the query without its `?` (RFC 3986, section 3.4).
    #[must_use]
    #[inline]
    pub fn query(&self) -> Option<&'a T> {
        (self.at.path_end < self.at.query_end)
            .then(|| self.input.part(self.at.path_end + 1..self.at.query_end))
    }

    /// Returns the parameters of the query as they are written, which `&` separates. Empty parameters, as in `a&&b`, are left out,
    /// as in the URL Standard. Without a query the iterator is empty.
    ///
    /// ```
    /// let url = simdpct_uri::split("/search?q=a%26b&page=2&exact");
    /// let q = url.query_pairs().find(|pair| pair.name == "q").unwrap();
    /// assert_eq!(q.value.as_deref(), Some("a%26b"));
    /// assert!(url.query_pairs().next_back().unwrap().value.is_none());
    /// ```
    pub fn query_pairs(
        &self,
    ) -> impl DoubleEndedIterator<Item = QueryPair<'a, T>> + FusedIterator + Clone + fmt::Debug + use<'a, T>
    {
        query_pairs(self.query().unwrap_or(T::EMPTY))
    }

    /// Returns the names and values of the query as text. They are decoded by the rule of forms, where `+` is a space, with U+FFFD for
    /// invalid UTF-8. A missing value becomes an empty one.
    ///
    /// ```
    /// let url = simdpct_uri::split("/?q=a+%26+b&caf%C3%A9");
    /// assert!(url.decoded_pairs().eq([("q".into(), "a & b".into()), ("caf\u{e9}".into(), "".into())]));
    /// ```
    #[cfg(feature = "alloc")]
    pub fn decoded_pairs(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Cow<'a, str>, Cow<'a, str>)> + FusedIterator + Clone + use<'a, T>
    {
        self.query_pairs().map(QueryPair::decoded)
    }

    /// Returns the values of all parameters of this name. Names and values are decoded as by [`decoded_pairs`](Parts::decoded_pairs).
    ///
    /// ```
    /// let url = simdpct_uri::split("/?tag=a&n=1&t%61g=b%20c&tag");
    /// assert_eq!(url.query_values("tag").collect::<Vec<_>>(), ["a", "b c", ""]);
    /// assert_eq!(url.query_values("n").next().unwrap(), "1");
    /// ```
    #[cfg(feature = "alloc")]
    pub fn query_values<'n>(
        &self,
        name: &'n str,
    ) -> impl DoubleEndedIterator<Item = Cow<'a, str>> + FusedIterator + Clone + use<'a, 'n, T> {
        self.decoded_pairs().filter(move |pair| pair.0 == name).map(|pair| pair.1)
    }

    /// Returns the fragment without its `#` (RFC 3986, section 3.5).
    #[must_use]
    #[inline]
    pub fn fragment(&self) -> Option<Piece<'a, T>> {
        let len = self.as_bytes().len();
        (self.at.query_end < len).then(|| Piece::new(self.input.part(self.at.query_end + 1..len)))
    }

    /// Returns a copy of the input with one more parameter at the end of its query. See
    /// [`UriBuf::with_query_param`](crate::UriBuf::with_query_param). Bytes that RFC 3986 does not allow stay.
    ///
    /// ```
    /// assert_eq!(simdpct_uri::split("/a b#top").with_query_param("q", "1&2"), "/a b?q=1%262#top");
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn with_query_param(
        &self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> T::Owned {
        let (before, after) = self.as_bytes().split_at(self.at.query_end);
        let mut out =
            Vec::with_capacity(self.as_bytes().len() + name.as_ref().len() + value.as_ref().len() + 2);
        out.extend_from_slice(before);
        out.extend_from_slice(match self.query().map(AsRef::as_ref) {
            None => b"?",
            Some(b"") => b"",
            Some(_) => b"&",
        });
        append_parameter(name.as_ref(), value.as_ref(), &mut out);
        out.extend_from_slice(after);
        T::from_parts(out)
    }

    /// Returns a copy of the input whose query has one parameter of this name, with this value. See
    /// [`UriBuf::set_query_param`](crate::UriBuf::set_query_param). Bytes that RFC 3986 does not allow stay.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn set_query_param(
        &self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> T::Owned {
        let mut parameter = Vec::new();
        append_parameter(name.as_ref(), value.as_ref(), &mut parameter);
        let is_named = |pair: QueryPair<'a, T>| *pair.name.decode_form() == *name.as_ref();
        match self.replace_parameters(is_named, Some(&parameter)) {
            Some(out) => T::from_parts(out),
            None => self.with_query_param(name, value),
        }
    }

    /// Returns the input without the parameters that `remove` selects; it is borrowed if nothing is removed. See
    /// [`UriBuf::without_query_params`](crate::UriBuf::without_query_params). Bytes that RFC 3986 does not allow stay.
    ///
    /// ```
    /// let url = simdpct_uri::split("/a b?utm_id=1&q=c d");
    /// assert_eq!(url.without_query_params(|pair| pair.name.decode_form().starts_with(b"utm_")), "/a b?q=c d");
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn without_query_params(&self, remove: impl FnMut(QueryPair<'a, T>) -> bool) -> Cow<'a, T> {
        match self.replace_parameters(remove, None) {
            Some(out) => Cow::Owned(T::from_parts(out)),
            None => Cow::Borrowed(self.input),
        }
    }

    /// Returns a copy of the input without the parameters that `is_replaced` selects, or `None` if it selects none.
    /// `new`, if given, takes the place of the first of them.
    #[cfg(feature = "alloc")]
    fn replace_parameters(
        &self,
        mut is_replaced: impl FnMut(QueryPair<'a, T>) -> bool,
        new: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        // Empty parameters, as in `a&&b`, have no name and are never selected.
        let mut is_replaced =
            |parameter: &'a T| !parameter.as_ref().is_empty() && is_replaced(QueryPair::of(parameter));
        let parameters = || self.query().into_iter().flat_map(parameters);
        let first = parameters().position(&mut is_replaced)?;
        let before = parameters().take(first);
        let after = parameters().skip(first + 1).filter(|parameter| !is_replaced(parameter));

        let mut out = Vec::with_capacity(self.as_bytes().len() + new.map_or(0, <[u8]>::len));
        out.extend_from_slice(&self.as_bytes()[..self.at.path_end]);
        let mut delimiter = b'?';
        let mut append = |parameter: &[u8]| {
            out.push(delimiter);
            out.extend_from_slice(parameter);
            delimiter = b'&';
        };
        before.for_each(|parameter| append(parameter.as_ref()));
        new.into_iter().for_each(&mut append);
        after.for_each(|parameter| append(parameter.as_ref()));
        if out.len() == self.at.path_end + 1 {
            out.pop();
        }
        out.extend_from_slice(&self.as_bytes()[self.at.query_end..]);
        Some(out)
    }

    /// Reports whether there is a scheme, which makes the input a URI and not a relative reference (RFC 3986, section 4.1).
    #[must_use]
    pub fn is_uri(&self) -> bool {
        self.at.scheme_end > 0
    }

    /// Returns all violations of RFC 3986 in the input, in order. The iterator is lazy and takes time linear in the
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
        Flaws::new(self.as_bytes(), self.at)
    }
}
