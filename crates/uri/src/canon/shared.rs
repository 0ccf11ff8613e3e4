//! The operations that several profiles share.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

/// Returns `url` without TAB, CR and LF.
pub(super) fn without_line_ends(url: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr3(b'\t', b'\r', b'\n', url) {
        Some(_) => url.iter().copied().filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')).collect(),
        None => url.into(),
    }
}

/// Appends `host` without dots at its ends, and with one dot in place of each run of dots.
pub(super) fn append_without_extra_dots(host: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for label in host.split(|&byte| byte == b'.').filter(|label| !label.is_empty()) {
        if out.len() > start {
            out.push(b'.');
        }
        out.extend_from_slice(label);
    }
}

/// Reads an IPv4 address as `inet_aton` does: one to four numbers, decimal, octal or hexadecimal. The last one fills the remaining
/// bytes.
pub(super) fn old_ipv4(host: &[u8]) -> Option<Ipv4Addr> {
    // Every spelling of an address starts with a digit, and hardly any name does.
    if !host.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
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

/// The error of [`idna_2003`]: the name is not valid, or IDNA 2003 and UTS 46 differ. They map some characters to different
/// names, and UTS 46 has rules of its own, such as that on text direction.
#[cfg(feature = "idna")]
pub(super) struct Deviation;

/// Converts a host to ASCII by IDNA 2003; fails unless UTS 46 gives the same name. Returns `None` if the ASCII name has an empty
/// label, or a label of more than 63 bytes.
///
/// Also fails if a character is mapped to one of `delimiters`. See [`uts46`].
#[cfg(feature = "idna")]
pub(super) fn idna_2003<'a>(host: &'a str, delimiters: &[u8]) -> Result<Option<Cow<'a, str>>, Deviation> {
    if host.contains(['\u{DF}', '\u{1E9E}', '\u{3C2}', '\u{200C}', '\u{200D}']) {
        return Err(Deviation);
    }
    let name = if host.is_ascii() {
        Cow::Borrowed(host)
    } else {
        uts46(host.as_bytes(), delimiters).map_err(|_| Deviation)?
    };
    let mut labels = name.strip_suffix('.').unwrap_or(&name).split('.');
    Ok(labels.all(|label| (1..64).contains(&label.len())).then_some(name))
}

/// The reason why [`uts46`] does not convert a host.
#[cfg(feature = "idna")]
pub(super) enum InvalidName {
    /// UTS 46 rejects the name.
    Rejected,
    /// A character is mapped to a forbidden byte, such as `U+FF0F` to `/`, so the URL would name another host.
    Forbidden,
}

/// Converts a host to Punycode by UTS 46. Fails if a character is mapped to one of `delimiters`, or to a byte that the URL
/// Standard forbids in hosts.
#[cfg(feature = "idna")]
pub(super) fn uts46<'a>(host: &'a [u8], delimiters: &[u8]) -> Result<Cow<'a, str>, InvalidName> {
    use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

    let name = Uts46::new().to_ascii(host, AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore);
    let name = name.map_err(|_| InvalidName::Rejected)?;
    // A deny list of idna would also reject forbidden bytes that the host itself holds. The tools keep those, so only bytes that
    // the mapping adds are rejected.
    let is_forbidden =
        |byte: &u8| *byte <= b' ' || b"#%/:<>?@[\\]^|\x7f".contains(byte) || delimiters.contains(byte);
    let mut left = [0_usize; 128];
    host.iter().filter(|byte| byte.is_ascii()).for_each(|&byte| left[usize::from(byte)] += 1);
    for byte in name.bytes().filter(is_forbidden) {
        let left = &mut left[usize::from(byte)];
        *left = left.checked_sub(1).ok_or(InvalidName::Forbidden)?;
    }
    Ok(name)
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
