//! NEON for the kernels of other crates. Byte `4 * lane + i` of a block is in lane `lane` of register `i`.
//!
//! No instruction gathers one bit of each lane into a mask. In this order of bytes, the four bits of a lane number are neighbours in
//! a mask, so shifts that insert join them, in fewer instructions than the sums of [`Vector::mask`](super::Vector::mask) take:
//!
//! ```text
//! register 3   3.......            shifted into register 3 by 1:   32......
//! register 2   2.......
//! register 1   1.......            shifted into register 1 by 1:   10......
//! register 0   0.......            both, by 2:                     3210....
//! ```

use core::arch::aarch64::*;
use core::arch::asm;

use super::super::blocks::Blocks;
use super::super::neon::Register;
use crate::kernel::drive::Isa;
use crate::kernel::simd::{Bytes, Sets, Simd};

/// The registers of a block.
type Block = [uint8x16_t; 4];

/// The capability. It exists only on a CPU with NEON.
type Neon = Blocks<Register, 2>;

/// Shifts the lanes of `from` to the right by `BY` bits, below the `BY` top bits of the lanes of `into`.
///
/// This is `vsriq_n_u8`, which LLVM takes apart into shifts, `and` and `or`, and does not join again if only some bits are used.
#[cfg_attr(optimized, inline(always))]
fn insert<const BY: i32>(_: Neon, mut into: uint8x16_t, from: uint8x16_t) -> uint8x16_t {
    // SAFETY: the capability proves NEON; the instruction reads and writes only the two registers.
    unsafe {
        asm!(
            "sri {0:v}.16b, {1:v}.16b, #{2}",
            inout(vreg) into, in(vreg) from, const BY,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    into
}

/// Returns, for each byte, the bits of the sets that hold it.
#[cfg_attr(optimized, inline(always))]
fn sets_of(_: Neon, mut block: Block, sets: &Sets) -> Block {
    let [low, high] = sets.by_byte.as_chunks::<64>().0 else { return block };
    for i in 0..4 {
        // An index that is out of range gives zero in `vqtbl4q_u8` and changes nothing in `vqtbx4q_u8`.
        // SAFETY: the capability proves NEON; each half of the table has 64 readable bytes.
        block[i] = unsafe {
            let (low, high) = (vld1q_u8_x4(low.as_ptr()), vld1q_u8_x4(high.as_ptr()));
            vqtbx4q_u8(vqtbl4q_u8(low, block[i]), high, veorq_u8(block[i], vdupq_n_u8(0x40)))
        };
    }
    block
}

/// Returns, for each of the first `K` bits, a mask of the bytes that have this bit set.
///
/// The bits of all bytes are transposed at once. First, pairs of registers exchange neighbouring bits, then pairs of these pairs
/// exchange two bits, so that each half of a byte has one bit of the four registers. At last, the halves of even and odd lanes are
/// joined.
#[cfg_attr(optimized, inline(always))]
fn masks<const K: usize>(_: Neon, [a, b, c, d]: Block) -> [u64; K] {
    // SAFETY: the capability proves NEON.
    let all = unsafe {
        let (odd, pairs) = (vdupq_n_u8(0xAA), vdupq_n_u8(0xCC));
        let ab = [vbslq_u8(odd, vshlq_n_u8::<1>(b), a), vbslq_u8(odd, b, vshrq_n_u8::<1>(a))];
        let cd = [vbslq_u8(odd, vshlq_n_u8::<1>(d), c), vbslq_u8(odd, d, vshrq_n_u8::<1>(c))];
        // The halves have the sets 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        let sets_04 = vbslq_u8(pairs, vshlq_n_u8::<2>(cd[0]), ab[0]);
        let sets_15 = vbslq_u8(pairs, vshlq_n_u8::<2>(cd[1]), ab[1]);
        let sets_26 = vbslq_u8(pairs, cd[0], vshrq_n_u8::<2>(ab[0]));
        let sets_37 = vbslq_u8(pairs, cd[1], vshrq_n_u8::<2>(ab[1]));
        let (even, odd) = (vuzp1q_u8(sets_04, sets_15), vuzp2q_u8(sets_04, sets_15));
        let (sets_01, sets_45) = (vsliq_n_u8::<4>(even, odd), vsriq_n_u8::<4>(odd, even));
        let (even, odd) = (vuzp1q_u8(sets_26, sets_37), vuzp2q_u8(sets_26, sets_37));
        let (sets_23, sets_67) = (vsliq_n_u8::<4>(even, odd), vsriq_n_u8::<4>(odd, even));
        [sets_01, sets_23, sets_45, sets_67]
    };
    let mut masks = [0; K];
    for k in 0..K {
        // SAFETY: the capability proves NEON.
        masks[k] = unsafe {
            let both = vreinterpretq_u64_u8(all[k / 2 & 3]);
            if k % 2 == 0 { vgetq_lane_u64::<0>(both) } else { vgetq_lane_u64::<1>(both) }
        };
    }
    masks
}

impl Simd for Neon {
    type Block = Block;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8; 64]) -> Block {
        // SAFETY: the capability proves NEON; the reference proves that 64 bytes are readable.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
        [a, b, c, d]
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_short(self, bytes: &[u8]) -> Block {
        let [Register(a), Register(b), Register(c), Register(d)] = Isa::load(Blocks::<_, 4>(self.0), bytes);
        // SAFETY: the capability proves NEON.
        unsafe {
            let (even, odd) = ([vuzp1q_u8(a, b), vuzp1q_u8(c, d)], [vuzp2q_u8(a, b), vuzp2q_u8(c, d)]);
            let (first, third) = (vuzp1q_u8(even[0], even[1]), vuzp2q_u8(even[0], even[1]));
            let (second, fourth) = (vuzp1q_u8(odd[0], odd[1]), vuzp2q_u8(odd[0], odd[1]));
            [first, second, third, fourth]
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, mut block: Block, byte: u8) -> u64 {
        for i in 0..4 {
            // SAFETY: the capability proves NEON.
            block[i] = unsafe { vceqq_u8(block[i], vdupq_n_u8(byte)) };
        }
        self.high(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn each<const K: usize>(self, block: Block, bytes: &Bytes<K>) -> [u64; K] {
        self.members(block, &bytes.sets)
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, [a, b, c, d]: Block) -> u64 {
        let bits = insert::<2>(self, insert::<1>(self, d, c), insert::<1>(self, b, a));
        // The four bits of an even lane and those of the lane after it become one byte.
        let bits = insert::<4>(self, bits, bits);
        // SAFETY: the capability proves NEON.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bits)))) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn members<const K: usize>(self, block: Block, sets: &Sets) -> [u64; K] {
        masks(self, sets_of(self, block, sets))
    }

    #[cfg_attr(optimized, inline(always))]
    fn pairs<const K: usize>(self, before: Block, block: Block, first: &Sets, second: &Sets) -> [u64; K] {
        let (mut both, second) = (sets_of(self, before, first), sets_of(self, block, second));
        for i in 0..4 {
            // SAFETY: the capability proves NEON.
            both[i] = unsafe { vandq_u8(both[i], second[i]) };
        }
        masks(self, both)
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_pair(self, before: Block, block: Block, first: &Sets, second: &Sets) -> u64 {
        let (mut any, second) = (sets_of(self, before, first), sets_of(self, block, second));
        for i in 0..4 {
            // SAFETY: the capability proves NEON.
            any[i] = unsafe { vtstq_u8(any[i], second[i]) };
        }
        self.high(any)
    }
}
