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

/// Of an input of at most sixteen bytes, two words that hold all its bytes and no others. Other inputs have none.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn few(input: &[u8]) -> Option<[u64; 2]> {
    let len = input.len();
    if len > 16 {
        None
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        Some([u64::from_le_bytes(*start), u64::from_le_bytes(*end)])
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        let both = u64::from(u32::from_le_bytes(*start)) | u64::from(u32::from_le_bytes(*end)) << 32;
        Some([both; 2])
    } else {
        let (&first, &middle, &last) = (input.first()?, input.get(len / 2)?, input.last()?);
        Some([three(first, middle, last); 2])
    }
}

/// A word of three bytes, each of them at least twice.
#[inline(always)]
pub(crate) const fn three(a: u8, b: u8, c: u8) -> u64 {
    (a as u64 * 0x0000_0001_0000_0101)
        | (b as u64 * 0x0000_0100_0001_0000)
        | (c as u64 * 0x0101_0000_0100_0000)
}

/// The top bit of the first byte of `word` that is `byte`, and of no byte before it; others may have it set, too.
#[inline(always)]
pub(crate) const fn find(word: u64, byte: u8) -> u64 {
    let zero = word ^ (EACH * byte as u64);
    zero.wrapping_sub(EACH) & !zero & (EACH << 7)
}
