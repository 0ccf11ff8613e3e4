//! Parses and serializes the hosts of the URL Standard of 2 July 2026 (sections 3.5 and 3.6). With the feature `idna`, domains are checked
//! with the tables of Unicode of the crate idna.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::Ipv6Addr;

#[cfg(feature = "idna")]
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use simdpct::{AsciiSet, Encode, sets};

use super::shared::old_ipv4;
use crate::host::is_number;

static OPAQUE: Encode<AsciiSet> = Encode::keeping(sets::WHATWG_C0_CONTROL);

/// Appends the serialization of a host. Returns `None` if it is not valid; `out` may then hold a part of it.
/// `is_opaque` is true if the scheme is not special.
pub(super) fn append(host: &[u8], is_opaque: bool, out: &mut Vec<u8>) -> Option<()> {
    if let Some(literal) = host.strip_prefix(b"[") {
        let literal = core::str::from_utf8(literal.strip_suffix(b"]")?).ok()?;
        append_ipv6(literal.parse().ok()?, out);
        return Some(());
    }
    if is_opaque {
        OPAQUE.encode_append(host, out);
        return (!host.iter().any(|&byte| is_forbidden(byte))).then_some(());
    }
    let start = out.len();
    append_domain(host, out)?;
    let name = out[start..].strip_suffix(b".").unwrap_or(&out[start..]);
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    if !last.is_empty() && is_number(last) {
        let address = old_ipv4(name)?;
        out.truncate(start);
        out.extend_from_slice(address.to_string().as_bytes());
    }
    Some(())
}

/// Appends an address in brackets. `Display` writes it as the standard and Python do, unless it is an IPv4 address mapped to IPv6.
pub(super) fn append_ipv6(address: Ipv6Addr, out: &mut Vec<u8>) {
    let text = match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] => alloc::format!("[::ffff:{high:x}:{low:x}]"),
        _ => alloc::format!("[{address}]"),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Appends the ASCII form of a domain (section 3.3, with `beStrict` false). After decoding, a `%` is forbidden.
fn append_domain(host: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    let host = simdpct::decode(host);
    if host.is_ascii() {
        // ToASCII would reject Punycode that is not valid, which the standard accepts here.
        append_checked(&host, out);
    } else {
        append_mapped(&host, out)?;
    }
    let name = &out[start..];
    (!name.is_empty() && memchr::memchr(FORBIDDEN, name).is_none()).then_some(())
}

/// Appends a name in lower case, and [`FORBIDDEN`] for each byte that no domain may hold.
fn append_checked(name: &[u8], out: &mut Vec<u8>) {
    out.extend(name.iter().map(|&byte| DOMAIN[usize::from(byte)]));
}

/// Appends the ASCII form of a name that is not ASCII. Bytes that are not UTF-8 are rejected, as U+FFFD is.
#[cfg(feature = "idna")]
fn append_mapped(name: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let name = Uts46::new().to_ascii(name, AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore).ok()?;
    append_checked(name.as_bytes(), out);
    Some(())
}

/// Appends a name that is not ASCII, with its ASCII letters in lower case. Without the tables of IDNA, the result is
/// only compared with other hosts.
#[cfg(not(feature = "idna"))]
fn append_mapped(name: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend(name.iter().map(u8::to_ascii_lowercase));
    Some(())
}

/// The entry of [`DOMAIN`] for a byte that no domain may hold.
const FORBIDDEN: u8 = 0;

/// The lower case of each ASCII byte that a domain may hold, and `FORBIDDEN` for all other bytes: the forbidden domain code points
/// (section 3.1), and the bytes outside ASCII.
static DOMAIN: [u8; 256] = {
    let mut lower = [FORBIDDEN; 256];
    let mut byte = b'!';
    while byte < b'\x7F' {
        if !is_forbidden(byte) && byte != b'%' {
            lower[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// Reports whether no host may hold `byte`: whether it is a forbidden host code point (section 3.1).
const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, b'\0' | b'\t' | b'\n' | b'\r' | b' ' | b'#' | b'/' | b':' | b'<' | b'>')
        || matches!(byte, b'?' | b'@' | b'[' | b'\\' | b']' | b'^' | b'|')
}
