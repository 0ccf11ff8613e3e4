//! The scan that finds paths which all readings read alike.

use memchr::memchr;
use simdpct::simd::{Kernel, Sets, Simd, run};
use simdpct::{ByteSet, Tier};

use super::parameters::{NONE, PassOn, Reading};

/// The bytes of plain paths, as words of 64 bits. No named reading changes or rejects one of them.
const PLAIN: [u64; 4] = ByteSet::from_bytes(PLAIN_BYTES).to_bitmap();
const PLAIN_BYTES: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789&'()*+,-./:=@_~";
/// The same bytes for kernels.
static SETS: Sets = Sets::new(&[PLAIN_BYTES]);
/// The bytes of plain queries.
const PLAIN_QUERY: [u64; 4] = simdpct::sets::RFC3986_QUERY.to_byte_set().add(b"%").to_bitmap();
/// The number of bytes that are checked together.
const BLOCK: usize = 16;

/// Reports whether `set` has one of the ASCII bytes in `others`.
#[inline(always)]
fn has_one_of(set: ByteSet, others: [u64; 4]) -> bool {
    let words = set.to_bitmap();
    (words[0] & others[0]) | (words[1] & others[1]) != 0
}

impl Reading {
    /// Returns route and text passed on of a plain target, and `None` if the target has to be read by all rules.
    #[inline]
    pub(super) fn read_plain<'a>(&self, target: &'a [u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        // Most targets have no query, so the scan runs before the search for `?`.
        let path = if is_plain(target) {
            target
        } else {
            let (path, query) = target.split_at(memchr(b'?', target)?);
            if !is_plain(path) || self.changes_query(query) {
                return None;
            }
            path
        };
        if self.changes_plain(path) {
            return None;
        }
        let passed_on = match self.pass_on {
            PassOn::Nothing => None,
            PassOn::RawPath | PassOn::Route | PassOn::Param | PassOn::StrictParam => Some(path),
            PassOn::ParamOrRoute | PassOn::RawParam => Some(path),
            _ => Some(target),
        };
        Some((path, passed_on))
    }

    /// Reports whether this reading changes or rejects a plain path.
    #[inline(always)]
    fn changes_plain(&self, path: &[u8]) -> bool {
        let end = path[path.len() - 1];
        let [low, high, ..] = self.pass_set.to_bitmap();
        has_one_of(self.refuse_raw, PLAIN)
            || has_one_of(self.drop_raw, PLAIN)
            || has_one_of(self.escape_raw, PLAIN)
            || (!low & PLAIN[0]) | (!high & PLAIN[1]) != 0
            || self.trim.contains(end)
            || (self.drop_trailing_slash && end == b'/')
            || (self.lower && path.iter().fold(false, |any, byte| any | byte.is_ascii_uppercase()))
    }

    /// Reports whether this reading may change or reject the query, which begins with `?`.
    #[inline(always)]
    fn changes_query(&self, query: &[u8]) -> bool {
        has_one_of(self.refuse_raw, PLAIN_QUERY)
            || has_one_of(self.drop_raw, PLAIN_QUERY)
            || (self.drop_empty_query && query.len() == 1)
            || (self.refuse_query != NONE && memchr(b'%', query).is_some())
            || (self.query_last && query[1..].iter().any(|&byte| matches!(byte, b'?' | b'%')))
            || !is_plain_text::<true>(query)
    }
}

/// Reports whether all named readings route on `path` as it is: it begins with a slash, has only plain bytes, and no slash is followed
/// by a slash or a dot.
pub(super) fn is_plain(path: &[u8]) -> bool {
    is_plain_on(Tier::active(), path)
}

#[inline]
pub(crate) fn is_plain_on(tier: Tier, path: &[u8]) -> bool {
    path.first() == Some(&b'/') && has_plain_bytes(tier, path)
}

/// Runs the scan. It is not inlined, so that [`Reading::read`] is short enough to be inlined.
#[inline(never)]
fn has_plain_bytes(tier: Tier, path: &[u8]) -> bool {
    run(tier, IsPlain(path))
}

/// Checks the bytes of a path.
struct IsPlain<'a>(&'a [u8]);

impl IsPlain<'_> {
    /// Returns a mask of the lanes with a byte that is not plain. `starts` is 1 if the byte before the block is a slash, and then becomes
    /// 1 if the last byte is.
    #[inline(always)]
    fn others<S: Simd>(simd: S, block: S::Block, starts: &mut u64) -> u64 {
        let slashes = simd.eq(block, b'/');
        let starts_dots = (slashes << 1 | *starts) & (slashes | simd.eq(block, b'.'));
        *starts = slashes >> 63;
        let [plain] = simd.masks(simd.classify(block, &SETS));
        !plain | starts_dots | simd.high(block)
    }
}

impl Kernel for IsPlain<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        if !S::LOOKS_UP {
            return self.run_scalar();
        }
        let mut starts = 0;
        let (blocks, rest) = self.0.as_chunks::<64>();
        for block in blocks {
            if Self::others(simd, simd.load(block), &mut starts) != 0 {
                return false;
            }
        }
        let lanes = (1 << rest.len()) - 1;
        Self::others(simd, simd.load(rest), &mut starts) & lanes == 0
    }

    fn run_scalar(self) -> bool {
        is_plain_text::<false>(self.0)
    }
}

/// Checks the bytes of a path or a query, in blocks of 16 without branches, so that the compiler makes vector code.
#[inline(always)]
fn is_plain_text<const QUERY: bool>(text: &[u8]) -> bool {
    // The block after the last byte is padded with letters.
    let mut tail = [b'a'; BLOCK + 1];
    let Some(last) = text.last_chunk::<BLOCK>() else {
        tail[..text.len()].copy_from_slice(text);
        return is_plain_block::<QUERY>(&tail);
    };
    tail[..BLOCK].copy_from_slice(last);
    let mut rest = text;
    while let Some(block) = rest.first_chunk() {
        if !is_plain_block::<QUERY>(block) {
            return false;
        }
        rest = &rest[BLOCK..];
    }
    is_plain_block::<QUERY>(&tail)
}

/// Checks the first 16 bytes. The last byte is only the neighbour of the byte before it.
#[inline(always)]
fn is_plain_block<const QUERY: bool>(block: &[u8; BLOCK + 1]) -> bool {
    let within = |byte: u8, first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    let mut plain = true;
    for at in 0..BLOCK {
        let (byte, next) = (block[at], block[at + 1]);
        let common = within(byte, b'a', b'z') | (byte == b'_') | (byte == b'=') | (byte == b'~');
        plain &= if QUERY {
            common | within(byte, b'$', b';') | within(byte, b'?', b'Z') | (byte == b'!')
        } else {
            // A dot and a slash are neighbours in ASCII.
            let starts_dots = (byte == b'/') & within(next, b'.', b'/');
            (common | within(byte, b'&', b':') | within(byte, b'@', b'Z')) & !starts_dots
        };
    }
    plain
}
