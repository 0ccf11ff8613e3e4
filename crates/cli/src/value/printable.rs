//! `--printable`: what a terminal would obey, or a reader could not see, is escaped again.

use crate::ground::escape::escape;
use crate::ground::records::Records;
use crate::ground::shown::is_harmful;

/// The bytes that are looked at together.
const LANES: usize = 32;

/// Appends `text`, in which all but structure is made printable. What comes out is UTF-8.
pub fn append(text: &[u8], records: Records, out: &mut Vec<u8>) {
    // It may be none that stays.
    let end = if records == Records::Raw { b' ' } else { records.end() };
    let mut rest = text;
    while let Some(at) = first_other(rest, end) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (len, stays) = match (records, rest) {
            (Records::Lines, [b'\n', ..] | [b'\r', b'\n', ..]) | (Records::Null, [b'\0', ..]) => (1, true),
            _ => first(rest),
        };
        let (bytes, others) = rest.split_at(len);
        if stays {
            out.extend_from_slice(bytes);
        } else {
            escape(bytes, out);
        }
        rest = others;
    }
    out.extend_from_slice(rest);
}

/// Where `text` has something else than printable ASCII and `end`.
fn first_other(text: &[u8], end: u8) -> Option<usize> {
    let is_other = |byte: &u8| !(b' '..=b'~').contains(byte) && *byte != end;
    // Without an early exit within the lanes, so that it compiles to vector code.
    let is_any = |lanes: &[u8; LANES]| lanes.iter().fold(false, |any, byte| any | is_other(byte));
    let (all, _) = text.as_chunks::<LANES>();
    let clean = LANES * all.iter().position(is_any).unwrap_or(all.len());
    text[clean..].iter().position(is_other).map(|at| clean + at)
}

/// The length of the first character of `rest`, or of what is none; and whether it is printable.
fn first(rest: &[u8]) -> (usize, bool) {
    let chunk = rest[..rest.len().min(4)].utf8_chunks().next();
    match chunk.map(|chunk| (chunk.valid().chars().next(), chunk.invalid().len())) {
        Some((Some(character), _)) => (character.len_utf8(), !is_harmful(character)),
        Some((None, invalid)) => (invalid, false),
        None => (0, true),
    }
}
