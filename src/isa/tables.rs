//! Shuffle tables shared by the tiers that have a byte shuffle and no compress instruction.
//!
//! All are 0x80-and-above-is-zero tables, which is what `pshufb`, `tbl` and `swizzle` have in common for lanes.

#![allow(dead_code, reason = "each architecture uses some of the tables")]

/// Bit `n & 7` at place `n`: selects a row's bit by the high half of an octet.
pub(super) const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// Rows of the set of hexadecimal digits, as `ByteSet::rows` for ASCII.
pub(super) const HEX_ROWS: [u8; 16] = {
    let mut rows = [0; 16];
    let set = crate::set::ByteSet::EMPTY.add(b"0123456789ABCDEFabcdef");
    let mut i = 0;
    while i < 16 {
        rows[i] = set.rows()[i];
        i += 1;
    }
    rows
};

/// Places of eight lanes that move the lanes of a mask to the front; the rest is 0.
pub(super) static COMPRESS: [[u8; 8]; 256] = compress(0);

/// As [`COMPRESS`], for the upper eight of sixteen lanes.
pub(super) static COMPRESS_HIGH: [[u8; 8]; 256] = compress(8);

const fn compress(base: u8) -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut at) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 != 0 {
                table[mask][at] = base + lane;
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

/// A place of [`EXPAND`] that stands for `%`: a shuffle gives zero there, and what is above 0x80 is the `%`.
pub(super) const PERCENT: u8 = 0x80 | b'%';

/// How to write eight lanes, some of them as escapes: where up to 24 octets come from (lanes 0-7 hold the octets, or
/// the high digits of those to escape, and lanes 8-15 the low digits).
#[repr(align(32))]
pub(super) struct Row(pub [u8; 32]);

/// A [`Row`] for each mask of lanes to escape.
pub(super) static EXPAND: [Row; 256] = {
    let mut table = [const { Row([0; 32]) }; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut at) = (0u8, 0);
        let row = &mut table[mask].0;
        while lane < 8 {
            if mask >> lane & 1 != 0 {
                row[at] = PERCENT;
                row[at + 1] = lane;
                row[at + 2] = 8 + lane;
                at += 3;
            } else {
                row[at] = lane;
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The number of bits in each mask, for CPUs without `popcnt`.
pub(super) static COUNT: [u8; 256] = {
    let mut counts = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        counts[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    counts
};

/// Loaded from place `n`, moves lanes `n..16` to the front and fills with zeros.
pub(super) static SLIDE: [u8; 32] = {
    let mut slide = [0x80; 32];
    let mut i = 0;
    while i < 16 {
        slide[i] = i as u8;
        i += 1;
    }
    slide
};

/// In byte `j`, the number of bits in the bytes of `mask` below byte `j`; at most 56.
#[inline(always)]
pub(super) const fn counts_below(mask: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let pairs = mask - ((mask >> 1) & (EACH * 0x55));
    let nibbles = (pairs & (EACH * 0x33)) + ((pairs >> 2) & (EACH * 0x33));
    let bytes = (nibbles + (nibbles >> 4)) & (EACH * 0x0F);
    bytes.wrapping_mul(EACH) << 8
}

/// The number of bits in `mask`, without `popcnt`.
#[inline(always)]
pub(super) const fn count(mask: u64) -> usize {
    let below = counts_below(mask) >> 56;
    below as usize + (mask >> 56).count_ones() as usize
}

/// The octets of an input shorter than 16, little-endian, with zeros behind them.
#[inline(always)]
pub(super) fn words(input: &[u8]) -> [u64; 2] {
    let len = input.len();
    if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        // Of the last eight octets, those that the first eight do not hold; the shift may be by 64.
        let behind = u64::from_le_bytes(*end) >> 1 >> (127 - 8 * len.min(15));
        [u64::from_le_bytes(*start), behind]
    } else if let (Some(start), Some(end)) = (input.first_chunk(), input.last_chunk()) {
        let end = u64::from(u32::from_le_bytes(*end)) << (8 * (len - 4));
        [u64::from(u32::from_le_bytes(*start)) | end, 0]
    } else {
        let octet = |i: usize| u64::from(input[i]) << (8 * i);
        [if len == 0 { 0 } else { octet(0) | octet(len / 2) | octet(len - 1) }, 0]
    }
}
