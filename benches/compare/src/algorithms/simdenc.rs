//! The percent codec of simdenc, a package for Go: <https://github.com/dans-stuff/simdenc>.
//!
//! The encoder copies blocks of 64 bytes that need no escape. Otherwise it takes 21 bytes of the block and copies each
//! to three lanes. A byte to escape becomes `%` and two digits, a byte to keep stays in one lane, and the used lanes
//! are compressed. The decoder looks up the value of each byte as a digit. It moves the values of the next two lanes to
//! each `%`, and compresses the lanes without the digits. If the digits of a `%` are in the next block, the block ends
//! before this `%`.
//!
//! All differences from simdenc make it faster. The end is decoded as one more block and not by scalar code. Malformed escapes do not end
//! a block with an error. A `%` ends a block only if its digits are in the next one. simdenc has no code for AVX2, because it needs an
//! instruction that compresses; the code for AVX2 in this file has tables of shuffles instead.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::x86::{from_lane, load_rest, load16, load32, load64, store8, store16, store32, store64, table64};

/// Reports whether the encoder keeps `byte`, because RFC 3986 calls it unreserved.
const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A byte for each ASCII byte: 0x80 if the encoder escapes it, and otherwise 0.
static ESCAPED: [[u8; 64]; 2] = {
    let mut table = [[0; 64]; 2];
    let mut byte = 0;
    while byte < 128 {
        table[byte / 64][byte % 64] = if is_kept(byte as u8) { 0 } else { 0x80 };
        byte += 1;
    }
    table
};

/// The value of each ASCII byte as a hexadecimal digit, or 0x80 if it is not a digit.
static VALUES: [[u8; 64]; 2] = {
    let mut table = [[0x80; 64]; 2];
    let mut byte = 0;
    while byte < 128 {
        if let Some(value) = (byte as u8 as char).to_digit(16) {
            table[byte / 64][byte % 64] = value as u8;
        }
        byte += 1;
    }
    table
};

/// The 16 digits, four times, so that only the lower four bits of an index count.
static DIGITS: [u8; 64] = {
    let mut digits = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        digits[lane] = b"0123456789ABCDEF"[lane % 16];
        lane += 1;
    }
    digits
};

/// The index of the byte that each lane gets. Three lanes get the same byte.
static THRICE: [u8; 64] = {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane] = lane as u8 / 3;
        lane += 1;
    }
    lanes
};

/// The first of each three lanes, which has the `%` of an escape or the byte itself. The next lane has the first digit.
const FIRST: u64 = 0x1249_2492_4924_9249;

/// Encodes with AVX-512. `out` must have three times the length of `input`, and 64 bytes more.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub fn encode_avx512(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let [low, high] = [table64(&ESCAPED[0]), table64(&ESCAPED[1])];
    let (digits, thrice) = (table64(&DIGITS), table64(&THRICE));
    let (mut at, mut written) = (0, 0);
    while at < input.len() {
        let (bytes, count, loaded) = load64(input, at);
        // The highest bit marks the bytes to escape. Bytes from 0x80 on have it already.
        let class = _mm512_or_si512(_mm512_permutex2var_epi8(low, bytes, high), bytes);
        if _mm512_movepi8_mask(class) & loaded == 0 {
            // SAFETY: `written <= 3 * at`, and `out` has 64 bytes more than three times as many as the input.
            unsafe { store64(out, written, bytes) };
            (at, written) = (at + count, written + count);
            continue;
        }
        let take = count.min(21);
        let three = _mm512_permutexvar_epi8(thrice, bytes);
        let class = _mm512_or_si512(_mm512_permutex2var_epi8(low, three, high), three);
        let escaped = _mm512_movepi8_mask(class);
        let nibbles = _mm512_mask_blend_epi8(FIRST << 1, three, _mm512_srli_epi16::<4>(three));
        let made = _mm512_mask_blend_epi8(
            FIRST,
            _mm512_permutexvar_epi8(nibbles, digits),
            _mm512_set1_epi8(b'%' as i8),
        );
        let lanes = _mm512_mask_blend_epi8(escaped, three, made);
        let keep = _bzhi_u64(escaped | FIRST, 3 * take as u32);
        // SAFETY: `written <= 3 * at`, and `out` has 64 bytes more than three times as many as the input.
        unsafe { store64(out, written, _mm512_maskz_compress_epi8(keep, lanes)) };
        written += keep.count_ones() as usize;
        at += take;
    }
    written
}

/// Decodes with AVX-512. `out` must have 64 bytes more than `input`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub fn decode_avx512(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let [low, high] = [table64(&VALUES[0]), table64(&VALUES[1])];
    let (next, second) = (table64(&const { from_lane(1) }), table64(&const { from_lane(2) }));
    let (mut at, mut written) = (0, 0);
    while at < input.len() {
        let (bytes, count, loaded) = load64(input, at);
        let percents = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'%' as i8));
        if percents == 0 {
            // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
            unsafe { store64(out, written, bytes) };
            (at, written) = (at + count, written + count);
            continue;
        }
        // Zeros after the end are no digits, so a `%` shortly before the end of the input needs no other block.
        let take = if count == 64 { 62 + ((percents >> 62) | 4).trailing_zeros() as usize } else { count };
        // The highest bit marks lanes that are not digits, bytes from 0x80 on included.
        let values = _mm512_permutex2var_epi8(low, bytes, high);
        let values = _mm512_ternarylogic_epi64::<0xF8>(values, bytes, _mm512_set1_epi8(i8::MIN));
        let (first, second) =
            (_mm512_permutexvar_epi8(next, values), _mm512_permutexvar_epi8(second, values));
        let valid = !_mm512_movepi8_mask(_mm512_or_si512(first, second));
        let escapes = percents & valid & _bzhi_u64(loaded, take as u32);
        let shifted = _mm512_and_si512(_mm512_slli_epi16::<4>(first), _mm512_set1_epi8(0xF0_u8 as i8));
        let joined = _mm512_mask_blend_epi8(escapes, bytes, _mm512_or_si512(shifted, second));
        let keep = _bzhi_u64(loaded, take as u32) & !(escapes << 1 | escapes << 2);
        // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
        unsafe { store64(out, written, _mm512_maskz_compress_epi8(keep, joined)) };
        written += keep.count_ones() as usize;
        at += take;
    }
    written
}

/// Loads the bytes from `at` to the end of `input`, at most 32. Returns them with zeros after them, and their number.
#[inline]
#[target_feature(enable = "avx2")]
fn load_block(input: &[u8], at: usize) -> (__m256i, usize) {
    let count = input.len() - at;
    if count >= 32 {
        // SAFETY: The input has 32 bytes or more from `at` on.
        return (unsafe { load32(input, at) }, 32);
    }
    let (low, high) = if count >= 16 {
        // SAFETY: The input has 16 bytes or more from `at` on.
        (unsafe { load16(input, at) }, load_rest(input, at + 16))
    } else {
        (load_rest(input, at), _mm_setzero_si128())
    };
    (_mm256_set_m128i(high, low), count)
}

/// For each set of escaped bytes among five bytes, the shuffle that compresses the 15 lanes of the five bytes.
static COMPRESS_THREES: [[u8; 16]; 32] = {
    let mut shuffles = [[0x80; 16]; 32];
    let mut set = 0;
    while set < 32 {
        let (mut lane, mut to) = (0, 0);
        while lane < 15 {
            if lane % 3 == 0 || set >> (lane / 3) & 1 == 1 {
                shuffles[set][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    shuffles
};

/// The shuffle that compresses eight lanes, for each set of lanes to keep.
static COMPRESS: [[u8; 16]; 256] = {
    let mut shuffles = [[0x80; 16]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut to) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                shuffles[set][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    shuffles
};

/// The bytes that the encoder keeps: the entry for the lower half of a byte has a bit for each upper half.
static KEPT: [u8; 16] = {
    let mut table = [0; 16];
    let mut byte = 0_u8;
    while byte < 128 {
        if is_kept(byte) {
            table[byte as usize % 16] |= 1 << (byte / 16);
        }
        byte += 1;
    }
    table
};

/// Loads a table of 16 bytes into both halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn table16(table: &[u8; 16]) -> __m256i {
    // SAFETY: The table has 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { load16(table, 0) })
}

/// The index of the byte that each lane gets. Each of ten bytes fills three lanes, and each half has five of the bytes.
static THRICE_TEN: [u8; 32] = {
    let mut lanes = [0x80; 32];
    let mut lane = 0;
    while lane < 15 {
        lanes[lane] = lane as u8 / 3;
        lanes[16 + lane] = 5 + lane as u8 / 3;
        lane += 1;
    }
    lanes
};

/// Encodes with AVX2. `out` must have three times the length of `input`, and 64 bytes more.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub fn encode_avx2(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let kept = table16(&KEPT);
    let bits = table16(&[1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);
    let digits = table16(DIGITS.first_chunk().expect("64 digits"));
    let nibble = _mm256_set1_epi8(15);
    let percents = table16(&[b'%', 0, 0, b'%', 0, 0, b'%', 0, 0, b'%', 0, 0, b'%', 0, 0, 0]);
    let is_first = _mm256_cmpeq_epi8(percents, _mm256_set1_epi8(b'%' as i8));
    let is_second = _mm256_slli_si256::<1>(is_first);
    // SAFETY: The table has 32 bytes.
    let thrice = unsafe { load32(&THRICE_TEN, 0) };
    let (mut at, mut written) = (0, 0);
    while at < input.len() {
        let (block, count) = load_block(input, at);
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(block), nibble);
        let bit = _mm256_shuffle_epi8(bits, upper);
        let is_kept = _mm256_and_si256(_mm256_shuffle_epi8(kept, block), bit);
        let is_escaped = _mm256_cmpeq_epi8(is_kept, _mm256_setzero_si256());
        let escaped = _bzhi_u32(_mm256_movemask_epi8(is_escaped) as u32, count as u32);
        if escaped == 0 {
            // SAFETY: `written <= 3 * at`, and `out` has 64 bytes more than three times as many as the input.
            unsafe { store32(out, written, block) };
            (at, written) = (at + count, written + count);
            continue;
        }
        let (low, high) = (_mm256_castsi256_si128(block), _mm256_extracti128_si256::<1>(block));
        let (low_class, high_class) =
            (_mm256_castsi256_si128(is_escaped), _mm256_extracti128_si256::<1>(is_escaped));
        // Each item has ten bytes in the first lanes of a register of 16, and a mask of the bytes to escape.
        let tens = [
            (low, low_class),
            (_mm_alignr_epi8::<10>(high, low), _mm_alignr_epi8::<10>(high_class, low_class)),
            (_mm_srli_si128::<4>(high), _mm_srli_si128::<4>(high_class)),
        ];
        let take = count.min(30);
        let mut sets = escaped;
        let mut to = written;
        for (ten, class) in tens {
            let three = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(ten), thrice);
            let class = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(class), thrice);
            let upper = _mm256_srli_epi16::<4>(three);
            let nibbles = _mm256_and_si256(_mm256_blendv_epi8(three, upper, is_second), nibble);
            let made = _mm256_blendv_epi8(_mm256_shuffle_epi8(digits, nibbles), percents, is_first);
            let lanes = _mm256_blendv_epi8(three, made, class);
            for half in [_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes)] {
                let set = sets as usize & 31;
                // SAFETY: A shuffle has 16 bytes. `to` is at most `written + 25`, and two more for each escape, of which there are at most
                // `count`. As `written <= 3 * at`, 16 bytes from `to` on are in `out`, which has `3 * input.len() + 64`.
                unsafe {
                    let shuffle = load16(&COMPRESS_THREES[set], 0);
                    store16(out, to, _mm_shuffle_epi8(half, shuffle));
                }
                to += 5 + 2 * set.count_ones() as usize;
                sets >>= 5;
            }
        }
        written += take + 2 * _bzhi_u32(escaped, take as u32).count_ones() as usize;
        at += take;
    }
    written
}

/// Decodes with AVX2. `out` must have 64 bytes more than `input`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub fn decode_avx2(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let percent = _mm256_set1_epi8(b'%' as i8);
    let (mut at, mut written) = (0, 0);
    while at < input.len() {
        let (block, count) = load_block(input, at);
        let is_percent = _mm256_cmpeq_epi8(block, percent);
        let percents = _mm256_movemask_epi8(is_percent) as u32;
        if percents == 0 {
            // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
            unsafe { store32(out, written, block) };
            (at, written) = (at + count, written + count);
            continue;
        }
        // Zeros after the end are no digits, so a `%` shortly before the end of the input needs no other block.
        let take = if count == 32 { 30 + ((percents >> 30) | 4).trailing_zeros() as usize } else { count };
        let digits = _mm256_sub_epi8(block, _mm256_set1_epi8(b'0' as i8));
        let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
        let lower = _mm256_or_si256(block, _mm256_set1_epi8(0x20));
        let letters = _mm256_sub_epi8(lower, _mm256_set1_epi8(b'a' as i8));
        let is_letter = _mm256_cmpeq_epi8(_mm256_min_epu8(letters, _mm256_set1_epi8(5)), letters);
        // Digits become their values. All other bytes become bytes whose highest bit is set.
        let letters = _mm256_blendv_epi8(
            _mm256_set1_epi8(-1),
            _mm256_add_epi8(letters, _mm256_set1_epi8(10)),
            is_letter,
        );
        let values = _mm256_blendv_epi8(letters, digits, is_digit);
        let upper = _mm256_permute2x128_si256::<0x81>(values, values);
        let (first, second) =
            (_mm256_alignr_epi8::<1>(upper, values), _mm256_alignr_epi8::<2>(upper, values));
        let is_escape = _mm256_andnot_si256(_mm256_or_si256(first, second), is_percent);
        // The instruction shifts pairs of bytes, so the mask removes the bits that come from the other byte.
        let shifted = _mm256_and_si256(_mm256_slli_epi16::<4>(first), _mm256_set1_epi8(0xF0_u8 as i8));
        let joined = _mm256_or_si256(shifted, second);
        let joined = _mm256_blendv_epi8(block, joined, is_escape);
        let escapes = _bzhi_u32(_mm256_movemask_epi8(is_escape) as u32, take as u32);
        let mut keep = _bzhi_u32(u32::MAX, take as u32) & !(escapes << 1 | escapes << 2);
        let (low, high) = (_mm256_castsi256_si128(joined), _mm256_extracti128_si256::<1>(joined));
        for eight in [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)] {
            let set = keep as usize & 255;
            // SAFETY: A shuffle has 16 bytes. The output is never longer than the input, and `out` has 64 bytes more.
            unsafe { store8(out, written, _mm_shuffle_epi8(eight, load16(&COMPRESS[set], 0))) };
            written += set.count_ones() as usize;
            keep >>= 8;
        }
        at += take;
    }
    written
}
