//! Decodes `%uXXXX`, a UTF-16 code unit in the form of JavaScript's `escape` (ECMA-262, annex B.2.1).

use std::ops::Range;

use simdpct::{ByteSet, MalformedEscape};

use crate::common::escape::escape;

/// Returns the code unit of the six-byte escape at the start of `rest`.
fn unit_at(rest: &[u8]) -> Option<u16> {
    let digits: &[u8; 4] = rest.strip_prefix(b"%u")?.first_chunk()?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)? as u16))
}

/// Returns the character that is escaped as `%uXXXX` at the start of `rest`, and the length of its escapes. Returns
/// `None` if `rest` does not start with such an escape, or for a lone surrogate.
pub fn character_at(rest: &[u8]) -> Option<(char, usize)> {
    let first = unit_at(rest)?;
    let second = unit_at(&rest[6..]);
    match char::decode_utf16([first].into_iter().chain(second)).next()? {
        Ok(character) => Some((character, 6 * character.len_utf16())),
        Err(_) => None,
    }
}

/// Returns the characters of all `%uXXXX` in `value`, with their ranges.
pub fn characters(value: &[u8]) -> impl Iterator<Item = (Range<usize>, char)> {
    // The search also finds the second half of a surrogate pair, which is not a character by itself.
    memchr::memmem::find_iter(value, b"%u").filter_map(|found| {
        let (character, len) = character_at(&value[found..])?;
        Some((found..found + len, character))
    })
}

/// Appends `value` with all `%XX` and `%uXXXX` decoded once, except those of the bytes in `keep`. Returns whether
/// decoding changed anything.
pub fn decode(value: &[u8], decode: &simdpct::Decode, keep: &ByteSet, out: &mut Vec<u8>) -> bool {
    let (mut from, mut changed) = (0, false);
    let plain = |bytes: &[u8], out: &mut Vec<u8>| {
        let before = out.len();
        decode.decode_append(bytes, out);
        out[before..] != *bytes
    };
    for (found, character) in characters(value) {
        changed |= plain(&value[from..found.start], out);
        if character.is_ascii() && keep.contains(character as u8) {
            out.extend_from_slice(&value[found.clone()]);
        } else {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            changed = true;
        }
        from = found.end;
    }
    changed | plain(&value[from..], out)
}

/// Returns `text` with each `%uXXXX` replaced by the escapes of its character in UTF-8.
pub fn as_escapes(text: &[u8]) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(text.len()), 0);
    for (found, character) in characters(text) {
        out.extend_from_slice(&text[from..found.start]);
        escape(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut out);
        from = found.end;
    }
    out.extend_from_slice(&text[from..]);
    out
}

/// Fails with the first `%` that starts neither a valid `%XX` nor a valid `%uXXXX`.
pub fn validate(value: &[u8]) -> Result<(), MalformedEscape> {
    let mut from = 0;
    while let Err(mut escape) = simdpct::validate(&value[from..]) {
        let Some((_, len)) = character_at(&value[from + escape.offset..]) else {
            escape.offset += from;
            if let simdpct::MalformedCause::NotHex { offset, .. } = &mut escape.cause {
                *offset += from;
            }
            return Err(escape);
        };
        from += escape.offset + len;
    }
    Ok(())
}
