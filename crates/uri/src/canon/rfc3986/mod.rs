//! Syntax-based and scheme-based normalization (RFC 3986, section 6.2).

use alloc::vec::Vec;

use simdpct::Decode;

use super::contact::{Contact, is_kept, is_opened};
use super::error::{CanonicalizeError, Reason};
use super::escapes;
use crate::compose::append_without_dots;
use crate::host::{HostKind, port_number, special_port};
use crate::parts::{Parts, split};

pub(super) mod proof;

/// Appends the normal form of `url` by RFC 3986, section 6.2.2, and if `by_scheme`, also by section 6.2.3.
pub(super) fn append(url: &[u8], by_scheme: bool, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let parts = split(url);
    if let Some((offset, reason)) = rejection(url).or_else(|| authority_rejection(&parts)) {
        return Err(CanonicalizeError { offset, reason });
    }

    let form = out.len();
    // RFC 3986, section 6.2.2.1: schemes and hosts are written in lower case.
    if let Some(scheme) = parts.scheme() {
        out.extend(scheme.iter().map(u8::to_ascii_lowercase));
        out.push(b':');
    }
    // Section 6.2.3 is applied only to schemes with a default port. An empty path after their authority becomes `/`.
    let default = parts.scheme().filter(|_| by_scheme).and_then(special_port);
    if let Some(host) = parts.host() {
        out.extend_from_slice(b"//");
        if let Some(userinfo) = parts.userinfo() {
            Decode::NORMALIZE.decode_append(userinfo.raw(), out);
            out.push(b'@');
        }
        append_host(host.raw(), out);
        // RFC 3986, section 3.2.3, removes an empty port, and section 6.2.3 removes the default port.
        if let Some(port) = parts.port().filter(|port| !port.is_empty())
            && (default.is_none() || port_number(port) != default)
        {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }

    // Escapes are decoded (section 6.2.2.2) before dot segments are removed (section 6.2.2.3), because a dot may be escaped.
    let start = out.len();
    let has_authority = parts.host().is_some();
    if !parts.is_uri() && !has_authority && parts.path().first().is_some_and(|first| *first <= b' ') {
        // Browsers remove this byte, so escapes after it must not become a scheme. A `./` here would change the path.
        escapes::append(parts.path(), None, out);
    } else {
        Decode::NORMALIZE.decode_append(parts.path(), out);
    }
    let is_relative = !parts.is_uri() && !has_authority && out.get(start) != Some(&b'/');
    if is_relative {
        // `%61:b` is a path, but its decoded form `a:b` has a scheme, so `./` is inserted before it.
        if split(&out[start..]).is_uri() {
            out.splice(start..start, *b"./");
        }
    } else if has_dot_segment(&out[start..]) {
        let path = out.split_off(start);
        append_without_dots(has_authority, &path, out);
        if !parts.is_uri() && !has_authority && out[start..].starts_with(b"/\\") {
            // Browsers would read `/\` as the start of an authority.
            out.splice(start..start, *b"/.");
        }
    }
    if default.is_some() && has_authority && out.len() == start {
        out.push(b'/');
    }
    if let Some(query) = parts.query() {
        out.push(b'?');
        Decode::NORMALIZE.decode_append(query, out);
    }
    if let Some(fragment) = parts.fragment() {
        out.push(b'#');
        Decode::NORMALIZE.decode_append(fragment.raw(), out);
    }
    // Browsers read a URL such as `http:/a` as a reference if the base has the same scheme.
    let is_reference = || !has_authority && parts.scheme().is_some_and(is_opened);
    let rest = &url[parts.offsets().path_start..];
    // Browsers end the host at a backslash, so what the RFC reads as the rest of the authority is a path for them.
    let is_backslash = |byte: &&u8| **byte == b'\\';
    let has_path_inside = parts.authority().is_some_and(|authority| {
        authority.iter().skip_while(is_backslash).any(|byte| is_backslash(&byte))
            && parts.scheme().is_none_or(is_opened)
    });
    if !is_kept(url, &parts, &out[form..])
        || has_path_inside && out[form..] != *url
        || is_reference() && Contact::of(rest) != Contact::of(&out[start..])
    {
        let offset = parts.offsets().host_end.min(url.len() - 1);
        return Err(CanonicalizeError { offset, reason: Reason::HostConflict });
    }
    Ok(())
}

/// Appends a host in lower case. Escapes are normalized first, because `%41` decodes to `A`. The hexadecimal digits of escapes
/// that stay are in upper case.
fn append_host(host: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    Decode::NORMALIZE.decode_append(host, out);
    let mut at = start;
    while at < out.len() {
        if out[at] == b'%' && simdpct::decode_escape(&out[at..]).is_some() {
            at += 3;
        } else {
            out[at].make_ascii_lowercase();
            at += 1;
        }
    }
}

/// Reports whether a path has a segment `.` or `..`.
fn has_dot_segment(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path).any(|at| {
        let starts = at == 0 || path[at - 1] == b'/';
        let rest = path[at + 1..].strip_prefix(b".").unwrap_or(&path[at + 1..]);
        starts && matches!(rest.first(), None | Some(b'/'))
    })
}

/// Returns the offset of the first TAB, CR, LF or NUL, which would break lines of text, and the reason to reject the URL.
fn rejection(url: &[u8]) -> Option<(usize, Reason)> {
    let control = memchr::memchr3(b'\t', b'\r', b'\n', url);
    let nul = memchr::memchr(0, &url[..control.unwrap_or(url.len())]);
    nul.or(control).map(|offset| (offset, Reason::Control(url[offset])))
}

/// Returns the offset of the first problem of the authority, and the reason: several `@`, an invalid host or an invalid port.
fn authority_rejection(parts: &Parts<'_>) -> Option<(usize, Reason)> {
    let at = parts.offsets();
    if let Some(userinfo) = parts.userinfo()
        && let Some(several) = memchr::memchr(b'@', userinfo.raw())
    {
        return Some((at.after_scheme() + 2 + several, Reason::SeveralAt));
    }
    let host = parts.host()?.raw();
    if let Some(bracket) = memchr::memchr2(b'[', b']', host)
        && !matches!(HostKind::of(host), HostKind::Ipv6(_) | HostKind::IpFuture)
    {
        return Some((at.host_start + bracket, Reason::Host));
    }
    let port = parts.port().filter(|port| !port.is_empty())?;
    port_number(port).is_none().then_some((at.host_end + 1, Reason::Port))
}
