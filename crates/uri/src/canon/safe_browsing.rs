//! The keys of Google Safe Browsing, versions 4 and 5.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use simdpct::{AsciiSet, Encode};

use super::error::{CanonicalizeError, Reason};
#[cfg(feature = "idna")]
use super::shared::InvalidName;
use super::shared::{append_without_extra_dots, old_ipv4, without_line_ends};
use crate::compose::remove_dot_segments;
use crate::parts::split;

/// The bytes that stay unescaped in a key: those above 0x20 and below 0x7F, without `#` and `%`.
const KEPT: AsciiSet = simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%");

/// The version of Google's rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Four,
    #[cfg(feature = "idna")]
    Five,
}

/// Appends the key of `url` by the rules of `version`.
pub(super) fn append(url: &[u8], version: Version, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let without_line_ends = without_line_ends(url);
    let trimmed = without_line_ends.trim_ascii();
    let mut parts = split(trimmed);
    let with_scheme;
    if parts.host().is_none() {
        // Inputs such as `www.example.com/` and `example.com:80/` have no scheme, so `http://` is inserted.
        with_scheme = [b"http://", trimmed].concat();
        parts = split(&with_scheme);
    }

    let host = parts.host().unwrap_or_default().raw();
    let offset = parts.offsets().host_start.min(url.len());
    let bad_host = CanonicalizeError { offset, reason: Reason::Host };
    let punycode: Option<Cow<'_, str>> = match version {
        Version::Four => None,
        #[cfg(feature = "idna")]
        Version::Five if host.is_ascii() => None,
        #[cfg(feature = "idna")]
        Version::Five => match super::shared::uts46(host, b"") {
            Ok(name) => Some(name),
            // Google's rules escape the bytes of a host that UTS 46 rejects.
            Err(InvalidName::Rejected) => None,
            Err(InvalidName::Forbidden) => return Err(bad_host),
        },
    };
    let mut name = Vec::with_capacity(host.len());
    append_without_extra_dots(&decode(punycode.as_deref().map_or(host, str::as_bytes)), &mut name);
    name.make_ascii_lowercase();
    if name.is_empty() {
        return Err(bad_host);
    }
    out.extend(parts.scheme().unwrap_or(b"http").iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    let literal: Option<Ipv6Addr> = match version {
        Version::Four => None,
        #[cfg(feature = "idna")]
        Version::Five => address_in_brackets(&name),
    };
    match (literal, literal.map_or_else(|| old_ipv4(&name), embedded_ipv4)) {
        (_, Some(address)) => append_display(&address, out),
        (Some(address), None) => {
            out.push(b'[');
            append_display(&address, out);
            out.push(b']');
        }
        (None, None) => append_escaped(&name, out),
    }

    let mut path = Vec::new();
    remove_dot_segments(&decode(parts.path()), &mut path);
    path.dedup_by(|a, b| *a == b'/' && *b == b'/');
    if path.first() != Some(&b'/') {
        out.push(b'/');
    }
    append_escaped(&path, out);
    if let Some(query) = parts.query() {
        out.push(b'?');
        append_escaped(&decode(query), out);
    }
    Ok(())
}

/// Decodes escapes until nothing changes.
fn decode(part: &[u8]) -> Cow<'_, [u8]> {
    simdpct::decode_until_stable(part)
}

fn append_escaped(part: &[u8], out: &mut Vec<u8>) {
    Encode::keeping(KEPT).encode_append(part, out);
}

fn append_display(address: &impl alloc::string::ToString, out: &mut Vec<u8>) {
    out.extend_from_slice(address.to_string().as_bytes());
}

#[cfg(feature = "idna")]
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
