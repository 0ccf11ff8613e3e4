//! Writes paths and patterns of robots.txt as google/robotstxt compares them.

use alloc::vec::Vec;

use simdpct::{AsciiSet, Encode};

/// Appends `pattern` as `MaybeEscapePattern` of google/robotstxt returns it.
pub(super) fn append(pattern: &[u8], out: &mut Vec<u8>) {
    let mut at = out.len();
    Encode::keeping(AsciiSet::ALL).encode_append(pattern, out);
    while let Some(percent) = memchr::memchr(b'%', &out[at..]) {
        at += percent + 1;
        if simdpct::decode_escape(&out[at - 1..]).is_some() {
            out[at..at + 2].make_ascii_uppercase();
            at += 2;
        }
    }
}
