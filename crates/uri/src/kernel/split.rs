//! The kernel that splits one URL.

use simdpct::Tier;
use simdpct::simd::{Kernel, Sets, Simd, opaque, run};

use crate::class::is_scheme;
use crate::offsets::Offsets;
use crate::reference;

static DELIMITERS: Sets = Sets::new(&[b":", b"/", b"#", b"?", b"@", b"[", b"]"]);

/// Splits one URL with the kernel of `tier`.
///
/// It is neither generic nor inlined, so that only this crate compiles the kernels, not each crate that splits URLs.
#[inline(never)]
pub(crate) fn offsets_of(tier: Tier, url: &[u8]) -> Offsets {
    run(tier, Split(url))
}

/// Splits one URL. The result is that of [`reference::split`].
struct Split<'a>(&'a [u8]);

impl Kernel for Split<'_> {
    type Output = Offsets;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Offsets {
        split(simd, self.0, simd.load(self.0))
    }

    #[inline(always)]
    fn run_scalar(self) -> Offsets {
        reference::split(self.0)
    }
}

/// Splits `url`. `block` starts with the bytes of `url`, or with the first 64 of them; the lanes after them are ignored.
///
/// No search waits for the one before it: the first `?` or `#` of a URL ends the path, whatever comes before it, and the first
/// `#` ends the query. So all masks are made at once, and only the scheme and `//` are checked in order.
#[inline(always)]
pub(super) fn split<S: Simd>(simd: S, url: &[u8], block: S::Block) -> Offsets {
    let len = url.len();
    let [colon, slash, hash, question, at, open, close] = simd.each(block, &DELIMITERS);
    let of_authority = opaque(at | open | close | colon);
    let question_or_hash = opaque(question | hash);
    let ends_authority = slash | question_or_hash;

    // The offset of the authority; 0 if the URL has no authority, or if it has not been found yet.
    let mut start = after_http(url);
    let mut scheme_end = start.saturating_sub(3);
    if start == 0 {
        let live = if len >= 64 { !0 } else { (1 << len) - 1 };
        // The URL has a scheme if its first delimiter is a colon, and the text before it a valid name.
        let (colon, slash) = (colon & live, slash & live);
        let delimiter = colon | ends_authority & live;
        let first = delimiter.trailing_zeros() as usize;
        if delimiter == 0 && len > 64 || (60..64).contains(&first) {
            return long(simd, url);
        }
        scheme_end = match url.get(..first) {
            Some(name) if colon & delimiter & delimiter.wrapping_neg() != 0 && is_scheme(name) => first,
            _ => 0,
        };
        let rest = scheme_end + usize::from(scheme_end > 0);
        if (slash & slash >> 1) >> rest & 1 != 0 {
            start = rest + 2;
        }
    }

    let rest = scheme_end + usize::from(scheme_end > 0);
    let (mut path_start, mut host_start, mut host_end) = (rest, rest, rest);
    if start > 0 {
        let end = ends_authority & !0 << start;
        if end == 0 && len > 64 {
            return long(simd, url);
        }
        path_start = first_or(end, len);
        (host_start, host_end) = (start, path_start);
        if ((of_authority >> start).trailing_zeros() as usize) < path_start - start {
            (host_start, host_end) = reference::split_authority(&url[start..path_start]);
            (host_start, host_end) = (start + host_start, start + host_end);
        }
    }

    let mut path_end = first_or(question_or_hash, len);
    let mut query_end = first_or(hash, len);
    if len > 64 && hash == 0 {
        (path_end, query_end) = after_first_block(simd, url, path_end, question_or_hash != 0);
    }
    Offsets { scheme_end, host_start, host_end, path_start, path_end, query_end }
}

/// Returns the length of `http://` or `https://` if `url` starts with one of them and has at least eight bytes, and 0
/// otherwise. No branch distinguishes the two, because CPUs would often mispredict it.
#[inline(always)]
fn after_http(url: &[u8]) -> usize {
    let Some(first) = url.first_chunk() else { return 0 };
    let word = u64::from_le_bytes(*first);
    let is_https = word == u64::from_le_bytes(*b"https://");
    let is_http = word << 8 == u64::from_le_bytes(*b"\0http://");
    if is_http | is_https { 7 + usize::from(is_https) } else { 0 }
}

/// Returns the first lane of `mask`, or `len` if the mask is empty.
#[inline(always)]
fn first_or(mask: u64, len: usize) -> usize {
    (mask.trailing_zeros() as usize).min(len)
}

/// Returns the ends of path and query of a URL without a `#` in its first block. `path_end` is valid if `found`: the path then
/// ends in that block.
#[inline(always)]
fn after_first_block<S: Simd>(simd: S, url: &[u8], path_end: usize, found: bool) -> (usize, usize) {
    let len = url.len();
    let mut path_end = if found { path_end } else { len };
    let mut at = 64;
    while at < len {
        // The last block overlaps the one before it, which has no `#`. A `?` in both is read only once.
        let from = at.min(len - 64);
        let Some(bytes) = url.get(from..).and_then(<[u8]>::first_chunk::<64>) else { break };
        let block = simd.load(bytes);
        let hash = simd.eq(block, b'#');
        let question_or_hash = opaque(simd.eq(block, b'?') | hash);
        if question_or_hash != 0 {
            if path_end == len {
                path_end = from + question_or_hash.trailing_zeros() as usize;
            }
            if hash != 0 {
                return (path_end, from + hash.trailing_zeros() as usize);
            }
        }
        at += 64;
    }
    (path_end, len)
}

/// Returns the offset of the first byte at or after `from` that is one of `stop`, or the length of `url`. Bytes of `stop` may be equal.
#[inline(always)]
pub(super) fn find<S: Simd>(simd: S, url: &[u8], from: usize, stop: [u8; 4]) -> usize {
    let mut at = from;
    while at < url.len() {
        let left = &url[at..];
        let live = if left.len() < 64 { (1 << left.len()) - 1 } else { !0 };
        let block = simd.load(left);
        let hits = opaque(
            simd.eq(block, stop[0])
                | simd.eq(block, stop[1])
                | simd.eq(block, stop[2])
                | simd.eq(block, stop[3]),
        ) & live;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize;
        }
        at += 64;
    }
    url.len()
}

/// Splits a URL whose scheme or authority ends at the end of the first block or later.
#[inline(always)]
fn long<S: Simd>(simd: S, url: &[u8]) -> Offsets {
    let mut scheme_end = find(simd, url, 0, *b":/?#");
    if scheme_end == url.len() {
        // Without a delimiter, the whole URL is a path. A URL that is escaped as a whole is an example.
        return Offsets { path_end: scheme_end, query_end: scheme_end, ..Offsets::default() };
    }
    if url.get(scheme_end) != Some(&b':') || !is_scheme(&url[..scheme_end]) {
        scheme_end = 0;
    }
    let rest = scheme_end + usize::from(scheme_end > 0);
    let (mut path_start, mut host_start, mut host_end) = (rest, rest, rest);
    if url[rest..].starts_with(b"//") {
        let start = rest + 2;
        path_start = find(simd, url, start, *b"//?#");
        let host = reference::split_authority(&url[start..path_start]);
        (host_start, host_end) = (start + host.0, start + host.1);
    }
    let path_end = find(simd, url, path_start, *b"??##");
    let query_end = find(simd, url, path_end, *b"####");
    Offsets { scheme_end, host_start, host_end, path_start, path_end, query_end }
}
