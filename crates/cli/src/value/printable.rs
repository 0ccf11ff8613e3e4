//! `--printable`: what a terminal would obey, or a reader could not see, is escaped again.

use crate::ground::escape::escape;
use crate::ground::records::Records;

/// Appends `text`, in which all but structure is made printable. What comes out is UTF-8.
pub fn append(text: &[u8], records: Records, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| !(b' '..=b'~').contains(byte)) {
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

/// The length of the first character of `rest`, or of what is none; and whether it is printable.
fn first(rest: &[u8]) -> (usize, bool) {
    let chunk = rest[..rest.len().min(4)].utf8_chunks().next();
    match chunk.map(|chunk| (chunk.valid().chars().next(), chunk.invalid().len())) {
        Some((Some(character), _)) => (character.len_utf8(), !is_harmful(character)),
        Some((None, invalid)) => (invalid, false),
        None => (0, true),
    }
}

/// Controls (C0, DEL, C1), line and paragraph separators, and the marks that turn the direction of text (Unicode
/// Standard Annex 9).
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
