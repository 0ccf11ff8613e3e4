//! Finds, validates and repairs UTF-8 in memory, and finds single bytes.

use std::borrow::Cow;
use std::ops::Range;

use super::fault::Policy;

/// Fails if `bytes` are not valid UTF-8. The error is the length of the valid prefix.
pub fn validate(bytes: &[u8]) -> Result<(), usize> {
    // This check uses SIMD, but does not return the length of the valid prefix.
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    std::str::from_utf8(bytes).map(drop).map_err(|error| error.valid_up_to())
}

/// Returns the ranges of the runs of bytes outside ASCII in `bytes` that are valid UTF-8. A run extends from one ASCII byte to the next.
pub fn runs(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    // Most values are ASCII, which is checked faster than runs are found.
    let bytes = if bytes.is_ascii() { &[] } else { bytes };
    let mut end = 0;
    bytes.chunk_by(|one, next| one.is_ascii() == next.is_ascii()).filter_map(move |run| {
        let start = end;
        end += run.len();
        (!run[0].is_ascii() && validate(run).is_ok()).then_some(start..end)
    })
}

/// Returns `bytes` with U+FFFD in the place of invalid UTF-8.
pub fn repaired(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).into_owned().into_bytes()
}

/// Returns valid UTF-8 unchanged. `policy` decides whether other bytes stay, are repaired or are rejected. The error is
/// the length of the valid prefix.
pub fn by_policy(bytes: Cow<'_, [u8]>, policy: Policy) -> Result<Cow<'_, [u8]>, usize> {
    match policy {
        Policy::Keep => Ok(bytes),
        Policy::Replace => Ok(if validate(&bytes).is_ok() { bytes } else { repaired(&bytes).into() }),
        _ => validate(&bytes).map(|()| bytes),
    }
}

/// Returns the offset of the first byte for which `is_odd` is true. `LANES` bytes are checked together.
pub fn find_byte<const LANES: usize>(bytes: &[u8], is_odd: impl Fn(u8) -> bool) -> Option<usize> {
    // There is no early exit inside a chunk, so that the loop compiles to vector code.
    let is_any = |lanes: &[u8; LANES]| lanes.iter().fold(false, |any, &byte| any | is_odd(byte));
    let (chunks, _) = bytes.as_chunks::<LANES>();
    let clean = LANES * chunks.iter().position(is_any).unwrap_or(chunks.len());
    bytes[clean..].iter().position(|&byte| is_odd(byte)).map(|at| clean + at)
}
