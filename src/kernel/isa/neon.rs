//! NEON: a block is 64 lanes in four registers, or, for short inputs, 32 lanes in two.
//!
//! The instruction `tbx` leaves a lane unchanged if its index is out of range; that is how an escape gets its `%`. A block with
//! every lane escaped is one interleaving store for each register. No instruction gathers the results of a comparison into a
//! mask: each lane keeps one bit, and pairwise sums join the bits of all lanes. If a yes or no is enough, the lanes are
//! narrowed to one word.

use core::arch::aarch64::*;

use super::blocks::Blocks;
pub(super) use super::ladder::{decode, encode};
use super::tables::{BITS, NEGATED_BITS, Places, Row, sums_below};
use super::token::Neon;
use super::vector::{Vector, each_one_intrinsic, operators};
use crate::kernel::drive::Tier;

impl Tier for Neon {
    type Wide = Blocks<Register, 4>;
    type Narrow = Blocks<Register, 2>;
}

/// A register of sixteen bytes.
// INVARIANT: a value exists only if the CPU has NEON, because each is made by a `Neon` token or from other values.
#[derive(Clone, Copy)]
pub(crate) struct Register(pub(super) uint8x16_t);

operators! { Register:
    BitAnd bitand = vandq_u8;
    BitOr bitor = vorrq_u8;
    BitXor bitxor = veorq_u8;
}

/// Returns, in each byte, the number of bits in that byte of `mask`.
#[cfg_attr(optimized, inline(always))]
fn counts(_: Neon, mask: u64) -> uint8x8_t {
    // SAFETY: the token proves NEON.
    unsafe { vcnt_u8(vcreate_u8(mask)) }
}

// SAFETY: a register has sixteen bytes, so all default methods apply.
unsafe impl Vector for Register {
    type Token = Neon;
    const BYTES: usize = 16;

    each_one_intrinsic! {
        eq(other) = vceqq_u8;
        above(other) = vcgtq_u8;
        min(other) = vminq_u8;
        add_saturating(other) = vqaddq_u8;
        without(bits) = vbicq_u8;
        shuffle(places) = vqtbl1q_u8;
        high_half() = vshrq_n_u8::<4>;
        first_pairs(other) = vzip1q_u8;
        last_pairs(other) = vzip2q_u8;
        after_eight(next) = vextq_u8::<8>;
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load(_: Neon, from: *const u8) -> Self {
        // SAFETY: the token proves NEON; the caller guarantees sixteen readable bytes at `from`.
        Register(unsafe { vld1q_u8(from) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_halves(_: Neon, low: *const u8, high: *const u8) -> Self {
        // SAFETY: the token proves NEON; the caller guarantees eight readable bytes at `low` and at `high`.
        Register(unsafe { vcombine_u8(vld1_u8(low), vld1_u8(high)) })
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has NEON; the caller guarantees sixteen writable bytes at `to`.
        unsafe { vst1q_u8(to, self.0) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn splat(_: Neon, byte: u8) -> Self {
        // SAFETY: the token proves NEON.
        Register(unsafe { vdupq_n_u8(byte) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn words(_: Neon, low: u64, high: u64) -> Self {
        // SAFETY: the token proves NEON.
        Register(unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn spread(token: Neon, mask: u64, i: usize) -> Self {
        // SAFETY: the token proves NEON.
        Register(unsafe {
            let byte_of_lane = vcombine_u8(vdup_n_u8(2 * i as u8), vdup_n_u8(2 * i as u8 + 1));
            let bytes = vqtbl1q_u8(vreinterpretq_u8_u64(vdupq_n_u64(mask)), byte_of_lane);
            vtstq_u8(bytes, Self::table(token, &BITS).0)
        })
    }

    #[cfg_attr(optimized, inline(always))]
    fn look_up(self, bytes: Self) -> Self {
        // The mask leaves an index above 15 for each byte above 0x7F, and the lookup gives zero for such an index.
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vqtbl1q_u8(self.0, vandq_u8(bytes.0, vdupq_n_u8(0x8F))) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vbslq_u8(marks.0, other.0, self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn unless(self, bad: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vandq_u8(vcgezq_s8(vreinterpretq_s8_u8(bad.0)), self.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn after<const BY: i32>(self, next: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vextq_u8::<BY>(self.0, next.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn value(first: Self, second: Self, _: Neon) -> Self {
        // SAFETY: `first` exists, so the CPU has NEON.
        Register(unsafe { vsliq_n_u8::<4>(second.0, first.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn mask<const N: usize>(marks: [Self; N]) -> u64 {
        // The sums are of negated bits, and the total is negated at the end. If the bits were positive, the compiler would see
        // that the sums have no carries and would replace each by three instructions.
        // SAFETY: the values in `marks` exist, so the CPU has NEON; `NEGATED_BITS` has sixteen readable bytes.
        unsafe {
            let bits = vld1q_u8(NEGATED_BITS.as_ptr());
            let mut all = [vdupq_n_u8(0); 4];
            for i in 0..N {
                all[i] = vandq_u8(marks[i].0, bits);
            }
            let fours = vpaddq_u8(vpaddq_u8(all[0], all[1]), vpaddq_u8(all[2], all[3]));
            let eights = vreinterpret_s8_u8(vget_low_u8(vpaddq_u8(fours, fours)));
            vget_lane_u64::<0>(vreinterpret_u64_s8(vneg_s8(eights)))
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn any(self) -> bool {
        // A maximum over the lanes takes longer, and the compiler adds two instructions to it.
        // SAFETY: `self` exists, so the CPU has NEON. The narrowing saturates, so a word that is not zero stays nonzero.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u32(vqmovn_u64(vreinterpretq_u64_u8(self.0)))) != 0 }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_nonzero(self) -> bool {
        // SAFETY: `self` exists, so the CPU has NEON.
        !Register(unsafe { vceqzq_u8(self.0) }).any()
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_places(self, _: usize, places: &Places, to: *mut u8) {
        // SAFETY: `self` exists, so the CPU has NEON; `Places` has sixteen bytes; the caller guarantees sixteen writable bytes
        // at `to`.
        unsafe { self.shuffle(Register(vld1q_u8(places.bytes().as_ptr()))).store(to) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn staying_before(token: Neon, drop: u64, i: usize) -> usize {
        // SAFETY: the token proves NEON.
        let counts = unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(counts(token, drop))) };
        16 * i - usize::from((sums_below(counts) >> (16 * i)) as u8)
    }

    #[cfg_attr(optimized, inline(always))]
    fn prepared(self, _: Neon) -> Self {
        self
    }

    #[cfg_attr(optimized, inline(always))]
    fn place(self, places: Self, token: Neon) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vqtbx1q_u8(Self::splat(token, b'%').0, self.0, places.0) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn first_eights(self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vcombine_u8(vget_low_u8(self.0), vget_low_u8(other.0)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn last_eights(self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has NEON.
        Register(unsafe { vcombine_u8(vget_high_u8(self.0), vget_high_u8(other.0)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn is_dense<const N: usize>(token: Neon, _: [Self; N], escape: u64) -> bool {
        // SAFETY: the token proves NEON.
        unsafe {
            let above_four = vqsub_u8(counts(token, escape), vdup_n_u8(4));
            vget_lane_u64::<0>(vreinterpret_u64_u8(above_four)) != 0
        }
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_group<const DENSE: bool>(self, _: usize, row: &Row, to: *mut u8, token: Neon) {
        // SAFETY: `self` exists, so the CPU has NEON. A `Row` has 32 bytes, and the caller guarantees `GROUP` writable bytes at
        // `to`, which is 24.
        unsafe {
            self.place(Self::load(token, row.0.as_ptr()), token).store(to);
            if DENSE {
                let percent = Self::splat(token, b'%').0;
                vst1_u8(to.add(16), vqtbx1_u8(vget_low_u8(percent), self.0, vld1_u8(row.0.as_ptr().add(16))));
            }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_escapes(high: Self, low: Self, to: *mut u8, token: Neon) {
        // SAFETY: `high` exists, so the CPU has NEON; the caller guarantees `3 * BYTES` writable bytes at `to`, which is 48.
        unsafe { vst3q_u8(to, uint8x16x3_t(Self::splat(token, b'%').0, high.0, low.0)) };
    }

    #[cfg_attr(optimized, inline(always))]
    unsafe fn thirds(_: Neon, from: *const u8) -> [Self; 3] {
        // SAFETY: the token proves NEON; the caller guarantees `3 * BYTES` readable bytes at `from`, which is 48.
        let uint8x16x3_t(percent, first, second) = unsafe { vld3q_u8(from) };
        [Register(percent), Register(first), Register(second)]
    }
}
