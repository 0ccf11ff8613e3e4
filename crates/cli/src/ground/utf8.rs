//! UTF-8 of values in memory.

/// Whether `bytes` are UTF-8; or how many of them are, before the first that is not.
pub fn validate(bytes: &[u8]) -> Result<(), usize> {
    // It is the faster one of the two where all is well, and does not say where something is wrong.
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    std::str::from_utf8(bytes).map(drop).map_err(|error| error.valid_up_to())
}
