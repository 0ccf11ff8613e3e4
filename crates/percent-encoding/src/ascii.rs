//! Text made of ASCII bytes: the only `unsafe` of this crate.

use crate::set::AsciiSet;

/// The escape of every byte, with a byte of padding so that one store of a word copies it.
static ESCAPES: [[u8; 4]; 256] = {
    let mut escapes = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let [percent, high, low] = simdpct::encode_byte(byte as u8, simdpct::HexCase::Upper);
        escapes[byte] = [percent, high, low, 0];
        byte += 1;
    }
    escapes
};

/// The escape of `byte`.
#[inline(always)]
pub(crate) fn escape(byte: u8) -> &'static str {
    let [escape @ .., _] = &ESCAPES[usize::from(byte)];
    // SAFETY: `%` and two digits are ASCII.
    unsafe { str::from_utf8_unchecked(escape) }
}

/// The longest start of `bytes` that stays, and the rest.
#[inline(always)]
pub(crate) fn split_kept<'a>(bytes: &'a [u8], set: &AsciiSet) -> (&'a str, &'a [u8]) {
    let len = match bytes.split_at_checked(SHORT_RUN) {
        Some((start, rest)) if rest.len() >= WORTH_A_CALL => match kept(start, set) {
            SHORT_RUN => SHORT_RUN + kept_by_blocks(rest, set),
            len => len,
        },
        _ => kept(bytes, set),
    };
    let (kept, rest) = bytes.split_at(len);
    // SAFETY: all of `kept` stay, and no byte stays that is not ASCII.
    (unsafe { str::from_utf8_unchecked(kept) }, rest)
}

/// `bytes`, if all of them stay. Calls a kernel.
#[inline(always)]
pub(crate) fn all_kept<'a>(bytes: &'a [u8], set: &AsciiSet) -> Option<&'a str> {
    // SAFETY: all stay, and no byte stays that is not ASCII.
    set.encode().is_encoded(bytes).then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

/// How many bytes at the start of `bytes` stay.
#[inline(always)]
fn kept(bytes: &[u8], set: &AsciiSet) -> usize {
    bytes.iter().position(|&byte| !set.stays(byte)).unwrap_or(bytes.len())
}

/// A run of so many bytes may be a long one.
const SHORT_RUN: usize = 32;
/// So many bytes are worth the call of a kernel.
const WORTH_A_CALL: usize = 16;
/// So many bytes are looked at first.
const BLOCK: usize = 64;

/// How many bytes at the start of `bytes` stay. A block is twice as long as the one before it, so that most of what is
/// looked at belongs to the run.
#[inline(never)]
fn kept_by_blocks(bytes: &[u8], set: &AsciiSet) -> usize {
    let (mut rest, mut block) = (bytes, BLOCK);
    while rest.len() >= WORTH_A_CALL {
        let (start, end) = rest.split_at(block.min(rest.len()));
        if !set.encode().is_encoded(start) {
            break;
        }
        (rest, block) = (end, 2 * block);
    }
    bytes.len() - rest.len() + kept(rest, set)
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
    pub(crate) fn encode(bytes: &[u8], set: &AsciiSet) -> Option<Short> {
        if bytes.len() > Short::MAX {
            return None;
        }
        let mut short = Short { text: [0; 3 * Short::MAX + 1], len: 0 };
        for &byte in bytes {
            // Four bytes are stored whatever counts, so that there is no branch to mispredict.
            let (word, len) =
                if set.stays(byte) { ([byte, 0, 0, 0], 1) } else { (ESCAPES[usize::from(byte)], 3) };
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
