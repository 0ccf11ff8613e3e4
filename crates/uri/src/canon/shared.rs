//! The operations that several canonical forms share.

use alloc::borrow::Cow;
use core::net::Ipv4Addr;

/// Returns `url` without TAB, CR and LF.
pub(super) fn without_line_ends(url: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr3(b'\t', b'\r', b'\n', url) {
        Some(_) => url.iter().copied().filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')).collect(),
        None => url.into(),
    }
}

/// Returns `url` without C0 control characters (0x00 to 0x1F) and spaces at its ends.
pub(super) fn trim(url: &[u8]) -> &[u8] {
    let start = url.iter().position(|&byte| byte > b' ').unwrap_or(url.len());
    let end = url.iter().rposition(|&byte| byte > b' ').map_or(start, |last| last + 1);
    &url[start..end]
}

/// Converts `offset`, which does not count the bytes that [`trim`] and [`without_line_ends`] remove, to an offset in `url`.
pub(super) fn offset_in(url: &[u8], offset: usize) -> usize {
    let trimmed = trim(url);
    let start = trimmed.as_ptr().addr() - url.as_ptr().addr();
    let end = start + trimmed.len();
    let mut kept = (start..end).filter(|&at| !matches!(url[at], b'\t' | b'\n' | b'\r'));
    kept.nth(offset).unwrap_or(end)
}

/// Reports whether a URL without `//` is a host and a port, as `example.com:80/` is: `name` is the part before the first colon, `rest`
/// the part after it. A name without a dot may be a scheme, such as `tel`.
pub(super) fn is_host_and_port(name: &[u8], rest: &[u8]) -> bool {
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let is_port = digits > 0 && matches!(rest.get(digits), None | Some(b'/' | b'?' | b'#'));
    is_port && (name.contains(&b'.') || name.eq_ignore_ascii_case(b"localhost"))
}

/// Reports whether `is_member` is true for all bytes of `text`. The loop has no early exit, so that it becomes vector code.
#[inline(always)]
pub(super) fn all(text: &[u8], is_member: impl Fn(u8) -> bool) -> bool {
    text.iter().fold(true, |all, &byte| all & is_member(byte))
}

/// Reports whether `text` has two adjacent bytes for which `is_match` is true. The loop has no early exit, so that it becomes vector code.
#[inline(always)]
pub(super) fn has_pair(text: &[u8], is_match: impl Fn(u8, u8) -> bool) -> bool {
    let next = text.get(1..).unwrap_or_default();
    text.iter().zip(next).fold(false, |found, (&byte, &next)| found | is_match(byte, next))
}

/// Reports whether `host` is a plain name: at most 64 letters, digits, `-`, `_` and single dots, with a letter first, no dot
/// last, and no digit at the start of the last label. Because a plain name starts with a letter, it is not an address.
pub(super) fn is_plain_name(host: &[u8]) -> bool {
    let (Some(first), 0..=64) = (host.first(), host.len()) else { return false };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'-') | (byte == b'_') | (byte == b'.');
    if !first.is_ascii_alphabetic()
        || host.ends_with(b".")
        || !all(host, is_plain)
        || has_pair(host, |a, b| (a == b'.') & (b == b'.'))
    {
        return false;
    }
    // Browsers may read a name as an address if its last label starts with a digit.
    let last = memchr::memrchr(b'.', host).map_or(0, |dot| dot + 1);
    !host[last].is_ascii_digit()
}

/// Returns the first eight bytes of a name, as a number that orders like these bytes. Sorting many parameters by this number first saves
/// most comparisons of the names themselves, which are far apart in memory.
pub(super) fn first_bytes(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = name.len().min(8);
    first[..len].copy_from_slice(&name[..len]);
    u64::from_be_bytes(first)
}

/// Reads an IPv4 address as `inet_aton` does: one to four numbers, decimal, octal or hexadecimal. The last number fills
/// the remaining bytes.
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

/// Converts a host to ASCII by IDNA 2003. Returns `Some(None)` if the ASCII name has a label of more than 63 bytes, or an empty one. A dot
/// at the end is allowed, unless the label after it is empty because all of its characters are ignored.
///
/// Returns `None` if the name is not valid, or UTS 46 does not give the same name. IDNA 2003 and UTS 46 map some characters to different
/// names, and UTS 46 has rules of its own, such as the rule on text direction. Also returns `None` if a character is mapped to one of
/// `delimiters`. See [`uts46`].
#[cfg(feature = "idna")]
pub(super) fn idna_2003<'a>(host: &'a str, delimiters: &[u8]) -> Option<Option<Cow<'a, str>>> {
    if host.chars().any(is_mapped_differently) {
        return None;
    }
    let name = if host.is_ascii() { Cow::Borrowed(host) } else { uts46(host.as_bytes(), delimiters).ok()? };
    // The last label may be empty, but it must not become empty because all of its characters are ignored.
    let last = host.rsplit(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).next().unwrap_or_default();
    let is_mapped = !last.is_empty() && uts46(last.as_bytes(), b"").is_ok_and(|last| last.is_empty());
    let labels = if is_mapped { &name } else { name.strip_suffix('.').unwrap_or(&name) };
    let mut labels = labels.split('.');
    Some(labels.all(|label| (1..64).contains(&label.len())).then_some(name))
}

/// Reports whether IDNA 2003, as Python has it, rejects `c` or maps it to another name than UTS 46 does.
///
/// The ranges were found by asking both for every character, alone and between two letters; `ci/uri-peers` asks again. Most of the
/// characters are younger than Unicode 3.2, the version of IDNA 2003. For a few characters in the ranges, both give the
/// same name.
#[rustfmt::skip]
fn is_mapped_differently(c: char) -> bool {
    matches!(c,
        '\u{DF}' | '\u{3C2}' | '\u{558}' | '\u{58B}'..='\u{58C}' | '\u{10FC}' | '\u{115F}'..='\u{1160}' |
        '\u{13A0}'..='\u{13FD}' | '\u{17B4}'..='\u{17B5}' | '\u{1806}' | '\u{180E}'..='\u{180F}' | '\u{1C80}'..='\u{1C89}' |
        '\u{1D2C}'..='\u{1D2E}' | '\u{1D30}'..='\u{1D3A}' | '\u{1D3C}'..='\u{1D4D}' | '\u{1D4F}'..='\u{1D6A}' | '\u{1D78}' |
        '\u{1D9B}'..='\u{1DBF}' | '\u{1E9E}' | '\u{200C}'..='\u{200D}' | '\u{2061}'..='\u{206F}' | '\u{2090}'..='\u{209F}' |
        '\u{213B}'..='\u{213C}' | '\u{2150}'..='\u{2152}' | '\u{2189}' | '\u{2C7C}'..='\u{2C7D}' | '\u{2D6F}' | '\u{3164}' |
        '\u{3244}'..='\u{3247}' | '\u{3250}' | '\u{327C}'..='\u{327E}' | '\u{32CC}'..='\u{32CF}' | '\u{32FF}' |
        '\u{3377}'..='\u{337A}' | '\u{33DE}'..='\u{33DF}' | '\u{33FF}' | '\u{A69C}'..='\u{A69D}' | '\u{A770}' |
        '\u{A7CB}'..='\u{A7CC}' | '\u{A7CE}' | '\u{A7D2}' | '\u{A7D4}' | '\u{A7DA}' | '\u{A7DC}'..='\u{A7F4}' |
        '\u{A7F8}'..='\u{A7F9}' | '\u{AB5C}'..='\u{AB5F}' | '\u{AB69}' | '\u{AB6C}'..='\u{ABBF}' | '\u{FA2E}'..='\u{FA2F}' |
        '\u{FA6B}'..='\u{FAD9}' | '\u{FB1D}' | '\u{FB1F}' | '\u{FB2A}'..='\u{FB4E}' | '\u{FC5B}'..='\u{FC5D}' | '\u{FC90}' |
        '\u{FCD9}' | '\u{FCF2}'..='\u{FCF4}' | '\u{FD3C}'..='\u{FD3D}' | '\u{FE11}' | '\u{FE14}'..='\u{FE15}' |
        '\u{FE17}'..='\u{FE18}' | '\u{FE57}' | '\u{FE71}' | '\u{FE77}' | '\u{FE79}' | '\u{FE7B}' | '\u{FE7D}' | '\u{FE7F}' |
        '\u{FF01}' | '\u{FFA0}' | '\u{10781}'..='\u{107BF}' | '\u{10D50}'..='\u{10D65}' | '\u{16EA0}'..='\u{16EB8}' |
        '\u{1B123}'..='\u{1B126}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1CCD6}'..='\u{1CCF9}' | '\u{1D173}'..='\u{1D17A}' |
        '\u{1D4C1}' | '\u{1D6A4}'..='\u{1D7CB}' | '\u{1DF40}'..='\u{1E06D}' | '\u{1EE00}'..='\u{1EEBB}' |
        '\u{1F12A}'..='\u{1F251}' | '\u{1FBF0}'..='\u{1FBF9}' | '\u{2F868}'..='\u{2F9BF}' | '\u{E0100}'..='\u{E01EF}'
    )
}

/// The reason why [`uts46`] does not convert a host.
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
    // A deny list of idna would also reject forbidden bytes that the host itself holds. The tools that define the keys
    // keep those, so only bytes that the mapping adds are rejected.
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
