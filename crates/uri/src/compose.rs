//! Joins components to a URI, and resolves references against a base.

use alloc::vec::Vec;
use core::fmt;

use simdpct::{ByteSet, Encode};

use crate::class::is_scheme;
use crate::parts::{Parts, split};
use crate::text::{Source, Text, copy};

/// The five components of a URI as they are written (RFC 3986, section 5.3).
///
/// To change one component of a URL, take the others from its [`Parts`]; [`Components::join`] has an example.
#[derive(Debug, PartialEq, Eq)]
pub struct Components<'a, T: Text + ?Sized = [u8]> {
    /// The scheme, without its colon.
    pub scheme: Option<&'a T>,
    /// The authority: userinfo, host and port, without the `//` before them.
    pub authority: Option<&'a T>,
    /// The path, with all its slashes.
    pub path: &'a T,
    /// The query, without `?`.
    pub query: Option<&'a T>,
    /// The fragment, without `#`.
    pub fragment: Option<&'a T>,
}

copy! { Components }

/// The components of the empty reference.
impl<T: Text + ?Sized> Default for Components<'_, T> {
    fn default() -> Self {
        Components { scheme: None, authority: None, path: T::EMPTY, query: None, fragment: None }
    }
}

impl<'a, T: Text + ?Sized> From<Parts<'a, T>> for Components<'a, T> {
    fn from(parts: Parts<'a, T>) -> Components<'a, T> {
        Components {
            scheme: parts.scheme(),
            authority: parts.authority(),
            path: parts.path(),
            query: parts.query(),
            fragment: parts.fragment().map(|fragment| fragment.raw()),
        }
    }
}

impl<T: Text + ?Sized> Components<'_, T> {
    /// Joins the components (RFC 3986, section 5.3). The components of a [`split`] join to its input, except that an invalid reference such
    /// as `1:x` becomes `./1:x`.
    ///
    /// Components from other sources are made safe to split. A byte that would end its component is escaped: `/`, `?`
    /// and `#` in an authority, these and `:` in a scheme, `?` and `#` in a path, `#` in a query. To escape data, use
    /// [`Builder`](crate::Builder), which escapes more bytes. A path that would be read as another component gets a
    /// prefix: `/` after an authority if the path does not start with a slash; `/.` before a path that starts with
    /// `//`, if there is no authority; `./` before a path whose first segment has a colon, if there is neither scheme
    /// nor authority (section 4.2). An invalid scheme makes a relative reference, which gets `./`, too. Takes time
    /// linear in the components.
    ///
    /// ```
    /// use simdpct_uri::{Components, split};
    ///
    /// let url = "http://example.com/a?b#c";
    /// assert_eq!(Components::from(split(url)).join(), url);
    /// let new = Components { path: "/new", query: None, ..split(url).into() };
    /// assert_eq!(new.join(), "http://example.com/new#c");
    /// assert_eq!(Components { path: "//a", ..Components::default() }.join(), "/.//a");
    /// assert_eq!(Components { path: "1:x", ..Components::default() }.join(), "./1:x");
    /// assert_eq!(Components { path: ".evil.com", ..split("http://a.com").into() }.join(), "http://a.com/.evil.com");
    /// ```
    #[must_use]
    pub fn join(&self) -> T::Owned {
        let mut out = Vec::new();
        self.join_append(&mut out);
        T::from_parts(out)
    }

    /// Joins the components and appends the result to `out`. See [`Components::join`].
    pub fn join_append(&self, out: &mut Vec<u8>) {
        let path = self.path.as_ref();
        let has_invalid_colon = match (self.scheme, self.authority) {
            (Some(scheme), _) => !is_scheme(scheme.as_ref()),
            (None, Some(_)) => false,
            (None, None) => memchr::memchr2(b':', b'/', path).is_some_and(|at| path[at] == b':'),
        };
        if has_invalid_colon {
            out.extend_from_slice(b"./");
        }
        self.append_before_path(out);
        out.extend_from_slice(guard(self.authority.is_some(), path));
        PATH.encode_append(path, out);
        self.append_after_path(out);
    }

    fn append_before_path(&self, out: &mut Vec<u8>) {
        if let Some(scheme) = self.scheme {
            SCHEME.encode_append(scheme, out);
            out.push(b':');
        }
        if let Some(authority) = self.authority {
            out.extend_from_slice(b"//");
            AUTHORITY.encode_append(authority, out);
        }
    }

    fn append_after_path(&self, out: &mut Vec<u8>) {
        if let Some(query) = self.query {
            out.push(b'?');
            QUERY.encode_append(query, out);
        }
        if let Some(fragment) = self.fragment {
            out.push(b'#');
            out.extend_from_slice(fragment.as_ref());
        }
    }
}

/// Returns an encoder that escapes `delimiters`, the bytes that would end a component, and keeps all other bytes.
const fn without(delimiters: &[u8]) -> Encode<ByteSet> {
    Encode::keeping(ByteSet::from_bytes(delimiters).complement())
}

static SCHEME: Encode<ByteSet> = without(b":/?#");
static AUTHORITY: Encode<ByteSet> = without(b"/?#");
static PATH: Encode<ByteSet> = without(b"?#");
static QUERY: Encode<ByteSet> = without(b"#");

/// Returns the prefix that keeps `path` from being read as a part of the authority, or as an authority: `/`, `/.` or nothing.
fn guard(has_authority: bool, path: &[u8]) -> &'static [u8] {
    match has_authority {
        true if path.is_empty() || path.starts_with(b"/") => b"",
        true => b"/",
        false if path.starts_with(b"//") => b"/.",
        false => b"",
    }
}

/// Removes the segments `.` and `..` of a path (RFC 3986, section 5.2.4).
///
/// Takes time linear in the path. An escaped dot (`%2E`) is not a dot here; [`Profile::Rfc3986`](crate::canon::Profile::Rfc3986)
/// decodes such dots first.
///
/// ```
/// assert_eq!(simdpct_uri::remove_dot_segments("/a/b/c/./../../g"), "/a/g");
/// ```
pub fn remove_dot_segments<T: Text + ?Sized>(path: &(impl Source<Text = T> + ?Sized)) -> T::Owned {
    let mut out = Vec::new();
    append_without_dot_segments(path.text().as_ref(), false, &mut out);
    T::from_parts(out)
}

/// Appends the path without its dot segments to `out`. See [`remove_dot_segments`]. If `keeps_parents`, a `..` without a segment before it
/// stays, and the next `..` removes it.
///
/// The serializer of the URL Standard has its own loop, because it also reads escaped dots and keeps drive letters.
pub(crate) fn append_without_dot_segments(path: &[u8], keeps_parents: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let mut left = path;
    // Steps A and D of RFC 3986, section 5.2.4: a relative path loses the dot segments that it starts with.
    loop {
        left = match left {
            b"." | b".." => b"",
            [b'.', b'/', rest @ ..] | [b'.', b'.', b'/', rest @ ..] => rest,
            _ => break,
        };
    }
    // Step E of section 5.2.4 copies a first segment that has no slash before it.
    if !left.is_empty() && left[0] != b'/' {
        let end = memchr::memchr(b'/', left).unwrap_or(left.len());
        out.extend_from_slice(&left[..end]);
        left = &left[end..];
    }
    // Every remaining segment has a slash before it.
    while let Some(rest) = left.strip_prefix(b"/") {
        let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
        let (segment, after) = rest.split_at(end);
        match segment {
            // Steps B and C of section 5.2.4 remove the segment, and for `..` also the segment before it. If the removed segment
            // was the last, a slash remains.
            b"." => {}
            b".." if !keeps_parents || out.len() > start => {
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

/// The way to resolve a reference that has the same scheme as its base (RFC 3986, section 5.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A reference such as `http:g` is always an absolute URI.
    Strict,
    /// A reference such as `http:g` means the relative reference `g` if its base has the same scheme, compared without regard to case.
    /// Some old parsers do this.
    Lenient,
}

/// Resolves `reference` against `base`, with [`Strictness::Strict`] (RFC 3986, section 5.2).
///
/// Takes time linear in the inputs. See [`resolve_append`] for the cases that RFC 3986 leaves open.
///
/// # Errors
///
/// [`RelativeBase`] if `base` has no scheme.
///
/// ```
/// use simdpct_uri::resolve;
///
/// assert_eq!(resolve("http://a/b/c/d;p?q", "../g")?, "http://a/b/g");
/// assert_eq!(resolve("http://a/b/c/d;p?q", "?y")?, "http://a/b/c/d;p?y");
/// assert_eq!(resolve(b"http://a/", b"\xFF")?, b"http://a/\xFF");
/// # Ok::<(), simdpct_uri::RelativeBase>(())
/// ```
pub fn resolve<T: Text + ?Sized>(
    base: &(impl Source<Text = T> + ?Sized),
    reference: &(impl Source<Text = T> + ?Sized),
) -> Result<T::Owned, RelativeBase> {
    let mut out = Vec::new();
    append_target(split(base).into(), split(reference).into(), Strictness::Strict, &mut out)?;
    Ok(T::from_parts(out))
}

/// Resolves `reference` against `base` (RFC 3986, section 5.2), and appends the target to `out`.
///
/// Takes time linear in the inputs. If the path of the target would be read as an authority, `/.` is inserted before it, as by
/// [`Components::join`]; RFC 3986 does not cover this case.
///
/// # Errors
///
/// [`RelativeBase`] if `base` has no scheme; `out` is then unchanged.
///
/// ```
/// use simdpct_uri::{Strictness, resolve_append};
///
/// let mut out = Vec::new();
/// resolve_append("http://a/b/c", "http:d", Strictness::Lenient, &mut out)?;
/// assert_eq!(out, b"http://a/b/d");
/// # Ok::<(), simdpct_uri::RelativeBase>(())
/// ```
pub fn resolve_append(
    base: &(impl AsRef<[u8]> + ?Sized),
    reference: &(impl AsRef<[u8]> + ?Sized),
    strictness: Strictness,
    out: &mut Vec<u8>,
) -> Result<(), RelativeBase> {
    append_target(split(base.as_ref()).into(), split(reference.as_ref()).into(), strictness, out)
}

fn append_target<T: Text + ?Sized>(
    base: Components<'_, T>,
    mut r: Components<'_, T>,
    strictness: Strictness,
    out: &mut Vec<u8>,
) -> Result<(), RelativeBase> {
    let base_scheme = base.scheme.ok_or(RelativeBase)?;
    let same = |scheme: &T| scheme.as_ref().eq_ignore_ascii_case(base_scheme.as_ref());
    if strictness == Strictness::Lenient && r.scheme.is_some_and(same) {
        r.scheme = None;
    }

    // These are the steps of RFC 3986, section 5.2.2. `merged` is the target path if it joins the paths of base and reference.
    let (mut target, mut merged) = (r, None);
    let (base_path, path) = (base.path.as_ref(), r.path.as_ref());
    let mut remove = true;
    if r.scheme.is_none() {
        target.scheme = base.scheme;
        if r.authority.is_none() {
            target.authority = base.authority;
            if path.is_empty() {
                target.path = base.path;
                target.query = r.query.or(base.query);
                remove = false;
            } else if !path.starts_with(b"/") {
                // RFC 3986, section 5.2.3: the path of the reference replaces the part of the base path after its last slash.
                let before = if base.authority.is_some() && base_path.is_empty() {
                    &b"/"[..]
                } else {
                    &base_path[..memchr::memrchr(b'/', base_path).map_or(0, |slash| slash + 1)]
                };
                merged = Some([before, path].concat());
            }
        }
    }
    let path = merged.as_deref().unwrap_or(target.path.as_ref());
    target.append_before_path(out);
    if remove {
        append_without_dots(target.authority.is_some(), path, out);
    } else {
        out.extend_from_slice(path);
    }
    target.append_after_path(out);
    Ok(())
}

/// Appends `path` without its dot segments, after `/.` if the rest would be read as an authority. The caller guarantees that
/// there is a scheme, or that the path starts with a slash.
pub(crate) fn append_without_dots(has_authority: bool, path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    append_without_dot_segments(path, false, out);
    let guard = guard(has_authority, &out[start..]);
    if !guard.is_empty() {
        out.splice(start..start, guard.iter().copied());
    }
}

/// The error of [`resolve`] and [`resolve_append`]: the base has no scheme, so it is not a URI (RFC 3986, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelativeBase;

impl fmt::Display for RelativeBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the base URL has no scheme, so references cannot be resolved against it")
    }
}

impl core::error::Error for RelativeBase {}
