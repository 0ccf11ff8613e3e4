//! w3lib 2.5, `canonicalize_url` with its default arguments: the keys of Scrapy.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::Ipv6Addr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use simdpct::{AsciiSet, Encode, HexCase, encode_byte, sets};

use super::{Reason, Refused, refuse_authority};
use crate::compose::remove_dot_segments;
use crate::parts::{HostKind, port_number, split};

/// Written as they are in a path, and decoded there if they are escaped.
const PATH: AsciiSet = literal(b"!$&'()*+,:=@[]|", sets::RFC3986_UNRESERVED);
/// The same in a user name and a password.
const USERINFO: AsciiSet = literal(b"!$&'()*+,", sets::RFC3986_UNRESERVED);
/// Stay as they are in the parameters of the last segment, where nothing is decoded.
const PARAMETERS: AsciiSet = PATH_RAW.remove(b"[]|");
/// Stay as they are in a path, but are not decoded.
const PATH_RAW: AsciiSet = literal(b"%/;", PATH);

/// Schemes in which a backslash is a slash.
const SPECIAL: &[&[u8]] = &[b"http", b"https", b"ftp", b"file", b"ws", b"wss"];
/// Schemes whose empty authority is written all the same, if the path starts with a slash.
const WITH_AUTHORITY: &[&[u8]] = &[b"http", b"https", b"ftp", b"file", b"sftp", b"ws", b"wss"];
/// Schemes whose last segment may have parameters after `;`. Empty ones are dropped.
const WITH_PARAMETERS: &[&[u8]] = &[
    b"",
    b"ftp",
    b"hdl",
    b"prospero",
    b"http",
    b"https",
    b"shttp",
    b"rtsp",
    b"rtsps",
    b"rtspu",
    b"sip",
    b"sips",
    b"mms",
    b"sftp",
    b"tel",
];

const fn literal(bytes: &[u8], and: AsciiSet) -> AsciiSet {
    match AsciiSet::from_bytes(bytes) {
        Some(set) => set.union(and),
        None => and,
    }
}

pub(super) fn append(url: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let mut url = Cow::Borrowed(trim(url));
    if memchr::memchr3(b'\t', b'\r', b'\n', &url).is_some() {
        url.to_mut().retain(|byte| !matches!(byte, b'\t' | b'\r' | b'\n'));
    }
    let scheme = split(&url).scheme().unwrap_or_default().to_ascii_lowercase();
    let is_one_of = |schemes: &[&[u8]]| schemes.contains(&&*scheme);
    if is_one_of(SPECIAL) && memchr::memchr(b'\\', &url).is_some() {
        let end = memchr::memchr2(b'?', b'#', &url).unwrap_or(url.len());
        url.to_mut()[..end].iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    let parts = split(&url);
    let authority = authority(&url)?;

    let mut path = Vec::with_capacity(url.len());
    let (segments, parameters) =
        parts.path().split_at(parameters_start(parts.path(), is_one_of(WITH_PARAMETERS)));
    append_quoted(segments, PATH, PATH_RAW, &mut path);
    if path.starts_with(b"/") {
        let dotted = core::mem::take(&mut path);
        remove_dot_segments(&dotted, &mut path);
    }
    // Their escapes stay as they are, in their case; and a `;` with nothing after it goes.
    if parameters.len() > 1 {
        Encode::keeping(PARAMETERS).encode_append(parameters, &mut path);
    }
    if path.is_empty() {
        path.push(b'/');
    }

    if !scheme.is_empty() {
        out.extend_from_slice(&scheme);
        out.push(b':');
    }
    if !authority.is_empty() || path.starts_with(b"//") || path[0] == b'/' && is_one_of(WITH_AUTHORITY) {
        out.extend_from_slice(b"//");
    }
    out.extend_from_slice(&authority);
    out.extend_from_slice(&path);
    append_query(parts.query_pairs(), out);
    Ok(())
}

/// Where the first `;` of the last segment is, or the end.
fn parameters_start(path: &[u8], has_parameters: bool) -> usize {
    let last = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    let found = has_parameters.then(|| memchr::memchr(b';', &path[last..])).flatten();
    found.map_or(path.len(), |at| last + at)
}

/// Without controls and blanks at its ends.
fn trim(url: &[u8]) -> &[u8] {
    let start = url.iter().position(|&byte| byte > b' ').unwrap_or(url.len());
    let end = url.iter().rposition(|&byte| byte > b' ').map_or(start, |last| last + 1);
    &url[start..end]
}

fn authority(url: &[u8]) -> Result<Vec<u8>, Refused> {
    let parts = split(url);
    let at = parts.offsets();
    let mut out = Vec::new();
    let Some(host) = parts.host() else { return Ok(out) };
    // Several `@` are taken, so only what follows the last one is held to the rules.
    let from = at.host_start;
    let bare = [b"//", &url[from..at.path_start]].concat();
    refuse_authority(&split(&bare)).map_err(|why| Refused { offset: from + why.offset - 2, ..why })?;

    let refused = Refused { offset: from, reason: Reason::Host };
    if parts.userinfo().is_some_and(|userinfo| memchr::memchr2(b'[', b']', userinfo.raw()).is_some()) {
        return Err(refused);
    }
    if let Some(user) = parts.user() {
        append_quoted(user.raw(), USERINFO, USERINFO, &mut out);
        if let Some(password) = parts.password() {
            out.push(b':');
            append_quoted(password.raw(), USERINFO, USERINFO, &mut out);
        }
        out.push(b'@');
    }
    match parts.host_kind() {
        Some(HostKind::Ipv6(address)) => append_ipv6(address, &mut out),
        // w3lib drops the brackets of a future address, which is another host.
        Some(HostKind::IpFuture) => return Err(refused),
        _ if host.raw().is_ascii() => out.extend(host.raw().iter().map(u8::to_ascii_lowercase)),
        _ => append_idna(host.raw(), &mut out).ok_or(refused)?,
    }
    if let Some(port) = parts.port().and_then(port_number) {
        out.push(b':');
        out.extend_from_slice(alloc::string::ToString::to_string(&port).as_bytes());
    }
    Ok(out)
}

/// Python writes no address of version 4 in one of version 6.
fn append_ipv6(address: Ipv6Addr, out: &mut Vec<u8>) {
    let text = match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] => alloc::format!("[::ffff:{high:x}:{low:x}]"),
        _ => alloc::format!("[{address}]"),
    };
    out.extend_from_slice(text.as_bytes());
}

/// IDNA 2003, as far as UTS 46 agrees: the characters that the two map to different names are refused. A host with an empty or
/// a long label is only written in lower case.
fn append_idna(host: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let text = core::str::from_utf8(host).ok()?;
    if text.contains(['\u{DF}', '\u{1E9E}', '\u{3C2}', '\u{200C}', '\u{200D}']) {
        return None;
    }
    let name =
        Uts46::new().to_ascii(host, AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::VerifyAllowRootDot);
    match name {
        Ok(name) => out.extend_from_slice(name.as_bytes()),
        Err(_) => out.extend_from_slice(text.to_lowercase().as_bytes()),
    }
    Some(())
}

/// Decodes escapes of `decoded`, writes the others in upper case, and escapes what is not in `raw`.
fn append_quoted(part: &[u8], decoded: AsciiSet, raw: AsciiSet, out: &mut Vec<u8>) {
    let mut left = part;
    while let Some(&byte) = left.first() {
        let (byte, len, kept) = match simdpct::decode_escape(left) {
            Some(byte) => (byte, 3, decoded.contains(byte)),
            None => (byte, 1, raw.contains(byte)),
        };
        if kept {
            out.push(byte);
        } else {
            out.extend_from_slice(&encode_byte(byte, HexCase::Upper));
        }
        left = &left[len..];
    }
}

/// Decoded as a form, sorted, encoded as a form.
fn append_query(pairs: crate::pieces::Pairs<'_>, out: &mut Vec<u8>) {
    let mut pairs: Vec<_> =
        pairs.map(|pair| (pair.name.decode_form(), pair.value.unwrap_or_default().decode_form())).collect();
    pairs.sort_unstable();
    let encode = Encode::keeping(sets::RFC3986_UNRESERVED).form();
    let mut delimiter = b'?';
    for (name, value) in &pairs {
        out.push(delimiter);
        let mut text = alloc::string::String::new();
        encode.encode_append(name, &mut text);
        text.push('=');
        encode.encode_append(value, &mut text);
        out.extend_from_slice(text.as_bytes());
        delimiter = b'&';
    }
}
