//! The reference: splits a URI as RFC 3986 describes it, a byte at a time. The tests compare every kernel with it, and CPUs without a
//! kernel run it.

use crate::class::is_scheme;
use crate::offsets::Offsets;

/// Splits `uri` by the regular expression of RFC 3986, appendix B:
///
/// ```text
/// ^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?
///  12            3  4          5       6  7        8 9
/// ```
///
/// with one addition: if group 2 is not a scheme by section 3.1, its colon belongs to the path.
pub(crate) fn split(uri: &[u8]) -> Offsets {
    let length = uri.len();
    let find = |from: usize, stop: &[u8]| {
        uri[from..].iter().position(|byte| stop.contains(byte)).map_or(length, |at| from + at)
    };

    // (([^:/?#]+):)?
    let mut scheme_end = find(0, b":/?#");
    if uri.get(scheme_end) != Some(&b':') || !is_scheme(&uri[..scheme_end]) {
        scheme_end = 0;
    }
    let rest = if scheme_end > 0 { scheme_end + 1 } else { 0 };

    // (//([^/?#]*))?
    let (mut path_start, mut host) = (rest, (rest, rest));
    if uri[rest..].starts_with(b"//") {
        let start = rest + 2;
        path_start = find(start, b"/?#");
        host = split_authority(&uri[start..path_start]);
        host = (start + host.0, start + host.1);
    }

    // ([^?#]*)(\?([^#]*))?(#(.*))?
    let path_end = find(path_start, b"?#");
    let query_end = find(path_end, b"#");
    Offsets { scheme_end, host_start: host.0, host_end: host.1, path_start, path_end, query_end }
}

/// Returns the start and the end of the host of an authority (RFC 3986, section 3.2).
///
/// ```text
/// authority = [ userinfo "@" ] host [ ":" port ]
/// ```
///
/// The last `@` ends the userinfo, so a host never holds one. The first colon after it starts the port. But if the host starts with
/// `[`, this is the first colon after the first `]`, and without a `]` the host extends to the end of the authority.
#[cold]
#[inline(never)]
pub(crate) fn split_authority(authority: &[u8]) -> (usize, usize) {
    let host_start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let host = &authority[host_start..];
    let literal_end = match host.first() {
        Some(b'[') => memchr::memchr(b']', host).unwrap_or(host.len()),
        _ => 0,
    };
    let host_len = memchr::memchr(b':', &host[literal_end..]).map_or(host.len(), |at| literal_end + at);
    (host_start, host_start + host_len)
}
