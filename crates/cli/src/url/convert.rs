//! The converters of whole URLs: what a URL may not hold becomes escapes, and back. Each is the inverse of the other.
//!
//! Syntax stays: the reserved bytes of RFC 3986, and their escapes. So `%2F` must not become what `%252F` becomes: a spelling
//! `%(25)*XX` of a byte `XX` that is syntax stays both ways. All other `%` are data to the encoder, which writes `%25`.
//!
//! What the encoder writes has no such spelling that was not there: of `%25` and what follows it, that would have been one
//! without the `25`. So decoding takes away what encoding has added, and nothing else.

use simdpct::{ByteSet, Decode, Encode, sets};

use super::Rewrite;
use crate::ground::escape::byte_of;
use crate::ground::reason::Refusal;

/// Escapes what a URL may not hold, `%` too.
#[derive(Clone, Copy, Debug)]
pub struct EncodeUrl;

/// Decodes what [`EncodeUrl`] has escaped.
#[derive(Clone, Copy, Debug)]
pub struct DecodeUrl;

/// The length of the spelling of a byte of `syntax` at the start of `rest`, which starts with `%`.
fn spelling(rest: &[u8], syntax: &ByteSet) -> Option<usize> {
    let mut at = 1;
    while rest[at..].starts_with(b"25") {
        at += 2;
    }
    let &[high, low] = rest[at..].first_chunk()?;
    byte_of(&[b'%', high, low]).filter(|&byte| syntax.contains(byte)).map(|_| at + 2)
}

/// Hands what is in `value` between spellings of `syntax` to `each`, and copies these.
fn between(value: &[u8], syntax: &ByteSet, out: &mut Vec<u8>, each: impl Fn(&[u8], &mut Vec<u8>)) {
    let mut from = 0;
    for at in memchr::memchr_iter(b'%', value) {
        if let Some(len) = spelling(&value[at..], syntax) {
            each(&value[from..at], out);
            out.extend_from_slice(&value[at..at + len]);
            from = at + len;
        }
    }
    each(&value[from..], out);
}

/// The bytes that stay as they are, escaped or not.
fn syntax(structure: &ByteSet) -> ByteSet {
    sets::RFC3986_RESERVED.to_byte_set().union(*structure)
}

impl Rewrite for EncodeUrl {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let syntax = syntax(structure);
        let encode = Encode::keeping(sets::RFC3986_URI.to_byte_set().union(*structure));
        between(value, &syntax, out, |part, out| encode.encode_append(part, out));
        Ok(())
    }

    fn reads_escapes(&self) -> bool {
        false
    }
}

impl Rewrite for DecodeUrl {
    fn append(&self, value: &[u8], structure: &ByteSet, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let syntax = syntax(structure);
        let decode = Decode::new();
        between(value, &syntax, out, |part, out| decode.decode_append(part, out));
        Ok(())
    }
}
