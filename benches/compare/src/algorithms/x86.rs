//! Loads and stores of vectors.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Reports whether the CPU has the features that the AVX2 functions of this folder enable.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

/// Reports whether the CPU has the features that the AVX-512 functions of this folder enable.
pub fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// Loads 16 bytes.
///
/// # Safety
///
/// `at + 16` must not exceed `input.len()`.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn load16(input: &[u8], at: usize) -> __m128i {
    debug_assert!(at + 16 <= input.len());
    // SAFETY: By the precondition, the 16 bytes are in the slice.
    unsafe { _mm_loadu_si128(input.as_ptr().add(at).cast()) }
}

/// Loads 32 bytes.
///
/// # Safety
///
/// `at + 32` must not exceed `input.len()`.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn load32(input: &[u8], at: usize) -> __m256i {
    debug_assert!(at + 32 <= input.len());
    // SAFETY: By the precondition, the 32 bytes are in the slice.
    unsafe { _mm256_loadu_si256(input.as_ptr().add(at).cast()) }
}

/// Loads up to 64 bytes from `at` on. Returns them with zeros after them, their number, and a mask with a bit for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2")]
pub fn load64(input: &[u8], at: usize) -> (__m512i, usize, u64) {
    let rest = &input[at..];
    let count = rest.len().min(64);
    let mask = _bzhi_u64(u64::MAX, count as u32);
    // SAFETY: The mask has a bit only for bytes of the slice, and an instruction with a mask accesses no other bytes.
    (unsafe { _mm512_maskz_loadu_epi8(mask, rest.as_ptr().cast()) }, count, mask)
}

/// Loads the bytes from `at` to the end of `input`, which must be fewer than 16. Zeros follow them.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load_rest(input: &[u8], at: usize) -> __m128i {
    /// The 16 bytes from offset `n` on are a shuffle that moves lanes down by `n` and puts zeros after them.
    static DOWN: [u8; 32] = {
        let mut lanes = [0x80; 32];
        let mut lane = 0;
        while lane < 16 {
            lanes[lane] = lane as u8;
            lane += 1;
        }
        lanes
    };
    let rest = &input[at..];
    let count = rest.len();
    debug_assert!(count < 16);
    if input.len() >= 16 {
        // SAFETY: The input has 16 bytes or more, so its last 16 bytes are in it; `16 - count` is at most 16, and the table has 32 bytes.
        return unsafe { _mm_shuffle_epi8(load16(input, input.len() - 16), load16(&DOWN, 16 - count)) };
    }
    let [low, high] = match count {
        8.. => {
            let first = u64::from_le_bytes(rest[..8].try_into().expect("eight bytes"));
            let last = u64::from_le_bytes(rest[count - 8..].try_into().expect("eight bytes"));
            [first, (last >> 1) >> (127 - 8 * count)]
        }
        4.. => {
            let first = u32::from_le_bytes(rest[..4].try_into().expect("four bytes"));
            let last = u32::from_le_bytes(rest[count - 4..].try_into().expect("four bytes"));
            [u64::from(first) | u64::from(last) << (8 * (count - 4)), 0]
        }
        1.. => {
            let middle = u64::from(rest[count / 2]) << (8 * (count / 2));
            [u64::from(rest[0]) | middle | u64::from(rest[count - 1]) << (8 * (count - 1)), 0]
        }
        0 => [0, 0],
    };
    _mm_set_epi64x(high as i64, low as i64)
}

/// Stores the lower eight bytes of a vector.
///
/// # Safety
///
/// `at + 8` must not exceed `out.len()`.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn store8(out: &mut [MaybeUninit<u8>], at: usize, bytes: __m128i) {
    debug_assert!(at + 8 <= out.len());
    // SAFETY: By the precondition, the 8 bytes are in the slice.
    unsafe { _mm_storel_epi64(out.as_mut_ptr().add(at).cast(), bytes) }
}

/// Stores 16 bytes.
///
/// # Safety
///
/// `at + 16` must not exceed `out.len()`.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn store16(out: &mut [MaybeUninit<u8>], at: usize, bytes: __m128i) {
    debug_assert!(at + 16 <= out.len());
    // SAFETY: By the precondition, the 16 bytes are in the slice.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().add(at).cast(), bytes) }
}

/// Stores 32 bytes.
///
/// # Safety
///
/// `at + 32` must not exceed `out.len()`.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn store32(out: &mut [MaybeUninit<u8>], at: usize, bytes: __m256i) {
    debug_assert!(at + 32 <= out.len());
    // SAFETY: By the precondition, the 32 bytes are in the slice.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(at).cast(), bytes) }
}

/// Stores 64 bytes.
///
/// # Safety
///
/// `at + 64` must not exceed `out.len()`.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn store64(out: &mut [MaybeUninit<u8>], at: usize, bytes: __m512i) {
    debug_assert!(at + 64 <= out.len());
    // SAFETY: By the precondition, the 64 bytes are in the slice.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(at).cast(), bytes) }
}

/// Returns 64 consecutive numbers from `first` on. As indices of lanes, permutations take these numbers modulo 64.
pub const fn from_lane(first: u8) -> [u8; 64] {
    let mut lanes = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        lanes[lane] = first + lane as u8;
        lane += 1;
    }
    lanes
}

/// Loads a table of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn table64(table: &[u8; 64]) -> __m512i {
    // SAFETY: The table has 64 bytes.
    unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
}
