//! Conversions from bytes to text. Each checks that the bytes are UTF-8.

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};

#[cfg(feature = "alloc")]
use crate::kernel::cursor::Tail;

/// Returns `bytes` as text, without a copy.
///
/// # Errors
///
/// Returns the length of the valid start of `bytes` if not all of them are UTF-8.
pub(crate) fn as_str(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| error.valid_up_to())
}

/// Returns `bytes` as a `String`, without a copy.
///
/// # Errors
///
/// Returns the length of the valid start, and the bytes, if not all of them are UTF-8.
#[cfg(feature = "alloc")]
pub(crate) fn into_string(bytes: Vec<u8>) -> Result<String, (usize, Vec<u8>)> {
    match as_str(&bytes) {
        // SAFETY: `as_str` has just found the bytes to be UTF-8.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        Err(valid) => Err((valid, bytes)),
    }
}

/// Calls `append` with the memory of `out`. Keeps the appended bytes if `append` returns `true` and they are UTF-8; otherwise `out` stays
/// as it was.
///
/// If `append` panics, `out` is empty.
///
/// # Errors
///
/// The length of the valid start of the appended bytes, if not all of them are UTF-8.
#[cfg(feature = "alloc")]
pub(crate) fn append(out: &mut String, append: impl FnOnce(Tail<'_>) -> bool) -> Result<(), usize> {
    let mut bytes = core::mem::take(out).into_bytes();
    let before = bytes.len();
    let keep = append(Tail::new(&mut bytes));
    let valid = as_str(&bytes[before..]).map(drop);
    if !keep || valid.is_err() {
        bytes.truncate(before);
    }
    // SAFETY: the first `before` bytes are the text that was in `out`, because a `Tail` only appends; and those after them, if
    // they were kept, were just found to be UTF-8.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    valid
}
