//! The operations of [`Simd`] on the blocks of the tiers, for the kernels of other crates.
//!
//! They use the loads, comparisons and masks that the codec has. Only the lookups differ: the codec looks up one set that it learns
//! at run time, and these look up to eight sets that are known when the kernel is compiled.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::blocks::Blocks;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use super::token::Avx512;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)))]
use super::token::Sse2;
use super::vector::Vector;
use crate::kernel::drive::Isa;
use crate::kernel::simd::{Sets, Simd};

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;

/// Returns `mask` unchanged. See [`Simd::opaque`].
#[cfg_attr(optimized, inline(always))]
fn hide(mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    let mask = {
        let mut mask = mask;
        // SAFETY: the assembly is a comment, so it changes no register, no memory and no flag.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
        mask
    };
    mask
}

/// The registers whose [`Vector::mask`] reads only the top bit of each lane.
pub(crate) trait TopBits: Vector {}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl TopBits for super::avx2::Register {}
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)))]
impl TopBits for super::ssse3::Register {}
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl TopBits for super::simd128::Register {}

/// A block of at most 64 bytes as two blocks of 32 lanes. The first lane of `high` is lane `shift` of the whole block: 32, or less
/// for a short input, whose halves overlap. So a short input takes two loads, and no instruction that moves its bytes to their lanes.
#[derive(Clone, Copy)]
pub(crate) struct Halves<V, const N: usize> {
    low: [V; N],
    high: [V; N],
    shift: u32,
}

impl<V: TopBits, const N: usize> Blocks<V, N> {
    /// Loads the first `WIDTH` bytes and the last `WIDTH` bytes, which together are all. Returns `None` if there are fewer.
    #[cfg_attr(optimized, inline(always))]
    fn load_both<const WIDTH: usize>(self, bytes: &[u8]) -> Option<Halves<V, N>> {
        let (first, last) = (bytes.first_chunk::<WIDTH>()?, bytes.last_chunk::<WIDTH>()?);
        let shift = (bytes.len() - WIDTH) as u32;
        Some(Halves { low: Isa::load(self, first), high: Isa::load(self, last), shift })
    }
}

impl<V: TopBits, const N: usize> Simd for Blocks<V, N> {
    type Block = Halves<V, N>;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8; 64]) -> Halves<V, N> {
        const { assert!(V::BYTES * N == 32) };
        Halves { low: Isa::load(self, bytes), high: Isa::load(self, &bytes[32..]), shift: 32 }
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_short(self, bytes: &[u8]) -> Halves<V, N> {
        if let Some(block) = self.load_both::<32>(bytes) {
            block
        } else if let Some(block) = self.load_both::<16>(bytes) {
            block
        } else if let Some(block) = self.load_both::<8>(bytes) {
            block
        } else {
            Halves { low: Isa::load(self, bytes), high: Isa::load(self, &[]), shift: 0 }
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: Halves<V, N>, byte: u8) -> u64 {
        Isa::eq(self, block.low, byte) | Isa::eq(self, block.high, byte) << block.shift
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, block: Halves<V, N>) -> u64 {
        V::mask(block.low) | V::mask(block.high) << block.shift
    }

    #[cfg_attr(optimized, inline(always))]
    fn members<const K: usize>(self, block: Halves<V, N>, sets: &Sets) -> [u64; K] {
        let mut masks = [0; K];
        for (half, shift) in [(block.low, 0), (block.high, block.shift)] {
            for k in 0..K {
                let table = self.table(&sets.by_low_half[k]);
                let mut row = half;
                for i in 0..N {
                    row[i] = table.look_up(half[i]) & self.bit(half[i]);
                }
                // Each half is inverted by itself: lanes after the bytes of a half are zero, and members of no set.
                masks[k] |= u64::from(!V::mask(self.zeros(row)) as u32) << shift;
            }
        }
        masks
    }

    #[cfg_attr(optimized, inline(always))]
    fn opaque(self, mask: u64) -> u64 {
        hide(mask)
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl Avx512 {
    /// Returns, for each byte, the bits of the sets that hold it.
    #[cfg_attr(optimized, inline(always))]
    fn sets_of(self, block: __m512i, sets: &Sets) -> __m512i {
        let [low, high] = sets.by_byte.as_chunks::<64>().0 else { return block };
        self.look_up([Isa::load(self, low), Isa::load(self, high)], block)
    }

    /// Returns a mask of the lanes in which a bit is set in both registers.
    #[cfg_attr(optimized, inline(always))]
    fn common(self, first: __m512i, second: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_test_epi8_mask(first, second) }
    }

    /// Returns, for each of the first `K` bits, a mask of the lanes in which the bit is set.
    #[cfg_attr(optimized, inline(always))]
    fn masks<const K: usize>(self, bits: __m512i) -> [u64; K] {
        let mut masks = [0; K];
        for k in 0..K {
            masks[k] = self.common(bits, self.all(1 << k));
        }
        masks
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl Simd for Avx512 {
    type Block = __m512i;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8; 64]) -> __m512i {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_short(self, bytes: &[u8]) -> __m512i {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: __m512i, byte: u8) -> u64 {
        Isa::eq(self, block, byte)
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, block: __m512i) -> u64 {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_movepi8_mask(block) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn members<const K: usize>(self, block: __m512i, sets: &Sets) -> [u64; K] {
        self.masks(self.sets_of(block, sets))
    }

    #[cfg_attr(optimized, inline(always))]
    fn pairs<const K: usize>(self, before: __m512i, block: __m512i, first: &Sets, second: &Sets) -> [u64; K] {
        let (first, second) = (self.sets_of(before, first), self.sets_of(block, second));
        // SAFETY: the token proves AVX-512.
        self.masks(unsafe { _mm512_and_si512(first, second) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_pair(self, before: __m512i, block: __m512i, first: &Sets, second: &Sets) -> u64 {
        self.common(self.sets_of(before, first), self.sets_of(block, second))
    }
}

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)))]
impl Simd for Sse2 {
    const LOOKS_UP: bool = false;
    type Block = <Sse2 as Isa>::Block;

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8; 64]) -> Self::Block {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_short(self, bytes: &[u8]) -> Self::Block {
        Isa::load(self, bytes)
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        Isa::eq(self, block, byte)
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, block: Self::Block) -> u64 {
        self.mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn members<const K: usize>(self, block: Self::Block, sets: &Sets) -> [u64; K] {
        let bits = Isa::bytes(self, block).map(|byte| sets.by_byte[usize::from(byte & 0x7F)]);
        let (bits, mut masks) = (Isa::load(self, &bits), [0; K]);
        for k in 0..K {
            let mut lanes = bits;
            for i in 0..4 {
                lanes[i] = bits[i] & self.all(1 << k);
            }
            masks[k] = Isa::eq(self, lanes, 1 << k);
        }
        masks
    }

    #[cfg_attr(optimized, inline(always))]
    fn opaque(self, mask: u64) -> u64 {
        hide(mask)
    }
}
