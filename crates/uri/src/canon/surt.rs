//! SURT, the sorted keys of web archives: hosts with their labels reversed, as two tools make them.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use core::ops::Range;

use memchr::memmem;
use simdpct::{AsciiSet, Encode};

use super::host::{append_without_extra_dots, idna_2003, old_ipv4};
use super::{Reason, Refused};
use crate::parts::{Parts, port_number, split};

/// Whose keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// The package surt of PyPI, version 0.3.
    Python,
    /// org.archive.url of iipc/webarchive-commons: `WaybackURLKeyMaker`.
    Java,
}

impl Tool {
    /// What is not escaped. Of both: above 0x20, without `#` and `%`.
    const fn kept(self) -> AsciiSet {
        match self {
            Tool::Python => simdpct::sets::WHATWG_C0_CONTROL.remove(b" #%"),
            Tool::Java => AsciiSet::from_bitmap(Tool::Python.kept().to_bitmap() | 1 << 0x7F),
        }
    }
}

/// The schemes that the Java tool knows, with what follows them. To all else it puts `http://`.
const JAVA_SCHEMES: &[&[u8]] = &[b"http://", b"https://", b"ftp://", b"mms://", b"rtsp://", b"wais://"];

pub(super) fn append(url: &[u8], tool: Tool, out: &mut Vec<u8>) -> Result<(), Refused> {
    if append_plain_url(url, tool, out) {
        return Ok(());
    }
    let start = out.len();
    let result = match tool {
        Tool::Python => append_python(url, out),
        Tool::Java => append_java(url, out),
    };
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Most URLs are only written in another order and in lower case: those of the web, with a plain name, a path without empty
/// segments and segments with a dot in front, and nothing that is escaped or would be. Of others it writes nothing, and
/// returns false.
fn append_plain_url(url: &[u8], tool: Tool, out: &mut Vec<u8>) -> bool {
    let Some(rest) = url.strip_prefix(b"http").map(|rest| rest.strip_prefix(b"s").unwrap_or(rest)) else {
        return false;
    };
    let Some(rest) = rest.strip_prefix(b"://") else { return false };
    let (host, rest) = rest.split_at(memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len()));
    if !is_plain_name(host) {
        return false;
    }
    let (path, query) = match memchr::memchr(b'?', rest) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let start = out.len();
    out.reserve(url.len() + 2);
    append_plain_name(host, tool, out);
    out.push(b')');
    let path_start = out.len();
    let mut is_done = append_if_plain(path, true, out);
    if is_done {
        if path.is_empty() {
            out.push(b'/');
        }
        finish_path(out, path_start);
    }
    if is_done && let Some(query) = query {
        out.push(b'?');
        let query_start = out.len();
        is_done = append_if_plain(query, false, out);
        finish_query(out, query_start);
    }
    if !is_done {
        out.truncate(start);
    }
    is_done
}

fn append_python(url: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    if url.is_empty() {
        out.push(b'-');
        return Ok(());
    }
    if url.starts_with(b"filedesc") {
        out.extend_from_slice(url);
        return Ok(());
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    let lead = url.iter().position(|byte| !is_blank(byte)).unwrap_or(url.len());
    let tail = url.iter().rposition(|byte| !is_blank(byte)).map_or(lead, |last| last + 1);
    let trimmed = without_line_ends(&url[lead..tail]);
    let at = Place { url, lead, prefix: 0 };
    let parts = split(&*trimmed);
    if parts.scheme().is_some() {
        return append_python_parts(&parts, at, out);
    }
    let with_scheme = [b"http://", &*trimmed].concat();
    append_python_parts(&split(&with_scheme), Place { prefix: 7, ..at }, out)
}

fn append_python_parts(parts: &Parts<'_>, at: Place<'_>, out: &mut Vec<u8>) -> Result<(), Refused> {
    let scheme = parts.scheme().unwrap_or_default();
    // The last `@` ends the userinfo. Brackets are an address wherever they are in the authority.
    let offsets = parts.offsets();
    let mut host = &parts.input()[offsets.host_start..offsets.path_start];
    // However many there are.
    while let [rest @ .., b':'] = host {
        host = rest;
    }
    let mut port = None;
    let mut host_start = offsets.host_start;
    if let Some(open) = memchr::memchr(b'[', host) {
        host_start += open + 1;
        let rest = &host[open + 1..];
        let close = memchr::memchr(b']', rest).unwrap_or(rest.len());
        host = &rest[..close];
        if let Some(colon) = memchr::memchr(b':', &rest[close..]) {
            port = Some((&rest[close + colon + 1..], host_start + close + colon + 1));
        }
    } else if let Some(colon) = memchr::memchr(b':', host) {
        port = Some((&host[colon + 1..], host_start + colon + 1));
        host = &host[..colon];
    }
    let mut number = None;
    if let Some((port, start)) = port.filter(|(port, _)| !port.is_empty()) {
        // Zeros in front are taken, however many.
        let digits = port.iter().position(|&digit| digit != b'0').map_or(&port[..0], |zeros| &port[zeros..]);
        match port_number(digits) {
            None if !digits.is_empty() => return Err(at.refused(start, Reason::Port)),
            found => number = found.map(i64::from),
        }
    }

    let hosted = append_host(host, scheme, number, Tool::Python, out)
        .map_err(|reason| at.refused(host_start, reason))?;
    if hosted {
        append_path(parts.path(), Tool::Python, true, out);
    } else {
        // Without a host the tool takes `http:/a` for another URL than it is elsewhere, by way of its regular expressions.
        if scheme.starts_with(b"http") {
            return Err(at.refused(host_start, Reason::Host));
        }
        out.extend_from_slice(scheme);
        out.push(b':');
        append_path(parts.path(), Tool::Python, false, out);
    }
    let start = out.len();
    append_query(parts.query(), Tool::Python, out);
    if !hosted && out.len() > start && parts.path().is_empty() {
        out.insert(start, b'/');
    }
    Ok(())
}

fn append_java(url: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let text = core::str::from_utf8(url)
        .map_err(|error| Refused { offset: error.valid_up_to(), reason: Reason::NotUtf8 })?;
    if url.is_empty() {
        out.push(b'-');
        return Ok(());
    }
    if url.starts_with(b"filedesc") || url.starts_with(b"warcinfo") {
        out.extend_from_slice(url);
        return Ok(());
    }
    if let Some(host) = url.strip_prefix(b"dns:") {
        if host.is_empty() {
            return Err(Refused { offset: 4, reason: Reason::Host });
        }
        append_reversed(host, out);
        out.push(b')');
        return Ok(());
    }
    let trimmed = text.trim_start_matches(|c| c <= ' ');
    let lead = text.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches(|c| c <= ' ');
    let trimmed = if trimmed.is_ascii() {
        without_line_ends(trimmed.as_bytes())
    } else {
        let is_line_end = |c| matches!(c, '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        Cow::Owned(trimmed.replace(is_line_end, "").into_bytes())
    };
    if [&b"dns:"[..], b"filedesc:", b"warcinfo:"].iter().any(|opaque| trimmed.starts_with(opaque)) {
        out.extend_from_slice(memchr::memchr(b'(', &trimmed).map_or(url, |open| &trimmed[open + 1..]));
        return Ok(());
    }

    let starts_with =
        |prefix: &&[u8]| trimmed.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let at = Place { url, lead, prefix: 0 };
    // Slashes after those of the authority are dropped, in lower case only.
    for scheme in &JAVA_SCHEMES[..2] {
        if let Some(rest) = trimmed.strip_prefix(*scheme)
            && let [b'/', ..] = rest
        {
            let slashes = rest.iter().position(|&byte| byte != b'/').unwrap_or(rest.len());
            let fewer = [scheme, &rest[slashes..]].concat();
            return append_java_parts(&split(&fewer), Place { lead: lead + slashes, ..at }, out);
        }
    }
    if JAVA_SCHEMES.iter().any(starts_with) {
        return append_java_parts(&split(&*trimmed), at, out);
    }
    let rest = trimmed.iter().position(|&byte| byte != b'/').unwrap_or(trimmed.len());
    let with_scheme = [b"http://", &trimmed[rest..]].concat();
    append_java_parts(&split(&with_scheme), Place { prefix: 7, lead: lead + rest, ..at }, out)
}

fn append_java_parts(parts: &Parts<'_>, at: Place<'_>, out: &mut Vec<u8>) -> Result<(), Refused> {
    let scheme = parts.scheme().unwrap_or_default();
    let authority = parts.authority().unwrap_or_default();
    // The first `@` ends the userinfo. An address is one in brackets without userinfo.
    let start = parts.offsets().after_scheme() + 2;
    let user = memchr::memchr(b'@', authority);
    let host_start = user.map_or(0, |at_sign| at_sign + 1);
    let from = match authority.first() {
        Some(b'[') if user.is_none() => memchr::memchr(b']', authority).unwrap_or(0),
        _ => user.unwrap_or(0),
    };
    let colon = memchr::memchr(b':', &authority[from..]).map(|colon| from + colon);
    let host = &authority[host_start..colon.unwrap_or(authority.len())];
    let port = colon.map_or(&[][..], |colon| &authority[colon + 1..]);
    let number = match java_integer(port) {
        Some(number) => Some(number).filter(|&number| number != -1),
        None if port.is_empty() => None,
        None => return Err(at.refused(start + authority.len() - port.len(), Reason::Port)),
    };
    let hosted = append_host(host, scheme, number, Tool::Java, out)
        .map_err(|reason| at.refused(start + host_start, reason))?;
    if !hosted {
        return Err(at.refused(start + host_start, Reason::Host));
    }
    append_path(parts.path(), Tool::Java, true, out);
    append_query(parts.query(), Tool::Java, out);
    Ok(())
}

/// What `Integer.parseInt` takes, in ASCII.
fn java_integer(digits: &[u8]) -> Option<i64> {
    let (sign, digits) = match digits {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        _ => (1, digits),
    };
    let first = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
    if digits.is_empty() || digits.len() - first > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = sign * digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    i32::try_from(number).is_ok().then_some(number)
}

/// Where a place of what is worked on is in what was given: as near as what was removed from within allows.
#[derive(Clone, Copy)]
struct Place<'a> {
    url: &'a [u8],
    lead: usize,
    prefix: usize,
}

impl Place<'_> {
    fn refused(self, offset: usize, reason: Reason) -> Refused {
        Refused { offset: (self.lead + offset.saturating_sub(self.prefix)).min(self.url.len()), reason }
    }
}

fn without_line_ends(url: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr3(b'\t', b'\r', b'\n', url) {
        Some(_) => url.iter().copied().filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')).collect(),
        None => url.into(),
    }
}

/// The reversed host, the port unless it is the default one, and `)`. False if the host is empty; then nothing is written.
fn append_host(
    raw: &[u8],
    scheme: &[u8],
    port: Option<i64>,
    tool: Tool,
    out: &mut Vec<u8>,
) -> Result<bool, Reason> {
    if is_plain_name(raw) {
        append_plain_name(raw, tool, out);
        append_port(port, scheme, tool, out);
        return Ok(true);
    }
    let decoded = simdpct::decode_until_stable(raw);
    let mut name = Cow::Borrowed(&*decoded);
    if !decoded.is_ascii() {
        let text = match (core::str::from_utf8(&decoded), tool) {
            (Ok(text), _) => Cow::Borrowed(text),
            // What is not UTF-8 is left out.
            (Err(_), Tool::Python) => decoded.utf8_chunks().map(|chunk| chunk.valid()).collect(),
            // What is not UTF-8 stays escaped, and would be part of a name.
            (Err(_), Tool::Java) if decoded.utf8_chunks().all(|chunk| chunk.valid().is_ascii()) => "".into(),
            (Err(_), Tool::Java) => return Err(Reason::Host),
        };
        if text.is_empty() && tool == Tool::Python {
            return Ok(false);
        }
        let ascii = idna_2003(&text).map_err(|_| Reason::Host)?;
        name = match (ascii, tool) {
            (Some(ascii), _) => Cow::Owned(ascii.into_owned()),
            (None, Tool::Java) if !text.is_ascii() => Cow::Owned(text.to_lowercase().into_bytes()),
            (None, _) => name,
        };
    }
    let mut host = Vec::with_capacity(name.len());
    match tool {
        Tool::Python => append_with_fewer_dots(&name, &mut host),
        Tool::Java => append_without_extra_dots(&name, &mut host),
    }
    if host.is_empty() {
        return Ok(false);
    }
    let address = match tool {
        Tool::Python => python_address(&host),
        Tool::Java => java_address(&host),
    };
    if let Some(address) = address {
        append_reversed(alloc::string::ToString::to_string(&address).as_bytes(), out);
    } else {
        let mut escaped = Encode::keeping(tool.kept()).encode(&host).into_owned().into_bytes();
        escaped.make_ascii_lowercase();
        append_reversed(without_all_www(&escaped, tool), out);
    }
    append_port(port, scheme, tool, out);
    Ok(true)
}

/// A name that is only written in lower case: letters, digits, `-`, `_` and dots that stand alone. It starts with a letter, so it
/// is no address.
fn is_plain_name(host: &[u8]) -> bool {
    let mut name = [b'a'; BLOCK];
    let (Some(first), Some(room)) = (host.first(), name.get_mut(..host.len())) else { return false };
    room.copy_from_slice(host);
    let mut strange = !first.is_ascii_alphabetic() | (host[host.len() - 1] == b'.');
    for &byte in &name {
        strange |= !(byte.is_ascii_alphanumeric() | (byte == b'-') | (byte == b'_') | (byte == b'.'));
    }
    for (&byte, &next) in name.iter().zip(&name[1..]) {
        strange |= (byte == b'.') & (next == b'.');
    }
    !strange
}

fn append_plain_name(host: &[u8], tool: Tool, out: &mut Vec<u8>) {
    let start = out.len();
    append_reversed(without_all_www(host, tool), out);
    out[start..].make_ascii_lowercase();
}

/// The port, unless it is the default one, and `)`.
fn append_port(port: Option<i64>, scheme: &[u8], tool: Tool, out: &mut Vec<u8>) {
    let default = match scheme {
        _ if scheme.eq_ignore_ascii_case(b"http") => 80,
        _ if scheme.eq_ignore_ascii_case(b"https") => 443,
        _ => 0,
    };
    if let Some(port) = port
        && port != default
        && !(tool == Tool::Python && port == 0)
    {
        out.push(b':');
        out.extend_from_slice(alloc::string::ToString::to_string(&port).as_bytes());
    }
    out.push(b')');
}

/// Without dots at its ends. Of each two dots one goes: `a....b` is `a..b`.
fn append_with_fewer_dots(host: &[u8], out: &mut Vec<u8>) {
    let start = host.iter().position(|&byte| byte != b'.').unwrap_or(host.len());
    let end = host.iter().rposition(|&byte| byte != b'.').map_or(start, |last| last + 1);
    let mut left = &host[start..end];
    while let Some(at) = memmem::find(left, b"..") {
        out.extend_from_slice(&left[..=at]);
        left = &left[at + 2..];
    }
    out.extend_from_slice(left);
}

fn without_all_www(mut host: &[u8], tool: Tool) -> &[u8] {
    while let Some(rest) = without_www(host) {
        host = rest;
        if tool == Tool::Python {
            break;
        }
    }
    host
}

/// What follows `www`, digits and a dot.
fn without_www(host: &[u8]) -> Option<&[u8]> {
    let (_, rest) = host.split_at_checked(3).filter(|(www, _)| www.eq_ignore_ascii_case(b"www"))?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    rest[digits..].strip_prefix(b".")
}

/// `www.a.b` is `b,a,www`, and `[::1]` is `::1`.
fn append_reversed(host: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr(b'.', host).is_none() {
        let inner = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        out.extend_from_slice(inner.unwrap_or(host));
        return;
    }
    let mut end = host.len();
    while let Some(dot) = memchr::memrchr(b'.', &host[..end]) {
        out.extend_from_slice(&host[dot + 1..end]);
        out.push(b',');
        end = dot;
    }
    out.extend_from_slice(&host[..end]);
}

/// Decimal digits, however many, of which the lowest 32 bits count.
fn wrapped_address(digits: &[u8]) -> Ipv4Addr {
    let add = |number: u32, digit: &u8| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    digits.iter().fold(0, add).into()
}

/// One number, or two to four without a zero in front, or two to four octal ones: the tool asks the resolver for these, which
/// reads what it can as an address. It would ask the network for the others.
fn python_address(host: &[u8]) -> Option<Ipv4Addr> {
    if host.iter().all(u8::is_ascii_digit) {
        return Some(wrapped_address(host));
    }
    let octal = host.first() == Some(&b'0');
    let digits =
        |byte: &u8| *byte == b'.' || if octal { matches!(byte, b'0'..=b'7') } else { byte.is_ascii_digit() };
    host.iter().all(digits).then(|| old_ipv4(host)).flatten()
}

/// One number, or four decimal ones without a zero in front of the first, or four octal ones.
fn java_address(host: &[u8]) -> Option<Ipv4Addr> {
    if host.iter().all(u8::is_ascii_digit) {
        // A number that Java has no type for is a name.
        let significant = host.iter().position(|&digit| digit != b'0').unwrap_or(host.len());
        let fits = host.len() - significant < 19
            || core::str::from_utf8(host).is_ok_and(|digits| digits.parse::<i64>().is_ok());
        return fits.then(|| wrapped_address(host));
    }
    let radix = if host.first() == Some(&b'0') { 8 } else { 10 };
    let mut address = [0; 4];
    let mut numbers = host.split(|&byte| byte == b'.');
    for byte in &mut address {
        let number = numbers.next().filter(|number| !number.is_empty())?;
        *byte = number.iter().try_fold(0_u8, |value, &digit| {
            let digit = char::from(digit).to_digit(radix)?;
            u8::try_from(u32::from(value) * radix + digit).ok()
        })?;
    }
    numbers.next().is_none().then(|| address.into())
}

/// Decoded, its dots and runs of slashes resolved if there is a host, escaped, in lower case, without the session in it and
/// without the slash at its end.
fn append_path(path: &[u8], tool: Tool, hosted: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if hosted && path.first() == Some(&b'/') && append_if_plain(path, true, out) {
        return finish_path(out, start);
    }
    let decoded = simdpct::decode_until_stable(path);
    let path = if hosted { resolved(&decoded) } else { Cow::Borrowed(&*decoded) };
    append_lower(&path, tool, out);
    finish_path(out, start);
}

/// Without the session in it and without the slash at its end.
fn finish_path(out: &mut Vec<u8>, start: usize) {
    remove_path_sessions(out, start);
    if out.len() > start + 1 && out.last() == Some(&b'/') {
        out.pop();
    }
}

/// The size of the blocks that are looked at whole, whatever is in them: loops of this length become vectors without branches.
const BLOCK: usize = 64;

/// Appends what is only written in lower case: nothing is escaped in it, nothing will be, and in a path there is no `//` and
/// `/.`. Of others it writes nothing, and returns false.
fn append_if_plain(part: &[u8], is_path: bool, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut before = b'a';
    for chunk in part.chunks(BLOCK) {
        let mut block = [b'a'; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        let mut strange = is_path & is_dropped(before, block[0]);
        for &byte in &block {
            strange |= !byte.is_ascii_graphic() | (byte == b'#') | (byte == b'%');
        }
        for (&byte, &next) in block.iter().zip(&block[1..]) {
            strange |= is_path & is_dropped(byte, next);
        }
        if strange {
            out.truncate(start);
            return false;
        }
        before = block[BLOCK - 1];
        block.make_ascii_lowercase();
        out.extend_from_slice(&block[..chunk.len()]);
    }
    true
}

/// Whether two bytes of a path begin a segment that may go: an empty one or one of dots.
fn is_dropped(byte: u8, next: u8) -> bool {
    (byte == b'/') & ((next == b'/') | (next == b'.'))
}

fn append_lower(part: &[u8], tool: Tool, out: &mut Vec<u8>) {
    let start = out.len();
    Encode::keeping(tool.kept()).encode_append(part, out);
    out[start..].make_ascii_lowercase();
}

/// Without dot segments and empty ones. `..` takes the segment before it, an empty one too; the first one of all stays, and is
/// taken by the next.
fn resolved(path: &[u8]) -> Cow<'_, [u8]> {
    if path.is_empty() {
        return Cow::Borrowed(b"/");
    }
    if !memchr::memchr_iter(b'/', path).any(|slash| matches!(path.get(slash + 1), Some(b'/' | b'.'))) {
        return Cow::Borrowed(path);
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => _ = kept.pop(),
            _ => kept.push(segment),
        }
    }
    let mut out = Vec::with_capacity(path.len());
    out.push(b'/');
    if let Some((last, others)) = kept.split_last() {
        for segment in others.iter().filter(|segment| !segment.is_empty()) {
            out.extend_from_slice(segment);
            out.push(b'/');
        }
        out.extend_from_slice(last);
    }
    Cow::Owned(out)
}

/// With its `?`: decoded, escaped, in lower case, without sessions, sorted. Nothing if nothing is left.
fn append_query(query: Option<&[u8]>, tool: Tool, out: &mut Vec<u8>) {
    let Some(query) = query else { return };
    out.push(b'?');
    let start = out.len();
    if !append_if_plain(query, false, out) {
        append_lower(&simdpct::decode_until_stable(query), tool, out);
    }
    finish_query(out, start);
}

/// Without sessions and sorted; and without its `?` if nothing is left.
fn finish_query(out: &mut Vec<u8>, start: usize) {
    remove_query_sessions(out, start);
    sort_pairs(out, start);
    if out.len() == start {
        out.pop();
    }
}

fn sort_pairs(out: &mut Vec<u8>, start: usize) {
    let pairs = || {
        out[start..].split(|&byte| byte == b'&').map(|pair| match memchr::memchr(b'=', pair) {
            Some(at) => (&pair[..at], Some(&pair[at + 1..])),
            None => (pair, None),
        })
    };
    if memchr::memchr(b'&', &out[start..]).is_none() || pairs().is_sorted() {
        return;
    }
    let mut sorted: Vec<_> = pairs().collect();
    sorted.sort_unstable();
    let mut text = Vec::with_capacity(out.len() - start);
    for (name, value) in sorted {
        text.extend_from_slice(name);
        if let Some(value) = value {
            text.push(b'=');
            text.extend_from_slice(value);
        }
        text.push(b'&');
    }
    text.pop();
    out.truncate(start);
    out.extend_from_slice(&text);
}

/// Segments of ASP.NET that hold a session, before a name with `.aspx`: `(` 24 letters and digits `)`, or several of these
/// after a letter each and in parentheses. The last one of each kind goes.
fn remove_path_sessions(out: &mut Vec<u8>, start: usize) {
    if memchr::memchr(b'(', &out[start..]).is_none() || memmem::find(&out[start..], b".aspx").is_none() {
        return;
    }
    for nested in [true, false] {
        if let Some(found) = path_session(&out[start..], nested) {
            out.drain(start + found.start..start + found.end);
        }
    }
}

/// ```text
/// ^.*/ ( \( [0-9a-z]{24} \) / ) [^?]+ \.aspx
/// ```
fn path_session(path: &[u8], nested: bool) -> Option<Range<usize>> {
    // From the end: the next `?`, and the next two `.aspx`, one of which may follow the session at once.
    let mut question = path.len();
    let mut aspx = [path.len(); 2];
    for at in (1..path.len()).rev() {
        match path[at] {
            b'?' => question = at,
            b'.' if path[at..].starts_with(b".aspx") => aspx = [at, aspx[0]],
            b'(' if path[at - 1] == b'/' => {
                let Some(len) = path_session_len(&path[at..], nested) else { continue };
                let end = at + len;
                let name_end = if aspx[0] == end { aspx[1] } else { aspx[0] };
                if name_end < question {
                    return Some(at..end);
                }
            }
            _ => {}
        }
    }
    None
}

fn path_session_len(path: &[u8], nested: bool) -> Option<usize> {
    fn parenthesised(text: &[u8]) -> Option<&[u8]> {
        let (id, rest) = text.strip_prefix(b"(")?.split_at_checked(24)?;
        rest.strip_prefix(b")").filter(|_| id.iter().all(u8::is_ascii_alphanumeric))
    }
    let rest = if nested {
        let mut rest = path.strip_prefix(b"(")?;
        let mut count = 0;
        while let [letter, after @ ..] = rest
            && letter.is_ascii_lowercase()
        {
            rest = parenthesised(after)?;
            count += 1;
        }
        rest.strip_prefix(b")").filter(|_| count > 0)?
    } else {
        parenthesised(path)?
    };
    rest.strip_prefix(b"/").map(|rest| path.len() - rest.len())
}

/// Five forms of sessions, the last one of each, with the `&` after it.
fn remove_query_sessions(out: &mut Vec<u8>, start: usize) {
    if out.len() - start < b"cfid=.&cftoken=.".len() {
        return;
    }
    let has = |query: &[u8], name: &[u8]| memmem::find(query, name).is_some();
    let query = &out[start..];
    // `asp` and `j` before `sessionid`, and `phpsess` before `sid=`.
    let (session, sid, token) = (has(query, b"sessionid"), has(query, b"sid="), has(query, b"cftoken="));
    if !(session || sid || token) {
        return;
    }
    let mut remove = |find: &dyn Fn(&[u8]) -> Option<Range<usize>>| {
        if let Some(mut found) = find(&out[start..]) {
            found.end += usize::from(found.end < out.len() - start);
            out.drain(start + found.start..start + found.end);
        }
    };
    for name in [&b"jsessionid="[..], b"phpsessid=", b"sid="] {
        remove(&|query| query_session(query, name, |value| alphanumeric(value, 32)));
    }
    remove(&|query| {
        query_session(query, b"aspsessionid", |rest| {
            let (name, rest) = rest.split_at_checked(8)?;
            let value = rest.strip_prefix(b"=").filter(|_| name.iter().all(u8::is_ascii_alphabetic))?;
            let letters = value.get(..24)?.iter().all(u8::is_ascii_alphabetic);
            letters.then_some(8 + 1 + 24)
        })
    });
    remove(&coldfusion_session);
}

/// The last `name` that is followed by a session, whose length `value` tells, and that by `&` or the end.
fn query_session(query: &[u8], name: &[u8], value: impl Fn(&[u8]) -> Option<usize>) -> Option<Range<usize>> {
    let mut left = query;
    while let Some(at) = memmem::rfind(left, name) {
        let from = at + name.len();
        if let Some(len) = value(&query[from..])
            && matches!(query.get(from + len), None | Some(b'&'))
        {
            return Some(at..from + len);
        }
        // The names do not overlap themselves.
        left = &query[..at];
    }
    None
}

fn alphanumeric(text: &[u8], len: usize) -> Option<usize> {
    text.get(..len)?.iter().all(u8::is_ascii_alphanumeric).then_some(len)
}

/// ```text
/// cfid=[^&]+&cftoken=[^&]+
/// ```
fn coldfusion_session(query: &[u8]) -> Option<Range<usize>> {
    const TOKEN: &[u8] = b"&cftoken=";

    let mut end = query.len();
    while let Some(at) = memmem::rfind(&query[..end], TOKEN) {
        let value = at + TOKEN.len();
        let value_end = memchr::memchr(b'&', &query[value..end]).map_or(end, |found| value + found);
        let start = memchr::memrchr(b'&', &query[..at]).map_or(0, |before| before + 1);
        // Of the parameter before it, the last `cfid=` with something after it.
        let id = memmem::rfind(&query[start..at.saturating_sub(1).max(start)], b"cfid=");
        if let Some(id) = id.filter(|_| value_end > value) {
            return Some(start + id..value_end);
        }
        // The parameter before it may be the next token.
        end = at;
    }
    None
}
