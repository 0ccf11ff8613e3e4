//! Bytes in machine words: loads and checks of short inputs, and searches of eight bytes at once. "lab: NAME" names docs/lab/DATE-NAME.md.

const EACH: u64 = 0x0101_0101_0101_0101;
const TOP: u64 = EACH << 7;

/// Returns the bytes of an input shorter than 16, little-endian, with zeros after them.
#[inline(always)]
pub(crate) fn words(input: &[u8]) -> [u64; 2] {
    let len = input.len();
    if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        // The shifts remove the bytes of the first word. There are two, because one shift by 64 bits would overflow.
        let behind = u64::from_le_bytes(*end) >> 1 >> (127 - 8 * len.min(15));
        [u64::from_le_bytes(*start), behind]
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        let end = u64::from(u32::from_le_bytes(*end)) << (8 * (len - 4));
        [u64::from(u32::from_le_bytes(*start)) | end, 0]
    } else {
        let byte = |i: usize| u64::from(input[i]) << (8 * i);
        [if len == 0 { 0 } else { byte(0) | byte(len / 2) | byte(len - 1) }, 0]
    }
}

/// The longest input that a [`ShortCheck`] checks.
pub(crate) const LONGEST_SHORT: usize = 16;

/// A quick check whether an input of at most [`LONGEST_SHORT`] bytes stays unchanged. The methods get two pieces that cover the input and
/// may overlap. `true` means that the input stays unchanged; `false` means that the check cannot tell.
pub(crate) trait ShortCheck: Copy {
    /// Checks an input of one byte.
    fn len_1(self, byte: u8) -> bool;

    /// Checks an input of two or three bytes, given its first two and its last two.
    fn len_2_to_3(self, len: usize, start: u16, end: u16) -> bool;

    /// Checks an input of four to seven bytes, given its first four and its last four.
    fn len_4_to_7(self, len: usize, start: u32, end: u32) -> bool;

    /// Checks an input of eight to sixteen bytes, given its first eight and its last eight.
    fn len_8_to_16(self, start: u64, end: u64) -> bool;
}

/// Checks `input` with `check`. Returns `false` if it is longer than [`LONGEST_SHORT`] bytes.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn stays(input: &[u8], check: impl ShortCheck) -> bool {
    let len = input.len();
    if len > LONGEST_SHORT {
        false
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        check.len_8_to_16(u64::from_le_bytes(*start), u64::from_le_bytes(*end))
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        check.len_4_to_7(len, u32::from_le_bytes(*start), u32::from_le_bytes(*end))
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        check.len_2_to_3(len, u16::from_le_bytes(*start), u16::from_le_bytes(*end))
    } else {
        input.first().is_none_or(|&byte| check.len_1(byte))
    }
}

/// Checks an input of 16 bytes or more with `check`, piece by piece. Returns `false` if the input is shorter.
#[inline(always)]
pub(crate) fn all_stay(input: &[u8], check: impl ShortCheck) -> bool {
    let (blocks, _) = input.as_chunks::<64>();
    blocks.iter().all(|block| four_stay(block, check))
        && four_stay(input.last_chunk::<64>().map_or(input, |last| last), check)
}

/// Checks 16 to 64 bytes with `check`, as four overlapping pieces of sixteen. There is no branch on the length, because it could
/// not be predicted (lab: kernel-history). Returns `false` for any other length.
#[inline(always)]
fn four_stay(input: &[u8], check: impl ShortCheck) -> bool {
    let len = input.len();
    if !(16..=64).contains(&len) {
        return false;
    }
    let last = len - 16;
    let mut stay = true;
    for from in [0, last.min(16), last.saturating_sub(16), last] {
        let Some(piece) = input.get(from..).and_then(<[u8]>::first_chunk::<16>) else { return false };
        let (Some(start), Some(end)) = (piece.first_chunk(), piece.last_chunk()) else { return false };
        stay &= check.len_8_to_16(u64::from_le_bytes(*start), u64::from_le_bytes(*end));
    }
    stay
}

/// Returns the top bit of each byte of `word` that is `byte`, and no other bit.
#[inline(always)]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    !differ(word, byte) & TOP
}

/// Returns a word with the top bit set in exactly the bytes of `word` that are not `byte`. Its other bits are arbitrary.
#[inline(always)]
const fn differ(word: u64, byte: u8) -> u64 {
    let difference = word ^ (EACH * byte as u64);
    // The sum of seven bits and 0x7F does not overflow its byte.
    ((difference & !TOP) + !TOP) | difference
}

/// Returns a word with the top bit set in exactly the bytes of `word` that are `byte` or more. All bytes are below 0x80. Other
/// bits are arbitrary.
#[inline(always)]
const fn at_least(word: u64, byte: u8) -> u64 {
    word + EACH * (0x80 - byte as u64)
}

/// Reports whether all bytes of `word` are ASCII letters or digits, `-`, `.`, `_` or the ASCII byte `other`.
#[allow(dead_code, reason = "targets with vectors in every CPU do not use it")]
#[inline(always)]
pub(crate) const fn all_common(word: u64, other: u8) -> bool {
    let ascii = word & !TOP;
    let folded = ascii | (EACH * 0x20);
    let letters = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
    // The bytes from `-` to `9` are `-`, `.`, `/` and the digits.
    let digits = at_least(ascii, b'-') & !at_least(ascii, b'9' + 1) & differ(ascii, b'/');
    let others = !(differ(ascii, b'_') & differ(ascii, other));
    (letters | digits | others) & !word & TOP == TOP
}

/// Returns a word with bit `n` set if the top bit of byte `n` is set. No other bits of `tops` are set.
#[inline(always)]
pub(crate) const fn bits(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns a mask of at most 64 bytes: bit `n` is set if `find`, given the word with byte `n`, sets the top bit of that byte. `find`
/// sets no other bits than top bits.
#[inline(always)]
pub(crate) fn mask(bytes: &[u8], find: impl Fn(u64) -> u64) -> u64 {
    if let Some(block) = bytes.first_chunk::<64>() {
        mask_of_words(block, 56, find)
    } else if let Some(last) = bytes.len().checked_sub(8) {
        mask_of_words(bytes, last, find)
    } else {
        // The word has zeros after the bytes, which `find` may find.
        bits(find(words(bytes)[0])) & ((1 << bytes.len()) - 1)
    }
}

/// Returns the [`mask`] of `bytes`. The last eight of them start at offset `last`.
#[inline(always)]
fn mask_of_words(bytes: &[u8], last: usize, find: impl Fn(u64) -> u64) -> u64 {
    (0..64).step_by(8).fold(0, |mask, from| {
        // The last eight bytes may be searched more than once, so no branch on their offset is needed.
        let from = last.min(from);
        let word = bytes.get(from..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 8]);
        mask | bits(find(u64::from_le_bytes(*word))) << (from % 64)
    })
}
