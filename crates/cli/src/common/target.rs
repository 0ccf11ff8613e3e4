//! Reads values by their kind. Some values of logs, such as the targets of requests (RFC 9112, section 3.2), do not have the
//! syntax of URI references, and neither does a URL that begins with its host.
//!
//! This module splits a value, or converts it as a reference with the same parts. [`Pieces`] are the values inside a URL.

use std::borrow::Cow;

use simdpct_records::Kind;
use simdpct_uri::{Offsets, Parts};

use super::reason::{Refusal, refuse};

/// Returns the prefix that turns `value` into a reference with the same parts. With `no_scheme`, a URL can begin with a host.
fn prefix(kind: Kind, value: &[u8], no_scheme: bool) -> &'static [u8] {
    match kind {
        // As a reference, a path that begins with two slashes would have a host. Browsers read backslashes as slashes, and remove tabs and
        // line ends. Two slashes inside the path count, too, because they can be at its start after dot segments were removed.
        Kind::Path if has_slashes(value) => b"/.",
        Kind::Authority if is_authority(value) => b"//",
        Kind::Query => b"?",
        Kind::Url | Kind::Text if no_scheme && host_without_scheme(value).is_some() => b"//",
        _ => b"",
    }
}

/// Returns the length of the blanks and controls at the start of `value`, and the value without those at either end, if
/// browsers remove them.
pub fn without_blanks(kind: Kind, value: &[u8]) -> (usize, &[u8]) {
    let is_blank = |byte: &&u8| matches!(kind, Kind::Url | Kind::Text) && **byte <= b' ';
    let start = value.iter().take_while(is_blank).count();
    let rest = &value[start..];
    (start, &rest[..rest.len() - rest.iter().rev().take_while(is_blank).count()])
}

/// Reports whether the path of `target` has a slash before a byte that browsers read as a slash or remove.
fn has_slashes(target: &[u8]) -> bool {
    let path = &target[..memchr::memchr(b'?', target).unwrap_or(target.len())];
    memchr::memchr_iter(b'/', path).any(|at| path.get(at + 1).is_some_and(|next| b"/\\\t\n\r".contains(next)))
}

/// Reports whether `value` is a host, with or without a port, and not a URL.
fn is_authority(value: &[u8]) -> bool {
    memchr::memchr3(b'/', b'?', b'#', value).is_none()
}

/// Returns the host at the start of `value`, with its port and userinfo, if `value` is a URL that has neither a scheme
/// nor slashes before the host: `example.com/a`, `localhost:80`, `[::1]`. A name and a colon are a scheme unless only
/// digits, and at least one, follow.
pub fn host_without_scheme(value: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr3(b'/', b'?', b'#', value).unwrap_or(value.len());
    let authority = &value[..end];
    let name_end = match authority {
        [b'[', ..] => memchr::memchr(b']', authority)? + 1,
        _ => memchr::memchr(b':', authority).unwrap_or(end),
    };
    let is_host = match authority.split_at(name_end) {
        (b"" | b"." | b"..", _) => false,
        (_, [b':', port @ ..]) => !port.is_empty() && port.iter().all(u8::is_ascii_digit),
        (_, after) => after.is_empty(),
    };
    is_host.then_some(authority)
}

/// Rejects a value that does not have the parts of a URL.
pub fn require_parts(kind: Kind, value: &[u8]) -> Result<(), Refusal> {
    match kind {
        Kind::DecodedPath => {
            Err(refuse("a `?` or `#` of this path was an escape, and would end the path of a URL"))
        }
        Kind::Authority if !is_authority(value) => Err(refuse("not a host and a port")),
        _ => Ok(()),
    }
}

/// Splits `value` into its parts, which are slices of the value, or of a copy in `buffer` with a prefix before it. With
/// `no_scheme`, a URL can begin with a host.
#[inline]
pub fn split<'a>(kind: Kind, value: &'a [u8], no_scheme: bool, buffer: &'a mut Vec<u8>) -> Parts<'a> {
    if matches!(kind, Kind::Path | Kind::DecodedPath) {
        return simdpct_uri::split_path(value);
    }
    let prefix = prefix(kind, value, no_scheme);
    if prefix.is_empty() {
        return simdpct_uri::split(value);
    }
    buffer.clear();
    buffer.extend_from_slice(prefix);
    buffer.extend_from_slice(value);
    simdpct_uri::split(&*buffer)
}

/// Returns the positions of the parts in `value`.
#[inline]
pub fn offsets(kind: Kind, value: &[u8]) -> Offsets {
    let mut buffer = Vec::new();
    let parts = split(kind, value, false, &mut buffer);
    let (at, before) = (parts.offsets(), parts.input().len() - value.len());
    let inside = |offset: usize| offset.saturating_sub(before);
    Offsets {
        scheme_end: inside(at.scheme_end),
        host_start: inside(at.host_start),
        host_end: inside(at.host_end),
        path_start: inside(at.path_start),
        path_end: inside(at.path_end),
        query_end: inside(at.query_end),
    }
}

/// Calls `convert` with a reference that means the same as `value`, and returns the prefix of the reference. The offsets of errors are
/// those of the value. `*` names no resource and is copied.
fn with_reference(
    kind: Kind,
    value: &[u8],
    no_scheme: bool,
    out: &mut Vec<u8>,
    convert: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Refusal>,
) -> Result<&'static [u8], Refusal> {
    if kind == Kind::Asterisk {
        out.extend_from_slice(value);
        return Ok(b"");
    }
    require_parts(kind, value)?;
    let prefix = prefix(kind, value, no_scheme);
    let reference = match prefix {
        b"" => Cow::Borrowed(value),
        prefix => Cow::Owned([prefix, value].concat()),
    };
    let inside =
        |refusal: Refusal| Refusal { offset: refusal.offset.saturating_sub(prefix.len()), ..refusal };
    convert(&reference, out).map_err(inside).map(|()| prefix)
}

/// Resolves `value` by `resolve`, which appends the target of a reference. Returns 0, because no layer of escapes is decoded. A query in a
/// column of its own is copied, because it is also the query of the target.
pub fn resolve(
    kind: Kind,
    value: &[u8],
    out: &mut Vec<u8>,
    resolve: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Refusal>,
) -> Result<usize, Refusal> {
    let kind = if kind == Kind::Query { Kind::Asterisk } else { kind };
    with_reference(kind, value, false, out, resolve).map(|_| 0)
}

/// Converts `value` by `convert`, which converts references, and appends the result as a value of the same kind. Returns 0, because no layer
/// of escapes is decoded. A result that would be of another kind is rejected.
pub fn convert(
    kind: Kind,
    value: &[u8],
    no_scheme: bool,
    out: &mut Vec<u8>,
    convert: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Refusal>,
) -> Result<usize, Refusal> {
    let start = out.len();
    let prefix = with_reference(kind, value, no_scheme, out, convert)?;
    let result = &out[start..];
    let (len, is_same) = match kind {
        // The conversion removes the prefix `/.` itself, unless the rest would be read as a host.
        Kind::Path if !prefix.is_empty() && result.starts_with(b"/./") => (prefix.len(), true),
        Kind::Path => (0, result.starts_with(b"/")),
        Kind::Authority | Kind::Query => {
            let rest = result.strip_prefix(prefix);
            (
                prefix.len(),
                rest.is_some_and(|rest| kind == Kind::Query || prefix.is_empty() || is_authority(rest)),
            )
        }
        // A URL that began with a host does so again, if that is possible.
        Kind::Url | Kind::Text if !prefix.is_empty() => {
            let rest = result.strip_prefix(prefix);
            (if rest.and_then(host_without_scheme).is_some() { prefix.len() } else { 0 }, true)
        }
        Kind::Url | Kind::Text => {
            // A name and an escape after a colon were a scheme and a path, but a name and digits are a host and a port.
            let is_host = |url| no_scheme && host_without_scheme(url).is_some();
            (0, !is_host(result) || is_host(value))
        }
        Kind::Asterisk | Kind::DecodedPath => return Ok(0),
    };
    if !is_same {
        let what = match kind {
            Kind::Path => "a path",
            Kind::Query => "a query",
            Kind::Url | Kind::Text => "a URL with the same host",
            _ => "a host and a port",
        };
        return Err(refuse(format!("the result would not be {what}")));
    }
    out.drain(start..start + len);
    Ok(0)
}

/// An iterator over the values of a URL that can have different charsets: the segments of the path, the names and
/// values of the query, and the fragment. Each item also has the delimiter after the value, which is empty at the end.
pub struct Pieces<'a> {
    rest: Option<&'a [u8]>,
    next: Next,
}

/// The kind of the next value.
#[derive(Clone, Copy)]
enum Next {
    Segment,
    Name,
    Value,
    /// A value that ends before any of these bytes.
    Until(&'static [u8]),
}

impl<'a> Pieces<'a> {
    /// Returns the values of a URL from its path on, or from the `?` of its query on.
    pub fn from_path(rest: &'a [u8]) -> Pieces<'a> {
        Pieces { rest: Some(rest), next: Next::Segment }
    }

    /// Returns the values between `delimiters`.
    pub fn between(rest: &'a [u8], delimiters: &'static [u8]) -> Pieces<'a> {
        Pieces { rest: Some(rest), next: Next::Until(delimiters) }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let delimiters: &[u8] = match self.next {
            Next::Segment => b"/?#",
            Next::Name => b"&=#",
            // Further equals signs belong to the value.
            Next::Value => b"&#",
            Next::Until(delimiters) => delimiters,
        };
        let len = rest.iter().position(|byte| delimiters.contains(byte)).unwrap_or(rest.len());
        let (value, rest) = rest.split_at(len);
        let Some((delimiter, rest)) = rest.split_at_checked(1) else { return Some((value, rest)) };
        self.next = match (self.next, delimiter) {
            (Next::Until(_), _) | (_, b"/") => self.next,
            (_, b"=") => Next::Value,
            (_, b"#") => Next::Until(b""),
            _ => Next::Name,
        };
        self.rest = Some(rest);
        Some((value, delimiter))
    }
}
