//! Finds offsets at which a value can be cut so that its parts can be converted one by one.

use crate::common::escape::{byte_of, hex};

/// The number of bytes that [`anywhere`] reads before a cut.
pub const LOOK_BEHIND: usize = 64;

/// Returns the last offset in `bytes`, if any, at which every conversion can be cut: after line ends, punctuation and
/// letters after F, escaped or not.
pub fn anywhere(bytes: &[u8]) -> Option<usize> {
    (1..=bytes.len()).rev().find(|&end| match bytes[..end] {
        [.., last] if is_end(last) => true,
        [.., high, low] => {
            hex(&[high, low]).is_some_and(|byte| is_end(byte as u8)) && is_escape(&bytes[..end - 2])
        }
        _ => false,
    })
}

/// Returns the last offset in `bytes`, if any, at which a conversion of single bytes and escapes can be cut without
/// splitting anything that is counted or rejected.
pub fn between_escapes(bytes: &[u8]) -> Option<usize> {
    // The three bytes after a cut must be known, because they may be an escape.
    let most = bytes.len().checked_sub(3)?;
    (1..=most).rev().take(LOOK_BEHIND).find(|&end| {
        let (before, after) = bytes.split_at(end);
        !before[end.saturating_sub(2)..].contains(&b'%')
            && !ends_in_nested(before)
            && before.last() != Some(&b'\r')
            // A UTF-8 sequence has at most three continuation bytes, so a byte after four of them cannot continue one.
            && (!is_continuation(after) || ends_in_continuations(before))
    })
}

/// Reports whether `bytes` end in four units, each a byte or an escape, that continue a UTF-8 sequence.
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

/// Reports whether `bytes` end in `%25`, or in `%25` and a digit: with more digits, that is an escape of the next
/// layer.
fn ends_in_nested(bytes: &[u8]) -> bool {
    bytes.ends_with(b"%25")
        || bytes.split_last().is_some_and(|(last, rest)| last.is_ascii_hexdigit() && rest.ends_with(b"%25"))
}

/// Reports whether `bytes` begin with a byte that continues a UTF-8 sequence, or with the escape of one.
fn is_continuation(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().and_then(byte_of).or(bytes.first().copied());
    first.is_some_and(|byte| (0x80..0xC0).contains(&byte))
}

/// Reports whether `byte` ends every escape and every character before it. In any charset, an ASCII byte is at most
/// the last byte of a character. A `\r` is excluded because a `\n` may follow it.
fn is_end(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_hexdigit() && !b"%\\ux\r".contains(&byte)
}

/// Reports whether `start` and two more digits end in an escape of any layer: `%`, `%25`, `%2525` and so on.
fn is_escape(start: &[u8]) -> bool {
    let mut rest = &start[start.len().saturating_sub(LOOK_BEHIND - 2)..];
    while let Some(before) = rest.strip_suffix(b"25") {
        rest = before;
    }
    rest.ends_with(b"%")
}
