//! What several profiles do with a host.

#[cfg(feature = "idna")]
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

/// Without dots at its ends and with one dot where there are several, appended to `out`.
pub(super) fn append_without_extra_dots(host: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for label in host.split(|&byte| byte == b'.').filter(|label| !label.is_empty()) {
        if out.len() > start {
            out.push(b'.');
        }
        out.extend_from_slice(label);
    }
}

/// An address of version 4 as `inet_aton` reads it: one to four numbers, decimal, octal or hexadecimal, the last of which
/// fills the bytes that are left.
pub(super) fn old_ipv4(host: &[u8]) -> Option<Ipv4Addr> {
    // All its spellings start with a digit, and nearly no name does.
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

/// IDNA 2003 and UTS 46 give different names: of a character that they map differently, or where only UTS 46 has a rule, such
/// as that of directions.
#[cfg(feature = "idna")]
pub(super) struct Deviation;

/// IDNA 2003, as far as UTS 46 agrees. `None` if the name in ASCII has an empty label or one that is too long.
#[cfg(feature = "idna")]
pub(super) fn idna_2003(host: &str) -> Result<Option<Cow<'_, [u8]>>, Deviation> {
    use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

    if host.contains(['\u{DF}', '\u{1E9E}', '\u{3C2}', '\u{200C}', '\u{200D}']) {
        return Err(Deviation);
    }
    let name = if host.is_ascii() {
        Cow::Borrowed(host)
    } else {
        let uts46 = Uts46::new();
        uts46
            .to_ascii(host.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore)
            .map_err(|_| Deviation)?
    };
    let mut labels = name.strip_suffix('.').unwrap_or(&name).split('.');
    if !labels.all(|label| (1..64).contains(&label.len())) {
        return Ok(None);
    }
    Ok(Some(match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
        Cow::Owned(name) => Cow::Owned(name.into_bytes()),
    }))
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
