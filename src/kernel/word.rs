//! Bytes in machine words: short inputs, and a look at eight bytes together.

const EACH: u64 = 0x0101_0101_0101_0101;

/// The bytes of an input shorter than 16, little-endian, with zeros behind them.
#[inline(always)]
pub(crate) fn words(input: &[u8]) -> [u64; 2] {
    let len = input.len();
    if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        // Of the last eight bytes, those that the first eight do not hold; the shift may be by 64.
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

/// The top bit of the first byte of `word` that is `byte`, and of no byte before it; others may have it set, too.
#[inline(always)]
pub(crate) const fn find(word: u64, byte: u8) -> u64 {
    let zero = word ^ (EACH * byte as u64);
    zero.wrapping_sub(EACH) & !zero & (EACH << 7)
}

/// Whether `byte` is none of the bytes of two words.
#[allow(dead_code, reason = "some targets have a vector instruction for it")]
#[inline(always)]
pub(crate) const fn lack(a: u64, b: u64, byte: u8) -> bool {
    find(a, byte) | find(b, byte) == 0
}

/// Whether an input has at most 16 bytes, and `clean` holds for two words that have all of them, and no others.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn short_if(
    input: &[u8],
    clean: impl Fn(u64, u64) -> bool,
    clean_64: Option<impl Fn([&[u8; 16]; 4]) -> bool>,
) -> bool {
    let len = input.len();
    if len > 16 {
        let Some(clean_64) = clean_64 else { return false };
        // Four pieces, which overlap: no branch is about how many there are.
        let second = len / 32 * 16;
        let piece = |at: usize| input.get(at..).and_then(<[u8]>::first_chunk);
        return match (input.first_chunk(), piece(second), piece(len - 16 - second), input.last_chunk()) {
            (Some(a), Some(b), Some(c), Some(d)) if len <= 64 => clean_64([a, b, c, d]),
            _ => false,
        };
    }
    if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        clean(u64::from_le_bytes(*start), u64::from_le_bytes(*end))
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        let both = u64::from(u32::from_le_bytes(*start)) | u64::from(u32::from_le_bytes(*end)) << 32;
        clean(both, both)
    } else if len != 0 {
        let all = u64::from(input[0]) * 0x0000_0001_0000_0101
            | u64::from(input[len / 2]) * 0x0000_0100_0001_0000
            | u64::from(input[len - 1]) * 0x0101_0000_0100_0000;
        clean(all, all)
    } else {
        true
    }
}

/// Whether a set, as words, holds letters, digits, `-`, `.` and `_`.
#[inline(always)]
pub(crate) const fn holds_usual([low, high, ..]: &[u64; 4]) -> bool {
    const LOW: u64 = 0x03FF_6000_0000_0000;
    const HIGH: u64 = 0x07FF_FFFE_87FF_FFFE;
    *low & LOW == LOW && *high & HIGH == HIGH
}
