//! Parses and serializes URLs by the URL Standard of 2 July 2026 (<https://url.spec.whatwg.org/>, commit 6ae8486), sections 4.4 and 4.5.
//!
//! The standard has a machine of 20 states that reads one code point at a time. The states scan only for delimiters.
//! These are the delimiters of RFC 3986 after two steps: blanks at the ends, tabs and line ends are removed, and in a
//! special URL each backslash before the query becomes a slash. So the kernel of [`split`] cuts the URL, and each part
//! is written to the output in its final form. The function for a part names the states that it replaces.
//!
//! Three rules of this module change bytes that are already written: `..` and a relative reference remove the last segment, `/.` is
//! inserted before a path that would be read as an authority, and the `file` host `localhost` is removed.

use alloc::vec::Vec;

use memchr::{memchr, memrchr};
use simdpct::{AsciiSet, Encode, sets};

use super::error::{CanonicalizeError, Reason};
use super::host;
use super::shared::{has_pair, trim, without_line_ends};
use crate::host::{port_number, special_port};
use crate::offsets::Offsets;
use crate::parts::{Parts, split};
use crate::reference::split_authority;

static USERINFO: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_USERINFO);
static PATH: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_PATH);
static OPAQUE_PATH: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_C0_CONTROL);
static QUERY: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_QUERY);
static SPECIAL_QUERY: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_SPECIAL_QUERY);
static FRAGMENT: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_FRAGMENT);

/// The kind of a scheme. The standard calls the first two special (section 4.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A special scheme with this default port.
    Network(u16),
    File,
    Other,
}

impl Kind {
    /// Returns the kind of a scheme in lower case.
    fn of(scheme: &[u8]) -> Kind {
        match special_port(scheme) {
            Some(port) => Kind::Network(port),
            None if scheme == b"file" => Kind::File,
            None => Kind::Other,
        }
    }
}

/// Appends the serialization of `input`. A relative reference is resolved against `base`, which must be split from a serialization. If the
/// URL is not valid, `out` may hold a part of it afterwards. The standard takes only UTF-8: if `input` is not UTF-8, only the host of the
/// result has a meaning. The offset of an error counts the bytes of `input` that the parser does not remove.
///
/// Replaces the states "scheme start", "scheme", "no scheme", "special relative or authority" and "path or authority".
pub(super) fn append(
    input: &[u8],
    base: Option<Parts<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), CanonicalizeError> {
    let input = without_line_ends(trim(input));
    let mut url = split(&*input);
    let relative = CanonicalizeError { reason: Reason::Relative, offset: 0 };
    let Some(scheme) = url.scheme().or(base.and_then(|base| base.scheme())) else { return Err(relative) };
    let start = out.len();
    out.reserve(input.len() + 8);
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    let kind = Kind::of(&out[start..]);
    // `http:a` and `file:a` are relative to a base with the same scheme.
    let is_same = |base: &Parts<'_>| kind != Kind::Other && base.scheme() == Some(&out[start..]);
    let base = base.filter(|base| !url.is_uri() || is_same(base));
    let is_opaque = |base: Parts<'_>| base.authority().is_none() && !base.path().starts_with(b"/");
    if base.is_some_and(is_opaque) && !input.starts_with(b"#") {
        return Err(relative);
    }
    out.push(b':');

    let mut with_slashes;
    let at = url.offsets();
    if kind != Kind::Other && memchr(b'\\', &input[..at.path_end]).is_some() {
        with_slashes = input.to_vec();
        let backslashes = with_slashes[..at.path_end].iter_mut().filter(|byte| **byte == b'\\');
        backslashes.for_each(|byte| *byte = b'/');
        url = split(&with_slashes);
    }
    let rest = &url.input()[at.after_scheme()..at.path_end];
    let slashes = rest.iter().take_while(|&&byte| byte == b'/').count();
    let start = out.len();
    let mut writer = Writer { kind, out, start, path: start };
    match (kind, slashes, base) {
        // `http:a`, `http:/a` and `http:////a` are read as `http://a`.
        (Kind::Network(_), 2.., _) | (Kind::Network(_), _, None) => writer.authority(url, slashes)?,
        (Kind::File, 2.., _) => writer.file_host(url)?,
        (Kind::Other, 2.., _) => writer.authority(url, 2)?,
        (_, _, Some(base)) => writer.relative(rest, base),
        (Kind::Other, 0, None) => writer.opaque_path(rest),
        (Kind::Other, ..) => writer.path_start(rest),
        (Kind::File, ..) => {
            writer.out.extend_from_slice(b"//");
            writer.path_start(rest);
        }
    }

    // A reference that is empty before its fragment has the query of its base.
    let inherited = || base.filter(|_| rest.is_empty()).and_then(|base| base.query());
    if let Some(query) = url.query().or_else(inherited) {
        writer.query(query);
    }
    if let Some(fragment) = url.fragment() {
        writer.fragment(fragment.raw());
    }
    Ok(())
}

/// Writes the parts of one URL.
struct Writer<'o> {
    kind: Kind,
    out: &'o mut Vec<u8>,
    /// The offset after the scheme and its colon.
    start: usize,
    /// The offset of the path. It equals `start` if the host is null.
    path: usize,
}

impl Writer<'_> {
    /// Writes the authority of `url`, which has `slashes` slashes before it, and the path.
    ///
    /// Replaces the states "special authority slashes", "special authority ignore slashes", "authority", "host" and "port".
    fn authority(&mut self, url: Parts<'_>, slashes: usize) -> Result<(), CanonicalizeError> {
        let input = url.input();
        let mut at = url.offsets();
        let start = at.after_scheme() + slashes;
        if slashes != 2 {
            // `split` takes the text after another number of slashes for a path, so its authority is split here.
            let path = memchr(b'/', &input[start..at.path_end]);
            let path_start = path.map_or(at.path_end, |length| start + length);
            let (host_start, host_end) = split_authority(&input[start..path_start]);
            at = Offsets { host_start: start + host_start, host_end: start + host_end, path_start, ..at };
        }
        self.out.extend_from_slice(b"//");
        if at.host_start > start {
            self.userinfo(&input[start..at.host_start - 1]);
        }
        let host = &input[at.host_start..at.host_end];
        // The host may be empty only in URLs such as `sc://` and `sc:///a`, without userinfo and port.
        let is_empty = self.kind == Kind::Other && start == at.path_start;
        if host.is_empty() && !is_empty || host::append(host, self.kind == Kind::Other, self.out).is_none() {
            return Err(CanonicalizeError { reason: Reason::Host, offset: at.host_start });
        }
        if let Some(port) = input.get(at.host_end + 1..at.path_start) {
            self.port(port).ok_or(CanonicalizeError { reason: Reason::Port, offset: at.host_end + 1 })?;
        }
        self.path_start(&input[at.path_start..at.path_end]);
        Ok(())
    }

    /// Writes the username and the password, unless both are empty. All colons but the first are escaped.
    fn userinfo(&mut self, userinfo: &[u8]) {
        let name_len = memchr(b':', userinfo).unwrap_or(userinfo.len());
        let (name, password) = (&userinfo[..name_len], userinfo.get(name_len + 1..).unwrap_or_default());
        USERINFO.encode_append(name, self.out);
        if !password.is_empty() {
            self.out.push(b':');
            USERINFO.encode_append(password, self.out);
        }
        if !name.is_empty() || !password.is_empty() {
            self.out.push(b'@');
        }
    }

    /// Writes a port with its colon, unless it is empty or the default. Returns `None` if it is not a number of 16 bits.
    fn port(&mut self, port: &[u8]) -> Option<()> {
        if !port.is_empty() && self.kind != Kind::Network(port_number(port)?) {
            let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
            self.out.push(b':');
            self.out.extend_from_slice(&port[zeros.min(port.len() - 1)..]);
        }
        Some(())
    }

    /// Writes host and path of a `file` URL with two or more slashes after its scheme.
    ///
    /// Replaces the state "file host". There is neither userinfo nor a port: `@` and `:` are not valid in a host.
    fn file_host(&mut self, url: Parts<'_>) -> Result<(), CanonicalizeError> {
        let (input, at) = (url.input(), url.offsets());
        let host_start = at.after_scheme() + 2;
        let mut path_start = at.path_start;
        self.out.extend_from_slice(b"//");
        let start = self.out.len();
        let host = &input[host_start..path_start];
        if is_drive_letter(host) {
            path_start = host_start;
        } else if !host.is_empty() {
            let invalid = CanonicalizeError { reason: Reason::Host, offset: host_start };
            host::append(host, false, self.out).ok_or(invalid)?;
            if &self.out[start..] == b"localhost" {
                self.out.truncate(start);
            }
        }
        self.path_start(&input[path_start..at.path_end]);
        Ok(())
    }

    /// Writes a reference that has no authority of its own. Authority, drive letter and the start of the path are those of the base.
    ///
    /// Replaces the states "relative", "relative slash", "file" and "file slash".
    fn relative(&mut self, path: &[u8], base: Parts<'_>) {
        let at = base.offsets();
        self.out.extend_from_slice(&base.input()[at.after_scheme()..at.path_start]);
        self.path = self.out.len();
        let has_drive = |path: &[u8]| {
            let path = path.strip_prefix(b"/").unwrap_or(path);
            self.kind == Kind::File
                && is_drive_letter(&path[..path.len().min(2)])
                && matches!(path.get(2), None | Some(b'/'))
        };
        let inherited = match path.first() {
            None => return self.out.extend_from_slice(base.path()),
            Some(_) if has_drive(path) => &[],
            Some(b'/') if has_drive(base.path()) => &base.path()[..3],
            Some(b'/') => &[],
            // The serializer inserted `/.` before this path, so the path of the base starts after it.
            Some(_) if base.path().starts_with(b"/.//") => &base.path()[2..],
            Some(_) => base.path(),
        };
        self.out.extend_from_slice(inherited);
        if path[0] != b'/' {
            self.remove_last_segment();
        }
        self.path(path);
    }

    /// Writes the path after an authority, or after the scheme of a URL without one. The path may be empty only if the URL is not special.
    ///
    /// Replaces the state "path start".
    fn path_start(&mut self, path: &[u8]) {
        self.path = self.out.len();
        if self.kind != Kind::Other || !path.is_empty() {
            self.path(path);
        }
    }

    /// Writes a path, or the part of a path that is not inherited. A slash at its start is optional.
    ///
    /// Replaces the state "path".
    fn path(&mut self, path: &[u8]) {
        let path = path.strip_prefix(b"/").unwrap_or(path);
        if may_have_odd_segment(path) {
            self.segments(path);
        } else {
            self.out.push(b'/');
            PATH.encode_append(path, self.out);
        }
        // Without a host, the serializer writes `/.` before a path that would be read as an authority (section 4.5).
        if self.path == self.start && self.out[self.path..].starts_with(b"//") {
            self.out.splice(self.path..self.path, *b"/.");
        }
    }

    /// Writes a path segment by segment.
    fn segments(&mut self, path: &[u8]) {
        let mut ends_in_dots = false;
        for segment in path.split(|&byte| byte == b'/') {
            let dots = dots(segment);
            ends_in_dots = dots > 0;
            if dots == 2 {
                self.remove_last_segment();
            } else if dots == 0 {
                let is_first = self.out.len() == self.path;
                self.out.push(b'/');
                if is_first && self.kind == Kind::File && is_drive_letter(segment) {
                    self.out.extend_from_slice(&[segment[0], b':']);
                } else {
                    PATH.encode_append(segment, self.out);
                }
            }
        }
        if ends_in_dots {
            self.out.push(b'/');
        }
    }

    /// Removes the last segment of the path, unless it is a drive letter and the only segment. The standard calls this shortening the path.
    fn remove_last_segment(&mut self) {
        let path = &self.out[self.path..];
        let is_drive = matches!(path, [b'/', name @ ..] if is_drive_letter(name));
        if self.kind != Kind::File || !is_drive {
            let slash = memrchr(b'/', path).unwrap_or(0);
            self.out.truncate(self.path + slash);
        }
    }

    /// Writes a path without a slash at its start, like that of `mailto:a`.
    ///
    /// Replaces the state "opaque path". Escapes the last of the spaces before a query or a fragment.
    fn opaque_path(&mut self, path: &[u8]) {
        let without_space = path.strip_suffix(b" ");
        OPAQUE_PATH.encode_append(without_space.unwrap_or(path), self.out);
        if without_space.is_some() {
            self.out.extend_from_slice(b"%20");
        }
    }

    /// Writes a query. Replaces the state "query".
    fn query(&mut self, query: &[u8]) {
        let encode = if self.kind == Kind::Other { &QUERY } else { &SPECIAL_QUERY };
        self.out.push(b'?');
        encode.encode_append(query, self.out);
    }

    /// Writes a fragment. Replaces the state "fragment".
    fn fragment(&mut self, fragment: &[u8]) {
        self.out.push(b'#');
        FRAGMENT.encode_append(fragment, self.out);
    }
}

/// Reports whether a path without its first slash may have a dot segment or a drive letter. All other paths are escaped in one call.
fn may_have_odd_segment(path: &[u8]) -> bool {
    has_pair(path, |byte, next| (byte == b'/') & ((next == b'.') | (next == b'%')))
        || matches!(path, [b'.' | b'%', ..] | [_, b':' | b'|', ..])
}

/// Returns 1 for a single-dot segment, 2 for a double-dot segment, and 0 for any other (section 4.1).
fn dots(segment: &[u8]) -> usize {
    match without_dot(segment) {
        Some([]) => 1,
        Some(rest) if without_dot(rest) == Some(&[]) => 2,
        _ => 0,
    }
}

/// Returns the rest of a text that starts with a dot, which may be escaped.
fn without_dot(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Reports whether `text` is a Windows drive letter (section 4.2), such as `C:` or `C|`.
fn is_drive_letter(text: &[u8]) -> bool {
    matches!(text, [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}
