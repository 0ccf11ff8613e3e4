//! WebAssembly's simd128: 64 lanes in four registers, or, for short inputs, 32 in two.
//!
//! The algorithms are those of SSSE3. Arithmetic on vectors is safe here: a module with an instruction that the engine
//! lacks is rejected as a whole before it runs, so there is nothing to detect, and the tier exists only in builds
//! that enable the feature. Only loads and stores are unsafe.

use core::arch::wasm32::*;

use super::tables::{
    BITS, DIGIT_HIGH, DIGIT_LOW, EXPAND, PAIRS, Row, SLIDE, any_above_four, counts, without_digits,
};
use super::token::Simd128;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Tier, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// Blocks of `N` registers, two or four.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const N: usize>(Simd128);

/// The rows of a set: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: v128,
    high: v128,
    is_ascii: bool,
}

impl Tier for Simd128 {
    type Wide = Registers<4>;
    type Narrow = Registers<2>;
    const SHORT: usize = 32;

    #[inline(always)]
    fn wide(self) -> Registers<4> {
        Registers(self)
    }

    #[inline(always)]
    fn narrow(self) -> Registers<2> {
        Registers(self)
    }
}

/// Operations on one register.
impl Simd128 {
    #[inline(always)]
    fn sixteen(self, bytes: &[u8; 16]) -> v128 {
        // SAFETY: sixteen bytes are readable.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> v128 {
        u8x16_splat(byte)
    }

    /// The bit of a row of a set that stands for each byte.
    #[inline(always)]
    fn bit(self, bytes: v128) -> v128 {
        u8x16_swizzle(self.sixteen(&BITS), u8x16_shr(bytes, 4))
    }

    /// Zero in the lanes that are no ASCII members of the set, and only there.
    #[inline(always)]
    fn ascii_member(self, bytes: v128, class: &Class) -> v128 {
        // The place of a byte above 0x7F is out of range, which gives zero.
        v128_and(u8x16_swizzle(class.ascii, v128_and(bytes, self.all(0x8F))), self.bit(bytes))
    }

    /// Zero in the lanes that are no other members of the set, and only there.
    #[inline(always)]
    fn high_member(self, bytes: v128, class: &Class) -> v128 {
        // The place of a byte below 0x80 is out of range, which gives zero.
        let place = v128_and(v128_xor(bytes, self.all(0x80)), self.all(0x8F));
        v128_and(u8x16_swizzle(class.high, place), self.bit(bytes))
    }

    /// All ones in the lanes that are zero.
    #[inline(always)]
    fn zeros(self, lanes: v128) -> v128 {
        u8x16_eq(lanes, self.all(0))
    }

    /// All ones in the lanes above `byte`.
    #[inline(always)]
    fn above(self, bytes: v128, byte: u8) -> v128 {
        u8x16_gt(bytes, self.all(byte))
    }

    /// In the low half the value of each hexadecimal digit; the top bit is set in the other lanes, and only there.
    #[inline(always)]
    fn digits(self, bytes: v128) -> v128 {
        let high = u8x16_swizzle(self.sixteen(&DIGIT_HIGH), u8x16_shr(bytes, 4));
        u8x16_add_sat(u8x16_swizzle(self.sixteen(&DIGIT_LOW), v128_and(bytes, self.all(0x0F))), high)
    }

    /// The digits in which each byte is spelt: the high one and the low one.
    #[inline(always)]
    fn spelt(self, bytes: v128, digits: v128) -> (v128, v128) {
        let high = u8x16_swizzle(digits, u8x16_shr(bytes, 4));
        (high, u8x16_swizzle(digits, v128_and(bytes, self.all(0x0F))))
    }

    /// The bytes that `places` takes from `bytes`, and `%` where it says so.
    #[inline(always)]
    fn place(self, bytes: v128, places: v128) -> v128 {
        v128_or(u8x16_swizzle(bytes, places), u8x16_sub_sat(places, self.all(0x80)))
    }

    /// Writes a group, those lanes in `mask` as escapes, of which there are at most four unless `DENSE`; returns where it ends.
    /// `sources` holds eight bytes, or the high digits of those to escape, and then the eight low digits.
    ///
    /// # Safety
    ///
    /// 24 bytes are writable at `at`.
    #[inline(always)]
    unsafe fn expand_group<const DENSE: bool>(self, sources: v128, mask: u8, at: *mut u8) -> *mut u8 {
        let row = &EXPAND[usize::from(mask)].0;
        // SAFETY: a row has 32 bytes, and says that there are at most 24.
        unsafe {
            v128_store(at.cast(), self.place(sources, v128_load(row.as_ptr().cast())));
            if DENSE {
                let end = self.place(sources, v128_load64_zero(row.as_ptr().add(16).cast()));
                v128_store64_lane::<0>(end, at.add(16).cast());
            }
            at.add(usize::from(row[Row::LEN]))
        }
    }
}

// The loops over registers here and below are unrolled.
#[allow(clippy::needless_range_loop, reason = "the index says which register it is")]
impl<const N: usize> Registers<N> {
    /// The lanes, of registers of lanes that are all ones or all zeros, as a mask.
    #[inline(always)]
    fn mask(self, lanes: [v128; N]) -> u64 {
        let mut mask = 0;
        for i in 0..N {
            mask |= u64::from(u8x16_bitmask(lanes[i])) << (16 * i);
        }
        mask
    }

    /// All ones in the lanes that are no members of the set.
    #[inline(always)]
    fn others(self, block: [v128; N], class: &Class) -> [v128; N] {
        let mut others = block;
        for i in 0..N {
            others[i] = self.0.zeros(self.0.ascii_member(block[i], class));
        }
        if !class.is_ascii {
            for i in 0..N {
                others[i] = v128_and(others[i], self.0.zeros(self.0.high_member(block[i], class)));
            }
        }
        others
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> [v128; N] {
        let (bytes, bits) = (u64x2_splat(mask), self.0.sixteen(&BITS));
        let halves = u64x2(0, 0x0101_0101_0101_0101);
        let mut lanes = [self.0.all(0); N];
        for i in 0..N {
            let byte_of_lane = u8x16_add(halves, self.0.all(2 * i as u8));
            lanes[i] = u8x16_eq(v128_and(u8x16_swizzle(bytes, byte_of_lane), bits), bits);
        }
        lanes
    }

    /// Writes all groups, those lanes in `escape` as escapes, of which a group has at most four unless `DENSE`; returns where
    /// they end. `escaped` has all ones in these lanes.
    ///
    /// # Safety
    ///
    /// `24 * 2 * N` bytes are writable at `window`.
    #[inline(always)]
    unsafe fn groups<const DENSE: bool>(
        self,
        block: [v128; N],
        escaped: [v128; N],
        escape: u64,
        digits: v128,
        window: *mut u8,
    ) -> *mut u8 {
        let mut at = window;
        for i in 0..N {
            let group = |g: usize| (escape >> (16 * i + 8 * g)) as u8;
            let (high, low) = self.0.spelt(block[i], digits);
            let bytes = v128_bitselect(high, block[i], escaped[i]);
            // SAFETY: before group `g` come at most `24 * g` bytes.
            unsafe {
                at = self.0.expand_group::<DENSE>(u64x2_shuffle::<0, 2>(bytes, low), group(0), at);
                at = self.0.expand_group::<DENSE>(u64x2_shuffle::<1, 3>(bytes, low), group(1), at);
            }
        }
        at
    }

    /// Writes the first `lanes` lanes, those in `escape` as escapes; `escaped` has all ones in these, and in lanes that come
    /// after the first `lanes`.
    #[inline(always)]
    fn expand_lanes(
        self,
        block: [v128; N],
        escaped: [v128; N],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        // Groups of at most 24 bytes.
        let width = 2 * N * 24;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage);
        let digits = self.0.sixteen(case.digits());
        // SAFETY: the window has 24 bytes for each group; the groups write a byte for each lane and two more for each escape
        // without a gap, and none after the first `lanes` is escaped.
        unsafe {
            let end = if any_above_four(counts(escape)) {
                self.groups::<true>(block, escaped, escape, digits, window)
            } else {
                self.groups::<false>(block, escaped, escape, digits, window)
            };
            out.commit(width, end.addr() - window.addr() - (Self::LANES - lanes), &stage);
        }
    }
}

#[allow(clippy::needless_range_loop, reason = "the index says which register it is")]
impl<const N: usize> Isa for Registers<N> {
    const LANES: usize = 16 * N;
    const EXPANDS_ALL: bool = N == 4;
    type Block = [v128; N];
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.0.sixteen(ascii), high: self.0.sixteen(high), is_ascii: set.is_ascii() }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Self::Block {
        let mut block = [self.0.all(0); N];
        if input.len() >= Self::LANES {
            for i in 0..N {
                // SAFETY: `16 * i + 16 <= LANES <= len`.
                block[i] = unsafe { v128_load(input.as_ptr().add(16 * i).cast()) };
            }
        } else if input.len() < 16 {
            let [low, high] = words(input);
            block[0] = u64x2(low, high);
        } else {
            for i in 0..N {
                // Sixteen bytes from lane `16 * i` on, or the last sixteen, slid down to there.
                let last = input.len() - 16;
                let start = if i + 1 == N { last } else { last.min(16 * i) };
                // SAFETY: `start + 16 <= len`, and at most 48 lanes come before the last sixteen.
                block[i] = unsafe {
                    let bytes = v128_load(input.as_ptr().add(start).cast());
                    if i == 0 {
                        bytes
                    } else {
                        u8x16_swizzle(bytes, v128_load(SLIDE.as_ptr().add(16 * i - start).cast()))
                    }
                };
            }
        }
        block
    }

    #[inline(always)]
    fn ends(self, input: &[u8]) -> Option<Self::Block> {
        let mut block = [self.0.all(0); N];
        let end = input.len().checked_sub(8 * N)?;
        if input.len() > Self::LANES {
            return None;
        }
        for i in 0..N {
            let at = if i < N / 2 { 16 * i } else { end + 16 * (i - N / 2) };
            // SAFETY: there are `8 * N` bytes, and as many from `end` on.
            block[i] = unsafe { v128_load(input.as_ptr().add(at).cast()) };
        }
        Some(block)
    }

    #[inline(always)]
    fn bytes(self, block: Self::Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (lanes, out) in block.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: sixteen bytes are writable.
            unsafe { v128_store(out.as_mut_ptr().cast(), lanes) };
        }
        bytes
    }

    #[inline(always)]
    fn member(self, block: Self::Block, class: &Class) -> u64 {
        !self.mask(self.others(block, class))
    }

    #[inline(always)]
    fn all_members<const M: usize>(self, blocks: [Self::Block; M], class: &Class) -> bool {
        let mut all = self.0.all(0xFF);
        for m in 0..M {
            for i in 0..N {
                all = u8x16_min(all, self.0.ascii_member(blocks[m][i], class));
            }
        }
        u8x16_all_true(all)
    }

    #[inline(always)]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        match self.ends(input) {
            Some(ends) => self.none_equal([ends], byte),
            None => false,
        }
    }

    #[inline(always)]
    fn none_equal<const M: usize>(self, blocks: [Self::Block; M], byte: u8) -> bool {
        let mut found = self.0.all(0);
        for m in 0..M {
            for i in 0..N {
                found = v128_or(found, u8x16_eq(blocks[m][i], self.0.all(byte)));
            }
        }
        !v128_any_true(found)
    }

    #[inline(always)]
    fn surely_lacks(self, block: Self::Block, byte: u8, _: u64) -> bool {
        self.none_equal([block], byte)
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        let mut lanes = block;
        for i in 0..N {
            lanes[i] = u8x16_eq(block[i], self.0.all(byte));
        }
        self.mask(lanes)
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        let mut lanes = block;
        for i in 0..N {
            lanes[i] = self.0.above(block[i], b'Z');
        }
        self.mask(lanes)
    }

    #[inline(always)]
    fn replace(self, mut block: Self::Block, from: u8, to: u8) -> Self::Block {
        for i in 0..N {
            block[i] = v128_bitselect(self.0.all(to), block[i], u8x16_eq(block[i], self.0.all(from)));
        }
        block
    }

    #[inline(always)]
    fn escapes(self, block: Self::Block, input: &[u8]) -> Escapes<Self::Block> {
        let mut found = Escapes { valid: 0, values: block, decoded: block, lanes: block };
        let mut digits = block;
        for i in 0..N {
            digits[i] = self.0.digits(block[i]);
        }
        let behind = behind::<Self>(input);
        let next = u16x8_splat(u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]));
        for i in 0..N {
            let behind = if i + 1 < N { digits[i + 1] } else { next };
            let first =
                u8x16_shuffle::<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>(digits[i], behind);
            let second =
                u8x16_shuffle::<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17>(digits[i], behind);
            let low = self.0.all(0x0F);
            // Engines have the 16-bit shift as one instruction; it would move what is above the digits into the next byte.
            found.values[i] = v128_or(u16x8_shl(v128_and(first, low), 4), v128_and(second, low));
            let are_digits = i8x16_ge(v128_or(first, second), self.0.all(0));
            found.lanes[i] = v128_and(are_digits, u8x16_eq(block[i], self.0.all(b'%')));
            found.decoded[i] = v128_bitselect(found.values[i], block[i], found.lanes[i]);
        }
        found.valid = self.mask(found.lanes);
        found
    }

    #[inline(always)]
    fn select(self, mask: u64, mut block: Self::Block, other: Self::Block) -> Self::Block {
        let mask = self.spread(mask);
        for i in 0..N {
            block[i] = v128_bitselect(other[i], block[i], mask[i]);
        }
        block
    }

    #[inline(always)]
    fn decode_some(
        self,
        mut block: Self::Block,
        found: &Escapes<Self::Block>,
        class: &Class,
        members: bool,
    ) -> (u64, Self::Block) {
        let flip = if members { self.0.all(0xFF) } else { self.0.all(0) };
        let mut lanes = self.others(found.values, class);
        for i in 0..N {
            lanes[i] = v128_and(v128_xor(lanes[i], flip), found.lanes[i]);
            block[i] = v128_bitselect(found.values[i], block[i], lanes[i]);
        }
        (self.mask(lanes), block)
    }

    #[inline(always)]
    fn upper(self, mask: u64, mut block: Self::Block) -> Self::Block {
        let mask = self.spread(mask);
        for i in 0..N {
            // Of the digits, only lower-case letters are above `Z`.
            let lower = v128_and(self.0.above(block[i], b'Z'), mask[i]);
            block[i] = v128_andnot(block[i], v128_and(lower, self.0.all(0x20)));
        }
        block
    }

    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage).cast::<v128>();
        for i in 0..N {
            // SAFETY: `16 * i + 16 <= LANES`, which the window has.
            unsafe { v128_store(window.add(i), block[i]) };
        }
        // SAFETY: the whole window was written, and `lanes <= LANES`.
        unsafe { out.commit(Self::LANES, lanes, &stage) };
    }

    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Self::Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(M * Self::LANES, &mut stage).cast::<v128>();
        for m in 0..M {
            for i in 0..N {
                // SAFETY: the window has as many bytes as `M` blocks.
                unsafe { v128_store(window.add(N * m + i), blocks[m][i]) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(M * Self::LANES, M * Self::LANES, &stage) };
    }

    #[inline(always)]
    fn compress(self, block: Self::Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        for i in 0..N {
            let before = (first(16 * i) & !drop).count_ones() as usize;
            // SAFETY: the places are sixteen bytes. At most `16 * i` bytes come before.
            unsafe {
                let places = v128_load(without_digits((drop >> (16 * i)) as u16).cast());
                v128_store(window.add(before).cast(), u8x16_swizzle(block[i], places));
            }
        }
        // SAFETY: the lanes that stay were written without a gap.
        unsafe { out.commit(Self::LANES, lanes - (drop & first(lanes)).count_ones() as usize, &stage) };
    }

    #[inline(always)]
    fn expand(
        self,
        block: Self::Block,
        _: &[u8],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        let escape = escape & first(lanes);
        self.expand_lanes(block, self.spread(escape), escape, lanes, case, out);
    }

    #[inline(always)]
    fn expand_others(
        self,
        block: Self::Block,
        _: &[u8],
        class: &Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        self.expand_lanes(block, self.others(block, class), escape, lanes, case, out);
    }

    #[inline(always)]
    fn expand_all(self, block: Self::Block, _: &[u8], case: HexCase, out: &mut Cursor<'_>) {
        let width = 3 * Self::LANES;
        let mut stage = Stage::new();
        let window = out.window(width, &mut stage).cast::<v128>();
        let digits = self.0.sixteen(case.digits());
        for i in 0..N {
            let (high, low) = self.0.spelt(block[i], digits);
            // The digits of eight lanes each, from lane 0, 4 and 8 on.
            let start = u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(high, low);
            let end =
                u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(high, low);
            let pairs = [start, u64x2_shuffle::<1, 2>(start, end), end];
            for j in 0..3 {
                let bytes = self.0.place(pairs[j], self.0.sixteen(&PAIRS[j]));
                // SAFETY: the window has three bytes for each lane, and all are written.
                unsafe { v128_store(window.add(3 * i + j), bytes) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(width, width, &stage) };
    }
}
