//! Writes paths and patterns of robots.txt as google/robotstxt compares them.

use alloc::vec::Vec;

/// Appends `pattern` as `MaybeEscapePattern` of google/robotstxt returns it.
pub(super) fn append(pattern: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < pattern.len() {
        let byte = pattern[at];
        if byte == b'%' && simdpct::decode_escape(&pattern[at..]).is_some() {
            out.extend(pattern[at..at + 3].iter().map(u8::to_ascii_uppercase));
            at += 3;
        } else {
            if byte.is_ascii() {
                out.push(byte);
            } else {
                out.extend_from_slice(&simdpct::encode_byte(byte, simdpct::HexCase::Upper));
            }
            at += 1;
        }
    }
}
