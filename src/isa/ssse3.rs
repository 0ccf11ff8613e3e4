//! SSSE3: 64 lanes in four registers.
//!
//! The algorithms are those of AVX2 at half the width: two nibble shuffles for membership, shuffle tables of eight
//! lanes for removing and tripling. There is no `popcnt` on these CPUs; the counts come from one multiplication.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::tables::{
    BITS, COMPRESS, COMPRESS_HIGH, COUNT, EXPAND, HEX_ROWS, SLIDE, count, counts_below, words,
};
use super::token::Ssse3;
use crate::cursor::{Cursor, Stage};
use crate::drive::{Isa, Tier, first};
use crate::hex::HexCase;
use crate::set::ByteSet;

type Block = [__m128i; 4];

/// The rows of a set: for ASCII octets, and for the others.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: __m128i,
    high: __m128i,
}

impl Ssse3 {
    #[inline(always)]
    fn sixteen(self, octets: &[u8; 16]) -> __m128i {
        // SAFETY: the token proves SSSE3; sixteen octets are readable.
        unsafe { _mm_loadu_si128(octets.as_ptr().cast()) }
    }

    #[inline(always)]
    fn all(self, octet: u8) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_set1_epi8(octet.cast_signed()) }
    }

    /// The lanes, of four registers of lanes that are all ones or all zeros, as a mask.
    #[inline(always)]
    fn mask(self, quarters: Block) -> u64 {
        let [a, b, c, d] = each!(quarters, |quarter| u64::from(_mm_movemask_epi8(quarter).cast_unsigned()));
        a | b << 16 | c << 32 | d << 48
    }

    /// The high half of each octet.
    #[inline(always)]
    fn high_half(self, quarter: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3. The shift moves bits between octets, so it is masked before use.
        unsafe { _mm_and_si128(_mm_srli_epi16::<4>(quarter), self.all(0x0F)) }
    }

    /// All ones in the lanes whose bit is set in their row.
    #[inline(always)]
    fn in_row(self, row: __m128i, quarter: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe {
            let bit = _mm_shuffle_epi8(self.sixteen(&BITS), self.high_half(quarter));
            _mm_cmpeq_epi8(_mm_and_si128(row, bit), bit)
        }
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> Block {
        each!(|i| {
            let octet_of_lane = _mm_set_epi64x(0x0101_0101_0101_0101, 0);
            let bit = _mm_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let octets = _mm_cvtsi32_si128(i32::from((mask >> (16 * i)) as u16));
            _mm_cmpeq_epi8(_mm_and_si128(_mm_shuffle_epi8(octets, octet_of_lane), bit), bit)
        })
    }

    /// The lanes of `mask` from `other`, the others from `quarter`.
    #[inline(always)]
    fn blend(self, mask: __m128i, quarter: __m128i, other: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_or_si128(_mm_and_si128(mask, other), _mm_andnot_si128(mask, quarter)) }
    }

    /// All ones in the lanes above `octet`, both below 0x80.
    #[inline(always)]
    fn above(self, quarter: __m128i, octet: u8) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe { _mm_cmpgt_epi8(quarter, self.all(octet)) }
    }

    /// The value of each hexadecimal digit, in the low half of its lane; the high half is zero.
    #[inline(always)]
    fn digits(self, quarter: __m128i) -> __m128i {
        // SAFETY: the token proves SSSE3.
        unsafe {
            let letter = _mm_and_si128(self.above(quarter, b'9'), self.all(9));
            _mm_and_si128(_mm_add_epi8(quarter, letter), self.all(0x0F))
        }
    }

    #[inline(always)]
    fn load_partial(self, input: &[u8]) -> Block {
        let len = input.len();
        if len < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves SSSE3.
            let zero = unsafe { _mm_setzero_si128() };
            // SAFETY: the token proves SSSE3.
            return unsafe { [_mm_set_epi64x(high.cast_signed(), low.cast_signed()), zero, zero, zero] };
        }
        each!(|i| {
            // Sixteen octets from where the quarter starts, or the last sixteen, slid down to its start.
            let start = (16 * i).min(len - 16);
            let slide = (16 * i - start).min(16);
            // SAFETY: the token proves SSSE3; `start + 16 <= len` and `slide + 16 <= 32`.
            unsafe {
                let octets = _mm_loadu_si128(input.as_ptr().add(start).cast());
                _mm_shuffle_epi8(octets, _mm_loadu_si128(SLIDE.as_ptr().add(slide).cast()))
            }
        })
    }
}

impl Tier for Ssse3 {
    type Wide = Ssse3;
    type Narrow = Ssse3;
    const SHORT: usize = 0;

    #[inline(always)]
    fn wide(self) -> Ssse3 {
        self
    }

    #[inline(always)]
    fn narrow(self) -> Ssse3 {
        self
    }
}

impl Isa for Ssse3 {
    const LANES: usize = 64;
    type Block = Block;
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.sixteen(ascii), high: self.sixteen(high) }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Block {
        match input.first_chunk::<64>() {
            // SAFETY: the token proves SSSE3; 64 octets are readable.
            Some(octets) => each!(|i| {
                // SAFETY: the token proves SSSE3; `i < 4`, so sixteen of the 64 octets are readable there.
                unsafe { _mm_loadu_si128(octets.as_ptr().cast::<__m128i>().add(i)) }
            }),
            None => self.load_partial(input),
        }
    }

    #[inline(always)]
    fn octets(self, block: Block) -> [u8; 64] {
        let mut octets = [0; 64];
        for (quarter, out) in block.into_iter().zip(octets.as_chunks_mut::<16>().0) {
            // SAFETY: the token proves SSSE3; sixteen octets are writable.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), quarter) };
        }
        octets
    }

    #[inline(always)]
    fn member(self, block: Block, class: &Class) -> u64 {
        // A shuffle gives zero where the octet is above 0x7F: each half of the set sees only its own octets.
        self.mask(each!(block, |quarter| {
            let flipped = _mm_xor_si128(quarter, self.all(0x80));
            let high = _mm_shuffle_epi8(class.high, flipped);
            self.in_row(_mm_or_si128(_mm_shuffle_epi8(class.ascii, quarter), high), quarter)
        }))
    }

    #[inline(always)]
    fn eq(self, block: Block, octet: u8) -> u64 {
        self.mask(each!(block, |quarter| _mm_cmpeq_epi8(quarter, self.all(octet))))
    }

    #[inline(always)]
    fn hex(self, block: Block) -> u64 {
        self.mask(each!(block, |quarter| {
            self.in_row(_mm_shuffle_epi8(self.sixteen(&HEX_ROWS), quarter), quarter)
        }))
    }

    #[inline(always)]
    fn lower(self, block: Block) -> u64 {
        self.mask(each!(block, |quarter| self.above(quarter, b'Z')))
    }

    #[inline(always)]
    fn replace(self, block: Block, from: u8, to: u8) -> Block {
        each!(block, |quarter| self.blend(_mm_cmpeq_epi8(quarter, self.all(from)), quarter, self.all(to)))
    }

    #[inline(always)]
    fn values(self, block: Block, next: [u8; 2]) -> Block {
        let digits = each!(block, |quarter| self.digits(quarter));
        // SAFETY: the token proves SSSE3.
        let next = unsafe { _mm_cvtsi32_si128(i32::from(u16::from_le_bytes(next) & 0x0F0F)) };
        each!(|i| {
            let behind = if i < 3 { digits[i + 1] } else { next };
            // SAFETY: the token proves SSSE3. Digits are below 16, so the 16-bit shift spills nothing.
            unsafe {
                let first = _mm_alignr_epi8::<1>(behind, digits[i]);
                _mm_or_si128(_mm_slli_epi16::<4>(first), _mm_alignr_epi8::<2>(behind, digits[i]))
            }
        })
    }

    #[inline(always)]
    fn select(self, mask: u64, block: Block, other: Block) -> Block {
        let mask = self.spread(mask);
        each!(|i| self.blend(mask[i], block[i], other[i]))
    }

    #[inline(always)]
    fn upper(self, mask: u64, block: Block) -> Block {
        let mask = self.spread(mask);
        // Of the digits, only lower-case letters are above `Z`.
        each!(|i| {
            let case = _mm_and_si128(self.above(block[i], b'Z'), _mm_and_si128(mask[i], self.all(0x20)));
            _mm_andnot_si128(case, block[i])
        })
    }

    #[inline(always)]
    fn store(self, block: Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage).cast::<__m128i>();
        // SAFETY: the token proves SSSE3; the window has 64 octets, which are all written, and `lanes <= 64`.
        unsafe {
            _mm_storeu_si128(window, block[0]);
            _mm_storeu_si128(window.add(1), block[1]);
            _mm_storeu_si128(window.add(2), block[2]);
            _mm_storeu_si128(window.add(3), block[3]);
            out.commit(64, lanes, &stage);
        }
    }

    #[inline(always)]
    fn compress(self, block: Block, keep: u64, out: &mut Cursor<'_>) {
        let below = counts_below(keep);
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage);
        let group = |i: usize| ((keep >> (8 * i)) as u8 as usize, (below >> (8 * i)) as u8 as usize);
        for (i, quarter) in block.into_iter().enumerate() {
            let ((low, low_at), (high, high_at)) = (group(2 * i), group(2 * i + 1));
            // SAFETY: the token proves SSSE3. Rows of the tables have eight octets. At most 8 * g lanes come before
            // group g, so its eight octets lie within the window of 64.
            unsafe {
                let places = _mm_unpacklo_epi64(
                    _mm_loadl_epi64(COMPRESS[low].as_ptr().cast()),
                    _mm_loadl_epi64(COMPRESS_HIGH[high].as_ptr().cast()),
                );
                let moved = _mm_shuffle_epi8(quarter, places);
                _mm_storel_epi64(window.add(low_at).cast(), moved);
                _mm_storel_epi64(window.add(high_at).cast(), _mm_unpackhi_epi64(moved, moved));
            }
        }
        // SAFETY: the groups wrote the lanes in `keep` without a gap.
        unsafe { out.commit(64, count(keep), &stage) };
    }

    #[inline(always)]
    fn expand(self, block: Block, escape: u64, lanes: usize, case: HexCase, out: &mut Cursor<'_>) {
        /// Eight groups of at most 24 octets.
        const WINDOW: usize = 8 * 24;
        let escape = escape & first(lanes);
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage);
        let digits = self.sixteen(case.digits());
        let masks = self.spread(escape);
        let escapes = escape.to_le_bytes();
        let mut at = 0;
        // SAFETY: the token proves SSSE3. Before group `i` come at most `24 * i` octets, so its 24 end within the window;
        // the groups write `lanes` octets and two more for each escape without a gap.
        unsafe {
            for i in 0..4 {
                let high = _mm_shuffle_epi8(digits, self.high_half(block[i]));
                let low = _mm_shuffle_epi8(digits, _mm_and_si128(block[i], self.all(0x0F)));
                let octets = self.blend(masks[i], block[i], high);
                at += expand_8(self, _mm_unpacklo_epi64(octets, low), escapes[2 * i], window.add(at));
                at += expand_8(self, _mm_unpackhi_epi64(octets, low), escapes[2 * i + 1], window.add(at));
            }
            // Behind the last lane come only lanes that are not escaped, an octet each.
            out.commit(WINDOW, at - (64 - lanes), &stage);
        }
    }
}

/// Writes eight lanes, those in `escape` as escapes, and returns how many octets that makes, at most 24: `sources` holds
/// the octets, or the high digits of those to escape, and then the low digits.
///
/// # Safety
///
/// 24 octets are writable at `window`.
#[inline(always)]
unsafe fn expand_8(isa: Ssse3, sources: __m128i, escape: u8, window: *mut u8) -> usize {
    let row = &EXPAND[usize::from(escape)];
    // SAFETY: the token proves SSSE3. A row is 32 octets, aligned to as many; the caller vouches for the window.
    unsafe {
        let places = row.0.as_ptr().cast::<__m128i>();
        let [start, end] = [_mm_load_si128(places), _mm_load_si128(places.add(1))];
        let percent = [_mm_subs_epu8(start, isa.all(0x80)), _mm_subs_epu8(end, isa.all(0x80))];
        _mm_storeu_si128(window.cast(), _mm_or_si128(_mm_shuffle_epi8(sources, start), percent[0]));
        _mm_storel_epi64(window.add(16).cast(), _mm_or_si128(_mm_shuffle_epi8(sources, end), percent[1]));
    }
    8 + 2 * usize::from(COUNT[usize::from(escape)])
}
