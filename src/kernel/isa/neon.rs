//! NEON: a block is 64 lanes in four registers, or, for short inputs, 32 lanes in two.
//!
//! The instruction `tbx` leaves a lane unchanged if its index is out of range; that is how an escape gets its `%`. If
//! every lane of a block is escaped, one interleaving store for each register writes the escapes. No instruction
//! gathers the results of a comparison into a mask: each lane keeps one bit, and pairwise sums join the bits of all
//! lanes. For a yes-or-no answer, the lanes are narrowed to one word instead. "lab: NAME" names the page
//! docs/lab/DATE-NAME.md, which has the measurements.

use core::arch::aarch64::*;

use super::blocks::Blocks;
pub(super) use super::ladder::{decode, encode};
use super::tables::{BITS, NEGATED_BITS, Places, Row, sums_below};
use super::token::Neon;
use super::vector::{Vector, each_one_intrinsic, operators};
use crate::kernel::drive::{Isa, Tier};
use crate::kernel::simd::{self, Sets};

impl Tier for Neon {
    type Wide = Blocks<Register, 4>;
    type Narrow = Blocks<Register, 2>;
}

/// A register of sixteen bytes.
// INVARIANT: a value exists only if the CPU has NEON, because each is made by a `Neon` token or from other values.
#[derive(Clone, Copy)]
pub(crate) struct Register(uint8x16_t);

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

// SAFETY: a register has sixteen bytes, so all default methods apply. Each method here does what the trait documents: `eq`
// makes lanes of all ones or all zeros, and each access to memory has its own proof.
unsafe impl Vector for Register {
    type Token = Neon;
    const BYTES: usize = 16;
    const MASKS_ARE_SLOW: bool = true;

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
        concat_high_low(next) = vextq_u8::<8>;
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
    fn clear_marked(self, bad: Self) -> Self {
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
        // The sums are of negated bits, and the total is negated at the end. The compiler replaces a sum of positive bits, which has
        // no carries, by three instructions (lab: neon-simd128).
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
        // A maximum over the lanes would do, too, but the compiler adds two instructions to it (lab: neon-simd128).
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
    fn shuffle_prepared(self, places: Self, token: Neon) -> Self {
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
        // SAFETY: `self` exists, so the CPU has NEON. A `Row` has 32 bytes, and the caller guarantees `GROUP_WINDOW` writable bytes at
        // `to`, which is 24.
        unsafe {
            self.shuffle_prepared(Self::load(token, row.0.as_ptr()), token).store(to);
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

/// Returns each lane of `into` with its bits below the top `BY` replaced by the same lane of `from`, shifted right by
/// `BY`.
///
/// This is `vsriq_n_u8`, which LLVM takes apart into shifts, `and` and `or`, and does not always join again (lab: uri-kernels).
#[cfg_attr(optimized, inline(always))]
fn insert<const BY: i32>(mut into: uint8x16_t, from: uint8x16_t) -> uint8x16_t {
    // SAFETY: this file is compiled only for targets whose CPUs all have NEON; the instruction reads and writes only the two
    // registers.
    unsafe {
        core::arch::asm!("sri {0:v}.16b, {1:v}.16b, #{2}", inout(vreg) into, in(vreg) from, const BY,
            options(pure, nomem, nostack, preserves_flags));
    }
    into
}

/// Byte `4 * lane + i` of a block is in lane `lane` of register `i`. The sets that hold a byte are bits of its lane.
///
/// No instruction gathers one bit of each lane into a mask. In this order of bytes, the bits of a lane in all four
/// registers are neighbours in a mask. So inserting shifts join them, in fewer instructions than the sums of
/// [`Vector::mask`] (lab: uri-kernels):
///
/// ```text
/// register 3   3.......            shifted into register 3 by 1:   32......
/// register 2   2.......
/// register 1   1.......            shifted into register 1 by 1:   10......
/// register 0   0.......            both, by 2:                     3210....
/// ```
impl simd::Simd for Blocks<Register, 2> {
    type Block = [uint8x16_t; 4];
    type Classes = [uint8x16_t; 4];

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8]) -> Self::Block {
        if let Some(bytes) = bytes.first_chunk::<64>() {
            // SAFETY: `self` exists, so the CPU has NEON; the array has 64 readable bytes.
            let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
            return [a, b, c, d];
        }
        let [Register(a), Register(b), Register(c), Register(d)] = Isa::load(Blocks::<_, 4>(self.0), bytes);
        // SAFETY: `self` exists, so the CPU has NEON.
        unsafe {
            let (even, odd) = ([vuzp1q_u8(a, b), vuzp1q_u8(c, d)], [vuzp2q_u8(a, b), vuzp2q_u8(c, d)]);
            let (first, third) = (vuzp1q_u8(even[0], even[1]), vuzp2q_u8(even[0], even[1]));
            [first, vuzp1q_u8(odd[0], odd[1]), third, vuzp2q_u8(odd[0], odd[1])]
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, mut block: Self::Block, byte: u8) -> u64 {
        for i in 0..4 {
            // SAFETY: `self` exists, so the CPU has NEON.
            block[i] = unsafe { vceqq_u8(block[i], vdupq_n_u8(byte)) };
        }
        simd::Simd::high(self, block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn each<const K: usize>(self, block: Self::Block, sets: &Sets) -> [u64; K] {
        self.masks(simd::Simd::classify(self, block, sets))
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, [a, b, c, d]: Self::Block) -> u64 {
        let bits = insert::<2>(insert::<1>(d, c), insert::<1>(b, a));
        // The four bits of an even lane and those of the lane after it become one byte.
        let bits = insert::<4>(bits, bits);
        // SAFETY: `self` exists, so the CPU has NEON.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bits)))) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn classify(self, mut block: Self::Block, sets: &Sets) -> Self::Block {
        let [low, high] = &sets.by_byte;
        for i in 0..4 {
            // An index that is out of range gives zero in `vqtbl4q_u8` and changes nothing in `vqtbx4q_u8`.
            // SAFETY: `self` exists, so the CPU has NEON; each half of the table has 64 readable bytes.
            block[i] = unsafe {
                let low = vqtbl4q_u8(vld1q_u8_x4(low.as_ptr()), block[i]);
                vqtbx4q_u8(low, vld1q_u8_x4(high.as_ptr()), veorq_u8(block[i], vdupq_n_u8(0x40)))
            };
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn both(self, [a, b, c, d]: Self::Block, [e, f, g, h]: Self::Block) -> Self::Block {
        // SAFETY: `self` exists, so the CPU has NEON.
        unsafe { [vandq_u8(a, e), vandq_u8(b, f), vandq_u8(c, g), vandq_u8(d, h)] }
    }

    /// Transposes the bits of all bytes at once. First, pairs of registers exchange neighbouring bits, then pairs of these pairs exchange
    /// two bits. Each half of a byte then has the same bit of the four registers. Finally, the halves of even and odd lanes are joined.
    #[cfg_attr(optimized, inline(always))]
    fn masks<const K: usize>(self, [a, b, c, d]: Self::Block) -> [u64; K] {
        // SAFETY: `self` exists, so the CPU has NEON. A register is as large as two words.
        let masks: [u64; 8] = unsafe {
            let (odd, pairs) = (vdupq_n_u8(0xAA), vdupq_n_u8(0xCC));
            let ab = [vbslq_u8(odd, vshlq_n_u8::<1>(b), a), vbslq_u8(odd, b, vshrq_n_u8::<1>(a))];
            let cd = [vbslq_u8(odd, vshlq_n_u8::<1>(d), c), vbslq_u8(odd, d, vshrq_n_u8::<1>(c))];
            // The halves of each byte have the bits of sets 0 and 4, 1 and 5, 2 and 6, or 3 and 7.
            let sets_04 = vbslq_u8(pairs, vshlq_n_u8::<2>(cd[0]), ab[0]);
            let sets_15 = vbslq_u8(pairs, vshlq_n_u8::<2>(cd[1]), ab[1]);
            let sets_26 = vbslq_u8(pairs, cd[0], vshrq_n_u8::<2>(ab[0]));
            let sets_37 = vbslq_u8(pairs, cd[1], vshrq_n_u8::<2>(ab[1]));
            let (even, odd) = (vuzp1q_u8(sets_04, sets_15), vuzp2q_u8(sets_04, sets_15));
            let (sets_01, sets_45) = (vsliq_n_u8::<4>(even, odd), vsriq_n_u8::<4>(odd, even));
            let (even, odd) = (vuzp1q_u8(sets_26, sets_37), vuzp2q_u8(sets_26, sets_37));
            let (sets_23, sets_67) = (vsliq_n_u8::<4>(even, odd), vsriq_n_u8::<4>(odd, even));
            core::mem::transmute([sets_01, sets_23, sets_45, sets_67])
        };
        core::array::from_fn(|k| masks[k])
    }

    #[cfg_attr(optimized, inline(always))]
    fn any(self, classes: Self::Block) -> u64 {
        !simd::Simd::eq(self, classes, 0)
    }
}
