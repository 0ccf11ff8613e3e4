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

use super::tables::{BITS, COMPRESS, COMPRESS_HIGH, EXPAND, HEX_ROWS, PERCENT, SLIDE, counts_below, words};
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

/// `test` for both registers of a block, as a mask.
macro_rules! lanes {
    ($block:expr, |$half:ident| $test:expr) => {{
        let [low, high] = $block;
        let mask = |$half: __m256i| {
            // SAFETY: the token proves AVX2.
            unsafe { _mm256_movemask_epi8($test) as u32 }
        };
        u64::from(mask(low)) | u64::from(mask(high)) << 32
    }};
}

/// The same for both registers of a block.
macro_rules! each {
    ($block:expr, |$half:ident| $value:expr) => {{
        let map = |$half: __m256i| {
            // SAFETY: the token proves AVX2.
            unsafe { $value }
        };
        let [low, high] = $block;
        [map(low), map(high)]
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
        let half = |mask: u32| {
            // SAFETY: the token proves AVX2.
            unsafe {
                let octet_of_lane = _mm256_setr_epi64x(
                    0,
                    0x0101_0101_0101_0101,
                    0x0202_0202_0202_0202,
                    0x0303_0303_0303_0303,
                );
                let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
                let octets = _mm256_shuffle_epi8(_mm256_set1_epi32(mask.cast_signed()), octet_of_lane);
                _mm256_cmpeq_epi8(_mm256_and_si256(octets, bit), bit)
            }
        };
        [half(mask as u32), half((mask >> 32) as u32)]
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
        let quarter = |i: usize| {
            // Sixteen octets from where the quarter starts, or the last sixteen, slid down to its start.
            let start = (16 * i).min(len - 16);
            let slide = (16 * i - start).min(16);
            // SAFETY: the token proves AVX2; `start + 16 <= len` and `slide + 16 <= 32`.
            unsafe {
                let octets = _mm_loadu_si128(input.as_ptr().add(start).cast());
                _mm_shuffle_epi8(octets, _mm_loadu_si128(SLIDE.as_ptr().add(slide).cast()))
            }
        };
        // SAFETY: the token proves AVX2.
        unsafe { [_mm256_set_m128i(quarter(1), quarter(0)), _mm256_set_m128i(quarter(3), quarter(2))] }
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
        lanes!(block, |half| {
            let ascii = _mm256_shuffle_epi8(class.ascii, half);
            let flipped = _mm256_xor_si256(half, _mm256_set1_epi8(i8::MIN));
            let row = _mm256_or_si256(ascii, _mm256_shuffle_epi8(class.high, flipped));
            let bit = self.bit(half);
            _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)
        })
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, octet: u8) -> u64 {
        lanes!(block, |half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(octet.cast_signed())))
    }

    #[inline(always)]
    fn hex(self, block: Self::Block) -> u64 {
        lanes!(block, |half| {
            let row = _mm256_shuffle_epi8(both(self, &HEX_ROWS), half);
            let bit = self.bit(half);
            _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)
        })
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        lanes!(block, |half| _mm256_cmpgt_epi8(half, _mm256_set1_epi8(b'Z'.cast_signed())))
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
        let [low, high] = block.map(|half| self.digits(half));
        // SAFETY: the token proves AVX2. Digits are below 16, so the 16-bit shift spills nothing.
        unsafe {
            let next =
                _mm256_zextsi128_si256(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes(next) & 0x0F0F)));
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            let end = _mm256_permute2x128_si256::<0x21>(high, next);
            let join = |first, second| _mm256_or_si256(_mm256_slli_epi16::<4>(first), second);
            [
                join(_mm256_alignr_epi8::<1>(middle, low), _mm256_alignr_epi8::<2>(middle, low)),
                join(_mm256_alignr_epi8::<1>(end, high), _mm256_alignr_epi8::<2>(end, high)),
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
        let mask = self.spread(mask);
        // Of the digits, only lower-case letters are above `Z`.
        let upper = |half, mask| {
            // SAFETY: the token proves AVX2.
            unsafe {
                let letter = _mm256_cmpgt_epi8(half, _mm256_set1_epi8(b'Z'.cast_signed()));
                let case = _mm256_and_si256(_mm256_and_si256(letter, mask), _mm256_set1_epi8(0x20));
                _mm256_andnot_si256(case, half)
            }
        };
        [upper(block[0], mask[0]), upper(block[1], mask[1])]
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
        let below = counts_below(keep);
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage);
        let sixteen = |lanes: __m128i, i: usize| {
            let group = |i: usize| ((keep >> (8 * i)) as u8 as usize, (below >> (8 * i)) as u8 as usize);
            let ((low, low_at), (high, high_at)) = (group(i), group(i + 1));
            // SAFETY: the token proves AVX2. Rows of the tables have eight octets. At most 8 * i lanes come before
            // group i, so its eight octets lie within the window of 64.
            unsafe {
                let places = _mm_unpacklo_epi64(
                    _mm_loadl_epi64(COMPRESS[low].as_ptr().cast()),
                    _mm_loadl_epi64(COMPRESS_HIGH[high].as_ptr().cast()),
                );
                let moved = _mm_shuffle_epi8(lanes, places);
                _mm_storel_epi64(window.add(low_at).cast(), moved);
                _mm_storel_epi64(window.add(high_at).cast(), _mm_unpackhi_epi64(moved, moved));
            }
        };
        // SAFETY: the token proves AVX2; the groups wrote the lanes in `keep` without a gap.
        unsafe {
            sixteen(_mm256_castsi256_si128(block[0]), 0);
            sixteen(_mm256_extracti128_si256::<1>(block[0]), 2);
            sixteen(_mm256_castsi256_si128(block[1]), 4);
            sixteen(_mm256_extracti128_si256::<1>(block[1]), 6);
            out.commit(64, keep.count_ones() as usize, &stage);
        }
    }

    #[inline(always)]
    fn expand(self, block: Self::Block, escape: u64, lanes: usize, case: HexCase, out: &mut Cursor<'_>) {
        /// Seven groups of at most 24 octets, and one register.
        const WINDOW: usize = 7 * 24 + 32;
        let escape = escape & first(lanes);
        let below = counts_below(escape);
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage);
        let digits = both(self, case.digits());
        let masks = self.spread(escape);
        let eight = |sources: __m256i, i: usize| {
            let row = &EXPAND[(escape >> (8 * i)) as u8 as usize];
            let at = 8 * i + 2 * usize::from((below >> (8 * i)) as u8);
            // SAFETY: the token proves AVX2. A row has 32 octets. Before group i come at most 24 * i octets, so its
            // register ends within the window.
            unsafe {
                let places = _mm256_load_si256(row.0.as_ptr().cast());
                let percent = _mm256_subs_epu8(places, _mm256_set1_epi8(i8::MIN));
                let octets = _mm256_or_si256(_mm256_shuffle_epi8(sources, places), percent);
                _mm256_storeu_si256(window.add(at).cast(), octets);
            }
        };
        let half = |half: __m256i, mask: __m256i, i: usize| {
            // SAFETY: the token proves AVX2. The shift moves bits between octets, so it is masked before use.
            unsafe {
                let nibble = _mm256_set1_epi8(0x0F);
                let high =
                    _mm256_shuffle_epi8(digits, _mm256_and_si256(_mm256_srli_epi16::<4>(half), nibble));
                let low = _mm256_shuffle_epi8(digits, _mm256_and_si256(half, nibble));
                let octets = _mm256_blendv_epi8(half, high, mask);
                let even = _mm256_unpacklo_epi64(octets, low);
                let odd = _mm256_unpackhi_epi64(octets, low);
                eight(_mm256_permute4x64_epi64::<0b01_00_01_00>(even), i);
                eight(_mm256_permute4x64_epi64::<0b01_00_01_00>(odd), i + 1);
                eight(_mm256_permute4x64_epi64::<0b11_10_11_10>(even), i + 2);
                eight(_mm256_permute4x64_epi64::<0b11_10_11_10>(odd), i + 3);
            }
        };
        half(block[0], masks[0], 0);
        half(block[1], masks[1], 4);
        // SAFETY: the groups wrote `lanes` octets and two more for each escape, without a gap.
        unsafe { out.commit(WINDOW, lanes + 2 * escape.count_ones() as usize, &stage) };
    }
}

const _: () = assert!(PERCENT - 0x80 == b'%');
