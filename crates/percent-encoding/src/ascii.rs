//! Text made of ASCII bytes. This module has the only `unsafe` code of the crate.

use crate::set::AsciiSet;

/// The escape of each byte, padded so that one store of a word copies it.
static ESCAPES: [[u8; 4]; 256] = {
    let mut escapes = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let [percent, high, low] = simdpct::encode_byte(byte as u8, simdpct::HexCase::Upper);
        assert!(percent.is_ascii() && high.is_ascii() && low.is_ascii());
        escapes[byte] = [percent, high, low, 0];
        byte += 1;
    }
    escapes
};

/// Returns the escape of `byte`.
#[inline(always)]
pub(crate) fn escape(byte: u8) -> &'static str {
    let [escape @ .., _] = &ESCAPES[usize::from(byte)];
    // SAFETY: the initializer of `ESCAPES` asserts that these bytes are ASCII.
    unsafe { str::from_utf8_unchecked(escape) }
}

/// Splits `bytes` after the longest prefix of which all bytes are copied.
#[inline(always)]
pub(crate) fn split_kept<'a>(bytes: &'a [u8], set: &AsciiSet) -> (&'a str, &'a [u8]) {
    let len = match bytes.split_at_checked(SHORT_RUN) {
        Some((start, rest)) if rest.len() >= MIN_KERNEL_LEN => match kept(start, set) {
            SHORT_RUN => SHORT_RUN + kept_by_blocks(rest, set),
            len => len,
        },
        _ => kept(bytes, set),
    };
    let (kept, rest) = bytes.split_at(len);
    // SAFETY: `kept` counts bytes for which `AsciiSet::keeps` is true, which by the invariant of that type are ASCII, and
    // `kept_by_blocks` counts such bytes and blocks for which `is_ascii` is true.
    (unsafe { str::from_utf8_unchecked(kept) }, rest)
}

/// Returns `bytes` if all of them are copied. Calls a kernel, which pays for more than about 24 bytes.
#[inline(always)]
pub(crate) fn all_kept<'a>(bytes: &'a [u8], set: &AsciiSet) -> Option<&'a str> {
    // SAFETY: the bytes are ASCII.
    is_kept_by_kernel(bytes, set).then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

/// Reports whether all of `bytes` are copied, which implies that they are ASCII. That is checked here so that `unsafe` code need
/// not rely on the kernel.
#[inline(always)]
fn is_kept_by_kernel(bytes: &[u8], set: &AsciiSet) -> bool {
    set.encode().is_encoded(bytes) && bytes.is_ascii()
}

/// Returns the number of bytes at the start of `bytes` that are copied.
#[inline(always)]
fn kept(bytes: &[u8], set: &AsciiSet) -> usize {
    bytes.iter().position(|&byte| !set.keeps(byte)).unwrap_or(bytes.len())
}

/// After this many copied bytes, a run is likely to be long enough for kernels.
const SHORT_RUN: usize = 32;
/// Fewer bytes than these are faster one by one than with a kernel.
const MIN_KERNEL_LEN: usize = 16;
/// The length of the first block that is checked by a kernel.
const BLOCK: usize = 64;

/// Does the same as [`kept`] with kernels. Each block is twice as long as the one before it, so that most of the bytes that are
/// checked belong to the run.
#[inline(never)]
fn kept_by_blocks(bytes: &[u8], set: &AsciiSet) -> usize {
    let (mut rest, mut block) = (bytes, BLOCK);
    while rest.len() >= MIN_KERNEL_LEN {
        let (start, end) = rest.split_at(block.min(rest.len()));
        if !is_kept_by_kernel(start, set) {
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
    /// The longest input. For a longer one, calling a kernel is faster.
    pub(crate) const MAX: usize = 16;

    /// Encodes `bytes`, or returns [`None`] if there are too many.
    #[inline(always)]
    pub(crate) fn encode(bytes: &[u8], set: &AsciiSet) -> Option<Short> {
        if bytes.len() > Short::MAX {
            return None;
        }
        let mut short = Short { text: [0; 3 * Short::MAX + 1], len: 0 };
        for &byte in bytes {
            // Storing four bytes, of which one or three count, avoids a branch that would be mispredicted. The invariant
            // holds: a byte that is kept is ASCII, and `ESCAPES` asserts it for escapes.
            let (word, len) =
                if set.keeps(byte) { ([byte, 0, 0, 0], 1) } else { (ESCAPES[usize::from(byte)], 3) };
            short.text[short.len..short.len + 4].copy_from_slice(&word);
            short.len += len;
        }
        Some(short)
    }

    #[inline(always)]
    pub(crate) fn as_str(&self) -> &str {
        // SAFETY: by the invariant of `text`, these bytes are ASCII.
        unsafe { str::from_utf8_unchecked(&self.text[..self.len]) }
    }
}
