//! The instruction sets, and the choice between them at run time. The only module with `unsafe` and intrinsics.
//!
//! The choice follows [`simdpct::Tier`]: AVX-512 and AVX2 if the tier has their features, SSE2 for every other vector tier of
//! x86-64. The scalar tier and other CPUs have no kernels.

use core::sync::atomic::{AtomicU8, Ordering};

use simdpct::Tier;

#[cfg(target_arch = "x86_64")]
use self::x86::{Avx2, Avx512, Sse2};
use super::Operation;
use super::split::Split;
use crate::offsets::Offsets;

/// The instruction set whose kernels run, with the token that proves that this CPU has its features.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse2(Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Calls a method of the token in `$level`, or on the scalar level `run_scalar` of the operation.
macro_rules! call {
    ($level:ident.$method:ident($operation:ident)) => {
        match $level {
            Level::Scalar => $operation.run_scalar(),
            // SAFETY: the token exists only on a CPU with the features that its methods enable.
            #[cfg(target_arch = "x86_64")]
            Level::Sse2(isa) => unsafe { isa.$method($operation) },
            // SAFETY: the token exists only on a CPU with the features that its methods enable.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(isa) => unsafe { isa.$method($operation) },
            // SAFETY: the token exists only on a CPU with the features that its methods enable.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(isa) => unsafe { isa.$method($operation) },
        }
    };
}

impl Level {
    /// Returns the level with the best kernels for `tier`.
    pub(crate) fn of(tier: Tier) -> Level {
        #[cfg(target_arch = "x86_64")]
        if !tier.features().is_empty() {
            let level = Avx512::of(tier).map(Level::Avx512);
            let level = level.or_else(|| Avx2::of(tier).map(Level::Avx2));
            return level.or_else(|| Sse2::of(tier).map(Level::Sse2)).unwrap_or(Level::Scalar);
        }
        _ = tier;
        Level::Scalar
    }

    /// Returns the level of the active tier. The level is chosen once.
    #[inline(always)]
    pub(crate) fn active() -> Level {
        // INVARIANT: 0, or the number of a level that `Level::of` has returned. Only `choose` writes it.
        static ACTIVE: AtomicU8 = AtomicU8::new(0);

        #[cold]
        fn choose() -> Level {
            let level = Level::of(Tier::active());
            let number = match level {
                Level::Scalar => 1,
                #[cfg(target_arch = "x86_64")]
                Level::Sse2(_) => 2,
                #[cfg(target_arch = "x86_64")]
                Level::Avx2(_) => 3,
                #[cfg(target_arch = "x86_64")]
                Level::Avx512(_) => 4,
            };
            ACTIVE.store(number, Ordering::Relaxed);
            level
        }

        match ACTIVE.load(Ordering::Relaxed) {
            1 => Level::Scalar,
            // SAFETY: `choose` stored 2 because it held an `Sse2`, so this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            2 => Level::Sse2(unsafe { Sse2::new() }),
            // SAFETY: `choose` stored 3 because it held an `Avx2`, so this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            3 => Level::Avx2(unsafe { Avx2::new() }),
            // SAFETY: `choose` stored 4 because it held an `Avx512`, so this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            4 => Level::Avx512(unsafe { Avx512::new() }),
            _ => choose(),
        }
    }

    /// Splits one URL. Unlike [`Level::run`], this is not generic, so callers in other crates share one copy of the kernel.
    #[inline(always)]
    pub(crate) fn split(self, url: &[u8]) -> Offsets {
        let operation = Split { url };
        call!(self.split(operation))
    }

    /// Runs `operation` with the kernels of this level.
    #[cfg(feature = "alloc")]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        call!(self.run(operation))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::asm;
    use core::arch::x86_64::*;

    use simdpct::Tier;

    use super::super::split::Split;
    use super::super::{Isa, Operation, Sets};
    use crate::offsets::Offsets;

    /// The features that this build enables for every CPU.
    const BASELINE: &[&str] = if cfg!(target_feature = "sse2") { &["sse2"] } else { &[] };

    /// Defines the token of an instruction set, and the only functions that enable its features.
    macro_rules! token {
        ($token:ident [$($feature:tt)*]) => {
            #[derive(Clone, Copy)]
            pub(crate) struct $token(());

            impl $token {
                /// Makes the token. The private field and this attribute make it a proof: safe code can call this function only
                /// where the features are enabled.
                $(#[target_feature(enable = $feature)])*
                #[inline]
                pub(super) fn new() -> $token {
                    $token(())
                }

                /// Returns the token if `tier` has the features.
                pub(super) fn of(tier: Tier) -> Option<$token> {
                    let has = |feature: &&str| tier.features().contains(feature) || BASELINE.contains(feature);
                    // SAFETY: `has` is true of every feature that `new` enables, and this CPU has the features of a `Tier`,
                    // which exists on no other, and those of the baseline, without which this build does not run.
                    [$($feature),*].iter().all(has).then(|| unsafe { $token::new() })
                }

                /// Runs `operation` with the features of the instruction set enabled.
                #[cfg(feature = "alloc")]
                $(#[target_feature(enable = $feature)])*
                pub(super) fn run<O: Operation>(self, operation: O) -> O::Output {
                    operation.run(self)
                }

                /// Splits one URL.
                $(#[target_feature(enable = $feature)])*
                pub(super) fn split(self, operation: Split<'_>) -> Offsets {
                    operation.run(self)
                }
            }
        };
    }

    token!(Avx512 ["avx512f" "avx512bw" "avx512vbmi" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]);
    token!(Avx2 ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]);
    token!(Sse2["sse2"]);

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
            // `bytes.len()`.
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
        fn pairs<const K: usize>(
            self,
            before: __m512i,
            block: __m512i,
            first: &Sets,
            second: &Sets,
        ) -> [u64; K] {
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
            } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
                let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                Halves { low: self.word(first.into()), high: self.word(last.into()), shift: shift(4) }
            } else {
                let word = match *bytes {
                    [a] => u64::from(a),
                    [a, b] => u64::from(u16::from_le_bytes([a, b])),
                    [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
                    _ => 0,
                };
                Halves { low: self.word(word), high: self.word(0), shift: 0 }
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
}
