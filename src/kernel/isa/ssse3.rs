//! SSSE3: a block is 64 lanes in four registers, or, for short inputs, 32 lanes in two.
//!
//! The algorithms are those of AVX2 at half the width. The tier does not require `popcnt`, so the output offset of a group of
//! lanes is the sum of the lengths of the groups before it, which come from tables.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::blocks::{Blocks, TopBits};
pub(super) use super::ladder::{decode, encode};
use super::tables::{Places, Row, SHIFTED_LESS};
use super::token::Ssse3;
use super::vector::{Vector, each_one_intrinsic, operators};
use crate::kernel::drive::Tier;

impl Tier for Ssse3 {
    type Wide = Blocks<Register, 4>;
    type Narrow = Blocks<Register, 2>;
}

/// A register of sixteen bytes.
// INVARIANT: a value exists only if the CPU has SSSE3, because each is made by an `Ssse3` token or from other values.
#[derive(Clone, Copy)]
pub(crate) struct Register(__m128i);

impl TopBits for Register {}

operators! { Register:
    BitAnd bitand = _mm_and_si128;
    BitOr bitor = _mm_or_si128;
    BitXor bitxor = _mm_xor_si128;
}

// SAFETY: a register has sixteen bytes, so all default methods apply. Each method here does what the trait documents: `eq`
// makes lanes of all ones or all zeros, and each access to memory has its own proof.
unsafe impl Vector for Register {
    type Token = Ssse3;
    const BYTES: usize = 16;
    const COUNTS_LANES: bool = false;
    const GROUP_WINDOW: usize = 32;

    each_one_intrinsic! {
        eq(other) = _mm_cmpeq_epi8;
        above(other) = _mm_cmpgt_epi8;
        min(other) = _mm_min_epu8;
        add_saturating(other) = _mm_adds_epu8;
        shuffle(places) = _mm_shuffle_epi8;
        look_up(bytes) = _mm_shuffle_epi8;
        first_eights(other) = _mm_unpacklo_epi64;
        last_eights(other) = _mm_unpackhi_epi64;
        first_pairs(other) = _mm_unpacklo_epi8;
        last_pairs(other) = _mm_unpackhi_epi8;
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load(_: Ssse3, from: *const u8) -> Self {
        // SAFETY: the token proves SSSE3; the caller guarantees sixteen readable bytes at `from`.
        Register(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_halves(_: Ssse3, low: *const u8, high: *const u8) -> Self {
        // SAFETY: the token proves SSSE3; the caller guarantees eight readable bytes at `low` and at `high`.
        Register(unsafe { _mm_unpacklo_epi64(_mm_loadl_epi64(low.cast()), _mm_loadl_epi64(high.cast())) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has SSSE3; the caller guarantees sixteen writable bytes at `to`.
        unsafe { _mm_storeu_si128(to.cast(), self.0) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn splat(_: Ssse3, byte: u8) -> Self {
        // SAFETY: the token proves SSSE3.
        Register(unsafe { _mm_set1_epi8(byte.cast_signed()) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn words(_: Ssse3, low: u64, high: u64) -> Self {
        // SAFETY: the token proves SSSE3.
        Register(unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn spread(_: Ssse3, mask: u64, i: usize) -> Self {
        // SAFETY: the token proves SSSE3.
        Register(unsafe {
            let byte_of_lane = _mm_set_epi64x(0x0101_0101_0101_0101, 0);
            let bit = _mm_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let mask = _mm_cvtsi32_si128(i32::from((mask >> (16 * i)) as u16));
            _mm_cmpeq_epi8(_mm_and_si128(_mm_shuffle_epi8(mask, byte_of_lane), bit), bit)
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn high_half(self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSSE3. The 16-bit shift moves bits between bytes, and the mask clears these.
        Register(unsafe { _mm_and_si128(_mm_srli_epi16::<4>(self.0), _mm_set1_epi8(0x0F)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn without(self, bits: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSSE3.
        Register(unsafe { _mm_andnot_si128(bits.0, self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn clear_marked(self, bad: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSSE3.
        self.without(Register(unsafe { _mm_cmplt_epi8(bad.0, _mm_setzero_si128()) }))
    }

    #[cfg_attr(optimized, inline(always))]
    fn after<const BY: i32>(self, next: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSSE3.
        Register(unsafe { _mm_alignr_epi8::<BY>(next.0, self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn decoded(self, first: Self, second: Self, marks: Self, token: Ssse3) -> Self {
        let low = second & Self::splat(token, 0x0F);
        // SAFETY: `self` exists, so the CPU has SSSE3.
        unsafe {
            let less = Register(_mm_add_epi8(Self::table(token, &SHIFTED_LESS).look_up(first).0, low.0));
            Register(_mm_add_epi8(self.0, (less & marks).0))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn mask<const N: usize>(marks: [Self; N]) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            // SAFETY: the values in `marks` exist, so the CPU has SSSE3.
            mask |= u64::from(unsafe { _mm_movemask_epi8(marks[i].0) }.cast_unsigned()) << (16 * i);
        }
        mask
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_places(self, _: usize, places: &Places, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has SSSE3. `Places` is aligned to sixteen bytes, and the caller guarantees sixteen
        // writable bytes at `to`.
        unsafe { self.shuffle(Register(_mm_load_si128(places.bytes().as_ptr().cast()))).store(to) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn concat_high_low(self, next: Self) -> Self {
        self.after::<8>(next)
    }

    #[cfg_attr(optimized, inline(always))]
    fn is_dense<const N: usize>(token: Ssse3, marks: [Self; N], _: u64) -> bool {
        // Each escape adds 255 to the sum of its group. The loop keeps the largest sums over all registers.
        let mut most = Self::splat(token, 0).0;
        for i in 0..N {
            // SAFETY: the token proves SSSE3.
            most = unsafe { _mm_max_epi16(most, _mm_sad_epu8(marks[i].0, _mm_setzero_si128())) };
        }
        // SAFETY: the token proves SSSE3.
        Register(unsafe { _mm_cmpgt_epi16(most, _mm_set1_epi16(4 * 255)) }).any()
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_group<const DENSE: bool>(self, _: usize, row: &Row, to: *mut u8, token: Ssse3) {
        // SAFETY: `self` exists, so the CPU has SSSE3. A `Row` has 32 bytes and is aligned to 32. The caller guarantees `GROUP_WINDOW`
        // writable bytes at `to`, which is 32.
        unsafe {
            self.shuffle_prepared(Register(_mm_load_si128(row.0.as_ptr().cast())), token).store(to);
            if DENSE {
                let end =
                    self.shuffle_prepared(Register(_mm_load_si128(row.0.as_ptr().add(16).cast())), token);
                end.store(to.add(16));
            }
        }
    }
}
