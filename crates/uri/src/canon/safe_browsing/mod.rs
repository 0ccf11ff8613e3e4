//! Makes the keys of Google Safe Browsing, versions 4 and 5. A key is a canonical form to compare URLs by.

use alloc::borrow::Cow;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use simdpct::{AsciiSet, Encode, decode_until_stable};

use super::contact::Contact;
use super::error::{CanonicalizeError, Reason};
use super::shared::{
    InvalidName, is_host_and_port, is_plain_name, offset_in, old_ipv4, trim, uts46, without_line_ends,
};
use crate::compose::append_without_dot_segments;
use crate::host::{port_number, special_port};
use crate::parts::{Parts, split};

pub(super) mod proof;

/// The bytes that stay unescaped in a key: those above 0x20 and below 0x7F, without `#` and `%`.
const KEPT: AsciiSet = simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%");

/// The version of Google's rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Four,
    Five,
}

/// Appends the key of `url` by the rules of `version`.
pub(super) fn append(url: &[u8], version: Version, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    if let [b'/', b'!'..=b'.' | b'0'..=b'[' | b']'.., ..] = url {
        // The target of a request names no host. Lists of targets are long, so this check comes first.
        return Err(CanonicalizeError { offset: 0, reason: Reason::Host });
    }
    let without_line_ends = without_line_ends(url);
    let trimmed = trim(&without_line_ends);
    let mut parts = split(trimmed);
    let with_scheme;
    let mut inserted = 0;
    if parts.host().is_none() {
        const PREFIX: &[u8] = b"http://";

        if let Some(scheme) = parts.scheme()
            && !is_host_and_port(scheme, &trimmed[scheme.len() + 1..])
        {
            // Google's rules find no host in `http:/a` and `mailto:a@b`. Browsers find `a` in the first of them.
            let reason = if special_port(scheme).is_some() { Reason::HostConflict } else { Reason::Host };
            return Err(CanonicalizeError { offset: 0, reason });
        }
        // Inputs such as `www.example.com/` and `example.com:80/` have no scheme, so `http://` is inserted.
        inserted = PREFIX.len();
        let prefixed = [PREFIX, trimmed].concat();
        with_scheme = match escaped_url(&parts) {
            Some(_) if matches!(Contact::of(&prefixed), Contact::Host(_)) => {
                return Err(CanonicalizeError { offset: 0, reason: Reason::HostConflict });
            }
            Some(decoded) => decoded,
            None => prefixed,
        };
        parts = split(&with_scheme);
    }
    // The offset of an error is approximate if bytes before it were decoded.
    let reject = |offset: usize, reason| {
        Err(CanonicalizeError { offset: offset_in(url, offset.saturating_sub(inserted)), reason })
    };

    let scheme = parts.scheme().unwrap_or(b"http");
    let at = parts.offsets();
    let raw = parts.host().unwrap_or_default().raw();
    if parts.port().is_some_and(|port| !port.is_empty() && port_number(port).is_none()) {
        return reject(at.host_end + 1, Reason::Port);
    }
    // By Google's rules and for browsers, a plain host after `://` is the same host.
    let is_plain = is_plain_name(raw) && parts.userinfo().is_none() && !scheme.eq_ignore_ascii_case(b"file");
    let name = match key_host(raw, version) {
        Some(name) => name,
        // Browsers skip further slashes after `http://`.
        None if raw.is_empty() && matches!(Contact::of(trimmed), Contact::Host(_)) => {
            return reject(at.host_start, Reason::HostConflict);
        }
        None => return reject(at.host_start, Reason::Host),
    };
    if !is_plain {
        // Google's rules decode the whole URL before they split it, so an escaped delimiter would end the host.
        let userinfo = parts.userinfo().map(|userinfo| decode_until_stable(userinfo.raw()));
        let ends_host = userinfo.is_some_and(|userinfo| memchr::memchr2(b'/', b'?', &userinfo).is_some())
            || name.iter().any(|byte| b":[]".contains(byte)) && !is_literal(raw);
        let is_same = |host: &[u8], named: &[u8]| key_host(host, version) == key_host(named, version);
        if ends_host || !Contact::of(parts.input()).has_key_host(scheme, &name, is_same) {
            return reject(at.host_start, Reason::HostConflict);
        }
    }
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    out.extend_from_slice(&name);

    let path = key_path(&decode_until_stable(parts.path()));
    if let Some(query) = memchr::memchr(b'?', &path)
        && key_path(&path[..query]) != path[..query]
    {
        // A decoded `?` starts a query: the key of `/a/..%3F` would be `/a/..?`, whose own key is `/?`.
        return reject(at.path_start, Reason::Unstable);
    }
    if path.first() != Some(&b'/') {
        out.push(b'/');
    }
    append_escaped(&path, out);
    if let Some(query) = parts.query() {
        out.push(b'?');
        append_escaped(&decode_until_stable(query), out);
    }
    Ok(())
}

/// Returns a decoded path without dot segments and runs of slashes.
fn key_path(decoded: &[u8]) -> Vec<u8> {
    let mut path = Vec::new();
    append_without_dot_segments(decoded, false, &mut path);
    path.dedup_by(|a, b| *a == b'/' && *b == b'/');
    path
}

/// Returns the decoded URL if the scheme or the slashes after it are escaped, as in `http%3A%2F%2Fexample.com/`. Google's rules decode a
/// URL before they split it.
fn escaped_url(parts: &Parts<'_>) -> Option<Vec<u8>> {
    let end = parts.offsets().query_end;
    let mut decoded = Vec::new();
    append_escaped(&decode_until_stable(&parts.input()[..end]), &mut decoded);
    let parts = split(&decoded);
    (parts.is_uri() && parts.host().is_some()).then_some(decoded)
}

/// Makes the host of a key. Returns `None` if the host is empty, if a character is mapped to a delimiter, or if a name that becomes
/// Punycode holds a `%`.
fn key_host(raw: &[u8], version: Version) -> Option<Vec<u8>> {
    let decoded = decode_until_stable(raw);
    let mut ascii = Cow::Borrowed(&*decoded);
    if !decoded.is_ascii() {
        match uts46(&decoded, b"") {
            // Inside Punycode, other bytes than in the name would follow the `%`, and could make it an escape.
            Ok(name) if name.contains('%') => return None,
            Ok(name) => ascii = Cow::Owned(name.into_owned().into_bytes()),
            // Google's rules escape the bytes of a host that UTS 46 rejects.
            Err(InvalidName::Rejected) => {}
            Err(InvalidName::Forbidden) => return None,
        }
    }
    // A key has no dots at the ends of its host, and no runs of dots.
    let mut name = ascii.to_ascii_lowercase();
    name.dedup_by(|a, b| *a == b'.' && *b == b'.');
    let name = name.strip_prefix(b".").unwrap_or(&name);
    let name = name.strip_suffix(b".").unwrap_or(name);
    if name.is_empty() {
        return None;
    }
    let literal = if version == Version::Five { address_in_brackets(name) } else { None };
    let host = match (literal, literal.map_or_else(|| old_ipv4(name), embedded_ipv4)) {
        (_, Some(address)) => address.to_string(),
        (Some(address), None) => alloc::format!("[{address}]"),
        (None, None) => Encode::keeping(KEPT).encode(name).into_owned(),
    };
    Some(host.into_bytes())
}

/// Reports whether a host is text in brackets that a key keeps, except for the case of letters.
fn is_literal(host: &[u8]) -> bool {
    host.starts_with(b"[") && host.ends_with(b"]") && host.iter().all(|&byte| KEPT.contains(byte))
}

fn append_escaped(part: &[u8], out: &mut Vec<u8>) {
    Encode::keeping(KEPT).encode_append(part, out);
}

fn address_in_brackets(host: &[u8]) -> Option<Ipv6Addr> {
    let address = host.strip_prefix(b"[")?.strip_suffix(b"]")?;
    core::str::from_utf8(address).ok()?.parse().ok()
}

/// Returns the IPv4 address inside `address` if that is IPv4-mapped or has the well-known NAT64 prefix `64:ff9b::/96`.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            Some((u32::from(high) << 16 | u32::from(low)).into())
        }
        _ => None,
    }
}
