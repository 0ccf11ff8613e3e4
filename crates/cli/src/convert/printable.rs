//! `--printable`: escapes invalid UTF-8, and the characters that [`is_harmful`] finds.

use crate::common::escape::escape;
use crate::common::records::Records;
use crate::common::shown::is_harmful;
use crate::common::utf8::find_byte;

/// Returns the byte that ends `records`.
pub fn end(records: Records) -> u8 {
    // `append` never escapes a space, so with `Records::Raw` no byte is an exception.
    if records == Records::Raw { b' ' } else { records.end() }
}

/// Appends `text` with invalid UTF-8 and harmful characters escaped, except `end`, and CR before `end` if it is LF.
pub fn append(text: &[u8], end: u8, out: &mut Vec<u8>) {
    let mut rest = text;
    // Validation stops at the first error, so the loop takes linear time.
    while let Err(error) = simdutf8::compat::from_utf8(rest) {
        let (valid, others) = rest.split_at(error.valid_up_to());
        append_valid(valid, end, out);
        let (invalid, others) = others.split_at(error.error_len().unwrap_or(others.len()));
        escape(invalid, out);
        rest = others;
    }
    append_valid(rest, end, out);
}

/// Reports whether [`append`] certainly copies `text` unchanged.
pub fn is_printable(text: &[u8], end: u8) -> bool {
    first_suspect(text, end).is_none() && simdutf8::basic::from_utf8(text).is_ok()
}

/// Appends `text`, which is valid UTF-8, like [`append`].
fn append_valid(text: &[u8], end: u8, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = first_suspect(rest, end) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let len = match rest[0] {
            0xE2 => 3,
            0xC2 | 0xD8 => 2,
            _ => 1,
        };
        let (bytes, others) = rest.split_at(len);
        let is_end = end == b'\n' && rest.starts_with(b"\r\n");
        if !is_end && str::from_utf8(bytes).is_ok_and(|text| text.contains(is_harmful)) {
            escape(bytes, out);
        } else {
            out.extend_from_slice(bytes);
        }
        rest = others;
    }
    out.extend_from_slice(rest);
}

/// Returns the offset of the first byte of `text` that can begin a harmful character and is not `end`.
fn first_suspect(text: &[u8], end: u8) -> Option<usize> {
    find_byte::<32>(text, |byte| is_suspect(byte) & (byte != end))
}

/// Reports whether a harmful character can begin with this byte.
fn is_suspect(byte: u8) -> bool {
    (byte < b' ') | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xD8) | (byte == 0xE2)
}
