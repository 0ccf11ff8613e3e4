//! AVX-512, AVX2 and SSE2 on x86-64.

use core::arch::asm;
use core::arch::x86_64::*;

use super::short;
use super::token::{Avx2, Avx512, Sse2};
use crate::kernel::{Isa, Sets};

/// Returns `mask` unchanged, but hides from LLVM how it was computed. See `Isa::opaque`.
#[inline(always)]
fn hide(mut mask: u64) -> u64 {
    // SAFETY: the assembly is a comment, so it changes no register, no memory and no flag.
    unsafe { asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
    mask
}

impl Isa for Avx512 {
    type Block = __m512i;

    #[inline(always)]
    fn load(self, bytes: &[u8; 64]) -> __m512i {
        // SAFETY: the token `self` exists only on a CPU with AVX-512 F; the reference proves that 64 bytes are readable.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_short(self, bytes: &[u8]) -> __m512i {
        let lanes = if bytes.len() < 64 { (1 << bytes.len()) - 1 } else { !0 };
        // SAFETY: the token `self` exists only on a CPU with AVX-512 BW; a masked load reads only the lanes in `lanes`, which
        // are at most the first `bytes.len()`.
        unsafe { _mm512_maskz_loadu_epi8(lanes, bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        // SAFETY: the token `self` exists only on a CPU with AVX-512 BW.
        unsafe { _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    fn high(self, block: __m512i) -> u64 {
        // SAFETY: the token `self` exists only on a CPU with AVX-512 BW.
        unsafe { _mm512_movepi8_mask(block) }
    }

    #[inline(always)]
    fn members<const K: usize>(self, block: __m512i, sets: &Sets) -> [u64; K] {
        self.masks(self.bits(block, sets))
    }

    #[inline(always)]
    fn pairs<const K: usize>(self, before: __m512i, block: __m512i, first: &Sets, second: &Sets) -> [u64; K] {
        let (first, second) = (self.bits(before, first), self.bits(block, second));
        // SAFETY: the token `self` exists only on a CPU with AVX-512 F.
        self.masks(unsafe { _mm512_and_si512(first, second) })
    }

    #[inline(always)]
    fn any_pair(self, before: __m512i, block: __m512i, first: &Sets, second: &Sets) -> u64 {
        let (first, second) = (self.bits(before, first), self.bits(block, second));
        // SAFETY: the token `self` exists only on a CPU with AVX-512 BW.
        unsafe { _mm512_test_epi8_mask(first, second) }
    }
}

#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
impl Avx512 {
    /// Returns, for each byte, the bits of the sets that hold it.
    #[inline(always)]
    fn bits(self, block: __m512i, sets: &Sets) -> __m512i {
        let tables = sets.by_byte.as_chunks().0;
        let (low, high) = (self.load(&tables[0]), self.load(&tables[1]));
        // SAFETY: the token `self` exists only on a CPU with AVX-512 VBMI.
        unsafe { _mm512_permutex2var_epi8(low, block, high) }
    }

    /// Returns, for each of the first `K` bits, a mask of the lanes whose byte has this bit set.
    #[inline(always)]
    fn masks<const K: usize>(self, bits: __m512i) -> [u64; K] {
        let mut masks = [0; K];
        for (k, mask) in masks.iter_mut().enumerate() {
            // SAFETY: the token `self` exists only on a CPU with AVX-512 BW.
            *mask = unsafe { _mm512_test_epi8_mask(bits, _mm512_set1_epi8((1_u8 << k).cast_signed())) };
        }
        masks
    }
}

/// A block of at most 64 bytes in two registers. The first lane of `high` is lane `shift` of the block. `shift` is 32 for a
/// whole block, and less for a short one, whose registers may overlap.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    low: __m256i,
    high: __m256i,
    shift: u32,
}

impl Avx2 {
    /// Returns a mask of the lanes of a block whose top bit is set.
    #[inline(always)]
    fn mask(self, low: __m256i, high: __m256i, shift: u32) -> u64 {
        // SAFETY: the token `self` exists only on a CPU with AVX2.
        let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
        u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << shift
    }

    #[inline(always)]
    fn load_32(self, bytes: &[u8; 32]) -> __m256i {
        // SAFETY: the token `self` exists only on a CPU with AVX2; the reference proves that 32 bytes are readable.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_16(self, bytes: &[u8; 16]) -> __m256i {
        // SAFETY: the token `self` exists only on a CPU with AVX2; the reference proves that 16 bytes are readable.
        unsafe { _mm256_zextsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    fn word(self, word: u64) -> __m256i {
        // SAFETY: the token `self` exists only on a CPU with AVX2.
        unsafe { _mm256_zextsi128_si256(_mm_cvtsi64_si128(word.cast_signed())) }
    }
}

impl Isa for Avx2 {
    // With the branch, LLVM makes code that takes 1.2 times as long.
    const SKIPS_FILE: bool = false;

    type Block = Halves;

    #[inline(always)]
    fn load(self, bytes: &[u8; 64]) -> Halves {
        let halves = bytes.as_chunks().0;
        Halves { low: self.load_32(&halves[0]), high: self.load_32(&halves[1]), shift: 32 }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the length is below 64")]
    fn load_short(self, bytes: &[u8]) -> Halves {
        let shift = |width: usize| (bytes.len() - width) as u32;
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            Halves { low: self.load_32(first), high: self.load_32(last), shift: shift(32) }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            Halves { low: self.load_16(first), high: self.load_16(last), shift: shift(16) }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            Halves { low: self.word(first), high: self.word(last), shift: shift(8) }
        } else {
            Halves { low: self.word(short::word(bytes)), high: self.word(0), shift: 0 }
        }
    }

    #[inline(always)]
    fn eq(self, block: Halves, byte: u8) -> u64 {
        // SAFETY: the token `self` exists only on a CPU with AVX2.
        let (low, high) = unsafe {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            (_mm256_cmpeq_epi8(block.low, byte), _mm256_cmpeq_epi8(block.high, byte))
        };
        self.mask(low, high, block.shift)
    }

    #[inline(always)]
    fn high(self, block: Halves) -> u64 {
        self.mask(block.low, block.high, block.shift)
    }

    #[inline(always)]
    fn members<const K: usize>(self, block: Halves, sets: &Sets) -> [u64; K] {
        let (low, high) = (self.row(block.low), self.row(block.high));
        let mut masks = [0; K];
        for (mask, table) in masks.iter_mut().zip(&sets.by_low_half) {
            let (low, high) = (self.absent(block.low, low, table), self.absent(block.high, high, table));
            // Each half is inverted by itself: the lanes of `low` after its bytes are zero, and members of no set.
            // SAFETY: the token `self` exists only on a CPU with AVX2.
            let (low, high) = unsafe { (!_mm256_movemask_epi8(low), !_mm256_movemask_epi8(high)) };
            *mask = u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << block.shift;
        }
        masks
    }

    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        hide(mask)
    }
}

#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
impl Avx2 {
    /// Returns, for each ASCII byte, the bit of its high half in a row of `Sets::by_low_half`. Returns zero for other bytes.
    #[inline(always)]
    fn row(self, bytes: __m256i) -> __m256i {
        // SAFETY: the token `self` exists only on a CPU with AVX2.
        unsafe {
            let rows = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0,
            ));
            // The shift is one of 16-bit words, so it moves bits from one byte to the next; the mask removes them.
            let half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15));
            _mm256_shuffle_epi8(rows, half)
        }
    }

    /// Returns all ones in the lanes whose byte is not in the set with this table. `row` is the result of [`Self::row`] for
    /// `bytes`.
    #[inline(always)]
    fn absent(self, bytes: __m256i, row: __m256i, table: &[u8; 16]) -> __m256i {
        // SAFETY: the token `self` exists only on a CPU with AVX2; the reference proves that 16 bytes are readable.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            let member = _mm256_and_si256(_mm256_shuffle_epi8(table, bytes), row);
            _mm256_cmpeq_epi8(member, _mm256_setzero_si256())
        }
    }
}

impl Sse2 {
    #[inline(always)]
    fn load_16(self, bytes: &[u8; 16]) -> __m128i {
        // SAFETY: the token `self` exists only on a CPU with SSE2; the reference proves that 16 bytes are readable.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }
}

impl Isa for Sse2 {
    const LOOKS_UP: bool = false;

    type Block = [__m128i; 4];

    #[inline(always)]
    fn load(self, bytes: &[u8; 64]) -> [__m128i; 4] {
        let quarters = bytes.as_chunks().0;
        [
            self.load_16(&quarters[0]),
            self.load_16(&quarters[1]),
            self.load_16(&quarters[2]),
            self.load_16(&quarters[3]),
        ]
    }

    #[inline(always)]
    fn load_short(self, bytes: &[u8]) -> [__m128i; 4] {
        let mut whole = [0; 64];
        whole[..bytes.len()].copy_from_slice(bytes);
        self.load(&whole)
    }

    #[inline(always)]
    fn eq(self, block: [__m128i; 4], byte: u8) -> u64 {
        let mut equal = block;
        for quarter in &mut equal {
            // SAFETY: the token `self` exists only on a CPU with SSE2.
            *quarter = unsafe { _mm_cmpeq_epi8(*quarter, _mm_set1_epi8(byte.cast_signed())) };
        }
        self.high(equal)
    }

    #[inline(always)]
    fn high(self, block: [__m128i; 4]) -> u64 {
        let mut mask = 0;
        for (i, quarter) in block.into_iter().enumerate() {
            // SAFETY: the token `self` exists only on a CPU with SSE2.
            mask |= u64::from(unsafe { _mm_movemask_epi8(quarter) }.cast_unsigned()) << (16 * i);
        }
        mask
    }

    /// Looks up each byte by itself, because SSE2 has no byte shuffle.
    #[inline(always)]
    fn members<const K: usize>(self, block: [__m128i; 4], sets: &Sets) -> [u64; K] {
        let mut bytes = [0_u8; 64];
        for (bytes, quarter) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(block) {
            // SAFETY: the token `self` exists only on a CPU with SSE2; the reference proves that 16 bytes are writable.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), quarter) };
        }
        for byte in &mut bytes {
            *byte = sets.by_byte[usize::from(*byte & 0x7F)];
        }
        let bits = self.load(&bytes);
        let mut masks = [0; K];
        for (k, mask) in masks.iter_mut().enumerate() {
            let mut lanes = bits;
            for quarter in &mut lanes {
                // SAFETY: the token `self` exists only on a CPU with SSE2.
                *quarter = unsafe {
                    let bit = _mm_set1_epi8((1_u8 << k).cast_signed());
                    _mm_cmpeq_epi8(_mm_and_si128(*quarter, bit), bit)
                };
            }
            *mask = self.high(lanes);
        }
        masks
    }

    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        hide(mask)
    }
}
