//! AVX2: 64 lanes in two registers.
//!
//! Set membership is two nibble shuffles: the low half of an octet picks a row of the set, the high half a bit.
//! What AVX-512 does with one compress instruction is done here by a shuffle table of eight lanes at a time:
//! removing lanes (decoding) and tripling lanes (encoding). The places of the eight groups in the output come
//! from one multiplication, so that no group waits for the one before it.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::{BITS, COMPRESS, COMPRESS_HIGH, EXPAND, HEX_ROWS, SLIDE, words};
use super::token::Avx2;
use crate::cursor::{Cursor, Stage};
use crate::drive::{Isa, first};
use crate::hex::HexCase;
use crate::set::ByteSet;

/// The rows of a set, in both halves of a register: for ASCII octets, and for the others.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: __m256i,
    high: __m256i,
}

/// Sixteen octets in both halves of a register.
#[inline(always)]
fn both(_: Avx2, octets: &[u8; 16]) -> __m256i {
    // SAFETY: the token proves AVX2; sixteen octets are readable.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(octets.as_ptr().cast())) }
}

/// Both registers of a block. (A closure would not be inlined into the entry points, nor then the intrinsics in it.)
macro_rules! each {
    ($block:expr, |$half:ident| $value:expr) => {{
        let [low, high] = $block;
        // SAFETY: the token proves AVX2.
        unsafe {
            [
                {
                    let $half = low;
                    $value
                },
                {
                    let $half = high;
                    $value
                },
            ]
        }
    }};
}

impl Avx2 {
    /// The bit that the high half of each octet picks in a row.
    #[inline(always)]
    fn bit(self, half: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2. The shift moves bits between octets, so it is masked before use.
        unsafe {
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(half), _mm256_set1_epi8(0x0F));
            _mm256_shuffle_epi8(both(self, &BITS), high)
        }
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> [__m256i; 2] {
        each!([mask as u32, (mask >> 32) as u32], |mask| {
            let octet_of_lane =
                _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
            let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let octets = _mm256_shuffle_epi8(_mm256_set1_epi32(mask.cast_signed()), octet_of_lane);
            _mm256_cmpeq_epi8(_mm256_and_si256(octets, bit), bit)
        })
    }

    /// The lanes that are all ones, as a mask.
    #[inline(always)]
    fn mask(self, lanes: [__m256i; 2]) -> u64 {
        let [low, high] = each!(lanes, |half| u64::from(_mm256_movemask_epi8(half).cast_unsigned()));
        low | high << 32
    }

    /// Sixteen octets of a partial block from the start of a quarter: those there, or the last sixteen, slid down.
    ///
    /// # Safety
    ///
    /// `input` has at least sixteen octets.
    #[inline(always)]
    unsafe fn quarter(self, input: &[u8], i: usize) -> __m128i {
        let start = (16 * i).min(input.len() - 16);
        let slide = (16 * i - start).min(16);
        // SAFETY: the token proves AVX2; `start + 16 <= len` and `slide + 16 <= 32`.
        unsafe {
            let octets = _mm_loadu_si128(input.as_ptr().add(start).cast());
            _mm_shuffle_epi8(octets, _mm_loadu_si128(SLIDE.as_ptr().add(slide).cast()))
        }
    }

    /// The first octets of a partial block.
    #[inline(always)]
    fn load_partial(self, input: &[u8]) -> [__m256i; 2] {
        let len = input.len();
        if len < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves AVX2.
            return unsafe {
                [_mm256_setr_epi64x(low.cast_signed(), high.cast_signed(), 0, 0), _mm256_setzero_si256()]
            };
        }
        // SAFETY: the token proves AVX2; there are sixteen octets.
        unsafe {
            [
                _mm256_set_m128i(self.quarter(input, 1), self.quarter(input, 0)),
                _mm256_set_m128i(self.quarter(input, 3), self.quarter(input, 2)),
            ]
        }
    }

    /// All ones in the lanes above `Z` and below 0x80.
    #[inline(always)]
    fn above_z(self, half: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_cmpgt_epi8(half, _mm256_set1_epi8(b'Z'.cast_signed())) }
    }

    /// The value of each hexadecimal digit, in the low half of its lane; the high half is zero.
    #[inline(always)]
    fn digits(self, half: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe {
            let letter = _mm256_cmpgt_epi8(half, _mm256_set1_epi8(b'9'.cast_signed()));
            let value = _mm256_add_epi8(half, _mm256_and_si256(letter, _mm256_set1_epi8(9)));
            _mm256_and_si256(value, _mm256_set1_epi8(0x0F))
        }
    }
}

impl Isa for Avx2 {
    const LANES: usize = 64;
    type Block = [__m256i; 2];
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: both(self, ascii), high: both(self, high) }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Self::Block {
        match input.first_chunk::<64>() {
            // SAFETY: the token proves AVX2; 64 octets are readable.
            Some(octets) => unsafe {
                let octets = octets.as_ptr().cast::<__m256i>();
                [_mm256_loadu_si256(octets), _mm256_loadu_si256(octets.add(1))]
            },
            None => self.load_partial(input),
        }
    }

    #[inline(always)]
    fn octets(self, block: Self::Block) -> [u8; 64] {
        let mut octets = [0; 64];
        // SAFETY: the token proves AVX2; 64 octets are writable.
        unsafe {
            let out = octets.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(out, block[0]);
            _mm256_storeu_si256(out.add(1), block[1]);
        }
        octets
    }

    #[inline(always)]
    fn member(self, block: Self::Block, class: &Class) -> u64 {
        // A shuffle gives zero where the octet is above 0x7F: each half of the set sees only its own octets.
        let lanes = each!(block, |half| {
            let ascii = _mm256_shuffle_epi8(class.ascii, half);
            let flipped = _mm256_xor_si256(half, _mm256_set1_epi8(i8::MIN));
            let row = _mm256_or_si256(ascii, _mm256_shuffle_epi8(class.high, flipped));
            let bit = self.bit(half);
            _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)
        });
        self.mask(lanes)
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, octet: u8) -> u64 {
        self.mask(each!(block, |half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(octet.cast_signed()))))
    }

    #[inline(always)]
    fn hex(self, block: Self::Block) -> u64 {
        let lanes = each!(block, |half| {
            let row = _mm256_shuffle_epi8(both(self, &HEX_ROWS), half);
            let bit = self.bit(half);
            _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)
        });
        self.mask(lanes)
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        self.mask([self.above_z(block[0]), self.above_z(block[1])])
    }

    #[inline(always)]
    fn replace(self, block: Self::Block, from: u8, to: u8) -> Self::Block {
        each!(block, |half| {
            let is_from = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(from.cast_signed()));
            _mm256_blendv_epi8(half, _mm256_set1_epi8(to.cast_signed()), is_from)
        })
    }

    #[inline(always)]
    fn values(self, block: Self::Block, next: [u8; 2]) -> Self::Block {
        let [low, high] = [self.digits(block[0]), self.digits(block[1])];
        // SAFETY: the token proves AVX2. Digits are below 16, so the 16-bit shift spills nothing.
        unsafe {
            let next =
                _mm256_zextsi128_si256(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes(next) & 0x0F0F)));
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            let end = _mm256_permute2x128_si256::<0x21>(high, next);
            let first = [_mm256_alignr_epi8::<1>(middle, low), _mm256_alignr_epi8::<1>(end, high)];
            let second = [_mm256_alignr_epi8::<2>(middle, low), _mm256_alignr_epi8::<2>(end, high)];
            [
                _mm256_or_si256(_mm256_slli_epi16::<4>(first[0]), second[0]),
                _mm256_or_si256(_mm256_slli_epi16::<4>(first[1]), second[1]),
            ]
        }
    }

    #[inline(always)]
    fn select(self, mask: u64, block: Self::Block, other: Self::Block) -> Self::Block {
        let mask = self.spread(mask);
        // SAFETY: the token proves AVX2.
        unsafe {
            [_mm256_blendv_epi8(block[0], other[0], mask[0]), _mm256_blendv_epi8(block[1], other[1], mask[1])]
        }
    }

    #[inline(always)]
    fn upper(self, mask: u64, block: Self::Block) -> Self::Block {
        let [low, high] = self.spread(mask);
        // Of the digits, only lower-case letters are above `Z`.
        // SAFETY: the token proves AVX2.
        unsafe {
            let case = _mm256_set1_epi8(0x20);
            let low = _mm256_and_si256(_mm256_and_si256(self.above_z(block[0]), low), case);
            let high = _mm256_and_si256(_mm256_and_si256(self.above_z(block[1]), high), case);
            [_mm256_andnot_si256(low, block[0]), _mm256_andnot_si256(high, block[1])]
        }
    }

    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage).cast::<__m256i>();
        // SAFETY: the token proves AVX2; the window has 64 octets, which are all written, and `lanes <= 64`.
        unsafe {
            _mm256_storeu_si256(window, block[0]);
            _mm256_storeu_si256(window.add(1), block[1]);
            out.commit(64, lanes, &stage);
        }
    }

    #[inline(always)]
    fn compress(self, block: Self::Block, keep: u64, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage);
        // SAFETY: the token proves AVX2. The window has 64 octets, and the groups write the lanes in `keep` without a gap.
        unsafe {
            compress_16(self, _mm256_castsi256_si128(block[0]), keep, 0, window);
            compress_16(self, _mm256_extracti128_si256::<1>(block[0]), keep, 2, window);
            compress_16(self, _mm256_castsi256_si128(block[1]), keep, 4, window);
            compress_16(self, _mm256_extracti128_si256::<1>(block[1]), keep, 6, window);
            out.commit(64, keep.count_ones() as usize, &stage);
        }
    }

    #[inline(always)]
    fn expand(self, block: Self::Block, escape: u64, lanes: usize, case: HexCase, out: &mut Cursor<'_>) {
        /// Seven groups of at most 24 octets, and one register.
        const WINDOW: usize = 7 * 24 + 32;
        let escape = escape & first(lanes);
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage);
        let digits = both(self, case.digits());
        let masks = self.spread(escape);
        // SAFETY: the token proves AVX2. The shift moves bits between octets, so it is masked before use. The window
        // has room for eight groups, and they write `lanes` octets and two more for each escape without a gap.
        unsafe {
            let nibble = _mm256_set1_epi8(0x0F);
            for i in 0..2 {
                let octets = block[i];
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(octets), nibble);
                let high = _mm256_shuffle_epi8(digits, high);
                let low = _mm256_shuffle_epi8(digits, _mm256_and_si256(octets, nibble));
                let octets = _mm256_blendv_epi8(octets, high, masks[i]);
                let even = _mm256_unpacklo_epi64(octets, low);
                let odd = _mm256_unpackhi_epi64(octets, low);
                let group = 4 * i;
                expand_8(self, _mm256_permute4x64_epi64::<0x44>(even), escape, group, window);
                expand_8(self, _mm256_permute4x64_epi64::<0x44>(odd), escape, group + 1, window);
                expand_8(self, _mm256_permute4x64_epi64::<0xEE>(even), escape, group + 2, window);
                expand_8(self, _mm256_permute4x64_epi64::<0xEE>(odd), escape, group + 3, window);
            }
            out.commit(WINDOW, lanes + 2 * escape.count_ones() as usize, &stage);
        }
    }
}

/// Writes those of sixteen lanes, groups `group` and `group + 1`, that are in `keep`.
///
/// # Safety
///
/// `8 * group + 16` octets are writable at `window`.
#[inline(always)]
unsafe fn compress_16(_: Avx2, lanes: __m128i, keep: u64, group: usize, window: *mut u8) {
    let [low, high] = ((keep >> (8 * group)) as u16).to_le_bytes();
    let before = |group: usize| (keep & first(8 * group)).count_ones() as usize;
    // SAFETY: the token proves AVX2. Rows of the tables have eight octets. Before a group come at most eight octets for
    // each group below it.
    unsafe {
        let places = _mm_unpacklo_epi64(
            _mm_loadl_epi64(COMPRESS[usize::from(low)].as_ptr().cast()),
            _mm_loadl_epi64(COMPRESS_HIGH[usize::from(high)].as_ptr().cast()),
        );
        let moved = _mm_shuffle_epi8(lanes, places);
        _mm_storel_epi64(window.add(before(group)).cast(), moved);
        _mm_storel_epi64(window.add(before(group + 1)).cast(), _mm_unpackhi_epi64(moved, moved));
    }
}

/// Writes the eight lanes of a group, those in `escape` as escapes: both halves of `sources` hold the octets, or the high
/// digits of those to escape, and then the low digits.
///
/// # Safety
///
/// `24 * group + 32` octets are writable at `window`.
#[inline(always)]
unsafe fn expand_8(_: Avx2, sources: __m256i, escape: u64, group: usize, window: *mut u8) {
    let row = &EXPAND[usize::from((escape >> (8 * group)) as u8)];
    // Each group counts for itself: a sum that runs through the groups would be turned into slower vector code.
    let at = 8 * group + 2 * (escape & first(8 * group)).count_ones() as usize;
    // SAFETY: the token proves AVX2. A row is 32 octets, aligned to as many. Before the group come at most `24 * group`
    // octets, and the caller vouches for 32 behind them.
    unsafe {
        let places = _mm256_load_si256(row.0.as_ptr().cast());
        let percent = _mm256_subs_epu8(places, _mm256_set1_epi8(i8::MIN));
        let octets = _mm256_or_si256(_mm256_shuffle_epi8(sources, places), percent);
        _mm256_storeu_si256(window.add(at).cast(), octets);
    }
}
