//! Removes session ids from paths and queries, as the regular expressions of both tools for SURTs do.

use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use crate::canon::shared::has_pair;

/// Removes from the path `out[start..]` at most two session ids, the last one of each kind. ASP.NET inserts an id as a
/// segment before a name with `.aspx`. An id of the first kind is 24 letters and digits in parentheses. An id of the
/// second kind is, in parentheses, one or more ids of the first kind, each after a lower-case letter.
pub(super) fn remove_path_sessions(out: &mut Vec<u8>, start: usize) {
    if memchr::memchr(b'(', &out[start..]).is_none() || memmem::find(&out[start..], b".aspx").is_none() {
        return;
    }
    for nested in [true, false] {
        if let Some(found) = path_session(&out[start..], nested) {
            out.drain(start + found.start..start + found.end);
        }
    }
}

/// Finds the segment that this regular expression captures:
///
/// ```text
/// ^.*/ ( \( [0-9a-z]{24} \) / ) [^?]+ \.aspx
/// ```
///
/// or, if `nested`, the same with `\( ([a-z] \( [0-9a-z]{24} \))+ \) /` as the segment.
fn path_session(path: &[u8], nested: bool) -> Option<Range<usize>> {
    // The loop searches backwards. It keeps the offsets of the next `?` and of the next two `.aspx`: two, because the first may
    // follow the segment directly, and the name must not be empty.
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

/// Returns the length of the session id at the start of `path`, with the slash after it.
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

/// Removes the last session id of each of five forms, with the `&` after it, from the query in `out[start..]`.
pub(super) fn remove_query_sessions(out: &mut Vec<u8>, start: usize) {
    if out.len() - start < b"cfid=.&cftoken=.".len() {
        return;
    }
    let query = &out[start..];
    // Each of the five forms holds `id` or the `ft` of `cftoken`, so a query without these needs no further search.
    if !has_pair(query, |a, b| (a == b'i') & (b == b'd') | (a == b'f') & (b == b't')) {
        return;
    }
    let names = [&b"sessionid"[..], b"sid=", b"cftoken="];
    if !names.iter().any(|name| memmem::find(query, name).is_some()) {
        return;
    }
    let mut remove = |find: &dyn Fn(&[u8]) -> Option<Range<usize>>| {
        if let Some(mut found) = find(&out[start..]) {
            found.end += usize::from(found.end < out.len() - start);
            out.drain(start + found.start..start + found.end);
        }
    };
    for name in [&b"jsessionid="[..], b"phpsessid=", b"sid="] {
        let id = |value: &[u8]| value.get(..32)?.iter().all(u8::is_ascii_alphanumeric).then_some(32);
        remove(&|query| query_session(query, name, id));
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

/// Finds the last `name` with a session id after it. `value` returns the length of the id at the start of its argument. `&` or
/// the end of the query must follow the id.
fn query_session(query: &[u8], name: &[u8], value: impl Fn(&[u8]) -> Option<usize>) -> Option<Range<usize>> {
    let mut left = query;
    while let Some(at) = memmem::rfind(left, name) {
        let from = at + name.len();
        if let Some(len) = value(&query[from..])
            && matches!(query.get(from + len), None | Some(b'&'))
        {
            return Some(at..from + len);
        }
        // No name overlaps itself, so the search continues before this occurrence.
        left = &query[..at];
    }
    None
}

/// Finds the last match of `cfid=[^&]+&cftoken=[^&]+`.
fn coldfusion_session(query: &[u8]) -> Option<Range<usize>> {
    const TOKEN: &[u8] = b"&cftoken=";

    let mut end = query.len();
    while let Some(at) = memmem::rfind(&query[..end], TOKEN) {
        let value = at + TOKEN.len();
        let value_end = memchr::memchr(b'&', &query[value..end]).map_or(end, |found| value + found);
        let start = memchr::memrchr(b'&', &query[..at]).map_or(0, |before| before + 1);
        // Find the last `cfid=` in the parameter before the token, with at least one byte after it.
        let id = memmem::rfind(&query[start..at.saturating_sub(1).max(start)], b"cfid=");
        if let Some(id) = id.filter(|_| value_end > value) {
            return Some(start + id..value_end);
        }
        // The parameter before this `cftoken` may be another `cftoken`, so the search continues there.
        end = at;
    }
    None
}
