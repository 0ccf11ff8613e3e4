//! The decoder that was proposed for ada in <https://github.com/ada-url/ada/pull/459>.
//!
//! With AVX2, a mask of the `%` is made ahead of the steps. A step decodes 16 bytes, or fewer if an escape starts in the last two. It
//! converts all bytes as if they were hexadecimal digits. The value of a valid escape replaces its first digit, and a table has a shuffle
//! for each set of positions of escapes. AVX-512 does the same with 64 bytes, and with a compressing instruction instead of the shuffle.
//!
//! All differences from the proposal make it faster or correct (docs/lab/2026-11-28-simd-rivals.md). AVX-512 compresses
//! the answer in a register and then stores it. 32 bytes (NEON: 64) without `%` are copied at once, and a vector step
//! decodes the end. If both of the last two bytes are `%`, the proposal takes 13 bytes and can lose one; here, a step
//! takes 14 or more. `+` stays. The proposal has no NEON code.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use super::x86::{from_lane, load_rest, load16, load32, load64, store16, store32, store64, table64};
#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::*;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The number of sets of the first 14 lanes, which are those where escapes can start.
const STARTS: usize = 1 << 14;

/// Reports whether escapes can start at all positions in `set`, which must be at least three bytes apart.
const fn can_be(set: usize) -> bool {
    set & (set >> 1) == 0 && set & (set >> 2) == 0
}

const LEGAL: usize = {
    let (mut set, mut count) = (0, 0);
    while set < STARTS {
        count += can_be(set) as usize;
        set += 1;
    }
    count
};

/// The number of the shuffle for each set of positions where escapes start.
static NUMBERS: [u16; STARTS] = {
    let mut numbers = [0; STARTS];
    let (mut set, mut count) = (0, 0);
    while set < STARTS {
        numbers[set] = count;
        count += can_be(set) as u16;
        set += 1;
    }
    numbers
};

/// The shuffles. Each leaves out the first and the third byte of every escape.
static SHUFFLES: [[u8; 16]; LEGAL] = {
    let mut shuffles = [[0x80; 16]; LEGAL];
    let (mut set, mut count) = (0, 0);
    while set < STARTS {
        if can_be(set) {
            let (mut from, mut to) = (0, 0);
            while from < 16 {
                let starts = set >> from & 1;
                shuffles[count][to] = (from + starts) as u8;
                to += 1;
                from += 1 + 2 * starts;
            }
            count += 1;
        }
        set += 1;
    }
    shuffles
};

/// Returns how many of 16 bytes a step decodes: all, or those before a `%` in the last two. `percents` has a bit for each `%`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
const fn taken(percents: u64) -> usize {
    14 + ((percents >> 14) | 4).trailing_zeros() as usize
}

/// Decodes the escapes that end within `bytes`. Returns the answer, in which each escape is one byte, and a mask of the positions where
/// escapes start.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn decode16(bytes: __m128i) -> (__m128i, u32) {
    let is_percent = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'%' as i8));
    let digits = _mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8));
    let is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    let letters = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8(b'a' as i8));
    let is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(5)), letters);
    let is_hex = _mm_or_si128(is_digit, is_letter);
    let follow = _mm_and_si128(_mm_srli_si128::<1>(is_hex), _mm_srli_si128::<2>(is_hex));
    let starts = _mm_and_si128(is_percent, follow);
    let values = _mm_blendv_epi8(_mm_add_epi8(letters, _mm_set1_epi8(10)), digits, is_digit);
    // SSE cannot shift single bytes. The upper four bits are cleared, so that the shift of pairs moves no bit into the neighbouring lane.
    let values = _mm_and_si128(values, _mm_set1_epi8(15));
    let values = _mm_or_si128(_mm_slli_epi16::<4>(values), _mm_srli_si128::<1>(values));
    let joined = _mm_blendv_epi8(bytes, values, _mm_slli_si128::<1>(starts));
    let set = _mm_movemask_epi8(starts) as u32;
    let shuffle = &SHUFFLES[usize::from(NUMBERS[set as usize & (STARTS - 1)])];
    // SAFETY: A shuffle has 16 bytes.
    (_mm_shuffle_epi8(joined, unsafe { load16(shuffle, 0) }), set)
}

/// Decodes with AVX2. `out` must have 64 bytes more than `input`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub fn decode_avx2(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let percent = _mm256_set1_epi8(b'%' as i8);
    let (mut at, mut written) = (0, 0);
    // `percents` has a bit for each `%` between `at` and `scanned`.
    let (mut percents, mut scanned) = (0_u64, 0);
    loop {
        if scanned - at < 16 {
            if scanned + 32 > input.len() {
                break;
            }
            // SAFETY: The input has 32 bytes from `scanned` on.
            let ahead = _mm256_cmpeq_epi8(unsafe { load32(input, scanned) }, percent);
            percents |= u64::from(_mm256_movemask_epi8(ahead) as u32) << (scanned - at);
            scanned += 32;
            if percents == 0 {
                // SAFETY: `at + 32 <= scanned`, which is in the input; `written <= at`, and `out` has 64 bytes more than the input.
                unsafe { store32(out, written, load32(input, at)) };
                (at, written) = (at + 32, written + 32);
                continue;
            }
        }
        // SAFETY: `at + 16 <= scanned`, which is in the input.
        let bytes = unsafe { load16(input, at) };
        let take = taken(percents & 0xFFFF);
        if percents & (STARTS as u64 - 1) == 0 {
            // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
            unsafe { store16(out, written, bytes) };
            written += take;
        } else {
            let (answer, set) = decode16(bytes);
            // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
            unsafe { store16(out, written, answer) };
            written += take - 2 * set.count_ones() as usize;
        }
        percents >>= take;
        at += take;
    }
    while at + 16 <= input.len() {
        // SAFETY: The input has 16 bytes from `at` on.
        let bytes = unsafe { load16(input, at) };
        let percents = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm256_castsi256_si128(percent))) as u32;
        let take = taken(u64::from(percents));
        let (answer, set) = if percents == 0 { (bytes, 0) } else { decode16(bytes) };
        // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
        unsafe { store16(out, written, answer) };
        written += take - 2 * set.count_ones() as usize;
        at += take;
    }
    // Zeros after the end are no digits, so an escape is valid only if it ends in the input.
    let (answer, set) = decode16(load_rest(input, at));
    // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
    unsafe { store16(out, written, answer) };
    written + input.len() - at - 2 * set.count_ones() as usize
}

/// Decodes with AVX-512. `out` must have 64 bytes more than `input`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub fn decode_avx512(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let next = table64(&const { from_lane(1) });
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
        let digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8));
        let is_digit = _mm512_cmplt_epu8_mask(digits, _mm512_set1_epi8(10));
        let letters =
            _mm512_sub_epi8(_mm512_or_si512(bytes, _mm512_set1_epi8(0x20)), _mm512_set1_epi8(b'a' as i8));
        let is_letter = _mm512_cmplt_epu8_mask(letters, _mm512_set1_epi8(6));
        let is_hex = is_digit | is_letter;
        let starts = percents & (is_hex >> 1) & (is_hex >> 2);
        let values = _mm512_mask_blend_epi8(is_digit, _mm512_add_epi8(letters, _mm512_set1_epi8(10)), digits);
        let values = _mm512_and_si512(values, _mm512_set1_epi8(15));
        let second = _mm512_permutexvar_epi8(next, values);
        let values = _mm512_or_si512(_mm512_slli_epi16::<4>(values), second);
        let joined = _mm512_mask_blend_epi8(starts << 1, bytes, values);
        // In the last block, a `%` in the last two bytes cannot start a valid escape, because zeros follow.
        let take = if count == 64 { 62 + ((percents >> 62) | 4).trailing_zeros() as usize } else { count };
        let keep = _bzhi_u64(loaded, take as u32) & !(starts | starts << 2);
        // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
        unsafe { store64(out, written, _mm512_maskz_compress_epi8(keep, joined)) };
        written += keep.count_ones() as usize;
        at += take;
    }
    written
}

/// Decodes the escapes that end within `bytes`. Returns the answer, and the number of escapes.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
fn decode16(bytes: uint8x16_t, is_percent: uint8x16_t) -> (uint8x16_t, usize) {
    let digits = vsubq_u8(bytes, vdupq_n_u8(b'0'));
    let is_digit = vcltq_u8(digits, vdupq_n_u8(10));
    let letters = vsubq_u8(vorrq_u8(bytes, vdupq_n_u8(0x20)), vdupq_n_u8(b'a'));
    let is_letter = vcltq_u8(letters, vdupq_n_u8(6));
    let none = vdupq_n_u8(0);
    let is_hex = vorrq_u8(is_digit, is_letter);
    let follow = vandq_u8(vextq_u8::<1>(is_hex, none), vextq_u8::<2>(is_hex, none));
    let starts = vandq_u8(is_percent, follow);
    let values = vbslq_u8(is_digit, digits, vaddq_u8(letters, vdupq_n_u8(10)));
    let values = vorrq_u8(vshlq_n_u8::<4>(values), vextq_u8::<1>(values, none));
    let joined = vbslq_u8(vextq_u8::<15>(none, starts), values, bytes);
    // NEON has no instruction that makes a mask, so each lane gets its bit, and the bits of each half are added.
    let bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
    let marks = vandq_u8(starts, bits);
    let set = usize::from(vaddv_u8(vget_low_u8(marks))) | usize::from(vaddv_u8(vget_high_u8(marks))) << 8;
    let number = usize::from(NUMBERS[set & (STARTS - 1)]);
    // SAFETY: A shuffle has 16 bytes.
    let shuffle = unsafe { vld1q_u8(SHUFFLES[number].as_ptr()) };
    (vqtbl1q_u8(joined, shuffle), usize::from(ESCAPES[number]))
}

/// The number of escapes in each shuffle. NEON has no instruction that counts the bits of a general register.
#[cfg(target_arch = "aarch64")]
static ESCAPES: [u8; LEGAL] = {
    let mut escapes = [0; LEGAL];
    let mut set = 0;
    while set < STARTS {
        if can_be(set) {
            escapes[NUMBERS[set] as usize] = set.count_ones() as u8;
        }
        set += 1;
    }
    escapes
};

/// Decodes with NEON. `out` must have 64 bytes more than `input`.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
pub fn decode_neon(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let percent = vdupq_n_u8(b'%');
    let (mut at, mut written) = (0, 0);
    while at < input.len() {
        let left = input.len() - at;
        let mut end = [0; 16];
        let from = if left >= 16 {
            &input[at..]
        } else {
            end[..left].copy_from_slice(&input[at..]);
            // Zeros are no digits, so an escape is valid only if it ends in the input.
            &end
        };
        let to = out[written..].as_mut_ptr().cast::<u8>();
        if left >= 64 {
            // SAFETY: `from` has 64 bytes or more. `written <= at`, and `out` has 64 bytes more than the input, so 64 bytes from `to` on
            // are in it.
            let is_clean = unsafe {
                let blocks = vld1q_u8_x4(from.as_ptr());
                let [a, b, c, d] =
                    [blocks.0, blocks.1, blocks.2, blocks.3].map(|block| veorq_u8(block, percent));
                vst1q_u8_x4(to, blocks);
                vminvq_u8(vminq_u8(vminq_u8(a, b), vminq_u8(c, d))) != 0
            };
            if is_clean {
                (at, written) = (at + 64, written + 64);
                continue;
            }
        }
        // SAFETY: `from` has 16 bytes or more.
        let bytes = unsafe { vld1q_u8(from.as_ptr()) };
        let is_percent = vceqq_u8(bytes, percent);
        // This mask has four bits for each byte.
        let percents =
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(is_percent))));
        let take = (14 + ((percents >> 56) | 0x100).trailing_zeros() as usize / 4).min(left);
        let (answer, escapes) = if percents == 0 { (bytes, 0) } else { decode16(bytes, is_percent) };
        // SAFETY: `written <= at`, and `out` has 64 bytes more than the input.
        unsafe { vst1q_u8(to, answer) };
        written += take - 2 * escapes;
        at += take;
    }
    written
}
