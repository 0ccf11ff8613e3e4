//! Builds a URI from data: escapes each piece for its component and joins the pieces.

use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::net::IpAddr;

use simdpct::{AsciiSet, Encode, sets};

use crate::class::is_scheme;
use crate::host::{HostKind, special_port};
use crate::parts::{PARAMETER, Parts};

/// The bytes that stay unescaped in a user name: those of `userinfo` (RFC 3986) except the colon, which would end the name.
const USER: AsciiSet = sets::RFC3986_USERINFO.remove(b":");

/// Builds a URI or a relative reference from data. Every piece is escaped with the set of its component (RFC 3986), so that data
/// never becomes structure.
///
/// Pieces can be given in any order; segments and parameters are appended in the order of the calls. An escape in the data is data,
/// too: `%41` becomes `%2541`. To join components that are escaped already, use [`Components`](crate::Components).
///
/// ```
/// use simdpct_uri::Builder;
///
/// let url = Builder::new()
///     .scheme("https")
///     .host("example.com")
///     .segments(["files", "50%/half.txt"])
///     .query_pair("q", "a&b")
///     .fragment("top")
///     .build()?;
/// assert_eq!(url, "https://example.com/files/50%25%2Fhalf.txt?q=a%26b#top");
/// # Ok::<(), simdpct_uri::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    scheme: Option<String>,
    userinfo: Option<String>,
    host: Option<String>,
    invalid_host: bool,
    port: Option<String>,
    /// The escaped segments of the path, each with a slash before it.
    path: String,
    relative: bool,
    query: Option<String>,
    fragment: Option<String>,
    first_segment_len: usize,
    dot_segment: bool,
}

fn encode_append(set: AsciiSet, data: &(impl AsRef<[u8]> + ?Sized), out: &mut String) {
    Encode::keeping(set).encode_append(data, out);
}

fn encoded(set: AsciiSet, data: &(impl AsRef<[u8]> + ?Sized)) -> String {
    Encode::keeping(set).encode(data).into_owned()
}

/// Returns the userinfo of a user name and a password, which are data.
pub(crate) fn userinfo(user: &[u8], password: &[u8]) -> String {
    let mut userinfo = encoded(USER, user);
    userinfo.push(':');
    encode_append(sets::RFC3986_USERINFO, password, &mut userinfo);
    userinfo
}

impl Builder {
    /// Makes an empty builder, which builds the empty reference.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Makes a builder of the parts of a URI that has no flaws. The parts stay as they are written.
    pub(crate) fn from_valid(parts: Parts<'_, str>) -> Builder {
        let path = parts.path();
        let relative = !path.is_empty() && !path.starts_with('/');
        let segments = path.strip_prefix('/').unwrap_or(path);
        Builder {
            scheme: parts.scheme().map(String::from),
            userinfo: parts.userinfo().as_deref().map(String::from),
            host: parts.host().as_deref().map(String::from),
            port: parts.port().map(String::from),
            path: if relative { ["/", path].concat() } else { path.into() },
            relative,
            query: parts.query().map(String::from),
            fragment: parts.fragment().as_deref().map(String::from),
            first_segment_len: segments.split('/').next().unwrap_or_default().len(),
            ..Builder::default()
        }
    }

    /// Sets the scheme, which is not escaped; [`build`](Builder::build) rejects an invalid one.
    pub fn scheme(mut self, scheme: &str) -> Builder {
        self.scheme = Some(scheme.into());
        self
    }

    /// Sets the user name, without a password.
    pub fn user(mut self, user: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.userinfo = Some(encoded(USER, user));
        self
    }

    /// Sets the user name and the password. RFC 3986, section 3.2.1, deprecates passwords, because anybody who sees the
    /// URI sees the password.
    pub fn user_and_password(
        mut self,
        user: &(impl AsRef<[u8]> + ?Sized),
        password: &(impl AsRef<[u8]> + ?Sized),
    ) -> Builder {
        self.userinfo = Some(userinfo(user.as_ref(), password.as_ref()));
        self
    }

    /// Sets the host to a name, or to an address in brackets such as `[::1]`; [`ip`](Builder::ip) takes addresses as values.
    ///
    /// With the feature `idna`, a name that is not ASCII becomes Punycode by UTS 46. [`build`](Builder::build) rejects such a name without
    /// the feature, or if UTS 46 rejects it. It always rejects names with a colon or a bracket, such as `::1` and `a:80`.
    pub fn host(mut self, name: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        let name = name.as_ref();
        let host = match HostKind::of(name) {
            HostKind::Ipv6(_) | HostKind::IpFuture => core::str::from_utf8(name).ok().map(String::from),
            HostKind::Invalid => None,
            _ if name.iter().any(|byte| b":[]".contains(byte)) => None,
            _ if name.is_ascii() => Some(encoded(sets::RFC3986_REG_NAME, name)),
            #[cfg(feature = "idna")]
            _ => crate::host::to_ascii(name).map(String::from),
            #[cfg(not(feature = "idna"))]
            _ => None,
        };
        self.invalid_host = host.is_none();
        self.host = Some(host.unwrap_or_default());
        self
    }

    /// Sets the host to an IP address. An IPv6 address is written in brackets.
    pub fn ip(mut self, address: impl Into<IpAddr>) -> Builder {
        self.invalid_host = false;
        self.host = Some(match address.into() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        self
    }

    /// Sets the port. [`build`](Builder::build) rejects a port without a host.
    pub fn port(mut self, port: u16) -> Builder {
        self.port = Some(port.to_string());
        self
    }

    /// Appends a segment to the path, after a slash. A slash in the segment is escaped.
    pub fn segment(mut self, segment: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.push_segment(segment.as_ref());
        self
    }

    /// Appends segments to the path.
    pub fn segments<S: AsRef<[u8]>>(mut self, segments: impl IntoIterator<Item = S>) -> Builder {
        segments.into_iter().for_each(|segment| self.push_segment(segment.as_ref()));
        self
    }

    fn push_segment(&mut self, segment: &[u8]) {
        // `build` rejects dot segments. Escaping the dots would not help: normalization decodes `%2E` to a dot.
        self.dot_segment |= matches!(segment, b"." | b"..");
        let first = self.path.is_empty();
        self.path.push('/');
        encode_append(sets::RFC3986_SEGMENT, segment, &mut self.path);
        if first {
            self.first_segment_len = self.path.len() - 1;
        }
    }

    /// Leaves out the slash before the first segment, so that the path is relative. [`build`](Builder::build) rejects a relative
    /// path after an authority.
    pub fn relative_path(mut self) -> Builder {
        self.relative = true;
        self
    }

    /// Sets the whole query and discards parameters given before. `&`, `=`, `+` and `;` stay unescaped.
    pub fn query(mut self, query: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.query = Some(encoded(sets::RFC3986_QUERY, query));
        self
    }

    /// Appends a parameter to the query. `&`, `=`, `+` and `;` are escaped and a space becomes `%20`, so that parsers of forms and of
    /// URIs read the same data.
    pub fn query_pair(
        mut self,
        name: &(impl AsRef<[u8]> + ?Sized),
        value: &(impl AsRef<[u8]> + ?Sized),
    ) -> Builder {
        let query = self.query.get_or_insert_default();
        if !query.is_empty() {
            query.push('&');
        }
        encode_append(PARAMETER, name, query);
        query.push('=');
        encode_append(PARAMETER, value, query);
        self
    }

    /// Sets the fragment.
    pub fn fragment(mut self, fragment: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.fragment = Some(encoded(sets::RFC3986_FRAGMENT, fragment));
        self
    }

    /// Builds the URI. Takes time linear in the pieces.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if a piece is not valid, if [`split`](crate::split) would not return the same pieces, if a new segment is `.` or
    /// `..`, or if browsers would read a piece of the path as the host: they skip all slashes after `http:` and other special schemes, and
    /// after two slashes without a scheme.
    pub fn build(&self) -> Result<String, BuildError> {
        let mut out = String::new();
        if let Some(scheme) = &self.scheme {
            if !is_scheme(scheme.as_bytes()) {
                return Err(BuildError::Scheme);
            }
            out.push_str(scheme);
            out.push(':');
        }
        if self.invalid_host {
            return Err(BuildError::Host);
        }
        let is_special = self.scheme.as_ref().is_some_and(|scheme| special_port(scheme.as_bytes()).is_some());
        if self.host.as_deref() == Some("")
            && (is_special || self.scheme.is_none() || self.path.starts_with("//"))
        {
            return Err(BuildError::EmptyHost);
        }
        if let Some(host) = &self.host {
            out.push_str("//");
            if let Some(userinfo) = &self.userinfo {
                out.push_str(userinfo);
                out.push('@');
            }
            out.push_str(host);
            if let Some(port) = &self.port {
                out.push(':');
                out.push_str(port);
            }
        } else if self.userinfo.is_some() || self.port.is_some() || is_special {
            return Err(BuildError::NoHost);
        }
        if self.dot_segment {
            return Err(BuildError::DotSegment);
        }
        let relative = self.relative && !self.path.is_empty();
        if relative && self.host.is_some() {
            return Err(BuildError::RelativePath);
        }
        // With an empty first segment, the path would start with `//`, like an authority, or with a slash if it is
        // relative.
        let empty_first = !self.path.is_empty() && self.first_segment_len == 0;
        if empty_first && self.host.is_none() && (self.path.len() > 1 || relative) {
            return Err(BuildError::EmptyFirstSegment);
        }
        if relative && self.scheme.is_none() {
            // A colon would make the first segment a scheme, so it is escaped (`segment-nz-nc` of RFC 3986, section 3.3).
            let (first, rest) = self.path[1..].split_at(self.first_segment_len);
            out.push_str(&first.replace(':', "%3A"));
            out.push_str(rest);
        } else {
            out.push_str(&self.path[usize::from(relative)..]);
        }
        for (delimiter, part) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(part) = part {
                out.push(delimiter);
                out.push_str(part);
            }
        }
        Ok(out)
    }
}

/// The error of [`Builder::build`] and of the `with_*` methods of [`UriBuf`](crate::UriBuf): the parts do not make a valid URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The scheme is invalid: RFC 3986, section 3.1, requires a letter followed by letters, digits, `+`, `-` and `.`.
    Scheme,
    /// The host has a colon or a bracket and is not an address in brackets, or it is not ASCII and cannot be converted to Punycode.
    Host,
    /// There is userinfo, a port, or a scheme such as `http`, but no host.
    NoHost,
    /// The host is empty, and either browsers would read a segment of the path as the host, or the path starts with
    /// `//`.
    EmptyHost,
    /// A segment that was given to the builder is `.` or `..`. Parsers remove such segments, even if the dots are escaped.
    DotSegment,
    /// There is an authority, but the path does not start with a slash, so that it would continue the host or the port.
    RelativePath,
    /// The first segment of the path is empty, but there is no authority: the path would be read as an authority or as an
    /// absolute path.
    EmptyFirstSegment,
    /// The first segment of the path has a colon, and would be read as a scheme because the URI has none.
    ColonInFirstSegment,
    /// A byte of the new text must be escaped.
    Unescaped {
        /// The offset of the byte in the new text.
        offset: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildError::Scheme => "the scheme is not a letter followed by letters, digits, '+', '-' and '.'",
            BuildError::Host => "the host is not an address in brackets, and not a name that IDNA accepts",
            BuildError::NoHost => "there is userinfo, a port, or a scheme that needs a host, but no host",
            BuildError::EmptyHost => "the host is empty, so that browsers would read the path as a host",
            BuildError::DotSegment => "a segment is \".\" or \"..\", which parsers remove",
            BuildError::RelativePath => "the path is relative, but there is an authority",
            BuildError::EmptyFirstSegment => {
                "the first segment is empty, but there is no authority before it (write '/.' before the path)"
            }
            BuildError::ColonInFirstSegment => {
                "the text before the colon would be read as a scheme (write './' before it)"
            }
            BuildError::Unescaped { offset } => {
                return write!(f, "the byte at offset {offset} must be escaped");
            }
        })
    }
}

impl core::error::Error for BuildError {}
