//! An owned URI that is valid, and copies of it with one part changed.

use alloc::borrow::Borrow;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use simdpct::{AsciiSet, Encode, sets};

use crate::builder::{BuildError, Builder, userinfo};
use crate::class::is_scheme;
use crate::compose::{RelativeBase, resolve};
use crate::flaws::{Flaw, FlawKind};
use crate::host::HostKind;
use crate::offsets::Offsets;
use crate::parts::{Parts, split};
use crate::text::{Source, Text};

/// A URI or relative reference that is valid by RFC 3986: [`Parts::flaws`] finds nothing in it. It owns its text, which is ASCII.
///
/// It never changes. Each `with_*` and `without_*` method, and `set_query_param`, returns a copy in which one part is new and every other
/// byte is the same. Methods that take text of URIs validate it, and methods that take data escape it. So splitting the copy gives the part
/// that was set, and data never becomes structure. Every method takes time linear in its text.
///
/// `==`, the order and the hash are those of the text. For equivalence of URIs, compare canonical forms: [`canon`](crate::canon).
///
/// ```
/// use simdpct_uri::UriBuf;
///
/// let url: UriBuf = "https://example.com/search?q=a%26b&utm_source=x&page=2".parse()?;
/// let next = url.without_query_params(|name| name == "page" || name.starts_with("utm_")).with_query_param("page", "3");
/// assert_eq!(next, "https://example.com/search?q=a%26b&page=3");
/// assert_eq!(url.with_host("[::1]")?.with_port(Some(8080))?.parts().authority(), Some("[::1]:8080"));
///
/// let error = UriBuf::try_from("https://example.com/a b").unwrap_err();
/// assert_eq!(error.to_string(), "invalid URI: the byte 0x20 at offset 21 must be escaped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UriBuf(
    // INVARIANT: `split` finds no flaws in the text, so it is ASCII.
    String,
);

impl UriBuf {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Splits the text into its parts.
    pub fn parts(&self) -> Parts<'_, str> {
        split(&self.0)
    }

    /// Resolves `reference` against this URI (RFC 3986, section 5.2). See [`resolve`].
    ///
    /// # Errors
    ///
    /// [`RelativeBase`] if this is a relative reference.
    ///
    /// ```
    /// use simdpct_uri::UriBuf;
    ///
    /// let base: UriBuf = "http://a/b/c".parse()?;
    /// assert_eq!(base.resolve(&"../d?e".parse()?)?, "http://a/d?e");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, reference: &UriBuf) -> Result<UriBuf, RelativeBase> {
        resolve(self, reference).map(UriBuf::of_valid)
    }

    /// Returns a relative reference that [`resolve`](UriBuf::resolve) turns into `target` again, or `target` itself if
    /// no relative reference does.
    ///
    /// Resolving removes dot segments, so no reference leads to a `target` that has some, unless the base has the same path. Canonicalize
    /// such a URI before.
    ///
    /// ```
    /// use simdpct_uri::UriBuf;
    ///
    /// let base: UriBuf = "http://a/b/c/d?q".parse()?;
    /// for (target, reference) in [
    ///     ("http://a/b/c/e#top", "e#top"),
    ///     ("http://a/b/x:y", "../x:y"),
    ///     ("http://a/b/c/d?r", "?r"),
    ///     ("http://other/b", "//other/b"),
    ///     ("https://a/b", "https://a/b"),
    /// ] {
    ///     assert_eq!(base.relativize(&target.parse()?), reference);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn relativize(&self, target: &UriBuf) -> UriBuf {
        let (from, to) = (self.parts(), target.parts());
        let at = to.offsets();
        let after = |start: usize| &target.0[start..];
        // The candidates are tried in this order: same path, relative path, absolute path, authority. Each is resolved and compared
        // with `target`, so that a wrong candidate is never returned.
        let mut candidates = [None, None, None, None];
        if from.scheme() == to.scheme() {
            if from.authority() == to.authority() {
                if from.path() == to.path() {
                    let same_query = from.query() == to.query();
                    candidates[0] =
                        Some(String::from(after(if same_query { at.query_end } else { at.path_end })));
                }
                candidates[1] = Some([&relative_path(from.path(), to.path()), after(at.path_end)].concat());
                candidates[2] = Some(String::from(after(at.path_start)));
            }
            candidates[3] = Some(String::from(after(at.after_scheme())));
        }
        let leads_back = |reference: &UriBuf| self.resolve(reference).as_ref() == Ok(target);
        let references = candidates.into_iter().flatten().filter_map(|text| UriBuf::try_from(text).ok());
        references.into_iter().find(leads_back).unwrap_or_else(|| target.clone())
    }

    /// Returns a copy with the scheme `scheme`, which is given without its colon. A relative reference becomes a URI.
    ///
    /// # Errors
    ///
    /// [`BuildError::Scheme`] if the text is not a scheme (RFC 3986, section 3.1). A special scheme, such as `http`, is accepted without a
    /// host; browsers then read the path as the host.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "http://a/x".parse().unwrap();
    /// assert_eq!(url.with_scheme("https").unwrap(), "https://a/x");
    /// ```
    pub fn with_scheme(&self, scheme: &str) -> Result<UriBuf, BuildError> {
        if !is_scheme(scheme.as_bytes()) {
            return Err(BuildError::Scheme);
        }
        Ok(self.spliced(0, self.offsets().after_scheme(), &[scheme, ":"].concat()))
    }

    /// Returns a copy with the userinfo `userinfo`; `None` removes it. The text is written as it is, so data must be escaped before.
    ///
    /// # Errors
    ///
    /// [`BuildError::Unescaped`] if a byte must be escaped; [`BuildError::NoHost`] if there is no authority.
    pub fn with_userinfo(&self, userinfo: Option<&str>) -> Result<UriBuf, BuildError> {
        check(sets::RFC3986_USERINFO, userinfo.unwrap_or_default())?;
        let at = self.offsets_of_authority()?;
        let userinfo = userinfo.map_or(String::new(), |userinfo| [userinfo, "@"].concat());
        Ok(self.spliced(at.after_scheme() + 2, at.host_start, &userinfo))
    }

    /// Returns a copy with a user name and a password, which are data and are escaped. Anybody who sees the URI sees the password.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoHost`] if there is no authority.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "ftp://a/x".parse().unwrap();
    /// assert_eq!(url.with_user_and_password("me@b", "50%").unwrap(), "ftp://me%40b:50%25@a/x");
    /// ```
    pub fn with_user_and_password(
        &self,
        user: &(impl AsRef<[u8]> + ?Sized),
        password: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<UriBuf, BuildError> {
        self.with_userinfo(Some(&userinfo(user.as_ref(), password.as_ref())))
    }

    /// Returns a copy with `host` as its host: a name with its escapes, an IPv4 address, or an address in brackets. A URI without an
    /// authority gets one. For a name that is not ASCII, use `host::to_ascii` first.
    ///
    /// # Errors
    ///
    /// [`BuildError::Unescaped`] or [`BuildError::Host`] if `host` is not a host by RFC 3986, section 3.2.2;
    /// [`BuildError::RelativePath`] if there is no authority, and the path is not empty and does not start with a slash. An empty host is
    /// accepted; browsers then read the path of a special scheme as the host.
    ///
    /// ```
    /// use simdpct_uri::{BuildError, UriBuf};
    ///
    /// let url: UriBuf = "http://me@a.example:80/x".parse()?;
    /// assert_eq!(url.with_host("b.example")?, "http://me@b.example:80/x");
    /// assert_eq!(url.with_host("evil.example/"), Err(BuildError::Unescaped { offset: 12 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_host(&self, host: &str) -> Result<UriBuf, BuildError> {
        match HostKind::of(host.as_bytes()) {
            HostKind::Ipv6(_) | HostKind::IpFuture => {}
            HostKind::Invalid => return Err(BuildError::Host),
            HostKind::RegName | HostKind::Ipv4(_) => check(sets::RFC3986_REG_NAME, host)?,
        }
        let at = self.offsets();
        if at.has_authority() {
            return Ok(self.spliced(at.host_start, at.host_end, host));
        }
        match self.parts().path() {
            path if path.is_empty() || path.starts_with('/') => {
                Ok(self.spliced(at.path_start, at.path_start, &["//", host].concat()))
            }
            _ => Err(BuildError::RelativePath),
        }
    }

    /// Returns a copy with `port` as its port, or without a port.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoHost`] if there is no authority, which is where a port belongs.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "http://a:80/x".parse().unwrap();
    /// assert_eq!(url.with_port(None).unwrap(), "http://a/x");
    /// ```
    pub fn with_port(&self, port: Option<u16>) -> Result<UriBuf, BuildError> {
        let at = self.offsets_of_authority()?;
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        Ok(self.spliced(at.host_end, at.path_start, &port))
    }

    /// Returns a copy with the path `path`. The text is written as it is, so each segment that is data must be escaped before, with
    /// [`escape_for`](crate::escape_for).
    ///
    /// # Errors
    ///
    /// [`BuildError::Unescaped`] if a byte must be escaped. Three other errors say that the path would be read as another component:
    ///
    /// * [`BuildError::RelativePath`]: there is an authority, and the path is not empty and does not start with a slash.
    /// * [`BuildError::EmptyFirstSegment`]: there is no authority, and the path starts with `//`.
    /// * [`BuildError::ColonInFirstSegment`]: there is no authority and no scheme, and the first segment has a colon.
    ///
    /// ```
    /// use simdpct_uri::{BuildError, UriBuf};
    ///
    /// let url: UriBuf = "http://a/x?q".parse()?;
    /// assert_eq!(url.with_path("/b%20c")?, "http://a/b%20c?q");
    /// assert_eq!(url.with_path("/what?"), Err(BuildError::Unescaped { offset: 5 }));
    /// assert_eq!(url.with_path(".evil.example"), Err(BuildError::RelativePath));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_path(&self, path: &str) -> Result<UriBuf, BuildError> {
        check(sets::RFC3986_PATH, path)?;
        let at = self.offsets();
        let first = path.split('/').next().unwrap_or_default();
        if at.has_authority() {
            if !path.is_empty() && !path.starts_with('/') {
                return Err(BuildError::RelativePath);
            }
        } else if path.starts_with("//") {
            return Err(BuildError::EmptyFirstSegment);
        } else if at.scheme_end == 0 && first.contains(':') {
            return Err(BuildError::ColonInFirstSegment);
        }
        Ok(self.spliced(at.path_start, at.path_end, path))
    }

    /// Returns a copy with the query `query`, given without the `?`; `None` removes it. The text is written as it is, so data must be
    /// escaped before.
    ///
    /// # Errors
    ///
    /// [`BuildError::Unescaped`] if a byte must be escaped.
    pub fn with_query(&self, query: Option<&str>) -> Result<UriBuf, BuildError> {
        check(sets::RFC3986_QUERY, query.unwrap_or_default())?;
        let at = self.offsets();
        let query = query.map_or(String::new(), |query| ["?", query].concat());
        Ok(self.spliced(at.path_end, at.query_end, &query))
    }

    /// Returns a copy with the fragment `fragment`, given without the `#`; `None` removes it. The text is written as it is, so data must
    /// be escaped before.
    ///
    /// # Errors
    ///
    /// [`BuildError::Unescaped`] if a byte must be escaped.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "/a?b#c".parse().unwrap();
    /// assert_eq!(url.with_fragment(None).unwrap().with_query(Some("d=e")).unwrap(), "/a?d=e");
    /// ```
    pub fn with_fragment(&self, fragment: Option<&str>) -> Result<UriBuf, BuildError> {
        check(sets::RFC3986_FRAGMENT, fragment.unwrap_or_default())?;
        let fragment = fragment.map_or(String::new(), |fragment| ["#", fragment].concat());
        Ok(self.spliced(self.offsets().query_end, self.0.len(), &fragment))
    }

    /// Returns a copy with one more parameter at the end of its query. Name and value are data: `&`, `=`, `+` and `;` in them are
    /// escaped and a space becomes `%20`, so that parsers of forms and of URIs read the same data.
    ///
    /// Parameters of the same name stay. To replace them, use [`set_query_param`](UriBuf::set_query_param).
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "/search#top".parse().unwrap();
    /// assert_eq!(url.with_query_param("q", "a&b = c").with_query_param("n", "1"), "/search?q=a%26b%20%3D%20c&n=1#top");
    /// ```
    #[must_use]
    pub fn with_query_param(
        &self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> UriBuf {
        UriBuf::of_valid(self.parts().with_query_param(name, value))
    }

    /// Returns a copy whose query has one parameter of this name, with this value. The new parameter takes the place of
    /// the first one of this name; further ones are removed. If no parameter has this name, the new one is appended.
    /// Name and value are data. Names are decoded as in forms (`+` is a space) and then compared.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "/search?q=a&p%61ge=2&n&page".parse().unwrap();
    /// assert_eq!(url.set_query_param("page", "3").set_query_param("to", "b&c"), "/search?q=a&page=3&n&to=b%26c");
    /// ```
    #[must_use = "it returns a copy"]
    pub fn set_query_param(
        &self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> UriBuf {
        UriBuf::of_valid(self.parts().set_query_param(name, value))
    }

    /// Returns a copy without the parameters whose names `remove` selects. If no text of the query remains, its `?` is removed, too.
    ///
    /// `remove` gets each name decoded by the rule of forms, where `+` is a space, with U+FFFD for invalid UTF-8. The other parameters
    /// keep their spelling, their order and the `&` between them.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "/?utm_id=1&a=%31&utm%5Fid=2&&b".parse().unwrap();
    /// assert_eq!(url.without_query_params(|name| name == "utm_id"), "/?a=%31&&b");
    /// assert_eq!(url.without_query_params(|_| true), "/");
    /// ```
    #[must_use]
    pub fn without_query_params(&self, mut remove: impl FnMut(&str) -> bool) -> UriBuf {
        UriBuf::of_valid(self.parts().without_query_params(|pair| remove(&pair.decoded().0)).into_owned())
    }

    fn offsets(&self) -> Offsets {
        self.parts().offsets()
    }

    /// Returns the offsets, or [`BuildError::NoHost`] if there is no authority.
    fn offsets_of_authority(&self) -> Result<Offsets, BuildError> {
        Some(self.offsets()).filter(Offsets::has_authority).ok_or(BuildError::NoHost)
    }

    /// Makes a URI of `text`, which the caller guarantees to be valid.
    fn of_valid(text: String) -> UriBuf {
        debug_assert!(split(&text).flaws().next().is_none(), "{text}");
        UriBuf(text)
    }

    /// Returns a copy with `new` in place of the bytes from `start` to `end`. The caller has checked that the copy is valid.
    fn spliced(&self, start: usize, end: usize, new: &str) -> UriBuf {
        UriBuf::of_valid([&self.0[..start], new, &self.0[end..]].concat())
    }
}

/// Checks that `text` holds only bytes of `set` and escapes.
fn check(set: AsciiSet, text: &str) -> Result<(), BuildError> {
    match Encode::keeping(set).keep_escapes().first_change(text) {
        None => Ok(()),
        Some(offset) => Err(BuildError::Unescaped { offset }),
    }
}

/// Returns a relative path that leads from one path to another. The result may be wrong if a path has dot segments or if `from` is
/// empty, so `relativize` resolves it and compares.
fn relative_path(from: &str, to: &str) -> String {
    // The last slash before the first difference ends the folders that both paths share.
    let same = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    let shared = from[..same].rfind('/').map_or(0, |slash| slash + 1);
    let rest = &to[shared..];
    let up = "../".repeat(from[shared..].matches('/').count());
    let first = rest.split('/').next().unwrap_or_default();
    // Without `./`, the reference would be empty, start with a slash or have a scheme.
    let here = if up.is_empty() && (first.is_empty() || first.contains(':')) { "./" } else { "" };
    [&up, here, rest].concat()
}

fn check_flaws<T: Text + ?Sized>(parts: &Parts<'_, T>) -> Result<(), InvalidUri> {
    parts.flaws().next().map_or(Ok(()), |flaw| Err(InvalidUri { flaw }))
}

impl Source for UriBuf {
    type Text = str;

    fn text(&self) -> &str {
        &self.0
    }
}

/// Validates a text and takes it without a copy. Returns [`InvalidUri`] if it is not valid.
impl TryFrom<String> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: String) -> Result<UriBuf, InvalidUri> {
        check_flaws(&split(&text))?;
        Ok(UriBuf(text))
    }
}

/// Validates the parts of a URI and copies their text. Returns [`InvalidUri`] if it is not valid.
impl<T: Text + ?Sized> TryFrom<Parts<'_, T>> for UriBuf {
    type Error = InvalidUri;

    fn try_from(parts: Parts<'_, T>) -> Result<UriBuf, InvalidUri> {
        check_flaws(&parts)?;
        // `from_utf8_lossy` replaces nothing, because text without flaws is ASCII.
        Ok(UriBuf(String::from_utf8_lossy(parts.input().as_ref()).into_owned()))
    }
}

/// Validates a text and copies it. Returns [`InvalidUri`] if it is not valid.
impl TryFrom<&str> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: &str) -> Result<UriBuf, InvalidUri> {
        split(text).try_into()
    }
}

/// Validates a text and copies it. Returns [`InvalidUri`] if it is not valid.
impl FromStr for UriBuf {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<UriBuf, InvalidUri> {
        text.try_into()
    }
}

/// Copies all parts as they are written. The builder appends segments and parameters to the existing ones. After a path such as `/files/`,
/// a new segment `a` gives `/files//a`.
///
/// ```
/// use simdpct_uri::{Builder, UriBuf};
///
/// let base: UriBuf = "https://example.com/files?v=1".parse()?;
/// let url = Builder::from(&base).segment("50%/half.txt").query_pair("q", "a&b").build()?;
/// assert_eq!(url, "https://example.com/files/50%25%2Fhalf.txt?v=1&q=a%26b");
///
/// let folder: UriBuf = "https://example.com/files/".parse()?;
/// assert_eq!(Builder::from(&folder).segment("a").build()?, "https://example.com/files//a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<&UriBuf> for Builder {
    fn from(uri: &UriBuf) -> Builder {
        Builder::from_valid(uri.parts())
    }
}

/// Copies the parts of a URI. Returns [`InvalidUri`] if it is not valid. See the conversion from [`UriBuf`].
impl<T: Text + ?Sized> TryFrom<Parts<'_, T>> for Builder {
    type Error = InvalidUri;

    fn try_from(parts: Parts<'_, T>) -> Result<Builder, InvalidUri> {
        UriBuf::try_from(parts).map(|uri| Builder::from(&uri))
    }
}

impl From<UriBuf> for String {
    fn from(uri: UriBuf) -> String {
        uri.0
    }
}

impl AsRef<str> for UriBuf {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for UriBuf {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Lets a map with keys of this type be searched for text: `==`, the order and the hash are those of the text.
impl Borrow<str> for UriBuf {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for UriBuf {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for UriBuf {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for UriBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Serializes the text.
#[cfg(feature = "serde")]
impl serde::Serialize for UriBuf {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Deserializes text, and rejects it if it is not a valid URI.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for UriBuf {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<UriBuf, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        text.try_into().map_err(serde::de::Error::custom)
    }
}

/// The error of the conversions to [`UriBuf`] and to [`Builder`](crate::Builder): the text is not valid by RFC 3986.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidUri {
    /// The first violation.
    pub flaw: Flaw,
}

impl fmt::Display for InvalidUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.flaw.offset;
        let problem = match self.flaw.kind {
            FlawKind::Illegal(byte) | FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                return write!(f, "invalid URI: the byte 0x{byte:02X} at offset {at} must be escaped");
            }
            FlawKind::MalformedEscape => "a '%' without two hexadecimal digits (a literal '%' is '%25')",
            FlawKind::SeveralAt => "a second '@' before the host (a literal '@' is '%40')",
            FlawKind::UnclosedBracket => "a '[' without a ']'",
            FlawKind::BadAddress => "brackets without an IPv6 address in them",
            FlawKind::BadPort => "a port that is not a number of at most 65535",
            FlawKind::ColonInFirstSegment => {
                "a colon in the first segment of a relative path (write './' before the segment)"
            }
        };
        write!(f, "invalid URI: {problem}, at offset {at}")
    }
}

impl core::error::Error for InvalidUri {}
