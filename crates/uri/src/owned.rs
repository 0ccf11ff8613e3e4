//! An owned URI that is valid, and copies of it with one part changed.

use alloc::borrow::Borrow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use simdpct::{AsciiSet, Encode, sets};

use crate::builder::Builder;
use crate::flaws::{Flaw, FlawKind};
use crate::host::HostKind;
use crate::parts::{Parts, split};
use crate::text::{StrParts, split_str};

/// A URI or relative reference that is valid by RFC 3986: [`Parts::flaws`] finds nothing in it. It owns its text, which is ASCII.
///
/// It never changes. Each `with_*` and `without_*` method returns a copy in which one part is new and every other byte is the same.
/// Methods that take text of URIs validate it, and methods that take data escape it. So splitting the copy gives the part that
/// was set, and data never becomes structure. Every method takes time linear in its text.
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

/// The bytes that may stay in a path (RFC 3986, section 3.3), besides escapes.
const PATH: Encode<AsciiSet> = Encode::keeping(sets::RFC3986_PATH).keep_escapes();
/// The bytes that may stay in a name of a host (RFC 3986, section 3.2.2), besides escapes.
const REG_NAME: Encode<AsciiSet> = Encode::keeping(sets::RFC3986_REG_NAME).keep_escapes();

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
    #[must_use]
    pub fn parts(&self) -> StrParts<'_> {
        split_str(&self.0)
    }

    /// Returns a copy with `host` as its host: a name with its escapes, an IPv4 address, or an address in brackets. A URI without an
    /// authority gets one. For a name that is not ASCII, use `iri::to_uri` first.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Host`] if `host` is not a host by RFC 3986, section 3.2.2; [`ChangeError::RelativePath`] if there is no
    /// authority and the path does not start with a slash.
    ///
    /// ```
    /// use simdpct_uri::{ChangeError, UriBuf};
    ///
    /// let url: UriBuf = "http://me@a.example:80/x".parse()?;
    /// assert_eq!(url.with_host("b.example")?, "http://me@b.example:80/x");
    /// assert_eq!(url.with_host("evil.example/"), Err(ChangeError::Host { offset: 12 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_host(&self, host: &str) -> Result<UriBuf, ChangeError> {
        let invalid = match HostKind::of(host.as_bytes()) {
            HostKind::Ipv6(_) | HostKind::IpFuture => None,
            HostKind::Invalid => Some(0),
            _ => REG_NAME.first_change(host),
        };
        if let Some(offset) = invalid {
            return Err(ChangeError::Host { offset });
        }
        let at = self.parts().bytes().offsets();
        if at.has_authority() {
            return Ok(self.spliced(at.host_start, at.host_end, host));
        }
        match self.parts().path() {
            path if path.is_empty() || path.starts_with('/') => {
                Ok(self.spliced(at.path_start, at.path_start, &format!("//{host}")))
            }
            _ => Err(ChangeError::RelativePath),
        }
    }

    /// Returns a copy with `port` as its port, or without a port.
    ///
    /// # Errors
    ///
    /// [`ChangeError::NoHost`] if there is no authority, which is where a port belongs.
    ///
    /// ```
    /// let url: simdpct_uri::UriBuf = "http://a:80/x".parse().unwrap();
    /// assert_eq!(url.with_port(None).unwrap(), "http://a/x");
    /// ```
    pub fn with_port(&self, port: Option<u16>) -> Result<UriBuf, ChangeError> {
        let at = self.parts().bytes().offsets();
        if !at.has_authority() {
            return Err(ChangeError::NoHost);
        }
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        Ok(self.spliced(at.host_end, at.path_start, &port))
    }

    /// Returns a copy with `path` as its path: text of a URI, with its slashes and escapes. To make a path of data, escape each segment
    /// with [`escape_for`](crate::escape_for).
    ///
    /// # Errors
    ///
    /// [`ChangeError::Path`] if a byte must be escaped. The other errors say that the path would be read as another component.
    ///
    /// ```
    /// use simdpct_uri::{ChangeError, UriBuf};
    ///
    /// let url: UriBuf = "http://a/x?q".parse()?;
    /// assert_eq!(url.with_path("/b%20c")?, "http://a/b%20c?q");
    /// assert_eq!(url.with_path("/what?"), Err(ChangeError::Path { offset: 5 }));
    /// assert_eq!(url.with_path(".evil.example"), Err(ChangeError::RelativePath));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_path(&self, path: &str) -> Result<UriBuf, ChangeError> {
        if let Some(offset) = PATH.first_change(path) {
            return Err(ChangeError::Path { offset });
        }
        let at = self.parts().bytes().offsets();
        let first = path.split('/').next().unwrap_or_default();
        if at.has_authority() {
            if !path.is_empty() && !path.starts_with('/') {
                return Err(ChangeError::RelativePath);
            }
        } else if path.starts_with("//") {
            return Err(ChangeError::LikeAuthority);
        } else if at.scheme_end == 0 && first.contains(':') {
            return Err(ChangeError::LikeScheme);
        }
        Ok(self.spliced(at.path_start, at.path_end, path))
    }

    /// Returns a copy with one more parameter at the end of its query. Name and value are data: `&`, `=`, `+` and `;` in them are
    /// escaped and a space becomes `%20`, so that parsers of forms and of URIs read the same data.
    ///
    /// Parameters of the same name stay. To replace them, use [`without_query_params`](UriBuf::without_query_params) first.
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
        UriBuf::of_ascii(self.parts().bytes().with_query_param(name, value))
    }

    /// Returns a copy without the parameters whose names `remove` selects. The `?` goes with the last parameter.
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
    pub fn without_query_params(&self, remove: impl FnMut(&str) -> bool) -> UriBuf {
        UriBuf::of_ascii(self.parts().bytes().without_query_params(remove).into_owned())
    }

    /// Makes a URI of a copy that the caller has changed in such a way that it is valid.
    fn of_ascii(text: Vec<u8>) -> UriBuf {
        debug_assert!(split(&text).flaws().next().is_none(), "{}", text.escape_ascii());
        UriBuf(String::from_utf8(text).expect("a valid URI is ASCII"))
    }

    /// Returns a copy with `new` in place of the bytes from `start` to `end`. The caller has checked that the copy is valid.
    fn spliced(&self, start: usize, end: usize, new: &str) -> UriBuf {
        let (before, after) = (&self.0[..start], &self.0[end..]);
        UriBuf::of_ascii([before, new, after].concat().into_bytes())
    }
}

impl TryFrom<String> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: String) -> Result<UriBuf, InvalidUri> {
        let flaw = split(&text).flaws().next();
        match flaw {
            None => Ok(UriBuf(text)),
            Some(flaw) => Err(InvalidUri { flaw }),
        }
    }
}

impl TryFrom<Parts<'_>> for UriBuf {
    type Error = InvalidUri;

    fn try_from(parts: Parts<'_>) -> Result<UriBuf, InvalidUri> {
        match parts.flaws().next() {
            // Nothing is replaced, because text without flaws is ASCII.
            None => Ok(UriBuf(String::from_utf8_lossy(parts.input()).into_owned())),
            Some(flaw) => Err(InvalidUri { flaw }),
        }
    }
}

impl TryFrom<&[u8]> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: &[u8]) -> Result<UriBuf, InvalidUri> {
        split(text).try_into()
    }
}

impl TryFrom<Vec<u8>> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: Vec<u8>) -> Result<UriBuf, InvalidUri> {
        split(&text).try_into()
    }
}

impl TryFrom<&str> for UriBuf {
    type Error = InvalidUri;

    fn try_from(text: &str) -> Result<UriBuf, InvalidUri> {
        split(text).try_into()
    }
}

impl FromStr for UriBuf {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<UriBuf, InvalidUri> {
        text.try_into()
    }
}

/// Takes all parts as they are written, except an empty port, which is dropped. Segments and parameters are then appended to those
/// that exist. (A path that ends with a slash has an empty last segment.)
///
/// ```
/// use simdpct_uri::{Builder, UriBuf};
///
/// let base: UriBuf = "https://example.com/files?v=1".parse()?;
/// let url = Builder::from(&base).segment("50%/half.txt").query_pair("q", "a&b").build()?;
/// assert_eq!(url, "https://example.com/files/50%25%2Fhalf.txt?v=1&q=a%26b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<&UriBuf> for Builder {
    fn from(uri: &UriBuf) -> Builder {
        Builder::from_valid(uri.parts())
    }
}

/// Takes the parts of a URI without flaws. See the conversion from [`UriBuf`].
impl TryFrom<Parts<'_>> for Builder {
    type Error = InvalidUri;

    fn try_from(parts: Parts<'_>) -> Result<Builder, InvalidUri> {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct InvalidUri {
    /// The first violation.
    pub flaw: Flaw,
}

impl fmt::Display for InvalidUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.flaw.offset;
        match self.flaw.kind {
            FlawKind::Illegal(byte) | FlawKind::NonAscii(byte) | FlawKind::Control(byte) => {
                write!(f, "invalid URI: the byte 0x{byte:02X} at offset {at} must be escaped")
            }
            kind => {
                let problem = match kind {
                    FlawKind::MalformedEscape => {
                        "a '%' without two hexadecimal digits (a literal '%' is '%25')"
                    }
                    FlawKind::SeveralAt => "a second '@' before the host (a literal '@' is '%40')",
                    FlawKind::UnclosedBracket => "a '[' without a ']'",
                    FlawKind::BadAddress => "brackets without an IPv6 address in them",
                    FlawKind::BadPort => "a port that is not a number of at most 65535",
                    _ => "a colon in the first segment of a relative path (write './' before the segment)",
                };
                write!(f, "invalid URI: {problem}, at offset {at}")
            }
        }
    }
}

impl core::error::Error for InvalidUri {}

/// The error of the `with_*` methods of [`UriBuf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeError {
    /// The text is not a host (RFC 3986, section 3.2.2).
    Host {
        /// The offset in the text of the first byte that a host cannot hold. 0 for brackets without an address in them.
        offset: usize,
    },
    /// The text is not a path (RFC 3986, section 3.3).
    Path {
        /// The offset in the text of the first byte that must be escaped.
        offset: usize,
    },
    /// The URI has no host, so it cannot have a port.
    NoHost,
    /// The path does not start with a slash, so that it would continue the host or the port.
    RelativePath,
    /// The path starts with `//`, and would be read as a host because the URI has none.
    LikeAuthority,
    /// The first segment of the path has a colon, and would be read as a scheme because the URI has none.
    LikeScheme,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeError::Host { offset } => {
                write!(f, "not the name of a host or an address: the byte at offset {offset} is not allowed")
            }
            ChangeError::Path { offset } => {
                write!(f, "not a path: the byte at offset {offset} must be escaped")
            }
            ChangeError::NoHost => f.write_str("a port needs a host, and the URI has none"),
            ChangeError::RelativePath => f.write_str("the path after a host must start with '/'"),
            ChangeError::LikeAuthority => {
                f.write_str("a path that starts with '//' would be read as a host (write '/.' before it)")
            }
            ChangeError::LikeScheme => {
                f.write_str("the text before the colon would be read as a scheme (write './' before it)")
            }
        }
    }
}

impl core::error::Error for ChangeError {}
