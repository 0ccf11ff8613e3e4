//! Makes text from ASCII bytes. This module has the only `unsafe` code of the crate.

use crate::set::AsciiSet;

/// The escape of each byte, and a zero byte after it, so that one store of four bytes copies an entry.
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

/// Calls `write` with the escapes of two bytes. One call with both takes less time than two calls.
#[inline(always)]
pub(crate) fn with_two_escapes<R>(first: u8, second: u8, write: impl FnOnce(&str) -> R) -> R {
    let [first, second] = [first, second].map(|byte| ESCAPES[usize::from(byte)]);
    let word = u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(second)) << 24;
    let bytes = word.to_le_bytes();
    // SAFETY: the initializer of `ESCAPES` asserts that the first three bytes of each entry are ASCII, and the fourth is zero. The
    // second entry begins in place of that zero.
    write(unsafe { str::from_utf8_unchecked(&bytes[..6]) })
}

/// Splits `bytes` after the longest prefix whose bytes all stay unescaped.
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
    // SAFETY: the first `len` bytes are ASCII. `kept` counts bytes for which `AsciiSet::keeps` is true, which are ASCII by the
    // invariant of that type. `kept_by_blocks` counts such bytes, and blocks for which `is_ascii` is true.
    (unsafe { str::from_utf8_unchecked(kept) }, rest)
}

/// Returns `bytes` as text if all stay unescaped. Calls a kernel, which is faster than a loop above about 24 bytes.
#[inline(always)]
pub(crate) fn all_kept<'a>(bytes: &'a [u8], set: &AsciiSet) -> Option<&'a str> {
    // SAFETY: `is_kept_by_kernel` returns true only if `is_ascii` is true of the bytes.
    is_kept_by_kernel(bytes, set).then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

/// Reports whether all of `bytes` stay unescaped, which implies that they are ASCII. This function checks `is_ascii`, too, so
/// that `unsafe` code need not rely on the kernel.
#[inline(always)]
fn is_kept_by_kernel(bytes: &[u8], set: &AsciiSet) -> bool {
    set.encode().is_encoded(bytes) && bytes.is_ascii()
}

/// Returns the number of bytes at the start of `bytes` that stay unescaped.
#[inline(always)]
fn kept(bytes: &[u8], set: &AsciiSet) -> usize {
    bytes.iter().position(|&byte| !set.keeps(byte)).unwrap_or(bytes.len())
}

/// The number of unescaped bytes after which a run is likely to be long enough for a kernel.
const SHORT_RUN: usize = 32;
/// The least number of bytes that a kernel checks. A loop checks fewer bytes faster.
const MIN_KERNEL_LEN: usize = 16;
/// The length of the first block that a kernel checks, in bytes.
const BLOCK: usize = 64;

/// Returns the same number as [`kept`], but checks blocks with a kernel. Each block is twice as long as the one before
/// it, so that most of the checked bytes stay unescaped.
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
    /// The longest input, in bytes. For a longer one, calling a kernel is faster.
    pub(crate) const MAX: usize = 16;

    /// Encodes `bytes`, or returns [`None`] if they are more than [`Short::MAX`].
    #[inline(always)]
    pub(crate) fn encode(bytes: &[u8], set: &AsciiSet) -> Option<Short> {
        if bytes.len() > Short::MAX {
            return None;
        }
        let mut short = Short { text: [0; 3 * Short::MAX + 1], len: 0 };
        for &byte in bytes {
            // Four bytes are stored, but only one or three count, so no branch can be mispredicted. The invariant of
            // `text` holds: kept bytes are ASCII, and so are escapes by the assertion in `ESCAPES`.
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
