//! `\xHH`, as nginx writes `"`, `\` and octets below 0x20 and above 0x7E in its logs (`log_format`, `escape=default`).

use simdpct::ByteSet;

/// The octet of the escape at the start of `rest`, of four octets.
pub fn octet_at(rest: &[u8]) -> Option<u8> {
    match *rest {
        [b'\\', b'x', high, low, ..] => super::hex(&[high, low]).map(|value| value as u8),
        _ => None,
    }
}

/// Undoes the escapes of `value` but those of `keep`, in `room` if there are any.
pub fn unescape<'a>(value: &'a [u8], keep: &ByteSet, room: &'a mut Vec<u8>) -> &'a [u8] {
    let mut from = 0;
    room.clear();
    for found in memchr::memmem::find_iter(value, b"\\x") {
        if let Some(octet) = octet_at(&value[found..]).filter(|&octet| !keep.contains(octet)) {
            room.extend_from_slice(&value[from..found]);
            room.push(octet);
            from = found + 4;
        }
    }
    if from == 0 {
        return value;
    }
    room.extend_from_slice(&value[from..]);
    room
}
