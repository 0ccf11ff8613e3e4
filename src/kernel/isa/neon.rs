//! NEON: 64 lanes in four registers, or, for short inputs, 32 in two.
//!
//! The algorithms are those of SSSE3, with what `tbx` adds to a shuffle: it leaves a lane alone where the place is out of range,
//! which is how an escape gets its `%`.
//! A block escaped whole is one interleaving store for each register. There is no instruction that gathers the lanes of a
//! comparison: each lane keeps one bit, and rounds of pairwise sums join the bits of all. Where only one answer is wanted,
//! lanes are narrowed to one word.

use core::arch::aarch64::*;

use super::tables::{
    BITS, DIGIT_HIGH, DIGIT_LOW, EXPAND, NEGATED_BITS, Row, SLIDE, sums_below, without_digits,
};
use super::token::Neon;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, Tier, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// Blocks of `N` registers, two or four.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const N: usize>(Neon);

/// The rows of a set: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: uint8x16_t,
    high: uint8x16_t,
    is_ascii: bool,
}

impl Tier for Neon {
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
impl Neon {
    #[inline(always)]
    fn sixteen(self, bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: the token proves NEON; sixteen bytes are readable.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe { vdupq_n_u8(byte) }
    }

    /// Whether a bit is set in any lane. (A maximum over the lanes takes longer, and the compiler adds two instructions to it.)
    #[inline(always)]
    fn any(self, lanes: uint8x16_t) -> bool {
        // SAFETY: the token proves NEON. Numbers of 64 bits saturate, so what is not zero stays so.
        unsafe { vget_lane_u64::<0>(vreinterpret_u64_u32(vqmovn_u64(vreinterpretq_u64_u8(lanes)))) != 0 }
    }

    /// In each byte, the number of bits in that byte of `mask`.
    #[inline(always)]
    fn counts(self, mask: u64) -> uint8x8_t {
        // SAFETY: the token proves NEON.
        unsafe { vcnt_u8(vcreate_u8(mask)) }
    }

    /// The bit of a row of a set that stands for each byte.
    #[inline(always)]
    fn bit(self, bytes: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe { vqtbl1q_u8(self.sixteen(&BITS), vshrq_n_u8::<4>(bytes)) }
    }

    /// Zero in the lanes that are no ASCII members of the set, and only there.
    #[inline(always)]
    fn ascii_member(self, bytes: uint8x16_t, class: &Class) -> uint8x16_t {
        // SAFETY: the token proves NEON. The place of a byte above 0x7F is out of range, which gives zero.
        unsafe { vandq_u8(vqtbl1q_u8(class.ascii, vandq_u8(bytes, self.all(0x8F))), self.bit(bytes)) }
    }

    /// Zero in the lanes that are no other members of the set, and only there.
    #[inline(always)]
    fn high_member(self, bytes: uint8x16_t, class: &Class) -> uint8x16_t {
        // SAFETY: the token proves NEON. The place of a byte below 0x80 is out of range, which gives zero.
        unsafe {
            let place = vandq_u8(veorq_u8(bytes, self.all(0x80)), self.all(0x8F));
            vandq_u8(vqtbl1q_u8(class.high, place), self.bit(bytes))
        }
    }

    /// In the low half the value of each hexadecimal digit; the top bit is set in the other lanes, and only there.
    #[inline(always)]
    fn digits(self, bytes: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe {
            let high = vqtbl1q_u8(self.sixteen(&DIGIT_HIGH), vshrq_n_u8::<4>(bytes));
            vqaddq_u8(vqtbl1q_u8(self.sixteen(&DIGIT_LOW), vandq_u8(bytes, self.all(0x0F))), high)
        }
    }

    /// The digits in which each byte is spelt: the high one and the low one.
    #[inline(always)]
    fn spelt(self, bytes: uint8x16_t, digits: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        // SAFETY: the token proves NEON.
        unsafe {
            let high = vqtbl1q_u8(digits, vshrq_n_u8::<4>(bytes));
            (high, vqtbl1q_u8(digits, vandq_u8(bytes, self.all(0x0F))))
        }
    }

    /// Writes a group, those lanes in `mask` as escapes, of which there are at most four unless `DENSE`; returns where it ends.
    /// `sources` holds eight bytes, or the high digits of those to escape, and then the eight low digits.
    ///
    /// # Safety
    ///
    /// 24 bytes are writable at `at`.
    #[inline(always)]
    unsafe fn expand_group<const DENSE: bool>(self, sources: uint8x16_t, mask: u8, at: *mut u8) -> *mut u8 {
        let row = &EXPAND[usize::from(mask)].0;
        // SAFETY: the token proves NEON; a row has 32 bytes, and says that there are at most 24.
        unsafe {
            let percent = self.all(b'%');
            vst1q_u8(at, vqtbx1q_u8(percent, sources, vld1q_u8(row.as_ptr())));
            if DENSE {
                let end = vqtbx1_u8(vget_low_u8(percent), sources, vld1_u8(row.as_ptr().add(16)));
                vst1_u8(at.add(16), end);
            }
            at.add(usize::from(row[Row::LEN]))
        }
    }
}

// The loops over registers here and below are unrolled. (A closure would not be inlined into the entry points, nor then the
// intrinsics in it.)
#[allow(clippy::needless_range_loop, reason = "the index says which register it is")]
impl<const N: usize> Registers<N> {
    /// The lanes, of registers of lanes that are all ones or all zeros, as a mask.
    #[inline(always)]
    fn mask(self, lanes: [uint8x16_t; N]) -> u64 {
        // What is summed is the negative of each bit. Of sums of bits the compiler sees that nothing carries, and makes three
        // instructions of each.
        let bits = self.0.sixteen(&NEGATED_BITS);
        let mut all = [self.0.all(0); 4];
        for i in 0..N {
            // SAFETY: the token proves NEON.
            all[i] = unsafe { vandq_u8(lanes[i], bits) };
        }
        // SAFETY: the token proves NEON.
        unsafe {
            let fours = vpaddq_u8(vpaddq_u8(all[0], all[1]), vpaddq_u8(all[2], all[3]));
            let eights = vreinterpret_s8_u8(vget_low_u8(vpaddq_u8(fours, fours)));
            vget_lane_u64::<0>(vreinterpret_u64_s8(vneg_s8(eights)))
        }
    }

    /// All ones in the lanes that are no members of the set.
    #[inline(always)]
    fn others(self, block: [uint8x16_t; N], class: &Class) -> [uint8x16_t; N] {
        let mut others = block;
        for i in 0..N {
            // SAFETY: the token proves NEON.
            others[i] = unsafe { vceqzq_u8(self.0.ascii_member(block[i], class)) };
        }
        if !class.is_ascii {
            for i in 0..N {
                // SAFETY: the token proves NEON.
                others[i] = unsafe { vandq_u8(others[i], vceqzq_u8(self.0.high_member(block[i], class))) };
            }
        }
        others
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> [uint8x16_t; N] {
        let mut lanes = [self.0.all(0); N];
        for i in 0..N {
            // SAFETY: the token proves NEON.
            lanes[i] = unsafe {
                let byte_of_lane = vcombine_u8(vdup_n_u8(2 * i as u8), vdup_n_u8(2 * i as u8 + 1));
                let bytes = vqtbl1q_u8(vreinterpretq_u8_u64(vdupq_n_u64(mask)), byte_of_lane);
                vtstq_u8(bytes, self.0.sixteen(&BITS))
            };
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
        block: [uint8x16_t; N],
        escaped: [uint8x16_t; N],
        escape: u64,
        digits: uint8x16_t,
        window: *mut u8,
    ) -> *mut u8 {
        let mut at = window;
        for i in 0..N {
            let group = |g: usize| (escape >> (16 * i + 8 * g)) as u8;
            // SAFETY: the token proves NEON. Before group `g` come at most `24 * g` bytes.
            unsafe {
                let (high, low) = self.0.spelt(block[i], digits);
                let bytes = vbslq_u8(escaped[i], high, block[i]);
                let start = vcombine_u8(vget_low_u8(bytes), vget_low_u8(low));
                let end = vcombine_u8(vget_high_u8(bytes), vget_high_u8(low));
                at = self.0.expand_group::<DENSE>(start, group(0), at);
                at = self.0.expand_group::<DENSE>(end, group(1), at);
            }
        }
        at
    }

    /// Writes the first `lanes` lanes, those in `escape` as escapes; `escaped` has all ones in these, and in lanes that come
    /// after the first `lanes`.
    #[inline(always)]
    fn expand_lanes(
        self,
        block: [uint8x16_t; N],
        escaped: [uint8x16_t; N],
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
        // SAFETY: the token proves NEON. The window has 24 bytes for each group; the groups write a byte for each lane and two
        // more for each escape without a gap, and none after the first `lanes` is escaped.
        unsafe {
            let above_four = vqsub_u8(self.0.counts(escape), vdup_n_u8(4));
            let end = if vget_lane_u64::<0>(vreinterpret_u64_u8(above_four)) != 0 {
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
    type Block = [uint8x16_t; N];
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
                // SAFETY: the token proves NEON; `16 * i + 16 <= LANES <= len`.
                block[i] = unsafe { vld1q_u8(input.as_ptr().add(16 * i)) };
            }
        } else if input.len() < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves NEON.
            block[0] = unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) };
        } else {
            for i in 0..N {
                // Sixteen bytes from lane `16 * i` on, or the last sixteen, slid down to there.
                let last = input.len() - 16;
                let start = if i + 1 == N { last } else { last.min(16 * i) };
                // SAFETY: the token proves NEON; `start + 16 <= len`, and at most 48 lanes come before the last sixteen.
                block[i] = unsafe {
                    let bytes = vld1q_u8(input.as_ptr().add(start));
                    if i == 0 {
                        bytes
                    } else {
                        vqtbl1q_u8(bytes, vld1q_u8(SLIDE.as_ptr().add(16 * i - start)))
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
            // SAFETY: the token proves NEON; there are `8 * N` bytes, and as many from `end` on.
            block[i] = unsafe { vld1q_u8(input.as_ptr().add(at)) };
        }
        Some(block)
    }

    #[inline(always)]
    fn strays(self, input: &[u8], class: &Class) -> Option<u64> {
        let (ends, half) = (self.ends(input)?, Self::LANES / 2);
        // Most inputs stay as they are, and a mask takes longer than this.
        if self.all_members([ends], class) {
            return Some(0);
        }
        let others = !self.member(ends, class) & first(Self::LANES);
        Some(others & first(half) | (others >> half) << (input.len() - half))
    }

    #[inline(always)]
    fn bytes(self, block: Self::Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (lanes, out) in block.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: the token proves NEON; sixteen bytes are writable.
            unsafe { vst1q_u8(out.as_mut_ptr(), lanes) };
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
                // SAFETY: the token proves NEON.
                all = unsafe { vminq_u8(all, self.0.ascii_member(blocks[m][i], class)) };
            }
        }
        // SAFETY: the token proves NEON.
        !self.0.any(unsafe { vceqzq_u8(all) })
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
                // SAFETY: the token proves NEON.
                found = unsafe { vorrq_u8(found, vceqq_u8(blocks[m][i], self.0.all(byte))) };
            }
        }
        !self.0.any(found)
    }

    #[inline(always)]
    fn surely_lacks(self, block: Self::Block, byte: u8, _: u64) -> bool {
        self.none_equal([block], byte)
    }

    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        let mut lanes = block;
        for i in 0..N {
            // SAFETY: the token proves NEON.
            lanes[i] = unsafe { vceqq_u8(block[i], self.0.all(byte)) };
        }
        self.mask(lanes)
    }

    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        let mut lanes = block;
        for i in 0..N {
            // SAFETY: the token proves NEON.
            lanes[i] = unsafe { vcgtq_u8(block[i], self.0.all(b'Z')) };
        }
        self.mask(lanes)
    }

    #[inline(always)]
    fn replace(self, mut block: Self::Block, from: u8, to: u8) -> Self::Block {
        for i in 0..N {
            // SAFETY: the token proves NEON.
            block[i] = unsafe { vbslq_u8(vceqq_u8(block[i], self.0.all(from)), self.0.all(to), block[i]) };
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
        let next = u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]);
        for i in 0..N {
            // SAFETY: the token proves NEON.
            unsafe {
                let next = vreinterpretq_u8_u16(vdupq_n_u16(next));
                let behind = if i + 1 < N { digits[i + 1] } else { next };
                let (first, second) = (vextq_u8::<1>(digits[i], behind), vextq_u8::<2>(digits[i], behind));
                let are_digits = vcgezq_s8(vreinterpretq_s8_u8(vorrq_u8(first, second)));
                found.values[i] = vsliq_n_u8::<4>(second, first);
                found.lanes[i] = vandq_u8(are_digits, vceqq_u8(block[i], self.0.all(b'%')));
                found.decoded[i] = vbslq_u8(found.lanes[i], found.values[i], block[i]);
            }
        }
        found.valid = self.mask(found.lanes);
        found
    }

    #[inline(always)]
    fn select(self, mask: u64, mut block: Self::Block, other: Self::Block) -> Self::Block {
        let mask = self.spread(mask);
        for i in 0..N {
            // SAFETY: the token proves NEON.
            block[i] = unsafe { vbslq_u8(mask[i], other[i], block[i]) };
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
            // SAFETY: the token proves NEON.
            unsafe {
                lanes[i] = vandq_u8(veorq_u8(lanes[i], flip), found.lanes[i]);
                block[i] = vbslq_u8(lanes[i], found.values[i], block[i]);
            }
        }
        (self.mask(lanes), block)
    }

    #[inline(always)]
    fn upper(self, mask: u64, mut block: Self::Block) -> Self::Block {
        let mask = self.spread(mask);
        for i in 0..N {
            // Of the digits, only lower-case letters are above `Z`.
            // SAFETY: the token proves NEON.
            block[i] = unsafe {
                let lower = vandq_u8(mask[i], vcgtq_u8(block[i], self.0.all(b'Z')));
                vbicq_u8(block[i], vandq_u8(lower, self.0.all(0x20)))
            };
        }
        block
    }

    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        for i in 0..N {
            // SAFETY: the token proves NEON; `16 * i + 16 <= LANES`, which the window has.
            unsafe { vst1q_u8(window.add(16 * i), block[i]) };
        }
        // SAFETY: the whole window was written, and `lanes <= LANES`.
        unsafe { out.commit(Self::LANES, lanes, &stage) };
    }

    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Self::Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(M * Self::LANES, &mut stage);
        for m in 0..M {
            for i in 0..N {
                // SAFETY: the token proves NEON; the window has as many bytes as `M` blocks.
                unsafe { vst1q_u8(window.add(Self::LANES * m + 16 * i), blocks[m][i]) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(M * Self::LANES, M * Self::LANES, &stage) };
    }

    #[inline(always)]
    fn compress(self, block: Self::Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(Self::LANES, &mut stage);
        // SAFETY: the token proves NEON.
        let counts = unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(self.0.counts(drop))) };
        let below = sums_below(counts);
        for i in 0..N {
            let before = 16 * i - usize::from((below >> (16 * i)) as u8);
            // SAFETY: the token proves NEON. The places are sixteen bytes. At most `16 * i` bytes come before.
            unsafe {
                let places = vld1q_u8(without_digits((drop >> (16 * i)) as u16).cast());
                vst1q_u8(window.add(before), vqtbl1q_u8(block[i], places));
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
        let window = out.window(width, &mut stage);
        let digits = self.0.sixteen(case.digits());
        for i in 0..N {
            let (high, low) = self.0.spelt(block[i], digits);
            // SAFETY: the token proves NEON. The window has three bytes for each lane, and all are written.
            unsafe { vst3q_u8(window.add(48 * i), uint8x16x3_t(self.0.all(b'%'), high, low)) };
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(width, width, &stage) };
    }
}
