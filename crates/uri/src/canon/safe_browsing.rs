//! Google Safe Browsing: the canonicalization of its URLs, versions 4 and 5.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use simdpct::{AsciiSet, Encode};

use super::host::{append_without_extra_dots, old_ipv4};
use super::{Reason, Refused};
use crate::compose::remove_dot_segments;
use crate::parts::split;

/// What stays: above 0x20 and below 0x7F, without `#` and `%`.
const KEPT: AsciiSet = simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%");

/// Whose rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Four,
    #[cfg(feature = "idna")]
    Five,
}

pub(super) fn append(url: &[u8], version: Version, out: &mut Vec<u8>) -> Result<(), Refused> {
    let is_removed = |byte: &u8| matches!(byte, b'\t' | b'\r' | b'\n');
    let without: Cow<'_, [u8]> = match memchr::memchr3(b'\t', b'\r', b'\n', url) {
        Some(_) => url.iter().copied().filter(|byte| !is_removed(byte)).collect(),
        None => url.into(),
    };
    let trimmed = without.trim_ascii();
    let mut parts = split(trimmed);
    let with_scheme;
    if parts.host().is_none() {
        // `www.example.com/` and `example.com:80/`: no scheme.
        with_scheme = [b"http://", trimmed].concat();
        parts = split(&with_scheme);
    }

    let host = parts.host().unwrap_or_default().raw();
    let ascii: Option<Cow<'_, [u8]>> = match version {
        Version::Four => None,
        #[cfg(feature = "idna")]
        Version::Five => idna(host),
    };
    let mut name = Vec::with_capacity(host.len());
    append_without_extra_dots(&decode(ascii.as_deref().unwrap_or(host)), &mut name);
    name.make_ascii_lowercase();
    if name.is_empty() {
        return Err(Refused { offset: parts.offsets().host_start.min(url.len()), reason: Reason::Host });
    }
    out.extend(parts.scheme().unwrap_or(b"http").iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    let literal: Option<Ipv6Addr> = match version {
        Version::Four => None,
        #[cfg(feature = "idna")]
        Version::Five => literal(&name),
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

/// All layers of escapes, in linear time.
fn decode(part: &[u8]) -> Cow<'_, [u8]> {
    simdpct::decode_until_stable(part)
}

fn append_escaped(part: &[u8], out: &mut Vec<u8>) {
    Encode::keeping(KEPT).encode_append(part, out);
}

fn append_display(address: &impl alloc::string::ToString, out: &mut Vec<u8>) {
    out.extend_from_slice(address.to_string().as_bytes());
}

/// The name in ASCII, if it is written in another script.
#[cfg(feature = "idna")]
fn idna(host: &[u8]) -> Option<Cow<'_, [u8]>> {
    use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

    if host.is_ascii() {
        return None;
    }
    match Uts46::new().to_ascii(host, AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore).ok()? {
        Cow::Borrowed(name) => Some(name.as_bytes().into()),
        Cow::Owned(name) => Some(name.into_bytes().into()),
    }
}

/// An address in brackets.
#[cfg(feature = "idna")]
fn literal(host: &[u8]) -> Option<Ipv6Addr> {
    let address = host.strip_prefix(b"[")?.strip_suffix(b"]")?;
    core::str::from_utf8(address).ok()?.parse().ok()
}

/// The address of version 4 that one of version 6 stands for: mapped, or of NAT64 with the well-known prefix.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            Some((u32::from(high) << 16 | u32::from(low)).into())
        }
        _ => None,
    }
}
