//! Text made of ASCII bytes: the only `unsafe` of this crate.

/// The escape of every byte, with a byte of padding so that one store of a word copies it.
static ESCAPES: [[u8; 4]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escapes = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        escapes[byte] = [b'%', DIGITS[byte >> 4], DIGITS[byte & 15], 0];
        byte += 1;
    }
    escapes
};

/// The escape of `byte`.
#[inline(always)]
pub(crate) fn escape(byte: u8) -> &'static str {
    let [escape @ .., _] = &ESCAPES[byte as usize];
    // SAFETY: `%` and two digits are ASCII.
    unsafe { str::from_utf8_unchecked(escape) }
}

/// The longest start of `bytes` that stays, and the rest.
#[inline(always)]
pub(crate) fn split_kept<'a>(bytes: &'a [u8], keep: &simdpct::AsciiSet) -> (&'a str, &'a [u8]) {
    let len = bytes.iter().position(|&byte| !keep.contains(byte)).unwrap_or(bytes.len());
    let (kept, rest) = bytes.split_at(len);
    // SAFETY: all of `kept` are members of an `AsciiSet`, which has only ASCII bytes.
    (unsafe { str::from_utf8_unchecked(kept) }, rest)
}

/// The encoded text of at most [`Short::MAX`] bytes, on the stack.
pub(crate) struct Short {
    /// INVARIANT: the first `len` bytes are ASCII.
    text: [u8; 3 * Short::MAX + 1],
    len: usize,
}

impl Short {
    /// The longest input. A longer one pays for the call of a kernel.
    pub(crate) const MAX: usize = 16;

    /// Encodes `bytes`, or [`None`] if there are too many.
    #[inline(always)]
    pub(crate) fn encode(bytes: &[u8], keep: &simdpct::AsciiSet) -> Option<Short> {
        if bytes.len() > Short::MAX {
            return None;
        }
        let mut short = Short { text: [0; 3 * Short::MAX + 1], len: 0 };
        for &byte in bytes {
            // Four bytes are stored whatever counts, so that there is no branch to mispredict.
            let (word, len) =
                if keep.contains(byte) { ([byte, 0, 0, 0], 1) } else { (ESCAPES[byte as usize], 3) };
            short.text[short.len..short.len + 4].copy_from_slice(&word);
            short.len += len;
        }
        Some(short)
    }

    /// The text.
    #[inline(always)]
    pub(crate) fn as_str(&self) -> &str {
        // SAFETY: by the invariant, these are members of an `AsciiSet`, `%` and digits.
        unsafe { str::from_utf8_unchecked(&self.text[..self.len]) }
    }
}
