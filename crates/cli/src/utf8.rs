//! UTF-8: of values in memory, and a byte at a time, for sequences that are put together from escapes or cut by
//! blocks.

/// Whether `bytes` are UTF-8; or how many of them are, before the first that is not.
pub fn validate(bytes: &[u8]) -> Result<(), usize> {
    // It is the faster one of the two where all is well, and does not say where something is wrong.
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    std::str::from_utf8(bytes).map(drop).map_err(|error| error.valid_up_to())
}

/// A check of bytes that come one by one, each with the offset of where it was found.
#[derive(Default)]
pub struct Utf8 {
    /// The start of a sequence, of at most three bytes.
    bytes: [u8; 4],
    offsets: [u64; 4],
    len: usize,
}

impl Utf8 {
    /// Whether no sequence has been begun.
    pub fn is_between(&self) -> bool {
        self.len == 0
    }

    /// Takes a byte; if that shows something to be invalid, returns its first byte and where that was.
    pub fn push(&mut self, byte: u8, offset: u64) -> Option<(u8, u64)> {
        if self.len == 0 && byte.is_ascii() {
            return None;
        }
        self.bytes[self.len] = byte;
        self.offsets[self.len] = offset;
        self.len += 1;
        let mut bad = None;
        loop {
            let (settled, invalid, more) = match std::str::from_utf8(&self.bytes[..self.len]) {
                Ok(_) => (self.len, 0, false),
                Err(error) => {
                    (error.valid_up_to(), error.error_len().unwrap_or(0), error.error_len().is_some())
                }
            };
            if more {
                bad = bad.or(Some((self.bytes[settled], self.offsets[settled])));
            }
            self.bytes.copy_within(settled + invalid.., 0);
            self.offsets.copy_within(settled + invalid.., 0);
            self.len -= settled + invalid;
            if !more {
                return bad;
            }
        }
    }

    /// Ends the input; a sequence that was begun is then invalid.
    pub fn finish(&mut self) -> Option<(u8, u64)> {
        let begun = self.len > 0;
        self.len = 0;
        begun.then_some((self.bytes[0], self.offsets[0]))
    }
}
