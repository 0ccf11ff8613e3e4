//! Makes SURTs, the keys of web archives, as two tools make them. In a SURT, the labels of the host are reversed.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use simdpct::{AsciiSet, Encode};

use super::contact::Contact;
use super::error::{CanonicalizeError, Reason};
use super::shared::{
    all, first_bytes, has_pair, idna_2003, is_host_and_port, is_plain_name, offset_in, old_ipv4,
    without_line_ends,
};
use crate::class::is_scheme;
use crate::compose::append_without_dot_segments;
use crate::host::{port_number, special_port};
use crate::parts::{Parts, split};

pub(super) mod plain;
mod sessions;

/// The tool whose keys are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// The package surt of PyPI, version 0.3.
    Python,
    /// `WaybackURLKeyMaker` in org.archive.url of iipc/webarchive-commons.
    Java,
}

impl Tool {
    /// Returns the bytes that stay unescaped in a key: 0x21 to 0x7E except `#` and `%`. The Java tool keeps 0x7F, too.
    const fn kept(self) -> AsciiSet {
        match self {
            Tool::Python => simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%"),
            Tool::Java => AsciiSet::from_bitmap(Tool::Python.kept().to_bitmap() | 1 << 0x7F),
        }
    }
}

/// The schemes that the Java tool knows, with `://` after them. The tool inserts `http://` before every other URL.
const JAVA_SCHEMES: &[&[u8]] = &[b"http://", b"https://", b"ftp://", b"mms://", b"rtsp://", b"wais://"];

/// Appends the key of `url`.
pub(super) fn append(url: &[u8], tool: Tool, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    if append_plain_url(url, tool, out).is_some() {
        return Ok(());
    }
    match tool {
        _ if url.is_empty() => out.push(b'-'),
        Tool::Python => append_python(url, out)?,
        Tool::Java => append_java(url, out)?,
    }
    Ok(())
}

/// Appends the key of a plain URL, as most URLs are. For any other URL, appends nothing and returns `None`.
///
/// The scheme of a plain URL is `http`, `https`, or for the Python tool `file`. For the Java tool, slashes may take the
/// place of a scheme. The host is a plain name without a port. In `file` URLs, the host may be empty. Before its
/// fragment, a plain URL has no control characters or spaces, which the tools remove at the ends. For the Java tool it
/// is ASCII, because the tool would reject or remove other characters.
fn append_plain_url(url: &[u8], tool: Tool, out: &mut Vec<u8>) -> Option<()> {
    let (is_file, rest) = match url {
        [b'h', b't', b't', b'p', b':', b'/', b'/', rest @ ..] => (false, rest),
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', rest @ ..] => (false, rest),
        [b'f', b'i', b'l', b'e', b':', b'/', b'/', rest @ ..] if tool == Tool::Python => (true, rest),
        // The Java tool takes the first segment of a path for the host.
        [b'/', ..] if tool == Tool::Java => (false, without_slashes(url)),
        _ => return None,
    };
    let Some(plain) = plain::parts(rest) else {
        return if is_file { None } else { append_plain_host_url(url, rest, tool, out) };
    };
    let (path, query) = (&rest[plain.host..plain.path], &rest[plain.path..plain.query]);
    // Without its empty host, `file:///\a` would name the host `a` for browsers.
    let is_ambiguous = !is_file || !matches!(path, [b'/'] | [b'/', b'!'..=b'[' | b']'.., ..]);
    if plain.host == 0 && is_ambiguous || tool == Tool::Java && !url.is_ascii() {
        return None;
    }
    let start = out.len();
    out.reserve(url.len() + 2);
    if plain.host == 0 {
        out.extend_from_slice(b"file:");
    } else {
        let host = without_all_www(&rest[..plain.host], tool);
        append_labels(host, plain.dots >> (plain.host - host.len()), out);
        out.push(b')');
    }
    match path {
        [] => out.push(b'/'),
        [before @ .., b'/'] if !before.is_empty() => out.extend_from_slice(before),
        path => out.extend_from_slice(path),
    }
    let query_start = out.len() + 1;
    if query.len() > 1 {
        out.extend_from_slice(query);
    }
    if plain.has_upper {
        out[start..].make_ascii_lowercase();
    }
    if query.len() > 1 {
        finish_query(out, query_start);
    }
    Some(())
}

/// Appends the key of a URL with a plain host, whose path and query may be escaped. `rest` is the URL after `//`.
/// Returns `None` for other URLs.
fn append_plain_host_url(url: &[u8], rest: &[u8], tool: Tool, out: &mut Vec<u8>) -> Option<()> {
    let rest = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    let (host, rest) = rest.split_at(memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len()));
    if !is_plain_name(host) || !all(rest, |byte| byte > b' ') || tool == Tool::Java && !url.is_ascii() {
        return None;
    }
    let (path, query) = rest.split_at(memchr::memchr(b'?', rest).unwrap_or(rest.len()));
    out.reserve(url.len() + 2);
    append_plain_name(host, tool, out);
    out.push(b')');
    append_path(path, tool, true, out);
    append_query(query.strip_prefix(b"?"), tool, out);
    Some(())
}

fn append_python(url: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    if let [b'/', b'!'..=b'.' | b'0'.., ..] = url {
        // The target of a request names no host. Lists of targets are long, so this check comes first.
        return Err(CanonicalizeError { offset: 0, reason: Reason::Host });
    }
    if url.starts_with(b"filedesc") {
        out.extend_from_slice(url);
        return Ok(());
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    let lead = url.iter().position(|byte| !is_blank(byte)).unwrap_or(url.len());
    let tail = url.iter().rposition(|byte| !is_blank(byte)).map_or(lead, |last| last + 1);
    let trimmed = without_line_ends(&url[lead..tail]);
    if let Some(&control @ ..b' ') = trimmed.first() {
        // Browsers ignore control characters at the start, but the tool then takes the scheme for the host.
        return Err(CanonicalizeError { offset: lead, reason: Reason::Control(control) });
    }
    let trimmed = with_two_slashes(&trimmed).map_or(trimmed, Cow::Owned);
    let is_uri = split(&*trimmed).is_uri();
    if is_uri && has_second_scheme(&trimmed) || hides_scheme(&trimmed) {
        // If a URL has two schemes, the tool removes the first, and browsers take the second for the host. See also `hides_scheme`.
        return Err(CanonicalizeError { offset: lead, reason: Reason::HostConflict });
    }
    let prefix: &[u8] = if is_uri { b"" } else { b"http://" };
    append_parts(Tool::Python, prefix, &trimmed, 0, url, out)
}

/// Returns `url` with exactly two slashes before its host, if it is plain and starts with `http:`, `https:` or two slashes; before slashes
/// at the start, `http:` is inserted. The tool and browsers skip any number of slashes there. A plain URL has a plain host, no port and no
/// fragment, and a path and a query that a key changes only in case and order. For any other URL, returns `None`: the tool does not skip
/// its slashes.
fn with_two_slashes(url: &[u8]) -> Option<Vec<u8>> {
    let scheme: &[u8] = match url {
        [b'h', b't', b't', b'p', b's', b':', ..] => b"https:",
        [b'h', b't', b't', b'p', b':', ..] => b"http:",
        [b'/', b'/', ..] => b"",
        _ => return None,
    };
    let host = without_slashes(&url[scheme.len()..]);
    let url = [if scheme.is_empty() { b"http:" } else { scheme }, b"//", host].concat();
    let (parts, mut unused) = (split(&url), Vec::new());
    let is_plain = parts.authority().is_some_and(is_plain_name)
        && parts.fragment().is_none()
        && append_if_plain(parts.path(), true, &mut unused)
        && append_if_plain(parts.query().unwrap_or_default(), false, &mut unused);
    is_plain.then_some(url)
}

/// Reports whether a URL starts with two schemes, such as `http://https://`.
fn has_second_scheme(url: &[u8]) -> bool {
    fn without_scheme(url: &[u8]) -> Option<&[u8]> {
        url.strip_prefix(b"http://").or(url.strip_prefix(b"https://"))
    }
    without_scheme(url).and_then(without_scheme).is_some()
}

/// Returns the host, its offset in the URL, and the port, as the Python tool finds them.
fn python_authority<'a>(parts: &Parts<'a>) -> (&'a [u8], usize, &'a [u8]) {
    // The last `@` ends the userinfo. Brackets anywhere in the rest of the authority hold an address.
    let offsets = parts.offsets();
    let rest = &parts.input()[offsets.host_start..offsets.path_start];
    let open = memchr::memchr(b'[', rest).map(|open| open + 1);
    let text = &rest[open.unwrap_or(0)..];
    let close = open.map(|_| memchr::memchr(b']', text).unwrap_or(text.len()));
    let from = close.unwrap_or(0);
    let colon = memchr::memchr(b':', &text[from..]).map_or(text.len(), |colon| from + colon);
    let host = &text[..close.unwrap_or(colon)];
    (host, offsets.host_start + open.unwrap_or(0), text.get(colon + 1..).unwrap_or_default())
}

fn append_java(url: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let text = core::str::from_utf8(url)
        .map_err(|error| CanonicalizeError { offset: error.valid_up_to(), reason: Reason::InvalidUtf8 })?;
    if url.starts_with(b"filedesc") || url.starts_with(b"warcinfo") {
        out.extend_from_slice(url);
        return Ok(());
    }
    if let Some(host) = url.strip_prefix(b"dns:") {
        if host.is_empty() {
            return Err(CanonicalizeError { offset: 4, reason: Reason::Host });
        }
        append_reversed(host, out);
        out.push(b')');
        return Ok(());
    }
    let trimmed = text.trim_start_matches(|c| c <= ' ');
    let lead = text.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches(|c| c <= ' ');
    let mut trimmed = without_line_ends(trimmed.as_bytes());
    if !trimmed.is_ascii() {
        let is_line_end = |c| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
        let text = String::from_utf8_lossy(&trimmed).into_owned();
        if let Some(at) = text.find(is_line_end) {
            let start = split(&*trimmed).scheme().map_or(0, |scheme| scheme.len() + 1);
            let before = text[start..at].trim_start_matches('/');
            if !before.contains(['/', '?', '#']) {
                // The tool removes the character from the host. For browsers, such a host is not valid.
                return Err(CanonicalizeError { offset: lead, reason: Reason::HostConflict });
            }
            trimmed = Cow::Owned(text.replace(is_line_end, "").into_bytes());
        }
    }
    if [&b"dns:"[..], b"filedesc:", b"warcinfo:"].iter().any(|opaque| trimmed.starts_with(opaque)) {
        out.extend_from_slice(memchr::memchr(b'(', &trimmed).map_or(url, |open| &trimmed[open + 1..]));
        return Ok(());
    }

    // The tool removes further slashes after `http://` and `https://`, but only if the scheme is in lower case.
    for scheme in &JAVA_SCHEMES[..2] {
        if let Some(rest) = trimmed.strip_prefix(*scheme)
            && let [b'/', ..] = rest
        {
            let rest = without_slashes(rest);
            return append_parts(Tool::Java, scheme, rest, trimmed.len() - rest.len(), url, out);
        }
    }
    let starts_with =
        |prefix: &&[u8]| trimmed.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if JAVA_SCHEMES.iter().any(starts_with) {
        return append_parts(Tool::Java, b"", &trimmed, 0, url, out);
    }
    let is_no_host = |scheme: &[u8]| !is_host_and_port(scheme, &trimmed[scheme.len() + 1..]);
    if split(&*trimmed).scheme().is_some_and(is_no_host) || hides_scheme(&trimmed) {
        // The tool would name the host `google.com` for `mailto:b@google.com`, and `http` for `http:/a`.
        return Err(CanonicalizeError { offset: lead, reason: Reason::HostConflict });
    }
    let rest = without_slashes(&trimmed);
    append_parts(Tool::Java, b"http://", rest, trimmed.len() - rest.len(), url, out)
}

/// Reports whether decoding the bytes before the first colon of `url` makes them a scheme. A host with a port is no
/// scheme. The tools would take the scheme of `%68ttp://a/` for the host.
fn hides_scheme(url: &[u8]) -> bool {
    let colon = url.iter().position(|byte| b":/?#".contains(byte)).filter(|&at| url[at] == b':');
    colon.is_some_and(|colon| {
        let scheme = simdpct::decode_until_stable(&url[..colon]);
        *scheme != url[..colon] && is_scheme(&scheme) && !is_host_and_port(&scheme, &url[colon + 1..])
    })
}

/// Returns `text` without the slashes at its start.
fn without_slashes(text: &[u8]) -> &[u8] {
    &text[text.iter().position(|&byte| byte != b'/').unwrap_or(text.len())..]
}

/// Returns the host, its offset in the URL, and the port, as the Java tool finds them.
fn java_authority<'a>(parts: &Parts<'a>) -> (&'a [u8], usize, &'a [u8]) {
    // The first `@` ends the userinfo. Brackets hold an address only if there is no userinfo.
    let authority = parts.authority().unwrap_or_default();
    let user = memchr::memchr(b'@', authority);
    let host_start = user.map_or(0, |at_sign| at_sign + 1);
    let from = match authority.first() {
        Some(b'[') if user.is_none() => memchr::memchr(b']', authority).unwrap_or(0),
        _ => user.unwrap_or(0),
    };
    let colon = memchr::memchr(b':', &authority[from..]).map_or(authority.len(), |colon| from + colon);
    let port = authority.get(colon + 1..).unwrap_or_default();
    (&authority[host_start..colon], parts.offsets().after_scheme() + 2 + host_start, port)
}

/// Splits the concatenation of `prefix` and `rest`, and appends the key of its parts. `rest` starts `removed` bytes after the
/// start of `url` without blanks at the ends, TAB, CR and LF.
fn append_parts(
    tool: Tool,
    prefix: &[u8],
    rest: &[u8],
    removed: usize,
    url: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), CanonicalizeError> {
    let joined = if prefix.is_empty() { Cow::Borrowed(rest) } else { [prefix, rest].concat().into() };
    append_key(tool, &split(&*joined), out).map_err(|error| {
        let offset = removed + error.offset.saturating_sub(prefix.len());
        CanonicalizeError { offset: offset_in(url, offset), ..error }
    })
}

/// Appends the key of a URL with a scheme.
fn append_key(tool: Tool, parts: &Parts<'_>, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let (host, host_start, port) = match tool {
        Tool::Python => python_authority(parts),
        Tool::Java => java_authority(parts),
    };
    let number = port_number(port);
    if number.is_none() && !port.is_empty() {
        return Err(CanonicalizeError {
            offset: parts.offsets().path_start - port.len(),
            reason: Reason::Port,
        });
    }
    let reject = |reason| CanonicalizeError { offset: host_start, reason };
    let start = out.len();
    if append_host(host, parts, number, tool, out).map_err(reject)? {
        append_path(parts.path(), tool, true, out);
        append_query(parts.query(), tool, out);
        return Ok(());
    }
    let scheme = parts.scheme().unwrap_or_default();
    // The regular expressions of the Python tool would take the first segment of `http:/a` for a host.
    if tool == Tool::Java || scheme.starts_with(b"http") {
        return Err(reject(Reason::Host));
    }
    out.extend_from_slice(scheme);
    out.push(b':');
    append_path(parts.path(), tool, false, out);
    // A key such as `foo:80)` or `fe80::1)` would be read as the key of a URL with a host.
    let path = &out[start + scheme.len() + 1..];
    let close = memchr::memchr(b')', path);
    let is_like_host = |byte: &u8| byte.is_ascii_hexdigit() || b":.,".contains(byte);
    if close.is_some_and(|close| path[..close].iter().all(is_like_host))
        || Contact::of(parts.input()) != Contact::of(&out[start..])
    {
        return Err(reject(Reason::HostConflict));
    }
    let start = out.len();
    append_query(parts.query(), tool, out);
    if out.len() > start && parts.path().is_empty() {
        out.insert(start, b'/');
    }
    Ok(())
}

/// Appends the reversed host, the port unless it is the default one, and `)`. Appends nothing and returns `false` if the host is
/// empty. Returns the reason if the host is rejected.
fn append_host(
    raw: &[u8],
    parts: &Parts<'_>,
    port: Option<u16>,
    tool: Tool,
    out: &mut Vec<u8>,
) -> Result<bool, Reason> {
    let scheme = parts.scheme().unwrap_or_default();
    // In `http://a:[a/`, the Python tool reads the host from the port.
    let is_whole =
        parts.userinfo().is_none() && parts.host().is_some_and(|host| core::ptr::eq(host.raw(), raw));
    // In a `file` URL, a port is a part of the host for browsers.
    let is_file = scheme.eq_ignore_ascii_case(b"file");
    if is_whole && is_plain_name(raw) && !(is_file && parts.offsets().host_end < parts.offsets().path_start) {
        append_plain_name(raw, tool, out);
        append_port(port, scheme, tool, out);
        return Ok(true);
    }
    let Some(name) = key_host(raw, tool).ok_or(Reason::Host)? else { return Ok(false) };
    let name = without_all_www(&name, tool);
    let contact = Contact::of(parts.input());
    let is_ipv6 = matches!(&contact, Contact::Host(host) if host.starts_with(b"["));
    let bracketed;
    let host = if is_ipv6 && !name.starts_with(b"[") {
        bracketed = [b"[", name, b"]"].concat();
        &bracketed
    } else {
        name
    };
    // The `www` of `www.%C2%AD` may be all that browsers read, because they ignore the character after it.
    let is_same = |host: &[u8], named: &[u8]| {
        [host, without_dot(host)].into_iter().any(|host| {
            let host = without_all_www(host, tool);
            host == named || without_dot(host) == named
        })
    };
    // If a host could hold the delimiters of a key, two hosts would have one key, such as `b.a` and `a,b`.
    let is_ambiguous = name.iter().any(|byte| b",)".contains(byte))
        || !is_ipv6 && (name.contains(&b':') || name.starts_with(b"["));
    if is_ambiguous || !contact.has_key_host(scheme, host, is_same) {
        return Err(Reason::HostConflict);
    }
    let start = out.len();
    append_reversed(name, out);
    append_port(port, scheme, tool, out);
    if is_ipv6 {
        // `[::1]:80` and `[::1:80]` would have one key.
        let labels = out[start..out.len() - 1].rsplit(|&byte| byte == b',').collect::<Vec<_>>().join(&b'.');
        let address = labels.into_iter().filter(|byte| !b"[]".contains(byte)).collect::<Vec<_>>();
        let named = Contact::of(&[b"http://[", &*address, b"]"].concat());
        if named != Contact::Nothing && named != contact {
            return Err(Reason::HostConflict);
        }
    }
    Ok(true)
}

/// Makes the host of a key, in the usual order and with its `www`. Returns `Some(None)` if it is empty, and `None` if the host is
/// rejected.
fn key_host(raw: &[u8], tool: Tool) -> Option<Option<Vec<u8>>> {
    let decoded = simdpct::decode_until_stable(raw);
    let mut name = Cow::Borrowed(&*decoded);
    if !decoded.is_ascii() {
        let text = match (core::str::from_utf8(&decoded), tool) {
            (Ok(text), _) => Cow::Borrowed(text),
            // The Python tool drops invalid UTF-8.
            (Err(_), Tool::Python) => decoded.utf8_chunks().map(|chunk| chunk.valid()).collect(),
            // The Java tool escapes invalid UTF-8 again. That is only unambiguous in a name that is otherwise ASCII.
            (Err(_), Tool::Java) if decoded.utf8_chunks().all(|chunk| chunk.valid().is_ascii()) => "".into(),
            (Err(_), Tool::Java) => return None,
        };
        if text.is_empty() && tool == Tool::Python {
            return Some(None);
        }
        let ascii = idna_2003(&text, b",)")?;
        name = match (ascii, tool) {
            (Some(ascii), _) => Cow::Owned(ascii.into_owned().into_bytes()),
            (None, Tool::Java) if !text.is_ascii() => Cow::Owned(text.to_lowercase().into_bytes()),
            (None, _) => name,
        };
    }
    // The tools remove superfluous dots. Only the removal of one dot at the end keeps the host the same.
    let host = without_dot(&name);
    if host.is_empty() {
        return Some(None);
    }
    if host.split(|&byte| byte == b'.').any(<[u8]>::is_empty) {
        return None;
    }
    let address = match tool {
        Tool::Python => python_address(host),
        Tool::Java => java_address(host),
    };
    if let Some(address) = address {
        return Some(Some(alloc::string::ToString::to_string(&address).into_bytes()));
    }
    let mut escaped = Encode::keeping(tool.kept()).encode(host).into_owned().into_bytes();
    escaped.make_ascii_lowercase();
    Some(Some(escaped))
}

/// Returns `host` without one dot at its end.
fn without_dot(host: &[u8]) -> &[u8] {
    host.strip_suffix(b".").unwrap_or(host)
}

/// Appends a plain name, reversed and in lower case.
fn append_plain_name(host: &[u8], tool: Tool, out: &mut Vec<u8>) {
    let start = out.len();
    append_reversed(without_all_www(host, tool), out);
    out[start..].make_ascii_lowercase();
}

/// Appends the port unless it is the default one, and then `)`.
fn append_port(port: Option<u16>, scheme: &[u8], tool: Tool, out: &mut Vec<u8>) {
    // The tools know only the default ports of `http` and `https`.
    let is_web = scheme.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http"));
    let default = special_port(scheme).filter(|_| is_web).unwrap_or(0);
    if let Some(port) = port
        && port != default
        && !(tool == Tool::Python && port == 0)
    {
        out.push(b':');
        out.extend_from_slice(alloc::string::ToString::to_string(&port).as_bytes());
    }
    out.push(b')');
}

/// Returns `host` without the `www` labels at its start. The Python tool removes one such label, the Java tool all of them.
fn without_all_www(mut host: &[u8], tool: Tool) -> &[u8] {
    while let Some(rest) = without_www(host) {
        host = rest;
        if tool == Tool::Python {
            break;
        }
    }
    host
}

/// Returns the rest of `host` after a first label that is `www` with or without digits. Returns `None` if there is no such label.
fn without_www(host: &[u8]) -> Option<&[u8]> {
    let (_, rest) = host.split_at_checked(3).filter(|(www, _)| www.eq_ignore_ascii_case(b"www"))?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    rest[digits..].strip_prefix(b".")
}

/// Appends the labels of `host` in reverse order: `www.a.b` becomes `b,a,www`. An address loses its brackets.
fn append_reversed(host: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr(b'.', host).is_none() {
        let inner = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        out.extend_from_slice(inner.unwrap_or(host));
        return;
    }
    let mut end = host.len();
    while let Some(dot) = memchr::memrchr(b'.', &host[..end]) {
        out.extend_from_slice(&host[dot + 1..end]);
        out.push(b',');
        end = dot;
    }
    out.extend_from_slice(&host[..end]);
}

/// Appends the labels of a host of less than 64 bytes in reverse order. Bit `i` of `dots` is set if the byte at offset `i` is a dot.
fn append_labels(host: &[u8], mut dots: u64, out: &mut Vec<u8>) {
    // Copies of 64 bytes compile to vector instructions, and copies of the exact length to calls. Each copy overwrites
    // the bytes after the label that the copy before it wrote.
    let (mut name, mut key) = ([0; 128], [0; 128]);
    name[..host.len()].copy_from_slice(host);
    let (mut end, mut len) = (host.len(), 0);
    while dots != 0 {
        let dot = 63 - dots.leading_zeros() as usize;
        key[len..len + 64].copy_from_slice(&name[dot + 1..dot + 65]);
        len += end - dot;
        key[len - 1] = b',';
        end = dot;
        dots ^= 1 << dot;
    }
    key[len..len + 64].copy_from_slice(&name[..64]);
    out.extend_from_slice(&key[..len + end]);
}

/// Reads any number of decimal digits as an address, modulo 2^32.
fn wrapped_address(digits: &[u8]) -> Ipv4Addr {
    let add = |number: u32, digit: &u8| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    digits.iter().fold(0, add).into()
}

/// Reads an address as the Python tool does: one decimal number, or two to four numbers, octal if they start with 0. If
/// the first number starts with 0, all digits must be octal. The tool passes such hosts to the resolver of the system,
/// which may ask the network.
fn python_address(host: &[u8]) -> Option<Ipv4Addr> {
    if host.iter().all(u8::is_ascii_digit) {
        return Some(wrapped_address(host));
    }
    let octal = host.first() == Some(&b'0');
    let digits =
        |byte: &u8| *byte == b'.' || if octal { matches!(byte, b'0'..=b'7') } else { byte.is_ascii_digit() };
    host.iter().all(digits).then(|| old_ipv4(host)).flatten()
}

/// Reads an address as the Java tool does: one decimal number, four decimal numbers without a zero at the start of the
/// first, or four octal numbers.
fn java_address(host: &[u8]) -> Option<Ipv4Addr> {
    if host.iter().all(u8::is_ascii_digit) {
        // To the tool, a number that is larger than a Java `long` is a name and not an address.
        let fits = core::str::from_utf8(host).is_ok_and(|digits| digits.parse::<i64>().is_ok());
        return fits.then(|| wrapped_address(host));
    }
    let radix = if host.first() == Some(&b'0') { 8 } else { 10 };
    let mut address = [0; 4];
    let mut numbers = host.split(|&byte| byte == b'.');
    for byte in &mut address {
        let number = numbers.next().filter(|number| !number.is_empty())?;
        *byte = number.iter().try_fold(0_u8, |value, &digit| {
            let digit = char::from(digit).to_digit(radix)?;
            u8::try_from(u32::from(value) * radix + digit).ok()
        })?;
    }
    numbers.next().is_none().then(|| address.into())
}

/// Appends the path: decoded, escaped, in lower case, without session ids and without a slash at its end. If the URL has a host
/// (`hosted`), dot segments and runs of slashes are removed, too.
fn append_path(path: &[u8], tool: Tool, hosted: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if hosted && path.is_empty() {
        return out.push(b'/');
    }
    if hosted && path.first() == Some(&b'/') && append_if_plain(path, true, out) {
        return finish_path(out, start);
    }
    let decoded = simdpct::decode_until_stable(path);
    let path = if hosted { resolved(&decoded) } else { Cow::Borrowed(&*decoded) };
    append_lower(&path, tool, out);
    finish_path(out, start);
}

/// Removes session ids and a slash at the end from the path in `out[start..]`.
fn finish_path(out: &mut Vec<u8>, start: usize) {
    sessions::remove_path_sessions(out, start);
    if out.len() > start + 1 && out.last() == Some(&b'/') {
        out.pop();
    }
}

/// Appends `part` in lower case and returns `true` if it is plain: it holds no escape, no byte that needs one, and as a path no
/// `//` and no `/.`. For any other part, appends nothing and returns `false`.
fn append_if_plain(part: &[u8], is_path: bool, out: &mut Vec<u8>) -> bool {
    let is_kept = |byte: u8| byte.is_ascii_graphic() & (byte != b'#') & (byte != b'%');
    if !all(part, is_kept) || is_path && has_pair(part, is_dropped) {
        return false;
    }
    let start = out.len();
    out.extend_from_slice(part);
    out[start..].make_ascii_lowercase();
    true
}

/// Reports whether two adjacent bytes of a path begin an empty segment, or a segment that starts with a dot.
fn is_dropped(byte: u8, next: u8) -> bool {
    (byte == b'/') & ((next == b'/') | (next == b'.'))
}

/// Appends `part` escaped and in lower case.
fn append_lower(part: &[u8], tool: Tool, out: &mut Vec<u8>) {
    let start = out.len();
    Encode::keeping(tool.kept()).encode_append(part, out);
    out[start..].make_ascii_lowercase();
}

/// Returns a path without dot segments and without empty segments. `..` removes the segment before it, even an empty one. A `..`
/// without a segment before it stays, and the next `..` removes it.
fn resolved(path: &[u8]) -> Cow<'_, [u8]> {
    if !has_pair(path, is_dropped) {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len());
    append_without_dot_segments(path, true, &mut out);
    out.dedup_by(|a, b| *a == b'/' && *b == b'/');
    Cow::Owned(out)
}

/// Appends `?` and the query: decoded, escaped, in lower case, without session ids, sorted. Appends nothing if no parameter
/// remains.
fn append_query(query: Option<&[u8]>, tool: Tool, out: &mut Vec<u8>) {
    let Some(query) = query else { return };
    out.push(b'?');
    let start = out.len();
    if !append_if_plain(query, false, out) {
        append_lower(&simdpct::decode_until_stable(query), tool, out);
    }
    finish_query(out, start);
}

/// Removes session ids from the query in `out[start..]` and sorts it. If nothing remains, removes the `?` before it, too.
fn finish_query(out: &mut Vec<u8>, start: usize) {
    sessions::remove_query_sessions(out, start);
    sort_pairs(out, start);
    if out.len() == start {
        out.pop();
    }
}

/// Sorts the parameters of the query in `out[start..]` by name and value, with `n log n` comparisons for `n` parameters.
fn sort_pairs(out: &mut Vec<u8>, start: usize) {
    if memchr::memchr(b'&', &out[start..]).is_none() {
        return;
    }
    let pairs = out[start..].split(|&byte| byte == b'&').map(|pair| {
        let at = memchr::memchr(b'=', pair);
        let (name, value) = (&pair[..at.unwrap_or(pair.len())], at.map(|at| &pair[at + 1..]));
        (first_bytes(name), name, value)
    });
    let mut pairs: Vec<_> = pairs.collect();
    if pairs.is_sorted() {
        return;
    }
    pairs.sort_unstable();
    let mut text = Vec::with_capacity(out.len() - start);
    for (_, name, value) in pairs {
        text.extend_from_slice(name);
        if let Some(value) = value {
            text.push(b'=');
            text.extend_from_slice(value);
        }
        text.push(b'&');
    }
    text.pop();
    out.truncate(start);
    out.extend_from_slice(&text);
}
