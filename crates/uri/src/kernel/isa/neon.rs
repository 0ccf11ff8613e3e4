//! NEON. Byte `4 * lane + i` of a block is in lane `lane` of register `i`.
//!
//! No instruction gathers one bit of each lane into a mask. In this order of bytes, the four bits of a lane number are neighbours in a mask,
//! so shifts that insert join them:
//!
//! ```text
//! register 3   3.......            shifted into register 3 by 1:   32......
//! register 2   2.......
//! register 1   1.......            shifted into register 1 by 1:   10......
//! register 0   0.......            both, by 2:                     3210....
//! ```

use core::arch::aarch64::*;
use core::arch::asm;

use super::short;
use super::token::Neon;
use crate::kernel::{Bytes, Isa, Sets};

/// The registers of a block.
type Block = [uint8x16_t; 4];

/// Shifts the lanes of `from` to the right by `BY` bits, below the `BY` top bits of the lanes of `into`.
///
/// This is `vsriq_n_u8`, which LLVM takes apart into shifts, `and` and `or`, and does not join again if only some bits are used.
#[inline(always)]
fn insert<const BY: i32>(mut into: uint8x16_t, from: uint8x16_t) -> uint8x16_t {
    // SAFETY: values of these types exist only on a CPU with NEON; the instruction reads and writes only the two registers.
    unsafe {
        asm!(
            "sri {0:v}.16b, {1:v}.16b, #{2}",
            inout(vreg) into, in(vreg) from, const BY,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    into
}

impl Isa for Neon {
    type Block = Block;

    #[inline(always)]
    fn load(self, bytes: &[u8; 64]) -> Block {
        // SAFETY: the token `self` exists only on a CPU with NEON; the reference proves that 64 bytes are readable.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(bytes.as_ptr()) };
        [a, b, c, d]
    }

    #[inline(always)]
    fn load_short(self, bytes: &[u8]) -> Block {
        // SAFETY: the token `self` exists only on a CPU with NEON.
        let mut block = [unsafe { vdupq_n_u8(0) }; 4];
        if let Some(quarters) = short::quarters(bytes) {
            for (register, (bytes, indices)) in block.iter_mut().zip(quarters) {
                // SAFETY: the token `self` exists only on a CPU with NEON; the references prove that 16 bytes are readable.
                *register = unsafe { vqtbl1q_u8(vld1q_u8(bytes.as_ptr()), vld1q_u8(indices.as_ptr())) };
            }
        } else {
            let [low, high] = short::words(bytes);
            // SAFETY: the token `self` exists only on a CPU with NEON.
            block[0] = unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) };
        }
        let [a, b, c, d] = block;
        // SAFETY: the token `self` exists only on a CPU with NEON.
        unsafe {
            let (even, odd) = ([vuzp1q_u8(a, b), vuzp1q_u8(c, d)], [vuzp2q_u8(a, b), vuzp2q_u8(c, d)]);
            [
                vuzp1q_u8(even[0], even[1]),
                vuzp1q_u8(odd[0], odd[1]),
                vuzp2q_u8(even[0], even[1]),
                vuzp2q_u8(odd[0], odd[1]),
            ]
        }
    }

    #[inline(always)]
    fn eq(self, block: Block, byte: u8) -> u64 {
        let mut equal = block;
        for register in &mut equal {
            // SAFETY: the token `self` exists only on a CPU with NEON.
            *register = unsafe { vceqq_u8(*register, vdupq_n_u8(byte)) };
        }
        self.high(equal)
    }

    #[inline(always)]
    fn each<const K: usize>(self, block: Block, bytes: &Bytes<K>) -> [u64; K] {
        self.members(block, &bytes.sets)
    }

    #[inline(always)]
    fn high(self, [a, b, c, d]: Block) -> u64 {
        let bits = insert::<2>(insert::<1>(d, c), insert::<1>(b, a));
        // The four bits of an even lane and those of the lane after it become one byte.
        let bits = insert::<4>(bits, bits);
        // SAFETY: the token `self` exists only on a CPU with NEON.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bits)))) }
    }

    #[inline(always)]
    fn members<const K: usize>(self, block: Block, sets: &Sets) -> [u64; K] {
        self.masks(self.bits(block, sets))
    }

    #[inline(always)]
    fn pairs<const K: usize>(self, before: Block, block: Block, first: &Sets, second: &Sets) -> [u64; K] {
        let (mut bits, second) = (self.bits(before, first), self.bits(block, second));
        for (bits, second) in bits.iter_mut().zip(second) {
            // SAFETY: the token `self` exists only on a CPU with NEON.
            *bits = unsafe { vandq_u8(*bits, second) };
        }
        self.masks(bits)
    }

    #[inline(always)]
    fn any_pair(self, before: Block, block: Block, first: &Sets, second: &Sets) -> u64 {
        let (mut bits, second) = (self.bits(before, first), self.bits(block, second));
        for (bits, second) in bits.iter_mut().zip(second) {
            // SAFETY: the token `self` exists only on a CPU with NEON.
            *bits = unsafe { vtstq_u8(*bits, second) };
        }
        self.high(bits)
    }
}

#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
impl Neon {
    /// Returns, for each byte, the bits of the sets that hold it.
    #[inline(always)]
    fn bits(self, block: Block, sets: &Sets) -> Block {
        let halves: &[[u8; 64]] = sets.by_byte.as_chunks().0;
        let mut bits = block;
        for bits in &mut bits {
            // An index that is out of range gives zero in `vqtbl4q_u8` and changes nothing in `vqtbx4q_u8`.
            // SAFETY: the token `self` exists only on a CPU with NEON; each half has 64 readable bytes.
            *bits = unsafe {
                let (low, high) = (vld1q_u8_x4(halves[0].as_ptr()), vld1q_u8_x4(halves[1].as_ptr()));
                vqtbx4q_u8(vqtbl4q_u8(low, *bits), high, veorq_u8(*bits, vdupq_n_u8(0x40)))
            };
        }
        bits
    }

    /// Returns, for each of the first `K` bits, a mask of the bytes that have this bit set.
    ///
    /// The bits of all bytes are transposed at once. First, pairs of registers exchange neighbouring bits, then pairs of these pairs
    /// exchange two bits, so that each half of a byte has one bit of the four registers. At last, the halves of even and odd lanes
    /// are joined.
    #[inline(always)]
    fn masks<const K: usize>(self, [a, b, c, d]: Block) -> [u64; K] {
        // SAFETY: the token `self` exists only on a CPU with NEON.
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
        for (k, mask) in masks.iter_mut().enumerate() {
            // SAFETY: the token `self` exists only on a CPU with NEON.
            *mask = unsafe {
                let both = vreinterpretq_u64_u8(all[k / 2 & 3]);
                if k % 2 == 0 { vgetq_lane_u64::<0>(both) } else { vgetq_lane_u64::<1>(both) }
            };
        }
        masks
    }
}
