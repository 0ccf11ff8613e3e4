//! Decodes `\xHH`, which nginx writes in its logs for `"`, `\` and bytes below 0x20 and above 0x7E (`log_format`,
//! `escape=default`).

use simdpct::ByteSet;

use crate::ground::escape::hex;

/// Returns the byte of the four-byte escape at the start of `rest`.
pub fn byte_at(rest: &[u8]) -> Option<u8> {
    match *rest {
        [b'\\', b'x', high, low, ..] => hex(&[high, low]).map(|value| value as u8),
        _ => None,
    }
}

/// Decodes the escapes of `value`, except those of the bytes in `keep`. If anything was decoded, the result is in the
/// buffer `room`.
pub fn unescape<'a>(value: &'a [u8], keep: &ByteSet, room: &'a mut Vec<u8>) -> &'a [u8] {
    let mut from = 0;
    room.clear();
    for found in memchr::memmem::find_iter(value, b"\\x") {
        if let Some(byte) = byte_at(&value[found..]).filter(|&byte| !keep.contains(byte)) {
            room.extend_from_slice(&value[from..found]);
            room.push(byte);
            from = found + 4;
        }
    }
    if from == 0 {
        return value;
    }
    room.extend_from_slice(&value[from..]);
    room
}
