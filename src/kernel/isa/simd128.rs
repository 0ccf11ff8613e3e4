//! WebAssembly's simd128: a block is 64 lanes in four registers, or, for short inputs, 32 lanes in two.
//!
//! Vector arithmetic is safe on this target: an engine that lacks an instruction of a module rejects the whole module before it runs. So
//! there is nothing to detect, and the tier exists only in builds that enable the feature. Only loads and stores are unsafe. "lab: NAME"
//! names the page docs/lab/DATE-NAME.md, which has the measurements.

use core::arch::wasm32::*;

use super::blocks::{Blocks, TopBits};
pub(super) use super::ladder::{decode, encode};
use super::tables::{BITS, Places, Row, any_above_four, counts};
use super::token::Simd128;
use super::vector::{Vector, each_one_intrinsic, operators};
use crate::kernel::drive::Tier;

impl Tier for Simd128 {
    type Wide = Blocks<Register, 4>;
    type Narrow = Blocks<Register, 2>;
}

/// A register of sixteen bytes.
#[derive(Clone, Copy)]
pub(crate) struct Register(v128);

impl TopBits for Register {}

operators! { Register:
    BitAnd bitand = v128_and;
    BitOr bitor = v128_or;
    BitXor bitxor = v128_xor;
}

// SAFETY: a register has sixteen bytes, so all default methods apply. Each method here does what the trait documents: `eq`
// makes lanes of all ones or all zeros, and each access to memory has its own proof.
unsafe impl Vector for Register {
    type Token = Simd128;
    const BYTES: usize = 16;

    each_one_intrinsic! {
        eq(other) = u8x16_eq;
        above(other) = u8x16_gt;
        min(other) = u8x16_min;
        add_saturating(other) = u8x16_add_sat;
        without(bits) = v128_andnot;
        shuffle(places) = u8x16_swizzle;
        first_eights(other) = u64x2_shuffle::<0, 2>;
        last_eights(other) = u64x2_shuffle::<1, 3>;
        first_pairs(other) = u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>;
        last_pairs(other) = u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>;
        concat_high_low(next) = u64x2_shuffle::<1, 2>;
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load(_: Simd128, from: *const u8) -> Self {
        // SAFETY: the caller guarantees sixteen readable bytes at `from`.
        Register(unsafe { v128_load(from.cast()) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_halves(_: Simd128, low: *const u8, high: *const u8) -> Self {
        // SAFETY: the caller guarantees eight readable bytes at `low` and at `high`.
        Register(unsafe {
            u64x2_shuffle::<0, 2>(v128_load64_zero(low.cast()), v128_load64_zero(high.cast()))
        })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees sixteen writable bytes at `to`.
        unsafe { v128_store(to.cast(), self.0) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn splat(_: Simd128, byte: u8) -> Self {
        Register(u8x16_splat(byte))
    }

    #[cfg_attr(optimized, inline(always))]
    fn words(_: Simd128, low: u64, high: u64) -> Self {
        Register(u64x2(low, high))
    }

    #[cfg_attr(optimized, inline(always))]
    fn spread(token: Simd128, mask: u64, i: usize) -> Self {
        let bits = Self::table(token, &BITS).0;
        let byte_of_lane = u8x16_add(u64x2(0, 0x0101_0101_0101_0101), u8x16_splat(2 * i as u8));
        Register(u8x16_eq(v128_and(u8x16_swizzle(u64x2_splat(mask), byte_of_lane), bits), bits))
    }

    #[cfg_attr(optimized, inline(always))]
    fn high_half(self) -> Self {
        Register(u8x16_shr(self.0, 4))
    }

    #[cfg_attr(optimized, inline(always))]
    fn look_up(self, bytes: Self) -> Self {
        // The mask leaves an index above 15 for each byte above 0x7F, and the lookup gives zero for such an index.
        Register(u8x16_swizzle(self.0, v128_and(bytes.0, u8x16_splat(0x8F))))
    }

    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Self, other: Self) -> Self {
        Register(v128_bitselect(other.0, self.0, marks.0))
    }

    #[cfg_attr(optimized, inline(always))]
    fn clear_marked(self, bad: Self) -> Self {
        Register(v128_and(i8x16_ge(bad.0, u8x16_splat(0)), self.0))
    }

    #[cfg_attr(optimized, inline(always))]
    fn after<const BY: i32>(self, next: Self) -> Self {
        // The indices of a shuffle have to be literals, so each `BY` has its own.
        Register(if BY == 1 {
            u8x16_shuffle::<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>(self.0, next.0)
        } else {
            u8x16_shuffle::<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17>(self.0, next.0)
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn value(first: Self, second: Self, token: Simd128) -> Self {
        // Engines run the 16-bit shift as one instruction (lab: ladders). It would move bits above a digit into the next byte, so the
        // mask clears them.
        let low = Self::splat(token, 0x0F);
        Register(u16x8_shl((first & low).0, 4)) | second & low
    }

    #[cfg_attr(optimized, inline(always))]
    fn mask<const N: usize>(marks: [Self; N]) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            mask |= u64::from(u8x16_bitmask(marks[i].0)) << (16 * i);
        }
        mask
    }

    #[cfg_attr(optimized, inline(always))]
    fn any(self) -> bool {
        v128_any_true(self.0)
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_nonzero(self) -> bool {
        u8x16_all_true(self.0)
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_places(self, _: usize, places: &Places, to: *mut u8) {
        // SAFETY: `Places` has sixteen readable bytes; the caller guarantees sixteen writable bytes at `to`.
        unsafe { self.shuffle(Register(v128_load(places.bytes().as_ptr().cast()))).store(to) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn prepared(self, _: Simd128) -> Self {
        self
    }

    #[cfg_attr(optimized, inline(always))]
    fn shuffle_prepared(self, places: Self, _: Simd128) -> Self {
        Register(v128_or(u8x16_swizzle(self.0, places.0), u8x16_sub_sat(places.0, u8x16_splat(0x80))))
    }

    #[cfg_attr(optimized, inline(always))]
    fn is_dense<const N: usize>(_: Simd128, _: [Self; N], escape: u64) -> bool {
        any_above_four(counts(escape))
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_group<const DENSE: bool>(self, _: usize, row: &Row, to: *mut u8, token: Simd128) {
        // SAFETY: a `Row` has 32 bytes; the caller guarantees `GROUP_WINDOW` writable bytes at `to`, which is 24.
        unsafe {
            self.shuffle_prepared(Self::load(token, row.0.as_ptr()), token).store(to);
            if DENSE {
                let end =
                    self.shuffle_prepared(Register(v128_load64_zero(row.0.as_ptr().add(16).cast())), token);
                v128_store64_lane::<0>(end.0, to.add(16).cast());
            }
        }
    }
}
