//! Where input can be cut so that work on the parts gives what work on the whole does.

use crate::ground::escape::{byte_of, hex};

/// So far before a byte [`anywhere`] looks.
pub const LOOK_BEHIND: usize = 64;

/// The last place in `bytes`, if there is any, where any work can be cut: after line ends, punctuation and letters
/// after F, escaped or not.
pub fn anywhere(bytes: &[u8]) -> Option<usize> {
    (1..=bytes.len()).rev().find(|&end| match bytes[..end] {
        [.., last] if is_end(last) => true,
        [.., high, low] => {
            hex(&[high, low]).is_some_and(|byte| is_end(byte as u8)) && is_escape(&bytes[..end - 2])
        }
        _ => false,
    })
}

/// The last place in `bytes`, if there is any, where work that looks at single bytes and escapes can be cut, and where
/// nothing that is counted or refused is cut either.
pub fn between_escapes(bytes: &[u8]) -> Option<usize> {
    // What follows a cut must be seen. A character has at most four units.
    let most = bytes.len().checked_sub(3)?;
    (1..=most).rev().take(LOOK_BEHIND).find(|&end| {
        let (before, after) = bytes.split_at(end);
        !before[end.saturating_sub(2)..].contains(&b'%')
            && !ends_in_nested(before)
            && before.last() != Some(&b'\r')
            // After four in a row nothing is a sequence any more.
            && (!is_continuation(after) || ends_in_continuations(before))
    })
}

/// Whether `bytes` end in four units, bytes or escapes of them, that continue a UTF-8 sequence.
fn ends_in_continuations(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    (0..4).all(|_| {
        let unit = if rest.last_chunk().and_then(byte_of).is_some() { 3 } else { 1 };
        rest.split_at_checked(rest.len().wrapping_sub(unit)).is_some_and(|(before, unit)| {
            rest = before;
            is_continuation(unit)
        })
    })
}

/// Whether `bytes` end in `%25`, or in that and a digit: more digits would make it an escape of the next layer.
fn ends_in_nested(bytes: &[u8]) -> bool {
    bytes.ends_with(b"%25")
        || bytes.split_last().is_some_and(|(last, rest)| last.is_ascii_hexdigit() && rest.ends_with(b"%25"))
}

/// Whether `bytes` begin with a byte, or the escape of one, that continues a UTF-8 sequence.
fn is_continuation(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().and_then(byte_of).or(bytes.first().copied());
    first.is_some_and(|byte| (0x80..0xC0).contains(&byte))
}

/// Whether nothing can go on after a byte: an escape of whatever kind, or a character, of which an ASCII byte is
/// at most the end in whatever charset. A `\r` is no such byte, because of `\r\n`.
fn is_end(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_hexdigit() && !b"%\\ux\r".contains(&byte)
}

/// Whether two more digits make `start` end in an escape, in whatever layer: `%`, `%25`, `%2525` and so on.
fn is_escape(start: &[u8]) -> bool {
    let mut rest = &start[start.len().saturating_sub(LOOK_BEHIND - 2)..];
    while let Some(before) = rest.strip_suffix(b"25") {
        rest = before;
    }
    rest.ends_with(b"%")
}
