//! Sets of bytes.

use codec::{ByteSet, sets};

/// The policy called `name`.
pub(crate) fn named(name: &[u8]) -> Option<ByteSet> {
    let name = core::str::from_utf8(name).ok()?;
    Some(sets::find(name)?.set.to_byte_set())
}

/// The unreserved bytes and those of `safe`.
pub(crate) fn safe(safe: &[u8]) -> ByteSet {
    sets::RFC3986_UNRESERVED.to_byte_set().add(safe)
}

/// The set of a bitmap of 32 bytes: byte `b` is bit `b % 8` of byte `b / 8`.
pub(crate) fn of_bitmap(bits: &[u8]) -> ByteSet {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bits.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    ByteSet::from_bitmap(words)
}
