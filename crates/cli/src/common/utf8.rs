//! Validates and repairs UTF-8 in memory.

/// Fails if `bytes` are not valid UTF-8. The error is the length of the valid prefix.
pub fn validate(bytes: &[u8]) -> Result<(), usize> {
    // This check uses SIMD, but does not return the length of the valid prefix.
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    std::str::from_utf8(bytes).map(drop).map_err(|error| error.valid_up_to())
}

/// Returns `bytes` with U+FFFD in the place of invalid UTF-8.
pub fn repaired(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).into_owned().into_bytes()
}
