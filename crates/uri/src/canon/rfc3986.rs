//! RFC 3986, section 6.2: syntax-based normalization, and that by scheme.

use alloc::vec::Vec;

use super::{Refused, refuse_authority, refuse_controls};
use crate::compose::{append_without_dots, guard};
use crate::parts::{port_number, split};

/// The default ports of section 6.2.3, by scheme in lower case. These schemes have an authority and a path that is not empty.
const DEFAULT_PORTS: &[(&[u8], u16)] =
    &[(b"http", 80), (b"https", 443), (b"ws", 80), (b"wss", 443), (b"ftp", 21)];

pub(super) fn append(url: &[u8], by_scheme: bool, out: &mut Vec<u8>) -> Result<(), Refused> {
    refuse_controls(url)?;
    let parts = split(url);
    refuse_authority(&parts)?;

    // 6.2.2.1: schemes and hosts are in lower case.
    let mut default = None;
    if let Some(scheme) = parts.scheme() {
        let start = out.len();
        out.extend(scheme.iter().map(u8::to_ascii_lowercase));
        if by_scheme {
            default =
                DEFAULT_PORTS.iter().find(|(scheme, _)| *scheme == &out[start..]).map(|(_, port)| *port);
        }
        out.push(b':');
    }
    if let Some(host) = parts.host() {
        out.extend_from_slice(b"//");
        if let Some(userinfo) = parts.userinfo() {
            simdpct::normalize_append(userinfo.raw(), out);
            out.push(b'@');
        }
        append_host(host.raw(), out);
        // 3.2.3: an empty port goes. 6.2.3: and so does the default one.
        if let Some(port) = parts.port().filter(|port| !port.is_empty())
            && (default.is_none() || port_number(port) != default)
        {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }

    // 6.2.2.2 before 6.2.2.3: a dot may be written as an escape.
    let start = out.len();
    simdpct::normalize_append(parts.path(), out);
    let has_authority = parts.host().is_some();
    let is_relative = !parts.is_uri() && !has_authority && out.get(start) != Some(&b'/');
    if is_relative {
        // `%61:b` is a path, and `a:b` is not.
        let guard = guard(false, false, &out[start..]);
        out.splice(start..start, guard.iter().copied());
    } else if has_dot_segment(&out[start..]) {
        let path = out.split_off(start);
        append_without_dots(has_authority, &path, out);
    }
    if default.is_some() && has_authority && out.len() == start {
        out.push(b'/');
    }
    if let Some(query) = parts.query() {
        out.push(b'?');
        simdpct::normalize_append(query, out);
    }
    if let Some(fragment) = parts.fragment() {
        out.push(b'#');
        simdpct::normalize_append(fragment.raw(), out);
    }
    Ok(())
}

/// Escapes first: `%41` is an `A`, which becomes an `a`. The digits of those that stay are in upper case.
fn append_host(host: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    simdpct::normalize_append(host, out);
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

fn has_dot_segment(path: &[u8]) -> bool {
    memchr::memchr_iter(b'.', path).any(|at| {
        let starts = at == 0 || path[at - 1] == b'/';
        let rest = path[at + 1..].strip_prefix(b".").unwrap_or(&path[at + 1..]);
        starts && (rest.is_empty() || rest[0] == b'/' || path.get(at + 1) == Some(&b'/'))
    })
}
