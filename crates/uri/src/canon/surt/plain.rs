//! Finds the parts of plain URLs for SURTs, the keys of web archives, with masks of 64 bytes. Most URLs are plain.

use simdpct::Tier;
use simdpct::simd::{Kernel, Sets, Simd, run};

use super::Tool;
use crate::kernel::tables::{HOST, UPPER, table};

/// The parts of a plain URL: a host, a path and a query whose bytes a key keeps, except for the case of letters.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    /// The length of the host. A host is empty, or a name that is no address: letters, digits, `-`, `_` and single dots, with a letter
    /// first, no dot last, and no digit at the start of the last label.
    pub(super) host: usize,
    /// The dots of the host: bit `i` is set if the byte at offset `i` is a dot.
    pub(super) dots: u64,
    /// The end of the path. The path has no empty segments, no segments that start with a dot, and no opening parenthesis.
    pub(super) path: usize,
    /// The end of the query and of the URL without its fragment.
    pub(super) query: usize,
    pub(super) has_upper: bool,
}

/// Returns the parts of a URL. `rest` is its text after the scheme and `//`. Returns `None` if the URL is not plain, its host
/// is longer than 63 bytes, or this CPU has no kernels that look up sets.
pub(super) fn parts(rest: &[u8]) -> Option<Plain> {
    run(Tier::active(), Scan(rest))
}

struct Scan<'a>(&'a [u8]);

/// The bytes of plain names, the bytes that a key keeps (letters in lower case), and the letters in upper case.
pub(crate) static SETS: Sets = table(&[HOST.union(UPPER), Tool::Python.kept(), UPPER]);
static BYTES: Sets = Sets::new(&[b"/", b"?", b"#", b".", b"("]);

/// Returns the lanes before the first lane of `mask`, or all lanes if `mask` is 0.
#[inline(always)]
fn before(mask: u64) -> u64 {
    (mask & mask.wrapping_neg()).wrapping_sub(1)
}

impl Kernel for Scan<'_> {
    type Output = Option<Plain>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<Plain> {
        let Scan(rest) = self;
        if !S::LOOKS_UP || rest.is_empty() {
            return None;
        }
        let (mut host, mut dots) = (0, 0);
        let (mut path, mut has_upper) = (None, false);
        let (mut at, mut after_slash) = (0, 0);
        loop {
            let left = &rest[at..];
            let live = if left.len() < 64 { (1 << left.len()) - 1 } else { !0 };
            let block = simd.load(left);
            let ascii = !simd.high(block);
            let [in_name, kept, upper] = simd.masks(simd.classify(block, &SETS));
            let [slash, question, hash, dot, open] = simd.each(block, &BYTES);
            let fragment = hash & live;
            let live = live & before(fragment);
            let mut after_host = live;
            if at == 0 {
                let in_host = live & before((slash | question) & live);
                if in_host & !(in_name & ascii) | dot & dot << 1 & in_host | in_host >> 63 != 0 {
                    return None;
                }
                host = in_host.trailing_ones() as usize;
                dots = dot & in_host;
                let last = 64 - dots.leading_zeros() as usize;
                if host > 0 && (!rest[0].is_ascii_alphabetic() || last == host || rest[last].is_ascii_digit())
                {
                    return None;
                }
                after_host = live & !in_host;
            }
            let in_path = if path.is_none() { after_host & before(question & after_host) } else { 0 };
            let dropped = ((slash & in_path) << 1 | after_slash) & (slash | dot) & in_path;
            after_slash = (slash & in_path) >> 63;
            if after_host & !(kept & ascii) | dropped | open & in_path != 0 {
                return None;
            }
            let in_query = after_host & !in_path;
            if path.is_none() && in_query != 0 {
                path = Some(at + in_query.trailing_zeros() as usize);
            }
            has_upper |= upper & live != 0;
            let end = at + live.trailing_ones() as usize;
            if fragment != 0 || end == rest.len() {
                return Some(Plain { host, dots, path: path.unwrap_or(end), query: end, has_upper });
            }
            at = end;
        }
    }

    fn run_scalar(self) -> Option<Plain> {
        None
    }
}
