//! Makes the keys of Scrapy, the canonical forms that `canonicalize_url` of w3lib 2.5 returns.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use simdpct::{AsciiSet, Encode, HexCase, encode_byte, sets};

use super::contact;
use super::error::{CanonicalizeError, Reason};
use super::host::append_ipv6;
use super::shared::{
    all, first_bytes, has_pair, idna_2003, is_plain_name, offset_in, trim, without_line_ends,
};
use crate::compose::append_without_dot_segments;
use crate::host::{HostKind, port_number};
use crate::kernel::tables::set;
use crate::parts::{Parts, split};
use crate::pieces::{Piece, QueryPair};

pub(super) mod proof;

/// The bytes of a path that are decoded if they are escaped.
const PATH: AsciiSet = sets::RFC3986_UNRESERVED.union(set(b"!$&'()*+,:=@[]|"));
/// The bytes of a user name or password that stay unescaped, and are decoded if they are escaped.
const USERINFO: AsciiSet = sets::RFC3986_UNRESERVED.union(set(b"!$&'()*+,"));
/// The bytes that stay unescaped in the parameters of the last segment. Escapes in parameters are not decoded.
const PARAMETERS: AsciiSet = PATH_RAW.remove(b"[]|");
/// The bytes that stay unescaped in a fragment. Escapes in a fragment are not decoded.
const FRAGMENT: AsciiSet = PARAMETERS.union(set(b"?"));
/// The bytes that stay unescaped in a path: those of [`PATH`], and `%`, `/` and `;`, whose escapes are not decoded.
const PATH_RAW: AsciiSet = PATH.union(set(b"%/;"));

/// The schemes, besides the special ones, after which an empty authority (`//`) is written if the path starts with a slash:
/// `uses_netloc` of Python.
#[rustfmt::skip]
const WITH_AUTHORITY: &[&[u8]] = &[
    b"sftp", b"gopher", b"nntp", b"telnet", b"imap", b"wais", b"mms", b"shttp", b"snews", b"prospero", b"rtsp", b"rtsps", b"rtspu",
    b"rsync", b"svn", b"svn+ssh", b"nfs", b"git", b"git+ssh",
];
/// The schemes in whose URLs the last segment may have parameters after `;`. Empty parameters are removed.
#[rustfmt::skip]
const WITH_PARAMETERS: &[&[u8]] = &[
    b"", b"ftp", b"hdl", b"prospero", b"http", b"https", b"shttp", b"rtsp", b"rtsps", b"rtspu", b"sip", b"sips", b"mms", b"sftp", b"tel",
];

/// Appends the result of `canonicalize_url(url, keep_blank_values, keep_fragments)`.
pub(super) fn append(
    url: &[u8],
    keep_blank_values: bool,
    keep_fragments: bool,
    out: &mut Vec<u8>,
) -> Result<(), CanonicalizeError> {
    let start = out.len();
    let original = url;
    let mut url = without_line_ends(trim(url));
    let reject = |offset, reason| Err(CanonicalizeError { offset: offset_in(original, offset), reason });
    if memchr::memchr(b'\\', &url).is_some() && split(&url).scheme().is_some_and(contact::is_opened) {
        let end = memchr::memchr2(b'?', b'#', &url).unwrap_or(url.len());
        url.to_mut()[..end].iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    let parts = split(&url);
    let scheme = parts.scheme().unwrap_or_default();
    if !scheme.is_empty() {
        out.extend(scheme.iter().map(u8::to_ascii_lowercase));
        out.push(b':');
    }
    let authority_start = out.len();
    out.extend_from_slice(b"//");
    append_authority(&parts, out).or_else(|error| reject(error.offset, error.reason))?;
    let has_authority = out.len() > authority_start + 2;
    if !has_authority {
        out.truncate(authority_start);
    }

    let path_start = out.len();
    let (segments, parameters) =
        parts.path().split_at(parameters_start(parts.path(), is_one_of(scheme, WITH_PARAMETERS)));
    append_quoted(segments, PATH, PATH_RAW, out);
    let malformed = |text: &[u8]| simdpct::escapes(text).filter(Result::is_err).count();
    if memchr::memchr(b'%', segments).is_some()
        && simdpct::validate(segments).is_err()
        && malformed(segments) != malformed(&out[path_start..])
    {
        // w3lib makes `%41` of `%4%31`, and then `A` of `%41`.
        return reject(parts.offsets().path_start, Reason::Unstable);
    }
    let path = &out[path_start..];
    if path.first() == Some(&b'/') && has_pair(path, |a, b| (a == b'/') & (b == b'.')) {
        let dotted = out.split_off(path_start);
        append_without_dot_segments(&dotted, false, out);
    }
    if out.len() == path_start {
        out.push(b'/');
    }
    // Escapes in parameters stay as they are, in upper or lower case. A `;` without parameters after it is removed.
    if parameters.len() > 1 {
        Encode::keeping(PARAMETERS).encode_append(parameters, out);
    }
    let path = &out[path_start..];
    if !has_authority
        && (path.starts_with(b"//")
            || path[0] == b'/' && (contact::is_opened(scheme) || is_one_of(scheme, WITH_AUTHORITY)))
    {
        out.splice(path_start..path_start, *b"//");
    }
    let query = parts.query().unwrap_or_default();
    if !keep_blank_values || !append_plain_query(query, out) {
        append_query(parts.query_pairs(), keep_blank_values, out);
    }
    if let Some(fragment) = parts.fragment().map(|fragment| fragment.raw())
        && keep_fragments
        && !fragment.is_empty()
    {
        out.push(b'#');
        Encode::keeping(FRAGMENT).encode_append(fragment, out);
    }
    if scheme.is_empty() && !has_authority && out[start] != b'/' && split(&out[start..]).is_uri() {
        // w3lib makes a scheme of the first segment of `a%3Ab`.
        return reject(0, Reason::Unstable);
    }
    if !contact::is_kept(original, &parts, &out[start..]) {
        return reject(parts.offsets().host_start, Reason::HostConflict);
    }
    Ok(())
}

/// Reports whether `scheme` is one of `schemes`, which are in lower case. The case of `scheme` does not matter.
fn is_one_of(scheme: &[u8], schemes: &[&[u8]]) -> bool {
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Returns the offset of the first `;` of the last segment. Returns the length of `path` if there is none, or if the scheme has
/// no parameters.
fn parameters_start(path: &[u8], has_parameters: bool) -> usize {
    let last = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    let found = has_parameters.then(|| memchr::memchr(b';', &path[last..])).flatten();
    found.map_or(path.len(), |at| last + at)
}

fn append_authority(parts: &Parts<'_>, out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
    let at = parts.offsets();
    let Some(host) = parts.host() else { return Ok(()) };
    let (from, raw) = (at.host_start, host.raw());
    if at.host_start == at.after_scheme() + 2 && at.host_end == at.path_start && is_plain_name(raw) {
        out.extend(raw.iter().map(u8::to_ascii_lowercase));
        return Ok(());
    }
    let (kind, zone) = kind_and_zone(raw);
    let bad_host = CanonicalizeError { offset: from, reason: Reason::Host };
    if kind == HostKind::RegName
        && let Some(bracket) = memchr::memchr2(b'[', b']', raw)
    {
        return Err(CanonicalizeError { offset: from + bracket, ..bad_host });
    }
    let port = parts.port().unwrap_or_default();
    if !port.is_empty() && port_number(port).is_none() {
        return Err(CanonicalizeError { offset: at.host_end + 1, reason: Reason::Port });
    }
    if parts.userinfo().is_some_and(|userinfo| memchr::memchr2(b'[', b']', userinfo.raw()).is_some()) {
        return Err(bad_host);
    }
    if let Some(user) = parts.user() {
        append_quoted(user.raw(), USERINFO, USERINFO, out);
        if let Some(password) = parts.password() {
            out.push(b':');
            append_quoted(password.raw(), USERINFO, USERINFO, out);
        }
        out.push(b'@');
    }
    match kind {
        HostKind::Ipv6(address) => {
            append_ipv6(address, out);
            out.splice(out.len() - 1..out.len() - 1, zone.iter().map(u8::to_ascii_lowercase));
        }
        // w3lib drops the brackets of an address of a future version. The result would name another host, so such a host is
        // rejected.
        HostKind::Invalid | HostKind::IpFuture => return Err(bad_host),
        _ if raw.is_ascii() => out.extend(raw.iter().map(u8::to_ascii_lowercase)),
        _ => append_idna(raw, out).ok_or(bad_host)?,
    }
    if let Some(port) = port_number(port) {
        out.push(b':');
        out.extend_from_slice(alloc::string::ToString::to_string(&port).as_bytes());
    }
    Ok(())
}

/// Returns the kind of a host, and the zone of an IPv6 address with the `%` before it. A zone is any ASCII text without `%` and brackets.
fn kind_and_zone(host: &[u8]) -> (HostKind, &[u8]) {
    if let [b'[', literal @ .., b']'] = host
        && let Some(percent) = memchr::memchr(b'%', literal)
        && let Some(address) =
            core::str::from_utf8(&literal[..percent]).ok().and_then(|text| text.parse().ok())
    {
        let zone = &literal[percent + 1..];
        if !zone.is_empty() && zone.is_ascii() && memchr::memchr3(b'%', b'[', b']', zone).is_none() {
            return (HostKind::Ipv6(address), &literal[percent..]);
        }
    }
    (HostKind::of(host), b"")
}

/// Appends a host that is not ASCII. If a label is empty or too long, the host is only written in lower case.
fn append_idna(host: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let text = core::str::from_utf8(host).ok()?;
    match idna_2003(text, b"")? {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => out.extend_from_slice(text.to_lowercase().as_bytes()),
    }
    Some(())
}

/// Appends `part`. Escapes of bytes in `decoded` are decoded, other escapes are written in upper case, and bytes that are not in
/// `raw` are escaped.
fn append_quoted(part: &[u8], decoded: AsciiSet, raw: AsciiSet, out: &mut Vec<u8>) {
    let mut left = part;
    if memchr::memchr(b'%', part).is_none() {
        return Encode::keeping(raw).encode_append(part, out);
    }
    loop {
        let plain = left.iter().position(|&byte| byte == b'%' || !raw.contains(byte)).unwrap_or(left.len());
        out.extend_from_slice(&left[..plain]);
        left = &left[plain..];
        let Some(&byte) = left.first() else { return };
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

/// Appends `query` with its parameters sorted, and returns `true`, if sorting is the only change that it needs: each
/// parameter has one `=`, a name without escapes, and a value that is already escaped as in a form. Appends nothing and
/// returns `true` if `query` is empty. For any other query, appends nothing and returns `false`.
fn append_plain_query(query: &[u8], out: &mut Vec<u8>) -> bool {
    const PLAIN: AsciiSet = sets::RFC3986_UNRESERVED.union(set(b"=&%+"));

    let stays = |at: usize| match simdpct::decode_escape(&query[at..]) {
        None | Some(b' ') => false,
        Some(byte) => {
            !sets::RFC3986_UNRESERVED.contains(byte)
                && query[at..].starts_with(&encode_byte(byte, HexCase::Upper))
        }
    };
    if query.is_empty()
        || !Encode::keeping(PLAIN).is_encoded(query)
        || !memchr::memchr_iter(b'%', query).all(stays)
    {
        return query.is_empty();
    }
    let mut pairs = Vec::new();
    for pair in query.split(|&byte| byte == b'&') {
        let Some(at) = memchr::memchr(b'=', pair) else { return false };
        let (name, value) = (&pair[..at], &pair[at + 1..]);
        if memchr::memchr2(b'%', b'+', name).is_some() || memchr::memchr(b'=', value).is_some() {
            return false;
        }
        pairs.push((first_bytes(name), name, decoded_form(Piece::new(value)), value));
    }
    pairs.sort_unstable();
    let start = out.len();
    for (_, name, _, value) in pairs {
        out.push(b'&');
        out.extend_from_slice(name);
        out.push(b'=');
        out.extend_from_slice(value);
    }
    out[start] = b'?';
    true
}

/// Decodes a query as a form, sorts its `n` parameters with `n log n` comparisons, and appends them as a form.
fn append_query<'a>(pairs: impl Iterator<Item = QueryPair<'a>>, keep_blank_values: bool, out: &mut Vec<u8>) {
    let mut pairs = pairs
        .map(|pair| (decoded_form(pair.name), decoded_form(pair.value.unwrap_or_default())))
        .filter(|(_, value)| keep_blank_values || !value.is_empty());
    let Some(first) = pairs.next() else { return };
    let Some(second) = pairs.next() else { return append_pair(b'?', &first, out) };
    let pairs = [first, second].into_iter().chain(pairs);
    let mut pairs: Vec<_> = pairs.map(|pair| (first_bytes(&pair.0), pair)).collect();
    pairs.sort_unstable();
    let mut delimiter = b'?';
    for (_, pair) in &pairs {
        append_pair(delimiter, pair, out);
        delimiter = b'&';
    }
}

/// Returns the piece, decoded as in forms. Most pieces are short, and have nothing to decode.
fn decoded_form(piece: Piece<'_>) -> Cow<'_, [u8]> {
    if all(piece.raw(), |byte| (byte != b'%') & (byte != b'+')) {
        Cow::Borrowed(piece.raw())
    } else {
        piece.decode_form()
    }
}

fn append_pair(delimiter: u8, (name, value): &(Cow<'_, [u8]>, Cow<'_, [u8]>), out: &mut Vec<u8>) {
    /// The encoder of Python's `quote_plus`.
    const FORM: Encode<AsciiSet> = Encode::keeping(sets::RFC3986_UNRESERVED).form();

    out.push(delimiter);
    FORM.encode_append(name, out);
    out.push(b'=');
    FORM.encode_append(value, out);
}
