//! WebAssembly's simd128: a block is four registers. Only loads are unsafe on this target.

use core::arch::wasm32::*;

use super::short;
use super::token::Simd128;
use crate::kernel::{Isa, Sets};

impl Simd128 {
    #[inline(always)]
    fn load_16(self, bytes: &[u8; 16]) -> v128 {
        // SAFETY: the reference proves that 16 bytes are readable.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }
}

impl Isa for Simd128 {
    type Block = [v128; 4];

    #[inline(always)]
    fn load(self, bytes: &[u8; 64]) -> [v128; 4] {
        let quarters = bytes.as_chunks().0;
        [
            self.load_16(&quarters[0]),
            self.load_16(&quarters[1]),
            self.load_16(&quarters[2]),
            self.load_16(&quarters[3]),
        ]
    }

    #[inline(always)]
    fn load_short(self, bytes: &[u8]) -> [v128; 4] {
        let mut block = [u64x2(0, 0); 4];
        if let Some(quarters) = short::quarters(bytes) {
            for (register, (bytes, indices)) in block.iter_mut().zip(quarters) {
                *register = u8x16_swizzle(self.load_16(bytes), self.load_16(indices));
            }
        } else {
            let [low, high] = short::words(bytes);
            block[0] = u64x2(low, high);
        }
        block
    }

    #[inline(always)]
    fn eq(self, block: [v128; 4], byte: u8) -> u64 {
        let mut equal = block;
        for quarter in &mut equal {
            *quarter = u8x16_eq(*quarter, u8x16_splat(byte));
        }
        self.high(equal)
    }

    #[inline(always)]
    fn high(self, block: [v128; 4]) -> u64 {
        let mut mask = 0;
        for (i, quarter) in block.into_iter().enumerate() {
            mask |= u64::from(u8x16_bitmask(quarter)) << (16 * i);
        }
        mask
    }

    #[inline(always)]
    fn members<const K: usize>(self, block: [v128; 4], sets: &Sets) -> [u64; K] {
        // The bit of the high half of each ASCII byte in a row of `Sets::by_low_half`. Other bytes have no bit.
        let bits = u64x2(0x8040_2010_0804_0201, 0);
        let (mut rows, mut low_halves) = (block, block);
        for (row, low_half) in rows.iter_mut().zip(&mut low_halves) {
            *row = u8x16_swizzle(bits, u8x16_shr(*row, 4));
            *low_half = v128_and(*low_half, u8x16_splat(0x0F));
        }
        let mut masks = [0; K];
        for (mask, table) in masks.iter_mut().zip(&sets.by_low_half) {
            let table = self.load_16(table);
            let mut members = rows;
            for (member, low_half) in members.iter_mut().zip(low_halves) {
                *member = u8x16_ne(v128_and(*member, u8x16_swizzle(table, low_half)), u8x16_splat(0));
            }
            *mask = self.high(members);
        }
        masks
    }
}
