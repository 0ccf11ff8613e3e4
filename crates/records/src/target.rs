//! Splits the request line of a log, and tells the forms of a request target apart (RFC 9112, 3.2).

use std::ops::Range;

use crate::escaping::Escaping;
use crate::place::{Kind, Reason, Unreadable, unreadable};
use crate::placeholders::{self, Placeholders, Protocol};

/// The places of the method and of the target.
pub(crate) type Parts = (Range<usize>, Range<usize>);

/// The minimum length, in bytes, at which a request without a protocol is taken for a cut one.
const SHORTEST_CUT: usize = 1000;

/// Returns the form of `target` in a request with this method.
pub(crate) fn kind(method: &[u8], target: &[u8]) -> Kind {
    match target {
        [b'/', ..] => Kind::Path,
        b"*" => Kind::Asterisk,
        // Proxies such as Squid read the method in any case.
        _ if method.eq_ignore_ascii_case(b"CONNECT") => authority_or_url(target),
        _ => Kind::Url,
    }
}

/// Returns the form of `text`, which is a host and a port, or a URL with a scheme.
pub(crate) fn authority_or_url(text: &[u8]) -> Kind {
    if memchr::memmem::find(text, b"://").is_none() { Kind::Authority } else { Kind::Url }
}

/// Reports whether `method` is a token (RFC 9110, 5.6.2).
pub(crate) fn is_token(method: &[u8]) -> bool {
    method.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Returns the lengths of the method and of the text before the protocol in a request such as `GET /a HTTP/1.1`. This
/// form is checked first, because it is usual.
#[inline(always)]
fn usual(request: &[u8]) -> Option<(usize, usize)> {
    let (before, protocol) = request.split_last_chunk()?;
    let [b' ', b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] = protocol else { return None };
    let method = match before {
        [b'G', b'E', b'T', b' ', ..] => 3,
        _ => before.iter().take_while(|byte| byte.is_ascii_uppercase()).count(),
    };
    match before.get(method..)? {
        [b' ', target @ ..] if method > 0 && target.first()? != &b' ' && target.last()? != &b' ' => {
            Some((method, before.len()))
        }
        _ => None,
    }
}

/// Returns the places of the method and of the target of the request at `range` of `line`, if it has a target. The target is the text
/// between the first blank and the protocol, which is the last word. The writer may have written a part of the protocol as an escape.
#[inline]
pub(crate) fn split(
    line: &[u8],
    range: Range<usize>,
    known: &Placeholders,
    escaping: Escaping,
) -> Result<Option<Parts>, Unreadable> {
    let request = &line[range.clone()];
    if let Some((method, end)) = usual(request).filter(|_| known.protocol != Protocol::None) {
        let (start, target) = (range.start, range.start + method + 1..range.start + end);
        let is_target = !known.requests.contains(&request) && !known.contains(&line[target.clone()]);
        return Ok(is_target.then_some((start..start + method, target)));
    }
    split_other(line, range, known, escaping)
}

/// Splits a request that does not have the usual form.
#[inline(never)]
fn split_other(
    line: &[u8],
    range: Range<usize>,
    known: &Placeholders,
    escaping: Escaping,
) -> Result<Option<Parts>, Unreadable> {
    let trim = |range: Range<usize>| {
        let text = &line[range.clone()];
        let start = text.iter().take_while(|&&byte| byte == b' ').count();
        let len = text[start..].iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
        range.start + start..range.start + start + len
    };
    // Amazon's load balancers write a request that they rejected as `- http://a:80- ` or `- - - `: hyphens in place of the method and of
    // the protocol, and a blank at the end, which no client can send.
    let has_last_blank = line[range.clone()].ends_with(b"- ");
    let range = trim(range);
    let request = &line[range.clone()];
    let Some(blank) = request.iter().position(|&byte| byte == b' ') else {
        return match request.is_empty()
            || placeholders::is_protocol(request)
            || known.targets.contains(&request)
        {
            true => Ok(None),
            false => unreadable(range.start, Reason::NO_TARGET),
        };
    };
    let method = range.start..range.start + blank;
    if !is_token(&line[method.clone()]) {
        return unreadable(range.start, Reason::METHOD);
    }
    let rest = trim(range.start + blank..range.end);
    let last = line[rest.clone()].iter().rposition(|&byte| byte == b' ').map_or(0, |blank| blank + 1);
    let raw = &line[rest.start + last..rest.end];
    let mut buffer = Vec::new();
    let word = escaping.undo(raw, &mut buffer).unwrap_or(raw);
    // With `Protocol::Word`, a request may have two words. The second is the target unless it is a protocol.
    let is_second = last == 0 && known.protocol == Protocol::Word;
    let has_protocol = if is_second { placeholders::is_protocol(word) } else { known.is_protocol(word) };
    if !has_protocol && known.protocol != Protocol::None && request.len() >= SHORTEST_CUT {
        return unreadable(range.end, Reason::CUT);
    }
    let end = if has_protocol { rest.start + last.saturating_sub(1) } else { rest.end };
    let target = trim(rest.start..end);
    let is_refused = known.requests.contains(&request)
        || known.protocol == Protocol::Word
            && &line[method.clone()] == b"-"
            && (word == b"-" || !has_protocol && has_last_blank);
    // To some writers, only a name and a version are a protocol. To others, `null`, `1.1` or a third word is one, too.
    let is_third = last > 0 && !line[rest.start..rest.start + last - 1].contains(&b' ');
    let is_unsure = !placeholders::is_protocol(word) && (is_third || has_protocol);
    if matches!(escaping, Escaping::Unknown | Escaping::UnknownJson)
        && is_unsure
        && !is_refused
        && !known.contains(&line[rest.clone()])
    {
        return unreadable(rest.start + last, Reason::UNKNOWN_WRITER);
    }
    let is_target = !is_refused && !known.contains(&line[target.clone()]);
    Ok(is_target.then_some((method, target)))
}
