//! Data to a URI.

use alloc::string::String;
use core::fmt::{self, Write as _};
use core::net::IpAddr;

use simdpct::{AsciiSet, Encode, sets};

use crate::class::is_scheme;

/// The bytes of a user name: those of userinfo without the colon that ends it.
const USER: AsciiSet = sets::RFC3986_USERINFO.remove(b":");
/// The name or value of a parameter. `;` separates parameters for some readers, and `+` is a space for most.
const PARAMETER: AsciiSet = sets::RFC3986_QUERY.remove(b"&=+;");

/// Builds a URI or a relative reference of data: every piece is escaped with the set of its component (RFC 3986), so data
/// never becomes structure.
///
/// Pieces may be given in any order; those of path and query are appended. An escape in the data is data, too: `%41`
/// becomes `%2541`. To join what is escaped already, use [`Components`](crate::Components).
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
pub struct Builder {
    scheme: Option<String>,
    userinfo: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    /// Every segment, after a slash.
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

impl Builder {
    /// With nothing in it: the empty reference.
    #[must_use]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The scheme, which is not escaped; [`build`](Builder::build) refuses a wrong one.
    #[must_use]
    pub fn scheme(mut self, scheme: &str) -> Builder {
        self.scheme = Some(scheme.into());
        self
    }

    /// The user name.
    #[must_use]
    pub fn user(mut self, user: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.userinfo = Some(encoded(USER, user));
        self
    }

    /// The user name and the password. Anybody who sees the URI sees the password; section 3.2.1 deprecates it.
    #[must_use]
    pub fn user_and_password(
        mut self,
        user: &(impl AsRef<[u8]> + ?Sized),
        password: &(impl AsRef<[u8]> + ?Sized),
    ) -> Builder {
        let mut userinfo = encoded(USER, user);
        userinfo.push(':');
        encode_append(sets::RFC3986_USERINFO, password, &mut userinfo);
        self.userinfo = Some(userinfo);
        self
    }

    /// The host, as a name. Brackets are escaped, so an address of version 6 is given to [`ip`](Builder::ip).
    #[must_use]
    pub fn host(mut self, name: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.host = Some(encoded(sets::RFC3986_REG_NAME, name));
        self
    }

    /// The host, as an address.
    #[must_use]
    pub fn ip(mut self, address: impl Into<IpAddr>) -> Builder {
        let mut host = String::new();
        // Writing to a string never fails.
        _ = match address.into() {
            IpAddr::V4(address) => write!(host, "{address}"),
            IpAddr::V6(address) => write!(host, "[{address}]"),
        };
        self.host = Some(host);
        self
    }

    /// The port.
    #[must_use]
    pub fn port(mut self, port: u16) -> Builder {
        self.port = Some(port);
        self
    }

    /// One more segment of the path, after a slash. A slash in it is escaped.
    #[must_use]
    pub fn segment(mut self, segment: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.push_segment(segment.as_ref());
        self
    }

    /// More segments of the path.
    #[must_use]
    pub fn segments<S: AsRef<[u8]>>(mut self, segments: impl IntoIterator<Item = S>) -> Builder {
        segments.into_iter().for_each(|segment| self.push_segment(segment.as_ref()));
        self
    }

    fn push_segment(&mut self, segment: &[u8]) {
        // An escape would not help: `%2E` is a dot for whoever normalizes.
        self.dot_segment |= matches!(segment, b"." | b"..");
        let first = self.path.is_empty();
        self.path.push('/');
        encode_append(sets::RFC3986_SEGMENT, segment, &mut self.path);
        if first {
            self.first_segment_len = self.path.len() - 1;
        }
    }

    /// Leaves out the slash before the first segment, so that the path is relative. [`build`](Builder::build) refuses that
    /// with an authority.
    #[must_use]
    pub fn relative_path(mut self) -> Builder {
        self.relative = true;
        self
    }

    /// The whole query, which replaces what there was. `&` and `=` stay as they are.
    #[must_use]
    pub fn query(mut self, query: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.query = Some(encoded(sets::RFC3986_QUERY, query));
        self
    }

    /// One more parameter of the query. What it holds of `& = + ;` is escaped, and a space becomes `%20`, so readers of forms
    /// and of URIs understand the same.
    #[must_use]
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

    /// The fragment.
    #[must_use]
    pub fn fragment(mut self, fragment: &(impl AsRef<[u8]> + ?Sized)) -> Builder {
        self.fragment = Some(encoded(sets::RFC3986_FRAGMENT, fragment));
        self
    }

    /// The URI.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if a piece cannot be written so that it is read back as itself.
    pub fn build(&self) -> Result<String, BuildError> {
        let mut out = String::new();
        if let Some(scheme) = &self.scheme {
            if !is_scheme(scheme.as_bytes()) {
                return Err(BuildError::Scheme);
            }
            out.push_str(scheme);
            out.push(':');
        }
        if let Some(host) = &self.host {
            out.push_str("//");
            if let Some(userinfo) = &self.userinfo {
                out.push_str(userinfo);
                out.push('@');
            }
            out.push_str(host);
            if let Some(port) = self.port {
                // Writing to a string never fails.
                _ = write!(out, ":{port}");
            }
        } else if self.userinfo.is_some() || self.port.is_some() {
            return Err(BuildError::NoHost);
        }
        if self.dot_segment {
            return Err(BuildError::DotSegment);
        }
        let relative = self.relative && !self.path.is_empty();
        if relative && self.host.is_some() {
            return Err(BuildError::RelativePath);
        }
        // `//` would start an authority, and a relative path that starts with a slash would not be relative.
        let empty_first = !self.path.is_empty() && self.first_segment_len == 0;
        let more = self.path.len() > 1;
        if empty_first && self.host.is_none() && (more || relative) {
            return Err(BuildError::EmptyFirstSegment);
        }
        if relative && self.scheme.is_none() {
            // A colon would make the first segment a scheme (`segment-nz-nc`, section 3.3).
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

/// Why a [`Builder`] cannot build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildError {
    /// The scheme is none (section 3.1).
    Scheme,
    /// There is userinfo or a port, and no host.
    NoHost,
    /// A segment is `.` or `..`, which no escape protects from being removed.
    DotSegment,
    /// The path is relative, and there is an authority.
    RelativePath,
    /// The first segment is empty, and there is no authority: the path would be read as one, or as absolute.
    EmptyFirstSegment,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildError::Scheme => "the scheme is not a letter and then letters, digits, '+', '-' and '.'",
            BuildError::NoHost => "there is userinfo or a port, but no host",
            BuildError::DotSegment => "a segment is \".\" or \"..\", which readers remove",
            BuildError::RelativePath => "the path is relative, but there is an authority",
            BuildError::EmptyFirstSegment => {
                "the first segment is empty, and there is no authority before it"
            }
        })
    }
}

impl core::error::Error for BuildError {}
