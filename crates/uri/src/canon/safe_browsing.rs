//! Google Safe Browsing: the canonicalization of its URLs, version 4.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use simdpct::{AsciiSet, Encode};

use super::{Reason, Refused};
use crate::compose::remove_dot_segments;
use crate::parts::split;

/// What stays: above 0x20 and below 0x7F, without `#` and `%`.
const KEPT: AsciiSet = simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%");

pub(super) fn append(url: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
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

    let decoded = simdpct::decode_until_stable(parts.host().unwrap_or_default().raw());
    let mut host = Vec::with_capacity(decoded.len());
    for label in decoded.split(|&byte| byte == b'.').filter(|label| !label.is_empty()) {
        if !host.is_empty() {
            host.push(b'.');
        }
        host.extend(label.iter().map(u8::to_ascii_lowercase));
    }
    if host.is_empty() {
        return Err(Refused { offset: parts.offsets().host_start.min(url.len()), reason: Reason::Host });
    }
    out.extend(parts.scheme().unwrap_or(b"http").iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    match old_ipv4(&host) {
        Some(address) => out.extend_from_slice(alloc::string::ToString::to_string(&address).as_bytes()),
        None => append_escaped(&host, out),
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

/// An address of version 4 as `inet_aton` reads it: one to four numbers, decimal, octal or hexadecimal, the last of which
/// fills the bytes that are left.
fn old_ipv4(host: &[u8]) -> Option<Ipv4Addr> {
    let mut address: u64 = 0;
    let mut count = 0;
    let mut numbers = host.split(|&byte| byte == b'.').peekable();
    while let Some(number) = numbers.next() {
        let (digits, radix) = match number {
            [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
            [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
            digits => (digits, 10),
        };
        if count == 4 || digits.is_empty() && radix != 16 {
            return None;
        }
        let value = digits.iter().try_fold(0_u64, |value, &digit| {
            let digit = char::from(digit).to_digit(radix)?;
            value.checked_mul(radix.into())?.checked_add(digit.into())
        })?;
        count += 1;
        let bytes = if numbers.peek().is_some() { 1 } else { 5 - count };
        if value >> (8 * bytes) != 0 {
            return None;
        }
        address = address << (8 * bytes) | value;
    }
    u32::try_from(address).ok().map(Ipv4Addr::from)
}

#[cfg(test)]
mod tests {
    use super::old_ipv4;

    #[test]
    fn spellings_of_one_address() {
        for host in ["195.127.0.11", "3279880203", "0xc3.0x7f.0.11", "0303.0177.11", "195.127.11"] {
            assert_eq!(old_ipv4(host.as_bytes()), Some([195, 127, 0, 11].into()), "{host}");
        }
        for host in [
            "",
            "1.2.3.4.5",
            "1.2.3.256",
            "4294967296",
            "1.2.65536.1",
            "08",
            "a",
            "1..2",
            "99999999999999999999",
        ] {
            assert_eq!(old_ipv4(host.as_bytes()), None, "{host}");
        }
    }
}
