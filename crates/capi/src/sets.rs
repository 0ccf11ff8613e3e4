//! Makes the sets of the functions `simdpct_set_*`.

use core::ffi::CStr;

use codec::{ByteSet, sets};

/// Returns the registered set called `name`, or `None` if no set has this name.
pub(crate) fn named(name: &CStr) -> Option<ByteSet> {
    Some(sets::find(name.to_str().ok()?)?.set.to_byte_set())
}

/// Returns the set of the unreserved bytes and the bytes of `safe`.
pub(crate) fn safe(safe: &[u8]) -> ByteSet {
    sets::RFC3986_UNRESERVED.to_byte_set().add(safe)
}

/// Returns the set whose bitmap is `bits`: byte `b` is bit `b % 8` of `bits[b / 8]`.
pub(crate) fn from_bitmap(bits: &[u8]) -> ByteSet {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bits.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    ByteSet::from_bitmap(words)
}
