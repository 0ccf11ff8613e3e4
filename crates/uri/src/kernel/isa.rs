//! The instruction sets, and the choice between them at run time. The only module with `unsafe` and intrinsics.
//!
//! The tier is the one that [`simdpct::Tier`] has chosen: `avx512` and `avx2` have kernels of their own; on x86-64, every
//! other tier but `scalar` uses SSE2. On other CPUs, and for `scalar`, the reference splits and nothing is scanned.

use core::sync::atomic::{AtomicU8, Ordering};

use simdpct::Tier;
#[cfg(feature = "alloc")]
use simdpct::batch::{Column, Offset};

#[cfg(feature = "alloc")]
use super::columns::{self, Out, Progress};
#[cfg(feature = "alloc")]
use super::scan::{Exception, Rule};
use crate::offsets::Offsets;
use crate::reference;

/// Which kernels run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Level {
    Scalar = 1,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best kernels for `tier`, whose features this CPU has.
    pub(crate) fn of(tier: Tier) -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let has = |features: &[&str]| features.iter().all(|feature| tier.features().contains(feature));
            if has(x86::avx512::FEATURES) {
                return Level::Avx512;
            }
            if has(x86::avx2::FEATURES) {
                return Level::Avx2;
            }
            if !tier.features().is_empty() && cfg!(target_feature = "sse2") {
                return Level::Sse2;
            }
        }
        _ = tier;
        Level::Scalar
    }

    /// Of the active tier.
    #[inline(always)]
    pub(crate) fn active() -> Level {
        // INVARIANT: 0, or the number of a level that `Level::of` gave, whose features this CPU has.
        static ACTIVE: AtomicU8 = AtomicU8::new(0);

        #[cold]
        fn choose() -> Level {
            let level = Level::of(Tier::active());
            ACTIVE.store(level as u8, Ordering::Relaxed);
            level
        }

        match ACTIVE.load(Ordering::Relaxed) {
            number if number == Level::Scalar as u8 => Level::Scalar,
            #[cfg(target_arch = "x86_64")]
            number if number == Level::Sse2 as u8 => Level::Sse2,
            #[cfg(target_arch = "x86_64")]
            number if number == Level::Avx2 as u8 => Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            number if number == Level::Avx512 as u8 => Level::Avx512,
            _ => choose(),
        }
    }

    /// Splits one URL.
    #[inline(always)]
    pub(crate) fn split(self, url: &[u8]) -> Offsets {
        match self {
            Level::Scalar => reference::split(url),
            // SAFETY: there is such a level only if this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => unsafe { x86::sse2::split(url) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2::split(url) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512::split(url) },
        }
    }

    /// [`columns::column`].
    #[cfg(feature = "alloc")]
    pub(crate) fn column<O: Offset>(self, urls: Column<'_, O>, out: &mut Out<'_>) -> Result<(), usize> {
        match self {
            Level::Scalar => columns::column_by_reference(urls, out),
            // SAFETY: there is such a level only if this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => unsafe { x86::sse2::column(urls, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2::column(urls, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512::column(urls, out) },
        }
    }

    /// [`columns::lines`].
    #[cfg(feature = "alloc")]
    pub(crate) fn lines(
        self,
        text: &[u8],
        at: usize,
        starts: &mut [usize],
        lens: &mut [u32],
        out: &mut Out<'_>,
    ) -> Progress {
        match self {
            Level::Scalar => columns::lines_by_reference(text, at, starts, lens, out),
            // SAFETY: there is such a level only if this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => unsafe { x86::sse2::lines(text, at, starts, lens, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2::lines(text, at, starts, lens, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512::lines(text, at, starts, lens, out) },
        }
    }

    /// `scan::scan`; false if there is no kernel for it.
    #[cfg(feature = "alloc")]
    pub(crate) fn scan<R: Rule>(self, text: &[u8], out: &mut alloc::vec::Vec<Exception>) -> bool {
        match self {
            Level::Scalar => {
                _ = (text, out);
                return false;
            }
            // SAFETY: there is such a level only if this CPU has its features.
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => unsafe { x86::sse2::scan::<R>(text, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2::scan::<R>(text, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512::scan::<R>(text, out) },
        }
        #[cfg(target_arch = "x86_64")]
        true
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::asm;
    use core::arch::x86_64::*;

    #[cfg(feature = "alloc")]
    use super::{Column, Exception, Offset, Out, Progress, Rule, columns};
    use crate::kernel::Isa;
    #[cfg(feature = "alloc")]
    use crate::kernel::{ScanIsa, Sets, scan};
    use crate::offsets::Offsets;

    /// A tier: its features, its token, which only a function with these features can make, and the entry points, the
    /// only functions that enable them.
    macro_rules! tier {
        ($tier:ident $token:ident [$($feature:tt)*]) => {
            #[derive(Clone, Copy)]
            pub(super) struct $token(());

            impl $token {
                $(#[target_feature(enable = $feature)])*
                #[inline]
                fn new() -> $token {
                    $token(())
                }
            }

            pub(super) mod $tier {
                use super::*;

                #[allow(dead_code, reason = "SSE2 is part of x86-64")]
                pub(in super::super) const FEATURES: &[&str] = &[$($feature),*];

                $(#[target_feature(enable = $feature)])*
                pub(in super::super) fn split(url: &[u8]) -> Offsets {
                    let isa = $token::new();
                    let block = match url.first_chunk() {
                        Some(bytes) => isa.load(bytes),
                        None => isa.load_short(url),
                    };
                    crate::kernel::split::split(isa, url, block)
                }

                #[cfg(feature = "alloc")]
                $(#[target_feature(enable = $feature)])*
                pub(in super::super) fn column<O: Offset>(
                    urls: Column<'_, O>,
                    out: &mut Out<'_>,
                ) -> Result<(), usize> {
                    columns::column($token::new(), urls, out)
                }

                #[cfg(feature = "alloc")]
                $(#[target_feature(enable = $feature)])*
                pub(in super::super) fn lines(
                    text: &[u8],
                    at: usize,
                    starts: &mut [usize],
                    lens: &mut [u32],
                    out: &mut Out<'_>,
                ) -> Progress {
                    columns::lines($token::new(), text, at, starts, lens, out)
                }

                #[cfg(feature = "alloc")]
                $(#[target_feature(enable = $feature)])*
                pub(in super::super) fn scan<R: Rule>(text: &[u8], out: &mut alloc::vec::Vec<Exception>) {
                    scan::scan::<_, R>($token::new(), text, out);
                }
            }
        };
    }

    tier!(avx512 Avx512 ["avx512f" "avx512bw" "avx512vbmi" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]);
    tier!(avx2 Avx2 ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]);
    tier!(sse2 Sse2 ["sse2"]);

    /// Hides from LLVM how a mask was made.
    #[inline(always)]
    fn hide(mut mask: u64) -> u64 {
        // SAFETY: no instruction, so nothing is read, written or changed.
        unsafe { asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
        mask
    }

    impl Isa for Avx512 {
        type Block = __m512i;

        #[inline(always)]
        fn load(self, bytes: &[u8; 64]) -> __m512i {
            // SAFETY: the token proves AVX-512; 64 bytes are readable.
            unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
        }

        #[inline(always)]
        fn load_short(self, bytes: &[u8]) -> __m512i {
            let lanes = if bytes.len() < 64 { (1 << bytes.len()) - 1 } else { !0 };
            // SAFETY: the token proves AVX-512 BW; a masked load touches only its lanes, which are within `bytes`.
            unsafe { _mm512_maskz_loadu_epi8(lanes, bytes.as_ptr().cast()) }
        }

        #[inline(always)]
        fn eq(self, block: __m512i, byte: u8) -> u64 {
            // SAFETY: the token proves AVX-512 BW.
            unsafe { _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(byte.cast_signed())) }
        }
    }

    #[cfg(feature = "alloc")]
    impl Avx512 {
        /// The bits of the sets that hold each byte.
        #[inline(always)]
        fn bits(self, block: __m512i, sets: &Sets) -> __m512i {
            let (low, high) = sets.by_byte.split_at(64);
            // SAFETY: the token proves AVX-512 VBMI; both halves have 64 bytes.
            unsafe {
                let low = _mm512_loadu_si512(low.as_ptr().cast());
                let high = _mm512_loadu_si512(high.as_ptr().cast());
                _mm512_permutex2var_epi8(low, block, high)
            }
        }

        #[inline(always)]
        fn masks<const K: usize>(self, bits: __m512i) -> [u64; K] {
            let mut masks = [0; K];
            for (k, mask) in masks.iter_mut().enumerate() {
                // SAFETY: the token proves AVX-512 BW.
                *mask = unsafe { _mm512_test_epi8_mask(bits, _mm512_set1_epi8((1_u8 << k).cast_signed())) };
            }
            masks
        }
    }

    #[cfg(feature = "alloc")]
    impl ScanIsa for Avx512 {
        #[inline(always)]
        fn high(self, block: __m512i) -> u64 {
            // SAFETY: the token proves AVX-512 BW.
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
            // SAFETY: the token proves AVX-512.
            self.masks(unsafe { _mm512_and_si512(first, second) })
        }

        #[inline(always)]
        fn any_pair(self, before: __m512i, block: __m512i, first: &Sets, second: &Sets) -> u64 {
            let (first, second) = (self.bits(before, first), self.bits(block, second));
            // SAFETY: the token proves AVX-512 BW.
            unsafe { _mm512_test_epi8_mask(first, second) }
        }
    }

    /// Two registers. The lanes of the second are those from `shift` on: 32 of a whole block, and fewer of a short one,
    /// where they overlap those of the first.
    #[derive(Clone, Copy)]
    pub(super) struct Halves {
        low: __m256i,
        high: __m256i,
        shift: u32,
    }

    impl Avx2 {
        #[inline(always)]
        fn mask(self, low: __m256i, high: __m256i, shift: u32) -> u64 {
            // SAFETY: the token proves AVX2.
            let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
            u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << shift
        }

        #[inline(always)]
        fn load_32(self, bytes: &[u8; 32]) -> __m256i {
            // SAFETY: the token proves AVX2; 32 bytes are readable.
            unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
        }

        #[inline(always)]
        fn load_16(self, bytes: &[u8; 16]) -> __m256i {
            // SAFETY: the token proves AVX2; sixteen bytes are readable.
            unsafe { _mm256_zextsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
        }

        #[inline(always)]
        fn word(self, word: u64) -> __m256i {
            // SAFETY: the token proves AVX2.
            unsafe { _mm256_zextsi128_si256(_mm_cvtsi64_si128(word.cast_signed())) }
        }
    }

    impl Isa for Avx2 {
        type Block = Halves;

        #[inline(always)]
        fn load(self, bytes: &[u8; 64]) -> Halves {
            // SAFETY: the token proves AVX2; 64 bytes are readable.
            unsafe {
                let low = _mm256_loadu_si256(bytes.as_ptr().cast());
                let high = _mm256_loadu_si256(bytes.as_ptr().add(32).cast());
                Halves { low, high, shift: 32 }
            }
        }

        #[inline(always)]
        #[allow(clippy::cast_possible_truncation, reason = "fewer than 64")]
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
            // SAFETY: the token proves AVX2.
            unsafe {
                let byte = _mm256_set1_epi8(byte.cast_signed());
                let (low, high) = (_mm256_cmpeq_epi8(block.low, byte), _mm256_cmpeq_epi8(block.high, byte));
                self.mask(low, high, block.shift)
            }
        }

        #[inline(always)]
        fn opaque(self, mask: u64) -> u64 {
            hide(mask)
        }
    }

    #[cfg(feature = "alloc")]
    impl Avx2 {
        /// The bit of each byte's row, for ASCII; zero for the others.
        #[inline(always)]
        fn row(self, bytes: __m256i) -> __m256i {
            // SAFETY: the token proves AVX2. The shift moves bits between bytes, so it is masked before use.
            unsafe {
                let rows = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                    1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0,
                ));
                let half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15));
                _mm256_shuffle_epi8(rows, half)
            }
        }

        /// Zero in the lanes that are not in the set with this table.
        #[inline(always)]
        fn member(self, bytes: __m256i, row: __m256i, table: &[u8; 16]) -> __m256i {
            // SAFETY: the token proves AVX2; sixteen bytes are readable. A shuffle gives zero above 0x7F.
            unsafe {
                let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
                _mm256_and_si256(_mm256_shuffle_epi8(table, bytes), row)
            }
        }
    }

    #[cfg(feature = "alloc")]
    impl ScanIsa for Avx2 {
        #[inline(always)]
        fn high(self, block: Halves) -> u64 {
            self.mask(block.low, block.high, block.shift)
        }

        #[inline(always)]
        fn members<const K: usize>(self, block: Halves, sets: &Sets) -> [u64; K] {
            let (low, high) = (self.row(block.low), self.row(block.high));
            let mut masks = [0; K];
            for (mask, table) in masks.iter_mut().zip(&sets.by_low_half) {
                let (low, high) = (self.member(block.low, low, table), self.member(block.high, high, table));
                // SAFETY: the token proves AVX2.
                let (low, high) = unsafe {
                    let zero = _mm256_setzero_si256();
                    (_mm256_cmpeq_epi8(low, zero), _mm256_cmpeq_epi8(high, zero))
                };
                *mask = !self.mask(low, high, block.shift);
            }
            masks
        }

        #[inline(always)]
        fn pairs<const K: usize>(
            self,
            before: Halves,
            block: Halves,
            first: &Sets,
            second: &Sets,
        ) -> [u64; K] {
            let (mut both, second) = (self.members::<K>(before, first), self.members::<K>(block, second));
            for (both, second) in both.iter_mut().zip(second) {
                *both &= second;
            }
            both
        }

        #[inline(always)]
        fn any_pair(self, before: Halves, block: Halves, first: &Sets, second: &Sets) -> u64 {
            self.pairs::<8>(before, block, first, second).iter().fold(0, |any, both| any | both)
        }
    }

    impl Sse2 {
        #[inline(always)]
        fn mask(self, quarters: [__m128i; 4]) -> u64 {
            let mut mask = 0;
            for (i, quarter) in quarters.into_iter().enumerate() {
                // SAFETY: the token proves SSE2.
                mask |= u64::from(unsafe { _mm_movemask_epi8(quarter) }.cast_unsigned()) << (16 * i);
            }
            mask
        }
    }

    impl Isa for Sse2 {
        type Block = [__m128i; 4];

        #[inline(always)]
        fn load(self, bytes: &[u8; 64]) -> [__m128i; 4] {
            // SAFETY: the token proves SSE2; 64 bytes are readable.
            unsafe {
                let at = bytes.as_ptr().cast();
                [
                    _mm_loadu_si128(at),
                    _mm_loadu_si128(at.add(1)),
                    _mm_loadu_si128(at.add(2)),
                    _mm_loadu_si128(at.add(3)),
                ]
            }
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
                // SAFETY: the token proves SSE2.
                *quarter = unsafe { _mm_cmpeq_epi8(*quarter, _mm_set1_epi8(byte.cast_signed())) };
            }
            self.mask(equal)
        }

        #[inline(always)]
        fn opaque(self, mask: u64) -> u64 {
            hide(mask)
        }
    }

    /// Without a byte shuffle, each byte is looked up by itself.
    #[cfg(feature = "alloc")]
    impl Sse2 {
        #[inline(always)]
        fn bits(self, block: [__m128i; 4], sets: &Sets) -> [__m128i; 4] {
            let mut bytes = [0_u8; 64];
            for (bytes, quarter) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(block) {
                // SAFETY: the token proves SSE2; sixteen bytes are writable.
                unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), quarter) };
            }
            for byte in &mut bytes {
                *byte = sets.by_byte[usize::from(*byte & 0x7F)];
            }
            self.load(&bytes)
        }

        #[inline(always)]
        fn masks<const K: usize>(self, bits: [__m128i; 4]) -> [u64; K] {
            let mut masks = [0; K];
            for (k, mask) in masks.iter_mut().enumerate() {
                let mut lanes = bits;
                for quarter in &mut lanes {
                    // SAFETY: the token proves SSE2.
                    *quarter = unsafe {
                        let bit = _mm_set1_epi8((1_u8 << k).cast_signed());
                        _mm_cmpeq_epi8(_mm_and_si128(*quarter, bit), bit)
                    };
                }
                *mask = self.mask(lanes);
            }
            masks
        }
    }

    #[cfg(feature = "alloc")]
    impl ScanIsa for Sse2 {
        #[inline(always)]
        fn high(self, block: [__m128i; 4]) -> u64 {
            self.mask(block)
        }

        #[inline(always)]
        fn members<const K: usize>(self, block: [__m128i; 4], sets: &Sets) -> [u64; K] {
            self.masks(self.bits(block, sets))
        }

        #[inline(always)]
        fn pairs<const K: usize>(
            self,
            before: [__m128i; 4],
            block: [__m128i; 4],
            first: &Sets,
            second: &Sets,
        ) -> [u64; K] {
            let (mut both, second) = (self.members::<K>(before, first), self.members::<K>(block, second));
            for (both, second) in both.iter_mut().zip(second) {
                *both &= second;
            }
            both
        }

        #[inline(always)]
        fn any_pair(self, before: [__m128i; 4], block: [__m128i; 4], first: &Sets, second: &Sets) -> u64 {
            self.pairs::<8>(before, block, first, second).iter().fold(0, |any, both| any | both)
        }
    }
}
