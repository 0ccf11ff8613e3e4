//! Components to a URI, and references to their target.

use alloc::vec::Vec;
use core::fmt;

use crate::class::is_scheme;
use crate::parts::{Parts, split};

/// The five components of a URI, as they are written, to be joined (RFC 3986, section 5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Components<'a> {
    /// Without its colon.
    pub scheme: Option<&'a [u8]>,
    /// Without `//`.
    pub authority: Option<&'a [u8]>,
    /// With its slashes.
    pub path: &'a [u8],
    /// Without `?`.
    pub query: Option<&'a [u8]>,
    /// Without `#`.
    pub fragment: Option<&'a [u8]>,
}

impl<'a> From<Parts<'a>> for Components<'a> {
    fn from(parts: Parts<'a>) -> Components<'a> {
        Components {
            scheme: parts.scheme(),
            authority: parts.authority(),
            path: parts.path(),
            query: parts.query(),
            fragment: parts.fragment().map(|fragment| fragment.raw()),
        }
    }
}

impl Components<'_> {
    /// Joins them (RFC 3986, section 5.3): the components of [`split`] give its input back.
    ///
    /// Nothing is escaped; [`Builder`](crate::Builder) does that. A path that would be read as something else gets a segment
    /// `.` before it, which changes nothing of what it means: `/.` before one that starts with `//`, without an authority;
    /// `./` before one whose first segment would be read as a scheme, without a scheme and an authority.
    ///
    /// ```
    /// use simdpct_uri::{Components, split};
    ///
    /// let url = "http://example.com/a?b#c";
    /// assert_eq!(Components::from(split(url)).join(), url.as_bytes());
    /// let new = Components { path: b"/new", query: None, ..split(url).into() };
    /// assert_eq!(new.join(), b"http://example.com/new#c");
    /// assert_eq!(Components { path: b"//a", ..Components::default() }.join(), b"/.//a");
    /// ```
    #[must_use]
    pub fn join(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.join_append(&mut out);
        out
    }

    /// Joins them and appends the result to `out`. See [`Components::join`].
    pub fn join_append(&self, out: &mut Vec<u8>) {
        self.append_before_path(out);
        out.extend_from_slice(guard(self.scheme.is_some(), self.authority.is_some(), self.path));
        out.extend_from_slice(self.path);
        self.append_after_path(out);
    }

    fn append_before_path(&self, out: &mut Vec<u8>) {
        if let Some(scheme) = self.scheme {
            out.extend_from_slice(scheme);
            out.push(b':');
        }
        if let Some(authority) = self.authority {
            out.extend_from_slice(b"//");
            out.extend_from_slice(authority);
        }
    }

    fn append_after_path(&self, out: &mut Vec<u8>) {
        if let Some(query) = self.query {
            out.push(b'?');
            out.extend_from_slice(query);
        }
        if let Some(fragment) = self.fragment {
            out.push(b'#');
            out.extend_from_slice(fragment);
        }
    }
}

/// What has to stand before `path`, so that it is not read as an authority or a scheme.
pub(crate) fn guard(has_scheme: bool, has_authority: bool, path: &[u8]) -> &'static [u8] {
    if has_authority {
        return b"";
    }
    if path.starts_with(b"//") {
        return b"/.";
    }
    let colon = (!has_scheme).then(|| memchr::memchr2(b':', b'/', path)).flatten();
    match colon {
        Some(at) if path[at] == b':' && is_scheme(&path[..at]) => b"./",
        _ => b"",
    }
}

/// Removes the segments `.` and `..` of a path (RFC 3986, section 5.2.4), and appends the result to `out`.
///
/// Takes time linear in the path. Escaped dots are not dots here; decode them first, as
/// [`Profile::Rfc3986`](crate::canon::Profile::Rfc3986) does.
///
/// ```
/// let mut out = Vec::new();
/// simdpct_uri::remove_dot_segments(b"/a/b/c/./../../g", &mut out);
/// assert_eq!(out, b"/a/g");
/// ```
pub fn remove_dot_segments(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut left = path;
    // A: a relative path loses the dots that it starts with.
    loop {
        left = match left {
            b"." | b".." => b"",
            [b'.', b'/', rest @ ..] | [b'.', b'.', b'/', rest @ ..] => rest,
            _ => break,
        };
    }
    // E, for a segment that no slash comes before.
    if !left.is_empty() && left[0] != b'/' {
        let end = memchr::memchr(b'/', left).unwrap_or(left.len());
        out.extend_from_slice(&left[..end]);
        left = &left[end..];
    }
    // Every segment now has a slash before it.
    while let Some(rest) = left.strip_prefix(b"/") {
        let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
        let (segment, after) = rest.split_at(end);
        match segment {
            // B and C: the segment goes, and one before it; a slash stays if it was the last.
            b"." => {}
            b".." => {
                let parent = memchr::memrchr(b'/', &out[start..]).unwrap_or(0);
                out.truncate(start + parent);
            }
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
        if after.is_empty() && matches!(segment, b"." | b"..") {
            out.push(b'/');
        }
        left = after;
    }
}

/// Whether a reference that has the scheme of its base may be relative all the same (RFC 3986, section 5.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// `http:g` is a URI of its own.
    #[default]
    Strict,
    /// With a base of the same scheme, in either case, `http:g` is the relative reference `g`, as some old parsers have it.
    Lenient,
}

/// The target of `reference` as seen from `base` (RFC 3986, section 5.2), strictly.
///
/// # Errors
///
/// [`RelativeBase`] if `base` has no scheme.
///
/// ```
/// use simdpct_uri::resolve;
///
/// assert_eq!(resolve("http://a/b/c/d;p?q", "../g")?, b"http://a/b/g");
/// assert_eq!(resolve("http://a/b/c/d;p?q", "?y")?, b"http://a/b/c/d;p?y");
/// # Ok::<(), simdpct_uri::RelativeBase>(())
/// ```
pub fn resolve(
    base: &(impl AsRef<[u8]> + ?Sized),
    reference: &(impl AsRef<[u8]> + ?Sized),
) -> Result<Vec<u8>, RelativeBase> {
    let mut out = Vec::new();
    resolve_append(split(base), split(reference), Strictness::Strict, &mut out)?;
    Ok(out)
}

/// The target of `reference` as seen from `base` (RFC 3986, section 5.2), appended to `out`.
///
/// Takes time linear in the inputs. A path that would be read as an authority or a scheme gets a segment `.` before it, as
/// with [`Components::join`]; RFC 3986 says nothing of these.
///
/// # Errors
///
/// [`RelativeBase`] if `base` has no scheme; `out` is as it was.
pub fn resolve_append(
    base: Parts<'_>,
    reference: Parts<'_>,
    strictness: Strictness,
    out: &mut Vec<u8>,
) -> Result<(), RelativeBase> {
    let base_scheme = base.scheme().ok_or(RelativeBase)?;
    let mut r = Components::from(reference);
    let base = Components::from(base);
    let same = |scheme: &[u8]| scheme.eq_ignore_ascii_case(base_scheme);
    if strictness == Strictness::Lenient && r.scheme.is_some_and(same) {
        r.scheme = None;
    }

    // Section 5.2.2. The path of the target is a path without dot segments, or two that are merged.
    let (mut target, mut merged) = (r, None);
    let mut remove = true;
    if r.scheme.is_none() {
        target.scheme = base.scheme;
        if r.authority.is_none() {
            target.authority = base.authority;
            if r.path.is_empty() {
                target.path = base.path;
                target.query = r.query.or(base.query);
                remove = false;
            } else if !r.path.starts_with(b"/") {
                // Section 5.2.3.
                let before = if base.authority.is_some() && base.path.is_empty() {
                    &b"/"[..]
                } else {
                    &base.path[..memchr::memrchr(b'/', base.path).map_or(0, |slash| slash + 1)]
                };
                merged = Some([before, r.path].concat());
            }
        }
    }
    let path = merged.as_deref().unwrap_or(target.path);
    target.append_before_path(out);
    if remove {
        append_without_dots(target.authority.is_some(), path, out);
    } else {
        out.extend_from_slice(path);
    }
    target.append_after_path(out);
    Ok(())
}

/// Appends a path without its dot segments, and if what is left would be read as an authority, `/.` before it. There is a
/// scheme, or the path starts with a slash.
pub(crate) fn append_without_dots(has_authority: bool, path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    remove_dot_segments(path, out);
    let guard = guard(true, has_authority, &out[start..]);
    if !guard.is_empty() {
        out.splice(start..start, guard.iter().copied());
    }
}

/// The base of a resolution has no scheme, so it is no URI (RFC 3986, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelativeBase;

impl fmt::Display for RelativeBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the base has no scheme, so nothing can be resolved against it")
    }
}

impl core::error::Error for RelativeBase {}
