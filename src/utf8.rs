//! Text from bytes that were checked, or are known, to be UTF-8.

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};

/// `bytes` as text, or the length of their valid start.
pub(crate) fn as_str(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| error.valid_up_to())
}

/// `bytes` as text, or the length of their valid start and the bytes.
#[cfg(feature = "alloc")]
pub(crate) fn into_string(bytes: Vec<u8>) -> Result<String, (usize, Vec<u8>)> {
    match as_str(&bytes) {
        // SAFETY: the bytes were just found to be UTF-8.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        Err(valid) => Err((valid, bytes)),
    }
}

/// Appends what `append` appends, if that is UTF-8; else leaves `out` as it was and returns the length of the valid start.
///
/// If `append` panics, `out` is empty.
#[cfg(feature = "alloc")]
pub(crate) fn append(out: &mut String, append: impl FnOnce(&mut Vec<u8>)) -> Result<(), usize> {
    let mut bytes = core::mem::take(out).into_bytes();
    let before = bytes.len();
    append(&mut bytes);
    let valid = bytes.get(before..).map_or(Err(0), |more| as_str(more).map(drop));
    if valid.is_err() {
        bytes.truncate(before);
    }
    // SAFETY: the first `before` bytes are those of `out`, and the others, if there are any, were just found to be UTF-8.
    // What `append` gets is a `Vec`, so it could shorten or change the start; its two callers append only.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    valid
}

/// The normalization of text, which is text: only escapes of ASCII bytes are replaced.
#[cfg(feature = "alloc")]
pub(crate) fn normalized_text(bytes: Vec<u8>) -> String {
    debug_assert!(as_str(&bytes).is_ok());
    // SAFETY: the caller normalized a `str`. Escapes are ASCII, and each is replaced by an unreserved byte or by
    // itself in upper case, which are ASCII too; what was UTF-8 before stays so.
    unsafe { String::from_utf8_unchecked(bytes) }
}
