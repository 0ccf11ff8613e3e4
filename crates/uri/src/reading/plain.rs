//! The scan that finds paths which all readings read alike.

use simdpct::ByteSet;

use super::parameters::{NONE, PATH, PassOn, Reading};

/// The bytes of plain paths. No named reading changes or rejects one of them.
const PLAIN_PATH: ByteSet =
    ByteSet::from_bytes(b"&'()*+,-./:=@_~").union(simdpct::sets::ALPHANUMERIC.to_byte_set());
/// The bytes of plain queries.
const PLAIN_QUERY: ByteSet = PATH.add(b"?%");

impl Reading {
    /// Returns route and text passed on of a plain target, and `None` if the target has to be read by all rules.
    #[inline]
    pub(super) fn read_plain<'a>(&self, target: &'a [u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        let len = memchr::memchr(b'?', target).unwrap_or(target.len());
        let (path, query) = target.split_at(len);
        if !is_plain(path) || !self.leaves_plain(path) || !(query.is_empty() || self.leaves_query(query)) {
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

    /// Reports whether this reading changes nothing in a plain path.
    #[inline]
    fn leaves_plain(&self, path: &[u8]) -> bool {
        let rejects = self.refuse_raw.union(self.drop_raw).union(self.escape_raw).intersection(PLAIN_PATH);
        let end = path[path.len() - 1];
        rejects == NONE
            && PLAIN_PATH.difference(self.pass_set) == NONE
            && !self.trim.contains(end)
            && !(self.lower && path.iter().any(u8::is_ascii_uppercase))
            && !(self.drop_trailing_slash && end == b'/')
    }

    /// Reports whether this reading changes nothing in the query, which begins with `?`.
    fn leaves_query(&self, query: &[u8]) -> bool {
        let mut plain = PLAIN_QUERY;
        if self.refuse_query != NONE || self.query_last {
            plain = plain.remove(b"%");
        }
        if self.query_last {
            plain = plain.remove(b"?");
        }
        !(self.drop_empty_query && query.len() == 1)
            && self.refuse_raw.union(self.drop_raw).intersection(PLAIN_QUERY) == NONE
            && query[1..].iter().all(|&byte| plain.contains(byte))
    }
}

/// Reports whether all named readings route on `path` as it is: it begins with a slash, has only bytes of [`PLAIN_PATH`], and no
/// slash is followed by a slash or a dot.
///
/// The bytes are checked in blocks of 16, without branches, so that the compiler makes vector code.
#[inline]
pub(super) fn is_plain(path: &[u8]) -> bool {
    const BLOCK: usize = 16;
    if path.first() != Some(&b'/') {
        return false;
    }
    // The block after the last byte is padded with letters.
    if path.len() <= BLOCK {
        let mut block = [b'a'; BLOCK + 1];
        block[..path.len()].copy_from_slice(path);
        return is_plain_block(&block);
    }
    let last: &[u8; BLOCK] = path.last_chunk().expect("longer than a block");
    let mut tail = [b'a'; BLOCK + 1];
    tail[..BLOCK].copy_from_slice(last);
    let mut plain = is_plain_block(&tail);
    let mut rest = path;
    while let Some(block) = rest.first_chunk() {
        plain &= is_plain_block(block);
        rest = &rest[BLOCK..];
    }
    plain
}

/// Checks the first 16 bytes; the last byte is only looked at as the byte after them.
#[inline(always)]
fn is_plain_block(block: &[u8; 17]) -> bool {
    let mut plain = true;
    for at in 0..16 {
        let (byte, next) = (block[at], block[at + 1]);
        // `&` to `:` without a gap, `@` to `Z`, `_`, `a` to `z`.
        let is_plain = (byte.wrapping_sub(b'&') <= b':' - b'&')
            | (byte.wrapping_sub(b'@') <= b'Z' - b'@')
            | (byte.wrapping_sub(b'a') <= b'z' - b'a')
            | (byte == b'_')
            | (byte == b'=')
            | (byte == b'~');
        let starts_dots = (byte == b'/') & ((next == b'/') | (next == b'.'));
        plain &= is_plain & !starts_dots;
    }
    plain
}
